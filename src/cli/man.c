/* mdoc: every sentence begins a line, no line is longer than 80 bytes, and a line that begins with a period or an
 * apostrophe is text only behind \&. `mandoc -T lint` accepts every page. */
#include "cli/man.h"

#include <ctype.h>
#include <string.h>

enum { LINE_WIDTH = 76 };

#define MAN_DATE "November 16, 2026"

/* Adds text with what roff would interpret escaped. */
static void add_escaped(sx_text *out, const char *text, size_t size) {
    if (size && (*text == '.' || *text == '\'')) sx_text_add(out, "\\&");
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\\')
            sx_text_add(out, "\\e");
        else
            sx_text_add_bytes(out, text + i, 1);
}

/* Whether a word ends a sentence. */
static bool ends_sentence(const char *word, size_t size) {
    return size > 1 && strchr(".!?", word[size - 1]) && word[size - 2] != '.';
}

/* Adds words as lines of text, each sentence on lines of its own. */
static void add_words(sx_text *out, const char *text, size_t size) {
    size_t column = 0;
    for (const char *at = text, *end = text + size; at < end;) {
        size_t length = 0;
        while (at + length < end && !isspace((unsigned char)at[length])) length++;
        if (length && column && column + 1 + length > LINE_WIDTH) column = 0, sx_text_add(out, "\n");
        if (length) {
            if (column) sx_text_add(out, " ");
            add_escaped(out, at, length);
            column += length + 1;
        }
        if (ends_sentence(at, length)) column = 0, sx_text_add(out, "\n");
        at += length + 1;
    }
    if (column) sx_text_add(out, "\n");
}

/* Adds a text whose first letter becomes a capital and which gets a period at its end. */
static void add_sentence(sx_text *out, const char *text) {
    sx_text sentence = {0};
    size_t size = strlen(text);
    sx_text_add(&sentence, "%c%s%s", toupper((unsigned char)*text), text + 1,
                size && strchr(".!?", text[size - 1]) ? "" : ".");
    if (sentence.failed)
        out->failed = true;
    else
        add_words(out, sentence.data, sentence.size);
    sx_text_free(&sentence);
}

/* Adds the details of a command: lines that are indented as they are, others as paragraphs. */
static void add_details(sx_text *out, const char *text) {
    while (*text) {
        bool table = *text == ' ';
        const char *end = text;
        while (*end && (*end == ' ') == table) {
            end += strcspn(end, "\n");
            end += *end == '\n';
        }
        if (table) {
            sx_text_add(out, ".Bd -literal\n");
            for (const char *at = text; at < end; at += strcspn(at, "\n") + 1) {
                add_escaped(out, at, strcspn(at, "\n"));
                sx_text_add(out, "\n");
            }
            sx_text_add(out, ".Ed\n");
        } else {
            sx_text_add(out, ".Pp\n");
            add_words(out, text, (size_t)(end - text));
        }
        text = end;
    }
}

/* Adds one argument of a macro, quoted where it holds spaces. */
static void add_argument(sx_text *out, const char *text) {
    sx_text_add(out, strpbrk(text, " \"") ? " \"" : " ");
    for (; *text; text++) sx_text_add(out, *text == '"' ? "\"\"" : *text == '\\' ? "\\e" : "%c", *text);
}

static void add_option(sx_text *out, const sx_option *option) {
    sx_text_add(out, ".It");
    if (option->letter) sx_text_add(out, " Fl %c ,", option->letter);
    sx_text_add(out, " Fl -%s", option->name);
    if (option->argument) {
        sx_text_add(out, " Ar");
        add_argument(out, option->argument);
    }
    sx_text_add(out, "\n");
    add_sentence(out, option->text);
}

static void add_head(sx_text *out, const char *title, const char *name, const char *about) {
    sx_text_add(out, ".Dd " MAN_DATE "\n.Dt ");
    for (; *title; title++) sx_text_add(out, "%c", toupper((unsigned char)*title));
    sx_text_add(out, " 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd ", name);
    sx_text_add(out, "%s\n", about);
}

/* The command whose name follows another one in the alphabet (NULL: the first); NULL past the last. */
static const sx_command *next_command(const sx_command *last) {
    const sx_command *next = NULL;
    for (size_t i = 0; sx_command_at(i); i++) {
        const sx_command *command = sx_command_at(i);
        bool after = !last || strcmp(command->name, last->name) > 0;
        if (after && (!next || strcmp(command->name, next->name) < 0)) next = command;
    }
    return next;
}

/* Adds the exit codes and the pages to read besides. */
static void add_foot(sx_text *out, const sx_command *command) {
    sx_text_add(out, ".Sh EXIT STATUS\n.Bl -tag -width Ds -compact\n");
    for (int i = 0; i < SX_N_EXITS; i++) {
        const char *text = sx_exit_text(command ? command->exits : NULL, (sx_exit)i);
        if (!text) continue;
        sx_text_add(out, ".It %d\n", i);
        add_sentence(out, text);
    }
    sx_text_add(out, ".El\n");
    sx_text_add(out, ".Sh SEE ALSO\n%s", command ? ".Xr sextant 1" : "");
    bool first = !command;
    for (const sx_command *c = next_command(NULL); c; c = next_command(c)) {
        if (c == command) continue;
        sx_text_add(out, "%s.Xr sextant-%s 1", first ? "" : " ,\n", c->name);
        first = false;
    }
    sx_text_add(out, "\n");
}

void sx_man_program(sx_text *out) {
    add_head(out, "sextant", "sextant", "map tensor computations onto hardware accelerators");
    sx_text_add(out, ".Sh SYNOPSIS\n.Nm\n.Ar COMMAND\n.Op Ar OPTION ...\n.Nm\n.Fl -version\n.Sh DESCRIPTION\n"
                     ".Nm\nfinds and costs mappings of tensor computations onto hardware accelerators.\n"
                     "The commands are:\n.Bl -tag -width codesign\n");
    for (size_t i = 0; sx_command_at(i); i++) {
        sx_text_add(out, ".It Cm %s\n", sx_command_at(i)->name);
        add_sentence(out, sx_command_at(i)->about);
        sx_text_add(out, "See\n.Xr sextant-%s 1 .\n", sx_command_at(i)->name);
    }
    sx_text_add(out, ".El\n.Pp\n.Fl -version\nshows the version and the optional parts of this build.\n");
    add_foot(out, NULL);
}

void sx_man_command(const sx_command *command, sx_text *out) {
    sx_text name = {0};
    sx_text_add(&name, "sextant-%s", command->name);
    if (name.failed) {
        out->failed = true;
        return;
    }
    add_head(out, name.data, name.data, command->about);
    sx_text_free(&name);
    sx_text_add(out, ".Sh SYNOPSIS\n.Nm sextant Cm %s\n", command->name);
    add_words(out, command->usage, strlen(command->usage));
    sx_text_add(out, ".Sh DESCRIPTION\n");
    add_sentence(out, command->about);
    if (command->details) add_details(out, command->details);
    if (command->divided) add_details(out, SX_HELP_DIVIDED);
    sx_text_add(out, ".Sh OPTIONS\n.Bl -tag -width Ds\n");
    for (size_t i = 0; i < command->n_options; i++) add_option(out, &command->options[i]);
    sx_text_add(out, ".El\n");
    add_foot(out, command);
}
