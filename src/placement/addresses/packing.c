/* The sections of a packing, and which buffers are open there. */
#include "placement/addresses/packing.h"

#include "base/status.h"
#include "placement/addresses/packing_search.h"

#include <stdlib.h>

/* Entries of all lists: 8 bytes each. */
#define MOST_ENTRIES ((size_t)1 << 28)

static int compare_steps(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The index of a step in the sorted steps at which sections begin. */
static uint32_t find_step(const uint64_t *step, size_t n, uint64_t wanted) {
    return (uint32_t)((const uint64_t *)bsearch(&wanted, step, n, sizeof *step, compare_steps) - step);
}

/* Sets the sections in which buffers live, and returns how many sections there are. */
static sx_status set_sections(const sx_buffer *buffer, sx_packing *x) {
    size_t n = 0;
    uint64_t *step = malloc((2 * x->n + 1) * sizeof *step);
    if (!step) return sx_error_memory();
    for (size_t b = 0; b < x->n; b++) {
        step[2 * b] = buffer[b].lower;
        step[2 * b + 1] = buffer[b].upper;
    }
    qsort(step, 2 * x->n, sizeof *step, compare_steps);
    for (size_t i = 0; i < 2 * x->n; i++)
        if (n == 0 || step[n - 1] != step[i]) step[n++] = step[i];
    for (size_t b = 0; b < x->n; b++) {
        x->first[b] = find_step(step, n, buffer[b].lower);
        x->end[b] = find_step(step, n, buffer[b].upper);
    }
    x->n_sections = n ? n - 1 : 0;
    free(step);
    return SX_OK;
}

/* Enters all buffers into the lists of their sections. */
static void fill_lists(sx_packing *x) {
    for (uint32_t b = 0; b < x->n; b++)
        for (uint32_t s = x->first[b]; s < x->end[b]; s++) {
            x->place[x->slot[b] + s - x->first[b]] = x->open[s];
            x->list[x->begin[s] + x->open[s]++] = b;
            x->load[s] += x->size[b];
            x->crossing[s] += s + 1 < x->end[b];
        }
}

/* Allocates and fills the lists of all sections. */
static sx_status make_lists(sx_packing *x) {
    size_t entries = 0, sections = x->n_sections + 1;
    for (size_t b = 0; b < x->n; b++) {
        x->slot[b] = entries;
        entries += x->end[b] - x->first[b];
        if (entries > MOST_ENTRIES)
            return sx_error_hint(sx_error_new(SX_ERR_LIMIT, "too many buffers live at the same time"),
                                 "buffers times the sections of time that they live in must not exceed %zu",
                                 MOST_ENTRIES);
    }
    x->place = calloc(entries + 1, sizeof *x->place);
    x->list = calloc(entries + 1, sizeof *x->list);
    x->begin = calloc(sections, sizeof *x->begin);
    x->open = calloc(sections, sizeof *x->open);
    x->crossing = calloc(sections, sizeof *x->crossing);
    x->load = calloc(sections, sizeof *x->load);
    x->weight = calloc(sections, sizeof *x->weight);
    x->view = calloc(sections, sizeof *x->view);
    x->failed = calloc(SX_PACKING_FAILURES, sizeof *x->failed);
    if (!x->place || !x->list || !x->begin || !x->open || !x->crossing || !x->load || !x->weight ||
        !x->view || !x->failed)
        return sx_error_memory();
    for (size_t b = 0; b < x->n; b++)
        for (uint32_t s = x->first[b]; s < x->end[b]; s++) x->begin[s + 1]++;
    for (size_t s = 1; s < sections; s++) x->begin[s] += x->begin[s - 1];
    fill_lists(x);
    return SX_OK;
}

/* Finds buffers that are alike. */
static void set_kinds(sx_packing *x) {
    for (uint32_t b = 0; b < x->n; b++) {
        const uint32_t *list = x->list + x->begin[x->first[b]];
        x->kind[b] = b;
        for (uint32_t i = 0; list[i] != b && x->kind[b] == b; i++)
            if (x->first[list[i]] == x->first[b] && x->end[list[i]] == x->end[b] &&
                x->size[list[i]] == x->size[b])
                x->kind[b] = list[i];
    }
}

sx_status sx_packing_init(const sx_buffer *buffer, size_t n, uint64_t unit, sx_packing *out) {
    *out = (sx_packing){.n = n};
    out->trail.size = sizeof(sx_packing_change);
    out->frame.size = sizeof(sx_packing_frame);
    out->option.size = sizeof(uint32_t);
    out->first = calloc(n + 1, sizeof *out->first);
    out->end = calloc(n + 1, sizeof *out->end);
    out->size = calloc(n + 1, sizeof *out->size);
    out->offset = calloc(n + 1, sizeof *out->offset);
    out->low = calloc(n + 1, sizeof *out->low);
    out->kind = calloc(n + 1, sizeof *out->kind);
    out->rank = calloc(n + 1, sizeof *out->rank);
    out->slot = calloc(n + 1, sizeof *out->slot);
    if (!out->first || !out->end || !out->size || !out->offset || !out->low || !out->kind || !out->rank ||
        !out->slot)
        return sx_error_memory();
    for (size_t b = 0; b < n; b++) out->size[b] = (int64_t)((buffer[b].size + unit - 1) / unit);
    SX_TRY(set_sections(buffer, out));
    SX_TRY(make_lists(out));
    set_kinds(out);
    return SX_OK;
}

void sx_packing_fini(sx_packing *x) {
    free(x->first);
    free(x->end);
    free(x->size);
    free(x->offset);
    free(x->low);
    free(x->kind);
    free(x->rank);
    free(x->slot);
    free(x->place);
    free(x->list);
    free(x->begin);
    free(x->open);
    free(x->crossing);
    free(x->load);
    free(x->weight);
    free(x->view);
    free(x->failed);
    sx_vector_clear(&x->trail);
    sx_vector_clear(&x->frame);
    sx_vector_clear(&x->option);
}

/* Removes an open buffer from the lists of its sections: it changes places with the last open one. */
static void close_buffer(sx_packing *x, uint32_t b) {
    uint32_t *place = x->place + x->slot[b];
    for (uint32_t s = x->first[b]; s < x->end[b]; s++, place++) {
        uint32_t *list = x->list + x->begin[s], last = --x->open[s], other = list[last];
        list[*place] = other;
        list[last] = b;
        x->place[x->slot[other] + s - x->first[other]] = *place;
        *place = last;
        x->load[s] -= x->size[b];
        x->crossing[s] -= s + 1 < x->end[b];
    }
}

/* Undoes close_buffer, in the reverse order of calls. */
static void reopen_buffer(sx_packing *x, uint32_t b) {
    for (uint32_t s = x->first[b]; s < x->end[b]; s++) {
        x->open[s]++;
        x->load[s] += x->size[b];
        x->crossing[s] += s + 1 < x->end[b];
    }
}

/* Notes a change, to be undone; where memory is out, nothing more is found. */
static void note_buffer(sx_packing *x, uint32_t buffer, bool placed, int64_t low) {
    sx_packing_change *change = sx_vector_add(&x->trail);
    if (change) *change = (sx_packing_change){low, buffer, placed};
    x->out_of_memory |= change == NULL;
}

void sx_packing_raise(sx_packing *x, uint32_t section, int64_t floor) {
    const uint32_t *list = x->list + x->begin[section];
    for (uint32_t i = 0; i < x->open[section]; i++)
        if (x->low[list[i]] < floor) {
            note_buffer(x, list[i], false, x->low[list[i]]);
            x->low[list[i]] = floor;
        }
}

void sx_packing_place(sx_packing *x, uint32_t b) {
    x->offset[b] = x->low[b];
    close_buffer(x, b);
    note_buffer(x, b, true, 0);
    for (uint32_t s = x->first[b]; s < x->end[b]; s++) sx_packing_raise(x, s, x->low[b] + x->size[b]);
}

void sx_packing_undo(sx_packing *x, size_t mark) {
    while (x->trail.n > mark) {
        const sx_packing_change *change = sx_vector_at(&x->trail, --x->trail.n);
        if (change->placed)
            reopen_buffer(x, change->buffer);
        else
            x->low[change->buffer] = change->low;
    }
}

bool sx_packing_part(const sx_packing *x, uint32_t *first, uint32_t end, uint32_t *part_end) {
    while (*first < end && x->open[*first] == 0) ++*first;
    if (*first == end) return false;
    for (*part_end = *first + 1; x->crossing[*part_end - 1] > 0;) ++*part_end;
    return true;
}
