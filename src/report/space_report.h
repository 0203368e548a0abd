/* The output of `sextant space`, as text and as JSON. */
#ifndef SX_REPORT_SPACE_REPORT_H
#define SX_REPORT_SPACE_REPORT_H

#include "base/text.h"
#include "session/search_space.h"
#include "session/statistics.h"

#include <jansson.h>

enum { SX_DRAW_REASONS = 64 };

/* Outcomes of draws from a space, and of samples as searches take them. */
typedef struct sx_draws {
    uint64_t n, legal;                   /* n: fewer than asked for where they were interrupted */
    uint64_t by_reason[SX_DRAW_REASONS]; /* illegal ones, by the number of the reason */
    sx_share share;                      /* of legal ones */
    unsigned tries;                      /* rejected draws after which one is repaired */
    unsigned samples, repaired;          /* repaired: those that are not uniform */
    double per_sample;                   /* draws for each */
} sx_draws;

/* Makes n draws, or as many as there is time for until `cancel` is set. */
SX_MUST_USE sx_status sx_draws_make(const sx_space *space, uint64_t seed, uint64_t n, const sx_cancel *cancel,
                                    sx_draws *out);

/* Whether a mapping belongs to a space, and the nearest that does. */
typedef struct sx_membership {
    bool member;
    char *why;      /* if it is not a member: a sentence or more */
    bool has_point; /* `nearest` and `distance` were asked for and found */
    sx_mapping nearest;
    double distance; /* of the two vectors */
} sx_membership;

/* Checks a mapping; *out is freed with sx_membership_fini. */
SX_MUST_USE sx_status sx_membership_find(const sx_search_space *s, const sx_map_space_options *options,
                                         const sx_mapping *mapping, bool nearest, sx_membership *out);
void sx_membership_fini(sx_membership *m);

/* For a person. */
void sx_space_print_sizes(const sx_search_space *s, sx_text *out);
void sx_space_print_draws(const sx_space *space, const sx_draws *draws, sx_text *out);
void sx_space_print_membership(const sx_membership *m, sx_text *out);

/* For programs: sets keys of an object. */
void sx_space_json_sizes(const sx_space *space, json_t *object);
void sx_space_json_draws(const sx_space *space, const sx_draws *draws, json_t *object);
SX_MUST_USE sx_status sx_space_json_membership(const sx_search_space *s, const sx_membership *m,
                                               json_t *object);

#endif
