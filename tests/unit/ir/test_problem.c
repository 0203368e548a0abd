#include "sextant/problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* O[m,n] += A[m,k] * B[k,n], of sizes 6, 5 and 4 (m, n, k). */
static sx_problem matrix_product(void) {
    sx_problem p = {
        .name = "mm", .n_dims = 3, .n_tensors = 3, .dim_name = {"m", "n", "k"}, .size = {6, 5, 4}};
    p.tensor[0] = (sx_tensor){.name = "A", .n_ranks = 2, .coef = {{1, 0, 0}, {0, 0, 1}}};
    p.tensor[1] = (sx_tensor){.name = "B", .n_ranks = 2, .coef = {{0, 0, 1}, {0, 1, 0}}};
    p.tensor[2] = (sx_tensor){.name = "O", .n_ranks = 2, .output = true, .coef = {{1, 0, 0}, {0, 1, 0}}};
    return p;
}

/* Asserts that a problem is refused with a code and a message, and whether a hint comes with it. */
static void assert_refused(const sx_problem *problem, sx_code code, const char *message) {
    sx_status error = sx_problem_check(problem);
    assert_non_null(error);
    assert_string_equal(error->message, message);
    assert_int_equal(error->code, code);
    sx_status_free(error);
}

static void sound_problem_is_accepted(void **state) {
    (void)state;
    sx_problem p = matrix_product();
    assert_null(sx_problem_check(&p));
}

static void names_are_found(void **state) {
    (void)state;
    sx_problem p = matrix_product();
    assert_int_equal(sx_problem_dim(&p, "m"), 0);
    assert_int_equal(sx_problem_dim(&p, "k"), 2);
    assert_int_equal(sx_problem_dim(&p, "K"), -1);
    assert_int_equal(sx_problem_tensor(&p, "B"), 1);
    assert_int_equal(sx_problem_tensor(&p, "C"), -1);
    assert_int_equal(sx_problem_output(&p), 2);
    p.tensor[2].output = false;
    assert_int_equal(sx_problem_output(&p), -1);
}

static void counts_are_products(void **state) {
    (void)state;
    sx_problem p = matrix_product();
    assert_int_equal(sx_problem_computes(&p), 120);
    assert_int_equal(sx_problem_words(&p, 0), 24);
    assert_int_equal(sx_problem_words(&p, 1), 20);
    assert_int_equal(sx_problem_words(&p, 2), 30);
}

static void words_of_an_affine_rank_span_its_box(void **state) {
    (void)state;
    sx_problem p = matrix_product();
    p.tensor[0] = (sx_tensor){.name = "A", .n_ranks = 1, .coef = {{2, 0, 3}}};
    assert_int_equal(sx_problem_words(&p, 0), 1 + 2 * 5 + 3 * 3);
    p.tensor[0].coef[0][0] = -2;
    assert_null(sx_problem_check(&p));
    assert_int_equal(sx_problem_words(&p, 0), 1 + 2 * 5 + 3 * 3);
}

static void numbers_of_dimensions_and_tensors_are_limited(void **state) {
    (void)state;
    sx_problem p = matrix_product();
    p.n_dims = 0;
    assert_refused(&p, SX_ERR_LIMIT, "the problem has 0 dimensions; 1 to 16 are allowed");
    p.n_dims = SX_MAX_DIMS + 1;
    assert_refused(&p, SX_ERR_LIMIT, "the problem has 17 dimensions; 1 to 16 are allowed");
    p = matrix_product();
    p.n_tensors = 1;
    assert_refused(&p, SX_ERR_LIMIT, "the problem has 1 tensors; 2 to 8 are allowed");
    p.n_tensors = SX_MAX_TENSORS + 1;
    assert_refused(&p, SX_ERR_LIMIT, "the problem has 9 tensors; 2 to 8 are allowed");
}

static void largest_problem_is_accepted(void **state) {
    (void)state;
    sx_problem p = {.name = "large", .n_dims = SX_MAX_DIMS, .n_tensors = SX_MAX_TENSORS};
    for (int d = 0; d < SX_MAX_DIMS; d++) {
        memset(p.dim_name[d], 'a' + d, SX_NAME_SIZE - 1);
        p.size[d] = d == 0 ? SX_MAX_DIM_SIZE : d == 1 ? 1u << 30 : 1;
    }
    for (int v = 0; v < SX_MAX_TENSORS; v++) {
        memset(p.tensor[v].name, 'A' + v, SX_NAME_SIZE - 1);
        p.tensor[v].n_ranks = SX_MAX_RANKS;
        for (int r = 0; r < SX_MAX_RANKS; r++) p.tensor[v].coef[r][r] = r < 2 ? 1 : SX_MAX_COEF;
    }
    p.tensor[3].output = true;
    assert_null(sx_problem_check(&p));
    assert_true(sx_problem_computes(&p) == ((uint64_t)SX_MAX_DIM_SIZE << 30));
}

static void dimensions_need_names_of_their_own_and_sizes(void **state) {
    (void)state;
    sx_problem p = matrix_product();
    p.dim_name[1][0] = 0;
    assert_refused(&p, SX_ERR_INPUT, "dimension 2 has no name");
    memset(p.dim_name[1], 'x', SX_NAME_SIZE);
    assert_refused(&p, SX_ERR_INPUT, "dimension 2 has no name");
    p = matrix_product();
    strcpy(p.dim_name[2], "m");
    assert_refused(&p, SX_ERR_INPUT, "two dimensions are called 'm'");
    p = matrix_product();
    p.size[1] = 0;
    assert_refused(&p, SX_ERR_LIMIT, "dimension n has size 0; 1 to 2147483647 are allowed");
    p.size[1] = SX_MAX_DIM_SIZE + 1;
    assert_refused(&p, SX_ERR_LIMIT, "dimension n has size 2147483648; 1 to 2147483647 are allowed");
}

static void tensors_need_names_of_their_own(void **state) {
    (void)state;
    sx_problem p = matrix_product();
    p.tensor[0].name[0] = 0;
    assert_refused(&p, SX_ERR_INPUT, "tensor 1 has no name");
    memset(p.tensor[0].name, 'x', SX_NAME_SIZE);
    assert_refused(&p, SX_ERR_INPUT, "tensor 1 has no name");
    p = matrix_product();
    strcpy(p.tensor[2].name, "B");
    assert_refused(&p, SX_ERR_INPUT, "two tensors are called 'B'");
}

static void ranks_need_dimensions(void **state) {
    (void)state;
    sx_problem p = matrix_product();
    p.tensor[1].n_ranks = SX_MAX_RANKS + 1;
    assert_refused(&p, SX_ERR_LIMIT, "tensor 'B' has 17 ranks; at most 16 are allowed");
    p = matrix_product();
    p.tensor[1].n_ranks = 3;
    assert_refused(&p, SX_ERR_INPUT, "rank 3 of tensor 'B' has no dimension");
}

static void coefficients_are_limited_both_ways(void **state) {
    (void)state;
    sx_problem p = matrix_product();
    p.tensor[0].coef[0][0] = SX_MAX_COEF;
    assert_null(sx_problem_check(&p));
    p.tensor[0].coef[0][0] = -SX_MAX_COEF;
    assert_null(sx_problem_check(&p));
    p.tensor[0].coef[0][0] = SX_MAX_COEF + 1;
    assert_refused(&p, SX_ERR_LIMIT, "tensor 'A': coefficient 1048577 of dimension m is beyond 1048576");
    p.tensor[0].coef[0][0] = -SX_MAX_COEF - 1;
    assert_refused(&p, SX_ERR_LIMIT, "tensor 'A': coefficient -1048577 of dimension m is beyond 1048576");
}

static void counts_beyond_2_to_62_are_refused(void **state) {
    (void)state;
    sx_problem p = matrix_product();
    p.size[0] = p.size[1] = 1u << 30;
    p.size[2] = 3;
    assert_null(sx_problem_check(&p));
    p.size[2] = 4;
    assert_refused(&p, SX_ERR_LIMIT, "the problem has more than 2^62 multiply-accumulates");
    p.size[2] = 1;
    p.tensor[2].coef[0][0] = 8;
    assert_refused(&p, SX_ERR_LIMIT, "tensor 'O' has more than 2^62 words");
}

static void exactly_one_tensor_is_the_output(void **state) {
    (void)state;
    sx_problem p = matrix_product();
    p.tensor[2].output = false;
    assert_refused(&p, SX_ERR_INPUT, "0 tensors are outputs; there must be exactly one");
    p.tensor[0].output = p.tensor[1].output = true;
    sx_status error = sx_problem_check(&p);
    assert_string_equal(error->message, "2 tensors are outputs; there must be exactly one");
    assert_string_equal(error->hint, "in Timeloop's notation the output has `read-write: True`");
    sx_status_free(error);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_problem_is_accepted),
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(counts_are_products),
        cmocka_unit_test(words_of_an_affine_rank_span_its_box),
        cmocka_unit_test(numbers_of_dimensions_and_tensors_are_limited),
        cmocka_unit_test(largest_problem_is_accepted),
        cmocka_unit_test(dimensions_need_names_of_their_own_and_sizes),
        cmocka_unit_test(tensors_need_names_of_their_own),
        cmocka_unit_test(ranks_need_dimensions),
        cmocka_unit_test(coefficients_are_limited_both_ways),
        cmocka_unit_test(counts_beyond_2_to_62_are_refused),
        cmocka_unit_test(exactly_one_tensor_is_the_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
