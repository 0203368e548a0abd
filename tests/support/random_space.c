#include "support/random_space.h"

#include "support/expect.h"
#include "support/random_limits.h"
#include "support/random_sparse.h"

#include "bound/bound.h"
#include "space/map_size.h"

#include <setjmp.h>
#include <stdarg.h>
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

void sx_narrow_port(sx_rng *rng, sx_arch *arch) {
    sx_storage *level = &arch->level[sx_rng_below(rng, arch->n_levels)];
    if (sx_rng_below(rng, 2)) level->shared_bandwidth = 0.05 * (double)sx_rng_range(rng, 1, 8);
}

void sx_expect_outline_bounds(const sx_model *model, const sx_mapping *mapping, const sx_objective *objective,
                              double value) {
    sx_bound *bound;
    sx_outline_bound *bounds;
    sx_outline outline;
    memset(&outline, 0, sizeof outline);
    for (int s = 0; s < mapping->n_levels; s++) {
        memcpy(outline.spatial[s], mapping->level[s].spatial, sizeof outline.spatial[s]);
        outline.keep[s] = mapping->level[s].keep;
    }
    sx_expect_ok(sx_bound_new(model, 1 << 20, &bound));
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
    sx_text_add(&text, "remainders %d keep_all %d no_banks %d\n%s", small->options.remainders,
                small->options.keep_all, small->options.no_banks, limits);
    sx_case_write(&small->c, &text);
    sx_expect_ok(sx_text_take(&text, &out));
    return out;
}
