/* What flows cost: at the prices of reading, filling and updating a word at a level. */
#include "bound/parts.h"

#include <math.h>

sx_route sx_route_make(const sx_rest *rest, int v, int from, int to, const sx_price *prices) {
    const sx_shape *shape = &rest->bound->model->shape[v];
    bool exact = shape->unit;
    sx_price none = {0}, outer = prices[to], inner = from >= 0 ? prices[from] : none;
    sx_route r = {.v = v, .from = from, .to = to, .instances = rest->above[from + 1]};
    r.read = shape->output ? outer.update + (exact ? outer.read : 0) : outer.read;
    r.fill = shape->output && !exact ? 0 : inner.fill;
    r.peer = shape->output ? 0 : inner.read;
    return r;
}

/* The cost of a word where a share of the children get it from the outer level, and neighbours help the
 * others: as groups are not smaller than twins, nor larger than the most, there are at least so many. */
static double price_word(const sx_route *r, const sx_pull *pull, double share) {
    double groups = fmax(share / pull->most, pull->groups - (1 - share) / pull->twins);
    double handed = (r->fill + r->peer) / r->instances;
    return r->read * pull->outer * groups + r->fill * share + handed * (1 - share);
}

/* The cost of a flow per unit of `times`, at the least of what neighbours may make of it: that is convex in
 * the share, and linear but for one kink. */
double sx_route_cost(const sx_route *r, const sx_pull *pull, double *extra) {
    *extra = 0;
    if (pull->words == INFINITY) return INFINITY;
    double alone = price_word(r, pull, 1), least = alone;
    if (pull->own < 1) {
        double steep = 1 / pull->twins - 1 / pull->most;
        double kink = steep > 0 ? (1 / pull->twins - pull->groups) / steep : 1;
        least = fmin(least, price_word(r, pull, pull->own));
        if (kink > pull->own && kink < 1) least = fmin(least, price_word(r, pull, kink));
        *extra = pull->sure * (alone - least);
    }
    return pull->words * least;
}

double sx_route_spared(const sx_rest *rest, const sx_route *r, const sx_price *prices) {
    const sx_bound *b = rest->bound;
    const sx_model *model = b->model;
    const sx_shape *shape = &model->shape[r->v];
    double words = (double)model->words[r->v], sum = 0;
    if (b->crowd[r->v] && r->to > r->from + 1) sum += 0.5 * rest->above[r->to] * r->read;
    if (r->from >= 0 && !model->options.no_link_transfers &&
        sx_rest_spread(rest, r->from + 1, b->crowd[r->v]) > 1)
        sum += rest->above[r->from] * (r->fill + 0.5 * r->peer);
    if (!shape->output || !shape->unit || model->options.no_first_read_elision) return sum;
    sum += words * rest->apart[r->v][r->to + 1] * prices[r->to].read;
    if (r->from >= 0) sum += words * rest->apart[r->v][r->from + 1] * r->fill;
    return sum;
}

void sx_price_energy(const sx_rest *rest, int v, sx_price *prices) {
    const sx_model *model = rest->bound->model;
    bool output = model->shape[v].output;
    for (int s = 0; s < model->n_levels; s++) {
        const sx_level *level = &model->level[s];
        double share = fmin(1, (double)level->clusters / rest->above[s]), block = share / level->block_size;
        double address = share * level->addr_gen_energy;
        prices[s] = (sx_price){level->read_energy * block + (output ? 0 : address),
                               level->fill_energy * block + address,
                               level->update_energy * block + (output ? address : 0)};
    }
}
