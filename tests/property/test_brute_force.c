/* `verify --brute-force` takes every space with exact factors, and finds what looking at every construction finds:
 * test_brute_force [count [seed]]. */
#include "support/compared.h"
#include "support/expect.h"
#include "support/small_certificate.h"

#include "model/model.h"
#include "session/everywhere.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 3000 };

typedef struct settings {
    uint64_t count, seed;
} settings;

/* Kinds of spaces, each a reason why the functions of the GPU do not take it. */
enum { BANKS, SPLIT, SPARSE, HOPS, REUSE, SHARES, FAST, N_KINDS };
static const char *const kind_names[N_KINDS] = {"banks", "split axes", "sparse",           "hops",
                                                "reuse", "shares",     "without the model"};

typedef struct tally {
    uint64_t n[N_KINDS], certificates, spaces;
} tally;

/* Counts the kinds of a space. */
static void count_kinds(const sx_small_space *small, const sx_gpu_look_answer *answer, tally *t) {
    bool has[N_KINDS] = {[BANKS] = small->map->banks_at != 0,
                         [SHARES] = small->map->shares,
                         [SPARSE] = small->model->sparse != NULL,
                         [HOPS] = small->model->net_energy,
                         [FAST] = answer->counts.uncovered < answer->counts.legal};
    const sx_mapping *blank = small->map->blank;
    for (int s = 0; s < small->c.arch.n_levels; s++) {
        const sx_mapping_level *at = &blank->level[s];
        has[SPLIT] |= small->map->splits[s];
        has[REUSE] |= at->no_temporal_reuse || at->no_multicast || at->rmw_first_update;
    }
    for (int k = 0; k < N_KINDS; k++) t->n[k] += has[k];
}

/* Fails with a space that is not right. */
static void show(const settings *set, uint64_t i, const sx_small_space *small, double found, double least) {
    char *text = sx_small_space_text(small);
    print_error("seed %llu, space %llu: %.17g is found, %.17g is the least\n%s\n",
                (unsigned long long)set->seed, (unsigned long long)i, found, least, text);
    free(text);
    fail();
}

/* Compares one space, and the certificate of a search of it. */
static void compare(const settings *set, uint64_t i, const sx_small_space *small, tally *t) {
    sx_everywhere_options options = {.limit = 1e6, .model_limit = 1e6};
    sx_gpu_look_answer answer;
    sx_objective objective;
    sx_expect_ok(sx_objective_parse(i % 3 == 0 ? "energy" : i % 3 == 1 ? "delay" : "edp", &objective));
    sx_expect_ok(sx_look_everywhere(small->space, &objective, &options, &answer));
    assert_true(answer.complete);
    double least = sx_small_least(small, &objective, NULL);
    if (answer.found ? answer.value != least : isfinite(least)) show(set, i, small, answer.value, least);
    count_kinds(small, &answer, t);
    t->spaces++;
    if (!answer.found) return;
    sx_certificate *c = sx_small_certificate(small, &objective, "optimal:gamma=0", 0);
    if (c && c->optimal && answer.value > c->value * (1 + 1e-11)) show(set, i, small, answer.value, c->value);
    t->certificates += c != NULL;
    sx_certificate_free(c);
}

static void every_space_is_taken(void **state) {
    const settings *set = *state;
    tally t;
    memset(&t, 0, sizeof t);
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "brute_force", i);
        sx_small_space small;
        if (i % 4 == 3)
            sx_random_sparse_space(&rng, MOST, &small);
        else
            sx_random_space(&rng, MOST, &small);
        if (i % 4 == 1) sx_random_hops(&rng, &small);
        if (!small.options.remainders) compare(set, i, &small, &t);
        sx_small_space_fini(&small);
    }
    sx_expect_compared("spaces", t.spaces, set->count / 2);
    sx_expect_compared("certificates", t.certificates, set->count / 4);
    for (int k = 0; k < N_KINDS; k++) sx_expect_compared(kind_names[k], t.n[k], set->count / 100);
}

/* A look ends when it is told to, and refuses what is too large. */
static void a_look_can_be_stopped(void **state) {
    const settings *set = *state;
    sx_rng rng = sx_rng_stream(set->seed, "brute_force.stop", 0);
    sx_small_space small;
    sx_cancel cancel = {0};
    sx_gpu_look_answer answer;
    sx_objective objective;
    sx_expect_ok(sx_objective_parse("edp", &objective));
    do {
        sx_random_space(&rng, MOST, &small);
        if (!small.options.remainders) sx_random_hops(&rng, &small);
        if (small.options.remainders || small.n < 100) sx_small_space_fini(&small);
    } while (small.options.remainders || small.n < 100);
    sx_cancel_set(&cancel);
    sx_everywhere_options options = {.limit = 1e6, .model_limit = 1e6, .cancel = &cancel};
    sx_expect_ok(sx_look_everywhere(small.space, &objective, &options, &answer));
    assert_false(answer.complete);
    options = (sx_everywhere_options){.limit = 2, .model_limit = 2};
    sx_expect_error(sx_look_everywhere(small.space, &objective, &options, &answer),
                    "too many to look at: the limit is 2");
    sx_small_space_fini(&small);
}

int main(int argc, char **argv) {
    settings set = {.count = argc > 1 ? strtoull(argv[1], NULL, 10) : 400,
                    .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    if (set.count > 100000) set.count = 100000;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(every_space_is_taken, &set),
        cmocka_unit_test_prestate(a_look_can_be_stopped, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
