/* Which operations are parts of others. A convolution, a product or an addition takes what follows it element by
 * element, as long as nothing else reads what is between: batch normalisation, a bias, an activation function,
 * quantization. Identity and DequantizeLinear are other names of what they read. */
#include "frontend/onnx/build.h"

/* Whether an operation only gives its first input another name. */
static bool renames_input(const sx_onnx_op *op) {
    static const char *const names[] = {"Identity", "Dropout", "DequantizeLinear"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (op->rule && op->rule->name[0] == names[i][0] && sx_bytes_are(op->at.node->op, names[i]))
            return true;
    return false;
}

/* Whether an operation may have others as its parts. */
static bool takes_parts(const sx_onnx_op *op) {
    if (!op->rule || op->n_outputs == 0 || op->output[0] == SX_ONNX_NONE) return false;
    return op->rule->lower || (op->rule->kind == SX_OP_ELEMENT_WISE && !op->rule->follows) ||
           op->rule->kind == SX_OP_POOL;
}

static bool same_shape(const sx_onnx_shape *a, const sx_onnx_shape *b) {
    if (a->n != b->n || !sx_onnx_known(a)) return false;
    for (int i = 0; i < a->n; i++)
        if (a->dim[i] != b->dim[i]) return false;
    return true;
}

/* Whether an operation adds weights to a value, or multiplies it by them. */
static bool scales_value(const sx_onnx_builder *b, const sx_onnx_op *op, uint32_t value) {
    if (!op->rule || op->rule->kind != SX_OP_ELEMENT_WISE || op->n_inputs != 2) return false;
    const uint32_t other = op->input[op->input[0] == value];
    return other != SX_ONNX_NONE && (sx_onnx_is_weight(b, other) || sx_onnx_value_at(b->trace, other)->data);
}

/* Whether an operation that reads a value can be a part of the one that writes it. */
static bool is_part(const sx_onnx_builder *b, const sx_onnx_op *op, uint32_t value) {
    if (!op->rule || op->n_outputs == 0 || op->n_inputs == 0 || op->output[0] == SX_ONNX_NONE) return false;
    if (!(op->rule->follows && op->input[0] == value) && !scales_value(b, op, value)) return false;
    for (size_t i = 1; i < op->n_outputs; i++)
        if (op->output[i] != SX_ONNX_NONE && b->uses[op->output[i]]) return false;
    return same_shape(&sx_onnx_value_at(b->trace, op->output[0])->shape,
                      &sx_onnx_value_at(b->trace, value)->shape);
}

/* Follows what comes after an operation as far as it is a part of it. */
static void take_parts(sx_onnx_builder *b, size_t index) {
    uint32_t value = sx_onnx_op_at(b->trace, index)->output[0];
    while (b->uses[value] == 1 && b->consumer[value] != SX_ONNX_NONE) {
        const uint32_t next = b->consumer[value];
        const sx_onnx_op *op = sx_onnx_op_at(b->trace, next);
        if (b->grouped[next] || !is_part(b, op, value)) break;
        b->grouped[next] = true;
        value = op->output[0];
    }
    b->result[index] = value;
}

/* Counts who reads each value. */
static void count_uses(sx_onnx_builder *b) {
    for (uint32_t i = 0; i < b->trace->values.n; i++) {
        b->uses[i] = sx_onnx_value_at(b->trace, i)->wanted;
        b->consumer[i] = SX_ONNX_NONE;
    }
    for (size_t i = 0; i < b->trace->ops.n; i++) {
        const sx_onnx_op *op = sx_onnx_op_at(b->trace, i);
        for (size_t k = 0; k < op->n_inputs; k++) {
            if (op->input[k] == SX_ONNX_NONE) continue;
            b->uses[op->input[k]]++;
            b->consumer[op->input[k]] = (uint32_t)i;
        }
    }
}

/* Gives values that are others under another name the one that stands for them. */
static void find_aliases(sx_onnx_builder *b) {
    for (uint32_t i = 0; i < b->trace->values.n; i++) b->alias[i] = i;
    for (size_t i = 0; i < b->trace->ops.n; i++) {
        const sx_onnx_op *op = sx_onnx_op_at(b->trace, i);
        if (!renames_input(op) || !op->n_inputs || !op->n_outputs || op->input[0] == SX_ONNX_NONE ||
            op->output[0] == SX_ONNX_NONE)
            continue;
        b->alias[op->output[0]] = b->alias[op->input[0]];
    }
}

void sx_onnx_group(sx_onnx_builder *b) {
    count_uses(b);
    find_aliases(b);
    for (size_t i = 0; i < b->trace->ops.n; i++) {
        const sx_onnx_op *op = sx_onnx_op_at(b->trace, i);
        b->result[i] = op->n_outputs ? op->output[0] : SX_ONNX_NONE;
        if (takes_parts(op) && !b->grouped[i]) take_parts(b, i);
    }
    for (uint32_t i = 0; i < b->trace->values.n; i++)
        if (sx_onnx_value_at(b->trace, i)->wanted) sx_onnx_value_at(b->trace, b->alias[i])->wanted = true;
}
