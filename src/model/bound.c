/* What all bounds of a model have in common: the lattice of tile extents, and what a level is filled with.
 *
 * With exact factors, let E be the extents of the tile of a level that keeps tensor V, and N the sizes. Over
 * all instances the level is filled with tile(E) * prod(N/E) words where the first temporal loop outside
 * moves the tile, and with less by the factor of the loops inside that one otherwise, which do not index V
 * (they leave the tile in place; section 3 of the specification). For a tensor without sliding windows this
 * is exact: any loop on one of its dimensions moves the tile clear of itself (model/motion.h).
 *
 * Windows. Let j be the innermost loop outside the tile that indexes V, n its iterations. Where it is on a
 * solo dimension the count is exact. Otherwise every advance of j shifts the tile by its own step, as the
 * loops inside it do not move V: of rank r, whose tile has extent e, at least min(1, |coef| * E_d / e) is
 * new, and that share of the tile is fetched at least. It happens (n - 1) / n of the visits from j outward.
 * What the other loops on windows fetch may be nothing, as the sampled steps can cancel. But where every rank
 * has at most one dimension with loops outside the tile (a closed tile: windows lie within it), steps along
 * that dimension never cancel, as each is at least twice the one inside it, and every advance of every loop
 * from j outward fetches its share. So the count is at least tile(E) * prod(N/E) times k(E) = min over
 * dimensions d in mixed ranks with E_d < N_d of q * max over r of min(1, |coef| E_d / e_r), with q = 1 for
 * closed tiles, else 1 - 1/p with p the smallest prime of N_d / E_d; and k = 1 where there is no such d.
 *
 * Complexity: O(points * (dimensions + tensors)) once per model. */
#include "model/bound.h"

#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adds the digits of a dimension; false where there is no room. */
static bool add_digits(sx_lattice *l, int d, uint32_t size) {
    for (uint32_t p = 2; size > 1; p++) {
        if ((uint64_t)p * p > size) p = size;
        if (size % p) continue;
        if (l->n_digits == SX_MAX_DIGITS) return false;
        int k = l->n_digits++;
        l->dim[k] = (uint8_t)d;
        l->prime[k] = p;
        for (l->top[k] = 0; size % p == 0; size /= p) l->top[k]++;
    }
    return true;
}

/* Numbers the points; false where there are more than `most`. */
static bool set_lattice(sx_lattice *l, const sx_model *model, uint32_t most) {
    uint64_t n = 1;
    for (int d = 0; d < model->n_dims; d++) {
        l->first[d] = (uint8_t)l->n_digits;
        if (!add_digits(l, d, model->size[d])) return false;
    }
    l->first[model->n_dims] = (uint8_t)l->n_digits;
    for (int k = 0; k < l->n_digits; k++) {
        l->stride[k] = (uint32_t)n;
        n *= l->top[k] + 1u;
        if (n > most) return false;
    }
    l->n_points = (uint32_t)n;
    return true;
}

uint32_t sx_lattice_point(const sx_lattice *l, const uint32_t *extent) {
    uint32_t point = 0;
    for (int k = 0; k < l->n_digits; k++)
        for (uint32_t left = extent[l->dim[k]]; left % l->prime[k] == 0; left /= l->prime[k])
            point += l->stride[k];
    return point;
}

void sx_lattice_extents(const sx_lattice *l, uint32_t point, uint32_t *extent) {
    for (int d = 0; d < SX_MAX_DIMS; d++) extent[d] = 1;
    for (int k = 0; k < l->n_digits; k++)
        for (uint32_t e = point / l->stride[k] % (l->top[k] + 1u); e > 0; e--)
            extent[l->dim[k]] *= l->prime[k];
}

/* The share of its tile that a tensor fetches at least as the first loop that indexes it advances, for loops
 * on one dimension. */
static double share_of(const sx_shape *shape, const uint32_t *extent, int d) {
    double share = 0;
    for (int i = shape->first_of_dim[d]; i < shape->first_of_dim[d + 1]; i++) {
        int r = shape->of_dim[i].rank;
        double reach = 1;
        for (int t = shape->first_term[r]; t < shape->first_term[r + 1]; t++)
            reach += abs(shape->term[t].coef) * (extent[shape->term[t].dim] - 1.0);
        share = fmax(share, fmin(1, abs(shape->of_dim[i].coef) * (double)extent[d] / reach));
    }
    return share;
}

/* Whether no rank of a tensor has two dimensions that go on outside its tile, nor such a dimension two ranks.
 */
static bool is_closed(const sx_bound *b, const uint32_t *extent, int v) {
    const sx_shape *shape = &b->model->shape[v];
    unsigned seen = 0;
    for (int r = 0; r < shape->n_ranks; r++) {
        unsigned open = 0;
        for (int i = shape->first_term[r]; i < shape->first_term[r + 1]; i++) {
            int d = shape->term[i].dim;
            open |= (unsigned)(extent[d] < b->model->size[d]) << d;
        }
        if (open & (open - 1) || open & seen) return false;
        seen |= open;
    }
    return true;
}

/* The smallest prime factor of a number above 1. */
static uint32_t least_prime(uint32_t number) {
    uint32_t p = 2;
    while (number % p) p++;
    return p;
}

/* The file head's k. */
static double least_share(const sx_bound *b, const uint32_t *extent, int v) {
    double share = 1;
    bool closed = is_closed(b, extent, v);
    for (unsigned dims = b->crowd[v]; dims; dims &= dims - 1) {
        int d = __builtin_ctz(dims);
        uint32_t size = b->model->size[d];
        if (extent[d] == size) continue;
        double often = closed ? 1 : 1 - 1.0 / least_prime(size / extent[d]);
        share = fmin(share, share_of(&b->model->shape[v], extent, d) * often);
    }
    return share;
}

/* Takes the least over all divisors in some dimensions. */
static void descend(const sx_lattice *l, unsigned dims, double *at) {
    for (int k = 0; k < l->n_digits; k++) {
        uint32_t stride = l->stride[k], block = stride * (l->top[k] + 1u);
        if (!(dims >> l->dim[k] & 1)) continue;
        for (uint32_t i = 0; i < l->n_points; i += block)
            for (uint32_t j = i + stride; j < i + block; j++) at[j] = fmin(at[j], at[j - stride]);
    }
}

/* Fills the tables of all tensors. */
static void fill(sx_bound *b) {
    const sx_model *model = b->model;
    uint32_t extent[SX_MAX_DIMS];
    for (uint32_t i = 0; i < b->lattice.n_points; i++) {
        double outside = 1;
        sx_lattice_extents(&b->lattice, i, extent);
        for (int d = 0; d < model->n_dims; d++) outside *= (double)(model->size[d] / extent[d]);
        for (int v = 0; v < model->n_tensors; v++) {
            b->closed[v][i] = is_closed(b, extent, v);
            b->tile[v][i] = (double)sx_shape_words(&model->shape[v], extent);
            b->fills[v][i] = b->still[v][i] = b->tile[v][i] * outside * least_share(b, extent, v);
        }
    }
    for (int v = 0; v < model->n_tensors; v++) {
        descend(&b->lattice, model->shape[v].dims, b->still[v]);
        b->least[v] = b->still[v][b->lattice.n_points - 1];
    }
}

/* Lists the sets of tensors that can profit from an order, without those that others include. */
static void set_classes(sx_bound *b) {
    const sx_model *model = b->model;
    for (int d = 0; d < model->n_dims; d++) {
        uint8_t profit = 0;
        bool included = false;
        for (int v = 0; v < model->n_tensors && model->size[d] > 1; v++)
            if (b->idle[v] >> d & 1) profit |= (uint8_t)(1u << v);
        for (int i = 0; i < b->n_classes; i++) included |= (profit & ~b->profit[i]) == 0;
        if (included) continue;
        int n = 0;
        for (int i = 0; i < b->n_classes; i++)
            if (b->profit[i] & ~profit) b->profit[n++] = b->profit[i];
        b->profit[n++] = profit;
        b->n_classes = n;
    }
}

/* Sets the masks of dimensions of a tensor. A rank whose other dimensions have size 1 is one dimension's own:
 * its tiles never overlap and never stand still. */
static void set_masks(sx_bound *b, int v) {
    const sx_model *model = b->model;
    const sx_shape *shape = &model->shape[v];
    unsigned seen = 0;
    for (int d = 0; d < model->n_dims; d++)
        if (model->size[d] > 1 && !(shape->dims >> d & 1)) b->idle[v] |= (uint16_t)(1u << d);
    for (int r = 0; r < shape->n_ranks; r++) {
        unsigned rank = 0;
        for (int i = shape->first_term[r]; i < shape->first_term[r + 1]; i++)
            rank |= (unsigned)(model->size[shape->term[i].dim] > 1) << shape->term[i].dim;
        b->crowd[v] |= (uint16_t)(rank & seen);
        if (rank & (rank - 1)) b->crowd[v] |= (uint16_t)rank;
        seen |= rank;
    }
}

sx_status sx_bound_new(const sx_model *model, uint32_t most, sx_bound **out) {
    sx_bound *b = calloc(1, sizeof *b);
    if (!b) return sx_error_memory();
    b->model = model;
    if (!set_lattice(&b->lattice, model, most)) {
        sx_bound_free(b);
        return sx_error_new(SX_ERR_LIMIT, "the sizes have more than %u combinations of divisors", most);
    }
    size_t n = b->lattice.n_points;
    bool lacks = false;
    double *data = malloc(n * model->n_tensors * 3 * sizeof *data);
    for (int v = 0; v < model->n_tensors && data; v++) {
        set_masks(b, v);
        b->tile[v] = data + (size_t)v * 3 * n;
        b->fills[v] = b->tile[v] + n;
        b->still[v] = b->fills[v] + n;
        b->closed[v] = malloc(n * sizeof *b->closed[v]);
        lacks |= !b->closed[v];
    }
    if (!data || lacks) {
        sx_bound_free(b);
        return sx_error_memory();
    }
    set_classes(b);
    fill(b);
    *out = b;
    return SX_OK;
}

void sx_bound_free(sx_bound *b) {
    if (!b) return;
    free(b->tile[0]);
    for (int v = 0; v < SX_MAX_TENSORS; v++) free(b->closed[v]);
    free(b);
}
