#include "support/random_legal.h"

#include "support/expect.h"

#include <string.h>

/* True in `percent` of a hundred draws. */
static bool chance(sx_rng *rng, unsigned percent) {
    return sx_rng_below(rng, 100) < percent;
}

/* A factor of at most `most`: any number, or one that divides `left`. */
static uint32_t draw_factor(sx_rng *rng, uint32_t left, uint64_t most, bool remainders) {
    uint32_t factor = (uint32_t)sx_rng_range(rng, 1, left < most ? left : (int64_t)most);
    while (!remainders && left % factor) factor--;
    return factor;
}

/* Lets the outermost temporal loops cover what the other factors leave. */
static void cover(const sx_problem *problem, sx_mapping *m) {
    sx_mapping_level *last = &m->level[m->n_levels - 1];
    for (int d = 0; d < m->n_dims; d++) {
        last->temporal[d] = 1;
        uint64_t step = sx_mapping_extent(m, m->n_levels - 1, d);
        last->temporal[d] = (uint32_t)((problem->size[d] + step - 1) / step);
    }
}

/* Factors that fill the meshes, not yet the buffers. */
static void draw_factors(sx_rng *rng, const sx_problem *problem, const sx_arch *arch, bool remainders,
                         sx_mapping *m) {
    uint32_t left[SX_MAX_DIMS];
    for (int d = 0; d < m->n_dims; d++) left[d] = problem->size[d];
    for (int s = 0; s < m->n_levels; s++) {
        sx_mapping_level *level = &m->level[s];
        uint64_t room[2] = {sx_arch_fanout_x(arch, s), sx_arch_fanout_y(arch, s)};
        for (int i = 0; i < m->n_dims; i++) {
            int d = level->spatial_order[i];
            uint64_t *mesh = &room[i >= level->split];
            level->spatial[d] = draw_factor(rng, left[d], *mesh, remainders);
            *mesh /= level->spatial[d];
            left[d] = (left[d] - 1) / level->spatial[d] + 1;
        }
        for (int d = 0; d < m->n_dims; d++) {
            bool none = s + 1 == m->n_levels || chance(rng, 40);
            level->temporal[d] = none ? 1 : draw_factor(rng, left[d], left[d], remainders);
            left[d] = (left[d] - 1) / level->temporal[d] + 1;
        }
    }
}

/* Makes one factor at or below a level smaller. */
static void shrink(sx_rng *rng, sx_mapping *m, int level, bool remainders) {
    for (int tries = 0; tries < 100; tries++) {
        sx_mapping_level *at = &m->level[sx_rng_below(rng, (uint64_t)level + 1)];
        uint64_t d = sx_rng_below(rng, m->n_dims);
        uint32_t *factor = chance(rng, 80) ? &at->temporal[d] : &at->spatial[d];
        if (*factor == 1) continue;
        *factor = draw_factor(rng, *factor, *factor - 1, remainders);
        return;
    }
}

static uint8_t some_tensors(sx_rng *rng, int n, unsigned percent) {
    return chance(rng, percent) ? (uint8_t)sx_rng_below(rng, 1u << n) : 0;
}

static void draw_directives(sx_rng *rng, sx_mapping *m) {
    for (int s = 0; s < m->n_levels; s++) {
        sx_mapping_level *level = &m->level[s];
        if (s + 1 < m->n_levels) level->keep &= (uint8_t)~some_tensors(rng, m->n_tensors, 15);
        level->no_temporal_reuse = some_tensors(rng, m->n_tensors, 5);
        level->no_multicast = some_tensors(rng, m->n_tensors, 5);
        level->no_link_transfer = some_tensors(rng, m->n_tensors, 10);
        level->rmw_first_update = some_tensors(rng, m->n_tensors, 5);
    }
}

bool sx_random_legal(sx_rng *rng, const sx_model *model, unsigned flags, sx_mapping *out) {
    const sx_problem *problem = sx_model_problem(model);
    const sx_arch *arch = sx_model_arch(model);
    bool remainders = flags & SX_LEGAL_REMAINDERS;
    for (int tries = 0; tries < 50; tries++) {
        sx_mapping_init(out, problem, arch);
        for (int s = 0; s < out->n_levels; s++) {
            sx_rng_shuffle(rng, out->level[s].temporal_order, out->n_dims);
            sx_rng_shuffle(rng, out->level[s].spatial_order, out->n_dims);
            out->level[s].split = (uint8_t)sx_rng_below(rng, out->n_dims + 1u);
        }
        if (flags & SX_LEGAL_DIRECTIVES) draw_directives(rng, out);
        draw_factors(rng, problem, arch, remainders, out);
        for (int steps = 0; steps < 200; steps++) {
            cover(problem, out);
            sx_verdict verdict = sx_check(model, out);
            if (verdict.reason == SX_LEGAL) return true;
            if (verdict.reason != SX_CAPACITY) break;
            shrink(rng, out, verdict.level, remainders);
        }
    }
    return false;
}

void sx_catalog_model(const char *problem, const char *arch, sx_model **model,
                      sx_model_workspace **evaluator) {
    static sx_problem p;
    static sx_arch a;
    sx_expect_ok(strchr(problem, '[') ? sx_einsum_parse(problem, &p) : sx_catalog_problem(problem, &p));
    sx_expect_ok(sx_catalog_arch(arch, &a));
    sx_expect_ok(sx_model_new(&p, &a, NULL, model));
    sx_expect_ok(sx_model_workspace_new(*model, evaluator));
}
