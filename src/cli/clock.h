/* The option --clock, and --svg of the commands that report costs. */
#ifndef SX_CLI_CLOCK_H
#define SX_CLI_CLOCK_H

#include "cli/options.h"
#include "sextant/arch.h"

#define SX_OPTION_CLOCK                                                                                      \
    {                                                                                                        \
        "clock", 0, "FREQUENCY", SX_OPTION_TEXT, false,                                                      \
            "clock of the architecture, such as 1GHz or 200MHz, for seconds, watts and TOPS (that of the "   \
            "architecture file)"                                                                             \
    }

#define SX_OPTION_SVG_COST                                                                                   \
    {                                                                                                        \
        "svg", 0, "FILE", SX_OPTION_TEXT, false,                                                             \
            "also write a figure to FILE: the roofline, and the energy by component"                         \
    }

/* The seconds of a cycle by --clock; as before where that is not given. */
SX_MUST_USE sx_status sx_clock_read(const sx_args *args, double *cycle_seconds);

/* Sets the clock of an architecture to that of --clock, where it is given. */
SX_MUST_USE sx_status sx_clock_apply(const sx_args *args, sx_arch *arch);

#endif
