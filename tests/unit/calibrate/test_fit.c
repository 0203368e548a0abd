/* Fits of keys: what a prediction that fails does to them. */
#include "calibrate/fit.h"
#include "calibrate/measured.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { N = 4 };

/* Rows whose prediction is the key times their size; call number `fails`, from 1, is an error, and rows above `most` of
 * the key have no prediction. */
typedef struct line {
    double key, most;
    size_t calls, fails;
} line;

static sx_status predict_row(void *user, size_t row, double *out) {
    line *l = user;
    if (++l->calls == l->fails) return sx_error_memory();
    *out = l->key > l->most ? NAN : l->key * (double)(row + 1);
    return SX_OK;
}

static sx_status fit_line(line *l, sx_fit *fit) {
    static const double measured[N] = {3, 6, 9, 12};
    static const uint32_t group[N] = {0, 1, 2, 3};
    *fit = (sx_fit){.n_free = 1, .key = {{.name = "slope"}}};
    const sx_fit_task task = {.n = N,
                              .n_groups = N,
                              .measured = measured,
                              .group = group,
                              .predict = predict_row,
                              .user = l,
                              .value = {&l->key},
                              .most = {INFINITY}};
    return sx_fit_rows(fit, &task, 2, 2, 0);
}

static void a_prediction_that_fails_ends_the_fit(void **state) {
    sx_fit fit;
    line whole = {.key = 2, .most = INFINITY};
    (void)state;
    sx_expect_ok(fit_line(&whole, &fit));
    assert_true(fabs(fit.after[0] - 3) < 0.1);
    sx_fit_fini(&fit);
    for (size_t at = 1; at <= whole.calls; at++) {
        line l = {.key = 2, .most = INFINITY, .fails = at};
        sx_status status = fit_line(&l, &fit);
        assert_non_null(status);
        assert_int_equal(sx_status_code(status), SX_ERR_MEMORY);
        assert_int_equal(l.calls, at);
        sx_status_free(status);
        sx_fit_fini(&fit);
    }
}

static void steps_without_a_prediction_are_not_taken(void **state) {
    sx_fit fit;
    line l = {.key = 2, .most = 2.5};
    (void)state;
    sx_expect_ok(fit_line(&l, &fit));
    assert_true(fit.after[0] <= 2.5 && isfinite(fit.fitted.mean_error));
    sx_fit_fini(&fit);
    l = (line){.key = 2, .most = 1};
    sx_expect_error(fit_line(&l, &fit), "row 1 of those that are fitted has no finite prediction");
    sx_fit_fini(&fit);
}

static void a_file_that_cannot_be_read_is_not_left_out(void **state) {
    sx_measurements m = {0};
    (void)state;
    sx_expect_ok(sx_measurements_leave_out(&m, 2, sx_error_new(SX_ERR_INPUT, "no row")));
    assert_int_equal(m.n_rejected, 1);
    sx_expect_error(sx_measurements_leave_out(&m, 3, sx_error_new(SX_ERR_FILE, "cannot read")),
                    "cannot read");
    assert_int_equal(m.n_rejected, 1);
    sx_measurements_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prediction_that_fails_ends_the_fit),
        cmocka_unit_test(steps_without_a_prediction_are_not_taken),
        cmocka_unit_test(a_file_that_cannot_be_read_is_not_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
