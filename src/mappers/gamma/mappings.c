/* Gamma's individuals as mappings with their genes (operators.h). */
#include "mappers/gamma/gamma.h"

#include <string.h>

_Static_assert(sizeof(sx_gamma_genes) % 8 == 0, "points lie behind genes");

/* The genes and the point of an individual. */
static sx_gamma_individual parts_of(void *bred) {
    sx_gamma_genes *genes = bred;
    return (sx_gamma_individual){genes + 1, genes};
}

static sx_gamma_individual individual_at(const sx_gamma *g, size_t i) {
    return parts_of(sx_gamma_block(g, i) + 1);
}

static size_t individual_size(const sx_gamma *g) {
    return sizeof(sx_gamma_genes) + g->space->space.point_size;
}

/* Whether something of a given chance happens. */
static bool chance_happens(const sx_gamma *g, sx_rng *rng, size_t setting) {
    double chance = sx_run_setting(g->run, setting);
    return chance > 0 && sx_rng_double(rng) < chance;
}

/* Makes an individual random and legal. */
static void draw_legal(const sx_gamma *g, sx_rng *rng, sx_worker *worker, sx_gamma_individual i) {
    for (int tries = 0; tries < SX_GAMMA_REPAIRS; tries++) {
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
static void mutate_individual(const sx_gamma *g, sx_rng *rng, bool changed, sx_gamma_individual i) {
    static const struct {
        int chance;
        void (*change)(const sx_map_space *, sx_rng *, sx_gamma_individual);
    } first[] = {{SX_GAMMA_ORDERS, sx_gamma_swap_order},
                 {SX_GAMMA_PARALLELS, sx_gamma_change_parallel},
                 {SX_GAMMA_LEVELS, sx_gamma_swap_levels},
                 {SX_GAMMA_GROWTH, sx_gamma_grow},
                 {SX_GAMMA_AGING, sx_gamma_age}};
    for (size_t m = 0; m < sizeof first / sizeof *first; m++) {
        if (!chance_happens(g, rng, (size_t)first[m].chance)) continue;
        first[m].change(g->space, rng, i);
        changed = true;
    }
    bool keep = chance_happens(g, rng, SX_GAMMA_KEEPS);
    if (keep && changed) sx_gamma_express(g->space, i);
    if (keep) sx_gamma_change_keep(g->space, rng, i);
    changed &= !keep;
    bool tile = chance_happens(g, rng, SX_GAMMA_TILES),
         shift = tile && chance_happens(g, rng, SX_GAMMA_SHIFTS);
    if (tile && !shift) sx_gamma_redraw_tile(g->space, rng, i);
    if (changed || (tile && !shift)) sx_gamma_express(g->space, i);
    if (shift) sx_gamma_shift(g->space, rng, i);
}

/* A task: makes and evaluates an individual of the first population, its output. */
static sx_status make_first(const void *input, size_t task, sx_worker *worker, void *output) {
    const sx_gamma *g = input;
    size_t n_starts;
    const unsigned char *start = sx_run_starts(g->run, &n_starts);
    sx_rng rng = sx_rng_stream(sx_run_seed(g->run), "gamma.first", g->s->island * g->n + task);
    sx_gamma_individual i = parts_of((sx_outcome *)output + 1);
    bool natural = (double)task < sx_run_setting(g->run, SX_GAMMA_NATURAL) * (double)g->n, legal = natural;
    if (task < n_starts || (natural && n_starts > 0)) {
        memcpy(i.point, start + task % n_starts * g->space->space.point_size, g->space->space.point_size);
        sx_gamma_read(g->space, &rng, i);
        if (task >= n_starts) mutate_individual(g, &rng, false, i);
        legal = task < n_starts || sx_gamma_repair(g->space, &rng, i);
    } else if (natural) {
        sx_gamma_natural(g->space, &rng, i);
        if (task > 0) {
            sx_gamma_redraw_tile(g->space, &rng, i);
            sx_gamma_express(g->space, i);
        }
        legal = sx_gamma_repair(g->space, &rng, i);
    }
    if (!legal) draw_legal(g, &rng, worker, i);
    *(sx_outcome *)output = sx_worker_evaluate(worker, i.point, false);
    return SX_OK;
}

/* Makes a legal child of two parents; where repair fails again and again it is the first parent again. */
static void make_child(const sx_gamma *g, sx_rng *rng, sx_worker *worker, const sx_gamma_crossing *cross,
                       size_t mother, size_t father, sx_gamma_individual child) {
    for (int tries = 0; tries < SX_GAMMA_REPAIRS; tries++) {
        sx_gamma_copy(g->space, individual_at(g, mother), child);
        if (cross->happens) sx_gamma_take(g->space, cross->axis, cross->dim, individual_at(g, father), child);
        mutate_individual(g, rng, cross->happens, child);
        if (sx_gamma_repair(g->space, rng, child)) return;
        sx_worker_reject(worker, 1);
    }
    sx_gamma_copy(g->space, individual_at(g, mother), child);
}

/* A task: makes and evaluates the two children of a pair, or random individuals in their place, its output.
 */
static sx_status make_pair(const void *input, size_t task, sx_worker *worker, void *output) {
    const sx_gamma *g = input;
    size_t pairs = (g->n + 1) / 2;
    sx_rng rng = sx_rng_stream(sx_run_seed(g->run), "gamma", g->s->generation * pairs + task);
    size_t parent[2] = {sx_rng_below(&rng, g->s->parents), sx_rng_below(&rng, g->s->parents)};
    sx_gamma_crossing cross = {
        .happens = chance_happens(
            g, &rng, g->s->generation > g->s->begun ? SX_GAMMA_CROSSOVER : SX_GAMMA_FIRST_CROSSOVER)};
    cross.axis = g->axis[sx_rng_below(&rng, g->n_axes)];
    cross.dim = sx_gamma_random_dim(g->space, &rng);
    double bred = (double)g->n * (1 - sx_run_setting(g->run, SX_GAMMA_INJECTED));
    for (size_t side = 0; side < 2; side++) {
        size_t number = 2 * task + side;
        if (number >= g->n) break;
        void *made = (unsigned char *)output + side * g->each;
        sx_gamma_individual child = parts_of((sx_outcome *)made + 1);
        if ((double)number < bred)
            make_child(g, &rng, worker, &cross, parent[side], parent[1 - side], child);
        else
            draw_legal(g, &rng, worker, child);
        *(sx_outcome *)made = sx_worker_evaluate(worker, child.point, false);
    }
    return SX_OK;
}

/* Whether the orders of an individual's genes are orders. */
static bool genes_hold(const sx_gamma *g, const sx_gamma_genes *genes) {
    for (int s = 0; s < g->space->arch->n_levels; s++)
        if (!sx_order_is_permutation(genes->order[s], g->space->problem->n_dims)) return false;
    return true;
}

static bool space_holds(const sx_gamma *g, const void *bred) {
    const sx_gamma_genes *genes = bred;
    return genes_hold(g, genes) && sx_run_holds(g->run, genes + 1, 1);
}

static void adopt_point(const sx_gamma *g, const void *point, void *bred) {
    sx_rng rng = sx_rng_stream(sx_run_seed(g->run), "gamma.news", g->s->generation);
    memcpy(parts_of(bred).point, point, g->space->space.point_size);
    sx_gamma_read(g->space, &rng, parts_of(bred));
}

const sx_gamma_breed sx_gamma_mappings = {individual_size, make_first, make_pair, space_holds, adopt_point};
