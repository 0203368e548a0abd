/* Bayesian optimisation on any space whose points have vectors.
 *
 * Source: a baseline of Odyssey (DAC 2023), section 5, there a Python package with a Gaussian process and expected
 * improvement; the trust region follows TuRBO (Eriksson et al., NeurIPS 2019). A Gaussian process with an ARD
 * Matern-5/2 kernel is fitted to the logarithm of the objective over the vectors of the points (sx_space_encode), each
 * number standardised over draws. The next points are those of a pool with the largest expected improvement: legal
 * points some moves of the space away from the best one, and legal draws. Points of a batch are chosen one after
 * another by the constant liar: a chosen point is taken to be as good as the best.
 *
 * Trust region. A pool's points are at most `radius` moves from the best. The radius doubles after three batches in a
 * row with an improvement, and halves after `patience` evaluations without; where it is below one move, the search
 * begins anew from draws.
 *
 * Bounded cost. At most `kept` points are in the process. When they are reached, half of them stay: of these two
 * thirds the best, the others the newest. Hyperparameters are fitted by the marginal likelihood with a weak prior
 * each time the number of points has doubled, and then once in `kept` evaluations; in between the Cholesky factor
 * grows row by row. An evaluation
 * costs O(candidates * kept * (kept + values)), whatever the budget.
 *
 * The moves and draws come from one stream and all arithmetic has a fixed order, so that results depend on neither
 * threads nor machine. */
#include "base/status.h"
#include "learn/elementary.h"
#include "navigators/bayes/gaussian_process.h"
#include "run/navigator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST, KEPT, BATCH, CANDIDATES, DRAWS, PATIENCE, STEPS };

static const sx_setting settings[] = {
    [FIRST] = {"first", "random draws before the first fit", NULL, 20, 2, 1000, SX_SETTING_WHOLE, NULL},
    [KEPT] = {"kept", "maximum points in the process", NULL, 64, 8, 2000, SX_SETTING_WHOLE, NULL},
    [BATCH] = {"batch", "points chosen before they are evaluated", NULL, 4, 1, 256, SX_SETTING_WHOLE, NULL},
    [CANDIDATES] = {"candidates", "points of the pool for each that is evaluated", NULL, 16, 1, 256,
                    SX_SETTING_WHOLE, NULL},
    [DRAWS] = {"draws", "share of the pool that is drawn; the rest are moves from the best", NULL, 0.25, 0, 1,
               SX_SETTING_NUMBER, NULL},
    [PATIENCE] = {"patience", "evaluations without improvement that halve the trust region", NULL, 40, 1, 1e9,
                  SX_SETTING_WHOLE, NULL},
    [STEPS] = {"steps", "steps of a fit of the hyperparameters", NULL, 5, 0, 100, SX_SETTING_WHOLE, NULL},
};

enum { SCALE_DRAWS = 64, DRAW_TRIES = 16, TRIES = 20, SUCCESSES = 3 };

/* State of a search: this, then the hyperparameters, then the values of the kept points, oldest first, then the
 * points. */
typedef struct state {
    sx_rng rng;
    uint64_t n;         /* points that are kept */
    uint64_t fitted;    /* how many there were at the last fit; 0: never */
    uint64_t since;     /* evaluations since then */
    uint64_t begun;     /* points of the first draws that are evaluated, of this beginning */
    uint64_t successes; /* batches in a row with an improvement */
    uint64_t failures;  /* evaluations without */
    double radius;      /* moves */
} state;

typedef struct bayes {
    sx_run *run;
    const sx_space *space;
    size_t size, d, kept, first, batch, pool;
    state *s;
    double *parameter, *value; /* of the state */
    unsigned char *point;
    sx_gp gp;
    double *middle, *rate; /* standardise the vectors: d numbers each */
    double *vector;        /* kept x d: standardised vectors of the kept points */
    double *y;             /* kept */
    double *solved;        /* pool x kept: see sx_gp_solve */
    double *scaled;        /* pool x d */
    double *mean, *variance;
    unsigned char *candidate; /* pool points, one for scratch and a batch */
    sx_outcome *outcome;
    void *memory;
} bayes;

/* The memory of a search: what it must remember in the run's block, the rest its own. */
static sx_status allocate_state(bayes *b, bool *resumed) {
    size_t m = b->d + 2, n = b->kept;
    size_t total = sizeof *b->s + (m + n) * sizeof(double) + n * b->size;
    size_t numbers = 2 * b->d + n * b->d + n + b->pool * n + b->pool * b->d + 2 * b->pool;
    size_t points = (b->pool + 1 + b->batch) * b->size;
    b->s = sx_run_state(b->run, total, resumed);
    b->memory = calloc(1, numbers * sizeof(double) + b->batch * sizeof *b->outcome + points);
    if (!b->s || !b->memory) return sx_error_memory();
    b->parameter = (double *)(b->s + 1);
    b->value = b->parameter + m;
    b->point = (unsigned char *)(b->value + n);
    b->middle = b->memory;
    b->rate = b->middle + b->d;
    b->vector = b->rate + b->d;
    b->y = b->vector + n * b->d;
    b->solved = b->y + n;
    b->scaled = b->solved + b->pool * n;
    b->mean = b->scaled + b->pool * b->d;
    b->variance = b->mean + b->pool;
    b->outcome = (sx_outcome *)(b->variance + b->pool);
    b->candidate = (unsigned char *)(b->outcome + b->batch);
    return sx_gp_init(&b->gp, b->d, n);
}

static unsigned char *candidate_at(const bayes *b, size_t i) {
    return b->candidate + i * b->size;
}

/* Finds mean and deviation of every number of a vector over draws; false where none is legal. */
static bool find_scale(bayes *b) {
    sx_rng rng = sx_rng_stream(sx_run_seed(b->run), "bayes.scale", 0);
    double *vector = b->vector;
    size_t found = 0;
    for (size_t i = 0; i < SCALE_DRAWS && (found > 0 || i < DRAW_TRIES); i++) {
        if (!sx_space_draw_legal(b->space, &rng, b->candidate, NULL)) continue;
        found++;
        sx_space_encode(b->space, b->candidate, vector);
        for (size_t j = 0; j < b->d; j++) {
            b->middle[j] += vector[j];
            b->rate[j] += vector[j] * vector[j];
        }
    }
    if (found == 0) return false;
    for (size_t j = 0; j < b->d; j++) {
        b->middle[j] /= (double)found;
        double variance = b->rate[j] / (double)found - b->middle[j] * b->middle[j];
        b->rate[j] = variance > 1e-12 ? 1 / sqrt(variance) : 1;
    }
    return true;
}

/* The standardised vector of a point. */
static void vector_of(const bayes *b, const void *point, double *out) {
    sx_space_encode(b->space, point, out);
    for (size_t j = 0; j < b->d; j++) out[j] = (out[j] - b->middle[j]) * b->rate[j];
}

/* The standardised logarithms of the values of all kept points, or the values where not all are positive. */
static void set_y(bayes *b) {
    size_t n = b->s->n;
    bool positive = true;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) positive = positive && b->value[i] > 0;
    for (size_t i = 0; i < n; i++) {
        b->y[i] = positive ? sx_log(b->value[i]) : b->value[i];
        sum += b->y[i];
    }
    double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        b->y[i] -= mean;
        squares += b->y[i] * b->y[i];
    }
    double deviation = sqrt(squares / (double)n);
    for (size_t i = 0; deviation > 0 && i < n; i++) b->y[i] /= deviation;
}

/* Number of the best kept point. */
static size_t best_of(const bayes *b) {
    size_t best = 0;
    for (size_t i = 1; i < b->s->n; i++)
        if (b->value[i] < b->value[best]) best = i;
    return best;
}

/* Drops a kept point. */
static void drop_point(bayes *b, size_t i) {
    size_t after = b->s->n - i - 1;
    memmove(b->value + i, b->value + i + 1, after * sizeof *b->value);
    memmove(b->point + i * b->size, b->point + (i + 1) * b->size, after * b->size);
    memmove(b->vector + i * b->d, b->vector + (i + 1) * b->d, after * b->d * sizeof *b->vector);
    b->s->n--;
}

/* Drops points until half remain: the worst of those that are not among the newest sixth. */
static void thin_points(bayes *b) {
    while (b->s->n > b->kept / 2) {
        size_t worst = 0, old = b->s->n - b->kept / 6;
        for (size_t i = 1; i < old; i++)
            if (b->value[i] > b->value[worst]) worst = i;
        drop_point(b, worst);
    }
}

/* Puts the kept points into the process anew; those too close to an earlier one are dropped. */
static void rebuild_process(bayes *b) {
    sx_gp_reset(&b->gp, b->parameter);
    for (size_t i = 0; i < b->s->n;)
        if (sx_gp_add(&b->gp, b->vector + i * b->d))
            i++;
        else
            drop_point(b, i);
    set_y(b);
    sx_gp_set(&b->gp, b->y);
}

/* Fits the hyperparameters where that is due, after making room for a batch. */
static sx_status refit_hyperparameters(bayes *b) {
    state *s = b->s;
    bool full = s->n + b->batch > b->kept;
    if (full) thin_points(b);
    if (s->fitted && s->since < (s->n < b->kept / 2 ? s->fitted : b->kept)) {
        if (full) rebuild_process(b);
        return SX_OK;
    }
    s->fitted = s->n;
    s->since = 0;
    set_y(b);
    SX_TRY(sx_gp_fit(b->vector, b->y, s->n, b->d, (unsigned)sx_run_setting(b->run, STEPS), b->parameter));
    rebuild_process(b);
    return SX_OK;
}

/* Keeps a point with its value. In the process already: its row is there. */
static void keep_point(bayes *b, const void *point, double value) {
    size_t i = b->s->n++;
    memcpy(b->point + i * b->size, point, b->size);
    b->value[i] = value;
    vector_of(b, point, b->vector + i * b->d);
}

/* Whether a point is kept. */
static bool is_kept(const bayes *b, const void *point) {
    for (size_t i = 0; i < b->s->n; i++)
        if (memcmp(b->point + i * b->size, point, b->size) == 0) return true;
    return false;
}

/* Makes a candidate: a draw, or some moves from the best; false where none was found. */
static bool make_candidate(bayes *b, const unsigned char *best, unsigned char *out) {
    sx_rng *rng = &b->s->rng;
    unsigned char *scratch = candidate_at(b, b->pool);
    if (sx_rng_double(rng) < sx_run_setting(b->run, DRAWS)) {
        uint64_t rejected = 0;
        bool legal = sx_space_draw_legal(b->space, rng, out, &rejected);
        sx_run_reject(b->run, rejected);
        return legal;
    }
    uint64_t moves = 1 + sx_rng_below(rng, (uint64_t)ceil(b->s->radius));
    bool moved = false;
    memcpy(out, best, b->size);
    for (; moves > 0; moves--)
        moved |= sx_space_mutate(b->space, rng, -1, sx_rng_next(rng) >> 63, TRIES, out, scratch);
    return moved;
}

/* Fills the pool with points that are not kept and what the process says of them; returns how many. */
static size_t fill_pool(bayes *b) {
    const unsigned char *best = b->point + best_of(b) * b->size;
    size_t n = 0;
    for (size_t i = 0; i < b->pool && !sx_run_stopped(b->run); i++) {
        unsigned char *point = candidate_at(b, n);
        if (!make_candidate(b, best, point) || is_kept(b, point)) continue;
        double *v = b->solved + n * b->kept, *scaled = b->scaled + n * b->d;
        vector_of(b, point, scaled);
        sx_gp_scale(&b->gp, scaled, scaled);
        sx_gp_solve(&b->gp, scaled, v);
        b->mean[n] = sx_dot(v, b->gp.z, b->gp.n);
        b->variance[n] = b->gp.amplitude - sx_dot(v, v, b->gp.n);
        n++;
    }
    return n;
}

/* The candidate with the largest expected improvement. */
static size_t most_promising(const bayes *b, size_t n, double best) {
    size_t chosen = 0;
    double most = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (b->variance[i] == -INFINITY) continue;
        double deviation = sqrt(fmax(b->variance[i], 0));
        double value = sx_log_expected_improvement(b->mean[i], deviation, best);
        if (!(value > most)) continue;
        most = value;
        chosen = i;
    }
    return chosen;
}

/* Takes a candidate out of the pool and into the process, with y as if it were as good as the best: the others'
 * means and variances change by its row. False where it is too close to others. */
static bool assume_value(bayes *b, size_t n, size_t chosen, double best) {
    sx_gp *gp = &b->gp;
    size_t k = gp->n;
    const double *scaled = b->scaled + chosen * b->d, *v = b->solved + chosen * b->kept;
    memcpy(gp->x + k * b->d, scaled, b->d * sizeof *scaled);
    double pivot = gp->amplitude + gp->noise - sx_dot(v, v, k);
    b->variance[chosen] = -INFINITY;
    if (!(pivot > 1e-10 * (gp->amplitude + gp->noise))) return false;
    double diagonal = sqrt(pivot), *row = sx_cholesky_row(&gp->factor, k);
    memcpy(row, v, k * sizeof *row);
    row[k] = diagonal;
    gp->z[k] = (best - b->mean[chosen]) / diagonal;
    gp->n = gp->factor.n = k + 1;
    for (size_t i = 0; i < n; i++) {
        if (memcmp(candidate_at(b, i), candidate_at(b, chosen), b->size) == 0) b->variance[i] = -INFINITY;
        if (b->variance[i] == -INFINITY) continue;
        double *other = b->solved + i * b->kept;
        double covariance = sx_gp_covariance(gp, scaled, b->scaled + i * b->d);
        other[k] = (covariance - sx_dot(v, other, k)) / diagonal;
        b->mean[i] += other[k] * gp->z[k];
        b->variance[i] -= other[k] * other[k];
    }
    return true;
}

/* Chooses a batch out of the pool into the memory behind it; returns how many. */
static size_t choose_batch(bayes *b, size_t n) {
    double best = INFINITY;
    size_t chosen = 0;
    for (size_t i = 0; i < b->gp.n; i++) best = fmin(best, b->gp.y[i]);
    for (size_t tries = 0; tries < n && chosen < b->batch; tries++) {
        size_t i = most_promising(b, n, best);
        if (b->variance[i] == -INFINITY) break;
        if (!assume_value(b, n, i, best)) continue;
        memcpy(candidate_at(b, b->pool + 1 + chosen), candidate_at(b, i), b->size);
        chosen++;
    }
    return chosen;
}

/* Takes a batch's values in; what has none counts as the worst that is kept. */
static void learn_values(bayes *b, const unsigned char *points, size_t n) {
    double worst = -INFINITY;
    for (size_t i = 0; i < b->s->n; i++) worst = fmax(worst, b->value[i]);
    for (size_t i = 0; i < n; i++) {
        double value = b->outcome[i].value;
        keep_point(b, points + i * b->size, isfinite(value) ? value : isfinite(worst) ? worst : 0);
    }
}

/* Forgets all points and widens the trust region: the search begins anew. */
static void begin_anew(bayes *b) {
    state *s = b->s;
    s->n = s->fitted = s->since = s->begun = s->successes = s->failures = 0;
    s->radius = (double)b->space->n_genes;
    sx_gp_prior(b->d, b->parameter);
    sx_gp_reset(&b->gp, b->parameter);
}

/* Changes the trust region by what a batch of n points brought. */
static void resize_region(bayes *b, double before, double after, size_t n) {
    state *s = b->s;
    bool better = after < before;
    s->successes = better ? s->successes + 1 : 0;
    s->failures = better ? 0 : s->failures + n;
    if (s->successes == SUCCESSES) {
        s->radius = fmin(2 * s->radius, (double)b->space->n_genes);
        s->successes = 0;
    }
    if ((double)s->failures >= sx_run_setting(b->run, PATIENCE)) {
        s->radius /= 2;
        s->failures = 0;
    }
    if (s->radius < 0.5) begin_anew(b);
}

/* Draws and evaluates points of the first design; false where none is legal. */
static bool draw_batch(bayes *b) {
    unsigned char *points = candidate_at(b, b->pool + 1);
    size_t n = b->first - b->s->begun < b->batch ? b->first - b->s->begun : b->batch;
    for (size_t i = 0; i < n; i++) {
        uint64_t rejected = 0;
        bool legal = sx_space_draw_legal(b->space, &b->s->rng, points + i * b->size, &rejected);
        sx_run_reject(b->run, rejected);
        if (!legal) return false;
    }
    n = sx_run_evaluate(b->run, points, n, b->outcome);
    learn_values(b, points, n);
    b->s->begun += n;
    return true;
}

/* Chooses, evaluates and learns a batch by the process. */
static sx_status learn_batch(bayes *b) {
    SX_TRY(refit_hyperparameters(b));
    size_t n = fill_pool(b);
    if (sx_run_stopped(b->run)) return SX_OK;
    const unsigned char *points = candidate_at(b, b->pool + 1);
    double before = b->value[best_of(b)];
    size_t chosen = choose_batch(b, n);
    if (chosen == 0) {
        begin_anew(b);
        return SX_OK;
    }
    size_t evaluated = sx_run_evaluate(b->run, points, chosen, b->outcome);
    learn_values(b, points, evaluated);
    b->s->since += evaluated;
    b->gp.n = b->gp.factor.n = b->s->n;
    set_y(b);
    sx_gp_set(&b->gp, b->y);
    if (evaluated > 0) resize_region(b, before, b->value[best_of(b)], evaluated);
    return SX_OK;
}

/* Evaluates the start points and keeps as many of them as the first design has. */
static void take_starts(bayes *b) {
    size_t n;
    const unsigned char *start = sx_run_starts(b->run, &n);
    for (size_t i = 0; i < n && !sx_run_stopped(b->run); i++) {
        size_t evaluated = sx_run_evaluate(b->run, start + i * b->size, 1, b->outcome);
        if (b->s->begun == b->first) continue;
        learn_values(b, start + i * b->size, evaluated);
        b->s->begun += evaluated;
    }
}

/* Takes in what other navigators have found. */
static void take_news(bayes *b) {
    sx_outcome outcome;
    const void *point = sx_run_news(b->run, &outcome);
    if (!point || b->s->begun < b->first || is_kept(b, point)) return;
    if (b->s->n == b->kept) drop_point(b, 0);
    keep_point(b, point, outcome.value);
    rebuild_process(b);
}

/* Whether the state is one that a search may have. */
static bool state_holds(const bayes *b) {
    const state *s = b->s;
    if (!sx_rng_holds(&s->rng) || s->n > b->kept || s->begun > b->first || (s->begun > 0 && s->n == 0))
        return false;
    if (!(s->radius >= 0.5 && s->radius <= (double)b->space->n_genes) || s->fitted > b->kept) return false;
    for (size_t j = 0; j < b->d + 2; j++)
        if (!(fabs(b->parameter[j]) < 100)) return false;
    for (size_t i = 0; i < s->n; i++)
        if (!isfinite(b->value[i])) return false;
    return sx_run_holds(b->run, b->point, s->n);
}

/* Begins, or takes up what a checkpoint has; *go: whether there is anything to search. */
static sx_status begin_search(bayes *b, bool resumed, bool *go) {
    if (resumed && !state_holds(b)) return sx_run_damaged(b->run);
    *go = find_scale(b);
    if (!*go) return SX_OK;
    if (!resumed) {
        b->s->rng = sx_rng_stream(sx_run_seed(b->run), "bayes", 0);
        begin_anew(b);
        take_starts(b);
        return SX_OK;
    }
    for (size_t i = 0; i < b->s->n; i++) vector_of(b, b->point + i * b->size, b->vector + i * b->d);
    if (b->s->fitted) rebuild_process(b);
    take_news(b);
    return SX_OK;
}

static sx_status search_by_bayes(sx_run *run) {
    const sx_space *space = sx_run_space(run);
    bayes b = {.run = run, .space = space, .size = space->point_size, .d = space->n_values};
    if (!space->type->encode || b.d == 0)
        return sx_error_new(SX_ERR_USAGE, "'bayes' needs points with vectors; those of a %s space have none",
                            space->type->name);
    b.kept = (size_t)sx_run_setting(run, KEPT);
    b.batch = (size_t)fmin(sx_run_setting(run, BATCH), (double)(b.kept / 2));
    b.first = (size_t)fmin(sx_run_setting(run, FIRST), (double)(b.kept / 2));
    b.pool = b.batch * (size_t)sx_run_setting(run, CANDIDATES);
    bool resumed, go = false;
    sx_status status = allocate_state(&b, &resumed);
    if (!status) status = begin_search(&b, resumed, &go);
    while (!status && go && sx_run_continue(run)) {
        if (b.s->begun < b.first)
            go = draw_batch(&b);
        else
            status = learn_batch(&b);
    }
    sx_gp_fini(&b.gp);
    free(b.memory);
    return status;
}

SX_NAVIGATOR(bayes) = {
    .measures = true,
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_bayes,
};
