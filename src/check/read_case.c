/* The certificate as the independent checker reads it: its own reader on the tree of the document, so that a mistake
 * of the other readers cannot hide here. What it does not know it never passes over. */
#include "check/reader.h"
#include "text/document/nulls.h"
#include "text/document/yaml.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sx_check_doubt_add(sx_check_doubt *doubt, const char *format, ...) {
    va_list args;
    if (doubt->why[0]) return;
    va_start(args, format);
    vsnprintf(doubt->why, sizeof doubt->why, format, args);
    va_end(args);
}

sx_status sx_check_keys(const sx_node *map, const char *what, const char *const *keys, size_t n,
                        sx_check_doubt *doubt) {
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, what));
    if (map->dropped) return sx_error_at(map->dropped->place, "duplicate key '%.64s'", map->dropped->key);
    for (size_t i = 0; i < map->n; i++) {
        bool known = false;
        for (size_t k = 0; k < n; k++) known |= sx_key_equal(map->pair[i].key, keys[k]);
        if (!known)
            sx_check_doubt_add(doubt, "there is no rule for the key '%.64s' of %s", map->pair[i].key, what);
    }
    return SX_OK;
}

sx_status sx_check_integer(const sx_node *map, const char *key, int64_t least, int64_t most, int64_t *out) {
    const sx_node *node;
    uint64_t value;
    SX_TRY(sx_node_require(map, key, "the certificate", &node));
    SX_TRY(sx_node_range(node, key, (uint64_t)least, (uint64_t)most, &value));
    *out = (int64_t)value;
    return SX_OK;
}

sx_status sx_check_ratio(const sx_node *map, const char *key, sx_ratio *out, sx_check_doubt *doubt) {
    const sx_node *node;
    double value;
    SX_TRY(sx_node_require(map, key, "the certificate", &node));
    SX_TRY(sx_node_double(node, key, &value));
    *out = (sx_ratio){0, 1};
    if (!isfinite(value) || value < 0 || !sx_ratio_read(node->text, out))
        sx_check_doubt_add(doubt, "'%.40s: %.40s' is no fraction of 64-bit integers", key, node->text);
    return SX_OK;
}

sx_status sx_check_flag(const sx_node *map, const char *key, bool *out) {
    const sx_node *node;
    SX_TRY(sx_node_require(map, key, "the certificate", &node));
    return sx_node_bool(node, key, out);
}

sx_status sx_check_tensors(const sx_node *map, const char *key, const sx_problem *problem, unsigned *out) {
    const sx_node *list = sx_node_get(map, key);
    *out = 0;
    if (!list) return SX_OK;
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, key));
    for (size_t i = 0; i < list->n; i++) {
        const char *name;
        SX_TRY(sx_node_text(list->item[i], "tensor", &name));
        int v = sx_problem_tensor(problem, name);
        if (v < 0) return sx_error_at(list->item[i]->place, "there is no tensor '%.64s'", name);
        *out |= 1u << v;
    }
    return SX_OK;
}

/* Appends a dimension to an order; an error where it is not one, or is there already. */
static sx_status append_dim(const sx_node *node, const char *name, const sx_problem *problem,
                            uint8_t order[SX_MAX_DIMS], int *n) {
    int d = sx_problem_dim(problem, name);
    if (d < 0) return sx_error_at(node->place, "there is no dimension '%.64s'", name);
    for (int i = 0; i < *n; i++)
        if (order[i] == d) return sx_error_at(node->place, "the dimension '%.64s' is named twice", name);
    order[(*n)++] = (uint8_t)d;
    return SX_OK;
}

sx_status sx_check_dims(const sx_node *map, const char *key, const sx_problem *problem,
                        uint8_t order[SX_MAX_DIMS], int *n) {
    const sx_node *node = sx_node_get(map, key);
    *n = 0;
    if (!node) return SX_OK;
    if (node->kind == SX_NODE_SCALAR) {
        for (const char *at = node->text; *at; at++)
            SX_TRY(append_dim(node, (const char[]){*at, 0}, problem, order, n));
        return SX_OK;
    }
    SX_TRY(sx_node_expect(node, SX_NODE_LIST, key));
    for (size_t i = 0; i < node->n; i++) {
        const char *name;
        SX_TRY(sx_node_text(node->item[i], "dimension", &name));
        SX_TRY(append_dim(node->item[i], name, problem, order, n));
    }
    return SX_OK;
}

sx_status sx_check_find_level(const sx_node *name, const sx_check_machine *machine, int *out) {
    const char *text;
    SX_TRY(sx_node_text(name, "level", &text));
    for (int s = 0; s < machine->n_levels; s++)
        if (strcmp(machine->level[s].name, text) == 0) {
            *out = s;
            return SX_OK;
        }
    return sx_error_at(name->place, "there is no level '%.64s'", text);
}

/* Reads whether tiles are in flight, which then share the levels inside the outermost one but for those of the units. */
static sx_status read_latency_model(const sx_node *map, sx_check_case *c) {
    sx_check_machine *m = &c->machine;
    const char *text = "timeloop";
    SX_TRY(sx_node_get_text(map, "latency_model", &text));
    c->tile = strcmp(text, "tile") == 0;
    if (!c->tile && strcmp(text, "timeloop") != 0)
        return sx_error_at(sx_node_key_place(map, "latency_model"),
                           "'latency_model' must be timeloop or tile");
    for (int s = 0; s + 1 < m->n_levels && c->tile && m->lawful && !isinf(m->law.slots); s++)
        if (m->level[s].usable >= 0 &&
            m->level[s].mesh[0] * m->level[s].mesh[1] != m->compute_mesh[0] * m->compute_mesh[1])
            m->level[s].usable = (int64_t)floor((double)m->level[s].usable / m->law.slots);
    return SX_OK;
}

/* Reads the claims and the options of a certificate. */
static sx_status read_claims(const sx_node *map, sx_check_case *c, sx_check_doubt *doubt) {
    static const char *const keys[] = {
        "format",
        "hash",
        "objective",
        "value",
        "energy_pj",
        "energy_exact",
        "cycles",
        "latency",
        "latency_model",
        "optimal",
        "keep_all",
        "no_banks",
        "lower_bound",
        "limits",
        "arrays",
        "entries",
        "compulsory",
        "split_axes",
        "remainders",
        "tables",
        "searched",
        "history",
        "no_first_read_elision",
        "no_link_transfers",
        "front",
        "like"}; /* how files were read has no effect on what the certificate says */
    int64_t format, arrays;
    SX_TRY(sx_check_keys(map, "certificate", keys, sizeof keys / sizeof *keys, doubt));
    SX_TRY(sx_check_integer(map, "format", 0, INT32_MAX, &format));
    if (format != 1) return sx_error_at(map->place, "certificates of format %d are not known", (int)format);
    SX_TRY(sx_check_read_goal(map, &c->claim, doubt));
    SX_TRY(sx_node_get_double(map, "value", &c->claim.value));
    SX_TRY(sx_check_read_cost(map, &c->best));
    SX_TRY(sx_node_get_double(map, "lower_bound", &c->claim.lower_bound));
    SX_TRY(sx_check_flag(map, "optimal", &c->claim.optimal));
    SX_TRY(sx_check_integer(map, "arrays", 0, INT64_MAX, &arrays));
    c->claim.arrays = (uint64_t)arrays;
    SX_TRY(read_latency_model(map, c));
    SX_TRY(sx_check_flag(map, "keep_all", &c->keep_all));
    SX_TRY(sx_check_flag(map, "no_banks", &c->no_banks));
    SX_TRY(sx_node_get_bool(map, "split_axes", &c->split_axes));
    SX_TRY(sx_node_get_bool(map, "remainders", &c->remainders));
    SX_TRY(sx_check_flag(map, "no_first_read_elision", &c->no_first_read_elision));
    return sx_check_flag(map, "no_link_transfers", &c->no_link_transfers);
}

/* Reads all sections of a certificate. */
static sx_status read_sections(const sx_node *root, sx_check_case *c, sx_check_doubt *doubt) {
    static const char *const keys[] = {"certificate", "problem", "arch", "mapping"};
    const sx_node *node[4], *limits;
    SX_TRY(sx_check_keys(root, "a certificate", keys, 4, doubt));
    SX_TRY(sx_node_refuse_null(root, "the certificate"));
    for (int i = 0; i < 4; i++) SX_TRY(sx_node_require(root, keys[i], "the certificate", &node[i]));
    SX_TRY(sx_check_read_problem(node[1], &c->problem, doubt));
    SX_TRY(sx_check_read_machine(node[2], &c->problem, &c->machine, doubt));
    SX_TRY(read_claims(node[0], c, doubt));
    SX_TRY(sx_node_require(node[0], "limits", "the certificate", &limits));
    SX_TRY(sx_check_read_limits(limits, c, doubt));
    SX_TRY(sx_check_read_mapping(node[3], c, &c->best.mapping, doubt));
    return sx_check_read_front(sx_node_get(node[0], "front"), c, doubt);
}

/* Makes the text a tree and reads it. */
static sx_status read_text(sx_arena *arena, const char *name, const char *text, size_t size, sx_check_case *c,
                           sx_check_doubt *doubt) {
    sx_source_builder builder = {0};
    sx_source source = {0};
    const sx_node **roots;
    size_t n;
    sx_status status = sx_source_add_span(&builder, name, 0, 0);
    if (!status) status = sx_source_add_text(&builder, text, text + size);
    SX_TRY(sx_source_finish(&builder, status, &source));
    status = sx_yaml_read(arena, &source, &roots, &n);
    if (!status && n != 1) status = sx_error_at((sx_place){name, 0, 0}, "a certificate is one document");
    if (!status) status = read_sections(roots[0], c, doubt);
    sx_source_fini(&source);
    return status;
}

sx_status sx_check_case_read(const char *name, const char *text, size_t size, sx_check_case **out,
                             sx_check_doubt *doubt) {
    enum { MOST_MEMORY = 1 << 30 };
    sx_arena arena = {.limit = MOST_MEMORY};
    sx_check_case *c = calloc(1, sizeof *c);
    if (!c) return sx_error_memory();
    doubt->why[0] = 0;
    sx_status status = read_text(&arena, name, text, size, c, doubt);
    sx_arena_free(&arena);
    if (status) {
        sx_check_case_free(c);
        return status;
    }
    *out = c;
    return SX_OK;
}

void sx_check_case_free(sx_check_case *c) {
    if (!c) return;
    free(c->front);
    free(c);
}
