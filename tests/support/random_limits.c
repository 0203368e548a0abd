#include "support/random_limits.h"

#include <stdio.h>
#include <string.h>

/* True in `percent` of a hundred draws. */
static bool chance(sx_rng *rng, unsigned percent) {
    return sx_rng_below(rng, 100) < percent;
}

/* A divisor of a number, small ones as likely as large ones. */
static uint32_t divisor(sx_rng *rng, uint32_t size) {
    uint32_t d = (uint32_t)sx_rng_range(rng, 1, size);
    while (size % d) d--;
    return d;
}

/* Limits of a slot's factors and order. */
static void draw_loops(sx_rng *rng, const sx_problem *problem, sx_loop_limits *limits) {
    uint8_t dims[SX_MAX_DIMS];
    for (int d = 0; d < problem->n_dims; d++) {
        dims[d] = (uint8_t)d;
        if (chance(rng, 8)) limits->max[d] = divisor(rng, problem->size[d]);
        if (chance(rng, 5)) limits->min[d] = divisor(rng, problem->size[d]);
        if (limits->min[d] > limits->max[d]) limits->min[d] = limits->max[d];
        limits->rest[d] = chance(rng, 4);
    }
    if (!chance(rng, 25)) return;
    sx_rng_shuffle(rng, dims, problem->n_dims);
    limits->n_inner = (uint8_t)sx_rng_below(rng, problem->n_dims + 1u);
    limits->n_outer = (uint8_t)sx_rng_below(rng, problem->n_dims - limits->n_inner + 1u);
    memcpy(limits->inner, dims, limits->n_inner);
    memcpy(limits->outer, dims + limits->n_inner, limits->n_outer);
}

/* A mask of tensors, mostly empty. */
static uint8_t draw_tensors(sx_rng *rng, const sx_problem *problem) {
    return chance(rng, 8) ? (uint8_t)sx_rng_below(rng, 1u << problem->n_tensors) : 0;
}

void sx_random_limits(sx_rng *rng, const sx_problem *problem, const sx_arch *arch, sx_constraints *out) {
    sx_constraints_init(out, problem, arch);
    for (int s = 0; s < arch->n_levels; s++) {
        sx_level_limits *level = &out->level[s];
        draw_loops(rng, problem, &level->temporal);
        draw_loops(rng, problem, &level->spatial);
        if (chance(rng, 20)) level->split = (int8_t)sx_rng_below(rng, problem->n_dims + 1u);
        if (chance(rng, 10)) level->must_keep = (uint8_t)(1u << sx_rng_below(rng, problem->n_tensors));
        if (chance(rng, 10)) level->must_bypass = (uint8_t)(1u << sx_rng_below(rng, problem->n_tensors));
        if (chance(rng, 7)) level->min_utilization = sx_rng_double(rng) / 4;
        if (chance(rng, 7)) level->min_parallelism = sx_rng_double(rng) / 2;
        level->no_temporal_reuse = draw_tensors(rng, problem);
        level->no_multicast = draw_tensors(rng, problem);
        level->no_link_transfer = draw_tensors(rng, problem);
        level->rmw_first_update = draw_tensors(rng, problem);
    }
}

void sx_limits_text(const sx_constraints *constraints, char *text, size_t size) {
    size_t at = 0;
    if (size > 0) *text = 0;
    for (int s = 0; s < constraints->n_levels; s++) {
        const sx_level_limits *level = &constraints->level[s];
        if (at < size)
            at += (size_t)snprintf(text + at, size - at,
                                   "level %d: split %d keep %x bypass %x use %g spread %g no %x %x %x rmw %x",
                                   s, level->split, level->must_keep, level->must_bypass,
                                   level->min_utilization, level->min_parallelism, level->no_temporal_reuse,
                                   level->no_multicast, level->no_link_transfer, level->rmw_first_update);
        for (int spatial = 0; spatial < 2; spatial++) {
            const sx_loop_limits *limits = spatial ? &level->spatial : &level->temporal;
            for (int d = 0; d < constraints->n_dims && at < size; d++)
                if (limits->min[d] > 1 || limits->max[d] < SX_MAX_DIM_SIZE || limits->rest[d])
                    at += (size_t)snprintf(text + at, size - at, "; %c%d in %u..%u%s", spatial ? 's' : 't', d,
                                           limits->min[d], limits->max[d], limits->rest[d] ? " rest" : "");
        }
        if (at < size) at += (size_t)snprintf(text + at, size - at, "\n");
    }
}
