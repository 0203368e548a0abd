#include "placement/flock.h"

#include <stdlib.h>
#include <string.h>

sx_status sx_flock_init(sx_flock *flock) {
    flock->next = malloc((flock->n * flock->length + 1) * sizeof *flock->next);
    flock->order = malloc((flock->n + 1) * sizeof *flock->order);
    flock->best = malloc((flock->n + 1) * sizeof *flock->best);
    return flock->next && flock->order && flock->best ? SX_OK : sx_error_memory();
}

void sx_flock_fini(sx_flock *flock) {
    free(flock->next);
    free(flock->order);
    free(flock->best);
}

/* Sorts by fitness, the best first. */
static void rank(sx_flock *flock) {
    for (size_t i = 0; i < flock->n; i++) {
        size_t at = i;
        for (; at > 0 && flock->fitness[flock->order[at - 1]] < flock->fitness[i]; at--)
            flock->order[at] = flock->order[at - 1];
        flock->order[at] = i;
    }
}

/* The winner of a tournament. */
static size_t tournament(const sx_flock *flock, const sx_breeding *breeding) {
    size_t best = (size_t)sx_rng_below(breeding->rng, flock->n);
    for (int i = 1; i < breeding->tournament; i++) {
        size_t other = (size_t)sx_rng_below(breeding->rng, flock->n);
        if (flock->fitness[other] > flock->fitness[best]) best = other;
    }
    return best;
}

/* Makes a child that is no elite. */
static void make_child(const sx_flock *flock, const sx_breeding *b, float *child) {
    memcpy(child, flock->now + tournament(flock, b) * flock->length, flock->length * sizeof *child);
    bool seeded = b->seed && b->seed(b->user, child);
    if (!seeded && flock->elites > 0 && flock->length > 0) {
        size_t elite = flock->order[sx_rng_below(b->rng, flock->elites)];
        size_t cut = (size_t)sx_rng_below(b->rng, flock->length + 1);
        memcpy(child, flock->now + elite * flock->length, cut * sizeof *child);
    }
    if (sx_rng_double(b->rng) < b->mutation) b->mutate(b->user, child);
}

void sx_flock_breed(sx_flock *flock, const sx_breeding *breeding) {
    rank(flock);
    for (size_t i = 0; i < flock->n; i++) {
        float *child = flock->next + i * flock->length;
        const float *elite = flock->now + flock->order[i] * flock->length;
        if (i < flock->elites) {
            memcpy(child, elite, flock->length * sizeof *child);
            flock->best[i] = flock->fitness[flock->order[i]];
        } else {
            make_child(flock, breeding, child);
        }
    }
    memcpy(flock->now, flock->next, flock->n * flock->length * sizeof *flock->now);
    for (size_t i = 0; i < flock->n; i++) {
        flock->known[i] = i < flock->elites;
        if (i < flock->elites) flock->fitness[i] = flock->best[i];
    }
}
