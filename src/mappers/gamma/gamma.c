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
 * Gamma for MAESTRO (with 0.57 and 0.27) and are off as in Gamma for Timeloop. So is that a new population
 * takes over after 20,000 evaluations where more are asked for (islands): by then one has converged.
 *
 * Individuals are compact points (compact.c; core/moves.h has the operators), or mappings with their genes (mappings.c,
 * operators.c) where compact points do not cover the space, where growth or aging are asked for, and with core=0.
 *
 * Complexity: per child one evaluation, the operators and a repair; per generation a sort. */
#include "mappers/gamma/gamma.h"

#include "base/status.h"
#include "navigators/selection.h"

#include <stdlib.h>
#include <string.h>

static const char *const ranks[] = {"pareto", "objective", NULL};

static const sx_setting settings[] = {
    [SX_GAMMA_POPULATION] = {"population", "individuals", "100", 100, 2, 10000, true, NULL},
    [SX_GAMMA_ELITES] = {"elites", "share of elites, kept unchanged", "0.05", 0.05, 0, 0.5, false, NULL},
    [SX_GAMMA_PARENTS] = {"parents", "share selected as parents", "0.5", 0.5, 0.01, 1, false, NULL},
    [SX_GAMMA_INJECTED] = {"injected", "share of children replaced by random individuals", "0.1", 0.1, 0, 0.9,
                           false, NULL},
    [SX_GAMMA_NATURAL] = {"natural",
                          "share of the initial population with all factors at the outermost level", "0.5",
                          0.5, 0, 1, false, NULL},
    [SX_GAMMA_CROSSOVER] = {"crossover", "crossover probability", "0.5", 0.5, 0, 1, false, NULL},
    [SX_GAMMA_FIRST_CROSSOVER] = {"first_crossover", "the same in the first generation", "1.0", 1, 0, 1,
                                  false, NULL},
    [SX_GAMMA_ORDERS] = {"order", "probability of swapping two loops", "0.1", 0.1, 0, 1, false, NULL},
    [SX_GAMMA_PARALLELS] = {"parallel", "probability of changing the spatial dimensions", "0.1", 0.1, 0, 1,
                            false, NULL},
    [SX_GAMMA_LEVELS] = {"level", "probability of swapping all tiles of two levels", "0.5", 0.5, 0, 1, false,
                         NULL},
    [SX_GAMMA_TILES] = {"tile", "probability of changing the tiles of a dimension", "1.0", 1, 0, 1, false,
                        NULL},
    [SX_GAMMA_SHIFTS] = {"shift", "share of tile changes that move a single prime factor", "0", 0.8, 0, 1,
                         false, NULL},
    [SX_GAMMA_KEEPS] = {"keep", "probability of changing what a level keeps, or its banks", NULL, 0.1, 0, 1,
                        false, NULL},
    [SX_GAMMA_GROWTH] = {"growth", "probability of starting to use an unused level",
                         "0; Gamma for MAESTRO: 0.57", 0, 0, 1, false, NULL},
    [SX_GAMMA_AGING] = {"aging", "probability of no longer using a level", "0; Gamma for MAESTRO: 0.27", 0, 0,
                        1, false, NULL},
    [SX_GAMMA_RANK] = {"rank", "ranking: Pareto front of energy and cycles first, or objective only",
                       "pareto", 0, 0, 1, true, ranks},
    [SX_GAMMA_CORE] = {"core", "1: compact points, where they cover the space; 0: mappings", NULL, 1, 0, 1,
                       true, NULL},
    [SX_GAMMA_ISLANDS] = {"islands",
                          "populations, one after another, that share the evaluations; 0: one for each 20000",
                          "1", 0, 0, 1e6, true, NULL},
};

/* The memory of a search, in the run's state block; false when memory is out. */
static bool register_state(sx_gamma *g) {
    g->room = g->n * 2 + g->n / 2 + 1;
    g->each = (sizeof(sx_outcome) + g->breed->size(g) + 7) / 8 * 8;
    size_t each = g->each + sizeof *g->ranked + 2 * sizeof *g->order;
    g->s = sx_run_state(g->run, sizeof *g->s + g->room * each, NULL);
    if (!g->s) return false;
    g->individual = (unsigned char *)(g->s + 1);
    g->ranked = (sx_outcome *)(void *)(g->individual + g->room * g->each);
    g->order = (uint32_t *)(g->ranked + g->room);
    return true;
}

/* Copies an individual with its outcome. */
static void copy_individual(sx_gamma *g, size_t from, size_t to) {
    memcpy(sx_gamma_block(g, to), sx_gamma_block(g, from), g->each);
}

/* The larger of a share of the population and the front, but no more than a limit. */
static size_t quota_of(const sx_gamma *g, size_t setting, size_t front, size_t limit) {
    double share = sx_run_setting(g->run, setting) * (double)g->n;
    if (share <= 0) return 0;
    size_t n = share < 1 ? 1 : (size_t)share;
    if (n < front) n = front;
    return n < limit ? n : limit;
}

/* Selects the survivors: the best of the children and `elites` of the population. */
static void choose_parents(sx_gamma *g, size_t elites) {
    for (size_t i = 0; i < elites; i++) copy_individual(g, i, 2 * g->n + i);
    for (size_t i = 0; i < g->n + elites; i++) g->ranked[i] = *sx_gamma_block(g, g->n + i);
    size_t front = sx_select_rank(sx_run_goal(g->run), g->ranked, g->n + elites,
                                  sx_run_setting(g->run, SX_GAMMA_RANK) == 0, g->order);
    for (size_t i = 0; i < g->n; i++) copy_individual(g, g->n + g->order[i], i);
    g->s->parents = quota_of(g, SX_GAMMA_PARENTS, front, g->n);
    g->s->elites = quota_of(g, SX_GAMMA_ELITES, front, g->n / 2);
}

/* Finds out what can be crossed. */
static void find_axes(sx_gamma *g) {
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

/* Whether the state is one that a search may have which has begun. */
static bool state_holds(const sx_gamma *g) {
    if (g->s->parents > g->n || g->s->elites > g->n / 2 || g->s->begun > g->s->generation) return false;
    for (size_t i = 0; i < g->n; i++)
        if (!g->breed->holds(g, sx_gamma_block(g, i) + 1)) return false;
    return true;
}

/* What other navigators have found becomes the first of the population, and the last one is lost. */
static void take_news(sx_gamma *g) {
    sx_outcome found;
    const void *point = sx_run_news(g->run, &found);
    if (!point) return;
    for (size_t i = g->n - 1; i > 0; i--) copy_individual(g, i - 1, i);
    g->breed->adopt(g, point, sx_gamma_block(g, 0) + 1);
    memcpy(sx_gamma_block(g, 0), &found, sizeof found);
}

/* A chance in parts of 2^16. */
static uint32_t chance_of(const sx_gamma *g, size_t setting) {
    return (uint32_t)(sx_run_setting(g->run, setting) * 0x1p16 + 0.5);
}

/* Decides what individuals are. */
static sx_status choose_breed(sx_gamma *g) {
    bool grows = sx_run_setting(g->run, SX_GAMMA_GROWTH) > 0 || sx_run_setting(g->run, SX_GAMMA_AGING) > 0;
    g->breed = &sx_gamma_mappings;
    if (grows || sx_run_setting(g->run, SX_GAMMA_CORE) == 0) return SX_OK;
    SX_TRY(sx_compact_search_new(g->run, SX_COMPACT_BREEDS, &g->compact));
    if (g->compact) g->breed = &sx_gamma_compact;
    g->first = sx_compact_search_rng(sx_run_seed(g->run), "gamma.first", 0);
    g->pairs = sx_compact_search_rng(sx_run_seed(g->run), "gamma", 0);
    g->chances = (sx_core_chances){.order = chance_of(g, SX_GAMMA_ORDERS),
                                   .parallel = chance_of(g, SX_GAMMA_PARALLELS),
                                   .levels = chance_of(g, SX_GAMMA_LEVELS),
                                   .keep = chance_of(g, SX_GAMMA_KEEPS),
                                   .tile = chance_of(g, SX_GAMMA_TILES),
                                   .shift = chance_of(g, SX_GAMMA_SHIFTS)};
    return SX_OK;
}

/* Makes the first population; false where the run ended before it was whole, or nothing in it is legal. */
static bool begin_search(sx_gamma *g) {
    enum { UNMADE = 0xfff0 }; /* no reason of an outcome */
    for (size_t i = 0; i < g->n; i++) sx_gamma_block(g, g->n + i)->reason = UNMADE;
    sx_run_tasks(g->run, g->n, g->breed->make_first, g, sx_gamma_block(g, g->n), g->each);
    sx_run_evaluate_starts(g->run, g->n);
    for (size_t i = 0; i < g->n; i++)
        if (sx_gamma_block(g, g->n + i)->reason == UNMADE) return false;
    choose_parents(g, 0);
    return sx_gamma_block(g, 0)->reason == 0;
}

/* The generations of a population; UINT64_MAX: as many as there are. */
static uint64_t count_generations(const sx_gamma *g) {
    enum { ALONE = 20000 }; /* evaluations, after which a new population finds more than the old one */
    uint64_t islands = (uint64_t)sx_run_setting(g->run, SX_GAMMA_ISLANDS);
    uint64_t budget = sx_run_evaluations(g->run, 0);
    if (islands == 0) islands = budget / ALONE;
    if (islands < 2 || budget == 0) return UINT64_MAX;
    return (budget / islands + g->n - 1) / g->n;
}

/* Goes on with a new population; false where the run ended before it was whole. */
static bool begin_island(sx_gamma *g) {
    g->s->island++;
    g->s->begun = g->s->generation;
    g->s->parents = 0;
    return begin_search(g);
}

/* Breeds generation after generation. A call that ended before the first population was whole has left no parents:
 * the next one makes it again. */
static sx_status evolve_population(sx_gamma *g) {
    if (!register_state(g)) return sx_error_memory();
    if (g->s->parents > 0 && !state_holds(g)) return sx_run_damaged(g->run);
    if (g->s->parents == 0 && !begin_search(g)) return SX_OK;
    take_news(g);
    const uint64_t most = count_generations(g);
    while (sx_run_continue(g->run)) {
        if (g->s->generation - g->s->begun + 1 >= most && !begin_island(g)) break;
        sx_run_tasks(g->run, (g->n + 1) / 2, g->breed->make_pair, g, sx_gamma_block(g, g->n), 2 * g->each);
        g->s->generation++;
        choose_parents(g, g->s->elites);
    }
    return SX_OK;
}

static sx_status search_generations(sx_run *run) {
    sx_gamma g = {.run = run, .space = sx_map_space_of(sx_run_space(run))};
    g.n = (size_t)sx_run_setting(run, SX_GAMMA_POPULATION);
    find_axes(&g);
    SX_TRY(choose_breed(&g));
    sx_status status = evolve_population(&g);
    sx_compact_search_free(g.compact);
    return status;
}

SX_NAVIGATOR(gamma) = {
    .space = "map",
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_generations,
};
