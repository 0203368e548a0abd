/* Walking the nest. For every level, every instance of it and every step of the temporal loops at or above
 * it, each child's tile is compared with the one it held before, word by word. */
#include "base/status.h"
#include "base/vector.h"
#include "oracle/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One loop: iteration i starts i * step further on in its dimension. */
typedef struct loop {
    int dim;
    uint32_t bound;
    int64_t step;
    uint32_t later; /* iterations that the second one stands for; 1 where all are run */
} loop;

/* Some loops of the nest, innermost first, and where each of them stands. */
typedef struct loops {
    int n;
    loop item[SX_MAX_LEVELS * (SX_MAX_DIMS + 1)];
    uint32_t index[SX_MAX_LEVELS * (SX_MAX_DIMS + 1)];
} loops;

/* What one child remembers of one tensor. */
typedef struct memory {
    bool started, moving;
    sx_sim_box tile;              /* at its last visit */
    int64_t motion[SX_MAX_RANKS]; /* that overlaps are reused along, where `moving` */
    unsigned char *held;          /* a mark per word of the tensor */
} memory;

/* The walk of one level. */
typedef struct walk {
    const sx_sim_case *sim;
    sx_sim_counts *counts;
    int level;
    uint64_t steps, max_steps;
    loops above, time,
        slot; /* spatial loops above the level, temporal ones at or above it, its own spatial ones */
    sx_sim_mesh mesh;
    sx_sim_box whole[SX_MAX_TENSORS];
    uint64_t words[SX_MAX_TENSORS];
    memory *memory[SX_MAX_TENSORS]; /* of each child */
    sx_sim_set *now[SX_MAX_TENSORS],
        *before[SX_MAX_TENSORS]; /* what each child lacks, and lacked a visit ago */
} walk;

static sx_status take_steps(walk *w, uint64_t n) {
    if (n > w->max_steps - w->steps)
        return sx_error_hint(sx_error_new(SX_ERR_LIMIT, "the simulation needs more than %llu steps",
                                          (unsigned long long)w->max_steps),
                             "simulate a smaller problem");
    w->steps += n;
    return SX_OK;
}

/* Sets all loops to their first iteration. */
static void loops_reset(loops *l) {
    memset(l->index, 0, sizeof l->index);
}

/* Goes on to the next iteration, innermost first; false after the last. */
static bool loops_next(loops *l) {
    for (int i = 0; i < l->n; i++) {
        if (++l->index[i] < l->item[i].bound) return true;
        l->index[i] = 0;
    }
    return false;
}

/* Adds where the loops stand to a start per dimension. */
static void loops_offset(const loops *l, int64_t *start) {
    for (int i = 0; i < l->n; i++) start[l->item[i].dim] += l->index[i] * l->item[i].step;
}

/* Appends one slot's loops, and multiplies the steps of their dimensions; `to` may be NULL. */
static void add_slot(loops *to, const uint8_t *order, const uint32_t *factor, int n_dims, int64_t *step) {
    for (int i = 0; i < n_dims; i++) {
        int d = order[i];
        if (factor[d] == 1) continue;
        if (to) to->item[to->n++] = (loop){d, factor[d], step[d], 1};
        step[d] *= factor[d];
    }
}

/* Appends a level's spatial loops; one that lies on both axes is two, and the other on Y comes after all on X. */
static void add_spatial(loops *to, const sx_mapping_level *m, int n_dims, int64_t *step) {
    uint32_t factor[SX_MAX_DIMS];
    memcpy(factor, m->spatial, sizeof factor);
    if (!m->x_part) {
        add_slot(to, m->spatial_order, factor, n_dims, step);
        return;
    }
    int d = m->spatial_order[m->split - 1];
    factor[d] = m->x_part;
    add_slot(to, m->spatial_order, factor, m->split, step);
    factor[d] = m->spatial[d] / m->x_part;
    add_slot(to, &m->spatial_order[m->split - 1], factor, n_dims - m->split + 1, step);
}

/* Sorts the loops of the nest by what they are to the level of the walk. */
static void find_loops(walk *w) {
    const sx_mapping *mapping = w->sim->mapping;
    int64_t step[SX_MAX_DIMS];
    w->above.n = w->time.n = w->slot.n = 0;
    for (int d = 0; d < mapping->n_dims; d++) step[d] = 1;
    for (int s = 0; s < mapping->n_levels; s++) {
        const sx_mapping_level *m = &mapping->level[s];
        loops *spatial = s == w->level ? &w->slot : s > w->level ? &w->above : NULL;
        add_spatial(spatial, m, mapping->n_dims, step);
        add_slot(s >= w->level ? &w->time : NULL, m->temporal_order, m->temporal, mapping->n_dims, step);
    }
    for (int i = 0; i < w->time.n && w->sim->sampled; i++) {
        w->time.item[i].later = w->time.item[i].bound - 1;
        w->time.item[i].bound = 2;
    }
    loops_reset(&w->above);
    loops_reset(&w->time);
    loops_reset(&w->slot);
}

/* How many steps of the temporal loops this one stands for. */
static uint64_t step_weight(const walk *w) {
    uint64_t weight = 1;
    for (int i = 0; i < w->time.n; i++)
        if (w->time.index[i]) weight *= w->time.item[i].later;
    return weight;
}

/* Where the children stand: numbered along the mapping's own loops, placed on rows as wide as the hardware's.
 */
static sx_sim_mesh place_children(const sx_sim_case *sim, int level) {
    const sx_mapping_level *m = &sim->mapping->level[level];
    uint64_t x, y;
    sx_sim_axes(m, sim->mapping->n_dims, &x, &y);
    uint64_t fanout_x = sx_arch_fanout_x(sim->arch, level), fanout_y = sx_arch_fanout_y(sim->arch, level);
    return (sx_sim_mesh){(size_t)(x * y), x > fanout_x ? x : fanout_x, y > fanout_y ? y : fanout_y};
}

static bool inside_problem(const sx_problem *problem, const int64_t *start) {
    for (int d = 0; d < problem->n_dims; d++)
        if (start[d] >= problem->size[d]) return false;
    return true;
}

/* The tile that a child starts at `start`: one operation below level 0. */
static sx_sim_box child_tile(const walk *w, int tensor, const int64_t *start) {
    const sx_problem *problem = w->sim->problem;
    int64_t end[SX_MAX_DIMS];
    for (int d = 0; d < problem->n_dims; d++) {
        int64_t extent = 1;
        for (int s = 0; s < w->level; s++)
            extent *= (int64_t)w->sim->mapping->level[s].spatial[d] * w->sim->mapping->level[s].temporal[d];
        end[d] = start[d] + extent < problem->size[d] ? start[d] + extent : problem->size[d];
    }
    return sx_sim_project(problem, tensor, start, end);
}

/* How far the middle of a tile moved, in whole words, halves away from zero; returns whether it moved at all.
 */
static bool find_motion(const sx_sim_box *from, const sx_sim_box *to, int n_ranks, int64_t *motion) {
    bool moved = false;
    for (int r = 0; r < n_ranks; r++) {
        motion[r] = llround((double)(to->low[r] + to->high[r] - from->low[r] - from->high[r]) / 2);
        moved |= motion[r] != 0;
    }
    return moved;
}

/* Whether a child may keep the words its tile shares with its last one: not where the direction of its motion
 * changes. Remembers the tile and the motion. */
static bool may_reuse(memory *m, const sx_sim_box *tile, int n_ranks) {
    int64_t motion[SX_MAX_RANKS] = {0};
    bool reuse = m->started;
    if (m->started && find_motion(&m->tile, tile, n_ranks, motion)) {
        bool turned = m->moving && memcmp(m->motion, motion, sizeof motion) != 0;
        reuse = !turned;
        m->moving = !turned;
        memcpy(m->motion, motion, sizeof motion);
    }
    return reuse;
}

static bool box_has(const sx_sim_box *box, int n_ranks, const int64_t *point) {
    for (int r = 0; r < n_ranks; r++)
        if (point[r] < box->low[r] || point[r] >= box->high[r]) return false;
    return true;
}

/* Goes on to the next point of a box, last rank first; false after the last. */
static bool next_point(const sx_sim_box *box, int n_ranks, int64_t *point) {
    for (int r = n_ranks - 1; r >= 0; r--) {
        if (++point[r] < box->high[r]) return true;
        point[r] = box->low[r];
    }
    return false;
}

static uint64_t word_address(const sx_sim_box *whole, int n_ranks, const int64_t *point) {
    uint64_t at = 0;
    for (int r = 0; r < n_ranks; r++)
        at = at * (uint64_t)(whole->high[r] - whole->low[r]) + (uint64_t)(point[r] - whole->low[r]);
    return at;
}

static sx_status set_add(sx_sim_set *set, uint64_t word) {
    if (!sx_reserve(&set->word, &set->room, set->size + 1, sizeof word)) return sx_error_memory();
    set->word[set->size++] = word;
    return SX_OK;
}

/* Moves a child on to its tile at `start`, and finds the words it lacks for it. */
static sx_status move_child(walk *w, int tensor, size_t child, const int64_t *start) {
    int n_ranks = w->sim->problem->tensor[tensor].n_ranks;
    memory *m = &w->memory[tensor][child];
    sx_sim_box tile = child_tile(w, tensor, start), last = m->tile;
    bool reuse = may_reuse(m, &tile, n_ranks);
    if (w->level == 0 || (w->sim->mapping->level[w->level - 1].no_temporal_reuse >> tensor & 1))
        reuse = false;
    m->tile = tile;
    m->started = true;
    SX_TRY(take_steps(w, sx_sim_words(&tile, n_ranks)));
    int64_t point[SX_MAX_RANKS];
    memcpy(point, tile.low, sizeof point);
    do {
        uint64_t word = word_address(&w->whole[tensor], n_ranks, point);
        m->held[word] = 1;
        if (!reuse || !box_has(&last, n_ranks, point)) SX_TRY(set_add(&w->now[tensor][child], word));
    } while (next_point(&tile, n_ranks, point));
    return SX_OK;
}

/* One step of the temporal loops: moves the children that have work there, and sends them what they lack. */
static sx_status visit_step(walk *w, const int64_t *start) {
    const sx_problem *problem = w->sim->problem;
    const sx_mapping_level *m = &w->sim->mapping->level[w->level];
    loops_reset(&w->slot);
    for (size_t child = 0; child < w->mesh.children; child++) {
        int64_t at[SX_MAX_DIMS];
        memcpy(at, start, sizeof at);
        loops_offset(&w->slot, at);
        loops_next(&w->slot);
        for (int v = 0; v < problem->n_tensors; v++) {
            w->now[v][child].size = 0;
            if (inside_problem(problem, at)) SX_TRY(move_child(w, v, child, at));
        }
    }
    for (int v = 0; v < problem->n_tensors; v++) {
        sx_sim_rules rules = {!(m->no_multicast >> v & 1),
                              !w->sim->options.no_link_transfers && !(m->no_link_transfer >> v & 1),
                              (double)step_weight(w)};
        SX_TRY(sx_sim_deliver(&w->mesh, rules, w->now[v], w->before[v], &w->counts->traffic[w->level][v]));
        sx_sim_set *swap = w->before[v];
        w->before[v] = w->now[v];
        w->now[v] = swap;
    }
    return SX_OK;
}

/* Empties the children before another parent's take their place. */
static sx_status forget_children(walk *w) {
    for (int v = 0; v < w->sim->problem->n_tensors; v++)
        for (size_t child = 0; child < w->mesh.children; child++) {
            SX_TRY(take_steps(w, w->words[v]));
            unsigned char *held = w->memory[v][child].held;
            memset(held, 0, w->words[v]);
            w->memory[v][child] = (memory){.held = held};
            w->before[v][child].size = 0;
        }
    return SX_OK;
}

/* Adds the words each child ever held to the partition of the level below. */
static void count_held(walk *w) {
    for (int v = 0; v < w->sim->problem->n_tensors && w->level > 0; v++)
        for (size_t child = 0; child < w->mesh.children; child++)
            for (uint64_t word = 0; word < w->words[v]; word++)
                w->counts->partition[w->level - 1][v] += w->memory[v][child].held[word];
}

/* Runs one instance of the level through the whole of its time; returns how many steps it had work in. */
static sx_status run_parent(walk *w, uint64_t *visits) {
    SX_TRY(forget_children(w));
    *visits = 0;
    loops_reset(&w->time);
    do {
        int64_t start[SX_MAX_DIMS] = {0};
        loops_offset(&w->above, start);
        loops_offset(&w->time, start);
        SX_TRY(take_steps(w, w->mesh.children));
        if (!inside_problem(w->sim->problem, start)) continue;
        SX_TRY(visit_step(w, start));
        *visits += step_weight(w);
    } while (loops_next(&w->time));
    count_held(w);
    return SX_OK;
}

static sx_status make_children(walk *w) {
    SX_TRY(take_steps(w, w->mesh.children));
    for (int v = 0; v < w->sim->problem->n_tensors; v++) {
        w->memory[v] = calloc(w->mesh.children, sizeof *w->memory[v]);
        w->now[v] = calloc(w->mesh.children, sizeof *w->now[v]);
        w->before[v] = calloc(w->mesh.children, sizeof *w->before[v]);
        if (!w->memory[v] || !w->now[v] || !w->before[v]) return sx_error_memory();
        for (size_t child = 0; child < w->mesh.children; child++) {
            SX_TRY(take_steps(w, w->words[v]));
            w->memory[v][child].held = malloc(w->words[v]);
            if (!w->memory[v][child].held) return sx_error_memory();
        }
    }
    return SX_OK;
}

static void free_children(walk *w) {
    for (int v = 0; v < w->sim->problem->n_tensors; v++) {
        for (size_t child = 0; child < w->mesh.children; child++) {
            if (w->memory[v]) free(w->memory[v][child].held);
            if (w->now[v]) free(w->now[v][child].word);
            if (w->before[v]) free(w->before[v][child].word);
        }
        free(w->memory[v]);
        free(w->now[v]);
        free(w->before[v]);
        w->memory[v] = NULL;
        w->now[v] = w->before[v] = NULL;
    }
}

/* Without spatial loops there is nothing to travel over. */
static void drop_hops(walk *w) {
    for (int v = 0; v < w->sim->problem->n_tensors; v++) {
        sx_sim_traffic *traffic = &w->counts->traffic[w->level][v];
        for (size_t i = 0; i < traffic->n_records; i++) traffic->record[i].hops = 0;
    }
}

/* Runs all instances of the level. */
static sx_status walk_level(walk *w) {
    find_loops(w);
    w->mesh = place_children(w->sim, w->level);
    sx_status status = make_children(w);
    if (status) goto done;
    bool first = true;
    do {
        uint64_t visits;
        status = run_parent(w, &visits);
        if (status) goto done;
        if (first && w->level == 0) w->counts->compute_cycles = visits;
        first = false;
    } while (loops_next(&w->above));
    if (w->slot.n == 0) drop_hops(w);
done:
    free_children(w);
    return status;
}

sx_status sx_sim_walk(const sx_sim_case *sim, uint64_t max_steps, sx_sim_counts *counts) {
    walk *w = calloc(1, sizeof *w);
    if (!w) return sx_error_memory();
    *w = (walk){.sim = sim, .counts = counts, .max_steps = max_steps};
    int outermost = sim->mapping->n_levels - 1;
    for (int v = 0; v < sim->problem->n_tensors; v++) {
        w->whole[v] = sx_sim_whole(sim->problem, v);
        w->words[v] = sx_sim_words(&w->whole[v], sim->problem->tensor[v].n_ranks);
        counts->partition[outermost][v] = w->words[v];
    }
    sx_status status = SX_OK;
    for (w->level = 0; w->level <= outermost && !status; w->level++) status = walk_level(w);
    for (int s = 0; s <= outermost; s++)
        for (int v = 0; v < sim->problem->n_tensors; v++) {
            sx_sim_traffic *t = &counts->traffic[s][v];
            for (size_t i = 0; i < t->n_records; i++) t->record[i].hops /= (double)t->record[i].scatter;
        }
    free(w);
    return status;
}

void sx_sim_counts_fini(sx_sim_counts *counts) {
    for (int s = 0; s < SX_MAX_LEVELS; s++)
        for (int v = 0; v < SX_MAX_TENSORS; v++) free(counts->traffic[s][v].record);
}
