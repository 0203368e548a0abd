/* What the files of the mapper `optimal` share. */
#ifndef SX_MAPPERS_OPTIMAL_PARTS_H
#define SX_MAPPERS_OPTIMAL_PARTS_H

#include "bound/bound.h"
#include "run/incumbent.h"
#include "sextant/navigator.h"
#include "space/map_choices.h"

/* Every way to spread loops over the arrays of a space: factors per level and dimension, one after another.
 */
typedef struct sx_arrays {
    const sx_map_space *space;
    size_t n, room;
    uint32_t *factor;
} sx_arrays;

/* Lists the arrays of a space for which some way to lay them on X and Y has room: those whose factors divide,
 * or any; an error where there are more than `most`. */
SX_MUST_USE sx_status sx_arrays_list(sx_map_choices *choices, const sx_map_space *space, bool any,
                                     size_t most, sx_arrays *out);
/* The largest share of the compute units that an array whose factors divide uses; 1 where there are more than
 * `most` arrays. */
SX_MUST_USE sx_status sx_arrays_share(const sx_map_space *space, size_t most, double *out);

void sx_arrays_fini(sx_arrays *arrays);

/* Sets the spatial factors of an outline to those of array `index`. */
void sx_arrays_get(const sx_arrays *arrays, size_t index, sx_outline *outline);

/* Whether the loops of a level, of which those of a mask lie on X, have room there. */
bool sx_array_fits(const sx_map_space *space, int level, const uint32_t *factor, unsigned x);

/* Whether the tiles of some tensors, of these extents, fill a level as far as they must, and no further than
 * they may. */
bool sx_tile_fits(const sx_map_space *space, int level, unsigned keep, const uint32_t *extent);

/* How many ways there are to choose which tensors levels keep, and the choice of a number: a subset of those
 * that are free, from the innermost level outward; false where it keeps a tensor nowhere. */
uint32_t sx_keep_choices(const sx_map_space *space);
bool sx_keep_choice(const sx_map_space *space, uint32_t choice, sx_outline *outline);

/* Whether an outline may lead to something legal, as far as its array and its outermost level tell. */
bool sx_outline_lawful(const sx_map_space *space, const sx_outline *outline);

/* How a search judges bounds (judge.c). One criterion is minimised; where there are several, those
 * before it are held to what they may be. */
typedef struct sx_judge {
    const sx_objective *objective;
    const sx_goal *goal; /* the same for the metrics of points */
    int criterion;
    double least[SX_MAX_CRITERIA]; /* proven optima of the criteria before it */
    double gap;                    /* what is not better by that share need not be looked at */
    unsigned k;                    /* so many best are wanted */
    bool front;                    /* and the front of energy and cycles */
    bool tables;                   /* bounds by tables */
} sx_judge;

/* Whether a criterion cannot fall as energy or cycles grow. */
bool sx_judge_sound(const sx_judge *judge, int criterion);

/* The least value of the criterion for a bound: -INFINITY where nothing can be said, INFINITY where a
 * criterion before it is beyond what it may be. */
double sx_judge_value(const sx_judge *judge, const sx_score *bound);

/* The value below which bounds leave hope beside a value that is there. */
double sx_judge_limit(const sx_judge *judge, double best);

/* What is known to be there, as a task sees it. */
typedef struct sx_hope {
    const sx_judge *judge;
    double best, limit; /* the last of the best; what bounds must be below */
    sx_shelf kept;      /* the best; with bytes where several are wanted */
    sx_shelf front;     /* scores */
    bool found;         /* this task has found kept[0] */
    bool failed;        /* memory is out */
} sx_hope;

/* Takes over what a run has found. Freed with sx_hope_fini, and may be read again. */
void sx_hope_read(sx_hope *hope, const sx_judge *judge, const sx_run *run);
/* Sets it to what another one says. */
void sx_hope_copy(sx_hope *hope, const sx_hope *from);
void sx_hope_fini(sx_hope *hope);

/* Takes in a mapping that was found. */
void sx_hope_learn(sx_hope *hope, const sx_score *score, const void *point);

/* Whether something of that least value, energy and cycles may be worth a look. */
bool sx_hope_open(const sx_hope *hope, double value, double energy, double cycles);

/* A part of the space that is open: an array, with one choice of kept tensors or all of them, and of its
 * innermost tiles those that are left. */
typedef struct sx_node {
    double bound, energy, cycles; /* the least value, energy and cycles */
    double from;                  /* tiles of a smaller bound are done, */
    uint32_t from_number;         /* and of this one, those of a smaller number */
    uint32_t array, keep;
    uint16_t part, parts; /* of the tiles: those whose numbers leave this remainder */
    uint16_t looks;       /* how often it was looked at: first to sharpen its bound, then to search it */
    bool ragged;          /* of the mappings, those that leave remainders */
} sx_node;

#define SX_ANY_KEEP UINT32_MAX

/* The parts that a look at a node left open, in place of the node. */
typedef struct sx_nodes {
    sx_node *at;
    size_t n, room;
} sx_nodes;

/* Adds a node; false when memory is out. */
bool sx_nodes_add(sx_nodes *nodes, const sx_node *node);

/* A heap of nodes: puts node number n, which is behind it, in its place; takes the first one out to behind
 * the others. The order is by bound, but those that took much effort already give way, and remainders to all
 * others. */
void sx_heap_push(sx_node *heap, size_t n);
void sx_heap_pop(sx_node *heap, size_t n);

/* Where a mapping is complete but for the place of its spatial loops on X and Y (leaf.c). */
typedef struct sx_leaf {
    const sx_map_space *space;
    sx_map_choices *choices;
    sx_hope *hope;
    sx_worker *worker;
    void *point;
    uint32_t windows;  /* the dimensions that share ranks of a tensor with others */
    bool over, failed; /* the run has ended; memory is out */
    const uint16_t *spread[SX_MAX_LEVELS];
    size_t n_spreads[SX_MAX_LEVELS];
    bool laid[SX_MAX_LEVELS]; /* X and Y matter */
} sx_leaf;

/* Begins mappings of an outline on a worker: all above it is set. */
void sx_leaf_begin(sx_leaf *leaf, const sx_outline *outline);

/* Gives a level what the outline keeps; false where its banks cannot be dealt out so, or it would hold more
 * than it can or less than it must. */
bool sx_leaf_keep(const sx_leaf *leaf, int level, uint8_t keep, const uint32_t *extent);

/* The orders of a level whose loops are set; NULL when memory is out. */
const uint8_t (*sx_leaf_orders(sx_leaf *leaf, int level, size_t *n))[SX_MAX_DIMS];

/* Evaluates the mapping in all ways to lay its spatial loops that can differ. */
void sx_leaf_evaluate(sx_leaf *leaf);

/* Makes a point the one that stands for all that no cost tells from it; false where that has no room, or
 * (then `failed` is set) memory is out. */
bool sx_leaf_normal(const sx_map_space *space, sx_map_choices *choices, void *point, bool *failed);

/* The searches beside the proof (start.c). */
typedef struct sx_optimal_start {
    sx_run *run;
    const sx_map_space *space;
    sx_map_choices *choices;
    uint64_t arrays;       /* ways to spread loops */
    uint64_t sunstone;     /* of them, where it is called at once, at most; 0: it is never called */
    uint64_t gamma;        /* evaluations of it, at most */
    uint64_t walks, moves; /* descents by random moves */
} sx_optimal_start;

/* What comes one after another: until all arrays are bounded, then where there are few of them, then in long
 * proofs. */
enum sx_optimal_stage {
    SX_OPTIMAL_STARTS,
    SX_OPTIMAL_GAMMA,
    SX_OPTIMAL_LISTING,
    SX_OPTIMAL_FEW,
    SX_OPTIMAL_LONG,
    SX_OPTIMAL_ALL
};

/* How far these have come; zero at first. */
typedef struct sx_optimal_begun {
    uint64_t stage, walks;
    uint64_t first;       /* evaluations of Gamma before the bounds */
    uint64_t target;      /* and up to which it may go now; 0: not called */
    uint64_t from, until; /* of Sunstone; until 0: not called */
    uint64_t other;       /* steps that count for what it took */
} sx_optimal_begun;

/* Finds a good answer before a proof whose first bounds take so many steps. */
SX_MUST_USE sx_status sx_optimal_first(const sx_optimal_start *start, sx_optimal_begun *at, uint64_t steps);

/* Gives these searches what is due to them after so many steps of the proof: all there is after
 * SX_ANY_STEPS. */
#define SX_ANY_STEPS (UINT64_MAX / 2)
SX_MUST_USE sx_status sx_optimal_share(const sx_optimal_start *start, sx_optimal_begun *at, uint64_t steps);

/* A walk through all mappings of an array: one task's workspace (descend.c). */
typedef struct sx_descent sx_descent;

SX_MUST_USE sx_status sx_descent_new(const sx_bound *bound, sx_map_choices *choices,
                                     const sx_map_space *space, SX_OWN sx_descent **out);
void sx_descent_free(SX_TAKE sx_descent *descent);

/* Bounds the arrays of some nodes, each by itself. */
void sx_descent_arrays(sx_descent *descent, const sx_arrays *arrays, const sx_judge *judge, sx_node *node,
                       size_t n);

/* How a look ended: nothing is left, something is, or it was cut off: by the run, or as memory is out. */
typedef enum sx_ending { SX_CLOSED, SX_LEFT, SX_STOPPED } sx_ending;

/* A look at a node. */
typedef struct sx_look {
    const sx_arrays *arrays;
    sx_node node;
    sx_hope *hope;
    sx_worker *worker;
    uint64_t effort; /* steps, at most, about */
    uint64_t steps;  /* that it took */
    bool unlawful;   /* some choices were left out as they are not legal */
    sx_nodes left;   /* what is left; freed by the caller */
} sx_look;

/* How a look ended whose mappings a leaf evaluated; tells the run where memory is out. */
sx_ending sx_leaf_ending(const sx_leaf *leaf, const sx_look *look);

/* A walk through all mappings of an array that leave remainders: one task's workspace (ragged.c). */
typedef struct sx_ramble sx_ramble;

SX_MUST_USE sx_status sx_ramble_new(sx_map_choices *choices, const sx_map_space *space,
                                    SX_OWN sx_ramble **out);
void sx_ramble_free(SX_TAKE sx_ramble *ramble);

/* The same as for descents; and a bound of all arrays. */
void sx_ramble_arrays(sx_ramble *ramble, const sx_arrays *arrays, const sx_judge *judge, sx_node *node,
                      size_t n);
void sx_ramble_any(const sx_ramble *ramble, const sx_judge *judge, sx_node *node);
sx_ending sx_ramble_search(sx_ramble *ramble, sx_look *look);

/* Raises the bound of a node, or takes an array apart. */
sx_ending sx_descent_sharpen(sx_descent *descent, sx_look *look);

/* Evaluates all mappings of a node that may be worth it. */
sx_ending sx_descent_search(sx_descent *descent, sx_look *look);

/* How often an array was looked at, once all its mappings that may be better have been. */
enum { SX_SEARCHED = UINT8_MAX };

/* Tells a run that wants to know what closed the arrays: bounds of their own, bounds (INFINITY: nothing is
 * left) and looks as the search left them. */
SX_MUST_USE sx_status sx_arrays_prove(sx_run *run, const sx_arrays *arrays, const double *compulsory,
                                      const double *bound, const uint8_t *looks);

#endif
