/* The options that describe a systolic array, for the commands that search one. */
#ifndef SX_CLI_SYSTOLIC_OPTIONS_H
#define SX_CLI_SYSTOLIC_OPTIONS_H

#include "base/text.h"
#include "cli/options.h"
#include "session/systolic_job.h"

#define SX_SYSTOLIC_DEVICE "u250"
#define SX_SYSTOLIC_OBJECTIVE "delay"
#define SX_SYSTOLIC_PAD_TO 64

#define SX_OPTION_DEVICE                                                                                     \
    SX_ROW_ONCE(                                                                                             \
        "device", 'd', "NAME|FILE", INPUT,                                                                   \
        "the device: a name of `sextant list devices`, or a file that describes one (" SX_SYSTOLIC_DEVICE    \
        ")")
#define SX_OPTIONS_ARRAY                                                                                     \
    SX_ROW_ONCE("type", 0, "NAME", TEXT, "data type, one of the device's (its first)"),                      \
        SX_ROW_MANY("design", 0, "NAME", TEXT,                                                               \
                    "a design such as 3_2, DATAFLOW_PERMUTATION; repeatable (all)"),                         \
        SX_ROW_ONCE("tiles", 0, "SPACE", TEXT,                                                               \
                    "first-level tiles: full (any, short loops padded up to " SX_TEXT_OF(                    \
                        SX_SYSTOLIC_PAD_TO) " steps), padded (as in the paper: those of the SIMD loop "      \
                                            "divide it) or divisors (full)"),                                \
        SX_ROW_FLAG("thin", 0, "allow two-dimensional arrays with a side of 1"),                             \
        SX_ROW_FLAG("corrected", 0, "use the corrected model instead of the published one"),                 \
        SX_ROW_ONCE("min-dsp", 0, "SHARE", NUMBER,                                                           \
                    "minimum share of the usable DSP blocks that a design uses (0)")

/* Reads --device: a file, if there is one or the value has a point or a slash in it, or a name of the
 * catalog. */
SX_MUST_USE sx_status sx_systolic_read_device(const sx_args *args, sx_device *out);

/* Reads --device, --type, --corrected, --thin, --tiles, --min-dsp and --design into a job. */
SX_MUST_USE sx_status sx_systolic_read_array(const sx_args *args, sx_systolic_job *job);

#endif
