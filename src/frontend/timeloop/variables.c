#include "frontend/timeloop/variables.h"

/* Adds the pairs of a map whose keys are not there yet; `map` has room for them. */
static void add_pairs(const sx_pair *from, size_t n, sx_node *map, sx_pair *pair) {
    for (size_t i = 0; i < n; i++)
        if (!sx_node_get(map, from[i].key)) pair[map->n++] = from[i];
}

/* Makes a pair for each variable that the user sets, the last one first. */
static SX_MUST_USE sx_status read_settings(sx_input *input, sx_pair **out, size_t *n) {
    static const sx_place place = {SX_SETTING_FILE, 0, 0};
    sx_arena *arena = sx_input_arena(input);
    const char *name, *text;
    *n = 0;
    while (sx_input_setting(input, *n, &text)) ++*n;
    sx_pair *pair = sx_arena_alloc(arena, *n, sizeof *pair);
    sx_node *value = sx_arena_alloc(arena, *n, sizeof *value);
    if (!pair || !value) return sx_arena_error(arena);
    for (size_t i = 0; (name = sx_input_setting(input, i, &text)); i++) {
        value[i] = (sx_node){.kind = SX_NODE_SCALAR, .place = place, .text = text};
        pair[*n - 1 - i] = (sx_pair){.key = name, .place = place, .value = &value[i]};
    }
    *out = pair;
    return SX_OK;
}

/* Keeps that the keys of a map can be set. */
static SX_MUST_USE sx_status know_keys(const sx_input *input, const sx_node *map) {
    for (size_t i = 0; i < map->n; i++)
        SX_TRY(sx_settings_know(sx_input_settings(input), map->pair[i].key, false));
    return SX_OK;
}

/* Checks the section, counts its pairs and keeps that they can be set. */
static SX_MUST_USE sx_status count_pairs(const sx_input *input, const sx_node *variables, size_t *n) {
    *n = 0;
    if (!variables) return SX_OK;
    if (variables->kind != SX_NODE_LIST) SX_TRY(sx_node_expect(variables, SX_NODE_MAP, "'variables'"));
    if (variables->kind == SX_NODE_MAP) {
        *n = variables->n;
        return know_keys(input, variables);
    }
    for (size_t i = 0; i < variables->n; i++) {
        SX_TRY(sx_node_expect(variables->item[i], SX_NODE_MAP, "an item of 'variables'"));
        SX_TRY(know_keys(input, variables->item[i]));
        *n += variables->item[i]->n;
    }
    return SX_OK;
}

sx_status sx_variables_scope(sx_input *input, sx_attribute_scope *out) {
    sx_arena *arena = sx_input_arena(input);
    const sx_pair *section;
    sx_pair *set;
    size_t n_set, n;
    SX_TRY(sx_input_single(input, "variables", &section));
    const sx_node *variables = section ? section->value : NULL;
    SX_TRY(read_settings(input, &set, &n_set));
    SX_TRY(count_pairs(input, variables, &n));
    sx_node *map = sx_arena_alloc(arena, 1, sizeof *map);
    sx_pair *pair = sx_arena_alloc(arena, n + n_set, sizeof *pair);
    if (!map || !pair) return sx_arena_error(arena);
    *map = (sx_node){.kind = SX_NODE_MAP, .pair = pair};
    add_pairs(set, n_set, map, pair);
    if (variables && variables->kind == SX_NODE_MAP) add_pairs(variables->pair, variables->n, map, pair);
    for (size_t i = n && variables->kind == SX_NODE_LIST ? variables->n : 0; i-- > 0;)
        add_pairs(variables->item[i]->pair, variables->item[i]->n, map, pair);
    *out = (sx_attribute_scope){.map = map, .names_only = true, .input = input};
    return SX_OK;
}
