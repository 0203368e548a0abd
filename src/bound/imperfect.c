/* Bounds of mappings that leave remainders. These are counted by true execution (walk.c), so what holds here
 * is what must happen when the loops run. Mappings of the same space whose factors all divide are counted by
 * Timeloop's sampling and have bounds of their own (bound.c).
 *
 * Steps. The first compute unit is the busiest. Units along dimension d are the spatial factors S multiplied,
 * so it takes at least ceil(N / S) steps. Steps are the product over dimensions. (Timeloop's semantics of sparse tensors
 * instead divides the computes evenly among all units in use, idle at the last iterations or not.)
 *
 * Words. Every word that some multiply-accumulate touches must be fetched at least once by each instance of a
 * level that keeps the tensor and whose work touches it. A rank that is a sum over dimensions of sizes N_i
 * has at least 1 + sum (N_i - 1) different values. Over the dimensions that do not index the tensor,
 * instances work for different iterations on the same words: along such a dimension at least a (b - 1) + 1
 * instances are in use, b being the outermost spatial factor and a the product of the others, as all are
 * except where the outermost loop is at its last iteration, and there one is. So a level is filled with words
 * * (those instances) at least, links included, as what neighbours hand on is filled too; and its parent
 * makes words * (parent's such instances) accesses, as the first of its children to get a word gets it from
 * there.
 *
 * Compute units take a word at each of all multiply-accumulates; a level serves at most as many units by one
 * access as differ only in dimensions that do not index the tensor, or index it together with others. Of a rank
 * that is the sum of two dimensions, with factors of one sign, only min(n, n') of n by n' children share: those that
 * agree in all else but one of the two dimensions begin and end at different words, and so do the pieces that they
 * fetch. (All pieces that are not whole tiles are the new end of a tile that goes on: a step back follows upon a step
 * of another length, after which tiles are fetched whole, except after a step that spatial factors of the same
 * dimension further out make longer. Where there are such factors, all n n' children may share.) Where units may hand
 * words to each other it makes one access per word and instance at least, and more for the tensors that the innermost loop
 * indexes: where what levels keep is open, the least over all loops that may be the innermost one counts. Through levels that
 * do not keep the tensor, accesses are divided by the average number of children that share one at each of
 * them, which is no more than such a group, and rounded.
 *
 * Tiles. Into a level of one instance that keeps some tensors more words flow than these, where its room does not do for
 * all of them: the least of that over all tiles that fit (imperfect_tiles.c) is added, in energy and for each port.
 * There is no neighbour then, and no group. Where it is open what levels keep, that is done for one level, each set of
 * tensors that it may keep, and the cheapest way outward; the level that raises the bound most counts.
 *
 * The output is updated as an input is read. Its reads are spared once per word and instance that holds it;
 * this is counted for the reads by compute units of an output whose ranks are single dimensions, other reads
 * and all fills of outputs count nothing. Counts are whole numbers, of an instance whole vectors, and so are cycles: without
 * zeros all of these are rounded as the model does, which keeps the order of numbers; vectors only where no tiles add to
 * them. Left out, as they only add:
 * networks, minimum uses.
 *
 * Energy and bandwidth follow from these counts as in energy.c.
 *
 * Complexity: a step per level and tensor; sx_imperfect_bound_any a step for each set of levels and tensor.
 */
#include "bound/imperfect.h"

#include "bound/decided.h"
#include "bound/effectual.h"

#include "model/sparse/density_range.h"
#include "model/sparse/pass.h"

#include <math.h>
#include <string.h>

/* What sums of doubles may lose or gain. */
static const double ROUNDING = 1e-13;

void sx_imperfect_bound_init(sx_imperfect_bound *bounds, const sx_imperfect_tiles *tiles) {
    const sx_model *model = tiles->model;
    memset(bounds, 0, sizeof *bounds);
    bounds->model = model;
    bounds->first = -1;
    bounds->tiles = tiles;
    bounds->dense = !model->sparse && !model->range && !model->formats;
    unsigned all = (1u << model->n_dims) - 1;
    for (int v = 0; v < model->n_tensors; v++) {
        const sx_shape *shape = &model->shape[v];
        bounds->irrelevant[v] = (uint16_t)(all & ~(unsigned)shape->dims);
        bounds->merge[v] = (uint16_t)(all & ~(unsigned)(shape->dims & shape->solo));
        bounds->words[v] = tiles->words[v];
    }
}

/* The spatial factors of a level on some dimensions, multiplied. */
static double spatial_spread(const sx_imperfect_bound *bounds, int s, unsigned dims) {
    double product = 1;
    for (; dims; dims &= dims - 1) product *= bounds->outline.spatial[s][__builtin_ctz(dims)];
    return product;
}

/* Whether children of a level share words of a rank only along diagonals: it is the sum of two dimensions of one sign, of
 * which no level further out is spread over. */
static bool is_diagonal(const sx_imperfect_bound *bounds, const sx_shape *shape, int r, int s) {
    const struct sx_term *term = shape->term + shape->first_term[r];
    if (!shape->simple || shape->first_term[r + 1] - shape->first_term[r] != 2) return false;
    unsigned dims = 1u << term[0].dim | 1u << term[1].dim;
    for (int k = s + 1; k < bounds->model->n_levels; k++)
        if (spatial_spread(bounds, k, dims) > 1) return false;
    return (term[0].coef > 0) == (term[1].coef > 0);
}

/* The children of a level that may share an access to a tensor, at most. */
static double sharing_children(const sx_imperfect_bound *bounds, int v, int s) {
    const sx_shape *shape = &bounds->model->shape[v];
    const uint32_t *spatial = bounds->outline.spatial[s];
    double group = spatial_spread(bounds, s, bounds->merge[v]);
    for (int i = 0; i < shape->n_mixed; i++) {
        const struct sx_term *term = shape->term + shape->first_term[shape->mixed[i]];
        if (!is_diagonal(bounds, shape, shape->mixed[i], s)) continue;
        group /= fmax(spatial[term[0].dim], spatial[term[1].dim]);
    }
    return group;
}

/* The instances of level s along a dimension that are in use, at least. */
static double used_along(const sx_imperfect_bound *bounds, int s, int d) {
    double inner = 1, outer = 1;
    for (int k = s + 1; k < bounds->model->n_levels; k++) {
        uint32_t factor = bounds->outline.spatial[k][d];
        if (factor == 1) continue;
        inner *= outer;
        outer = factor;
    }
    return inner * (outer - 1) + 1;
}

/* The energy per cycle that leaks. */
static double leakage_per_cycle(const sx_imperfect_bound *bounds) {
    double leak = 0;
    for (int s = 0; s < bounds->model->n_levels; s++) {
        const sx_level *level = &bounds->model->level[s];
        double share =
            level->leak_share > 0 ? level->leak_share * bounds->above[level->gate] : bounds->above[s];
        leak += level->leak_energy * share;
    }
    return leak * bounds->model->least_leak;
}

/* Whether computes are divided evenly among the units in use: of some density, where there are several. */
static bool divides_evenly(const sx_model *model) {
    bool even = model->sparse && model->sparse->timeloop;
    for (int i = 0; model->range && i < model->range->n; i++) even |= divides_evenly(model->range->model[i]);
    return even;
}

/* Sets the accesses of a tensor by linked compute units for each loop that may be the innermost one: as if units kept the
 * one word that they have (prefix.c), with the most words that may stand still. */
static void set_moved(sx_imperfect_bound *bounds, int v) {
    const sx_model *model = bounds->model;
    sx_decided decided = {.model = model};
    double visits = 1;
    memset(bounds->moved[v], 0, sizeof bounds->moved[v]);
    if (!bounds->reuses || !bounds->dense || !bounds->linked[v] || !model->shape[v].unit) return;
    memcpy(decided.spatial, bounds->outline.spatial, sizeof decided.spatial);
    for (int d = 0; d < model->n_dims; d++) decided.reach[0][d] = 1;
    for (unsigned dims = bounds->irrelevant[v]; dims; dims &= dims - 1) {
        const int d = __builtin_ctz(dims);
        visits *= (double)((model->size[d] - 1) / bounds->outline.spatial[0][d] + 1);
    }
    for (unsigned dims = model->shape[v].dims; dims; dims &= dims - 1) {
        const int d = __builtin_ctz(dims);
        const double still = (double)sx_decided_still_outside(&decided, -1, -1, d) / model->size[d];
        bounds->moved[v][d] = bounds->words[v] * ((1 - still) * visits + still * bounds->held[v][0]);
    }
}

void sx_imperfect_bound_spatial(sx_imperfect_bound *bounds, const sx_outline *outline) {
    const sx_model *model = bounds->model;
    double used = 1;
    bounds->outline = *outline;
    bounds->steps = 1;
    for (int s = model->n_levels - 1; s >= 0; s--) {
        bounds->above[s] = used;
        used *= spatial_spread(bounds, s, (1u << model->n_dims) - 1);
        for (int v = 0; v < model->n_tensors; v++) {
            bounds->group[v][s] = sharing_children(bounds, v, s);
            bounds->held[v][s] = bounds->copies[v][s] = 1;
            for (unsigned dims = bounds->irrelevant[v]; dims; dims &= dims - 1)
                bounds->held[v][s] *= used_along(bounds, s, __builtin_ctz(dims));
            if (s + 1 < model->n_levels)
                bounds->copies[v][s] =
                    bounds->copies[v][s + 1] * spatial_spread(bounds, s + 1, bounds->irrelevant[v]);
        }
    }
    for (int d = 0; d < model->n_dims; d++) {
        uint64_t units = 1;
        for (int s = 0; s < model->n_levels; s++) units *= outline->spatial[s][d];
        bounds->steps *= (double)((model->size[d] + units - 1) / units);
    }
    for (int v = 0; v < model->n_tensors; v++)
        bounds->linked[v] =
            !model->options.no_link_transfers && spatial_spread(bounds, 0, bounds->merge[v]) > 1;
    for (int v = 0; v < model->n_tensors; v++) set_moved(bounds, v);
    bounds->even = divides_evenly(model);
    bounds->even_steps = (double)model->computes / used;
    bounds->leak = leakage_per_cycle(bounds);
}

double sx_imperfect_count(const sx_imperfect_bound *bounds, double least, bool rounded) {
    least *= 1 - ROUNDING;
    if (!bounds->dense) return rounded ? fmax(least - 0.5, 0) : least;
    return rounded ? floor(least + 0.5) : ceil(least);
}

/* The least counts of a tensor at a level. */
typedef struct tally {
    double reads, fills, updates;
} tally;

/* The accesses that level s makes for what is inside it, the next level that keeps the tensor (-1: compute
 * units). */
static double level_accesses(const sx_imperfect_bound *bounds, int v, int from, int s) {
    double asked;
    if (from >= 0)
        asked = bounds->words[v] * bounds->held[v][from + 1];
    else if (bounds->linked[v])
        asked = fmax(bounds->words[v] * bounds->held[v][0],
                     bounds->first >= 0 ? bounds->moved[v][bounds->first] : 0);
    else
        asked = (double)bounds->model->computes / bounds->group[v][0];
    for (int k = from + 2; k <= s; k++) asked /= bounds->group[v][k];
    return sx_imperfect_count(bounds, asked, s > from + 1);
}

/* The words that fill level s at the least; none where it is the outermost one. */
static double filled_words(const sx_imperfect_bound *bounds, int v, int s, bool outermost) {
    return outermost ? 0 : bounds->words[v] * bounds->held[v][s];
}

/* The counts of a tensor at level s that a given number of accesses and words that flow in make, at the least. */
static tally count_accesses(const sx_imperfect_bound *bounds, int v, int s, double asked, double filled) {
    const sx_shape *shape = &bounds->model->shape[v];
    if (!shape->output) return (tally){asked, filled, 0};
    tally t = {.updates = asked};
    if (bounds->model->options.no_first_read_elision) {
        t.reads = asked;
        t.fills = filled;
    } else if (shape->unit) {
        double spared = (double)bounds->model->words[v] * bounds->copies[v][s] + (bounds->dense ? 0 : 0.5);
        t.reads = fmax(asked - spared, 0);
        t.fills = fmax(filled - spared, 0);
    }
    if (sx_bound_loses_reads(bounds->model, v)) t.reads = t.fills = 0;
    return t;
}

/* The vector accesses of an instance that move some elements, at the least; `whole`: where nothing is added to them. */
static double vector_accesses(const sx_imperfect_bound *bounds, int v, int s, double elements, bool whole) {
    double least = elements / sx_level_block(&bounds->model->level[s], v) * (1 - ROUNDING);
    return bounds->dense && whole ? ceil(least) : least;
}

/* What counts of a tensor cost at a level, in energy. */
static double price_counts(const sx_imperfect_bound *bounds, int v, int s, const tally *t, bool whole) {
    const sx_level *level = &bounds->model->level[s];
    double above = bounds->above[s],
           times = fmin(above, (double)level->clusters) * bounds->model->least[s][v];
    double access = vector_accesses(bounds, v, s, t->reads / above, whole) * level->read_energy +
                    vector_accesses(bounds, v, s, t->fills / above, whole) * level->fill_energy +
                    vector_accesses(bounds, v, s, t->updates / above, whole) * level->update_energy;
    double generations = (bounds->model->shape[v].output ? t->updates : t->reads) + t->fills;
    return times * (access + generations / above * level->addr_gen_energy);
}

/* The levels at which a mask per level has a tensor, as a mask. */
static unsigned levels_of(const sx_imperfect_bound *bounds, const uint8_t *masks, int v) {
    unsigned levels = 0;
    for (int s = 0; s < bounds->model->n_levels; s++) levels |= (unsigned)(masks[s] >> v & 1) << s;
    return levels;
}

/* The least energy of a tensor that these levels keep. */
static double least_of(const sx_imperfect_bound *bounds, int v, unsigned levels) {
    double energy = 0;
    int from = -1;
    for (; levels; levels &= levels - 1) {
        int s = __builtin_ctz(levels);
        bool outermost = !(levels & (levels - 1));
        tally t = count_accesses(bounds, v, s, level_accesses(bounds, v, from, s),
                                 filled_words(bounds, v, s, outermost));
        energy += price_counts(bounds, v, s, &t, false);
        from = s;
    }
    return energy;
}

/* The least energy and cycles for an energy without leakage, cycles by bandwidth and steps. */
static sx_score score_of(const sx_imperfect_bound *bounds, double energy, double cycles, double steps) {
    const sx_model *model = bounds->model;
    steps = bounds->even ? bounds->even_steps : fmax(steps, bounds->steps);
    cycles = fmax(steps * model->least_steps, cycles);
    if (bounds->dense) cycles = ceil(cycles * (1 - ROUNDING));
    sx_score score = {.energy_pj = energy + bounds->leak * cycles, .cycles = cycles + (double)model->latency};
    score.utilization = (double)model->computes / (double)model->compute_instances / score.cycles;
    return score;
}

/* The least energies of a tensor over all that may keep it: of all choices, and of those in which a level keeps it or does
 * not. */
typedef struct choices {
    double any, in[SX_MAX_LEVELS], out[SX_MAX_LEVELS];
} choices;

static choices least_choices(const sx_imperfect_bound *bounds, int v) {
    const unsigned fixed = levels_of(bounds, bounds->tiles->must, v);
    const unsigned open = levels_of(bounds, bounds->tiles->may, v) & ~fixed;
    unsigned some = 0;
    choices least = {.any = INFINITY};
    for (int s = 0; s < bounds->model->n_levels; s++) least.in[s] = least.out[s] = INFINITY;
    do {
        const unsigned levels = fixed | some;
        some = (some - open) & open;
        if (!levels) continue;
        const double energy = least_of(bounds, v, levels);
        least.any = fmin(least.any, energy);
        for (int s = 0; s < bounds->model->n_levels; s++) {
            double *at = levels >> s & 1 ? &least.in[s] : &least.out[s];
            *at = fmin(*at, energy);
        }
    } while (some);
    return least;
}

/* The least energy of all tensors, with the tiles that fit a level for every set of them that it may keep. */
static double least_with_tiles(const sx_imperfect_bound *bounds, int c, const choices *choice) {
    const sx_imperfect_tiles *tiles = bounds->tiles;
    double least = INFINITY;
    unsigned must = tiles->must[c], more = tiles->may[c] & ~must, some = 0;
    do {
        double sum = tiles->energy[c][must | some];
        for (int v = 0; v < bounds->model->n_tensors; v++)
            sum += (must | some) >> v & 1 ? choice[v].in[c] : choice[v].out[c];
        least = fmin(least, sum);
        some = (some - more) & more;
    } while (some);
    return least;
}

/* The least energy of all tensors, whatever levels keep. */
static double least_energy(const sx_imperfect_bound *bounds) {
    choices choice[SX_MAX_TENSORS];
    double each = 0, most = 0;
    for (int v = 0; v < bounds->model->n_tensors; v++) {
        choice[v] = least_choices(bounds, v);
        each += choice[v].any;
    }
    for (int c = 0; c < bounds->model->n_levels; c++)
        if (bounds->tiles->front[c]) most = fmax(most, least_with_tiles(bounds, c, choice));
    return fmax(each, most);
}

/* Whether the innermost temporal loop may be on a dimension; -1: whether there may be none. */
static bool may_be_first(const sx_imperfect_bound *bounds, int first) {
    const sx_model *model = bounds->model;
    bool none = true;
    if (first >= 0) return bounds->outline.spatial[0][first] < model->size[first];
    for (int d = 0; d < model->n_dims; d++) {
        uint64_t units = 1;
        for (int s = 0; s < model->n_levels; s++) units *= bounds->outline.spatial[s][d];
        none &= units >= model->size[d];
    }
    return none;
}

/* The same over all loops that may be the innermost one, where some compute units are linked. */
static double least_by_first(const sx_imperfect_bound *bounds) {
    sx_imperfect_bound one = *bounds;
    double least = INFINITY;
    for (one.first = -1; one.first < bounds->model->n_dims; one.first++)
        if (may_be_first(bounds, one.first)) least = fmin(least, least_energy(&one));
    return least;
}

sx_score sx_imperfect_bound_any(const sx_imperfect_bound *bounds) {
    const sx_model *model = bounds->model;
    bool linked = false;
    for (int v = 0; v < model->n_tensors; v++)
        for (int d = 0; d < model->n_dims; d++) linked |= bounds->moved[v][d] > 0;
    return score_of(bounds,
                    (double)model->computes * model->least_compute_energy +
                        (linked ? least_by_first(bounds) : least_energy(bounds)),
                    0, 0);
}

/* The least of words beyond those that must flow into a level, at the prices of a level they come from and of the
 * level itself. */
static double least_more(const sx_imperfect_bound *bounds, int c, const int *parent, int at, bool reads,
                         bool writes) {
    const sx_model *model = bounds->model;
    unsigned keep = bounds->outline.keep[c];
    double price[SX_MAX_TENSORS];
    for (unsigned left = keep; left; left &= left - 1) {
        int v = __builtin_ctz(left);
        sx_imperfect_word word = sx_imperfect_word_of(model, v);
        double scale = model->level[at].scale[v] * model->least_use[at][v];
        price[v] = 0;
        if (parent[v] == at) price[v] += scale * (reads * word.reads + writes * word.updates);
        if (parent[v] >= 0 && at == c) price[v] += scale * writes * word.fills;
    }
    return sx_imperfect_tiles_least(bounds->tiles, c, keep, price);
}

/* Adds what the tiles of a level cause beyond the words that must flow into it; `parent`: the next level outward
 * that keeps a tensor, -1: none. */
static void add_tiles(const sx_imperfect_bound *bounds, int c, const int *parent, sx_imperfect_sum *sum) {
    const sx_model *model = bounds->model;
    double price[SX_MAX_TENSORS];
    for (int v = 0; v < model->n_tensors; v++)
        price[v] = parent[v] >= 0 ? sx_imperfect_word_energy(model, v, c, parent[v]) : 0;
    sum->energy += sx_imperfect_tiles_least(bounds->tiles, c, bounds->outline.keep[c], price);
    for (int s = c; s < model->n_levels; s++) {
        if (model->level[s].banks > 0 || !model->level[s].bounded) continue;
        sum->reads[s] += least_more(bounds, c, parent, s, true, false);
        sum->writes[s] += least_more(bounds, c, parent, s, false, true);
        sum->both[s] += least_more(bounds, c, parent, s, true, true);
    }
}

/* The cycles that a level's bandwidth allows for some uses of it. */
static double port_cycles(const sx_level *level, double reads, double writes, double both) {
    return fmax(fmax(reads / level->read_bandwidth, writes / level->write_bandwidth),
                both / level->shared_bandwidth);
}

/* Adds counts of a tensor at a level. */
static void add_tally(const sx_imperfect_bound *bounds, int v, int s, const tally *t, bool whole,
                      sx_imperfect_sum *sum) {
    const sx_level *level = &bounds->model->level[s];
    sum->energy += price_counts(bounds, v, s, t, whole);
    if (!level->bounded) return;
    double scale = level->scale[v] / bounds->above[s] * bounds->model->least_use[s][v];
    double in = t->reads * scale, out = (t->fills + t->updates) * scale;
    if (level->banks > 0) sum->banked = fmax(sum->banked, port_cycles(level, in, out, in + out));
    sum->reads[s] += in;
    sum->writes[s] += out;
    sum->both[s] += in + out;
}

/* Adds a flow; `whole`: nothing else of the tensor is added at its levels. */
static void add_flow(const sx_imperfect_bound *bounds, const sx_imperfect_flow *flow, double asked,
                     double filled, bool whole, sx_imperfect_sum *sum) {
    tally out = count_accesses(bounds, flow->tensor, flow->parent, asked, 0);
    add_tally(bounds, flow->tensor, flow->parent, &out, whole, sum);
    if (flow->child < 0) return;
    tally in = count_accesses(bounds, flow->tensor, flow->child, 0, filled);
    add_tally(bounds, flow->tensor, flow->child, &in, whole, sum);
}

void sx_imperfect_sum_flow(const sx_imperfect_bound *bounds, const sx_imperfect_flow *flow, double asked,
                           double filled, sx_imperfect_sum *sum) {
    add_flow(bounds, flow, asked, filled, true, sum);
}

int sx_imperfect_flows(const sx_imperfect_bound *bounds, sx_imperfect_flow *flow) {
    int n = 0;
    for (int v = 0; v < bounds->model->n_tensors; v++) {
        unsigned levels = levels_of(bounds, bounds->outline.keep, v);
        for (int from = -1; levels; levels &= levels - 1) {
            int s = __builtin_ctz(levels);
            double filled = from >= 0 ? filled_words(bounds, v, from, false) : 0;
            flow[n++] = (sx_imperfect_flow){v, from, s, level_accesses(bounds, v, from, s), filled};
            from = s;
        }
    }
    return n;
}

void sx_imperfect_sum_rest(const sx_imperfect_bound *bounds, int level, sx_imperfect_sum *sum) {
    sx_imperfect_flow flow[SX_IMPERFECT_FLOWS];
    int parent[SX_MAX_TENSORS], n = sx_imperfect_flows(bounds, flow);
    memset(sum, 0, sizeof *sum);
    sum->energy = (double)bounds->model->computes * bounds->model->least_compute_energy;
    for (int i = 0; i < n; i++)
        if (flow[i].child >= level) add_flow(bounds, &flow[i], flow[i].asked, flow[i].filled, false, sum);
    for (int v = 0; v < SX_MAX_TENSORS; v++) parent[v] = -1;
    for (int c = bounds->model->n_levels - 1; c >= 0 && c >= level; c--) {
        if (bounds->tiles->front[c]) add_tiles(bounds, c, parent, sum);
        for (unsigned left = bounds->outline.keep[c]; left; left &= left - 1) parent[__builtin_ctz(left)] = c;
    }
}

sx_score sx_imperfect_sum_score(const sx_imperfect_bound *bounds, const sx_imperfect_sum *sum, double steps) {
    double cycles = sum->banked;
    for (int s = 0; s < bounds->model->n_levels; s++)
        if (bounds->model->level[s].banks == 0 && bounds->model->level[s].bounded)
            cycles = fmax(cycles,
                          port_cycles(&bounds->model->level[s], sum->reads[s], sum->writes[s], sum->both[s]));
    return score_of(bounds, sum->energy, cycles, steps);
}

sx_score sx_imperfect_bound_score(const sx_imperfect_bound *bounds, double steps) {
    return sx_imperfect_sum_score(bounds, &bounds->kept, steps);
}

void sx_imperfect_bound_keep(sx_imperfect_bound *bounds, const uint8_t *keep) {
    memcpy(bounds->outline.keep, keep, sizeof bounds->outline.keep);
    sx_imperfect_sum_rest(bounds, -1, &bounds->kept);
}

/* Sets what holds for every spatial mapping. */
static void set_any_spatial(sx_imperfect_bound *bounds) {
    const sx_model *model = bounds->model;
    for (int s = 0; s < model->n_levels; s++) {
        double children = s > 0 ? (double)model->level[s - 1].instances : (double)model->compute_instances;
        bounds->above[s] = (double)model->level[s].instances;
        for (int v = 0; v < model->n_tensors; v++) {
            bounds->held[v][s] = 1;
            bounds->copies[v][s] = bounds->above[s];
            bounds->group[v][s] = children; /* one instance may have them all */
            memset(bounds->moved[v], 0, sizeof bounds->moved[v]);
            if (s == 0) bounds->linked[v] = !model->options.no_link_transfers && bounds->group[v][0] > 1;
        }
    }
    bounds->dense = false;
    bounds->even = divides_evenly(model);
    bounds->steps = bounds->even_steps = (double)model->computes / (double)model->compute_instances;
    if (!bounds->even && !model->range) bounds->steps = ceil(bounds->steps);
    bounds->leak = 0;
}

sx_score sx_imperfect_bound_all(const sx_imperfect_bound *bounds) {
    sx_imperfect_bound any = *bounds;
    set_any_spatial(&any);
    return sx_imperfect_bound_any(&any);
}
