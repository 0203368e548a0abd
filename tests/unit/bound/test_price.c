/* What flows cost, and what is taken off of them for rounding to whole words. */
#include "bound/price.h"

#include "support/expect.h"
#include "support/small_map.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* An array of 4 units with two levels of registers below a buffer. */
static const char array[] = "arch:\n  arithmetic: {name: MAC, instances: 4, meshX: 4}\n"
                            "  storage:\n"
                            "  - {name: Near, entries: 8, instances: 4, meshX: 4}\n"
                            "  - {name: RF, entries: 8, instances: 4, meshX: 4}\n"
                            "  - {name: Buffer, entries: 4096, instances: 1}\n";

/* What is taken off the reads of A at the buffer, which cost 1 each, for the way to Near where RF bypasses it; p and r are
 * spread over a given number of units. */
static double spared(const sx_model *model, uint32_t p, uint32_t r) {
    enum { NEAR, RF, BUFFER, A = 1 };
    sx_bound *bound;
    sx_outline_bound *bounds;
    sx_outline outline;
    sx_access_cost prices[SX_MAX_LEVELS] = {[BUFFER] = {.read = 1}};
    memset(&outline, 0, sizeof outline);
    for (int s = 0; s < 3; s++)
        for (int d = 0; d < SX_MAX_DIMS; d++) outline.spatial[s][d] = 1;
    outline.spatial[BUFFER][0] = p;
    outline.spatial[BUFFER][1] = r;
    outline.keep[NEAR] = outline.keep[BUFFER] = 7;
    sx_expect_ok(sx_bound_new(model, NULL, 1 << 20, &bound));
    sx_expect_ok(sx_outline_bound_new(bound, &bounds));
    sx_outline_bound_begin(bounds, &outline);
    sx_transfer route = sx_transfer_make(bounds, A, NEAR, BUFFER, prices);
    double words = sx_transfer_spared(bounds, &route, prices);
    sx_outline_bound_free(bounds);
    sx_bound_free(bound);
    return words;
}

/* Of 2 x 2 units along the window p + r two share a word and two do not: what RF's children ask for comes to a fraction of
 * a word at the buffer, of which rounding takes up to a half. 4 units along one dimension have words of their own. */
static void half_a_word_is_lost_where_groups_differ(void **state) {
    (void)state;
    sx_small_map map;
    sx_small_map_open(&map, "Z[p] += A[p+r]*B[r] {p:8,r:8}", array, NULL, NULL);
    assert_true(spared(map.model, 2, 2) == 0.5);
    assert_true(spared(map.model, 4, 1) == 0);
    assert_true(spared(map.model, 1, 4) == 0);
    sx_small_map_close(&map);
}

static void expect_price(sx_transfer_price have, double moves, double extra, double stays) {
    if (fabs(have.moves - moves) + fabs(have.extra - extra) + fabs(have.stays - stays) > 1e-9)
        fail_msg("%g, %g, %g", have.moves, have.extra, have.stays);
}

/* Of a flow at prices of 10 for a read outside and 1 for a fill, of 4 instances: a word that all children of a group of 2 share
 * is read for half of them. Where a part of them has it from neighbours, which read it for 3, that part is handed on by one of
 * the instances. */
static void words_are_read_for_groups(void **state) {
    (void)state;
    const sx_transfer r = {.read = 10, .fill = 1, .peer = 3, .instances = 4};
    sx_least_traffic traffic = {
        .words = 100, .groups = 0.5, .most = 2, .fewest = 2, .own = 1, .outer = 1, .n_first = -1};
    expect_price(sx_transfer_cost(&r, &traffic, 7), 600, 0, 600);
    traffic.own = 0.25; /* 0.125 groups; 0.25 filled from outside, 0.75 handed on at the same price */
    expect_price(sx_transfer_cost(&r, &traffic, 7), 100 * (1.25 + 0.25 + 0.75), 0, 600);
    traffic.renewed = true;
    expect_price(sx_transfer_cost(&r, &traffic, 7), 225, 0, 225);
    traffic.renewed = false;
    traffic.outer = 3;
    expect_price(sx_transfer_cost(&r, &traffic, 7), 100 * (3.75 + 1), 0, 1600);
    traffic = (sx_least_traffic){
        .words = 100, .groups = 0.5, .most = 4, .fewest = 1, .own = 0.25, .outer = 1, .n_first = -1};
    /* between 0.25 and 1: below the kink at 2/3 groups of 4, beyond it those of 1 that are left */
    expect_price(sx_transfer_cost(&r, &traffic, 7), 100 * (0.625 + 1), 0, 600);
}

/* The cheapest loop outside the tile, of those on some dimensions, and what others add. */
static void first_loops_differ(void **state) {
    (void)state;
    const sx_transfer r = {.read = 10, .fill = 4, .peer = 4, .instances = 8};
    const sx_least_traffic traffic = {
        .words = 100,
        .all = 50,
        .groups = 1,
        .most = 1,
        .fewest = 1,
        .own = 0.5,
        .outer = 1,
        .n_first = 2,
        .first = {{.dims = 1, .groups = 0.5, .own = 0.5, .words = 1, .more_groups = 0.125, .more_own = 0.25},
                  {.dims = 2, .groups = 0.25, .own = 0.25, .words = 1, .more_groups = 0.5, .more_own = 0.5}}};
    /* a word: 10 for a group, 3 more for a fill of its own, 1 handed on */
    expect_price(sx_transfer_cost(&r, &traffic, 1), 50 * (5 + 1.5 + 1), 50 * (1.25 + 0.75), 1400);
    expect_price(sx_transfer_cost(&r, &traffic, 2), 50 * (2.5 + 0.75 + 1), 50 * (5 + 1.5), 1400);
    expect_price(sx_transfer_cost(&r, &traffic, 3), 212.5, 162.5 + 100, 1400);
    expect_price(sx_transfer_cost(&r, &traffic, 4), 700, 0, 1400);
    const sx_transfer dear = {.read = 10, .fill = 1, .peer = 5, .instances = 2}; /* 3 handed on, 1 filled */
    expect_price(sx_transfer_cost(&dear, &traffic, 1), 50 * (8 * 0.5 + 3), 50 * (8 * 0.125), 1100);
    const sx_transfer dearer = {.read = 1, .fill = 1, .peer = 5, .instances = 2}; /* nothing is saved */
    expect_price(sx_transfer_cost(&dearer, &traffic, 1), 100, 0, 200);
}

/* Inputs are read outside, outputs updated and read there; a neighbour reads an input's word only. */
static void flows_have_prices(void **state) {
    (void)state;
    enum { NEAR, RF, BUFFER, Z = 0, A = 1 };
    sx_small_map map;
    sx_bound *bound;
    sx_outline_bound *bounds;
    sx_outline outline;
    const sx_access_cost prices[SX_MAX_LEVELS] = {[RF] = {.read = 3, .fill = 5, .update = 7, .hops = 11},
                                                  [BUFFER] = {.read = 100, .fill = 200, .update = 400}};
    sx_access_cost energy[SX_MAX_LEVELS];
    sx_small_map_open(&map, "Z[p] += A[p+r]*B[r] {p:8,r:8}", array, NULL, NULL);
    memset(&outline, 0, sizeof outline);
    for (int s = 0; s < 3; s++) {
        for (int d = 0; d < SX_MAX_DIMS; d++) outline.spatial[s][d] = 1;
        outline.keep[s] = 7;
    }
    outline.spatial[BUFFER][0] = 4;
    sx_expect_ok(sx_bound_new(map.model, NULL, 1 << 20, &bound));
    sx_expect_ok(sx_outline_bound_new(bound, &bounds));
    sx_outline_bound_begin(bounds, &outline);
    sx_transfer in = sx_transfer_make(bounds, A, RF, BUFFER, prices);
    assert_true(in.read == 100 && in.spared == 5 && in.fill == 16 && in.instances == 1);
    assert_true(in.peer == 3 * bound->alone[A]);
    sx_transfer out = sx_transfer_make(bounds, Z, RF, BUFFER, prices);
    assert_true(out.read == 500 && out.spared == 5 && out.fill == 16 && out.peer == 0);
    sx_transfer units = sx_transfer_make(bounds, A, -1, RF, prices);
    assert_true(units.read == 3 && units.spared == 0 && units.fill == 0 && units.peer == 0 &&
                units.instances == 4);
    /* What a format leaves of a word, and a word without it, where the format is a choice: the cheaper one counts. */
    sx_access_cost_energy(bounds, A, energy);
    const double read = energy[RF].read, fill = energy[RF].fill;
    assert_true(read > 0 && fill > 0);
    for (int choice = 0; choice < 3; choice++) {
        static const double held[] = {0.5, 3, 3}, plain[] = {1, 1, 0}, left[] = {0.5, 1, 3};
        bound->held[RF][A] = held[choice];
        bound->plain[RF][A] = plain[choice];
        sx_access_cost_energy(bounds, A, energy);
        assert_true(fabs(energy[RF].read - left[choice] * read) < 1e-9 * read);
        assert_true(fabs(energy[RF].fill - left[choice] * fill) < 1e-9 * fill);
    }
    sx_outline_bound_free(bounds);
    sx_bound_free(bound);
    sx_small_map_close(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_read_for_groups),
        cmocka_unit_test(first_loops_differ),
        cmocka_unit_test(flows_have_prices),
        cmocka_unit_test(half_a_word_is_lost_where_groups_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
