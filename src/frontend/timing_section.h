/* The section `timing` beside an architecture: how a real machine runs operators (docs/timing.md). */
#ifndef SX_FRONTEND_TIMING_SECTION_H
#define SX_FRONTEND_TIMING_SECTION_H

#include "frontend/input.h"
#include "sextant/timing.h"

/* Reads the section of an input, for an architecture whose levels it names; all zero where there is none. */
SX_MUST_USE sx_status sx_timing_read(sx_input *input, const sx_arch *arch, sx_timing *out);

/* An architecture and its timing as one YAML file; freed with free(). */
SX_MUST_USE sx_status sx_timing_write(const sx_arch *arch, const sx_timing *timing, SX_OWN char **out);

#endif
