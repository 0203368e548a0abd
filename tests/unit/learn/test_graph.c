/* Graph networks: neighbours, pooling, gradients against central differences, the same bits whatever the threads. */
#include "learn/graph.h"
#include "learn/weights.h"
#include "sextant/rng.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { INPUTS = 5, WIDTH = 8, OUTPUTS = 3, CASES = 12 };
static const float STEP = 0x1p-11f;

/* A chain of n nodes with some edges across it. */
static sx_nn_graph *random_graph(sx_rng *rng, size_t n) {
    uint32_t(*edge)[2] = malloc(2 * n * sizeof *edge);
    assert_non_null(edge);
    size_t n_edges = 0;
    sx_nn_graph *graph;
    for (uint32_t i = 1; i < n; i++) {
        edge[n_edges][0] = i - 1;
        edge[n_edges++][1] = i;
        if (sx_rng_below(rng, 3) > 0) continue;
        edge[n_edges][0] = (uint32_t)sx_rng_below(rng, i);
        edge[n_edges++][1] = i;
    }
    sx_expect_ok(sx_nn_graph_new(n, (const uint32_t(*)[2])edge, n_edges, &graph));
    free(edge);
    return graph;
}

static void neighbours_are_listed_once_in_order(void **state) {
    (void)state;
    const uint32_t edge[][2] = {{2, 0}, {0, 1}, {1, 0}, {3, 1}, {2, 2}};
    const size_t first[] = {0, 3, 6, 8, 10};
    const uint32_t neighbour[] = {0, 1, 2, 0, 1, 3, 0, 2, 1, 3};
    sx_nn_graph *graph;
    sx_expect_ok(sx_nn_graph_new(4, edge, 5, &graph));
    assert_memory_equal(graph->first, first, sizeof first);
    assert_memory_equal(graph->neighbour, neighbour, sizeof neighbour);
    sx_nn_graph_free(graph);
}

/* A net on a graph; the objective is a weighted sum of its outputs. */
typedef struct subject {
    sx_nn *net;
    sx_nn_graph *graph;
    sx_nn_pass *pass;
    sx_pool *pool;
    sx_matrix_engine *engine;
    float *input, *weight, *d_input, *d_parameter;
} subject;

static void fill(sx_rng *rng, float *x, size_t n, double scale) {
    for (size_t i = 0; i < n; i++) x[i] = (float)(scale * (2 * sx_rng_double(rng) - 1));
}

/* Makes all but the net. */
static void subject_init(subject *s, uint64_t number, unsigned threads) {
    sx_rng rng = sx_rng_stream(1, "test.graph", number);
    s->graph = random_graph(&rng, (size_t)sx_rng_range(&rng, 1, 40));
    s->pool = NULL;
    if (threads > 1) sx_expect_ok(sx_pool_new(threads, &s->pool));
    sx_expect_ok(sx_matrix_engine_new(SX_MATRIX_OWN, s->pool, &s->engine));
    sx_expect_ok(sx_nn_pass_new_on(s->net, s->engine, s->graph, &s->pass));
    size_t in = s->graph->n * s->net->inputs, out = s->graph->n * s->net->outputs;
    s->input = calloc(2 * in + out + s->net->n_parameters, sizeof(float));
    assert_non_null(s->input);
    s->d_input = s->input + in;
    s->weight = s->d_input + in;
    s->d_parameter = s->weight + out;
    fill(&rng, s->input, in, 1.5);
    fill(&rng, s->weight, out, 1);
    fill(&rng, s->net->parameter, s->net->n_parameters, 0.7);
}

static void subject_fini(subject *s) {
    free(s->input);
    sx_nn_pass_free(s->pass);
    sx_matrix_engine_free(s->engine);
    sx_pool_free(s->pool);
    sx_nn_graph_free(s->graph);
    sx_nn_free(s->net);
}

static double objective(const subject *s) {
    const float *y = sx_nn_forward(s->pass, s->input, s->graph->n);
    double sum = 0;
    assert_non_null(y);
    for (size_t i = 0; i < s->graph->n * s->net->outputs; i++) sum += (double)s->weight[i] * (double)y[i];
    return sum;
}

/* Compares a gradient with differences but at kinks and where another node is kept: there the two halves of the
 * difference disagree. Returns how many elements were compared. */
static size_t compare(const subject *s, float *x, const float *gradient, size_t n) {
    double middle = objective(s);
    size_t compared = 0;
    for (size_t i = 0; i < n; i++) {
        float kept = x[i];
        x[i] = kept + STEP;
        double above = (objective(s) - middle) / (double)STEP;
        x[i] = kept - STEP;
        double below = (middle - objective(s)) / (double)STEP;
        x[i] = kept;
        if (fabs(above - below) > 2e-2 * (1 + fabs(above))) continue;
        double slope = (above + below) / 2;
        if (fabs(slope - (double)gradient[i]) > 3e-2 * (1 + fabs(slope)))
            fail_msg("element %zu: the gradient is %g, differences say %g", i, (double)gradient[i], slope);
        compared++;
    }
    return compared;
}

static void check_gradients(const sx_nn_plan *plan, size_t n, unsigned depth) {
    size_t compared = 0, all = 0;
    for (uint64_t i = 0; i < CASES; i++) {
        subject s;
        if (plan)
            sx_expect_ok(sx_nn_new(INPUTS, plan, n, &s.net));
        else
            sx_expect_ok(sx_nn_new_unet(INPUTS, WIDTH, depth, OUTPUTS, &s.net));
        subject_init(&s, i, 1);
        size_t in = s.graph->n * s.net->inputs;
        objective(&s);
        sx_nn_backward(s.pass, s.weight, s.d_parameter, s.d_input);
        compared += compare(&s, s.input, s.d_input, in);
        compared += compare(&s, s.net->parameter, s.d_parameter, s.net->n_parameters);
        all += in + s.net->n_parameters;
        subject_fini(&s);
    }
    assert_true(compared > all * 3 / 4);
}

static void gradients_of_attention(void **state) {
    (void)state;
    check_gradients((const sx_nn_plan[]){{SX_NN_ATTENTION, WIDTH}}, 1, 0);
}

static void gradients_of_pools(void **state) {
    (void)state;
    const sx_nn_plan plan[] = {{SX_NN_POOL, 0}, {SX_NN_DENSE, INPUTS}, {SX_NN_UNPOOL, 0}};
    check_gradients(plan, 3, 0);
}

static void gradients_of_nets(void **state) {
    (void)state;
    check_gradients(NULL, 0, 2);
}

static void pools_keep_the_highest(void **state) {
    (void)state;
    const sx_nn_plan plan[] = {{SX_NN_POOL, 0}, {SX_NN_UNPOOL, 0}};
    const uint32_t edge[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}};
    const float input[] = {-3, 5, 1, 5, 0};
    subject s;
    sx_expect_ok(sx_nn_new(1, plan, 2, &s.net));
    s.net->parameter[0] = 2;
    sx_expect_ok(sx_nn_graph_new(5, edge, 4, &s.graph));
    sx_expect_ok(sx_matrix_engine_new(SX_MATRIX_OWN, NULL, &s.engine));
    sx_expect_ok(sx_nn_pass_new_on(s.net, s.engine, s.graph, &s.pass));
    const float *y = sx_nn_forward(s.pass, input, 5);
    const double expected[] = {-3, 5 + 5 / (1 + exp(-5)), 1 + 1 / (1 + exp(-1)), 5 + 5 / (1 + exp(-5)), 0};
    for (int i = 0; i < 5; i++) assert_true(fabs((double)y[i] - expected[i]) < 1e-5);
    sx_nn_pass_free(s.pass);
    sx_matrix_engine_free(s.engine);
    sx_nn_graph_free(s.graph);
    sx_nn_free(s.net);
}

static void bits_do_not_depend_on_threads(void **state) {
    (void)state;
    for (uint64_t i = 0; i < CASES; i++) {
        subject s[2];
        for (unsigned k = 0; k < 2; k++) {
            sx_expect_ok(sx_nn_new_unet(INPUTS, 64, 3, OUTPUTS, &s[k].net));
            subject_init(&s[k], i, 1 + 2 * k);
            objective(&s[k]);
            sx_nn_backward(s[k].pass, s[k].weight, s[k].d_parameter, s[k].d_input);
        }
        assert_true(objective(&s[0]) == objective(&s[1]));
        assert_memory_equal(s[0].d_parameter, s[1].d_parameter, s[0].net->n_parameters * sizeof(float));
        subject_fini(&s[0]);
        subject_fini(&s[1]);
    }
}

static void weight_files_hold_them(void **state) {
    (void)state;
    char path[] = "/tmp/sextant-graph-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    sx_weights w = {0}, back;
    sx_expect_ok(sx_nn_new_unet(INPUTS, WIDTH, 4, OUTPUTS, &w.net));
    sx_nn_initialise(w.net, SX_NN_XAVIER, 1);
    sx_expect_ok(sx_weights_write(path, &w));
    sx_expect_ok(sx_weights_read(path, &back));
    assert_true(sx_nn_alike(w.net, back.net));
    assert_true(sx_nn_hash(w.net) == sx_nn_hash(back.net));
    sx_weights_fini(&w);
    sx_weights_fini(&back);
    remove(path);
}

static void wrong_nets_are_refused(void **state) {
    (void)state;
    const uint32_t edge[][2] = {{0, 1}};
    const sx_nn_plan unpool[] = {{SX_NN_UNPOOL, 0}}, pool[] = {{SX_NN_POOL, 0}};
    const sx_nn_plan narrow[] = {{SX_NN_POOL, 0}, {SX_NN_DENSE, 3}, {SX_NN_UNPOOL, 0}};
    sx_nn_graph *graph;
    sx_nn *net;
    sx_nn_pass *pass;
    sx_matrix_engine *engine;
    sx_expect_ok(sx_nn_graph_new(2, edge, 1, &graph));
    sx_expect_ok(sx_matrix_engine_new(SX_MATRIX_OWN, NULL, &engine));
    sx_expect_ok(sx_nn_new(2, unpool, 1, &net));
    sx_expect_error(sx_nn_pass_new_on(net, engine, graph, &pass),
                    "layer 1 of a graph network undoes no pool");
    sx_nn_free(net);
    sx_expect_ok(sx_nn_new(2, narrow, 3, &net));
    sx_expect_error(sx_nn_pass_new_on(net, engine, graph, &pass), "undoes no pool");
    sx_nn_free(net);
    sx_expect_ok(sx_nn_new(2, pool, 1, &net));
    sx_expect_error(sx_nn_pass_new_on(net, engine, graph, &pass), "a pool that nothing undoes");
    sx_expect_error(sx_nn_pass_new(net, engine, 2, &pass), "layer 1 (graph pool) of a network needs a graph");
    sx_nn_free(net);
    sx_expect_error(sx_nn_new(2, &(sx_nn_plan){SX_NN_ATTENTION, 6}, 1, &net), "not a multiple of 4");
    sx_expect_error(sx_nn_new_unet(2, 8, 11, 2, &net), "a depth of 11 instead of 0 to 10");
    sx_matrix_engine_free(engine);
    sx_nn_graph_free(graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_listed_once_in_order),
        cmocka_unit_test(gradients_of_attention),
        cmocka_unit_test(gradients_of_pools),
        cmocka_unit_test(gradients_of_nets),
        cmocka_unit_test(pools_keep_the_highest),
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(weight_files_hold_them),
        cmocka_unit_test(wrong_nets_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
