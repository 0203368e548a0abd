#include "text/write/write.h"

#include <string.h>

typedef struct writer {
    const sx_problem *problem;
    const sx_arch *arch;
    const sx_mapping *mapping;
    uint32_t rest[SX_MAX_DIMS]; /* (size - 1) / the product of the factors written so far */
    bool letters;               /* every dimension's name is one letter */
} writer;

/* Refuses a mapping for something else, or one whose orders are no permutations. */
static SX_MUST_USE sx_status check_mapping(const sx_mapping *mapping, const sx_problem *problem,
                                           const sx_arch *arch) {
    bool good = mapping->n_levels == arch->n_levels && mapping->n_dims == problem->n_dims &&
                mapping->n_tensors == problem->n_tensors;
    for (int s = 0; good && s < mapping->n_levels; s++) {
        uint32_t temporal = 0, spatial = 0;
        for (int i = 0; i < mapping->n_dims; i++) {
            const sx_mapping_level *level = &mapping->level[s];
            good &= level->temporal_order[i] < mapping->n_dims && level->spatial_order[i] < mapping->n_dims;
            good &= level->temporal[i] >= 1 && level->spatial[i] >= 1;
            temporal |= good ? 1u << level->temporal_order[i] : 0;
            spatial |= good ? 1u << level->spatial_order[i] : 0;
        }
        good &= temporal == (1u << mapping->n_dims) - 1 && spatial == temporal;
    }
    return good ? SX_OK
                : sx_error_new(SX_ERR_USAGE, "the mapping was not made for this problem and architecture");
}

static SX_OWN json_t *tensor_list(writer *w, unsigned mask) {
    json_t *list = json_array();
    for (int v = 0; v < w->problem->n_tensors; v++)
        if (mask & 1u << v) sx_json_append(list, sx_json_text(w->problem->tensor[v].name));
    return list;
}

/* Adds a list of tensors where there are any. */
static void put_tensors(writer *w, json_t *directive, const char *key, unsigned mask) {
    if (mask) sx_json_set(directive, key, tensor_list(w, mask));
}

/* Text such as "R=3 P=4,1": every factor, with what is left of it the last time where that is less. */
static SX_OWN json_t *write_factors(writer *w, const uint32_t *factor) {
    sx_text text = {0};
    for (int d = 0; d < w->problem->n_dims; d++) {
        uint32_t left = w->rest[d] % factor[d] + 1;
        w->rest[d] /= factor[d];
        sx_text_add(&text, "%s%s=%u", d ? " " : "", w->problem->dim_name[d], (unsigned)factor[d]);
        if (left != factor[d]) sx_text_add(&text, ",%u", (unsigned)left);
    }
    json_t *value = text.failed ? NULL : sx_json_text(text.data);
    sx_text_free(&text);
    return value;
}

/* An order as Timeloop writes it, letters in a row, or a list of names where they are longer. */
static SX_OWN json_t *write_permutation(writer *w, const uint8_t *order) {
    char text[SX_MAX_DIMS + 1] = "";
    json_t *list = w->letters ? NULL : json_array();
    for (int i = 0; i < w->problem->n_dims; i++) {
        const char *name = w->problem->dim_name[order[i]];
        if (list)
            sx_json_append(list, sx_json_text(name));
        else
            text[i] = name[0];
    }
    return w->letters ? sx_json_text(text) : list;
}

static SX_OWN json_t *directive_new(writer *w, int level, const char *type) {
    json_t *directive = json_object();
    sx_json_set(directive, "target", sx_json_text(w->arch->level[level].name));
    sx_json_set(directive, "type", sx_json_text(type));
    return directive;
}

/* Whether a level's spatial part says anything that is not understood without it. */
static bool spatial_needed(const writer *w, int s) {
    const sx_mapping_level *level = &w->mapping->level[s];
    if (sx_arch_fanout_x(w->arch, s) * sx_arch_fanout_y(w->arch, s) > 1) return true;
    for (int i = 0; i < w->problem->n_dims; i++)
        if (level->spatial[i] != 1 || level->spatial_order[i] != i) return true;
    return level->split || level->no_multicast || level->no_link_transfer;
}

/* The spatial directive; it must be made before the same level's temporal one. */
static SX_OWN json_t *write_spatial(writer *w, int s) {
    const sx_mapping_level *level = &w->mapping->level[s];
    json_t *directive = directive_new(w, s, "spatial");
    sx_json_set(directive, "factors", write_factors(w, level->spatial));
    sx_json_set(directive, "permutation", write_permutation(w, level->spatial_order));
    sx_json_set(directive, "split", sx_json_exact(level->split));
    if (level->x_part) sx_json_set(directive, "x_part", sx_json_exact(level->x_part));
    put_tensors(w, directive, "no_reuse", level->no_multicast);
    put_tensors(w, directive, "no_link_transfer", level->no_link_transfer);
    return directive;
}

static SX_OWN json_t *write_temporal(writer *w, int s) {
    const sx_mapping_level *level = &w->mapping->level[s];
    json_t *directive = directive_new(w, s, "temporal");
    sx_json_set(directive, "factors", write_factors(w, level->temporal));
    sx_json_set(directive, "permutation", write_permutation(w, level->temporal_order));
    put_tensors(w, directive, "no_temporal_reuse", level->no_temporal_reuse);
    put_tensors(w, directive, "rmw_first_update", level->rmw_first_update);
    return directive;
}

static SX_OWN json_t *write_kept(writer *w, int s) {
    unsigned keep = w->mapping->level[s].keep, all = (1u << w->problem->n_tensors) - 1;
    json_t *directive = directive_new(w, s, "bypass");
    sx_json_set(directive, "keep", tensor_list(w, keep));
    sx_json_set(directive, "bypass", tensor_list(w, all & ~keep));
    put_tensors(w, directive, "no_coalesce", w->mapping->level[s].no_coalesce);
    return directive;
}

sx_status sx_mapping_write(const sx_mapping *mapping, const sx_problem *problem, const sx_arch *arch,
                           sx_format format, char **out) {
    SX_TRY(check_mapping(mapping, problem, arch));
    writer w = {.problem = problem, .arch = arch, .mapping = mapping, .letters = true};
    for (int d = 0; d < problem->n_dims; d++) {
        w.rest[d] = problem->size[d] - 1;
        w.letters &= strlen(problem->dim_name[d]) == 1;
    }
    json_t *root = json_object(), *list = json_array();
    for (int s = 0; s < mapping->n_levels; s++) {
        sx_json_append(list, write_kept(&w, s));
        if (spatial_needed(&w, s)) sx_json_append(list, write_spatial(&w, s));
        sx_json_append(list, write_temporal(&w, s));
    }
    sx_json_set(root, "mapping", list);
    return sx_json_write(root, format, out);
}
