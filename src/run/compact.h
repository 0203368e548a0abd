/* Searching a map space by compact points (core/space.h), which are scored by the core and become points of the space only where
 * the run is interested in them. */
#ifndef SX_RUN_COMPACT_H
#define SX_RUN_COMPACT_H

#include "mapspace/map_core.h"

#include "sextant/navigator.h"

/* What a search by compact points shares among its tasks. */
typedef struct sx_compact_search {
    const sx_map_space *space;
    const sx_core_engine *engine;
    size_t size;  /* of a compact point */
    bool foreign; /* scores come from a model, or a cache, that knows points of the space only */
    sx_core_space core;
    sx_core_splits *splits; /* NULL: the search is one that breeds points */
} sx_compact_search;

/* What points are made by. */
typedef enum sx_compact_use {
    SX_COMPACT_BREEDS, /* changes of others: constraints of factors and orders are left to the space's own points */
    SX_COMPACT_DRAWS, /* changes of others and draws from lists of splits */
    SX_COMPACT_WALKS, /* going through lists of splits, where scores need no points of the space */
} sx_compact_use;

/* A search of the run's space by compact points; NULL in *out where they do not cover the space, or its splits are too many to list
 * or none that levels can hold. */
SX_MUST_USE sx_status sx_compact_search_new(const sx_run *run, sx_compact_use use,
                                            SX_OWN sx_compact_search **out);
void sx_compact_search_free(SX_TAKE sx_compact_search *search);

/* A worker's memory for the engine; NULL, and a run that failed, when memory is out. */
struct sx_core_work *sx_compact_search_work(const sx_compact_search *search, sx_worker *worker);

/* The random numbers of a stream, and of one of many streams that begin with the numbers of `all`. */
sx_core_rng sx_compact_search_rng(uint64_t seed, const char *name, uint64_t number);
static inline sx_core_rng sx_compact_search_part(sx_core_rng all, uint64_t number) {
    all.state += number * 0xd1342543de82ef95u;
    return (sx_core_rng){sx_core_next(&all)};
}

/* Makes a legal point where drawing compact ones has failed: draws one of the space, repairing it where that fails too; false
 * where none was found. The engine has then checked it. */
bool sx_compact_search_rescue(const sx_compact_search *search, sx_worker *worker, struct sx_core_work *work,
                              sx_core_rng *rng, sx_compact_level *compact);

/* Draws a legal point, all of them equally likely, as sx_space_draw_legal does. */
bool sx_compact_search_draw(const sx_compact_search *search, sx_worker *worker, struct sx_core_work *work,
                            sx_core_rng *rng, sx_compact_level *compact);

/* Makes a legal point that differs from another in one part, which took a small step or was drawn anew; false where none was found
 * in a number of tries. */
bool sx_compact_search_step(const sx_compact_search *search, struct sx_core_work *work, sx_core_rng *rng,
                            bool redraw, int tries, const void *from, sx_compact_level *to);

/* Evaluates the point that the engine has checked or repaired last, as sx_worker_evaluate does. */
sx_outcome sx_compact_search_evaluate(const sx_compact_search *search, sx_worker *worker,
                                      struct sx_core_work *work, const sx_compact_level *compact,
                                      bool within);

/* The sum of sx_kept_at (model/core_score.h) of what the levels of a point keep. */
uint64_t sx_compact_search_kept(const sx_compact_search *search, const sx_compact_level *compact);

/* Evaluates a point that the engine has put in order (`order`, whose result is `cycles`), as sx_worker_evaluate does within the
 * cutoff: tensor after tensor, as long as it is not beyond. `levels`: what its levels keep (sx_compact_search_kept). */
sx_outcome sx_compact_search_keep(const sx_compact_search *search, sx_worker *worker,
                                  struct sx_core_work *work, double cycles, const sx_objective *objective,
                                  uint64_t levels, const sx_compact_level *compact);

#endif
