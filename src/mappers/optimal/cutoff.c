/* Pruning tests: bounds against the incumbents.
 *
 * One criterion: a bound must be below the best, or below the last of the k best where k are wanted.
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
#include "mappers/optimal/cutoff.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double ROUNDING = 1e-12;

bool sx_prune_rule_monotone(const sx_prune_rule *rule, int criterion) {
    const sx_criterion *c = &rule->objective->criterion[criterion];
    return c->kind == SX_UTILIZATION ||
           ((c->kind == SX_PRODUCT || c->kind == SX_LATENCY) && c->energy_power >= 0 && c->delay_power >= 0);
}

/* Whether a value of a criterion before the last is near enough to its optimum. */
static bool is_near(const sx_prune_rule *rule, int criterion, double value) {
    double least = rule->least[criterion];
    return fabs(value - least) <= rule->objective->tolerance * fmax(fabs(value), fabs(least));
}

double sx_prune_rule_value(const sx_prune_rule *rule, const sx_score *bound) {
    sx_score least = *bound;
    if (least.energy_pj == INFINITY) return INFINITY;
    least.energy_pj = fmax(least.energy_pj, 0);
    for (int i = 0; i < rule->criterion; i++) {
        if (!sx_prune_rule_monotone(rule, i)) continue;
        double value = sx_criterion_value(&rule->objective->criterion[i], &least);
        value -= ROUNDING * fabs(value);
        if (value > rule->least[i] && !is_near(rule, i, value)) return INFINITY;
    }
    if (!sx_prune_rule_monotone(rule, rule->criterion)) return -INFINITY;
    return sx_criterion_value(&rule->objective->criterion[rule->criterion], &least);
}

double sx_prune_rule_cutoff(const sx_prune_rule *rule, double best) {
    const double ceiling = rule->ceiling > 0 ? rule->ceiling : INFINITY;
    if (best == INFINITY) return ceiling;
    if (best <= 0) return best * (1 + ROUNDING) * (1 + rule->gap);
    return fmin(best * (1 - ROUNDING) / (1 + rule->gap), ceiling);
}

/* The value of a mapping for the criterion; INFINITY where one before it is not near its optimum. */
static double value_of(const sx_prune_rule *rule, const sx_score *score) {
    for (int i = 0; i < rule->criterion; i++)
        if (!is_near(rule, i, sx_criterion_value(&rule->objective->criterion[i], score))) return INFINITY;
    return sx_criterion_value(&rule->objective->criterion[rule->criterion], score);
}

/* After the best have changed. */
static void set_limit(sx_cutoff *cutoff) {
    size_t k = cutoff->rule->k;
    cutoff->best = cutoff->kept.n == k ? cutoff->kept.kept[k - 1].value : INFINITY;
    cutoff->limit = sx_prune_rule_cutoff(cutoff->rule, cutoff->best);
    assert(cutoff->limit <= cutoff->best);
}

/* Takes in one of the best: of several, in its place; of one, where it is the only one or better. */
static void learn_best(sx_cutoff *cutoff, const sx_score *score, double value, const void *point) {
    const sx_prune_rule *rule = cutoff->rule;
    sx_archived kept = {.metrics = sx_score_metrics(score), .value = value};
    size_t place;
    if (value >= cutoff->best) return;
    if (rule->k > 1)
        place = sx_k_best_place(&cutoff->kept, rule->k, rule->goal, &kept.metrics, point);
    else
        place = 0;
    if (place == SX_NOWHERE) return;
    cutoff->failed |= !sx_k_best_put(&cutoff->kept, rule->k, place, &kept, point);
    cutoff->found |= place == 0;
    if (!cutoff->failed) set_limit(cutoff);
}

void sx_cutoff_update(sx_cutoff *cutoff, const sx_score *score, const void *point) {
    double value = value_of(cutoff->rule, score);
    if (value < INFINITY) learn_best(cutoff, score, value, point);
    if (!cutoff->rule->front) return;
    sx_archived kept = {.metrics = sx_score_metrics(score)};
    size_t place = sx_front_place(&cutoff->front, cutoff->rule->goal, &kept.metrics);
    if (place != SX_NOWHERE)
        cutoff->failed |= !sx_front_put(&cutoff->front, cutoff->rule->goal, place, &kept, NULL);
}

void sx_cutoff_read(sx_cutoff *cutoff, const sx_prune_rule *rule, const sx_run *run) {
    sx_found found;
    cutoff->rule = rule;
    cutoff->kept.point_size = sx_run_space(run)->point_size;
    cutoff->kept.n = cutoff->front.n = 0;
    set_limit(cutoff);
    for (size_t i = 0; i < rule->k && sx_run_best(run, i, &found); i++) {
        sx_score score = sx_metrics_score(&found.metrics);
        sx_cutoff_update(cutoff, &score, found.point);
    }
    for (size_t i = 0; rule->front && sx_run_front(run, i, &found); i++) {
        sx_score score = sx_metrics_score(&found.metrics);
        sx_cutoff_update(cutoff, &score, found.point);
    }
    cutoff->found = false;
}

/* Copies an archive. */
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

void sx_cutoff_copy(sx_cutoff *cutoff, const sx_cutoff *from) {
    cutoff->rule = from->rule;
    cutoff->found = false;
    cutoff->failed = !copy_shelf(&cutoff->kept, &from->kept) || !copy_shelf(&cutoff->front, &from->front);
    if (!cutoff->failed) set_limit(cutoff);
}

void sx_cutoff_fini(sx_cutoff *cutoff) {
    sx_archive_fini(&cutoff->kept);
    sx_archive_fini(&cutoff->front);
}

/* Whether no member of the front has as little of both, to within the gap. */
static bool leads_front(const sx_cutoff *cutoff, double energy, double cycles) {
    const sx_archived *kept = cutoff->front.kept;
    size_t low = 0, high = cutoff->front.n;
    double slack = (1 + cutoff->rule->gap) * (1 + ROUNDING);
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

bool sx_cutoff_admits(const sx_cutoff *cutoff, double value, double energy, double cycles) {
    if (value < cutoff->limit) return true;
    return cutoff->rule->front && value < INFINITY && leads_front(cutoff, energy, cycles);
}
