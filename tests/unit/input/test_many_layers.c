/* Thousands of layers: the work of naming them and of finding those that are the same grows with their number. */
#include "input/named.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N = 2000, PER_LAYER = 12 };

static size_t n_compared; /* texts and blocks of memory */

/* These stand in front of those of the C library. */
int memcmp(const void *a, const void *b, size_t size) {
    const unsigned char *x = a, *y = b;
    n_compared++;
    for (size_t i = 0; i < size; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

int strcmp(const char *a, const char *b) {
    n_compared++;
    while (*a && *a == *b) a++, b++;
    return (unsigned char)*a - (unsigned char)*b;
}

/* A matrix product of a size of its own. */
static void make_single(uint32_t size, sx_network *out) {
    char text[64];
    snprintf(text, sizeof text, "O[m,n] += A[m,k]*B[k,n] {m:%u,n:3,k:5}", (unsigned)size);
    sx_expect_ok(sx_named_einsum(text, out));
    snprintf(out->name, sizeof out->name, "layer");
    memcpy(out->layer[0].name, "layer", sizeof "layer");
}

static void work_grows_with_the_number_of_layers(void **state) {
    sx_network all = {0}, single, copy;
    sx_layer_names names = {0};
    size_t *first = calloc(N + 1, sizeof *first);
    bool found;
    (void)state;
    assert_non_null(first);
    for (uint32_t i = 0; i < N; i++) {
        char name[32];
        make_single(i + 2, &single);
        snprintf(name, sizeof name, "own%u", (unsigned)i);
        memset(single.name, 0, sizeof single.name);
        memset(single.layer[0].name, 0, sizeof single.layer[0].name);
        memcpy(single.name, name, strlen(name));
        memcpy(single.layer[0].name, name, strlen(name));
        const size_t before = n_compared;
        sx_expect_ok(sx_named_append(&single, &names, &all));
        assert_in_range(n_compared - before, 0, PER_LAYER);
        sx_network_fini(&single);
    }
    n_compared = 0;
    assert_int_equal(sx_network_distinct(&all, first), N);
    assert_in_range(n_compared, 0, PER_LAYER * N);
    n_compared = 0;
    sx_expect_ok(sx_named_copy(&all, &copy));
    assert_in_range(n_compared, 0, PER_LAYER * N);
    sx_expect_ok(sx_layer_names_find(&names, &all, "own1999", &found));
    assert_true(found);
    sx_expect_ok(sx_layer_names_find(&names, &all, "own2000", &found));
    assert_false(found);
    sx_layer_names_fini(&names);
    sx_network_fini(&copy);
    sx_network_fini(&all);
    free(first);
}

static void taken_names_get_numbers_and_equal_layers_are_found(void **state) {
    sx_network all = {0}, single;
    sx_layer_names names = {0};
    size_t first[4];
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        make_single(i == 2 ? 2 : i + 2, &single);
        sx_expect_ok(sx_named_append(&single, &names, &all));
        sx_network_fini(&single);
    }
    assert_string_equal(all.layer[0].name, "layer");
    assert_string_equal(all.layer[1].name, "layer-2");
    assert_string_equal(all.layer[3].name, "layer-4");
    assert_int_equal(sx_network_distinct(&all, first), 3);
    assert_int_equal(first[1], 1);
    assert_int_equal(first[2], 0);
    assert_int_equal(first[3], 3);
    sx_layer_names_fini(&names);
    sx_network_fini(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_grows_with_the_number_of_layers),
        cmocka_unit_test(taken_names_get_numbers_and_equal_layers_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
