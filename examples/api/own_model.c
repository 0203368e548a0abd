/* A cost function of one's own on the map space: words moved into each memory, weighted by the distance of
 * the memory from the compute units, and the number of compute units in use.
 *
 *   cc own_model.c $(pkg-config --cflags --libs sextant) -o own_model */
#include <sextant/sextant.h>

#include <stdio.h>
#include <stdlib.h>

/* What the model reads. */
typedef struct traffic {
    const sx_space *space;
    sx_model *model;
} traffic;

/* The metrics, and what searches may call them. */
enum { WORDS, UNITS };
static const sx_metric_about metrics[] = {
    [WORDS] = {"weighted_words", "words", "energy"},
    [UNITS] = {"units", "", "utilization"},
};

/* A thread's workspace: an evaluator of the library's cost model, whose counts are used. */
static sx_status workspace_new(const sx_point_model *model, void **out) {
    const traffic *t = model->user;
    sx_evaluator *evaluator;
    SX_TRY(sx_evaluator_new(t->model, &evaluator));
    *out = evaluator;
    return SX_OK;
}

static void workspace_free(void *workspace) {
    sx_evaluator_free(workspace);
}

/* Scores n points; the run gives legal ones only. */
static sx_status score_batch(const sx_point_model *model, void *workspace, const void *points, size_t n,
                             const sx_goal *goal, double cutoff, sx_outcome *out) {
    const traffic *t = model->user;
    const unsigned char *point = points;
    sx_mapping mapping;
    sx_cost cost;
    (void)goal, (void)cutoff;
    for (size_t i = 0; i < n; i++, point += sx_space_point_size(t->space)) {
        sx_map_space_mapping(t->space, point, &mapping);
        sx_verdict verdict = sx_evaluate(workspace, &mapping, &cost);
        SX_TRY(sx_verdict_status(&verdict, sx_model_problem(t->model), sx_model_arch(t->model)));
        double words = 0;
        for (int level = 0; level < cost.n_levels; level++)
            for (int tensor = 0; tensor < cost.n_tensors; tensor++) {
                const sx_cost_tensor *moved = &cost.level[level].tensor[tensor];
                words += (level + 1) * (double)(moved->reads + moved->fills + moved->updates);
            }
        out[i].reason = 0;
        out[i].metrics = (sx_metrics){{[WORDS] = words, [UNITS] = (double)cost.compute_instances}};
    }
    return SX_OK;
}

static const sx_point_model_type type = {
    .name = "traffic",
    .metrics = metrics,
    .n_metrics = sizeof metrics / sizeof *metrics,
    .workspace_new = workspace_new,
    .workspace_free = workspace_free,
    .score_batch = score_batch,
};

static sx_status run(sx_model **model, sx_space **space, sx_run **run) {
    static sx_problem problem;
    static sx_arch arch;
    static traffic mine;
    static sx_point_model traffic_model = {.type = &type, .user = &mine};
    sx_run_options options;
    sx_found best;
    SX_TRY(sx_catalog_problem("resnet-conv4", &problem));
    SX_TRY(sx_catalog_arch("accel-a", &arch));
    SX_TRY(sx_model_new(&problem, &arch, NULL, model));
    SX_TRY(sx_map_space_new(*model, NULL, NULL, space));
    mine = (traffic){*space, *model};
    sx_run_options_init(&options);
    options.evaluations = 5000;
    SX_TRY(sx_objective_parse_metrics("-units,weighted_words", metrics, 2, &options.objective));
    SX_TRY(sx_run_new(*space, &traffic_model, &options, run));
    SX_TRY(sx_run_search(*run, "genetic"));
    if (!sx_run_best(*run, 0, &best)) return SX_OK;
    printf("%.0f %s, %.0f %s after %llu evaluations\n", best.metrics.value[WORDS], metrics[WORDS].name,
           best.metrics.value[UNITS], metrics[UNITS].name, (unsigned long long)best.evaluation);
    return SX_OK;
}

int main(void) {
    sx_model *model = NULL;
    sx_space *space = NULL;
    sx_run *search = NULL;
    sx_status status = run(&model, &space, &search);
    int code = status != SX_OK;
    char *text = sx_status_text(status);
    if (status) fprintf(stderr, "%s\n", text ? text : "out of memory");
    sx_free(text);
    sx_status_free(status);
    sx_run_free(search);
    sx_space_free(space);
    sx_model_free(model);
    return code;
}
