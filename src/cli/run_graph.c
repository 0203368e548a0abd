#include "cli/run_graph.h"

#include "frontend/catalog/catalog.h"
#include "frontend/input.h"
#include "input/named.h"
#include "input/phase.h"
#include "input/tensor_bits.h"
#include "ir/shard.h"
#include "sextant/all.h"

#include <stdlib.h>
#include <string.h>

/* Whether --problem is one whole network that has a graph. */
static bool has_graph(const sx_args *args, const sx_sources *sources) {
    const char *value = sx_args_text(args, "problem", 0);
    if (!value || sx_args_text(args, "problem", 1)) return false;
    if (sx_catalog_knows_network(value))
        return !sx_args_flag(args, "training") && !sx_args_flag(args, "training-step");
    const sx_input *input = sources->input[SX_NOUN_PROBLEM];
    return input && sx_input_has(input, SX_DOCUMENT_GRAPH) && !sx_layer_of(value, NULL);
}

sx_status sx_model_graph(const sx_args *args, const char *model, const sx_network_options *options,
                         sx_graph *out) {
    sx_input *input = NULL;
    if (sx_catalog_has_phases(model)) return sx_catalog_graph(model, options, out);
    sx_status status = sx_sources_input(args, &input);
    if (!status) sx_input_set_run(input, options);
    if (!status) status = sx_input_add_file(input, model);
    if (!status) status = sx_input_graph(input, out);
    sx_input_free(input);
    return status;
}

/* Reads the graph of one run, in the part that a chip has; *out stays NULL where nothing is to be said of it. */
static sx_status read_run(const sx_args *args, sx_sources *sources, const sx_network_options *options,
                          const sx_result *r, sx_graph **out) {
    const char *value = sx_args_text(args, "problem", 0);
    const bool named = sx_catalog_knows_network(value), phases = sx_catalog_has_phases(value);
    sx_graph whole = {0}, *graph = calloc(1, sizeof *graph);
    if (!graph) return sx_error_memory();
    sx_status status = phases || (!named && sx_phase_config(args))
                           ? sx_model_graph(args, value, options, &whole)
                           : sx_sources_graph(sources, &whole);
    if (!status) status = sx_bits_apply_graph(args, &whole);
    if (!status && r->served.chips > 1) {
        status = sx_graph_shard(&whole, r->served.chips, r->served.by_experts, graph);
        sx_graph_fini(&whole);
    } else if (!status)
        *graph = whole;
    if (!status && (graph->run.phase[0] || r->arch.vector.lanes > 0)) {
        *out = graph;
        return SX_OK;
    }
    sx_graph_fini(graph);
    free(graph);
    return status;
}

/* Reads the graphs of a result's network. */
static sx_status read_graphs(const sx_args *args, sx_sources *sources, sx_result *r) {
    const char *value = sx_args_text(args, "problem", 0);
    sx_network_options options, part;
    if (!has_graph(args, sources)) return SX_OK;
    if (sx_catalog_knows_network(value) && !sx_catalog_has_phases(value) && !(r->arch.vector.lanes > 0))
        return SX_OK;
    SX_TRY(sx_named_options(args, &options));
    options.bits = r->arch.level[r->arch.n_levels - 1].word_bits;
    part = options.both ? sx_phase_part(&options, SX_PHASE_PREFILL) : options;
    SX_TRY(read_run(args, sources, &part, r, &r->graph));
    part = sx_phase_part(&options, SX_PHASE_DECODE);
    return options.both ? read_run(args, sources, &part, r, &r->then) : SX_OK;
}

/* The layers of graphs that are divided among chips. */
static sx_status divided_layers(const sx_result *r, sx_network *out) {
    const sx_graph *const graph[] = {r->graph, r->then};
    sx_network all = {0};
    sx_status status = SX_OK;
    if (!r->then) return sx_graph_network(r->graph, out);
    memcpy(all.name, r->graph->name, sizeof all.name);
    for (int i = 0; i < 2 && !status; i++) {
        sx_network network = {0};
        status = sx_graph_network(graph[i], &network);
        if (!status) status = sx_named_append_phase(&network, (sx_phase)(SX_PHASE_PREFILL + i), &all);
    }
    if (status)
        sx_network_fini(&all);
    else
        *out = all;
    return status;
}

sx_status sx_run_network(const sx_args *args, sx_sources *sources, sx_result *r) {
    const sx_served *served = &r->served;
    const char *option = served->chips > 1                 ? "chips"
                         : served->stages > 1              ? "stages"
                         : sx_args_flag(args, "link")      ? "link"
                         : sx_args_flag(args, "attention") ? "attention"
                                                           : NULL;
    SX_TRY(read_graphs(args, sources, r));
    if (option && !(r->graph && r->graph->run.phase[0]))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--%s goes with a run of one whole network", option),
                             "such as -p llama-3-8b --phase decode; `sextant list networks` lists them");
    if (option && !(r->arch.cycle_seconds > 0))
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "--%s: the architecture '%s' has no clock", option, r->arch.name),
            "give one, such as --clock 1GHz");
    if (served->chips > 1) return divided_layers(r, &r->network);
    return sx_sources_layers(sources, &r->network);
}
