/* Checkpoints that were edited and have a hash that fits: they are refused, or what comes of them is legal
 * and costs what is said. */
#include "ground.h"

#include "base/hash.h"
#include "sextant/rng.h"
#include "support/expect.h"
#include "support/sanitized.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EDITS = SX_SANITIZED ? 8 : 12, FEW_EDITS = 6 };

/* One checkpoint of a search: the last of those whose number is a power of two, and how many there were. */
typedef struct picture {
    unsigned char *bytes;
    size_t size, n, wanted;
} picture;

static sx_status keep(void *user, const void *bytes, size_t size) {
    picture *p = user;
    if (++p->n > p->wanted) return SX_OK;
    free(p->bytes);
    p->bytes = malloc(size);
    p->size = size;
    assert_non_null(p->bytes);
    memcpy(p->bytes, bytes, size);
    return SX_OK;
}

/* Edits the bytes after the identity in one to three places, and repairs the hash. */
static void edit(sx_rng *rng, unsigned char *bytes, size_t size, size_t from) {
    static const uint64_t odd[] = {0,        1,   UINT64_MAX, 0x7ff8000000000000u, 0x7ff0000000000000u,
                                   1u << 31, 255, 2};
    uint64_t mark, hash;
    const size_t room = size - sizeof hash - from;
    for (uint64_t n = 1 + sx_rng_below(rng, 3); n > 0; n--) {
        size_t at = from + (size_t)sx_rng_below(rng, room);
        uint64_t how = sx_rng_below(rng, 3);
        if (how == 0) {
            bytes[at] ^= (unsigned char)(1u << sx_rng_below(rng, 8));
        } else if (how == 1) {
            bytes[at] = (unsigned char)sx_rng_next(rng);
        } else if (room > 16) {
            at = from + (at - from) % (room - 8) / 8 * 8;
            memcpy(bytes + at, &odd[sx_rng_below(rng, sizeof odd / sizeof *odd)], 8);
        }
    }
    memcpy(&mark, bytes, sizeof mark);
    hash = sx_hash_bytes(bytes, size - sizeof hash, mark);
    memcpy(bytes + size - sizeof hash, &hash, sizeof hash);
}

/* Fails the test unless a point is one of the space, legal, and of that score. */
static void expect_found(const ground *g, const sx_objective *objective, const sx_found *found) {
    assert_true(g->space->type->holds(g->space, found->point));
    assert_int_equal(g->space->type->check(g->space, found->point), 0);
    sx_outcome is = score_of(g, objective, found->point);
    assert_memory_equal(&is.metrics, &found->metrics, sizeof is.metrics);
    assert_true(found->value == is.value);
}

/* Resumes from bytes; whether they were taken. */
static bool resume(const ground *g, const char *navigator, sx_run_options options, const unsigned char *bytes,
                   size_t size) {
    sx_run *run;
    sx_found found;
    options.resume = bytes;
    options.resume_size = size;
    sx_expect_ok(sx_run_new(g->space, NULL, &options, &run));
    sx_status status = sx_run_search(run, navigator);
    bool taken = !status;
    if (status) {
        assert_int_equal(status->code, SX_ERR_INPUT);
        assert_non_null(strstr(status->message, "the checkpoint is damaged: the "));
    }
    sx_status_free(status);
    for (size_t i = 0; sx_run_best(run, i, &found); i++) expect_found(g, &options.objective, &found);
    for (size_t i = 0; sx_run_front(run, i, &found); i++) expect_found(g, &options.objective, &found);
    sx_run_free(run);
    return taken;
}

/* Edits one checkpoint again and again; adds up how often it was taken and refused. */
static void edit_picture(const ground *g, const char *navigator, const sx_run_options *options,
                         const picture *p, uint64_t stream, size_t count[2]) {
    uint64_t identity;
    unsigned char *bytes = malloc(p->size);
    assert_non_null(bytes);
    memcpy(&identity, p->bytes + 8, sizeof identity);
    const uint64_t edits = options->evaluations < 1000 ? FEW_EDITS : EDITS;
    for (uint64_t i = 0; i < edits; i++) {
        sx_rng rng = sx_rng_stream(stream, "damage", i);
        memcpy(bytes, p->bytes, p->size);
        edit(&rng, bytes, p->size, 16 + (size_t)identity);
        count[resume(g, navigator, *options, bytes, p->size)]++;
    }
    free(bytes);
}

void damaged_checkpoints_are_refused_or_harmless(const char *navigator, uint64_t evaluations,
                                                 const ground *grounds, size_t n) {
    size_t count[2] = {0};
    for (size_t i = 0; i < n; i++)
        for (size_t wanted = 1; wanted <= 16; wanted *= 4) {
            picture p = {.wanted = wanted};
            sx_run_options options;
            sx_run_options_init(&options);
            options.seed = 3;
            options.evaluations = evaluations;
            options.k_best = wanted == 4 ? 3 : 1;
            options.pareto = wanted == 16;
            options.checkpoint = keep;
            options.user = &p;
            sx_run_free(searched(&grounds[i], navigator, &options));
            options.checkpoint = NULL;
            if (p.bytes) edit_picture(&grounds[i], navigator, &options, &p, wanted + 100 * i, count);
            free(p.bytes);
        }
    print_message("%s: %zu edited checkpoints were refused, %zu taken\n", navigator, count[0], count[1]);
    assert_true(count[0] > 0);
}
