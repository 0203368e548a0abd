/* Costs a mapping with the installed library. Without an argument the mapping keeps everything in the
 * outermost memory.
 *
 *     cc evaluate.c $(pkg-config --cflags --libs sextant) -o evaluate
 *     ./evaluate ../mappings/resnet-conv4.accel-a.yaml */
#include <sextant/sextant.h>

#include <stdio.h>
#include <stdlib.h>

/* Reads the mapping of a file, or makes the plainest one. */
static sx_status get_mapping(const char *path, const sx_problem *problem, const sx_arch *arch,
                             sx_mapping *mapping) {
    sx_mapping_init(mapping, problem, arch);
    if (!path) return SX_OK;
    sx_input *input;
    SX_TRY(sx_input_new(&input));
    sx_status status = sx_input_add_file(input, path);
    if (!status) status = sx_input_mapping(input, problem, arch, mapping);
    sx_input_free(input);
    return status;
}

/* Evaluates the mapping and prints what it costs, or why it cannot run. */
static sx_status run(const char *path) {
    static sx_problem problem;
    static sx_arch arch;
    static sx_mapping mapping;
    static sx_cost cost;
    SX_TRY(sx_catalog_problem("resnet-conv4", &problem));
    SX_TRY(sx_catalog_arch("accel-a", &arch));
    SX_TRY(get_mapping(path, &problem, &arch, &mapping));
    sx_model *model;
    SX_TRY(sx_model_new(&problem, &arch, NULL, &model));
    sx_evaluator *evaluator;
    sx_status status = sx_evaluator_new(model, &evaluator);
    if (!status) {
        sx_verdict verdict = sx_evaluate(evaluator, &mapping, &cost);
        char text[256];
        sx_verdict_text(&verdict, &problem, &arch, text, sizeof text);
        if (verdict.reason != SX_LEGAL)
            printf("cannot run: %s\n", text);
        else
            printf("energy %.3f uJ\ncycles %llu\n", cost.energy_pj * 1e-6, (unsigned long long)cost.cycles);
        sx_evaluator_free(evaluator);
    }
    sx_model_free(model);
    return status;
}

int main(int argc, char **argv) {
    sx_status status = run(argc > 1 ? argv[1] : NULL);
    if (!status) return 0;
    char *text = sx_status_text(status);
    fprintf(stderr, "%s\n", text ? text : "out of memory");
    free(text);
    sx_status_free(status);
    return 2;
}
