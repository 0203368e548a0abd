/* Real numbers that remember how they were made, so that a result can be differentiated with respect to its inputs
 * (reverse mode). */
#ifndef SX_MAPPERS_GRADIENT_TAPE_H
#define SX_MAPPERS_GRADIENT_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number: its value and its node on the tape; node 0 is that of all constants. */
typedef struct sx_real {
    double value;
    uint32_t node;
} sx_real;

/* A node: the two it was made of and its derivatives with respect to them. */
typedef struct sx_tape_node {
    uint32_t from[2];
    double by[2];
} sx_tape_node;

/* What was computed, in order. It begins as {0}. */
typedef struct sx_tape {
    sx_tape_node *node;
    double *adjoint;
    size_t n, room;
    bool failed; /* memory was out: results are of no use */
} sx_tape;

void sx_tape_free(sx_tape *tape);
/* Forgets all nodes. */
void sx_tape_clear(sx_tape *tape);

/* A number to differentiate by. */
sx_real sx_tape_input(sx_tape *tape, double value);

static inline sx_real sx_constant(double value) {
    return (sx_real){value, 0};
}

sx_real sx_real_add(sx_tape *tape, sx_real a, sx_real b);
sx_real sx_real_subtract(sx_tape *tape, sx_real a, sx_real b);
sx_real sx_real_multiply(sx_tape *tape, sx_real a, sx_real b);
sx_real sx_real_divide(sx_tape *tape, sx_real a, sx_real b);
/* The larger and the smaller one; its derivative is that of the one it is. */
sx_real sx_real_max(sx_real a, sx_real b);
sx_real sx_real_min(sx_real a, sx_real b);
sx_real sx_real_log(sx_tape *tape, sx_real a);
sx_real sx_real_exp(sx_tape *tape, sx_real a);
/* factor * a + constant. */
sx_real sx_real_scale(sx_tape *tape, sx_real a, double factor, double constant);
/* Another value for a number whose derivatives stay: what rounding is taken for. */
static inline sx_real sx_real_as(sx_real a, double value) {
    return (sx_real){value, a.node};
}

/* Differentiates a result by everything on the tape: sx_tape_derivative then tells. */
void sx_tape_differentiate(sx_tape *tape, sx_real result);
static inline double sx_tape_derivative(const sx_tape *tape, sx_real input) {
    return tape->failed ? 0 : tape->adjoint[input.node];
}

#endif
