/* Orders that stand for all others, by what the tensors see of them.
 *
 * With exact factors, what the model counts for a tensor depends on the order of a level's loops only in this
 * (model/tile_delta.h, docs/model.md, section 2): a loop on a dimension that has a rank of the tensor to
 * itself moves the tile clear of itself, so that the order of all loops outside the first such one is of no
 * matter; and loops next to each other that do not index the tensor can change places. So a tensor's view of
 * an order is: its loops from the innermost one outward up to the first on a dimension of its own, each loop
 * on a window by itself, those that do not index it gathered to sets. Two orders with the same views by all
 * tensors cost the same. A rank whose other dimensions have size 1 is one dimension's own.
 *
 * The lists are made by brute force: all prefixes of orders that the constraint allows, one loop after the
 * other, of which those with equal views and equal loops are one; a prefix that has a dimension of its own
 * for every tensor stands for all orders that begin with it.
 *
 * Complexity: O(prefixes * dimensions * tensors) per set of loops, and a sort. */
#include "verify/order_list.h"

#include "base/status.h"
#include "base/vector.h"
#include "model/latency.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PREFIXES = 1 << 16, VIEW = SX_MAX_TENSORS * (SX_MAX_DIMS + 1) };

/* A prefix of an order, and the view of each tensor on it. */
typedef struct prefix {
    uint32_t view[VIEW + 1]; /* for each tensor what it sees; and the loops in it, unless it is whole */
    uint8_t order[SX_MAX_DIMS];
    unsigned used; /* the loops in it */
    bool whole;    /* what follows does not matter */
} prefix;

typedef struct prefixes {
    prefix *at;
    size_t n, room;
} prefixes;

typedef struct list {
    uint8_t (*order)[SX_MAX_DIMS];
    size_t n, room;
} list;

struct sx_order_list {
    const sx_verify_space *space;
    bool each;                                             /* no order stands for another */
    unsigned indexed[SX_MAX_TENSORS], own[SX_MAX_TENSORS]; /* dimensions of tensors, as masks */
    pthread_mutex_t lock;
    list *lists[SX_MAX_LEVELS]; /* per set of loops; NULL: none yet */
};

/* Sets which dimensions index a tensor, and which of them have a rank to themselves and are in no other. */
static void set_masks(sx_order_list *order_list, int v) {
    const sx_problem *problem = order_list->space->problem;
    const sx_tensor *tensor = &problem->tensor[v];
    for (int d = 0; d < problem->n_dims; d++) {
        int ranks = 0, alone = 0;
        for (int r = 0; r < tensor->n_ranks; r++) {
            bool others = false;
            if (!tensor->coef[r][d]) continue;
            for (int e = 0; e < problem->n_dims; e++)
                others |= e != d && tensor->coef[r][e] && problem->size[e] > 1;
            ranks++;
            alone += !others;
        }
        if (ranks > 0) order_list->indexed[v] |= 1u << d;
        if (ranks == 1 && alone == 1) order_list->own[v] |= 1u << d;
    }
}

sx_status sx_order_list_new(const sx_verify_space *space, bool each, sx_order_list **out) {
    sx_order_list *order_list = calloc(1, sizeof *order_list);
    if (!order_list) return sx_error_memory();
    order_list->space = space;
    order_list->each = each || space->model->sparse || sx_latency_sees_orders(space->model);
    for (int v = 0; v < space->problem->n_tensors; v++) set_masks(order_list, v);
    if (pthread_mutex_init(&order_list->lock, NULL) != 0) {
        free(order_list);
        return sx_error_memory();
    }
    *out = order_list;
    return SX_OK;
}

void sx_order_list_free(sx_order_list *order_list) {
    if (!order_list) return;
    for (int s = 0; s < SX_MAX_LEVELS; s++) {
        for (size_t i = 0; order_list->lists[s] && i < (size_t)1 << order_list->space->problem->n_dims; i++)
            free(order_list->lists[s][i].order);
        free(order_list->lists[s]);
    }
    pthread_mutex_destroy(&order_list->lock);
    free(order_list);
}

/* Describes how a tensor sees the first n loops of an order; true where it has come to a dimension of the
 * tensor's own. */
static bool view_order(const sx_order_list *order_list, int v, const uint8_t *order, int n, uint32_t *view) {
    enum { WINDOW = 1u << 30, END = 1u << 31 };
    uint32_t set = 0;
    int k = 0;
    for (int i = 0; i < n; i++) {
        uint32_t dim = 1u << order[i];
        if (order_list->own[v] & dim) {
            view[k] = set | (uint32_t)END;
            return true;
        }
        if (!(order_list->indexed[v] & dim)) {
            set |= dim;
            continue;
        }
        if (set) view[k++] = set;
        view[k++] = dim | WINDOW;
        set = 0;
    }
    view[k] = set;
    return false;
}

/* Completes the view of a prefix of n loops. */
static void describe_prefix(const sx_order_list *order_list, int n, prefix *b) {
    memset(b->view, 0, sizeof b->view);
    b->used |= 1u << b->order[n - 1];
    b->whole = true;
    for (int v = 0; v < order_list->space->problem->n_tensors; v++)
        b->whole &= view_order(order_list, v, b->order, n, b->view + v * (SX_MAX_DIMS + 1));
    b->view[VIEW] = b->whole ? 0 : b->used;
    if (!order_list->each) return;
    b->whole = false; /* the ranks of formats, caches or last iterations follow the loops */
    memcpy(b->view, b->order, sizeof b->order);
    b->view[VIEW] = b->used;
}

/* By loops and views, then by order. */
static int compare_prefixes(const void *a, const void *b) {
    const prefix *x = a, *y = b;
    int views = memcmp(x->view, y->view, sizeof x->view);
    return views ? views : memcmp(x->order, y->order, sizeof x->order);
}

/* Sorts prefixes and leaves one of each kind. */
static void unite_prefixes(prefixes *b) {
    size_t kept = 0;
    if (b->n > 1) qsort(b->at, b->n, sizeof *b->at, compare_prefixes);
    for (size_t i = 0; i < b->n; i++)
        if (kept == 0 || memcmp(b->at[i].view, b->at[kept - 1].view, sizeof b->at->view) != 0)
            b->at[kept++] = b->at[i];
    b->n = kept;
}

/* Adds to `out` every prefix that is one loop longer than `from`, of n; false when memory is out or, where
 * *many is set, there are too many. */
static bool extend_prefix(const sx_order_list *order_list, const uint8_t *rank, unsigned loops,
                          const prefix *from, int n, prefixes *out, bool *many) {
    unsigned left = loops & ~from->used;
    for (unsigned more = left; more; more &= more - 1) {
        int d = __builtin_ctz(more);
        bool next = true;
        for (unsigned others = left; others; others &= others - 1)
            next &= rank[__builtin_ctz(others)] >= rank[d];
        if (!next) continue;
        *many = out->n == MOST_PREFIXES;
        if (*many || !sx_reserve(&out->at, &out->room, out->n + 1, sizeof *out->at)) return false;
        prefix *b = &out->at[out->n++];
        *b = *from;
        b->order[n] = (uint8_t)d;
        describe_prefix(order_list, n + 1, b);
    }
    return true;
}

/* Adds an order that begins so to a list: what is left in any order that the constraint allows. */
static bool add_orders(const sx_order_list *order_list, const uint8_t *rank, unsigned loops, const prefix *b,
                       int n, list *out) {
    if (!sx_reserve(&out->order, &out->room, out->n + 1, sizeof *out->order)) return false;
    uint8_t *to = out->order[out->n++];
    unsigned left = loops & ~b->used;
    memset(to, 0, SX_MAX_DIMS);
    memcpy(to, b->order, (size_t)n);
    for (int r = 0; r <= 2 * SX_MAX_DIMS; r++)
        for (unsigned more = left; more; more &= more - 1)
            if (rank[__builtin_ctz(more)] == r) to[n++] = (uint8_t)__builtin_ctz(more);
    for (int d = 0; d < order_list->space->problem->n_dims; d++)
        if (!(loops >> d & 1)) to[n++] = (uint8_t)d;
    return true;
}

/* Makes the list of a set of loops; false when memory is out or, where *many is set, there are too many. */
static bool make_list(const sx_order_list *order_list, int level, unsigned loops, list *out, bool *many) {
    const uint8_t *rank = order_list->space->temporal_rank[level];
    prefixes now = {0}, next = {0};
    bool good = sx_reserve(&now.at, &now.room, 1, sizeof *now.at);
    if (good) now.at[now.n++] = (prefix){0};
    for (int length = 0; good && now.n > 0; length++) {
        next.n = 0;
        for (size_t i = 0; i < now.n && good; i++) {
            const prefix *b = &now.at[i];
            if (b->whole || (loops & ~b->used) == 0)
                good = add_orders(order_list, rank, loops, b, length, out);
            else
                good = extend_prefix(order_list, rank, loops, b, length, &next, many);
        }
        unite_prefixes(&next);
        prefixes done = now;
        now = next;
        next = done;
    }
    free(next.at);
    free(now.at);
    return good;
}

const uint8_t (*sx_order_list_of(sx_order_list *order_list, int level, unsigned loops,
                                 size_t *n))[SX_MAX_DIMS] {
    pthread_mutex_lock(&order_list->lock);
    list **lists = &order_list->lists[level];
    if (!*lists) *lists = calloc((size_t)1 << order_list->space->problem->n_dims, sizeof **lists);
    list *at = *lists ? *lists + loops : NULL;
    bool many = false;
    if (at && !at->order && at->n == 0 && !make_list(order_list, level, loops, at, &many)) {
        free(at->order);
        *at = (list){.n = many ? MOST_PREFIXES : 0};
    }
    *n = at ? at->n : 0;
    const void *orders = at ? at->order : NULL;
    pthread_mutex_unlock(&order_list->lock);
    return orders;
}

bool sx_order_list_find(sx_order_list *order_list, int level, unsigned loops, const uint8_t *order,
                        size_t *out) {
    size_t n, i = 0;
    int n_loops = __builtin_popcount(loops);
    const uint8_t(*listed)[SX_MAX_DIMS] = sx_order_list_of(order_list, level, loops, &n);
    prefix seen = {.used = loops}, other;
    for (int d = 0, k = 0; d < order_list->space->problem->n_dims; d++)
        if (loops >> order[d] & 1) seen.order[k++] = order[d];
    if (n_loops > 0) describe_prefix(order_list, n_loops, &seen);
    for (; listed && i < n; i++) {
        other = (prefix){.used = loops};
        memcpy(other.order, listed[i], (size_t)n_loops);
        if (n_loops > 0) describe_prefix(order_list, n_loops, &other);
        if (memcmp(other.view, seen.view, sizeof seen.view) == 0) break;
    }
    *out = i;
    return listed && i < n;
}
