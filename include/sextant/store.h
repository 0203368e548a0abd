/* The database of results: problems, architectures, mappings, costs and runs, in one SQLite file that several
 * programs may write at once. Without SQLite in the build, opening one is an error that says so. */
#ifndef SX_STORE_H
#define SX_STORE_H

#include "sextant/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sx_store sx_store;

/* Whether this build has SQLite; its version, or NULL. */
SX_API const char *sx_store_engine(void);

/* Opens a database, making it where there is none; an older schema is brought up to date. A file that is no
 * database of ours, or is damaged, is refused and not written to. */
SX_API SX_MUST_USE sx_status sx_store_open(const char *path, SX_OWN sx_store **out);
SX_API void sx_store_close(SX_TAKE sx_store *store);

/* A result to keep. Texts are borrowed. */
typedef struct sx_record {
    sx_problem problem;
    sx_arch arch;
    sx_mapping mapping;
    sx_score score;
    double value;          /* of the objective */
    const char *objective; /* as text */
    const char *mapper;    /* with all settings */
    const char *options;   /* JSON: all else that repeats the run; may be NULL */
    const char *version;   /* of the program */
    uint64_t seed, evaluations, valid;
    double seconds, lower_bound;
    bool optimal;
} sx_record;

/* Adds a result in one transaction: when the call returns it is on disk, or it is not there at all. The same
 * result again is no error and adds nothing. */
SX_API SX_MUST_USE sx_status sx_store_add(sx_store *store, const sx_record *record);

/* Visits the best mapping of every problem on an architecture under an objective; a visit that returns an
 * error ends it. The record's texts live until the visit returns. */
typedef sx_status sx_store_visit(void *user, const sx_record *record);
SX_API SX_MUST_USE sx_status sx_store_best(sx_store *store, const sx_arch *arch, const char *objective,
                                           sx_store_visit *visit, void *user);

/* Visits the runs that proved their answer for a problem on an architecture under an objective, in a fixed
 * order. What they searched besides (constraints, the space's options) is up to their `options`. */
SX_API SX_MUST_USE sx_status sx_store_proven(sx_store *store, const sx_problem *problem, const sx_arch *arch,
                                             const char *objective, sx_store_visit *visit, void *user);

/* How many of each there are. */
typedef struct sx_store_counts {
    uint64_t problems, archs, mappings, runs;
} sx_store_counts;
SX_API SX_MUST_USE sx_status sx_store_count(sx_store *store, sx_store_counts *out);

#ifdef __cplusplus
}
#endif

#endif
