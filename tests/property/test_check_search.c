/* What the search claims to have proven, before the independent checker, on random small spaces: an optimum is accepted or
 * undecided; a false one, which there is only if a rule of the search is wrong, is never accepted: test_check_search [count
 * [seed]]. */
#include "support/check_space.h"
#include "support/compared.h"
#include "support/expect.h"
#include "support/small_certificate.h"

#include "sextant/independent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct settings {
    uint64_t count, seed;
} settings;

/* How often something came out. */
typedef struct tally {
    uint64_t optima, holds, undecided, wrong, accepted, refused;
} tally;

/* Draws a space: every second one of each of some kinds in turn, of the others every fifth one with remainders. */
static void draw_space(sx_rng *rng, uint64_t number, sx_small_space *small) {
    static const sx_space_kind kinds[] = {SX_KIND_BANKS,      SX_KIND_QUIET,   SX_KIND_LINKS,
                                          SX_KIND_SPLIT_AXES, SX_KIND_NETWORK, SX_KIND_WINDOWS,
                                          SX_KIND_SPARSE,     SX_KIND_LIMITS};
    if (number % 10 == 9)
        sx_draw_remainder_space(rng, small);
    else if (number % 2)
        sx_draw_check_space(rng, small);
    else
        sx_draw_check_space_of(rng, kinds[number / 2 % (sizeof kinds / sizeof *kinds)], small);
}

/* Searches a space without heuristics, which would find optima that a wrong rule misses. */
static void check_search(sx_rng *rng, const sx_small_space *small, tally *t) {
    static const char *const objectives[] = {"edp", "energy", "delay"};
    const sx_independent_options options = {.threads = 1};
    sx_independent_report report;
    sx_objective objective;
    char *text;
    sx_expect_ok(sx_objective_parse(objectives[sx_rng_below(rng, 3)], &objective));
    sx_certificate *c = sx_small_certificate(small, &objective, "optimal:gamma=0,sunstone=0,descents=0", 0);
    if (!c) return;
    bool wrong = c->optimal && sx_small_least(small, &objective, NULL) < c->value * (1 - 1e-12);
    sx_expect_ok(sx_certificate_write(c, &text));
    sx_expect_ok(sx_independent_check("c", text, strlen(text), &options, &report));
    t->optima++;
    t->holds += report.verdict == SX_INDEPENDENT_HOLDS;
    t->undecided += report.verdict == SX_INDEPENDENT_UNDECIDED;
    t->wrong += wrong;
    t->accepted += wrong && report.verdict == SX_INDEPENDENT_HOLDS;
    t->refused += wrong && report.verdict == SX_INDEPENDENT_FAILS;
    free(text);
    sx_certificate_free(c);
}

static void searches_are_checked(void **state) {
    const settings *set = *state;
    tally t = {0};
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "search", i);
        sx_small_space small;
        draw_space(&rng, i, &small);
        check_search(&rng, &small, &t);
        sx_small_space_fini(&small);
    }
    print_message("%llu optima: %llu hold, %llu undecided; %llu are false: %llu accepted, %llu refused\n",
                  (unsigned long long)t.optima, (unsigned long long)t.holds, (unsigned long long)t.undecided,
                  (unsigned long long)t.wrong, (unsigned long long)t.accepted, (unsigned long long)t.refused);
    assert_int_equal(t.accepted, 0);
    assert_int_equal(t.wrong, 0);
    sx_expect_compared("optima", t.holds, set->count / 3);
}

int main(int argc, char **argv) {
    settings set = {argc > 1 ? strtoull(argv[1], NULL, 10) : 300, argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(searches_are_checked, &set)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
