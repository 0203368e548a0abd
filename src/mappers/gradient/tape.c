#include "mappers/gradient/tape.h"

#include "base/vector.h"
#include "learn/elementary.h"

#include <stdlib.h>
#include <string.h>

void sx_tape_free(sx_tape *tape) {
    free(tape->node);
    free(tape->adjoint);
    *tape = (sx_tape){0};
}

void sx_tape_clear(sx_tape *tape) {
    tape->n = 0;
}

/* Makes room for two more nodes; false when memory is out. */
static bool grow_nodes(sx_tape *tape) {
    size_t nodes = tape->room, adjoints = tape->room, n = tape->n + 2;
    tape->failed |= !sx_reserve(&tape->node, &nodes, n, sizeof *tape->node) ||
                    !sx_reserve(&tape->adjoint, &adjoints, n, sizeof *tape->adjoint);
    if (!tape->failed) tape->room = nodes;
    return !tape->failed;
}

/* A number made of two others. */
static sx_real make_node(sx_tape *tape, double value, sx_real a, double by_a, sx_real b, double by_b) {
    if (tape->n + 2 > tape->room && !grow_nodes(tape)) return sx_constant(value);
    if (tape->n == 0) tape->node[tape->n++] = (sx_tape_node){0};
    tape->node[tape->n] = (sx_tape_node){{a.node, b.node}, {by_a, by_b}};
    return (sx_real){value, (uint32_t)tape->n++};
}

sx_real sx_tape_input(sx_tape *tape, double value) {
    return make_node(tape, value, sx_constant(0), 0, sx_constant(0), 0);
}

sx_real sx_real_add(sx_tape *tape, sx_real a, sx_real b) {
    if (!(a.node | b.node)) return sx_constant(a.value + b.value);
    return make_node(tape, a.value + b.value, a, 1, b, 1);
}

sx_real sx_real_subtract(sx_tape *tape, sx_real a, sx_real b) {
    if (!(a.node | b.node)) return sx_constant(a.value - b.value);
    return make_node(tape, a.value - b.value, a, 1, b, -1);
}

sx_real sx_real_multiply(sx_tape *tape, sx_real a, sx_real b) {
    if (!(a.node | b.node)) return sx_constant(a.value * b.value);
    return make_node(tape, a.value * b.value, a, b.value, b, a.value);
}

sx_real sx_real_divide(sx_tape *tape, sx_real a, sx_real b) {
    double value = a.value / b.value;
    if (!(a.node | b.node)) return sx_constant(value);
    return make_node(tape, value, a, 1 / b.value, b, -value / b.value);
}

sx_real sx_real_max(sx_real a, sx_real b) {
    return a.value >= b.value ? a : b;
}

sx_real sx_real_min(sx_real a, sx_real b) {
    return a.value <= b.value ? a : b;
}

sx_real sx_real_log(sx_tape *tape, sx_real a) {
    if (!a.node) return sx_constant(sx_log(a.value));
    return make_node(tape, sx_log(a.value), a, 1 / a.value, sx_constant(0), 0);
}

sx_real sx_real_exp(sx_tape *tape, sx_real a) {
    double value = sx_exp(a.value);
    if (!a.node) return sx_constant(value);
    return make_node(tape, value, a, value, sx_constant(0), 0);
}

sx_real sx_real_scale(sx_tape *tape, sx_real a, double factor, double constant) {
    double value = factor * a.value + constant;
    if (!a.node) return sx_constant(value);
    return make_node(tape, value, a, factor, sx_constant(0), 0);
}

void sx_tape_differentiate(sx_tape *tape, sx_real result) {
    if (tape->failed || tape->n == 0) return;
    memset(tape->adjoint, 0, tape->n * sizeof *tape->adjoint);
    tape->adjoint[result.node] = 1;
    for (size_t i = tape->n; i-- > 1;) {
        const sx_tape_node *node = &tape->node[i];
        double adjoint = tape->adjoint[i];
        if (adjoint == 0) continue;
        tape->adjoint[node->from[0]] += adjoint * node->by[0];
        tape->adjoint[node->from[1]] += adjoint * node->by[1];
    }
}
