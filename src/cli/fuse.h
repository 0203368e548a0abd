/* `sextant map --fuse`. */
#ifndef SX_CLI_FUSE_H
#define SX_CLI_FUSE_H

#include "cli/command.h"
#include "cli/options.h"
#include "input/sources.h"
#include "sextant/result.h"

#define SX_OPTIONS_FUSE                                                                                       \
    {"fuse",                                                                                                  \
     0,                                                                                                       \
     "[=auto|none|TENSOR,...]",                                                                               \
     SX_OPTION_CHOICE,                                                                                        \
     false,                                                                                                   \
     "of a network, also find which tensors between layers should stay on chip (auto), or let those of "      \
     "these names stay (docs/fusion.md)"},                                                                    \
        {"exchange",                                                                                          \
         0,                                                                                                   \
         "LEVEL[,LEVEL]",                                                                                     \
         SX_OPTION_TEXT,                                                                                      \
         false,                                                                                               \
         "with --fuse: the memory in which tensors stay (the one inside the outermost), and a second one "    \
         "further in"},                                                                                       \
        {"explain",                                                                                           \
         'e',                                                                                                 \
         NULL,                                                                                                \
         SX_OPTION_FLAG,                                                                                      \
         false,                                                                                               \
         "with --fuse: explain the groups: their loops as trees, what stays where, and what it saves"},       \
        {"orders", 0,                                                                                         \
         "N",      SX_OPTION_COUNT,                                                                           \
         false,    "with --fuse: try at most N orders of the layers, where the network leaves a choice (1)"}, \
        {"row-loops",                                                                                         \
         0,                                                                                                   \
         "1|2",                                                                                               \
         SX_OPTION_COUNT,                                                                                     \
         false,                                                                                               \
         "with --fuse: loops over rows that the layers of a group share, at most: the second one is inside "  \
         "that over channels (1)"},                                                                           \
        {"softmax",                                                                                           \
         0,                                                                                                   \
         "three-pass|one-pass",                                                                               \
         SX_OPTION_TEXT,                                                                                      \
         false,                                                                                               \
         "with --fuse: a softmax needs whole rows (three-pass), or may also run by slices of them with "      \
         "running maxima and sums (one-pass) (three-pass)"},                                                  \
        {"staircase",                                                                                         \
         0,                                                                                                   \
         "LEVEL",                                                                                             \
         SX_OPTION_TEXT,                                                                                      \
         false,                                                                                               \
         "with --fuse: also find what the half of this memory, a quarter, and so on down to 1/32 would "      \
         "give"},                                                                                             \
    {                                                                                                         \
        "window", 0, "retain|recompute|best", SX_OPTION_TEXT, false,                                          \
            "with --fuse: rows that windows of two steps share are kept, made again, or as is best (best)"    \
    }

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
