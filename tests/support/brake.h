/* A stop flag that callbacks of a session set. */
#ifndef SX_TESTS_BRAKE_H
#define SX_TESTS_BRAKE_H

#include "sextant/all.h"

#include <signal.h>

typedef struct sx_brake {
    sx_cancel stop;
    size_t ends_left; /* layers to end before it is set; 0: any number */
    uint64_t first;   /* limit of evaluations of a layer's first search; the flag waits for another one */
} sx_brake;

/* Has a session obey the brake and give it to its callbacks. */
void sx_brake_fit(sx_brake *brake, sx_session_options *options);

/* What sets the flag also hastens a driven clock.
 *
 * For sx_session_options: set the flag when a layer begins, or when enough layers have ended. */
void sx_brake_at_once(void *brake, size_t layer);
void sx_brake_at_end(void *brake, size_t layer, const sx_layer_result *result);

/* For sx_run_options: sets the flag when a search tells of progress. */
void sx_brake_at_progress(void *brake, const sx_progress *progress);

#endif
