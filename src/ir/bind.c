/* Tensors by their role: architectures and constraints name tensors that a problem may call otherwise. */
#include "base/status.h"
#include "base/text.h"
#include "sextant/arch.h"

#include <string.h>
#include <strings.h>

typedef enum role { NO_ROLE, OUTPUT, INPUT, WEIGHT } role;

/* Whether a name is a word, in any case and with or without a plural s. */
static bool is_word(const char *name, const char *word) {
    size_t length = strlen(word);
    return strncasecmp(name, word, length) == 0 && (!name[length] || strcasecmp(name + length, "s") == 0);
}

/* The role that a name stands for in the files of the field. */
static role role_of(const char *name) {
    static const struct {
        const char *word;
        role role;
    } known[] = {
        {"output", OUTPUT}, {"out", OUTPUT}, {"o", OUTPUT},      {"ofmap", OUTPUT},  {"psum", OUTPUT},
        {"input", INPUT},   {"in", INPUT},   {"i", INPUT},       {"ifmap", INPUT},   {"activation", INPUT},
        {"weight", WEIGHT}, {"w", WEIGHT},   {"filter", WEIGHT}, {"kernel", WEIGHT},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_word(name, known[i].word)) return known[i].role;
    return NO_ROLE;
}

/* The same for a name that is not the problem's own: there Z = A * B is a matrix product, too. */
static role wanted_role(const char *name) {
    if (strcasecmp(name, "z") == 0) return OUTPUT;
    if (strcasecmp(name, "a") == 0) return INPUT;
    return strcasecmp(name, "b") == 0 ? WEIGHT : role_of(name);
}

/* Whether a rank of a tensor is a sum over dimensions. */
static bool has_window(const sx_problem *problem, int tensor) {
    const sx_tensor *t = &problem->tensor[tensor];
    for (int r = 0; r < t->n_ranks; r++) {
        int n = 0;
        for (int d = 0; d < problem->n_dims; d++) n += t->coef[r][d] != 0;
        if (n > 1) return true;
    }
    return false;
}

/* The only one of some inputs whose own name has a role, -1 where there is none or more than one. */
static int input_called(const sx_problem *problem, const int *input, int n, role wanted) {
    int found = -1;
    for (int i = 0; i < n; i++) {
        if (role_of(problem->tensor[input[i]].name) != wanted) continue;
        if (found >= 0) return -1;
        found = input[i];
    }
    return found;
}

/* The input of a role among two: by their names, else the one with a window is the input, else the first. */
static int input_of(const sx_problem *problem, const int input[2], role wanted) {
    int other = input_called(problem, input, 2, wanted == INPUT ? WEIGHT : INPUT);
    if (other >= 0) return other == input[0] ? input[1] : input[0];
    bool window[2] = {has_window(problem, input[0]), has_window(problem, input[1])};
    int first = window[1] && !window[0];
    return wanted == INPUT ? input[first] : input[1 - first];
}

int sx_problem_role(const sx_problem *problem, const char *name) {
    int input[SX_MAX_TENSORS], n = 0;
    role wanted = wanted_role(name);
    if (wanted == NO_ROLE) return -1;
    if (wanted == OUTPUT) return sx_problem_output(problem);
    for (int v = 0; v < problem->n_tensors; v++)
        if (!problem->tensor[v].output) input[n++] = v;
    int own = input_called(problem, input, n, wanted);
    if (own >= 0) return own;
    if (n == 2) return input_of(problem, input, wanted);
    return n == 1 && wanted == INPUT ? input[0] : -1;
}

sx_status sx_problem_bind(sx_problem *problem, int tensor, const char *name) {
    sx_tensor *t = &problem->tensor[tensor];
    int taken = sx_problem_tensor(problem, name);
    if (taken == tensor) return SX_OK;
    if (taken >= 0)
        return sx_error_new(SX_ERR_INPUT, "'%s' is already the name of tensor '%s'", name,
                            problem->tensor[taken].name);
    if (t->alias[0])
        return sx_error_new(SX_ERR_INPUT, "tensor '%s' is already bound to '%s'", t->name, t->alias);
    return sx_text_name(t->alias, sizeof t->alias, name, "a tensor");
}

/* Visits the tensors that sparse optimizations name. */
static void visit_sparse(const sx_sparse *sparse, sx_visit_tensor *visit, void *user) {
    uint32_t tensors = 0;
    for (int i = 0; i < sparse->n_formats; i++) tensors |= 1u << sparse->format[i].tensor;
    for (int i = 0; i < sparse->n_actions; i++)
        for (int k = 0; k < sparse->action[i].n_options; k++)
            tensors |= sparse->action[i].option[k].on | 1u << sparse->action[i].option[k].target;
    for (int i = 0; i < sparse->n_names; i++)
        if (tensors >> i & 1) visit(user, sparse->name[i], NULL);
}

void sx_arch_visit_tensors(const sx_arch *arch, sx_visit_tensor *visit, void *user) {
    for (int s = arch->n_levels - 1; s >= 0; s--) {
        const sx_storage *level = &arch->level[s];
        for (int i = 0; i < level->n_keeps; i++) visit(user, level->keeps[i], level->name);
        for (int i = 0; i < level->n_bypasses; i++) visit(user, level->bypasses[i], level->name);
        for (int i = 0; i < level->n_scales; i++) visit(user, level->bandwidth_scale[i].tensor, level->name);
    }
    visit_sparse(&arch->sparse, visit, user);
}

/* A problem whose tensors get names, and the first failure. */
typedef struct naming {
    sx_problem *problem;
    sx_status status;
} naming;

/* Gives a name to the tensor of its role, unless the name is known or the tensor has one; a visitor. */
static void bind_name(void *user, const char *name, const char *level) {
    naming *n = user;
    (void)level;
    if (n->status || sx_problem_tensor(n->problem, name) >= 0) return;
    int tensor = sx_problem_role(n->problem, name);
    if (tensor >= 0 && !n->problem->tensor[tensor].alias[0])
        n->status = sx_problem_bind(n->problem, tensor, name);
}

sx_status sx_problem_bind_to(sx_problem *problem, const sx_arch *arch) {
    naming n = {.problem = problem};
    sx_arch_visit_tensors(arch, bind_name, &n);
    return n.status;
}
