/* Points from outside: a line of JSON each, such as
 *
 *     {"family": "mm", "problem": {"i": 64, "j": 64, "k": 64}, "design": "3_2", "tiles": {"i_t1": 8, ...}}
 *     {"einsum": "O[m,n] += A[m,k]*B[k,n] {m:64,n:64,k:64}", "design": "3_2", "tiles": {"m_t1": 8, ...}} */
#ifndef SX_SYSTOLIC_POINTS_H
#define SX_SYSTOLIC_POINTS_H

#include "sextant/systolic.h"

/* A point and what it is a point of. */
typedef struct sx_outside_point {
    sx_systolic_kernel kernel;
    sx_systolic_point point;
} sx_outside_point;

/* Reads line number `line`, counted from 1, of `file`. Fields that are not known are left alone; a tile that
 * is missing is an error, except of a loop of size 1, where it is 1. */
SX_MUST_USE sx_status sx_outside_point_read(const char *file, size_t line, const char *text, size_t size,
                                            sx_outside_point *out);

#endif
