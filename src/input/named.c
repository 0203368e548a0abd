#include "input/named.h"

#include "base/file_error.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/vector.h"
#include "frontend/catalog/catalog.h"
#include "frontend/einsum.h"
#include "input/phase.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

enum { MAX_CATALOG = 256, MAX_BATCH = 1 << 20 };

typedef const char *catalog_name(size_t index, const char **about);

/* Whether the first `length` bytes of a text are a name of a catalog. */
static bool in_catalog(catalog_name *entry, const char *text, size_t length) {
    const char *name, *about;
    for (size_t i = 0; (name = entry(i, &about)); i++)
        if (strlen(name) == length && strncmp(name, text, length) == 0) return true;
    return false;
}

/* Adds the names of a catalog to those already there. */
static size_t add_names(catalog_name *entry, const char **names, size_t n) {
    const char *about, *name;
    for (size_t i = 0; n < MAX_CATALOG && (name = entry(i, &about)); i++) names[n++] = name;
    return n;
}

/* The error for a value that is neither a file nor one of some names. */
static sx_status not_found(const char *option, const char *value, const char *const *names, size_t n,
                           const char *cure) {
    sx_status error =
        sx_error_new(SX_ERR_FILE, "--%s %s: no such file, and no such name in the catalog", option, value);
    char name[SX_NAME_SIZE];
    const size_t length = strcspn(value, "/");
    snprintf(name, sizeof name, "%.*s", (int)length, value); /* of NETWORK/LAYER the network */
    const char *nearest = sx_text_nearest(name, names, n);
    if (nearest) return sx_error_hint(error, "did you mean '%s%s'?", nearest, value + length);
    return strpbrk(value, "./") ? sx_file_hint(error, value, cure) : sx_error_hint(error, "%s", cure);
}

sx_status sx_named_arch(const char *name, sx_arch *out) {
    const char *names[MAX_CATALOG];
    if (sx_named_knows_arch(name)) return sx_catalog_arch(name, out);
    size_t n = add_names(sx_catalog_arch_name, names, 0);
    return not_found("arch", name, names, n, "`sextant list archs` lists the catalog");
}

/* Whether a value is NETWORK or NETWORK/LAYER. The catalog decides: bert-base-128 is one too. */
static bool is_network(const char *value) {
    char name[SX_NAME_SIZE];
    if (in_catalog(sx_catalog_problem_name, value, strlen(value))) return false;
    if (snprintf(name, sizeof name, "%.*s", (int)strcspn(value, "/"), value) >= (int)sizeof name)
        return false;
    return sx_catalog_knows_network(name);
}

bool sx_named_knows_arch(const char *value) {
    return in_catalog(sx_catalog_arch_name, value, strlen(value));
}

bool sx_named_knows_problem(const char *value) {
    return in_catalog(sx_catalog_problem_name, value, strlen(value)) || is_network(value);
}

/* The error for a layer that a network does not have. */
static sx_status no_layer(const sx_network *network, const char *from, const char *layer) {
    const char **names = calloc(network->n_layers + 1, sizeof *names);
    if (!names) return sx_error_memory();
    for (size_t i = 0; i < network->n_layers; i++) names[i] = network->layer[i].name;
    sx_status error = sx_error_new(SX_ERR_INPUT, "network %s has no layer '%s'", network->name, layer);
    const char *nearest = sx_text_nearest(layer, names, network->n_layers);
    if (!nearest) nearest = names[0];
    error = sx_error_hint(error, "did you mean '%s/%s'? It has %zu layers", from, nearest, network->n_layers);
    free(names);
    return error;
}

sx_status sx_named_pick(sx_network *network, const char *from, const char *name) {
    const sx_layer *layer = sx_network_layer(network, name);
    if (!layer) return no_layer(network, from, name);
    if (layer != network->layer) network->layer[0] = *layer;
    network->n_layers = 1;
    network->unmapped = (sx_unmapped){0};
    return SX_OK;
}

sx_status sx_named_options(const sx_args *args, sx_network_options *out) {
    uint64_t batch = sx_args_count(args, "batch", 1);
    if (batch < 1 || batch > MAX_BATCH)
        return sx_error_new(SX_ERR_USAGE, "--batch must be between 1 and %d", MAX_BATCH);
    *out = (sx_network_options){.batch = (uint32_t)batch,
                                .training = sx_args_flag(args, "training"),
                                .training_step = sx_args_flag(args, "training-step")};
    if (out->training && out->training_step)
        return sx_error_new(SX_ERR_USAGE, "--training and --training-step cannot be combined");
    return sx_phase_options(args, out);
}

/* The layers of prefill and of decode as one network, each with the name of its phase before its own. */
static sx_status both_phases(const char *name, const sx_network_options *options, sx_network *out) {
    sx_network both = {0};
    sx_status status = SX_OK;
    for (int phase = SX_PHASE_PREFILL; phase <= SX_PHASE_DECODE && !status; phase++) {
        const sx_network_options o = sx_phase_part(options, (sx_phase)phase);
        sx_network network = {0};
        status = sx_catalog_network(name, &o, &network);
        if (!status) status = sx_named_append_phase(&network, o.phase, &both);
    }
    snprintf(both.name, sizeof both.name, "%s", name);
    if (status)
        sx_network_fini(&both);
    else
        *out = both;
    return status;
}

static sx_status named_network(const sx_args *args, const char *value, sx_network *out) {
    char name[SX_NAME_SIZE];
    size_t length = strcspn(value, "/");
    snprintf(name, sizeof name, "%.*s", (int)length, value);
    sx_network network = {0};
    sx_network_options options;
    SX_TRY(sx_named_options(args, &options));
    SX_TRY(sx_phase_both(args) ? both_phases(name, &options, &network)
                               : sx_catalog_network(name, &options, &network));
    sx_status status = value[length] ? sx_named_pick(&network, name, value + length + 1) : SX_OK;
    if (status) {
        sx_network_fini(&network);
        return status;
    }
    *out = network;
    return SX_OK;
}

sx_status sx_named_no_graph(const char *value) {
    return sx_error_hint(
        sx_error_new(SX_ERR_USAGE, "--problem %s is a single problem, not a graph", value),
        "`--write problem` writes it; `sextant list networks` lists networks, which are graphs");
}

sx_status sx_named_graph(const sx_args *args, const char *value, sx_graph *out) {
    sx_network_options options;
    if (strchr(value, '/') || !is_network(value)) return sx_named_no_graph(value);
    SX_TRY(sx_named_options(args, &options));
    SX_TRY(sx_phase_single(args));
    return sx_catalog_graph(value, &options, out);
}

/* Whether a value is sizes such as 64x64x64, right or not. */
static bool is_sizes(const char *value) {
    return *value >= '0' && *value <= '9' && strchr(value, 'x') && value[strspn(value, "0123456789x")] == 0;
}

/* The matrix product of sizes IxJxK. */
static sx_status named_matrix(const char *value, sx_network *out) {
    uint64_t size[3] = {0};
    size_t n = 0;
    for (const char *at = value; n <= 3 && at; n++) {
        char *end;
        errno = 0;
        unsigned long long number = strtoull(at, &end, 10);
        if (end == at || errno || number < 1 || number > SX_MAX_DIM_SIZE)
            return sx_error_hint(
                sx_error_new(SX_ERR_USAGE, "--problem %s: size number %zu is not a valid size", value, n + 1),
                "sizes are whole numbers from 1 to %u, as in 64x64x64", SX_MAX_DIM_SIZE);
        if (n < 3) size[n] = number;
        at = *end ? end + 1 : NULL;
    }
    if (n != 3)
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "--problem %s has %s sizes", value, n < 3 ? "too few" : "too many"),
            "a matrix product has three, IxJxK: C[i,j] += A[i,k]*B[j,k]");
    char text[128];
    snprintf(text, sizeof text, "C[i,j] += A[i,k]*B[j,k] {i:%" PRIu64 ",j:%" PRIu64 ",k:%" PRIu64 "}",
             size[0], size[1], size[2]);
    sx_problem problem;
    SX_TRY(sx_einsum_parse(text, &problem));
    snprintf(problem.name, sizeof problem.name, "%" PRIu64 "x%" PRIu64 "x%" PRIu64, size[0], size[1],
             size[2]);
    return sx_named_single(&problem, out);
}

/* Adds NAME[a,b] of numpy's subscripts "ab". */
static void add_subscripts(sx_text *out, char name, const char *at, size_t n) {
    sx_text_add(out, "%c[", name);
    for (size_t i = 0; i < n; i++) sx_text_add(out, "%s%c", i ? "," : "", at[i]);
    sx_text_add(out, "]");
}

/* The error for numpy's einsum notation, such as mk,kn->mn, which has no sizes: says it as Sextant does. */
static sx_status numpy_einsum(const char *value, const char *arrow) {
    sx_text text = {0}, sizes = {0};
    const char *output = arrow + 2;
    char name = 'A';
    add_subscripts(&text, 'O', output, strspn(output, LETTERS));
    for (const char *at = value; at < arrow; at += strcspn(at, ",-"), at += *at == ',') {
        sx_text_add(&text, "%s", name == 'A' ? " += " : "*");
        add_subscripts(&text, name, at, strspn(at, LETTERS));
        name = name == 'N' ? 'P' : (char)(name + 1);
    }
    for (const char *at = value; at < arrow; at++)
        if (isalpha((unsigned char)*at) && !memchr(value, *at, (size_t)(at - value)))
            sx_text_add(&sizes, "%s%c:64", sizes.size ? "," : "", *at);
    sx_status error = text.failed || sizes.failed || !sizes.size
                          ? sx_error_memory()
                          : sx_error_hint(sx_error_new(SX_ERR_USAGE, "--problem %s has no sizes", value),
                                          "write '%s {%s}' with your sizes", text.data, sizes.data);
    sx_text_free(&text);
    sx_text_free(&sizes);
    return error;
}

/* Where the arrow of numpy's einsum notation is, NULL for any other text. */
static const char *numpy_arrow(const char *value) {
    const char *arrow = value + strspn(value, LETTERS ",");
    bool right =
        arrow > value && strncmp(arrow, "->", 2) == 0 && strspn(arrow + 2, LETTERS) == strlen(arrow + 2);
    return right ? arrow : NULL;
}

sx_status sx_named_problem(const sx_args *args, const char *name, sx_network *out) {
    const char *names[MAX_CATALOG];
    sx_problem problem;
    if (is_sizes(name)) return named_matrix(name, out);
    if (numpy_arrow(name)) return numpy_einsum(name, numpy_arrow(name));
    if (is_network(name)) return named_network(args, name, out);
    if (in_catalog(sx_catalog_problem_name, name, strlen(name))) {
        SX_TRY(sx_catalog_problem(name, &problem));
        return sx_named_single(&problem, out);
    }
    size_t n = add_names(sx_catalog_problem_name, names, 0);
    n = add_names(sx_catalog_network_name, names, n);
    return not_found("problem", name, names, n,
                     "`sextant list problems` and `sextant list networks` list the catalog");
}

sx_status sx_named_einsum(const char *text, sx_network *out) {
    return sx_named_einsum_at(text, (sx_place){"einsum", 1, 1}, &sx_path_any, out);
}

sx_status sx_named_einsum_at(const char *text, sx_place place, const sx_path_scope *scope, sx_network *out) {
    sx_problem problem;
    SX_TRY(sx_einsum_parse_at(text, place, scope, &problem));
    SX_TRY(sx_named_single(&problem, out));
    if (*problem.name) return SX_OK;
    char *name = out->layer[0].name;
    size_t n =
        (size_t)snprintf(name, SX_NAME_SIZE, "%.20s", problem.tensor[sx_problem_output(&problem)].name);
    for (int d = 0; d < problem.n_dims && n < SX_NAME_SIZE; d++)
        n += (size_t)snprintf(name + n, SX_NAME_SIZE - n, "-%.20s%u", problem.dim_name[d],
                              (unsigned)problem.size[d]);
    memcpy(out->name, name, sizeof out->name);
    return SX_OK;
}

bool sx_named_any_network(const sx_args *args) {
    static const char *const options[] = {"problem", "graph"};
    const char *value;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; (value = sx_args_text(args, options[k], i)); i++)
            if (is_network(value)) return true;
    return false;
}

sx_status sx_named_check(const sx_args *args) {
    static const char *const options[] = {"batch",  "training", "training-step", "phase", "tokens", "context",
                                          "logits", "routing",  "experts-hit",   "mla",   "causal"};
    const char *option = NULL;
    for (size_t i = 0; i < sizeof options / sizeof *options && !option; i++)
        if (sx_args_flag(args, options[i])) option = options[i];
    if (!option || sx_named_any_network(args) || sx_phase_config(args)) return SX_OK;
    return sx_error_hint(
        sx_error_new(SX_ERR_USAGE, "--%s applies only to networks of the catalog", option),
        "give one with --problem; `sextant list networks` lists them, and a config.json is one, too");
}

sx_status sx_named_single(const sx_problem *problem, sx_network *out) {
    sx_layer *layer = calloc(1, sizeof *layer);
    if (!layer) return sx_error_memory();
    layer->count = 1;
    layer->problem = *problem;
    snprintf(layer->name, sizeof layer->name, "%s", *problem->name ? problem->name : "problem");
    *out = (sx_network){.n_layers = 1, .layer = layer};
    memcpy(out->name, layer->name, sizeof out->name);
    return SX_OK;
}

sx_status sx_layer_names_find(sx_layer_names *names, const sx_network *network, const char *name,
                              bool *found) {
    const sx_layer *layer = network->layer;
    const sx_hash_keys keys = {layer ? layer->name : NULL, sizeof *layer, SX_NAME_SIZE};
    char key[SX_NAME_SIZE] = "";
    for (; names->n < network->n_layers; names->n++) {
        const char *own = layer[names->n].name;
        if (sx_hash_table_put(&names->table, keys, own, sx_hash_bytes(own, SX_NAME_SIZE, 0),
                              (uint32_t)names->n) == SX_HASH_NONE)
            return sx_error_memory();
    }
    snprintf(key, sizeof key, "%s", name);
    *found = sx_hash_table_find(&names->table, keys, key, sx_hash_bytes(key, sizeof key, 0)) != SX_HASH_NONE;
    return SX_OK;
}

void sx_layer_names_fini(sx_layer_names *names) {
    sx_hash_table_clear(&names->table);
    names->n = 0;
}

/* Sets a layer's name, with zeros after it. */
static void set_name(sx_layer *layer, const char *name) {
    memset(layer->name, 0, sizeof layer->name);
    memcpy(layer->name, name, strnlen(name, SX_NAME_SIZE - 1));
}

/* Gives a layer a name that none before it has, by a number at its end where it is taken. */
static sx_status make_unique(const sx_network *network, sx_layer_names *names, const char *name,
                             sx_layer *layer) {
    char next[SX_NAME_SIZE];
    bool taken;
    set_name(layer, name);
    for (unsigned i = 2;; i++) {
        SX_TRY(sx_layer_names_find(names, network, layer->name, &taken));
        if (!taken) return SX_OK;
        snprintf(next, sizeof next, "%.*s-%u", SX_NAME_SIZE - 13, name, i);
        set_name(layer, next);
    }
}

/* Appends copies of a network's layers, their names as they are or with the network's before them. */
static sx_status append_layers(const sx_network *network, bool prefix, sx_layer_names *names,
                               sx_network *out) {
    size_t n = out->n_layers + network->n_layers, room = out->n_layers;
    char name[2 * SX_NAME_SIZE];
    if (!sx_reserve(&out->layer, &room, n ? n : 1, sizeof *out->layer)) return sx_error_memory();
    for (size_t i = 0; i < network->n_layers; i++) {
        sx_layer *to = &out->layer[out->n_layers];
        *to = network->layer[i];
        if (prefix)
            snprintf(name, sizeof name, "%.30s/%.32s", network->name, network->layer[i].name);
        else
            snprintf(name, sizeof name, "%s", network->layer[i].name);
        SX_TRY(make_unique(out, names, name, to));
        out->n_layers++;
    }
    return SX_OK;
}

/* The same with names that are found once. */
static sx_status append_all(const sx_network *network, bool prefix, sx_network *out) {
    sx_layer_names names = {0};
    sx_status status = append_layers(network, prefix, &names, out);
    sx_layer_names_fini(&names);
    return status;
}

sx_status sx_named_append(const sx_network *network, sx_layer_names *names, sx_network *out) {
    bool single = network->n_layers == 1 && strcmp(network->name, network->layer[0].name) == 0;
    return append_layers(network, !single, names, out);
}

sx_status sx_named_append_phase(SX_TAKE sx_network *network, sx_phase phase, sx_network *out) {
    snprintf(network->name, sizeof network->name, "%s", sx_phase_name(phase));
    sx_status status = append_all(network, true, out);
    sx_network_fini(network);
    return status;
}

sx_status sx_named_copy(const sx_network *network, sx_network *out) {
    sx_network copy = {0};
    SX_TRY(append_all(network, false, &copy));
    memcpy(copy.name, network->name, sizeof copy.name);
    *out = copy;
    return SX_OK;
}
