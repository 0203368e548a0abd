/* What reports say of a search that was cut short. */
#ifndef SX_REPORT_EARLY_H
#define SX_REPORT_EARLY_H

#include "base/text.h"
#include "sextant/run.h"

/* Whether a time limit or a signal ended a search before its answer was proven, so that a rerun may differ. */
static inline bool sx_ended_early(const sx_run_summary *s) {
    return !s->optimal && (s->stop == SX_STOP_TIME || s->stop == SX_STOP_SIGNAL);
}

static inline void sx_add_early(bool early, sx_text *line) {
    if (early) sx_text_add(line, " Stopped early (time limit or Ctrl-C); a rerun may differ.");
}

#endif
