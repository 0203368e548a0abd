/* Mappings with remainders out of mappings of padded sizes.
 *
 * Source: our own. A mapping with remainders is a mapping whose factors divide the padded sizes N' = product of its
 * factors, trimmed from the inside out: f = min(f, left), left = ceil(left / f). So the proof of factors that divide
 * solves spaces with remainders, one padding at a time: each padded problem is solved by `optimal` with a small
 * effort, its answer is trimmed and evaluated. What is unlikely to be better once it is trimmed is not searched: energy
 * and cycles fall by the share of the volume that is padding at most, and by a part of it mostly.
 *
 * Paddings of a dimension N >= 5: N itself and the best three multiples of a number that lies in MULTIPLE or is a
 * fan-out, at most 1.3 N, by their divisors over (N' / N)^4. Vectors of them come by ascending volume, as many by the
 * utilization of the mapping to begin with; once some in a row have not helped, no more (PLANS). Where remainders were not
 * asked for these are fewer, until the first that helps, and padded problems are solved by the proof alone: a close ceiling
 * takes the place of an incumbent. With sliding windows and busy units the first two paddings of each set of tensors that padded
 * dimensions index are tried (K and C of a convolution), and of nearly equal sizes alone: of 40 layers whose units are all busy
 * those that gain do so by 0.8 to 1.6 % of padding, none by more than 2 %.
 *
 * Then the best is improved by a descent: a factor becomes the least of another count of blocks, another makes up
 * for it, outer ones shrink to what is left.
 *
 * Complexity: a proof per padding; a pass of the descent is O(dimensions * slots^2 * sqrt(size)) evaluations. */
#include "mappers/padding.h"

#include "base/status.h"
#include "base/vector.h"
#include "mapspace/map_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SMALLEST = 5, /* size that is padded */
    CHOICES = 4,  /* of a dimension, with none */
    MOST_VECTORS = 1 << 16,
    WINDOW_EVALUATIONS = 400, /* of the descent, with sliding windows */
    EVALUATIONS = 10000       /* of Gamma for a padded problem */
};

/* How many paddings are tried, and how many in a row without a gain: where remainders were asked for, and where they were
 * not, without and with sliding windows. The first plan is for utilizations below the first of LIMITS, and so on. */
static const struct {
    uint64_t most, asked, plain, windows;
} PLANS[] = {{24, 24, 24, 24}, {16, 8, 8, 2}, {6, 8, 6, 2}};
static const double LIMITS[] = {0.75, 0.98, INFINITY};

static const double WIDEST = 1.3, WIDEST_BUSY = 1.02 /* volume */, WORTH = 0.7, SHARE = 0.125, HALF = 0.5;
static const double TIME_SHARE = 0.4; /* of a limited time, for paddings: the rest is for the proof */
static const double TRIMMED =
    0.25; /* of the padding, that mappings worth to be found are rid of when they are trimmed */
static const double EFFORT = 2, BRIEF_EFFORT = 0.5; /* of a padded problem, in million steps */
static const uint32_t MULTIPLE[] = {2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 16, 24, 28, 32, 48, 64};

/* The paddings of all dimensions. */
typedef struct padding {
    uint32_t size[SX_MAX_DIMS][CHOICES];
    int n[SX_MAX_DIMS];
} padding;

/* One choice for each dimension, and the volume over that of the problem. */
typedef struct vector {
    double volume;
    uint8_t choice[SX_MAX_DIMS];
} vector;

static double count_divisors(uint32_t n) {
    double count = 0;
    for (uint32_t f = 1; (uint64_t)f * f <= n; f++)
        if (n % f == 0) count += f * f == n ? 1 : 2;
    return count;
}

/* How much a padded size promises. */
static double worth_of(uint32_t size, uint32_t padded) {
    return count_divisors(padded) / pow((double)padded / size, 4);
}

/* Takes a multiple of a number in among the best of a dimension, in order of their worth. */
static void take_multiple(uint32_t size, uint64_t of, int d, padding *out) {
    uint64_t padded = of > 0 ? (size + of - 1) / of * of : 0;
    int i = out->n[d];
    if (padded <= size || (double)padded > WIDEST * size + 1) return;
    double worth = worth_of(size, (uint32_t)padded);
    for (int k = 1; k < out->n[d]; k++)
        if (out->size[d][k] == padded) return;
    if (worth < WORTH * count_divisors(size)) return;
    for (; i > 1 && worth > worth_of(size, out->size[d][i - 1]); i--)
        if (i < CHOICES) out->size[d][i] = out->size[d][i - 1];
    if (i == CHOICES) return;
    out->size[d][i] = (uint32_t)padded;
    if (out->n[d] < CHOICES) out->n[d]++;
}

static void list_sizes(const sx_map_space *space, padding *out) {
    for (int d = 0; d < space->problem->n_dims; d++) {
        uint32_t size = space->problem->size[d];
        out->size[d][0] = size;
        out->n[d] = 1;
        if (size < SMALLEST) continue;
        for (size_t i = 0; i < sizeof MULTIPLE / sizeof *MULTIPLE; i++)
            take_multiple(size, MULTIPLE[i], d, out);
        for (int s = 0; s < space->arch->n_levels; s++)
            for (int axis = 0; axis < 2; axis++) take_multiple(size, space->room[s][axis], d, out);
    }
}

/* By volume, then by choices. */
static int compare_vectors(const void *a, const void *b) {
    const vector *x = a, *y = b;
    if (x->volume != y->volume) return x->volume < y->volume ? -1 : 1;
    return memcmp(x->choice, y->choice, sizeof x->choice);
}

/* Lists the vectors by ascending volume, the first without padding; NULL when memory is out. */
static vector *list_vectors(const padding *p, int n_dims, size_t *n) {
    vector *list = calloc(MOST_VECTORS, sizeof *list);
    *n = 1;
    if (!list) return NULL;
    list[0].volume = 1;
    for (int d = 0; d < n_dims; d++) {
        size_t before = *n;
        for (int k = 1; k < p->n[d]; k++)
            for (size_t i = 0; i < before && *n < MOST_VECTORS; i++) {
                vector *next = &list[(*n)++];
                *next = list[i];
                next->choice[d] = (uint8_t)k;
                next->volume *= (double)p->size[d][k] / p->size[d][0];
            }
    }
    qsort(list, *n, sizeof *list, compare_vectors);
    return list;
}

/* Whether a tensor has sliding windows. */
static bool has_windows(const sx_map_space *space) {
    bool windows = false;
    for (int v = 0; v < space->problem->n_tensors; v++) windows |= !space->model->shape[v].plain;
    return windows;
}

/* The value below which a padded mapping may be better than the best, once it is trimmed; 0: any, as with several criteria, of
 * which a later one may be better at any value of the first. */
static double ceiling_of(const sx_run *run, double volume) {
    const sx_objective *objective = sx_run_objective(run);
    const sx_criterion *c = &objective->criterion[0];
    double best;
    if (!sx_run_incumbent(run, &best) || c->kind != SX_PRODUCT || objective->n_criteria > 1) return 0;
    const sx_map_space *space = sx_map_space_of(sx_run_space(run));
    const double share = space->options.brief > 0 && has_windows(space) ? TRIMMED : 1;
    return best * pow(volume, share * (c->energy_power + c->delay_power));
}

void sx_padding_trim(const sx_map_space *space, void *point) {
    uint32_t factor[SX_MAX_SLOTS];
    for (int d = 0; d < space->problem->n_dims; d++) {
        uint32_t left = space->problem->size[d];
        sx_map_get_factors(space, point, d, factor);
        for (int i = 0; i < space->n_slots; i++) {
            if (factor[i] > left) factor[i] = left;
            left = (left - 1) / factor[i] + 1;
        }
        sx_map_set_factors(space, d, factor, point);
    }
    sx_map_normalize(space, point);
}

/* Searches the tiles of a model's problem that divide, by a mapper with a share of the budget; *found: there is a
 * mapping below the ceiling (0: any), which *point becomes. */
static sx_status search_dividing(sx_run *run, const sx_map_space *space, const sx_model *model,
                                 double ceiling, const char *mapper, double share, void *point, bool *found) {
    sx_map_space_options options = space->options;
    sx_space *dividing;
    options.remainders = false;
    options.dividing = options.brief = 0;
    options.ceiling = ceiling;
    *found = false;
    SX_TRY(sx_map_space_new(model, &space->constraints, &options, &dividing));
    sx_status status = SX_OK;
    if (dividing->point_size == space->space.point_size)
        status = sx_run_within(run, dividing, mapper, share, point, found);
    sx_space_free(dividing);
    return status;
}

/* Solves the space of padded sizes; *found: it has a mapping below the ceiling, which *point becomes. */
static sx_status solve_space(sx_run *run, const sx_map_space *space, const sx_model *model, double ceiling,
                             void *point, bool *found) {
    const bool brief = space->options.brief > 0;
    char solver[128];
    snprintf(solver, sizeof solver, "optimal:gamma=%d,sunstone=0,descents=0,arrays=20000,effort=%g",
             ceiling > 0 && brief ? 0 : EVALUATIONS, brief ? BRIEF_EFFORT : EFFORT);
    return search_dividing(run, space, model, ceiling, solver, SHARE, point, found);
}

/* Frees an error that says that a space has no mapping, or too many: it is left out. */
static sx_status leave_out(SX_TAKE sx_status status) {
    if (!status || (status->code != SX_ERR_INPUT && status->code != SX_ERR_LIMIT)) return status;
    sx_status_free(status);
    return SX_OK;
}

sx_status sx_padding_begin(sx_run *run, const char *mapper) {
    const sx_map_space *space = sx_map_space_of(sx_run_space(run));
    sx_outcome outcome;
    size_t n_starts;
    bool found;
    if (sx_run_starts(run, &n_starts), n_starts > 0 || sx_run_incumbent(run, NULL)) return SX_OK;
    void *point = malloc(space->space.point_size);
    if (!point) return sx_error_memory();
    sx_status status = search_dividing(run, space, space->model, 0, mapper, HALF, point, &found);
    if (!status && found) sx_run_evaluate(run, point, 1, &outcome);
    free(point);
    return leave_out(status);
}

/* Solves the problem of padded sizes. What cannot be padded, as constraints fix its factors, has no mapping. */
static sx_status solve_padded(sx_run *run, const sx_map_space *space, const padding *p, const vector *v,
                              void *point, bool *found) {
    sx_problem *problem = malloc(sizeof *problem);
    sx_model *model = NULL;
    *found = false;
    if (!problem) return sx_error_memory();
    *problem = *space->problem;
    for (int d = 0; d < problem->n_dims; d++) problem->size[d] = p->size[d][v->choice[d]];
    sx_status status = sx_model_new(problem, space->arch, &space->model->options, &model);
    if (!status) status = solve_space(run, space, model, ceiling_of(run, v->volume), point, found);
    sx_model_free(model);
    free(problem);
    return leave_out(status);
}

/* The tensors that padded dimensions index. */
static unsigned padded_tensors(const sx_map_space *space, const vector *v) {
    unsigned tensors = 0;
    for (int d = 0; d < space->problem->n_dims; d++)
        for (int t = 0; v->choice[d] > 0 && t < space->problem->n_tensors; t++)
            tensors |= (space->model->shape[t].dims >> d & 1u) << t;
    return tensors;
}

/* Whether patience is for each set of tensors by itself: where remainders were not asked for, windows slide, most compute
 * units are busy and nothing has helped. */
static bool is_sorted_by_tensors(const sx_map_space *space, const sx_padding_state *at) {
    return space->options.brief > 0 && has_windows(space) && at->helped == 0 && at->plan > 0;
}

/* Whether a padding is left out there: as many of the same tensors, or one as large (rows instead of columns), have not
 * helped, or it is too large for what it may save. */
static bool is_hopeless(const sx_map_space *space, const vector *list, const sx_padding_state *at) {
    const vector *v = &list[at->next];
    uint64_t alike = 0;
    bool as_large = false;
    if (!is_sorted_by_tensors(space, at)) return false;
    for (uint64_t i = 1; i < at->next; i++) {
        if (padded_tensors(space, &list[i]) != padded_tensors(space, v)) continue;
        as_large |= list[i].volume == v->volume;
        alike++;
    }
    return as_large || alike >= at->patience || (v->volume > WIDEST_BUSY && (at->plan > 1 || at->next > 1));
}

/* Tries the next padding. */
static sx_status try_padding(sx_run *run, const sx_map_space *space, const padding *p, const vector *v,
                             sx_padding_state *at) {
    double before, after;
    bool found;
    void *point = malloc(space->space.point_size);
    if (!point) return sx_error_memory();
    sx_run_incumbent(run, &before);
    sx_status status = solve_padded(run, space, p, v, point, &found);
    if (!status && found) {
        sx_outcome outcome;
        sx_padding_trim(space, point);
        if (sx_map_check(&space->space, point) == 0) sx_run_evaluate(run, point, 1, &outcome);
        if (sx_run_incumbent(run, &after) && after < before) {
            at->helped = at->next;
            at->improved = 1;
            at->patience = at->more;
        }
    }
    free(point);
    return status;
}

/* Whether trying paddings has come to its end. */
static bool is_tried(const sx_run *run, const sx_map_space *space, const sx_padding_state *at, size_t n) {
    const double time = sx_run_time(run);
    return at->next > at->most || at->next >= n ||
           (at->next > at->helped + at->patience && !is_sorted_by_tensors(space, at)) ||
           (time > 0 && sx_run_seconds(run) > TIME_SHARE * time);
}

/* Tries paddings one after another. */
static sx_status try_paddings(sx_run *run, const sx_map_space *space, sx_padding_state *at) {
    padding p;
    size_t n;
    list_sizes(space, &p);
    vector *list = list_vectors(&p, space->problem->n_dims, &n);
    sx_status status = list ? SX_OK : sx_error_memory();
    while (!status && !is_tried(run, space, at, n) && sx_run_continue(run)) {
        if (!is_hopeless(space, list, at)) status = try_padding(run, space, &p, &list[at->next], at);
        if (!sx_run_stopped(run)) at->next++;
    }
    free(list);
    return status;
}

/* Points to be evaluated together. */
typedef struct batch {
    const sx_map_space *space;
    unsigned char *point;
    size_t n, room;
    bool failed; /* memory is out */
} batch;

/* Adds the point that other factors of a dimension give, where it is legal; a new loop is innermost, or outermost. */
static void add_neighbour(batch *b, const void *from, int d, const uint32_t *now, const uint32_t *factor,
                          bool outside) {
    const sx_map_space *space = b->space;
    const size_t size = space->space.point_size;
    b->failed |= !sx_reserve(&b->point, &b->room, b->n + 1, size);
    if (b->failed) return;
    unsigned char *point = b->point + b->n * size;
    memcpy(point, from, size);
    sx_map_set_factors(space, d, factor, point);
    for (int i = 0; i < space->n_slots; i++) {
        if (now[i] > 1 || factor[i] == 1) continue;
        int places = sx_map_places(space, i, d, from);
        sx_map_place(space, i, d, outside ? places - 1 : 0, point);
    }
    sx_map_normalize(space, point);
    b->n += sx_map_check(&space->space, point) == 0;
}

/* Adds all points in which a slot's factor of a dimension is `value`. */
static void add_value(batch *b, const void *from, int d, const uint32_t *now, int slot, uint32_t value) {
    uint32_t factor[SX_MAX_SLOTS];
    for (int other = -1; other < b->space->n_slots; other++) {
        if (other == slot || !sx_map_adjust(b->space, d, now, slot, value, other, factor)) continue;
        bool fresh = false;
        for (int i = 0; i < b->space->n_slots; i++) fresh |= now[i] == 1 && factor[i] > 1;
        add_neighbour(b, from, d, now, factor, false);
        if (fresh) add_neighbour(b, from, d, now, factor, true);
    }
}

/* Lists the neighbours of a point by one slot of one dimension: the least factor of every count of blocks. */
static void list_neighbours(batch *b, const void *from, int d, int slot) {
    uint32_t now[SX_MAX_SLOTS], size = b->space->problem->size[d];
    b->n = 0;
    sx_map_get_factors(b->space, from, d, now);
    for (uint32_t blocks = 1; blocks <= size;) {
        uint32_t value = (size - 1) / blocks + 1;
        if (value != now[slot]) add_value(b, from, d, now, slot, value);
        if (value == 1) break;
        blocks = (size - 1) / (value - 1) + 1;
    }
}

/* Evaluates the neighbours of the best by one slot of one dimension. */
static sx_status try_slot(sx_run *run, batch *b, uint64_t most, sx_padding_state *at) {
    const uint64_t n_slots = (uint64_t)b->space->n_slots;
    const void *from = sx_run_incumbent(run, NULL);
    list_neighbours(b, from, (int)(at->unit / n_slots), (int)(at->unit % n_slots));
    if (b->failed) return sx_error_memory();
    size_t n = b->n < most - at->spent ? b->n : (size_t)(most - at->spent);
    sx_outcome *outcome = malloc((n + 1) * sizeof *outcome);
    if (!outcome) return sx_error_memory();
    at->spent += n > 0 ? sx_run_evaluate(run, b->point, n, outcome) : 0;
    free(outcome);
    return SX_OK;
}

/* Descends from the best, slot by slot, until none finds anything better. */
static sx_status descend_slots(sx_run *run, const sx_map_space *space, sx_padding_state *at) {
    const uint64_t units = (uint64_t)space->problem->n_dims * (uint64_t)space->n_slots;
    batch b = {.space = space};
    uint64_t most = UINT64_MAX;
    sx_status status = SX_OK;
    if (has_windows(space)) most = WINDOW_EVALUATIONS;
    while (!status && at->idle < units && at->spent < most && sx_run_continue(run)) {
        double before, after;
        sx_run_incumbent(run, &before);
        at->unit %= units;
        status = try_slot(run, &b, most, at);
        if (sx_run_stopped(run)) break;
        sx_run_incumbent(run, &after);
        at->idle = after < before ? 0 : at->idle + 1;
        at->improved |= after < before;
        at->unit++;
    }
    free(b.point);
    return status;
}

void sx_padding_plan(sx_run *run, sx_padding_state *at) {
    sx_found found;
    if (at->begun) return;
    sx_run_evaluate_starts(run, 0);
    if (sx_run_stopped(run)) return;
    at->begun = at->next = 1;
    if (!sx_run_best(run, 0, &found)) return;
    const sx_map_space *space = sx_map_space_of(sx_run_space(run));
    double busy = sx_metrics_score(&found.metrics).utilization;
    int plan = 0;
    while (busy >= LIMITS[plan]) plan++;
    at->plan = (uint64_t)plan;
    at->most = PLANS[plan].most;
    at->more = PLANS[plan].asked;
    at->patience = space->options.brief == 0 ? at->more
                   : has_windows(space)      ? PLANS[plan].windows
                                             : PLANS[plan].plain;
}

sx_status sx_padding_search(sx_run *run, sx_padding_state *at) {
    const sx_map_space *space = sx_map_space_of(sx_run_space(run));
    sx_padding_plan(run, at);
    if (at->done || at->most == 0 || sx_run_stopped(run)) return SX_OK;
    SX_TRY(try_paddings(run, space, at));
    SX_TRY(descend_slots(run, space, at));
    at->done = !sx_run_stopped(run);
    return SX_OK;
}
