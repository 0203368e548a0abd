/* Offsets of buffers: independent parts of time, restarts of the search, the fewest bytes.
 *
 * The search (packing_search.c) is restarted with other rules after numbers of nodes that follow Luby's sequence.
 * The fewest bytes are looked for from both ends: after a first allocation without a limit, the least capacity that
 * is not excluded is tried; where that takes too long, capacities between it and the best allocation, by bisection;
 * then all of it again with
 * twice the effort. A capacity at which the whole tree was searched raises the bound. */
#include "placement/addresses/allocate.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/divisor.h"
#include "base/status.h"
#include "placement/addresses/joins.h"
#include "placement/addresses/packing.h"
#include "placement/addresses/strips.h"

#include <math.h>
#include <stdlib.h>

#define FIRST_EFFORT 20    /* units of restarts for the first try at a capacity */
#define NOISE 0.3          /* of the order in which buffers are tried, once every key was used without */
#define LEAST_SECONDS 1e-9 /* of a search whose time is up */
#define MOST_BYTES (INT64_MAX / 4)

enum { UNIT_NODES = 256, RULES = 8 };
enum { JOINED_ATTEMPTS = 4, JOINED_NODES = 2000 }; /* searches with joined buffers; nodes of one */
enum { MANY = 50 }; /* buffers, from which on joins and strips are tried: fewer are packed sooner without */
enum { STRIP_ATTEMPTS = 20, STRIP_NODES = 100000 }; /* divisions into strips; decisions of all */

/* Sections that share no buffers with others. */
typedef struct part {
    uint32_t first, end;
    int64_t bound;   /* no allocation of its buffers is lower */
    int64_t height;  /* of the best one; INT64_MAX: none yet */
    int64_t stacked; /* of an allocation without any search */
    uint64_t runs;   /* of the search */
} part;

typedef struct allocator {
    const sx_allocate_options *options;
    sx_packing packing;
    sx_vector part;
    int64_t *best;    /* by buffer: its offset in the best allocation of its part */
    uint64_t unit;    /* bytes */
    int64_t live;     /* units: the most that live at a step */
    bool limited;     /* a capacity is given */
    int64_t capacity; /* units */
    double begun;
    sx_allocation *out;
} allocator;

static part *part_at(const allocator *a, size_t i) {
    return sx_vector_at(&a->part, i);
}

/* Whether the time is up or somebody wants it to end; `out->stop` says why. */
static bool search_stopped(void *user) {
    allocator *a = user;
    if (sx_is_cancelled(a->options->cancel))
        a->out->stop = SX_STOP_SIGNAL;
    else if (a->options->seconds > 0 && sx_clock_seconds() - a->begun >= a->options->seconds)
        a->out->stop = SX_STOP_TIME;
    return a->out->stop != SX_STOP_DONE;
}

/* The bytes of a number of units, which fit. */
static uint64_t in_bytes(const allocator *a, int64_t units) {
    return (uint64_t)units * a->unit;
}

/* The least height of all parts that is not excluded. */
static int64_t bound_of(const allocator *a) {
    int64_t bound = a->live;
    for (size_t i = 0; i < a->part.n; i++)
        if (part_at(a, i)->bound > bound) bound = part_at(a, i)->bound;
    return bound;
}

/* The height of the best allocation of all parts; INT64_MAX where one has none. */
static int64_t height_of(const allocator *a) {
    int64_t height = a->live;
    for (size_t i = 0; i < a->part.n; i++)
        if (part_at(a, i)->height > height) height = part_at(a, i)->height;
    return height;
}

/* Sets what is known by now. */
static void tell_progress(allocator *a) {
    int64_t height = height_of(a), bound = bound_of(a);
    sx_allocation *out = a->out;
    out->found = height != INT64_MAX && (!a->limited || height <= a->capacity);
    out->bytes = out->found ? in_bytes(a, height) : 0;
    out->bound = in_bytes(a, bound);
    out->proven = out->found ? height == bound : a->limited && bound > a->capacity;
    out->live = in_bytes(a, a->live);
    out->nodes = a->packing.nodes;
    out->seconds = sx_clock_seconds() - a->begun;
}

/* Entry i of 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ... (Luby, Sinclair, Zuckerman 1993). */
static uint64_t luby_term(uint64_t i) {
    uint64_t power = 1;
    while (i != 2 * power - 2) {
        bool inside = i < 2 * power - 2;
        if (inside) i -= power - 1;
        power = inside ? 1 : 2 * power;
    }
    return power;
}

/* The rule of run number i of a part. */
static sx_packing_rule rule_of(uint64_t i) {
    return (sx_packing_rule){.weighted = i % RULES & 1,
                             .lowest = i % RULES & 2,
                             .full = i % RULES & 4,
                             .key = (int)(i % SX_PACKING_KEYS),
                             .noise = i < SX_PACKING_KEYS ? 0 : NOISE,
                             .index = i};
}

/* Keeps the offsets that a search has found for a part. */
static void keep_offsets(allocator *a, part *p) {
    const sx_packing *x = &a->packing;
    p->height = 0;
    for (uint32_t b = 0; b < x->n; b++) {
        if (x->first[b] < p->first || x->end[b] > p->end) continue;
        a->best[b] = x->offset[b];
        if (x->offset[b] + x->size[b] > p->height) p->height = x->offset[b] + x->size[b];
    }
}

/* Searches for an allocation of a part within a capacity, by restarts with about `effort` nodes. */
static sx_packing_result attempt_part(allocator *a, part *p, int64_t capacity, uint64_t effort) {
    sx_packing *x = &a->packing;
    uint64_t most = a->options->nodes ? a->options->nodes : UINT64_MAX, begun = x->nodes;
    sx_packing_result result = SX_PACKING_STOPPED;
    while (result == SX_PACKING_STOPPED && x->nodes - begun < effort && !search_stopped(a) &&
           !x->out_of_memory) {
        sx_packing_rule rule = rule_of(p->runs);
        uint64_t limit = (UNIT_NODES + 2 * (uint64_t)x->n) * luby_term(p->runs++);
        if (x->nodes >= most) {
            a->out->stop = SX_STOP_EVALUATIONS;
            return SX_PACKING_STOPPED;
        }
        result = sx_packing_search(x, p->first, p->end, capacity, &rule,
                                   limit < most - x->nodes ? limit : most - x->nodes);
    }
    if (result == SX_PACKED) keep_offsets(a, p);
    if (result == SX_NOT_PACKABLE) p->bound = capacity + 1;
    tell_progress(a);
    if (a->options->progress) a->options->progress(a->options->user, a->out);
    return result;
}

/* Lowers the best allocation of a part by bisection between a capacity and its height. */
static void bisect_capacity(allocator *a, part *p, int64_t capacity, uint64_t effort) {
    while (capacity + 1 < p->height && p->height != INT64_MAX && a->out->stop == SX_STOP_DONE &&
           !a->packing.out_of_memory) {
        int64_t middle = capacity + (p->height - capacity) / 2;
        if (attempt_part(a, p, middle, effort) != SX_PACKED) capacity = middle;
    }
}

/* Improves the allocation of a part: to the capacity, or to the least height that is not excluded. False where
 * that was not reached. */
static bool improve_part(allocator *a, part *p, uint64_t effort) {
    sx_packing_result result = SX_NOT_PACKABLE;
    if (!a->limited && p->height == INT64_MAX) (void)attempt_part(a, p, MOST_BYTES, effort);
    while (result == SX_NOT_PACKABLE) {
        int64_t wanted = a->limited ? a->capacity : bound_of(a);
        if (p->height <= wanted) return true;
        if (p->bound > wanted) return false;
        result = attempt_part(a, p, wanted, effort);
        if (result == SX_PACKING_STOPPED && !a->limited) bisect_capacity(a, p, wanted, effort);
    }
    return result == SX_PACKED;
}

/* Improves the allocations of all parts until nothing is left to do, or the search is to end. */
static void search_addresses(allocator *a) {
    uint64_t effort = FIRST_EFFORT * (UNIT_NODES + 2 * (uint64_t)a->packing.n);
    for (bool open = true; open; effort *= 2) {
        open = false;
        for (size_t i = 0; i < a->part.n; i++) {
            if (a->limited && bound_of(a) > a->capacity) return;
            if (a->out->stop != SX_STOP_DONE || a->packing.out_of_memory) return;
            open |= !improve_part(a, part_at(a, i), effort);
        }
    }
}

/* Places the buffers that live in all of some sections with a flat floor; false where there is none. */
static bool place_spanning(sx_packing *x, const part *p) {
    bool placed = false;
    for (uint32_t i = 0; i < x->open[p->first];) {
        uint32_t b = x->list[x->begin[p->first] + i];
        bool spanning = x->first[b] == p->first && x->end[b] == p->end;
        if (spanning) sx_packing_place(x, b);
        placed |= spanning;
        i += !spanning;
    }
    return placed;
}

/* Adds the parts of some sections to a list. */
static void add_parts(const sx_packing *x, uint32_t first, uint32_t end, sx_vector *list) {
    for (uint32_t part_end; sx_packing_part(x, &first, end, &part_end); first = part_end) {
        part *p = sx_vector_add(list);
        if (p) *p = (part){.first = first, .end = part_end, .height = INT64_MAX};
    }
}

/* The most units that any section of a part has to hold. */
static int64_t load_of(const sx_packing *x, const part *p) {
    int64_t most = 0;
    for (uint32_t s = p->first; s < p->end; s++) {
        if (x->open[s] == 0) continue;
        int64_t load = x->low[x->list[x->begin[s]]] + x->load[s];
        if (load > most) most = load;
    }
    return most;
}

/* Gives open buffers offsets without a search: each above those before it that live with it. */
static sx_status stack_buffers(allocator *a) {
    const sx_packing *x = &a->packing;
    int64_t *top = calloc(x->n_sections + 1, sizeof *top);
    if (!top) return sx_error_memory();
    for (uint32_t b = 0; b < x->n; b++) {
        if (x->place[x->slot[b]] >= x->open[x->first[b]]) continue;
        a->best[b] = x->low[b];
        for (uint32_t s = x->first[b]; s < x->end[b]; s++)
            if (top[s] > a->best[b]) a->best[b] = top[s];
        for (uint32_t s = x->first[b]; s < x->end[b]; s++) top[s] = a->best[b] + x->size[b];
    }
    for (size_t i = 0; i < a->part.n; i++) {
        part *p = part_at(a, i);
        for (uint32_t s = p->first; s < p->end; s++)
            if (top[s] > p->stacked) p->stacked = top[s];
    }
    free(top);
    return SX_OK;
}

/* Takes the stacked buffers where the search had no time for any other allocation. */
static void take_stacked(allocator *a) {
    for (size_t i = 0; i < a->part.n; i++) {
        part *p = part_at(a, i);
        if (p->height == INT64_MAX) p->height = p->stacked;
    }
}

/* Divides time into independent parts, with buffers that live in all of one at the floor. */
static sx_status divide_buffers(allocator *a) {
    sx_packing *x = &a->packing;
    sx_vector waiting = {.size = sizeof(part)};
    for (size_t s = 0; s < x->n_sections; s++)
        if (x->load[s] > a->live) a->live = x->load[s];
    add_parts(x, 0, (uint32_t)x->n_sections, &waiting);
    while (waiting.n > 0) {
        part p = *(part *)sx_vector_at(&waiting, --waiting.n);
        if (place_spanning(x, &p)) {
            add_parts(x, p.first, p.end, &waiting);
            continue;
        }
        part *final = sx_vector_add(&a->part);
        p.bound = load_of(x, &p);
        if (final) *final = p;
    }
    for (size_t b = 0; b < x->n; b++) a->best[b] = x->offset[b];
    bool failed = waiting.failed || a->part.failed || x->out_of_memory;
    sx_vector_clear(&waiting);
    return failed ? sx_error_memory() : SX_OK;
}

/* Refuses lives that end before they begin, and sizes whose sum is too large; sets the unit of offsets. */
static sx_status check_buffers(const sx_buffer *buffer, size_t n, uint64_t align, uint64_t *unit) {
    uint64_t sum = 0, common = 0;
    if (n > SX_MAX_BUFFERS) return sx_error_new(SX_ERR_LIMIT, "more than %d buffers", SX_MAX_BUFFERS);
    if (align > MOST_BYTES) return sx_error_new(SX_ERR_LIMIT, "the alignment is too large");
    for (size_t i = 0; i < n; i++) {
        if (buffer[i].lower >= buffer[i].upper)
            return sx_error_new(SX_ERR_INPUT, "buffer %zu ends before it begins", i);
        uint64_t size = buffer[i].size;
        if (size > MOST_BYTES || sum > MOST_BYTES)
            return sx_error_new(SX_ERR_LIMIT, "the buffers are too large: their sizes overflow");
        size = (size + align - 1) / align * align;
        sum += size;
        common = sx_divisor_common(size, common);
    }
    *unit = common ? common : align;
    return sum <= MOST_BYTES ? SX_OK
                             : sx_error_new(SX_ERR_LIMIT, "the buffers are too large: their sizes overflow");
}

/* Makes the packing of the buffers that have a size, and searches. */
static sx_status allocate_buffers(allocator *a, const sx_buffer *buffer, size_t n) {
    SX_TRY(sx_packing_init(buffer, n, a->unit, &a->packing));
    a->packing.stopped = search_stopped;
    a->packing.user = a;
    a->best = calloc(n + 1, sizeof *a->best);
    if (!a->best) return sx_error_memory();
    SX_TRY(divide_buffers(a));
    if (!a->limited) SX_TRY(stack_buffers(a));
    search_addresses(a);
    if (!a->limited) take_stacked(a);
    tell_progress(a);
    return a->packing.out_of_memory ? sx_error_memory() : SX_OK;
}

/* Searches for the offsets of buffers that have a size, in units. */
static sx_status search_units(sx_buffer *buffer, size_t n, const sx_allocate_options *options, uint64_t unit,
                              sx_allocation *out) {
    allocator a = {
        .options = options, .part = {.size = sizeof(part)}, .unit = unit, .begun = sx_clock_seconds()};
    sx_allocation found = {.stop = SX_STOP_DONE};
    a.limited = options->capacity > 0;
    a.capacity = (int64_t)(options->capacity / unit < MOST_BYTES ? options->capacity / unit : MOST_BYTES);
    a.out = &found;
    sx_status status = allocate_buffers(&a, buffer, n);
    for (size_t i = 0; !status && found.found && i < n; i++) buffer[i].offset = in_bytes(&a, a.best[i]);
    if (!status) *out = found;
    sx_packing_fini(&a.packing);
    sx_vector_clear(&a.part);
    free(a.best);
    return status;
}

/* Searches for offsets of joined buffers, by attempts of few nodes each, and sets those of the buffers where some
 * are found. */
static sx_status search_joined(sx_joins *joins, const sx_allocate_options *options, sx_buffer *left,
                               sx_buffer *buffer, sx_allocation *out) {
    sx_allocate_options few = *options;
    uint64_t nodes = 0;
    few.progress = NULL;
    few.nodes = JOINED_NODES;
    few.align = 1;
    for (uint64_t i = 0; i < JOINED_ATTEMPTS && (!options->nodes || nodes < options->nodes); i++) {
        size_t m = sx_joins_make(joins, i, left);
        SX_TRY(search_units(left, m, &few, 1, out));
        nodes += out->nodes;
        if (out->found) sx_joins_expand(joins, left, buffer);
        if (out->found || out->stop == SX_STOP_SIGNAL || out->stop == SX_STOP_TIME) break;
    }
    out->nodes = nodes;
    return SX_OK;
}

/* The general search as the packer of strips. */
typedef struct strip_packer {
    const sx_allocate_options *options;
    double begun;
    uint64_t nodes;
    sx_allocation *out;
    sx_status status;
} strip_packer;

/* Packs a strip with few nodes. */
static bool pack_strip(void *user, sx_buffer *buffer, size_t n, uint64_t height) {
    strip_packer *p = user;
    sx_allocate_options few = *p->options;
    few.progress = NULL;
    few.capacity = height;
    few.nodes = JOINED_NODES;
    p->status = search_units(buffer, n, &few, 1, p->out);
    p->nodes += p->out->nodes;
    return !p->status && p->out->found;
}

/* Whether the division into strips must end. */
static bool strips_stopped(void *user) {
    const strip_packer *p = user;
    bool late = p->options->seconds > 0 && sx_clock_seconds() - p->begun >= p->options->seconds;
    return p->status || late || sx_is_cancelled(p->options->cancel) ||
           (p->options->nodes && p->nodes >= p->options->nodes);
}

/* Searches for offsets of buffers that fill the capacity at every step, by division into strips. */
static sx_status search_strips(sx_buffer *buffer, size_t n, const sx_allocate_options *options,
                               sx_allocation *out) {
    const uint64_t most = options->nodes && options->nodes < STRIP_NODES ? options->nodes : STRIP_NODES;
    uint64_t left = most;
    strip_packer packer = {.options = options, .begun = sx_clock_seconds(), .out = out};
    const sx_strips_packer call = {pack_strip, strips_stopped, &packer};
    bool found = false;
    for (uint64_t i = 0; i < STRIP_ATTEMPTS && left > 0 && !found && !strips_stopped(&packer); i++) {
        sx_status status = sx_strips_divide(buffer, n, options->capacity, i, &call, &left, &found);
        if (status || packer.status) return status ? status : packer.status;
    }
    *out = (sx_allocation){.found = found, .nodes = packer.nodes + most - left, .stop = SX_STOP_DONE};
    if (found) {
        out->proven = true;
        out->bytes = out->bound = out->live = options->capacity;
        out->seconds = sx_clock_seconds() - packer.begun;
    }
    return SX_OK;
}

/* Tries joins, then strips, where the buffers fill the memory, or the least one that holds what lives at once. */
static sx_status try_joins(sx_buffer *buffer, size_t n, const sx_allocate_options *options, uint64_t unit,
                           sx_allocation *out) {
    sx_buffer *scaled = calloc(2 * n + 1, sizeof *scaled);
    sx_joins *joins = NULL;
    sx_allocate_options within = *options;
    if (!scaled) return sx_error_memory();
    for (size_t i = 0; i < n; i++) {
        scaled[i] = buffer[i];
        scaled[i].size = (buffer[i].size + unit - 1) / unit;
    }
    sx_status status = sx_joins_new(scaled, n, &joins);
    if (!status) {
        within.capacity = options->capacity / unit;
        if (!options->capacity) status = sx_joins_live(joins, &within.capacity);
        if (!status && within.capacity > 0 && sx_joins_suit(joins, within.capacity))
            status = search_joined(joins, &within, scaled + n, scaled, out);
        if (!status && !out->found && within.capacity > 0) status = search_strips(scaled, n, &within, out);
    }
    for (size_t i = 0; !status && out->found && i < n; i++) buffer[i].offset = scaled[i].offset * unit;
    sx_joins_free(joins);
    free(scaled);
    return status;
}

/* The figures of an allocation in units as bytes. */
static void scale_figures(sx_allocation *found, uint64_t unit) {
    found->bytes *= unit;
    found->bound *= unit;
    found->live *= unit;
}

sx_status sx_allocate(sx_buffer *buffer, size_t n, const sx_allocate_options *options, sx_allocation *out) {
    sx_allocation found = {.stop = SX_STOP_DONE};
    uint64_t align = options->align ? options->align : 1, unit;
    size_t n_sized = 0;
    SX_TRY(check_buffers(buffer, n, align, &unit));
    sx_buffer *sized = calloc(n + 1, sizeof *sized);
    if (!sized) return sx_error_memory();
    for (size_t i = 0; i < n; i++)
        if (buffer[i].size) sized[n_sized++] = buffer[i];
    double begun = sx_clock_seconds();
    sx_allocate_options rest = *options;
    sx_status status = n_sized < MANY ? SX_OK : try_joins(sized, n_sized, options, unit, &found);
    if (rest.seconds > 0) rest.seconds = fmax(rest.seconds - (sx_clock_seconds() - begun), LEAST_SECONDS);
    if (!status && found.found)
        scale_figures(&found, unit);
    else if (!status)
        status = search_units(sized, n_sized, &rest, unit, &found);
    for (size_t i = 0, k = 0; !status && found.found && i < n; i++)
        buffer[i].offset = buffer[i].size ? sized[k++].offset : 0;
    if (!status) *out = found;
    free(sized);
    return status;
}
