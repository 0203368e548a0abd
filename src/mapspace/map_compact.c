/* Compact points of map spaces (core/space.h). They cover spaces whose constraints ask for no least factors and no splits of axes;
 * what levels must or must not keep, axes of single dimensions, factors that are fixed or have a limit, and places of loops they
 * know. */
#include "core/steps.h"
#include "mapspace/map_core.h"
#include "mapspace/map_parts.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SPLITS = 1 << 14 }; /* of a dimension that are listed */

/* Whether constraints say something of a level's loops that compact points do not know. */
static bool is_constrained(const sx_map_space *space, int s) {
    const sx_level_limits *limits = &space->constraints.level[s];
    bool natural = true;
    for (int d = 0; d < space->problem->n_dims; d++) natural = natural && space->spatial_order[s][d] == d;
    return limits->split >= 0 || limits->spatial.n_inner + limits->spatial.n_outer > 0 ||
           (space->spatial_slot[s] >= 0 && !natural);
}

/* Why compact points do not cover the space; NULL: they do. */
static const char *refuse_space(const sx_map_space *space) {
    if (space->n_slots > SX_CORE_SLOTS) return "it has more than 12 places for factors";
    for (int s = 0; s < space->arch->n_levels; s++) {
        if (is_constrained(space, s)) return "constraints fix axes";
        if (space->model->level[s].minimum > 0) return "levels must hold a number of words";
    }
    for (int d = 0; d < space->problem->n_dims; d++)
        for (int i = 0; i < space->n_slots; i++)
            if (space->min[d][i] > 1 && space->min[d][i] < space->max[d][i])
                return "constraints ask for least factors";
    return NULL;
}

/* Sets a word for a prime of a dimension. */
static void set_word(sx_core_space *to, uint32_t prime, uint32_t size) {
    uint32_t k = to->n_words++;
    double power = 1;
    for (int e = 0; e < SX_CORE_POWERS; e++, power *= prime) to->power[k][e] = power;
    for (; prime > 1 && size % prime == 0; size /= prime) to->multiplicity[k]++;
}

/* Sets the words of a dimension, one at least; false where there are too many. */
static bool set_words(const sx_map_space *space, int d, sx_core_space *to) {
    uint32_t size = space->problem->size[d], n = space->n_primes[d];
    to->first_word[d] = (uint8_t)to->n_words;
    if (n > SX_CORE_PRIMES || to->n_words + n + 1 > SX_CORE_WORDS) return false;
    for (uint32_t i = 0; i < n; i++) set_word(to, space->prime[d][i], size);
    if (n == 0) set_word(to, 1, 1);
    to->first_word[d + 1] = (uint8_t)to->n_words;
    if (size > 1) to->sized |= 1u << d;
    for (uint32_t left = size > 1 ? size : 0; left; left /= 2) to->weighted_dim[to->n_weights++] = (uint8_t)d;
    return true;
}

/* Sets what is said of a level. */
static void set_level(const sx_map_space *space, int s, sx_core_space *to) {
    to->temporal_slot[s] = space->temporal_slot[s];
    to->spatial_slot[s] = space->spatial_slot[s];
    to->free_x[s] = space->free_x[s];
    to->fixed_x[s] = space->fixed_x[s];
    to->temporal |= 1u << space->temporal_slot[s];
    if (space->planar[s]) to->planar |= 1u << s;
    if (space->free_keep[s]) to->choosing |= 1u << s;
    for (int i = 0; i < 2; i++) to->room[s][i] = (double)space->room[s][i];
    if (space->spatial_slot[s] < 0) return;
    to->spread |= 1u << s;
}

/* Sets the places that constraints give to loops of a level. */
static void rule_order(const sx_map_space *space, int s, sx_core_space *to) {
    const sx_loop_limits *limits = &space->constraints.level[s].temporal;
    if (!space->fixed_order[s]) return;
    to->ruled |= 1u << s;
    for (int i = 0; i < limits->n_inner; i++) {
        to->inner[s] |= (uint16_t)(1u << limits->inner[i]);
        to->order[s] |= (uint64_t)limits->inner[i] << 4 * i;
    }
    for (int i = 0; i < limits->n_outer; i++) {
        to->outer[s] |= (uint16_t)(1u << limits->outer[i]);
        to->order[s] |= (uint64_t)limits->outer[i] << 4 * (space->problem->n_dims - limits->n_outer + i);
    }
}

/* Sets the words of a dimension's factors, which become 1. */
static void set_factors(const sx_map_space *space, const sx_core_space *core, int d, uint32_t *factor,
                        uint64_t *word) {
    for (int k = core->first_word[d]; k < core->first_word[d + 1]; k++) {
        uint32_t prime = (uint32_t)core->power[k][1];
        word[k] = 0;
        for (int i = 0; i < space->n_slots && prime > 1; i++)
            for (; factor[i] % prime == 0; factor[i] /= prime) word[k] += sx_compact_one(i);
    }
}

/* Sets what constraints say of a dimension's factors. A spatial factor that must be 1 is one of limited size, as others are. */
static void limit_factors(const sx_map_space *space, int d, sx_core_space *to) {
    uint32_t fixed[SX_MAX_SLOTS], size = space->problem->size[d];
    for (int i = 0; i < space->n_slots; i++) {
        uint32_t least = space->min[d][i], most = space->max[d][i];
        bool spatial = space->slot[i].spatial, closed = size > 1 && least == most && !(spatial && most == 1);
        fixed[i] = closed ? least : 1;
        to->most[d][i] = closed ? 0 : most;
        if (closed) to->closed[d] |= sx_compact_one(i);
        if (!spatial && most < size) to->capped[d] |= (uint16_t)(1u << i);
    }
    if (to->closed[d] || to->capped[d]) to->limited |= 1u << d;
    set_factors(space, to, d, fixed, to->fixed);
}

const char *sx_map_core_space(const sx_map_space *space, sx_core_space *out) {
    memset(out, 0, sizeof *out);
    const char *why = sx_map_core_model(space, &out->model);
    if (!why) why = refuse_space(space);
    if (why) return why;
    out->n_slots = (uint32_t)space->n_slots;
    for (int i = 0; i < space->n_slots; i++) out->level_of[i] = space->slot[i].level;
    for (int s = 0; s < space->arch->n_levels; s++) {
        set_level(space, s, out);
        rule_order(space, s, out);
    }
    for (int d = 0; d < space->problem->n_dims; d++) {
        if (!set_words(space, d, out)) return "its sizes have too many different prime factors";
        limit_factors(space, d, out);
        out->natural |= (uint64_t)d << 4 * d;
        for (int v = 0; v < space->problem->n_tensors; v++)
            if (out->model.tensor[v].dims >> d & 1) out->indexed[d] |= 0xffu << 8 * v;
    }
    for (uint32_t mask = 0; mask < 1u << SX_CORE_DIMS; mask++)
        for (uint32_t left = mask; left; left &= left - 1)
            out->packed[mask] |= (uint32_t)__builtin_ctz(left) << 4 * out->bits[mask]++;
    return NULL;
}

void sx_map_expand(const sx_map_space *space, const sx_core_space *core, const sx_compact_level *compact,
                   void *point) {
    const uint64_t *word = sx_compact_words_of(core, compact);
    memcpy(point, space->blank, space->space.point_size);
    for (int d = 0; d < space->problem->n_dims; d++) {
        uint32_t factor[SX_MAX_SLOTS];
        for (int i = 0; i < space->n_slots; i++) factor[i] = (uint32_t)sx_compact_factor(core, word, d, i);
        sx_map_set_factors(space, d, factor, point);
    }
    for (int s = 0; s < space->arch->n_levels; s++) {
        uint8_t order[SX_MAX_DIMS];
        for (int i = 0; i < space->problem->n_dims; i++) order[i] = (uint8_t)(compact[s].order >> 4 * i & 15);
        sx_map_level(point, s)->keep = compact[s].keep;
        sx_map_settle_level(space, s, order, compact[s].on_x, sx_map_level(point, s));
    }
}

/* Gives the loops of a level the places in an order that they hold together. */
static uint64_t place_loops(const sx_mapping_level *at, int n_dims, uint64_t order) {
    const uint8_t *next = at->temporal_order;
    uint64_t out = 0;
    for (int i = 0; i < n_dims; i++) {
        uint8_t d = (uint8_t)(order >> 4 * i & 15);
        if (at->temporal[d] > 1) {
            while (at->temporal[*next] == 1) next++;
            d = *next++;
        }
        out |= (uint64_t)d << 4 * i;
    }
    return out;
}

void sx_map_compact(const sx_map_space *space, const sx_core_space *core, const void *point, sx_core_rng *rng,
                    sx_compact_level *compact) {
    int n_dims = space->problem->n_dims;
    memset(compact, 0, sx_compact_size(core));
    sx_compact_shuffle(core, rng, compact);
    for (int s = 0; s < space->arch->n_levels; s++) {
        const sx_mapping_level *at = &sx_map_point(point)->level[s];
        compact[s].order = place_loops(at, n_dims, compact[s].order);
        compact[s].keep = at->keep;
        compact[s].on_x = (uint16_t)sx_map_on_x(at);
        for (int d = 0; d < n_dims; d++)
            if (at->spatial[d] > 1) compact[s].parallel |= (uint16_t)(1u << d);
    }
    for (int d = 0; d < n_dims; d++) {
        uint32_t factor[SX_MAX_SLOTS];
        sx_map_get_factors(space, point, d, factor);
        set_factors(space, core, d, factor, (uint64_t *)(void *)(compact + space->arch->n_levels));
    }
}

/* Sets at which levels a split of a dimension has temporal and spatial loops. */
static void find_loops(const sx_map_space *space, int d, const sx_core_cell *cell, uint64_t *loops) {
    loops[0] = loops[1] = 0;
    for (int s = 0; s < space->arch->n_levels; s++) {
        if (cell[s].temporal > 1) loops[0] |= (uint64_t)1 << (8 * s + d);
        if (cell[s].spatial > 1) loops[1] |= (uint64_t)1 << (8 * s + d);
    }
}

/* Lists the splits of a dimension that levels can hold on their own; returns their number. */
static uint32_t list_splits(const sx_map_space *space, const sx_core_space *core, int d, uint64_t *out,
                            uint64_t (*loops)[2], sx_core_cell *cell) {
    uint32_t n = 0, words = core->first_word[d + 1] - core->first_word[d];
    for (uint64_t i = 0; i < (uint64_t)sx_factors_count(space->factors[d]); i++) {
        uint32_t factor[SX_MAX_SLOTS];
        uint64_t word[SX_CORE_WORDS];
        sx_factors_at(space->factors[d], i, factor);
        if (!sx_map_within_reach(space, d, factor)) continue;
        sx_map_core_cells(space, factor, cell + (size_t)space->arch->n_levels * n);
        find_loops(space, d, cell + (size_t)space->arch->n_levels * n, loops[n]);
        set_factors(space, core, d, factor, word);
        memcpy(out + words * n++, word + core->first_word[d], words * sizeof *word);
    }
    return n;
}

sx_status sx_map_core_splits(const sx_map_space *space, const sx_core_space *core, sx_core_splits **out) {
    const size_t n_levels = (size_t)space->arch->n_levels;
    size_t n = 0, all = 0;
    *out = NULL;
    for (int d = 0; d < space->problem->n_dims; d++) {
        double splits = (double)sx_factors_count(space->factors[d]);
        if (splits > MOST_SPLITS) return SX_OK;
        n += (size_t)splits * (size_t)(core->first_word[d + 1] - core->first_word[d]);
        all += (size_t)splits;
    }
    sx_core_splits *splits =
        malloc(sizeof *splits + (n + 2 * all) * sizeof(uint64_t) + all * n_levels * sizeof(sx_core_cell));
    if (!splits) return sx_error_memory();
    uint64_t *word = (uint64_t *)(splits + 1);
    uint64_t(*loops)[2] = (uint64_t(*)[2])(void *)(word + n);
    sx_core_cell *cell = (sx_core_cell *)(void *)(loops + all);
    *splits = (sx_core_splits){.n_parts = sx_core_n_parts(core)};
    for (uint32_t i = 0; i < splits->n_parts; i++) splits->part[i] = sx_core_part_of(core, i);
    bool some = true;
    for (int d = 0; d < space->problem->n_dims; d++) {
        splits->word[d] = word;
        splits->loops[d] = (const uint64_t(*)[2])loops;
        splits->cell[d] = cell;
        splits->n[d] = list_splits(space, core, d, word, loops, cell);
        loops += splits->n[d];
        cell += splits->n[d] * n_levels;
        word += splits->n[d] * (uint32_t)(core->first_word[d + 1] - core->first_word[d]);
        some = some && splits->n[d] > 0;
    }
    if (some)
        *out = splits;
    else
        free(splits);
    return SX_OK;
}

/* Whether an order is one of all dimensions. */
static bool order_holds(const sx_core_space *core, uint64_t order) {
    uint32_t seen = 0;
    for (uint32_t i = 0; i < core->model.n_dims; i++) seen |= 1u << (order >> 4 * i & 15);
    return seen == (1u << core->model.n_dims) - 1 && order >> 4 * core->model.n_dims == 0;
}

bool sx_map_compact_holds(const sx_core_space *core, const sx_compact_level *compact) {
    const uint64_t *word = sx_compact_words_of(core, compact);
    for (uint32_t s = 0; s < core->model.n_levels; s++) {
        const sx_core_level *level = &core->model.level[s];
        bool ruled = core->ruled >> s & 1;
        if (!order_holds(core, compact[s].order) ||
            (ruled && sx_compact_rule_order(core, (int)s, compact[s].order) != compact[s].order) ||
            compact[s].keep & ~(level->must | level->may) || level->must & ~compact[s].keep ||
            compact[s].parallel >> core->model.n_dims)
            return false;
    }
    for (uint32_t k = 0; k < core->n_words; k++) {
        if (sx_compact_primes(core, word[k]) != core->multiplicity[k] ||
            word[k] >> SX_CORE_BITS * core->n_slots)
            return false;
    }
    for (uint32_t d = 0; d < core->model.n_dims; d++) {
        if (sx_compact_overfull(core, word, (int)d) >= 0) return false;
        for (int k = core->first_word[d]; k < core->first_word[d + 1]; k++)
            if ((word[k] & core->closed[d] * (SX_CORE_POWERS - 1)) != core->fixed[k]) return false;
    }
    return true;
}
