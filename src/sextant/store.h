/* The database of results, in one SQLite file that several programs may write at once: problems,
 * architectures, mappings, costs and runs; and points of other spaces with their metrics and searches. Without
 * SQLite in the build, opening one is an error that says so. */
#ifndef SX_STORE_H
#define SX_STORE_H

#include "sextant/options.h"
#include "sextant/run.h"

typedef struct sx_store sx_store;

/* Whether this build has SQLite; its version, or NULL. */
const char *sx_store_engine(void);

/* Opens a database, making it where there is none; an older schema is brought up to date. A file that is no
 * database of ours, or is damaged, is refused and not written to. */
SX_MUST_USE sx_status sx_store_open(const char *path, SX_OWN sx_store **out);

enum { SX_STORE_WAIT = 60, SX_STORE_MOST_WAIT = 86400 }; /* the seconds of sx_store_open, and the most */

/* The search that found something. Texts are borrowed. */
typedef struct sx_search_record {
    double value;          /* of the objective; smaller is better */
    const char *objective; /* as text */
    const char *navigator; /* with all settings */
    const char *options;   /* JSON: all else that repeats the run; may be NULL */
    const char *version;   /* of the program */
    uint64_t seed, evaluations, valid;
    double seconds, lower_bound;
    bool optimal;
} sx_search_record;

/* A result to keep. */
typedef struct sx_record {
    sx_problem problem;
    sx_arch arch;
    sx_mapping mapping;
    sx_score score;
    sx_search_record search;
} sx_record;

/* Adds a result in one transaction: when the call returns it is on disk, or it is not there at all. The same
 * result again is no error and adds nothing. */
SX_MUST_USE sx_status sx_store_add(sx_store *store, const sx_record *record);

/* Visits the best mapping of every problem on an architecture under an objective; a visit that returns an
 * error ends it. The record's texts live until the visit returns. */
typedef sx_status sx_store_visit(void *user, const sx_record *record);
SX_MUST_USE sx_status sx_store_best(sx_store *store, const sx_arch *arch, const char *objective,
                                    sx_store_visit *visit, void *user);

/* Visits the runs that proved their answer for a problem on an architecture under an objective, in a fixed
 * order. What they searched besides (constraints, the space's options) is up to their `options`. */
SX_MUST_USE sx_status sx_store_proven(sx_store *store, const sx_problem *problem, const sx_arch *arch,
                                      const char *objective, sx_store_visit *visit, void *user);

/* Visits every architecture with every objective that mappings were searched for on it, in a fixed order. */
typedef sx_status sx_store_visit_arch(void *user, const sx_arch *arch, const char *objective);
SX_MUST_USE sx_status sx_store_archs(sx_store *store, sx_store_visit_arch *visit, void *user);

/* A metric of a point. */
typedef struct sx_metric_value {
    const char *name;
    double value;
} sx_metric_value;

/* A result of any space, such as a systolic design or a placement. Texts are borrowed. JSON texts are
 * compared by their content: spaces between words and the order of keys make no difference. */
typedef struct sx_point_record {
    const char *kind;  /* of the space: "systolic" */
    const char *space; /* JSON object: all that tells the space from others of its kind, such as the problem,
                          the hardware, options of the space and the model */
    const char *name;  /* of the space, for people; that of the first record stays */
    const char *point; /* JSON */
    size_t n_metrics;
    const sx_metric_value *metric; /* each name once; read back in the order of their names */
    sx_search_record search;
} sx_point_record;

/* Adds a result as sx_store_add does. */
SX_MUST_USE sx_status sx_store_add_point(sx_store *store, const sx_point_record *record);

/* Visits the best result of every space of a kind under an objective, or (space not NULL) of that space; of
 * equal values one that is proven. A visit that returns an error ends it. The record's texts live until the
 * visit returns. */
typedef sx_status sx_store_visit_point(void *user, const sx_point_record *record);
SX_MUST_USE sx_status sx_store_best_points(sx_store *store, const char *kind, const char *space,
                                           const char *objective, sx_store_visit_point *visit, void *user);

/* Visits every kind of space with every objective that points of it were searched for, in a fixed order. */
typedef sx_status sx_store_visit_kind(void *user, const char *kind, const char *objective);
SX_MUST_USE sx_status sx_store_kinds(sx_store *store, sx_store_visit_kind *visit, void *user);

/* How many of each there are. */
typedef struct sx_store_counts {
    uint64_t problems, archs, mappings, runs;
    uint64_t spaces, points, searches;
} sx_store_counts;
SX_MUST_USE sx_status sx_store_count(sx_store *store, sx_store_counts *out);

#endif
