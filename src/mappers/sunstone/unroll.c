/* Sunstone's spatial unrolling.
 *
 * Source: Sunstone (thesis 2022), section 4.6, algorithm 6, and the released code. For each tensor both axes
 * of the array draw from the dimensions that index it: those that reuse a tensor in time need not do so in
 * space (observation 5). An axis is filled exactly where the factors allow it. Where they do not (Y always, X
 * only if no tensor has an exact fill), it takes the maximal fills by the tensor's dimensions and, to trade
 * movement for speed, the exact ones by all dimensions in which the tensor's make up the larger factor, or
 * where there are none such fills that are better than the worst of the first.
 *
 * What differs. A dimension lies on one axis, never on both, in spaces with split axes too: so 14 x 12 PEs
 * can not be filled by P7 C2 and C4 R3. Of unrollings that differ only in their axes one is kept. The rule
 * SX_SPREAD_MIXED is ours: dimensions of any tensors, since 14 x 12 PEs want mixes such as P7 K2 and R3 C4
 * that no single tensor is indexed by.
 *
 * Complexity: in the number of fills of an axis, tens to thousands. */
#include "mappers/sunstone/unroll.h"

#include <string.h>

/* The filling of one axis. */
typedef struct axis {
    const sx_map_space *space;
    const sx_sunstone_divisors *divisors;
    int slot;
    uint64_t size;
    uint32_t left[SX_MAX_DIMS], dims; /* dims: a mask of those that may lie on it */
    uint32_t own;                     /* those of the tensor */
    uint32_t forced;                  /* those that constraints want unrolled and that have no other axis */
    bool exact, maximal, larger;      /* what is asked for; larger: the own factors outweigh the others */
    size_t limit;
    sx_vector *out; /* of sx_sunstone_unrolling */
} axis;

/* The next factor of a dimension after one (0: the first), 0 past the last. A dimension that must have one
 * may leave it to the other axis. */
static uint32_t next_factor(const axis *a, int d, uint32_t after) {
    uint32_t least = a->space->min[d][a->slot];
    if (after == 0 && !(a->forced >> d & 1)) return 1;
    if (after < least) after = least - 1;
    uint32_t f = sx_sunstone_next(a->divisors, d, after, a->left[d]);
    return f <= a->space->max[d][a->slot] ? f : 0;
}

/* Whether no dimension of a fill could have a larger factor. */
static bool is_maximal(const axis *a, const uint32_t *factor, uint64_t product) {
    for (uint32_t dims = a->dims; dims; dims &= dims - 1) {
        int d = __builtin_ctz(dims);
        uint32_t next = next_factor(a, d, factor[d]);
        if (next && product / factor[d] * next <= a->size) return false;
    }
    return true;
}

/* Whether the tensor's own dimensions make up the larger factor. */
static bool is_own(const axis *a, const uint32_t *factor) {
    uint64_t own = 1, other = 1;
    for (uint32_t dims = a->dims; dims; dims &= dims - 1) {
        int d = __builtin_ctz(dims);
        *(a->own >> d & 1 ? &own : &other) *= factor[d];
    }
    return own >= other;
}

/* Adds the fills that have these factors and more of the dimensions `dims`. */
static void add_unrollings(const axis *a, uint32_t dims, sx_sunstone_unrolling *now, uint64_t product) {
    if (a->out->failed || a->out->n >= a->limit) return;
    if (!dims) {
        if ((a->exact && product != a->size) || (a->larger && !is_own(a, now->factor))) return;
        if (a->maximal && !is_maximal(a, now->factor, product)) return;
        sx_sunstone_unrolling *at = sx_vector_add(a->out);
        if (at) *at = *now;
        return;
    }
    int d = __builtin_ctz(dims);
    for (uint32_t f = next_factor(a, d, 0); f && product * f <= a->size; f = next_factor(a, d, f)) {
        now->factor[d] = f;
        if (!a->exact || a->size % (product * f) == 0) add_unrollings(a, dims & (dims - 1), now, product * f);
    }
    now->factor[d] = 1;
}

/* Appends the fills of an axis that are of a kind; returns how many. */
static size_t append_fills(axis *a, uint32_t dims, bool exact, bool maximal, bool larger) {
    sx_sunstone_unrolling none;
    for (int d = 0; d < SX_MAX_DIMS; d++) none.factor[d] = 1;
    none.on_x = 0;
    size_t before = a->out->n;
    uint32_t may = a->dims;
    a->dims &= dims | a->forced;
    a->exact = exact;
    a->maximal = maximal;
    a->larger = larger;
    add_unrollings(a, a->dims, &none, 1);
    a->dims = may;
    return a->out->n - before;
}

static uint64_t product_of(const axis *a, const sx_sunstone_unrolling *u) {
    uint64_t product = 1;
    for (int d = 0; d < a->space->problem->n_dims; d++) product *= u->factor[d];
    return product;
}

/* The fallback: maximal fills by the tensor's dimensions, and fills by all dimensions that use more. */
static void fill_partly(axis *a) {
    size_t first = a->out->n, partial = append_fills(a, a->own, false, true, false);
    if (append_fills(a, UINT32_MAX, true, false, true) > 0) return;
    uint64_t worst = UINT64_MAX;
    for (size_t i = first; i < first + partial; i++) {
        uint64_t product = product_of(a, sx_vector_at(a->out, i));
        if (product < worst) worst = product;
    }
    size_t n = a->out->n;
    append_fills(a, UINT32_MAX, false, true, true);
    for (size_t i = n; i < a->out->n; i++) {
        sx_sunstone_unrolling other = *(sx_sunstone_unrolling *)sx_vector_at(a->out, i);
        if (product_of(a, &other) > worst) *(sx_sunstone_unrolling *)sx_vector_at(a->out, n++) = other;
    }
    a->out->n = n;
}

/* Fills an axis by the thesis' rule; with `strict`, exactly or not at all. */
static void fill_axis(axis *a, sx_sunstone_spread rule, bool strict) {
    if (rule == SX_SPREAD_ALL)
        append_fills(a, UINT32_MAX, false, false, false);
    else if (rule == SX_SPREAD_MIXED)
        append_fills(a, UINT32_MAX, false, true, false);
    else if (append_fills(a, a->own, true, false, false) == 0 && !strict)
        fill_partly(a);
}

/* Compares by factors, then by axes. */
static int by_factors(const void *a, const void *b) {
    const sx_sunstone_unrolling *u = a, *v = b;
    for (int d = 0; d < SX_MAX_DIMS; d++)
        if (u->factor[d] != v->factor[d]) return u->factor[d] < v->factor[d] ? -1 : 1;
    return (u->on_x > v->on_x) - (u->on_x < v->on_x);
}

/* Leaves one of those with the same factors, from number `first` on. */
static void drop_duplicates(sx_vector *list, size_t first) {
    size_t n = first;
    if (list->n > first) qsort(sx_vector_at(list, first), list->n - first, list->size, by_factors);
    for (size_t i = first; i < list->n; i++) {
        sx_sunstone_unrolling *at = sx_vector_at(list, i), *before = i > first ? at - 1 : NULL;
        if (before && memcmp(before->factor, at->factor, sizeof at->factor) == 0) continue;
        memmove(sx_vector_at(list, n++), at, sizeof *at);
    }
    list->n = n;
}

/* Which dimensions may lie on X, or on Y. */
static uint32_t allowed_dims(const sx_map_space *space, int level, bool on_x) {
    uint32_t all = (1u << space->problem->n_dims) - 1;
    uint32_t only_x = space->fixed_x[level] & ~space->free_x[level];
    return on_x ? (uint32_t)(space->fixed_x[level] | space->free_x[level]) & all : all & ~only_x;
}

/* Appends the unrollings that draw from the dimensions `own`. */
static void unroll_for(axis *x, uint32_t own, sx_sunstone_spread rule, bool strict, sx_vector *out,
                       int level) {
    sx_vector on_x = {.size = sizeof(sx_sunstone_unrolling)}, on_y = on_x;
    x->own = own;
    x->out = &on_x;
    fill_axis(x, rule, strict);
    for (size_t i = 0; i < on_x.n && out->n < x->limit; i++) {
        const sx_sunstone_unrolling *u = sx_vector_at(&on_x, i);
        axis y = *x;
        uint32_t taken = 0;
        for (int d = 0; d < x->space->problem->n_dims; d++) taken |= (uint32_t)(u->factor[d] > 1) << d;
        y.size = x->space->room[level][1];
        y.dims = allowed_dims(x->space, level, false) & ~taken;
        y.forced = 0;
        for (int d = 0; d < x->space->problem->n_dims; d++)
            y.forced |= (uint32_t)(x->space->min[d][x->slot] > 1 && !(taken >> d & 1)) << d;
        y.out = &on_y;
        on_y.n = 0;
        fill_axis(&y, rule, false);
        for (size_t j = 0; j < on_y.n; j++) {
            sx_sunstone_unrolling both = *(sx_sunstone_unrolling *)sx_vector_at(&on_y, j);
            for (uint32_t t = taken; t; t &= t - 1)
                both.factor[__builtin_ctz(t)] = u->factor[__builtin_ctz(t)];
            both.on_x = taken;
            sx_sunstone_unrolling *at = out->n < x->limit ? sx_vector_add(out) : NULL;
            if (at) *at = both;
        }
    }
    out->failed |= on_x.failed || on_y.failed;
    sx_vector_clear(&on_x);
    sx_vector_clear(&on_y);
}

/* Appends the unrollings by the dimensions of each tensor in turn, or of all. */
static void unroll_all(axis *x, sx_sunstone_spread rule, bool strict, sx_vector *out, int level) {
    if (rule != SX_SPREAD_TENSOR) {
        unroll_for(x, UINT32_MAX, rule, strict, out, level);
        return;
    }
    for (int v = 0; v < x->space->problem->n_tensors; v++)
        unroll_for(x, x->space->model->shape[v].dims, rule, strict, out, level);
}

void sx_sunstone_unroll(const sx_map_space *space, const sx_sunstone_divisors *divisors, int level,
                        const uint32_t *left, sx_sunstone_spread rule, size_t limit, sx_vector *out) {
    axis x = {.space = space,
              .divisors = divisors,
              .slot = space->spatial_slot[level],
              .size = space->room[level][0],
              .dims = allowed_dims(space, level, true),
              .limit = out->n + limit};
    size_t first = out->n;
    memcpy(x.left, left, (size_t)space->problem->n_dims * sizeof *left);
    uint32_t bound = 0;
    for (int d = 0; d < space->problem->n_dims; d++) bound |= (uint32_t)(space->min[d][x.slot] > 1) << d;
    x.forced = bound & ~allowed_dims(space, level, false);
    unroll_all(&x, rule, true, out, level);
    if (out->n == first && rule == SX_SPREAD_TENSOR) unroll_all(&x, rule, false, out, level);
    drop_duplicates(out, first);
}
