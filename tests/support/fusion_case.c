#include "support/fusion_case.h"

#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static double number_or(const json_t *json, const char *key, double other) {
    const json_t *value = json_object_get(json, key);
    return json_is_number(value) ? json_number_value(value) : other;
}

static const char *string_at(const json_t *json, const char *key) {
    const char *text = json_string_value(json_object_get(json, key));
    assert_non_null(text);
    return text;
}

static void copy_name(char *to, const char *name) {
    assert_true(strlen(name) < SX_NAME_SIZE);
    memset(to, 0, SX_NAME_SIZE);
    memcpy(to, name, strlen(name));
}

/* A memory of the case: sizes in bits, energies per bit, bits per unit of time. */
static void read_memory(sx_fusion_case *c, sx_storage *level, const json_t *json) {
    sx_storage_init(level);
    copy_name(level->name, string_at(json, "name"));
    const double size = number_or(json, "size", -1);
    if (size >= 0) level->entries = (uint64_t)size;
    level->word_bits = 1;
    level->read_energy = number_or(json, "er", 0);
    level->fill_energy = level->update_energy = number_or(json, "ew", 0);
    level->read_bandwidth = number_or(json, "br", INFINITY) / c->throughput;
    level->write_bandwidth = number_or(json, "bw", INFINITY) / c->throughput;
}

/* Instances along X and Y, `json` having the fan-out below an outer level with x times y of them. */
static void read_fanout(const json_t *json, uint64_t *x, uint64_t *y) {
    const json_t *fanout = json_object_get(json, "fanout");
    *x *= (uint64_t)number_or(fanout, "X", 1);
    *y *= (uint64_t)number_or(fanout, "Y", 1);
}

static void read_arch(sx_fusion_case *c, const json_t *json) {
    const size_t n = json_array_size(json) - 1;
    const json_t *compute = json_array_get(json, n);
    uint64_t x = 1, y = 1;
    memset(&c->arch, 0, sizeof c->arch);
    c->throughput = number_or(compute, "thr", 1);
    c->arch.n_levels = (uint8_t)n;
    copy_name(c->arch.name, "case");
    for (size_t i = 0; i < n; i++) {
        sx_storage *level = &c->arch.level[n - 1 - i];
        read_memory(c, level, json_array_get(json, i));
        read_fanout(json_array_get(json, i), &x, &y);
        level->mesh_x = x;
        level->mesh_y = y;
        level->instances = x * y;
    }
    read_fanout(compute, &x, &y);
    sx_compute_init(&c->arch.compute);
    copy_name(c->arch.compute.name, string_at(compute, "name"));
    c->arch.compute.mesh_x = x;
    c->arch.compute.mesh_y = y;
    c->arch.compute.instances = x * y;
    c->arch.compute.energy = number_or(compute, "e", 0);
    sx_expect_ok(sx_arch_check(&c->arch));
}

/* The dimension of a name, which is added where the einsum has not used it yet. */
static int use_dim(sx_problem *einsum, const char *name, const json_t *dims) {
    int d = sx_problem_dim(einsum, name);
    if (d >= 0) return d;
    d = einsum->n_dims++;
    copy_name(einsum->dim_name[d], name);
    einsum->size[d] = (uint32_t)json_integer_value(json_object_get(dims, name));
    return d;
}

static void read_einsum(sx_problem *einsum, const json_t *json, const json_t *dims, const json_t *bits) {
    json_t *tensors = json_object_get(json, "tensors"), *ranks, *rank, *coef;
    const char *name, *dim;
    size_t r;
    memset(einsum, 0, sizeof *einsum);
    copy_name(einsum->name, string_at(json, "name"));
    json_object_foreach(tensors, name, ranks) {
        sx_tensor *tensor = &einsum->tensor[einsum->n_tensors++];
        copy_name(tensor->name, name);
        tensor->output = strcmp(name, string_at(json, "out")) == 0;
        tensor->n_ranks = (uint8_t)json_array_size(ranks);
        const json_t *width = json_is_object(bits) ? json_object_get(bits, name) : bits;
        sx_expect_ok(sx_tensor_set_bits(tensor, (uint64_t)json_integer_value(width)));
        json_array_foreach(ranks, r, rank) json_object_foreach(rank, dim, coef)
            tensor->coef[r][use_dim(einsum, dim, dims)] = (int32_t)json_integer_value(coef);
    }
    sx_expect_ok(sx_problem_check(einsum));
}

static sx_path_node read_node(const sx_fusion_case *c, const sx_problem *einsum, const json_t *json) {
    const char *kind = json_string_value(json_array_get(json, 0)),
               *name = json_string_value(json_array_get(json, 1));
    sx_path_node node = {.kind = SX_PATH_HOLD};
    if (strcmp(kind, "S") == 0) {
        const json_t *sinks = json_array_get(json, 3);
        node.level = (int8_t)sx_arch_level(&c->arch, name);
        node.index = (uint8_t)sx_problem_tensor(einsum, json_string_value(json_array_get(json, 2)));
        node.sinks = !sinks || json_is_true(sinks);
        return node;
    }
    node.kind = strcmp(kind, "X") == 0 ? SX_PATH_SPREAD : SX_PATH_LOOP;
    node.index = (uint8_t)sx_problem_dim(einsum, name);
    node.tile = (uint32_t)json_number_value(json_array_get(json, 2));
    if (node.kind == SX_PATH_SPREAD) {
        node.level = (int8_t)sx_arch_level(&c->arch, json_string_value(json_array_get(json, 3)));
        node.axis = strcmp(json_string_value(json_array_get(json, 4)), "Y") == 0;
    }
    return node;
}

static void read_paths(sx_fusion_case *c, const json_t *json) {
    json_t *path, *node;
    size_t e, i;
    c->mapping.n_einsums = json_array_size(json);
    c->mapping.path = calloc(c->mapping.n_einsums, sizeof *c->mapping.path);
    assert_non_null(c->mapping.path);
    json_array_foreach(json, e, path) json_array_foreach(path, i, node) {
        assert_true(i < SX_MAX_PATH);
        c->mapping.path[e].node[c->mapping.path[e].n_nodes++] = read_node(c, &c->cascade.einsum[e], node);
    }
}

void sx_fusion_case_init(sx_fusion_case *c, const json_t *json) {
    const json_t *einsums = json_object_get(json, "einsums"), *paths = json_object_get(json, "paths");
    const size_t n = json_array_size(einsums);
    sx_problem *einsum = calloc(n, sizeof *einsum);
    assert_non_null(einsum);
    memset(c, 0, sizeof *c);
    c->id = string_at(json, "id");
    read_arch(c, json_object_get(json, "arch"));
    for (size_t e = 0; e < n; e++)
        read_einsum(&einsum[e], json_array_get(einsums, e), json_object_get(json, "dims"),
                    json_object_get(json, "bits"));
    sx_expect_ok(sx_cascade_init(&c->cascade, einsum, n, 8));
    free(einsum);
    if (json_is_array(paths)) read_paths(c, paths);
}

void sx_fusion_case_fini(sx_fusion_case *c) {
    sx_cascade_fini(&c->cascade);
    sx_fused_mapping_fini(&c->mapping);
}
