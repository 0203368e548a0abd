/* The children of a level (docs/model.md, section 3): which of them want the same words of a tensor, and which have a neighbour
 * that had these words before. Closed forms where there are any, otherwise children are listed one by one, where there is
 * room: a list needs no hash, as the group of a child is the head of its chain. */
#ifndef SX_CORE_CHILDREN_H
#define SX_CORE_CHILDREN_H

#include "core/layout.h"

/* `count` groups of m children each. */
typedef struct sx_core_group {
    double m, count;
} sx_core_group;

/* Groups by their size; total: how many there are of all sizes. */
typedef struct sx_core_groups {
    int n;
    double total, served; /* served: children that are in none, as a neighbour serves them */
    sx_core_group group[SX_CORE_RECORDS];
} sx_core_groups;

/* What decides the answer of a listing: the level, the tensor and its spatial loops; their iterations; their moves; the
 * displacement asked for. */
typedef struct sx_core_question {
    uint64_t word[6];
} sx_core_question;

/* An answer that is remembered. */
typedef struct sx_core_answer {
    sx_core_question to;
    double total, served;
    int32_t n, padding; /* 0: none */
    sx_core_group group[SX_CORE_KEPT_GROUPS];
} sx_core_answer;

/* Room for a list of children: where each stands in the mixed ranks, the head of its chain, and its number in the loops that
 * move no mixed rank. And answers of earlier lists. */
typedef struct sx_core_listing {
    int32_t at[SX_CORE_MIXED][SX_CORE_LISTED];
    uint16_t head[SX_CORE_LISTED], solo[SX_CORE_LISTED], members[SX_CORE_LISTED];
    sx_core_answer answer[SX_CORE_ANSWERS];
} sx_core_listing;

/* How a level's children lie in the mixed ranks of a tensor. */
typedef struct sx_core_spans {
    bool apart, uniform; /* they stand apart; no two loops move the same rank */
    double span[SX_CORE_MIXED];
} sx_core_spans;

/* Adds a number to the one that a mixed rank has. */
SX_HD void sx_core_bump(double *rank, int k, double by) {
    SX_UNROLL
    for (int i = 0; i < SX_CORE_MIXED; i++)
        if (i == k) rank[i] += by;
}

SX_HD sx_core_spans sx_core_find_spans(const sx_core_tensor *t, const sx_core_state *st, int s) {
    const sx_core_loops *slot = &st->nest.slots[s];
    sx_core_spans to = {false, true, {0}};
    unsigned moved = 0;
    for (int i = 0; i < slot->n; i++) {
        unsigned d = sx_core_loop(slot, i);
        int k = t->mixed_of[d];
        if (k < 0) continue;
        to.apart = true;
        to.uniform = to.uniform && !(moved >> k & 1);
        moved |= 1u << k;
        sx_core_bump(to.span, k,
                     fabs(t->coef[d]) * sx_core_inner(st, d, s) * (sx_core_at(st, d, s)->spatial - 1));
    }
    return to;
}

/* How many of a level's spatial loops run along X: all where its children lie in one row. */
SX_HD int sx_core_on_x(const sx_core_model *p, const sx_core_state *st, int s) {
    const sx_core_loops *slot = &st->nest.slots[s];
    return st->children[s] <= p->level[s].fanout_x ? slot->n : slot->n_x;
}

/* Whether X loops fill whole rows of the mesh, or children lie in one row. */
SX_HD bool sx_core_is_aligned(const sx_core_model *p, const sx_core_state *st, int s) {
    return sx_core_on_x(p, st, s) == st->nest.slots[s].n || st->slot_x[s] >= p->level[s].fanout_x;
}

/* Whether children of which n_x loops run along X have a neighbour that agrees with them in all loops on a tensor's
 * dimensions. */
SX_HD bool sx_core_agree(const sx_core_loops *slot, int n_x, uint32_t dims) {
    bool x = n_x > 0 && !(dims >> sx_core_loop(slot, 0) & 1);
    bool y = slot->n > n_x && !(dims >> sx_core_loop(slot, n_x) & 1);
    return x || y;
}

/* Adds groups of one size; false where there is no room. */
SX_HD bool sx_core_add_groups(sx_core_groups *to, double m, double count) {
    int i = 0;
    while (i < to->n && to->group[i].m != m) i++;
    if (i == SX_CORE_RECORDS) return false;
    if (i == to->n) {
        to->group[i].m = m;
        to->group[i].count = 0;
        to->n++;
    }
    to->group[i].count += count;
    to->total += count;
    return true;
}

/* The greatest common divisor of two whole numbers above 0. */
SX_HD double sx_core_common(double a, double b) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return (double)x;
}

/* Points of an n by m grid with k - 1 successors along (b, a). */
SX_HD double sx_core_chain_points(double n, double m, double a, double b, double k) {
    double x = (k - 1) * b, y = (k - 1) * a;
    return x < n && y < m ? (n - x) * (m - y) : 0;
}

/* Multiplies groups by those of a rank that two loops of n and m iterations move, by a and b an iteration: iterations (i, j)
 * and (i + b/g, j - a/g) coincide, so groups are chains along that direction. False where there is no room. */
SX_HD bool sx_core_multiply_chains(sx_core_groups *groups, double n, double m, double a, double b) {
    sx_core_groups made;
    double g = sx_core_common(a, b);
    made.n = 0;
    made.total = 0;
    a /= g;
    b /= g;
    for (double k = 1; sx_core_chain_points(n, m, a, b, k) > 0; k++) {
        double chains = sx_core_chain_points(n, m, a, b, k) - 2 * sx_core_chain_points(n, m, a, b, k + 1) +
                        sx_core_chain_points(n, m, a, b, k + 2);
        for (int i = 0; i < groups->n && chains > 0; i++)
            if (!sx_core_add_groups(&made, groups->group[i].m * k, groups->group[i].count * chains))
                return false;
    }
    made.served = 0;
    *groups = made;
    return true;
}

/* The loops of a slot that move a mixed rank, two at most, and by how much; their number. */
SX_HD int sx_core_find_movers(const sx_core_tensor *t, const sx_core_state *st, int s, int rank,
                              uint32_t *loop, double *move) {
    const sx_core_loops *slot = &st->nest.slots[s];
    int n = 0;
    for (int i = 0; i < slot->n && n < 2; i++) {
        unsigned d = sx_core_loop(slot, i);
        if (t->mixed_of[d] != rank) continue;
        loop[n] = (uint32_t)i;
        move[n++] = t->coef[d] * sx_core_inner(st, d, s);
    }
    return n;
}

/* Finds the groups of all children; false where there is no room. */
SX_HD_CALL bool sx_core_find_groups(const sx_core_tensor *t, const sx_core_state *st, int s,
                                    sx_core_groups *out) {
    const sx_core_loops *slot = &st->nest.slots[s];
    double m = 1, solo = 1;
    bool good = true;
    for (int i = 0; i < slot->n; i++) {
        unsigned d = sx_core_loop(slot, i);
        double n = sx_core_at(st, d, s)->spatial;
        m *= t->dims >> d & 1 ? 1 : n;
        solo *= t->solo >> d & 1 ? n : 1;
    }
    out->n = 1;
    out->group[0].m = m;
    out->group[0].count = 1;
    out->served = 0;
    for (int k = 0; k < t->n_mixed && good; k++) {
        uint32_t loop[2];
        double move[2], n[2] = {1, 1};
        int movers = sx_core_find_movers(t, st, s, k, loop, move);
        for (int i = 0; i < movers; i++) n[i] = sx_core_at(st, sx_core_loop(slot, (int)loop[i]), s)->spatial;
        if (movers == 1) solo *= n[0];
        if (movers == 2) good = sx_core_multiply_chains(out, n[0], n[1], fabs(move[0]), fabs(move[1]));
    }
    out->total = 0;
    for (int i = 0; i < out->n; i++) out->total += out->group[i].count *= solo;
    return good;
}

/* What a listing does with a spatial loop. */
enum { SX_CORE_ALIKE, SX_CORE_SOLO, SX_CORE_MOVER, SX_CORE_FIRST, SX_CORE_SECOND };

/* A spatial loop, to list children by: of two that move a rank the first knows the other. */
typedef struct sx_core_listed {
    uint8_t kind, rank, other;
    bool back;        /* the two move the rank in opposite directions */
    uint32_t n, a, b; /* a chain goes b iterations of the first back and a of the second on */
    int32_t move;
} sx_core_listed;

/* Describes the loops of a level for a listing. */
SX_HD void sx_core_describe_loops(const sx_core_tensor *t, const sx_core_state *st, int s,
                                  sx_core_listed *out) {
    const sx_core_loops *slot = &st->nest.slots[s];
    for (int i = 0; i < slot->n; i++) {
        unsigned d = sx_core_loop(slot, i);
        int rank = t->mixed_of[d];
        out[i].n = (uint32_t)sx_core_at(st, d, s)->spatial;
        out[i].kind = (uint8_t)(!(t->dims >> d & 1) ? SX_CORE_ALIKE
                                : rank < 0          ? SX_CORE_SOLO
                                                    : SX_CORE_MOVER);
        out[i].rank = (uint8_t)(rank < 0 ? 0 : rank);
        out[i].move = rank < 0 ? 0 : (int32_t)(t->coef[d] * sx_core_inner(st, d, s));
        for (int k = 0; k < i && rank >= 0; k++) {
            if (out[k].kind != SX_CORE_MOVER || out[k].rank != rank) continue;
            double a = fabs((double)out[k].move), b = fabs((double)out[i].move), g = sx_core_common(a, b);
            out[k].kind = SX_CORE_FIRST;
            out[i].kind = SX_CORE_SECOND;
            out[k].other = (uint8_t)i;
            out[k].back = (out[k].move > 0) != (out[i].move > 0);
            out[k].a = (uint32_t)(a / g);
            out[k].b = (uint32_t)(b / g);
        }
    }
}

/* Places child p, which is at iteration index[i] of loop i. */
SX_HD void sx_core_place_child(const sx_core_listed *loop, int n_loops, const uint32_t *index, uint32_t p,
                               sx_core_listing *to) {
    uint32_t head = 0, solo = 0, radix = 1;
    int32_t at[SX_CORE_MIXED] = {0};
    for (int i = 0; i < n_loops; i++) {
        const sx_core_listed *l = &loop[i];
        uint32_t k = index[i];
        if (l->kind == SX_CORE_ALIKE) continue;
        if (l->kind != SX_CORE_SOLO) at[l->rank] += (int32_t)k * l->move;
        if (l->kind == SX_CORE_SECOND) continue;
        if (l->kind == SX_CORE_SOLO) solo += k * radix;
        if (l->kind != SX_CORE_FIRST) {
            head += k * radix;
            radix *= l->n;
            continue;
        }
        uint32_t m = loop[l->other].n, j = l->back ? m - 1 - index[l->other] : index[l->other];
        uint32_t steps = k / l->b, most = (m - 1 - j) / l->a;
        if (steps > most) steps = most;
        head += (k - steps * l->b + l->n * (j + steps * l->a)) * radix;
        radix *= l->n * m;
    }
    to->head[p] = (uint16_t)head;
    to->solo[p] = (uint16_t)solo;
    for (int k = 0; k < SX_CORE_MIXED; k++) to->at[k][p] = at[k];
}

/* Whether child q stands `need` from child p. */
SX_HD bool sx_core_stands_from(const sx_core_listing *list, uint32_t p, uint32_t q, const int32_t *need) {
    bool there = list->solo[q] == list->solo[p];
    for (int k = 0; k < SX_CORE_MIXED; k++) there = there && list->at[k][q] - list->at[k][p] == need[k];
    return there;
}

/* Lists a level's children: how many have a neighbour that stands `need` from them, and the groups of the others. False where
 * groups have too many sizes. */
SX_HD bool sx_core_list_children(const sx_core_model *p, const sx_core_state *st, int s,
                                 const sx_core_listed *loop, const int32_t *need, sx_core_groups *out) {
    sx_core_listing *list = st->own->listing;
    const int n_loops = st->nest.slots[s].n;
    uint32_t index[SX_CORE_DIMS] = {0}, n = (uint32_t)st->children[s];
    for (uint32_t i = 0; i < n; i++) {
        sx_core_place_child(loop, n_loops, index, i, list);
        list->members[i] = 0;
        for (int l = 0; l < n_loops && ++index[l] == loop[l].n; l++) index[l] = 0;
    }
    uint32_t columns = (uint32_t)fmax(p->level[s].fanout_x, st->slot_x[s]);
    uint32_t rows = (uint32_t)fmax(p->level[s].fanout_y, st->slot_y[s]), served = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t column = i % columns, row = i / columns;
        bool yes = (row >= 1 && sx_core_stands_from(list, i, i - columns, need)) ||
                   (row + 1 < rows && i + columns < n && sx_core_stands_from(list, i, i + columns, need)) ||
                   (column >= 1 && sx_core_stands_from(list, i, i - 1, need)) ||
                   (column + 1 < columns && i + 1 < n && sx_core_stands_from(list, i, i + 1, need));
        served += yes;
        list->members[list->head[i]] = (uint16_t)(list->members[list->head[i]] + !yes);
    }
    out->n = 0;
    out->total = 0;
    out->served = served;
    for (uint32_t i = 0; i < n; i++)
        if (list->members[i] && !sx_core_add_groups(out, list->members[i], 1)) return false;
    return true;
}

/* Describes a question to a listing. */
SX_HD sx_core_question sx_core_describe_question(const sx_core_loops *slot, int tensor, int s,
                                                 const sx_core_listed *loop, const int32_t *need) {
    sx_core_question q = {{0}};
    int moves = 0;
    q.word[0] = slot->dims | (uint64_t)slot->n << 32 | (uint64_t)slot->n_x << 40 | (uint64_t)tensor << 48 |
                (uint64_t)s << 56;
    for (int i = 0; i < slot->n; i++) {
        q.word[1 + i / 4] |= (uint64_t)loop[i].n << 16 * (i % 4);
        if (loop[i].kind < SX_CORE_MOVER) continue;
        q.word[3 + moves / 2] |= (uint64_t)(uint32_t)loop[i].move << 32 * (moves % 2);
        moves++;
    }
    for (int k = 0; k < SX_CORE_MIXED; k++) q.word[5] |= (uint64_t)(uint32_t)need[k] << 32 * k;
    return q;
}

/* Where the answer to a question is remembered. */
SX_HD sx_core_answer *sx_core_find_answer(sx_core_listing *list, const sx_core_question *q, bool *known) {
    uint64_t mixed = 0, differ = 0;
    for (int i = 0; i < 6; i++) {
        mixed = (mixed ^ q->word[i]) * 0x9e3779b97f4a7c15u;
        mixed ^= mixed >> 29;
    }
    sx_core_answer *at = &list->answer[mixed % SX_CORE_ANSWERS];
    for (int i = 0; i < 6; i++) differ |= at->to.word[i] ^ q->word[i];
    *known = at->n > 0 && !differ;
    return at;
}

/* Whether all children stand where whole numbers of 32 bits reach. */
SX_HD bool sx_core_listable(const sx_core_tensor *t, const sx_core_state *st, int s) {
    sx_core_spans spans = sx_core_find_spans(t, st, s);
    bool near = st->children[s] <= SX_CORE_LISTED;
    for (int k = 0; k < SX_CORE_MIXED; k++) near = near && spans.span[k] < 0x1p30;
    return near;
}

/* sx_core_list_children, with a memory; false where there is no room. */
SX_HD_CALL bool sx_core_list_served(const sx_core_model *p, const sx_core_tensor *t, const sx_core_state *st,
                                    int s, const double *need, sx_core_groups *out) {
    sx_core_listing *list = st->own->listing;
    sx_core_listed loop[SX_CORE_DIMS];
    int32_t by[SX_CORE_MIXED];
    bool known;
    if (!SX_CORE_LISTS || !list || !sx_core_listable(t, st, s)) return false;
    for (int k = 0; k < SX_CORE_MIXED; k++) by[k] = (int32_t)need[k];
    sx_core_describe_loops(t, st, s, loop);
    sx_core_question q = sx_core_describe_question(&st->nest.slots[s], (int)(t - p->tensor), s, loop, by);
    sx_core_answer *answer = sx_core_find_answer(list, &q, &known);
    if (known) {
        out->n = answer->n;
        out->total = answer->total;
        out->served = answer->served;
        for (int i = 0; i < answer->n; i++) out->group[i] = answer->group[i];
        return true;
    }
    if (!sx_core_list_children(p, st, s, loop, by, out)) return false;
    if (out->n == 0 || out->n > SX_CORE_KEPT_GROUPS) return true;
    answer->to = q;
    answer->n = out->n;
    answer->total = out->total;
    answer->served = out->served;
    for (int i = 0; i < out->n; i++) answer->group[i] = out->group[i];
    return true;
}

#endif
