/* A look at all mappings of an array: one thread's workspace. */
#ifndef SX_VERIFY_TOUR_H
#define SX_VERIFY_TOUR_H

#include "bound/bound.h"
#include "verify/book.h"

/* What all threads share. */
typedef struct sx_ground {
    const sx_scope *scope;
    const sx_bound *bound;
    sx_book *book;
    const sx_objective *objective; /* of one criterion */
    sx_watch *watch;
} sx_ground;

typedef struct sx_tour sx_tour;

SX_MUST_USE sx_status sx_tour_new(const sx_ground *ground, SX_OWN sx_tour **out);
void sx_tour_free(SX_TAKE sx_tour *tour);

/* How a look at an array ended. */
typedef enum sx_sight {
    SX_NOTHING_BELOW, /* nothing is below the value */
    SX_BELOW,         /* a bound, or a mapping, is */
    SX_NOT_SEEN,      /* the watch was over first */
    SX_NO_SIGHT,      /* memory is out, or there are too many orders */
} sx_sight;

/* The least value that the spatial factors alone leave possible. */
double sx_tour_compulsory(sx_tour *tour, const uint32_t (*spatial)[SX_MAX_DIMS]);

/* Whether bounds by tables, of all that levels may keep and of all innermost tiles, are at least a value;
 * *least is one that is not, where there is one. */
sx_sight sx_tour_bounds(sx_tour *tour, const uint32_t (*spatial)[SX_MAX_DIMS], double value, double *least);

/* Goes through all mappings of an array; whether none is below a value. *least is the value of one that is.
 */
sx_sight sx_tour_mappings(sx_tour *tour, const uint32_t (*spatial)[SX_MAX_DIMS], double value, double *least);

/* Mappings that the model evaluated so far. */
uint64_t sx_tour_evaluations(const sx_tour *tour);

/* Has the tours call a function now and then, on their thread. */
void sx_tour_tick(sx_tour *tour, void (*tick)(void *user), void *user);

/* Has the tours of mappings tell of every one below the value, and end at none of them. */
typedef void sx_tour_listener(void *user, const sx_mapping *mapping);
void sx_tour_listen(sx_tour *tour, sx_tour_listener *listener, void *user);

/* Tensors beyond what must be kept that levels may keep or not, taken together: 2^n choices. */
int sx_scope_choices(const sx_scope *scope);

#endif
