/* Small random problems, architectures and mappings, the same for the same stream. */
#ifndef SX_TESTS_RANDOM_CASE_H
#define SX_TESTS_RANDOM_CASE_H

#include "base/text.h"
#include "sextant/model.h"
#include "sextant/rng.h"

/* What to evaluate, and how. */
typedef struct sx_case {
    sx_problem problem;
    sx_arch arch;
    sx_mapping mapping;
    sx_model_options options;
} sx_case;

enum {
    SX_CASE_REMAINDER = 1, /* factors need not divide (by chance they all may) */
    SX_CASE_PLAIN = 2,     /* every rank is one dimension, and no dimension is in two ranks of a tensor */
    SX_CASE_SPLIT = 4,     /* levels have a dimension on both axes of their array where they can */
    SX_CASE_PASSING = 8,   /* levels coalesce no accesses to some tensors */
};

/* Draws a case. Some are illegal; problem and architecture always pass their checks. */
void sx_random_case(sx_rng *rng, unsigned flags, sx_case *out);

/* Whether every rank of every tensor is a single dimension, stepped by 1, that no other rank of it uses. */
bool sx_case_plain(const sx_problem *problem);

/* The case as one line of JSON; see case_json.c for the fields. */
void sx_case_write(const sx_case *c, sx_text *out);

/* Reads what sx_case_write wrote; `json` is a json_t object. False where it is not such an object. */
bool sx_case_read(const void *json, sx_case *out);

#endif
