/* Options of how a run of a network is served: several chips, their link, fused attention. */
#ifndef SX_CLI_CHIPS_H
#define SX_CLI_CHIPS_H

#include "input/sources.h"
#include "sextant/result.h"

#define SX_OPTIONS_CHIPS                                                                                     \
    SX_ROW_ONCE("chips", 0, "N", COUNT, "chips among which every layer is divided (1)"),                     \
        SX_ROW_ONCE("stages", 0, "N", COUNT,                                                                 \
                    "groups of layers that follow each other on chips of their own (1)"),                    \
        SX_ROW_ONCE("link", 0, "BYTES[,SECONDS]", TEXT,                                                      \
                    "bandwidth and latency of the link between chips, such as 300GB/s,10us (that of the "    \
                    "architecture)"),                                                                        \
        SX_ROW_FLAG("expert-parallel", 0,                                                                    \
                    "with --chips: each chip has some experts whole, instead of a part of each"),            \
        SX_ROW_ONCE("attention", 0, "fused|separate", TEXT,                                                  \
                    "time scores, softmax and context as one operator or as three (fused where the timing "  \
                    "has numbers of attention)")

/* Reads --chips, --stages and --expert-parallel. */
SX_MUST_USE sx_status sx_chips_options(const sx_args *args, sx_served *out);

/* Reads the timing of the result's architecture, which stays NULL where it has none, with the link of --link, and whether
 * attention is fused. An error where several chips have no link. */
SX_MUST_USE sx_status sx_chips_timing(const sx_args *args, sx_sources *sources, sx_result *r);

#endif
