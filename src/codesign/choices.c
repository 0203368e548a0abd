/* Reading a file of choices. docs/codesign.md describes it. */
#include "codesign/choices.h"

#include "text/document/yaml.h"
#include "text/template/template.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MEMORY = 64 << 20 };

sx_status sx_choices_new(sx_choices **out) {
    sx_choices *choices = calloc(1, sizeof *choices);
    if (!choices) return sx_error_memory();
    choices->arena.limit = MAX_MEMORY;
    *out = choices;
    return SX_OK;
}

void sx_choices_free(sx_choices *choices) {
    if (!choices) return;
    sx_arena_free(&choices->arena);
    free(choices);
}

/* Reads the sizes of a memory: a scalar or a list of them. */
static sx_status read_sizes(sx_choices *choices, const sx_node *node, const char *what,
                            sx_memory_choice *memory) {
    const char *text;
    if (node->kind != SX_NODE_LIST) {
        SX_TRY(sx_node_text(node, what, &text));
        return sx_sizes_parse(&choices->arena, text, node->place, what, &memory->size, &memory->n_sizes);
    }
    if (node->n == 0) return sx_error_at(node->place, "%s: no size is given", what);
    for (size_t i = 0; i < node->n; i++) {
        SX_TRY(sx_node_text(node->item[i], what, &text));
        SX_TRY(sx_sizes_parse(&choices->arena, text, node->item[i]->place, what, &memory->size,
                              &memory->n_sizes));
    }
    return SX_OK;
}

/* Reads the cost functions that stand in a map. */
static sx_status read_size_costs(sx_choices *choices, const sx_node *map,
                                 sx_size_cost size_cost[SX_N_SIZE_COSTS]) {
    for (int k = 0; k < SX_N_SIZE_COSTS; k++) {
        const char *key = sx_size_cost_key((sx_size_cost_kind)k);
        const sx_node *node = sx_node_get(map, key);
        if (node) SX_TRY(sx_size_cost_read(&choices->arena, node, key, &size_cost[k]));
    }
    return SX_OK;
}

/* Adds the memories of the tensors that a level is split by. */
static sx_status read_split(sx_choices *choices, const sx_node *map, const char *level,
                            const sx_node *split) {
    sx_size_cost size_cost[SX_N_SIZE_COSTS] = {{.formula = NULL}};
    if (sx_node_get(map, "sizes"))
        return sx_error_hint(
            sx_error_at(sx_node_key_place(map, "split"), "%s has both sizes and a split", level),
            "it is either one memory or a memory for each tensor");
    SX_TRY(sx_node_expect(split, SX_NODE_MAP, "'split'"));
    if (split->n == 0) return sx_error_at(split->place, "'split' names no tensor");
    SX_TRY(read_size_costs(choices, map, size_cost));
    for (size_t i = 0; i < split->n; i++) {
        const sx_pair *pair = &split->pair[i];
        sx_memory_choice *memory;
        if (!pair->key[0]) return sx_error_at(pair->place, "'split' has a tensor without a name");
        SX_TRY(sx_choices_memory(choices, pair->place, level, pair->key, &memory));
        SX_TRY(read_sizes(choices, pair->value, pair->key, memory));
        memcpy(memory->size_cost, size_cost, sizeof size_cost);
    }
    return SX_OK;
}

static const sx_key_rule memory_choice_rules[] = {
    SX_KEY("name", "text!", "the level"),
    SX_KEY("sizes", "any", "words to choose from"),
    SX_KEY("split", "{any}", "a memory of its own for each tensor, with sizes"),
    SX_KEY("energy", "any", "pJ of a read, by size"),
    SX_KEY("write-energy", "any", "pJ of a write, by size"),
    SX_KEY("leakage", "any", "pJ of a cycle, by size"),
    SX_KEY("area", "any", "um^2, by size"),
};
const sx_keys sx_keys_memory_choice = SX_KEYS("memory_choice", false, memory_choice_rules);

static sx_status read_memory(sx_choices *choices, const sx_node *map) {
    const sx_node *node;
    const char *level;
    sx_memory_choice *memory;
    SX_TRY(sx_node_check_keys(NULL, map, "an entry of 'memories'", &sx_keys_memory_choice));
    SX_TRY(sx_node_require(map, "name", "an entry of 'memories'", &node));
    SX_TRY(sx_node_text(node, "name", &level));
    if ((node = sx_node_get(map, "split"))) return read_split(choices, map, level, node);
    SX_TRY(sx_choices_memory(choices, map->place, level, "", &memory));
    SX_TRY(read_size_costs(choices, map, memory->size_cost));
    if ((node = sx_node_get(map, "sizes"))) return read_sizes(choices, node, "sizes", memory);
    for (int k = 0; k < SX_N_SIZE_COSTS; k++)
        if (sx_size_cost_given(&memory->size_cost[k])) return SX_OK;
    return sx_error_hint(sx_error_at(map->place, "no choice given for %s", level),
                         "give its sizes, or a split by tensor");
}

/* Reads the shapes of an array: a scalar or a list of them. */
static sx_status read_shapes(sx_choices *choices, const sx_node *node, sx_place place, const char *level) {
    sx_array_choice *array;
    const char *text;
    SX_TRY(sx_choices_array(choices, place, level, &array));
    if (node->kind != SX_NODE_LIST) {
        SX_TRY(sx_node_text(node, "arrays", &text));
        return sx_shapes_parse(&choices->arena, text, node->place, &array->shape, &array->n_shapes);
    }
    if (node->n == 0) return sx_error_at(node->place, "no shape of the array is given");
    for (size_t i = 0; i < node->n; i++) {
        SX_TRY(sx_node_text(node->item[i], "arrays", &text));
        SX_TRY(sx_shapes_parse(&choices->arena, text, node->item[i]->place, &array->shape, &array->n_shapes));
    }
    return SX_OK;
}

static sx_status read_arrays(sx_choices *choices, const sx_node *node) {
    if (node->kind != SX_NODE_MAP) return read_shapes(choices, node, node->place, "");
    for (size_t i = 0; i < node->n; i++)
        SX_TRY(read_shapes(choices, node->pair[i].value, node->pair[i].place, node->pair[i].key));
    return SX_OK;
}

/* Adds a name to a limit. */
static sx_status add_name(void *user, const char *name, sx_place place) {
    sx_area_limit *limit = user;
    if (limit->n_names == SX_MAX_LEVELS) return sx_error_at(place, "a limit names too many memories");
    if (strlen(name) >= sizeof limit->name[0])
        return sx_error_at(place, "the name '%.80s...' is too long", name);
    strcpy(limit->name[limit->n_names++], name);
    return SX_OK;
}

/* Reads a positive number. */
static sx_status read_positive(const sx_node *node, const char *what, double *out) {
    SX_TRY(sx_node_double(node, what, out));
    if (*out > 0 && isfinite(*out)) return SX_OK;
    return sx_error_at(node->place, "'%s' is %g; it must be a finite number above 0", what, *out);
}

static const sx_key_rule area_limit_rules[] = {
    SX_KEY("memories", "names!", "the memories that share it"),
    SX_KEY("words", "whole", "of them together"),
    SX_KEY("area", "number", "um^2 of them together"),
    SX_KEY("area-of", "whole", "words of a memory whose area they may take"),
};
const sx_keys sx_keys_area_limit = SX_KEYS("area_limit", false, area_limit_rules);

static sx_status read_limit(sx_choices *choices, const sx_node *map) {
    const sx_node *node;
    if (choices->n_limits == SX_MAX_LEVELS)
        return sx_error_at(map->place, "there are more than %d limits", SX_MAX_LEVELS);
    sx_area_limit *limit = &choices->limit[choices->n_limits];
    *limit = (sx_area_limit){.place = map->place};
    SX_TRY(sx_node_check_keys(NULL, map, "a limit", &sx_keys_area_limit));
    SX_TRY(sx_node_require(map, "memories", "a limit", &node));
    SX_TRY(sx_node_names(node, "memories", add_name, limit));
    if (limit->n_names == 0) return sx_error_at(node->place, "a limit names no memory");
    if ((node = sx_node_get(map, "words")))
        SX_TRY(sx_node_range(node, "words", 1, (uint64_t)1 << 48, &limit->words));
    if ((node = sx_node_get(map, "area"))) SX_TRY(read_positive(node, "area", &limit->area));
    if ((node = sx_node_get(map, "area-of")))
        SX_TRY(sx_node_range(node, "area-of", 1, (uint64_t)1 << 48, &limit->area_of));
    if (!limit->words && !limit->area_of && limit->area <= 0)
        return sx_error_hint(sx_error_at(map->place, "a limit without a number"),
                             "give words, area (um^2) or area-of (the words of a memory to compare with)");
    choices->n_limits++;
    return SX_OK;
}

/* Reads every item of a list under a key. */
static sx_status read_list(sx_choices *choices, const sx_node *map, const char *key,
                           sx_status (*read)(sx_choices *, const sx_node *)) {
    char what[40];
    const sx_node *list = sx_node_get(map, key);
    if (!list) return SX_OK;
    snprintf(what, sizeof what, "'%s'", key);
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, what));
    for (size_t i = 0; i < list->n; i++) SX_TRY(read(choices, list->item[i]));
    return SX_OK;
}

static const sx_key_rule choices_rules[] = {
    SX_KEY("memories", "[@memory_choice]", "sizes of levels"),
    SX_KEY("arrays", "any", "shapes of arrays, by level or of the only one"),
    SX_KEY("energy", "any", "pJ of a read, by size"),
    SX_KEY("write-energy", "any", "pJ of a write, by size"),
    SX_KEY("leakage", "any", "pJ of a cycle, by size"),
    SX_KEY("area", "any", "um^2, by size"),
    SX_KEY("compute-area", "any", "um^2 of a compute unit"),
    SX_KEY("area-budget", "number", "um^2 of the whole"),
    SX_KEY("limits", "[@area_limit]", "of several memories"),
};
const sx_keys sx_keys_choices = SX_KEYS("choices", false, choices_rules);

/* Reads the whole `choices` section. */
static sx_status read_choices(sx_choices *choices, const sx_node *node) {
    const sx_node *value;
    SX_TRY(sx_node_check_keys(NULL, node, "'choices'", &sx_keys_choices));
    SX_TRY(read_list(choices, node, "memories", read_memory));
    if ((value = sx_node_get(node, "arrays"))) SX_TRY(read_arrays(choices, value));
    SX_TRY(read_list(choices, node, "limits", read_limit));
    SX_TRY(read_size_costs(choices, node, choices->size_cost));
    if ((value = sx_node_get(node, "compute-area")))
        SX_TRY(sx_size_cost_read(&choices->arena, value, "compute-area", &choices->compute_area));
    if ((value = sx_node_get(node, "area-budget")))
        SX_TRY(read_positive(value, "area-budget", &choices->area_budget));
    return SX_OK;
}

static const sx_key_rule choices_file_rules[] = {
    SX_KEY("choices", "@choices!", "what a design may have"),
};
static const sx_keys sx_keys_choices_file = SX_KEYS("choices_file", false, choices_file_rules);

/* Reads the documents of a source. */
static sx_status read_source(sx_choices *choices, const sx_source *source, const char *name) {
    const sx_node **roots;
    size_t n;
    bool any = false;
    SX_TRY(sx_yaml_read(&choices->arena, source, &roots, &n));
    for (size_t i = 0; i < n; i++) {
        SX_TRY(sx_node_check_keys(NULL, roots[i], "a file of choices", &sx_keys_choices_file));
        const sx_node *node = sx_node_get(roots[i], "choices");
        if (!node) continue;
        SX_TRY(read_choices(choices, node));
        any = true;
    }
    if (any) return SX_OK;
    return sx_error_hint(sx_error_at((sx_place){name, 0, 0}, "no choices given"),
                         "`choices:` must be a top-level section");
}

sx_status sx_choices_add_file(sx_choices *choices, const char *path) {
    sx_source source;
    SX_TRY(sx_source_file(&choices->arena, NULL, path, &source));
    sx_status status = read_source(choices, &source, path);
    sx_source_fini(&source);
    return sx_error_place(status, (sx_place){path, 0, 0});
}

sx_status sx_choices_add_text(sx_choices *choices, const char *name, const char *text, size_t size) {
    sx_source source;
    SX_TRY(sx_source_text(&choices->arena, NULL, name, text, size, &source));
    sx_status status = read_source(choices, &source, name);
    sx_source_fini(&source);
    return sx_error_place(status, (sx_place){name, 0, 0});
}
