/* What the functions of graph nodes take of a vector unit, by name. */
#ifndef SX_IR_VECTOR_RULE_H
#define SX_IR_VECTOR_RULE_H

#include <stddef.h>

/* What an element takes: operations, and exponentials among them. `again` is how often a row that does not stay at hand is
 * read beyond the first time. */
typedef struct sx_vector_rule {
    const char *function;
    double operations, exponentials;
    unsigned again;
} sx_vector_rule;

/* Row number `index` of the table, NULL behind the last one. */
const sx_vector_rule *sx_vector_rule_at(size_t index);

/* The rule of a function, NULL where there is none: it takes an operation per element. */
const sx_vector_rule *sx_vector_rule_of(const char *function);

#endif
