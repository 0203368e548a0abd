/* The independent checker's cost of a mapping beside the model's: test_check_cost [count [seed]]. Energies are compared
 * without rounding, as the sum of the model's counts, where these say it. */
#include "support/check_case.h"
#include "support/compared.h"
#include "support/expect.h"
#include "support/random_case.h"
#include "support/random_legal.h"
#include "support/vectors.h"

#include "sextant/input.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct settings {
    uint64_t count, seed;
} settings;

/* How often comparisons ended in each way. */
typedef struct tally {
    uint64_t n[SX_COSTS_DIFFER + 1], bypassed, spread, windows, linked, hops, banked, sized, leaking, ported,
        uneven;
} tally;

/* Rounds a number to hundredths. */
static void shorten(double *x) {
    *x = round(*x * 100) / 100;
}

/* Makes the numbers of an architecture decimals of two places; as often as not, networks cost no energy. */
static void shorten_numbers(sx_rng *rng, sx_arch *a) {
    bool network = sx_rng_below(rng, 2);
    shorten(&a->compute.energy);
    for (int s = 0; s < a->n_levels; s++) {
        sx_storage *level = &a->level[s];
        double *number[] = {&level->read_energy,   &level->fill_energy,     &level->update_energy,
                            &level->leak_energy,   &level->addr_gen_energy, &level->energy_per_hop,
                            &level->router_energy, &level->min_utilization, &level->multiple_buffering};
        for (size_t i = 0; i < sizeof number / sizeof *number; i++) shorten(number[i]);
        if (!network) level->energy_per_hop = level->router_energy = 0;
    }
}

/* Counts what a case that was compared has. */
static void count_kinds(const sx_case *c, tally *t) {
    bool bypassed = false, spread = false, hops = false, banked = false, leaking = false, ported = false,
         sized = false;
    for (int s = 0; s < c->arch.n_levels; s++) {
        const sx_storage *level = &c->arch.level[s];
        bypassed |= c->mapping.level[s].keep != (1 << c->problem.n_tensors) - 1;
        for (int d = 0; d < c->problem.n_dims; d++) spread |= c->mapping.level[s].spatial[d] > 1;
        hops |= level->energy_per_hop > 0 || level->router_energy > 0;
        banked |= level->banks > 0;
        leaking |= level->leak_energy > 0;
        ported |= isfinite(level->read_bandwidth) || isfinite(level->write_bandwidth);
    }
    for (int v = 0; v < c->problem.n_tensors; v++) sized |= c->problem.tensor[v].bits > 0;
    t->bypassed += bypassed;
    t->spread += spread;
    t->hops += hops;
    t->banked += banked;
    t->leaking += leaking;
    t->ported += ported;
    t->sized += sized;
    t->windows += !sx_case_plain(&c->problem);
    t->uneven += !sx_mapping_perfect(&c->mapping, &c->problem);
    t->linked += spread && !c->options.no_link_transfers;
}

/* Fails with the case that differs. */
static void show_difference(const settings *set, uint64_t i, const sx_case *c, const char *why) {
    sx_text text = {0};
    sx_case_write(c, &text);
    print_error("seed %llu, case %llu: %s\n%s\n", (unsigned long long)set->seed, (unsigned long long)i, why,
                text.data);
    sx_text_free(&text);
    fail();
}

/* Compares random mappings of random cases. */
static void compare_random(const settings *set, unsigned flags, const char *name, uint64_t count) {
    tally t;
    memset(&t, 0, sizeof t);
    char why[512];
    for (uint64_t i = 0; i < count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, name, i);
        static sx_case c;
        sx_checked_case checked;
        sx_random_case(&rng, flags, &c);
        shorten_numbers(&rng, &c.arch);
        sx_checked_case_init(&c.problem, &c.arch, &c.options, &checked);
        sx_cost_comparison outcome = sx_compare_checked_cost(&checked, &c.mapping, why);
        sx_checked_case_fini(&checked);
        if (outcome == SX_COSTS_DIFFER) show_difference(set, i, &c, why);
        t.n[outcome]++;
        if (outcome == SX_COSTS_SAME) count_kinds(&c, &t);
    }
    sx_expect_compared(name, t.n[SX_COSTS_SAME], count / 3);
    sx_expect_compared("illegal for both", t.n[SX_COSTS_ILLEGAL], count / 50);
    const uint64_t kinds[] = {t.bypassed, t.spread, t.hops, t.banked, t.leaking, t.ported, t.sized, t.linked};
    static const char *const names[] = {"bypassed", "spread", "hops",   "banked",
                                        "leaking",  "ports",  "widths", "links"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        sx_expect_compared(names[i], kinds[i], count / 100);
    if (flags & SX_CASE_REMAINDER) sx_expect_compared("remainders", t.uneven, count / 10);
    if (!(flags & SX_CASE_PLAIN)) sx_expect_compared("windows", t.windows, count / 10);
}

/* The cases of tests/golden/perfect: windows, neighbours, mixed groups, several parents, chains of bypassed levels. */
static void golden_cases(void **state) {
    const settings *set = *state;
    static const char *const files[] = {"vectors.jsonl", "differences.jsonl"};
    uint64_t n_same = 0;
    for (size_t f = 0; f < 2; f++) {
        char path[512], why[512];
        snprintf(path, sizeof path, SX_TEST_DATA "/golden/perfect/%s", files[f]);
        json_t *vectors = sx_vectors_load(path);
        for (size_t i = 0; i < json_array_size(vectors); i++) {
            static sx_case c;
            sx_checked_case checked;
            sx_rng rng = sx_rng_stream(set->seed, files[f], i);
            assert_true(sx_case_read(json_array_get(vectors, i), &c));
            shorten_numbers(&rng, &c.arch);
            sx_checked_case_init(&c.problem, &c.arch, &c.options, &checked);
            sx_cost_comparison outcome = sx_compare_checked_cost(&checked, &c.mapping, why);
            sx_checked_case_fini(&checked);
            if (outcome == SX_COSTS_DIFFER) show_difference(set, i, &c, why);
            n_same += outcome == SX_COSTS_SAME;
        }
        json_decref(vectors);
    }
    sx_expect_compared("golden cases", n_same, 2500);
}

static void random_cases(void **state) {
    const settings *set = *state;
    compare_random(set, 0, "check_cost.any", set->count);
}

static void plain_cases(void **state) {
    const settings *set = *state;
    compare_random(set, SX_CASE_PLAIN, "check_cost.plain", set->count / 2);
}

static void remainder_cases(void **state) {
    const settings *set = *state;
    compare_random(set, SX_CASE_REMAINDER | SX_CASE_PLAIN, "check_cost.remainder", set->count * 2);
}

static void split_cases(void **state) {
    const settings *set = *state;
    compare_random(set, SX_CASE_SPLIT, "check_cost.split", set->count / 4);
}

/* Compares legal mappings of a problem on an architecture, both of the catalog. */
static void compare_catalog(const settings *set, const char *problem_name, const char *arch_name, uint64_t n,
                            tally *t) {
    static sx_problem problem;
    static sx_arch arch;
    sx_model_options options;
    sx_checked_case checked;
    char why[512];
    sx_model_options_init(&options);
    sx_expect_ok(sx_catalog_problem(problem_name, &problem));
    sx_expect_ok(sx_catalog_arch(arch_name, &arch));
    sx_checked_case_init(&problem, &arch, &options, &checked);
    for (uint64_t i = 0; i < n; i++) {
        sx_rng rng = sx_rng_stream(set->seed, problem_name, i);
        sx_mapping mapping;
        if (!sx_random_legal(&rng, checked.model, i % 2 ? SX_LEGAL_DIRECTIVES : 0, &mapping)) continue;
        sx_cost_comparison outcome = sx_compare_checked_cost(&checked, &mapping, why);
        if (outcome == SX_COSTS_DIFFER) {
            print_error("%s on %s, mapping %llu: %s\n", problem_name, arch_name, (unsigned long long)i, why);
            fail();
        }
        t->n[outcome]++;
    }
    sx_checked_case_fini(&checked);
}

static void catalog_machines(void **state) {
    const settings *set = *state;
    tally t;
    memset(&t, 0, sizeof t);
    const char *problem, *arch;
    for (size_t p = 0; (problem = sx_catalog_problem_name(p, NULL)); p++)
        for (size_t a = 0; (arch = sx_catalog_arch_name(a, NULL)); a++)
            compare_catalog(set, problem, arch, 1 + set->count / 200, &t);
    sx_expect_compared("catalog", t.n[SX_COSTS_SAME], set->count / 4);
}

int main(int argc, char **argv) {
    settings set = {.count = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000,
                    .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(golden_cases, &set),    cmocka_unit_test_prestate(random_cases, &set),
        cmocka_unit_test_prestate(plain_cases, &set),     cmocka_unit_test_prestate(split_cases, &set),
        cmocka_unit_test_prestate(remainder_cases, &set), cmocka_unit_test_prestate(catalog_machines, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
