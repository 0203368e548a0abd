/* The standard genetic algorithm, on any space.
 *
 * Source: the baseline of Mind Mappings (ASPLOS 2021), section 5.2 and appendix A, built there on the Python
 * library DEAP, whose simple algorithm this is. A generation is chosen from the last by tournaments; adjacent
 * pairs are crossed with probability 0.75, which swaps each gene of the two with even chances; each
 * individual is mutated with probability 0.05, which draws each of its genes anew with probability 0.05. Only
 * individuals that went through an operator are evaluated again.
 *
 * What differs. The paper does not say what becomes of an illegal child: here a gene whose change makes the
 * individual illegal keeps its old value, so that all individuals are legal; with illegal=count nothing is
 * refused, and an illegal individual costs an evaluation and has no value. The size of tournaments is
 * DEAP's usual 3. A generation that no operator touched has one of its individuals drawn anew, so that a
 * search always goes on. `elites` of the best may be carried over unchanged, which the paper does not do.
 * Of map spaces that compact points cover, individuals are such points, and a task makes and evaluates a pair; with
 * illegal=count they are the space's.
 *
 * Complexity: per generation at most a legality check per gene and individual, and one evaluation per
 * individual that changed. */
#include "base/status.h"
#include "core/steps.h"
#include "navigators/selection.h"
#include "run/compact.h"
#include "run/navigator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POPULATION, CROSSOVER, SWAP, MUTATION, GENE, TOURNAMENT, ELITES, ILLEGAL };

enum { BATCH = 64 }; /* individuals of the first generation that are drawn before they are evaluated */

static const char *const on_illegal[] = {"refuse", "count", NULL};

static const sx_setting settings[] = {
    [POPULATION] = {"population", "population size", "100", 100, 2, 10000, true, NULL},
    [CROSSOVER] = {"crossover", "crossover probability", "0.75", 0.75, 0, 1, false, NULL},
    [SWAP] = {"swap", "probability of swapping each gene in a crossover", NULL, 0.5, 0, 1, false, NULL},
    [MUTATION] = {"mutation", "mutation probability", "0.05", 0.05, 0, 1, false, NULL},
    [GENE] = {"gene", "probability of redrawing each gene in a mutation", "0.05", 0.05, 0, 1, false, NULL},
    [TOURNAMENT] = {"tournament", "tournament size", NULL, 3, 1, 1000, true, NULL},
    [ELITES] = {"elites", "share of elites, kept unchanged", "0", 0, 0, 0.9, false, NULL},
    [ILLEGAL] = {"illegal", "reject illegal changes, or count them as evaluations", NULL, 0, 0, 1, true,
                 on_illegal},
};

/* State of a search: this, then the outcomes of two generations, then a ranking of one, then their
 * points, then three points for scratch; of compact points, then what tasks make. */
typedef struct state {
    sx_rng rng;
    uint64_t turn; /* which of the two generations lives */
} state;

typedef struct evolution {
    sx_run *run;
    const sx_space *space;
    size_t n, size, elites;
    bool lenient; /* illegal individuals may live */
    state *s;
    sx_outcome *outcome[2];
    unsigned char *point[2];
    uint32_t *order;
    unsigned char *scratch, *pair; /* one point and two */
    sx_compact_search *compact;    /* what compact points are changed by; NULL: points are the space's */
    unsigned char *made;           /* by tasks: a child each, or two */
} evolution;

/* What a task makes: this, then a compact point. */
typedef struct newborn {
    sx_outcome outcome;
    uint64_t changed; /* it is not a copy of its parent */
} newborn;

/* The bytes of a child with its point. */
static size_t child_size(const evolution *b) {
    return sizeof(newborn) + b->size;
}

/* The memory of a search, in the run's state block; false when memory is out. */
static bool allocate_state(evolution *b, bool *resumed) {
    size_t n = b->n, ranks = 2 * n * sizeof *b->order;
    size_t total = sizeof *b->s + 2 * n * sizeof *b->outcome[0] + ranks + (2 * n + 3) * b->size;
    if (b->compact) total += (n + 1) * child_size(b);
    b->s = sx_run_state(b->run, total, resumed);
    if (!b->s) return false;
    b->outcome[0] = (sx_outcome *)(b->s + 1);
    b->outcome[1] = b->outcome[0] + n;
    b->order = (uint32_t *)(b->outcome[1] + n);
    b->point[0] = (unsigned char *)(b->order + 2 * n);
    b->point[1] = b->point[0] + n * b->size;
    b->scratch = b->point[1] + n * b->size;
    b->pair = b->scratch + b->size;
    b->made = b->pair + 2 * b->size;
    return true;
}

/* Draws an individual, a legal one unless all count; false where there seems to be none. */
static bool draw_individual(evolution *b, unsigned char *point) {
    uint64_t rejected = 0;
    if (b->lenient) {
        b->space->type->draw(b->space, &b->s->rng, point);
        return true;
    }
    bool legal = sx_space_draw_legal(b->space, &b->s->rng, point, &rejected);
    sx_run_reject(b->run, rejected);
    return legal;
}

/* A worker at compact points, of one task. */
typedef struct maker {
    const evolution *b;
    sx_worker *worker;
    struct sx_core_work *work;
    sx_core_rng rng;
} maker;

/* What the tasks of a round read. */
typedef struct round_of_tasks {
    const evolution *b;
    sx_core_rng rng;
} round_of_tasks;

static maker begin_task(const round_of_tasks *r, size_t task, sx_worker *worker) {
    return (maker){r->b, worker, sx_compact_search_work(r->b->compact, worker),
                   sx_compact_search_part(r->rng, task)};
}

/* Whether something happens that has a chance. */
static bool chance_happens(maker *m, double chance) {
    return (double)(sx_core_next(&m->rng) >> 11) * 0x1p-53 < chance;
}

/* A task: draws and evaluates a compact point. */
static sx_status draw_compact(const void *input, size_t task, sx_worker *worker, void *output) {
    maker m = begin_task(input, task, worker);
    newborn *made = output;
    sx_compact_level *point = (void *)(made + 1);
    if (m.work && sx_compact_search_draw(m.b->compact, worker, m.work, &m.rng, point))
        made->outcome = sx_compact_search_evaluate(m.b->compact, worker, m.work, point, false);
    return SX_OK;
}

/* The best of some members of the last generation. */
static size_t select_parent(maker *m) {
    const evolution *b = m->b;
    const sx_outcome *outcome = b->outcome[b->s->turn];
    size_t best = sx_core_below(&m->rng, (uint32_t)b->n), size = (size_t)sx_run_setting(b->run, TOURNAMENT);
    for (size_t i = 1; i < size; i++) {
        size_t other = sx_core_below(&m->rng, (uint32_t)b->n);
        if (sx_outcome_compare(sx_run_goal(b->run), &outcome[other], &outcome[best]) < 0) best = other;
    }
    return best;
}

/* Changes one part of a compact point, as change_gene does. Orders do not decide what is legal. */
static void change_part(maker *m, sx_core_part part, const void *from, sx_compact_level *point) {
    const sx_compact_search *search = m->b->compact;
    sx_compact_level *tried = sx_worker_scratch(m->worker, 1);
    memcpy(tried, point, search->size);
    if (from)
        sx_core_take(&search->core, part, from, tried);
    else
        sx_core_change(&search->core, search->splits, &m->rng, true, part, tried);
    if (memcmp(tried, point, search->size) == 0) return;
    if (part.axis != SX_COMPACT_ORDER && !search->engine->check(&search->core, m->work, tried)) return;
    memcpy(point, tried, search->size);
}

/* Makes and evaluates a child of a parent that takes over some parts of another one; unchanged it has the parent's outcome. */
static void make_child(maker *m, size_t parent, size_t other, uint64_t crossed, newborn *to) {
    const evolution *b = m->b;
    const sx_core_space *core = &b->compact->core;
    const unsigned char *points = b->point[b->s->turn];
    sx_compact_level *point = (void *)(to + 1);
    memcpy(point, points + parent * b->size, b->size);
    to->outcome = b->outcome[b->s->turn][parent];
    for (uint32_t i = 0; i < b->compact->splits->n_parts; i++)
        if (crossed >> i & 1) change_part(m, b->compact->splits->part[i], points + other * b->size, point);
    bool mutated = chance_happens(m, sx_run_setting(b->run, MUTATION));
    for (uint32_t i = 0; i < b->compact->splits->n_parts && mutated; i++)
        if (chance_happens(m, sx_run_setting(b->run, GENE)))
            change_part(m, b->compact->splits->part[i], NULL, point);
    to->changed = to->changed || mutated;
    if (to->changed && b->compact->engine->check(core, m->work, point))
        to->outcome = sx_compact_search_evaluate(b->compact, m->worker, m->work, point, false);
}

/* A task: makes and evaluates two children of two parents. */
static sx_status make_pair(const void *input, size_t task, sx_worker *worker, void *output) {
    maker m = begin_task(input, task, worker);
    const evolution *b = m.b;
    if (!m.work) return SX_OK;
    size_t parent[2] = {select_parent(&m), select_parent(&m)};
    bool crossed = chance_happens(&m, sx_run_setting(b->run, CROSSOVER));
    uint64_t parts = 0;
    for (uint32_t i = 0; i < b->compact->splits->n_parts && crossed; i++)
        parts |= (uint64_t)chance_happens(&m, sx_run_setting(b->run, SWAP)) << i;
    for (size_t i = 0; i < 2 && 2 * task + i < b->n - b->elites; i++) {
        newborn *to = (newborn *)(void *)((unsigned char *)output + i * child_size(b));
        to->changed = crossed;
        make_child(&m, parent[i], parent[1 - i], parts, to);
    }
    return SX_OK;
}

/* Runs tasks that make n compact points, `each` points a task, and takes these over into a generation from number `first` on;
 * returns how many of them were not copied from the last one. */
static size_t make_points(evolution *b, sx_task *task, size_t each, size_t first, size_t n, size_t turn) {
    const round_of_tasks r = {b, {sx_rng_next(&b->s->rng)}};
    size_t changed = 0;
    for (size_t i = 0; i < n; i++)
        *(newborn *)(void *)(b->made + i * child_size(b)) =
            (newborn){.outcome = {.value = INFINITY, .reason = SX_NOT_EVALUATED}};
    sx_run_tasks(b->run, (n + each - 1) / each, task, &r, b->made, each * child_size(b));
    for (size_t i = 0; i < n; i++) {
        const newborn *made = (const newborn *)(const void *)(b->made + i * child_size(b));
        b->outcome[turn][first + i] = made->outcome;
        memcpy(b->point[turn] + (first + i) * b->size, made + 1, b->size);
        changed += made->changed;
    }
    return changed;
}

/* Takes over a point of the space. */
static void adopt_point(evolution *b, const void *point, unsigned char *to) {
    sx_core_rng rng = {b->compact ? sx_rng_next(&b->s->rng) : 0};
    if (b->compact)
        sx_map_compact(b->compact->space, &b->compact->core, point, &rng, (void *)to);
    else
        memcpy(to, point, b->size);
}

/* Makes and evaluates the first generation: start points, then random ones; false where none is legal. */
static bool begin_generations(evolution *b) {
    size_t n_starts, first = 0;
    const unsigned char *starts = sx_run_starts(b->run, &n_starts);
    b->s->rng = sx_rng_stream(sx_run_seed(b->run), "genetic", 0);
    for (size_t i = 0; i < n_starts; i++) {
        size_t at = first < b->n ? first++ : b->n - 1;
        const unsigned char *start = starts + i * b->space->point_size;
        adopt_point(b, start, b->point[0] + at * b->size);
        sx_run_evaluate(b->run, start, 1, &b->outcome[0][at]);
    }
    if (b->compact) {
        make_points(b, draw_compact, 1, first, b->n - first, 0);
        size_t legal = 0;
        for (size_t i = 0; i < b->n; i++) legal += b->outcome[0][i].reason == 0;
        return legal > 0;
    }
    for (size_t n = 0; first < b->n && !sx_run_stopped(b->run); first += n, n = 0) {
        unsigned char *points = b->point[0] + first * b->size;
        for (; n < BATCH && first + n < b->n; n++)
            if (!draw_individual(b, points + n * b->size)) return false;
        sx_run_evaluate(b->run, points, n, b->outcome[0] + first);
    }
    return true;
}

/* Changes one gene of an individual, by drawing it anew or (from not NULL) by taking it over; keeps what it
 * was where the result is not legal and must be. */
static void change_gene(evolution *b, size_t gene, const unsigned char *from, unsigned char *point) {
    memcpy(b->scratch, point, b->size);
    if (from)
        b->space->type->take(b->space, gene, from, b->scratch);
    else
        b->space->type->redraw(b->space, &b->s->rng, gene, b->scratch);
    if (b->lenient || b->space->type->check(b->space, b->scratch) == 0) memcpy(point, b->scratch, b->size);
}

/* Swaps genes between two children whose parents are given. */
static void cross_parents(evolution *b, const unsigned char *mother, const unsigned char *father,
                          unsigned char *first, unsigned char *second) {
    double chance = sx_run_setting(b->run, SWAP);
    for (size_t g = 0; g < b->space->n_genes; g++) {
        if (sx_rng_double(&b->s->rng) >= chance) continue;
        change_gene(b, g, father, first);
        change_gene(b, g, mother, second);
    }
}

/* Draws each gene of an individual anew with a small chance. */
static void mutate_point(evolution *b, unsigned char *point) {
    double chance = sx_run_setting(b->run, GENE);
    for (size_t g = 0; g < b->space->n_genes; g++)
        if (sx_rng_double(&b->s->rng) < chance) change_gene(b, g, NULL, point);
}

/* The next generation while it is made: changed individuals fill it from the front, the others from the
 * back, after the elites. */
typedef struct offspring {
    size_t front, back;
} offspring;

/* Adds one child, perhaps mutated, to the next generation. */
static void add_child(evolution *b, offspring *to, bool changed, const unsigned char *child,
                      const sx_outcome *outcome) {
    unsigned char *points = b->point[1 - b->s->turn];
    bool mutated = sx_rng_double(&b->s->rng) < sx_run_setting(b->run, MUTATION);
    size_t at = changed || mutated ? to->front++ : --to->back;
    memcpy(points + at * b->size, child, b->size);
    b->outcome[1 - b->s->turn][at] = *outcome;
    if (mutated) mutate_point(b, points + at * b->size);
}

/* Copies the elites to the end of the next generation and returns what room is left. */
static offspring keep_elites(evolution *b) {
    size_t from = b->s->turn;
    offspring to = {0, b->n};
    if (!b->elites) return to;
    sx_select_rank(sx_run_goal(b->run), b->outcome[from], b->n, false, b->order);
    for (size_t i = 0; i < b->elites; i++) {
        size_t at = --to.back;
        memcpy(b->point[1 - from] + at * b->size, b->point[from] + b->order[i] * b->size, b->size);
        b->outcome[1 - from][at] = b->outcome[from][b->order[i]];
    }
    return to;
}

/* Makes and evaluates the next generation of compact points. */
static void breed_compact(evolution *b) {
    size_t next = 1 - b->s->turn, n = keep_elites(b).back;
    size_t changed = make_points(b, make_pair, 2, 0, n, next);
    b->s->turn = next;
    if (changed == 0) make_points(b, draw_compact, 1, 0, 1, next);
}

/* Makes and evaluates the next generation. */
static void breed_generation(evolution *b) {
    const sx_goal *goal = sx_run_goal(b->run);
    size_t from = b->s->turn, size = b->size, tournament = (size_t)sx_run_setting(b->run, TOURNAMENT);
    unsigned char *pair = b->pair;
    offspring to = keep_elites(b);
    while (to.front < to.back) {
        if (sx_run_stopped(b->run)) return;
        size_t parent[2];
        for (int i = 0; i < 2; i++) {
            parent[i] = sx_select_tournament(goal, b->outcome[from], b->n, tournament, &b->s->rng);
            memcpy(pair + (size_t)i * size, b->point[from] + parent[i] * size, size);
        }
        bool crossed = sx_rng_double(&b->s->rng) < sx_run_setting(b->run, CROSSOVER);
        if (crossed)
            cross_parents(b, b->point[from] + parent[0] * size, b->point[from] + parent[1] * size, pair,
                          pair + size);
        for (size_t i = 0; i < 2 && to.front < to.back; i++)
            add_child(b, &to, crossed, pair + i * size, &b->outcome[from][parent[i]]);
    }
    b->s->turn = 1 - from;
    if (to.front == 0) {
        draw_individual(b, b->point[1 - from]);
        to.front = 1;
    }
    sx_run_evaluate(b->run, b->point[1 - from], to.front, b->outcome[1 - from]);
}

/* Whether the state is one that a search may have. */
static bool state_holds(const evolution *b) {
    if (!sx_rng_holds(&b->s->rng) || b->s->turn > 1) return false;
    const unsigned char *points = b->point[b->s->turn];
    for (size_t i = 0; i < b->n && b->compact; i++)
        if (!sx_map_compact_holds(&b->compact->core, (const void *)(points + i * b->size))) return false;
    return b->compact || sx_run_holds(b->run, points, b->n);
}

/* What other navigators have found takes the place of the worst individual. */
static void take_news(evolution *b) {
    sx_outcome found, *outcome = b->outcome[b->s->turn];
    const void *point = sx_run_news(b->run, &found);
    if (!point) return;
    size_t worst = sx_select_worst(sx_run_goal(b->run), outcome, b->n);
    outcome[worst] = found;
    adopt_point(b, point, b->point[b->s->turn] + worst * b->size);
}

/* Makes generation after generation. */
static sx_status evolve_population(evolution *b) {
    bool resumed;
    if (!allocate_state(b, &resumed)) return sx_error_memory();
    if (resumed && !state_holds(b)) return sx_run_damaged(b->run);
    if (!resumed && !begin_generations(b)) return SX_OK;
    take_news(b);
    while (sx_run_continue(b->run)) {
        if (b->compact)
            breed_compact(b);
        else
            breed_generation(b);
    }
    return SX_OK;
}

static sx_status search_by_genetic(sx_run *run) {
    const sx_space *space = sx_run_space(run);
    evolution b = {.run = run, .space = space, .size = space->point_size};
    b.n = (size_t)sx_run_setting(run, POPULATION);
    b.elites = (size_t)(sx_run_setting(run, ELITES) * (double)b.n);
    b.lenient = sx_run_setting(run, ILLEGAL) == 1;
    if (!b.lenient) SX_TRY(sx_compact_search_new(run, SX_COMPACT_DRAWS, &b.compact));
    if (b.compact) b.size = b.compact->size;
    sx_status status = evolve_population(&b);
    sx_compact_search_free(b.compact);
    return status;
}

SX_NAVIGATOR(genetic) = {
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_genetic,
};
