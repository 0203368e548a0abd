/* The oracle of sparse tensors (simulate_zeros.c), and its parts: a nest with drawn tensors. */
#ifndef SX_SUPPORT_ZEROS_ORACLE_H
#define SX_SUPPORT_ZEROS_ORACLE_H

#include "sextant/model.h"

/* What zeros leave of a mapping's accesses and computes, for tensors that are drawn. */
typedef struct sx_zeros {
    double accesses[SX_MAX_LEVELS][SX_MAX_TENSORS]
                   [SX_N_ACTION_KINDS];           /* shares of the dense reads and updates */
    double fills[SX_MAX_LEVELS][SX_MAX_TENSORS];  /* shares of the dense fills that take place */
    double stored[SX_MAX_LEVELS][SX_MAX_TENSORS]; /* shares of the words of tiles that are non-zeros */
    double computes[SX_N_ACTION_KINDS];
    bool counts_metadata[SX_MAX_LEVELS][SX_MAX_TENSORS]; /* a format whose ranks are counted */
    double metadata[SX_MAX_LEVELS][SX_MAX_TENSORS][SX_N_ACTION_KINDS]
                   [2]; /* words of metadata and payload per dense read or update */
    double fill_metadata[SX_MAX_LEVELS][SX_MAX_TENSORS][2]; /* the same per dense fill */
} sx_zeros;

/* The oracle of sparse tensors: draws the non-zeros of all tensors by their densities, goes through every
 * multiply-accumulate of a legal mapping without remainders, and counts by looking at real words. The means over many
 * draws are what the exact semantics expects. A tensor without a density is dense, but for an
 * output: it has a non-zero where a product of non-zeros is added. */
SX_MUST_USE sx_status sx_simulate_zeros(const sx_problem *problem, const sx_arch *arch,
                                        const sx_mapping *mapping, uint64_t max_steps, sx_rng *rng,
                                        sx_zeros *out);

enum { SX_ZEROS_LOOPS = 2 * SX_MAX_LEVELS * SX_MAX_DIMS };

/* A loop of more than one iteration. */
typedef struct sx_zeros_loop {
    uint8_t level, dim;
    bool spatial;
    uint32_t n, digit; /* digit: the current iteration */
    int64_t step;
} sx_zeros_loop;

/* Groups of points of the nest, told apart by some loops; neighbouring iterations of a loop may be one. */
typedef struct sx_zeros_groups {
    uint64_t weight[SX_ZEROS_LOOPS]; /* 0: the loop does not tell them apart */
    uint32_t joined[SX_ZEROS_LOOPS];
    uint64_t n;
    bool *met; /* a non-zero lies in the group */
} sx_zeros_groups;

/* Accesses to a tensor at a level depend on the words of another one that are used with a delivery. */
typedef struct sx_zeros_dependence {
    int target, level, on;
    sx_zeros_groups delivery;
} sx_zeros_dependence;

/* A nest with its tensors. */
typedef struct sx_zeros_nest {
    const sx_problem *problem;
    const sx_arch *arch;
    const sx_mapping *mapping;
    int n_loops;
    sx_zeros_loop loop[SX_ZEROS_LOOPS]; /* innermost first */
    bool *filled[SX_MAX_TENSORS];
    uint64_t words[SX_MAX_TENSORS];
    uint8_t names[SX_MAX_SPARSE_NAMES]; /* tensor of a name of the architecture; SX_MAX_TENSORS: none */
    bool acts[SX_MAX_TENSORS][SX_MAX_LEVELS], skips[SX_MAX_TENSORS][SX_MAX_LEVELS];
    sx_zeros_dependence *dependence;
    size_t n_dependences, room;
    struct sx_zeros_tiles *tiles[SX_MAX_TENSORS][SX_MAX_LEVELS]; /* their metadata; NULL: not counted */
} sx_zeros_nest;

/* Whether a tensor's words depend on a dimension; whether a level keeps a tensor. */
bool sx_zeros_indexes(const sx_zeros_nest *z, int v, int d);
bool sx_zeros_keeps(const sx_zeros_nest *z, int level, int v);

/* The next inner level that keeps a tensor; -1: compute units. */
int sx_zeros_child(const sx_zeros_nest *z, int v, int level);

/* The format of a tensor at a level; NULL: none. */
const sx_tensor_format *sx_zeros_format(const sx_zeros_nest *z, int v, int level);

/* Goes on to the next point of the nest; false after the last. */
bool sx_zeros_next(sx_zeros_nest *z);

/* The word of a tensor that is used at the current point, and the group of the point. */
uint64_t sx_zeros_word(const sx_zeros_nest *z, int v);
uint64_t sx_zeros_group(const sx_zeros_nest *z, const sx_zeros_groups *g);

/* Lets a loop tell groups apart, a fixed number of its iterations being one. */
void sx_zeros_split(sx_zeros_groups *g, int loop, uint32_t n, uint32_t joined);

/* Counts the metadata of every tile of formatted tensors. */
SX_MUST_USE sx_status sx_zeros_metadata_new(sx_zeros_nest *z);
void sx_zeros_metadata_free(sx_zeros_nest *z);

/* Adds the metadata that the current compute takes its part of, with accesses of that kind. */
void sx_zeros_metadata_add(const sx_zeros_nest *z, int v, int level, int kind, sx_zeros *out);

#endif
