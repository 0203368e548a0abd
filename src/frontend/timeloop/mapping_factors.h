/* The factors of mappings and constraints as they are written: "R=3 P=16", "R3 P16", "R=3,P=4,1" (a remainder
 * behind the factor), lists of such texts, or a map. */
#ifndef SX_FRONTEND_TIMELOOP_MAPPING_FACTORS_H
#define SX_FRONTEND_TIMELOOP_MAPPING_FACTORS_H

#include "frontend/input.h"

/* A factor with its remainder, the number of iterations left for the last time (0: none is written). */
typedef struct sx_factor {
    bool written;
    uint32_t value, remainder;
    sx_place place;
} sx_factor;

/* The factors of one level's spatial or temporal loops. */
typedef struct sx_factor_row {
    sx_factor dim[SX_MAX_DIMS];
} sx_factor_row;

/* What is said of a factor: "P=4", and where bounds are allowed "P<=4" and "P>=4". */
typedef enum sx_relation { SX_EXACTLY, SX_AT_MOST, SX_AT_LEAST } sx_relation;

typedef struct sx_factor_term {
    int dim;
    sx_relation relation;
    uint32_t value, remainder;
    sx_place place;
} sx_factor_term;

/* Reads factors and shows each to `each`, stopping at the first error; bounds are errors unless they are
 * allowed. */
typedef sx_status sx_factor_visitor(void *user, const sx_factor_term *term);
SX_MUST_USE sx_status sx_factors_visit(sx_input *input, const sx_node *node, const sx_problem *problem,
                                       bool bounds, sx_factor_visitor *each, void *user);

/* Reads a directive's factors; dimensions that are not named stay as they are. */
SX_MUST_USE sx_status sx_factors_read(sx_input *input, const sx_node *node, const sx_problem *problem,
                                      sx_factor_row *row);

/* Checks that the factors of each dimension, in n rows from the innermost out, make up its size, with exactly
 * the remainders that are written. Row 2s holds the spatial loops of level s, row 2s + 1 the temporal ones.
 * `place` is used where a dimension is named nowhere. */
SX_MUST_USE sx_status sx_factors_check(const sx_factor_row *row, size_t n, const sx_problem *problem,
                                       const sx_arch *arch, sx_place place);

#endif
