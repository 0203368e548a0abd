/* Scoring points: the space's legality where a model leaves it to the space, the model, the objective. */
#include "space/scorer.h"

#include "base/hash.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>

const sx_point_model *sx_space_model(const sx_space *space) {
    return space->model;
}

/* Refuses a model that cannot be searched with. */
static sx_status check_model(const sx_space *space, const sx_point_model *model) {
    if (!model)
        return sx_error_new(SX_ERR_USAGE, "a %s space comes without a model: one must be given",
                            space->type->name);
    if (model->type->n_metrics < 1 || model->type->n_metrics > SX_MAX_METRICS)
        return sx_error_new(SX_ERR_USAGE, "the model '%s' has %zu metrics: 1 to %d are possible",
                            model->type->name, model->type->n_metrics, SX_MAX_METRICS);
    return SX_OK;
}

sx_status sx_scorer_goal_init(const sx_space *space, const sx_point_model *model,
                              const sx_objective *objective, sx_goal *out) {
    SX_TRY(check_model(space, model));
    const sx_point_model_type *type = model->type;
    SX_TRY(sx_goal_init(out, objective, type->metrics, type->n_metrics, type->name));
    if (type->front[0] == 0 && type->front[1] == 0) return SX_OK;
    if (type->front[0] >= type->n_metrics || type->front[1] >= type->n_metrics)
        return sx_error_new(SX_ERR_USAGE, "the front of the model '%s' names metrics that it does not have",
                            type->name);
    out->front[0] = type->front[0];
    out->front[1] = type->front[1];
    return SX_OK;
}

sx_status sx_scorer_init(sx_scorer *scorer, const sx_space *space, const sx_point_model *model,
                         const sx_goal *goal) {
    *scorer = (sx_scorer){.space = space, .model = model, .goal = goal};
    if (!model->type->workspace_new) return SX_OK;
    return model->type->workspace_new(model, &scorer->workspace);
}

void sx_scorer_fini(sx_scorer *scorer) {
    if (scorer->workspace && scorer->model->type->workspace_free)
        scorer->model->type->workspace_free(scorer->workspace);
    scorer->workspace = NULL;
}

/* A scorer with a goal of its own. */
typedef struct lone {
    sx_scorer scorer;
    sx_goal goal;
} lone;

sx_status sx_scorer_new(const sx_space *space, const sx_point_model *model, const sx_objective *objective,
                        sx_scorer **out) {
    if (!model) model = space->model;
    lone *alone = calloc(1, sizeof *alone);
    if (!alone) return sx_error_memory();
    sx_status status = sx_scorer_goal_init(space, model, objective, &alone->goal);
    if (!status) status = sx_scorer_init(&alone->scorer, space, model, &alone->goal);
    if (status)
        free(alone);
    else
        *out = &alone->scorer;
    return status;
}

void sx_scorer_free(sx_scorer *scorer) {
    if (!scorer) return;
    sx_scorer_fini(scorer);
    free(scorer);
}

/* Sets the values of outcomes that have their metrics. */
static void set_values(const sx_goal *goal, size_t n, double cutoff, sx_outcome *out) {
    for (size_t i = 0; i < n; i++) {
        out[i].value = out[i].reason ? INFINITY : sx_goal_value(goal, &out[i].metrics);
        if (out[i].reason == 0 && !(out[i].value > cutoff)) continue;
        out[i] = (sx_outcome){.value = INFINITY, .reason = out[i].reason ? out[i].reason : SX_BEYOND};
    }
}

/* Scores points by a model that gets legal ones only. */
static sx_status score_legal(const sx_scorer *s, const unsigned char *points, size_t n, double cutoff,
                             sx_outcome *out) {
    size_t from = 0;
    while (from < n) {
        size_t to = from;
        while (to < n &&
               (out[to].reason = s->space->type->check(s->space, points + to * s->space->point_size)) == 0)
            to++;
        if (to > from)
            SX_TRY(s->model->type->score_batch(s->model, s->workspace, points + from * s->space->point_size,
                                               to - from, s->goal, cutoff, out + from));
        from = to < n ? to + 1 : n;
    }
    return SX_OK;
}

sx_status sx_scorer_score(sx_scorer *s, const void *points, size_t n, double cutoff, sx_outcome *out) {
    const sx_point_model *model = s->model;
    if (model->type->checks)
        SX_TRY(model->type->score_batch(model, s->workspace, points, n, s->goal, cutoff, out));
    else
        SX_TRY(score_legal(s, points, n, cutoff, out));
    set_values(s->goal, n, cutoff, out);
    return SX_OK;
}

void sx_scorer_key(const sx_scorer *s, const void *point, uint64_t key[2]) {
    if (s->model->type->key) {
        s->model->type->key(s->model, point, key);
        return;
    }
    key[0] = sx_hash_bytes(point, s->space->point_size, 1);
    key[1] = sx_hash_bytes(point, s->space->point_size, 2);
}
