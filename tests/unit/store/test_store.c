#include "sextant/store.h"

#include "base/status.h"
#include "sextant/rng.h"
#include "support/expect.h"
#include "support/random_nouns.h"
#include "support/records.h"
#include "support/sanitized.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* Opens the database of a test. */
static sx_store *open_store(void) {
    sx_store *store;
    sx_expect_ok(sx_store_open(sx_scratch("a.db"), &store));
    return store;
}

static sx_store_counts count(sx_store *store) {
    sx_store_counts counts;
    sx_expect_ok(sx_store_count(store, &counts));
    return counts;
}

/* The records that a visit was told of; texts are compared at once. */
typedef struct seen {
    size_t n;
    sx_record record[64];
    const char *options; /* expected */
} seen;

static sx_status see(void *user, const sx_record *record) {
    seen *s = user;
    assert_true(s->n < 64);
    assert_string_equal(record->search.navigator, "random");
    assert_string_equal(record->search.version, "0.1.0");
    if (s->options)
        assert_string_equal(record->search.options, s->options);
    else
        assert_null(record->search.options);
    s->record[s->n++] = *record;
    return SX_OK;
}

static void assert_same(const sx_record *a, const sx_record *b) {
    assert_memory_equal(&a->problem, &b->problem, sizeof a->problem);
    assert_memory_equal(&a->arch, &b->arch, sizeof a->arch);
    assert_memory_equal(&a->mapping, &b->mapping, sizeof a->mapping);
    assert_memory_equal(&a->score, &b->score, sizeof a->score);
    assert_memory_equal(&a->search.value, &b->search.value, sizeof a->search.value);
    assert_memory_equal(&a->search.lower_bound, &b->search.lower_bound, sizeof a->search.lower_bound);
    assert_memory_equal(&a->search.seconds, &b->search.seconds, sizeof a->search.seconds);
    assert_int_equal(a->search.seed, b->search.seed);
    assert_int_equal(a->search.evaluations, b->search.evaluations);
    assert_int_equal(a->search.valid, b->search.valid);
    assert_int_equal(a->search.optimal, b->search.optimal);
}

static void what_is_added_is_read_back_after_closing(void **state) {
    (void)state;
    sx_record record;
    seen s = {.options = "{\"a\": 1}"};
    sx_test_record(3, &record);
    record.search.seed = UINT64_MAX;
    record.search.optimal = true;
    record.search.lower_bound = 0.1;
    strcpy(record.problem.name, "layer 'one'");
    sx_store *store = open_store();
    sx_expect_ok(sx_store_add(store, &record));
    sx_store_close(store);
    assert_int_equal(sx_scratch_files(), 1);
    store = open_store();
    sx_expect_ok(sx_store_best(store, &record.arch, "edp", see, &s));
    assert_int_equal(s.n, 1);
    assert_same(&s.record[0], &record);
    sx_store_close(store);
}

/* A latency of the tile pipeline is kept, and its mapping is a row of its own beside one without. */
static void a_latency_beside_the_cycles_is_kept(void **state) {
    (void)state;
    sx_record plain, tile;
    seen s = {.options = "{\"a\": 1}"};
    sx_test_record(3, &plain);
    tile = plain;
    tile.score.latency = plain.score.cycles * 1.5 + 0.1;
    tile.search.value = plain.search.value / 2;
    sx_store *store = open_store();
    sx_expect_ok(sx_store_add(store, &plain));
    sx_expect_ok(sx_store_add(store, &tile));
    sx_expect_ok(sx_store_add(store, &tile));
    assert_int_equal(count(store).mappings, 2);
    sx_expect_ok(sx_store_best(store, &plain.arch, "edp", see, &s));
    assert_int_equal(s.n, 1);
    assert_same(&s.record[0], &tile);
    tile.score.latency = NAN;
    sx_expect_error(sx_store_add(store, &tile), "not a number");
    sx_store_close(store);
}

static void the_best_of_every_problem_is_visited_once(void **state) {
    (void)state;
    sx_store *store = open_store();
    for (uint64_t i = 0; i < 50; i++) {
        sx_record record;
        sx_test_record((i * 7) % 50, &record);
        sx_expect_ok(sx_store_add(store, &record));
    }
    seen s = {.options = "{\"a\": 1}"};
    sx_record best;
    sx_test_record(0, &best);
    sx_expect_ok(sx_store_best(store, &best.arch, "edp", see, &s));
    assert_int_equal(s.n, 5);
    for (size_t i = 0; i < 5; i++) {
        sx_test_record(s.record[i].search.seed, &best);
        assert_int_equal(s.record[i].search.seed % 10, 9);
        assert_same(&s.record[i], &best);
    }
    assert_int_equal(count(store).problems, 5);
    assert_int_equal(count(store).archs, 1);
    assert_int_equal(count(store).mappings, 50);
    assert_int_equal(count(store).runs, 50);
    sx_store_close(store);
}

/* What a visit of the architectures found: how many, and how many mappings they have. */
typedef struct archs_seen {
    sx_store *store;
    size_t n;
    seen mappings;
} archs_seen;

static sx_status see_arch(void *user, const sx_arch *arch, const char *objective) {
    archs_seen *a = user;
    a->n++;
    return sx_store_best(a->store, arch, objective, see, &a->mappings);
}

/* Clocks and areas make no other architecture. */
static void every_arch_and_objective_is_visited_once(void **state) {
    (void)state;
    archs_seen a = {.store = open_store()};
    sx_record record;
    sx_test_record(0, &record);
    a.mappings.options = record.search.options;
    sx_expect_ok(sx_store_archs(a.store, see_arch, &a));
    assert_int_equal(a.n, 0);
    sx_expect_ok(sx_store_add(a.store, &record));
    record.arch.cycle_seconds = 1e-9;
    record.arch.level[0].area = 5;
    sx_expect_ok(sx_store_add(a.store, &record));
    record.search.objective = "delay";
    sx_expect_ok(sx_store_add(a.store, &record));
    sx_expect_ok(sx_store_archs(a.store, see_arch, &a));
    assert_int_equal(a.n, 2);
    assert_int_equal(a.mappings.n, 2);
    assert_int_equal(count(a.store).archs, 1);
    assert_string_equal(a.mappings.record[0].arch.name, record.arch.name);
    sx_store_close(a.store);
}

static void other_archs_and_objectives_are_left_out(void **state) {
    (void)state;
    seen s = {.options = "{\"a\": 1}"};
    sx_record record;
    sx_store *store = open_store();
    sx_test_record(0, &record);
    sx_expect_ok(sx_store_add(store, &record));
    record.arch.level[0].read_energy = 2;
    sx_expect_ok(sx_store_best(store, &record.arch, "edp", see, &s));
    record.arch.level[0].read_energy = 0;
    sx_expect_ok(sx_store_best(store, &record.arch, "delay", see, &s));
    assert_int_equal(s.n, 0);
    strcpy(record.arch.name, "called otherwise");
    sx_expect_ok(sx_store_best(store, &record.arch, "e*d", see, &s));
    assert_int_equal(s.n, 1);
    sx_expect_error(sx_store_best(store, &record.arch, "beauty", see, &s), "unknown objective 'beauty'");
    sx_store_close(store);
}

static void the_same_again_adds_nothing(void **state) {
    (void)state;
    sx_record record;
    sx_store *store = open_store();
    sx_test_record(0, &record);
    sx_expect_ok(sx_store_add(store, &record));
    record.search.seconds = 99;
    strcpy(record.problem.name, "another name");
    strcpy(record.arch.name, "another name");
    record.search.objective = "e*d";
    sx_expect_ok(sx_store_add(store, &record));
    sx_store_counts counts = count(store);
    assert_int_equal(counts.problems + counts.archs + counts.mappings + counts.runs, 4);
    record.search.seed++;
    sx_expect_ok(sx_store_add(store, &record));
    assert_int_equal(count(store).mappings, 1);
    assert_int_equal(count(store).runs, 2);
    record.search.options = NULL;
    sx_expect_ok(sx_store_add(store, &record));
    record.search.options = "";
    sx_expect_ok(sx_store_add(store, &record));
    assert_int_equal(count(store).runs, 4);
    sx_store_close(store);
}

static void among_equals_the_one_that_proved_most_wins(void **state) {
    (void)state;
    for (int order = 0; order < 3; order++) {
        sx_store *store;
        sx_record record;
        seen s = {0};
        char name[] = "0.db";
        name[0] = (char)('0' + order);
        sx_expect_ok(sx_store_open(sx_scratch(name), &store));
        for (int i = 0; i < 3; i++) {
            int k = (i + order) % 3;
            sx_test_record(0, &record);
            record.search.seed = (uint64_t)k;
            record.search.options = NULL;
            record.search.optimal = k == 1;
            record.search.lower_bound = k == 2 ? 5 : 1;
            sx_expect_ok(sx_store_add(store, &record));
        }
        sx_expect_ok(sx_store_best(store, &record.arch, "edp", see, &s));
        assert_int_equal(s.record[0].search.seed, 1);
        sx_store_close(store);
    }
}

static void later_criteria_decide_near_ties(void **state) {
    (void)state;
    sx_store *store = open_store();
    seen s = {.options = "{\"a\": 1}"};
    sx_record record;
    for (int i = 0; i < 2; i++) {
        sx_test_record((uint64_t)i, &record);
        record.search.objective = "delay,energy";
        record.score.cycles = record.score.latency = i ? 1000000 : 1000001;
        record.score.energy_pj = i ? 9 : 3;
        record.search.value = record.score.cycles;
        sx_expect_ok(sx_store_add(store, &record));
    }
    sx_expect_ok(sx_store_best(store, &record.arch, "delay,energy", see, &s));
    assert_int_equal(s.n, 1);
    assert_true(s.record[0].score.energy_pj == 3);
    sx_store_close(store);
}

/* Adds another record while being visited, then gives up. */
static sx_status add_and_give_up(void *user, const sx_record *record) {
    sx_record more = *record;
    more.search.seed += 1000;
    sx_expect_ok(sx_store_add(user, &more));
    return sx_error_new(SX_ERR_USAGE, "refused");
}

static void a_visit_may_add_and_may_end_it(void **state) {
    (void)state;
    sx_record record;
    sx_store *store = open_store();
    for (uint64_t i = 0; i < 30; i++) {
        sx_test_record(i, &record);
        sx_expect_ok(sx_store_add(store, &record));
    }
    sx_expect_error(sx_store_best(store, &record.arch, "edp", add_and_give_up, store), "refused");
    assert_int_equal(count(store).runs, 31);
    sx_store_close(store);
}

static void records_that_would_not_read_back_are_refused(void **state) {
    (void)state;
    sx_record good, record;
    sx_store *store = open_store();
    sx_test_record(0, &good);
    record = good;
    record.search.value = NAN;
    sx_expect_error(sx_store_add(store, &record), "not a number");
    record = good;
    record.score.cycles = NAN;
    sx_expect_error(sx_store_add(store, &record), "not a number");
    record = good;
    record.search.navigator = NULL;
    sx_expect_error(sx_store_add(store, &record), "a record needs");
    record = good;
    record.search.objective = "beauty";
    sx_expect_error(sx_store_add(store, &record), "unknown objective");
    record = good;
    record.search.evaluations = UINT64_MAX;
    sx_expect_error(sx_store_add(store, &record), "2^63");
    record = good;
    record.mapping.n_dims = 2;
    sx_expect_error(sx_store_add(store, &record), "");
    record = good;
    record.mapping.level[1].temporal[1] = 1;
    sx_expect_error(sx_store_add(store, &record), "dimension n has size 8");
    record = good;
    record.problem.size[0] = 0;
    sx_expect_error(sx_store_add(store, &record), "size 0");
    assert_int_equal(count(store).problems + count(store).runs, 0);
    record = good;
    record.search.lower_bound = -0.0;
    record.search.value = INFINITY;
    sx_expect_ok(sx_store_add(store, &record));
    seen s = {.options = "{\"a\": 1}"};
    sx_expect_ok(sx_store_best(store, &record.arch, "edp", see, &s));
    assert_true(isinf(s.record[0].search.value));
    sx_store_close(store);
}

static void any_nouns_are_read_back(void **state) {
    (void)state;
    sx_store *store = open_store();
    for (uint64_t i = 0; i < 60; i++) {
        sx_rng rng = sx_rng_stream(1, "store", i);
        sx_record record;
        seen s = {0};
        sx_test_record(i, &record);
        record.search.options = NULL;
        sx_random_problem(&rng, &record.problem);
        sx_random_arch(&rng, &record.arch);
        sx_random_mapping(&rng, &record.problem, &record.arch, i % 2, &record.mapping);
        sx_mapping_canonical(&record.mapping);
        sx_expect_ok(sx_store_add(store, &record));
        sx_expect_ok(sx_store_best(store, &record.arch, "edp", see, &s));
        assert_int_equal(s.n, 1);
        assert_same(&s.record[0], &record);
    }
    sx_store_close(store);
}

/* Ends this process where something failed, saying what. */
static void give_up(sx_status status, int code) {
    if (!status) return;
    fprintf(stderr, "%s\n", sx_status_text(status));
    _exit(code);
}

/* In a process of its own: adds records from `first` on and tells of each through a pipe. */
static void add_many(uint64_t first, uint64_t n, int pipe_end) {
    sx_store *store;
    give_up(sx_store_open(sx_scratch("a.db"), &store), 1);
    for (uint64_t i = first; i < first + n; i++) {
        sx_record record;
        sx_test_record(i, &record);
        give_up(sx_store_add(store, &record), 2);
        if (pipe_end >= 0 && write(pipe_end, &i, sizeof i) != sizeof i) _exit(3);
    }
    sx_store_close(store);
    _exit(0);
}

static void four_programs_write_at_once(void **state) {
    (void)state;
    enum { PROGRAMS = 4, EACH = 200 };
    pid_t child[PROGRAMS];
    for (uint64_t p = 0; p < PROGRAMS; p++) {
        child[p] = fork();
        if (child[p] == 0) add_many(p * EACH, EACH, -1);
    }
    for (int p = 0; p < PROGRAMS; p++) {
        int code;
        waitpid(child[p], &code, 0);
        assert_true(WIFEXITED(code));
        assert_int_equal(WEXITSTATUS(code), 0);
    }
    sx_store *store = open_store();
    assert_int_equal(count(store).runs, PROGRAMS * EACH);
    assert_int_equal(count(store).archs, 1);
    sx_store_close(store);
    assert_int_equal(sx_scratch_files(), 1);
}

/* Opens a database that is not there yet at the same moment as other programs do, and ends. */
static void create_when_told(int start, const char *path) {
    char byte;
    sx_store *store;
    (void)!read(start, &byte, 1);
    sx_status status = sx_store_open(path, &store);
    if (status) fprintf(stderr, "%s\n", status->message);
    _exit(status ? 1 : 0);
}

static void many_programs_create_at_once(void **state) {
    (void)state;
    enum { PROGRAMS = 12, ROUNDS = SX_SANITIZED ? 3 : 25 };
    for (int round = 0; round < ROUNDS; round++) {
        int start[2], failed = 0;
        pid_t child[PROGRAMS];
        const char *path = sx_scratch("new.db");
        assert_int_equal(pipe(start), 0);
        for (int p = 0; p < PROGRAMS; p++) {
            child[p] = fork();
            if (child[p] != 0) continue;
            close(start[1]);
            create_when_told(start[0], path);
        }
        close(start[0]);
        close(start[1]);
        for (int p = 0; p < PROGRAMS; p++) {
            int code;
            waitpid(child[p], &code, 0);
            failed += !WIFEXITED(code) || WEXITSTATUS(code) != 0;
        }
        assert_int_equal(failed, 0);
        assert_int_equal(remove(path), 0);
    }
}

/* Lets a program add records from `first` on, kills it some time after it told of `least`, and returns how
 * many it told of. */
static uint64_t kill_a_writer(uint64_t first, uint64_t least, long microseconds) {
    int ends[2];
    uint64_t told = 0, i;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) add_many(first, 100000, ends[1]);
    close(ends[1]);
    for (; told < least && read(ends[0], &i, sizeof i) == sizeof i; told++) assert_int_equal(i, first + told);
    struct timespec wait = {.tv_nsec = microseconds * 1000};
    nanosleep(&wait, NULL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    for (; read(ends[0], &i, sizeof i) == sizeof i; told++) assert_int_equal(i, first + told);
    close(ends[0]);
    return told;
}

static void what_was_told_outlives_a_kill(void **state) {
    (void)state;
    sx_rng rng = sx_rng_stream(1, "kill", 0);
    uint64_t first = 0, all = 0;
    for (uint64_t round = 0; round < 30; round++) {
        uint64_t told = kill_a_writer(first, round % 10, (long)sx_rng_below(&rng, 4000));
        sx_store *store = open_store();
        uint64_t there = count(store).runs;
        assert_true(told >= round % 10 && (there == all + told || there == all + told + 1));
        for (uint64_t i = 0; i < told; i++) {
            sx_record record;
            sx_test_record(first + i, &record);
            sx_expect_ok(sx_store_add(store, &record));
        }
        assert_int_equal(count(store).runs, there);
        sx_store_close(store);
        all = there;
        first += told + 1;
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, sx_scratch_setup, sx_scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(what_is_added_is_read_back_after_closing),
        CASE(a_latency_beside_the_cycles_is_kept),
        CASE(the_best_of_every_problem_is_visited_once),
        CASE(every_arch_and_objective_is_visited_once),
        CASE(other_archs_and_objectives_are_left_out),
        CASE(the_same_again_adds_nothing),
        CASE(among_equals_the_one_that_proved_most_wins),
        CASE(later_criteria_decide_near_ties),
        CASE(a_visit_may_add_and_may_end_it),
        CASE(records_that_would_not_read_back_are_refused),
        CASE(any_nouns_are_read_back),
        CASE(four_programs_write_at_once),
        CASE(many_programs_create_at_once),
        CASE(what_was_told_outlives_a_kill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
