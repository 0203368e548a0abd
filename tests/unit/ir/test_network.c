#include "sextant/input.h"
#include "sextant/network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void make(sx_network *network, const char *const *einsums, size_t n) {
    memset(network, 0, sizeof *network);
    network->layer = calloc(n, sizeof *network->layer);
    network->n_layers = n;
    for (size_t i = 0; i < n; i++) {
        assert_null(sx_einsum_parse(einsums[i], &network->layer[i].problem));
        snprintf(network->layer[i].name, SX_NAME_SIZE, "l%zu", i);
        snprintf(network->layer[i].problem.name, SX_NAME_SIZE, "p%zu", i);
        network->layer[i].count = i + 1;
    }
}

static void layers_by_name(void **state) {
    (void)state;
    static const char *const einsums[] = {"O[m]+=A[m]*B[m] {m:4}", "O[m]+=A[m]*B[m] {m:5}"};
    sx_network network;
    make(&network, einsums, 2);
    assert_ptr_equal(sx_network_layer(&network, "l1"), &network.layer[1]);
    assert_null(sx_network_layer(&network, "l2"));
    sx_network_fini(&network);
    assert_int_equal(network.n_layers, 0);
    sx_network_fini(&network);
}

static void distinct_layers(void **state) {
    (void)state;
    static const char *const einsums[] = {
        "O[m]+=A[m]*B[m] {m:4}",       "O[m]+=A[m]*B[m] {m:5}",       "O[m]+=A[m]*B[m] {m:4}",
        "O[n]+=A[n]*B[n] {n:4}",       "O[m]+=A[m]*C[m] {m:4}",       "O[m]+=A[2*m]*B[m] {m:4}",
        "O[m,n]+=A[m]*B[n] {m:4,n:4}", "O[m,n]+=A[m]*B[n] {n:4,m:4}", "O[m]+=A[2*m]*B[m] {m:4}",
    };
    static const size_t expected[] = {0, 1, 0, 3, 4, 5, 6, 7, 5};
    sx_network network;
    size_t first[9];
    make(&network, einsums, 9);
    assert_int_equal(sx_network_distinct(&network, first), 7);
    assert_memory_equal(first, expected, sizeof first);
    assert_int_equal(sx_network_distinct(&network, NULL), 7);
    sx_network_fini(&network);
    assert_int_equal(sx_network_distinct(&network, NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_by_name),
        cmocka_unit_test(distinct_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
