/* The oracle's parts. It runs the nest as it stands, iteration by iteration, and is written to be obvious
 * rather than fast; it shares nothing with the model that it checks. */
#ifndef SX_ORACLE_SIMULATE_H
#define SX_ORACLE_SIMULATE_H

#include "sextant/model.h"

/* A box of words of a tensor: per rank low <= x < high. */
typedef struct sx_sim_box {
    int64_t low[SX_MAX_RANKS], high[SX_MAX_RANKS];
} sx_sim_box;

/* A set of words of a tensor, as their addresses in ascending order. */
typedef struct sx_sim_set {
    uint64_t *word;
    size_t size, room;
} sx_sim_set;

/* Words sent to groups of `multicast` children at once, at visits where `scatter` groups had that size. */
typedef struct sx_sim_record {
    uint64_t multicast, scatter;
    double accesses, hops;
} sx_sim_record;

/* What the children of a level ask of it, for one tensor. Records ascend by multicast, then scatter. */
typedef struct sx_sim_traffic {
    sx_sim_record *record;
    size_t n_records, room;
    double links; /* words handed on between children */
} sx_sim_traffic;

/* What a walk of the whole nest counts, over all instances. */
typedef struct sx_sim_counts {
    uint64_t compute_cycles;
    uint64_t partition[SX_MAX_LEVELS][SX_MAX_TENSORS];
    sx_sim_traffic traffic[SX_MAX_LEVELS][SX_MAX_TENSORS];
} sx_sim_counts;

/* What there is to simulate. */
typedef struct sx_sim_case {
    const sx_problem *problem;
    const sx_arch *arch;
    const sx_mapping *mapping;
    sx_model_options options;
    bool sampled; /* temporal loops run as Timeloop samples them (docs/model.md, section 8) */
} sx_sim_case;

/* The words of a tensor that the iterations start[d] <= d < end[d] touch, as the box around them. */
sx_sim_box sx_sim_project(const sx_problem *problem, int tensor, const int64_t *start, const int64_t *end);

/* The words of a tensor over the whole problem. */
sx_sim_box sx_sim_whole(const sx_problem *problem, int tensor);

/* How many words a box holds. */
uint64_t sx_sim_words(const sx_sim_box *box, int n_ranks);

/* The words of the first tile of one instance of a level, which is the largest. */
uint64_t sx_sim_tile(const sx_sim_case *sim, int level, int tensor);

/* How many instances of a level the mapping uses (level -1: compute units), and how far they reach in X and
 * Y. */
uint64_t sx_sim_instances(const sx_mapping *mapping, int level, uint64_t *x, uint64_t *y);

/* How far a level's spatial loops reach in X and Y. */
void sx_sim_axes(const sx_mapping_level *level, int n_dims, uint64_t *x, uint64_t *y);

/* Whether the mapping can run, and if not, why. */
sx_verdict sx_sim_check(const sx_sim_case *sim);

/* Walks the nest of a legal mapping. *counts is zero before, and the caller's to finish also after a failure.
 */
SX_MUST_USE sx_status sx_sim_walk(const sx_sim_case *sim, uint64_t max_steps, sx_sim_counts *counts);
void sx_sim_counts_fini(sx_sim_counts *counts);

/* The children of one instance, on their mesh: child i stands at column i % columns, row i / columns. */
typedef struct sx_sim_mesh {
    size_t children;
    uint64_t columns, rows;
} sx_sim_mesh;

/* How the words of one visit may be shared, and how many visits it stands for. */
typedef struct sx_sim_rules {
    bool multicast, links;
    double weight;
} sx_sim_rules;

/* Sends every child the words it lacks now, given what each one received at the visit before, and adds what
 * that takes to the traffic. */
SX_MUST_USE sx_status sx_sim_deliver(const sx_sim_mesh *mesh, sx_sim_rules rules, const sx_sim_set *now,
                                     const sx_sim_set *before, sx_sim_traffic *traffic);

/* One tensor at one level: per instance where all factors divide, else over all instances. */
typedef struct sx_sim_share {
    bool kept, passes; /* passes: it keeps the tensor, but hands on every access (no_coalesce) */
    uint64_t tile;
    double partition;
    double child_accesses, parent_accesses, peer_accesses;
    double reads, fills, updates, reductions;
    uint64_t fanout;
    sx_sim_traffic *traffic;
} sx_sim_share;

/* Turns what the nest moves into reads, fills and updates of each level, for one tensor; scales the traffic
 * of levels whose inner neighbour is bypassed. */
void sx_sim_levels(const sx_sim_case *sim, sx_sim_counts *counts, int tensor, sx_sim_share *share);

/* The whole cost from what the nest moves; uses the counts up. */
void sx_sim_cost(const sx_sim_case *sim, sx_sim_counts *counts, sx_cost *cost);

#endif
