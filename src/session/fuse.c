/* Fusing a network: the unfused session's answers, the search of a plan over them, and the result of it. */
#include "base/cancel.h"
#include "base/clock.h"
#include "base/status.h"
#include "fuse/group_chain.h"
#include "fuse/order.h"
#include "fuse/plan_product.h"
#include "fuse/vector_step.h"
#include "run/uphold.h"
#include "session/fusing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SIZES = 6 }; /* of the exchange memory: down to 1/32 */

/* Whether the search must stop. */
static bool must_stop(void *user) {
    const sx_fusing *f = user;
    if (sx_is_cancelled(f->options->run.cancel)) return true;
    return f->searcher.until > 0 && sx_clock_seconds() >= f->searcher.until;
}

/* What the bounds of all cut layers may take beyond the time, in seconds. */
static const double GRACE = 0.5;

/* Whether bounds of all plans take too long. */
static bool is_late(void *user) {
    const sx_fusing *f = user;
    return f->late > 0 && sx_clock_seconds() >= f->late;
}

/* Of what plans are made. */
static sx_plan_space space_of(sx_fusing *f) {
    return (sx_plan_space){.exchange = &f->exchange,
                           .inner = &f->inner,
                           .group = (const sx_fuse_group *)f->groups.data,
                           .n_groups = f->groups.n,
                           .late = is_late,
                           .user = f};
}

/* The tiles that plans have: where remainders gave an answer that nobody asked for, layers alone have any tiles, and cut ones
 * those that divide. */
static sx_fused_tiles tiles_of(const sx_session_result *unfused) {
    sx_fused_tiles tiles = SX_FUSED_TILES_ASKED;
    for (size_t i = 0; i < unfused->n_layers; i++) {
        const sx_layer_result *layer = &unfused->layer[i];
        if (layer->widened && layer->remainders) return SX_FUSED_TILES_ANY;
        if (layer->widened) tiles = SX_FUSED_TILES_DIVIDE;
    }
    return tiles;
}

/* What no mapping of a layer alone is below, with such tiles; 0: not known. */
static double alone_bound(const sx_layer_result *layer, sx_fused_tiles tiles) {
    if (tiles == SX_FUSED_TILES_ANY && !layer->remainders)
        return layer->any_optimal ? layer->best.value : layer->any_bound;
    return layer->summary.optimal ? layer->best.value : layer->summary.lower_bound;
}

/* Enters the answers of the unfused session: with nothing in the exchange memory a layer is what it is there. */
static sx_status enter_unfused(sx_fusing *f) {
    const sx_network *network = f->exchange.network;
    const sx_cut nothing = {.second_level = (uint8_t)(f->exchange.second >= 0 ? f->exchange.second : 0)};
    f->bytes = calloc(network->n_layers + 1, sizeof *f->bytes);
    if (!f->bytes) return sx_error_memory();
    const sx_fused_tiles tiles = tiles_of(f->unfused);
    for (size_t i = 0; i < network->n_layers; i++) {
        const sx_layer_result *result = &f->unfused->layer[i];
        const sx_problem *problem = &network->layer[i].problem;
        uint64_t number;
        size_t optimum;
        if (!result->found) continue;
        sx_inner_answer answer = {.found = true,
                                  .score = result->best.score,
                                  .mapping = result->best.mapping,
                                  .bound = alone_bound(result, tiles),
                                  .any_tiles = tiles == SX_FUSED_TILES_ANY};
        uint64_t used[2];
        SX_TRY(sx_fuse_evaluate(&f->searcher, problem, &nothing, &answer.mapping, NULL, used, f->bytes[i],
                                NULL));
        answer.used = used[0];
        answer.used_second = used[1];
        SX_TRY(sx_inner_problem(&f->inner, problem, &number));
        SX_TRY(sx_inner_find(&f->inner, number, &nothing, &optimum));
        if (result->proof) SX_TRY(sx_fuse_proof(&f->searcher, problem, &nothing, result, &answer.proof));
        if (sx_inner_settled(&f->inner, optimum, SX_INNER_SEARCH))
            free(answer.proof);
        else
            SX_TRY(sx_inner_enter(&f->inner, optimum, SX_INNER_SEARCH, &answer));
    }
    return SX_OK;
}

/* The error where what was asked to stay does not fit: the first tensor that has no room whole. */
static sx_status refuse_forced(const sx_exchange *x) {
    uint64_t state = 0;
    for (size_t s = 0; s < x->n_steps; s++) {
        for (size_t v = 0; v < x->n_values; v++)
            if (sx_exchange_must_stay(&x->value[v]) && x->value[v].first == s) {
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
            if (sx_exchange_must_stay(&x->value[v]) && x->value[v].last == s)
                state &= ~(UINT64_C(1) << x->value[v].slot);
    }
    return sx_error_new(SX_ERR_USAGE, "--fuse: with these tensors in %s some layer does not fit",
                        x->arch->level[x->level].name);
}

/* Adds a run of an inner optimum that was found. */
static sx_status add_optimum(const sx_fusing *f, const sx_group_run *run, size_t optimum, sx_fused *out) {
    const sx_inner_optimum *found = sx_inner_at(&f->inner, optimum);
    sx_fused_run *added;
    SX_TRY(sx_fused_add_run(f, run, &found->key.cut, out, &added));
    added->mapping = *(const sx_mapping *)sx_vector_at(&f->inner.mapping, found->mapping);
    added->bound = sx_inner_weight(&f->inner, sx_inner_bound(&f->inner, optimum));
    return SX_OK;
}

/* Adds the runs of a plan's part. */
static sx_status add_part(const sx_fusing *f, const sx_plan_part *part, sx_fused *out) {
    const sx_plan_space space = {.exchange = &f->exchange, .inner = (sx_inner *)&f->inner};
    const sx_fuse_group *group = part->group == SX_NO_INDEX ? NULL : sx_vector_at(&f->groups, part->group);
    for (int r = 0; group && r < group->n_runs; r++) {
        size_t optimum;
        SX_TRY(sx_plan_group_optimum(&space, group, &group->run[r], part->state, &optimum));
        SX_TRY(add_optimum(f, &group->run[r], optimum, out));
    }
    if (part->optimum == SX_NO_INDEX) return SX_OK;
    const sx_group_run run = {.step = part->first,
                              .problem = sx_inner_at(&f->inner, part->optimum)->key.problem,
                              .times = f->exchange.step[part->first].repeat};
    return add_optimum(f, &run, part->optimum, out);
}

/* Makes the result of a plan that was found. */
static sx_status set_result(sx_fusing *f, sx_fused *out) {
    out->found = f->answer.plan.found;
    out->stopped = f->answer.stopped;
    out->n_searches = f->inner.n_searched;
    if (!out->found) return SX_OK;
    SX_TRY(sx_fused_set_layers(f, out));
    for (size_t i = 0; i < f->answer.plan.n_parts; i++) SX_TRY(add_part(f, &f->answer.plan.part[i], out));
    SX_TRY(sx_fused_set_figures(f, out));
    if (!out->illegal[0]) return SX_OK;
    return sx_error_new(SX_ERR_INTERNAL, "the mapping of a fused layer is illegal: %s", out->illegal);
}

sx_status sx_fusing_init(sx_fusing *f, const sx_graph *graph, const sx_network *network, const char *exchange,
                         const size_t *order) {
    const sx_arch *arch = f->searcher.arch;
    bool constrained;
    f->groups.size = sizeof(sx_fuse_group);
    SX_TRY(sx_cut_levels(arch, exchange, &f->searcher.exchange, &f->searcher.second));
    if (f->searcher.second >= 0 && f->options->model.latency_tile)
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "--latency tile has no rule for two exchange memories"),
            "name one level, or leave out --latency");
    SX_TRY(sx_inner_init(&f->inner, &f->options->run.objective, sx_cut_capacity(arch, f->searcher.exchange)));
    if (f->searcher.second >= 0) f->inner.second = sx_cut_capacity(arch, f->searcher.second);
    f->inner.user = &f->searcher;
    f->inner.warnings = f->options->run.warnings;
    f->inner.search = sx_fuse_search_inner;
    f->inner.minimum = sx_fuse_inner_minimum;
    f->inner.any_room = true;
    f->inner.least = sx_fuse_inner_least;
    if (f->inner.root < 1) f->inner.search_power = sx_fuse_search_power;
    SX_TRY(sx_fuse_constrained(&f->searcher, network, &constrained));
    if (!constrained && !f->options->model.latency_tile) f->inner.relax = sx_fuse_inner_relax;
    if (f->searcher.second >= 0 && f->options->model.latency_tile)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--latency tile is for one exchange memory"),
                             "leave out --latency, or name one memory");
    SX_TRY(sx_exchange_init(graph, network, arch, f->searcher.exchange, f->searcher.second, order,
                            &f->exchange));
    f->exchange.latency_tile = f->options->model.latency_tile;
    return sx_vector_steps_set(&f->exchange);
}

/* Sets what options say of tensors and of softmax. */
static sx_status set_choices(sx_fusing *f, const sx_fusing_options *fuse, bool *chosen) {
    f->exchange.one_pass = fuse->one_pass;
    *chosen = strcmp(fuse->tensors, "auto") == 0;
    if (*chosen) return SX_OK;
    return sx_exchange_force(&f->exchange, strcmp(fuse->tensors, "none") == 0 ? "" : fuse->tensors);
}

sx_status sx_fusing_prepare(sx_fusing *f, const sx_graph *graph, const sx_network *network,
                            const sx_fusing_options *fuse, bool *chosen) {
    SX_TRY(sx_fusing_init(f, graph, network, fuse->exchange, NULL));
    SX_TRY(sx_orders_list(graph, fuse->orders, &f->orders));
    return set_choices(f, fuse, chosen);
}

sx_status sx_fusing_set_order(sx_fusing *f, const sx_fusing_options *fuse, size_t order) {
    sx_exchange before = f->exchange;
    bool chosen;
    sx_status status = sx_exchange_init(before.graph, before.network, before.arch, before.level,
                                        before.second, sx_vector_at(&f->orders, order), &f->exchange);
    f->exchange.reserved = before.reserved;
    f->exchange.latency_tile = before.latency_tile;
    sx_exchange_fini(&before);
    SX_TRY(status);
    SX_TRY(sx_vector_steps_set(&f->exchange));
    SX_TRY(set_choices(f, fuse, &chosen));
    return sx_fusing_list_groups(f, fuse);
}

/* The ways to treat windows that a text allows. */
static unsigned windows_of(const char *text) {
    const unsigned retain = 1u << SX_GROUP_RETAIN, recompute = 1u << SX_GROUP_RECOMPUTE;
    if (strcmp(text, "retain") == 0) return retain;
    return strcmp(text, "recompute") == 0 ? recompute : retain | recompute;
}

sx_status sx_fusing_list_groups(sx_fusing *f, const sx_fusing_options *fuse) {
    sx_vector_clear(&f->groups);
    for (size_t s = 0; s < f->exchange.n_steps && !is_late(f); s++)
        SX_TRY(sx_groups_list(&f->exchange, &f->inner, s, windows_of(fuse->window), fuse->row_loops > 1,
                              &f->groups));
    return SX_OK;
}

/* Searches the best plan of one order, unless none below a weight exists. */
static sx_status search_order(sx_fusing *f, const sx_fusing_options *fuse, double cutoff,
                              sx_plan_answer *out) {
    const sx_plan_space space = space_of(f);
    return sx_plan_search(&space, fuse->gap, cutoff, fuse->k_best > 1 ? fuse->k_best : 1, must_stop, f, out);
}

/* Orders whose plans differ by less are equal: the first one stays. */
static const double SAME_WEIGHT = 1 - 1e-10;

/* Takes over the answer of an order where it is better; the lower bound is the least of all orders. */
static void take_better(sx_fusing *f, size_t order, sx_plan_answer *answer) {
    const double bound = fmin(f->answer.lower_bound, answer->lower_bound);
    const bool stopped = f->answer.stopped || answer->stopped;
    if (answer->plan.found &&
        (!f->answer.plan.found || answer->plan.weight < SAME_WEIGHT * f->answer.plan.weight)) {
        const sx_plan_answer worse = f->answer;
        f->answer = *answer;
        *answer = worse;
        f->best_order = order;
    }
    sx_plan_answer_fini(answer);
    f->answer.lower_bound = bound;
    f->answer.stopped = stopped;
}

/* Searches the best plan of all orders, for the exchange memory or for what is not reserved of it. */
static sx_status search_plan(sx_fusing *f, const sx_fusing_options *fuse) {
    sx_plan_answer_fini(&f->answer);
    size_t at = f->best_order;
    if (at != 0) SX_TRY(sx_fusing_set_order(f, fuse, 0));
    f->best_order = at = 0;
    SX_TRY(sx_fusing_list_groups(f, fuse));
    SX_TRY(search_order(f, fuse, INFINITY, &f->answer));
    for (size_t o = 1; o < f->orders.n; o++) {
        sx_plan_answer answer;
        SX_TRY(sx_fusing_set_order(f, fuse, at = o));
        sx_status status = search_order(
            f, fuse, f->answer.plan.found ? SAME_WEIGHT * f->answer.plan.weight : INFINITY, &answer);
        take_better(f, o, &answer);
        SX_TRY(status);
    }
    return at == f->best_order ? SX_OK : sx_fusing_set_order(f, fuse, f->best_order);
}

/* Sets the results of the next best plans. */
static sx_status set_others(sx_fusing *f, sx_fused *out) {
    const size_t n = f->answer.n_others;
    const sx_plan best = f->answer.plan;
    sx_status status = SX_OK;
    out->other = calloc(n + 1, sizeof *out->other);
    if (!out->other) return sx_error_memory();
    for (size_t i = 0; i < n && !status; i++) {
        sx_fused *other = out->other[out->n_others] = calloc(1, sizeof *other);
        if (!other) return sx_error_memory();
        out->n_others++;
        sx_fused_set_memories(f, other);
        free(f->order);
        f->order = NULL;
        f->answer.plan = f->answer.other[i];
        status = set_result(f, other);
    }
    f->answer.plan = best;
    return status;
}

/* Sets the best plan of the memory's current size. */
static sx_status set_size(sx_fusing *f, const sx_fused *found, sx_fused *out) {
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
static sx_status set_sizes(sx_fusing *f, const sx_fusing_options *fuse, sx_fused *out) {
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
    out->sizes_stopped = f->answer.stopped && out->n_sizes < MOST_SIZES;
    return status;
}

/* Whether a product of energy and delay is minimised; *plain: each to the power of one. */
static bool is_product(const sx_fusing *f, bool *plain) {
    const sx_criterion *first = &f->options->run.objective.criterion[0];
    *plain = first->energy_power == 1 && first->delay_power == 1;
    return first->energy_power > 0 && first->delay_power > 0;
}

static bool always_stop(void *user) {
    (void)user;
    return true;
}

/* Searches plans of one order by a product; of several orders only those of the best one are of interest. */
static sx_status search_product(sx_fusing *f, const sx_fusing_options *fuse, bool plain,
                                sx_plan_product *product) {
    const sx_plan_space space = space_of(f);
    const bool fixed = strcmp(fuse->tensors, "none") == 0;
    if (!plain) return sx_plan_improve_product(&space, product);
    return sx_plan_search_product(&space, fixed ? always_stop : must_stop, f, product);
}

/* Takes over a plan with a smaller product than the one with the least sum of roots, and finds a lower bound of the product: the
 * least of all orders, INFINITY for other objectives. */
static sx_status improve_product(sx_fusing *f, const sx_fusing_options *fuse, double *bound) {
    const sx_score *unfused = &f->unfused->total;
    sx_plan_product best = {.plan = &f->answer.plan,
                            .gap = fuse->gap,
                            .unfused = {unfused->energy_pj, sx_inner_delay(&f->inner, unfused)}};
    bool plain;
    *bound = 0;
    if (!is_product(f, &plain) || !f->answer.plan.found) return SX_OK;
    SX_TRY(search_product(f, fuse, plain, &best));
    *bound = best.bound;
    for (size_t i = 0; i < f->orders.n && f->orders.n > 1 && plain; i++) {
        if (i == f->best_order) continue;
        sx_plan none = {0};
        sx_plan_product other = {.plan = &none, .gap = fuse->gap, .known = best.total[0] * best.total[1]};
        memcpy(other.unfused, best.unfused, sizeof other.unfused);
        SX_TRY(sx_fusing_set_order(f, fuse, i));
        sx_status status = search_product(f, fuse, plain, &other);
        sx_plan_fini(&none);
        SX_TRY(status);
        *bound = fmin(*bound, other.bound);
    }
    if (f->orders.n > 1) SX_TRY(sx_fusing_set_order(f, fuse, f->best_order));
    sx_inner_select(&f->inner, best.share[0] + best.share[1] > 0 ? best.share : NULL);
    return SX_OK;
}

/* Of the time that a product has, the share for the search of plans by roots. */
static const double ROOTS_SHARE = 0.25;

/* Searches the best plan; of a product in two parts, where nothing needs the first one to be complete. */
static sx_status search_parts(sx_fusing *f, const sx_fusing_options *fuse, double *bound) {
    const double until = f->searcher.until, now = sx_clock_seconds();
    bool plain;
    const bool split = until > now && is_product(f, &plain) && plain && !f->options->run.proof &&
                       fuse->k_best <= 1 && !fuse->staircase && strcmp(fuse->tensors, "none") != 0;
    if (split) f->searcher.until = now + ROOTS_SHARE * (until - now);
    sx_status status = search_plan(f, fuse);
    f->searcher.until = until;
    if (!status) status = improve_product(f, fuse, bound);
    if (split) f->answer.stopped &= must_stop(f);
    return status;
}

/* The rows that a layer reads at least of what the one before wrote, for so many rows of its output. */
static double rows_read(const sx_chain_link *link, double rows) {
    if (link->stride > link->reach || rows < 1) return 0;
    const double read = link->stride * (rows - 1) + link->reach - link->pad;
    return fmax(0, fmin(read, link->rows_in));
}

/* The share of its rows that each layer computes at least: in a group rows that no window reads are left out. */
static void share_rows(const sx_exchange *x, double *share) {
    for (size_t s = 0; s < x->n_steps; s++) share[s] = 1;
    for (size_t s = 0; s < x->n_steps; s++)
        for (int n = 2; n <= SX_MAX_GROUP; n++) {
            sx_layer_chain chain;
            if (!sx_layer_chain_find(x, s, n, &chain)) continue;
            double rows = chain.link[n - 1].rows_out;
            for (int l = n - 1; l > 0; l--) {
                double *least = &share[chain.link[l - 1].step];
                rows = rows_read(&chain.link[l], rows);
                *least = fmin(*least, rows / chain.link[l].rows_in);
            }
        }
}

/* Adds what a layer costs at least that computes a share of its rows: cycles of all rows are rounded up. */
static void add_share(const sx_score *least, double share, double repeat, sx_score *sum) {
    if (share < 1) share *= fmax(0, 1 - 1 / least->cycles);
    sum->energy_pj += repeat * share * least->energy_pj;
    sum->cycles += repeat * share * least->cycles;
    sum->latency += repeat * share * least->latency;
}

/* What no plan is below, as the objective: every layer is computed, wherever its tensors are. */
static sx_status bound_layers(const sx_fusing *f, double *out) {
    const sx_exchange *x = &f->exchange;
    double *share = calloc(x->n_steps + 1, sizeof *share);
    sx_score sum = {0};
    if (!share) return sx_error_memory();
    share_rows(x, share);
    sx_status status = SX_OK;
    for (size_t s = 0; s < x->n_steps && !status; s++) {
        sx_score least;
        if (x->step[s].layer == SX_NO_INDEX) continue;
        status = sx_fuse_least_anywhere(&f->searcher, &x->network->layer[x->step[s].layer].problem, &least);
        if (!status) add_share(&least, share[s], x->step[s].repeat, &sum);
    }
    free(share);
    *out = (1 - 1e-9) * sx_objective_value(&f->options->run.objective, &sum);
    return status;
}

/* Prepares and searches. */
static sx_status fuse_graph(sx_fusing *f, const sx_graph *graph, const sx_network *network,
                            const sx_fusing_options *fuse, sx_fused *out) {
    SX_TRY(sx_fusing_prepare(f, graph, network, fuse, &out->chosen));
    sx_fused_set_memories(f, out);
    SX_TRY(enter_unfused(f));
    double bound = 0, least = 0;
    SX_TRY(search_parts(f, fuse, &bound));
    if (f->answer.stopped) SX_TRY(bound_layers(f, &least));
    SX_TRY(set_result(f, out));
    sx_inner_select(&f->inner, NULL);
    out->tiles = tiles_of(f->unfused);
    out->n_orders = f->orders.n;
    out->reordered = f->best_order != 0;
    if (out->found && !sx_fusing_refuted(f)) {
        out->lower_bound = fmax(fmax(out->lower_bound, bound), least);
        out->optimal = !out->stopped && out->value <= out->lower_bound * (1 + 1e-9);
        (void)sx_uphold_bound(f->options->run.warnings, "the fused network", out->value, &out->lower_bound,
                              &out->optimal);
    }
    if (f->options->run.proof && out->found) SX_TRY(sx_fused_certify(f, fuse, out));
    SX_TRY(set_others(f, out));
    sx_fusing_options one = *fuse;
    one.k_best = 1;
    return fuse->staircase ? set_sizes(f, &one, out) : SX_OK;
}

/* Refuses what was asked to stay where no plan has room for it. */
static sx_status check_room(sx_fusing *f, const sx_fusing_options *fuse) {
    sx_plan plan;
    SX_TRY(sx_fusing_list_groups(f, fuse));
    const sx_plan_space space = space_of(f);
    sx_status status = sx_plan_join(&space, true, &plan);
    if (!status && !plan.found) status = refuse_forced(&f->exchange);
    sx_plan_fini(&plan);
    return status;
}

sx_status sx_session_fuse_check(const sx_graph *graph, const sx_network *network, const sx_arch *arch,
                                const sx_session_options *options, const sx_fusing_options *fuse) {
    sx_fusing f = {.options = options, .searcher = {.arch = arch, .options = options}};
    bool chosen;
    sx_status status = sx_fusing_prepare(&f, graph, network, fuse, &chosen);
    if (!status && options->run.proof) status = sx_fused_certifiable(&f);
    if (!status && !chosen) status = check_room(&f, fuse);
    sx_fusing_fini(&f);
    return status;
}

/* The seconds that a plan may take: as many as the layers, and what these left. */
static double time_left(const sx_session_options *options, const sx_session_result *unfused) {
    double used = 0;
    for (size_t i = 0; i < unfused->n_layers; i++) used += unfused->layer[i].summary.seconds;
    return options->run.seconds + fmax(0, options->run.seconds - used);
}

sx_status sx_session_fuse(const sx_graph *graph, const sx_network *network, const sx_arch *arch,
                          const sx_session_options *options, const sx_session_result *unfused,
                          const sx_fusing_options *fuse, sx_fused **out) {
    const double begin = sx_clock_seconds();
    sx_fusing f = {.options = options,
                   .unfused = unfused,
                   .searcher = {.arch = arch,
                                .options = options,
                                .until = options->run.seconds > 0 ? begin + time_left(options, unfused) : 0}};
    if (f.searcher.until > 0) f.late = f.searcher.until + GRACE;
    sx_fused *fused = calloc(1, sizeof *fused);
    sx_status status = fused ? sx_fuse_memo_open(options, &f.searcher.memo) : sx_error_memory();
    if (!status) status = fuse_graph(&f, graph, network, fuse, fused);
    if (!status && f.searcher.memo) status = sx_fuse_memo_save(f.searcher.memo);
    sx_fuse_memo_free(f.searcher.memo);
    sx_fusing_fini(&f);
    if (status) {
        sx_fused_free(fused);
        return status;
    }
    fused->seconds = sx_clock_seconds() - begin;
    *out = fused;
    return SX_OK;
}
