#include "input/args.h"

#include "base/text.h"
#include "base/vector.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 128, LONG_VALUE = 256 };

/* The same rows as getopt_long's. A long option's value is LONG_VALUE plus its row.
 */
typedef struct getopt_table {
    char letters[2 * MAX_OPTIONS + 2];
    struct option rows[MAX_OPTIONS + 1];
} getopt_table;

static void getopt_table_fill(getopt_table *table, const sx_option *options, size_t n) {
    char *at = table->letters;
    assert(n <= MAX_OPTIONS);
    *at++ = ':';
    for (size_t i = 0; i < n; i++) {
        int argument = options[i].type == SX_OPTION_FLAG     ? no_argument
                       : options[i].type == SX_OPTION_CHOICE ? optional_argument
                                                             : required_argument;
        table->rows[i] = (struct option){options[i].name, argument, NULL, LONG_VALUE + (int)i};
        if (!options[i].letter) continue;
        *at++ = options[i].letter;
        if (argument == required_argument) *at++ = ':';
    }
    *at = 0;
    table->rows[n] = (struct option){0};
}

/* The row of a value that getopt_long returned, NULL where there is none. */
static const sx_option *row_of(const sx_option *options, size_t n, int value) {
    if (value >= LONG_VALUE) return &options[value - LONG_VALUE];
    for (size_t i = 0; i < n; i++)
        if (options[i].letter == value) return &options[i];
    return NULL;
}

/* Words of other programs for options of this one. */
static const struct {
    const char *word, *option;
} synonyms[] = {
    {"architecture", "arch"}, {"workload", "problem"}, {"network", "problem"}, {"budget", "evals"},
    {"iterations", "evals"},  {"timeout", "time"},     {"jobs", "threads"},    {"metric", "objective"},
};

enum { N_SYNONYMS = sizeof synonyms / sizeof *synonyms };

/* The option meant by a misspelt word: the nearest name, the nearest last part of one (budget of
 * area-budget), or another program's word; NULL if none is near. */
static const char *meant_option(const char *word, const char *const *names, size_t n) {
    const char *part[MAX_OPTIONS], *nearest = sx_text_nearest(word, names, n);
    for (size_t i = 0; i < n; i++) part[i] = strrchr(names[i], '-') ? strrchr(names[i], '-') + 1 : names[i];
    const char *end = nearest ? NULL : sx_text_nearest(word, part, n);
    for (size_t i = 0; end && i < n; i++)
        if (part[i] == end) return names[i];
    for (size_t i = 0; !nearest && i < n; i++)
        for (size_t k = 0; k < N_SYNONYMS; k++)
            if (strcmp(names[i], synonyms[k].option) == 0 && sx_text_nearest(word, &synonyms[k].word, 1))
                return names[i];
    return nearest;
}

/* The error for a word that is no option, or the beginning of several. */
static sx_status unknown_option(const sx_option *options, size_t n, const char *command, const char *word) {
    const char *names[MAX_OPTIONS], *bare = word + 2, *first = NULL;
    size_t length = strcspn(bare, "=");
    for (size_t i = 0; i < n; i++) {
        names[i] = options[i].name;
        if (strncmp(bare, names[i], length) != 0) continue;
        if (first)
            return sx_error_new(SX_ERR_USAGE, "ambiguous option '%.*s': --%s or --%s", (int)length + 2, word,
                                first, names[i]);
        first = names[i];
    }
    char name[64] = "";
    if (length < sizeof name) memcpy(name, bare, length);
    sx_status error = sx_error_new(SX_ERR_USAGE, "unknown option '%.*s'", (int)length + 2, word);
    const char *nearest = meant_option(name, names, n);
    if (nearest) return sx_error_hint(error, "did you mean --%s?", nearest);
    return sx_error_hint(error, "`sextant help %s` lists the options", command);
}

/* The error for getopt_long's answers '?' and ':'. */
static sx_status bad_option(const sx_option *options, size_t n, int answer, char **argv) {
    const sx_option *row = optopt ? row_of(options, n, optopt) : NULL;
    if (!optopt) return unknown_option(options, n, argv[0], argv[optind - 1]);
    if (!row)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "unknown option '-%c'", optopt),
                             "`sextant help %s` lists the options", argv[0]);
    if (answer == '?') return sx_error_new(SX_ERR_USAGE, "option --%s takes no value", row->name);
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "option --%s needs a value", row->name), "--%s %s: %s",
                         row->name, row->argument, row->text);
}

static sx_status add_given(sx_args *args, const sx_option *row, const char *value) {
    uint64_t count;
    double number;
    bool again = !row->repeatable && sx_args_flag(args, row->name);
    if (again && row->type == SX_OPTION_FLAG) return SX_OK;
    if (again)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "option --%s is given twice", row->name),
                             "it has one value: leave one of them out");
    if (row->type == SX_OPTION_COUNT && !sx_text_count(value, &count))
        return sx_error_new(SX_ERR_USAGE, "--%s is '%s'; it must be a whole number", row->name, value);
    if (row->type == SX_OPTION_NUMBER && !sx_text_number(value, &number))
        return sx_error_new(SX_ERR_USAGE, "--%s is '%s'; it must be a number", row->name, value);
    if (row->type == SX_OPTION_CHOICE && !value) value = "";
    args->given[args->n_given++] = (sx_given){row, value};
    return SX_OK;
}

/* Replaces "-" by the path of standard input where a file is read; an error where that is done twice. */
static sx_status find_standard_input(sx_args *args) {
    static char path[] = "/dev/stdin";
    size_t n = 0;
    for (size_t i = 0; i < args->n_given; i++)
        if (args->given[i].option->type == SX_OPTION_INPUT && strcmp(args->given[i].value, "-") == 0)
            args->given[i].value = path, n++;
    for (size_t i = 0; i < args->n_operands; i++)
        if (strcmp(args->operand[i], "-") == 0) args->operand[i] = path, n++;
    if (n < 2) return SX_OK;
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "standard input ('-') is given %zu times", n),
                         "one stream may hold several sections: architecture, problem, mapping");
}

sx_status sx_args_parse(const sx_option *options, size_t n_options, int argc, char **argv, sx_args *out) {
    getopt_table table;
    getopt_table_fill(&table, options, n_options);
    sx_args args = {.given = calloc((size_t)argc + n_options, sizeof *args.given)};
    if (!args.given) return sx_error_memory();
    sx_status status = SX_OK;
    optind = 1;
    opterr = 0;
    for (int answer; !status && (answer = getopt_long(argc, argv, table.letters, table.rows, NULL)) != -1;) {
        if (answer == '?' || answer == ':')
            status = bad_option(options, n_options, answer, argv);
        else
            status = add_given(&args, row_of(options, n_options, answer), optarg);
    }
    if (!status && sx_args_flag(&args, "quiet") && sx_args_flag(&args, "verbose"))
        status = sx_error_hint(sx_error_new(SX_ERR_USAGE, "--quiet and --verbose contradict each other"),
                               "drop one of the two");
    args.option = options;
    args.n_options = n_options;
    args.operand = argv + optind;
    args.n_operands = (size_t)(argc - optind);
    if (!status) status = find_standard_input(&args);
    if (status) {
        sx_args_fini(&args);
        return status;
    }
    *out = args;
    return SX_OK;
}

sx_status sx_args_add(sx_args *args, const char *name, const char *value) {
    const sx_option *row = NULL;
    char word[64];
    for (size_t i = 0; i < args->n_options && !row; i++)
        if (strcmp(args->option[i].name, name) == 0) row = &args->option[i];
    if (!row) {
        snprintf(word, sizeof word, "--%s", name);
        return unknown_option(args->option, args->n_options, "eval", word);
    }
    const bool flag = row->type == SX_OPTION_FLAG;
    if (flag != !value)
        return sx_error_new(SX_ERR_USAGE, "option --%s %s", name, flag ? "takes no value" : "needs a value");
    size_t room = args->n_given;
    if (!sx_reserve(&args->given, &room, args->n_given + 1, sizeof *args->given)) return sx_error_memory();
    return add_given(args, row, value);
}

void sx_args_fini(sx_args *args) {
    free(args->given);
    *args = (sx_args){0};
}

bool sx_args_allow(const sx_args *args, const char *name) {
    for (size_t i = 0; i < args->n_options; i++)
        if (strcmp(args->option[i].name, name) == 0) return true;
    return false;
}

bool sx_args_flag(const sx_args *args, const char *name) {
    for (size_t i = 0; i < args->n_given; i++)
        if (strcmp(args->given[i].option->name, name) == 0) return true;
    return false;
}

const char *sx_args_text(const sx_args *args, const char *name, size_t index) {
    for (size_t i = 0; i < args->n_given; i++)
        if (strcmp(args->given[i].option->name, name) == 0 && index-- == 0) return args->given[i].value;
    return NULL;
}

uint64_t sx_args_count(const sx_args *args, const char *name, uint64_t otherwise) {
    const char *text = sx_args_text(args, name, 0);
    if (text) (void)sx_text_count(text, &otherwise);
    return otherwise;
}

double sx_args_number(const sx_args *args, const char *name, double otherwise) {
    const char *text = sx_args_text(args, name, 0);
    if (text) (void)sx_text_number(text, &otherwise);
    return otherwise;
}
