/* Chromosomes of one encoding, bred generation by generation.
 *
 * Source: EGRL (ICLR 2021), Algorithm 2, lines 8 to 20. The paper does not say the number of elites, the tournament, nor
 * how often is mutated: presets are those of CERL (ICML 2019), on which it builds. */
#ifndef SX_PLACEMENT_POPULATION_H
#define SX_PLACEMENT_POPULATION_H

#include "base/status.h"
#include "sextant/rng.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct sx_population {
    size_t n, length, elites; /* chromosomes, numbers of each, those kept unchanged */
    float *now;               /* n x length, in the caller's memory, as are the next two */
    double *fitness;          /* n */
    uint64_t *known;          /* n: the fitness is that of the chromosome as it is */
    float *next;              /* n x length */
    size_t *order;            /* the fittest first */
    double *best;             /* fitness of the elites */
} sx_population;

/* Makes room for breeding. */
SX_MUST_USE sx_status sx_population_init(sx_population *population);
void sx_population_fini(sx_population *population);

/* How children are made. */
typedef struct sx_breeding {
    sx_rng *rng;
    int tournament;
    double mutation; /* probability */
    void *user;
    bool (*seed)(void *user, float *child); /* may replace a child by one of another encoding; NULL: never */
    void (*mutate)(void *user, float *child);
} sx_breeding;

/* Breeds the next generation: elites, then winners of tournaments, crossed with elites at a single point, and mutated.
 * The elites come first, the fittest of all at 0. */
void sx_population_breed(sx_population *population, const sx_breeding *breeding);

#endif
