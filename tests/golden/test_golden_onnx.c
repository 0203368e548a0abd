/* The layers of networks that PyTorch exported: names, shapes and multiply-accumulates. See
 * tests/golden/README.md. */
#include "frontend/onnx_input.h"
#include "support/expect.h"
#include "support/vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A layer that is compared. */
typedef struct trial {
    const char *model;
    const sx_onnx *onnx;
    const sx_onnx_layer *layer;
    const json_t *want;
} trial;

/* Fails with the name of the layer unless a condition holds. */
static void expect(const trial *t, bool holds, const char *what) {
    if (!holds) print_error("%s: %s: %s differs\n", t->model, t->layer->name, what);
    assert_true(holds);
}

/* Whether a tensor of an operand has the shape of a list; symbols are 1. */
static bool has_shape(const trial *t, size_t node, size_t operand, const json_t *shape) {
    const sx_graph *graph = &t->onnx->graph;
    const sx_graph_tensor *tensor = &graph->tensor[graph->operand[graph->node[node].first + operand].tensor];
    if (tensor->n_ranks != json_array_size(shape)) return false;
    for (size_t i = 0; i < tensor->n_ranks; i++) {
        const json_t *extent = json_array_get(shape, i);
        const uint64_t want = json_is_integer(extent) ? (uint64_t)json_integer_value(extent) : 1;
        if (tensor->extent[i] != want) return false;
    }
    return true;
}

/* The shapes of a layer with one einsum: Outputs, Weights, Inputs. */
static void compare_shapes(const trial *t) {
    const json_t *inputs = json_object_get(t->want, "inputs"), *outputs = json_object_get(t->want, "outputs");
    const size_t node = t->layer->node;
    expect(t, has_shape(t, node, 0, json_array_get(outputs, 0)), "the shape of the output");
    expect(t, has_shape(t, node, 1, json_array_get(inputs, 1)), "the shape of the weights");
    expect(t, has_shape(t, node, 2, json_array_get(inputs, 0)), "the shape of the input");
}

/* What an LSTM takes: all gates of every step, from the inputs and from the state. */
static uint64_t lstm_macs(const json_t *want) {
    const json_t *in = json_array_get(json_object_get(want, "inputs"), 0);
    const json_t *r = json_array_get(json_object_get(want, "inputs"), 2);
    const json_int_t steps =
        json_integer_value(json_array_get(in, 0)) * json_integer_value(json_array_get(in, 1));
    const json_int_t wide =
        json_integer_value(json_array_get(in, 2)) + json_integer_value(json_array_get(r, 2));
    return (uint64_t)(steps * json_integer_value(json_array_get(r, 0)) *
                      json_integer_value(json_array_get(r, 1)) * wide);
}

static void compare_layer(const trial *t) {
    const json_t *macs = json_object_get(t->want, "macs");
    const char *op = json_string_value(json_object_get(t->want, "op"));
    expect(t, strcmp(t->layer->name, json_string_value(json_object_get(t->want, "name"))) == 0, "the name");
    expect(t, strcmp(t->layer->op, op) == 0, "the operation");
    if (json_is_integer(macs))
        expect(t, t->layer->macs == (uint64_t)json_integer_value(macs), "the number of multiply-accumulates");
    if (strcmp(op, "LSTM") == 0)
        expect(t, t->layer->macs == lstm_macs(t->want), "the number of multiply-accumulates");
    else
        compare_shapes(t);
}

/* How often operations of a name occur. */
static size_t count_of(const sx_onnx *onnx, const char *op) {
    size_t n = 0;
    for (size_t i = 0; i < onnx->n_layers; i++) n += strcmp(onnx->layer[i].op, op) == 0;
    for (size_t i = 0; i < onnx->n_rest; i++)
        if (strcmp(onnx->rest[i].op, op) == 0) n += onnx->rest[i].count;
    return n;
}

/* Compares all layers of a model, and how often each operation occurs. */
static size_t compare_model(const json_t *want) {
    const json_t *layers = json_object_get(want, "layers");
    char path[256];
    sx_input *input;
    sx_onnx onnx;
    trial t = {.model = json_string_value(json_object_get(want, "model")), .onnx = &onnx};
    const char *op;
    json_t *count;
    snprintf(path, sizeof path, "golden/onnx/%s", t.model);
    sx_expect_ok(sx_input_new(&input));
    sx_expect_ok(sx_input_set(input, "batch", "1"));
    sx_expect_ok(sx_onnx_input_read(input, path, &onnx));
    sx_input_free(input);
    assert_int_equal(onnx.n_layers, json_array_size(layers));
    for (size_t i = 0; i < onnx.n_layers; i++) {
        t.layer = &onnx.layer[i];
        t.want = json_array_get(layers, i);
        compare_layer(&t);
    }
    json_object_foreach(json_object_get(want, "ops"), op, count)
        assert_int_equal(count_of(&onnx, op), json_integer_value(count));
    const size_t n = onnx.n_layers;
    sx_onnx_fini(&onnx);
    return n;
}

static void every_layer_of_the_exports(void **state) {
    json_t *models = sx_vectors_load("golden/onnx/layers.jsonl");
    size_t n = 0;
    (void)state;
    for (size_t i = 0; i < json_array_size(models); i++) n += compare_model(json_array_get(models, i));
    print_message("%zu layers of %zu models\n", n, json_array_size(models));
    assert_true(json_array_size(models) == 13 && n >= 480);
    json_decref(models);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_layer_of_the_exports)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
