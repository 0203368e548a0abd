/* Fusing a network: the unfused session's answers, the search of a plan over them, and the result of it. */
#include "sextant/fused.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/status.h"
#include "fuse/plan_search.h"
#include "session/fuse_inner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SIZES = 6 }; /* of the exchange memory: down to 1/32 */

/* What fusing a network needs. */
typedef struct fusing {
    const sx_session_options *options;
    const sx_session_result *unfused;
    sx_fuse_searcher searcher;
    sx_exchange exchange;
    sx_inner inner;
    sx_plan_answer answer;
    sx_vector groups;                /* sx_fuse_group */
    double (*bytes)[SX_MAX_TENSORS]; /* by layer of the network: to and from the outermost memory, unfused */
    size_t *order;                   /* of each step: its number among the layers */
} fusing;

void sx_fused_free(sx_fused *fused) {
    if (!fused) return;
    free(fused->layer);
    free(fused->tensor);
    free(fused->group);
    free(fused->size);
    free(fused);
}

static void fusing_fini(fusing *f) {
    sx_plan_fini(&f->answer.plan);
    sx_vector_clear(&f->groups);
    sx_exchange_fini(&f->exchange);
    sx_inner_fini(&f->inner);
    free(f->bytes);
    free(f->order);
}

/* Whether the search must stop. */
static bool must_stop(void *user) {
    const fusing *f = user;
    if (sx_is_cancelled(f->options->run.cancel)) return true;
    return f->searcher.until > 0 && sx_clock_seconds() >= f->searcher.until;
}

/* Enters the answers of the unfused session: with nothing in the exchange memory a layer is what it is there. */
static sx_status enter_unfused(fusing *f) {
    const sx_network *network = f->exchange.network;
    const sx_cut nothing = {0};
    f->bytes = calloc(network->n_layers + 1, sizeof *f->bytes);
    if (!f->bytes) return sx_error_memory();
    for (size_t i = 0; i < network->n_layers; i++) {
        const sx_layer_result *result = &f->unfused->layer[i];
        const sx_problem *problem = &network->layer[i].problem;
        uint64_t number;
        size_t optimum;
        if (!result->found) continue;
        sx_inner_answer answer = {
            .found = true, .score = result->best.score, .mapping = result->best.mapping};
        answer.bound = result->summary.optimal ? result->best.value : result->summary.lower_bound;
        SX_TRY(sx_fuse_evaluate(&f->searcher, problem, &nothing, &answer.mapping, NULL, &answer.used,
                                f->bytes[i]));
        SX_TRY(sx_inner_problem(&f->inner, problem, &number));
        SX_TRY(sx_inner_find(&f->inner, number, &nothing, &optimum));
        if (!sx_inner_settled(&f->inner, optimum, SX_INNER_SEARCH))
            SX_TRY(sx_inner_enter(&f->inner, optimum, SX_INNER_SEARCH, &answer));
    }
    return SX_OK;
}

/* The error where what was asked to stay does not fit: the first tensor that has no room whole. */
static sx_status refuse_forced(const sx_exchange *x) {
    uint64_t state = 0;
    for (size_t s = 0; s < x->n_steps; s++) {
        for (size_t v = 0; v < x->n_values; v++)
            if (x->value[v].choice == SX_EXCHANGE_STAY && x->value[v].first == s) {
                uint64_t before = sx_plan_occupied(x, s, s, state), words = sx_exchange_words(x, s, v);
                state |= UINT64_C(1) << x->value[v].slot;
                if (before + words <= x->capacity) continue;
                return sx_error_hint(
                    sx_error_new(SX_ERR_USAGE,
                                 "--fuse: %s needs %llu words of %s from %s to %s, %llu of %llu are free",
                                 x->graph->tensor[x->value[v].tensor].name, (unsigned long long)words,
                                 x->arch->level[x->level].name, x->graph->node[x->step[s].node].name,
                                 x->graph->node[x->step[x->value[v].last].node].name,
                                 (unsigned long long)(x->capacity - before), (unsigned long long)x->capacity),
                    "name fewer tensors, or let --fuse=auto choose them");
            }
        for (size_t v = 0; v < x->n_values; v++)
            if (x->value[v].choice == SX_EXCHANGE_STAY && x->value[v].last == s)
                state &= ~(UINT64_C(1) << x->value[v].slot);
    }
    return sx_error_new(SX_ERR_USAGE, "--fuse: with these tensors in %s some layer does not fit",
                        x->arch->level[x->level].name);
}

/* Adds a layer's score so many times. */
static void add_score(const sx_score *score, double times, sx_score *sum) {
    double busy = sum->utilization * sum->cycles + times * score->cycles * score->utilization;
    sum->energy_pj += times * score->energy_pj;
    sum->cycles += times * score->cycles;
    sum->latency += times * score->latency;
    sum->last_level_accesses += times * score->last_level_accesses;
    sum->utilization = sum->cycles > 0 ? busy / sum->cycles : 0;
}

/* The number of a step's layer of the network in order. */
static sx_fused_layer *layer_of(const fusing *f, const sx_fused *out, size_t step) {
    return &out->layer[f->order[step]];
}

/* Adds runs of an inner optimum to a layer. */
static sx_status add_runs(const fusing *f, size_t optimum, double times, sx_fused_layer *layer) {
    const sx_inner_optimum *found = sx_inner_at(&f->inner, optimum);
    const sx_mapping *mapping = sx_vector_at(&f->inner.mapping, found->mapping);
    double bytes[SX_MAX_TENSORS] = {0};
    SX_TRY(sx_fuse_evaluate(&f->searcher, sx_vector_at(&f->inner.problem, found->key.problem),
                            &found->key.cut, mapping, NULL, NULL, bytes));
    add_score(&found->score, times, &layer->score);
    layer->bound += times * sx_inner_weight(&f->inner, sx_inner_bound(&f->inner, optimum));
    layer->resident |= found->key.cut.resident;
    if (found->used > layer->tile_words) layer->tile_words = found->used;
    if (times > layer->most_runs) {
        layer->mapping = *mapping;
        layer->most_runs = times;
    }
    for (int v = 0; v < SX_MAX_TENSORS; v++) layer->dram_bytes += times * bytes[v];
    return SX_OK;
}

/* Sets the layers of a group. */
static sx_status set_group_layers(const fusing *f, const sx_plan_part *part, sx_fused *out) {
    const sx_fuse_group *group = sx_vector_at(&f->groups, part->group);
    const sx_plan_space space = {&f->exchange, (sx_inner *)&f->inner, NULL, 0};
    const uint64_t whole = sx_plan_occupied(&f->exchange, part->first, part->last, part->state);
    for (int r = 0; r < group->n_runs; r++) {
        sx_fused_layer *layer = layer_of(f, out, group->run[r].step);
        size_t optimum;
        SX_TRY(sx_plan_group_optimum(&space, group, &group->run[r], part->state, &optimum));
        SX_TRY(add_runs(f, optimum, group->run[r].times, layer));
        layer->resident_words = whole + group->run[r].cut.occupied;
    }
    for (int m = 0; m < group->n_moves; m++) {
        const sx_group_move *move = &group->move[m];
        sx_fused_layer *layer = layer_of(f, out, move->step);
        if (move->value != SX_NO_INDEX && sx_plan_stays(&f->exchange.value[move->value], part->state))
            continue;
        add_score(&move->score, 1, &layer->score);
        layer->bound += move->weight;
        layer->dram_bytes += move->bytes;
    }
    return SX_OK;
}

/* Sets the layers, in order. */
static sx_status set_layers(fusing *f, sx_fused *out) {
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
        for (int v = 0; v < SX_MAX_TENSORS; v++)
            out->dram_bytes_unfused += layer->repeat * f->bytes[step->layer][v];
    }
    for (size_t i = 0; i < f->answer.plan.n_parts; i++) {
        const sx_plan_part *part = &f->answer.plan.part[i];
        if (part->group != SX_NO_INDEX) SX_TRY(set_group_layers(f, part, out));
        if (part->optimum == SX_NO_INDEX) continue;
        sx_fused_layer *layer = layer_of(f, out, part->first);
        SX_TRY(add_runs(f, part->optimum, layer->repeat, layer));
        layer->resident_words = sx_plan_occupied(x, part->first, part->last, part->state);
    }
    for (size_t i = 0; i < out->n_layers; i++) {
        const sx_fused_layer *layer = &out->layer[i];
        out->dram_bytes += layer->dram_bytes;
        if (layer->resident_words + layer->tile_words > out->peak)
            out->peak = layer->resident_words + layer->tile_words;
    }
    return SX_OK;
}

/* Adds a value to the tensors that stay, with what it saves; tile: by tiles, NULL: whole. */
static void add_tensor(const fusing *f, size_t v, const sx_fuse_group *tile, int index, sx_fused *out) {
    const sx_exchange *x = &f->exchange;
    const sx_exchange_value *value = &x->value[v];
    sx_fused_tensor *tensor = &out->tensor[out->n_tensors++];
    *tensor = (sx_fused_tensor){.first = f->order[value->first], .last = f->order[value->last]};
    if (x->step[value->last].layer == SX_NO_INDEX && tensor->last > tensor->first) tensor->last--;
    memcpy(tensor->name, x->graph->tensor[value->tensor].name, sizeof tensor->name);
    for (size_t s = value->first; s <= value->last; s++) {
        const sx_exchange_step *step = &x->step[s];
        if (sx_exchange_words(x, s, v) > tensor->words) tensor->words = sx_exchange_words(x, s, v);
        for (int i = 0; i < SX_MAX_TENSORS && step->layer != SX_NO_INDEX; i++)
            if (step->value[i] == v) tensor->saved_bytes += step->repeat * f->bytes[step->layer][i];
    }
    if (!tile) return;
    tensor->words = tile->tile_words[index];
    tensor->depth = (tile->heads > 1) + (tile->row_steps > 1) + (tile->slices > 1);
    tensor->recompute = tile->window == SX_GROUP_RECOMPUTE;
    tensor->rows_kept = tile->rows_kept[index];
    tensor->rows_again = tile->rows_again[index];
}

/* Sets the tensors that stay. */
static sx_status set_tensors(const fusing *f, sx_fused *out) {
    const sx_exchange *x = &f->exchange;
    out->tensor = calloc(x->n_values + 1, sizeof *out->tensor);
    if (!out->tensor) return sx_error_memory();
    for (size_t v = 0; v < x->n_values; v++) out->n_candidates += x->value[v].by_tiles || !x->value[v].reason;
    for (size_t i = 0; i < f->answer.plan.n_parts; i++) {
        const sx_plan_part *part = &f->answer.plan.part[i];
        const sx_fuse_group *group =
            part->group == SX_NO_INDEX ? NULL : sx_vector_at(&f->groups, part->group);
        for (int l = 0; group && l + 1 < group->n_layers; l++) add_tensor(f, group->inside[l], group, l, out);
        for (size_t v = 0; v < x->n_values; v++)
            if (part->first <= x->value[v].first && x->value[v].first <= part->last &&
                sx_plan_stays(&x->value[v], part->state))
                add_tensor(f, v, NULL, 0, out);
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

/* Adds a layer to a group's sums. */
static void add_to_group(const fusing *f, size_t index, sx_fused *out) {
    sx_fused_group *group = &out->group[out->n_groups - 1];
    sx_fused_layer *layer = &out->layer[index];
    group->last = index;
    layer->group = out->n_groups - 1;
    add_score(&layer->score, 1, &group->score);
    add_score(&f->unfused->layer[layer->layer].best.score, layer->repeat, &group->unfused);
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
static sx_status set_groups(const fusing *f, sx_fused *out) {
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
            for (int l = 0; l < group->n_layers; l++) add_to_group(f, f->order[group->step[l]], out);
            open = false;
        }
        if (part->optimum == SX_NO_INDEX) continue;
        find_joints(out, first, &used, &joined);
        if (used && !(open && joined)) out->group[out->n_groups++] = (sx_fused_group){.first = first};
        if (used) add_to_group(f, first, out);
        open = used;
    }
    for (size_t t = 0; t < out->n_tensors; t++) out->tensor[t].group = out->layer[out->tensor[t].first].group;
    for (size_t g = 0; g < out->n_groups; g++) {
        sx_fused_group *group = &out->group[g];
        group->value = sx_objective_value(&f->options->run.objective, &group->score);
        group->bound = fmin(group->value, pow(group->bound, 1 / f->inner.root));
    }
    return SX_OK;
}

/* Whether a layer runs as in the unfused network. */
static bool is_unfused(const fusing *f, const sx_fused_layer *layer) {
    return layer->group == SX_NO_INDEX && f->exchange.reserved == 0;
}

/* Sums up: layers of which nothing is fused as the session does, then the others. */
static void set_totals(const fusing *f, sx_fused *out) {
    const sx_network *network = f->exchange.network;
    double busy = 0;
    out->unfused = f->unfused->total;
    for (size_t i = 0; i < network->n_layers; i++) {
        double count = 0;
        const sx_score *score = &f->unfused->layer[i].best.score;
        for (size_t k = 0; k < out->n_layers; k++)
            if (out->layer[k].layer == i && is_unfused(f, &out->layer[k])) count += out->layer[k].repeat;
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
    out->value = sx_objective_value(&f->options->run.objective, &out->total);
    out->lower_bound = fmin(out->value, pow(f->answer.lower_bound, 1 / f->inner.root));
    out->optimal = !out->stopped && out->value <= out->lower_bound * (1 + 1e-9);
}

/* Makes the result of a plan that was found. */
static sx_status set_result(fusing *f, sx_fused *out) {
    out->found = f->answer.plan.found;
    out->stopped = f->answer.stopped;
    out->n_searches = f->inner.n_searched;
    if (!out->found) return SX_OK;
    SX_TRY(set_layers(f, out));
    SX_TRY(set_tensors(f, out));
    SX_TRY(set_groups(f, out));
    set_totals(f, out);
    return SX_OK;
}

/* Finds the exchange memory and what may stay there; an error where what was asked to stay does not fit. */
static sx_status prepare_exchange(fusing *f, const sx_graph *graph, const sx_network *network,
                                  const sx_fusing_options *fuse, bool *chosen) {
    const sx_arch *arch = f->searcher.arch;
    SX_TRY(sx_cut_level(arch, fuse->exchange, &f->searcher.exchange));
    SX_TRY(sx_inner_init(&f->inner, &f->options->run.objective, sx_cut_capacity(arch, f->searcher.exchange)));
    f->inner.user = &f->searcher;
    f->inner.search = sx_fuse_search_inner;
    f->inner.minimum = sx_fuse_inner_minimum;
    SX_TRY(sx_exchange_init(graph, network, arch, f->searcher.exchange, &f->exchange));
    *chosen = strcmp(fuse->tensors, "auto") == 0;
    if (*chosen) return SX_OK;
    return sx_exchange_force(&f->exchange, strcmp(fuse->tensors, "none") == 0 ? "" : fuse->tensors);
}

/* The ways to treat windows that a text allows. */
static unsigned windows_of(const char *text) {
    const unsigned retain = 1u << SX_GROUP_RETAIN, recompute = 1u << SX_GROUP_RECOMPUTE;
    if (strcmp(text, "retain") == 0) return retain;
    return strcmp(text, "recompute") == 0 ? recompute : retain | recompute;
}

/* Searches the best plan of the exchange memory, or of what is not reserved of it. */
static sx_status search_plan(fusing *f, const sx_fusing_options *fuse) {
    sx_vector_clear(&f->groups);
    sx_plan_fini(&f->answer.plan);
    SX_TRY(sx_groups_list(&f->exchange, &f->inner, windows_of(fuse->window), &f->groups));
    const sx_plan_space space = {&f->exchange, &f->inner, (const sx_fuse_group *)f->groups.data, f->groups.n};
    return sx_plan_search(&space, fuse->gap, must_stop, f, &f->answer);
}

/* Sets the best plan of the memory's current size. */
static sx_status set_size(fusing *f, const sx_fused *found, sx_fused *out) {
    out->size[out->n_sizes++] = (sx_fused_size){.words = f->exchange.capacity - f->exchange.reserved,
                                                .found = found->found,
                                                .optimal = found->optimal,
                                                .total = found->total,
                                                .dram_bytes = found->dram_bytes,
                                                .value = found->value,
                                                .lower_bound = found->lower_bound,
                                                .n_tensors = found->n_tensors};
    free(f->order);
    f->order = NULL;
    return SX_OK;
}

/* Finds the best plans of smaller memories, halving them, until no layer fits or the search is stopped. */
static sx_status set_sizes(fusing *f, const sx_fusing_options *fuse, sx_fused *out) {
    sx_status status = SX_OK;
    out->size = calloc(MOST_SIZES, sizeof *out->size);
    if (!out->size) return sx_error_memory();
    SX_TRY(set_size(f, out, out));
    for (bool found = out->found; found && !status && !f->answer.stopped && out->n_sizes < MOST_SIZES;) {
        sx_fused *smaller = calloc(1, sizeof *smaller);
        f->exchange.reserved = f->exchange.capacity - (f->exchange.capacity >> out->n_sizes);
        status = smaller ? search_plan(f, fuse) : sx_error_memory();
        if (!status) status = set_result(f, smaller);
        found = !status && smaller->found;
        if (found) status = set_size(f, smaller, out);
        out->n_searches = f->inner.n_searched;
        sx_fused_free(smaller);
    }
    f->exchange.reserved = 0;
    return status;
}

/* Prepares and searches. */
static sx_status fuse_graph(fusing *f, const sx_graph *graph, const sx_network *network,
                            const sx_fusing_options *fuse, sx_fused *out) {
    SX_TRY(prepare_exchange(f, graph, network, fuse, &out->chosen));
    memcpy(out->level, f->searcher.arch->level[f->searcher.exchange].name, sizeof out->level);
    out->capacity = f->inner.capacity;
    SX_TRY(enter_unfused(f));
    SX_TRY(search_plan(f, fuse));
    SX_TRY(set_result(f, out));
    return fuse->staircase ? set_sizes(f, fuse, out) : SX_OK;
}

/* Refuses what was asked to stay where no plan has room for it. */
static sx_status check_room(fusing *f, const char *window) {
    sx_plan plan;
    SX_TRY(sx_groups_list(&f->exchange, &f->inner, windows_of(window), &f->groups));
    const sx_plan_space space = {&f->exchange, &f->inner, (const sx_fuse_group *)f->groups.data, f->groups.n};
    sx_status status = sx_plan_join(&space, true, &plan);
    if (!status && !plan.found) status = refuse_forced(&f->exchange);
    sx_plan_fini(&plan);
    return status;
}

sx_status sx_session_fuse_check(const sx_graph *graph, const sx_network *network, const sx_arch *arch,
                                const sx_session_options *options, const sx_fusing_options *fuse) {
    fusing f = {.options = options,
                .searcher = {.arch = arch, .options = options},
                .groups = {.size = sizeof(sx_fuse_group)}};
    bool chosen;
    sx_status status = prepare_exchange(&f, graph, network, fuse, &chosen);
    if (!status && !chosen) status = check_room(&f, fuse->window);
    fusing_fini(&f);
    return status;
}

sx_status sx_session_fuse(const sx_graph *graph, const sx_network *network, const sx_arch *arch,
                          const sx_session_options *options, const sx_session_result *unfused,
                          const sx_fusing_options *fuse, sx_fused **out) {
    const double begin = sx_clock_seconds();
    fusing f = {.options = options,
                .unfused = unfused,
                .groups = {.size = sizeof(sx_fuse_group)},
                .searcher = {.arch = arch,
                             .options = options,
                             .until = options->run.seconds > 0 ? begin + options->run.seconds : 0}};
    sx_fused *fused = calloc(1, sizeof *fused);
    sx_status status = fused ? fuse_graph(&f, graph, network, fuse, fused) : sx_error_memory();
    fusing_fini(&f);
    if (status) {
        sx_fused_free(fused);
        return status;
    }
    fused->seconds = sx_clock_seconds() - begin;
    *out = fused;
    return SX_OK;
}
