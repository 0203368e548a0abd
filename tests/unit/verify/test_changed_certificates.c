/* What is read and verified of certificates in which one value is another one: the error, or the verdict with its claim and
 * reason, word for word, as hashes. They are changed on purpose, as messages are. */
#include "support/changed_json.h"
#include "support/expect.h"
#include "support/sanitized.h"
#include "support/small_certificate.h"

#include "base/hash.h"
#include "verify/certificate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum outcome { HOLDS, FAILS, OPEN, UNCHECKED, REFUSED, OUTCOMES };
enum { MOST_STEPS = 20000 };

/* How many texts came to what, and a hash of each. */
typedef struct tally {
    uint64_t n[OUTCOMES], hash[OUTCOMES];
} tally;

static void add_text(tally *t, enum outcome outcome, const char *text) {
    t->hash[outcome] = sx_hash_bytes(text, strlen(text), t->hash[outcome]);
}

/* Adds an error, with its place and its hint. */
static void add_error(tally *t, enum outcome outcome, SX_TAKE sx_status status) {
    t->n[outcome]++;
    char *text = sx_status_text(status);
    add_text(t, outcome, text);
    sx_free(text);
    sx_status_free(status);
}

static void verify_text(void *user, const char *text) {
    static const enum outcome outcomes[] = {
        [SX_CLAIMS_HOLD] = HOLDS, [SX_CLAIMS_FAIL] = FAILS, [SX_CLAIMS_OPEN] = OPEN};
    tally *t = user;
    sx_certificate *c;
    sx_verification out;
    char hash[17];
    sx_status status = sx_certificate_parse("c", text, strlen(text), false, &c);
    if (status) {
        add_error(t, REFUSED, status);
        return;
    }
    sx_expect_ok(sx_certificate_hash(c, hash));
    status = sx_certificate_verify(c, &(sx_verify_options){.threads = 1, .steps = MOST_STEPS}, &out);
    enum outcome outcome = status ? UNCHECKED : outcomes[out.verdict];
    add_text(t, outcome, hash);
    if (status) {
        add_error(t, outcome, status);
    } else {
        t->n[outcome]++;
        add_text(t, outcome, out.claim);
        add_text(t, outcome, out.why);
    }
    sx_certificate_free(c);
}

/* Sets limits of many sorts that leave mappings. */
static void set_limits(sx_constraints *limits) {
    sx_level_limits *level = &limits->level[limits->n_levels - 1];
    level->temporal.min[0] = 2;
    level->temporal.n_inner = level->temporal.n_outer = 1;
    level->temporal.inner[0] = 2;
    level->temporal.outer[0] = 1;
    level->min_parallelism = 0.001;
    limits->level[0].must_bypass = 1;
    limits->level[0].no_temporal_reuse = 1;
    limits->level[0].no_multicast = limits->level[0].no_link_transfer = 2;
    limits->level[1].must_keep = 4;
    limits->level[1].rmw_first_update = 4;
    limits->level[1].temporal.max[1] = 2;
    limits->level[1].temporal.rest[2] = true;
}

/* The text of what a search of a small space proves. */
static char *make_text(const char *einsum, const char *arch, bool limited) {
    sx_small_space small = {.n = 0};
    sx_objective objective;
    char *text;
    sx_expect_ok(sx_einsum_parse(einsum, &small.c.problem));
    sx_expect_ok(sx_catalog_arch(arch, &small.c.arch));
    sx_constraints_init(&small.limits, &small.c.problem, &small.c.arch);
    if (limited) set_limits(&small.limits);
    sx_expect_ok(sx_model_new(&small.c.problem, &small.c.arch, &small.c.options, &small.model));
    sx_expect_ok(sx_map_space_new(small.model, &small.limits, &small.options, &small.space));
    small.map = sx_map_space_of(small.space);
    sx_expect_ok(sx_objective_parse("edp", &objective));
    sx_certificate *c = sx_small_certificate(&small, &objective, "optimal", 0);
    assert_non_null(c);
    sx_expect_ok(sx_certificate_write(c, &text));
    sx_certificate_free(c);
    sx_small_space_fini(&small);
    return text;
}

static void what_is_said_of_changed_certificates(void **state) {
    (void)state;
    static const struct {
        const char *einsum, *arch;
        bool limited;
        tally expected;
    } cases[] = {{"O[m,n] += A[m,k]*B[k,n] {m:4,n:2,k:2}",
                  "glb128",
                  true,
                  {{114, 92, 0, 0, 964},
                   {0xbc46dadf71bb03c1u, 0x2c8496e0904d95ceu, 0x0000000000000000u, 0x0000000000000000u,
                    0xb055d0a60fb3e184u}}},
                 {"O[p] += I[2*p+r]*W[r] {p:4,r:3}",
                  "accel-b",
                  false,
                  {{113, 60, 0, 0, 617},
                   {0xd8adf78e7e0f098fu, 0xd0b418cf13b092d6u, 0x0000000000000000u, 0x0000000000000000u,
                    0x184c805d1c363651u}}}};
    bool good = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i += SX_SANITIZED ? 3 : 1) {
        tally t = {{0}, {0}};
        char *text = make_text(cases[i].einsum, cases[i].arch, cases[i].limited);
        sx_changed_json(text, "certificate", verify_text, &t);
        sx_changed_json(text, "mapping", verify_text, &t);
        free(text);
        if (memcmp(&t, &cases[i].expected, sizeof t) == 0) continue;
        print_error("%s: {{", cases[i].arch);
        for (int k = 0; k < OUTCOMES; k++)
            print_error("%llu%s", (unsigned long long)t.n[k], k + 1 < OUTCOMES ? ", " : "}, {");
        for (int k = 0; k < OUTCOMES; k++)
            print_error("0x%016llxu%s", (unsigned long long)t.hash[k], k + 1 < OUTCOMES ? ", " : "}}\n");
        good = false;
    }
    assert_true(good);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_of_changed_certificates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
