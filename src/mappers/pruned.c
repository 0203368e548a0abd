/* Timeloop's random-pruned search.
 *
 * Source: the mapper that Demystifying MSE (IISWC 2022), section 4.3, calls Random-Pruned: Timeloop's
 * default. It draws a factorisation of all dimensions over all slots; for at most 16 random permutations of
 * its loops it goes through all ways to lay spatial loops on X and Y, and for each of these through all
 * choices of kept tensors, in order. Loops of one iteration are not permuted. A factorisation that the array
 * cannot hold is skipped; one that fits no memory, whatever of the choices tried is kept, is given up. It
 * ends after 500 legal mappings in a row that are no improvement (victory), or after 1,000 illegal ones in a
 * row (timeout).
 *
 * What differs. For each permutation and spread one random choice of kept tensors is tried, not all: with all
 * of them a thousand evaluations go to each factorisation, and five thousand see only five. Only one order of
 * each class that no cost tells apart is tried (of levels with up to 8 loops: more have too many classes).
 * `keeps=0,classes=off` is Timeloop's way. Legality does not depend on the order, so each choice is checked
 * once per factorisation, and illegal mappings do not count against the budget. Timeloop counts victory and
 * timeout in each of its threads; here tasks of a fixed size are joined into one sequence, whatever the
 * number of threads, and counted over that: a task ends when its own part of the sequence is enough for
 * victory or timeout, and the search ends after the tasks that were under way. A timeout that strikes before
 * anything was found has one point repaired first, so that it does not hide what a little more
 * work would find. Where levels are shared out by banks, which Timeloop does not know, there is one distribution for
 * each choice of what to keep. Choices beyond the first 4,096 are left out, and so are spreads of a level
 * beyond 1,024.
 *
 * Complexity: an evaluation per legal mapping; per factorisation a check for each choice that is tried. */
#include "base/divisor.h"
#include "base/status.h"
#include "mappers/tiling.h"
#include "run/navigator.h"
#include "space/map_choices.h"

#include <math.h>
#include <string.h>

enum { PERMUTATIONS, KEEPS, CLASSES, VICTORY, TIMEOUT };

static const char *const switches[] = {"off", "on", NULL};

static const sx_setting settings[] = {
    [PERMUTATIONS] = {"permutations", "maximum permutations per factorisation", "16, Timeloop's", 16, 1, 1e9,
                      true, NULL},
    [KEEPS] = {"keeps", "maximum bypass choices per permutation and unrolling; 0: all", "0", 1, 0, 1e9, true,
               NULL},
    [CLASSES] = {"classes", "try one order of each class of orders with equal cost", "off", 1, 0, 1, true,
                 switches},
    [VICTORY] = {"victory", "stop after this many legal mappings without improvement; 0: no limit",
                 "500, Timeloop's", 500, 0, 1e15, true, NULL},
    [TIMEOUT] = {"timeout", "stop after this many illegal mappings in a row; 0: no limit", "1000, Timeloop's",
                 1000, 0, 1e15, true, NULL},
};

enum {
    TASKS = 16,       /* joined at once, at most */
    TASK_SIZE = 1024, /* evaluations or draws of a task, about */
    MAX_MASKS = 4096,
    MAX_SPREADS = 1024, /* of one level */
    MAX_LISTED = 8,     /* loops of one level whose classes of orders are listed */
    HOPELESS = 1 << 20, /* illegal draws in a row that end a search which found nothing */
};

/* Result of a task, counted over its own part of the sequence. */
typedef struct account {
    double best;             /* INFINITY: no improvement */
    uint64_t valid;          /* legal mappings */
    uint64_t since;          /* legal ones since the best, all of them without one */
    uint64_t illegal, after; /* illegal ones in a row at the beginning and at the end */
} account;

/* State of a search. */
typedef struct state {
    uint64_t task;    /* the number of the next one */
    uint64_t since;   /* legal mappings since the best */
    uint64_t illegal; /* illegal ones in a row */
    account account[TASKS];
} state;

/* Shared by all tasks, read-only. */
typedef struct plan {
    const sx_map_space *space;
    sx_map_choices *choices;
    state *s;
    uint64_t seed, permutations, keeps, victory, timeout;
    bool classes;
    double incumbent;
    double room_x[SX_MAX_LEVELS], room_y[SX_MAX_LEVELS]; /* the fan-outs */
} plan;

/* The choices of a level for the current factorisation. */
typedef struct level_choices {
    uint32_t loops;                      /* dimensions with temporal loops */
    uint64_t n_orders;                   /* of these */
    const uint8_t (*order)[SX_MAX_DIMS]; /* NULL: all permutations */
    int n_layouts; /* ways to lay spatial loops on X that fit the array; 0: it has none */
    uint16_t on_x[MAX_SPREADS];
    int n_keeps;
    sx_map_keep keep[256];
} level_choices;

/* Whether a choice of what to keep fits, as far as it was tried. */
enum fit { UNKNOWN, YES, NO };

/* One task's walk. */
typedef struct walk {
    const plan *plan;
    const sx_map_space *space;
    sx_worker *worker;
    account *account;
    sx_rng rng;
    void *point;
    uint64_t evaluations;
    bool over;
    level_choices level_of[SX_MAX_LEVELS];
    uint64_t n_masks;
    uint8_t fits[MAX_MASKS];
} walk;

/* Counts an illegal mapping. */
static void count_illegal(walk *w) {
    account *a = w->account;
    sx_worker_reject(w->worker, 1);
    a->after++;
    if (!a->valid) a->illegal++;
    if (w->plan->timeout && a->after >= w->plan->timeout) w->over = true;
}

/* Evaluates the walk's point and counts it. */
static void evaluate(walk *w) {
    account *a = w->account;
    sx_outcome outcome = sx_worker_evaluate(w->worker, w->point, true);
    if (outcome.reason == SX_NOT_EVALUATED) w->over = true;
    if (outcome.reason && outcome.reason != SX_BEYOND) return;
    w->evaluations++;
    a->after = 0;
    a->valid++;
    a->since++;
    if (!outcome.reason && outcome.value < w->plan->incumbent && outcome.value < a->best) {
        a->best = outcome.value;
        a->since = 0;
    }
    if (w->plan->victory && a->since >= w->plan->victory) w->over = true;
    if (w->evaluations >= TASK_SIZE) w->over = true;
}

/* Finds what a level may keep: where it is not banked, whatever the factors are. */
static void find_keeps(walk *w, int level) {
    uint32_t extent[SX_MAX_DIMS] = {0};
    for (int d = 0; w->space->banked[level] && d < w->space->problem->n_dims; d++) {
        uint64_t reach = sx_mapping_extent(w->point, level, d), size = w->space->problem->size[d];
        extent[d] = (uint32_t)(reach < size ? reach : size);
    }
    w->level_of[level].n_keeps = sx_map_keeps_of(w->space, level, extent, w->level_of[level].keep);
}

/* Lets all levels keep choice number `index`; 0 keeps the most. */
static void set_keeps(walk *w, unsigned index) {
    for (int s = 0; s < w->space->arch->n_levels; s++) {
        const level_choices *m = &w->level_of[s];
        unsigned n = (unsigned)m->n_keeps;
        if (n == 1 && !w->space->banked[s]) continue;
        const sx_map_keep *choice = &m->keep[n - 1 - index % n];
        index /= n;
        sx_map_level(w->point, s)->keep = choice->keep;
        if (w->space->banked[s])
            memcpy(sx_map_banks(w->space, w->point, s), choice->banks, sizeof choice->banks);
    }
}

/* Counts the choices of what to keep that the factorisation has. */
static void find_masks(walk *w) {
    uint64_t n = 1;
    for (int s = 0; s < w->space->arch->n_levels; s++) {
        if (w->space->banked[s]) find_keeps(w, s);
        if (n < MAX_MASKS) n *= (uint64_t)w->level_of[s].n_keeps;
    }
    w->n_masks = n < MAX_MASKS ? n : MAX_MASKS;
    memset(w->fits, UNKNOWN, w->n_masks);
}

/* Lets the point keep choice number `index`; false where that does not fit. */
static bool keep_mask(walk *w, uint64_t index) {
    set_keeps(w, (unsigned)index);
    if (w->fits[index] == UNKNOWN)
        w->fits[index] = w->space->space.type->check(&w->space->space, w->point) == 0 ? YES : NO;
    if (w->fits[index] == NO) count_illegal(w);
    return w->fits[index] == YES;
}

/* Finds how the spatial loops of a level can lie on the array; false where they do not fit. */
static bool find_layouts(walk *w, int level) {
    const sx_mapping_level *at = sx_map_level(w->point, level);
    double room_x = w->plan->room_x[level], room_y = w->plan->room_y[level], all = 1;
    level_choices *m = &w->level_of[level];
    uint32_t loops = 0;
    for (int d = 0; d < w->space->problem->n_dims; d++) {
        loops |= (uint32_t)(at->spatial[d] > 1) << d;
        all *= at->spatial[d];
    }
    size_t n;
    const uint16_t *x = sx_map_layouts_of(w->plan->choices, level, loops, &n);
    if (!x) sx_worker_fail(w->worker, sx_error_memory());
    m->n_layouts = 0;
    for (size_t i = 0; x && i < n && m->n_layouts < MAX_SPREADS; i++) {
        double on_x = 1;
        for (uint32_t left = x[i]; left; left &= left - 1) on_x *= at->spatial[__builtin_ctz(left)];
        if (on_x <= room_x && all <= on_x * room_y) m->on_x[m->n_layouts++] = x[i];
    }
    return m->n_layouts > 0;
}

/* Lays the spatial loops of all levels by spread number `index`. */
static void set_spread(walk *w, uint64_t index) {
    for (int s = 0; s < w->space->arch->n_levels; s++) {
        const level_choices *m = &w->level_of[s];
        if (m->n_layouts == 0) continue;
        sx_map_set_layout(w->space, s, m->on_x[index % (uint64_t)m->n_layouts], w->point);
        index /= (uint64_t)m->n_layouts;
    }
}

/* a * b, or UINT64_MAX. */
static uint64_t times(uint64_t a, uint64_t b) {
    uint64_t out;
    return __builtin_mul_overflow(a, b, &out) ? UINT64_MAX : out;
}

/* Finds the orders of all levels' loops; returns how many there are together, 0 when memory is out. */
static uint64_t find_orders(walk *w) {
    uint64_t total = 1;
    bool spread = false;
    for (int d = 0; d < w->space->problem->n_dims; d++)
        spread = spread || sx_map_level(w->point, 0)->spatial[d] > 1;
    for (int s = 0; s < w->space->arch->n_levels; s++) {
        level_choices *m = &w->level_of[s];
        bool matters = sx_map_order_matters(w->space, s, spread);
        const uint32_t *factor = sx_map_level(w->point, s)->temporal;
        size_t n = 1;
        m->order = NULL;
        m->loops = 0;
        for (int d = 0; d < w->space->problem->n_dims; d++) m->loops |= (uint32_t)(factor[d] > 1) << d;
        bool listed = w->plan->classes && __builtin_popcount(m->loops) <= MAX_LISTED;
        if (listed || !matters) {
            m->order = sx_map_orders_of(w->plan->choices, s, m->loops, matters, &n);
            if (!m->order) sx_worker_fail(w->worker, sx_orders_failure(n));
            if (!m->order) return 0;
        } else {
            for (int i = __builtin_popcount(m->loops); i > 1; i--) n *= (size_t)i;
        }
        m->n_orders = n;
        total = times(total, n);
    }
    return total;
}

/* Puts a level's loops in permutation number `index`. */
static void permute(uint32_t loops, uint64_t index, uint8_t *order, int n_dims) {
    uint8_t loop[SX_MAX_DIMS];
    unsigned n = 0;
    for (int d = 0; d < n_dims; d++)
        if (loops >> d & 1) loop[n++] = (uint8_t)d;
    for (; n; n--) {
        unsigned i = (unsigned)(index % n);
        index /= n;
        *order++ = loop[i];
        memmove(loop + i, loop + i + 1, n - i - 1);
    }
    for (int d = 0; d < n_dims; d++)
        if (!(loops >> d & 1)) *order++ = (uint8_t)d;
}

/* Gives all levels the order number `index`, or (UINT64_MAX) random ones. */
static void set_orders(walk *w, uint64_t index) {
    int n_dims = w->space->problem->n_dims;
    for (int s = 0; s < w->space->arch->n_levels; s++) {
        const level_choices *m = &w->level_of[s];
        uint64_t digit = index == UINT64_MAX ? sx_rng_below(&w->rng, m->n_orders) : index % m->n_orders;
        if (index != UINT64_MAX) index /= m->n_orders;
        uint8_t *order = sx_map_level(w->point, s)->temporal_order;
        if (m->order)
            memcpy(order, m->order[digit], (size_t)n_dims);
        else
            permute(m->loops, digit, order, n_dims);
    }
}

/* A random number below n (which is beyond 1) that has no divisor in common with it. */
static uint64_t coprime(sx_rng *rng, uint64_t n) {
    uint64_t out;
    do out = 1 + sx_rng_below(rng, n - 1);
    while (sx_divisor_common(out, n) != 1);
    return out;
}

/* Distinct numbers below a limit in random order: steps of a stride that is coprime to it. */
typedef struct sequence {
    uint64_t total, at, step;
} sequence;

/* A sequence of which n numbers will be drawn. */
static sequence shuffle(sx_rng *rng, uint64_t total, uint64_t n) {
    return (sequence){total, sx_rng_below(rng, total), n > 1 && total > 2 ? coprime(rng, total) : 1};
}

/* The next number of a sequence. */
static uint64_t draw(sequence *d) {
    uint64_t out = d->at, rest = d->total - d->step;
    d->at = d->at < rest ? d->at + d->step : d->at - rest;
    return out;
}

/* Evaluates the point with all that it may keep, in order, or with some random choices; false where none
 * fits. */
static bool walk_masks(walk *w) {
    bool all = w->plan->keeps == 0 || w->plan->keeps >= w->n_masks, any = false;
    uint64_t n = all ? w->n_masks : w->plan->keeps;
    sequence masks = all ? (sequence){n, 0, 1} : shuffle(&w->rng, w->n_masks, n);
    for (uint64_t i = 0; i < n && !w->over; i++) {
        if (!keep_mask(w, draw(&masks))) continue;
        evaluate(w);
        any = true;
    }
    return any;
}

/* Goes through the spreads of one permutation; false where the factorisation is to be given up. */
static bool walk_permutation(walk *w, uint64_t n_layouts) {
    for (uint64_t x = 0; x < n_layouts && !w->over; x++) {
        set_spread(w, x);
        sx_map_normalize(w->space, w->point);
        if (!walk_masks(w)) return false;
    }
    return !sx_worker_stopped(w->worker);
}

/* Goes through what follows from one factorisation. Orders are drawn without replacement where their number
 * fits a word. */
static void walk_factorisation(walk *w) {
    uint64_t n_layouts = 1, total = find_orders(w);
    for (int s = 0; s < w->space->arch->n_levels; s++)
        if (w->level_of[s].n_layouts) n_layouts = times(n_layouts, (uint64_t)w->level_of[s].n_layouts);
    if (!total) {
        w->over = true;
        return;
    }
    find_masks(w);
    if (w->n_masks == 0) {
        count_illegal(w);
        return;
    }
    bool countable = total < UINT64_MAX;
    uint64_t n = total < w->plan->permutations ? total : w->plan->permutations;
    sequence orders = countable ? shuffle(&w->rng, total, n) : (sequence){0};
    for (uint64_t i = 0; i < n && !w->over; i++) {
        set_orders(w, countable ? draw(&orders) : UINT64_MAX);
        if (!walk_permutation(w, n_layouts)) break;
    }
}

/* Draws a factorisation of all dimensions; false where the array cannot hold it. */
static bool draw_factors(walk *w) {
    const sx_map_space *space = w->space;
    double used[SX_MAX_LEVELS];
    for (int s = 0; s < space->arch->n_levels; s++) used[s] = 1;
    for (int d = 0; d < space->problem->n_dims; d++) {
        uint32_t factor[SX_MAX_SLOTS];
        sx_factors_draw(space->factors[d], &w->rng, factor);
        for (int s = 0; s < space->arch->n_levels; s++) {
            if (space->spatial_slot[s] < 0) continue;
            used[s] *= factor[space->spatial_slot[s]];
            if (used[s] > w->plan->room_x[s] * w->plan->room_y[s]) return false;
        }
        sx_map_set_factors(space, d, factor, w->point);
    }
    for (int s = 0; s < space->arch->n_levels; s++)
        if (space->spatial_slot[s] >= 0 && !find_layouts(w, s)) return false;
    return true;
}

/* A task: factorisations until it has done its share; its output is an account of them. */
static sx_status run_task(const void *input, size_t task, sx_worker *worker, void *output) {
    const plan *p = input;
    walk w = {.plan = p, .space = p->space, .worker = worker, .point = sx_worker_scratch(worker, 0)};
    w.account = output;
    *w.account = (account){.best = INFINITY};
    w.rng = sx_rng_stream(p->seed, "pruned", p->s->task + task);
    p->space->space.type->draw(&p->space->space, &w.rng, w.point);
    for (int s = 0; s < p->space->arch->n_levels; s++) find_keeps(&w, s);
    for (int draws = 0; draws < TASK_SIZE && !w.over && !sx_worker_stopped(worker); draws++) {
        if (draw_factors(&w))
            walk_factorisation(&w);
        else
            count_illegal(&w);
    }
    return SX_OK;
}

/* Joins the accounts of n tasks; false where victory or timeout is reached. */
static bool join(const plan *p, size_t n) {
    state *s = p->s;
    double best = p->incumbent;
    for (size_t i = 0; i < n; i++) {
        const account *a = &s->account[i];
        uint64_t illegal = s->illegal + a->illegal;
        bool better = a->best < best;
        s->since = better ? a->since : s->since + a->valid;
        s->illegal = a->valid ? a->after : illegal;
        if (better) best = a->best;
        if (p->victory && s->since >= p->victory) return false;
        if (p->timeout && (illegal >= p->timeout || s->illegal >= p->timeout)) return false;
    }
    return best < INFINITY || s->illegal < HOPELESS;
}

/* Evaluates a legal mapping where none was found; false where that fails. */
static bool rescue(sx_run *run, state *s, void *point) {
    s->illegal = 0;
    return sx_tiling_rescue(run, "pruned.rescue", s->task, point);
}

static sx_status search(sx_run *run) {
    plan p = {.space = sx_map_space_of(sx_run_space(run)), .seed = sx_run_seed(run)};
    p.permutations = (uint64_t)sx_run_setting(run, PERMUTATIONS);
    p.keeps = (uint64_t)sx_run_setting(run, KEEPS);
    p.classes = sx_run_setting(run, CLASSES) != 0;
    p.victory = (uint64_t)sx_run_setting(run, VICTORY);
    p.timeout = (uint64_t)sx_run_setting(run, TIMEOUT);
    for (int s = 0; s < p.space->arch->n_levels; s++) {
        p.room_x[s] = (double)sx_arch_fanout_x(p.space->arch, s);
        p.room_y[s] = (double)sx_arch_fanout_y(p.space->arch, s);
    }
    bool resumed;
    p.s = sx_run_state(run, sizeof *p.s + p.space->space.point_size, &resumed);
    if (!p.s) return sx_error_memory();
    if (!resumed) sx_run_evaluate_starts(run, 0);
    SX_TRY(sx_map_choices_new(p.space, &p.choices));
    while (sx_run_continue(run)) {
        uint64_t left = sx_run_left(run), turn = sx_run_turn_left(run);
        uint64_t n = (turn < left ? turn : left) / TASK_SIZE + 1;
        if (n > TASKS) n = TASKS;
        sx_run_incumbent(run, &p.incumbent);
        sx_run_tasks(run, n, run_task, &p, p.s->account, sizeof *p.s->account);
        p.s->task += n;
        if (join(&p, n)) continue;
        if (sx_run_incumbent(run, &p.incumbent) || !rescue(run, p.s, p.s + 1)) break;
    }
    sx_map_choices_free(p.choices);
    return SX_OK;
}

SX_NAVIGATOR(pruned) = {
    .source = "Demystifying MSE (IISWC 2022), section 4.3; Timeloop's random-pruned search",
    .space = "map",
    .model = "map",
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search,
};
