/* The parts of a command of the program. */
#ifndef SX_CLI_COMMAND_H
#define SX_CLI_COMMAND_H

#include "base/text.h"
#include "base/warnings.h"
#include "cli/exit.h"
#include "cli/options.h"

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
    bool json;              /* the answer and what is wrong are JSON */
    bool plain;             /* `out` is a file for other programs: no keys are added to it */
    bool incomplete;        /* not all that was asked for was done, by a limit of time or a signal */
    sx_text unwritten;      /* with `json`: what files were to hold that could not be written */
    const char *file;       /* the value of --output, or NULL */
    const char *checkpoint; /* of a search that is complete: removed once all is written; NULL: none */
    sx_exit exit;           /* of the answer; sx_output_exits sets it */
} sx_output;

/* Takes the exit code of an answer, or of one more answer. */
void sx_output_exits(sx_output *result, sx_exit exit);

/* Writes the warnings that were not shown before to standard error. */
void sx_output_show_warnings(sx_output *result);
/* Sends the output to a file, without a limit on line length; NULL: to standard output. */
void sx_output_to_file(sx_output *result, const char *path);
/* Writes a file; where that fails its text goes to standard output, so that it is not lost; with JSON as its key "unwritten". */
SX_MUST_USE sx_status sx_output_write(sx_output *result, const char *path, const char *text);
/* Writes a result to its file or to standard output, where it also goes if the file cannot be written. JSON ends with the
 * keys that every command has, and with the error that ended the command, where there is one; an error without an answer
 * goes to standard output. */
SX_MUST_USE sx_status sx_output_deliver(sx_output *result, const struct sx_error *error);
/* Writes to standard error, within its width where that is a terminal. */
void sx_output_say(const sx_text *text);

/* An option of other commands that a command refuses, and why: more than that it is unknown. */
typedef struct sx_refused_option {
    const char *name, *why;
} sx_refused_option;

typedef struct sx_command {
    const char *name;
    const char *about;             /* one line for the list of commands */
    const char *usage;             /* what follows the name */
    const char *details;           /* for its own help, after the options; NULL: nothing */
    const char *exits[SX_N_EXITS]; /* what exit codes say where it is not what they say of every command */
    const sx_option *options;
    size_t n_options;
    const sx_refused_option *refused;
    size_t n_refused;
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
/* A command with its options, or all of them where it is NULL, as JSON. */
SX_MUST_USE sx_status sx_help_json(const sx_command *command, sx_text *out);
/* The version and the optional parts of this build. */
void sx_help_version(sx_text *out);

#endif
