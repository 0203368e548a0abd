/* What was understood of an ONNX file: its layers, equal ones once, and the operations that are not mapped. */
#include "cli/list_network.h"
#include "frontend/onnx_input.h"
#include "input/set_option.h"
#include "input/sources.h"
#include "report/json_parts.h"
#include "report/table.h"

/* The first layer with the same nodes, which may be the layer itself. */
static const sx_onnx_layer *first_like(const sx_onnx *onnx, const sx_onnx_layer *layer) {
    const sx_graph_node *node = onnx->graph.node;
    for (const sx_onnx_layer *at = onnx->layer; at < layer; at++) {
        bool same = at->n_nodes == layer->n_nodes && at->macs == layer->macs;
        for (size_t i = 0; same && i < layer->n_nodes; i++)
            same = node[at->node + i].einsum == node[layer->node + i].einsum &&
                   node[at->node + i].repeat == node[layer->node + i].repeat;
        if (same) return at;
    }
    return layer;
}

/* The einsums of a layer, with how often each is repeated. */
static sx_status add_einsums(const sx_onnx *onnx, const sx_onnx_layer *layer, sx_text *out) {
    for (size_t i = 0; i < layer->n_nodes; i++) {
        const sx_graph_node *node = &onnx->graph.node[layer->node + i];
        char *text;
        SX_TRY(sx_einsum_text(&onnx->graph.einsum[node->einsum], &text));
        sx_text_add(out, "%s%s", i ? "; " : "", text);
        sx_free(text);
    }
    return out->failed ? sx_error_memory() : SX_OK;
}

/* The shape of the tensor that a layer writes, as 1x64x56x56. */
static void add_shape(const sx_onnx *onnx, const sx_onnx_layer *layer, sx_text *out) {
    const sx_graph_node *node = &onnx->graph.node[layer->node + layer->n_nodes - 1];
    const sx_graph_tensor *tensor = &onnx->graph.tensor[onnx->graph.operand[node->first].tensor];
    for (size_t i = 0; i < tensor->n_ranks; i++)
        sx_text_add(out, "%s%llu", i ? "x" : "", (unsigned long long)tensor->extent[i]);
}

/* The sizes of a layer's problems, as C64 K128, those of 1 left out, and how often each is repeated. */
static void add_sizes(const sx_onnx *onnx, const sx_onnx_layer *layer, sx_text *out) {
    for (size_t i = 0; i < layer->n_nodes; i++) {
        const sx_graph_node *node = &onnx->graph.node[layer->node + i];
        if (i) sx_text_add(out, "; ");
        if (node->repeat > 1) sx_text_add(out, "%llu times ", (unsigned long long)node->repeat);
        sx_add_sizes(&onnx->graph.einsum[node->einsum], out);
    }
}

/* How many layers are the same as one. */
static size_t count_like(const sx_onnx *onnx, const sx_onnx_layer *layer) {
    size_t n = 0;
    for (size_t i = 0; i < onnx->n_layers; i++) n += first_like(onnx, &onnx->layer[i]) == layer;
    return n;
}

/* Adds the table of layers that differ. */
static void add_layers(const sx_onnx *onnx, sx_text *out) {
    sx_table table;
    sx_table_begin(&table, "lrlrll");
    static const char *const head[] = {"layer", "count", "operation", "MACs", "output", "problem"};
    for (size_t i = 0; i < 6; i++) sx_table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < onnx->n_layers; i++) {
        const sx_onnx_layer *layer = &onnx->layer[i];
        sx_text shape = {0}, sizes = {0};
        if (first_like(onnx, layer) != layer) continue;
        sx_table_cell(&table, "%s", layer->name);
        sx_table_cell(&table, "%zu", count_like(onnx, layer));
        sx_table_cell(&table, "%s", layer->op);
        sx_table_cell(&table, "%s", sx_show_computes((double)layer->macs).text);
        add_shape(onnx, layer, &shape);
        sx_table_cell_text(&table, &shape);
        add_sizes(onnx, layer, &sizes);
        sx_table_cell_text(&table, &sizes);
    }
    sx_table_end(&table, 2, out);
}

/* Adds the table of operations that are not mapped, with their share of all. */
static void add_rest(const sx_onnx *onnx, sx_text *out) {
    const double all = (double)onnx->macs + (double)onnx->operations;
    sx_table table;
    if (!onnx->n_rest) return;
    sx_text_add(out, "\nnot mapped, with the share of operations:\n");
    sx_table_begin(&table, "lrrl");
    for (size_t i = 0; i < onnx->n_rest; i++) {
        const sx_onnx_rest *rest = &onnx->rest[i];
        sx_table_cell(&table, "%s", rest->op);
        sx_table_cell(&table, "%zu", rest->count);
        if (rest->heavy)
            sx_table_cell(&table, "?");
        else
            sx_table_cell(&table, "%s", sx_show_percent(all > 0 ? (double)rest->operations / all : 0).text);
        sx_table_cell(&table, "%s",
                      rest->unknown                  ? "not known"
                      : rest->heavy                  ? "may have products"
                      : rest->grouped == rest->count ? "part of the layer before"
                      : rest->grouped                ? "some are part of the layer before"
                                                     : "");
    }
    sx_table_end(&table, 2, out);
}

/* The text for a person. */
static void add_text(const sx_onnx *onnx, sx_text *out) {
    size_t distinct = 0;
    for (size_t i = 0; i < onnx->n_layers; i++)
        distinct += first_like(onnx, &onnx->layer[i]) == &onnx->layer[i];
    sx_text_add(out, "%s: %zu operations, %zu mapped (%zu that differ), %s MACs\n\n", onnx->graph.name,
                onnx->n_nodes, onnx->n_layers, distinct, sx_show_computes((double)onnx->macs).text);
    if (onnx->n_layers) add_layers(onnx, out);
    add_rest(onnx, out);
}

/* A layer as JSON. */
static sx_status add_layer_json(const sx_onnx *onnx, const sx_onnx_layer *layer, json_t *array) {
    const sx_onnx_layer *same = first_like(onnx, layer);
    sx_text einsum = {0};
    SX_TRY(add_einsums(onnx, layer, &einsum));
    json_t *item =
        sx_json_append(array, json_pack("{s:s, s:s, s:I, s:s}", "name", layer->name, "op", layer->op, "macs",
                                        (json_int_t)layer->macs, "einsum", einsum.data));
    sx_text_free(&einsum);
    if (same != layer) sx_json_set(item, "same_as", json_string(same->name));
    return SX_OK;
}

static sx_status add_json(const sx_onnx *onnx, sx_text *out) {
    const double all = (double)onnx->macs + (double)onnx->operations;
    json_t *object = json_pack("{s:s, s:I}", "graph", onnx->graph.name, "macs", (json_int_t)onnx->macs);
    json_t *layers = sx_json_set(object, "layers", json_array());
    sx_status status = SX_OK;
    for (size_t i = 0; i < onnx->n_layers && !status; i++)
        status = add_layer_json(onnx, &onnx->layer[i], layers);
    json_t *rest = sx_json_set(object, "unmapped", json_array());
    for (size_t i = 0; i < onnx->n_rest; i++) {
        const sx_onnx_rest *r = &onnx->rest[i];
        json_t *item = sx_json_append(rest, json_pack("{s:s, s:I, s:I, s:I}", "op", r->op, "count",
                                                      (json_int_t)r->count, "grouped", (json_int_t)r->grouped,
                                                      "operations", (json_int_t)r->operations));
        if (r->unknown) sx_json_set(item, "unknown", json_true());
        if (r->heavy)
            sx_json_set(item, "heavy", json_true());
        else
            sx_json_set(item, "share", sx_json_number(all > 0 ? (double)r->operations / all : 0));
    }
    if (!status) return sx_json_finish(object, out);
    json_decref(object);
    return status;
}

sx_status sx_list_onnx(const sx_args *args, const char *path, bool json, sx_text *out) {
    sx_input *input = NULL;
    sx_onnx onnx;
    sx_status status = sx_sources_input(args, &input);
    if (!status) status = sx_onnx_input_read(input, path, &onnx);
    sx_input_free(input);
    if (status) return status;
    status = sx_set_option_check(args);
    if (!status && json)
        status = add_json(&onnx, out);
    else if (!status)
        add_text(&onnx, out);
    sx_onnx_fini(&onnx);
    return status;
}
