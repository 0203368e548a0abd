/* Pooling of a graph: the half of the nodes with the highest scores s = x p / |p|, of equal ones the first, each row
 * times sigmoid(s); two of them are neighbours if a path of at most two edges joined them.
 *
 * Source: Graph U-Nets (ICML 2019), sections 3.1 and 3.3. */
#include "learn/elementary.h"
#include "learn/graph.h"
#include "learn/layers/layer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t n_parameters(size_t inputs, size_t outputs) {
    (void)outputs;
    return inputs;
}

static void initialise_pool(const sx_nn_layer *layer, float *parameter, sx_nn_init init, sx_rng *rng) {
    double bound = 1 / sqrt((double)layer->inputs);
    (void)init;
    for (size_t i = 0; i < layer->inputs; i++) parameter[i] = (float)(bound * (2 * sx_rng_double(rng) - 1));
}

/* The length of p, and not 0. */
static double length_of(const float *p, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)p[i] * (double)p[i];
    return sqrt(sum) + 1e-12;
}

/* A node and its score. */
typedef struct candidate {
    double score;
    uint32_t node;
} candidate;

/* Orders by score, the highest first, then by number. */
static int compare_scores(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->node < y->node ? -1 : 1;
}

/* Chooses the nodes that stay, in ascending order; false when memory is out. */
static bool choose_nodes(const double *score, size_t n, sx_nn_level *next) {
    candidate *all = malloc((n + 1) * sizeof *all);
    if (!all) return false;
    for (size_t i = 0; i < n; i++) all[i] = (candidate){score[i] == score[i] ? score[i] : 0, (uint32_t)i};
    qsort(all, n, sizeof *all, compare_scores);
    memset(next->mark, 0, n * sizeof *next->mark);
    for (size_t i = 0; i < next->n; i++) next->mark[all[i].node] = 1;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (next->mark[i]) next->kept[kept++] = (uint32_t)i;
    free(all);
    return true;
}

/* Adds the kept nodes within two edges of a kept node; `seen` has the numbers of kept nodes plus 1, negative ones
 * being those listed already. */
static bool list_neighbours(const sx_nn_level *level, sx_nn_level *next, size_t at, size_t *n) {
    size_t begin = *n, most = *n + next->n;
    if (most > next->room) {
        size_t room = 2 * most;
        uint32_t *grown = realloc(next->neighbour, room * sizeof *grown);
        if (!grown) return false;
        next->neighbour = grown;
        next->room = room;
    }
    const uint32_t LISTED = UINT32_MAX / 2 + 1;
    uint32_t node = next->kept[at];
    for (size_t e = level->first[node]; e < level->first[node + 1]; e++) {
        uint32_t middle = level->neighbour[e];
        for (size_t f = level->first[middle]; f < level->first[middle + 1]; f++) {
            uint32_t end = level->neighbour[f], mark = next->mark[end];
            if (mark == 0 || mark >= LISTED) continue;
            next->mark[end] = mark + LISTED;
            next->neighbour[(*n)++] = mark - 1;
        }
    }
    for (size_t e = begin; e < *n; e++) next->mark[next->kept[next->neighbour[e]]] -= LISTED;
    for (size_t k = begin + 1; k < *n; k++)
        for (size_t j = k; j > begin && next->neighbour[j - 1] > next->neighbour[j]; j--) {
            uint32_t swap = next->neighbour[j];
            next->neighbour[j] = next->neighbour[j - 1];
            next->neighbour[j - 1] = swap;
        }
    return true;
}

/* Makes the graph of the nodes that stay; false when memory is out. */
static bool connect_nodes(const sx_nn_level *level, sx_nn_level *next) {
    size_t n = 0;
    for (size_t i = 0; i < next->n; i++) next->mark[next->kept[i]] = (uint32_t)i + 1;
    for (size_t i = 0; i < next->n; i++) {
        next->first[i] = n;
        if (!list_neighbours(level, next, i, &n)) return false;
    }
    next->first[next->n] = n;
    return true;
}

static void forward_pool(const sx_nn_call *call) {
    sx_nn_level *next = call->level + 1;
    size_t width = call->layer->inputs;
    double length = length_of(call->parameter, width);
    for (size_t i = 0; i < call->rows; i++) {
        double sum = 0;
        for (size_t j = 0; j < width; j++) sum += (double)call->x[i * width + j] * (double)call->parameter[j];
        next->score[i] = sum / length;
    }
    if (!choose_nodes(next->score, call->rows, next) || !connect_nodes(call->level, next)) {
        *call->failed = true;
        return;
    }
    for (size_t i = 0; i < next->n; i++) {
        const float *x = call->x + next->kept[i] * width;
        float gate = next->gate[i] = (float)sx_sigmoid(next->score[next->kept[i]]), *y = call->y + i * width;
        for (size_t j = 0; j < width; j++) y[j] = gate * x[j];
    }
}

/* dx: the gradient of the skip connection, and for nodes that stay what comes back through the pool. */
static void backward_pool(const sx_nn_call *call) {
    const sx_nn_level *next = call->level + 1;
    size_t width = call->layer->inputs;
    const float *p = call->parameter;
    double length = length_of(p, width);
    if (call->dx) memcpy(call->dx, call->d_skip, call->rows * width * sizeof *call->dx);
    if (call->d_parameter) memset(call->d_parameter, 0, width * sizeof *call->d_parameter);
    for (size_t i = 0; i < next->n; i++) {
        size_t node = next->kept[i];
        const float *dy = call->dy + i * width, *x = call->x + node * width;
        double gate = (double)next->gate[i], sum = 0;
        for (size_t j = 0; j < width; j++) sum += (double)dy[j] * (double)x[j];
        double by_score = sum * gate * (1 - gate) / length, along = next->score[node] / length;
        if (call->dx)
            for (size_t j = 0; j < width; j++)
                call->dx[node * width + j] += (float)(gate * (double)dy[j] + by_score * (double)p[j]);
        if (call->d_parameter)
            for (size_t j = 0; j < width; j++)
                call->d_parameter[j] += (float)(by_score * ((double)x[j] - along * (double)p[j]));
    }
}

const sx_nn_type sx_nn_pool = {.name = "graph pool",
                               .on_graphs = true,
                               .n_parameters = n_parameters,
                               .initialise = initialise_pool,
                               .forward = forward_pool,
                               .backward = backward_pool};
