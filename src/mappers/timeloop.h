/* Timeloop's searches that walk through the mappings of each factorisation in order: its linear-pruned and hybrid
 * mappers, which differ in the factorisation that comes next. */
#ifndef SX_MAPPERS_TIMELOOP_H
#define SX_MAPPERS_TIMELOOP_H

#include "run/navigator.h"

/* The settings of both, in this order. */
enum { SX_TIMELOOP_WALKS, SX_TIMELOOP_VICTORY, SX_TIMELOOP_TIMEOUT, SX_TIMELOOP_SETTINGS };
extern const sx_setting sx_timeloop_settings[SX_TIMELOOP_SETTINGS];

/* Searches: factorisations are drawn, or taken in order. */
SX_MUST_USE sx_status sx_timeloop_search(sx_run *run, bool drawn);

#endif
