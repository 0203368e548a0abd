/* Partitions against marking every word that every instance ever holds. */
#include "model/remainders/partition.h"
#include "support/compared.h"
#include "support/plain_arch.h"
#include "support/random_window.h"
#include "support/sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CASES = SX_SANITIZED ? 2000 : 10000, MOST_BITS = 1 << 20 };

/* Marks what instances of a level hold of a tensor, one bit of `held` per instance and word. */
typedef struct marker {
    const sx_window *w;
    int tensor, level;
    uint64_t words;
    int64_t low[SX_MAX_RANKS], extent[SX_MAX_RANKS]; /* of the whole tensor */
    bool *held;
} marker;

/* Marks the tile that starts at an iteration, for one instance. */
static void mark(marker *m, const int64_t *start, uint64_t instance) {
    const sx_problem *p = &m->w->problem;
    const sx_tensor *t = &p->tensor[m->tensor];
    int64_t low[SX_MAX_RANKS], high[SX_MAX_RANKS], at[SX_MAX_RANKS];
    for (int r = 0; r < t->n_ranks; r++) {
        low[r] = high[r] = -m->low[r];
        for (int d = 0; d < p->n_dims; d++) {
            int64_t end = start[d] + (int64_t)sx_mapping_extent(&m->w->mapping, m->level, d) - 1;
            if (end >= p->size[d]) end = p->size[d] - 1;
            low[r] += t->coef[r][d] * (t->coef[r][d] > 0 ? start[d] : end);
            high[r] += t->coef[r][d] * (t->coef[r][d] > 0 ? end : start[d]);
        }
        at[r] = low[r];
    }
    for (int r = 0; r >= 0;) {
        uint64_t word = 0;
        for (int k = 0; k < t->n_ranks; k++) word = word * (uint64_t)m->extent[k] + (uint64_t)at[k];
        m->held[instance * m->words + word] = true;
        for (r = t->n_ranks - 1; r >= 0 && ++at[r] > high[r]; r--) at[r] = low[r];
    }
}

/* Runs the loops outside the level from an outer one in: temporal loop t - 1 and spatial loop p - 1 are the
 * next. */
static void run(marker *m, int t, int p, int64_t *start, uint64_t instance) {
    const sx_nest *nest = &m->w->nest;
    int last_t = nest->temporal_of[m->level + 1], last_p = nest->spatial_of[m->level + 1];
    if (t == last_t && p == last_p) {
        mark(m, start, instance);
        return;
    }
    bool temporal = t > last_t && (p == last_p || nest->temporal[t - 1].level >= nest->spatial[p - 1].level);
    const sx_loop *loop = temporal ? &nest->temporal[t - 1] : &nest->spatial[p - 1];
    int64_t from = start[loop->dim];
    for (uint32_t i = 0; i < loop->n && start[loop->dim] < m->w->problem.size[loop->dim]; i++) {
        run(m, t - temporal, p - !temporal, start, temporal ? instance : instance * loop->n + i);
        start[loop->dim] += loop->step;
    }
    start[loop->dim] = from;
}

/* The words all instances ever hold, each for itself; -1 where that is too much to mark. */
static double count(const sx_window *w, int tensor, int level) {
    const sx_tensor *t = &w->problem.tensor[tensor];
    marker m = {.w = w, .tensor = tensor, .level = level, .words = sx_problem_words(&w->problem, tensor)};
    uint64_t instances = w->nest.above[level], held = 0;
    int64_t start[SX_MAX_DIMS] = {0};
    if (m.words * instances > MOST_BITS) return -1;
    for (int r = 0; r < t->n_ranks; r++) {
        m.extent[r] = 1;
        for (int d = 0; d < w->problem.n_dims; d++) {
            int64_t reach = t->coef[r][d] * (int64_t)(w->problem.size[d] - 1);
            m.extent[r] += llabs(reach);
            m.low[r] += reach < 0 ? reach : 0;
        }
    }
    m.held = calloc(m.words * instances, sizeof *m.held);
    assert_non_null(m.held);
    run(&m, w->nest.n_temporal, w->nest.n_spatial, start, 0);
    for (uint64_t i = 0; i < m.words * instances; i++) held += m.held[i];
    free(m.held);
    return (double)held;
}

static void partitions_are_what_instances_hold(void **state) {
    (void)state;
    sx_window *w = malloc(sizeof *w);
    assert_non_null(w);
    uint64_t compared = 0;
    for (uint64_t i = 0; i < CASES; i++) {
        sx_rng rng = sx_rng_stream(1, "partition", i);
        sx_random_window(&rng, i % 4 != 0, w);
        for (int v = 0; v < 3; v++)
            for (int s = 0; s < 3; s++) {
                double truth = count(w, v, s);
                if (truth < 0) continue;
                double found = sx_partition_words(w->model, &w->nest, &w->mapping, v, s, NULL);
                if (found != truth)
                    print_error("case %d, tensor %d, level %d: %g, not %g\n", (int)i, v, s, found, truth);
                assert_true(found == truth);
                compared++;
            }
        sx_window_fini(w);
    }
    sx_expect_compared("partitions", compared, 5 * CASES);
    free(w);
}

/* 7 outputs over 3 units in tiles of 2: the first unit holds 0 and 1, then 6, the others 2 each; with 3
 * filter taps each tile takes two inputs more. */
static void instances_at_the_edge_hold_less(void **state) {
    (void)state;
    enum { P, R };
    sx_window *w = malloc(sizeof *w);
    assert_non_null(w);
    sx_plain_arch(&w->arch, 2);
    sx_plain_mesh(&w->arch, 1, 3, 1);
    sx_plain_problem("O[p] += I[p+r]*W[r] {p:7,r:3}", &w->arch, &w->problem, &w->mapping);
    w->mapping.level[0].temporal[P] = 2;
    w->mapping.level[0].temporal[R] = 3;
    w->mapping.level[1].spatial[P] = 3;
    w->mapping.level[1].temporal[P] = 2;
    w->mapping.level[1].split = 2;
    assert_null(sx_model_new(&w->problem, &w->arch, NULL, &w->model));
    assert_int_equal(sx_nest_build(w->model, &w->mapping, &w->nest).reason, SX_LEGAL);
    assert_true(sx_partition_words(w->model, &w->nest, &w->mapping, 0, 0, NULL) == 7);
    assert_true(sx_partition_words(w->model, &w->nest, &w->mapping, 1, 0, NULL) == (4 + 3) + 4 + 4);
    assert_true(sx_partition_words(w->model, &w->nest, &w->mapping, 2, 0, NULL) == 9);
    assert_true(sx_partition_words(w->model, &w->nest, &w->mapping, 1, 1, NULL) == 9);
    sx_window_fini(w);
    free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partitions_are_what_instances_hold),
        cmocka_unit_test(instances_at_the_edge_hold_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
