#include "cli/command.h"
#include "cli/completion.h"
#include "cli/man.h"
#include "report/json_parts.h"
#include "report/table.h"

#include "sextant/all.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELP_WIDTH = 100, HELP_INDENT = 28 };

/* Adds what the exit codes say; own: in the words of a command. */
static void help_exits(const char *const *own, sx_text *out) {
    sx_text line = {0};
    for (int i = 0; i < SX_N_EXITS; i++) {
        const char *text = sx_exit_text(own, (sx_exit)i);
        if (text) sx_text_add(&line, "%s %d %s", i ? ";" : "Exit codes:", i, text);
    }
    sx_text_add(&line, ".");
    if (!line.failed) sx_wrap(line.data, 0, 0, HELP_WIDTH, out);
    out->failed |= line.failed;
    sx_text_free(&line);
}

void sx_help_program(sx_text *out) {
    sx_text_add(
        out,
        "usage: sextant COMMAND [OPTION ...]\n\n"
        "Sextant finds and costs mappings of tensor computations onto hardware accelerators.\n\ncommands:\n");
    sx_table table;
    sx_table_begin(&table, "ll");
    for (size_t i = 0; sx_command_at(i); i++) {
        sx_table_cell(&table, "%s", sx_command_at(i)->name);
        sx_table_cell(&table, "%s", sx_command_at(i)->about);
    }
    sx_table_end(&table, 2, out);
    sx_text_add(out, "\n`sextant help COMMAND` describes a command, `sextant --version` shows the version "
                     "and the optional parts of this build.\n");
    help_exits(NULL, out);
}

static void help_option(const sx_option *option, sx_text *out) {
    char left[128];
    char letter[8] = "    ";
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    const char *argument = option->argument ? option->argument : "";
    int n = snprintf(left, sizeof left, "  %s--%s%s%s", letter, option->name,
                     *argument && option->type != SX_OPTION_CHOICE ? " " : "", argument);
    sx_text_add(out, "%s", left);
    if (n + 2 > HELP_INDENT) {
        sx_text_add(out, "\n");
        n = 0;
    }
    sx_text_add(out, "%*s", HELP_INDENT - n, "");
    sx_wrap(option->text, HELP_INDENT, HELP_INDENT, HELP_WIDTH, out);
}

void sx_help_command(const sx_command *command, sx_text *out) {
    sx_text_add(out, "usage: sextant %s %s\n\n", command->name, command->usage);
    sx_wrap(command->about, 0, 0, HELP_WIDTH, out);
    sx_text_add(out, "\noptions:\n");
    for (size_t i = 0; i < command->n_options; i++) help_option(&command->options[i], out);
    if (command->details) sx_text_add(out, "\n%s", command->details);
    if (command->divided) sx_text_add(out, "%s", SX_HELP_DIVIDED);
    for (int i = 0; i < SX_N_EXITS; i++) {
        if (!command->exits[i]) continue;
        help_exits(command->exits, out);
        break;
    }
}

void sx_help_version(sx_text *out) {
    const char *features = sx_features();
    sx_text_add(out, "sextant %s\n", sx_version());
    if (!*features) {
        sx_text_add(out, "optional parts: none\n");
        return;
    }
    sx_text_add(out, "optional parts:\n");
    while (*features) {
        size_t length = strcspn(features, "\n");
        sx_text_add(out, "  %.*s\n", (int)length, features);
        features += length;
        features += *features == '\n';
    }
}

/* A command with its options, for programs. */
static json_t *command_json(const sx_command *command) {
    json_t *options = json_array();
    for (size_t i = 0; i < command->n_options; i++) {
        const sx_option *o = &command->options[i];
        const char letter[2] = {o->letter, 0};
        sx_json_append(options, json_pack("{s:s, s:s?, s:s?, s:b, s:s}", "name", o->name, "letter",
                                          o->letter ? letter : NULL, "argument", o->argument, "repeatable",
                                          o->repeatable, "text", o->text));
    }
    return json_pack("{s:s, s:s, s:s, s:o}", "name", command->name, "about", command->about, "usage",
                     command->usage, "options", options);
}

sx_status sx_help_json(const sx_command *only, sx_text *out) {
    json_t *list = json_array();
    for (size_t i = 0; sx_command_at(i); i++)
        if (!only || only == sx_command_at(i)) sx_json_append(list, command_json(sx_command_at(i)));
    return sx_json_finish(json_pack("{s:o}", "commands", list), out);
}

/* `sextant help [COMMAND]`. Pages for other programs are not fitted to a terminal. */
static sx_status run_help(const sx_args *args, sx_output *result) {
    const char *shell = sx_args_text(args, "completion", 0);
    bool man = sx_args_flag(args, "man");
    if (args->n_operands > 1)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "help takes one command"),
                             "`sextant help` lists the commands");
    if (shell && (man || args->n_operands))
        return sx_error_new(SX_ERR_USAGE, "--completion is for all commands, without --man");
    bool json = sx_args_flag(args, "json");
    if (json && (man || shell))
        return sx_error_new(SX_ERR_USAGE, "--json cannot be combined with --man or --completion");
    if (man || shell || json) result->out.width = 0;
    if (shell) return sx_completion(shell, &result->out);
    if (json && args->n_operands == 0) return sx_help_json(NULL, &result->out);
    if (args->n_operands == 0) {
        (man ? sx_man_program : sx_help_program)(&result->out);
        return SX_OK;
    }
    const sx_command *command;
    SX_TRY(sx_command_find(args->operand[0], &command));
    if (json) return sx_help_json(command, &result->out);
    (man ? sx_man_command : sx_help_command)(command, &result->out);
    return SX_OK;
}

static const sx_option options[] = {
    SX_ROW_FLAG("man", 0, "print the manual page, in mdoc"),
    SX_ROW_ONCE("completion", 0, SX_SHELLS, TEXT, "print the completion script of a shell"),
    SX_ROW_FLAG("json", 0, "print the commands and their options as JSON"),
    SX_OPTION_HELP,
};

const sx_command sx_command_help = {
    .name = "help",
    .about = "describe the program or one of its commands",
    .usage = "[COMMAND] [OPTION ...]",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run_help,
};
