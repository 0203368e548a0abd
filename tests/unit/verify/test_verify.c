#include "support/expect.h"
#include "support/plain_arch.h"
#include "support/small_certificate.h"

#include "verify/enumeration.h"
#include "verify/order_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Makes the model and the space of a problem and an architecture. */
static void open_model(sx_small_space *out) {
    sx_constraints_init(&out->limits, &out->c.problem, &out->c.arch);
    sx_expect_ok(sx_model_new(&out->c.problem, &out->c.arch, &out->c.options, &out->model));
    sx_expect_ok(sx_map_space_new(out->model, &out->limits, &out->options, &out->space));
    out->map = sx_map_space_of(out->space);
}

/* The space of an einsum on an architecture of the catalog. */
static void open_space(const char *einsum, const char *arch, sx_small_space *out) {
    memset(out, 0, sizeof *out);
    sx_expect_ok(sx_einsum_parse(einsum, &out->c.problem));
    sx_expect_ok(sx_catalog_arch(arch, &out->c.arch));
    open_model(out);
}

/* The certificate of a small search. */
static sx_certificate *certificate_of(const char *einsum, const char *arch) {
    sx_small_space small;
    sx_objective objective;
    open_space(einsum, arch, &small);
    sx_expect_ok(sx_objective_parse("edp", &objective));
    sx_certificate *c = sx_small_certificate(&small, &objective, "optimal", 0);
    assert_non_null(c);
    assert_true(c->optimal);
    sx_small_space_fini(&small);
    return c;
}

#define GEMM "O[m,n] += A[m,k]*B[k,n] {m:16,n:32,k:8}"
#define CONV "O[k,p] += I[c,2*p+r]*W[k,c,r] {k:8,c:4,p:14,r:3}"

static void real_ones_hold(void **state) {
    (void)state;
    static const char *const archs[] = {"accel-a", "accel-b", "eyeriss", "simba", "mind-mappings", "glb128"};
    sx_verification one, four;
    uint64_t evaluations = 0;
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        sx_certificate *c = certificate_of(i % 2 ? CONV : GEMM, archs[i]);
        assert_true(sx_certificate_holds(c, 1, &one));
        assert_true(sx_certificate_holds(c, 4, &four));
        assert_int_equal(one.done.evaluations, four.done.evaluations);
        assert_true(one.done.spatial == c->proof->n_spatial && one.done.entries == c->proof->n_entries);
        assert_true(one.done.n_spatial == c->proof->n_spatial && one.done.n_entries == c->proof->n_entries);
        assert_true(one.done.steps >= one.done.evaluations && one.done.steps < 100000000);
        assert_true(one.done.seconds >= 0 && one.done.seconds < 1000);
        evaluations += one.done.evaluations;
        sx_certificate_free(c);
    }
    assert_in_range(evaluations, 1, 1000000);
}

/* Asserts that a certificate does not hold for a reason. */
static void expect_fail(const sx_certificate *c, const char *claim, const char *why) {
    sx_verification v;
    assert_false(sx_certificate_holds(c, 2, &v));
    assert_string_equal(v.claim, claim);
    if (!strstr(v.why, why)) fail_msg("'%s' does not hold '%s'", v.why, why);
}

static void the_false_claim_is_named(void **state) {
    (void)state;
    sx_certificate *c = certificate_of(GEMM, "accel-b"), bad = *c;
    sx_proof proof = *c->proof;
    bad.mapping.level[bad.arch.n_levels - 1].keep = 0;
    expect_fail(&bad, "mapping", "it is not in the space");
    bad = *c;
    bad.value *= 0.5;
    expect_fail(&bad, "value", "the objective of the mapping is 733184, not 366592");
    bad = *c;
    assert_true(*bad.energy_exact);
    bad.energy_exact[0] = bad.energy_exact[0] == '1' ? '2' : '1';
    expect_fail(&bad, "mapping", "pJ without rounding, not");
    bad = *c;
    bad.lower_bound *= 0.5;
    expect_fail(&bad, "optimal", "not the value");
    bad.optimal = false;
    bad.lower_bound = 2 * c->value;
    expect_fail(&bad, "lower bound", "above the value");
    bad = *c;
    bad.searched++;
    expect_fail(&bad, "entries",
                "0 spatial mappings are listed as searched and 0 as bounded by tables, not 1 and 0");
    bad = *c;
    bad.compulsory++;
    expect_fail(&bad, "arrays", "771 are not the 772 closed by the compulsory bound and the 0 listed");
    bad = *c;
    bad.proof = &proof;
    proof.n_spatial += 3;
    bad.compulsory += 3;
    expect_fail(&bad, "arrays", "there are 771 spatial mappings, not 774");
    sx_certificate_free(c);
}

/* A certificate whose proof has entries of its own to change, which expect_forged frees. */
static sx_certificate forge(const sx_certificate *c) {
    sx_certificate bad = *c;
    sx_expect_ok(sx_proof_copy(c->proof, &bad.proof));
    return bad;
}

static void expect_forged(sx_certificate *bad, const char *claim, const char *why) {
    expect_fail(bad, claim, why);
    sx_proof_free(bad->proof);
}

/* The spatial mapping of the one entry. */
#define LISTED "RF: k=2 c=2, GB: k=2 c=2 p=14 r=3"

/* Each claim about a spatial mapping is checked: that it is listed once, is in the space, and has no better mapping. */
static void false_entries_are_named(void **state) {
    (void)state;
    sx_certificate *c = certificate_of(CONV, "accel-b"), bad = forge(c);
    size_t width = c->proof->width * sizeof *c->proof->spatial, first = 0;
    assert_true(c->proof->n_entries > 1 && c->compulsory > 0);
    bad.score.energy_pj *= 1.5;
    expect_forged(&bad, "mapping", "it takes ");
    bad = forge(c);
    bad.score.cycles++;
    expect_forged(&bad, "mapping", "it takes ");
    bad = forge(c);
    memcpy(bad.proof->spatial + bad.proof->width, bad.proof->spatial, width);
    expect_forged(&bad, "entries", "duplicate entry: " LISTED);
    bad = forge(c);
    bad.proof->n_spatial--;
    bad.compulsory--;
    expect_forged(&bad, "arrays", "more than 496 spatial mappings");
    bad = forge(c);
    for (size_t i = 0; i < bad.proof->width; i++) bad.proof->spatial[i] = 3;
    expect_forged(&bad, "compulsory", "for a spatial mapping that is not listed: " LISTED);
    bad = forge(c);
    uint32_t *threes = malloc(width);
    assert_non_null(threes);
    for (size_t i = 0; i < bad.proof->width; i++) threes[i] = 3;
    sx_expect_ok(sx_proof_add(bad.proof, true, 0, threes));
    free(threes);
    bad.compulsory--;
    bad.searched++;
    expect_forged(&bad, "entries", "is not in the space: RF: k=3 c=3 p=3 r=3, GB: k=3");
    while (first < c->proof->n_entries && !c->proof->searched[first]) first++;
    assert_true(first < c->proof->n_entries);
    bad = forge(c);
    bad.proof->searched[first] = false;
    bad.proof->bound[first] = 0.5 * c->value;
    bad.searched--;
    bad.tables++;
    expect_forged(&bad, "tables", " is below the lower bound 132288, at " LISTED);
    bad = forge(c);
    bad.proof->searched[first] = false;
    bad.proof->bound[first] = 1000 * c->value;
    bad.searched--;
    bad.tables++;
    expect_forged(&bad, "tables", "no more than 132088, not 132288000, at " LISTED);
    sx_certificate_free(c);
}

static sx_status verify(const sx_certificate *c, const sx_verify_options *options, sx_verification *out) {
    return sx_certificate_verify(c, options, out);
}

static void count_call(void *user, const sx_verify_progress *progress) {
    assert_true(progress->spatial <= progress->n_spatial && progress->entries <= progress->n_entries);
    assert_true(progress->n_entries > 0 && progress->seconds >= 0 && progress->seconds < 1000);
    ++*(int *)user;
}

static void a_check_can_be_stopped(void **state) {
    (void)state;
    sx_certificate *c = certificate_of(CONV, "accel-b");
    sx_verification v;
    const sx_cancel stop = {1};
    int calls = 0;
    sx_expect_ok(verify(c, &(sx_verify_options){.cancel = &stop}, &v));
    assert_int_equal(v.verdict, SX_CLAIMS_OPEN);
    sx_expect_ok(verify(c, &(sx_verify_options){.steps = 1}, &v));
    assert_int_equal(v.verdict, SX_CLAIMS_OPEN);
    sx_expect_ok(verify(c, &(sx_verify_options){.progress = count_call, .user = &calls}, &v));
    assert_true(v.verdict == SX_CLAIMS_HOLD && calls > 0);
    sx_expect_error(verify(c, &(sx_verify_options){.memory = 1000}, &v), "combinations of divisors");
    sx_certificate_free(c);
}

/* Of a space with remainders all mappings are enumerated, those that leave some, too, as far as the budget goes. */
static void remainders_are_enumerated(void **state) {
    (void)state;
    sx_certificate *c = certificate_of("O[m,n] += A[m,k]*B[k,n] {m:7,n:5,k:8}", "glb128");
    sx_verification v;
    c->space.remainders = true;
    c->proof->n_entries = c->proof->n_spatial = c->compulsory = c->tables = c->searched = 0;
    expect_fail(c, "lower bound", "a mapping with a value of");
    c->optimal = false;
    c->lower_bound *= 0.7;
    sx_expect_ok(verify(c, &(sx_verify_options){0}, &v));
    assert_int_equal(v.verdict, SX_CLAIMS_HOLD);
    assert_true(v.done.spatial > 100);
    sx_expect_ok(verify(c, &(sx_verify_options){.steps = 1}, &v));
    assert_int_equal(v.verdict, SX_CLAIMS_OPEN);
    c->score.cycles++;
    expect_fail(c, "mapping", "cycles");
    sx_certificate_free(c);
}

/* Bounds say nothing of an objective that falls as energy or cycles grow. */
static void falling_objectives_are_not_bounded(void **state) {
    (void)state;
    static const double powers[][2] = {{1, -1}, {-1, 1}, {0, -1}, {-1, 0}};
    sx_certificate *c = certificate_of(CONV, "accel-b");
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++) {
        sx_certificate bad = *c;
        bad.objective.criterion[0].energy_power = powers[i][0];
        bad.objective.criterion[0].delay_power = powers[i][1];
        bad.value = bad.lower_bound = sx_objective_value(&bad.objective, &bad.score);
        expect_fail(&bad, "compulsory", "the compulsory bound is -inf");
    }
    sx_certificate_free(c);
}

/* Seven levels have 2^18 ways to keep three tensors. */
static void too_many_ways_to_keep_are_refused(void **state) {
    (void)state;
    sx_small_space small;
    sx_objective objective;
    sx_verification v;
    memset(&small, 0, sizeof small);
    sx_expect_ok(sx_einsum_parse("O[m] += A[m,k]*B[k] {m:2,k:2}", &small.c.problem));
    sx_plain_arch(&small.c.arch, 7);
    small.c.arch.compute.energy = 1;
    small.options.keep_all = true;
    open_model(&small);
    sx_expect_ok(sx_objective_parse("edp", &objective));
    sx_certificate *c = sx_small_certificate(&small, &objective, "optimal", 0);
    sx_expect_ok(verify(c, &(sx_verify_options){0}, &v));
    assert_int_equal(v.verdict, SX_CLAIMS_HOLD);
    c->space.keep_all = false;
    sx_expect_error(verify(c, &(sx_verify_options){0}, &v),
                    "2^18 ways to keep and bypass tensors are too many");
    sx_certificate_free(c);
    sx_small_space_fini(&small);
}

static void members_are_told_from_others(void **state) {
    (void)state;
    sx_small_space small;
    sx_verify_space space;
    sx_mapping m, bad;
    char why[400];
    open_space(GEMM, "accel-b", &small);
    small.limits.level[0].temporal.max[0] = 1;
    sx_expect_ok(sx_verify_space_init(&space, small.model, &small.limits, &small.options));
    sx_mapping_init(&m, &small.c.problem, &small.c.arch);
    assert_true(sx_verify_space_contains(&space, &m, why, sizeof why));
    int top = m.n_levels - 1;
    bad = m;
    bad.level[0].temporal[0] = 2;
    assert_false(sx_verify_space_contains(&space, &bad, why, sizeof why));
    bad.level[top].temporal[0] = 8;
    assert_false(sx_verify_space_contains(&space, &bad, why, sizeof why));
    assert_non_null(strstr(why, "out of its limits"));
    bad = m;
    bad.level[top].no_multicast = 1;
    assert_false(sx_verify_space_contains(&space, &bad, why, sizeof why));
    assert_non_null(strstr(why, "forbids other kinds of reuse"));
    bad = m;
    bad.level[0].temporal[1] = 5;
    bad.level[top].temporal[1] = 7;
    assert_false(sx_verify_space_contains(&space, &bad, why, sizeof why));
    assert_non_null(strstr(why, "remainders"));
    sx_verify_space_fini(&space);
    sx_small_space_fini(&small);
}

/* The order of level 0 matters only where units next to each other hand words on. */
static void orders_of_the_innermost_level_matter_with_links(void **state) {
    (void)state;
    sx_small_space small;
    sx_verify_space space;
    sx_mapping m;
    open_space(GEMM, "accel-b", &small);
    sx_expect_ok(sx_verify_space_init(&space, small.model, &small.limits, &small.options));
    sx_mapping_init(&m, &small.c.problem, &small.c.arch);
    assert_false(sx_verify_order_matters(&space, &m.level[0], 0));
    assert_true(sx_verify_order_matters(&space, &m.level[1], 1));
    m.level[0].spatial[0] = 2;
    assert_true(sx_verify_order_matters(&space, &m.level[0], 0));
    sx_verify_space_fini(&space);
    sx_small_space_fini(&small);
}

static void orders_of_a_product_are_three(void **state) {
    (void)state;
    sx_small_space small;
    sx_verify_space space;
    sx_order_list *order_list;
    size_t n;
    open_space(GEMM, "accel-b", &small);
    sx_expect_ok(sx_verify_space_init(&space, small.model, &small.limits, &small.options));
    sx_expect_ok(sx_order_list_new(&space, false, &order_list));
    assert_non_null(sx_order_list_of(order_list, 1, 7, &n));
    assert_int_equal(n, 3);
    assert_non_null(sx_order_list_of(order_list, 1, 0, &n));
    assert_int_equal(n, 1);
    sx_order_list_free(order_list);
    sx_verify_space_fini(&space);
    sx_small_space_fini(&small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_ones_hold),
        cmocka_unit_test(the_false_claim_is_named),
        cmocka_unit_test(false_entries_are_named),
        cmocka_unit_test(a_check_can_be_stopped),
        cmocka_unit_test(remainders_are_enumerated),
        cmocka_unit_test(falling_objectives_are_not_bounded),
        cmocka_unit_test(too_many_ways_to_keep_are_refused),
        cmocka_unit_test(members_are_told_from_others),
        cmocka_unit_test(orders_of_a_product_are_three),
        cmocka_unit_test(orders_of_the_innermost_level_matter_with_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
