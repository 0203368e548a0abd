/* The compulsory minimum: a lower bound of the cost of every legal mapping, for reports.
 *
 * Every multiply-accumulate is paid for, and no more of them run in a cycle than there are compute units. The
 * outermost level that keeps a tensor, its home, hands out every word that the computation touches at least once, or is
 * updated with it; its ports must carry the words of all tensors that are at home there. Where it is not known which level that
 * is, the one with the cheapest access is charged. An output whose sums are at home before the first update is read with it,
 * too. A rank that is a sum over dimensions of sizes N_i has at least 1 + sum (N_i - 1) different values. All inner levels,
 * networks and the rounding up to whole blocks only add. */
#include "model/delivery.h"
#include "model/latency.h"
#include "model/sparse/density_range.h"
#include "model/sparse/formats.h"

#include <math.h>

double sx_model_touched(const sx_model *model, int tensor) {
    const sx_shape *shape = &model->shape[tensor];
    double words = 1;
    for (int r = 0; r < shape->n_ranks; r++) {
        double values = 1;
        for (int i = shape->first_term[r]; i < shape->first_term[r + 1]; i++)
            if (shape->term[i].coef != 0) values += model->size[shape->term[i].dim] - 1.0;
        words = shape->simple ? words * values : fmax(words, values);
    }
    return words;
}

/* The least energy of an access to a word of a tensor at a level. */
static double access_energy(const sx_model *model, int v, int s) {
    const sx_level *level = &model->level[s];
    double share = fmin(1, (double)level->clusters / (double)level->instances) * model->least[s][v];
    double vector = model->shape[v].output ? level->update_energy : level->read_energy;
    return share * (vector / sx_level_block(level, v) + level->addr_gen_energy);
}

double sx_model_cheapest_access(const sx_model *model, int v) {
    double least = INFINITY;
    for (int s = 0; s < model->n_levels; s++)
        if (sx_arch_keep_mask(model->arch, s, model->problem) >> v & 1)
            least = fmin(least, access_energy(model, v, s));
    return isinf(least) ? 0 : least;
}

/* Whether a tensor with sums from before is surely read with its first update: an output, and others may lose these reads. */
static bool is_read_again(const sx_model *model, int v) {
    return model->shape[v].output && model->shape[v].unit && !model->sparse;
}

/* The least energy of reading a word of such an output at a level. */
static double found_energy(const sx_model *model, int v, int s) {
    const sx_level *level = &model->level[s];
    if (!is_read_again(model, v)) return 0;
    return fmin(1, (double)level->clusters / (double)level->instances) * model->least[s][v] *
           level->read_energy / sx_level_block(level, v);
}

/* The words of a tensor that a level hands out or is updated with, and `again` that it reads of an output, per instance. */
static void add_words(const sx_model *model, int v, int s, bool again, double *reads, double *writes) {
    const sx_level *level = &model->level[s];
    double words = sx_model_touched(model, v) / (double)level->instances * level->scale[v];
    words *= model->least[s][v];
    double *sum = model->shape[v].output ? writes : reads;
    *sum = level->banks > 0 ? fmax(*sum, words) : *sum + words;
    if (again) *reads = level->banks > 0 ? fmax(*reads, words) : *reads + words;
}

/* The cycles that a level's bandwidth takes for the words of the tensors that have it as their home. */
static double bandwidth_cycles(const sx_model *model, int s, const sx_model_home *home) {
    const sx_level *level = &model->level[s];
    double reads = 0, writes = 0, cycles = 0;
    for (int v = 0; v < model->n_tensors; v++)
        if (home->level[v] == s)
            add_words(model, v, s, home->found >> v & 1 && is_read_again(model, v), &reads, &writes);
    cycles = fmax(reads / level->read_bandwidth, writes / level->write_bandwidth);
    double both = level->banks > 0 ? fmax(reads, writes) : reads + writes;
    return fmax(cycles, both / level->shared_bandwidth);
}

/* The energy per cycle that leaks where one instance of each level is in use. */
static double least_leakage(const sx_model *model) {
    double leak = 0;
    for (int s = 0; s < model->n_levels; s++)
        leak += model->level[s].leak_energy * fmax(1, model->level[s].leak_share);
    return leak;
}

/* The least energy of the words of a tensor. */
static double words_energy(const sx_model *model, int v, const sx_model_home *home) {
    const int s = home->level[v];
    if (s < 0) return sx_model_touched(model, v) * sx_model_cheapest_access(model, v);
    double energy = access_energy(model, v, s);
    if (home->found >> v & 1) energy += found_energy(model, v, s);
    return sx_model_touched(model, v) * energy;
}

sx_score sx_model_minimum_at(const sx_model *model, const sx_model_home *home) {
    const int outermost = model->n_levels - 1;
    unsigned backed = 0;
    for (int v = 0; v < model->n_tensors; v++) backed |= (unsigned)(home->level[v] == outermost) << v;
    if (model->formats) return sx_formats_minimum(model, (uint8_t)backed);
    if (model->range) return sx_range_minimum(model, (uint8_t)backed);
    const double units = (double)model->compute_instances, rounding = 1 - 1e-12;
    double cycles = ceil((double)model->computes / units * model->least_steps);
    for (int s = 0; s < model->n_levels; s++)
        cycles = fmax(cycles, ceil(bandwidth_cycles(model, s, home) * rounding));
    sx_score least = {.cycles = cycles + (double)model->latency};
    least.energy_pj = (double)model->computes * model->least_compute_energy + least_leakage(model) * cycles;
    for (int v = 0; v < model->n_tensors; v++) {
        least.energy_pj += words_energy(model, v, home);
        if (backed >> v & 1)
            least.last_level_accesses += sx_model_touched(model, v) * model->least[outermost][v];
    }
    least.utilization = (double)model->computes / units / least.cycles;
    least.latency = model->law ? sx_latency_minimum(model, backed) : least.cycles;
    return least;
}

sx_score sx_model_minimum(const sx_model *model, uint8_t backed) {
    sx_model_home home = {0};
    for (int v = 0; v < model->n_tensors; v++)
        home.level[v] = (int8_t)(backed >> v & 1 ? model->n_levels - 1 : -1);
    return sx_model_minimum_at(model, &home);
}

/* The words of a tensor without its halo: per rank the largest dimension that no earlier rank counted. */
static double words_without_halo(const sx_model *model, const sx_shape *shape) {
    double words = 1;
    unsigned counted = 0;
    for (int r = 0; r < shape->n_ranks; r++) {
        uint32_t largest = 1;
        int which = -1;
        for (int i = shape->first_term[r]; i < shape->first_term[r + 1]; i++) {
            int d = shape->term[i].dim;
            if (counted >> d & 1 || model->size[d] <= largest) continue;
            largest = model->size[d];
            which = d;
        }
        if (which >= 0) counted |= 1u << which;
        words *= largest;
    }
    return words;
}

sx_score sx_model_algorithmic_minimum(const sx_model *model) {
    sx_score least = {.utilization = 1};
    least.energy_pj = (double)model->computes * model->compute_energy;
    least.cycles = (double)model->computes / (double)model->compute_instances;
    for (int v = 0; v < model->n_tensors; v++) {
        double words = words_without_halo(model, &model->shape[v]);
        for (int s = 0; s < model->n_levels; s++) {
            if (!(sx_arch_keep_mask(model->arch, s, model->problem) >> v & 1)) continue;
            const sx_level *level = &model->level[s];
            double access = model->shape[v].output ? level->update_energy : level->read_energy;
            least.energy_pj += words * access / sx_level_block(level, v);
        }
        least.last_level_accesses += words;
    }
    return least;
}
