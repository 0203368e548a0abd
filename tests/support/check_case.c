#include "support/check_case.h"

#include "support/expect.h"

#include "sextant/certificate.h"
#include "verify/exact_energy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The text of a certificate that claims nothing of worth. */
static SX_OWN char *write_certificate(const sx_problem *problem, const sx_arch *arch,
                                      const sx_model_options *options) {
    sx_certificate *c = calloc(1, sizeof *c);
    char *text;
    assert_non_null(c);
    c->problem = *problem;
    c->arch = *arch;
    c->model = *options;
    sx_expect_ok(sx_objective_parse("edp", &c->objective));
    sx_constraints_init(&c->constraints, problem, arch);
    sx_mapping_init(&c->mapping, problem, arch);
    sx_expect_ok(sx_proof_new(0, (size_t)arch->n_levels * problem->n_dims, &c->proof));
    sx_expect_ok(sx_certificate_write(c, &text));
    sx_certificate_free(c);
    return text;
}

void sx_checked_case_init(const sx_problem *problem, const sx_arch *arch, const sx_model_options *options,
                          sx_checked_case *out) {
    char *text = write_certificate(problem, arch, options);
    memset(out, 0, sizeof *out);
    sx_expect_ok(sx_model_new(problem, arch, options, &out->model));
    sx_expect_ok(sx_model_workspace_new(out->model, &out->evaluator));
    sx_expect_ok(sx_check_case_read("case", text, strlen(text), &out->c, &out->doubt));
    sx_expect_ok(sx_check_evaluator_new(out->c, &out->checker));
    free(text);
}

void sx_checked_case_fini(sx_checked_case *checked) {
    sx_model_workspace_free(checked->evaluator);
    sx_model_free(checked->model);
    sx_check_evaluator_free(checked->checker);
    sx_check_case_free(checked->c);
}

/* Writes a number of 128 bits. */
static const char *wide_text(sx_wide number, char text[48]) {
    char *at = text + 47;
    *at = 0;
    do *--at = (char)('0' + (int)(number % 10));
    while (number /= 10);
    return at;
}

/* Writes an energy as the certificate does. */
static void energy_text(sx_wide energy, int64_t scale, char text[SX_FRACTION_SIZE]) {
    char above[48], below[48];
    sx_wide a = energy, b = scale;
    while (b) {
        sx_wide rest = a % b;
        a = b;
        b = rest;
    }
    const char *numerator = wide_text(energy / a, above), *denominator = wide_text(scale / a, below);
    snprintf(text, SX_FRACTION_SIZE, "%s%s%s", numerator, scale / a == 1 ? "" : "/",
             scale / a == 1 ? "" : denominator);
}

sx_cost_comparison sx_compare_checked_cost(sx_checked_case *checked, const sx_mapping *mapping,
                                           char why[512]) {
    static sx_cost full;
    sx_check_cost cost = {0};
    sx_check_doubt doubt = {""};
    char exact[SX_FRACTION_SIZE], own[SX_FRACTION_SIZE];
    sx_check_legality legality = sx_check_evaluator_cost(checked->checker, mapping, &cost, &doubt);
    sx_verdict verdict = sx_evaluate(checked->evaluator, mapping, &full);
    bool legal = verdict.reason == SX_LEGAL, rounded = false;
    snprintf(why, 512, "%s", *checked->doubt.why ? checked->doubt.why : doubt.why);
    if (*checked->doubt.why || legality == SX_COST_UNDECIDED) return SX_COSTS_OPEN;
    if (legal != (legality == SX_COST_LEGAL)) {
        snprintf(why, 512, "model: %s, checker: %s", sx_reason_name(verdict.reason),
                 legality == SX_COST_LEGAL ? "legal" : doubt.why);
        return SX_COSTS_DIFFER;
    }
    if (!legal) return SX_COSTS_ILLEGAL;
    if ((uint64_t)cost.said != full.cycles && cost.cycles < 1 << 30) {
        snprintf(why, 512, "the model's doubles make %llu cycles, the checker's of them %lld",
                 (unsigned long long)full.cycles, (long long)cost.said);
        return SX_COSTS_DIFFER;
    }
    double energy = (double)cost.energy / (double)checked->c->machine.scale, leak = 0;
    double said = (double)cost.said_energy / (double)checked->c->machine.scale;
    if (!cost.open && cost.cycles < 1 << 30 && fabs(said - full.energy_pj) > 1e-12 * said) {
        snprintf(why, 512, "the model's doubles make %.17g pJ, the checker's of them %.17g", full.energy_pj,
                 said);
        return SX_COSTS_DIFFER;
    }
    if (cost.full && (uint64_t)cost.cycles + 1 == full.cycles) {
        for (int s = 0; s < checked->c->machine.n_levels; s++) leak += full.level[s].leakage_pj;
        cost.cycles++;
        if (leak > 0) return SX_COSTS_ROUNDED;
        rounded = true;
    }
    double least = (double)cost.least_energy / (double)checked->c->machine.scale;
    if (cost.least_energy < cost.energy && full.energy_pj < energy * (1 - 1e-12) &&
        full.energy_pj > least * (1 - 1e-12) && (uint64_t)cost.cycles >= full.cycles &&
        (uint64_t)cost.least_cycles <= full.cycles)
        return SX_COSTS_ROUNDED;
    if (fabs(energy - full.energy_pj) > 1e-12 * energy || (uint64_t)cost.cycles != full.cycles) {
        snprintf(why, 512, "model: %.17g pJ, %llu cycles, checker: %.17g, %lld", full.energy_pj,
                 (unsigned long long)full.cycles, energy, (long long)cost.cycles);
        return SX_COSTS_DIFFER;
    }
    sx_expect_ok(sx_mapping_exact_energy(checked->model, mapping, exact));
    energy_text(cost.energy, checked->c->machine.scale, own);
    if (!*exact || strcmp(exact, own) == 0) return rounded ? SX_COSTS_ROUNDED : SX_COSTS_SAME;
    snprintf(why, 512, "the model's counts make %s pJ, the checker's %s", exact, own);
    return SX_COSTS_DIFFER;
}
