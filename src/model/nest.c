/* Laying out the loops of a mapping, and whether it can run (tiles, capacities, meshes). */
#include "ir/axes.h"
#include "model/capacity.h"
#include "model/sparse/check_pool.h"
#include "model/sparse/density_range.h"
#include "model/sparse/formats.h"
#include "model/sparse/pass.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static sx_verdict make_verdict(sx_reason reason, int level, int tensor, int dim, double have, double limit) {
    return (sx_verdict){reason, (int8_t)level, (int8_t)tensor, (int8_t)dim, have, limit};
}

static const sx_verdict legal = {SX_LEGAL, -1, -1, -1, 0, 0};

/* Appends the loops of the dimensions order[0..n), of which each iteration goes `step` far; returns their
 * end. Branches here would be mispredicted, so every dimension is written and loops of one iteration are
 * written over. */
static inline sx_loop *add_loops(const uint32_t *factor, const uint8_t *order, int n, int level,
                                 const uint32_t *step, unsigned *seen, sx_loop *loop) {
    for (int i = 0; i < n; i++) {
        unsigned d = order[i] & (SX_MAX_DIMS - 1);
        uint32_t f = factor[d];
        *seen |= 1u << (order[i] < 31 ? order[i] : 31);
        *loop = (sx_loop){.step = step[d], .n = f, .last = f, .dim = (uint8_t)d, .level = (uint8_t)level};
        loop += f != 1;
    }
    return loop;
}

/* Cuts the last loop on X, which ends at `end`, down to its part there, and appends what of it lies on Y. */
static sx_loop *add_outer_part(const sx_mapping_level *level, sx_loop *end) {
    uint32_t part = level->x_part;
    sx_loop *on_x = end - 1;
    *end = *on_x;
    on_x->n = on_x->last = part;
    end->n = end->last = end->n / part;
    end->step *= part;
    return end + 1;
}

/* The product of loops' iterations, as far as it matters. */
static uint64_t count_iterations(const sx_loop *loop, const sx_loop *end) {
    uint64_t product = 1;
    for (; loop < end; loop++) product = product > INT32_MAX ? product : product * loop->n;
    return product;
}

static bool is_permutation(const uint8_t *order, int n) {
    unsigned seen = 0;
    for (int i = 0; i < n; i++) seen |= order[i] < n ? 1u << order[i] : 0;
    return seen == (1u << n) - 1u;
}

/* What is wrong with a mapping's orders and factors, if anything is. */
static sx_verdict why_not(const sx_model *model, const sx_mapping *mapping) {
    for (int s = 0; s < model->n_levels; s++)
        if (!is_permutation(mapping->level[s].temporal_order, model->n_dims) ||
            !is_permutation(mapping->level[s].spatial_order, model->n_dims) ||
            mapping->level[s].split > model->n_dims || !sx_axes_good(&mapping->level[s]))
            return make_verdict(SX_BAD_SHAPE, -1, -1, -1, 0, 0);
    for (int d = 0; d < model->n_dims; d++) {
        double cover = 1, size = model->size[d];
        bool good = true, both = false;
        for (int s = 0; s < model->n_levels; s++) {
            const uint32_t factor[] = {mapping->level[s].spatial[d], mapping->level[s].temporal[d]};
            both |= sx_axes_both(&mapping->level[s]) >= 0;
            for (int i = 0; i < 2; i++) {
                good &= factor[i] > 0 && (factor[i] == 1 || (factor[i] - 1.0) * cover < size);
                cover *= factor[i];
            }
        }
        if (!good || cover < size || (both && cover > size))
            return make_verdict(SX_FACTOR_PRODUCT, -1, -1, d, cover, size);
    }
    return legal;
}

/* Where factors leave remainders: the last iterations of each loop, and the temporal steps of the first unit.
 */
static void set_remainders(const sx_model *model, sx_nest *nest) {
    uint64_t full[SX_MAX_DIMS] = {0}, edge[SX_MAX_DIMS];
    for (int d = 0; d < model->n_dims; d++) edge[d] = 1;
    for (int i = 0; i < nest->n_spatial; i++) {
        sx_loop *l = &nest->spatial[i];
        l->last = (uint32_t)((model->size[l->dim] - 1) / l->step % l->n) + 1;
    }
    int p = nest->n_spatial;
    for (int i = nest->n_temporal - 1;; i--) {
        int level = i >= 0 ? nest->temporal[i].level : -1;
        for (; p > 0 && nest->spatial[p - 1].level > level; p--) {
            const sx_loop *l = &nest->spatial[p - 1];
            if (l->last == 1 || edge[l->dim] == 0) continue;
            full[l->dim] += 1;
            edge[l->dim] = 0;
        }
        if (i < 0) break;
        sx_loop *l = &nest->temporal[i];
        l->last = (uint32_t)((model->size[l->dim] - 1) / l->step % l->n) + 1;
        full[l->dim] = full[l->dim] * l->n + edge[l->dim] * (l->last - 1);
    }
    nest->cycles = 1;
    for (int d = 0; d < model->n_dims; d++) nest->cycles *= full[d] + edge[d];
}

/* Sets the extents of a level's tile and of its children together. False when a dimension reaches twice its
 * size, which no legal factor does; `spatial` tells whether the level has spatial loops. */
static inline bool set_extents(const sx_model *model, const sx_mapping_level *level, const uint32_t *inner,
                               uint32_t *spread, uint32_t *extent, bool *spatial) {
    uint32_t loops = 0;
    bool good = true;
    for (int d = 0; d < model->n_dims; d++) {
        uint64_t wide = (uint64_t)inner[d] * level->spatial[d], size = model->size[d];
        loops |= level->spatial[d] ^ 1;
        spread[d] = (uint32_t)wide;
        good &= wide < 2 * size;
        wide = (uint64_t)spread[d] * level->temporal[d];
        extent[d] = (uint32_t)wide;
        good &= wide < 2 * size;
    }
    *spatial = loops != 0;
    return good;
}

/* Lays out all loops; fills everything of the nest but the tiles. */
static sx_verdict lay_out(const sx_model *model, const sx_mapping *mapping, sx_nest *nest) {
    static const uint32_t ones[SX_MAX_DIMS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    int n_levels = model->n_levels, n_dims = model->n_dims;
    if (mapping->n_levels != n_levels || mapping->n_dims != n_dims || mapping->n_tensors != model->n_tensors)
        return make_verdict(SX_BAD_SHAPE, -1, -1, -1, 0, 0);
    const uint32_t *inner = ones;
    unsigned all = (1u << n_dims) - 1u;
    sx_loop *temporal = nest->temporal, *spatial = nest->spatial;
    for (int s = 0; s < n_levels; s++) {
        const sx_mapping_level *level = &mapping->level[s];
        const uint8_t *order = level->spatial_order;
        unsigned in_space = 0, in_time = 0;
        uint32_t spread[SX_MAX_DIMS];
        bool spreads;
        nest->temporal_of[s] = (uint8_t)(temporal - nest->temporal);
        nest->spatial_of[s] = (uint8_t)(spatial - nest->spatial);
        nest->slot_x[s] = nest->slot_y[s] = 1;
        nest->n_x[s] = 0;
        bool good = set_extents(model, level, inner, spread, nest->extent[s], &spreads);
        if (!good || level->split > n_dims || !sx_axes_good(level)) return why_not(model, mapping);
        if (spreads) {
            int split = level->split;
            sx_loop *middle = add_loops(level->spatial, order, split, s, inner, &in_space, spatial);
            sx_loop *end = level->x_part ? add_outer_part(level, middle) : middle;
            end = add_loops(level->spatial, order + split, n_dims - split, s, inner, &in_space, end);
            nest->n_x[s] = (uint8_t)(middle - spatial);
            nest->slot_x[s] = count_iterations(spatial, middle);
            nest->slot_y[s] = count_iterations(middle, end);
            spatial = end;
        } else if (is_permutation(order, n_dims)) {
            in_space = all;
        }
        temporal = add_loops(level->temporal, level->temporal_order, n_dims, s, spread, &in_time, temporal);
        if (in_space != all || in_time != all) return why_not(model, mapping);
        inner = nest->extent[s];
    }
    nest->n_temporal = (uint8_t)(temporal - nest->temporal);
    nest->n_spatial = (uint8_t)(spatial - nest->spatial);
    nest->temporal_of[n_levels] = nest->n_temporal;
    nest->spatial_of[n_levels] = nest->n_spatial;
    nest->perfect = true;
    for (int d = 0; d < n_dims; d++) nest->perfect &= inner[d] == model->size[d];
    if (!nest->perfect) {
        sx_verdict verdict = why_not(model, mapping);
        if (verdict.reason != SX_LEGAL) return verdict;
    }
    uint64_t product = nest->suffix[nest->n_temporal] = 1;
    for (int i = nest->n_temporal - 1; i >= 0; i--) nest->suffix[i] = product *= nest->temporal[i].n;
    nest->cycles = product;
    if (!nest->perfect) set_remainders(model, nest);
    return legal;
}

/* Instances in use at every level, and whether the compute array has them. */
static sx_verdict check_array(const sx_model *model, sx_nest *nest) {
    uint64_t x = 1, y = 1;
    for (int s = model->n_levels - 1; s >= 0; s--) {
        nest->expand_x[s] = x;
        nest->expand_y[s] = y;
        nest->above[s] = x * y;
        x *= nest->slot_x[s];
        y *= nest->slot_y[s];
        if (x > INT32_MAX) x = INT32_MAX;
        if (y > INT32_MAX) y = INT32_MAX;
    }
    nest->used_x = x;
    nest->used_y = y;
    int compute = model->n_levels;
    if (x * y > model->compute_instances)
        return make_verdict(SX_INSTANCES, compute, -1, -1, (double)(x * y), (double)model->compute_instances);
    if (x > model->compute_x)
        return make_verdict(SX_MESH_X, compute, -1, -1, (double)x, (double)model->compute_x);
    if (y > model->compute_y)
        return make_verdict(SX_MESH_Y, compute, -1, -1, (double)y, (double)model->compute_y);
    return legal;
}

/* Whether every tensor is kept somewhere, and none where nothing can be. */
static sx_verdict check_keep(const sx_model *model, const sx_mapping *mapping) {
    unsigned kept = 0, all = (1u << model->n_tensors) - 1u;
    for (int s = 0; s < model->n_levels; s++) {
        unsigned keep = mapping->level[s].keep & all;
        kept |= keep;
        if (model->level[s].transparent && keep)
            return make_verdict(SX_KEEP_FORBIDDEN, s, __builtin_ctz(keep), -1, 0, 0);
    }
    if (kept != all) return make_verdict(SX_NOT_KEPT, -1, __builtin_ctz(~kept & all), -1, 0, 0);
    return legal;
}

/* The tensor whose tile takes most words of a level, of dense tiles. */
static int largest_tensor(const sx_model *model, const sx_nest *nest, const sx_mapping *mapping, int s) {
    int best = -1;
    double most = 0;
    for (int v = 0; v < model->n_tensors; v++) {
        double words = sx_level_words(&model->level[s], v, (double)nest->tile[v][s]);
        if (!(mapping->level[s].keep >> v & 1) || words <= most) continue;
        most = words;
        best = v;
    }
    return best;
}

/* Whether the tiles kept at a level fit. */
static sx_verdict check_capacity(const sx_model *model, const sx_mapping *mapping, const sx_nest *nest,
                                 int s) {
    const sx_level *level = &model->level[s];
    unsigned keep = mapping->level[s].keep;
    sx_occupancy use = {0, 0};
    for (int v = 0; v < model->n_tensors; v++)
        if (keep >> v & 1) sx_occupancy_add(&use, level, v, (double)nest->tile[v][s]);
    if (!sx_level_fits(level, &use)) {
        double words = use.banks > level->banks ? fmax(use.words, use.banks * level->bank_words) : use.words;
        return make_verdict(SX_CAPACITY, s, largest_tensor(model, nest, mapping, s), -1, words,
                            level->effective);
    }
    if (use.words < level->minimum) return make_verdict(SX_UNDERUSED, s, -1, -1, use.words, level->minimum);
    return legal;
}

/* Tiles and instances at every level, and whether they are there. */
static sx_verdict check_levels(const sx_model *model, const sx_mapping *mapping, sx_nest *nest) {
    for (int s = 0; s < model->n_levels; s++) {
        const sx_level *level = &model->level[s];
        if (!nest->perfect)
            for (int d = 0; d < model->n_dims; d++)
                if (nest->extent[s][d] > model->size[d]) nest->extent[s][d] = model->size[d];
        bool all = s + 1 == model->n_levels;
        for (int v = 0; v < model->n_tensors; v++)
            nest->tile[v][s] = all ? model->words[v] : sx_shape_words(&model->shape[v], nest->extent[s]);
        for (int v = 0; v < model->n_tensors && s > 0; v++) assert(nest->tile[v][s] >= nest->tile[v][s - 1]);
        if (level->limited) {
            sx_verdict verdict = check_capacity(model, mapping, nest, s);
            if (verdict.reason != SX_LEGAL) return verdict;
        }
        if (nest->above[s] > level->instances)
            return make_verdict(SX_INSTANCES, s, -1, -1, (double)nest->above[s], (double)level->instances);
        if (nest->expand_x[s] > level->mesh_x)
            return make_verdict(SX_MESH_X, s, -1, -1, (double)nest->expand_x[s], (double)level->mesh_x);
        if (nest->expand_y[s] > level->mesh_y)
            return make_verdict(SX_MESH_Y, s, -1, -1, (double)nest->expand_y[s], (double)level->mesh_y);
    }
    return legal;
}

/* What a dimension's factors come to so far: exact where they do not exceed a word, and about. */
typedef struct reach {
    uint32_t exact[SX_MAX_DIMS];
    float about[SX_MAX_DIMS];
} reach;

/* Two numbers as one. */
static inline uint64_t pair_numbers(const uint32_t *number) {
    uint64_t both;
    memcpy(&both, number, sizeof both);
    return both;
}

/* Extends the reach by a level's factors; whether it has spatial loops. width, a constant, is at least the number of
 * dimensions: everything is zero beyond that. */
static inline __attribute__((always_inline)) bool extend(const sx_model *model, const sx_mapping_level *level,
                                                         int width, reach *r) {
    uint32_t spatial[SX_MAX_DIMS], temporal[SX_MAX_DIMS];
    uint64_t loops = 0;
    size_t bytes = (size_t)width * sizeof *spatial;
    memcpy(spatial, level->spatial, bytes);
    memcpy(temporal, level->temporal, bytes);
    for (int d = 0; d < width; d += 2) loops |= pair_numbers(spatial + d) ^ pair_numbers(model->ones + d);
    for (int d = 0; d < width; d++) r->exact[d] *= spatial[d];
    for (int d = 0; d < width; d++) r->exact[d] *= temporal[d];
    for (int d = 0; d < width; d++) r->about[d] *= (float)spatial[d];
    for (int d = 0; d < width; d++) r->about[d] *= (float)temporal[d];
    return loops != 0;
}

/* Whether all factors' product is the size: equal in the last 32 bits, and about equal. */
static inline __attribute__((always_inline)) bool is_exact(const sx_model *model, int width, const reach *r) {
    uint32_t wrong = 0;
    for (int d = 0; d < width; d++) wrong |= r->exact[d] ^ model->size[d];
    for (int d = 0; d < width; d++) wrong |= r->about[d] > (float)model->size[d] * 1.001F;
    return wrong == 0;
}

/* Fills what the checks need of a nest, without its loops; false where factors leave remainders or the array cannot
 * be counted. */
static inline __attribute__((always_inline)) bool outline(const sx_model *model, const sx_mapping *mapping,
                                                          int width, sx_nest *nest) {
    reach r;
    for (int d = 0; d < width; d++) r.exact[d] = model->size[d] > 0;
    for (int d = 0; d < width; d++) r.about[d] = model->size[d] > 0;
    for (int s = 0; s < model->n_levels; s++) {
        const sx_mapping_level *level = &mapping->level[s];
        uint64_t used[2] = {1, 1};
        if (extend(model, level, width, &r)) sx_axes_used(level, model->n_dims, used);
        nest->slot_x[s] = used[0];
        nest->slot_y[s] = used[1];
        memcpy(nest->extent[s], r.exact, (size_t)width * sizeof *r.exact);
    }
    nest->perfect = is_exact(model, width, &r);
    return nest->perfect;
}

/* Whether a mapping passes all checks, of its outline. */
static bool passes_checks(const sx_model *model, const sx_mapping *mapping, const sx_nest *nest) {
    double x = 1, y = 1;
    unsigned kept = 0, all = (1u << model->n_tensors) - 1u;
    for (int s = model->n_levels - 1; s >= 0; s--) {
        const sx_level *level = &model->level[s];
        unsigned keep = mapping->level[s].keep & all;
        kept |= keep;
        if (x * y > (double)level->instances || x > (double)level->mesh_x || y > (double)level->mesh_y ||
            (level->transparent && keep))
            return false;
        x *= (double)nest->slot_x[s];
        y *= (double)nest->slot_y[s];
        if (!level->limited) continue;
        sx_occupancy use = sx_level_occupancy(model, level, keep, nest->extent[s]);
        if (!sx_level_fits(level, &use) || use.words < level->minimum) return false;
    }
    return kept == all && x * y <= (double)model->compute_instances && x <= (double)model->compute_x &&
           y <= (double)model->compute_y;
}

/* All checks but those of lay_out. */
static sx_verdict check_all(const sx_model *model, const sx_mapping *mapping, sx_nest *nest) {
    sx_verdict verdict = check_keep(model, mapping);
    if (verdict.reason == SX_LEGAL) verdict = check_array(model, nest);
    if (verdict.reason == SX_LEGAL) verdict = check_levels(model, mapping, nest);
    return verdict;
}

sx_verdict sx_nest_build(const sx_model *model, const sx_mapping *mapping, sx_nest *nest) {
    sx_verdict verdict = lay_out(model, mapping, nest);
    return verdict.reason == SX_LEGAL ? check_all(model, mapping, nest) : verdict;
}

/* Checks a mapping of sparse tensors whose nest is laid out. The guard remembers a check that could not be
 * finished, since searches take its verdict for that of an illegal mapping. */
static sx_verdict check_sparse(const sx_model *model, const sx_mapping *mapping, const sx_nest *nest) {
    sx_verdict verdict = legal;
    sx_sparse_state *state = sx_check_pool_borrow(model->sparse->checks, model);
    if (!state) {
        verdict.reason = SX_NO_MEMORY;
    } else {
        verdict = sx_sparse_prepare(state, mapping, nest, false);
        sx_check_pool_return(model->sparse->checks, state);
    }
    if (verdict.reason == SX_NO_MEMORY) atomic_store(&model->guard->unfinished, true);
    return verdict;
}

sx_verdict sx_check(const sx_model *model, const sx_mapping *mapping) {
    sx_nest nest;
    if (model->formats) return sx_formats_check(model, mapping);
    if (model->range) return sx_range_check(model, mapping);
    sx_verdict verdict = sx_nest_build(model, mapping, &nest);
    return model->sparse && verdict.reason == SX_LEGAL ? check_sparse(model, mapping, &nest) : verdict;
}

sx_verdict sx_check_tiles(const sx_model *model, const sx_mapping *mapping) {
    sx_nest nest;
    bool fast = !model->formats && !model->range && !model->sparse;
    if (fast)
        fast = model->n_dims <= SX_MAX_DIMS / 2 ? outline(model, mapping, SX_MAX_DIMS / 2, &nest)
                                                : outline(model, mapping, SX_MAX_DIMS, &nest);
    if (!fast) return sx_check(model, mapping);
    return passes_checks(model, mapping, &nest) ? legal : check_all(model, mapping, &nest);
}
