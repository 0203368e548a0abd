/* The designs of kernels, by number, name and text. */
#include "sextant/systolic.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The paper's tables: loops that are spread by dataflow, and orders of tile loops by permutation. */
static const char *const matrix_space[] = {"i", "j", "k", "i,j", "i,k", "j,k"};
static const char *const matrix_order[] = {"[i,k],j", "[j,k],i", "[i,j],k"};
static const char *const convolution_space[] = {"o", "r", "c", "i", "o,r", "o,c", "o,i", "r,c", "r,i", "c,i"};
static const char *const convolution_order[] = {"[r,c,i],o", "[o,r,c],i", "[o,i],[r,c]"};

/* Fails unless the designs of a kernel are those of two tables, found by name too. */
static void expect_designs(const sx_systolic_kernel *kernel, const char *const *space, size_t n,
                           const char *const *order, const uint8_t *stationary) {
    assert_int_equal(sx_systolic_n_designs(kernel), 3 * n);
    for (size_t i = 0; i < 3 * n; i++) {
        sx_systolic_design design;
        char name[16], long_name[32], text[64], expected[64];
        size_t found = 999;
        sx_systolic_design_at(kernel, i, &design);
        assert_int_equal(design.dataflow, i / 3);
        assert_int_equal(design.permutation, i % 3);
        assert_int_equal(design.stationary, stationary[i % 3]);
        assert_int_equal(design.n_space, strlen(space[i / 3]) == 1 ? 1 : 2);
        snprintf(expected, sizeof expected, "%zu_%zu", i / 3, i % 3);
        sx_systolic_design_name(&design, name, sizeof name);
        assert_string_equal(name, expected);
        snprintf(expected, sizeof expected, "[%s] <%s>", space[i / 3], order[i % 3]);
        sx_systolic_design_text(kernel, &design, text, sizeof text);
        assert_string_equal(text, expected);
        sx_expect_ok(sx_systolic_design_find(kernel, name, &found));
        assert_int_equal(found, i);
        found = 999;
        snprintf(long_name, sizeof long_name, "kernel%s", name);
        sx_expect_ok(sx_systolic_design_find(kernel, long_name, &found));
        assert_int_equal(found, i);
    }
}

static void designs_are_the_papers_48(void **state) {
    (void)state;
    const uint8_t of_products[] = {SX_FIRST, SX_SECOND, SX_RESULT};
    const uint8_t of_convolutions[] = {SX_FIRST, SX_RESULT, SX_SECOND};
    sx_systolic_kernel kernel;
    sx_expect_ok(sx_systolic_matrix(64, 64, 64, &kernel));
    expect_designs(&kernel, matrix_space, 6, matrix_order, of_products);
    sx_expect_ok(sx_systolic_convolution(64, 64, 64, 64, 3, 3, &kernel));
    expect_designs(&kernel, convolution_space, 10, convolution_order, of_convolutions);
}

static void names_that_are_none_are_refused(void **state) {
    (void)state;
    static const char *const names[] = {"",     "3",    "3_3",    "6_0",   "-1_0",           "3_2 ",
                                        " 3_2", "03_2", "kernel", "3_2_1", "kernelkernel3_2"};
    sx_systolic_kernel kernel;
    sx_expect_ok(sx_systolic_matrix(64, 64, 64, &kernel));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t found = 999;
        sx_expect_error(sx_systolic_design_find(&kernel, names[i], &found), "from 0_0 to 5_2");
        assert_int_equal(found, 999);
    }
}

static void texts_are_cut_where_there_is_no_room(void **state) {
    (void)state;
    sx_systolic_kernel kernel;
    sx_systolic_design design;
    char text[10];
    sx_expect_ok(sx_systolic_matrix(64, 64, 64, &kernel));
    sx_systolic_design_at(&kernel, 11, &design);
    for (size_t size = 1; size <= sizeof text; size++) {
        memset(text, 'x', sizeof text);
        sx_systolic_design_text(&kernel, &design, text, size);
        assert_memory_equal(text, "[i,j] <[i,j],k>", size - 1);
        assert_int_equal(text[size - 1], 0);
    }
}

/* Pairs of loops stand in the order of their loops, however many loops there are. */
static void other_kernels_number_their_designs_alike(void **state) {
    (void)state;
    sx_problem problem;
    sx_systolic_kernel kernel;
    sx_systolic_design design;
    char text[100];
    sx_expect_ok(sx_einsum_parse("C[a,b,i,j] += A[a,b,i,k]*B[a,b,k,j] {a:2,b:2,i:2,j:2,k:2}", &problem));
    sx_expect_ok(sx_systolic_kernel_of(&problem, &kernel));
    size_t n = sx_systolic_n_designs(&kernel), dataflow = 5;
    assert_int_equal(n, 45);
    for (uint8_t one = 0; one < 5; one++)
        for (uint8_t two = one + 1; two < 5; two++, dataflow++) {
            sx_systolic_design_at(&kernel, 3 * dataflow, &design);
            assert_true(design.n_space == 2 && design.space[0] == one && design.space[1] == two);
        }
    assert_int_equal(3 * dataflow, n);
    sx_systolic_design_at(&kernel, n - 1, &design);
    sx_systolic_design_text(&kernel, &design, text, sizeof text);
    assert_string_equal(text, "[j,k] <[a,b,i,j],k>");
    sx_expect_ok(sx_einsum_parse("C[i,j] += A[i,j]*B[i,j] {i:2,j:2}", &problem));
    sx_expect_ok(sx_systolic_kernel_of(&problem, &kernel));
    sx_systolic_design_at(&kernel, 0, &design);
    sx_systolic_design_text(&kernel, &design, text, sizeof text);
    assert_string_equal(text, "[i] <[i,j]>");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(designs_are_the_papers_48),
        cmocka_unit_test(names_that_are_none_are_refused),
        cmocka_unit_test(texts_are_cut_where_there_is_no_room),
        cmocka_unit_test(other_kernels_number_their_designs_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
