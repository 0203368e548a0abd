/* Bounds of what is left open of a mapping.
 *
 * Energy and the use of bandwidths are sums over flows: into each level c that keeps a tensor V (and into the
 * compute units), out of the next outer level u that keeps it. Over all instances, a flow of F words into c
 * makes F fills at c and F / X reads (for the output: updates, and as many reads) at u, with X the spatial
 * loops from c to u that do not index V: these children share an access. First reads and fills of the output
 * are spared, which takes off a constant: |V| times the spatial loops outside that do not index it. So the
 * price of F in the energy is known with the outline, and so is the constant. Left out, as they only add:
 * rounding up to whole blocks, networks, minimum uses. Sliding windows have rules of their own:
 *   - window.c says what children share and when neighbours hand words on;
 *   - with bypass between c and u its accesses are scaled and rounded: half a word per instance is taken off;
 *   - reads and fills of an output that is not indexed by plain dimensions count nothing, its updates do;
 *   - compute units that stand side by side and use the same operand may hand it on while it stays the same:
 * such tensors count as if the compute units kept a word of them.
 *
 * How large a flow is depends on extents and orders (bound.c): without idle loops next to the level it is
 * what window.c says, and it shrinks by the idle temporal loops between the level and the first loop
 * that indexes V. A stem knows the flows into its levels except for those whose next loop on V is further
 * out; those are pending, and may shrink by all idle temporal loops to come, but only for tensors that the
 * innermost of these does not index (a class). Whatever is outside the stem, its flows are at least those of
 * the tables (table.c), or the least of all.
 *
 * Cycles are at least those of the compute units, and those that the words through each level's ports take.
 */
#include "bound/parts.h"

#include "base/status.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How many bandwidths may become measures. */
static size_t count_ports(const sx_model *model) {
    size_t n = 0;
    for (int s = 0; s < model->n_levels; s++)
        if (model->level[s].bounded) n += model->level[s].banks > 0 ? 3u * model->n_tensors : 3;
    return n;
}

sx_status sx_rest_new(const sx_bound *bound, sx_rest **out) {
    sx_rest *rest = calloc(1, sizeof *rest);
    if (!rest) return sx_error_memory();
    const sx_model *model = bound->model;
    size_t measures = 1 + count_ports(model), tabled = measures < SX_MAX_TABLED ? measures : SX_MAX_TABLED;
    int n_levels = model->n_levels, n_tables = (n_levels - 1) * bound->n_classes * (int)tabled;
    size_t n = bound->lattice.n_points, forms = 0;
    for (int v = 0; v < model->n_tensors; v++) forms += bound->form[v].n_points;
    double *data = rest->scratch = malloc(((size_t)n_tables + 1 + SX_MAX_CHORDS) * n * sizeof *data);
    rest->bound = bound;
    rest->whole = malloc(n * sizeof *rest->whole);
    rest->inside = calloc(n, sizeof *rest->inside);
    rest->fitting = malloc(n * sizeof *rest->fitting);
    rest->swept = malloc(n * sizeof *rest->swept);
    rest->loops = malloc(n * sizeof *rest->loops);
    rest->pulls = malloc(forms * (size_t)(n_levels * n_levels) * sizeof *rest->pulls);
    rest->places = malloc(forms * sx_place_size());
    rest->costs = malloc(2 * measures * forms * (size_t)n_levels * sizeof *rest->costs);
    if (!data || !rest->whole || !rest->inside || !rest->fitting || !rest->swept || !rest->loops ||
        !rest->places || !rest->pulls || !rest->costs) {
        sx_rest_free(rest);
        return sx_error_memory();
    }
    rest->chord = data + n;
    data += SX_MAX_CHORDS * n;
    for (size_t m = 0; m < tabled; m++)
        for (int s = 0; s < n_levels - 1; s++)
            for (int o = 0; o < bound->n_classes; o++) rest->table[m][s][o] = data += n;
    *out = rest;
    return SX_OK;
}

void sx_rest_free(sx_rest *rest) {
    if (!rest) return;
    free(rest->scratch);
    free(rest->whole);
    free(rest->inside);
    for (size_t i = 0; i < sizeof rest->fit / sizeof *rest->fit; i++) free(rest->fit[i]);
    free(rest->fitting);
    free(rest->swept);
    free(rest->loops);
    free(rest->places);
    free(rest->pulls);
    free(rest->costs);
    free(rest);
}

/* Instances and what the spatial loops leave. */
static void set_array(sx_rest *rest) {
    const sx_bound *b = rest->bound;
    const sx_model *model = b->model;
    double used = 1;
    int top = model->n_levels;
    memcpy(rest->open[top], model->size, sizeof rest->open[top]);
    for (int v = 0; v < model->n_tensors; v++) rest->apart[v][top] = 1;
    rest->leak = 0;
    for (int s = top - 1; s >= 0; s--) {
        rest->above[s] = used;
        used *= sx_rest_spread(rest, s, (1u << model->n_dims) - 1);
        for (int d = 0; d < model->n_dims; d++)
            rest->open[s][d] = rest->open[s + 1][d] / rest->outline.spatial[s][d];
        for (int v = 0; v < model->n_tensors; v++)
            rest->apart[v][s] = rest->apart[v][s + 1] * sx_rest_spread(rest, s, b->idle[v]);
    }
    for (int s = 0; s < top; s++) {
        const sx_level *level = &model->level[s];
        double leaking =
            level->leak_share > 0 ? level->leak_share * rest->above[level->gate] : rest->above[s];
        rest->leak += level->leak_energy * leaking;
    }
    rest->steps = (double)model->computes / used;
    bool beside = used > rest->above[0] && !model->options.no_link_transfers;
    for (int v = 0; v < model->n_tensors; v++) {
        rest->linked[v] = beside && sx_rest_spread(rest, 0, b->idle[v] | b->crowd[v]) > 1;
        if (!rest->linked[v] || !b->crowd[v]) continue;
        sx_pull pull = sx_rest_operand(rest, v);
        rest->linked[v] = pull.own < 1 || pull.groups < 1;
    }
}

void sx_rest_outline(sx_rest *rest, const sx_outline *outline) {
    bool same =
        rest->arrayed && memcmp(rest->outline.spatial, outline->spatial, sizeof outline->spatial) == 0;
    rest->outline = *outline;
    if (same) return;
    rest->arrayed = true;
    rest->numbered = false;
    memset(rest->fit_known, 0, sizeof rest->fit_known);
    memset(rest->pull, 0, sizeof rest->pull);
    set_array(rest);
}

/* The levels at which a mask per level has a tensor, as a mask. */
static unsigned levels_of(const sx_model *model, const uint8_t *masks, int v) {
    unsigned levels = 0;
    for (int s = 0; s < model->n_levels; s++) levels |= (unsigned)(masks[s] >> v & 1) << s;
    return levels;
}

/* Sets what a flow costs in a measure for every form, and what comes on top. */
static void set_costs(sx_rest *rest, int m, const sx_route *r, double *cost, double *extra) {
    const sx_pull *pull = sx_rest_pull(rest, r->v, r->from, r->to);
    double least = INFINITY, on_top = INFINITY, most = 0;
    for (uint32_t i = 0; i < rest->bound->form[r->v].n_points; i++) {
        cost[i] = sx_route_cost(r, &pull[i], &extra[i]);
        extra[i] = r->from >= 0 ? extra[i] * rest->apart[r->v][r->from + 1] : 0;
        least = fmin(least, cost[i]);
        most = fmax(most, extra[i]);
        if (cost[i] < INFINITY) on_top = fmin(on_top, extra[i]);
    }
    rest->least[m][r->v][r->from + 1] = least < INFINITY ? least : 0;
    rest->on_top[m][r->v][r->from + 1] = on_top < INFINITY ? on_top : 0;
    rest->extra[m][r->v][r->from + 1] = most > 0 ? extra : NULL;
}

/* Adds a tensor that these levels keep to a measure, at prices per level. */
static void add_tensor(sx_rest *rest, int m, int v, unsigned levels, const sx_price *prices) {
    const sx_bound *b = rest->bound;
    uint32_t n = b->form[v].n_points;
    for (int from = -1; levels; levels &= levels - 1) {
        sx_route r = sx_route_make(rest, v, from, __builtin_ctz(levels), prices);
        rest->measure[m].constant -= sx_route_spared(rest, &r, prices);
        if (r.read > 0 || r.fill > 0 || r.peer > 0) {
            double *cost = rest->cost[m][v][from + 1] = rest->costs + rest->n_costs;
            set_costs(rest, m, &r, cost, cost + n);
            rest->n_costs += 2 * n;
        }
        from = r.to;
    }
}

static int add_measure(sx_rest *rest) {
    int m = rest->n_measures++;
    rest->measure[m] = (sx_measure){0};
    memset(rest->cost[m], 0, sizeof rest->cost[m]);
    memset(rest->extra[m], 0, sizeof rest->extra[m]);
    memset(rest->least[m], 0, sizeof rest->least[m]);
    memset(rest->on_top[m], 0, sizeof rest->on_top[m]);
    return m;
}

/* The energy as a measure. */
static void measure_energy(sx_rest *rest) {
    const sx_model *model = rest->bound->model;
    int m = add_measure(rest);
    rest->measure[m].constant = (double)model->computes * model->compute_energy;
    for (int v = 0; v < model->n_tensors; v++) {
        sx_price prices[SX_MAX_LEVELS];
        sx_price_energy(rest, v, prices);
        add_tensor(rest, m, v, levels_of(model, rest->outline.keep, v), prices);
    }
}

/* The use of one bandwidth of a level by some tensors, in cycles. */
static void measure_port(sx_rest *rest, int s, unsigned tensors, double reads, double writes) {
    const sx_level *level = &rest->bound->model->level[s];
    if ((reads == 0 && writes == 0) || rest->n_measures == SX_MAX_MEASURES) return;
    int m = add_measure(rest);
    for (; tensors; tensors &= tensors - 1) {
        int v = __builtin_ctz(tensors);
        double scale = level->scale[v] / rest->above[s];
        sx_price prices[SX_MAX_LEVELS] = {0};
        prices[s] = (sx_price){reads * scale, writes * scale, writes * scale};
        add_tensor(rest, m, v, levels_of(rest->bound->model, rest->outline.keep, v), prices);
    }
}

/* All bandwidths as measures. */
static void measure_ports(sx_rest *rest) {
    const sx_model *model = rest->bound->model;
    unsigned all = (1u << model->n_tensors) - 1;
    for (int s = 0; s < model->n_levels; s++) {
        const sx_level *level = &model->level[s];
        for (unsigned left = all; left && level->bounded; left &= left - 1) {
            unsigned some = level->banks > 0 ? left & -left : all;
            measure_port(rest, s, some, 1 / level->read_bandwidth, 0);
            measure_port(rest, s, some, 0, 1 / level->write_bandwidth);
            measure_port(rest, s, some, 1 / level->shared_bandwidth, 1 / level->shared_bandwidth);
            if (level->banks == 0) break;
        }
    }
}

void sx_rest_begin(sx_rest *rest, const sx_outline *outline) {
    const sx_bound *b = rest->bound;
    const sx_model *model = b->model;
    sx_rest_outline(rest, outline);
    rest->tables = false;
    rest->inside_swept = -INFINITY;
    rest->n_measures = 0;
    rest->n_costs = 0;
    measure_energy(rest);
    measure_ports(rest);
    for (int i = 0; i < rest->n_measures; i++) {
        sx_measure *m = &rest->measure[i];
        m->tail[model->n_levels] = 0;
        for (int c = model->n_levels - 1; c >= 0; c--) {
            m->tail[c] = m->tail[c + 1];
            for (int v = 0; v < model->n_tensors; v++) {
                bool fed = c == 0 && !rest->linked[v];
                m->tail[c] += rest->least[i][v][c] * (fed ? b->times[v][0] : rest->apart[v][c]);
                m->tail[c] += rest->on_top[i][v][c];
            }
        }
    }
}

sx_score sx_rest_score(const sx_rest *rest, double energy, double cycles) {
    cycles = fmax(cycles, rest->steps);
    const sx_model *model = rest->bound->model;
    sx_score score = {.energy_pj = energy + rest->leak * cycles, .cycles = cycles + (double)model->latency};
    score.utilization = (double)model->computes / (double)model->compute_instances / score.cycles;
    return score;
}

sx_score sx_rest_flat(const sx_rest *rest) {
    double cycles = 0;
    for (int i = 1; i < rest->n_measures; i++)
        cycles = fmax(cycles, rest->measure[i].constant + rest->measure[i].tail[0]);
    return sx_rest_score(rest, rest->measure[0].constant + rest->measure[0].tail[0], cycles);
}

void sx_stem_begin(const sx_rest *rest, sx_stem *stem) {
    const sx_bound *b = rest->bound;
    stem->point = 0;
    for (int d = 0; d < SX_MAX_DIMS; d++) stem->extent[d] = 1;
    for (int i = 0; i < rest->n_measures; i++) {
        stem->closed[i] = rest->measure[i].constant;
        for (int v = 0; v < b->model->n_tensors; v++) {
            double cost = sx_rest_cost(rest, i, v, 0, 0);
            stem->pending[i][v] = rest->linked[v] ? cost : 0;
            if (!rest->linked[v]) stem->closed[i] += cost;
        }
    }
}

/* The temporal loops of a level, and over what they are spread. */
typedef struct bed {
    uint32_t loop[SX_MAX_DIMS]; /* iterations */
    unsigned loops;             /* those of more than one, as a mask */
} bed;

static void make_bed(const sx_rest *rest, const sx_stem *stem, int level, const uint32_t *extent, bed *at) {
    at->loops = 0;
    for (int d = 0; d < rest->bound->model->n_dims; d++) {
        assert(extent[d] % (stem->extent[d] * rest->outline.spatial[level][d]) == 0);
        at->loop[d] = extent[d] / (stem->extent[d] * rest->outline.spatial[level][d]);
        at->loops |= (unsigned)(at->loop[d] > 1) << d;
    }
}

/* The idle temporal loops of a tensor from a level outward, multiplied, above a stem. */
static double idle_outside(const sx_rest *rest, const uint32_t *extent, int level, int v) {
    double product = 1;
    for (unsigned dims = rest->bound->idle[v]; dims; dims &= dims - 1) {
        int d = __builtin_ctz(dims);
        product *= (double)(rest->open[level][d] / extent[d]);
    }
    return product;
}

/* The least of a measure's flows into a level and beyond, at a point, where the next loop is of a class. */
static double outside(const sx_rest *rest, int m, int level, uint32_t point, int o) {
    if (level + 1 == rest->bound->model->n_levels) return 0;
    if (!rest->tables || m >= rest->n_tabled) return rest->measure[m].tail[level + 1];
    return rest->table[m][level][o][rest->inside[point - rest->below[level]]];
}

/* What tensors wait for, in a measure: where the next loop moves them; less the idle loops of the level at
 * hand; less those beyond too, if it has no others. */
typedef struct wait {
    double ends[SX_MAX_TENSORS], goes[SX_MAX_TENSORS], flies[SX_MAX_TENSORS];
} wait;

/* What waits at a level whose innermost loop is of class o, and the next level's of class `next`: only
 * tensors in both classes gain from both. */
static double waiting(const sx_bound *b, const wait *w, int o, int next) {
    double sum = 0;
    for (int v = 0; v < b->model->n_tensors; v++) {
        bool gains = b->profit[o] >> v & 1, more = b->profit[next] >> v & 1;
        sum += !gains ? w->ends[v] : more ? w->flies[v] : w->goes[v];
    }
    return sum;
}

/* The least of what waits and of what is outside. A level without loops has the class of the next one. */
static double least_sum(const sx_rest *rest, int m, int level, uint32_t point, const wait *w, bool empty) {
    const sx_bound *b = rest->bound;
    double least = INFINITY;
    for (int next = 0; next < b->n_classes; next++) {
        double near = INFINITY;
        for (int o = empty ? next : 0; o < (empty ? next + 1 : b->n_classes); o++)
            near = fmin(near, waiting(b, w, o, next));
        least = fmin(least, near + outside(rest, m, level, point, next));
    }
    return least;
}

/* By how much the idle loops of a level, and those beyond, can make smaller what a tensor waits for. */
static void shrink_by(const sx_rest *rest, const sx_stem *stem, int level, const bed *at, int v, double *here,
                      double *most) {
    *here = 1;
    for (unsigned dims = rest->bound->idle[v]; dims; dims &= dims - 1) *here *= at->loop[__builtin_ctz(dims)];
    bool stays = !(at->loops & ~(unsigned)rest->bound->idle[v]);
    *most = stays ? idle_outside(rest, stem->extent, level, v) : *here;
}

/* What a quick bound found for a tile of the innermost level. */
static double swept(const sx_rest *rest, uint32_t point) {
    if (rest->inside_swept == -INFINITY) return -INFINITY;
    return rest->inside_swept + rest->swept[rest->inside[point - rest->below[0]]];
}

sx_score sx_stem_try(const sx_rest *rest, const sx_stem *stem, int level, const uint32_t *extent,
                     uint32_t point) {
    const sx_bound *b = rest->bound;
    double here[SX_MAX_TENSORS], most[SX_MAX_TENSORS], least = INFINITY, energy = 0, cycles = 0;
    bed now;
    for (int o = 0; o < b->n_classes; o++) least = fmin(least, outside(rest, 0, level, point, o));
    if (least == INFINITY) return (sx_score){INFINITY, INFINITY, 0, INFINITY};
    make_bed(rest, stem, level, extent, &now);
    for (int v = 0; v < b->model->n_tensors; v++) shrink_by(rest, stem, level, &now, v, &here[v], &most[v]);
    for (int m = 0; m < rest->n_measures; m++) {
        wait w;
        for (int v = 0; v < b->model->n_tensors; v++) {
            w.ends[v] = stem->pending[m][v];
            w.goes[v] = w.ends[v] / here[v];
            w.flies[v] = w.ends[v] / most[v];
        }
        double sum = stem->closed[m] + sx_rest_extra(rest, m, level, stem->point) +
                     least_sum(rest, m, level, point, &w, now.loops == 0);
        if (m == 0)
            energy = sum;
        else
            cycles = fmax(cycles, sum);
    }
    if (level == 0) energy = fmax(energy, swept(rest, point));
    return sx_rest_score(rest, energy, cycles);
}

void sx_stem_grow(const sx_rest *rest, const sx_stem *stem, int level, const uint32_t *extent, uint32_t point,
                  const uint8_t *order, sx_stem *out) {
    const sx_bound *b = rest->bound;
    bed now;
    make_bed(rest, stem, level, extent, &now);
    out->point = point;
    memcpy(out->extent, extent, sizeof out->extent);
    for (int i = 0; i < rest->n_measures; i++)
        out->closed[i] = stem->closed[i] + sx_rest_extra(rest, i, level, stem->point);
    for (int v = 0; v < b->model->n_tensors; v++) {
        double run = 1;
        bool ended = false;
        for (int k = 0; k < b->model->n_dims && !ended; k++) {
            int d = order[k];
            if (!(now.loops >> d & 1)) continue;
            if (b->idle[v] >> d & 1)
                run *= now.loop[d];
            else
                ended = true;
        }
        for (int i = 0; i < rest->n_measures; i++) {
            double flow = stem->pending[i][v] / run;
            if (ended) out->closed[i] += flow;
            out->pending[i][v] = ended ? 0 : flow;
            out->pending[i][v] +=
                level + 1 < b->model->n_levels ? sx_rest_cost(rest, i, v, level + 1, point) : 0;
        }
    }
}

sx_score sx_stem_bound(const sx_rest *rest, const sx_stem *stem, int level) {
    const sx_bound *b = rest->bound;
    double most[SX_MAX_TENSORS], energy = 0, cycles = 0;
    for (int v = 0; v < b->model->n_tensors; v++) most[v] = idle_outside(rest, stem->extent, level + 1, v);
    for (int m = 0; m < rest->n_measures; m++) {
        wait w;
        for (int v = 0; v < b->model->n_tensors; v++) {
            bool top = level + 1 == b->model->n_levels;
            double own = top ? 0 : sx_rest_cost(rest, m, v, level + 1, stem->point);
            w.ends[v] = fmax(stem->pending[m][v] - own, 0);
            w.goes[v] = w.flies[v] = w.ends[v] / most[v];
        }
        double sum = stem->closed[m] + least_sum(rest, m, level, stem->point, &w, true);
        if (m == 0)
            energy = sum;
        else
            cycles = fmax(cycles, sum);
    }
    if (level == 0) energy = fmax(energy, swept(rest, stem->point));
    return sx_rest_score(rest, energy, cycles);
}
