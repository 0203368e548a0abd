/* `sextant map --fuse`. */
#ifndef SX_CLI_FUSE_H
#define SX_CLI_FUSE_H

#include "cli/command.h"
#include "cli/options.h"
#include "input/sources.h"
#include "sextant/result.h"

#define SX_OPTIONS_FUSE                                                                                      \
    SX_ROW_ONCE("fuse", 0, "[=auto|none|TENSOR,...]", CHOICE,                                                \
                "of a network, also find which tensors between layers should stay on chip (auto), or let "   \
                "those of these names stay (docs/fusion.md)"),                                               \
        SX_ROW_ONCE("exchange", 0, "LEVEL[,LEVEL]", TEXT,                                                    \
                    "with --fuse: the memory in which tensors stay (the one inside the outermost), and a "   \
                    "second one further in"),                                                                \
        SX_ROW_FLAG(                                                                                         \
            "explain", 'e',                                                                                  \
            "with --fuse: explain the groups: their loops as trees, what stays where, and what it saves"),   \
        SX_ROW_ONCE(                                                                                         \
            "orders", 0, "N", COUNT,                                                                         \
            "with --fuse: try at most N orders of the layers, where the network leaves a choice (1)"),       \
        SX_ROW_ONCE("row-loops", 0, "1|2", COUNT,                                                            \
                    "with --fuse: loops over rows that the layers of a group share, at most: the second "    \
                    "one is inside that over channels (1)"),                                                 \
        SX_ROW_ONCE("softmax", 0, "three-pass|one-pass", TEXT,                                               \
                    "with --fuse: a softmax needs whole rows (three-pass), or may also run by slices of "    \
                    "them with running maxima and sums (one-pass) (three-pass)"),                            \
        SX_ROW_ONCE("staircase", 0, "LEVEL", TEXT,                                                           \
                    "with --fuse: also find what the half of this memory, a quarter, and so on down to "     \
                    "1/32 would give"),                                                                      \
        SX_ROW_ONCE(                                                                                         \
            "window", 0, "retain|recompute|best", TEXT,                                                      \
            "with --fuse: rows that windows of two steps share are kept, made again, or as is best (best)")

/* Refuses options that --fuse cannot be combined with; gives the layers and the fused network half of the time each. */
SX_MUST_USE sx_status sx_fuse_prepare(const sx_args *args, sx_result *r);

/* Reads the graph of a result's network, where it is to be fused, and refuses what cannot be. *graph is freed with
 * sx_graph_fini. */
SX_MUST_USE sx_status sx_fuse_graph(const sx_args *args, sx_sources *sources, const sx_result *r,
                                    sx_graph *graph);

/* Evaluates the fused mapping of the sources, and outputs what it costs or why it is illegal; steps as in
 * sx_session_fused_read. */
SX_MUST_USE sx_status sx_fuse_evaluate_given(const sx_args *args, sx_sources *sources, const sx_arch *arch,
                                             const sx_objective *objective, uint64_t steps,
                                             sx_output *result);

/* Fuses the network of a result whose layers were searched, and writes the certificate of --certificate. */
SX_MUST_USE sx_status sx_fuse_network(const sx_args *args, const sx_graph *graph, sx_result *r,
                                      sx_output *result);

#endif
