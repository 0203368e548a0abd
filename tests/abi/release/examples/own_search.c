/* A search method of one's own: from the best of a hundred draws on, steps that do not make it worse.
 *
 *   cc own_search.c $(pkg-config --cflags --libs sextant) -lm -o own_search */
#include <sextant/sextant.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DRAWS = 100, STEPS = 2000 };

/* All that the program makes; NULL: not yet. */
typedef struct job {
    sx_problem *problem;
    sx_arch *arch;
    sx_model *model;
    sx_space *space;
    sx_mappings *drawn;
    sx_mapping *best, *next;
    sx_cost_report *report;
} job;

/* Finds the best of the draws. */
static sx_status draw(job *j, double *value) {
    double totals[DRAWS][2];
    size_t first = 0;
    SX_TRY(sx_mappings_new(j->problem, j->arch, DRAWS, &j->drawn));
    SX_TRY(sx_space_draw(j->space, 1, 0, j->drawn));
    SX_TRY(sx_model_score(j->model, j->drawn, 1, 2, &totals[0][0]));
    for (size_t i = 1; i < DRAWS; i++)
        if (totals[i][0] * totals[i][1] < totals[first][0] * totals[first][1]) first = i;
    *value = totals[first][0] * totals[first][1];
    SX_TRY(sx_mapping_new(j->problem, j->arch, &j->best));
    SX_TRY(sx_mapping_new(j->problem, j->arch, &j->next));
    return sx_mappings_get(j->drawn, first, j->best);
}

/* Energy times delay of the next mapping; INFINITY where it cannot run. */
static sx_status evaluate_next(job *j, double *out) {
    SX_TRY(sx_cost_report_fill(j->report, j->next));
    *out = sx_cost_report_total(j->report, SX_TOTAL_ENERGY_PJ) *
           sx_cost_report_total(j->report, SX_TOTAL_CYCLES);
    return SX_OK;
}

static sx_status climb(job *j, double *value) {
    SX_TRY(sx_cost_report_new(j->model, &j->report));
    for (unsigned step = 0; step < STEPS; step++) {
        bool changed;
        double next;
        sx_mapping_free(j->next);
        j->next = NULL;
        SX_TRY(sx_mapping_copy(j->best, &j->next));
        SX_TRY(sx_space_step(j->space, 1, step, j->next, &changed));
        if (!changed) continue;
        SX_TRY(evaluate_next(j, &next));
        if (next > *value) continue;
        *value = next;
        sx_mapping *better = j->next;
        j->next = j->best;
        j->best = better;
    }
    return SX_OK;
}

static sx_status run(job *j) {
    double drawn, value;
    SX_TRY(sx_problem_new(&j->problem));
    SX_TRY(sx_arch_new(&j->arch));
    SX_TRY(sx_catalog_problem("resnet-conv4", j->problem));
    SX_TRY(sx_catalog_arch("accel-a", j->arch));
    SX_TRY(sx_cost_model_new(j->problem, j->arch, NULL, &j->model));
    SX_TRY(sx_mapping_space_new(j->model, NULL, NULL, &j->space));
    SX_TRY(draw(j, &drawn));
    value = drawn;
    SX_TRY(climb(j, &value));
    printf("drawn %.6g, climbed to %.6g\n", drawn, value);
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
    sx_cost_report_free(j.report);
    sx_mapping_free(j.next);
    sx_mapping_free(j.best);
    sx_mappings_free(j.drawn);
    sx_space_free(j.space);
    sx_model_free(j.model);
    sx_arch_free(j.arch);
    sx_problem_free(j.problem);
    return code;
}
