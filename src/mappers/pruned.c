/* Timeloop's random-pruned search.
 *
 * Source: the mapper that Demystifying MSE (IISWC 2022), section 4.3, calls Random-Pruned: Timeloop's
 * default. It draws a factorisation of all dimensions over all slots; for at most 16 random permutations of
 * its loops it goes through all ways to lay spatial loops on X and Y, and for each of these through all
 * choices of kept tensors, in order. Loops of one iteration are not permuted. A factorisation that the array
 * cannot hold is skipped; one whose tiles fit no memory, whatever is kept, is given up. It ends after 500
 * legal mappings in a row that are no improvement (victory), or after 1,000 illegal ones in a row (timeout).
 *
 * What differs. Only one order of each class that no cost tells apart is tried (`classes=off` permutes as
 * Timeloop does). Legality does not depend on the order, so it is checked for the first permutation only, and
 * illegal mappings do not count against the budget. Timeloop counts victory and timeout in each of its
 * threads; here tasks of a fixed size are joined into one sequence, whatever the number of threads, and
 * counted over that: a task ends when its own share of the sequence is enough for victory or timeout, and the
 * search ends after the tasks that were under way. A timeout that strikes before anything was found has one
 * point brought to legality first, so that it does not hide what a little more work would find. Where levels
 * are shared out by banks, which Timeloop does not know, each permutation has them dealt out at random.
 * Choices of what to keep beyond 4,096 are left out.
 *
 * Complexity: an evaluation per legal mapping; per factorisation a check for each choice of kept tensors. */
#include "base/status.h"
#include "run/navigator.h"
#include "space/map_space.h"

#include <math.h>
#include <string.h>

enum { PERMUTATIONS, CLASSES, VICTORY, TIMEOUT };

static const char *const switches[] = {"off", "on", NULL};

static const sx_setting settings[] = {
    [PERMUTATIONS] = {"permutations", "permutations tried of each factorisation, at most", "16, Timeloop's",
                      16, 1, 1e9, true, NULL},
    [CLASSES] = {"classes", "try one order of each class that no cost tells apart", "off", 1, 0, 1, true,
                 switches},
    [VICTORY] = {"victory", "end after so many legal mappings without improvement; 0: never",
                 "500, Timeloop's", 500, 0, 1e15, true, NULL},
    [TIMEOUT] = {"timeout", "end after so many illegal mappings in a row; 0: never", "1000, Timeloop's", 1000,
                 0, 1e15, true, NULL},
};

enum {
    TASKS = 16,       /* joined at once, at most */
    TASK_SIZE = 1024, /* evaluations or draws of a task, about */
    MAX_MASKS = 4096,
    MAX_SPREADS = 1024, /* of one level */
    HOPELESS = 1 << 20, /* illegal draws in a row that end a search which found nothing */
};

/* What a task tells: counted over its own part of the sequence. */
typedef struct account {
    double best;             /* INFINITY: no improvement */
    uint64_t valid;          /* legal mappings */
    uint64_t since;          /* legal ones since the best, all of them without one */
    uint64_t illegal, after; /* illegal ones in a row at the beginning and at the end */
} account;

/* What a search remembers. */
typedef struct state {
    uint64_t task;    /* the number of the next one */
    uint64_t since;   /* legal mappings since the best */
    uint64_t illegal; /* illegal ones in a row */
    account account[TASKS];
} state;

/* What all tasks read. */
typedef struct plan {
    const sx_map_space *space;
    state *s;
    uint64_t seed, permutations, victory, timeout;
    bool classes;
    double incumbent;
} plan;

/* The orders of a level's loops. */
typedef struct menu {
    uint64_t n;
    const uint8_t (*order)[SX_MAX_DIMS]; /* NULL: all permutations of the loops */
    uint32_t loops;
} menu;

/* The ways to lay a level's spatial loops on X: those that fit. */
typedef struct spreads {
    int n;
    uint16_t x[MAX_SPREADS];
} spreads;

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
    menu menu[SX_MAX_LEVELS];
    spreads spreads[SX_MAX_LEVELS];
    int n_masks;
    uint16_t mask[MAX_MASKS];
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

/* The bits of `digits` laid on the ones of `mask`, lowest first. */
static unsigned deposit(unsigned digits, unsigned mask) {
    unsigned out = 0;
    for (; mask; mask &= mask - 1, digits >>= 1)
        if (digits & 1) out |= mask & -mask;
    return out;
}

/* Lets all levels keep choice number `index`; 0 keeps all that may be kept. */
static void set_mask(walk *w, unsigned index) {
    for (int s = 0; s < w->space->arch->n_levels; s++) {
        unsigned may = w->space->free_keep[s];
        if (!may) continue;
        unsigned dropped = deposit(index, may);
        index >>= __builtin_popcount(may);
        sx_map_level(w->point, s)->keep = (uint8_t)(w->space->fixed_keep[s] | (may & ~dropped));
    }
}

/* Finds the choices of kept tensors that fit; false where none does. */
static bool find_masks(walk *w) {
    int bits = 0;
    for (int s = 0; s < w->space->arch->n_levels; s++) bits += __builtin_popcount(w->space->free_keep[s]);
    unsigned n = bits < 12 ? 1u << bits : MAX_MASKS;
    w->n_masks = 0;
    for (unsigned i = 0; i < n && !w->over; i++) {
        set_mask(w, i);
        if (w->space->space.type->check(&w->space->space, w->point) == 0)
            w->mask[w->n_masks++] = (uint16_t)i;
        else
            count_illegal(w);
    }
    return w->n_masks > 0;
}

/* Finds how a level's spatial loops can lie on the array; false where they do not fit at all. */
static bool find_spreads(walk *w, int level) {
    const sx_mapping_level *at = sx_map_level(w->point, level);
    double room_x = (double)sx_arch_fanout_x(w->space->arch, level);
    double room_y = (double)sx_arch_fanout_y(w->space->arch, level);
    unsigned may = 0;
    double all = 1;
    for (int d = 0; d < w->space->problem->n_dims; d++) {
        if (at->spatial[d] > 1 && w->space->free_x[level] >> d & 1) may |= 1u << d;
        all *= at->spatial[d];
    }
    spreads *out = &w->spreads[level];
    out->n = 0;
    if (all > room_x * room_y) return false;
    unsigned n = 1u << __builtin_popcount(may);
    for (unsigned i = 0; i < n && out->n < MAX_SPREADS; i++) {
        unsigned x = deposit(i, may) | w->space->fixed_x[level];
        double on_x = 1;
        for (int d = 0; d < w->space->problem->n_dims; d++)
            if (x >> d & 1) on_x *= at->spatial[d];
        if (on_x <= room_x && all / on_x <= room_y) out->x[out->n++] = (uint16_t)x;
    }
    return out->n > 0;
}

/* Lays the spatial loops of all levels by spread number `index`. */
static void set_spread(walk *w, uint64_t index) {
    int n_dims = w->space->problem->n_dims;
    for (int s = 0; s < w->space->arch->n_levels; s++) {
        if (w->space->spatial_slot[s] < 0) continue;
        const spreads *from = &w->spreads[s];
        unsigned x = from->x[index % (uint64_t)from->n];
        index /= (uint64_t)from->n;
        sx_mapping_level *at = sx_map_level(w->point, s);
        uint8_t *to = at->spatial_order;
        for (int d = 0; d < n_dims; d++)
            if (x >> d & 1) *to++ = (uint8_t)d;
        at->split = (uint8_t)(to - at->spatial_order);
        for (int d = 0; d < n_dims; d++)
            if (!(x >> d & 1)) *to++ = (uint8_t)d;
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
    for (int s = 0; s < w->space->arch->n_levels; s++) {
        menu *m = &w->menu[s];
        const uint32_t *factor = sx_map_level(w->point, s)->temporal;
        *m = (menu){.n = 1};
        for (int d = 0; d < w->space->problem->n_dims; d++)
            if (factor[d] > 1) m->loops |= 1u << d;
        size_t n = 0;
        if (w->plan->classes) {
            m->order = sx_orders_classes(w->space->orders, m->loops, &n);
            if (!m->order) return 0;
            m->n = n;
        } else {
            for (int i = __builtin_popcount(m->loops); i > 1; i--) m->n *= (uint64_t)i;
        }
        total = times(total, m->n);
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
        const menu *m = &w->menu[s];
        uint64_t digit = index == UINT64_MAX ? sx_rng_below(&w->rng, m->n) : index % m->n;
        if (index != UINT64_MAX) index /= m->n;
        uint8_t *order = sx_map_level(w->point, s)->temporal_order;
        if (m->order)
            memcpy(order, m->order[digit], (size_t)n_dims);
        else
            permute(m->loops, digit, order, n_dims);
    }
}

/* The greatest common divisor. */
static uint64_t gcd(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A random number below n (which is beyond 1) that has no divisor in common with it. */
static uint64_t coprime(sx_rng *rng, uint64_t n) {
    uint64_t out;
    do out = 1 + sx_rng_below(rng, n - 1);
    while (gcd(out, n) != 1);
    return out;
}

/* Goes through the spreads and masks of one permutation; false where the factorisation is to be given up. */
static bool walk_permutation(walk *w, uint64_t spread_count, bool first) {
    for (uint64_t x = 0; x < spread_count && !w->over; x++) {
        set_spread(w, x);
        sx_map_settle(w->space, w->point);
        if (first && x == 0 && !find_masks(w)) return false;
        for (int i = 0; i < w->n_masks && !w->over; i++) {
            set_mask(w, w->mask[i]);
            evaluate(w);
        }
    }
    return !sx_worker_stopped(w->worker);
}

/* Goes through what follows from one factorisation. Permutations are drawn without replacement, as steps of a
 * random width through all of them, where their number fits a word. */
static void walk_factorisation(walk *w) {
    uint64_t spread_count = 1, total = find_orders(w);
    for (int s = 0; s < w->space->arch->n_levels; s++)
        if (w->space->spatial_slot[s] >= 0) spread_count = times(spread_count, (uint64_t)w->spreads[s].n);
    if (!total) {
        w->over = true;
        return;
    }
    bool few = total < UINT64_MAX / 2;
    uint64_t n = total < w->plan->permutations ? total : w->plan->permutations;
    uint64_t index = few ? sx_rng_below(&w->rng, total) : UINT64_MAX, step = 1;
    if (few && total > 2) step = coprime(&w->rng, total);
    for (uint64_t i = 0; i < n && !w->over; i++) {
        set_orders(w, index);
        if (w->space->banks_at) sx_map_draw_axis(w->space, &w->rng, SX_AXIS_BANKS, w->point);
        if (!walk_permutation(w, spread_count, i == 0)) break;
        if (few) index = index + step < total ? index + step : index + step - total;
    }
}

/* A task: factorisations until it has done its share. */
static void run_task(void *user, size_t task, sx_worker *worker) {
    const plan *p = user;
    walk w = {.plan = p, .space = p->space, .worker = worker, .point = sx_worker_scratch(worker, 0)};
    w.account = &p->s->account[task];
    *w.account = (account){.best = INFINITY};
    w.rng = sx_rng_stream(p->seed, "pruned", p->s->task + task);
    p->space->space.type->draw(&p->space->space, &w.rng, w.point);
    for (int draws = 0; draws < TASK_SIZE && !w.over && !sx_worker_stopped(worker); draws++) {
        sx_map_draw_axis(p->space, &w.rng, SX_AXIS_TILE, w.point);
        bool fits = true;
        for (int s = 0; s < p->space->arch->n_levels && fits; s++)
            if (p->space->spatial_slot[s] >= 0) fits = find_spreads(&w, s);
        if (fits)
            walk_factorisation(&w);
        else
            count_illegal(&w);
    }
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

/* Brings one draw to legality and evaluates it; false where that fails. */
static bool rescue(sx_run *run, state *s, void *point) {
    sx_rng rng = sx_rng_stream(sx_run_seed(run), "pruned.rescue", s->task);
    uint64_t rejected = 0;
    bool legal = sx_space_draw_legal(sx_run_space(run), &rng, point, &rejected);
    sx_run_reject(run, rejected);
    sx_outcome outcome;
    s->illegal = 0;
    return legal && sx_run_evaluate(run, point, 1, &outcome) == 1 && !outcome.reason;
}

/* Evaluates the start points. */
static void evaluate_starts(sx_run *run) {
    size_t n, size = sx_run_space(run)->point_size;
    const unsigned char *start = sx_run_starts(run, &n);
    sx_outcome outcome;
    for (size_t i = 0; i < n; i++) sx_run_evaluate(run, start + i * size, 1, &outcome);
}

static sx_status search(sx_run *run) {
    plan p = {.space = sx_map_space_of(sx_run_space(run)), .seed = sx_run_seed(run)};
    p.permutations = (uint64_t)sx_run_setting(run, PERMUTATIONS);
    p.classes = sx_run_setting(run, CLASSES) != 0;
    p.victory = (uint64_t)sx_run_setting(run, VICTORY);
    p.timeout = (uint64_t)sx_run_setting(run, TIMEOUT);
    bool resumed;
    p.s = sx_run_state(run, sizeof *p.s + p.space->space.point_size, &resumed);
    if (!p.s) return sx_error_memory();
    if (!resumed) evaluate_starts(run);
    while (sx_run_continue(run)) {
        uint64_t n = sx_run_left(run) / TASK_SIZE + 1;
        if (n > TASKS) n = TASKS;
        sx_run_incumbent(run, &p.incumbent);
        sx_run_tasks(run, n, run_task, &p);
        p.s->task += n;
        if (join(&p, n)) continue;
        if (sx_run_incumbent(run, &p.incumbent) || !rescue(run, p.s, p.s + 1)) break;
    }
    return SX_OK;
}

SX_NAVIGATOR(pruned) = {
    .source = "Demystifying MSE (IISWC 2022), section 4.3; Timeloop's random-pruned search",
    .needs = SX_MAP_SPACE,
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search,
};
