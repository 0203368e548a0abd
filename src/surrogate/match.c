/* Whether two einsums are the same. Tensors are assigned first, then dimensions one by one; a dimension may
 * only become one that stands in as many ranks of every tensor with the same coefficients. At the end the
 * ranks of every tensor must be the same, in any order. */
#include "surrogate/match.h"

#include <string.h>

enum { MOST_STEPS = 1 << 20 }; /* of symmetric dimensions, before the two are said to differ */

typedef struct matching {
    const sx_problem *a, *b;
    sx_match *out;
    long steps;
    unsigned dims, tensors; /* of b: taken */
} matching;

/* Whether two dimensions have the same part in two tensors: sums over ranks that do not depend on the order.
 */
static bool same_part(const sx_tensor *x, int d, const sx_tensor *y, int e) {
    int64_t n = 0, sum = 0, squares = 0;
    if (x->n_ranks != y->n_ranks || x->output != y->output) return false;
    for (int r = 0; r < x->n_ranks; r++) {
        int64_t c = x->coef[r][d], k = y->coef[r][e];
        n += (c != 0) - (k != 0);
        sum += c - k;
        squares += c * c - k * k;
    }
    return n == 0 && sum == 0 && squares == 0;
}

/* Whether every rank of a tensor is a rank of the other. */
static bool same_ranks(const matching *m, int v) {
    const sx_tensor *x = &m->a->tensor[v], *y = &m->b->tensor[m->out->tensor[v]];
    unsigned taken = 0;
    for (int r = 0; r < x->n_ranks; r++) {
        int found = -1;
        for (int q = 0; q < y->n_ranks && found < 0; q++) {
            if (taken >> q & 1) continue;
            found = q;
            for (int d = 0; d < m->a->n_dims && found >= 0; d++)
                if (x->coef[r][d] != y->coef[q][m->out->dim[d]]) found = -1;
        }
        if (found < 0) return false;
        taken |= 1u << found;
    }
    return true;
}

/* Whether dimension `d` may be dimension `e` of the other problem. */
static bool may_be(const matching *m, int d, int e) {
    for (int v = 0; v < m->a->n_tensors; v++)
        if (!same_part(&m->a->tensor[v], d, &m->b->tensor[m->out->tensor[v]], e)) return false;
    return true;
}

/* Assigns the dimensions from number `d` on. */
static bool match_dims(matching *m, int d) {
    if (++m->steps > MOST_STEPS) return false;
    if (d == m->a->n_dims) {
        for (int v = 0; v < m->a->n_tensors; v++)
            if (!same_ranks(m, v)) return false;
        return true;
    }
    int named = sx_problem_dim(m->b, m->a->dim_name[d]);
    for (int i = -1; i < m->b->n_dims; i++) {
        int e = i < 0 ? named : i;
        if (e < 0 || (i >= 0 && e == named) || m->dims >> e & 1 || !may_be(m, d, e)) continue;
        m->dims |= 1u << e;
        m->out->dim[d] = (uint8_t)e;
        if (match_dims(m, d + 1)) return true;
        m->dims &= ~(1u << e);
    }
    return false;
}

/* Assigns the tensors from number `v` on, then the dimensions. */
static bool match_tensors(matching *m, int v) {
    if (v == m->a->n_tensors) return match_dims(m, 0);
    int named = sx_problem_tensor(m->b, m->a->tensor[v].name);
    for (int i = -1; i < m->b->n_tensors; i++) {
        int w = i < 0 ? named : i;
        if (w < 0 || (i >= 0 && w == named) || m->tensors >> w & 1) continue;
        if (m->a->tensor[v].output != m->b->tensor[w].output) continue;
        if (m->a->tensor[v].bits != m->b->tensor[w].bits) continue;
        m->tensors |= 1u << w;
        m->out->tensor[v] = (uint8_t)w;
        if (match_tensors(m, v + 1)) return true;
        m->tensors &= ~(1u << w);
    }
    return false;
}

bool sx_problem_match(const sx_problem *a, const sx_problem *b, sx_match *out) {
    matching m = {.a = a, .b = b, .out = out};
    if (a->n_dims != b->n_dims || a->n_tensors != b->n_tensors) return false;
    return match_tensors(&m, 0);
}
