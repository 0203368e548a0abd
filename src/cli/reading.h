/* The time limit of a command while it reads its input. */
#ifndef SX_CLI_READING_H
#define SX_CLI_READING_H

#include "cli/options.h"

/* Ends the program with an error once --time, or a second where that is less, is over, whatever it does then: reading
 * files, templates and models, checking them. Signals end it, too, as long as no handler catches them. Without --time there
 * is no limit. */
void sx_reading_begins(const sx_args *args);

/* From here on the command watches the clock itself. */
void sx_reading_ends(void);

#endif
