/* Certificates as JSON. Problem, architecture and mapping are sections of their own, in the format of all
 * other files, so that a certificate can also be given where these are read. */
#include "verify/certificate.h"

#include "base/decimal.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sx_certificate_free(sx_certificate *c) {
    if (!c) return;
    sx_proof_free(c->proof);
    free(c->front);
    free(c->mapper);
    free(c);
}

/* Entry number `index` of a proof as text, such as "searched 1 4 1 / 2 2 1": the factors of all levels with a
 * fan-out, from the innermost; digits: numbers have 17. */
static void entry_text(const sx_certificate *c, size_t index, bool digits, sx_text *out) {
    const sx_proof *proof = c->proof;
    const sx_problem *problem = &c->problem;
    const sx_arch *arch = &c->arch;
    const uint32_t *factor = proof->spatial + index * proof->width;
    char bound[SX_DECIMAL_SIZE];
    sx_decimal_text(proof->bound[index], bound);
    if (proof->searched[index])
        sx_text_add(out, "searched");
    else if (digits)
        sx_text_add(out, "tables %.17g", proof->bound[index]);
    else
        sx_text_add(out, "tables %s", bound);
    bool first = true;
    for (int s = 0; s < arch->n_levels; s++) {
        if (sx_arch_fanout_x(arch, s) * sx_arch_fanout_y(arch, s) == 1) continue;
        if (!first) sx_text_add(out, " /");
        first = false;
        for (int d = 0; d < problem->n_dims; d++)
            sx_text_add(out, " %" PRIu32, factor[(size_t)s * problem->n_dims + (size_t)d]);
    }
}

/* The entries of a proof. */
static SX_OWN json_t *entries_tree(const sx_certificate *c, bool digits) {
    json_t *list = json_array();
    for (size_t i = 0; i < c->proof->n_entries; i++) {
        sx_text text = {0};
        entry_text(c, i, digits, &text);
        if (text.failed) sx_json_fail();
        if (!text.failed) sx_json_append(list, sx_json_text(text.data));
        sx_text_free(&text);
    }
    return list;
}

/* Moves the section of a noun's text into a map; frees the text. */
static void put_noun(json_t *root, SX_TAKE char *text) {
    json_t *noun = sx_json_read(text);
    free(text);
    if (!noun || json_object_update(root, noun) != 0) sx_json_fail();
    json_decref(noun);
}

/* Puts what is said of a mapping's cost. */
static void put_cost(json_t *map, const sx_certificate *c, const sx_score *score, const char *exact) {
    sx_json_set(map, "energy_pj", sx_json_real(score->energy_pj));
    if (*exact) sx_json_set(map, "energy_exact", sx_json_text(exact));
    sx_json_set(map, "cycles", sx_json_real(score->cycles));
    if (c->model.latency_tile) sx_json_set(map, "latency", sx_json_real(score->latency));
}

/* The mappings of a front. */
static sx_status put_front(const sx_certificate *c, json_t *claims) {
    json_t *list = json_array();
    for (size_t i = 0; i < c->n_front; i++) {
        const sx_certified_point *point = &c->front[i];
        json_t *map = json_object();
        char *mapping;
        put_cost(map, c, &point->score, point->energy_exact);
        sx_status status = sx_mapping_write(&point->mapping, &c->problem, &c->arch, SX_JSON, &mapping);
        if (status) {
            json_decref(map);
            json_decref(list);
            return status;
        }
        put_noun(map, mapping);
        sx_json_append(list, map);
    }
    sx_json_set(claims, "front", list);
    return SX_OK;
}

/* What is claimed, and from what it follows; densities: of a range, or NULL. Without a hash it is the tree that the
 * hash is of. */
static SX_OWN json_t *claims_tree(const sx_certificate *c, const char *densities, const char *hash) {
    char formats[SX_FORMATS_TEXT_SIZE];
    json_t *map = json_object(), *history = json_object();
    char objective[256];
    sx_objective_text(&c->objective, objective, sizeof objective);
    sx_json_set(map, "format", json_integer(SX_CERTIFICATE_FORMAT));
    sx_json_set(map, "hash", sx_json_text(hash ? hash : ""));
    sx_json_set(map, "objective", sx_json_text(objective));
    sx_json_set(map, "value", sx_json_real(c->value));
    put_cost(map, c, &c->score, c->energy_exact);
    sx_json_set(map, "lower_bound", sx_json_real(c->lower_bound));
    sx_json_set(map, "optimal", json_boolean(c->optimal));
    sx_json_set(map, "keep_all", json_boolean(c->space.keep_all));
    sx_json_set(map, "no_banks", json_boolean(c->space.no_banks));
    if (c->space.split_axes) sx_json_set(map, "split_axes", json_boolean(true));
    if (c->space.remainders) sx_json_set(map, "remainders", json_boolean(true));
    sx_json_set(map, "no_first_read_elision", json_boolean(c->model.no_first_read_elision));
    sx_json_set(map, "no_link_transfers", json_boolean(c->model.no_link_transfers));
    if (c->model.sparse_timeloop) sx_json_set(map, "sparse_timeloop", json_boolean(true));
    if (c->model.like_timeloop) sx_json_set(map, "like", sx_json_text("timeloop"));
    if (c->model.latency_tile) sx_json_set(map, "latency_model", sx_json_text("tile"));
    if (densities) sx_json_set(map, "densities", sx_json_text(densities));
    sx_format_search_text(&c->model.formats, formats);
    if (formats[0]) sx_json_set(map, "search_formats", sx_json_text(formats));
    sx_json_set(map, "limits", sx_limits_tree(&c->constraints, &c->problem, &c->arch));
    sx_json_set(map, "arrays", sx_json_exact(c->proof->n_spatial));
    sx_json_set(map, "compulsory", sx_json_exact(c->compulsory));
    sx_json_set(map, "tables", sx_json_exact(c->tables));
    sx_json_set(map, "searched", sx_json_exact(c->searched));
    sx_json_set(map, "entries", entries_tree(c, !hash));
    sx_json_set(history, "version", sx_json_text(c->version));
    sx_json_set(history, "mapper", sx_json_text(c->mapper ? c->mapper : ""));
    sx_json_set(history, "seed", sx_json_exact(c->seed));
    sx_json_set(history, "evaluations", sx_json_exact(c->evaluations));
    sx_json_set(map, "history", history);
    return map;
}

/* The whole certificate as a tree; hash NULL: as it is hashed. */
static sx_status whole_tree(const sx_certificate *c, const char *hash, json_t **out) {
    char *problem = NULL, *arch = NULL, *mapping = NULL, *densities = NULL;
    sx_status status = sx_problem_write(&c->problem, SX_JSON, &problem);
    if (!status) status = sx_arch_write(&c->arch, SX_JSON, &arch);
    if (!status) status = sx_mapping_write(&c->mapping, &c->problem, &c->arch, SX_JSON, &mapping);
    if (!status && c->model.densities.n) status = sx_density_range_text(&c->model.densities, &densities);
    if (status) {
        free(problem);
        free(arch);
        free(mapping);
        return status;
    }
    json_t *root = json_object(), *claims = claims_tree(c, densities, hash);
    if (c->n_front) status = put_front(c, claims);
    sx_json_set(root, "certificate", claims);
    free(densities);
    put_noun(root, problem);
    put_noun(root, arch);
    put_noun(root, mapping);
    if (status)
        json_decref(root);
    else
        *out = root;
    return status;
}

sx_status sx_certificate_hash(const sx_certificate *c, char hash[17]) {
    json_t *root;
    char *text;
    SX_TRY(whole_tree(c, NULL, &root));
    SX_TRY(sx_json_write(root, SX_JSON_DIGITS, &text));
    snprintf(hash, 17, "%016" PRIx64, sx_hash_bytes(text, strlen(text), SX_CERTIFICATE_FORMAT));
    free(text);
    return SX_OK;
}

sx_status sx_certificate_write(const sx_certificate *c, char **out) {
    char hash[17];
    json_t *root;
    if (c->proof->n_entries > SX_MAX_ENTRIES)
        return sx_error_hint(
            sx_error_new(SX_ERR_LIMIT, "a certificate would have to list %zu spatial mappings, more than %d",
                         c->proof->n_entries, SX_MAX_ENTRIES),
            "let the search run longer, or constrain the spatial factors");
    SX_TRY(sx_certificate_hash(c, hash));
    SX_TRY(whole_tree(c, hash, &root));
    return sx_json_write(root, SX_JSON, out);
}
