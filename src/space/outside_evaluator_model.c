/* The model of points that asks an outside evaluator: legality and the other metrics are those of the space's own model. */
#include "space/outside_evaluator.h"

#include "base/json.h"
#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct judged {
    sx_point_model model;
    sx_point_model_type type;
    sx_metric_about metric[SX_MAX_METRICS];
    size_t scored; /* the metric that the outside evaluator gives */
    char *name;
    sx_outside_evaluator *outside;
    const sx_space *space;
    const sx_question_kind *kind;
    double best; /* score so far */
} judged;

static sx_status workspace_new(const sx_point_model *model, void **out) {
    return model->inner->type->workspace_new(model->inner, out);
}

/* Asks about a legal point. */
static sx_status ask_point(judged *j, const void *point, sx_outcome *out) {
    json_t *question = json_object();
    double value = 0;
    sx_json_set(question, "id", json_null());
    sx_status status = j->kind->describe(j->space, point, question);
    if (status) {
        json_decref(question);
        return status;
    }
    sx_outside_evaluator_set_incumbent(j->outside, j->best);
    SX_TRY(sx_outside_evaluator_ask(j->outside, j->kind, point, question, &value, &out->reason));
    out->metrics.value[j->scored] = value;
    if (!out->reason && value < j->best) j->best = value;
    return SX_OK;
}

static sx_status score_batch(const sx_point_model *model, void *workspace, const void *points, size_t n,
                             const sx_goal *goal, double cutoff, sx_outcome *out) {
    judged *j = model->user;
    const unsigned char *point = points;
    (void)cutoff;
    SX_TRY(model->inner->type->score_batch(model->inner, workspace, points, n, goal, INFINITY, out));
    for (size_t i = 0; i < n; i++, point += j->space->point_size)
        if (!out[i].reason) SX_TRY(ask_point(j, point, &out[i]));
    return SX_OK;
}

sx_outside_evaluator *sx_outside_evaluator_of(const sx_point_model *model) {
    const judged *j = model->type->score_batch == score_batch ? model->user : NULL;
    return j ? j->outside : NULL;
}

/* Sets the metrics: those of the space's own model, one replaced or one more. */
static void set_metrics(judged *j) {
    size_t n = j->type.n_metrics;
    bool more = j->kind->metric >= n;
    memcpy(j->metric, j->type.metrics, n * sizeof *j->metric);
    j->scored = more ? n : j->kind->metric;
    if (more) j->metric[n] = (sx_metric_about){j->kind->name, "", NULL};
    j->type.metrics = j->metric;
    j->type.n_metrics = n + more;
}

sx_status sx_outside_evaluator_model_new(sx_outside_evaluator *outside, const sx_space *space,
                                         const sx_question_kind *kind, sx_point_model **out) {
    const char *command = sx_outside_evaluator_command(outside);
    size_t size = strlen(command) + sizeof "exec:";
    judged *j = calloc(1, sizeof *j);
    char *name = malloc(size);
    if (!j || !name) {
        free(j);
        free(name);
        return sx_error_memory();
    }
    snprintf(name, size, "exec:%s", command);
    *j = (judged){.type = *space->model->type,
                  .name = name,
                  .outside = outside,
                  .space = space,
                  .kind = kind,
                  .best = INFINITY};
    j->type.name = name;
    set_metrics(j);
    j->type.batch = 1;
    j->type.key = NULL;
    j->type.bound = NULL;
    j->type.score_batch = score_batch;
    if (j->type.workspace_new) j->type.workspace_new = workspace_new;
    j->model = (sx_point_model){.type = &j->type, .user = j, .inner = space->model};
    *out = &j->model;
    return SX_OK;
}

void sx_outside_evaluator_model_free(sx_point_model *model) {
    if (!model) return;
    judged *j = model->user;
    free(j->name);
    free(j);
}
