#include "cli/list_network.h"

#include "frontend/catalog/catalog.h"
#include "input/named.h"
#include "input/sources.h"
#include "input/tensor_bits.h"
#include "report/json_parts.h"
#include "report/operators.h"
#include "report/table.h"
#include "sextant/all.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void sx_add_sizes(const sx_problem *problem, sx_text *out) {
    int n = 0;
    for (int d = 0; d < problem->n_dims; d++) {
        const char *name = problem->dim_name[d], last = name[strlen(name) - 1];
        if (problem->size[d] == 1) continue;
        sx_text_add(out, "%s%s%s%u", n++ ? " " : "", name, last >= '0' && last <= '9' ? "=" : "",
                    (unsigned)problem->size[d]);
    }
    if (!n) sx_text_add(out, "1");
}

sx_status sx_list_layers(const sx_network *network, sx_text *out) {
    sx_table table;
    uint64_t macs = 0;
    for (size_t i = 0; i < network->n_layers; i++)
        macs += network->layer[i].count * sx_problem_computes(&network->layer[i].problem);
    sx_text_add(out, "%s: %zu layer%s (%zu that differ), %s MACs\n\n", network->name, network->n_layers,
                network->n_layers == 1 ? "" : "s", sx_network_distinct(network, NULL),
                sx_show_computes((double)macs).text);
    sx_table_begin(&table, "lrrl");
    static const char *const head[] = {"layer", "count", "MACs", "problem"};
    for (size_t i = 0; i < 4; i++) sx_table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < network->n_layers; i++) {
        const sx_layer *layer = &network->layer[i];
        sx_text sizes = {0};
        sx_table_cell(&table, "%s", layer->name);
        sx_table_cell(&table, "%" PRIu64, layer->count);
        sx_table_cell(&table, "%s", sx_show_computes((double)sx_problem_computes(&layer->problem)).text);
        sx_add_sizes(&layer->problem, &sizes);
        sx_table_cell_text(&table, &sizes);
    }
    sx_table_end(&table, 2, out);
    return out->failed ? sx_error_memory() : SX_OK;
}

sx_status sx_list_layers_json(const sx_network *network, json_t *object) {
    sx_json_set(object, "network", json_string(network->name));
    json_t *layers = sx_json_set(object, "layers", json_array());
    for (size_t i = 0; i < network->n_layers; i++) {
        const sx_layer *layer = &network->layer[i];
        char *einsum;
        SX_TRY(sx_einsum_text(&layer->problem, &einsum));
        (void)sx_json_append(layers, json_pack("{s:s, s:o, s:o, s:s}", "name", layer->name, "count",
                                               sx_json_count(layer->count), "macs",
                                               sx_json_count(sx_problem_computes(&layer->problem)), "einsum",
                                               einsum));
        sx_free(einsum);
    }
    return SX_OK;
}

/* The same as JSON: {"network", "layers": [{"name", "count", "macs", "einsum"}]}, with "totals" and "operators" of a graph
 * that is a run (NULL: it is none). */
static sx_status add_layers_json(const sx_network *network, const sx_graph *graph,
                                 const sx_operators *operators, sx_text *out) {
    json_t *object = json_object();
    sx_status status = sx_list_layers_json(network, object);
    if (status) {
        json_decref(object);
        return status;
    }
    if (graph) sx_json_set(object, "operators", sx_operators_json(graph, operators));
    if (graph) sx_json_set(object, "totals", sx_operators_totals_json(graph, operators));
    return sx_json_finish(object, out);
}

/* The graph of a name of the catalog, or of a file that is a configuration, of which there may be warnings. */
static sx_status graph_of(const sx_args *args, const char *name, sx_warnings *warnings, sx_graph *out) {
    sx_input *input = NULL;
    if (sx_catalog_knows_network(name)) return sx_named_graph(args, name, out);
    sx_status status = sx_sources_input(args, &input);
    if (!status) status = sx_input_add_file(input, name);
    if (!status) status = sx_input_graph(input, out);
    if (!status && (status = sx_input_warnings(input, warnings))) sx_graph_fini(out);
    sx_input_free(input);
    return status;
}

/* Shows a graph: its layers and, where it is a run of a network, operators and totals. */
static sx_status add_graph(const sx_args *args, const sx_graph *graph, bool json, sx_text *out) {
    sx_network network;
    sx_operators operators = {0};
    const bool run = graph->run.phase[0];
    SX_TRY(sx_graph_network(graph, &network));
    sx_status status = sx_bits_apply(args, &network);
    if (!status && run) status = sx_graph_operators(graph, &operators);
    if (!status && json) status = add_layers_json(&network, run ? graph : NULL, &operators, out);
    if (!status && !json) status = sx_list_layers(&network, out);
    if (!status && !json && run) {
        sx_text_add(out, "\n");
        sx_operators_add_vectors(graph, &operators, out);
        sx_text_add(out, "\n");
        sx_operators_add_totals(graph, &operators, out);
    }
    sx_operators_fini(&operators);
    sx_network_fini(&network);
    return status;
}

sx_status sx_list_network(const sx_args *args, const char *name, bool json, sx_warnings *warnings,
                          sx_text *out) {
    sx_graph graph;
    SX_TRY(graph_of(args, name, warnings, &graph));
    sx_status status = sx_bits_apply_graph(args, &graph);
    if (!status) status = add_graph(args, &graph, json, out);
    sx_graph_fini(&graph);
    return status;
}

/* Bytes in the unit that suits them. */
static void add_bytes(double bytes, sx_text *out) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; bytes >= 1024 && unit < 4; unit++) bytes /= 1024;
    sx_text_add(out, "%.4g %s", bytes, units[unit]);
}

/* Names, with a word before them. */
static void add_names(const char *word, char names[][SX_NAME_SIZE], uint8_t n, sx_text *out) {
    for (uint8_t i = 0; i < n; i++) sx_text_add(out, "%s%s", i ? ", " : word, names[i]);
}

/* What a level is: size, words, bandwidths, energies, tensors. */
static void add_level(sx_storage *level, sx_text *out) {
    if (level->transparent) {
        sx_text_add(out, "hands on only");
        return;
    }
    if (level->entries == SX_UNLIMITED)
        sx_text_add(out, "unlimited");
    else
        add_bytes((double)level->entries * level->word_bits / 8, out);
    sx_text_add(out, ", %u-bit words", (unsigned)level->word_bits);
    if (level->block_size > 1) sx_text_add(out, " in blocks of %u", (unsigned)level->block_size);
    if (isfinite(level->read_bandwidth)) sx_text_add(out, ", reads %g/cycle", level->read_bandwidth);
    if (isfinite(level->write_bandwidth)) sx_text_add(out, ", writes %g/cycle", level->write_bandwidth);
    if (isfinite(level->shared_bandwidth)) sx_text_add(out, ", %g words/cycle", level->shared_bandwidth);
    sx_text_add(out, ", read %.4g pJ", level->read_energy);
    add_names(", keeps ", level->keeps, level->n_keeps, out);
    add_names(", bypassed by ", level->bypasses, level->n_bypasses, out);
}

/* Begins a line of the drawing at a depth, with how many there are. */
static void add_branch(const char *name, int depth, uint64_t instances, uint64_t x, uint64_t y,
                       sx_text *out) {
    sx_text_add(out, "%*s%s%s", 2 + 2 * depth, "", depth ? "└ " : "", name);
    if (instances > 1) sx_text_add(out, "  %" PRIu64 " (%" PRIu64 " x %" PRIu64 ")", instances, x, y);
    sx_text_add(out, "  ");
}

void sx_list_draw_arch(sx_arch *arch, sx_text *out) {
    sx_text_add(out, "%s: %d levels, %" PRIu64 " compute units\n\n", arch->name, arch->n_levels,
                arch->compute.instances);
    for (int l = arch->n_levels - 1; l >= 0; l--) {
        sx_storage *level = &arch->level[l];
        add_branch(level->name, arch->n_levels - 1 - l, level->instances, level->mesh_x, level->mesh_y, out);
        add_level(level, out);
        sx_text_add(out, "\n");
    }
    const sx_compute *compute = &arch->compute;
    add_branch(compute->name, arch->n_levels, compute->instances, compute->mesh_x, compute->mesh_y, out);
    sx_text_add(out, "%u-bit words, %.4g pJ per multiply-accumulate\n", (unsigned)compute->word_bits,
                compute->energy);
    const sx_vector_unit *vector = &arch->vector;
    if (vector->lanes > 0)
        sx_text_add(out,
                    "\n  vector unit: %.6g lanes, %.4g pJ per operation, an exponential is %.4g operations\n",
                    vector->lanes, vector->energy, vector->exp);
}

sx_status sx_list_arch(const char *name, bool json, sx_text *out) {
    char *text = NULL;
    sx_arch *arch = malloc(sizeof *arch);
    sx_status status = arch ? sx_catalog_arch(name, arch) : sx_error_memory();
    if (!status && json) status = sx_arch_write(arch, SX_JSON, &text);
    if (!status && json) sx_text_add(out, "%s", text);
    if (!status && !json) sx_list_draw_arch(arch, out);
    sx_free(text);
    free(arch);
    return status;
}
