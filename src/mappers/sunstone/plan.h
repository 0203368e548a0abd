/* What Sunstone's search of a space begins with. */
#ifndef SX_MAPPERS_SUNSTONE_PLAN_H
#define SX_MAPPERS_SUNSTONE_PLAN_H

#include "mappers/sunstone/orders.h"
#include "mappers/sunstone/unroll.h"

#include <stdatomic.h>

/* A memory in the thesis' sense: one level, or consecutive ones with as many instances that keep different
 * tensors; levels that keep nothing belong to the next one outside. */
typedef struct sx_sunstone_memory {
    uint8_t first, last;
    uint8_t main; /* the level that its loops in time stand at: the innermost that keeps something */
} sx_sunstone_memory;

/* Which techniques are on; all of them are the thesis' flow. */
typedef struct sx_sunstone_switches {
    bool order, unrolling, tiles, alphabeta;
    bool mixed;   /* unroll dimensions of any tensors together */
    bool smaller; /* where bandwidth binds, try tiles that are not maximal */
    bool uneven;  /* every level is a memory of its own, also where they hold different tensors */
    double limit; /* partial mappings to keep at once */
    uint8_t bypass[SX_MAX_LEVELS]; /* tensors that levels do not keep though they may */
} sx_sunstone_switches;

/* What happens while a memory is filled: the fan-outs up to the memory around it are unrolled, then its own
 * tile and the order of the loops around it are chosen. */
typedef struct sx_sunstone_stage {
    int memory, outer; /* whose tile is chosen (-1: none, there is but one), and where the rest goes */
    int n_parts;       /* fan-outs */
    uint8_t part[SX_MAX_LEVELS];
    sx_model *relaxed; /* the memories outside without limits; NULL in the last stage */
} sx_sunstone_stage;

typedef struct sx_sunstone {
    const sx_map_space *space;
    const sx_objective *objective;
    sx_sunstone_switches on;
    int n_memories, n_stages;
    sx_sunstone_memory memory[SX_MAX_LEVELS];
    sx_sunstone_stage stage[SX_MAX_LEVELS];
    uint8_t keep[SX_MAX_LEVELS];
    sx_sunstone_orders *orders;
    sx_sunstone_divisors divisors;
    sx_model *open;                         /* no memory has a limit */
    void *base;                             /* the point that all begin as */
    uint32_t left[SX_MAX_DIMS];             /* what it leaves of the dimensions */
    double incumbent;                       /* worse partial mappings are pruned */
    double cutoff;                          /* as is what is not better than this; INFINITY: nothing is */
    const sx_level *smaller[SX_MAX_LEVELS]; /* not NULL: tiles that this would hold in the level's place are
                                               left out */
    sx_vector roots;                        /* unrollings of the first stage, n_parts of them each */
    sx_vector items;                        /* of the first stage, the cheapest first: sx_sunstone_item */
    atomic_bool failed;
    uint64_t partial;              /* costs of partial mappings computed */
    uint64_t tiles[SX_MAX_LEVELS]; /* priced, per stage */
} sx_sunstone;

/* Whether some levels of a space are joined to one memory, so that `uneven` makes a difference. */
bool sx_sunstone_uneven(const sx_map_space *space);

SX_MUST_USE sx_status sx_sunstone_init(const sx_map_space *space, const sx_objective *objective,
                                       const sx_sunstone_switches *on, sx_sunstone *out);
void sx_sunstone_fini(sx_sunstone *plan);

#endif
