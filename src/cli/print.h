/* Printing to standard output and standard error. */
#ifndef SX_CLI_PRINT_H
#define SX_CLI_PRINT_H

#include <stdbool.h>

/* Writes a text in which a file may have put anything: control characters other than line breaks and tabs are escaped.
 * All output of the program ends here. False with `errno` where not every byte could be written. Needs no memory, so
 * that a lack of it can be said. */
bool sx_print(int descriptor, const char *text);

#endif
