/* The best mapping of a space, proven: branch and bound over everything that a map space holds.
 *
 * Source: our own, after the exact mappers that decompose the cost over the lattice of tile extents. A
 * mapping is decided in three parts, each with a lower bound of all that is left open (bound/bound.h): how
 * loops are mapped in space (spatial_mappings.c; with it the compute cycles are known), what each level
 * keeps, then tiles and orders from the innermost level outward (descend.c). Open parts stand in a
 * heap (nodes.c): spatial mappings at first, of which those that take long are taken apart. The most
 * promising ones are visited, first to sharpen the bound, then to evaluate all mappings of theirs that may
 * be better than what is known. So the least bound in the heap is at any time a proven lower bound of
 * everything not seen, from the first moment on. The first incumbent is Gamma's (heuristics.c).
 *
 * What is admitted by the cutoff, with several best mappings, a front or several criteria: cutoff.c. Several
 * criteria take a search each. Visits are tasks, some at a time (rounds.c).
 *
 * Where factors may leave remainders, the mappings that do are a second part of the space, with spatial
 * mappings, bounds and a walk of their own (remainder_search.c). Mappings whose factors divide are searched
 * first, as if there were no others, with an effort of their own; then those with remainders are listed.
 *
 * The compulsory minimum (model/minimum.c), with the cycles on as many compute units as tiles that divide can use, bounds the
 * whole space. It is known at once, and a mapping that reaches it is optimal whatever is left. Where there are too many
 * spatial mappings to list it is all that is proven. In the same way a spatial mapping is closed by the compute units that it
 * uses, the compulsory energy and what it takes to hand the units their operands (model/delivery.c), before its tables are
 * made: on machines with 10^5 units nearly all are. The least of that over all ways to spread dimensions bounds the whole
 * space, too (root.c).
 *
 * Complexity: exponential at worst. Memory: a node per spatial mapping, and per thread a table of the lattice
 * for each level and class of orders. */
#include "base/status.h"
#include "mappers/optimal/root.h"
#include "mappers/optimal/rounds.h"
#include "mappers/optimal/state.h"
#include "run/navigator.h"

#include <math.h>
#include <stdlib.h>

enum { GAP, GAMMA, SUNSTONE, DESCENTS, MOVES, TABLES, ARRAYS, EFFORT };

static const char *const on_off[] = {"off", "on", NULL};

static const sx_setting settings[] = {
    [GAP] = {"gap", "stop when the gap to the lower bound is at most this", NULL, 0, 0, 10, false, NULL},
    [GAMMA] = {"gamma",
               "maximum evaluations of gamma, unless time is limited; fewer where the proof is short", NULL,
               300000, 0, 1e9, true, NULL},
    [SUNSTONE] = {"sunstone",
                  "run sunstone:plus=on at once if there are at most this many spatial mappings, otherwise "
                  "in long proofs; 0: never",
                  NULL, 1000, 0, 1e9, true, NULL},
    [DESCENTS] = {"descents", "initial descents by random moves, if the above find no mapping", NULL, 16, 0,
                  10000, true, NULL},
    [MOVES] = {"moves", "moves of each descent", NULL, 300, 1, 1000000, true, NULL},
    [TABLES] = {"tables", "use bounds from tables over all tiles", NULL, 1, 0, 1, true, on_off},
    [ARRAYS] = {"arrays", "more spatial mappings than this have one lower bound, the compulsory minimum",
                NULL, 1e6, 1, 1e8, true, NULL},
    [EFFORT] = {"effort",
                "stop after about this many million steps of the proof, about 0.1 us each; 0: no limit", NULL,
                0, 0, 1e9, false, NULL},
};

enum {
    MOST_POINTS = 1 << 20,
    MOST_CHOICES = 16, /* bits */
    TILE_STEPS = 300,  /* of the effort, for each tile with remainders that is listed */
    MANY_SPATIALS = 50000
};

/* Lists the spatial mappings whose factors divide, unless they are closed or too many; a certificate names them all. A run
 * that is over ends the list: nothing is searched then, and the root is all that is proven. */
static sx_status list_spatials(sx_optimal *o) {
    const sx_map_space_options *options = &o->space->options;
    o->unlisted = options->remainders;
    o->spatials = o->imperfect = (sx_spatial_mappings){.space = o->space};
    o->unsearched = INFINITY;
    o->start.spatials = o->arrays;
    if (options->remainders && options->dividing > 0) {
        o->unsearched = options->dividing;
        return SX_OK;
    }
    const sx_interrupt halt = {sx_optimal_over, o->run};
    sx_status status = sx_spatial_mappings_list(o->choices, o->space, false, o->arrays, INFINITY,
                                                sx_run_wants_proof(o->run) ? NULL : &halt, &o->spatials);
    o->start.spatials = status ? o->arrays + 1 : o->spatials.n;
    if (!status || status->code != SX_ERR_LIMIT || sx_run_wants_proof(o->run)) return status;
    sx_status_free(status);
    o->unsearched = -INFINITY;
    return SX_OK;
}

/* Makes the tables of the bounds. */
static sx_status make_tables(sx_optimal *o) {
    const sx_map_space *space = o->space;
    uint8_t may[SX_MAX_LEVELS] = {0};
    for (int s = 0; s < space->arch->n_levels; s++) may[s] = space->free_keep[s] | space->banked[s];
    if (o->spatials.n > 0)
        SX_TRY(sx_bound_survey(o->bound, space->fixed_keep, may, &(sx_interrupt){sx_optimal_over, o->run}));
    if (space->options.remainders)
        SX_TRY(sx_imperfect_tiles_new(space->model, space->fixed_keep, may, o->most / TILE_STEPS,
                                      &(sx_interrupt){sx_optimal_over, o->run}, &o->tiles));
    return sx_bound_quicken(o->bound);
}

/* Makes what no list or table is needed for; refuses what is too large. */
static sx_status make_rule(sx_optimal *o, sx_run *run) {
    const sx_map_space *space = o->space = sx_map_space_of(sx_run_space(run));
    const sx_objective *objective = sx_run_objective(run);
    int bits = 0;
    o->run = run;
    if (space->model->range && sx_run_pareto(run))
        return sx_error_hint(
            sx_error_new(SX_ERR_LIMIT,
                         "energies and cycles over several densities have no bounds of their own"),
            "search one density, or use another mapper");
    for (int s = 0; s < space->arch->n_levels; s++)
        bits += __builtin_popcount((unsigned)space->free_keep[s] | space->banked[s]);
    if (bits > MOST_CHOICES)
        return sx_error_hint(
            sx_error_new(SX_ERR_LIMIT, "2^%d ways to keep and bypass tensors are too many", bits),
            "constrain what levels keep, or use another mapper");
    o->most = sx_run_setting(run, EFFORT) * 1e6;
    o->rule = (sx_prune_rule){.objective = objective,
                              .goal = sx_run_goal(run),
                              .gap = sx_run_setting(run, GAP),
                              .ceiling = space->options.ceiling,
                              .k = objective->n_criteria == 1 ? sx_run_k_best(run) : 1,
                              .front = sx_run_pareto(run),
                              .tables = sx_run_setting(run, TABLES) > 0};
    o->arrays = (size_t)sx_run_setting(run, ARRAYS);
    for (int i = 0; i < objective->n_criteria; i++)
        o->rule.latency |= objective->criterion[i].kind == SX_LATENCY;
    if (!sx_run_wants_proof(run)) SX_TRY(sx_optimal_find_root(o));
    SX_TRY(sx_map_choices_new(space, &o->choices));
    o->start = (sx_heuristics){.run = run,
                               .space = space,
                               .choices = o->choices,
                               .sunstone = (uint64_t)sx_run_setting(run, SUNSTONE),
                               .gamma = (uint64_t)sx_run_setting(run, GAMMA),
                               .walks = (uint64_t)sx_run_setting(run, DESCENTS),
                               .moves = (uint64_t)sx_run_setting(run, MOVES)};
    return sx_optimal_state_begin(o);
}

/* Makes the bounds of the latency. */
static sx_status bound_latency(sx_optimal *o) {
    const sx_map_space *space = o->space;
    uint32_t most[SX_MAX_LEVELS][SX_MAX_DIMS];
    sx_optimal_find_most(space, most);
    return sx_latency_bound_new(o->bound, space->fixed_keep, most, &o->latency);
}

/* Lists the spatial mappings, and makes what bounds and visits work with. */
static sx_status make_plan(sx_optimal *o) {
    SX_TRY(sx_bound_new(o->space->model, &o->space->constraints, MOST_POINTS, &o->bound));
    if (o->rule.latency && o->space->model->law) SX_TRY(bound_latency(o));
    SX_TRY(list_spatials(o));
    if (o->s->listed == SX_LISTED_REMAINDERS) SX_TRY(sx_optimal_list_remainders(o));
    if (o->spatials.halted || o->imperfect.halted) return SX_OK;
    SX_TRY(sx_optimal_prepare(o));
    return sx_optimal_state_complete(o);
}

static void free_plan(sx_optimal *o) {
    sx_optimal_finish(o);
    sx_spatial_mappings_fini(&o->spatials);
    sx_spatial_mappings_fini(&o->imperfect);
    sx_bound_free(o->bound);
    sx_latency_bound_free(o->latency);
    sx_imperfect_tiles_free(o->tiles);
    sx_map_choices_free(o->choices);
    pthread_mutex_destroy(&o->lock);
    free(o);
}

/* Evaluates the optima of several criteria one after another, so that the run's incumbent becomes the last of
 * them: the first drives out all that is beyond its tolerance, each other one is better than those before. */
static void evaluate_optima(const sx_optimal *o) {
    size_t size = o->space->space.point_size;
    sx_outcome outcome;
    for (int i = 0; i < o->rule.objective->n_criteria; i++)
        sx_run_evaluate(o->run, o->point + (size_t)i * size, 1, &outcome);
}

/* Searches for one criterion after another. */
static sx_status search_criteria(sx_optimal *o) {
    const uint64_t n = o->rule.objective->n_criteria;
    bool all = true,
         exact = o->rule.gap == 0 && o->rule.ceiling == 0 && (n == 1 || sx_run_k_best(o->run) == 1);
    while (o->s->criterion < n) {
        SX_TRY(sx_optimal_search(o, &all));
        if (!all) return SX_OK;
        if (n > 1 && !(o->s->found >> o->s->criterion & 1)) return SX_OK;
        o->s->criterion++;
        o->s->listed = SX_LISTED_NONE;
        o->unlisted = o->space->options.remainders;
    }
    if (n > 1) evaluate_optima(o);
    if (exact && !sx_run_stopped(o->run)) sx_run_optimal(o->run);
    return SX_OK;
}

/* Says how the spatial mappings were closed: those whose bound by tables is below what is proven were
 * searched up to there. With a front, bounds are of what the front left: all were searched. */
static sx_status prove_closed(sx_optimal *o) {
    size_t n = o->spatials.n;
    sx_run_summary summary = sx_run_result(o->run);
    double least = summary.optimal ? o->known.best : summary.lower_bound;
    sx_search_node *node = malloc((n + 1) * sizeof *node);
    double *compulsory = malloc((n + 1) * sizeof *compulsory), *bound = malloc((n + 1) * sizeof *bound);
    uint8_t *visits = calloc(n + 1, 1);
    sx_status status = node && compulsory && bound && visits ? sx_optimal_bounds(o, node) : sx_error_memory();
    for (size_t i = 0; i < n && !status; i++) {
        compulsory[i] = node[i].bound;
        bound[i] = o->rule.front ? 0 : o->sharp[i];
        visits[i] = o->rule.front || (o->searched[i] && bound[i] < least) ? SX_SEARCHED : 0;
    }
    if (!status) status = sx_spatial_mappings_prove(o->run, &o->spatials, compulsory, bound, visits);
    free(node);
    free(bound);
    free(compulsory);
    free(visits);
    return status;
}

/* Finds an answer before anything is listed, where time is short and the list is long. */
static sx_status hurry_start(sx_optimal *o) {
    sx_spatial_mappings some;
    if (!sx_run_hurried(o->run)) return SX_OK;
    sx_status status =
        sx_spatial_mappings_list(o->choices, o->space, false, MANY_SPATIALS, INFINITY, NULL, &some);
    sx_spatial_mappings_fini(&some);
    if (!status || status->code != SX_ERR_LIMIT) return status;
    sx_status_free(status);
    return sx_heuristics_hurry(&o->start);
}

/* Searches beside the proof first, where time is short before anything is listed, then by it. Where already
 * the first bounds take more than the effort there is no proof; a small effort is for these bounds alone. */
static sx_status search_all(sx_optimal *o) {
    if (o->s->begun.stage == SX_OPTIMAL_STARTS && sx_optimal_at_root(o)) return SX_OK;
    SX_TRY(hurry_start(o));
    SX_TRY(make_plan(o));
    if (o->spatials.halted || o->imperfect.halted) {
        sx_run_continue(o->run); /* notes why the run is over */
        return SX_OK;
    }
    o->start.listing = sx_optimal_list_steps(o);
    o->start.likely = sx_run_time(o->run) > 0 ? sx_optimal_likely_steps(o) : o->start.listing;
    SX_TRY(sx_heuristics_first(&o->start, &o->s->begun));
    if (o->s->begun.stage == SX_OPTIMAL_LISTING && !o->s->listed && sx_optimal_at_root(o)) return SX_OK;
    SX_TRY(make_tables(o));
    if (o->most >= SX_OPTIMAL_LARGE && (double)o->start.listing > o->most)
        return sx_heuristics_share(&o->start, &o->s->begun, SX_ANY_STEPS);
    if (o->s->criterion == 0) {
        SX_TRY(sx_optimal_begin(o));
        sx_optimal_report_bound(o);
    }
    SX_TRY(search_criteria(o));
    if (!sx_run_wants_proof(o->run)) return SX_OK;
    if (o->space->options.remainders) return sx_criteria_prove(o->run, 0);
    return o->rule.objective->n_criteria > 1 ? sx_criteria_prove(o->run, o->spatials.n) : prove_closed(o);
}

static sx_status search_by_optimal(sx_run *run) {
    sx_optimal *o = calloc(1, sizeof *o);
    if (!o || pthread_mutex_init(&o->lock, NULL) != 0) {
        free(o);
        return sx_error_memory();
    }
    sx_status status = make_rule(o, run);
    if (!status) status = search_all(o);
    free_plan(o);
    return status;
}

SX_NAVIGATOR(optimal) = {
    .space = "map",
    .model = "map",
    .complete = true,
    .proves = true,
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_optimal,
};
