#include "input/tensor_option.h"

#include "base/status.h"
#include "text/document/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Applies the parts of one value, which are cut apart in a copy of it. */
static sx_status apply_parts(const char *text, char *copy, sx_option_part *apply, sx_network *network) {
    for (char *at = copy, *next; at; at = next) {
        next = strchr(at, ',');
        if (next) *next++ = 0;
        SX_TRY(apply(text, at, network));
    }
    return SX_OK;
}

sx_status sx_option_apply(const sx_args *args, const char *option, sx_option_part *apply,
                          sx_network *network) {
    const char *text;
    for (size_t i = 0; (text = sx_args_text(args, option, i)); i++) {
        char *copy = strdup(text);
        if (!copy) return sx_error_memory();
        sx_status status = apply_parts(text, copy, apply, network);
        free(copy);
        SX_TRY(status);
    }
    return SX_OK;
}

int sx_option_tensor(const sx_problem *problem, const char *name) {
    int v = sx_problem_tensor(problem, name);
    return v < 0 ? sx_problem_role(problem, name) : v;
}

sx_status sx_option_no_tensor(const char *option, const char *name, const sx_network *network) {
    const char *known[SX_MAX_TENSORS];
    const sx_problem *first = &network->layer[0].problem;
    for (int v = 0; v < first->n_tensors; v++) known[v] = first->tensor[v].name;
    char what[32];
    snprintf(what, sizeof what, "tensor of %s", option);
    return sx_error_unknown((sx_place){0}, what, name, known, first->n_tensors);
}
