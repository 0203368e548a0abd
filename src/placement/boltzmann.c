#include "placement/boltzmann.h"

#include "learn/elementary.h"

#include <math.h>
#include <string.h>

#define COLDEST 0.05 /* temperatures stay between these */
#define HOTTEST 10.0
#define FURTHEST 1000.0 /* priors stay within that */
#define LEAST 1e-4      /* probability of a seed */

size_t sx_boltzmann_length(const sx_placement_space *space) {
    return space->space.n_genes * (space->chip.n_memories + 1);
}

void sx_boltzmann_draw(const sx_placement_space *space, sx_rng *rng, double lean, float *chromosome) {
    size_t memories = space->chip.n_memories;
    for (size_t g = 0; g < space->space.n_genes; g++, chromosome += memories + 1) {
        for (size_t m = 0; m < memories; m++) chromosome[m] = (float)(sx_normal(rng) + (m == 0 ? lean : 0));
        chromosome[memories] = 1;
    }
}

/* Draws the memory of a gene: the sum of the weights, then the first memory at which a share of it is reached. */
static uint8_t draw_memory(sx_rng *rng, const float *gene, size_t n) {
    double weight[SX_MAX_MEMORIES], sum = 0;
    float most = gene[0];
    for (size_t m = 1; m < n; m++)
        if (gene[m] > most) most = gene[m];
    for (size_t m = 0; m < n; m++) {
        weight[m] = sx_exp((double)(gene[m] - most) / (double)gene[n]);
        sum += weight[m];
    }
    double at = sx_rng_double(rng) * sum;
    size_t drawn = 0;
    for (; drawn + 1 < n && at >= weight[drawn]; drawn++) at -= weight[drawn];
    return (uint8_t)drawn;
}

void sx_boltzmann_place(const sx_placement_space *space, sx_rng *rng, const float *chromosome,
                        uint8_t *placement) {
    size_t memories = space->chip.n_memories;
    memset(placement, 0, space->space.point_size);
    for (size_t g = 0; g < space->space.n_genes; g++)
        placement[space->space.gene[g].which] = draw_memory(rng, chromosome + g * (memories + 1), memories);
}

void sx_boltzmann_mutate(const sx_placement_space *space, sx_rng *rng, double sigma, float *chromosome) {
    size_t memories = space->chip.n_memories, genes = space->space.n_genes, n = 1 + genes / 10;
    for (size_t i = 0; i < n && genes > 0; i++) {
        float *gene = chromosome + sx_rng_below(rng, genes) * (memories + 1);
        for (size_t m = 0; m < memories; m++)
            gene[m] = (float)fmin(fmax((double)gene[m] + sigma * sx_normal(rng), -FURTHEST), FURTHEST);
        double hotter = (double)gene[memories] * sx_exp(sigma * sx_normal(rng));
        gene[memories] = (float)fmin(fmax(hotter, COLDEST), HOTTEST);
    }
}

void sx_boltzmann_seed(const sx_placement_space *space, const float *probability, float *chromosome) {
    size_t memories = space->chip.n_memories;
    for (size_t g = 0; g < space->space.n_genes; g++) {
        const float *p = probability + (size_t)space->space.gene[g].which * memories;
        for (size_t m = 0; m < memories; m++)
            chromosome[g * (memories + 1) + m] = (float)sx_log(fmax((double)p[m], LEAST));
    }
}

bool sx_boltzmann_holds(const sx_placement_space *space, const float *chromosome) {
    size_t memories = space->chip.n_memories;
    for (size_t i = 0; i < sx_boltzmann_length(space); i++) {
        bool temperature = i % (memories + 1) == memories;
        if (!(fabs((double)chromosome[i]) <= FURTHEST)) return false;
        if (temperature && !(chromosome[i] >= (float)COLDEST)) return false;
    }
    return true;
}
