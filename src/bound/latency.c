/* Lower bounds of the tile pipeline's latency.
 *
 * The law does not fall as launches, loads, computes or stores grow. With a refetch, an array and one instance of the
 * boundary's level all of these follow from the tile that is launched, and misses of caches from the order of the
 * outermost level's loops: the least latency over all orders is the bound of a tile. Otherwise loads and stores move
 * every word at least once, no unit does more than one compute a cycle, and latency >= start + max(n * launch,
 * G(totals)), where G is the period of a launch, which is homogeneous.
 * What is decided of a mapping from inside gives extents that the tile is a multiple of: the least over all multiples,
 * by one pass along each prime factor. */
#include "bound/latency.h"

#include "base/status.h"
#include "model/capacity.h"
#include "model/latency.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_ANY = 1000000 }; /* tiles of any extents that are listed */

/* The values of a rank over a tile, at least: terms whose steps leave no gap within what is there already fill it, each other
 * one adds its extent less one. */
static double count_values(const sx_shape *shape, int rank, const uint32_t *extent) {
    double filled = 1, more = 0;
    bool taken[SX_MAX_DIMS] = {false};
    for (bool grown = true; grown;) {
        grown = false;
        for (int i = shape->first_term[rank]; i < shape->first_term[rank + 1]; i++) {
            const struct sx_term *term = &shape->term[i];
            if (taken[term->dim] || abs(term->coef) > filled) continue;
            filled += (double)abs(term->coef) * (extent[term->dim] - 1u);
            taken[term->dim] = grown = true;
        }
    }
    for (int i = shape->first_term[rank]; i < shape->first_term[rank + 1]; i++)
        if (!taken[shape->term[i].dim] && shape->term[i].coef) more += extent[shape->term[i].dim] - 1.0;
    return filled + more;
}

/* The words of a tensor that a tile touches, at least: parts of a tile that lie apart need not hold what is between. */
static double touched_words(const sx_shape *shape, const uint32_t *extent) {
    double words = 1;
    for (int r = 0; r < shape->n_ranks; r++) {
        double values = count_values(shape, r, extent);
        words = shape->simple ? words * values : fmax(words, values);
    }
    return words;
}

/* Whether a level of these limits may have temporal loops. */
static bool has_loops(const sx_model *model, const uint32_t *most) {
    for (int d = 0; d < model->n_dims; d++)
        if (most[d] > 1) return true;
    return false;
}

/* Whether the loops of the outermost level may launch a tile as often as it takes. */
static bool may_launch(const sx_model *model, int boundary, const uint32_t *most, const uint32_t *tile) {
    for (int d = 0; d < model->n_dims && boundary == model->n_levels - 1; d++)
        if ((model->size[d] + tile[d] - 1) / tile[d] > most[d]) return false;
    return true;
}

/* Whether the levels inside the boundary can hold a tile: what the next one must keep, and so on inward as long as no
 * temporal loop cuts the tile; instances of a level share it. */
static bool fits_inside(const sx_model *model, int boundary, const uint8_t *must,
                        const uint32_t (*most)[SX_MAX_DIMS], const uint32_t *tile) {
    double parts = (double)(model->level[boundary].fanout_x * model->level[boundary].fanout_y);
    for (int s = boundary - 1; s >= 0; s--) {
        const sx_level *level = &model->level[s];
        double words = 0;
        for (unsigned left = must[s]; left; left &= left - 1) {
            int v = __builtin_ctz(left);
            words += sx_level_words(level, v, ceil(touched_words(&model->shape[v], tile) / parts));
        }
        if (level->limited && words > level->effective) return false;
        if (has_loops(model, most[s])) break;
        parts *= (double)(level->fanout_x * level->fanout_y);
    }
    return true;
}

/* The tensors that surely pass the port of the outermost boundary, where levels always keep those in must. */
static unsigned kept_at_port(const sx_model *model, const uint8_t *must) {
    unsigned kept = 0;
    for (unsigned left = model->law->boundary[model->law->n - 1].ports; left; left &= left - 1)
        kept |= must[__builtin_ctz(left)];
    return kept;
}

/* Lowers each point to the least of its multiples. */
static void take_least(const sx_lattice *l, double *least) {
    for (int k = 0; k < l->n_digits; k++)
        for (uint32_t i = l->n_points; i-- > 0;)
            if (i / l->stride[k] % (l->top[k] + 1u) < l->top[k])
                least[i] = fmin(least[i], least[i + l->stride[k]]);
}

sx_status sx_latency_bound_new(const sx_bound *bound, const uint8_t *must,
                               const uint32_t (*most)[SX_MAX_DIMS], sx_latency_bound **out) {
    const sx_model *model = bound->model;
    const sx_lattice *l = &bound->lattice;
    sx_latency_bound *made = calloc(1, sizeof *made);
    if (!made) return sx_error_memory();
    const unsigned kept = kept_at_port(model, must);
    made->level = model->law->boundary[model->law->n - 1].level;
    made->cycles = !model->law->boundary[0].array;
    for (int i = 0; i < model->law->n; i++) made->cycles &= !(model->law->boundary[i].law->load_bus > 0);
    made->tile = malloc(l->n_points * sizeof *made->tile);
    made->least = malloc(l->n_points * sizeof *made->least);
    if (!made->tile || !made->least) {
        sx_latency_bound_free(made);
        return sx_error_memory();
    }
    for (uint32_t i = 0; i < l->n_points; i++) {
        uint32_t tile[SX_MAX_DIMS];
        sx_lattice_extents(l, i, tile);
        bool fits = may_launch(model, made->level, most[made->level], tile) &&
                    fits_inside(model, made->level, must, most, tile);
        made->least[i] = made->tile[i] = fits ? sx_latency_least(model, tile, kept, false) : INFINITY;
    }
    take_least(l, made->least);
    *out = made;
    return SX_OK;
}

/* All tiles that may be launched, of any extents. */
typedef struct any_tiles {
    const sx_model *model;
    const uint8_t *must;
    const uint32_t (*most)[SX_MAX_DIMS];
    unsigned kept;
    uint32_t tile[SX_MAX_DIMS];
    double least;
} any_tiles;

/* The smallest extent that makes no more blocks of a dimension than another one. */
static uint32_t smallest_alike(uint32_t size, uint32_t extent) {
    const uint32_t blocks = (size + extent - 1) / extent;
    return (size + blocks - 1) / blocks;
}

/* Goes through all numbers of blocks from a dimension on, each with its smallest extent. */
static void visit_tiles(any_tiles *t, int d) {
    const sx_model *model = t->model;
    const int level = model->law->boundary[model->law->n - 1].level;
    if (d == model->n_dims) {
        if (may_launch(model, level, t->most[level], t->tile) &&
            fits_inside(model, level, t->must, t->most, t->tile))
            t->least = fmin(t->least, sx_latency_least(model, t->tile, t->kept, true));
        return;
    }
    for (uint32_t extent = model->size[d]; extent > 0;) {
        t->tile[d] = smallest_alike(model->size[d], extent);
        visit_tiles(t, d + 1);
        extent = t->tile[d] - 1;
    }
}

double sx_latency_bound_any(const sx_model *model, const uint8_t *must, const uint32_t (*most)[SX_MAX_DIMS]) {
    any_tiles t = {.model = model, .must = must, .most = most, .least = INFINITY};
    double n = 1;
    for (int d = 0; d < model->n_dims; d++) {
        int each = 0;
        for (uint32_t extent = model->size[d]; extent > 0; each++)
            extent = smallest_alike(model->size[d], extent) - 1;
        n *= each;
    }
    if (n > MOST_ANY) return 0;
    t.kept = kept_at_port(model, must);
    visit_tiles(&t, 0);
    return isinf(t.least) ? 0 : t.least;
}

void sx_latency_bound_free(sx_latency_bound *bound) {
    if (!bound) return;
    free(bound->tile);
    free(bound->least);
    free(bound);
}

void sx_launched_tile_begin(const sx_latency_bound *bound, const sx_lattice *lattice,
                            const uint32_t (*spatial)[SX_MAX_DIMS], sx_launched_tile *out) {
    out->outside[bound->level + 1] = 0;
    for (int s = bound->level; s >= 0; s--)
        out->outside[s] = out->outside[s + 1] + sx_lattice_point(lattice, spatial[s]);
    out->point = out->outside[0];
}

void sx_launched_tile_set(const sx_latency_bound *bound, int s, uint32_t point, sx_launched_tile *tile) {
    if (s + 1 == bound->level) tile->point = point + tile->outside[s + 1];
}

double sx_launched_tile_least(const sx_latency_bound *bound, const sx_launched_tile *tile, int n,
                              uint32_t point, double cycles) {
    const double least = n > bound->level    ? bound->tile[tile->point]
                         : n == bound->level ? bound->tile[point + tile->outside[n]]
                                             : bound->least[point + tile->outside[n]];
    return bound->cycles ? fmax(least, cycles) : least;
}
