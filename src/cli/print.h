/* Printing to a terminal. */
#ifndef SX_CLI_PRINT_H
#define SX_CLI_PRINT_H

#include <stdio.h>

/* Prints a text in which a file may have put anything: control characters, but those in `keep`, are escaped.
 */
void sx_print(FILE *file, const char *text, const char *keep);

#endif
