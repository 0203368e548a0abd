/* The bound of decided levels joined with the tiles of all levels outside them (L3, L4).
 *
 * Levels up to s are decided. Stages are the levels outside whose tiles are gone through: all but the outermost one, and but
 * those that keep none of the tensors of the next level outward and under which that one has no array (scratchpads of one
 * tensor each, side by side). Levels between the stage before (or s) and a stage t are its group. A counts the blocks of the
 * stage before with the spatial factors S of the group, B those of the tile of t; g is the first loop outside the stage before,
 * h the first outside t. A is known for the first stage; for others it is ceil(B / S) of the stage before.
 *
 * Nesting (L4). B <= A in each dimension, and B is no less than the instances in use outside. If the group has loops, the first
 * is on g: 2 iterations at least, so B_g <= ceil(A_g / 2). If it has none, B = A and h = g. A loop on h is left where B_h is
 * beyond the spatial factors of the next level. The same holds of any dimension d on which the group has a loop: of T >= 2
 * iterations, so that B_d = ceil(A_d / T) at most. And A_d >= 2: what is inside the loop covers less than N, by e words. Where
 * S' is the outermost spatial factor on d of the group outside the loop, its last instance has work, so that (S' - 1) T e times
 * the other such factors is less than N, and so is e times all of them, as (S' - 1) T >= S'.
 *
 * A flow into a level c. If c is the stage t and h indexes the tensor: as in prefix.c, with B visits of the other dimensions.
 * If c is further in and the tensor's tile did not move in stages before (L3): if a loop of the levels from c to t is on one of
 * its dimensions, or h is, each word is wanted again in each block of the other dimensions: all children see the B_d - 1 blocks
 * that are full, one at least sees the last: (B_d - 1) S_d + 1, S_d being the spatial factors on d from c to t. Let d be a
 * dimension of the tensor with a loop in the levels from c to t. A child that sees two iterations of it within t's tile comes
 * from another tile at each visit of that, whatever other loops do; so no more words stand still than those in the last sweep
 * of d. Where c is further in than the group there is such a loop on d, or none (B_d = A_d) but one on the next dimension, or
 * none on any of them, and h is on one: all of these are tried, the dimension with the fewest such words first. Else the words
 * are those of the worst of the tensor's dimensions. Otherwise the tile stands still in this stage, too: where c is inside the
 * group the tensor's extents in the tile of t have room in c; where it is further in B_d = A_d in the tensor's dimensions.
 * Flows of tensors that stand still in all stages count their words once.
 *
 * What stands still at the edge. With S the spatial factors on a dimension up to its loop, B blocks have e <= (N - 1) / (B - 1)
 * words at most. S < B <= 2 S of them make two rounds, of which 2 S - B blocks stand still. Of more the last round, of N S / B
 * words at most, or up to S - 1 idle children's blocks; none where the loop is of the outermost level (decided.c). Both fall as
 * B grows: the larger is taken, for the least B of each case. Two rounds take long where B is far from 2 S: if one level alone
 * has a factor, S, outside the tile, the first unit takes two full blocks, of ceil(N / B) words at least, or one and what is
 * left if B = S + 1. Numbers of blocks for which these are more steps than the limit of values admits, with all flows at their
 * least, need not be bounded: the least B of two rounds is the least of the others.
 *
 * Rounds (L6). Of B blocks of t's tile on S instances outside the first takes M = ceil(B / S) at least, full ones, of N / B
 * words or more; or, where B - 1 is a multiple of S or several levels have factors, M - 1 of e <= (N - 1) / (B - 1) words and
 * the last, N - (B - M) e words in all. U units inside share them. These steps do not only fall as B grows, so the numbers from
 * the least B on are put in ranges, each of which begins where the steps are fewer than before: in a range they are no fewer
 * than at its first number, which has the least flows. Where stages outside ask for more blocks than a range has, it is
 * closed. That is done once all else is fixed, and only where the bound without it is not enough.
 *
 * Windows. Of a tensor some rank of which is a sum of dimensions, flows into stages of one instance are those of
 * imperfect_tiles.c for the fewest blocks, which are nondecreasing in B; those into other levels count their words once, and
 * nothing is asked of the tiles for that. Rows have room for its tiles, whose words only grow with extents. So the other
 * tensors of a convolution are joined as those of a product, and only this one's flows are counted too low.
 *
 * Least over tiles. With h, empty groups, the flows that stand still and the dimensions that move others fixed for every stage,
 * no figure falls as any B grows, and what is asked of a B raises those of stages further in. So only rows of largest.c are
 * tried, raised to the least that satisfies all of this. Stages are added from the inside out; one is left alone where the
 * bound so far is no less than the least found, or needs not be raised. Where a stage has many tiles they are bounded first
 * with the stages up to it alone, and gone through from the least of these bounds on, so that the least of all is found early.
 *
 * Complexity: rows * dimensions * sets of flows that stand still, for each stage; at most MOST_TRIES before further stages are
 * left alone. */
#include "bound/stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BOUND_STEPS = 8, TRY_STEPS = 4, MOST_TRIES = 4096, FEWEST_ORDERED = 256, MOST_ORDERED = 1920 };

/* Whether a bound lowers nothing of the least found; only values count where there is a limit of them. */
static bool is_no_less(const sx_join *j, const sx_score *score) {
    if (j->goal->value(j->goal->rule, score) < j->least.value) return false;
    return j->goal->limit < INFINITY ||
           (score->energy_pj >= j->least.energy && score->cycles >= j->least.cycles);
}

static void try_stage(sx_join *j, int i);
static void try_choice(sx_join *j, int i);

/* Tries a choice with the numbers of blocks along a dimension in ranges, each with fewer steps than those before. */
static void try_ranges(sx_join *j, int i, int d, double least) {
    sx_stage *at = &j->stage[i];
    const uint64_t size = j->prefix->bounds->model->size[d], was = at->least[d],
                   end = i > 0 ? size : j->all[d];
    at->split |= 1u << d;
    for (uint64_t from = at->blocks[d], next; from <= end && !j->enough; from = next) {
        const double steps = fmax(sx_stage_steps(j, at, d, from), least);
        next = steps > least ? sx_join_blocks_from(size, from + 1) : end + 1;
        while (next <= end && sx_stage_steps(j, at, d, next) >= steps)
            next = sx_join_blocks_from(size, next + 1);
        at->least[d] = from;
        at->most[d] = next - 1;
        at->steps[d] = steps;
        try_choice(j, i);
    }
    at->least[d] = was;
    at->split &= ~(1u << d);
}

/* Tries a choice with the numbers of blocks in ranges along the dimension of which they say most about steps; false where
 * they say nothing. */
static bool try_rounds(sx_join *j, int i) {
    const sx_stage *at = &j->stage[i];
    double most = 1, least = 0;
    int best = -1;
    if (j->tried > MOST_TRIES) return false;
    for (int d = 0; d < j->prefix->bounds->model->n_dims; d++) {
        const double known = sx_join_steps_along(j, i, d);
        const double ratio = sx_stage_steps(j, at, d, at->blocks[d]) / known;
        if (at->split >> d & 1 || (at->pair && at->first == d) || ratio <= most) continue;
        most = ratio;
        least = known;
        best = d;
    }
    if (best >= 0) try_ranges(j, i, best, least);
    return best >= 0;
}

/* Takes in the bound of what is chosen of stages up to one, and of all stages outside where that may raise the least. */
static void try_choice(sx_join *j, int i) {
    if (++j->tried > 16 * MOST_TRIES) j->enough = j->given_up = true;
    j->probing += j->probes;
    if (!sx_join_set_blocks(j, i)) {
        j->refused++;
        return;
    }
    const sx_score score = sx_join_bound(j, i);
    const double value = j->goal->value(j->goal->rule, &score);
    sx_prefix_least *least = &j->least;
    if (is_no_less(j, &score)) return;
    if (j->probes) {
        j->probed = fmin(j->probed, value);
        return;
    }
    if (try_rounds(j, i)) return;
    if (i + 1 < j->n_stages && j->stage[i].first >= 0 && value < j->goal->limit &&
        j->tried - j->probing < MOST_TRIES) {
        try_stage(j, i + 1);
        return;
    }
    least->value = fmin(least->value, value);
    least->energy = fmin(least->energy, score.energy_pj);
    least->cycles = fmin(least->cycles, score.cycles);
    j->enough |= least->value < j->goal->enough;
}

/* Tries a choice with room for the tiles of flows that stand still in levels of the stage's group, from one flow on. */
static void try_rooms(sx_join *j, int i, int number) {
    sx_stage *at = &j->stage[i];
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
static unsigned may_stand_still(const sx_join *j, int i) {
    const sx_stage *at = &j->stage[i];
    unsigned may = 0;
    for (int k = 0; k < j->n_open; k++) {
        const sx_open_flow *open = &j->open[k];
        if (open->from > i || open->flow->child >= at->level ||
            !j->prefix->bounds->model->shape[open->flow->tensor].unit)
            continue;
        if (i > 0 && sx_join_moving_stage(j, k, i - 1) < i) continue;
        if (at->first < 0 || !(open->dims >> at->first & 1)) may |= 1u << k;
    }
    return may;
}

/* Whether flows of some tensor stand still only where those into levels further out do. */
static bool is_nested(const sx_join *j, unsigned some, unsigned may) {
    for (unsigned left = some; left; left &= left - 1) {
        const sx_imperfect_flow *flow = j->open[__builtin_ctz(left)].flow;
        for (unsigned rest = may & ~some; rest; rest &= rest - 1) {
            const sx_imperfect_flow *other = j->open[__builtin_ctz(rest)].flow;
            if (other->tensor == flow->tensor && other->child > flow->child) return false;
        }
    }
    return true;
}

/* The dimension of a flow, of some, at the edge of whose loops the fewest words stand still; -1: no dimension has loops. */
static int least_edge(const sx_join *j, const sx_open_flow *open, unsigned dims) {
    double least = INFINITY;
    int best = -1;
    for (; dims; dims &= dims - 1) {
        const double share = sx_join_edge(j, open, __builtin_ctz(dims));
        if (share < 0 || share >= least) continue;
        least = share;
        best = __builtin_ctz(dims);
    }
    return best;
}

/* Whether the choices of stages up to one lower nothing of the least found, whichever loops move the flows that do. */
static bool is_closed(sx_join *j, int i) {
    if (!sx_join_set_blocks(j, i)) return true;
    const sx_score score = sx_join_bound(j, i);
    j->tried++;
    j->probing++;
    return is_no_less(j, &score);
}

/* Tries a choice with all loops that may move the flows that do, from one flow on. Of a flow into a level further in than the
 * stage's group a dimension has a loop, or none and the next one has: where none has, the first loop outside is on one. */
static void try_movers(sx_join *j, int i, int number) {
    sx_stage *at = &j->stage[i];
    while (number < j->n_open && (j->open[number].flow->child > at->before || at->still >> number & 1 ||
                                  sx_join_moving_stage(j, number, i) != i))
        number++;
    if (number == j->n_open) {
        try_rooms(j, i, 0);
        return;
    }
    const sx_open_flow *open = &j->open[number];
    const unsigned rigid = at->rigid, looped = at->looped;
    int d;
    if (is_closed(j, i)) return;
    for (unsigned left = open->dims; (d = least_edge(j, open, left)) >= 0 && !j->enough; left &= ~(1u << d)) {
        at->by[number] = (int8_t)d;
        at->looped = looped | 1u << d;
        if (!(at->rigid >> d & 1)) try_movers(j, i, number + 1);
        at->looped = looped;
        at->rigid |= 1u << d;
    }
    if (!(at->rigid & looped) && at->first >= 0 && open->dims >> at->first & 1 && !j->enough) {
        at->by[number] = (int8_t)at->first;
        try_movers(j, i, number + 1);
    }
    at->by[number] = -1;
    at->rigid = rigid;
}

/* Tries all sets of flows that may stand still in a stage. */
static void try_still(sx_join *j, int i) {
    sx_stage *at = &j->stage[i];
    const unsigned may = may_stand_still(j, i);
    unsigned some = 0;
    at->empty = false;
    do {
        at->still = some;
        at->rigid = at->looped = 0;
        for (unsigned left = some; left; left &= left - 1) {
            const sx_open_flow *open = &j->open[__builtin_ctz(left)];
            if (open->flow->child <= at->before) at->rigid |= open->dims;
        }
        if (is_nested(j, some, may)) try_movers(j, i, 0);
        some = (some - may) & may;
    } while (some && !j->enough);
}

/* Whether there may be no loop outside a stage with as many blocks as it has at least. */
static bool may_end(const sx_join *j, int i) {
    const sx_stage *at = &j->stage[i];
    for (int k = i + 1; k < j->n_stages; k++)
        if (!j->stage[k].holds_all) return false;
    for (int d = 0; d < j->prefix->bounds->model->n_dims; d++)
        if (at->least[d] > at->outside[d]) return false;
    return true;
}

/* Tries all that flows may do in a stage, in a group with loops and in one without. */
static void try_moves(sx_join *j, int i) {
    sx_stage *at = &j->stage[i];
    if (j->enough) return;
    try_still(j, i);
    if (j->enough || (i == 0 && j->given) || at->first != (i > 0 ? j->stage[i - 1].first : j->first)) return;
    at->empty = true;
    at->rigid = at->looped = 0;
    at->still = may_stand_still(j, i);
    try_choice(j, i);
}

/* Tries a row of a stage with all numbers of blocks along the first loop that make two rounds of the next level's children.
 * The first child has two full blocks then, or one and what is left where just one child has a second. */
static void try_pairs(sx_join *j, int i) {
    sx_stage *at = &j->stage[i];
    const sx_decided *decided = &j->prefix->decided;
    const int d = at->first;
    const uint64_t size = decided->model->size[d], side = decided->spatial[at->level + 1][d],
                   was = at->least[d];
    uint64_t units = 1;
    for (int s = 0; s <= at->level; s++) units *= decided->spatial[s][d];
    for (uint64_t b = sx_join_blocks_from(size, was > side ? was : side + 1);
         b <= 2 * side && b <= size && !j->enough; b = sx_join_blocks_from(size, b + 1)) {
        const uint64_t high = (size - 1) / (b - 1), words = sx_join_pair_words(size, side, b);
        at->pair = at->least[d] = b;
        at->pair_steps = (double)((words - 1) / units + 1);
        at->pair_still = fmin((double)((2 * side - b) * high) / (double)size, 1);
        const sx_score score = sx_imperfect_sum_score(j->prefix->bounds, &at->fixed, sx_join_steps(j, i));
        if (!is_no_less(j, &score)) try_moves(j, i);
    }
    at->least[d] = was;
}

/* Tries a row of a stage with a first loop outside it, -1: none. */
static void try_first(sx_join *j, int i, size_t row, int first) {
    sx_stage *at = &j->stage[i];
    sx_stage_set_row(at, row, j->prefix->bounds->model->n_dims);
    at->first = first;
    at->pair = 0;
    at->split = 0;
    memset(at->by, -1, sizeof at->by);
    if (first < 0) {
        if (may_end(j, i)) try_still(j, i);
        return;
    }
    const uint64_t size = j->prefix->bounds->model->size[first], row_blocks = at->least[first];
    const uint64_t side = j->prefix->decided.spatial[at->level + 1][first];
    if (at->whole >> first & 1) try_pairs(j, i);
    const uint64_t least = sx_join_blocks_from(size, (at->whole >> first & 1 ? 2 * side : side) + 1);
    at->pair = 0;
    at->least[first] = least > row_blocks ? least : row_blocks;
    try_moves(j, i);
}

/* Tries the tiles of the last stage, those first into which least flows. */
static void try_options(sx_join *j, int i) {
    const sx_prefix_bound *prefix = j->prefix;
    sx_imperfect_sum sum = j->stage[i].fixed;
    for (int k = 0; k < j->n_open; k++)
        if (j->open[k].flow->child < j->stage[i].level) sx_join_add_open(j, k, i - 1, &sum);
    sx_score score = sx_imperfect_sum_score(prefix->bounds, &sum, sx_join_steps(j, i - 1));
    const double inside = score.energy_pj;
    for (int k = 0; k < prefix->n_options && !j->enough; k++) {
        const sx_join_option *option = &prefix->option[k];
        score.energy_pj = inside + option->energy * (1 - 1e-12);
        if (is_no_less(j, &score)) return;
        try_first(j, i, option->row, option->first);
    }
}

static int compare_options(const void *a, const void *b) {
    const sx_join_option *x = a, *y = b;
    if (x->energy != y->energy) return x->energy < y->energy ? -1 : 1;
    return x->row != y->row ? (x->row < y->row ? -1 : 1) : x->first - y->first;
}

/* Tries the tiles of a stage that is not the last one, those first whose bound with the stages up to it is least. */
static void try_ordered(sx_join *j, int i) {
    const sx_stage *at = &j->stage[i];
    sx_join_option order[MOST_ORDERED];
    size_t n = 0;
    j->probes = true;
    for (size_t k = 0; k < at->rows->n; k++)
        for (int first = -1; first < j->prefix->bounds->model->n_dims; first++) {
            j->probed = INFINITY;
            try_first(j, i, k, first);
            if (j->probed < j->goal->limit)
                order[n++] = (sx_join_option){j->probed, (uint16_t)k, (int16_t)first};
        }
    j->probes = false;
    qsort(order, n, sizeof *order, compare_options);
    for (size_t k = 0; k < n && !j->enough && order[k].energy < j->least.value; k++)
        try_first(j, i, order[k].row, order[k].first);
}

/* Tries all tiles of a stage. */
static void try_stage(sx_join *j, int i) {
    const sx_stage *at = &j->stage[i];
    const int n = j->prefix->bounds->model->n_dims;
    if (at->level == j->prefix->option_level && !(i == 0 && j->given)) {
        try_options(j, i);
        return;
    }
    const size_t tiles = at->rows->n * (size_t)(n + 1);
    if (i + 1 < j->n_stages && j->goal->limit < INFINITY && tiles > FEWEST_ORDERED && tiles <= MOST_ORDERED) {
        try_ordered(j, i);
        return;
    }
    for (size_t k = 0; k < at->rows->n && !j->enough; k++)
        for (int first = -1; first < n && !j->enough; first++) try_first(j, i, k, first);
}

void sx_join_begin(sx_prefix_bound *prefix) {
    const sx_imperfect_bound *bounds = prefix->bounds;
    const int level = bounds->model->n_levels - 2, n = bounds->model->n_dims;
    const sx_prefix_query nothing = {.last = -1, .order = true};
    prefix->n_options = 0;
    prefix->option_level = -1;
    if (level < 0 || !prefix->usable || !bounds->tiles->largest[level]) return;
    sx_join j;
    sx_join_init(&j, prefix, &nothing, NULL);
    sx_stage *at = &j.stage[0];
    at->level = level;
    at->before = level - 1;
    at->rows = &bounds->tiles->largest[level][bounds->outline.keep[level]];
    if (at->rows->n == 0 || at->rows->n * (size_t)(n + 1) > SX_JOIN_OPTIONS) return;
    sx_stage_set_spatial(at, &prefix->decided);
    at->whole = at->split = 0;
    prefix->option_level = level;
    for (size_t row = 0; row < at->rows->n; row++)
        for (int first = -1; first < n; first++) {
            sx_stage_set_row(at, row, n);
            at->first = first;
            at->pair = 0;
            prefix->option[prefix->n_options++] =
                (sx_join_option){sx_stage_energy(&j, at), (uint16_t)row, (int16_t)first};
        }
    qsort(prefix->option, (size_t)prefix->n_options, sizeof *prefix->option, compare_options);
}

/* Raises a bound to the least over all tiles of the levels outside those that are decided; the first of these has one row
 * where that is given. */
static void raise_joined(sx_join *j, const sx_largest_tiles *given, sx_prefix_least *bound, uint64_t *steps) {
    if (!sx_join_list(j, given)) return;
    try_stage(j, 0);
    *steps += (j->tried - j->refused) * TRY_STEPS + j->refused;
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
    sx_join j;
    sx_join_init(&j, prefix, query, goal);
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
    sx_join j;
    if (query->inner < 0 || query->last + 1 >= model->n_levels || !can_join(prefix)) return bound;
    sx_join_init(&j, prefix, &(sx_prefix_query){.last = query->last - 1, .order = true}, goal);
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
