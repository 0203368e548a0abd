#include "input/layers.h"

#include "base/warnings.h"

#include "frontend/input.h"
#include "input/named.h"
#include "input/phase.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Lists of layers within lists of layers, at most. */
enum { MAX_DEPTH = 8, MAX_COUNT = 1 << 30 };

/* A value as for --problem, and what gives it: the user, or a file. */
typedef struct named_value {
    const char *text;
    sx_place place;
    const sx_path_scope *scope; /* of the files that it may name */
    unsigned depth;             /* of the file in lists of lists; 0: the user */
} named_value;

/* Layers that are gathered; all zero: none. */
typedef struct gathering {
    sx_network network;
    sx_layer_names names;
} gathering;

/* Ends gathering: hands the network out unless there is an error. */
static sx_status end_gathering(gathering *g, sx_status status, sx_network *out) {
    sx_layer_names_fini(&g->names);
    if (status)
        sx_network_fini(&g->network);
    else
        *out = g->network;
    return status;
}

static sx_status append_value(sx_sources *sources, const named_value *value, gathering *out);

/* Reads a problem; where its own files have no variables, it sees those of the others. */
static sx_status read_problem(const sx_sources *sources, sx_input *input, sx_problem *out) {
    for (int noun = 0; noun < SX_N_NOUNS && !sx_input_first(input, "variables"); noun++)
        if (sources->input[noun]) SX_TRY(sx_input_borrow(input, sources->input[noun], "variables"));
    return sx_input_problem(input, out);
}

/* The layers of both phases of a configuration. */
static sx_status both_networks(sx_input *input, sx_network *out) {
    const sx_network_options both = *sx_input_run(input);
    sx_network all = {0};
    sx_status status = SX_OK;
    for (int phase = SX_PHASE_PREFILL; phase <= SX_PHASE_DECODE && !status; phase++) {
        const sx_network_options o = sx_phase_part(&both, (sx_phase)phase);
        sx_network network = {0};
        sx_graph graph;
        sx_input_set_run(input, &o);
        status = sx_input_graph(input, &graph);
        if (status) break;
        memcpy(all.name, graph.name, sizeof all.name);
        status = sx_graph_network(&graph, &network);
        sx_graph_fini(&graph);
        if (!status) status = sx_named_append_phase(&network, o.phase, &all);
    }
    sx_input_set_run(input, &both);
    if (status)
        sx_network_fini(&all);
    else
        *out = all;
    return status;
}

/* The graph of an input as a network. Where `layer` names a node, it becomes the name of the node's layer. */
static sx_status graph_network(sx_input *input, const char *layer, char name[SX_NAME_SIZE], sx_network *out) {
    sx_graph graph;
    const sx_place place = sx_input_first(input, "graph")->place;
    if (sx_input_has(input, SX_DOCUMENT_PROBLEM))
        return sx_error_hint(sx_error_at(place, "a graph is given beside a problem"),
                             "only one of `graph:` and `problem:` can be read");
    if (sx_input_run(input) && sx_input_run(input)->both) return both_networks(input, out);
    SX_TRY(sx_input_graph(input, &graph));
    const size_t node = layer ? sx_graph_find_node(&graph, layer) : SX_NO_INDEX;
    if (node != SX_NO_INDEX) memcpy(name, graph.node[node].layer, SX_NAME_SIZE);
    sx_status status = sx_graph_network(&graph, out);
    sx_graph_fini(&graph);
    return sx_error_place(status, place);
}

/* Whether a value in a folder is there, as a file, a layer in one, or a folder that is no name of the catalog. */
static bool find_in(const char *folder, int length, const char *value, char path[SX_LONG_PATH]) {
    struct stat info;
    if (*value == '/') length = 0;
    if (snprintf(path, SX_LONG_PATH, "%.*s%s", length, folder, value) >= SX_LONG_PATH) return false;
    if (sx_layer_of(path, NULL)) return true;
    return stat(path, &info) == 0 &&
           (S_ISREG(info.st_mode) || (S_ISDIR(info.st_mode) && !sx_named_knows_problem(value)));
}

/* What a value in a file names: a file beside that file or in a folder for includes, else the value itself. An error for a
 * file outside of these. */
static sx_status find_named(const named_value *value, char path[SX_LONG_PATH]) {
    const char *from = value->place.file, *slash = strrchr(from, '/');
    const int own = slash ? (int)(slash - from) + 1 : 0;
    const sx_path_scope *scope = value->scope;
    char file[SX_LONG_PATH];
    bool there = find_in(from, own, value->text, path);
    for (size_t i = 0; scope && i < scope->n_folders && !there; i++)
        there = find_in(scope->folder[i], (int)strlen(scope->folder[i]), value->text, path);
    if (!there && snprintf(path, SX_LONG_PATH, "%s", value->text) >= SX_LONG_PATH)
        return sx_error_at(value->place, "the name of the file is longer than %d bytes", SX_LONG_PATH - 1);
    if (!there && sx_is_named(SX_NOUN_PROBLEM, path)) return SX_OK;
    return sx_path_check(scope, from, own, value->place, "file", sx_layer_of(path, file) ? file : path);
}

/* An entry of a list of layers: a value as for --problem, or a map of it with a count and a name. */
typedef struct entry {
    const char *problem;
    uint64_t count;
    char name[SX_NAME_SIZE];
} entry;

static const sx_key_rule network_layer_rules[] = {
    SX_KEY("problem", "text!", "a problem, as for --problem, or a file"),
    SX_KEY("count", "count", "how often the layer occurs"),
    SX_KEY("name", "text", "its name"),
};
const sx_keys sx_keys_network_layer = SX_KEYS("network_layer", false, network_layer_rules);

static sx_status read_entry(const sx_node *node, entry *out) {
    const sx_node *problem = node, *count;
    *out = (entry){.count = 1};
    if (node->kind == SX_NODE_MAP) {
        SX_TRY(sx_node_check_keys(NULL, node, "a layer of the network", &sx_keys_network_layer));
        SX_TRY(sx_node_require(node, "problem", "a layer of the network", &problem));
        count = sx_node_get(node, "count");
        if (count) SX_TRY(sx_node_range(count, "count", 1, MAX_COUNT, &out->count));
        SX_TRY(sx_node_get_name(node, "name", out->name));
    }
    return sx_node_text(problem, "problem", &out->problem);
}

/* Appends the layers of an entry, as often as it counts. */
static sx_status append_entry(sx_sources *sources, const sx_input *input, const sx_node *node, unsigned depth,
                              gathering *g) {
    sx_network *out = &g->network;
    const size_t before = out->n_layers;
    bool taken;
    char path[SX_LONG_PATH];
    entry e;
    SX_TRY(read_entry(node, &e));
    named_value value = {e.problem, node->place, sx_input_scope(input), depth + 1};
    SX_TRY(find_named(&value, path));
    value.text = path;
    SX_TRY(sx_error_place(append_value(sources, &value, g), node->place));
    for (size_t i = before; i < out->n_layers; i++) {
        if (out->layer[i].count > UINT64_MAX / 4 / e.count)
            return sx_error_at(node->place, "the count is too large");
        out->layer[i].count *= e.count;
    }
    if (!e.name[0]) return SX_OK;
    if (out->n_layers != before + 1)
        return sx_error_at(node->place, "'%s' names %zu layers; a name is for one", e.name,
                           out->n_layers - before);
    out->n_layers--;
    sx_status status = sx_layer_names_find(&g->names, out, e.name, &taken);
    out->n_layers++;
    if (status) return status;
    if (taken) return sx_error_at(node->place, "two layers are called '%s'", e.name);
    memcpy(out->layer[before].name, e.name, sizeof e.name);
    return SX_OK;
}

/* The name of a file without its folder and its ending, cut to what a name may have. */
static void base_name(const char *path, char name[SX_NAME_SIZE]) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t length = strcspn(base, ".");
    if (length >= SX_NAME_SIZE) length = SX_NAME_SIZE - 1;
    memset(name, 0, SX_NAME_SIZE);
    memcpy(name, base, length);
}

static const sx_key_rule network_rules[] = {
    SX_KEY("name", "text", "its name"),
    SX_KEY("layers", "[text|@network_layer]!", "its layers"),
};
const sx_keys sx_keys_network = SX_KEYS("network", false, network_rules);

/* The list of layers of an input. */
static sx_status listed_network(sx_sources *sources, sx_input *input, unsigned depth, sx_network *out) {
    const sx_pair *section = sx_input_first(input, "network");
    const sx_node *layers;
    gathering g = {0};
    if (depth == MAX_DEPTH)
        return sx_error_at(section->place, "networks are nested more than %d deep", MAX_DEPTH);
    if (sx_input_has(input, SX_DOCUMENT_PROBLEM) || sx_input_has(input, SX_DOCUMENT_GRAPH))
        return sx_error_at(section->place, "a network is given beside a problem or a graph");
    SX_TRY(sx_node_check_keys(NULL, section->value, "the network", &sx_keys_network));
    SX_TRY(sx_node_require(section->value, "layers", "the network", &layers));
    SX_TRY(sx_node_expect(layers, SX_NODE_LIST, "'layers'"));
    base_name(section->place.file, g.network.name);
    SX_TRY(sx_node_get_name(section->value, "name", g.network.name));
    if (layers->n == 0) return sx_error_at(layers->place, "the network has no layers");
    sx_status status = SX_OK;
    for (size_t i = 0; i < layers->n && !status; i++)
        status = append_entry(sources, input, layers->item[i], depth, &g);
    return end_gathering(&g, status, out);
}

/* The network of an input, whatever it is given as. */
static sx_status network_of(sx_sources *sources, sx_input *input, const char *layer, unsigned depth,
                            sx_network *out) {
    sx_network network = {0};
    sx_problem problem;
    char name[SX_NAME_SIZE] = "";
    if (sx_input_has(input, SX_DOCUMENT_GRAPH)) {
        SX_TRY(graph_network(input, layer, name, &network));
    } else if (!sx_input_has(input, SX_DOCUMENT_PROBLEM) && sx_input_first(input, "network")) {
        SX_TRY(listed_network(sources, input, depth, &network));
    } else {
        SX_TRY(read_problem(sources, input, &problem));
        SX_TRY(sx_named_single(&problem, &network));
    }
    const char *from = sx_noun_section(input, SX_NOUN_PROBLEM)->place.file;
    sx_status status = layer ? sx_named_pick(&network, from, *name ? name : layer) : SX_OK;
    if (status)
        sx_network_fini(&network);
    else
        *out = network;
    return status;
}

sx_status sx_layers_of_input(sx_sources *sources, sx_input *input, const char *layer, sx_network *out) {
    return network_of(sources, input, layer, 0, out);
}

/* Keeps the warnings of an input that is not kept. */
static sx_status keep_warnings(const sx_input *input, sx_sources *sources) {
    if (!sources->warnings) SX_TRY(sx_warnings_new(&sources->warnings));
    return sx_input_warnings(input, sources->warnings);
}

/* Whether some tensor of a problem has a dimension. */
static bool has_dim(const sx_problem *problem, int dim) {
    for (int v = 0; v < problem->n_tensors; v++)
        for (int r = 0; r < problem->tensor[v].n_ranks; r++)
            if (problem->tensor[v].coef[r][dim]) return true;
    return false;
}

sx_status sx_layers_warn_repeats(sx_sources *sources, const sx_network *network) {
    if (!sources->warnings) SX_TRY(sx_warnings_new(&sources->warnings));
    for (size_t i = 0; i < network->n_layers; i++) {
        const sx_problem *problem = &network->layer[i].problem;
        for (int d = 0; d < problem->n_dims; d++)
            if (problem->size[d] > 1 && !has_dim(problem, d))
                sx_warnings_tell(sources->warnings,
                                 "the dimension '%s' of '%s' is in no tensor: all is computed %u times",
                                 problem->dim_name[d], network->layer[i].name, (unsigned)problem->size[d]);
    }
    return sx_warnings_status(sources->warnings);
}

/* Whether one of the values of --problem is another file, which has the problem that this one is to go with. */
static bool goes_with_others(const sx_sources *sources, const char *path) {
    const sx_pair *section = sx_noun_section(sources->input[SX_NOUN_PROBLEM], SX_NOUN_PROBLEM);
    return section && strcmp(section->place.file, path) != 0;
}

/* An error in a file that another one names, without what the file holds: it may be one that nobody may see. */
static sx_status hide_content(SX_TAKE sx_status status, unsigned depth, const char *path) {
    if (!depth || !status || !status->file) return status;
    const sx_place place = {path, status->line, status->column};
    sx_status hidden =
        sx_error_hint(sx_error_at(place, "the file cannot be read"), "`--problem %s` says why", path);
    sx_status_free(status);
    return hidden;
}

/* Appends the problem, the graph or the list of a file; a problem is called like the file where its own name is
 * taken. A file without any, such as one of variables, goes with the others. */
static sx_status append_file(sx_sources *sources, const char *value, unsigned depth, gathering *out) {
    char file[SX_LONG_PATH];
    const char *layer = sx_layer_of(value, file), *path = layer ? file : value;
    sx_input *input = NULL;
    sx_network network = {0};
    sx_status status = sx_sources_input(sources->args, &input);
    if (!status) status = hide_content(sx_input_add_file(input, path), depth, path);
    const bool holds = !status && sx_noun_section(input, SX_NOUN_PROBLEM);
    if (!status && !holds && (depth || !goes_with_others(sources, path)))
        status = sx_error_hint(sx_error_new(SX_ERR_INPUT, "--problem %s has no `problem:` section", path),
                               "`problem:` must be a top-level section");
    if (!status && holds) status = network_of(sources, input, layer, depth, &network);
    if (!status && holds && sx_input_has(input, SX_DOCUMENT_PROBLEM) &&
        sx_network_layer(&out->network, network.name)) {
        base_name(path, network.name);
        base_name(path, network.layer[0].name);
    }
    if (!status && holds) status = sx_named_append(&network, &out->names, &out->network);
    if (!status) status = keep_warnings(input, sources);
    sx_network_fini(&network);
    sx_input_free(input);
    return status;
}

/* Appends the problems of all files of a folder, in the order of their names. */
static sx_status append_folder(sx_sources *sources, const char *path, unsigned depth, gathering *out) {
    const sx_folder_file *file;
    sx_folder folder;
    sx_status status = sx_folder_scan(path, &folder);
    if (!status && !sx_folder_candidate(&folder, SX_HOLDS_PROBLEM, 0))
        status = sx_folder_unclear(&folder, SX_HOLDS_PROBLEM, "problem", "problems");
    for (size_t i = 0; !status && (file = sx_folder_candidate(&folder, SX_HOLDS_PROBLEM, i)); i++)
        status = append_file(sources, file->path, depth, out);
    sx_folder_fini(&folder);
    return status;
}

/* Appends what a value as for --problem names. */
static sx_status append_value(sx_sources *sources, const named_value *value, gathering *out) {
    const char *text = value->text;
    sx_network network = {0};
    if (!sx_is_named(SX_NOUN_PROBLEM, text))
        return sx_is_folder(text) ? append_folder(sources, text, value->depth, out)
                                  : append_file(sources, text, value->depth, out);
    SX_TRY(strchr(text, '[') ? sx_named_einsum_at(text, value->place, value->scope, &network)
                             : sx_named_problem(sources->args, text, &network));
    sx_status status = sx_named_append(&network, &out->names, &out->network);
    sx_network_fini(&network);
    return status;
}

sx_status sx_layers_gather(sx_sources *sources, sx_network *out) {
    const char *value;
    gathering g = {0};
    sx_status status = SX_OK;
    for (size_t i = 0; !status && (value = sx_args_text(sources->args, "problem", i)); i++)
        status = append_value(sources, &(named_value){value, {"einsum", 1, 1}, &sx_path_any, 0}, &g);
    if (!status && sx_is_folder(sx_args_text(sources->args, "problem", 0)) &&
        !sx_args_text(sources->args, "problem", 1))
        base_name(sx_args_text(sources->args, "problem", 0), g.network.name);
    return end_gathering(&g, status, out);
}

bool sx_layers_several(const sx_sources *sources) {
    static const char *const keys[] = {"problem", "graph", "network"};
    const sx_input *input = sources->input[SX_NOUN_PROBLEM];
    const char *value;
    size_t n = sources->n_named, n_layers = 0;
    for (size_t i = 0; (value = sx_args_text(sources->args, "problem", i)); i++) {
        if (sx_is_named(SX_NOUN_PROBLEM, value)) continue;
        if (sx_is_folder(value)) return true;
        n_layers += sx_layer_of(value, NULL) != NULL;
    }
    if (n_layers > 1) return true; /* may be of one file */
    for (size_t i = 0; i < 3 && input; i++)
        for (size_t k = 0; sx_input_section(input, keys[i], k); k++) n++;
    return n > 1 && sx_args_text(sources->args, "problem", 1);
}
