/* Devices: those that are built in, and what makes a device one. */
#include "sextant/systolic.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static sx_device u250(void) {
    sx_device device;
    sx_expect_ok(sx_catalog_device("u250", &device));
    return device;
}

static void built_in_devices_are_devices(void **state) {
    (void)state;
    const char *name, *about;
    size_t n = 0;
    for (; (name = sx_catalog_device_name(n, &about)) != NULL; n++) {
        sx_device device;
        sx_expect_ok(sx_catalog_device(name, &device));
        sx_expect_ok(sx_device_check(&device));
        assert_string_equal(device.name, name);
        assert_true(strlen(about) > 10);
        assert_string_equal(device.element[0].name, "fp32");
    }
    assert_true(n >= 2);
    assert_non_null(sx_catalog_device_name(0, NULL));
}

static void the_papers_device_has_the_papers_numbers(void **state) {
    (void)state;
    sx_device device = u250();
    assert_true(sx_device_usable_dsp(&device) == 0.7 * 12288);
    assert_true(sx_device_usable_bram(&device) == 0.7 * 5376);
    assert_true(device.uram == 1280 && device.mhz == 300 && device.port_bits == 512);
    assert_true(device.row_cycles == 20 && device.element[0].bits == 32);
    assert_true(device.element[0].dsp_per_mac == 5 && device.element[0].add_latency == 8);
    sx_expect_ok(sx_catalog_device("vu9p", &device));
    assert_true(device.dsp == 6840 && device.bram18k == 4318 && device.uram == 960 && device.share == 0.7);
}

static void devices_that_are_none_are_refused(void **state) {
    (void)state;
    sx_device device = {.dsp = 77};
    sx_expect_error(sx_catalog_device("u25", &device), "did you mean 'u250'?");
    sx_expect_error(sx_catalog_device("something-else", &device), "sextant list devices");
    assert_true(device.dsp == 77);
}

/* Fails unless a device is refused with a text. */
static void expect_refused(sx_device device, const char *part) {
    sx_expect_error(sx_device_check(&device), part);
}

static void numbers_outside_their_ranges_are_refused(void **state) {
    (void)state;
    static const double bad[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sx_device d = u250();
        d.dsp = bad[i];
        expect_refused(d, "'dsp' of the device 'u250'");
        d = u250();
        d.bram18k = bad[i];
        expect_refused(d, "'bram18k'");
        d = u250();
        d.share = bad[i];
        expect_refused(d, "'share'");
        d = u250();
        d.mhz = bad[i];
        expect_refused(d, "'mhz'");
        d = u250();
        d.element[1].dsp_per_mac = bad[i];
        expect_refused(d, "'dsp_per_mac'");
        if (bad[i] == 0) continue;
        d = u250();
        d.uram = bad[i];
        expect_refused(d, "'uram' and 'row_cycles'");
        d = u250();
        d.row_cycles = bad[i];
        expect_refused(d, "'uram' and 'row_cycles'");
    }
    sx_device d = u250();
    d.share = 1.01;
    expect_refused(d, "at most 1");
    d = u250();
    d.element[0].add_latency = 0;
    expect_refused(d, "'add_latency'");
}

static void words_and_ports_are_powers_of_two(void **state) {
    (void)state;
    static const uint32_t bits[] = {0, 1, 4, 12, 24, 33, 128};
    sx_device d = u250();
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        d.element[2].bits = bits[i];
        expect_refused(d, "they have 8, 16, 32 or 64");
    }
    d = u250();
    d.port_bits = 500;
    expect_refused(d, "a power of two, such as 512");
    d.port_bits = 0;
    expect_refused(d, "'port_bits'");
    d.port_bits = 16;
    expect_refused(d, "a word of 'fp32' (32 bits) is wider than a port");
    d = u250();
    d.n_elements = 0;
    expect_refused(d, "0 data types");
    d.n_elements = SX_MAX_ELEMENTS + 1;
    expect_refused(d, "1 to 8 are allowed");
    d = u250();
    d.element[0].bits = d.port_bits = 64;
    sx_expect_ok(sx_device_check(&d));
}

/* Every check of a device is made where a space or a cost is asked for. */
static void spaces_and_costs_check_their_device(void **state) {
    (void)state;
    sx_systolic_kernel kernel;
    sx_systolic_point point = {.t1 = {8, 8, 8}, .t2 = {8, 8, 8}};
    sx_systolic_fault fault;
    sx_systolic_cost cost;
    sx_space *space = NULL;
    sx_device device = u250();
    sx_systolic_options options = {.element = "fp33"};
    sx_expect_ok(sx_systolic_matrix(8, 8, 8, &kernel));
    sx_expect_error(sx_systolic_space_new(&kernel, 1, &device, &options, &space), "it has fp32, int16, int8");
    sx_expect_error(sx_systolic_cost_of(&kernel, &device, &options, &point, &fault, &cost),
                    "no data type 'fp33'");
    device.share = 0;
    sx_expect_error(sx_systolic_space_new(&kernel, 1, &device, NULL, &space), "'share'");
    assert_null(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_devices_are_devices),
        cmocka_unit_test(the_papers_device_has_the_papers_numbers),
        cmocka_unit_test(devices_that_are_none_are_refused),
        cmocka_unit_test(numbers_outside_their_ranges_are_refused),
        cmocka_unit_test(words_and_ports_are_powers_of_two),
        cmocka_unit_test(spaces_and_costs_check_their_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
