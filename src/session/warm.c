/* Warm start: Demystifying MSE (IISWC 2022), section 5.1. A search begins from the answer of the layer that
 * differs from this one in the fewest dimensions; orders, spatial factors and kept tensors are inherited,
 * tiles are scaled to the new sizes.
 *
 * Differences. The paper has one kind of problem; here a distance exists between problems of one kind only
 * (same dimensions and tensors), and a dimension also differs by its stride or dilation. The paper says how
 * to scale a dimension that grows by a whole multiple (the outermost temporal factor is multiplied); for all
 * others we say: spatial factors first, then temporal ones, each from the innermost level outward, become the
 * largest divisor of what is left of the size that is not above them, and the rest goes to the outermost
 * temporal factor. A whole multiple leaves all others as they are, which is the paper's rule; no tile grows,
 * so that what fitted still fits; and no dimension has a remainder. A mapping that has remainders comes from
 * a search that may have them: its factors stay as they are, as far as the new size reaches. What else may be
 * wrong (constraints, a wider stride) is up to the space: its projection gives the nearest legal point.
 *
 * The paper's replay buffer holds the layers of one run. Here the records of a database are candidates too,
 * after the layers of the session, which win ties; then the result depends on the database and says what it
 * began from. Choosing is linear in the layers and records, scaling in levels times dimensions. */
#include "base/choice.h"
#include "base/divisor.h"
#include "session/answers.h"
#include "session/session.h"
#include "sextant/space_type.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *sx_warm_name(sx_warm warm) {
    static const char *const names[] = {"off", "previous", "similarity"};
    return (size_t)warm < sizeof names / sizeof *names ? names[warm] : NULL;
}

sx_status sx_warm_named(const char *option, const char *name, sx_warm *out) {
    static const sx_warm ways[] = {SX_WARM_SIMILARITY, SX_WARM_PREVIOUS, SX_WARM_OFF};
    size_t way;
    SX_TRY(sx_choice_read(option, name, "similarity, previous, off", &way));
    *out = ways[way];
    return SX_OK;
}

/* Whether two tensors have one name and role and the same dimensions in the same ranks. */
static bool same_kind(const sx_tensor *a, const sx_tensor *b) {
    if (strcmp(a->name, b->name) != 0 || a->output != b->output || a->n_ranks != b->n_ranks) return false;
    for (int r = 0; r < a->n_ranks; r++)
        for (int d = 0; d < SX_MAX_DIMS; d++)
            if ((a->coef[r][d] == 0) != (b->coef[r][d] == 0)) return false;
    return true;
}

/* Whether a dimension has the same coefficients everywhere. */
static bool same_coefficients(const sx_problem *a, const sx_problem *b, int dim) {
    for (int v = 0; v < a->n_tensors; v++)
        for (int r = 0; r < a->tensor[v].n_ranks; r++)
            if (a->tensor[v].coef[r][dim] != b->tensor[v].coef[r][dim]) return false;
    return true;
}

/* The number of dimensions that have another size, or at least `limit` where that is reached. */
static int count_other_sizes(const sx_problem *a, const sx_problem *b, int limit) {
    int n = 0;
    for (int d = 0; d < a->n_dims && n < limit; d++) n += a->size[d] != b->size[d];
    return n;
}

int sx_warm_distance(const sx_problem *a, const sx_problem *b) {
    if (a->n_dims != b->n_dims || a->n_tensors != b->n_tensors) return -1;
    for (int d = 0; d < a->n_dims; d++)
        if (strcmp(a->dim_name[d], b->dim_name[d]) != 0) return -1;
    for (int v = 0; v < a->n_tensors; v++)
        if (!same_kind(&a->tensor[v], &b->tensor[v])) return -1;
    int distance = 0;
    for (int d = 0; d < a->n_dims; d++) distance += a->size[d] != b->size[d] || !same_coefficients(a, b, d);
    return distance;
}

/* Scales a dimension's factors so that they multiply to the size. */
static void scale_exactly(sx_mapping *mapping, int dim, uint32_t size) {
    const int outermost = mapping->n_levels - 1;
    uint32_t left = size;
    for (int i = 0; i <= outermost; i++) {
        uint32_t *factor = &mapping->level[i].spatial[dim];
        left /= *factor = sx_divisor_within(left, *factor);
    }
    for (int i = 0; i < outermost; i++) {
        uint32_t *factor = &mapping->level[i].temporal[dim];
        left /= *factor = sx_divisor_within(left, *factor);
    }
    mapping->level[outermost].temporal[dim] = left;
}

/* Cuts a factor at what is left of the size, which becomes what this factor leaves, rounded up. */
static void cut_factor(uint32_t *factor, uint32_t *left) {
    if (*factor > *left) *factor = *left;
    *left = (uint32_t)(((uint64_t)*left + *factor - 1) / *factor);
}

/* Scales a dimension's factors so that they reach the size, with a remainder if need be. */
static void scale_roughly(sx_mapping *mapping, int dim, uint32_t size) {
    const int outermost = mapping->n_levels - 1;
    uint32_t left = size;
    for (int i = 0; i <= outermost; i++) {
        cut_factor(&mapping->level[i].spatial[dim], &left);
        if (i < outermost) cut_factor(&mapping->level[i].temporal[dim], &left);
    }
    mapping->level[outermost].temporal[dim] = left;
}

void sx_warm_scale(const sx_mapping *mapping, const sx_problem *from, const sx_problem *to, sx_mapping *out) {
    const bool exact = sx_mapping_perfect(mapping, from);
    sx_mapping scaled = *mapping;
    for (int d = 0; d < to->n_dims; d++) {
        if (from->size[d] == to->size[d]) continue;
        if (exact)
            scale_exactly(&scaled, d, to->size[d]);
        else
            scale_roughly(&scaled, d, to->size[d]);
    }
    sx_mapping_canonical(&scaled);
    *out = scaled;
}

/* A mapping to begin from, and what it was found for. */
typedef struct source {
    int from; /* as in sx_layer_result */
    int distance;
    sx_mapping mapping;
    sx_problem problem;
} source;

/* The choice among the database's records. */
typedef struct choice {
    const sx_problem *problem;
    const sx_arch *arch;
    source *best;
} choice;

/* Looks for a source among the layers before this one: the last of the nearest. */
static void choose_layer(const sx_session *session, size_t index, source *best) {
    const sx_layer *layers = session->network->layer;
    const sx_problem *problem = &layers[index].problem;
    int least = SX_MAX_DIMS + 1; /* distance so far */
    for (size_t j = index; j-- > 0 && least > 0;) {
        if (count_other_sizes(&layers[j].problem, problem, least) >= least) continue;
        if (!session->out->layer[session->first[j]].found) continue;
        int distance = sx_warm_distance(&layers[j].problem, problem);
        if (distance < 0 || distance >= least) continue;
        best->from = (int)session->first[j];
        best->distance = distance;
        least = session->options->warm == SX_WARM_SIMILARITY ? distance : 0;
    }
    if (best->from < 0) return;
    best->mapping = session->out->layer[best->from].best.mapping;
    best->problem = layers[best->from].problem;
}

/* Takes a record that is nearer than the best so far. */
static sx_status choose_record(void *user, const sx_record *record) {
    const choice *c = user;
    int distance = sx_warm_distance(&record->problem, c->problem);
    if (distance < 0 || (c->best->from != SX_WARM_NONE && distance >= c->best->distance)) return SX_OK;
    if (record->mapping.n_levels != c->arch->n_levels) return SX_OK;
    c->best->from = SX_WARM_DATABASE;
    c->best->distance = distance;
    c->best->mapping = record->mapping;
    c->best->problem = record->problem;
    return SX_OK;
}

/* The source that the policy chooses, if any. */
static sx_status choose_source(const sx_session *session, size_t index, source *best) {
    const sx_session_options *o = session->options;
    best->from = SX_WARM_NONE;
    choose_layer(session, index, best);
    if (!o->store || (o->warm == SX_WARM_PREVIOUS && best->from >= 0)) return SX_OK;
    choice c = {&session->network->layer[index].problem, session->arch, best};
    if (o->outside) return sx_answers_best(o->store, o->outside, session->arch, choose_record, &c);
    return sx_store_best(o->store, session->arch, session->objective, choose_record, &c);
}

/* Makes a mapping a legal point: itself, the nearest legal one, or a repaired one; *legal: whether it is. */
static sx_status fit_mapping(const sx_space *space, const sx_mapping *mapping, void *point, bool *legal) {
    sx_map_space_point(space, mapping, point);
    *legal = sx_space_legal(space, point, NULL, 0);
    if (*legal) return SX_OK;
    double *values = calloc(space->n_values + 1, sizeof *values);
    if (!values) return sx_error_memory();
    sx_space_encode(space, point, values);
    *legal = sx_space_project(space, values, point);
    free(values);
    if (*legal || !space->type->repair) return SX_OK;
    sx_rng rng = sx_rng_stream(0, "session.warm", 0);
    sx_map_space_point(space, mapping, point);
    *legal = space->type->repair(space, &rng, point);
    return SX_OK;
}

/* The objective's value of a point; false where it has none. */
static sx_status evaluate_point(const sx_space *space, const void *point, const sx_objective *objective,
                                double *value, bool *legal) {
    sx_scorer *scorer;
    sx_outcome outcome;
    SX_TRY(sx_scorer_new(space, NULL, objective, &scorer));
    sx_status status = sx_scorer_score(scorer, point, 1, INFINITY, &outcome);
    *legal = !status && outcome.reason == 0;
    if (*legal) *value = outcome.value;
    sx_scorer_free(scorer);
    return status;
}

sx_status sx_warm_start(const sx_session *session, size_t index, const sx_space *space, sx_start *out) {
    source *best = NULL;
    void *point = NULL;
    bool legal = false;
    double value = 0;
    sx_mapping scaled;
    *out = (sx_start){.from = SX_WARM_NONE};
    if (session->options->warm == SX_WARM_OFF) return SX_OK;
    best = calloc(1, sizeof *best);
    point = calloc(1, space->point_size);
    sx_status status = best && point ? choose_source(session, index, best) : sx_error_memory();
    if (status || best->from == SX_WARM_NONE) goto done;
    sx_warm_scale(&best->mapping, &best->problem, &session->network->layer[index].problem, &scaled);
    status = fit_mapping(space, &scaled, point, &legal);
    if (!status && legal && !session->options->outside)
        status = evaluate_point(space, point, &session->options->run.objective, &value, &legal);
    if (status || !legal) goto done;
    *out = (sx_start){.from = best->from, .value = value, .point = point, .size = space->point_size};
    memcpy(out->name, best->problem.name, sizeof out->name);
    point = NULL;
done:
    free(point);
    free(best);
    return status;
}

void sx_start_fini(sx_start *start) {
    free(start->point);
    *start = (sx_start){.from = SX_WARM_NONE};
}
