#include "base/hash.h"
#include "base/hash_table.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { N = 5000, SIZE = 12 };

/* Keys with some bytes behind them that do not count. */
typedef struct item {
    unsigned char key[SIZE];
    uint32_t value;
} item;

static item items[N];

static sx_hash_keys keys(void) {
    return (sx_hash_keys){items, sizeof *items, SIZE};
}

/* The key of a number. */
static void fill(unsigned char *key, uint32_t number) {
    memset(key, (int)(number % 251), SIZE);
    memcpy(key + 3, &number, sizeof number);
}

static void items_are_found_by_their_keys_while_the_table_grows(void **state) {
    (void)state;
    sx_hash_table table = {0};
    unsigned char key[SIZE];
    fill(key, 0);
    assert_int_equal(sx_hash_table_find(&table, keys(), key, sx_hash_bytes(key, SIZE, 0)), SX_HASH_NONE);
    for (uint32_t i = 0; i < N; i++) {
        fill(items[i].key, i);
        items[i].value = ~i;
        uint64_t hash = sx_hash_bytes(items[i].key, SIZE, 0);
        assert_int_equal(sx_hash_table_find(&table, keys(), items[i].key, hash), SX_HASH_NONE);
        assert_true(sx_hash_table_add(&table, hash, i));
        assert_true(2 * table.used <= table.size);
    }
    assert_int_equal(table.used, N);
    assert_true(table.size < 4 * N + 4);
    for (uint32_t i = 0; i < 2 * N; i++) {
        fill(key, i);
        uint32_t found = sx_hash_table_find(&table, keys(), key, sx_hash_bytes(key, SIZE, 0));
        assert_int_equal(found, i < N ? i : SX_HASH_NONE);
    }
    sx_hash_table_clear(&table);
    assert_int_equal(table.size, 0);
}

/* All in one slot, with the same hash for different keys and the same low bits for different hashes. */
static void equal_hashes_are_told_apart_by_the_keys(void **state) {
    (void)state;
    sx_hash_table table = {0};
    for (uint32_t i = 0; i < 100; i++) {
        fill(items[i].key, i);
        uint64_t hash = i % 2 ? 7 : 7 + ((uint64_t)i << 20);
        assert_int_equal(sx_hash_table_find(&table, keys(), items[i].key, hash), SX_HASH_NONE);
        assert_true(sx_hash_table_add(&table, hash, i));
    }
    for (uint32_t i = 0; i < 100; i++) {
        uint64_t hash = i % 2 ? 7 : 7 + ((uint64_t)i << 20);
        assert_int_equal(sx_hash_table_find(&table, keys(), items[i].key, hash), i);
    }
    sx_hash_table_clear(&table);
}

static void a_table_begun_again_is_empty_and_does_not_grow_below_its_size(void **state) {
    (void)state;
    sx_hash_table table = {0};
    const size_t sizes[] = {1, 1000, 3, 0, 700};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        assert_true(sx_hash_table_begin(&table, sizes[k]));
        assert_int_equal(table.used, 0);
        size_t size = table.size;
        for (uint32_t i = 0; i < sizes[k]; i++) {
            fill(items[i].key, i);
            uint64_t hash = sx_hash_bytes(items[i].key, SIZE, 0);
            assert_int_equal(sx_hash_table_find(&table, keys(), items[i].key, hash), SX_HASH_NONE);
            assert_true(sx_hash_table_add(&table, hash, i));
        }
        assert_int_equal(table.size, size);
    }
    assert_true(table.room >= 2000);
    sx_hash_table_clear(&table);
}

static void an_item_is_put_once(void **state) {
    (void)state;
    sx_hash_table table = {0};
    for (uint32_t i = 0; i < 300; i++) {
        fill(items[i].key, i % 100);
        uint64_t hash = i % 100 % 7; /* many keys of one hash */
        assert_int_equal(sx_hash_table_put(&table, keys(), items[i].key, hash, i), i % 100);
    }
    assert_int_equal(table.used, 100);
    sx_hash_table_clear(&table);
}

static void sizes_beyond_all_indices_are_refused(void **state) {
    (void)state;
    sx_hash_table table = {0};
    assert_true(sx_hash_table_begin(&table, 1));
    assert_true(sx_hash_table_add(&table, 5, 0));
    assert_false(sx_hash_table_begin(&table, SIZE_MAX / 4));
    assert_false(sx_hash_table_begin(&table, (size_t)UINT32_MAX));
    assert_int_equal(table.used, 1);
    sx_hash_table_clear(&table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_found_by_their_keys_while_the_table_grows),
        cmocka_unit_test(equal_hashes_are_told_apart_by_the_keys),
        cmocka_unit_test(a_table_begun_again_is_empty_and_does_not_grow_below_its_size),
        cmocka_unit_test(an_item_is_put_once),
        cmocka_unit_test(sizes_beyond_all_indices_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
