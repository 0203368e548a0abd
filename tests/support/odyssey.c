#include "support/odyssey.h"

#include "support/expect.h"
#include "support/vectors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Where the loops of a convolution's tiles (i, o, r, c) stand in the kernel. */
static const int convolution_loops[4] = {3, 0, 1, 2};

sx_systolic_kernel sx_odyssey_kernel(const json_t *problem) {
    uint32_t size[6] = {0};
    sx_systolic_kernel kernel;
    size_t n = json_array_size(problem);
    assert_true(n == 3 || n == 6);
    for (size_t i = 0; i < n; i++) size[i] = (uint32_t)json_integer_value(json_array_get(problem, i));
    if (n == 3)
        sx_expect_ok(sx_systolic_matrix(size[0], size[1], size[2], &kernel));
    else
        sx_expect_ok(sx_systolic_convolution(size[0], size[1], size[2], size[3], size[4], size[5], &kernel));
    return kernel;
}

sx_systolic_point sx_odyssey_point(const sx_systolic_kernel *kernel, const char *design,
                                   const json_t *tiles) {
    sx_systolic_point point = {.design = 0};
    size_t number, n = (size_t)kernel->n_loops;
    sx_expect_ok(sx_systolic_design_find(kernel, design, &number));
    point.design = (uint32_t)number;
    assert_int_equal(json_array_size(tiles), 2 * n);
    for (size_t i = 0; i < n; i++) {
        size_t loop = kernel->sliding ? (size_t)convolution_loops[i] : i;
        point.t1[loop] = (uint32_t)json_integer_value(json_array_get(tiles, i));
        point.t2[loop] = (uint32_t)json_integer_value(json_array_get(tiles, n + i));
    }
    return point;
}
