/* How often windows, which Timeloop's counting follows by their first two steps only (docs/model.md), decide
 * which mapping is best: every mapping of small convolutions on a small chip is counted as Timeloop does and
 * executed step by step.
 *
 *   study-windows
 *
 * A case differs where the least EDPs, counted and executed, do. It misleads where no mapping that counts as
 * best is the best when executed: then the best of them loses so much. */
#include "sextant/input.h"
#include "sextant/run.h"
#include "space/recorder.h"
#include "support/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for little, so that small problems have to be tiled; energies are edge-unified's. */
static const char form_of_arch[] =
    "arch:\n"
    "  name: small\n"
    "  arithmetic: {name: MAC, instances: 2, meshX: 2, word-bits: 16, energy: 2.2}\n"
    "  storage:\n"
    "  - {name: L1, instances: 2, meshX: 2, entries: %d, vector-access-energy: 2.05}\n"
    "  - {name: L2, instances: 1, entries: %d, vector-access-energy: 19.412}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, vector-access-energy: 128}\n";
static const int entries[][2] = {{4, 12}, {6, 16}, {8, 24}};

static const struct {
    const char *name, *form;
} kinds[] = {
    {"stride 1", "Outputs[K,P] += Weights[K,R] * Inputs[P+R] {K:%d,P:%d,R:%d}"},
    {"stride 2", "Outputs[K,P] += Weights[K,R] * Inputs[2*P+R] {K:%d,P:%d,R:%d}"},
    {"dilation 2", "Outputs[K,P] += Weights[K,R] * Inputs[P+2*R] {K:%d,P:%d,R:%d}"},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds, ROOM = 1 << 20, MOST_STEPS = 1 << 24 };

/* Values that differ by no more than this share are the same. */
static const double rounding = 1e-9;

typedef struct tally {
    size_t n, mappings, differ, mislead;
    double most, loss;
} tally;

/* The EDP of a mapping when it is executed. */
static double execute(const sx_model *model, const sx_mapping *mapping) {
    static sx_cost cost;
    sx_verdict verdict;
    sx_study_need(sx_simulate(sx_model_problem(model), sx_model_arch(model), mapping, NULL, MOST_STEPS,
                              &verdict, &cost));
    return verdict.reason == SX_LEGAL ? cost.edp : INFINITY;
}

/* Executes every mapping that a search has looked at. */
static void execute_all(sx_recorder *recorder, const sx_space *space, const sx_model *model, tally *t) {
    double counted = INFINITY, best = INFINITY, chosen = INFINITY, value;
    const void *point;
    for (size_t i = 0; (point = sx_recorder_point(recorder, i, &value)); i++) {
        static sx_mapping mapping;
        sx_map_space_mapping(space, point, &mapping);
        double edp = execute(model, &mapping);
        best = fmin(best, edp);
        if (value < counted * (1 - rounding)) chosen = INFINITY;
        if (value < counted * (1 + rounding)) chosen = fmin(chosen, edp);
        counted = fmin(counted, value);
        t->mappings++;
    }
    t->n++;
    t->differ += fabs(counted / best - 1) > rounding;
    t->mislead += chosen > best * (1 + rounding);
    t->most = fmax(t->most, fabs(counted / best - 1));
    t->loss = fmax(t->loss, chosen / best - 1);
}

/* Goes through all mappings of a problem. */
static void study(const sx_problem *problem, const sx_arch *arch, tally *t) {
    sx_run_options run_options;
    sx_model *model;
    sx_space *space;
    sx_recorder *recorder;
    sx_run *run;
    sx_run_options_init(&run_options);
    sx_study_need(sx_model_new(problem, arch, NULL, &model));
    sx_study_need(sx_map_space_new(model, NULL, NULL, &space));
    sx_study_need(sx_recorder_new(space, NULL, ROOM, &recorder));
    sx_study_need(sx_run_new(space, sx_recorder_model(recorder), &run_options, &run));
    sx_study_need(sx_run_search(run, "exhaustive"));
    execute_all(recorder, space, model, t);
    sx_run_free(run);
    sx_recorder_free(recorder);
    sx_space_free(space);
    sx_model_free(model);
}

/* A chip of given sizes. */
static void make_arch(const int *words, sx_arch *out) {
    char text[sizeof form_of_arch + 16];
    sx_input *input;
    snprintf(text, sizeof text, form_of_arch, words[0], words[1]);
    sx_study_need(sx_input_new(&input));
    sx_study_need(sx_input_add_text(input, "small", text, strlen(text)));
    sx_study_need(sx_input_arch(input, out));
    sx_input_free(input);
}

/* All sizes of a kind of convolution on all chips. */
static void study_kind(const char *form, tally *t) {
    static const int rows[] = {4, 5, 6, 8};
    for (int a = 0; a < 3; a++) {
        sx_arch arch;
        make_arch(entries[a], &arch);
        for (int i = 0; i < 24; i++) {
            char text[256];
            sx_problem problem;
            snprintf(text, sizeof text, form, 1 + i % 2, rows[i / 2 % 4], 2 + i / 8);
            sx_study_need(sx_einsum_parse(text, &problem));
            study(&problem, &arch, t);
        }
    }
}

int main(void) {
    printf(
        "| convolutions | cases | mappings | optima that differ | by at most | misleading | loss at most |\n"
        "|---|---|---|---|---|---|---|\n");
    for (int k = 0; k < N_KINDS; k++) {
        tally t = {0};
        study_kind(kinds[k].form, &t);
        printf("| %s | %zu | %zu | %zu | %s | %zu | %s |\n", kinds[k].name, t.n, t.mappings, t.differ,
               sx_study_percent(t.most).text, t.mislead, sx_study_percent(t.loss).text);
        fflush(stdout);
    }
    return 0;
}
