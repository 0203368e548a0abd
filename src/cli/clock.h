/* The options --clock, and --svg, of the commands that report costs. */
#ifndef SX_CLI_CLOCK_H
#define SX_CLI_CLOCK_H

#include "cli/options.h"
#include "input/clock.h"

#define SX_OPTION_CLOCK                                                                                      \
    SX_ROW_ONCE("clock", 0, "FREQUENCY", TEXT,                                                               \
                "clock of the architecture, such as 1GHz or 200MHz, for seconds, watts and TOPS (that of "   \
                "the architecture file)")

#define SX_OPTION_SVG_COST                                                                                   \
    SX_ROW_ONCE("svg", 0, "FILE", TEXT,                                                                      \
                "also write a figure to FILE: the roofline, and the energy by component")

#endif
