/* Every construction of a space, one after another. */
#ifndef SX_NAVIGATORS_SWEEP_H
#define SX_NAVIGATORS_SWEEP_H

#include "sextant/navigator.h"

/* Sweeps the run's space, whatever it is. A space of more than `limit` points is refused where nothing limits
 * the run. */
SX_MUST_USE sx_status sx_sweep(sx_run *run, double limit);

#endif
