/* A small machine with a timing: 4 units of 100 multipliers each, a cycle of 1 ns, an outer memory of 100 bytes per cycle
 * and a shared one of 400. */
#ifndef SX_TESTS_TIMED_ARCH_H
#define SX_TESTS_TIMED_ARCH_H

#include "sextant/timing.h"

/* The machine's text, without its timing. */
extern const char sx_timed_arch_text[];

/* Reads the machine with a section `timing`; fails the test on an error. */
void sx_expect_timed(const char *timing, sx_arch *arch, sx_timing *out);

#endif
