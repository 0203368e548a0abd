/* Files of saved state: a line that says what the file is, in which format, with which hash and how long; the identity
 * of the search that it is of; and a body. The format decides whether a file is read. */
#ifndef SX_BASE_SAVED_STATE_H
#define SX_BASE_SAVED_STATE_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* A kind of file. Raise the format whenever the bytes mean something else, or a search goes on from them in another way. */
typedef struct sx_state_kind {
    const char *mark;  /* its first bytes, before the format */
    const char *about; /* "checkpoint of ..." */
    unsigned format;
} sx_state_kind;

typedef struct sx_saved_state {
    const char *identity, *body; /* within the bytes of the file */
    size_t identity_size, size;
} sx_saved_state;

/* Adds a line to an identity: a key of one word, and its value in which line breaks become spaces. A value's last word
 * may be a digest of 16 digits, which messages leave out. */
SX_PRINTF(3, 4) void sx_identity_add(sx_text *text, const char *key, const char *format, ...);
/* The same with a digest as the last word. */
void sx_identity_add_digest(sx_text *text, const char *key, const char *value, unsigned long long digest);

/* Whether two identities differ; adds the first difference, "it was made with KEY VALUE, not VALUE". */
bool sx_identity_differs(const char *there, size_t size, const char *here, sx_text *out);

/* Reads a file; *bytes is NULL where there is none. One that does not begin with the mark is refused before it is read
 * whole. */
SX_MUST_USE sx_status sx_state_load(const sx_state_kind *kind, const char *path, SX_OWN char **bytes,
                                    size_t *size);
/* Divides the bytes of a file, once format, sizes and hash are found right. */
SX_MUST_USE sx_status sx_state_parse(const sx_state_kind *kind, const char *path, const char *bytes,
                                     size_t size, sx_saved_state *out);
/* Refuses the state of another search than that of an identity. */
SX_MUST_USE sx_status sx_state_check(const char *path, const sx_saved_state *state, const char *identity);
SX_MUST_USE sx_status sx_state_write(const sx_state_kind *kind, const char *path, const char *identity,
                                     size_t identity_size, const char *body, size_t size);

/* The error for a file that cannot be resumed: "the checkpoint 'path' WHAT". */
SX_MUST_USE sx_status sx_state_refuse(const char *path, const char *what);

#endif
