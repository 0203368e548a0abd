/* The result of fusing a network: figures of a plan's runs, layers, tensors and groups, and their sums. */
#include "session/fusing.h"

#include "base/status.h"
#include "fuse/vector_step.h"
#include "run/uphold.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sx_fused_free(sx_fused *fused) {
    if (!fused) return;
    free(fused->layer);
    free(fused->run);
    free(fused->tensor);
    free(fused->group);
    free(fused->size);
    free(fused->certificate);
    for (size_t i = 0; i < fused->n_others; i++) sx_fused_free(fused->other[i]);
    free(fused->other);
    free(fused);
}

void sx_fusing_fini(sx_fusing *f) {
    sx_plan_answer_fini(&f->answer);
    sx_vector_clear(&f->groups);
    sx_vector_clear(&f->orders);
    sx_exchange_fini(&f->exchange);
    sx_inner_fini(&f->inner);
    free(f->bytes);
    free(f->order);
}

/* Adds a layer's score a number of times. */
static void add_score(const sx_score *score, double times, sx_score *sum) {
    double busy = sum->utilization * sum->cycles + times * score->cycles * score->utilization;
    sum->energy_pj += times * score->energy_pj;
    sum->cycles += times * score->cycles;
    sum->latency += times * score->latency;
    sum->last_level_accesses += times * score->last_level_accesses;
    sum->utilization = sum->cycles > 0 ? busy / sum->cycles : 0;
}

/* The layer of a step. */
static sx_fused_layer *layer_of(const sx_fusing *f, const sx_fused *out, size_t step) {
    return &out->layer[f->order[step]];
}

sx_status sx_fused_set_layers(sx_fusing *f, sx_fused *out) {
    const sx_exchange *x = &f->exchange;
    out->layer = calloc(x->n_steps + 1, sizeof *out->layer);
    f->order = calloc(x->n_steps + 1, sizeof *f->order);
    if (!out->layer || !f->order) return sx_error_memory();
    for (size_t s = 0; s < x->n_steps; s++) {
        const sx_exchange_step *step = &x->step[s];
        f->order[s] = out->n_layers;
        if (step->layer == SX_NO_INDEX) continue;
        sx_fused_layer *layer = &out->layer[out->n_layers++];
        *layer = (sx_fused_layer){.layer = step->layer, .repeat = step->repeat, .group = SX_NO_INDEX};
        memcpy(layer->name, x->graph->node[step->node].name, sizeof layer->name);
        for (int v = 0; f->bytes && v < SX_MAX_TENSORS; v++)
            out->dram_bytes_unfused += layer->repeat * f->bytes[step->layer][v];
    }
    return SX_OK;
}

sx_status sx_fused_add_run(const sx_fusing *f, const sx_group_run *run, const sx_cut *cut, sx_fused *out,
                           sx_fused_run **added) {
    sx_fused_run *grown = realloc(out->run, (out->n_runs + 1) * sizeof *grown);
    if (!grown) return sx_error_memory();
    out->run = grown;
    *added = &grown[out->n_runs++];
    memset(*added, 0, sizeof **added);
    (*added)->layer = f->order[run->step];
    (*added)->rows = run->rows;
    (*added)->again = cut->found != 0;
    (*added)->resident = cut->resident;
    (*added)->occupied = cut->occupied;
    (*added)->second = cut->second;
    (*added)->second_level = cut->second_level;
    (*added)->occupied_second = cut->occupied_second;
    (*added)->times = run->times;
    (*added)->problem = *(const sx_problem *)sx_vector_at(&f->inner.problem, run->problem);
    return SX_OK;
}

sx_cut sx_fused_run_cut(const sx_fused_run *run) {
    return (sx_cut){.resident = run->resident,
                    .second = run->second,
                    .second_level = run->second_level,
                    .occupied = run->occupied,
                    .occupied_second = run->occupied_second};
}

void sx_fused_set_memories(const sx_fusing *f, sx_fused *out) {
    const sx_exchange *x = &f->exchange;
    memcpy(out->level, x->arch->level[x->level].name, sizeof out->level);
    out->capacity = x->capacity;
    if (x->second >= 0) memcpy(out->second, x->arch->level[x->second].name, sizeof out->second);
    out->second_capacity = x->second_capacity;
}

/* Evaluates a run and adds it to its layer. */
static sx_status add_run(const sx_fusing *f, sx_fused_run *run, sx_fused *out) {
    sx_fused_layer *layer = &out->layer[run->layer];
    const sx_cut cut = sx_fused_run_cut(run);
    double bytes[SX_MAX_TENSORS] = {0};
    uint64_t used[2] = {0};
    SX_TRY(sx_fuse_evaluate(&f->searcher, &run->problem, &cut, &run->mapping, &run->score, used, bytes,
                            out->illegal));
    if (out->illegal[0]) return SX_OK;
    add_score(&run->score, run->times, &layer->score);
    layer->bound += run->times * run->bound;
    layer->resident |= (uint8_t)(run->resident | run->second);
    if (used[0] > layer->tile_words) layer->tile_words = used[0];
    if (used[1] > layer->second_tiles) layer->second_tiles = used[1];
    for (int v = 0; v < SX_MAX_TENSORS; v++) layer->dram_bytes += run->times * bytes[v];
    return SX_OK;
}

/* Adds what a group moves to its layers. */
static void add_moves(const sx_fusing *f, const sx_plan_part *part, sx_fused *out) {
    const sx_fuse_group *group = sx_vector_at(&f->groups, part->group);
    for (int m = 0; m < group->n_moves; m++) {
        const sx_group_move *move = &group->move[m];
        sx_fused_layer *layer = layer_of(f, out, move->step);
        if (move->value != SX_NO_INDEX && sx_plan_stays(&f->exchange.value[move->value], part->state))
            continue;
        add_score(&move->score, 1, &layer->score);
        layer->bound += move->weight;
        layer->dram_bytes += move->bytes;
    }
}

/* Sets what stays in the exchange memory while the layers of a part run. */
static void set_resident_words(const sx_fusing *f, const sx_plan_part *part, sx_fused *out) {
    const sx_exchange *x = &f->exchange;
    const uint64_t whole = sx_plan_occupied(x, part->first, part->last, part->state);
    for (size_t s = part->first; s <= part->last; s++)
        if (x->step[s].layer != SX_NO_INDEX)
            layer_of(f, out, s)->second_words =
                sx_plan_occupied_second(x, part->first, part->last, part->state);
    if (part->group == SX_NO_INDEX) {
        if (x->step[part->first].layer != SX_NO_INDEX) layer_of(f, out, part->first)->resident_words = whole;
        return;
    }
    const sx_fuse_group *group = sx_vector_at(&f->groups, part->group);
    const uint64_t whole_second = sx_plan_occupied_second(x, part->first, part->last, part->state);
    for (int r = 0; r < group->n_runs; r++) {
        sx_fused_layer *layer = layer_of(f, out, group->run[r].step);
        layer->resident_words = whole + group->run[r].cut.occupied;
        layer->second_words = whole_second + group->run[r].cut.occupied_second;
    }
}

/* Sets the figures of the layers. */
static sx_status set_layer_figures(const sx_fusing *f, sx_fused *out) {
    for (size_t r = 0; r < out->n_runs; r++) {
        SX_TRY(add_run(f, &out->run[r], out));
        if (!out->illegal[0]) continue;
        char why[sizeof out->illegal];
        memcpy(why, out->illegal, sizeof why);
        snprintf(out->illegal, sizeof out->illegal, "%s: %.400s", out->layer[out->run[r].layer].name, why);
        return SX_OK;
    }
    for (size_t i = 0; i < f->answer.plan.n_parts; i++) {
        const sx_plan_part *part = &f->answer.plan.part[i];
        set_resident_words(f, part, out);
        if (part->group != SX_NO_INDEX) add_moves(f, part, out);
    }
    for (size_t i = 0; i < out->n_layers; i++) {
        const sx_fused_layer *layer = &out->layer[i];
        out->dram_bytes += layer->dram_bytes;
        if (layer->resident_words + layer->tile_words > out->peak)
            out->peak = layer->resident_words + layer->tile_words;
        if (layer->second_words + layer->second_tiles > out->second_peak)
            out->second_peak = layer->second_words + layer->second_tiles;
    }
    return SX_OK;
}

/* Adds a value to the tensors that stay, with what it saves; tile: by tiles, NULL: whole. */
static void add_tensor(const sx_fusing *f, size_t v, bool second, const sx_fuse_group *tile, int index,
                       sx_fused *out) {
    const sx_exchange *x = &f->exchange;
    const sx_exchange_value *value = &x->value[v];
    sx_fused_tensor *tensor = &out->tensor[out->n_tensors++];
    *tensor =
        (sx_fused_tensor){.first = f->order[value->first], .last = f->order[value->last], .second = second};
    if (x->step[value->last].layer == SX_NO_INDEX && tensor->last > tensor->first) tensor->last--;
    memcpy(tensor->name, x->graph->tensor[value->tensor].name, sizeof tensor->name);
    for (size_t s = value->first; s <= value->last; s++) {
        const sx_exchange_step *step = &x->step[s];
        const uint64_t words = second ? x->second_words[s * x->n_values + v] : sx_exchange_words(x, s, v);
        if (words > tensor->words) tensor->words = words;
        for (int i = 0; i < SX_MAX_TENSORS && f->bytes && step->layer != SX_NO_INDEX; i++)
            if (step->value[i] == v) tensor->saved_bytes += step->repeat * f->bytes[step->layer][i];
    }
    if (!tile) return;
    tensor->words = tile->tile_words[index];
    tensor->depth = (tile->heads > 1) + (tile->row_steps > 1) + (tile->slices > 1) + (tile->inner_steps > 1);
    tensor->recompute = tile->window == SX_GROUP_RECOMPUTE;
    tensor->rows_kept = tile->rows_kept[index];
    tensor->rows_again = tile->rows_again[index];
}

/* Sets the tensors that stay. */
static sx_status set_tensors(const sx_fusing *f, sx_fused *out) {
    const sx_exchange *x = &f->exchange;
    out->tensor = calloc(x->n_values + 1, sizeof *out->tensor);
    if (!out->tensor) return sx_error_memory();
    for (size_t v = 0; v < x->n_values; v++) out->n_candidates += x->value[v].by_tiles || !x->value[v].reason;
    for (size_t i = 0; i < f->answer.plan.n_parts; i++) {
        const sx_plan_part *part = &f->answer.plan.part[i];
        const sx_fuse_group *group =
            part->group == SX_NO_INDEX ? NULL : sx_vector_at(&f->groups, part->group);
        for (int l = 0; group && l + 1 < group->n_layers; l++)
            add_tensor(f, group->inside[l], group->second >> l & 1, group, l, out);
        for (size_t v = 0; v < x->n_values; v++)
            if (part->first <= x->value[v].first && x->value[v].first <= part->last &&
                sx_plan_stays(&x->value[v], part->state))
                add_tensor(f, v, sx_plan_stays_second(&x->value[v], part->state), NULL, 0, out);
    }
    return SX_OK;
}

/* Adds a loop to those of a group. */
static void add_loop(const char *dimension, double bound, sx_fused_group *group) {
    if (bound <= 1) return;
    sx_fused_loop *loop = &group->loop[group->n_loops++];
    snprintf(loop->dimension, sizeof loop->dimension, "%s", dimension);
    loop->bound = (uint32_t)bound;
}

/* Says what is held while the loops of a group run. */
static void set_held(const sx_graph *graph, const sx_fuse_group *from, sx_fused_group *out) {
    out->one_pass = from->one_pass;
    out->recompute = from->window == SX_GROUP_RECOMPUTE;
    for (int l = 0; l < from->n_layers; l++)
        if (from->held >> l & 1)
            memcpy(out->held[out->n_held++], graph->tensor[from->other[l]].name, SX_NAME_SIZE);
    out->n_sliced = from->inner ? out->n_held : 0;
    if (from->holds_in) memcpy(out->held[out->n_held++], graph->tensor[from->in].name, SX_NAME_SIZE);
}

bool sx_fusing_refuted(const sx_fusing *fusing) {
    return fusing->inner.refuted || sx_bounds_withdrawn(fusing->options->run.warnings);
}

/* Adds a layer to a group's sums. */
static void add_to_group(const sx_fusing *f, size_t index, sx_fused *out) {
    sx_fused_group *group = &out->group[out->n_groups - 1];
    sx_fused_layer *layer = &out->layer[index];
    group->last = index;
    layer->group = out->n_groups - 1;
    add_score(&layer->score, 1, &group->score);
    if (f->unfused) add_score(&f->unfused->layer[layer->layer].best.score, layer->repeat, &group->unfused);
    group->bound += layer->bound;
}

/* Whether a tensor that stays whole joins a layer to the one before, or is used by it at all. */
static void find_joints(const sx_fused *out, size_t layer, bool *used, bool *joined) {
    *used = *joined = false;
    for (size_t t = 0; t < out->n_tensors; t++) {
        const sx_fused_tensor *tensor = &out->tensor[t];
        *used |= tensor->first <= layer && layer <= tensor->last;
        *joined |= tensor->first < layer && layer <= tensor->last;
    }
}

/* Makes groups: those of a plan, and of the layers between them those that tensors on chip join. */
static sx_status set_groups(const sx_fusing *f, sx_fused *out) {
    bool open = false;
    out->group = calloc(out->n_layers + 1, sizeof *out->group);
    if (!out->group) return sx_error_memory();
    for (size_t i = 0; i < f->answer.plan.n_parts; i++) {
        const sx_plan_part *part = &f->answer.plan.part[i];
        const size_t first = f->order[part->first];
        bool used, joined;
        if (part->group != SX_NO_INDEX) {
            const sx_fuse_group *group = sx_vector_at(&f->groups, part->group);
            sx_fused_group *new = &out->group[out->n_groups++];
            *new = (sx_fused_group){.first = first};
            add_loop("repeat", group->heads, new);
            add_loop(group->row, group->row_steps, new);
            add_loop(group->channel, group->slices, new);
            add_loop(group->row, group->inner_steps, new);
            set_held(f->exchange.graph, group, new);
            for (int l = 0; l < group->n_layers; l++) add_to_group(f, f->order[group->step[l]], out);
            open = false;
        }
        if (part->group != SX_NO_INDEX || f->exchange.step[part->first].layer == SX_NO_INDEX) continue;
        find_joints(out, first, &used, &joined);
        if (used && !(open && joined)) out->group[out->n_groups++] = (sx_fused_group){.first = first};
        if (used) add_to_group(f, first, out);
        open = used;
    }
    for (size_t t = 0; t < out->n_tensors; t++) out->tensor[t].group = out->layer[out->tensor[t].first].group;
    for (size_t g = 0; g < out->n_groups; g++) {
        bool optimal;
        sx_fused_group *group = &out->group[g];
        group->value = sx_objective_value(&f->options->run.objective, &group->score);
        group->bound = sx_fusing_refuted(f) ? 0 : pow(group->bound, 1 / f->inner.root);
        (void)sx_uphold_bound(f->options->run.warnings, "a fused group", group->value, &group->bound,
                              &optimal);
    }
    return SX_OK;
}

/* Whether a layer runs as in the unfused network. */
static bool is_unfused(const sx_fusing *f, const sx_fused_layer *layer) {
    return layer->group == SX_NO_INDEX && f->exchange.reserved == 0;
}

/* How often the layers with the score of a run, of one layer of the network and unfused, run together; 0: they were
 * counted with an earlier one. */
static double count_runs(const sx_fusing *f, const sx_fused *out, size_t layer, size_t run) {
    const sx_fused_run *first = &out->run[run];
    double count = 0;
    if (out->layer[first->layer].layer != layer || !is_unfused(f, &out->layer[first->layer])) return 0;
    for (size_t r = 0; r < out->n_runs; r++) {
        const sx_fused_run *other = &out->run[r];
        const sx_fused_layer *at = &out->layer[other->layer];
        if (at->layer != layer || !is_unfused(f, at) ||
            memcmp(&other->score, &first->score, sizeof first->score) != 0)
            continue;
        if (r < run) return 0;
        count += other->times;
    }
    return count;
}

/* Adds the steps on the vector unit, unfused and as the plan has them. */
static void add_vectors(const sx_fusing *f, sx_fused *out) {
    const sx_exchange *x = &f->exchange;
    for (size_t i = 0; i < f->answer.plan.n_parts; i++) {
        const sx_plan_part *part = &f->answer.plan.part[i];
        const sx_fuse_group *group =
            part->group == SX_NO_INDEX ? NULL : sx_vector_at(&f->groups, part->group);
        for (size_t s = part->first; s <= part->last; s++) {
            const sx_vector_step *step = &x->step[s].vector;
            double bytes;
            if (!(step->operations > 0)) continue;
            const sx_score score = sx_vector_step_score(x, s, part->state, group, &bytes),
                           before = {
                               .energy_pj = step->energy, .cycles = step->cycles, .latency = step->cycles};
            add_score(&score, 1, &out->vector);
            add_score(&before, 1, &out->vector_unfused);
            out->dram_bytes += bytes;
            if (f->unfused) out->dram_bytes_unfused += step->bytes;
        }
    }
    add_score(&out->vector, 1, &out->total);
    if (f->unfused) add_score(&out->vector_unfused, 1, &out->unfused);
}

/* Sums up: layers of which nothing is fused as the session does, then the others. */
static void set_totals(const sx_fusing *f, sx_fused *out) {
    const sx_exchange *x = &f->exchange;
    double busy = 0;
    for (size_t i = 0; i < f->exchange.network->n_layers; i++)
        for (size_t r = 0; r < out->n_runs; r++) {
            const double count = count_runs(f, out, i, r);
            const sx_score *score = &out->run[r].score;
            if (count == 0) continue;
            out->total.energy_pj += count * score->energy_pj;
            out->total.cycles += count * score->cycles;
            out->total.latency += count * score->latency;
            out->total.last_level_accesses += count * score->last_level_accesses;
            busy += count * score->cycles * score->utilization;
        }
    if (out->total.cycles > 0) out->total.utilization = busy / out->total.cycles;
    for (size_t k = 0; k < out->n_layers; k++)
        if (!is_unfused(f, &out->layer[k])) add_score(&out->layer[k].score, 1, &out->total);
    if (f->unfused) out->unfused = f->unfused->total;
    if (x->arch->vector.lanes > 0) add_vectors(f, out);
    out->value = sx_objective_value(&f->options->run.objective, &out->total);
    if (!f->unfused || sx_fusing_refuted(f)) return;
    out->lower_bound = pow(f->answer.lower_bound, 1 / f->inner.root);
    out->optimal = !out->stopped && out->value <= out->lower_bound * (1 + 1e-9);
    (void)sx_uphold_bound(f->options->run.warnings, "the fused network", out->value, &out->lower_bound,
                          &out->optimal);
}

sx_status sx_fused_set_figures(const sx_fusing *f, sx_fused *out) {
    SX_TRY(set_layer_figures(f, out));
    if (out->illegal[0]) return SX_OK;
    SX_TRY(set_tensors(f, out));
    SX_TRY(set_groups(f, out));
    set_totals(f, out);
    return SX_OK;
}
