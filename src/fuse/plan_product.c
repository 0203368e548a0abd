/* Plans by a product of sums. The energy and cycles of every plan lie above the lines energy + x * cycles = S(x), where S(x) is
 * the least such sum of all plans by lower bounds. (S(x) alone bounds no product from below: on its line the product is largest
 * where energy = x * cycles, and falls on both sides.) The least product above all lines is at a crossing of two of them, since
 * it is concave between crossings. That crossing says which sums to search next: those of its two lines. A line that is not
 * joined yet, or whose bounds have risen since, stands lower than it may and bounds no less truly. Mappings that are found on
 * the way are joined by sums as well, and the plan with the least product is kept.
 *
 * A join takes about as long as a search of a cut layer or much less, and the best plan by bounds changes as bounds rise. So few
 * layers are searched for a join: those that leave most of the plan's sum open. */
#include "fuse/plan_product.h"

#include "base/status.h"
#include "fuse/plan_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lines: 2 * SIDE + 1 ratios around that of a plan, then energy alone and cycles alone. */
enum { SIDE = 12, RATIOS = 2 * SIDE + 1, ENERGY = RATIOS, CYCLES, LINES };

static const double RATIO_STEP = 1.15;

/* A bound that rises by this factor makes another plan likely. */
static const double RISE = 1.02;

/* A plan is joined again when the bounds of what it rests on have added that share to its sum. */
static const double ENOUGH = 0.003;

/* What adds less than that share to a plan's sum is searched only where nothing else is left. */
static const double LITTLE = 0.001;

/* The sum of the best mapping over its bound, where none is known. */
static const double LIKELY = 1.5;

typedef struct line {
    double share[2], sum; /* 0: not joined yet */
    bool stale;           /* bounds may have risen since it was joined */
} line;

typedef struct product_search {
    const sx_plan_space *space;
    sx_plan_stop *stop;
    void *user;
    sx_plan_product *product;
    line line[LINES];
    size_t n_bounds, n_wholes; /* searches for bounds, and of whole plans */
    sx_vector use;             /* sx_plan_use */
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

/* For what the inner optima of a plan are searched: its bound, mappings and bounds, or good mappings alone. */
typedef enum search_kind { FOR_BOUND, WHOLE, FOR_MAPPINGS } search_kind;

/* Searches an inner optimum by a sum, for its bound until that has risen; *any: it was searched. */
static sx_status search_optimum(product_search *s, size_t optimum, const double share[2], search_kind kind,
                                bool *any) {
    sx_inner *inner = s->space->inner;
    double before, now;
    bool searched = kind != FOR_MAPPINGS;
    SX_TRY(sx_inner_sum(inner, optimum, share, &before));
    for (now = before; searched && (kind == WHOLE || now <= RISE * before) && !s->stop(s->user);
         *any |= searched) {
        SX_TRY(sx_inner_search_sum(inner, optimum, share, &searched));
        SX_TRY(sx_inner_sum(inner, optimum, share, &now));
    }
    if (kind == FOR_BOUND || s->stop(s->user)) return SX_OK;
    SX_TRY(sx_inner_polish_sum(inner, optimum, share, &searched));
    *any |= searched;
    return SX_OK;
}

/* Lists each inner optimum of a plan once, with what it leaves open of a sum, the most first; of those without a mapping its sum is
 * taken as `likely` times the bound. */
static sx_status list_open(product_search *s, const sx_plan *plan, const double share[2], double likely) {
    sx_vector *list = &s->use;
    list->n = 0;
    SX_TRY(sx_plan_list_uses(s->space, plan, list));
    sx_plan_merge_uses(list);
    for (size_t i = 0; i < list->n; i++) {
        sx_plan_use *use = sx_vector_at(list, i);
        double bound;
        SX_TRY(sx_inner_sum(s->space->inner, use->optimum, share, &bound));
        const double known = sx_inner_known_sum(s->space->inner, use->optimum, share);
        use->open = use->times * ((isinf(known) ? likely * bound : known) - bound);
    }
    sx_plan_sort_uses(list);
    return SX_OK;
}

/* Searches the inner optima of a plan by a sum, those first that leave most open; for bounds until these have risen by enough, else
 * until none with a mapping leaves much open. *any: one was searched. */
static sx_status search_plan(product_search *s, const sx_plan *plan, const double share[2], search_kind kind,
                             bool *any) {
    double risen = 0;
    bool some = false;
    const bool bounds = kind == FOR_BOUND;
    SX_TRY(list_open(s, plan, share, bounds ? LIKELY : INFINITY));
    for (size_t i = 0; i < s->use.n && (!bounds || risen < ENOUGH * plan->weight) && !s->stop(s->user); i++) {
        const sx_plan_use use = *(const sx_plan_use *)sx_vector_at(&s->use, i);
        double before, now;
        if ((kind == FOR_MAPPINGS || some) && use.open < LITTLE * plan->weight) break;
        SX_TRY(sx_inner_sum(s->space->inner, use.optimum, share, &before));
        SX_TRY(search_optimum(s, use.optimum, share, kind, &some));
        SX_TRY(sx_inner_sum(s->space->inner, use.optimum, share, &now));
        risen += use.times * (now - before);
    }
    *any |= some;
    return SX_OK;
}

/* Joins plans by the bounds of a line, and searches what the best of them rests on, unless `any`, which says whether something was
 * searched, is NULL. */
static sx_status join_line(product_search *s, line *l, search_kind kind, bool *any) {
    sx_plan plan;
    sx_status status = sx_plan_join_sums(s->space, true, l->share, &plan);
    if (!status && plan.found) l->sum = plan.weight;
    l->stale = false;
    if (!status && plan.found && any) status = search_plan(s, &plan, l->share, kind, any);
    sx_plan_fini(&plan);
    return status;
}

/* Whether a line is none of the first i of a list. */
static bool is_first(const int *at, int i) {
    for (int j = 0; j < i; j++)
        if (at[j] == at[i]) return false;
    return true;
}

/* The line between two others, by their ratios; one of them where there is none. */
static int middle_line(int a, int b) {
    const int first = a == ENERGY || b == ENERGY ? -1 : a < b ? a : b;
    int last = a < b ? b : a;
    if (last == ENERGY) last = a < b ? a : b;
    if (last == CYCLES) last = RATIOS;
    const int middle = (first + last + 1) / 2;
    return middle < RATIOS ? middle : RATIOS - 1;
}

/* Joins the lines on which the least product rests, and one between them, until all of these are of what is known; sets the bound.
 * The least sum is concave in the ratio, so that one which does not cut off the crossing of two others is not above it between
 * them, and nowhere beyond. */
static sx_status join_lines(product_search *s, int at[3]) {
    for (bool any = true; any;) {
        any = false;
        s->product->bound = fmax(s->product->bound, least_product(s->line, at));
        const int needed[4] = {at[0], at[1], at[2], middle_line(at[1], at[2])};
        for (int i = 0; i < 4; i++) {
            line *l = &s->line[needed[i]];
            if (!l->stale) continue;
            any = true;
            SX_TRY(join_line(s, l, FOR_BOUND, NULL));
        }
    }
    return SX_OK;
}

static void spoil_lines(product_search *s) {
    for (int i = 0; i < LINES; i++) s->line[i].stale = true;
}

/* Sets all lines by the least energy and cycles. */
static sx_status begin_lines(product_search *s, double ratio) {
    for (int i = 0; i < LINES; i++) {
        line *l = &s->line[i];
        l->share[0] = i != CYCLES;
        l->share[1] = i == CYCLES ? 1 : i == ENERGY ? 0 : ratio * pow(RATIO_STEP, i - SIDE);
        if (i >= RATIOS) SX_TRY(join_line(s, l, FOR_BOUND, NULL));
        l->stale = i < RATIOS;
    }
    return SX_OK;
}

/* Whether the plan is near enough to the bound. */
static bool is_near(const sx_plan_product *p) {
    double product = p->plan->found ? p->total[0] * p->total[1] : INFINITY;
    if (p->known > 0) product = fmin(product, p->known);
    return product <= p->bound * (1 + p->gap);
}

/* Searches good mappings for the plan that is likely to be best with them; *any: there was one to search. */
static sx_status search_likely(product_search *s, const double share[2], bool *any) {
    sx_plan plan;
    SX_TRY(sx_inner_select_likely(s->space->inner, share));
    sx_status status = sx_plan_join_sums(s->space, false, share, &plan);
    select_plan(s->space, s->product);
    if (!status && plan.found) status = search_plan(s, &plan, share, FOR_MAPPINGS, any);
    sx_plan_fini(&plan);
    return status;
}

/* Searches mappings for a plan that is likely to be good by the sum of the first of three lines, else all of the best plan by
 * bounds of one of them. */
static sx_status search_mappings(product_search *s, const int at[3], bool *any) {
    bool better;
    const line *used = &s->line[at[0]];
    SX_TRY(search_likely(s, used->share, any));
    for (int i = 0; i < 3 && !*any; i++) {
        if (!is_first(at, i)) continue;
        used = &s->line[at[i]];
        SX_TRY(join_line(s, &s->line[at[i]], WHOLE, any));
    }
    return *any ? try_share(s->space, used->share, s->product, &better) : SX_OK;
}

/* Searches the bounds of the lines on which the least product rests, or mappings. */
static sx_status search_round(product_search *s, const int at[3], bool mappings, bool *any) {
    const size_t before = s->space->inner->n_searched;
    if (mappings) SX_TRY(search_mappings(s, at, any));
    for (int i = 0; i < 3 && !mappings; i++)
        if (is_first(at, i)) SX_TRY(join_line(s, &s->line[at[i]], FOR_BOUND, any));
    *(mappings ? &s->n_wholes : &s->n_bounds) += s->space->inner->n_searched - before + 1;
    spoil_lines(s);
    return SX_OK;
}

/* Searches the lines on which the least product rests, until nothing is left of them; now and then mappings, too. */
static sx_status search_lines(product_search *s) {
    enum {
        FEWEST = 32,
        BOUNDS = 2
    }; /* searches for bounds before those of plans, and for each of these or so */
    for (bool any = true; any && !s->stop(s->user);) {
        const bool mappings = s->n_bounds >= FEWEST && s->n_bounds >= BOUNDS * s->n_wholes;
        int at[3];
        SX_TRY(join_lines(s, at));
        if (is_near(s->product)) break;
        any = false;
        SX_TRY(search_round(s, at, mappings, &any));
        if (!any) SX_TRY(search_round(s, at, !mappings, &any));
    }
    return SX_OK;
}

sx_status sx_plan_search_product(const sx_plan_space *space, sx_plan_stop *stop, void *user,
                                 sx_plan_product *p) {
    product_search s = {
        .space = space, .stop = stop, .user = user, .product = p, .use = {.size = sizeof(sx_plan_use)}};
    int at[3];
    SX_TRY(sx_plan_improve_product(space, p));
    if (!p->plan->found) return SX_OK;
    sx_status status = begin_lines(&s, p->total[0] / p->total[1]);
    if (!status) status = search_lines(&s);
    if (!status) status = join_lines(&s, at);
    sx_vector_clear(&s.use);
    SX_TRY(status);
    return sx_plan_improve_product(space, p);
}
