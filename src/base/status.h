/* Making errors. The public side is sextant/status.h. */
#ifndef SX_BASE_STATUS_H
#define SX_BASE_STATUS_H

#include "sextant/error.h"

/* Tells the compiler that an error is never success, so that it can follow what SX_TRY leaves set. */
#if defined(__GNUC__)
#define SX_ERROR SX_MUST_USE __attribute__((returns_nonnull))
#else
#define SX_ERROR SX_MUST_USE
#endif

/* Where in an input something stands; file may be NULL, line and column 0. */
typedef struct sx_place {
    const char *file;
    int line, column;
} sx_place;

/* Of sextant/status.h, never NULL: when memory is out, sx_error_new is the static out-of-memory error. */
SX_ERROR sx_status sx_error_new(sx_code code, const char *format, ...) SX_PRINTF(2, 3);

/* A new SX_ERR_INPUT error at a place. */
SX_ERROR sx_status sx_error_at(sx_place place, const char *format, ...) SX_PRINTF(2, 3);

/* A new error with what `errno` means after the message; where that is a lack of memory, the out-of-memory
 * error. */
SX_ERROR sx_status sx_error_system(sx_code code, const char *format, ...) SX_PRINTF(2, 3);

SX_ERROR sx_status sx_error_hint(SX_TAKE sx_status error, const char *format, ...) SX_PRINTF(2, 3);

/* Gives an error without a place the given one and returns it; success stays success. */
SX_MUST_USE sx_status sx_error_place(SX_TAKE sx_status error, sx_place place);

/* The error that memory is out, which is static. */
SX_ERROR sx_status sx_error_memory(void);

#endif
