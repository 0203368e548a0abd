#include "run/compact.h"

#include "base/status.h"
#include "mapspace/map_parts.h"
#include "run/engine.h"
#include "run/known.h"
#include "run/worker_pool.h"

#include <stdlib.h>

sx_status sx_compact_search_new(const sx_run *run, sx_compact_search **out) {
    *out = NULL;
    if (run->model->type != &sx_map_model_type) return SX_OK;
    sx_compact_search *search = malloc(sizeof *search);
    if (!search) return sx_error_memory();
    search->space = sx_map_space_of(run->space);
    if (sx_map_core_space(search->space, &search->core)) {
        free(search);
        return SX_OK;
    }
    search->engine = sx_core_engine_of(&search->core.model);
    search->size = sx_compact_size(&search->core);
    search->cached = run->cache.entry != NULL;
    *out = search;
    return SX_OK;
}

struct sx_core_work *sx_compact_search_work(const sx_compact_search *search, sx_worker *worker) {
    struct sx_core_work *work = sx_core_model_work(worker->scorer.workspace, search->engine, &search->core);
    if (!work) sx_worker_fail(worker, sx_error_memory());
    return work;
}

sx_core_rng sx_compact_search_rng(uint64_t seed, const char *name, uint64_t number) {
    sx_rng rng = sx_rng_stream(seed, name, number);
    return (sx_core_rng){sx_rng_next(&rng)};
}

static void expand(const void *user, const void *compact, void *point) {
    const sx_compact_search *search = user;
    sx_map_expand(search->space, &search->core, compact, point);
}

sx_outcome sx_compact_search_evaluate(const sx_compact_search *search, sx_worker *worker,
                                      struct sx_core_work *work, const sx_compact_level *compact,
                                      bool within) {
    sx_core_score score;
    if (search->cached || !search->engine->finish(&search->core, work, compact, &score)) {
        void *point = sx_worker_scratch(worker, 3);
        expand(search, compact, point);
        return sx_worker_evaluate(worker, point, within);
    }
    const sx_score totals = {score.energy, score.cycles, score.utilization, score.accesses, score.cycles};
    const sx_metrics metrics = sx_score_metrics(&totals);
    return sx_worker_record_compact(worker, &metrics, within, expand, search, compact);
}
