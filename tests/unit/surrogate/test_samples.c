/* Data sets: the same samples whatever the threads, in memory and in files, resumed and refused. */
#include "support/expect.h"
#include "surrogate/samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char family_text[] =
    "family: {einsum: 'O[m,n] += A[m,k]*B[k,n]', ranges: {m: 4..12/4, n: 8, k: [2, 4, 6]}}";

/* A data set of two shards and what it is made of. */
typedef struct ground {
    sx_arch arch;
    sx_family family;
    sx_samples_options options;
    char folder[64], path[128];
} ground;

static int set_up(void **state) {
    ground *g = calloc(1, sizeof *g);
    assert_non_null(g);
    sx_expect_ok(sx_catalog_arch("accel-b", &g->arch));
    sx_expect_ok(sx_family_parse("f", family_text, strlen(family_text), &g->family));
    g->options = (sx_samples_options){.arch = &g->arch,
                                      .family = &g->family,
                                      .seed = 3,
                                      .stream = "train",
                                      .n_problems = SX_SHARD_PROBLEMS + 50,
                                      .per_problem = 3};
    strcpy(g->folder, "/tmp/sx-samples-XXXXXX");
    assert_non_null(mkdtemp(g->folder));
    snprintf(g->path, sizeof g->path, "%s/train-00001.shard", g->folder);
    *state = g;
    return 0;
}

static int tear_down(void **state) {
    ground *g = *state;
    unlink(g->path);
    g->path[strlen(g->path) - 7] = '0';
    unlink(g->path);
    rmdir(g->folder);
    free(g);
    return 0;
}

/* Compares all samples of a data set with those of another. */
static void expect_same(const ground *g, const sx_samples *expected) {
    sx_samples *is;
    const sx_encoding *e = sx_samples_encoding(expected);
    sx_expect_ok(sx_samples_new(&g->options, &is));
    assert_true(sx_samples_complete(is));
    assert_int_equal(sx_samples_count(is), 3 * g->options.n_problems);
    for (uint64_t i = 0; i < sx_samples_count(is); i++)
        assert_memory_equal(sx_samples_row(is, i), sx_samples_row(expected, i),
                            (e->n_inputs + e->n_outputs) * sizeof(float));
    sx_samples_free(is);
}

static void samples_depend_on_seed_and_index_alone(void **state) {
    ground *g = *state;
    sx_samples *expected;
    sx_expect_ok(sx_samples_new(&g->options, &expected));
    g->options.threads = 3;
    expect_same(g, expected);
    g->options.folder = g->folder;
    expect_same(g, expected);
    expect_same(g, expected);
    /* a shard that is gone, and one that is damaged, are made again */
    assert_int_equal(unlink(g->path), 0);
    expect_same(g, expected);
    FILE *file = fopen(g->path, "r+");
    assert_non_null(file);
    fseek(file, 200, SEEK_SET);
    fputc('x', file);
    fclose(file);
    expect_same(g, expected);
    assert_int_equal(truncate(g->path, 300), 0);
    expect_same(g, expected);
    sx_samples_free(expected);
}

/* A longer data set begins with the samples of a shorter one. */
static void more_samples_begin_with_the_same(void **state) {
    ground *g = *state;
    sx_samples *all, *few;
    sx_expect_ok(sx_samples_new(&g->options, &all));
    g->options.n_problems = 5;
    sx_expect_ok(sx_samples_new(&g->options, &few));
    assert_int_equal(sx_samples_count(few), 15);
    assert_memory_equal(sx_samples_row(few, 14), sx_samples_row(all, 14), sizeof(float) * 20);
    g->options.stream = "held";
    sx_samples *held;
    sx_expect_ok(sx_samples_new(&g->options, &held));
    assert_memory_not_equal(sx_samples_row(few, 0), sx_samples_row(held, 0), sizeof(float) * 20);
    sx_samples_free(held);
    sx_samples_free(few);
    sx_samples_free(all);
}

static void shards_of_another_data_set_are_refused(void **state) {
    ground *g = *state;
    sx_samples *samples;
    g->options.folder = g->folder;
    sx_expect_ok(sx_samples_new(&g->options, &samples));
    sx_samples_free(samples);
    g->options.seed = 4;
    sx_expect_error(sx_samples_new(&g->options, &samples), "another data set");
    g->options.seed = 3;
    g->options.space.keep_all = true;
    sx_expect_error(sx_samples_new(&g->options, &samples), "another data set");
    FILE *file = fopen(g->path, "w");
    fputs("something else entirely, but not a shard at all, and longer than the head of one is", file);
    fclose(file);
    g->options.space.keep_all = false;
    sx_expect_error(sx_samples_new(&g->options, &samples), "not a shard");
}

static void a_cancelled_data_set_has_whole_shards(void **state) {
    ground *g = *state;
    const sx_cancel stop = {1};
    sx_samples *samples;
    g->options.cancel = &stop;
    sx_expect_ok(sx_samples_new(&g->options, &samples));
    assert_false(sx_samples_complete(samples));
    assert_int_equal(sx_samples_count(samples), 0);
    sx_samples_free(samples);
}

static void a_family_without_legal_mappings_is_refused(void **state) {
    ground *g = *state;
    sx_samples *samples;
    sx_arch *arch = &g->arch;
    for (int s = 0; s < arch->n_levels; s++) arch->level[s].entries = 1;
    g->options.space.keep_all = true;
    sx_expect_error(sx_samples_new(&g->options, &samples), "no legal mapping");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(samples_depend_on_seed_and_index_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(more_samples_begin_with_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shards_of_another_data_set_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cancelled_data_set_has_whole_shards, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_family_without_legal_mappings_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("samples", tests, NULL, NULL);
}
