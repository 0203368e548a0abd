/* Affine sums of dimensions in text: "2*p + r", "P*Wstride + R*Wdilation", "p - q". */
#ifndef SX_FRONTEND_AFFINE_H
#define SX_FRONTEND_AFFINE_H

#include "text/document/scan.h"

#include <stddef.h>

/* A named number that sums may contain. */
typedef struct sx_coefficient {
    char name[SX_NAME_SIZE];
    int64_t value;
    bool known; /* has a value */
    sx_place place;
} sx_coefficient;

/* The names that sums may contain: a problem's dimensions, and coefficients. */
typedef struct sx_symbols {
    const sx_problem *problem;
    bool einsum; /* the dimensions are those that have a size in braces */
    const sx_coefficient *coefficient;
    size_t n_coefficients;
} sx_symbols;

/* The coefficient of that name, NULL where there is none. */
const sx_coefficient *sx_symbols_coefficient(const sx_symbols *symbols, const char *name);

/* The error for a name that is neither a dimension nor a coefficient. */
SX_MUST_USE sx_status sx_symbols_unknown(const sx_symbols *symbols, sx_place place, const char *name);

/* Adds `value` times a dimension to a rank's coefficients; an error beyond SX_MAX_COEF. */
SX_MUST_USE sx_status sx_affine_add(int32_t *coef, int dim, int64_t value, sx_place place);

/* Reads a sum up to the first character that is not part of it, and adds it to a rank's coefficients. */
SX_MUST_USE sx_status sx_affine_read(sx_scan *scan, const sx_symbols *symbols, int32_t *coef);

#endif
