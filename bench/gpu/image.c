/* Writes the image of a space for bench-gpu, and what the library says of points drawn from it.
 *
 *   bench-gpu-image PROBLEM ARCH IMAGE [EXPECTED N TRIES]    PROBLEM: of the catalog, or einsum text */
#include "base/file.h"
#include "bench.h"
#include "gpu/expected.h"
#include "gpu/gpu.h"
#include "sextant/input.h"
#include "sextant/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The whole cost of a point, as a GPU's score. */
static sx_core_score cost_of(const sx_space *space, sx_model_workspace *evaluator,
                             const sx_core_nest *point) {
    static sx_cost cost;
    sx_mapping mapping;
    sx_core_nest back;
    sx_gpu_mapping_of(space, point, &mapping);
    if (!sx_gpu_point_of(space, &mapping, &back) || memcmp(point, &back, sizeof back) != 0 ||
        sx_evaluate(evaluator, &mapping, &cost).reason != SX_LEGAL) {
        fprintf(stderr, "the library has another answer for a point\n");
        exit(3);
    }
    sx_score score = sx_cost_score(&cost);
    return (sx_core_score){score.energy_pj, score.cycles, score.utilization, score.last_level_accesses};
}

/* Writes what is expected of n points. */
static void expect(const sx_space *space, const sx_gpu_image *image, sx_model_workspace *evaluator,
                   const char *path, uint64_t n, uint32_t tries) {
    sx_gpu_view view = sx_gpu_view_of(image, image);
    gpu_expected head = {.seed = 1, .n = n, .tries = tries};
    static sx_core_scratch own;
    sx_core_state st = {.own = &own};
    uint64_t sum = gpu_sum_begin(), none = 0, uncovered = 0;
    const sx_gpu_module *cpu = sx_gpu_emulation();
    sx_gpu_device *device;
    char message[SX_CUDA_MESSAGE];
    if (cpu->make(image, &device, message) != 0) exit(3);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(&head, sizeof head, 1, file) != 1) exit(2);
    for (uint64_t i = 0; i < n; i++) {
        uint32_t k = 0;
        for (; k < tries; k++) {
            sx_core_score score;
            uint8_t verdict;
            sx_gpu_draw_nest(&view, &st, head.seed, i * tries + k);
            sx_core_nest point = st.nest;
            if (cpu->score(device, &point, 1, &score, &verdict, message) != 0) exit(3);
            uncovered += verdict == SX_CORE_NOT_COVERED;
            if (verdict != SX_CORE_LEGAL) continue;
            sx_core_score whole = cost_of(space, evaluator, &point);
            sum = gpu_sum_add(sum, i * tries + k, &whole);
            break;
        }
        none += k == tries;
        if (i % GPU_CHUNK != GPU_CHUNK - 1 && i != n - 1) continue;
        if (fwrite(&sum, sizeof sum, 1, file) != 1) exit(2);
        sum = gpu_sum_begin();
    }
    cpu->end(device);
    fclose(file);
    printf("%llu points, %llu without a legal draw, %llu draws not covered\n", (unsigned long long)n,
           (unsigned long long)none, (unsigned long long)uncovered);
}

int main(int argc, char **argv) {
    sx_problem problem;
    sx_arch arch;
    sx_model *model;
    sx_space *space;
    sx_model_workspace *evaluator;
    sx_objective objective;
    sx_gpu_image *image;
    if (argc < 4) return 2;
    if (strchr(argv[1], '='))
        bench_need(sx_einsum_parse(argv[1], &problem));
    else
        bench_need(sx_catalog_problem(argv[1], &problem));
    bench_need(sx_catalog_arch(argv[2], &arch));
    bench_need(sx_model_new(&problem, &arch, NULL, &model));
    bench_need(sx_map_space_new(model, NULL, NULL, &space));
    bench_need(sx_model_workspace_new(model, &evaluator));
    bench_need(sx_objective_parse("edp", &objective));
    bench_need(sx_gpu_image_new(space, &objective, SX_GPU_POINTS | SX_GPU_TABLES, &image));
    bench_need(sx_file_write(argv[3], (const char *)image, (size_t)image->size));
    printf("%s: %llu bytes, %llu factorisations, %u charges\n", image->name, (unsigned long long)image->size,
           (unsigned long long)image->factorisations, image->n_charges);
    if (argc > 6)
        expect(space, image, evaluator, argv[4], strtoull(argv[5], NULL, 10), (uint32_t)atoi(argv[6]));
    free(image);
    sx_model_workspace_free(evaluator);
    sx_space_free(space);
    sx_model_free(model);
    return 0;
}
