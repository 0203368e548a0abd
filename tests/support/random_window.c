#include "support/random_window.h"

#include "support/expect.h"
#include "support/plain_arch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LEVELS = 3, MOST_SIBLINGS = 16, LARGE = 144 };

/* True in `percent` of a hundred draws. */
static bool chance(sx_rng *rng, unsigned percent) {
    return sx_rng_below(rng, 100) < percent;
}

/* A coefficient that is not 0. */
static int32_t draw_coef(sx_rng *rng) {
    int32_t coef = chance(rng, 60) ? 1 : (int32_t)sx_rng_range(rng, 2, 4);
    return chance(rng, 15) ? -coef : coef;
}

/* A tensor of a few ranks of one to three dimensions. */
static void draw_tensor(sx_rng *rng, const sx_problem *p, sx_tensor *t) {
    t->n_ranks = (uint8_t)sx_rng_range(rng, 1, 3);
    bool shared = chance(rng, 20);
    unsigned used = 0;
    for (int r = 0; r < t->n_ranks; r++) {
        int64_t terms = sx_rng_range(rng, 1, 3), found = 0;
        for (int tries = 0; tries < 20 && found < terms; tries++) {
            uint64_t d = sx_rng_below(rng, p->n_dims);
            if (!shared && used >> d & 1) continue;
            used |= 1u << d;
            t->coef[r][d] = draw_coef(rng);
            found++;
        }
        if (found) continue;
        t->n_ranks = (uint8_t)r;
        break;
    }
}

static void draw_problem(sx_rng *rng, sx_problem *p) {
    memset(p, 0, sizeof *p);
    snprintf(p->name, SX_NAME_SIZE, "window");
    p->n_dims = (uint8_t)sx_rng_range(rng, 1, 4);
    for (int d = 0; d < p->n_dims; d++) snprintf(p->dim_name[d], SX_NAME_SIZE, "%c", 'A' + d);
    p->n_tensors = 3;
    for (int v = 0; v < 3; v++) {
        snprintf(p->tensor[v].name, SX_NAME_SIZE, "T%d", v);
        p->tensor[v].output = v == 2;
        draw_tensor(rng, p, &p->tensor[v]);
    }
}

static uint64_t product(const uint32_t *factor, int n) {
    uint64_t all = 1;
    for (int d = 0; d < n; d++) all *= factor[d];
    return all;
}

/* Drops small factors into slots until there are enough loops, then sets the sizes. No dimension has size 1:
 * the model leaves those out of its ranks. */
static void draw_factors(sx_rng *rng, bool remainders, sx_problem *p, sx_mapping *m) {
    uint64_t units = 1, most = chance(rng, 10) ? LARGE : MOST_SIBLINGS;
    int64_t loops = sx_rng_range(rng, 1, 7);
    unsigned spatial = (unsigned)sx_rng_range(rng, 0, 60);
    for (int64_t i = 0; i < loops; i++) {
        sx_mapping_level *level = &m->level[sx_rng_below(rng, LEVELS)];
        uint64_t d = sx_rng_below(rng, p->n_dims);
        uint32_t factor = (uint32_t)sx_rng_range(rng, 2, chance(rng, 70) ? 3 : 5);
        bool fits = product(level->spatial, p->n_dims) * factor <= most && units * factor <= 4 * most;
        if (!chance(rng, spatial) || !fits) {
            level->temporal[d] *= factor;
        } else {
            level->spatial[d] *= factor;
            units *= factor;
        }
    }
    for (int d = 0; d < p->n_dims; d++) {
        if (sx_mapping_extent(m, LEVELS - 1, d) == 1) m->level[LEVELS - 1].temporal[d] = 2;
        uint64_t whole = sx_mapping_extent(m, LEVELS - 1, d), least = 1, step = 1;
        for (int s = 0; s < LEVELS; s++) {
            const uint32_t factor[] = {m->level[s].spatial[d], m->level[s].temporal[d]};
            for (int k = 0; k < 2; step *= factor[k], k++)
                if ((factor[k] - 1) * step >= least) least = (factor[k] - 1) * step + 1;
        }
        p->size[d] =
            (uint32_t)(remainders ? sx_rng_range(rng, (int64_t)least, (int64_t)whole) : (int64_t)whole);
    }
}

static void draw_mapping(sx_rng *rng, sx_mapping *m) {
    for (int s = 0; s < LEVELS; s++) {
        sx_mapping_level *level = &m->level[s];
        sx_rng_shuffle(rng, level->temporal_order, m->n_dims);
        sx_rng_shuffle(rng, level->spatial_order, m->n_dims);
        level->split = (uint8_t)sx_rng_below(rng, m->n_dims + 1u);
    }
}

/* Meshes with room for the spatial loops, sometimes for more. */
static void draw_meshes(sx_rng *rng, const sx_mapping *m, sx_arch *a) {
    uint64_t x = 1, y = 1;
    for (int s = LEVELS - 1; s >= -1; s--) {
        *(s < 0 ? &a->compute.mesh_x : &a->level[s].mesh_x) = x;
        *(s < 0 ? &a->compute.mesh_y : &a->level[s].mesh_y) = y;
        *(s < 0 ? &a->compute.instances : &a->level[s].instances) = x * y;
        if (s < 0) break;
        for (int i = 0; i < m->n_dims; i++)
            *(i < m->level[s].split ? &x : &y) *= m->level[s].spatial[m->level[s].spatial_order[i]];
        if (chance(rng, 30)) x *= (uint64_t)sx_rng_range(rng, 2, 3);
        if (chance(rng, 30)) y *= (uint64_t)sx_rng_range(rng, 2, 3);
    }
}

void sx_random_window(sx_rng *rng, bool remainders, sx_window *out) {
    sx_arch *a = &out->arch;
    sx_plain_arch(a, LEVELS);
    draw_problem(rng, &out->problem);
    for (int d = 0; d < out->problem.n_dims; d++) out->problem.size[d] = 1;
    sx_mapping_init(&out->mapping, &out->problem, a);
    draw_mapping(rng, &out->mapping);
    draw_factors(rng, remainders, &out->problem, &out->mapping);
    draw_meshes(rng, &out->mapping, a);
    sx_expect_ok(sx_model_new(&out->problem, a, NULL, &out->model));
    sx_verdict verdict = sx_nest_build(out->model, &out->mapping, &out->nest);
    if (verdict.reason != SX_LEGAL) print_error("%s\n", sx_reason_name(verdict.reason));
    assert_int_equal(verdict.reason, SX_LEGAL);
}

void sx_window_fini(sx_window *window) {
    sx_model_free(window->model);
}

void sx_window_move(const sx_window *window, int tensor, const sx_loop *loop, int64_t *move) {
    const sx_tensor *t = &window->problem.tensor[tensor];
    for (int r = 0; r < t->n_ranks; r++) move[r] = (int64_t)t->coef[r][loop->dim] * loop->step;
}

void sx_window_extent(const sx_window *window, int tensor, int level, int64_t *extent) {
    const sx_tensor *t = &window->problem.tensor[tensor];
    for (int r = 0; r < t->n_ranks; r++) {
        extent[r] = 1;
        for (int d = 0; level >= 0 && d < window->problem.n_dims; d++) {
            int64_t reach = (int64_t)sx_mapping_extent(&window->mapping, level, d);
            if (reach > window->problem.size[d]) reach = window->problem.size[d];
            extent[r] += labs(t->coef[r][d]) * (reach - 1);
        }
    }
}
