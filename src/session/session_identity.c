/* What decides a session's results, as text: two sessions of one identity give the same results (a database
 * aside, whose records may have changed). Neither threads nor the cache are in it. */
#include "base/hash.h"
#include "base/saved_state.h"
#include "session/search_record.h"
#include "session/session.h"
#include "sextant/all.h"
#include "space/outside_evaluator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_number(uint64_t number, uint64_t hash) {
    return sx_hash_bytes(&number, sizeof number, hash);
}

static uint64_t hash_network(const sx_network *network) {
    uint64_t hash = hash_number(network->n_layers, 0);
    for (size_t i = 0; i < network->n_layers; i++) {
        const sx_layer *layer = &network->layer[i];
        hash = sx_hash_bytes(layer->name, strlen(layer->name), hash_number(layer->count, hash));
        hash = sx_hash_bytes(&layer->problem, sizeof layer->problem, hash);
    }
    return hash;
}

static uint64_t hash_limits(const sx_loop_limits *limits, uint64_t hash) {
    hash = sx_hash_bytes(limits->min, sizeof limits->min, hash);
    hash = sx_hash_bytes(limits->max, sizeof limits->max, hash);
    hash = sx_hash_bytes(limits->rest, sizeof limits->rest, hash);
    hash = sx_hash_bytes(limits->inner, limits->n_inner, hash_number(limits->n_inner, hash));
    return sx_hash_bytes(limits->outer, limits->n_outer, hash_number(limits->n_outer, hash));
}

static uint64_t hash_constraints(const sx_constraints *constraints, uint64_t hash) {
    for (int i = 0; i < constraints->n_levels; i++) {
        const sx_level_limits *level = &constraints->level[i];
        const double shares[2] = {level->min_utilization, level->min_parallelism};
        hash = hash_limits(&level->spatial, hash_limits(&level->temporal, hash));
        hash = hash_number((uint64_t)level->split, hash);
        hash = hash_number(level->must_keep * 256u + level->must_bypass, hash);
        const uint8_t reuse[4] = {level->no_temporal_reuse, level->no_multicast, level->no_link_transfer,
                                  level->rmw_first_update};
        hash = sx_hash_bytes(shares, sizeof shares, hash);
        if (reuse[0] | reuse[1] | reuse[2] | reuse[3]) hash = sx_hash_bytes(reuse, sizeof reuse, hash);
        if (level->no_coalesce) hash = hash_number(level->no_coalesce, hash);
    }
    return hash;
}

/* A hash of the constraints of all layers. */
static sx_status hash_all_constraints(const sx_session *session, uint64_t *out) {
    sx_constraints *constraints = malloc(sizeof *constraints);
    sx_status status = constraints ? SX_OK : sx_error_memory();
    uint64_t hash = 0;
    for (size_t i = 0; i < session->network->n_layers && !status; i++) {
        if (session->first[i] != i) continue;
        status = sx_session_constraints(session, &session->network->layer[i].problem, constraints);
        if (!status) hash = hash_constraints(constraints, hash);
    }
    free(constraints);
    *out = hash;
    return status;
}

static uint64_t hash_densities(const sx_density_range *range, uint64_t hash) {
    hash = sx_hash_bytes(range->weight, sizeof range->weight, hash_number(range->n, hash));
    for (int i = 0; i < range->n_tensors; i++) {
        const struct sx_range_tensor *t = &range->tensor[i];
        hash = sx_hash_bytes(t->name, strlen(t->name), hash_number(t->model, hash));
        hash = sx_hash_bytes(t->share, sizeof t->share, hash);
    }
    return hash;
}

/* Numbers that no other option adds to the mark. */
enum { SPLIT_AXES = 0x73706c74, LATENCY_TILE = 0x74696c65 };

sx_space_mark sx_session_space_mark(const sx_session *session, const sx_constraints *constraints) {
    const sx_session_options *o = session->options;
    const double tolerance = o->run.objective.tolerance;
    const bool flags[] = {o->space.remainders, o->space.keep_all, o->space.no_banks,
                          o->model.no_first_read_elision, o->model.no_link_transfers};
    const bool timeloop = o->model.sparse_timeloop;
    sx_space_mark mark;
    uint64_t hash = hash_constraints(constraints, sx_hash_bytes(flags, sizeof flags, 0));
    hash = sx_hash_bytes(&tolerance, sizeof tolerance, hash);
    if (timeloop) hash = sx_hash_bytes(&timeloop, sizeof timeloop, hash);
    if (o->space.split_axes) hash = hash_number(SPLIT_AXES, hash);
    if (o->model.latency_tile) hash = hash_number(LATENCY_TILE, hash);
    if (o->model.densities.n) hash = hash_densities(&o->model.densities, hash);
    if (o->model.formats.kinds) hash = hash_number(o->model.formats.kinds, hash);
    snprintf(mark.text, sizeof mark.text, "%016llx", (unsigned long long)hash);
    return mark;
}

static const char *yes_or_no(bool value) {
    return value ? "yes" : "no";
}

/* Adds what searches read. */
static sx_status add_inputs(const sx_session *session, sx_text *text) {
    const sx_session_options *o = session->options;
    const uint64_t order = 0x0102030405060708;
    uint64_t constraints;
    SX_TRY(hash_all_constraints(session, &constraints));
    sx_identity_add(text, "layout", "%d.%zu.%zu", *(const unsigned char *)&order, sizeof(sx_answer),
                    sizeof(size_t));
    sx_identity_add_digest(text, "network", session->network->name, hash_network(session->network));
    sx_identity_add_digest(text, "architecture", session->arch->name,
                           sx_hash_bytes(session->arch, sizeof *session->arch, 0));
    sx_identity_add_digest(text, "constraints", "", constraints);
    sx_outside_evaluator_identity(o->outside, text);
    return SX_OK;
}

/* Adds what is searched, and counted how. */
static void add_space(const sx_session_options *o, sx_text *text) {
    sx_identity_add(text, "--remainders", "%s", o->widen ? "beside" : yes_or_no(o->space.remainders));
    sx_identity_add(text, "--keep-all", "%s", yes_or_no(o->space.keep_all));
    sx_identity_add(text, "--no-banks", "%s", yes_or_no(o->space.no_banks));
    sx_identity_add(text, "--split-axes", "%s", yes_or_no(o->space.split_axes));
    sx_identity_add(text, "--no-first-read-elision", "%s", yes_or_no(o->model.no_first_read_elision));
    sx_identity_add(text, "--no-link-transfers", "%s", yes_or_no(o->model.no_link_transfers));
    sx_identity_add(text, "--sparse-semantics", "%s", o->model.sparse_timeloop ? "timeloop" : "exact");
    sx_identity_add(text, "--like", "%s", o->model.like_timeloop ? "timeloop" : "none");
    sx_identity_add(text, "--latency", "%s", o->model.latency_tile ? "tile" : "timeloop");
    sx_identity_add_digest(text, "--densities", "", hash_densities(&o->model.densities, 0));
    char formats[SX_FORMATS_TEXT_SIZE];
    sx_format_search_text(&o->model.formats, formats);
    sx_identity_add(text, "--formats", "%s", formats);
}

sx_status sx_session_identity(const sx_session *session, char **out) {
    const sx_session_options *o = session->options;
    sx_text text = {0};
    sx_status status = add_inputs(session, &text);
    if (!status) status = sx_search_identity(&text, "--mapper", session->mapper, &o->run);
    if (status) {
        sx_text_free(&text);
        return status;
    }
    add_space(o, &text);
    sx_identity_add(&text, "--warm-start", "%s", sx_warm_name(o->warm));
    sx_identity_add(&text, "--db", "%s", yes_or_no(o->store != NULL));
    sx_identity_add(&text, "--again", "%s", yes_or_no(o->again));
    return sx_text_take(&text, out);
}
