/* One model, several threads. */
#include "sextant/model.h"
#include "support/expect.h"
#include "support/random_legal.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 4, MAPPINGS = 400 };

/* One thread's part: all mappings, on an evaluator of its own. */
typedef struct worker {
    pthread_t thread;
    const sx_mapping *mapping;
    sx_model_workspace *evaluator;
    sx_cost cost;
    sx_score whole[MAPPINGS], score[MAPPINGS];
    sx_verdict verdict[MAPPINGS];
} worker;

static void *work(void *data) {
    worker *w = data;
    for (int i = 0; i < MAPPINGS; i++) {
        memset(&w->whole[i], 0, sizeof w->whole[i]);
        if (sx_evaluate(w->evaluator, &w->mapping[i], &w->cost).reason == SX_LEGAL)
            w->whole[i] = sx_cost_score(&w->cost);
    }
    sx_evaluate_batch(w->evaluator, w->mapping, MAPPINGS, w->score, w->verdict);
    return NULL;
}

/* Mappings of all kinds; some illegal. */
static void draw(const sx_model *model, sx_mapping *mapping) {
    for (uint64_t i = 0; i < MAPPINGS; i++) {
        sx_rng rng = sx_rng_stream(1, "threads", i);
        unsigned flags = (i % 2 ? SX_LEGAL_DIRECTIVES : 0) | (i % 8 == 0 ? SX_LEGAL_REMAINDERS : 0);
        assert_true(sx_random_legal(&rng, model, flags, &mapping[i]));
        if (i % 16 == 3) mapping[i].level[0].temporal[0]++;
    }
}

static void run_on(const char *problem, const char *arch) {
    sx_model *model;
    sx_model_workspace *own;
    sx_catalog_model(problem, arch, &model, &own);
    sx_mapping *mapping = malloc(MAPPINGS * sizeof *mapping);
    worker *all = calloc(THREADS + 1, sizeof *all), *alone = &all[THREADS];
    assert_non_null(mapping);
    assert_non_null(all);
    draw(model, mapping);
    alone->mapping = mapping;
    alone->evaluator = own;
    work(alone);
    for (int i = 0; i < THREADS; i++) {
        all[i].mapping = mapping;
        sx_expect_ok(sx_model_workspace_new(model, &all[i].evaluator));
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&all[i].thread, NULL, work, &all[i]), 0);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(all[i].thread, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_memory_equal(all[i].whole, alone->whole, sizeof alone->whole);
        assert_memory_equal(all[i].score, alone->score, sizeof alone->score);
        sx_model_workspace_free(all[i].evaluator);
    }
    sx_model_workspace_free(own);
    sx_model_free(model);
    free(mapping);
    free(all);
}

static void threads_share_a_model(void **state) {
    (void)state;
    run_on("Outputs[k,q,p] += Weights[c,k,r,s] * Inputs[c,r+p,s+q] {r:3,s:3,p:8,q:6,c:6,k:8}", "eyeriss");
    run_on("Outputs[k,q,p] += Weights[c,k,r,s] * Inputs[c,r+p,s+q] {r:3,s:3,p:8,q:6,c:6,k:8}", "accel-b");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_share_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
