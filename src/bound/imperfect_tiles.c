/* What flows into a level of one instance, by true execution, where factors need not divide.
 *
 * Let E be the tile of level c in a dimension of size N. It stands at multiples of E, so the dimension has
 * B = ceil(N / E) blocks, all of E but the last, and each vector of blocks is visited once. Only B matters for what is
 * fetched, and for room the smallest E of that B: about 2 sqrt(N) cases per dimension.
 *
 * Let d be the dimension of the innermost loop outside the tile (of more than one iteration), T its iterations.
 *
 * Which visits move. A visit at block k of d follows one at another block of d, unless the loop has a single iteration
 * there: a sweep of the loop ends at its last block and the next begins at its first. Only the last sweep of d can be
 * that short, and only where another loop on d is further out: T >= 2 divides B - 1 then, so B >= 3 and the one block
 * in question is the last, which has N / B at most. So visits at blocks of N words move, or of N (B - 1) / B where there
 * may be another loop outside; for B = 2 the share of B = 3 is taken, so that it only grows with B.
 *
 * What a move fetches. A tensor that d indexes, alone in its rank: the tile as a whole, as it is disjoint from the one
 * before. Summed over all visits that is the product of B over the dimensions that do not index the tensor, of N over
 * those alone in their ranks, and for other ranks, whose tiles have 1 + sum of |a| (e - 1) words for blocks of e, the
 * sum over all blocks: (product of B) (1 + sum of |a| (N / B - 1)).
 * If d is in a rank with others: where these have a single block each, the tile moves by |a| E at least, or to the last
 * block by its |a| e new words, so what is fetched in this rank is at least the lesser of |a| e and of the tile's
 * extent, and the tile's extents in the others. Where some have several blocks a jump back may lead to where the tile
 * was; inside a sweep only d advances, and e words at least are new. With one level outside the sweep has all B >= 2 blocks:
 * N - E words of all but the first. The tile of the first block comes upon that of the last, which begins |a| (B - 1) E
 * further, less what the others make up for, W = sum of |a'| (N' - 1) at most; so at most W words of its |a| (E - 1) + 1 or
 * more are in place. A sweep fetches N - min(E, W) at least. With more levels outside nothing is counted.
 * A tensor that d does not index, or that has a dimension in two ranks: its words once.
 *
 * Fewest blocks. Where every B is only known to be no less than some b, all of this is nondecreasing in B but for two: the sum
 * over all blocks, which is linear in each B, so that its least is at a corner of b <= B <= N; and a rank in which d moves and
 * the others have a single block each, where N - min(E, W) holds, too, which is less.
 *
 * The front has the least of these for all E that fit and all d. In one dimension that is in no sum of any rank all of
 * them only fall as E grows (beside the choice of d), so only the largest E that fits is looked at there.
 *
 * Complexity: O(dimensions * tensors) for each vector of block counts, at most MOST_TILES of them, or fewer where that is
 * asked for, for a level and set; where there are more, neighbours are put together, with the room of the smaller and the
 * blocks of the larger tile. */
#include "bound/imperfect_tiles.h"

#include "base/status.h"
#include "bound/front.h"
#include "model/capacity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TILES = 50000, MOST_TRIPS = 512, WINDOW_VECTORS = 1000 };

/* Tiles of a dimension that are alike: the smallest extent, and the fewest blocks. */
typedef struct trips {
    uint32_t extent, blocks;
} trips;

/* The tiles of a level that keeps a set of tensors. */
typedef struct tiling {
    const sx_imperfect_tiles *tiles;
    const sx_interrupt *halt;
    int level;
    unsigned keep;
    int grown; /* the dimension whose largest extent is taken; -1: none */
    int n_trips[SX_MAX_DIMS];
    trips (*trips)[MOST_TRIPS]; /* per dimension, the largest extent first */
    uint32_t extent[SX_MAX_DIMS];
    sx_imperfect_tile tile;
    sx_traffic_front *front;
    size_t room;
    uint32_t turn;
    double most; /* tiles */
    bool failed, halted;
} tiling;

/* The words along a dimension whose visits move, where its loop is the innermost one outside. */
static double moving_words(const sx_model *model, const sx_imperfect_tile *tile) {
    double size = model->size[tile->first], blocks = fmax(tile->blocks[tile->first], 3);
    return tile->top ? size : size * (blocks - 1) / blocks;
}

/* The words of a rank that moves with the first loop, summed over all blocks of its dimensions. */
static double moved_rank(const sx_model *model, const sx_shape *shape, int r, const sx_imperfect_tile *tile) {
    double coef = 1, rest = 0, others = 1, size = model->size[tile->first],
           blocks = tile->blocks[tile->first];
    bool alone = shape->first_term[r + 1] - shape->first_term[r] == 1;
    for (int i = shape->first_term[r]; i < shape->first_term[r + 1]; i++) {
        const struct sx_term *term = &shape->term[i];
        if (term->dim == tile->first) {
            coef = fabs((double)term->coef);
        } else {
            rest += fabs((double)term->coef) * (model->size[term->dim] - 1.0);
            others *= tile->blocks[term->dim];
        }
    }
    if (alone) return moving_words(model, tile);
    if (others > 1 || tile->fewest)
        return tile->top ? (size - fmin(floor((size - 1) / (blocks - 1)), rest)) * others : 0;
    double gap = fmax(coef - 1 - rest, 0);
    return fmax(moving_words(model, tile), coef * moving_words(model, tile) - gap * blocks);
}

/* The words of a rank, summed over all blocks of its dimensions, of which those in `single` have blocks of one. */
static double rank_blocks(const sx_model *model, const sx_shape *shape, int r, const sx_imperfect_tile *tile,
                          unsigned single) {
    double extent = 1, blocks = 1;
    int first = shape->first_term[r], end = shape->first_term[r + 1];
    for (int i = first; i < end; i++) {
        const double size = model->size[shape->term[i].dim];
        const double number = single >> (i - first) & 1 ? size : tile->blocks[shape->term[i].dim];
        extent += fabs((double)shape->term[i].coef) * (size / number - 1);
        blocks *= number;
    }
    return extent * blocks;
}

/* The words of a rank, summed over all blocks of its dimensions; the least, where their number is. */
static double whole_rank(const sx_model *model, const sx_shape *shape, int r, const sx_imperfect_tile *tile) {
    const int n = shape->first_term[r + 1] - shape->first_term[r];
    if (n == 1) return model->size[shape->term[shape->first_term[r]].dim];
    double least = rank_blocks(model, shape, r, tile, 0);
    for (unsigned single = 1; tile->fewest && single < 1u << n; single++)
        least = fmin(least, rank_blocks(model, shape, r, tile, single));
    return least;
}

double sx_imperfect_tile_flow(const sx_model *model, int v, const sx_imperfect_tile *tile) {
    const sx_shape *shape = &model->shape[v];
    double words = 1, once = sx_model_touched(model, v);
    if (tile->first < 0 || !(shape->dims >> tile->first & 1) || !shape->simple) return once;
    for (int d = 0; d < model->n_dims; d++)
        if (!(shape->dims >> d & 1)) words *= tile->blocks[d];
    for (int r = 0; r < shape->n_ranks; r++) {
        bool moves = false;
        for (int i = shape->first_term[r]; i < shape->first_term[r + 1]; i++) {
            if (shape->term[i].coef == 0) return once;
            moves |= shape->term[i].dim == tile->first;
        }
        words *= moves ? moved_rank(model, shape, r, tile) : whole_rank(model, shape, r, tile);
    }
    return fmax(words, once);
}

/* Adds the flows of the tile at hand, for a dimension of the innermost loop outside; -1: there is no loop. */
static void add_row(tiling *t, int first) {
    double row[SX_MAX_TENSORS];
    int n = 0;
    t->tile.first = first;
    for (unsigned left = t->keep; left; left &= left - 1)
        row[n++] = sx_imperfect_tile_flow(t->tiles->model, __builtin_ctz(left), &t->tile);
    for (uint32_t i = t->front->n; i > 0 && i + 8 > t->front->n; i--)
        if (sx_traffic_undercuts(t->front->flow + (size_t)(i - 1) * (size_t)n, row, n)) return;
    t->failed |= !sx_traffic_front_add(t->front, &t->room, n, row);
}

/* Sets the tile in one dimension. */
static void set_trips(tiling *t, int d, const trips *at) {
    t->extent[d] = at->extent;
    t->tile.blocks[d] = at->blocks;
}

/* Whether the tile at hand fits. */
static bool tile_fits(const tiling *t) {
    const sx_model *model = t->tiles->model;
    return sx_level_holds(model, &model->level[t->level], t->keep, t->extent);
}

/* Adds the flows of the tile at hand, whose dimension `grown` is still open. */
static void add_tile(tiling *t) {
    int g = t->grown, i = 0;
    bool loops = false;
    if (g >= 0) set_trips(t, g, &t->trips[g][0]);
    while (!tile_fits(t)) {
        if (g < 0 || ++i == t->n_trips[g]) return;
        set_trips(t, g, &t->trips[g][i]);
    }
    for (int d = 0; d < t->tiles->model->n_dims; d++) {
        if (t->tile.blocks[d] > 1) add_row(t, d);
        loops |= t->tile.blocks[d] > 1;
    }
    if (!loops) add_row(t, -1);
    if (g < 0 || t->tile.blocks[g] > 1 || t->n_trips[g] == 1) return;
    set_trips(t, g, &t->trips[g][1]);
    add_row(t, g);
}

/* Goes through the tiles from dimension d on. */
static void list_tiles(tiling *t, int d) {
    enum { POLL = 1024 };
    if (d == t->tiles->model->n_dims) {
        if (++t->turn % POLL == 0 && t->halt) t->halted |= t->halt->asked(t->halt->user);
        add_tile(t);
        return;
    }
    int n = d == t->grown ? 1 : t->n_trips[d];
    for (int i = 0; i < n && !t->failed && !t->halted; i++) {
        set_trips(t, d, &t->trips[d][i]);
        list_tiles(t, d + 1);
    }
}

/* Lists the tiles of a dimension; those whose blocks are within a ratio are put together. */
static void list_trips(tiling *t, int d, double ratio) {
    uint32_t size = t->tiles->model->size[d];
    int n = 0;
    for (uint32_t extent = size; extent > 0;) {
        uint32_t blocks = (size - 1) / extent + 1, least = (size - 1) / blocks + 1;
        bool like = n > 1 && blocks <= ratio * t->trips[d][n - 1].blocks;
        if (like || n == MOST_TRIPS)
            t->trips[d][n - 1].extent = least;
        else
            t->trips[d][n++] = (trips){least, blocks};
        extent = least - 1;
    }
    t->n_trips[d] = n;
}

/* Lists the tiles of all dimensions, so coarsely that there are few enough vectors of them. */
static void list_all_trips(tiling *t) {
    const sx_model *model = t->tiles->model;
    unsigned summed = 0;
    double vectors = INFINITY;
    for (int v = 0; v < model->n_tensors; v++)
        summed |= model->shape[v].dims & ~(unsigned)model->shape[v].solo;
    for (double ratio = 1; vectors > t->most && ratio < 64; ratio *= 1.1) {
        vectors = 1;
        t->grown = -1;
        for (int d = 0; d < model->n_dims; d++) {
            list_trips(t, d, ratio);
            vectors *= t->n_trips[d];
            if (!(summed >> d & 1) && (t->grown < 0 || t->n_trips[d] > t->n_trips[t->grown])) t->grown = d;
        }
        if (t->grown >= 0) vectors /= t->n_trips[t->grown];
    }
    t->halted = vectors > t->most;
}

/* Makes the front of a level and a set of tensors, empty where it is ended early; false when memory is out. */
static bool make_front(tiling *t, int level, unsigned keep, sx_traffic_front *front) {
    t->level = level;
    t->keep = keep;
    t->tile.top = level + 2 == t->tiles->model->n_levels;
    t->front = front;
    t->room = 0;
    list_tiles(t, 0);
    if (!t->failed && !t->halted)
        t->halted = !sx_traffic_front_thin(front, __builtin_popcount(keep), t->halt);
    if (t->halted) front->n = 0;
    return !t->failed;
}

sx_imperfect_word sx_imperfect_word_of(const sx_model *model, int v) {
    const sx_shape *shape = &model->shape[v];
    if (!shape->output) return (sx_imperfect_word){.reads = 1, .fills = 1};
    bool dense = !model->sparse && !model->range && !model->formats;
    bool back = dense && (shape->unit || model->options.no_first_read_elision);
    return (sx_imperfect_word){.reads = back, .updates = 1, .fills = back};
}

double sx_imperfect_word_energy(const sx_model *model, int v, int into, int from) {
    const sx_level *inner = &model->level[into], *outer = &model->level[from];
    sx_imperfect_word word = sx_imperfect_word_of(model, v);
    double vectors = word.reads * outer->read_energy + word.updates * outer->update_energy;
    return model->least[from][v] * (vectors / sx_level_block(outer, v) + outer->addr_gen_energy) +
           model->least[into][v] * word.fills *
               (inner->fill_energy / sx_level_block(inner, v) + inner->addr_gen_energy);
}

/* The same from the level that makes it least; 0 where no level outside need keep the tensor. */
static double least_word_energy(const sx_imperfect_tiles *tiles, int v, int into) {
    double least = INFINITY;
    for (int s = into + 1; s < tiles->model->n_levels; s++) {
        if (!((tiles->must[s] | tiles->may[s]) >> v & 1)) continue;
        least = fmin(least, sx_imperfect_word_energy(tiles->model, v, into, s));
        if (tiles->must[s] >> v & 1) return least;
    }
    return 0;
}

double sx_imperfect_tiles_least(const sx_imperfect_tiles *tiles, int level, unsigned keep,
                                const double *price) {
    double each[SX_MAX_TENSORS], once = 0;
    int n = 0;
    if (!tiles->front[level] || tiles->front[level][keep].n == 0) return 0;
    for (unsigned left = keep; left; left &= left - 1) {
        int v = __builtin_ctz(left);
        each[n++] = price[v];
        once += price[v] * tiles->words[v];
    }
    return fmax(sx_traffic_front_least(&tiles->front[level][keep], n, each) - once, 0);
}

/* Makes the fronts of a level; false when memory is out. */
static bool make_fronts(tiling *t, sx_imperfect_tiles *tiles, int level) {
    unsigned must = tiles->must[level], more = tiles->may[level] & ~must, some = 0;
    double price[SX_MAX_TENSORS];
    tiles->front[level] = calloc((size_t)1 << tiles->model->n_tensors, sizeof **tiles->front);
    tiles->energy[level] = calloc((size_t)1 << tiles->model->n_tensors, sizeof **tiles->energy);
    if (!tiles->front[level] || !tiles->energy[level]) return false;
    for (int v = 0; v < tiles->model->n_tensors; v++) price[v] = least_word_energy(tiles, v, level);
    do {
        unsigned keep = must | some;
        if (keep && !make_front(t, level, keep, &tiles->front[level][keep])) return false;
        tiles->energy[level][keep] = sx_imperfect_tiles_least(tiles, level, keep, price);
        some = (some - more) & more;
    } while (some);
    return true;
}

/* Whether the words of some tensor are no product over its dimensions. */
static bool has_windows(const sx_model *model) {
    bool windows = false;
    for (int v = 0; v < model->n_tensors; v++) windows |= !model->shape[v].unit;
    return windows;
}

/* Lists the largest tiles of a level for all sets of tensors. */
static bool list_largest(sx_imperfect_tiles *tiles, int level, double most, const sx_interrupt *halt) {
    unsigned must = tiles->must[level], more = tiles->may[level] & ~must, some = 0;
    tiles->largest[level] = calloc((size_t)1 << tiles->model->n_tensors, sizeof **tiles->largest);
    if (!tiles->largest[level]) return false;
    do {
        sx_status status = sx_largest_tiles_make(tiles->model, level, must | some, most, halt,
                                                 &tiles->largest[level][must | some]);
        if (status) {
            sx_status_free(status);
            return false;
        }
        some = (some - more) & more;
    } while (some);
    return true;
}

sx_status sx_imperfect_tiles_new(const sx_model *model, const uint8_t *must, const uint8_t *may, double most,
                                 const sx_interrupt *halt, sx_imperfect_tiles **out) {
    sx_imperfect_tiles *tiles = calloc(1, sizeof *tiles);
    tiling t = {.tiles = tiles,
                .halt = halt,
                .most = most > 0 ? fmin(most, MOST_TILES) : MOST_TILES,
                .trips = malloc(SX_MAX_DIMS * sizeof *t.trips)};
    bool good = tiles && t.trips;
    if (good) {
        tiles->model = model;
        memcpy(tiles->must, must, sizeof tiles->must);
        memcpy(tiles->may, may, sizeof tiles->may);
        for (int v = 0; v < model->n_tensors; v++) tiles->words[v] = sx_model_touched(model, v);
        list_all_trips(&t);
    }
    for (int s = model->n_levels - 2; good && s >= 0 && model->level[s].instances == 1; s--)
        good = make_fronts(&t, tiles, s);
    bool lists = !model->sparse && !model->range && !model->formats;
    if (has_windows(model)) {
        lists &= t.most == MOST_TILES;
        most = WINDOW_VECTORS;
    }
    for (int s = 0; good && lists && s + 1 < model->n_levels; s++) good = list_largest(tiles, s, most, halt);
    free(t.trips);
    if (good)
        *out = tiles;
    else
        sx_imperfect_tiles_free(tiles);
    return good ? SX_OK : sx_error_memory();
}

void sx_imperfect_tiles_free(sx_imperfect_tiles *tiles) {
    if (!tiles) return;
    for (int s = 0; s < tiles->model->n_levels; s++) {
        for (size_t i = 0; tiles->front[s] && i < (size_t)1 << tiles->model->n_tensors; i++)
            free(tiles->front[s][i].flow);
        for (size_t i = 0; tiles->largest[s] && i < (size_t)1 << tiles->model->n_tensors; i++)
            sx_largest_tiles_fini(&tiles->largest[s][i]);
        free(tiles->front[s]);
        free(tiles->energy[s]);
        free(tiles->largest[s]);
    }
    free(tiles);
}
