/* From files to a mapping to its cost:
 *
 *   cc map_files.c $(pkg-config --cflags --libs sextant) -o map_files
 *   ./map_files arch.yaml ert.yaml problem.yaml
 *
 * docs/api.md goes through this program. */
#include <sextant/sextant.h>

#include <stdio.h>

/* All that the program makes; NULL: not yet. */
typedef struct job {
    sx_input *input;
    sx_arch *arch;
    sx_problem *problem;
    sx_network *network;
    sx_options *options;
    sx_result *result;
    sx_model *model;
    sx_cost_report *report;
} job;

/* Reads the files, and says what in them may have been meant otherwise. */
static sx_status read_files(job *j, int n, char **paths) {
    sx_warnings *warnings;
    const char *message, *place;
    SX_TRY(sx_input_new(&j->input));
    for (int i = 0; i < n; i++) SX_TRY(sx_input_add_file(j->input, paths[i]));
    SX_TRY(sx_arch_new(&j->arch));
    SX_TRY(sx_problem_new(&j->problem));
    SX_TRY(sx_input_arch(j->input, j->arch));
    SX_TRY(sx_input_problem(j->input, j->problem));
    SX_TRY(sx_problem_bind_to(j->problem, j->arch));
    SX_TRY(sx_warnings_new(&warnings));
    sx_status status = sx_input_warnings(j->input, warnings);
    for (size_t i = 0; (message = sx_warnings_at(warnings, i, &place)); i++)
        fprintf(stderr, "%s: warning: %s\n", place ? place : "input", message);
    sx_warnings_free(warnings);
    return status;
}

/* Searches for the mapping of least energy times delay, under the constraints of the files. */
static sx_status map_problem(job *j) {
    SX_TRY(sx_network_new("files", &j->network));
    SX_TRY(sx_network_add(j->network, NULL, j->problem, 1));
    SX_TRY(sx_options_new(&j->options));
    SX_TRY(sx_options_set(j->options, "objective", "edp"));
    SX_TRY(sx_options_set(j->options, "evals", "20000"));
    sx_options_set_input(j->options, j->input);
    SX_TRY(sx_map_network(j->network, j->arch, j->options, &j->result));
    const sx_answer *best = sx_result_best(j->result, 0, 0);
    if (!best)
        return sx_error_new(SX_ERR_LIMIT, "no mapping was found: %s", sx_result_diagnosis(j->result, 0));
    printf("%s after %.0f evaluations: %.6g\n",
           sx_result_figure_of(j->result, 0, SX_RESULT_OPTIMAL) != 0 ? "optimum" : "best",
           sx_result_figure_of(j->result, 0, SX_RESULT_EVALUATIONS), sx_answer_value(best));
    return SX_OK;
}

/* Shows what the mapping costs, level by level, and the mapping itself. */
static sx_status show_cost(job *j) {
    const sx_mapping *mapping = sx_answer_mapping(sx_result_best(j->result, 0, 0));
    char *text;
    SX_TRY(sx_cost_model_new(j->problem, j->arch, j->options, &j->model));
    SX_TRY(sx_cost_report_new(j->model, &j->report));
    SX_TRY(sx_cost_report_fill(j->report, mapping));
    printf("%.0f cycles, %.6g pJ\n", sx_cost_report_total(j->report, SX_TOTAL_CYCLES),
           sx_cost_report_total(j->report, SX_TOTAL_ENERGY_PJ));
    for (int s = sx_arch_n_levels(j->arch) - 1; s >= 0; s--) {
        double energy;
        SX_TRY(sx_cost_report_figure(j->report, "energy_pj", s, -1, &energy));
        printf("  %-16s %.6g pJ\n", sx_arch_level_name(j->arch, s), energy);
    }
    SX_TRY(sx_mapping_write(mapping, j->problem, j->arch, SX_YAML, &text));
    fputs(text, stdout);
    sx_free(text);
    return SX_OK;
}

int main(int argc, char **argv) {
    job j = {0};
    sx_status status = read_files(&j, argc - 1, argv + 1);
    if (!status) status = map_problem(&j);
    if (!status) status = show_cost(&j);
    int code = 0;
    if (status) {
        char *text = sx_status_text(status);
        fprintf(stderr, "%s\n", text ? text : "out of memory");
        sx_free(text);
        sx_status_free(status);
        code = 2;
    }
    sx_cost_report_free(j.report);
    sx_model_free(j.model);
    sx_result_free(j.result);
    sx_options_free(j.options);
    sx_network_free(j.network);
    sx_problem_free(j.problem);
    sx_arch_free(j.arch);
    sx_input_free(j.input);
    return code;
}
