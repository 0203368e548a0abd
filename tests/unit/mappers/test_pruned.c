/* Random-pruned search: which mappings it looks at, and when it ends. */
#include "support/expect.h"
#include "support/small_map.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char two_levels[] =
    "arch:\n"
    "  name: two-levels\n"
    "  arithmetic: {name: MAC, instances: 4, word-bits: 16, energy: 1.0}\n"
    "  storage:\n"
    "  - {name: L1, instances: 4, entries: 16, vector-access-energy: 1.5}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, vector-access-energy: 100}\n";
static const char product[] = "O[m,n] += A[m,k]*B[k,n] {m:4,n:6,k:2}";
static const char conv[] = "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:2,k:8,c:8,p:14,q:14,r:3,s:3}";

/* Whether two mappings have the same factors. */
static bool same_factors(const sx_mapping *a, const sx_mapping *b) {
    for (int s = 0; s < a->n_levels; s++)
        if (memcmp(a->level[s].temporal, b->level[s].temporal, sizeof a->level[s].temporal) != 0 ||
            memcmp(a->level[s].spatial, b->level[s].spatial, sizeof a->level[s].spatial) != 0)
            return false;
    return true;
}

static bool same_orders(const sx_mapping *a, const sx_mapping *b) {
    for (int s = 0; s < a->n_levels; s++)
        if (memcmp(a->level[s].temporal_order, b->level[s].temporal_order, SX_MAX_DIMS) != 0) return false;
    return true;
}

static bool same_keeps(const sx_mapping *a, const sx_mapping *b) {
    for (int s = 0; s < a->n_levels; s++)
        if (a->level[s].keep != b->level[s].keep) return false;
    return true;
}

/* How many points that a mapping shares its factors with have different orders (or, with `keeps`, different
 * kept tensors). */
static size_t count_kin(const sx_small_map *m, const sx_mapping *mapping, bool keeps) {
    const sx_mapping *seen[256], *other;
    size_t n = 0;
    for (size_t i = 0; (other = sx_small_map_point(m, i)); i++) {
        if (!same_factors(other, mapping)) continue;
        bool known = false;
        for (size_t j = 0; j < n; j++)
            known = known || (keeps ? same_keeps(seen[j], other) : same_orders(seen[j], other));
        if (known) continue;
        assert_true(n < 256);
        seen[n++] = other;
    }
    return n;
}

static void spatial_loops_fit_each_level(void **state) {
    (void)state;
    const char *const archs[] = {"accel-b", "eyeriss", "mind-mappings"};
    for (size_t a = 0; a < 3; a++) {
        sx_small_map m;
        const sx_mapping *mapping;
        sx_small_map_open(&m, conv, archs[a], NULL, NULL);
        sx_run_summary summary = sx_small_map_search(&m, "pruned:victory=0,timeout=0", 1, 3000, NULL);
        assert_int_equal(summary.evaluations, 3000);
        assert_int_equal(summary.valid, 3000);
        for (size_t i = 0; (mapping = sx_small_map_point(&m, i)); i++)
            for (int s = 0; s < mapping->n_levels; s++) {
                const sx_mapping_level *at = &mapping->level[s];
                uint64_t used[2] = {1, 1};
                for (int d = 0; d < mapping->n_dims; d++)
                    used[d >= at->split] *= at->spatial[at->spatial_order[d]];
                assert_true(used[0] <= sx_arch_fanout_x(m.map->arch, s));
                assert_true(used[1] <= sx_arch_fanout_y(m.map->arch, s));
            }
        sx_small_map_close(&m);
    }
}

static void permutations_are_limited_and_differ(void **state) {
    (void)state;
    sx_small_map m;
    sx_small_map_open(&m, conv, "accel-b", NULL, NULL);
    for (size_t limit = 1; limit <= 16; limit *= 4) {
        char text[100];
        const sx_mapping *mapping;
        snprintf(text, sizeof text, "pruned:victory=0,timeout=0,keeps=0,classes=off,permutations=%zu", limit);
        sx_small_map_search(&m, text, 1, 1500, NULL);
        size_t full = 0, n = 0;
        for (; (mapping = sx_small_map_point(&m, n)); n++) {
            size_t kin = n % 50 ? limit : count_kin(&m, mapping, false);
            assert_true(kin <= limit);
            full += kin == limit;
        }
        assert_true(full * 10 > n * 8);
    }
    sx_small_map_close(&m);
}

static void all_that_fits_is_kept_in_turn(void **state) {
    (void)state;
    sx_small_map m;
    sx_small_map_open(&m, product, two_levels, NULL, NULL);
    sx_small_map_search(&m, "pruned:victory=0,timeout=0,keeps=0,permutations=1", 1, 700, NULL);
    const sx_mapping *mapping;
    void *copy = malloc(m.space->point_size);
    assert_non_null(copy);
    for (size_t i = 0; (mapping = sx_small_map_point(&m, i)); i++) {
        size_t legal = 0;
        memcpy(copy, mapping, m.space->point_size);
        for (unsigned keep = 0; keep < 8; keep++) {
            sx_map_level(copy, 0)->keep = (uint8_t)keep;
            legal += sx_space_legal(m.space, copy, NULL, 0);
        }
        assert_int_equal(count_kin(&m, mapping, true), legal);
    }
    free(copy);
    sx_small_map_close(&m);
}

static void victory_ends_it(void **state) {
    (void)state;
    sx_small_map m;
    sx_small_map_open(&m, conv, "accel-b", NULL, NULL);
    double few, many;
    sx_run_summary soon = sx_small_map_search(&m, "pruned:victory=20", 1, 0, &few);
    sx_run_summary late = sx_small_map_search(&m, "pruned:victory=5000", 1, 0, &many);
    assert_int_equal(soon.stop, SX_STOP_DONE);
    assert_int_equal(late.stop, SX_STOP_DONE);
    assert_in_range(soon.evaluations, 20, 20000);
    assert_true(late.evaluations > 5000 && late.evaluations > soon.evaluations);
    assert_true(many <= few);
    sx_small_map_close(&m);
}

static void finds_the_best_of_a_small_space(void **state) {
    (void)state;
    const char *const ways[] = {"pruned:victory=0,timeout=0", "pruned:victory=0,timeout=0,classes=off",
                                "pruned:victory=0,timeout=0,keeps=0,classes=off"};
    sx_small_map m;
    sx_small_map_open(&m, product, two_levels, NULL, NULL);
    double optimum, best;
    assert_true(sx_small_map_search(&m, "exhaustive", 1, 0, &optimum).optimal);
    for (size_t i = 0; i < 3; i++) {
        sx_small_map_search(&m, ways[i], 1, 50000, &best);
        assert_true(best == optimum);
    }
    sx_small_map_close(&m);
}

/* L1 holds three words: one of each tensor, and nothing else is legal when all is kept. */
static const char tight[] = "arch:\n"
                            "  name: tight\n"
                            "  arithmetic: {name: MAC, instances: 4, word-bits: 16, energy: 1.0}\n"
                            "  storage:\n"
                            "  - {name: L1, instances: 4, entries: 3, vector-access-energy: 1.5}\n"
                            "  - {name: DRAM, technology: DRAM, instances: 1, vector-access-energy: 100}\n";

static void timeouts_end_it_but_not_before_something_is_found(void **state) {
    (void)state;
    const sx_map_space_options keep_all = {.keep_all = true};
    sx_small_map m;
    sx_small_map_open(&m, "O[m,n] += A[m,k]*B[k,n] {m:4096,n:4096,k:4096}", tight, NULL, &keep_all);
    for (uint64_t seed = 0; seed < 3; seed++) {
        double best;
        sx_run_summary summary = sx_small_map_search(&m, "pruned:timeout=5", seed, 10000, &best);
        assert_int_equal(summary.stop, SX_STOP_DONE);
        assert_true(best < INFINITY);
    }
    sx_small_map_close(&m);
}

static void impossible_spaces_end_it(void **state) {
    (void)state;
    sx_small_map m, free_one;
    sx_small_map_open(&free_one, product, two_levels, NULL, NULL);
    sx_constraints constraints;
    sx_constraints_init(&constraints, free_one.map->problem, free_one.map->arch);
    constraints.level[0].must_keep = 7;
    constraints.level[0].temporal.min[0] = 4;
    constraints.level[0].temporal.min[1] = 6;
    sx_small_map_open(&m, product, two_levels, &constraints, NULL);
    for (int timeout = 0; timeout < 2; timeout++) {
        double best;
        sx_run_summary summary =
            sx_small_map_search(&m, timeout ? "pruned" : "pruned:timeout=0", 1, 10000, &best);
        assert_int_equal(summary.stop, SX_STOP_DONE);
        assert_int_equal(summary.valid, 0);
        assert_true(best == INFINITY);
    }
    sx_small_map_close(&m);
    sx_small_map_close(&free_one);
}

static void tiles_that_no_deal_of_banks_holds_end_it(void **state) {
    (void)state;
    static const char banked[] =
        "arch:\n"
        "  name: banked\n"
        "  arithmetic: {name: MAC, instances: 1, word-bits: 16, energy: 1.0}\n"
        "  storage:\n"
        "  - {name: L1, instances: 1, entries: 8, banks: 4, vector-access-energy: 1.5}\n"
        "  - {name: DRAM, technology: DRAM, instances: 1, vector-access-energy: 100}\n";
    sx_small_map m, free_one;
    double best;
    sx_small_map_open(&free_one, product, banked, NULL, NULL);
    sx_constraints limits;
    sx_constraints_init(&limits, free_one.map->problem, free_one.map->arch);
    limits.level[0].must_keep = 7;
    limits.level[0].temporal.min[1] = 6;
    sx_small_map_open(&m, product, banked, &limits, NULL);
    sx_run_summary summary = sx_small_map_search(&m, "pruned", 1, 1000, &best);
    assert_int_equal(summary.stop, SX_STOP_DONE);
    assert_true(best == INFINITY);
    sx_small_map_close(&m);
    sx_small_map_close(&free_one);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spatial_loops_fit_each_level),
        cmocka_unit_test(permutations_are_limited_and_differ),
        cmocka_unit_test(all_that_fits_is_kept_in_turn),
        cmocka_unit_test(victory_ends_it),
        cmocka_unit_test(finds_the_best_of_a_small_space),
        cmocka_unit_test(timeouts_end_it_but_not_before_something_is_found),
        cmocka_unit_test(impossible_spaces_end_it),
        cmocka_unit_test(tiles_that_no_deal_of_banks_holds_end_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
