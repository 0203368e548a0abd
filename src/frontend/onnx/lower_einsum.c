/* Einsum: its letters are the dimensions; those of an ellipsis are E0, E1, ... counted from the last. */
#include "frontend/onnx/build.h"
#include "frontend/onnx/equation.h"

#include <stdio.h>
#include <string.h>

/* The tensors of the einsum: the output, and the operands from the last to the first. */
static const char *const names[] = {"Outputs", "Weights", "Inputs",  "Inputs2",
                                    "Inputs3", "Inputs4", "Inputs5", "Inputs6"};

/* Adds a dimension. */
static int add_dim(sx_problem *einsum, const char *name, int64_t size) {
    const int d = einsum->n_dims++;
    snprintf(einsum->dim_name[d], SX_NAME_SIZE, "%s", name);
    einsum->size[d] = (uint32_t)size;
    return d;
}

/* The dimension of a letter, which is added where it is not there; -1 where there are too many. */
static int dim_of(sx_problem *einsum, char letter, int64_t size) {
    char name[3] = {letter, 0, 0};
    if (letter >= '0' && letter <= '9') {
        name[0] = 'E';
        name[1] = letter;
    }
    const int d = sx_problem_dim(einsum, name);
    if (d >= 0) return d;
    return einsum->n_dims < SX_MAX_DIMS - 1 ? add_dim(einsum, name, size) : -1;
}

/* Adds a tensor with the ranks of its letters, and how they lie in those of the graph's tensor: a letter whose
 * extent is 1 here but more elsewhere is left out. */
static bool add_tensor(sx_problem *einsum, const sx_equation *e, const sx_letters *letters,
                       const sx_onnx_shape *shape, sx_graph_operand *operand) {
    const int v = einsum->n_tensors++;
    sx_tensor *tensor = &einsum->tensor[v];
    unsigned seen = 0;
    tensor->output = v == 0;
    snprintf(tensor->name, sizeof tensor->name, "%s", names[v]);
    for (int i = 0; i < letters->n; i++) {
        const int64_t extent = sx_equation_extent(e, letters->letter[i]);
        const int d = dim_of(einsum, letters->letter[i], extent);
        if (d < 0 || seen & 1u << d) return false;
        seen |= 1u << d;
        if (shape->dim[i] != extent) continue;
        operand->rank[tensor->n_ranks] = tensor->n_ranks;
        operand->n_of[i] = 1;
        tensor->coef[tensor->n_ranks++][d] = 1;
    }
    if (tensor->n_ranks) return true;
    int unit = sx_problem_dim(einsum, "unit");
    if (unit < 0) unit = add_dim(einsum, "unit", 1);
    tensor->coef[tensor->n_ranks++][unit] = 1;
    operand->n_of[0] = 1;
    return true;
}

sx_status sx_lower_einsum(sx_onnx_builder *b, size_t index) {
    const sx_onnx_op *op = sx_onnx_op_at(b->trace, index);
    static const size_t inputs[SX_EQUATION_OPERANDS] = {0, 1, 2, 3, 4, 5, 6};
    sx_equation e;
    sx_problem einsum;
    sx_graph_operand operand[SX_MAX_TENSORS];
    bool empty, fits;
    if (op->n_inputs < 2 || op->n_inputs > SX_EQUATION_OPERANDS) return sx_onnx_add_plain(b, index);
    SX_TRY(sx_onnx_ready(b, op, inputs, op->n_inputs, 0, &empty));
    if (empty) return SX_OK;
    SX_TRY(sx_onnx_equation(b->trace, op, &e));
    memset(&einsum, 0, sizeof einsum);
    const uint32_t result = b->result[index];
    for (size_t v = 0; v <= op->n_inputs; v++) {
        const uint32_t value = v ? op->input[op->n_inputs - v] : result;
        size_t tensor;
        SX_TRY(sx_onnx_tensor_of(b, value, &tensor));
        operand[v] = sx_graph_whole(tensor, v == 0, 0);
        fits = add_tensor(&einsum, &e, v ? &e.operand[op->n_inputs - v] : &e.output,
                          &sx_onnx_value_at(b->trace, value)->shape, &operand[v]);
        if (!fits)
            return sx_onnx_error(op, "diagonals and more than %d letters cannot be mapped", SX_MAX_DIMS - 1);
    }
    return sx_onnx_add_einsum(b, op, "", &einsum, operand, 1);
}
