/* A program as its variables, rows and terms, for the solver behind it. */
#ifndef SX_MIP_PROGRAM_H
#define SX_MIP_PROGRAM_H

#include "mip/mip.h"

typedef struct sx_mip_variable {
    double low, high, cost;
    bool integer;
} sx_mip_variable;

typedef struct sx_mip_row {
    double low, high;
} sx_mip_row;

typedef struct sx_mip_term {
    size_t row, variable;
    double coefficient;
} sx_mip_term;

struct sx_mip {
    size_t n_variables, variable_room, n_rows, row_room, n_terms, term_room;
    sx_mip_variable *variable;
    sx_mip_row *row;
    sx_mip_term *term;
    bool failed; /* memory ran out */
};

/* Solves a program in this process; false where memory is out. */
bool sx_mip_solve_here(const sx_mip *mip, const sx_mip_options *options, double *values, sx_mip_result *out);

#endif
