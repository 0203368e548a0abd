/* Projected gradient descent on a surrogate.
 *
 * Source: Mind Mappings (ASPLOS 2021), section 4.2 and appendix A. From a random mapping, steps against the
 * gradient of the predicted objective with respect to the net's inputs, each projected to the nearest legal
 * mapping; every `injection` steps a random mapping is injected. As printed, an injection is accepted as in
 * annealing: T = 50, times 0.75 every 50 injections.
 *
 * What differs as preset. Injections are always accepted: with T = 50 and values around 5 nearly all are, and
 * the ones that are not waste steps. The rate doubles where a step leads back to the same mapping, until the
 * next injection (the released code does so). A mapping is evaluated where it is predicted within `near` of
 * the best so far, or where PATIENCE steps were not. Several chains descend at once, so that threads help, and
 * each begins in turns anywhere and some moves from its own best point, which it forgets after ANEW injections
 * without improvement; the best predicted of `candidates` such mappings is injected.
 * published=on follows the released code: the objective is the sum of all outputs, utilisation with the wrong
 * sign, and the vector goes on as it is, only its projection is evaluated.
 *
 * A chain is the task of a round: `injection` steps and an injection. Complexity: a step is a pass through the
 * net and back and a projection, which takes most of the time. */
#include "base/status.h"
#include "mappers/gradient/gradient.h"
#include "surrogate/shipped.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DOUBLINGS = 8, PATIENCE = 5, ANEW = 100 /* injections without improvement */ };
static const double hot = 50, cooler = 0.75;
enum { COOLED = 50 /* injections */ };

/* State of a chain; then its point, the best one since it began anew, and its vector as the net takes it. */
typedef struct chain {
    sx_rng rng;
    double temperature, rate;
    double predicted;          /* log2 of the objective */
    double best;               /* log2 of the value of its best point; INFINITY: none */
    uint64_t injections, idle; /* steps since the last evaluation */
    uint64_t since;            /* injections since its best point */
    uint64_t begun;
} chain;

/* State of the search, before that of its chains. */
typedef struct head {
    double best;    /* the value of the best point; INFINITY: none */
    uint64_t since; /* descents without improvement */
} head;

/* A chain's room, which no other task uses. */
typedef struct room {
    sx_matrix_engine *engine;
    sx_nn_pass *pass;
    float *input, *gradient, *target;
    double *values;
    unsigned char *next, *chosen;
} room;

typedef struct searcher {
    sx_run *run;
    const sx_space *space;
    const sx_surrogate *surrogate;
    sx_view view;
    size_t chains, size, each; /* bytes of a point, and of a chain's block */
    size_t n_inputs, screen, candidates;
    bool printed, published, random, returns;
    uint64_t injection, victory;
    double rate, length, near;
    double best; /* log2 of the best value before the round */
    head *head;
    unsigned char *state; /* of the chains, then of those after a round */
    room *room;
} searcher;

/* A chain at work in a task. */
typedef struct descent {
    const searcher *s;
    const room *r;
    sx_worker *worker;
    chain *c;
    unsigned char *point;
    float *vector;
    double best; /* log2 of the best value known to it */
} descent;

static unsigned char *point_of(chain *c) {
    return (unsigned char *)(c + 1);
}

static unsigned char *best_of(const searcher *s, chain *c) {
    return point_of(c) + s->size;
}

static float *vector_of(const searcher *s, chain *c) {
    return (float *)(point_of(c) + 2 * s->size);
}

/* Predicts the objective of the room's next point, whose inputs it leaves there. */
static double predict_point(const descent *d, const unsigned char *point) {
    sx_space_encode(d->s->space, point, d->r->values);
    sx_view_inputs(&d->s->view, point, d->r->values, d->r->input);
    return sx_view_predict(&d->s->view, sx_nn_forward(d->r->pass, d->r->input, 1));
}

/* Whether a point that is predicted so is to be evaluated. */
static bool is_near(descent *d, double predicted) {
    const searcher *s = d->s;
    d->c->idle++;
    if (s->printed || s->published || s->near == 0) return true;
    return !(predicted > d->best + log2(1 + s->near)) || d->c->idle >= PATIENCE;
}

/* Evaluates a point where that is due. */
static void consider_point(descent *d, const unsigned char *point, double predicted) {
    if (!is_near(d, predicted)) return;
    sx_outcome is = sx_worker_evaluate(d->worker, point, true);
    d->c->idle = 0;
    if (is.reason != 0) return;
    double value = log2(is.value);
    if (value < d->best) d->best = value;
    if (!(value < d->c->best)) return;
    d->c->best = value;
    d->c->since = 0;
    memcpy(best_of(d->s, d->c), point, d->s->size);
}

/* Writes the direction of the next step from the chain's vector: against the gradient, or any. */
static void find_direction(descent *d, const float *from) {
    const searcher *s = d->s;
    float *g = d->r->gradient;
    if (s->random) {
        double sum = 0;
        for (size_t i = 0; i < s->n_inputs; i++) {
            double u =
                sx_rng_double(&d->c->rng) + sx_rng_double(&d->c->rng) + sx_rng_double(&d->c->rng) - 1.5;
            g[i] = s->view.source[i] < 0 ? 0 : (float)u;
            sum += (double)g[i] * (double)g[i];
        }
        double scale = sum > 0 ? s->length / sqrt(sum) : 0;
        for (size_t i = 0; i < s->n_inputs; i++) g[i] = (float)(g[i] * scale);
        return;
    }
    float output[SX_MAX_OUTPUTS];
    sx_view_gradient(&s->view, sx_nn_forward(d->r->pass, from, 1), s->published, output);
    sx_nn_backward(d->r->pass, output, NULL, g);
}

/* Steps from `from` along the direction and projects; false where no legal point was found. Leaves the vector
 * that was reached in the room's target. */
static bool step_point(const descent *d, const float *from) {
    const searcher *s = d->s;
    sx_space_encode(s->space, d->point, d->r->values);
    for (size_t i = 0; i < s->n_inputs; i++)
        d->r->target[i] = from[i] - (float)d->c->rate * d->r->gradient[i];
    sx_view_values(&s->view, d->point, d->r->target, d->r->values);
    return sx_space_project(s->space, d->r->values, d->r->next);
}

/* Descends one step; false where that leads nowhere. */
static bool descend_once(descent *d) {
    const searcher *s = d->s;
    int tries = s->printed ? 1 : DOUBLINGS;
    float *from = d->vector;
    find_direction(d, from);
    while (tries-- > 0 && !sx_worker_stopped(d->worker)) {
        if (!step_point(d, from)) return false;
        if (s->printed || memcmp(d->r->next, d->point, s->size) != 0) {
            memcpy(d->point, d->r->next, s->size);
            d->c->predicted = predict_point(d, d->point);
            memcpy(d->vector, s->published ? d->r->target : d->r->input, s->n_inputs * sizeof *d->vector);
            consider_point(d, d->point, d->c->predicted);
            return true;
        }
        d->c->rate *= 2;
    }
    return false;
}

/* Whether an injection is taken. */
static bool accepts_injection(descent *d, double predicted) {
    const searcher *s = d->s;
    chain *c = d->c;
    if (!c->begun || !s->printed) return true;
    double rise = exp2(predicted - s->view.minimum) - exp2(c->predicted - s->view.minimum);
    return rise <= 0 || exp(-rise / c->temperature) > sx_rng_double(&c->rng);
}

/* Draws a mapping into the room's next point: any, or one that is some moves from the chain's best. */
static bool draw_mapping(descent *d, bool near) {
    const searcher *s = d->s;
    uint64_t rejected = 0;
    if (near) {
        sx_gradient_move(s->space, &d->c->rng, best_of(s, d->c), d->r->next, sx_worker_scratch(d->worker, 0));
        return true;
    }
    bool legal = sx_space_draw_legal(s->space, &d->c->rng, d->r->next, &rejected);
    sx_worker_reject(d->worker, rejected);
    return legal;
}

/* Injects the best predicted of some mappings, in turns any and near to the chain's best; false where there seems to
 * be no legal one. */
static bool inject_point(descent *d) {
    const searcher *s = d->s;
    chain *c = d->c;
    double predicted = INFINITY;
    if (++c->since > ANEW) c->best = INFINITY;
    bool near = s->returns && c->best < INFINITY && c->injections % 2;
    for (size_t i = 0; i < s->candidates; i++) {
        if (!draw_mapping(d, near)) return false;
        double now = predict_point(d, d->r->next);
        if (i > 0 && !(now < predicted)) continue;
        predicted = now;
        memcpy(d->r->chosen, d->r->next, s->size);
    }
    predicted = predict_point(d, d->r->chosen);
    consider_point(d, d->r->chosen, predicted);
    if (accepts_injection(d, predicted)) {
        memcpy(d->point, d->r->chosen, s->size);
        memcpy(d->vector, d->r->input, s->n_inputs * sizeof *d->vector);
        c->predicted = predicted;
        c->begun = 1;
    }
    c->rate = s->rate;
    if (++c->injections % COOLED == 0) c->temperature *= cooler;
    return true;
}

/* Evaluates the best predicted of some random mappings. */
static bool screen_draws(descent *d) {
    const searcher *s = d->s;
    double least = INFINITY;
    uint64_t rejected = 0;
    for (size_t i = 0; i < s->screen; i++) {
        if (!sx_space_draw_legal(s->space, &d->c->rng, d->r->next, &rejected)) return false;
        double predicted = predict_point(d, d->r->next);
        if (!(predicted < least)) continue;
        least = predicted;
        memcpy(d->point, d->r->next, s->size);
    }
    sx_worker_reject(d->worker, rejected);
    sx_worker_evaluate(d->worker, d->point, true);
    return true;
}

/* A round of a chain: an injection and the steps after it, or `injection` screenings. */
static sx_status do_round(const void *input, size_t task, sx_worker *worker, void *output) {
    const searcher *s = input;
    memcpy(output, s->state + task * s->each, s->each);
    descent d = {.s = s, .r = &s->room[task], .worker = worker, .c = output, .best = s->best};
    d.point = point_of(d.c);
    d.vector = vector_of(s, d.c);
    if (s->screen) {
        for (uint64_t i = 0; i < s->injection && sx_worker_goes_on(worker); i++)
            if (!screen_draws(&d)) break;
        return SX_OK;
    }
    if (!inject_point(&d)) return SX_OK;
    for (uint64_t i = 0; i < s->injection && sx_worker_goes_on(worker); i++)
        if (!descend_once(&d) && !s->printed) break;
    return SX_OK;
}

/* Makes the rooms of all chains. */
static sx_status make_rooms(searcher *s) {
    s->room = calloc(s->chains, sizeof *s->room);
    if (!s->room) return sx_error_memory();
    for (size_t i = 0; i < s->chains; i++) {
        room *r = &s->room[i];
        SX_TRY(sx_matrix_engine_new(SX_MATRIX_OWN, NULL, &r->engine));
        SX_TRY(sx_nn_pass_new(s->surrogate->net, r->engine, 1, &r->pass));
        r->input = calloc(3 * s->n_inputs, sizeof *r->input);
        r->values = calloc(s->space->n_values + 1, sizeof *r->values);
        r->next = calloc(2, s->size);
        if (!r->input || !r->values || !r->next) return sx_error_memory();
        r->gradient = r->input + s->n_inputs;
        r->target = r->gradient + s->n_inputs;
        r->chosen = r->next + s->size;
    }
    return SX_OK;
}

static void free_rooms(searcher *s) {
    for (size_t i = 0; s->room && i < s->chains; i++) {
        sx_nn_pass_free(s->room[i].pass);
        sx_matrix_engine_free(s->room[i].engine);
        free(s->room[i].input);
        free(s->room[i].values);
        free(s->room[i].next);
    }
    free(s->room);
}

/* Begins the chains. */
static void begin_chains(searcher *s) {
    for (size_t i = 0; i < s->chains; i++) {
        chain *c = (chain *)(void *)(s->state + i * s->each);
        c->rng = sx_rng_stream(sx_run_seed(s->run), "gradient", i);
        c->temperature = hot;
        c->rate = s->rate;
        c->best = INFINITY;
        memcpy(s->state + (s->chains + i) * s->each, c, s->each);
    }
    s->head->best = INFINITY;
    sx_run_evaluate_starts(s->run, 0);
}

/* Whether the state is one that a search may have. */
static bool state_holds(const searcher *s) {
    if (isnan(s->head->best)) return false;
    for (size_t i = 0; i < s->chains; i++) {
        chain *c = (chain *)(void *)(s->state + i * s->each);
        if (!sx_rng_holds(&c->rng) || c->begun > 1 || !isfinite(c->rate) || !isfinite(c->predicted) ||
            isnan(c->best) || !(c->temperature >= 0))
            return false;
        if ((c->begun && !sx_run_holds(s->run, point_of(c), 1)) ||
            (c->best < INFINITY && !sx_run_holds(s->run, best_of(s, c), 1)))
            return false;
        for (size_t v = 0; v < s->n_inputs; v++)
            if (!isfinite(vector_of(s, c)[v])) return false;
    }
    return true;
}

/* Counts the descents without improvement; true when there are too many. */
static bool is_over(searcher *s) {
    double value = INFINITY;
    (void)sx_run_incumbent(s->run, &value);
    s->head->since = value < s->head->best ? 0 : s->head->since + s->chains;
    s->head->best = value;
    return s->victory && s->head->since >= s->victory;
}

/* Searches, with all there is. */
static sx_status descend_surrogate(searcher *s) {
    bool resumed;
    s->head = sx_run_state(s->run, sizeof *s->head + 2 * s->chains * s->each, &resumed);
    if (!s->head) return sx_error_memory();
    s->state = (unsigned char *)(s->head + 1);
    if (resumed && !state_holds(s)) return sx_run_damaged(s->run);
    if (!resumed) begin_chains(s);
    while (sx_run_continue(s->run)) {
        unsigned char *next = s->state + s->chains * s->each;
        double value;
        s->best = sx_run_incumbent(s->run, &value) ? log2(value) : INFINITY;
        sx_run_tasks(s->run, s->chains, do_round, s, next, s->each);
        memcpy(s->state, next, s->chains * s->each);
        bool none = !((chain *)(void *)s->state)->begun && !s->screen;
        if (!sx_run_stopped(s->run) && (none || is_over(s))) break;
    }
    return SX_OK;
}

/* Reads the settings. */
static void read_settings(searcher *s) {
    sx_run *run = s->run;
    s->chains = (size_t)sx_run_setting(run, SX_GRADIENT_CHAINS);
    s->printed = sx_run_setting(run, SX_GRADIENT_PRINTED) == 1;
    s->published = sx_run_setting(run, SX_GRADIENT_PUBLISHED) == 1;
    s->random = sx_run_setting(run, SX_GRADIENT_DIRECTION) == 1;
    s->screen = (size_t)sx_run_setting(run, SX_GRADIENT_SCREEN);
    s->rate = sx_run_setting(run, SX_GRADIENT_RATE);
    s->injection = (uint64_t)sx_run_setting(run, SX_GRADIENT_INJECTION);
    s->near = sx_run_setting(run, SX_GRADIENT_NEAR);
    s->length = sx_run_setting(run, SX_GRADIENT_LENGTH);
    s->victory = (uint64_t)sx_run_setting(run, SX_GRADIENT_VICTORY);
    if (s->printed || s->published || s->screen) s->victory = 0;
    if (s->printed || s->published) s->chains = 1;
    s->n_inputs = s->surrogate->encoding.n_inputs;
    s->size = s->space->point_size;
    s->returns = !s->printed && !s->published;
    s->candidates = s->returns && !s->random ? (size_t)sx_run_setting(run, SX_GRADIENT_CANDIDATES) : 1;
    s->each = (sizeof(chain) + 2 * s->size + s->n_inputs * sizeof(float) + 15) / 16 * 16;
}

/* Reads the surrogate that is named, or finds the one that fits. */
static sx_status find_surrogate(sx_run *run, const sx_map_space *space, sx_surrogate **out) {
    const char *path = sx_run_setting_text(run, SX_GRADIENT_SURROGATE);
    return *path ? sx_surrogate_read(path, out) : sx_shipped_find(space, sx_run_objective(run), out);
}

sx_status sx_gradient_by_surrogate(sx_run *run) {
    const sx_map_space *space = sx_map_space_of(sx_run_space(run));
    bool anyway = sx_run_setting(run, SX_GRADIENT_FIT) == 1;
    sx_surrogate *surrogate;
    SX_TRY(find_surrogate(run, space, &surrogate));
    searcher *s = calloc(1, sizeof *s);
    sx_status status = s ? SX_OK : sx_error_memory();
    if (!status) {
        *s = (searcher){.run = run, .space = &space->space, .surrogate = surrogate};
        status = sx_view_init(surrogate, space, sx_run_objective(run), anyway, &s->view);
    }
    if (!status) {
        read_settings(s);
        status = make_rooms(s);
        if (!status) status = descend_surrogate(s);
        free_rooms(s);
    }
    free(s);
    sx_surrogate_free(surrogate);
    return status;
}
