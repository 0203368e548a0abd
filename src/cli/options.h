/* The rows of options that several commands share. */
#ifndef SX_CLI_OPTIONS_H
#define SX_CLI_OPTIONS_H

#include "input/options.h"

/* A number of a macro as text, for help. */
#define SX_QUOTED(number) #number
#define SX_TEXT_OF(number) SX_QUOTED(number)

/* Rows that several commands share; those that say what is read are in input/options.h. */
/* What the help of a command says of files and folders without an option. */
#define SX_HELP_FILES                                                                                        \
    "A FOLDER or a list of FILEs holds the inputs as Timeloop takes them: architecture, problem,\n"          \
    "constraints, mapping and energy tables are found by their sections. Options override them. A FILE\n"    \
    "that is read may be -, standard input.\n"
#define SX_OPTION_NO_ELISION                                                                                 \
    SX_ROW_FLAG("no-first-read-elision", 0,                                                                  \
                "also charge the first read of each output word, which reads a zero")
#define SX_OPTION_NO_LINKS SX_ROW_FLAG("no-link-transfers", 0, "no transfers between neighbouring instances")
#define SX_OPTION_NO_ERT SX_ROW_FLAG("no-ert", 0, "ignore energy tables found beside the architecture")
#define SX_OPTION_ESTIMATOR                                                                                  \
    SX_ROW_ONCE("estimator", 0, "accelergy-0.4|accelergy-0.3|published|timeloop", TEXT,                      \
                "whose rules estimate energies that no file states; where not given, accelergy-0.4 for "     \
                "files with a process node, such as technology: 45nm, else Timeloop's formulas")
#define SX_OPTION_DENSITY                                                                                    \
    SX_ROW_MANY("density", 0, "TENSOR=[MODEL:]VALUE,...", TEXT,                                              \
                "share of non-zeros of a tensor, such as Weights=0.1 or Weights=hypergeometric:0.1; MODEL "  \
                "is fixed-structured where not given; also banded:WIDTH, and actual:FILE with a file that "  \
                "lists the non-zeros")
#define SX_OPTION_BITS                                                                                       \
    SX_ROW_MANY("bits", 0, "[TENSOR=]N,...", TEXT,                                                           \
                "bits of an element, of all tensors or of one, such as 8,Outputs=32, or by role, such as "   \
                "w=4,a=8,kv=8,out=16; where not given, an element takes one word of every level")
#define SX_OPTION_SEMANTICS                                                                                  \
    SX_ROW_ONCE(                                                                                             \
        "sparse-semantics", 0, "exact|timeloop", TEXT,                                                       \
        "count what zeros save exactly, or as Timeloop does, its errors included; where not given, "         \
        "exactly, but as Timeloop does with --like timeloop and for files with its sparse_optimizations")
#define SX_OPTION_LATENCY                                                                                    \
    SX_ROW_ONCE("latency", 0, "timeloop|tile", TEXT,                                                         \
                "what `latency` is: Timeloop's cycles (the default), or the tile pipeline by the "           \
                "architecture's `latency` keys; tiles then share their buffers with those in flight")
/* What the model counts of any problem, and of one with zeros or widths. */
#define SX_OPTIONS_DENSE SX_OPTION_NO_ELISION, SX_OPTION_NO_LINKS, SX_OPTION_NO_ERT, SX_OPTION_ESTIMATOR
#define SX_OPTIONS_MODEL SX_OPTIONS_DENSE, SX_OPTION_DENSITY, SX_OPTION_BITS, SX_OPTION_SEMANTICS
#define SX_OPTIONS_FORMATS                                                                                   \
    SX_ROW_FLAG("search-formats", 0,                                                                         \
                "choose for each mapping which tensors each level holds in the formats that the "            \
                "architecture has for them, and which uncompressed"),                                        \
        SX_ROW_ONCE("formats", 0, "KIND,...", TEXT,                                                          \
                    "what --search-formats chooses from beside the given formats: none (the default), "      \
                    "ranks of kind CP, RLE or B, or all")
#define SX_OPTION_OBJECTIVE                                                                                  \
    SX_ROW_ONCE("objective", 0, "NAME", TEXT,                                                                \
                "also report the value of an objective of `sextant list objectives`")
#define SX_OPTION_JSON                                                                                       \
    SX_ROW_FLAG("json", 0, "print the result as JSON, and nothing else, on standard output")
#define SX_OPTION_OUTPUT SX_ROW_ONCE("output", 'o', "FILE", TEXT, "write the result to FILE, atomically")
#define SX_OPTION_VERBOSE                                                                                    \
    SX_ROW_FLAG("verbose", 'v', "show everything, including rows of zeros and input that has no effect")
#define SX_OPTION_QUIET SX_ROW_FLAG("quiet", 'q', "print only the totals, and only errors on standard error")
#define SX_OPTION_HELP SX_ROW_FLAG("help", 'h', "show this help")

#endif
