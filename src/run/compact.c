#include "run/compact.h"

#include "base/status.h"
#include "mapspace/map_parts.h"
#include "model/core_score.h"
#include "run/engine.h"
#include "run/known.h"
#include "run/worker_pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

sx_status sx_compact_search_new(const sx_run *run, sx_compact_use use, sx_compact_search **out) {
    const sx_map_space *space = sx_map_space_of(run->space);
    *out = NULL;
    if (!space) return SX_OK;
    sx_compact_search *s = calloc(1, sizeof *s);
    if (!s) return sx_error_memory();
    s->space = space;
    s->foreign = run->cache.entry || run->model->type != &sx_map_model_type;
    bool covered = !sx_map_core_space(space, &s->core), lists = use != SX_COMPACT_BREEDS;
    covered = covered && !(use == SX_COMPACT_WALKS ? s->foreign : s->core.limited || s->core.ruled);
    sx_status status = covered && lists ? sx_map_core_splits(space, &s->core, &s->splits) : SX_OK;
    if (!covered || (lists && !s->splits)) {
        sx_compact_search_free(s);
        return status;
    }
    s->engine = sx_core_engine_of(&s->core.model);
    s->size = sx_compact_size(&s->core);
    *out = s;
    return SX_OK;
}

void sx_compact_search_free(sx_compact_search *search) {
    if (!search) return;
    free(search->splits);
    free(search);
}

struct sx_core_work *sx_compact_search_work(const sx_compact_search *search, sx_worker *worker) {
    if (!worker->core) {
        worker->core = calloc(1, search->engine->work_size);
        if (worker->core) search->engine->begin(&search->core, worker->core);
    }
    if (!worker->core) sx_worker_fail(worker, sx_error_memory());
    return worker->core;
}

sx_core_rng sx_compact_search_rng(uint64_t seed, const char *name, uint64_t number) {
    sx_rng rng = sx_rng_stream(seed, name, number);
    return (sx_core_rng){sx_rng_next(&rng)};
}

bool sx_compact_search_rescue(const sx_compact_search *search, sx_worker *worker, struct sx_core_work *work,
                              sx_core_rng *rng, sx_compact_level *compact) {
    uint64_t rejected = 0;
    sx_rng draws = sx_rng_stream(sx_core_next(rng), "compact.rescue", 0);
    void *point = sx_worker_scratch(worker, 0);
    sx_space_draw_legal(&search->space->space, &draws, point, &rejected);
    sx_worker_reject(worker, rejected);
    sx_map_compact(search->space, &search->core, point, rng, compact);
    return search->engine->check(&search->core, work, compact);
}

bool sx_compact_search_draw(const sx_compact_search *search, sx_worker *worker, struct sx_core_work *work,
                            sx_core_rng *rng, sx_compact_level *compact) {
    for (unsigned i = 0; i < sx_space_tries(&search->space->space); i++) {
        if (search->engine->draw_uniform(&search->core, search->splits, work, rng, compact)) return true;
        sx_worker_reject(worker, 1);
    }
    return sx_compact_search_rescue(search, worker, work, rng, compact);
}

bool sx_compact_search_step(const sx_compact_search *search, struct sx_core_work *work, sx_core_rng *rng,
                            bool redraw, int tries, const void *from, sx_compact_level *to) {
    for (int i = 0; i < tries; i++) {
        memcpy(to, from, search->size);
        if (search->engine->step(&search->core, search->splits, work, rng, redraw, to) &&
            memcmp(to, from, search->size) != 0)
            return true;
    }
    return false;
}

static void expand_point(const void *user, const void *compact, void *point) {
    const sx_compact_search *search = user;
    sx_map_expand(search->space, &search->core, compact, point);
}

sx_outcome sx_compact_search_evaluate(const sx_compact_search *search, sx_worker *worker,
                                      struct sx_core_work *work, const sx_compact_level *compact,
                                      bool within) {
    sx_core_score score;
    if (search->foreign || !search->engine->finish(&search->core, work, compact, &score)) {
        void *point = sx_worker_scratch(worker, 3);
        expand_point(search, compact, point);
        return sx_worker_evaluate(worker, point, within);
    }
    const sx_score totals = {score.energy, score.cycles, score.utilization, score.accesses, score.cycles};
    const sx_metrics metrics = sx_score_metrics(&totals);
    return sx_worker_record_compact(worker, &metrics, within, expand_point, search, compact);
}

uint64_t sx_compact_search_kept(const sx_compact_search *search, const sx_compact_level *compact) {
    uint64_t levels = 0;
    for (uint32_t s = 0; s < search->core.model.n_levels; s++) levels |= sx_kept_at((int)s, compact[s].keep);
    return levels;
}

sx_outcome sx_compact_search_keep(const sx_compact_search *search, sx_worker *worker,
                                  struct sx_core_work *work, double cycles, const sx_objective *objective,
                                  uint64_t levels, const sx_compact_level *compact) {
    const sx_core_opened opened = {search->engine, &search->core.model, work, cycles};
    uint32_t kept[SX_CORE_TENSORS];
    sx_outcome outcome;
    sx_score score;
    for (uint32_t v = 0; v < search->core.model.n_tensors; v++) kept[v] = (uint32_t)(levels >> 8 * v & 0xff);
    int reason = -1;
    if (!search->foreign)
        reason =
            sx_core_score_kept(&opened, kept, objective->criterion[0].kind < SX_LATENCY ? objective : NULL,
                               sx_worker_cutoff(worker), &score);
    if (reason == SX_BOUND_EXCEEDED && sx_worker_pass(worker, INFINITY, &outcome)) return outcome;
    if (reason == SX_LEGAL) {
        const sx_metrics metrics = sx_score_metrics(&score);
        return sx_worker_record_compact(worker, &metrics, true, expand_point, search, compact);
    }
    void *point = sx_worker_scratch(worker, 3);
    expand_point(search, compact, point);
    return sx_worker_evaluate(worker, point, true);
}
