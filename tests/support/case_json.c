/* Cases as JSON. What has its default value is left out.
 *
 *   problem   sizes: per dimension; tensors: [{ranks: [[[dim, coef], ...], ...], output: true, bits},
 *             ...]
 *   arch      compute: {mesh: [x, y], energy}; levels, innermost first: {mesh, entries, and numbers by name}
 *   mapping   levels, innermost first: {keep, t, x, y: [[dim, factor], ...] innermost first, and bit masks by
 * name} options   the names of those that are on */
#include "support/random_case.h"

#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The plain numbers of a level: their names, places and kinds. */
typedef enum kind { DOUBLE, WORD, BYTE, FLAG, COUNT } kind;
typedef struct field {
    const char *name;
    size_t offset;
    kind kind;
} field;

#define LEVEL(name, kind)                                                                                    \
    { #name, offsetof(sx_storage, name), kind }
static const field level_fields[] = {
    LEVEL(entries, COUNT),
    LEVEL(word_bits, WORD),
    LEVEL(block_size, WORD),
    LEVEL(cluster_size, WORD),
    LEVEL(banks, WORD),
    LEVEL(multiple_buffering, DOUBLE),
    LEVEL(min_utilization, DOUBLE),
    LEVEL(read_bandwidth, DOUBLE),
    LEVEL(write_bandwidth, DOUBLE),
    LEVEL(shared_bandwidth, DOUBLE),
    LEVEL(read_energy, DOUBLE),
    LEVEL(fill_energy, DOUBLE),
    LEVEL(update_energy, DOUBLE),
    LEVEL(leak_energy, DOUBLE),
    LEVEL(addr_gen_energy, DOUBLE),
    LEVEL(reduction_supported, FLAG),
    LEVEL(transparent, FLAG),
    LEVEL(power_gated_at, BYTE),
    LEVEL(energy_per_hop, DOUBLE),
    LEVEL(router_energy, DOUBLE),
    LEVEL(fill_latency, COUNT),
    LEVEL(drain_latency, COUNT),
};

#define MASK(name)                                                                                           \
    { #name, offsetof(sx_mapping_level, name), BYTE }
static const field mask_fields[] = {MASK(no_temporal_reuse), MASK(no_multicast), MASK(no_link_transfer),
                                    MASK(rmw_first_update), MASK(no_coalesce)};

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static double get_field(const void *object, const field *f) {
    const char *at = (const char *)object + f->offset;
    switch (f->kind) {
    case DOUBLE:
        return *(const double *)(const void *)at;
    case WORD:
        return *(const uint32_t *)(const void *)at;
    case BYTE:
        return *(const int8_t *)(const void *)at;
    case FLAG:
        return *(const bool *)(const void *)at;
    case COUNT:
        return (double)*(const uint64_t *)(const void *)at;
    }
    return 0;
}

static void set_field(void *object, const field *f, double value) {
    char *at = (char *)object + f->offset;
    switch (f->kind) {
    case DOUBLE:
        *(double *)(void *)at = value;
        break;
    case WORD:
        *(uint32_t *)(void *)at = (uint32_t)value;
        break;
    case BYTE:
        *(int8_t *)(void *)at = (int8_t)value;
        break;
    case FLAG:
        *(bool *)(void *)at = value != 0;
        break;
    case COUNT:
        *(uint64_t *)(void *)at = (uint64_t)value;
        break;
    }
}

/* Writes the fields that differ from those of `standard`. */
static void write_fields(sx_text *out, const field *f, size_t n, const void *object, const void *standard) {
    for (size_t i = 0; i < n; i++)
        if (get_field(object, &f[i]) != get_field(standard, &f[i]))
            sx_text_add(out, ",\"%s\":%.17g", f[i].name, get_field(object, &f[i]));
}

static void read_fields(const json_t *json, const field *f, size_t n, void *object) {
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_object_get(json, f[i].name);
        if (value) set_field(object, &f[i], json_number_value(value));
    }
}

static void write_problem(const sx_problem *p, sx_text *out) {
    sx_text_add(out, "{\"sizes\":[");
    for (int d = 0; d < p->n_dims; d++) sx_text_add(out, "%s%u", d ? "," : "", (unsigned)p->size[d]);
    sx_text_add(out, "],\"tensors\":[");
    for (int v = 0; v < p->n_tensors; v++) {
        const sx_tensor *t = &p->tensor[v];
        sx_text_add(out, "%s{\"ranks\":[", v ? "," : "");
        for (int r = 0; r < t->n_ranks; r++) {
            sx_text_add(out, "%s[", r ? "," : "");
            bool first = true;
            for (int d = 0; d < p->n_dims; d++) {
                if (!t->coef[r][d]) continue;
                sx_text_add(out, "%s[%d,%d]", first ? "" : ",", d, (int)t->coef[r][d]);
                first = false;
            }
            sx_text_add(out, "]");
        }
        sx_text_add(out, "]%s", t->output ? ",\"output\":true" : "");
        if (t->bits) sx_text_add(out, ",\"bits\":%d", t->bits);
        sx_text_add(out, "}");
    }
    sx_text_add(out, "]}");
}

static void write_arch(const sx_arch *a, sx_text *out) {
    sx_storage standard;
    sx_storage_init(&standard);
    sx_text_add(out, "{\"compute\":{\"mesh\":[%u,%u],\"energy\":%.17g},\"levels\":[",
                (unsigned)a->compute.mesh_x, (unsigned)a->compute.mesh_y, a->compute.energy);
    for (int s = 0; s < a->n_levels; s++) {
        const sx_storage *level = &a->level[s];
        sx_text_add(out, "%s{\"mesh\":[%u,%u]", s ? "," : "", (unsigned)level->mesh_x,
                    (unsigned)level->mesh_y);
        write_fields(out, level_fields, LENGTH(level_fields), level, &standard);
        if (level->technology == SX_DRAM) sx_text_add(out, ",\"dram\":true");
        if (level->n_scales) sx_text_add(out, ",\"scale\":%.17g", level->bandwidth_scale[0].scale);
        sx_text_add(out, "}");
    }
    sx_text_add(out, "]}");
}

static void write_loops(const char *name, const uint8_t *order, const uint32_t *factor, int n, sx_text *out) {
    bool any = false;
    for (int i = 0; i < n; i++) {
        if (factor[order[i]] == 1) continue;
        if (!any) sx_text_add(out, ",\"%s\":[", name);
        sx_text_add(out, "%s[%d,%u]", any ? "," : "", order[i], (unsigned)factor[order[i]]);
        any = true;
    }
    if (any) sx_text_add(out, "]");
}

static void write_mapping(const sx_mapping *m, sx_text *out) {
    sx_mapping_level standard = {0};
    sx_text_add(out, "[");
    for (int s = 0; s < m->n_levels; s++) {
        const sx_mapping_level *level = &m->level[s];
        int split = level->split < m->n_dims ? level->split : m->n_dims;
        sx_text_add(out, "%s{\"keep\":%d", s ? "," : "", level->keep);
        write_loops("t", level->temporal_order, level->temporal, m->n_dims, out);
        write_loops("x", level->spatial_order, level->spatial, split, out);
        write_loops("y", level->spatial_order + split, level->spatial, m->n_dims - split, out);
        if (level->x_part) sx_text_add(out, ",\"x_part\":%d", level->x_part);
        write_fields(out, mask_fields, LENGTH(mask_fields), level, &standard);
        sx_text_add(out, "}");
    }
    sx_text_add(out, "]");
}

void sx_case_write(const sx_case *c, sx_text *out) {
    sx_text_add(out, "{\"problem\":");
    write_problem(&c->problem, out);
    sx_text_add(out, ",\"arch\":");
    write_arch(&c->arch, out);
    sx_text_add(out, ",\"mapping\":");
    write_mapping(&c->mapping, out);
    const char *elision = c->options.no_first_read_elision ? "\"no_first_read_elision\"" : "";
    const char *links = c->options.no_link_transfers ? "\"no_link_transfers\"" : "";
    sx_text_add(out, ",\"options\":[%s%s%s]}", elision, *elision && *links ? "," : "", links);
}

static int integer(const json_t *array, size_t index) {
    return (int)json_integer_value(json_array_get(array, index));
}

static bool read_problem(const json_t *json, sx_problem *p) {
    const json_t *sizes = json_object_get(json, "sizes"), *tensors = json_object_get(json, "tensors");
    if (json_array_size(sizes) > SX_MAX_DIMS || json_array_size(tensors) > SX_MAX_TENSORS) return false;
    memset(p, 0, sizeof *p);
    snprintf(p->name, SX_NAME_SIZE, "random");
    p->n_dims = (uint8_t)json_array_size(sizes);
    p->n_tensors = (uint8_t)json_array_size(tensors);
    for (int d = 0; d < p->n_dims; d++) {
        snprintf(p->dim_name[d], SX_NAME_SIZE, "%c", 'A' + d);
        p->size[d] = (uint32_t)integer(sizes, (size_t)d);
    }
    for (int v = 0; v < p->n_tensors; v++) {
        const json_t *tensor = json_array_get(tensors, (size_t)v), *ranks = json_object_get(tensor, "ranks");
        sx_tensor *t = &p->tensor[v];
        if (json_array_size(ranks) > SX_MAX_RANKS) return false;
        snprintf(t->name, SX_NAME_SIZE, "T%d", v);
        t->output = json_is_true(json_object_get(tensor, "output"));
        t->bits = (uint8_t)json_integer_value(json_object_get(tensor, "bits"));
        t->n_ranks = (uint8_t)json_array_size(ranks);
        for (size_t r = 0; r < t->n_ranks; r++)
            for (size_t i = 0; i < json_array_size(json_array_get(ranks, r)); i++) {
                const json_t *term = json_array_get(json_array_get(ranks, r), i);
                int d = integer(term, 0);
                if (d < 0 || d >= p->n_dims) return false;
                t->coef[r][d] = integer(term, 1);
            }
    }
    return true;
}

static void read_mesh(const json_t *json, uint64_t *x, uint64_t *y, uint64_t *instances) {
    const json_t *mesh = json_object_get(json, "mesh");
    *x = (uint64_t)integer(mesh, 0);
    *y = (uint64_t)integer(mesh, 1);
    *instances = *x * *y;
}

static bool read_arch(const json_t *json, sx_arch *a) {
    const json_t *compute = json_object_get(json, "compute"), *levels = json_object_get(json, "levels");
    if (json_array_size(levels) < 1 || json_array_size(levels) > SX_MAX_LEVELS) return false;
    memset(a, 0, sizeof *a);
    snprintf(a->name, SX_NAME_SIZE, "random");
    a->n_levels = (uint8_t)json_array_size(levels);
    sx_compute_init(&a->compute);
    snprintf(a->compute.name, SX_NAME_SIZE, "MAC");
    a->compute.energy = json_number_value(json_object_get(compute, "energy"));
    read_mesh(compute, &a->compute.mesh_x, &a->compute.mesh_y, &a->compute.instances);
    for (int s = 0; s < a->n_levels; s++) {
        const json_t *from = json_array_get(levels, (size_t)s);
        sx_storage *level = &a->level[s];
        sx_storage_init(level);
        snprintf(level->name, SX_NAME_SIZE, "L%d", s);
        read_mesh(from, &level->mesh_x, &level->mesh_y, &level->instances);
        read_fields(from, level_fields, LENGTH(level_fields), level);
        if (json_is_true(json_object_get(from, "dram"))) level->technology = SX_DRAM;
        const json_t *scale = json_object_get(from, "scale");
        if (!scale) continue;
        level->n_scales = 1;
        snprintf(level->bandwidth_scale[0].tensor, SX_NAME_SIZE, "T0");
        level->bandwidth_scale[0].scale = json_number_value(scale);
    }
    return true;
}

/* Reads loops to the front of an order, and returns how many there are, -1 on a bad one. */
static int read_loops(const json_t *loops, int n_dims, uint8_t *order, uint32_t *factor) {
    int n = (int)json_array_size(loops);
    for (int i = 0; i < n; i++) {
        const json_t *loop = json_array_get(loops, (size_t)i);
        int d = integer(loop, 0);
        if (d < 0 || d >= n_dims) return -1;
        order[i] = (uint8_t)d;
        factor[d] = (uint32_t)integer(loop, 1);
    }
    return n;
}

/* Fills an order up with the dimensions it lacks. */
static void complete_order(uint8_t *order, int n, int n_dims) {
    for (int d = 0; d < n_dims; d++)
        if (!memchr(order, d, (size_t)n)) order[n++] = (uint8_t)d;
}

static bool read_mapping(const json_t *json, const sx_case *c, sx_mapping *m) {
    memset(m, 0, sizeof *m);
    if (json_array_size(json) != c->arch.n_levels) return false;
    m->n_levels = c->arch.n_levels;
    m->n_dims = c->problem.n_dims;
    m->n_tensors = c->problem.n_tensors;
    for (int s = 0; s < m->n_levels; s++) {
        const json_t *from = json_array_get(json, (size_t)s);
        sx_mapping_level *level = &m->level[s];
        for (int d = 0; d < m->n_dims; d++) level->temporal[d] = level->spatial[d] = 1;
        level->keep = (uint8_t)json_integer_value(json_object_get(from, "keep"));
        read_fields(from, mask_fields, LENGTH(mask_fields), level);
        int t = read_loops(json_object_get(from, "t"), m->n_dims, level->temporal_order, level->temporal);
        int x = read_loops(json_object_get(from, "x"), m->n_dims, level->spatial_order, level->spatial);
        if (t < 0 || x < 0) return false;
        int y = read_loops(json_object_get(from, "y"), m->n_dims, level->spatial_order + x, level->spatial);
        if (y < 0) return false;
        level->split = (uint8_t)x;
        level->x_part = (uint16_t)json_integer_value(json_object_get(from, "x_part"));
        complete_order(level->temporal_order, t, m->n_dims);
        complete_order(level->spatial_order, x + y, m->n_dims);
    }
    return true;
}

bool sx_case_read(const void *json, sx_case *out) {
    const json_t *from = json;
    out->options = (sx_model_options){0};
    const json_t *options = json_object_get(from, "options");
    for (size_t i = 0; i < json_array_size(options); i++) {
        const char *name = json_string_value(json_array_get(options, i));
        if (name && strcmp(name, "no_first_read_elision") == 0) out->options.no_first_read_elision = true;
        if (name && strcmp(name, "no_link_transfers") == 0) out->options.no_link_transfers = true;
    }
    return read_problem(json_object_get(from, "problem"), &out->problem) &&
           read_arch(json_object_get(from, "arch"), &out->arch) &&
           read_mapping(json_object_get(from, "mapping"), out, &out->mapping);
}
