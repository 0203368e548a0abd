#include "looptree/fused_mapping.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

void sx_fused_mapping_fini(sx_fused_mapping *mapping) {
    free(mapping->path);
    *mapping = (sx_fused_mapping){.n_einsums = 0};
}

/* Where a shared tensor is exchanged. */
typedef struct exchange {
    bool known;
    size_t einsum; /* the first that uses it */
    int tensor;    /* its index there */
    uint8_t level, depth;
} exchange;

/* The paths of all einsums, laid out and counted. */
typedef struct weave {
    const sx_cascade *cascade;
    sx_path_layout *layout;
    sx_path_cost *cost;
    exchange *exchange; /* by tensor of the cascade */
    uint8_t *fused;     /* loops of an einsum above its innermost exchanged tensor */
    uint8_t *common;    /* loops that an einsum has in common with the next */
    uint8_t *with;      /* loops that einsums have in common with one of them; UINT8_MAX: itself */
} weave;

static void free_weave(weave *w) {
    free(w->layout);
    free(w->cost);
    free(w->exchange);
    free(w->fused);
    free(w->common);
    free(w->with);
}

static sx_status make_weave(const sx_cascade *cascade, weave *w) {
    const size_t n = cascade->n_einsums;
    *w = (weave){.cascade = cascade};
    w->layout = calloc(n, sizeof *w->layout);
    w->cost = calloc(n, sizeof *w->cost);
    w->exchange = calloc(cascade->n_tensors, sizeof *w->exchange);
    w->fused = calloc(n, 1);
    w->common = calloc(n, 1);
    w->with = calloc(n, 1);
    if (w->layout && w->cost && w->exchange && w->fused && w->common && w->with) return SX_OK;
    free_weave(w);
    return sx_error_memory();
}

/* Lays out and counts the path of einsum e. */
static bool count_path(const sx_arch *arch, weave *w, const sx_path *path, size_t e,
                       sx_fused_verdict *verdict) {
    const sx_problem *einsum = &w->cascade->einsum[e];
    uint32_t bits[SX_MAX_TENSORS] = {0};
    verdict->fault = sx_path_lay_out(arch, einsum, path, &w->layout[e], &verdict->index);
    if (verdict->fault) {
        verdict->reason = SX_FUSED_PATH;
        return false;
    }
    for (int v = 0; v < einsum->n_tensors; v++)
        bits[v] = w->cascade->tensor[w->cascade->tensor_of[e][v]].bits;
    if (sx_looptree_cost(arch, einsum, bits, &w->layout[e], &w->cost[e])) return true;
    verdict->reason = SX_FUSED_OVERFLOW;
    return false;
}

/* Loop number i of a path, from outside. */
static const sx_path_step *loop_at(const sx_path_layout *layout, int i) {
    const sx_path_step *step = layout->step;
    for (;; step++)
        if (step->node.kind != SX_PATH_HOLD && i-- == 0) return step;
}

/* Whether an einsum's exchanged tensor stands where the first user of it has it, under the same loops. */
static bool agrees(const weave *w, size_t e, const sx_reservation *r, const exchange *x) {
    if (r->level != x->level || r->depth != x->depth) return false;
    for (int i = 0; i < r->depth; i++) {
        const sx_path_step *mine = loop_at(&w->layout[e], i), *first = loop_at(&w->layout[x->einsum], i);
        int rank, first_rank;
        sx_relevance_of(&w->cascade->einsum[e], r->tensor, mine->node.index, &rank);
        sx_relevance_of(&w->cascade->einsum[x->einsum], x->tensor, first->node.index, &first_rank);
        if (mine->node.kind != first->node.kind || mine->bound != first->bound || rank != first_rank)
            return false;
    }
    return true;
}

/* Enters where einsum e exchanges its shared tensors. */
static bool exchange_tensors(weave *w, size_t e, sx_fused_verdict *verdict) {
    for (int i = 0; i < w->cost[e].n_reservations; i++) {
        const sx_reservation *r = &w->cost[e].reservation[i];
        const size_t t = w->cascade->tensor_of[e][r->tensor];
        exchange *x = &w->exchange[t];
        if (!r->backing || !w->cascade->tensor[t].shared) continue;
        if (!x->known) *x = (exchange){true, e, r->tensor, r->level, r->depth};
        if (r->depth > w->fused[e]) w->fused[e] = r->depth;
        if (agrees(w, e, r, x)) continue;
        *verdict = (sx_fused_verdict){.reason = SX_FUSED_DISAGREES, .einsum = e, .tensor = t};
        return false;
    }
    return true;
}

/* A tensor that lives beyond einsum e + 1 under more loops than those that e + 1 uses itself. */
static bool passes_over(const weave *w, size_t e, sx_fused_verdict *verdict) {
    const sx_cascade *cascade = w->cascade;
    int mine = 0, beyond = 0;
    size_t deepest = 0;
    for (size_t t = 0; t < cascade->n_tensors; t++) {
        if (!cascade->tensor[t].shared || cascade->tensor[t].last <= e + 1) continue;
        const int depth = w->exchange[t].depth;
        if (cascade->tensor[t].first <= e && depth > beyond) {
            beyond = depth;
            deepest = t;
        }
        if (depth > mine && sx_cascade_uses(cascade, e + 1, t, NULL)) mine = depth;
    }
    if (beyond <= mine) return false;
    *verdict = (sx_fused_verdict){.reason = SX_FUSED_PASSES, .einsum = e + 1, .tensor = deepest};
    return true;
}

/* Finds the loops that each einsum has in common with the next. */
static bool find_common_loops(weave *w, sx_fused_verdict *verdict) {
    for (size_t e = 0; e + 1 < w->cascade->n_einsums; e++) {
        for (size_t t = 0; t < w->cascade->n_tensors; t++) {
            const sx_cascade_tensor *tensor = &w->cascade->tensor[t];
            if (tensor->shared && tensor->first <= e && e < tensor->last &&
                w->exchange[t].depth > w->common[e])
                w->common[e] = w->exchange[t].depth;
        }
        if (passes_over(w, e, verdict)) return false;
        for (int i = 0; i < w->common[e] && i < w->fused[e] && i < w->fused[e + 1]; i++) {
            if (loop_at(&w->layout[e], i)->bound == loop_at(&w->layout[e + 1], i)->bound) continue;
            *verdict = (sx_fused_verdict){.reason = SX_FUSED_LOOPS, .einsum = e + 1};
            return false;
        }
    }
    return true;
}

/* Sets the loops that every einsum has in common with einsum j. */
static void find_loops_with(weave *w, size_t j) {
    w->with[j] = UINT8_MAX;
    for (size_t i = j; i-- > 0;) w->with[i] = w->common[i] < w->with[i + 1] ? w->common[i] : w->with[i + 1];
    for (size_t i = j + 1; i < w->cascade->n_einsums; i++)
        w->with[i] = w->common[i - 1] < w->with[i - 1] ? w->common[i - 1] : w->with[i - 1];
}

/* Whether a shared tensor is alive while einsum j runs: from its first to its last user, and wherever the loops
 * that it is under are common with a user's. */
static bool is_alive(const weave *w, size_t t, size_t j) {
    const sx_cascade_tensor *tensor = &w->cascade->tensor[t];
    if (tensor->first <= j && j <= tensor->last) return true;
    for (size_t e = tensor->first; e <= tensor->last; e++)
        if (w->exchange[t].depth < w->with[e] && sx_cascade_uses(w->cascade, e, t, NULL)) return true;
    return false;
}

/* Adds up what is alive in each level while einsum j runs. */
static void add_alive(weave *w, size_t j, uint64_t *bits) {
    find_loops_with(w, j);
    for (size_t e = 0; e < w->cascade->n_einsums; e++)
        for (int i = 0; i < w->cost[e].n_reservations; i++) {
            const sx_reservation *r = &w->cost[e].reservation[i];
            const size_t t = w->cascade->tensor_of[e][r->tensor];
            const bool is_exchanged = r->backing && w->cascade->tensor[t].shared;
            const bool alive =
                is_exchanged ? w->exchange[t].einsum == e && is_alive(w, t, j) : r->depth < w->with[e];
            if (alive) bits[r->level] += r->bits;
        }
}

static void find_peaks(const sx_arch *arch, weave *w, sx_fused_cost *cost, sx_fused_verdict *verdict) {
    for (size_t j = 0; j < w->cascade->n_einsums; j++) {
        uint64_t bits[SX_MAX_LEVELS] = {0};
        add_alive(w, j, bits);
        for (int s = 0; s < arch->n_levels; s++) {
            const uint64_t room = sx_path_room(&arch->level[s]);
            if (bits[s] > cost->peak[s]) cost->peak[s] = bits[s];
            if (bits[s] > room && !verdict->reason)
                *verdict = (sx_fused_verdict){.reason = SX_FUSED_CAPACITY,
                                              .einsum = j,
                                              .index = s,
                                              .needed = bits[s],
                                              .available = room};
        }
    }
}

static void add_costs(const weave *w, sx_fused_cost *cost) {
    memset(cost, 0, sizeof *cost);
    for (size_t e = 0; e < w->cascade->n_einsums; e++) {
        cost->energy += w->cost[e].energy;
        cost->latency += w->cost[e].latency;
        for (int s = 0; s < SX_MAX_LEVELS; s++) {
            cost->reads[s] += w->cost[e].reads[s];
            cost->writes[s] += w->cost[e].writes[s];
        }
    }
}

sx_status sx_fused_evaluate(const sx_arch *arch, const sx_cascade *cascade, const sx_fused_mapping *mapping,
                            sx_fused_cost *cost, sx_fused_verdict *verdict) {
    weave w;
    SX_TRY(make_weave(cascade, &w));
    *verdict = (sx_fused_verdict){.reason = SX_FUSED_OK};
    for (size_t e = 0; e < cascade->n_einsums && !verdict->reason; e++) {
        verdict->einsum = e;
        if (count_path(arch, &w, &mapping->path[e], e, verdict)) exchange_tensors(&w, e, verdict);
    }
    if (!verdict->reason && find_common_loops(&w, verdict)) {
        add_costs(&w, cost);
        find_peaks(arch, &w, cost, verdict);
    }
    free_weave(&w);
    return SX_OK;
}
