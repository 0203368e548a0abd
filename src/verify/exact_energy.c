/* The energy of a mapping without rounding: the model's counts, which are integers, times energies, which are
 * decimals (docs/model.md, section 5). The sum is kept in units of 10^-places pJ, places being the most decimal
 * places that an energy has. */
#include "verify/exact_energy.h"

#include "base/decimal.h"
#include "base/status.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum { MOST_PLACES = 30 };

/* A fraction in its lowest terms. */
typedef struct fraction {
    wide numerator, denominator;
} fraction;

/* A sum that is being made. */
typedef struct exact_sum {
    int places;
    wide units;
    bool overflow;
} exact_sum;

/* Raises the places of a sum to those of an energy. */
static void raise_places(exact_sum *sum, double energy) {
    int places = -sx_decimal_of(energy).exponent;
    if (places > sum->places) sum->places = places;
}

static wide multiply_wide(exact_sum *sum, wide a, wide b) {
    wide product;
    sum->overflow |= __builtin_mul_overflow(a, b, &product);
    return product;
}

/* Adds a count of accesses of an energy. */
static void add_energy(exact_sum *sum, wide count, double energy) {
    sx_decimal each = sx_decimal_of(energy);
    wide units = (wide)each.digits;
    if (count == 0 || each.digits == 0) return;
    for (int i = each.exponent + sum->places; i > 0 && !sum->overflow; i--)
        units = multiply_wide(sum, units, 10);
    units = multiply_wide(sum, units, count);
    sum->overflow |= __builtin_add_overflow(sum->units, units, &sum->units);
}

/* The vector accesses of one instance that move its share of a tensor's elements. */
static wide count_vectors(exact_sum *sum, const sx_storage *level, const sx_tensor *tensor, uint64_t each) {
    wide bits = tensor->bits ? tensor->bits : level->word_bits;
    wide vector = (wide)level->word_bits * level->block_size;
    return (multiply_wide(sum, each, bits) + vector - 1) / vector;
}

/* Adds what a level's accesses to a tensor take. */
static void add_accesses(exact_sum *sum, const sx_storage *level, const sx_tensor *tensor,
                         const sx_cost_level *at, const sx_cost_tensor *count) {
    uint64_t reads = count->reads / at->instances, fills = count->fills / at->instances;
    uint64_t updates = count->updates / at->instances;
    wide vectors[] = {count_vectors(sum, level, tensor, reads), count_vectors(sum, level, tensor, fills),
                      count_vectors(sum, level, tensor, updates)};
    add_energy(sum, multiply_wide(sum, vectors[0], at->clusters), level->read_energy);
    add_energy(sum, multiply_wide(sum, vectors[1], at->clusters), level->fill_energy);
    add_energy(sum, multiply_wide(sum, vectors[2], at->clusters), level->update_energy);
    wide generations = (wide)(tensor->output ? updates : reads) + fills;
    add_energy(sum, multiply_wide(sum, generations, at->clusters), level->addr_gen_energy);
}

/* How many instances of a level leak. */
static uint64_t count_leaking(const sx_arch *arch, const sx_cost *cost, int s) {
    int gate = arch->level[s].power_gated_at;
    if (gate < 0 || arch->level[s].instances <= arch->level[gate].instances) return cost->level[s].instances;
    return arch->level[s].instances / arch->level[gate].instances * cost->level[gate].instances;
}

/* Adds what leaks while the slowest level works. */
static void add_leakage(exact_sum *sum, const sx_arch *arch, const sx_cost *cost) {
    uint64_t cycles = cost->cycles;
    for (int s = 0; s < arch->n_levels; s++)
        cycles -= arch->level[s].fill_latency + arch->level[s].drain_latency;
    for (int s = 0; s < arch->n_levels; s++)
        add_energy(sum, multiply_wide(sum, cycles, count_leaking(arch, cost, s)), arch->level[s].leak_energy);
}

static wide greatest_divisor(wide a, wide b) {
    while (b) {
        wide rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Whether a cost's counts say all that takes energy. */
static bool is_counted(const sx_arch *arch, const sx_cost *cost) {
    if (!cost->perfect) return false;
    for (int s = 0; s < arch->n_levels; s++)
        if (arch->level[s].energy_per_hop > 0 || arch->level[s].router_energy > 0) return false;
    return true;
}

/* The sum of a cost's counts times the decimals of the architecture's energies, in pJ; false where the counts do
 * not say it or it exceeds 128 bits. */
static bool sum_energy(const sx_problem *problem, const sx_arch *arch, const sx_cost *cost, fraction *out) {
    exact_sum sum = {0, 0, false};
    wide unit = 1;
    if (!is_counted(arch, cost)) return false;
    raise_places(&sum, arch->compute.energy);
    for (int s = 0; s < arch->n_levels; s++) {
        const sx_storage *level = &arch->level[s];
        const double energy[] = {level->read_energy, level->fill_energy, level->update_energy,
                                 level->addr_gen_energy, level->leak_energy};
        for (size_t i = 0; i < sizeof energy / sizeof *energy; i++) raise_places(&sum, energy[i]);
    }
    if (sum.places > MOST_PLACES) return false;
    add_energy(&sum, cost->computes, arch->compute.energy);
    for (int s = 0; s < arch->n_levels; s++)
        for (int v = 0; v < problem->n_tensors; v++)
            if (cost->level[s].tensor[v].kept)
                add_accesses(&sum, &arch->level[s], &problem->tensor[v], &cost->level[s],
                             &cost->level[s].tensor[v]);
    add_leakage(&sum, arch, cost);
    if (sum.overflow) return false;
    for (int i = 0; i < sum.places; i++) unit *= 10;
    wide common = greatest_divisor(sum.units, unit);
    *out = (fraction){sum.units / common, unit / common};
    return true;
}

/* Writes the digits of a number before `end`; returns where they begin. */
static char *write_digits(wide number, char *end) {
    do *--end = (char)('0' + (int)(number % 10));
    while (number /= 10);
    return end;
}

/* Writes a fraction as a number, or as two with a slash between them. */
static void write_fraction(const fraction *number, char text[SX_FRACTION_SIZE]) {
    char digits[SX_FRACTION_SIZE], *at = digits + sizeof digits;
    *--at = 0;
    if (number->denominator != 1) {
        at = write_digits(number->denominator, at);
        *--at = '/';
    }
    at = write_digits(number->numerator, at);
    memcpy(text, at, strlen(at) + 1);
}

sx_status sx_mapping_exact_energy(const sx_model *model, const sx_mapping *mapping,
                                  char text[SX_FRACTION_SIZE]) {
    const sx_problem *problem = sx_model_problem(model);
    const sx_arch *arch = sx_model_arch(model);
    sx_model_workspace *workspace;
    fraction energy;
    *text = 0;
    if (model->sparse || model->range || model->formats) return SX_OK;
    sx_cost *cost = malloc(sizeof *cost);
    sx_status status = cost ? sx_model_workspace_new(model, &workspace) : sx_error_memory();
    if (status) {
        free(cost);
        return status;
    }
    sx_verdict verdict = sx_evaluate(workspace, mapping, cost);
    if (verdict.reason == SX_LEGAL && sum_energy(problem, arch, cost, &energy)) write_fraction(&energy, text);
    sx_model_workspace_free(workspace);
    free(cost);
    return sx_verdict_status(&verdict, problem, arch);
}
