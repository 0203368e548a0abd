/* All ways to split a dimension over slots, innermost slot first: counted, numbered, drawn. A slot's factor
 * lies between its limits. Without remainders the factors multiply to the size; with them a factor is at most
 * ceil(size / product of the inner ones), and the product of all reaches the size. */
#ifndef SX_MAPSPACE_FACTORS_H
#define SX_MAPSPACE_FACTORS_H

#include "base/status.h"
#include "sextant/space_type.h"

enum { SX_MAX_SLOTS = 2 * SX_MAX_LEVELS };

typedef struct sx_factors sx_factors;

/* The splits of `size` over n_slots; min and max have an entry for each slot. No way at all is fine: the
 * count is then 0. Counts beyond 2^128 - 1 are an error (SX_ERR_LIMIT). */
SX_MUST_USE sx_status sx_factors_new(uint32_t size, int n_slots, const uint32_t *min, const uint32_t *max,
                                     bool remainders, SX_OWN sx_factors **out);
void sx_factors_free(SX_TAKE sx_factors *factors);

sx_u128 sx_factors_count(const sx_factors *factors);

/* Split number `index` (below the count) and the number of a split; sx_factors_rank returns false for factors
 * that are no split. */
void sx_factors_at(const sx_factors *factors, sx_u128 index, uint32_t *factor);
bool sx_factors_rank(const sx_factors *factors, const uint32_t *factor, sx_u128 *index);

/* Whether factors are a split; faster than asking for its number. */
bool sx_factors_holds(const sx_factors *factors, const uint32_t *factor);

/* A uniform split (to within 2^-32); faster than drawing an index. */
void sx_factors_draw(const sx_factors *factors, sx_rng *rng, uint32_t *factor);

/* How many splits have factors beyond 1 at exactly the slots of the mask; false when memory is out. */
SX_MUST_USE bool sx_factors_pattern(const sx_factors *factors, uint32_t mask, sx_u128 *count);

/* The splits nearest to targets (log2 of the factor per slot), by the sum of squared differences: writes at
 * most n of them, nearest first (ties: lower index), with their distances; returns how many. Exact as long as
 * the count is at most 2^20; beyond, the nearest ones that a given number of steps of a search find that tries near
 * factors first. */
size_t sx_factors_nearest(const sx_factors *factors, const double *target, size_t n,
                          uint32_t (*factor)[SX_MAX_SLOTS], double *distance);

#endif
