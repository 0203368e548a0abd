#include "support/random_case.h"

#include "ir/axes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_COMPUTES = 480, MOST_WORDS = 3000, MOST_CHILDREN = 12, MOST_UNITS = 48 };

/* True in `percent` of a hundred draws. */
static bool chance(sx_rng *rng, unsigned percent) {
    return sx_rng_below(rng, 100) < percent;
}

static uint32_t pick(sx_rng *rng, uint32_t low, uint32_t high) {
    return (uint32_t)sx_rng_range(rng, low, high);
}

/* A random set of tensors, none of them in most draws. */
static uint8_t some_tensors(sx_rng *rng, int n, unsigned percent) {
    return chance(rng, percent) ? (uint8_t)sx_rng_below(rng, 1u << n) : 0;
}

/* A positive energy, half of the time one that sums exactly. */
static double energy(sx_rng *rng) {
    return chance(rng, 50) ? pick(rng, 0, 64) / 16.0 : sx_rng_double(rng) * 10;
}

static void draw_dims(sx_rng *rng, sx_problem *p) {
    p->n_dims = (uint8_t)pick(rng, 1, 5);
    for (int d = 0; d < p->n_dims; d++) {
        snprintf(p->dim_name[d], SX_NAME_SIZE, "%c", 'A' + d);
        p->size[d] = pick(rng, 1, chance(rng, 8) ? 25 : 9);
    }
    while (sx_problem_computes(p) > MOST_COMPUTES) {
        uint32_t *size = &p->size[sx_rng_below(rng, p->n_dims)];
        *size = (*size + 1) / 2;
    }
}

/* A tensor with one rank per dimension, or a scalar. */
static void draw_plain_tensor(sx_rng *rng, const sx_problem *p, sx_tensor *t) {
    uint8_t order[SX_MAX_DIMS];
    for (int d = 0; d < p->n_dims; d++) order[d] = (uint8_t)d;
    sx_rng_shuffle(rng, order, p->n_dims);
    t->n_ranks = (uint8_t)pick(rng, 1, p->n_dims);
    if (chance(rng, 3)) t->n_ranks = 0;
    for (int r = 0; r < t->n_ranks; r++) t->coef[r][order[r]] = chance(rng, 3) ? -1 : 1;
}

/* A tensor whose ranks may be sums: windows, strides, dilations, reversals, diagonals. */
static void draw_compound_tensor(sx_rng *rng, const sx_problem *p, sx_tensor *t) {
    draw_plain_tensor(rng, p, t);
    unsigned ways = pick(rng, 1, 3);
    for (unsigned i = 0; i < ways && t->n_ranks; i++) {
        int32_t *coef = &t->coef[sx_rng_below(rng, t->n_ranks)][sx_rng_below(rng, p->n_dims)];
        int32_t value = (int32_t)pick(rng, 1, chance(rng, 50) ? 1 : 3);
        *coef = chance(rng, 5) ? -value : value;
    }
    if (!chance(rng, 15))
        for (int d = 0; d < p->n_dims; d++) {
            bool used = false;
            for (int r = 0; r < t->n_ranks; r++) {
                int others = 0;
                for (int e = 0; e < p->n_dims; e++) others += e != d && t->coef[r][e] != 0;
                if (used && others) t->coef[r][d] = 0;
                used |= t->coef[r][d] != 0;
            }
        }
}

static void draw_problem(sx_rng *rng, bool plain, sx_problem *p) {
    memset(p, 0, sizeof *p);
    snprintf(p->name, SX_NAME_SIZE, "random");
    draw_dims(rng, p);
    p->n_tensors = (uint8_t)pick(rng, 2, 4);
    int output = chance(rng, 80) ? p->n_tensors - 1 : (int)sx_rng_below(rng, p->n_tensors);
    for (int v = 0; v < p->n_tensors; v++) {
        sx_tensor *t = &p->tensor[v];
        do {
            memset(t, 0, sizeof *t);
            bool simple = plain || chance(rng, v == output ? 75 : 40);
            if (simple)
                draw_plain_tensor(rng, p, t);
            else
                draw_compound_tensor(rng, p, t);
        } while (sx_problem_words(p, v) > MOST_WORDS);
        snprintf(t->name, SX_NAME_SIZE, "T%d", v);
        t->output = v == output;
    }
}

/* How many children the spatial loops of a level have. */
static uint64_t children(const sx_mapping *m, int level) {
    uint64_t product = 1;
    for (int d = 0; d < m->n_dims; d++) product *= m->level[level].spatial[d];
    return product;
}

static uint64_t units(const sx_mapping *m) {
    uint64_t product = 1;
    for (int s = 0; s < m->n_levels; s++) product *= children(m, s);
    return product;
}

/* Multiplies a factor where that leaves the array small enough. */
static bool try_factor(sx_mapping *m, int level, bool spatial, int d, uint32_t by) {
    uint32_t *factor = spatial ? &m->level[level].spatial[d] : &m->level[level].temporal[d];
    *factor *= by;
    if (children(m, level) <= MOST_CHILDREN && units(m) <= MOST_UNITS) return true;
    *factor /= by;
    return false;
}

/* Spreads the prime factors of a dimension over the slots. */
static void draw_divisors(sx_rng *rng, sx_mapping *m, int d, uint32_t size, unsigned spatial) {
    for (uint32_t prime = 2; size > 1;) {
        if (size % prime) {
            prime++;
            continue;
        }
        size /= prime;
        int level = (int)sx_rng_below(rng, m->n_levels);
        if (!try_factor(m, level, chance(rng, spatial), d, prime)) try_factor(m, level, false, d, prime);
    }
}

/* Factors from the innermost slot out, each as large as it may be at most; the last one covers the rest. */
static void draw_remainders(sx_rng *rng, sx_mapping *m, int d, uint32_t size, unsigned spatial) {
    uint32_t step = 1;
    for (int slot = 0; slot < 2 * m->n_levels; slot++) {
        bool last = slot == 2 * m->n_levels - 1, in_space = slot % 2 == 0;
        uint32_t most = (size + step - 1) / step;
        if (last) {
            try_factor(m, slot / 2, false, d, most);
            continue;
        }
        if (most == 1 || !chance(rng, in_space ? spatial : 60)) continue;
        uint32_t factor = chance(rng, 25) ? most : pick(rng, 1, most);
        if (try_factor(m, slot / 2, in_space, d, factor)) step *= factor;
    }
}

static void draw_mapping(sx_rng *rng, bool remainder, const sx_problem *p, int n_levels, sx_mapping *m) {
    memset(m, 0, sizeof *m);
    m->n_levels = (uint8_t)n_levels;
    m->n_dims = p->n_dims;
    m->n_tensors = p->n_tensors;
    for (int s = 0; s < n_levels; s++) {
        sx_mapping_level *level = &m->level[s];
        for (int d = 0; d < p->n_dims; d++) {
            level->temporal[d] = level->spatial[d] = 1;
            level->temporal_order[d] = level->spatial_order[d] = (uint8_t)d;
        }
        sx_rng_shuffle(rng, level->temporal_order, p->n_dims);
        sx_rng_shuffle(rng, level->spatial_order, p->n_dims);
        level->split = chance(rng, 50) ? p->n_dims : (uint8_t)pick(rng, 0, p->n_dims);
        uint8_t all = (uint8_t)((1u << p->n_tensors) - 1);
        level->keep = chance(rng, 65) ? all : (uint8_t)sx_rng_below(rng, all + 1u);
        level->no_temporal_reuse = some_tensors(rng, p->n_tensors, 8);
        level->no_multicast = some_tensors(rng, p->n_tensors, 8);
        level->no_link_transfer = some_tensors(rng, p->n_tensors, 8);
        level->rmw_first_update = some_tensors(rng, p->n_tensors, 8);
    }
    unsigned spatial = chance(rng, 15) ? 0 : pick(rng, 15, 60);
    for (int d = 0; d < p->n_dims; d++) {
        if (remainder)
            draw_remainders(rng, m, d, p->size[d], spatial);
        else
            draw_divisors(rng, m, d, p->size[d], spatial);
    }
}

/* Lays a random dimension of a level on both axes, where one has a factor that is no prime. */
static void draw_split(sx_rng *rng, int n_dims, sx_mapping_level *level) {
    size_t first = sx_rng_below(rng, (uint64_t)n_dims);
    for (int i = 0; i < n_dims; i++) {
        size_t place = (first + (size_t)i) % (size_t)n_dims;
        uint8_t d = level->spatial_order[place];
        uint32_t factor = level->spatial[d], part = factor > 1 ? 1 + pick(rng, 1, factor - 1) : 1;
        while (part > 1 && (factor % part || part == factor)) part--;
        if (part == 1) continue;
        if (level->split == 0) level->split = 1;
        level->spatial_order[place] = level->spatial_order[level->split - 1];
        level->spatial_order[level->split - 1] = d;
        level->x_part = (uint16_t)part;
        return;
    }
}

/* Gives every tensor a home, in nearly all draws. */
static void draw_homes(sx_rng *rng, sx_mapping *m) {
    unsigned kept = 0;
    for (int s = 0; s < m->n_levels; s++) kept |= m->level[s].keep;
    for (int v = 0; v < m->n_tensors; v++)
        if (!(kept >> v & 1) && !chance(rng, 5))
            m->level[sx_rng_below(rng, m->n_levels)].keep |= (uint8_t)(1u << v);
}

/* The words of the tensors that a level keeps, or of the largest of them. */
static uint64_t tile_words(const sx_problem *p, const sx_mapping *m, int level, bool largest) {
    uint64_t sum = 0, most = 0;
    for (int v = 0; v < p->n_tensors; v++) {
        if (!(m->level[level].keep >> v & 1)) continue;
        uint64_t words = 1;
        for (int r = 0; r < p->tensor[v].n_ranks; r++) {
            uint64_t extent = 1;
            for (int d = 0; d < p->n_dims; d++) {
                uint64_t reach = sx_mapping_extent(m, level, d);
                if (reach > p->size[d]) reach = p->size[d];
                extent += (uint64_t)fabs((double)p->tensor[v].coef[r][d]) * (reach - 1);
            }
            words *= extent;
        }
        sum += words;
        if (words > most) most = words;
    }
    return largest ? most : sum;
}

/* A fan-out: room for a level's spatial loops, sometimes more, seldom less. */
static uint64_t draw_fanout(sx_rng *rng, uint64_t need) {
    if (chance(rng, 2)) return 1;
    return chance(rng, 60) ? need : need + pick(rng, 0, 3);
}

/* Meshes from the outermost level in, each a multiple of the one outside. */
static void draw_meshes(sx_rng *rng, const sx_mapping *m, sx_arch *a) {
    uint64_t x = chance(rng, 92) ? 1 : 2, y = chance(rng, 95) ? 1 : 2;
    for (int s = a->n_levels - 1; s >= -1; s--) {
        uint64_t *inner_x = s < 0 ? &a->compute.mesh_x : &a->level[s].mesh_x;
        uint64_t *inner_y = s < 0 ? &a->compute.mesh_y : &a->level[s].mesh_y;
        *(s < 0 ? &a->compute.instances : &a->level[s].instances) = x * y;
        *inner_x = x;
        *inner_y = y;
        if (s < 0) break;
        uint64_t need[2];
        sx_axes_used(&m->level[s], m->n_dims, need);
        x *= draw_fanout(rng, need[0]);
        y *= draw_fanout(rng, need[1]);
    }
}

static void draw_capacity(sx_rng *rng, const sx_problem *p, const sx_mapping *m, int s, sx_storage *level) {
    if (chance(rng, 20)) level->multiple_buffering = chance(rng, 50) ? 2 : 1 + sx_rng_double(rng);
    if (chance(rng, 10)) level->min_utilization = sx_rng_double(rng) / 3;
    if (chance(rng, 35)) return;
    if (chance(rng, 15)) {
        level->banks = pick(rng, 1, 12);
        level->multiple_buffering = chance(rng, 80) ? 1 : 2;
        uint64_t bank = tile_words(p, m, s, true) / pick(rng, 1, 4) + 1;
        level->entries = (uint64_t)level->multiple_buffering * level->banks * bank;
        return;
    }
    double need = (double)tile_words(p, m, s, false) * level->multiple_buffering;
    double spare = chance(rng, 3) ? -pick(rng, 1, 3) : chance(rng, 30) ? 0 : pick(rng, 0, 40);
    level->entries = (uint64_t)fmax(1, ceil(need) + spare);
}

static void draw_level(sx_rng *rng, const sx_problem *p, sx_mapping *m, int s, sx_arch *a) {
    sx_storage *level = &a->level[s];
    draw_capacity(rng, p, m, s, level);
    level->technology = chance(rng, s == a->n_levels - 1 ? 60 : 5) ? SX_DRAM : SX_SRAM;
    level->reduction_supported = (level->technology == SX_SRAM) != chance(rng, 10);
    if (chance(rng, 30)) level->block_size = pick(rng, 1, 8);
    if (chance(rng, 15)) do
            level->cluster_size = pick(rng, 1, (uint32_t)level->instances);
        while (level->instances % level->cluster_size);
    if (chance(rng, 20)) level->read_bandwidth = pick(rng, 1, 32) / 8.0;
    if (chance(rng, 20)) level->write_bandwidth = pick(rng, 1, 32) / 8.0;
    if (chance(rng, 15)) level->shared_bandwidth = pick(rng, 1, 32) / 4.0;
    level->read_energy = energy(rng);
    level->fill_energy = energy(rng);
    level->update_energy = energy(rng);
    if (chance(rng, 25)) level->leak_energy = energy(rng) / 8;
    if (chance(rng, 25)) level->addr_gen_energy = energy(rng) / 4;
    if (chance(rng, 15)) level->power_gated_at = (int8_t)sx_rng_below(rng, a->n_levels);
    if (chance(rng, 60)) level->energy_per_hop = energy(rng) / 8;
    if (chance(rng, 40)) level->router_energy = energy(rng) / 16;
    if (chance(rng, 10)) level->fill_latency = pick(rng, 0, 9);
    if (chance(rng, 10)) level->drain_latency = pick(rng, 0, 9);
    if (chance(rng, 8)) {
        level->n_scales = 1;
        memcpy(level->bandwidth_scale[0].tensor, p->tensor[0].name, SX_NAME_SIZE);
        level->bandwidth_scale[0].scale = pick(rng, 0, 12) / 4.0;
    }
    if (m->level[s].keep == 0 && chance(rng, 50)) level->transparent = true;
}

static void draw_arch(sx_rng *rng, const sx_problem *p, sx_mapping *m, sx_arch *a) {
    memset(a, 0, sizeof *a);
    snprintf(a->name, SX_NAME_SIZE, "random");
    a->n_levels = m->n_levels;
    sx_compute_init(&a->compute);
    snprintf(a->compute.name, SX_NAME_SIZE, "MAC");
    a->compute.energy = energy(rng);
    for (int s = 0; s < a->n_levels; s++) {
        sx_storage_init(&a->level[s]);
        snprintf(a->level[s].name, SX_NAME_SIZE, "L%d", s);
    }
    draw_meshes(rng, m, a);
    for (int s = 0; s < a->n_levels; s++) draw_level(rng, p, m, s, a);
}

/* Gives tensors elements, and levels words, of different widths; most levels get room for the wider ones. */
static void draw_widths(sx_rng *rng, sx_problem *p, sx_arch *a) {
    static const uint8_t bits[] = {1, 4, 8, 12, 16, 24, 32};
    for (int v = 0; v < p->n_tensors; v++)
        if (chance(rng, 60)) p->tensor[v].bits = bits[sx_rng_below(rng, sizeof bits)];
    for (int s = 0; s < a->n_levels; s++) {
        sx_storage *level = &a->level[s];
        if (chance(rng, 40)) level->word_bits = 4 * pick(rng, 1, 10);
        if (level->entries != SX_UNLIMITED && chance(rng, 60)) level->entries *= 2;
    }
}

/* Breaks a mapping in one of the ways that are told apart before any counting. */
static void spoil(sx_rng *rng, sx_case *c) {
    sx_mapping_level *level = &c->mapping.level[sx_rng_below(rng, c->mapping.n_levels)];
    size_t d = sx_rng_below(rng, c->mapping.n_dims);
    switch (sx_rng_below(rng, 6)) {
    case 0:
        level->temporal[d]++;
        break;
    case 1:
        level->spatial[d] += pick(rng, 1, 9);
        break;
    case 2:
        level->temporal[d] = level->spatial[d] = 1;
        break;
    case 3:
        level->temporal_order[d] = level->temporal_order[0];
        break;
    case 4:
        c->mapping.n_levels++;
        break;
    case 5:
        c->arch.level[sx_rng_below(rng, c->arch.n_levels)].transparent = true;
        break;
    }
}

void sx_random_case(sx_rng *rng, unsigned flags, sx_case *out) {
    draw_problem(rng, flags & SX_CASE_PLAIN, &out->problem);
    int n_levels = (int)pick(rng, 1, 4);
    draw_mapping(rng, flags & SX_CASE_REMAINDER, &out->problem, n_levels, &out->mapping);
    for (int s = 0; s < n_levels && flags & SX_CASE_SPLIT; s++)
        draw_split(rng, out->problem.n_dims, &out->mapping.level[s]);
    draw_homes(rng, &out->mapping);
    draw_arch(rng, &out->problem, &out->mapping, &out->arch);
    out->options = (sx_model_options){.no_first_read_elision = chance(rng, 10)};
    out->options.no_link_transfers = chance(rng, 10);
    if (chance(rng, 20)) draw_widths(rng, &out->problem, &out->arch);
    if (chance(rng, 2)) spoil(rng, out);
    for (int s = 0; s < n_levels && flags & SX_CASE_PASSING; s++)
        out->mapping.level[s].no_coalesce = some_tensors(rng, out->problem.n_tensors, 60);
}

bool sx_case_plain(const sx_problem *problem) {
    for (int v = 0; v < problem->n_tensors; v++)
        for (int r = 0; r < problem->tensor[v].n_ranks; r++) {
            int terms = 0;
            for (int d = 0; d < problem->n_dims; d++) {
                int32_t coef = problem->tensor[v].coef[r][d];
                if (coef == 0) continue;
                if (coef > 1 || coef < -1) return false;
                terms++;
                for (int q = 0; q < r; q++)
                    if (problem->tensor[v].coef[q][d]) return false;
            }
            if (terms != 1) return false;
        }
    return true;
}
