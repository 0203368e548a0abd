#include "cli/fuse.h"

#include "cli/bind.h"
#include "cli/search.h"
#include "report/fused.h"

#include <string.h>

sx_status sx_fuse_prepare(const sx_args *args, sx_result *r) {
    static const char *const apart[] = {"evaluator", "pareto",      "densities", "search-formats",
                                        "gpu",       "emulate-gpu", "chips",     "stages"};
    const char *window = sx_args_text(args, "window", 0);
    if (!sx_args_flag(args, "fuse")) {
        const char *alone = window                            ? "window"
                            : sx_args_flag(args, "exchange")  ? "exchange"
                            : sx_args_flag(args, "staircase") ? "staircase"
                            : sx_args_flag(args, "softmax")   ? "softmax"
                            : sx_args_flag(args, "orders")    ? "orders"
                            : sx_args_flag(args, "row-loops") ? "row-loops"
                            : sx_args_flag(args, "explain")   ? "explain"
                                                              : NULL;
        if (!alone) return SX_OK;
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--%s has no effect without --fuse", alone),
                             "add --fuse, or leave out --%s", alone);
    }
    if (window && strcmp(window, "retain") != 0 && strcmp(window, "recompute") != 0 &&
        strcmp(window, "best") != 0)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--window is '%s'", window),
                             "known: retain, recompute, best");
    const char *softmax = sx_args_text(args, "softmax", 0);
    if (softmax && strcmp(softmax, "three-pass") != 0 && strcmp(softmax, "one-pass") != 0)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--softmax is '%s'", softmax),
                             "known: three-pass, one-pass");
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (sx_args_flag(args, apart[i]))
            return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--fuse cannot be used with --%s", apart[i]),
                                 "leave out one of them");
    if (sx_args_number(args, "gap", 0) < 0 || sx_args_number(args, "gap", 0) >= 1)
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "--gap %g is no share", sx_args_number(args, "gap", 0)),
            "--gap 0.02 is 2 %%");
    const char *exchange = sx_args_text(args, "exchange", 0), *staircase = sx_args_text(args, "staircase", 0);
    const size_t first = exchange ? strcspn(exchange, ",") : 0;
    if (exchange && staircase && (strncmp(exchange, staircase, first) != 0 || staircase[first]))
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "--staircase %s is not --exchange %s", staircase, exchange),
            "sizes of the first exchange memory are compared");
    if (sx_args_count(args, "orders", 1) < 1 || sx_args_count(args, "orders", 1) > SX_MAX_ORDERS)
        return sx_error_new(SX_ERR_USAGE, "--orders is a number from 1 to %d", SX_MAX_ORDERS);
    if (sx_args_count(args, "row-loops", 1) < 1 || sx_args_count(args, "row-loops", 1) > 2)
        return sx_error_new(SX_ERR_USAGE, "--row-loops is 1 or 2");
    if (sx_args_count(args, "orders", 1) > 1 && r->options.run.k_best > 1)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--orders cannot be used with --k-best"),
                             "leave out one of them");
    if (args->ranks) return sx_error_new(SX_ERR_USAGE, "--fuse is not for several processes");
    if (r->options.run.k_best > SX_MAX_FUSED)
        return sx_error_new(SX_ERR_USAGE, "--k-best %zu: with --fuse at most %d plans are kept",
                            (size_t)r->options.run.k_best, SX_MAX_FUSED);
    r->options.run.k_best = 1;
    r->options.run.seconds /= 2;
    return SX_OK;
}

/* Gives out what a given fused mapping costs, or why it is illegal. */
static sx_status add_given(const sx_args *args, const sx_fused *fused, sx_output *result) {
    const bool json = sx_args_flag(args, "json");
    if (fused->illegal[0]) {
        sx_output_exits(result, SX_EXIT_NONE);
        sx_text_add(&result->err, "illegal: %s\n", fused->illegal);
    }
    if (json) return sx_fused_given_json(fused, &result->out);
    if (fused->illegal[0]) return SX_OK;
    sx_fused_report(fused, "", sx_args_flag(args, "verbose"), &result->out);
    if (sx_args_flag(args, "explain")) sx_fused_explain(fused, &result->out);
    return SX_OK;
}

/* What --fuse and --exchange ask for. */
static sx_fusing_options options_of(const sx_args *args) {
    const char *tensors = sx_args_text(args, "fuse", 0), *window = sx_args_text(args, "window", 0),
               *staircase = sx_args_text(args, "staircase", 0);
    const char *softmax = sx_args_text(args, "softmax", 0), *exchange = sx_args_text(args, "exchange", 0);
    return (sx_fusing_options){.one_pass = softmax && strcmp(softmax, "one-pass") == 0,
                               .tensors = tensors && *tensors ? tensors : "auto",
                               .exchange = exchange ? exchange : staircase,
                               .staircase = sx_args_flag(args, "staircase"),
                               .window = window ? window : "best",
                               .k_best = (size_t)sx_args_count(args, "k-best", 1),
                               .row_loops = (int)sx_args_count(args, "row-loops", 1),
                               .orders = (size_t)sx_args_count(args, "orders", 1),
                               .gap = sx_args_number(args, "gap", 0)};
}

sx_status sx_fuse_evaluate_given(const sx_args *args, sx_sources *sources, const sx_arch *arch,
                                 const sx_objective *objective, uint64_t steps, sx_output *result) {
    sx_session_options options;
    sx_network network = {0};
    sx_graph graph = {0};
    sx_fused *fused = NULL;
    sx_session_options_init(&options);
    options.run.objective = *objective;
    options.model = sx_search_model_options(args);
    SX_TRY(sx_sources_graph(sources, &graph));
    sx_status status = sx_sources_layers(sources, &network);
    if (!status) status = sx_bind_network(sources, arch, NULL, &network, result);
    if (!status) {
        sx_search_network_semantics(args, &network, arch, &options.model);
        status =
            sx_session_fused_read(&graph, &network, arch, &options, sx_sources_fused(sources), steps, &fused);
    }
    if (!status) status = add_given(args, fused, result);
    sx_fused_free(fused);
    sx_network_fini(&network);
    sx_graph_fini(&graph);
    return status;
}

sx_status sx_fuse_graph(const sx_args *args, sx_sources *sources, const sx_result *r, sx_graph *graph) {
    const sx_fusing_options options = options_of(args);
    if (!sx_args_flag(args, "fuse")) return SX_OK;
    SX_TRY(sx_sources_graph(sources, graph));
    return sx_session_fuse_check(graph, &r->network, &r->arch, &r->options, &options);
}

sx_status sx_fuse_network(const sx_args *args, const sx_graph *graph, sx_result *r, sx_output *result) {
    const sx_fusing_options options = options_of(args);
    const char *path = sx_args_text(args, "certificate", 0);
    if (!sx_args_flag(args, "fuse") || !r->session.found) return SX_OK;
    SX_TRY(sx_session_fuse(graph, &r->network, &r->arch, &r->options, &r->session, &options, &r->fused));
    if (path && r->fused->certificate) return sx_output_write(result, path, r->fused->certificate);
    return SX_OK;
}
