/* Reading and writing the law of the tile pipeline. */
#include "ir/law.h"
#include "support/read_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N(array) (sizeof(array) / sizeof *(array))
#define LEVEL(latency)                                                                                       \
    "arch:\n  arithmetic: {name: MAC, instances: 4}\n  storage:\n"                                           \
    "  - {name: B, entries: 64, instances: 1}\n"                                                             \
    "  - {name: D, technology: DRAM, instances: 1, latency: " latency "}\n"

static sx_arch arch, again;

static void test_keys(void **state) {
    (void)state;
    sx_read_arch(
        LEVEL("{slots: 2, exposed: 0.5, launch: 3*4, start: 9, tail: true, refetch: yes, load_bus: 16,"
              " load_request: 64, load_min: 1, store_request: 16, store_time: 2.5, line: 32, soft: 4,"
              " write_factor: 2, rows: 16, min_rows: 4, preload: 8, issue: 7.5, stream: P,"
              " array: {C: 16, K: 8}, caches: [{bytes: 4096, ways: 2, miss: 3}],"
              " layout: {Inputs: [N, Q, P, C], Weights: S R C K}}"),
        &arch);
    assert_int_equal(arch.n_laws, 1);
    assert_null(sx_arch_law(&arch, 0));
    const sx_law *law = sx_arch_law(&arch, 1);
    assert_true(law->slots == 2 && law->exposed == 0.5 && law->launch == 12 && law->start == 9);
    assert_true(law->tail && law->refetch && !law->spill);
    assert_true(law->load_bus == 16 && law->load_request == 64 && law->load_min == 1);
    assert_true(law->store_request == 16 && law->store_time == 2.5 && law->line == 32 && law->soft == 4);
    assert_true(law->write_factor == 2 && law->rows == 16 && law->min_rows == 4 && law->preload == 8);
    assert_true(law->issue == 7.5 && law->n_caches == 1 && law->n_array == 2 && law->n_layouts == 2);
    assert_true(law->cache[0].bytes == 4096 && law->cache[0].ways == 2 && law->cache[0].miss == 3);
    assert_string_equal(law->array[1].dim, "K");
    assert_int_equal(law->array[1].size, 8);
    assert_string_equal(law->stream, "P");
    assert_string_equal(law->layout[0].dims, "N Q P C");
    assert_string_equal(law->layout[1].dims, "S R C K");
}

static void test_written(void **state) {
    char *text;
    (void)state;
    test_keys(NULL);
    assert_null(sx_arch_write(&arch, SX_YAML, &text));
    sx_read_arch(text, &again);
    assert_memory_equal(&arch.law, &again.law, sizeof arch.law);
    assert_int_equal(again.level[1].law, 1);
    free(text);
}

static void test_defaults(void **state) {
    (void)state;
    sx_read_arch(LEVEL("{start: 1}"), &arch);
    const sx_law *law = sx_arch_law(&arch, 1);
    assert_true(isinf(law->slots) && isinf(law->load_request) && isinf(law->store_request) &&
                isinf(law->soft));
    assert_true(law->load_bus == 0 && law->store_time == 0 && law->line == 64 && law->write_factor == 1);
    assert_true(law->rows == 1 && law->issue == 0 && !law->tail && !law->refetch);
    assert_false(sx_law_is_neutral(law));
    sx_read_arch(LEVEL("{slots: inf, start: 0, layout: {W: [K]}}"), &arch);
    assert_true(sx_law_is_neutral(sx_arch_law(&arch, 1)));
    sx_read_arch(LEVEL("{}"), &arch);
    assert_int_equal(arch.n_laws, 0);
}

/* A number, or a time, keeps its meaning: none. */
static void test_scalar(void **state) {
    (void)state;
    sx_read_arch(LEVEL("5ns"), &arch);
    assert_int_equal(arch.n_laws, 0);
    assert_int_equal(sx_count_arch_notes(LEVEL("5ns"), "'latency' of the storage level 'D' has no effect"),
                     1);
    assert_int_equal(sx_count_arch_notes(LEVEL("{start: 1}"), "latency"), 0);
}

static void test_refused(void **state) {
    (void)state;
    static const sx_refused cases[] = {
        {LEVEL("{slot: 2}"), "5:57", "unknown key of the latency of 'D': 'slot'", "did you mean 'slots'?"},
        {LEVEL("{slots: 0}"), "5:64", "'D': 'slots' of its latency is 0; it must be at least 1", NULL},
        {LEVEL("{exposed: 1.5}"), "5:66",
         "'D': 'exposed' of its latency is 1.5; it must be at least 0 and at most 1", NULL},
        {LEVEL("{load_bus: 0}"), "5:67", "'load_bus' is 0; it must be above 0", NULL},
        {LEVEL("{start: x}"), "5:64", "'x' is neither a number nor a known name", NULL},
        {LEVEL("{tail: 3}"), "5:63", "'tail' must be true or false, but is '3'", NULL},
        {LEVEL("{caches: 3}"), "5:65", "'caches' must be a list, but is a single value", NULL},
        {LEVEL("{caches: [{bytes: 4096, ways: 2}]}"), "5:66", "a cache has no 'miss'", NULL},
        {LEVEL("{caches: [{bytes: 100, ways: 2, miss: 1}]}"), "5:47",
         "'D': a cache of 100 bytes with 2 ways and lines of 64 bytes has 0.78125 sets",
         "bytes must be a multiple of line * ways"},
        {LEVEL("{array: {C: 0}, stream: P}"), "5:68", "'C' is 0; an array has at least one place", NULL},
        {LEVEL("{array: {C: 16}}"), "5:47", "'D': 'array' and 'stream' of its latency need each other", NULL},
    };
    sx_assert_archs_refused(cases, N(cases));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),   cmocka_unit_test(test_written), cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_scalar), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
