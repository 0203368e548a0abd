#include "verify/certificate.h"

#include "base/status.h"
#include "frontend/timeloop/timeloop.h"
#include "text/document/nulls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All of them must be there. */
static const char *const keys[] = {
    "format",
    "hash",
    "objective",
    "value",
    "energy_pj",
    "cycles",
    "optimal",
    "lower_bound",
    "keep_all",
    "no_banks",
    "no_first_read_elision",
    "no_link_transfers",
    "limits",
    "arrays",
    "compulsory",
    "tables",
    "searched",
    "entries",
    "history",
    "sparse_timeloop", /* this and the next nine may be missing */
    "like",
    "split_axes",
    "remainders",
    "densities",
    "search_formats",
    "energy_exact",
    "front",
    "latency_model",
    "latency",
};
enum { N_KEYS = sizeof keys / sizeof *keys, N_REQUIRED = N_KEYS - 10 };

/* The next number of a text; false where there is none. */
static bool next_number(const char **text, uint32_t *out) {
    char digits[16];
    uint64_t value;
    size_t n = strspn(*text, "0123456789");
    if (n == 0 || n >= sizeof digits) return false;
    memcpy(digits, *text, n);
    digits[n] = 0;
    *text += n;
    if (!sx_text_u64(digits, &value) || value < 1 || value > SX_MAX_DIM_SIZE) return false;
    *out = (uint32_t)value;
    return true;
}

/* Passes a word and what separates it from the next; false where it is not there. */
static bool pass_word(const char **text, const char *word) {
    size_t n = strlen(word);
    if (strncmp(*text, word, n) != 0) return false;
    *text += n;
    return true;
}

/* Reads the factors of an entry, of the levels with a fan-out; those of others are 1. */
static bool read_factors(const char *text, const sx_problem *problem, const sx_arch *arch, uint32_t *factor) {
    bool first = true;
    for (int s = 0; s < arch->n_levels; s++, factor += problem->n_dims) {
        for (int d = 0; d < problem->n_dims; d++) factor[d] = 1;
        if (sx_arch_fanout_x(arch, s) * sx_arch_fanout_y(arch, s) == 1) continue;
        if (!first && !pass_word(&text, " /")) return false;
        first = false;
        for (int d = 0; d < problem->n_dims; d++)
            if (!pass_word(&text, " ") || !next_number(&text, &factor[d])) return false;
    }
    return *text == 0;
}

/* Reads how an entry is closed. */
static bool read_reason(const char **text, bool *searched, double *bound) {
    char number[64];
    *searched = pass_word(text, "searched");
    if (*searched) return true;
    if (!pass_word(text, "tables ")) return false;
    size_t n = strcspn(*text, " ");
    if (n >= sizeof number) return false;
    memcpy(number, *text, n);
    number[n] = 0;
    *text += n;
    return sx_text_double(number, bound) && isfinite(*bound);
}

/* Adds the entry of a text to a proof; an error where it is none. */
static sx_status read_entry(const sx_node *node, const sx_problem *problem, const sx_arch *arch,
                            sx_proof *proof) {
    uint32_t factor[SX_MAX_LEVELS * SX_MAX_DIMS];
    double bound = 0;
    bool searched;
    const char *text;
    SX_TRY(sx_node_text(node, "entry", &text));
    if (!read_reason(&text, &searched, &bound) || !read_factors(text, problem, arch, factor))
        return sx_error_hint(sx_error_at(node->place, "'%.64s' is not a valid entry", node->text),
                             "an entry is 'searched' or 'tables BOUND', and a factor for every dimension of "
                             "every level with a fan-out");
    return sx_proof_add(proof, searched, bound, factor);
}

static sx_status read_entries(const sx_node *list, sx_certificate *c) {
    size_t width = (size_t)c->arch.n_levels * c->problem.n_dims;
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, "entries"));
    SX_TRY(sx_proof_new(0, width, &c->proof));
    for (size_t i = 0; i < list->n; i++) SX_TRY(read_entry(list->item[i], &c->problem, &c->arch, c->proof));
    return SX_OK;
}

/* Reads a finite number. */
static sx_status read_number(const sx_node *map, const char *key, double *out) {
    SX_TRY(sx_node_get_double(map, key, out));
    return isfinite(*out) ? SX_OK : sx_error_at(sx_node_key_place(map, key), "'%s' is not finite", key);
}

/* Reads the objective. */
static sx_status read_objective(const sx_node *map, sx_objective *out) {
    const sx_node *node = sx_node_get(map, "objective");
    const char *text;
    SX_TRY(sx_node_text(node, "objective", &text));
    return sx_error_place(sx_objective_parse(text, out), node->place);
}

/* Reads who says so. */
static sx_status read_history(const sx_node *map, sx_certificate *c) {
    static const char *const known[] = {"version", "mapper", "seed", "evaluations"};
    const char *version = "", *mapper = "";
    SX_TRY(sx_only_keys(map, "history", known, sizeof known / sizeof *known));
    SX_TRY(sx_node_get_text(map, "version", &version));
    SX_TRY(sx_node_get_text(map, "mapper", &mapper));
    SX_TRY(sx_node_get_u64(map, "seed", &c->seed));
    SX_TRY(sx_node_get_u64(map, "evaluations", &c->evaluations));
    if (strlen(version) >= sizeof c->version) return sx_error_at(map->place, "the version is too long");
    memcpy(c->version, version, strlen(version) + 1);
    c->mapper = strdup(mapper);
    return c->mapper ? SX_OK : sx_error_memory();
}

/* Reads the range of densities, where there is one. */
static sx_status read_densities(const sx_node *map, sx_certificate *c) {
    const sx_node *node = sx_node_get(map, "densities");
    const char *text;
    if (!node) return SX_OK;
    SX_TRY(sx_node_text(node, "densities", &text));
    SX_TRY(sx_error_place(sx_density_range_parse(text, &c->model.densities), node->place));
    return sx_error_place(sx_density_range_aim(&c->model.densities, &c->objective), node->place);
}

/* Reads the kinds of formats that were searched, where there are. */
static sx_status read_formats(const sx_node *map, sx_certificate *c) {
    const sx_node *node = sx_node_get(map, "search_formats");
    const char *text;
    if (!node) return SX_OK;
    SX_TRY(sx_node_text(node, "search_formats", &text));
    SX_TRY(sx_error_place(sx_format_search_parse(text, &c->model.formats), node->place));
    return sx_error_place(sx_format_search_aim(&c->model.formats, &c->objective), node->place);
}

/* Reads the energy without rounding, where it is said. */
static sx_status read_exact_energy(const sx_node *map, char out[SX_FRACTION_SIZE]) {
    const char *text = "";
    SX_TRY(sx_node_get_text(map, "energy_exact", &text));
    if (strlen(text) >= SX_FRACTION_SIZE || text[strspn(text, "0123456789/")])
        return sx_error_at(sx_node_key_place(map, "energy_exact"),
                           "'energy_exact' must be a number or a fraction such as 7/25");
    memcpy(out, text, strlen(text) + 1);
    return SX_OK;
}

/* Reads what is said of a mapping's cost. */
static sx_status read_cost(const sx_node *map, sx_score *score, char exact[SX_FRACTION_SIZE]) {
    SX_TRY(read_number(map, "energy_pj", &score->energy_pj));
    SX_TRY(read_exact_energy(map, exact));
    SX_TRY(read_number(map, "cycles", &score->cycles));
    score->latency = score->cycles;
    return sx_node_get(map, "latency") ? read_number(map, "latency", &score->latency) : SX_OK;
}

/* Reads the mappings of a front, where there is one. */
static sx_status read_front(sx_input *input, const sx_node *list, sx_certificate *c) {
    static const char *const known[] = {"energy_pj", "cycles", "mapping", "energy_exact", "latency"};
    if (!list) return SX_OK;
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, "front"));
    if (list->n == 0) return sx_error_at(list->place, "a front has one mapping or more");
    c->front = calloc(list->n, sizeof *c->front);
    if (!c->front) return sx_error_memory();
    c->n_front = list->n;
    for (size_t i = 0; i < list->n; i++) {
        const sx_node *node;
        SX_TRY(sx_only_keys(list->item[i], "a point of the front", known, 5));
        for (size_t k = 0; k < 3; k++)
            SX_TRY(sx_node_require(list->item[i], known[k], "a point of the front", &node));
        SX_TRY(read_cost(list->item[i], &c->front[i].score, c->front[i].energy_exact));
        SX_TRY(sx_timeloop_directives(input, node, &c->problem, &c->arch, &c->front[i].mapping));
    }
    return SX_OK;
}

/* Reads by which rules the latency is: cycles where nothing is said. */
static sx_status read_latency(const sx_node *map, bool *tile) {
    const sx_node *node = sx_node_get(map, "latency_model");
    *tile = node && sx_node_is(node, "tile");
    if (!node || *tile) return SX_OK;
    return sx_error_hint(sx_error_at(node->place, "unknown 'latency_model'"), "the only value is tile");
}

static sx_status read_options(const sx_node *map, sx_certificate *c) {
    SX_TRY(sx_node_get_like(map, &c->model.like_timeloop));
    SX_TRY(read_latency(map, &c->model.latency_tile));
    SX_TRY(read_densities(map, c));
    SX_TRY(read_formats(map, c));
    SX_TRY(sx_node_get_bool(map, "keep_all", &c->space.keep_all));
    SX_TRY(sx_node_get_bool(map, "no_banks", &c->space.no_banks));
    SX_TRY(sx_node_get_bool(map, "split_axes", &c->space.split_axes));
    SX_TRY(sx_node_get_bool(map, "remainders", &c->space.remainders));
    SX_TRY(sx_node_get_bool(map, "no_first_read_elision", &c->model.no_first_read_elision));
    SX_TRY(sx_node_get_bool(map, "sparse_timeloop", &c->model.sparse_timeloop));
    return sx_node_get_bool(map, "no_link_transfers", &c->model.no_link_transfers);
}

/* Reads all claims. */
static sx_status read_claims(const sx_node *map, sx_certificate *c) {
    SX_TRY(read_objective(map, &c->objective));
    SX_TRY(read_number(map, "value", &c->value));
    SX_TRY(read_cost(map, &c->score, c->energy_exact));
    SX_TRY(read_number(map, "lower_bound", &c->lower_bound));
    SX_TRY(sx_node_get_bool(map, "optimal", &c->optimal));
    SX_TRY(read_options(map, c));
    SX_TRY(sx_limits_read(sx_node_get(map, "limits"), &c->problem, &c->arch, &c->constraints));
    SX_TRY(read_entries(sx_node_get(map, "entries"), c));
    SX_TRY(sx_node_get_u64(map, "arrays", &c->proof->n_spatial));
    SX_TRY(sx_node_get_u64(map, "compulsory", &c->compulsory));
    SX_TRY(sx_node_get_u64(map, "tables", &c->tables));
    SX_TRY(sx_node_get_u64(map, "searched", &c->searched));
    return read_history(sx_node_get(map, "history"), c);
}

/* Compares the hash of a certificate with what it says. */
static sx_status check_hash(const sx_node *map, const sx_certificate *c) {
    char hash[17];
    const sx_node *node = sx_node_get(map, "hash");
    SX_TRY(sx_certificate_hash(c, hash));
    if (sx_node_is(node, hash)) return SX_OK;
    return sx_error_hint(sx_error_at(node->place, "the certificate is damaged: its hash does not match"),
                         "it was changed after it was written; `sextant map --certificate` writes a new one");
}

/* Refuses what might change how the others are read. */
static sx_status check_sections(const sx_input *input) {
    static const char *const known[] = {"certificate", "problem", "arch", "mapping"};
    const sx_pair *section;
    for (size_t i = 0; (section = sx_input_section(input, NULL, i)); i++) {
        bool found = false;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            found |= strcmp(section->key, known[k]) == 0;
        if (!found) return sx_error_at(section->place, "a certificate has no section '%.64s'", section->key);
        SX_TRY(sx_node_refuse_null(section->value, "the certificate"));
    }
    return SX_OK;
}

/* The section of the claims; an error where it is not one that can be read. */
static sx_status find_claims(sx_input *input, const char *name, const sx_node **out) {
    const sx_pair *section;
    const sx_node *node;
    uint64_t format;
    SX_TRY(sx_input_single(input, "certificate", &section));
    if (!section)
        return sx_error_hint(sx_error_at((sx_place){name, 0, 0}, "the file has no `certificate:` section"),
                             "`sextant map --certificate FILE` writes one");
    SX_TRY(sx_node_expect(section->value, SX_NODE_MAP, "certificate"));
    SX_TRY(sx_node_require(section->value, "format", "the certificate", &node));
    SX_TRY(sx_node_u64(node, "format", &format));
    if (format != SX_CERTIFICATE_FORMAT)
        return sx_error_at(node->place, "certificates of format %llu are not known, only of format %d",
                           (unsigned long long)format, SX_CERTIFICATE_FORMAT);
    SX_TRY(sx_only_keys(section->value, "certificate", keys, N_KEYS));
    for (size_t i = 0; i < N_REQUIRED; i++)
        SX_TRY(sx_node_require(section->value, keys[i], "the certificate", &node));
    *out = section->value;
    return check_sections(input);
}

/* Reads all of a certificate and, where asked to, compares it with its hash. */
static sx_status read_all(sx_input *input, const char *name, bool whole, sx_certificate *c) {
    const sx_node *claims;
    SX_TRY(find_claims(input, name, &claims));
    SX_TRY(sx_input_arch(input, &c->arch));
    SX_TRY(sx_input_problem(input, &c->problem));
    SX_TRY(sx_input_mapping(input, &c->problem, &c->arch, &c->mapping));
    SX_TRY(read_claims(claims, c));
    SX_TRY(read_front(input, sx_node_get(claims, "front"), c));
    return whole ? check_hash(claims, c) : SX_OK;
}

sx_status sx_certificate_parse(const char *name, const char *text, size_t size, bool whole,
                               sx_certificate **out) {
    sx_input *input;
    SX_TRY(sx_input_new(&input));
    sx_input_is_data(input);
    sx_certificate *c = calloc(1, sizeof *c);
    sx_status status = c ? sx_input_add_text(input, name, text, size) : sx_error_memory();
    if (!status) status = read_all(input, name, whole, c);
    sx_input_free(input);
    if (status) {
        sx_certificate_free(c);
        return status;
    }
    *out = c;
    return SX_OK;
}

sx_status sx_certificate_read(const char *name, const char *text, size_t size, sx_certificate **out) {
    return sx_certificate_parse(name, text, size, true, out);
}
