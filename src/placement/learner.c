/* Soft actor-critic as EGRL modifies it.
 *
 * Source: EGRL (ICLR 2021), appendix D and Algorithm 2, lines 22 to 31. The critic learns the rewards of stored actions,
 * each the one-hot vectors of a placement plus clipped normal noise; the actor goes up the lower head's value of its
 * distributions, plus the entropy, averaged over all tensors. The noise is that of TD3 (ICML 2018), which the paper
 * builds on: deviation 0.2, limit 0.5; it is a sum of four uniform numbers, fast and normal enough within the limit.
 *
 * What is left out: an episode has one step (Table 2), so the state after it is the end, what is expected of an action is
 * its reward, and neither the discount rate nor target networks, which follow by tau, have any effect.
 *
 * Complexity: an update is one pass of the critic over a batch and one of the actor. */
#include "placement/learner.h"

#include "base/status.h"
#include "learn/optimizer.h"
#include "placement/critic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sx_learner {
    sx_learner_options options;
    sx_actor *actor;
    sx_critic critic;
    sx_optimizer *adam[2]; /* of the actor, of the critic; their states are in the caller's block */
    float *parameter[2];
    uint64_t *steps;
    float *gradient; /* of the actor */
    float *action;   /* tensors x memories */
};

sx_status sx_learner_new(const sx_learner_options *options, sx_actor *actor, sx_learner **out) {
    const sx_optimizer_options adam = sx_optimizer_defaults(SX_ADAM);
    size_t actions = actor->space->n_tensors * actor->space->chip.n_memories;
    sx_learner *learner = calloc(1, sizeof *learner);
    if (!learner) return sx_error_memory();
    learner->options = *options;
    learner->actor = actor;
    learner->gradient = calloc(actor->net->n_parameters + actions, sizeof *learner->gradient);
    sx_status status = learner->gradient
                           ? sx_critic_init(actor, options->batch, options->attention, &learner->critic)
                           : sx_error_memory();
    if (!status) status = sx_optimizer_new(&adam, actor->net->n_parameters, &learner->adam[0]);
    if (!status) status = sx_optimizer_new(&adam, learner->critic.n_parameters, &learner->adam[1]);
    if (status) {
        sx_learner_free(learner);
        return status;
    }
    learner->action = learner->gradient + actor->net->n_parameters;
    *out = learner;
    return SX_OK;
}

void sx_learner_free(sx_learner *learner) {
    if (!learner) return;
    sx_critic_fini(&learner->critic);
    for (int k = 0; k < 2; k++) sx_optimizer_free(learner->adam[k]);
    free(learner->gradient);
    free(learner);
}

size_t sx_learner_size(const sx_learner *learner) {
    size_t n = 0;
    for (int k = 0; k < 2; k++) n += learner->adam[k]->n_parameters + learner->adam[k]->n_state;
    return n;
}

void sx_learner_bind(sx_learner *learner, float *numbers, uint64_t steps[2]) {
    for (int k = 0; k < 2; k++) {
        learner->parameter[k] = numbers;
        numbers += learner->adam[k]->n_parameters;
    }
    for (int k = 0; k < 2; k++) {
        learner->adam[k]->state = numbers;
        numbers += learner->adam[k]->n_state;
    }
    learner->steps = steps;
    sx_critic_bind(&learner->critic, learner->parameter[1]);
}

void sx_learner_draw(sx_learner *learner, uint64_t seed) {
    sx_critic_draw(&learner->critic, seed, learner->parameter[1]);
}

/* A number of mean 0 and deviation 1, near to normal: the sum of four uniform ones of 16 bits. */
static float draw_deviate(sx_rng *rng) {
    uint64_t bits = sx_rng_next(rng);
    uint64_t sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
    return ((float)sum - 131070) * (1.7320508f / 65536);
}

/* Sets a noisy action of the batch. */
static void set_action(sx_learner *learner, sx_rng *rng, size_t i, const uint8_t *placement) {
    const sx_placement_space *space = learner->actor->space;
    size_t memories = space->chip.n_memories;
    float noise = learner->options.noise, clip = learner->options.clip;
    for (size_t t = 0; t < space->n_tensors; t++)
        for (size_t m = 0; m < memories; m++)
            learner->action[t * memories + m] =
                (float)(placement[t] == m) + fminf(fmaxf(noise * draw_deviate(rng), -clip), clip);
    sx_critic_set(&learner->critic, i, learner->action);
}

/* Whether all numbers are finite and not huge, by the bits of their magnitudes. */
static bool all_moderate(const float *x, size_t n) {
    const float huge = 1e15f;
    uint32_t most = 0, limit;
    memcpy(&limit, &huge, sizeof limit);
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bits &= 0x7fffffff;
        most = bits > most ? bits : most;
    }
    return most < limit;
}

/* A step of Adam down a gradient, unless one of its numbers is not finite. */
static void step_adam(sx_learner *learner, int which, const float *gradient, float rate) {
    sx_optimizer *adam = learner->adam[which];
    if (!all_moderate(gradient, adam->n_parameters)) return;
    adam->steps = learner->steps[which];
    sx_optimizer_step(adam, learner->actor->engine, learner->parameter[which], gradient, rate);
    learner->steps[which] = adam->steps;
}

bool sx_learner_update(sx_learner *learner, sx_rng *rng, const uint8_t *const *placement,
                       const float *reward) {
    sx_critic *critic = &learner->critic;
    const sx_learner_options *o = &learner->options;
    double unused;
    size_t actions = learner->actor->space->n_tensors * learner->actor->space->chip.n_memories;
    for (size_t i = 0; i < o->batch; i++) set_action(learner, rng, i, placement[i]);
    if (!sx_critic_error(critic, reward, &unused)) return false;
    step_adam(learner, 1, critic->gradient, o->critic_rate);
    if (!sx_actor_run(learner->actor, learner->parameter[0])) return false;
    sx_critic_set(critic, 0, learner->actor->probability);
    if (!sx_critic_value(critic, learner->action, &unused)) return false;
    for (size_t k = 0; k < actions; k++) learner->action[k] = -learner->action[k];
    sx_actor_backward(learner->actor, learner->action, -(double)o->entropy, learner->gradient);
    step_adam(learner, 0, learner->gradient, o->actor_rate);
    return true;
}
