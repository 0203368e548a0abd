/* A small training run with every kind of layer, loss and optimizer, whose result has the same bits on every machine and for
 * every number of threads. */
#ifndef SX_TEST_LEARN_STATE_H
#define SX_TEST_LEARN_STATE_H

#include "learn/matrix.h"

#include <stdint.h>

/* The hash that the run must end with. */
#define SX_LEARN_STATE UINT64_C(0x9725e588df841f41)

/* Trains and hashes parameters, optimizer states, outputs and gradients. Zero threads: no pool. */
SX_MUST_USE sx_status sx_learn_state(sx_matrix_backend backend, unsigned threads, uint64_t *out);

#endif
