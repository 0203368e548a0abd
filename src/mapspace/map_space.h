/* The map space: the inside that mappers for map spaces see.
 *
 * A point is the beginning of an sx_mapping, up to its last level, followed (where levels are shared out by
 * banks) by a count of banks per level and tensor. Factors lie in slots, innermost first: the spatial slot of
 * each level with a fan-out beyond 1, then its temporal slot. Genes, by axis:
 *   tile      one per dimension: its factors over all slots
 *   order     one per level: the order of its temporal loops
 *   parallel  one per level whose fan-out has both X and Y: which spatial dimensions lie on X
 *   keep      one per level where keeping is free (not banked): which tensors it keeps
 *   banks     one per banked level: how many banks each tensor has; a tensor is kept there if its tile fits
 * Within X and within Y, spatial loops follow the order of the problem's dimensions, unless constrained. */
#ifndef SX_MAPSPACE_MAP_SPACE_H
#define SX_MAPSPACE_MAP_SPACE_H

#include "mapspace/factors.h"
#include "mapspace/orders.h"

#include <pthread.h>

enum sx_map_axis { SX_AXIS_TILE, SX_AXIS_ORDER, SX_AXIS_PARALLEL, SX_AXIS_KEEP, SX_AXIS_BANKS };

typedef struct sx_map_slot {
    uint8_t level;
    bool spatial;
} sx_map_slot;

typedef struct sx_map_space {
    sx_space space;
    sx_point_model point_model; /* the cost model as the model of the points */
    const sx_model *model;
    const sx_problem *problem;
    const sx_arch *arch;
    sx_constraints constraints;
    sx_map_space_options options;
    int n_slots;
    sx_map_slot slot[SX_MAX_SLOTS];
    uint32_t min[SX_MAX_DIMS][SX_MAX_SLOTS], max[SX_MAX_DIMS][SX_MAX_SLOTS]; /* limits of factors */
    int8_t temporal_slot[SX_MAX_LEVELS];
    int8_t spatial_slot[SX_MAX_LEVELS];  /* -1: no fan-out */
    bool planar[SX_MAX_LEVELS];          /* the fan-out has both X and Y */
    uint16_t free_x[SX_MAX_LEVELS];      /* dimensions whose spatial loop may lie on X or on Y */
    uint16_t fixed_x[SX_MAX_LEVELS];     /* dimensions whose spatial loop lies on X; all others: on Y */
    uint16_t fixed_order[SX_MAX_LEVELS]; /* dimensions whose temporal loop has its place */
    uint8_t spatial_order[SX_MAX_LEVELS][SX_MAX_DIMS]; /* of spatial loops, within X and within Y */
    uint8_t free_keep[SX_MAX_LEVELS];                  /* tensors that a level may keep or not */
    uint8_t fixed_keep[SX_MAX_LEVELS];                 /* tensors that it always keeps */
    uint8_t banked[SX_MAX_LEVELS]; /* tensors that share the level by banks; 0: not banked */
    uint64_t bank_words[SX_MAX_LEVELS];
    bool reached; /* some reach is limited */
    uint32_t reach[SX_MAX_LEVELS]
                  [SX_MAX_DIMS]; /* how far a tile may go in one dimension, were all others 1 */
    sx_factors *factors[SX_MAX_DIMS];
    sx_orders *orders;
    uint8_t n_primes[SX_MAX_DIMS];
    uint32_t prime[SX_MAX_DIMS][10]; /* of the dimension's size, ascending */
    size_t banks_at;                 /* where a point's counts of banks begin; 0: it has none */
    bool nested;                     /* there are several fan-outs, of which each has its own room */
    uint64_t room[SX_MAX_LEVELS][2]; /* the children of one instance on X and Y */
    bool splits[SX_MAX_LEVELS];      /* a dimension may lie on both axes */
    bool shares;                     /* constraints ask for shares in use, which no construction promises */
    void *blank;                     /* a point of no choices: what all constructions have in common */
    sx_gene gene_of[SX_MAX_DIMS + 4 * SX_MAX_LEVELS];
    pthread_mutex_t lock; /* of the account of the size, which is made when it is asked for */
    size_t n_counts;
    sx_size count[12];
} sx_map_space;

/* A space as a map space; NULL where it is of another type. */
const sx_map_space *sx_map_space_of(const sx_space *space);

/* A point as the mapping it begins with: only the levels there are may be read. */
static inline const sx_mapping *sx_map_point(const void *point) {
    return (const sx_mapping *)point;
}
static inline sx_mapping_level *sx_map_level(void *point, int level) {
    return &((sx_mapping *)point)->level[level];
}
/* The banks of a level's tensors, SX_MAX_TENSORS numbers; only where the space has the axis. */
uint8_t *sx_map_banks(const sx_map_space *space, void *point, int level);

/* A dimension's factors over the slots, out of a point and into it (which does not normalize it). */
void sx_map_get_factors(const sx_map_space *space, const void *point, int dim, uint32_t *factor);
void sx_map_set_factors(const sx_map_space *space, int dim, const uint32_t *factor, void *point);

/* Says of a mapping that its spatial loops spread over more children than one instance of some level has;
 * false where they do not. The model accepts it, as it only counts all instances together. */
bool sx_map_explain_fanout(const sx_map_space *space, const sx_mapping *mapping, char *text, size_t size);

/* The vector of a mapping; of one that the space cannot hold, too: of all that it has in common with points.
 */
SX_MUST_USE sx_status sx_map_vector(const sx_space *space, const sx_mapping *mapping, double *values);

/* What a number of a point's vector is: see map_encode.c. */
enum sx_map_value_kind { SX_VALUE_FACTOR, SX_VALUE_ORDER, SX_VALUE_PLANE, SX_VALUE_KEEP, SX_VALUE_BANKS };
typedef struct sx_map_value {
    uint8_t kind;
    uint8_t level;
    uint8_t which;   /* the dimension; the tensor of keeping and of banks */
    uint8_t spatial; /* of a factor */
} sx_map_value;
/* Describes all numbers of the space's vectors, n_values of them. */
void sx_map_describe(const sx_map_space *space, sx_map_value *out);

/* Puts a point in order after a change: what follows from its genes (kept tensors of banked levels, spatial
 * orders and splits), orders held to their constraints, canonical bytes. */
void sx_map_normalize(const sx_map_space *space, void *point);

/* Repairs a point: moves factors outward from where an array or a memory overflows, and gives up
 * keeping where that is free; false where it is still not legal. Cheaper and rougher than projecting. */
bool sx_map_repair(const sx_map_space *space, sx_rng *rng, void *point);
/* The same for a point that is not legal, of which sx_check_tiles says this; leaves it without its one form. */
bool sx_map_repair_from(const sx_map_space *space, sx_rng *rng, sx_verdict verdict, void *point);

/* Makes the account of the size, and line `index` of it (map_size.c). */
SX_MUST_USE sx_status sx_map_count(const sx_space *space);
bool sx_map_size(const sx_space *space, size_t index, sx_size *out);
/* Construction number `index`, of as many as the account's line "array" says (map_size.c). */
bool sx_map_at(const sx_space *space, sx_u128 index, void *point);

#endif
