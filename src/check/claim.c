/* Whether the mappings that a certificate names are in the space, and cost what it says. */
#include "check/target.h"

#include <math.h>
#include <stdlib.h>

/* floor(number * scale), exactly; false where it does not fit. */
static bool scale_double(double number, sx_wide scale, sx_wide *out) {
    int exponent;
    sx_wide digits = (sx_wide)ldexp(frexp(number, &exponent), 53);
    exponent -= 53;
    if (!isfinite(number) || !sx_wide_mul(digits, scale, out)) return false;
    for (; exponent > 0; exponent--)
        if (!sx_wide_mul(*out, 2, out)) return false;
    if (exponent < -120) exponent = -120;
    *out >>= -exponent;
    return true;
}

/* Whether a double says what was counted, but for the rounding of a sum of doubles: to a share of 2^-46 and less than one
 * half, or to a share of 2^-50. Compares in parts of a unit, as many as 128 bits hold, so that small numbers have no more room. */
static bool says_counted(double claimed, sx_wide scale, sx_wide counted) {
    enum { MOST_BITS = 60, LEAST_BITS = 10 };
    int bits = MOST_BITS;
    sx_wide said, fine, fine_scale, slack;
    while (!sx_wide_mul(counted, (sx_wide)1 << bits, &fine) ||
           !sx_wide_mul(scale, (sx_wide)1 << bits, &fine_scale) || !scale_double(claimed, fine_scale, &said))
        if (--bits < LEAST_BITS) return false;
    slack = (fine >> 46) + 2;
    if (slack > (sx_wide)1 << (bits - 1)) slack = (sx_wide)1 << (bits - 1);
    if (slack < fine >> 50) slack = fine >> 50;
    return said - fine < slack && fine - said < slack;
}

/* Whether a double says a product divided by another one, to a share of 2^-48. */
static bool says_product(double claimed, const sx_long_product *num, const sx_long_product *den) {
    const sx_wide unit = (sx_wide)1 << 48;
    sx_long_product least = *den, most = *den, counted = *num, beyond = *num;
    if (!isfinite(claimed) || claimed < 0) return false;
    sx_long_product_add(&least, unit - 1, 1);
    sx_long_product_add(&most, unit + 1, 1);
    sx_long_product_add(&counted, unit, 1);
    sx_long_product_add(&beyond, unit, 1);
    return sx_long_product_add_double(claimed, &least, &counted) &&
           sx_long_product_reaches(&counted, &least) && sx_long_product_add_double(claimed, &most, &beyond) &&
           sx_long_product_reaches(&most, &beyond);
}

/* Whether an energy is said as it was counted: without rounding, where it is said so. */
static bool says_energy(const sx_check_point *point, int64_t scale, sx_wide energy) {
    sx_wide claimed, counted;
    if (!says_counted(point->energy_pj, scale, energy)) return false;
    if (point->exact[1] == 0) return true;
    return sx_wide_mul(point->exact[0], scale, &claimed) && sx_wide_mul(energy, point->exact[1], &counted) &&
           claimed == counted;
}

/* Whether no exponent of a goal is above 1. */
static bool is_simple(sx_check_goal goal) {
    return goal.energy_power <= 1 && goal.delay_power <= 1;
}

/* Whether a double says the value of a cost. */
static bool says_value(const sx_check_case *c, double claimed, sx_wide energy, int64_t cycles) {
    sx_check_goal goal = c->claim.goal;
    sx_wide value, scale = goal.energy_power ? c->machine.scale : 1;
    sx_long_product num = {0}, den = {0};
    if (is_simple(goal))
        return sx_check_value(goal, energy, cycles, &value) && says_counted(claimed, scale, value);
    sx_long_product_add(&num, energy, goal.energy_power);
    sx_long_product_add(&num, cycles, goal.delay_power);
    sx_long_product_add(&den, scale, goal.energy_power);
    return says_product(claimed, &num, &den);
}

/* Whether a point says an energy and cycles. */
static bool says_cost(const sx_check_case *c, const sx_check_point *point, sx_wide energy, int64_t cycles) {
    return says_energy(point, c->machine.scale, energy) && says_counted(point->cycles, 1, cycles);
}

/* Whether a point says a cost that rounding in doubles may make of a mapping, whatever it really makes. */
static bool may_say(const sx_check_case *c, const sx_check_point *point, const sx_check_cost *cost) {
    double scale = (double)c->machine.scale, share = 1e-12;
    return point->energy_pj >= (double)cost->least_energy / scale * (1 - share) &&
           point->energy_pj <= (double)(cost->energy + cost->full * cost->leak) / scale * (1 + share) &&
           point->cycles >= (double)cost->least_cycles &&
           point->cycles <= (double)(cost->cycles + cost->full);
}

/* Makes the cost of a mapping what a certificate says of it, where it does: what was counted, or what the model's own steps
 * in doubles come to. They may round up the cycles of a port that is full to the last, and count one less where fractions
 * make a whole number of accesses, or a half. */
static sx_independent_verdict claims_cost(const sx_check_case *c, const sx_check_point *point,
                                          sx_check_cost *said, sx_check_doubt *doubt) {
    const sx_check_cost cost = *said;
    if (says_cost(c, point, cost.energy, cost.cycles)) return SX_INDEPENDENT_HOLDS;
    said->energy = cost.said_energy;
    said->cycles = cost.said;
    if (!cost.open && may_say(c, point, &cost) && says_cost(c, point, said->energy, said->cycles))
        return SX_INDEPENDENT_HOLDS;
    sx_check_doubt_add(doubt, "the mapping costs %.17g pJ and %lld cycles, not what is claimed",
                       (double)cost.energy / (double)c->machine.scale, (long long)cost.cycles);
    return cost.open && may_say(c, point, &cost) ? SX_INDEPENDENT_UNDECIDED : SX_INDEPENDENT_FAILS;
}

/* Whether a mapping is in the space and costs what is claimed; *cost is its cost, *said what is claimed. */
static sx_independent_verdict check_point(const sx_check_space *space, const sx_check_point *point,
                                          sx_check_cost *cost, sx_check_cost *said, sx_check_doubt *doubt) {
    const sx_check_case *c = space->c;
    sx_check_legality legal = sx_check_evaluate(c, &point->mapping, cost, doubt);
    if (legal != SX_COST_LEGAL)
        return legal == SX_COST_ILLEGAL ? SX_INDEPENDENT_FAILS : SX_INDEPENDENT_UNDECIDED;
    if (!sx_check_contains(space, &point->mapping, doubt)) return SX_INDEPENDENT_FAILS;
    *said = *cost;
    return claims_cost(c, point, said, doubt);
}

sx_independent_verdict sx_check_best(const sx_check_space *space, sx_independent_report *out, double *said,
                                     sx_check_doubt *doubt) {
    sx_check_cost cost, claimed;
    const sx_independent_verdict verdict = check_point(space, &space->c->best, &cost, &claimed, doubt);
    if (verdict != SX_INDEPENDENT_HOLDS) return verdict;
    out->energy_pj = (double)cost.energy / (double)space->c->machine.scale;
    out->cycles = (double)cost.cycles;
    *said = (double)claimed.cycles;
    return verdict;
}

/* The least whole number that is not below a number times a scale, less a share of it; false where it does not fit. */
static bool round_up(double number, sx_wide scale, sx_wide share, sx_wide *out) {
    enum { BITS = 40 };
    int bits = BITS;
    sx_wide fine;
    *out = 0;
    if (number <= 0) return isfinite(number);
    while (!sx_wide_mul(scale, (sx_wide)1 << bits, &fine) || !scale_double(number, fine, &fine))
        if (bits-- == 0) return false;
    fine += 1 - (fine + 1) / share;
    *out = (fine + ((sx_wide)1 << bits) - 1) >> bits;
    return true;
}

/* Sets the target to a claimed lower bound, less the share of 10^-11 that certificates leave to rounding. */
static bool set_bound(const sx_check_case *c, sx_check_target *out) {
    const sx_wide share = 100000000000;
    sx_wide scale = out->goal.energy_power ? c->machine.scale : 1;
    if (is_simple(out->goal)) return round_up(c->claim.lower_bound, scale, share, &out->value);
    if (!isfinite(c->claim.lower_bound) || c->claim.lower_bound < 0) return false;
    sx_long_product_add(&out->needed, scale, out->goal.energy_power);
    sx_long_product_add(&out->needed, share - 1, 1);
    sx_long_product_add(&out->spread, share, 1);
    return sx_long_product_add_double(c->claim.lower_bound, &out->needed, &out->spread);
}

/* Sets the target to what a cost comes to under the goal of the target; false where it does not fit. */
static bool set_cost(sx_wide energy, int64_t cycles, sx_check_target *out) {
    if (is_simple(out->goal)) return sx_check_value(out->goal, energy, cycles, &out->value);
    sx_long_product_add(&out->needed, energy, out->goal.energy_power);
    sx_long_product_add(&out->needed, cycles, out->goal.delay_power);
    return true;
}

/* By what share the value that a certificate says is above that of its mapping's cost; 0: it is not. */
static double share_above(sx_check_goal goal, const sx_check_cost *cost, const sx_check_cost *said) {
    double energy = (double)cost->energy / (double)said->energy,
           cycles = (double)cost->cycles / (double)said->cycles;
    if (said->energy <= cost->energy && said->cycles <= cost->cycles) return 0;
    return fmax(1 - (said->energy ? pow(energy, goal.energy_power) : 1) * pow(cycles, goal.delay_power), 0);
}

/* Sets the target: what the mapping costs and what is said of it, or of a proof that is not complete the lower bound.
 * `more` is added to energy, or cycles. False where a number does not fit. */
static bool set_target(const sx_check_case *c, const sx_check_cost *cost, const sx_check_cost *said,
                       int64_t more, sx_check_target *out) {
    int64_t late = c->claim.goal.energy_power ? 0 : more;
    out->goal = c->claim.goal;
    if (!c->claim.optimal) return set_bound(c, out);
    if (is_simple(out->goal) &&
        !sx_check_value(out->goal, said->energy + more - late, said->cycles + late, &out->said))
        return false;
    out->excess = share_above(out->goal, cost, said);
    return set_cost(cost->energy + more - late, cost->cycles + late, out);
}

/* Whether a point comes after another one in a front: more cycles and less energy. */
static bool corner_follows(const sx_check_corner *next, const sx_check_corner *last) {
    return next->cycles > last->cycles && next->energy < last->energy;
}

/* Adds a point to a front: its cost and what is said of it, which may be a cycle more. Returns why it does not belong
 * there; NULL: it does. *open: by what is said it does. */
static const char *add_corner(const sx_check_target *best, const sx_check_cost *cost,
                              const sx_check_cost *said, int64_t more, sx_check_corner *last_said,
                              sx_check_target *out, bool *open) {
    sx_check_corner next = {cost->energy + more, cost->cycles}, next_said = {said->energy, said->cycles};
    size_t n = out->n_corners;
    *open = sx_check_reaches(best, said->energy, said->cycles);
    if (!sx_check_reaches(best, cost->energy, cost->cycles)) return "is better than the best mapping";
    *open = n == 0 || corner_follows(&next_said, last_said);
    if (!*open || (n && !corner_follows(&next, &out->corner[n - 1])))
        return "has no more cycles, or no less energy, than the one before";
    *last_said = next_said;
    out->corner[out->n_corners++] = next;
    return NULL;
}

/* Checks the points of a front and makes it the target; the best mapping may be no worse than any of them. */
static sx_status check_front(const sx_check_space *space, int64_t more, sx_check_target *target,
                             sx_independent_report *out, sx_check_doubt *doubt) {
    const sx_check_case *c = space->c;
    sx_check_target best = *target;
    sx_check_corner last_said = {0};
    bool open;
    target->corner = malloc(c->n_front * sizeof *target->corner);
    if (!target->corner) return sx_error_memory();
    for (size_t i = 0; i < c->n_front && out->verdict == SX_INDEPENDENT_HOLDS; i++) {
        sx_check_cost cost, said;
        out->verdict = check_point(space, &c->front[i], &cost, &said, doubt);
        if (out->verdict != SX_INDEPENDENT_HOLDS) break;
        const char *fault = add_corner(&best, &cost, &said, more, &last_said, target, &open);
        if (!fault) continue;
        sx_check_doubt_add(doubt, "point %zu of the front %s", i + 1, fault);
        out->verdict = open ? SX_INDEPENDENT_UNDECIDED : SX_INDEPENDENT_FAILS;
    }
    return SX_OK;
}

enum {
    SHARE = 1000
}; /* objectives of several criteria take for equal what differs by less than a part of this */

/* The least number that is above another one by a share of 0.001 of itself, which objectives of several criteria do not
 * take for equal; false where it does not fit. */
static bool least_above(sx_wide number, sx_wide *out) {
    if (!sx_wide_mul(number, SHARE, out) || !sx_wide_add(*out, SHARE - 2, out)) return false;
    *out /= SHARE - 1;
    if (*out <= number) *out = number + 1;
    return true;
}

/* Adds to the target of the first of two criteria what must be reached besides: the second, or the first by what tells
 * it from its least value. *fits: false where a number does not fit. */
static sx_status set_tie(const sx_check_corner *best, sx_check_goal second, sx_check_target *out,
                         bool *fits) {
    sx_check_target *tie = calloc(3, sizeof *tie);
    if (!tie) return sx_error_memory();
    tie[0].goal = second;
    tie[1] = tie[2] = *out;
    *fits = set_cost(best->energy, best->cycles, &tie[0]);
    if (is_simple(out->goal)) {
        *fits = *fits && least_above(out->value, &tie[1].value);
    } else {
        sx_long_product_add(&tie[1].needed, SHARE, 1);
        sx_long_product_add(&tie[1].spread, SHARE - 1, 1);
    }
    out->tie = tie;
    return SX_OK;
}

/* Makes the target that of two criteria one after the other. */
static sx_status check_tie(const sx_check_case *c, const sx_check_cost *cost, int64_t more,
                           sx_check_target *out, sx_independent_report *report, sx_check_doubt *doubt) {
    const sx_check_corner best = {cost->energy + more, cost->cycles};
    bool fits = true;
    out->said = 0;
    if (!c->n_front) SX_TRY(set_tie(&best, c->claim.second, out, &fits));
    if (fits && !c->n_front) return SX_OK;
    sx_check_doubt_add(doubt, fits ? "there is no rule for several criteria and a front"
                                   : "the value does not fit 128 bits");
    report->verdict = SX_INDEPENDENT_UNDECIDED;
    return SX_OK;
}

/* Whether the factors of a mapping do not all divide. */
static bool leaves_remainders(const sx_check_case *c, const sx_mapping *mapping) {
    for (int d = 0; d < c->problem.n_dims; d++) {
        sx_wide product = 1;
        for (int s = 0; s < c->machine.n_levels && product <= c->problem.size[d]; s++)
            product *= (sx_wide)mapping->level[s].temporal[d] * mapping->level[s].spatial[d];
        if (product > c->problem.size[d]) return true;
    }
    return false;
}

/* Whether a claimed lower bound is not above the value, and the value where it is optimal. */
static bool orders_bound(const sx_check_claim *claim, sx_check_doubt *doubt) {
    if (claim->lower_bound <= claim->value && (!claim->optimal || claim->lower_bound == claim->value))
        return true;
    *doubt = (sx_check_doubt){""};
    sx_check_doubt_add(doubt, "the lower bound is %.17g and the value %.17g", claim->lower_bound,
                       claim->value);
    return false;
}

/* Makes the claimed lower bound the target, of a mapping that leaves remainders where there is no rule for what it costs. */
static void check_bound_alone(const sx_check_case *c, sx_check_target *target, sx_independent_report *out,
                              sx_check_doubt *doubt) {
    const sx_check_claim *claim = &c->claim;
    target->goal = claim->goal;
    out->uncounted = true;
    out->energy_pj = c->best.energy_pj;
    out->cycles = c->best.cycles;
    double value = pow(out->energy_pj, claim->goal.energy_power) * pow(out->cycles, claim->goal.delay_power);
    if (claim->optimal && !(fabs(value - claim->value) <= ldexp(value, -46))) {
        sx_check_doubt_add(doubt, "the claimed value is not that of the claimed energy and cycles");
        out->verdict = SX_INDEPENDENT_FAILS;
    } else if (!set_bound(c, target))
        sx_check_doubt_add(doubt, "the lower bound does not fit 128 bits");
    else
        out->verdict = SX_INDEPENDENT_HOLDS;
}

sx_status sx_check_points(const sx_check_space *space, int64_t more, sx_check_target *target,
                          sx_independent_report *out, sx_check_doubt *doubt) {
    const sx_check_case *c = space->c;
    sx_check_cost cost, said;
    out->verdict = check_point(space, &c->best, &cost, &said, doubt);
    if (c->remainders && out->verdict != SX_INDEPENDENT_FAILS && !orders_bound(&c->claim, doubt)) {
        out->verdict = SX_INDEPENDENT_FAILS;
        return SX_OK;
    }
    if (out->verdict == SX_INDEPENDENT_UNDECIDED && leaves_remainders(c, &c->best.mapping)) {
        *doubt = (sx_check_doubt){""};
        check_bound_alone(c, target, out, doubt);
        return SX_OK;
    }
    if (out->verdict != SX_INDEPENDENT_HOLDS) return SX_OK;
    out->energy_pj = (double)cost.energy / (double)c->machine.scale;
    out->cycles = (double)cost.cycles;
    if (!says_value(c, c->claim.value, said.energy, said.cycles) ||
        (c->claim.optimal && !says_value(c, c->claim.lower_bound, said.energy, said.cycles))) {
        sx_check_doubt_add(doubt, "the mapping costs %.17g pJ and %lld cycles, not what is claimed",
                           out->energy_pj, (long long)cost.cycles);
        out->verdict = SX_INDEPENDENT_FAILS;
    } else if (!set_target(c, &cost, &said, more, target)) {
        sx_check_doubt_add(doubt, "the value does not fit 128 bits");
        out->verdict = SX_INDEPENDENT_UNDECIDED;
    } else if ((c->n_front || c->claim.tie) && !c->claim.optimal) {
        sx_check_doubt_add(doubt, "%s claimed of a proof that is not complete",
                           c->n_front ? "a front is" : "several criteria are");
        out->verdict = SX_INDEPENDENT_FAILS;
    } else if (c->claim.tie) {
        return check_tie(c, &cost, more, target, out, doubt);
    } else if (c->n_front) {
        target->said = 0;
        target->excess = 0;
        return check_front(space, more, target, out, doubt);
    }
    return SX_OK;
}
