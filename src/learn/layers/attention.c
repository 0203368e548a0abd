/* Graph attention: with h = x W, split into heads, and per head e_ij = leaky(source . h_i + target . h_j),
 * a_ij = softmax of e_i over the neighbours j of i: y_i = b + sum_j a_ij h_j.
 *
 * Source: Graph Attention Networks (ICLR 2018), equations 1 to 4, heads side by side. */
#include "learn/elementary.h"
#include "learn/graph.h"
#include "learn/layers/layer.h"
#include "learn/vector.h"

#include <math.h>
#include <string.h>

enum { HEADS = SX_NN_HEADS };
static const float SLOPE = 0.2f; /* of the leaky ReLU, as in the paper */

/* Where parameters are in a layer's block. */
typedef struct parts {
    const float *source, *target, *bias;
    size_t inputs, outputs, channels;
} parts;

static parts parts_of(const sx_nn_call *call) {
    parts p = {.inputs = call->layer->inputs, .outputs = call->layer->outputs};
    p.channels = p.outputs / HEADS;
    p.source = call->parameter + p.inputs * p.outputs;
    p.target = p.source + p.outputs;
    p.bias = p.target + p.outputs;
    return p;
}

static size_t n_parameters(size_t inputs, size_t outputs) {
    return inputs * outputs + 3 * outputs;
}

static void initialise_attention(const sx_nn_layer *layer, float *parameter, sx_nn_init init, sx_rng *rng) {
    size_t outputs = layer->outputs;
    sx_nn_draw_weights(parameter, layer->inputs, outputs, init, rng);
    parameter += layer->inputs * outputs;
    double bound = sqrt(6.0 / ((double)outputs / HEADS + 1));
    for (size_t i = 0; i < 2 * outputs; i++) parameter[i] = (float)(bound * (2 * sx_rng_double(rng) - 1));
    memset(parameter + 2 * outputs, 0, outputs * sizeof *parameter);
}

/* The dot product, in four sums that are added at the end. */
static float dot_product(const float *a, const float *b, size_t n) {
    sx_f4 sum = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4) sum += sx_f4_load(a + i) * sx_f4_load(b + i);
    float rest = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    for (; i < n; i++) rest += a[i] * b[i];
    return rest;
}

/* y += factor * x. */
static void add_scaled(float *restrict y, const float *restrict x, float factor, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] += factor * x[i];
}

static float leaky_relu(float x) {
    return x < 0 ? SLOPE * x : x;
}

/* The shares of a node's neighbours, for one head. */
static void share_out(const sx_nn_level *level, const sx_nn_attention *a, size_t i, size_t head) {
    size_t first = level->first[i], last = level->first[i + 1];
    float source = a->source[i * HEADS + head], most = -INFINITY;
    for (size_t e = first; e < last; e++) {
        float score = leaky_relu(source + a->target[level->neighbour[e] * HEADS + head]);
        a->share[e * HEADS + head] = score;
        if (score > most) most = score;
    }
    double sum = 0;
    for (size_t e = first; e < last; e++) {
        double x = sx_exp((double)a->share[e * HEADS + head] - (double)most);
        a->share[e * HEADS + head] = (float)x;
        sum += x;
    }
    for (size_t e = first; e < last; e++)
        a->share[e * HEADS + head] = (float)((double)a->share[e * HEADS + head] / sum);
}

static void forward_attention(const sx_nn_call *call) {
    const sx_nn_level *level = call->level;
    sx_nn_attention *a = call->attention;
    const parts p = parts_of(call);
    const sx_matmul product = {
        .m = call->rows, .n = p.outputs, .k = p.inputs, .a = call->x, .b = call->parameter, .c = a->h};
    if (!sx_nn_attention_room(a, level->first[level->n] * HEADS)) {
        *call->failed = true;
        return;
    }
    sx_matrix_product(call->engine, &product);
    for (size_t i = 0; i < call->rows * HEADS; i++) {
        const float *h = a->h + i * p.channels;
        a->source[i] = dot_product(p.source + i % HEADS * p.channels, h, p.channels);
        a->target[i] = dot_product(p.target + i % HEADS * p.channels, h, p.channels);
    }
    for (size_t i = 0; i < call->rows; i++) {
        float *y = call->y + i * p.outputs;
        for (size_t head = 0; head < HEADS; head++) share_out(level, a, i, head);
        memcpy(y, p.bias, p.outputs * sizeof *y);
        for (size_t e = level->first[i]; e < level->first[i + 1]; e++)
            for (size_t head = 0; head < HEADS; head++)
                add_scaled(y + head * p.channels, a->h + level->neighbour[e] * p.outputs + head * p.channels,
                           a->share[e * HEADS + head], p.channels);
    }
}

/* The gradients of one node's scores in one head, from that of its output; those of h and of the vectors are added
 * to. Shares are overwritten. */
static void backward_node(const sx_nn_call *call, const parts *p, size_t i, size_t head, float *by_target) {
    const sx_nn_level *level = call->level;
    const sx_nn_attention *a = call->attention;
    const float *dy = call->dy + i * p->outputs + head * p->channels;
    size_t offset = head * p->channels;
    float mean = 0, by_source = 0;
    for (size_t e = level->first[i]; e < level->first[i + 1]; e++) {
        size_t at = level->neighbour[e] * p->outputs + offset;
        float share = a->share[e * HEADS + head], by_share = dot_product(dy, a->h + at, p->channels);
        add_scaled(a->dh + at, dy, share, p->channels);
        mean += share * by_share;
    }
    for (size_t e = level->first[i]; e < level->first[i + 1]; e++) {
        size_t j = level->neighbour[e];
        float by_share = dot_product(dy, a->h + j * p->outputs + offset, p->channels);
        float slope = a->source[i * HEADS + head] + a->target[j * HEADS + head] < 0 ? SLOPE : 1;
        float by_score = a->share[e * HEADS + head] * (by_share - mean) * slope;
        by_source += by_score;
        by_target[j * HEADS + head] += by_score;
    }
    add_scaled(a->dh + i * p->outputs + offset, p->source + offset, by_source, p->channels);
    if (call->d_parameter)
        add_scaled(call->d_parameter + p->inputs * p->outputs + offset, a->h + i * p->outputs + offset,
                   by_source, p->channels);
}

/* The gradients of h, of the vectors and of the bias. */
static void backward_scores(const sx_nn_call *call, const parts *p) {
    const sx_nn_attention *a = call->attention;
    float *by_target = a->dh + call->rows * p->outputs, *d_target = NULL;
    memset(a->dh, 0, call->rows * (p->outputs + HEADS) * sizeof *a->dh);
    if (call->d_parameter) {
        float *d = call->d_parameter + p->inputs * p->outputs;
        memset(d, 0, 3 * p->outputs * sizeof *d);
        d_target = d + p->outputs;
        for (size_t i = 0; i < call->rows; i++)
            add_scaled(d + 2 * p->outputs, call->dy + i * p->outputs, 1, p->outputs);
    }
    for (size_t i = 0; i < call->rows; i++)
        for (size_t head = 0; head < HEADS; head++) backward_node(call, p, i, head, by_target);
    for (size_t i = 0; i < call->rows * HEADS; i++) {
        size_t offset = i % HEADS * p->channels;
        add_scaled(a->dh + i * p->channels, p->target + offset, by_target[i], p->channels);
        if (d_target) add_scaled(d_target + offset, a->h + i * p->channels, by_target[i], p->channels);
    }
}

static void backward_attention(const sx_nn_call *call) {
    const parts p = parts_of(call);
    backward_scores(call, &p);
    sx_nn_backward_product(call, call->attention->dh);
}

const sx_nn_type sx_nn_attention_layer = {.name = "graph attention",
                                          .on_graphs = true,
                                          .n_parameters = n_parameters,
                                          .initialise = initialise_attention,
                                          .forward = forward_attention,
                                          .backward = backward_attention};
