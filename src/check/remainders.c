/* T10: every word that is touched moves at least once, every multiply-accumulate is carried out once, and a port takes its
 * time. The least over all spatial factors, which need not divide, and all that levels may keep. */
#include "check/remainders.h"

#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

/* Most spatial factors that are listed. */
enum { MOST_SPATIAL = 1 << 20, MOST_PAIRS = 1 << 14 };

int64_t sx_check_touched(const sx_check_case *c, int v) {
    const sx_tensor *t = &c->problem.tensor[v];
    unsigned seen = 0;
    bool twice = false;
    int64_t product = 1, most = 1;
    for (int r = 0; r < t->n_ranks; r++) {
        int64_t values = 1;
        for (int d = 0; d < c->problem.n_dims; d++) {
            if (!t->coef[r][d] || c->problem.size[d] == 1) continue;
            values += c->problem.size[d] - 1;
            twice |= seen >> d & 1;
            seen |= 1u << d;
        }
        product = sx_capped_mul(product, values);
        if (values > most) most = values;
    }
    return twice ? most : product;
}

/* The product of a level's spatial factors over some dimensions. */
static int64_t spread_over(const sx_check_spatial *spatial, int s, unsigned dims) {
    int64_t product = 1;
    for (; dims; dims &= dims - 1) product *= spatial->factor[s][__builtin_ctz(dims)];
    return product;
}

/* The compute units of an instance of level 0 that may want the same word, at most: along the dimensions of a rank those
 * that differ in the one with the most units want different words, the others being equal. */
static int64_t count_sharers(const sx_check_space *space, const sx_check_shape *shape, int v,
                             const sx_check_spatial *spatial) {
    const sx_tensor *t = &space->c->problem.tensor[v];
    int64_t sharers = spread_over(spatial, 0, ((1u << space->n_dims) - 1) & ~shape->solo[v]);
    for (int r = 0; r < t->n_ranks && !(shape->free >> v & 1); r++) {
        int64_t most = 1;
        for (int d = 0; d < space->n_dims; d++)
            if (t->coef[r][d] && !(shape->solo[v] >> d & 1) && spatial->factor[0][d] > most)
                most = spatial->factor[0][d];
        sharers /= most;
    }
    return sharers;
}

/* The instances of a level along a dimension that have work, at least: all where the outermost spatial loop is not at its
 * last iteration, and one there. */
static int64_t used_along(const sx_check_spatial *spatial, int n_levels, int s, int d) {
    int64_t inner = 1, outer = 1;
    for (int k = s + 1; k < n_levels; k++) {
        if (spatial->factor[k][d] == 1) continue;
        inner *= outer;
        outer = spatial->factor[k][d];
    }
    return inner * (outer - 1) + 1;
}

/* The accesses that compute units make without help, at least: of a plain tensor, units that differ in idle dimensions share
 * a word wherever the first of them has work, which is once for every block of as many indices as there are of them. */
static int64_t count_asked(const sx_check_space *space, const sx_check_shape *shape, int v,
                           const sx_check_spatial *spatial, int64_t group) {
    int64_t asked = 1;
    if (!(shape->plain >> v & 1)) return (shape->macs + group - 1) / group;
    for (int d = 0; d < space->n_dims; d++) {
        int64_t size = space->c->problem.size[d],
                shared = shape->dims[v] >> d & 1 ? 1 : spatial->factor[0][d];
        asked = sx_capped_mul(asked, (size + shared - 1) / shared);
    }
    return asked;
}

/* Sets what holds for all spatial factors. */
static void spread_any(sx_check_spread *out, const sx_check_space *space, const sx_check_shape *shape) {
    const sx_check_machine *m = &space->c->machine;
    int64_t units = m->compute_mesh[0] * m->compute_mesh[1];
    out->steps = (shape->macs + units - 1) / units;
    for (int s = 0; s < space->n_levels; s++) {
        out->used[s] = m->level[s].mesh[0] * m->level[s].mesh[1];
        for (int v = 0; v < space->n_tensors; v++) {
            out->held[v][s] = 1;
            out->copies[v][s] = out->used[s];
            out->group[v][s] = m->level[s].fanout[0] * m->level[s].fanout[1];
        }
    }
    for (int v = 0; v < space->n_tensors; v++) {
        out->linked[v] = !space->c->no_link_transfers && out->group[v][0] > 1;
        out->asked[v] = (shape->macs + out->group[v][0] - 1) / out->group[v][0];
    }
}

void sx_check_spread_init(sx_check_spread *out, const sx_check_space *space, const sx_check_shape *shape,
                          const sx_check_spatial *spatial) {
    const unsigned all = (1u << space->n_dims) - 1;
    int64_t used[SX_MAX_LEVELS + 1] = {0};
    memset(out, 0, sizeof *out);
    if (!spatial) {
        spread_any(out, space, shape);
        return;
    }
    used[space->n_levels] = 1;
    for (int s = space->n_levels - 1; s >= 0; s--) {
        out->used[s] = used[s + 1];
        used[s] = used[s + 1] * spread_over(spatial, s, all);
        for (int v = 0; v < space->n_tensors; v++) {
            unsigned idle = all & ~shape->dims[v];
            out->group[v][s] = spread_over(spatial, s, all & ~shape->solo[v]);
            out->held[v][s] = out->copies[v][s] = 1;
            for (int d = 0; d < space->n_dims; d++)
                if (idle >> d & 1) out->held[v][s] *= used_along(spatial, space->n_levels, s, d);
            for (int k = s + 1; k < space->n_levels; k++) out->copies[v][s] *= spread_over(spatial, k, idle);
        }
    }
    for (int v = 0; v < space->n_tensors; v++) {
        out->linked[v] = !space->c->no_link_transfers && out->group[v][0] > 1;
        out->group[v][0] = count_sharers(space, shape, v, spatial);
        out->asked[v] = count_asked(space, shape, v, spatial, out->group[v][0]);
    }
    out->steps = 1;
    for (int d = 0; d < space->n_dims; d++) {
        int64_t units = 1, size = space->c->problem.size[d];
        for (int s = 0; s < space->n_levels; s++) units *= spatial->factor[s][d];
        out->steps *= (size + units - 1) / units;
    }
    out->leak = sx_check_leakage(&space->c->machine, used);
}

/* The accesses that level s makes for a holder inside it, -1: for compute units. */
static int64_t count_accesses(const sx_check_work *work, const sx_check_spread *spread, int v, int holder,
                              int s) {
    int64_t words = sx_check_touched(work->space->c, v), asked, shared = 1;
    if (holder >= 0 || spread->linked[v])
        asked = sx_capped_mul(words, spread->held[v][holder + 1]);
    else
        asked = spread->asked[v];
    for (int k = holder + 2; k <= s; k++) shared = sx_capped_mul(shared, spread->group[v][k]);
    if (s <= holder + 1) return asked;
    return (int64_t)(((sx_wide)2 * asked + shared - 1) / ((sx_wide)2 * shared)); /* halves are rounded down */
}

/* Sets the accesses of a tensor at level s, which keeps it and serves a holder; top: no level outside keeps it. */
static void count_level(const sx_check_work *work, const sx_check_spread *spread, int v, int holder, int s,
                        bool top, int64_t *count) {
    const sx_check_case *c = work->space->c;
    int64_t words = sx_check_touched(c, v), asked = count_accesses(work, spread, v, holder, s);
    int64_t spared = sx_capped_mul(words, spread->copies[v][s]);
    bool output = c->problem.tensor[v].output;
    memset(count, 0, SX_N_ACCESSES * sizeof *count);
    if (!output || c->no_first_read_elision) {
        count[SX_READ] = asked;
        count[SX_FILL] = top ? 0 : sx_capped_mul(words, spread->held[v][s]);
    } else if (work->shape->plain >> v & 1 && holder < 0 && asked > spared) {
        count[SX_READ] = asked - spared;
    }
    if (output) count[SX_UPDATE] = asked;
}

/* Raises cycles to those that the ports of a level take for words of all its instances. */
static void wait_for_ports(const sx_check_level *level, int64_t used, const sx_wide *words, int64_t *cycles) {
    for (int p = 0; p < SX_N_PORTS; p++) {
        sx_wide num, den;
        if (level->port[p].den == 0 || level->port[p].num == 0) continue;
        if (!sx_wide_mul(words[p], level->port[p].den, &num) || !sx_wide_mul(level->port[p].num, used, &den))
            continue;
        sx_wide wait = (num + den - 1) / den;
        if (wait > *cycles && wait < SX_CHECK_CAP) *cycles = (int64_t)wait;
    }
}

/* Adds the accesses of a tensor to the words at the ports of a level; a width or a scale of its own has no rule. */
static void add_port_words(const sx_check_case *c, int s, int v, const int64_t *count, sx_wide *words) {
    sx_ratio scale = c->machine.level[s].port_scale[v];
    if (c->problem.tensor[v].bits || scale.num != scale.den) return;
    sx_wide reads = count[SX_READ], writes = (sx_wide)count[SX_FILL] + count[SX_UPDATE];
    words[SX_PORT_READ] += reads;
    words[SX_PORT_WRITE] += writes;
    words[SX_PORT_SHARED] += reads + writes;
}

sx_check_corner sx_check_remainder_bound(const sx_check_work *work, const sx_check_spread *spread,
                                         const unsigned *keep, sx_wide tiles) {
    const sx_check_case *c = work->space->c;
    int64_t cycles = spread->steps, count[SX_N_ACCESSES];
    sx_wide energy = tiles + (sx_wide)work->shape->macs * c->machine.compute_energy;
    int holder[SX_MAX_TENSORS];
    unsigned outside[SX_MAX_LEVELS + 1] = {0};
    for (int s = c->machine.n_levels - 1; s >= 0; s--)
        outside[s] = s + 1 < c->machine.n_levels ? outside[s + 1] | keep[s + 1] : 0;
    for (int v = 0; v < c->problem.n_tensors; v++) holder[v] = -1;
    for (int s = 0; s < c->machine.n_levels; s++) {
        const sx_check_level *level = &c->machine.level[s];
        sx_wide words[SX_N_PORTS] = {0};
        for (int v = 0; v < c->problem.n_tensors; v++) {
            if (!(keep[s] >> v & 1)) continue;
            count_level(work, spread, v, holder[v], s, !(outside[s] >> v & 1), count);
            for (int i = 0; i < SX_N_ACCESSES; i++) energy += (sx_wide)count[i] * work->energy.of[s][v][i];
            holder[v] = s;
            add_port_words(c, s, v, count, words);
            if (!level->banks) continue;
            wait_for_ports(level, spread->used[s], words, &cycles);
            memset(words, 0, sizeof words);
        }
        wait_for_ports(level, spread->used[s], words, &cycles);
    }
    return (sx_check_corner){energy + spread->leak * cycles, cycles + work->latency};
}

/* A choice of what levels keep. */
typedef struct choice {
    unsigned keep[SX_MAX_LEVELS];
    sx_wide tiles, tile[SX_MAX_LEVELS]; /* energy that tiles add, in all and by level */
    sx_wide least;                      /* value of all mappings that keep it */
} choice;

/* Spatial factors and a choice that bounds do not close: the value of their mappings, at least. */
typedef struct open_pair {
    sx_check_pair pair;
    sx_wide value;
} open_pair;

/* An enumeration of all spatial factors. */
typedef struct listing {
    sx_check_work *work;
    sx_check_tilings *tilings;
    sx_wide enough;
    sx_vector open; /* choices that what holds for all spatial factors does not close */
    sx_wide least;  /* value of the others, at least */
    uint64_t n;     /* spatial factors */
    bool too_many;
    bool walks;           /* what stays open can be walked */
    sx_vector open_pairs; /* in that case */
    sx_check_spatial now;
    int64_t product[SX_MAX_DIMS]; /* of the factors inside */
} listing;

/* The value of a bound; the largest number where it does not fit. */
static sx_wide value_of(const sx_check_target *target, sx_check_corner bound) {
    sx_wide value;
    return sx_check_value(target->goal, bound.energy, bound.cycles, &value) ? value : ((sx_wide)1 << 126);
}

/* Whether a bound leaves something to decide. */
static bool is_open(const listing *l, sx_wide value) {
    return value < l->enough || l->work->walk_only;
}

/* Lists a choice with the spatial factors at hand to be walked; false where that cannot be. */
static bool add_pair(listing *l, const choice *from, sx_wide value) {
    if (!l->walks || l->open_pairs.n == MOST_PAIRS) return false;
    open_pair *at = sx_vector_add(&l->open_pairs);
    if (!at) return false;
    *at = (open_pair){.pair.spatial = l->now, .value = value};
    memcpy(at->pair.keep, from->keep, sizeof at->pair.keep);
    memcpy(at->pair.tiles, from->tile, sizeof at->pair.tiles);
    return true;
}

/* Lowers the least values of all open choices to those of the spatial factors at hand. */
static void lower_values(listing *l) {
    sx_check_spread spread;
    sx_check_spread_init(&spread, l->work->space, l->work->shape, &l->now);
    for (size_t i = 0; i < l->open.n; i++) {
        choice *at = sx_vector_at(&l->open, i);
        sx_wide value =
            value_of(&l->work->target, sx_check_remainder_bound(l->work, &spread, at->keep, at->tiles));
        if (is_open(l, value) && !add_pair(l, at, value) && value < at->least) at->least = value;
    }
}

/* Goes through the spatial factors from dimension d of level s on, with so much room left. */
static void list_spatial(listing *l, int s, int d, int64_t room) {
    const sx_check_space *space = l->work->space;
    if (l->too_many || sx_check_is_over(l->work)) return;
    if (s == space->n_levels) {
        l->too_many = ++l->n > MOST_SPATIAL;
        if (!l->too_many) lower_values(l);
        return;
    }
    if (d == space->n_dims) {
        const sx_check_level *next = &space->c->machine.level[s + 1];
        if (!sx_check_lies_somehow(space, s, l->now.factor[s])) return;
        list_spatial(l, s + 1, 0, s + 1 < space->n_levels ? next->fanout[0] * next->fanout[1] : 1);
        return;
    }
    int64_t size = space->c->problem.size[d], inner = l->product[d], most = (size + inner - 1) / inner;
    if (most > room) most = room;
    if (most > space->spatial[s][d].most) most = space->spatial[s][d].most;
    for (int64_t f = 1; f <= most; f++) {
        l->now.factor[s][d] = f;
        l->product[d] = inner * f;
        list_spatial(l, s, d + 1, room / f);
    }
    l->product[d] = inner;
}

/* Holds a choice of what levels keep against what holds for all spatial factors. */
static sx_status add_choice(listing *l, const sx_check_spread *any, const unsigned *keep) {
    const sx_check_space *space = l->work->space;
    unsigned kept = 0;
    choice next = {.least = (sx_wide)1 << 126};
    for (int s = 0; s < space->n_levels; s++) kept |= next.keep[s] = keep[s];
    if (kept != (1u << space->n_tensors) - 1) return SX_OK;
    SX_TRY(sx_check_tilings_least(l->tilings, keep, &next.tiles, next.tile));
    sx_wide value = value_of(&l->work->target, sx_check_remainder_bound(l->work, any, keep, next.tiles));
    if (!is_open(l, value)) return SX_OK;
    if (value < l->least) l->least = value;
    choice *at = sx_vector_add(&l->open);
    if (!at) return sx_error_memory();
    *at = next;
    return SX_OK;
}

/* Goes through all that levels from `s` on may keep. */
static sx_status list_keeps(listing *l, const sx_check_spread *any, unsigned *keep, int s) {
    const sx_check_space *space = l->work->space;
    if (s == space->n_levels) return add_choice(l, any, keep);
    unsigned may = space->may[s] & ~space->must[s], more = 0;
    if (space->must[s] & ~space->may[s]) return SX_OK;
    do {
        keep[s] = space->must[s] | more;
        SX_TRY(list_keeps(l, any, keep, s + 1));
        if (sx_check_is_over(l->work)) return SX_OK;
        more = (more - may) & may;
    } while (more);
    return SX_OK;
}

/* The least value of the choices that are open, over all spatial factors; what holds for all where these are too many. */
static sx_status solve_open(listing *l, sx_check_found *found, sx_wide *out) {
    const sx_check_level *first = &l->work->space->c->machine.level[0];
    sx_wide least = l->enough;
    bool closed;
    for (int d = 0; d < l->work->space->n_dims; d++) l->product[d] = 1;
    if (l->open.n) list_spatial(l, 0, 0, first->fanout[0] * first->fanout[1]);
    if (l->open_pairs.failed) return sx_error_memory();
    *out = l->least;
    if (l->too_many) return SX_OK;
    for (size_t i = 0; i < l->open_pairs.n && !found->below && !sx_check_is_over(l->work); i++) {
        const open_pair *at = sx_vector_at(&l->open_pairs, i);
        SX_TRY(sx_check_walk_remainders(l->work, &at->pair, found, &closed));
        if (!closed && at->value < least) least = at->value;
    }
    for (size_t i = 0; i < l->open.n; i++) {
        const choice *at = sx_vector_at(&l->open, i);
        if (at->least < least) least = at->least;
    }
    *out = least;
    return SX_OK;
}

sx_status sx_check_remainders(sx_check_work *work, sx_wide enough, sx_check_found *found, sx_wide *out) {
    listing l = {.work = work,
                 .enough = enough,
                 .open = {.size = sizeof(choice)},
                 .open_pairs = {.size = sizeof(open_pair)},
                 .walks = sx_check_may_walk_remainders(work),
                 .least = enough};
    sx_check_spread any;
    unsigned keep[SX_MAX_LEVELS];
    sx_check_spread_init(&any, work->space, work->shape, NULL);
    SX_TRY(sx_check_tilings_new(work, &l.tilings));
    sx_status status = list_keeps(&l, &any, keep, 0);
    if (!status) status = solve_open(&l, found, out);
    if (!status && sx_check_is_over(work)) *out = 0;
    sx_vector_clear(&l.open);
    sx_vector_clear(&l.open_pairs);
    sx_check_tilings_free(l.tilings);
    return status;
}
