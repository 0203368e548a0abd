/* Layers by what a person names, as the options of the program have them. */
#include "sextant/sextant.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* How many layers a value has with at most one option (NULL: none); 0 where it is refused with that text. */
static size_t count_layers(const char *value, const char *option, const char *refusal) {
    sx_network *network;
    sx_expect_ok(sx_network_new("old", &network));
    sx_status status = sx_read_layers(value, &option, option != NULL, NULL, network);
    size_t n = status ? 0 : sx_network_n_layers(network);
    if (refusal) {
        assert_non_null(status);
        assert_non_null(strstr(sx_status_message(status), refusal));
        assert_string_equal(sx_network_name(network), "old");
        sx_status_free(status);
    } else {
        sx_expect_ok(status);
    }
    sx_network_free(network);
    return n;
}

static void names_einsums_and_sizes_are_layers(void **state) {
    (void)state;
    assert_int_equal(count_layers("resnet18", NULL, NULL), 21);
    assert_int_equal(count_layers("resnet18/conv1", NULL, NULL), 1);
    assert_int_equal(count_layers("O[m,n] += A[m,k]*B[k,n] {m:4,n:4,k:4}", NULL, NULL), 1);
    assert_int_equal(count_layers("8x4x2", NULL, NULL), 1);
}

static void options_say_what_is_read(void **state) {
    (void)state;
    sx_network *network;
    const char *options[] = {"phase=decode", "context=64", "batch=3"};
    uint64_t computes[2];
    sx_expect_ok(sx_network_new("run", &network));
    for (size_t i = 0; i < 2; i++) { /* without the batch, and with it */
        sx_expect_ok(sx_read_layers("llama-3-8b", options, 2 + i, NULL, network));
        computes[i] = sx_problem_computes(sx_network_layer_problem(network, 0));
    }
    assert_int_equal(computes[1], 3 * computes[0]);
    sx_network_free(network);
    assert_int_equal(count_layers("resnet18", "training", NULL), 21);
}

static void what_is_wrong_is_refused(void **state) {
    (void)state;
    (void)count_layers("resnet18", "phase=decod", "'decod'");
    (void)count_layers("resnet18", "batchh=2", "unknown option");
    (void)count_layers("resnet18", "training=1", "takes no value");
    (void)count_layers("resnet18", "batch", "needs a value");
    (void)count_layers("resnet18", "batch=x", "whole number");
    (void)count_layers("resnet18", "set=a=1", "nothing uses it");
    (void)count_layers("no-such", NULL, "no such name");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_einsums_and_sizes_are_layers),
        cmocka_unit_test(options_say_what_is_read),
        cmocka_unit_test(what_is_wrong_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
