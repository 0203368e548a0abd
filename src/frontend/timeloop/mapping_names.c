#include "frontend/timeloop/mapping_names.h"

#include <stdio.h>
#include <string.h>

/* An order being read. */
typedef struct reader {
    const sx_problem *problem;
    bool gap;
    sx_order order;
} reader;

/* The level that is the fan-out of a container or component, -1 where there is none. */
static int fanout_level(const sx_arch *arch, const char *name) {
    char fanout[2 * SX_NAME_SIZE];
    snprintf(fanout, sizeof fanout, "inter_%.64s_spatial", name);
    return sx_arch_level(arch, fanout);
}

int sx_target_level(const sx_arch *arch, const char *name, bool fanout) {
    uint64_t number;
    int own = sx_arch_level(arch, name), outside = fanout_level(arch, name);
    if (outside >= 0 && (fanout || own < 0)) return outside;
    if (own < 0 && sx_text_u64(name, &number) && number < arch->n_levels) return (int)number;
    return own;
}

sx_status sx_level_unknown(sx_place place, const char *name, const sx_arch *arch) {
    const char *known[SX_MAX_LEVELS];
    for (int s = 0; s < arch->n_levels; s++) known[s] = arch->level[s].name;
    return sx_error_unknown(place, "level", name, known, arch->n_levels);
}

sx_status sx_tensor_unknown(sx_place place, const char *name, const sx_problem *problem) {
    const char *known[SX_MAX_TENSORS];
    for (int v = 0; v < problem->n_tensors; v++) known[v] = problem->tensor[v].name;
    return sx_error_unknown(place, "tensor", name, known, problem->n_tensors);
}

sx_status sx_dimension_unknown(sx_place place, const char *name, const sx_problem *problem) {
    const char *known[SX_MAX_DIMS];
    for (int d = 0; d < problem->n_dims; d++) known[d] = problem->dim_name[d];
    return sx_error_unknown(place, "dimension", name, known, problem->n_dims);
}

static SX_MUST_USE sx_status add_dimension(reader *r, int dim, sx_place place) {
    sx_order *o = &r->order;
    for (int i = 0; i < o->n; i++)
        if (o->dim[i] == dim)
            return sx_error_at(place, "duplicate dimension '%s' in the permutation",
                               r->problem->dim_name[dim]);
    o->dim[o->n++] = (uint8_t)dim;
    return SX_OK;
}

static SX_MUST_USE sx_status add_gap(reader *r, sx_place place) {
    if (r->order.gap >= 0) return sx_error_at(place, "duplicate '_' in the permutation");
    r->order.gap = r->order.n;
    return SX_OK;
}

/* The dimension of a letter, -1 where there is none. */
static int letter_dim(const sx_problem *problem, char letter) {
    return sx_problem_dim(problem, (const char[2]){letter, 0});
}

/* Whether a word is made of dimensions' letters, or was meant to be: all dimensions have one letter, and half
 * of the word's are known. */
static bool is_letters(const reader *r, const char *word) {
    size_t known = 0, size = strlen(word);
    bool short_names = true;
    for (size_t i = 0; i < size; i++)
        known += letter_dim(r->problem, word[i]) >= 0 || (r->gap && word[i] == '_');
    for (int d = 0; d < r->problem->n_dims; d++) short_names &= strlen(r->problem->dim_name[d]) == 1;
    return known == size || (short_names && 2 * known >= size);
}

/* Adds the dimension of that name or, where there is none, the dimensions that its letters name. */
static SX_MUST_USE sx_status add_word(void *user, const char *word, sx_place place) {
    reader *r = user;
    int dim = sx_problem_dim(r->problem, word);
    if (dim >= 0) return add_dimension(r, dim, place);
    if (!is_letters(r, word)) return sx_dimension_unknown(place, word, r->problem);
    for (const char *c = word; *c; c++, place.column++) {
        const char letter[2] = {*c, 0};
        dim = letter_dim(r->problem, *c);
        if (dim >= 0)
            SX_TRY(add_dimension(r, dim, place));
        else if (r->gap && *c == '_')
            SX_TRY(add_gap(r, place));
        else
            return sx_dimension_unknown(place, letter, r->problem);
    }
    return SX_OK;
}

sx_status sx_order_read(const sx_node *node, const sx_problem *problem, bool gap, sx_order *out) {
    reader r = {.problem = problem, .gap = gap, .order = {.gap = -1}};
    SX_TRY(sx_node_names(node, "permutation", add_word, &r));
    *out = r.order;
    return SX_OK;
}

sx_status sx_check_no_coalesce(sx_input *input, const sx_pair *pair, const sx_arch *arch, int level,
                               uint8_t *mask) {
    if (!*mask || level + 1 < arch->n_levels) return SX_OK;
    *mask = 0;
    return sx_input_differ(input, pair->place,
                           "'no_coalesce' is ignored at '%s', the outermost level: no level outside is asked",
                           arch->level[level].name);
}

sx_status sx_split_check(sx_input *input, const sx_pair *pair, uint64_t split, const sx_problem *problem,
                         bool mapping) {
    enum { MEANS_ALL = 99 };
    const int n = problem->n_dims;
    if (!pair || split <= (uint64_t)n || split >= MEANS_ALL) return SX_OK;
    if (!mapping)
        return sx_input_warn(input, pair->place, "'split' is %llu, but there are %d dimensions: all lie on X",
                             (unsigned long long)split, n);
    return sx_error_hint(sx_error_at(pair->place,
                                     "'split' must be from 0 to %d, the number of dimensions, but is %llu", n,
                                     (unsigned long long)split),
                         "%d, or %d and more, puts all of them on X", n, MEANS_ALL);
}
