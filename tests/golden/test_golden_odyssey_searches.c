/* Searches of systolic arrays against the answers and counts of Odyssey's: the least latencies, and how many
 * points the padding-based search looks at, to the last digit. See tests/golden/README.md. */
#include "sextant/run.h"
#include "sextant/systolic.h"
#include "support/expect.h"
#include "support/odyssey.h"
#include "support/sanitized.h"
#include "support/vectors.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const double THREE_PLACES = 0.00051; /* so exact are latencies in the file */

/* What a search found. */
typedef struct answer {
    double best, count;
} answer;

/* A search that a file has answers of. */
typedef struct search {
    const char *name, *navigator;
} search;

/* Searches for the least latency of a kernel, by all designs or (n = 1) one. */
static answer search_for(const sx_systolic_kernel *kernel, const char *navigator, const size_t *design,
                         size_t n) {
    const sx_systolic_options options = {.designs = design, .n_designs = n};
    sx_device device;
    sx_space *space;
    sx_run_options run_options;
    sx_run *run;
    sx_found found;
    sx_expect_ok(sx_catalog_device("u250", &device));
    sx_expect_ok(sx_systolic_space_new(kernel, 1, &device, &options, &space));
    sx_run_options_init(&run_options);
    sx_expect_ok(sx_objective_parse("delay", &run_options.objective));
    sx_expect_ok(sx_run_new(space, NULL, &run_options, &run));
    sx_expect_ok(sx_run_search(run, navigator));
    sx_run_summary summary = sx_run_result(run);
    assert_true(sx_run_best(run, 0, &found));
    answer a = {found.value, (double)(summary.evaluations + summary.rejected)};
    sx_run_free(run);
    sx_space_free(space);
    return a;
}

static void expect_number(const char *kernel, const search *s, const json_t *want, double have) {
    double number = json_number_value(want);
    if (!want || fabs(have - number) < THREE_PLACES) return;
    print_error("%s by %s: %.17g, not %.17g\n", kernel, s->navigator, have, number);
    fail();
}

/* Each design alone; the sum of all is returned. */
static answer check_designs(const char *name, const sx_systolic_kernel *kernel, const search *s,
                            const json_t *want) {
    const json_t *latency = json_object_get(want, "latency"), *counts = json_object_get(want, "counts");
    answer all = {.best = INFINITY};
    for (size_t i = 0; i < sx_systolic_n_designs(kernel); i++) {
        answer a = search_for(kernel, s->navigator, &i, 1);
        expect_number(name, s, json_array_get(latency, i), a.best);
        expect_number(name, s, json_array_get(counts, i), a.count);
        all.best = fmin(all.best, a.best);
        all.count += a.count;
    }
    return all;
}

/* Every kernel of the file that has answers of a search. Where there are some of every design, each is
 * searched alone, and all together only of the first two kernels. Under sanitizers a third of the kernels does. */
static void check_search(const search *s) {
    json_t *lines = sx_vectors_load(SX_TEST_DATA "/golden/odyssey/searches.jsonl"), *one;
    size_t i, n = 0;
    json_array_foreach(lines, i, one) {
        const json_t *want = json_object_get(one, s->name);
        const char *name = json_string_value(json_object_get(one, "kernel"));
        if (!want || n++ % (SX_SANITIZED ? 3 : 1) != 0) continue;
        sx_systolic_kernel kernel = sx_odyssey_kernel(json_object_get(one, "problem"));
        bool alone = json_object_get(want, "latency") != NULL;
        answer all = alone ? check_designs(name, &kernel, s, want) : (answer){0};
        for (int again = 0; again < 2; again++) {
            if (again ? alone && n > 2 : !alone) continue;
            if (again) all = search_for(&kernel, s->navigator, NULL, 0);
            expect_number(name, s, json_object_get(want, "best"), all.best);
            expect_number(name, s, json_object_get(want, "count"), all.count);
        }
    }
    assert_true(n > 0);
    json_decref(lines);
}

static void padding(void **state) {
    (void)state;
    check_search(&(search){"padding", "padding"});
}

static void padding_as_the_paper_words_it(void **state) {
    (void)state;
    check_search(&(search){"padding_text", "padding:stop=text"});
}

static void padding_with_another_threshold(void **state) {
    (void)state;
    check_search(&(search){"padding_0.6", "padding:share=0.6"});
}

static void divisors(void **state) {
    (void)state;
    check_search(&(search){"divisors", "divisors"});
}

static void exact(void **state) {
    (void)state;
    check_search(&(search){"exact", "exact"});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(padding),
        cmocka_unit_test(padding_as_the_paper_words_it),
        cmocka_unit_test(padding_with_another_threshold),
        cmocka_unit_test(divisors),
        cmocka_unit_test(exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
