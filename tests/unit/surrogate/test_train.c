/* Training: the same weights after an interruption, what is refused, files, and gradients. */
#include "support/expect.h"
#include "support/small_map.h"
#include "surrogate/train.h"
#include "surrogate/view.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char family_text[] =
    "family: {einsum: 'O[m,n] += A[m,k]*B[k,n]', ranges: {m: 4..32/4, n: [8, 16], k: [2, 4, 6, 16]}}";
#define PROBLEM "O[m,n] += A[m,k]*B[k,n] {m:16,n:16,k:16}"

typedef struct ground {
    sx_arch arch;
    sx_family family;
    sx_train_options options;
    sx_train_result result;
    sx_cancel stop;
    uint64_t stop_at;
    char folder[64], checkpoint[128], best[128], file[128];
} ground;

static int set_up(void **state) {
    ground *g = calloc(1, sizeof *g);
    assert_non_null(g);
    sx_expect_ok(sx_catalog_arch("accel-b", &g->arch));
    sx_expect_ok(sx_family_parse("f", family_text, strlen(family_text), &g->family));
    sx_train_options_init(&g->options);
    g->options.data.arch = &g->arch;
    g->options.data.family = &g->family;
    g->options.data.n_problems = 40;
    g->options.data.per_problem = 50;
    g->options.held_problems = 4;
    g->options.n_widths = 2;
    g->options.width[0] = g->options.width[1] = 24;
    g->options.batch = 32;
    g->options.epochs = 4;
    g->options.measures = 5;
    strcpy(g->folder, "/tmp/sx-train-XXXXXX");
    assert_non_null(mkdtemp(g->folder));
    snprintf(g->checkpoint, sizeof g->checkpoint, "%s/c", g->folder);
    snprintf(g->best, sizeof g->best, "%s/c.best", g->folder);
    snprintf(g->file, sizeof g->file, "%s/s", g->folder);
    *state = g;
    return 0;
}

static int tear_down(void **state) {
    ground *g = *state;
    sx_train_result_fini(&g->result);
    unlink(g->checkpoint);
    unlink(g->best);
    unlink(g->file);
    rmdir(g->folder);
    free(g);
    return 0;
}

/* Raises the stop flag at a step. */
static void stop_late(void *user, const sx_train_progress *p) {
    ground *g = user;
    if (p->phase == SX_TRAIN_STEPS && p->step >= g->stop_at) sx_cancel_set(&g->stop);
}

static void it_learns_and_measures(void **state) {
    ground *g = *state;
    sx_expect_ok(sx_train(&g->options, &g->result));
    const sx_train_result *r = &g->result;
    assert_true(r->complete && !r->resumed && r->surrogate);
    assert_true(r->n_measures >= 5);
    assert_true(r->measure[r->n_measures - 1].held_loss < 0.75 * r->measure[0].held_loss);
    assert_true(r->measure[r->n_measures - 1].rank > 0.6);
    assert_int_equal(r->samples, 2000);
    assert_true(r->surrogate->record.held_loss <= r->measure[0].held_loss);
}

/* 2,000 held-out samples are measured after 2,000 trained ones at the earliest. */
static void measures_take_less_than_the_steps(void **state) {
    ground *g = *state;
    g->options.held_problems = 40;
    g->options.measures = 100;
    sx_expect_ok(sx_train(&g->options, &g->result));
    assert_int_equal(g->result.n_measures, 4);
    assert_int_equal(g->result.measure[0].step, 63);
}

static void threads_do_not_matter(void **state) {
    ground *g = *state;
    sx_train_result other;
    sx_expect_ok(sx_train(&g->options, &g->result));
    g->options.data.threads = 3;
    sx_expect_ok(sx_train(&g->options, &other));
    assert_true(sx_nn_hash(g->result.surrogate->net) == sx_nn_hash(other.surrogate->net));
    sx_train_result_fini(&other);
}

/* A training that is stopped twice comes to the weights and measures of one that is not. */
static void it_resumes_to_the_same_bytes(void **state) {
    ground *g = *state;
    sx_expect_ok(sx_train(&g->options, &g->result));
    sx_train_result part;
    g->options.checkpoint = g->checkpoint;
    g->options.progress = stop_late;
    g->options.user = g;
    g->options.data.cancel = &g->stop;
    for (g->stop_at = 120; g->stop_at < 200; g->stop_at += 60) {
        sx_expect_ok(sx_train(&g->options, &part));
        assert_false(part.complete);
        assert_non_null(part.surrogate);
        sx_train_result_fini(&part);
        g->stop = (sx_cancel){0};
    }
    g->options.progress = NULL;
    sx_expect_ok(sx_train(&g->options, &part));
    assert_true(part.complete && part.resumed);
    assert_int_equal(part.n_measures, g->result.n_measures);
    for (size_t i = 0; i < part.n_measures; i++)
        assert_true(part.measure[i].held_loss == g->result.measure[i].held_loss);
    assert_true(sx_nn_hash(part.surrogate->net) == sx_nn_hash(g->result.surrogate->net));
    sx_train_result_fini(&part);
}

static void checkpoints_of_others_are_refused(void **state) {
    ground *g = *state;
    g->options.checkpoint = g->checkpoint;
    sx_expect_ok(sx_train(&g->options, &g->result));
    sx_train_result other;
    g->options.epochs = 5;
    sx_expect_error(sx_train(&g->options, &other), "it was made with --epochs 4, not 5");
    sx_train_result_fini(&other);
    FILE *file = fopen(g->checkpoint, "w");
    fputs("nothing", file);
    fclose(file);
    g->options.epochs = 4;
    sx_expect_error(sx_train(&g->options, &other), g->checkpoint);
    sx_train_result_fini(&other);
}

static void a_loss_that_is_no_number_ends_it(void **state) {
    ground *g = *state;
    g->options.optimizer = SX_SGD;
    g->options.loss = SX_LOSS_MSE;
    g->options.form.raw_outputs = true;
    g->options.schedule.rate = 1e6;
    sx_expect_error(sx_train(&g->options, &g->result), "no longer a finite number");
}

static void too_few_samples_are_refused(void **state) {
    ground *g = *state;
    g->options.batch = 4000;
    sx_expect_error(sx_train(&g->options, &g->result), "fewer than a batch");
}

static void every_form_can_be_trained(void **state) {
    ground *g = *state;
    for (int i = 0; i < 8; i++) {
        g->options.form = (sx_surrogate_form){i & 1, i >> 1 & 1, i >> 2};
        g->options.epochs = 1;
        sx_expect_ok(sx_train(&g->options, &g->result));
        assert_int_equal(g->result.surrogate->net->outputs, i >> 2 ? 1 : 12);
        assert_true(isfinite(g->result.measure[0].rank));
        sx_train_result_fini(&g->result);
    }
}

static void files_read_back(void **state) {
    ground *g = *state;
    sx_surrogate *back;
    char *a, *b;
    sx_expect_ok(sx_train(&g->options, &g->result));
    sx_expect_ok(sx_surrogate_write(g->file, g->result.surrogate));
    sx_expect_ok(sx_surrogate_read(g->file, &back));
    assert_true(sx_nn_hash(back->net) == sx_nn_hash(g->result.surrogate->net));
    sx_expect_ok(sx_surrogate_text(back, &a));
    sx_expect_ok(sx_surrogate_text(g->result.surrogate, &b));
    assert_string_equal(a, b);
    free(a);
    free(b);
    sx_surrogate_free(back);
    sx_expect_error(sx_surrogate_parse("x", "{\"kind\": \"policy\"}", NULL), "not those of a surrogate");
}

/* Predicts the objective of a vector of inputs. */
static double predict(const sx_view *view, sx_nn_pass *pass, const float *input) {
    return exp2(sx_view_predict(view, sx_nn_forward(pass, input, 1)) - view->minimum);
}

/* The gradient is that of the predicted objective: against differences of it, for every form. */
static void gradients_are_those_of_the_objective(void **state) {
    ground *g = *state;
    sx_small_map map;
    sx_objective objective;
    sx_matrix_engine *engine;
    size_t compared = 0;
    sx_small_map_open(&map, PROBLEM, "accel-b", NULL, NULL);
    sx_expect_ok(sx_matrix_engine_new(SX_MATRIX_PLAIN, NULL, &engine));
    sx_view *view = calloc(1, sizeof *view);
    void *point = malloc(map.space->point_size);
    for (int form = 0; form < 8; form++) {
        sx_nn_pass *pass;
        g->options.form = (sx_surrogate_form){form & 1, form >> 1 & 1, form >> 2};
        sx_expect_ok(sx_train(&g->options, &g->result));
        sx_expect_ok(sx_objective_parse(form >> 2 ? "edp" : form & 1 ? "e^2*d" : "edp", &objective));
        sx_expect_ok(sx_view_init(g->result.surrogate, map.map, &objective, false, view));
        sx_expect_ok(sx_nn_pass_new(g->result.surrogate->net, engine, 1, &pass));
        for (uint64_t i = 0; i < 20; i++) {
            double values[SX_MAX_INPUTS], back[SX_MAX_INPUTS];
            float input[SX_MAX_INPUTS], gradient[SX_MAX_INPUTS], output[SX_MAX_OUTPUTS];
            assert_true(sx_space_sample(map.space, 1, i, point));
            sx_space_encode(map.space, point, values);
            sx_view_inputs(view, point, values, input);
            sx_view_values(view, point, input, back);
            for (size_t v = 0; v < map.space->n_values; v++) assert_true(fabs(back[v] - values[v]) < 1e-4);
            sx_view_gradient(view, sx_nn_forward(pass, input, 1), false, output);
            sx_nn_backward(pass, output, NULL, gradient);
            for (size_t v = 0; v < g->result.surrogate->encoding.n_inputs; v++) {
                const float h = 1e-2f, at = input[v];
                double middle = predict(view, pass, input);
                input[v] = at + h;
                double up = predict(view, pass, input);
                input[v] = at - h;
                double down = predict(view, pass, input);
                input[v] = at;
                double right = (up - middle) / (double)h, left = (middle - down) / (double)h;
                if (right == 0 && left == 0) continue; /* below the least ratio that is meant */
                if (fabs(right - left) > 0.05 * fabs(right) + 1e-3) continue; /* a kink of a ReLU */
                assert_true(fabs((right + left) / 2 - gradient[v]) <
                            0.05 * fabs(right) + 5e-3 * fabs(middle));
                compared++;
            }
        }
        sx_nn_pass_free(pass);
        sx_train_result_fini(&g->result);
    }
    print_message("%zu slopes compared\n", compared);
    assert_true(compared > 2000);
    free(point);
    free(view);
    sx_matrix_engine_free(engine);
    sx_small_map_close(&map);
}

/* Compares a surrogate with a space and expects an error. */
static void expect_misfit(const ground *g, const char *einsum, const char *arch,
                          const sx_map_space_options *options, const char *objective, const char *why) {
    sx_small_map map;
    sx_objective o;
    sx_view *view = calloc(1, sizeof *view);
    sx_small_map_open(&map, einsum, arch, NULL, options);
    sx_expect_ok(sx_objective_parse(objective, &o));
    sx_expect_error(sx_view_init(g->result.surrogate, map.map, &o, false, view), why);
    free(view);
    sx_small_map_close(&map);
}

static void misfits_are_refused_with_the_reason(void **state) {
    ground *g = *state;
    const sx_map_space_options remainders = {.remainders = true};
    g->options.epochs = 1;
    sx_expect_ok(sx_train(&g->options, &g->result));
    expect_misfit(g, PROBLEM, "accel-a", NULL, "edp", "another architecture");
    expect_misfit(g, PROBLEM, "accel-b", &remainders, "edp", "without remainders");
    expect_misfit(g, "O[m] += A[m,k]*B[k] {m:16,k:16}", "accel-b", NULL, "edp", "not one of them");
    expect_misfit(g, PROBLEM, "accel-b", NULL, "last-level", "does not predict this objective");
    g->result.surrogate->form.edp = true;
    expect_misfit(g, PROBLEM, "accel-b", NULL, "energy", "nothing but EDP");
    g->result.surrogate->space.keep_all = true;
    expect_misfit(g, PROBLEM, "accel-b", NULL, "edp", "--keep-all");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_learns_and_measures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(measures_take_less_than_the_steps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(threads_do_not_matter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_resumes_to_the_same_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(checkpoints_of_others_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_loss_that_is_no_number_ends_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_few_samples_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_form_can_be_trained, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_read_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gradients_are_those_of_the_objective, set_up, tear_down),
        cmocka_unit_test_setup_teardown(misfits_are_refused_with_the_reason, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("train", tests, NULL, NULL);
}
