/* The cost model over real factors: what a mapping would cost if its tile factors were real numbers, with the
 * derivatives by their logarithms. DOSA (MICRO 2023) has the idea for one machine; this is the model of docs/model.md
 * for any.
 *
 * At whole factors that divide it is the model itself, where the following holds: networks cost no energy, the output's
 * ranks are single dimensions without strides, no two spatial loops of a level move the same rank, and no neighbour
 * hands words on over links but whole operands to compute units. The first two are properties of architecture and
 * problem and are checked (sx_relaxed_check). A mapping without the other two costs here what it would without
 * these links, or with groups that do not overlap.
 *
 * Between whole factors. A loop of a tensor's dimension counts as it is. A loop that the tensor does not depend on
 * counts once there is a loop of its dimensions inside: with the power log(f) / log(2) of that loop's factor f below
 * 2, so that a factor that falls to 1 fades out. Sliding windows are followed by the loops of at least 1.5
 * iterations. Counts are not rounded unless that is asked for. */
#ifndef SX_MAPPERS_GRADIENT_MODEL_COST_H
#define SX_MAPPERS_GRADIENT_MODEL_COST_H

#include "base/status.h"
#include "mappers/gradient/tape.h"
#include "model/model.h"

/* A mapping with real factors. */
typedef struct sx_relaxed_mapping {
    double temporal[SX_MAX_LEVELS][SX_MAX_DIMS], spatial[SX_MAX_LEVELS][SX_MAX_DIMS];
    uint8_t temporal_order[SX_MAX_LEVELS][SX_MAX_DIMS], spatial_order[SX_MAX_LEVELS][SX_MAX_DIMS];
    uint16_t on_x[SX_MAX_LEVELS]; /* dimensions whose spatial loop lies on X; all others: on Y */
    uint8_t keep[SX_MAX_LEVELS];
} sx_relaxed_mapping;

/* A mapping as one with real factors. */
void sx_relaxed_from(const sx_model *model, const sx_mapping *mapping, sx_relaxed_mapping *out);

enum { SX_RELAXED_LOOPS = SX_MAX_LEVELS * SX_MAX_DIMS };

typedef struct sx_relaxed_loop {
    sx_real factor, log, step;
    uint8_t dim;
} sx_relaxed_loop;

/* One evaluation after another; begins as {.model = model}. */
typedef struct sx_relaxed {
    const sx_model *model;
    bool rounded; /* round counts as the model does: derivatives stay those without */
    uint8_t
        banked[SX_MAX_LEVELS]; /* tensors that have banks of a level, whether kept or, being too large, not */
    sx_tape tape;
    sx_real log_temporal[SX_MAX_LEVELS][SX_MAX_DIMS], log_spatial[SX_MAX_LEVELS][SX_MAX_DIMS];
    sx_real spatial[SX_MAX_LEVELS][SX_MAX_DIMS];
    sx_real extent[SX_MAX_LEVELS][SX_MAX_DIMS];
    sx_real tile[SX_MAX_TENSORS][SX_MAX_LEVELS];
    sx_real
        above[SX_MAX_LEVELS + 1]; /* instances of a level in use; above[0] times its fan-out: compute units */
    sx_real compute_cycles;
    int n_loops, first[SX_MAX_LEVELS + 1]; /* temporal loops, innermost first */
    sx_relaxed_loop loop[SX_RELAXED_LOOPS];
    struct sx_relaxed_window *window; /* workspace of model_window.c; NULL before it is needed */
    /* The result. */
    sx_real energy, cycles;
    sx_real
        overflow; /* how far tiles and fan-outs are beyond their room: squared logarithms, 0 where legal */
} sx_relaxed;

/* An error that says why where the model of a problem on an architecture has no such form. */
SX_MUST_USE sx_status sx_relaxed_check(const sx_model *model);

/* Evaluates a mapping. */
void sx_relaxed_evaluate(sx_relaxed *relaxed, const sx_relaxed_mapping *mapping);
void sx_relaxed_free(sx_relaxed *relaxed);

/* --- model_window.c --- */

/* The words that one child of a level gets of a tensor. */
sx_real sx_relaxed_handed(sx_relaxed *relaxed, int tensor, int level);
/* Steps of a compute unit at which it does not have the word already, where a neighbour has the same. */
sx_real sx_relaxed_fed(sx_relaxed *relaxed, int tensor);

#endif
