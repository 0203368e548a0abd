#include "cli/tensor_bits.h"

#include "cli/density.h"
#include "frontend/document/document.h"

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
        int only = name ? sx_problem_tensor(problem, name) : -1;
        if (name && only < 0) only = sx_problem_role(problem, name);
        for (int v = 0; v < problem->n_tensors; v++) {
            if (name && v != only) continue;
            SX_TRY(sx_tensor_set_bits(&problem->tensor[v], bits));
            found = true;
        }
    }
    return found ? SX_OK : sx_option_no_tensor("--bits", name, network);
}

/* Applies one [TENSOR=]N of so many bytes. */
static sx_status apply_part(const char *text, const char *part, size_t size, sx_network *network) {
    char copy[2 * SX_NAME_SIZE];
    uint64_t bits;
    if (size >= sizeof copy) return malformed(text);
    memcpy(copy, part, size);
    copy[size] = 0;
    char *equal = strchr(copy, '='), *value = equal ? equal + 1 : copy;
    if (equal) *equal = 0;
    if (equal == copy || !sx_text_u64(value, &bits) || bits < 1 || bits > SX_MAX_ELEMENT_BITS)
        return malformed(text);
    return apply(equal ? copy : NULL, bits, network);
}

sx_status sx_bits_apply(const sx_args *args, sx_network *network) {
    const char *text;
    for (size_t i = 0; (text = sx_args_text(args, "bits", i)); i++)
        for (const char *at = text;; at++) {
            size_t size = strcspn(at, ",");
            SX_TRY(apply_part(text, at, size, network));
            at += size;
            if (!*at) break;
        }
    return SX_OK;
}
