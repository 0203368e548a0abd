/* The checkpoint of a fused network: answers to searches of cut layers, in the checkpoint of its layers.
 * The search of a plan begins anew and finds them there, so that it takes the same course. */
#ifndef SX_SESSION_FUSE_CHECKPOINT_H
#define SX_SESSION_FUSE_CHECKPOINT_H

#include "fuse/inner.h"
#include "sextant/session.h"

typedef struct sx_fuse_memo sx_fuse_memo;

/* Where a layer is cut: how, and at which exchange memories. */
typedef struct sx_fuse_at {
    const sx_cut *cut;
    int exchange, second; /* levels; second: -1: there is none */
} sx_fuse_at;

/* Reads what the checkpoint of these options has, once the layers are searched with them; *out is NULL where the options
 * have none. */
SX_MUST_USE sx_status sx_fuse_memo_open(const sx_session_options *options, SX_OWN sx_fuse_memo **out);
void sx_fuse_memo_free(SX_TAKE sx_fuse_memo *memo);

/* Copies out the answer to a search, with a proof that is the caller's; false: there is none. */
bool sx_fuse_memo_find(const sx_fuse_memo *memo, const sx_problem *problem, const sx_fuse_at *at,
                       sx_inner_effort effort, sx_inner_answer *out);

/* Adds an answer, and writes the file where it is time to. */
SX_MUST_USE sx_status sx_fuse_memo_add(sx_fuse_memo *memo, const sx_problem *problem, const sx_fuse_at *at,
                                       sx_inner_effort effort, const sx_inner_answer *answer);

/* Writes the file, where there is something new. One that cannot be written is no error but a warning. */
SX_MUST_USE sx_status sx_fuse_memo_save(sx_fuse_memo *memo);

#endif
