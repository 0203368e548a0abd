/* The inside of a space: what an implementation provides, and what navigators call. Free of any word about
 * mappings. */
#ifndef SX_SPACE_TYPE_H
#define SX_SPACE_TYPE_H

#include "sextant/point_model.h"
#include "sextant/rng.h"

__extension__ typedef unsigned __int128 sx_u128;

enum { SX_SAMPLE_TRIES = 1000 }; /* draws that are rejected before a draw is projected to legality */

/* A gene is the smallest part of a point that can be drawn anew or taken over from another point on its own
 * (a dimension's factors, a level's order). Genes of a kind form an axis. */
typedef struct sx_gene {
    int32_t axis;
    int32_t which; /* the space's own number within the axis */
} sx_gene;

/* The functions of a space. draw, check, redraw and take are needed; any other may be NULL, and then what it
 * is for is not available. */
typedef struct sx_space_type {
    const char *name; /* such as "map"; a navigator that searches one kind of space asks for it */

    void (*free)(SX_TAKE sx_space *space);
    /* Makes the account that `size` tells; NULL: nothing has to be made. */
    sx_status (*count)(const sx_space *space);
    /* Line `index` of the account, and construction number `index`: what enumerating needs. */
    bool (*size)(const sx_space *space, size_t index, sx_size *out);
    bool (*at)(const sx_space *space, sx_u128 index, void *point);

    /* A construction drawn uniformly, legal or not. */
    void (*draw)(const sx_space *space, sx_rng *rng, void *point);
    /* The same, but passes over some that cannot be legal: uniform over a set that holds all legal points. */
    void (*draw_likely)(const sx_space *space, sx_rng *rng, void *point);
    /* Whether any bytes are a construction: what is asked before bytes of a file are taken for a point; NULL:
     * check can be asked of any bytes. */
    bool (*holds)(const sx_space *space, const void *point);
    /* 0: legal; otherwise the number of a reason. */
    unsigned (*check)(const sx_space *space, const void *point);
    const char *(*reason)(const sx_space *space, unsigned reason);
    void (*explain)(const sx_space *space, const void *point, char *text, size_t size);
    sx_status (*diagnose)(const sx_space *space, uint64_t seed, uint64_t tries, SX_OWN char **out);

    /* One gene drawn anew, moved by a small step (NULL: drawn anew), or taken over. The result need not be
     * legal, but it obeys all that a construction obeys. */
    void (*redraw)(const sx_space *space, sx_rng *rng, size_t gene, void *point);
    void (*nudge)(const sx_space *space, sx_rng *rng, size_t gene, void *point);
    void (*take)(const sx_space *space, size_t gene, const void *from, void *point);

    /* Brings a construction to legality by cheap and rough steps; false where it is still not legal. */
    bool (*repair)(const sx_space *space, sx_rng *rng, void *point);

    void (*encode)(const sx_space *space, const void *point, double *values);
    bool (*project)(const sx_space *space, const double *values, void *point);
} sx_space_type;

/* The head of every space; an implementation's struct begins with it. */
struct sx_space {
    const sx_space_type *type;
    size_t point_size; /* a multiple of 8 */
    size_t n_values;
    size_t n_genes;
    const sx_gene *gene;
    unsigned tries; /* how often to draw a legal point before repairing; 0: SX_SAMPLE_TRIES times */
    const sx_point_model *model; /* that it comes with; NULL: none */
    struct sx_guard *guard; /* of checks and draws that can be broken off (base/guard.h); NULL: none can */
    void *user;             /* of the implementation */
};

/* Whether a check or a draw could not be finished since the space's guard began to watch: what it said is no answer. */
bool sx_space_unfinished(const sx_space *space);
/* The error of that; none where a signal or the time limit ended it. */
SX_MUST_USE sx_status sx_space_unfinished_status(const sx_space *space);

/* How often a space is drawn from before the last draw is repaired. */
unsigned sx_space_tries(const sx_space *space);

/* Draws (what is likely) until a point is legal, sx_space_tries times at most, then repairs or else projects
 * the last draw; false where even that is not legal. Points that were drawn are uniform over the legal
 * constructions; those that were repaired lean towards the border of legality, where most draws come to rest.
 * `rejected`, where not NULL, grows by the illegal draws. */
bool sx_space_draw_legal(const sx_space *space, sx_rng *rng, void *point, uint64_t *rejected);

/* A random gene, of one axis or (axis < 0) of all; -1 where the axis has none. */
int64_t sx_space_random_gene(const sx_space *space, sx_rng *rng, int axis);

/* Changes a legal point by `nudge` (or `redraw`) of random genes of an axis (-1: any) until the result is
 * legal and differs, `tries` times at most; false, and the point as it was, where that fails. `scratch` is
 * room for a point. */
bool sx_space_mutate(const sx_space *space, sx_rng *rng, int axis, bool redraw, unsigned tries, void *point,
                     void *scratch);

#endif
