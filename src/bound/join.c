/* The bound of decided levels joined with the tiles of all levels outside them (L3, L4), for plain tensors.
 *
 * Levels up to s are decided. Stages are the levels outside whose tiles are gone through: all but the outermost one, and
 * but those that keep none of the tensors of the next level outward and under which that one has no array (scratchpads of
 * one tensor each, side by side). Levels between the stage before (or s) and a stage t are its group. A counts the blocks
 * of the stage before with the spatial factors S of the group, B those of the tile of t; g is the first loop outside the
 * stage before, h the first outside t. A is known for the first stage; for others it is ceil(B / S) of the stage before.
 *
 * Nesting (L4). B <= A in each dimension, and B is no less than the instances in use outside. If the group has loops, the
 * first is on g: 2 iterations at least, so B_g <= ceil(A_g / 2). If it has none, B = A and h = g. A loop on h is left
 * where B_h is beyond the spatial factors of the next level.
 *
 * A flow into a level c. If c is the stage t and h indexes the tensor: as in prefix.c, with B visits of the other
 * dimensions. If c is further in and the tensor's tile did not move in stages before (L3): if a loop of the levels from c
 * to t is on one of its dimensions, or h is, each word is wanted again in each block of the other dimensions: all children
 * see the B_d - 1 blocks that are full, one at least sees the last: (B_d - 1) S_d + 1, S_d being the spatial factors on d
 * from c to t. The words that may stand still in the last sweep are those of the worst of the tensor's dimensions.
 * Otherwise the tile stands still in this stage, too: where c is inside the group the tensor's extents in the tile of t
 * have room in c; where it is further in B_d = A_d in the tensor's dimensions. Flows of tensors that stand still in all
 * stages count their words once.
 *
 * What stands still at the edge. With S the spatial factors on a dimension up to its loop, B blocks have e <= (N - 1) /
 * (B - 1) words at most. S < B <= 2 S of them make two rounds, of which 2 S - B blocks stand still. Of more the last round,
 * of N S / B words at most, or up to S - 1 idle children's blocks; none where the loop is of the outermost level
 * (decided.c). Both fall as B grows: the larger is taken, for the least B of each case.
 *
 * Least over tiles. With h, empty groups and the flows that stand still fixed for every stage, no figure falls as any B
 * grows, and what is asked of a B raises those of stages further in. So only rows of largest.c are tried, raised to the
 * least that satisfies all of this. Stages are added from the inside out; one is left alone where the bound so far is no
 * less than the least found, or needs not be raised.
 *
 * Complexity: rows * dimensions * sets of flows that stand still, for each stage; at most MOST_TRIES before further stages
 * are left alone. */
#include "bound/prefix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BOUND_STEPS = 8, TRY_STEPS = 4, MOST_TRIES = 4096, MOST_OPEN = 16, MOST_STAGES = 6 };

/* A level whose tiles are gone through, and what is chosen of it. */
typedef struct stage {
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
    uint64_t pair; /* where not 0: exactly so many blocks along h, in two rounds, */
    double pair_steps,
        pair_still; /* the steps of the first unit along h then, and the share that stands still */
    bool empty;
    unsigned still; /* flows that stand still, */
    unsigned rigid; /* and dimensions without a loop, by those */
} stage;

/* A flow that stages decide. */
typedef struct open_flow {
    const sx_imperfect_flow *flow;
    unsigned dims;
    int from;                     /* the first stage that may move it */
    double share;                 /* of words that stand still at the edge, where its child is decided */
    uint32_t fewest[SX_MAX_DIMS]; /* blocks of its child's tiles that have room, where that is not decided */
} open_flow;

/* The work at hand. */
typedef struct join {
    const sx_prefix_bound *prefix;
    sx_prefix_query query; /* of the levels that are decided */
    const sx_prefix_goal *goal;
    int first;
    bool given;                /* the first stage has one row, and a loop */
    double steps[SX_MAX_DIMS]; /* of the first unit, at least */
    uint32_t all[SX_MAX_DIMS]; /* A of the first stage */
    int n_stages, n_open;
    stage stage[MOST_STAGES];
    open_flow open[MOST_OPEN];
    sx_prefix_least least;
    bool enough, given_up;
    uint64_t tried; /* bounds */
} join;

/* The share of words along a dimension that may stand still in the last sweep outside a level, where its tile makes so
 * many blocks or more; `rounds`: in three rounds or more. */
static double still_beyond(const sx_decided *decided, int level, int dim, uint64_t blocks, bool rounds) {
    const double size = decided->model->size[dim], least = (double)blocks;
    double side = 1, most = 0;
    for (int s = level + 1; s < decided->model->n_levels; s++) {
        side *= decided->spatial[s][dim];
        double two = fmax(least, side + 1), three = fmax(least, 2 * side + 1);
        if (two < 2 * side && !rounds) most = fmax(most, (2 * side - two) * (size - 1) / (two - 1));
        if (s + 1 == decided->model->n_levels) continue;
        most = fmax(most, fmax(side * size / three, (side - 1) * (size - 1) / (three - 1)));
    }
    return most < size ? most / size : 1;
}

/* The share of a tensor's words that may stand still at the edge where some loop outside the decided levels moves it; 1
 * where none can. */
static double decided_share(const join *j, const open_flow *open) {
    const sx_decided *decided = &j->prefix->decided;
    double most = 0;
    bool any = false;
    for (unsigned left = open->dims; left; left &= left - 1) {
        int d = __builtin_ctz(left);
        if (j->all[d] == 1) continue;
        uint64_t still = sx_decided_still_outside(decided, open->flow->child, j->query.last, d);
        most = fmax(most, (double)still / decided->model->size[d]);
        any = true;
    }
    return any ? most : 1;
}

/* The same where the child is not decided. */
static double open_share(const join *j, const open_flow *open) {
    const stage *at = &j->stage[open->from];
    double most = 0;
    for (unsigned left = open->dims; left; left &= left - 1) {
        int d = __builtin_ctz(left);
        uint64_t blocks = at->blocks[d] > open->fewest[d] ? at->blocks[d] : open->fewest[d];
        most = fmax(most, still_beyond(&j->prefix->decided, open->flow->child, d, blocks, false));
    }
    return most;
}

/* Adds a flow that a stage moves. */
static void add_moved(const join *j, const open_flow *open, const stage *at, sx_imperfect_sum *sum) {
    const sx_imperfect_bound *bounds = j->prefix->bounds;
    const sx_decided *decided = &j->prefix->decided;
    const sx_imperfect_flow *flow = open->flow;
    const bool own = flow->child == at->level;
    double asked = flow->asked, filled = flow->filled, visits = 1, grouped = 1, share = open->share;
    for (unsigned left = bounds->irrelevant[flow->tensor]; left; left &= left - 1) {
        int d = __builtin_ctz(left);
        double outer = 1, inner = decided->spatial[flow->child + 1][d], blocks = (double)(at->blocks[d] - 1);
        for (int s = flow->child + 2; s <= at->level; s++) outer *= decided->spatial[s][d];
        visits *= own ? blocks + 1 : blocks * outer * inner + 1;
        grouped *= own ? floor(blocks / inner) + 1 : blocks * outer + 1;
    }
    if (own)
        share = at->pair ? at->pair_still
                         : still_beyond(decided, at->level, at->first, at->blocks[at->first],
                                        at->whole >> at->first & 1);
    else if (flow->child > j->query.last)
        share = open_share(j, open);
    sx_prefix_raise(bounds, flow, share, visits, grouped, &asked, &filled);
    sx_imperfect_sum_flow(bounds, flow, asked, filled, sum);
}

/* Whether a stage moves a flow that none before did. */
static bool is_moved(const open_flow *open, const stage *at, int number) {
    if (open->flow->child == at->level) return at->first >= 0 && open->dims >> at->first & 1;
    return !(at->still >> number & 1);
}

/* The stage up to `last` that moves a flow; last + 1: none. */
static int moving_stage(const join *j, int number, int last) {
    int i = j->open[number].from;
    while (i <= last && !is_moved(&j->open[number], &j->stage[i], number)) i++;
    return i;
}

/* Adds a flow by what the stages up to one say of it. */
static void add_open(const join *j, int number, int last, sx_imperfect_sum *sum) {
    const open_flow *open = &j->open[number];
    int i = moving_stage(j, number, last);
    if (i <= last)
        add_moved(j, open, &j->stage[i], sum);
    else
        sx_imperfect_sum_flow(j->prefix->bounds, open->flow, open->flow->asked, open->flow->filled, sum);
}

/* The steps of the first compute unit by the stages up to one, at least. */
static double stage_steps(const join *j, int last) {
    double product = 1;
    for (int d = 0; d < j->prefix->bounds->model->n_dims; d++) {
        double steps = j->steps[d];
        for (int i = 0; i <= last; i++)
            if (j->stage[i].pair && j->stage[i].first == d) steps = fmax(steps, j->stage[i].pair_steps);
        product *= steps;
    }
    return product;
}

/* The bound of the stages up to one. */
static sx_score bound_stages(const join *j, int last) {
    sx_imperfect_sum sum = j->stage[last].fixed;
    for (int k = 0; k < j->n_open; k++)
        if (j->open[k].flow->child <= j->stage[last].level) add_open(j, k, last, &sum);
    return sx_imperfect_sum_score(j->prefix->bounds, &sum, stage_steps(j, last));
}

/* Whether a bound lowers nothing of the least found; only values count where there is a limit of them. */
static bool is_no_less(const join *j, const sx_score *score) {
    if (j->goal->value(j->goal->rule, score) < j->least.value) return false;
    return j->goal->limit < INFINITY ||
           (score->energy_pj >= j->least.energy && score->cycles >= j->least.cycles);
}

/* The least number of blocks that some extent makes of a dimension, from one on. */
static uint64_t next_blocks(uint64_t size, uint64_t blocks) {
    return blocks > 1 && blocks <= size ? (size - 1) / ((size - 1) / (blocks - 1)) + 1 : blocks;
}

/* The least blocks inside a stage's group that make so many of its tile in a dimension. */
static uint64_t blocks_inside(const stage *at, int dim, int first) {
    const uint64_t blocks = at->blocks[dim] - 1;
    return (!at->empty && dim == first ? 2 * blocks : blocks) * at->side[dim] + 1;
}

/* Sets the least blocks of all stages up to one that satisfy what is chosen; false where there are none. */
static bool set_stage_blocks(join *j, int last) {
    const sx_model *model = j->prefix->bounds->model;
    for (int d = 0; d < model->n_dims; d++) {
        for (int i = last; i >= 0; i--) {
            stage *at = &j->stage[i];
            at->blocks[d] = at->least[d];
            uint64_t outer = i < last ? blocks_inside(&j->stage[i + 1], d, at->first) : 1;
            if (outer > at->blocks[d]) at->blocks[d] = next_blocks(model->size[d], outer);
            if (at->blocks[d] > model->size[d]) return false;
            if (at->pair && at->first == d && at->blocks[d] != at->pair) return false;
        }
        uint64_t all = j->all[d];
        for (int i = 0; i <= last; i++) {
            stage *at = &j->stage[i];
            const bool equal = at->empty || at->rigid >> d & 1;
            const uint64_t most = !equal && d == j->first ? (all + 1) / 2 : all;
            if (i == 0 && at->blocks[d] > most) return false;
            if (equal) at->blocks[d] = all;
            if (i < last) all = (at->blocks[d] - 1) / j->stage[i + 1].side[d] + 1;
        }
    }
    return true;
}

static void try_stage(join *j, int i);

/* Takes in the bound of what is chosen of stages up to one, and of all stages outside where that may raise the least. */
static void try_choice(join *j, int i) {
    if (!set_stage_blocks(j, i)) return;
    if (++j->tried > 8 * MOST_TRIES) j->enough = j->given_up = true;
    const sx_score score = bound_stages(j, i);
    const double value = j->goal->value(j->goal->rule, &score);
    sx_prefix_least *least = &j->least;
    if (is_no_less(j, &score)) return;
    if (i + 1 < j->n_stages && j->stage[i].first >= 0 && value < j->goal->limit && j->tried < MOST_TRIES) {
        try_stage(j, i + 1);
        return;
    }
    least->value = fmin(least->value, value);
    least->energy = fmin(least->energy, score.energy_pj);
    least->cycles = fmin(least->cycles, score.cycles);
    j->enough |= least->value < j->goal->enough;
}

/* Tries a choice with room for the tiles of flows that stand still in levels of the stage's group, from one flow on. */
static void try_rooms(join *j, int i, int number) {
    stage *at = &j->stage[i];
    while (number < j->n_open && (!(at->still >> number & 1) || j->open[number].flow->child <= at->before))
        number++;
    if (number == j->n_open) {
        try_choice(j, i);
        return;
    }
    const sx_imperfect_bound *bounds = j->prefix->bounds;
    const int c = j->open[number].flow->child, n = bounds->model->n_dims;
    const sx_largest_tiles *rows = &bounds->tiles->largest[c][bounds->outline.keep[c]];
    uint64_t was[SX_MAX_DIMS];
    memcpy(was, at->least, sizeof was);
    for (size_t k = 0; k < rows->n && !j->enough; k++) {
        for (unsigned left = j->open[number].dims; left; left &= left - 1) {
            int d = __builtin_ctz(left);
            uint32_t blocks = rows->blocks[k * (size_t)n + (size_t)d];
            at->least[d] = blocks > was[d] ? blocks : was[d];
        }
        try_rooms(j, i, number + 1);
    }
    memcpy(at->least, was, sizeof was);
    if (rows->n == 0) try_rooms(j, i, number + 1);
}

/* The flows that may stand still in a stage with its first loop. */
static unsigned may_stand_still(const join *j, int i) {
    const stage *at = &j->stage[i];
    unsigned may = 0;
    for (int k = 0; k < j->n_open; k++) {
        const open_flow *open = &j->open[k];
        if (open->from > i || open->flow->child >= at->level) continue;
        if (i > 0 && moving_stage(j, k, i - 1) < i) continue;
        if (at->first < 0 || !(open->dims >> at->first & 1)) may |= 1u << k;
    }
    return may;
}

/* Whether flows of some tensor stand still only where those into levels further out do. */
static bool is_nested(const join *j, unsigned some, unsigned may) {
    for (unsigned left = some; left; left &= left - 1) {
        const sx_imperfect_flow *flow = j->open[__builtin_ctz(left)].flow;
        for (unsigned rest = may & ~some; rest; rest &= rest - 1) {
            const sx_imperfect_flow *other = j->open[__builtin_ctz(rest)].flow;
            if (other->tensor == flow->tensor && other->child > flow->child) return false;
        }
    }
    return true;
}

/* Tries all sets of flows that may stand still in a stage. */
static void try_still(join *j, int i) {
    stage *at = &j->stage[i];
    const unsigned may = may_stand_still(j, i);
    unsigned some = 0;
    at->empty = false;
    do {
        at->still = some;
        at->rigid = 0;
        for (unsigned left = some; left; left &= left - 1) {
            const open_flow *open = &j->open[__builtin_ctz(left)];
            if (open->flow->child <= at->before) at->rigid |= open->dims;
        }
        if (is_nested(j, some, may)) try_rooms(j, i, 0);
        some = (some - may) & may;
    } while (some && !j->enough);
}

/* Whether there may be no loop outside a stage with as many blocks as it has at least. */
static bool may_end(const join *j, int i) {
    const stage *at = &j->stage[i];
    for (int k = i + 1; k < j->n_stages; k++)
        if (!j->stage[k].holds_all) return false;
    for (int d = 0; d < j->prefix->bounds->model->n_dims; d++)
        if (at->least[d] > at->outside[d]) return false;
    return true;
}

/* Sets the least blocks of a stage by a row. */
static void set_row(stage *at, size_t row, int n) {
    for (int d = 0; d < n; d++) {
        uint32_t blocks = at->rows->blocks[row * (size_t)n + (size_t)d];
        at->least[d] = blocks > at->fewest[d] ? blocks : at->fewest[d];
    }
}

/* Tries all that flows may do in a stage, in a group with loops and in one without. */
static void try_moves(join *j, int i) {
    stage *at = &j->stage[i];
    if (j->enough) return;
    try_still(j, i);
    if (j->enough || (i == 0 && j->given) || at->first != (i > 0 ? j->stage[i - 1].first : j->first)) return;
    at->empty = true;
    at->rigid = 0;
    at->still = may_stand_still(j, i);
    try_choice(j, i);
}

/* Tries a row of a stage with all numbers of blocks along the first loop that make two rounds of the next level's children.
 * The first child has two full blocks then, or one and what is left where just one child has a second. */
static void try_pairs(join *j, int i) {
    stage *at = &j->stage[i];
    const sx_decided *decided = &j->prefix->decided;
    const int d = at->first;
    const uint64_t size = decided->model->size[d], side = decided->spatial[at->level + 1][d],
                   was = at->least[d];
    uint64_t units = 1;
    for (int s = 0; s <= at->level; s++) units *= decided->spatial[s][d];
    for (uint64_t b = next_blocks(size, was > side ? was : side + 1);
         b <= 2 * side && b <= size && !j->enough; b = next_blocks(size, b + 1)) {
        const uint64_t low = (size - 1) / b + 1, high = (size - 1) / (b - 1);
        const uint64_t words = b == side + 1 ? size - (side - 1) * high : 2 * low;
        at->pair = at->least[d] = b;
        at->pair_steps = (double)((words - 1) / units + 1);
        at->pair_still = fmin((double)((2 * side - b) * high) / (double)size, 1);
        const sx_score score = sx_imperfect_sum_score(j->prefix->bounds, &at->fixed, stage_steps(j, i));
        if (!is_no_less(j, &score)) try_moves(j, i);
    }
    at->least[d] = was;
}

/* Tries a row of a stage with a first loop outside it, -1: none. */
static void try_first(join *j, int i, size_t row, int first) {
    stage *at = &j->stage[i];
    set_row(at, row, j->prefix->bounds->model->n_dims);
    at->first = first;
    at->pair = 0;
    if (first < 0) {
        if (may_end(j, i)) try_still(j, i);
        return;
    }
    const uint64_t size = j->prefix->bounds->model->size[first], row_blocks = at->least[first];
    const uint64_t side = j->prefix->decided.spatial[at->level + 1][first];
    if (at->whole >> first & 1) try_pairs(j, i);
    const uint64_t least = next_blocks(size, (at->whole >> first & 1 ? 2 * side : side) + 1);
    at->pair = 0;
    at->least[first] = least > row_blocks ? least : row_blocks;
    try_moves(j, i);
}

/* Tries the tiles of the last stage, those first into which least flows. */
static void try_options(join *j, int i) {
    const sx_prefix_bound *prefix = j->prefix;
    sx_imperfect_sum sum = j->stage[i].fixed;
    for (int k = 0; k < j->n_open; k++)
        if (j->open[k].flow->child < j->stage[i].level) add_open(j, k, i - 1, &sum);
    sx_score score = sx_imperfect_sum_score(prefix->bounds, &sum, stage_steps(j, i - 1));
    const double inside = score.energy_pj;
    for (int k = 0; k < prefix->n_options && !j->enough; k++) {
        const sx_join_option *option = &prefix->option[k];
        score.energy_pj = inside + option->energy * (1 - 1e-12);
        if (is_no_less(j, &score)) return;
        try_first(j, i, option->row, option->first);
    }
}

/* Tries all tiles of a stage. */
static void try_stage(join *j, int i) {
    const stage *at = &j->stage[i];
    const int n = j->prefix->bounds->model->n_dims;
    if (at->level == j->prefix->option_level && !(i == 0 && j->given)) {
        try_options(j, i);
        return;
    }
    for (size_t k = 0; k < at->rows->n && !j->enough; k++)
        for (int first = -1; first < n && !j->enough; first++) try_first(j, i, k, first);
}

/* The instances of a level along a dimension that are in use, at least. */
static uint32_t instances_along(const sx_decided *decided, int level, int dim) {
    uint32_t inner = 1, outer = 1;
    for (int s = level + 1; s < decided->model->n_levels; s++) {
        if (decided->spatial[s][dim] == 1) continue;
        inner *= outer;
        outer = decided->spatial[s][dim];
    }
    return inner * (outer - 1) + 1;
}

/* Sets what all joins have; stages and flows are listed later. */
static void begin_join(join *j, const sx_prefix_bound *prefix, const sx_prefix_query *query,
                       const sx_prefix_goal *goal) {
    j->prefix = prefix;
    j->query = *query;
    j->given = false;
    j->goal = goal;
    j->n_stages = j->n_open = 0;
    j->least = (sx_prefix_least){INFINITY, INFINITY, INFINITY};
    j->enough = j->given_up = false;
    j->tried = 0;
}

/* Whether the tiles of a level are gone through. */
static bool is_stage(const sx_prefix_bound *prefix, int level) {
    const sx_model *model = prefix->bounds->model;
    const uint8_t *keep = prefix->bounds->outline.keep;
    if (level + 2 == model->n_levels || keep[level] & keep[level + 1]) return true;
    for (int d = 0; d < model->n_dims; d++)
        if (prefix->decided.spatial[level + 1][d] > 1) return true;
    return false;
}

/* Whether some tile of a stage has room outside which there are no loops. */
static bool holds_all(const stage *at, int n) {
    for (size_t k = 0; k < at->rows->n; k++) {
        bool holds = true;
        for (int d = 0; d < n; d++) holds &= at->rows->blocks[k * (size_t)n + (size_t)d] <= at->outside[d];
        if (holds) return true;
    }
    return false;
}

/* Sets the spatial factors of a stage. */
static void set_spatial(stage *at, const sx_decided *decided) {
    at->whole = 0;
    for (int d = 0; d < decided->model->n_dims; d++) {
        at->side[d] = 1;
        at->outside[d] = 1;
        for (int s = at->before + 1; s <= at->level; s++) at->side[d] *= decided->spatial[s][d];
        for (int s = at->level + 1; s < decided->model->n_levels; s++)
            at->outside[d] *= decided->spatial[s][d];
        at->fewest[d] = instances_along(decided, at->level, d);
        at->whole |= (unsigned)(at->outside[d] > 1 && at->outside[d] == decided->spatial[at->level + 1][d])
                     << d;
    }
}

/* Lists the stages: up to the first level whose rows are not known. */
static void list_stages(join *j, const sx_largest_tiles *given) {
    const sx_imperfect_bound *bounds = j->prefix->bounds;
    const sx_model *model = bounds->model;
    int before = j->query.last;
    for (int level = before + 1; level + 1 < model->n_levels && j->n_stages < MOST_STAGES; level++) {
        const bool first = given && level == j->query.last + 1;
        if (!first && !is_stage(j->prefix, level)) continue;
        stage *at = &j->stage[j->n_stages];
        at->level = level;
        at->before = before;
        at->rows = first ? given : &bounds->tiles->largest[level][bounds->outline.keep[level]];
        if (at->rows->n == 0) return;
        at->fixed = j->prefix->rest[level + 1];
        set_spatial(at, &j->prefix->decided);
        at->holds_all = holds_all(at, model->n_dims);
        j->n_stages++;
        before = level;
    }
}

/* Adds a flow to the sums of all stages from its child on. */
static void add_fixed(join *j, const sx_imperfect_flow *flow, double asked, double filled) {
    for (int i = 0; i < j->n_stages; i++)
        if (j->stage[i].level >= flow->child)
            sx_imperfect_sum_flow(j->prefix->bounds, flow, asked, filled, &j->stage[i].fixed);
}

/* Lists a flow that stages decide. */
static void list_open(join *j, const sx_imperfect_flow *flow) {
    const sx_imperfect_bound *bounds = j->prefix->bounds;
    const int n = bounds->model->n_dims;
    if (j->n_open == MOST_OPEN) {
        add_fixed(j, flow, flow->asked, flow->filled);
        return;
    }
    open_flow *open = &j->open[j->n_open++];
    open->flow = flow;
    open->dims = bounds->model->shape[flow->tensor].dims;
    open->from = 0;
    while (j->stage[open->from].level < flow->child) open->from++;
    if (flow->child <= j->query.last) {
        open->share = decided_share(j, open);
        return;
    }
    const sx_largest_tiles *rows = &bounds->tiles->largest[flow->child][bounds->outline.keep[flow->child]];
    for (int d = 0; d < n; d++) {
        open->fewest[d] = rows->n > 0 ? UINT32_MAX : 1;
        for (size_t k = 0; k < rows->n; k++) {
            uint32_t blocks = rows->blocks[k * (size_t)n + (size_t)d];
            if (blocks < open->fewest[d]) open->fewest[d] = blocks;
        }
    }
}

/* Sums up the flows that no stage decides and lists the others. */
static void sort_flows(join *j) {
    const sx_prefix_bound *prefix = j->prefix;
    for (int k = 0; k < prefix->n_flows; k++) {
        const sx_imperfect_flow *flow = &prefix->flow[k];
        double asked, filled;
        if (flow->child > j->stage[j->n_stages - 1].level) continue;
        if (flow->child <= j->query.last &&
            sx_prefix_flow(prefix, &j->query, j->first, flow, &asked, &filled))
            add_fixed(j, flow, asked, filled);
        else
            list_open(j, flow);
    }
}

static int compare_options(const void *a, const void *b) {
    const sx_join_option *x = a, *y = b;
    if (x->energy != y->energy) return x->energy < y->energy ? -1 : 1;
    return x->row != y->row ? (x->row < y->row ? -1 : 1) : x->first - y->first;
}

/* The energy of the flows into a stage whose row and first loop are set. */
static double option_energy(join *j, stage *at) {
    const sx_prefix_bound *prefix = j->prefix;
    sx_imperfect_sum sum = {0};
    memcpy(at->blocks, at->least, sizeof at->blocks);
    for (int k = 0; k < prefix->n_flows; k++) {
        const sx_imperfect_flow *flow = &prefix->flow[k];
        if (flow->child != at->level) continue;
        open_flow open = {.flow = flow, .dims = prefix->bounds->model->shape[flow->tensor].dims};
        if (is_moved(&open, at, 0))
            add_moved(j, &open, at, &sum);
        else
            sx_imperfect_sum_flow(prefix->bounds, flow, flow->asked, flow->filled, &sum);
    }
    return sum.energy;
}

void sx_join_begin(sx_prefix_bound *prefix) {
    const sx_imperfect_bound *bounds = prefix->bounds;
    const int level = bounds->model->n_levels - 2, n = bounds->model->n_dims;
    const sx_prefix_query nothing = {.last = -1, .order = true};
    prefix->n_options = 0;
    prefix->option_level = -1;
    if (level < 0 || !prefix->usable || !bounds->tiles->largest[level]) return;
    join j;
    begin_join(&j, prefix, &nothing, NULL);
    stage *at = &j.stage[0];
    at->level = level;
    at->before = level - 1;
    at->rows = &bounds->tiles->largest[level][bounds->outline.keep[level]];
    if (at->rows->n == 0 || at->rows->n * (size_t)(n + 1) > SX_JOIN_OPTIONS) return;
    set_spatial(at, &prefix->decided);
    at->whole = 0;
    prefix->option_level = level;
    for (size_t row = 0; row < at->rows->n; row++)
        for (int first = -1; first < n; first++) {
            set_row(at, row, n);
            at->first = first;
            at->pair = 0;
            prefix->option[prefix->n_options++] =
                (sx_join_option){option_energy(&j, at), (uint16_t)row, (int16_t)first};
        }
    qsort(prefix->option, (size_t)prefix->n_options, sizeof *prefix->option, compare_options);
}

/* Raises a bound to the least over all tiles of the levels outside those that are decided; the first of these has one row
 * where that is given. */
static void raise_joined(join *j, const sx_largest_tiles *given, sx_prefix_least *bound, uint64_t *steps) {
    const sx_decided *decided = &j->prefix->decided;
    list_stages(j, given);
    if (j->n_stages == 0) return;
    for (int d = 0; d < decided->model->n_dims; d++) {
        uint64_t base = decided->reach[j->query.last + 1][d] * j->stage[0].side[d];
        j->all[d] = (uint32_t)((decided->model->size[d] - 1) / base + 1);
        j->steps[d] = (double)sx_decided_steps(decided, j->query.last, d);
    }
    sort_flows(j);
    try_stage(j, 0);
    *steps += j->tried * TRY_STEPS;
    if (j->given_up) return;
    bound->value = fmax(bound->value, j->least.value);
    if (j->goal->limit < INFINITY) return;
    bound->energy = fmax(bound->energy, j->least.energy);
    bound->cycles = fmax(bound->cycles, j->least.cycles);
}

/* Whether tiles of levels outside can be joined. */
static bool can_join(const sx_prefix_bound *prefix) {
    return prefix->usable && prefix->bounds->tiles->largest[0];
}

sx_prefix_least sx_prefix_bound_joined(const sx_prefix_bound *prefix, const sx_prefix_query *query, int first,
                                       const sx_prefix_goal *goal, uint64_t *steps) {
    sx_score score;
    if (!sx_prefix_bound_score(prefix, query, first, &score))
        return (sx_prefix_least){INFINITY, INFINITY, INFINITY};
    *steps += BOUND_STEPS;
    sx_prefix_least bound = {goal->value(goal->rule, &score), score.energy_pj, score.cycles};
    if (first < 0 || !query->order || bound.value >= goal->limit || !can_join(prefix)) return bound;
    join j;
    begin_join(&j, prefix, query, goal);
    j.first = first;
    raise_joined(&j, NULL, &bound, steps);
    return bound;
}

sx_prefix_least sx_prefix_bound_open(const sx_prefix_bound *prefix, const sx_prefix_query *query,
                                     const sx_prefix_goal *goal, uint64_t *steps) {
    const sx_model *model = prefix->bounds->model;
    sx_prefix_least bound = {-INFINITY, 0, 0};
    uint32_t blocks[SX_MAX_DIMS];
    const sx_largest_tiles given = {.n = 1, .blocks = blocks};
    join j;
    if (query->inner < 0 || query->last + 1 >= model->n_levels || !can_join(prefix)) return bound;
    begin_join(&j, prefix, &(sx_prefix_query){.last = query->last - 1, .order = true}, goal);
    for (int d = 0; d < model->n_dims; d++)
        blocks[d] = (uint32_t)((model->size[d] - 1) / prefix->decided.reach[query->last + 1][d] + 1);
    j.first = query->inner;
    j.given = true;
    raise_joined(&j, &given, &bound, steps);
    return bound;
}

/* The least over all loops that may be the next one outward. */
static sx_prefix_least least_by_first(const sx_prefix_bound *prefix, const sx_prefix_query *query,
                                      const sx_prefix_goal *goal, uint64_t *steps) {
    sx_prefix_least all = {INFINITY, INFINITY, INFINITY};
    for (int first = -1; first < prefix->bounds->model->n_dims; first++) {
        sx_prefix_least bound = sx_prefix_bound_joined(prefix, query, first, goal, steps);
        if (bound.value < goal->enough) return bound;
        all.value = fmin(all.value, bound.value);
        all.energy = fmin(all.energy, bound.energy);
        all.cycles = fmin(all.cycles, bound.cycles);
    }
    return all;
}

sx_prefix_least sx_prefix_bound_least(const sx_prefix_bound *prefix, const sx_prefix_query *query,
                                      const sx_prefix_goal *goal, uint64_t *steps) {
    sx_prefix_least bound = least_by_first(prefix, query, goal, steps);
    if (query->order || bound.value >= goal->limit) return bound;
    const sx_prefix_least open = sx_prefix_bound_open(prefix, query, goal, steps);
    return (sx_prefix_least){fmax(bound.value, open.value), fmax(bound.energy, open.energy),
                             fmax(bound.cycles, open.cycles)};
}
