/* What accesses to a level take in energy, and in elements for its bandwidth (docs/sparse.md, section 8). */
#ifndef SX_MODEL_SPARSE_USE_H
#define SX_MODEL_SPARSE_USE_H

#include "model/sparse/pass.h"

/* What one instance of a level does for a tensor. */
typedef struct sx_sparse_usage {
    const sx_level *level;
    int tensor;
    double energy;
    double words[SX_N_ACCESSES], bits[SX_N_ACCESSES]; /* that are not skipped; bits of metadata */
} sx_sparse_usage;

/* What is left of dense accesses to a tile, by the exact semantics. */
typedef struct sx_exact_shares {
    bool formatted, acts, skips;
    double density, words; /* of the tile */
    double bits;           /* of its metadata */
    double exists, effectual;
} sx_exact_shares;

/* Vectors; Timeloop rounds up to whole ones. */
static inline double sx_sparse_vectors(double number, bool timeloop) {
    return timeloop ? ceil(number) : number;
}

/* Adds accesses of a kind, with bits of metadata. */
static inline __attribute__((always_inline)) void sx_sparse_use(const sx_sparse_level *level, int kind, int a,
                                                                double count, double bits, double ratio,
                                                                bool timeloop, sx_sparse_usage *use) {
    if (count > 0)
        use->energy += sx_sparse_vectors(sx_level_vectors(use->level, use->tensor, count), timeloop) * ratio *
                       level->energy[kind][a];
    if (bits > 0)
        use->energy += sx_sparse_vectors(bits / level->width, timeloop) * level->metadata_energy[kind][a];
    if (kind == SX_SKIPPED) return;
    use->words[a] += count;
    use->bits[a] += bits;
}

/* Adds accesses of a kind, by the exact semantics, of `count` over a given number of instances, of which `share` takes place. */
static inline __attribute__((always_inline)) void
sx_exact_use_share(const sx_sparse_level *level, const sx_exact_shares *t, int kind, int a, double count,
                   double share, double ratio, double instances, sx_sparse_usage *use) {
    double words = (t->formatted ? count * t->density * share : count * share) / instances, bits = 0;
    if (t->formatted && level->width > 0) bits = t->bits * (count / t->words) * share / instances;
    sx_sparse_use(level, kind, a, words, bits, ratio, false, use);
}

/* Adds all accesses, by the exact semantics. */
static inline __attribute__((always_inline)) void
sx_exact_use(const sx_sparse_level *level, const sx_exact_shares *t, double reads, double fills,
             double updates, bool output, double ratio, double instances, sx_sparse_usage *use) {
    int kind = t->skips ? SX_SKIPPED : SX_GATED;
    double gone = t->exists - t->effectual;
    sx_exact_use_share(level, t, SX_RANDOM, SX_READ, reads, t->effectual, ratio, instances, use);
    sx_exact_use_share(level, t, SX_RANDOM, SX_FILL, fills, t->exists, ratio, instances, use);
    if (output)
        sx_exact_use_share(level, t, SX_RANDOM, SX_UPDATE, updates, t->effectual, ratio, instances, use);
    if (!t->acts || level->free[kind]) return;
    sx_exact_use_share(level, t, kind, SX_READ, reads, gone, ratio, instances, use);
    if (output) sx_exact_use_share(level, t, kind, SX_UPDATE, updates, gone, ratio, instances, use);
}

/* The elements through a level's ports: metadata count as words of data. */
static inline void sx_sparse_ports(const sx_sparse_level *level, const sx_sparse_usage *use, bool timeloop,
                                   double *reads, double *writes) {
    double width = level->word_bits * sx_level_width(use->level, use->tensor);
    double in = use->bits[SX_READ] / width, out = (use->bits[SX_FILL] + use->bits[SX_UPDATE]) / width;
    *reads = use->words[SX_READ] + (timeloop ? floor(in) : in);
    *writes = use->words[SX_FILL] + use->words[SX_UPDATE] + (timeloop ? floor(out) : out);
}

#endif
