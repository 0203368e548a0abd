/* What the fuzz targets share. A target is libFuzzer's one function; a broken promise ends the process. */
#ifndef SX_TEST_FUZZ_H
#define SX_TEST_FUZZ_H

#include "sextant/all.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A target may change and combine inputs itself, in the room that there is; what it returns is the new size. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t room, unsigned seed);

/* Ends the process, as a find, unless the promise holds. */
#define promise(holds) ((holds) ? (void)0 : broken(#holds, __FILE__, __LINE__))

static inline void broken(const char *what, const char *file, int line) {
    fprintf(stderr, "%s:%d: broken promise: %s\n", file, line, what);
    abort();
}

/* Whether a call succeeded; its error, if any, must have words, and is freed. */
static inline bool succeeded(sx_status status) {
    if (!status) return true;
    char *text = sx_status_text(status);
    promise(text && text[0]);
    free(text);
    sx_status_free(status);
    return false;
}

/* Evaluates a mapping in every way; they must agree. The oracle may give up. */
void check_cost(const sx_mapping *mapping, const sx_problem *problem, const sx_arch *arch);

/* Reads a text as documents, as constraints, as a certificate; what can be read keeps its promises. */
void check_input(const char *text, size_t size);
void check_constraints(const char *text, size_t size);
void check_certificate(const char *text, size_t size);

#endif
