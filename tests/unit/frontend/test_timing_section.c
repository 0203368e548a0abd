/* The section `timing`: read, written and refused. */
#include "frontend/timing_section.h"

#include "frontend/catalog/catalog.h"
#include "ir/timing.h"
#include "support/expect.h"
#include "support/timed_arch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A kind has the numbers of the others but for its own; what is written reads as the same. */
static void numbers_of_kinds(void **state) {
    (void)state;
    static sx_arch arch, second;
    static sx_timing timing, again;
    char *text;
    sx_expect_timed("timing: {overhead: 5e-6, efficiency: {compute: 0.7, HBM: 0.8}, units: 4, shared: L2, "
                    "tiles: [128x64],"
                    " rates: {8: 2}, link: {bandwidth: 3e11, latency: 1e-5}, operators: {softmax: {row: 512, "
                    "efficiency: {HBM: 0.5}}}}\n",
                    &arch, &timing);
    const sx_timing_kind *softmax = sx_timing_find(&timing, "softmax"),
                         *other = sx_timing_find(&timing, "gelu");
    assert_true(softmax->overhead == 5e-6 && softmax->row == 512 && softmax->level[1] == 0.5);
    assert_true(softmax->compute == 0.7 && other->level[1] == 0.8 && other->level[0] == 1);
    assert_int_equal(timing.tile[0][0], 128);
    assert_int_equal(timing.tile[0][1], 64);
    sx_expect_ok(sx_timing_write(&arch, &timing, &text));
    sx_input *input = sx_expect_input(text);
    sx_expect_ok(sx_input_arch(input, &second));
    sx_expect_ok(sx_timing_read(input, &second, &again));
    assert_memory_equal(&again, &timing, sizeof timing);
    sx_input_free(input);
    free(text);
}

/* Every error names what is wrong and where. */
static void refused_sections(void **state) {
    (void)state;
    static const struct {
        const char *section, *part;
    } cases[] = {
        {"timing: 3\n", "t.yaml:8:9"},
        {"timing: {overhead: -1}\n", "'overhead' is -1; it must be at least 0 and at most 1"},
        {"timing: {overhaed: 1}\n", "overhead"},
        {"timing: {overlap: 0.5}\n", "'overlap' is 0.5; it must be at least 1"},
        {"timing: {efficiency: {compute: 0}}\n", "the efficiency of 'compute' is 0"},
        {"timing: {efficiency: {HMB: 0.5}}\n", "did you mean 'HBM'"},
        {"timing: {units: 4}\n", "'units', 'shared' and 'tiles' need each other"},
        {"timing: {units: 4, shared: L3, tiles: [8x8]}\n", "unknown resource 'L3'"},
        {"timing: {units: 4, shared: L2, tiles: [8]}\n", "'8' is no shape of a tile"},
        {"timing: {units: 4, shared: L2, tiles: []}\n", "at least one shape"},
        {"timing: {units: 0, shared: L2, tiles: [8x8]}\n", "units"},
        {"timing: {rates: {x: 2}}\n", "'x' is no number of bits"},
        {"timing: {rates: {8: 0}}\n", "a rate is 0"},
        {"timing: {link: {latency: 1}}\n", "bandwidth"},
        {"timing: {link: {bandwidth: 0}}\n", "'bandwidth' is 0"},
        {"timing: {link: {bandwidth: 1, latency: -1}}\n", "'latency' is -1"},
        {"timing: {operators: {softmax: {speed: 1}}}\n", "speed"},
        {"timing: {operators: {softmax: 1}}\n", "the operators 'softmax'"},
    };
    static sx_arch arch;
    static sx_timing timing;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        snprintf(text, sizeof text, "%s%s", sx_timed_arch_text, cases[i].section);
        sx_input *input = sx_expect_input(text);
        sx_expect_ok(sx_input_arch(input, &arch));
        sx_expect_error(sx_timing_read(input, &arch, &timing), cases[i].part);
        sx_input_free(input);
    }
    sx_input *input = sx_expect_input("timing: {overhead: 1e-6}\n");
    arch.cycle_seconds = 0;
    sx_expect_error(sx_timing_read(input, &arch, &timing), "needs the clock");
    sx_input_free(input);
}

/* The built-in machines that have a timing can be read; others have none. */
static void built_in_timings(void **state) {
    (void)state;
    static const char *const names[] = {"a100", "h200", "mi210-like", "tpu-like"};
    static sx_arch arch;
    static sx_timing timing;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sx_expect_ok(sx_catalog_arch(names[i], &arch));
        sx_expect_ok(sx_catalog_timing(names[i], &arch, &timing));
        assert_true(timing.n_kinds >= 1 && timing.kind[0].overhead > 0 && timing.link_bandwidth > 0);
        assert_string_equal(arch.name, names[i]);
    }
    sx_expect_ok(sx_catalog_arch("eyeriss", &arch));
    sx_expect_ok(sx_catalog_timing("eyeriss", &arch, &timing));
    assert_int_equal(timing.n_kinds, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_kinds),
        cmocka_unit_test(refused_sections),
        cmocka_unit_test(built_in_timings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
