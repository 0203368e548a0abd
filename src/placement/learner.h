/* The policy-gradient learner: soft actor-critic for many discrete actions at once. */
#ifndef SX_PLACEMENT_LEARNER_H
#define SX_PLACEMENT_LEARNER_H

#include "placement/actor.h"

typedef struct sx_learner_options {
    size_t batch;                           /* transitions of an update */
    float actor_rate, critic_rate, entropy; /* learning rates; weight of the entropy */
    float noise, clip;                      /* deviation and limit of the noise on actions */
    unsigned attention;                     /* layers of graph attention of the critic; 0: a dense layer */
} sx_learner_options;

typedef struct sx_learner sx_learner;

/* A learner for the parameters of an actor, which must outlive it. */
SX_MUST_USE sx_status sx_learner_new(const sx_learner_options *options, sx_actor *actor,
                                     SX_OWN sx_learner **out);
void sx_learner_free(SX_TAKE sx_learner *learner);

/* All numbers that it remembers lie in a block of the caller's: the actor's parameters first, then those of the critic
 * and of the optimizers; and the steps of both optimizers. The block may move. */
size_t sx_learner_size(const sx_learner *learner);
void sx_learner_bind(sx_learner *learner, float *numbers, uint64_t steps[2]);

/* Draws the critic's numbers; the actor's are the caller's. */
void sx_learner_draw(sx_learner *learner, uint64_t seed);

/* One update by a batch of placements and their rewards; false when memory is out. An update whose gradient
 * is not finite changes nothing. */
bool sx_learner_update(sx_learner *learner, sx_rng *rng, const uint8_t *const *placement,
                       const float *reward);

#endif
