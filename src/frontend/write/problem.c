#include "text/write/write.h"

#include <stdio.h>
#include <string.h>

/* Timeloop wants names for coefficients other than 1; each distinct value gets one. */
enum { MAX_NAMED = 256 };

typedef struct writer {
    const sx_problem *problem;
    char prefix[SX_NAME_SIZE];
    int32_t named[MAX_NAMED];
    int n_named;
} writer;

/* Chooses a beginning of names that no dimension's name has. */
static void choose_prefix(writer *w) {
    strcpy(w->prefix, "coef_");
    for (int d = 0; d < w->problem->n_dims && strlen(w->prefix) + 1 < sizeof w->prefix;) {
        if (strncmp(w->problem->dim_name[d], w->prefix, strlen(w->prefix)) != 0) {
            d++;
            continue;
        }
        strcat(w->prefix, "_");
        d = 0;
    }
}

/* The name of a coefficient, or its number once names have run out. */
static SX_OWN json_t *write_coefficient(writer *w, int32_t value) {
    char name[SX_NAME_SIZE + 16];
    int i = 0;
    while (i < w->n_named && w->named[i] != value) i++;
    if (i == MAX_NAMED) return json_integer(value);
    if (i == w->n_named) w->named[w->n_named++] = value;
    snprintf(name, sizeof name, "%s%s%d", w->prefix, value < 0 ? "m" : "", value < 0 ? -value : value);
    return sx_json_text(name);
}

static SX_OWN json_t *write_projection(writer *w, const sx_tensor *tensor) {
    json_t *ranks = json_array();
    for (int r = 0; r < tensor->n_ranks; r++) {
        json_t *rank = json_array();
        for (int d = 0; d < w->problem->n_dims; d++) {
            if (tensor->coef[r][d] == 0) continue;
            json_t *term = json_array();
            sx_json_append(term, sx_json_text(w->problem->dim_name[d]));
            if (tensor->coef[r][d] != 1) sx_json_append(term, write_coefficient(w, tensor->coef[r][d]));
            sx_json_append(rank, term);
        }
        sx_json_append(ranks, rank);
    }
    return ranks;
}

static SX_OWN json_t *write_spaces(writer *w) {
    json_t *list = json_array();
    for (int v = 0; v < w->problem->n_tensors; v++) {
        const sx_tensor *tensor = &w->problem->tensor[v];
        json_t *space = json_object();
        sx_json_set(space, "name", sx_json_text(tensor->name));
        sx_json_set(space, "projection", write_projection(w, tensor));
        if (tensor->alias[0]) sx_json_set(space, "alias", sx_json_text(tensor->alias));
        if (tensor->output) sx_json_set(space, "read-write", json_boolean(true));
        if (tensor->bits) sx_json_set(space, "bits", sx_json_exact(tensor->bits));
        sx_json_append(list, space);
    }
    return list;
}

/* The coefficients that the projections named. */
static SX_OWN json_t *write_coefficients(writer *w) {
    json_t *list = json_array();
    int n = w->n_named;
    for (int i = 0; i < n; i++) {
        json_t *item = json_object();
        sx_json_set(item, "name", write_coefficient(w, w->named[i]));
        sx_json_set(item, "default", json_integer(w->named[i]));
        sx_json_append(list, item);
    }
    return list;
}

/* How dense the tensors are; NULL where nothing says. */
static SX_OWN json_t *write_densities(const sx_problem *problem) {
    json_t *map = json_object();
    for (int v = 0; v < problem->n_tensors; v++) {
        const sx_tensor *tensor = &problem->tensor[v];
        if (tensor->density_model == SX_DENSITY_NONE) continue;
        const char *name = sx_density_model_name((sx_density_model)tensor->density_model);
        json_t *density = json_object();
        sx_json_set(density, "distribution", sx_json_text(name));
        if (tensor->density_model == SX_DENSITY_BANDED)
            sx_json_set(density, "band_width", sx_json_exact(tensor->band_width));
        else if (tensor->density_model == SX_DENSITY_ACTUAL)
            sx_json_set(density, "file", sx_json_text(tensor->data));
        else
            sx_json_set(density, "density", sx_json_real(tensor->density));
        sx_json_set(map, tensor->name, density);
    }
    if (json_object_size(map)) return map;
    json_decref(map);
    return NULL;
}

sx_status sx_problem_write(const sx_problem *problem, sx_format format, char **out) {
    SX_TRY(sx_problem_check(problem));
    writer w = {.problem = problem};
    json_t *root = json_object(), *body = json_object(), *shape = json_object(), *instance = json_object();
    json_t *dimensions = json_array();
    choose_prefix(&w);
    for (int d = 0; d < problem->n_dims; d++) {
        sx_json_append(dimensions, sx_json_text(problem->dim_name[d]));
        sx_json_set(instance, problem->dim_name[d], sx_json_exact(problem->size[d]));
    }
    json_t *data_spaces = write_spaces(&w), *sparse = write_densities(problem);
    if (sparse) sx_json_set(instance, "densities", sparse);
    if (problem->name[0]) sx_json_set(shape, "name", sx_json_text(problem->name));
    sx_json_set(shape, "dimensions", dimensions);
    if (w.n_named) sx_json_set(shape, "coefficients", write_coefficients(&w));
    sx_json_set(shape, "data-spaces", data_spaces);
    sx_json_set(body, "shape", shape);
    sx_json_set(body, "instance", instance);
    sx_json_set(root, "problem", body);
    return sx_json_write(root, format, out);
}
