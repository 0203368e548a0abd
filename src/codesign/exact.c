/* The best design, proven; and the same within a budget.
 *
 * Source: our own. A branch and bound over designs on top of the mapper `optimal`, which says of a layer on a
 * design what no mapping of it can cost less than, also where it is stopped before it has proven its answer.
 *
 * First every design gets a quick answer and a quick bound: those of Sunstone, and of `optimal` after 1000
 * evaluations of Gamma and one round. The one of the best answer is closed first, then designs are taken in
 * the order of their bounds. One whose bound is not below the best value so far is cut; so is one that
 * another with such a bound covers: no memory smaller, no access dearer, all else equal (every mapping runs
 * there too, and costs no more). Of a design that is left every layer is searched by `optimal`, beginning
 * with the quick answer. Bounds of layers add up, so that a design may be cut before all of them are
 * searched. What a layer may cost at most for its design to matter is known; where its quick answer costs
 * more, `optimal` is told to end within that gap of its own best, which cuts the design without finding its
 * optimum.
 *
 * The least bound of all designs is a bound of everything. With a budget that is too small for `optimal` to
 * prove its answers it may lie below the best; nothing is claimed then but the gap.
 *
 * The method `auto` limits the steps of each of these searches, so that one answers in seconds and the result
 * depends on nothing but the input. Designs are taken in the same order, until PATIENCE designs in a row were
 * no better than the best. Then the limit is raised and all is done again for what is still open, the best
 * design included, until all is proven or the steps of the whole are spent. Spaces with fewer mappings than a
 * proof may take steps are enumerated where the proof fails. What is not proven is not claimed: the result
 * has a lower bound, and a design that has only its quick answer is marked.
 *
 * Complexity: exponential at worst, as `optimal`; `auto` linear in designs and layers. */
#include "codesign/search.h"

#include "base/status.h"
#include "run/uphold.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bounds are sums of doubles: what is better by less than this share does not count as better. */
static const double SLACK = 1e-11;

enum { MOST_SEARCHES = 100000, MOST_TRIES = 3, MOST_GAP = 10 };

/* Of `auto`: designs and layers that it looks at; designs in a row that are not better; steps of a proof that
 * take the time of an evaluation. Million steps: of a proof at first, how many times more the next time, and
 * of all proofs together. */
enum { MOST_LOOKS = 4000, PATIENCE = 8, STEPS_PER_MAPPING = 10, QUICK_SHARES = 4 };
static const double FIRST_EFFORT = 0.4, MORE_EFFORT = 4, ALL_EFFORT = 20;

/* What is known of a target on a design. */
typedef struct known {
    bool found, closed;
    double bound; /* no mapping costs less; INFINITY: there is none */
    sx_codesign_layer best;
} known;

typedef struct proof {
    sx_codesign *c;
    double effort;   /* million steps of a proof; 0: any number */
    double spent;    /* of all of them, about: one that completed counts for a tenth */
    uint32_t filled; /* levels that constraints want to be in use to some share */
    known *known;    /* per design and target */
    size_t *rank;    /* designs in the order in which they are searched */
    bool *searched;  /* per design: beyond its quick answer */
} proof;

static known *known_of(const proof *p, size_t design) {
    return p->known + design * p->c->n_targets;
}

/* A lower bound of a design's value. */
static double bound_of(const proof *p, size_t design) {
    double bound = 0;
    for (size_t t = 0; t < p->c->n_targets; t++) {
        if (known_of(p, design)[t].bound == INFINITY) return INFINITY;
        bound += p->c->target[t].weight * known_of(p, design)[t].bound;
    }
    return fmax(bound, p->c->out->design[design].bound);
}

/* Takes over what a search found. */
static void learn_outcome(known *k, const sx_search_outcome *result) {
    if (result->found && (!k->found || result->best.value < k->best.value)) k->best = result->best;
    k->found |= result->found;
    k->bound = result->none ? INFINITY : fmax(k->bound, result->lower_bound);
    k->closed = result->none || (k->found && k->bound >= k->best.value - fabs(k->best.value) * SLACK);
}

/* What a target may cost at most for its design to matter, when the others cost their bounds. */
static double share_of(const proof *p, size_t design, size_t target) {
    double cutoff = sx_codesign_cutoff(p->c, design), rest = 0;
    for (size_t t = 0; t < p->c->n_targets; t++)
        if (t != target) rest += p->c->target[t].weight * known_of(p, design)[t].bound;
    return cutoff < INFINITY && rest > -INFINITY ? (cutoff - rest) / p->c->target[target].weight : INFINITY;
}

/* The gap within which a proof of a target is enough: 0 where its optimum matters, as that of a smaller design does whose
 * bound is the share itself. */
static double gap_of(const known *k, double share) {
    double beyond = share * (1 + 1e-9);
    if (k->bound >= share * (1 - 1e-9)) return 0;
    if (!k->found || !(beyond > 0) || !(k->best.value > beyond)) return 0;
    return fmin(k->best.value / beyond - 1, MOST_GAP);
}

/* Searches a target by `optimal` until it is closed, or cannot be cheap enough, or the budget is spent. */
static sx_status close_target(const proof *p, size_t design, size_t target,
                              const sx_target_space *target_space) {
    sx_codesign *c = p->c;
    known *k = &known_of(p, design)[target];
    double share = share_of(p, design, target);
    for (int tries = 0; !k->closed && !sx_codesign_stopped(c); tries++) {
        double gap = tries < MOST_TRIES ? gap_of(k, share) : 0;
        char mapper[64];
        sx_search_outcome result;
        snprintf(mapper, sizeof mapper, "optimal:gap=%.9g", gap);
        SX_TRY(sx_search_by_mapper(c, target_space, mapper, k->found ? &k->best.mapping : NULL, &result));
        learn_outcome(k, &result);
        if (result.stop != SX_STOP_DONE || (gap > 0 && k->bound >= share)) return SX_OK;
        k->closed |= gap <= 0;
        if (k->closed && !k->found) k->bound = INFINITY;
    }
    return SX_OK;
}

/* Searches by a mapper; *refused where the space is too large for it. */
static sx_status search_limited(const proof *p, const sx_target_space *target_space, const char *mapper,
                                known *k, bool *refused) {
    sx_search_outcome result;
    sx_status status =
        sx_search_by_mapper(p->c, target_space, mapper, k->found ? &k->best.mapping : NULL, &result);
    *refused = status && status->code == SX_ERR_LIMIT;
    if (!status) learn_outcome(k, &result);
    if (!*refused) return status;
    sx_status_free(status);
    return SX_OK;
}

/* Whether the steps of `auto` may be spent before every target had a second, longer proof. Sunstone then
 * finds more than the short proofs do. */
static bool is_short(const proof *p) {
    double looks = (double)p->c->designs->n * (double)p->c->n_targets;
    return p->effort <= FIRST_EFFORT && looks * FIRST_EFFORT > ALL_EFFORT;
}

/* Searches a target within the budget of `auto`: by `optimal`, or by Sunstone where `optimal` refuses it.
 * What that leaves open in a small space is enumerated. */
static sx_status try_target(proof *p, size_t design, size_t target, const sx_target_space *target_space) {
    known *k = &known_of(p, design)[target];
    double share = share_of(p, design, target);
    double effort = fmin(p->effort, ALL_EFFORT - p->spent), steps = effort * 1e6;
    char mapper[96];
    bool refused;
    if (k->closed || effort <= 0) return SX_OK;
    snprintf(mapper, sizeof mapper, "optimal:gap=%.9g,effort=%.9g,gamma=1000,sunstone=%d", gap_of(k, share),
             effort, is_short(p) ? 1000 : 0);
    SX_TRY(search_limited(p, target_space, mapper, k, &refused));
    if (refused) SX_TRY(search_limited(p, target_space, "sunstone:plus=on", k, &refused));
    if (!k->closed && !(k->bound >= share) && sx_target_space_tilings(target_space) <= steps) {
        snprintf(mapper, sizeof mapper, "exhaustive:limit=%.0f", fmax(1, steps / STEPS_PER_MAPPING));
        SX_TRY(search_limited(p, target_space, mapper, k, &refused));
    }
    p->spent += k->closed ? effort / 10 : effort;
    return SX_OK;
}

/* A quick answer and a quick bound; begins with what the design before has. Where Sunstone's list of tiles takes all of
 * its time, Gamma answers. */
static sx_status quick_bound(const proof *p, size_t design, size_t target,
                             const sx_target_space *target_space) {
    known *k = &known_of(p, design)[target];
    const known *before = design > 0 ? &known_of(p, design - 1)[target] : NULL;
    sx_search_outcome result;
    SX_TRY(sx_search_by_mapper(p->c, target_space, "sunstone",
                               before && before->found ? &before->best.mapping : NULL, &result));
    learn_outcome(k, &result);
    if (!k->found && result.stop == SX_STOP_TIME) {
        SX_TRY(sx_search_by_mapper(p->c, target_space, SX_PROMPT_MAPPER, NULL, &result));
        learn_outcome(k, &result);
    }
    SX_TRY(sx_search_bound(p->c, target_space, k->found ? &k->best.mapping : NULL, &result));
    learn_outcome(k, &result);
    return SX_OK;
}

/* Searches a target on a design, quickly or to the end. */
static sx_status search_target(proof *p, size_t design, size_t target, bool quickly) {
    sx_codesign *c = p->c;
    sx_target_space *target_space;
    bool usable;
    SX_TRY(sx_target_space_new(c->designs, design, &target_space));
    sx_codesign_begins(c, design, target);
    sx_status status = sx_target_space_init(c, target, target_space, &usable);
    if (!status && !usable) known_of(p, design)[target].bound = INFINITY;
    for (int s = 0; s < target_space->arch.n_levels; s++)
        if (target_space->constraints.level[s].min_utilization > 0) p->filled |= 1u << s;
    if (!status && usable)
        status = quickly         ? quick_bound(p, design, target, target_space)
                 : p->effort > 0 ? try_target(p, design, target, target_space)
                                 : close_target(p, design, target, target_space);
    sx_target_space_fini(target_space);
    sx_target_space_free(target_space);
    return status;
}

/* Takes down what is known of a design: its value where every target has a mapping. */
static void note_design(const proof *p, size_t design) {
    sx_codesign *c = p->c;
    for (size_t t = 0; t < c->n_targets; t++) {
        if (!known_of(p, design)[t].found) return;
        c->found[t] = known_of(p, design)[t].best;
    }
    sx_codesign_done(c, design);
}

/* Whether a mapping may be legal with a level but not with a larger one: part of it must be in use, or its
 * banks decide what is kept. */
static bool depends_on_size(const proof *p, int level) {
    const sx_storage *base = &p->c->designs->base.level[level];
    if (base->banks && !p->c->options->space.no_banks) return true;
    return base->min_utilization > 0 || p->filled >> level & 1;
}

/* Whether design a has no smaller memory and no dearer access than b, and is the same otherwise. */
static bool covers_design(const proof *p, size_t a, size_t b) {
    const sx_designs *designs = p->c->designs;
    const uint8_t *x = sx_design_options(designs, a), *y = sx_design_options(designs, b);
    for (size_t k = 0; k < designs->n_parameters; k++) {
        const sx_design_parameter *parameter = &designs->parameter[k];
        const sx_design_option *large = &parameter->option[x[k]], *small = &parameter->option[y[k]];
        if (x[k] == y[k]) continue;
        if (parameter->array || depends_on_size(p, parameter->level)) return false;
        if (large->words < small->words || large->read > small->read || large->fill > small->fill ||
            large->update > small->update || large->leak > small->leak)
            return false;
    }
    return true;
}

/* Raises the bound of a design to that of designs that cover it. */
static void inherit_bound(const proof *p, size_t design) {
    sx_design_result *result = p->c->out->design;
    for (size_t i = 0; i < p->c->designs->n; i++)
        if (i != design && result[i].bound > result[design].bound && covers_design(p, i, design))
            result[design].bound = result[i].bound;
}

/* Whether a design cannot be better than what is known: no smaller value, nor the same with a smaller area.
 */
static bool is_hopeless(const proof *p, size_t design) {
    const sx_codesign_result *out = p->c->out;
    const double *area = p->c->designs->total;
    double bound = bound_of(p, design), cutoff = sx_codesign_cutoff(p->c, design);
    double slack = out->found && area[design] < area[out->best] ? SLACK : -SLACK;
    p->c->out->design[design].bound = bound;
    return bound == INFINITY || (cutoff < INFINITY && bound >= cutoff + fabs(cutoff) * slack);
}

/* Closes a design: searches its targets until it is proven or hopeless. */
static sx_status close_design(proof *p, size_t design) {
    sx_codesign *c = p->c;
    for (size_t t = 0; t < c->n_targets && !sx_codesign_stopped(c); t++) {
        if (is_hopeless(p, design)) break;
        c->shares = c->n_targets - t;
        SX_TRY(search_target(p, design, t, false));
    }
    note_design(p, design);
    c->out->design[design].bound = bound_of(p, design);
    return SX_OK;
}

/* Withdraws the bounds of a design that are above its values. */
static void uphold_design(const proof *p, size_t design) {
    sx_warnings *warnings = p->c->options->run.warnings;
    sx_design_result *result = &p->c->out->design[design];
    bool holds = true, closed;
    for (size_t t = 0; t < p->c->n_targets; t++) {
        known *k = &known_of(p, design)[t];
        if (!k->found ||
            sx_uphold_bound(warnings, "a layer of a design", k->best.value, &k->bound, &k->closed))
            continue;
        k->bound = -INFINITY;
        holds = false;
    }
    if (holds && isfinite(result->value))
        holds = sx_uphold_bound(warnings, "a design", result->value, &result->bound, &closed);
    if (!holds) result->bound = -INFINITY;
}

/* Says what became of a design that was not searched to the end. */
static void conclude_design(const proof *p, size_t design) {
    sx_codesign *c = p->c;
    sx_design_result *result = &c->out->design[design];
    bool closed = true;
    uphold_design(p, design);
    for (size_t t = 0; t < c->n_targets; t++) closed &= known_of(p, design)[t].closed;
    result->poor =
        result->bound > 0 && isfinite(result->value) && result->value > SX_POOR_GAP * result->bound;
    c->n_none += result->bound == INFINITY;
    if (result->bound == INFINITY)
        sx_codesign_record_outcome(c, design, SX_OUTCOME_NONE);
    else if (!closed && is_hopeless(p, design) && design != c->out->best)
        sx_codesign_record_outcome(c, design, SX_OUTCOME_CUT);
    else if (result->outcome == SX_OUTCOME_DONE && !closed && !p->searched[design])
        sx_codesign_record_outcome(c, design, SX_OUTCOME_QUICK);
}

/* Gives all designs a quick answer and a quick bound. Under a time limit these, two searches for each target,
 * get half of the time at most. */
static sx_status give_quick_answers(proof *p) {
    sx_codesign *c = p->c;
    for (size_t d = 0; d < c->designs->n; d++) {
        for (size_t t = 0; t < c->n_targets; t++) known_of(p, d)[t].bound = -INFINITY;
        for (size_t t = 0; t < c->n_targets && !sx_codesign_stopped(c); t++) {
            c->shares = QUICK_SHARES * ((c->designs->n - d) * c->n_targets - t);
            SX_TRY(search_target(p, d, t, true));
        }
        note_design(p, d);
        c->out->design[d].bound = bound_of(p, d);
    }
    return SX_OK;
}

/* The design to look at next, of those from place `from` of the ranking on: at first the one of the best
 * answer, then that of the least bound. Gives it that place. */
static size_t pick_design(const proof *p, size_t from) {
    const sx_codesign_result *out = p->c->out;
    size_t at = from;
    for (size_t j = from + 1; j < out->n_designs && (from > 0 || !out->found); j++)
        if (out->design[p->rank[j]].bound < out->design[p->rank[at]].bound) at = j;
    if (from == 0 && out->found) at = out->best;
    size_t design = p->rank[at];
    memmove(&p->rank[from + 1], &p->rank[from], (at - from) * sizeof *p->rank);
    p->rank[from] = design;
    return design;
}

/* Looks at all designs; those that it does not come to have their quick answers only. */
static sx_status search_designs(proof *p) {
    sx_codesign *c = p->c;
    const sx_codesign_result *out = c->out;
    size_t n = c->designs->n, i = 0, waited = 0;
    size_t patience = p->effort > 0 && !c->options->front ? PATIENCE : SIZE_MAX;
    for (size_t d = 0; d < n; d++) p->rank[d] = d;
    for (; i < n && waited < patience && !sx_codesign_stopped(c); i++) {
        size_t design = pick_design(p, i);
        double before = out->found ? out->design[out->best].value : INFINITY;
        inherit_bound(p, design);
        if (is_hopeless(p, design)) continue;
        SX_TRY(close_design(p, design));
        p->searched[design] = true;
        waited = out->found && out->design[out->best].value < before ? 0 : waited + 1;
    }
    return SX_OK;
}

/* Whether a longer proof may find a better mapping of the best design, or show that another is better. */
static bool is_open(const proof *p) {
    for (size_t d = 0; d < p->c->out->n_designs; d++) {
        if (is_hopeless(p, d)) continue;
        for (size_t t = 0; t < p->c->n_targets; t++)
            if (!known_of(p, d)[t].closed) return true;
    }
    return false;
}

/* States what is proven of all designs. */
static void prove_designs(const proof *p) {
    sx_codesign_result *out = p->c->out;
    double least = INFINITY;
    for (size_t d = 0; d < out->n_designs; d++) {
        conclude_design(p, d);
        least = fmin(least, out->design[d].bound);
    }
    if (!out->found) return;
    if (p->c->options->run.objective.n_criteria == 1) {
        double best = out->design[out->best].value;
        out->optimal = least >= best - fabs(best) * SLACK;
        out->lower_bound = out->optimal ? best : least;
    }
    for (size_t t = 0; t < p->c->n_targets; t++) {
        const known *k = &known_of(p, out->best)[t];
        sx_codesign_assess_layer(p->c, t, out->optimal ? k->best.value : k->bound, INFINITY);
    }
}

/* Searches with a given number of million steps for a proof; 0: any number. */
static sx_status search_within(sx_codesign *c, double effort) {
    size_t n = c->designs->n;
    proof p = {.c = c, .effort = effort};
    p.known = calloc(n * c->n_targets + 1, sizeof *p.known);
    p.rank = calloc(n, sizeof *p.rank);
    p.searched = calloc(n, sizeof *p.searched);
    sx_status status = p.known && p.rank && p.searched ? SX_OK : sx_error_memory();
    if (!status) status = give_quick_answers(&p);
    if (!status) status = search_designs(&p);
    while (!status && effort > 0 && p.spent < ALL_EFFORT && is_open(&p) && !sx_codesign_stopped(c)) {
        p.effort *= MORE_EFFORT;
        status = search_designs(&p);
    }
    if (!status) prove_designs(&p);
    free(p.known);
    free(p.rank);
    free(p.searched);
    return status;
}

sx_status sx_codesign_exact(sx_codesign *c) {
    if (c->designs->n * c->n_targets > MOST_SEARCHES)
        return sx_error_hint(sx_error_new(SX_ERR_LIMIT,
                                          "%zu designs with %zu distinct layers are too many to prove",
                                          c->designs->n, c->n_targets),
                             "choose among fewer sizes, or use --method sunstone-arch");
    return search_within(c, 0);
}

sx_status sx_codesign_auto(sx_codesign *c) {
    if (c->designs->n * c->n_targets > MOST_LOOKS) return sx_codesign_sunstone(c);
    return search_within(c, FIRST_EFFORT);
}
