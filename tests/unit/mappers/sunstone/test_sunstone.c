/* Sunstone's search: what it finds, what its switches change, and what it gives to be evaluated. */
#include "support/compared.h"
#include "support/expect.h"
#include "support/random_space.h"
#include "support/sanitized.h"
#include "support/small_map.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char conv[] =
    "Outputs[N,K,P,Q] += Inputs[N,C,P+R,Q+S]*Weights[K,C,R,S] {N:1,K:16,C:16,P:14,Q:14,R:3,S:3}";
static const char last[] =
    "Outputs[N,K,P,Q] += Inputs[N,C,P+R,Q+S]*Weights[K,C,R,S] {N:1,K:512,C:512,P:7,Q:7,R:3,S:3}";
static const char product[] = "Outputs[m,n] += Inputs[m,k]*Weights[k,n] {m:64,n:48,k:32}";
static const char *const archs[] = {"accel-b", "eyeriss", "simba", "edge-unified", "mind-mappings", "glb128"};

/* The value that a search comes to, and how many evaluations it takes. */
static double search(const char *problem, const char *arch, const char *navigator, uint64_t evaluations,
                     sx_run_summary *summary) {
    sx_small_map m;
    double best;
    sx_small_map_open(&m, problem, arch, NULL, NULL);
    *summary = sx_small_map_search(&m, navigator, 1, evaluations, &best);
    sx_small_map_close(&m);
    return best;
}

static void everything_submitted_is_legal_and_it_ends(void **state) {
    (void)state;
    const char *const problems[] = {conv, product, "a[i,j] += B[i,k,l]*C[k,j]*D[l,j] {i:30,j:8,k:12,l:20}"};
    for (size_t a = 0; a < sizeof archs / sizeof *archs; a += SX_SANITIZED ? 2 : 1)
        for (size_t p = 0; p < 3; p++)
            for (int plus = 0; plus < 2; plus++) {
                sx_run_summary summary;
                double best =
                    search(problems[p], archs[a], plus ? "sunstone:plus=on" : "sunstone", 0, &summary);
                assert_true(best < INFINITY);
                assert_true(summary.valid == summary.evaluations && summary.evaluations < 100000);
                assert_int_equal(summary.stop, SX_STOP_DONE);
            }
}

static void plus_begins_with_the_plain_answer(void **state) {
    (void)state;
    for (size_t a = 0; a < sizeof archs / sizeof *archs; a += SX_SANITIZED ? 3 : 1) {
        sx_run_summary plain, plus;
        double first = search(conv, archs[a], "sunstone", 0, &plain);
        assert_true(search(conv, archs[a], "sunstone:plus=on", plain.evaluations, &plus) == first);
        assert_true(search(conv, archs[a], "sunstone:plus=on", 0, &plus) <= first);
        assert_true(plus.evaluations > plain.evaluations);
    }
}

/* 512 x 512 channels of 7 x 7 on 14 x 12 units: only dimensions of several tensors use them all. */
static void plain_loses_what_plus_mends(void **state) {
    (void)state;
    sx_small_map m;
    for (int plus = 0; plus < 2; plus++) {
        sx_run_options options;
        sx_run *run;
        sx_found found;
        sx_small_map_open(&m, last, "eyeriss", NULL, NULL);
        sx_run_options_init(&options);
        sx_expect_ok(sx_run_new(m.space, NULL, &options, &run));
        sx_expect_ok(sx_run_search(run, plus ? "sunstone:plus=on" : "sunstone"));
        assert_true(sx_run_best(run, 0, &found));
        assert_int_equal(found.metrics.value[2] == 1, plus);
        sx_run_free(run);
        sx_small_map_close(&m);
    }
}

static void alpha_beta_loses_nothing_here(void **state) {
    (void)state;
    const char *const some[] = {"eyeriss", "edge-unified", "glb128"};
    for (size_t a = 0; a < 3; a++) {
        sx_run_summary on, off;
        double best = search(conv, some[a], "sunstone", 0, &on);
        assert_true(search(conv, some[a], "sunstone:alphabeta=off", 0, &off) == best);
        assert_true(on.evaluations < off.evaluations);
        best = search(product, some[a], "sunstone", 0, &on);
        assert_true(search(product, some[a], "sunstone:order=off", 0, &off) >= 0.999999 * best);
    }
}

/* Cases in which partial mappings within a few percent of the best, or unrollings that seem to cost more than
 * it, lead to the answer: pruning them any earlier loses it. */
static void alpha_beta_prunes_no_earlier_than_it_may(void **state) {
    (void)state;
    static const char deep[] =
        "Outputs[N,K,P,Q] += Inputs[N,C,P+R,Q+S]*Weights[K,C,R,S] {N:1,K:112,C:56,P:20,Q:20,R:3,S:3}";
    static const char flat[] =
        "Outputs[N,K,P,Q] += Inputs[N,C,P+R,Q+S]*Weights[K,C,R,S] {N:1,K:112,C:48,P:4,Q:4,R:1,S:1}";
    static const struct {
        const char *problem, *arch;
        bool plus;
    } cases[] = {{deep, "eyeriss", false},
                 {flat, "accel-b", true},
                 {flat, "glb128", true},
                 {flat, "mind-mappings", true}};
    for (size_t i = SX_SANITIZED ? 2 : 0; i < sizeof cases / sizeof *cases; i++) {
        sx_run_summary on, off;
        double best =
            search(cases[i].problem, cases[i].arch, cases[i].plus ? "sunstone:plus=on" : "sunstone", 0, &on);
        double all =
            search(cases[i].problem, cases[i].arch,
                   cases[i].plus ? "sunstone:plus=on,alphabeta=off" : "sunstone:alphabeta=off", 0, &off);
        assert_true(best == all);
        assert_true(2 * on.evaluations < off.evaluations);
    }
}

/* On Simba's four memories a partial mapping of the third that costs less than the best, if by less than 3 %,
 * is completed: two mappings are evaluated. */
static void partial_mappings_below_the_best_are_completed(void **state) {
    (void)state;
    sx_run_summary summary;
    search("Outputs[N,K,P,Q] += Inputs[N,C,P+R,Q+S]*Weights[K,C,R,S] {N:1,K:3,C:4,P:14,Q:14,R:3,S:3}",
           "simba", "sunstone", 0, &summary);
    assert_int_equal(summary.evaluations, 2);
}

static void all_tiles_are_no_worse_than_maximal_ones(void **state) {
    (void)state;
    sx_run_summary summary;
    double some = search(product, "edge-unified", "sunstone", 0, &summary);
    double all = search(product, "edge-unified", "sunstone:unrolling=off,tiles=off", 0, &summary);
    assert_true(all <= some);
}

static void near_the_best_of_small_spaces(void **state) {
    (void)state;
    static const char small[] =
        "arch:\n"
        "  name: small\n"
        "  arithmetic: {name: MAC, instances: 4, word-bits: 16, energy: 1.0}\n"
        "  storage:\n"
        "  - {name: L1, instances: 4, entries: 16, vector-access-energy: 1.5}\n"
        "  - {name: DRAM, technology: DRAM, instances: 1, vector-access-energy: 100}\n";
    const char *const problems[] = {"O[m,n] += A[m,k]*B[k,n] {m:4,n:6,k:4}",
                                    "O[m,n] += A[m,k]*B[k,n] {m:12,n:4,k:3}",
                                    "O[k,p] += I[c,p+r]*W[k,c,r] {k:4,p:6,c:2,r:3}"};
    for (size_t p = 0; p < 3; p++) {
        sx_run_summary summary;
        double best = search(problems[p], small, "exhaustive", 0, &summary);
        double plain = search(problems[p], small, "sunstone", 0, &summary);
        double plus = search(problems[p], small, "sunstone:plus=on", 0, &summary);
        assert_true(best <= plus && plus <= plain);
        assert_true(plain <= 1.3 * best && plus <= 1.1 * best);
    }
}

static void lists_beyond_the_limit_are_refused(void **state) {
    (void)state;
    sx_small_map m;
    sx_run_options options;
    sx_run *run;
    sx_run_options_init(&options);
    sx_small_map_open(&m, conv, "eyeriss", NULL, NULL);
    sx_expect_ok(sx_run_new(m.space, NULL, &options, &run));
    sx_expect_error(sx_run_search(run, "sunstone:unrolling=off,limit=20"), "limit of 20");
    sx_run_free(run);
    sx_small_map_close(&m);
}

/* Random problems, architectures and constraints: what is found is legal, and something is found wherever
 * random draws find something. */
static void any_small_space_is_searched(void **state) {
    (void)state;
    size_t found = 0;
    for (uint64_t i = 0; i < 300; i++) {
        sx_rng rng = sx_rng_stream(1, "sunstone.spaces", i);
        sx_small_space small;
        sx_random_space(&rng, 20000, &small);
        double best[2] = {INFINITY, INFINITY};
        for (int drawn = 0; drawn < 2; drawn++) {
            sx_run_options options;
            sx_run *run;
            sx_found f;
            sx_run_options_init(&options);
            options.evaluations = drawn ? 50 : 2000;
            sx_expect_ok(sx_run_new(small.space, NULL, &options, &run));
            sx_expect_ok(sx_run_search(run, drawn ? "random" : i % 2 ? "sunstone:plus=on" : "sunstone"));
            sx_run_summary summary = sx_run_result(run);
            assert_true(drawn || summary.valid == summary.evaluations);
            if (sx_run_best(run, 0, &f)) best[drawn] = f.value;
            sx_run_free(run);
        }
        if (best[1] < INFINITY && best[0] == INFINITY) print_error("case %llu\n", (unsigned long long)i);
        assert_true(best[1] == INFINITY || best[0] < INFINITY);
        found += best[0] < INFINITY;
        sx_small_space_fini(&small);
    }
    sx_expect_compared("searches with an answer", (uint64_t)found, 200);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_submitted_is_legal_and_it_ends),
        cmocka_unit_test(plus_begins_with_the_plain_answer),
        cmocka_unit_test(plain_loses_what_plus_mends),
        cmocka_unit_test(alpha_beta_loses_nothing_here),
        cmocka_unit_test(alpha_beta_prunes_no_earlier_than_it_may),
        cmocka_unit_test(partial_mappings_below_the_best_are_completed),
        cmocka_unit_test(all_tiles_are_no_worse_than_maximal_ones),
        cmocka_unit_test(near_the_best_of_small_spaces),
        cmocka_unit_test(lists_beyond_the_limit_are_refused),
        cmocka_unit_test(any_small_space_is_searched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
