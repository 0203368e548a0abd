#include "support/check_space.h"

#include "support/expect.h"

#include "sextant/certificate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A number of quarters, as often as not 0. */
static double draw_quarters(sx_rng *rng, int most) {
    return sx_rng_below(rng, 2) ? 0 : 0.25 * (double)sx_rng_range(rng, 0, most);
}

/* Gives an architecture energies that doubles hold exactly; one in two has no leakage, addresses, networks, latencies
 * and clusters. */
static void tame_arch(sx_rng *rng, sx_arch *arch) {
    bool bare = sx_rng_below(rng, 2), network = sx_rng_below(rng, 3) == 0;
    for (int s = 0; s < arch->n_levels; s++) {
        sx_storage *level = &arch->level[s];
        if (bare) level->cluster_size = 1;
        level->leak_energy = bare ? 0 : draw_quarters(rng, 4);
        level->addr_gen_energy = bare ? 0 : draw_quarters(rng, 4);
        level->energy_per_hop = bare || !network ? 0 : draw_quarters(rng, 8);
        level->router_energy = bare || !network ? 0 : draw_quarters(rng, 2);
        level->fill_latency = bare ? 0 : sx_rng_below(rng, 4);
        level->drain_latency = bare ? 0 : sx_rng_below(rng, 4);
        level->multiple_buffering = sx_rng_below(rng, 4) ? 1 : 2;
        level->block_size = sx_rng_below(rng, 3) ? 1 : 2;
        level->min_utilization = sx_rng_below(rng, 8) ? 0 : 0.25;
        level->read_energy = 0.25 * (double)sx_rng_range(rng, 0, 8 + 20 * s);
        level->fill_energy = 0.25 * (double)sx_rng_range(rng, 0, 8 + 20 * s);
        level->update_energy = 0.25 * (double)sx_rng_range(rng, 0, 8 + 20 * s);
        level->read_bandwidth = sx_rng_below(rng, 3) ? INFINITY : 0.25 * (double)sx_rng_range(rng, 1, 12);
        level->write_bandwidth = sx_rng_below(rng, 3) ? INFINITY : 0.25 * (double)sx_rng_range(rng, 1, 12);
        level->shared_bandwidth = sx_rng_below(rng, 4) ? INFINITY : 0.25 * (double)sx_rng_range(rng, 1, 12);
    }
    arch->compute.energy = 0.25 * (double)sx_rng_below(rng, 9);
    arch->cycle_seconds = 0;
}

void sx_tame_limits(sx_constraints *limits) {
    for (int s = 0; s < limits->n_levels; s++) {
        sx_level_limits *level = &limits->level[s];
        level->no_temporal_reuse = level->no_multicast = level->no_link_transfer = level->rmw_first_update =
            0;
    }
}

/* Makes a space, with remainders or with exact factors, of what was drawn, tamed; false where there is none. */
static bool make_tame(sx_rng *rng, bool remainders, sx_small_space *small) {
    sx_small_space_fini(small);
    if (small->options.remainders != remainders) return false;
    tame_arch(rng, &small->c.arch);
    if (sx_rng_below(rng, 2)) sx_tame_limits(&small->limits);
    small->c.options = (sx_model_options){.no_link_transfers = small->c.options.no_link_transfers,
                                          .no_first_read_elision = small->c.options.no_first_read_elision};
    sx_expect_ok(sx_model_new(&small->c.problem, &small->c.arch, &small->c.options, &small->model));
    sx_status status = sx_map_space_new(small->model, &small->limits, &small->options, &small->space);
    if (!status) {
        small->map = sx_map_space_of(small->space);
        return true;
    }
    sx_status_free(status);
    sx_model_free(small->model);
    return false;
}

void sx_draw_check_space(sx_rng *rng, sx_small_space *small) {
    do sx_random_space(rng, SX_MOST_MAPPINGS, small);
    while (!make_tame(rng, false, small));
}

void sx_draw_check_space_of(sx_rng *rng, sx_space_kind kind, sx_small_space *small) {
    do sx_random_space_of(rng, kind, SX_MOST_MAPPINGS, small);
    while (!make_tame(rng, false, small));
}

void sx_draw_remainder_space(sx_rng *rng, sx_small_space *small) {
    do sx_random_space_of(rng, SX_KIND_REMAINDERS, SX_MOST_MAPPINGS, small);
    while (!make_tame(rng, true, small));
}

void sx_list_mappings(const sx_small_space *small, sx_mapping_list *out) {
    void *point = malloc(sx_space_point_size(small->space));
    sx_model_workspace *evaluator;
    sx_cardinal index = {.exact = true};
    memset(out, 0, sizeof *out);
    out->mapping = malloc(4 * SX_MOST_MAPPINGS * sizeof *out->mapping);
    out->score = malloc(4 * SX_MOST_MAPPINGS * sizeof *out->score);
    assert_true(point && out->mapping && out->score);
    sx_expect_ok(sx_model_workspace_new(small->model, &evaluator));
    for (; out->n < 4 * SX_MOST_MAPPINGS && sx_space_at(small->space, &index, point); index.low++) {
        if (!sx_space_legal(small->space, point, NULL, 0)) continue;
        sx_map_space_mapping(small->space, point, &out->mapping[out->n]);
        assert_int_equal(sx_evaluate_score(evaluator, &out->mapping[out->n], &out->score[out->n]).reason,
                         SX_LEGAL);
        out->n++;
    }
    assert_true(out->n < 4 * SX_MOST_MAPPINGS);
    sx_model_workspace_free(evaluator);
    free(point);
}

void sx_free_mappings(sx_mapping_list *list) {
    free(list->mapping);
    free(list->score);
}

sx_check_case *sx_check_case_of(const sx_small_space *small, const char *objective,
                                const sx_mapping_list *list, size_t best, const size_t *front, size_t n_front,
                                sx_check_doubt *doubt) {
    sx_certificate *c = calloc(1, sizeof *c);
    sx_check_case *out;
    char *text;
    assert_non_null(c);
    c->problem = small->c.problem;
    c->arch = small->c.arch;
    c->constraints = small->limits;
    c->space = small->options;
    c->model = small->c.options;
    sx_expect_ok(sx_objective_parse(objective, &c->objective));
    c->mapping = list->mapping[best];
    c->score = list->score[best];
    c->value = c->lower_bound = sx_objective_value(&c->objective, &c->score);
    c->optimal = true;
    c->n_front = n_front;
    c->front = n_front ? calloc(n_front, sizeof *c->front) : NULL;
    for (size_t i = 0; i < n_front; i++) {
        c->front[i].mapping = list->mapping[front[i]];
        c->front[i].score = list->score[front[i]];
    }
    sx_expect_ok(sx_proof_new(0, (size_t)c->arch.n_levels * c->problem.n_dims, &c->proof));
    sx_expect_ok(sx_certificate_write(c, &text));
    doubt->why[0] = 0;
    sx_expect_ok(sx_check_case_read("certificate", text, strlen(text), &out, doubt));
    sx_certificate_free(c);
    free(text);
    return out;
}

sx_independent_verdict sx_judge_case(const sx_check_case *c, sx_check_doubt doubt, bool walk_only,
                                     int64_t more, sx_independent_report *report) {
    const sx_independent_options options = {.threads = 1};
    const sx_check_trial trial = {walk_only, more, c->claim.arrays == 0};
    sx_expect_ok(sx_check_decide(c, &options, &trial, &doubt, report));
    return report->verdict;
}

void sx_fail_case(const sx_small_space *small, uint64_t number, const char *what, const char *why) {
    char *text = sx_small_space_text(small);
    print_error("case %llu: %s: %s\n%s\n", (unsigned long long)number, what, why, text);
    free(text);
    fail();
}
