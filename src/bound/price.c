/* What flows cost: at the prices of reading, filling and updating a word at a level. */
#include "bound/price.h"
#include "bound/effectual.h"
#include "bound/network.h"
#include "bound/outline.h"

#include "base/extreme.h"

#include <math.h>

sx_transfer sx_transfer_make(const sx_outline_bound *bounds, int v, int from, int to,
                             const sx_access_cost *prices) {
    const sx_shape *shape = &bounds->bound->model->shape[v];
    bool exact = shape->unit;
    sx_access_cost none = {0}, outer = prices[to], inner = from >= 0 ? prices[from] : none;
    sx_transfer r = {.v = v, .from = from, .to = to, .instances = bounds->above[from + 1]};
    r.read = shape->output ? outer.update + (exact ? outer.read : 0) : outer.read;
    r.spared = shape->output && !exact ? 0 : inner.fill;
    r.fill = r.spared + inner.hops;
    r.peer = shape->output ? 0 : inner.read * bounds->bound->alone[v];
    return r;
}

/* The cost of a word where a share of the children get it from the outer level, and neighbours help the
 * others: as groups are not smaller than the fewest, nor larger than the most, there are at least that many. */
static double price_word(const sx_transfer *r, const sx_least_traffic *traffic, double share) {
    double groups = sx_larger(share / traffic->most, traffic->groups - (1 - share) / traffic->fewest);
    double handed = (r->fill + r->peer) / r->instances;
    return r->read * traffic->outer * groups + r->fill * share + handed * (1 - share);
}

/* The cost of a flow at the least of what neighbours may make of any visit: that is convex in the share, and
 * linear but for one kink. */
static double price_any(const sx_transfer *r, const sx_least_traffic *traffic) {
    double least = price_word(r, traffic, 1);
    if (traffic->own == 1) return traffic->words * least;
    double steep = 1 / traffic->fewest - 1 / traffic->most;
    double kink = steep > 0 ? (1 / traffic->fewest - traffic->groups) / steep : 1;
    least = sx_lesser(least, price_word(r, traffic, traffic->own));
    if (kink > traffic->own && kink < 1) least = sx_lesser(least, price_word(r, traffic, kink));
    return traffic->words * least;
}

/* What a word costs at the least where neighbours help: a sum with nothing below 0. */
typedef struct linked_price {
    double group; /* fetched from the outer level, by its share of the groups of children, */
    double own;   /* and of the children */
    double word;  /* fetched, wherever from */
} linked_price;

/* Where a word costs more from a neighbour than it costs to be filled, each group that is helped costs that much more
 * for its children, the fewest at least. */
static linked_price price_linked(const sx_transfer *r, const sx_least_traffic *traffic) {
    double read = r->read * traffic->outer * traffic->groups, handed = (r->fill + r->peer) / r->instances;
    if (handed <= r->fill) return (linked_price){read, r->fill - handed, handed};
    double saved = sx_larger(0, read - (handed - r->fill) * traffic->fewest * traffic->groups);
    return (linked_price){saved, 0, r->fill + read - saved};
}

/* With c(i) and x(i) what the first loop i comes to, without and with irrelevant loops, and t >= 1 times the least
 * of these: c(i) t + x(i) is at least c t + (c(i) - c) + x(i), c the least of all. */
sx_transfer_price sx_transfer_cost(const sx_transfer *r, const sx_least_traffic *traffic, unsigned dims) {
    double alone = price_word(r, traffic, 1), moves[SX_MAX_FIRST_LOOPS];
    sx_transfer_price price = {.stays = traffic->words * alone};
    if (traffic->n_first < 0) {
        price.moves = price_any(r, traffic);
        if (traffic->renewed) price.stays = price.moves;
        return price;
    }
    linked_price linked = price_linked(r, traffic);
    price.moves = price.extra = traffic->all * alone;
    for (int i = 0; i < traffic->n_first; i++) {
        const sx_first_loop *f = &traffic->first[i];
        if (!(f->dims & dims)) continue;
        moves[i] = traffic->all * (linked.group * f->groups + linked.own * f->own + linked.word * f->words);
        price.moves = sx_lesser(price.moves, moves[i]);
    }
    price.extra -= price.moves;
    for (int i = 0; i < traffic->n_first; i++) {
        const sx_first_loop *f = &traffic->first[i];
        if (!(f->dims & dims)) continue;
        double more = traffic->all * (linked.group * f->more_groups + linked.own * f->more_own);
        price.extra = sx_lesser(price.extra, moves[i] - price.moves + more);
    }
    return price;
}

/* Words that neighbours hand on, or groups of different sizes get, come to fractions per instance: fills are cut, and
 * reads rounded. */
static double link_rounding(const sx_outline_bound *bounds, const sx_transfer *r) {
    if (r->from < 0) return 0;
    if (sx_outline_bound_fanout(bounds, r->from + 1, bounds->bound->partly_relevant[r->v]) == 1) return 0;
    return bounds->above[r->from] * (r->fill + 0.5 * r->peer);
}

double sx_transfer_rounding(const sx_outline_bound *bounds, const sx_transfer *r,
                            const sx_least_traffic *traffic) {
    bool parts = traffic->own < 1 || traffic->most > traffic->fewest;
    return parts && !traffic->renewed ? link_rounding(bounds, r) : 0;
}

double sx_transfer_spared(sx_outline_bound *bounds, const sx_transfer *r, const sx_access_cost *prices) {
    const sx_bound *b = bounds->bound;
    const sx_model *model = b->model;
    const sx_shape *shape = &model->shape[r->v];
    double words = (double)model->words[r->v], sum = 0;
    if (!sx_outline_bound_scales_whole(bounds, r->v, r->from, r->to))
        sum += 0.5 * bounds->above[r->to] * r->read;
    if (r->from >= 0 && b->renewed[r->from] >> r->v & 1) sum += link_rounding(bounds, r);
    if (!shape->output || !shape->unit || model->options.no_first_read_elision) return sum;
    sum += words * bounds->apart[r->v][r->to + 1] * prices[r->to].read;
    if (r->from >= 0) sum += words * bounds->apart[r->v][r->from + 1] * r->spared;
    return sum;
}

/* The prices of a tensor's words at a level of which a share is held, with a given number of bits of metadata each. */
static sx_access_cost price_held(const sx_outline_bound *bounds, int v, int s, double held, double bits) {
    const sx_model *model = bounds->bound->model;
    const sx_level *level = &model->level[s];
    const sx_metadata_store *store = &model->arch->level[s].metadata;
    const double *metadata = store->metadata_energy[SX_RANDOM];
    bool output = model->shape[v].output;
    double share = sx_lesser(1, (double)level->clusters / bounds->above[s]) * held;
    double block = share / sx_level_block(level, v), address = share * level->addr_gen_energy;
    double vectors = bits > 0 ? share * bits / store->width : 0;
    return (sx_access_cost){
        .read = level->read_energy * block + metadata[SX_READ] * vectors + (output ? 0 : address),
        .fill = level->fill_energy * block + metadata[SX_FILL] * vectors + address,
        .update = level->update_energy * block + metadata[SX_UPDATE] * vectors + (output ? address : 0)};
}

void sx_access_cost_energy(const sx_outline_bound *bounds, int v, sx_access_cost *prices) {
    const sx_bound *b = bounds->bound;
    const sx_model *model = b->model;
    for (int s = 0; s < model->n_levels; s++) {
        sx_access_cost *price = &prices[s];
        *price = price_held(bounds, v, s, b->held[s][v], b->metadata_bits[s][v]);
        if (b->plain[s][v] > 0) {
            sx_access_cost plain = price_held(bounds, v, s, b->plain[s][v], 0);
            price->read = sx_lesser(price->read, plain.read);
            price->fill = sx_lesser(price->fill, plain.fill);
            price->update = sx_lesser(price->update, plain.update);
        }
        if (sx_bound_loses_reads(model, v)) price->read = 0;
        price->hops = sx_network_word(bounds, v, s + 1);
    }
}
