#include "learn/weights.h"

#include "base/file.h"
#include "base/hash.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const uint32_t width[] = {3, 7, 2};
static char path[] = "/tmp/sextant-weights-XXXXXX";

enum { HEAD = 24, FIXED = 40 };

/* The bytes of a small weight file. */
static char *file_of(bool optimizer, size_t *size) {
    sx_weights w = {.text = "for a test"};
    sx_optimizer_options options = sx_optimizer_defaults(SX_ADAM);
    sx_expect_ok(sx_nn_new_mlp(width, 3, SX_NN_RELU, SX_NN_LAYER_NORM, &w.net));
    sx_nn_initialise(w.net, SX_NN_HE, 3);
    if (optimizer) {
        sx_expect_ok(sx_optimizer_new(&options, w.net->n_parameters, &w.optimizer));
        for (size_t i = 0; i < w.optimizer->n_state; i++) w.optimizer->state[i] = (float)i;
        w.optimizer->steps = 77;
    }
    sx_expect_ok(sx_weights_write(path, &w));
    sx_nn_free(w.net);
    sx_optimizer_free(w.optimizer);
    char *bytes;
    sx_expect_ok(sx_file_read(path, 1 << 20, &bytes, size));
    return bytes;
}

/* Makes the checksum right again. */
static void seal(char *bytes, size_t size) {
    uint64_t sum = sx_hash_bytes(bytes + HEAD, size - HEAD, SX_WEIGHTS_VERSION);
    memcpy(bytes + HEAD - sizeof sum, &sum, sizeof sum);
}

static void set_u32(char *bytes, size_t at, uint32_t value) {
    memcpy(bytes + at, &value, sizeof value);
}

static void files_are_read_as_they_were_written(void **state) {
    (void)state;
    for (int optimizer = 0; optimizer < 2; optimizer++) {
        size_t size;
        sx_weights w;
        sx_nn *right;
        free(file_of(optimizer, &size));
        sx_expect_ok(sx_weights_read(path, &w));
        sx_expect_ok(sx_nn_new_mlp(width, 3, SX_NN_RELU, SX_NN_LAYER_NORM, &right));
        sx_nn_initialise(right, SX_NN_HE, 3);
        assert_true(sx_nn_alike(w.net, right) && sx_nn_hash(w.net) == sx_nn_hash(right));
        assert_string_equal(w.text, "for a test");
        assert_int_equal(w.optimizer != NULL, optimizer);
        if (optimizer) {
            assert_true(w.optimizer->steps == 77 && w.optimizer->options.kind == SX_ADAM);
            assert_true(w.optimizer->options.beta2 == 0.999f &&
                        w.optimizer->n_state == 2 * right->n_parameters);
            for (size_t i = 0; i < w.optimizer->n_state; i++) assert_true(w.optimizer->state[i] == (float)i);
        }
        sx_nn_free(right);
        sx_weights_fini(&w);
    }
}

static void refused(const char *bytes, size_t size, const char *why) {
    sx_weights w;
    sx_expect_error(sx_weights_parse("net.sxw", bytes, size, &w), why);
}

static void every_truncated_file_is_refused(void **state) {
    (void)state;
    size_t size;
    char *bytes = file_of(true, &size);
    refused(bytes, 0, "net.sxw: this is not a weight file");
    for (size_t n = 1; n < size; n++) refused(bytes, n, "net.sxw: the weight file is truncated");
    free(bytes);
}

static void every_changed_byte_is_noticed(void **state) {
    (void)state;
    size_t size;
    char *bytes = file_of(false, &size);
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 4;
        refused(bytes, size, "net.sxw: ");
        bytes[i] ^= 4;
    }
    bytes[size - 3] ^= 1;
    refused(bytes, size, "the weight file is damaged: its checksum is wrong");
    free(bytes);
}

static void foreign_and_other_files_are_refused(void **state) {
    (void)state;
    size_t size;
    char *bytes = file_of(false, &size);
    refused("problem:\n  shape: {}\n", 20, "this is not a weight file");
    set_u32(bytes, 8, 9);
    refused(bytes, size, "the weight file has version 9\n  this program reads version 1");
    set_u32(bytes, 8, SX_WEIGHTS_VERSION);
    float infinite = 1e30f * 1e30f;
    memcpy(bytes + size - 4, &infinite, 4);
    seal(bytes, size);
    refused(bytes, size, "holds a number that is not finite");
    free(bytes);
    sx_weights w;
    sx_expect_error(sx_weights_read("no-such-weights", &w), "no-such-weights");
    sx_expect_error(sx_weights_read(".", &w), "");
}

static void absurd_sizes_are_refused_before_memory_is_taken(void **state) {
    (void)state;
    size_t size;
    char *bytes = file_of(false, &size), *copy = malloc(size + 8);
    assert_non_null(copy);
    const struct {
        size_t at;
        uint32_t value;
        const char *why;
    } cases[] = {
        {HEAD, UINT32_MAX, "layers that no network has"},
        {HEAD, 60000, "truncated"},
        {HEAD, 0, "bytes after its end"},
        {HEAD + 4, UINT32_MAX, "sizes out of their range"},
        {HEAD + 4, 0, "sizes out of their range"},
        {HEAD + 8, UINT32_MAX, "sizes out of their range"},
        {HEAD + 8, 1 << 20, "truncated"},
        {HEAD + 12, 7, "sizes out of their range"},
        {HEAD + 12, 2, "truncated"},
        {HEAD + FIXED, 99, "layers that no network has"},
        {HEAD + FIXED + 4, UINT32_MAX, "layers that no"},
        {HEAD + FIXED + 4, 65000, "truncated"},
        {HEAD + FIXED + 4, 0, "bytes after its end"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(copy, bytes, size);
        set_u32(copy, cases[i].at, cases[i].value);
        seal(copy, size);
        refused(copy, size, cases[i].why);
    }
    memcpy(copy, bytes, size);
    memset(copy + size, 0, 8);
    seal(copy, size + 8);
    refused(copy, size + 8, "bytes after its end");
    copy[HEAD + FIXED + 4 * 8] = 0;
    seal(copy, size);
    refused(copy, size, "has a zero byte");
    free(copy);
    free(bytes);
}

static int make_path(void **state) {
    (void)state;
    int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}
static int remove_path(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_as_they_were_written),
        cmocka_unit_test(every_truncated_file_is_refused),
        cmocka_unit_test(every_changed_byte_is_noticed),
        cmocka_unit_test(foreign_and_other_files_are_refused),
        cmocka_unit_test(absurd_sizes_are_refused_before_memory_is_taken),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
