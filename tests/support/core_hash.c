#include "support/core_hash.h"

#include "base/hash.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Adds the doubles from one place of a struct to another. */
static uint64_t add_doubles(const void *from, size_t size, uint64_t hash) {
    for (size_t i = 0; i < size / sizeof(double); i++) {
        char text[40];
        double number;
        memcpy(&number, (const char *)from + i * sizeof number, sizeof number);
        snprintf(text, sizeof text, "%.9g ", number);
        hash = sx_hash_bytes(text, strlen(text), hash);
    }
    return hash;
}

/* Adds the numbers of a struct that begins with its doubles and goes on with bytes up to a field of one. */
static uint64_t add_struct(const void *from, size_t doubles, size_t last, uint64_t hash) {
    hash = add_doubles(from, doubles, hash);
    return sx_hash_bytes((const char *)from + doubles, last + 1 - doubles, hash);
}

uint64_t sx_core_model_hash(const sx_core_model *model, uint64_t hash) {
    const uint32_t numbers[] = {model->n_levels, model->n_dims, model->n_tensors, model->all,
                                (uint32_t)model->window};
    hash = sx_hash_bytes(numbers, sizeof numbers, hash);
    hash = add_doubles(&model->computes, offsetof(sx_core_model, tensor) - offsetof(sx_core_model, computes),
                       hash);
    for (uint32_t v = 0; v < model->n_tensors; v++)
        hash = add_struct(&model->tensor[v], offsetof(sx_core_tensor, dims), offsetof(sx_core_tensor, n_free),
                          hash);
    for (uint32_t s = 0; s < model->n_levels; s++)
        hash =
            add_struct(&model->level[s], offsetof(sx_core_level, gate), offsetof(sx_core_level, may), hash);
    return hash;
}
