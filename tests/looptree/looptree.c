#include "looptree/looptree.h"

#include <math.h>
#include <string.h>

/* Words that move between two neighbouring holders of a tensor, by who counts them. `first` are those that an
 * output's place sees for the first time, which need not be fetched. */
typedef struct moved_words {
    uint64_t all, first;
} moved_words;

typedef struct transfer {
    moved_words parents,
        children; /* of all instances: what one parent hands to several children counts once */
    moved_words one_parent, one_child; /* of one instance */
    bool overflow;
} transfer;

/* Counts of one path: bits of all instances and of one, by level. */
typedef struct traffic {
    uint64_t reads[SX_MAX_LEVELS], writes[SX_MAX_LEVELS];
    uint64_t one_reads[SX_MAX_LEVELS], one_writes[SX_MAX_LEVELS];
    bool overflow;
} traffic;

static void multiply(transfer *t, moved_words *words, uint32_t bound, bool is_first) {
    t->overflow |= __builtin_mul_overflow(words->all, bound, &words->all);
    if (is_first) words->first *= bound; /* at most `all` */
}

/* A loop above the child: of spreads only those between parent and child divide the work of one parent. */
static void add_loop(transfer *t, const sx_path_step *step, sx_relevance relevance, bool between) {
    if (step->node.kind == SX_PATH_LOOP) {
        const bool is_first = relevance == SX_FULLY_RELEVANT;
        multiply(t, &t->parents, step->bound, is_first);
        multiply(t, &t->children, step->bound, is_first);
        multiply(t, &t->one_parent, step->bound, is_first);
        multiply(t, &t->one_child, step->bound, is_first);
        return;
    }
    const bool is_multicast = between && relevance == SX_IRRELEVANT;
    multiply(t, &t->children, step->bound, true);
    if (is_multicast) return;
    multiply(t, &t->parents, step->bound, true);
    if (between) multiply(t, &t->one_parent, step->bound, true);
}

/* What moves between the holder at step `parent` and the next inward at step `child` (the number of steps: the
 * compute unit). */
static transfer count_transfer(const sx_problem *einsum, int tensor, const sx_path_layout *layout, int parent,
                               int child) {
    uint32_t one[SX_MAX_DIMS];
    for (int d = 0; d < SX_MAX_DIMS; d++) one[d] = 1;
    const uint32_t *extent = child < layout->n_steps ? layout->step[child].extent : one;
    const uint64_t words = sx_tile_words(einsum, tensor, extent);
    const moved_words tile = {words, words};
    transfer t = {.parents = tile, .children = tile, .one_parent = tile, .one_child = tile};
    for (int i = 0; i < child; i++) {
        const sx_path_step *step = &layout->step[i];
        if (step->node.kind != SX_PATH_HOLD)
            add_loop(&t, step, sx_relevance_of(einsum, tensor, step->node.index, NULL), i > parent);
    }
    return t;
}

static void add_bits(traffic *all, uint64_t *count, uint64_t words, uint32_t bits) {
    uint64_t more;
    all->overflow |= __builtin_mul_overflow(words, bits, &more);
    all->overflow |= __builtin_add_overflow(*count, more, count) || *count > INT64_MAX;
}

/* Adds a transfer to the counts of its two levels; child < 0: the compute unit, which counts nothing. */
static void charge_transfer(traffic *all, const transfer *t, bool output, uint32_t bits, int parent,
                            int child) {
    all->overflow |= t->overflow;
    uint64_t *out = output ? all->writes : all->reads, *one_out = output ? all->one_writes : all->one_reads;
    uint64_t *in = output ? all->reads : all->writes, *one_in = output ? all->one_reads : all->one_writes;
    add_bits(all, &out[parent], t->parents.all, bits);
    add_bits(all, &one_out[parent], t->one_parent.all, bits);
    if (output) { /* partial sums come back */
        add_bits(all, &all->reads[parent], t->parents.all - t->parents.first, bits);
        add_bits(all, &all->one_reads[parent], t->one_parent.all - t->one_parent.first, bits);
    }
    if (child < 0) return;
    add_bits(all, &in[child], t->children.all, bits);
    add_bits(all, &one_in[child], t->one_child.all, bits);
    if (output) {
        add_bits(all, &all->writes[child], t->children.all - t->children.first, bits);
        add_bits(all, &all->one_writes[child], t->one_child.all - t->one_child.first, bits);
    }
}

/* The next holder of the same tensor after a step; the number of steps where there is none. */
static int next_holder(const sx_path_layout *layout, int step) {
    const uint8_t tensor = layout->step[step].node.index;
    int i = step + 1;
    while (i < layout->n_steps &&
           (layout->step[i].node.kind != SX_PATH_HOLD || layout->step[i].node.index != tensor))
        i++;
    return i;
}

static void count_traffic(const sx_problem *einsum, const uint32_t *bits, const sx_path_layout *layout,
                          traffic *all) {
    memset(all, 0, sizeof *all);
    for (int i = 0; i < layout->n_steps; i++) {
        const sx_path_node *node = &layout->step[i].node;
        if (node->kind != SX_PATH_HOLD) continue;
        const int child = next_holder(layout, i);
        const transfer t = count_transfer(einsum, node->index, layout, i, child);
        charge_transfer(all, &t, einsum->tensor[node->index].output, bits[node->index], node->level,
                        child < layout->n_steps ? layout->step[child].node.level : -1);
    }
}

/* The step before which the room of a holder is taken. The outermost holder of a tensor takes it where it stands.
 * Another one sinks through loops that move its tensor alone and over its own instances, and through one loop of a
 * window, whose tile slides. */
static int reserved_at(const sx_problem *einsum, const sx_path_layout *layout, int holder, bool backing) {
    const sx_path_node *held = &layout->step[holder].node;
    int i = holder + 1;
    if (backing || !held->sinks) return i;
    for (; i < layout->n_steps; i++) {
        const sx_path_node *node = &layout->step[i].node;
        if (node->kind == SX_PATH_HOLD) return i;
        if (node->kind == SX_PATH_SPREAD) {
            if (node->level != held->level) return i;
            continue;
        }
        const sx_relevance relevance = sx_relevance_of(einsum, held->index, node->index, NULL);
        if (relevance == SX_IRRELEVANT) return i;
        if (relevance == SX_PARTLY_RELEVANT) return i + 1;
    }
    return i;
}

static bool is_backing(const sx_path_layout *layout, int holder) {
    for (int i = 0; i < holder; i++)
        if (layout->step[i].node.kind == SX_PATH_HOLD &&
            layout->step[i].node.index == layout->step[holder].node.index)
            return false;
    return true;
}

static void add_reservation(const sx_problem *einsum, const uint32_t *bits, const sx_path_layout *layout,
                            int holder, sx_path_cost *cost) {
    const sx_path_node *node = &layout->step[holder].node;
    sx_reservation *r = &cost->reservation[cost->n_reservations++];
    *r = (sx_reservation){
        .level = (uint8_t)node->level, .tensor = node->index, .backing = is_backing(layout, holder)};
    const int place = reserved_at(einsum, layout, holder, r->backing);
    uint32_t extent[SX_MAX_DIMS];
    memcpy(extent, layout->step[holder].extent, sizeof extent);
    for (int i = 0; i < place; i++) {
        const sx_path_step *step = &layout->step[i];
        if (step->node.kind == SX_PATH_HOLD) continue;
        r->depth++;
        if (i > holder) extent[step->node.index] /= step->bound;
    }
    r->bits = sx_tile_words(einsum, node->index, extent) * bits[node->index];
}

/* Steps of the compute units: the product of all loops that are not spread. */
static double count_steps(const sx_path_layout *layout) {
    double steps = 1;
    for (int i = 0; i < layout->n_steps; i++)
        if (layout->step[i].node.kind == SX_PATH_LOOP) steps *= layout->step[i].bound;
    return steps;
}

bool sx_looptree_cost(const sx_arch *arch, const sx_problem *einsum, const uint32_t *bits,
                      const sx_path_layout *layout, sx_path_cost *cost) {
    traffic all;
    count_traffic(einsum, bits, layout, &all);
    memset(cost, 0, sizeof *cost);
    memcpy(cost->reads, all.reads, sizeof cost->reads);
    memcpy(cost->writes, all.writes, sizeof cost->writes);
    for (int i = 0; i < layout->n_steps; i++)
        if (layout->step[i].node.kind == SX_PATH_HOLD) add_reservation(einsum, bits, layout, i, cost);
    cost->latency = count_steps(layout);
    double leakage = 0;
    for (int s = arch->n_levels - 1; s >= 0; s--) {
        const sx_storage *level = &arch->level[s];
        const double vector = (double)level->word_bits * level->block_size;
        cost->energy +=
            ((double)all.reads[s] * level->read_energy + (double)all.writes[s] * level->fill_energy) / vector;
        const double time = ((double)all.one_reads[s] / level->read_bandwidth +
                             (double)all.one_writes[s] / level->write_bandwidth) /
                            level->word_bits;
        cost->latency = fmax(cost->latency, time);
        leakage += level->leak_energy * (double)level->instances;
    }
    cost->energy += (double)sx_problem_computes(einsum) * arch->compute.energy + leakage * cost->latency;
    return !all.overflow;
}
