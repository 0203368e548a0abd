/* Scoring every mapping of a space of any kind. */
#ifndef SX_SESSION_EVERYWHERE_H
#define SX_SESSION_EVERYWHERE_H

#include "gpu/gpu.h"
#include "sextant/error.h"

/* How to look at all mappings of a space without a GPU. */
typedef struct sx_everywhere_options {
    double limit;       /* refuse spaces of more mappings that differ in cost */
    double model_limit; /* the same where the cost model must score them one by one */
    unsigned threads;   /* of the cost model; 0: 1 */
    const sx_cancel *cancel;
    /* Told how much of all is done, in factorisations or mappings, and the best value so far. May be NULL. */
    void (*progress)(void *user, uint64_t done, uint64_t all, bool mappings, double best);
    void *user;
} sx_everywhere_options;

/* Scores every mapping of a space, those that no cost tells apart once: by the functions of the GPU on one core where they
 * cover the space, otherwise by the cost model, one mapping after another. An error where the space is too large. */
SX_MUST_USE sx_status sx_look_everywhere(const sx_space *space, const sx_objective *objective,
                                         const sx_everywhere_options *options, sx_gpu_look_answer *out);

#endif
