#include "cli/fuse.h"

#include <string.h>

sx_status sx_fuse_prepare(const sx_args *args, sx_result *r) {
    static const char *const apart[] = {"evaluator", "pareto",         "k-best", "certificate", "checkpoint",
                                        "densities", "search-formats", "gpu",    "emulate-gpu"};
    const char *window = sx_args_text(args, "window", 0);
    if (!sx_args_flag(args, "fuse")) {
        const char *alone = window                            ? "window"
                            : sx_args_flag(args, "exchange")  ? "exchange"
                            : sx_args_flag(args, "staircase") ? "staircase"
                                                              : NULL;
        if (!alone) return SX_OK;
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--%s has no effect without --fuse", alone),
                             "add --fuse, or leave out --%s", alone);
    }
    if (window && strcmp(window, "retain") && strcmp(window, "recompute") && strcmp(window, "best"))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--window is '%s'", window),
                             "known: retain, recompute, best");
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (sx_args_flag(args, apart[i]))
            return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--fuse cannot be used with --%s", apart[i]),
                                 "leave out one of them");
    if (sx_args_number(args, "gap", 0) < 0 || sx_args_number(args, "gap", 0) >= 1)
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "--gap %g is no share", sx_args_number(args, "gap", 0)),
            "--gap 0.02 is 2 %%");
    const char *exchange = sx_args_text(args, "exchange", 0), *stairs = sx_args_text(args, "staircase", 0);
    if (exchange && stairs && strcmp(exchange, stairs) != 0)
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "--staircase %s is not --exchange %s", stairs, exchange),
            "sizes of the exchange memory are compared");
    if (args->ranks) return sx_error_new(SX_ERR_USAGE, "--fuse is not for several processes");
    r->options.run.seconds /= 2;
    return SX_OK;
}

/* What --fuse and --exchange ask for. */
static sx_fusing_options options_of(const sx_args *args) {
    const char *tensors = sx_args_text(args, "fuse", 0), *window = sx_args_text(args, "window", 0),
               *staircase = sx_args_text(args, "staircase", 0);
    return (sx_fusing_options){.tensors = tensors && *tensors ? tensors : "auto",
                               .exchange = staircase ? staircase : sx_args_text(args, "exchange", 0),
                               .staircase = sx_args_flag(args, "staircase"),
                               .window = window ? window : "best",
                               .gap = sx_args_number(args, "gap", 0)};
}

sx_status sx_fuse_graph(const sx_args *args, sx_sources *sources, const sx_result *r, sx_graph *graph) {
    const sx_fusing_options options = options_of(args);
    if (!sx_args_flag(args, "fuse")) return SX_OK;
    SX_TRY(sx_sources_graph(sources, graph));
    return sx_session_fuse_check(graph, &r->network, &r->arch, &r->options, &options);
}

sx_status sx_fuse_network(const sx_args *args, const sx_graph *graph, sx_result *r) {
    const sx_fusing_options options = options_of(args);
    if (!sx_args_flag(args, "fuse") || !r->session.complete || !r->session.found) return SX_OK;
    return sx_session_fuse(graph, &r->network, &r->arch, &r->options, &r->session, &options, &r->fused);
}
