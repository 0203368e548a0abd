/* How many non-zeros a tile of a tensor holds (docs/sparse.md, section 2). */
#ifndef SX_MODEL_SPARSE_DENSITY_H
#define SX_MODEL_SPARSE_DENSITY_H

#include "model/sparse/positions.h"

#include <math.h>
#include <stddef.h>

/* The density of one tensor. */
typedef struct sx_density {
    sx_density_model model;     /* SX_DENSITY_NONE: all words are non-zeros */
    double share;               /* of non-zeros */
    uint64_t words;             /* of the whole tensor */
    uint64_t nonzeros;          /* of the whole tensor */
    double word;                /* probability that a word is a non-zero */
    uint64_t never_empty;       /* by chance: tiles of a given number of words or more are not empty */
    const sx_positions *placed; /* where they are; NULL: by chance */
} sx_density;

/* Probabilities computed before; one thread's. */
typedef struct sx_density_cache sx_density_cache;
SX_OWN sx_density_cache *sx_density_cache_new(bool remembers, sx_steps *steps);
void sx_density_cache_free(SX_TAKE sx_density_cache *cache);

/* Whether memory ran out, or `steps` (NULL: nothing) ended it, while something was counted; asking forgets it. */
bool sx_density_cache_failed(sx_density_cache *cache);

/* A density of a tensor of a given number of words, whose non-zeros lie by chance or have known places. */
sx_density sx_density_make(sx_density_model model, double share, uint64_t words);
sx_density sx_density_placed(sx_density_model model, const sx_positions *positions);

/* The probability that a tile is empty; and given that an enclosing one of `whole` words holds k. Tiles are
 * given as words; where non-zeros have known places, by the number of their size (sx_positions_tile). */
double sx_density_empty(const sx_density *density, sx_density_cache *cache, uint64_t tile);
double sx_density_empty_given(const sx_density *density, sx_density_cache *cache, uint64_t n, uint64_t whole,
                              uint64_t k);

/* The most non-zeros that a tile of n words can hold. Where they have known places: no fewer than some tile of
 * n words must hold; the most that one does is sx_density_most_counted. */
static inline uint64_t sx_density_most(const sx_density *density, uint64_t n) {
    if (density->model == SX_DENSITY_NONE) return n;
    if (density->model == SX_DENSITY_HYPERGEOMETRIC) return n < density->nonzeros ? n : density->nonzeros;
    double share = (double)n * density->share, low = floor(share);
    return (uint64_t)(1 - (share - low) >= 1 ? low : ceil(share));
}

/* The most non-zeros that a tile holds, given as for sx_density_empty. */
uint64_t sx_density_most_counted(const sx_density *density, sx_density_cache *cache, uint64_t tile);

/* The density of one word, as a probability. */
static inline double sx_density_of_word(const sx_density *density) {
    return density->word;
}

/* The blocks of a given number of words that the non-zeros of a tile take on average, the last one not full; the tile is
 * given as for sx_density_empty. */
double sx_density_blocks(const sx_density *density, sx_density_cache *cache, uint64_t tile, uint32_t block);

/* The numbers of non-zeros that a tile of n words can hold with more than negligible probability, in
 * increasing order: first, first + 1, ... */
typedef struct sx_occupancies {
    uint64_t first;
    size_t n;
    double *probability; /* n, valid until the cache's next window */
} sx_occupancies;

/* Finds them; false where memory is out, or they are more than some millions. */
bool sx_density_window(const sx_density *density, sx_density_cache *cache, uint64_t n, sx_occupancies *out);

#endif
