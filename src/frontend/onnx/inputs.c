/* Which inputs an operation must have: the texts of the table of rules, parsed and checked on a node. */
#include "frontend/onnx/rules.h"

#include <string.h>

/* An input of a rule: its name, how it may be left out (0: it may not), and the name of what it depends on. */
typedef struct input_rule {
    sx_bytes name, other;
    char how;
} input_rule;

/* Reads the next input of a rule's text; false at the end. */
static bool next_input(const char **text, input_rule *out) {
    const char *at = *text + strspn(*text, " ");
    const size_t length = strcspn(at, " "), name = strcspn(at, " ?@*");
    *text = at + length;
    if (!length) return false;
    const size_t rest = name < length ? name + 1 : length;
    *out = (input_rule){.name = {(const unsigned char *)at, name},
                        .other = {(const unsigned char *)at + rest, length - rest},
                        .how = name < length ? at[name] : 0};
    return true;
}

/* Whether an operation has an input. */
static bool has_input(const sx_onnx_op *op, size_t index) {
    return index < op->n_inputs && op->input[index] != SX_ONNX_NONE;
}

/* Whether an operation has the input of a name. */
static bool has_named(const sx_onnx_op *op, sx_bytes name) {
    const char *text = op->rule->inputs;
    input_rule input;
    for (size_t i = 0; next_input(&text, &input); i++)
        if (sx_bytes_compare(input.name, name) == 0) return has_input(op, i);
    return false;
}

/* The error of an input that is missing, with the value that the node names there, if any. */
static SX_ERROR sx_status missing_input(const sx_onnx_op *op, const input_rule *input, size_t index) {
    char name[SX_NAME_SIZE], other[SX_NAME_SIZE], value[SX_NAME_SIZE];
    sx_status error;
    sx_onnx_text(input->name, name, sizeof name);
    sx_onnx_text(input->other, other, sizeof other);
    if (input->how == '?')
        error = sx_onnx_error(op, "its input '%s' is missing, though it has '%s': give both or neither", name,
                              other);
    else if (input->how == '@')
        error = sx_onnx_error(op, "its input '%s' is missing, and so is the attribute '%s'", name, other);
    else
        error = sx_onnx_error(op, "its input '%s' is missing", name);
    if (index >= op->at.node->n_inputs || !op->at.node->input[index].size) return error;
    sx_onnx_text(op->at.node->input[index], value, sizeof value);
    return sx_error_hint(error, "the node names the value '%s', which is no input and which no node writes",
                         value);
}

/* Whether an input that is missing may be. */
static bool may_lack(const sx_onnx_op *op, const input_rule *input) {
    char name[SX_NAME_SIZE];
    if (input->how == '?') return !input->other.size || !has_named(op, input->other);
    if (input->how != '@') return false;
    sx_onnx_text(input->other, name, sizeof name);
    return sx_onnx_attribute(op->at, name).data != NULL;
}

sx_status sx_onnx_check_inputs(const sx_onnx_op *op) {
    const char *text = op->rule && op->rule->inputs ? op->rule->inputs : "";
    input_rule input;
    for (size_t i = 0; next_input(&text, &input); i++) {
        const size_t end = input.how == '*' && op->n_inputs > i ? op->n_inputs : i + 1;
        for (size_t k = i; k < end; k++)
            if (!has_input(op, k) && !may_lack(op, &input)) return missing_input(op, &input, k);
    }
    return SX_OK;
}
