/* The rows of options that say what is read, shared by the commands and by sx_read_layers. */
#ifndef SX_INPUT_OPTIONS_H
#define SX_INPUT_OPTIONS_H

#include "input/args.h"

#define SX_OPTION_ARCH                                                                                       \
    {                                                                                                        \
        "arch", 'a', "FILE|NAME", SX_OPTION_INPUT, true,                                                     \
            "architecture: files (several may hold its parts, such as energy tables), or a name of "         \
            "`sextant list archs`"                                                                           \
    }
#define SX_OPTION_PROBLEM                                                                                    \
    {                                                                                                        \
        "problem", 'p', "FILE|EINSUM|NAME", SX_OPTION_INPUT, true,                                           \
            "the problem: a file (YAML, JSON or ONNX), text such as 'O[m,n] += A[m,k]*B[k,n] "               \
            "{m:64,n:64,k:64}', sizes 64x64x64 "                                                             \
            "of a matrix product, a name of "                                                                \
            "`sextant list problems`, or NETWORK/LAYER of `sextant list networks`"                           \
    }
#define SX_OPTION_MAPPING                                                                                    \
    { "mapping", 'm', "FILE", SX_OPTION_INPUT, true, "the mapping, in Timeloop's format" }
#define SX_OPTION_STRICT                                                                                     \
    {                                                                                                        \
        "strict", 0, NULL, SX_OPTION_FLAG, false,                                                            \
            "reject unknown keys in files, and input that otherwise only gives a warning"                    \
    }
#define SX_OPTION_LENIENT                                                                                    \
    {                                                                                                        \
        "lenient", 0, NULL, SX_OPTION_FLAG, false,                                                           \
            "only warn of keys in files that look like known ones misspelt, and ignore them"                 \
    }
#define SX_OPTION_SET                                                                                        \
    {                                                                                                        \
        "set", 0, "NAME=VALUE", SX_OPTION_TEXT, true,                                                        \
            "a variable of templates ({{NAME}}) and of expressions in the files, or a size that an ONNX "    \
            "model leaves open; repeatable"                                                                  \
    }
#define SX_OPTION_INCLUDE_PATH                                                                               \
    {                                                                                                        \
        "include-path", 'I', "DIR", SX_OPTION_TEXT, true,                                                    \
            "files may also include files of this folder, not only of their own; repeatable"                 \
    }
#define SX_OPTION_RENAME                                                                                     \
    {                                                                                                        \
        "rename", 0, "OLD=NEW", SX_OPTION_TEXT, true,                                                        \
            "rename dimensions of the problem to those of the design, such as K=M; repeatable, or with "     \
            "commas"                                                                                         \
    }
#define SX_OPTION_LIKE                                                                                       \
    {                                                                                                        \
        "like", 0, "timeloop", SX_OPTION_TEXT, false,                                                        \
            "read files and count zeros as Timeloop does, also where Sextant does otherwise"                 \
    }
#define SX_OPTIONS_FILES                                                                                     \
    SX_OPTION_SET, SX_OPTION_INCLUDE_PATH, SX_OPTION_STRICT, SX_OPTION_LENIENT, SX_OPTION_RENAME,            \
        SX_OPTION_LIKE

/* Problems of a command that takes networks, too, and what goes with these. */
#define SX_OPTION_PROBLEMS                                                                                   \
    {                                                                                                        \
        "problem", 'p', "FILE|EINSUM|NAME", SX_OPTION_INPUT, true,                                           \
            "the problem: a file (YAML, JSON or ONNX), text such as 'O[m,n] += A[m,k]*B[k,n] "               \
            "{m:64,n:64,k:64}', sizes 64x64x64 "                                                             \
            "of a matrix product, a name of "                                                                \
            "`sextant list problems`, or NETWORK or NETWORK/LAYER of `sextant list networks`"                \
    }
#define SX_OPTION_BATCH                                                                                      \
    { "batch", 0, "N", SX_OPTION_COUNT, false, "batch size of a network of the catalog (1)" }
#define SX_OPTION_TRAINING                                                                                   \
    {                                                                                                        \
        "training", 0, NULL, SX_OPTION_FLAG, false,                                                          \
            "weight updates of a network of the catalog instead of inference"                                \
    }
#define SX_OPTION_TRAINING_STEP                                                                              \
    {                                                                                                        \
        "training-step", 0, NULL, SX_OPTION_FLAG, false,                                                     \
            "a whole training step of a network of the catalog: inference, weight updates, data gradients"   \
    }
#define SX_OPTIONS_NETWORK                                                                                   \
    SX_OPTION_PROBLEMS, SX_OPTION_BATCH, SX_OPTION_TRAINING, SX_OPTION_TRAINING_STEP, SX_OPTIONS_PHASE

/* Which run of a language model. */
#define SX_OPTIONS_PHASE                                                                                     \
    {"phase",                                                                                                \
     0,                                                                                                      \
     "NAME",                                                                                                 \
     SX_OPTION_TEXT,                                                                                         \
     false,                                                                                                  \
     "of a language model: prefill (the default), decode, or both; of other networks forward or encode"},    \
        {"tokens", 0, "N", SX_OPTION_COUNT, false, "new tokens of each sequence (prefill 2048, decode 1)"},  \
        {"context", 0,                                                                                       \
         "N",       SX_OPTION_COUNT,                                                                         \
         false,     "tokens of each sequence in the caches before the run (prefill 0, decode 4096)"},        \
        {"logits",                                                                                           \
         0,                                                                                                  \
         "last|all",                                                                                         \
         SX_OPTION_TEXT,                                                                                     \
         false,                                                                                              \
         "compute the scores of words after the last new token of each sequence, or after all (last)"},      \
        {"routing",                                                                                          \
         0,                                                                                                  \
         "uniform|balanced",                                                                                 \
         SX_OPTION_TEXT,                                                                                     \
         false,                                                                                              \
         "experts that tokens hit: the expected number, or as many as can be (uniform)"},                    \
        {"experts-hit", 0, "N", SX_OPTION_COUNT, false, "experts of a layer that tokens hit, as measured"},  \
        {"causal",                                                                                           \
         0,                                                                                                  \
         "rectangle|skip",                                                                                   \
         SX_OPTION_TEXT,                                                                                     \
         false,                                                                                              \
         "count all pairs of queries and keys, or, for machines that skip the others, those that causal "    \
         "attention uses (rectangle)"},                                                                      \
    {                                                                                                        \
        "mla", 0, "absorbed|expanded", SX_OPTION_TEXT, false,                                                \
            "attention over latents: with the latents themselves, or with keys and values made from them "   \
            "(absorbed to decode)"                                                                           \
    }
#endif
