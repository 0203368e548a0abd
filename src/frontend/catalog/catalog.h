/* The tables behind the catalog: an entry is a name, a line about it and the text it is read from. */
#ifndef SX_FRONTEND_CATALOG_CATALOG_H
#define SX_FRONTEND_CATALOG_CATALOG_H

#include "sextant/input.h"
#include "sextant/timing.h"

typedef struct sx_catalog_entry {
    const char *name, *about, *text;
} sx_catalog_entry;

/* Architectures in Timeloop's flat dialect, problems as einsums. */
const sx_catalog_entry *sx_catalog_archs(size_t *n);
const sx_catalog_entry *sx_catalog_problems(size_t *n);

/* Whether a network of that name can be made. */
bool sx_catalog_knows_network(const char *name);

/* Adds the text of a built-in architecture to an input; and an input of its own with it, which is the caller's. */
SX_MUST_USE sx_status sx_catalog_add_arch(const char *name, sx_input *input);
SX_MUST_USE sx_status sx_catalog_arch_input(const char *name, SX_OWN sx_input **out);

/* The timing of a built-in architecture, which was read by its name; all zero where it has none. */
SX_MUST_USE sx_status sx_catalog_timing(const char *name, const sx_arch *arch, sx_timing *out);

/* The constraints that go with a built-in architecture, as text; NULL where there are none. */
const char *sx_catalog_constraints(const char *arch);

#endif
