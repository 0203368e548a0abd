/* What a mapping costs, and why it may not be run at all. */
#ifndef SX_COST_H
#define SX_COST_H

#include "sextant/mapping.h"

/* Why a mapping cannot run. */
typedef enum sx_reason {
    SX_LEGAL = 0,
    SX_BAD_SHAPE,      /* made for another number of levels, dimensions or tensors, or not a permutation */
    SX_FACTOR_PRODUCT, /* dim: factors do not multiply to (or, with remainders, cover) the size */
    SX_CAPACITY,       /* level: have words needed, limit words there */
    SX_UNDERUSED,      /* level: fewer words than the minimum utilisation asks for */
    SX_MESH_X,         /* level (n_levels: compute): spatial expansion in X beyond the mesh */
    SX_MESH_Y,
    SX_INSTANCES,
    SX_NOT_KEPT,            /* tensor: kept at no level */
    SX_KEEP_FORBIDDEN,      /* level, tensor: a transparent level, or one not built for it, keeps it */
    SX_METADATA_CAPACITY,   /* level: have bits of metadata, limit bits there */
    SX_FEW_RANKS,           /* level, tensor: more loops than the format has ranks */
    SX_FORMATS_DIFFER,      /* level, tensor: the inner ranks are not those of the next inner level */
    SX_NO_DECOMPRESSION,    /* level, tensor: holds it uncompressed below a level that does not */
    SX_NO_COMPRESSION,      /* the same for what it hands outward */
    SX_UNCOMPRESSED_PARENT, /* level, tensor: compressed below a level that holds it uncompressed */
    SX_SPARSE_UNDEFINED,    /* level, tensor: Timeloop's rules for sparse tensors give no result */
    SX_COUNT_OVERFLOW,      /* a count exceeds 2^62 */
    SX_BOUND_EXCEEDED,      /* not illegal: an early-out evaluation passed its bound */
    SX_NO_MEMORY,           /* not illegal: the workspace could not grow */
    /* Not illegal: a limit of the model keeps it from counting what level and tensor exchange. */
    SX_LIMIT_CHILDREN, /* have children of an instance whose multicast groups must be listed one by one */
    SX_LIMIT_CLASSES,  /* have kinds of children that remainders tell apart */
    SX_LIMIT_BLOCKS,   /* have distinct blocks of iterations, with remainders */
    SX_LIMIT_WORDS,    /* have distinct words or tiles to be marked one by one, with remainders */
    SX_LIMIT_CYCLES,   /* have cycles, by the bandwidth of level: more than a count holds */
} sx_reason;

typedef struct sx_verdict {
    sx_reason reason;
    int8_t level, tensor, dim; /* -1 where they do not apply; level == n_levels is the compute array */
    double have, limit;
} sx_verdict;

/* The verdict in words, in a buffer of the caller's. */
void sx_verdict_text(const sx_verdict *verdict, const sx_problem *problem, const sx_arch *arch, char *text,
                     size_t size);
/* The error of a mapping that could not be evaluated, because memory is out or by a limit of the model;
 * success for every other verdict, legal or not. */
SX_MUST_USE sx_status sx_verdict_status(const sx_verdict *verdict, const sx_problem *problem,
                                        const sx_arch *arch);
/* The reason's stable short name, such as "capacity". */
const char *sx_reason_name(sx_reason reason);

/* Counts are totals over all instances; divide by `instances` for a single one's (its average when factors
 * leave remainders). */
typedef struct sx_cost_tensor {
    bool kept;
    uint64_t tile;      /* words one instance holds: the utilised capacity (0 when bypassed) */
    uint64_t partition; /* different words held over the whole run, summed over instances */
    uint64_t reads, fills, updates;
    uint64_t temporal_reductions;
    double address_generations; /* per cluster */
    double energy_pj;           /* accesses and address generation, all instances */
    /* the rest only where sx_cost.sparse; counts are per instance */
    double actions[SX_N_ACTION_KINDS][SX_N_ACCESSES]; /* words accessed, gated and skipped */
    double instances;                                 /* in use on average */
    double density;                                   /* expected share of non-zeros of a tile that is held */
    double decompressions, compressions;              /* words */
    uint64_t metadata_bits;                           /* most that a tile takes */
    /* Per tensor on which this level's gating or skipping depends, exact semantics: the words of it that must all
     * be zeros (0: it does not depend on it), and the probability that they are. */
    uint64_t condition_words[SX_MAX_TENSORS];
    double condition_empty[SX_MAX_TENSORS];
} sx_cost_tensor;

/* Metadata and payload words of one rank of a format. */
typedef struct sx_cost_rank {
    double words[SX_N_ACTION_KINDS][SX_N_ACCESSES][2]; /* metadata, payload; per instance */
    uint64_t capacity[2];                              /* most that a tile takes */
} sx_cost_rank;

typedef struct sx_cost_level {
    uint64_t instances; /* in use */
    uint64_t clusters;  /* in use */
    uint64_t cycles;    /* compute cycles stretched by this level's bandwidth */
    double slowdown;    /* <= 1 */
    double leakage_pj;
    double energy_pj; /* tensors and leakage */
    sx_cost_tensor tensor[SX_MAX_TENSORS];
} sx_cost_level;

/* Of the network between a level and its children. */
typedef struct sx_cost_net_tensor {
    uint64_t fanout;
    uint64_t multicast;                        /* largest group served by one access */
    double ingresses;                          /* per instance of the outer level */
    double link_transfers, spatial_reductions; /* per instance of the outer level */
    double hops;                               /* average */
    double energy_pj, link_energy_pj;          /* all instances */
} sx_cost_net_tensor;

typedef struct sx_cost_network {
    double energy_pj;
    sx_cost_net_tensor tensor[SX_MAX_TENSORS];
} sx_cost_network;

/* The totals that decide a search, in the order of sx_total. */
enum { SX_N_TOTALS = 5 };
typedef struct sx_score {
    double energy_pj;
    double cycles;
    double utilization;
    double last_level_accesses; /* words read, filled or updated at the outermost level that keeps anything */
    double latency;             /* cycles of the tile pipeline; `cycles` where the model has no such law */
} sx_score;

/* A level that launches tiles: the stages of a tile in cycles, and what its latency is made of: start + first +
 * launches * max(load, compute, store) + exposed + drain. */
typedef struct sx_cost_boundary {
    uint8_t level;
    double launches, load, compute, store;
    double period; /* between two launches */
    double start, first, exposed, drain;
} sx_cost_boundary;

typedef struct sx_cost {
    uint8_t n_levels, n_tensors;
    bool perfect;      /* no remainders */
    bool sparse;       /* zeros are taken into account */
    uint64_t computes; /* that take place */
    uint64_t compute_instances, compute_cycles, cycles;
    uint64_t algorithmic_computes; /* of the problem, zeros or not */
    double gated_computes, skipped_computes;
    double compute_energy_pj, energy_pj, edp, utilization, last_level_accesses;
    double latency;                         /* as in sx_score */
    uint8_t n_boundaries;                   /* 0: latency is cycles */
    sx_cost_boundary boundary[SX_MAX_LAWS]; /* innermost first */
    sx_cost_level level[SX_MAX_LEVELS];
    sx_cost_network network[SX_MAX_LEVELS]; /* network[s] joins level s to what is inside it */
    sx_cost_rank rank[SX_MAX_ALL_RANKS];    /* as sx_sparse.rank, where sparse */
} sx_cost;

sx_score sx_cost_score(const sx_cost *cost);

#endif
