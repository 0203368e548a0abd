/* Certificates of optimality: what a search claims to have proven, with all that is needed to check it again
 * by code that shares the cost model, its lower bounds and the readers of files with the search, and nothing
 * of the search itself (docs/verify.md). */
#ifndef SX_CERTIFICATE_H
#define SX_CERTIFICATE_H

#include "sextant/error.h"
#include "sextant/input.h"
#include "sextant/proof.h"
#include "sextant/space.h"

/* Room for a fraction of two numbers of 128 bits as text. */
#define SX_FRACTION_SIZE 80

/* A mapping of a front. */
typedef struct sx_certified_point {
    sx_mapping mapping;
    sx_score score; /* only energy and cycles */
    char energy_exact[SX_FRACTION_SIZE];
} sx_certified_point;

/* The claim: of all mappings of the problem onto the architecture that the constraints and options allow,
 * none has a value of the objective below lower_bound, and the mapping has this score and value. With a front: every one
 * of them has no less energy and no fewer cycles than a mapping of the front, and these have these scores. */
typedef struct sx_certificate {
    sx_problem problem;
    sx_arch arch;
    sx_constraints constraints;
    sx_map_space_options space; /* with remainders: the proof lists nothing */
    sx_model_options model;
    sx_objective objective; /* of several criteria: only sx_independent_check() checks the lower bound */
    sx_mapping mapping;
    sx_score score; /* only energy and cycles */
    /* The same energy without rounding, in pJ, such as "8622150319072768/25"; "": not said. */
    char energy_exact[SX_FRACTION_SIZE];
    double value;
    double lower_bound;
    bool optimal; /* the lower bound is the value */
    sx_proof *proof;
    uint64_t compulsory, tables, searched; /* spatial mappings that are closed by each reason */
    size_t n_front;                        /* 0: no front is claimed */
    sx_certified_point *front;             /* by cycles; only sx_independent_check() checks it */
    /* Not checked, and not part of the claim. */
    char version[32];
    char *mapper;
    uint64_t seed, evaluations;
} sx_certificate;

/* Whether only sx_independent_check() checks the lower bound of a certificate. */
static inline bool sx_certificate_open(const sx_certificate *c) {
    return c->objective.n_criteria > 1 || (c->space.remainders && c->model.latency_tile);
}

void sx_certificate_free(SX_TAKE sx_certificate *certificate);

/* Writes a certificate as JSON; the text is freed with sx_free(). */
SX_MUST_USE sx_status sx_certificate_write(const sx_certificate *certificate, SX_OWN char **out);

/* Reads what sx_certificate_write wrote, from a text that is called `name` in errors. A damaged text is an
 * error; whether the claims hold is another matter. */
SX_MUST_USE sx_status sx_certificate_read(const char *name, const char *text, size_t size,
                                          SX_OWN sx_certificate **out);

/* How far a check has come. */
typedef struct sx_verify_progress {
    uint64_t spatial, n_spatial; /* spatial mappings checked, of all */
    uint64_t entries, n_entries; /* checked, of all */
    uint64_t evaluations;        /* of mappings, for these */
    uint64_t steps;              /* small ones, of the whole check */
    double seconds;
} sx_verify_progress;

typedef struct sx_verify_options {
    unsigned threads;        /* 0: 1 */
    uint64_t steps;          /* after about which it gives up; 0: never */
    double memory;           /* bytes that tables of bounds may take, about; 0: 4 GiB */
    const sx_cancel *cancel; /* when it is set: end; may be NULL */
    void (*progress)(void *user, const sx_verify_progress *progress); /* called periodically; may be NULL */
    void *user;
} sx_verify_options;

/* One thread, and no limit but that of memory. */
void sx_verify_options_init(sx_verify_options *options);

typedef enum sx_claims {
    SX_CLAIMS_HOLD,
    SX_CLAIMS_FAIL,
    SX_CLAIMS_OPEN, /* stopped before it was known */
} sx_claims;

/* What a check found out. */
typedef struct sx_verification {
    sx_claims verdict;
    char claim[64]; /* the one that does not hold: "mapping", "value", "lower bound", "arrays", ... */
    char why[512];  /* a sentence */
    sx_verify_progress done;
} sx_verification;

/* Checks every claim of a certificate. What cannot be checked at all is an error. */
SX_MUST_USE sx_status sx_certificate_verify(const sx_certificate *certificate,
                                            const sx_verify_options *options, sx_verification *out);

#endif
