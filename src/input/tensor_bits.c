#include "input/tensor_bits.h"

#include "input/tensor_option.h"
#include "text/document/document.h"

#include <string.h>

/* The error for a value that cannot be read. */
static sx_status malformed(const char *text) {
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--bits '%s' is not [TENSOR=]N,...", text),
                         "such as --bits 8 or --bits Weights=8,Outputs=32; elements have 1 to %d bits",
                         SX_MAX_ELEMENT_BITS);
}

/* Gives a tensor a width in every layer that has it, or all tensors where no name is given. */
static sx_status apply(const char *name, uint64_t bits, sx_network *network) {
    bool found = false;
    for (size_t i = 0; i < network->n_layers; i++) {
        sx_problem *problem = &network->layer[i].problem;
        int only = name ? sx_option_tensor(problem, name) : -1;
        for (int v = 0; v < problem->n_tensors; v++) {
            if (name && v != only) continue;
            SX_TRY(sx_tensor_set_bits(&problem->tensor[v], bits));
            found = true;
        }
    }
    return found ? SX_OK : sx_option_no_tensor("--bits", name, network);
}

/* Applies one [TENSOR=]N. */
static sx_status apply_part(const char *text, char *part, sx_network *network) {
    uint64_t bits;
    char *equal = strchr(part, '='), *value = equal ? equal + 1 : part;
    if (equal) *equal = 0;
    if (equal == part || !sx_text_u64(value, &bits) || bits < 1 || bits > SX_MAX_ELEMENT_BITS)
        return malformed(text);
    return apply(equal ? part : NULL, bits, network);
}

sx_status sx_bits_apply(const sx_args *args, sx_network *network) {
    return sx_option_apply(args, "bits", apply_part, network);
}
