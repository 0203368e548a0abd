/* A family of problems: one einsum, and the sizes that each of its dimensions may have. */
#ifndef SX_SURROGATE_FAMILY_H
#define SX_SURROGATE_FAMILY_H

#include "frontend/keys.h"
#include "sextant/problem.h"
#include "sextant/rng.h"

enum { SX_FAMILY_PARTS = 64 };

/* Sizes low, low + step, ... up to high. */
typedef struct sx_size_range {
    uint32_t low, high, step;
} sx_size_range;

typedef struct sx_family_dim {
    int same_as; /* the dimension whose size it has; -1: its own */
    size_t n_parts;
    sx_size_range part[SX_FAMILY_PARTS];
    uint64_t n_sizes; /* of all parts */
} sx_family_dim;

typedef struct sx_family {
    char name[SX_NAME_SIZE];
    sx_problem problem; /* the einsum, every dimension of its largest size */
    sx_family_dim dim[SX_MAX_DIMS];
} sx_family;

/* The built-in families: entry `index`, its name and a line about it; NULL past the last. */
const char *sx_family_name(size_t index, const char **about);

/* Reads a built-in family by its name, or else a file. */
SX_MUST_USE sx_status sx_family_load(const char *name_or_file, sx_family *out);
/* Reads the text of a file. */
SX_MUST_USE sx_status sx_family_parse(const char *name, const char *text, size_t size, sx_family *out);

/* The einsum and the sizes on one line: equal families have equal texts. The text is freed with free(). */
SX_MUST_USE sx_status sx_family_text(const sx_family *family, SX_OWN char **out);

/* Draws a problem: every dimension's size uniformly over its sizes. */
void sx_family_draw(const sx_family *family, sx_rng *rng, sx_problem *out);

/* The keys of a file of a family. */
extern const sx_keys sx_keys_family;

#endif
