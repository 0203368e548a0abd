/* The parts of a command of the program. */
#ifndef SX_CLI_COMMAND_H
#define SX_CLI_COMMAND_H

#include "base/text.h"
#include "base/warnings.h"
#include "cli/options.h"

typedef enum sx_exit {
    SX_EXIT_FOUND = 0,  /* there is an answer */
    SX_EXIT_NONE = 1,   /* it ran, but there is no legal answer */
    SX_EXIT_BAD = 2,    /* bad usage or bad input */
    SX_EXIT_FAILED = 3, /* internal or resource failure */
    SX_EXIT_OPEN = 4,   /* it ran, and what was asked stays undecided */
} sx_exit;

/* What the help of a command says that several processes can run together. */
#define SX_HELP_DIVIDED "Processes that `mpirun -n N` or `srun` starts divide the work: docs/cluster.md.\n"

/* How the names of certificates in a folder end. */
#define SX_CERTIFICATE_SUFFIX ".cert.json"

/* The output of a command, also beside an error. */
typedef struct sx_output {
    sx_text out;            /* for standard output, or for `file` */
    sx_text err;            /* for standard error */
    sx_warnings *warnings;  /* for standard error, before `err`, and for JSON */
    size_t n_shown;         /* how many of them are on standard error already */
    bool verbose;           /* every key that is not understood has a warning of its own */
    bool json;              /* `out` is the answer as JSON */
    const char *file;       /* the value of --output, or NULL */
    const char *checkpoint; /* of a search that is complete: removed once all is written; NULL: none */
    sx_exit exit;
} sx_output;

/* Writes the warnings that were not shown before to standard error. */
void sx_output_show_warnings(sx_output *result);
/* Sends the output to a file, without a limit on line length; NULL: to standard output. */
void sx_output_to_file(sx_output *result, const char *path);
/* Writes a file; where that fails its text goes to standard output, so that it is not lost. */
SX_MUST_USE sx_status sx_output_write(sx_output *result, const char *path, const char *text);
/* Writes a result to its file or to standard output, where it also goes if the file cannot be written. */
SX_MUST_USE sx_status sx_output_deliver(const sx_output *result);
/* Writes to standard error, within its width where that is a terminal. */
void sx_output_say(const sx_text *text);

typedef struct sx_command {
    const char *name;
    const char *about;   /* one line for the list of commands */
    const char *usage;   /* what follows the name */
    const char *details; /* for its own help, after the options; NULL: nothing */
    const sx_option *options;
    size_t n_options;
    bool divided; /* several processes may run it together; otherwise the first runs it alone */
    sx_status (*run)(const sx_args *args, sx_output *result);
} sx_command;

extern const sx_command sx_command_map, sx_command_eval, sx_command_space, sx_command_compare,
    sx_command_codesign, sx_command_systolic, sx_command_place, sx_command_train, sx_command_verify,
    sx_command_calibrate, sx_command_estimate, sx_command_sweep, sx_command_report, sx_command_list,
    sx_command_new, sx_command_help;

/* Command number `index`, NULL past the last. */
const sx_command *sx_command_at(size_t index);
/* The command of that name; an error with the nearest name where there is none. */
SX_MUST_USE sx_status sx_command_find(const char *name, const sx_command **out);

/* The program's help, and a command's. */
void sx_help_program(sx_text *out);
void sx_help_command(const sx_command *command, sx_text *out);
/* The version and the optional parts of this build. */
void sx_help_version(sx_text *out);

#endif
