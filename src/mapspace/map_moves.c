/* Small steps between the points of a map space, and taking genes over. The steps of a gene are numbered, so
 * that a random one (nudge) and all of them in turn (walk) are the same code:
 *   tile      a prime factor goes from one slot to another; with remainders a factor becomes one more or one
 *             less or about twice or half as much, another one makes up for it, and outer ones shrink to what
 *             is left. A loop that was none before may come to any place.
 *   order     a loop moves to another place
 *   parallel  a dimension changes between X and Y
 *   keep      a tensor is kept or no longer
 *   banks     a bank goes from one tensor to another */
#include "mapspace/map_parts.h"

#include <string.h>

/* A step of a dimension's factors: what they become, and the slot of a loop that is new (-1: none). */
typedef struct tile_step {
    uint32_t factor[SX_MAX_SLOTS];
    int slot;
} tile_step;

bool sx_map_adjust(const sx_map_space *space, int dim, const uint32_t *now, int slot, uint32_t value,
                   int other, uint32_t *factor) {
    uint64_t size = space->problem->size[dim], rest = 1, left = size;
    memcpy(factor, now, (size_t)space->n_slots * sizeof *factor);
    factor[slot] = value;
    if (other >= 0) {
        for (int i = 0; i < space->n_slots; i++)
            if (i != other) rest = rest * factor[i] < size ? rest * factor[i] : size;
        factor[other] = (uint32_t)((size + rest - 1) / rest);
    }
    bool allowed = true, changed = false;
    for (int i = 0; i < space->n_slots; i++) {
        if (factor[i] > left) factor[i] = (uint32_t)left;
        left = (left + factor[i] - 1) / factor[i];
        allowed &= factor[i] >= space->min[dim][i] && factor[i] <= space->max[dim][i];
        changed |= factor[i] != now[i];
    }
    return allowed && changed && left == 1;
}

/* Steps have codes, of which not all are steps: two slots and one of a given number of changes. */
static size_t count_changes(const sx_map_space *space, int dim) {
    return space->options.remainders ? 4 : space->n_primes[dim];
}

static size_t count_codes(const sx_map_space *space, int dim) {
    return (size_t)space->n_slots * count_changes(space, dim) * (size_t)space->n_slots;
}

/* A prime goes from slot a to slot b. */
static bool move_prime(const sx_map_space *space, int dim, int a, int b, uint32_t prime, const uint32_t *now,
                       uint32_t *factor) {
    if (a == b || now[a] % prime || now[a] / prime < space->min[dim][a] ||
        (uint64_t)now[b] * prime > space->max[dim][b])
        return false;
    memcpy(factor, now, (size_t)space->n_slots * sizeof *factor);
    factor[a] /= prime;
    factor[b] *= prime;
    return true;
}

/* With remainders: a factor becomes one more, or twice as much (of these b = 0 is the only code); or one
 * less, or half, and slot b makes up for it. */
static bool change_factor(const sx_map_space *space, int dim, int a, int b, size_t change,
                          const uint32_t *now, uint32_t *factor) {
    uint32_t f = now[a];
    const uint32_t value[] = {f + 1, 2 * f, f - 1, f - f / 2}; /* f is below 2^31 */
    bool grows = change < 2;
    if (grows ? b != 0 : a == b) return false;
    if (value[change] == f || value[change] == 0) return false;
    if (change % 2 && value[change] == value[change - 1]) return false;
    return sx_map_adjust(space, dim, now, a, value[change], grows ? -1 : b, factor);
}

/* The step of a code; returns in how many places a loop that is new could stand, 1 where there is none, and 0
 * where the code is no step. */
static size_t decode_step(const sx_map_space *space, const void *point, int dim, const uint32_t *now,
                          size_t code, tile_step *out) {
    size_t n = (size_t)space->n_slots, changes = count_changes(space, dim);
    int b = (int)(code % n), a = (int)(code / n / changes), grown = b;
    size_t change = code / n % changes;
    bool remainders = space->options.remainders;
    bool is = remainders ? change_factor(space, dim, a, b, change, now, out->factor)
                         : move_prime(space, dim, a, b, space->prime[dim][change], now, out->factor);
    if (!is) return 0;
    if (remainders && change < 2) grown = a;
    out->slot = now[grown] == 1 && out->factor[grown] > 1 ? grown : -1;
    return out->slot < 0 ? 1 : (size_t)sx_map_places(space, out->slot, dim, point);
}

/* Changes a point's factors by a step, with a new loop in one of its places, and normalizes it. */
static void apply_tile_step(const sx_map_space *space, int dim, const uint32_t *now, const tile_step *step,
                            size_t place, void *point) {
    sx_map_set_factors(space, dim, step->factor, point);
    if (step->slot >= 0) sx_map_place(space, step->slot, dim, (int)place, point);
    sx_map_normalize_levels(space, sx_map_levels_between(space, now, step->factor), point);
}

/* The steps of a dimension's exact factors, without going through all codes. */
typedef struct prime_steps {
    uint32_t now[SX_MAX_SLOTS];
    uint8_t places[SX_MAX_SLOTS]; /* in which a loop of the slot could stand, 1 where there is one already */
    uint32_t targets[10];         /* of each prime: the slots that can take it, */
    size_t sum[10];               /* and their places together */
} prime_steps;

static void find_steps(const sx_map_space *space, int dim, const void *point, prime_steps *s) {
    sx_map_get_factors(space, point, dim, s->now);
    for (int i = 0; i < space->n_slots; i++)
        s->places[i] = s->now[i] > 1 ? 1 : (uint8_t)sx_map_places(space, i, dim, point);
    for (int p = 0; p < space->n_primes[dim]; p++) {
        s->targets[p] = 0;
        s->sum[p] = 0;
        for (int i = 0; i < space->n_slots; i++) {
            bool takes = (uint64_t)s->now[i] * space->prime[dim][p] <= space->max[dim][i];
            s->targets[p] |= (uint32_t)takes << i;
            s->sum[p] += takes ? s->places[i] : 0;
        }
    }
}

/* Moves prime number p from slot a to the slot and the place that step number `left` of these has. */
static void take_prime(const sx_map_space *space, int dim, const prime_steps *s, int a, int p, size_t left,
                       void *point) {
    tile_step step;
    uint32_t others = s->targets[p] & ~(1u << a);
    for (; left >= s->places[__builtin_ctz(others)]; others &= others - 1)
        left -= s->places[__builtin_ctz(others)];
    int b = __builtin_ctz(others);
    memcpy(step.factor, s->now, (size_t)space->n_slots * sizeof *step.factor);
    step.factor[a] /= space->prime[dim][p];
    step.factor[b] *= space->prime[dim][p];
    step.slot = s->now[b] == 1 ? b : -1;
    apply_tile_step(space, dim, s->now, &step, left, point);
}

/* Takes step number *left of a dimension's exact factors; where there are fewer, lowers *left by them. */
static bool step_primes(const sx_map_space *space, int dim, const prime_steps *s, size_t *left, void *point) {
    for (int a = 0; a < space->n_slots; a++)
        for (int p = 0; p < space->n_primes[dim] && s->now[a] > 1; p++) {
            uint32_t prime = space->prime[dim][p], rest = s->now[a] / prime;
            if (rest * prime != s->now[a] || rest < space->min[dim][a]) continue;
            size_t steps = s->sum[p] - (s->targets[p] >> a & 1);
            if (*left < steps) {
                take_prime(space, dim, s, a, p, *left, point);
                return true;
            }
            *left -= steps;
        }
    return false;
}

/* Takes step number *left of a dimension's factors; where there are fewer, lowers *left by them. */
static bool step_tile(const sx_map_space *space, int dim, size_t *left, void *point) {
    uint32_t now[SX_MAX_SLOTS];
    if (!space->options.remainders) {
        prime_steps steps;
        find_steps(space, dim, point, &steps);
        return step_primes(space, dim, &steps, left, point);
    }
    sx_map_get_factors(space, point, dim, now);
    for (size_t code = 0, n = count_codes(space, dim); code < n; code++) {
        tile_step step;
        size_t places = decode_step(space, point, dim, now, code, &step);
        if (*left < places) {
            apply_tile_step(space, dim, now, &step, *left, point);
            return true;
        }
        *left -= places;
    }
    return false;
}

/* Loop i moves to place j: any but its own and, as that is the step of the other one, the one before. */
static bool step_order(const sx_map_space *space, int level, size_t *left, void *point) {
    uint8_t loop[SX_MAX_DIMS + 1];
    sx_mapping_level *at = sx_map_level(point, level);
    int n = sx_map_loops(space, level, at, loop);
    size_t steps = n < 2 ? 0 : (size_t)(n - 1) * (size_t)(n - 1);
    if (*left >= steps) {
        *left -= steps;
        return false;
    }
    size_t index = *left;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            if (j == i || j == i - 1 || index-- > 0) continue;
            sx_map_place(space, space->temporal_slot[level], loop[i], j, point);
            return true;
        }
    return false;
}

/* Bit number *left of a mask; where there are fewer, lowers *left by them and returns 0. */
static unsigned pick_bit(unsigned mask, size_t *left) {
    for (; mask; mask &= mask - 1)
        if ((*left)-- == 0) return mask & -mask;
    return 0;
}

static bool step_parallel(const sx_map_space *space, int level, size_t *left, void *point) {
    sx_mapping_level *at = sx_map_level(point, level);
    unsigned loops = 0;
    for (int d = 0; d < space->problem->n_dims; d++) loops |= (unsigned)(at->spatial[d] > 1) << d;
    unsigned bit = pick_bit(loops & space->free_x[level], left);
    if (bit) sx_map_set_xy(space, level, sx_map_on_x(at) ^ bit, at);
    return bit != 0;
}

static bool step_keep(const sx_map_space *space, int level, size_t *left, void *point) {
    unsigned bit = pick_bit(space->free_keep[level], left);
    sx_map_level(point, level)->keep ^= (uint8_t)bit;
    return bit != 0;
}

static bool step_banks(const sx_map_space *space, int level, size_t *left, void *point) {
    uint8_t *banks = sx_map_banks(space, point, level);
    for (int a = 0; a < space->problem->n_tensors; a++) {
        if (banks[a] < 2) continue;
        unsigned bit = pick_bit(space->banked[level] & ~(1u << a), left);
        if (!bit) continue;
        banks[a]--;
        banks[__builtin_ctz(bit)]++;
        sx_map_normalize_banks(space, point);
        return true;
    }
    return false;
}

/* Takes step number *left of a gene of a normalized point, which stays one; where there are fewer, lowers *left by
 * them. */
static bool step_gene(const sx_map_space *space, sx_gene gene, size_t *left, void *point) {
    switch ((enum sx_map_axis)gene.axis) {
    case SX_AXIS_TILE:
        return step_tile(space, gene.which, left, point);
    case SX_AXIS_ORDER:
        return step_order(space, gene.which, left, point);
    case SX_AXIS_PARALLEL:
        return step_parallel(space, gene.which, left, point);
    case SX_AXIS_KEEP:
        return step_keep(space, gene.which, left, point);
    case SX_AXIS_BANKS:
        return step_banks(space, gene.which, left, point);
    }
    return false;
}

/* A random step of a dimension's exact factors. */
static void nudge_tile(const sx_map_space *space, sx_rng *rng, int dim, void *point) {
    prime_steps steps;
    size_t left = SIZE_MAX;
    find_steps(space, dim, point, &steps);
    step_primes(space, dim, &steps, &left, point);
    if (left == SIZE_MAX) return;
    left = (size_t)sx_rng_below(rng, SIZE_MAX - left);
    step_primes(space, dim, &steps, &left, point);
}

void sx_map_nudge(const sx_space *base, sx_rng *rng, size_t gene, void *point) {
    const sx_map_space *space = sx_map_cast(base);
    size_t left = SIZE_MAX;
    if (base->gene[gene].axis == SX_AXIS_TILE && !space->options.remainders) {
        nudge_tile(space, rng, base->gene[gene].which, point);
        return;
    }
    step_gene(space, base->gene[gene], &left, point);
    size_t steps = SIZE_MAX - left;
    if (steps == 0) return;
    left = (size_t)sx_rng_below(rng, steps);
    step_gene(space, base->gene[gene], &left, point);
}

bool sx_map_walk_next(sx_map_walk *walk, void *out) {
    const sx_map_space *space = walk->space;
    for (; walk->gene < space->space.n_genes; walk->gene++, walk->code = 0) {
        sx_gene gene = space->gene_of[walk->gene];
        memcpy(out, walk->point, space->space.point_size);
        if (gene.axis != SX_AXIS_TILE) {
            size_t left = walk->code++;
            if (!step_gene(space, gene, &left, out)) continue;
            return true;
        }
        uint32_t now[SX_MAX_SLOTS];
        sx_map_get_factors(space, walk->point, gene.which, now);
        for (size_t n = count_codes(space, gene.which); walk->code < n; walk->code++, walk->place = 0) {
            tile_step next;
            if (walk->place >= decode_step(space, walk->point, gene.which, now, walk->code, &next)) continue;
            if (walk->filter && !walk->filter(walk->context, gene.which, next.factor)) continue;
            apply_tile_step(space, gene.which, now, &next, walk->place++, out);
            return true;
        }
    }
    return false;
}

/* The place among a point's loops that a dimension's loop has in another point: outside all that are inside
 * it there. */
static int place_as_in(const sx_map_space *space, int level, int dim, const void *from, const void *point) {
    const sx_mapping_level *there = &sx_map_point(from)->level[level],
                           *at = &sx_map_point(point)->level[level];
    uint8_t loop[SX_MAX_DIMS + 1];
    int n = sx_map_loops(space, level, at, loop), place = 0, passed = 0;
    unsigned inside = 0;
    for (int i = 0; there->temporal_order[i] != dim; i++) inside |= 1u << there->temporal_order[i];
    for (int i = 0; i < n; i++) {
        if (loop[i] == dim) continue;
        passed++;
        if (inside >> loop[i] & 1) place = passed;
    }
    return place;
}

/* Takes over a dimension's factors; loops that are new come to the places they had. */
static void take_tile(const sx_map_space *space, int dim, const void *from, void *point) {
    uint32_t old[SX_MAX_SLOTS], factor[SX_MAX_SLOTS];
    sx_map_get_factors(space, point, dim, old);
    sx_map_get_factors(space, from, dim, factor);
    sx_map_set_factors(space, dim, factor, point);
    for (int i = 0; i < space->n_slots; i++) {
        if (old[i] > 1 || factor[i] == 1) continue;
        int level = space->slot[i].level, place = 0;
        if (!space->slot[i].spatial)
            place = place_as_in(space, level, dim, from, point);
        else if (!(sx_map_on_x(&sx_map_point(from)->level[level]) >> dim & 1))
            place = 1;
        sx_map_place(space, i, dim, place, point);
    }
    sx_map_normalize_levels(space, sx_map_levels_between(space, old, factor), point);
}

/* Puts the loops that both points have in the order of the other, in the places that they hold here. */
static void take_order(const sx_map_space *space, int level, const void *from, void *point) {
    sx_mapping_level *at = sx_map_level(point, level);
    uint8_t here[SX_MAX_DIMS + 1], there[SX_MAX_DIMS + 1];
    int n = sx_map_loops(space, level, at, here);
    int m = sx_map_loops(space, level, &sx_map_point(from)->level[level], there);
    unsigned mine = 0, both = 0;
    for (int i = 0; i < n; i++) mine |= 1u << here[i];
    for (int i = 0; i < m; i++) both |= mine & 1u << there[i];
    for (int i = 0, j = 0; i < n; i++) {
        if (!(both >> here[i] & 1)) continue;
        while (!(both >> there[j] & 1)) j++;
        here[i] = there[j++];
    }
    sx_map_set_loops(space, level, here, n, at);
}

static void take_parallel(const sx_map_space *space, int level, const void *from, void *point) {
    const sx_mapping_level *there = &sx_map_point(from)->level[level];
    sx_mapping_level *at = sx_map_level(point, level);
    unsigned both = 0;
    for (int d = 0; d < space->problem->n_dims; d++)
        both |= (unsigned)(at->spatial[d] > 1 && there->spatial[d] > 1) << d;
    sx_map_set_xy(space, level, (sx_map_on_x(at) & ~both) | (sx_map_on_x(there) & both), at);
}

void sx_map_take(const sx_space *base, size_t gene, const void *from, void *point) {
    const sx_map_space *space = sx_map_cast(base);
    int which = base->gene[gene].which;
    switch ((enum sx_map_axis)base->gene[gene].axis) {
    case SX_AXIS_TILE:
        take_tile(space, which, from, point);
        break;
    case SX_AXIS_ORDER:
        take_order(space, which, from, point);
        break;
    case SX_AXIS_PARALLEL:
        take_parallel(space, which, from, point);
        break;
    case SX_AXIS_KEEP:
        sx_map_level(point, which)->keep = sx_map_point(from)->level[which].keep;
        break;
    case SX_AXIS_BANKS:
        memcpy(sx_map_banks(space, point, which),
               (const uint8_t *)from + space->banks_at + (size_t)which * SX_MAX_TENSORS, SX_MAX_TENSORS);
        sx_map_normalize_banks(space, point);
        break;
    }
}
