/* The layouts of what the public headers sextant/status.h and sextant/cancel.h declare. */
#ifndef SX_ERROR_H
#define SX_ERROR_H

#include "sextant/cancel.h"

/* A failure. line and column count from 1; 0 means unknown. hint may be NULL. */
typedef struct sx_error {
    sx_code code;
    char *file;
    int line, column;
    char *message;
    char *hint;
} sx_error;

/* The error that memory is out, which is static. */
SX_MUST_USE sx_status sx_error_memory(void);

/* All zero: not set. */
struct sx_cancel {
    int set;
};

#endif
