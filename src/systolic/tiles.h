/* The tiles of a loop: which first-level tiles there are, and the second-level tiles of each, its divisors.
 */
#ifndef SX_SYSTOLIC_TILES_H
#define SX_SYSTOLIC_TILES_H

#include "sextant/rng.h"
#include "sextant/systolic.h"

enum { SX_MAX_SYSTOLIC_SIZE = 1 << 20 }; /* of a loop whose tiles are listed */

/* A first-level tile with a second-level one that divides it. */
typedef struct sx_pair_of_tiles {
    uint32_t t1, t2;
} sx_pair_of_tiles;

typedef struct sx_systolic_tile_set {
    uint32_t lanes;    /* of the SIMD loop: t2 is a power of two up to this; 0: any divisor */
    uint32_t whole;    /* all numbers up to this are first-level tiles */
    size_t n;          /* first-level tiles */
    uint32_t *t1;      /* ascending */
    uint64_t *before;  /* pairs with a smaller t1; n + 1 of them, the last the number of all pairs */
    uint64_t divisors; /* pairs if any divisor could be t2 */
} sx_systolic_tile_set;

/* The tiles of loops of n sizes, all together: with `divisors` only those that divide a size, otherwise also
 * all numbers up to `pad_to`. *out is freed with sx_systolic_tile_set_fini, also after an error. */
SX_MUST_USE sx_status sx_systolic_tile_set_init(const uint32_t *sizes, size_t n, bool divisors,
                                                uint32_t pad_to, uint32_t lanes, sx_systolic_tile_set *out);
void sx_systolic_tile_set_fini(sx_systolic_tile_set *set);

/* The index of a first-level tile in the set, or the first that is larger (n: none). */
size_t sx_systolic_tile_find(const sx_systolic_tile_set *set, uint32_t t1);
bool sx_systolic_tile_in(const sx_systolic_tile_set *set, uint32_t t1);

/* Pair number `index`. */
sx_pair_of_tiles sx_systolic_tile_pair(const sx_systolic_tile_set *set, uint64_t index);

/* The tile of the set that is nearest to a number, the smaller of two. */
uint32_t sx_systolic_tile_nearest(const sx_systolic_tile_set *set, double t1);
/* Whether t2 is a second-level tile of t1. */
bool sx_systolic_inner_in(const sx_systolic_tile_set *set, uint32_t t1, uint32_t t2);
/* The second-level tile of t1 that is nearest to a number, the smaller of two. */
uint32_t sx_systolic_inner_nearest(const sx_systolic_tile_set *set, uint32_t t1, double t2);
/* The next larger (or smaller) second-level tile of t1; t2 itself where there is none. */
uint32_t sx_systolic_inner_next(const sx_systolic_tile_set *set, uint32_t t1, uint32_t t2, bool larger);

#endif
