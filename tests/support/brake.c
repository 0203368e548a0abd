#include "support/brake.h"

void sx_brake_fit(sx_brake *brake, sx_session_options *options) {
    options->run.cancel = &brake->stop;
    options->run.user = options->user = brake;
}

void sx_brake_at_once(void *brake, size_t layer) {
    (void)layer;
    sx_cancel_set(&((sx_brake *)brake)->stop);
}

void sx_brake_at_end(void *brake, size_t layer, const sx_layer_result *result) {
    sx_brake *b = brake;
    (void)layer;
    (void)result;
    if (b->ends_left && --b->ends_left == 0) sx_cancel_set(&b->stop);
}

void sx_brake_at_progress(void *brake, const sx_progress *progress) {
    sx_brake *b = brake;
    if (progress->limit != b->first || b->first == 0) sx_cancel_set(&b->stop);
}
