/* What is worth a look: bounds held against what is known to be there.
 *
 * One criterion: a bound must be below the best, or below the last of the k best where so many are wanted.
 * What is not better by more than a share of 1e-12 counts as not better: bounds are sums of doubles.
 *
 * The front: a bound of energy and cycles is of no interest where a member of the front has no more of
 * either.
 *
 * Several criteria are optima one after another. Let v1 be the least value of the first criterion, S1 the
 * mappings that sx_objective_compare does not put behind it for that criterion alone, v2 the least value of
 * the second within S1, and so on; the answer is the least value of the last criterion within all these sets.
 * No two members of S1 are told apart by the first criterion: x <= v1 / (1 - tolerance) makes x - v1, and so
 * any difference, at most tolerance * x. So on these sets comparing is by the next criterion, and the answer
 * is that which compares best. */
#include "mappers/optimal/judge.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double ROUNDING = 1e-12;

bool sx_judge_sound(const sx_judge *judge, int criterion) {
    const sx_criterion *c = &judge->objective->criterion[criterion];
    return c->kind == SX_UTILIZATION ||
           (c->kind == SX_PRODUCT && c->energy_power >= 0 && c->delay_power >= 0);
}

/* Whether a value of a criterion before the last is near enough to its optimum. */
static bool is_near(const sx_judge *judge, int criterion, double value) {
    double least = judge->least[criterion];
    return fabs(value - least) <= judge->objective->tolerance * fmax(fabs(value), fabs(least));
}

double sx_judge_value(const sx_judge *judge, const sx_score *bound) {
    sx_score least = *bound;
    if (least.energy_pj == INFINITY) return INFINITY;
    least.energy_pj = fmax(least.energy_pj, 0);
    for (int i = 0; i < judge->criterion; i++) {
        if (!sx_judge_sound(judge, i)) continue;
        double value = sx_criterion_value(&judge->objective->criterion[i], &least);
        value -= ROUNDING * fabs(value);
        if (value > judge->least[i] && !is_near(judge, i, value)) return INFINITY;
    }
    if (!sx_judge_sound(judge, judge->criterion)) return -INFINITY;
    return sx_criterion_value(&judge->objective->criterion[judge->criterion], &least);
}

double sx_judge_limit(const sx_judge *judge, double best) {
    if (best == INFINITY) return INFINITY;
    if (best <= 0) return best * (1 + ROUNDING) * (1 + judge->gap);
    return best * (1 - ROUNDING) / (1 + judge->gap);
}

/* The value of a mapping for the criterion; INFINITY where one before it is not near its optimum. */
static double value_of(const sx_judge *judge, const sx_score *score) {
    for (int i = 0; i < judge->criterion; i++)
        if (!is_near(judge, i, sx_criterion_value(&judge->objective->criterion[i], score))) return INFINITY;
    return sx_criterion_value(&judge->objective->criterion[judge->criterion], score);
}

/* After the best have changed. */
static void set_limit(sx_hope *hope) {
    size_t k = hope->judge->k;
    hope->best = hope->kept.n == k ? hope->kept.kept[k - 1].value : INFINITY;
    hope->limit = sx_judge_limit(hope->judge, hope->best);
    assert(hope->limit <= hope->best);
}

/* Takes in one of the best: of several, in its place; of one, where it is the only one or better. */
static void learn_best(sx_hope *hope, const sx_score *score, double value, const void *point) {
    const sx_judge *judge = hope->judge;
    sx_archived kept = {.metrics = sx_score_metrics(score), .value = value};
    size_t place;
    if (value >= hope->best) return;
    if (judge->k > 1)
        place = sx_k_best_place(&hope->kept, judge->k, judge->goal, &kept.metrics, point);
    else
        place = 0;
    if (place == SX_NOWHERE) return;
    hope->failed |= !sx_k_best_put(&hope->kept, judge->k, place, &kept, point);
    hope->found |= place == 0;
    if (!hope->failed) set_limit(hope);
}

void sx_hope_learn(sx_hope *hope, const sx_score *score, const void *point) {
    double value = value_of(hope->judge, score);
    if (value < INFINITY) learn_best(hope, score, value, point);
    if (!hope->judge->front) return;
    sx_archived kept = {.metrics = sx_score_metrics(score)};
    size_t place = sx_front_place(&hope->front, hope->judge->goal, &kept.metrics);
    if (place != SX_NOWHERE)
        hope->failed |= !sx_front_put(&hope->front, hope->judge->goal, place, &kept, NULL);
}

void sx_hope_read(sx_hope *hope, const sx_judge *judge, const sx_run *run) {
    sx_found found;
    hope->judge = judge;
    hope->kept.point_size = sx_run_space(run)->point_size;
    hope->kept.n = hope->front.n = 0;
    set_limit(hope);
    for (size_t i = 0; i < judge->k && sx_run_best(run, i, &found); i++) {
        sx_score score = sx_metrics_score(&found.metrics);
        sx_hope_learn(hope, &score, found.point);
    }
    for (size_t i = 0; judge->front && sx_run_front(run, i, &found); i++) {
        sx_score score = sx_metrics_score(&found.metrics);
        sx_hope_learn(hope, &score, found.point);
    }
    hope->found = false;
}

/* Makes a shelf hold what another one does. */
static bool copy_shelf(sx_archive *to, const sx_archive *from) {
    to->point_size = from->point_size;
    if (!sx_archive_reserve(to, from->n)) return false;
    for (size_t i = 0; i < from->n; i++) {
        size_t slot = to->kept[i].slot;
        to->kept[i] = from->kept[i];
        to->kept[i].slot = slot;
        if (to->point_size)
            memcpy(to->points + slot * to->point_size, sx_archive_point(from, i), to->point_size);
    }
    to->n = from->n;
    return true;
}

void sx_hope_copy(sx_hope *hope, const sx_hope *from) {
    hope->judge = from->judge;
    hope->found = false;
    hope->failed = !copy_shelf(&hope->kept, &from->kept) || !copy_shelf(&hope->front, &from->front);
    if (!hope->failed) set_limit(hope);
}

void sx_hope_fini(sx_hope *hope) {
    sx_archive_fini(&hope->kept);
    sx_archive_fini(&hope->front);
}

/* Whether no member of the front has as little of both, to within the gap. */
static bool leads(const sx_hope *hope, double energy, double cycles) {
    const sx_archived *kept = hope->front.kept;
    size_t low = 0, high = hope->front.n;
    double slack = (1 + hope->judge->gap) * (1 + ROUNDING);
    energy = fmax(energy, 0);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (kept[middle].metrics.value[SX_MAPPING_ENERGY] <= energy * slack)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 || kept[low - 1].metrics.value[SX_MAPPING_CYCLES] > cycles * slack;
}

bool sx_hope_open(const sx_hope *hope, double value, double energy, double cycles) {
    if (value < hope->limit) return true;
    return hope->judge->front && value < INFINITY && leads(hope, energy, cycles);
}
