/* A cost function of one's own on the map space: how many compute units are in use and, among mappings that use as many,
 * the words read at the outermost level.
 *
 *   cc own_cost.c $(pkg-config --cflags --libs sextant) -o own_cost */
#include <sextant/sextant.h>

#include <math.h>
#include <stdio.h>

/* All that the program makes; NULL: not yet. */
typedef struct job {
    sx_problem *problem;
    sx_arch *arch;
    sx_model *model;
    sx_space *space;
    sx_options *options;
    sx_result *result;
} job;

/* Costs packed mappings by their totals; one could as well look at the mappings themselves (sx_mappings_get). */
static sx_status cost(void *user, const sx_mappings *mappings, const double *totals, size_t n_totals,
                      double *out) {
    (void)user;
    for (size_t i = 0; i < sx_mappings_count(mappings); i++, totals += n_totals)
        out[i] = totals[SX_TOTAL_LAST_LEVEL] / pow(totals[SX_TOTAL_UTILIZATION], 4);
    return SX_OK;
}

static sx_status run(job *j) {
    SX_TRY(sx_problem_new(&j->problem));
    SX_TRY(sx_arch_new(&j->arch));
    SX_TRY(sx_catalog_problem("resnet-conv4", j->problem));
    SX_TRY(sx_catalog_arch("accel-a", j->arch));
    SX_TRY(sx_cost_model_new(j->problem, j->arch, NULL, &j->model));
    SX_TRY(sx_mapping_space_new(j->model, NULL, NULL, &j->space));
    SX_TRY(sx_options_new(&j->options));
    SX_TRY(sx_options_set(j->options, "mapper", "genetic"));
    SX_TRY(sx_options_set(j->options, "evals", "5000"));
    sx_options_set_cost(j->options, cost, NULL);
    SX_TRY(sx_space_search(j->space, j->options, &j->result));
    const sx_answer *best = sx_result_best(j->result, 0, 0);
    if (!best) return sx_error_new(SX_ERR_LIMIT, "nothing was found");
    printf("cost %.6g: %.0f words with %.0f %% of the units, after %llu evaluations\n", sx_answer_value(best),
           sx_answer_total(best, SX_TOTAL_LAST_LEVEL), 100 * sx_answer_total(best, SX_TOTAL_UTILIZATION),
           (unsigned long long)sx_answer_evaluation(best));
    return SX_OK;
}

int main(void) {
    job j = {0};
    sx_status status = run(&j);
    int code = status != SX_OK;
    if (status) {
        char *text = sx_status_text(status);
        fprintf(stderr, "%s\n", text ? text : "out of memory");
        sx_free(text);
        sx_status_free(status);
    }
    sx_result_free(j.result);
    sx_options_free(j.options);
    sx_space_free(j.space);
    sx_model_free(j.model);
    sx_arch_free(j.arch);
    sx_problem_free(j.problem);
    return code;
}
