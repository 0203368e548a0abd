#include "placement/noise.h"

#include "base/hash.h"
#include "base/status.h"
#include "learn/elementary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct noise {
    sx_point_model model;
    sx_point_model_type type;
    char name[40];
    size_t point_size;
    double sigma;
    uint64_t seed;
} noise;

static sx_status workspace_new(const sx_point_model *model, void **out) {
    return model->inner->type->workspace_new(model->inner, out);
}

static sx_status score_batch(const sx_point_model *model, void *workspace, const void *points, size_t n,
                             const sx_goal *goal, double cutoff, sx_outcome *out) {
    const noise *x = model->user;
    const unsigned char *point = points;
    (void)cutoff;
    SX_TRY(model->inner->type->score_batch(model->inner, workspace, points, n, goal, INFINITY, out));
    for (size_t i = 0; i < n; i++, point += x->point_size) {
        if (out[i].reason) continue;
        sx_rng rng = sx_rng_stream(x->seed, "noise", sx_hash_bytes(point, x->point_size, 0));
        out[i].metrics.value[SX_PLACE_LATENCY] *= exp(x->sigma * sx_normal(&rng));
    }
    return SX_OK;
}

sx_status sx_noise_new(const sx_space *space, double sigma, uint64_t seed, sx_point_model **out) {
    noise *x = calloc(1, sizeof *x);
    if (!x) return sx_error_memory();
    *x = (noise){.type = *space->model->type, .point_size = space->point_size, .sigma = sigma, .seed = seed};
    snprintf(x->name, sizeof x->name, "noise of %.17g", sigma);
    x->type.name = x->name;
    x->type.key = NULL;
    x->type.bound = NULL;
    x->type.score_batch = score_batch;
    if (x->type.workspace_new) x->type.workspace_new = workspace_new;
    x->model = (sx_point_model){.type = &x->type, .user = x, .inner = space->model};
    *out = &x->model;
    return SX_OK;
}

void sx_noise_free(sx_point_model *model) {
    if (model) free(model->user);
}
