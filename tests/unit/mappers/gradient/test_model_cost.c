/* The cost model over real factors, compared with the model at whole ones and with its own differences. */
#include "mappers/gradient/model_cost.h"

#include "mapspace/map_space.h"
#include "sextant/input.h"
#include "sextant/space.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const problems[] = {
    "O[m,n] += A[m,k]*B[k,n] {m:24,n:12,k:30}",
    "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:2,k:16,c:12,p:14,q:14,r:3,s:3}",
    "O[k,p,q] += I[c,2*p+r,2*q+s]*W[k,c,r,s] {k:16,c:8,p:12,q:6,r:3,s:3}",
    "A[i,j] += B[i,k,l]*C[j,k]*D[j,l] {i:16,j:12,k:8,l:18}",
};
enum { N_PROBLEMS = sizeof problems / sizeof *problems, DRAWS = 300 };

/* A model on a built-in architecture, with or without links. */
static sx_model *model_of(const char *arch_name, const char *einsum, bool links) {
    sx_problem problem;
    sx_arch arch;
    sx_model *model;
    const sx_model_options options = {.no_link_transfers = !links};
    sx_expect_ok(sx_catalog_arch(arch_name, &arch));
    sx_expect_ok(sx_einsum_parse(einsum, &problem));
    sx_expect_ok(sx_model_new(&problem, &arch, &options, &model));
    return model;
}

/* Draws a mapping of a space. */
static void draw(const sx_space *space, uint64_t index, sx_mapping *out) {
    void *point = malloc(sx_space_point_size(space));
    assert_non_null(point);
    assert_true(sx_space_sample(space, 1, index, point));
    sx_map_space_mapping(space, point, out);
    free(point);
}

/* Whether one record says what a level's children get of a tensor: no two loops move the same rank, and where words go
 * from child to child none stand apart in a rank of several dimensions, and rows of compute units are whole. */
static bool is_simple(const sx_model *model, const sx_nest *nest, int tensor, int level) {
    const sx_shape *shape = &model->shape[tensor];
    const bool links = !model->options.no_link_transfers;
    bool moved[SX_MAX_RANKS] = {false};
    if (level == 0 && links && nest->spatial_of[1] > nest->n_x[0] &&
        nest->slot_x[0] < model->level[0].fanout_x)
        return false;
    for (int l = nest->spatial_of[level]; l < nest->spatial_of[level + 1]; l++) {
        const int dim = nest->spatial[l].dim;
        if (!(shape->dims >> dim & 1) || shape->solo >> dim & 1) continue;
        if (links) return false;
        for (int i = shape->first_of_dim[dim]; i < shape->first_of_dim[dim + 1]; i++) {
            if (moved[shape->of_dim[i].rank]) return false;
            moved[shape->of_dim[i].rank] = true;
        }
    }
    return true;
}

/* Whether every tensor is counted with one record per level: what the real form promises to agree with. */
static bool is_covered(sx_model_workspace *evaluator, const sx_mapping *mapping) {
    const sx_model *model = evaluator->model;
    assert_int_equal(sx_nest_build(model, mapping, &evaluator->nest).reason, SX_LEGAL);
    if (model->net_energy) return false;
    for (int v = 0; v < model->n_tensors; v++)
        for (int s = 0; s < model->n_levels; s++)
            if (!is_simple(model, &evaluator->nest, v, s)) return false;
    return true;
}

/* Compares draws of a space with the model; returns how many were covered. */
static int compare_with_model(const sx_model *model, const char *what) {
    sx_space *space;
    sx_model_workspace *evaluator;
    sx_relaxed relaxed = {.model = model, .rounded = true};
    int covered = 0;
    sx_expect_ok(sx_map_space_new(model, NULL, NULL, &space));
    sx_expect_ok(sx_model_workspace_new(model, &evaluator));
    for (uint64_t i = 0; i < DRAWS; i++) {
        sx_mapping mapping;
        sx_relaxed_mapping real;
        sx_score score;
        draw(space, i, &mapping);
        assert_int_equal(sx_evaluate_score(evaluator, &mapping, &score).reason, SX_LEGAL);
        if (!is_covered(evaluator, &mapping)) continue;
        sx_relaxed_from(model, &mapping, &real);
        sx_relaxed_evaluate(&relaxed, &real);
        covered++;
        if (fabs(relaxed.energy.value / score.energy_pj - 1) > 1e-9 ||
            fabs(relaxed.cycles.value / score.cycles - 1) > 1e-9 || relaxed.overflow.value > 1e-12) {
            print_error("%s, draw %d: energy %.17g, is %.17g; cycles %.17g, are %.17g; overflow %g\n", what,
                        (int)i, relaxed.energy.value, score.energy_pj, relaxed.cycles.value, score.cycles,
                        relaxed.overflow.value);
            fail();
        }
    }
    sx_relaxed_free(&relaxed);
    sx_model_workspace_free(evaluator);
    sx_space_free(space);
    return covered;
}

static void whole_factors_cost_what_the_model_says(void **state) {
    (void)state;
    const char *name;
    int all = 0, covered = 0, refused = 0;
    for (size_t a = 0; (name = sx_catalog_arch_name(a, NULL)) != NULL; a++)
        for (int p = 0; p < N_PROBLEMS; p++)
            for (int links = 0; links < 2; links++) {
                char what[200];
                sx_model *model = model_of(name, problems[p], links);
                if (model->sparse) { /* its relaxation is the dense one */
                    sx_model_free(model);
                    continue;
                }
                sx_status status = sx_relaxed_check(model);
                snprintf(what, sizeof what, "%s, problem %d, links %d", name, p, links);
                if (!status) {
                    int n = compare_with_model(model, what);
                    print_message("%s: %d of %d\n", what, n, DRAWS);
                    if (!links) assert_true(n > DRAWS / 2);
                    covered += n;
                    all += DRAWS;
                }
                refused += status != NULL;
                sx_status_free(status);
                sx_model_free(model);
            }
    print_message("%d of %d mappings compared, %d models refused\n", covered, all, refused);
    assert_true(covered > all / 2);
}

/* The logarithm of what a search would minimise. */
static double loss(sx_relaxed *r, const sx_relaxed_mapping *m) {
    sx_relaxed_evaluate(r, m);
    sx_tape *t = &r->tape;
    sx_real edp = sx_real_add(t, sx_real_log(t, r->energy), sx_real_log(t, r->cycles));
    edp = sx_real_add(t, edp, sx_real_scale(t, r->overflow, 10, 0));
    sx_tape_differentiate(t, edp);
    return edp.value;
}

/* Compares the derivative by one factor; adds to the counts of those that agree and those that do not. */
static void compare_derivative(sx_relaxed *r, sx_relaxed_mapping *m, double *factor, double derivative,
                               int *agree) {
    const double step = 1e-6, at = *factor;
    *factor = at * exp(step);
    double above = loss(r, m);
    *factor = at * exp(-step);
    double below = loss(r, m);
    *factor = at;
    double difference = (above - below) / (2 * step);
    agree[fabs(difference - derivative) < 1e-4 * (1 + fabs(difference))]++;
}

static void derivatives_are_those_of_finite_differences(void **state) {
    (void)state;
    static const char *const archs[] = {"mind-mappings", "accel-b", "edge-unified"};
    int agree[2] = {0};
    for (int c = 0; c < 3 * N_PROBLEMS; c++) {
        sx_model *model = model_of(archs[c / N_PROBLEMS], problems[c % N_PROBLEMS], true);
        sx_space *space;
        sx_relaxed r = {.model = model};
        sx_expect_ok(sx_map_space_new(model, NULL, NULL, &space));
        for (uint64_t i = 0; i < 10; i++) {
            sx_rng rng = sx_rng_stream(7, "relaxed", i);
            sx_mapping mapping;
            sx_relaxed_mapping m;
            double derivative[2][SX_MAX_LEVELS][SX_MAX_DIMS];
            draw(space, i, &mapping);
            sx_relaxed_from(model, &mapping, &m);
            for (int s = 0; s < model->n_levels; s++)
                for (int d = 0; d < model->n_dims; d++) {
                    m.temporal[s][d] *= exp(0.4 * sx_rng_double(&rng));
                    m.spatial[s][d] *= exp(0.4 * sx_rng_double(&rng));
                }
            loss(&r, &m);
            for (int s = 0; s < model->n_levels; s++)
                for (int d = 0; d < model->n_dims; d++) {
                    derivative[0][s][d] = sx_tape_derivative(&r.tape, r.log_temporal[s][d]);
                    derivative[1][s][d] = sx_tape_derivative(&r.tape, r.log_spatial[s][d]);
                }
            for (int s = 0; s < model->n_levels; s++)
                for (int d = 0; d < model->n_dims; d++) {
                    compare_derivative(&r, &m, &m.temporal[s][d], derivative[0][s][d], agree);
                    compare_derivative(&r, &m, &m.spatial[s][d], derivative[1][s][d], agree);
                }
        }
        sx_relaxed_free(&r);
        sx_space_free(space);
        sx_model_free(model);
    }
    print_message("%d derivatives agree, %d do not\n", agree[1], agree[0]);
    assert_true(agree[1] > 1000 && agree[0] == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_factors_cost_what_the_model_says),
        cmocka_unit_test(derivatives_are_those_of_finite_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
