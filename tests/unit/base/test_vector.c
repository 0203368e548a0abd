#include "base/vector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void arrays_grow_and_keep_what_they_hold(void **state) {
    (void)state;
    uint32_t *item = NULL;
    size_t room = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(sx_reserve(&item, &room, i + 1, sizeof *item));
        assert_true(room > i);
        item[i] = i;
    }
    for (uint32_t i = 0; i < 1000; i++) assert_int_equal(item[i], i);
    assert_true(room < 4000);
    free(item);
}

static void sizes_beyond_all_memory_are_refused(void **state) {
    (void)state;
    double *item = NULL;
    size_t room = 0;
    assert_false(sx_reserve(&item, &room, SIZE_MAX / 4, sizeof *item));
    assert_null(item);
    assert_int_equal(room, 0);
}

static void vectors_hold_items_of_any_size(void **state) {
    (void)state;
    sx_vector vector = {.size = 3};
    for (unsigned char i = 0; i < 100; i++) {
        unsigned char *item = sx_vector_add(&vector);
        assert_non_null(item);
        item[0] = item[1] = item[2] = i;
    }
    assert_int_equal(vector.n, 100);
    for (size_t i = 0; i < 100; i++) assert_int_equal(((unsigned char *)sx_vector_at(&vector, i))[2], i);
    sx_vector_clear(&vector);
    assert_int_equal(vector.n, 0);
    assert_int_equal(vector.size, 3);
    assert_non_null(sx_vector_add(&vector));
    sx_vector_clear(&vector);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_grow_and_keep_what_they_hold),
        cmocka_unit_test(sizes_beyond_all_memory_are_refused),
        cmocka_unit_test(vectors_hold_items_of_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
