#include "looptree/rest.h"

#include "base/divisor.h"
#include "base/hash.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* A branch of the enumeration: tensors of one level that are still to be held, the tile so far. */
typedef struct branch {
    int level;
    uint32_t left;
    uint32_t excluded; /* dimensions whose loops belong above the holder before */
    uint64_t used;     /* bits of the level */
    uint32_t extent[SX_MAX_DIMS];
    sx_rest_step step;
} branch;

/* Whether every rank of a tensor is a dimension of its own, without a factor. */
static bool is_plain(const sx_tensor *tensor, int n_dims) {
    uint32_t seen = 0;
    for (int r = 0; r < tensor->n_ranks; r++) {
        int n = 0;
        for (int d = 0; d < n_dims; d++) {
            if (tensor->coef[r][d] == 0) continue;
            if (tensor->coef[r][d] != 1 || (seen >> d & 1) || n++) return false;
            seen |= 1u << d;
        }
    }
    return true;
}

/* What a word of a tensor costs in a level. */
static sx_rest_price word_price(const sx_label_task *task, int tensor, int s) {
    const sx_storage *level = &task->arch->level[s];
    const double bits = task->bits[tensor], word = level->word_bits, block = word * level->block_size;
    return (sx_rest_price){.read_energy = level->read_energy * bits / block,
                           .write_energy = level->fill_energy * bits / block,
                           .read_time = bits / (word * level->read_bandwidth),
                           .write_time = bits / (word * level->write_bandwidth)};
}

sx_status sx_rest_init(sx_rest *rest, const sx_label_task *task) {
    const sx_problem *einsum = task->einsum;
    uint32_t list[SX_MOST_DIVISORS];
    *rest = (sx_rest){.task = task,
                      .exchange = task->arch->n_levels - 2,
                      .limit = {.bits = UINT64_MAX, .energy = INFINITY},
                      .cells = {.size = sizeof(sx_rest_cell)}};
    for (int s = 0; s < SX_MAX_FUSED_LEVELS; s++) rest->limit.time[s] = INFINITY;
    for (int v = 0; v < einsum->n_tensors; v++)
        for (int d = 0; d < einsum->n_dims; d++) {
            const sx_relevance relevance = sx_relevance_of(einsum, v, d, NULL);
            if (relevance == SX_FULLY_RELEVANT) rest->full[v] |= 1u << d;
            if (relevance == SX_PARTLY_RELEVANT) rest->partial[v] |= 1u << d;
        }
    for (int v = 0; v < einsum->n_tensors; v++) rest->plain[v] = is_plain(&einsum->tensor[v], einsum->n_dims);
    for (int s = 0; s < task->arch->n_levels; s++) {
        rest->room[s] = sx_path_room(&task->arch->level[s]);
        for (int v = 0; v < einsum->n_tensors; v++) rest->price[s][v] = word_price(task, v, s);
    }
    for (int d = 0; d < einsum->n_dims; d++) {
        rest->n[d] = (uint32_t)sx_divisors_of(einsum->size[d], list);
        rest->divisors[d] = malloc(rest->n[d] * sizeof **rest->divisors);
        if (!rest->divisors[d]) {
            sx_rest_fini(rest);
            return sx_error_memory();
        }
        memcpy(rest->divisors[d], list, rest->n[d] * sizeof **rest->divisors);
    }
    return SX_OK;
}

static void forget_cells(sx_rest *rest) {
    for (size_t i = 0; i < rest->cells.n; i++)
        sx_vector_clear(&((sx_rest_cell *)sx_vector_at(&rest->cells, i))->steps);
    sx_vector_clear(&rest->cells);
    sx_hash_table_clear(&rest->index);
}

void sx_rest_fini(sx_rest *rest) {
    forget_cells(rest);
    for (int d = 0; d < SX_MAX_DIMS; d++) free(rest->divisors[d]);
}

void sx_rest_hold(sx_rest *rest, const uint32_t *hold) {
    forget_cells(rest);
    memcpy(rest->hold, hold, sizeof rest->hold);
}

void sx_rest_limit(sx_rest *rest, const sx_rest_step *limit) {
    forget_cells(rest);
    rest->limit = *limit;
}

/* The words of a tile. */
static uint64_t words_of_tile(const sx_rest *rest, int tensor, const uint32_t *extent) {
    uint64_t words = 1;
    if (!rest->plain[tensor]) return sx_tile_words(rest->task->einsum, tensor, extent);
    for (int d = 0; d < rest->task->einsum->n_dims; d++)
        if (rest->full[tensor] >> d & 1) words *= extent[d];
    return words;
}

/* Adds words of a tensor that are read from a level and written to it. */
static void charge_level(const sx_rest *rest, sx_rest_step *step, int tensor, int s, double reads,
                         double writes) {
    const sx_rest_price *price = &rest->price[s][tensor];
    step->energy += reads * price->read_energy + writes * price->write_energy;
    step->time[s] += reads * price->read_time + writes * price->write_time;
}

/* The next level outward that holds a tensor; -1 where there is none. */
static int parent_of(const sx_rest *rest, int tensor, int level) {
    for (int s = level + 1; s < rest->task->arch->n_levels; s++)
        if (rest->hold[s] >> tensor & 1) return s;
    return -1;
}

void sx_rest_move(const sx_rest *rest, sx_rest_step *step, int tensor, int level, const uint32_t *extent) {
    const sx_problem *einsum = rest->task->einsum;
    const int parent = parent_of(rest, tensor, level);
    if (parent < 0) return;
    const bool plain = rest->plain[tensor];
    double words = (double)words_of_tile(rest, tensor, plain ? einsum->size : extent), first = words;
    for (int d = 0; d < einsum->n_dims; d++) {
        if (plain && (rest->full[tensor] >> d & 1)) continue;
        const double bound = einsum->size[d] / extent[d];
        words *= bound;
        if (rest->full[tensor] >> d & 1) first *= bound;
    }
    if (einsum->tensor[tensor].output) {
        charge_level(rest, step, tensor, parent, words - first, words);
        charge_level(rest, step, tensor, level, words, words - first);
    } else {
        charge_level(rest, step, tensor, parent, words, 0);
        charge_level(rest, step, tensor, level, 0, words);
    }
}

void sx_rest_compute(const sx_rest *rest, sx_rest_step *step) {
    const sx_problem *einsum = rest->task->einsum;
    const double computes = (double)sx_problem_computes(einsum);
    step->energy += computes * rest->task->arch->compute.energy;
    for (int v = 0; v < einsum->n_tensors; v++) {
        const int level = parent_of(rest, v, -1);
        double first = 1;
        for (int d = 0; d < einsum->n_dims; d++)
            if (rest->full[v] >> d & 1) first *= einsum->size[d];
        if (einsum->tensor[v].output)
            charge_level(rest, step, v, level, computes - first, computes);
        else
            charge_level(rest, step, v, level, computes, 0);
    }
}

static bool is_no_worse(const sx_rest *rest, const sx_rest_step *a, const sx_rest_step *b) {
    if (a->bits > b->bits) return false;
    if (rest->task->objective & SX_FUSE_ENERGY && a->energy > b->energy) return false;
    if (rest->task->objective & SX_FUSE_LATENCY)
        for (int s = 0; s < rest->task->arch->n_levels; s++)
            if (a->time[s] > b->time[s]) return false;
    return true;
}

static bool is_same(const sx_rest_step *a, const sx_rest_step *b) {
    for (int s = 0; s < SX_MAX_FUSED_LEVELS; s++)
        if (a->time[s] != b->time[s]) return false;
    return a->bits == b->bits && a->energy == b->energy;
}

/* Whether a step is beyond another in anything. */
static bool is_beyond(const sx_rest_step *step, const sx_rest_step *limit) {
    for (int s = 0; s < SX_MAX_FUSED_LEVELS; s++)
        if (step->time[s] > limit->time[s]) return true;
    return step->bits > limit->bits || step->energy > limit->energy;
}

/* Whether a step at least as good is there. */
static bool is_beaten(sx_rest *rest, const sx_vector *steps, const sx_rest_step *step) {
    if (rest->better < steps->n && is_no_worse(rest, sx_vector_at(steps, rest->better), step)) return true;
    for (rest->better = 0; rest->better < steps->n; rest->better++)
        if (is_no_worse(rest, sx_vector_at(steps, rest->better), step)) return true;
    return false;
}

/* What a branch costs at least with the tensors that are left: a word of each is held, in tiles no larger than now, with
 * which a plain tensor moves no fewer words. Sums in another order may differ in their last bits. */
static sx_rest_step least_step(const sx_rest *rest, const branch *b) {
    static const double SLACK = 1 - 1e-12;
    sx_rest_step step = b->step;
    for (uint32_t left = b->left; left; left &= left - 1) {
        const int tensor = __builtin_ctz(left);
        if (b->level == rest->exchange) step.bits += rest->task->bits[tensor];
        if (rest->plain[tensor]) sx_rest_move(rest, &step, tensor, b->level, b->extent);
    }
    step.energy *= SLACK;
    for (int s = 0; s < SX_MAX_FUSED_LEVELS; s++) step.time[s] *= SLACK;
    return step;
}

/* Whether all ways to go on are of no interest: each costs no less in anything than what is held so far. */
static bool is_hopeless(sx_rest *rest, branch *b, const sx_vector *out) {
    if (b->level == rest->exchange) b->step.bits = b->used;
    if (rest->trace) return is_beyond(&b->step, rest->trace->wanted);
    if (is_beyond(&b->step, &rest->limit)) return true;
    if (!b->left) return false;
    const sx_rest_step least = least_step(rest, b);
    return is_beaten(rest, out, &least) || is_beaten(rest, out, &b->step);
}

/* Enters a step unless one at least as good is there; false when memory is out. */
static bool add_step(sx_rest *rest, sx_vector *steps, const sx_rest_step *step) {
    size_t n = 0;
    if (is_beaten(rest, steps, step)) return true;
    for (size_t i = 0; i < steps->n; i++) {
        const sx_rest_step *other = sx_vector_at(steps, i);
        if (!is_no_worse(rest, step, other)) memmove(sx_vector_at(steps, n++), other, sizeof *other);
    }
    steps->n = n;
    sx_rest_step *added = sx_vector_add(steps);
    if (added) *added = *step;
    return added != NULL;
}

static const sx_vector *steps_of_level(sx_rest *rest, const uint32_t *extent, int level, uint32_t left);
static bool hold_next_tensor(sx_rest *rest, const branch *b, sx_vector *out);

/* A step of this level with one of those below. */
static sx_rest_step add_steps(const sx_rest_step *step, const sx_rest_step *more) {
    sx_rest_step sum = *step;
    sum.energy += more->energy;
    for (int s = 0; s < SX_MAX_FUSED_LEVELS; s++) sum.time[s] += more->time[s];
    return sum;
}

static bool trace_level(sx_rest *rest, branch *b, const sx_rest_step *wanted);

/* Ends the trace where the holders so far, with some of the levels below, are those that are wanted. */
static bool trace_rest(sx_rest *rest, const branch *b, const sx_rest_step *step) {
    sx_rest_trace *trace = rest->trace;
    const int inner = b->level - 1;
    if (trace->found) return true;
    if (inner < 0) {
        trace->found = is_same(step, trace->wanted);
        trace->n_found = trace->n;
        return true;
    }
    branch below = {.level = inner, .left = rest->hold[inner]};
    memcpy(below.extent, b->extent, sizeof below.extent);
    rest->trace = NULL;
    const sx_vector *steps = steps_of_level(rest, b->extent, inner, below.left);
    rest->trace = trace;
    for (size_t i = 0; steps && i < steps->n; i++) {
        const sx_rest_step more = *(const sx_rest_step *)sx_vector_at(steps, i), sum = add_steps(step, &more);
        if (is_same(&sum, trace->wanted)) return trace_level(rest, &below, &more);
    }
    return steps != NULL;
}

/* All tensors of a level are held: the levels below follow. */
static bool finish_level(sx_rest *rest, const branch *b, sx_vector *out) {
    const int inner = b->level - 1;
    sx_rest_step step = b->step;
    if (b->level == rest->exchange) step.bits = b->used;
    if (rest->trace) return trace_rest(rest, b, &step);
    if (inner < 0) return add_step(rest, out, &step);
    const sx_vector *below = steps_of_level(rest, b->extent, inner, rest->hold[inner]);
    if (!below) return false;
    for (size_t i = 0; i < below->n; i++) {
        const sx_rest_step sum = add_steps(&step, sx_vector_at(below, i));
        if (!add_step(rest, out, &sum)) return false;
    }
    return true;
}

/* Holds a tensor in a tile that slides along a dimension (-1: none), below which the given extents are left; false
 * when memory is out. */
static bool hold_tile(sx_rest *rest, const branch *b, int tensor, int slides, const uint32_t *extent,
                      sx_vector *out) {
    const uint64_t used = b->used + words_of_tile(rest, tensor, extent) * rest->task->bits[tensor];
    if (used > rest->room[b->level]) return true;
    branch next = *b;
    next.used = used;
    sx_rest_move(rest, &next.step, tensor, b->level, b->extent);
    if (slides >= 0) memcpy(next.extent, extent, sizeof next.extent);
    next.left &= ~(1u << tensor);
    next.excluded = rest->full[tensor] | (slides < 0 ? 0 : 1u << slides);
    if (is_hopeless(rest, &next, out)) return true;
    if (rest->trace && !rest->trace->found) {
        sx_rest_holder *holder = &rest->trace->holder[rest->trace->n++];
        *holder =
            (sx_rest_holder){.level = (uint8_t)b->level, .tensor = (uint8_t)tensor, .slides = (int8_t)slides};
        memcpy(holder->extent, b->extent, sizeof holder->extent);
        memcpy(holder->below, extent, sizeof holder->below);
    }
    const bool done = next.left ? hold_next_tensor(rest, &next, out) : finish_level(rest, &next, out);
    if (rest->trace && !rest->trace->found) rest->trace->n--;
    return done;
}

/* Holds a tensor at the extents of the branch: whole, or sliding along one dimension of a window. */
static bool hold_here(sx_rest *rest, const branch *b, int tensor, sx_vector *out) {
    if (!hold_tile(rest, b, tensor, -1, b->extent, out)) return false;
    for (int d = 0; d < rest->task->einsum->n_dims; d++) {
        if (!(rest->partial[tensor] >> d & 1)) continue;
        uint32_t extent[SX_MAX_DIMS];
        memcpy(extent, b->extent, sizeof extent);
        for (uint32_t i = 0; i < rest->n[d] && rest->divisors[d][i] < b->extent[d]; i++) {
            extent[d] = rest->divisors[d][i];
            if (b->extent[d] % extent[d] == 0 && !hold_tile(rest, b, tensor, d, extent, out)) return false;
        }
    }
    return true;
}

/* Chooses the extents of dimensions `dims` above the holder of a tensor. */
static bool choose_extents(sx_rest *rest, branch *b, int tensor, uint32_t dims, sx_vector *out) {
    if (!dims) return hold_here(rest, b, tensor, out);
    const int d = __builtin_ctz(dims);
    const uint32_t outside = b->extent[d];
    for (uint32_t i = 0; i < rest->n[d] && rest->divisors[d][i] <= outside; i++) {
        b->extent[d] = rest->divisors[d][i];
        if (outside % b->extent[d] == 0 && !choose_extents(rest, b, tensor, dims & (dims - 1), out))
            return false;
    }
    b->extent[d] = outside;
    return true;
}

/* Each of the tensors that are left may be the next. Above its holder only loops that move it are of use; those that
 * move the holder before alone belong above that. */
static bool hold_next_tensor(sx_rest *rest, const branch *b, sx_vector *out) {
    for (uint32_t left = b->left; left; left &= left - 1) {
        const int tensor = __builtin_ctz(left);
        branch next = *b;
        if (!choose_extents(rest, &next, tensor, (rest->full[tensor] | rest->partial[tensor]) & ~b->excluded,
                            out))
            return false;
    }
    return true;
}

/* The steps of a level and those below it, found once for each tile. */
static const sx_vector *steps_of_level(sx_rest *rest, const uint32_t *extent, int level, uint32_t left) {
    sx_rest_cell cell = {.steps = {.size = sizeof(sx_rest_step)}};
    branch b = {.level = level, .left = left};
    memcpy(cell.key, extent, sizeof b.extent);
    memcpy(b.extent, extent, sizeof b.extent);
    cell.key[SX_MAX_DIMS] = left | (uint32_t)level << SX_MAX_TENSORS;
    const sx_hash_keys keys = {rest->cells.data, sizeof cell, sizeof cell.key};
    const uint64_t hash = sx_hash_bytes(cell.key, sizeof cell.key, 0);
    const uint32_t at = sx_hash_table_find(&rest->index, keys, cell.key, hash);
    if (at != SX_HASH_NONE) return &((const sx_rest_cell *)sx_vector_at(&rest->cells, at))->steps;
    if (!(left ? hold_next_tensor(rest, &b, &cell.steps) : finish_level(rest, &b, &cell.steps)) ||
        !sx_hash_table_add(&rest->index, hash, (uint32_t)rest->cells.n)) {
        sx_vector_clear(&cell.steps);
        return NULL;
    }
    sx_rest_cell *added = sx_vector_add(&rest->cells);
    if (added)
        *added = cell;
    else
        sx_vector_clear(&cell.steps);
    return added ? &added->steps : NULL;
}

const sx_vector *sx_rest_steps(sx_rest *rest, const uint32_t *extent, uint32_t left) {
    return steps_of_level(rest, extent, rest->exchange, left);
}

/* Enumerates a level again for the holders of a step that it has. */
static bool trace_level(sx_rest *rest, branch *b, const sx_rest_step *wanted) {
    const sx_rest_step *outer = rest->trace->wanted;
    rest->trace->wanted = wanted;
    const bool done = b->left ? hold_next_tensor(rest, b, NULL) : finish_level(rest, b, NULL);
    rest->trace->wanted = outer;
    return done;
}

bool sx_rest_find(sx_rest *rest, const uint32_t *extent, uint32_t left, const sx_rest_step *step,
                  sx_rest_trace *trace) {
    branch b = {.level = rest->exchange, .left = left};
    memcpy(b.extent, extent, sizeof b.extent);
    *trace = (sx_rest_trace){.wanted = step};
    rest->trace = trace;
    const bool done = trace_level(rest, &b, step);
    rest->trace = NULL;
    return done;
}
