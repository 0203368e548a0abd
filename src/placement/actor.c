/* The Graph U-Net of EGRL.
 *
 * Source: EGRL (ICLR 2021), section 3, Tables 1 and 2: hidden layers 128 wide, 4 attention heads, depth 4; Graph U-Nets
 * (ICML 2019). Where the paper is silent: attention is that of Graph Attention Networks (ICLR 2018), in the place of
 * the graph convolutions; edges count in both directions; a pool keeps half of the nodes; skip connections add;
 * sizes and counts x enter as log2(1 + x) / 16, so that features of all graphs have one scale; the operation is one-hot;
 * a dense layer turns the 128 outputs of a node into logits of the memories of its weights and of its output. The
 * state is the graph alone: with one step per episode the mapping before it is always the same.
 *
 * Complexity: per run O(nodes * width^2 + edges * width), edges of pooled graphs included. */
#include "placement/actor.h"

#include "base/status.h"
#include "base/text.h"
#include "learn/elementary.h"
#include "learn/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char TEXT[] = "policy of placements";
static const double LN2 = 0.69314718055994531;

/* Fills in the features of all nodes. */
static void set_inputs(const sx_placement_space *space, float *input) {
    for (size_t i = 0; i < space->graph.n_nodes; i++, input += SX_ACTOR_INPUTS) {
        const sx_place_node *node = &space->graph.node[i];
        for (size_t f = 1; f < SX_N_PLACE_FEATURES; f++)
            input[f - 1] = (float)(sx_log(1 + node->feature[f]) / LN2 / 16);
        input[SX_N_PLACE_FEATURES - 1 + node->op] = 1;
    }
}

sx_status sx_actor_graph(const sx_placement_space *space, size_t copies, sx_nn_graph **out) {
    size_t nodes = space->graph.n_nodes, n = 0;
    uint32_t(*edge)[2] = calloc(copies * space->graph.n_edges + 1, sizeof *edge);
    if (!edge) return sx_error_memory();
    for (size_t i = 0; i < copies * nodes; i++) {
        const sx_place_node *node = &space->graph.node[i % nodes];
        for (size_t k = 0; k < node->n_inputs; k++, n++) {
            edge[n][0] = (uint32_t)(i / nodes * nodes + space->graph.input[node->first_input + k]);
            edge[n][1] = (uint32_t)i;
        }
    }
    sx_status status = sx_nn_graph_new(copies * nodes, (const uint32_t(*)[2])edge, n, out);
    free(edge);
    return status;
}

/* Makes what a network, which it takes over, needs to run. */
static sx_status init_with(const sx_placement_space *space, SX_TAKE sx_nn *net, sx_actor *out) {
    size_t n = space->graph.n_nodes, logits = space->n_tensors * space->chip.n_memories;
    *out = (sx_actor){.space = space, .net = net, .own = net->parameter};
    out->input = calloc(n * SX_ACTOR_INPUTS + 2 * logits + 1, sizeof *out->input);
    sx_status status = out->input ? sx_actor_graph(space, 1, &out->graph) : sx_error_memory();
    if (!status) status = sx_matrix_engine_new(SX_MATRIX_OWN, NULL, &out->engine);
    if (!status) status = sx_nn_pass_new_on(net, out->engine, out->graph, &out->pass);
    if (status) {
        sx_actor_fini(out);
        return status;
    }
    out->probability = out->input + n * SX_ACTOR_INPUTS;
    out->by_logit = out->probability + logits;
    set_inputs(space, out->input);
    return SX_OK;
}

sx_status sx_actor_init(const sx_placement_space *space, uint32_t channels, unsigned depth, sx_actor *out) {
    sx_nn *net;
    *out = (sx_actor){0};
    SX_TRY(sx_nn_new_unet(SX_ACTOR_INPUTS, channels * SX_NN_HEADS, depth,
                          (uint32_t)(2 * space->chip.n_memories), &net));
    return init_with(space, net, out);
}

void sx_actor_fini(sx_actor *actor) {
    sx_nn_pass_free(actor->pass);
    sx_matrix_engine_free(actor->engine);
    sx_nn_graph_free(actor->graph);
    sx_nn_free(actor->net);
    free(actor->input);
    *actor = (sx_actor){0};
}

void sx_actor_draw(sx_actor *actor, double lean, uint64_t seed, float *parameter) {
    size_t memories = actor->space->chip.n_memories, n = actor->net->n_parameters;
    actor->net->parameter = parameter;
    sx_nn_initialise(actor->net, SX_NN_XAVIER, seed);
    for (size_t k = 0; k < 2; k++) parameter[n - (2 - k) * memories] = (float)lean;
}

/* The distribution of a tensor; logits that are too far from 0 or no numbers are taken for ones that are not. */
static void soften_logits(const float *logit, float *probability, size_t n) {
    double weight[SX_MAX_MEMORIES], sum = 0, most = -50;
    for (size_t m = 0; m < n; m++) {
        weight[m] = fmin(fmax(isnan(logit[m]) ? 0 : (double)logit[m], -50), 50);
        most = fmax(most, weight[m]);
    }
    for (size_t m = 0; m < n; m++) sum += weight[m] = sx_exp(weight[m] - most);
    for (size_t m = 0; m < n; m++) probability[m] = (float)(weight[m] / sum);
}

bool sx_actor_run(sx_actor *actor, const float *parameter) {
    size_t n = actor->space->chip.n_memories;
    actor->net->parameter = (float *)(uintptr_t)parameter;
    const float *logit = sx_nn_forward(actor->pass, actor->input, actor->space->graph.n_nodes);
    if (!logit) return false;
    for (size_t t = 0; t < actor->space->n_tensors; t++)
        soften_logits(logit + t * n, actor->probability + t * n, n);
    return true;
}

void sx_actor_disturb(const sx_actor *actor, sx_rng *rng, double deviation, uint8_t *placement) {
    const sx_space *space = &actor->space->space;
    size_t n = actor->space->chip.n_memories;
    memset(placement, 0, space->point_size);
    for (size_t g = 0; g < space->n_genes; g++) {
        const float *p = actor->probability + (size_t)space->gene[g].which * n;
        size_t best = 0;
        double most = -INFINITY;
        for (size_t m = 0; m < n; m++) {
            double score = (double)p[m] + (deviation > 0 ? deviation * sx_normal(rng) : 0);
            if (score > most) best = m, most = score;
        }
        placement[space->gene[g].which] = (uint8_t)best;
    }
}

void sx_actor_greedy(const sx_actor *actor, uint8_t *placement) {
    sx_actor_disturb(actor, NULL, 0, placement);
}

void sx_actor_sample(const sx_actor *actor, sx_rng *rng, uint8_t *placement) {
    const sx_space *space = &actor->space->space;
    size_t n = actor->space->chip.n_memories;
    memset(placement, 0, space->point_size);
    for (size_t g = 0; g < space->n_genes; g++) {
        const float *p = actor->probability + (size_t)space->gene[g].which * n;
        double at = sx_rng_double(rng);
        size_t m = 0;
        for (; m + 1 < n && at >= (double)p[m]; m++) at -= (double)p[m];
        placement[space->gene[g].which] = (uint8_t)m;
    }
}

void sx_actor_backward(sx_actor *actor, const float *by_probability, double entropy, float *gradient) {
    size_t n = actor->space->chip.n_memories, tensors = actor->space->n_tensors;
    for (size_t t = 0; t < tensors; t++) {
        const float *p = actor->probability + t * n;
        double by[SX_MAX_MEMORIES], mean = 0;
        for (size_t m = 0; m < n; m++) {
            double logarithm = sx_log(fmax((double)p[m], 1e-30));
            by[m] = (double)by_probability[t * n + m] - entropy * (logarithm + 1) / (double)tensors;
            mean += (double)p[m] * by[m];
        }
        for (size_t m = 0; m < n; m++)
            actor->by_logit[t * n + m] = actor->space->size[t] ? (float)((double)p[m] * (by[m] - mean)) : 0;
    }
    sx_nn_backward(actor->pass, actor->by_logit, gradient, NULL);
}

sx_status sx_actor_write(const sx_actor *actor, const float *parameter, const char *path) {
    sx_nn net = *actor->net;
    sx_text text = {0};
    net.parameter = (float *)(uintptr_t)parameter;
    sx_text_add(&text, "%s; trained on %s, %s", TEXT, actor->space->graph.name, actor->space->chip.name);
    sx_status status = text.failed ? sx_error_memory()
                                   : sx_weights_write(path, &(sx_weights){.net = &net, .text = text.data});
    sx_text_free(&text);
    return status;
}

sx_status sx_actor_read(const sx_placement_space *space, const char *path, sx_actor *out) {
    sx_weights w;
    *out = (sx_actor){0};
    SX_TRY(sx_weights_read(path, &w));
    sx_status status = SX_OK;
    if (strncmp(w.text, TEXT, sizeof TEXT - 1) != 0 || w.net->inputs != SX_ACTOR_INPUTS)
        status = sx_error_hint(
            sx_error_at((sx_place){.file = path}, "these weights are not a policy of placements"),
            "`sextant place --method egrl --save-policy FILE` trains and writes one");
    else if (w.net->outputs != 2 * space->chip.n_memories)
        status = sx_error_at((sx_place){.file = path}, "this policy is for a chip of %u memories; %s has %zu",
                             w.net->outputs / 2, space->chip.name, space->chip.n_memories);
    sx_nn *net = w.net;
    if (!status) w.net = NULL;
    sx_weights_fini(&w);
    if (!status) status = sx_error_place(init_with(space, net, out), (sx_place){.file = path});
    return status;
}
