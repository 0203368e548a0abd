/* The best mapping of a space, proven: branch and bound over everything that a map space holds.
 *
 * Source: our own, after the exact mappers that decompose the cost over the lattice of tile extents. A
 * mapping is decided in three parts, each with a lower bound of all that is left open (model/bound.h): how
 * loops are spread over the arrays (optimal_arrays.c; with it the compute cycles are known), what each level
 * keeps, then tiles and orders from the innermost level outward (optimal_descend.c). Open parts stand in a
 * heap (optimal_nodes.c): arrays at first, of which those that take long are taken apart. The most hopeful
 * ones are looked at, first to sharpen the bound by tables, then to evaluate all mappings of theirs that may
 * be better than what is known. So the least bound in the heap is at any time a proven lower bound of
 * everything not seen, from the first moment on. The first incumbent is Sunstone's (optimal_start.c).
 *
 * Looks are tasks, some at a time; each knows what was known when they began, and what it finds itself. They
 * do not learn from each other meanwhile, as that would make results depend on who is faster. What is worth
 * a look, with several best mappings, a front or several criteria: optimal_judge.c. Several criteria take a
 * search each.
 *
 * Complexity: exponential at worst. Memory: a node per array, and per thread a table of the lattice for each
 * level and class of orders. */
#include "base/status.h"
#include "mappers/optimal_parts.h"
#include "run/navigator.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { GAP, SUNSTONE, GAMMA, DESCENTS, MOVES, TABLES, ARRAYS, EFFORT };

static const char *const on_off[] = {"off", "on", NULL};

static const sx_setting settings[] = {
    [GAP] = {"gap", "end when the best is proven to be within this share of the optimum", NULL, 0, 0, 10,
             false, NULL},
    [SUNSTONE] = {"sunstone", "begin with the answer of sunstone:plus=on", NULL, 1, 0, 1, true, on_off},
    [GAMMA] = {"gamma", "evaluations of gamma where the proof turns out to be long, at most", NULL, 0, 0, 1e9,
               true, NULL},
    [DESCENTS] = {"descents", "descents by random moves to begin with, where there is no answer by those",
                  NULL, 16, 0, 10000, true, NULL},
    [MOVES] = {"moves", "moves of each of them", NULL, 300, 1, 1000000, true, NULL},
    [TABLES] = {"tables", "bound by tables over all tiles", NULL, 1, 0, 1, true, on_off},
    [ARRAYS] = {"arrays", "refuse spaces with more ways to spread loops than this", NULL, 1e6, 1, 1e8, true,
                NULL},
    [EFFORT] = {"effort", "end after about so many million steps of the proof; 0: never", NULL, 0, 0, 1e9,
                false, NULL},
};

enum {
    MOST_POINTS = 1 << 20,
    MOST_CHOICES = 16 /* bits */,
    SEARCHES = 16, /* of a round */
    LOOKS = 4096,  /* of a round, at most */
    FIRST_EFFORT = 20000,
    LONG = 500000, /* steps */
    CHUNK = 512,   /* arrays of a task */
    POLL = 64,     /* of them between two looks at the clock */
    MOST_LOOKS = 30
};

/* What a search remembers: this, then per array the bound by tables and whether it was searched, then the
 * best points of the criteria that are done, then the heap. */
typedef struct state {
    sx_optimal_begun begun;
    uint64_t n_arrays, n_nodes, room;
    uint64_t steps;
    uint64_t criterion, listed; /* the one at hand; its arrays are in the heap */
    double least[SX_MAX_CRITERIA];
    uint64_t found; /* criteria that have a point, as a mask */
    sx_score score[SX_MAX_CRITERIA];
} state;

/* What all tasks read, and what each writes. */
typedef struct plan {
    sx_run *run;
    const sx_map_space *space;
    sx_map_choices *choices;
    sx_bound *bound;
    sx_arrays arrays;
    sx_judge judge;
    sx_optimal_start start;
    state *s;
    double *sharp;     /* of the state: per array, the bound by tables */
    uint8_t *searched; /* of the state: per array */
    unsigned char *point;
    sx_node *heap;
    sx_hope known; /* at the start of the tasks */
    size_t n_looks;
    sx_look *look;
    sx_hope *hope;
    sx_ending *ending;
    pthread_mutex_t lock;
    size_t n_idle, idle_room; /* under the lock: workspaces */
    sx_descent **idle;
    atomic_bool failed; /* memory is out */
} plan;

/* Where the parts of a state begin, up to the end. */
static size_t lay_out(const plan *p, size_t *sharp, size_t *searched, size_t *point, size_t *heap) {
    const sx_objective *objective = sx_run_objective(p->run);
    size_t n = p->arrays.n, points = objective->n_criteria > 1 ? objective->n_criteria : 0;
    *sharp = sizeof(state);
    *searched = *sharp + n * sizeof(double);
    *point = *searched + (n + 7) / 8 * 8;
    *heap = *point + (points * p->space->space.point_size + 7) / 8 * 8;
    return *heap;
}

/* Finds the parts of the state, which may have moved. */
static void find_parts(plan *p, void *block) {
    size_t sharp, searched, point, heap;
    lay_out(p, &sharp, &searched, &point, &heap);
    p->s = block;
    p->sharp = (double *)(void *)((char *)block + sharp);
    p->searched = (uint8_t *)block + searched;
    p->point = (unsigned char *)block + point;
    p->heap = (sx_node *)(void *)((char *)block + heap);
}

/* Puts a node into the heap; false when memory is out. */
static bool push(plan *p, const sx_node *node) {
    state *s = p->s;
    if (s->n_nodes == s->room) {
        size_t a, b, c, d, room = s->room ? 2 * s->room : 1024;
        void *block = sx_run_state_resize(p->run, lay_out(p, &a, &b, &c, &d) + room * sizeof *node);
        if (!block) return false;
        find_parts(p, block);
        s = p->s;
        s->room = room;
    }
    p->heap[s->n_nodes] = *node;
    sx_heap_push(p->heap, s->n_nodes++);
    return true;
}

/* A workspace that nobody uses, or a new one. */
static sx_status take_descent(plan *p, sx_descent **out) {
    pthread_mutex_lock(&p->lock);
    sx_descent *descent = p->n_idle > 0 ? p->idle[--p->n_idle] : NULL;
    pthread_mutex_unlock(&p->lock);
    *out = descent;
    return descent ? SX_OK : sx_descent_new(p->bound, p->choices, p->space, out);
}

static void give_descent(plan *p, sx_descent *descent) {
    pthread_mutex_lock(&p->lock);
    if (p->n_idle == p->idle_room) {
        size_t room = p->idle_room + 16;
        sx_descent **idle = realloc(p->idle, room * sizeof *idle);
        p->idle = idle ? idle : p->idle;
        p->idle_room = idle ? room : p->idle_room;
    }
    bool kept = p->n_idle < p->idle_room;
    if (kept) p->idle[p->n_idle++] = descent;
    pthread_mutex_unlock(&p->lock);
    if (!kept) sx_descent_free(descent);
}

/* A task: a look at a node. */
static void run_look(void *user, size_t task, sx_worker *worker) {
    plan *p = user;
    sx_look *look = &p->look[task];
    sx_descent *descent;
    sx_status status = take_descent(p, &descent);
    p->ending[task] = SX_STOPPED;
    sx_hope_copy(&p->hope[task], &p->known);
    if (status || p->hope[task].failed) {
        sx_status_free(status);
        atomic_store(&p->failed, true);
        return;
    }
    look->arrays = &p->arrays;
    look->hope = &p->hope[task];
    look->worker = worker;
    unsigned looks = look->node.looks < MOST_LOOKS ? look->node.looks : MOST_LOOKS;
    look->effort = (uint64_t)FIRST_EFFORT << looks;
    p->ending[task] = looks == 0 ? sx_descent_sharpen(descent, look) : sx_descent_search(descent, look);
    if (look->hope->failed) atomic_store(&p->failed, true);
    give_descent(p, descent);
}

/* Makes everything but the state; refuses what is too large. */
static sx_status make_plan(plan *p, sx_run *run) {
    const sx_map_space *space = p->space = sx_map_space_of(sx_run_space(run));
    const sx_objective *objective = sx_run_objective(run);
    int bits = 0;
    p->run = run;
    if (space->options.remainders)
        return sx_error_hint(
            sx_error_new(SX_ERR_LIMIT, "no bounds are known for factors that leave remainders"),
            "search without remainders, or with another mapper");
    for (int s = 0; s < space->arch->n_levels; s++)
        bits += __builtin_popcount((unsigned)space->free_keep[s] | space->banked[s]);
    if (bits > MOST_CHOICES)
        return sx_error_hint(
            sx_error_new(SX_ERR_LIMIT, "there are 2^%d ways to keep tensors in memories", bits),
            "say where they are kept, or search with another mapper");
    p->judge = (sx_judge){.objective = objective,
                          .gap = sx_run_setting(run, GAP),
                          .k = objective->n_criteria == 1 ? sx_run_k_best(run) : 1,
                          .front = sx_run_pareto(run),
                          .tables = sx_run_setting(run, TABLES) > 0};
    SX_TRY(sx_map_choices_new(space, &p->choices));
    SX_TRY(sx_bound_new(space->model, MOST_POINTS, &p->bound));
    SX_TRY(sx_arrays_list(p->choices, space, (size_t)sx_run_setting(run, ARRAYS), &p->arrays));
    p->look = calloc(LOOKS, sizeof *p->look);
    p->hope = calloc(LOOKS, sizeof *p->hope);
    p->ending = calloc(LOOKS, sizeof *p->ending);
    return p->look && p->hope && p->ending ? SX_OK : sx_error_memory();
}

static void free_plan(plan *p) {
    for (size_t i = 0; i < LOOKS; i++) {
        if (p->look) free(p->look[i].left.at);
        if (p->hope) sx_hope_fini(&p->hope[i]);
    }
    for (size_t i = 0; i < p->n_idle; i++) sx_descent_free(p->idle[i]);
    sx_hope_fini(&p->known);
    free(p->idle);
    free(p->look);
    free(p->hope);
    free(p->ending);
    sx_arrays_fini(&p->arrays);
    sx_bound_free(p->bound);
    sx_map_choices_free(p->choices);
}

/* A list of nodes of arrays that tasks bound. */
typedef struct listing {
    plan *plan;
    sx_node *node;
} listing;

/* A task: some arrays, each by itself. */
static void run_arrays(void *user, size_t task, sx_worker *worker) {
    const listing *l = user;
    plan *p = l->plan;
    sx_descent *descent;
    sx_status status = take_descent(p, &descent);
    if (status) {
        sx_status_free(status);
        atomic_store(&p->failed, true);
        return;
    }
    size_t end = p->arrays.n - task * CHUNK < CHUNK ? p->arrays.n : (task + 1) * CHUNK;
    for (size_t i = task * CHUNK; i < end && sx_worker_goes_on(worker); i += POLL)
        sx_descent_arrays(descent, &p->arrays, &p->judge, l->node + i, end - i < POLL ? end - i : POLL);
    give_descent(p, descent);
}

/* Makes a node of every array. */
static void begin_nodes(sx_node *node, size_t n) {
    for (size_t i = 0; i < n; i++)
        node[i] = (sx_node){
            .bound = -INFINITY, .from = -INFINITY, .array = (uint32_t)i, .keep = SX_ANY_KEEP, .parts = 1};
}

/* Bounds every array by itself, as far as the run lets it; -INFINITY for the others. */
static sx_status bound_arrays(plan *p, sx_node *out) {
    size_t n = p->arrays.n;
    listing l = {p, out};
    for (size_t i = 0; i < n; i++)
        out[i] = (sx_node){
            .bound = -INFINITY, .from = -INFINITY, .array = (uint32_t)i, .keep = SX_ANY_KEEP, .parts = 1};
    sx_run_tasks(p->run, (n + CHUNK - 1) / CHUNK, run_arrays, &l);
    return atomic_load(&p->failed) ? sx_error_memory() : SX_OK;
}

/* Puts all arrays into the heap for the criterion at hand. */
static sx_status list_arrays(plan *p) {
    size_t n = p->arrays.n;
    sx_node *node = malloc((n + 1) * sizeof *node);
    sx_status status = node ? bound_arrays(p, node) : sx_error_memory();
    p->s->n_nodes = 0;
    for (size_t i = 0; i < n && !status; i++) {
        p->sharp[i] = node[i].bound;
        p->searched[i] = 0;
        if (node[i].bound < INFINITY && !push(p, &node[i])) status = sx_error_memory();
    }
    free(node);
    p->s->listed = true;
    return status;
}

/* The least bound of all that is open; INFINITY where nothing is. */
static double least_open(const plan *p) {
    double least = INFINITY;
    for (size_t i = 0; i < p->s->n_nodes; i++) {
        const sx_node *node = &p->heap[i];
        if (sx_hope_open(&p->known, node->bound, node->energy, node->cycles))
            least = fmin(least, node->bound);
    }
    return least;
}

/* States a lower bound of the first criterion: what is open, what is known, and what the gap gave up. */
static void tell_bound(const plan *p) {
    const sx_shelf *best = &p->known.kept;
    double least = fmin(least_open(p), p->known.limit);
    if (best->n > 0) least = fmin(least, best->kept[0].value);
    if (p->judge.criterion == 0 && sx_judge_sound(&p->judge, 0) && least > 0 && least < INFINITY)
        sx_run_bound(p->run, least * (1 - 1e-12));
}

/* Drops nodes that leave no hope from the top of the heap; false where nothing is left. */
static bool drop_closed(plan *p) {
    state *s = p->s;
    const sx_node *top = p->heap;
    while (s->n_nodes > 0 && !sx_hope_open(&p->known, top->bound, top->energy, top->cycles))
        sx_heap_pop(p->heap, s->n_nodes--);
    return s->n_nodes > 0;
}

/* Takes the most hopeful nodes out of the heap; returns how many. */
static size_t pick(plan *p) {
    state *s = p->s;
    size_t most = s->n_nodes / 256, searches = 0, n = 0;
    most = most < SEARCHES || p->judge.k > 1 ? SEARCHES : most > LOOKS ? LOOKS : most;
    while (s->n_nodes > 0 && n < most && searches < SEARCHES) {
        sx_heap_pop(p->heap, s->n_nodes);
        const sx_node *node = &p->heap[--s->n_nodes];
        if (!sx_hope_open(&p->known, node->bound, node->energy, node->cycles)) continue;
        p->look[n++].node = *node;
        searches += node->looks > 0;
    }
    return n;
}

/* Remembers a point of the criterion at hand. */
static void keep_point(plan *p, const sx_hope *hope) {
    size_t size = p->space->space.point_size;
    state *s = p->s;
    if (p->judge.objective->n_criteria == 1 || hope->kept.n == 0) return;
    if (s->found >> s->criterion & 1 && hope->kept.kept[0].value >= s->least[s->criterion]) return;
    s->found |= 1u << s->criterion;
    s->least[s->criterion] = hope->kept.kept[0].value;
    s->score[s->criterion] = hope->kept.kept[0].score;
    memcpy(p->point + s->criterion * size, sx_shelf_point(&hope->kept, 0), size);
}

/* Takes over what the looks left; false when memory is out. */
static bool learn(plan *p, size_t n) {
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        const sx_look *look = &p->look[i];
        size_t array = look->node.array;
        p->s->steps += look->steps;
        if (look->node.looks > 0) p->searched[array] = 1;
        if (look->node.looks == 0 && look->node.keep == SX_ANY_KEEP)
            p->sharp[array] = look->left.n > 0 ? look->left.at[0].bound : INFINITY;
        for (size_t k = 0; k < look->left.n; k++) good = good && push(p, &look->left.at[k]);
        if (p->hope[i].found) keep_point(p, &p->hope[i]);
    }
    return good;
}

/* Puts nodes back that were not looked at to the end. */
static bool put_back(plan *p, size_t n) {
    bool good = true;
    for (size_t i = 0; i < n; i++) good = good && push(p, &p->look[i].node);
    return good;
}

/* Reads what is known for the criterion at hand, with the best point so far of its own. */
static void read_known(plan *p) {
    const state *s = p->s;
    sx_hope_read(&p->known, &p->judge, p->run);
    if (s->found >> s->criterion & 1)
        sx_hope_learn(&p->known, &s->score[s->criterion],
                      p->point + s->criterion * p->space->space.point_size);
    keep_point(p, &p->known);
    if (p->known.failed) atomic_store(&p->failed, true);
}

/* Searches for the optimum of the criterion at hand; *all: nothing is left. */
static sx_status search_criterion(plan *p, bool *all) {
    state *s = p->s;
    double most = sx_run_setting(p->run, EFFORT) * 1e6;
    p->judge.criterion = (int)s->criterion;
    memcpy(p->judge.least, s->least, sizeof p->judge.least);
    if (!s->listed) SX_TRY(list_arrays(p));
    for (*all = false;;) {
        read_known(p);
        tell_bound(p);
        if (atomic_load(&p->failed)) return sx_error_memory();
        *all = !drop_closed(p);
        if (!*all && p->s->steps >= LONG) SX_TRY(sx_optimal_improve(&p->start, &p->s->begun));
        if (*all || !sx_run_continue(p->run) || (most > 0 && (double)p->s->steps >= most)) break;
        size_t n = pick(p);
        sx_run_tasks(p->run, n, run_look, p);
        if (atomic_load(&p->failed)) return sx_error_memory();
        if (!(sx_run_stopped(p->run) ? put_back(p, n) : learn(p, n))) return sx_error_memory();
    }
    return SX_OK;
}

/* Evaluates the optima of several criteria one after another, so that the run's incumbent becomes the last of
 * them: the first drives out all that is beyond its tolerance, each other one is better than those before. */
static void evaluate_optima(const plan *p) {
    size_t size = p->space->space.point_size;
    sx_outcome outcome;
    for (int i = 0; i < p->judge.objective->n_criteria; i++)
        sx_run_evaluate(p->run, p->point + (size_t)i * size, 1, &outcome);
}

/* Searches for one criterion after another. */
static sx_status search_criteria(plan *p) {
    const uint64_t n = p->judge.objective->n_criteria;
    bool all = true, exact = p->judge.gap == 0 && (n == 1 || sx_run_k_best(p->run) == 1);
    while (p->s->criterion < n) {
        SX_TRY(search_criterion(p, &all));
        if (!all) return SX_OK;
        if (n > 1 && !(p->s->found >> p->s->criterion & 1)) return SX_OK;
        if (p->s->criterion == 0) tell_bound(p);
        p->s->criterion++;
        p->s->listed = false;
    }
    if (n > 1) evaluate_optima(p);
    if (exact && !sx_run_stopped(p->run)) sx_run_optimal(p->run);
    return SX_OK;
}

/* Says how the arrays were closed: those whose bound by tables is below what is proven were searched up to
 * there. */
static sx_status prove(plan *p) {
    size_t n = p->arrays.n;
    sx_run_summary summary = sx_run_result(p->run);
    double least = summary.optimal ? p->known.best : summary.lower_bound;
    sx_node *node = malloc((n + 1) * sizeof *node);
    double *compulsory = malloc((n + 1) * sizeof *compulsory);
    uint8_t *looks = calloc(n + 1, 1);
    sx_descent *descent = NULL;
    sx_status status = node && compulsory && looks ? take_descent(p, &descent) : sx_error_memory();
    if (!status) {
        begin_nodes(node, n);
        sx_descent_arrays(descent, &p->arrays, &p->judge, node, n);
        give_descent(p, descent);
    }
    for (size_t i = 0; i < n && !status; i++) {
        compulsory[i] = node[i].bound;
        looks[i] = p->searched[i] && p->sharp[i] < least ? SX_SEARCHED : 0;
    }
    if (!status) status = sx_arrays_prove(p->run, &p->arrays, compulsory, p->sharp, looks);
    free(node);
    free(compulsory);
    free(looks);
    return status;
}

/* Makes the state, or takes that of a checkpoint. */
static sx_status make_state(plan *p) {
    size_t a, b, c, d, least = lay_out(p, &a, &b, &c, &d), size = least;
    bool resumed;
    void *block = sx_run_state_sized(p->run, &size, &resumed);
    if (!block) return sx_error_memory();
    find_parts(p, block);
    if (!resumed) p->s->n_arrays = p->arrays.n;
    bool fits = size >= least && p->s->n_arrays == p->arrays.n &&
                (size - least) / sizeof(sx_node) == p->s->room && p->s->n_nodes <= p->s->room;
    return fits ? SX_OK : sx_error_new(SX_ERR_INPUT, "the checkpoint is of another search");
}

static sx_status search_all(plan *p) {
    p->start = (sx_optimal_start){.run = p->run,
                                  .space = p->space,
                                  .choices = p->choices,
                                  .sunstone = sx_run_setting(p->run, SUNSTONE) > 0,
                                  .gamma = (uint64_t)sx_run_setting(p->run, GAMMA),
                                  .walks = (uint64_t)sx_run_setting(p->run, DESCENTS),
                                  .moves = (uint64_t)sx_run_setting(p->run, MOVES)};
    SX_TRY(make_state(p));
    SX_TRY(sx_optimal_first(&p->start, &p->s->begun));
    if (p->s->criterion == 0 && !p->s->listed) SX_TRY(list_arrays(p));
    if (p->s->criterion == 0) {
        read_known(p);
        tell_bound(p);
    }
    SX_TRY(sx_optimal_begin(&p->start, &p->s->begun));
    SX_TRY(search_criteria(p));
    bool single = p->judge.objective->n_criteria == 1;
    return single && sx_run_wants_proof(p->run) ? prove(p) : SX_OK;
}

static sx_status search(sx_run *run) {
    plan p = {0};
    if (pthread_mutex_init(&p.lock, NULL) != 0) return sx_error_memory();
    sx_status status = make_plan(&p, run);
    if (!status) status = search_all(&p);
    free_plan(&p);
    pthread_mutex_destroy(&p.lock);
    return status;
}

SX_NAVIGATOR(optimal) = {
    .source = "our own, after exact mappers over the lattice of tile extents",
    .needs = SX_MAP_SPACE,
    .complete = true,
    .proves = true,
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search,
};
