#include "support/brake.h"

#include "support/driven_clock.h"

/* By a driven clock, what a session still has time for once it is stopped is soon over. */
static void set_brake(sx_brake *b) {
    sx_cancel_set(&b->stop);
    sx_clock_hasten();
}

void sx_brake_fit(sx_brake *brake, sx_session_options *options) {
    options->run.cancel = &brake->stop;
    options->run.user = options->user = brake;
}

void sx_brake_at_once(void *brake, size_t layer) {
    (void)layer;
    set_brake(brake);
}

void sx_brake_at_end(void *brake, size_t layer, const sx_layer_result *result) {
    sx_brake *b = brake;
    (void)layer;
    (void)result;
    if (b->ends_left && --b->ends_left == 0) set_brake(b);
}

void sx_brake_at_progress(void *brake, const sx_progress *progress) {
    sx_brake *b = brake;
    if (progress->limit != b->first || b->first == 0) set_brake(b);
}
