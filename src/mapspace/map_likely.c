/* Drawing constructions of a map space that may well be legal. Two kinds of draws are passed over, which
 * leaves the legal points as likely as each other:
 *   - a dimension's split whose tile alone, with all other dimensions at 1, overflows a level that must keep
 * it: every dimension is drawn on its own, so passing over some of its splits weighs no point more;
 *   - factors and kept tensors that together overflow an array or a level: these are drawn anew all
 * together. Where even so hardly a draw is legal, a space says that repairing is worth more than trying. */
#include "mapspace/map_parts.h"
#include "model/capacity.h"

#include <stdlib.h>
#include <string.h>

enum { SPLIT_TRIES = 32, FACTOR_TRIES = 16, TRIAL_DRAWS = 64, FEW_TRIES = 8 };

bool sx_map_within_reach(const sx_map_space *space, int dim, const uint32_t *factor) {
    uint64_t extent = 1, size = space->problem->size[dim];
    for (int i = 0; i < space->n_slots; i++) {
        extent = extent * factor[i] < size ? extent * factor[i] : size;
        if (!space->slot[i].spatial && extent > space->reach[space->slot[i].level][dim]) return false;
    }
    return true;
}

static void draw_split(const sx_map_space *space, sx_rng *rng, int dim, void *point) {
    uint32_t factor[SX_MAX_SLOTS];
    for (int i = 0; i < SPLIT_TRIES; i++) {
        sx_factors_draw(space->factors[dim], rng, factor);
        if (!space->reached || sx_map_within_reach(space, dim, factor)) break;
    }
    sx_map_set_factors(space, dim, factor, point);
}

/* Whether the spatial loops of every level are not more than its children. */
static bool arrays_have_room(const sx_map_space *space, void *point) {
    for (int s = 0; s < space->arch->n_levels; s++) {
        if (space->spatial_slot[s] < 0) continue;
        double used = 1;
        const uint32_t *factor = sx_map_level(point, s)->spatial;
        for (int d = 0; d < space->problem->n_dims; d++) used *= factor[d];
        if (used > (double)space->room[s][0] * (double)space->room[s][1]) return false;
    }
    return true;
}

/* Whether the tensors that levels without banks keep have room there. */
static bool levels_have_room(const sx_map_space *space, void *point) {
    uint32_t extent[SX_MAX_DIMS];
    for (int d = 0; d < space->problem->n_dims; d++) extent[d] = 1;
    for (int s = 0; s + 1 < space->arch->n_levels; s++) {
        const sx_mapping_level *at = sx_map_level(point, s);
        const sx_level *level = &space->model->level[s];
        sx_map_extents(space, at, extent);
        if (!level->limited) continue;
        unsigned keep = space->banked[s] ? space->fixed_keep[s] : at->keep;
        if (sx_level_occupancy(space->model, level, keep, extent).words > level->effective) return false;
    }
    return true;
}

void sx_map_draw_likely(const sx_space *base, sx_rng *rng, void *point) {
    const sx_map_space *space = sx_map_cast(base);
    memcpy(point, space->blank, base->point_size);
    for (int i = 0; i < FACTOR_TRIES; i++) {
        sx_map_draw_keeps(space, rng, point);
        for (size_t g = 0; g < base->n_genes && base->gene[g].axis == SX_AXIS_TILE; g++)
            draw_split(space, rng, base->gene[g].which, point);
        if (arrays_have_room(space, point) && levels_have_room(space, point)) break;
    }
    sx_map_draw_rest(space, rng, point);
}

/* The largest extent of one dimension with which the tensors that a level must keep have room, all other
 * dimensions at 1; the whole size where they never have. */
static uint32_t reach_of(const sx_map_space *space, int level, int dim) {
    const sx_level *at = &space->model->level[level];
    uint32_t extent[SX_MAX_DIMS], low = 1, high = space->problem->size[dim];
    for (int d = 0; d < space->problem->n_dims; d++) extent[d] = 1;
    while (low < high) {
        extent[dim] = high - (high - low) / 2;
        if (sx_level_occupancy(space->model, at, space->fixed_keep[level], extent).words > at->effective)
            high = extent[dim] - 1;
        else
            low = extent[dim];
    }
    return low;
}

sx_status sx_map_prepare_draws(sx_map_space *space) {
    for (int s = 0; s < space->arch->n_levels; s++)
        for (int d = 0; d < space->problem->n_dims; d++) {
            bool limited = space->model->level[s].limited && s + 1 < space->arch->n_levels;
            uint32_t size = space->problem->size[d];
            space->reach[s][d] = limited ? reach_of(space, s, d) : SX_MAX_DIM_SIZE;
            space->reached |= space->reach[s][d] < size;
        }
    void *point = malloc(space->space.point_size);
    if (!point) return sx_error_memory();
    sx_rng rng = sx_rng_stream(0, "map.trial", 0);
    space->space.tries = FEW_TRIES;
    for (int i = 0; i < TRIAL_DRAWS && space->space.tries; i++) {
        sx_map_draw_likely(&space->space, &rng, point);
        if (sx_map_check(&space->space, point) == 0) space->space.tries = 0;
    }
    free(point);
    return SX_OK;
}
