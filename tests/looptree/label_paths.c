#include "looptree/label_paths.h"

#include "base/status.h"

#include <math.h>
#include <string.h>

/* A path down to its innermost loop that einsums share, so far. */
typedef struct prefix {
    sx_label label;   /* bits by the number of loops above, not yet added up */
    uint32_t left;    /* tensors that the exchange memory has still to hold */
    uint32_t pending; /* of these, the ones that are exchanged */
    uint32_t here;    /* tensors not exchanged that are held since the last loop */
    int last;         /* the tensor held last at this place; -1: none */
    uint64_t used;    /* bits of the exchange memory */
    uint8_t loops[SX_MAX_DIMS];
    uint32_t extent[SX_MAX_DIMS];
    sx_rest_step step;
    uint8_t n_events, event[SX_MAX_TENSORS + SX_MAX_FUSED_LOOPS]; /* tensors held and LOOP, outermost first */
} prefix;

#define LOOP UINT8_MAX

typedef struct label_maker {
    const sx_label_task *task;
    sx_label_table *table;
    sx_rest rest;
    sx_rest_step base; /* what the compute units cost */
    const uint32_t *hold;
    const sx_label *wanted; /* whose path is looked for; NULL: labels are made */
    sx_path *path;          /* of the wanted label, once it is found */
    bool found;
} label_maker;

static bool extend_prefix(label_maker *m, const prefix *p);

static void add_node(sx_path *path, sx_path_node node) {
    path->node[path->n_nodes++] = node;
}

static sx_path_node holder_node(int level, int tensor, bool sinks) {
    return (sx_path_node){
        .kind = SX_PATH_HOLD, .level = (int8_t)level, .index = (uint8_t)tensor, .sinks = sinks};
}

/* Adds a loop that leaves `tile` of a dimension, unless it has one iteration. */
static void add_node_loop(sx_path *path, uint32_t *extent, int d, uint32_t tile) {
    if (extent[d] == tile) return;
    extent[d] = tile;
    add_node(path, (sx_path_node){.kind = SX_PATH_LOOP, .index = (uint8_t)d, .tile = tile});
}

/* Adds the part of a path that einsums share. */
static void add_prefix(const label_maker *m, const prefix *p, uint32_t *extent, sx_path *path) {
    const sx_face *face = &p->label.face;
    const int outermost = m->rest.exchange + 1;
    int loop = 0;
    for (int v = 0; v < m->task->einsum->n_tensors; v++)
        if (m->hold[outermost] >> v & 1) add_node(path, holder_node(outermost, v, false));
    for (int i = 0; i < p->n_events; i++) {
        if (p->event[i] == LOOP) {
            const int d = face->dim[loop];
            add_node_loop(path, extent, d, extent[d] / face->bound[loop]);
            loop++;
        } else {
            add_node(path, holder_node(m->rest.exchange, p->event[i], m->hold[outermost] >> p->event[i] & 1));
        }
    }
}

/* Writes the path of a prefix with one way to hold the rest; false when memory is out. */
static bool make_path(label_maker *m, const prefix *p, const sx_rest_step *rest) {
    const int n_dims = m->task->einsum->n_dims;
    const sx_rest_step wanted = *rest;
    uint32_t extent[SX_MAX_DIMS];
    sx_rest_trace trace;
    sx_path path = {.n_nodes = 0};
    if (m->found) return true;
    if (!sx_rest_find(&m->rest, p->extent, p->left, &wanted, &trace)) return false;
    memcpy(extent, m->task->einsum->size, sizeof extent);
    add_prefix(m, p, extent, &path);
    for (int i = 0; i < trace.n_found; i++) {
        const sx_rest_holder *holder = &trace.holder[i];
        for (int d = 0; d < n_dims; d++) add_node_loop(&path, extent, d, holder->extent[d]);
        add_node(&path, holder_node(holder->level, holder->tensor, true));
        for (int d = 0; d < n_dims; d++) add_node_loop(&path, extent, d, holder->below[d]);
    }
    for (int d = 0; d < n_dims; d++) add_node_loop(&path, extent, d, 1);
    *m->path = path;
    m->found = trace.found;
    return true;
}

static bool is_same(const sx_label *a, const sx_label *b) {
    return memcmp(&a->face, &b->face, sizeof a->face) == 0 && a->energy == b->energy &&
           a->latency == b->latency && memcmp(a->bits, b->bits, sizeof a->bits) == 0;
}

/* Enters the label of a prefix with one way to hold the rest. */
static bool add_label(label_maker *m, const prefix *p, const sx_rest_step *rest) {
    sx_label label = p->label;
    if (p->used + rest->bits > m->rest.room[m->rest.exchange]) return true;
    label.bits[label.face.n_loops] += rest->bits;
    for (int d = 1; d <= label.face.n_loops; d++) label.bits[d] += label.bits[d - 1];
    label.energy = m->base.energy + p->step.energy + rest->energy;
    label.latency = (double)sx_problem_computes(m->task->einsum);
    for (int s = 0; s < m->task->arch->n_levels; s++)
        label.latency = fmax(label.latency, m->base.time[s] + p->step.time[s] + rest->time[s]);
    if (!m->wanted) return sx_label_table_add(m->table, &label);
    return !is_same(&label, m->wanted) || make_path(m, p, rest);
}

static bool add_labels(label_maker *m, const prefix *p) {
    if (m->wanted && (m->found || memcmp(&p->label.face, &m->wanted->face, sizeof m->wanted->face) != 0))
        return true;
    const sx_vector *steps = sx_rest_steps(&m->rest, p->extent, p->left);
    if (!steps) return false;
    for (size_t i = 0; i < steps->n && !m->found; i++) {
        if (!add_label(m, p, sx_vector_at(steps, i))) return false;
        if (m->wanted)
            steps = sx_rest_steps(&m->rest, p->extent, p->left); /* a search for a path may have moved them */
    }
    return true;
}

/* Holds a tensor at the place of the prefix. Those held at one place are held in the order of their numbers. */
static bool hold_tensor(label_maker *m, const prefix *p, int tensor) {
    const int level = m->rest.exchange;
    const uint64_t bits = sx_tile_words(m->task->einsum, tensor, p->extent) * m->task->bits[tensor];
    if (p->used + bits > m->rest.room[level]) return true;
    prefix next = *p;
    next.used += bits;
    next.left &= ~(1u << tensor);
    next.last = tensor;
    next.event[next.n_events++] = (uint8_t)tensor;
    if (p->pending >> tensor & 1) {
        next.pending &= ~(1u << tensor);
        next.label.face.depth[tensor] = (int8_t)p->label.face.n_loops;
    } else {
        next.here |= 1u << tensor;
        next.label.bits[p->label.face.n_loops] += bits;
        sx_rest_move(&m->rest, &next.step, tensor, level, p->extent);
    }
    return extend_prefix(m, &next);
}

/* Moves a tensor held above the last loop down to it: others of the place stand above. */
static void hold_just_above(prefix *p, int tensor) {
    int i = p->n_events - 2;
    while (p->event[i] != tensor) i--;
    for (; i < p->n_events - 2; i++) p->event[i] = p->event[i + 1];
    p->event[i] = (uint8_t)tensor;
}

/* Adds a loop that einsums share. */
static bool add_loop(label_maker *m, const prefix *p, int d, uint32_t bound) {
    prefix next = *p;
    sx_face *face = &next.label.face;
    face->dim[face->n_loops] = (uint8_t)d;
    face->bound[face->n_loops++] = bound;
    next.extent[d] /= bound;
    next.loops[d]++;
    next.here = 0;
    next.last = -1;
    next.event[next.n_events++] = LOOP;
    if (!extend_prefix(m, &next)) return false;
    for (uint32_t here = p->here; here; here &= here - 1) { /* one of those just above may slide along it */
        const int tensor = __builtin_ctz(here);
        if (!(m->rest.partial[tensor] >> d & 1)) continue;
        prefix slid = next;
        const uint32_t width = m->task->bits[tensor];
        const uint64_t whole = sx_tile_words(m->task->einsum, tensor, p->extent) * width;
        const uint64_t part = sx_tile_words(m->task->einsum, tensor, next.extent) * width;
        slid.label.bits[p->label.face.n_loops] -= whole;
        slid.label.bits[face->n_loops] += part;
        slid.used -= whole - part;
        hold_just_above(&slid, tensor);
        if (!extend_prefix(m, &slid)) return false;
    }
    return true;
}

/* Dimensions that a shared loop may have: they move every tensor that is still to be exchanged, alone in a rank, and
 * none of those just held, which would be better held below it. */
static uint32_t loop_dims(const label_maker *m, const prefix *p) {
    uint32_t dims = (1u << m->task->einsum->n_dims) - 1;
    for (uint32_t pending = p->pending; pending; pending &= pending - 1)
        dims &= m->rest.full[__builtin_ctz(pending)];
    for (uint32_t here = p->here; here; here &= here - 1) dims &= ~m->rest.full[__builtin_ctz(here)];
    for (int d = 0; d < m->task->einsum->n_dims; d++)
        if (p->loops[d] >= m->task->loops_per_dim) dims &= ~(1u << d);
    return dims;
}

static bool extend_prefix(label_maker *m, const prefix *p) {
    if (!p->pending) return add_labels(m, p);
    for (uint32_t left = p->left & ~((1u << (p->last + 1)) - 1); left; left &= left - 1)
        if (!hold_tensor(m, p, __builtin_ctz(left))) return false;
    if (p->label.face.n_loops == SX_MAX_FUSED_LOOPS) return true;
    for (uint32_t dims = loop_dims(m, p); dims; dims &= dims - 1) {
        const int d = __builtin_ctz(dims);
        for (uint32_t i = 1; i < m->rest.n[d]; i++)
            if (p->extent[d] % m->rest.divisors[d][i] == 0 && !add_loop(m, p, d, m->rest.divisors[d][i]))
                return false;
    }
    return true;
}

/* All paths in which each level holds given tensors. */
static bool make_labels(label_maker *m, const uint32_t *hold) {
    const int outermost = m->rest.exchange + 1;
    prefix p = {.left = hold[m->rest.exchange], .last = -1};
    sx_rest_hold(&m->rest, hold);
    m->hold = hold;
    m->base = (sx_rest_step){.bits = 0};
    sx_rest_compute(&m->rest, &m->base);
    p.pending = p.left & ~hold[outermost];
    memset(p.label.face.depth, -1, sizeof p.label.face.depth);
    memcpy(p.extent, m->task->einsum->size, sizeof p.extent);
    return extend_prefix(m, &p);
}

/* Every choice of what the levels from `level` inward hold. The outermost level holds all but exchanged tensors, and
 * the next one what it does not. */
static bool choose_holders(label_maker *m, int level, uint32_t *hold) {
    const int outermost = m->rest.exchange + 1;
    const uint32_t all = (1u << m->task->einsum->n_tensors) - 1;
    if (level < 0) return make_labels(m, hold);
    const uint32_t must = level == outermost          ? all & ~m->task->passes
                          : level == m->rest.exchange ? all & ~hold[outermost]
                                                      : 0;
    const uint32_t may = level < m->rest.exchange ? m->task->keep[level] & all : all;
    for (uint32_t set = may;; set = (set - 1) & may) {
        hold[level] = set;
        if ((set & must) == must && !choose_holders(m, level - 1, hold)) return false;
        if (!set) return true;
    }
}

sx_status sx_label_paths(const sx_label_task *task, sx_label_table *table) {
    label_maker m = {.task = task, .table = table};
    uint32_t hold[SX_MAX_FUSED_LEVELS] = {0};
    SX_TRY(sx_rest_init(&m.rest, task));
    const bool done = choose_holders(&m, m.rest.exchange + 1, hold);
    sx_rest_fini(&m.rest);
    sx_label_table_pack(table);
    return done ? SX_OK : sx_error_memory();
}

/* Limits what lies below the shared loops to what the wanted label has. Sums in another order may differ in their last bits. */
static void set_limit(label_maker *m) {
    static const double SLACK = 1 + 1e-9;
    const sx_label *wanted = m->wanted;
    sx_rest_step limit = {.bits = wanted->bits[wanted->face.n_loops], .energy = SLACK * wanted->energy};
    for (int s = 0; s < SX_MAX_FUSED_LEVELS; s++) limit.time[s] = SLACK * wanted->latency;
    sx_rest_limit(&m->rest, &limit);
}

sx_status sx_label_path(const sx_label_task *task, const sx_label *label, sx_path *path) {
    label_maker m = {.task = task, .wanted = label, .path = path};
    uint32_t hold[SX_MAX_FUSED_LEVELS] = {0};
    SX_TRY(sx_rest_init(&m.rest, task));
    set_limit(&m);
    const bool done = choose_holders(&m, m.rest.exchange + 1, hold);
    sx_rest_fini(&m.rest);
    if (done && !m.found)
        return sx_error_new(SX_ERR_INTERNAL, "a label of '%s' has no path", task->einsum->name);
    return done ? SX_OK : sx_error_memory();
}
