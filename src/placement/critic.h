/* The critic of placements: what reward it expects of actions, distributions over the memories for each tensor. */
#ifndef SX_PLACEMENT_CRITIC_H
#define SX_PLACEMENT_CRITIC_H

#include "learn/net.h"
#include "learn/optimizer.h"
#include "placement/actor.h"

enum { SX_CRITIC_MAX_ATTENTION = 4 };

typedef struct sx_critic {
    const sx_actor *actor; /* whose features and engine it uses */
    size_t batch, width;   /* actions at once; numbers of a node that the trunk reads */
    sx_nn *trunk, *head[2];
    sx_nn_pass *trunk_pass, *head_pass[2];
    sx_nn_graph *graph;   /* as many copies as actions, where the trunk has attention; NULL: it has none */
    sx_nn_pass *one_pass; /* the trunk on one action; NULL: trunk_pass is for any number */
    float *node;          /* batch x nodes x width */
    float *by_node;       /* nodes x width */
    float *pooled, *by_pooled, *by_hidden;
    float *gradient; /* of all parameters: those of the trunk, then those of the heads */
    size_t n_parameters;
} sx_critic;

/* `attention` is the number of layers of graph attention that the trunk has. */
SX_MUST_USE sx_status sx_critic_init(const sx_actor *actor, size_t batch, unsigned attention, sx_critic *out);
void sx_critic_fini(sx_critic *critic);

/* Draws parameters; says where they are from now on. */
void sx_critic_draw(sx_critic *critic, uint64_t seed, float *parameter);
void sx_critic_bind(sx_critic *critic, float *parameter);

/* Sets action number i of the batch, tensors x memories. */
void sx_critic_set(sx_critic *critic, size_t i, const float *action);

/* The gradient of the mean squared error of both heads on the batch, and that error; false when memory is out. */
bool sx_critic_error(sx_critic *critic, const float *wanted, double *error);

/* What the lower of the heads expects of action 0, and the gradient of that with respect to the action; false when memory
 * is out. */
bool sx_critic_value(sx_critic *critic, float *by_action, double *value);

#endif
