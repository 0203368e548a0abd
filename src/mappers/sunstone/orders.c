/* Sunstone's loop orders.
 *
 * Source: Sunstone (thesis 2022), sections 4.3 and 4.4, algorithms 3 and 4. A dimension that does not index a
 * tensor reuses it wholly, one that stands in sums of its index reuses it in part. From the innermost loop
 * outward, a tensor is reused by the dimensions that do so wholly until the first that does not; if that one
 * reuses it in part, by this one too (observations 1 and 3). The nodes of the trie are the prefixes of
 * orders made of dimensions that reuse one tensor wholly, then one that does so in part. A node that reuses
 * nothing more than its parent has no children; a leaf whose reuse is part of another's is dropped, and so is
 * one of two of the same reuse.
 *
 * What differs. Leaves are compared with those of the same tensor only, as in the released code: a depthwise
 * convolution keeps 8 orders that way, not 4. Given which dimensions have loops at all, leaves of equal or
 * lesser reuse among these loops are dropped as well, whatever their tensor.
 *
 * Complexity: a leaf costs a pass over tensors and dimensions and one over the leaves before it; convolutions
 * have 8, larger contractions some dozens. */
#include "mappers/sunstone/orders.h"

#include "base/status.h"
#include "base/vector.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { MAX_LEAVES = 1 << 16, MAX_PERMUTED = 8 };

/* A leaf: an order and what it reuses. */
typedef struct leaf {
    uint8_t order[SX_MAX_DIMS];
    sx_sunstone_reuse reuse;
} leaf;

/* The orders of one set of loops. */
typedef struct loop_orders {
    size_t n;
    uint8_t order[][SX_MAX_DIMS];
} loop_orders;

struct sx_sunstone_orders {
    int n_dims, n_tensors;
    bool pruned;
    sx_sunstone_reuse reuse;
    sx_vector leaves;
    pthread_mutex_t lock;              /* of making lists */
    _Atomic(loop_orders *) *orders_of; /* by mask of loops; NULL: not made yet */
};

void sx_sunstone_infer(const sx_problem *problem, sx_sunstone_reuse *out) {
    *out = (sx_sunstone_reuse){0};
    uint16_t all = (uint16_t)((1u << problem->n_dims) - 1);
    for (int v = 0; v < problem->n_tensors; v++) {
        const sx_tensor *tensor = &problem->tensor[v];
        uint16_t summed = 0, alone = 0;
        for (int r = 0; r < tensor->n_ranks; r++) {
            uint16_t dims = 0;
            for (int d = 0; d < problem->n_dims; d++) dims |= (uint16_t)((tensor->coef[r][d] != 0) << d);
            if (dims & (dims - 1))
                summed |= dims;
            else
                alone |= dims;
        }
        out->full[v] = all & (uint16_t) ~(summed | alone);
        out->partial[v] = summed & (uint16_t)~alone;
    }
}

/* What an order's first n dimensions reuse. */
static sx_sunstone_reuse reuse_of(const sx_sunstone_orders *o, const uint8_t *order, int n) {
    sx_sunstone_reuse out = {0};
    for (int v = 0; v < o->n_tensors; v++)
        for (int i = 0; i < n; i++) {
            uint16_t bit = (uint16_t)(1u << order[i]);
            if (o->reuse.full[v] & bit) {
                out.full[v] |= bit;
                continue;
            }
            out.partial[v] = o->reuse.partial[v] & bit;
            break;
        }
    return out;
}

/* Whether all of a reuse is in another. */
static bool reuse_within(const sx_sunstone_orders *o, const sx_sunstone_reuse *a,
                         const sx_sunstone_reuse *b) {
    for (int v = 0; v < o->n_tensors; v++)
        if ((a->full[v] & ~b->full[v]) || (a->partial[v] & ~b->partial[v])) return false;
    return true;
}

/* Adds a leaf to those from `first` on, unless one of these reuses as much; drops those that reuse less. */
static bool add_leaf(const sx_sunstone_orders *o, const leaf *new, sx_vector *leaves, size_t first) {
    size_t n = first;
    for (size_t i = first; i < leaves->n; i++) {
        const leaf *other = sx_vector_at(leaves, i);
        if (reuse_within(o, &new->reuse, &other->reuse)) return true;
    }
    for (size_t i = first; i < leaves->n; i++) {
        leaf other = *(leaf *)sx_vector_at(leaves, i);
        if (!reuse_within(o, &other.reuse, &new->reuse)) *(leaf *)sx_vector_at(leaves, n++) = other;
    }
    leaves->n = n;
    leaf *at = sx_vector_add(leaves);
    if (at) *at = *new;
    return at != NULL;
}

/* Whether a node can reuse more of another tensor than its own by one of the dimensions left. */
static bool has_children(const sx_sunstone_orders *o, int tensor, uint16_t used, uint16_t left) {
    for (int v = 0; v < o->n_tensors; v++)
        if (v != tensor && !(used & ~o->reuse.full[v]) && left & (o->reuse.full[v] | o->reuse.partial[v]))
            return true;
    return false;
}

/* Writes the dimensions of a mask; returns how many. */
static int write_dims(uint32_t dims, uint8_t *out) {
    int n = 0;
    for (; dims; dims &= dims - 1) out[n++] = (uint8_t)__builtin_ctz(dims);
    return n;
}

/* Adds the leaves of a node with all dimensions of its tensor: one for each that reuses it in part. */
static bool add_leaves(const sx_sunstone_orders *o, int tensor, leaf *node, int n, sx_vector *leaves) {
    uint16_t all = (uint16_t)((1u << o->n_dims) - 1), last = o->reuse.partial[tensor];
    do {
        int at = n;
        uint16_t bit = last & (uint16_t)-last, rest = all & (uint16_t) ~(o->reuse.full[tensor] | bit);
        if (bit) node->order[at++] = (uint8_t)__builtin_ctz(bit);
        if (at == 0) return true;
        node->reuse = reuse_of(o, node->order, at);
        write_dims(rest, node->order + at);
        if (!add_leaf(o, node, leaves, 0)) return false;
        last &= (uint16_t)(last - 1);
    } while (last);
    return leaves->n <= MAX_LEAVES;
}

/* Adds the leaves under a node of n dimensions; false when memory is out or there are too many. */
static bool grow_leaves(const sx_sunstone_orders *o, int tensor, leaf *node, int n, uint16_t used,
                        sx_vector *leaves) {
    uint16_t left = o->reuse.full[tensor] & (uint16_t)~used;
    if (!left || !has_children(o, tensor, used, left))
        return add_leaves(o, tensor, node, n + write_dims(left, node->order + n), leaves);
    for (uint16_t more = left; more; more &= (uint16_t)(more - 1)) {
        node->order[n] = (uint8_t)__builtin_ctz(more);
        if (!grow_leaves(o, tensor, node, n + 1, used | (uint16_t)(1u << node->order[n]), leaves))
            return false;
    }
    return true;
}

/* Whether two reuses are one. */
static bool same_reuse(const sx_sunstone_orders *o, const sx_sunstone_reuse *a, const sx_sunstone_reuse *b) {
    return reuse_within(o, a, b) && reuse_within(o, b, a);
}

/* Makes the trie of a tensor and takes its leaves over, but those of a reuse that is there already. */
static bool add_tensor(sx_sunstone_orders *o, int tensor) {
    sx_vector own = {.size = sizeof(leaf)};
    leaf node = {{0}, {{0}, {0}}};
    bool fine = grow_leaves(o, tensor, &node, 0, 0, &own);
    for (size_t i = 0; fine && i < own.n; i++) {
        const leaf *new = sx_vector_at(&own, i);
        bool known = false;
        for (size_t j = 0; j < o->leaves.n && !known; j++)
            known = same_reuse(o, &new->reuse, &((const leaf *)sx_vector_at(&o->leaves, j))->reuse);
        leaf *at = known ? NULL : sx_vector_add(&o->leaves);
        if (at) *at = *new;
    }
    o->leaves.failed |= own.failed;
    fine = fine && !o->leaves.failed;
    sx_vector_clear(&own);
    return fine;
}

/* Makes the trie. */
static sx_status make_orders(sx_sunstone_orders *o) {
    o->orders_of = calloc((size_t)1 << o->n_dims, sizeof *o->orders_of);
    if (!o->orders_of) return sx_error_memory();
    for (int v = 0; v < o->n_tensors; v++) {
        if (add_tensor(o, v)) continue;
        return o->leaves.failed ? sx_error_memory()
                                : sx_error_new(SX_ERR_LIMIT,
                                               "the problem has more than %d orders of loops "
                                               "worth trying",
                                               MAX_LEAVES);
    }
    if (o->leaves.n) return SX_OK;
    leaf *only = sx_vector_add(&o->leaves);
    if (!only) return sx_error_memory();
    *only = (leaf){{0}, {{0}, {0}}};
    write_dims((1u << o->n_dims) - 1, only->order);
    return SX_OK;
}

/* How many dimensions have more than one value. */
static int count_real(const sx_problem *problem) {
    int n = 0;
    for (int d = 0; d < problem->n_dims; d++) n += problem->size[d] > 1;
    return n;
}

sx_status sx_sunstone_orders_new(const sx_problem *problem, bool pruned, sx_sunstone_orders **out) {
    if (!pruned && count_real(problem) > MAX_PERMUTED)
        return sx_error_hint(sx_error_new(SX_ERR_LIMIT, "%d dimensions have too many loop orders to try all",
                                          count_real(problem)),
                             "keep order=on");
    sx_sunstone_orders *o = calloc(1, sizeof *o);
    if (!o) return sx_error_memory();
    if (pthread_mutex_init(&o->lock, NULL) != 0) {
        free(o);
        return sx_error_memory();
    }
    o->n_dims = problem->n_dims;
    o->n_tensors = problem->n_tensors;
    o->pruned = pruned;
    o->leaves.size = sizeof(leaf);
    sx_sunstone_infer(problem, &o->reuse);
    sx_status status = make_orders(o);
    if (status)
        sx_sunstone_orders_free(o);
    else
        *out = o;
    return status;
}

void sx_sunstone_orders_free(sx_sunstone_orders *o) {
    if (!o) return;
    for (size_t i = 0; o->orders_of && i < (size_t)1 << o->n_dims; i++) free(atomic_load(&o->orders_of[i]));
    free(o->orders_of);
    sx_vector_clear(&o->leaves);
    pthread_mutex_destroy(&o->lock);
    free(o);
}

size_t sx_sunstone_orders_kept(const sx_sunstone_orders *o) {
    return o->leaves.n;
}

/* Adds all permutations of loop[at..n). */
static bool permute_loops(const leaf *node, int at, int n, sx_vector *out) {
    if (at >= n - 1) {
        leaf *new = sx_vector_add(out);
        if (new) *new = *node;
        return new != NULL;
    }
    for (int i = at; i < n; i++) {
        leaf next = *node;
        next.order[at] = node->order[i];
        memmove(next.order + at + 1, node->order + at, (size_t)(i - at));
        if (!permute_loops(&next, at + 1, n, out)) return false;
    }
    return true;
}

/* Makes the list of orders of some loops. */
static bool list_orders(const sx_sunstone_orders *o, uint32_t loops, sx_vector *out) {
    uint32_t rest = ((1u << o->n_dims) - 1) & ~loops;
    leaf one = {{0}, {{0}, {0}}};
    if (!o->pruned) {
        int n = write_dims(loops, one.order);
        write_dims(rest, one.order + n);
        return permute_loops(&one, 0, n, out);
    }
    for (size_t i = 0; i < o->leaves.n; i++) {
        const leaf *from = sx_vector_at(&o->leaves, i);
        int n = 0;
        for (int p = 0; p < o->n_dims; p++)
            if (loops >> from->order[p] & 1) one.order[n++] = from->order[p];
        one.reuse = reuse_of(o, one.order, n);
        write_dims(rest, one.order + n);
        if (!add_leaf(o, &one, out, 0)) return false;
    }
    return true;
}

/* Makes the orders of some loops; NULL when memory is out. */
static loop_orders *make_loop_orders(const sx_sunstone_orders *o, uint32_t loops) {
    sx_vector list = {.size = sizeof(leaf)};
    loop_orders *m = NULL;
    if (list_orders(o, loops, &list)) m = malloc(sizeof *m + list.n * sizeof *m->order);
    if (m) {
        m->n = list.n;
        for (size_t i = 0; i < list.n; i++)
            memcpy(m->order[i], ((const leaf *)sx_vector_at(&list, i))->order, SX_MAX_DIMS);
    }
    sx_vector_clear(&list);
    return m;
}

const uint8_t (*sx_sunstone_orders_of(sx_sunstone_orders *o, uint32_t loops, size_t *n))[SX_MAX_DIMS] {
    loop_orders *m = atomic_load_explicit(&o->orders_of[loops], memory_order_acquire);
    if (!m) {
        pthread_mutex_lock(&o->lock);
        m = atomic_load_explicit(&o->orders_of[loops], memory_order_acquire);
        if (!m) {
            m = make_loop_orders(o, loops);
            atomic_store_explicit(&o->orders_of[loops], m, memory_order_release);
        }
        pthread_mutex_unlock(&o->lock);
    }
    if (!m) return NULL;
    *n = m->n;
    return (const uint8_t(*)[SX_MAX_DIMS])m->order;
}
