/* The features of a node, by Table 1 of the EGRL paper (ICLR 2021). Images are (batch, channel, row, column),
 * texts (batch, feature, word); x is the last rank, y the one before it where there are four, z the second. */
#include "ir/rank.h"
#include "placement/build.h"

/* The rank of a tensor, from the last, that slides a window: it has two dimensions; -1 where there is none. */
static int window_rank(const sx_problem *problem, const sx_tensor *tensor, int skip) {
    for (int r = tensor->n_ranks - 1; r >= 0; r--) {
        int n = 0;
        for (int d = 0; d < problem->n_dims; d++) n += tensor->coef[r][d] != 0;
        if (n > 1 && skip-- == 0) return r;
    }
    return -1;
}

/* The tensor of an einsum that windows slide over; -1 where there is none. */
static int window_tensor(const sx_problem *problem) {
    for (int t = 0; t < problem->n_tensors; t++)
        if (!problem->tensor[t].output && window_rank(problem, &problem->tensor[t], 0) >= 0) return t;
    return -1;
}

sx_op_class sx_place_einsum_class(const sx_graph *graph, const sx_graph_node *node) {
    const sx_problem *problem = &graph->einsum[node->einsum];
    const sx_tensor *output = &problem->tensor[sx_problem_output(problem)];
    int slid = window_tensor(problem);
    if (slid < 0) return SX_CLASS_MATMUL;
    for (int d = 0; d < problem->n_dims; d++) {
        bool window = false;
        for (int r = 0; r < problem->tensor[slid].n_ranks; r++) {
            int others = 0;
            for (int e = 0; e < problem->n_dims; e++) others += e != d && problem->tensor[slid].coef[r][e];
            window |= problem->tensor[slid].coef[r][d] && others;
        }
        if (!window && !sx_tensor_has(output, d)) return SX_CLASS_CONVOLUTION;
    }
    return SX_CLASS_DEPTHWISE;
}

/* Sets x, y and z of a tensor; returns their product. */
static double set_shape(const sx_graph_tensor *tensor, double *xyz) {
    size_t n = tensor->n_ranks;
    xyz[0] = n > 2 ? (double)tensor->extent[n - 1] : 1;
    xyz[1] = n > 3 ? (double)tensor->extent[n - 2] : 1;
    xyz[2] = n > 1 ? (double)tensor->extent[1] : 1;
    return xyz[0] * xyz[1] * xyz[2];
}

/* Sets kernel, stride, padding and dilation of a window. */
static void set_window(const sx_problem *problem, int slid, const sx_graph_operand *operand, double *f) {
    const sx_tensor *output = &problem->tensor[sx_problem_output(problem)], *tensor = &problem->tensor[slid];
    for (int axis = 0; axis < 2; axis++) {
        int r = window_rank(problem, tensor, axis);
        for (int d = 0; r >= 0 && d < problem->n_dims; d++) {
            if (!tensor->coef[r][d]) continue;
            if (sx_tensor_has(output, d)) {
                f[SX_FEATURE_STRIDE] = tensor->coef[r][d];
                continue;
            }
            f[axis ? SX_FEATURE_KERNEL_Y : SX_FEATURE_KERNEL_X] = problem->size[d];
            f[SX_FEATURE_DILATION] = tensor->coef[r][d];
        }
    }
    f[SX_FEATURE_PAD] = 0;
    for (int r = 0; r < SX_MAX_RANKS; r++)
        if (operand->before[r] > f[SX_FEATURE_PAD]) f[SX_FEATURE_PAD] = operand->before[r];
    f[SX_FEATURE_GROUPS] = 1;
    for (int d = 0; d < problem->n_dims; d++) {
        bool everywhere = problem->n_tensors > 2;
        for (int t = 0; t < problem->n_tensors; t++) everywhere &= sx_tensor_has(&problem->tensor[t], d);
        if (everywhere) f[SX_FEATURE_GROUPS] *= problem->size[d];
    }
}

void sx_place_features(const sx_place_build *build, size_t at, sx_place_node *node) {
    const sx_graph *graph = build->graph;
    const sx_graph_node *from = &graph->node[at];
    double *f = node->feature;
    for (size_t i = from->first + from->n_operands; i-- > from->first;) {
        const sx_graph_tensor *tensor = &graph->tensor[graph->operand[i].tensor];
        if (graph->operand[i].written) {
            f[SX_FEATURE_OFM_SIZE] = set_shape(tensor, f + SX_FEATURE_OFM);
            f[SX_FEATURE_BATCH] = tensor->n_ranks ? (double)tensor->extent[0] : 1;
        } else if (!tensor->weight) {
            f[SX_FEATURE_IFM_SIZE] = set_shape(tensor, f + SX_FEATURE_IFM);
        }
    }
    if (from->einsum == SX_NO_INDEX) return;
    const sx_problem *problem = &graph->einsum[from->einsum];
    int slid = window_tensor(problem);
    if (slid >= 0) set_window(problem, slid, &graph->operand[from->first + (size_t)slid], f);
}
