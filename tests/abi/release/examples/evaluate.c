/* Costs a mapping with the installed library: cc evaluate.c $(pkg-config --cflags --libs sextant) -o evaluate
 */
#include <sextant/sextant.h>

#include <stdio.h>

/* All that the program makes; NULL: not yet. */
typedef struct job {
    sx_problem *problem;
    sx_arch *arch;
    sx_mapping *mapping;
    sx_input *input;
    sx_model *model;
    sx_cost_report *report;
} job;

/* Prints what the mapping in a file (or, without one, the plainest mapping) costs, or why it cannot run. */
static sx_status run(const char *path, job *j) {
    SX_TRY(sx_problem_new(&j->problem));
    SX_TRY(sx_arch_new(&j->arch));
    SX_TRY(sx_catalog_problem("resnet-conv4", j->problem));
    SX_TRY(sx_catalog_arch("accel-a", j->arch));
    SX_TRY(sx_mapping_new(j->problem, j->arch, &j->mapping));
    SX_TRY(sx_input_new(&j->input));
    if (path) SX_TRY(sx_input_add_file(j->input, path));
    if (path) SX_TRY(sx_input_mapping(j->input, j->problem, j->arch, j->mapping));
    SX_TRY(sx_cost_model_new(j->problem, j->arch, NULL, &j->model));
    SX_TRY(sx_cost_report_new(j->model, &j->report));
    SX_TRY(sx_cost_report_fill(j->report, j->mapping));
    if (!sx_cost_report_legal(j->report)) return puts(sx_cost_report_reason(j->report)), SX_OK;
    printf("energy %.3f uJ\ncycles %.0f\n", sx_cost_report_total(j->report, SX_TOTAL_ENERGY_PJ) * 1e-6,
           sx_cost_report_total(j->report, SX_TOTAL_CYCLES));
    return SX_OK;
}

int main(int argc, char **argv) {
    job j = {0};
    sx_status status = run(argc > 1 ? argv[1] : NULL, &j);
    char *text = sx_status_text(status);
    int code = status ? (fprintf(stderr, "%s\n", text ? text : "out of memory"), 2) : 0;
    sx_free(text);
    sx_status_free(status);
    sx_cost_report_free(j.report);
    sx_model_free(j.model);
    sx_input_free(j.input);
    sx_mapping_free(j.mapping);
    sx_arch_free(j.arch);
    sx_problem_free(j.problem);
    return code;
}
