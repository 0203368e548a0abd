/* Checkpoints: what they hold, what they are refused for. */
#include "run/engine.h"
#include "support/driven_clock.h"
#include "support/expect.h"
#include "support/toy_space.h"

#include "base/hash.h"
#include "sextant/navigator.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
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
                    "belongs to another run: it was made with seed 5, not 6");
    o = good, o.evaluations = 30000;
    sx_expect_error(resume(space, o, "random", l.bytes, l.size), "made with evaluations 20000, not 30000");
    o = good, o.patience = 3;
    sx_expect_error(resume(space, o, "random", l.bytes, l.size), "it was made with patience ");
    o = good, o.target = 2.5;
    sx_expect_error(resume(space, o, "random", l.bytes, l.size), "it was made with target ");
    o = good, o.k_best = 5;
    sx_expect_error(resume(space, o, "random", l.bytes, l.size), "it was made with best-points ");
    o = good, o.pareto = false;
    sx_expect_error(resume(space, o, "random", l.bytes, l.size), "it was made with front ");
    o = good;
    sx_expect_ok(sx_objective_parse("energy", &o.objective));
    sx_expect_error(resume(space, o, "random", l.bytes, l.size), "it was made with objective ");
    o = good, o.starts = &(sx_toy_point){{1, 1, 1, 1, 1, 1}}, o.n_starts = 1;
    sx_expect_error(resume(space, o, "random", l.bytes, l.size), "it was made with another start-points");
    sx_expect_error(resume(space, good, "anneal", l.bytes, l.size),
                    "it was made with navigator random, not anneal");
    const sx_toy_options other = {.shift = 1};
    sx_space *elsewhere = sx_toy_space_new(&other);
    sx_expect_error(resume(elsewhere, good, "random", l.bytes, l.size), "the checkpoint is damaged");
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

/* Where the parts of a checkpoint lie, from its first byte on. */
typedef struct places {
    size_t counts, best, front, trace, frames, called, each; /* each: from a point of a list to the next */
    uint64_t n_best, n_front, n_trace;
} places;

/* The number of eight bytes at a place, which moves behind it. */
static uint64_t number_at(const last *l, size_t *at) {
    uint64_t number;
    memcpy(&number, l->bytes + *at, sizeof number);
    *at += sizeof number;
    return number;
}

/* Finds the parts of a checkpoint of a run with one frame. */
static places find_parts(const last *l, const sx_space *space) {
    places p = {.each = sizeof(sx_archived) + sx_space_point_size(space)};
    size_t at = sizeof(uint64_t), size = (size_t)number_at(l, &at);
    at += size;
    size = (size_t)number_at(l, &at);
    p.counts = at;
    at += size;
    p.n_best = number_at(l, &at);
    p.best = at;
    at += (size_t)p.n_best * p.each;
    p.n_front = number_at(l, &at);
    p.front = at;
    at += (size_t)p.n_front * p.each;
    size = (size_t)number_at(l, &at);
    p.n_trace = size / sizeof(sx_trace_point);
    p.trace = at;
    at += size;
    p.frames = at;
    assert_int_equal(number_at(l, &at), 1);
    size = (size_t)number_at(l, &at);
    p.called = at + size;
    return p;
}

/* A change of a checkpoint, and whether it is still one: `size` bytes change places with those at `other`; where size is 0, a
 * number is another one, `real` unless it is 0. */
typedef struct statement {
    const char *what;
    size_t at, size;
    uint64_t number;
    double real;
    size_t other;
    bool holds;
} statement;

/* Resumes a checkpoint with another statement in it, and its hash made right. */
static void try_statement(const last *l, const sx_space *space, const statement *t) {
    sx_run_options o = base_options();
    const sx_cancel stop = {1};
    o.cancel = &stop;
    uint64_t mark, hash;
    unsigned char *bytes = malloc(l->size);
    assert_non_null(bytes);
    memcpy(bytes, l->bytes, l->size);
    memcpy(&mark, bytes, sizeof mark);
    if (t->size) {
        memcpy(bytes + t->at, l->bytes + t->other, t->size);
        memcpy(bytes + t->other, l->bytes + t->at, t->size);
    } else
        memcpy(bytes + t->at, t->real != 0 ? (const void *)&t->real : &t->number, sizeof t->number);
    hash = sx_hash_bytes(bytes, l->size - sizeof hash, mark);
    memcpy(bytes + l->size - sizeof hash, &hash, sizeof hash);
    sx_status status = resume(space, o, "random", bytes, l->size);
    if (!status != t->holds) print_error("%s\n", t->what);
    if (t->holds)
        sx_expect_ok(status);
    else
        sx_expect_error(status, "the checkpoint is damaged: the run state is not valid");
    free(bytes);
}

/* Resumes a checkpoint with each of some statements in it. */
static void try_statements(const last *l, const sx_space *space, const statement *t, size_t n) {
    for (size_t i = 0; i < n; i++) try_statement(l, space, &t[i]);
}

/* Tries an array of statements. */
#define TRY_STATEMENTS(l, space, t) try_statements(l, space, t, sizeof(t) / sizeof *(t))

/* The evaluations that a checkpoint tells of. */
static uint64_t evaluations_of(const last *l, const places *p) {
    size_t at = p->counts;
    return number_at(l, &at);
}

/* Counts agree with each other, with the limits and with the best. */
static void counts_are_checked(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    last l = checkpoint_of(space, base_options());
    const places p = find_parts(&l, space);
    const uint64_t made = evaluations_of(&l, &p), most = UINT64_MAX / 4;
    const size_t evaluations = p.counts, valid = evaluations + 8, rejected = valid + 8, hits = rejected + 8,
                 improved = hits + 8, drawn = improved + 8, seconds = drawn + 8, bound = seconds + 8,
                 optimal = bound + 8;
    const statement statements[] = {
        {"counts of another size", p.counts - 8, .number = 73},
        {"as many evaluations as its limit", evaluations, .number = 20000, .holds = true},
        {"more evaluations than its limit", evaluations, .number = 20001},
        {"all points legal", valid, .number = made, .holds = true},
        {"more legal points than evaluations", valid, .number = made + 1},
        {"a best that is not legal", valid, .number = 0},
        {"most rejected", rejected, .number = most, .holds = true},
        {"more rejected", rejected, .number = most + 1},
        {"all hits of the cache", hits, .number = made, .holds = true},
        {"more hits than evaluations", hits, .number = made + 1},
        {"a best of an evaluation to come", improved, .number = made + 1},
        {"a best of another evaluation than the trace's", improved, .number = 1},
        {"a random draw", drawn, .number = 1, .holds = true},
        {"a random draw to come", drawn, .number = made + 1},
        {"no second", seconds, .number = 0, .holds = true},
        {"seconds", seconds, .real = 1e14, .holds = true},
        {"too many seconds", seconds, .real = 1e15},
        {"seconds below 0", seconds, .real = -1},
        {"seconds that are no number", seconds, .real = NAN},
        {"a bound", bound, .real = 1e-9, .holds = true},
        {"a bound below 0", bound, .real = -1e-9},
        {"an infinite bound", bound, .real = INFINITY},
        {"an optimum", optimal, .number = 1, .holds = true},
        {"more than an optimum", optimal, .number = 2},
    };
    TRY_STATEMENTS(&l, space, statements);
    free(l.bytes);
    sx_space_free(space);
}

/* Points are of the space, cost what is said of them, and stand in order. */
static void points_are_checked(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    last l = checkpoint_of(space, base_options());
    const places p = find_parts(&l, space);
    const uint64_t made = evaluations_of(&l, &p);
    const size_t second = p.best + p.each, point = sizeof(sx_archived), value = offsetof(sx_archived, value),
                 evaluation = offsetof(sx_archived, evaluation);
    assert_true(p.n_best == 4 && p.n_front >= 2);
    const statement statements[] = {
        {"another metric", second, .real = 1.5},
        {"another value", second + value, .real = 1.5},
        {"no evaluation", second + evaluation, .number = 0},
        {"the first evaluation", second + evaluation, .number = 1, .holds = true},
        {"the last evaluation", second + evaluation, .number = made, .holds = true},
        {"an evaluation to come", second + evaluation, .number = made + 1},
        {"a point not of the space", second + point, .number = UINT64_MAX},
        {"another point", p.best + point, sx_space_point_size(space), .other = second + point},
        {"another order", second, p.each, .other = second + p.each},
        {"too many points", p.best - 8, .number = 5},
        {"another order of the front", p.front, p.each, .other = p.front + p.each},
        {"another metric in the front", p.front, .real = 1.5},
        {"too many points in the front", p.front - 8, .number = UINT64_MAX},
    };
    TRY_STATEMENTS(&l, space, statements);
    free(l.bytes);
    sx_space_free(space);
}

/* The trace leads to the best; frames and calls are those that a run may have. */
static void traces_and_calls_are_checked(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    last l = checkpoint_of(space, base_options());
    const places p = find_parts(&l, space);
    const uint64_t made = evaluations_of(&l, &p);
    const size_t line = sizeof(sx_trace_point), end = p.trace + ((size_t)p.n_trace - 1) * line,
                 seconds = offsetof(sx_trace_point, seconds), value = offsetof(sx_trace_point, value);
    assert_true(p.n_trace >= 3);
    const statement statements[] = {
        {"a part of a line", p.trace - 8, .number = line + 1},
        {"a trace that ends at another value", end + value, .real = 1.5},
        {"a trace that ends at another evaluation", end, .number = made},
        {"a trace of evaluations to come", p.trace, .number = made + 1},
        {"a trace in another order", p.trace, sizeof made, .other = p.trace + line},
        {"a trace that begins before the search", p.trace + seconds, .real = -1},
        {"a trace that ends too late", p.trace + seconds, .real = 1e15},
        {"an infinite value", p.trace + value, .real = INFINITY},
        {"no frame", p.frames, .number = 0},
        {"too many frames", p.frames, .number = SX_MAX_DEPTH + 1},
        {"all evaluations in a call", p.called, .number = made, .holds = true},
        {"more evaluations in a call than in the run", p.called, .number = made + 1},
        {"a call that begins now", p.called + 8, .number = made, .holds = true},
        {"a call that begins later", p.called + 8, .number = made + 1},
    };
    TRY_STATEMENTS(&l, space, statements);
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
    o.seconds = 2; /* of a busy machine, too */
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

/* A run that is paused again and again, by a clock that its readings drive, comes to what it comes to at once. */
static void paused_run_goes_on(void **state) {
    static const char *const navigators[] = {"random", "genetic", "ensemble"};
    enum { APART = 20 };
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    for (size_t i = 0; i < sizeof navigators / sizeof *navigators; i++) {
        sx_run_options o = base_options();
        sx_run *run;
        sx_found straight, found;
        size_t size;
        unsigned pauses = 0;
        sx_expect_ok(sx_run_new(space, NULL, &o, &run));
        sx_expect_ok(sx_run_search(run, navigators[i]));
        assert_true(sx_run_best(run, 0, &straight));
        assert_null(sx_run_take_paused(run, &size));
        const sx_run_summary all = sx_run_result(run);
        sx_clock_drive(1);
        o.pause_seconds = APART;
        for (void *state_before = NULL;; pauses++) {
            sx_run *part;
            o.resume = state_before;
            o.resume_size = size;
            sx_expect_ok(sx_run_new(space, NULL, &o, &part));
            sx_expect_ok(sx_run_search(part, navigators[i]));
            free(state_before);
            state_before = sx_run_take_paused(part, &size);
            assert_true(!state_before || sx_run_result(part).stop == SX_STOP_TIME);
            if (!state_before) assert_true(sx_run_best(part, 0, &found) && found.value == straight.value);
            if (!state_before) assert_int_equal(sx_run_result(part).evaluations, all.evaluations);
            if (!state_before) assert_int_equal(sx_run_result(part).valid, all.valid);
            o.pause_seconds = sx_run_result(part).seconds + APART;
            sx_run_free(part);
            if (!state_before) break;
        }
        sx_clock_drive(0);
        assert_true(pauses > 0);
        sx_run_free(run);
    }
    sx_space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paused_run_goes_on),
        cmocka_unit_test(another_run_is_refused_with_the_difference),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(lies_are_refused),
        cmocka_unit_test(counts_are_checked),
        cmocka_unit_test(points_are_checked),
        cmocka_unit_test(traces_and_calls_are_checked),
        cmocka_unit_test(state_comes_back),
        cmocka_unit_test(seconds_count_on_and_checkpoints_keep_their_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
