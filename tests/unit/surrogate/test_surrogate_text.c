/* What a weight file says of a surrogate: it reads back as it was, and what is damaged is refused with its key. */
#include "support/expect.h"
#include "surrogate/surrogate.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char whole[] =
    "{'kind': 'surrogate', 'encoding': 2, 'arch': 'a', 'arch_hash': '00000000000000ff', 'family': 'f', "
    "'ranges': 'm:1..4',"
    " 'einsum': 'O[m,n] += A[m,k]*B[k,n] {m:2,n:3,k:4}', 'space': {'remainders': true}, 'raw_inputs': false,"
    " 'raw_outputs': true, 'edp_only': false, 'inputs': [[0, 1, 2, 1], [3, 0, 2, 0]], 'energies': [[1, 2]],"
    " 'input_mean': [1, -2.5], 'input_deviation': [1, 1e30], 'output_mean': [1, 2, 3, 4],"
    " 'output_deviation': [1, 2, 3, 0.5], 'trained': {'samples': 7, 'loss': 'huber'}}";

/* JSON of a text with single quotes. */
static json_t *json_of(const char *text) {
    char copy[1200];
    assert_true(strlen(text) < sizeof copy);
    for (size_t i = 0; i <= strlen(text); i++) copy[i] = text[i] == '\'' ? '"' : text[i];
    json_t *value = json_loads(copy, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    return value;
}

/* Reads the text with one key replaced, or left out where its value is NULL. */
static sx_status read_changed(const char *key, const char *value, sx_surrogate *out) {
    json_t *object = json_of(whole);
    if (value) json_object_set_new(object, key, json_of(value));
    if (!value) json_object_del(object, key);
    char *text = json_dumps(object, 0);
    json_decref(object);
    assert_non_null(text);
    memset(out, 0, sizeof *out);
    sx_status status = sx_surrogate_parse("w", text, out);
    free(text);
    free(out->family_text);
    return status;
}

static void texts_read_back(void **state) {
    static sx_surrogate read, again;
    char *text, *other;
    json_t *object = json_of(whole), *written;
    (void)state;
    char *first = json_dumps(object, 0);
    json_decref(object);
    sx_expect_ok(sx_surrogate_parse("w", first, &read));
    assert_true(read.arch_hash == 255 && read.space.remainders && read.form.raw_outputs &&
                !read.form.raw_inputs);
    assert_true(read.encoding.n_inputs == 2 && read.encoding.input[0].level == 1 &&
                read.encoding.input[0].spatial);
    assert_true(read.encoding.n_outputs == 4 && read.encoding.energy[0].tensor == 2);
    assert_true(read.input_mean[1] == -2.5F && read.output_deviation[3] == 0.5F && read.record.samples == 7);
    assert_string_equal(read.record.loss, "huber");
    sx_expect_ok(sx_surrogate_text(&read, &text));
    written = json_loads(text, 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(written, "encoding")), 2);
    json_decref(written);
    sx_expect_ok(sx_surrogate_parse("w", text, &again));
    sx_expect_ok(sx_surrogate_text(&again, &other));
    assert_string_equal(text, other);
    free(read.family_text);
    free(again.family_text);
    free(first);
    free(text);
    free(other);
}

/* One change of the text, and the key that is named; NULL: it is read. */
typedef struct change {
    const char *key, *value, *named;
} change;

static void damage_is_refused(void **state) {
    static const change changes[] = {
        {"kind", "'net'", "not those of a surrogate"},
        {"kind", NULL, "not those of a surrogate"},
        {"encoding", "1", "has encoding 1, this program reads 2"},
        {"encoding", "3", "has encoding 3"},
        {"arch", NULL, "'arch'"},
        {"arch", "3", "'arch'"},
        {"family", "'a name of more than 63 bytes, which is more than the field that it goes to has'",
         "'family'"},
        {"arch_hash", "'00ff'", "'arch_hash'"},
        {"arch_hash", "'00000000000000fg'", "'arch_hash'"},
        {"arch_hash", "'ffffffffffffffff'", NULL},
        {"einsum", NULL, "'einsum'"},
        {"einsum", "'O[m'", "w:1:"},
        {"ranges", NULL, "'einsum'"},
        {"inputs", "[]", "'inputs'"},
        {"inputs", "{}", "'inputs'"},
        {"inputs", "[[0, 1, 2, 1], [3, 0, 3, 0]]", "'inputs'"},
        {"inputs", "[[0, 1, 3, 1], [3, 0, 2, 0]]", "'inputs'"},
        {"inputs", "[[6, 1, 2, 1], [3, 0, 2, 0]]", NULL},
        {"inputs", "[[7, 1, 2, 1], [3, 0, 2, 0]]", "'inputs'"},
        {"inputs", "[[-1, 1, 2, 1], [3, 0, 2, 0]]", "'inputs'"},
        {"inputs", "[[0, 1.0, 2, 1], [3, 0, 2, 0]]", "'inputs'"},
        {"inputs", "[[0, 1, 2, 2], [3, 0, 2, 0]]", "'inputs'"},
        {"inputs", "[[0, 25, 2, 1], [3, 0, 2, 0]]", "'inputs'"},
        {"inputs", "[[0, 1, 2, 1], [3, 0, 2]]", "'inputs'"},
        {"energies", NULL, "'energies'"},
        {"energies", "3", "'energies'"},
        {"energies", "[[1, 3]]", "'energies'"},
        {"energies", "[[1]]", "'energies'"},
        {"energies", "[[25, 1]]", "'energies'"},
        {"energies", "[]", "'output_mean'"},
        {"input_mean", "[1]", "'input_mean'"},
        {"input_mean", "[1, 2, 3]", "'input_mean'"},
        {"input_mean", "[1, '2']", "'input_mean'"},
        {"input_mean", "[1, 1e31]", "'input_mean'"},
        {"input_mean", "[1, -1e31]", "'input_mean'"},
        {"input_mean", "[1, -1e30]", NULL},
        {"input_deviation", "[1, 0]", "'input_deviation'"},
        {"input_deviation", "[1, 1e-30]", NULL},
        {"input_deviation", "[-1, 1]", "'input_deviation'"},
        {"input_deviation", "[1, 1e-60]", "'input_deviation'"},
        {"output_mean", NULL, "'output_mean'"},
        {"output_deviation", "[1, 2, 3, 0]", "'output_deviation'"},
        {"trained", NULL, NULL},
        {"space", NULL, NULL},
    };
    static sx_surrogate out;
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        sx_status status = read_changed(changes[i].key, changes[i].value, &out);
        if (!status != !changes[i].named)
            print_error("%s: %s\n", changes[i].key, changes[i].value ? changes[i].value : "left out");
        if (changes[i].named)
            sx_expect_error(status, changes[i].named);
        else
            sx_expect_ok(status);
    }
    sx_expect_error(sx_surrogate_parse("w", "[", &out), "not those of a surrogate");
    sx_expect_error(sx_surrogate_parse("w", NULL, &out), "not those of a surrogate");
}

/* As many energies and inputs as there is room for, and one more. */
static void longest_lists(void **state) {
    static const struct {
        const char *key, *item;
        size_t most;
    } cases[] = {{"energies", "[1, 2]", SX_MAX_ENERGIES}, {"inputs", "[0, 1, 2, 1]", SX_MAX_INPUTS}};
    static sx_surrogate out;
    (void)state;
    for (size_t i = 0; i < 2; i++)
        for (size_t more = 0; more < 2; more++) {
            json_t *object = json_of(whole), *list = json_array();
            for (size_t n = 0; n < cases[i].most + more; n++)
                json_array_append_new(list, json_of(cases[i].item));
            json_object_set_new(object, cases[i].key, list);
            char *text = json_dumps(object, 0), named[20];
            snprintf(named, sizeof named, "'%s'", more ? cases[i].key : i ? "input_mean" : "output_mean");
            memset(&out, 0, sizeof out);
            sx_expect_error(sx_surrogate_parse("w", text, &out), named);
            free(out.family_text);
            free(text);
            json_decref(object);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_read_back),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(longest_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
