#include "check/target.h"

#include <stdlib.h>

void sx_check_target_fini(sx_check_target *target) {
    free(target->corner);
    free(target->tie);
    target->corner = NULL;
    target->tie = NULL;
    target->n_corners = 0;
}

/* The last point of a front with no more cycles than these, which has the least energy of all such; NULL: none. */
static const sx_check_corner *find_corner(const sx_check_target *target, int64_t cycles) {
    size_t low = 0, high = target->n_corners;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (target->corner[middle].cycles <= cycles)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &target->corner[low - 1] : NULL;
}

/* Whether a product with exponents above 1 reaches the target. */
static bool product_reaches(const sx_check_target *target, sx_wide num, int64_t den, int64_t cycles) {
    sx_long_product own = target->spread, needed = target->needed;
    sx_long_product_add(&own, num > 0 ? num : 0, target->goal.energy_power);
    sx_long_product_add(&own, cycles, target->goal.delay_power);
    if (den != 1) sx_long_product_add(&needed, den, target->goal.energy_power);
    return sx_long_product_reaches(&own, &needed);
}

/* Whether a cost reaches the target of the first criterion, or of a front. */
static bool first_reaches(const sx_check_target *target, sx_wide num, int64_t den, int64_t cycles) {
    const sx_check_goal goal = target->goal;
    sx_wide own = num, needed = target->value;
    if (target->n_corners) {
        const sx_check_corner *corner = find_corner(target, cycles);
        return corner && sx_wide_mul(corner->energy, den, &needed) && num >= needed;
    }
    if (goal.energy_power > 1 || goal.delay_power > 1) return product_reaches(target, num, den, cycles);
    if (goal.energy_power == 0) return cycles >= target->value;
    if (goal.delay_power && num <= 0) return target->value <= 0;
    if (!sx_wide_mul(target->value, den, &needed)) return false;
    if (goal.delay_power && !sx_wide_mul(num, cycles, &own)) return true; /* it is above all that fits */
    return own >= needed;
}

bool sx_check_fraction_reaches(const sx_check_target *target, sx_wide num, int64_t den, int64_t cycles) {
    return first_reaches(target, num, den, cycles) &&
           (!target->tie || first_reaches(&target->tie[0], num, den, cycles) ||
            first_reaches(&target->tie[1], num, den, cycles));
}

bool sx_check_reaches(const sx_check_target *target, sx_wide energy, int64_t cycles) {
    return sx_check_fraction_reaches(target, energy, 1, cycles);
}

bool sx_check_value(sx_check_goal goal, sx_wide energy, int64_t cycles, sx_wide *out) {
    *out = goal.energy_power ? energy : cycles;
    return !goal.energy_power || !goal.delay_power || sx_wide_mul(energy, cycles, out);
}

bool sx_check_is_rounded(const sx_check_target *target, const sx_check_cost *cost) {
    sx_wide value;
    bool late = cost->full && cost->said == cost->cycles + 1 && cost->least_energy == cost->energy;
    if (!target->said) return false;
    return sx_check_value(target->goal, cost->energy + (late ? cost->leak : 0), cost->cycles + late,
                          &value) &&
           value >= target->said;
}

sx_wide sx_check_least_energy(const sx_check_target *target, int64_t cycles) {
    sx_wide low = 0, high = (sx_wide)1 << 100;
    while (low < high) {
        sx_wide middle = low + (high - low) / 2;
        if (sx_check_reaches(target, middle, cycles))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

int64_t sx_check_least_cycles(const sx_check_target *target, sx_wide energy) {
    int64_t low = 0, high = (int64_t)1 << 61;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (sx_check_reaches(target, energy, middle))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
