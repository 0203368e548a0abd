/* Sums of energy and cycles of inner optima whose objective is their product.
 *
 * What is known of an optimum are lower bounds L of a * ln(energy) + (1 - a) * ln(cycles), for some a: of the objective (1/2 for
 * EDP), of energy and of cycles alone, and of searches by energy^a * cycles^(1 - a). In logarithms each is a half-plane, and a sum
 * s * energy + t * cycles is convex there. So its least value above all of them is the largest of its least values above two of
 * them (Helly). Above one it is (s / a)^a * (t / (1 - a))^(1 - a) * e^L, where s * energy : t * cycles = a : (1 - a); that point
 * may lie below the other one, and then the least value above both is where they cross, or at the other's own point. A search by
 * the a that a mapping itself has so bounds the sum by the least sum, if its bound is the least product. */
#include "base/status.h"
#include "fuse/inner.h"

#include <math.h>

/* A half-plane: power * ln(energy) + (1 - power) * ln(cycles) is at least so much. */
typedef struct half_plane {
    double power, least;
} half_plane;

enum { MOST_PLANES = SX_INNER_POWERS + 4 };

/* Sums are products of powers of doubles: they are lowered by more than these are rounded. */
static const double ROUNDING = 1 - 1e-12;

/* Sets energy and cycles that no mapping of an optimum is below, unless they are set. */
static sx_status set_least(sx_inner *inner, sx_inner_optimum *item) {
    if (item->least.cycles != 0 || !inner->least) return SX_OK;
    if (inner->any_room && sx_inner_less_room(&item->key.cut)) {
        sx_inner_optimum *roomy = sx_vector_at(&inner->optimum, item->relaxed);
        SX_TRY(set_least(inner, roomy));
        item->least = roomy->least;
        return SX_OK;
    }
    return inner->least(inner->user, sx_vector_at(&inner->problem, item->key.problem), &item->key.cut,
                        &item->least);
}

/* The half-planes of an optimum; returns how many. */
static int list_planes(const sx_inner *inner, const sx_inner_optimum *item, half_plane *out) {
    const sx_criterion *power = &inner->objective.criterion[0];
    const double cycles = sx_inner_delay(inner, &item->least);
    int n = 0;
    if (item->bound > 0)
        out[n++] = (half_plane){power->energy_power * inner->root, log(item->bound) * inner->root};
    if (item->least.energy_pj > 0) out[n++] = (half_plane){1, log(item->least.energy_pj)};
    out[n++] = (half_plane){0, log(fmax(cycles, 1))};
    for (int k = 0; k <= SX_INNER_POWERS && !item->any_tiles; k++)
        if ((item->powers >> k & 1) && isfinite(item->power[k]))
            out[n++] = (half_plane){(double)k / SX_INNER_POWERS, item->power[k]};
    return n;
}

/* The least sum above one half-plane, and the point where it is as logarithms of energy and cycles. */
static double least_above(const half_plane *p, const double share[2], double at[2]) {
    const double a = p->power, b = 1 - a;
    if (a >= 1 || b >= 1) {
        at[0] = a >= 1 ? p->least : -INFINITY;
        at[1] = a >= 1 ? -INFINITY : p->least;
        return a >= 1 ? share[0] * exp(p->least) : share[1] * exp(p->least);
    }
    const double sum = exp(a * log(share[0] / a) + b * log(share[1] / b) + p->least);
    at[0] = log(sum * a / share[0]);
    at[1] = log(sum * b / share[1]);
    return sum;
}

/* Whether a point is above a half-plane. */
static bool is_above(const half_plane *p, const double at[2]) {
    const double b = 1 - p->power;
    const double value = (p->power > 0 ? p->power * at[0] : 0) + (b > 0 ? b * at[1] : 0);
    return value >= p->least;
}

/* The least sum above two half-planes. */
static double least_above_both(const half_plane *p, const half_plane *q, const double share[2]) {
    double at[2], other[2];
    const double first = least_above(p, share, at), second = least_above(q, share, other);
    if (is_above(q, at)) return first;
    if (is_above(p, other)) return second;
    const double turn = p->power - q->power;
    if (fabs(turn) < 1e-9) return fmax(first, second);
    const double energy = (p->least * (1 - q->power) - q->least * (1 - p->power)) / turn,
                 cycles = (p->power * q->least - q->power * p->least) / turn;
    return share[0] * exp(energy) + share[1] * exp(cycles);
}

/* The least sum above all half-planes of an optimum. */
static double least_sum(const sx_inner *inner, const sx_inner_optimum *item, const double share[2]) {
    half_plane plane[MOST_PLANES];
    const int n = list_planes(inner, item, plane);
    double least = 0;
    for (int i = 0; i < n; i++) {
        const bool alone = share[0] == 0 || share[1] == 0;
        if (alone && plane[i].power == (share[1] == 0))
            least = fmax(least, (share[0] + share[1]) * exp(plane[i].least));
        for (int j = 0; j < i && !alone; j++)
            least = fmax(least, least_above_both(&plane[i], &plane[j], share));
    }
    return least * ROUNDING;
}

sx_status sx_inner_sum(sx_inner *inner, size_t optimum, const double share[2], double *out) {
    sx_inner_optimum *item = sx_vector_at(&inner->optimum, optimum);
    *out = INFINITY;
    if (isinf(item->bound)) return SX_OK;
    if (item->sum_share[0] != share[0] || item->sum_share[1] != share[1]) {
        SX_TRY(set_least(inner, item));
        item->sum = least_sum(inner, item, share);
        item->sum_share[0] = share[0];
        item->sum_share[1] = share[1];
    }
    const double own = item->sum, part = item->share, more = share[0] * item->more;
    double relaxed = 0;
    const bool bounded = item->relaxed != optimum && !item->any_tiles;
    if (bounded) SX_TRY(sx_inner_sum(inner, item->relaxed, share, &relaxed));
    *out = bounded ? fmax(own, part * relaxed + more) : own;
    return SX_OK;
}

static sx_inner_found *found_at(const sx_inner *inner, size_t number) {
    return sx_vector_at(&inner->found, number - 1);
}

/* Whether a mapping fits into the room that an optimum leaves. */
static bool mapping_fits(const sx_inner *inner, const sx_inner_found *found, const sx_cut *cut) {
    return found->used + cut->occupied <= inner->capacity &&
           (!inner->second || found->used_second + cut->occupied_second <= inner->second);
}

sx_status sx_inner_keep(sx_inner *inner, size_t optimum, const sx_inner_found *found) {
    sx_inner_optimum *item = sx_vector_at(&inner->optimum, optimum);
    const double cycles = sx_inner_delay(inner, &found->score);
    for (size_t f = item->found; f; f = found_at(inner, f)->before) {
        sx_inner_found *known = found_at(inner, f);
        if (known->score.energy_pj > found->score.energy_pj || sx_inner_delay(inner, &known->score) > cycles)
            continue;
        known->powers |= found->powers;
        return SX_OK;
    }
    sx_inner_found *added = sx_vector_add(&inner->found);
    if (!added) return sx_error_memory();
    *added = *found;
    added->before = item->found;
    item->found = inner->found.n;
    return SX_OK;
}

sx_status sx_inner_share(sx_inner *inner, size_t from, size_t optimum) {
    sx_inner_optimum *item = sx_vector_at(&inner->optimum, optimum);
    const sx_inner_optimum *known = sx_inner_at(inner, from);
    item->sum_share[0] = NAN;
    for (size_t f = known->found; f; f = found_at(inner, f)->before) {
        const sx_inner_found found = *found_at(inner, f);
        if (!mapping_fits(inner, &found, &item->key.cut)) continue;
        for (int k = 0; k <= SX_INNER_POWERS; k++)
            if (found.powers >> k & 1)
                item->power[k] =
                    item->powers >> k & 1 ? fmax(item->power[k], known->power[k]) : known->power[k];
        item->powers |= found.powers;
        SX_TRY(sx_inner_keep(inner, optimum, &found));
    }
    return SX_OK;
}

/* The sum of a score. */
static double sum_of(const sx_inner *inner, const sx_score *score, const double *share) {
    if (!share) return sx_objective_value(&inner->objective, score);
    return share[0] * score->energy_pj + share[1] * sx_inner_delay(inner, score);
}

/* Of the mappings of an optimum, the number of the one with the least sum; 0: there is none. */
static size_t best_found(const sx_inner *inner, const sx_inner_optimum *item, const double *share) {
    size_t best = item->found;
    for (size_t f = best; f; f = found_at(inner, f)->before)
        if (sum_of(inner, &found_at(inner, f)->score, share) <
            sum_of(inner, &found_at(inner, best)->score, share))
            best = f;
    return best;
}

double sx_inner_known_sum(const sx_inner *inner, size_t optimum, const double share[2]) {
    const size_t best = best_found(inner, sx_inner_at(inner, optimum), share);
    return best ? sum_of(inner, &found_at(inner, best)->score, share) : INFINITY;
}

void sx_inner_select(sx_inner *inner, const double *share) {
    for (size_t i = 0; i < inner->optimum.n; i++) {
        sx_inner_optimum *item = sx_vector_at(&inner->optimum, i);
        const size_t best = best_found(inner, item, share);
        if (!best) continue;
        const sx_inner_found *found = found_at(inner, best);
        item->score = found->score;
        item->used = found->used;
        item->used_second = found->used_second;
        item->mapping = found->mapping;
    }
}

/* What a search for a good mapping leaves of the sum of one that was found with little effort, about. */
static const double LIKELY = 0.9;

sx_status sx_inner_select_likely(sx_inner *inner, const double share[2]) {
    sx_inner_select(inner, share);
    for (size_t i = 0; i < inner->optimum.n; i++) {
        sx_inner_optimum *item = sx_vector_at(&inner->optimum, i);
        double bound;
        if (!item->found || item->polished || item->effort >= SX_INNER_SEARCH) continue;
        SX_TRY(sx_inner_sum(inner, i, share, &bound));
        const double left = fmin(1, fmax(LIKELY, bound / sum_of(inner, &item->score, share)));
        item->score.energy_pj *= left;
        item->score.cycles *= left;
        item->score.latency *= left;
    }
    return SX_OK;
}

/* The powers whose products bound a sum best: those next to the share of energy in the sum of the best mapping known, or of the
 * least energy and cycles; the nearest one first. Above the half-planes of both, the mapping itself has the least sum where their
 * bounds are its products. */
static sx_status choose_powers(sx_inner *inner, sx_inner_optimum *item, const double share[2], int out[2]) {
    SX_TRY(set_least(inner, item));
    const size_t best = best_found(inner, item, share);
    const sx_score *score = best ? &found_at(inner, best)->score : &item->least;
    const double energy = share[0] * score->energy_pj,
                 cycles = share[1] * fmax(sx_inner_delay(inner, score), 1);
    const double exact = SX_INNER_POWERS * energy / fmax(energy + cycles, 1e-300);
    out[0] = (int)lround(exact);
    out[1] = out[0] + (exact > out[0]) - (exact < out[0]);
    return SX_OK;
}

/* Takes over what is known of a power from an optimum with no less room whose mapping fits; false: there is none. */
static sx_status share_power(sx_inner *inner, size_t optimum, int power, bool *shared) {
    const sx_inner_key key = sx_inner_at(inner, optimum)->key;
    *shared = false;
    for (size_t i = 0; i < inner->optimum.n && !*shared; i++) {
        const sx_inner_optimum *known = sx_inner_at(inner, i);
        if (i == optimum || known->any_tiles || known->key.problem != key.problem ||
            !(known->powers >> power & 1))
            continue;
        if (!sx_inner_same_cut(&known->key.cut, &key.cut)) continue;
        SX_TRY(sx_inner_share(inner, i, optimum));
        *shared = sx_inner_at(inner, optimum)->powers >> power & 1;
    }
    return SX_OK;
}

/* Enters the answer to a search by a power. */
static sx_status enter_power(sx_inner *inner, size_t optimum, int power, const sx_inner_answer *answer) {
    sx_inner_optimum *item = sx_vector_at(&inner->optimum, optimum);
    const double before = item->powers >> power & 1 ? item->power[power] : -INFINITY;
    item->powers |= 1u << power;
    item->power[power] = fmax(before, answer->bound > 0 ? log(answer->bound) : -INFINITY);
    item->sum_share[0] = NAN;
    if (!answer->found && !answer->stopped && !item->any_tiles) item->bound = INFINITY;
    if (!answer->found) return SX_OK;
    sx_mapping *mapping = sx_vector_add(&inner->mapping);
    if (!mapping) return sx_error_memory();
    *mapping = answer->mapping;
    const sx_inner_found found = {answer->score, answer->used, answer->used_second, inner->mapping.n - 1, 0,
                                  1u << power};
    const double value = sx_objective_value(&inner->objective, &answer->score);
    if (value < item->value) {
        item->value = value;
        sx_inner_uphold(inner, optimum);
        item->score = found.score;
        item->used = found.used;
        item->used_second = found.used_second;
        item->mapping = found.mapping;
    }
    return sx_inner_keep(inner, optimum, &found);
}

/* Whether a power is that of the objective. */
static bool is_own_power(const sx_inner *inner, int power) {
    return power == SX_INNER_POWERS * inner->objective.criterion[0].energy_power * inner->root;
}

/* Whether an optimum was searched by a power. */
static bool was_searched(const sx_inner *inner, size_t optimum, int power) {
    return is_own_power(inner, power) ? sx_inner_settled(inner, optimum, SX_INNER_SKETCH)
                                      : sx_inner_at(inner, optimum)->powers >> power & 1;
}

/* Searches an optimum by a power by which it was not searched. */
static sx_status search_by(sx_inner *inner, size_t optimum, int power) {
    const sx_inner_optimum *item = sx_inner_at(inner, optimum);
    sx_inner_answer answer = {0};
    bool shared;
    if (is_own_power(inner, power)) return sx_inner_settle(inner, optimum, SX_INNER_SKETCH);
    SX_TRY(share_power(inner, optimum, power, &shared));
    if (shared) return SX_OK;
    inner->n_searched++;
    SX_TRY(inner->search_power(inner->user, sx_vector_at(&inner->problem, item->key.problem), &item->key.cut,
                               (double)power / SX_INNER_POWERS, SX_INNER_SKETCH, &answer));
    return enter_power(inner, optimum, power, &answer);
}

/* A mapping whose sum is within this factor of its bound needs no second power. */
static const double TIGHT = 1.005;

/* Searches an optimum, or one that bounds it, by the nearest power; by the next one only where `both` says so. */
static sx_status search_sum(sx_inner *inner, size_t optimum, const double share[2], bool both,
                            bool *searched) {
    sx_inner_optimum *item = sx_vector_at(&inner->optimum, optimum);
    const size_t relaxed = item->relaxed;
    int power[2];
    double bound;
    *searched = false;
    if (!inner->search_power || isinf(item->bound)) return SX_OK;
    if (relaxed != optimum) SX_TRY(search_sum(inner, relaxed, share, false, searched));
    if (*searched) return SX_OK;
    SX_TRY(choose_powers(inner, item, share, power));
    const bool again = was_searched(inner, optimum, power[0]);
    if (again && (!both || was_searched(inner, optimum, power[1]))) return SX_OK;
    SX_TRY(sx_inner_sum(inner, optimum, share, &bound));
    if (again && sx_inner_known_sum(inner, optimum, share) <= TIGHT * bound) return SX_OK;
    *searched = true;
    return search_by(inner, optimum, power[again]);
}

sx_status sx_inner_search_sum(sx_inner *inner, size_t optimum, const double share[2], bool *searched) {
    return search_sum(inner, optimum, share, true, searched);
}

/* A mapping whose sum is within this factor of its bound is good. */
static const double GOOD = 1.02;

sx_status sx_inner_polish_sum(sx_inner *inner, size_t optimum, const double share[2], bool *searched) {
    sx_inner_optimum *item = sx_vector_at(&inner->optimum, optimum);
    const size_t best = best_found(inner, item, share);
    sx_inner_answer answer = {0};
    double bound;
    int powers[2];
    *searched = false;
    if (!inner->search_power || isinf(item->bound)) return SX_OK;
    SX_TRY(sx_inner_sum(inner, optimum, share, &bound));
    if (best && sum_of(inner, &found_at(inner, best)->score, share) <= GOOD * bound) return SX_OK;
    SX_TRY(choose_powers(inner, item, share, powers));
    const int power = powers[0];
    if (item->polished >> power & 1) return SX_OK;
    *searched = true;
    item->polished |= 1u << power;
    inner->n_searched++;
    SX_TRY(inner->search_power(inner->user, sx_vector_at(&inner->problem, item->key.problem), &item->key.cut,
                               (double)power / SX_INNER_POWERS, SX_INNER_SEARCH, &answer));
    return enter_power(inner, optimum, power, &answer);
}
