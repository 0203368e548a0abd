/* Gamma's individuals as compact points. */
#include "mappers/gamma/gamma.h"

#include "core/moves.h"

#include <math.h>
#include <string.h>

/* A worker at an individual. */
typedef struct maker {
    const sx_gamma *g;
    const sx_compact_search *search;
    sx_worker *worker;
    struct sx_core_work *work;
    sx_core_rng rng;
} maker;

static size_t individual_size(const sx_gamma *g) {
    return g->compact->size;
}

/* A maker whose random numbers are those of a task. */
static maker begin_maker(const sx_gamma *g, sx_worker *worker, sx_core_rng tasks, uint64_t number) {
    return (maker){g, g->compact, worker, sx_compact_search_work(g->compact, worker),
                   sx_compact_search_part(tasks, number)};
}

/* Repairs a point; false where that fails. */
static bool repair_point(maker *m, sx_compact_level *point) {
    return m->search->engine->repair(&m->search->core, m->work, &m->rng, point);
}

/* Makes a point random and legal; false where none was found. */
static bool draw_legal(maker *m, sx_compact_level *point) {
    for (int tries = 0; tries < SX_GAMMA_REPAIRS; tries++) {
        m->search->engine->draw(&m->search->core, &m->rng, point);
        if (repair_point(m, point)) return true;
        sx_worker_reject(m->worker, 1);
    }
    return sx_compact_search_rescue(m->search, m->worker, m->work, &m->rng, point);
}

/* Evaluates the point that was repaired, or notes that there is none. */
static sx_outcome evaluate_point(maker *m, bool legal, const sx_compact_level *point) {
    static const sx_outcome none = {.value = INFINITY, .reason = SX_NOT_EVALUATED};
    return legal ? sx_compact_search_evaluate(m->search, m->worker, m->work, point, false) : none;
}

static sx_status make_first(const void *input, size_t task, sx_worker *worker, void *output) {
    const sx_gamma *g = input;
    const sx_core_engine *engine = g->compact->engine;
    const sx_core_space *core = &g->compact->core;
    size_t n_starts, point_size = g->space->space.point_size;
    const unsigned char *start = sx_run_starts(g->run, &n_starts);
    maker m = begin_maker(g, worker, g->first, g->s->island * g->n + task);
    sx_compact_level *point = (void *)((sx_outcome *)output + 1);
    bool natural = (double)task < sx_run_setting(g->run, SX_GAMMA_NATURAL) * (double)g->n, legal = natural;
    if (!m.work) return SX_OK;
    if (task < n_starts || (natural && n_starts > 0)) {
        const unsigned char *from = start + task % n_starts * point_size;
        sx_map_compact(g->space, core, from, &m.rng, point);
        if (task < n_starts) {
            *(sx_outcome *)output = sx_worker_evaluate(worker, from, false);
            return SX_OK;
        }
        engine->mutate(core, &m.rng, &g->chances, point);
        legal = repair_point(&m, point);
    } else if (natural) {
        engine->natural(core, &m.rng, point);
        if (task > 0) engine->redraw(core, &m.rng, point);
        legal = repair_point(&m, point);
    }
    if (!legal) legal = draw_legal(&m, point);
    *(sx_outcome *)output = evaluate_point(&m, legal, point);
    return SX_OK;
}

/* Makes a legal child of two parents; where repair fails again and again it is the first parent again. */
static bool make_child(maker *m, const sx_gamma_crossing *cross, size_t mother, size_t father,
                       sx_compact_level *child) {
    const sx_core_engine *engine = m->search->engine;
    const sx_core_space *core = &m->search->core;
    const void *own = sx_gamma_block(m->g, mother) + 1, *other = sx_gamma_block(m->g, father) + 1;
    for (int tries = 0; tries < SX_GAMMA_REPAIRS; tries++) {
        memcpy(child, own, m->search->size);
        if (cross->happens) engine->take(core, (int)cross->axis, cross->dim, other, child);
        engine->mutate(core, &m->rng, &m->g->chances, child);
        if (repair_point(m, child)) return true;
        sx_worker_reject(m->worker, 1);
    }
    memcpy(child, own, m->search->size);
    return engine->check(core, m->work, child);
}

_Static_assert((int)SX_GAMMA_TILE == SX_COMPACT_TILE && (int)SX_GAMMA_ORDER == SX_COMPACT_ORDER &&
                   (int)SX_GAMMA_PARALLEL == SX_COMPACT_PARALLEL && (int)SX_GAMMA_KEEP == SX_COMPACT_KEEP,
               "axes have the same numbers");

static sx_status make_pair(const void *input, size_t task, sx_worker *worker, void *output) {
    const sx_gamma *g = input;
    size_t pairs = (g->n + 1) / 2;
    maker m = begin_maker(g, worker, g->pairs, g->s->generation * pairs + task);
    if (!m.work) return SX_OK;
    size_t parent[2] = {sx_core_below(&m.rng, (uint32_t)g->s->parents),
                        sx_core_below(&m.rng, (uint32_t)g->s->parents)};
    double chance = sx_run_setting(g->run, g->s->generation > g->s->begun ? SX_GAMMA_CROSSOVER
                                                                          : SX_GAMMA_FIRST_CROSSOVER);
    uint64_t random = sx_core_next(&m.rng);
    sx_gamma_crossing cross = {.happens = (double)(random >> 32) < chance * 0x1p32,
                               .axis = g->axis[sx_core_share(random, 0, (uint32_t)g->n_axes)],
                               .dim = sx_compact_random_dim(&m.search->core, &m.rng)};
    double bred = (double)g->n * (1 - sx_run_setting(g->run, SX_GAMMA_INJECTED));
    for (size_t side = 0; side < 2 && 2 * task + side < g->n; side++) {
        sx_outcome *made = (sx_outcome *)(void *)((unsigned char *)output + side * g->each);
        sx_compact_level *child = (void *)(made + 1);
        bool legal = (double)(2 * task + side) < bred
                         ? make_child(&m, &cross, parent[side], parent[1 - side], child)
                         : draw_legal(&m, child);
        *made = evaluate_point(&m, legal, child);
    }
    return SX_OK;
}

static bool space_holds(const sx_gamma *g, const void *bred) {
    return sx_map_compact_holds(&g->compact->core, bred);
}

static void adopt_point(const sx_gamma *g, const void *point, void *bred) {
    sx_core_rng rng = sx_compact_search_rng(sx_run_seed(g->run), "gamma.news", g->s->generation);
    sx_map_compact(g->space, &g->compact->core, point, &rng, bred);
}

const sx_gamma_breed sx_gamma_compact = {individual_size, make_first, make_pair, space_holds, adopt_point};
