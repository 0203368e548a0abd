/* T3: a shortest path from the single iteration to the whole problem. A step adds one prime to the extent of a
 * dimension, as a loop or a part of one; an edge between levels is passed where the tile fits. What waits pays at the
 * first step that moves it. */
#include "check/lattice.h"

#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 1 << 22 };

void sx_check_lattice_fini(sx_check_lattice *l) {
    free(l->step_begin);
    free(l->step);
    for (int s = 0; s < SX_MAX_LEVELS; s++) free(l->rest[s]);
    for (int s = 0; s < SX_MAX_LEVELS; s++)
        for (int v = 0; v < SX_MAX_TENSORS; v++) free(l->charge[s][v]);
    for (int v = 0; v < SX_MAX_TENSORS; v++) {
        free(l->idle[v]);
        free(l->base[v]);
    }
    memset(l, 0, sizeof *l);
}

/* The temporal extents of a point. */
static void set_extents(const sx_check_lattice *l, uint32_t point, int64_t *extent) {
    for (int d = 0; d < l->o->space->n_dims; d++)
        extent[d] = l->divisor[d][point / l->stride[d] % (uint32_t)l->n_divisors[d]];
}

/* Whether n is a prime. */
static bool is_prime(int64_t n) {
    for (int64_t f = 2; f * f <= n; f++)
        if (n % f == 0) return false;
    return n > 1;
}

/* Lists the steps of all points along a dimension from a divisor on. */
static sx_status list_steps(sx_check_lattice *l) {
    size_t n = 0;
    int n_dims = l->o->space->n_dims;
    for (uint32_t p = 0; p < l->n_points; p++) {
        l->step_begin[p] = (uint32_t)n;
        for (int d = 0; d < n_dims; d++) {
            int at = (int)(p / l->stride[d] % (uint32_t)l->n_divisors[d]);
            for (int i = at + 1; i < l->n_divisors[d]; i++) {
                int64_t ratio = l->divisor[d][i] / l->divisor[d][at];
                if (l->divisor[d][i] % l->divisor[d][at] || !is_prime(ratio)) continue;
                if (!sx_reserve(&l->step, &l->step_room, n + 1, sizeof *l->step)) return sx_error_memory();
                l->step[n++] = (sx_check_step){p + (uint32_t)(i - at) * l->stride[d], (uint8_t)d};
            }
        }
    }
    l->step_begin[l->n_points] = (uint32_t)n;
    return SX_OK;
}

/* The product of what is left of the dimensions that do not index a tensor. */
static int64_t idle_iterations(const sx_check_outline *o, int v, const int64_t *extent) {
    int64_t idle = 1;
    for (int d = 0; d < o->space->n_dims; d++)
        if (!(o->shape->dims[v] >> d & 1)) idle = sx_capped_mul(idle, o->left[d] / extent[d]);
    return idle;
}

/* The dimensions that the words of a tensor's pass depend on: all but those alone in one rank, without a stride. */
static unsigned flow_dims(const sx_check_outline *o, int v) {
    const sx_tensor *t = &o->space->c->problem.tensor[v];
    unsigned dims = 0;
    for (int d = 0; d < o->space->n_dims; d++) {
        int64_t steps = 0;
        for (int r = 0; r < t->n_ranks; r++) steps += labs((long)t->coef[r][d]);
        if (o->shape->dims[v] >> d & 1 && !(o->shape->solo[v] >> d & 1 && steps == 1)) dims |= 1u << d;
    }
    return dims;
}

/* Sets what is idle at all points, and where flows are the same. */
static sx_status set_bases(sx_check_lattice *l) {
    const sx_check_outline *o = l->o;
    int64_t extent[SX_MAX_DIMS];
    for (int v = 0; v < o->space->n_tensors; v++) {
        unsigned dims = flow_dims(o, v);
        if (!sx_reserve(&l->idle[v], &l->idle_room[v], l->n_points, sizeof **l->idle) ||
            !sx_reserve(&l->base[v], &l->base_room[v], l->n_points, sizeof **l->base))
            return sx_error_memory();
        for (uint32_t p = 0; p < l->n_points; p++) {
            set_extents(l, p, extent);
            l->idle[v][p] = idle_iterations(o, v, extent);
            l->base[v][p] = 0;
            for (int d = 0; d < o->space->n_dims; d++)
                if (dims >> d & 1)
                    l->base[v][p] += p / l->stride[d] % (uint32_t)l->n_divisors[d] * l->stride[d];
        }
    }
    return SX_OK;
}

sx_status sx_check_lattice_points(sx_check_lattice *l, const sx_check_outline *o) {
    const sx_check_space *space = o->space;
    uint64_t n = 1;
    l->o = o;
    for (int d = 0; d < space->n_dims; d++) {
        l->n_divisors[d] = 0;
        for (int i = 0; i < space->n_divisors[d]; i++)
            if (o->left[d] % space->divisor[d][i] == 0)
                l->divisor[d][l->n_divisors[d]++] = space->divisor[d][i];
        l->stride[d] = (uint32_t)n;
        n *= (uint64_t)l->n_divisors[d];
        if (n > MOST_POINTS)
            return sx_error_new(SX_ERR_LIMIT, "more than %d tiles of one level", MOST_POINTS);
    }
    l->n_points = (uint32_t)n;
    if (l->room <= n) {
        uint32_t *grown = realloc(l->step_begin, (n + 1) * sizeof *grown);
        if (!grown) return sx_error_memory();
        l->step_begin = grown;
        l->room = (uint32_t)n + 1;
    }
    SX_TRY(list_steps(l));
    return set_bases(l);
}

/* Lists the states of the loops of a level. */
static bool list_states(const sx_check_outline *o, int level, sx_check_states *out) {
    out->n = 1;
    for (int v = 0; v < o->space->n_tensors; v++) {
        int n = 0;
        out->holder[v][n++] = -1;
        if (o->linked[v]) out->holder[v][n++] = SX_UNITS;
        for (int s = 0; s < level && s < sx_check_top(o, v); s++)
            if (o->keep[s] >> v & 1) out->holder[v][n++] = s + 1;
        out->n_of[v] = n;
        out->stride[v] = out->n;
        if ((out->n *= n) > SX_MAX_STATES) return false;
    }
    return true;
}

/* A tensor's own part of a state. */
static int state_of(const sx_check_states *states, int state, int v) {
    return state / states->stride[v] % states->n_of[v];
}

int sx_check_pass_edge(const sx_check_lattice *l, int level, int state) {
    const sx_check_states *from = &l->states[level], *to = &l->states[level + 1];
    int out = 0;
    for (int v = 0; v < l->o->space->n_tensors; v++) {
        int i = state_of(from, state, v);
        if (i == 0 && (l->o->keep[level] >> v & 1) && level < sx_check_top(l->o, v)) i = to->n_of[v] - 1;
        out += i * to->stride[v];
    }
    return out;
}

/* Where what a tensor pays begins, by points, for a kind of loop and a state. */
static size_t charge_at(const sx_check_lattice *l, int level, int v, int kind, int state) {
    return ((size_t)kind * (size_t)l->states[level].n_of[v] + (size_t)state) * l->n_points;
}

/* Works out what a tensor's flows that wait cost at each base point, in each of its states inside the loops of a level,
 * at a loop on a dimension of its own; -1: on a solo one. */
static void set_charges(sx_check_lattice *l, const sx_check_prices *prices, int level, int v, int dim) {
    const sx_check_outline *o = l->o;
    const sx_check_states *states = &l->states[level];
    int kind = dim < 0 ? 0 : l->kind[v][dim];
    int64_t *table = l->charge[level][v], extent[SX_MAX_DIMS];
    for (uint32_t p = 0; p < l->n_points; p++) {
        int64_t sum = 0;
        if (l->base[v][p] != p) continue;
        set_extents(l, p, extent);
        bool moves = dim < 0 || extent[dim] < o->left[dim];
        table[charge_at(l, level, v, kind, 0) + p] = 0;
        for (int i = states->n_of[v] - 1; i > 0; i--) {
            int holder = states->holder[v][i];
            int64_t flow = 0;
            if (moves)
                flow = dim < 0 ? sx_check_flow(o, prices, v, holder, extent)
                               : sx_check_slide(o, prices, v, holder, level, dim, 0, extent);
            if (moves && flow < l->least[v][holder]) l->least[v][holder] = flow;
            sum = sx_capped_add(sum, flow);
            table[charge_at(l, level, v, kind, i) + p] = sum;
        }
    }
}

/* Numbers the kinds of loops that tensors tell apart. */
static void list_kinds(sx_check_lattice *l) {
    const sx_check_shape *shape = l->o->shape;
    for (int v = 0; v < l->o->space->n_tensors; v++) {
        l->n_kinds[v] = 1;
        for (int d = 0; d < l->o->space->n_dims; d++) {
            l->kind[v][d] = shape->dims[v] >> d & 1 ? 0 : -1;
            if (shape->dims[v] & ~shape->solo[v] & 1u << d) l->kind[v][d] = l->n_kinds[v]++;
        }
    }
}

/* Works out what all tensors pay inside the loops of a level. */
static sx_status set_payments(sx_check_lattice *l, const sx_check_prices *prices, int level) {
    for (int v = 0; v < l->o->space->n_tensors; v++) {
        size_t size = charge_at(l, level, v, l->n_kinds[v], 0);
        if (!sx_reserve(&l->charge[level][v], &l->charge_room[level][v], size, sizeof(int64_t)))
            return sx_error_memory();
        set_charges(l, prices, level, v, -1);
        for (int d = 0; d < l->o->space->n_dims; d++)
            if (l->kind[v][d] > 0) set_charges(l, prices, level, v, d);
    }
    return SX_OK;
}

/* The extents of a level's tile at a point, spatial loops inside it with them. */
static void set_tile(const sx_check_lattice *l, int level, uint32_t point, int64_t *extent) {
    set_extents(l, point, extent);
    for (int d = 0; d < l->o->space->n_dims; d++)
        for (int s = 0; s <= level; s++) extent[d] *= l->o->spatial->factor[s][d];
}

bool sx_check_point_fits(const sx_check_lattice *l, int level, uint32_t point) {
    int64_t extent[SX_MAX_DIMS];
    set_tile(l, level, point, extent);
    return sx_check_fits(l->o->space, level, l->o->keep[level], extent);
}

/* What a state does at a loop on each dimension: the tensors that pay, as a mask, and the state after it; the states of
 * single tensors; and the least that is left to pay whatever follows. */
typedef struct moves {
    uint8_t pays[SX_MAX_STATES][SX_MAX_DIMS], part[SX_MAX_STATES][SX_MAX_TENSORS];
    int16_t next[SX_MAX_STATES][SX_MAX_DIMS];
    int16_t edge[SX_MAX_STATES];
    int64_t least[SX_MAX_STATES];
} moves;

/* The tensors that a loop on a dimension moves, which no longer wait after it, and the state after it. */
static unsigned list_payers(const sx_check_lattice *l, int level, int state, int d, int *next) {
    const sx_check_states *states = &l->states[level];
    unsigned pays = 0;
    *next = state;
    for (int v = 0; v < l->o->space->n_tensors; v++) {
        int i = state_of(states, state, v);
        if (i == 0 || !(l->o->shape->dims[v] >> d & 1)) continue;
        *next -= i * states->stride[v];
        pays |= 1u << v;
    }
    return pays;
}

/* The least that a tensor's flows cost from a state on: those that wait, and those into levels that are not reached yet. */
static int64_t least_left(const sx_check_lattice *l, int level, int v, int state) {
    const sx_check_states *states = &l->states[level];
    int64_t sum = 0;
    for (int i = state; i > 0 && i < states->n_of[v]; i++)
        sum = sx_capped_add(sum, l->least[v][states->holder[v][i]]);
    for (int s = level; s < sx_check_top(l->o, v); s++)
        if (l->o->keep[s] >> v & 1) sum = sx_capped_add(sum, l->least[v][s + 1]);
    return sum;
}

static void list_moves(const sx_check_lattice *l, int level, moves *m) {
    bool outermost = level + 1 == l->o->space->n_levels;
    for (int k = 0; k < l->states[level].n; k++) {
        m->edge[k] = outermost ? 0 : (int16_t)sx_check_pass_edge(l, level, k);
        m->least[k] = 0;
        for (int v = 0; v < l->o->space->n_tensors; v++) {
            m->part[k][v] = (uint8_t)state_of(&l->states[level], k, v);
            m->least[k] = sx_capped_add(m->least[k], least_left(l, level, v, m->part[k][v]));
        }
        for (int d = 0; d < l->o->space->n_dims; d++) {
            int next;
            m->pays[k][d] = (uint8_t)list_payers(l, level, k, d, &next);
            m->next[k][d] = (int16_t)next;
        }
    }
}

/* What every tensor pays at a point, by kind of loop and state. */
typedef struct payments {
    int64_t of[SX_MAX_TENSORS][SX_MAX_DIMS + 1][SX_N_HOLDERS + 1];
} payments;

static void set_point_payments(const sx_check_lattice *l, int level, uint32_t point, payments *out) {
    for (int v = 0; v < l->o->space->n_tensors; v++)
        for (int kind = 0; kind < l->n_kinds[v]; kind++)
            for (int i = 0; i < l->states[level].n_of[v]; i++) {
                int64_t each = l->charge[level][v][charge_at(l, level, v, kind, i) + l->base[v][point]];
                out->of[v][kind][i] = sx_capped_mul(each, l->idle[v][point]);
            }
}

/* What the tensors of a mask pay at a loop on a dimension; -1: at the end of all loops. */
static int64_t sum_payments(const sx_check_lattice *l, const payments *pay, const uint8_t *part,
                            unsigned mask, int d) {
    int64_t sum = 0;
    for (; mask; mask &= mask - 1) {
        int v = __builtin_ctz(mask);
        sum = sx_capped_add(sum, pay->of[v][d < 0 ? 0 : l->kind[v][d]][part[v]]);
    }
    return sum;
}

/* Whether the loops of a level can reach a point, and whether they may end there. */
static bool check_room(const sx_check_lattice *l, int level, uint32_t point, bool *ends) {
    const sx_check_space *space = l->o->space;
    int64_t extent[SX_MAX_DIMS];
    *ends = point + 1 == l->n_points;
    if (level + 1 == space->n_levels) return true;
    set_tile(l, level, point, extent);
    if (!sx_check_has_room(space, level, l->o->keep[level], extent)) return false;
    *ends = sx_check_fits(space, level, l->o->keep[level], extent);
    return true;
}

static int64_t lesser_of(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Goes on from a point in a state at which `paid` is the least paid so far: the level's loops end there, or one more
 * follows. At the end of all loops, lowers *total. */
static void spread_state(sx_check_lattice *l, int level, const moves *m, const payments *pay, int k,
                         uint32_t p, bool ends, int64_t *total) {
    const sx_check_range *range = l->o->space->temporal[level];
    size_t n = (size_t)l->states[level].n;
    int64_t *rest = l->rest[level], paid = rest[(size_t)p * n + (size_t)k], cost[SX_MAX_DIMS];
    if (ends && level + 1 < l->o->space->n_levels) {
        int64_t *to = &l->rest[level + 1][(size_t)p * (size_t)l->states[level + 1].n + (size_t)m->edge[k]];
        *to = lesser_of(*to, paid);
    } else if (ends) {
        unsigned all = (1u << l->o->space->n_tensors) - 1;
        *total = lesser_of(*total, sx_capped_add(paid, sum_payments(l, pay, m->part[k], all, -1)));
    }
    for (int d = 0; d < l->o->space->n_dims; d++)
        cost[d] = sx_capped_add(paid, sum_payments(l, pay, m->part[k], m->pays[k][d], d));
    for (uint32_t i = l->step_begin[p]; i < l->step_begin[p + 1]; i++) {
        int d = l->step[i].dim;
        if (range[d].most == 1) continue;
        int64_t *to = &rest[(size_t)l->step[i].to * n + (size_t)m->next[k][d]];
        *to = lesser_of(*to, cost[d]);
    }
}

/* Finds the least that is paid up to each point and state of a level, points of small extents first. Those from which no
 * mapping is below `enough` are left out. */
static void spread_level(sx_check_lattice *l, int level, const moves *m, int64_t enough, int64_t *total) {
    size_t n = (size_t)l->states[level].n;
    payments pay;
    for (uint32_t p = 0; p < l->n_points; p++) {
        int64_t *rest = l->rest[level] + (size_t)p * n;
        bool reached = false, ends = false;
        for (size_t k = 0; k < n; k++) {
            if (rest[k] < SX_CHECK_NONE && rest[k] + m->least[k] >= enough) rest[k] = SX_CHECK_NONE;
            reached |= rest[k] < SX_CHECK_NONE;
        }
        if (!reached) continue;
        bool room = check_room(l, level, p, &ends);
        if (room) set_point_payments(l, level, p, &pay);
        for (size_t k = 0; k < n; k++) {
            if (!room) rest[k] = SX_CHECK_NONE;
            if (rest[k] < SX_CHECK_NONE) spread_state(l, level, m, &pay, (int)k, p, ends, total);
        }
    }
}

/* Makes room for all tables, none of whose points is reached yet, and works out what tensors pay. */
static sx_status begin_tables(sx_check_lattice *l, const sx_check_prices *prices) {
    int n = l->o->space->n_levels;
    for (int v = 0; v < l->o->space->n_tensors; v++)
        for (int i = 0; i < SX_N_HOLDERS; i++) l->least[v][i] = SX_CHECK_CAP;
    list_kinds(l);
    for (int s = 0; s < n; s++) {
        if (!list_states(l->o, s, &l->states[s]))
            return sx_error_new(SX_ERR_LIMIT, "more than %d states of tensors", SX_MAX_STATES);
        size_t size = (size_t)l->n_points * (size_t)l->states[s].n;
        if (!sx_reserve(&l->rest[s], &l->rest_room[s], size, sizeof **l->rest)) return sx_error_memory();
        for (size_t i = 0; i < size; i++) l->rest[s][i] = SX_CHECK_NONE;
        SX_TRY(set_payments(l, prices, s));
    }
    return SX_OK;
}

sx_status sx_check_lattice_solve(sx_check_lattice *l, const sx_check_outline *o,
                                 const sx_check_prices *prices, int64_t enough, int64_t *out) {
    int64_t total = SX_CHECK_NONE;
    l->o = o;
    l->prices = prices;
    SX_TRY(begin_tables(l, prices));
    moves *m = malloc(sizeof *m);
    if (!m) return sx_error_memory();
    l->rest[0][sx_check_first_state(l)] = 0;
    for (int s = 0; s < o->space->n_levels; s++) {
        list_moves(l, s, m);
        spread_level(l, s, m, enough, &total);
    }
    free(m);
    *out = total >= enough ? SX_CHECK_NONE : total;
    return SX_OK;
}

/* The least left to pay at a point in a state: the level's loops end there, or one more follows. */
static int64_t solve_state(const sx_check_lattice *l, int level, const moves *m, const payments *pay, int k,
                           uint32_t p, bool ends) {
    const sx_check_range *range = l->o->space->temporal[level];
    unsigned all = (1u << l->o->space->n_tensors) - 1;
    size_t n = (size_t)l->states[level].n;
    int64_t best = SX_CHECK_NONE;
    if (ends && level + 1 < l->o->space->n_levels)
        best = l->rest[level + 1][(size_t)p * (size_t)l->states[level + 1].n + (size_t)m->edge[k]];
    else if (ends)
        best = sum_payments(l, pay, m->part[k], all, -1);
    for (uint32_t i = l->step_begin[p]; i < l->step_begin[p + 1]; i++) {
        int d = l->step[i].dim;
        int64_t then = l->rest[level][(size_t)l->step[i].to * n + (size_t)m->next[k][d]];
        if (then >= best || range[d].most == 1) continue;
        best = lesser_of(best, sx_capped_add(then, sum_payments(l, pay, m->part[k], m->pays[k][d], d)));
    }
    return best;
}

/* Turns what was paid up to the points of a level into what is left, points of large extents first. */
static void solve_level(sx_check_lattice *l, int level, const moves *m) {
    size_t n = (size_t)l->states[level].n;
    payments pay;
    for (uint32_t p = l->n_points; p-- > 0;) {
        int64_t *rest = l->rest[level] + (size_t)p * n;
        bool reached = false, ends;
        for (size_t k = 0; k < n; k++) reached |= rest[k] < SX_CHECK_NONE;
        if (!reached || !check_room(l, level, p, &ends)) continue;
        set_point_payments(l, level, p, &pay);
        for (size_t k = 0; k < n; k++)
            if (rest[k] < SX_CHECK_NONE) rest[k] = solve_state(l, level, m, &pay, (int)k, p, ends);
    }
}

sx_status sx_check_lattice_tables(sx_check_lattice *l) {
    moves *m = malloc(sizeof *m);
    if (!m) return sx_error_memory();
    for (int s = l->o->space->n_levels - 1; s >= 0; s--) {
        list_moves(l, s, m);
        solve_level(l, s, m);
    }
    free(m);
    return SX_OK;
}

int sx_check_first_state(const sx_check_lattice *l) {
    int first = 0;
    for (int v = 0; v < l->o->space->n_tensors; v++)
        if (l->o->linked[v]) first += l->states[0].stride[v];
    return first;
}

/* What a tensor's flows that wait cost at a loop of some iterations on a dimension of a window, for every iteration of
 * idle dimensions. */
static int64_t slide_cost(const sx_check_lattice *l, int level, int v, int state, int dim, int64_t iterations,
                          uint32_t point) {
    int64_t extent[SX_MAX_DIMS], sum = 0;
    set_extents(l, point, extent);
    for (int i = state; i < l->states[level].n_of[v]; i++)
        sum = sx_capped_add(sum, sx_check_slide(l->o, l->prices, v, l->states[level].holder[v][i], level, dim,
                                                iterations, extent));
    return sum;
}

int64_t sx_check_pay_loop(const sx_check_lattice *l, int level, int state, int dim, int64_t iterations,
                          uint32_t point, int *next) {
    unsigned pays = list_payers(l, level, state, dim, next);
    int64_t sum = 0;
    for (; pays; pays &= pays - 1) {
        int v = __builtin_ctz(pays), i = state_of(&l->states[level], state, v);
        size_t at = charge_at(l, level, v, l->kind[v][dim], i) + l->base[v][point];
        int64_t each = l->charge[level][v][at];
        if (iterations && l->kind[v][dim] > 0)
            each = slide_cost(l, level, v, i, dim, iterations, l->base[v][point]);
        sum = sx_capped_add(sum, sx_capped_mul(each, l->idle[v][point]));
    }
    return sum;
}
