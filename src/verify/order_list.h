/* The orders of a level's temporal loops that differ in cost. */
#ifndef SX_VERIFY_ORDER_LIST_H
#define SX_VERIFY_ORDER_LIST_H

#include "verify/verify_space.h"

/* Lists made on demand and kept; may be shared by threads. */
typedef struct sx_order_list sx_order_list;

/* Lists for a space; `each`: of every order that a constraint allows, as mappings with remainders need them. */
SX_MUST_USE sx_status sx_order_list_new(const sx_verify_space *space, bool each, SX_OWN sx_order_list **out);
void sx_order_list_free(SX_TAKE sx_order_list *order_list);

/* Orders, innermost first and whole, that stand for all those of a level's loops (a mask of dimensions) that
 * its constraint allows. NULL when memory is out (*n is 0) or there are more than the limit *n. */
const uint8_t (*sx_order_list_of(sx_order_list *order_list, int level, unsigned loops,
                                 size_t *n))[SX_MAX_DIMS];

/* The number in that list of the order that stands for another one of the same loops; false where none does. */
bool sx_order_list_find(sx_order_list *order_list, int level, unsigned loops, const uint8_t *order,
                        size_t *out);

#endif
