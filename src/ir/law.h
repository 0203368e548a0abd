/* The laws of the tile pipeline: their keys, and what an architecture may have of them. */
#ifndef SX_IR_LAW_H
#define SX_IR_LAW_H

#include "ir/arch.h"

/* A key with a number: where it is in sx_law, what it must be above (`open`) or at least, and at most, and its value
 * where it is not given. */
typedef struct sx_law_key {
    const char *name;
    size_t offset;
    double low, high, otherwise;
    bool open;
} sx_law_key;

/* The keys that are numbers, and those that are true or false; NULL past the last. */
const sx_law_key *sx_law_number(size_t index);
const char *sx_law_flag(size_t index, size_t *offset);

/* The number of a key. */
static inline double *sx_law_value(sx_law *law, const sx_law_key *key) {
    return (double *)((char *)law + key->offset);
}

/* A law with every default. */
void sx_law_init(sx_law *law);

/* Whether a law says nothing beyond its defaults: such a level counts with Timeloop's cycles. */
bool sx_law_is_neutral(const sx_law *law);

/* The law of a level, NULL where it has none. */
const sx_law *sx_arch_law(const sx_arch *arch, int level);

/* Refuses a number of a key that is out of range, for a level of that name; the key's default is in range. */
SX_MUST_USE sx_status sx_law_check_number(const char *level, const sx_law_key *key, double value);

/* Refuses a law of a level of that name whose numbers are out of range or whose parts do not fit together. */
SX_MUST_USE sx_status sx_law_check_parts(const char *level, const sx_law *law);

/* Refuses a law with numbers that are out of range, or an array outside another law. */
SX_MUST_USE sx_status sx_law_check(const sx_arch *arch, int level);

#endif
