/* A mapping: how a problem's loops are tiled, ordered and spread over an architecture, and which level keeps
 * which tensor. */
#ifndef SX_MAPPING_H
#define SX_MAPPING_H

#include "sextant/arch.h"
#include "sextant/evaluate.h"

/* One level's part. Going outward, the loops of a level are its spatial loops (over the children of one
 * instance) and then its temporal loops. Both orders are permutations of all dimensions, innermost first; the
 * first `split` dimensions of spatial_order lie on X, the others on Y. A factor of 1 is no loop. Where x_part is
 * not 0, the last dimension on X lies on both axes: x_part of its iterations on X, and outside them the others on
 * Y, inside all other loops of Y; x_part divides its factor, and the mapping has no remainders.
 *
 * Factors need not divide: a loop runs its last iterations on what is left of its dimension. With t the
 * product of a dimension's inner factors, a factor may be at most ceil(size / t), and the product of all of
 * them must reach the size. */
typedef struct sx_mapping_level {
    uint32_t temporal[SX_MAX_DIMS];
    uint32_t spatial[SX_MAX_DIMS];
    uint8_t temporal_order[SX_MAX_DIMS];
    uint8_t spatial_order[SX_MAX_DIMS];
    uint8_t split;
    /* bit masks over tensors */
    uint8_t keep;
    uint8_t no_temporal_reuse, no_multicast, no_link_transfer, rmw_first_update;
    uint16_t x_part;
    uint8_t
        no_coalesce; /* tensors of which the level passes on every access, as if it kept none of their words */
    uint8_t padding[3];
} sx_mapping_level;

/* Plain data, zero-padded beyond n_levels, n_dims and n_tensors: equal mappings are equal bytes. */
typedef struct sx_mapping {
    uint8_t n_levels, n_dims, n_tensors, padding[5];
    sx_mapping_level level[SX_MAX_LEVELS];
} sx_mapping;

/* The mapping with all factors 1 but the outermost temporal ones, identity orders, and each level keeping
 * what it is built for. Legal wherever the architecture has an unlimited backing store. */
void sx_mapping_init(sx_mapping *mapping, const sx_problem *problem, const sx_arch *arch);

/* How many bytes of a mapping say something: those up to its last level. */
size_t sx_mapping_bytes(const sx_arch *arch);

/* Brings a mapping to its canonical bytes: unit factors last in every order (in the order of the dimensions),
 * split counting only loops, padding zero. Costs do not change; an order that is no permutation stays as it
 * is. */
void sx_mapping_canonical(sx_mapping *mapping);

/* Whether the first n bytes of an order hold each of 0 to n-1 once. */
bool sx_order_is_permutation(const uint8_t *order, int n);

/* Whether every dimension's factors multiply to exactly its size. */
bool sx_mapping_perfect(const sx_mapping *mapping, const sx_problem *problem);

/* How far the tile of one instance of `level` reaches in a dimension: the product of the dimension's factors
 * at or below it, not cut at the dimension's size (UINT64_MAX where it overflows). */
uint64_t sx_mapping_extent(const sx_mapping *mapping, int level, int dim);

#endif
