/* Devices out of files. */
#include "sextant/device.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static sx_status parse(const char *text, sx_device *out) {
    return sx_device_parse("d.yaml", text, strlen(text), out);
}

/* Fails unless a text is refused with words that hold a part, and leaves the device alone. */
static void refuse(const char *text, const char *part) {
    sx_device device = {.dsp = 7};
    sx_expect_error(parse(text, &device), part);
    assert_true(device.dsp == 7);
}

static void what_is_not_said_is_as_in_the_paper(void **state) {
    (void)state;
    sx_device device, paper;
    sx_expect_ok(sx_catalog_device("u250", &paper));
    sx_expect_ok(parse("device: {name: a, dsp: 10, bram18k: 20}", &device));
    assert_string_equal(device.name, "a");
    assert_true(device.dsp == 10 && device.bram18k == 20 && device.uram == 0 && device.share == 0.7);
    assert_true(device.mhz == 300 && device.port_bits == 512 && device.row_cycles == 20);
    assert_int_equal(device.n_elements, paper.n_elements);
    assert_memory_equal(device.element, paper.element, sizeof device.element);
}

static void all_that_is_said_counts(void **state) {
    (void)state;
    sx_device device;
    sx_expect_ok(
        parse("{\"device\": {\"name\": \"b\", \"dsp\": 1e3, \"bram18k\": 20, \"uram\": 5, \"share\": 1, "
              "\"mhz\": 99.5, \"port-bits\": 64, \"row_cycles\": 0, \"types\": {\"bf16\": {\"bits\": 16, "
              "\"dsp_per_mac\": 0.5, \"add_latency\": 4}, \"int64\": {\"bits\": 64, \"dsp_per_mac\": 16, "
              "\"add_latency\": 1}}}}",
              &device));
    assert_true(device.dsp == 1000 && device.uram == 5 && device.share == 1 && device.mhz == 99.5);
    assert_true(device.port_bits == 64 && device.row_cycles == 0 && device.n_elements == 2);
    assert_string_equal(device.element[0].name, "bf16");
    assert_true(device.element[0].bits == 16 && device.element[0].dsp_per_mac == 0.5);
    assert_true(device.element[1].bits == 64 && device.element[1].add_latency == 1);
    sx_expect_ok(sx_device_check(&device));
}

static void errors_have_places_and_cures(void **state) {
    (void)state;
    refuse("", "no device given");
    refuse("device: 3", "d.yaml:1:9: a device must be a map");
    refuse("problem: {}", "unknown key");
    refuse("device: {name: a, dsp: 10}", "d.yaml:1:9: a device has no 'bram18k'");
    refuse("device: {name: a, dsp: 10, bram18k: 20, mhzz: 3}", "did you mean 'mhz'?");
    refuse("device: {name: a, dsp: 0, bram18k: 20}", "d.yaml:1:24: 'dsp'");
    refuse("device: {name: a, dsp: 10, bram18k: .inf}", "d.yaml:1:37: 'bram18k'");
    refuse("device: {name: a, dsp: 10, bram18k: 20, share: 0}", "above 0 and at most 1");
    refuse("device:\n  name: a\n  dsp: 10\n  bram18k: 20\n  port_bits: 48\n", "d.yaml:5:3: a port");
    refuse("device: {name: a, dsp: 1, bram18k: 2, types: {x: {bits: 24, dsp_per_mac: 1, add_latency: 1}}}",
           "8, 16, 32 or 64");
    refuse("device: {name: a, dsp: 1, bram18k: 2, types: {x: {bits: 8, dsp_per_mac: -1, add_latency: 1}}}",
           "'dsp_per_mac' of the device 'a' is -1");
    refuse("device: {name: a, dsp: 1, bram18k: 2, types: {'': {bits: 8, dsp_per_mac: 1, add_latency: 1}}}",
           "a data type");
    refuse("device: {name: a, dsp: 1, bram18k: 2}\n---\ndevice: {name: b, dsp: 1, bram18k: 2}\n",
           "d.yaml:3:1: second device");
    refuse("device: [", "d.yaml:");
}

static void the_example_is_the_papers_device(void **state) {
    (void)state;
    sx_device device, paper;
    sx_expect_ok(sx_catalog_device("u250", &paper));
    sx_expect_ok(sx_device_read(SX_TEST_DATA "/../examples/devices/u250.yaml", &device));
    assert_memory_equal(&device, &paper, sizeof device);
    sx_expect_ok(sx_device_read(SX_TEST_DATA "/../examples/devices/zynq-7020.yaml", &device));
    sx_expect_error(sx_device_read(SX_TEST_DATA "/nowhere.yaml", &device), "cannot open");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_said_is_as_in_the_paper),
        cmocka_unit_test(all_that_is_said_counts),
        cmocka_unit_test(errors_have_places_and_cures),
        cmocka_unit_test(the_example_is_the_papers_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
