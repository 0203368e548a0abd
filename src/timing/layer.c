#include "timing/layer.h"

#include "ir/arch.h"
#include "ir/rank.h"
#include "ir/timing.h"

#include <math.h>
#include <stdio.h>

/* Whether a rank of a tensor is a window: the sum of several dimensions. */
static bool has_window(const sx_tensor *tensor, int n_dims) {
    for (int r = 0; r < tensor->n_ranks; r++) {
        int n = 0;
        for (int d = 0; d < n_dims; d++) n += tensor->coef[r][d] != 0;
        if (n > 1) return true;
    }
    return false;
}

/* The tensors of an einsum with two operands and one result; false where it has others. */
static bool find_operands(const sx_problem *problem, int *rows, int *columns, int *result) {
    int n = 0;
    *result = -1;
    for (int v = 0; v < problem->n_tensors; v++) {
        if (problem->tensor[v].output && *result >= 0) return false;
        if (problem->tensor[v].output)
            *result = v;
        else if (n++ == 0)
            *rows = v;
        else
            *columns = v;
    }
    return n == 2 && *result >= 0;
}

/* Sorts the dimensions of a product of two operands; `channels` are those of the reduction outside of windows. */
static void set_sizes(const sx_problem *problem, const sx_tensor *a, const sx_tensor *b,
                      const sx_tensor *result, sx_timed_operator *out, double *channels) {
    out->repeat = out->m = out->n = out->k = *channels = 1;
    for (int d = 0; d < problem->n_dims; d++) {
        const bool in_a = sx_tensor_has(a, d), in_b = sx_tensor_has(b, d), kept = sx_tensor_has(result, d);
        double *to = !kept ? &out->k : in_a && in_b ? &out->repeat : in_a ? &out->m : &out->n;
        *to *= problem->size[d];
        bool window = false;
        for (int r = 0; r < a->n_ranks; r++)
            for (int e = 0; e < problem->n_dims; e++) window |= a->coef[r][d] && a->coef[r][e] && e != d;
        for (int r = 0; r < b->n_ranks; r++)
            for (int e = 0; e < problem->n_dims; e++) window |= b->coef[r][d] && b->coef[r][e] && e != d;
        if (!kept && !window) *channels *= problem->size[d];
    }
}

/* The kind whose numbers a layer has: of its widths, where they have some. */
static const char *kind_of(const sx_timing *timing, const sx_timed_operator *op, bool window, char *name,
                           size_t size) {
    const char *plain = window ? (op->n == 1 ? "depthwise" : "conv") : "gemm";
    snprintf(name, size, "%s-w%ga%g", plain, fmin(op->row_bits, op->col_bits),
             fmax(op->row_bits, op->col_bits));
    const sx_timing_kind *own = sx_timing_find(timing, name);
    return own->name[0] ? own->name : plain;
}

void sx_layer_operator(const sx_arch *arch, const sx_timing *timing, const sx_problem *problem,
                       sx_timed_operator *out) {
    const sx_storage *outer = &arch->level[arch->n_levels - 1];
    int rows, columns, result;
    char name[SX_NAME_SIZE];
    double channels;
    *out = (sx_timed_operator){.kind = "gemm", .row_bits = outer->word_bits, .col_bits = outer->word_bits};
    if (!find_operands(problem, &rows, &columns, &result)) {
        out->macs = (double)sx_problem_computes(problem);
        return;
    }
    const sx_tensor *a = &problem->tensor[rows], *b = &problem->tensor[columns];
    out->row_bits = sx_element_bits(outer, a);
    out->col_bits = sx_element_bits(outer, b);
    set_sizes(problem, a, b, &problem->tensor[result], out, &channels);
    const bool window = has_window(a, problem->n_dims) || has_window(b, problem->n_dims);
    if (out->m == 1) {
        out->m = out->n;
        out->n = 1;
    }
    out->unaligned = window && fmod(channels, 8) != 0;
    out->kind = kind_of(timing, out, window, name, sizeof name);
    if (!window || out->n > 1) return;
    out->blocks = ceil(out->repeat * out->m / 256);
    out->repeat = 0;
}

sx_operator_time sx_time_layer(const sx_arch *arch, const sx_timing *timing, const sx_problem *problem,
                               const sx_cost *cost, double repeat, double bytes) {
    const int outer = arch->n_levels - 1;
    sx_timed_operator op;
    sx_layer_operator(arch, timing, problem, &op);
    op.bytes = repeat * bytes;
    op.repeat *= repeat;
    op.macs *= repeat;
    op.blocks *= repeat;
    sx_operator_time out = sx_time_operator(arch, timing, &op);
    if (timing->units) return out;
    const sx_timing_kind *kind = sx_timing_find(timing, op.kind);
    out.compute = repeat * (double)cost->compute_cycles * arch->cycle_seconds / kind->compute;
    for (int s = 0; s < outer; s++)
        if (cost->level[s].cycles > cost->compute_cycles)
            out.level[s] = repeat * (double)cost->level[s].cycles * arch->cycle_seconds / kind->level[s];
    sx_operator_time_finish(arch, kind->overlap, &out);
    return out;
}
