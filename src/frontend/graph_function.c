/* The functions that nodes of a graph may name: those of the vector unit's rules, those of ONNX's operations in lower case, as
 * graphs of models have them, kinds of nodes, a few that cost an operation per element, and gradients of all these. */
#include "frontend/graph_function.h"

#include "frontend/onnx/rules.h"
#include "ir/vector_rule.h"

#include <string.h>

enum { MOST_NAMES = 400 };

/* Those that no table has. */
static const char *const others[] = {"max",     "average", "top-k",   "weighted-sum",
                                     "softmax", "slice",   "reshape", "local-response"};

/* Names, and room for those that are made. */
typedef struct names {
    const char *name[MOST_NAMES];
    char lower[MOST_NAMES][SX_NAME_SIZE];
    size_t n;
} names;

/* Adds a name in lower case. */
static void add_lower(names *all, const char *name) {
    size_t i = 0;
    if (all->n == MOST_NAMES) return;
    for (; name[i] && i + 1 < SX_NAME_SIZE; i++)
        all->lower[all->n][i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
    all->lower[all->n][i] = 0;
    all->name[all->n] = all->lower[all->n];
    all->n++;
}

/* Lists all names. */
static void list_names(names *out) {
    const sx_vector_rule *rule;
    const sx_onnx_rule *operation;
    out->n = 0;
    for (size_t i = 0; (rule = sx_vector_rule_at(i)); i++) add_lower(out, rule->function);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) add_lower(out, others[i]);
    for (int i = 0; i < SX_N_OP_KINDS; i++) add_lower(out, sx_op_kind_name((sx_op_kind)i));
    for (size_t i = 0; (operation = sx_onnx_rule_at(i)); i++) add_lower(out, operation->name);
}

/* A name without the sign of gradients behind it. */
static void strip_gradients(char *name) {
    static const char gradient[] = "-gradient";
    const size_t end = sizeof gradient - 1;
    for (size_t size = strlen(name); size > end && strcmp(name + size - end, gradient) == 0; size -= end)
        name[size - end] = 0;
}

/* The name that is probably meant: the nearest one, or for short ones the first that goes on with another letter. */
static const char *find_meant(const names *all, const char *name) {
    const char *nearest = sx_name_nearest(name, all->name, all->n);
    const size_t size = strlen(name);
    for (size_t i = 0; i < all->n && !nearest; i++)
        if (strncmp(all->name[i], name, size) == 0 && strlen(all->name[i]) == size + 1)
            nearest = all->name[i];
    return nearest;
}

sx_status sx_graph_check_function(sx_input *input, const sx_graph_node *node, sx_place place) {
    char name[SX_NAME_SIZE];
    names all;
    memcpy(name, node->function, sizeof name);
    strip_gradients(name);
    list_names(&all);
    for (size_t i = 0; i < all.n; i++)
        if (strcmp(name, all.name[i]) == 0) return SX_OK;
    const char *nearest = find_meant(&all, name);
    if (node->kind == SX_OP_OTHER)
        return sx_input_warn(
            input, place, "the function '%s' is not known and takes an operation per element%s%s%s",
            node->function, nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    sx_status error = sx_error_at(place, "unknown function '%s' of a node", node->function);
    if (nearest) return sx_error_hint(error, "did you mean '%s'?", nearest);
    return sx_error_hint(error, "a node of kind 'other' may have any function");
}
