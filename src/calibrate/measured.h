/* Measured runs: a mapping of a layer, and the cycles or energy that it took. */
#ifndef SX_CALIBRATE_MEASURED_H
#define SX_CALIBRATE_MEASURED_H

#include "sextant/model.h"
#include "text/csv.h"

/* One row. */
typedef struct sx_measured {
    int line; /* of the file */
    sx_problem problem;
    sx_mapping mapping;
    double cycles, energy_pj; /* 0: not measured */
    uint32_t layer;           /* rows of the same problem have the same number */
} sx_measured;

/* A row that is left out, and why. */
typedef struct sx_rejected {
    int line;
    char reason[320];
} sx_rejected;

typedef struct sx_measurements {
    size_t n, room, n_rejected, rejected_room;
    uint32_t n_layers;
    sx_measured *row;
    sx_rejected *rejected;
} sx_measurements;

/* Reads the problem and mapping of a row of another form than the columns below; user is the caller's. */
typedef sx_status sx_read_measured(void *user, const char *problem, const char *mapping, const sx_arch *arch,
                                   sx_measured *out);

/* Reads rows: R, S, P, Q, C, K, N, stride (or wstride and hstride), mapping ("L3[WIO] K2 - L2[WI] ...", L0 being the
 * innermost level) and cycles (or rtl_cycles) and energy_pj (or energy_uj); or problem, mapping, cycles and energy_pj, of
 * which `read` makes the nouns (NULL: they are an error). Rows that cannot be used are listed with their reason. */
SX_MUST_USE sx_status sx_measurements_read(const char *path, const sx_arch *arch, sx_read_measured *read,
                                           void *user, sx_measurements *out);
void sx_measurements_free(sx_measurements *m);

/* Leaves a row out; the second for an error, which is freed, or handed back where it is not of the input. */
SX_MUST_USE sx_status sx_measurements_reject(sx_measurements *m, int line, const char *reason);
SX_MUST_USE sx_status sx_measurements_leave_out(sx_measurements *m, int line, SX_TAKE sx_status error);

#endif
