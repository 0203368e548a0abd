#include "cli/evaluator.h"

#include "cli/progress.h"

#include <string.h>

enum { MAX_RESTARTS = 1000000, MAX_REPEATS = 1000 };

/* Refuses options that mean nothing without --evaluator. */
static sx_status refuse_alone(const sx_args *args) {
    static const char *const names[] = {"evaluator-time", "evaluator-restarts", "evaluator-repeats"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sx_args_flag(args, names[i]))
            return sx_error_new(SX_ERR_USAGE, "--%s needs --evaluator", names[i]);
    return SX_OK;
}

sx_status sx_evaluator_read(const sx_args *args, sx_outside_evaluator **out) {
    const char *text = sx_args_text(args, "evaluator", 0);
    sx_outside_evaluator_options options;
    if (!text) return refuse_alone(args);
    if (strncmp(text, "exec:", 5) != 0 || !text[5])
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--evaluator: '%s' is not a valid evaluator", text),
                             "write --evaluator exec:COMMAND, such as exec:./simulator");
    sx_outside_evaluator_options_init(&options);
    uint64_t restarts = sx_args_count(args, "evaluator-restarts", options.restarts);
    uint64_t repeats = sx_args_count(args, "evaluator-repeats", options.repeats);
    options.command = text + 5;
    options.seconds = sx_args_number(args, "evaluator-time", options.seconds);
    options.cancel = sx_interrupt_flag();
    if (!(options.seconds > 0))
        return sx_error_new(SX_ERR_USAGE, "--evaluator-time must be more than 0 seconds");
    if (restarts > MAX_RESTARTS)
        return sx_error_new(SX_ERR_USAGE, "--evaluator-restarts must be at most %d", MAX_RESTARTS);
    if (repeats < 1 || repeats > MAX_REPEATS)
        return sx_error_new(SX_ERR_USAGE, "--evaluator-repeats must be 1 to %d", MAX_REPEATS);
    options.restarts = (unsigned)restarts;
    options.repeats = (unsigned)repeats;
    return sx_outside_evaluator_new(&options, out);
}

void sx_evaluator_note(const sx_outside_evaluator *outside, bool quiet, sx_text *err) {
    if (!outside || quiet) return;
    sx_outside_evaluator_account a = sx_outside_evaluator_report(outside);
    if (a.refused && a.refused == a.questions)
        sx_text_add(err, "note: the evaluator refused all it was asked about, the last one with '%s'\n",
                    a.refusal);
    if (!a.restarts) return;
    sx_text_add(err,
                "note: the evaluator was started again %u time%s; the last failure was at question %llu: %s",
                a.restarts, a.restarts == 1 ? "" : "s", (unsigned long long)a.failed_at, a.failure);
    if (a.failed)
        sx_text_add(err, "; %llu point%s failed twice and count%s as illegal", (unsigned long long)a.failed,
                    a.failed == 1 ? "" : "s", a.failed == 1 ? "s" : "");
    sx_text_add(err, "\n");
}
