/* Scores: the stages of a frame in their order, and the sums of energy.c. */
#include "model/frame/state.h"

#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool sx_frame_tensor_compile(const sx_model *model, int v, sx_frame_tensor *t) {
    const sx_shape *shape = &model->shape[v];
    *t = (sx_frame_tensor){
        .dims = shape->dims, .solo = shape->solo, .output = shape->output, .plain = shape->plain};
    t->words = (double)model->words[v];
    if (shape->output && !model->options.no_first_read_elision) t->elided = t->words;
    double bound = (double)model->computes;
    for (int d = 0; d < SX_MAX_DIMS; d++) t->mixed_of[d] = -1;
    for (int r = 0; r < shape->n_ranks && shape->n_terms; r++) {
        const struct sx_term *term = &shape->term[shape->first_term[r]];
        int n = shape->first_term[r + 1] - shape->first_term[r];
        bool alone = n == 1 && shape->solo >> term->dim & 1;
        if (n > 2 || (!alone && t->n_mixed == SX_FRAME_MIXED)) return false;
        double reach = 0;
        for (int i = 0; i < n; i++) reach += abs(term[i].coef);
        bound *= reach;
        if (alone && abs(term->coef) == 1) {
            t->unit[t->n_unit++] = term->dim;
        } else if (alone) {
            t->stretch[t->n_stretched] = abs(term->coef);
            t->stretched[t->n_stretched++] = term->dim;
        } else {
            for (int i = 0; i < n; i++) {
                t->mixed_dim[t->n_mixed][i] = term[i].dim;
                t->reach[t->n_mixed][i] = abs(term[i].coef);
                t->mixed_of[term[i].dim] = (int8_t)t->n_mixed;
                t->coef[term[i].dim] = term[i].coef;
            }
            t->mixed_rank[t->n_mixed++] = (uint8_t)r;
        }
    }
    return bound < 0x1p53 && shape->simple && (!shape->output || shape->unit);
}

/* Compiles all tensors; false where frames do not cover the model. A tile has no more words than the product of its
 * extents times the sum of the coefficients in each rank: no count is beyond that sum times the computes. */
static bool compile(sx_cost_frame *f) {
    const sx_model *model = f->model;
    if (model->sparse && !f->sparse) return false;
    if (model->range || model->formats || model->net_energy || model->n_levels > SX_FRAME_LEVELS)
        return false;
    f->n_levels = model->n_levels;
    f->n_dims = model->n_dims;
    f->n_tensors = model->n_tensors;
    f->all = (1u << f->n_tensors) - 1;
    f->directives = sx_frame_directives(f->all);
    f->computes = (double)model->computes;
    f->compute_energy = f->computes * model->compute_energy;
    f->latency = (double)model->latency;
    f->share = f->computes / (double)model->compute_instances;
    f->suffix[0] = 1;
    for (int s = 0; s < f->n_levels; s++) {
        f->bounded |= (uint32_t)model->level[s].bounded << s;
        f->leaks |= (uint32_t)(model->level[s].leak_energy != 0) << s;
    }
    for (int d = 0; d < f->n_dims; d++) f->size[d] = model->size[d];
    for (int v = 0; v < f->n_tensors; v++) {
        if (!sx_frame_tensor_compile(model, v, &f->tensor[v])) return false;
        f->stamp[v] = 1;
        for (int d = 0; d < f->n_dims; d++)
            if (f->tensor[v].dims >> d & 1) f->relevant[d] |= (uint64_t)0xff << 8 * v;
    }
    return true;
}

sx_status sx_frame_new(const sx_model *model, sx_fanout_scratch *scratch, struct sx_sparse_state *sparse,
                       sx_cost_frame **out) {
    sx_cost_frame *f = calloc(1, sizeof *f);
    if (!f) return sx_error_memory();
    f->model = model;
    f->scratch = scratch;
    f->sparse = sparse;
    bool covered = compile(f), made = covered;
    if (covered && sparse) made = sx_frame_sparse_new(f);
    *out = made ? f : NULL;
    if (!made) sx_frame_free(f);
    return covered && !made ? sx_error_memory() : SX_OK;
}

void sx_frame_free(sx_cost_frame *frame) {
    if (!frame) return;
    free(frame->nest);
    free(frame->zeros);
    free(frame);
}

/* Lowers a slowdown to what a use of a level's bandwidth allows. */
static inline double slow_down(const sx_level *level, double slow, double reads, double writes) {
    if (level->read_bandwidth < reads) slow = fmin(slow, level->read_bandwidth / reads);
    if (level->write_bandwidth < writes) slow = fmin(slow, level->write_bandwidth / writes);
    if (level->shared_bandwidth < writes + reads)
        slow = fmin(slow, level->shared_bandwidth / (writes + reads));
    return slow;
}

/* Sums over all tensors, per level. */
typedef struct sums {
    double energy[SX_FRAME_LEVELS], reads[SX_FRAME_LEVELS], writes[SX_FRAME_LEVELS];
} sums;

/* Adds the charges up, in the order of the tensors; width, a constant, is at least the number of levels. */
static inline __attribute__((always_inline)) void add_charges(const sx_frame_charge *const *charge, int n,
                                                              int width, sums *sum) {
    double energy[SX_FRAME_LEVELS] = {0}, reads[SX_FRAME_LEVELS] = {0}, writes[SX_FRAME_LEVELS] = {0};
    for (int v = 0; v < n; v++) {
        for (int s = 0; s < width; s++) energy[s] += charge[v]->energy[s];
        for (int s = 0; s < width; s++) reads[s] += charge[v]->reads[s];
        for (int s = 0; s < width; s++) writes[s] += charge[v]->writes[s];
    }
    memcpy(sum->energy, energy, (size_t)width * sizeof *energy);
    memcpy(sum->reads, reads, (size_t)width * sizeof *reads);
    memcpy(sum->writes, writes, (size_t)width * sizeof *writes);
}

/* The cycles that a level's bandwidth allows. */
static inline double level_cycles(const sx_cost_frame *f, int s, double cycles,
                                  const sx_frame_charge *const *charge, const sums *sum) {
    const sx_level *level = &f->model->level[s];
    double slow = 1;
    if (level->banks == 0)
        slow = slow_down(level, slow, sum->reads[s], sum->writes[s]);
    else
        for (int v = 0; v < f->n_tensors; v++)
            slow = slow_down(level, slow, charge[v]->reads[s], charge[v]->writes[s]);
    return slow < 1 ? ceil(cycles / slow) : cycles;
}

void sx_frame_sum(const sx_cost_frame *f, sx_frame_computes computes, const sx_frame_charge *const *charge,
                  uint32_t kept, sx_score *out) {
    const sx_level *level = f->model->level;
    double cycles = computes.cycles, energy = computes.energy, accesses = 0;
    int last = 31 - __builtin_clz(kept);
    sums sum;
    if (f->n_levels <= SX_FRAME_LEVELS / 2)
        add_charges(charge, f->n_tensors, SX_FRAME_LEVELS / 2, &sum);
    else
        add_charges(charge, f->n_tensors, SX_FRAME_LEVELS, &sum);
    for (uint32_t left = f->bounded; left; left &= left - 1) {
        double slow = level_cycles(f, __builtin_ctz(left), computes.cycles, charge, &sum);
        if (slow > cycles) cycles = slow;
    }
    for (int s = 0; s < f->n_levels; s++)
        energy +=
            f->leaks >> s & 1 ? sum.energy[s] + level[s].leak_energy * cycles * f->leaking[s] : sum.energy[s];
    for (int v = 0; v < f->n_tensors; v++) accesses += charge[v]->kept >> last ? charge[v]->accesses : 0;
    cycles += f->latency;
    out->energy_pj = energy;
    out->cycles = cycles;
    out->utilization = computes.share / cycles;
    out->last_level_accesses = accesses;
    out->latency = cycles;
}

int sx_frame_add(sx_cost_frame *f, const uint32_t *kept, const sx_objective *objective, double bound,
                 sx_score *score) {
    const sx_frame_charge *charge[SX_MAX_TENSORS] = {NULL};
    double energy = f->compute_energy, cycles = f->cycles + f->latency;
    uint32_t any = 0;
    for (int v = 0; v < f->n_tensors; v++) {
        if (objective && sx_frame_beyond(&objective->criterion[0], bound, energy, cycles))
            return SX_BOUND_EXCEEDED;
        if (!sx_frame_count(f, v)) {
            f->known = false;
            return -1;
        }
        charge[v] = sx_frame_charge_of(f, v, kept[v]);
        any |= kept[v];
        energy += charge[v]->total;
    }
    if (objective && sx_frame_beyond(&objective->criterion[0], bound, energy, cycles))
        return SX_BOUND_EXCEEDED;
    sx_frame_sum(f, sx_frame_all_computes(f), charge, any, score);
    return objective && sx_objective_value(objective, score) > bound ? SX_BOUND_EXCEEDED : SX_LEGAL;
}

bool sx_frame_score(sx_cost_frame *f, const sx_mapping *mapping, const sx_objective *objective, double bound,
                    sx_score *score, sx_verdict *verdict) {
    if (!sx_frame_read(f, mapping)) return false;
    *verdict = *sx_frame_check(f);
    if (verdict->reason != SX_LEGAL) return true;
    if (f->sparse) return sx_frame_score_sparse(f, mapping, objective, bound, score, verdict);
    int reason = sx_frame_add(f, f->kept, objective, bound, score);
    if (reason >= 0) verdict->reason = (sx_reason)reason;
    return reason >= 0;
}
