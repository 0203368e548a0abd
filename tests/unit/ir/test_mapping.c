#include "sextant/mapping.h"

#include "sextant/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* O[m,n] += A[m,k] * B[k,n] of sizes 8, 6, 5. */
static sx_problem matrix_product(void) {
    sx_problem p = {
        .name = "mm", .n_dims = 3, .n_tensors = 3, .dim_name = {"m", "n", "k"}, .size = {8, 6, 5}};
    p.tensor[0] = (sx_tensor){.name = "A", .n_ranks = 2, .coef = {{1, 0, 0}, {0, 0, 1}}};
    p.tensor[1] = (sx_tensor){.name = "B", .n_ranks = 2, .coef = {{0, 0, 1}, {0, 1, 0}}};
    p.tensor[2] = (sx_tensor){.name = "O", .n_ranks = 2, .output = true, .coef = {{1, 0, 0}, {0, 1, 0}}};
    return p;
}

/* Three levels; the middle one is not built for B. */
static sx_arch small_arch(void) {
    sx_arch a = {.name = "small", .n_levels = 3};
    sx_compute_init(&a.compute);
    strcpy(a.compute.name, "MAC");
    for (int s = 0; s < 3; s++) {
        sx_storage_init(&a.level[s]);
        a.level[s].name[0] = (char)('a' + s);
    }
    a.level[1].n_bypasses = 1;
    strcpy(a.level[1].bypasses[0], "B");
    return a;
}

static sx_mapping small_mapping(void) {
    sx_problem p = matrix_product();
    sx_arch a = small_arch();
    sx_mapping m;
    sx_mapping_init(&m, &p, &a);
    return m;
}

static void init_puts_everything_outermost(void **state) {
    (void)state;
    sx_mapping m = small_mapping();
    assert_int_equal(m.n_levels, 3);
    assert_int_equal(m.n_dims, 3);
    assert_int_equal(m.n_tensors, 3);
    const uint32_t size[] = {8, 6, 5};
    for (int s = 0; s < 3; s++)
        for (int d = 0; d < 3; d++) {
            assert_int_equal(m.level[s].temporal[d], s == 2 ? size[d] : 1);
            assert_int_equal(m.level[s].spatial[d], 1);
            assert_int_equal(m.level[s].temporal_order[d], d);
            assert_int_equal(m.level[s].spatial_order[d], d);
        }
    assert_int_equal(m.level[0].keep, 7);
    assert_int_equal(m.level[1].keep, 5);
    assert_int_equal(m.level[2].keep, 7);
}

static void init_leaves_no_byte_unset(void **state) {
    (void)state;
    sx_problem p = matrix_product();
    sx_arch a = small_arch();
    static sx_mapping m, n;
    memset(&m, 0xa5, sizeof m);
    sx_mapping_init(&m, &p, &a);
    sx_mapping_init(&n, &p, &a);
    assert_memory_equal(&m, &n, sizeof m);
    assert_int_equal(m.level[2].temporal[3], 0);
    assert_int_equal(m.level[3].temporal[0], 0);
}

static void extent_multiplies_inward_factors(void **state) {
    (void)state;
    sx_mapping m = small_mapping();
    m.level[0].temporal[0] = 2;
    m.level[1].spatial[0] = 3;
    m.level[1].temporal[0] = 5;
    m.level[2].temporal[0] = 7;
    assert_int_equal(sx_mapping_extent(&m, 0, 0), 2);
    assert_int_equal(sx_mapping_extent(&m, 1, 0), 30);
    assert_int_equal(sx_mapping_extent(&m, 2, 0), 210);
    assert_int_equal(sx_mapping_extent(&m, 1, 1), 1);
}

static void extent_that_overflows_is_the_largest_number(void **state) {
    (void)state;
    sx_mapping m = small_mapping();
    for (int s = 0; s < 3; s++) m.level[s].temporal[0] = m.level[s].spatial[0] = 1u << 31;
    assert_true(sx_mapping_extent(&m, 0, 0) == (uint64_t)1 << 62);
    assert_true(sx_mapping_extent(&m, 1, 0) == UINT64_MAX);
    assert_true(sx_mapping_extent(&m, 2, 0) == UINT64_MAX);
}

static void perfect_means_products_equal_sizes(void **state) {
    (void)state;
    sx_problem p = matrix_product();
    sx_mapping m = small_mapping();
    assert_true(sx_mapping_perfect(&m, &p));
    m.level[0].spatial[0] = 2;
    m.level[2].temporal[0] = 4;
    assert_true(sx_mapping_perfect(&m, &p));
    m.level[0].spatial[0] = 3;
    assert_false(sx_mapping_perfect(&m, &p));
    m.level[2].temporal[0] = 3;
    assert_false(sx_mapping_perfect(&m, &p));
    m.level[2].temporal[0] = 2;
    assert_false(sx_mapping_perfect(&m, &p));
}

static void canonical_moves_unit_loops_last(void **state) {
    (void)state;
    sx_mapping m = small_mapping();
    m.level[0].temporal[2] = 5;
    memcpy(m.level[0].temporal_order, (uint8_t[]){1, 2, 0}, 3);
    sx_mapping_canonical(&m);
    assert_memory_equal(m.level[0].temporal_order, ((uint8_t[]){2, 0, 1}), 3);
    assert_memory_equal(m.level[1].temporal_order, ((uint8_t[]){0, 1, 2}), 3);
    assert_memory_equal(m.level[2].temporal_order, ((uint8_t[]){0, 1, 2}), 3);
}

static void canonical_keeps_the_order_of_real_loops(void **state) {
    (void)state;
    sx_mapping m = small_mapping();
    memcpy(m.level[2].temporal_order, (uint8_t[]){2, 0, 1}, 3);
    sx_mapping before = m;
    sx_mapping_canonical(&m);
    assert_memory_equal(&m, &before, sizeof m);
}

static void canonical_split_counts_loops_only(void **state) {
    (void)state;
    sx_mapping m = small_mapping();
    m.level[1].spatial[0] = 2;
    m.level[1].spatial[1] = 3;
    memcpy(m.level[1].spatial_order, (uint8_t[]){2, 1, 0}, 3);
    m.level[1].split = 2;
    sx_mapping_canonical(&m);
    assert_memory_equal(m.level[1].spatial_order, ((uint8_t[]){1, 0, 2}), 3);
    assert_int_equal(m.level[1].split, 1);
    m.level[1].split = 3;
    sx_mapping_canonical(&m);
    assert_int_equal(m.level[1].split, 2);
    m.level[1].split = 0;
    sx_mapping_canonical(&m);
    assert_int_equal(m.level[1].split, 0);
}

static void canonical_clears_padding(void **state) {
    (void)state;
    sx_mapping m = small_mapping(), clean = m;
    memset(m.padding, 1, sizeof m.padding);
    sx_mapping_canonical(&m);
    assert_memory_equal(&m, &clean, sizeof m);
}

static void canonical_leaves_what_is_no_permutation(void **state) {
    (void)state;
    sx_mapping m = {.n_levels = 1, .n_dims = SX_MAX_DIMS, .n_tensors = 2};
    for (int d = 0; d < SX_MAX_DIMS; d++) {
        m.level[0].temporal[d] = d == 0 ? 2 : 1;
        m.level[0].spatial[d] = 1;
        m.level[0].temporal_order[d] = 0;
        m.level[0].spatial_order[d] = 200;
    }
    sx_mapping before = m;
    sx_mapping_canonical(&m);
    assert_memory_equal(&m, &before, sizeof m);
}

/* A mapping with random factors of 1 to 3, orders, splits and masks. */
static sx_mapping random_mapping(sx_rng *rng) {
    sx_mapping m = small_mapping();
    for (int s = 0; s < 3; s++) {
        sx_mapping_level *level = &m.level[s];
        for (int d = 0; d < 3; d++) {
            level->temporal[d] = (uint32_t)sx_rng_range(rng, 1, 3);
            level->spatial[d] = (uint32_t)sx_rng_range(rng, 1, 3);
        }
        sx_rng_shuffle(rng, level->temporal_order, 3);
        sx_rng_shuffle(rng, level->spatial_order, 3);
        level->split = (uint8_t)sx_rng_below(rng, 4);
        level->keep = (uint8_t)sx_rng_below(rng, 8);
    }
    return m;
}

static void canonical_is_reached_in_one_step_and_hashes_alike(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        sx_rng rng = sx_rng_stream(1, "mapping.canonical", i);
        sx_mapping m = random_mapping(&rng), once = m, twice;
        sx_mapping_canonical(&once);
        twice = once;
        sx_mapping_canonical(&twice);
        assert_memory_equal(&once, &twice, sizeof once);
        assert_true(sx_mapping_hash(&m) == sx_mapping_hash(&once));
    }
}

static void every_part_of_a_mapping_is_in_its_hash(void **state) {
    (void)state;
    sx_mapping m = small_mapping();
    m.level[1].temporal[0] = m.level[1].temporal[1] = m.level[1].spatial[0] = m.level[1].spatial[1] = 2;
    m.level[1].split = 1;
    uint64_t base = sx_mapping_hash(&m);
    sx_mapping v[13];
    for (int i = 0; i < 13; i++) v[i] = m;
    v[0].level[1].temporal[0] = 3;
    v[1].level[1].spatial[0] = 3;
    memcpy(v[2].level[1].temporal_order, (uint8_t[]){1, 0, 2}, 3);
    memcpy(v[3].level[1].spatial_order, (uint8_t[]){1, 0, 2}, 3);
    v[4].level[1].split = 2;
    v[5].level[1].keep ^= 1;
    v[6].level[1].no_temporal_reuse = 1;
    v[7].level[1].no_multicast = 1;
    v[8].level[1].no_link_transfer = 1;
    v[9].level[1].rmw_first_update = 1;
    v[10].n_tensors = 2;
    v[11].level[2].temporal[2] = 6;
    v[12].level[1].no_coalesce = 1;
    for (int i = 0; i < 13; i++) assert_true(sx_mapping_hash(&v[i]) != base);
    for (int i = 0; i < 13; i++)
        for (int j = 0; j < i; j++) assert_true(sx_mapping_hash(&v[i]) != sx_mapping_hash(&v[j]));
}

static void hash_is_the_same_on_every_machine(void **state) {
    (void)state;
    sx_mapping m = small_mapping();
    assert_true(sx_mapping_hash(&m) == 0x3c345fd3eecadd01u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init_puts_everything_outermost),
        cmocka_unit_test(init_leaves_no_byte_unset),
        cmocka_unit_test(extent_multiplies_inward_factors),
        cmocka_unit_test(extent_that_overflows_is_the_largest_number),
        cmocka_unit_test(perfect_means_products_equal_sizes),
        cmocka_unit_test(canonical_moves_unit_loops_last),
        cmocka_unit_test(canonical_keeps_the_order_of_real_loops),
        cmocka_unit_test(canonical_split_counts_loops_only),
        cmocka_unit_test(canonical_clears_padding),
        cmocka_unit_test(canonical_leaves_what_is_no_permutation),
        cmocka_unit_test(canonical_is_reached_in_one_step_and_hashes_alike),
        cmocka_unit_test(every_part_of_a_mapping_is_in_its_hash),
        cmocka_unit_test(hash_is_the_same_on_every_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
