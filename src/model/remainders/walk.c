/* Counting by compressed execution: every iteration of the nest happens, but blocks of iterations that start
 * in the same state are carried out once and counted as often as they occur. Exact for remainders.
 *
 * For a parent level, its instances and their children fall into classes. A dimension whose factors leave a
 * remainder is "at the edge" while all outer loops on it are at their last iteration; of a spatial loop
 * reached at the edge, the children before the last (early) leave the edge, the last one stays on it (on),
 * and those beyond it are idle. All children of a class behave alike. The state is, per class and relative to
 * where the loops stand: the tile held, the last step (docs/model.md, section 2) and what the last visit
 * fetched (section 3, for links). A block (j, edges, state) stands for all visits of the j innermost loops;
 * iterations of a loop are carried out until their states repeat. A class that stays idle throughout a block
 * is left out of its state. */
#include "model/remainders/walk.h"

#include "model/remainders/partition.h"

#include "base/hash.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void sx_walker_free(sx_walker *w) {
    if (!w) return;
    free(w->place);
    free(w->class_of);
    free(w->now);
    free(w->before);
    free(w->state);
    sx_hash_table_clear(&w->states);
    sx_hash_table_clear(&w->blocks_at);
    free(w->block);
    free(w->child);
    free(w->scratch);
    free(w->traffic);
    free(w);
}

static uint32_t run_block(sx_walker *w, int32_t j, uint32_t edges, uint32_t in);

/* Whether a class that holds something is idle at all visits where these dimensions are at the edge. */
static bool is_frozen(const sx_walker *w, int c, uint32_t stuck, uint32_t state) {
    return sx_walk_state(w, state)[(size_t)c * w->record] & HELD && sx_walk_idle(w, c, stuck);
}

/* The block of the j innermost items, without what classes hold that stay idle in it; *out is the state
 * afterwards with that back in. */
static uint32_t run_edges(sx_walker *w, int32_t j, uint32_t edges, uint32_t in, uint32_t *out) {
    uint32_t stuck = edges & ~w->leaving[j];
    size_t hold = 3 * (size_t)w->shape->n_ranks * sizeof(int64_t);
    bool any = false;
    for (int c = 0; c < w->n_classes && stuck && !any; c++) any = is_frozen(w, c, stuck, in);
    if (!any) {
        uint32_t b = run_block(w, j, edges, in);
        *out = w->failed ? in : w->block[b].out;
        return b;
    }
    sx_walk_load(w, in);
    for (int c = 0; c < w->n_classes; c++) {
        int64_t *record = w->scratch + (size_t)c * w->record;
        if (!is_frozen(w, c, stuck, in)) continue;
        record[0] &= FETCHED;
        memset(sx_walk_held(record), 0, hold);
    }
    uint32_t b = run_block(w, j, edges, sx_walk_intern(w));
    if (w->failed) return b;
    sx_walk_load(w, w->block[b].out);
    for (int c = 0; c < w->n_classes; c++) {
        int64_t *record = w->scratch + (size_t)c * w->record;
        const int64_t *before = sx_walk_state(w, in) + (size_t)c * w->record;
        if (!is_frozen(w, c, stuck, in)) continue;
        record[0] |= before[0] & (HELD | STEPPED);
        memcpy(sx_walk_held(record), before + 1, hold);
    }
    *out = sx_walk_intern(w);
    return b;
}

/* One child of a block under construction. */
typedef struct sequence {
    sx_walk_child list[MEMORY + 2];
    int n;
    bool visits;
} sequence;

static void add_child(sx_walker *w, sequence *s, uint32_t b, uint64_t times) {
    if (w->failed || times == 0) return;
    s->visits |= w->block[b].visits;
    for (int i = 0; i < s->n; i++)
        if (s->list[i].block == b) {
            s->list[i].times += times;
            return;
        }
    s->list[s->n++] = (sx_walk_child){b, times};
}

/* Moves the children collected so far to the pool, where only `w->n_children` of the current block may grow.
 */
static bool flush_children(sx_walker *w, sequence *s, sx_walk_child **kept, size_t *n_kept, size_t *room) {
    if (s->n == 0) return true;
    if (!sx_walk_reserve(w, kept, room, *n_kept + (size_t)s->n, sizeof **kept)) return false;
    memcpy(*kept + *n_kept, s->list, (size_t)s->n * sizeof *s->list);
    *n_kept += (size_t)s->n;
    s->n = 0;
    return true;
}

/* Carries out `n` iterations of an item with the same edges inside, until states repeat; returns the state
 * after. Where the parent is idle all the while, nothing happens. */
static uint32_t iterate_item(sx_walker *w, int32_t j, uint32_t edges, uint64_t n, uint32_t state,
                             sx_walk_child **kept, size_t *n_kept, size_t *room, bool *visits) {
    const sx_walk_item *it = &w->items[j];
    if (edges & w->dead[j]) return sx_walk_shift(w, state, it, (int64_t)n);
    uint32_t entered[MEMORY], ran[MEMORY];
    sequence s = {.n = 0};
    for (uint64_t i = 0; i < n && !w->failed; i++) {
        for (uint64_t k = i > MEMORY ? i - MEMORY : 0; k < i; k++) {
            if (entered[k % MEMORY] != state) continue;
            uint64_t period = i - k, left = n - i;
            for (uint64_t p = 0; p < period; p++)
                add_child(w, &s, ran[(k + p) % MEMORY], left / period + (p < left % period));
            state = left % period ? entered[(k + left % period) % MEMORY] : state;
            i = n;
            break;
        }
        if (i >= n) break;
        uint32_t after;
        uint32_t b = run_edges(w, j, edges, state, &after);
        if (w->failed) break;
        entered[i % MEMORY] = state;
        ran[i % MEMORY] = b;
        add_child(w, &s, b, 1);
        if (s.n > MEMORY && !flush_children(w, &s, kept, n_kept, room)) break;
        state = sx_walk_shift(w, after, it, 1);
    }
    *visits |= s.visits;
    flush_children(w, &s, kept, n_kept, room);
    return state;
}

/* Fills in a block of at least one item: its children and its state afterwards. */
static void run_item(sx_walker *w, sx_walk_block *b) {
    int32_t j = b->j - 1;
    const sx_walk_item *it = &w->items[j];
    uint32_t edge = b->edges & 1u << it->loop->dim, inside = b->edges & ~edge, state = b->in;
    sx_walk_child *kept = NULL;
    size_t n_kept = 0, room = 0;
    if (it->spatial) {
        if (edge && it->place == SX_IDLE) return;
        uint32_t edges = it->place == SX_ON ? b->edges : inside, after;
        uint32_t only = run_edges(w, j, edges, state, &after);
        if (w->failed) return;
        b->visits = w->block[only].visits;
        b->out = after;
        if (sx_walk_reserve(w, &kept, &room, 1, sizeof *kept)) kept[n_kept++] = (sx_walk_child){only, 1};
    } else {
        uint64_t n = edge ? it->loop->last : it->loop->n;
        state = iterate_item(w, j, inside, edge ? n - 1 : n, state, &kept, &n_kept, &room, &b->visits);
        if (edge) state = iterate_item(w, j, b->edges, 1, state, &kept, &n_kept, &room, &b->visits);
        if (!w->failed) b->out = sx_walk_shift(w, state, it, -(int64_t)n);
    }
    if (!w->failed &&
        sx_walk_reserve(w, &w->child, &w->child_room, w->n_children + n_kept, sizeof *w->child)) {
        b->first_child = (uint32_t)w->n_children;
        b->n_children = (uint32_t)n_kept;
        if (n_kept) memcpy(w->child + w->n_children, kept, n_kept * sizeof *kept);
        w->n_children += n_kept;
    }
    free(kept);
}

/* The block of the j innermost items from a state, carried out once. */
static uint32_t run_block(sx_walker *w, int32_t j, uint32_t edges, uint32_t in) {
    sx_walk_block b = {.j = j, .edges = edges, .in = in, .out = in};
    const sx_hash_keys blocks = {w->block, sizeof *w->block, offsetof(sx_walk_block, out)};
    const uint64_t hash = sx_hash_mix(sx_hash_mix(0, in), (uint64_t)(uint32_t)j << 32 | edges);
    uint32_t known = sx_hash_table_find(&w->blocks_at, blocks, &b, hash);
    if (known != SX_HASH_NONE) return known;
    if (j == 0) {
        sx_walk_visit(w, edges, in, NULL);
        b.out = sx_walk_intern(w);
        b.visits = true;
    } else {
        run_item(w, &b);
    }
    if (w->n_blocks == w->workspace->max_blocks)
        sx_walk_limit(w, SX_LIMIT_BLOCKS, (double)w->n_blocks + 1, (double)w->n_blocks);
    if (w->failed || !sx_walk_reserve(w, &w->block, &w->block_room, w->n_blocks + 1, sizeof *w->block))
        return 0;
    if (!sx_hash_table_add(&w->blocks_at, hash, (uint32_t)w->n_blocks)) {
        w->failed = true;
        return 0;
    }
    w->block[w->n_blocks] = b;
    return (uint32_t)w->n_blocks++;
}

/* Ends a walk whose groups of children could not be found. */
static void fail_groups(sx_walker *w) {
    w->failed = true;
    sx_fanout_fail(&w->slot, w->workspace, w->level);
}

/* Adds what a visit moves where all children are alike: groups by the slot's closed forms. */
static void add_alike(sx_model_workspace *e, sx_walker *w, sx_access_stats *flow, const sx_box_delta *now,
                      const sx_box_delta *before, double times, bool hops) {
    const sx_multicast_group *group;
    int64_t need[SX_MAX_RANKS];
    uint64_t groups = 0, fewer = 0, served = 0;
    size_t n = sx_fanout_groups(&w->slot, e->slot, hops, &group);
    if (n == 0) fail_groups(w);
    for (size_t i = 0; i < n; i++) groups += group[i].count;
    if (w->links && before->words > 0 && sx_box_delta_congruent(w->shape->n_ranks, now, before, need)) {
        size_t left = sx_fanout_served(&w->slot, e->slot, need, hops, &served, &group);
        if (left == SIZE_MAX) fail_groups(w);
        for (size_t i = 0; i < left && !w->failed; i++) fewer += group[i].count;
        n = left;
        if (!w->failed && fewer >= groups) {
            n = sx_fanout_groups(&w->slot, e->slot, hops, &group);
            served = 0;
        }
    }
    double words = times * (double)now->words;
    for (size_t i = 0; i < n && !w->failed; i++)
        sx_access_stats_add(e, flow,
                            (sx_access_entry){group[i].m, group[i].count, words * (double)group[i].count,
                                              words * group[i].hops});
    flow->links += words * (double)served;
}

/* Adds what a visit moves where children at the edge differ. */
static void add_mixed_visit(sx_model_workspace *e, sx_walker *w, sx_access_stats *flow, double times,
                            bool hops) {
    sx_multicast_visit multicast = {&w->slot, w->class_of, w->now, w->before, w->n_classes, w->links};
    uint64_t links;
    if (!sx_walk_reserve(w, &w->traffic, &w->traffic_room, w->slot.siblings, sizeof *w->traffic)) return;
    size_t n = sx_multicast_visit_groups(&multicast, hops, w->traffic, &links);
    w->failed |= n == SIZE_MAX;
    for (size_t i = 0; i < n && !w->failed; i++) {
        const sx_multicast_traffic *p = &w->traffic[i];
        sx_access_stats_add(e, flow,
                            (sx_access_entry){p->m, p->count, times * (double)p->words,
                                              times * (p->hops * (double)p->words / (double)p->count)});
    }
    flow->links += times * (double)links;
}

/* Adds what one visit moves, `times` over, to the flow. */
static void add_visit(sx_model_workspace *e, sx_walker *w, sx_access_stats *flow, const sx_walk_block *b,
                      double times, bool hops) {
    bool any = false;
    sx_walk_visit(w, b->edges, b->in, w->now);
    for (int c = 0; c < w->n_classes; c++) any |= w->now[c].words > 0;
    if (!any) return;
    if (w->slot.n_loops == 0) {
        sx_access_stats_add(e, flow, (sx_access_entry){1, 1, times * (double)w->now[0].words, 0});
        return;
    }
    sx_walk_load(w, b->in);
    for (int c = 0; c < w->n_classes && w->links; c++)
        w->before[c] = sx_walk_recall(w, w->scratch + (size_t)c * w->record);
    if (w->n_classes == 1)
        add_alike(e, w, flow, w->now, w->before, times, hops);
    else
        add_mixed_visit(e, w, flow, times, hops);
}

/* Walks one class of parent instances, of which there are `parents`. */
static void walk_parents(sx_model_workspace *e, sx_walker *w, sx_access_stats *flow, double parents,
                         bool hops) {
    w->leaving[0] = w->dead[0] = 0;
    for (int j = 0; j < w->n_items; j++) {
        const sx_walk_item *it = &w->items[j];
        uint32_t dim = 1u << it->loop->dim;
        bool leaves = it->spatial ? it->place == SX_EARLY : it->loop->last > 1;
        w->leaving[j + 1] = leaves ? w->leaving[j] | dim : w->leaving[j];
        w->dead[j + 1] = leaves ? w->dead[j] & ~dim : w->dead[j];
        if (it->spatial && it->place == SX_IDLE) w->dead[j + 1] |= dim;
    }
    w->failed |= !sx_hash_table_begin(&w->states, w->n_states) ||
                 !sx_hash_table_begin(&w->blocks_at, w->n_blocks); /* as many as in the walk before */
    if (w->failed) return;
    w->n_states = w->n_blocks = w->n_children = 0;
    memset(w->scratch, 0, w->width * sizeof(int64_t));
    uint32_t after;
    uint32_t root = run_edges(w, w->n_items, w->imperfect, sx_walk_intern(w), &after);
    if (w->failed) return;
    for (size_t i = 0; i < w->n_blocks; i++) w->block[i].times = 0;
    w->block[root].times = 1;
    for (size_t i = w->n_blocks; i-- > 0;) {
        const sx_walk_block *b = &w->block[i];
        if (b->times == 0) continue;
        for (uint32_t k = 0; k < b->n_children; k++)
            w->block[w->child[b->first_child + k].block].times +=
                b->times * w->child[b->first_child + k].times;
        if (b->j == 0) add_visit(e, w, flow, b, parents * (double)b->times, hops);
        if (w->failed) return;
    }
}

/* Tries every place of the parent in the spatial loops above it, from item `i` inward. `off` is the set of
 * dimensions on which it is off the edge's path already. */
static void place_parents(sx_model_workspace *e, sx_walker *w, sx_access_stats *flow, int i, uint32_t off,
                          double parents, bool hops) {
    while (i >= 0 && !w->items[i].spatial) i--;
    if (i < 0) {
        walk_parents(e, w, flow, parents, hops);
        return;
    }
    sx_walk_item *it = &w->items[i];
    uint32_t dim = 1u << it->loop->dim;
    if (off & dim) {
        it->place = SX_EARLY;
        place_parents(e, w, flow, i - 1, off, parents * it->loop->n, hops);
        return;
    }
    const uint32_t many[] = {
        [SX_EARLY] = it->loop->last - 1, [SX_ON] = 1, [SX_IDLE] = it->loop->n - it->loop->last};
    for (uint8_t place = SX_EARLY; place <= SX_IDLE && !w->failed; place++) {
        if (many[place] == 0) continue;
        it->place = place;
        place_parents(e, w, flow, i - 1, place == SX_ON ? off : off | dim, parents * many[place], hops);
    }
}

/* Lists the loops outside the children of a level. Returns the parents that the spatial loops left out make.
 */
static double list_items(sx_walker *w) {
    const sx_nest *nest = w->nest;
    double parents = 1;
    w->n_items = 0;
    for (int s = w->level; s < w->model->n_levels; s++) {
        for (int l = nest->spatial_of[s]; s > w->level && l < nest->spatial_of[s + 1]; l++) {
            if (w->imperfect >> nest->spatial[l].dim & 1)
                w->items[w->n_items++] = (sx_walk_item){.loop = &nest->spatial[l], .spatial = true};
            else
                parents *= nest->spatial[l].n;
        }
        for (int l = nest->temporal_of[s]; l < nest->temporal_of[s + 1]; l++)
            w->items[w->n_items++] = (sx_walk_item){.loop = &nest->temporal[l]};
    }
    for (int j = 0; j < w->n_items; j++)
        for (int i = 0; i < w->shape->n_terms; i++)
            if (w->shape->term[i].dim == w->items[j].loop->dim)
                w->items[j].move[w->shape->term[i].rank] =
                    w->shape->term[i].coef * (int64_t)w->items[j].loop->step;
    return parents;
}

/* The first place of a child in a loop with remainders, and how many there are. */
static unsigned child_places(const sx_loop *loop, uint8_t *first) {
    *first = loop->last > 1 ? SX_EARLY : SX_ON;
    return 1u + (loop->last > 1) + (loop->n > loop->last);
}

/* Notes the class of every child: the sum, over the loops with remainders, of its place times a weight. */
static void sort_children(sx_walker *w) {
    const sx_fanout *slot = &w->slot;
    uint64_t placed = 1;
    unsigned weight = 1;
    w->class_of[0] = 0;
    for (int l = 0; l < slot->n_loops; l++) {
        const sx_loop *loop = &slot->loop[l];
        uint8_t first = SX_ON;
        unsigned n = w->imperfect >> loop->dim & 1 ? child_places(loop, &first) : 1;
        for (uint32_t i = 1; i < loop->n; i++) {
            unsigned place = i + 1 < loop->last ? SX_EARLY : i + 1 == loop->last ? SX_ON : SX_IDLE;
            unsigned add = n > 1 ? (place - first) * weight : 0;
            for (uint64_t p = 0; p < placed; p++)
                w->class_of[i * placed + p] = (uint16_t)(w->class_of[p] + add);
        }
        placed *= loop->n;
        weight *= n;
    }
}

/* Sorts the children of the level into classes. */
static void list_classes(sx_walker *w) {
    const sx_fanout *slot = &w->slot;
    double classes = 1;
    uint8_t first;
    for (int l = 0; l < slot->n_loops; l++)
        if (w->imperfect >> slot->loop[l].dim & 1) classes *= child_places(&slot->loop[l], &first);
    if (classes > MAX_CLASSES) {
        sx_walk_limit(w, SX_LIMIT_CLASSES, classes, MAX_CLASSES);
        return;
    }
    w->n_classes = (int)classes;
    if (!sx_walk_reserve(w, &w->place, &w->place_room, (size_t)w->n_classes, sizeof *w->place)) return;
    for (int c = 0; c < w->n_classes; c++) {
        unsigned rest = (unsigned)c;
        memset(w->place[c], SX_ON, sizeof w->place[c]);
        for (int l = 0; l < slot->n_loops; l++) {
            if (!(w->imperfect >> slot->loop[l].dim & 1)) continue;
            unsigned n = child_places(&slot->loop[l], &first);
            w->place[c][slot->loop[l].dim] = (uint8_t)(first + rest % n);
            rest /= n;
        }
    }
    if (w->n_classes == 1) return;
    if (slot->siblings > SX_MAX_LISTED_CHILDREN)
        fail_groups(w);
    else if (sx_walk_reserve(w, &w->class_of, &w->class_room, slot->siblings, sizeof *w->class_of))
        sort_children(w);
}

/* Whether children could get words from their neighbours. Not where tiles of a plain tensor are reused, as
 * its steps are longer than all siblings together. */
static bool may_link(const sx_walker *w) {
    bool spreads = w->nest->spatial_of[w->level + 1] > w->nest->spatial_of[w->level];
    return spreads && (w->always || !w->shape->plain);
}

/* Prepares the walk of one level. */
static double prepare_walk(sx_model_workspace *e, sx_walker *w, const sx_mapping *mapping, int tensor,
                           int level) {
    const sx_model *model = e->model;
    const sx_mapping_level *at = &mapping->level[level];
    w->workspace = e;
    w->model = model;
    w->nest = &e->nest;
    w->shape = &model->shape[tensor];
    w->level = level;
    w->tensor = tensor;
    w->failed = false;
    w->always = level == 0 || (mapping->level[level - 1].no_temporal_reuse >> tensor & 1);
    w->links = !model->options.no_link_transfers && !(at->no_link_transfer >> tensor & 1) && may_link(w);
    w->imperfect = 0;
    for (int d = 0; d < model->n_dims; d++) {
        uint64_t full = level > 0 ? sx_mapping_extent(mapping, level - 1, d) : 1;
        bool exact = sx_mapping_extent(mapping, model->n_levels - 1, d) == model->size[d];
        if (!exact) w->imperfect |= 1u << d;
        w->full[d] = (uint32_t)full;
        w->rest[d] = (uint32_t)((model->size[d] - 1) % full) + 1;
    }
    sx_fanout_init(&w->slot, model, &e->nest, level, tensor, at->no_multicast >> tensor & 1);
    sx_fanout_moves(&w->slot);
    list_classes(w);
    if (w->failed) return 0;
    w->record = 1 + 3 * (size_t)w->shape->n_ranks + (w->links ? 4 * (size_t)w->shape->n_ranks : 0);
    w->width = w->record * (size_t)w->n_classes;
    sx_walk_reserve(w, &w->scratch, &w->scratch_room, w->width, sizeof(int64_t));
    sx_walk_reserve(w, &w->now, &w->now_room, (size_t)w->n_classes, sizeof *w->now);
    sx_walk_reserve(w, &w->before, &w->before_room, (size_t)w->n_classes, sizeof *w->before);
    return list_items(w);
}

void sx_walk_count(sx_model_workspace *e, const sx_mapping *mapping, int tensor, bool hops) {
    const sx_model *model = e->model;
    const sx_nest *nest = &e->nest;
    if (!e->walker) e->walker = calloc(1, sizeof *e->walker);
    sx_walker *w = e->walker;
    e->failed |= !w;
    e->records.n = 0;
    if (!sx_access_entries_reserve(e, SX_MAX_LEVELS)) return;
    for (int s = 0; s < model->n_levels && !e->failed; s++) {
        sx_access_stats *flow = &e->flow[s];
        sx_access_stats_begin(e, flow);
        flow->fanout = nest->slot_x[s] * nest->slot_y[s];
        if (s == 0 && flow->fanout == 1) {
            sx_access_stats_add(e, flow, (sx_access_entry){1, 1, (double)model->computes, 0});
        } else {
            double parents = prepare_walk(e, w, mapping, tensor, s);
            if (!w->failed)
                place_parents(e, w, flow, w->n_items - 1, 0, parents, hops || model->level[s].net_energy);
            e->failed |= w->failed;
        }
        bool wanted = hops || model->shape[tensor].output;
        e->partition[s] = wanted ? sx_partition_count(e, mapping, tensor, s) : 0;
        for (uint32_t i = 0; i < flow->n_records && !e->failed; i++)
            e->overflow |= e->records.data[flow->first + i].accesses >= 0x1p62;
    }
}
