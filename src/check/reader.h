/* Parts of the reader of certificates. Each reads one section of the file into the case; keys without a rule are
 * doubts. */
#ifndef SX_CHECK_READER_H
#define SX_CHECK_READER_H

#include "check/case.h"
#include "text/document/document.h"

/* Errors unless the node is a map without a repeated key; keys other than the given ones are doubts. */
SX_MUST_USE sx_status sx_check_keys(const sx_node *map, const char *what, const char *const *keys, size_t n,
                                    sx_check_doubt *doubt);

/* The whole number, fraction or truth under a key that must be there. */
SX_MUST_USE sx_status sx_check_integer(const sx_node *map, const char *key, int64_t least, int64_t most,
                                       int64_t *out);
SX_MUST_USE sx_status sx_check_ratio(const sx_node *map, const char *key, sx_ratio *out,
                                     sx_check_doubt *doubt);
SX_MUST_USE sx_status sx_check_flag(const sx_node *map, const char *key, bool *out);

/* A list of tensors, by name or alias, as a mask; a list of dimensions as an order of *n. Both may be missing. */
SX_MUST_USE sx_status sx_check_tensors(const sx_node *map, const char *key, const sx_problem *problem,
                                       unsigned *out);
SX_MUST_USE sx_status sx_check_dims(const sx_node *map, const char *key, const sx_problem *problem,
                                    uint8_t order[SX_MAX_DIMS], int *n);

SX_MUST_USE sx_status sx_check_read_problem(const sx_node *map, sx_problem *out, sx_check_doubt *doubt);
SX_MUST_USE sx_status sx_check_read_machine(const sx_node *map, const sx_problem *problem,
                                            sx_check_machine *out, sx_check_doubt *doubt);
SX_MUST_USE sx_status sx_check_read_law(const sx_node *map, sx_law *out, sx_check_doubt *doubt);
SX_MUST_USE sx_status sx_check_read_limits(const sx_node *list, sx_check_case *c, sx_check_doubt *doubt);
SX_MUST_USE sx_status sx_check_read_mapping(const sx_node *list, const sx_check_case *c, sx_mapping *out,
                                            sx_check_doubt *doubt);
SX_MUST_USE sx_status sx_check_read_goal(const sx_node *map, sx_check_claim *out, sx_check_doubt *doubt);
/* The energy and cycles that are said of a mapping, and the points of a front, which may be missing. */
SX_MUST_USE sx_status sx_check_read_cost(const sx_node *map, sx_check_point *out);
SX_MUST_USE sx_status sx_check_read_front(const sx_node *list, sx_check_case *c, sx_check_doubt *doubt);

/* The level of that name; an error where there is none. */
SX_MUST_USE sx_status sx_check_find_level(const sx_node *name, const sx_check_machine *machine, int *out);

#endif
