/* The time limit of a command while it reads its input. */
#ifndef SX_CLI_READING_H
#define SX_CLI_READING_H

#include "cli/options.h"

/* Ends the program with an error once --time, or a second where that is less, is over, whatever it does then: reading
 * files, templates and models, checking them. Without --time there
 * is no limit. Ctrl-C and SIGTERM end it, too: no answer is there yet. */
void sx_reading_begins(const sx_args *args);

/* From here on the command watches the clock itself, and catches signals if it goes on for long. */
void sx_reading_ends(void);

#endif
