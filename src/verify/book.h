/* The orders of a level's temporal loops that are worth telling apart. */
#ifndef SX_VERIFY_BOOK_H
#define SX_VERIFY_BOOK_H

#include "verify/scope.h"

/* Lists made on demand and kept; may be shared by threads. */
typedef struct sx_book sx_book;

SX_MUST_USE sx_status sx_book_new(const sx_scope *scope, SX_OWN sx_book **out);
void sx_book_free(SX_TAKE sx_book *book);

/* Orders, innermost first and whole, that stand for all those of a level's loops (a mask of dimensions) that
 * its constraint allows; NULL when memory is out or there are too many. */
const uint8_t (*sx_book_orders(sx_book *book, int level, unsigned loops, size_t *n))[SX_MAX_DIMS];

#endif
