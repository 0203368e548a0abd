/* A depth-first search for offsets below a capacity.
 *
 * Source: Sextant. From MiniMalloc (Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated
 * Machine Learning", ASPLOS 2023) are the sections, the split into independent parts, and the test of a section's
 * floor and load against the capacity. Different from it:
 *
 * - It branches over what lies at the floor of one section: one of the buffers that can be there, or a gap. Every
 *   allocation in which nothing can be moved down is reached in exactly one way. Where a section has no room for a
 *   gap there are few options or one, and the section with the fewest is branched over first.
 * - Nodes that have no solution are remembered by their open buffers and lowest offsets, as hashes of 128 bits,
 *   over all searches.
 * - A buffer that lives in all sections of a part with a flat floor lies at the floor.
 *
 * A section may be branched over where no open buffer fits below those at its floor: then what lies at the floor
 * has its final offset. This holds for the section with the lowest floor.
 *
 * Complexity: a node takes time proportional to the open buffers times the sections in which they live; there is
 * no limit to their number but that of the caller. */
#include "placement/addresses/packing_search.h"
#include "base/hash.h"

#include "sextant/rng.h"

#include <assert.h>
#include <stdlib.h>

enum { CHECK_NODES = 256 }; /* between two looks at the clock */

#define PENALTY 2.0 /* options that a possible gap counts for, more than one, under the rule `full` */

/* Views a section; false where its buffers do not fit. */
static bool view_section(sx_packing *x, uint32_t s, uint64_t hash[2]) {
    const uint32_t *list = x->list + x->begin[s];
    sx_packing_section view = {INT64_MAX, INT64_MAX, INT64_MAX, 0};
    for (uint32_t i = 0; i < x->open[s]; i++) {
        uint32_t b = list[i];
        int64_t low = x->low[b], top = low + x->size[b];
        if (low < view.floor) {
            view.next = view.floor;
            view.floor = low;
            view.options = 1;
        } else if (low == view.floor)
            view.options++;
        else if (low < view.next)
            view.next = low;
        if (top < view.top) view.top = top;
        if (x->first[b] != s) continue;
        uint64_t key = sx_hash_mix(x->kind[b], (uint64_t)low);
        hash[0] += key;
        hash[1] += sx_hash_mix(key, x->kind[b]);
    }
    x->view[s] = view;
    return x->open[s] == 0 || view.floor + x->load[s] <= x->capacity;
}

/* Views the sections of a node; false where it has no solution for certain. */
static bool view_sections(sx_packing *x, sx_packing_frame *f) {
    f->hash[0] = sx_hash_mix(sx_hash_mix(f->first, f->end), (uint64_t)x->capacity);
    f->hash[1] = f->hash[0];
    for (uint32_t s = f->first; s < f->end; s++)
        if (!view_section(x, s, f->hash)) {
            x->weight[s] += 1;
            return false;
        }
    const sx_packing_failure *old = &x->failed[f->hash[0] % SX_PACKING_FAILURES];
    return old->hash[0] != f->hash[0] || old->hash[1] != f->hash[1];
}

/* The least end of an open buffer that lives together with one at the floor of a section. */
static int64_t least_top(const sx_packing *x, uint32_t s) {
    const uint32_t *list = x->list + x->begin[s];
    int64_t top = INT64_MAX;
    for (uint32_t i = 0; i < x->open[s]; i++) {
        uint32_t b = list[i];
        if (x->low[b] != x->view[s].floor) continue;
        for (uint32_t u = x->first[b]; u < x->end[b]; u++)
            if (x->view[u].top < top) top = x->view[u].top;
    }
    return top;
}

/* Whether buffer c, which does not live in section s, could hold up a buffer of it: the least end of such. */
static int64_t least_support(const sx_packing *x, uint32_t s, uint32_t b) {
    int64_t top = INT64_MAX;
    for (uint32_t u = x->first[b]; u < x->end[b]; u++) {
        const uint32_t *list = x->list + x->begin[u];
        for (uint32_t i = 0; i < x->open[u]; i++) {
            uint32_t c = list[i];
            bool there = x->first[c] <= s && s < x->end[c];
            if (!there && x->low[c] + x->size[c] < top) top = x->low[c] + x->size[c];
        }
    }
    return top;
}

/* The least floor of a section above a gap; -1 where none fits. A buffer above its lowest offset lies on an open
 * buffer that does not live in the section. */
static int64_t floor_above_gap(const sx_packing *x, uint32_t s) {
    const uint32_t *list = x->list + x->begin[s];
    int64_t floor = x->view[s].next;
    if (x->view[s].floor + x->load[s] == x->capacity) return -1;
    for (uint32_t i = 0; i < x->open[s]; i++) {
        if (x->low[list[i]] != x->view[s].floor) continue;
        int64_t top = least_support(x, s, list[i]);
        if (top < floor) floor = top;
    }
    assert(floor > x->view[s].floor);
    return floor <= x->capacity - x->load[s] ? floor : -1;
}

/* The section to branch over: one with few options. */
static uint32_t choose_section(const sx_packing *x, const sx_packing_frame *f, const sx_packing_rule *rule) {
    uint32_t best = f->end;
    double best_score = 0;
    int64_t top = INT64_MAX;
    for (uint32_t s = f->first; s < f->end; s++)
        if (x->view[s].top < top) top = x->view[s].top;
    for (uint32_t s = f->first; s < f->end; s++) {
        const sx_packing_section *view = &x->view[s];
        if (x->open[s] == 0) continue;
        int64_t room = x->capacity - x->load[s];
        bool full = view->floor == room, final = view->floor < top;
        if (!final && !full) continue;
        bool gap = !full && (view->next <= room || top <= room);
        double score = view->options + gap;
        if (rule->weighted) score /= 1 + x->weight[s];
        if (rule->lowest) score += (double)view->floor / (double)x->capacity;
        if (rule->full && gap) score += PENALTY;
        if (best < f->end && score >= best_score) continue;
        if (!final && least_top(x, s) <= view->floor) continue;
        best = s;
        best_score = score;
    }
    assert(best < f->end);
    return best;
}

/* The buffer that lives in all sections of a node where all lowest offsets are equal; SX_NO_INDEX: none. */
static uint32_t find_spanning(const sx_packing *x, const sx_packing_frame *f) {
    const uint32_t *list = x->list + x->begin[f->first];
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < x->open[f->first] && found == UINT32_MAX; i++)
        if (x->first[list[i]] == f->first && x->end[list[i]] == f->end) found = list[i];
    for (uint32_t s = f->first; s < f->end && found != UINT32_MAX; s++)
        if (x->view[s].next != INT64_MAX || x->view[s].floor != x->view[f->first].floor) found = UINT32_MAX;
    return found;
}

/* Adds a buffer to the options of a node, after those of larger rank, unless one like it is there. */
static void add_option(sx_packing *x, sx_packing_frame *f, uint32_t b) {
    for (size_t i = f->options_begin; i < f->options_end; i++)
        if (x->kind[*(uint32_t *)sx_vector_at(&x->option, i)] == x->kind[b]) return;
    if (!sx_vector_add(&x->option)) {
        x->out_of_memory = true;
        return;
    }
    uint32_t *option = sx_vector_at(&x->option, f->options_begin);
    size_t i = f->options_end++ - f->options_begin;
    for (; i > 0 && (x->rank[option[i - 1]] < x->rank[b] ||
                     (x->rank[option[i - 1]] == x->rank[b] && option[i - 1] > b));
         i--)
        option[i] = option[i - 1];
    option[i] = b;
}

/* Sets the options of a node. */
static void set_options(sx_packing *x, sx_packing_frame *f, const sx_packing_rule *rule) {
    uint32_t spanning = find_spanning(x, f);
    f->option = f->options_begin = f->options_end = x->option.n;
    f->mark = x->trail.n;
    f->raised = -1;
    if (spanning != UINT32_MAX) {
        add_option(x, f, spanning);
        return;
    }
    f->section = choose_section(x, f, rule);
    f->raised = floor_above_gap(x, f->section);
    const uint32_t *list = x->list + x->begin[f->section];
    for (uint32_t i = 0; i < x->open[f->section]; i++)
        if (x->low[list[i]] == x->view[f->section].floor) add_option(x, f, list[i]);
}

/* Whether the search must end here. */
static bool must_stop(sx_packing *x) {
    if (x->nodes >= x->limit || x->out_of_memory) return true;
    return x->nodes % CHECK_NODES == 0 && x->stopped && x->stopped(x->user);
}

/* Visits the node of some sections with open buffers: pushes it, or says that it has no solution. */
static sx_packing_result visit_node(sx_packing *x, uint32_t first, uint32_t end,
                                    const sx_packing_rule *rule) {
    sx_packing_frame f = {.first = first, .end = end};
    if (must_stop(x)) return SX_PACKING_STOPPED;
    x->nodes++;
    if (!view_sections(x, &f)) return SX_NOT_PACKABLE;
    set_options(x, &f, rule);
    sx_packing_frame *top = sx_vector_add(&x->frame);
    x->out_of_memory |= top == NULL;
    if (x->out_of_memory) return SX_PACKING_STOPPED;
    *top = f;
    return SX_NOT_PACKABLE;
}

/* Tries the next option of a node; false after the last. */
static bool try_next(sx_packing *x, sx_packing_frame *f) {
    sx_packing_undo(x, f->mark);
    x->option.n = f->options_end;
    f->at = f->first;
    if (f->option < f->options_end) {
        sx_packing_place(x, *(uint32_t *)sx_vector_at(&x->option, f->option++));
        return true;
    }
    if (f->raised < 0) return false;
    sx_packing_raise(x, f->section, f->raised);
    f->raised = -1;
    return true;
}

/* Remembers a node without a solution and leaves it. */
static void fail_node(sx_packing *x, const sx_packing_frame *f) {
    sx_packing_failure *entry = &x->failed[f->hash[0] % SX_PACKING_FAILURES];
    entry->hash[0] = f->hash[0];
    entry->hash[1] = f->hash[1];
    x->option.n = f->options_begin;
    x->frame.n--;
}

/* Walks over the tree below one node. */
static sx_packing_result walk_tree(sx_packing *x, uint32_t first, uint32_t end, const sx_packing_rule *rule) {
    sx_packing_result result = visit_node(x, first, end, rule);
    while (x->frame.n > 0 && result != SX_PACKING_STOPPED) {
        sx_packing_frame *f = sx_vector_at(&x->frame, x->frame.n - 1);
        uint32_t part_end;
        if (result == SX_NOT_PACKABLE && !try_next(x, f)) {
            fail_node(x, f);
            continue;
        }
        if (sx_packing_part(x, &f->at, f->end, &part_end)) {
            uint32_t part = f->at;
            f->at = part_end;
            result = visit_node(x, part, part_end, rule);
            continue;
        }
        x->option.n = f->options_begin;
        x->frame.n--;
        result = SX_PACKED;
    }
    return result;
}

/* The key that buffers are ranked by. */
static double key_of(const sx_packing *x, uint32_t b, int key) {
    double time = x->end[b] - x->first[b], size = (double)x->size[b];
    switch (key) {
    case 0:
        return time * size;
    case 1:
        return time;
    case 2:
        return size;
    case 3:
        return time * time * size;
    default:
        return time * size * size;
    }
}

sx_packing_result sx_packing_search(sx_packing *x, uint32_t first, uint32_t end, int64_t capacity,
                                    const sx_packing_rule *rule, uint64_t limit) {
    sx_rng rng = sx_rng_stream(0, "allocate", rule->index);
    size_t mark = x->trail.n;
    for (uint32_t s = first; s < end; s++) {
        const uint32_t *list = x->list + x->begin[s];
        for (uint32_t i = 0; i < x->open[s]; i++)
            if (x->first[list[i]] == s)
                x->rank[list[i]] =
                    key_of(x, list[i], rule->key) * (1 + rule->noise * (sx_rng_double(&rng) - 0.5));
    }
    x->capacity = capacity;
    x->limit = x->nodes + limit;
    sx_packing_result result = walk_tree(x, first, end, rule);
    sx_packing_undo(x, mark);
    x->frame.n = x->option.n = 0;
    return result;
}
