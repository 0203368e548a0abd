/* Fetches of tiles by true execution, where the loops of the innermost levels are decided and the others are not.
 *
 * Let N be the size of a dimension and E the product of all factors up to a level, so that the dimension falls into
 * B = ceil(N / E) blocks of E, the last one of what is left. As ceil(ceil(N / a) / b) = ceil(N / (a b)), B does not
 * depend on how E came about, and every block is visited once, by one instance (L1: visits).
 *
 * Visits. A tensor's tile that is not indexed by d is wanted again at each iteration of d's loops that a child sees.
 * Of a block of E that is full the decided loops tell how many (child, iteration) pairs there are, and of the last block
 * alike; there are B - 1 full ones, whatever the loops outside do. Loops inside the first one on a dimension of the
 * tensor leave the tile where it is: of these only the first iteration counts, which exists wherever any does, and is
 * full if there is a second. One child for each parent: the first, which is in use whenever another is.
 *
 * What stands still (L2). Let g be the innermost loop outside the child's tile on a dimension of the tensor, n >= 2 its
 * iterations, S all spatial factors on its dimension between the tile and the loop, e the tile's extent. A sweep covers S n
 * blocks of e. At every visit of a sweep of several iterations the child comes from another tile (the one before it, or
 * the last of the sweep before), so the tile is fetched. All sweeps but the last one are full. If r words are left for
 * that, S e < r <= 2 S e makes all children but ceil((r - S e) / e) see a single iteration, of e words each; r <= S e makes
 * all of them, of r words together; r > 2 S e none. So at most these words are not fetched at every visit; they are at
 * one.
 * Where the loop is not decided but outside level `last`, B counts blocks of e, M = ceil(B / S) the rounds: M = 1 leaves
 * no loop; M = 2 makes one sweep of both, and S M - B children see one round; for M >= 3 the last sweep may have one round
 * (B - S (M - 1) blocks) or two (S M - B children see one of them), unless the loop belongs to the outermost level, which
 * has all rounds in one sweep. S depends on the level of the loop: the most over all levels that leave a loop.
 *
 * Steps (L6). The first unit takes all iterations of the temporal loops inside a block and none of the spatial ones. With
 * S' instances outside it has ceil(B / S') blocks at least, of which one may be the last of all, if B > 1 and there is
 * one outer level with factors and B - 1 is no multiple of S', none. Of all factors of the last level that make B blocks, where the
 * first unit has only full ones their steps are least with the least factor; where it has the last one, too, each word more of the
 * others leaves B - 1 words less for that, so that steps do not grow with the factor.
 *
 * Complexity: a step per level and dimension. */
#include "bound/decided.h"

void sx_decided_set(sx_decided *decided, int level, int dim, uint64_t factor) {
    if (level == 0) decided->reach[0][dim] = 1;
    decided->base[level][dim] = decided->reach[level][dim] * decided->spatial[level][dim];
    decided->reach[level + 1][dim] = decided->base[level][dim] * factor;
}

uint64_t sx_decided_alike(const sx_decided *decided, int level, int dim, uint64_t factor) {
    uint64_t tiles = (decided->model->size[dim] - 1) / decided->base[level][dim] + 1;
    uint64_t blocks = (tiles - 1) / factor + 1;
    return blocks == 1 ? tiles : (tiles - 1) / (blocks - 1);
}

bool sx_decided_loops(const sx_decided *decided, int level, int dim) {
    return decided->reach[level + 1][dim] > decided->base[level][dim] &&
           decided->base[level][dim] < decided->model->size[dim];
}

sx_loop_place sx_decided_first(const sx_decided *decided, int child, int last, unsigned dims) {
    sx_loop_place first = {last + 1, -1};
    for (int s = child + 1; s <= last && first.dim < 0; s++)
        for (unsigned left = dims; left; left &= left - 1) {
            int d = __builtin_ctz(left);
            if (!sx_decided_loops(decided, s, d)) continue;
            if (first.dim < 0 || decided->place[s][d] < decided->place[s][first.dim])
                first = (sx_loop_place){s, d};
        }
    return first;
}

/* Blocks of a dimension: full ones, and the words of the last one that is not, or 0. */
typedef struct split_blocks {
    uint64_t full, rest;
} split_blocks;

/* Splits blocks of `outer` words into those of `inner`; only the first one of each where they are not counted. */
static split_blocks split_block(split_blocks b, uint64_t outer, uint64_t inner, bool counted) {
    uint64_t before = b.rest > 0 ? (b.rest - 1) / inner : 0;
    if (counted) return (split_blocks){b.full * (outer / inner) + before, b.rest - before * inner};
    return before > 0 ? (split_blocks){b.full + 1, 0} : b;
}

/* The blocks of a dimension that the tile of a level makes. */
static split_blocks outermost_blocks(const sx_decided *decided, int level, int dim) {
    uint64_t size = decided->model->size[dim], extent = decided->reach[level + 1][dim];
    uint64_t full = (size - 1) / extent;
    return (split_blocks){full, size - full * extent};
}

uint64_t sx_decided_visits(const sx_decided *decided, int dim, int child, int last, const sx_loop_place *from,
                           bool alone) {
    int level = last > child ? last : child;
    split_blocks b = outermost_blocks(decided, level, dim);
    for (int s = level; s > child; s--) {
        bool outside = s > from->level || (s == from->level && from->dim >= 0 &&
                                           decided->place[s][dim] > decided->place[s][from->dim]);
        b = split_block(b, decided->reach[s + 1][dim], decided->base[s][dim], outside);
        b = split_block(b, decided->base[s][dim], decided->reach[s][dim], !alone || s != child + 1);
    }
    if (alone && level == child && level + 1 < decided->model->n_levels) {
        uint64_t group = decided->spatial[level + 1][dim];
        return (b.full + (b.rest > 0) - 1) / group + 1;
    }
    return b.full + (b.rest > 0);
}

uint64_t sx_decided_still(const sx_decided *decided, int child, const sx_loop_place *first) {
    int d = first->dim;
    uint64_t extent = decided->reach[child + 1][d], round = decided->base[first->level][d];
    uint64_t rest = (decided->model->size[d] - 1) % decided->reach[first->level + 1][d] + 1;
    if (rest <= round) return rest;
    if (rest > 2 * round) return 0;
    return round - ((rest - round - 1) / extent + 1) * extent;
}

uint64_t sx_decided_still_outside(const sx_decided *decided, int child, int last, int dim) {
    const sx_model *model = decided->model;
    uint64_t size = model->size[dim], extent = decided->reach[child + 1][dim], most = 0, side = 1;
    uint64_t blocks = (size - 1) / extent + 1;
    bool any = false;
    for (int s = child + 1; s < model->n_levels; s++) {
        side *= decided->spatial[s][dim];
        uint64_t rounds = (blocks - 1) / side + 1, idle = side * rounds - blocks, ends = side - idle;
        if (s <= last || rounds == 1) continue;
        bool top = s + 1 == model->n_levels;
        uint64_t still = rounds == 2 ? idle : top ? 0 : idle > ends ? idle : ends;
        if (still > most) most = still;
        any = true;
    }
    most *= extent;
    return any && most < size ? most : size;
}

/* The least factor of a level that makes as many blocks of a dimension as the one that is decided. */
static uint64_t least_alike(const sx_decided *decided, int level, int dim) {
    const uint64_t base = decided->base[level][dim], factor = decided->reach[level + 1][dim] / base;
    const uint64_t tiles = (decided->model->size[dim] - 1) / base + 1, blocks = (tiles - 1) / factor + 1;
    return (tiles - 1) / blocks + 1;
}

uint64_t sx_decided_steps(const sx_decided *decided, int last, int dim, bool ranged) {
    split_blocks b = outermost_blocks(decided, last, dim);
    uint64_t outside = 1, n = b.full + (b.rest > 0);
    int arrays = 0;
    for (int s = last + 1; s < decided->model->n_levels; s++) {
        outside *= decided->spatial[s][dim];
        arrays += decided->spatial[s][dim] > 1;
    }
    if (outside > 1 && n > 1) {
        uint64_t own = (n - 1) / outside + 1;
        bool ends = arrays > 1 || (n - 1) % outside == 0;
        b = ends && own > 1 ? (split_blocks){own - 1, b.rest} : (split_blocks){own, 0};
    }
    for (int s = last; s >= 0; s--) {
        const bool least = ranged && s == last && b.rest == 0;
        uint64_t outer =
            least ? decided->base[s][dim] * least_alike(decided, s, dim) : decided->reach[s + 1][dim];
        b = split_block(b, outer, decided->base[s][dim], true);
        b = split_block(b, decided->base[s][dim], decided->reach[s][dim], false);
    }
    return b.full + (b.rest > 0);
}
