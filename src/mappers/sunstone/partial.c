/* The pieces that partial mappings are put together from. */
#include "mappers/sunstone/partial.h"

#include "mapspace/map_choices.h"
#include "mapspace/map_parts.h"
#include "model/capacity.h"

#include <string.h>

sx_sunstone_partial sx_sunstone_start(const sx_sunstone *plan) {
    sx_sunstone_partial start = {.point = plan->base};
    memcpy(start.left, plan->left, sizeof start.left);
    return start;
}

void sx_sunstone_put_tile(const sx_sunstone *plan, int memory, const uint32_t *factor, void *point) {
    uint32_t *temporal = sx_map_level(point, plan->memory[memory].main)->temporal;
    for (int d = 0; d < plan->space->problem->n_dims; d++) temporal[d] *= factor[d];
}

void sx_sunstone_put_order(const sx_sunstone *plan, int memory, const uint8_t *order, void *point) {
    memcpy(sx_map_level(point, plan->memory[memory].main)->temporal_order, order,
           (size_t)plan->space->problem->n_dims);
}

void sx_sunstone_put_unrolling(const sx_sunstone *plan, const sx_sunstone_stage *stage,
                               const sx_sunstone_unrolling *parts, sx_sunstone_partial *to) {
    for (int p = 0; p < stage->n_parts; p++) {
        int level = stage->part[p], slot = plan->space->spatial_slot[level];
        sx_mapping_level *at = sx_map_level(to->point, level);
        for (int d = 0; d < plan->space->problem->n_dims; d++) {
            to->left[d] = to->left[d] * plan->space->min[d][slot] / parts[p].factor[d];
            at->spatial[d] = parts[p].factor[d];
        }
        sx_map_set_xy(plan->space, level, parts[p].on_x, at);
    }
}

void sx_sunstone_copy(const sx_sunstone *plan, const sx_sunstone_partial *from, sx_sunstone_partial *to) {
    memcpy(to->point, from->point, plan->space->space.point_size);
    memcpy(to->left, from->left, sizeof to->left);
}

void sx_sunstone_add_tile(const sx_sunstone *plan, const sx_sunstone_stage *stage,
                          const sx_sunstone_tile *tile, sx_sunstone_partial *to) {
    if (stage->memory < 0) return;
    sx_sunstone_put_tile(plan, stage->memory, tile->factor, to->point);
    for (int d = 0; d < plan->space->problem->n_dims; d++) to->left[d] /= tile->factor[d];
}

uint32_t sx_sunstone_loops(const sx_sunstone *plan, const uint32_t *factor) {
    uint32_t loops = 0;
    for (int d = 0; d < plan->space->problem->n_dims; d++) loops |= (uint32_t)(factor[d] > 1) << d;
    return loops;
}

void sx_sunstone_put_banks(const sx_sunstone *plan, void *point) {
    const sx_map_space *space = plan->space;
    uint32_t extent[SX_MAX_DIMS];
    for (int d = 0; d < SX_MAX_DIMS; d++) extent[d] = 1;
    for (int s = 0; space->banks_at && s < space->arch->n_levels; s++) {
        sx_map_keep choice[256];
        sx_map_extents(space, sx_map_level(point, s), extent);
        if (!space->banked[s]) continue;
        int n = sx_map_keeps_of(space, s, extent, choice);
        if (n > 0) memcpy(sx_map_banks(space, point, s), choice[n - 1].banks, SX_MAX_TENSORS);
    }
}

void sx_sunstone_make_room(const sx_sunstone *plan, int memory, const void *point, sx_sunstone_room *room) {
    const sx_map_space *space = plan->space;
    unsigned inside = 0;
    double words = 0;
    bool sized = false; /* levels differ in the words that elements take */
    room->space = space;
    room->keep = plan->keep;
    room->n_levels = 0;
    for (int s = plan->memory[memory].first; s < space->arch->n_levels; s++) {
        const sx_level *level = &space->model->level[s];
        bool own = s <= plan->memory[memory].last;
        if (own) {
            inside |= plan->keep[s];
            words += level->effective;
            sized |= level->sized;
        }
        if (!level->limited || !plan->keep[s]) continue;
        if (!own && !(plan->keep[s] & ~inside) && level->effective >= words && !(sized | level->sized))
            continue;
        for (int d = 0; d < space->problem->n_dims; d++)
            room->inner[room->n_levels][d] = (uint32_t)sx_mapping_extent(sx_map_point(point), s, d);
        room->level[room->n_levels++] = (uint8_t)s;
    }
}

void sx_sunstone_most(const sx_sunstone *plan, int memory, uint32_t *most) {
    int slot = plan->space->temporal_slot[plan->memory[memory].main];
    for (int d = 0; d < plan->space->problem->n_dims; d++)
        most[d] = plan->space->max[d][slot] / plan->space->min[d][slot];
}

/* Whether a tile of a memory would also fit with a smaller level in place of one of its own. */
static bool fits_smaller(const sx_sunstone *plan, int memory, const void *point, const uint32_t *tile) {
    const sx_model *model = plan->space->model;
    for (int s = plan->memory[memory].first; s <= plan->memory[memory].last; s++) {
        uint32_t extent[SX_MAX_DIMS];
        if (!plan->smaller[s]) continue;
        for (int d = 0; d < model->n_dims; d++)
            extent[d] = (uint32_t)sx_mapping_extent(sx_map_point(point), s, d) * tile[d];
        if (sx_level_holds(model, plan->smaller[s], plan->keep[s], extent)) return true;
    }
    return false;
}

/* Takes the tiles from number `first` on out of a list that a smaller memory would hold. */
static void drop_smaller(const sx_sunstone *plan, int memory, const void *point, size_t first,
                         sx_vector *tiles) {
    size_t n = first;
    for (size_t i = first; i < tiles->n; i++) {
        const sx_sunstone_tile *tile = sx_vector_at(tiles, i);
        if (fits_smaller(plan, memory, point, tile->factor)) continue;
        memmove(sx_vector_at(tiles, n++), tile, sizeof *tile);
    }
    tiles->n = n;
}

void sx_sunstone_list_tiles(const sx_sunstone *plan, const sx_sunstone_stage *stage,
                            const sx_sunstone_partial *at, bool maximal, sx_worker *worker, sx_vector *out) {
    sx_sunstone_room room;
    uint32_t most[SX_MAX_DIMS];
    if (stage->memory < 0) {
        sx_sunstone_tile *one = sx_vector_add(out);
        for (int d = 0; one && d < SX_MAX_DIMS; d++) one->factor[d] = 1;
        return;
    }
    size_t first = out->n;
    sx_sunstone_most(plan, stage->memory, most);
    sx_sunstone_make_room(plan, stage->memory, at->point, &room);
    sx_sunstone_tiles(&room, &plan->divisors, at->left, most, maximal, (size_t)plan->on.limit, worker, out);
    drop_smaller(plan, stage->memory, at->point, first, out);
}

/* Adds to a list the unrollings of a stage from part number `part` on, after those in `parts`. */
static void list_parts(const sx_sunstone *plan, const sx_sunstone_stage *stage, int part,
                       const uint32_t *left, sx_sunstone_unrolling *parts, sx_vector *out) {
    if (part == stage->n_parts) {
        void *at = out->n < (size_t)plan->on.limit ? sx_vector_add(out) : NULL;
        if (at) memcpy(at, parts, (size_t)stage->n_parts * sizeof *parts);
        return;
    }
    sx_vector own = {.size = sizeof *parts};
    int level = stage->part[part], n_dims = plan->space->problem->n_dims;
    const uint32_t(*min)[SX_MAX_SLOTS] = plan->space->min;
    int slot = plan->space->spatial_slot[level];
    uint32_t here[SX_MAX_DIMS], rest[SX_MAX_DIMS];
    for (int d = 0; d < n_dims; d++) here[d] = left[d] * min[d][slot];
    sx_sunstone_spread rule = !plan->on.unrolling ? SX_SPREAD_ALL
                              : plan->on.mixed    ? SX_SPREAD_MIXED
                                                  : SX_SPREAD_TENSOR;
    sx_sunstone_unroll(plan->space, &plan->divisors, level, here, rule, (size_t)plan->on.limit, &own);
    for (size_t i = 0; i < own.n; i++) {
        parts[part] = *(sx_sunstone_unrolling *)sx_vector_at(&own, i);
        for (int d = 0; d < n_dims; d++) rest[d] = here[d] / parts[part].factor[d];
        list_parts(plan, stage, part + 1, rest, parts, out);
    }
    out->failed |= own.failed;
    sx_vector_clear(&own);
}

size_t sx_sunstone_parts_size(const sx_sunstone_stage *stage) {
    return (size_t)(stage->n_parts ? stage->n_parts : 1) * sizeof(sx_sunstone_unrolling);
}

void sx_sunstone_list_unrollings(const sx_sunstone *plan, const sx_sunstone_stage *stage,
                                 const uint32_t *left, sx_vector *out) {
    sx_sunstone_unrolling parts[SX_MAX_LEVELS];
    list_parts(plan, stage, 0, left, parts, out);
}
