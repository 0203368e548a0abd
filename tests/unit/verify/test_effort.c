/* How much searches without heuristics, their verification and the independent check of them take on fixed spaces: mappings
 * evaluated, what is closed by which rule, and the bounds of entries. A bound that gets weaker, or a rule that no longer applies,
 * is still true and shows here alone: counts are changed on purpose, where they fall. */
#include "support/check_space.h"
#include "support/expect.h"
#include "support/sanitized.h"
#include "support/small_certificate.h"

#include "sextant/independent.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum count {
    EVALUATED,
    ENTRIES,
    SEARCHED,
    VERIFIED,
    STEPS,
    OUTLINES,
    COMPULSORY,
    TILES,
    PORTS,
    WALKED,
    CHECKED,
    COUNTS
};

/* What the spaces of a row come to; bounds: of entries, as shares of the optimum. */
typedef struct effort {
    uint64_t count[COUNTS];
    double bounds;
} effort;

/* Adds what a certificate takes to be verified and checked. */
static void add_certificate(const sx_certificate *c, effort *sum) {
    const sx_independent_options options = {.threads = 1};
    sx_verification verification;
    sx_independent_report report;
    char *text;
    assert_true(sx_certificate_holds(c, 1, &verification) || sx_certificate_open(c));
    sx_expect_ok(sx_certificate_write(c, &text));
    sx_expect_ok(sx_independent_check("c", text, strlen(text), &options, &report));
    assert_int_not_equal(report.verdict, SX_INDEPENDENT_FAILS);
    const uint64_t count[COUNTS] = {c->evaluations,
                                    c->proof->n_entries,
                                    c->searched,
                                    verification.done.evaluations,
                                    verification.done.steps,
                                    report.outlines,
                                    report.compulsory,
                                    report.tiles,
                                    report.ports,
                                    report.walked,
                                    report.evaluations};
    for (int i = 0; i < COUNTS; i++) sum->count[i] += count[i];
    for (size_t i = 0; i < c->proof->n_entries; i++)
        if (!c->proof->searched[i]) sum->bounds += fmin(c->proof->bound[i] / c->value, 1e6);
    free(text);
}

/* Adds what the searches of a space take, by an objective and with tables of bounds and without. */
static void add_space(const sx_small_space *small, const char *by, effort *sum) {
    static const char *const mappers[] = {"optimal:gamma=0,sunstone=0,descents=0",
                                          "optimal:gamma=0,sunstone=0,descents=0,tables=off"};
    sx_objective objective;
    sx_expect_ok(sx_objective_parse(by, &objective));
    for (int i = 0; i < 2; i++) {
        sx_certificate *c = sx_small_certificate(small, &objective, mappers[i], 0);
        if (c) add_certificate(c, sum);
        sx_certificate_free(c);
    }
}

/* Compares a row with what is expected of it; prints it where it differs. */
static bool is_expected(const char *name, const effort *found, const effort *expected) {
    if (memcmp(found->count, expected->count, sizeof found->count) == 0 &&
        fabs(found->bounds - expected->bounds) <= 1e-9 * expected->bounds)
        return true;
    print_error("{\"%s\", {{", name);
    for (int i = 0; i < COUNTS; i++)
        print_error("%llu%s", (unsigned long long)found->count[i], i + 1 < COUNTS ? ", " : "");
    print_error("}, %.12g}},\n", found->bounds);
    return false;
}

typedef struct row {
    const char *name;
    effort effort;
} row;

static void random_spaces_take_what_they_took(void **state) {
    (void)state;
    enum { SPACES = 10 };
    static const char *const objectives[] = {"edp", "energy", "delay"};
    static const row expected[SX_N_KINDS] = {
        {"banks", {{126, 10, 8, 62, 1892, 400, 190, 146, 24, 40, 160}, 2.92662514675}},
        {"sparse", {{412, 108, 78, 604, 9236, 0, 0, 0, 0, 0, 0}, 31.7910191577}},
        {"remainders", {{942, 0, 0, 142, 1296, 450, 64, 4, 310, 72, 432}, 0}},
        {"split axes", {{162, 34, 16, 34, 116, 128, 80, 8, 8, 32, 152}, 26.1143847875}},
        {"network", {{676, 36, 32, 344, 5202, 2066, 1756, 44, 4, 262, 378}, 12.7534358974}},
        {"links", {{321, 100, 44, 106, 1188, 924, 408, 36, 386, 94, 168}, 65.7443248272}},
        {"bits", {{736, 78, 60, 560, 13088, 294, 68, 24, 0, 202, 2030}, 32}},
        {"constraints", {{230, 22, 12, 910, 19856, 1566, 522, 896, 64, 84, 130}, 16.0298932994}},
        {"least use", {{318, 84, 54, 152, 2248, 392, 214, 50, 86, 42, 78}, 41.5980065005}},
        {"buffering", {{178, 48, 8, 18, 36, 2422, 2172, 72, 174, 4, 10}, 63.6231884058}},
        {"transparent", {{120, 16, 6, 38, 3592, 750, 104, 480, 2, 164, 356}, 10}},
        {"windows", {{466, 52, 48, 310, 3194, 234, 126, 36, 0, 72, 328}, 4}},
        {"quiet", {{304, 30, 26, 80, 844, 744, 386, 110, 224, 24, 120}, 6.01632653061}},
    };
    bool good = true;
    for (int kind = 0; kind < SX_N_KINDS; kind++) {
        effort sum = {.bounds = 0};
        for (uint64_t i = 0; i < SPACES; i++) {
            sx_rng rng = sx_rng_stream((uint64_t)kind, "effort", i);
            sx_small_space small;
            if (kind == SX_KIND_REMAINDERS)
                sx_draw_remainder_space(&rng, &small);
            else
                sx_draw_check_space_of(&rng, (sx_space_kind)kind, &small);
            add_space(&small, objectives[i % 3], &sum);
            sx_small_space_fini(&small);
        }
        good &= is_expected(sx_space_kind_name((sx_space_kind)kind), &sum, &expected[kind].effort);
    }
    assert_true(good);
}

static void machines_take_what_they_took(void **state) {
    (void)state;
    static const char *const problems[] = {
        "O[m,n] += A[m,k]*B[k,n] {m:4,n:6,k:9}",
        "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:1,k:4,c:2,p:4,q:1,r:3,s:1}"};
    static const row expected[] = {
        {"eyeriss", {{216, 6, 2, 8, 584, 1136, 1088, 30, 14, 4, 16}, 4.23420346426}},
        {"edge-unified", {{268, 2, 2, 12, 584, 9088, 8118, 882, 0, 88, 1468}, 0}},
        {"accel-a", {{72, 4, 4, 8, 800, 9216, 6766, 2098, 14, 338, 1894}, 0}},
        {"accel-b", {{3869, 64, 64, 3368, 132952, 41984, 25272, 14304, 0, 2408, 10618}, 0}},
        {"mind-mappings", {{104, 86, 86, 68, 154256, 9216, 6018, 3178, 0, 20, 84}, 0}},
        {"simba", {{176, 10, 10, 88, 12136, 7424, 6590, 752, 0, 82, 1136}, 0}},
        {"glb128", {{268, 2, 2, 12, 584, 9088, 6960, 1794, 0, 334, 7332}, 0}},
    };
    bool good = true;
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        effort sum = {.bounds = 0};
        for (int i = 0; i < 2; i++) {
            sx_small_space small;
            sx_catalog_space(problems[i], expected[k].name, &(sx_map_space_options){0}, &small);
            add_space(&small, i ? "energy" : "edp", &sum);
            sx_small_space_fini(&small);
        }
        good &= is_expected(expected[k].name, &sum, &expected[k].effort);
    }
    assert_true(good);
}

static void the_largest_take_what_they_took(void **state) {
    (void)state;
    static const row expected[] = {
        {"tensors, one unit", {{49, 0, 0, 0, 0, 512, 496, 16, 0, 0, 0}, 0}},
        {"tensors", {{48, 0, 0, 0, 0, 1536, 1534, 2, 0, 0, 0}, 0}},
        {"dimensions", {{32, 0, 0, 0, 0, 64, 64, 0, 0, 0, 0}, 0}},
        {"levels", {{4, 0, 0, 0, 0, 4, 4, 0, 0, 0, 0}, 0}},
        {"tensors, one unit, remainders", {{49, 0, 0, 0, 0, 512, 496, 16, 0, 0, 0}, 0}},
        {"tensors, remainders", {{48, 0, 0, 0, 512, 1536, 1534, 2, 0, 2, 0}, 0}},
        {"dimensions, remainders", {{32, 0, 0, 0, 0, 64, 64, 0, 0, 0, 0}, 0}},
        {"levels, remainders", {{4, 0, 0, 0, 0, 4, 4, 0, 0, 0, 0}, 0}},
    };
    sx_small_space small;
    const row *at = expected;
    bool good = true;
    for (int remainders = 0; remainders < 2; remainders++)
        for (int i = 0; sx_largest_space(i, remainders, &small); i++, at++) {
            effort sum = {.bounds = 0};
            add_space(&small, "energy", &sum);
            sx_small_space_fini(&small);
            good &= is_expected(at->name, &sum, &at->effort);
        }
    assert_true(good);
}

/* Sanitizers see the same code in other tests. */
int main(void) {
    if (SX_SANITIZED) return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_spaces_take_what_they_took),
        cmocka_unit_test(machines_take_what_they_took),
        cmocka_unit_test(the_largest_take_what_they_took),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
