#include "cli/cmd_list.h"
#include "cli/command.h"
#include "cli/list_mapper.h"
#include "cli/list_network.h"
#include "cli/list_surrogates.h"
#include "cli/search.h"
#include "frontend/catalog/catalog.h"
#include "frontend/onnx/onnx.h"
#include "input/named.h"
#include "input/phase.h"
#include "input/set_option.h"
#include "report/json_parts.h"
#include "report/schema.h"
#include "report/table.h"
#include "surrogate/family.h"

#include "registry/registry.h"
#include "sextant/all.h"

#include <stdlib.h>
#include <string.h>

/* How large a network is. */
typedef struct extent {
    size_t layers, distinct;
    uint64_t computes;
} extent;

static sx_status network_extent(const char *name, extent *out) {
    sx_network network;
    SX_TRY(sx_catalog_network(name, NULL, &network));
    *out = (extent){.layers = network.n_layers, .distinct = sx_network_distinct(&network, NULL)};
    for (size_t i = 0; i < network.n_layers; i++)
        out->computes += network.layer[i].count * sx_problem_computes(&network.layer[i].problem);
    sx_network_fini(&network);
    return SX_OK;
}

/* A list: its entry `index` and a line about it, NULL past the last; and how large an entry is, where that
 * can be said. Without entries it is the list of surrogates. */
typedef struct topic {
    const char *name, *about;
    const char *(*entry)(size_t index, const char **about);
    sx_status (*extent)(const char *name, extent *out);
} topic;

/* Entry `index` of the navigators that search spaces of a type. */
static const char *navigator_of(const char *type, size_t index, const char **about) {
    const char *name;
    for (size_t i = 0; (name = sx_navigator_name(i, about)); i++) {
        const char *space = sx_navigator_space(name);
        if ((!space || strcmp(space, type) == 0) && index-- == 0) return name;
    }
    return NULL;
}

static const char *mapper_name(size_t index, const char **about) {
    return navigator_of("map", index, about);
}

static const char *method_name(size_t index, const char **about) {
    return navigator_of("systolic", index, about);
}

static const char *placer_name(size_t index, const char **about) {
    const char *name = navigator_of("placement", index, about);
    return name ? sx_navigator_short(name) : NULL;
}

static const topic topics[] = {
    {"archs", "architectures of the catalog, for --arch", sx_catalog_arch_name, NULL},
    {"problems", "problems of the catalog, for --problem", sx_catalog_problem_name, NULL},
    {"networks", "networks of the catalog, for --problem NETWORK or NETWORK/LAYER", sx_catalog_network_name,
     network_extent},
    {"mappers", "mappers, for --mapper; `sextant list MAPPER` shows the settings of one", mapper_name, NULL},
    {"devices", "devices of the catalog, for --device", sx_catalog_device_name, NULL},
    {"methods",
     "search methods for systolic arrays, for --method; `sextant list METHOD` shows the settings of one",
     method_name, NULL},
    {"chips", "chips of the catalog, for --chip", sx_catalog_chip_name, NULL},
    {"placers",
     "search methods for placements, for --method of `place`; `sextant list METHOD` shows the settings of "
     "one",
     placer_name, NULL},
    {"objectives", "objectives, for --objective", sx_objective_name, NULL},
    {"families", "families of problems, for `sextant train --family`", sx_family_name, NULL},
    {"schema", "JSON Schemas of input files; `sextant list schema NAME` prints one", sx_schema_name, NULL},
    {"surrogates", "surrogates that `--mapper gradient` finds by itself", NULL, NULL},
};
enum { N_TOPICS = sizeof topics / sizeof topics[0] };

const char *sx_list_entry(const char *list, size_t index) {
    const char *about;
    for (size_t i = 0; i < N_TOPICS; i++)
        if (strcmp(topics[i].name, list) == 0) return topics[i].entry ? topics[i].entry(index, &about) : NULL;
    return NULL;
}

static sx_status find_topic(const char *name, const topic **out) {
    const char *names[N_TOPICS];
    for (size_t i = 0; i < N_TOPICS; i++) {
        names[i] = topics[i].name;
        if (strcmp(name, names[i]) != 0) continue;
        *out = &topics[i];
        return SX_OK;
    }
    sx_status error = sx_error_new(SX_ERR_USAGE, "unknown list '%s'", name);
    const char *nearest = sx_text_nearest(name, names, N_TOPICS);
    if (nearest) return sx_error_hint(error, "did you mean `sextant list %s`?", nearest);
    return sx_error_hint(
        error,
        "lists: archs, problems, networks, mappers, devices, methods, chips, placers, objectives, "
        "families, schema, surrogates, or the name of a mapper, method, network, architecture, or a file");
}

static sx_status print_topic(const topic *t, int indent, sx_text *out) {
    sx_table table;
    const char *name, *about;
    sx_status status = SX_OK;
    if (!t->entry) return sx_list_surrogates(indent, out);
    sx_table_begin(&table, t->extent ? "lrrl" : "ll");
    for (size_t i = 0; !status && (name = t->entry(i, &about)); i++) {
        sx_table_cell(&table, "%s", name);
        if (t->extent) {
            extent size = {0};
            status = t->extent(name, &size);
            sx_table_cell(&table, "%zu layers", size.layers);
            sx_table_cell(&table, "%.2f G MACs", (double)size.computes / 1e9);
        }
        sx_table_cell(&table, "%s", about);
    }
    sx_table_end(&table, indent, out);
    return status;
}

/* Appends the list to an array as {"name", "about"} and, for what has a size, {"layers", "distinct",
 * "computes"}. */
static sx_status add_entries(const topic *t, json_t *array) {
    const char *name, *about;
    if (!t->entry) return sx_list_surrogates_json(array);
    for (size_t i = 0; (name = t->entry(i, &about)); i++) {
        json_t *entry = json_pack("{s:s, s:s}", "name", name, "about", about);
        entry = sx_json_append(array, entry);
        if (!t->extent) continue;
        extent size;
        SX_TRY(t->extent(name, &size));
        sx_json_set(entry, "layers", json_integer((json_int_t)size.layers));
        sx_json_set(entry, "distinct", json_integer((json_int_t)size.distinct));
        sx_json_set(entry, "computes", json_integer((json_int_t)size.computes));
    }
    return SX_OK;
}

/* Adds the lists chosen (all of them where `one` is NULL) as an object of JSON. */
static sx_status add_json(const topic *one, sx_text *out) {
    json_t *object = json_object();
    sx_status status = SX_OK;
    for (size_t i = 0; i < N_TOPICS && !status; i++) {
        if (one && one != &topics[i]) continue;
        json_t *array = sx_json_set(object, topics[i].name, json_array());
        status = add_entries(&topics[i], array);
    }
    if (!status) return sx_json_finish(object, out);
    json_decref(object);
    return status;
}

/* Refuses options of a run without a network. */
static sx_status check_run(const sx_args *args) {
    static const char *const options[] = {"batch",   "phase",       "tokens", "context", "logits",
                                          "routing", "experts-hit", "mla",    "causal",  "bits"};
    const char *name = args->n_operands == 1 ? args->operand[0] : "";
    if (sx_catalog_knows_network(name) || sx_phase_config(args)) return SX_OK;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (sx_args_flag(args, options[i]))
            return sx_error_hint(
                sx_error_new(SX_ERR_USAGE, "--%s goes with a network of the catalog", options[i]),
                "such as `sextant list llama-3-8b`; `sextant list networks` lists them");
    return SX_OK;
}

/* `sextant list [TOPIC|MAPPER|METHOD|NETWORK|ARCH|MODEL.onnx|config.json|FILE]`. */
static sx_status run_list(const sx_args *args, sx_output *result) {
    const topic *one = NULL;
    const bool onnx = args->n_operands == 1 && sx_onnx_is_path(args->operand[0]);
    if (!onnx) SX_TRY(sx_set_option_check(args));
    SX_TRY(sx_search_writable(args));
    sx_output_to_file(result, sx_args_text(args, "output", 0));
    if (args->n_operands == 2 && strcmp(args->operand[0], "schema") == 0) {
        result->plain = true;
        return sx_schema_write(args->operand[1], &result->out);
    }
    if (args->n_operands > 1)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "list takes one topic"),
                             "`sextant list` names the topics");
    SX_TRY(check_run(args));
    const char *mapper = args->n_operands == 1 && sx_is_mapper(args->operand[0]) ? args->operand[0] : NULL;
    bool json = sx_args_flag(args, "json");
    if (mapper && json) return sx_list_mapper_json(mapper, &result->out);
    if (mapper) {
        sx_list_mapper(mapper, &result->out);
        return SX_OK;
    }
    const char *name = args->n_operands == 1 ? args->operand[0] : "";
    if (onnx) return sx_list_onnx(args, name, json, &result->out);
    if (sx_catalog_knows_network(name) || sx_phase_config(args))
        return sx_list_network(args, name, json, result->warnings, &result->out);
    result->plain = sx_named_knows_arch(name);
    if (result->plain) return sx_list_arch(name, json, &result->out);
    if (args->n_operands == 1 && sx_list_is_file(name))
        return sx_list_file(args, name, result->warnings, &result->out);
    if (args->n_operands == 1) SX_TRY(find_topic(args->operand[0], &one));
    if (json) return add_json(one, &result->out);
    if (one) return print_topic(one, 0, &result->out);
    for (size_t i = 0; i < N_TOPICS; i++) {
        sx_text_add(&result->out, "%s%s: %s\n", i ? "\n" : "", topics[i].name, topics[i].about);
        SX_TRY(print_topic(&topics[i], 2, &result->out));
    }
    return SX_OK;
}

static const sx_option options[] = {SX_OPTION_SET,  SX_OPTION_BATCH,  SX_OPTIONS_PHASE, SX_OPTION_BITS,
                                    SX_OPTION_JSON, SX_OPTION_OUTPUT, SX_OPTION_HELP};

const sx_command sx_command_list = {
    .name = "list",
    .about = "list architectures, problems, networks, mappers, devices, methods, objectives or surrogates",
    .usage = "[archs|problems|networks|mappers|devices|methods|chips|placers|objectives|families|schema|"
             "surrogates|MAPPER|METHOD|NETWORK|ARCH|MODEL.onnx|config.json|FILE|schema NAME] "
             "[OPTION ...]",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run_list,
};
