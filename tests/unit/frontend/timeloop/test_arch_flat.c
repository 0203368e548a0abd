#include "support/read_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* What the hint about a misspelt key ends with. */
#define LENIENT " --lenient ignores the key, with a warning"

#define N(array) (sizeof(array) / sizeof *(array))

static void a_small_one(void **state) {
    (void)state;
    static sx_arch a;
    sx_read_arch(
        "arch:\n"
        "  name: small\n"
        "  arithmetic: {name: MAC, instances: 64, meshX: 8, word-bits: 16}\n"
        "  storage:\n"
        "  - {name: Reg, technology: SRAM, entries: 64, instances: 64, meshX: 8, word-bits: 16,\n"
        "     addr-gen-energy: 0.0625, power_gated_at: Buf, energy-per-hop: 0.03, router-energy: 0.01}\n"
        "  - {name: Buf, entries: 2048, instances: 16, meshX: 4, block-size: 2, cluster-size: 4,\n"
        "     multiple-buffering: 2.0, min-utilization: 0.5, read_bandwidth: 4.0, write_bandwidth: 3,\n"
        "     network_fill_latency: 3, network_drain_latency: 2, shared_bandwidth: 24}\n"
        "  - {name: DRAM, technology: DRAM, instances: 1, block-size: 8}\n",
        &a);
    assert_string_equal(a.name, "small");
    assert_int_equal(a.n_levels, 3);
    assert_string_equal(a.compute.name, "MAC");
    assert_int_equal(a.compute.mesh_y, 8);
    assert_true(a.compute.energy == 1);
    assert_int_equal(a.level[0].power_gated_at, 1);
    assert_true(a.level[0].addr_gen_energy == 0.0625);
    assert_true(a.level[0].energy_per_hop == 0.03 && a.level[0].router_energy == 0.01);
    assert_int_equal(a.level[1].mesh_y, 4);
    assert_int_equal(a.level[1].cluster_size, 4);
    assert_true(a.level[1].multiple_buffering == 2 && a.level[1].min_utilization == 0.5);
    assert_true(a.level[1].read_bandwidth == 4 && a.level[1].write_bandwidth == 3);
    assert_true(a.level[1].shared_bandwidth == 24 && isinf(a.level[0].shared_bandwidth));
    assert_int_equal(a.level[1].fill_latency, 3);
    assert_int_equal(a.level[1].drain_latency, 2);
    assert_true(a.level[2].technology == SX_DRAM && a.level[2].entries == SX_UNLIMITED);
    assert_false(a.level[2].reduction_supported);
    assert_true(a.level[1].reduction_supported);
    assert_int_equal(a.level[2].power_gated_at, -1);
}

/* Energies without a table: the public technology model, a cluster's access being shared. */
static void default_energies(void **state) {
    (void)state;
    static sx_arch a;
    sx_read_arch("arch:\n"
                 "  arithmetic: {name: MAC, instances: 1, word-bits: 8}\n"
                 "  storage:\n"
                 "  - {name: A, entries: 100, instances: 1, word-bits: 8, block-size: 3, cluster-size: 2}\n"
                 "  - {name: D, technology: DRAM, instances: 1, word-bits: 16, block-size: 4}\n",
                 &a);
    assert_true(a.level[0].read_energy == sx_pat_sram(48.0 * 34 / 8192, 48) / 2);
    assert_true(a.level[0].fill_energy == a.level[0].read_energy);
    assert_true(a.level[1].update_energy == 800 && a.level[1].leak_energy == 0);
    assert_true(a.compute.energy == 0.25);
}

static void sizes_and_widths(void **state) {
    (void)state;
    static const struct {
        const char *keys;
        uint64_t entries;
        uint32_t word_bits, block_size, cluster_size;
    } cases[] = {
        {"entries: 64", 64, 16, 1, 1},
        {"depth: 64", 64, 16, 1, 1},
        {"depth: 64, block-size: 4", 256, 16, 4, 1},
        {"memory_depth: 64, n_words: 4", 256, 16, 4, 1},
        {"sizeKB: 2, word_width: 8", 2048, 8, 1, 1},
        {"depth: 8, width: 64, datawidth: 8", 64, 8, 8, 1},
        {"depth: 8, memory_width: 64, block_size: 4", 32, 16, 4, 1},
        {"depth: 8, width: 128, block_size: 4", 32, 16, 4, 2},
        {"depth: 8, width: 128, cluster_size: 4", 16, 16, 2, 4},
        {"data_storage_depth: 8, data_storage_width: 128, cluster_size: 4, block-size: 2", 16, 16, 2, 4},
        {"entries: 1e3, word-bits: '24'", 1000, 24, 1, 1},
        {"entries: 4*1024 - 96, word-bits: 2**4", 4000, 16, 1, 1},
        {"depth: n * 2, block-size: block", 64, 16, 4, 1},
    };
    for (size_t i = 0; i < N(cases); i++) {
        static sx_arch a;
        char text[512];
        snprintf(text, sizeof text,
                 "variables: {n: 2 * block, block: 4}\n"
                 "arch: {arithmetic: {name: MAC, instances: 1}, storage: [{name: B, instances: 1, %s}]}\n",
                 cases[i].keys);
        sx_read_arch(text, &a);
        if (a.level[0].entries != cases[i].entries) print_error("%s\n", cases[i].keys);
        assert_int_equal(a.level[0].entries, cases[i].entries);
        assert_int_equal(a.level[0].word_bits, cases[i].word_bits);
        assert_int_equal(a.level[0].block_size, cases[i].block_size);
        assert_int_equal(a.level[0].cluster_size, cases[i].cluster_size);
    }
}

static void meshes(void **state) {
    (void)state;
    static const struct {
        const char *keys;
        uint64_t x, y;
    } cases[] = {
        {"instances: 12", 12, 1},
        {"instances: 12, meshX: 4", 4, 3},
        {"instances: 12, meshY: 4", 3, 4},
        {"meshX: 4, meshY: 3", 4, 3},
        {"instances: 12, meshX: 4, meshY: 3", 4, 3},
    };
    for (size_t i = 0; i < N(cases); i++) {
        static sx_arch a;
        char text[256];
        snprintf(text, sizeof text,
                 "arch: {arithmetic: {name: MAC, %s}, storage: [{name: B, entries: 1, %s}]}\n", cases[i].keys,
                 cases[i].keys);
        sx_read_arch(text, &a);
        assert_int_equal(a.level[0].mesh_x, cases[i].x);
        assert_int_equal(a.level[0].mesh_y, cases[i].y);
        assert_int_equal(a.compute.instances, 12);
        assert_int_equal(a.compute.mesh_x, cases[i].x);
    }
}

/* What Timeloop's dialect cannot say has keys of its own. */
static void keys_of_our_own(void **state) {
    (void)state;
    static sx_arch a;
    sx_read_arch(
        "arch:\n"
        "  arithmetic: {name: MAC, instances: 4, energy: 2.2}\n"
        "  storage:\n"
        "  - {name: A, instances: 4, read_energy: 1, fill_energy: 2, update_energy: 3, leak_energy: 0.5,\n"
        "     keep: [Weights, Inputs], banks: 16}\n"
        "  - {name: F, instances: 1, entries: 1, transparent: true}\n"
        "  - {name: B, instances: 1, entries: 8, bypass: Weights, bandwidth: 8,\n"
        "     per_dataspace_bandwidth_consumption_scale: {Inputs: 1/4, Outputs: 2}}\n",
        &a);
    assert_true(a.compute.energy == 2.2);
    assert_true(a.level[0].read_energy == 1 && a.level[0].fill_energy == 2 && a.level[0].update_energy == 3);
    assert_true(a.level[0].leak_energy == 0.5 && a.level[0].entries == SX_UNLIMITED);
    assert_int_equal(a.level[0].banks, 16);
    assert_int_equal(a.level[0].n_keeps, 2);
    assert_string_equal(a.level[0].keeps[1], "Inputs");
    assert_true(a.level[1].transparent && a.level[1].read_energy == 0);
    assert_int_equal(a.level[2].n_bypasses, 1);
    assert_string_equal(a.level[2].bypasses[0], "Weights");
    assert_true(a.level[2].read_bandwidth == 4 && a.level[2].write_bandwidth == 4);
    assert_int_equal(a.level[2].n_scales, 2);
    assert_true(a.level[2].bandwidth_scale[0].scale == 0.25);
    assert_string_equal(a.level[2].bandwidth_scale[1].tensor, "Outputs");
}

static void wires(void **state) {
    (void)state;
    static sx_arch a;
    sx_read_arch(
        "arch:\n"
        "  arithmetic: {name: MAC, instances: 1}\n"
        "  storage:\n"
        "  - {name: A, instances: 1, entries: 1, word-bits: 8, wire-energy: 0.5, tile-width: 2000}\n"
        "  - {name: B, instances: 1, entries: 1, network-word-bits: 32, wire-energy: 0.5, tile-width: 500}\n"
        "  - {name: C, instances: 1, entries: 1, energy-per-hop: 7, wire-energy: 0.5, tile-width: 500}\n"
        "  - {name: D, instances: 1, entries: 1, wire-energy: 0.5}\n",
        &a);
    assert_true(a.level[0].energy_per_hop == 8);
    assert_true(a.level[1].energy_per_hop == 8);
    assert_true(a.level[2].energy_per_hop == 7);
    assert_true(a.level[3].energy_per_hop == 0);
}

#define ARCH(storage) "arch:\n  arithmetic: {name: MAC, instances: 4}\n  storage:\n" storage
#define LEVEL(keys) ARCH("  - {name: B, instances: 1, " keys "}\n")

static void arithmetic_may_have_no_name(void **state) {
    (void)state;
    static sx_arch a;
    sx_read_arch("arch: {arithmetic: {instances: 4}, storage: [{name: B, entries: 4, instances: 1}]}\n", &a);
    assert_string_equal(a.compute.name, "arithmetic");
    assert_int_equal(a.compute.instances, 4);
}

static void refusals(void **state) {
    (void)state;
    static const sx_refused cases[] = {
        {"problem: {}\n", "0:0", "no architecture given", NULL},
        {"arch: {storage: []}\n", "1:7", "the architecture has no 'arithmetic'", NULL},
        {"arch: {arithmetic: {}}\n", "1:7", "'arch' has no known format", NULL},
        {"arch: 3\n", "1:7", "'arch' has no known format", NULL},
        {ARCH("  - 4\n"), "4:5", "the storage level must be a map, but is a single value", NULL},
        {ARCH("  - {instances: 4}\n"), "4:5", "the storage level has no 'name'", NULL},
        {"arch: {arithmetic: {name: MAC, instances: 1}, storage: []}\n", "1:1",
         "the architecture has no storage level", NULL},
        {LEVEL("entriess: 4"), "4:29", "unknown key of the storage level 'B': 'entriess'",
         "did you mean 'entries'?" LENIENT},
        {LEVEL("entries: 4.5"), "4:38", "'entries' must be a whole number from 0 to 2^53, but is 4.5", NULL},
        {LEVEL("entries: true"), "4:38", "'entries' must be a number, not 'true'", NULL},
        {LEVEL("entries: 4, read_bandwidth: False"), "4:57", "'read_bandwidth' must be a number, not 'False'",
         NULL},
        {ARCH("  - {name: B, entries: 4, instances: 0, meshX: 1, meshY: 1}\n"), "4:38",
         "'instances' of 'B' is 0", NULL},
        {LEVEL("entries: 4, meshX: 0"), "4:48", "'meshX' of 'B' is 0", NULL},
        {LEVEL("entries: -4"), "4:38", "'entries' must be a whole number from 0 to 2^53, but is -4", NULL},
        {LEVEL("entries: lots"), "4:38", "'lots' is neither a number nor a known name", NULL},
        {LEVEL("entries: 3, sizeKB: 3"), "4:49", "'sizeKB' and 'entries' both give the size of 'B'", NULL},
        {LEVEL("depth: 4, block-size: 0"), "4:51", "'block_size' is 0; it must be at least 1", NULL},
        {LEVEL("depth: 4, width: 40"), "4:46",
         "'width' is 40 bits, which is not word bits * block size * cluster size (16 * 1 * 1)", NULL},
        {LEVEL("depth: 4, width: 64, block-size: 2, cluster-size: 4"), "4:46",
         "'width' is 64 bits, which is not word bits * block size * cluster size (16 * 2 * 4)", NULL},
        {LEVEL("network-type: 'M:N', entries: 1"), "4:43", "the network type M:N is not supported", NULL},
        {LEVEL("entries: 1, allow_overbooking: true"), "4:60",
         "'allow_overbooking' is not supported and would change the result", "tiles must fit; leave it out"},
        {LEVEL("technology: SRAM"), "4:12", "'B' has neither a size nor an energy", NULL},
        {LEVEL("entries: 1, read_energy: 1"), "4:41", "'read_energy' is given without 'fill_energy'", NULL},
        {LEVEL("entries: 1, power_gated_at: C"), "4:57", "unknown storage level 'C'", NULL},
        {LEVEL("sizeKB: 4294967296"), "4:37", "'sizeKB' is more than 2^40 words", NULL},
        {LEVEL("entries: 1, read_bandwidth: 0"), "1:1", "'B': a bandwidth is 0; it must be above 0", NULL},
        {LEVEL("technology: DRAM, cluster-size: 2"), "4:12",
         "the DRAM 'B' has a cluster size of 2; it must be 1", NULL},
        {ARCH("  - {name: B, entries: 1}\n"), "4:12", "'B' does not say how many there are",
         "give 'instances', or 'meshX' and 'meshY'"},
        {ARCH("  - {name: B, entries: 1, instances: 4, meshX: 3}\n"), "4:48",
         "'B' has 4 instances, which is not a multiple of meshX (3)", NULL},
        {ARCH("  - {name: B, entries: 1, instances: 4, meshX: 2, meshY: 1}\n"), "4:48",
         "'B' has 4 instances on a mesh of 2 x 1", "instances must be meshX * meshY"},
        {ARCH("  - {name: B, entries: 1, instances: 3}\n"), "1:1",
         "the mesh of 'B' (3 x 1) does not divide the mesh of 'MAC' (4 x 1)", NULL},
        {ARCH("  - {name: B, entries: 1, instances: 1}\n  - {name: B, entries: 1, instances: 1}\n"), "5:12",
         "two components are called 'B'", NULL},
        {ARCH("  - {name: MAC, entries: 1, instances: 1}\n"), "4:12", "two components are called 'MAC'",
         NULL},
        {"variables: {a: b, b: a}\n" LEVEL("entries: a"), "1:22",
         "the value of 'a' is circular or too deeply nested", NULL},
        {ARCH("  - {name: B, entries: 1, instances: 1}\n") "architecture: {storage: []}\n", "1:1",
         "second architecture; the first is at t.yaml:5:1", NULL},
        {LEVEL("wire-energy: 1, entries: 1") "ART: {tables: []}\n", "4:12", "the wires of 'B' have no length",
         NULL},
    };
    sx_assert_archs_refused(cases, N(cases));
}

static void what_has_no_bearing_is_noted(void **state) {
    (void)state;
    const char *text = LEVEL("entries: 1, n-instances: 2, update_fifo_depth: 4, area_scale: 7");
    assert_int_equal(sx_count_arch_notes(text, "of the storage level 'B' has no effect on the result"), 3);
    assert_int_equal(sx_count_arch_notes(LEVEL("entries: 1"), ""), 0);
}

/* Networks by name are inferred instead; metadata have a store of their own under either name. */
static void other_names_are_read(void **state) {
    (void)state;
    static sx_arch a;
    sx_read_arch(LEVEL("entries: 64, network_read: noc, metadata_width: 8, metadata_depth: 32"), &a);
    assert_int_equal(a.level[0].metadata.width, 8);
    assert_int_equal(a.level[0].metadata.depth, 32);
    sx_read_arch(LEVEL("entries: 64, metadata_storage_width: 4, metadata_width: 8"), &a);
    assert_int_equal(a.level[0].metadata.width, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_one),
        cmocka_unit_test(default_energies),
        cmocka_unit_test(sizes_and_widths),
        cmocka_unit_test(meshes),
        cmocka_unit_test(keys_of_our_own),
        cmocka_unit_test(wires),
        cmocka_unit_test(arithmetic_may_have_no_name),
        cmocka_unit_test(refusals),
        cmocka_unit_test(what_has_no_bearing_is_noted),
        cmocka_unit_test(other_names_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
