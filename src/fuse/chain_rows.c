#include "fuse/chain_walk.h"

#include <stdlib.h>
#include <string.h>

/* A tensor along the row loop, in rows. */
typedef struct row_walk {
    sx_interval *made;
    int *before, *during, *after;
} row_walk;

/* All that the walk of rows allocates: needs and walks of one column of memory. */
typedef struct row_walks {
    sx_chain_walk *w;
    int n;
    row_walk tensor[SX_MAX_CHAIN + 1]; /* of tensors from 1 on */
    row_walk early, late;              /* of the input, in a slice before the last and in the last one */
    sx_interval *early_need, *late_need;
    bool gap; /* rows that are held are no interval */
    int *highest,
        *lowest; /* rows that a step or a later one needs: below the first, from the second on (-1: none) */
    void *memory;
} row_walks;

/* Cuts the walks out of one piece of memory. */
static bool make_walks(row_walks *r, sx_chain_walk *w) {
    const size_t n = (size_t)w->n_rows, walks = SX_MAX_CHAIN + 3;
    *r = (row_walks){.w = w, .n = w->n_rows};
    r->memory = calloc(walks * n * (sizeof(sx_interval) + 3 * sizeof(int)) + 2 * n * sizeof(sx_interval) +
                           2 * (n + 1) * sizeof(int),
                       1);
    if (!r->memory) return false;
    sx_interval *interval = r->memory;
    int *number = (int *)(interval + (walks + 2) * n);
    row_walk *walk[SX_MAX_CHAIN + 3];
    for (int m = 0; m <= SX_MAX_CHAIN; m++) walk[m] = &r->tensor[m];
    walk[SX_MAX_CHAIN + 1] = &r->early;
    walk[SX_MAX_CHAIN + 2] = &r->late;
    for (size_t i = 0; i < walks; i++) {
        *walk[i] = (row_walk){interval, number, number + n, number + 2 * n};
        interval += n;
        number += 3 * n;
    }
    r->early_need = interval;
    r->late_need = interval + n;
    r->highest = number;
    r->lowest = number + n + 1;
    return true;
}

/* Finds, for each step, the rows that it or a later one needs. */
static void look_ahead(row_walks *r, const sx_interval *need) {
    r->highest[r->n] = 0;
    r->lowest[r->n] = -1;
    for (int i = r->n; i-- > 0;) {
        const bool some = sx_interval_length(need[i]) > 0;
        r->highest[i] = sx_max_int(r->highest[i + 1], some ? need[i].high : 0);
        r->lowest[i] = !some                  ? r->lowest[i + 1]
                       : r->lowest[i + 1] < 0 ? need[i].low
                                              : sx_min_int(r->lowest[i + 1], need[i].low);
    }
}

/* Whether steps from i on need every row from `low` to below `high`. */
static bool needs_all(const row_walks *r, const sx_interval *need, int i, int low, int high) {
    for (; i < r->n && low < high; i++) {
        if (!sx_interval_length(need[i])) continue;
        if (need[i].low > low) return false;
        low = sx_max_int(low, need[i].high);
    }
    return low >= high;
}

/* Rows made and held in each step, where step i needs need[i]; r->gap is set where those held are no interval. */
static void walk_needs(row_walks *r, sx_interval *need, sx_chain_keep keep, row_walk *out) {
    int reach = 0, held = 0;
    if (keep == SX_CHAIN_FULL)
        for (int i = 1; i < r->n; i++) need[0] = sx_interval_hull(need[0], need[i]);
    look_ahead(r, need);
    for (int i = 0; i < r->n; i++) {
        sx_interval made = need[i];
        if (keep == SX_CHAIN_FULL && i) made = (sx_interval){0, 0};
        if (keep == SX_CHAIN_RETAIN) made.low = sx_max_int(made.low, reach);
        const int rows = sx_interval_length(made), later = r->lowest[i + 1];
        if (!rows) made = (sx_interval){0, 0};
        out->made[i] = made;
        out->before[i] = held;
        out->during[i] = held + rows;
        reach = sx_max_int(reach, made.high);
        if (keep == SX_CHAIN_FULL)
            held = later < 0 ? 0 : held + rows;
        else if (keep == SX_CHAIN_RECOMPUTE)
            held = 0;
        else
            held = later < 0 ? 0 : sx_max_int(0, sx_min_int(reach, r->highest[i + 1]) - later);
        r->gap |= keep == SX_CHAIN_RETAIN && held && !needs_all(r, need, i + 1, later, later + held);
        out->after[i] = held;
    }
}

/* What tensor m is asked for in each row step; in a slice before the last only layers up to the sums run. */
static void find_needs(const row_walks *r, int m, bool last_slice, sx_interval *need) {
    const sx_chain_walk *w = r->w;
    const int n = w->chain->n_layers, tile = w->row >= 0 ? w->chain->loop[w->row].tile : w->extent[n][0];
    for (int i = 0; i < r->n; i++) {
        need[i] = (sx_interval){0, 0};
        if (m == n) need[i] = (sx_interval){i * tile, sx_min_int(w->extent[n][0], (i + 1) * tile)};
        for (int u = m + 1; u <= n; u++)
            if (sx_chain_uses(w, u, m) && (last_slice || u <= w->sums))
                need[i] = sx_interval_hull(need[i], sx_chain_footprint(w, u, m, 0, r->tensor[u].made[i]));
    }
}

static bool has_gap(const row_walks *r, const sx_interval *need) {
    for (int i = 0; i + 1 < r->n; i++)
        if (sx_interval_length(need[i]) && sx_interval_length(need[i + 1]) && need[i + 1].low > need[i].high)
            return true;
    return false;
}

/* The step of a row step and a slice. */
static sx_chain_words *words_of(const row_walks *r, int m, int i, int k) {
    const sx_chain_walk *w = r->w;
    const bool outside = w->channel >= 0 && w->channel < w->row;
    return &w->words[m][w->channel < 0 || w->row < 0 ? (w->channel < 0 ? i : k)
                        : outside                    ? k * r->n + i
                                                     : i * w->n_slices + k];
}

/* Words of rows of a tensor, of all its channels or of some. */
static sx_chain_words in_words(const row_walk *walk, int i, uint64_t row) {
    return (sx_chain_words){(uint64_t)sx_interval_length(walk->made[i]) * row,
                            (uint64_t)walk->before[i] * row, (uint64_t)walk->during[i] * row,
                            (uint64_t)walk->after[i] * row};
}

/* Tensors that the channel loop does not cut. */
static void fill_plain(row_walks *r, int m, const row_walk *walk) {
    const sx_chain_walk *w = r->w;
    for (int i = 0; i < r->n; i++) {
        *words_of(r, m, i, 0) = in_words(walk, i, (uint64_t)(w->width[m] * w->channels[m]));
        if (m == w->chain->n_layers) words_of(r, m, i, 0)->after = 0;
    }
}

/* Tensors that the channel loop cuts: with it inside the rows, lines of all slices are kept between row steps. */
static void fill_sliced(row_walks *r, int m) {
    const sx_chain_walk *w = r->w;
    const row_walk *walk = &r->tensor[m];
    const bool outside = w->row < 0 || w->channel < w->row;
    for (int i = 0; i < r->n; i++)
        for (int k = 0, done = 0; k < w->n_slices; done += sx_chain_slice(w, k++)) {
            const uint64_t width = (uint64_t)w->width[m], slice = width * (uint64_t)sx_chain_slice(w, k);
            sx_chain_words *words = words_of(r, m, i, k);
            *words = in_words(walk, i, slice);
            if (outside) continue;
            const uint64_t others =
                (uint64_t)walk->after[i] * width * (uint64_t)done +
                (uint64_t)walk->before[i] * (width * (uint64_t)(w->channels[m] - done) - slice);
            words->before += others;
            words->during += others;
            words->after += others;
        }
}

/* The tensor that the channel loop adds up. */
static void fill_sums(row_walks *r, int m) {
    const sx_chain_walk *w = r->w;
    const uint64_t row = (uint64_t)(w->width[m] * w->channels[m]);
    const bool outside = w->row < 0 || w->channel < w->row,
               spills = w->chain->spills && m == w->chain->n_layers;
    const int last = w->n_slices - 1;
    uint64_t all = 0, done = 0;
    for (int i = 0; i < r->n; i++) all += (uint64_t)sx_interval_length(r->tensor[m].made[i]) * row;
    for (int i = 0; i < r->n; i++) {
        const uint64_t made = (uint64_t)sx_interval_length(r->tensor[m].made[i]) * row;
        for (int k = 0; k <= last; k++) {
            uint64_t before = k ? made : 0, during = made, after = k < last ? made : 0;
            if (outside) {
                before = last == 0 ? 0 : k == 0 ? done : k < last ? all : all - done;
                during = before + (k == 0 ? made : 0);
                after = k < last ? during : during - made;
            }
            if (spills) before = after = 0, during = made;
            *words_of(r, m, i, k) = (sx_chain_words){made, before, during, after};
        }
        done += made;
    }
}

/* Tensors after the sums are made in the last slice alone, and used at once. */
static void fill_late(row_walks *r, int m) {
    const sx_chain_walk *w = r->w;
    for (int i = 0; i < r->n; i++) {
        const uint64_t made =
            (uint64_t)(sx_interval_length(r->tensor[m].made[i]) * w->width[m] * w->channels[m]);
        *words_of(r, m, i, w->n_slices - 1) = (sx_chain_words){made, 0, made, 0};
    }
}

/* The input with the channel loop outside of the rows and kept over it: it grows to the whole, and goes in the last
 * slice. */
static sx_chain_verdict fill_kept_input(row_walks *r, uint64_t row) {
    const sx_interval *late = r->late_need;
    const int last = r->w->n_slices - 1;
    int low = -1, high = 0;
    if (has_gap(r, r->early_need) || has_gap(r, late)) return SX_CHAIN_NOT_COVERED;
    walk_needs(r, r->early_need, SX_CHAIN_RETAIN, &r->early);
    for (int i = 0; i < r->n; i++) {
        if (!sx_interval_length(r->early_need[i])) continue;
        if (low < 0) low = r->early_need[i].low;
        high = sx_max_int(high, r->early_need[i].high);
    }
    look_ahead(r, late);
    if (r->highest[0] - r->lowest[0] != high - low || r->lowest[0] < low || r->highest[0] > high)
        return SX_CHAIN_NOT_COVERED;
    for (int i = 0, reach = low; i < r->n; i++) {
        const int rows = sx_interval_length(r->early.made[i]), before = reach - low;
        reach = sx_max_int(reach, rows ? r->early.made[i].high : reach);
        for (int k = 0; k <= last; k++) {
            const int left = r->lowest[i] < 0 ? 0 : r->highest[i] - r->lowest[i];
            const int next = r->lowest[i + 1] < 0 ? 0 : r->highest[i + 1] - r->lowest[i + 1];
            const int kept = k == 0 ? reach - low : k < last ? high - low : left;
            *words_of(r, 0, i, k) =
                (sx_chain_words){k == 0 ? (uint64_t)rows * row : 0, (uint64_t)(k == 0 ? before : kept) * row,
                                 (uint64_t)kept * row, (uint64_t)(k == last ? next : kept) * row};
        }
    }
    return SX_CHAIN_OK;
}

/* The input with the channel loop inside the rows: its tile stays over the slices, or each slice reads it. */
static sx_chain_verdict fill_inner_input(row_walks *r, uint64_t row) {
    const sx_chain_walk *w = r->w;
    const sx_chain_keep by_row = w->chain->keep[0][w->row], by_slice = w->chain->keep[0][w->channel];
    const int last = w->n_slices - 1;
    if (by_slice == SX_CHAIN_FULL || by_row == SX_CHAIN_FULL ||
        (by_slice == SX_CHAIN_RECOMPUTE && by_row != SX_CHAIN_RECOMPUTE))
        return SX_CHAIN_NOT_COVERED;
    for (int i = 0; i < r->n; i++) /* the addition must ask for nothing that the first layer does not */
        if (by_slice == SX_CHAIN_RETAIN &&
            (r->early_need[i].low != r->late_need[i].low || r->early_need[i].high != r->late_need[i].high))
            return SX_CHAIN_NOT_COVERED;
    walk_needs(r, r->late_need, by_row, &r->late);
    for (int i = 0; i < r->n; i++)
        for (int k = 0; k <= last; k++) {
            const uint64_t need =
                (uint64_t)sx_interval_length(k == last ? r->late_need[i] : r->early_need[i]) * row;
            sx_chain_words *words = words_of(r, 0, i, k);
            *words = (sx_chain_words){need, 0, need, 0};
            if (by_slice == SX_CHAIN_RECOMPUTE) continue;
            *words = in_words(&r->late, i, row);
            if (k) words->made = 0, words->before = words->during;
            if (k < last) words->after = words->during;
        }
    return SX_CHAIN_OK;
}

static sx_chain_verdict fill_input(row_walks *r) {
    const sx_chain_walk *w = r->w;
    const uint64_t row = (uint64_t)(w->width[0] * w->channels[0]);
    const sx_chain_keep by_row = w->row < 0 ? SX_CHAIN_RETAIN : w->chain->keep[0][w->row];
    find_needs(r, 0, false, r->early_need);
    find_needs(r, 0, true, r->late_need);
    if (w->channel < 0) {
        walk_needs(r, r->late_need, by_row, &r->late);
        fill_plain(r, 0, &r->late);
        return SX_CHAIN_OK;
    }
    if (w->row >= 0 && w->row < w->channel) return fill_inner_input(r, row);
    const sx_chain_keep by_slice = w->chain->keep[0][w->channel];
    if (by_slice == SX_CHAIN_RETAIN && w->n_slices > 1)
        return by_row == SX_CHAIN_RETAIN ? fill_kept_input(r, row) : SX_CHAIN_NOT_COVERED;
    if (by_slice == SX_CHAIN_FULL) return SX_CHAIN_NOT_COVERED;
    walk_needs(r, r->early_need, by_row, &r->early);
    walk_needs(r, r->late_need, by_row, &r->late);
    for (int i = 0; i < r->n; i++)
        for (int k = 0; k < w->n_slices; k++)
            *words_of(r, 0, i, k) = in_words(k == w->n_slices - 1 ? &r->late : &r->early, i, row);
    return SX_CHAIN_OK;
}

/* Rows of tensors from the last to the first; those of the sums stay as long as their rows are asked for. */
static void walk_tensors(row_walks *r) {
    const sx_chain_walk *w = r->w;
    for (int m = w->chain->n_layers; m >= 1; m--) {
        const bool kept = m == w->chain->n_layers || m == w->sums || w->row < 0;
        find_needs(r, m, true, r->late_need);
        walk_needs(r, r->late_need, kept ? SX_CHAIN_RETAIN : w->chain->keep[m][w->row], &r->tensor[m]);
        if (w->channel < 0)
            fill_plain(r, m, &r->tensor[m]);
        else if (m == w->sums)
            fill_sums(r, m);
        else if (m > w->sums)
            fill_late(r, m);
        else
            fill_sliced(r, m);
    }
}

/* With a channel loop, what follows the sums is not made at once for all rows; nor is what the loop cuts, where it is inside
 * the row loop. */
static bool is_covered(const sx_chain_walk *w) {
    if (!w->sums || w->row < 0) return true;
    for (int m = w->row < w->channel ? 1 : w->sums; m < w->chain->n_layers; m++)
        if (w->chain->keep[m][w->row] == SX_CHAIN_FULL) return false;
    return true;
}

sx_chain_verdict sx_chain_walk_rows(sx_chain_walk *w) {
    row_walks r;
    if (!is_covered(w)) return SX_CHAIN_NOT_COVERED;
    if (!make_walks(&r, w)) return SX_CHAIN_NO_MEMORY;
    walk_tensors(&r);
    const sx_chain_verdict verdict = fill_input(&r);
    free(r.memory);
    return verdict || !r.gap ? verdict : SX_CHAIN_NOT_COVERED;
}
