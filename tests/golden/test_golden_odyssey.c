/* The model of systolic arrays against what Odyssey's own code says of points of all its 48 designs. See
 * tests/golden/README.md. */
#include "sextant/systolic.h"
#include "support/expect.h"
#include "support/odyssey.h"
#include "support/vectors.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* A line of a file, and what is said of it here. */
typedef struct trial {
    const char *file;
    size_t line;
    const json_t *want;
    sx_systolic_kernel kernel;
    sx_systolic_point point;
} trial;

static void expect_number(const trial *t, const char *what, double have) {
    double want = sx_vectors_number(t->want, what);
    if (have != want) print_error("%s:%zu: %s is %.17g, not %.17g\n", t->file, t->line, what, have, want);
    assert_true(have == want);
}

static void expect_truth(const trial *t, const char *what, bool have) {
    bool want = json_is_true(json_object_get(t->want, what));
    if (have != want) print_error("%s:%zu: %s is %d, not %d\n", t->file, t->line, what, have, want);
    assert_true(have == want);
}

/* The figures of a cost. */
static void expect_cost(const trial *t, const sx_systolic_cost *cost) {
    expect_number(t, "latency", cost->latency);
    expect_number(t, "prologue", cost->prologue);
    expect_number(t, "steady", cost->steady);
    expect_number(t, "epilogue", cost->epilogue);
    expect_number(t, "dsp", cost->dsp);
    expect_number(t, "bram18k", cost->bram18k);
    expect_number(t, "offchip_words", cost->offchip_words);
}

/* Terms and buffers, one by one, come to the same. */
static void expect_items(const trial *t, const sx_systolic_items *items) {
    sx_systolic_term most = {.prologue = 0};
    double bram = 0;
    for (size_t i = 0; i < items->n_terms; i++) {
        most.prologue = fmax(most.prologue, items->term[i].prologue);
        most.steady = fmax(most.steady, items->term[i].steady);
        most.epilogue = fmax(most.epilogue, items->term[i].epilogue);
    }
    for (size_t i = 0; i < items->n_buffers; i++) bram += items->buffer[i].bram18k;
    expect_number(t, "prologue", most.prologue);
    expect_number(t, "steady", most.steady);
    expect_number(t, "epilogue", most.epilogue);
    expect_number(t, "bram18k", bram);
}

/* The same through a space. */
static void check_in_space(const trial *t, const sx_device *device) {
    const sx_systolic_options options = {.thin = true};
    sx_space *space;
    sx_systolic_cost cost;
    sx_systolic_items items;
    sx_expect_ok(sx_systolic_space_new(&t->kernel, 1, device, &options, &space));
    assert_true(sx_systolic_has_cost(sx_systolic_evaluate(space, &t->point, -1, &cost)));
    expect_cost(t, &cost);
    sx_expect_ok(sx_systolic_itemize(&t->kernel, device, &options, &t->point, &items));
    expect_items(t, &items);
    sx_space_free(space);
}

static void check_line(const trial *t, const sx_device *device) {
    const sx_systolic_options thin = {.thin = true};
    sx_systolic_fault fault, strict;
    sx_systolic_cost cost;
    sx_expect_ok(sx_systolic_cost_of(&t->kernel, device, &thin, &t->point, &fault, &cost));
    expect_truth(t, "valid", sx_systolic_has_cost(fault));
    sx_expect_ok(sx_systolic_cost_of(&t->kernel, device, NULL, &t->point, &strict, &cost));
    expect_truth(t, "valid_strict2d", sx_systolic_has_cost(strict) && strict != SX_SYSTOLIC_THIN);
    if (!sx_systolic_has_cost(fault)) return;
    expect_cost(t, &cost);
    expect_truth(t, "feasible_u250", fault == SX_SYSTOLIC_FINE);
    check_in_space(t, device);
}

/* Every line of a file. */
static void check_file(const char *path) {
    json_t *lines = sx_vectors_load(path), *one;
    sx_device device;
    size_t i;
    sx_expect_ok(sx_catalog_device("u250", &device));
    json_array_foreach(lines, i, one) {
        trial t = {.file = strrchr(path, '/') + 1, .line = i + 1, .want = one};
        t.kernel = sx_odyssey_kernel(json_object_get(one, "problem"));
        t.point = sx_odyssey_point(&t.kernel, json_string_value(json_object_get(one, "design")),
                                   json_object_get(one, "tiles"));
        check_line(&t, &device);
    }
    assert_true(i > 0);
    json_decref(lines);
}

static void matrix_products(void **state) {
    (void)state;
    check_file(SX_TEST_DATA "/golden/odyssey/mm_points.jsonl");
}

static void convolutions(void **state) {
    (void)state;
    check_file(SX_TEST_DATA "/golden/odyssey/conv_points.jsonl");
}

static void designs_of_the_paper(void **state) {
    (void)state;
    check_file(SX_TEST_DATA "/golden/odyssey/anchors.jsonl");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix_products),
        cmocka_unit_test(convolutions),
        cmocka_unit_test(designs_of_the_paper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
