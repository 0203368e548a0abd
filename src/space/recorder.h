/* A model in front of another one that remembers the points that were scored: the points that a search has visited. */
#ifndef SX_SPACE_RECORDER_H
#define SX_SPACE_RECORDER_H

#include "sextant/space_type.h"

typedef struct sx_recorder sx_recorder;

/* A recorder in front of a model (NULL: the one that the space comes with) for the points of a space, which
 * must outlive it. It remembers at most `room` different legal points:
 * all while they fit, beyond that a sample of them that does not depend on the order in which they came. */
SX_MUST_USE sx_status sx_recorder_new(const sx_space *space, const sx_point_model *inner, size_t room,
                                      SX_OWN sx_recorder **out);
void sx_recorder_free(SX_TAKE sx_recorder *recorder);

/* The model to search with instead of the inner one; it lives as long as the recorder. */
const sx_point_model *sx_recorder_model(const sx_recorder *recorder);

/* Remembered point number `index` and its value by the objective it was scored for, in an order that depends
 * on the points alone; NULL past the last. Only while no search is under way. */
const void *sx_recorder_point(sx_recorder *recorder, size_t index, double *value);

#endif
