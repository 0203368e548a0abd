/* A frame scores mappings with exact factors, one after another, and redoes only what differs from the mapping
 * before. One thread's; it gives the very bits of sx_evaluate. */
#ifndef SX_MODEL_FRAME_FRAME_H
#define SX_MODEL_FRAME_FRAME_H

#include "model/model.h"

typedef struct sx_cost_frame sx_cost_frame;

struct sx_sparse_state;

/* A frame of a model, or NULL in *out where frames do not cover the model: networks that cost energy, counts that
 * might exceed 2^53, more than 8 levels, ranks of more than two dimensions. `scratch` is for siblings without closed
 * forms, `sparse` the workspace of the pass over dense counts, which a score overwrites (NULL: dense models only). */
SX_MUST_USE sx_status sx_frame_new(const sx_model *model, sx_fanout_scratch *scratch,
                                   struct sx_sparse_state *sparse, sx_cost_frame **out);
void sx_frame_free(SX_TAKE sx_cost_frame *frame);

/* Scores a mapping as sx_evaluate_within does, without an objective as sx_evaluate_score does; false where the
 * frame does not cover it: remainders, directives other than no_link_transfer, malformed mappings. */
bool sx_frame_score(sx_cost_frame *frame, const sx_mapping *mapping, const sx_objective *objective,
                    double bound, sx_score *score, sx_verdict *verdict);

/* One choice of kept tensors at every level, and its score. */
typedef struct sx_swept {
    uint8_t keep[8]; /* masks of tensors */
    sx_score score;
} sx_swept;

/* Scores a mapping's factors and orders under all legal choices of kept tensors: level s keeps what is in
 * must[s] and any of what is in may[s]. Lists the first `room` of them, the innermost level's choice changing
 * fastest, and returns how many there are; -1 where the frame does not cover the mapping, or tensors are sparse. */
long sx_frame_sweep(sx_cost_frame *frame, const sx_mapping *mapping, const uint8_t *must, const uint8_t *may,
                    sx_swept *out, long room);

/* The same for one choice after another: reads a mapping, whose factors and array must be legal; false where the
 * frame does not cover it. */
bool sx_frame_open(sx_cost_frame *frame, const sx_mapping *mapping);

/* A tensor mask of a level, for sx_frame_score_kept: its bit in the byte of each tensor of the mask. */
static inline uint64_t sx_frame_kept(int level, uint8_t keep) {
    uint64_t bits = keep * 0x0101010101010101u & 0x8040201008040201u;
    return ((bits + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u) << level;
}

/* Scores the mapping that was opened where levels keep a legal choice: the sum of sx_frame_kept of all of them. As
 * sx_evaluate_within, SX_BOUND_EXCEEDED included; -1 where the frame does not cover it. */
int sx_frame_score_kept(sx_cost_frame *frame, uint64_t levels, const sx_objective *objective, double bound,
                        sx_score *score);

#endif
