/* Lists of the choices that differ in cost. Orders: one of each class (orders.c), among those that
 * the constraints allow. Spatial loops: every set on X that some choice leads to. Kept tensors: every set
 * that some distribution of a level's banks leads to, with one such distribution. */
#include "mapspace/map_choices.h"

#include "base/status.h"
#include "ir/axes.h"
#include "mapspace/map_parts.h"
#include "model/capacity.h"
#include "model/latency.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A list for one set of loops. */
struct list {
    void *items;
    size_t n;
    atomic_bool listed; /* once it is, the list does not change, and is read without the lock */
};

struct sx_map_choices {
    const sx_map_space *space;
    pthread_mutex_t lock;
    /* per level, then per set; NULL until there is one */
    _Atomic(struct list *) orders[SX_MAX_LEVELS], spreads[SX_MAX_LEVELS], any;
};

sx_status sx_map_choices_new(const sx_map_space *space, sx_map_choices **out) {
    sx_map_choices *choices = calloc(1, sizeof *choices);
    if (!choices) return sx_error_memory();
    choices->space = space;
    if (pthread_mutex_init(&choices->lock, NULL) != 0) {
        free(choices);
        return sx_error_memory();
    }
    *out = choices;
    return SX_OK;
}

/* Frees the lists of all sets. */
static void free_lists(struct list *lists, int n_dims) {
    for (size_t i = 0; lists && i < (size_t)1 << n_dims; i++) free(lists[i].items);
    free(lists);
}

void sx_map_choices_free(sx_map_choices *choices) {
    if (!choices) return;
    int n_dims = choices->space->problem->n_dims;
    for (int s = 0; s < SX_MAX_LEVELS; s++) {
        free_lists(choices->orders[s], n_dims);
        free_lists(choices->spreads[s], n_dims);
    }
    free_lists(choices->any, n_dims);
    pthread_mutex_destroy(&choices->lock);
    free(choices);
}

bool sx_map_order_matters(const sx_map_space *space, int level, bool spread) {
    return level > 0 || space->model->sparse || sx_latency_sees_orders(space->model) ||
           (spread && !space->model->options.no_link_transfers);
}

/* The list of a set, to be made where it has no items; NULL when memory is out. Called under the lock. */
static struct list *find_list(const sx_map_choices *choices, _Atomic(struct list *) *lists, uint32_t loops) {
    struct list *list = atomic_load_explicit(lists, memory_order_relaxed);
    if (!list) list = calloc((size_t)1 << choices->space->problem->n_dims, sizeof *list);
    atomic_store_explicit(lists, list, memory_order_release);
    return list ? list + loops : NULL;
}

/* The list of a set where it has been made, else NULL; needs no lock. */
static const struct list *find_listed(_Atomic(struct list *) *lists, uint32_t loops) {
    const struct list *list = atomic_load_explicit(lists, memory_order_acquire);
    return list && atomic_load_explicit(&list[loops].listed, memory_order_acquire) ? list + loops : NULL;
}

/* The items of a list that was asked for, whose number is set. Called under the lock. */
static const void *publish_list(struct list *list, size_t *n) {
    *n = list ? list->n : 0;
    if (!list || !list->items) return NULL;
    atomic_store_explicit(&list->listed, true, memory_order_release);
    return list->items;
}

/* What the constraints say of a level's order. */
static sx_order_rule rule_of(const sx_map_space *space, int level) {
    const sx_loop_limits *limits = &space->constraints.level[level].temporal;
    sx_order_rule rule = {0};
    for (int i = 0; i < limits->n_inner; i++) rule.run[rule.n_runs++] = 1u << limits->inner[i];
    uint32_t others = ((1u << space->problem->n_dims) - 1) & ~(uint32_t)space->fixed_order[level];
    if (others) rule.run[rule.n_runs++] = others;
    for (int i = 0; i < limits->n_outer; i++) rule.run[rule.n_runs++] = 1u << limits->outer[i];
    return rule;
}

/* Makes the list of one order that a level allows. */
static void list_any(const sx_map_space *space, int level, uint32_t loops, struct list *list) {
    uint8_t *order = calloc(SX_MAX_DIMS, 1);
    if (!order) return;
    sx_order_rule rule = rule_of(space, level);
    uint32_t others = ((1u << space->problem->n_dims) - 1) & ~loops;
    int n = 0;
    for (int i = 0; i < rule.n_runs; i++)
        for (uint32_t run = rule.run[i] & loops; run; run &= run - 1)
            order[n++] = (uint8_t)__builtin_ctz(run);
    for (; others; others &= others - 1) order[n++] = (uint8_t)__builtin_ctz(others);
    list->items = order;
    list->n = 1;
}

const uint8_t (*sx_map_orders_of(sx_map_choices *choices, int level, uint32_t loops, bool matters,
                                 size_t *n))[SX_MAX_DIMS] {
    const sx_map_space *space = choices->space;
    if (matters && !space->fixed_order[level]) return sx_orders_classes(space->orders, loops, n);
    _Atomic(struct list *) *lists = matters ? &choices->orders[level] : &choices->any;
    const struct list *known = find_listed(lists, loops);
    if (known) {
        *n = known->n;
        return (const void *)known->items;
    }
    pthread_mutex_lock(&choices->lock);
    struct list *list = find_list(choices, lists, loops);
    if (list && !list->items) {
        sx_order_rule rule = rule_of(space, level);
        if (matters)
            list->items = sx_orders_under(space->orders, &rule, loops, &list->n);
        else
            list_any(space, level, loops, list);
    }
    const void *items = publish_list(list, n);
    pthread_mutex_unlock(&choices->lock);
    return items;
}

double sx_map_count_orders(const sx_map_space *space, int level, uint32_t loops, size_t most) {
    sx_order_rule rule = rule_of(space, level);
    return sx_orders_count(space->orders, &rule, loops, most);
}

double sx_map_probe_orders(const sx_map_space *space, int level, uint32_t loops, sx_rng *rng) {
    sx_order_rule rule = rule_of(space, level);
    return sx_orders_probe(space->orders, &rule, loops, rng);
}

/* Makes the list of sets on X. */
static void list_layouts(const sx_map_space *space, int level, uint32_t loops, struct list *list) {
    uint32_t free_x = space->free_x[level] & loops, some = 0;
    uint16_t *x = malloc(((size_t)1 << __builtin_popcount(free_x)) * sizeof *x);
    bool *seen = calloc((size_t)1 << space->problem->n_dims, sizeof *seen);
    sx_mapping_level at = {0};
    for (int d = 0; d < space->problem->n_dims; d++) at.spatial[d] = 1 + (loops >> d & 1);
    size_t n = 0;
    do {
        if (!x || !seen) break;
        sx_map_set_xy(space, level, some, &at);
        unsigned on_x = sx_map_on_x(&at);
        if (!seen[on_x]) x[n++] = (uint16_t)on_x;
        seen[on_x] = true;
        some = (some - free_x) & free_x;
    } while (some);
    free(seen);
    if (n == 0) free(x);
    list->items = n ? x : NULL;
    list->n = n;
}

const uint16_t *sx_map_layouts_of(sx_map_choices *choices, int level, uint32_t loops, size_t *n) {
    const struct list *known = find_listed(&choices->spreads[level], loops);
    if (known) {
        *n = known->n;
        return known->items;
    }
    pthread_mutex_lock(&choices->lock);
    struct list *list = find_list(choices, &choices->spreads[level], loops);
    if (list && !list->items) list_layouts(choices->space, level, loops, list);
    const void *items = publish_list(list, n);
    pthread_mutex_unlock(&choices->lock);
    return items;
}

/* Distributes a level's banks so that it keeps just these of its banked tensors; `need` is what each one's tile
 * takes. False where no distribution does. */
static bool deal_banks(const sx_map_space *space, int level, unsigned keep, const double *need,
                       uint8_t *banks) {
    uint32_t left = space->arch->level[level].banks;
    unsigned tensors = space->banked[level];
    for (unsigned more = tensors; more; more &= more - 1) {
        int v = __builtin_ctz(more);
        double least = keep >> v & 1 ? fmax(need[v], 1) : 1;
        if (least > left || (!(keep >> v & 1) && need[v] <= 1)) return false;
        banks[v] = (uint8_t)least;
        left -= (uint32_t)least;
    }
    for (unsigned more = tensors; more && left; more &= more - 1) {
        int v = __builtin_ctz(more);
        double room = keep >> v & 1 ? left : fmin(need[v] - 2, left);
        banks[v] = (uint8_t)(banks[v] + (uint32_t)room);
        left -= (uint32_t)room;
    }
    return left == 0;
}

void sx_map_set_layout(const sx_map_space *space, int level, unsigned x, void *point) {
    sx_mapping_level *at = sx_map_level(point, level);
    int n_dims = space->problem->n_dims, n = 0;
    for (int d = 0; d < n_dims; d++)
        if (x >> d & 1) at->spatial_order[n++] = (uint8_t)d;
    at->split = (uint8_t)n;
    at->x_part = 0;
    for (int d = 0; d < n_dims; d++)
        if (!(x >> d & 1)) at->spatial_order[n++] = (uint8_t)d;
    assert(n == n_dims);
}

bool sx_map_layout_fits(const sx_map_space *space, int level, const uint32_t *factor, unsigned x) {
    sx_axis_split axes;
    return sx_axes_lay(factor, space->problem->n_dims, x, space->room[level], space->splits[level], &axes);
}

int sx_map_keeps_of(const sx_map_space *space, int level, const uint32_t *extent, sx_map_keep *out) {
    unsigned fixed = space->fixed_keep[level], banked = space->banked[level];
    unsigned free_keep = banked ? banked & ~fixed : space->free_keep[level];
    double need[SX_MAX_TENSORS] = {0};
    const sx_level *at = &space->model->level[level];
    for (unsigned more = banked; more; more &= more - 1) {
        int v = __builtin_ctz(more);
        need[v] = sx_level_banks(at, v, (double)sx_shape_words(&space->model->shape[v], extent));
    }
    int n = 0;
    unsigned some = 0;
    do {
        sx_map_keep choice = {.keep = (uint8_t)(fixed | some)};
        if (!banked || deal_banks(space, level, choice.keep, need, choice.banks)) out[n++] = choice;
        some = (some - free_keep) & free_keep;
    } while (some);
    return n;
}
