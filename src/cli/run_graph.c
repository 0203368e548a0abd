#include "cli/run_graph.h"

#include "frontend/catalog/catalog.h"
#include "input/named.h"
#include "input/phase.h"
#include "input/tensor_bits.h"
#include "sextant/all.h"

#include <stdlib.h>

/* Whether --problem is one whole network that has a graph. */
static bool has_graph(const sx_args *args, const sx_sources *sources) {
    const char *value = sx_args_text(args, "problem", 0);
    if (sx_args_text(args, "problem", 1) || sx_phase_both(args)) return false;
    if (value && sx_catalog_knows_network(value))
        return !sx_args_flag(args, "training") && !sx_args_flag(args, "training-step");
    const sx_input *input = sources->input[SX_NOUN_PROBLEM];
    return value && input && sx_input_has_graph(input) && !sx_layer_of(value, NULL);
}

sx_status sx_run_graph(const sx_args *args, sx_sources *sources, const sx_arch *arch, sx_graph **out) {
    const char *value = sx_args_text(args, "problem", 0);
    if (!has_graph(args, sources)) return SX_OK;
    if (sx_catalog_knows_network(value) && !sx_catalog_has_phases(value) && !(arch->vector.lanes > 0))
        return SX_OK;
    sx_graph *graph = calloc(1, sizeof *graph);
    if (!graph) return sx_error_memory();
    sx_status status = sx_sources_graph(sources, graph);
    if (!status) status = sx_bits_apply_graph(args, graph);
    if (!status && (graph->run.phase[0] || arch->vector.lanes > 0)) {
        *out = graph;
        return SX_OK;
    }
    sx_graph_fini(graph);
    free(graph);
    return status;
}
