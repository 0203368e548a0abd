/* Weights in the slowest memory of a chip that reads ahead (`prefetch`): an engine of its own transfers them in the
 * order of the nodes, through a buffer, while earlier nodes run. A transfer begins when the one before it is done and
 * the buffer has room: what is read but not yet used, its own bytes included, is at most the buffer. Weights larger
 * than the buffer wait for all nodes before theirs; these are part of the node's own time (sx_place_node_time). */
#ifndef SX_PLACEMENT_STREAM_H
#define SX_PLACEMENT_STREAM_H

#include "placement/place.h"

enum { SX_MAX_STREAMS = 1024 }; /* transfers that the buffer keeps apart; power of two */

/* Where a walk over the nodes is. */
typedef struct sx_place_stream {
    uint64_t now;    /* the end of the last node */
    uint64_t engine; /* the end of the last transfer */
    uint64_t over;   /* the end of the last node whose weights have left the buffer */
    uint64_t held;   /* bytes in the buffer */
    size_t first, n; /* of the queue */
    struct {
        uint64_t bytes, end; /* of weights; of their node */
    } queue[SX_MAX_STREAMS];
} sx_place_stream;

/* Begins a walk; the queue needs no values. */
static inline void sx_place_stream_begin(sx_place_stream *stream) {
    stream->now = stream->engine = stream->over = stream->held = 0;
    stream->first = stream->n = 0;
}

/* Passes the next node, which takes so long by itself; whether its weights stream. `now` becomes its end. */
void sx_place_stream_pass(const sx_placement_space *space, size_t node, uint64_t time, bool streams,
                          sx_place_stream *stream);

#endif
