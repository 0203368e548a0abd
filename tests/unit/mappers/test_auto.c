/* The default mapper beside Gamma alone, on every architecture of the catalog. */
#include "base/status.h"
#include "sextant/input.h"
#include "sextant/run.h"
#include "support/driven_clock.h"
#include "support/expect.h"
#include "support/sanitized.h"
#include "support/small_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The best value that a mapper finds for a problem of the catalog within limits of evaluations, seconds and target;
 * *used: evaluations. */
static double search(const char *arch_name, const char *problem_name, const char *mapper,
                     const sx_run_options *limits, uint64_t *used) {
    static sx_problem problem;
    static sx_arch arch;
    sx_model_options model_options = {0};
    sx_map_space_options space_options = {0};
    sx_run_options options;
    sx_constraints *constraints = calloc(1, sizeof *constraints);
    sx_model *model;
    sx_space *space;
    sx_run *run;
    sx_found found;
    sx_expect_ok(sx_catalog_problem(problem_name, &problem));
    sx_expect_ok(sx_catalog_arch(arch_name, &arch));
    sx_constraints_init(constraints, &problem, &arch);
    sx_expect_ok(sx_model_new(&problem, &arch, &model_options, &model));
    sx_expect_ok(sx_map_space_new(model, constraints, &space_options, &space));
    sx_run_options_init(&options);
    options.evaluations = limits->evaluations;
    options.seconds = limits->seconds;
    options.target = limits->target;
    options.threads = limits->threads;
    sx_expect_ok(sx_run_new(space, NULL, &options, &run));
    sx_expect_ok(sx_run_search(run, mapper));
    assert_true(sx_run_best(run, 0, &found));
    double value = found.value;
    if (used) *used = sx_run_result(run).evaluations;
    sx_run_free(run);
    sx_space_free(space);
    sx_model_free(model);
    free(constraints);
    return value;
}

/* The best value by evaluations and seconds. */
static double best_of(const char *arch_name, const char *problem_name, const char *mapper,
                      uint64_t evaluations, double seconds) {
    const sx_run_options limits = {.evaluations = evaluations, .seconds = seconds};
    return search(arch_name, problem_name, mapper, &limits, NULL);
}

/* Where time is short and the first bounds take more than half of it, the first mapping of the proof is the one that Sunstone
 * begins with. By a clock that is slow enough for them. */
static void short_searches_begin_with_sunstone(void **state) {
    (void)state;
    const sx_run_options one = {.evaluations = 1};
    sx_run_options brief = {.seconds = 0.1};
    uint64_t used;
    if (SX_SANITIZED) skip();
    brief.target = search("accel-b", "resnet-conv4", "sunstone:plus=on", &one, NULL);
    sx_clock_drive(1e-6);
    const double value = search("accel-b", "resnet-conv4", "optimal", &brief, &used);
    sx_clock_drive(0);
    assert_true(value <= brief.target && used < 100);
}

/* A search within a limit of time that is paused, by a driven clock, and goes on within another: whatever was interrupted goes
 * on, though the clock now asks for something else. True if it was paused. */
static bool goes_on(const sx_space *space, const char *mapper, double pause, double seconds) {
    sx_run_options options;
    sx_run *first, *second;
    size_t size = 0;
    sx_run_options_init(&options);
    options.seconds = 1000;
    options.pause_seconds = pause;
    sx_clock_drive(1e-4);
    sx_expect_ok(sx_run_new(space, NULL, &options, &first));
    sx_expect_ok(sx_run_search(first, mapper));
    void *state = sx_run_take_paused(first, &size);
    options.seconds = sx_run_result(first).seconds * seconds;
    options.pause_seconds = 0;
    options.resume = state;
    options.resume_size = size;
    sx_expect_ok(sx_run_new(space, NULL, &options, &second));
    sx_expect_ok(sx_run_search(second, mapper));
    sx_clock_drive(0);
    sx_run_free(first);
    sx_run_free(second);
    free(state);
    return size > 0;
}

static void what_was_interrupted_goes_on(void **state) {
    static const char *const mapper[] = {"auto", "optimal"};
    static sx_problem problem;
    static sx_arch arch;
    unsigned paused = 0;
    sx_model *model;
    sx_space *space;
    (void)state;
    sx_expect_ok(sx_einsum_parse("O[m,n] += A[m,k]*B[k,n] {m:128,n:768,k:768}", &problem));
    sx_expect_ok(sx_catalog_arch("eyeriss", &arch));
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    sx_expect_ok(sx_map_space_new(model, NULL, NULL, &space));
    for (size_t i = 0; i < sizeof mapper / sizeof *mapper; i++)
        for (double pause = 1e-3; pause < 1; pause *= 1.3)
            for (double seconds = 1.2; seconds < 4; seconds += 1.2)
                paused += goes_on(space, mapper[i], pause, seconds);
    assert_true(paused >= 20);
    sx_space_free(space);
    sx_model_free(model);
}

/* A search of a machine with very many spatial mappings, by a driven clock; *best: its value. */
static sx_run_summary search_driven(const sx_space *space, double seconds, double *best) {
    sx_run_options options;
    sx_run *run;
    sx_found found;
    sx_run_options_init(&options);
    options.seconds = seconds;
    sx_clock_drive(1e-4);
    sx_expect_ok(sx_run_new(space, NULL, &options, &run));
    sx_expect_ok(sx_run_search(run, "optimal:gamma=2000,sunstone=0"));
    sx_clock_drive(0);
    assert_true(sx_run_best(run, 0, &found));
    *best = found.value;
    const sx_run_summary summary = sx_run_result(run);
    sx_run_free(run);
    return summary;
}

/* Wherever time ends a search, also amid the list of spatial mappings, what it says to be proven is. */
static void a_list_that_time_ends_proves_nothing(void **state) {
    enum { LIMITS = 6 };
    static sx_problem problem;
    static sx_arch arch;
    sx_run_summary summary[LIMITS];
    double value[LIMITS], least;
    sx_model *model;
    sx_space *space;
    (void)state;
    if (SX_SANITIZED) skip();
    sx_expect_ok(sx_einsum_parse("O[m,n] += A[m,k]*B[k,n] {m:512,n:384,k:512}", &problem));
    sx_expect_ok(sx_catalog_arch("a100", &arch));
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    for (int remainders = 0; remainders < 2; remainders++) {
        const sx_map_space_options options = {.remainders = remainders};
        double seconds = 0.002;
        sx_expect_ok(sx_map_space_new(model, NULL, &options, &space));
        for (int i = 0; i < LIMITS; i++, seconds *= 2) summary[i] = search_driven(space, seconds, &value[i]);
        least = value[0];
        for (int i = 0; i < LIMITS; i++) least = value[i] < least ? value[i] : least;
        for (int i = 0; i < LIMITS; i++) {
            assert_true(summary[i].lower_bound > 0 && summary[i].lower_bound <= least * (1 + 1e-9));
            assert_true(!summary[i].optimal || value[i] <= least * (1 + 1e-9));
        }
        assert_true(!summary[0].optimal && value[0] > least);
        sx_space_free(space);
    }
    sx_model_free(model);
}

/* 16 clusters of 256 x 256 units. */
static const char clusters[] =
    "architecture:\n"
    "  version: 0.4\n"
    "  nodes:\n"
    "  - !Container {name: chip, attributes: {datawidth: 16}}\n"
    "  - !Component {name: DRAM, class: DRAM, attributes: {width: 512}}\n"
    "  - !Component {name: L2, class: SRAM, attributes: {width: 512, entries: 16777216}}\n"
    "  - !Container {name: cluster, spatial: {meshX: 4, meshY: 4}}\n"
    "  - !Component {name: L1, class: SRAM, attributes: {width: 512, entries: 262144}}\n"
    "  - !Container {name: PE, spatial: {meshX: 256, meshY: 256}}\n"
    "  - !Component {name: RF, class: regfile, attributes: {width: 16, entries: 64}}\n"
    "  - !Component {name: mac, class: intmac}\n";

/* Where time is short, the list of very many spatial mappings does not come before the first answer. By a clock by which the
 * list alone takes longer than the limit and what is granted to searches that have found nothing. */
static void an_answer_comes_before_a_long_list(void **state) {
    (void)state;
    sx_small_map m;
    sx_run_options options;
    sx_run *run;
    sx_small_map_open(&m, "O[n,c,p,q] += W[c,r,s]*I[n,c,p+r,q+s] {n:32,c:960,p:56,q:56,r:3,s:3}", clusters,
                      NULL, NULL);
    sx_run_options_init(&options);
    options.seconds = 0.3;
    options.threads = 1;
    sx_clock_drive(0.02);
    sx_expect_ok(sx_run_new(m.space, NULL, &options, &run));
    sx_expect_ok(sx_run_search(run, "optimal"));
    sx_clock_drive(0);
    assert_true(sx_run_result(run).evaluations > 0);
    sx_run_free(run);
    sx_small_map_close(&m);
}

/* On the machines of the catalog but those of the size of GPUs. */
static void auto_is_no_worse_than_gamma(void **state) {
    (void)state;
    static const char *const problem[] = {"resnet-conv4", "alexnet-conv2", "bert-large-attn"};
    static const uint64_t evaluations[] = {100, 1900, 700, 5000}; /* by turns */
    size_t n = 0;
    const char *arch;
    if (SX_SANITIZED) skip();
    for (size_t a = 0; (arch = sx_catalog_arch_name(a, NULL)) != NULL && strcmp(arch, "a100") != 0; a++)
        for (size_t p = 0; p < sizeof problem / sizeof *problem; p++, n++) {
            uint64_t most = evaluations[n % 4];
            double gamma = best_of(arch, problem[p], "gamma", most, 0);
            double own = best_of(arch, problem[p], "auto", most, 0);
            if (own > gamma)
                fail_msg("%s on %s after %llu evaluations: %g, gamma %g", problem[p], arch,
                         (unsigned long long)most, own, gamma);
        }
    assert_true(n >= 7 * 3);
}

/* By a clock that is read 50,000 times in a second, which is about what the search does in some tenths of one. */
static void a_short_time_gives_a_good_answer(void **state) {
    (void)state;
    const sx_run_options limits = {.seconds = 1, .threads = 1};
    sx_clock_drive(2e-5);
    const double value = search("accel-b", "vgg-conv2", "auto", &limits, NULL);
    sx_clock_drive(0);
    assert_true(value <= 2 * 3.283e17); /* the minimum is 3.283e17 */
}

/* A limit that the proof stays far below costs it nothing: neither Gamma's share of the clock, nor Sunstone and local
 * search where a proof takes long. It is counted in evaluations, as these do not depend on the machine. */
static void a_limit_of_time_does_not_slow_a_proof(void **state) {
    (void)state;
    enum { N_SHORT = 2 }; /* proofs of some hundredths of a second, with a short time */
    static const char *const of[][2] = {{"mind-mappings", "fc"},      {"accel-a", "fc"},
                                        {"accel-b", "bert-large-ff"}, {"mind-mappings", "mttkrp-0"},
                                        {"glb128", "resnet-conv4"},   {"accel-b", "bert-large-attn"}};
    static const char *const mapper[] = {"auto", "optimal"};
    const sx_run_options none = {0};
    if (SX_SANITIZED) skip();
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const char *const *at = of[i];
        const sx_run_options limited = {.seconds = i < N_SHORT ? 4.9 : 600};
        uint64_t alone, used;
        double value = search(at[0], at[1], mapper[i % 2], &none, &alone);
        assert_true(search(at[0], at[1], mapper[i % 2], &limited, &used) == value);
        if (used > alone + alone / 20)
            fail_msg("%s: %s on %s: %llu evaluations, %llu without a limit of time", mapper[i % 2], at[1],
                     at[0], (unsigned long long)used, (unsigned long long)alone);
    }
}

/* A search whose time is over before it has found anything goes on until it has. */
static void no_time_gives_an_answer(void **state) {
    (void)state;
    static const char *const mapper[] = {"auto", "optimal", "gamma", "sunstone", "random"};
    for (size_t i = 0; i < sizeof mapper / sizeof *mapper; i++)
        assert_true(best_of("eyeriss", "resnet-conv4", mapper[i], 0, 1e-9) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_comes_before_a_long_list),
        cmocka_unit_test(a_list_that_time_ends_proves_nothing),
        cmocka_unit_test(auto_is_no_worse_than_gamma),
        cmocka_unit_test(short_searches_begin_with_sunstone),
        cmocka_unit_test(what_was_interrupted_goes_on),
        cmocka_unit_test(a_short_time_gives_a_good_answer),
        cmocka_unit_test(no_time_gives_an_answer),
        cmocka_unit_test(a_limit_of_time_does_not_slow_a_proof),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
