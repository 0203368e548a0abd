/* The nouns as callers see them: made, freed, and asked for their parts. */
#include "base/status.h"
#include "base/text.h"
#include "sextant/all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes a block of zeros, or a copy of another one. */
static sx_status make_block(const void *from, size_t size, void *out) {
    void *made = calloc(1, size);
    if (!made) return sx_error_memory();
    if (from) memcpy(made, from, size);
    *(void **)out = made;
    return SX_OK;
}

sx_status sx_problem_new(sx_problem **out) {
    return make_block(NULL, sizeof **out, out);
}

sx_status sx_problem_copy(const sx_problem *problem, sx_problem **out) {
    return make_block(problem, sizeof *problem, out);
}

void sx_problem_free(sx_problem *problem) {
    free(problem);
}

bool sx_problem_equal(const sx_problem *a, const sx_problem *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

const char *sx_problem_name(const sx_problem *problem) {
    return problem->name;
}

int sx_problem_n_dims(const sx_problem *problem) {
    return problem->n_dims;
}

const char *sx_problem_dim_name(const sx_problem *problem, int dim) {
    return dim >= 0 && dim < problem->n_dims ? problem->dim_name[dim] : NULL;
}

uint32_t sx_problem_dim_size(const sx_problem *problem, int dim) {
    return dim >= 0 && dim < problem->n_dims ? problem->size[dim] : 0;
}

int sx_problem_n_tensors(const sx_problem *problem) {
    return problem->n_tensors;
}

const char *sx_problem_tensor_name(const sx_problem *problem, int tensor) {
    return tensor >= 0 && tensor < problem->n_tensors ? problem->tensor[tensor].name : NULL;
}

sx_status sx_arch_new(sx_arch **out) {
    return make_block(NULL, sizeof **out, out);
}

void sx_arch_free(sx_arch *arch) {
    free(arch);
}

bool sx_arch_equal(const sx_arch *a, const sx_arch *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

const char *sx_arch_name(const sx_arch *arch) {
    return arch->name;
}

int sx_arch_n_levels(const sx_arch *arch) {
    return arch->n_levels;
}

const char *sx_arch_level_name(const sx_arch *arch, int level) {
    return level >= 0 && level < arch->n_levels ? arch->level[level].name : NULL;
}

void sx_arch_fanout(const sx_arch *arch, int level, uint64_t *x, uint64_t *y) {
    const bool there = level >= 0 && level < arch->n_levels;
    *x = there ? sx_arch_fanout_x(arch, level) : 0;
    *y = there ? sx_arch_fanout_y(arch, level) : 0;
}

sx_status sx_constraints_new(sx_constraints **out) {
    return make_block(NULL, sizeof **out, out);
}

void sx_constraints_free(sx_constraints *constraints) {
    free(constraints);
}

sx_status sx_network_new(const char *name, sx_network **out) {
    sx_network *network;
    SX_TRY(make_block(NULL, sizeof *network, &network));
    sx_status status = sx_text_name(network->name, sizeof network->name, name, "a network");
    if (status)
        free(network);
    else
        *out = network;
    return status;
}

void sx_network_free(sx_network *network) {
    if (!network) return;
    sx_network_fini(network);
    free(network);
}

sx_status sx_network_add(sx_network *network, const char *name, const sx_problem *problem, uint64_t count) {
    const size_t n = network->n_layers;
    char number[SX_NAME_SIZE], field[SX_NAME_SIZE];
    if (count == 0) return sx_error_new(SX_ERR_USAGE, "a layer that occurs 0 times is no layer");
    snprintf(number, sizeof number, "layer%zu", n + 1);
    const char *own = problem->name[0] ? problem->name : number;
    SX_TRY(sx_text_name(field, sizeof field, name ? name : own, "a layer"));
    sx_layer *layers = realloc(network->layer, (n + 1) * sizeof *layers);
    if (!layers) return sx_error_memory();
    network->layer = layers;
    layers[n] = (sx_layer){.count = count, .problem = *problem};
    memcpy(layers[n].name, field, sizeof field);
    if (!problem->name[0]) memcpy(layers[n].problem.name, field, sizeof field);
    network->n_layers = n + 1;
    return SX_OK;
}

const char *sx_network_name(const sx_network *network) {
    return network->name;
}

size_t sx_network_n_layers(const sx_network *network) {
    return network->n_layers;
}

const char *sx_network_layer_name(const sx_network *network, size_t layer) {
    return layer < network->n_layers ? network->layer[layer].name : NULL;
}

uint64_t sx_network_layer_count(const sx_network *network, size_t layer) {
    return layer < network->n_layers ? network->layer[layer].count : 0;
}

const sx_problem *sx_network_layer_problem(const sx_network *network, size_t layer) {
    return layer < network->n_layers ? &network->layer[layer].problem : NULL;
}
