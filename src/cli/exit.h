/* Exit codes of the program: what each says, and which of them an error or an answer is. */
#ifndef SX_CLI_EXIT_H
#define SX_CLI_EXIT_H

#include "sextant/status.h"

typedef enum sx_exit {
    SX_EXIT_FOUND,  /* there is an answer; after Ctrl-C the best so far */
    SX_EXIT_NONE,   /* it ran, but there is no legal answer; after Ctrl-C: none yet */
    SX_EXIT_BAD,    /* bad usage or bad input */
    SX_EXIT_FAILED, /* internal or resource failure */
    SX_EXIT_OPEN,   /* it ran, and what was asked stays undecided */
    SX_N_EXITS
} sx_exit;

/* What an exit code says of a command with these words of its own, and otherwise in those of all; NULL where it never ends with
 * that. NULL for the words: of the program. */
const char *sx_exit_text(const char *const *own, sx_exit exit);

/* The exit code of an error, which is not NULL. */
sx_exit sx_exit_of_error(const struct sx_error *error);

/* The exit code of two answers together: a failure counts more than none, none more than undecided. */
sx_exit sx_exit_join(sx_exit a, sx_exit b);

#endif
