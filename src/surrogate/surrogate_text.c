/* What a surrogate's weight file says of it, as JSON. */
#include "base/json.h"
#include "base/status.h"
#include "frontend/einsum.h"
#include "sextant/version.h"
#include "surrogate/surrogate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers as a list that reads back to the same bits. */
static json_t *list_of(const float *value, size_t n) {
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) sx_json_append(list, json_real((double)value[i]));
    return list;
}

/* The inputs: kind, level, dimension or tensor, spatial. */
static json_t *inputs_of(const sx_encoding *e) {
    json_t *list = json_array();
    for (size_t i = 0; i < e->n_inputs; i++) {
        const sx_map_value *v = &e->input[i];
        sx_json_append(list, json_pack("[i, i, i, i]", v->kind, v->level, v->which, v->spatial));
    }
    return list;
}

/* The outputs that are energies: level and tensor. */
static json_t *energies_of(const sx_encoding *e) {
    json_t *list = json_array();
    for (size_t i = 0; i + 3 < e->n_outputs; i++)
        sx_json_append(list, json_pack("[i, i]", e->energy[i].level, e->energy[i].tensor));
    return list;
}

/* The hash of an architecture as 16 digits. */
static json_t *hash_of(uint64_t hash) {
    char text[20];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
    return json_string(text);
}

static json_t *space_of(const sx_surrogate *s) {
    return json_pack("{s:b, s:b, s:b, s:b, s:b}", "remainders", s->space.remainders, "keep_all",
                     s->space.keep_all, "no_banks", s->space.no_banks, "no_first_read_elision",
                     s->model.no_first_read_elision, "no_link_transfers", s->model.no_link_transfers);
}

static json_t *record_of(const sx_surrogate *s) {
    const sx_surrogate_record *r = &s->record;
    return json_pack("{s:I, s:I, s:I, s:s, s:f, s:f}", "samples", (json_int_t)r->samples, "seed",
                     (json_int_t)r->seed, "steps", (json_int_t)r->steps, "loss", r->loss, "held_out_loss",
                     r->held_loss, "rank_correlation", r->rank);
}

sx_status sx_surrogate_text(const sx_surrogate *s, char **out) {
    size_t n = sx_surrogate_n_outputs(s);
    char *einsum;
    SX_TRY(sx_einsum_text(&s->problem, &einsum));
    json_t *o = json_pack(
        "{s:s, s:i, s:s, s:s, s:o, s:s, s:s, s:s, s:o, s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "kind", "surrogate", "encoding", SX_ENCODING_VERSION, "sextant", sx_version(), "arch", s->arch,
        "arch_hash", hash_of(s->arch_hash), "family", s->family, "ranges", s->family_text, "einsum", einsum,
        "space", space_of(s), "raw_inputs", s->form.raw_inputs, "raw_outputs", s->form.raw_outputs,
        "edp_only", s->form.edp, "inputs", inputs_of(&s->encoding), "energies", energies_of(&s->encoding),
        "input_mean", list_of(s->input_mean, s->encoding.n_inputs), "input_deviation",
        list_of(s->input_deviation, s->encoding.n_inputs), "output_mean", list_of(s->output_mean, n),
        "output_deviation", list_of(s->output_deviation, n), "trained", record_of(s));
    sx_free(einsum);
    *out = sx_json_print(o, JSON_SORT_KEYS | JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(o);
    return *out ? SX_OK : sx_error_memory();
}

/* A text that is being read. */
typedef struct reading {
    const char *path;
    json_t *object;
    sx_surrogate *out;
} reading;

static sx_status damaged_file(const reading *r, const char *key) {
    return sx_error_at((sx_place){r->path, 0, 0}, "damaged: its '%s' is missing or not valid", key);
}

/* Reads n numbers, of which deviations must be above 0. */
static sx_status read_numbers(const reading *r, const char *key, size_t n, bool positive, float *out) {
    json_t *list = json_object_get(r->object, key);
    if (json_array_size(list) != n) return damaged_file(r, key);
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(list, i);
        out[i] = (float)json_number_value(item);
        if (!json_is_number(item) || fabsf(out[i]) > 1e30F || (positive && out[i] <= 0))
            return damaged_file(r, key);
    }
    return SX_OK;
}

/* One number of a list within a list, which must be below a limit. */
static bool read_small(const json_t *list, size_t index, int limit, uint8_t *out) {
    json_int_t value = json_integer_value(json_array_get(list, index));
    *out = (uint8_t)value;
    return json_is_integer(json_array_get(list, index)) && value >= 0 && value < limit;
}

static sx_status read_inputs(const reading *r) {
    sx_encoding *e = &r->out->encoding;
    json_t *list = json_object_get(r->object, "inputs");
    e->n_inputs = json_array_size(list);
    if (e->n_inputs == 0 || e->n_inputs > SX_MAX_INPUTS) return damaged_file(r, "inputs");
    for (size_t i = 0; i < e->n_inputs; i++) {
        json_t *item = json_array_get(list, i);
        sx_map_value *v = &e->input[i];
        if (!read_small(item, 0, SX_VALUE_FITS + 1, &v->kind) ||
            !read_small(item, 1, SX_MAX_LEVELS, &v->level) ||
            !read_small(item, 2, sx_value_of_tensor(v) ? r->out->problem.n_tensors : r->out->problem.n_dims,
                        &v->which) ||
            !read_small(item, 3, 2, &v->spatial))
            return damaged_file(r, "inputs");
    }
    return SX_OK;
}

static sx_status read_energies(const reading *r) {
    sx_encoding *e = &r->out->encoding;
    json_t *list = json_object_get(r->object, "energies");
    size_t n = json_array_size(list);
    if (!json_is_array(list) || n > SX_MAX_ENERGIES) return damaged_file(r, "energies");
    for (size_t i = 0; i < n; i++)
        if (!read_small(json_array_get(list, i), 0, SX_MAX_LEVELS, &e->energy[i].level) ||
            !read_small(json_array_get(list, i), 1, r->out->problem.n_tensors, &e->energy[i].tensor))
            return damaged_file(r, "energies");
    e->n_outputs = n + 3;
    return SX_OK;
}

/* Reads a text of at most size - 1 bytes. */
static sx_status read_name(const reading *r, const char *key, char *out, size_t size) {
    const char *text = json_string_value(json_object_get(r->object, key));
    if (!text || strlen(text) >= size) return damaged_file(r, key);
    strcpy(out, text);
    return SX_OK;
}

static sx_status read_identity(const reading *r) {
    sx_surrogate *s = r->out;
    char hash[20], *end;
    const char *einsum = json_string_value(json_object_get(r->object, "einsum"));
    const char *ranges = json_string_value(json_object_get(r->object, "ranges"));
    SX_TRY(read_name(r, "arch", s->arch, sizeof s->arch));
    SX_TRY(read_name(r, "family", s->family, sizeof s->family));
    SX_TRY(read_name(r, "arch_hash", hash, sizeof hash));
    s->arch_hash = strtoull(hash, &end, 16);
    if (strlen(hash) != 16 || *end) return damaged_file(r, "arch_hash");
    if (!einsum || !ranges) return damaged_file(r, "einsum");
    SX_TRY(sx_einsum_parse_at(einsum, (sx_place){r->path, 1, 1}, NULL, &s->problem));
    s->family_text = strdup(ranges);
    return s->family_text ? SX_OK : sx_error_memory();
}

static void read_space(const reading *r) {
    const json_t *space = json_object_get(r->object, "space");
    sx_surrogate *s = r->out;
    s->space.remainders = json_is_true(json_object_get(space, "remainders"));
    s->space.keep_all = json_is_true(json_object_get(space, "keep_all"));
    s->space.no_banks = json_is_true(json_object_get(space, "no_banks"));
    s->model.no_first_read_elision = json_is_true(json_object_get(space, "no_first_read_elision"));
    s->model.no_link_transfers = json_is_true(json_object_get(space, "no_link_transfers"));
    s->form.raw_inputs = json_is_true(json_object_get(r->object, "raw_inputs"));
    s->form.raw_outputs = json_is_true(json_object_get(r->object, "raw_outputs"));
    s->form.edp = json_is_true(json_object_get(r->object, "edp_only"));
}

static void read_record(const reading *r) {
    const json_t *from = json_object_get(r->object, "trained");
    sx_surrogate_record *record = &r->out->record;
    const char *loss = json_string_value(json_object_get(from, "loss"));
    record->samples = (uint64_t)json_integer_value(json_object_get(from, "samples"));
    record->seed = (uint64_t)json_integer_value(json_object_get(from, "seed"));
    record->steps = (uint64_t)json_integer_value(json_object_get(from, "steps"));
    record->held_loss = json_number_value(json_object_get(from, "held_out_loss"));
    record->rank = json_number_value(json_object_get(from, "rank_correlation"));
    snprintf(record->loss, sizeof record->loss, "%s", loss ? loss : "");
}

/* Reads all parts. */
static sx_status read_all(const reading *r) {
    sx_surrogate *s = r->out;
    const char *kind = json_string_value(json_object_get(r->object, "kind"));
    json_int_t version = json_integer_value(json_object_get(r->object, "encoding"));
    if (!kind || strcmp(kind, "surrogate") != 0)
        return sx_error_at((sx_place){r->path, 0, 0}, "these weights are not those of a surrogate");
    if (version != SX_ENCODING_VERSION)
        return sx_error_hint(sx_error_at((sx_place){r->path, 0, 0},
                                         "the surrogate has encoding %lld, this program reads %d",
                                         (long long)version, SX_ENCODING_VERSION),
                             "train it again with `sextant train`");
    SX_TRY(read_identity(r));
    read_space(r);
    SX_TRY(read_inputs(r));
    SX_TRY(read_energies(r));
    size_t n = sx_surrogate_n_outputs(s);
    SX_TRY(read_numbers(r, "input_mean", s->encoding.n_inputs, false, s->input_mean));
    SX_TRY(read_numbers(r, "input_deviation", s->encoding.n_inputs, true, s->input_deviation));
    SX_TRY(read_numbers(r, "output_mean", n, false, s->output_mean));
    SX_TRY(read_numbers(r, "output_deviation", n, true, s->output_deviation));
    read_record(r);
    return SX_OK;
}

sx_status sx_surrogate_parse(const char *path, const char *text, sx_surrogate *out) {
    reading r = {.path = path, .object = text ? sx_json_read(text) : NULL, .out = out};
    if (!r.object)
        return sx_json_failed()
                   ? sx_error_memory()
                   : sx_error_at((sx_place){path, 0, 0}, "these weights are not those of a surrogate");
    sx_status status = read_all(&r);
    json_decref(r.object);
    return status;
}
