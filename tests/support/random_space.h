/* Map spaces small enough to look at every construction. */
#ifndef SX_TESTS_RANDOM_SPACE_H
#define SX_TESTS_RANDOM_SPACE_H

#include "support/random_case.h"

#include "mapspace/map_space.h"

typedef struct sx_small_space {
    sx_case c; /* problem, architecture and options; its mapping is of no matter */
    sx_constraints limits;
    sx_map_space_options options;
    sx_model *model;
    sx_space *space;
    const sx_map_space *map;
    uint64_t n; /* constructions */
} sx_small_space;

/* Draws a space of at most a given number of constructions: a random problem and architecture, sometimes constraints,
 * orders fixed and sizes cut down until they are that few. Free with sx_small_space_fini. */
void sx_random_space(sx_rng *rng, uint64_t most, SX_OWN sx_small_space *out);
/* The same with sparse tensors. */
void sx_random_sparse_space(sx_rng *rng, uint64_t most, SX_OWN sx_small_space *out);
/* Kinds of spaces, of which one has several; what rules and bounds have to know of. */
typedef enum sx_space_kind {
    SX_KIND_BANKS,       /* a level in banks may bypass a tensor */
    SX_KIND_SPARSE,      /* zeros count */
    SX_KIND_REMAINDERS,  /* factors need not divide */
    SX_KIND_SPLIT_AXES,  /* a dimension may lie on both axes */
    SX_KIND_NETWORK,     /* hops or routers cost energy */
    SX_KIND_LINKS,       /* neighbours may hand words on */
    SX_KIND_BITS,        /* tensors have widths of their own */
    SX_KIND_LIMITS,      /* there are constraints */
    SX_KIND_MINIMUM_USE, /* a share of a memory or of the units has to be in use */
    SX_KIND_BUFFERING,   /* tiles are held several times */
    SX_KIND_TRANSPARENT, /* a level keeps nothing and has no loops */
    SX_KIND_WINDOWS,     /* ranks of several dimensions */
    SX_KIND_QUIET,       /* no network and no links */
    SX_N_KINDS
} sx_space_kind;

/* Draws a space that is of a kind, beside others. Spaces without networks and without links are as likely as others. */
void sx_random_space_of(sx_rng *rng, sx_space_kind kind, uint64_t most, SX_OWN sx_small_space *out);

/* The parts of these draws. What a space is made of; a kind that is likely in it; its making, false where constraints contradict
 * it; how many constructions a space has; and its making with orders fixed and sizes cut down until it has at most a given number
 * of them, false where that fails. */
void sx_draw_space(sx_rng *rng, sx_small_space *out);
void sx_draw_kind(sx_rng *rng, sx_space_kind kind, sx_small_space *small);
bool sx_make_space(SX_OWN sx_small_space *small);
double sx_count_constructions(const sx_map_space *map);
bool sx_make_small_space(sx_rng *rng, uint64_t most, SX_OWN sx_small_space *out);

/* The space of a problem of the catalog, or an einsum, on an architecture of the catalog; it may be large, and n is 0. */
void sx_catalog_space(const char *problem, const char *arch, const sx_map_space_options *options,
                      SX_OWN sx_small_space *out);

/* The same on an architecture that is given. */
void sx_space_on(const char *problem, const sx_arch *arch, const sx_map_space_options *options,
                 SX_OWN sx_small_space *out);

/* Spaces with as many tensors, dimensions or levels as there may be, small otherwise; false past the last. What goes beyond one
 * of them leaves an array. */
bool sx_largest_space(int number, bool remainders, SX_OWN sx_small_space *out);

/* The kinds of a space, as a mask; and the name of one. */
unsigned sx_small_space_kinds(const sx_small_space *small);
const char *sx_space_kind_name(sx_space_kind kind);

/* Draws a space of convolutions in one or two dimensions, with strides and dilations, on an array whose memories may
 * hand words on to neighbours; it may be large, and n is 0. */
void sx_random_link_space(sx_rng *rng, SX_OWN sx_small_space *out);
/* Draws a space with remainders in which a window of two dimensions is spread over one or two arrays, and only reads of its words
 * by units that share them cost energy. */
void sx_random_shared_window(sx_rng *rng, uint64_t most, SX_OWN sx_small_space *out);
/* Draws a space with remainders of tensors whose ranks are single dimensions, on one to four memories with arrays and little
 * room; of at most a given number of constructions, or, of 0, of any number (then n is 0). */
void sx_random_plain_space(sx_rng *rng, uint64_t most, SX_OWN sx_small_space *out);
/* Makes a space again, with networks whose hops cost energy, as often as not nothing else. */
void sx_random_hops(sx_rng *rng, sx_small_space *small);
/* Gives a level, as often as not, a port so narrow that it may decide the time. */
void sx_narrow_port(sx_rng *rng, sx_arch *arch);
/* Fails where a bound of a mapping's outline is above its value; the mapping has exact factors. */
void sx_expect_outline_bounds(const sx_model *model, const sx_mapping *mapping, const sx_objective *objective,
                              double value);
void sx_small_space_fini(sx_small_space *small);

/* A line that describes the space for error messages, in fresh memory. */
SX_OWN char *sx_small_space_text(const sx_small_space *small);

#endif
