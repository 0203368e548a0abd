/* The children of one instance: which of them need the same words, and which get them from a neighbour. */
#ifndef SX_CHECK_SIBLINGS_H
#define SX_CHECK_SIBLINGS_H

#include "check/nest.h"

enum { SX_CHECK_SIZES = 32 };

/* Groups of one size. */
typedef struct sx_check_group {
    int64_t size, count;
    int64_t half_hops; /* twice the hops of all of them together */
} sx_check_group;

typedef struct sx_check_grouping {
    int64_t groups; /* of all sizes */
    int64_t members;
    int n; /* sizes, ascending */
    sx_check_group size[SX_CHECK_SIZES];
} sx_check_grouping;

/* How the children of an instance of a level lie, for one tensor. The displacement of a child's tile from the first
 * child's is one number: ranks are its digits, in a base that also tells differences apart. */
typedef struct sx_check_siblings {
    int n_loops;
    int64_t n[SX_CHECK_LOOPS], step[SX_CHECK_LOOPS]; /* from the innermost spatial loop outward */
    int64_t span[SX_MAX_RANKS];                      /* how far apart the tiles of two children can be */
    int64_t base[SX_MAX_RANKS];
    int64_t children, columns, rows;
    bool apart; /* every child is a group of its own (no_multicast) */
    bool hops;  /* count them */
} sx_check_siblings;

/* Room for the lists of children, and groupings found before. */
typedef struct sx_check_memory sx_check_memory;
SX_MUST_USE sx_status sx_check_memory_new(SX_OWN sx_check_memory **out);
void sx_check_memory_free(SX_TAKE sx_check_memory *memory);

/* Lays out the children of an instance of level s; false where the displacements do not fit a number, or the children
 * are too many. */
bool sx_check_siblings_lay(const sx_check_case *c, const sx_check_nest *nest, int tensor, int s, bool apart,
                           sx_check_siblings *out);

/* The groups of all children, or, with a shift, of those that have no neighbour displaced by it. False where there are
 * too many sizes, or memory is out. */
bool sx_check_siblings_group(const sx_check_siblings *siblings, const int64_t *shift, sx_check_memory *memory,
                             sx_check_grouping *out);

#endif
