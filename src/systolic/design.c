/* The designs of a kernel. Source: Odyssey (DAC 2023), section 4 and its table of dataflows and permutations:
 * every loop, and every pair of loops, may run over the PEs (a dataflow); of all orders of the tile
 * loops three matter, in each of which the loops that index one tensor are outermost. */
#include "base/status.h"
#include "sextant/systolic.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { N_PERMUTATIONS = 3 };

/* The array that stays, by permutation: the paper numbers matrix products and convolutions differently. */
static const uint8_t stationary[2][N_PERMUTATIONS] = {
    {SX_FIRST, SX_SECOND, SX_RESULT},
    {SX_FIRST, SX_RESULT, SX_SECOND},
};

size_t sx_systolic_n_designs(const sx_systolic_kernel *kernel) {
    size_t n = (size_t)kernel->n_loops;
    return (n + n * (n - 1) / 2) * N_PERMUTATIONS;
}

void sx_systolic_design_at(const sx_systolic_kernel *kernel, size_t index, sx_systolic_design *out) {
    assert(index < sx_systolic_n_designs(kernel));
    size_t n = (size_t)kernel->n_loops, dataflow = index / N_PERMUTATIONS, pair = dataflow - n;
    sx_systolic_design design = {.n_space = 1, .space = {(uint8_t)dataflow, 0}};
    design.dataflow = (uint8_t)dataflow;
    design.permutation = (uint8_t)(index % N_PERMUTATIONS);
    design.stationary = stationary[kernel->sliding][design.permutation];
    if (dataflow >= n) {
        size_t first = 0;
        for (; pair >= n - 1 - first; first++) pair -= n - 1 - first;
        design.n_space = 2;
        design.space[0] = (uint8_t)first;
        design.space[1] = (uint8_t)(first + 1 + pair);
    }
    *out = design;
}

void sx_systolic_design_name(const sx_systolic_design *design, char *text, size_t size) {
    snprintf(text, size, "%u_%u", design->dataflow, design->permutation);
}

/* Adds text to a buffer, as far as there is room. */
static void append_text(char *text, size_t size, const char *more) {
    size_t used = strlen(text);
    if (used + 1 < size) snprintf(text + used, size - used, "%s", more);
}

/* Adds the names of the loops of a set, in brackets where they are several. */
static void append_loops(const sx_systolic_kernel *kernel, unsigned loops, bool brackets, char *text,
                         size_t size) {
    bool several = (loops & (loops - 1)) != 0;
    if (brackets || several) append_text(text, size, "[");
    const char *comma = "";
    for (int d = 0; d < kernel->n_loops; d++) {
        if (!(loops >> d & 1)) continue;
        append_text(text, size, comma);
        append_text(text, size, kernel->loop[d].name);
        comma = ",";
    }
    if (brackets || several) append_text(text, size, "]");
}

void sx_systolic_design_text(const sx_systolic_kernel *kernel, const sx_systolic_design *design, char *text,
                             size_t size) {
    unsigned space = 0, outer = 0, all = (1u << kernel->n_loops) - 1;
    for (int i = 0; i < design->n_space; i++) space |= 1u << design->space[i];
    for (int d = 0; d < kernel->n_loops; d++)
        if (kernel->loop[d].operands >> design->stationary & 1) outer |= 1u << d;
    text[0] = 0;
    append_loops(kernel, space, true, text, size);
    append_text(text, size, " <");
    append_loops(kernel, outer, false, text, size);
    if (outer != all && outer) append_text(text, size, ",");
    append_loops(kernel, all & ~outer, false, text, size);
    append_text(text, size, ">");
}

sx_status sx_systolic_design_find(const sx_systolic_kernel *kernel, const char *name, size_t *out) {
    const char *bare = strncmp(name, "kernel", 6) == 0 ? name + 6 : name;
    size_t n = sx_systolic_n_designs(kernel);
    for (size_t i = 0; i < n; i++) {
        sx_systolic_design design;
        char own[16];
        sx_systolic_design_at(kernel, i, &design);
        sx_systolic_design_name(&design, own, sizeof own);
        if (strcmp(own, bare) != 0) continue;
        *out = i;
        return SX_OK;
    }
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "'%s' has no design '%s'", kernel->name, name),
                         "designs are DATAFLOW_PERMUTATION, from 0_0 to %zu_%d", n / N_PERMUTATIONS - 1,
                         N_PERMUTATIONS - 1);
}
