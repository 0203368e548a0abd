/* The critic of EGRL's learner.
 *
 * Source: EGRL (ICLR 2021), appendix D: a Q-network with two heads, whose lower one counts. Its layers are not said:
 * a dense layer, or some layers of graph attention, read each node (its features, the actions of its two tensors, the
 * mean of the actions of its inputs), the mean over all nodes goes to two heads of two dense layers.
 *
 * Complexity: O(batch * nodes * WIDTH * numbers of a node). */
#include "placement/critic.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 64 };

/* Makes the trunk, and the passes over it. */
static sx_status make_trunk(sx_critic *critic, unsigned attention) {
    const sx_actor *actor = critic->actor;
    sx_nn_plan plan[2 * SX_CRITIC_MAX_ATTENTION + 2];
    size_t n = 0;
    for (unsigned i = 0; i < (attention ? attention : 1); i++) {
        plan[n++] = (sx_nn_plan){attention ? SX_NN_ATTENTION : SX_NN_DENSE, WIDTH};
        plan[n++] = (sx_nn_plan){.kind = SX_NN_RELU};
    }
    SX_TRY(sx_nn_new((uint32_t)critic->width, plan, n, &critic->trunk));
    if (!attention)
        return sx_nn_pass_new(critic->trunk, actor->engine, critic->batch * actor->space->graph.n_nodes,
                              &critic->trunk_pass);
    SX_TRY(sx_actor_graph(actor->space, critic->batch, &critic->graph));
    SX_TRY(sx_nn_pass_new_on(critic->trunk, actor->engine, critic->graph, &critic->trunk_pass));
    return sx_nn_pass_new_on(critic->trunk, actor->engine, actor->graph, &critic->one_pass);
}

sx_status sx_critic_init(const sx_actor *actor, size_t batch, unsigned attention, sx_critic *out) {
    size_t nodes = actor->space->graph.n_nodes, memories = actor->space->chip.n_memories;
    *out = (sx_critic){.actor = actor, .batch = batch, .width = SX_ACTOR_INPUTS + 3 * memories};
    const uint32_t head[] = {WIDTH, WIDTH, 1};
    sx_status status = make_trunk(out, attention);
    for (int h = 0; h < 2 && !status; h++) {
        status = sx_nn_new_mlp(head, 3, SX_NN_RELU, SX_NN_KINDS, &out->head[h]);
        if (!status) status = sx_nn_pass_new(out->head[h], actor->engine, batch, &out->head_pass[h]);
    }
    if (!status) {
        out->n_parameters = out->trunk->n_parameters + 2 * out->head[0]->n_parameters;
        size_t pooled = batch * WIDTH, numbers = batch * nodes * out->width;
        out->node =
            calloc(numbers + nodes * out->width + 2 * pooled + batch * nodes * WIDTH + out->n_parameters + 1,
                   sizeof *out->node);
        if (!out->node) status = sx_error_memory();
    }
    if (status) {
        sx_critic_fini(out);
        return status;
    }
    out->by_node = out->node + batch * nodes * out->width;
    out->pooled = out->by_node + nodes * out->width;
    out->by_pooled = out->pooled + batch * WIDTH;
    out->by_hidden = out->by_pooled + batch * WIDTH;
    out->gradient = out->by_hidden + batch * nodes * WIDTH;
    for (size_t i = 0; i < batch * nodes; i++)
        memcpy(out->node + i * out->width, actor->input + i % nodes * SX_ACTOR_INPUTS,
               SX_ACTOR_INPUTS * sizeof *out->node);
    return SX_OK;
}

void sx_critic_fini(sx_critic *critic) {
    sx_nn_pass_free(critic->trunk_pass);
    sx_nn_pass_free(critic->one_pass);
    sx_nn_graph_free(critic->graph);
    sx_nn_free(critic->trunk);
    for (int h = 0; h < 2; h++) {
        sx_nn_pass_free(critic->head_pass[h]);
        sx_nn_free(critic->head[h]);
    }
    free(critic->node);
    *critic = (sx_critic){0};
}

void sx_critic_bind(sx_critic *critic, float *parameter) {
    critic->trunk->parameter = parameter;
    for (int h = 0; h < 2; h++)
        critic->head[h]->parameter =
            parameter + critic->trunk->n_parameters + (size_t)h * critic->head[0]->n_parameters;
}

void sx_critic_draw(sx_critic *critic, uint64_t seed, float *parameter) {
    sx_critic_bind(critic, parameter);
    sx_nn_initialise(critic->trunk, SX_NN_HE, 3 * seed);
    for (unsigned h = 0; h < 2; h++) sx_nn_initialise(critic->head[h], SX_NN_HE, 3 * seed + 1 + h);
}

void sx_critic_set(sx_critic *critic, size_t i, const float *action) {
    const sx_place_graph *graph = &critic->actor->space->graph;
    size_t memories = critic->actor->space->chip.n_memories;
    for (size_t k = 0; k < graph->n_nodes; k++) {
        const sx_place_node *node = &graph->node[k];
        float *to = critic->node + (i * graph->n_nodes + k) * critic->width + SX_ACTOR_INPUTS,
              *mean = to + 2 * memories;
        memcpy(to, action + 2 * k * memories, 2 * memories * sizeof *to);
        memset(mean, 0, memories * sizeof *mean);
        for (size_t e = 0; e < node->n_inputs; e++) {
            const float *from = action + (2 * graph->input[node->first_input + e] + 1) * memories;
            for (size_t m = 0; m < memories; m++) mean[m] += from[m] / (float)node->n_inputs;
        }
    }
}

/* The pass of the trunk over n actions. */
static sx_nn_pass *pass_of(const sx_critic *critic, size_t n) {
    return critic->one_pass && n == 1 ? critic->one_pass : critic->trunk_pass;
}

/* Reads n actions, the batch or one: the means of the hidden numbers over all nodes. False when memory is out. */
static bool pool_actions(sx_critic *critic, size_t n) {
    size_t nodes = critic->actor->space->graph.n_nodes;
    const float *hidden = sx_nn_forward(pass_of(critic, n), critic->node, n * nodes);
    if (!hidden) return false;
    memset(critic->pooled, 0, n * WIDTH * sizeof *critic->pooled);
    for (size_t i = 0; i < n * nodes; i++)
        for (size_t j = 0; j < WIDTH; j++)
            critic->pooled[i / nodes * WIDTH + j] += hidden[i * WIDTH + j] / (float)nodes;
    return true;
}

/* Spreads the gradient of n means over the nodes. */
static void spread_gradient(sx_critic *critic, size_t n) {
    size_t nodes = critic->actor->space->graph.n_nodes;
    for (size_t i = 0; i < n * nodes; i++)
        for (size_t j = 0; j < WIDTH; j++)
            critic->by_hidden[i * WIDTH + j] = critic->by_pooled[i / nodes * WIDTH + j] / (float)nodes;
}

bool sx_critic_error(sx_critic *critic, const float *wanted, double *out) {
    size_t n = critic->batch, own = critic->head[0]->n_parameters;
    float *by_value = critic->by_hidden, *by_mean = critic->by_hidden + n;
    double sum = 0;
    if (!pool_actions(critic, n)) return false;
    memset(critic->by_pooled, 0, n * WIDTH * sizeof *critic->by_pooled);
    for (size_t h = 0; h < 2; h++) {
        const float *value = sx_nn_forward(critic->head_pass[h], critic->pooled, n);
        for (size_t i = 0; i < n; i++) {
            float error = value[i] - wanted[i];
            sum += (double)error * (double)error;
            by_value[i] = 2 * error / (float)n;
        }
        sx_nn_backward(critic->head_pass[h], by_value,
                       critic->gradient + critic->trunk->n_parameters + h * own, by_mean);
        for (size_t i = 0; i < n * WIDTH; i++) critic->by_pooled[i] += by_mean[i];
    }
    spread_gradient(critic, n);
    sx_nn_backward(pass_of(critic, n), critic->by_hidden, critic->gradient, NULL);
    *out = sum / (double)(2 * n);
    return true;
}

bool sx_critic_value(sx_critic *critic, float *by_action, double *out) {
    const sx_place_graph *graph = &critic->actor->space->graph;
    size_t memories = critic->actor->space->chip.n_memories;
    if (!pool_actions(critic, 1)) return false;
    float value[2];
    for (int h = 0; h < 2; h++) value[h] = *sx_nn_forward(critic->head_pass[h], critic->pooled, 1);
    int lower = value[1] < value[0];
    sx_nn_backward(critic->head_pass[lower], &(float){1}, NULL, critic->by_pooled);
    spread_gradient(critic, 1);
    sx_nn_backward(pass_of(critic, 1), critic->by_hidden, NULL, critic->by_node);
    memset(by_action, 0, 2 * graph->n_nodes * memories * sizeof *by_action);
    for (size_t k = 0; k < graph->n_nodes; k++) {
        const sx_place_node *node = &graph->node[k];
        const float *by = critic->by_node + k * critic->width + SX_ACTOR_INPUTS, *mean = by + 2 * memories;
        for (size_t m = 0; m < 2 * memories; m++) by_action[2 * k * memories + m] += by[m];
        for (size_t e = 0; e < node->n_inputs; e++) {
            float *to = by_action + (2 * graph->input[node->first_input + e] + 1) * memories;
            for (size_t m = 0; m < memories; m++) to[m] += mean[m] / (float)node->n_inputs;
        }
    }
    *out = (double)value[lower];
    return true;
}
