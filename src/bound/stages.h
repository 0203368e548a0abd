/* Levels outside those that are decided, whose tiles are joined with them (join.c). */
#ifndef SX_BOUND_STAGES_H
#define SX_BOUND_STAGES_H

#include "bound/prefix.h"

enum { SX_MOST_OPEN = 16, SX_MOST_STAGES = 6 };

/* A level whose tiles are gone through, and what is chosen of it. */
typedef struct sx_stage {
    int level, before; /* the level that is the stage before, or the last that is decided */
    const sx_largest_tiles *rows;
    uint32_t side[SX_MAX_DIMS],
        fewest[SX_MAX_DIMS];       /* S, and the least of B by the spatial factors outside, */
    uint64_t outside[SX_MAX_DIMS]; /* which are these */
    unsigned whole;                /* dimensions on which only the next level has a factor */
    bool holds_all;                /* a tile has room outside which there are no loops */
    sx_imperfect_sum fixed;        /* flows that no stage decides, and those into levels outside */
    uint64_t least[SX_MAX_DIMS];   /* of B, by the row, the first loop and tensors that stand still */
    uint64_t blocks[SX_MAX_DIMS];
    int first;     /* h */
    uint64_t pair; /* where not 0: the number of blocks along h, in two rounds, */
    double pair_steps,
        pair_still; /* the steps of the first unit along h then, and the share that stands still */
    unsigned split; /* dimensions whose numbers of blocks are in a range: */
    uint64_t most[SX_MAX_DIMS]; /* the most of it, */
    double steps[SX_MAX_DIMS];  /* and the steps of the first unit in it, at least */
    bool empty;
    unsigned still;  /* flows that stand still, */
    unsigned rigid;  /* and dimensions without a loop, by those and by what follows; */
    unsigned looped; /* dimensions that have one in the group: */
    int8_t by
        [SX_MOST_OPEN]; /* of flows that move, a dimension of the tensor that has a loop; -1: any may be the only one */
} sx_stage;

/* A flow that stages decide. */
typedef struct sx_open_flow {
    const sx_imperfect_flow *flow;
    unsigned dims;
    int from; /* the first stage that may move it */
    double edge
        [SX_MAX_DIMS]; /* share of words that stand still at the edge of a loop, -1: there is none; where its child is decided */
    uint32_t fewest[SX_MAX_DIMS]; /* blocks of its child's tiles that have room, where that is not decided */
} sx_open_flow;

/* The work at hand. */
typedef struct sx_join {
    const sx_prefix_bound *prefix;
    sx_prefix_query query; /* of the levels that are decided */
    const sx_prefix_goal *goal;
    int first;
    bool given;                /* the first stage has one row, and a loop */
    bool crowded;              /* there are more flows than can be listed */
    double steps[SX_MAX_DIMS]; /* of the first unit, at least; */
    uint64_t
        most_steps[SX_MAX_DIMS]; /* and at most, of a mapping whose value is below the limit; 0: any number */
    uint32_t all[SX_MAX_DIMS];   /* A of the first sx_stage */
    int n_stages, n_open;
    sx_stage stage[SX_MOST_STAGES];
    sx_open_flow open[SX_MOST_OPEN];
    sx_prefix_least least;
    bool enough, given_up;
    bool probes;   /* further stages are left alone: only the least value of what is tried is wanted, */
    double probed; /* which is this */
    uint64_t tried, refused,
        probing; /* choices, those of them that cannot be, and those by which tiles are ordered or closed */
} sx_join;

/* Begins with no stages and no flows; the prefix and the goal must outlive it. */
void sx_join_init(sx_join *j, const sx_prefix_bound *prefix, const sx_prefix_query *query,
                  const sx_prefix_goal *goal);

/* Lists the stages, the first of which has the rows that are given, if any, and the flows that they decide; false where there
 * is no stage, or too many flows. */
bool sx_join_list(sx_join *j, const sx_largest_tiles *given);

/* Sets the spatial factors of a stage; the least blocks of one by a row. */
void sx_stage_set_spatial(sx_stage *at, const sx_decided *decided);
void sx_stage_set_row(sx_stage *at, size_t row, int n);

/* The least words along a dimension of the first of `side` instances, which take that many blocks in two rounds. */
uint64_t sx_join_pair_words(uint64_t size, uint64_t side, uint64_t blocks);

/* The share of a flow's words that may stand still at the edge of a loop on a dimension, by the blocks at hand; below 0: there is
 * no such loop. */
double sx_join_edge(const sx_join *j, const sx_open_flow *open, int dim);

/* The least number of blocks that some extent makes of a dimension, from one on. */
uint64_t sx_join_blocks_from(uint64_t size, uint64_t blocks);

/* Sets the least blocks of all stages up to one that satisfy what is chosen; false where there are none. */
bool sx_join_set_blocks(sx_join *j, int last);

/* The stage up to `last` that moves a flow; last + 1: none. */
int sx_join_moving_stage(const sx_join *j, int number, int last);

/* Adds a flow by what the stages up to one say of it. */
void sx_join_add_open(const sx_join *j, int number, int last, sx_imperfect_sum *sum);

/* The steps of the first unit along a dimension, at least, where the tile of a stage makes so many blocks. */
double sx_stage_steps(const sx_join *j, const sx_stage *at, int dim, uint64_t blocks);

/* The steps of the first compute unit by the stages up to one, at least, along a dimension and of all; and the bound of these
 * stages. */
double sx_join_steps_along(const sx_join *j, int last, int dim);
double sx_join_steps(const sx_join *j, int last);
sx_score sx_join_bound(const sx_join *j, int last);

/* The energy of the flows into a stage whose row and first loop are set, but for those that it does not decide, which are part of
 * what is fixed. */
double sx_stage_energy(sx_join *j, sx_stage *at);

#endif
