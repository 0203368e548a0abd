/* A policy that is a Graph U-Net: from the features of a graph's nodes to a distribution over the memories for each
 * tensor. It suits every graph, and every chip with as many memories. */
#ifndef SX_PLACEMENT_ACTOR_H
#define SX_PLACEMENT_ACTOR_H

#include "learn/graph.h"
#include "placement/place.h"

/* Features of a node: those of the paper's Table 1, the operation as one of its classes. */
enum { SX_ACTOR_INPUTS = SX_N_PLACE_FEATURES - 1 + SX_N_OP_CLASSES };
enum { SX_ACTOR_MAX_CHANNELS = 64, SX_ACTOR_MAX_DEPTH = 6 };

typedef struct sx_actor {
    const sx_placement_space *space;
    sx_nn *net; /* its parameters are those of the last run */
    float *own; /* those that it was made with */
    sx_nn_graph *graph;
    sx_matrix_engine *engine;
    sx_nn_pass *pass;
    float *input;       /* nodes x SX_ACTOR_INPUTS */
    float *probability; /* tensors x memories, of the last run */
    float *by_logit;    /* the gradient with respect to the logits */
} sx_actor;

/* A network for a space: channels of each of its heads, pools. sx_actor_fini frees it, also one half made. */
SX_MUST_USE sx_status sx_actor_init(const sx_placement_space *space, uint32_t channels, unsigned depth,
                                    sx_actor *out);
void sx_actor_fini(sx_actor *actor);

/* The graph of a space's nodes, several times side by side. */
SX_MUST_USE sx_status sx_actor_graph(const sx_placement_space *space, size_t copies,
                                     SX_OWN sx_nn_graph **out);

/* Draws parameters; the slowest memory is preferred by `lean`. */
void sx_actor_draw(sx_actor *actor, double lean, uint64_t seed, float *parameter);

/* Computes the distributions of some parameters, which must stay until sx_actor_learn; false when memory is out. */
bool sx_actor_run(sx_actor *actor, const float *parameter);

/* The most probable placement of the last run, that of its probabilities with normal noise of a deviation, or one drawn. */
void sx_actor_greedy(const sx_actor *actor, uint8_t *placement);
void sx_actor_disturb(const sx_actor *actor, sx_rng *rng, double deviation, uint8_t *placement);
void sx_actor_sample(const sx_actor *actor, sx_rng *rng, uint8_t *placement);

/* The parameters' gradient from that of the probabilities, tensors x memories, and of weight * mean entropy, of the
 * last run. */
void sx_actor_backward(sx_actor *actor, const float *by_probability, double entropy, float *gradient);

/* Writes parameters as a weight file, and reads one; an error where it is not the policy of chips like that of the
 * space. */
SX_MUST_USE sx_status sx_actor_write(const sx_actor *actor, const float *parameter, const char *path);
SX_MUST_USE sx_status sx_actor_read(const sx_placement_space *space, const char *path, sx_actor *out);

#endif
