/* The program `sextant`: finds the command, runs it, and writes its output. */
#include "base/json.h"
#include "base/ranks.h"
#include "base/warnings.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/reading.h"
#include "cli/terminal.h"
#include "report/table.h"
#include "scale/launch.h"
#include "sextant/session.h"
#include "text/settings.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const sx_command *const commands[] = {
    &sx_command_map,      &sx_command_eval,      &sx_command_space,    &sx_command_compare,
    &sx_command_codesign, &sx_command_systolic,  &sx_command_place,    &sx_command_train,
    &sx_command_verify,   &sx_command_calibrate, &sx_command_estimate, &sx_command_sweep,
    &sx_command_report,   &sx_command_list,      &sx_command_new,      &sx_command_help,
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

const sx_command *sx_command_at(size_t index) {
    return index < N_COMMANDS ? commands[index] : NULL;
}

sx_status sx_command_find(const char *name, const sx_command **out) {
    const char *names[N_COMMANDS];
    for (size_t i = 0; i < N_COMMANDS; i++) {
        names[i] = commands[i]->name;
        if (strcmp(name, names[i]) != 0) continue;
        *out = commands[i];
        return SX_OK;
    }
    sx_status error = sx_error_new(SX_ERR_USAGE, "unknown command '%s'", name);
    const char *nearest = sx_text_nearest(name, names, N_COMMANDS);
    if (nearest) return sx_error_hint(error, "did you mean `sextant %s`?", nearest);
    return sx_error_hint(error, "`sextant help` lists the commands");
}

/* Prints an error; false where memory is out, which is then said instead. */
static bool print_error(const struct sx_error *error) {
    sx_text text = {0};
    sx_text_add(&text, "error: ");
    if (error->file) sx_add_shown(&text, error->file);
    if (error->file && error->line) sx_text_add(&text, ":%d:%d", error->line, error->column);
    if (error->file) sx_text_add(&text, ": ");
    sx_add_shown(&text, error->message);
    if (error->hint) sx_text_add(&text, "\nhint: ");
    if (error->hint) sx_add_shown(&text, error->hint);
    sx_text_add(&text, "\n");
    bool whole = !text.failed;
    if (whole)
        sx_output_say(&text);
    else
        (void)sx_print(STDERR_FILENO, "error: out of memory\n");
    sx_text_free(&text);
    return whole;
}

/* Prints a failure, if it is one, and returns the exit code. */
static sx_exit exit_with(const struct sx_error *error, sx_exit otherwise) {
    if (!error) return otherwise;
    return print_error(error) ? sx_exit_of_error(error) : SX_EXIT_FAILED;
}

/* Adds an argument of a command line as a shell reads it. */
static void add_argument(const char *argument, sx_text *out) {
    const char *plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./,:@%";
    const bool quoted = !*argument || argument[strspn(argument, plain)];
    sx_text_add(out, quoted ? " '" : " ");
    for (const char *c = argument; *c; c++) sx_text_add(out, "%.*s%c", *c == '\'' ? 3 : 0, "'\\'", *c);
    if (quoted) sx_text_add(out, "'");
}

/* Adds the command line to the warnings of a command that has refuted a bound of its own. */
static void tell_fault(int argc, char **argv, sx_warnings *warnings) {
    sx_text line = {0};
    if (!sx_warnings_faulty(warnings)) return;
    for (int i = 1; i < argc; i++) add_argument(argv[i], &line);
    sx_warnings_fault(warnings, "please report the internal error with the command: sextant%s",
                      line.failed ? "" : line.data);
    sx_text_free(&line);
}

/* Writes the output of a command, and returns the exit code: a result that cannot be written
 * is a failure of resources. The checkpoint goes last, and only where nothing failed: a kill or a failure
 * before that loses nothing. */
static sx_exit write_output(sx_output *result, SX_TAKE sx_status status) {
    sx_output_show_warnings(result);
    if (result->err.size) sx_output_say(&result->err);
    const bool failed = status != SX_OK;
    sx_exit code = exit_with(status, result->exit);
    const bool faulty = sx_warnings_faulty(result->warnings);
    if (faulty) code = sx_exit_join(code, SX_EXIT_FAILED);
    if (faulty && !failed)
        status = sx_error_new(SX_ERR_INTERNAL, "a lower bound is above the answer: the warnings have it");
    sx_status written = sx_output_deliver(result, status);
    if (!written && !failed && result->checkpoint) written = sx_session_forget(result->checkpoint);
    if (written) code = sx_exit_join(exit_with(written, code), SX_EXIT_FAILED);
    sx_status_free(status);
    sx_status_free(written);
    return code;
}

/* Adds what is to be reported of the processes that worked together; not to JSON, which has the bytes of one process. */
static void add_report(sx_ranks *ranks, sx_text *err) {
    char *report = sx_ranks_report(ranks);
    for (char *line = report; line && *line;) {
        size_t length = strcspn(line, "\n");
        sx_text_add(err, "warning: %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    sx_free(report);
}

/* Runs a command, whose time limit holds while it reads its input, too. */
static sx_status read_and_run(const sx_command *command, const sx_args *args, sx_output *result) {
    sx_reading_begins(args);
    sx_status status = command->run(args, result);
    sx_reading_ends();
    return status;
}

/* Refuses an option that other commands have, where it says why. */
static sx_status check_refused(const sx_command *command, int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        for (size_t k = 0; k < command->n_refused && strncmp(argv[i], "--", 2) == 0; k++) {
            const sx_refused_option *option = &command->refused[k];
            const size_t length = strcspn(argv[i] + 2, "=");
            if (strlen(option->name) != length || strncmp(argv[i] + 2, option->name, length) != 0) continue;
            return sx_error_hint(sx_error_new(SX_ERR_USAGE, "%s takes no --%s", command->name, option->name),
                                 "%s", option->why);
        }
    return SX_OK;
}

/* Refuses an option that changes nothing without another one. */
static sx_status check_needed(const sx_command *command, const sx_args *args) {
    static const struct {
        const char *command, *option, *needs; /* command: NULL, any that has both */
    } rows[] = {
        {NULL, "again", "db"},
        {NULL, "checkpoint-seconds", "checkpoint"},
        {"eval", "max-steps", "simulate"},
        {"verify", "batch", "problem"},
        {"verify", "training", "problem"},
        {"verify", "training-step", "problem"},
        {"verify", "phase", "problem"},
        {"verify", "tokens", "problem"},
        {"verify", "context", "problem"},
        {"verify", "logits", "problem"},
        {"verify", "routing", "problem"},
        {"verify", "experts-hit", "problem"},
        {"verify", "causal", "problem"},
        {"verify", "mla", "problem"},
        {"verify", "rename", "problem"},
        {"verify", "bind", "problem"},
        {"verify", "estimator", "arch"},
        {"verify", "no-ert", "arch"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((!rows[i].command || strcmp(rows[i].command, command->name) == 0) &&
            sx_args_flag(args, rows[i].option) && !sx_args_flag(args, rows[i].needs))
            return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--%s needs --%s", rows[i].option, rows[i].needs),
                                 "without it the option changes nothing");
    return SX_OK;
}

/* Runs a command, together with other processes where it can be divided. */
static sx_status run_command(int argc, char **argv, sx_ranks *ranks, sx_output *result) {
    const sx_command *command;
    sx_args args;
    SX_TRY(sx_command_find(argv[0], &command));
    SX_TRY(check_refused(command, argc, argv));
    SX_TRY(sx_args_parse(command->options, command->n_options, argc, argv, &args));
    sx_status status = sx_args_flag(&args, "help") ? SX_OK : check_needed(command, &args);
    sx_settings settings = {0};
    args.settings = &settings;
    args.warnings = result->warnings;
    args.ranks = command->divided ? ranks : NULL;
    result->verbose = sx_args_flag(&args, "verbose");
    result->json = sx_args_flag(&args, "json");
    if (sx_args_flag(&args, "help") && result->json)
        status = sx_help_json(command, &result->out);
    else if (sx_args_flag(&args, "help"))
        sx_help_command(command, &result->out);
    else if (!status && (command->divided || !sx_ranks_follows(ranks)))
        status = read_and_run(command, &args, result);
    if (sx_args_flag(&args, "json") || sx_args_flag(&args, "write") || sx_args_flag(&args, "eval"))
        result->out.width = 0;
    sx_settings_fini(&settings);
    sx_args_fini(&args);
    return status;
}

static bool is_one_of(const char *word, const char *name, const char *letter) {
    return strcmp(word, name) == 0 || strcmp(word, letter) == 0;
}

/* Makes a process that works for another one silent, and leaves signals to that one. */
static void silence_process(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) exit(SX_EXIT_FAILED);
}

/* Whether words of the command line, which may not be understood, ask for JSON, in full or in short. */
static bool asks_json(char **words) {
    for (; *words && strcmp(*words, "--") != 0; words++) {
        const size_t size = strcspn(*words, "=");
        if (size > 2 && strncmp(*words, "--json", size) == 0) return true;
    }
    return false;
}

/* Joins the other processes that the launcher has started; of those that fail, one says why. */
static sx_status join_processes(sx_ranks **out) {
    bool first = sx_launch_number() == 0;
    if (!first) silence_process();
    SX_TRY(sx_ranks_join(out));
    if (first && sx_ranks_follows(*out)) silence_process();
    return SX_OK;
}

/* Answers the command line. */
static sx_status answer_words(int argc, char **argv, sx_ranks *ranks, sx_output *result) {
    if (argc < 2) {
        sx_help_program(&result->err);
        sx_output_exits(result, SX_EXIT_BAD);
    } else if (is_one_of(argv[1], "--help", "-h")) {
        sx_help_program(&result->out);
    } else if (is_one_of(argv[1], "--version", "-V")) {
        sx_help_version(&result->out);
    } else {
        return run_command(argc - 1, argv + 1, ranks, result);
    }
    return SX_OK;
}

int main(int argc, char **argv) {
    sx_ranks *ranks = NULL;
    sx_json_begin();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    sx_output result = {.out.width = sx_terminal_width(STDOUT_FILENO),
                        .err.width = sx_terminal_width(STDERR_FILENO),
                        .json = asks_json(argv)};
    sx_status status = sx_warnings_new(&result.warnings);
    if (!status) status = join_processes(&ranks);
    if (!status) status = answer_words(argc, argv, ranks, &result);
    if (sx_ranks_follows(ranks)) sx_ranks_leave(ranks, status, SX_EXIT_FOUND);
    add_report(ranks, &result.err);
    tell_fault(argc, argv, result.warnings);
    sx_exit code = write_output(&result, status);
    sx_text_free(&result.out);
    sx_text_free(&result.err);
    sx_text_free(&result.unwritten);
    sx_warnings_free(result.warnings);
    sx_ranks_leave(ranks, NULL, (int)code);
    return (int)code;
}
