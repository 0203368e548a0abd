/* Files that list the non-zeros of a tensor: Matrix Market files, lines of coordinates as FROSTT has them,
 * and masks of 0s and 1s. */
#ifndef SX_TEXT_COORDINATES_H
#define SX_TEXT_COORDINATES_H

#include "sextant/problem.h"

#include <stddef.h>

enum {
    SX_MAX_NONZEROS = 1 << 24,       /* of a file */
    SX_MAX_COORDINATE_FILE = 1 << 29 /* bytes */
};

/* The non-zeros of a tensor by their numbers, ascending: word (i, j, ...) has the number (i * columns + j) ... */
typedef struct sx_coordinates {
    uint64_t *word;
    size_t n;
    uint64_t hash;
} sx_coordinates;

/* Reads the non-zeros of a tensor from the text of a file. Words whose value is 0 are left out. */
SX_MUST_USE sx_status sx_coordinates_parse(const char *file, const char *text, size_t size,
                                           const sx_problem *problem, int tensor, sx_coordinates *out);

/* What such a file is called in messages. */
#define SX_NONZEROS_FILE "file of non-zeros"

/* The same from a file. Messages never quote its content: it may be a file that was named by mistake. */
SX_MUST_USE sx_status sx_coordinates_read(const char *path, const sx_problem *problem, int tensor,
                                          sx_coordinates *out);

void sx_coordinates_fini(sx_coordinates *coordinates);

#endif
