/* The numbers of a timing: their keys, defaults and ranges. */
#ifndef SX_IR_TIMING_H
#define SX_IR_TIMING_H

#include "base/status.h"
#include "sextant/timing.h"

/* A key with a number: where it is in sx_timing_kind, what it is at least (or above, where `open`) and at most, and its
 * value where it is not given. */
typedef struct sx_timing_key {
    const char *name;
    size_t offset;
    double low, high, otherwise;
    bool open;
} sx_timing_key;

/* The keys that are numbers of a kind; NULL past the last. Efficiencies are not among them. */
const sx_timing_key *sx_timing_number(size_t index);

/* The number of a key. */
static inline double *sx_timing_value(sx_timing_kind *kind, const sx_timing_key *key) {
    return (double *)((char *)kind + key->offset);
}

/* The numbers of a machine that runs at its peak without overhead. */
void sx_timing_kind_init(sx_timing_kind *kind);

/* The numbers of a kind of operators: its own, or those of every other. NULL where there are none at all. */
const sx_timing_kind *sx_timing_find(const sx_timing *timing, const char *name);

/* The index of the numbers of a kind, which are added as a copy of the first where it has none; SX_ERR_LIMIT beyond
 * SX_MAX_KINDS. */
SX_MUST_USE sx_status sx_timing_own(sx_timing *timing, const char *name, size_t *index);

/* Refuses a number of a key, or an efficiency, that is out of range. */
SX_MUST_USE sx_status sx_timing_check_number(const sx_timing_key *key, double value);
SX_MUST_USE sx_status sx_timing_check_efficiency(const char *resource, double value);

#endif
