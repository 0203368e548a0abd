/* AutoSA's options: the orders of loops that the released program of Odyssey lists. */
#include "sextant/systolic.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* By dataflow: the order of the loops in array_part and in latency. */
static const char *const matrix_orders[][2] = {
    {"ijk", "ij"}, {"jik", "ji"}, {"kij", "ij"}, {"ijk", "ij"}, {"ikj", "ij"}, {"jki", "ji"},
};
static const char *const convolution_orders[][2] = {
    {"orci", "orc"}, {"roci", "roc"}, {"cori", "cor"}, {"iorc", "orc"}, {"orci", "orc"},
    {"ocri", "ocr"}, {"oirc", "orc"}, {"rcoi", "rco"}, {"rioc", "roc"}, {"cior", "cor"},
};

/* A space of all designs and tiles of a kernel, thin arrays too. */
static sx_space *space_of(const sx_systolic_kernel *kernels, size_t n) {
    const sx_systolic_options options = {.thin = true, .tiles = SX_TILES_FULL};
    sx_device device;
    sx_space *space;
    sx_expect_ok(sx_catalog_device("u250", &device));
    sx_expect_ok(sx_systolic_space_new(kernels, n, &device, &options, &space));
    return space;
}

/* Fails unless a point's options are these. */
static void expect_options(const sx_space *space, const sx_systolic_point *point, const char *expected) {
    char *text;
    sx_expect_ok(sx_systolic_autosa(space, point, &text));
    assert_string_equal(text, expected);
    free(text);
}

/* Writes tiles in the order of some loops. */
static void list_tiles(const sx_systolic_kernel *kernel, const char *order, const uint32_t *tile,
                       char *text) {
    text[0] = 0;
    for (size_t i = 0; order[i]; i++)
        for (int d = 0; d < kernel->n_loops; d++)
            if (kernel->loop[d].name[0] == order[i])
                sprintf(text + strlen(text), "%s%u", i ? "," : "", tile[d]);
}

/* Fails unless all designs of a kernel list their loops as in a table. */
static void expect_orders(const sx_systolic_kernel *kernel, const char *const (*orders)[2], size_t n,
                          const sx_systolic_point *tiles, const char *simd) {
    sx_space *space = space_of(kernel, 1);
    assert_int_equal(sx_systolic_n_designs(kernel), 3 * n);
    for (size_t i = 0; i < 3 * n; i++) {
        sx_systolic_point point = *tiles;
        char part[64], latency[64], expected[300];
        point.design = (uint32_t)i;
        list_tiles(kernel, orders[i / 3][0], point.t1, part);
        list_tiles(kernel, orders[i / 3][1], point.t2, latency);
        snprintf(
            expected, sizeof expected,
            "{kernel[]->space_time[%zu];kernel[]->array_part[%s];kernel[]->latency[%s];kernel[]->simd[%s]}",
            i / 3, part, latency, simd);
        expect_options(space, &point, expected);
    }
    sx_space_free(space);
}

static void matrix_products_list_loops_as_the_paper_does(void **state) {
    (void)state;
    sx_systolic_kernel kernel;
    const sx_systolic_point tiles = {.t1 = {64, 128, 32}, .t2 = {16, 32, 8}};
    sx_expect_ok(sx_systolic_matrix(1024, 1024, 1024, &kernel));
    expect_orders(&kernel, matrix_orders, 6, &tiles, "8");
}

static void convolutions_list_loops_as_the_paper_does(void **state) {
    (void)state;
    sx_systolic_kernel kernel;
    const sx_systolic_point tiles = {.t1 = {32, 16, 8, 64}, .t2 = {8, 4, 4, 2}};
    sx_expect_ok(sx_systolic_convolution(128, 128, 28, 28, 3, 3, &kernel));
    expect_orders(&kernel, convolution_orders, 10, &tiles, "3,3,2");
    sx_expect_ok(sx_systolic_convolution(128, 128, 28, 28, 5, 1, &kernel));
    expect_orders(&kernel, convolution_orders, 10, &tiles, "5,1,2");
}

static void whole_tiles_add_ones_before_the_lanes(void **state) {
    (void)state;
    sx_systolic_kernel kernel;
    sx_expect_ok(sx_systolic_matrix(1024, 1024, 1024, &kernel));
    sx_space *space = space_of(&kernel, 1);
    sx_systolic_point point = {.design = 11, .t1 = {129, 64, 64}, .t2 = {3, 64, 8}};
    expect_options(space, &point,
                   "{kernel[]->space_time[3];kernel[]->array_part[129,64,64];kernel[]->latency[3,64];"
                   "kernel[]->simd[1,8]}");
    point = (sx_systolic_point){.design = 2, .t1 = {16, 64, 8}, .t2 = {16, 64, 8}};
    expect_options(space, &point,
                   "{kernel[]->space_time[0];kernel[]->array_part[16,64,8];kernel[]->latency[16,64];"
                   "kernel[]->simd[1,1,8]}");
    sx_space_free(space);
    sx_expect_ok(sx_systolic_convolution(64, 64, 14, 14, 3, 2, &kernel));
    space = space_of(&kernel, 1);
    point = (sx_systolic_point){.design = 13, .t1 = {16, 4, 7, 8}, .t2 = {4, 4, 7, 4}};
    expect_options(space, &point,
                   "{kernel[]->space_time[4];kernel[]->array_part[16,4,7,8];kernel[]->latency[4,4,7];"
                   "kernel[]->simd[3,2,1,1,4]}");
    sx_space_free(space);
}

static void kernel_of(const char *einsum, sx_systolic_kernel *out) {
    sx_problem problem;
    sx_expect_ok(sx_einsum_parse(einsum, &problem));
    sx_expect_ok(sx_systolic_kernel_of(&problem, out));
}

static void batches_and_dilated_windows_follow_the_same_rule(void **state) {
    (void)state;
    sx_systolic_kernel kernel;
    size_t design;
    kernel_of("C[b,i,j] += A[b,i,k]*B[b,k,j] {b:4,i:32,j:32,k:32}", &kernel);
    sx_space *space = space_of(&kernel, 1);
    sx_systolic_point point = {.t1 = {4, 16, 32, 16}, .t2 = {2, 4, 8, 4}};
    sx_expect_ok(sx_systolic_design_find(&kernel, "7_0", &design));
    point.design = (uint32_t)design;
    expect_options(space, &point,
                   "{kernel[]->space_time[7];kernel[]->array_part[16,32,4,16];kernel[]->latency[4,8,2];"
                   "kernel[]->simd[4]}");
    sx_space_free(space);
    kernel_of("O[k,p] += I[c,p+2*r]*W[k,c,r] {k:16,p:16,c:16,r:3}", &kernel);
    space = space_of(&kernel, 1);
    point = (sx_systolic_point){.design = 2, .t1 = {16, 8, 8}, .t2 = {4, 4, 1}};
    expect_options(space, &point,
                   "{kernel[]->space_time[0];kernel[]->array_part[16,8,8];kernel[]->latency[4,4];"
                   "kernel[]->simd[3,1]}");
    sx_space_free(space);
}

static void what_has_no_options_says_why(void **state) {
    (void)state;
    sx_systolic_kernel kernel[2];
    char *text = NULL;
    sx_systolic_point point = {.t1 = {16, 16, 16, 16}, .t2 = {8, 8, 8, 8}};
    kernel_of("O[c,p] += I[c,p+r]*W[c,r] {c:16,p:16,r:3}", &kernel[0]);
    sx_space *space = space_of(kernel, 1);
    sx_expect_error(sx_systolic_autosa(space, &point, &text), "summed along one loop");
    sx_space_free(space);
    kernel_of("C[i,j] += A[i,k,l]*B[j,k,l] {i:16,j:16,k:16,l:16}", &kernel[0]);
    space = space_of(kernel, 1);
    sx_expect_error(sx_systolic_autosa(space, &point, &text), "summed along one loop");
    point.t2[0] = 3;
    sx_expect_error(sx_systolic_autosa(space, &point, &text), "does not divide");
    sx_space_free(space);
    point.t2[0] = 8;
    sx_expect_ok(sx_systolic_convolution(16, 16, 16, 16, 3, 3, &kernel[0]));
    sx_expect_ok(sx_systolic_convolution(16, 16, 16, 16, 1, 1, &kernel[1]));
    space = space_of(kernel, 2);
    sx_expect_error(sx_systolic_autosa(space, &point, &text), "differ");
    sx_space_free(space);
    assert_null(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix_products_list_loops_as_the_paper_does),
        cmocka_unit_test(convolutions_list_loops_as_the_paper_does),
        cmocka_unit_test(whole_tiles_add_ones_before_the_lanes),
        cmocka_unit_test(batches_and_dilated_windows_follow_the_same_rule),
        cmocka_unit_test(what_has_no_options_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
