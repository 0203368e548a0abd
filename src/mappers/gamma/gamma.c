/* Gamma: genetic search with operators made for mappings.
 *
 * Source: Demystifying MSE (IISWC 2022), section 4.4, and its code, Gamma for Timeloop. From the better half
 * of the population pairs of parents are drawn; a pair is crossed with even chances (in the first generation
 * always) by swapping one axis: the tiles of one dimension, all orders, all parallel dimensions, or all that
 * is kept. Every child is mutated: the order of a level (0.1), its parallel dimensions (0.1), all tiles of
 * two levels swapped (0.5), and always the primes of one dimension drawn anew. The last tenth of the children
 * is replaced by random individuals. Children and the elites, a twentieth of the population, are ranked:
 * those that none beats in both energy and cycles first, then by the objective; as many as the population
 * holds live on. Half of the first population has all primes at the outermost level, the others are random.
 *
 * What differs. Start points join the first population, and mutants of them take the place of those with all
 * primes outermost; it is evaluated before anything is chosen from it, while the code chooses blindly once.
 * Those with all primes outermost have the primes of a dimension drawn anew
 * first: otherwise they would all be one. Children that are illegal are repaired by moving factors outward
 * where they overflow, a bounded effort, while the code draws tiles anew until they happen to fit. Nothing
 * depends on the order of a set. The number of parents and elites grows with the front, as in the code, but
 * shrinks with it too, and elites are at most half of the population. The mutation of what is kept, or of how
 * banks are shared out, is ours. So is that `shift` of the tile mutations move one prime from one slot to
 * another, a step that the code has but never takes; shift=0 is the code's way. Growth and aging exist in
 * Gamma for MAESTRO (with 0.57 and 0.27) and are off as in Gamma for Timeloop. The operators themselves:
 * operators.c.
 *
 * Complexity: per child one evaluation, the operators and a repair; per generation a sort. */
#include "base/status.h"
#include "mappers/gamma/operators.h"
#include "navigators/selection.h"
#include "run/navigator.h"

#include <string.h>

enum {
    POPULATION,
    ELITES,
    PARENTS,
    INJECTED,
    NATURAL,
    CROSSOVER,
    FIRST_CROSSOVER,
    ORDER,
    PARALLEL,
    LEVEL,
    TILE,
    SHIFT,
    KEEP,
    GROWTH,
    AGING,
    RANK,
};

static const char *const ranks[] = {"pareto", "objective", NULL};

static const sx_setting settings[] = {
    [POPULATION] = {"population", "individuals", "100", 100, 2, 10000, true, NULL},
    [ELITES] = {"elites", "share of elites, kept unchanged", "0.05", 0.05, 0, 0.5, false, NULL},
    [PARENTS] = {"parents", "share selected as parents", "0.5", 0.5, 0.01, 1, false, NULL},
    [INJECTED] = {"injected", "share of children replaced by random individuals", "0.1", 0.1, 0, 0.9, false,
                  NULL},
    [NATURAL] = {"natural", "share of the initial population with all factors at the outermost level", "0.5",
                 0.5, 0, 1, false, NULL},
    [CROSSOVER] = {"crossover", "crossover probability", "0.5", 0.5, 0, 1, false, NULL},
    [FIRST_CROSSOVER] = {"first_crossover", "the same in the first generation", "1.0", 1, 0, 1, false, NULL},
    [ORDER] = {"order", "probability of swapping two loops", "0.1", 0.1, 0, 1, false, NULL},
    [PARALLEL] = {"parallel", "probability of changing the spatial dimensions", "0.1", 0.1, 0, 1, false,
                  NULL},
    [LEVEL] = {"level", "probability of swapping all tiles of two levels", "0.5", 0.5, 0, 1, false, NULL},
    [TILE] = {"tile", "probability of changing the tiles of a dimension", "1.0", 1, 0, 1, false, NULL},
    [SHIFT] = {"shift", "share of tile changes that move a single prime factor", "0", 0.8, 0, 1, false, NULL},
    [KEEP] = {"keep", "probability of changing what a level keeps, or its banks", NULL, 0.1, 0, 1, false,
              NULL},
    [GROWTH] = {"growth", "probability of starting to use an unused level", "0; Gamma for MAESTRO: 0.57", 0,
                0, 1, false, NULL},
    [AGING] = {"aging", "probability of no longer using a level", "0; Gamma for MAESTRO: 0.27", 0, 0, 1,
               false, NULL},
    [RANK] = {"rank", "ranking: Pareto front of energy and cycles first, or objective only", "pareto", 0, 0,
              1, true, ranks},
};

enum { REPAIRS = 10 }; /* children that are tried before a parent is taken instead */

/* State of a search: this; then the individuals, each with its outcome, genes and point: the
 * population, best first, as many children, and the elites; then outcomes and a ranking of children and
 * elites. */
typedef struct state {
    uint64_t generation;
    uint64_t parents, elites;
} state;

typedef struct gamma {
    sx_run *run;
    const sx_map_space *space;
    size_t n, size, room; /* of the population, of a point, of all individuals */
    size_t each;          /* bytes of an individual */
    state *s;
    unsigned char *individual;
    sx_outcome *ranked;
    uint32_t *order;
    enum sx_gamma_axis axis[4]; /* that the space has */
    size_t n_axes;
} gamma;

/* The memory of a search, in the run's state block; false when memory is out. */
static bool remember(gamma *g, bool *resumed) {
    g->room = g->n * 2 + g->n / 2 + 1;
    g->each = (sizeof(sx_outcome) + sizeof(sx_gamma_genes) + g->size + 7) / 8 * 8;
    size_t each = g->each + sizeof *g->ranked + 2 * sizeof *g->order;
    g->s = sx_run_state(g->run, sizeof *g->s + g->room * each, resumed);
    if (!g->s) return false;
    g->individual = (unsigned char *)(g->s + 1);
    g->ranked = (sx_outcome *)(void *)(g->individual + g->room * g->each);
    g->order = (uint32_t *)(g->ranked + g->room);
    return true;
}

_Static_assert(sizeof(sx_gamma_genes) % 8 == 0, "points lie behind genes");

/* Individual number i, which is an outcome, its genes and its point. */
static void *block(const gamma *g, size_t i) {
    return g->individual + i * g->each;
}

/* The genes and the point of an individual. */
static sx_gamma_individual parts(void *individual) {
    sx_gamma_genes *genes = (void *)((sx_outcome *)individual + 1);
    return (sx_gamma_individual){genes + 1, genes};
}

static sx_gamma_individual individual(const gamma *g, size_t i) {
    return parts(block(g, i));
}

static const sx_outcome *outcome(const gamma *g, size_t i) {
    return block(g, i);
}

/* Copies an individual with its outcome. */
static void copy(gamma *g, size_t from, size_t to) {
    sx_gamma_copy(g->space, individual(g, from), individual(g, to));
    memcpy(block(g, to), outcome(g, from), sizeof(sx_outcome));
}

/* Whether something of a given chance happens. */
static bool happens(const gamma *g, sx_rng *rng, size_t setting) {
    double chance = sx_run_setting(g->run, setting);
    return chance > 0 && sx_rng_double(rng) < chance;
}

/* Makes an individual random and legal. */
static void draw(const gamma *g, sx_rng *rng, sx_worker *worker, sx_gamma_individual i) {
    for (int tries = 0; tries < REPAIRS; tries++) {
        sx_gamma_random(g->space, rng, i);
        if (sx_gamma_repair(g->space, rng, i)) return;
        sx_worker_reject(worker, 1);
    }
    uint64_t rejected = 0;
    sx_space_draw_legal(&g->space->space, rng, i.point, &rejected);
    sx_worker_reject(worker, rejected);
    sx_gamma_read(g->space, rng, i);
}

/* Mutates an individual; `changed`: by a crossover, and its point is to be expressed. */
static void mutate(const gamma *g, sx_rng *rng, bool changed, sx_gamma_individual i) {
    static const struct {
        int chance;
        void (*change)(const sx_map_space *, sx_rng *, sx_gamma_individual);
    } first[] = {{ORDER, sx_gamma_swap_order},
                 {PARALLEL, sx_gamma_change_parallel},
                 {LEVEL, sx_gamma_swap_levels},
                 {GROWTH, sx_gamma_grow},
                 {AGING, sx_gamma_age}};
    for (size_t m = 0; m < sizeof first / sizeof *first; m++) {
        if (!happens(g, rng, (size_t)first[m].chance)) continue;
        first[m].change(g->space, rng, i);
        changed = true;
    }
    bool keep = happens(g, rng, KEEP);
    if (keep && changed) sx_gamma_express(g->space, i);
    if (keep) sx_gamma_change_keep(g->space, rng, i);
    changed &= !keep;
    bool tile = happens(g, rng, TILE), shift = tile && happens(g, rng, SHIFT);
    if (tile && !shift) sx_gamma_redraw_tile(g->space, rng, i);
    if (changed || (tile && !shift)) sx_gamma_express(g->space, i);
    if (shift) sx_gamma_shift(g->space, rng, i);
}

/* A task: makes and evaluates an individual of the first population, its output. */
static sx_status make_first(const void *input, size_t task, sx_worker *worker, void *output) {
    const gamma *g = input;
    size_t n_starts;
    const unsigned char *start = sx_run_starts(g->run, &n_starts);
    sx_rng rng = sx_rng_stream(sx_run_seed(g->run), "gamma.first", task);
    sx_gamma_individual i = parts(output);
    bool natural = (double)task < sx_run_setting(g->run, NATURAL) * (double)g->n, legal = natural;
    if (task < n_starts || (natural && n_starts > 0)) {
        memcpy(i.point, start + task % n_starts * g->size, g->size);
        sx_gamma_read(g->space, &rng, i);
        if (task >= n_starts) mutate(g, &rng, false, i);
        legal = task < n_starts || sx_gamma_repair(g->space, &rng, i);
    } else if (natural) {
        sx_gamma_natural(g->space, &rng, i);
        if (task > 0) {
            sx_gamma_redraw_tile(g->space, &rng, i);
            sx_gamma_express(g->space, i);
        }
        legal = sx_gamma_repair(g->space, &rng, i);
    }
    if (!legal) draw(g, &rng, worker, i);
    *(sx_outcome *)output = sx_worker_evaluate(worker, i.point, false);
    return SX_OK;
}

/* How a pair is crossed. */
typedef struct crossing {
    bool happens;
    enum sx_gamma_axis axis;
    int dim;
} crossing;

/* Makes a legal child of two parents; where repair fails again and again it is the first parent again. */
static void make_child(const gamma *g, sx_rng *rng, sx_worker *worker, const crossing *cross, size_t mother,
                       size_t father, sx_gamma_individual child) {
    for (int tries = 0; tries < REPAIRS; tries++) {
        sx_gamma_copy(g->space, individual(g, mother), child);
        if (cross->happens) sx_gamma_take(g->space, cross->axis, cross->dim, individual(g, father), child);
        mutate(g, rng, cross->happens, child);
        if (sx_gamma_repair(g->space, rng, child)) return;
        sx_worker_reject(worker, 1);
    }
    sx_gamma_copy(g->space, individual(g, mother), child);
}

/* A task: makes and evaluates the two children of a pair, or random individuals in their place, its output.
 */
static sx_status make_pair(const void *input, size_t task, sx_worker *worker, void *output) {
    const gamma *g = input;
    size_t pairs = (g->n + 1) / 2;
    sx_rng rng = sx_rng_stream(sx_run_seed(g->run), "gamma", g->s->generation * pairs + task);
    size_t parent[2] = {sx_rng_below(&rng, g->s->parents), sx_rng_below(&rng, g->s->parents)};
    crossing cross = {.happens = happens(g, &rng, g->s->generation ? CROSSOVER : FIRST_CROSSOVER)};
    cross.axis = g->axis[sx_rng_below(&rng, g->n_axes)];
    cross.dim = sx_gamma_random_dim(g->space, &rng);
    double bred = (double)g->n * (1 - sx_run_setting(g->run, INJECTED));
    for (size_t side = 0; side < 2; side++) {
        size_t number = 2 * task + side;
        if (number >= g->n) break;
        void *made = (unsigned char *)output + side * g->each;
        sx_gamma_individual child = parts(made);
        if ((double)number < bred)
            make_child(g, &rng, worker, &cross, parent[side], parent[1 - side], child);
        else
            draw(g, &rng, worker, child);
        *(sx_outcome *)made = sx_worker_evaluate(worker, child.point, false);
    }
    return SX_OK;
}

/* The larger of a share of the population and the front, but no more than a limit. */
static size_t quota(const gamma *g, size_t setting, size_t front, size_t limit) {
    double share = sx_run_setting(g->run, setting) * (double)g->n;
    if (share <= 0) return 0;
    size_t n = share < 1 ? 1 : (size_t)share;
    if (n < front) n = front;
    return n < limit ? n : limit;
}

/* Selects the survivors: the best of the children and `elites` of the population. */
static void choose(gamma *g, size_t elites) {
    for (size_t i = 0; i < elites; i++) copy(g, i, 2 * g->n + i);
    for (size_t i = 0; i < g->n + elites; i++) g->ranked[i] = *outcome(g, g->n + i);
    size_t front = sx_select_rank(sx_run_goal(g->run), g->ranked, g->n + elites,
                                  sx_run_setting(g->run, RANK) == 0, g->order);
    for (size_t i = 0; i < g->n; i++) copy(g, g->n + g->order[i], i);
    g->s->parents = quota(g, PARENTS, front, g->n);
    g->s->elites = quota(g, ELITES, front, g->n / 2);
}

/* Finds out what can be crossed. */
static void find_axes(gamma *g) {
    bool parallel = false, keep = false;
    for (int s = 0; s < g->space->arch->n_levels; s++) parallel = parallel || g->space->spatial_slot[s] >= 0;
    for (size_t i = 0; i < g->space->space.n_genes; i++)
        keep =
            keep || g->space->gene_of[i].axis == SX_AXIS_KEEP || g->space->gene_of[i].axis == SX_AXIS_BANKS;
    g->axis[g->n_axes++] = SX_GAMMA_TILE;
    g->axis[g->n_axes++] = SX_GAMMA_ORDER;
    if (parallel) g->axis[g->n_axes++] = SX_GAMMA_PARALLEL;
    if (keep) g->axis[g->n_axes++] = SX_GAMMA_KEEP;
}

/* Whether the orders of an individual's genes are orders. */
static bool genes_hold(const gamma *g, const sx_gamma_genes *genes) {
    for (int s = 0; s < g->space->arch->n_levels; s++)
        if (!sx_order_is_permutation(genes->order[s], g->space->problem->n_dims)) return false;
    return true;
}

/* Whether the state is one that a search may have. */
static bool state_holds(const gamma *g) {
    if (g->s->parents < 1 || g->s->parents > g->n || g->s->elites > g->n / 2) return false;
    for (size_t i = 0; i < g->n; i++)
        if (!genes_hold(g, individual(g, i).genes) || !sx_run_holds(g->run, individual(g, i).point, 1))
            return false;
    return true;
}

/* What other navigators have found becomes the first of the population, and the last one is lost. */
static void take_news(gamma *g) {
    sx_outcome found;
    const void *point = sx_run_news(g->run, &found);
    sx_rng rng = sx_rng_stream(sx_run_seed(g->run), "gamma.news", g->s->generation);
    if (!point) return;
    for (size_t i = g->n - 1; i > 0; i--) copy(g, i - 1, i);
    sx_gamma_individual first = individual(g, 0);
    memcpy(first.point, point, g->size);
    sx_gamma_read(g->space, &rng, first);
    memcpy(block(g, 0), &found, sizeof found);
}

static sx_status search(sx_run *run) {
    gamma g = {.run = run, .space = sx_map_space_of(sx_run_space(run))};
    g.n = (size_t)sx_run_setting(run, POPULATION);
    g.size = g.space->space.point_size;
    find_axes(&g);
    bool resumed;
    if (!remember(&g, &resumed)) return sx_error_memory();
    if (resumed && !state_holds(&g)) return sx_run_damaged(run);
    if (!resumed) {
        sx_run_tasks(run, g.n, make_first, &g, block(&g, g.n), g.each);
        sx_run_evaluate_starts(run, g.n);
        choose(&g, 0);
        if (outcome(&g, 0)->reason) return SX_OK;
    }
    take_news(&g);
    while (sx_run_continue(run)) {
        sx_run_tasks(run, (g.n + 1) / 2, make_pair, &g, block(&g, g.n), 2 * g.each);
        g.s->generation++;
        choose(&g, g.s->elites);
    }
    return SX_OK;
}

SX_NAVIGATOR(gamma) = {
    .source = "Demystifying MSE (IISWC 2022), section 4.4; Gamma (ICCAD 2020)",
    .space = "map",
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search,
};
