/* The settings of `gradient`, and its searches. */
#ifndef SX_MAPPERS_GRADIENT_H
#define SX_MAPPERS_GRADIENT_H

#include "run/navigator.h"

enum {
    SX_GRADIENT_BY,
    SX_GRADIENT_SURROGATE,
    SX_GRADIENT_PRINTED,
    SX_GRADIENT_PUBLISHED,
    SX_GRADIENT_DIRECTION,
    SX_GRADIENT_SCREEN,
    SX_GRADIENT_RATE,
    SX_GRADIENT_INJECTION,
    SX_GRADIENT_CANDIDATES,
    SX_GRADIENT_NEAR,
    SX_GRADIENT_LENGTH,
    SX_GRADIENT_CHAINS,
    SX_GRADIENT_VICTORY,
    SX_GRADIENT_FIT,
    SX_GRADIENT_STEPS,
    SX_GRADIENT_STEP,
    SX_GRADIENT_SETTINGS
};

/* Writes a legal point some random moves away from another; `scratch` has room for a point. */
void sx_gradient_move(const sx_space *space, sx_rng *rng, const void *from, void *point, void *scratch);

/* Searches by the gradient of a surrogate. */
SX_MUST_USE sx_status sx_gradient_by_surrogate(sx_run *run);

/* Searches by the gradient of the cost model over real factors. */
SX_MUST_USE sx_status sx_gradient_by_model(sx_run *run);

#endif
