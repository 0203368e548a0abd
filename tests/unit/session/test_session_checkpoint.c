#include "base/file.h"
#include "sextant/rng.h"
#include "support/brake.h"
#include "support/expect.h"
#include "support/sanitized.h"
#include "support/small_session.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { LIMIT = 1 << 24 };

/* Steps of a driven clock: many rounds of a search, or few evaluations, between two reports of progress. */
static const double STEP = 4e-6, LONG_STEP = 1e-3;

/* The folder of the checkpoints. */
static char folder[64];

/* Makes it in memory where that is possible: a disk may take its time for every checkpoint. */
static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/dev/shm/sextant-checkpoint-XXXXXX");
    if (mkdtemp(folder)) return 0;
    snprintf(folder, sizeof folder, "/tmp/sextant-checkpoint-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

/* Removes the folder with what killed sessions left in it. */
static int remove_folder(void **state) {
    (void)state;
    DIR *files = opendir(folder);
    if (!files) return -1;
    for (const struct dirent *file; (file = readdir(files));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
        remove(path);
    }
    closedir(files);
    return rmdir(folder);
}

/* A name for a file that does not exist. */
static char *fresh_path(void) {
    static char path[96];
    static unsigned n;
    snprintf(path, sizeof path, "%s/%u", folder, n++);
    return path;
}

static bool exists(const char *path) {
    return access(path, F_OK) == 0;
}

static void resumes_after_every_layer(void **state) {
    (void)state;
    static sx_small small;
    sx_session_result whole, part;
    sx_small_init(&small, "random", 500, SX_WARM_SIMILARITY);
    small.clock = STEP;
    small.options.run.k_best = 4;
    small.options.run.pareto = true;
    sx_small_run(&small, &whole);
    small.options.checkpoint = fresh_path();
    small.options.layer_ends = sx_brake_at_end;
    for (size_t cut = 1; cut < SX_SMALL_DISTINCT; cut++) {
        sx_brake b = {.ends_left = cut};
        sx_brake_fit(&b, &small.options);
        sx_small_run(&small, &part);
        assert_false(part.complete);
        assert_false(part.resumed);
        assert_true(exists(small.options.checkpoint));
        sx_session_result_fini(&part);
        b = (sx_brake){.ends_left = 0};
        small.options.run.threads = 2;
        sx_small_run(&small, &part);
        assert_true(part.resumed);
        sx_same_session(&whole, &part);
        sx_session_result_fini(&part);
        sx_small_run(&small, &part);
        assert_true(part.resumed);
        sx_same_session(&whole, &part);
        sx_session_result_fini(&part);
        assert_true(exists(small.options.checkpoint));
        sx_expect_ok(sx_session_forget(small.options.checkpoint));
        assert_false(exists(small.options.checkpoint));
        sx_expect_ok(sx_session_forget(small.options.checkpoint));
    }
    sx_session_result_fini(&whole);
    sx_small_fini(&small);
}

/* What nothing was found for is finished too, diagnosis and all. */
static void resumes_without_answers(void **state) {
    (void)state;
    static sx_small small;
    sx_session_result whole, part;
    sx_brake b = {.ends_left = 3};
    sx_small_init(&small, "random", 1, SX_WARM_SIMILARITY);
    small.clock = STEP;
    small.arch.level[2].entries = 9000;
    sx_small_run(&small, &whole);
    assert_false(whole.layer[0].found);
    assert_int_equal(whole.layer[0].summary.stop, SX_STOP_DONE);
    assert_non_null(whole.layer[0].diagnosis);
    assert_true(whole.layer[5].found);
    small.options.checkpoint = fresh_path();
    small.options.layer_ends = sx_brake_at_end;
    sx_brake_fit(&b, &small.options);
    sx_small_run(&small, &part);
    sx_session_result_fini(&part);
    b = (sx_brake){.ends_left = 0};
    sx_small_run(&small, &part);
    assert_true(part.resumed);
    sx_same_session(&whole, &part);
    sx_session_result_fini(&part);
    sx_session_result_fini(&whole);
    sx_small_fini(&small);
}

/* Begins the session in a child. */
static pid_t begin_child(const sx_small *small) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0) return child;
    sx_session_result result;
    sx_status error = sx_session_run(&small->network, &small->arch, &small->options, &result);
    _exit(error ? 2 : 0);
}

/* Waits for a child that ends or is killed; whether it came to its end. */
static bool await(pid_t child) {
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFEXITED(status);
}

/* Runs the session in a child that is killed after some microseconds; whether it came to its end. */
static bool run_and_kill(const sx_small *small, unsigned microseconds) {
    pid_t child = begin_child(small);
    nanosleep(&(struct timespec){.tv_nsec = 1000L * microseconds}, NULL);
    kill(child, SIGKILL);
    return await(child);
}

/* Killed at any moment, time and again, a session ends in the same result. */
static void survives_being_killed(void **state) {
    (void)state;
    static const char *const mappers[] = {"random", "anneal", "gamma"};
    unsigned resumed = 0;
    for (uint64_t i = 0; i < (SX_SANITIZED ? 3 : 9); i++) {
        static sx_small small;
        sx_session_result whole, last;
        sx_rng rng = sx_rng_stream(3, "kill", i);
        sx_small_init(&small, mappers[i % 3], 9000, i % 2 ? SX_WARM_PREVIOUS : SX_WARM_SIMILARITY);
        small.options.run.pareto = i % 2;
        small.options.run.checkpoint_seconds = 0.002;
        sx_small_run(&small, &whole);
        small.options.checkpoint = fresh_path();
        for (unsigned tries = 0; tries < 6 || (!exists(small.options.checkpoint) && tries < 60); tries++)
            if (run_and_kill(&small, (unsigned)sx_rng_below(&rng, 10000 + 1000 * tries * tries))) break;
        sx_small_run(&small, &last);
        resumed += last.resumed;
        sx_same_session(&whole, &last);
        sx_session_result_fini(&last);
        sx_session_result_fini(&whole);
        sx_small_fini(&small);
    }
    assert_true(resumed > 0);
}

/* Mappers, and evaluations of a layer that keep them busy with remainders under sanitizers. The
 * number is odd, so that the two searches of a layer have different limits. */
static const struct {
    const char *mapper;
    uint64_t evaluations;
} wide_case[] = {{"random", 2001}, {"gamma", 401}, {"auto", 401}};

/* A session of two layers that are searched again with remainders, as their sizes are primes, and one between
 * them that is not. */
static void init_wide(sx_small *small, size_t number, uint64_t evaluations) {
    sx_small_init(small, wide_case[number].mapper, evaluations, SX_WARM_SIMILARITY);
    sx_expect_ok(sx_einsum_parse("Outputs[M,N]+=Weights[M,K]*Inputs[K,N] {M:131,K:61,N:137}",
                                 &small->network.layer[0].problem));
    sx_expect_ok(sx_einsum_parse("Outputs[M,N]+=Weights[M,K]*Inputs[K,N] {M:61,K:131,N:67}",
                                 &small->network.layer[2].problem));
    small->network.n_layers = 3;
    small->options.widen = true;
    small->options.run.checkpoint_seconds = 0.01;
    small->clock = LONG_STEP;
}

/* Runs such a session with stops in its searches with remainders; returns how many there were. */
static unsigned stop_and_resume(size_t number, uint64_t evaluations) {
    static sx_small small;
    sx_brake b = {.first = (evaluations + 1) / 2};
    sx_session_result whole, part = {0};
    unsigned stops = 0;
    init_wide(&small, number, evaluations);
    sx_small_run(&small, &whole);
    assert_true(whole.layer[0].widened && whole.layer[0].remainders && whole.layer[2].widened);
    assert_false(whole.layer[1].widened);
    small.options.checkpoint = fresh_path();
    small.options.run.progress = sx_brake_at_progress;
    sx_brake_fit(&b, &small.options);
    for (; !part.complete; stops += !part.complete) {
        sx_cancel_clear(&b.stop);
        if (stops == 3) small.options.run.progress = NULL;
        sx_session_result_fini(&part);
        sx_small_run(&small, &part);
        assert_int_equal(part.resumed, stops > 0);
    }
    sx_same_session(&whole, &part);
    sx_session_result_fini(&part);
    sx_session_result_fini(&whole);
    sx_small_fini(&small);
    return stops;
}

/* Stopped in searches with remainders, a session goes on there and ends in the same result. Where other threads do most of
 * the work, it takes more evaluations to tell of progress. */
static void resumes_with_remainders(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wide_case / sizeof *wide_case; i++) {
        unsigned stops = 0;
        for (uint64_t n = wide_case[i].evaluations, tries = 0; stops == 0 && tries < 5;
             n = 4 * n - 3, tries++)
            stops = stop_and_resume(i, n);
        assert_true(stops > 0);
    }
}

/* Ends the process, as a kill does, when a search with remainders tells of progress. */
static void die_at_progress(void *user, const sx_progress *progress) {
    sx_brake_at_progress(user, progress);
    if (sx_cancel_is_set(&((const sx_brake *)user)->stop)) raise(SIGKILL);
}

/* Runs such a session with kills in its searches with remainders; returns how many there were, 0 where all of
 * them came before the first checkpoint. */
static unsigned kill_and_resume(size_t number, uint64_t evaluations) {
    static sx_small small;
    sx_brake b = {.first = (evaluations + 1) / 2};
    sx_session_result whole, last;
    unsigned kills = 0;
    init_wide(&small, number, evaluations);
    sx_small_run(&small, &whole);
    small.options.checkpoint = fresh_path();
    small.options.run.progress = die_at_progress;
    sx_brake_fit(&b, &small.options);
    while (kills < 3 && !await(begin_child(&small))) kills++;
    small.options.run.progress = NULL;
    bool kept = exists(small.options.checkpoint);
    sx_small_run(&small, &last);
    assert_int_equal(last.resumed, kept);
    sx_same_session(&whole, &last);
    sx_session_result_fini(&last);
    sx_session_result_fini(&whole);
    sx_small_fini(&small);
    return kept ? kills : 0;
}

/* Killed in searches with remainders, time and again, a session ends in the same result. */
static void survives_being_killed_with_remainders(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wide_case / sizeof *wide_case; i++) {
        unsigned kills = 0;
        for (uint64_t n = wide_case[i].evaluations, tries = 0; kills == 0 && tries < 5;
             n = 4 * n - 3, tries++)
            kills = kill_and_resume(i, n);
        assert_true(kills > 0);
    }
}

/* Leaves a checkpoint of a search that was stopped within layer 1. */
static void leave_checkpoint(sx_small *small, sx_brake *b) {
    sx_session_result part;
    sx_small_init(small, "random", 400, SX_WARM_SIMILARITY);
    small->clock = STEP;
    small->options.checkpoint = fresh_path();
    *b = (sx_brake){.ends_left = 1};
    small->options.layer_ends = sx_brake_at_end;
    sx_brake_fit(b, &small->options);
    sx_small_run(small, &part);
    assert_false(part.complete);
    sx_session_result_fini(&part);
    *b = (sx_brake){.ends_left = 0};
}

/* Fails unless a session refuses its checkpoint with a text and leaves the file as it is. */
static void assert_refused(const sx_small *small, const char *part) {
    sx_session_result result;
    char *before, *after;
    size_t size_before, size_after;
    sx_expect_ok(sx_file_read(small->options.checkpoint, LIMIT, &before, &size_before));
    sx_expect_error(sx_session_run(&small->network, &small->arch, &small->options, &result), part);
    sx_session_result_fini(&result);
    sx_expect_ok(sx_file_read(small->options.checkpoint, LIMIT, &after, &size_after));
    assert_int_equal(size_before, size_after);
    assert_memory_equal(before, after, size_before);
    free(before);
    free(after);
}

static void refuses_those_of_others(void **state) {
    (void)state;
    static sx_small small, other;
    sx_brake b;
    leave_checkpoint(&small, &b);
    other = small;
    other.options.run.seed = 8;
    assert_refused(&other, "belongs to another search: it was made with --seed 7, not 8\n");
    assert_refused(&other,
                   "use the options and inputs that it was made with, or another file, or remove this one");
    other = small;
    other.options.run.evaluations = 401;
    assert_refused(&other, "it was made with --evals 400, not 401");
    other = small;
    other.options.mapper = "anneal";
    assert_refused(&other, "it was made with --mapper random, not anneal");
    other = small;
    other.options.run.objective.criterion[0].delay_power = 2;
    assert_refused(&other, "it was made with --objective edp, not ed2p");
    other = small;
    other.options.warm = SX_WARM_OFF;
    assert_refused(&other, "it was made with --warm-start similarity, not off");
    other = small;
    other.options.space.remainders = true;
    assert_refused(&other, "it was made with --remainders no, not yes");
    other = small;
    other.options.model.no_link_transfers = true;
    assert_refused(&other, "it was made with --no-link-transfers no, not yes");
    other = small;
    other.options.run.k_best = 2;
    assert_refused(&other, "it was made with --k-best 1, not 2");
    other = small;
    other.arch.level[0].entries++;
    assert_refused(&other, "it was made with another architecture of the name accel-b\n");
    other = small;
    other.options.model.latency_tile = true;
    assert_refused(&other, "it was made with --latency timeloop, not tile");
    other = small;
    other.options.space.split_axes = true;
    assert_refused(&other, "it was made with --split-axes no, not yes");
    small.network.layer[5].count++;
    assert_refused(&small, "it was made with another network of the name small\n");
    small.network.layer[5].count--;
    sx_session_result result;
    sx_small_run(&small, &result);
    assert_true(result.resumed && result.complete);
    sx_session_result_fini(&result);
    sx_small_fini(&small);
}

/* Keeps every level from splitting K. */
static sx_status no_k(void *user, const sx_problem *problem, const sx_arch *arch, sx_constraints *out) {
    (void)user;
    sx_constraints_init(out, problem, arch);
    int k = sx_problem_dim(problem, "K");
    for (int i = 0; i < arch->n_levels; i++) out->level[i].spatial.max[k] = 1;
    return SX_OK;
}

static void refuses_other_constraints(void **state) {
    (void)state;
    static sx_small small;
    sx_brake b;
    leave_checkpoint(&small, &b);
    small.options.constraints = no_k;
    assert_refused(&small, "it was made with another constraints\n");
    remove(small.options.checkpoint);
    sx_small_fini(&small);
}

/* Writes a file without waiting for the disk. */
static void write_quickly(const char *path, const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void refuses_damage(void **state) {
    (void)state;
    static sx_small small;
    sx_brake b;
    char *bytes;
    size_t size;
    leave_checkpoint(&small, &b);
    const char *path = small.options.checkpoint;
    sx_expect_ok(sx_file_read(path, LIMIT, &bytes, &size));
    for (uint64_t i = 0; i < 300; i++) {
        sx_rng rng = sx_rng_stream(4, "damage", i);
        const size_t at = i < 40 ? (size_t)i : (size_t)sx_rng_below(&rng, size);
        const char kept = bytes[at];
        if (i % 3 == 0) {
            write_quickly(path, bytes, at);
        } else {
            bytes[at] = (char)(kept ^ (1 << sx_rng_below(&rng, 8)));
            write_quickly(path, bytes, size);
            bytes[at] = kept;
        }
        assert_refused(&small, at < 21 ? "checkpoint" : "is damaged");
    }
    write_quickly(path, "layers: 3\n", 10);
    assert_refused(&small, "is not a checkpoint of this program");
    write_quickly(path, "", 0);
    assert_refused(&small, "is not a checkpoint of this program");
    write_quickly(path, bytes, size);
    sx_session_result result;
    sx_small_run(&small, &result);
    assert_true(result.resumed && result.complete);
    sx_session_result_fini(&result);
    free(bytes);
    sx_small_fini(&small);
}

/* A search that is stopped again and again goes on where it was, also within a layer. */
static void goes_on_within_a_layer(void **state) {
    (void)state;
    static sx_small small;
    sx_brake b = {.stop = {0}};
    uint64_t before = 0;
    sx_session_result part;
    sx_small_init(&small, "random", 0, SX_WARM_SIMILARITY);
    small.clock = STEP;
    small.options.checkpoint = fresh_path();
    small.options.run.checkpoint_seconds = 0.01;
    small.options.run.progress = sx_brake_at_progress;
    sx_brake_fit(&b, &small.options);
    for (int i = 0; i < 3; i++) {
        sx_cancel_clear(&b.stop);
        sx_small_run(&small, &part);
        assert_int_equal(part.resumed, i > 0);
        assert_false(part.complete);
        assert_int_equal(part.layer[0].summary.stop, SX_STOP_SIGNAL);
        assert_true(part.layer[0].summary.evaluations > before);
        before = part.layer[0].summary.evaluations;
        sx_session_result_fini(&part);
    }
    remove(small.options.checkpoint);
    sx_small_fini(&small);
}

/* What a session that was stopped told the database is nothing for it to begin from when it goes on. */
static void goes_on_from_its_own_start(void **state) {
    (void)state;
    static sx_small small;
    char path[96];
    sx_brake b = {0};
    sx_session_result whole, part;
    if (!sx_store_engine()) skip();
    sx_small_init(&small, "random", 9000, SX_WARM_SIMILARITY);
    small.clock = LONG_STEP;
    small.options.run.threads = 1;
    const size_t all = small.network.n_layers;
    small.network.n_layers = 1;
    sx_small_run(&small, &whole);
    snprintf(path, sizeof path, "%s", fresh_path());
    sx_expect_ok(sx_store_open(path, &small.options.store));
    small.options.checkpoint = fresh_path();
    small.options.run.checkpoint_seconds = 1000;
    small.options.run.progress = sx_brake_at_progress;
    sx_brake_fit(&b, &small.options);
    sx_small_run(&small, &part);
    assert_true(part.layer[0].found && !part.complete);
    sx_session_result_fini(&part);
    sx_cancel_clear(&b.stop);
    small.options.run.progress = NULL;
    sx_small_run(&small, &part);
    sx_same_session(&whole, &part);
    sx_session_result_fini(&part);
    sx_session_result_fini(&whole);
    sx_store_close(small.options.store);
    small.network.n_layers = all;
    sx_small_fini(&small);
}

static void refuses_places_it_cannot_write(void **state) {
    (void)state;
    static sx_small small;
    sx_session_result result;
    sx_small_init(&small, "random", 10, SX_WARM_OFF);
    small.options.checkpoint = "/tmp";
    sx_expect_error(sx_session_run(&small.network, &small.arch, &small.options, &result), "is a folder");
    sx_session_result_fini(&result);
    small.options.checkpoint = "/tmp/no-such-folder-of-sextant/file";
    sx_expect_error(sx_session_run(&small.network, &small.arch, &small.options, &result), "no-such-folder");
    sx_session_result_fini(&result);
    sx_small_fini(&small);
}

/* A file that a callback puts a folder in the way of, and takes it away again a layer later. */
typedef struct obstacle {
    const char *path;
    size_t ends, warnings;
    char message[256];
} obstacle;

static void hinder(void *user, size_t layer, const sx_layer_result *result) {
    obstacle *o = user;
    (void)layer;
    (void)result;
    o->ends++;
    if (o->ends == 2) {
        remove(o->path);
        assert_int_equal(mkdir(o->path, 0777), 0);
    }
    if (o->ends == 4) assert_int_equal(rmdir(o->path), 0);
}

static void hear(void *user, const struct sx_error *error) {
    obstacle *o = user;
    o->warnings++;
    snprintf(o->message, sizeof o->message, "%s", error->message);
}

/* A checkpoint that cannot be written for a while: one warning, the same results, and a checkpoint again as
 * soon as that is possible. */
static void failing_checkpoints_end_nothing(void **state) {
    (void)state;
    static sx_small small;
    sx_session_result whole, part;
    sx_small_init(&small, "random", 500, SX_WARM_SIMILARITY);
    small.clock = STEP;
    sx_small_run(&small, &whole);
    small.options.checkpoint = fresh_path();
    small.options.layer_ends = hinder;
    small.options.warn = hear;
    obstacle o = {.path = small.options.checkpoint};
    small.options.user = &o;
    sx_small_run(&small, &part);
    sx_same_session(&whole, &part);
    assert_int_equal(o.warnings, 1);
    assert_non_null(strstr(o.message, "cannot write"));
    sx_session_result_fini(&part);
    small.options.layer_ends = NULL;
    sx_small_run(&small, &part);
    assert_true(part.resumed);
    sx_same_session(&whole, &part);
    sx_session_result_fini(&part);
    sx_session_result_fini(&whole);
    sx_small_fini(&small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resumes_after_every_layer),  cmocka_unit_test(resumes_without_answers),
        cmocka_unit_test(survives_being_killed),      cmocka_unit_test(refuses_those_of_others),
        cmocka_unit_test(refuses_other_constraints),  cmocka_unit_test(refuses_damage),
        cmocka_unit_test(goes_on_within_a_layer),     cmocka_unit_test(refuses_places_it_cannot_write),
        cmocka_unit_test(goes_on_from_its_own_start), cmocka_unit_test(failing_checkpoints_end_nothing),
        cmocka_unit_test(resumes_with_remainders),    cmocka_unit_test(survives_being_killed_with_remainders),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
