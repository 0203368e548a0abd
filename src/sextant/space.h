/* A space: points that can be drawn, checked, changed, combined, counted, turned into vectors and back. Every
 * search works on a space; what its points mean only the space knows.
 *
 * A point is sx_space_point_size bytes of plain data, aligned for any type: it is copied with memcpy, and two
 * equal points are equal bytes. A space never changes and may be shared by threads. */
#ifndef SX_SPACE_H
#define SX_SPACE_H

#include "sextant/constraints.h"
#include "sextant/model.h"
#include "sextant/search.h"

typedef struct sx_space sx_space;

const char *sx_space_name(const sx_space *space);
size_t sx_space_point_size(const sx_space *space);

/* A number of points: exact while it fits 128 bits. */
typedef struct sx_cardinal {
    uint64_t high, low; /* high * 2^64 + low, where exact */
    bool exact;
    double log10; /* -INFINITY: none */
} sx_cardinal;

/* As digits, or as 5.5e24 where there are more than about 15. */
void sx_cardinal_text(const sx_cardinal *cardinal, char *text, size_t size);

/* A line of the account of a space's size. */
typedef struct sx_size {
    const char *name;  /* such as "factors", "raw", "order-classes" */
    const char *about; /* a sentence */
    bool component;    /* a factor of the raw size rather than a size of the whole space */
    sx_cardinal count;
    double error; /* relative standard error where it is estimated from samples; 0: counted */
} sx_size;

/* Makes the account of the size. Without it sx_space_size() makes it, and has no lines where memory is out.
 */
SX_MUST_USE sx_status sx_space_count(const sx_space *space);

/* Line `index` of the account: components first, then the raw size, then what each reduction leaves; false
 * past the last. */
bool sx_space_size(const sx_space *space, size_t index, sx_size *out);

/* Draws a legal point: number `index` of the sequence that belongs to the seed. False where none was found
 * in many tries (the point is then the last try). Mind Mappings' getMapping. */
bool sx_space_sample(const sx_space *space, uint64_t seed, uint64_t index, void *point);

/* Whether a point is legal; where not, and `text` is not NULL, why. Mind Mappings' isMember. */
bool sx_space_legal(const sx_space *space, const void *point, char *text, size_t size);

/* Vectors: every point has one of sx_space_n_values numbers; `project` gives the legal point nearest to any
 * vector, as far as a local search finds it (a legal point's own vector gives that point, and no legal
 * neighbour of the answer is nearer); false where no legal point was found. Mind Mappings' getProjection. */
size_t sx_space_n_values(const sx_space *space);
void sx_space_encode(const sx_space *space, const void *point, double *values);
bool sx_space_project(const sx_space *space, const double *values, void *point);

/* Construction number `index` of the space (legal or not), counting from 0; false past the last or where the
 * space has more than 2^128. Of a map space there are as many as the line "array" says. */
bool sx_space_at(const sx_space *space, const sx_cardinal *index, void *point);

/* Why a space seems to have no legal point: how `tries` draws fared, reason by reason with its share, and the
 * smallest change that would help. The text is freed with sx_free(). */
SX_MUST_USE sx_status sx_space_diagnose(const sx_space *space, uint64_t seed, uint64_t tries,
                                        SX_OWN char **out);

/* --- the space of the mappings of a problem onto an architecture --- */

typedef struct sx_map_space_options {
    bool remainders; /* factors need not divide: any tile at any level */
    bool keep_all;   /* every level keeps what it is built for; otherwise keeping or bypassing is searched */
    bool no_banks;   /* levels in banks: search what to keep instead of how many banks each tensor gets */
    bool split_axes; /* a dimension of a level may lie on both axes of its array (sx_mapping_level.x_part) */
    double
        dividing; /* with remainders: a proven lower bound of the mappings whose factors divide, which proofs then
                        do not search again; 0: they do */
    double
        ceiling; /* mappings whose value is not below this need not be found, and no optimum is proven; 0: none */
    double
        brief; /* with remainders that were not asked for: the million steps that a proof may take, at most; padded
                  sizes, and what else `auto` does for them, are cut alike; 0: as the mapper is set */
} sx_map_space_options;

/* Factors that divide; keeping is searched, and banks are. */
void sx_map_space_options_init(sx_map_space_options *options);

/* The map space of a model, which must outlive it. constraints and options may be NULL. A contradiction
 * between constraints and sizes is an error. */
SX_MUST_USE sx_status sx_map_space_new(const sx_model *model, const sx_constraints *constraints,
                                       const sx_map_space_options *options, SX_OWN sx_space **out);

/* Draws n legal mappings, numbers `first` and following of the sequence that belongs to the seed, and puts them
 * `stride` bytes apart (at least sx_mapping_bytes; what is beyond these bytes is set to 0). An error that says why,
 * where no legal mapping was found. */
SX_MUST_USE sx_status sx_map_space_draw(const sx_space *space, uint64_t seed, uint64_t first, size_t n,
                                        size_t stride, void *mappings);

/* From points to mappings and back. A mapping that the space cannot hold (directives such as no_multicast, a
 * spatial order of its own, another shape) gives false and the nearest construction. */
void sx_map_space_mapping(const sx_space *space, const void *point, sx_mapping *out);
bool sx_map_space_point(const sx_space *space, const sx_mapping *mapping, void *point);

#endif
