/* How a search closed a map space: what a certificate of optimality is made of.
 *
 * A spatial mapping (called array in certificates) is a spatial factor per level and dimension; every mapping
 * belongs to one. A search that proves its answer closes all of them: most by a bound that follows from the
 * spatial factors alone (compulsory traffic); each of the others has an entry here. */
#ifndef SX_PROOF_H
#define SX_PROOF_H

#include "sextant/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bounds are sums of doubles: what is not below a value by more than this share is not below it. */
#define SX_PROOF_SLACK 1e-11

typedef struct sx_proof {
    uint64_t n_spatial; /* spatial mappings, all there are */
    double
        lower_bound; /* of all mappings, as far as the proof itself shows it; set by the search that keeps the proof */
    size_t width; /* factors of a spatial mapping: levels times dimensions, level by level */
    size_t n_entries, room;
    bool *searched;    /* per entry: all its mappings were gone through; otherwise a bound by tables holds */
    double *bound;     /* that bound, where not searched */
    uint32_t *spatial; /* the factors */
} sx_proof;

/* A proof over n spatial mappings, without entries. */
SX_MUST_USE sx_status sx_proof_new(uint64_t n_spatial, size_t width, SX_OWN sx_proof **out);
void sx_proof_free(SX_TAKE sx_proof *proof);

/* A copy, freed with sx_proof_free. */
SX_MUST_USE sx_status sx_proof_copy(const sx_proof *proof, SX_OWN sx_proof **out);

/* Adds an entry. */
SX_MUST_USE sx_status sx_proof_add(sx_proof *proof, bool searched, double bound, const uint32_t *spatial);

/* The value at which something counts as not below another value. */
double sx_proof_floor(double value);

#endif
