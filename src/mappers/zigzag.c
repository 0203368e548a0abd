/* ZigZag's temporal mappers: orders of loop prime factors, allocated to the memories as they fit.
 *
 * Source: LOMA (Symons et al., AICAS 2021) and SALSA (Jung et al., AICAS 2023), both as released in ZigZag (Mei et al.,
 * IEEE TC 2021). A spatial mapping is fixed first, one of those that use most of the array. What is left of each
 * dimension is split into its prime factors, the LPFs. An order of all LPFs is a temporal mapping: from the innermost
 * memory outward, each memory takes the number of next LPFs that makes the words read from the level above fewest, words
 * being a tile's size times the iterations of the loops outside of it. LOMA goes through all different orders; beyond a
 * limit the two smallest LPFs of the dimension that has most are merged. SALSA anneals one order of all LPFs by swaps of
 * two: of 1,000 the i-th is accepted with probability exp((cost / new cost - 1) / T), T = 0.05 * 0.995^i.
 *
 * What differs. ZigZag gives each tensor its own boundary in a memory ("uneven"); in our spaces a level has one tile. So
 * a level chooses one boundary, and which tensors it keeps at that tile: one that it does not keep stays with the
 * boundary of the memory below, which is an uneven mapping that the level expresses by bypass. Memories of different
 * tensors side by side, such as a scratchpad for each, are levels on top of each other here, and choose together. Of
 * LPFs of one dimension at one level all join the innermost. Unrollings divide their dimensions; an axis takes one
 * dimension after another, as much of each as fits, and the 64 best so far are kept on the way. LOMA takes the spatial
 * mappings in turn and goes through the orders in strides, so that a budget may end it anywhere. SALSA begins again as
 * long as the budget lasts. Both are scored by the run's objective; SALSA minimises energy or latency. Where no order
 * fits, one legal mapping is drawn.
 *
 * Complexity: an evaluation per order; an allocation takes levels * LPFs * ways to keep tensors (of memories side by
 * side the product). */
#include "base/divisor.h"
#include "base/status.h"
#include "mappers/tiling.h"
#include "mapspace/map_choices.h"
#include "model/capacity.h"
#include "run/navigator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ORDER, LPFS, SPATIAL, ITERATIONS, TEMPERATURE, DECAY };

enum { LOMA, SALSA };

static const char *const orders[] = {"loma", "salsa", NULL};

static const sx_setting settings[] = {
    [ORDER] = {"order", "orders of loop prime factors: all of them, or annealed", "loma", LOMA, 0, SALSA,
               true, orders},
    [LPFS] = {"lpfs", "loma: maximum loop prime factors, but one per dimension at least", "6, ZigZag's", 6, 1,
              20, true, NULL},
    [SPATIAL] = {"spatial", "spatial mappings tried, those that use most of the array", "3, ZigZag's", 3, 1,
                 64, true, NULL},
    [ITERATIONS] = {"iterations", "salsa: swaps of an annealing", "1000, ZigZag's", 1000, 1, 1e9, true, NULL},
    [TEMPERATURE] = {"temperature", "salsa: first temperature", "0.05, ZigZag's", 0.05, 1e-9, 1e9, false,
                     NULL},
    [DECAY] = {"decay", "salsa: factor of the temperature at each swap", "0.995, ZigZag's", 0.995, 1e-9, 1,
               false, NULL},
};

enum {
    MAX_LPFS = 64,
    MAX_SPATIAL = 64,
    MAX_KEEPS = 16, /* ways to keep tensors at a level that are tried, the fullest */
    TASKS = 16,
    TASK_SIZE = 64, /* orders of a task */
};

/* A loop prime factor, or several merged. */
typedef struct lpf {
    uint32_t size;
    uint8_t dim;
} lpf;

/* A spatial mapping and the LPFs that it leaves. */
typedef struct spatial_mapping {
    sx_tiling tiling;
    double used; /* children */
    int n_lpfs;
    lpf lpf[MAX_LPFS]; /* by dimension and size */
    uint64_t n_orders, stride;
} spatial_mapping;

/* State of a search. */
typedef struct state {
    uint64_t begun, next; /* order, or annealing */
} state;

/* Shared by all tasks, read-only. */
typedef struct plan {
    const sx_map_space *space;
    uint64_t seed, first, iterations;
    double temperature, decay;
    int n_spatial;
    spatial_mapping spatial[2 * MAX_SPATIAL]; /* the second half while they are sought */
} plan;

/* Adds a spatial mapping to the list of the best, unless its factors are there; earlier ones are before equals. */
static void keep_best(const sx_tiling *t, spatial_mapping *list, int *n) {
    double used = sx_tiling_spread(t);
    for (int i = 0; i < *n; i++)
        if (memcmp(list[i].tiling.factor, t->factor, sizeof t->factor) == 0) return;
    if (*n == MAX_SPATIAL && list[*n - 1].used >= used) return;
    int at = *n < MAX_SPATIAL ? (*n)++ : MAX_SPATIAL - 1;
    for (; at > 0 && list[at - 1].used < used; at--) list[at] = list[at - 1];
    list[at] = (spatial_mapping){.tiling = *t, .used = used};
}

/* Extends all spatial mappings by one more dimension on an axis, as much of it as fits, and keeps the best; false where
 * none of these uses more of the array. */
static bool extend_spatial(plan *p, sx_tiling *t, int level, bool on_x) {
    spatial_mapping *next = p->spatial + MAX_SPATIAL;
    double used = p->spatial[0].used;
    int n = 0;
    for (int i = 0; i < p->n_spatial; i++)
        for (int d = 0; d < p->space->problem->n_dims; d++) {
            memcpy(t->factor, p->spatial[i].tiling.factor, sizeof t->factor);
            memcpy(t->x, p->spatial[i].tiling.x, sizeof t->x);
            sx_tiling_write(t);
            sx_tiling_fill_axis(t, level, d, on_x);
            keep_best(t, next, &n);
        }
    memcpy(p->spatial, next, (size_t)n * sizeof *next);
    p->n_spatial = n;
    return n > 0 && p->spatial[0].used > used;
}

/* Finds the spatial mappings that use most of the array. */
static void find_spatial(plan *p, void *point, void *saved) {
    sx_rng rng = sx_rng_stream(p->seed, "zigzag.begin", 0);
    sx_tiling t = {.space = p->space, .bare = true, .point = point, .saved = saved};
    if (sx_tiling_begin(&t, &rng)) keep_best(&t, p->spatial, &p->n_spatial);
    for (int s = 0; s < p->space->arch->n_levels; s++)
        for (int axis = 0; axis < 2 && p->space->spatial_slot[s] >= 0; axis++)
            while (p->space->room[s][axis] > 1 && extend_spatial(p, &t, s, axis == 0)) continue;
}

/* Merges the two smallest LPFs of the dimension that has most. */
static void merge_two(spatial_mapping *m) {
    int count[SX_MAX_DIMS] = {0}, most = 0, i = 0;
    for (int k = 0; k < m->n_lpfs; k++) count[m->lpf[k].dim]++;
    for (int d = 1; d < SX_MAX_DIMS; d++)
        if (count[d] > count[most]) most = d;
    while (m->lpf[i].dim != most) i++;
    lpf merged = {.size = m->lpf[i].size * m->lpf[i + 1].size, .dim = (uint8_t)most};
    m->n_lpfs--;
    memmove(&m->lpf[i], &m->lpf[i + 1], (size_t)(m->n_lpfs - i) * sizeof *m->lpf);
    int end = i + count[most] - 2;
    for (; i < end && m->lpf[i + 1].size < merged.size; i++) m->lpf[i] = m->lpf[i + 1];
    m->lpf[i] = merged;
}

/* Finds the LPFs that a spatial mapping leaves, at most `limit` but one for each dimension, and counts their orders. */
static void find_lpfs(const sx_map_space *space, int limit, spatial_mapping *m) {
    int last = space->n_slots - 1, dims = 0;
    lpf all[SX_MAX_DIMS * 32];
    int n = 0;
    for (int d = 0; d < space->problem->n_dims; d++) {
        uint32_t least = space->min[d][last] > 1 ? space->min[d][last] : 1, rest = m->tiling.factor[d][last];
        rest = rest % least ? 1 : rest / least;
        dims += rest > 1;
        for (int i = 0; i < space->n_primes[d]; i++)
            for (; rest % space->prime[d][i] == 0; rest /= space->prime[d][i])
                all[n++] = (lpf){.size = space->prime[d][i], .dim = (uint8_t)d};
    }
    m->n_lpfs = n < MAX_LPFS ? n : MAX_LPFS;
    memcpy(m->lpf, all, (size_t)m->n_lpfs * sizeof *all);
    while (m->n_lpfs > limit && m->n_lpfs > dims) merge_two(m);
}

/* Whether two LPFs are alike. */
static bool same_factor(lpf a, lpf b) {
    return a.dim == b.dim && a.size == b.size;
}

/* Counts the different orders of the LPFs, which are at most 20, and finds a stride through them. */
static void count_orders(spatial_mapping *m) {
    m->n_orders = 1;
    for (int i = 0, run = 0; i < m->n_lpfs; i++) {
        run = i > 0 && same_factor(m->lpf[i], m->lpf[i - 1]) ? run + 1 : 1;
        m->n_orders = (uint64_t)((sx_u128)m->n_orders * (unsigned)(i + 1) / (unsigned)run);
    }
    m->stride = (uint64_t)(0.6180339887498949 * (double)m->n_orders);
    while (m->stride == 0 || sx_divisor_common(m->stride, m->n_orders) != 1) m->stride++;
}

/* Puts the LPFs into order number `index`. */
static void order_lpfs(const spatial_mapping *m, uint64_t index, lpf *out) {
    lpf left[MAX_LPFS];
    uint64_t ways = m->n_orders;
    memcpy(left, m->lpf, sizeof left);
    for (int n = m->n_lpfs; n > 0; n--) {
        int i = 0, end = 1;
        for (;; i = end++) {
            while (end < n && same_factor(left[end], left[i])) end++;
            uint64_t begin_so = (uint64_t)((sx_u128)ways * (unsigned)(end - i) / (unsigned)n);
            if (index < begin_so || end == n) {
                ways = begin_so;
                break;
            }
            index -= begin_so;
        }
        *out++ = left[i];
        memmove(&left[i], &left[i + 1], (size_t)(n - 1 - i) * sizeof *left);
    }
}

/* What a level may keep at a tile. */
typedef struct keeps {
    int n;
    sx_map_keep keep[MAX_KEEPS];
} keeps;

/* The allocation of one order to the memories. */
typedef struct allocation {
    const sx_map_space *space;
    const spatial_mapping *m;
    const lpf *order;
    uint32_t inside[SX_MAX_LEVELS][SX_MAX_DIMS]; /* of a level's tile without LPFs */
    uint32_t reach[MAX_LPFS + 1][SX_MAX_DIMS];   /* of the first LPFs */
    double outside[MAX_LPFS + 1];                /* iterations of the others */
    int most[SX_MAX_LEVELS];                     /* LPFs that this level and those above can hold */
    keeps keeps[SX_MAX_LEVELS][MAX_LPFS + 1];
    double words[SX_MAX_TENSORS][MAX_LPFS + 1]; /* read from above the memories that choose, by boundary */
    int boundary[SX_MAX_LEVELS], best_boundary[SX_MAX_LEVELS];
    const sx_map_keep *keep[SX_MAX_LEVELS], *best_keep[SX_MAX_LEVELS];
    int held[SX_MAX_TENSORS]; /* LPFs inside the outermost memory of a tensor so far */
    double best;
} allocation;

/* Tensors that a level may keep. */
static unsigned may_keep(const sx_map_space *space, int level) {
    return space->fixed_keep[level] | space->free_keep[level] | space->banked[level];
}

/* The extents of a level's tile with the first n LPFs. */
static void find_extents(const allocation *a, int level, int n, uint32_t *extent) {
    for (int d = 0; d < a->space->problem->n_dims; d++) {
        uint64_t reach = (uint64_t)a->inside[level][d] * a->reach[n][d], size = a->space->problem->size[d];
        extent[d] = (uint32_t)(reach < size ? reach : size);
    }
}

/* Finds what the levels may keep at each boundary, and how far boundaries may go; false where nothing fits. */
static bool find_keeps(allocation *a) {
    const sx_model *model = a->space->model;
    int last = a->space->arch->n_levels - 1;
    for (int s = last; s >= 0; s--) {
        int n = 0, most = s == last ? a->m->n_lpfs : a->most[s + 1];
        for (; n <= most; n++) {
            sx_map_keep all[1 << SX_MAX_TENSORS];
            uint32_t extent[SX_MAX_DIMS];
            keeps *k = &a->keeps[s][n];
            find_extents(a, s, n, extent);
            k->n = 0;
            for (int i = sx_map_keeps_of(a->space, s, extent, all) - 1; i >= 0 && k->n < MAX_KEEPS; i--)
                if (sx_level_holds(model, &model->level[s], all[i].keep, extent)) k->keep[k->n++] = all[i];
            if (k->n == 0) break;
        }
        a->most[s] = n - 1;
    }
    return a->most[0] >= 0;
}

/* Begins the allocation of an order. */
static void begin_allocation(allocation *a) {
    const sx_map_space *space = a->space;
    int n_dims = space->problem->n_dims, n = a->m->n_lpfs;
    for (int d = 0; d < n_dims; d++) {
        uint32_t reach = 1;
        for (int i = 0; i < space->n_slots; i++) {
            if (i < space->n_slots - 1) reach *= a->m->tiling.factor[d][i];
            a->inside[space->slot[i].level][d] = reach;
        }
        a->reach[0][d] = 1;
    }
    a->outside[n] = 1;
    for (int i = 0; i < n; i++) {
        memcpy(a->reach[i + 1], a->reach[i], sizeof a->reach[i]);
        a->reach[i + 1][a->order[i].dim] *= a->order[i].size;
    }
    for (int i = n; i > 0; i--) a->outside[i - 1] = a->outside[i] * a->order[i - 1].size;
    memset(a->held, 0, sizeof a->held);
}

/* Tries all boundaries and kept tensors of the levels from `level` up to `end`, of which `tensors` are read from above;
 * `from` is the boundary below. Of equally good ones the last counts, which holds most. */
static void choose_boundaries(allocation *a, int level, int end, int from, unsigned tensors) {
    if (level == end) {
        double words = 0;
        for (unsigned left = tensors; left; left &= left - 1)
            words += a->words[__builtin_ctz(left)][a->held[__builtin_ctz(left)]];
        if (words > a->best) return;
        a->best = words;
        memcpy(a->best_boundary, a->boundary, sizeof a->boundary);
        memcpy(a->best_keep, a->keep, sizeof a->keep);
        return;
    }
    const sx_map_space *space = a->space;
    int slot = space->temporal_slot[level], before[SX_MAX_TENSORS];
    memcpy(before, a->held, sizeof before);
    for (int n = from; n <= a->most[level]; n++) {
        int d = n > from ? a->order[n - 1].dim : 0;
        uint64_t factor = (uint64_t)a->m->tiling.factor[d][slot] * (a->reach[n][d] / a->reach[from][d]);
        if (n > from && factor > space->max[d][slot]) break;
        for (int k = a->keeps[level][n].n - 1; k >= 0; k--) {
            const sx_map_keep *keep = &a->keeps[level][n].keep[k];
            if (n > from && !keep->keep) continue;
            for (unsigned left = keep->keep; left; left &= left - 1) a->held[__builtin_ctz(left)] = n;
            a->boundary[level] = n;
            a->keep[level] = keep;
            choose_boundaries(a, level + 1, end, n, tensors);
            memcpy(a->held, before, sizeof before);
        }
    }
}

/* Allocates the order to the memories, those side by side at once; false where one cannot hold what it must. */
static bool allocate_order(allocation *a) {
    const sx_map_space *space = a->space;
    int last = space->arch->n_levels - 1, from = 0, end;
    begin_allocation(a);
    if (!find_keeps(a)) return false;
    for (int s = 0; s < last; s = end) {
        unsigned tensors = may_keep(space, s);
        for (end = s + 1; end < last && space->spatial_slot[end] < 0 && !(tensors & may_keep(space, end));
             end++)
            tensors |= may_keep(space, end);
        for (int n = 0; n <= a->m->n_lpfs; n++) {
            uint32_t extent[SX_MAX_DIMS];
            find_extents(a, end - 1, n, extent);
            for (unsigned left = tensors; left; left &= left - 1) {
                int v = __builtin_ctz(left);
                a->words[v][n] = (double)sx_shape_words(&space->model->shape[v], extent) * a->outside[n];
            }
        }
        a->best = INFINITY;
        choose_boundaries(a, s, end, from, tensors);
        if (a->best == INFINITY) return false;
        for (int i = s; i < end; i++) {
            a->boundary[i] = a->best_boundary[i];
            a->keep[i] = a->best_keep[i];
            for (unsigned left = a->keep[i]->keep; left; left &= left - 1)
                a->held[__builtin_ctz(left)] = a->boundary[i];
        }
        from = a->boundary[end - 1];
    }
    a->boundary[last] = a->m->n_lpfs;
    a->keep[last] = &a->keeps[last][a->m->n_lpfs].keep[0];
    return a->most[last] == a->m->n_lpfs;
}

/* Writes an allocation as a mapping. */
static void write_mapping(const allocation *a, void *point) {
    const sx_map_space *space = a->space;
    int n_dims = space->problem->n_dims, last = space->n_slots - 1, i = 0;
    sx_tiling t = a->m->tiling;
    t.point = point;
    memcpy(point, space->blank, space->space.point_size);
    for (int s = 0; s < space->arch->n_levels; s++) {
        uint8_t *order = sx_map_level(point, s)->temporal_order;
        unsigned seen = 0;
        for (; i < a->boundary[s]; i++) {
            lpf loop = a->order[i];
            t.factor[loop.dim][last] /= loop.size;
            t.factor[loop.dim][space->temporal_slot[s]] *= loop.size;
            if (!(seen >> loop.dim & 1)) *order++ = loop.dim;
            seen |= 1u << loop.dim;
        }
        for (int d = 0; d < n_dims; d++)
            if (!(seen >> d & 1)) *order++ = (uint8_t)d;
        sx_map_level(point, s)->keep = a->keep[s]->keep;
        if (space->banked[s])
            memcpy(sx_map_banks(space, point, s), a->keep[s]->banks, sizeof a->keep[s]->banks);
    }
    sx_tiling_write(&t);
}

/* Evaluates an order, with room for its allocation; NaN where it gives no legal mapping or the run ends. */
static double evaluate_order(const plan *p, const spatial_mapping *m, const lpf *order, allocation *a,
                             sx_worker *worker) {
    void *point = sx_worker_scratch(worker, 0);
    a->space = p->space;
    a->m = m;
    a->order = order;
    bool legal = allocate_order(a);
    if (legal) write_mapping(a, point);
    if (!legal || p->space->space.type->check(&p->space->space, point) != 0) {
        sx_worker_reject(worker, 1);
        return NAN;
    }
    sx_outcome outcome = sx_worker_evaluate(worker, point, false);
    return outcome.reason ? NAN : outcome.value;
}

/* A task of LOMA: some orders. */
static sx_status run_orders(const void *input, size_t task, sx_worker *worker, void *output) {
    const plan *p = input;
    uint64_t first = p->first + task * TASK_SIZE;
    allocation *a = malloc(sizeof *a);
    (void)output;
    if (!a) return sx_error_memory();
    for (uint64_t i = first; i < first + TASK_SIZE && !sx_worker_stopped(worker); i++) {
        const spatial_mapping *m = &p->spatial[i % (unsigned)p->n_spatial];
        uint64_t index = i / (unsigned)p->n_spatial;
        lpf order[MAX_LPFS];
        if (index >= m->n_orders) continue;
        order_lpfs(m, (uint64_t)((sx_u128)index * m->stride % m->n_orders), order);
        (void)evaluate_order(p, m, order, a, worker);
    }
    free(a);
    return SX_OK;
}

/* A task of SALSA: one annealing. */
static sx_status run_annealing(const void *input, size_t task, sx_worker *worker, void *output) {
    const plan *p = input;
    uint64_t number = p->first + task;
    const spatial_mapping *m = &p->spatial[number % (unsigned)p->n_spatial];
    sx_rng rng = sx_rng_stream(p->seed, "zigzag.salsa", number);
    lpf order[MAX_LPFS];
    allocation *a = malloc(sizeof *a);
    (void)output;
    if (!a) return sx_error_memory();
    for (int i = 0; i < m->n_lpfs; i++) {
        size_t at = sx_rng_below(&rng, (uint64_t)i + 1);
        order[i] = order[at];
        order[at] = m->lpf[i];
    }
    double cost = evaluate_order(p, m, order, a, worker), temperature = p->temperature;
    for (uint64_t i = 0; i < p->iterations && m->n_lpfs > 1 && !sx_worker_stopped(worker); i++) {
        size_t one = sx_rng_below(&rng, (uint64_t)m->n_lpfs), other = sx_rng_below(&rng, (uint64_t)m->n_lpfs);
        lpf swap = order[one];
        order[one] = order[other];
        order[other] = swap;
        double next = evaluate_order(p, m, order, a, worker), chance = sx_rng_double(&rng);
        bool accepted = isnan(cost) || chance < exp((cost - next) / fabs(next) / temperature);
        temperature *= p->decay;
        if (accepted) {
            cost = next;
            continue;
        }
        order[other] = order[one];
        order[one] = swap;
    }
    free(a);
    return SX_OK;
}

/* Makes the plan of a search. */
static void make_plan(sx_run *run, bool salsa, void *points, plan *p) {
    int most = (int)sx_run_setting(run, SPATIAL), limit = salsa ? MAX_LPFS : (int)sx_run_setting(run, LPFS);
    p->seed = sx_run_seed(run);
    p->iterations = (uint64_t)sx_run_setting(run, ITERATIONS);
    p->temperature = sx_run_setting(run, TEMPERATURE);
    p->decay = sx_run_setting(run, DECAY);
    find_spatial(p, points, (char *)points + p->space->space.point_size);
    if (p->n_spatial > most) p->n_spatial = most;
    for (int i = 0; i < p->n_spatial; i++) {
        find_lpfs(p->space, limit, &p->spatial[i]);
        if (!salsa) count_orders(&p->spatial[i]);
    }
}

/* The orders that there are, those of the spatial mapping with most of them for each. */
static uint64_t count_all(const plan *p) {
    uint64_t most = 0, all;
    for (int i = 0; i < p->n_spatial; i++)
        if (p->spatial[i].n_orders > most) most = p->spatial[i].n_orders;
    return __builtin_mul_overflow(most, (uint64_t)p->n_spatial, &all) ? UINT64_MAX - TASKS * TASK_SIZE : all;
}

/* Searches as planned: LOMA until there is no order left, SALSA until the run ends. */
static void search_orders(sx_run *run, bool salsa, plan *p, state *s) {
    uint64_t total = salsa ? p->n_spatial ? UINT64_MAX / 2 : 0 : count_all(p), size = salsa ? 1 : TASK_SIZE;
    uint64_t evaluations = salsa ? p->iterations + 1 : TASK_SIZE;
    s->begun = 1;
    while (s->next < total && sx_run_continue(run)) {
        uint64_t left = sx_run_left(run), turn = sx_run_turn_left(run);
        uint64_t n = (turn < left ? turn : left) / evaluations + 1, rest = (total - s->next - 1) / size + 1;
        if (n > TASKS) n = TASKS;
        if (n > rest) n = rest;
        p->first = s->next;
        sx_run_tasks(run, n, salsa ? run_annealing : run_orders, p, NULL, 0);
        s->next += n * size;
    }
}

static sx_status search_by_zigzag(sx_run *run) {
    const sx_map_space *space = sx_map_space_of(sx_run_space(run));
    bool salsa = sx_run_setting(run, ORDER) == SALSA;
    state *s = sx_run_state(run, sizeof *s, NULL);
    plan *p = calloc(1, sizeof *p);
    void *points = calloc(2, space->space.point_size);
    bool ready = s && p && points;
    if (ready) {
        p->space = space;
        make_plan(run, salsa, points, p);
        if (!s->begun) sx_run_evaluate_starts(run, 0);
        search_orders(run, salsa, p, s);
        if (!sx_run_stopped(run) && !sx_run_incumbent(run, NULL))
            (void)sx_tiling_rescue(run, "zigzag.rescue", 0, points);
    }
    free(p);
    free(points);
    return ready ? SX_OK : sx_error_memory();
}

SX_NAVIGATOR(zigzag) = {
    .space = "map",
    .model = "map",
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_zigzag,
};
