#include "placement/population.h"

#include <stdlib.h>
#include <string.h>

sx_status sx_population_init(sx_population *population) {
    population->next = malloc((population->n * population->length + 1) * sizeof *population->next);
    population->order = malloc((population->n + 1) * sizeof *population->order);
    population->best = malloc((population->n + 1) * sizeof *population->best);
    return population->next && population->order && population->best ? SX_OK : sx_error_memory();
}

void sx_population_fini(sx_population *population) {
    free(population->next);
    free(population->order);
    free(population->best);
}

/* Sorts by fitness, the best first. */
static void rank_members(sx_population *population) {
    for (size_t i = 0; i < population->n; i++) {
        size_t at = i;
        for (; at > 0 && population->fitness[population->order[at - 1]] < population->fitness[i]; at--)
            population->order[at] = population->order[at - 1];
        population->order[at] = i;
    }
}

/* The winner of a tournament. */
static size_t hold_tournament(const sx_population *population, const sx_breeding *breeding) {
    size_t best = (size_t)sx_rng_below(breeding->rng, population->n);
    for (int i = 1; i < breeding->tournament; i++) {
        size_t other = (size_t)sx_rng_below(breeding->rng, population->n);
        if (population->fitness[other] > population->fitness[best]) best = other;
    }
    return best;
}

/* Makes a child that is no elite. */
static void make_child(const sx_population *population, const sx_breeding *b, float *child) {
    memcpy(child, population->now + hold_tournament(population, b) * population->length,
           population->length * sizeof *child);
    bool seeded = b->seed && b->seed(b->user, child);
    if (!seeded && population->elites > 0 && population->length > 0) {
        size_t elite = population->order[sx_rng_below(b->rng, population->elites)];
        size_t cut = (size_t)sx_rng_below(b->rng, population->length + 1);
        memcpy(child, population->now + elite * population->length, cut * sizeof *child);
    }
    if (sx_rng_double(b->rng) < b->mutation) b->mutate(b->user, child);
}

void sx_population_breed(sx_population *population, const sx_breeding *breeding) {
    rank_members(population);
    for (size_t i = 0; i < population->n; i++) {
        float *child = population->next + i * population->length;
        const float *elite = population->now + population->order[i] * population->length;
        if (i < population->elites) {
            memcpy(child, elite, population->length * sizeof *child);
            population->best[i] = population->fitness[population->order[i]];
        } else {
            make_child(population, breeding, child);
        }
    }
    memcpy(population->now, population->next, population->n * population->length * sizeof *population->now);
    for (size_t i = 0; i < population->n; i++) {
        population->known[i] = i < population->elites;
        if (i < population->elites) population->fitness[i] = population->best[i];
    }
}
