/* Gamma's individuals and what changes them. */
#ifndef SX_MAPPERS_GAMMA_OPERATORS_H
#define SX_MAPPERS_GAMMA_OPERATORS_H

#include "mapspace/map_space.h"

/* What a point does not say: a dimension without factors at a level is in no order there and lies nowhere,
 * but once it gets some, this decides. Plain data. */
typedef struct sx_gamma_genes {
    uint8_t order[SX_MAX_LEVELS][SX_MAX_DIMS];
    uint16_t parallel[SX_MAX_LEVELS]; /* dimensions whose factors at a level are spatial */
    uint16_t on_x[SX_MAX_LEVELS];     /* and which of these lie on X */
} sx_gamma_genes;

/* An individual: a point and its genes, each in memory of the caller's. */
typedef struct sx_gamma_individual {
    void *point;
    sx_gamma_genes *genes;
} sx_gamma_individual;

/* Copies an individual. */
void sx_gamma_copy(const sx_map_space *space, sx_gamma_individual from, sx_gamma_individual to);

/* Reads the genes off a point; what the point does not say is drawn. */
void sx_gamma_read(const sx_map_space *space, sx_rng *rng, sx_gamma_individual individual);

/* All factors at the outermost level, natural orders, and the output's dimensions (as far as sizes fit the
 * array together) parallel wherever there is an array. */
void sx_gamma_natural(const sx_map_space *space, sx_rng *rng, sx_gamma_individual individual);

/* Primes at random levels, random orders, random parallel dimensions. The result need not be legal. */
void sx_gamma_random(const sx_map_space *space, sx_rng *rng, sx_gamma_individual individual);

/* Writes orders and the sides of spatial loops into the point, and normalizes it. After crossovers and mutations,
 * but for sx_gamma_shift and sx_gamma_change_keep, which take a point with all of that and leave one. */
void sx_gamma_express(const sx_map_space *space, sx_gamma_individual individual);

/* What a crossover swaps. */
enum sx_gamma_axis { SX_GAMMA_TILE, SX_GAMMA_ORDER, SX_GAMMA_PARALLEL, SX_GAMMA_KEEP };

/* An individual takes over an axis of another at all levels (of tiles those of one dimension). */
void sx_gamma_take(const sx_map_space *space, enum sx_gamma_axis axis, int dim, sx_gamma_individual from,
                   sx_gamma_individual to);

/* A random dimension, more often the larger ones: in proportion to the logarithm of its size. */
int sx_gamma_random_dim(const sx_map_space *space, sx_rng *rng);

/* The mutations: two places of one level's order swapped; a dimension made parallel at a level or no longer;
 * all tiles of two levels swapped; the primes of a dimension drawn anew; one prime moved; what a level keeps
 * changed; an unused level given part of the next outer one's factors; a level's factors given to the next
 * outer one. None promises legality. */
void sx_gamma_swap_order(const sx_map_space *space, sx_rng *rng, sx_gamma_individual individual);
void sx_gamma_change_parallel(const sx_map_space *space, sx_rng *rng, sx_gamma_individual individual);
void sx_gamma_swap_levels(const sx_map_space *space, sx_rng *rng, sx_gamma_individual individual);
void sx_gamma_redraw_tile(const sx_map_space *space, sx_rng *rng, sx_gamma_individual individual);
void sx_gamma_shift(const sx_map_space *space, sx_rng *rng, sx_gamma_individual individual);
void sx_gamma_change_keep(const sx_map_space *space, sx_rng *rng, sx_gamma_individual individual);
void sx_gamma_grow(const sx_map_space *space, sx_rng *rng, sx_gamma_individual individual);
void sx_gamma_age(const sx_map_space *space, sx_rng *rng, sx_gamma_individual individual);

/* Repairs an individual; false where that fails. */
bool sx_gamma_repair(const sx_map_space *space, sx_rng *rng, sx_gamma_individual individual);

#endif
