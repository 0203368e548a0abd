/* What decides a session's results, as text: two sessions of one identity give the same results (a database
 * aside, whose records may have changed). Neither threads nor the cache are in it. */
#include "base/hash.h"
#include "session/session.h"
#include "sextant/all.h"

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

sx_status sx_session_identity(const sx_session *session, char **out) {
    const sx_session_options *o = session->options;
    const uint64_t order = 0x0102030405060708;
    sx_text text = {0};
    uint64_t constraints;
    SX_TRY(hash_all_constraints(session, &constraints));
    sx_text_add(&text, "version %s\n", sx_version());
    sx_text_add(&text, "layout %d.%zu.%zu\n", *(const unsigned char *)&order, sizeof(sx_answer),
                sizeof(size_t));
    sx_text_add(&text, "network %s %016llx\n", session->network->name,
                (unsigned long long)hash_network(session->network));
    sx_text_add(&text, "architecture %s %016llx\n", session->arch->name,
                (unsigned long long)sx_hash_bytes(session->arch, sizeof *session->arch, 0));
    sx_text_add(&text, "constraints %016llx\n", (unsigned long long)constraints);
    if (o->outside) sx_text_add(&text, "evaluator exec:%s\n", sx_outside_evaluator_command(o->outside));
    sx_text_add(&text, "mapper %s\n", session->mapper);
    sx_text_add(&text, "objective %s, tolerance %.17g\n", session->objective, o->run.objective.tolerance);
    sx_text_add(&text, "seed %llu\n", (unsigned long long)o->run.seed);
    sx_text_add(&text, "evaluations %llu\n", (unsigned long long)o->run.evaluations);
    sx_text_add(&text, "time %.17g\n", o->run.seconds);
    sx_text_add(&text, "target %.17g\n", o->run.target);
    sx_text_add(&text, "patience %llu\n", (unsigned long long)o->run.patience);
    sx_text_add(&text, "k-best %u\n", o->run.k_best ? o->run.k_best : 1);
    sx_text_add(&text, "pareto %s\n", yes_or_no(o->run.pareto));
    sx_text_add(&text, "certificate %s\n", yes_or_no(o->run.proof));
    sx_text_add(&text, "remainders %s\n", o->widen ? "beside" : yes_or_no(o->space.remainders));
    sx_text_add(&text, "keep-all %s\n", yes_or_no(o->space.keep_all));
    sx_text_add(&text, "no-banks %s\n", yes_or_no(o->space.no_banks));
    sx_text_add(&text, "no-first-read-elision %s\n", yes_or_no(o->model.no_first_read_elision));
    sx_text_add(&text, "no-link-transfers %s\n", yes_or_no(o->model.no_link_transfers));
    if (o->space.split_axes) sx_text_add(&text, "split-axes yes\n");
    if (o->model.sparse_timeloop) sx_text_add(&text, "sparse-semantics timeloop\n");
    if (o->model.like_timeloop) sx_text_add(&text, "like timeloop\n");
    if (o->model.latency_tile) sx_text_add(&text, "latency tile\n");
    if (o->model.densities.n)
        sx_text_add(&text, "densities %016llx\n", (unsigned long long)hash_densities(&o->model.densities, 0));
    if (o->model.formats.kinds) sx_text_add(&text, "search-formats %d\n", o->model.formats.kinds);
    sx_text_add(&text, "warm-start %s\n", sx_warm_name(o->warm));
    sx_text_add(&text, "database %s\n", yes_or_no(o->store != NULL));
    sx_text_add(&text, "again %s\n", yes_or_no(o->again));
    return sx_text_take(&text, out);
}
