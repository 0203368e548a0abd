/* Mixed-integer linear programs: minimise a linear cost over variables within bounds and rows. Solved by CBC, in a
 * process of its own: it can be stopped at once, and what it prints goes nowhere. */
#ifndef SX_MIP_MIP_H
#define SX_MIP_MIP_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct sx_mip sx_mip;

/* Whether this build has a solver. */
bool sx_mip_available(void);

SX_MUST_USE sx_status sx_mip_new(SX_OWN sx_mip **out);
void sx_mip_free(SX_TAKE sx_mip *mip);

/* Adds a variable and returns its number. Memory that runs out is an error of sx_mip_solve. */
size_t sx_mip_add_variable(sx_mip *mip, double low, double high, double cost, bool integer);

/* Adds the row low <= sum of coefficients times variables <= high, with -INFINITY and INFINITY for no limit. */
void sx_mip_begin_row(sx_mip *mip, double low, double high);
void sx_mip_add_term(sx_mip *mip, size_t variable, double coefficient);

typedef struct sx_mip_options {
    const double *start;      /* values of a solution to begin with; NULL: none */
    double gap;               /* part of the value that counts as no difference */
    double seconds;           /* 0: no limit */
    size_t nodes;             /* of the search tree; 0: no limit */
    bool proof;               /* optima and bounds are to be relied on (see sx_mip_solve) */
    bool (*stop)(void *user); /* asked several times a second; may be NULL */
    void *user;
} sx_mip_options;

typedef enum sx_mip_status {
    SX_MIP_OPTIMAL,    /* within the gap */
    SX_MIP_INFEASIBLE, /* proven: there is no solution */
    SX_MIP_LIMITED,    /* a limit came first */
    SX_MIP_STOPPED,    /* it was told to stop, and nothing is known */
} sx_mip_status;

typedef struct sx_mip_result {
    sx_mip_status status;
    bool found;   /* there are values */
    double value; /* of the cost */
    double bound; /* that no solution is below; -INFINITY: none */
} sx_mip_result;

/* Solves it; an error in a build without a solver. `values` has room for every variable. CBC 2.10 is quicker with its
 * preprocessing, but then takes a worse solution for the optimum of some programs, and aborts on some with or without it. A
 * proof does without; where CBC aborts the other way is tried, and proves nothing. */
SX_MUST_USE sx_status sx_mip_solve(const sx_mip *mip, const sx_mip_options *options, double *values,
                                   sx_mip_result *out);

#endif
