/* Manual pages, in mdoc, from the same tables as the help. */
#ifndef SX_CLI_MAN_H
#define SX_CLI_MAN_H

#include "cli/command.h"

/* The page of the program, sextant(1), and of a command, such as sextant-map(1). */
void sx_man_program(sx_text *out);
void sx_man_command(const sx_command *command, sx_text *out);

#endif
