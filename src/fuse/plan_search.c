#include "fuse/plan_search.h"

#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A search of a plan. */
typedef struct plan_search {
    const sx_plan_space *space;
    sx_plan_stop *stop;
    void *user;
    bool stopped;
    bool whole;     /* every inner optimum of a plan is searched: in the first round, for a plan at once */
    double known;   /* weight of a plan that is known; INFINITY: none */
    size_t n;       /* inner optima that the last pass searched */
    sx_vector used; /* sx_plan_use: of the current plans */
} plan_search;

static const sx_plan_use *used_at(const plan_search *p, size_t i) {
    return sx_vector_at(&p->used, i);
}

/* Adds an inner optimum to a list. */
static sx_status add_use(sx_vector *out, size_t optimum, double times) {
    sx_plan_use *item = optimum == SX_NO_INDEX ? NULL : sx_vector_add(out);
    if (optimum != SX_NO_INDEX && !item) return sx_error_memory();
    if (item) *item = (sx_plan_use){.optimum = optimum, .times = times};
    return SX_OK;
}

sx_status sx_plan_list_uses(const sx_plan_space *space, const sx_plan *plan, sx_vector *out) {
    for (size_t i = 0; i < plan->n_parts; i++) {
        const sx_plan_part *part = &plan->part[i];
        const sx_fuse_group *group = part->group == SX_NO_INDEX ? NULL : &space->group[part->group];
        SX_TRY(add_use(out, part->optimum, space->exchange->step[part->first].repeat));
        for (int r = 0; group && r < group->n_runs; r++) {
            size_t optimum;
            SX_TRY(sx_plan_group_optimum(space, group, &group->run[r], part->state, &optimum));
            SX_TRY(add_use(out, optimum, group->run[r].times));
        }
    }
    return SX_OK;
}

/* Whether the first of two uses leaves more open. */
static int compare_uses(const void *a, const void *b) {
    const sx_plan_use *x = a, *y = b;
    if (x->open != y->open) return x->open > y->open ? -1 : 1;
    return (x->optimum > y->optimum) - (x->optimum < y->optimum);
}

void sx_plan_sort_uses(sx_vector *uses) {
    if (uses->n > 0) qsort(uses->data, uses->n, uses->size, compare_uses);
}

void sx_plan_merge_uses(sx_vector *uses) {
    size_t n = 0;
    for (size_t i = 0; i < uses->n; i++) {
        const sx_plan_use one = *(const sx_plan_use *)sx_vector_at(uses, i);
        size_t same = 0;
        while (same < n && ((const sx_plan_use *)sx_vector_at(uses, same))->optimum != one.optimum) same++;
        sx_plan_use *use = sx_vector_at(uses, same);
        if (same == n) *use = (sx_plan_use){.optimum = one.optimum};
        n += same == n;
        use->times += one.times;
    }
    uses->n = n;
}

/* A bound that rises by this factor makes another plan likely. */
static const double RISE = 1.02;

/* Searches an inner optimum shortly, unless it is settled; before it those that bound it, the most relaxed first, until one of
 * them raises its bound. */
static sx_status sketch_optimum(plan_search *p, size_t optimum) {
    const sx_inner_effort effort = SX_INNER_SKETCH;
    sx_inner *inner = p->space->inner;
    const double enough = p->whole ? INFINITY : RISE * sx_inner_bound(inner, optimum);
    while (!p->stopped && !sx_inner_settled(inner, optimum, effort) &&
           sx_inner_bound(inner, optimum) < enough) {
        p->stopped = p->stop(p->user);
        if (p->stopped) break;
        p->n++;
        SX_TRY(sx_inner_settle(inner, sx_inner_unsettled(inner, optimum, effort), effort));
    }
    return SX_OK;
}

/* How far a bound is likely to rise of which no mapping is known. */
static const double LIKELY = 1.3;

/* What a bound leaves open of a sum of weights. */
static double open_weight(const sx_inner *inner, const sx_plan_use *use) {
    const double bound = sx_inner_weight(inner, sx_inner_bound(inner, use->optimum)),
                 value = sx_inner_at(inner, use->optimum)->value;
    return use->times * ((isinf(value) ? LIKELY * bound : sx_inner_weight(inner, value)) - bound);
}

/* Lists the inner optima of plans, and how often each counts, those first that leave most open. */
static sx_status list_optima(plan_search *p, const sx_plan *plan, size_t k) {
    p->used.n = 0;
    for (size_t i = 0; i < k; i++) SX_TRY(sx_plan_list_uses(p->space, &plan[i], &p->used));
    sx_plan_merge_uses(&p->used);
    for (size_t i = 0; i < p->used.n; i++) {
        sx_plan_use *use = sx_vector_at(&p->used, i);
        use->open = open_weight(p->space->inner, use);
    }
    sx_plan_sort_uses(&p->used);
    return SX_OK;
}

/* Once bounds have risen by this share of a plan's sum, another plan is likely to be the best by them. */
static const double ENOUGH = 0.003;

/* Searches the listed optima of a plan of that weight shortly, until their bounds have risen by enough. */
static sx_status sketch_optima(plan_search *p, double weight) {
    const sx_inner *inner = p->space->inner;
    double risen = 0;
    p->n = 0;
    for (size_t i = 0; i < p->used.n && (p->whole || risen < ENOUGH * weight); i++) {
        const sx_plan_use *use = used_at(p, i);
        const double before = sx_inner_weight(inner, sx_inner_bound(inner, use->optimum));
        SX_TRY(sketch_optimum(p, use->optimum));
        risen += use->times * (sx_inner_weight(inner, sx_inner_bound(inner, use->optimum)) - before);
    }
    return SX_OK;
}

/* Searches the listed optimum whose bound leaves most open. */
static sx_status search_widest(plan_search *p) {
    sx_inner *inner = p->space->inner;
    size_t widest = SX_NO_INDEX;
    double most = -1;
    for (size_t i = 0; i < p->used.n; i++) {
        const sx_plan_use *used = used_at(p, i);
        if (sx_inner_settled(inner, used->optimum, SX_INNER_SEARCH)) continue;
        const double open = used->times * (sx_inner_weight(inner, sx_inner_at(inner, used->optimum)->value) -
                                           sx_inner_weight(inner, sx_inner_bound(inner, used->optimum)));
        if (!(open > most)) continue;
        most = open;
        widest = used->optimum;
    }
    if (widest == SX_NO_INDEX) return SX_OK;
    p->n++;
    p->stopped = p->stop(p->user);
    return p->stopped ? SX_OK : sx_inner_settle(inner, widest, SX_INNER_SEARCH);
}

/* Whether a plan is known that is close enough to a bound, as the objective's powers count; of a product half of the gap is left to
 * the sum of roots, which is below it. That plan is found anew where `join` says so, else it is the last one. */
static sx_status is_close(plan_search *p, double bound, double gap, bool join, bool *out) {
    sx_plan plan;
    *out = false;
    if (gap <= 0) return SX_OK;
    if (join) {
        sx_status status = sx_plan_join(p->space, false, &plan);
        p->known = !status && plan.found ? plan.weight : INFINITY;
        sx_plan_fini(&plan);
        SX_TRY(status);
    }
    const double root = p->space->inner->root;
    *out = p->known <= bound * pow(1 + (root < 1 ? gap / 2 : gap), root);
    return SX_OK;
}

/* Frees plans. */
static void free_plans(sx_plan *plan, size_t n) {
    for (size_t i = 0; i < n; i++) sx_plan_fini(&plan[i]);
}

void sx_plan_answer_fini(sx_plan_answer *answer) {
    sx_plan_fini(&answer->plan);
    free_plans(answer->other, SX_MAX_PLANS - 1);
    answer->n_others = 0;
}

/* One round: the best plans by lower bounds are found, and inner optima on which they rest are searched. */
static sx_status search_round(plan_search *p, double gap, size_t k, double *bound, bool *done) {
    sx_plan plan[SX_MAX_PLANS];
    sx_status status = sx_plan_join_best(p->space, true, k, plan);
    if (!status && !plan[0].found) p->stopped = sx_plan_late(p->space);
    if (!status && !p->stopped) *bound = plan[0].weight;
    if (!status) status = list_optima(p, plan, k);
    if (!status) status = sketch_optima(p, *bound);
    if (!status && !p->stopped) status = is_close(p, *bound, gap, p->whole || p->n == 0, done);
    p->whole = false;
    if (!status && p->n == 0 && !p->stopped && !*done) {
        status = search_widest(p);
        *done = p->n == 0;
    }
    free_plans(plan, k);
    return status;
}

sx_status sx_plan_search(const sx_plan_space *space, double gap, double cutoff, size_t k, sx_plan_stop *stop,
                         void *user, sx_plan_answer *out) {
    plan_search p = {.space = space,
                     .stop = stop,
                     .user = user,
                     .whole = true,
                     .known = INFINITY,
                     .used = {.size = sizeof(sx_plan_use)}};
    sx_plan plan[SX_MAX_PLANS];
    memset(out, 0, sizeof *out);
    sx_status status = SX_OK;
    for (bool done = false; !status && !done && !p.stopped && out->lower_bound < cutoff;)
        status = search_round(&p, gap, k, &out->lower_bound, &done);
    sx_vector_clear(&p.used);
    SX_TRY(status);
    out->stopped = p.stopped;
    status = sx_plan_join_best(space, false, k, plan);
    out->plan = plan[0];
    for (size_t i = 1; i < k; i++) out->other[i - 1] = plan[i];
    while (out->n_others + 1 < k && out->other[out->n_others].found) out->n_others++;
    return status;
}
