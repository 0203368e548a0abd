/* Repairing points of a map space: while the model finds something wrong, a random small change of the kind
 * that helps. Where an array is too small, a spatial loop turns to the other axis or gives a factor outward,
 * or all are laid on its axes anew; where a memory is, the tile of its largest tensor shrinks by a factor
 * that goes to a random outer temporal slot, or (now and then, and where nothing can shrink) a tensor that
 * need not be kept is not. Where too little is in use, the opposite. Every change is random among all of its
 * kind, so that repaired points differ. O(prime factors of the problem) changes, each with a check. */
#include "mapspace/map_choices.h"
#include "mapspace/map_parts.h"

#include <assert.h>
#include <string.h>

enum { MOST_CHANGES = 400, DROP_ONE_IN = 8, SCATTERS = 16 };

/* The current point. */
typedef struct patient {
    const sx_map_space *space;
    sx_rng *rng;
    void *point;
} patient;

/* Slots from `first` to `last`, as a mask; with `temporal` the temporal ones only. */
static uint32_t slot_mask(const sx_map_space *space, int first, int last, bool temporal) {
    uint32_t mask = 0;
    for (int i = first; i <= last; i++)
        if (!temporal || !space->slot[i].spatial) mask |= 1u << i;
    return mask;
}

/* Tries to move some of a dimension's factor from one slot to another: a random prime of it or, with
 * remainders, at most half. */
static bool shift_factor(const patient *p, int dim, int from, int to, const uint32_t *now, uint32_t *factor) {
    const sx_map_space *space = p->space;
    uint32_t f = now[from], least = space->min[dim][from], most = space->max[dim][to];
    if (f <= least || now[to] >= most) return false;
    if (space->options.remainders) {
        uint32_t half = f - f / 2;
        uint32_t value = (uint32_t)sx_rng_range(p->rng, half < least ? least : half, f - 1);
        return sx_map_adjust(space, dim, now, from, value, to, factor);
    }
    uint32_t prime[10];
    int n = 0;
    for (int i = 0; i < space->n_primes[dim]; i++) {
        prime[n] = space->prime[dim][i];
        n += f % prime[n] == 0 && f / prime[n] >= least && (uint64_t)now[to] * prime[n] <= most;
    }
    if (n == 0) return false;
    uint32_t by = prime[n > 1 ? sx_rng_below(p->rng, (uint64_t)n) : 0];
    memcpy(factor, now, (size_t)space->n_slots * sizeof *factor);
    factor[from] /= by;
    factor[to] *= by;
    return true;
}

/* Gives a dimension new factors; loops that are new come to random places. */
static void set_factors(const patient *p, int dim, const uint32_t *old, const uint32_t *factor) {
    sx_map_set_factors(p->space, dim, factor, p->point);
    for (int i = 0; i < p->space->n_slots; i++) {
        if (old[i] > 1 || factor[i] == 1) continue;
        uint64_t places = (uint64_t)sx_map_places(p->space, i, dim, p->point);
        sx_map_place(p->space, i, dim, (int)sx_rng_below(p->rng, places), p->point);
    }
}

/* Moves some factor of one of the dimensions from one of the slots to another of the others, at random; false
 * where none can move. */
static bool move_some(const patient *p, unsigned dims, uint32_t from, uint32_t to) {
    const sx_map_space *space = p->space;
    struct {
        uint8_t dim, slot;
    } pair[SX_MAX_DIMS * SX_MAX_SLOTS];
    int n = 0;
    for (int i = 0; i < space->n_slots; i++) {
        if (!(from >> i & 1)) continue;
        const uint32_t *factor = sx_map_slot_factors(space, p->point, i);
        for (int d = 0; d < space->problem->n_dims; d++) {
            pair[n].dim = (uint8_t)d;
            pair[n].slot = (uint8_t)i;
            n += (dims >> d & 1) && factor[d] > space->min[d][i];
        }
    }
    while (n > 0) {
        int at = (int)sx_rng_below(p->rng, (uint64_t)n), dim = pair[at].dim, slot = pair[at].slot;
        uint32_t now[SX_MAX_SLOTS], factor[SX_MAX_SLOTS];
        sx_map_get_factors(space, p->point, dim, now);
        for (uint32_t left = to & ~(1u << slot); left;) {
            uint64_t skip = sx_rng_below(p->rng, (uint64_t)__builtin_popcount(left));
            uint32_t rest = left;
            while (skip-- > 0) rest &= rest - 1;
            int target = __builtin_ctz(rest);
            left &= ~(1u << target);
            if (!shift_factor(p, dim, slot, target, now, factor)) continue;
            set_factors(p, dim, now, factor);
            return true;
        }
        pair[at] = pair[--n];
    }
    return false;
}

/* The product of the factors of some dimensions at a level's spatial slot, as far as it matters. */
static uint64_t spatial_product(const sx_mapping_level *at, unsigned dims) {
    uint64_t product = 1;
    for (; dims; dims &= dims - 1) {
        product *= at->spatial[__builtin_ctz(dims)];
        if (product > UINT32_MAX) product = UINT32_MAX;
    }
    return product;
}

/* Turns one of the dimensions from X to Y or back where the other axis has room; false where none has. */
static bool turn_loop(const patient *p, int level, unsigned x, unsigned dims, uint64_t used, uint64_t room) {
    sx_mapping_level *at = sx_map_level(p->point, level);
    unsigned fit = 0;
    for (unsigned left = dims & p->space->free_x[level]; left; left &= left - 1) {
        uint32_t factor = at->spatial[__builtin_ctz(left)];
        if (factor > 1 && used * factor <= room) fit |= left & -left;
    }
    if (!fit) return false;
    for (uint64_t skip = sx_rng_below(p->rng, (uint64_t)__builtin_popcount(fit)); skip > 0; skip--)
        fit &= fit - 1;
    sx_map_set_xy(p->space, level, x ^ (fit & -fit), at);
    return sx_map_on_x(at) != x;
}

/* Lays a level's spatial loops on X or Y at random; false where none changes its axis. */
static bool scatter_loops(const patient *p, int level) {
    sx_mapping_level *at = sx_map_level(p->point, level);
    unsigned before = sx_map_on_x(at);
    for (int i = 0; i < SCATTERS && sx_map_on_x(at) == before; i++)
        sx_map_set_xy(p->space, level, (unsigned)(sx_rng_next(p->rng) >> 48), at);
    return sx_map_on_x(at) != before;
}

/* Makes the spatial loops of the first level that overflows its fan-out smaller. */
static bool fix_array(const patient *p) {
    const sx_map_space *space = p->space;
    for (int s = 0; s < space->arch->n_levels; s++) {
        if (space->spatial_slot[s] < 0) continue;
        const sx_mapping_level *at = sx_map_level(p->point, s);
        unsigned x = sx_map_on_x(at), y = ~x & ((1u << space->problem->n_dims) - 1);
        uint64_t used_x = spatial_product(at, x), used_y = spatial_product(at, y);
        uint64_t room_x = space->room[s][0], room_y = space->room[s][1];
        if (sx_map_layout_fits(space, s, at->spatial, x)) continue;
        bool on_x = used_x > room_x;
        if (turn_loop(p, s, x, on_x ? x : y, on_x ? used_y : used_x, on_x ? room_y : room_x)) return true;
        uint32_t from = 1u << space->spatial_slot[s];
        uint32_t outer = slot_mask(space, space->temporal_slot[s], space->n_slots - 1, true);
        return move_some(p, on_x ? x : y, from, outer) || move_some(p, on_x ? x : y, from, ~0u >> 1) ||
               scatter_loops(p, s);
    }
    return false;
}

/* The dimensions of a set of tensors. */
static unsigned dims_of(const sx_map_space *space, unsigned tensors) {
    unsigned dims = 0;
    for (; tensors; tensors &= tensors - 1) dims |= space->model->shape[__builtin_ctz(tensors)].dims;
    return dims;
}

/* Makes the tile of a tensor at a level smaller, or gives up keeping something there. */
static bool fix_capacity(const patient *p, int level, int tensor) {
    const sx_map_space *space = p->space;
    sx_mapping_level *at = sx_map_level(p->point, level);
    unsigned loose = at->keep & space->free_keep[level];
    if (loose >> tensor & 1 && sx_rng_below(p->rng, DROP_ONE_IN) == 0) {
        at->keep &= (uint8_t) ~(1u << tensor);
        return true;
    }
    int last = space->temporal_slot[level];
    uint32_t inner = slot_mask(space, 0, last, false);
    uint32_t outer = slot_mask(space, last + 1, space->n_slots - 1, true);
    if (move_some(p, dims_of(space, 1u << tensor), inner, outer)) return true;
    if (move_some(p, dims_of(space, at->keep), inner, outer)) return true;
    at->keep &= (uint8_t) ~(loose & -loose);
    return loose != 0 || move_some(p, dims_of(space, 1u << tensor), inner,
                                   slot_mask(space, last + 1, space->n_slots - 1, false));
}

/* Makes more use of a level's memory. */
static bool fix_idle(const patient *p, int level) {
    const sx_map_space *space = p->space;
    sx_mapping_level *at = sx_map_level(p->point, level);
    unsigned more = space->free_keep[level] & ~(unsigned)at->keep;
    if (more && sx_rng_below(p->rng, 4) == 0) {
        at->keep |= (uint8_t)(more & -more);
        return true;
    }
    int last = space->temporal_slot[level];
    uint32_t inner = slot_mask(space, 0, last, true);
    uint32_t outer = slot_mask(space, last + 1, space->n_slots - 1, false);
    if (move_some(p, dims_of(space, at->keep), outer, inner)) return true;
    at->keep |= (uint8_t)(more & -more);
    return more != 0;
}

/* Works towards one of the constraints that ask for shares in use. */
static bool fix_share(const patient *p) {
    const sx_map_space *space = p->space;
    int choice[2 * SX_MAX_LEVELS], n = 0, n_levels = space->arch->n_levels;
    for (int s = 0; s < n_levels; s++) {
        if (space->constraints.level[s].min_utilization > 0) choice[n++] = s;
        if (space->constraints.level[s].min_parallelism > 0) choice[n++] = n_levels + s;
    }
    if (n == 0) return false;
    int level = choice[sx_rng_below(p->rng, (uint64_t)n)];
    if (level < n_levels) return fix_idle(p, level);
    uint32_t spatial = 0;
    for (int s = 0; s <= level - n_levels; s++)
        if (space->spatial_slot[s] >= 0) spatial |= 1u << space->spatial_slot[s];
    uint32_t temporal = slot_mask(space, 0, space->n_slots - 1, true);
    return move_some(p, (1u << space->problem->n_dims) - 1, temporal, spatial);
}

/* Gives a tensor that must be kept another bank, or makes its tile smaller. */
static bool fix_banks(const patient *p) {
    int level, tensor;
    uint64_t words;
    if (!sx_map_lacks_banks(p->space, p->point, &level, &tensor, &words)) return false;
    uint8_t *banks = sx_map_banks(p->space, p->point, level);
    int most = tensor;
    for (int v = 0; v < p->space->problem->n_tensors; v++)
        if (banks[v] > banks[most]) most = v;
    if (most != tensor && sx_rng_below(p->rng, 2)) {
        banks[most]--;
        banks[tensor]++;
        return true;
    }
    return fix_capacity(p, level, tensor);
}

/* Finds a tensor that is kept nowhere a level. */
static bool fix_homeless(const patient *p, int tensor) {
    for (int s = p->space->arch->n_levels - 1; s >= 0; s--)
        if (p->space->free_keep[s] >> tensor & 1) {
            sx_map_level(p->point, s)->keep |= (uint8_t)(1u << tensor);
            return true;
        }
    return false;
}

/* One improving change; false if there is none. */
static bool fix_fault(const patient *p, const sx_verdict *verdict) {
    switch (verdict->reason) {
    case SX_CAPACITY:
        return fix_capacity(p, verdict->level, verdict->tensor);
    case SX_UNDERUSED:
        return fix_idle(p, verdict->level);
    case SX_MESH_X:
    case SX_MESH_Y:
    case SX_INSTANCES:
        return fix_array(p);
    case SX_NOT_KEPT:
        return fix_homeless(p, verdict->tensor);
    case SX_LEGAL:
        return fix_array(p) || fix_banks(p) || fix_share(p);
    default:
        return false;
    }
}

/* Whether normalizing may lay spatial loops on other axes than a point has them on. */
static bool moves_loops(const sx_map_space *space) {
    for (int s = 0; s < space->arch->n_levels; s++) {
        const sx_level_limits *limits = &space->constraints.level[s];
        if (space->splits[s] || limits->split >= 0 || limits->spatial.n_inner + limits->spatial.n_outer > 0)
            return true;
    }
    return false;
}

/* Whether a point of which the model says this is legal. */
static bool is_legal(const sx_map_space *space, const sx_verdict *verdict, const void *point) {
    return verdict->reason == SX_LEGAL && sx_map_check_rest(space, point) == 0;
}

bool sx_map_repair_from(const sx_map_space *space, sx_rng *rng, sx_verdict verdict, void *point) {
    const patient p = {space, rng, point};
    bool legal = false;
    for (int i = 0; i < MOST_CHANGES && !legal && fix_fault(&p, &verdict); i++) {
        if (space->options.split_axes)
            sx_map_normalize(space, point);
        else
            sx_map_normalize_banks(space, point);
        verdict = sx_check_tiles(space->model, point);
        legal = is_legal(space, &verdict, point);
    }
    if (!moves_loops(space)) return legal;
    sx_map_normalize(space, point);
    return sx_map_check(&space->space, point) == 0;
}

bool sx_map_repair(const sx_map_space *space, sx_rng *rng, void *point) {
    sx_verdict verdict = sx_check_tiles(space->model, point);
    bool legal = is_legal(space, &verdict, point) || sx_map_repair_from(space, rng, verdict, point);
    sx_map_normalize(space, point);
    if (moves_loops(space)) return sx_map_check(&space->space, point) == 0;
    assert(legal == (sx_map_check(&space->space, point) == 0));
    return legal;
}
