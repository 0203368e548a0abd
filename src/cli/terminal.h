/* The width of a terminal, and text that keeps to it. */
#ifndef SX_CLI_TERMINAL_H
#define SX_CLI_TERMINAL_H

#include "base/text.h"

/* The columns of the terminal behind a file descriptor: as it says itself, by COLUMNS, or 80; 0 where there
 * is no terminal. */
int sx_terminal_width(int descriptor);

/* Adds a text to `out`; lines longer than out->width, where that is not 0, are broken at spaces and continue
 * two columns further in. */
void sx_terminal_fit(const char *text, sx_text *out);

#endif
