/* One tensor of a chain, step by step. Positions that every step treats alike form a cell. A cell that a step makes lives
 * until the last later step that needs it and is reached from the maker over no recompute: that step is known
 * when the cell is made, so that what is on chip after a step is a sum over lives that have begun and not ended. */
#include "looptree/chain_walk.h"

#include <stdlib.h>
#include <string.h>

typedef struct cell {
    int maker, expiry; /* steps: that made it, and that needs it last; -1: never made */
    int last
        [3]; /* steps that need it last in the current iteration of the 0, 1, 2 outermost loops; -1: none */
} cell;

typedef struct tensor_walk {
    sx_chain_walk *w;
    int m;
    sx_chain_keep keep[3]; /* by loop */
    bool leaves;           /* nothing of it stays after a step */
    sx_chain_box *need;    /* by step */
    int n[3];              /* cells by axis */
    int *cell_at[2];       /* of a row and of a column: its cell */
    int *start[2];         /* of a cell: its first row or column; one more entry at the end */
    cell *cells;
    int last_need[3]; /* by depth, as cell.last: steps that need anything */
    int64_t *change;  /* of the words on chip, at a step's end */
    void *memory;
} tensor_walk;

/* Cuts all arrays but that of the cells out of one piece of memory. */
static bool make_arrays(tensor_walk *t) {
    const sx_chain_walk *w = t->w;
    const size_t rows = (size_t)w->extent[t->m][0] + 2, columns = (size_t)w->extent[t->m][1] + 2,
                 steps = (size_t)w->n_steps;
    t->memory = calloc(1, steps * (sizeof *t->change + sizeof *t->need) + 2 * (rows + columns) * sizeof(int));
    if (!t->memory) return false;
    t->change = t->memory;
    t->need = (sx_chain_box *)(t->change + steps);
    t->cell_at[0] = (int *)(t->need + steps);
    t->cell_at[1] = t->cell_at[0] + rows;
    t->start[0] = t->cell_at[1] + columns;
    t->start[1] = t->start[0] + rows;
    return true;
}

/* Says what becomes of the tensor at each loop. */
static void choose_keeps(tensor_walk *t) {
    const sx_chain *chain = t->w->chain;
    const bool last = t->m == chain->n_layers, adds_up = t->m == t->w->sums && t->m > 0;
    for (int d = 0; d < chain->n_loops; d++) {
        const bool sums_here = adds_up && chain->loop[d].axis == SX_CHAIN_CHANNEL;
        t->keep[d] = last || sums_here ? SX_CHAIN_RETAIN : chain->keep[t->m][d];
    }
    t->leaves = last && (!adds_up || chain->spills);
}

/* Finds what each step needs. Sums are needed in every slice as in the last; a tensor that is made at once is needed in the
 * first iteration as in all together. */
static void find_needs(tensor_walk *t) {
    const sx_chain_walk *w = t->w;
    const int n_loops = w->chain->n_loops, channel = w->loop[SX_CHAIN_CHANNEL];
    for (int i = 0; i < w->n_steps; i++) t->need[i] = sx_chain_need(w, t->m, i);
    if (w->sums && t->m == w->sums && t->m < w->chain->n_layers)
        for (int i = 0; i < w->n_steps; i++)
            t->need[i] =
                t->need[i + (w->n_slices - 1 - sx_chain_iteration(w, i, channel)) * t->w->group[channel + 1]];
    for (int d = 0; d < n_loops; d++)
        for (int i = 0; i < w->n_steps && t->keep[d] == SX_CHAIN_FULL; i++)
            for (int k = 1; k < w->count[d] && sx_chain_iteration(w, i, d) == 0; k++)
                sx_chain_box_add(&t->need[i], &t->need[i + k * t->w->group[d + 1]]);
}

/* Cuts an axis into cells where a need begins or ends. */
static void cut_axis(tensor_walk *t, int axis) {
    const int extent = t->w->extent[t->m][axis];
    int *cell_at = t->cell_at[axis], index = 0;
    for (int i = 0; i < t->w->n_steps; i++) {
        const sx_interval v = t->need[i].axis[axis];
        cell_at[v.low] = cell_at[v.high] = 1;
    }
    for (int c = 0; c <= extent; c++) {
        const bool begins = c > 0 && cell_at[c];
        if (begins) t->start[axis][++index] = c;
        cell_at[c] = index;
    }
    t->n[axis] = index + 1;
    t->start[axis][index + 1] = extent;
}

static bool make_cells(tensor_walk *t) {
    for (int a = 0; a < 2; a++) cut_axis(t, a);
    t->n[2] = sx_chain_is_sliced(t->w, t->m) ? t->w->n_slices : 1;
    const size_t n = (size_t)t->n[0] * (size_t)t->n[1] * (size_t)t->n[2];
    t->cells = malloc(n * sizeof *t->cells);
    if (t->cells) memset(t->cells, 0xff, n * sizeof *t->cells);
    return t->cells != NULL;
}

/* The cells of a box, one after the other. */
typedef struct cell_range {
    sx_interval axis[3];
} cell_range;

static cell_range cells_of(const tensor_walk *t, const sx_chain_box *box) {
    cell_range range = {{{0, 0}, {0, 0}, box->axis[2]}};
    for (int a = 0; a < 2; a++)
        range.axis[a] = (sx_interval){t->cell_at[a][box->axis[a].low], t->cell_at[a][box->axis[a].high]};
    return range;
}

static cell *cell_of(const tensor_walk *t, int y, int x, int k) {
    return &t->cells[(k * t->n[0] + y) * t->n[1] + x];
}

static uint64_t channels_of(const tensor_walk *t, int k) {
    return (uint64_t)(sx_chain_is_sliced(t->w, t->m) ? sx_chain_slice(t->w, k) : t->w->extent[t->m][2]);
}

/* The words of a cell. */
static uint64_t words_of(const tensor_walk *t, int y, int x, int k) {
    return (uint64_t)(t->start[0][y + 1] - t->start[0][y]) * (uint64_t)(t->start[1][x + 1] - t->start[1][x]) *
           channels_of(t, k);
}

#define FOR_CELLS(range, y, x, k)                                                                            \
    for (int k = (range).axis[2].low; k < (range).axis[2].high; k++)                                         \
        for (int y = (range).axis[0].low; y < (range).axis[0].high; y++)                                     \
            for (int x = (range).axis[1].low; x < (range).axis[1].high; x++)

/* Notes which cells the steps of an iteration of the d outermost loops need last; it begins with step i. */
static void note_last_needs(tensor_walk *t, int d, int i) {
    t->last_need[d] = -1;
    for (int j = i; j < i + t->w->group[d]; j++) {
        if (sx_chain_box_is_empty(&t->need[j])) continue;
        const cell_range range = cells_of(t, &t->need[j]);
        t->last_need[d] = j;
        FOR_CELLS(range, y, x, k)
        cell_of(t, y, x, k)->last[d] = j;
    }
}

/* Whether a step finds a cell that an earlier one made: the outermost loop in which the two differ decides. */
static bool is_found(const tensor_walk *t, const cell *c, int i) {
    int d = 0;
    if (c->expiry < i) return false;
    while (c->maker / t->w->group[d + 1] == i / t->w->group[d + 1]) d++;
    return t->keep[d] != SX_CHAIN_RECOMPUTE;
}

/* The last step that finds a cell made in step i. */
static int expiry_of(const tensor_walk *t, const cell *c, int i) {
    int expiry = i;
    for (int d = 0; d < t->w->chain->n_loops && !t->leaves; d++) {
        const int last = t->keep[d] == SX_CHAIN_FULL ? t->last_need[d] : c->last[d];
        if (t->keep[d] != SX_CHAIN_RECOMPUTE && last / t->w->group[d + 1] > i / t->w->group[d + 1] &&
            last > expiry)
            expiry = last;
    }
    return expiry;
}

/* What step i makes: the box of what it needs and does not find; sums are worked on as a whole. */
static cell_range missing_of(const tensor_walk *t, int i) {
    cell_range range = cells_of(t, &t->need[i]), missing = {{{0, 0}}};
    if (t->w->sums && t->m == t->w->sums) return range;
    bool some = false;
    FOR_CELLS(range, y, x, k) {
        if (is_found(t, cell_of(t, y, x, k), i)) continue;
        const int at[3] = {y, x, k};
        for (int a = 0; a < 3; a++) {
            missing.axis[a].low = some ? sx_min_int(missing.axis[a].low, at[a]) : at[a];
            missing.axis[a].high = some ? sx_max_int(missing.axis[a].high, at[a] + 1) : at[a] + 1;
        }
        some = true;
    }
    return missing;
}

/* Makes a cell in step i, and returns the words that were not on chip. */
static uint64_t make_cell(tensor_walk *t, cell *c, int i, uint64_t words) {
    const bool is_there = c->expiry >= i;
    if (c->expiry > i) {
        t->change[i] -= (int64_t)words;
        t->change[c->expiry] += (int64_t)words;
    }
    c->maker = i;
    c->expiry = expiry_of(t, c, i);
    if (c->expiry > i) {
        t->change[i] += (int64_t)words;
        t->change[c->expiry] -= (int64_t)words;
    }
    return is_there ? 0 : words;
}

static void make_box(tensor_walk *t, int i, sx_chain_words *words) {
    if (sx_chain_box_is_empty(&t->need[i])) return;
    const cell_range missing = missing_of(t, i);
    FOR_CELLS(missing, y, x, k) {
        const uint64_t each = words_of(t, y, x, k);
        words->made += each;
        words->during += make_cell(t, cell_of(t, y, x, k), i, each);
    }
    if (!words->made) return;
    sx_chain_box *made = &t->w->made[t->m][i];
    made->axis[2] = missing.axis[2];
    for (int a = 0; a < 2; a++)
        made->axis[a] = (sx_interval){t->start[a][missing.axis[a].low], t->start[a][missing.axis[a].high]};
}

static void walk_steps(tensor_walk *t) {
    uint64_t held = 0;
    for (int i = 0; i < t->w->n_steps; i++) {
        sx_chain_words *words = &t->w->words[t->m][i];
        for (int d = 0; d < t->w->chain->n_loops; d++)
            if (i % t->w->group[d] == 0) note_last_needs(t, d, i);
        *words = (sx_chain_words){.before = held, .during = held};
        t->w->made[t->m][i] = (sx_chain_box){{{0, 0}}};
        make_box(t, i, words);
        held = (uint64_t)((int64_t)held + t->change[i]);
        words->after = held;
    }
}

bool sx_chain_walk_tensor(sx_chain_walk *w, int m) {
    tensor_walk t = {.w = w, .m = m};
    choose_keeps(&t);
    bool ok = make_arrays(&t);
    if (ok) {
        find_needs(&t);
        ok = make_cells(&t);
    }
    if (ok) walk_steps(&t);
    free(t.cells);
    free(t.memory);
    return ok;
}
