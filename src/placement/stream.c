#include "placement/stream.h"

/* Lets the oldest weights leave the buffer. */
static void leave_buffer(sx_place_stream *stream) {
    stream->over = stream->queue[stream->first].end;
    stream->held -= stream->queue[stream->first].bytes;
    stream->first = (stream->first + 1) % SX_MAX_STREAMS;
    stream->n--;
}

void sx_place_stream_pass(const sx_placement_space *space, size_t node, uint64_t time, bool streams,
                          sx_place_stream *stream) {
    stream->now += time;
    if (!streams) return;
    if (sx_place_exceeds_prefetch(space, node)) {
        stream->engine = stream->over = stream->now;
        stream->held = stream->n = 0;
        return;
    }
    uint64_t bytes = space->moved[2 * node];
    stream->held += bytes;
    while (stream->n > 0 && (stream->held > space->chip.prefetch || stream->n == SX_MAX_STREAMS))
        leave_buffer(stream);
    uint64_t start = stream->engine > stream->over ? stream->engine : stream->over;
    stream->engine = start + sx_place_transfer(space, 0, bytes);
    if (stream->now < stream->engine + space->overhead) stream->now = stream->engine + space->overhead;
    size_t last = (stream->first + stream->n++) % SX_MAX_STREAMS;
    stream->queue[last].bytes = bytes;
    stream->queue[last].end = stream->now;
}
