#include "looptree/join.h"

#include "base/hash.h"
#include "base/status.h"
#include "ir/rank.h"

#include <math.h>
#include <string.h>

#define MAX_LIVE 8 /* tensors that wait on chip for a later einsum, at most */

/* A live tensor as later einsums see it: the loops above it and the ranks that they move. */
typedef struct live_tensor {
    uint32_t tensor;
    int8_t depth; /* -1: in the outermost memory */
    uint8_t rank[SX_MAX_FUSED_LOOPS + 1];
} live_tensor;

/* What the rest of the cascade sees of a beginning. Compared as bytes. */
typedef struct outlook {
    uint32_t n_live, n_loops;
    uint32_t bound[SX_MAX_FUSED_LOOPS];
    live_tensor live[MAX_LIVE];
} outlook;

/* A beginning: labels of the einsums up to one of them. */
typedef struct beginning {
    outlook view;
    double energy, latency;
    uint64_t peak[SX_MAX_FUSED_LOOPS +
                  1]; /* of einsums that have just a given number of loops in common with the rest */
    uint64_t held[SX_MAX_FUSED_LOOPS + 1]; /* that stays under at most a given number of loops */
    uint32_t from, label; /* the beginning without its last einsum, and that einsum's label */
    uint32_t next;        /* of the same view */
    bool dead;
} beginning;

typedef struct stage {
    sx_vector list; /* beginning */
    sx_hash_table index;
} stage;

typedef struct joiner {
    const sx_cascade *cascade;
    const sx_label_table *table;
    sx_fuse_objective objective;
    uint64_t room;
    double limit;
    double *energy_rest, *latency_rest; /* of einsums from one on, at least */
    stage *stage;                       /* after each number of einsums */
    sx_join_result *result;
    uint32_t best;
} joiner;

/* Labels of an einsum by what they ask of the tensors from before. */
typedef struct matcher {
    sx_hash_table index;
    sx_vector keys;  /* outlook */
    uint32_t *first; /* by key */
    uint32_t *next;  /* by label */
} matcher;

/* The ranks of a tensor that the first `depth` loops of a face move. */
static live_tensor face_of(const sx_cascade *cascade, size_t e, int local, const sx_face *face) {
    live_tensor live = {.tensor = (uint32_t)cascade->tensor_of[e][local], .depth = face->depth[local]};
    for (int i = 0; i < live.depth; i++) {
        int rank;
        sx_relevance_of(&cascade->einsum[e], local, face->dim[i], &rank);
        live.rank[i] = (uint8_t)rank;
    }
    return live;
}

/* Bits of a tile of an exchanged tensor under the loops above it. */
static uint64_t live_bits(const sx_cascade *cascade, const live_tensor *live, const uint32_t *bound) {
    const sx_cascade_tensor *tensor = &cascade->tensor[live->tensor];
    const sx_problem *einsum = &cascade->einsum[tensor->first];
    int local = 0;
    uint64_t bits = tensor->bits;
    if (live->depth < 0 || !sx_cascade_uses(cascade, tensor->first, live->tensor, &local)) return 0;
    for (int r = 0; r < einsum->tensor[local].n_ranks; r++) {
        uint64_t extent = sx_rank_extent(einsum, local, r, einsum->size);
        for (int i = 0; i < live->depth; i++)
            if (live->rank[i] == r) extent /= bound[i];
        bits *= extent;
    }
    return bits;
}

/* What a label of einsum e asks of the tensors that earlier einsums have used. */
static void ask_of(const sx_cascade *cascade, size_t e, const sx_face *face, outlook *ask) {
    int deepest = 0;
    memset(ask, 0, sizeof *ask);
    for (int v = 0; v < cascade->einsum[e].n_tensors; v++) {
        const sx_cascade_tensor *tensor = &cascade->tensor[cascade->tensor_of[e][v]];
        if (!sx_cascade_passes(tensor) || tensor->first == e) continue;
        ask->live[ask->n_live++] = face_of(cascade, e, v, face);
        if (face->depth[v] > deepest) deepest = face->depth[v];
    }
    ask->n_loops = (uint32_t)deepest;
    for (int i = 0; i < deepest; i++) ask->bound[i] = face->bound[i];
}

/* What a beginning offers einsum e, in the order in which a label asks. */
static void offer_to(const sx_cascade *cascade, size_t e, const outlook *view, outlook *offer) {
    memset(offer, 0, sizeof *offer);
    for (int v = 0; v < cascade->einsum[e].n_tensors; v++)
        for (uint32_t i = 0; i < view->n_live; i++) {
            if (view->live[i].tensor != cascade->tensor_of[e][v]) continue;
            offer->live[offer->n_live++] = view->live[i];
            if (view->live[i].depth > (int)offer->n_loops) offer->n_loops = (uint32_t)view->live[i].depth;
        }
    for (uint32_t i = 0; i < offer->n_loops; i++) offer->bound[i] = view->bound[i];
}

static void free_matcher(matcher *m) {
    sx_hash_table_clear(&m->index);
    sx_vector_clear(&m->keys);
    free(m->first);
    free(m->next);
}

static bool make_matcher(const joiner *j, size_t e, matcher *m) {
    const sx_label_table *table = &j->table[e];
    const size_t n = table->labels.n;
    *m = (matcher){.keys = {.size = sizeof(outlook)}};
    m->first = malloc((n + 1) * sizeof *m->first);
    m->next = malloc((n + 1) * sizeof *m->next);
    if (!m->first || !m->next) return false;
    for (size_t i = n; i-- > 0;) {
        outlook ask;
        ask_of(j->cascade, e, &sx_label_at(table, i)->face, &ask);
        const sx_hash_keys keys = {m->keys.data, sizeof ask, sizeof ask};
        const uint32_t fresh = (uint32_t)m->keys.n;
        const uint32_t key =
            sx_hash_table_put(&m->index, keys, &ask, sx_hash_bytes(&ask, sizeof ask, 0), fresh);
        if (key == SX_HASH_NONE) return false;
        if (key == fresh) {
            outlook *added = sx_vector_add(&m->keys);
            if (!added) return false;
            *added = ask;
            m->first[key] = UINT32_MAX;
        }
        m->next[i] = m->first[key];
        m->first[key] = (uint32_t)i;
    }
    return true;
}

static bool is_no_worse(const beginning *a, const beginning *b, sx_fuse_objective objective) {
    if (objective & SX_FUSE_ENERGY && a->energy > b->energy) return false;
    if (objective & SX_FUSE_LATENCY && a->latency > b->latency) return false;
    for (uint32_t i = 0; i <= a->view.n_loops; i++)
        if ((i && a->peak[i] > b->peak[i]) || a->held[i] > b->held[i]) return false;
    return true;
}

/* Enters a beginning unless one at least as good is there; false when memory is out. */
static bool add_beginning(const joiner *j, stage *s, const beginning *b) {
    const sx_hash_keys keys = {s->list.data, sizeof *b, sizeof b->view};
    const uint32_t at = (uint32_t)s->list.n;
    uint32_t head =
        sx_hash_table_put(&s->index, keys, &b->view, sx_hash_bytes(&b->view, sizeof b->view, 0), at);
    if (head == SX_HASH_NONE) return false;
    for (uint32_t i = head, before = UINT32_MAX; head != at && i != UINT32_MAX;) {
        beginning *other = sx_vector_at(&s->list, i);
        if (!other->dead && is_no_worse(other, b, j->objective)) return true;
        other->dead |= is_no_worse(b, other, j->objective);
        if (other->dead && before != UINT32_MAX)
            ((beginning *)sx_vector_at(&s->list, before))->next = other->next;
        else
            before = i;
        i = other->next;
    }
    beginning *added = sx_vector_add(&s->list);
    if (!added) return false;
    *added = *b;
    added->next = UINT32_MAX;
    if (head != at) {
        beginning *first = sx_vector_at(&s->list, head);
        added->next = first->next;
        first->next = at;
    }
    return true;
}

/* The label's own bits under exactly d loops. */
static uint64_t bits_at(const sx_label *x, int d) {
    if (d > x->face.n_loops) return 0;
    return x->bits[d] - (d ? x->bits[d - 1] : 0);
}

/* What einsum f adds to the tensors on chip, by the loops above them. */
typedef struct addition {
    uint64_t fresh[SX_MAX_FUSED_LOOPS + 1]; /* first used by it */
    uint64_t dying[SX_MAX_FUSED_LOOPS + 1]; /* last used by it */
    uint64_t running;                       /* all of the exchange memory while it runs */
    int beyond, mine; /* loops above tensors that live beyond it: from before, its own */
} addition;

/* Makes the view after einsum f, and counts; false where more tensors are live than there is room for. */
static bool look_on(const joiner *j, size_t f, const beginning *s, const sx_label *x, outlook *view,
                    addition *a) {
    const sx_cascade *cascade = j->cascade;
    memset(view, 0, sizeof *view);
    memset(a, 0, sizeof *a);
    a->running = x->bits[x->face.n_loops];
    live_tensor list[MAX_LIVE + SX_MAX_TENSORS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->view.n_live; i++) {
        const live_tensor *live = &s->view.live[i];
        if (cascade->tensor[live->tensor].last > f) {
            list[n++] = *live;
            if (live->depth > a->beyond) a->beyond = live->depth;
            if (!sx_cascade_uses(cascade, f, live->tensor, NULL))
                a->running += live_bits(cascade, live, s->view.bound);
        }
    }
    for (int v = 0; v < cascade->einsum[f].n_tensors; v++) {
        const sx_cascade_tensor *tensor = &cascade->tensor[cascade->tensor_of[f][v]];
        if (!sx_cascade_passes(tensor)) continue;
        const live_tensor live = face_of(cascade, f, v, &x->face);
        const uint64_t bits = live_bits(cascade, &live, x->face.bound);
        a->running += bits;
        if (tensor->first == f) list[n++] = live;
        if (live.depth < 0) continue;
        if (tensor->first == f) a->fresh[live.depth] += bits;
        if (tensor->last == f)
            a->dying[live.depth] += bits;
        else if (live.depth > a->mine)
            a->mine = live.depth;
    }
    if (n > MAX_LIVE) return false;
    for (uint32_t i = 0; i < n; i++) {
        view->live[i] = list[i];
        if (list[i].depth > (int)view->n_loops) view->n_loops = (uint32_t)list[i].depth;
    }
    view->n_live = n;
    for (uint32_t i = 0; i < view->n_loops; i++)
        view->bound[i] = i < x->face.n_loops ? x->face.bound[i] : s->view.bound[i];
    return true;
}

/* The peaks and what is held after einsum f; false where there is no room. */
static bool add_up_bits(const joiner *j, const beginning *s, const sx_label *x, const addition *a,
                        beginning *out) {
    const uint32_t before = s->view.n_loops, after = out->view.n_loops;
    const uint64_t running = a->running + (before ? s->held[before - 1] : 0);
    uint64_t more = 0, held = 0;
    if (running > j->room) return false;
    for (uint32_t c = 0; c <= before; c++) {
        if (c) more += bits_at(x, (int)c - 1) + a->fresh[c - 1];
        const uint64_t peak = s->peak[c] ? s->peak[c] + more : 0;
        const uint32_t to = c < after ? c : after;
        if (peak > j->room) return false;
        if (peak > out->peak[to]) out->peak[to] = peak;
    }
    if (running > out->peak[after]) out->peak[after] = running;
    for (uint32_t d = 0; d < after; d++) {
        if (d < before) held += s->held[d] - (d ? s->held[d - 1] : 0);
        held += bits_at(x, (int)d) + a->dying[d];
        out->held[d] = held;
    }
    return true;
}

/* Joins a beginning with a label of einsum f; false when memory is out. */
static bool join_pair(joiner *j, size_t f, uint32_t from, uint32_t label) {
    const beginning *s = sx_vector_at(&j->stage[f].list, from);
    const sx_label *x = sx_label_at(&j->table[f], label);
    beginning out;
    addition a;
    const double energy = s->energy + x->energy, latency = s->latency + x->latency;
    if (sx_fuse_value(j->objective, energy + j->energy_rest[f + 1], latency + j->latency_rest[f + 1]) >
        j->limit)
        return true;
    for (uint32_t i = 0; i < s->view.n_loops && i < x->face.n_loops; i++)
        if (s->view.bound[i] != x->face.bound[i]) return true;
    memset(&out, 0, sizeof out);
    j->result->joined++;
    if (!look_on(j, f, s, x, &out.view, &a) || a.beyond > a.mine || !add_up_bits(j, s, x, &a, &out))
        return true;
    out.energy = energy;
    out.latency = latency;
    out.from = from;
    out.label = label;
    if (f + 1 == j->cascade->n_einsums) {
        const double value = sx_fuse_value(j->objective, energy, latency);
        if (j->result->found && value >= j->result->value) return true;
        j->result->found = true;
        j->result->value = j->limit = value;
        j->best = (uint32_t)j->stage[f + 1].list.n;
        beginning *last = sx_vector_add(&j->stage[f + 1].list);
        if (last) *last = out;
        return last != NULL;
    }
    return add_beginning(j, &j->stage[f + 1], &out);
}

/* Joins all beginnings with the labels of einsum f that fit them. */
static bool join_einsum(joiner *j, size_t f) {
    matcher m;
    bool done = make_matcher(j, f, &m);
    for (uint32_t i = 0; done && i < j->stage[f].list.n; i++) {
        const beginning *s = sx_vector_at(&j->stage[f].list, i);
        if (s->dead) continue;
        outlook offer;
        j->result->states++;
        offer_to(j->cascade, f, &s->view, &offer);
        const sx_hash_keys keys = {m.keys.data, sizeof offer, sizeof offer};
        const uint32_t key =
            sx_hash_table_find(&m.index, keys, &offer, sx_hash_bytes(&offer, sizeof offer, 0));
        if (key == SX_HASH_NONE) continue;
        for (uint32_t x = m.first[key]; done && x != UINT32_MAX; x = m.next[x]) done = join_pair(j, f, i, x);
    }
    free_matcher(&m);
    return done;
}

/* The least that einsums from each one on cost. */
static void bound_rest(joiner *j) {
    for (size_t e = j->cascade->n_einsums; e-- > 0;) {
        double energy = INFINITY, latency = INFINITY;
        for (size_t i = 0; i < j->table[e].labels.n; i++) {
            energy = fmin(energy, sx_label_at(&j->table[e], i)->energy);
            latency = fmin(latency, sx_label_at(&j->table[e], i)->latency);
        }
        j->energy_rest[e] = j->energy_rest[e + 1] + energy;
        j->latency_rest[e] = j->latency_rest[e + 1] + latency;
    }
}

/* Takes the labels of the best mapping from its end to its beginning. */
static bool trace_best(joiner *j) {
    const size_t n = j->cascade->n_einsums;
    sx_join_result *result = j->result;
    if (!result->found) return true;
    result->label = malloc(n * sizeof *result->label);
    if (!result->label) return false;
    const beginning *last = sx_vector_at(&j->stage[n].list, j->best);
    result->energy = last->energy;
    result->latency = last->latency;
    for (size_t e = n; e-- > 0;) {
        result->label[e] = last->label;
        last = sx_vector_at(&j->stage[e].list, last->from);
    }
    return true;
}

static bool join_all(joiner *j) {
    const size_t n = j->cascade->n_einsums;
    j->energy_rest = calloc(n + 1, sizeof *j->energy_rest);
    j->latency_rest = calloc(n + 1, sizeof *j->latency_rest);
    j->stage = calloc(n + 1, sizeof *j->stage);
    if (!j->energy_rest || !j->latency_rest || !j->stage) return false;
    for (size_t e = 0; e <= n; e++) j->stage[e].list.size = sizeof(beginning);
    bound_rest(j);
    beginning *empty = sx_vector_add(&j->stage[0].list);
    if (!empty) return false;
    memset(empty, 0, sizeof *empty);
    for (size_t e = 0; e < n; e++)
        if (!join_einsum(j, e)) return false;
    return trace_best(j);
}

sx_status sx_join_labels(const sx_cascade *cascade, const sx_label_table *table, uint64_t room, double limit,
                         sx_join_result *result) {
    joiner j = {
        .cascade = cascade, .table = table, .objective = table->objective, .room = room, .limit = limit};
    *result = (sx_join_result){.found = false};
    j.result = result;
    const bool done = join_all(&j);
    for (size_t e = 0; j.stage && e <= cascade->n_einsums; e++) {
        sx_vector_clear(&j.stage[e].list);
        sx_hash_table_clear(&j.stage[e].index);
    }
    free(j.stage);
    free(j.energy_rest);
    free(j.latency_rest);
    return done ? SX_OK : sx_error_memory();
}
