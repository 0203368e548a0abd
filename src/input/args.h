/* Options by name, as a command line has them. One table per command feeds parsing, help and suggestions. */
#ifndef SX_INPUT_ARGS_H
#define SX_INPUT_ARGS_H

#include "base/ranks.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A count is a whole number, a number any finite one; an input is a text that may name a file to read, "-" being
 * standard input; a choice is a text that may be left out, and is "" then. */
typedef enum sx_option_type {
    SX_OPTION_FLAG,
    SX_OPTION_TEXT,
    SX_OPTION_INPUT,
    SX_OPTION_COUNT,
    SX_OPTION_NUMBER,
    SX_OPTION_CHOICE,
} sx_option_type;

typedef struct sx_option {
    const char *name;     /* the long name, without hyphens */
    char letter;          /* the short one; 0: none */
    const char *argument; /* what the help calls its value; NULL for a flag */
    sx_option_type type;
    bool repeatable;
    const char *text; /* a sentence for the help */
} sx_option;

/* Rows of a table: a flag, an option that is given once, and one that may be repeated. */
#define SX_ROW_FLAG(name, letter, text)                                                                      \
    { name, letter, NULL, SX_OPTION_FLAG, false, text }
#define SX_ROW_ONCE(name, letter, argument, type, text)                                                      \
    { name, letter, argument, SX_OPTION_##type, false, text }
#define SX_ROW_MANY(name, letter, argument, type, text)                                                      \
    { name, letter, argument, SX_OPTION_##type, true, text }

/* One option that was given; value is NULL for a flag. */
typedef struct sx_given {
    const sx_option *option;
    const char *value;
} sx_given;

/* A parsed command line; texts are those of argv. */
typedef struct sx_args {
    sx_given *given;
    size_t n_given;
    char **operand; /* what is not an option */
    size_t n_operands;
    const sx_option *option; /* those of the command */
    size_t n_options;
    struct sx_settings *settings; /* what the inputs of the command use of --set */
    struct sx_warnings *warnings; /* those of the command's output; NULL: there is none */
    sx_ranks *ranks;              /* processes that run this command together; NULL: this one alone */
} sx_args;

/* Parses argv (argv[0] is the command's name, for messages) by a table; *out is freed with sx_args_fini. Where
 * "-" stands for standard input, at most once, the value is its path. */
SX_MUST_USE sx_status sx_args_parse(const sx_option *options, size_t n_options, int argc, char **argv,
                                    sx_args *out);
void sx_args_fini(sx_args *args);

/* Adds an option by its name, as if it stood on the command line; the value, NULL of a flag, is borrowed. *args has the
 * table of its options set, or was parsed. */
SX_MUST_USE sx_status sx_args_add(sx_args *args, const char *name, const char *value);

/* Whether the command has an option. */
bool sx_args_allow(const sx_args *args, const char *name);
/* Whether an option was given. */
bool sx_args_flag(const sx_args *args, const char *name);
/* The value of an option's occurrence number `index`, NULL past the last. */
const char *sx_args_text(const sx_args *args, const char *name, size_t index);
/* The value of a count, or `otherwise`. */
uint64_t sx_args_count(const sx_args *args, const char *name, uint64_t otherwise);
/* The value of a number, or `otherwise`. */
double sx_args_number(const sx_args *args, const char *name, double otherwise);

#endif
