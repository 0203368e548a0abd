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
        for (int v = 0; v < SX_MAX_TENSORS; v++) {
            free(l->charge[s][v]);
            free(l->slide[s][v]);
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
    return list_steps(l);
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

/* The product of what is left of the dimensions that do not index a tensor. */
static int64_t idle_iterations(const sx_check_outline *o, int v, const int64_t *extent) {
    int64_t idle = 1;
    for (int d = 0; d < o->space->n_dims; d++)
        if (!(o->shape->dims[v] >> d & 1)) idle = sx_capped_mul(idle, o->left[d] / extent[d]);
    return idle;
}

/* Works out what a tensor pays at each point, in each of its states inside the loops of a level, at a loop on a solo
 * dimension: all flows that waited, as often as there are idle iterations outside. */
static void set_charges(sx_check_lattice *l, const sx_check_prices *prices, int level, int v) {
    const sx_check_outline *o = l->o;
    const sx_check_states *states = &l->states[level];
    bool alike = o->shape->plain >> v & 1;
    int64_t flow[SX_N_HOLDERS] = {0}, extent[SX_MAX_DIMS];
    for (uint32_t p = 0; p < l->n_points; p++) {
        set_extents(l, p, extent);
        int64_t idle = idle_iterations(o, v, extent), sum = 0;
        l->charge[level][v][p] = 0;
        for (int i = states->n_of[v] - 1; i > 0; i--) {
            if (p == 0 || !alike) flow[i] = sx_check_flow(o, prices, v, states->holder[v][i], extent);
            sum = sx_capped_add(sum, flow[i]);
            l->charge[level][v][(size_t)i * l->n_points + p] = sx_capped_mul(sum, idle);
        }
    }
}

/* The same at a loop on a window: number w of the tensor's. */
static void set_slides(sx_check_lattice *l, const sx_check_prices *prices, int level, int v, int w) {
    const sx_check_outline *o = l->o;
    const sx_check_states *states = &l->states[level];
    int64_t *table = l->slide[level][v] + (size_t)w * (size_t)states->n_of[v] * l->n_points,
            extent[SX_MAX_DIMS];
    int d = l->window[v][w];
    for (uint32_t p = 0; p < l->n_points; p++) {
        set_extents(l, p, extent);
        int64_t idle = idle_iterations(o, v, extent), sum = 0;
        table[p] = 0;
        for (int i = states->n_of[v] - 1; i > 0; i--) {
            if (extent[d] < o->left[d])
                sum =
                    sx_capped_add(sum, sx_check_slide(o, prices, v, states->holder[v][i], level, d, extent));
            table[(size_t)i * l->n_points + p] = sx_capped_mul(sum, idle);
        }
    }
}

/* Works out what all tensors pay inside the loops of a level. */
static sx_status set_payments(sx_check_lattice *l, const sx_check_prices *prices, int level) {
    const sx_check_outline *o = l->o;
    for (int v = 0; v < o->space->n_tensors; v++) {
        size_t size = (size_t)l->states[level].n_of[v] * l->n_points;
        unsigned windows = o->shape->dims[v] & ~o->shape->solo[v];
        l->n_windows[v] = 0;
        for (int d = 0; d < o->space->n_dims; d++)
            if (windows >> d & 1) l->window[v][l->n_windows[v]++] = d;
        if (!sx_reserve(&l->charge[level][v], &l->charge_room[level][v], size, sizeof(int64_t)) ||
            !sx_reserve(&l->slide[level][v], &l->slide_room[level][v], size * (size_t)l->n_windows[v],
                        sizeof(int64_t)))
            return sx_error_memory();
        set_charges(l, prices, level, v);
        for (int w = 0; w < l->n_windows[v]; w++) set_slides(l, prices, level, v, w);
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

/* What a state does at a loop on each dimension: the tensors that pay, as a mask, and the state after it. */
typedef struct moves {
    uint8_t pays[SX_MAX_STATES][SX_MAX_DIMS];
    int16_t next[SX_MAX_STATES][SX_MAX_DIMS];
    int16_t edge[SX_MAX_STATES];
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

static void list_moves(const sx_check_lattice *l, int level, moves *m) {
    bool outermost = level + 1 == l->o->space->n_levels;
    for (int k = 0; k < l->states[level].n; k++) {
        m->edge[k] = outermost ? 0 : (int16_t)sx_check_pass_edge(l, level, k);
        for (int d = 0; d < l->o->space->n_dims; d++) {
            int next;
            m->pays[k][d] = (uint8_t)list_payers(l, level, k, d, &next);
            m->next[k][d] = (int16_t)next;
        }
    }
}

/* What a tensor pays at a loop on a dimension, from a point in a state. */
static int64_t payment(const sx_check_lattice *l, int level, int state, int v, int d, uint32_t point) {
    const sx_check_states *states = &l->states[level];
    size_t at = (size_t)state_of(states, state, v) * l->n_points + point;
    if (l->o->shape->solo[v] >> d & 1) return l->charge[level][v][at];
    int w = 0;
    while (l->window[v][w] != d) w++;
    return l->slide[level][v][(size_t)w * (size_t)states->n_of[v] * l->n_points + at];
}

/* What the tensors of a mask pay at a loop on a dimension. */
static int64_t sum_payments(const sx_check_lattice *l, int level, int state, unsigned mask, int d,
                            uint32_t point) {
    int64_t sum = 0;
    for (; mask; mask &= mask - 1)
        sum = sx_capped_add(sum, payment(l, level, state, __builtin_ctz(mask), d, point));
    return sum;
}

/* What the tensors of a mask pay at a point in a state at the end of all loops. */
static int64_t sum_charges(const sx_check_lattice *l, int level, int state, unsigned mask, uint32_t point) {
    int64_t sum = 0;
    for (; mask; mask &= mask - 1) {
        int v = __builtin_ctz(mask);
        size_t at = (size_t)state_of(&l->states[level], state, v) * l->n_points + point;
        sum = sx_capped_add(sum, l->charge[level][v][at]);
    }
    return sum;
}

/* The least left to pay where no further loop of a level follows a point: the tile is kept, or all is done. */
static int64_t pay_edge(const sx_check_lattice *l, int level, const moves *m, int state, uint32_t point,
                        bool fits) {
    if (level + 1 == l->o->space->n_levels) {
        unsigned all = (1u << l->o->space->n_tensors) - 1;
        if (point + 1 != l->n_points) return SX_CHECK_NONE;
        return sum_charges(l, level, state, all, point);
    }
    return fits ? l->rest[level + 1][(size_t)point * (size_t)l->states[level + 1].n + (size_t)m->edge[state]]
                : SX_CHECK_NONE;
}

/* The least left to pay at a point in a state: the level's loops end there, or one more follows. */
static int64_t solve_point(const sx_check_lattice *l, int level, const moves *m, int state, uint32_t p,
                           bool fits) {
    const sx_check_range *range = l->o->space->temporal[level];
    const int64_t *rest = l->rest[level];
    size_t n = (size_t)l->states[level].n;
    int64_t best = pay_edge(l, level, m, state, p, fits);
    for (uint32_t i = l->step_begin[p]; i < l->step_begin[p + 1]; i++) {
        int d = l->step[i].dim;
        int64_t then = rest[(size_t)l->step[i].to * n + (size_t)m->next[state][d]];
        if (then >= best || range[d].most == 1) continue;
        then = sx_capped_add(then, sum_payments(l, level, state, m->pays[state][d], d, p));
        if (then < best) best = then;
    }
    return best;
}

/* Fills the table of a level from that of the next outer one, points of large extents first. */
static void solve_level(sx_check_lattice *l, int level, const moves *m) {
    const sx_check_space *space = l->o->space;
    size_t n = (size_t)l->states[level].n;
    bool outermost = level + 1 == space->n_levels;
    for (uint32_t p = l->n_points; p-- > 0;) {
        int64_t extent[SX_MAX_DIMS], *rest = l->rest[level] + (size_t)p * n;
        set_tile(l, level, p, extent);
        if (!outermost && !sx_check_has_room(space, level, l->o->keep[level], extent)) {
            for (size_t k = 0; k < n; k++) rest[k] = SX_CHECK_NONE;
            continue;
        }
        bool fits = !outermost && sx_check_fits(space, level, l->o->keep[level], extent);
        for (size_t k = 0; k < n; k++) rest[k] = solve_point(l, level, m, (int)k, p, fits);
    }
}

sx_status sx_check_lattice_solve(sx_check_lattice *l, const sx_check_outline *o,
                                 const sx_check_prices *prices, int64_t *out) {
    int n = o->space->n_levels;
    l->o = o;
    moves *m = malloc(sizeof *m);
    if (!m) return sx_error_memory();
    sx_status status = SX_OK;
    for (int s = 0; s < n && !status; s++)
        if (!list_states(o, s, &l->states[s]))
            status = sx_error_new(SX_ERR_LIMIT, "more than %d states of tensors", SX_MAX_STATES);
    for (int s = n - 1; s >= 0 && !status; s--) {
        size_t size = (size_t)l->n_points * (size_t)l->states[s].n;
        if (!sx_reserve(&l->rest[s], &l->rest_room[s], size, sizeof **l->rest)) status = sx_error_memory();
        if (!status) status = set_payments(l, prices, s);
        if (status) break;
        list_moves(l, s, m);
        solve_level(l, s, m);
    }
    free(m);
    if (status) return status;
    *out = l->rest[0][sx_check_first_state(l)];
    return SX_OK;
}

int sx_check_first_state(const sx_check_lattice *l) {
    int first = 0;
    for (int v = 0; v < l->o->space->n_tensors; v++)
        if (l->o->linked[v]) first += l->states[0].stride[v];
    return first;
}

int64_t sx_check_pay_loop(const sx_check_lattice *l, int level, int state, int dim, uint32_t point,
                          int *next) {
    unsigned pays = list_payers(l, level, state, dim, next);
    return sum_payments(l, level, state, pays, dim, point);
}
