/* The suffix program over the lattice of temporal extents (docs/proof.md, T3), one thread's workspace. */
#ifndef SX_CHECK_LATTICE_H
#define SX_CHECK_LATTICE_H

#include "check/outline.h"

/* Which tensors of an outline units may hand to each other: sets `linked`. */
SX_MUST_USE sx_status sx_check_find_links(sx_check_outline *o);

/* Which children of a level are neighbours: sets `near` of all levels. */
void sx_check_find_neighbours(sx_check_outline *o);

enum { SX_MAX_STATES = 1024, SX_MAX_DIVISORS = 1600 };

/* A tensor that waits has had no loop that indexes it since a holder; the flows of that holder and of all further ones
 * outside it are decided by the next loop that does. State 0 of a tensor: it does not wait; i: since holder[i]. */
typedef struct sx_check_states {
    int n;                      /* of all tensors together */
    int n_of[SX_MAX_TENSORS];   /* of each */
    int stride[SX_MAX_TENSORS]; /* of a tensor's state in the number of a joint state */
    int holder[SX_MAX_TENSORS][SX_N_HOLDERS + 1];
} sx_check_states;

/* A prime step outward along a dimension. */
typedef struct sx_check_step {
    uint32_t to; /* point */
    uint8_t dim;
} sx_check_step;

typedef struct sx_check_lattice {
    const sx_check_outline *o;
    const sx_check_prices *prices; /* of the last solution */
    /* points: temporal extents, the multiples of a point after it */
    uint32_t n_points, room;
    uint32_t stride[SX_MAX_DIMS];
    int n_divisors[SX_MAX_DIMS];
    int64_t divisor[SX_MAX_DIMS][SX_MAX_DIVISORS];
    uint32_t *step_begin; /* of each point, n_points + 1 */
    sx_check_step *step;
    size_t step_room;
    int64_t *idle[SX_MAX_TENSORS];  /* iterations of idle dimensions that are left at a point */
    uint32_t *base[SX_MAX_TENSORS]; /* the first point at which a tensor's flows cost the same */
    size_t idle_room[SX_MAX_TENSORS], base_room[SX_MAX_TENSORS];
    /* what is left to pay from a point on, inside the loops of a level, by state; before sx_check_lattice_tables, the
     * least that was paid up to there */
    sx_check_states states[SX_MAX_LEVELS];
    int64_t *rest[SX_MAX_LEVELS];
    size_t rest_room[SX_MAX_LEVELS];
    /* what a tensor's flows that wait cost together for every iteration of idle dimensions, at base points, by kind of loop and
     * state: kind 0 is a solo dimension, kind 1 + w window number w */
    int64_t *charge[SX_MAX_LEVELS][SX_MAX_TENSORS];
    size_t charge_room[SX_MAX_LEVELS][SX_MAX_TENSORS];
    int kind[SX_MAX_TENSORS][SX_MAX_DIMS], n_kinds[SX_MAX_TENSORS]; /* -1: idle */
    int64_t least[SX_MAX_TENSORS][SX_N_HOLDERS]; /* of all that a tensor's flow into a holder may cost */
} sx_check_lattice;

void sx_check_lattice_fini(sx_check_lattice *lattice);

/* Makes the points of an outline's spatial factors. An error where memory is out or there are too many. */
SX_MUST_USE sx_status sx_check_lattice_points(sx_check_lattice *lattice, const sx_check_outline *o);

/* T3: the least that the flows of an outline can cost, capped; SX_CHECK_NONE where no mapping has flows below `enough`. */
SX_MUST_USE sx_status sx_check_lattice_solve(sx_check_lattice *lattice, const sx_check_outline *o,
                                             const sx_check_prices *prices, int64_t enough, int64_t *out);

/* After it: makes the tables of what is left to pay, for mappings with flows below `enough`. */
SX_MUST_USE sx_status sx_check_lattice_tables(sx_check_lattice *lattice);

/* After it, for a walk: the state before all loops; whether a level may keep the tile of a point; the state of the next
 * level's loops after an edge; what the tensors that wait pay at a loop of a given number of iterations (0: not known) on a
 * dimension, and the state after it. */
int sx_check_first_state(const sx_check_lattice *lattice);
bool sx_check_point_fits(const sx_check_lattice *lattice, int level, uint32_t point);
int sx_check_pass_edge(const sx_check_lattice *lattice, int level, int state);
int64_t sx_check_pay_loop(const sx_check_lattice *lattice, int level, int state, int dim, int64_t iterations,
                          uint32_t point, int *next);

#endif
