/* Which orders of a level's temporal loops no cost tells apart.
 *
 * With exact factors. Of a tensor the model counts the visits that move the tile of a level's children, and
 * what each of them fetches, as one loop after another advances (model/tile_delta.h). A dimension is solo for
 * a tensor if it has a rank to itself. Seen from the children outward:
 *   - the first loop on a solo dimension moves the tile clear of itself and of its siblings, and so does
 *     every loop outside it; between two such steps all inner loops run, so what they find does not depend on
 *     which of the outer loops advanced. Hence only the order of the loops inside the first solo one matters;
 *   - next to each other, loops that do not index the tensor make the same step and can change places.
 * What a tensor sees of an order is therefore the sequence of its other dimensions (those that share a rank:
 * sliding windows) up to its first solo one, with the sets of dimensions in between that do not index it. For
 * a tensor without windows that is one set. Loops of other levels stand inside or outside all of these, and
 * change nothing about it. A rank whose other dimensions have size 1 counts as one dimension's own: its tile
 * never overlaps itself.
 *
 * With remainders a loop may run but once at the edge of its dimension, so that none is a barrier to those
 * outside it, and siblings idle in turn, so that neighbours at the visit before differ with the order of any
 * two loops: every order is a class of its own.
 *
 * What a tensor sees is the set of dimensions before its first solo one in some partial order, so the least
 * order of a class is found by always taking the least dimension that all tensors allow; and the prefix of
 * a least order is a least prefix, which prunes the enumeration to O(dimensions) steps per class. A rule
 * that fixes parts of the order is one more such view. Where classes are too many to go through, a random
 * path down the tree of least prefixes estimates how many there are (Knuth, Estimating the efficiency of
 * backtrack programs, 1975). */
#include "mapspace/orders.h"

#include "base/status.h"
#include "base/vector.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CLASSES = 1 << 22 };

/* The classes of a set of dimensions; order is NULL until they are asked for. */
struct entry {
    uint8_t (*order)[SX_MAX_DIMS];
    size_t n, room;
    atomic_bool listed; /* once it is, the entry does not change, and is read without the lock */
};

struct sx_orders {
    int n_dims, n_tensors;
    bool remainders;
    uint32_t indexed[SX_MAX_TENSORS], solo[SX_MAX_TENSORS]; /* dimensions, as masks */
    pthread_mutex_t lock;
    struct entry *entry; /* per set of dimensions */
};

/* Sets which dimensions index a tensor, and which have a rank to themselves. */
static void set_masks(sx_orders *orders, const sx_problem *problem, int tensor) {
    const sx_tensor *v = &problem->tensor[tensor];
    uint32_t indexed = 0, shared = 0;
    for (int r = 0; r < v->n_ranks; r++) {
        uint32_t rank = 0;
        for (int d = 0; d < problem->n_dims; d++)
            if (v->coef[r][d] != 0 && problem->size[d] > 1) rank |= 1u << d;
        shared |= rank & indexed;
        if (rank & (rank - 1)) shared |= rank;
        indexed |= rank;
    }
    orders->indexed[tensor] = indexed;
    orders->solo[tensor] = indexed & ~shared;
}

sx_status sx_orders_new(const sx_problem *problem, bool remainders, sx_orders **out) {
    sx_orders *orders = calloc(1, sizeof *orders);
    if (!orders) return sx_error_memory();
    orders->n_dims = problem->n_dims;
    orders->n_tensors = problem->n_tensors;
    orders->remainders = remainders;
    for (int v = 0; v < problem->n_tensors; v++) set_masks(orders, problem, v);
    orders->entry = calloc((size_t)1 << problem->n_dims, sizeof *orders->entry);
    if (!orders->entry || pthread_mutex_init(&orders->lock, NULL) != 0) {
        free(orders->entry);
        free(orders);
        return sx_error_memory();
    }
    *out = orders;
    return SX_OK;
}

void sx_orders_free(sx_orders *orders) {
    if (!orders) return;
    for (size_t i = 0; i < (size_t)1 << orders->n_dims; i++) free(orders->entry[i].order);
    free(orders->entry);
    pthread_mutex_destroy(&orders->lock);
    free(orders);
}

/* What one tensor still asks of an order that is being made after another one: the dimensions of runs, one
 * run after the other, and then (unless the other one ends there) a solo one. */
struct view {
    uint32_t run[SX_MAX_DIMS];
    int n_runs, now;
    bool settled; /* a solo dimension follows, or has followed */
    uint32_t solo;
};

/* Describes how a tensor sees the first n dimensions of an order. */
static void view_order(const sx_orders *orders, int tensor, const uint8_t *order, int n, struct view *out) {
    bool within_run = false;
    *out = (struct view){.solo = orders->solo[tensor]};
    for (int i = 0; i < n; i++) {
        uint32_t dim = 1u << order[i];
        if (orders->solo[tensor] & dim) {
            out->settled = true;
            return;
        }
        bool window = orders->indexed[tensor] & dim;
        if (window || !within_run) out->n_runs++;
        out->run[out->n_runs - 1] |= dim;
        within_run = !window;
    }
}

/* The dimensions that a tensor allows next. */
static uint32_t allowed_dims(const struct view *view) {
    if (view->now < view->n_runs) return view->run[view->now];
    return view->now == view->n_runs && view->settled ? view->solo : UINT32_MAX;
}

/* Notes that a dimension was taken. */
static void advance_view(struct view *view, uint32_t dim) {
    if (view->now < view->n_runs) {
        view->run[view->now] &= ~dim;
        view->now += view->run[view->now] == 0;
    } else {
        view->now = view->n_runs + 1;
    }
}

/* Sets a rule's runs as far as they are among some dimensions. */
static void look_at_rule(const sx_order_rule *rule, uint32_t dims, struct view *out) {
    *out = (struct view){0};
    for (int i = 0; i < rule->n_runs; i++)
        if (rule->run[i] & dims) out->run[out->n_runs++] = rule->run[i] & dims;
}

/* Makes the first n dimensions of an order, which obeys the rule, the least prefix that does and that all
 * tensors see alike: of exact factors. */
static void make_least(const sx_orders *orders, const sx_order_rule *rule, uint8_t *order, int n) {
    struct view view[SX_MAX_TENSORS + 1];
    int n_views = orders->n_tensors;
    uint32_t left = 0;
    for (int v = 0; v < n_views; v++) view_order(orders, v, order, n, &view[v]);
    for (int i = 0; i < n; i++) left |= 1u << order[i];
    if (rule) look_at_rule(rule, left, &view[n_views++]);
    for (int i = 0; i < n; i++) {
        uint32_t next = left;
        for (int v = 0; v < n_views; v++) next &= allowed_dims(&view[v]);
        int dim = __builtin_ctz(next);
        for (int v = 0; v < n_views; v++) advance_view(&view[v], 1u << dim);
        left &= ~(1u << dim);
        order[i] = (uint8_t)dim;
    }
}

/* Appends the dimensions that are not in a set, ascending. */
static void append_others(const sx_orders *orders, uint32_t dims, uint8_t *order) {
    int n = __builtin_popcount(dims);
    for (int d = 0; d < orders->n_dims; d++)
        if (!(dims >> d & 1)) order[n++] = (uint8_t)d;
}

/* Adds a class; false when memory is out or there are too many. */
static bool add_class(const sx_orders *orders, struct entry *entry, uint32_t dims, const uint8_t *order) {
    if (entry->n == MAX_CLASSES ||
        !sx_reserve(&entry->order, &entry->room, entry->n + 1, sizeof *entry->order))
        return false;
    memset(entry->order[entry->n], 0, sizeof *entry->order);
    memcpy(entry->order[entry->n], order, SX_MAX_DIMS);
    append_others(orders, dims, entry->order[entry->n++]);
    return true;
}

/* The dimensions of `left` that a rule allows next. */
static uint32_t ruled_dims(const sx_order_rule *rule, uint32_t left) {
    for (int i = 0; rule && i < rule->n_runs; i++)
        if (rule->run[i] & left) return rule->run[i] & left;
    return left;
}

/* Whether the first n dimensions of an order, which obeys the rule, are a least prefix. */
static bool is_least(const sx_orders *orders, const sx_order_rule *rule, const uint8_t *order, int n) {
    uint8_t least[SX_MAX_DIMS];
    if (orders->remainders) return true;
    memcpy(least, order, (size_t)n);
    make_least(orders, rule, least, n);
    return memcmp(least, order, (size_t)n) == 0;
}

/* Adds all classes whose least order begins with the first n dimensions; false when memory is out. */
static bool add_classes(const sx_orders *orders, const sx_order_rule *rule, struct entry *entry,
                        uint32_t dims, uint8_t *order, int n, uint32_t left) {
    if (left == 0) return add_class(orders, entry, dims, order);
    for (uint32_t next = ruled_dims(rule, left); next; next &= next - 1) {
        int d = __builtin_ctz(next);
        order[n] = (uint8_t)d;
        if (!is_least(orders, rule, order, n + 1)) continue;
        if (!add_classes(orders, rule, entry, dims, order, n + 1, left & ~(1u << d))) return false;
    }
    return true;
}

/* Lists the classes of a set; on failure the entry has none, and n is 0 or what there is room for. */
static void list_classes(const sx_orders *orders, const sx_order_rule *rule, uint32_t dims,
                         struct entry *entry) {
    uint8_t order[SX_MAX_DIMS] = {0};
    if (add_classes(orders, rule, entry, dims, order, 0, dims)) return;
    free(entry->order);
    *entry = (struct entry){.n = entry->n == MAX_CLASSES ? MAX_CLASSES : 0};
}

sx_status sx_orders_failure(size_t n) {
    if (n == 0) return sx_error_memory();
    return sx_error_hint(sx_error_new(SX_ERR_LIMIT, "a level has more than %zu loop orders to tell apart", n),
                         "constrain the permutation of its temporal loops, or the dimensions that have any");
}

const uint8_t (*sx_orders_classes(sx_orders *orders, uint32_t dims, size_t *n))[SX_MAX_DIMS] {
    dims &= (1u << orders->n_dims) - 1;
    struct entry *entry = &orders->entry[dims];
    if (atomic_load_explicit(&entry->listed, memory_order_acquire)) {
        *n = entry->n;
        return (const void *)entry->order;
    }
    pthread_mutex_lock(&orders->lock);
    if (entry->n == 0) list_classes(orders, NULL, dims, entry);
    *n = entry->n;
    const void *order = entry->order;
    atomic_store_explicit(&entry->listed, *n > 0, memory_order_release);
    pthread_mutex_unlock(&orders->lock);
    return order;
}

uint8_t (*sx_orders_under(const sx_orders *orders, const sx_order_rule *rule, uint32_t dims,
                          size_t *n))[SX_MAX_DIMS] {
    struct entry entry = {0};
    list_classes(orders, rule, dims & ((1u << orders->n_dims) - 1), &entry);
    *n = entry.n;
    return entry.order;
}

/* Counts the classes whose least order begins with the first n dimensions, as far as `most`. */
static size_t count_classes(const sx_orders *orders, const sx_order_rule *rule, uint8_t *order, int n,
                            uint32_t left, size_t most) {
    if (left == 0) return 1;
    size_t count = 0;
    for (uint32_t next = ruled_dims(rule, left); next && count < most; next &= next - 1) {
        int d = __builtin_ctz(next);
        order[n] = (uint8_t)d;
        if (is_least(orders, rule, order, n + 1))
            count += count_classes(orders, rule, order, n + 1, left & ~(1u << d), most - count);
    }
    return count;
}

/* Tensors without windows, in the order in which their first solo dimensions come; those in one group meet
 * the same one. */
struct group_order {
    int n_dims, n_groups;
    uint32_t of[SX_MAX_DIMS];       /* the tensors that a dimension indexes */
    uint32_t group[SX_MAX_TENSORS]; /* of tensors */
};

static double power_of(int base, int exponent) {
    double product = 1;
    for (; exponent > 0; exponent--) product *= base;
    return product;
}

/* How many classes have this order of groups. What its tensors see are the dimensions before each group's first solo
 * one. A dimension may stand anywhere after the last of its tensors' groups has begun (that is, between the
 * beginnings of two later groups, or after all), and some dimension of the whole group must begin it. */
static double count_group_order(const struct group_order *p) {
    double count = 1;
    int begins[SX_MAX_TENSORS + 1] = {0};
    for (int d = 0; d < p->n_dims; d++) {
        int last = p->n_groups;
        while (last > 0 && !(p->of[d] & p->group[last - 1])) last--;
        bool whole = last > 0 && (p->of[d] & p->group[last - 1]) == p->group[last - 1];
        begins[last] += whole;
        if (!whole) count *= p->n_groups - last + 1;
    }
    for (int k = 1; k < p->n_groups; k++) {
        int places = p->n_groups - k + 1;
        count *= power_of(places, begins[k]) - power_of(places - 1, begins[k]);
    }
    return p->n_groups && !begins[p->n_groups] ? 0 : count;
}

/* Adds up the classes of all orders of groups that begin with these. */
static double count_group_orders(struct group_order *p, uint32_t left) {
    if (left == 0) return count_group_order(p);
    double sum = 0;
    for (uint32_t some = left; some; some = (some - 1) & left) {
        bool begun = false;
        for (int d = 0; d < p->n_dims; d++) begun |= (p->of[d] & left) == some;
        if (!begun) continue;
        p->group[p->n_groups++] = some;
        sum += count_group_orders(p, left & ~some);
        p->n_groups--;
    }
    return sum;
}

/* The number of classes of all orders, where no tensor has windows among the dimensions; else 0. */
static double count_plain(const sx_orders *orders, uint32_t dims) {
    struct group_order p = {0};
    uint32_t tensors = 0, all = (1u << orders->n_dims) - 1;
    for (dims &= all; dims; dims &= dims - 1) {
        int d = __builtin_ctz(dims);
        for (int v = 0; v < orders->n_tensors; v++) {
            if (orders->indexed[v] & ~orders->solo[v] & 1u << d) return 0;
            p.of[p.n_dims] |= (orders->solo[v] >> d & 1) << v;
        }
        tensors |= p.of[p.n_dims++];
    }
    return orders->remainders ? 0 : count_group_orders(&p, tensors);
}

double sx_orders_count(const sx_orders *orders, const sx_order_rule *rule, uint32_t dims, size_t most) {
    uint8_t order[SX_MAX_DIMS];
    double plain = rule && rule->n_runs > 1 ? 0 : count_plain(orders, dims);
    if (plain > 0) return plain;
    size_t count = count_classes(orders, rule, order, 0, dims & ((1u << orders->n_dims) - 1), most + 1);
    return count > most ? 0 : (double)count;
}

double sx_orders_probe(const sx_orders *orders, const sx_order_rule *rule, uint32_t dims, sx_rng *rng) {
    uint8_t order[SX_MAX_DIMS];
    double count = 1;
    int n = 0;
    for (uint32_t left = dims & ((1u << orders->n_dims) - 1); left; n++) {
        uint8_t choice[SX_MAX_DIMS];
        unsigned choices = 0;
        for (uint32_t next = ruled_dims(rule, left); next; next &= next - 1) {
            order[n] = (uint8_t)__builtin_ctz(next);
            if (is_least(orders, rule, order, n + 1)) choice[choices++] = order[n];
        }
        if (choices == 0) return 0;
        order[n] = choice[choices > 1 ? sx_rng_below(rng, choices) : 0];
        left &= ~(1u << order[n]);
        count *= choices;
    }
    return count;
}

void sx_orders_canonical(sx_orders *orders, uint32_t dims, uint8_t *order) {
    int n = 0;
    for (int i = 0; i < orders->n_dims; i++)
        if (dims >> order[i] & 1) order[n++] = order[i];
    if (!orders->remainders) make_least(orders, NULL, order, n);
    append_others(orders, dims, order);
}
