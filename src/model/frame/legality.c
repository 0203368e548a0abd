/* Tiles, and whether a mapping that was read is legal: the checks of nest.c, in their order. */
#include "model/capacity.h"
#include "model/frame/state.h"

static sx_verdict illegal(sx_reason reason, int level, int tensor, double have, double limit) {
    return (sx_verdict){reason, (int8_t)level, (int8_t)tensor, -1, have, limit};
}

static const sx_verdict legal = {SX_LEGAL, -1, -1, -1, 0, 0};

/* Sets the tile of a tensor at a level. */
static inline void set_tile(sx_cost_frame *f, int v, int s) {
    f->words[v][s] = sx_frame_words(&f->tensor[v], f->extent[s], &f->tile[v][s]);
}

static void set_tiles(sx_cost_frame *f) {
    int top = f->n_levels - 1, end = f->tiles_to < top ? f->tiles_to : top;
    for (int v = 0; v < f->n_tensors; v++) {
        for (int s = f->tiles_from; s < end; s++) set_tile(f, v, s);
        f->words[v][top] = f->tensor[v].words;
    }
    f->tiles_from = f->n_levels;
    f->tiles_to = 0;
}

/* The words of a level that a tile takes, of a dense tensor. */
static inline double taken(const sx_cost_frame *f, int s, int v) {
    return sx_level_words(&f->model->level[s], v, f->words[v][s]);
}

/* What the tiles of some tensors take at a level that holds only non-zeros of some. */
__attribute__((noinline)) static sx_occupancy packed_occupancy(const sx_cost_frame *f, int s, unsigned keep) {
    sx_occupancy use = {0, 0};
    for (; keep; keep &= keep - 1)
        sx_occupancy_add(&use, &f->model->level[s], __builtin_ctz(keep), f->words[__builtin_ctz(keep)][s]);
    return use;
}

/* What the tiles of some tensors take at a level. */
static inline sx_occupancy occupancy(const sx_cost_frame *f, int s, unsigned keep) {
    const sx_level *level = &f->model->level[s];
    sx_occupancy use = {0, 0};
    if (level->packs) return packed_occupancy(f, s, keep);
    for (int v = 0; v < f->n_tensors; v++)
        if (keep >> v & 1) sx_occupancy_add_words(&use, level, taken(f, s, v));
    return use;
}

bool sx_frame_fits(const sx_cost_frame *f, int s, unsigned keep) {
    const sx_level *level = &f->model->level[s];
    if (level->transparent && keep) return false;
    if (!level->limited) return true;
    sx_occupancy use = occupancy(f, s, keep);
    return sx_level_fits(level, &use) && use.words >= level->minimum;
}

/* Whether every tensor is kept somewhere, and none where nothing can be. */
static sx_verdict check_keep(const sx_cost_frame *f) {
    unsigned kept = 0;
    for (int s = 0; s < f->n_levels; s++) {
        unsigned keep = f->seen[s].keep & f->all;
        kept |= keep;
        if (f->model->level[s].transparent && keep)
            return illegal(SX_KEEP_FORBIDDEN, s, __builtin_ctz(keep), 0, 0);
    }
    return kept == f->all ? legal : illegal(SX_NOT_KEPT, -1, __builtin_ctz(~kept & f->all), 0, 0);
}

/* Whether the compute array has the units in use. */
static sx_verdict check_array(const sx_cost_frame *f) {
    const sx_model *m = f->model;
    double x = f->expand_x[0] * f->slot_x[0], y = f->expand_y[0] * f->slot_y[0];
    if (x * y > (double)m->compute_instances)
        return illegal(SX_INSTANCES, f->n_levels, -1, x * y, (double)m->compute_instances);
    if (x > (double)m->compute_x) return illegal(SX_MESH_X, f->n_levels, -1, x, (double)m->compute_x);
    if (y > (double)m->compute_y) return illegal(SX_MESH_Y, f->n_levels, -1, y, (double)m->compute_y);
    return legal;
}

/* The tensor whose tile takes most words of a level. */
static int largest(const sx_cost_frame *f, int s) {
    int best = -1;
    for (int v = 0; v < f->n_tensors; v++)
        if (f->seen[s].keep >> v & 1 && (best < 0 || taken(f, s, v) > taken(f, s, best))) best = v;
    return best;
}

/* Whether the tiles kept at a level fit. */
static sx_verdict check_capacity(const sx_cost_frame *f, int s) {
    const sx_level *level = &f->model->level[s];
    sx_occupancy use = occupancy(f, s, f->seen[s].keep);
    if (!sx_level_fits(level, &use)) {
        double words = use.banks > level->banks ? fmax(use.words, use.banks * level->bank_words) : use.words;
        return illegal(SX_CAPACITY, s, largest(f, s), words, level->effective);
    }
    if (use.words < level->minimum) return illegal(SX_UNDERUSED, s, -1, use.words, level->minimum);
    return legal;
}

/* Whether a level has the instances in use. */
static sx_verdict check_instances(const sx_cost_frame *f, int s) {
    const sx_level *level = &f->model->level[s];
    if (f->above[s] > (double)level->instances)
        return illegal(SX_INSTANCES, s, -1, f->above[s], (double)level->instances);
    if (f->expand_x[s] > (double)level->mesh_x)
        return illegal(SX_MESH_X, s, -1, f->expand_x[s], (double)level->mesh_x);
    if (f->expand_y[s] > (double)level->mesh_y)
        return illegal(SX_MESH_Y, s, -1, f->expand_y[s], (double)level->mesh_y);
    return legal;
}

bool sx_frame_spreads(sx_cost_frame *f) {
    if (f->tiles_from < f->tiles_to) set_tiles(f);
    if (f->spread_checked) return f->spreads;
    const sx_model *m = f->model;
    double x = f->expand_x[0] * f->slot_x[0], y = f->expand_y[0] * f->slot_y[0];
    bool good =
        x * y <= (double)m->compute_instances && x <= (double)m->compute_x && y <= (double)m->compute_y;
    for (int s = 0; s < f->n_levels; s++) {
        const sx_level *level = &m->level[s];
        good &= f->above[s] <= (double)level->instances && f->expand_x[s] <= (double)level->mesh_x &&
                f->expand_y[s] <= (double)level->mesh_y;
    }
    f->spread_checked = true;
    return f->spreads = good;
}

/* All checks. */
static sx_verdict check(const sx_cost_frame *f) {
    sx_verdict verdict = check_keep(f);
    if (verdict.reason == SX_LEGAL) verdict = check_array(f);
    for (int s = 0; s < f->n_levels && verdict.reason == SX_LEGAL; s++) {
        if (f->model->level[s].limited) verdict = check_capacity(f, s);
        if (verdict.reason == SX_LEGAL) verdict = check_instances(f, s);
    }
    return verdict;
}

/* Whether all checks are passed. */
static bool passes(sx_cost_frame *f) {
    bool kept = true;
    for (; f->unchecked; f->unchecked &= f->unchecked - 1) {
        int s = __builtin_ctz(f->unchecked);
        bool fits = sx_frame_fits(f, s, f->seen[s].keep & f->all);
        f->unfit = (f->unfit & ~(1u << s)) | (uint32_t)!fits << s;
    }
    for (int v = 0; v < f->n_tensors; v++) kept &= f->kept[v] != 0;
    return kept && f->unfit == 0 && sx_frame_spreads(f);
}

const sx_verdict *sx_frame_check(sx_cost_frame *f) {
    if (f->tiles_from < f->tiles_to) set_tiles(f);
    if (!f->checked) f->verdict = passes(f) ? legal : check(f);
    f->checked = true;
    return &f->verdict;
}
