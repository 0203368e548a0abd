/* Loops, tiles and legality of a mapping (docs/model.md, section 1). */
#include "check/nest.h"

#include "ir/axes.h"

#include <stdlib.h>

/* Whether the mapping has the shape of the case, with orders that are permutations. */
static bool has_shape(const sx_check_case *c, const sx_mapping *mapping) {
    int n = c->problem.n_dims;
    bool good = mapping->n_levels == c->machine.n_levels && mapping->n_dims == n &&
                mapping->n_tensors == c->problem.n_tensors;
    for (int s = 0; s < c->machine.n_levels && good; s++) {
        const sx_mapping_level *at = &mapping->level[s];
        good = sx_order_is_permutation(at->temporal_order, n) &&
               sx_order_is_permutation(at->spatial_order, n) && at->split <= n && sx_axes_good(at);
        for (int d = 0; d < n; d++) good &= at->temporal[d] > 0 && at->spatial[d] > 0;
    }
    return good;
}

/* Multiplies the extent inside a loop by its factor; false where the loop has an iteration that never happens. */
static bool grow_extent(int64_t size, int64_t factor, int64_t *extent) {
    if (factor > (size - 1) / *extent + 1) return false;
    *extent *= factor;
    return true;
}

/* Whether the factors of every dimension cover its size, and none has an iteration that never happens. */
static bool check_factors(const sx_check_case *c, const sx_mapping *mapping, bool *remainders,
                          sx_check_doubt *doubt) {
    *remainders = false;
    for (int d = 0; d < c->problem.n_dims; d++) {
        int64_t product = 1, size = c->problem.size[d];
        bool good = true;
        for (int s = 0; s < c->machine.n_levels && good; s++)
            good = grow_extent(size, mapping->level[s].spatial[d], &product) &&
                   grow_extent(size, mapping->level[s].temporal[d], &product);
        *remainders |= product > size;
        if (good && product >= size) continue;
        sx_check_doubt_add(doubt, "the factors of %s %s its size", c->problem.dim_name[d],
                           good ? "do not reach" : "go beyond");
        return false;
    }
    return true;
}

/* Adds a loop, unless it has one iteration; inner is the dimension's extent inside it, which grows. */
static void add_loop(sx_check_loop *list, int *n, int dim, int64_t factor, int64_t *inner) {
    if (factor > 1) list[(*n)++] = (sx_check_loop){factor, *inner, dim};
    *inner *= factor;
}

/* Adds the spatial loops of a level, X inside Y. */
static void add_spatial(const sx_mapping_level *at, int n_dims, int64_t *inner, int *n, int64_t spread[2],
                        sx_check_loop *list) {
    int both = sx_axes_both(at);
    spread[0] = spread[1] = 1;
    for (int i = 0; i < n_dims; i++) {
        int d = at->spatial_order[i], axis = i >= at->split;
        int64_t factor = d == both ? at->x_part : at->spatial[d];
        add_loop(list, n, d, factor, &inner[d]);
        spread[axis] *= factor;
        if (d == both) {
            add_loop(list, n, d, at->spatial[d] / at->x_part, &inner[d]);
            spread[1] *= at->spatial[d] / at->x_part;
        }
    }
}

int64_t sx_check_box(const sx_problem *problem, int tensor, const int64_t *extent) {
    const sx_tensor *t = &problem->tensor[tensor];
    int64_t box = 1;
    for (int r = 0; r < t->n_ranks; r++) {
        int64_t reach = 1;
        for (int d = 0; d < problem->n_dims; d++) reach += labs((long)t->coef[r][d]) * (extent[d] - 1);
        box *= reach;
    }
    return box;
}

/* Lays out the loops of all levels. */
static void lay_out(const sx_check_case *c, const sx_mapping *mapping, sx_check_nest *out) {
    int64_t inner[SX_MAX_DIMS];
    int n_dims = c->problem.n_dims, temporal = 0, spatial = 0;
    for (int d = 0; d < n_dims; d++) inner[d] = 1;
    out->steps = 1;
    for (int s = 0; s < c->machine.n_levels; s++) {
        const sx_mapping_level *at = &mapping->level[s];
        out->first_spatial[s] = spatial;
        out->first_temporal[s] = temporal;
        add_spatial(at, n_dims, inner, &spatial, out->spread[s], out->spatial);
        for (int v = 0; v < c->problem.n_tensors; v++)
            out->spread_tile[s][v] = sx_check_box(&c->problem, v, inner);
        for (int i = 0; i < n_dims; i++) {
            int d = at->temporal_order[i];
            add_loop(out->temporal, &temporal, d, at->temporal[d], &inner[d]);
            out->steps *= at->temporal[d];
        }
        for (int d = 0; d < n_dims; d++)
            out->extent[s][d] = inner[d] < c->problem.size[d] ? inner[d] : c->problem.size[d];
        for (int v = 0; v < c->problem.n_tensors; v++)
            out->tile[s][v] = sx_check_box(&c->problem, v, out->extent[s]);
    }
    out->first_spatial[c->machine.n_levels] = spatial;
    out->first_temporal[c->machine.n_levels] = temporal;
}

/* Whether the array has room for the spatial loops; sets the instances in use. */
static bool check_mesh(const sx_check_case *c, sx_check_nest *nest, sx_check_doubt *doubt) {
    int64_t used[2] = {1, 1};
    for (int s = c->machine.n_levels - 1; s >= -1; s--) {
        const int64_t *mesh = s < 0 ? c->machine.compute_mesh : c->machine.level[s].mesh;
        for (int axis = 0; axis < 2; axis++) {
            if (used[axis] <= mesh[axis]) continue;
            sx_check_doubt_add(doubt, "%s: %lld instances on %c, there are %lld",
                               s < 0 ? "the compute units" : c->machine.level[s].name, (long long)used[axis],
                               "XY"[axis], (long long)mesh[axis]);
            return false;
        }
        if (s < 0) break;
        nest->used[s] = used[0] * used[1];
        for (int axis = 0; axis < 2; axis++) used[axis] *= nest->spread[s][axis];
    }
    return true;
}

/* Whether every tensor is kept somewhere, and none at a level that is a fan-out only. */
static bool check_keeping(const sx_check_case *c, const sx_mapping *mapping, sx_check_doubt *doubt) {
    unsigned all = (1u << c->problem.n_tensors) - 1, kept = 0;
    for (int s = 0; s < c->machine.n_levels; s++) {
        unsigned keep = mapping->level[s].keep & all;
        kept |= keep;
        if (!keep || !c->machine.level[s].transparent) continue;
        sx_check_doubt_add(doubt, "%s keeps nothing, it is a fan-out", c->machine.level[s].name);
        return false;
    }
    if (kept == all) return true;
    sx_check_doubt_add(doubt, "%s is kept nowhere", c->problem.tensor[__builtin_ctz(~kept)].name);
    return false;
}

int64_t sx_check_words(const sx_check_level *level, const sx_tensor *tensor, int64_t elements) {
    if (!tensor->bits) return elements;
    return (int64_t)(((sx_wide)elements * tensor->bits + level->word_bits - 1) / level->word_bits);
}

/* Whether the tiles that a level keeps fit: whole banks of each tensor, where it has banks. */
static bool check_capacity(const sx_check_case *c, const sx_mapping *mapping, const sx_check_nest *nest,
                           int s, sx_check_doubt *doubt) {
    const sx_check_level *level = &c->machine.level[s];
    sx_wide words = 0, banks = 0;
    if (level->usable < 0) return true;
    for (int v = 0; v < c->problem.n_tensors; v++) {
        if (!(mapping->level[s].keep >> v & 1)) continue;
        sx_wide own = sx_check_words(level, &c->problem.tensor[v], nest->tile[s][v]);
        words += own;
        if (level->banks && level->usable) banks += (own * level->banks + level->usable - 1) / level->usable;
    }
    if (words > level->usable || banks > level->banks) {
        sx_check_doubt_add(doubt, "%s: the tiles do not fit", level->name);
        return false;
    }
    if (words * level->min_utilization.den >= (sx_wide)level->usable * level->min_utilization.num)
        return true;
    sx_check_doubt_add(doubt, "%s: less is used than must be", level->name);
    return false;
}

sx_check_legality sx_check_nest_build(const sx_check_case *c, const sx_mapping *mapping, sx_check_nest *out,
                                      sx_check_doubt *doubt) {
    if (!has_shape(c, mapping)) {
        sx_check_doubt_add(doubt, "the mapping is not one of this problem on this machine");
        return SX_COST_ILLEGAL;
    }
    if (!check_factors(c, mapping, &out->remainders, doubt)) return SX_COST_ILLEGAL;
    lay_out(c, mapping, out);
    bool good = check_keeping(c, mapping, doubt) && check_mesh(c, out, doubt);
    for (int s = 0; s < c->machine.n_levels && good; s++) good = check_capacity(c, mapping, out, s, doubt);
    return good ? SX_COST_LEGAL : SX_COST_ILLEGAL;
}
