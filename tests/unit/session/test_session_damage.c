#include "base/file.h"
#include "base/hash.h"
#include "sextant/rng.h"
#include "support/brake.h"
#include "support/driven_clock.h"
#include "support/expect.h"
#include "support/sanitized.h"
#include "support/small_session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { LIMIT = 1 << 26, EDITS = SX_SANITIZED ? 20 : 50 };

static const char run_mark[] = "SEXTKCP"; /* a run's state begins with it; its format follows */

/* Behind the state: how much a fused network has. */
enum { TAIL = sizeof(size_t) };

/* The bytes of a checkpoint. */
typedef struct file {
    char *bytes;
    size_t size;
} file;

static char path[64];

static int make_path(void **state) {
    (void)state;
    snprintf(path, sizeof path, "%s/sextant-damage-%ld", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
             (long)getpid());
    return 0;
}

/* Writes the bytes without waiting for the disk. */
static void write_file(const file *f) {
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(f->bytes, 1, f->size, out), f->size);
    assert_int_equal(fclose(out), 0);
}

/* Where the run's state begins, 0: there is none. */
static size_t find_run(const file *f) {
    for (size_t i = 0; i + 8 <= f->size; i++)
        if (memcmp(f->bytes + i, run_mark, sizeof run_mark - 1) == 0) return i;
    return 0;
}

/* Repairs the hash of the run's state and that of the file. */
static void repair(file *f, size_t run) {
    char line[128];
    uint64_t mark, hash;
    unsigned long long old;
    size_t body, identity;
    if (run) {
        const size_t end = f->size - TAIL - sizeof hash;
        memcpy(&mark, f->bytes + run, sizeof mark);
        hash = sx_hash_bytes(f->bytes + run, end - run, mark);
        memcpy(f->bytes + end, &hash, sizeof hash);
    }
    assert_int_equal(sscanf(f->bytes, "sextant checkpoint 2 %llx %zu %zu", &old, &body, &identity), 3);
    hash = sx_hash_bytes(f->bytes + f->size - body, body, identity);
    snprintf(line, sizeof line, "%016llx", (unsigned long long)hash);
    memcpy(f->bytes + strlen("sextant checkpoint 2 "), line, 16);
}

/* Where the identity ends. */
static size_t payload(const file *f) {
    unsigned long long hash;
    size_t body, identity;
    assert_int_equal(sscanf(f->bytes, "sextant checkpoint 2 %llx %zu %zu", &hash, &body, &identity), 3);
    return f->size - body + identity;
}

static void edit(sx_rng *rng, file *f, size_t from) {
    static const uint64_t odd[] = {0, 1, UINT64_MAX, 0x7ff8000000000000u, 0x7ff0000000000000u, 1u << 31, 255};
    for (uint64_t n = 1 + sx_rng_below(rng, 3); n > 0; n--) {
        size_t at = from + (size_t)sx_rng_below(rng, f->size - from - 8);
        if (sx_rng_below(rng, 2))
            f->bytes[at] ^= (char)(1 << sx_rng_below(rng, 8));
        else
            memcpy(f->bytes + at, &odd[sx_rng_below(rng, sizeof odd / sizeof *odd)], 8);
    }
}

/* Fails the test unless every answer is legal and costs what it says. */
static void expect_true_costs(const sx_small *small, const sx_session_result *result) {
    for (size_t i = 0; i < result->n_layers; i++) {
        const sx_layer_result *layer = &result->layer[i];
        sx_model *model;
        sx_model_workspace *evaluator;
        sx_score score;
        if (!layer->found) continue;
        sx_expect_ok(sx_model_new(&small->network.layer[i].problem, &small->arch, NULL, &model));
        sx_expect_ok(sx_model_workspace_new(model, &evaluator));
        assert_int_equal(sx_evaluate_score(evaluator, &layer->best.mapping, &score).reason, SX_LEGAL);
        assert_memory_equal(&score, &layer->best.score, sizeof score);
        sx_model_workspace_free(evaluator);
        sx_model_free(model);
    }
}

/* Edits the checkpoint of a session again and again, and resumes; returns how often it was refused. */
static size_t edit_all(sx_small *small, sx_brake *b, bool searching) {
    file whole, edited;
    size_t refused = 0;
    sx_expect_ok(sx_file_read(path, LIMIT, &whole.bytes, &whole.size));
    const size_t run = find_run(&whole), from = payload(&whole);
    assert_true((run != 0) == searching);
    edited = (file){malloc(whole.size), whole.size};
    assert_non_null(edited.bytes);
    for (uint64_t i = 0; i < EDITS; i++) {
        sx_session_result result;
        sx_rng rng = sx_rng_stream(9, "damage", i);
        memcpy(edited.bytes, whole.bytes, whole.size);
        edit(&rng, &edited, from);
        repair(&edited, run);
        write_file(&edited);
        *b = (sx_brake){.stop = {0}};
        sx_clock_drive(small->clock);
        sx_status status = sx_session_run(&small->network, &small->arch, &small->options, &result);
        sx_clock_drive(0);
        refused += status != SX_OK;
        if (status) {
            char *text = sx_status_text(status);
            assert_int_equal(status->code, SX_ERR_INPUT);
            assert_non_null(strstr(text, "checkpoint"));
            assert_non_null(strstr(text, path));
            free(text);
        }
        sx_status_free(status);
        expect_true_costs(small, &result);
        sx_session_result_fini(&result);
    }
    free(edited.bytes);
    free(whole.bytes);
    remove(path);
    print_message("%s: %zu of %d edited checkpoints were refused\n", small->options.mapper, refused, EDITS);
    return refused;
}

/* Results of finished layers, of which one is a proof. */
static void edited_results_are_refused_or_harmless(void **state) {
    (void)state;
    static sx_small small;
    sx_brake b = {.ends_left = 2};
    sx_session_result part;
    sx_small_init(&small, "random", 100, SX_WARM_SIMILARITY);
    small.clock = 4e-6;
    small.options.run.k_best = 2;
    small.options.run.pareto = true;
    small.options.checkpoint = path;
    small.options.layer_ends = sx_brake_at_end;
    sx_brake_fit(&b, &small.options);
    sx_small_run(&small, &part);
    sx_session_result_fini(&part);
    assert_true(edit_all(&small, &b, false) > EDITS / 2);
    sx_small_fini(&small);
}

/* A layer under way: its start point and the state of its run. */
static void edited_states_are_refused_or_harmless(void **state) {
    (void)state;
    static const char *const mappers[] = {"random", "anneal", "gamma"};
    for (size_t m = 0; m < 3; m++) {
        static sx_small small;
        sx_brake b = {.stop = {0}};
        sx_session_result part;
        sx_small_init(&small, mappers[m], 0, SX_WARM_SIMILARITY);
        small.clock = 4e-6;
        small.options.checkpoint = path;
        small.options.run.checkpoint_seconds = 0.01;
        small.options.run.progress = sx_brake_at_progress;
        sx_brake_fit(&b, &small.options);
        sx_small_run(&small, &part);
        sx_session_result_fini(&part);
        small.options.layer_begins = sx_brake_at_once;
        assert_true(edit_all(&small, &b, true) > EDITS / 20);
        sx_small_fini(&small);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edited_results_are_refused_or_harmless),
        cmocka_unit_test(edited_states_are_refused_or_harmless),
    };
    return cmocka_run_group_tests(tests, make_path, NULL);
}
