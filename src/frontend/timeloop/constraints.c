#include "frontend/timeloop/constraints.h"

#include "base/text.h"
#include "frontend/sections.h"
#include "frontend/timeloop/constraint_text.h"

#include <string.h>

/* An architecture that is given what its levels keep. */
typedef struct receiver {
    sx_input *input;
    bool mapspace;     /* the sections about the map space count */
    sx_arch *arch;     /* for sections */
    sx_storage *level; /* the level that the constraints are written at; may be NULL */
} receiver;

/* A component whose tensors are asked for. */
typedef struct keeper {
    const char *name;
    sx_name_set *keeps;
} keeper;

static bool in_set(const sx_name_set *set, const char *name) {
    for (int i = 0; i < set->n; i++)
        if (strcmp(set->name[i], name) == 0) return true;
    return false;
}

/* Adds a name to a set; a visitor for sx_node_names. */
static sx_status add_name(void *user, const char *name, sx_place place) {
    sx_name_set *set = user;
    if (strcmp(name, "*") == 0) {
        set->all = true;
        return SX_OK;
    }
    if (in_set(set, name)) return SX_OK;
    if (set->n == SX_MAX_TENSORS)
        return sx_error_at(place, "at most %d tensors can be named here", SX_MAX_TENSORS);
    sx_status error = sx_text_name(set->name[set->n], SX_NAME_SIZE, name, "a tensor");
    if (error) return sx_error_place(error, place);
    set->n++;
    return SX_OK;
}

/* Adds the names under a key of a map, where it is there. */
static sx_status add_names(const sx_node *map, const char *key, sx_name_set *set) {
    const sx_node *node = sx_node_get(map, key);
    return node ? sx_node_names(node, key, add_name, set) : SX_OK;
}

/* Adds a set to a level's list of tensors. */
static sx_status extend_list(char (*list)[SX_NAME_SIZE], uint8_t *n, const sx_name_set *more,
                             sx_place place) {
    sx_name_set set = {.n = *n};
    memcpy(set.name, list, sizeof set.name);
    for (int i = 0; i < more->n; i++) SX_TRY(add_name(&set, more->name[i], place));
    memcpy(list, set.name, sizeof set.name);
    *n = set.n;
    return SX_OK;
}

sx_status sx_tensor_names(const sx_node *map, const char *key, char (*list)[SX_NAME_SIZE], uint8_t *n) {
    sx_name_set names = {0};
    SX_TRY(add_names(map, key, &names));
    return extend_list(list, n, &names, sx_node_key_place(map, key));
}

/* Gives a level its tensors. `keep` alone forces a search, but a level keeps by default anyway: only
 * keep_only and bypass take something away. */
static sx_status read_tensors(const sx_node *map, sx_storage *level) {
    sx_name_set keep = {0}, bypass = {0}, only = {0};
    SX_TRY(add_names(map, "keep", &keep));
    SX_TRY(add_names(map, "keep_only", &only));
    SX_TRY(add_names(map, "bypass", &bypass));
    SX_TRY(add_names(map, "bypass_only", &bypass));
    for (int i = 0; i < bypass.n; i++)
        if (in_set(&keep, bypass.name[i]) || in_set(&only, bypass.name[i]))
            return sx_error_at(sx_node_key_place(map, "bypass"), "'%s' is both kept and bypassed",
                               bypass.name[i]);
    if (bypass.all) level->transparent = true;
    if (sx_node_get(map, "keep_only") && !only.all && only.n == 0) level->transparent = true;
    if (!only.all) SX_TRY(extend_list(level->keeps, &level->n_keeps, &only, map->place));
    return extend_list(level->bypasses, &level->n_bypasses, &bypass, map->place);
}

static const char search_only[] = "applies to searches only";

bool sx_note_of_search(const char *note) {
    size_t length = strlen(note), tail = sizeof search_only - 1;
    return length > tail && strcmp(note + length - tail, search_only) == 0;
}

/* Checks one constraint and, where it is about tensors and there is a level, applies it. */
static sx_status apply_constraint(sx_input *input, const sx_constraint *c, sx_storage *level) {
    SX_TRY(sx_constraint_check(input, c));
    if (c->type == SX_TENSOR_CONSTRAINT && level)
        return level->transparent ? SX_OK : read_tensors(c->map, level);
    return sx_input_add_note(input, c->map->place, "the %s constraint of '%.64s' %s", c->name, c->target,
                             search_only);
}

static sx_status apply_beside(void *user, const sx_constraint *c) {
    receiver *r = user;
    return apply_constraint(r->input, c, r->level);
}

sx_status sx_constraints_inline(sx_input *input, const sx_node *node, const char *name, sx_storage *level) {
    receiver r = {.input = input, .level = level};
    return sx_constraints_beside(node, name, apply_beside, &r);
}

bool sx_constraints_section(const char *key) {
    return strstr(key, "constraints");
}

/* Adds the tensors of `keep` and `keep_only`. */
static sx_status add_keeps(const sx_node *map, sx_name_set *keeps) {
    SX_TRY(add_names(map, "keep", keeps));
    return add_names(map, "keep_only", keeps);
}

static sx_status add_keeps_of(void *user, const sx_constraint *c) {
    keeper *k = user;
    bool is = c->type == SX_TENSOR_CONSTRAINT && strcmp(c->target, k->name) == 0;
    return is ? add_keeps(c->map, k->keeps) : SX_OK;
}

sx_status sx_constraints_keeps(sx_input *input, const sx_node *node, const char *name, sx_name_set *keeps) {
    keeper k = {name, keeps};
    SX_TRY(add_keeps(sx_node_get(node, "dataspace"), keeps));
    return name ? sx_constraints_in_sections(input, false, add_keeps_of, &k) : SX_OK;
}

/* Reads one target of a section. */
static sx_status apply_target(void *user, const sx_constraint *c) {
    receiver *r = user;
    bool counts = r->mapspace || strstr(c->section, "arch");
    int level = sx_arch_level(r->arch, c->target);
    if (counts && c->type == SX_TENSOR_CONSTRAINT && level < 0 &&
        strcmp(c->target, r->arch->compute.name) != 0) {
        const char *known[SX_MAX_LEVELS];
        for (int s = 0; s < r->arch->n_levels; s++) known[s] = r->arch->level[s].name;
        return sx_error_unknown(c->place, "storage level", c->target, known, r->arch->n_levels);
    }
    return apply_constraint(r->input, c, counts && level >= 0 ? &r->arch->level[level] : NULL);
}

sx_status sx_constraints_check_sections(sx_input *input, bool v4) {
    const sx_pair *section;
    if (v4 || !sx_input_is_like_timeloop(input)) return SX_OK;
    for (size_t i = 0; (section = sx_input_section(input, NULL, i)); i++)
        if (sx_section_is_constraints_by_part(section->key))
            return sx_input_differ(
                input, section->place,
                "the section '%.64s' is read as constraints, by a part of its name, with an "
                "architecture that is not of v0.4",
                section->key);
    return SX_OK;
}

sx_status sx_constraints_sections(sx_input *input, bool mapspace, sx_arch *arch) {
    SX_TRY(sx_constraints_check_sections(input, mapspace));
    receiver r = {.input = input, .mapspace = mapspace, .arch = arch};
    return sx_constraints_in_sections(input, false, apply_target, &r);
}
