#include "support/random_space.h"

#include "support/plain_arch.h"

#include "support/expect.h"
#include "support/plain_arch.h"
#include "support/random_limits.h"
#include "support/random_sparse.h"

#include "bound/bound.h"
#include "mapspace/map_size.h"
#include "model/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Fixes the order of a level's temporal loops. */
static void fix_order(sx_rng *rng, sx_small_space *small, int level) {
    sx_loop_limits *limits = &small->limits.level[level].temporal;
    uint8_t order[SX_MAX_DIMS];
    int n = small->c.problem.n_dims;
    for (int d = 0; d < n; d++) order[d] = (uint8_t)d;
    sx_rng_shuffle(rng, order, (unsigned)n);
    limits->n_inner = (uint8_t)sx_rng_range(rng, n / 2, n);
    limits->n_outer = (uint8_t)sx_rng_range(rng, 0, n - limits->n_inner);
    memcpy(limits->inner, order, limits->n_inner);
    memcpy(limits->outer, order + limits->n_inner, limits->n_outer);
}

double sx_count_constructions(const sx_map_space *map) {
    double product = 1;
    for (int d = 0; d < map->problem->n_dims; d++) product *= (double)sx_factors_count(map->factors[d]);
    for (int s = 0; s < map->arch->n_levels; s++)
        product *= (double)(sx_map_raw_orders(map, s) * sx_map_raw_layouts(map, s)) *
                   (double)(sx_map_raw_keeps(map, s) * sx_map_raw_banks(map, s));
    return product;
}

bool sx_make_space(sx_small_space *small) {
    sx_expect_ok(sx_model_new(&small->c.problem, &small->c.arch, &small->c.options, &small->model));
    sx_status status = sx_map_space_new(small->model, &small->limits, &small->options, &small->space);
    if (!status) {
        small->map = sx_map_space_of(small->space);
        return true;
    }
    sx_status_free(status);
    sx_model_free(small->model);
    return false;
}

/* Gives an architecture one array of two to four rows and columns. */
static void draw_plane(sx_rng *rng, sx_arch *a) {
    uint64_t x = 1, y = 1;
    int array = (int)sx_rng_below(rng, a->n_levels);
    for (int s = a->n_levels - 1; s >= -1; s--) {
        *(s < 0 ? &a->compute.mesh_x : &a->level[s].mesh_x) = x;
        *(s < 0 ? &a->compute.mesh_y : &a->level[s].mesh_y) = y;
        *(s < 0 ? &a->compute.instances : &a->level[s].instances) = x * y;
        if (s >= 0) a->level[s].cluster_size = 1;
        if (s == array) x = (uint64_t)sx_rng_range(rng, 2, 4), y = (uint64_t)sx_rng_range(rng, 2, 3);
    }
}

void sx_draw_space(sx_rng *rng, sx_small_space *small) {
    memset(small, 0, sizeof *small);
    small->options = (sx_map_space_options){.remainders = sx_rng_below(rng, 4) == 0,
                                            .keep_all = sx_rng_below(rng, 3) == 0,
                                            .no_banks = sx_rng_below(rng, 4) == 0};
    sx_random_case(rng, small->options.remainders ? SX_CASE_REMAINDER : 0, &small->c);
    if (sx_rng_below(rng, 2))
        sx_random_limits(rng, &small->c.problem, &small->c.arch, &small->limits);
    else
        sx_constraints_init(&small->limits, &small->c.problem, &small->c.arch);
    small->options.split_axes = !small->options.remainders && sx_rng_below(rng, 3) == 0;
    if (small->options.split_axes) draw_plane(rng, &small->c.arch);
}

/* Gives what was drawn sparse tensors. */
static void draw_sparse(sx_rng *rng, sx_small_space *small) {
    sx_random_sparse(rng, &small->c.problem, &small->c.arch);
    small->c.options.sparse_timeloop = sx_rng_below(rng, 4) == 0;
}

bool sx_make_small_space(sx_rng *rng, uint64_t most, sx_small_space *out) {
    for (int tries = 0; tries < 20 && sx_make_space(out); tries++) {
        double n = sx_count_constructions(out->map);
        if (n <= (double)most) {
            out->n = (uint64_t)n;
            return true;
        }
        sx_small_space_fini(out);
        int level = (int)sx_rng_below(rng, out->c.arch.n_levels);
        uint32_t *size = &out->c.problem.size[sx_rng_below(rng, out->c.problem.n_dims)];
        if (sx_rng_below(rng, 2))
            fix_order(rng, out, level);
        else
            *size = (*size + 1) / 2;
    }
    return false;
}

void sx_random_space(sx_rng *rng, uint64_t most, sx_small_space *out) {
    do sx_draw_space(rng, out);
    while (!sx_make_small_space(rng, most, out));
}

void sx_random_sparse_space(sx_rng *rng, uint64_t most, sx_small_space *out) {
    do {
        sx_draw_space(rng, out);
        draw_sparse(rng, out);
    } while (!sx_make_small_space(rng, most, out));
}

/* Puts a level of what was drawn in banks, each of a few words, that are free to keep or not. */
static void draw_banks(sx_rng *rng, sx_storage *level, sx_small_space *small) {
    level->banks = (uint32_t)sx_rng_range(rng, small->c.problem.n_tensors, 9);
    level->multiple_buffering = sx_rng_below(rng, 4) ? 1 : 2;
    level->entries = (uint64_t)level->multiple_buffering * level->banks * (uint64_t)sx_rng_range(rng, 1, 8);
    level->transparent = false;
    small->options.keep_all = small->options.no_banks = false;
}

/* Takes networks and links out. */
static void make_quiet(sx_small_space *small) {
    small->c.options.no_link_transfers = true;
    for (int s = 0; s < small->c.arch.n_levels; s++)
        small->c.arch.level[s].energy_per_hop = small->c.arch.level[s].router_energy = 0;
}

void sx_draw_kind(sx_rng *rng, sx_space_kind kind, sx_small_space *small) {
    sx_storage *level = &small->c.arch.level[sx_rng_below(rng, small->c.arch.n_levels)];
    static const uint8_t bits[] = {4, 8, 12, 24, 32};
    switch (kind) {
    case SX_KIND_BANKS:
        draw_banks(rng, level, small);
        break;
    case SX_KIND_SPARSE:
        draw_sparse(rng, small);
        break;
    case SX_KIND_NETWORK:
        level->router_energy = (double)sx_rng_range(rng, 1, 9) / 8;
        break;
    case SX_KIND_BITS:
        small->c.problem.tensor[sx_rng_below(rng, small->c.problem.n_tensors)].bits =
            bits[sx_rng_below(rng, sizeof bits)];
        break;
    case SX_KIND_MINIMUM_USE:
        level->min_utilization = sx_rng_double(rng) / 3;
        break;
    case SX_KIND_BUFFERING:
        level->multiple_buffering = (double)sx_rng_range(rng, 2, 3);
        break;
    case SX_KIND_TRANSPARENT:
        level->transparent = true;
        break;
    default:
        break;
    }
}

void sx_random_space_of(sx_rng *rng, sx_space_kind kind, uint64_t most, sx_small_space *out) {
    for (;;) {
        sx_draw_space(rng, out);
        if (kind == SX_KIND_QUIET || (kind != SX_KIND_LINKS && sx_rng_below(rng, 2))) make_quiet(out);
        sx_draw_kind(rng, kind, out);
        if (!sx_make_small_space(rng, most, out)) continue;
        if (sx_small_space_kinds(out) >> kind & 1) return;
        sx_small_space_fini(out);
    }
}

/* Draws memories with little room, arrays between them, and bandwidths. */
static void draw_hierarchy(sx_rng *rng, sx_arch *arch) {
    static const uint64_t side[] = {1, 1, 2, 3, 4, 5};
    uint64_t x = 1, y = 1;
    sx_plain_arch(arch, (int)sx_rng_range(rng, 2, 5));
    for (int s = arch->n_levels - 1; s >= 0; s--) {
        sx_storage *level = &arch->level[s];
        level->mesh_x = x;
        level->mesh_y = y;
        level->instances = x * y;
        level->read_energy = (double)sx_rng_range(rng, 0, 20) / 4;
        level->fill_energy = (double)sx_rng_range(rng, 0, 20) / 4;
        level->update_energy = (double)sx_rng_range(rng, 0, 20) / 4;
        if (sx_rng_below(rng, 4) == 0) level->block_size = 4;
        if (sx_rng_below(rng, 3) == 0) level->read_bandwidth = (double)sx_rng_range(rng, 1, 8);
        if (sx_rng_below(rng, 3) == 0) level->write_bandwidth = (double)sx_rng_range(rng, 1, 8);
        if (s + 1 < arch->n_levels)
            level->entries = (uint64_t)sx_rng_range(rng, 3, 40) / level->block_size * level->block_size +
                             level->block_size;
        if (x * y < 20) x *= side[sx_rng_below(rng, 6)], y *= side[sx_rng_below(rng, 4)];
    }
    arch->compute.mesh_x = x;
    arch->compute.mesh_y = y;
    arch->compute.instances = x * y;
    arch->compute.energy = 1;
}

void sx_random_plain_space(sx_rng *rng, uint64_t most, sx_small_space *out) {
    static const char *const einsum[] = {"O[m,n] += A[m,k]*B[k,n] {m:%u,n:%u,k:%u}",
                                         "O[m,n] += A[m,k]*B[k,n] {m:%u,n:%u,k:%u}",
                                         "O[m,k] += A[k]*B[m] {m:%u,k:%u}",
                                         "O[m] += A[m,k]*B[k] {m:%u,k:%u}",
                                         "O[b,m,n] += A[b,m,k]*B[k,n] {b:%u,m:%u,n:%u,k:%u}",
                                         "O[i,j] += A[i,k,l]*B[k,j]*C[l,j] {i:%u,j:%u,k:%u,l:%u}"};
    do {
        unsigned size[4];
        char text[128];
        memset(out, 0, sizeof *out);
        for (int d = 0; d < 4; d++) size[d] = (unsigned)sx_rng_range(rng, 1, most > 0 ? 9 : 40);
        snprintf(text, sizeof text, einsum[sx_rng_below(rng, 6)], size[0], size[1], size[2], size[3]);
        sx_expect_ok(sx_einsum_parse(text, &out->c.problem));
        draw_hierarchy(rng, &out->c.arch);
        out->options = (sx_map_space_options){.remainders = true, .keep_all = sx_rng_below(rng, 2) == 0};
        out->c.options.no_link_transfers = sx_rng_below(rng, 2) == 0;
        sx_constraints_init(&out->limits, &out->c.problem, &out->c.arch);
    } while (most > 0 ? !sx_make_small_space(rng, most, out) : !sx_make_space(out));
}

void sx_space_on(const char *problem, const sx_arch *arch, const sx_map_space_options *options,
                 sx_small_space *out) {
    memset(out, 0, sizeof *out);
    out->options = *options;
    out->c.arch = *arch;
    sx_expect_ok(strchr(problem, '[') ? sx_einsum_parse(problem, &out->c.problem)
                                      : sx_catalog_problem(problem, &out->c.problem));
    sx_constraints_init(&out->limits, &out->c.problem, &out->c.arch);
    assert_true(sx_make_space(out));
}

void sx_catalog_space(const char *problem, const char *arch, const sx_map_space_options *options,
                      sx_small_space *out) {
    sx_arch found;
    sx_expect_ok(sx_catalog_arch(arch, &found));
    sx_space_on(problem, &found, options, out);
}

bool sx_largest_space(int number, bool remainders, sx_small_space *out) {
    static const struct {
        const char *problem;
        int n_levels, units;
    } cases[] = {
        {"O[a,b] += A[a]*B[b]*C[a,b]*D[a]*E[b]*F[b,a]*G[a] {a:4,b:6}", 2, 1},
        {"O[a,b] += A[a]*B[b]*C[a,b]*D[a]*E[b]*F[b,a]*G[a] {a:4,b:6}", 2, 2},
        {"O[a,b,c,d,e,f,g,h] += A[a,c,e,g,i,k,m,o]*B[b,d,f,h,j,l,n,p] "
         "{a:2,b:1,c:1,d:1,e:1,f:1,g:1,h:6,i:1,j:1,k:1,l:1,m:1,n:1,o:1,p:4}",
         2, 2},
        {"O[m] += A[m,k] {m:5,k:4}", SX_MAX_LEVELS, 2},
    };
    if (number >= (int)(sizeof cases / sizeof *cases)) return false;
    const sx_map_space_options options = {.remainders = remainders, .keep_all = cases[number].n_levels > 2};
    sx_arch arch;
    sx_plain_arch(&arch, cases[number].n_levels);
    for (int s = 0; s < arch.n_levels; s++) {
        sx_storage *level = &arch.level[s];
        level->read_energy = level->fill_energy = level->update_energy = 1 + 20 * s;
        if (s + 1 < arch.n_levels) level->entries = arch.n_levels > 2 ? 5 : 10;
    }
    sx_plain_mesh(&arch, arch.n_levels - 1, (uint64_t)cases[number].units, 1);
    sx_space_on(cases[number].problem, &arch, &options, out);
    return true;
}

/* Whether constraints say anything. */
static bool is_limited(const sx_small_space *small) {
    sx_constraints none;
    sx_constraints_init(&none, &small->c.problem, &small->c.arch);
    return memcmp(&none, &small->limits, sizeof none) != 0;
}

unsigned sx_small_space_kinds(const sx_small_space *small) {
    const sx_map_space *map = small->map;
    const sx_model *model = small->model;
    bool has[SX_N_KINDS] = {[SX_KIND_SPARSE] = model->sparse != NULL,
                            [SX_KIND_REMAINDERS] = small->options.remainders,
                            [SX_KIND_NETWORK] = model->net_energy,
                            [SX_KIND_LIMITS] = is_limited(small)};
    bool array = false;
    for (int s = 0; s < model->n_levels; s++) {
        const sx_storage *level = &small->c.arch.level[s];
        const sx_level_limits *limits = &small->limits.level[s];
        array |= map->spatial_slot[s] >= 0;
        has[SX_KIND_BANKS] |= (map->banked[s] & ~map->fixed_keep[s]) != 0;
        has[SX_KIND_SPLIT_AXES] |= map->splits[s];
        has[SX_KIND_BUFFERING] |= level->multiple_buffering > 1 && level->entries != SX_UNLIMITED;
        has[SX_KIND_TRANSPARENT] |= level->transparent;
        has[SX_KIND_MINIMUM_USE] |=
            (level->min_utilization > 0 || limits->min_utilization > 0) && level->entries != SX_UNLIMITED;
        has[SX_KIND_MINIMUM_USE] |= limits->min_parallelism > 0;
    }
    for (int v = 0; v < model->n_tensors; v++) {
        has[SX_KIND_BITS] |= small->c.problem.tensor[v].bits > 0;
        has[SX_KIND_WINDOWS] |= !model->shape[v].plain;
    }
    has[SX_KIND_LINKS] = array && !model->options.no_link_transfers;
    has[SX_KIND_QUIET] = !model->net_energy && !has[SX_KIND_LINKS];
    unsigned kinds = 0;
    for (int k = 0; k < SX_N_KINDS; k++) kinds |= (unsigned)has[k] << k;
    return kinds;
}

const char *sx_space_kind_name(sx_space_kind kind) {
    static const char *const names[] = {"banks",       "sparse",  "remainders",  "split axes", "network",
                                        "links",       "bits",    "constraints", "least use",  "buffering",
                                        "transparent", "windows", "quiet"};
    return names[kind];
}

/* A convolution Z[g,k,p,q] += A[g, c, p and r, q and s] * B[g,k,c,r,s] with sizes that have many divisors; as often
 * as not a small one in two dimensions, sometimes without B and the sums. */
static void draw_convolution(sx_rng *rng, bool small, sx_problem *p) {
    enum { G, K, C, P, R, Q, S, DIMS };
    static const uint32_t few[] = {1, 1, 1, 2, 4, 3}, many[] = {2, 3, 4, 6, 8, 9, 12, 16, 24};
    static const uint8_t terms[3][DIMS] = {{G, K, P, Q, C, R, S}, {G, C, P, Q}, {G, K, C, R, S}};
    enum { FEW = sizeof few / sizeof *few, MANY = sizeof many / sizeof *many };
    bool flat = sx_rng_below(rng, 8) == 0;
    memset(p, 0, sizeof *p);
    snprintf(p->name, SX_NAME_SIZE, "convolution");
    p->n_dims = DIMS;
    p->n_tensors = flat ? 2 : 3;
    for (int d = 0; d < DIMS; d++) {
        bool large = d == P || (d == Q && sx_rng_below(rng, 3) == 0);
        p->dim_name[d][0] = "GKCPRQS"[d];
        p->size[d] = large ? many[sx_rng_below(rng, MANY)] : few[sx_rng_below(rng, FEW)];
        if (small) p->size[d] = d >= P ? (uint32_t)sx_rng_range(rng, 2, 4) : few[sx_rng_below(rng, 5)];
    }
    if (p->size[R] == 1) p->size[R] = (uint32_t)sx_rng_range(rng, 2, 6);
    for (int v = 0; v < p->n_tensors; v++) {
        sx_tensor *t = &p->tensor[v];
        t->name[0] = "ZAB"[v];
        t->output = v == 0;
        t->n_ranks = v == 2 ? 5 : v == 0 && flat ? DIMS : 4;
        for (int r = 0; r < t->n_ranks; r++) t->coef[r][terms[v][r]] = 1;
    }
    for (int d = P; d <= S; d++)
        p->tensor[1].coef[d == P || d == R ? 2 : 3][d] =
            (int32_t)(sx_rng_below(rng, 4) ? 1 : sx_rng_range(rng, 2, 3));
}

/* Two to four levels, the memories inside the first array in a mesh; sometimes a second array. */
static void draw_array(sx_rng *rng, bool small, sx_arch *a) {
    uint64_t x = 1, y = 1;
    memset(a, 0, sizeof *a);
    snprintf(a->name, SX_NAME_SIZE, "array");
    a->n_levels = (uint8_t)sx_rng_range(rng, 2, small ? 2 : 4);
    sx_compute_init(&a->compute);
    snprintf(a->compute.name, SX_NAME_SIZE, "MAC");
    a->compute.energy = 1;
    int array = (int)sx_rng_range(rng, 1, a->n_levels - 1), other = (int)sx_rng_below(rng, 3 * a->n_levels);
    for (int s = a->n_levels - 1; s >= 0; s--) {
        sx_storage *level = &a->level[s];
        sx_storage_init(level);
        snprintf(level->name, SX_NAME_SIZE, "L%d", s);
        level->instances = x * y;
        level->mesh_x = x;
        level->mesh_y = y;
        level->read_energy = level->update_energy = (double)sx_rng_range(rng, 1, 4 + 20 * s);
        level->fill_energy = (double)sx_rng_range(rng, 0, 4);
        if (s < a->n_levels - 1 && sx_rng_below(rng, 3) == 0) level->entries = 4 + sx_rng_below(rng, 60);
        if (s == array || s == other) {
            x *= (uint64_t)sx_rng_range(rng, 1, s != array ? 3 : small ? 6 : 12);
            y *= (uint64_t)sx_rng_range(rng, 1, s == array ? 4 : 2);
        }
    }
    a->compute.mesh_x = x;
    a->compute.mesh_y = y;
    a->compute.instances = x * y;
}

void sx_random_link_space(sx_rng *rng, sx_small_space *out) {
    do {
        memset(out, 0, sizeof *out);
        bool small = sx_rng_below(rng, 2) == 0;
        draw_convolution(rng, small, &out->c.problem);
        draw_array(rng, small, &out->c.arch);
        out->options.keep_all = small || sx_rng_below(rng, 2) == 0;
        out->c.options.no_link_transfers = sx_rng_below(rng, 8) == 0;
        sx_constraints_init(&out->limits, &out->c.problem, &out->c.arch);
        for (int s = 0; s < out->c.arch.n_levels; s++)
            if (sx_rng_below(rng, 5) == 0) out->limits.level[s].no_temporal_reuse = 1u << 1;
    } while (!sx_make_space(out));
}

void sx_random_shared_window(sx_rng *rng, uint64_t most, sx_small_space *out) {
    static const char *const forms[] = {"Z[p] += A[p+r] {p:%d,r:%d}", "Z[p] += A[p-r] {p:%d,r:%d}",
                                        "Z[p] += A[2*p+r] {p:%d,r:%d}", "Z[p] += A[p+2*r] {p:%d,r:%d}",
                                        "Z[p] += A[2*p-3*r] {p:%d,r:%d}"};
    enum { FORMS = sizeof forms / sizeof *forms, LEVELS = 2 };
    do {
        char text[64];
        sx_arch *a = &out->c.arch;
        memset(out, 0, sizeof *out);
        const int r = (int)sx_rng_range(rng, 2, 13), p = (int)sx_rng_range(rng, 2, 13);
        snprintf(text, sizeof text, forms[sx_rng_below(rng, FORMS)], p, r);
        sx_expect_ok(sx_einsum_parse(text, &out->c.problem));
        sx_plain_arch(a, LEVELS);
        uint64_t outer = (uint64_t)sx_rng_range(rng, 1, 6), inner = (uint64_t)sx_rng_range(rng, 1, 9);
        sx_plain_mesh(a, 0, outer * inner, 1);
        a->level[0].instances = a->level[0].mesh_x = outer;
        a->compute.energy = 0;
        for (int s = 0; s < LEVELS; s++) {
            a->level[s].read_energy = s + 1 == LEVELS;
            a->level[s].fill_energy = a->level[s].update_energy = 0;
        }
        sx_constraints_init(&out->limits, &out->c.problem, a);
        out->limits.level[0].must_bypass = 3;
        out->options.remainders = true;
        out->c.options.no_link_transfers = true;
    } while (!sx_make_small_space(rng, most, out));
}

void sx_random_hops(sx_rng *rng, sx_small_space *small) {
    bool alone = sx_rng_below(rng, 2);
    sx_small_space_fini(small);
    if (alone) small->c.arch.compute.energy = 0;
    for (int s = 0; s < small->c.arch.n_levels; s++) {
        sx_storage *level = &small->c.arch.level[s];
        level->energy_per_hop = (double)sx_rng_range(rng, 1, 40);
        if (alone) level->read_energy = level->fill_energy = level->update_energy = 0;
    }
    assert_true(sx_make_space(small));
}

void sx_narrow_port(sx_rng *rng, sx_arch *arch) {
    sx_storage *level = &arch->level[sx_rng_below(rng, arch->n_levels)];
    if (sx_rng_below(rng, 2)) level->shared_bandwidth = 0.05 * (double)sx_rng_range(rng, 1, 8);
}

void sx_expect_outline_bounds(const sx_model *model, const sx_mapping *mapping, const sx_objective *objective,
                              double value) {
    sx_bound *bound;
    sx_outline_bound *bounds;
    sx_outline outline;
    sx_constraints directives;
    memset(&outline, 0, sizeof outline);
    memset(&directives, 0, sizeof directives);
    for (int s = 0; s < mapping->n_levels; s++) {
        memcpy(outline.spatial[s], mapping->level[s].spatial, sizeof outline.spatial[s]);
        outline.keep[s] = mapping->level[s].keep;
        directives.level[s].no_temporal_reuse = mapping->level[s].no_temporal_reuse;
    }
    sx_expect_ok(sx_bound_new(model, &directives, 1 << 20, &bound));
    memset(bound->in_row, 0, sizeof bound->in_row); /* of no map space */
    sx_expect_ok(sx_outline_bound_new(bound, &bounds));
    sx_outline_bound_begin(bounds, &outline);
    sx_score score[2] = {sx_outline_bound_compulsory(bounds), sx_outline_bound_tabulate(bounds, NULL)};
    for (int i = 0; i < 2; i++) {
        double least = sx_objective_value(objective, &score[i]);
        if (least > value * (1 + 1e-9)) print_error("bound %d: %.17g is above %.17g\n", i, least, value);
        assert_true(least <= value * (1 + 1e-9));
    }
    sx_outline_bound_free(bounds);
    sx_bound_free(bound);
}

void sx_small_space_fini(sx_small_space *small) {
    sx_space_free(small->space);
    sx_model_free(small->model);
}

char *sx_small_space_text(const sx_small_space *small) {
    sx_text text = {0};
    char limits[4000], *out = NULL;
    sx_limits_text(&small->limits, limits, sizeof limits);
    sx_text_add(&text, "remainders %d keep_all %d no_banks %d split_axes %d\n%s", small->options.remainders,
                small->options.keep_all, small->options.no_banks, small->options.split_axes, limits);
    sx_case_write(&small->c, &text);
    sx_expect_ok(sx_text_take(&text, &out));
    return out;
}
