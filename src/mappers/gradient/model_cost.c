#include "mappers/gradient/model_cost.h"

#include "learn/elementary.h"

#include <math.h>
#include <stdlib.h>

sx_status sx_relaxed_check(const sx_model *model) {
    sx_status error = SX_OK;
    if (model->net_energy)
        error = sx_error_new(SX_ERR_LIMIT, "the networks of '%s' cost energy", model->arch->name);
    for (int v = 0; v < model->n_tensors && !error; v++)
        if (model->shape[v].output && !model->shape[v].unit)
            error = sx_error_new(SX_ERR_LIMIT, "the output '%s' has a rank that is a sum or has a stride",
                                 model->problem->tensor[v].name);
    return error ? sx_error_hint(error, "gradient:by=model has no derivatives for that; use gamma, say")
                 : SX_OK;
}

void sx_relaxed_from(const sx_model *model, const sx_mapping *mapping, sx_relaxed_mapping *out) {
    *out = (sx_relaxed_mapping){0};
    for (int s = 0; s < model->n_levels; s++) {
        const sx_mapping_level *level = &mapping->level[s];
        out->keep[s] = level->keep;
        for (int i = 0; i < model->n_dims; i++) {
            out->temporal[s][i] = level->temporal[i];
            out->spatial[s][i] = level->spatial[i];
            out->temporal_order[s][i] = level->temporal_order[i];
            out->spatial_order[s][i] = level->spatial_order[i];
            if (i < level->split) out->on_x[s] |= (uint16_t)(1u << level->spatial_order[i]);
        }
    }
}

void sx_relaxed_free(sx_relaxed *r) {
    sx_tape_free(&r->tape);
    free(r->window);
    r->window = NULL;
}

/* A factor as an input: a number whose logarithm is differentiated by. */
static sx_real factor_input(sx_relaxed *r, double factor, sx_real *log) {
    *log = sx_tape_input(&r->tape, sx_log(factor));
    return sx_real_as(sx_real_exp(&r->tape, *log), factor);
}

/* The words of a box of the given extents. */
static sx_real words_of(sx_relaxed *r, const sx_shape *shape, const sx_real *extent) {
    sx_real words = sx_constant(1);
    for (int k = 0; k < shape->n_ranks; k++) {
        sx_real rank = sx_constant(1);
        for (int i = shape->first_term[k]; i < shape->first_term[k + 1]; i++) {
            double reach = abs(shape->term[i].coef);
            rank = sx_real_add(&r->tape, rank,
                               sx_real_scale(&r->tape, extent[shape->term[i].dim], reach, -reach));
        }
        words = sx_real_multiply(&r->tape, words, rank);
    }
    return words;
}

/* Makes inputs of all factors, and of them extents, tiles and loops. */
static void lay_out(sx_relaxed *r, const sx_relaxed_mapping *m) {
    const sx_model *model = r->model;
    sx_tape *t = &r->tape;
    r->n_loops = 0;
    r->compute_cycles = sx_constant(1);
    for (int s = 0; s < model->n_levels; s++) {
        sx_real temporal[SX_MAX_DIMS], step[SX_MAX_DIMS];
        r->first[s] = r->n_loops;
        for (int d = 0; d < model->n_dims; d++) {
            r->spatial[s][d] = factor_input(r, m->spatial[s][d], &r->log_spatial[s][d]);
            temporal[d] = factor_input(r, m->temporal[s][d], &r->log_temporal[s][d]);
            step[d] = s ? sx_real_multiply(t, r->extent[s - 1][d], r->spatial[s][d]) : r->spatial[s][d];
            r->extent[s][d] = sx_real_multiply(t, step[d], temporal[d]);
            r->compute_cycles = sx_real_multiply(t, r->compute_cycles, temporal[d]);
        }
        for (int i = 0; i < model->n_dims; i++) {
            uint8_t d = m->temporal_order[s][i];
            r->loop[r->n_loops++] = (sx_relaxed_loop){temporal[d], r->log_temporal[s][d], step[d], d};
        }
        for (int v = 0; v < model->n_tensors; v++)
            r->tile[v][s] = words_of(r, &model->shape[v], r->extent[s]);
    }
    r->first[model->n_levels] = r->n_loops;
    r->above[model->n_levels - 1] = sx_constant(1);
    for (int s = model->n_levels - 1; s > 0; s--) {
        r->above[s - 1] = r->above[s];
        for (int d = 0; d < model->n_dims; d++)
            r->above[s - 1] = sx_real_multiply(t, r->above[s - 1], r->spatial[s][d]);
    }
}

/* Whether a compute unit's neighbour has the words that it needs, so that it may get them over a link. */
static bool shares_operands(const sx_relaxed *r, const sx_relaxed_mapping *m, const sx_shape *shape) {
    const sx_model *model = r->model;
    int first[2] = {-1, -1};
    double wide = 1;
    if (model->options.no_link_transfers) return false;
    for (int i = 0; i < model->n_dims; i++) {
        int d = m->spatial_order[0][i], axis = m->on_x[0] >> d & 1 ? 0 : 1;
        if (r->spatial[0][d].value < 1.5) continue;
        if (axis == 0) wide *= r->spatial[0][d].value;
        if (first[axis] < 0) first[axis] = d;
        if (shape->dims >> d & 1 && !(shape->solo >> d & 1)) return false;
    }
    if (first[1] >= 0 && wide < (double)model->level[0].fanout_x - 0.5) return false;
    for (int axis = 0; axis < 2; axis++)
        if (first[axis] >= 0 && !(shape->dims >> first[axis] & 1)) return true;
    return false;
}

/* What is counted of one tensor at one level. */
typedef struct relaxed_counts {
    sx_real reads, fills, updates;
} relaxed_counts;

/* A number rounded by a function of the model, where that is wanted. */
static sx_real rounded_number(const sx_relaxed *r, sx_real a, double (*by)(double)) {
    return r->rounded ? sx_real_as(a, by(a.value)) : a;
}

/* Counts a tensor at all levels (docs/model.md, section 4, with one record per level). */
static void count_tensor(sx_relaxed *r, const sx_relaxed_mapping *m, int tensor, relaxed_counts *counts) {
    const sx_model *model = r->model;
    const sx_shape *shape = &model->shape[tensor];
    sx_tape *t = &r->tape;
    int n = model->n_levels, outermost = n - 1;
    sx_real handed[SX_MAX_LEVELS], groups[SX_MAX_LEVELS], out[SX_MAX_LEVELS];
    for (int s = 0; s < n; s++) {
        handed[s] = s > 0                          ? sx_relaxed_handed(r, tensor, s)
                    : shares_operands(r, m, shape) ? sx_relaxed_fed(r, tensor)
                                                   : r->compute_cycles;
        groups[s] = sx_constant(1);
        for (int d = 0; d < model->n_dims; d++)
            if (shape->dims >> d & 1) groups[s] = sx_real_multiply(t, groups[s], r->spatial[s][d]);
        bool bypassed = s > 0 && !(m->keep[s - 1] >> tensor & 1);
        out[s] = sx_real_multiply(t, bypassed ? out[s - 1] : handed[s], groups[s]);
    }
    while (outermost > 0 && !(m->keep[outermost] >> tensor & 1)) outermost--;
    bool elide = shape->output && !model->options.no_first_read_elision;
    sx_real partition = sx_constant(elide ? (double)model->words[tensor] : 0), zero = sx_constant(0);
    for (int s = n - 1; s >= 0; s--) {
        sx_real in = s < outermost ? sx_real_subtract(t, handed[s + 1], partition) : zero;
        counts[s].reads = sx_real_max(rounded_number(r, sx_real_subtract(t, out[s], partition), round), zero);
        counts[s].fills = sx_real_max(rounded_number(r, in, round), zero);
        counts[s].updates = shape->output ? rounded_number(r, out[s], round) : zero;
        if (elide) partition = sx_real_divide(t, partition, groups[s]);
    }
}

/* The reads and writes per cycle of a level, and the cycles that they take. */
typedef struct relaxed_level {
    sx_real reads, writes, slowdown;
} relaxed_level;

/* Lowers a level's slowdown to what a use of its bandwidth allows. */
static void slow_down(sx_relaxed *r, const sx_level *level, sx_real reads, sx_real writes,
                      relaxed_level *use) {
    const double limit[] = {level->read_bandwidth, level->write_bandwidth, level->shared_bandwidth};
    const sx_real rate[] = {reads, writes, sx_real_add(&r->tape, writes, reads)};
    for (int i = 0; i < 3; i++)
        if (limit[i] < rate[i].value)
            use->slowdown =
                sx_real_min(use->slowdown, sx_real_divide(&r->tape, sx_constant(limit[i]), rate[i]));
}

/* Adds the energy of one tensor's accesses at a level that keeps it, and its use of the bandwidth. */
static sx_real charge_accesses(sx_relaxed *r, int s, int tensor, const relaxed_counts *c,
                               relaxed_level *use) {
    const sx_level *level = &r->model->level[s];
    sx_tape *t = &r->tape;
    const sx_real number[] = {c->reads, c->fills, c->updates};
    const double price[] = {level->read_energy, level->fill_energy, level->update_energy};
    sx_real energy = sx_constant(0);
    for (int i = 0; i < 3; i++) {
        sx_real vectors =
            rounded_number(r, sx_real_scale(t, number[i], 1 / sx_level_block(level, tensor), 0), ceil);
        energy = sx_real_add(t, energy, sx_real_scale(t, vectors, price[i], 0));
    }
    sx_real written = sx_real_add(t, c->fills, c->updates);
    sx_real generations = sx_real_add(t, r->model->shape[tensor].output ? c->updates : c->reads, c->fills);
    energy = sx_real_add(t, energy, sx_real_scale(t, generations, level->addr_gen_energy, 0));
    if (level->bounded) {
        double scale = level->scale[tensor];
        sx_real reads = sx_real_scale(
            t, sx_real_divide(t, rounded_number(r, c->reads, ceil), r->compute_cycles), scale, 0);
        sx_real writes = sx_real_scale(
            t, sx_real_divide(t, rounded_number(r, written, ceil), r->compute_cycles), scale, 0);
        if (level->banks > 0) slow_down(r, level, reads, writes, use);
        use->reads = sx_real_add(t, use->reads, reads);
        use->writes = sx_real_add(t, use->writes, writes);
    }
    return sx_real_multiply(t, energy, sx_real_min(r->above[s], sx_constant((double)level->clusters)));
}

/* Adds leakage and the cycles of the slowest level. */
static void add_leakage(sx_relaxed *r, relaxed_level *use) {
    const sx_model *model = r->model;
    sx_tape *t = &r->tape;
    r->cycles = r->compute_cycles;
    for (int s = 0; s < model->n_levels; s++) {
        const sx_level *level = &model->level[s];
        if (!level->bounded) continue;
        if (level->banks == 0) slow_down(r, level, use[s].reads, use[s].writes, &use[s]);
        if (use[s].slowdown.value >= 1) continue;
        sx_real cycles = sx_real_divide(t, r->compute_cycles, use[s].slowdown);
        r->cycles = sx_real_max(r->cycles, rounded_number(r, cycles, ceil));
    }
    for (int s = 0; s < model->n_levels; s++) {
        const sx_level *level = &model->level[s];
        if (level->leak_energy == 0) continue;
        sx_real leaking = level->leak_share > 0
                              ? sx_real_scale(t, r->above[level->gate], level->leak_share, 0)
                              : r->above[s];
        sx_real leakage = sx_real_scale(t, sx_real_multiply(t, r->cycles, leaking), level->leak_energy, 0);
        r->energy = sx_real_add(t, r->energy, leakage);
    }
    r->cycles = sx_real_scale(t, r->cycles, 1, (double)model->latency);
}

/* Adds the square of how far a logarithm is above its limit. */
static void add_overflow(sx_relaxed *r, sx_real log, double limit) {
    if (!(log.value > limit)) return;
    sx_real above = sx_real_scale(&r->tape, log, 1, -limit);
    r->overflow = sx_real_add(&r->tape, r->overflow, sx_real_multiply(&r->tape, above, above));
}

/* The words that a tile takes at a level, in parts. */
static sx_real level_words(sx_relaxed *r, int s, int tensor) {
    return sx_real_scale(&r->tape, r->tile[tensor][s], sx_level_width(&r->model->level[s], tensor), 0);
}

/* The words of the banks that a tensor takes: at least one bank, and where it is not kept, its tile must be larger. */
static sx_real banked_words(sx_relaxed *r, int s, int tensor, bool kept) {
    sx_real bank = sx_constant(r->model->level[s].bank_words), tile = level_words(r, s, tensor);
    if (kept) return sx_real_max(tile, bank);
    if (tile.value <= bank.value)
        add_overflow(r, sx_real_scale(&r->tape, sx_real_log(&r->tape, tile), -1, 0),
                     -sx_log(1.01 * bank.value));
    return bank;
}

/* How far tiles and fan-outs are beyond their room. */
static void measure_overflow(sx_relaxed *r, const sx_relaxed_mapping *m) {
    const sx_model *model = r->model;
    sx_tape *t = &r->tape;
    r->overflow = sx_constant(0);
    for (int s = 0; s < model->n_levels; s++) {
        const sx_level *level = &model->level[s];
        sx_real words = sx_constant(0), wide[2] = {sx_constant(0), sx_constant(0)};
        for (int v = 0; v < model->n_tensors; v++) {
            bool kept = m->keep[s] >> v & 1;
            if (r->banked[s] >> v & 1)
                words = sx_real_add(t, words, banked_words(r, s, v, kept));
            else if (kept)
                words = sx_real_add(t, words, level_words(r, s, v));
        }
        if (level->limited && words.value > level->effective)
            add_overflow(r, sx_real_log(t, words), sx_log(level->effective));
        for (int d = 0; d < model->n_dims; d++) {
            sx_real *axis = &wide[m->on_x[s] >> d & 1 ? 0 : 1];
            *axis = sx_real_add(t, *axis, r->log_spatial[s][d]);
        }
        add_overflow(r, wide[0], sx_log((double)level->fanout_x));
        add_overflow(r, wide[1], sx_log((double)level->fanout_y));
    }
}

void sx_relaxed_evaluate(sx_relaxed *r, const sx_relaxed_mapping *m) {
    const sx_model *model = r->model;
    relaxed_level use[SX_MAX_LEVELS];
    sx_tape_clear(&r->tape);
    lay_out(r, m);
    r->energy = sx_constant((double)model->computes * model->compute_energy);
    for (int s = 0; s < model->n_levels; s++)
        use[s] = (relaxed_level){sx_constant(0), sx_constant(0), sx_constant(1)};
    for (int v = 0; v < model->n_tensors; v++) {
        relaxed_counts counts[SX_MAX_LEVELS];
        count_tensor(r, m, v, counts);
        for (int s = 0; s < model->n_levels; s++)
            if (m->keep[s] >> v & 1)
                r->energy = sx_real_add(&r->tape, r->energy, charge_accesses(r, s, v, &counts[s], &use[s]));
    }
    add_leakage(r, use);
    measure_overflow(r, m);
}
