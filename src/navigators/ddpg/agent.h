/* An actor and a critic that learn from transitions: deep deterministic policy gradient (Lillicrap et al., ICLR 2016). */
#ifndef SX_NAVIGATORS_DDPG_AGENT_H
#define SX_NAVIGATORS_DDPG_AGENT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* States and actions are vectors of n numbers, actions from 0 to 1. Actor: n - width - width - n, ReLU and a sigmoid at
 * the end. Critic: state and action - width - width - 1, ReLU. */
typedef struct sx_agent_options {
    uint32_t n, width;
    size_t batch; /* transitions of an update, and the most states to act on at once */
    float actor_rate, critic_rate, tau, discount;
    uint64_t seed;
} sx_agent_options;

typedef struct sx_agent sx_agent;

SX_MUST_USE sx_status sx_agent_new(const sx_agent_options *options, SX_OWN sx_agent **out);
void sx_agent_free(SX_TAKE sx_agent *agent);

/* The actions for some states, at most a batch of them. */
void sx_agent_act(sx_agent *agent, const float *states, size_t n, float *actions);

/* A batch of transitions. */
typedef struct sx_transitions {
    float *state, *action, *next; /* batch x n */
    float *reward, *last;         /* last: 1 where the episode ended, else 0 */
} sx_transitions;

/* One update: the critic towards reward + discount * (what the targets think of the next state), the actor up the
 * critic's gradient, the targets by tau towards them. Both by Adam. Returns the critic's squared error before it. */
double sx_agent_learn(sx_agent *agent, const sx_transitions *batch);

/* The numbers of all networks and optimizers, sx_agent_size of them, out of an agent and back; false where one is not
 * finite. */
size_t sx_agent_size(const sx_agent *agent);
void sx_agent_write(const sx_agent *agent, float *out);
bool sx_agent_read(sx_agent *agent, const float *in);

#endif
