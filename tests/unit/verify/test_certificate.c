#include "support/expect.h"
#include "support/small_certificate.h"

#include "verify/certificate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N(array) (sizeof(array) / sizeof *(array))

/* A certificate with an entry of either kind, and all that constraints can say. */
static sx_certificate *make(void) {
    sx_certificate *c = calloc(1, sizeof *c);
    assert_non_null(c);
    sx_expect_ok(sx_einsum_parse("O[m,n] += A[m,k]*B[k,n] {m:8,n:8,k:4}", &c->problem));
    sx_expect_ok(sx_catalog_arch("accel-b", &c->arch));
    sx_expect_ok(sx_objective_parse("edp", &c->objective));
    sx_mapping_init(&c->mapping, &c->problem, &c->arch);
    sx_constraints_init(&c->constraints, &c->problem, &c->arch);
    sx_level_limits *level = &c->constraints.level[1];
    level->temporal.min[0] = 2;
    level->temporal.max[1] = 4;
    level->temporal.rest[2] = true;
    level->spatial.n_inner = level->spatial.n_outer = 1;
    level->spatial.inner[0] = 2;
    level->spatial.outer[0] = 1;
    level->split = 1;
    level->must_keep = 1;
    level->must_bypass = 2;
    c->constraints.level[2].min_utilization = 0.25;
    c->constraints.level[0].min_parallelism = 1.0 / 3;
    c->value = 0x1.fedcba9876543p60;
    c->lower_bound = 0x1.0000000000001p60;
    c->score = (sx_score){.energy_pj = 1.1, .cycles = 256};
    snprintf(c->energy_exact, sizeof c->energy_exact, "11/10");
    uint32_t factor[SX_MAX_LEVELS * SX_MAX_DIMS];
    for (size_t i = 0; i < N(factor); i++) factor[i] = 1;
    factor[0] = 4;
    sx_expect_ok(sx_proof_new(7, (size_t)c->arch.n_levels * c->problem.n_dims, &c->proof));
    sx_expect_ok(sx_proof_add(c->proof, true, 0, factor));
    factor[1] = 2;
    sx_expect_ok(sx_proof_add(c->proof, false, 0x1.123456789abcdp61, factor));
    c->compulsory = 5;
    c->tables = c->searched = 1;
    c->mapper = strdup("optimal:gap=0");
    c->seed = UINT64_MAX;
    return c;
}

/* Its text. */
static void make_text(char **out) {
    sx_certificate *c = make();
    sx_expect_ok(sx_certificate_write(c, out));
    sx_certificate_free(c);
}

static void all_comes_back(void **state) {
    (void)state;
    sx_certificate *c = make(), *again = sx_certificate_again(c);
    assert_non_null(again);
    assert_memory_equal(&c->problem, &again->problem, sizeof c->problem);
    assert_memory_equal(&c->arch, &again->arch, sizeof c->arch);
    assert_memory_equal(&c->constraints, &again->constraints, sizeof c->constraints);
    assert_memory_equal(&c->mapping, &again->mapping, sizeof c->mapping);
    assert_true(c->value == again->value && c->lower_bound == again->lower_bound);
    assert_string_equal(again->energy_exact, "11/10");
    assert_true(again->seed == UINT64_MAX && again->proof->n_spatial == 7 && again->proof->n_entries == 2);
    assert_true(again->proof->searched[0] && !again->proof->searched[1]);
    assert_true(again->proof->bound[1] == c->proof->bound[1]);
    assert_memory_equal(c->proof->spatial, again->proof->spatial,
                        2 * c->proof->width * sizeof *c->proof->spatial);
    sx_certificate_free(again);
    sx_certificate_free(c);
}

/* A text in which one part is replaced by another. */
static char *replace(const char *text, const char *part, const char *with) {
    const char *at = strstr(text, part);
    sx_text out = {0};
    char *result;
    assert_non_null(at);
    sx_text_add_bytes(&out, text, (size_t)(at - text));
    sx_text_add(&out, "%s%s", with, at + strlen(part));
    sx_expect_ok(sx_text_take(&out, &result));
    return result;
}

static void refuse(const char *part, const char *with, const char *error) {
    char *text, *bad;
    sx_certificate *c;
    make_text(&text);
    bad = replace(text, part, with);
    sx_expect_error(sx_certificate_read("c", bad, strlen(bad), &c), error);
    free(bad);
    free(text);
}

static void what_is_wrong_is_named(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"\"certificate\"", "\"version\"", "the file has no `certificate:` section"},
        {"\"format\": 1", "\"format\": 2", "certificates of format 2 are not known"},
        {"\"format\": 1,", "", "'format'"},
        {"\"optimal\": false,", "", "'optimal'"},
        {"\"optimal\"", "\"optimum\"", "unknown key 'optimum'"},
        {"\"optimal\": false", "\"optimal\": true", "the certificate is damaged"},
        {"\"objective\": \"edp\"", "\"objective\": \"speed\"", "speed"},
        {"\"objective\": \"edp\"", "\"objective\": \"delay,energy\"", "the certificate is damaged"},
        {"\"lower_bound\": ", "\"lower_bound\": .inf, \"value\": ", "value"},
        {"\"value\": 2", "\"value\": 3", "the certificate is damaged"},
        {"\"arrays\": 7", "\"arrays\": -7", "'arrays' must be a whole number"},
        {"\"energy_exact\": \"11/10\"", "\"energy_exact\": \"1.1\"",
         "'energy_exact' must be a number or a fraction"},
        {"\"energy_exact\": \"11/10\"", "\"energy_exact\": \"12/10\"", "the certificate is damaged"},
        {"searched 4 1 1", "searched 4 1", "is not a valid entry"},
        {"searched 4 1 1", "searched 4 1 0", "is not a valid entry"},
        {"searched 4 1 1", "searched 4 1 1 1", "is not a valid entry"},
        {"searched 4 1 1", "searched 4 1 99999999999999999999", "is not a valid entry"},
        {"searched 4 1 1", "guessed 4 1 1", "is not a valid entry"},
        {"tables ", "tables inf", "is not a valid entry"},
        {"tables ", "tables nan ", "is not a valid entry"},
        {"\"split\": 1", "\"split\": 9", "'split' must be a whole number from 0 to 3"},
        {"\"min_utilization\": 0.25", "\"min_utilization\": 2.5", "must lie between 0 and 1"},
        {"\"min_utilization\": 0.25", "\"min_use\": 0.25", "unknown key 'min_use'"},
        {"\"rest\": [", "\"rest\": [\"q\",", "there is no dimension 'q'"},
        {"\"min\": {", "\"min\": {\"q\": 2,", "there is no dimension 'q'"},
        {"\"keep\": [", "\"keep\": [\"A\", \"A\",", "duplicate"},
        {"{\n  \"certificate\"", "{\"ERT\": {}, \"certificate\"", "a certificate has no section 'ERT'"},
        {"\"history\": {", "\"history\": {\"who\": 1,", "unknown key 'who'"},
    };
    for (size_t i = 0; i < N(cases); i++) refuse(cases[i][0], cases[i][1], cases[i][2]);
}

/* Decimals are written as the user wrote them, and read the same with 17 digits. */
static void decimals_are_those_of_the_user(void **state) {
    (void)state;
    char *text, *digits;
    sx_certificate *c;
    make_text(&text);
    assert_null(strstr(text, "1.1000000000000001"));
    digits = replace(text, "\"energy_pj\": 1.1", "\"energy_pj\": 1.1000000000000001");
    sx_expect_ok(sx_certificate_read("c", digits, strlen(digits), &c));
    assert_true(c->score.energy_pj == 1.1);
    sx_certificate_free(c);
    free(digits);
    free(text);
}

static void no_beginning_is_read(void **state) {
    (void)state;
    char *text;
    make_text(&text);
    for (size_t size = 0; size + 2 < strlen(text); size += 7) {
        sx_certificate *c;
        sx_status status = sx_certificate_read("c", text, size, &c);
        assert_non_null(status);
        sx_status_free(status);
    }
    free(text);
}

static void a_certificate_is_an_input_too(void **state) {
    (void)state;
    char *text;
    make_text(&text);
    sx_input *input = sx_expect_input(text);
    static sx_problem problem;
    static sx_arch arch;
    static sx_mapping mapping;
    sx_expect_ok(sx_input_arch(input, &arch));
    sx_expect_ok(sx_input_problem(input, &problem));
    sx_expect_ok(sx_input_mapping(input, &problem, &arch, &mapping));
    assert_int_equal(sx_count_notes(input, "certificate"), 1);
    sx_input_free(input);
    free(text);
}

static void too_many_entries_are_refused(void **state) {
    (void)state;
    sx_certificate *c = make();
    char *text = NULL;
    c->proof->n_entries = SX_MAX_ENTRIES + 1;
    sx_expect_error(sx_certificate_write(c, &text), "300001 spatial mappings, more than 300000");
    sx_certificate_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_comes_back),
        cmocka_unit_test(decimals_are_those_of_the_user),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(no_beginning_is_read),
        cmocka_unit_test(a_certificate_is_an_input_too),
        cmocka_unit_test(too_many_entries_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
