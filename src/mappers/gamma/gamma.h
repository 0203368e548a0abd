/* Gamma's population, and the two ways to breed it. */
#ifndef SX_MAPPERS_GAMMA_GAMMA_H
#define SX_MAPPERS_GAMMA_GAMMA_H

#include "mappers/gamma/operators.h"
#include "run/compact.h"
#include "run/navigator.h"

/* Gamma's settings, in the order of its table. */
enum sx_gamma_setting {
    SX_GAMMA_POPULATION,
    SX_GAMMA_ELITES,
    SX_GAMMA_PARENTS,
    SX_GAMMA_INJECTED,
    SX_GAMMA_NATURAL,
    SX_GAMMA_CROSSOVER,
    SX_GAMMA_FIRST_CROSSOVER,
    SX_GAMMA_ORDERS,
    SX_GAMMA_PARALLELS,
    SX_GAMMA_LEVELS,
    SX_GAMMA_TILES,
    SX_GAMMA_SHIFTS,
    SX_GAMMA_KEEPS,
    SX_GAMMA_GROWTH,
    SX_GAMMA_AGING,
    SX_GAMMA_RANK,
    SX_GAMMA_CORE,
    SX_GAMMA_ISLANDS,
};

enum { SX_GAMMA_REPAIRS = 10 }; /* children that are tried before a parent is taken instead */

/* State of a search: this; then the individuals, each an outcome and what is bred: the population, best first, as many children,
 * and the elites; then outcomes and a ranking of children and elites. */
typedef struct sx_gamma_state {
    uint64_t generation;    /* of all populations together */
    uint64_t island, begun; /* the population's number, and the generation that it began with */
    uint64_t parents, elites;
} sx_gamma_state;

typedef struct sx_gamma {
    sx_run *run;
    const sx_map_space *space;
    const struct sx_gamma_breed *breed;
    sx_compact_search *compact; /* NULL: individuals are mappings */
    sx_core_chances chances;    /* of the mutations of compact points, */
    sx_core_rng first, pairs;   /* and the random numbers of their tasks */
    size_t n, room;             /* of the population, of all individuals */
    size_t each;                /* bytes of an individual */
    sx_gamma_state *s;
    unsigned char *individual;
    sx_outcome *ranked;
    uint32_t *order;
    enum sx_gamma_axis axis[4]; /* that the space has */
    size_t n_axes;
} sx_gamma;

/* What individuals are. */
typedef struct sx_gamma_breed {
    size_t (*size)(const sx_gamma *g); /* bytes, besides the outcome */
    sx_task *make_first;               /* a task: makes and evaluates an individual of the first population */
    sx_task *make_pair; /* a task: makes and evaluates two children, or random individuals in their place */
    bool (*holds)(const sx_gamma *g, const void *bred);              /* whether any bytes are an individual */
    void (*adopt)(const sx_gamma *g, const void *point, void *bred); /* makes one of a point of the space */
} sx_gamma_breed;

extern const sx_gamma_breed sx_gamma_mappings, sx_gamma_compact;

/* Individual number i: its outcome, and behind it what is bred. */
static inline sx_outcome *sx_gamma_block(const sx_gamma *g, size_t i) {
    return (sx_outcome *)(void *)(g->individual + i * g->each);
}

/* How a pair is crossed. */
typedef struct sx_gamma_crossing {
    bool happens;
    enum sx_gamma_axis axis;
    int dim;
} sx_gamma_crossing;

#endif
