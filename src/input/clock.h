/* The option --clock. */
#ifndef SX_INPUT_CLOCK_H
#define SX_INPUT_CLOCK_H

#include "input/args.h"
#include "sextant/arch.h"

/* The seconds of a cycle by --clock; as before where that is not given. */
SX_MUST_USE sx_status sx_clock_read(const sx_args *args, double *cycle_seconds);

/* Sets the clock of an architecture to that of --clock, where it is given. */
SX_MUST_USE sx_status sx_clock_apply(const sx_args *args, sx_arch *arch);

#endif
