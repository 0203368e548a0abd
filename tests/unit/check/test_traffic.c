/* From flows to accesses in exact fractions, by hand: levels that keep a tensor or pass it on, links, rounding and its edges. */
#include "check/traffic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LEVELS = 3, A = 0, O = 1 };

/* Three levels over one input and one output, of 60 words each; flows and what levels keep are the tests' own. */
typedef struct fixture {
    sx_check_case c;
    sx_check_nest nest;
    sx_mapping mapping;
    sx_check_flow flow[LEVELS];
    sx_check_counts counts[LEVELS];
} fixture;

/* Flow s has a given number of accesses for words that come to `delivered` for all children together. */
static void set_flow(fixture *f, int s, int64_t accesses, int64_t delivered, int64_t children) {
    f->flow[s].accesses = accesses;
    f->flow[s].delivered = delivered;
    f->flow[s].children = children;
    f->flow[s].n_terms = 1;
}

static fixture *make_fixture(uint8_t keep0, uint8_t keep1) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->c.machine.n_levels = LEVELS;
    f->c.problem.n_tensors = 2;
    f->c.problem.tensor[O].output = true;
    for (int s = 0; s < LEVELS; s++) {
        f->mapping.level[s].keep = s == 0 ? keep0 : s == 1 ? keep1 : 3;
        f->nest.used[s] = 1;
        for (int v = 0; v < 2; v++) f->nest.tile[s][v] = f->nest.spread_tile[s][v] = 60;
    }
    return f;
}

static bool collapse(fixture *f, int tensor) {
    sx_check_doubt doubt = {""};
    bool good = sx_check_collapse(&f->c, &f->nest, &f->mapping, tensor, f->flow, f->counts, &doubt);
    assert_int_equal(good, !doubt.why[0]);
    return good;
}

/* Fails where the counts of a level are others. */
static void expect_counts(const fixture *f, int s, int64_t reads, int64_t fills, int64_t updates) {
    const int64_t *count = f->counts[s].access;
    if (count[SX_READ] != reads || count[SX_FILL] != fills || count[SX_UPDATE] != updates)
        fail_msg("level %d: %lld, %lld, %lld", s, (long long)count[SX_READ], (long long)count[SX_FILL],
                 (long long)count[SX_UPDATE]);
}

static void expect_edges(const fixture *f, int s, bool reads, bool fills, bool updates) {
    const bool *edge = f->counts[s].edge;
    if (edge[SX_READ] != reads || edge[SX_FILL] != fills || edge[SX_UPDATE] != updates)
        fail_msg("level %d: edges %d, %d, %d", s, edge[SX_READ], edge[SX_FILL], edge[SX_UPDATE]);
}

/* Kept everywhere, the accesses of a level are those of its children, and a child is filled with its share. An output's words
 * are updated by children, and all but the first of each are read before, and come from outside. */
static void kept_levels_count_their_flows(void **state) {
    (void)state;
    fixture *f = make_fixture(3, 3);
    set_flow(f, 0, 240, 240, 1);
    set_flow(f, 1, 120, 480, 4); /* 120 for each of 4 */
    set_flow(f, 2, 90, 180, 2);  /* 90 for each of 2 */
    assert_true(collapse(f, A));
    expect_counts(f, 0, 240, 120, 0);
    expect_counts(f, 1, 120, 90, 0);
    expect_counts(f, 2, 90, 0, 0);
    assert_true(collapse(f, O));
    expect_counts(f, 0, 240 - 60, 120 - 60, 240);
    expect_counts(f, 1, 120 - 60, 90 - 60, 120);
    expect_counts(f, 2, 90 - 60, 0, 90);
    for (int s = 0; s < LEVELS; s++) {
        assert_true(f->counts[s].linked && f->counts[s].flows && f->counts[s].binary);
        assert_int_equal(f->counts[s].partition, 60);
        expect_edges(f, s, false, false, false);
    }
    f->mapping.level[1].rmw_first_update = 1 << O;
    assert_true(collapse(f, O));
    expect_counts(f, 0, 180, 60, 240);
    expect_counts(f, 1, 120, 90, 120);
    f->mapping.level[1].rmw_first_update = 1 << A; /* of the other tensor */
    f->c.no_first_read_elision = true;
    assert_true(collapse(f, O));
    expect_counts(f, 0, 240, 120, 240);
    expect_counts(f, 2, 90, 0, 90);
    free(f);
}

/* A level that spreads a tensor over its children leaves each of them a part of the words. */
static void children_have_parts(void **state) {
    (void)state;
    fixture *f = make_fixture(3, 3);
    for (int s = 0; s < LEVELS; s++) set_flow(f, s, 100, 100, 1);
    f->nest.first_spatial[3] = 1; /* a spatial loop at level 2 */
    f->nest.tile[1][O] = 10;
    f->nest.spread_tile[2][O] = 30;
    assert_true(collapse(f, O));
    assert_int_equal(f->counts[2].partition, 60);
    assert_int_equal(f->counts[1].partition, 20);
    assert_int_equal(f->counts[0].partition, 20);
    expect_counts(f, 1, 80, 80, 100);
    expect_counts(f, 2, 40, 0, 100);
    free(f);
}

/* A bypassed level passes the accesses from inside on: those outside are as many as its children ask for, by the share of
 * its own flow that each access serves; links below it are lost. */
static void bypassed_levels_pass_on(void **state) {
    (void)state;
    fixture *f = make_fixture(3, 2); /* level 1 has no A */
    set_flow(f, 0, 50, 50, 1);
    set_flow(f, 1, 70, 280, 4);
    set_flow(f, 2, 11, 33, 3);
    assert_true(collapse(f, A));
    expect_counts(f, 0, 50, 70, 0);
    expect_counts(f, 1, 0, 0, 0);
    expect_counts(f, 2, 70, 0, 0); /* 11 * 70 * 3 / 33 */
    assert_int_equal(f->counts[1].partition, 0);
    assert_true(f->counts[1].linked && !f->counts[2].linked);
    assert_true(f->counts[2].share.num * 11 == 70 * f->counts[2].share.den);
    assert_false(f->counts[2].binary); /* 70 / 11 */
    assert_true(f->counts[0].binary && f->counts[1].binary);
    f->mapping.level[2].keep = 2; /* kept at level 0 alone: nothing flows outside */
    assert_true(collapse(f, A));
    expect_counts(f, 0, 50, 0, 0);
    expect_counts(f, 2, 0, 0, 0);
    assert_true(f->counts[0].flows && !f->counts[1].flows && !f->counts[2].flows && !f->counts[1].linked);
    free(f);
}

/* Fills of inputs are rounded down, all else to the nearest, halves up. Where doubles cannot hold the parts, a count that
 * lies on the edge may come to one less. */
static void parts_of_words_are_rounded(void **state) {
    (void)state;
    fixture *f = make_fixture(3, 3);
    set_flow(f, 0, 500, 500, 1);
    set_flow(f, 1, 300, 601, 2); /* 300.5 for each of 2 */
    set_flow(f, 2, 200, 600, 3); /* 200 for each of 3 */
    for (int several = 0; several < 2; several++) {
        f->flow[1].n_terms = f->flow[2].n_terms = 1 + several;
        assert_true(collapse(f, A));
        expect_counts(f, 0, 500, 300, 0);
        expect_edges(f, 0, false, false, false); /* halves are exact in doubles */
        expect_counts(f, 1, 300, 200, 0);
        expect_edges(f, 1, false, several, false); /* thirds are not, and 200 is whole */
        assert_true(collapse(f, O));
        expect_counts(f, 0, 440, 241, 500); /* 240.5 */
        expect_edges(f, 0, false, false, false);
        expect_counts(f, 1, 240, 140, 300);
        expect_edges(f, 1, false, false, false); /* not on a half */
    }
    free(f);
}

/* Words that neighbours hand on are read and filled by all instances in use, in equal parts. */
static void links_are_shared_by_instances(void **state) {
    (void)state;
    fixture *f = make_fixture(3, 3);
    for (int s = 0; s < LEVELS; s++) set_flow(f, s, 100, 100, 1);
    f->flow[1].links = 45;
    f->nest.used[0] = 6;
    assert_true(collapse(f, A));
    expect_counts(f, 0, 108, 107, 0); /* 7.5 */
    expect_edges(f, 0, true, false, false);
    expect_counts(f, 1, 100, 100, 0);
    assert_true(collapse(f, O));
    expect_counts(f, 0, 48, 48, 100);
    expect_edges(f, 0, true, true, false);
    f->nest.used[0] = 2;
    f->flow[1].links = 15;
    assert_true(collapse(f, O));
    expect_counts(f, 0, 48, 48, 100);
    expect_edges(f, 0, false, false, false);
    free(f);
}

/* Where the model's doubles are known, a count on the edge is that of the model or one more than it. */
static void edges_are_settled_by_doubles(void **state) {
    (void)state;
    fixture *f = make_fixture(3, 3);
    for (int s = 0; s < LEVELS; s++) {
        set_flow(f, s, 100, 100, 1);
        f->flow[s].n_records = 1;
        f->flow[s].record[0].accesses = 100;
        f->flow[s].record[0].size = 1;
    }
    f->flow[1].links = 45;
    f->nest.used[0] = 6;
    assert_true(collapse(f, O)); /* 47.5 reads and fills */
    expect_edges(f, 0, true, true, false);
    assert_false(f->counts[0].open || f->counts[0].less[SX_READ] || f->counts[0].less[SX_FILL]);
    f->flow[1].links = 2;
    f->nest.used[0] = 1;
    f->flow[1].record[0].accesses = 97; /* another sum than the count's */
    f->flow[1].n_terms = 2;
    f->flow[1].delivered = 301;
    f->flow[1].children = 3;
    assert_true(collapse(f, A));
    expect_counts(f, 0, 102, 102, 0);
    expect_edges(f, 0, false, false, false);
    f->flow[1].delivered = 300;
    f->flow[1].record[0].size = 3;
    assert_true(collapse(f, A));
    expect_edges(f, 0, false, true, false);
    assert_true(f->counts[0].open); /* 99 in doubles */
    f->flow[1].record[0].accesses = 99;
    assert_true(collapse(f, A));
    assert_true(f->counts[0].less[SX_FILL] && !f->counts[0].open); /* 101 */
    free(f);
}

/* Counts beyond what is counted are undecided. */
static void large_counts_are_undecided(void **state) {
    (void)state;
    fixture *f = make_fixture(3, 3);
    for (int s = 0; s < LEVELS; s++) set_flow(f, s, 100, 100, 1);
    f->flow[0].accesses = INT64_MAX / 2;
    assert_true(collapse(f, A));
    f->flow[0].accesses++;
    assert_false(collapse(f, A));
    free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_levels_count_their_flows), cmocka_unit_test(children_have_parts),
        cmocka_unit_test(bypassed_levels_pass_on),       cmocka_unit_test(parts_of_words_are_rounded),
        cmocka_unit_test(links_are_shared_by_instances), cmocka_unit_test(edges_are_settled_by_doubles),
        cmocka_unit_test(large_counts_are_undecided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
