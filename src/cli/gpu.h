/* `sextant map --gpu`: mappers on a GPU. */
#ifndef SX_CLI_GPU_H
#define SX_CLI_GPU_H

#include "cli/progress.h"
#include "gpu/gpu.h"

/* A mapper on a GPU, as a navigator of the program's own. */
typedef struct sx_gpu_choice {
    char asked[256]; /* the mapper as results name it, with the settings that were given; "": none */
    sx_navigator navigator;
    sx_gpu_search search;
    sx_progress_line *line;
    double told;
} sx_gpu_choice;

#define SX_OPTIONS_GPU                                                                                       \
    SX_ROW_FLAG("gpu", 0,                                                                                    \
                "with --mapper exhaustive, random, pruned or gamma: search on an NVIDIA GPU (docs/gpu.md)"), \
        SX_ROW_FLAG("emulate-gpu", 0, "the search of --gpu on one core of the CPU, with the same result")

/* The evaluations of a mapper on a GPU that does not terminate by itself, where no budget is given. */
#define SX_GPU_EVALS 1000000000

/* Reads --gpu and --emulate-gpu for the mapper "name:key=value,..."; *mapper is its name with every
 * setting, freed with free(), and stays as it is where neither is given. */
SX_MUST_USE sx_status sx_gpu_choose(const sx_args *args, const char *asked, sx_gpu_choice *out,
                                    SX_OWN char **mapper);

/* Shows on that line how far an exhaustive search is. */
void sx_gpu_choice_show(sx_gpu_choice *choice, sx_progress_line *line);

/* Shows how many of what are done, at most ten times a second; *told: when it did so last. */
void sx_gpu_show(sx_progress_line *line, double *told, uint64_t done, uint64_t all, const char *what,
                 double best);

#endif
