/* Asking an outside evaluator: answers, refusals, failures and restarts, by small programs of the shell. */
#include "base/json.h"
#include "space/outside_evaluator.h"
#include "support/expect.h"
#include "support/toy_space.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Sets the first number of a toy point. */
static sx_status describe(const sx_space *space, const void *point, json_t *object) {
    (void)space;
    sx_json_set(object, "x", json_integer(((const sx_toy_point *)point)->x[0]));
    return SX_OK;
}

static const sx_question_kind kind = {.value = "score",
                                      .refusal = "illegal",
                                      .positive = true,
                                      .metric = SX_MAX_METRICS,
                                      .name = "measured",
                                      .describe = describe};

static sx_outside_evaluator *start(const char *command, unsigned restarts) {
    sx_outside_evaluator_options options;
    sx_outside_evaluator *outside;
    sx_outside_evaluator_options_init(&options);
    options.command = command;
    options.restarts = restarts;
    options.seconds = 20;
    sx_expect_ok(sx_outside_evaluator_new(&options, &outside));
    assert_string_equal(sx_outside_evaluator_command(outside), command);
    return outside;
}

/* A question with a key of its own. */
static json_t *question(const char *text) {
    json_t *object = json_object();
    sx_json_set(object, "text", json_string(text));
    return object;
}

/* Asks once; the answer's score, or -1 where there is none. */
static double ask(sx_outside_evaluator *outside, unsigned *reason) {
    double value = -1;
    sx_expect_ok(sx_outside_evaluator_ask(outside, &kind, NULL, question("a %s b"), &value, reason));
    return value;
}

/* Each line gets its number back; the question has it as its id. */
static void answers_are_scores(void **state) {
    (void)state;
    sx_outside_evaluator *outside = start("n=0; while read -r line; do n=$((n+1)); case $line in *'%s b\"'*) "
                                          "echo '{\"id\": '$n', \"score\": '$n'.5}';; esac; done",
                                          0);
    unsigned reason = 7;
    assert_true(ask(outside, &reason) == 1.5);
    assert_int_equal(reason, 0);
    assert_true(ask(outside, &reason) == 2.5);
    sx_outside_evaluator_expect(outside, 3.25);
    sx_outside_evaluator_account account = sx_outside_evaluator_report(outside);
    assert_int_equal(account.questions, 2);
    assert_true(account.refused == 0 && account.failed == 0 && account.restarts == 0);
    assert_true(account.failed_at == 0 && !account.failure[0] && account.expected == 3.25);
    sx_outside_evaluator_free(outside);
    sx_outside_evaluator_free(NULL);
}

/* What a refusal says is kept, a text or a number; the point is no failure. */
static void refusals_are_counted(void **state) {
    (void)state;
    sx_outside_evaluator *outside = start(
        "read -r l; echo '{\"illegal\": \"too wide\"}'; read -r l; echo '{\"illegal\": 1.5}'; read -r l; "
        "echo '{\"illegal\": true}'; read -r l",
        0);
    static const char *const said[] = {"too wide", "1.5", "1.5"};
    for (unsigned i = 0; i < 3; i++) {
        unsigned reason = 0;
        assert_true(ask(outside, &reason) == -1);
        assert_int_equal(reason, SX_REFUSED);
        sx_outside_evaluator_account account = sx_outside_evaluator_report(outside);
        assert_int_equal(account.refused, i + 1);
        assert_string_equal(account.refusal, said[i]);
        assert_true(account.failed == 0 && account.failed_at == 0);
    }
    sx_outside_evaluator_free(outside);
}

/* Fails where an evaluator that may not be started again does not end with such an error. */
static void expect_failure(const char *command, const char *message) {
    sx_outside_evaluator *outside = start(command, 0);
    unsigned reason = 0;
    double value = -1;
    sx_expect_error(sx_outside_evaluator_ask(outside, &kind, NULL, question("q"), &value, &reason), message);
    sx_outside_evaluator_account account = sx_outside_evaluator_report(outside);
    assert_int_equal(account.failed_at, 1);
    const char *failure = strstr(message, "question 1: ") + strlen("question 1: ");
    assert_int_equal(strncmp(account.failure, failure, strlen(failure)), 0);
    assert_true(account.restarts == 0 && account.failed == 0 && value == -1);
    sx_outside_evaluator_free(outside);
}

static void failures_are_named(void **state) {
    (void)state;
    expect_failure("read -r l; exit 3",
                   "the evaluator 'read -r l; exit 3' failed at question 1: it exited with code 3");
    expect_failure("read -r l; echo 5; read -r l",
                   "failed at question 1: its answer is not a JSON object: '5'");
    expect_failure("read -r l; echo '{\"id\": 2, \"score\": 1}'; read -r l",
                   "question 1: its answer has the id of another question: '{\"id\": 2, \"score\": 1}'");
    expect_failure("read -r l; echo '{\"illegal\": 1, \"score\": 1}'; read -r l",
                   "question 1: its answer is two answers: '{\"illegal\": 1, \"score\": 1}'");
    expect_failure("read -r l; echo '{}'; read -r l",
                   "question 1: its answer has no score and no refusal: '{}'");
    expect_failure("read -r l; echo '{\"score\": \"1\"}'; read -r l",
                   "question 1: its score is not a number: '{\"score\": \"1\"}'");
    expect_failure("read -r l; echo '{\"score\": 0}'; read -r l",
                   "question 1: its score is not above 0: '{\"score\": 0}'");
    expect_failure("read -r l; printf '{\"score\": 1}\\n{}\\n'; read -r l",
                   "question 1: it wrote more than one line for one question: '{\"score\": 1}");
}

/* The hint has what it said to standard error without the last ends of lines, how often it was started, and the beginning of
 * the question. */
static void hints_show_what_was_said(void **state) {
    (void)state;
    static const char *const commands[] = {"read -r l; echo 'no licence' >&2; echo >&2; exit 1",
                                           "read -r l; exit 1"};
    static const char *const hints[] = {
        "it wrote to standard error: no licence; it was started 2 times; the question was "
        "{\"text\":\"q\",\"id\":1}",
        "it was started 2 times; the question was {\"text\":\"q\",\"id\":1}"};
    for (int i = 0; i < 2; i++) {
        sx_outside_evaluator *outside = start(commands[i], 1);
        unsigned reason;
        double value;
        sx_status error = sx_outside_evaluator_ask(outside, &kind, NULL, question("q"), &value, &reason);
        assert_non_null(error);
        assert_string_equal(sx_status_hint(error), hints[i]);
        sx_status_free(error);
        sx_outside_evaluator_free(outside);
    }
}

/* 200 characters of a question are shown. */
static void hints_show_the_beginning_of_a_question(void **state) {
    (void)state;
    enum { SHOWN = 200, AROUND = sizeof "{'text':'','id':1}" - 1 };
    for (int length = SHOWN - AROUND; length <= SHOWN - AROUND + 1; length++) {
        const bool cut = length > SHOWN - AROUND;
        char text[SHOWN], end[8];
        double value;
        unsigned reason;
        memset(text, 'q', (size_t)length);
        text[length] = 0;
        sx_outside_evaluator *outside = start("read -r l; exit 1", 0);
        sx_status error = sx_outside_evaluator_ask(outside, &kind, NULL, question(text), &value, &reason);
        assert_non_null(error);
        const char *hint = sx_status_hint(error), *shown = strchr(hint, '{');
        assert_int_equal(strlen(shown), SHOWN + (cut ? strlen("...") : 0));
        snprintf(end, sizeof end, "%s", cut ? ":1..." : ":1}");
        assert_string_equal(shown + strlen(shown) - strlen(end), end);
        sx_status_free(error);
        sx_outside_evaluator_free(outside);
    }
}

/* An evaluator that never answered is given up after two tries, with restarts left. One that answered has a point that fails
 * twice refused, and goes on. */
static void points_that_fail_twice_are_refused(void **state) {
    (void)state;
    double value = -1;
    unsigned reason = 0;
    sx_outside_evaluator *outside = start("read -r l; exit 1", 5);
    sx_expect_error(sx_outside_evaluator_ask(outside, &kind, NULL, question("q"), &value, &reason),
                    "question 1");
    assert_int_equal(sx_outside_evaluator_report(outside).restarts, 1);
    sx_outside_evaluator_free(outside);
    outside = start(
        "while read -r l; do case $l in *'\"id\":2}') exit 4;; *) echo '{\"score\": 2}';; esac; done", 2);
    assert_true(ask(outside, &reason) == 2);
    assert_true(ask(outside, &reason) == -1);
    assert_int_equal(reason, SX_REFUSED);
    sx_outside_evaluator_account account = sx_outside_evaluator_report(outside);
    assert_true(account.failed == 1 && account.restarts == 1 && account.refused == 0);
    assert_int_equal(account.failed_at, 2);
    assert_string_equal(account.failure, "it exited with code 4");
    assert_true(ask(outside, &reason) == 2);
    assert_int_equal(reason, 0);
    assert_int_equal(sx_outside_evaluator_report(outside).restarts, 2);
    sx_outside_evaluator_free(outside);
}

/* A search that was told to stop does not wait for an answer, and has no failure. */
static void cancelled_questions_are_not_evaluated(void **state) {
    (void)state;
    sx_cancel *cancel;
    sx_outside_evaluator_options options;
    sx_outside_evaluator *outside;
    unsigned reason = 0;
    sx_outside_evaluator_options_init(&options);
    assert_true(options.seconds == 60 && options.restarts == 10 && !options.command);
    options.command = "read -r l; sleep 20";
    sx_expect_ok(sx_cancel_new(&cancel));
    options.cancel = cancel;
    sx_expect_ok(sx_outside_evaluator_new(&options, &outside));
    sx_cancel_set(cancel);
    ask(outside, &reason);
    assert_int_equal(reason, SX_NOT_EVALUATED);
    assert_int_equal(sx_outside_evaluator_report(outside).failed_at, 0);
    sx_outside_evaluator_free(outside);
    options.seconds = 0;
    sx_expect_error(sx_outside_evaluator_new(&options, &outside), "0 seconds are no time limit");
    options.seconds = INFINITY;
    sx_expect_error(sx_outside_evaluator_new(&options, &outside), "inf seconds are no time limit");
    sx_cancel_free(cancel);
}

static void late_answers_are_named(void **state) {
    (void)state;
    sx_outside_evaluator_options options;
    sx_outside_evaluator *outside;
    double value;
    unsigned reason;
    sx_outside_evaluator_options_init(&options);
    options.command = "read -r l; sleep 20";
    options.seconds = 0.125;
    options.restarts = 0;
    sx_expect_ok(sx_outside_evaluator_new(&options, &outside));
    sx_expect_error(sx_outside_evaluator_ask(outside, &kind, NULL, question("q"), &value, &reason),
                    "it gave no answer within 0.125 seconds");
    sx_outside_evaluator_free(outside);
}

/* Keeps one answer. */
typedef struct shelf {
    char question[80];
    double value;
    int kept;
} shelf;

static bool find_answer(void *user, const char *text, double *value) {
    const shelf *kept = user;
    if (!kept->kept || strcmp(kept->question, text) != 0) return false;
    *value = kept->value;
    return true;
}

static sx_status keep_answer(void *user, const void *point, const char *text, double value) {
    (void)point;
    shelf *kept = user;
    kept->kept++;
    snprintf(kept->question, sizeof kept->question, "%s", text);
    kept->value = value;
    return SX_OK;
}

/* A question that was answered is not asked again, refusals included; one that failed is kept nowhere. */
static void kept_answers_are_not_asked_for(void **state) {
    (void)state;
    sx_outside_evaluator *outside =
        start("while read -r l; do case $l in *'\"id\":1}') echo '{\"score\": 4}';; "
              "*'\"id\":2}') echo '{\"illegal\": 1}';; *) exit 1;; esac; done",
              9);
    shelf kept = {.kept = 0};
    const sx_answer_keeper keeper = {&kept, find_answer, keep_answer};
    double value = 0;
    unsigned reason = 7;
    sx_outside_evaluator_set_keeper(outside, &keeper);
    for (unsigned i = 0; i < 2; i++) {
        sx_expect_ok(sx_outside_evaluator_ask(outside, &kind, NULL, question("q"), &value, &reason));
        assert_true(value == 4 && reason == 0 && kept.kept == 1);
        assert_string_equal(kept.question, "{\"text\":\"q\"}");
    }
    for (unsigned i = 0; i < 2; i++) {
        sx_expect_ok(sx_outside_evaluator_ask(outside, &kind, NULL, question("r"), &value, &reason));
        assert_true(reason == SX_REFUSED && kept.kept == 2 && isinf(kept.value));
    }
    sx_outside_evaluator_account account = sx_outside_evaluator_report(outside);
    assert_true(account.questions == 2 && account.recalled == 2 && account.refused == 1);
    sx_expect_ok(sx_outside_evaluator_ask(outside, &kind, NULL, question("s"), &value, &reason));
    assert_true(reason == SX_REFUSED && kept.kept == 2);
    sx_outside_evaluator_set_keeper(outside, NULL);
    sx_expect_ok(sx_outside_evaluator_ask(outside, &kind, NULL, question("r"), &value, &reason));
    assert_int_equal(sx_outside_evaluator_report(outside).recalled, 2);
    sx_outside_evaluator_free(outside);
}

/* The mean of three answers counts where it stays below the best score; else the mean up to there. The model sets the best. */
static void best_answers_are_repeated(void **state) {
    (void)state;
    sx_outside_evaluator_options options;
    sx_outside_evaluator *outside;
    double value;
    unsigned reason = 7;
    shelf kept = {.kept = 0};
    const sx_answer_keeper keeper = {&kept, find_answer, keep_answer};
    sx_outside_evaluator_options_init(&options);
    options.command = "for s in 4 6 8 3 9 7 5 6 2 1; do read -r l; echo '{\"score\": '$s'}'; done; cat";
    options.repeats = 3;
    sx_expect_ok(sx_outside_evaluator_new(&options, &outside));
    static const double best[] = {INFINITY, 5, 6, 6}, mean[] = {6, 6, 7}, questions[] = {3, 5, 6, 9};
    for (int i = 0; i < 4; i++) {
        char text[] = {(char)('a' + i), 0};
        if (i == 3) sx_outside_evaluator_set_keeper(outside, &keeper);
        sx_outside_evaluator_set_incumbent(outside, best[i]);
        sx_expect_ok(sx_outside_evaluator_ask(outside, &kind, NULL, question(text), &value, &reason));
        if (i == 3) assert_true(kept.kept == 1 && kept.value == value && value > 4.33 && value < 4.34);
        if (i < 3) assert_true(value == mean[i]);
        assert_true(reason == 0 && (double)sx_outside_evaluator_report(outside).questions == questions[i]);
    }
    sx_outside_evaluator_free(outside);
}

/* Answers of one width are remembered in order; another width starts anew. */
static void answers_are_remembered(void **state) {
    (void)state;
    sx_outside_evaluator *outside = start("true", 0);
    size_t n = 9;
    (void)sx_outside_evaluator_remembered(outside, 2, &n);
    assert_int_equal(n, 0);
    for (int i = 0; i < 3; i++)
        sx_outside_evaluator_remember(outside, 2, (const double[]){i, 10 + i}, 100 + i);
    const double *all = sx_outside_evaluator_remembered(outside, 2, &n);
    assert_int_equal(n, 3);
    assert_memory_equal(all, ((const double[]){0, 10, 100, 1, 11, 101, 2, 12, 102}), 9 * sizeof *all);
    (void)sx_outside_evaluator_remembered(outside, 3, &n);
    assert_int_equal(n, 0);
    sx_outside_evaluator_remember(outside, 1, (const double[]){5}, 6);
    all = sx_outside_evaluator_remembered(outside, 1, &n);
    assert_int_equal(n, 1);
    assert_memory_equal(all, ((const double[]){5, 6}), 2 * sizeof *all);
    sx_outside_evaluator_free(outside);
}

/* The model has one metric more, the answer's; illegal points are not asked about, and others keep their own metrics. */
static void models_ask_about_legal_points(void **state) {
    (void)state;
    sx_space *toy = sx_toy_space_new(NULL);
    const sx_point_model_type *own = sx_space_model(toy)->type;
    sx_outside_evaluator *outside = start(
        "while read -r l; do x=${l##*\\\"x\\\":}; x=${x%%[,\\}]*}; if [ $x -gt 9 ]; then echo '{\"illegal\": "
        "\"wide\"}'; else echo \"{\\\"score\\\": 1$x}\"; fi; done",
        0);
    sx_point_model *model;
    sx_expect_ok(sx_outside_evaluator_model_new(outside, toy, &kind, &model));
    assert_int_equal(model->type->n_metrics, own->n_metrics + 1);
    assert_string_equal(model->type->metrics[own->n_metrics].name, "measured");
    assert_int_equal(strncmp(model->type->name, "exec:while", 10), 0);
    assert_true(model->type->batch == 1 && !model->type->key && !model->type->bound);
    assert_ptr_equal(sx_outside_evaluator_of(model), outside);
    assert_null(sx_outside_evaluator_of(sx_space_model(toy)));
    sx_objective objective;
    sx_scorer *scorer, *plain;
    sx_expect_ok(sx_objective_parse("edp", &objective));
    sx_expect_ok(sx_scorer_new(toy, model, &objective, &scorer));
    sx_expect_ok(sx_scorer_new(toy, NULL, &objective, &plain));
    const sx_toy_point points[] = {{{4}}, {{3}}, {{12}}, {{5}}}; /* 3 is illegal */
    sx_outcome out[4], without[4];
    sx_expect_ok(sx_scorer_score(scorer, points, 4, INFINITY, out));
    sx_expect_ok(sx_scorer_score(plain, points, 4, INFINITY, without));
    assert_true(out[1].reason == without[1].reason && without[1].reason);
    assert_int_equal(out[2].reason, SX_REFUSED);
    for (int i = 0; i < 4; i += 3) {
        assert_int_equal(out[i].reason, 0);
        assert_true(out[i].metrics.value[0] == without[i].metrics.value[0]);
        assert_true(out[i].metrics.value[own->n_metrics] == 10 + points[i].x[0]);
    }
    assert_int_equal(sx_outside_evaluator_report(outside).questions, 3);
    sx_scorer_free(scorer);
    sx_scorer_free(plain);
    sx_outside_evaluator_model_free(model);
    sx_outside_evaluator_model_free(NULL);
    sx_outside_evaluator_free(outside);
    sx_space_free(toy);
}

/* Where the metric is one of the space's own, the answer takes its place; where it is the first beyond them, it is one more. */
static void answers_replace_a_metric(void **state) {
    (void)state;
    sx_space *toy = sx_toy_space_new(NULL);
    const sx_point_model_type *own = sx_space_model(toy)->type;
    sx_outside_evaluator *outside = start("true", 0);
    for (size_t metric = 0; metric <= own->n_metrics; metric++) {
        const bool more = metric == own->n_metrics;
        sx_question_kind other = kind;
        sx_point_model *model;
        other.metric = metric;
        sx_expect_ok(sx_outside_evaluator_model_new(outside, toy, &other, &model));
        assert_int_equal(model->type->n_metrics, own->n_metrics + more);
        assert_string_equal(model->type->metrics[metric].name, more ? "measured" : own->metrics[metric].name);
        sx_outside_evaluator_model_free(model);
    }
    sx_outside_evaluator_free(outside);
    sx_space_free(toy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_scores),
        cmocka_unit_test(refusals_are_counted),
        cmocka_unit_test(failures_are_named),
        cmocka_unit_test(hints_show_what_was_said),
        cmocka_unit_test(hints_show_the_beginning_of_a_question),
        cmocka_unit_test(points_that_fail_twice_are_refused),
        cmocka_unit_test(cancelled_questions_are_not_evaluated),
        cmocka_unit_test(late_answers_are_named),
        cmocka_unit_test(kept_answers_are_not_asked_for),
        cmocka_unit_test(best_answers_are_repeated),
        cmocka_unit_test(answers_are_remembered),
        cmocka_unit_test(models_ask_about_legal_points),
        cmocka_unit_test(answers_replace_a_metric),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
