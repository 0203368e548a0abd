/* Sunstone's parts: orders, unrollings, tiles, memories, and how many of each are left. */
#include "sextant/input.h"
#include "support/expect.h"
#include "support/small_map.h"
#include "support/sunstone_count.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char line[] = "O[k,p] += I[c,p+r]*W[k,c,r] {k:4,p:14,c:4,r:3}";
static const char conv[] =
    "Outputs[N,K,P,Q] += Inputs[N,C,P+R,Q+S]*Weights[K,C,R,S] {N:1,K:64,C:64,P:56,Q:56,R:3,S:3}";

/* The dimensions of a text of their names. */
static uint32_t dims(const sx_problem *problem, const char *names) {
    uint32_t mask = 0;
    for (; *names; names++) mask |= 1u << sx_problem_dim(problem, (const char[]){*names, 0});
    return mask;
}

/* The thesis' table 4.1, with the dimensions that a rank of their own keeps from partial reuse. */
static void reuse_is_inferred(void **state) {
    (void)state;
    sx_problem p;
    sx_sunstone_reuse reuse;
    sx_expect_ok(sx_einsum_parse(line, &p));
    sx_sunstone_infer(&p, &reuse);
    const char *const full[] = {"cr", "k", "p"}, *const partial[] = {"", "pr", ""};
    for (int v = 0; v < 3; v++) {
        int tensor = sx_problem_tensor(&p, (const char *[]){"O", "I", "W"}[v]);
        assert_int_equal(reuse.full[tensor], dims(&p, full[v]));
        assert_int_equal(reuse.partial[tensor], dims(&p, partial[v]));
    }
    sx_expect_ok(sx_einsum_parse("O[a] += X[a+b,b] * Y[2*a+c] {a:4,b:4,c:4}", &p));
    sx_sunstone_infer(&p, &reuse);
    assert_int_equal(reuse.partial[sx_problem_tensor(&p, "X")], dims(&p, "a"));
    assert_int_equal(reuse.partial[sx_problem_tensor(&p, "Y")], dims(&p, "ac"));
}

/* The thesis' table 4.2, and what the released code keeps of the problems that are not there. */
static void the_trie_keeps_as_many_orders_as_the_thesis(void **state) {
    (void)state;
    static const struct {
        const char *problem;
        size_t kept;
    } cases[] = {
        {"conv", 8},  {"depthwise", 8}, {"mttkrp", 7},
        {"sddmm", 3}, {"ttmc", 10},     {"mmc", 8},
        {"tcl", 36},  {line, 4},        {"O[m,n] += A[m,k]*B[k,n] {m:4,n:4,k:4}", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_problem p;
        sx_sunstone_orders *orders;
        bool text = strchr(cases[i].problem, '[') != NULL;
        sx_expect_ok(text ? sx_einsum_parse(cases[i].problem, &p) : sx_catalog_problem(cases[i].problem, &p));
        sx_expect_ok(sx_sunstone_orders_new(&p, true, &orders));
        assert_int_equal(sx_sunstone_orders_kept(orders), cases[i].kept);
        sx_sunstone_orders_free(orders);
    }
}

/* Figure 4.2: R then C, P, and K with P or R outside it. */
static void orders_of_a_line_are_those_of_the_figure(void **state) {
    (void)state;
    sx_problem p;
    sx_sunstone_orders *orders;
    size_t n, found = 0;
    sx_expect_ok(sx_einsum_parse(line, &p));
    sx_expect_ok(sx_sunstone_orders_new(&p, true, &orders));
    const uint8_t(*order)[SX_MAX_DIMS] = sx_sunstone_orders_of(orders, 0xf, &n);
    assert_int_equal(n, 4);
    for (size_t i = 0; i < n; i++) {
        char text[3] = {p.dim_name[order[i][0]][0], p.dim_name[order[i][1]][0], 0};
        found |= strcmp(text, "rc") == 0 ? 1u : text[0] == 'p' ? 2u : 0u;
        found |= strcmp(text, "kp") == 0 ? 4u : strcmp(text, "kr") == 0 ? 8u : 0u;
    }
    assert_int_equal(found, 15);
    order = sx_sunstone_orders_of(orders, dims(&p, "ck"), &n);
    assert_int_equal(n, 2);
    sx_sunstone_orders_of(orders, 0, &n);
    assert_int_equal(n, 1);
    sx_sunstone_orders_free(orders);
    sx_expect_ok(sx_sunstone_orders_new(&p, false, &orders));
    sx_sunstone_orders_of(orders, 0xf, &n);
    assert_int_equal(n, 24);
    sx_sunstone_orders_free(orders);
    sx_expect_ok(
        sx_einsum_parse("O[a,b,c] += X[d,e,f] * Y[g,h,i] {a:2,b:2,c:2,d:2,e:2,f:2,g:2,h:2,i:2}", &p));
    sx_expect_error(sx_sunstone_orders_new(&p, false, &orders), "order=on");
}

/* Whether a tile cannot grow, as plainly as can be. */
static bool is_maximal(const sx_sunstone_room *room, const sx_problem *p, const uint32_t *tile) {
    for (int d = 0; d < p->n_dims; d++) {
        uint32_t more[SX_MAX_DIMS];
        memcpy(more, tile, sizeof more);
        do more[d]++;
        while (more[d] <= p->size[d] && p->size[d] % more[d]);
        if (more[d] <= p->size[d] && sx_sunstone_fits(room, more)) return false;
    }
    return true;
}

/* Goes through all tiles and counts those that fit, and those of them that cannot grow. */
static void count_tiles(const sx_sunstone_room *room, const sx_problem *p, int d, uint32_t *tile, size_t *fit,
                        size_t *maximal) {
    if (d == p->n_dims) {
        *fit += sx_sunstone_fits(room, tile);
        *maximal += sx_sunstone_fits(room, tile) && is_maximal(room, p, tile);
        return;
    }
    for (tile[d] = 1; tile[d] <= p->size[d]; tile[d]++)
        if (p->size[d] % tile[d] == 0) count_tiles(room, p, d + 1, tile, fit, maximal);
    tile[d] = 1;
}

/* Figure 4.3's problem in memories of all sizes, one for all tensors or one for each. */
static void tiles_are_those_that_cannot_grow(void **state) {
    (void)state;
    static const char *const split[] = {"Outputs", "Weights", "Inputs"};
    for (unsigned entries = 2; entries <= 300; entries += entries < 20 ? 1 : 41) {
        char arch[800];
        int at = snprintf(arch, sizeof arch,
                          "arch:\n  name: a\n  arithmetic: {name: MAC, instances: 1}\n  storage:\n");
        for (int i = 0; i < 3; i++)
            at += snprintf(
                arch + at, sizeof arch - (size_t)at, "  - {name: L%d, instances: 1, entries: %u%s%s%s}\n", i,
                entries, entries % 2 ? "" : ", keep: [", entries % 2 ? "" : split[i], entries % 2 ? "" : "]");
        snprintf(arch + at, sizeof arch - (size_t)at, "  - {name: D, technology: DRAM, instances: 1}\n");
        sx_small_map m;
        sx_small_map_open(&m, "Outputs[k,p] += Inputs[c,p+r]*Weights[k,c,r] {k:4,p:14,c:4,r:3}", arch, NULL,
                          NULL);
        sx_sunstone_divisors divisors;
        sx_expect_ok(sx_sunstone_divisors_init(m.map->problem, &divisors));
        uint8_t keep[SX_MAX_LEVELS];
        sx_sunstone_room room = {.space = m.map, .keep = keep, .n_levels = 3, .level = {0, 1, 2}};
        for (int s = 0; s < 3; s++) keep[s] = m.map->free_keep[s];
        for (int s = 0; s < 3; s++)
            for (int d = 0; d < SX_MAX_DIMS; d++) room.inner[s][d] = 1;
        sx_vector tiles = {.size = sizeof(sx_sunstone_tile)};
        uint32_t most[SX_MAX_DIMS] = {100, 100, 100, 100}, one[SX_MAX_DIMS];
        for (int d = 0; d < SX_MAX_DIMS; d++) one[d] = 1;
        size_t fit = 0, maximal = 0;
        count_tiles(&room, m.map->problem, 0, one, &fit, &maximal);
        sx_sunstone_tiles(&room, &divisors, m.map->problem->size, most, false, 10000, NULL, &tiles);
        assert_int_equal(tiles.n, fit);
        tiles.n = 0;
        sx_sunstone_tiles(&room, &divisors, m.map->problem->size, most, true, 10000, NULL, &tiles);
        assert_int_equal(tiles.n, maximal);
        for (size_t i = 0; i < tiles.n; i++)
            assert_true(is_maximal(&room, m.map->problem, sx_vector_at(&tiles, i)));
        sx_vector_clear(&tiles);
        sx_sunstone_divisors_fini(&divisors);
        sx_small_map_close(&m);
    }
}

/* Whether a list has the unrolling of these factors on X and Y. */
static bool has(const sx_vector *list, const sx_problem *p, const char *dim, const uint32_t *factor) {
    for (size_t i = 0; i < list->n; i++) {
        const sx_sunstone_unrolling *u = sx_vector_at(list, i);
        bool same = true;
        for (int d = 0; d < p->n_dims; d++) {
            const char *at = strchr(dim, p->dim_name[d][0]);
            same = same && u->factor[d] == (at ? factor[at - dim] : 1);
        }
        if (same) return true;
    }
    return false;
}

static void unrollings_follow_their_rules(void **state) {
    (void)state;
    sx_small_map m;
    sx_sunstone_divisors divisors;
    sx_small_map_open(&m, conv, "eyeriss", NULL, NULL);
    const sx_problem *p = m.map->problem;
    sx_expect_ok(sx_sunstone_divisors_init(p, &divisors));
    size_t count[3];
    for (int rule = 0; rule < 3; rule++) {
        sx_vector list = {.size = sizeof(sx_sunstone_unrolling)};
        sx_sunstone_unroll(m.map, &divisors, 3, p->size, (sx_sunstone_spread)rule, 100000, &list);
        count[rule] = list.n;
        for (size_t i = 0; i < list.n; i++) {
            const sx_sunstone_unrolling *u = sx_vector_at(&list, i);
            uint64_t x = 1, y = 1;
            for (int d = 0; d < p->n_dims; d++) *(u->on_x >> d & 1 ? &x : &y) *= u->factor[d];
            assert_true(x <= 14 && y <= 12);
            if (rule == SX_SPREAD_TENSOR) assert_true(x == 14);
            for (size_t j = 0; j < i; j++)
                assert_memory_not_equal(u->factor, ((sx_sunstone_unrolling *)sx_vector_at(&list, j))->factor,
                                        sizeof u->factor);
        }
        assert_true(has(&list, p, "PKR", (const uint32_t[]){14, 4, 3}));
        assert_int_equal(has(&list, p, "PKRC", (const uint32_t[]){7, 2, 3, 4}), rule != SX_SPREAD_TENSOR);
        assert_int_equal(has(&list, p, "PKRC", (const uint32_t[]){2, 2, 1, 1}), rule == SX_SPREAD_ALL);
        sx_vector_clear(&list);
    }
    assert_true(10 * count[0] < count[2] && count[0] < count[1] && count[1] < count[2]);
    sx_sunstone_divisors_fini(&divisors);
    sx_small_map_close(&m);
}

static void levels_of_one_tensor_each_are_one_memory(void **state) {
    (void)state;
    static const struct {
        const char *arch;
        int n, last[4], parts[3];
    } cases[] = {
        {"eyeriss", 3, {2, 3, 4}, {1, 0, 0}},
        {"simba", 4, {0, 3, 4, 5}, {1, 1, 0}},
        {"edge-unified", 3, {0, 1, 2}, {1, 0, 0}},
        {"accel-b", 3, {0, 1, 2}, {2, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_small_map m;
        sx_sunstone plan;
        sx_objective objective;
        sx_sunstone_switches on = {.order = true, .limit = 100};
        sx_expect_ok(sx_objective_parse("edp", &objective));
        sx_small_map_open(&m, conv, cases[i].arch, NULL, NULL);
        sx_expect_ok(sx_sunstone_init(m.map, &objective, &on, &plan));
        assert_int_equal(plan.n_memories, cases[i].n);
        for (int k = 0; k < plan.n_memories; k++) assert_int_equal(plan.memory[k].last, cases[i].last[k]);
        for (int k = 0; k < plan.n_stages; k++) assert_int_equal(plan.stage[k].n_parts, cases[i].parts[k]);
        sx_sunstone_fini(&plan);
        on.uneven = true;
        sx_expect_ok(sx_sunstone_init(m.map, &objective, &on, &plan));
        assert_int_equal(plan.n_memories, m.map->arch->n_levels);
        assert_int_equal(plan.stage[0].n_parts, cases[i].parts[0]);
        assert_int_equal(sx_sunstone_uneven(m.map), cases[i].n < m.map->arch->n_levels);
        sx_sunstone_fini(&plan);
        sx_small_map_close(&m);
    }
}

/* Section 6.5: the techniques one after the other. */
static void each_technique_leaves_less(void **state) {
    (void)state;
    const char *const archs[] = {"eyeriss", "edge-unified"};
    for (size_t a = 0; a < 2; a++) {
        sx_small_map m;
        sx_sunstone_counters before, after;
        sx_sunstone_switches on = {.limit = 1e6};
        sx_small_map_open(&m, conv, archs[a], NULL, NULL);
        sx_expect_ok(sx_sunstone_count(m.space, &on, &before));
        assert_true(before.orders.exact && before.orders.low == 720);
        double all = before.mappings.log10;
        on.order = true;
        sx_expect_ok(sx_sunstone_count(m.space, &on, &after));
        assert_true(after.orders.low == 8 && after.unrollings.low == before.unrollings.low);
        assert_true(after.mappings.log10 < before.mappings.log10 - 2);
        before = after;
        on.unrolling = true;
        sx_expect_ok(sx_sunstone_count(m.space, &on, &after));
        assert_true(after.unrollings.low * 10 < before.unrollings.low);
        before = after;
        on.tiles = on.alphabeta = true;
        sx_expect_ok(sx_sunstone_count(m.space, &on, &after));
        assert_true(after.tiles.log10 < before.tiles.log10 - 0.5);
        assert_true(after.mappings.log10 < all - 6);
        assert_true(after.evaluated > 0 && log10((double)after.evaluated) < after.complete.log10 - 1.5);
        sx_small_map_close(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reuse_is_inferred),
        cmocka_unit_test(the_trie_keeps_as_many_orders_as_the_thesis),
        cmocka_unit_test(orders_of_a_line_are_those_of_the_figure),
        cmocka_unit_test(tiles_are_those_that_cannot_grow),
        cmocka_unit_test(unrollings_follow_their_rules),
        cmocka_unit_test(levels_of_one_tensor_each_are_one_memory),
        cmocka_unit_test(each_technique_leaves_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
