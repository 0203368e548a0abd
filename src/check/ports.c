/* T4 of docs/proof.md: a port of a level serves a given number of words a cycle, so that few cycles mean few accesses, and few
 * accesses much energy elsewhere. With a price on the port's words besides, T3 is a bound L of energy + price * words,
 * and the energy is at least L - price * words per cycle * cycles. */
#include "check/target.h"

/* The accesses of some tensors that share a port. */
typedef struct port {
    int level, kind;
    unsigned tensors;
    sx_wide num; /* at most num / den words a cycle, of all instances together */
    int64_t den;
} port;

/* Adds a price to all words that pass a port. */
static void add_price(const port *p, int64_t price, sx_check_prices *prices) {
    for (unsigned left = p->tensors; left; left &= left - 1) {
        int64_t *of = prices->of[p->level][__builtin_ctz(left)];
        if (p->kind != SX_PORT_WRITE) of[SX_READ] += price;
        if (p->kind != SX_PORT_READ) {
            of[SX_FILL] += price;
            of[SX_UPDATE] += price;
        }
    }
}

/* Lists the ports of an outline; returns how many. Tensors with a width or a scale of their own have none here. */
static int list_ports(const sx_check_outline *o, port *out) {
    const sx_check_case *c = o->space->c;
    int n = 0;
    for (int s = 0; s < c->machine.n_levels; s++) {
        const sx_check_level *level = &c->machine.level[s];
        unsigned own = 0, all = (1u << c->problem.n_tensors) - 1;
        for (int v = 0; v < c->problem.n_tensors; v++)
            if (c->problem.tensor[v].bits || level->port_scale[v].num != level->port_scale[v].den)
                own |= 1u << v;
        for (int kind = 0; kind < SX_N_PORTS; kind++) {
            if (!level->port[kind].den || own) continue;
            port p = {s, kind, all, (sx_wide)level->port[kind].num * o->used[s + 1], level->port[kind].den};
            if (!level->banks) out[n++] = p;
            for (int v = 0; level->banks && v < c->problem.n_tensors; v++) {
                p.tensors = 1u << v;
                if (o->keep[s] >> v & 1) out[n++] = p;
            }
        }
    }
    return n;
}

/* The bound of T3 at some prices with what mappings share at the same prices. */
static sx_status bound_of(sx_check_lattice *lattice, const sx_check_outline *o, const sx_check_prices *prices,
                          sx_wide *out) {
    int64_t flows;
    SX_TRY(sx_check_lattice_solve(lattice, o, prices, SX_CHECK_NONE, &flows));
    *out = sx_check_constant(o, prices) + flows;
    return SX_OK;
}

/* Whether an energy of L - price * num / den * cycles reaches the target; false where that cannot be computed. */
static bool reaches_at(const port *p, sx_wide bound, int64_t price, const sx_check_target *target,
                       int64_t cycles) {
    sx_wide left, taken;
    return sx_wide_mul(bound, p->den, &left) && sx_wide_mul(p->num, price, &taken) &&
           sx_wide_mul(taken, cycles, &taken) && left > taken &&
           sx_check_fraction_reaches(target, left - taken, p->den, cycles);
}

/* The last number of cycles up to `most` that the price closes, given that it closes `first`: the logarithm of
 * the product is a concave function of the cycles. */
static int64_t last_closed(const port *p, sx_wide bound, int64_t price, const sx_check_target *target,
                           int64_t first, int64_t most) {
    if (reaches_at(p, bound, price, target, most)) return most;
    while (most - first > 1) {
        int64_t middle = first + (most - first) / 2;
        if (reaches_at(p, bound, price, target, middle))
            first = middle;
        else
            most = middle;
    }
    return first;
}

/* The price of a port that fits the target best at some cycles: what of the energy that reaches it there one word per
 * cycle stands for; 0: none, or too much. */
static int64_t best_price(const port *p, const sx_check_target *target, int64_t cycles) {
    sx_wide energy = sx_check_least_energy(target, cycles), num, den;
    if (!sx_wide_mul(energy, (sx_wide)p->den * target->goal.delay_power, &num) ||
        !sx_wide_mul((sx_wide)cycles * target->goal.energy_power, p->num, &den) || den == 0)
        return 0;
    return num / den > SX_CHECK_CAP / 64 ? 0 : (int64_t)(num / den);
}

/* The number of cycles up to which some port closes all from `first` on, before a target that is a product; first - 1
 * where none closes that. */
static sx_status close_from(const sx_check_work *work, const sx_check_target *target,
                            sx_check_lattice *lattice, const sx_check_outline *o, const port *ports, int n,
                            int64_t first, int64_t most, int64_t *last) {
    static const sx_check_prices nothing;
    *last = first - 1;
    for (int i = 0; i < n && *last < most; i++) {
        sx_check_prices prices = work->energy;
        sx_wide bound;
        int64_t price = best_price(&ports[i], target, first);
        if (price < 1) continue;
        add_price(&ports[i], price, &prices);
        SX_TRY(bound_of(lattice, o, &prices, &bound));
        bound += sx_check_shared(o, &nothing);
        if (!reaches_at(&ports[i], bound, price, target, first)) continue;
        int64_t end = last_closed(&ports[i], bound, price, target, first, most);
        if (end > *last) *last = end;
    }
    return SX_OK;
}

/* Whether a port alone asks for some cycles. */
static sx_status close_delay(sx_check_lattice *lattice, const sx_check_outline *o, const port *ports, int n,
                             int64_t cycles, bool *closed) {
    for (int i = 0; i < n && !*closed; i++) {
        sx_check_prices prices = {0};
        sx_wide words, served;
        add_price(&ports[i], 1, &prices);
        SX_TRY(bound_of(lattice, o, &prices, &words));
        *closed = sx_wide_mul(words, ports[i].den, &words) &&
                  sx_wide_mul(ports[i].num, cycles - 1, &served) && words > served;
    }
    return SX_OK;
}

/* Whether a port closes a box of a front: with cycles up to those of the next point, energy is at least that of a point.
 * The price tried is the slope from the one to the other. */
static sx_status close_box(const sx_check_work *work, sx_check_lattice *lattice, const sx_check_outline *o,
                           const port *ports, int n, const sx_check_corner *corner, bool *closed) {
    static const sx_check_prices nothing;
    for (int i = 0; i < n && !*closed; i++) {
        sx_check_prices prices = work->energy;
        sx_wide bound, num, den, taken, left, needed;
        if (!sx_wide_mul(corner[0].energy - corner[1].energy, ports[i].den, &num) ||
            !sx_wide_mul(ports[i].num, corner[1].cycles - corner[0].cycles, &den) || den == 0 ||
            num / den < 1 || num / den > SX_CHECK_CAP / 64)
            continue;
        int64_t price = (int64_t)(num / den);
        add_price(&ports[i], price, &prices);
        SX_TRY(bound_of(lattice, o, &prices, &bound));
        bound += sx_check_shared(o, &nothing);
        *closed = sx_wide_mul(bound, ports[i].den, &left) && sx_wide_mul(ports[i].num, price, &taken) &&
                  sx_wide_mul(taken, corner[1].cycles - 1, &taken) &&
                  sx_wide_mul(corner[0].energy, ports[i].den, &needed) && left - taken >= needed;
    }
    return SX_OK;
}

/* Whether ports close all boxes of a front that the energy of T3 does not. */
static sx_status close_front(const sx_check_work *work, sx_check_lattice *lattice, const sx_check_outline *o,
                             const port *ports, int n, sx_wide energy, bool *closed) {
    const sx_check_target *target = &work->target;
    int64_t first = o->steps + work->latency;
    *closed = first >= target->corner[0].cycles;
    if (!*closed) SX_TRY(close_delay(lattice, o, ports, n, target->corner[0].cycles - work->latency, closed));
    for (size_t i = 0; i < target->n_corners && *closed && energy < target->corner[i].energy; i++) {
        *closed = i + 1 < target->n_corners && first >= target->corner[i + 1].cycles;
        if (!*closed && i + 1 < target->n_corners)
            SX_TRY(close_box(work, lattice, o, ports, n, &target->corner[i], closed));
    }
    return SX_OK;
}

/* The product that ports have to reach: of two criteria the first where energy and cycles of at least these reach the
 * second, else the first by what tells it from its least value. */
static const sx_check_target *product_of(const sx_check_target *target, sx_wide energy, int64_t cycles) {
    if (!target->tie) return target;
    return &target->tie[sx_check_reaches(&target->tie[0], energy, cycles) ? 2 : 1];
}

sx_status sx_check_ports(const sx_check_work *work, sx_check_lattice *lattice, const sx_check_outline *o,
                         sx_wide energy, bool *closed) {
    enum { MOST_ROUNDS = 64 };
    port ports[SX_MAX_LEVELS * SX_N_PORTS * SX_MAX_TENSORS];
    int n = list_ports(o, ports);
    int64_t first = o->steps + work->latency;
    const sx_check_target *target = product_of(&work->target, energy, first);
    *closed = false;
    if (target->n_corners) return close_front(work, lattice, o, ports, n, energy, closed);
    if (target->goal.energy_power == 0)
        return close_delay(lattice, o, ports, n, sx_check_least_cycles(target, 0) - work->latency, closed);
    if (target->goal.delay_power == 0 || energy <= 0) return SX_OK;
    int64_t most = sx_check_least_cycles(target, energy) - 1; /* the energy alone closes all beyond */
    if (most >= INT64_MAX / 4) return SX_OK;
    for (int round = 0; round < MOST_ROUNDS && first <= most; round++) {
        int64_t last;
        SX_TRY(close_from(work, target, lattice, o, ports, n, first, most, &last));
        if (last < first) return SX_OK;
        first = last + 1;
    }
    *closed = first > most;
    return SX_OK;
}
