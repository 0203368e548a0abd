/* Compact points: mappings with exact factors in a few words, the same bytes on a CPU and a GPU, and what a space says of them.
 *
 * A point is an sx_compact_level for each level, then a word for each dimension and prime of its size: the exponents of that
 * prime by slot, five bits each. Slots are innermost first: the spatial slot of each level with a fan-out, then its temporal
 * slot. Orders, parallel dimensions and axes are those of all dimensions, also of those that have no loop: once they get one,
 * these decide. */
#ifndef SX_CORE_SPACE_H
#define SX_CORE_SPACE_H

#include "core/model.h"

enum {
    SX_CORE_SLOTS = 12,
    SX_CORE_PRIMES = 4, /* of a dimension */
    SX_CORE_WORDS = 24, /* of a point */
    SX_CORE_BITS = 5,   /* of an exponent */
    SX_CORE_POWERS = 1 << SX_CORE_BITS
};

typedef struct sx_compact_level {
    uint64_t order;          /* all dimensions, innermost first, four bits each */
    uint16_t parallel, on_x; /* dimensions whose factors are spatial, and which lie on X */
    uint8_t keep, banks[3];
} sx_compact_level;

/* What a space says of compact points. */
typedef struct sx_core_space {
    sx_core_model model;
    uint32_t n_slots, n_words;
    uint32_t sized;                       /* mask of the dimensions beyond 1 */
    uint32_t spread;                      /* mask of the levels with spatial slots */
    uint32_t planar;                      /* mask of those whose array has both X and Y */
    uint32_t choosing;                    /* mask of the levels that may keep or bypass something */
    uint32_t temporal;                    /* mask of the temporal slots */
    uint32_t n_weights;                   /* entries of weighted_dim */
    uint8_t level_of[SX_CORE_SLOTS];      /* of a slot */
    int8_t temporal_slot[SX_CORE_LEVELS]; /* of a level */
    int8_t spatial_slot[SX_CORE_LEVELS];  /* -1: none */
    uint8_t first_word[SX_CORE_DIMS + 1]; /* of a dimension */
    uint8_t multiplicity[SX_CORE_WORDS];  /* of the word's prime */
    uint16_t free_x[SX_CORE_LEVELS],
        fixed_x[SX_CORE_LEVELS];              /* dimensions that may lie on X or Y, that lie on X */
    double room[SX_CORE_LEVELS][2];           /* children of one instance on X and Y */
    double most[SX_CORE_DIMS][SX_CORE_SLOTS]; /* the largest factor of a slot that is spatial or capped */
    uint32_t limited;                         /* mask of the dimensions with slots of these kinds: */
    uint16_t capped[SX_CORE_DIMS];            /* temporal slots that do not take any factor, */
    uint64_t closed[SX_CORE_DIMS];            /* and slots whose factor is fixed, as 1 at each */
    uint64_t fixed[SX_CORE_WORDS];            /* the exponents at these */
    uint32_t ruled;                           /* mask of the levels of which some loops have fixed places: */
    uint64_t order[SX_CORE_LEVELS]; /* innermost and outermost dimensions, and others between them */
    uint16_t inner[SX_CORE_LEVELS], outer[SX_CORE_LEVELS]; /* masks of these */
    uint64_t natural;                                      /* the order of the dimensions' numbers */
    uint32_t indexed[SX_CORE_DIMS];              /* tensors with a dimension: a byte of ones for each */
    uint32_t packed[1 << SX_CORE_DIMS];          /* the dimensions of a mask, four bits each */
    uint8_t bits[1 << SX_CORE_DIMS];             /* and their number */
    uint8_t weighted_dim[32 * SX_CORE_DIMS];     /* each as often as its size has bits */
    double power[SX_CORE_WORDS][SX_CORE_POWERS]; /* of the word's prime */
} sx_core_space;

/* How likely a mutation does each of its changes, in parts of 2^16. */
typedef struct sx_core_chances {
    uint32_t order, parallel, levels, keep, tile, shift; /* shift: of the tile changes that move one prime */
} sx_core_chances;

/* A part of a point: which axis, and of which dimension or level. */
typedef struct sx_core_part {
    int axis, which; /* SX_COMPACT_TILE, _ORDER, _PARALLEL or _KEEP */
} sx_core_part;

/* The parts of points, and all splits of each dimension that legal points can have: their words and n_levels cells of each, one
 * split after another, and its loops, temporal and spatial (sx_core_row). */
typedef struct sx_core_splits {
    uint32_t n_parts;
    sx_core_part part[4 * SX_CORE_DIMS];
    uint32_t n[SX_CORE_DIMS];
    const uint64_t *word[SX_CORE_DIMS];
    const uint64_t (*loops[SX_CORE_DIMS])[2];
    const sx_core_cell *cell[SX_CORE_DIMS];
} sx_core_splits;

#define SX_CORE_SPACE_LEVELS(c) SX_CORE_N_LEVELS(&(c)->model)
#define SX_CORE_SPACE_TENSORS(c) SX_CORE_N_TENSORS(&(c)->model)

/* The bytes of a point. */
SX_HD size_t sx_compact_size(const sx_core_space *c) {
    return c->model.n_levels * sizeof(sx_compact_level) + c->n_words * sizeof(uint64_t);
}

/* The exponent words of a point. */
SX_HD uint64_t *sx_compact_words(const sx_core_space *c, sx_compact_level *point) {
    return (uint64_t *)(void *)(point + SX_CORE_SPACE_LEVELS(c));
}
SX_HD const uint64_t *sx_compact_words_of(const sx_core_space *c, const sx_compact_level *point) {
    return (const uint64_t *)(const void *)(point + SX_CORE_SPACE_LEVELS(c));
}

/* The exponent of a slot in a word, and a word with exponent 1 there. */
SX_HD unsigned sx_compact_exponent(uint64_t word, int slot) {
    return (unsigned)(word >> SX_CORE_BITS * slot) & (SX_CORE_POWERS - 1);
}
SX_HD uint64_t sx_compact_one(int slot) {
    return (uint64_t)1 << SX_CORE_BITS * slot;
}

/* The bits of a slot. */
SX_HD uint64_t sx_compact_field(int slot) {
    return (uint64_t)(SX_CORE_POWERS - 1) << SX_CORE_BITS * slot;
}

/* A word with 1 at each of all slots. */
#define SX_COMPACT_ONES ((uint64_t)0x0084210842108421u)

/* The slots at which a word has exponents beyond 0, as 1 at each; how many they are; and slot number k of them. Adding 15 to
 * the lower four bits of an exponent sets its fifth where they are not 0. */
SX_HD uint64_t sx_compact_lanes(uint64_t word) {
    const uint64_t low = SX_COMPACT_ONES * 15;
    return (((word & low) + low) | word) >> 4 & SX_COMPACT_ONES;
}
SX_HD uint32_t sx_compact_count(uint64_t lanes) {
    return (uint32_t)(lanes * SX_COMPACT_ONES >> SX_CORE_BITS * (SX_CORE_SLOTS - 1)) & (SX_CORE_POWERS - 1);
}
SX_HD int sx_compact_slot(uint64_t lanes, uint32_t k) {
    int slot = 0;
    while (k--) lanes &= lanes - 1;
    while (!(lanes & 1)) {
        lanes >>= SX_CORE_BITS;
        slot++;
    }
    return slot;
}

/* Random numbers: a counter whose bits are mixed. */
typedef struct sx_core_rng {
    uint64_t state;
} sx_core_rng;

SX_HD uint64_t sx_core_next(sx_core_rng *rng) {
    uint64_t z = rng->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* A number below n, to within 2^-32. */
SX_HD uint32_t sx_core_below(sx_core_rng *rng, uint32_t n) {
    return (uint32_t)((sx_core_next(rng) >> 32) * n >> 32);
}

/* The number below n that 16 bits of a random number stand for. */
SX_HD uint32_t sx_core_share(uint64_t random, int shift, uint32_t n) {
    return (uint32_t)((random >> shift & 0xffff) * n >> 16);
}

/* Bits of masks. */
SX_HD int sx_core_low(uint32_t mask) {
#ifdef __CUDA_ARCH__
    return __ffs((int)mask) - 1;
#else
    return __builtin_ctz(mask);
#endif
}
/* How many bits a mask of up to 12 has: of each four by a table. */
SX_HD int sx_core_bits(uint32_t mask) {
#ifdef __CUDA_ARCH__
    return __popc(mask);
#else
    const uint64_t of_four = 0x4332322132212110u;
    return (int)((of_four >> 4 * (mask & 15) & 15) + (of_four >> 4 * (mask >> 4 & 15) & 15) +
                 (of_four >> 4 * (mask >> 8 & 15) & 15));
#endif
}

/* Bit number k of a mask, alone. */
SX_HD uint32_t sx_core_bit(uint32_t mask, uint32_t k) {
    while (k--) mask &= mask - 1;
    return mask & (0u - mask);
}

/* A random bit of a mask, which is not 0. */
SX_HD uint32_t sx_core_random_bit(sx_core_rng *rng, uint32_t mask) {
    return sx_core_bit(mask, sx_core_below(rng, (uint32_t)sx_core_bits(mask)));
}

#endif
