/* Odyssey's hybrid: a genetic search that begins from the solution of a mathematical program.
 *
 * Source: Odyssey (DAC 2023), "Genetic-MP Hybrid Method", and its published code, which differs from the
 * text. The best 30 % of a generation survive and are the parents. A child has one of them, in turn, and a
 * random one as parents, and each loop's pair of tiles (or the design, where it is open) from either. Half of
 * the children are mutated: a tenth of these are drawn anew, the others have a part of a loop's factors moved
 * (hybrid_moves.c). What is infeasible counts as an evaluation and is worse than all that is feasible. The
 * first generation is copies of the program's rounded solution, which the accurate model mostly finds
 * infeasible. The published behaviour is
 *
 *     hybrid:population=200,alpha=0.8,loops=all,snap=published,first=copies,elites=again,twins=keep,
 *            idle=search_by_hybrid,nudge=0,crowd=1,restart=0
 *
 * and the text's the same with alpha=0.4,loops=one. In 3,000 evaluations it comes to 90 % of the optimum on
 * the paper's best design (the paper: 93 %), but to less on most others, and more evaluations add little: the
 * population converges to duplicates.
 *
 * What differs by default, and why. t2 = 1, which published code cannot reach, is reached (snap). The best
 * are not evaluated again (elites). Second-level tiles that change nothing but the hiding of latency are as
 * large as they can be (idle), and a child that its generation has already is mutated until it differs
 * (twins): no evaluation is spent on what is known. Of the parents at most a tenth have the same shape of
 * array (crowd). A part of the mutations are small steps (nudge). Half of the first generation is drawn, the
 * other half is mutants of the solution (first). After 20 generations without improvement the search restarts
 * from draws (restart). Generations are smaller (population). A space of several designs begins from the
 * solutions for each, of the kernel with most work where there are several.
 *
 * Complexity: a generation is sorted, and each child is compared with the others; otherwise that of the
 * operators. */
#include "base/status.h"
#include "navigators/selection.h"
#include "run/navigator.h"
#include "systolic/hybrid_moves.h"
#include "systolic/program.h"

#include <math.h>
#include <string.h>

enum {
    POPULATION,
    PARENTS,
    MUTATION,
    EPSILON,
    ALPHA,
    LOOPS,
    SEED,
    FIRST,
    SNAP,
    NUDGE,
    IDLE,
    TWINS,
    ELITES,
    CROWD,
    RESTART
};

enum { MIXED, COPIES }; /* of FIRST */
enum { TRIES = 20 };    /* mutations of a duplicate child */

static const char *const loops[] = {"one", "all", NULL};
static const char *const objectives[] = {"none", "1", "2", "3", NULL};
static const char *const firsts[] = {"mixed", "copies", NULL};
static const char *const snaps[] = {"mended", "published", NULL};
static const char *const idles[] = {"settle", "search", NULL};
static const char *const twins[] = {"change", "keep", NULL};
static const char *const elites[] = {"keep", "again", NULL};

static const sx_setting settings[] = {
    [POPULATION] = {"population", "population size", "200", 100, 2, 10000, true, NULL},
    [PARENTS] = {"parents", "share of elites, kept and used as parents", "0.3", 0.3, 0, 0.9, false, NULL},
    [MUTATION] = {"mutation", "mutation probability", "0.5", 0.5, 0, 1, false, NULL},
    [EPSILON] = {"epsilon", "probability that a mutation is a new random draw", "0.1", 0.1, 0, 1, false,
                 NULL},
    [ALPHA] = {"alpha", "probability that a mutation moves a prime factor rather than a random part",
               "0.4; published code: 0.8", 0.4, 0, 1, false, NULL},
    [LOOPS] = {"loops", "number of loops that a mutation changes", "one; published code: all", 0, 0, 1, true,
               loops},
    [SEED] = {"seed", "objective of the initial mathematical program: lanes, words, or both", "3", 3, 0, 3,
              true, objectives},
    [FIRST] = {"first",
               "initial population: mutants of the program's solution and random draws, or copies of it",
               "copies", 0, 0, 1, true, firsts},
    [SNAP] =
        {"snap",
         "mutations with or without the errors of the published code: no t2 = 1, no change at a factor of 1",
         "published", 0, 0, 1, true, snaps},
    [NUDGE] = {"nudge", "probability that a mutation is a small step", "0", 0.3, 0, 1, false, NULL},
    [IDLE] = {"idle", "tiles that only hide latency: maximal, or searched", "search", 0, 0, 1, true, idles},
    [TWINS] = {"twins", "duplicates within a generation: mutate again, or keep", "keep", 0, 0, 1, true,
               twins},
    [ELITES] = {"elites", "costs of elites: keep, or evaluate again", "again", 0, 0, 1, true, elites},
    [CROWD] = {"crowd", "maximum share of parents with the same array shape", "1", 0.1, 0, 1, false, NULL},
    [RESTART] = {"restart", "generations without improvement before a restart; 0: never", "0", 20, 0, 1e6,
                 true, NULL},
};

/* The state of a search: this, then the outcomes of two generations, then two rankings, then the points of
 * both. */
typedef struct state {
    sx_rng rng;
    uint64_t turn;    /* which of the two generations is current */
    uint64_t stalled; /* generations without improvement */
    double best;      /* since the last restart */
} state;

typedef struct evolution {
    sx_run *run;
    sx_hybrid_moves moves;
    size_t n, parents, crowd;
    uint64_t rejected; /* draws since the last report to the run */
    state *s;
    sx_outcome *outcome[2];
    uint32_t *order; /* room for three times a generation */
    sx_systolic_point *point[2];
} evolution;

/* The memory of a search, in the run's state block; false when memory is out. */
static bool allocate_state(evolution *b, bool *resumed) {
    size_t n = b->n, ranks = (4 * n) * sizeof *b->order;
    size_t total = sizeof *b->s + 2 * n * (sizeof *b->outcome[0] + sizeof *b->point[0]) + ranks;
    b->s = sx_run_state(b->run, total, resumed);
    if (!b->s) return false;
    b->outcome[0] = (sx_outcome *)(b->s + 1);
    b->outcome[1] = b->outcome[0] + n;
    b->order = (uint32_t *)(b->outcome[1] + n);
    b->point[0] = (sx_systolic_point *)(b->order + 4 * n);
    b->point[1] = b->point[0] + n;
    return true;
}

/* The kernel with most work. */
static const sx_systolic_kernel *heaviest_kernel(const sx_systolic_space *space) {
    const sx_systolic_kernel *most = &space->kernel[0];
    for (size_t i = 1; i < space->n_kernels; i++)
        if (space->kernel[i].macs * (double)space->kernel[i].count > most->macs * (double)most->count)
            most = &space->kernel[i];
    return most;
}

/* Writes the solutions of the program for each design, as far as there is room, and returns how many. */
static size_t place_starts(const evolution *b, size_t room, sx_systolic_point *out) {
    const sx_systolic_space *space = b->moves.systolic;
    int objective = (int)sx_run_setting(b->run, SEED);
    size_t n = 0;
    for (size_t i = 0; i < space->n_open && n < room && objective; i++) {
        sx_program program;
        sx_program_tiles tiles;
        sx_program_init(heaviest_kernel(space), &space->plan[space->open_list[i]], &program);
        if (!sx_program_solve(&program, (sx_program_objective)objective, &tiles)) continue;
        sx_program_round(space, space->open_list[i], &tiles, &out[n]);
        sx_hybrid_settle(&b->moves, &out[n++]);
    }
    return n;
}

/* Evaluates a generation from an individual on, and reports rejected draws. */
static void evaluate_generation(evolution *b, size_t generation, size_t first) {
    sx_run_reject(b->run, b->rejected);
    b->rejected = 0;
    sx_run_evaluate(b->run, b->point[generation] + first, b->n - first, b->outcome[generation] + first);
}

/* Makes and evaluates the first generation, of which some are there already; all is drawn where it is not the
 * first of all. */
static void settle_in(evolution *b, size_t begun, bool first_of_all) {
    sx_systolic_point *point = b->point[0] + begun;
    size_t n = b->n - begun, seeds = first_of_all ? place_starts(b, n, point) : 0;
    bool mixed = sx_run_setting(b->run, FIRST) == MIXED;
    for (size_t i = seeds; i < n && !sx_run_stopped(b->run); i++) {
        if (!seeds || (mixed && i % 2)) {
            sx_hybrid_draw(&b->moves, &b->s->rng, &point[i]);
            continue;
        }
        point[i] = point[i % seeds];
        if (mixed) sx_hybrid_mutate(&b->moves, &b->s->rng, &point[i]);
    }
    b->s->turn = 0;
    b->s->stalled = 0;
    b->s->best = INFINITY;
    evaluate_generation(b, 0, begun);
}

/* Evaluates the start points and the rest of the first generation. */
static void begin_generations(evolution *b) {
    size_t n_starts;
    const sx_systolic_point *starts = sx_run_starts(b->run, &n_starts);
    size_t taken = n_starts < b->n ? n_starts : b->n;
    b->s->rng = sx_rng_stream(sx_run_seed(b->run), "hybrid", 0);
    for (size_t i = 0; i < taken; i++) b->point[0][i] = starts[i];
    sx_run_evaluate(b->run, b->point[0], taken, b->outcome[0]);
    sx_run_evaluate_starts(b->run, taken);
    settle_in(b, taken, true);
}

/* Ranks the current generation and moves the parents to the front: the best, with a limited number of one
 * array shape as long as there are other feasible ones. */
static void choose_parents(evolution *b) {
    const sx_outcome *outcome = b->outcome[b->s->turn];
    const sx_systolic_point *point = b->point[b->s->turn];
    uint32_t *order = b->order, *chosen = order + 2 * b->n, *others = order + 3 * b->n;
    size_t n_chosen = 0, n_others = 0;
    sx_select_rank(sx_run_goal(b->run), outcome, b->n, false, order);
    for (size_t i = 0; i < b->n && n_chosen < b->parents; i++) {
        size_t alike = 0;
        for (size_t j = 0; j < n_chosen && alike < b->crowd; j++)
            alike += sx_hybrid_alike(&b->moves, &point[order[i]], &point[chosen[j]]);
        if (alike < b->crowd && outcome[order[i]].reason == 0)
            chosen[n_chosen++] = order[i];
        else
            others[n_others++] = order[i];
    }
    for (size_t i = 0; n_chosen < b->parents; i++) chosen[n_chosen++] = others[i];
    memcpy(order, chosen, b->parents * sizeof *order);
}

/* Whether a point is among the first n of a generation. */
static bool is_among(const sx_systolic_point *points, size_t n, const sx_systolic_point *point) {
    for (size_t i = 0; i < n; i++)
        if (memcmp(&points[i], point, sizeof *point) == 0) return true;
    return false;
}

/* Makes a child, number i of a generation whose parents stand first. */
static void make_child(evolution *b, sx_systolic_point *generation, size_t i) {
    sx_rng *rng = &b->s->rng;
    sx_systolic_point *child = &generation[i];
    const sx_systolic_point *mother = &generation[(i - b->parents) % b->parents];
    const sx_systolic_point *father = &generation[sx_rng_below(rng, b->parents)];
    sx_hybrid_cross(&b->moves, rng, mother, father, child);
    if (sx_rng_double(rng) < sx_run_setting(b->run, MUTATION)) sx_hybrid_mutate(&b->moves, rng, child);
    if (sx_run_setting(b->run, TWINS) == 1) return;
    for (int t = 0; t < TRIES && is_among(generation, i, child); t++) sx_hybrid_mutate(&b->moves, rng, child);
}

/* Whether the search has converged and should restart, by the best of a generation. */
static bool has_converged(evolution *b, double best) {
    double limit = sx_run_setting(b->run, RESTART);
    b->s->stalled = best < b->s->best ? 0 : b->s->stalled + 1;
    b->s->best = best;
    return limit > 0 && (double)b->s->stalled >= limit;
}

/* Makes and evaluates the next generation. */
static void breed_generation(evolution *b) {
    size_t from = b->s->turn, to = 1 - from;
    sx_systolic_point *next = b->point[to];
    choose_parents(b);
    if (has_converged(b, b->outcome[from][b->order[0]].value)) {
        settle_in(b, 0, false);
        return;
    }
    for (size_t i = 0; i < b->parents; i++) {
        next[i] = b->point[from][b->order[i]];
        b->outcome[to][i] = b->outcome[from][b->order[i]];
    }
    for (size_t i = b->parents; i < b->n && !sx_run_stopped(b->run); i++) make_child(b, next, i);
    size_t first = sx_run_setting(b->run, ELITES) == 1 ? 0 : b->parents;
    b->s->turn = to;
    evaluate_generation(b, to, first);
}

/* Whether the state is one that a search may have. */
static bool state_holds(const evolution *b) {
    return sx_rng_holds(&b->s->rng) && b->s->turn <= 1 && sx_run_holds(b->run, b->point[b->s->turn], b->n);
}

static sx_status search_by_hybrid(sx_run *run) {
    const sx_space *space = sx_run_space(run);
    evolution b = {.run = run, .n = (size_t)sx_run_setting(run, POPULATION)};
    b.parents = (size_t)fmax(1, sx_run_setting(run, PARENTS) * (double)b.n);
    b.crowd = (size_t)fmax(1, sx_run_setting(run, CROWD) * (double)b.parents);
    b.moves = (sx_hybrid_moves){.space = space,
                                .systolic = sx_systolic_space_of(space),
                                .epsilon = sx_run_setting(run, EPSILON),
                                .alpha = sx_run_setting(run, ALPHA),
                                .nudge = sx_run_setting(run, NUDGE),
                                .all_loops = sx_run_setting(run, LOOPS) == 1,
                                .as_published = sx_run_setting(run, SNAP) == 1,
                                .settle = sx_run_setting(run, IDLE) == 0,
                                .rejected = &b.rejected};
    bool resumed;
    if (!allocate_state(&b, &resumed)) return sx_error_memory();
    if (resumed && !state_holds(&b)) return sx_run_damaged(run);
    if (!resumed) begin_generations(&b);
    sx_select_news(run, b.n, b.outcome[b.s->turn], b.point[b.s->turn]);
    while (sx_run_continue(run)) breed_generation(&b);
    return SX_OK;
}

SX_NAVIGATOR(hybrid) = {
    .space = "systolic",
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_hybrid,
};
