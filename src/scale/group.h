/* The processes of one search and the messages between them. Process 0 hands out chunks of parts and collects
 * what is made of them; a process that is silent for too long is lost, and its chunks are handed out again.
 *
 * Two threads make progress: the one that works, while it waits; and a helper, while that one makes parts. All
 * below is under the lock, and so are the calls of the link. */
#ifndef SX_SCALE_GROUP_H
#define SX_SCALE_GROUP_H

#include "base/ranks.h"
#include "base/vector.h"
#include "scale/mpi/module.h"

#include <pthread.h>

typedef enum sx_message_kind {
    SX_MESSAGE_WORK,   /* process 0: make this chunk */
    SX_MESSAGE_ALL,    /* process 0: all is made; with the bytes, where everyone takes them */
    SX_MESSAGE_END,    /* process 0: end; `lost`: not all can end together */
    SX_MESSAGE_RESULT, /* to process 0: a chunk, or SX_NO_CHUNK at first; ready for another */
    SX_MESSAGE_BYE,    /* to process 0: this one does no more work; why, where that is early */
    SX_MESSAGE_BEAT,   /* still there */
} sx_message_kind;

#define SX_NO_CHUNK UINT64_MAX

typedef struct sx_message {
    uint32_t kind, lost;
    uint64_t call, chunk, mark;
    double seconds;
} sx_message;

/* A message that has arrived before it was waited for. */
typedef struct sx_arrived {
    struct sx_arrived *next;
    unsigned from;
    size_t size; /* of the bytes */
    sx_message head;
    char bytes[];
} sx_arrived;

typedef enum sx_chunk_state { SX_CHUNK_FREE, SX_CHUNK_OUT, SX_CHUNK_MADE } sx_chunk_state;

/* Neighbouring parts that are made together. */
typedef struct sx_chunk {
    sx_chunk_state state;
    unsigned at; /* the process that makes it */
    char *bytes; /* once they are made */
    size_t size;
} sx_chunk;

/* A process as process 0 sees it, or process 0 itself. */
typedef struct sx_member {
    double heard; /* when a message came, by the clock */
    bool gone;    /* no longer worked with */
    bool parked;  /* waits for a chunk */
} sx_member;

typedef struct sx_group {
    sx_ranks ranks;
    sx_link link;
    double patience; /* seconds of silence after which a process is lost */
    bool exits;      /* the end ends this process; otherwise it is only noted */
    bool ended;
    pthread_mutex_t lock;
    pthread_t helper;
    bool helping, closing;
    sx_member *member;
    double beaten;             /* when this process has sent its last beat */
    bool lost;                 /* a process has died */
    sx_text report;            /* lines for the user */
    sx_vector sends;           /* that are under way */
    sx_arrived *first, **last; /* messages for later, in order */

    /* The current call. */
    uint64_t call;
    bool open; /* process 0: results are taken */
    const sx_shared *work;
    sx_chunk *chunk;
    size_t n_chunks, n_made;
    double seconds;
} sx_group;

/* The processes that a link connects; with `exits` the end of the work ends processes other than number 0. */
SX_MUST_USE sx_status sx_group_new(const sx_link *link, double patience, bool exits, SX_OWN sx_ranks **out);
/* Leaves them (see sx_ranks_leave); without `exits` every process returns. */
void sx_group_leave(SX_TAKE sx_ranks *ranks, const struct sx_error *why, int code);

/* Under the lock: receives and sends, tells the others that this one is there, finds out who is lost. */
void sx_group_progress(sx_group *group);
/* Without the lock: waits for a moment, longer the longer it has waited since `began`. */
void sx_group_wait(double began);
/* Sends a message with bytes (NULL: none); to several: those that are not gone. */
void sx_group_send(sx_group *group, unsigned to, const sx_message *head, const void *bytes, size_t size);
void sx_group_send_all(sx_group *group, const sx_message *head, const void *bytes, size_t size);
/* Keeps a message for later; NULL when memory is out. And the first of those kept, taken out; NULL: none. */
sx_arrived *sx_group_keep(sx_group *group, unsigned from, const sx_message *head, const char *bytes,
                          size_t size);
SX_OWN sx_arrived *sx_group_next(sx_group *group);

/* How many chunks work has, and the first part of one. */
size_t sx_group_chunks(const sx_group *group, const sx_shared *work);
size_t sx_group_first(const sx_shared *work, size_t n_chunks, size_t chunk);
/* Makes a chunk, without the lock; *seconds is how long it took. */
SX_MUST_USE sx_status sx_group_make(sx_group *group, const sx_shared *work, size_t n_chunks, size_t chunk,
                                    sx_text *out, double *seconds);

/* Process 0: dividing work, and what a message of another process means; one that is no longer worked with,
 * and why (NULL: it said so itself, or all is over). */
SX_MUST_USE sx_status sx_coordinate(sx_ranks *ranks, const sx_shared *work, sx_shared_result *out);
void sx_coordinate_message(sx_group *group, unsigned from, const sx_message *head, const char *bytes,
                           size_t size);
void sx_coordinate_lose(sx_group *group, unsigned number, const char *why);

/* Another process: doing its part of the work. */
SX_MUST_USE sx_status sx_follow(sx_ranks *ranks, const sx_shared *work, sx_shared_result *out);

#endif
