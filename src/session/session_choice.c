/* An objective of a whole network, a product of its energy and its cycles: one mapping of each layer's front is chosen
 * (front_choice.c). The bound is the same choice where fronts that are proven stand for themselves, and any other layer has
 * the energies and cycles that its lower bounds leave: no less than the compulsory minimum of either, and a product no less
 * than what the search has proven of it. */
#include "base/status.h"
#include "mapspace/map_space.h"
#include "session/front_choice.h"
#include "session/session.h"
#include "sextant/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ROUNDING = 1e-12;

/* The choice: a front of each distinct layer, and room for their points. */
typedef struct choice {
    sx_session *session;
    sx_choice_front *front;
    size_t *layer; /* of each front */
    size_t n;
    sx_front_point *point;
} choice;

/* Whether what is proven of a layer holds of any tiles. */
static bool holds_any(const sx_session *session, const sx_layer_result *result) {
    return session->options->space.remainders || result->remainders || result->any_optimal;
}

/* The least energy and the least cycles of all mappings of a layer. */
static sx_status find_least(const sx_session *session, size_t index, sx_front_point *out) {
    const sx_problem *problem = &session->network->layer[index].problem;
    sx_constraints *constraints = malloc(sizeof *constraints);
    sx_model *model = NULL;
    sx_space *space = NULL;
    sx_status status =
        constraints ? sx_session_constraints(session, problem, constraints) : sx_error_memory();
    if (!status) status = sx_model_new(problem, session->arch, &session->options->model, &model);
    if (!status) status = sx_map_space_new(model, constraints, &session->options->space, &space);
    if (status && status->code == SX_ERR_INPUT && model) {
        sx_status_free(status); /* no tiles divide: remainders gave the front */
        status = SX_OK;
    }
    if (!status) {
        const uint8_t kept = space ? sx_map_space_of(space)->fixed_keep[session->arch->n_levels - 1] : 0;
        const sx_score least = sx_model_minimum(model, kept);
        *out = (sx_front_point){least.energy_pj, least.cycles};
    }
    sx_space_free(space);
    sx_model_free(model);
    free(constraints);
    return status;
}

/* Points a front at the answers of its layer, leaving room for as many after them; returns the first free point. */
static sx_front_point *set_front(const choice *c, size_t i, sx_front_point *room) {
    const sx_layer_result *result = &c->session->out->layer[c->layer[i]];
    c->front[i] = (sx_choice_front){room, result->n_front, sx_session_times(c->session, c->layer[i]), 0};
    for (size_t k = 0; k < result->n_front; k++)
        *room++ = (sx_front_point){result->front[k].score.energy_pj, result->front[k].score.cycles};
    return room;
}

/* Makes the chosen points the answers of their layers. */
static void take_points(const choice *c) {
    const sx_objective *objective = &c->session->options->run.objective;
    for (size_t i = 0; i < c->n; i++) {
        sx_layer_result *result = &c->session->out->layer[c->layer[i]];
        const sx_problem *problem = &c->session->network->layer[c->layer[i]].problem;
        result->best = result->front[c->front[i].chosen];
        result->best.value = sx_objective_value(objective, &result->best.score);
        result->remainders = result->widened && !sx_mapping_perfect(&result->best.mapping, problem);
    }
}

/* Bounds the product of all choices: front by front, what is not proven gets the region that its bounds leave. */
static sx_status bound_choices(choice *c) {
    sx_session_result *out = c->session->out;
    const sx_criterion *criterion = &c->session->options->run.objective.criterion[0];
    sx_front_point(*relaxed)[SX_RELAXED_POINTS] = calloc(c->n + 1, sizeof *relaxed);
    bool proven = true;
    double bound;
    sx_status status = relaxed ? SX_OK : sx_error_memory();
    for (size_t i = 0; i < c->n && !status; i++) {
        const sx_layer_result *result = &out->layer[c->layer[i]];
        sx_front_point least;
        if (result->summary.optimal) continue;
        proven = false;
        status = find_least(c->session, c->layer[i], &least);
        if (status) continue;
        c->front[i].point = relaxed[i];
        c->front[i].n = sx_front_relax(&least, result->summary.lower_bound, criterion, relaxed[i]);
    }
    if (!status) status = sx_front_choose(c->front, c->n, criterion, &bound);
    if (!status)
        out->network_bound = proven ? out->network_value : fmin(bound * (1 - ROUNDING), out->network_value);
    free(relaxed);
    return status;
}

/* Chooses among fronts that are there, and bounds the choice. */
static sx_status choose_points(choice *c) {
    sx_session_result *out = c->session->out;
    const sx_criterion *criterion = &c->session->options->run.objective.criterion[0];
    sx_front_point *room = c->point;
    out->any_tiles = true;
    for (size_t i = 0; i < c->n; i++) {
        room = set_front(c, i, room);
        out->any_tiles &= holds_any(c->session, &out->layer[c->layer[i]]);
    }
    SX_TRY(sx_front_choose(c->front, c->n, criterion, &out->network_value));
    take_points(c);
    return bound_choices(c);
}

/* Frees the fronts of all layers. */
static void drop_fronts(const choice *c) {
    for (size_t i = 0; i < c->n; i++) {
        sx_layer_result *result = &c->session->out->layer[c->layer[i]];
        free(result->front);
        result->front = NULL;
        result->n_front = 0;
    }
}

sx_status sx_session_choose(sx_session *session, bool fronts) {
    const size_t n = session->network->n_layers;
    choice c = {.session = session};
    size_t points = 0;
    bool found = true;
    c.layer = calloc(n + 1, sizeof *c.layer);
    c.front = calloc(n + 1, sizeof *c.front);
    for (size_t i = 0; i < n && c.layer; i++) {
        if (session->first[i] != i) continue;
        c.layer[c.n++] = i;
        points += session->out->layer[i].n_front;
        found &= session->out->layer[i].n_front > 0;
    }
    c.point = calloc(points + 1, sizeof *c.point);
    sx_status status = c.layer && c.front && c.point ? SX_OK : sx_error_memory();
    if (!status && found) status = choose_points(&c);
    if (!status && !fronts) drop_fronts(&c);
    free(c.layer);
    free(c.front);
    free(c.point);
    return status;
}
