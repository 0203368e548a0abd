/* From mappings to nests of the core, and their scores. */
#include "model/core_score.h"

#include "base/status.h"
#include "core/engines.h"
#include "core/point.h"
#include "model/core_model.h"
#include "model/sparse/zeros.h"

#include <stdlib.h>
#include <string.h>

struct sx_core_scorer {
    const sx_model *of;
    sx_core_model model; /* its links are those of the mapping that was read */
    const sx_core_engine *engine;
    struct sx_core_work *work;
    sx_zero_pass *zeros;           /* of sparse models; NULL: their pass is another one's */
    uint8_t links[SX_CORE_LEVELS]; /* that the model allows */
    double cycles;                 /* of the mapping that was opened */
    bool known;                    /* there is a mapping */
    sx_mapping_level seen[SX_CORE_LEVELS];
    sx_core_nest nest;
    sx_core_cell cell[SX_CORE_DIMS][SX_CORE_LEVELS];
};

sx_status sx_core_scorer_new(const sx_model *model, struct sx_sparse_state *sparse, sx_core_scorer **out) {
    sx_core_scorer *c = calloc(1, sizeof *c);
    *out = NULL;
    if (!c) return sx_error_memory();
    c->of = model;
    if (sx_core_model_make(model, &c->model)) {
        free(c);
        return SX_OK;
    }
    c->engine = sparse ? &sx_core_engine_generic : sx_core_engine_of(&c->model);
    for (int s = 0; s < model->n_levels; s++) c->links[s] = c->model.level[s].links;
    c->work = calloc(1, c->engine->work_size);
    bool made = c->work != NULL;
    if (made && sparse && sx_zeros_cover(model)) {
        c->zeros = sx_zeros_new(model, sparse, &c->model, c->work);
        made = c->zeros != NULL;
    }
    if (!made) {
        sx_core_scorer_free(c);
        return sx_error_memory();
    }
    *out = c;
    return SX_OK;
}

void sx_core_scorer_free(sx_core_scorer *scorer) {
    if (!scorer) return;
    free(scorer->work);
    free(scorer->zeros);
    free(scorer);
}

/* Lists the loops of an order, of which the first n_x dimensions lie on X; false where it is no permutation. */
static inline bool list_loops(const uint32_t *factor, const uint8_t *order, int n_dims, int n_x,
                              sx_core_loops *out) {
    uint32_t dims = 0, seen = 0, n = 0, on_x = 0;
    for (int i = 0; i < n_dims; i++) {
        unsigned d = order[i] & (SX_CORE_DIMS - 1);
        bool loop = factor[d] != 1;
        seen |= 1u << (order[i] & 31);
        dims |= (loop ? d : 0) << 4 * n;
        n += loop;
        on_x += loop && i < n_x;
    }
    *out = (sx_core_loops){dims, (uint8_t)n, (uint8_t)on_x, {0}};
    return seen == (1u << n_dims) - 1;
}

/* Whether bytes differ; n, a multiple of 8, is a constant. */
static inline __attribute__((always_inline)) bool bytes_differ(const void *a, const void *b, size_t n) {
    uint64_t x, y, differ = 0;
    for (size_t i = 0; i < n; i += 8) {
        memcpy(&x, (const char *)a + i, 8);
        memcpy(&y, (const char *)b + i, 8);
        differ |= x ^ y;
    }
    return differ != 0;
}

/* What of a mapping differs from the one before. */
typedef struct changes {
    int first;   /* level whose factors do; n_levels: none */
    bool spread; /* spatial loops do */
} changes;

/* Reads a level where it differs; false where it is malformed, or the core does not cover it. */
static bool read_level(sx_core_scorer *c, int s, const sx_mapping_level *at, changes *to) {
    const int n_dims = (int)c->model.n_dims;
    const unsigned all = c->model.all;
    sx_mapping_level *seen = &c->seen[s];
    bool fresh = !c->known, good = true;
    bool temporal = fresh || bytes_differ(at->temporal, seen->temporal, sizeof(uint32_t[SX_CORE_DIMS]));
    bool spatial = fresh || bytes_differ(at->spatial, seen->spatial, sizeof(uint32_t[SX_CORE_DIMS]));
    bool order = fresh || bytes_differ(at->temporal_order, seen->temporal_order, SX_CORE_DIMS);
    bool placed = fresh || bytes_differ(at->spatial_order, seen->spatial_order, SX_CORE_DIMS);
    bool tail = fresh || bytes_differ(&at->split, &seen->split, 8) || at->no_coalesce != seen->no_coalesce;
    if (!(temporal | spatial | order | placed | tail)) return true;
    if ((temporal || spatial) && s < to->first) to->first = s;
    if (temporal || order) good = list_loops(at->temporal, at->temporal_order, n_dims, 0, &c->nest.loops[s]);
    if (spatial || placed || tail) {
        to->spread |= spatial || placed || at->split != seen->split;
        good &=
            at->split <= n_dims && !at->x_part &&
            !((at->no_temporal_reuse | at->no_multicast | at->rmw_first_update | at->no_coalesce) & all) &&
            list_loops(at->spatial, at->spatial_order, n_dims, at->split, &c->nest.slots[s]);
        c->model.level[s].links = (uint8_t)(c->links[s] & ~at->no_link_transfer);
        c->nest.keep[s] = (uint8_t)(at->keep & all);
    }
    *seen = *at;
    return good;
}

/* Sets the cells from a level outward; false where factors leave remainders. */
static bool set_cells(sx_core_scorer *c, int first) {
    const int n_levels = (int)c->model.n_levels;
    bool exact = true;
    for (uint32_t d = 0; d < c->model.n_dims; d++) {
        double extent = first > 0 ? c->cell[d][first - 1].extent : 1;
        for (int s = first; s < n_levels; s++) {
            double temporal = c->seen[s].temporal[d], spatial = c->seen[s].spatial[d];
            double spread = extent * spatial;
            extent = spread * temporal;
            c->cell[d][s] = (sx_core_cell){extent, spread, temporal, spatial};
        }
        exact = exact && extent == c->of->size[d];
    }
    return exact;
}

/* Reads a mapping and opens it; false where the core does not cover it, or the array does not have the instances. */
static bool open_mapping(sx_core_scorer *c, const sx_mapping *m) {
    const int n_levels = (int)c->model.n_levels;
    changes change = {.first = n_levels};
    if (m->n_levels != n_levels || m->n_dims != c->model.n_dims || m->n_tensors != c->model.n_tensors)
        return false;
    bool good = true;
    for (int s = 0; s < n_levels; s++) good &= read_level(c, s, &m->level[s], &change);
    if (good && change.first < n_levels) good = set_cells(c, change.first);
    c->known = good;
    if (good)
        c->cycles =
            c->engine->open(&c->model, c->work, &c->nest, (const sx_core_cell(*)[SX_CORE_LEVELS])c->cell,
                            change.first < n_levels || change.spread);
    return good && c->cycles > 0;
}

int sx_core_score_kept(const sx_core_opened *o, const uint32_t *kept, const sx_objective *objective,
                       double bound, sx_score *score) {
    double energy = o->model->compute_energy, cycles = o->cycles + o->model->latency, more;
    sx_core_score found;
    for (int v = 0; v < (int)o->model->n_tensors; v++) {
        if (sx_is_beyond(objective, bound, energy, cycles)) return SX_BOUND_EXCEEDED;
        if (!o->engine->charge(o->model, o->work, v, kept[v], &more)) return -1;
        energy += more;
    }
    if (sx_is_beyond(objective, bound, energy, cycles)) return SX_BOUND_EXCEEDED;
    o->engine->sum(o->model, o->work, &found);
    *score = (sx_score){found.energy, found.cycles, found.utilization, found.accesses, found.cycles};
    return objective && sx_objective_value(objective, score) > bound ? SX_BOUND_EXCEEDED : SX_LEGAL;
}

int sx_core_scorer_score(sx_core_scorer *c, const sx_mapping *mapping, const sx_objective *objective,
                         double bound, sx_score *score) {
    uint32_t kept[SX_CORE_TENSORS];
    if (!open_mapping(c, mapping) || !c->engine->keeps(&c->model, c->work)) return -1;
    for (int v = 0; v < (int)c->model.n_tensors; v++) kept[v] = sx_core_kept(&c->model, &c->nest, v);
    return sx_core_score_kept(&(sx_core_opened){c->engine, &c->model, c->work, c->cycles}, kept, objective,
                              bound, score);
}

bool sx_core_scorer_open(sx_core_scorer *c, const sx_mapping *mapping) {
    return open_mapping(c, mapping);
}

int sx_core_scorer_keep(sx_core_scorer *c, uint64_t levels, const sx_objective *objective, double bound,
                        sx_score *score) {
    uint32_t kept[SX_CORE_TENSORS];
    for (uint32_t v = 0; v < c->model.n_tensors; v++) kept[v] = (uint32_t)(levels >> 8 * v & 0xff);
    return sx_core_score_kept(&(sx_core_opened){c->engine, &c->model, c->work, c->cycles}, kept, objective,
                              bound, score);
}

bool sx_core_scorer_count(sx_core_scorer *c, const sx_mapping *mapping) {
    bool covered = open_mapping(c, mapping);
    for (int v = 0; v < (int)c->model.n_tensors && covered; v++)
        covered = c->engine->count(&c->model, c->work, v);
    return covered;
}

void sx_core_scorer_counts(const sx_core_scorer *c, int v, sx_counts *counts) {
    sx_core_accesses at[SX_CORE_LEVELS];
    uint32_t kept = sx_core_kept(&c->model, &c->nest, v);
    sx_core_count_levels(&c->model, &c->work->st, v, kept, at);
    for (uint32_t s = 0; s < c->model.n_levels; s++)
        counts[s] = kept >> s & 1
                        ? (sx_counts){.reads = at[s].reads, .fills = at[s].fills, .updates = at[s].updates}
                        : (sx_counts){0};
}

bool sx_core_scorer_sparse(sx_core_scorer *c, const sx_objective *objective, double bound, sx_score *score,
                           sx_verdict *verdict) {
    return c->zeros && sx_zeros_score(c->zeros, objective, bound, score, verdict);
}
