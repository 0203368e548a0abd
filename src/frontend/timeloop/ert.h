/* Accelergy's energy reference table: the energy of every action of every component, pJ. */
#ifndef SX_FRONTEND_TIMELOOP_ERT_H
#define SX_FRONTEND_TIMELOOP_ERT_H

#include "frontend/input.h"

/* The `ERT` section of an input; `tables` is NULL where there is none. */
typedef struct sx_ert {
    sx_place place;
    const sx_node *tables;
    bool named; /* version 0.2: a map from components to maps from actions, not lists */
} sx_ert;

/* Finds the section and checks its form. */
SX_MUST_USE sx_status sx_ert_find(sx_input *input, sx_ert *out);

/* The table of a component, NULL where there is none: that of the last part of a dotted name, its range of
 * instances left away. */
const sx_node *sx_ert_table(const sx_ert *ert, const char *component);

/* Warns of a second table of a component that says something else, of the ERT or the ART: the first is taken, by Timeloop the
 * last of other names, and the largest energies of those of one name. */
SX_MUST_USE sx_status sx_ert_check_single(sx_input *input, const sx_ert *ert, const char *component,
                                          const char *what);

/* The error for a component without a table. */
SX_MUST_USE sx_status sx_ert_missing(const sx_ert *ert, const char *component);

/* Refuses an action of a component's table that is a known one of storage levels, or of compute units, misspelt; any other
 * that is not known is a warning. */
SX_MUST_USE sx_status sx_ert_check_actions(sx_input *input, const sx_ert *ert, const char *component,
                                           bool compute);

/* The energy of the first of n actions that the table has (of several with one name the largest); without
 * any, *out stays as it is. */
SX_MUST_USE sx_status sx_ert_energy(const sx_ert *ert, const sx_node *table, const char *const *actions,
                                    size_t n, double *out);

#endif
