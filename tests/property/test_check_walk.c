/* The independent checker's walk (T8), outline by outline: of all mappings of a random small space with the same spatial
 * factors and kept tensors it must meet one as cheap as the cheapest, and none that is cheaper. So whatever it passes
 * over, orders and layouts of equal cost (T7) and what bounds close, has a mapping that stands for it:
 * test_check_walk [count [seed]]. */
#include "support/check_space.h"
#include "support/compared.h"
#include "support/expect.h"
#include "support/plain_arch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct settings {
    uint64_t count, seed;
} settings;

/* How often something came out. */
typedef struct tally {
    uint64_t outlines, walks, open;
} tally;

/* A case and what is worked out from it. */
typedef struct outline_test {
    sx_check_case *c;
    sx_check_space space;
    sx_check_shape shape;
    sx_check_cost *cost; /* of each mapping of the list */
    const sx_small_space *small;
    uint64_t number;
} outline_test;

/* Whether two mappings have the same outline. */
static bool same_outline(const sx_mapping *a, const sx_mapping *b) {
    for (int s = 0; s < a->n_levels; s++) {
        if (a->level[s].keep != b->level[s].keep) return false;
        for (int d = 0; d < a->n_dims; d++)
            if (a->level[s].spatial[d] != b->level[s].spatial[d]) return false;
    }
    return true;
}

/* Walks the outline of a mapping for a target; whether a mapping below it is met. */
static bool walk_outline(outline_test *t, const sx_mapping *mapping, const sx_check_target *target,
                         bool *open) {
    static const sx_independent_options options = {.threads = 1};
    sx_check_outline o = {.space = &t->space, .shape = &t->shape};
    sx_check_spatial spatial;
    sx_check_lattice lattice = {0};
    sx_check_work work = {.space = &t->space, .shape = &t->shape, .options = &options, .target = *target};
    sx_check_found found = {0};
    for (int s = 0; s < t->space.n_levels; s++) {
        o.keep[s] = mapping->level[s].keep;
        for (int d = 0; d < t->space.n_dims; d++) spatial.factor[s][d] = mapping->level[s].spatial[d];
        work.latency += t->c->machine.level[s].fill_latency + t->c->machine.level[s].drain_latency;
    }
    o.spatial = &spatial;
    sx_check_outline_spread(&o);
    sx_expect_ok(sx_check_find_links(&o));
    sx_check_find_neighbours(&o);
    sx_check_energy_prices(t->c, &work.energy);
    sx_expect_ok(sx_check_lattice_points(&lattice, &o));
    sx_check_walk(&work, &lattice, &o, &found);
    sx_expect_ok(found.status);
    sx_check_lattice_fini(&lattice);
    *open |= found.doubt.why[0] != 0;
    return found.below || found.rounded;
}

/* Walks the outline of a mapping with the least energy and the least cycles of it as targets, and with one unit more. */
static void check_outline(outline_test *t, const sx_mapping_list *list, size_t index, tally *sum) {
    const sx_mapping *mapping = &list->mapping[index];
    sx_wide energy = t->cost[index].energy;
    int64_t cycles = t->cost[index].cycles;
    bool open = false;
    for (size_t i = 0; i < list->n; i++) {
        if (!same_outline(mapping, &list->mapping[i])) continue;
        if (t->cost[i].energy < energy) energy = t->cost[i].energy;
        if (t->cost[i].cycles < cycles) cycles = t->cost[i].cycles;
    }
    const sx_check_goal goals[2] = {{1, 0}, {0, 1}};
    sum->outlines++;
    for (int i = 0; i < 2; i++) {
        sx_check_target target = {.goal = goals[i], .value = i ? cycles : energy};
        if (walk_outline(t, mapping, &target, &open))
            sx_fail_case(t->small, t->number, "a walk", "meets a mapping that the space does not have");
        target.value += i ? 2 : 1; /* the model may add a cycle, so that one more is not below */
        if (!walk_outline(t, mapping, &target, &open) && !open)
            sx_fail_case(t->small, t->number, i ? "cycles" : "energy",
                         "a walk passes over the cheapest mapping");
        sum->walks += !open;
        sum->open += open;
    }
}

/* Checks some outlines of a space. */
static void check_space(sx_rng *rng, const sx_small_space *small, uint64_t number, tally *sum) {
    enum { OUTLINES = 16 };
    sx_mapping_list list;
    sx_check_doubt doubt;
    sx_list_mappings(small, &list);
    outline_test t = {.small = small, .number = number, .cost = calloc(list.n + 1, sizeof *t.cost)};
    assert_non_null(t.cost);
    if (list.n) {
        sx_check_evaluator *evaluator;
        t.c = sx_check_case_of(small, "edp", &list, 0, NULL, 0, &doubt);
        sx_expect_ok(sx_check_space_init(&t.space, t.c));
        sx_check_shape_init(&t.shape, t.c, &doubt);
        sx_expect_ok(sx_check_evaluator_new(t.c, &evaluator));
        for (size_t i = 0; i < list.n && !doubt.why[0]; i++)
            if (sx_check_evaluator_cost(evaluator, &list.mapping[i], &t.cost[i], &doubt) == SX_COST_ILLEGAL)
                sx_fail_case(small, number, "a mapping of the space is illegal", doubt.why);
        for (int i = 0; i < OUTLINES && !doubt.why[0]; i++)
            check_outline(&t, &list, sx_rng_below(rng, list.n), sum);
        sx_check_evaluator_free(evaluator);
        sx_check_space_fini(&t.space);
        sx_check_case_free(t.c);
    }
    free(t.cost);
    sx_free_mappings(&list);
}

/* Makes the space of what was drawn; false where it is too large to list. */
static bool make_space(sx_small_space *small) {
    sx_cardinal most = {.exact = true, .low = 4 * SX_MOST_MAPPINGS - 1};
    sx_expect_ok(sx_model_new(&small->c.problem, &small->c.arch, &small->c.options, &small->model));
    sx_expect_ok(sx_map_space_new(small->model, &small->limits, &small->options, &small->space));
    void *point = malloc(sx_space_point_size(small->space));
    bool large = sx_space_at(small->space, &most, point);
    free(point);
    if (large) sx_small_space_fini(small);
    return !large;
}

/* Draws a matrix product on an array of memories or units where orders and layouts may matter: neighbours hand words on,
 * or hops cost energy, and some tensors are fetched anew or are not multicast. */
static void draw_array_space(sx_rng *rng, sx_small_space *small) {
    do {
        char text[80];
        sx_arch *a = &small->c.arch;
        memset(small, 0, sizeof *small);
        snprintf(text, sizeof text, "O[m,n] += A[m,k]*B[k,n] {m:%d,n:%d,k:%d}", (int)sx_rng_range(rng, 1, 4),
                 (int)sx_rng_range(rng, 1, 4), (int)sx_rng_range(rng, 1, 6));
        sx_expect_ok(sx_einsum_parse(text, &small->c.problem));
        sx_plain_arch(a, 2);
        sx_plain_mesh(a, (int)sx_rng_below(rng, 2), (uint64_t)sx_rng_range(rng, 2, 4),
                      (uint64_t)sx_rng_range(rng, 1, 3));
        sx_constraints_init(&small->limits, &small->c.problem, a);
        for (int s = 0; s < 2; s++) {
            sx_level_limits *limits = &small->limits.level[s];
            a->level[s].read_energy = (double)sx_rng_range(rng, 0, 9);
            a->level[s].fill_energy = (double)sx_rng_range(rng, 0, 3);
            a->level[s].update_energy = (double)sx_rng_range(rng, 0, 9);
            if (sx_rng_below(rng, 2)) a->level[s].energy_per_hop = (double)sx_rng_range(rng, 0, 5);
            if (sx_rng_below(rng, 2)) limits->no_temporal_reuse = (uint8_t)sx_rng_below(rng, 8);
            if (sx_rng_below(rng, 2)) limits->no_multicast = (uint8_t)sx_rng_below(rng, 8);
        }
        small->options.keep_all = true;
        small->c.options.no_link_transfers = sx_rng_below(rng, 4) == 0;
    } while (!make_space(small));
}

static void walks_meet_the_cheapest(void **state) {
    const settings *set = *state;
    tally t = {0};
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "walk", i);
        sx_small_space small;
        if (i % 2)
            draw_array_space(&rng, &small);
        else
            sx_draw_check_space(&rng, &small);
        check_space(&rng, &small, i, &t);
        sx_small_space_fini(&small);
    }
    print_message("%llu outlines, %llu walks, %llu undecided\n", (unsigned long long)t.outlines,
                  (unsigned long long)t.walks, (unsigned long long)t.open);
    sx_expect_compared("walks", t.walks, set->count * 4);
}

int main(int argc, char **argv) {
    settings set = {argc > 1 ? strtoull(argv[1], NULL, 10) : 500, argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(walks_meet_the_cheapest, &set)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
