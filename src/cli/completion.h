/* Completion in shells, from the same tables as the help. */
#ifndef SX_CLI_COMPLETION_H
#define SX_CLI_COMPLETION_H

#include "cli/command.h"

/* The shells, as the argument of an option. */
#define SX_SHELLS "bash|zsh|fish"

/* Adds the completion script of a shell; an unknown one is an error. */
SX_MUST_USE sx_status sx_completion(const char *shell, sx_text *out);

#endif
