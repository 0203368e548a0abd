/* Bounds of mappings that leave remainders. These are counted by true execution (walk.c), so what holds here
 * is what must happen when the loops run. Mappings of the same space whose factors all divide are counted by
 * Timeloop's sampling and have bounds of their own (bound.c).
 *
 * Steps. The first compute unit is the busiest. Units along dimension d are the spatial factors S multiplied,
 * so it takes at least ceil(N / S) steps. Where the levels up to some level are decided, with P the product
 * of their factors and t of the temporal ones, the dimension has B = ceil(N / P) blocks, of which the first
 * instance of that level gets m = ceil(B / S') at least, S' being the spatial factors outside. All blocks but
 * the last are full and take t steps each: at least (m - 1) t + 1, and t where m = 1 < B, as the first block
 * is full then. Steps are the product over dimensions. (Timeloop's semantics of sparse tensors instead divides
 * the computes evenly among all units in use, idle at the last iterations or not.)
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
 * access as differ only in dimensions that do not index the tensor, or index it together with others. Where
 * units may hand words to each other it makes one access per word and instance at least. Through levels that
 * do not keep the tensor, accesses are divided by the average number of children that share one at each of
 * them, which is no more than such a group; half a word is lost by rounding.
 *
 * The output is updated as an input is read. Its reads are spared once per word and instance that holds it;
 * this is counted for the reads by compute units of an output whose ranks are single dimensions, other reads
 * and all fills of outputs count nothing. Left out, as they only add: rounding up to whole blocks, networks,
 * minimum uses.
 *
 * Energy and bandwidth follow from these counts as in energy.c.
 *
 * Complexity: a step per level and tensor; sx_imperfect_bound_any a step for each set of levels and tensor.
 */
#include "bound/imperfect.h"
#include "bound/effectual.h"

#include "model/range.h"
#include "model/sparse.h"

#include <math.h>
#include <string.h>

void sx_imperfect_bound_init(sx_imperfect_bound *bounds, const sx_model *model) {
    memset(bounds, 0, sizeof *bounds);
    bounds->model = model;
    unsigned all = (1u << model->n_dims) - 1;
    for (int v = 0; v < model->n_tensors; v++) {
        const sx_shape *shape = &model->shape[v];
        bounds->irrelevant[v] = (uint16_t)(all & ~(unsigned)shape->dims);
        bounds->merge[v] = (uint16_t)(all & ~(unsigned)(shape->dims & shape->solo));
        bounds->words[v] = sx_model_touched(model, v);
    }
}

/* The spatial factors of a level on some dimensions, multiplied. */
static double spread(const sx_imperfect_bound *bounds, int s, unsigned dims) {
    double product = 1;
    for (; dims; dims &= dims - 1) product *= bounds->outline.spatial[s][__builtin_ctz(dims)];
    return product;
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
static double leakage(const sx_imperfect_bound *bounds) {
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

void sx_imperfect_bound_spatial(sx_imperfect_bound *bounds, const sx_outline *outline) {
    const sx_model *model = bounds->model;
    double used = 1;
    bounds->outline = *outline;
    bounds->steps = 1;
    for (int s = model->n_levels - 1; s >= 0; s--) {
        bounds->above[s] = used;
        used *= spread(bounds, s, (1u << model->n_dims) - 1);
        for (int v = 0; v < model->n_tensors; v++) {
            bounds->group[v][s] = spread(bounds, s, bounds->merge[v]);
            bounds->held[v][s] = 1;
            for (unsigned dims = bounds->irrelevant[v]; dims; dims &= dims - 1)
                bounds->held[v][s] *= used_along(bounds, s, __builtin_ctz(dims));
        }
    }
    for (int d = 0; d < model->n_dims; d++) {
        uint64_t units = 1;
        for (int s = 0; s < model->n_levels; s++) units *= outline->spatial[s][d];
        bounds->steps *= (double)((model->size[d] + units - 1) / units);
    }
    bounds->even = divides_evenly(model);
    bounds->even_steps = (double)model->computes / used;
    bounds->leak = leakage(bounds);
}

/* The least counts of a tensor at a level. */
typedef struct tally {
    double reads, fills, updates;
} tally;

/* Whether compute units may hand words of a tensor to each other. */
static bool is_linked(const sx_imperfect_bound *bounds, int v) {
    return !bounds->model->options.no_link_transfers && bounds->group[v][0] > 1;
}

/* The accesses that level s makes for what is inside it, the next level that keeps the tensor (-1: compute
 * units). */
static double accesses(const sx_imperfect_bound *bounds, int v, int from, int s) {
    double asked;
    if (from >= 0)
        asked = bounds->words[v] * bounds->held[v][from + 1];
    else if (is_linked(bounds, v))
        asked = bounds->words[v] * bounds->held[v][0];
    else
        asked = (double)bounds->model->computes / bounds->group[v][0];
    for (int k = from + 2; k <= s; k++) asked /= bounds->group[v][k];
    return s > from + 1 ? fmax(asked - 0.5, 0) : asked;
}

/* The words that instances of a level hold over the run, at most; for an output of single dimensions. */
static double most_held(const sx_imperfect_bound *bounds, int v, int s) {
    double words = (double)bounds->model->words[v];
    for (int k = s + 1; k < bounds->model->n_levels; k++) words *= spread(bounds, k, bounds->irrelevant[v]);
    return words;
}

/* The least counts of a tensor at level s, which serves the one inside it. */
static tally count(const sx_imperfect_bound *bounds, int v, int from, int s, bool outermost) {
    const sx_shape *shape = &bounds->model->shape[v];
    double asked = accesses(bounds, v, from, s), filled = bounds->words[v] * bounds->held[v][s];
    if (!shape->output) return (tally){asked, outermost ? 0 : filled, 0};
    tally t = {.updates = asked};
    if (bounds->model->options.no_first_read_elision) {
        t.reads = asked;
        t.fills = outermost ? 0 : filled;
    } else if (shape->unit && from < 0) {
        t.reads = fmax(asked - most_held(bounds, v, s) - 0.5, 0);
    }
    if (sx_bound_loses_reads(bounds->model, v)) t.reads = 0;
    return t;
}

/* What counts of a tensor cost at a level, in energy. */
static double price(const sx_imperfect_bound *bounds, int v, int s, const tally *t) {
    const sx_level *level = &bounds->model->level[s];
    double share = fmin(1, (double)level->clusters / bounds->above[s]) * bounds->model->least[s][v];
    double vectors =
        t->reads * level->read_energy + t->fills * level->fill_energy + t->updates * level->update_energy;
    double generations = (bounds->model->shape[v].output ? t->updates : t->reads) + t->fills;
    return share * (vectors / sx_level_block(level, v) + generations * level->addr_gen_energy);
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
        tally t = count(bounds, v, from, s, !(levels & (levels - 1)));
        energy += price(bounds, v, s, &t);
        from = s;
    }
    return energy;
}

sx_score sx_imperfect_bound_score(const sx_imperfect_bound *bounds, double steps) {
    const sx_model *model = bounds->model;
    steps = bounds->even ? bounds->even_steps : fmax(steps, bounds->steps);
    double cycles = fmax(steps * model->least_steps, bounds->cycles);
    sx_score score = {.energy_pj = bounds->energy + bounds->leak * cycles,
                      .cycles = cycles + (double)model->latency};
    score.utilization = (double)model->computes / (double)model->compute_instances / score.cycles;
    return score;
}

sx_score sx_imperfect_bound_any(const sx_imperfect_bound *bounds, const uint8_t *must, const uint8_t *may) {
    const sx_model *model = bounds->model;
    sx_imperfect_bound bare = *bounds;
    bare.cycles = 0;
    bare.energy = (double)model->computes * model->least_compute_energy;
    for (int v = 0; v < model->n_tensors; v++) {
        unsigned fixed = levels_of(bounds, must, v), open = levels_of(bounds, may, v) & ~fixed, some = 0;
        double least = INFINITY;
        do {
            if (fixed | some) least = fmin(least, least_of(bounds, v, fixed | some));
            some = (some - open) & open;
        } while (some);
        bare.energy += least;
    }
    return sx_imperfect_bound_score(&bare, 0);
}

/* Raises the cycles to what a level's bandwidth allows for some uses of it. */
static void hold_bandwidth(sx_imperfect_bound *bounds, int s, double reads, double writes) {
    const sx_level *level = &bounds->model->level[s];
    bounds->cycles = fmax(bounds->cycles, reads / level->read_bandwidth);
    bounds->cycles = fmax(bounds->cycles, writes / level->write_bandwidth);
    bounds->cycles = fmax(bounds->cycles, (reads + writes) / level->shared_bandwidth);
}

void sx_imperfect_bound_keep(sx_imperfect_bound *bounds, const uint8_t *keep) {
    const sx_model *model = bounds->model;
    double reads[SX_MAX_LEVELS] = {0}, writes[SX_MAX_LEVELS] = {0};
    memcpy(bounds->outline.keep, keep, sizeof bounds->outline.keep);
    bounds->cycles = 0;
    bounds->energy = (double)model->computes * model->least_compute_energy;
    for (int v = 0; v < model->n_tensors; v++) {
        unsigned levels = levels_of(bounds, keep, v);
        for (int from = -1; levels; levels &= levels - 1) {
            int s = __builtin_ctz(levels);
            tally t = count(bounds, v, from, s, !(levels & (levels - 1)));
            double scale = model->level[s].scale[v] / bounds->above[s] * model->least_use[s][v];
            bounds->energy += price(bounds, v, s, &t);
            if (model->level[s].banks > 0)
                hold_bandwidth(bounds, s, t.reads * scale, (t.fills + t.updates) * scale);
            reads[s] += t.reads * scale;
            writes[s] += (t.fills + t.updates) * scale;
            from = s;
        }
    }
    for (int s = 0; s < model->n_levels; s++)
        if (model->level[s].banks == 0) hold_bandwidth(bounds, s, reads[s], writes[s]);
}

double sx_imperfect_bound_steps(const sx_imperfect_bound *bounds, int level, const uint64_t *reach,
                                const uint64_t *turns) {
    const sx_model *model = bounds->model;
    double steps = 1;
    for (int d = 0; d < model->n_dims; d++) {
        uint64_t size = model->size[d], blocks = (size + reach[d] - 1) / reach[d], outside = 1;
        for (int s = level + 1; s < model->n_levels; s++) outside *= bounds->outline.spatial[s][d];
        uint64_t inside = 1;
        for (int s = 0; s <= level; s++) inside *= bounds->outline.spatial[s][d];
        uint64_t units = inside * outside, least = (size + units - 1) / units;
        uint64_t own = (blocks + outside - 1) / outside, more = (own - 1) * turns[d] + 1;
        if (own == 1 && blocks > 1) more = turns[d];
        steps *= (double)(more > least ? more : least);
    }
    return steps;
}

sx_score sx_imperfect_bound_all(const sx_imperfect_bound *bounds) {
    const sx_model *model = bounds->model;
    double units = (double)model->compute_instances,
           energy = (double)model->computes * model->least_compute_energy;
    for (int v = 0; v < model->n_tensors; v++) {
        double least = INFINITY, asked = fmin((double)model->computes, bounds->words[v]) / units - 0.5;
        for (int s = 0; s < model->n_levels; s++) {
            const sx_level *level = &model->level[s];
            double share = (double)level->clusters / (double)level->instances / sx_level_block(level, v);
            double each = model->shape[v].output ? level->update_energy : level->read_energy;
            if (!level->transparent) least = fmin(least, share * each * model->least[s][v]);
        }
        energy += fmax(asked, 0) * least;
    }
    double cycles = (double)model->computes / units * model->least_steps;
    if (!model->range) cycles = ceil(cycles);
    sx_score score = {.energy_pj = energy, .cycles = cycles + (double)model->latency};
    score.utilization = (double)model->computes / units / score.cycles;
    return score;
}
