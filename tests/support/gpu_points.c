#include "support/gpu_points.h"

#include "support/expect.h"
#include "support/random_legal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Scores a point by the code of the GPU. */
static void score(const sx_gpu_image *image, const sx_core_nest *point, sx_core_score *out,
                  uint8_t *verdict) {
    const sx_gpu_module *cpu = sx_gpu_emulation();
    sx_gpu_device *device;
    char message[SX_CUDA_MESSAGE];
    assert_int_equal(cpu->make(image, &device, message), 0);
    assert_int_equal(cpu->score(device, point, 1, out, verdict, message), 0);
    cpu->end(device);
}

/* Compares the score of a point with the whole cost of its mapping. */
static void compare(const sx_space *space, const sx_gpu_image *image, sx_model_workspace *evaluator,
                    const sx_core_nest *point, sx_gpu_tally *t) {
    static sx_cost cost;
    sx_mapping mapping;
    sx_core_nest back;
    sx_core_score found;
    uint8_t verdict;
    sx_gpu_mapping_of(space, point, &mapping);
    assert_true(sx_gpu_point_of(space, &mapping, &back));
    assert_memory_equal(point, &back, sizeof back);
    score(image, point, &found, &verdict);
    t->points++;
    t->uncovered += verdict == SX_CORE_NOT_COVERED;
    bool legal = sx_space_legal(space, &mapping, NULL, 0);
    assert_int_equal(verdict == SX_CORE_ILLEGAL, !legal);
    if (verdict != SX_CORE_LEGAL) return;
    assert_int_equal(sx_evaluate(evaluator, &mapping, &cost).reason, SX_LEGAL);
    sx_score full = sx_cost_score(&cost);
    sx_score score = {found.energy, found.cycles, found.utilization, found.accesses, found.cycles};
    if (memcmp(&full, &score, sizeof full) != 0)
        print_error("%s: energy %.17g and %.17g, cycles %.17g and %.17g\n", image->name, full.energy_pj,
                    score.energy_pj, full.cycles, score.cycles);
    assert_memory_equal(&full, &score, sizeof full);
    t->legal++;
}

void sx_gpu_compare_space(const sx_space *space, const sx_model *model, uint64_t seed, int draws,
                          sx_gpu_tally *t) {
    sx_objective objective;
    sx_gpu_image *image;
    sx_model_workspace *evaluator;
    sx_expect_ok(sx_objective_parse("edp", &objective));
    sx_status status = sx_gpu_image_new(space, &objective, SX_GPU_TABLES, &image);
    if (status) {
        sx_status_free(status);
        return;
    }
    sx_expect_ok(sx_model_workspace_new(model, &evaluator));
    sx_gpu_view view = sx_gpu_view_of(image, image);
    for (uint64_t i = 0; i < (uint64_t)draws; i++) {
        sx_core_scratch own;
        sx_core_state st = {.own = &own};
        sx_gpu_draw_nest(&view, &st, seed, i);
        compare(space, image, evaluator, &st.nest, t);
    }
    sx_mapping *mapping = calloc((size_t)draws, sizeof *mapping);
    assert_non_null(mapping);
    status = sx_map_space_draw(space, seed, 0, (size_t)draws, sizeof *mapping, mapping);
    for (int i = 0; i < draws && !status; i++) {
        sx_core_nest point;
        assert_true(sx_gpu_point_of(space, &mapping[i], &point));
        compare(space, image, evaluator, &point, t);
    }
    sx_status_free(status);
    free(mapping);
    t->images++;
    sx_model_workspace_free(evaluator);
    free(image);
}
