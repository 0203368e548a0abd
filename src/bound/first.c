/* The energy of a flow by the loop that is the first outside a tile.
 *
 * What window.c and link.c say of a tensor with sliding windows holds for each first loop by itself: on one side of a
 * window, tiles overlap and neighbours may help along it; on a solo dimension, every tile is fetched as a whole (window.c,
 * Motion: a = 1; link.c: no visit is helped). So where the dimension of the first loop is known, or the class that it is
 * of, only the loops that are possible count. A loop on a side without iterations left is not possible.
 *   - A class stands for loops on some dimensions (bound.c): the least over these. Tables (table.c) count that for tensors
 *     outside the class: an output that stays during loops on channels, say, excludes that windows slide meanwhile.
 *   - Of a partial mapping whose next level is decided the dimension is known.
 * `cost` and `extra` are, as in sx_transfer_cost, c t + x with t the irrelevant loops.
 *
 * Left out: ports, sparse tensors, compute units, tiles that are fetched anew at every visit.
 *
 * Complexity: O(forms that are possible * dimensions) per flow. */
#include "bound/first.h"
#include "bound/outline.h"
#include "bound/price.h"

/* Sets the costs of a flow for first loops on some dimensions. */
static void set_costs(sx_outline_bound *bounds, const sx_transfer *r, unsigned dims, double *out) {
    uint32_t n = bounds->bound->form[r->v].n_points;
    double apart = bounds->apart[r->v][r->from + 1];
    const sx_form_list forms = sx_outline_bound_forms(bounds, r->v, r->from);
    for (uint32_t k = 0; k < forms.n; k++) {
        const uint32_t i = forms.form[k];
        sx_transfer_price price = sx_transfer_cost(r, &bounds->first_traffic[i], dims);
        out[i] = price.moves;
        out[n + i] = price.extra * apart - sx_transfer_rounding(bounds, r, &bounds->first_traffic[i]);
    }
}

/* Makes the costs of a flow; returns where the next may stand. */
static double *make_flow(sx_outline_bound *bounds, const sx_transfer *r, double *out) {
    const sx_bound *b = bounds->bound;
    int v = r->v, n_dims = b->model->n_dims;
    size_t n = 2 * (size_t)b->form[v].n_points;
    sx_outline_bound_first_traffic(bounds, v, r->from, r->to, bounds->first_traffic);
    bounds->first[v][r->from + 1] = out;
    for (int d = 0; d < n_dims; d++, out += n)
        if (b->model->shape[v].dims >> d & 1) set_costs(bounds, r, 1u << d, out);
    for (int o = 0; o < b->n_classes; o++, out += n)
        if (!(b->profit[o] >> v & 1)) set_costs(bounds, r, b->class_dims[o], out);
    return out;
}

void sx_outline_bound_make_firsts(sx_outline_bound *bounds) {
    const sx_bound *b = bounds->bound;
    double *out = bounds->firsts;
    for (int v = 0; v < b->model->n_tensors && !bounds->windowed; v++) {
        sx_access_cost prices[SX_MAX_LEVELS];
        if (b->n_windows[v] == 0 || b->idle[v]) continue;
        sx_access_cost_energy(bounds, v, prices);
        for (int from = -1, to = 0; to < b->model->n_levels; to++) {
            if (!(bounds->outline.keep[to] >> v & 1)) continue;
            sx_transfer r = sx_transfer_make(bounds, v, from, to, prices);
            if (from >= 0 && !(b->renewed[from] >> v & 1) && bounds->cost[0][v][from + 1])
                out = make_flow(bounds, &r, out);
            from = to;
        }
    }
    for (int v = 0; v < b->model->n_tensors; v++)
        for (int c = 0; c < b->model->n_levels; c++)
            bounds->windowed |= (unsigned)(bounds->first[v][c] != NULL) << v;
}
