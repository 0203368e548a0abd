/* What neighbours can hand on along a window. */
#ifndef SX_BOUND_LINK_H
#define SX_BOUND_LINK_H

#include "bound/bound.h"

/* One dimension of a window, outside a tile and along the spatial loops next to it. */
typedef struct sx_window_side {
    double way;   /* from one child to the next */
    double n;     /* children */
    double step;  /* of the first loop outside that is possible */
    double times; /* iterations left in time */
    double sum;   /* of the steps of its loops, at the most */
    int64_t most; /* the same in steps */
    uint32_t prime;
} sx_window_side;

/* What is left for the outer level, as shares of the groups of children along a window and of the children. */
typedef struct sx_link_rest {
    double groups, own;
} sx_link_rest;

/* A window outside a tile, where neighbours may hand words on. */
typedef struct sx_link_window {
    const sx_window_side *side; /* two */
    double reach;               /* of the tile along the rank */
    double positions;           /* different ones of all children */
    sx_link_rest any;           /* left by the step that helps most, */
    sx_link_rest first[2];      /* by the shortest step of each side, */
    sx_link_rest of_side[2];    /* by steps of loops on each side, without irrelevant loops, */
    sx_link_rest crossed;       /* and by those with loops on the other side inside */
    bool helps;                 /* some step may help */
    bool moves;                 /* no loop's step is 0 */
} sx_link_window;

/* Describes a window of which there are a given number of different positions; `links`: whether neighbours may help. */
sx_link_window sx_link_window_make(const sx_window_side *side, double reach, double positions, bool links);

/* All windows of a tensor together. */
typedef struct sx_link_sum {
    sx_link_rest any; /* left by the step that helps most */
    double sure; /* share of visits, without irrelevant loops, that fetch the whole tile for all children */
} sx_link_sum;

sx_link_sum sx_link_sum_make(const sx_link_window *const *window, int n);

/* What is fetched at the least where the first loop is on one side of window w of n; its step is `scale` times the
 * shortest one. */
sx_first_loop sx_link_first(const sx_link_window *const *window, int n, const sx_link_sum *all, int w,
                            int side, double scale);

/* What a tile of a window takes in sx_outline_bound.pieces (window.c). */
size_t sx_window_piece_size(void);

#endif
