#include "cli/place_input.h"

#include "cli/run_graph.h"
#include "frontend/catalog/catalog.h"
#include "input/named.h"
#include "input/phase.h"
#include "input/sources.h"

#include <string.h>
#include <sys/stat.h>

enum { MAX_BYTES = 64 };

/* Whether a value is a file rather than a name of the catalog. */
static bool is_file(const char *value) {
    struct stat info;
    if (sx_catalog_knows_network(value)) return false;
    return strpbrk(value, "./") || stat(value, &info) == 0;
}

sx_status sx_place_read_chip(const sx_args *args, sx_chip *out) {
    const char *value = sx_args_text(args, "chip", 0);
    if (!value) value = SX_DEFAULT_CHIP;
    return is_file(value) ? sx_chip_read(value, out) : sx_catalog_chip(value, out);
}

/* Reads a graph file. */
static sx_status read_file(const sx_args *args, const char *path, uint32_t bytes, sx_warnings *warnings,
                           sx_place_graph *out) {
    sx_input *input = NULL;
    sx_graph graph = {0};
    sx_status status = sx_sources_input(args, &input);
    if (!status) status = sx_input_add_file(input, path);
    if (!status && !sx_input_has(input, SX_DOCUMENT_GRAPH))
        status =
            sx_error_hint(sx_error_at((sx_place){path, 0, 0}, "this file has no graph"),
                          "`graph:` must be a top-level section; `sextant eval --problem NETWORK --write "
                          "graph` writes one");
    if (!status) status = sx_input_graph(input, &graph);
    if (!status) status = sx_input_warnings(input, warnings);
    if (!status) status = sx_place_graph_of(&graph, bytes, false, out);
    sx_graph_fini(&graph);
    sx_input_free(input);
    return status;
}

/* Reads one run of a language model or another network with phases. */
static sx_status read_model(const sx_args *args, const char *value, uint32_t bytes, sx_place_graph *out) {
    sx_network_options options;
    sx_graph graph = {0};
    SX_TRY(sx_named_options(args, &options));
    SX_TRY(sx_phase_single(args));
    SX_TRY(sx_model_graph(args, value, &options, &graph));
    sx_status status = sx_place_graph_of(&graph, bytes, false, out);
    sx_graph_fini(&graph);
    return status;
}

/* Refuses options of runs for a network that has none. */
static sx_status refuse_phases(const sx_args *args, const char *value) {
    static const char *const options[] = {"phase",   "tokens",      "context", "logits",
                                          "routing", "experts-hit", "mla",     "causal"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (sx_args_flag(args, options[i]))
            return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--%s: '%s' has no phases", options[i], value),
                                 "`sextant list networks` lists language models; a config.json is one, too");
    return SX_OK;
}

sx_status sx_place_read_graph(const sx_args *args, const char *value, sx_warnings *warnings,
                              sx_place_graph *out) {
    uint64_t bytes = sx_args_count(args, "bytes", 0), batch = sx_args_count(args, "batch", 1);
    if (sx_args_flag(args, "bytes") && (bytes < 1 || bytes > MAX_BYTES))
        return sx_error_new(SX_ERR_USAGE, "--bytes must be between 1 and %d", MAX_BYTES);
    if (batch < 1 || batch > UINT32_MAX)
        return sx_error_new(SX_ERR_USAGE, "--batch must be between 1 and %u", UINT32_MAX);
    if (sx_catalog_has_phases(value) || sx_phase_config(args))
        return read_model(args, value, (uint32_t)bytes, out);
    SX_TRY(refuse_phases(args, value));
    if (!is_file(value)) return sx_catalog_place_graph(value, (uint32_t)batch, (uint32_t)bytes, out);
    if (sx_args_flag(args, "batch"))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--batch cannot be used with a file"),
                             "the file gives the shapes of the tensors");
    return read_file(args, value, (uint32_t)bytes, warnings, out);
}
