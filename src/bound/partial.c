/* Bounds of partial mappings: what is decided, what waits for the loops outside, and what these add at the least
 * (outline.c). Of tensors with windows the energy of what waits is known by the dimension of the next loop (first.c). */
#include "bound/first.h"
#include "bound/outline.h"

#include "base/extreme.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double ROUNDING = 1e-14; /* of sums whose terms are added in another order */

/* Adds what a flow that begins at a tile costs by the dimension of the next loop. */
static void add_first(const sx_outline_bound *bounds, int v, int c, uint32_t point, double *first) {
    for (unsigned dims = bounds->bound->model->shape[v].dims; dims; dims &= dims - 1) {
        int d = __builtin_ctz(dims);
        first[d] += sx_outline_bound_first(bounds, v, c, point, d);
    }
}

/* Sets the irrelevant temporal loops of tensors from a level outward, multiplied. */
static void set_outside(const sx_outline_bound *bounds, int level, sx_partial_mapping *partial) {
    for (int v = 0; v < bounds->bound->model->n_tensors; v++) {
        partial->outside[v] = 1;
        for (unsigned dims = bounds->bound->irrelevant[v]; dims; dims &= dims - 1) {
            int d = __builtin_ctz(dims);
            partial->outside[v] *= (double)(bounds->open[level][d] / partial->extent[d]);
        }
    }
}

void sx_partial_mapping_begin(const sx_outline_bound *bounds, sx_partial_mapping *partial) {
    const sx_bound *b = bounds->bound;
    partial->point = 0;
    memset(partial->grows, 0, sizeof partial->grows);
    for (int d = 0; d < SX_MAX_DIMS; d++) partial->extent[d] = 1;
    set_outside(bounds, 0, partial);
    for (unsigned left = bounds->windowed; left; left &= left - 1)
        for (int d = 0, v = __builtin_ctz(left); d < SX_MAX_DIMS; d++)
            partial->first[v][d] = bounds->linked[v] ? sx_outline_bound_cost(bounds, 0, v, 0, 0) : 0;
    for (int i = 0; i < bounds->n_measures; i++) {
        partial->closed[i] = bounds->measure[i].constant;
        for (int v = 0; v < b->model->n_tensors; v++) {
            double cost = sx_outline_bound_cost(bounds, i, v, 0, 0);
            partial->pending[i][v] = partial->moving[i][v] = bounds->linked[v] ? cost : 0;
            if (!bounds->linked[v]) partial->closed[i] += cost;
        }
    }
}

/* The temporal loops of a level, and over what they are spread. */
typedef struct bed {
    uint32_t loop[SX_MAX_DIMS]; /* iterations */
    unsigned loops;             /* those of more than one, as a mask */
} bed;

static void lay_base(const sx_outline_bound *bounds, const sx_partial_mapping *partial, int level,
                     const uint32_t *extent, bed *at) {
    at->loops = 0;
    for (int d = 0; d < bounds->bound->model->n_dims; d++) {
        assert(extent[d] % (partial->extent[d] * bounds->outline.spatial[level][d]) == 0);
        at->loop[d] = extent[d] / (partial->extent[d] * bounds->outline.spatial[level][d]);
        at->loops |= (unsigned)(at->loop[d] > 1) << d;
    }
}

/* The least of a measure's flows into a level and beyond, at a point, where the next loop is of a class. */
static double outside_flow(const sx_outline_bound *bounds, int m, int level, uint32_t point, int o) {
    if (level + 1 == bounds->bound->model->n_levels) return 0;
    if (!bounds->tables || m >= bounds->n_tabled) return bounds->measure[m].tail[level + 1];
    return bounds->table[m][level][o][bounds->inside[point - bounds->below[level]]];
}

/* What tensors wait for, in a measure: where the next loop, of a class, moves them; less the irrelevant loops of the level
 * at hand; less those beyond too, if it has no others. */
typedef struct wait {
    double ends[SX_MAX_DIMS][SX_MAX_TENSORS], goes[SX_MAX_TENSORS], flies[SX_MAX_TENSORS];
    bool any;           /* something waits */
    unsigned now, next; /* classes that the next loop may be of, and the next one of a level outside */
} wait;

/* The classes that a loop on one of some dimensions may be of; all without any dimension. */
static unsigned classes_of(const sx_bound *b, unsigned dims) {
    unsigned classes = 0;
    for (int o = 0; o < b->n_classes; o++)
        classes |= (unsigned)(dims == 0 || (b->class_dims[o] & dims) != 0) << o;
    return classes;
}

/* The dimensions that have iterations left outside a level's tile. */
static unsigned dims_outside(const sx_outline_bound *bounds, int level, const uint32_t *extent) {
    unsigned dims = 0;
    for (int d = 0; d < bounds->bound->model->n_dims; d++)
        dims |= (unsigned)(bounds->open[level + 1][d] > extent[d]) << d;
    return dims;
}

/* Sets what tensors wait for where the next loop, on one of some dimensions, moves them: by class in the energy. `own`:
 * what of it tables count (NULL: nothing). */
static void set_ends(const sx_outline_bound *bounds, const sx_partial_mapping *partial, int m, unsigned dims,
                     const double (*own)[SX_MAX_DIMS], const double *own_any, wait *w) {
    const sx_bound *b = bounds->bound;
    for (int o = 0; o < b->n_classes; o++)
        for (int v = 0; v < b->model->n_tensors; v++) {
            unsigned some = dims & b->class_dims[o] & b->model->shape[v].dims;
            double least = INFINITY;
            if (m > 0 || !(bounds->windowed >> v & 1)) some = 0;
            for (; some; some &= some - 1) {
                int d = __builtin_ctz(some);
                least = sx_lesser(least, partial->first[v][d] - (own ? own[v][d] : 0));
            }
            if (least == INFINITY) least = partial->moving[m][v] - (own ? own_any[v] : 0);
            w->ends[o][v] = own ? sx_larger(least, 0) : least;
        }
}

/* What waits at a level whose innermost loop is of class o, and the next level's of class `next`: only
 * tensors in both classes gain from both. */
static double waiting_words(const sx_bound *b, const wait *w, int o, int next) {
    double sum = 0;
    for (int v = 0; v < b->model->n_tensors && w->any; v++) {
        bool gains = b->profit[o] >> v & 1, more = b->profit[next] >> v & 1;
        sum += !gains ? w->ends[o][v] : more ? w->flies[v] : w->goes[v];
    }
    return sum;
}

/* The least of what waits and of what is outside. A level without loops has the class of the next one. */
static double least_sum(const sx_outline_bound *bounds, int m, int level, uint32_t point, const wait *w,
                        bool empty) {
    const sx_bound *b = bounds->bound;
    double least = INFINITY;
    for (int next = 0; next < b->n_classes; next++) {
        double near = INFINITY;
        if (!(w->next >> next & 1)) continue;
        for (int o = empty ? next : 0; o < (empty ? next + 1 : b->n_classes); o++)
            if (empty || w->now >> o & 1) near = sx_lesser(near, waiting_words(b, w, o, next));
        least = sx_lesser(least, near + outside_flow(bounds, m, level, point, next));
    }
    return least;
}

/* By how much zeros leave more of what a tensor that grows at a level waits for, where irrelevant loops are added to its box. */
static double zeros_growth(const sx_outline_bound *bounds, const sx_partial_mapping *partial, int v,
                           uint32_t loops) {
    const double *left = bounds->bound->effectual[v][partial->grows[v]];
    if (left[partial->box[v]] <= 0) return 1;
    return left[partial->box[v] + loops] / left[partial->box[v]];
}

/* The same by all irrelevant loops from a level outward; `known`: those of the level, where they are known. A box
 * has loops up to the level that the flow comes from. */
static double growth_outside(const sx_outline_bound *bounds, const sx_partial_mapping *partial, int level,
                             int v, uint32_t known) {
    if (partial->grows[v] == 0) return 1;
    const uint32_t *idle = bounds->bound->idle[v];
    int source = bounds->source[v][partial->grows[v]];
    if (source + 1 == bounds->bound->model->n_levels)
        known = idle[bounds->open_point[level]] - idle[partial->point];
    return zeros_growth(bounds, partial, v, source >= level ? known : 0);
}

/* By how much the irrelevant loops of a level, and those beyond, can make smaller what a tensor waits for. */
static void shrink_by(const sx_outline_bound *bounds, const sx_partial_mapping *partial, const bed *at, int v,
                      double *here, double *most) {
    *here = 1;
    for (unsigned dims = bounds->bound->irrelevant[v]; dims; dims &= dims - 1)
        *here *= at->loop[__builtin_ctz(dims)];
    bool stays = !(at->loops & ~(unsigned)bounds->bound->irrelevant[v]);
    *most = stays ? partial->outside[v] : *here;
}

/* The same for what zeros leave: by the irrelevant loops of a level, whose tile is that of a point, and by all. */
static void grow_by(const sx_outline_bound *bounds, const sx_partial_mapping *partial, int level,
                    uint32_t point, int v, double *here, double *most) {
    const uint32_t *idle = bounds->bound->idle[v];
    *here = *most = 1;
    if (partial->grows[v] == 0) return;
    uint32_t own = idle[point] - idle[partial->point] - idle[bounds->spatial_point[level]];
    *here = zeros_growth(bounds, partial, v, bounds->source[v][partial->grows[v]] >= level ? own : 0);
    *most = growth_outside(bounds, partial, level, v, own);
}

/* What a quick bound found for a tile of the innermost level. */
static double quick_bound(const sx_outline_bound *bounds, uint32_t point) {
    if (bounds->inside_swept == -INFINITY) return -INFINITY;
    return bounds->inside_swept + bounds->swept[bounds->inside[point - bounds->below[0]]];
}

/* The least that a tensor may wait for in a measure, whatever the tile and the order of the level at hand: all loops
 * that follow leave its tile in place, or the next one moves it. */
static double least_wait(const sx_outline_bound *bounds, const sx_partial_mapping *partial, int m, int v) {
    double least = partial->pending[m][v] / partial->outside[v];
    least = sx_lesser(least, partial->moving[m][v]);
    for (unsigned dims = bounds->bound->model->shape[v].dims; dims && m == 0 && bounds->windowed >> v & 1;
         dims &= dims - 1)
        least = sx_lesser(least, partial->first[v][__builtin_ctz(dims)]);
    return least;
}

void sx_tile_glance_begin(const sx_outline_bound *bounds, const sx_partial_mapping *partial, int level,
                          sx_tile_glance *glance) {
    const sx_model *model = bounds->bound->model;
    const bool tables = bounds->tables && level + 1 < model->n_levels;
    glance->level = level;
    glance->cycles = 0;
    for (int m = 0; m < bounds->n_measures; m++) {
        const bool tabled = tables && m < bounds->n_tabled;
        double sum = partial->closed[m];
        for (int v = 0; v < model->n_tensors; v++) sum += least_wait(bounds, partial, m, v);
        if (!tabled) sum += bounds->measure[m].tail[level + 1];
        if (tabled || m == 0)
            glance->sure[m] = sum;
        else
            glance->cycles = sx_larger(glance->cycles, sum);
    }
}

sx_score sx_tile_glance_at(const sx_outline_bound *bounds, const sx_tile_glance *glance, uint32_t point) {
    const int level = glance->level;
    double energy = glance->sure[0], cycles = glance->cycles;
    if (bounds->tables && level + 1 < bounds->bound->model->n_levels) {
        const uint32_t at = bounds->inside[point - bounds->below[level]];
        energy += bounds->least_table[0][level][at];
        for (int m = 1; m < bounds->n_tabled; m++)
            cycles = sx_larger(cycles, glance->sure[m] + bounds->least_table[m][level][at]);
    }
    if (level == 0) energy = sx_larger(energy, quick_bound(bounds, point));
    return sx_outline_bound_score(bounds, energy - ROUNDING * fabs(energy), cycles - ROUNDING * cycles);
}

sx_score sx_partial_mapping_try(const sx_outline_bound *bounds, const sx_partial_mapping *partial, int level,
                                const uint32_t *extent, uint32_t point) {
    const sx_bound *b = bounds->bound;
    double here[SX_MAX_TENSORS], most[SX_MAX_TENSORS], energy = 0, cycles = 0;
    double more_here[SX_MAX_TENSORS], more_most[SX_MAX_TENSORS];
    bed now;
    if (sx_outline_bound_excludes(bounds, level, point))
        return (sx_score){INFINITY, INFINITY, 0, INFINITY, INFINITY};
    lay_base(bounds, partial, level, extent, &now);
    for (int v = 0; v < b->model->n_tensors; v++) {
        shrink_by(bounds, partial, &now, v, &here[v], &most[v]);
        grow_by(bounds, partial, level, point, v, &more_here[v], &more_most[v]);
        if (now.loops & ~(unsigned)b->irrelevant[v]) more_most[v] = more_here[v];
    }
    unsigned beyond = dims_outside(bounds, level, extent), first = now.loops ? now.loops : beyond;
    wait w = {.now = classes_of(b, now.loops), .next = classes_of(b, beyond)};
    for (int m = 0; m < bounds->n_measures; m++) {
        const bool grows = m == 0 || !b->model->range;
        w.any = m == 0 && bounds->windowed;
        for (int v = 0; v < b->model->n_tensors; v++)
            w.any |= partial->pending[m][v] != 0 || partial->moving[m][v] != 0;
        if (w.any) set_ends(bounds, partial, m, first, NULL, NULL, &w);
        for (int v = 0; v < b->model->n_tensors && w.any; v++) {
            double stays = partial->pending[m][v];
            w.goes[v] = stays / here[v] * (grows ? more_here[v] : 1);
            w.flies[v] = stays / most[v] * (grows ? more_most[v] : 1);
        }
        double sum = partial->closed[m] + least_sum(bounds, m, level, point, &w, now.loops == 0);
        if (m == 0)
            energy = sum;
        else
            cycles = sx_larger(cycles, sum);
    }
    if (level == 0) energy = sx_larger(energy, quick_bound(bounds, point));
    return sx_outline_bound_score(bounds, energy, cycles);
}

/* Extends the box of what is pending by loops during which the tile stays; returns by how much zeros leave more
 * of it. A flow that begins at the tile has the box to itself only where nothing else is pending. */
static double extend_box(const sx_outline_bound *bounds, const sx_partial_mapping *partial, int level,
                         uint32_t point, int v, const uint32_t *stays, bool ended, sx_partial_mapping *out) {
    const sx_bound *b = bounds->bound;
    double more = 1;
    out->grows[v] = partial->grows[v];
    out->box[v] = partial->box[v];
    if (!b->idle[v]) return 1;
    if (partial->grows[v] && bounds->source[v][partial->grows[v]] >= level) {
        uint32_t loops = sx_lattice_point(&b->lattice, stays);
        more = zeros_growth(bounds, partial, v, loops);
        out->box[v] += loops;
    }
    bool begins = false, waits = false;
    for (int i = 0; i < bounds->n_measures; i++) {
        begins |= level + 1 < b->model->n_levels && bounds->cost[i][v][level + 1] != NULL;
        waits |= !ended && partial->pending[i][v] > 0;
    }
    if (!waits) out->grows[v] = 0;
    if (!begins) return more;
    out->grows[v] = !waits && b->effectual[v][level + 1] ? (uint8_t)(level + 1) : 0;
    out->box[v] = point + bounds->shared[v][level + 1];
    return more;
}

void sx_partial_mapping_extend(const sx_outline_bound *bounds, const sx_partial_mapping *partial, int level,
                               const uint32_t *extent, uint32_t point, const uint8_t *order,
                               sx_partial_mapping *out) {
    const sx_bound *b = bounds->bound;
    bed now;
    lay_base(bounds, partial, level, extent, &now);
    out->point = point;
    memcpy(out->extent, extent, sizeof out->extent);
    set_outside(bounds, level + 1, out);
    for (int i = 0; i < bounds->n_measures; i++) out->closed[i] = partial->closed[i];
    for (int v = 0; v < b->model->n_tensors; v++) {
        double run = 1;
        int end = -1;
        uint32_t stays[SX_MAX_DIMS];
        for (int d = 0; d < SX_MAX_DIMS; d++) stays[d] = 1;
        for (int k = 0; k < b->model->n_dims && end < 0; k++) {
            int d = order[k];
            if (!(now.loops >> d & 1)) continue;
            if (b->irrelevant[v] >> d & 1)
                run *= stays[d] = now.loop[d];
            else
                end = d;
        }
        bool ended = end >= 0, stayed = run > 1, top = level + 1 == b->model->n_levels;
        double more = extend_box(bounds, partial, level, point, v, stays, ended, out);
        for (int i = 0; i < bounds->n_measures; i++) {
            double flow = partial->pending[i][v] / run * (i == 0 || !b->model->range ? more : 1);
            double moving = stayed ? flow : partial->moving[i][v];
            if (ended && !stayed && i == 0 && bounds->windowed >> v & 1) moving = partial->first[v][end];
            if (ended) out->closed[i] += moving;
            out->pending[i][v] = ended ? 0 : flow;
            out->moving[i][v] = ended ? 0 : moving;
            out->pending[i][v] += top ? 0 : sx_outline_bound_stay(bounds, i, v, level + 1, point);
            out->moving[i][v] += top ? 0 : sx_outline_bound_cost(bounds, i, v, level + 1, point);
        }
        if (!(bounds->windowed >> v & 1)) continue;
        for (int d = 0; d < SX_MAX_DIMS; d++)
            out->first[v][d] = ended ? 0 : stayed ? partial->pending[0][v] / run : partial->first[v][d];
        if (!top) add_first(bounds, v, level + 1, point, out->first[v]);
    }
}

sx_score sx_partial_mapping_bound(const sx_outline_bound *bounds, const sx_partial_mapping *partial,
                                  int level) {
    const sx_bound *b = bounds->bound;
    double more[SX_MAX_TENSORS], energy = 0, cycles = 0;
    bool top = level + 1 == b->model->n_levels;
    for (int v = 0; v < b->model->n_tensors; v++) more[v] = growth_outside(bounds, partial, level + 1, v, 0);
    unsigned beyond = dims_outside(bounds, level, partial->extent);
    wait w = {.any = true, .next = classes_of(b, beyond)};
    double own_first[SX_MAX_TENSORS][SX_MAX_DIMS] = {0}, own[SX_MAX_TENSORS];
    for (unsigned left = top ? 0 : bounds->windowed; left; left &= left - 1)
        add_first(bounds, __builtin_ctz(left), level + 1, partial->point, own_first[__builtin_ctz(left)]);
    for (int m = 0; m < bounds->n_measures; m++) {
        for (int v = 0; v < b->model->n_tensors; v++)
            own[v] = top ? 0 : sx_outline_bound_cost(bounds, m, v, level + 1, partial->point);
        set_ends(bounds, partial, m, beyond, own_first, own, &w);
        for (int v = 0; v < b->model->n_tensors; v++) {
            double stay = top ? 0 : sx_outline_bound_stay(bounds, m, v, level + 1, partial->point);
            w.goes[v] = w.flies[v] = sx_larger(partial->pending[m][v] - stay, 0) / partial->outside[v] *
                                     (m == 0 || !b->model->range ? more[v] : 1);
        }
        double sum = partial->closed[m] + least_sum(bounds, m, level, partial->point, &w, true);
        if (m == 0)
            energy = sum;
        else
            cycles = sx_larger(cycles, sum);
    }
    if (level == 0) energy = sx_larger(energy, quick_bound(bounds, partial->point));
    return sx_outline_bound_score(bounds, energy, cycles);
}
