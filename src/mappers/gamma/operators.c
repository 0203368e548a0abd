/* Gamma's individuals and operators.
 *
 * Source: Gamma for Timeloop, the code of Demystifying MSE (IISWC 2022), section 4.4, whose genome has for
 * each level a bag of primes per dimension, an order of all dimensions and a set of parallel dimensions.
 * Growth and aging come from Gamma for MAESTRO (ICCAD 2020), where they add and remove a level of clusters:
 * in a fixed hierarchy a level begins to be used, or is used no longer.
 *
 * What differs. A parallel dimension's factor at a level is spatial as far as a divisor of it fits the array,
 * the rest stays temporal. Dimensions are chosen in proportion to the bits of their size, where the code has
 * fixed shares for the seven of a convolution: .1 for N, .2 for K, C, Y and X, .05 for R and S. With
 * remainders a tile is drawn as the space draws it, or out of the primes of a padded size.
 *
 * Complexity: every operator takes a few passes over levels and dimensions; repair as sx_map_repair. */
#include "mappers/gamma/operators.h"

#include "base/divisor.h"
#include "mapspace/map_parts.h"

#include <assert.h>
#include <string.h>

void sx_gamma_copy(const sx_map_space *space, sx_gamma_individual from, sx_gamma_individual to) {
    memcpy(to.point, from.point, space->space.point_size);
    *to.genes = *from.genes;
}

/* Shuffles the orders of all levels. */
static void shuffle_orders(const sx_map_space *space, sx_rng *rng, sx_gamma_genes *genes) {
    for (int s = 0; s < space->arch->n_levels; s++) {
        for (int d = 0; d < space->problem->n_dims; d++) genes->order[s][d] = (uint8_t)d;
        sx_rng_shuffle(rng, genes->order[s], space->problem->n_dims);
    }
}

/* Reads off a point what is spatial and what lies on X. */
static void read_spatial(const sx_map_space *space, sx_gamma_individual i) {
    for (int s = 0; s < space->arch->n_levels; s++) {
        const sx_mapping_level *at = sx_map_level(i.point, s);
        for (int place = 0; place < space->problem->n_dims; place++) {
            unsigned bit = 1u << at->spatial_order[place];
            if (at->spatial[at->spatial_order[place]] == 1) continue;
            i.genes->parallel[s] |= (uint16_t)bit;
            i.genes->on_x[s] =
                (uint16_t)(place < at->split ? i.genes->on_x[s] | bit : i.genes->on_x[s] & ~bit);
        }
    }
}

/* Reads the orders off a point: its loops take the places that they hold together. */
static void read_orders(const sx_map_space *space, sx_gamma_individual i) {
    for (int s = 0; s < space->arch->n_levels; s++) {
        const sx_mapping_level *at = sx_map_level(i.point, s);
        const uint8_t *next = at->temporal_order;
        for (int place = 0; place < space->problem->n_dims; place++) {
            uint8_t *order = &i.genes->order[s][place];
            if (at->temporal[*order] == 1) continue;
            while (at->temporal[*next] == 1) next++;
            *order = *next++;
        }
    }
}

void sx_gamma_read(const sx_map_space *space, sx_rng *rng, sx_gamma_individual i) {
    memset(i.genes, 0, sizeof *i.genes);
    shuffle_orders(space, rng, i.genes);
    read_orders(space, i);
    read_spatial(space, i);
}

void sx_gamma_express(const sx_map_space *space, sx_gamma_individual i) {
    for (int s = 0; s < space->arch->n_levels; s++)
        sx_map_settle_level(space, s, i.genes->order[s], i.genes->on_x[s], sx_map_level(i.point, s));
    sx_map_normalize_banks(space, i.point);
}

/* What a dimension has at each level, spatial and temporal together. */
static void get_totals(const sx_map_space *space, const void *point, int dim, uint32_t *total) {
    for (int s = 0; s < space->arch->n_levels; s++) {
        const sx_mapping_level *at = &sx_map_point(point)->level[s];
        total[s] = at->spatial[dim] * at->temporal[dim];
    }
}

/* Whether a factor is within the limits of its slot. */
static inline bool is_within(const sx_map_space *space, int dim, int slot, uint32_t factor) {
    return factor >= space->min[dim][slot] && factor <= space->max[dim][slot];
}

/* Whether a dimension has a split. */
static bool is_split(const sx_map_space *space, int dim, const uint32_t *spatial, const uint32_t *temporal) {
    uint32_t factor[SX_MAX_SLOTS];
    for (int i = 0; i < space->n_slots; i++)
        factor[i] = (space->slot[i].spatial ? spatial : temporal)[space->slot[i].level];
    return sx_factors_holds(space->factors[dim], factor);
}

/* Gives a dimension the factors that levels have together, spatial where it is parallel. What is no split of
 * the space is left as it was. */
static void set_totals(const sx_map_space *space, int dim, const uint32_t *total, sx_gamma_individual i) {
    uint32_t spatial[SX_MAX_LEVELS], temporal[SX_MAX_LEVELS];
    uint64_t product = 1, size = space->problem->size[dim];
    int n_levels = space->arch->n_levels;
    bool good = true;
    for (int s = 0; s < n_levels; s++) {
        int across = space->spatial_slot[s];
        temporal[s] = total[s];
        spatial[s] = 1;
        if (across >= 0 && total[s] > 1 && i.genes->parallel[s] >> dim & 1) {
            spatial[s] = sx_divisor_within(total[s], space->max[dim][across]);
            temporal[s] = total[s] / spatial[s];
        }
        good &= across < 0 || is_within(space, dim, across, spatial[s]);
        good &= is_within(space, dim, space->temporal_slot[s], temporal[s]);
        if (product <= size) product *= total[s];
    }
    if (space->options.remainders ? !is_split(space, dim, spatial, temporal) : !good || product != size)
        return;
    for (int s = 0; s < n_levels; s++) {
        sx_mapping_level *at = sx_map_level(i.point, s);
        at->temporal[dim] = temporal[s];
        if (space->spatial_slot[s] >= 0) at->spatial[dim] = spatial[s];
    }
}

/* Draws the factors of a dimension with remainders: each prime of a padded size at a random level, trimmed from the inside
 * out. The size itself is as likely as all that are padded, so that many factors divide. */
static void draw_padded_tile(const sx_map_space *space, sx_rng *rng, int dim, sx_gamma_individual i) {
    static const uint32_t multiple[] = {2, 3, 4, 6, 8, 12, 16, 32};
    const uint64_t choice = sx_rng_below(rng, 2 * sizeof multiple / sizeof *multiple);
    const uint32_t size = space->problem->size[dim];
    const uint32_t of = choice < sizeof multiple / sizeof *multiple ? multiple[choice] : 1;
    uint32_t total[SX_MAX_LEVELS], product = ((size - 1) / of + 1) * of, left = size;
    for (int s = 0; s < space->arch->n_levels; s++) total[s] = 1;
    for (uint32_t p = 2; product > 1; p = p * p > product ? product : p + 1)
        for (; product % p == 0; product /= p) total[sx_rng_below(rng, space->arch->n_levels)] *= p;
    for (int s = 0; s < space->arch->n_levels; s++) {
        if (total[s] > left) total[s] = left;
        left = (left - 1) / total[s] + 1;
    }
    set_totals(space, dim, total, i);
}

/* Draws a dimension's factors: each prime at a random level. With remainders half of the draws are as the space draws. */
static void draw_tile(const sx_map_space *space, sx_rng *rng, int dim, sx_gamma_individual i) {
    uint32_t factor[SX_MAX_SLOTS], total[SX_MAX_LEVELS], left = space->problem->size[dim];
    sx_factors_draw(space->factors[dim], rng, factor);
    sx_map_set_factors(space, dim, factor, i.point);
    if (space->options.remainders) {
        for (int slot = 0; slot < space->n_slots; slot++)
            if (space->slot[slot].spatial && factor[slot] > 1)
                i.genes->parallel[space->slot[slot].level] |= (uint16_t)(1u << dim);
        if (sx_rng_below(rng, 2)) draw_padded_tile(space, rng, dim, i);
        return;
    }
    for (int s = 0; s < space->arch->n_levels; s++) total[s] = 1;
    for (int p = 0; p < space->n_primes[dim]; p++)
        for (; left % space->prime[dim][p] == 0; left /= space->prime[dim][p])
            total[sx_rng_below(rng, space->arch->n_levels)] *= space->prime[dim][p];
    set_totals(space, dim, total, i);
}

/* A point that keeps all it may, with banks distributed at random; factors and orders do not matter. */
static void draw_base(const sx_map_space *space, sx_rng *rng, sx_gamma_individual i) {
    space->space.type->draw(&space->space, rng, i.point);
    memset(i.genes, 0, sizeof *i.genes);
    for (int s = 0; s < space->arch->n_levels; s++) sx_map_level(i.point, s)->keep |= space->free_keep[s];
}

void sx_gamma_natural(const sx_map_space *space, sx_rng *rng, sx_gamma_individual i) {
    int outermost = space->arch->n_levels - 1, n_dims = space->problem->n_dims;
    const sx_tensor *output = &space->problem->tensor[sx_problem_output(space->problem)];
    draw_base(space, rng, i);
    unsigned parallel = 0;
    for (int r = 0; r < output->n_ranks; r++)
        for (int d = 0; d < n_dims; d++)
            if (output->coef[r][d]) parallel |= 1u << d;
    for (int s = 0; s <= outermost; s++) {
        if (space->spatial_slot[s] >= 0) i.genes->parallel[s] = (uint16_t)parallel;
        i.genes->on_x[s] = (uint16_t)sx_rng_next(rng);
        for (int d = 0; d < n_dims; d++) i.genes->order[s][d] = (uint8_t)d;
    }
    for (int d = 0; d < n_dims; d++) {
        uint32_t total[SX_MAX_LEVELS];
        for (int s = 0; s <= outermost; s++) total[s] = s == outermost ? space->problem->size[d] : 1;
        set_totals(space, d, total, i);
    }
    sx_gamma_express(space, i);
}

/* A random set of dimensions, of a random size from 1 to 5. */
static uint16_t draw_set(sx_rng *rng, int n_dims) {
    uint8_t dim[SX_MAX_DIMS];
    for (int d = 0; d < n_dims; d++) dim[d] = (uint8_t)d;
    sx_rng_shuffle(rng, dim, (unsigned)n_dims);
    uint64_t n = 1 + sx_rng_below(rng, n_dims < 5 ? (uint64_t)n_dims : 5);
    unsigned set = 0;
    for (uint64_t d = 0; d < n; d++) set |= 1u << dim[d];
    return (uint16_t)set;
}

void sx_gamma_random(const sx_map_space *space, sx_rng *rng, sx_gamma_individual i) {
    draw_base(space, rng, i);
    shuffle_orders(space, rng, i.genes);
    for (int s = 0; s < space->arch->n_levels; s++) {
        if (space->spatial_slot[s] >= 0) i.genes->parallel[s] = draw_set(rng, space->problem->n_dims);
        i.genes->on_x[s] = (uint16_t)sx_rng_next(rng);
    }
    for (int d = 0; d < space->problem->n_dims; d++) draw_tile(space, rng, d, i);
    sx_gamma_express(space, i);
}

/* Settles all dimensions' factors anew after parallel sets changed. */
static void respread_factors(const sx_map_space *space, sx_gamma_individual i) {
    for (int d = 0; d < space->problem->n_dims; d++) {
        uint32_t total[SX_MAX_LEVELS];
        get_totals(space, i.point, d, total);
        set_totals(space, d, total, i);
    }
}

void sx_gamma_take(const sx_map_space *space, enum sx_gamma_axis axis, int dim, sx_gamma_individual from,
                   sx_gamma_individual to) {
    uint32_t total[SX_MAX_LEVELS];
    switch (axis) {
    case SX_GAMMA_TILE:
        get_totals(space, from.point, dim, total);
        set_totals(space, dim, total, to);
        break;
    case SX_GAMMA_ORDER:
        memcpy(to.genes->order, from.genes->order, sizeof to.genes->order);
        break;
    case SX_GAMMA_PARALLEL:
        memcpy(to.genes->parallel, from.genes->parallel, sizeof to.genes->parallel);
        memcpy(to.genes->on_x, from.genes->on_x, sizeof to.genes->on_x);
        respread_factors(space, to);
        break;
    case SX_GAMMA_KEEP:
        for (size_t g = 0; g < space->space.n_genes; g++)
            if (space->gene_of[g].axis == SX_AXIS_KEEP || space->gene_of[g].axis == SX_AXIS_BANKS)
                space->space.type->take(&space->space, g, from.point, to.point);
        break;
    }
}

/* How often a dimension is chosen: the bits of its size. */
static unsigned dim_weight(const sx_map_space *space, int dim) {
    uint32_t size = space->problem->size[dim];
    return size > 1 ? 32u - (unsigned)__builtin_clz(size) : 0;
}

int sx_gamma_random_dim(const sx_map_space *space, sx_rng *rng) {
    unsigned sum = 0;
    for (int d = 0; d < space->problem->n_dims; d++) sum += dim_weight(space, d);
    if (!sum) return 0;
    unsigned left = (unsigned)sx_rng_below(rng, sum);
    int dim = 0;
    while (left >= dim_weight(space, dim)) left -= dim_weight(space, dim++);
    return dim;
}

void sx_gamma_swap_order(const sx_map_space *space, sx_rng *rng, sx_gamma_individual i) {
    uint8_t *order = i.genes->order[sx_rng_below(rng, space->arch->n_levels)];
    size_t a = sx_rng_below(rng, space->problem->n_dims), b = sx_rng_below(rng, space->problem->n_dims);
    uint8_t swap = order[a];
    order[a] = order[b];
    order[b] = swap;
}

/* A random one of the bits of a mask, which is not 0. */
static unsigned random_bit(sx_rng *rng, unsigned mask) {
    uint64_t skip = sx_rng_below(rng, (uint64_t)__builtin_popcount(mask));
    while (skip--) mask &= mask - 1;
    return mask & -mask;
}

void sx_gamma_change_parallel(const sx_map_space *space, sx_rng *rng, sx_gamma_individual i) {
    unsigned levels = 0, all = (1u << space->problem->n_dims) - 1;
    for (int s = 0; s < space->arch->n_levels; s++)
        if (space->spatial_slot[s] >= 0) levels |= 1u << s;
    if (!levels) return;
    int level = __builtin_ctz(random_bit(rng, levels));
    unsigned set = i.genes->parallel[level];
    bool turn = space->planar[level] && set && sx_rng_below(rng, 2) == 0;
    bool remove = set == all || (set && sx_rng_below(rng, 2) == 0);
    unsigned bit = random_bit(rng, turn || remove ? set : all & ~set);
    if (turn)
        i.genes->on_x[level] ^= (uint16_t)bit;
    else
        i.genes->parallel[level] ^= (uint16_t)bit;
    respread_factors(space, i);
}

void sx_gamma_swap_levels(const sx_map_space *space, sx_rng *rng, sx_gamma_individual i) {
    size_t a = sx_rng_below(rng, space->arch->n_levels), b = sx_rng_below(rng, space->arch->n_levels);
    for (int d = 0; d < space->problem->n_dims; d++) {
        if (space->problem->size[d] == 1) continue;
        uint32_t total[SX_MAX_LEVELS];
        get_totals(space, i.point, d, total);
        uint32_t swap = total[a];
        total[a] = total[b];
        total[b] = swap;
        set_totals(space, d, total, i);
    }
}

void sx_gamma_redraw_tile(const sx_map_space *space, sx_rng *rng, sx_gamma_individual i) {
    draw_tile(space, rng, sx_gamma_random_dim(space, rng), i);
}

void sx_gamma_shift(const sx_map_space *space, sx_rng *rng, sx_gamma_individual i) {
    int dim = sx_gamma_random_dim(space, rng);
    for (size_t g = 0; g < space->space.n_genes; g++)
        if (space->gene_of[g].axis == SX_AXIS_TILE && space->gene_of[g].which == dim)
            space->space.type->nudge(&space->space, rng, g, i.point);
    read_orders(space, i);
    read_spatial(space, i);
}

void sx_gamma_change_keep(const sx_map_space *space, sx_rng *rng, sx_gamma_individual i) {
    int64_t keep = sx_space_random_gene(&space->space, rng, SX_AXIS_KEEP);
    int64_t banks = sx_space_random_gene(&space->space, rng, SX_AXIS_BANKS);
    int64_t gene = keep < 0 || (banks >= 0 && sx_rng_below(rng, 2)) ? banks : keep;
    if (gene >= 0) space->space.type->nudge(&space->space, rng, (size_t)gene, i.point);
}

/* The levels inside the outermost whose factors are all 1, or (used) are not. */
static unsigned levels_in_use(const sx_map_space *space, const void *point, bool used) {
    unsigned levels = 0;
    for (int s = 0; s + 1 < space->arch->n_levels; s++) {
        bool any = false;
        for (int d = 0; d < space->problem->n_dims; d++) {
            uint32_t total[SX_MAX_LEVELS];
            get_totals(space, point, d, total);
            any = any || total[s] > 1;
        }
        if (any == used) levels |= 1u << s;
    }
    return levels;
}

void sx_gamma_grow(const sx_map_space *space, sx_rng *rng, sx_gamma_individual i) {
    unsigned unused = levels_in_use(space, i.point, false);
    if (!unused) return;
    int level = __builtin_ctz(random_bit(rng, unused));
    for (int d = 0; d < space->problem->n_dims; d++) {
        uint32_t total[SX_MAX_LEVELS], left;
        get_totals(space, i.point, d, total);
        left = total[level + 1];
        for (int p = 0; p < space->n_primes[d]; p++) {
            uint32_t prime = space->prime[d][p];
            for (; left % prime == 0; left /= prime) {
                if (sx_rng_below(rng, 2)) continue;
                total[level] *= prime;
                total[level + 1] /= prime;
            }
        }
        set_totals(space, d, total, i);
    }
}

void sx_gamma_age(const sx_map_space *space, sx_rng *rng, sx_gamma_individual i) {
    unsigned used = levels_in_use(space, i.point, true);
    if (!used) return;
    int level = __builtin_ctz(random_bit(rng, used));
    for (int d = 0; d < space->problem->n_dims; d++) {
        uint32_t total[SX_MAX_LEVELS];
        get_totals(space, i.point, d, total);
        total[level + 1] *= total[level];
        total[level] = 1;
        set_totals(space, d, total, i);
    }
}

bool sx_gamma_repair(const sx_map_space *space, sx_rng *rng, sx_gamma_individual i) {
    sx_verdict verdict = sx_check_tiles(space->model, i.point);
    if (verdict.reason == SX_LEGAL && sx_map_check_rest(space, i.point) == 0) return true;
    if (!sx_map_repair_from(space, rng, verdict, i.point)) return false;
    read_spatial(space, i);
    sx_gamma_express(space, i);
    assert(space->space.type->check(&space->space, i.point) == 0);
    return true;
}
