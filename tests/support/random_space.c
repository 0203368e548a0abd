#include "support/random_space.h"

#include "support/expect.h"
#include "support/random_limits.h"
#include "support/random_sparse.h"

#include "bound/bound.h"
#include "space/map_size.h"

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

/* How many constructions a space has. */
static double count(const sx_map_space *map) {
    double product = 1;
    for (int d = 0; d < map->problem->n_dims; d++) product *= (double)sx_factors_count(map->factors[d]);
    for (int s = 0; s < map->arch->n_levels; s++)
        product *= (double)(sx_map_raw_orders(map, s) * sx_map_raw_layouts(map, s)) *
                   (double)(sx_map_raw_keeps(map, s) * sx_map_raw_banks(map, s));
    return product;
}

/* Makes the space; false where constraints contradict it. */
static bool make(sx_small_space *small) {
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

/* Draws what a space is made of. */
static void draw(sx_rng *rng, sx_small_space *small) {
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

/* Draws a space, with sparse tensors or without. */
static void random_space(sx_rng *rng, uint64_t most, bool sparse, sx_small_space *out) {
    for (;;) {
        draw(rng, out);
        if (sparse) sx_random_sparse(rng, &out->c.problem, &out->c.arch);
        if (sparse) out->c.options.sparse_timeloop = sx_rng_below(rng, 4) == 0;
        for (int tries = 0; tries < 20 && make(out); tries++) {
            double n = count(out->map);
            if (n <= (double)most) {
                out->n = (uint64_t)n;
                return;
            }
            sx_small_space_fini(out);
            int level = (int)sx_rng_below(rng, out->c.arch.n_levels);
            uint32_t *size = &out->c.problem.size[sx_rng_below(rng, out->c.problem.n_dims)];
            if (sx_rng_below(rng, 2))
                fix_order(rng, out, level);
            else
                *size = (*size + 1) / 2;
        }
    }
}

void sx_random_space(sx_rng *rng, uint64_t most, sx_small_space *out) {
    random_space(rng, most, false, out);
}

void sx_random_sparse_space(sx_rng *rng, uint64_t most, sx_small_space *out) {
    random_space(rng, most, true, out);
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
    } while (!make(out));
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
    assert_true(make(small));
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
