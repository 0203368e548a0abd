#include "cli/bind.h"
#include "base/hint.h"
#include "input/density.h"
#include "input/tensor_bits.h"

#include "frontend/timeloop/tensor_uses.h"

#include <string.h>
#include <strings.h>

enum { MAX_USES = 64, MAX_PAIRS = 32 };

/* A name of a tensor that the sources use. */
typedef struct use {
    char name[SX_NAME_SIZE];
    const char *level; /* what of the architecture names it; NULL: nothing. What else names an unknown
                          tensor is refused where it is read */
} use;

/* NAME=TENSOR of --bind. */
typedef struct binding {
    char name[SX_NAME_SIZE], tensor[SX_NAME_SIZE];
} binding;

typedef struct binder {
    use use[MAX_USES];
    size_t n_uses;
    binding pair[MAX_PAIRS];
    size_t n_pairs;
    bool off; /* only what --bind names */
    bool quiet;
    sx_output *result; /* for messages; NULL: nothing is said */
} binder;

/* Adds a name, once. */
static void add_use(void *user, const char *name, const char *level) {
    binder *b = user;
    for (size_t i = 0; i < b->n_uses; i++)
        if (strcmp(b->use[i].name, name) == 0) {
            if (!b->use[i].level) b->use[i].level = level;
            return;
        }
    if (b->n_uses == MAX_USES || !*name || strlen(name) >= SX_NAME_SIZE) return;
    use *u = &b->use[b->n_uses++];
    memset(u, 0, sizeof *u);
    memcpy(u->name, name, strlen(name));
    u->level = level;
}

/* Adds a name of the architecture; a visitor. */
static void add_arch_use(void *user, const char *name, const char *level) {
    add_use(user, name, level ? level : "sparse_optimizations");
}

/* Adds a name of a file; a visitor. */
static sx_status add_named(void *user, const char *name, sx_place place) {
    (void)place;
    add_use(user, name, NULL);
    return SX_OK;
}

/* Lists the names that the architecture and the files use. What cannot be read is refused elsewhere. */
static void list_uses(const sx_sources *sources, const sx_arch *arch, binder *b) {
    sx_arch_visit_tensors(arch, add_arch_use, b);
    for (int noun = 0; noun < SX_N_NOUNS; noun++)
        if (sources->input[noun]) sx_status_free(sx_input_tensor_uses(sources->input[noun], add_named, b));
}

/* Copies a part of a text to a name; false where it is empty or too long. */
static bool copy_part(const char *from, size_t length, char *name) {
    if (length == 0 || length >= SX_NAME_SIZE) return false;
    memcpy(name, from, length);
    name[length] = 0;
    return true;
}

/* Reads the values of --bind. */
static sx_status read_pairs(const sx_args *args, binder *b) {
    const char *text;
    for (size_t i = 0; (text = sx_args_text(args, "bind", i)); i++) {
        if (strcmp(text, "off") == 0) {
            b->off = true;
            continue;
        }
        for (const char *at = text;; at++) {
            size_t size = strcspn(at, ","), equal = strcspn(at, "=,");
            binding *pair = &b->pair[b->n_pairs];
            if (b->n_pairs == MAX_PAIRS)
                return sx_error_new(SX_ERR_LIMIT, "--bind names more than %d tensors", MAX_PAIRS);
            if (equal >= size || !copy_part(at, equal, pair->name) ||
                !copy_part(at + equal + 1, size - equal - 1, pair->tensor))
                return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--bind '%s' is not NAME=TENSOR,...", text),
                                     "such as --bind Inputs=I,Weights=W,Outputs=O, or --bind off");
            b->n_pairs++;
            at += size;
            if (!*at) break;
        }
    }
    return SX_OK;
}

/* Refuses a name of --bind that nothing uses. */
static sx_status check_pairs(const binder *b) {
    for (size_t i = 0; i < b->n_pairs; i++) {
        const char *known[MAX_USES];
        bool used = false;
        for (size_t k = 0; k < b->n_uses; k++) {
            known[k] = b->use[k].name;
            used |= strcmp(known[k], b->pair[i].name) == 0;
        }
        if (used) continue;
        sx_status error = sx_error_new(
            SX_ERR_USAGE, "--bind: neither the architecture nor constraints nor a mapping name a tensor '%s'",
            b->pair[i].name);
        if (b->n_uses == 0) return error;
        const char *nearest = sx_text_nearest(b->pair[i].name, known, b->n_uses);
        return sx_error_hint(error, "they name '%s'", nearest ? nearest : known[0]);
    }
    return SX_OK;
}

/* The error for a tensor of --bind that no problem has. */
static sx_status no_tensor(const char *name, const sx_problem *problem) {
    sx_status error = sx_error_new(SX_ERR_USAGE, "--bind: the problem has no tensor '%s'", name);
    sx_text list = {0};
    for (int v = 0; v < problem->n_tensors; v++)
        sx_text_add(&list, "%s%s", v ? ", " : "", problem->tensor[v].name);
    return sx_error_hint_list(error, "it has", &list);
}

/* Warns of a name that no tensor is bound to. */
static void tell_unbound(const binder *b, const use *u, const sx_problem *problem) {
    sx_text list = {0};
    if (!b->result) return;
    for (int v = 0; v < problem->n_tensors; v++)
        sx_text_add(&list, "%s%s", v ? ", " : "", problem->tensor[v].name);
    sx_warnings_tell(b->result->warnings,
                     "the problem has no tensor '%s', which %s names; bind one of %s by --bind %s=TENSOR",
                     u->name, u->level, list.failed ? "" : list.data, u->name);
    sx_text_free(&list);
}

/* Notes which tensors a problem's names are bound to, unless that was said of another layer. */
static void tell_bound(const binder *b, const sx_problem *problem) {
    sx_text line = {0};
    if (!b->result || b->quiet) return;
    for (int v = 0; v < problem->n_tensors; v++)
        if (problem->tensor[v].alias[0])
            sx_text_add(&line, "%s%s = %s",
                        line.size ? ", " : "note: tensors bound: ", problem->tensor[v].alias,
                        problem->tensor[v].name);
    if (line.size) sx_text_add(&line, " (--bind NAME=TENSOR,... chooses others)\n");
    sx_text *err = &b->result->err;
    err->failed |= line.failed;
    if (!line.failed && line.size && (!err->data || !strstr(err->data, line.data)))
        sx_text_add(err, "%s", line.data);
    sx_text_free(&line);
}

/* Binds what --bind names; those tensors that the problem does not have are left to other layers. */
static sx_status bind_asked(binder *b, sx_problem *problem) {
    for (size_t i = 0; i < b->n_pairs; i++) {
        int v = sx_problem_tensor(problem, b->pair[i].tensor);
        if (v >= 0) SX_TRY(sx_problem_bind(problem, v, b->pair[i].name));
    }
    return SX_OK;
}

/* Binds the names of one problem. */
static sx_status bind_one(binder *b, sx_problem *problem) {
    SX_TRY(bind_asked(b, problem));
    for (size_t i = 0; i < b->n_uses; i++) {
        const use *u = &b->use[i];
        bool known = sx_problem_tensor(problem, u->name) >= 0;
        int v = known || b->off ? -1 : sx_problem_role(problem, u->name);
        if (v >= 0 && !problem->tensor[v].alias[0])
            SX_TRY(sx_problem_bind(problem, v, u->name));
        else if (!known && u->level)
            tell_unbound(b, u, problem);
    }
    tell_bound(b, problem);
    return SX_OK;
}

/* Warns of a dimension that the architecture names and no layer has. */
static void tell_dimension(const binder *b, const sx_network *network, const char *name, const char *what) {
    for (size_t k = 0; k < network->n_layers; k++)
        for (int d = 0; d < network->layer[k].problem.n_dims; d++)
            if (strcasecmp(network->layer[k].problem.dim_name[d], name) == 0) return;
    sx_warnings_tell(b->result->warnings,
                     "the problem has no dimension '%s', which '%s' of the architecture names", name, what);
}

/* Warns of a tensor of a layout that no layer has, by its name or as the one that plays its part. */
static void tell_layout(const binder *b, const sx_network *network, const char *name) {
    for (size_t k = 0; k < network->n_layers; k++) {
        const sx_problem *problem = &network->layer[k].problem;
        if (sx_problem_tensor(problem, name) >= 0 || sx_problem_role(problem, name) >= 0) return;
    }
    sx_warnings_tell(b->result->warnings,
                     "the problem has no tensor '%s', which 'layout' of the architecture names", name);
}

/* Warns of dimensions of flattened ranks, and of stationary arrays, and of tensors of layouts, that no layer has. Machines for
 * all problems list letters as ranks; in arrays C, K and P stand for what a convolution has of that name. */
static void tell_dimensions(const binder *b, const sx_arch *arch, const sx_network *network) {
    uint32_t named = 0;
    if (!b->result) return;
    for (int i = 0; i < arch->sparse.n_ranks; i++)
        for (int k = 0; k < arch->sparse.rank[i].n_flattened; k++) named |= arch->sparse.rank[i].flattened[k];
    for (int i = 0; i < arch->sparse.n_names; i++)
        if (named >> i & 1 && arch->sparse.name[i][1])
            tell_dimension(b, network, arch->sparse.name[i], "flattened_rankIDs");
    for (int l = 0; l < arch->n_laws; l++) {
        const sx_law *law = &arch->law[l];
        for (int i = 0; i <= law->n_array && law->n_array; i++) {
            const char *name = i < law->n_array ? law->array[i].dim : law->stream;
            if (*name && !(strchr("CKP", *name) && !name[1]))
                tell_dimension(b, network, name, i < law->n_array ? "array" : "stream");
        }
        for (int i = 0; i < law->n_layouts; i++) tell_layout(b, network, law->layout[i].tensor);
    }
}

sx_status sx_bind_problem(const sx_sources *sources, const sx_arch *arch, sx_problem *problem,
                          sx_output *result) {
    sx_layer layer = {.problem = *problem};
    sx_network network = {.n_layers = 1, .layer = &layer};
    SX_TRY(sx_bind_network(sources, arch, NULL, &network, result));
    *problem = layer.problem;
    return SX_OK;
}

sx_status sx_bind_network(const sx_sources *sources, const sx_arch *arch, const sx_designs *designs,
                          sx_network *network, sx_output *result) {
    binder b = {.quiet = sx_args_flag(sources->args, "quiet"), .result = result};
    list_uses(sources, arch, &b);
    for (size_t i = 0; designs && i < designs->n_splits; i++) add_use(&b, designs->split[i], NULL);
    SX_TRY(read_pairs(sources->args, &b));
    SX_TRY(check_pairs(&b));
    for (size_t i = 0; i < b.n_pairs; i++) {
        bool found = false;
        for (size_t k = 0; k < network->n_layers; k++)
            found |= sx_problem_tensor(&network->layer[k].problem, b.pair[i].tensor) >= 0;
        if (!found) return no_tensor(b.pair[i].tensor, &network->layer[0].problem);
    }
    for (size_t k = 0; k < network->n_layers; k++) SX_TRY(bind_one(&b, &network->layer[k].problem));
    tell_dimensions(&b, arch, network);
    SX_TRY(sx_bits_apply(sources->args, network));
    return sx_density_apply(sources->args, network);
}
