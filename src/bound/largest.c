/* The largest tiles that fit a level (L5: room).
 *
 * Of all extents that make B = ceil(N / e) blocks of a dimension the least is ceil(N / B), and room only grows with extents:
 * a vector of block counts is possible if these least extents fit. There are fewer than 2 sqrt(N) + 1 block counts of a
 * dimension. In one dimension the fewest blocks that fit are found by bisection; rows that another one undercuts are
 * dropped.
 *
 * Complexity: at most MOST_VECTORS vectors of block counts, or fewer where that is asked for; where there are more,
 * neighbours are put together, with the room of the smaller and the blocks of the larger tile. */
#include "bound/largest.h"

#include "base/status.h"
#include "base/vector.h"
#include "model/capacity.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_VECTORS = 20000, MOST_CLASSES = 256, POLL = 256 };

/* Tiles of a dimension that are alike: the least extent, and the fewest blocks. */
typedef struct class {
    uint32_t extent, blocks;
} class;

typedef struct lister {
    const sx_model *model;
    const sx_level *level;
    unsigned keep;
    const sx_interrupt *halt;
    double most; /* vectors */
    int grown;   /* the dimension of most classes */
    int n[SX_MAX_DIMS];
    class (*list)[MOST_CLASSES]; /* per dimension, the largest extent first */
    uint32_t extent[SX_MAX_DIMS], blocks[SX_MAX_DIMS];
    sx_largest_tiles *out;
    uint32_t turn;
    bool failed, halted;
} lister;

/* Lists the classes of a dimension; those whose blocks are within a ratio are put together. */
static void list_classes(lister *l, int d, double ratio) {
    uint32_t size = l->model->size[d];
    int n = 0;
    for (uint32_t extent = size; extent > 0;) {
        uint32_t blocks = (size - 1) / extent + 1, least = (size - 1) / blocks + 1;
        if (n > 1 && (blocks <= ratio * l->list[d][n - 1].blocks || n == MOST_CLASSES))
            l->list[d][n - 1].extent = least;
        else
            l->list[d][n++] = (class){least, blocks};
        extent = least - 1;
    }
    l->n[d] = n;
}

/* Lists all classes, so coarsely that there are few enough vectors. */
static void list_all_classes(lister *l) {
    double vectors = 2.0 * MOST_VECTORS;
    for (double ratio = 1; vectors > l->most; ratio *= 1.1) {
        vectors = 1;
        l->grown = 0;
        for (int d = 0; d < l->model->n_dims; d++) {
            list_classes(l, d, ratio);
            vectors *= l->n[d];
            if (l->n[d] > l->n[l->grown]) l->grown = d;
        }
        vectors /= l->n[l->grown];
        l->halted = ratio > 64;
        if (l->halted) return;
    }
}

static bool tile_undercuts(const uint32_t *a, const uint32_t *b, int n) {
    for (int d = 0; d < n; d++)
        if (a[d] > b[d]) return false;
    return true;
}

/* Adds the tile at hand, whose dimension `grown` is still open, unless a row undercuts it; drops rows that it undercuts. */
static void add_row(lister *l) {
    const int n = l->model->n_dims, g = l->grown;
    int low = 0, high = l->n[g];
    while (low < high) {
        int middle = (low + high) / 2;
        l->extent[g] = l->list[g][middle].extent;
        if (sx_level_holds(l->model, l->level, l->keep, l->extent))
            high = middle;
        else
            low = middle + 1;
    }
    if (low == l->n[g]) return;
    l->blocks[g] = l->list[g][low].blocks;
    sx_largest_tiles *out = l->out;
    size_t kept = 0;
    for (size_t i = 0; i < out->n; i++)
        if (tile_undercuts(out->blocks + i * (size_t)n, l->blocks, n)) return;
    for (size_t i = 0; i < out->n; i++) {
        uint32_t *row = out->blocks + i * (size_t)n;
        if (tile_undercuts(l->blocks, row, n)) continue;
        memmove(out->blocks + kept++ * (size_t)n, row, (size_t)n * sizeof *row);
    }
    out->n = kept;
    l->failed |= !sx_reserve(&out->blocks, &out->room, out->n + 1, (size_t)n * sizeof *out->blocks);
    if (!l->failed) memcpy(out->blocks + out->n++ * (size_t)n, l->blocks, (size_t)n * sizeof *l->blocks);
}

/* Goes through the classes from dimension d on. */
static void list_rows(lister *l, int d) {
    if (d == l->model->n_dims) {
        if (++l->turn % POLL == 0 && l->halt) l->halted |= l->halt->asked(l->halt->user);
        add_row(l);
        return;
    }
    int n = d == l->grown ? 1 : l->n[d];
    for (int i = 0; i < n && !l->failed && !l->halted; i++) {
        l->extent[d] = l->list[d][i].extent;
        l->blocks[d] = l->list[d][i].blocks;
        list_rows(l, d + 1);
    }
}

sx_status sx_largest_tiles_make(const sx_model *model, int level, unsigned keep, double most,
                                const sx_interrupt *halt, sx_largest_tiles *out) {
    sx_largest_tiles tiles = {0};
    lister l = {.model = model,
                .level = &model->level[level],
                .keep = keep,
                .most = most > 0 && most < MOST_VECTORS ? most : MOST_VECTORS,
                .halt = halt,
                .list = malloc(SX_MAX_DIMS * sizeof *l.list),
                .out = &tiles};
    if (!l.list) return sx_error_memory();
    list_all_classes(&l);
    if (!l.halted) list_rows(&l, 0);
    free(l.list);
    if (l.failed) {
        sx_largest_tiles_fini(&tiles);
        return sx_error_memory();
    }
    if (l.halted) tiles.n = 0;
    *out = tiles;
    return SX_OK;
}

void sx_largest_tiles_fini(sx_largest_tiles *tiles) {
    free(tiles->blocks);
    *tiles = (sx_largest_tiles){0};
}
