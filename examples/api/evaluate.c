/* Costs a mapping with the installed library: cc evaluate.c $(pkg-config --cflags --libs sextant) -o evaluate
 */
#include <sextant/sextant.h>

#include <stdio.h>
#include <stdlib.h>

/* Prints what the mapping in a file (or, without one, the plainest mapping) costs, or why it cannot run. */
static sx_status run(const char *path, sx_input **input, sx_model **model, sx_evaluator **evaluator) {
    static sx_problem problem;
    static sx_arch arch;
    static sx_mapping mapping;
    static sx_cost cost;
    SX_TRY(sx_catalog_problem("resnet-conv4", &problem));
    SX_TRY(sx_catalog_arch("accel-a", &arch));
    SX_TRY(sx_model_new(&problem, &arch, NULL, model));
    SX_TRY(sx_evaluator_new(*model, evaluator));
    SX_TRY(sx_input_new(input));
    sx_mapping_init(&mapping, &problem, &arch);
    if (path) SX_TRY(sx_input_add_file(*input, path));
    if (path) SX_TRY(sx_input_mapping(*input, &problem, &arch, &mapping));
    sx_verdict verdict = sx_evaluate(*evaluator, &mapping, &cost);
    char text[256];
    sx_verdict_text(&verdict, &problem, &arch, text, sizeof text);
    puts(text);
    if (verdict.reason == SX_LEGAL)
        printf("energy %.3f uJ\ncycles %llu\n", cost.energy_pj * 1e-6, (unsigned long long)cost.cycles);
    return SX_OK;
}

int main(int argc, char **argv) {
    sx_input *input = NULL;
    sx_model *model = NULL;
    sx_evaluator *evaluator = NULL;
    sx_status status = run(argc > 1 ? argv[1] : NULL, &input, &model, &evaluator);
    char *text = sx_status_text(status);
    int code = status ? (fprintf(stderr, "%s\n", text ? text : "out of memory"), 2) : 0;
    free(text);
    sx_status_free(status);
    sx_evaluator_free(evaluator);
    sx_model_free(model);
    sx_input_free(input);
    return code;
}
