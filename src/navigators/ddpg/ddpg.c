/* Reinforcement learning on any space whose points have vectors and can be projected.
 *
 * Source: the baseline of Mind Mappings (ASPLOS 2021), section 5.2 and appendix A: deep deterministic policy gradient as
 * in HAQ (CVPR 2019). A state is a point, as its vector; an action is the vector of a point to go to, which is
 * projected to the nearest legal point; the reward is the fall of the logarithm of the objective. An episode begins
 * at a random point. Actor and critic are networks of two hidden layers. The first actions are random; then an action
 * is the actor's with a truncated normal deviation that falls from episode to episode. Every transition is stored, and
 * pays for one update by a batch of stored ones, whose rewards have their moving average taken off.
 *
 * What differs. Vectors are scaled to 0..1 by the range of draws. A random action is that of a legal draw, also later
 * with probability `draws`, and where an action leads to a point that is stored already: otherwise a converged
 * policy evaluates the same point again and again. Rewards are divided by the deviation of those stored. LANES episodes
 * go on side by side, so that threads help: their actions are chosen before any of them is evaluated.
 *
 * Complexity: an evaluation costs a projection and an update, O(batch * width * (width + values)). */
#include "base/status.h"
#include "learn/elementary.h"
#include "navigators/ddpg/agent.h"
#include "run/navigator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH, BATCH, REPLAY, STEPS, WARMUP, NOISE, DECAY, DRAWS, ACTOR, CRITIC, TAU, DISCOUNT };

static const sx_setting settings[] = {
    [WIDTH] = {"width", "neurons of a hidden layer", "300, HAQ's", 64, 1, 400, SX_SETTING_WHOLE, NULL},
    [BATCH] = {"batch", "transitions of an update", "64, HAQ's", 64, 8, 256, SX_SETTING_WHOLE, NULL},
    [REPLAY] = {"replay", "transitions that are stored", "128, HAQ's", 1024, 16, 1000000, SX_SETTING_WHOLE,
                NULL},
    [STEPS] = {"steps", "actions of an episode", "1", 1, 1, 1e9, SX_SETTING_WHOLE, NULL},
    [WARMUP] = {"warmup", "episodes of random actions", "20, HAQ's", 64, 0, 1e9, SX_SETTING_WHOLE, NULL},
    [NOISE] = {"noise", "deviation of the first actions after these", "0.5, HAQ's", 0.5, 0, 10,
               SX_SETTING_NUMBER, NULL},
    [DECAY] = {"decay", "by which the deviation falls, per episode", "0.99, HAQ's", 0.998, 0, 1,
               SX_SETTING_NUMBER, NULL},
    [DRAWS] = {"draws", "share of random actions", "0", 0.1, 0, 1, SX_SETTING_NUMBER, NULL},
    [ACTOR] = {"actor", "learning rate of the actor", "0.0001, HAQ's", 1e-3, 0, 1, SX_SETTING_NUMBER, NULL},
    [CRITIC] = {"critic", "learning rate of the critic", "0.001, HAQ's", 1e-3, 0, 1, SX_SETTING_NUMBER, NULL},
    [TAU] = {"tau", "how fast the target networks follow", "0.01, HAQ's", 0.01, 0, 1, SX_SETTING_NUMBER,
             NULL},
    [DISCOUNT] = {"discount", "weight of later rewards", "1, HAQ's", 1, 0, 1, SX_SETTING_NUMBER, NULL},
};

enum { LANES = 8, SCALE_DRAWS = 256, DRAW_TRIES = 16 };
static const double least_noise = 0.02;

/* State of a search: this, then the rewards of the stored transitions, then all their floats, those of the
 * lanes' states and those of the agent, then the points that the stored transitions led to, and the lanes' points. */
typedef struct state {
    sx_rng rng;
    uint64_t begun;    /* the start points are evaluated */
    uint64_t episodes; /* that have ended, over all lanes */
    uint64_t stored;   /* transitions, all that there were */
    uint64_t step[LANES];
    double average; /* of rewards */
} state;

typedef struct ddpg {
    sx_run *run;
    const sx_space *space;
    size_t size, n, replay, batch;
    uint64_t steps;
    state *s;
    double *reward;                      /* replay */
    float *from, *action, *to, *is_last; /* replay x n; replay */
    float *numbers;                      /* of the agent */
    unsigned char *led_to, *lane;        /* replay points, LANES points */
    sx_agent *agent;
    double *low, *range; /* n each: scale vectors to 0..1 */
    double *vector;      /* n */
    sx_transitions sample;
    float *lane_state, *lane_action; /* batch x n */
    void *memory;
} ddpg;

/* What a lane's task is told and what it makes of it. */
typedef struct move {
    uint64_t random; /* draw a point instead */
    sx_outcome outcome;
    uint64_t done; /* there is a point */
} move;

/* Blocks of the state and of what can be made anew. */
static sx_status allocate_state(ddpg *g, bool *resumed) {
    size_t n = g->n, m = g->replay, floats = m * (3 * n + 1) + sx_agent_size(g->agent);
    floats += floats % 2;
    size_t total = sizeof *g->s + m * sizeof *g->reward + floats * sizeof(float) + (m + LANES) * g->size;
    g->s = sx_run_state(g->run, total, resumed);
    size_t rows = g->batch > LANES ? g->batch : LANES;
    g->memory = calloc(1, 3 * n * sizeof(double) + (g->batch * (3 * n + 2) + 2 * rows * n) * sizeof(float));
    if (!g->s || !g->memory) return sx_error_memory();
    g->reward = (double *)(g->s + 1);
    g->from = (float *)(g->reward + m);
    g->action = g->from + m * n;
    g->to = g->action + m * n;
    g->is_last = g->to + m * n;
    g->numbers = g->is_last + m;
    g->led_to = (unsigned char *)(g->from + floats);
    g->lane = g->led_to + m * g->size;
    g->low = g->memory;
    g->range = g->low + n;
    g->vector = g->range + n;
    g->sample.state = (float *)(g->vector + n);
    g->sample.action = g->sample.state + g->batch * n;
    g->sample.next = g->sample.action + g->batch * n;
    g->sample.reward = g->sample.next + g->batch * n;
    g->sample.last = g->sample.reward + g->batch;
    g->lane_state = g->sample.last + g->batch;
    g->lane_action = g->lane_state + rows * n;
    return SX_OK;
}

/* Finds the range of every number of a vector over draws; false where none is legal. `scratch` is room for a point. */
static bool find_scale(ddpg *g, unsigned char *scratch) {
    sx_rng rng = sx_rng_stream(sx_run_seed(g->run), "ddpg.scale", 0);
    size_t found = 0;
    for (size_t i = 0; i < SCALE_DRAWS && (found > 0 || i < DRAW_TRIES); i++) {
        if (!sx_space_draw_legal(g->space, &rng, scratch, NULL)) continue;
        sx_space_encode(g->space, scratch, g->vector);
        for (size_t k = 0; k < g->n; k++) {
            double high = found ? fmax(g->low[k] + g->range[k], g->vector[k]) : g->vector[k];
            g->low[k] = found ? fmin(g->low[k], g->vector[k]) : g->vector[k];
            g->range[k] = high - g->low[k];
        }
        found++;
    }
    return found > 0;
}

/* The scaled vector of a point. */
static void vector_of(const ddpg *g, const void *point, double *scratch, float *out) {
    sx_space_encode(g->space, point, scratch);
    for (size_t k = 0; k < g->n; k++)
        out[k] = (float)(g->range[k] > 0 ? (scratch[k] - g->low[k]) / g->range[k] : 0.5);
}

/* A normal deviate around a middle, within 0 and 1. */
static float truncated_normal(sx_rng *rng, float middle, double deviation) {
    for (int i = 0; i < 100; i++) {
        double x = middle + deviation * sx_normal(rng);
        if (x >= 0 && x <= 1) return (float)x;
    }
    return middle;
}

/* Whether a point is one that a stored transition led to. */
static bool is_stored(const ddpg *g, const void *point) {
    uint64_t n = g->s->stored < g->replay ? g->s->stored : g->replay;
    for (uint64_t i = 0; i < n; i++)
        if (memcmp(g->led_to + i * g->size, point, g->size) == 0) return true;
    return false;
}

/* The input of the lanes' tasks, and their output: a move and its point. */
typedef struct round {
    const ddpg *g;
    uint64_t number;
    const bool *random;
} round_of_moves;

/* A task: goes where a lane's action says, or to a draw, and evaluates the point. */
static sx_status make_move(const void *input, size_t lane, sx_worker *worker, void *output) {
    const round_of_moves *r = input;
    const ddpg *g = r->g;
    move *m = output;
    unsigned char *point = (unsigned char *)(m + 1);
    sx_rng rng = sx_rng_stream(sx_run_seed(g->run), "ddpg.move", r->number * LANES + lane);
    bool drawn = r->random[lane];
    if (!drawn) {
        double *values = malloc(g->n * sizeof *values);
        if (!values) return sx_error_memory();
        for (size_t k = 0; k < g->n; k++)
            values[k] = g->low[k] + g->range[k] * (double)g->lane_action[lane * g->n + k];
        drawn = !sx_space_project(g->space, values, point) || is_stored(g, point);
        free(values);
    }
    if (drawn) {
        uint64_t rejected = 0;
        bool legal = sx_space_draw_legal(g->space, &rng, point, &rejected);
        sx_worker_reject(worker, rejected);
        if (!legal) return SX_OK;
    }
    m->random = drawn;
    m->outcome = sx_worker_evaluate(worker, point, false);
    m->done = m->outcome.reason != SX_NOT_EVALUATED;
    return SX_OK;
}

/* What an outcome is worth: the higher the better. What is illegal is worth as much as the worst that is stored. */
static double outcome_worth(const ddpg *g, const sx_outcome *outcome) {
    if (isfinite(outcome->value)) return outcome->value > 0 ? -sx_log(outcome->value) : -outcome->value;
    uint64_t n = g->s->stored < g->replay ? g->s->stored : g->replay;
    double least = 0;
    for (uint64_t i = 0; i < n; i++) least = i ? fmin(least, g->reward[i]) : g->reward[i];
    return least;
}

/* Stores the transition of a lane, and lets it go on, or begin a new episode at a draw. */
static bool store_transition(ddpg *g, size_t lane, const move *m, const unsigned char *point) {
    state *s = g->s;
    size_t at = s->stored % g->replay, n = g->n;
    bool ends = ++s->step[lane] >= g->steps;
    float *to = g->to + at * n;
    g->reward[at] = outcome_worth(g, &m->outcome);
    memcpy(g->led_to + at * g->size, point, g->size);
    memcpy(g->from + at * n, g->lane_state + lane * n, n * sizeof *to);
    vector_of(g, point, g->vector, to);
    memcpy(g->action + at * n, m->random ? to : g->lane_action + lane * n, n * sizeof *to);
    g->is_last[at] = ends;
    s->stored++;
    memcpy(g->lane + lane * g->size, point, g->size);
    if (!ends) return true;
    s->step[lane] = 0;
    s->episodes++;
    return sx_space_draw_legal(g->space, &s->rng, g->lane + lane * g->size, NULL);
}

/* One update by a batch of stored transitions. */
static void update_agent(ddpg *g) {
    state *s = g->s;
    uint64_t stored = s->stored < g->replay ? s->stored : g->replay;
    double sum = 0, squares = 0, batch = 0;
    for (uint64_t i = 0; i < stored; i++) sum += g->reward[i];
    for (uint64_t i = 0; i < stored; i++)
        squares += (g->reward[i] - sum / (double)stored) * (g->reward[i] - sum / (double)stored);
    double deviation = sqrt(squares / (double)stored);
    for (size_t i = 0; i < g->batch; i++) {
        size_t at = (size_t)sx_rng_below(&s->rng, stored), bytes = g->n * sizeof(float);
        memcpy(g->sample.state + i * g->n, g->from + at * g->n, bytes);
        memcpy(g->sample.action + i * g->n, g->action + at * g->n, bytes);
        memcpy(g->sample.next + i * g->n, g->to + at * g->n, bytes);
        double scaled = deviation > 0 ? g->reward[at] / deviation : 0;
        g->sample.reward[i] = (float)(scaled - s->average);
        g->sample.last[i] = g->is_last[at];
        batch += scaled;
    }
    batch /= (double)g->batch;
    double shift = s->average;
    s->average += 0.5 * (batch - s->average);
    for (size_t i = 0; i < g->batch; i++) g->sample.reward[i] += (float)(shift - s->average);
    sx_agent_learn(g->agent, &g->sample);
}

/* Chooses the actions of all lanes. */
static void choose_actions(ddpg *g, bool *random) {
    state *s = g->s;
    double warmup = sx_run_setting(g->run, WARMUP), after = fmax((double)s->episodes - warmup, 0);
    double noise = sx_run_setting(g->run, NOISE) * sx_exp(after * sx_log(sx_run_setting(g->run, DECAY)));
    noise = fmax(noise, least_noise);
    for (size_t i = 0; i < LANES; i++)
        vector_of(g, g->lane + i * g->size, g->vector, g->lane_state + i * g->n);
    sx_agent_act(g->agent, g->lane_state, LANES, g->lane_action);
    for (size_t i = 0; i < LANES; i++) {
        random[i] = (double)s->episodes < warmup || sx_rng_double(&s->rng) < sx_run_setting(g->run, DRAWS);
        float *action = g->lane_action + i * g->n;
        for (size_t k = 0; k < g->n; k++) action[k] = truncated_normal(&s->rng, action[k], noise);
    }
}

/* A move of every lane, and as many updates as there were evaluations; false where there is no legal point. */
static bool play_moves(ddpg *g, unsigned char *moves) {
    bool random[LANES], found = false;
    size_t each = sizeof(move) + g->size, n = 0;
    choose_actions(g, random);
    memset(moves, 0, LANES * each);
    const round_of_moves r = {g, g->s->stored, random};
    sx_run_tasks(g->run, LANES, make_move, &r, moves, each);
    for (size_t i = 0; i < LANES; i++) {
        const move *m = (const move *)(const void *)(moves + i * each);
        if (!m->done) continue;
        found = store_transition(g, i, m, (const unsigned char *)(m + 1)) || found;
        n++;
    }
    for (; n > 0 && !sx_run_stopped(g->run); n--)
        if (g->s->stored >= LANES) update_agent(g);
    sx_agent_write(g->agent, g->numbers);
    return found || sx_run_stopped(g->run);
}

/* Whether the state is one that a search may have. */
static bool state_holds(const ddpg *g) {
    const state *s = g->s;
    uint64_t stored = s->stored < g->replay ? s->stored : g->replay;
    if (!sx_rng_holds(&s->rng) || s->begun > 1 || !isfinite(s->average)) return false;
    for (uint64_t i = 0; i < stored; i++)
        if (!isfinite(g->reward[i]) || !(g->is_last[i] == 0 || g->is_last[i] == 1)) return false;
    for (uint64_t i = 0; i < stored * g->n; i++)
        if (!isfinite(g->from[i]) || !isfinite(g->action[i]) || !isfinite(g->to[i])) return false;
    return sx_run_holds(g->run, g->lane, LANES) && sx_agent_read(g->agent, g->numbers);
}

/* Begins the lanes at draws; false where none is legal. */
static bool begin_lanes(ddpg *g) {
    g->s->rng = sx_rng_stream(sx_run_seed(g->run), "ddpg", 0);
    for (size_t i = 0; i < LANES; i++) {
        bool legal = false;
        for (int k = 0; k < DRAW_TRIES && !legal; k++)
            legal = sx_space_draw_legal(g->space, &g->s->rng, g->lane + i * g->size, NULL);
        if (!legal) return false;
    }
    sx_agent_write(g->agent, g->numbers);
    return true;
}

/* The search, once there is memory for it. */
static sx_status search_rounds(ddpg *g, bool resumed) {
    unsigned char *moves = malloc(LANES * (sizeof(move) + g->size));
    sx_status status = moves ? SX_OK : sx_error_memory();
    bool go = !status && find_scale(g, moves);
    if (!status && resumed && !state_holds(g)) status = sx_run_damaged(g->run);
    if (go && !resumed) go = begin_lanes(g);
    while (!status && go && sx_run_continue(g->run)) {
        if (!g->s->begun) {
            sx_run_evaluate_starts(g->run, 0);
            g->s->begun = 1;
        } else {
            go = play_moves(g, moves);
        }
    }
    free(moves);
    return status;
}

static sx_status search_by_ddpg(sx_run *run) {
    const sx_space *space = sx_run_space(run);
    ddpg g = {.run = run, .space = space, .size = space->point_size, .n = space->n_values};
    if (!space->type->encode || !space->type->project || g.n == 0)
        return sx_error_new(SX_ERR_USAGE, "'ddpg' needs points with vectors; those of a %s space have none",
                            space->type->name);
    g.replay = (size_t)sx_run_setting(run, REPLAY);
    g.batch = (size_t)sx_run_setting(run, BATCH);
    g.steps = (uint64_t)sx_run_setting(run, STEPS);
    const sx_agent_options options = {.n = (uint32_t)g.n,
                                      .width = (uint32_t)sx_run_setting(run, WIDTH),
                                      .batch = g.batch,
                                      .actor_rate = (float)sx_run_setting(run, ACTOR),
                                      .critic_rate = (float)sx_run_setting(run, CRITIC),
                                      .tau = (float)sx_run_setting(run, TAU),
                                      .discount = (float)sx_run_setting(run, DISCOUNT),
                                      .seed = sx_run_seed(run)};
    bool resumed;
    sx_status status = sx_agent_new(&options, &g.agent);
    if (!status) status = allocate_state(&g, &resumed);
    if (!status) status = search_rounds(&g, resumed);
    sx_agent_free(g.agent);
    free(g.memory);
    return status;
}

SX_NAVIGATOR(ddpg) = {
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_ddpg,
};
