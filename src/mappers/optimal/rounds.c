/* Rounds of the mapper `optimal`: the most promising open parts are taken out of the heap and visited, each
 * as a task; what they leave is put back.
 *
 * A task knows what was known when the round began, and what it finds itself. Tasks do not learn from each
 * other meanwhile, as that would make results depend on who is faster; so rounds are short. */
#include "mappers/optimal/rounds.h"

#include "base/clock.h"
#include "base/status.h"
#include "base/vector.h"
#include "mappers/optimal/root.h"
#include "mappers/optimal/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEARCHES = 16, /* of a round */
    FEWEST = 4,    /* visits of a round that a clock limits, for as many threads */
    VISITS = 4096, /* of a round, at most */
    FIRST_EFFORT = 20000,
    CHUNK = 512, /* spatial mappings of a task */
    POLL = 64,   /* of them between two reads of the clock */
    MOST_VISITS = 30,
    LISTING_TURNS = 8,     /* visits after each of which the list of a node's tiles may take twice as long */
    ROUND_STEPS = 1000000, /* of a round, about, where it has more visits than searches */
    SPATIAL_STEPS = 400,   /* that bounding a spatial mapping counts for, */
    IMPERFECT_STEPS = 100, /* and one with remainders, */
    LEAST_LISTED = 32768,  /* how many of them are bounded whatever the effort */
    SAMPLED = 16384        /* spatial mappings that say how many of all are likely to stay open, at most */
};

static const double REMAINDERS_SHARE = 0.125; /* of the effort, for remainders */
static const double EVALUATION_STEPS = 1e4;   /* for remainders, for each evaluation that is allowed, */
static const double LIMITED_STEPS = 1e3;      /* and where the effort is limited, too */
static const double NEAR = 1.5;               /* a good mapping's value over the least of all */
static const double ROUND_SHARE = 0.05;       /* of the time, where it is limited */
static const double NEARLY = 0.005,
                    LONGER = 8; /* a brief search with that gap has so many times its effort */

static void free_workspace(sx_workspace *w) {
    sx_descent_free(w->descent);
    sx_remainder_search_free(w->remainder_search);
    sx_cutoff_fini(&w->cutoff);
    free(w->left.at);
}

/* An unused workspace, or a new one. */
static sx_status take_workspace(sx_optimal *o, sx_workspace *out) {
    pthread_mutex_lock(&o->lock);
    bool idle = o->n_idle > 0;
    if (idle) *out = o->idle[--o->n_idle];
    pthread_mutex_unlock(&o->lock);
    if (idle) return SX_OK;
    sx_workspace w = {0};
    sx_status status = sx_descent_new(o->bound, o->latency, o->choices, o->space, &w.descent);
    if (!status && o->space->options.remainders)
        status = sx_remainder_search_new(o->choices, o->space, o->tiles, &w.remainder_search);
    if (status)
        free_workspace(&w);
    else
        *out = w;
    return status;
}

static void give_workspace(sx_optimal *o, sx_workspace *w) {
    pthread_mutex_lock(&o->lock);
    bool kept = sx_reserve(&o->idle, &o->idle_room, o->n_idle + 1, sizeof *o->idle);
    if (kept) o->idle[o->n_idle++] = *w;
    pthread_mutex_unlock(&o->lock);
    if (!kept) free_workspace(w);
}

sx_status sx_optimal_prepare(sx_optimal *o) {
    o->picked = calloc(VISITS, sizeof *o->picked);
    o->result = calloc(VISITS, sizeof *o->result);
    return o->picked && o->result ? SX_OK : sx_error_memory();
}

void sx_optimal_finish(sx_optimal *o) {
    for (size_t i = 0; i < o->n_idle; i++) free_workspace(&o->idle[i]);
    sx_cutoff_fini(&o->known);
    free(o->idle);
    free(o->picked);
    free(o->result);
}

/* Makes nodes of spatial mappings number 0..n-1, of which no more is known than the bound of others. */
static void begin_nodes(sx_search_node *node, size_t n, bool imperfect, const sx_search_node *known) {
    for (size_t i = 0; i < n; i++)
        node[i] = (sx_search_node){.bound = known ? known->bound : -INFINITY,
                                   .energy = known ? known->energy : 0,
                                   .cycles = known ? known->cycles : 0,
                                   .from = -INFINITY,
                                   .spatial = (uint32_t)i,
                                   .keep = SX_ANY_KEEP,
                                   .parts = 1,
                                   .visits = imperfect,
                                   .imperfect = imperfect};
}

/* A list of nodes of spatial mappings that tasks bound. */
typedef struct listing {
    sx_optimal *o;
    sx_search_node *node;
    size_t n;
    bool imperfect;
} listing;

/* Bounds some of them, each by itself. */
static void bound_some(const listing *l, sx_workspace *w, sx_search_node *node, size_t n) {
    if (l->imperfect)
        sx_remainder_search_bounds(w->remainder_search, &l->o->imperfect, &l->o->rule, node, n);
    else
        sx_descent_bounds(w->descent, &l->o->spatials, &l->o->rule, node, n);
}

/* A task: a chunk of them, which is its output. */
static sx_status run_spatials(const void *input, size_t task, sx_worker *worker, void *output) {
    const listing *l = input;
    sx_search_node *node = output;
    sx_workspace w;
    SX_TRY(take_workspace(l->o, &w));
    size_t n = l->n - task * CHUNK < CHUNK ? l->n - task * CHUNK : CHUNK;
    for (size_t i = 0; i < n && sx_worker_goes_on(worker); i += POLL)
        bound_some(l, &w, node + i, n - i < POLL ? n - i : POLL);
    give_workspace(l->o, &w);
    return SX_OK;
}

sx_status sx_optimal_bounds(sx_optimal *o, sx_search_node *node) {
    listing l = {o, node, o->spatials.n, false};
    sx_workspace w;
    SX_TRY(take_workspace(o, &w));
    begin_nodes(node, l.n, false, NULL);
    bound_some(&l, &w, node, l.n);
    give_workspace(o, &w);
    return SX_OK;
}

/* The least value of all mappings; -INFINITY where the compulsory minimum is not used. */
static double root_value(const sx_optimal *o) {
    return o->root.cycles > 0 ? fmax(sx_prune_rule_value(&o->rule, &o->root), o->least_spread) : -INFINITY;
}

/* Whether something of that least value, energy and cycles is open, given those of the whole space. */
static bool is_open_at(const sx_optimal *o, double value, double energy, double cycles) {
    return sx_cutoff_admits(&o->known, fmax(value, root_value(o)), fmax(energy, o->root.energy_pj),
                            fmax(cycles, o->root.cycles));
}

static bool is_open(const sx_optimal *o, const sx_search_node *node) {
    return is_open_at(o, node->bound, node->energy, node->cycles);
}

/* Whether points that stand for criteria are remembered. */
static bool keeps_points(const sx_optimal *o) {
    return o->rule.objective->n_criteria > 1;
}

/* Remembers the best point of a cutoff for the current criterion. */
static void keep_best(sx_optimal *o, const sx_cutoff *cutoff) {
    if (!keeps_points(o) || cutoff->kept.n == 0) return;
    sx_score score = sx_metrics_score(&cutoff->kept.kept[0].metrics);
    sx_optimal_keep(o, cutoff->kept.kept[0].value, &score, sx_archive_point(&cutoff->kept, 0));
}

/* Reads what is known for the current criterion, with the best point so far of its own. */
static void read_known(sx_optimal *o) {
    const sx_optimal_state *s = o->s;
    sx_cutoff_read(&o->known, &o->rule, o->run);
    if (s->found >> s->criterion & 1)
        sx_cutoff_update(&o->known, &s->score[s->criterion],
                         o->point + s->criterion * o->space->space.point_size);
    keep_best(o, &o->known);
    if (o->known.failed) o->failed = true;
}

/* Bounds a spatial mapping whose factors divide by the compute units that it uses, the compulsory energy, and what it takes
 * to hand them their operands. */
static void bound_by_units(const sx_optimal *o, sx_search_node *node) {
    const int n_dims = o->space->problem->n_dims, n_levels = o->space->arch->n_levels;
    const uint32_t *factor = o->spatials.factor + (size_t)node->spatial * (size_t)(n_dims * n_levels);
    double spread[SX_MAX_DIMS];
    for (int d = 0; d < n_dims; d++) {
        spread[d] = 1;
        for (int s = 0; s < n_levels; s++) spread[d] *= factor[s * n_dims + d];
    }
    const sx_score least = sx_optimal_spread_score(o, spread);
    node->bound = sx_prune_rule_value(&o->rule, &least);
    node->energy = least.energy_pj;
    node->cycles = least.cycles;
}

/* Moves the spatial mappings that the cutoff admits by their compute units to the front of a list of all whose factors
 * divide, where the compulsory minimum is used; returns how many. */
static size_t keep_open(sx_optimal *o, sx_search_node *node) {
    size_t open = 0;
    if (!(o->root.cycles > 0)) return o->spatials.n;
    read_known(o);
    for (size_t i = 0; i < o->spatials.n; i++) {
        sx_search_node one = node[i];
        bound_by_units(o, &one);
        if (is_open(o, &one)) node[open++] = one;
    }
    return open;
}

/* Puts spatial mappings of one kind into the heap, bounded as far as the run lets it. */
static sx_status list_nodes(sx_optimal *o, bool imperfect) {
    size_t n = imperfect ? o->imperfect.n : o->spatials.n;
    listing l = {o, malloc((n / CHUNK + 1) * CHUNK * sizeof *l.node), n, imperfect};
    if (!l.node) return sx_error_memory();
    begin_nodes(l.node, n, imperfect, imperfect ? &o->outside : NULL);
    if (!imperfect) {
        for (size_t i = 0; i < n; i++) o->sharp[i] = INFINITY;
        memset(o->searched, 0, n);
        l.n = n = keep_open(o, l.node);
    }
    memset(l.node + n, 0, (CHUNK - n % CHUNK) * sizeof *l.node);
    sx_run_tasks(o->run, (n + CHUNK - 1) / CHUNK, run_spatials, &l, l.node, CHUNK * sizeof *l.node);
    bool good = !o->failed;
    for (size_t i = 0; i < n && good; i++) {
        if (!imperfect) o->sharp[l.node[i].spatial] = l.node[i].bound;
        if (l.node[i].bound < INFINITY) good = sx_optimal_push(o, &l.node[i]);
    }
    free(l.node);
    return good ? SX_OK : sx_error_memory();
}

uint64_t sx_optimal_list_steps(const sx_optimal *o) {
    return o->spatials.n * (uint64_t)SPATIAL_STEPS;
}

uint64_t sx_optimal_likely_steps(const sx_optimal *o) {
    const double limit = NEAR * root_value(o);
    const size_t each = o->spatials.n / SAMPLED + 1;
    uint64_t n = 0;
    if (!(o->root.cycles > 0) || !(limit > 0)) return sx_optimal_list_steps(o);
    for (size_t i = 0; i < o->spatials.n; i += each) {
        sx_search_node node = {.spatial = (uint32_t)i};
        bound_by_units(o, &node);
        n += node.bound <= limit;
    }
    return n * each * SPATIAL_STEPS;
}

/* The effort for remainders, in steps; 0: any. They take more bounds than evaluations: a limit of these limits the
 * steps, too. */
static double remainders_effort(const sx_optimal *o) {
    const uint64_t left = sx_run_left(o->run);
    if (left == UINT64_MAX) return o->most * REMAINDERS_SHARE;
    const double allowed = (double)(left + sx_run_result(o->run).evaluations);
    return o->most > 0 ? fmin(o->most * REMAINDERS_SHARE, allowed * LIMITED_STEPS)
                       : allowed * EVALUATION_STEPS;
}

/* The effort of what is searched now, in steps; 0: any. */
static double effort_of(const sx_optimal *o) {
    return o->s->listed == SX_LISTED_REMAINDERS ? remainders_effort(o) : o->most;
}

bool sx_optimal_over(void *run) {
    return sx_run_stopped(run);
}

sx_status sx_optimal_list_remainders(sx_optimal *o) {
    size_t fit = (size_t)fmax(remainders_effort(o) / IMPERFECT_STEPS, LEAST_LISTED);
    size_t most = o->most > 0 && fit < o->arrays ? fit : o->arrays;
    sx_spatial_mappings_fini(&o->imperfect);
    sx_status status = sx_spatial_mappings_list(o->choices, o->space, true, most, o->s->longest,
                                                &(sx_interrupt){sx_optimal_over, o->run}, &o->imperfect);
    o->unlisted = o->imperfect.halted || (status && status->code == SX_ERR_LIMIT);
    if (!o->unlisted) return status;
    sx_status_free(status);
    return SX_OK;
}

/* Bounds mappings with remainders, all at once. */
static sx_status bound_outside(sx_optimal *o) {
    sx_workspace w;
    SX_TRY(take_workspace(o, &w));
    begin_nodes(&o->outside, 1, true, NULL);
    sx_remainder_search_bound_all(w.remainder_search, &o->rule, &o->outside);
    give_workspace(o, &w);
    return SX_OK;
}

sx_status sx_optimal_begin(sx_optimal *o) {
    sx_optimal_state *s = o->s;
    o->rule.criterion = (int)s->criterion;
    memcpy(o->rule.least, s->least, sizeof o->rule.least);
    if (o->space->options.remainders) SX_TRY(bound_outside(o));
    if (s->listed) return SX_OK;
    s->n_nodes = 0;
    SX_TRY(list_nodes(o, false));
    o->s->steps += sx_optimal_list_steps(o);
    o->s->listed = SX_LISTED_DIVIDING;
    return SX_OK;
}

/* The least bound of mappings whose factors divide and that are not in the heap; INFINITY: none, or all closed. */
static double least_aside(const sx_optimal *o) {
    double least = o->unsearched;
    if (o->s->listed == SX_LISTED_REMAINDERS) least = fmin(least, o->s->aside);
    return least < INFINITY && is_open_at(o, least, 0, 0) ? least : INFINITY;
}

/* The least bound in the heap of what is open; INFINITY where nothing is. */
static double least_in_heap(const sx_optimal *o) {
    double least = INFINITY;
    for (size_t i = 0; i < o->s->n_nodes; i++)
        if (is_open(o, &o->heap[i])) least = fmin(least, o->heap[i].bound);
    return least;
}

/* The least bound of all that is open; INFINITY where nothing is. */
static double least_open(const sx_optimal *o) {
    double least = o->unlisted && is_open(o, &o->outside) ? o->outside.bound : INFINITY;
    least = fmin(least, fmin(least_in_heap(o), least_aside(o)));
    return fmax(least, root_value(o));
}

/* The iterations of the first compute unit beyond which no mapping with remainders is open, whatever its energy; INFINITY:
 * any number may be. */
static double longest_open(const sx_optimal *o) {
    const sx_model *model = o->space->model;
    const double energy = fmax(o->outside.energy, o->root.energy_pj);
    const bool product = o->rule.objective->criterion[o->rule.criterion].kind == SX_PRODUCT;
    double open = 0, closed = 0x1p60;
    if (model->sparse || model->range || model->formats || !product || o->rule.criterion > 0 ||
        !sx_prune_rule_monotone(&o->rule, 0))
        return INFINITY;
    for (int i = 0; i < 100; i++) {
        const double middle = i == 0 ? closed : open + (closed - open) / 2;
        const sx_score score = {.energy_pj = energy, .cycles = middle * model->least_steps};
        if (!is_open_at(o, sx_prune_rule_value(&o->rule, &score), energy, score.cycles))
            closed = middle;
        else if (i == 0)
            return INFINITY;
        else
            open = middle;
    }
    return closed;
}

/* Puts the spatial mappings with remainders into the heap, in place of what is left of others; where the run is over before
 * they are listed nothing changes. */
static sx_status begin_remainders(sx_optimal *o) {
    double aside = least_in_heap(o);
    o->s->longest = longest_open(o);
    SX_TRY(sx_optimal_list_remainders(o));
    if (o->imperfect.halted) return SX_OK;
    o->s->n_nodes = 0;
    SX_TRY(list_nodes(o, true));
    o->s->steps += o->imperfect.n * (uint64_t)IMPERFECT_STEPS;
    o->s->aside = aside;
    o->s->began = o->s->steps;
    o->s->listed = SX_LISTED_REMAINDERS;
    return SX_OK;
}

void sx_optimal_report_bound(sx_optimal *o) {
    const sx_archive *best = &o->known.kept;
    read_known(o);
    if (o->rule.criterion > 0 || !sx_prune_rule_monotone(&o->rule, 0)) return;
    double least = fmin(least_open(o), o->known.limit);
    if (best->n > 0) least = fmin(least, best->kept[0].value);
    if (least > 0 && least < INFINITY) sx_run_bound(o->run, least * (1 - 1e-12));
}

/* Drops nodes that the cutoff does not admit from the top of the heap; false where nothing is left there. */
static bool drop_closed(sx_optimal *o) {
    sx_optimal_state *s = o->s;
    while (s->n_nodes > 0 && !is_open(o, o->heap)) sx_heap_pop(o->heap, s->n_nodes--);
    return s->n_nodes > 0;
}

/* The visits of the next round, at most. Where time is limited a round has a small share of it. */
static size_t round_visits(const sx_optimal *o) {
    const sx_optimal_state *s = o->s;
    double seconds = sx_run_time(o->run);
    size_t most = s->n_nodes / 256;
    if (s->pace > 0 && most > ROUND_STEPS / s->pace) most = ROUND_STEPS / s->pace;
    most = s->pace == 0 || most < SEARCHES || o->rule.k > 1 ? SEARCHES : most > VISITS ? VISITS : most;
    if (seconds <= 0) return most;
    double fit = o->visit_seconds > 0 ? seconds * ROUND_SHARE / o->visit_seconds : 0;
    return fit < FEWEST ? FEWEST : fit < (double)most ? (size_t)fit : most;
}

/* Takes the most promising nodes out of the heap; returns how many. */
static size_t pick_nodes(sx_optimal *o) {
    sx_optimal_state *s = o->s;
    size_t most = round_visits(o), searches = 0, n = 0;
    while (s->n_nodes > 0 && n < most && searches < SEARCHES) {
        sx_heap_pop(o->heap, s->n_nodes);
        const sx_search_node *node = &o->heap[--s->n_nodes];
        if (!is_open(o, node)) continue;
        o->picked[n++] = *node;
        searches += node->imperfect ? node->visits > 1 : node->visits > 0 && node->keep != SX_ANY_KEEP;
    }
    return n;
}

/* Hands back what a visit came to. */
static void hand_back(const sx_optimal *o, const sx_node_visit *visit, sx_visit_end end,
                      sx_visit_result *out) {
    const sx_archive *kept = &visit->cutoff->kept;
    *out = (sx_visit_result){.end = end, .illegal = visit->illegal, .steps = visit->steps};
    sx_worker_append(visit->worker, visit->left.at, visit->left.n * sizeof *visit->left.at);
    if (!visit->cutoff->found || !keeps_points(o)) return;
    out->found = true;
    out->value = kept->kept[0].value;
    out->score = sx_metrics_score(&kept->kept[0].metrics);
    sx_worker_append(visit->worker, sx_archive_point(kept, 0), kept->point_size);
}

/* The steps that the list of tiles of a node may take in a visit; 0: any. More of them each time, so that it is complete
 * in the end. Where little is asked for, a round takes no more than the effort. */
static uint64_t listing_steps(const sx_optimal *o, unsigned visits) {
    const bool little = o->space->options.brief > 0 || sx_run_left(o->run) < UINT64_MAX;
    const double effort = effort_of(o) / (little ? SEARCHES : 1);
    const unsigned turn = visits > 1 ? visits - 1 : 0;
    return effort > 0 ? (uint64_t)(effort + 1) << (turn < LISTING_TURNS ? turn : LISTING_TURNS) : 0;
}

/* A task: a visit to a node. */
static sx_status run_visit(const void *input, size_t task, sx_worker *worker, void *output) {
    sx_optimal *o = *(sx_optimal *const *)input;
    sx_node_visit visit = {.node = o->picked[task], .worker = worker};
    sx_visit_end end = SX_VISIT_STOPPED;
    sx_workspace w;
    SX_TRY(take_workspace(o, &w));
    sx_cutoff_copy(&w.cutoff, &o->known);
    visit.spatials = visit.node.imperfect ? &o->imperfect : &o->spatials;
    visit.cutoff = &w.cutoff;
    visit.left = w.left;
    unsigned visits = visit.node.visits < MOST_VISITS ? visit.node.visits : MOST_VISITS;
    bool sharpens = visits == 0 || visit.node.keep == SX_ANY_KEEP;
    visit.effort = (uint64_t)FIRST_EFFORT << visits;
    visit.listing = listing_steps(o, visits);
    if (!w.cutoff.failed)
        end = visit.node.imperfect ? sx_remainder_search_visit(w.remainder_search, &visit)
              : sharpens           ? sx_descent_sharpen(w.descent, &visit)
                                   : sx_descent_search(w.descent, &visit);
    bool failed = w.cutoff.failed;
    if (!failed) hand_back(o, &visit, end, output);
    w.left = visit.left;
    give_workspace(o, &w);
    return failed ? sx_error_memory() : SX_OK;
}

/* Takes over what a visit left; false when memory is out. */
static bool learn_visit(sx_optimal *o, size_t task) {
    const sx_visit_result *result = &o->result[task];
    const sx_search_node *node = &o->picked[task];
    size_t size;
    const sx_search_node *left = sx_run_appended(o->run, task, &size);
    size_t n = (size - (result->found ? o->space->space.point_size : 0)) / sizeof *left;
    bool good = true;
    o->s->steps += result->steps;
    if (!node->imperfect && (node->visits > 0 || result->illegal)) o->searched[node->spatial] = 1;
    if (!node->imperfect && node->visits == 0 && node->keep == SX_ANY_KEEP && !result->illegal)
        o->sharp[node->spatial] = n > 0 ? left[0].bound : INFINITY;
    for (size_t k = 0; k < n; k++) good = good && sx_optimal_push(o, &left[k]);
    if (result->found) sx_optimal_keep(o, result->value, &result->score, left + n);
    return good;
}

/* One round; nodes whose visit did not complete are put back unchanged. */
static sx_status do_round(sx_optimal *o) {
    size_t n = pick_nodes(o);
    uint64_t before = o->s->steps;
    double began = sx_clock_seconds();
    bool good = true;
    for (size_t i = 0; i < n; i++) o->result[i].end = SX_VISIT_STOPPED;
    sx_run_tasks(o->run, n, run_visit, &o, o->result, sizeof *o->result);
    if (o->failed) return sx_error_memory();
    bool stopped = sx_run_stopped(o->run);
    for (size_t i = 0; i < n; i++) {
        bool done = !stopped && o->result[i].end != SX_VISIT_STOPPED;
        good = good && (done ? learn_visit(o, i) : sx_optimal_push(o, &o->picked[i]));
    }
    if (n > 0 && !stopped) o->s->pace = (o->s->steps - before) / n + 1;
    if (n > 0) o->visit_seconds = (sx_clock_seconds() - began) / (double)n;
    return good ? SX_OK : sx_error_memory();
}

/* Whether a brief search has nearly closed what is open: it goes on for some time then. */
static bool is_nearly_closed(const sx_optimal *o) {
    return o->space->options.brief > 0 && o->known.limit < INFINITY &&
           least_open(o) * (1 + NEARLY) >= o->known.limit;
}

/* Whether the effort is spent; a small one is for what comes after the first bounds. */
static bool is_spent(const sx_optimal *o) {
    uint64_t steps = o->s->steps, first = o->most < SX_OPTIMAL_LARGE ? sx_optimal_list_steps(o) : 0;
    if (o->s->listed == SX_LISTED_REMAINDERS) first = o->s->began;
    const double effort = effort_of(o), spent = (double)(steps > first ? steps - first : 0);
    return effort > 0 && spent >= effort && (spent >= LONGER * effort || !is_nearly_closed(o));
}

/* Whether remainders are due: half of what the run may take is spent. */
static bool is_half_spent(const sx_optimal *o) {
    double time = sx_run_time(o->run);
    if (!o->space->options.remainders || o->s->listed == SX_LISTED_REMAINDERS) return false;
    return (time > 0 && sx_run_seconds(o->run) > time / 2) ||
           sx_run_left(o->run) < sx_run_result(o->run).evaluations;
}

/* Visits what is in the heap, as far as effort and run allow. */
static sx_status search_heap(sx_optimal *o) {
    for (;;) {
        SX_TRY(sx_heuristics_share(&o->start, &o->s->begun, o->s->steps));
        sx_optimal_report_bound(o);
        if (o->failed) return sx_error_memory();
        if (!drop_closed(o) || !sx_run_continue(o->run) || is_spent(o) || is_half_spent(o)) return SX_OK;
        SX_TRY(do_round(o));
    }
}

/* Whether nothing is left that the cutoff admits. */
static bool is_all_closed(sx_optimal *o) {
    return !drop_closed(o) && !(o->unlisted && is_open(o, &o->outside)) && least_aside(o) == INFINITY;
}

sx_status sx_optimal_search(sx_optimal *o, bool *all) {
    *all = false;
    SX_TRY(sx_optimal_begin(o));
    SX_TRY(search_heap(o));
    if (o->unlisted && is_open(o, &o->outside) && o->s->listed != SX_LISTED_REMAINDERS &&
        sx_run_continue(o->run)) {
        SX_TRY(begin_remainders(o));
        if (o->imperfect.halted) return SX_OK;
        SX_TRY(search_heap(o));
    }
    *all = is_all_closed(o);
    if (*all || !sx_run_continue(o->run)) return SX_OK;
    SX_TRY(sx_heuristics_share(&o->start, &o->s->begun, SX_ANY_STEPS));
    sx_optimal_report_bound(o);
    *all = !o->failed && is_all_closed(o);
    return o->failed ? sx_error_memory() : SX_OK;
}

bool sx_optimal_at_root(sx_optimal *o) {
    if (o->rule.objective->n_criteria > 1 || !sx_prune_rule_monotone(&o->rule, 0)) return false;
    double best, root = root_value(o) * (1 - 1e-12);
    if (root > 0) sx_run_bound(o->run, root);
    if (o->rule.k > 1 || o->rule.front) return false;
    sx_run_incumbent(o->run, &best);
    bool closed = root > 0 && root >= sx_prune_rule_cutoff(&o->rule, best);
    if (closed && o->rule.gap == 0 && o->rule.ceiling == 0) sx_run_optimal(o->run);
    return closed;
}
