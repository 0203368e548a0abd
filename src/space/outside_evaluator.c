#include "space/outside_evaluator.h"

#include "base/child.h"
#include "base/json.h"
#include "base/saved_state.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 100, QUESTION_SHOWN = 200, TRIES = 2 };
static const double LAST_SECONDS = 1;

struct sx_outside_evaluator {
    char *command;
    double seconds;
    unsigned restarts, repeats;
    const sx_cancel *cancel;
    double incumbent; /* the best score of the space at hand */
    pthread_mutex_t lock;
    sx_child *child; /* NULL: to be started with the next question */
    bool started, answered;
    char said[512]; /* by the child that failed last, to standard error */
    sx_outside_evaluator_account account;
    size_t width, n_remembered; /* numbers of an answer that is remembered, and how many answers */
    double *remembered;
    sx_answer_keeper keeper; /* functions are NULL: none */
};

void sx_outside_evaluator_options_init(sx_outside_evaluator_options *options) {
    *options = (sx_outside_evaluator_options){.seconds = 60, .restarts = 10, .repeats = 1};
}

sx_status sx_outside_evaluator_new(const sx_outside_evaluator_options *options, sx_outside_evaluator **out) {
    if (!options->command || !*options->command)
        return sx_error_new(SX_ERR_USAGE, "an evaluator needs a command");
    if (!(options->seconds > 0) || isinf(options->seconds))
        return sx_error_new(SX_ERR_USAGE, "%g seconds are no time limit for an answer of the evaluator",
                            options->seconds);
    sx_outside_evaluator *outside = calloc(1, sizeof *outside);
    if (!outside) return sx_error_memory();
    *outside = (sx_outside_evaluator){.command = strdup(options->command),
                                      .seconds = options->seconds,
                                      .restarts = options->restarts,
                                      .repeats = options->repeats,
                                      .incumbent = INFINITY,
                                      .cancel = options->cancel};
    if (!outside->command || pthread_mutex_init(&outside->lock, NULL) != 0) {
        free(outside->command);
        free(outside);
        return sx_error_memory();
    }
    *out = outside;
    return SX_OK;
}

void sx_outside_evaluator_free(sx_outside_evaluator *outside) {
    if (!outside) return;
    sx_child_end(outside->child, LAST_SECONDS);
    pthread_mutex_destroy(&outside->lock);
    free(outside->remembered);
    free(outside->command);
    free(outside);
}

sx_outside_evaluator_account sx_outside_evaluator_report(const sx_outside_evaluator *outside) {
    return outside->account;
}

const char *sx_outside_evaluator_command(const sx_outside_evaluator *outside) {
    return outside->command;
}

unsigned sx_outside_evaluator_repeats(const sx_outside_evaluator *outside) {
    return outside->repeats;
}

void sx_outside_evaluator_identity(const sx_outside_evaluator *outside, sx_text *text) {
    sx_identity_add(text, "--evaluator", "%s%s", outside ? "exec:" : "none", outside ? outside->command : "");
    sx_identity_add(text, "--evaluator-repeats", "%u", outside ? outside->repeats : 1);
    sx_identity_add(text, "--evaluator-time", "%.17g", outside ? outside->seconds : 0);
}

/* Notes what went wrong, and ends the child. */
static void note_failure(sx_outside_evaluator *outside, const char *format, const char *text) {
    sx_outside_evaluator_account *a = &outside->account;
    a->failed_at = a->questions;
    snprintf(a->failure, sizeof a->failure, format, SHOWN, text);
    snprintf(outside->said, sizeof outside->said, "%s", sx_child_said(outside->child));
    sx_child_end(outside->child, 0);
    outside->child = NULL;
}

/* Notes a reply that is no line. */
static void note_reply(sx_outside_evaluator *outside, sx_reply reply) {
    char text[SHOWN];
    if (reply == SX_REPLY_DIED) {
        sx_child_exit_text(outside->child, text, sizeof text);
        note_failure(outside, "%.*s", text);
    } else if (reply == SX_REPLY_LATE) {
        snprintf(text, sizeof text, "%g", outside->seconds);
        note_failure(outside, "it gave no answer within %.*s seconds", text);
    } else if (reply == SX_REPLY_LONG) {
        note_failure(outside, "its answer is longer than a megabyte: '%.*s...'",
                     sx_child_line(outside->child));
    } else {
        note_failure(outside, "it wrote more than one line for one question: '%.*s'",
                     sx_child_line(outside->child));
    }
}

/* Notes why a point was refused. */
static void note_refusal(sx_outside_evaluator *outside, const json_t *why) {
    sx_outside_evaluator_account *a = &outside->account;
    a->refused++;
    if (json_is_string(why))
        snprintf(a->refusal, sizeof a->refusal, "%s", json_string_value(why));
    else if (json_is_number(why))
        snprintf(a->refusal, sizeof a->refusal, "%g", json_number_value(why));
}

/* What is wrong with an answer, as a format with a place for its line; NULL: nothing. */
static const char *fault_of(const sx_outside_evaluator *outside, const sx_question_kind *kind,
                            const json_t *answer) {
    const json_t *value = json_object_get(answer, kind->value), *id = json_object_get(answer, "id");
    if (!json_is_object(answer)) return "its answer is not a JSON object: '%.*s'";
    if (id && (json_int_t)outside->account.questions != json_integer_value(id))
        return "its answer has the id of another question: '%.*s'";
    if (json_object_get(answer, kind->refusal)) return value ? "its answer is two answers: '%.*s'" : NULL;
    if (!value) return "its answer has no score and no refusal: '%.*s'";
    if (!json_is_number(value)) return "its score is not a number: '%.*s'";
    return kind->positive && !(json_number_value(value) > 0) ? "its score is not above 0: '%.*s'" : NULL;
}

/* Reads the answer of a line; false, and a note, where it is none. */
static bool take_answer(sx_outside_evaluator *outside, const sx_question_kind *kind, double *value,
                        unsigned *reason) {
    json_t *answer = sx_json_read(sx_child_line(outside->child));
    const char *fault = fault_of(outside, kind, answer);
    if (fault) {
        note_failure(outside, fault, sx_child_line(outside->child));
    } else {
        const json_t *why = json_object_get(answer, kind->refusal);
        outside->answered = true;
        *reason = why ? SX_REFUSED : 0;
        if (why)
            note_refusal(outside, why);
        else
            *value = json_number_value(json_object_get(answer, kind->value));
    }
    json_decref(answer);
    return !fault;
}

/* Starts the child, where there is none. */
static sx_status start_child(sx_outside_evaluator *outside) {
    if (outside->child) return SX_OK;
    SX_TRY(sx_child_start(outside->command, &outside->child));
    outside->account.restarts += outside->started;
    outside->started = true;
    return SX_OK;
}

/* Asks once; *done: there is an answer, or the search was told to stop. */
static sx_status try_once(sx_outside_evaluator *outside, const sx_question_kind *kind, const char *line,
                          double *value, unsigned *reason, bool *done) {
    sx_reply reply;
    SX_TRY(start_child(outside));
    SX_TRY(sx_child_ask(outside->child, line, strlen(line), outside->seconds, outside->cancel, &reply));
    *done = reply == SX_REPLY_CANCELLED;
    if (*done) {
        *reason = SX_NOT_EVALUATED;
        sx_child_end(outside->child, 0);
        outside->child = NULL;
    } else if (reply == SX_REPLY_LINE) {
        *done = take_answer(outside, kind, value, reason);
    } else {
        note_reply(outside, reply);
    }
    return SX_OK;
}

/* The error that ends a search. */
static sx_status give_up(const sx_outside_evaluator *outside, const char *line) {
    const sx_outside_evaluator_account *a = &outside->account;
    int length = (int)strcspn(line, "\n");
    bool cut = length > QUESTION_SHOWN;
    sx_status error = sx_error_new(SX_ERR_PROGRAM, "the evaluator '%s' failed at question %llu: %s",
                                   outside->command, (unsigned long long)a->questions, a->failure);
    int said = (int)strlen(outside->said);
    while (said > 0 && outside->said[said - 1] == '\n') said--;
    return sx_error_hint(error, "%s%.*s%sit was started %u time%s; the question was %.*s%s",
                         said ? "it wrote to standard error: " : "", said, outside->said, said ? "; " : "",
                         a->restarts + 1, a->restarts ? "s" : "", cut ? QUESTION_SHOWN : length, line,
                         cut ? "..." : "");
}

/* Asks until there is an answer, or the point or the outside evaluator is given up. */
static sx_status ask_program(sx_outside_evaluator *outside, const sx_question_kind *kind, const char *line,
                             double *value, unsigned *reason) {
    for (int i = 0; i < TRIES; i++) {
        bool done = false;
        SX_TRY(try_once(outside, kind, line, value, reason, &done));
        if (done) return SX_OK;
        if (outside->account.restarts == outside->restarts) return give_up(outside, line);
    }
    if (!outside->answered) return give_up(outside, line);
    outside->account.failed++;
    *reason = SX_REFUSED;
    return SX_OK;
}

/* Numbers a question, writes it as a line, and asks. */
static sx_status ask_line(sx_outside_evaluator *outside, const sx_question_kind *kind, json_t *question,
                          double *value, unsigned *reason) {
    outside->account.questions++;
    sx_json_set(question, "id", json_integer((json_int_t)outside->account.questions));
    char *text = question ? sx_json_print(question, JSON_COMPACT) : NULL;
    sx_text line = {0};
    if (text) sx_text_add(&line, "%s\n", text);
    free(text);
    sx_status status = !line.size || line.failed || sx_json_failed()
                           ? sx_error_memory()
                           : ask_program(outside, kind, line.data, value, reason);
    sx_text_free(&line);
    return status;
}

/* Asks about a point, again and again as long as the mean of the answers is better than the best score; *value is the mean. */
static sx_status ask_repeatedly(sx_outside_evaluator *outside, const sx_question_kind *kind, json_t *question,
                                double *value, unsigned *reason) {
    double sum = 0;
    for (unsigned n = 1;; n++) {
        SX_TRY(ask_line(outside, kind, question, value, reason));
        if (*reason) return SX_OK;
        sum += *value;
        *value = sum / n;
        if (n >= outside->repeats || *value >= outside->incumbent) return SX_OK;
    }
}

/* Asks about a point where no answer is kept, and keeps it. */
static sx_status ask_or_recall(sx_outside_evaluator *outside, const sx_question_kind *kind, const void *point,
                               json_t *question, double *value, unsigned *reason) {
    const sx_answer_keeper *keeper = &outside->keeper;
    uint64_t failed = outside->account.failed;
    if (!keeper->find) return ask_repeatedly(outside, kind, question, value, reason);
    char *text = sx_json_print(question, JSON_COMPACT | JSON_SORT_KEYS);
    if (!text) return sx_error_memory();
    sx_status status = SX_OK;
    if (keeper->find(keeper->user, text, value)) {
        *reason = isinf(*value) ? SX_REFUSED : 0;
        outside->account.recalled++;
    } else {
        status = ask_repeatedly(outside, kind, question, value, reason);
        if (!status && *reason != SX_NOT_EVALUATED && outside->account.failed == failed)
            status = keeper->keep(keeper->user, point, text, *reason ? INFINITY : *value);
    }
    free(text);
    return status;
}

sx_status sx_outside_evaluator_ask(sx_outside_evaluator *outside, const sx_question_kind *kind,
                                   const void *point, json_t *question, double *value, unsigned *reason) {
    pthread_mutex_lock(&outside->lock);
    sx_status status = ask_or_recall(outside, kind, point, question, value, reason);
    json_decref(question);
    pthread_mutex_unlock(&outside->lock);
    return status;
}

void sx_outside_evaluator_set_keeper(sx_outside_evaluator *outside, const sx_answer_keeper *keeper) {
    outside->keeper = keeper ? *keeper : (sx_answer_keeper){0};
}

void sx_outside_evaluator_remember(sx_outside_evaluator *outside, size_t d, const double *features,
                                   double ratio) {
    size_t width = d + 1;
    if (outside->width != width) outside->n_remembered = 0;
    outside->width = width;
    double *more = realloc(outside->remembered, (outside->n_remembered + 1) * width * sizeof *more);
    if (!more) return;
    outside->remembered = more;
    more += outside->n_remembered++ * width;
    memcpy(more, features, d * sizeof *more);
    more[d] = ratio;
}

const double *sx_outside_evaluator_remembered(const sx_outside_evaluator *outside, size_t d, size_t *n) {
    *n = outside->width == d + 1 ? outside->n_remembered : 0;
    return outside->remembered;
}

void sx_outside_evaluator_set_incumbent(sx_outside_evaluator *outside, double best) {
    outside->incumbent = best;
}

void sx_outside_evaluator_expect(sx_outside_evaluator *outside, double value) {
    outside->account.expected = value;
}
