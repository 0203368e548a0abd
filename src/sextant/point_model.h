/* A point model: what the points of a space are worth. A space says which points there are; a model measures
 * them, by metrics that it names. Every space of this library comes with a model (sx_space_model), and any
 * other may take its place.
 *
 * A model never changes and may be shared by threads; a workspace is one thread's room on it. */
#ifndef SX_POINT_MODEL_H
#define SX_POINT_MODEL_H

#include "sextant/space.h"

typedef struct sx_point_model sx_point_model;

/* What became of a point. */
typedef struct sx_outcome {
    sx_metrics metrics; /* only where reason is 0 */
    double value;       /* of the objective's first criterion; INFINITY where reason is not 0 */
    unsigned reason; /* 0: legal; SX_BEYOND; SX_NOT_EVALUATED: the budget ended before it; a space's reason */
} sx_outcome;

/* Reasons of no space. */
#define SX_BEYOND 0xffffu        /* worse than the cut-off */
#define SX_NOT_EVALUATED 0xfffeu /* not given to the model */
#define SX_REFUSED 0xfffdu       /* an outside evaluator says that it cannot run */

typedef struct sx_point_model_type {
    const char *name; /* such as "map"; a navigator that relies on a model asks for it by this name */
    const sx_metric_about *metrics;
    size_t n_metrics; /* 1 to SX_MAX_METRICS */
    uint8_t front[2]; /* the metrics of a front; both 0: the first two */
    bool checks;      /* it says of illegal points that they are; otherwise it only gets legal ones */
    size_t batch;     /* points that it likes to score at once; 0: 1 */
    /* A thread's workspace; NULL: it needs none. */
    sx_status (*workspace_new)(const sx_point_model *model, SX_OWN void **out);
    void (*workspace_free)(SX_TAKE void *workspace);
    /* Scores n points that lie one after another: sets metrics and reason of each outcome (value is set by
     * the caller). A point whose value is above a finite cut-off may be SX_BEYOND, its metrics then are of no
     * use. An error ends the search. */
    sx_status (*score_batch)(const sx_point_model *model, void *workspace, const void *points, size_t n,
                             const sx_goal *goal, double cutoff, sx_outcome *out);
    /* A hash of what decides a point's score: two points of one key have one score. NULL: all bytes do. */
    void (*key)(const sx_point_model *model, const void *point, uint64_t key[2]);
    /* A proven lower bound of the objective's first criterion over all points; NULL: none is known. */
    double (*bound)(const sx_point_model *model, const sx_goal *goal);
} sx_point_model_type;

/* A model; an implementation's struct may begin with it. */
struct sx_point_model {
    const sx_point_model_type *type;
    void *user;
    const sx_point_model *inner; /* the model that this one stands in front of; NULL: none */
};

/* The model that a space comes with, which lives as long; NULL: none. */
const sx_point_model *sx_space_model(const sx_space *space);

/* Scores points of a space by a model, on one thread and without a run. A model of NULL is the space's. Both
 * must outlive it. */
typedef struct sx_scorer sx_scorer;
SX_MUST_USE sx_status sx_scorer_new(const sx_space *space, const sx_point_model *model,
                                    const sx_objective *objective, SX_OWN sx_scorer **out);
void sx_scorer_free(SX_TAKE sx_scorer *scorer);

/* Scores n points that lie one after another. Those whose value is above the cut-off are SX_BEYOND. */
SX_MUST_USE sx_status sx_scorer_score(sx_scorer *scorer, const void *points, size_t n, double cutoff,
                                      sx_outcome *out);

#endif
