/* What an option's value may be follows from its row: the words of its argument (exact|timeloop), the lists that
 * its text names (`sextant list archs`), and files where the argument says FILE or DIR. */
#include "cli/completion.h"

#include "cli/cmd_list.h"

#include <ctype.h>
#include <string.h>

/* What may be completed at a place. */
typedef struct choices {
    sx_text words; /* with a space after each */
    bool files;
} choices;

/* Whether a text is a plain word, which no shell interprets. */
static bool is_plain(const char *word, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (!isalnum((unsigned char)word[i]) && !strchr("-_./", word[i])) return false;
    return size > 0;
}

/* Whether the word after an option is its value. */
static bool needs_value(const sx_option *option) {
    return option->argument && option->type != SX_OPTION_CHOICE;
}

/* Adds the alternatives of an argument that are words themselves: those without capitals. */
static void add_alternatives(choices *out, const char *argument) {
    while (*argument) {
        size_t size = strcspn(argument, "|[] ");
        bool literal = is_plain(argument, size) && !isdigit((unsigned char)*argument);
        for (size_t i = 0; i < size; i++) literal = literal && !isupper((unsigned char)argument[i]);
        if (literal && *argument != '-' && *argument != '.')
            sx_text_add(&out->words, "%.*s ", (int)size, argument);
        argument += size;
        argument += *argument != 0;
    }
}

/* Adds the entries of the lists that a text names as `sextant list NAME`. */
static void add_lists(choices *out, const char *text) {
    static const char mark[] = "`sextant list ";
    while ((text = strstr(text, mark))) {
        text += sizeof mark - 1;
        char name[32] = "";
        size_t size = strcspn(text, "`");
        if (size < sizeof name) memcpy(name, text, size);
        const char *entry;
        for (size_t i = 0; (entry = sx_list_entry(name, i)); i++)
            if (is_plain(entry, strlen(entry))) sx_text_add(&out->words, "%s ", entry);
    }
}

static void choices_of_option(const sx_option *option, choices *out) {
    add_alternatives(out, option->argument);
    add_lists(out, option->text);
    out->files = option->type == SX_OPTION_INPUT || strstr(option->argument, "FILE") ||
                 strstr(option->argument, "DIR");
}

/* What may follow a command besides options. */
static void choices_of_command(const sx_command *command, choices *out) {
    size_t size = strcspn(command->usage, " ");
    sx_text first = {0};
    sx_text_add(&first, "%.*s", (int)size, command->usage);
    if (first.failed) {
        out->words.failed = true;
        return;
    }
    add_alternatives(out, first.data);
    out->files = strstr(first.data, "FILE") && first.data[0] != '-';
    for (size_t i = 0; strstr(first.data, "COMMAND") && sx_command_at(i); i++)
        sx_text_add(&out->words, "%s ", sx_command_at(i)->name);
    sx_text_free(&first);
}

/* Adds the first part of a text, up to a semicolon, colon or parenthesis, with a backslash before some characters. */
static void add_about(sx_text *out, const char *text, const char *escaped) {
    size_t size = strcspn(text, ";:(");
    while (size && text[size - 1] == ' ') size--;
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\'' && !strchr(escaped, '\''))
            sx_text_add(out, "'\\''");
        else
            sx_text_add(out, strchr(escaped, text[i]) ? "\\%c" : "%c", text[i]);
}

/* Adds what follows choices, and frees them. */
static void end_choices(choices *c, const char *text, sx_text *out) {
    sx_text_add(out, "%s", text);
    out->failed = out->failed || c->words.failed;
    sx_text_free(&c->words);
}

/* --- bash --- */

static void bash_answer(const choices *c, sx_text *out) {
    sx_text_add(out, "COMPREPLY=($(compgen %s-W '%s' -- \"$word\"))", c->files ? "-f " : "",
                c->words.data ? c->words.data : "");
}

static void bash_command(const sx_command *command, sx_text *out) {
    for (size_t i = 0; i < command->n_options; i++) {
        const sx_option *option = &command->options[i];
        if (!needs_value(option)) continue;
        choices c = {0};
        choices_of_option(option, &c);
        sx_text_add(out, "    %s:--%s", command->name, option->name);
        if (option->letter) sx_text_add(out, " | %s:-%c", command->name, option->letter);
        sx_text_add(out, ") ");
        bash_answer(&c, out);
        end_choices(&c, " ;;\n", out);
    }
    choices c = {0};
    choices_of_command(command, &c);
    for (size_t i = 0; i < command->n_options; i++) sx_text_add(&c.words, "--%s ", command->options[i].name);
    sx_text_add(out, "    %s:*) ", command->name);
    bash_answer(&c, out);
    end_choices(&c, " ;;\n", out);
}

static void write_bash(sx_text *out) {
    sx_text_add(out, "# bash completion of sextant\n"
                     "_sextant() {\n"
                     "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
                     "    COMPREPLY=()\n"
                     "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                     "        COMPREPLY=($(compgen -W '");
    for (size_t i = 0; sx_command_at(i); i++) sx_text_add(out, "%s ", sx_command_at(i)->name);
    sx_text_add(out, "--help --version' -- \"$word\"))\n"
                     "        return\n"
                     "    fi\n"
                     "    case ${COMP_WORDS[1]}:$previous in\n");
    for (size_t i = 0; sx_command_at(i); i++) bash_command(sx_command_at(i), out);
    sx_text_add(out, "    esac\n}\ncomplete -o filenames -F _sextant sextant\n");
}

/* --- zsh --- */

/* Adds the helper's call that completes a value. */
static void zsh_action(const choices *c, sx_text *out) {
    sx_text_add(out, "_sextant_value %s %s", c->files ? "files" : "words",
                c->words.data ? c->words.data : "");
}

static void zsh_option(const sx_option *option, sx_text *out) {
    choices c = {0};
    const char *repeat = option->repeatable ? "'*'" : "";
    sx_text_add(out, "            ");
    if (option->letter && !option->repeatable) sx_text_add(out, "'(-%c --%s)'", option->letter, option->name);
    sx_text_add(out, "%s", repeat);
    if (option->letter)
        sx_text_add(out, "{-%c,--%s}", option->letter, option->name);
    else
        sx_text_add(out, "--%s", option->name);
    sx_text_add(out, "'[");
    add_about(out, option->text, "[]:");
    sx_text_add(out, "]");
    if (needs_value(option)) {
        choices_of_option(option, &c);
        sx_text_add(out, ":%s:", option->name);
        zsh_action(&c, out);
    }
    end_choices(&c, "' \\\n", out);
}

static void zsh_command(const sx_command *command, sx_text *out) {
    choices c = {0};
    sx_text_add(out, "    %s)\n        _arguments -s \\\n", command->name);
    for (size_t i = 0; i < command->n_options; i++) zsh_option(&command->options[i], out);
    choices_of_command(command, &c);
    sx_text_add(out, "            '*:argument:");
    zsh_action(&c, out);
    end_choices(&c, "'\n        ;;\n", out);
}

static void write_zsh(sx_text *out) {
    sx_text_add(out, "#compdef sextant\n"
                     "_sextant_value() {\n"
                     "    local kind=$1\n"
                     "    shift\n"
                     "    (( $# )) && compadd -- \"$@\"\n"
                     "    [[ $kind = files ]] && _files\n"
                     "}\n"
                     "_sextant() {\n"
                     "    local -a commands\n"
                     "    commands=(\n");
    for (size_t i = 0; sx_command_at(i); i++) {
        sx_text_add(out, "        '%s:", sx_command_at(i)->name);
        add_about(out, sx_command_at(i)->about, ":");
        sx_text_add(out, "'\n");
    }
    sx_text_add(out, "    )\n"
                     "    if (( CURRENT == 2 )); then\n"
                     "        _describe command commands\n"
                     "        compadd -- --help --version\n"
                     "        return\n"
                     "    fi\n"
                     "    shift words\n"
                     "    (( CURRENT-- ))\n"
                     "    case $words[1] in\n");
    for (size_t i = 0; sx_command_at(i); i++) zsh_command(sx_command_at(i), out);
    sx_text_add(out, "    esac\n}\n_sextant \"$@\"\n");
}

/* --- fish --- */

/* Adds the words and files that may be completed, and a description. */
static void fish_choices(choices *c, const char *about, sx_text *out) {
    sx_text_add(out, c->files ? " -F" : " -f");
    if (c->words.size) sx_text_add(out, " -a '%s'", c->words.data);
    if (about) {
        sx_text_add(out, " -d '");
        add_about(out, about, "'\\");
        sx_text_add(out, "'");
    }
    end_choices(c, "\n", out);
}

static void fish_command(const sx_command *command, sx_text *out) {
    sx_text_add(out, "complete -c sextant -n __fish_use_subcommand -f -a %s -d '", command->name);
    add_about(out, command->about, "'\\");
    sx_text_add(out, "'\n");
    for (size_t i = 0; i < command->n_options; i++) {
        const sx_option *option = &command->options[i];
        choices c = {0};
        sx_text_add(out, "complete -c sextant -n '__fish_seen_subcommand_from %s' -l %s", command->name,
                    option->name);
        if (option->letter) sx_text_add(out, " -s %c", option->letter);
        if (needs_value(option)) choices_of_option(option, &c);
        if (needs_value(option)) sx_text_add(out, " -r");
        fish_choices(&c, option->text, out);
    }
    choices c = {0};
    choices_of_command(command, &c);
    if (!c.words.size && !c.files) return;
    sx_text_add(out, "complete -c sextant -n '__fish_seen_subcommand_from %s'", command->name);
    fish_choices(&c, NULL, out);
}

static void write_fish(sx_text *out) {
    sx_text_add(out,
                "# fish completion of sextant\n"
                "complete -c sextant -n __fish_use_subcommand -f -l help -s h -d 'show the help'\n"
                "complete -c sextant -n __fish_use_subcommand -f -l version -s V -d 'show the version'\n");
    for (size_t i = 0; sx_command_at(i); i++) fish_command(sx_command_at(i), out);
}

sx_status sx_completion(const char *shell, sx_text *out) {
    if (strcmp(shell, "bash") == 0)
        write_bash(out);
    else if (strcmp(shell, "zsh") == 0)
        write_zsh(out);
    else if (strcmp(shell, "fish") == 0)
        write_fish(out);
    else
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "unknown shell '%s'", shell),
                             "shells: bash, zsh, fish");
    return SX_OK;
}
