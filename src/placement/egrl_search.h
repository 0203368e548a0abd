/* The search of EGRL with its parts: `ea`, `pg` and `egrl` are this with some of them. */
#ifndef SX_PLACEMENT_EGRL_SEARCH_H
#define SX_PLACEMENT_EGRL_SEARCH_H

#include "placement/learner.h"
#include "sextant/navigator.h"

typedef struct sx_egrl_options {
    size_t n_boltzmann, n_nets; /* chromosomes of each encoding */
    double elites;              /* share of each encoding */
    int tournament;             /* size */
    double mutation;            /* probability */
    double sigma;               /* deviation of the noise on Boltzmann chromosomes */
    double weight_sigma;        /* the same on weights of networks, as a multiple of a weight */
    double leaps, resets;       /* probabilities that a mutated weight gets strong noise, or a new value */
    double lean;                /* first prior, or logit, of the slowest memory */
    double seeding;             /* probability that a network's posterior seeds a Boltzmann child */
    bool common;                /* elites of both encodings by one ranking */
    double explore;             /* deviation of the noise on the learner's placements; 0: they are drawn */
    double invalid;             /* reward of invalid placements; 0: minus their mapping error */
    unsigned migration;         /* generations between copies of the learner into the population; 0: none */
    unsigned rollouts;          /* placements of the learner per generation; 0: there is no learner */
    double updates;             /* of the learner per evaluation */
    double scale;               /* of its rewards */
    size_t replay;              /* transitions that are stored */
    sx_learner_options learner;
    uint32_t channels;
    unsigned depth;
    const char *policy, *save; /* weight files to begin from, and to write; "": none */
} sx_egrl_options;

SX_MUST_USE sx_status sx_egrl_search(sx_run *run, const sx_egrl_options *options);

#endif
