/* A data set: uniform legal mappings of random problems of a family, with what they cost. Sample `index`
 * depends on the seed and the index alone. Samples are made in shards, which go to a folder one by one where
 * one is given; those that are there already are not made again. */
#ifndef SX_SURROGATE_SAMPLES_H
#define SX_SURROGATE_SAMPLES_H

#include "sextant/error.h"
#include "sextant/ranks.h"
#include "surrogate/encoding.h"
#include "surrogate/family.h"

enum { SX_SHARD_PROBLEMS = 200 };

typedef struct sx_samples_options {
    const sx_arch *arch;
    const sx_family *family;
    sx_map_space_options space;
    sx_model_options model;
    uint64_t seed;
    const char *stream;  /* "train" or "held": data sets of different streams have no problem in common */
    uint64_t n_problems; /* whose mappings are sampled */
    uint64_t per_problem;
    sx_ranks *ranks;                                /* processes that make them together; NULL: this one */
    unsigned threads;                               /* 0: 1; the samples do not depend on it */
    const char *folder;                             /* for the shards; NULL: they stay in memory */
    const sx_cancel *cancel;                        /* may be NULL */
    void (*progress)(void *user, uint64_t samples); /* after every shard; may be NULL */
    void *user;
} sx_samples_options;

typedef struct sx_samples sx_samples;

/* Makes a data set, or reads what is there of it. Where it is cancelled, *out has the shards that are whole
 * (none: NULL). */
SX_MUST_USE sx_status sx_samples_new(const sx_samples_options *options, SX_OWN sx_samples **out);
void sx_samples_free(SX_TAKE sx_samples *samples);

/* How many there are, and whether that is all of them. */
uint64_t sx_samples_count(const sx_samples *samples);
bool sx_samples_complete(const sx_samples *samples);
const sx_encoding *sx_samples_encoding(const sx_samples *samples);

/* The inputs of a sample, followed by its outputs. */
const float *sx_samples_row(const sx_samples *samples, uint64_t index);

#endif
