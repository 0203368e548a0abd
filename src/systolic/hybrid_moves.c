/* The operators of Odyssey's genetic search. Source: Odyssey (DAC 2023), "Genetic algorithm";
 * where text and published code differ, hybrid.c has a setting.
 *
 * A loop of size d with tiles t1 and t2 is three factors: trips d/t1, t1/t2 and t2. A mutation moves a part
 * of one to another: a random part (what it goes to is rounded up, so that the loop stays covered), or a
 * prime factor. What comes out is brought to the nearest tiles of the space.
 *
 * Complexity: per loop the square root of a tile, to find divisors. */
#include "systolic/hybrid_moves.h"

#include <math.h>

enum { DRAWS = 1000, FACTORS = 3 };

/* The largest size of a loop over the kernels. */
static uint32_t size_of(const sx_systolic_space *space, int d) {
    uint32_t size = 0;
    for (size_t i = 0; i < space->n_kernels; i++)
        if (space->kernel[i].loop[d].size > size) size = space->kernel[i].loop[d].size;
    return size;
}

/* The divisor of t1 that published code snaps t2 to: among ascending divisors (those that are powers of two,
 * of the SIMD loop), it starts at the first that is larger, and goes one back where that is nearer and not
 * the first of all. */
static uint32_t snap_as_published(const sx_systolic_tile_set *set, uint32_t t1, uint32_t t2) {
    uint32_t below = 0, above = 0, n_below = 0;
    for (uint32_t d = 1; d <= t1; d++) {
        if (t1 % d || (set->lanes && (d & (d - 1)))) continue;
        if (d > t2) {
            above = d;
            break;
        }
        below = d;
        n_below++;
    }
    if (!above) return below;
    return n_below > 1 && t2 - below < above - t2 ? below : above;
}

void sx_hybrid_settle(const sx_hybrid_moves *moves, sx_systolic_point *point) {
    const sx_systolic_plan *plan = &moves->systolic->plan[point->design];
    for (int d = 0; d < moves->systolic->n_loops; d++) {
        bool idle = d != plan->simd && !(plan->form.space >> d & 1);
        if (moves->settle && idle) point->t2[d] = point->t1[d];
        if (moves->as_published)
            point->t2[d] = snap_as_published(&moves->systolic->tiles[d], point->t1[d], point->t2[d]);
    }
}

void sx_hybrid_draw(const sx_hybrid_moves *moves, sx_rng *rng, sx_systolic_point *point) {
    sx_systolic_cost cost;
    for (int i = 0; i < DRAWS; i++) {
        moves->space->type->draw(moves->space, rng, point);
        sx_hybrid_settle(moves, point);
        if (sx_systolic_evaluate(moves->space, point, -1, &cost) != SX_SYSTOLIC_HIDING) return;
        if (moves->rejected) ++*moves->rejected;
    }
}

/* Brings a loop's tiles to those of the space. */
static void snap_tiles(const sx_hybrid_moves *moves, int d, double t1, double t2, sx_systolic_point *point) {
    const sx_systolic_tile_set *set = &moves->systolic->tiles[d];
    point->t1[d] = sx_systolic_tile_nearest(set, t1);
    point->t2[d] = moves->as_published
                       ? snap_as_published(set, point->t1[d], (uint32_t)fmin(t2, point->t1[d]))
                       : sx_systolic_inner_nearest(set, point->t1[d], t2);
}

/* A random prime factor of n > 1, by multiplicity. */
static uint32_t random_prime(uint32_t n, sx_rng *rng) {
    uint32_t prime[32];
    size_t n_primes = 0;
    for (uint32_t p = 2; (uint64_t)p * p <= n; p++)
        for (; n % p == 0; n /= p) prime[n_primes++] = p;
    if (n > 1) prime[n_primes++] = n;
    return prime[sx_rng_below(rng, n_primes)];
}

/* Moves a part of one factor of a loop to another. The published code gives no part to a factor of 1. */
static void move_factor(const sx_hybrid_moves *moves, sx_rng *rng, int d, sx_systolic_point *point) {
    uint32_t t1 = point->t1[d], t2 = point->t2[d], trips = size_of(moves->systolic, d) / t1;
    double factor[FACTORS] = {trips > 1 ? trips : 1, t1 / t2, t2};
    size_t from = sx_rng_below(rng, FACTORS), to = (from + 1 + sx_rng_below(rng, FACTORS - 1)) % FACTORS;
    if (sx_rng_double(rng) < moves->alpha) {
        if (factor[from] <= 1) return;
        uint32_t prime = random_prime((uint32_t)factor[from], rng);
        factor[from] /= prime;
        factor[to] *= prime;
    } else {
        if (factor[to] <= 1 && moves->as_published) return;
        double left = fmax(1, floor(factor[from] * sx_rng_double(rng)));
        factor[to] = fmax(1, ceil(factor[from] * factor[to] / left));
        factor[from] = left;
    }
    snap_tiles(moves, d, factor[1] * factor[2], factor[2], point);
}

/* Changes one random gene, or all loops. */
static void change_gene(const sx_hybrid_moves *moves, sx_rng *rng, sx_systolic_point *point) {
    const sx_space *space = moves->space;
    size_t gene = sx_rng_below(rng, space->n_genes);
    bool small = moves->nudge > 0 && sx_rng_double(rng) < moves->nudge;
    if (space->gene[gene].axis == SX_AXIS_DESIGN)
        space->type->redraw(space, rng, gene, point);
    else if (small)
        space->type->nudge(space, rng, gene, point);
    else if (!moves->all_loops)
        move_factor(moves, rng, space->gene[gene].which, point);
    else
        for (int d = 0; d < moves->systolic->n_loops; d++) move_factor(moves, rng, d, point);
}

void sx_hybrid_mutate(const sx_hybrid_moves *moves, sx_rng *rng, sx_systolic_point *point) {
    if (sx_rng_double(rng) < moves->epsilon) {
        sx_hybrid_draw(moves, rng, point);
        return;
    }
    change_gene(moves, rng, point);
    sx_hybrid_settle(moves, point);
}

void sx_hybrid_cross(const sx_hybrid_moves *moves, sx_rng *rng, const sx_systolic_point *mother,
                     const sx_systolic_point *father, sx_systolic_point *child) {
    const sx_space *space = moves->space;
    *child = *mother;
    for (size_t g = 0; g < space->n_genes; g++)
        if (sx_rng_below(rng, 2)) space->type->take(space, g, father, child);
    sx_hybrid_settle(moves, child);
}

bool sx_hybrid_alike(const sx_hybrid_moves *moves, const sx_systolic_point *a, const sx_systolic_point *b) {
    const sx_systolic_plan *plan = &moves->systolic->plan[a->design];
    bool alike = a->design == b->design && a->t2[plan->simd] == b->t2[plan->simd];
    for (int i = 0; alike && i < plan->design.n_space; i++) {
        int d = plan->design.space[i];
        alike = a->t1[d] / a->t2[d] == b->t1[d] / b->t2[d];
    }
    return alike;
}
