/* The rows of options that say what is read, shared by the commands and by sx_read_layers. */
#ifndef SX_INPUT_OPTIONS_H
#define SX_INPUT_OPTIONS_H

#include "input/args.h"

#define SX_OPTION_ARCH                                                                                       \
    SX_ROW_MANY("arch", 'a', "FILE|NAME", INPUT,                                                             \
                "architecture: files (several may hold its parts, such as energy tables), or a name of "     \
                "`sextant list archs`")
/* The problem; `networks` is what may be named of a network. */
#define SX_OPTION_PROBLEM_OF(networks)                                                                       \
    SX_ROW_MANY("problem", 'p', "FILE|EINSUM|NAME", INPUT,                                                   \
                "the problem: a file (YAML, JSON or ONNX), text such as 'O[m,n] += A[m,k]*B[k,n] "           \
                "{m:64,n:64,k:64}', sizes 64x64x64 of a matrix product, a name of `sextant list problems`, " \
                "or " networks " of `sextant list networks`")
#define SX_OPTION_PROBLEM SX_OPTION_PROBLEM_OF("NETWORK/LAYER")
#define SX_OPTION_MAPPING SX_ROW_MANY("mapping", 'm', "FILE", INPUT, "the mapping, in Timeloop's format")
#define SX_OPTION_STRICT                                                                                     \
    SX_ROW_FLAG("strict", 0, "reject unknown keys in files, and input that otherwise only gives a warning")
#define SX_OPTION_LENIENT                                                                                    \
    SX_ROW_FLAG("lenient", 0,                                                                                \
                "only warn of keys in files that look like known ones misspelt, and ignore them")
#define SX_OPTION_SET                                                                                        \
    SX_ROW_MANY("set", 0, "NAME=VALUE", TEXT,                                                                \
                "a variable of templates ({{NAME}}) and of expressions in the files, or a size that an "     \
                "ONNX model leaves open; repeatable")
#define SX_OPTION_INCLUDE_PATH                                                                               \
    SX_ROW_MANY("include-path", 'I', "DIR", TEXT,                                                            \
                "files may also include files of this folder, not only of their own; repeatable")
#define SX_OPTION_RENAME                                                                                     \
    SX_ROW_MANY(                                                                                             \
        "rename", 0, "OLD=NEW", TEXT,                                                                        \
        "rename dimensions of the problem to those of the design, such as K=M; repeatable, or with commas")
#define SX_OPTION_LIKE                                                                                       \
    SX_ROW_ONCE("like", 0, "timeloop", TEXT,                                                                 \
                "read files and count zeros as Timeloop does, also where Sextant does otherwise")
/* Of a command that reads a problem of the user's, and of one that does not. */
#define SX_OPTIONS_FILES                                                                                     \
    SX_OPTION_SET, SX_OPTION_INCLUDE_PATH, SX_OPTION_STRICT, SX_OPTION_LENIENT, SX_OPTION_RENAME,            \
        SX_OPTION_LIKE
#define SX_OPTIONS_READ                                                                                      \
    SX_OPTION_SET, SX_OPTION_INCLUDE_PATH, SX_OPTION_STRICT, SX_OPTION_LENIENT, SX_OPTION_LIKE

/* Problems of a command that takes networks, too, and what goes with these. */
#define SX_OPTION_PROBLEMS SX_OPTION_PROBLEM_OF("NETWORK or NETWORK/LAYER")
#define SX_OPTION_BATCH SX_ROW_ONCE("batch", 0, "N", COUNT, "batch size of a network of the catalog (1)")
#define SX_OPTION_TRAINING                                                                                   \
    SX_ROW_FLAG("training", 0, "weight updates of a network of the catalog instead of inference")
#define SX_OPTION_TRAINING_STEP                                                                              \
    SX_ROW_FLAG(                                                                                             \
        "training-step", 0,                                                                                  \
        "a whole training step of a network of the catalog: inference, weight updates, data gradients")
#define SX_OPTIONS_NETWORK                                                                                   \
    SX_OPTION_PROBLEMS, SX_OPTION_BATCH, SX_OPTION_TRAINING, SX_OPTION_TRAINING_STEP, SX_OPTIONS_PHASE

/* Which run of a language model. */
#define SX_OPTIONS_PHASE                                                                                     \
    SX_ROW_ONCE(                                                                                             \
        "phase", 0, "NAME", TEXT,                                                                            \
        "of a language model: prefill (the default), decode, or both; of other networks forward or encode"), \
        SX_ROW_ONCE("tokens", 0, "N", COUNT, "new tokens of each sequence (prefill 2048, decode 1)"),        \
        SX_ROW_ONCE("context", 0, "N", COUNT,                                                                \
                    "tokens of each sequence in the caches before the run (prefill 0, decode 4096)"),        \
        SX_ROW_ONCE(                                                                                         \
            "logits", 0, "last|all", TEXT,                                                                   \
            "compute the scores of words after the last new token of each sequence, or after all (last)"),   \
        SX_ROW_ONCE("routing", 0, "uniform|balanced", TEXT,                                                  \
                    "experts that tokens hit: the expected number, or as many as can be (uniform)"),         \
        SX_ROW_ONCE("experts-hit", 0, "N", COUNT, "experts of a layer that tokens hit, as measured"),        \
        SX_ROW_ONCE("causal", 0, "rectangle|skip", TEXT,                                                     \
                    "count all pairs of queries and keys, or, for machines that skip the others, those "     \
                    "that causal attention uses (rectangle)"),                                               \
        SX_ROW_ONCE("mla", 0, "absorbed|expanded", TEXT,                                                     \
                    "attention over latents: with the latents themselves, or with keys and values made "     \
                    "from them (absorbed to decode)")
#endif
