#define _GNU_SOURCE /* pthread_setattr_default_np */
#include "base/pool.h"

#include "base/clock.h"
#include "support/expect.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { JOBS = 1000 };

typedef struct ledger {
    atomic_uint done[JOBS], by[16], idle, now, most;
    atomic_uint_fast64_t sum;
    unsigned spin;
} ledger;

static void note(void *user, size_t index, unsigned worker) {
    ledger *l = user;
    unsigned now = atomic_fetch_add(&l->now, 1) + 1, most = atomic_load(&l->most);
    while (now > most && !atomic_compare_exchange_weak(&l->most, &most, now)) continue;
    uint64_t x = index + 1;
    for (unsigned i = 0; i < l->spin; i++) x = x * 6364136223846793005u + 1;
    atomic_fetch_add(&l->sum, x);
    atomic_fetch_add(&l->done[index], 1);
    atomic_fetch_add(&l->by[worker], 1);
    atomic_fetch_sub(&l->now, 1);
}

static void count_idle(void *user) {
    atomic_fetch_add(&((ledger *)user)->idle, 1);
}

static void every_job_is_done_once(void **state) {
    (void)state;
    for (unsigned threads = 1; threads <= 8; threads++) {
        sx_pool *pool;
        sx_expect_ok(sx_pool_new(threads, &pool));
        assert_int_equal(sx_pool_threads(pool), threads);
        for (size_t n = 0; n <= JOBS; n += n < 10 ? 1 : 330) {
            ledger *l = calloc(1, sizeof *l);
            assert_non_null(l);
            sx_pool_run(pool, n, note, n % 2 ? count_idle : NULL, l);
            unsigned total = 0;
            for (unsigned w = 0; w < 16; w++) total += l->by[w];
            for (size_t i = 0; i < JOBS; i++) assert_int_equal(l->done[i], i < n);
            assert_true(total == n && l->now == 0 && l->most <= threads);
            for (unsigned w = threads; w < 16; w++) assert_int_equal(l->by[w], 0);
            if (n % 2) assert_true(l->idle >= 1);
            free(l);
        }
        sx_pool_free(pool);
    }
    sx_pool_free(NULL);
}

static void rounds_may_follow_each_other_closely(void **state) {
    (void)state;
    sx_pool *pool;
    sx_expect_ok(sx_pool_new(4, &pool));
    ledger *l = calloc(1, sizeof *l);
    assert_non_null(l);
    for (int round = 0; round < 3000; round++) sx_pool_run(pool, 1 + (size_t)round % 7, note, NULL, l);
    unsigned total = 0;
    for (size_t i = 0; i < 7; i++) total += l->done[i];
    assert_int_equal(l->done[0], 3000);
    assert_int_equal(total, 3000 / 7 * 28 + 1 + 2 + 3 + 4);
    free(l);
    sx_pool_free(pool);
}

static void a_pool_that_slept_wakes_up(void **state) {
    (void)state;
    sx_pool *pool;
    sx_expect_ok(sx_pool_new(3, &pool));
    ledger *l = calloc(1, sizeof *l);
    assert_non_null(l);
    l->spin = 200000;
    for (int round = 0; round < 5; round++) {
        double until = sx_clock_seconds() + 0.003;
        while (sx_clock_seconds() < until) continue;
        sx_pool_run(pool, 40, note, count_idle, l);
    }
    for (size_t i = 0; i < 40; i++) assert_int_equal(l->done[i], 5);
    assert_true(l->idle >= 5);
    free(l);
    sx_pool_free(pool);
}

/* Uses more of the stack than some systems give to a thread. */
static void fill_stack(void *user, size_t index, unsigned worker) {
    volatile char room[1 << 19];
    (void)worker;
    for (size_t i = 0; i < sizeof room; i += 1024) room[i] = (char)index;
    atomic_fetch_add(&((ledger *)user)->done[index], (unsigned)(room[1024] == (char)index));
}

static void stacks_do_not_depend_on_the_default(void **state) {
    (void)state;
    sx_pool *pool;
    pthread_attr_t before, small;
    ledger *l = calloc(1, sizeof *l);
    assert_non_null(l);
    assert_int_equal(pthread_getattr_default_np(&before), 0);
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, 1 << 17), 0);
    assert_int_equal(pthread_setattr_default_np(&small), 0);
    sx_expect_ok(sx_pool_new(4, &pool));
    sx_pool_run(pool, JOBS, fill_stack, NULL, l);
    sx_pool_free(pool);
    assert_int_equal(pthread_setattr_default_np(&before), 0);
    for (size_t i = 0; i < JOBS; i++) assert_int_equal(l->done[i], 1);
    pthread_attr_destroy(&small);
    pthread_attr_destroy(&before);
    free(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_job_is_done_once),
        cmocka_unit_test(rounds_may_follow_each_other_closely),
        cmocka_unit_test(a_pool_that_slept_wakes_up),
        cmocka_unit_test(stacks_do_not_depend_on_the_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
