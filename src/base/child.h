/* A child process that answers lines: one line in, one line out. */
#ifndef SX_BASE_CHILD_H
#define SX_BASE_CHILD_H

#include "base/text.h"
#include "sextant/error.h"

typedef struct sx_child sx_child;

/* What became of a question. */
typedef enum sx_reply {
    SX_REPLY_LINE,
    SX_REPLY_DIED,     /* the child ended, or closed its output */
    SX_REPLY_LATE,     /* no line within the time limit */
    SX_REPLY_LONG,     /* its line is longer than SX_REPLY_LIMIT */
    SX_REPLY_MORE,     /* it wrote more than one line, or before it was asked */
    SX_REPLY_CANCELLED /* the search was told to stop */
} sx_reply;

enum { SX_REPLY_LIMIT = 1 << 20 };

/* Starts `sh -c command` in a process group of its own. */
SX_MUST_USE sx_status sx_child_start(const char *command, SX_OWN sx_child **out);

/* Closes its input, gives it some seconds to end, then kills it with all that it started. */
void sx_child_end(SX_TAKE sx_child *child, double seconds);

/* Writes a line, which ends with '\n', and waits for one. *reply is what became of it. */
SX_MUST_USE sx_status sx_child_ask(sx_child *child, const char *line, size_t size, double seconds,
                                   const sx_cancel *cancel, sx_reply *reply);

/* The line of the last answer, or what came instead of one. */
const char *sx_child_line(const sx_child *child);

/* How a child that died ended, such as "it exited with code 3". */
void sx_child_exit_text(sx_child *child, char *text, size_t size);

/* The end of what it wrote to standard error: the last lines. */
const char *sx_child_said(const sx_child *child);

#endif
