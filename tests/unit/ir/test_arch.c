#include "sextant/arch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Gives a level a name and a mesh. */
static void name_level(sx_storage *level, const char *name, uint64_t x, uint64_t y) {
    sx_storage_init(level);
    strcpy(level->name, name);
    level->mesh_x = x;
    level->mesh_y = y;
    level->instances = x * y;
}

/* 8 x 4 multipliers, two to each of 4 x 4 register files, under one buffer and a memory. */
static sx_arch small_arch(void) {
    sx_arch a = {.name = "small", .n_levels = 3};
    sx_compute_init(&a.compute);
    strcpy(a.compute.name, "MAC");
    a.compute.instances = 32;
    a.compute.mesh_x = 8;
    a.compute.mesh_y = 4;
    name_level(&a.level[0], "RF", 4, 4);
    name_level(&a.level[1], "Buffer", 1, 1);
    name_level(&a.level[2], "DRAM", 1, 1);
    a.level[2].technology = SX_DRAM;
    return a;
}

/* Asserts that an architecture is refused with a code and a message. */
static void assert_refused(const sx_arch *arch, sx_code code, const char *message) {
    sx_status error = sx_arch_check(arch);
    assert_non_null(error);
    assert_string_equal(error->message, message);
    assert_int_equal(error->code, code);
    sx_status_free(error);
}

static void defaults_are_accepted(void **state) {
    (void)state;
    sx_arch a = small_arch();
    assert_null(sx_arch_check(&a));
    assert_true(a.level[0].entries == SX_UNLIMITED);
    assert_int_equal(a.level[0].word_bits, 16);
    assert_int_equal(a.level[0].block_size, 1);
    assert_int_equal(a.level[0].power_gated_at, -1);
    assert_true(isinf(a.level[0].read_bandwidth) && isinf(a.level[0].shared_bandwidth));
    assert_true(a.level[0].reduction_supported);
    assert_true(a.level[0].multiple_buffering == 1);
}

static void init_leaves_no_byte_unset(void **state) {
    (void)state;
    static sx_storage a, b;
    memset(&a, 0, sizeof a);
    memset(&b, 0xa5, sizeof b);
    sx_storage_init(&a);
    sx_storage_init(&b);
    assert_memory_equal(&a, &b, sizeof a);
    sx_compute c, d;
    memset(&c, 0, sizeof c);
    memset(&d, 0xa5, sizeof d);
    sx_compute_init(&c);
    sx_compute_init(&d);
    assert_memory_equal(&c, &d, sizeof c);
}

static void levels_are_found_by_name(void **state) {
    (void)state;
    sx_arch a = small_arch();
    assert_int_equal(sx_arch_level(&a, "RF"), 0);
    assert_int_equal(sx_arch_level(&a, "DRAM"), 2);
    assert_int_equal(sx_arch_level(&a, "dram"), -1);
    assert_int_equal(sx_arch_level(&a, "MAC"), -1);
}

static void fanout_is_children_per_instance(void **state) {
    (void)state;
    sx_arch a = small_arch();
    assert_int_equal(sx_arch_fanout_x(&a, 0), 2);
    assert_int_equal(sx_arch_fanout_y(&a, 0), 1);
    assert_int_equal(sx_arch_fanout_x(&a, 1), 4);
    assert_int_equal(sx_arch_fanout_y(&a, 1), 4);
    assert_int_equal(sx_arch_fanout_x(&a, 2), 1);
}

static void number_of_levels_is_limited(void **state) {
    (void)state;
    sx_arch a = small_arch();
    a.n_levels = 0;
    assert_refused(&a, SX_ERR_LIMIT, "the architecture has 0 storage levels; 1 to 24 are allowed");
    a.n_levels = SX_MAX_LEVELS + 1;
    assert_refused(&a, SX_ERR_LIMIT, "the architecture has 25 storage levels; 1 to 24 are allowed");
}

static void names_are_needed_once(void **state) {
    (void)state;
    sx_arch a = small_arch();
    a.compute.name[0] = 0;
    assert_refused(&a, SX_ERR_INPUT, "the architecture has no compute unit");
    memset(a.compute.name, 'x', SX_NAME_SIZE);
    assert_refused(&a, SX_ERR_INPUT, "the architecture has no compute unit");
    a = small_arch();
    a.level[1].name[0] = 0;
    assert_refused(&a, SX_ERR_INPUT, "storage level 2 has no name");
    memset(a.level[1].name, 'x', SX_NAME_SIZE);
    assert_refused(&a, SX_ERR_INPUT, "storage level 2 has no name");
    a = small_arch();
    strcpy(a.level[2].name, "RF");
    assert_refused(&a, SX_ERR_INPUT, "two levels are called 'RF'");
    a = small_arch();
    strcpy(a.level[1].name, "MAC");
    assert_refused(&a, SX_ERR_INPUT, "two levels are called 'MAC'");
}

static void meshes_hold_their_instances(void **state) {
    (void)state;
    sx_arch a = small_arch();
    a.level[0].instances = 15;
    assert_refused(&a, SX_ERR_INPUT, "'RF' has 15 instances on a mesh of 4 x 4");
    a.level[0].instances = 0;
    assert_refused(&a, SX_ERR_LIMIT, "'RF' has 0 instances; 1 to 2^31 are allowed");
    a = small_arch();
    a.compute.instances = ((uint64_t)1 << 31) + 1;
    assert_refused(&a, SX_ERR_LIMIT, "'MAC' has 2147483649 instances; 1 to 2^31 are allowed");
    a = small_arch();
    a.compute.mesh_x = (uint64_t)1 << 63;
    a.compute.mesh_y = 0;
    assert_refused(&a, SX_ERR_INPUT, "'MAC' has 32 instances on a mesh of 9223372036854775808 x 0");
}

static void meshes_divide_inward(void **state) {
    (void)state;
    sx_arch a = small_arch();
    name_level(&a.level[0], "RF", 3, 4);
    sx_status error = sx_arch_check(&a);
    assert_string_equal(error->message, "the mesh of 'RF' (3 x 4) does not divide the mesh of 'MAC' (8 x 4)");
    assert_non_null(error->hint);
    sx_status_free(error);
    a = small_arch();
    name_level(&a.level[1], "Buffer", 1, 8);
    assert_refused(&a, SX_ERR_INPUT, "the mesh of 'Buffer' (1 x 8) does not divide the mesh of 'RF' (4 x 4)");
}

static void whole_numbers_have_floors(void **state) {
    (void)state;
    sx_arch a = small_arch();
    a.level[0].word_bits = 0;
    assert_refused(&a, SX_ERR_INPUT, "'RF': word-bits is 0; it must be at least 1");
    a = small_arch();
    a.level[0].block_size = 0;
    assert_refused(&a, SX_ERR_INPUT, "'RF': block-size is 0; it must be at least 1");
    a = small_arch();
    a.level[0].cluster_size = 0;
    assert_refused(&a, SX_ERR_INPUT, "'RF': cluster-size is 0; it must be at least 1");
    a = small_arch();
    a.compute.word_bits = 0;
    assert_refused(&a, SX_ERR_INPUT, "'MAC': word-bits is 0; it must be at least 1");
}

static void fractions_stay_in_their_ranges(void **state) {
    (void)state;
    sx_arch a = small_arch();
    a.level[1].multiple_buffering = 1e-7;
    assert_refused(&a, SX_ERR_INPUT, "'Buffer': multiple-buffering is 1e-07; it must be at least 1e-06");
    a.level[1].multiple_buffering = INFINITY;
    assert_refused(&a, SX_ERR_INPUT, "'Buffer': multiple-buffering is inf, which is not a usable number");
    a = small_arch();
    a.level[1].min_utilization = -0.25;
    assert_refused(&a, SX_ERR_INPUT, "'Buffer': min-utilization is -0.25; it must be at least 0");
    a.level[1].min_utilization = 1.25;
    assert_refused(&a, SX_ERR_INPUT, "'Buffer': min-utilization is 1.25; it must be between 0 and 1");
    a = small_arch();
    a.level[1].write_bandwidth = 0;
    assert_refused(&a, SX_ERR_INPUT, "'Buffer': a bandwidth is 0; it must be above 0");
    a.level[1].write_bandwidth = 0.9e-9;
    assert_refused(&a, SX_ERR_LIMIT,
                   "'Buffer': a bandwidth is 9e-10; it must be at least 1e-09 words per cycle");
    a.level[1].write_bandwidth = 1e-9;
    assert_null(sx_arch_check(&a));
    a.level[1].write_bandwidth = NAN;
    sx_status error = sx_arch_check(&a);
    assert_non_null(error);
    sx_status_free(error);
}

static void energies_are_finite_and_not_negative(void **state) {
    (void)state;
    const size_t fields[] = {offsetof(sx_storage, read_energy),     offsetof(sx_storage, fill_energy),
                             offsetof(sx_storage, update_energy),   offsetof(sx_storage, leak_energy),
                             offsetof(sx_storage, addr_gen_energy), offsetof(sx_storage, energy_per_hop),
                             offsetof(sx_storage, router_energy)};
    const double wrong[] = {-1, NAN, INFINITY, -INFINITY, 1e31};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        for (size_t j = 0; j < sizeof wrong / sizeof wrong[0]; j++) {
            sx_arch a = small_arch();
            memcpy((char *)&a.level[1] + fields[i], &wrong[j], sizeof wrong[j]);
            sx_status error = sx_arch_check(&a);
            assert_non_null(error);
            assert_int_equal(error->code, SX_ERR_INPUT);
            sx_status_free(error);
        }
    sx_arch a = small_arch();
    a.level[1].read_energy = -1;
    assert_refused(&a, SX_ERR_INPUT, "'Buffer': the read energy is -1; it must be at least 0");
    a = small_arch();
    a.compute.energy = INFINITY;
    assert_refused(&a, SX_ERR_INPUT, "'MAC': the compute energy is inf, which is not a usable number");
}

static void other_fields_are_checked(void **state) {
    (void)state;
    sx_arch a = small_arch();
    a.level[0].fill_latency = (uint64_t)1 << 48;
    assert_refused(&a, SX_ERR_LIMIT, "'RF': a network latency is beyond 2^48 cycles");
    a = small_arch();
    a.level[0].power_gated_at = 2;
    assert_null(sx_arch_check(&a));
    a.level[0].power_gated_at = 3;
    assert_refused(&a, SX_ERR_INPUT, "'RF' is power-gated at a level that does not exist");
    a.level[0].power_gated_at = -2;
    assert_refused(&a, SX_ERR_INPUT, "'RF' is power-gated at a level that does not exist");
    a = small_arch();
    a.level[0].n_keeps = SX_MAX_TENSORS + 1;
    assert_refused(&a, SX_ERR_LIMIT, "'RF' names more than 8 tensors");
    a = small_arch();
    a.level[0].n_scales = 1;
    a.level[0].bandwidth_scale[0] = (sx_tensor_scale){"A", NAN};
    sx_status error = sx_arch_check(&a);
    assert_non_null(error);
    sx_status_free(error);
}

static void keep_mask_resolves_names(void **state) {
    (void)state;
    sx_arch a = small_arch();
    sx_problem p = {.n_tensors = 3};
    strcpy(p.tensor[0].name, "A");
    strcpy(p.tensor[1].name, "B");
    strcpy(p.tensor[2].name, "O");
    assert_int_equal(sx_arch_keep_mask(&a, 0, &p), 7);
    a.level[0].n_keeps = 2;
    strcpy(a.level[0].keeps[0], "O");
    strcpy(a.level[0].keeps[1], "Z");
    assert_int_equal(sx_arch_keep_mask(&a, 0, &p), 4);
    a.level[1].n_bypasses = 1;
    strcpy(a.level[1].bypasses[0], "B");
    assert_int_equal(sx_arch_keep_mask(&a, 1, &p), 5);
    a.level[2].transparent = true;
    assert_int_equal(sx_arch_keep_mask(&a, 2, &p), 0);
}

static void public_energies_are_the_published_formulas(void **state) {
    (void)state;
    assert_true(sx_pat_sram(0.5, 16) == 1);
    assert_true(sx_pat_sram(100, 16) == 6);
    assert_true(sx_pat_sram(100, 64) == 24);
    assert_true(sx_pat_dram(16) == 200);
    assert_true(sx_pat_dram(64) == 800);
    assert_true(sx_pat_mac(16) == 1);
    assert_true(sx_pat_mac(8) == 0.25);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_accepted),
        cmocka_unit_test(init_leaves_no_byte_unset),
        cmocka_unit_test(levels_are_found_by_name),
        cmocka_unit_test(fanout_is_children_per_instance),
        cmocka_unit_test(number_of_levels_is_limited),
        cmocka_unit_test(names_are_needed_once),
        cmocka_unit_test(meshes_hold_their_instances),
        cmocka_unit_test(meshes_divide_inward),
        cmocka_unit_test(whole_numbers_have_floors),
        cmocka_unit_test(fractions_stay_in_their_ranges),
        cmocka_unit_test(energies_are_finite_and_not_negative),
        cmocka_unit_test(other_fields_are_checked),
        cmocka_unit_test(keep_mask_resolves_names),
        cmocka_unit_test(public_energies_are_the_published_formulas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
