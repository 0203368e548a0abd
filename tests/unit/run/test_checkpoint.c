/* Checkpoints: what they hold, what they are refused for. */
#include "run/engine.h"
#include "support/expect.h"
#include "support/toy_space.h"

#include "base/hash.h"
#include "sextant/navigator.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The last of the checkpoints that were written, as long as there are no more than `wanted`. */
typedef struct last {
    unsigned n, wanted;
    unsigned char *bytes;
    size_t size;
} last;

static sx_status keep_last(void *user, const void *bytes, size_t size) {
    last *l = user;
    if (l->n >= l->wanted) return SX_OK;
    l->n++;
    unsigned char *copy = realloc(l->bytes, size);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    l->bytes = copy;
    l->size = size;
    return SX_OK;
}

static sx_run_options base_options(void) {
    sx_run_options o;
    sx_run_options_init(&o);
    o.seed = 5;
    o.evaluations = 20000;
    o.k_best = 4;
    o.pareto = true;
    return o;
}

/* A checkpoint of the third safe point of a random search. */
static last checkpoint_of(const sx_space *space, sx_run_options o) {
    last l = {.wanted = 3};
    sx_run *run;
    o.checkpoint = keep_last;
    o.user = &l;
    sx_expect_ok(sx_run_new(space, NULL, &o, &run));
    sx_expect_ok(sx_run_search(run, "random"));
    sx_run_free(run);
    assert_int_equal(l.n, 3);
    return l;
}

/* What resuming bytes says. */
static sx_status resume(const sx_space *space, sx_run_options o, const char *navigator, const void *bytes,
                        size_t size) {
    sx_run *run;
    o.resume = bytes;
    o.resume_size = size;
    sx_expect_ok(sx_run_new(space, NULL, &o, &run));
    sx_status status = sx_run_search(run, navigator);
    sx_run_free(run);
    return status;
}

static void another_run_is_refused_with_the_difference(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    sx_run_options good = base_options(), o;
    last l = checkpoint_of(space, good);
    sx_expect_ok(resume(space, good, "random", l.bytes, l.size));
    o = good, o.threads = 3, o.cache = 100, o.seconds = 1000;
    sx_expect_ok(resume(space, o, "random", l.bytes, l.size));
    o = good, o.seed = 6;
    sx_expect_error(resume(space, o, "random", l.bytes, l.size),
                    "belongs to another run: it has 'seed 5' where this run has 'seed 6'");
    o = good, o.evaluations = 30000;
    sx_expect_error(resume(space, o, "random", l.bytes, l.size), "'evaluations 20000' where");
    o = good, o.patience = 3;
    sx_expect_error(resume(space, o, "random", l.bytes, l.size), "this run has 'patience 3'");
    o = good, o.target = 2.5;
    sx_expect_error(resume(space, o, "random", l.bytes, l.size), "this run has 'target 2.5'");
    o = good, o.k_best = 5;
    sx_expect_error(resume(space, o, "random", l.bytes, l.size), "this run has 'best points 5'");
    o = good, o.pareto = false;
    sx_expect_error(resume(space, o, "random", l.bytes, l.size), "this run has 'front not kept'");
    o = good;
    sx_expect_ok(sx_objective_parse("energy", &o.objective));
    sx_expect_error(resume(space, o, "random", l.bytes, l.size), "this run has 'objective energy");
    o = good, o.starts = &(sx_toy_point){{1, 1, 1, 1, 1, 1}}, o.n_starts = 1;
    sx_expect_error(resume(space, o, "random", l.bytes, l.size), "this run has 'start points 1");
    sx_expect_error(resume(space, good, "anneal", l.bytes, l.size),
                    "it has 'navigator random' where this run");
    const sx_toy_options other = {.shift = 1};
    sx_space *elsewhere = sx_toy_space_new(&other);
    sx_expect_error(resume(elsewhere, good, "random", l.bytes, l.size), "it has 'toy space ");
    sx_space_free(elsewhere);
    sx_space_free(space);
    free(l.bytes);
}

static void damage_is_refused(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    sx_run_options o = base_options();
    last l = checkpoint_of(space, o);
    unsigned char *bytes = malloc(l.size + 8);
    assert_non_null(bytes);
    for (size_t size = 0; size < l.size; size++) {
        unsigned char *exact = malloc(size + 1);
        assert_non_null(exact);
        memcpy(exact, l.bytes, size);
        sx_expect_error(resume(space, o, "random", exact, size), "remove it to start over");
        free(exact);
    }
    for (size_t bit = 0; bit < l.size * 8; bit += 5) {
        memcpy(bytes, l.bytes, l.size);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        sx_expect_error(resume(space, o, "random", bytes, l.size), "remove it to start over");
    }
    memcpy(bytes, l.bytes, l.size);
    memset(bytes + l.size, 0, 8);
    sx_expect_error(resume(space, o, "random", bytes, l.size + 8), "the checkpoint is damaged");
    sx_expect_error(resume(space, o, "random", "a text that is long enough", 26), "not a checkpoint");
    free(bytes);
    free(l.bytes);
    sx_space_free(space);
}

/* Bytes whose hash is right and whose numbers are not. */
static void lies_are_refused(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    sx_run_options o = base_options();
    last l = checkpoint_of(space, o);
    uint64_t mark, hash;
    memcpy(&mark, l.bytes, sizeof mark);
    unsigned char *bytes = malloc(l.size);
    assert_non_null(bytes);
    for (size_t at = 8; at + 16 <= l.size; at += 4) {
        static const uint64_t lies[] = {0, 1, 1000, UINT64_MAX, UINT64_MAX / 2, 1ull << 40};
        for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
            memcpy(bytes, l.bytes, l.size);
            memcpy(bytes + at, &lies[i], sizeof lies[i]);
            hash = sx_hash_bytes(bytes, l.size - 8, mark);
            memcpy(bytes + l.size - 8, &hash, sizeof hash);
            sx_run_options short_run = o;
            const sx_cancel stop = {1};
            short_run.cancel = &stop;
            sx_status_free(resume(space, short_run, "random", bytes, l.size));
        }
    }
    free(bytes);
    free(l.bytes);
    sx_space_free(space);
}

/* A navigator whose state grows from one program to the next. */
static size_t state_size = 16;
static sx_status remember(sx_run *run) {
    bool resumed;
    uint64_t *number = sx_run_state(run, state_size, &resumed);
    if (!number) return SX_OK;
    assert_true(resumed ? *number == 77 : *number == 0);
    *number = 77;
    sx_run_continue(run);
    return SX_OK;
}

static const sx_navigator rememberer = {.search = remember};

static sx_status remember_by(const sx_space *space, const sx_run_options *o) {
    sx_run *run;
    sx_expect_ok(sx_run_new(space, NULL, o, &run));
    sx_status status = sx_run_search_by(run, "rememberer", &rememberer, NULL);
    sx_run_free(run);
    return status;
}

static void state_comes_back(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    last l = {.wanted = 1};
    sx_run_options o = base_options();
    o.checkpoint = keep_last;
    o.user = &l;
    state_size = 16;
    sx_expect_ok(remember_by(space, &o));
    assert_int_equal(l.n, 1);
    o.checkpoint = NULL;
    o.resume = l.bytes;
    o.resume_size = l.size;
    sx_expect_ok(remember_by(space, &o));
    state_size = 24;
    sx_expect_error(remember_by(space, &o), "is damaged: the rememberer state is not valid");
    free(l.bytes);
    sx_space_free(space);
}

static void seconds_count_on_and_checkpoints_keep_their_distance(void **state) {
    (void)state;
    const sx_toy_options slow = {.work = 3000};
    sx_space *space = sx_toy_space_new(&slow);
    last l = {.wanted = 1000};
    sx_run_options o = base_options();
    sx_run *run;
    o.evaluations = 0;
    o.seconds = 0.3;
    o.checkpoint = keep_last;
    o.checkpoint_seconds = 0.1;
    o.user = &l;
    sx_expect_ok(sx_run_new(space, NULL, &o, &run));
    sx_expect_ok(sx_run_search(run, "random"));
    double seconds = sx_run_result(run).seconds;
    assert_in_range(l.n, 1, (unsigned)(seconds / 0.1) + 1);
    sx_run_free(run);
    o.checkpoint = NULL;
    o.resume = l.bytes;
    o.resume_size = l.size;
    sx_expect_ok(sx_run_new(space, NULL, &o, &run));
    sx_expect_ok(sx_run_search(run, "random"));
    sx_trace_point t, before = {0};
    for (size_t i = 0; sx_run_trace(run, i, &t); i++, before = t) assert_true(t.seconds >= before.seconds);
    assert_int_equal(sx_run_result(run).stop, SX_STOP_TIME);
    sx_run_free(run);
    free(l.bytes);
    sx_space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_run_is_refused_with_the_difference),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(lies_are_refused),
        cmocka_unit_test(state_comes_back),
        cmocka_unit_test(seconds_count_on_and_checkpoints_keep_their_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
