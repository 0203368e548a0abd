/* `sextant calibrate` with rows of operators. */
#ifndef SX_CLI_CALIBRATE_OPERATORS_H
#define SX_CLI_CALIBRATE_OPERATORS_H

#include "cli/command.h"
#include "input/sources.h"

/* Fits the timing of the architecture to the operators of the file, and adds the answer to the result. */
SX_MUST_USE sx_status sx_calibrate_operators(const sx_args *args, sx_sources *sources, sx_output *result);

/* Draws predicted against measured values to a file. */
SX_MUST_USE sx_status sx_calibrate_draw(const char *path, const char *title, size_t n, const double *measured,
                                        const double *predicted);

#endif
