#include "fuse/chain_walk.h"

#include <stdlib.h>

typedef struct tile {
    sx_interval rows, columns;
} tile;

/* One tensor in the steps of a loop over rows and one over columns inside it. */
typedef struct tile_walk {
    sx_chain_walk *w;
    int m;
    sx_chain_keep by_row, by_column;
    const tile *user;            /* what the next layer makes in each step; NULL: m is the last tensor */
    tile *made;                  /* of this tensor, by step */
    sx_interval all;             /* columns that any step needs */
    sx_interval *rows, *columns; /* that each row step needs, and each column step of the current one */
} tile_walk;

/* What a step needs of the tensor. */
static tile need_of(const tile_walk *t, int i, int j) {
    const sx_chain_walk *w = t->w;
    const int n = w->chain->n_layers, high = w->chain->loop[w->row].tile,
              wide = w->chain->loop[w->column].tile;
    if (!t->user)
        return (tile){{i * high, sx_min_int(w->extent[n][0], (i + 1) * high)},
                      {j * wide, sx_min_int(w->extent[n][1], (j + 1) * wide)}};
    const tile *user = &t->user[i * w->n_columns + j];
    const tile need = {sx_chain_footprint(w, t->m + 1, t->m, 0, user->rows),
                       sx_chain_footprint(w, t->m + 1, t->m, 1, user->columns)};
    return sx_interval_length(need.rows) && sx_interval_length(need.columns) ? need : (tile){{0, 0}, {0, 0}};
}

/* Rows of each row step and all columns; false where columns between two tiles are never needed. */
static bool find_extents(tile_walk *t) {
    const sx_chain_walk *w = t->w;
    t->all = (sx_interval){0, 0};
    for (int i = 0; i < w->n_rows; i++) {
        t->rows[i] = (sx_interval){0, 0};
        for (int j = 0; j < w->n_columns; j++) {
            const tile need = need_of(t, i, j);
            t->rows[i] = sx_interval_hull(t->rows[i], need.rows);
            t->all = sx_interval_hull(t->all, need.columns);
        }
    }
    if (t->by_row != SX_CHAIN_RETAIN) return true;
    for (int i = 0; i < w->n_rows; i++)
        for (int j = 0, high = -1; j < w->n_columns; j++) {
            const sx_interval columns = need_of(t, i, j).columns;
            if (!sx_interval_length(columns)) continue;
            if (high >= 0 && columns.low > high) return false;
            high = sx_max_int(high, columns.high);
        }
    return true;
}

/* A row step: the rows that it makes, and those that are there or stay. */
typedef struct row_step {
    sx_interval made;   /* rows to make */
    int old;            /* rows from the row step before */
    int stay, old_stay; /* of the rows made and of the old ones, those that the next row step needs */
} row_step;

static row_step row_step_of(const tile_walk *t, int i, int reach) {
    const bool keeps = t->by_row == SX_CHAIN_RETAIN;
    const sx_interval rows = t->rows[i], next = i + 1 < t->w->n_rows ? t->rows[i + 1] : (sx_interval){0, 0};
    const int first = sx_min_int(keeps ? sx_max_int(rows.low, reach) : rows.low, rows.high);
    int kept = keeps && sx_interval_length(next) ? next.low : rows.high;
    kept = sx_min_int(sx_max_int(kept, rows.low), rows.high);
    return (row_step){{first, rows.high},
                      sx_max_int(0, first - rows.low),
                      rows.high - sx_max_int(kept, first),
                      sx_max_int(0, first - kept)};
}

/* The columns that the column steps of row step i need; the first needs all of them where that is asked for. */
static void find_columns(tile_walk *t, int i) {
    for (int j = 0; j < t->w->n_columns; j++) t->columns[j] = need_of(t, i, j).columns;
    if (t->by_column == SX_CHAIN_FULL)
        for (int j = 1; j < t->w->n_columns; j++)
            t->columns[0] = sx_interval_hull(t->columns[0], t->columns[j]);
}

/* The first column that a column step after j needs; -1: none. */
static int next_column(const tile_walk *t, int j) {
    int low = -1;
    for (j++; j < t->w->n_columns; j++)
        if (sx_interval_length(t->columns[j]))
            low = low < 0 ? t->columns[j].low : sx_min_int(low, t->columns[j].low);
    return low;
}

/* Positions that stay after a column step: columns up to `reach` are made, `later` is the first that is needed again. */
static int positions_after(const tile_walk *t, const row_step *r, int reach, int later) {
    const int from = later < 0 ? t->all.high : later, done = reach - t->all.low,
              rows = sx_interval_length(r->made);
    const int old = r->old_stay * (from - t->all.low) + r->old * (t->all.high - from);
    if (t->by_column == SX_CHAIN_FULL) return old + (later < 0 ? r->stay : rows) * done;
    if (t->by_column == SX_CHAIN_RECOMPUTE) return old + r->stay * done;
    const int overlap = later < 0 ? 0 : sx_max_int(0, reach - from);
    return old + r->stay * (done - overlap) + rows * overlap;
}

/* Walks the column steps of a row step; `held`: positions on chip before it, and after. */
static void walk_columns_of_row(tile_walk *t, int i, const row_step *r, int *held) {
    const uint64_t channels = (uint64_t)t->w->channels[t->m];
    const int rows = sx_interval_length(r->made);
    int reach = t->all.low;
    find_columns(t, i);
    for (int j = 0; j < t->w->n_columns; j++) {
        const int step = i * t->w->n_columns + j, before = reach;
        sx_interval columns = t->columns[j];
        if (t->by_column != SX_CHAIN_RECOMPUTE) columns.low = sx_max_int(columns.low, reach);
        const bool makes = rows > 0 && sx_interval_length(columns) > 0;
        t->made[step] = makes ? (tile){r->made, columns} : (tile){{0, 0}, {0, 0}};
        int more = 0;
        if (makes) {
            const int again = sx_max_int(0, sx_min_int(before, columns.high) - columns.low);
            more = sx_max_int(0, columns.high - sx_max_int(columns.low, before)) * rows +
                   again * (rows - r->stay);
            reach = sx_max_int(reach, columns.high);
        }
        const int after = t->m < t->w->chain->n_layers ? positions_after(t, r, reach, next_column(t, j)) : 0;
        t->w->words[t->m][step] = (sx_chain_words){
            makes ? (uint64_t)(rows * sx_interval_length(columns)) * channels : 0, (uint64_t)*held * channels,
            (uint64_t)(*held + more) * channels, (uint64_t)after * channels};
        *held = after;
    }
}

static bool walk_tensor(tile_walk *t) {
    int reach = 0, held = 0;
    if (t->by_row == SX_CHAIN_FULL || !find_extents(t)) return false;
    for (int i = 0; i < t->w->n_rows; i++) {
        const row_step r = row_step_of(t, i, reach);
        walk_columns_of_row(t, i, &r, &held);
        if (t->by_row == SX_CHAIN_RETAIN) reach = sx_max_int(reach, t->rows[i].high);
    }
    return true;
}

static bool is_covered(const sx_chain_walk *w) {
    if (w->chain->n_loops != 2 || w->row != 0 || w->column != 1) return false;
    for (int l = 1; l <= w->chain->n_layers; l++)
        if (w->chain->layer[l - 1].kind == SX_CHAIN_ADD && w->foreign != l) return false;
    return true;
}

sx_chain_verdict sx_chain_walk_columns(sx_chain_walk *w) {
    const size_t n = (size_t)w->n_steps;
    if (!is_covered(w)) return SX_CHAIN_NOT_COVERED;
    tile *tiles = calloc(2 * n, sizeof *tiles);
    sx_interval *intervals = calloc((size_t)(w->n_rows + w->n_columns), sizeof *intervals);
    sx_chain_verdict verdict = tiles && intervals ? SX_CHAIN_OK : SX_CHAIN_NO_MEMORY;
    for (int m = w->chain->n_layers; m >= 0 && !verdict; m--) {
        const bool last = m == w->chain->n_layers;
        tile_walk t = {.w = w,
                       .m = m,
                       .by_row = last ? SX_CHAIN_RECOMPUTE : w->chain->keep[m][w->row],
                       .by_column = last ? SX_CHAIN_RECOMPUTE : w->chain->keep[m][w->column],
                       .user = last ? NULL : tiles + (size_t)((m + 1) % 2) * n,
                       .made = tiles + (size_t)(m % 2) * n,
                       .rows = intervals,
                       .columns = intervals + w->n_rows};
        if (!walk_tensor(&t)) verdict = SX_CHAIN_NOT_COVERED;
    }
    free(tiles);
    free(intervals);
    return verdict;
}
