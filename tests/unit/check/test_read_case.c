#include "check/case.h"
#include "support/expect.h"

#include "sextant/certificate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The text of a certificate of a matrix product on a machine of the catalog, with limits. */
static char *make_text(const char *machine) {
    sx_certificate *c = calloc(1, sizeof *c);
    char *text;
    assert_non_null(c);
    sx_expect_ok(sx_einsum_parse("O[m,n] += A[m,k]*B[k,2*n+m] {m:8,n:8,k:4}", &c->problem));
    sx_expect_ok(sx_problem_bind(&c->problem, 2, "Weights"));
    sx_expect_ok(sx_catalog_arch(machine, &c->arch));
    sx_expect_ok(sx_objective_parse("edp", &c->objective));
    sx_mapping_init(&c->mapping, &c->problem, &c->arch);
    sx_constraints_init(&c->constraints, &c->problem, &c->arch);
    sx_level_limits *level = &c->constraints.level[1];
    level->temporal.min[0] = 2;
    level->temporal.rest[2] = true;
    level->spatial.n_inner = 1;
    level->spatial.inner[0] = 2;
    level->split = 1;
    level->must_keep = 4;
    c->constraints.level[0].min_parallelism = 0.3;
    c->mapping.level[1].no_multicast = 2;
    c->value = c->lower_bound = 12;
    c->score = (sx_score){.energy_pj = 3, .cycles = 4};
    c->optimal = true;
    sx_expect_ok(sx_proof_new(7, (size_t)c->arch.n_levels * c->problem.n_dims, &c->proof));
    sx_expect_ok(sx_certificate_write(c, &text));
    sx_certificate_free(c);
    return text;
}

static sx_check_case *read_text(const char *text, sx_check_doubt *doubt) {
    sx_check_case *c = NULL;
    sx_expect_ok(sx_check_case_read("c", text, strlen(text), &c, doubt));
    return c;
}

static void all_is_read(void **state) {
    (void)state;
    sx_check_doubt doubt;
    char *text = make_text("eyeriss");
    sx_check_case *c = read_text(text, &doubt);
    assert_string_equal(doubt.why, "");
    const sx_check_machine *m = &c->machine;
    assert_int_equal(c->problem.tensor[2].coef[1][1], 2);
    assert_int_equal(c->problem.tensor[2].coef[1][0], 1);
    assert_true(c->problem.tensor[0].output && !c->problem.tensor[1].output);
    assert_int_equal(m->n_levels, 5);
    assert_int_equal(m->scale, 500);
    assert_int_equal(m->compute_energy, 1100);
    assert_int_equal(m->level[3].energy[SX_READ], 9086);
    assert_true(m->level[3].fanout[0] == 14 && m->level[3].fanout[1] == 12 && m->level[0].fanout[0] == 1);
    assert_true(m->level[3].port[SX_PORT_READ].num == 9 && m->level[3].port[SX_PORT_SHARED].den == 0);
    assert_int_equal(m->level[0].usable, 16);
    assert_int_equal(m->level[4].usable, -1);
    assert_int_equal(m->level[1].may, 4);
    assert_int_equal(m->level[3].may, 7);
    assert_int_equal(c->limits.level[1].temporal.min[0], 2);
    assert_true(c->limits.level[1].temporal.rest[2] && c->limits.level[1].spatial.inner[0] == 2);
    assert_true(c->limits.level[1].split == 1 && c->limits.level[0].split == -1);
    assert_int_equal(c->limits.level[1].must_keep, 4);
    assert_true(c->shares[0].min_parallelism.num == 3 && c->shares[0].min_parallelism.den == 10);
    assert_int_equal(c->best.mapping.level[4].temporal[0], 8);
    assert_int_equal(c->best.mapping.level[1].no_multicast, 2);
    assert_true(c->claim.goal.energy_power == 1 && c->claim.goal.delay_power == 1 && c->claim.optimal &&
                c->claim.arrays == 7);
    sx_check_case_free(c);
    free(text);
}

/* A text in which one part is replaced by another. */
static char *replace(const char *text, const char *part, const char *with) {
    const char *at = strstr(text, part);
    assert_non_null(at);
    char *out = calloc(1, strlen(text) + strlen(with) + 1);
    assert_non_null(out);
    memcpy(out, text, (size_t)(at - text));
    strcat(out, with);
    strcat(out, at + strlen(part));
    return out;
}

/* No part of a spatial loop on X may be said or left out. */
static void no_part_on_x_is_read(void **state) {
    (void)state;
    sx_check_doubt doubt;
    char *text = make_text("eyeriss");
    char *said = replace(text, "\"type\": \"spatial\"", "\"type\": \"spatial\", \"x_part\": 0");
    sx_check_case *c = read_text(said, &doubt);
    assert_string_equal(doubt.why, "");
    for (int s = 0; s < c->machine.n_levels; s++) assert_int_equal(c->best.mapping.level[s].x_part, 0);
    sx_check_case_free(c);
    free(said);
    free(text);
}

static void what_has_no_rule_is_a_doubt(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"\"keep_all\"", "\"spare\": 1, \"keep_all\"", "the key 'spare'"},
        {"\"type\": \"temporal\"", "\"colour\": 1, \"type\": \"temporal\"", "the key 'colour'"},
        {"\"technology\"", "\"speed\": 1, \"technology\"", "the key 'speed' of a level"},
        {"\"objective\": \"edp\"", "\"objective\": \"e^2*d^5\"", "the objective 'e^2*d^5'"},
        {"\"objective\": \"edp\"", "\"objective\": \"e*d*e\"", "the objective 'e*d*e'"},
        {"\"objective\": \"edp\"", "\"objective\": \"e^1.5\"", "the objective 'e^1.5'"},
        {"\"objective\": \"edp\"", "\"objective\": \"edp,delay,energy\"", "the objective 'edp,delay,energy'"},
        {"\"objective\": \"edp\"", "\"objective\": \"d,e,d\"", "the objective 'd,e,d'"},
        {"\"objective\": \"edp\"", "\"objective\": \"delay,\"", "the objective 'delay,'"},
        {"m=8 n=8 k=4", "m=3,2 n=8 k=4", "a space without remainders"},
        {"\"read_energy\": 0.25", "\"read_energy\": 0.1234567890123456789e-4", "no fraction"},
        {"\"m\": 8", "\"densities\": {}, \"m\": 8", "the key 'densities'"},
        {"\"read_bandwidth\": 9.0", "\"read_bandwidth\": 0", "a bandwidth of L2 is 0"},
    };
    char *text = make_text("eyeriss");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *changed = replace(text, cases[i][0], cases[i][1]);
        sx_check_doubt doubt;
        sx_check_case_free(read_text(changed, &doubt));
        if (!strstr(doubt.why, cases[i][2])) fail_msg("'%s' has no '%s'", doubt.why, cases[i][2]);
        free(changed);
    }
    free(text);
}

/* A key without a rule is a doubt or an error in every map of a certificate but its history. */
static void every_map_has_known_keys_alone(void **state) {
    (void)state;
    char *text = make_text("eyeriss");
    int maps = 0;
    for (const char *at = text; (at = strchr(at, '{')); at++) {
        static const char key[] = "\"zz\": 1, ", free_text[] = "\"history\": ";
        if (at > text && strncmp(at + 1 - sizeof free_text, free_text, sizeof free_text - 1) == 0) continue;
        size_t before = (size_t)(at + 1 - text);
        char *changed = malloc(strlen(text) + sizeof key);
        sx_check_doubt doubt;
        sx_check_case *c = NULL;
        assert_non_null(changed);
        memcpy(changed, text, before);
        strcpy(changed + before, key);
        strcat(changed, at + 1);
        sx_status status = sx_check_case_read("c", changed, strlen(changed), &c, &doubt);
        if (!status && !strstr(doubt.why, "'zz'")) fail_msg("not seen in %.80s", at);
        if (!status) sx_check_case_free(c);
        sx_status_free(status);
        free(changed);
        maps++;
    }
    assert_true(maps > 25);
    free(text);
}

static void what_is_wrong_is_an_error(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"\"format\": 1", "\"format\": 2", "format 2"},
        {"\"problem\"", "\"problems\"", "'problem'"},
        {"\"target\": \"L2\"", "\"target\": \"L7\"", "there is no level 'L7'"},
        {"\"keep_all\": false", "\"keep_all\": false, \"keep-all\": true", "keep"},
        {"\"instances\": 168", "\"instances\": 169", "do not fill the mesh"},
        {"m=8 n=8 k=4", "m=8 n=8 k", "is no factor"},
        {"m=8 n=8 k=4", "m=8 n=8 k=0", "is no factor"},
        {"\"type\": \"temporal\"", "\"type\": \"temporary\"", "there is no directive 'temporary'"},
        {"\"meshX\": 14", "\"meshX\": -14", "meshX"},
        {"\"inner\": ", "\"outer\": [\"k\"], \"inner\": ", "a dimension is both innermost and outermost"},
        {"\"limits\": [", "\"limits\": [{\"level\": \"weight_spad\"}, ", "a level has limits twice"},
        {"\"rest\": [", "\"rest\": [\"k\", ", "the dimension 'k' is named twice"},
        {"\"rest\": [", "\"rest\": [\"z\", ", "there is no dimension 'z'"},
        {"\"keep\": [\n          \"B\"", "\"keep\": [\n          \"Z\"", "there is no tensor 'Z'"},
        {"\"mapping\": [", "\"mapping\": [{\"target\": \"L2\", \"type\": \"bypass\"}, ",
         "a level has a directive twice"},
        {"\"type\": \"temporal\"", "\"type\": \"spatial\", \"split\": 0", "the mapping says too little of"},
        {"m=8 n=8 k=4", "m=8 n=8 k=4x", "is no factor"},
        {"m=8 n=8 k=4", "m=8 n=8 z=4", "is no factor"},
        {"\"arrays\": 7", "\"arrays\": -7", "arrays"},
        {"\"storage\": [", "\"storage\": 3, \"x\": [", "storage must be"},
        {"\"storage\": [", "\"storage\": [], \"x\": [", "an architecture has 1 to"},
        {"\"keep\": [\n          \"Outputs\"", "\"keep\": 3, \"x\": [\n          \"O\"",
         "a list of tensors must be"},
        {"\"coefficients\": [", "\"coefficients\": [{\"name\": \"coef_2\", \"default\": 3}, ",
         "two coefficients are named 'coef_2'"},
    };
    char *text = make_text("eyeriss");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *changed = replace(text, cases[i][0], cases[i][1]);
        sx_check_doubt doubt;
        sx_check_case *c;
        sx_expect_error(sx_check_case_read("c", changed, strlen(changed), &c, &doubt), cases[i][2]);
        free(changed);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_read),
        cmocka_unit_test(no_part_on_x_is_read),
        cmocka_unit_test(what_has_no_rule_is_a_doubt),
        cmocka_unit_test(every_map_has_known_keys_alone),
        cmocka_unit_test(what_is_wrong_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
