#include "sextant/input.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Reads a problem from text; fails the test on an error. */
static void read_good(const char *text, sx_problem *out) {
    sx_input *input = sx_expect_input(text);
    sx_expect_ok(sx_input_problem(input, out));
    sx_input_free(input);
}

/* The error of reading a problem from text; the output stays as it was. */
static sx_status read_bad(const char *text) {
    static const sx_problem untouched;
    sx_problem problem;
    memset(&problem, 0, sizeof problem);
    sx_input *input;
    SX_TRY(sx_input_new(&input));
    sx_status status = sx_input_add_text(input, "t.yaml", text, strlen(text));
    if (!status) status = sx_input_problem(input, &problem);
    sx_input_free(input);
    assert_memory_equal(&problem, &untouched, sizeof problem);
    return status;
}

static void a_convolution_is_read(void **state) {
    (void)state;
    sx_problem p, einsum;
    read_good("problem:\n"
              "  version: 0.4\n"
              "  shape:\n"
              "    name: conv\n"
              "    dimensions: [ R, P, C, K ]\n"
              "    coefficients:\n"
              "    - {name: stride, default: 1}\n"
              "    - {name: dilation, default: 1}\n"
              "    data-spaces:\n"
              "    - name: Outputs\n"
              "      projection: [ [[K]], [[P]] ]\n"
              "      read-write: True\n"
              "    - name: Weights\n"
              "      projection:\n"
              "      - [ [K] ]\n"
              "      - [ [C] ]\n"
              "      - [ [R] ]\n"
              "    - name: Inputs\n"
              "      projection:\n"
              "      - [ [C] ]\n"
              "      - [ [R, dilation], [P, stride] ]\n"
              "  instance:\n"
              "    {R: 3, P: 16, C: 4, K: 8, stride: 2, densities: {}}\n",
              &p);
    assert_string_equal(p.name, "conv");
    memset(p.name, 0, sizeof p.name);
    sx_expect_ok(
        sx_einsum_parse("Outputs[K,P] += Weights[K,C,R]*Inputs[C,R+2*P] {R:3,P:16,C:4,K:8}", &einsum));
    assert_memory_equal(&p, &einsum, sizeof p);
}

static void projections_have_many_forms(void **state) {
    (void)state;
    static const char *const forms[] = {
        "[ [[C]], [[R, d], [P, s]] ]",
        "[ [[C]], [[P, s], [R, d]] ]",
        "[ C, R*d + P*s ]",
        "[ [C], ['3*P + R'] ]",
        "'[ C, d*R + s*P ]'",
        "\"C, R + 3*P\"",
        "{channel: C, width: [[R], [P, 3]]}",
        "{channel: [[C]], width: R + 3*P}",
        "[ [[C]], [[R, -1], [R, 2], [P, s]] ]",
    };
    sx_problem first, p;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "problem:\n  shape:\n    dimensions: [R, P, C]\n"
                 "    coefficients: [{name: s, default: 3}, {name: d, default: 1}]\n"
                 "    data_spaces:\n    - {name: O, projection: [P], read_write: 1}\n"
                 "    - name: I\n      projection: %s\n  instance: {R: 2, P: 4, C: 5}\n",
                 forms[i]);
        read_good(text, i ? &p : &first);
        if (i) assert_memory_equal(&p, &first, sizeof p);
    }
    assert_int_equal(first.tensor[1].coef[1][0], 1);
    assert_int_equal(first.tensor[1].coef[1][1], 3);
    assert_int_equal(first.name[0], 0);
}

static void bounds_may_stand_in_the_problem_itself(void **state) {
    (void)state;
    sx_problem p, q;
    const char *text =
        "problem: {shape: cnn-layer, version: 0.4, R: 3, S: 3, P: 8, Q: 8, C: 4, K: 4, N: 1, Wstride: 2}\n";
    read_good(text, &p);
    assert_string_equal(p.name, "cnn-layer");
    assert_string_equal(p.tensor[1].name, "Inputs");
    assert_int_equal(p.tensor[1].coef[2][2], 2);
    assert_int_equal(p.tensor[1].coef[3][3], 1);
    sx_input *input =
        sx_expect_input("problem: {instance: {R: 3, S: 3, P: 8, Q: 8, C: 4, K: 4, N: 1, Wstride: 2}}");
    sx_expect_ok(sx_input_problem(input, &q));
    assert_int_equal(sx_count_notes(input, "the problem has no shape"), 1);
    sx_input_free(input);
    assert_memory_equal(&p, &q, sizeof p);
}

static void merges_and_unused_keys_are_fine(void **state) {
    (void)state;
    sx_problem p;
    sx_input *input =
        sx_expect_input("base: &base\n  shape: {name: '', dimensions: R P, data_spaces: [{name: O, "
                        "projection: [P], read_write: yes},\n"
                        "    {name: I, projection: [R + P], ranks: [W]}]}\n  instance: {R: 1, P: 1}\n"
                        "problem:\n  <<<: *base\n  name: layer\n  dnn_name: net\n  instance: {R: 3, H: 224, "
                        "Wpad: 1, Hpadding: 2}\n");
    sx_expect_ok(sx_input_problem(input, &p));
    assert_int_equal(p.size[0], 3);
    assert_int_equal(p.size[1], 1);
    assert_int_equal(sx_count_notes(input, "'name' of the problem has no effect"), 1);
    assert_int_equal(sx_count_warnings(input, "t.yaml:9:20: the key 'H' of the instance is not understood"),
                     1);
    assert_int_equal(sx_count_warnings(input, "'Wpad'"), 1);
    assert_int_equal(sx_count_notes(input, "'ranks' of a data space"), 1);
    sx_input_free(input);
}

/* A projection without ranks is that of a scalar. */
static void scalars_are_read(void **state) {
    (void)state;
    sx_problem p, einsum;
    read_good("problem: {shape: {dimensions: [K], data_spaces: [{name: Z, projection: [], read_write: 1},\n"
              "  {name: A, projection: [K]}, {name: B, projection: [K]}]}, instance: {K: 8}}\n",
              &p);
    sx_expect_ok(sx_einsum_parse("Z[] += A[K]*B[K] {K:8}", &einsum));
    assert_int_equal(p.tensor[0].n_ranks, 0);
    assert_int_equal(sx_problem_words(&p, 0), 1);
    assert_memory_equal(&p, &einsum, sizeof p);
}

/* Timeloop misses a coefficient that is spelt with other capitals, and runs with its default. */
static void respelt_coefficients_are_read_with_a_warning(void **state) {
    (void)state;
    static const struct {
        const char *values, *warning;
        int stride;
    } cases[] = {
        {"HStride: 2",
         "t.yaml:1:64: 'HStride' is read as 'Hstride' = 2; Timeloop ignores the key 'HStride' and takes 1",
         2},
        {"HStride: 2, Hstride: 3", "t.yaml:1:64: the key 'HStride' of the instance is not understood", 3},
        {"HSTRIDE: 1", NULL, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        sx_problem p;
        snprintf(text, sizeof text, "problem: {instance: {R: 3, S: 3, P: 8, Q: 8, C: 4, K: 4, N: 1, %s}}\n",
                 cases[i].values);
        sx_input *input = sx_expect_input(text);
        sx_expect_ok(sx_input_problem(input, &p));
        assert_int_equal(p.tensor[1].coef[3][3], cases[i].stride);
        assert_int_equal(sx_count_warnings(input, ""), cases[i].warning != NULL);
        if (cases[i].warning) assert_int_equal(sx_count_warnings(input, cases[i].warning), 1);
        sx_input_free(input);
    }
}

/* A strict input refuses what is otherwise noted or warned about. */
static void strict_inputs_refuse(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"HStride: 2", "'HStride' is read as 'Hstride' = 2"},
        {"padding: 2", "the key 'padding' of the instance is not understood"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        sx_problem p;
        snprintf(text, sizeof text, "problem: {instance: {R: 3, S: 3, P: 8, Q: 8, C: 4, K: 4, N: 1, %s}}\n",
                 cases[i][0]);
        sx_input *input = sx_expect_input(text);
        sx_input_read_as(input, SX_READ_STRICT);
        sx_expect_error(sx_input_problem(input, &p), cases[i][1]);
        sx_input_free(input);
    }
}

static void densities_are_read(void **state) {
    (void)state;
    sx_problem p;
    static const char *const good[] = {"densities: {I: 1}",
                                       "densities: {I: {density: 1.0, distribution: fixed}}",
                                       "densities: ",
                                       "commonDensity: 0.5",
                                       "densities: {I: {distribution: hypergeometric, density: 0.1}}",
                                       "densities: {I: }"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        char text[512];
        snprintf(
            text, sizeof text,
            "problem: {shape: {dimensions: [P], data_spaces: [{name: O, projection: [P], read_write: 1}, "
            "{name: I, projection: [P]}]}, instance: {P: 3, %s}}",
            good[i]);
        sx_input *input = sx_expect_input(text);
        sx_expect_ok(sx_input_problem(input, &p));
        assert_int_equal(p.size[0], 3);
        assert_int_equal(sx_count_notes(input, "density"), 0);
        sx_input_free(input);
    }
}

#define SHAPE(dims, spaces)                                                                                  \
    "problem: {shape: {dimensions: " dims ", data_spaces: " spaces "}, instance: {P: 3}}"
#define SPACES "[{name: O, projection: [P], read_write: 1}, {name: I, projection: [P]}]"
#define INSTANCE(values)                                                                                     \
    "problem:\n  shape: {dimensions: [P], data_spaces: " SPACES ",\n    coefficients: " values "}"
#define INPUT(projection)                                                                                    \
    SHAPE("[P]", "[{name: O, projection: [P], read_write: 1}, {name: I, projection: " projection "}]")

/* Texts, and the errors they give. */
static const char *const bad_problems[][2] = {
    {"arch: {a: 1}", "no problem given\n  a file with 'problem:' is needed"},
    {"problem: []", "no problem given"},
    {"problem: [{shape: 1}]", "t.yaml:1:10: 'problem' is a list\n  give one problem at a time"},
    {"problem: word", "t.yaml:1:10: 'problem' must be a map, but is a single value"},
    {"problem: {shape: {}, instance: [1]}", "'instance' must be a map, but is a list"},
    {"problem: {shap: {}, instance: {}}", "unknown key of the problem: 'shap'\n  did you mean 'shape'?"},
    {"problem: {shape: [a]}", "'shape' must be a map, but is a list"},
    {"problem: {shape: cnn-layr}", "t.yaml:1:18: unknown shape 'cnn-layr'\n  did you mean 'cnn-layer'?"},
    {"problem: {shape: {flatten: [a]}, instance: {}}", "'flatten' of the shape is not supported"},
    {"problem: {shape: {name: x}, instance: {}}", "t.yaml:1:18: the shape has no 'dimensions'"},
    {"problem: {shape: {name: [x], dimensions: [P]}, instance: {}}", "'name' must be a text, but is a list"},
    {"problem: {shape: {dimensions: {a: 1}}, instance: {}}",
     "'dimensions' must be a list of names, but is a map"},
    {"problem: {shape: {dimensions: [P, 2x]}, instance: {}}",
     "t.yaml:1:35: '2x' cannot be the name of a dimension"},
    {"problem: {shape: {dimensions: [P, P]}, instance: {}}", "t.yaml:1:35: two dimensions are called 'P'"},
    {"problem: {shape: {dimensions: [A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P,Q]}, instance: {}}",
     "more than 16 dimensions"},
    {"problem: {shape: {dimensions: [P]}, instance: {P: 3}}", "the shape has no 'data_spaces'"},
    {SHAPE("[P, R]", SPACES), "the instance has no size for dimension 'R'\n  add 'R: N' to it"},
    {"problem: {shape: {dimensions: [P]}, instance: {P: 0}}",
     "t.yaml:1:51: 'P' must be a whole number from 1 to 2147483647, but is '0'\n  it is the size of a "
     "dimension"},
    {"problem: {shape: {dimensions: [P]}, instance: {P: 4294967296}}",
     "'P' must be a whole number from 1 to 2147483647"},
    {"problem: {shape: {dimensions: [P]}, instance: {P: -3}}", "'P' must be a whole number"},
    {"problem: {shape: {dimensions: [P]}, instance: {P: true}}", "'P' must be a number, not 'true'"},
    {INSTANCE("{a: 1}"), "'coefficients' must be a list, but is a map"},
    {INSTANCE("[a]"), "a coefficient must be a map"},
    {INSTANCE("[{default: 1}]"), "t.yaml:3:20: a coefficient has no 'name'"},
    {INSTANCE("[{name: s, default: 1.5}]"), "'default' must be a whole number"},
    {INSTANCE("[{name: s, default: 1}, {name: s, default: 1}]"), "'s' is already the name of something else"},
    {INSTANCE("[{name: P, default: 1}]"), "t.yaml:3:27: 'P' is already the name of something else"},
    {INSTANCE("[{name: s}]") "\n  instance: {P: 3}",
     "t.yaml:3:20: coefficient 's' has neither a default nor a value"},
    {INSTANCE("[{name: stride, default: 1}]") "\n  instance: {P: 3, strid: 2}",
     "t.yaml:4:20: unknown key of the instance: 'strid'\n  did you mean 'stride'?"},
    {INSTANCE("[{name: s, default: 1}]") "\n  instance: {P: 3, s: x}",
     "'x' is neither a number nor a known name"},
    {SHAPE("[P]", "{a: 1}"), "'data_spaces' must be a list, but is a map"},
    {SHAPE("[P]", "[a]"), "a data space must be a map"},
    {SHAPE("[P]", "[{projection: [P]}]"), "a data space has no 'name'"},
    {SHAPE("[P]", "[{name: O}]"),
     "data space 'O' has no 'projection'\n  it lists the ranks with the dimensions of each, such as "
     "'projection: [ [[P]], [[P]] ]'"},
    {SHAPE("[P]", "[{name: O, projectoin: [P]}]"),
     "unknown key of a data space: 'projectoin'\n  did you mean 'projection'?"},
    {SHAPE("[P]", "[{name: 'O x', projection: [P]}]"), "a data space's name has a space or a comma"},
    {SHAPE("[P]", "[{name: O, projection: [P], read_write: 2}]"), "'read_write' must be true or false"},
    {SHAPE("[P]", "[{name: O, projection: [P]}, {name: O, projection: [P]}]"),
     "two data spaces are called 'O'"},
    {SHAPE("[P]", "[{name: O, projection: [P]}, {name: I, projection: [P]}]"), "0 tensors are outputs"},
    {SHAPE("[P]", "[{name: O, projection: [P], read_write: 1}]"), "the problem has 1 tensors; 2 to 8"},
    {SHAPE("[P]",
           "[{name: A, projection: [P]}, {name: B, projection: [P]}, {name: C, projection: [P]}, {name: D, "
           "projection: [P]}, {name: E, projection: [P]}, {name: F, projection: [P]}, {name: G, "
           "projection: "
           "[P]}, {name: H, projection: [P]}, {name: I, projection: [P]}]"),
     "more than 8 data spaces"},
    {INPUT(""), "the projection of 'I' is empty\n  that of a scalar is '[]'"},
    {INPUT("~"), "the projection of 'I' is empty"},
    {INPUT("[Q]"), "unknown dimension 'Q'\n  known: P"},
    {INPUT("[P P]"), "'+' or '*' is expected before 'P'"},
    {INPUT("[[]]"), "a rank of 'I' must be a sum of dimensions"},
    {INPUT("[{a: 1}]"), "a rank of 'I' must be a sum of dimensions"},
    {INPUT("[[P, Q]]"), "a term of a projection must be [dimension] or [dimension, coefficient]"},
    {INPUT("[[[P, 1, 2]]]"), "a term of a projection must be"},
    {INPUT("[[[[P]]]]"), "'dimension' must be a text, but is a list"},
    {INPUT("[[[Q]]]"), "unknown dimension 'Q'"},
    {INPUT("[[[P, s]]]"), "unknown coefficient 's'"},
    {INPUT("[[[P, [2]]]]"), "'coefficient' must be a text"},
    {INPUT("[[[P, 2000000]]]"), "a coefficient is beyond 1048576"},
    {INPUT("[[[P, 0]]]"), "rank 1 of tensor 'I' has no dimension"},
    {INPUT("'[P'"), "']' or ',' is expected"},
    {INPUT("'P]'"), "the end of the projection is expected before ']'"},
    {INPUT("[P,P,P,P,P,P,P,P,P,P,P,P,P,P,P,P,P]"), "tensor 'I' has more than 16 ranks"},
    {INPUT("'P,P,P,P,P,P,P,P,P,P,P,P,P,P,P,P,P'"), "tensor 'I' has more than 16 ranks"},
};

static void bad_problems_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad_problems / sizeof bad_problems[0]; i++)
        sx_expect_error(read_bad(bad_problems[i][0]), bad_problems[i][1]);
}

static void coefficients_are_limited(void **state) {
    (void)state;
    char text[16384] = "problem: {shape: {dimensions: [P], coefficients: [";
    for (int i = 0; i < 257; i++) sprintf(text + strlen(text), "{name: c%d, default: 1},", i);
    strcat(text, "]}, instance: {P: 1}}");
    sx_expect_error(read_bad(text), "more than 256 coefficients");
}

static void two_problems_are_one_too_many(void **state) {
    (void)state;
    sx_problem p;
    sx_input *input = sx_expect_input("problem: {a: 1}");
    sx_expect_ok(sx_input_add_text(input, "u.yaml", "\nproblem: {a: 1}", 16));
    sx_expect_error(sx_input_problem(input, &p),
                    "u.yaml:2:1: duplicate section 'problem'\n  the first is at t.yaml:1:1");
    sx_input_free(input);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_convolution_is_read),
        cmocka_unit_test(projections_have_many_forms),
        cmocka_unit_test(bounds_may_stand_in_the_problem_itself),
        cmocka_unit_test(merges_and_unused_keys_are_fine),
        cmocka_unit_test(scalars_are_read),
        cmocka_unit_test(respelt_coefficients_are_read_with_a_warning),
        cmocka_unit_test(strict_inputs_refuse),
        cmocka_unit_test(densities_are_read),
        cmocka_unit_test(bad_problems_are_refused),
        cmocka_unit_test(coefficients_are_limited),
        cmocka_unit_test(two_problems_are_one_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
