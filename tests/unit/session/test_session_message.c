/* What processes tell each other of a session, as bytes: a start point and a layer's result come back as they were, and a
 * message of any other length is refused. */
#include "session/session.h"
#include "support/expect.h"
#include "support/small_session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static sx_small small;
static sx_session_result result;
static sx_session session;

static int search_layers(void **state) {
    (void)state;
    sx_small_init(&small, "random", 100, SX_WARM_SIMILARITY);
    small.options.run.k_best = 2;
    small.options.run.pareto = true;
    sx_small_run(&small, &result);
    session = (sx_session){
        .network = &small.network, .arch = &small.arch, .options = &small.options, .out = &result};
    return 0;
}

static int free_layers(void **state) {
    (void)state;
    sx_session_result_fini(&result);
    sx_small_fini(&small);
    return 0;
}

/* Reads a start point into a session of its own; whether that was possible. */
static bool read_start(const char *bytes, size_t size, sx_start *out) {
    sx_session other = {.at = session.at};
    const bool good = sx_session_read_start(&other, bytes, size);
    *out = other.start;
    return good;
}

static void starts_come_back(void **state) {
    (void)state;
    char point[] = "a point";
    sx_start got;
    sx_text text = {0};
    session.at = 3;
    session.start = (sx_start){
        .chosen = true, .from = 2, .name = "layer2", .value = 4.5, .point = point, .size = sizeof point};
    sx_session_add_start(&session, &text);
    sx_text_add_bytes(&text, "x", 1);
    assert_false(text.failed);
    const size_t whole = text.size - 1;
    for (size_t size = 0; size <= text.size; size++) {
        assert_int_equal(read_start(text.data, size, &got), size == whole);
        if (size == whole) {
            assert_true(got.chosen && got.from == 2 && got.value == 4.5 && got.size == sizeof point);
            assert_string_equal(got.name, "layer2");
            assert_string_equal(got.point, point);
        }
        sx_start_fini(&got);
    }
    sx_text_free(&text);
}

/* A start comes from a layer before the current one, from the database or from nowhere. */
static void origins(void **state) {
    static const struct {
        int from;
        bool good;
    } cases[] = {{SX_WARM_NONE, true},
                 {SX_WARM_DATABASE, true},
                 {SX_WARM_DATABASE - 1, false},
                 {0, true},
                 {2, true},
                 {3, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_start got;
        sx_text text = {0};
        session.at = 3;
        session.start = (sx_start){.from = cases[i].from};
        sx_session_add_start(&session, &text);
        assert_int_equal(read_start(text.data, text.size, &got), cases[i].good);
        if (cases[i].good) assert_int_equal(got.from, cases[i].from);
        sx_start_fini(&got);
        sx_text_free(&text);
    }
}

static void results_come_back(void **state) {
    (void)state;
    const size_t layer = 1;
    sx_session_result empty;
    sx_text text = {0};
    sx_session_add_result(&session, layer, &text);
    sx_text_add_bytes(&text, "x", 1);
    assert_false(text.failed);
    const size_t whole = text.size - 1, sizes[] = {0, 1, 2, whole / 2, whole - 1, whole, whole + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        empty = (sx_session_result){.n_layers = result.n_layers,
                                    .layer = calloc(result.n_layers, sizeof *result.layer)};
        assert_non_null(empty.layer);
        empty.layer[layer].same_as = layer;
        sx_session other = session;
        other.out = &empty;
        assert_int_equal(sx_session_read_result(&other, layer, text.data, sizes[i]), sizes[i] == whole);
        if (sizes[i] == whole) {
            empty.layer[layer].searched = result.layer[layer].searched;
            sx_same_layer(&empty.layer[layer], &result.layer[layer]);
        }
        sx_session_result_fini(&empty);
    }
    sx_text_free(&text);
}

/* Sends a proof with a layer's result; whether it comes back as it was. */
static bool proof_comes_back(uint64_t n_spatial, size_t width, size_t n_entries) {
    const size_t layer = 1;
    uint32_t factor[64] = {3, 1, 4, 1, 5, 9};
    sx_layer_result sent = result.layer[layer], back = {0};
    sx_session_result out = {.n_layers = result.n_layers, .layer = calloc(result.n_layers, sizeof sent)};
    sx_session other = session;
    sx_text text = {0};
    assert_true(out.layer && width <= 64);
    other.out = &out;
    sx_expect_ok(sx_proof_new(n_spatial, width, &sent.proof));
    for (size_t i = 0; i < n_entries; i++) {
        factor[width - 1] = (uint32_t)i + 2;
        sx_expect_ok(sx_proof_add(sent.proof, i % 2, 1.5 + (double)i, factor));
    }
    out.layer[layer] = sent;
    sx_session_add_result(&other, layer, &text);
    out.layer[layer] = back;
    out.layer[layer].same_as = layer;
    const bool good = sx_session_read_result(&other, layer, text.data, text.size);
    const sx_proof *got = out.layer[layer].proof;
    if (good) {
        assert_true(got && got->n_spatial == n_spatial && got->width == width && got->n_entries == n_entries);
        assert_memory_equal(got->bound, sent.proof->bound, n_entries * sizeof *got->bound);
        assert_memory_equal(got->spatial, sent.proof->spatial, n_entries * width * sizeof *got->spatial);
        assert_memory_equal(got->searched, sent.proof->searched, n_entries * sizeof *got->searched);
    }
    sx_proof_free(sent.proof);
    sx_session_result_fini(&out);
    sx_text_free(&text);
    return good;
}

/* A proof has as many factors as the layer, and no more entries than there are spatial mappings. */
static void proofs_come_back(void **state) {
    (void)state;
    const size_t width = small.arch.n_levels * (size_t)small.network.layer[1].problem.n_dims;
    assert_true(proof_comes_back(5, width, 3));
    assert_true(proof_comes_back(3, width, 3));
    assert_false(proof_comes_back(2, width, 3));
    assert_false(proof_comes_back(5, width - 1, 3));
    assert_false(proof_comes_back(5, width + 1, 3));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_come_back),
        cmocka_unit_test(origins),
        cmocka_unit_test(results_come_back),
        cmocka_unit_test(proofs_come_back),
    };
    return cmocka_run_group_tests(tests, search_layers, free_layers);
}
