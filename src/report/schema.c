#include "report/schema.h"

#include "codesign/choices.h"
#include "frontend/known_keys.h"
#include "input/layers.h"
#include "placement/chip_read.h"
#include "report/json_parts.h"
#include "session/fusing.h"
#include "surrogate/family.h"
#include "systolic/device_read.h"

#include <stdio.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

/* What a schema is of: a file whose sections, one of them or two alternatives, must be there. A file of a section of its
 * own has no other sections. */
static const struct {
    const char *name, *about, *section[2], *own;
} schemas[] = {
    {"file", "any input file, by its sections", {NULL}, NULL},
    {"architecture", "an architecture, in any of the three dialects", {"architecture", "arch"}, NULL},
    {"problem", "one layer", {"problem"}, NULL},
    {"mapping", "a mapping", {"mapping"}, NULL},
    {"constraints", "constraints of mappings", {"constraints", "mapspace_constraints"}, NULL},
    {"graph", "a network as nodes and tensors", {"graph"}, NULL},
    {"network", "a network as a list of layers", {"network"}, NULL},
    {"chip", "a chip, for `sextant place`", {"chip"}, "chip"},
    {"choices", "choices of hardware, for `sextant codesign`", {"choices"}, "choices"},
    {"device", "a device, for `sextant systolic`", {"device"}, "device"},
    {"family", "a family of problems, for `sextant train`", {"family"}, "family"},
};

/* Every table of keys. */
static const sx_keys *const tables[] = {
    &sx_keys_section,
    &sx_keys_storage,
    &sx_keys_compute,
    &sx_keys_cache,
    &sx_keys_vector_unit,
    &sx_keys_flat_arch,
    &sx_keys_v3_arch,
    &sx_keys_v3_subtree,
    &sx_keys_v3_component,
    &sx_keys_v4_arch,
    &sx_keys_v4_branch,
    &sx_keys_v4_container,
    &sx_keys_v4_component,
    &sx_keys_spatial,
    &sx_keys_ert,
    &sx_keys_ert_table,
    &sx_keys_ert_action,
    &sx_keys_art,
    &sx_keys_art_table,
    &sx_keys_sparse,
    &sx_keys_sparse_target,
    &sx_keys_sparse_formats,
    &sx_keys_sparse_format,
    &sx_keys_sparse_rank,
    &sx_keys_sparse_option,
    &sx_keys_sparse_compute,
    &sx_keys_link,
    &sx_keys_problem,
    &sx_keys_shape,
    &sx_keys_data_space,
    &sx_keys_coefficient,
    &sx_keys_density,
    &sx_keys_temporal_directive,
    &sx_keys_spatial_directive,
    &sx_keys_tensor_directive,
    &sx_keys_loop_constraint,
    &sx_keys_tensor_constraint,
    &sx_keys_limit_constraint,
    &sx_keys_graph,
    &sx_keys_run,
    &sx_keys_graph_tensor,
    &sx_keys_graph_node,
    &sx_keys_count,
    &sx_keys_part,
    &sx_keys_operand,
    &sx_keys_plain_operand,
    &sx_keys_network,
    &sx_keys_network_layer,
    &sx_keys_fused,
    &sx_keys_fused_group,
    &sx_keys_fused_tensor,
    &sx_keys_fused_loop,
    &sx_keys_fused_run,
    &sx_keys_chip,
    &sx_keys_chip_memory,
    &sx_keys_choices,
    &sx_keys_memory_choice,
    &sx_keys_area_limit,
    &sx_keys_device,
    &sx_keys_device_type,
    &sx_keys_family,
};

/* Types that have a name of their own. */
static const struct {
    const char *name, *type;
} types[] = {
    {"v4_node", "@v4_component|@v4_container|@v4_branch"},
    {"constraint", "@loop_constraint|@tensor_constraint|@limit_constraint"},
    {"constraints", "[@constraint]|{any}|text|null"},
};

/* A number written as text, with a unit or not. */
#define NUMERAL "\"pattern\": \"^[-+]?[.]?[0-9][0-9_.eE+-]*( ?[kKMGTPi]*B?(/s)?)?$\""

/* What the words of a type are in JSON. */
static const struct {
    const char *word, *schema;
} words[] = {
    {"any", "{}"},
    {"null", "{\"type\": \"null\"}"},
    {"text", "{\"type\": [\"string\", \"number\", \"boolean\"]}"},
    {"bool", "{\"type\": [\"boolean\", \"string\", \"integer\"]}"},
    {"expression", "{\"type\": [\"number\", \"string\"]}"},
    {"number", "{\"type\": [\"number\", \"string\"], " NUMERAL "}"},
    {"positive", "{\"type\": [\"number\", \"string\"], \"exclusiveMinimum\": 0, " NUMERAL "}"},
    {"whole", "{\"type\": [\"number\", \"string\"], \"minimum\": 0, " NUMERAL "}"},
    {"count", "{\"type\": [\"number\", \"string\"], \"minimum\": 1, " NUMERAL "}"},
    {"list", "{\"type\": \"array\"}"},
    {"names", "{\"type\": [\"string\", \"array\", \"number\"]}"},
};

static json_t *type_schema(json_t *defs, const char **at);

/* The keys of a name; `room` is for those that are made from other tables. */
static bool find_keys(const char *name, sx_key_rule room[SX_MOST_KEYS], sx_keys *out) {
    const sx_keys made[] = {sx_latency_keys(room)};
    if (strcmp(name, made[0].name) == 0) *out = made[0];
    for (size_t i = 0; i < N(tables); i++)
        if (strcmp(tables[i]->name, name) == 0) *out = *tables[i];
    if (strcmp(name, "chip_compute") == 0) *out = sx_chip_rate_keys(room);
    if (strcmp(name, "timing") == 0) *out = sx_timing_keys(room, true);
    if (strcmp(name, "timing_kind") == 0) *out = sx_timing_keys(room, false);
    return out->name;
}

/* Requires a key, which may be written with hyphens or underscores. */
static void require_key(json_t *schema, const char *key, const char *other) {
    json_t *all = json_object_get(schema, "allOf");
    if (!all) all = sx_json_set(schema, "allOf", json_array());
    json_t *one = sx_json_append(all, json_object());
    json_t *any = sx_json_set(one, "anyOf", json_array());
    sx_json_append(any, json_pack("{s:[s]}", "required", key));
    if (strcmp(key, other) != 0) sx_json_append(any, json_pack("{s:[s]}", "required", other));
}

/* The key as it is written otherwise: with hyphens for underscores. */
static void write_other(const char *key, char out[128]) {
    snprintf(out, 128, "%s", key);
    for (char *c = out; *c; c++)
        if (*c == '_' || *c == '-') *c = *c == '_' ? '-' : '_';
}

/* Lets a key be written otherwise; as a pattern, so that editors do not propose it. */
static void add_spelling(json_t *schema, const char *other, json_t *value) {
    char pattern[132];
    json_t *patterns = json_object_get(schema, "patternProperties");
    if (!patterns) patterns = sx_json_set(schema, "patternProperties", json_object());
    snprintf(pattern, sizeof pattern, "^%s$", other);
    sx_json_set(patterns, pattern, json_incref(value));
}

/* The rule that says what the value of a key is: its own, or that of the first key that means the same. */
static const sx_key_rule *meant_rule(const sx_keys *keys, const sx_key_rule *rule) {
    for (size_t i = 0; rule->use == SX_KEY_USED && rule->why && i < keys->n; i++)
        if (strcmp(keys->rule[i].key, rule->why) == 0) return &keys->rule[i];
    return rule;
}

/* Adds a key to the properties of a map. */
static void add_key(json_t *defs, const sx_keys *keys, const sx_key_rule *rule, json_t *schema) {
    const sx_key_rule *first = meant_rule(keys, rule);
    const char *type = first->value ? first->value : "any", *end = type;
    char other[128], about[256];
    json_t *value = type_schema(defs, &end);
    if (first != rule) snprintf(about, sizeof about, "the same as %s", first->key);
    if (rule->use == SX_KEY_NO_BEARING) snprintf(about, sizeof about, "accepted; has no effect");
    if (rule->use == SX_KEY_UNCOUNTED) snprintf(about, sizeof about, "accepted; not counted, with a warning");
    if (rule->use == SX_KEY_UNSUPPORTED) snprintf(about, sizeof about, "not supported");
    const bool own = first == rule && rule->use <= SX_KEY_ESTIMATED;
    if (!own || rule->about) sx_json_set(value, "description", sx_json_string(own ? rule->about : about));
    write_other(rule->key, other);
    if (strcmp(other, rule->key) != 0) add_spelling(schema, other, value);
    sx_json_set(json_object_get(schema, "properties"), rule->key, value);
    if (first == rule && *end == '!') require_key(schema, rule->key, other);
}

/* The schema of a map with these keys. */
static json_t *keys_schema(json_t *defs, const sx_keys *keys) {
    json_t *schema = json_pack("{s:s, s:{}}", "type", "object", "properties");
    for (size_t i = 0; i < keys->n; i++) add_key(defs, keys, &keys->rule[i], schema);
    if (!keys->open) sx_json_set(schema, "additionalProperties", json_false());
    return schema;
}

/* Makes sure that the definitions have what a reference names. */
static void define_reference(json_t *defs, const char *name) {
    sx_key_rule room[SX_MOST_KEYS];
    sx_keys keys = {0};
    if (json_object_get(defs, name)) return;
    sx_json_set(defs, name, json_null());
    for (size_t i = 0; i < N(types); i++) {
        const char *type = types[i].type;
        if (strcmp(types[i].name, name) == 0) sx_json_set(defs, name, type_schema(defs, &type));
    }
    if (find_keys(name, room, &keys)) sx_json_set(defs, name, keys_schema(defs, &keys));
}

/* Reads a word of letters and underscores and goes past it. */
static void read_word(const char **at, char word[64]) {
    size_t n = strspn(*at, "abcdefghijklmnopqrstuvwxyz_0123456789");
    snprintf(word, 64, "%.*s", (int)n, *at);
    *at += n;
}

/* The schema of one alternative of a type: a list, a map, a reference or a word. */
static json_t *simple_schema(json_t *defs, const char **at) {
    char word[64], path[80];
    const char open = **at;
    if (open == '[' || open == '{') {
        ++*at;
        json_t *item = type_schema(defs, at);
        ++*at; /* the closing bracket */
        return json_pack("{s:s, s:o}", "type", open == '[' ? "array" : "object",
                         open == '[' ? "items" : "additionalProperties", item);
    }
    if (open == '@') ++*at;
    read_word(at, word);
    if (open == '@') {
        define_reference(defs, word);
        snprintf(path, sizeof path, "#/$defs/%s", word);
        return json_pack("{s:s}", "$ref", path);
    }
    for (size_t i = 0; i < N(words); i++)
        if (strcmp(words[i].word, word) == 0) return json_loads(words[i].schema, 0, NULL);
    return json_object();
}

/* The schema of an enumeration, after its '='. */
static json_t *words_schema(const char **at) {
    json_t *schema = json_object(), *list = sx_json_set(schema, "enum", json_array());
    char word[64];
    do {
        ++*at;
        read_word(at, word);
        sx_json_append(list, json_string(word));
    } while (**at == '|');
    return schema;
}

/* The schema of a type, as sx_key_rule has it; `at` goes to its end. */
static json_t *type_schema(json_t *defs, const char **at) {
    if (**at == '=') return words_schema(at);
    json_t *one = simple_schema(defs, at);
    if (**at != '|') return one;
    json_t *schema = json_object(), *any = sx_json_set(schema, "anyOf", json_array());
    sx_json_append(any, one);
    while (**at == '|') {
        ++*at;
        sx_json_append(any, simple_schema(defs, at));
    }
    return schema;
}

const char *sx_schema_name(size_t index, const char **about) {
    if (index >= N(schemas)) return NULL;
    if (about) *about = schemas[index].about;
    return schemas[index].name;
}

/* The root of a schema: the sections of a file, or the only one of a file of its own. */
static json_t *root_schema(size_t index, json_t *defs) {
    const char *own = schemas[index].own, *const *section = schemas[index].section;
    char type[80];
    const char *at = type;
    json_t *root;
    if (own) {
        snprintf(type, sizeof type, "@%s", own);
        root = json_pack("{s:s, s:{s:o}, s:b}", "type", "object", "properties", own, type_schema(defs, &at),
                         "additionalProperties", 0);
    } else {
        root = keys_schema(defs, &sx_keys_section);
    }
    if (section[0]) require_key(root, section[0], section[1] ? section[1] : section[0]);
    return root;
}

sx_status sx_schema_write(const char *name, sx_text *out) {
    const char *known[N(schemas)];
    for (size_t i = 0; i < N(schemas); i++) {
        known[i] = schemas[i].name;
        if (strcmp(name, known[i]) != 0) continue;
        json_t *defs = json_object(), *root = root_schema(i, defs);
        json_t *schema =
            json_pack("{s:s, s:s, s:s}", "$schema", "https://json-schema.org/draft/2020-12/schema", "title",
                      name, "description", schemas[i].about);
        json_object_update(schema, root);
        json_decref(root);
        sx_json_set(schema, "$defs", defs);
        return sx_json_finish(schema, out);
    }
    return sx_error_unknown((sx_place){0}, "schema", name, known, N(known));
}
