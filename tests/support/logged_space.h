/* A space whose model writes down every point that is scored, in the order they come: for searches on one
 * thread. */
#ifndef SX_TESTS_LOGGED_SPACE_H
#define SX_TESTS_LOGGED_SPACE_H

#include "sextant/run.h"
#include "sextant/space_type.h"

typedef struct sx_logged_space {
    sx_space *space;
    sx_point_model model; /* in front of the space's */
    sx_point_model_type type;
    size_t n, room;
    unsigned char *points;
    double *values; /* INFINITY: not legal */
} sx_logged_space;

/* Logs a space, until it is finished. */
void sx_logged_space_init(sx_logged_space *log, sx_space *space);
void sx_logged_space_fini(sx_logged_space *log);

/* Point number `index` of the log. */
const void *sx_logged_point(const sx_logged_space *log, size_t index);

/* Runs a navigator on one thread with the log emptied first; n_starts start points may be given. */
sx_run_summary sx_logged_search(sx_logged_space *log, const char *navigator, uint64_t seed,
                                uint64_t evaluations, const void *starts, size_t n_starts);

/* Expects a navigator to end by itself, with nothing, on a toy space without a legal point. */
void sx_expect_barren_end(const char *navigator);

/* Expects a navigator to refuse a toy space without vectors. */
void sx_expect_vectors_needed(const char *navigator);

#endif
