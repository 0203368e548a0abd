/* Evolution of Boltzmann chromosomes: for each tensor a prior per memory and a temperature, from which its
 * memory is drawn by the Boltzmann softmax.
 *
 * Source: the evolutionary half of EGRL (ICLR 2021), Algorithm 2 and appendix E, with the population of Table 2.
 * A generation draws a placement of each chromosome and ranks them by reward; elites stay as they are; the
 * others are chosen by tournaments, crossed with elites at a single point and mutated by normal noise. An
 * invalid placement counts as an evaluation and has the reward -error. The paper does not say the number of
 * elites, the tournament, nor the mutation: they are those of CERL (ICML 2019), on which it builds. Priors begin
 * as normal noise around `lean` for the slowest memory, which is the paper's first mapping. Its population has
 * policies by graph networks besides.
 *
 * Complexity: a draw per tensor and an evaluation per chromosome and generation. */
#include "base/status.h"
#include "learn/elementary.h"
#include "placement/place.h"
#include "run/navigator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POPULATION, ELITES, TOURNAMENT, MUTATION, SIGMA, LEAN };

static const sx_setting settings[] = {
    [POPULATION] = {"population", "population size", "20", 20, 2, 10000, true, NULL},
    [ELITES] = {"elites", "share of elites, kept unchanged", NULL, 0.2, 0, 0.9, false, NULL},
    [TOURNAMENT] = {"tournament", "tournament size", NULL, 3, 1, 1000, true, NULL},
    [MUTATION] = {"mutation", "mutation probability", NULL, 0.9, 0, 1, false, NULL},
    [SIGMA] = {"sigma", "standard deviation of the noise that mutates", NULL, 0.5, 0, 100, false, NULL},
    [LEAN] = {"lean", "first prior of the slowest memory", NULL, 1, -100, 100, false, NULL},
};

#define COLDEST 0.05 /* temperatures stay between these */
#define HOTTEST 10.0

/* What is remembered between safe points: this, then the chromosomes of two generations, then the fitness of
 * one. */
typedef struct state {
    sx_rng rng;
    uint64_t begun, turn;
} state;

typedef struct breeder {
    sx_run *run;
    const sx_placement_space *space;
    size_t n, genes, memories, length, elites;
    state *s;
    double *chromosome[2], *fitness;
    uint8_t *points, *scratch;
    sx_outcome *outcome;
    size_t *order;
} breeder;

/* Chromosome number i of the living generation, or of the other. */
static double *chromosome(const breeder *b, size_t i, bool next) {
    return b->chromosome[next ? 1 - b->s->turn : b->s->turn] + i * b->length;
}

/* Draws the memory of a gene: probabilities proportional to exp(prior / temperature). */
static uint8_t draw_memory(const breeder *b, const double *gene) {
    double weight[SX_MAX_MEMORIES], sum = 0, most = gene[0];
    for (size_t m = 1; m < b->memories; m++) most = fmax(most, gene[m]);
    for (size_t m = 0; m < b->memories; m++) sum += weight[m] = exp((gene[m] - most) / gene[b->memories]);
    double at = sx_rng_double(&b->s->rng) * sum;
    for (size_t m = 0; m + 1 < b->memories; m++) {
        if (at < weight[m]) return (uint8_t)m;
        at -= weight[m];
    }
    return (uint8_t)(b->memories - 1);
}

/* The rank of a placement among others: the inverse of its value, or minus its mapping error. */
static double fitness_of(const breeder *b, const sx_outcome *outcome, const uint8_t *point) {
    if (outcome->reason == 0) return outcome->value > 0 ? 1 / outcome->value : INFINITY;
    if (outcome->reason == SX_NOT_EVALUATED) return -2;
    memcpy(b->scratch, point, b->space->space.point_size);
    return -(double)sx_placement_rectify(&b->space->space, b->scratch) / (double)b->space->total;
}

/* Draws and evaluates a placement of each chromosome. */
static void evaluate(breeder *b) {
    const sx_space *space = &b->space->space;
    memset(b->points, 0, b->n * space->point_size);
    for (size_t i = 0; i < b->n; i++)
        for (size_t g = 0; g < b->genes; g++)
            b->points[i * space->point_size + (size_t)space->gene[g].which] =
                draw_memory(b, chromosome(b, i, false) + g * (b->memories + 1));
    sx_run_evaluate(b->run, b->points, b->n, b->outcome);
    for (size_t i = 0; i < b->n; i++)
        b->fitness[i] = fitness_of(b, &b->outcome[i], b->points + i * space->point_size);
}

/* Makes the first generation. */
static void begin(breeder *b) {
    sx_run_evaluate_starts(b->run, 0);
    b->s->rng = sx_rng_stream(sx_run_seed(b->run), "ea", 0);
    for (size_t i = 0; i < b->n; i++)
        for (size_t g = 0; g < b->genes; g++) {
            double *gene = chromosome(b, i, false) + g * (b->memories + 1);
            for (size_t m = 0; m < b->memories; m++)
                gene[m] = sx_normal(&b->s->rng) + (m == 0 ? sx_run_setting(b->run, LEAN) : 0);
            gene[b->memories] = 1;
        }
    b->s->begun = 1;
}

/* Sorts the generation by fitness, the best first. */
static void rank(breeder *b) {
    for (size_t i = 0; i < b->n; i++) {
        size_t at = i;
        for (; at > 0 && b->fitness[b->order[at - 1]] < b->fitness[i]; at--) b->order[at] = b->order[at - 1];
        b->order[at] = i;
    }
}

/* The winner of a tournament. */
static size_t tournament(const breeder *b) {
    size_t best = (size_t)sx_rng_below(&b->s->rng, b->n);
    for (int i = 1; i < (int)sx_run_setting(b->run, TOURNAMENT); i++) {
        size_t other = (size_t)sx_rng_below(&b->s->rng, b->n);
        if (b->fitness[other] > b->fitness[best]) best = other;
    }
    return best;
}

/* Adds noise to one of ten genes of a chromosome, about, and at least one. */
static void mutate(const breeder *b, double *child) {
    double sigma = sx_run_setting(b->run, SIGMA);
    size_t n = 1 + b->genes / 10;
    for (size_t i = 0; i < n && b->genes > 0; i++) {
        double *gene = child + sx_rng_below(&b->s->rng, b->genes) * (b->memories + 1);
        for (size_t m = 0; m < b->memories; m++) gene[m] += sigma * sx_normal(&b->s->rng);
        gene[b->memories] *= exp(sigma * sx_normal(&b->s->rng));
        gene[b->memories] = fmin(fmax(gene[b->memories], COLDEST), HOTTEST);
    }
}

/* Breeds the next generation. */
static void breed(breeder *b) {
    rank(b);
    for (size_t i = 0; i < b->n; i++) {
        double *child = chromosome(b, i, true);
        if (i < b->elites) {
            memcpy(child, chromosome(b, b->order[i], false), b->length * sizeof *child);
            continue;
        }
        memcpy(child, chromosome(b, tournament(b), false), b->length * sizeof *child);
        if (b->elites > 0 && b->length > 0) {
            const double *elite = chromosome(b, b->order[sx_rng_below(&b->s->rng, b->elites)], false);
            memcpy(child, elite, (size_t)sx_rng_below(&b->s->rng, b->length + 1) * sizeof *child);
        }
        if (sx_rng_double(&b->s->rng) < sx_run_setting(b->run, MUTATION)) mutate(b, child);
    }
    b->s->turn = 1 - b->s->turn;
}

/* Whether a state out of a checkpoint can be one. */
static bool sound(const breeder *b) {
    if (!b->s->begun) return true;
    if (b->s->turn > 1 || !sx_rng_holds(&b->s->rng)) return false;
    for (size_t i = 0; i < 2 * b->n * b->length; i++)
        if (!isfinite(b->chromosome[0][i])) return false;
    for (size_t i = 0; i < b->n * b->genes; i++)
        if (!(b->chromosome[b->s->turn][(i + 1) * (b->memories + 1) - 1] >= COLDEST)) return false;
    return true;
}

/* Makes the memory of a search. */
static sx_status prepare(breeder *b, bool *resumed) {
    const sx_space *space = &b->space->space;
    size_t doubles = 2 * b->n * b->length + b->n;
    b->s = sx_run_state(b->run, sizeof *b->s + doubles * sizeof(double), resumed);
    b->points = malloc(b->n * space->point_size);
    b->scratch = malloc(space->point_size);
    b->outcome = malloc(b->n * sizeof *b->outcome);
    b->order = malloc(b->n * sizeof *b->order);
    if (!b->s || !b->points || !b->scratch || !b->outcome || !b->order) return sx_error_memory();
    b->chromosome[0] = (double *)(b->s + 1);
    b->chromosome[1] = b->chromosome[0] + b->n * b->length;
    b->fitness = b->chromosome[1] + b->n * b->length;
    return !*resumed || sound(b) ? SX_OK : sx_run_damaged(b->run);
}

static sx_status search(sx_run *run) {
    const sx_placement_space *space = sx_placement_space_of(sx_run_space(run));
    breeder b = {.run = run, .space = space, .genes = space->space.n_genes};
    bool resumed;
    b.n = (size_t)sx_run_setting(run, POPULATION);
    b.elites = (size_t)(sx_run_setting(run, ELITES) * (double)b.n);
    b.memories = space->chip.n_memories;
    b.length = b.genes * (b.memories + 1);
    sx_status status = prepare(&b, &resumed);
    while (!status && sx_run_continue(run)) {
        if (!b.s->begun) begin(&b);
        evaluate(&b);
        if (!sx_run_stopped(run)) breed(&b);
    }
    free(b.points);
    free(b.scratch);
    free(b.outcome);
    free(b.order);
    return status;
}

SX_NAVIGATOR(ea) = {
    .source = "EGRL (ICLR 2021), Algorithm 2 and appendix E",
    .space = "placement",
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search,
};
