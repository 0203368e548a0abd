#include "navigators/ddpg/agent.h"

#include "learn/net.h"
#include "learn/optimizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A network with its target, its optimizer and room for a batch. */
typedef struct learner {
    sx_nn *net, *target;
    sx_optimizer *adam;
    sx_nn_pass *pass, *target_pass;
    float *gradient;
} learner;

struct sx_agent {
    sx_agent_options options;
    sx_matrix_engine *engine;
    learner actor, critic;
    float *pair;     /* batch x 2 n: states beside actions */
    float *by_pair;  /* the gradient with respect to it */
    float *by_value; /* batch: that with respect to the critic's output */
    float *by_action;
    float *wanted; /* batch: what the critic should say */
};

/* Makes the last layer's weights small, so that the first actions are near the middle. */
static void shrink_last(sx_nn *net) {
    uint32_t i = net->n_layers;
    while (net->layer[--i].kind != SX_NN_DENSE) {
    }
    const sx_nn_layer *last = &net->layer[i];
    for (size_t k = 0; k < last->n_parameters; k++) net->parameter[last->first + k] *= 0.1f;
}

/* Makes a network, its target and what training it needs. */
static sx_status learner_init(learner *l, const sx_agent *agent, uint32_t inputs, uint32_t outputs,
                              sx_nn_kind last, uint64_t seed) {
    const sx_agent_options *o = &agent->options;
    const uint32_t width[] = {inputs, o->width, o->width, outputs};
    const sx_optimizer_options adam = sx_optimizer_defaults(SX_ADAM);
    SX_TRY(sx_nn_new_mlp(width, 4, SX_NN_RELU, last, &l->net));
    sx_nn_initialise(l->net, SX_NN_HE, seed);
    shrink_last(l->net);
    SX_TRY(sx_nn_copy(l->net, &l->target));
    SX_TRY(sx_optimizer_new(&adam, l->net->n_parameters, &l->adam));
    SX_TRY(sx_nn_pass_new(l->net, agent->engine, o->batch, &l->pass));
    SX_TRY(sx_nn_pass_new(l->target, agent->engine, o->batch, &l->target_pass));
    l->gradient = calloc(l->net->n_parameters, sizeof *l->gradient);
    return l->gradient ? SX_OK : sx_error_memory();
}

static void learner_fini(learner *l) {
    sx_nn_pass_free(l->pass);
    sx_nn_pass_free(l->target_pass);
    sx_optimizer_free(l->adam);
    sx_nn_free(l->net);
    sx_nn_free(l->target);
    free(l->gradient);
}

sx_status sx_agent_new(const sx_agent_options *options, sx_agent **out) {
    sx_agent *agent = calloc(1, sizeof *agent);
    if (!agent) return sx_error_memory();
    agent->options = *options;
    size_t batch = options->batch, n = options->n;
    agent->pair = calloc(batch * (5 * n + 2), sizeof *agent->pair);
    sx_status status =
        agent->pair ? sx_matrix_engine_new(SX_MATRIX_OWN, NULL, &agent->engine) : sx_error_memory();
    if (!status)
        status = learner_init(&agent->actor, agent, options->n, options->n, SX_NN_SIGMOID, 2 * options->seed);
    if (!status)
        status = learner_init(&agent->critic, agent, 2 * options->n, 1, SX_NN_KINDS, 2 * options->seed + 1);
    if (status) {
        sx_agent_free(agent);
        return status;
    }
    agent->by_pair = agent->pair + batch * 2 * n;
    agent->by_action = agent->by_pair + batch * 2 * n;
    agent->by_value = agent->by_action + batch * n;
    agent->wanted = agent->by_value + batch;
    *out = agent;
    return SX_OK;
}

void sx_agent_free(sx_agent *agent) {
    if (!agent) return;
    learner_fini(&agent->actor);
    learner_fini(&agent->critic);
    sx_matrix_engine_free(agent->engine);
    free(agent->pair);
    free(agent);
}

void sx_agent_act(sx_agent *agent, const float *states, size_t n, float *actions) {
    const float *out = sx_nn_forward(agent->actor.pass, states, n);
    memcpy(actions, out, n * agent->options.n * sizeof *actions);
}

/* Lays states and actions side by side. */
static void pair_up(sx_agent *agent, const float *states, const float *actions) {
    size_t n = agent->options.n;
    for (size_t i = 0; i < agent->options.batch; i++) {
        memcpy(agent->pair + 2 * n * i, states + n * i, n * sizeof *states);
        memcpy(agent->pair + 2 * n * i + n, actions + n * i, n * sizeof *actions);
    }
}

/* A step of Adam along the gradient. */
static void take_step(const sx_agent *agent, learner *l, float rate) {
    sx_optimizer_step(l->adam, agent->engine, l->net->parameter, l->gradient, rate);
    sx_nn_blend(l->target, l->net, agent->options.tau);
}

/* What the critic should say of the transitions. */
static void set_wanted(sx_agent *agent, const sx_transitions *batch) {
    const sx_agent_options *o = &agent->options;
    pair_up(agent, batch->next, sx_nn_forward(agent->actor.target_pass, batch->next, o->batch));
    const float *next = sx_nn_forward(agent->critic.target_pass, agent->pair, o->batch);
    for (size_t i = 0; i < o->batch; i++)
        agent->wanted[i] = batch->reward[i] + (1 - batch->last[i]) * o->discount * next[i];
}

/* Trains the critic; returns its mean squared error. */
static double train_critic(sx_agent *agent, const sx_transitions *batch) {
    const sx_agent_options *o = &agent->options;
    double sum = 0;
    pair_up(agent, batch->state, batch->action);
    const float *value = sx_nn_forward(agent->critic.pass, agent->pair, o->batch);
    for (size_t i = 0; i < o->batch; i++) {
        float error = value[i] - agent->wanted[i];
        agent->by_value[i] = 2 * error / (float)o->batch;
        sum += (double)error * error;
    }
    sx_nn_backward(agent->critic.pass, agent->by_value, agent->critic.gradient, NULL);
    take_step(agent, &agent->critic, o->critic_rate);
    return sum / (double)o->batch;
}

/* Trains the actor: up the critic's value of its actions. */
static void train_actor(sx_agent *agent, const sx_transitions *batch) {
    const sx_agent_options *o = &agent->options;
    size_t n = o->n;
    pair_up(agent, batch->state, sx_nn_forward(agent->actor.pass, batch->state, o->batch));
    sx_nn_forward(agent->critic.pass, agent->pair, o->batch);
    for (size_t i = 0; i < o->batch; i++) agent->by_value[i] = -1 / (float)o->batch;
    sx_nn_backward(agent->critic.pass, agent->by_value, NULL, agent->by_pair);
    for (size_t i = 0; i < o->batch; i++)
        memcpy(agent->by_action + n * i, agent->by_pair + 2 * n * i + n, n * sizeof *agent->by_action);
    sx_nn_backward(agent->actor.pass, agent->by_action, agent->actor.gradient, NULL);
    take_step(agent, &agent->actor, o->actor_rate);
}

double sx_agent_learn(sx_agent *agent, const sx_transitions *batch) {
    set_wanted(agent, batch);
    double error = train_critic(agent, batch);
    train_actor(agent, batch);
    return error;
}

/* Copies n numbers out of a block, or into it where `in` is given; moves past them. */
static void copy_numbers(float **out, const float **in, float *numbers, size_t n) {
    if (out) {
        memcpy(*out, numbers, n * sizeof *numbers);
        *out += n;
    } else {
        memcpy(numbers, *in, n * sizeof *numbers);
        *in += n;
    }
}

/* The steps that an optimizer has made, as two numbers that hold them exactly. */
static void copy_steps(float **out, const float **in, uint64_t *steps) {
    float part[] = {(float)(*steps >> 20 & 0xfffff), (float)(*steps & 0xfffff)};
    copy_numbers(out, in, part, 2);
    if (in) *steps = (uint64_t)part[0] << 20 | (uint64_t)part[1];
}

/* Copies all numbers of a network, its target and its optimizer. */
static void copy_learner(float **out, const float **in, const learner *l) {
    copy_numbers(out, in, l->net->parameter, l->net->n_parameters);
    copy_numbers(out, in, l->target->parameter, l->net->n_parameters);
    copy_numbers(out, in, l->adam->state, l->adam->n_state);
    copy_steps(out, in, &l->adam->steps);
}

size_t sx_agent_size(const sx_agent *agent) {
    const learner *all[] = {&agent->actor, &agent->critic};
    size_t n = 0;
    for (int i = 0; i < 2; i++) n += 2 * all[i]->net->n_parameters + all[i]->adam->n_state + 2;
    return n;
}

void sx_agent_write(const sx_agent *agent, float *out) {
    copy_learner(&out, NULL, &agent->actor);
    copy_learner(&out, NULL, &agent->critic);
}

bool sx_agent_read(sx_agent *agent, const float *in) {
    size_t n = sx_agent_size(agent), actor = 2 * agent->actor.net->n_parameters + agent->actor.adam->n_state;
    for (size_t i = 0; i < n; i++) {
        bool count = i == actor || i == actor + 1 || i + 2 >= n;
        if (!isfinite(in[i]) || (count && !(in[i] >= 0 && in[i] < 0x1p20f))) return false;
    }
    copy_learner(NULL, &in, &agent->actor);
    copy_learner(NULL, &in, &agent->critic);
    return true;
}
