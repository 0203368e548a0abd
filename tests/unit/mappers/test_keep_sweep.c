/* Sweeps over what is kept: searches that use them say the same as searches that score one mapping after another, as
 * they do where a recorder stands before the model. */
#include "support/expect.h"
#include "support/small_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char product[] = "O[m,n] += A[m,k]*B[k,n] {m:4,n:6,k:2}";
static const char window[] = "O[p,q] += I[p+r]*W[r,q] {p:6,q:4,r:3}";
static const char conv[] = "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:2,k:8,c:8,p:14,q:14,r:3,s:3}";

/* Levels of limited bandwidth. */
static const char narrow[] =
    "arch:\n"
    "  name: narrow\n"
    "  arithmetic: {name: MAC, instances: 4, word-bits: 16, energy: 1.0}\n"
    "  storage:\n"
    "  - {name: L1, instances: 4, entries: 16, vector-access-energy: 1.5, read_bandwidth: 2}\n"
    "  - {name: L2, instances: 1, entries: 64, vector-access-energy: 8}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, vector-access-energy: 100, read_bandwidth: 4}\n";

/* A search of a space by a model (NULL: its own). */
static sx_run *search(const sx_small_map *m, const sx_point_model *model, const char *navigator,
                      const char *objective, uint64_t evaluations) {
    sx_run_options options;
    sx_run *run;
    sx_run_options_init(&options);
    sx_expect_ok(sx_objective_parse(objective, &options.objective));
    options.seed = 5;
    options.evaluations = evaluations;
    sx_expect_ok(sx_run_new(m->space, model, &options, &run));
    sx_expect_ok(sx_run_search(run, navigator));
    return run;
}

/* Searches the space by its own model and by way of a recorder; both must say the same. */
static void compare(const char *problem, const char *arch, const char *navigator, const char *objective,
                    uint64_t evaluations) {
    sx_small_map m;
    sx_found x, y;
    sx_small_map_open(&m, problem, arch, NULL, NULL);
    sx_expect_ok(sx_recorder_new(m.space, NULL, 1, &m.recorder));
    sx_run *swept = search(&m, NULL, navigator, objective, evaluations);
    sx_run *single = search(&m, sx_recorder_model(m.recorder), navigator, objective, evaluations);
    sx_run_summary a = sx_run_result(swept), b = sx_run_result(single);
    assert_true(a.evaluations > 100 && a.valid > 0);
    assert_int_equal(a.evaluations, b.evaluations);
    assert_int_equal(a.valid, b.valid);
    assert_int_equal(a.rejected, b.rejected);
    assert_int_equal(a.optimal, b.optimal);
    assert_true(sx_run_best(swept, 0, &x) && sx_run_best(single, 0, &y));
    assert_true(x.value == y.value);
    assert_memory_equal(x.point, y.point, m.space->point_size);
    sx_run_free(swept);
    sx_run_free(single);
    sx_small_map_close(&m);
}

static void pruned_says_the_same(void **state) {
    (void)state;
    const char *const ways[] = {"pruned:victory=0,timeout=0", "pruned:victory=0,timeout=0,keeps=0",
                                "pruned:victory=0,timeout=0,keeps=3,classes=off", "pruned"};
    const char *const archs[] = {"accel-a", "eyeriss", "simba", "edge-unified", narrow};
    const char *const objectives[] = {"edp", "energy", "delay", "ed2p"};
    for (size_t a = 0; a < 5; a++)
        for (size_t i = 0; i < 4; i++) compare(conv, archs[a], ways[i], objectives[(a + i) % 4], 3000);
}

static void exhaustive_says_the_same(void **state) {
    (void)state;
    compare(product, narrow, "exhaustive", "edp", 0);
    compare(window, narrow, "exhaustive", "edp", 0);
    compare(window, narrow, "exhaustive", "energy", 20000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pruned_says_the_same),
        cmocka_unit_test(exhaustive_says_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
