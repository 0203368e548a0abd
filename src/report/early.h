/* What reports say of a search that was cut short, or that left out a part of the mappings. */
#ifndef SX_REPORT_EARLY_H
#define SX_REPORT_EARLY_H

#include "base/text.h"
#include "sextant/result.h"

/* Whether a time limit or a signal ended a search before its answer was proven, so that a rerun may differ. */
static inline bool sx_ended_early(const sx_run_summary *s) {
    return !s->optimal && (s->stop == SX_STOP_TIME || s->stop == SX_STOP_SIGNAL);
}

/* Whether the layers' mappings are chosen for an objective of the network. */
static inline bool sx_is_chosen(const sx_result *r) {
    return r->options.run.objective.network && r->session.n_layers > 1;
}

/* Whether what is proven of a layer holds among tiles that divide alone. */
static inline bool sx_proves_dividing(const sx_result *r, const sx_layer_result *layer) {
    return !r->options.space.remainders && !layer->remainders && !layer->any_optimal;
}

static inline void sx_add_early(bool early, sx_text *line) {
    if (early) sx_text_add(line, " Stopped early (time limit or Ctrl-C); a rerun may differ.");
}

#endif
