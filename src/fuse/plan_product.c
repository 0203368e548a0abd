/* Plans by a product of sums. The energy and cycles of every plan lie above the lines energy + x * cycles = S(x), where S(x) is the
 * least such sum of all plans by lower bounds. (S(x) alone bounds no product from below: on its line the product is largest where
 * energy = x * cycles, and falls on both sides.) The least product above all lines is at a crossing of two of them, since it is
 * concave between crossings. That crossing says which sums to search next: those of its two lines. Mappings that are found on
 * the way are joined by sums as well, and the plan with the least product is kept. */
#include "fuse/plan_product.h"

#include <math.h>
#include <string.h>

/* Lines: 2 * SIDE + 1 ratios around that of a plan, then energy alone and cycles alone. */
enum { SIDE = 12, RATIOS = 2 * SIDE + 1, ENERGY = RATIOS, CYCLES, LINES };

static const double RATIO_STEP = 1.15;

/* A bound that rises by this factor makes another plan likely. */
static const double RISE = 1.02;

typedef struct line {
    double share[2], sum;
} line;

typedef struct product_search {
    const sx_plan_space *space;
    sx_plan_stop *stop;
    void *user;
    sx_plan_product *product;
    bool polish; /* plans that are searched whole get good mappings */
    line line[LINES];
} product_search;

/* Energy and cycles of a plan. */
static sx_status sum_totals(const sx_plan_space *space, const sx_plan *plan, double total[2]) {
    static const double energy[2] = {1, 0}, cycles[2] = {0, 1};
    SX_TRY(sx_plan_sum(space, energy, plan, &total[0]));
    return sx_plan_sum(space, cycles, plan, &total[1]);
}

/* Selects the mappings of the plan that is kept. */
static void select_plan(const sx_plan_space *space, const sx_plan_product *p) {
    sx_inner_select(space->inner, p->share[0] + p->share[1] > 0 ? p->share : NULL);
}

/* Takes over the best plan by a sum where its product is smaller. */
static sx_status try_share(const sx_plan_space *space, const double share[2], sx_plan_product *p,
                           bool *better) {
    const sx_criterion *power = &space->inner->objective.criterion[0];
    double total[2] = {0, 0};
    sx_plan other;
    *better = false;
    sx_inner_select(space->inner, share);
    sx_status status = sx_plan_join_sums(space, false, share, &other);
    if (!status && other.found) status = sum_totals(space, &other, total);
    if (!status && other.found) {
        const double change = p->plan->found ? power->energy_power * log(total[0] / p->total[0]) +
                                                   power->delay_power * log(total[1] / p->total[1])
                                             : -1;
        *better = change < -1e-12;
        if (*better) status = sx_plan_sum(space, NULL, &other, &other.weight);
    }
    sx_plan_fini(*better ? p->plan : &other);
    if (!*better) return status;
    *p->plan = other;
    memcpy(p->total, total, sizeof total);
    memcpy(p->share, share, sizeof p->share);
    return status;
}

/* Tries plans beside one with these totals: one whose sum of energy and cycles, each over its total and times its power, is no more
 * than the sum of the powers has no larger product, as logarithms are concave. */
static sx_status try_beside(const sx_plan_space *space, const double total[2], sx_plan_product *p,
                            bool *better) {
    const sx_criterion *power = &space->inner->objective.criterion[0];
    const double share[2] = {power->energy_power / total[0], power->delay_power / total[1]};
    return try_share(space, share, p, better);
}

sx_status sx_plan_improve_product(const sx_plan_space *space, sx_plan_product *p) {
    enum { MOST_TURNS = 16 };
    const sx_criterion *power = &space->inner->objective.criterion[0];
    bool better = true;
    if (power->energy_power <= 0 || power->delay_power <= 0) return SX_OK;
    select_plan(space, p);
    if (p->plan->found) SX_TRY(sum_totals(space, p->plan, p->total));
    if (p->unfused[0] > 0 && p->unfused[1] > 0) SX_TRY(try_beside(space, p->unfused, p, &better));
    for (int turn = 0; turn < MOST_TURNS && (better || turn == 0) && p->plan->found; turn++) {
        const double own[2] = {p->total[0], p->total[1]};
        SX_TRY(try_beside(space, own, p, &better));
    }
    select_plan(space, p);
    return SX_OK;
}

/* Where two lines cross, as cycles; one of energy alone and one of cycles alone are among them. */
static double cycles_at_crossing(const line *a, const line *b) {
    return (a->share[0] * b->sum - b->share[0] * a->sum) /
           (a->share[0] * b->share[1] - b->share[0] * a->share[1]);
}

/* The energy that the lines leave for so many cycles. */
static double energy_above(const line *all, double cycles) {
    double energy = 0;
    for (int i = 0; i < LINES; i++)
        if (all[i].share[0] > 0)
            energy = fmax(energy, (all[i].sum - all[i].share[1] * cycles) / all[i].share[0]);
    return energy;
}

/* The line whose ratio is nearest to that of a point: it is steepest against the product there. */
static int tangent_line(const line *all, double energy, double cycles) {
    int best = 0;
    for (int i = 1; i < RATIOS; i++)
        if (fabs(log(all[i].share[1] * cycles / energy)) < fabs(log(all[best].share[1] * cycles / energy)))
            best = i;
    return best;
}

/* The least product above all lines, and those to search next: the tangent one at the crossing where it is, and the first and the
 * last of those that cross there. At all other crossings the product is no less. */
static double least_product(const line *all, int at[3]) {
    double least = INFINITY, cycles = 1;
    for (int a = 0; a < LINES; a++)
        for (int b = 0; b < a; b++) {
            const double here = fmax(cycles_at_crossing(&all[a], &all[b]), all[CYCLES].sum);
            const double product = here * energy_above(all, here);
            if (!(product < least)) continue;
            least = product;
            cycles = here;
        }
    const double energy = energy_above(all, cycles);
    int n = 0;
    at[0] = at[1] = at[2] = tangent_line(all, energy, cycles);
    for (int i = 0; i < LINES; i++) {
        const double sum = all[i].share[0] * energy + all[i].share[1] * cycles;
        if (sum <= all[i].sum * (1 + 1e-9)) at[n++ ? 2 : 1] = i;
    }
    return least * (1 - 1e-12);
}

/* Searches an inner optimum by a sum, until its bound has risen; whole: until nothing is left to search. */
static sx_status search_optimum(product_search *s, size_t optimum, const double share[2], bool whole,
                                bool *any) {
    sx_inner *inner = s->space->inner;
    double before, now;
    bool searched = true;
    SX_TRY(sx_inner_sum(inner, optimum, share, &before));
    for (now = before; searched && (whole || now <= RISE * before) && !s->stop(s->user); *any |= searched) {
        SX_TRY(sx_inner_search_sum(inner, optimum, share, &searched));
        SX_TRY(sx_inner_sum(inner, optimum, share, &now));
    }
    if (!whole || !s->polish || s->stop(s->user)) return SX_OK;
    SX_TRY(sx_inner_polish_sum(inner, optimum, share, &searched));
    *any |= searched;
    return SX_OK;
}

/* Searches the inner optima of a plan by a sum; *any: one was searched. */
static sx_status search_plan(product_search *s, const sx_plan *plan, const double share[2], bool whole,
                             bool *any) {
    for (size_t i = 0; i < plan->n_parts; i++) {
        const sx_plan_part *part = &plan->part[i];
        const sx_fuse_group *group = part->group == SX_NO_INDEX ? NULL : &s->space->group[part->group];
        for (int r = 0; r < (group ? group->n_runs : part->optimum != SX_NO_INDEX); r++) {
            size_t optimum = part->optimum;
            if (group) SX_TRY(sx_plan_group_optimum(s->space, group, &group->run[r], part->state, &optimum));
            SX_TRY(search_optimum(s, optimum, share, whole, any));
        }
    }
    return SX_OK;
}

/* Joins plans by the bounds of a line, and searches what the best of them rests on, unless `any`, which says whether something was
 * searched, is NULL; whole: so that the plan has mappings. */
static sx_status join_line(product_search *s, line *l, bool whole, bool *any, bool *found) {
    sx_plan plan;
    sx_status status = sx_plan_join_sums(s->space, true, l->share, &plan);
    l->sum = plan.weight;
    *found = !status && plan.found;
    if (*found && any) status = search_plan(s, &plan, l->share, whole, any);
    sx_plan_fini(&plan);
    return status;
}

/* Sets all lines by what is known. */
static sx_status begin_lines(product_search *s, double ratio, bool *found) {
    *found = true;
    for (int i = 0; i < LINES && *found; i++) {
        line *l = &s->line[i];
        l->share[0] = i != CYCLES;
        l->share[1] = i == CYCLES ? 1 : i == ENERGY ? 0 : ratio * pow(RATIO_STEP, i - SIDE);
        SX_TRY(join_line(s, l, false, NULL, found));
    }
    return SX_OK;
}

/* Whether the plan is near enough to the bound. */
static bool is_near(const sx_plan_product *p) {
    double product = p->plan->found ? p->total[0] * p->total[1] : INFINITY;
    if (p->known > 0) product = fmin(product, p->known);
    return product <= p->bound * (1 + p->gap);
}

/* Searches the lines on which the least product rests, until nothing is left of them; plans are joined by their sums as well. */
static sx_status search_lines(product_search *s) {
    enum { TURNS = 4 }; /* rounds after which plans are searched whole */
    sx_plan_product *p = s->product;
    bool any = true, found, better;
    for (int round = 0; any && !s->stop(s->user); round++) {
        int at[3];
        p->bound = fmax(p->bound, least_product(s->line, at));
        if (is_near(p)) break;
        any = false;
        s->polish = round > 0;
        for (int i = 0; i < 3; i++) {
            line *l = &s->line[at[i]];
            const double before = l->sum;
            if (i && (at[i] == at[0] || (i == 2 && at[2] == at[1]))) continue;
            SX_TRY(join_line(s, l, round % TURNS == 0, &any, &found));
            any |= l->sum > before;
            if (round % TURNS == 0) SX_TRY(try_share(s->space, l->share, p, &better));
        }
    }
    return SX_OK;
}

sx_status sx_plan_search_product(const sx_plan_space *space, sx_plan_stop *stop, void *user,
                                 sx_plan_product *p) {
    product_search s = {.space = space, .stop = stop, .user = user, .product = p};
    int at[3];
    bool found;
    SX_TRY(sx_plan_improve_product(space, p));
    if (!p->plan->found) return SX_OK;
    SX_TRY(begin_lines(&s, p->total[0] / p->total[1], &found));
    if (!found) return SX_OK;
    SX_TRY(search_lines(&s));
    for (int i = 0; i < LINES && found; i++) SX_TRY(join_line(&s, &s.line[i], false, NULL, &found));
    if (found) p->bound = fmax(p->bound, least_product(s.line, at));
    return sx_plan_improve_product(space, p);
}
