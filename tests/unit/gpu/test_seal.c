/* Images of spaces: which blocks of bytes are whole. */
#include "gpu/gpu.h"
#include "support/expect.h"
#include "support/random_legal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The image of a small space. */
static sx_gpu_image *make(void) {
    sx_model *model;
    sx_model_workspace *evaluator;
    sx_space *space;
    sx_objective objective;
    sx_gpu_image *image;
    sx_catalog_model("C[m,n] = A[m,k] * B[k,n] {m:8,n:6,k:4}", "accel-a", &model, &evaluator);
    sx_expect_ok(sx_map_space_new(model, NULL, NULL, &space));
    sx_expect_ok(sx_objective_parse("edp", &objective));
    sx_expect_ok(sx_gpu_image_new(space, &objective, SX_GPU_POINTS | SX_GPU_TABLES, &image));
    sx_space_free(space);
    sx_model_workspace_free(evaluator);
    sx_model_free(model);
    return image;
}

static void whole(void **state) {
    (void)state;
    sx_gpu_image *image = make();
    assert_true(sx_gpu_image_is_whole(image, (size_t)image->size));
    assert_int_equal(image->core.n_dims, 3);
    assert_int_equal(image->factorisations, image->n_rows[0] * image->n_rows[1] * image->n_rows[2]);
    free(image);
}

static void cut_short(void **state) {
    (void)state;
    sx_gpu_image *image = make();
    assert_false(sx_gpu_image_is_whole(image, (size_t)image->size - 1));
    assert_false(sx_gpu_image_is_whole(image, sizeof *image - 1));
    free(image);
}

/* One byte of a table that differs. */
static void damaged(void **state) {
    (void)state;
    sx_gpu_image *image = make();
    ((char *)image)[image->size - 3] ^= 1;
    assert_false(sx_gpu_image_is_whole(image, (size_t)image->size));
    free(image);
}

/* Tables beyond the block, with a sum that is right. */
static void beyond(void **state) {
    (void)state;
    sx_gpu_image *image = make();
    sx_gpu_image before = *image;
    image->version++;
    assert_false(sx_gpu_image_is_whole(image, (size_t)image->size));
    *image = before;
    image->rows_at = image->size - 8;
    assert_false(sx_gpu_image_is_whole(image, (size_t)image->size));
    *image = before;
    sx_gpu_list *list = (sx_gpu_list *)(void *)((char *)image + image->lists_at);
    list[0].n = 1u << 30;
    sx_gpu_image_seal(image);
    assert_false(sx_gpu_image_is_whole(image, (size_t)image->size));
    free(image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),
        cmocka_unit_test(cut_short),
        cmocka_unit_test(damaged),
        cmocka_unit_test(beyond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
