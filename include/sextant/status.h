/* What a fallible call returns: nothing (success) or what went wrong, where, and what would be right. */
#ifndef SX_STATUS_H
#define SX_STATUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SX_API __attribute__((visibility("default")))
#define SX_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define SX_MUST_USE __attribute__((warn_unused_result))
#else
#define SX_API
#define SX_PRINTF(fmt, args)
#define SX_MUST_USE
#endif

/* Ownership, as words in prototypes. SX_OWN: the caller must free what it gets. SX_TAKE: the callee frees
 * what it is given. Neither: borrowed. */
#define SX_OWN
#define SX_TAKE

typedef enum sx_code {
    SX_ERR_INPUT,    /* the user's text is wrong */
    SX_ERR_USAGE,    /* the call or the command line is wrong */
    SX_ERR_FILE,     /* the operating system refused a file */
    SX_ERR_LIMIT,    /* a documented limit is exceeded */
    SX_ERR_WRITE,    /* what was found could not be written: a full disk, a folder that is gone */
    SX_ERR_MEMORY,   /* out of memory */
    SX_ERR_INTERNAL, /* a promise of this library is broken */
    SX_ERR_PROGRAM,  /* a program that the caller named cannot be run, or fails */
} sx_code;

/* NULL is success; otherwise the caller owns the error and frees it with sx_status_free. */
typedef struct sx_error *sx_status;
#define SX_OK ((sx_status)0)

/* Evaluates a call that returns sx_status and returns its failure, if any, from the enclosing function. */
#define SX_TRY(expr)                                                                                         \
    do {                                                                                                     \
        sx_status sx_try_status_ = (expr);                                                                   \
        if (sx_try_status_) return sx_try_status_;                                                           \
    } while (0)

/* For callbacks that fail: a new error, never NULL. */
SX_API SX_MUST_USE sx_status sx_error_new(sx_code code, const char *format, ...) SX_PRINTF(2, 3);
/* Gives an error, which must be one, a hint (replacing an earlier one) and returns it. */
SX_API SX_MUST_USE sx_status sx_error_hint(SX_TAKE sx_status error, const char *format, ...) SX_PRINTF(2, 3);

/* Of an error: what went wrong, and what would be right (NULL: not said). The texts live as long as the error. */
SX_API sx_code sx_status_code(const struct sx_error *status);
SX_API const char *sx_status_message(const struct sx_error *status);
SX_API const char *sx_status_hint(const struct sx_error *status);
/* The file that an error is about, and the place in it, counted from 1; NULL and 0 where they are not known. */
SX_API const char *sx_status_place(const struct sx_error *status, int *line, int *column);

/* Frees a text or an array that the library gave away; NULL is fine. */
SX_API void sx_free(SX_TAKE void *memory);

/* Frees an error; success (NULL) and the static out-of-memory error are fine. */
SX_API void sx_status_free(SX_TAKE sx_status status);

/* The error as one text, "file:line:column: message\n  hint", in a fresh string the caller frees with
 * sx_free() (NULL when memory is out). */
SX_API SX_OWN char *sx_status_text(const struct sx_error *status);

#ifdef __cplusplus
}
#endif

#endif
