/* Bounds of what is left open of a mapping.
 *
 * Energy and the use of bandwidths are sums over flows: into each level c that keeps a tensor V (and into the
 * compute units), out of the next outer level u that keeps it. Over all instances, a flow of F words into c
 * makes F fills at c and F / X reads (for the output: updates, and as many reads) at u, with X the spatial
 * loops from c to u that do not index V: these children share an access. First reads and fills of the output
 * are spared, which takes off a constant: |V| times the spatial loops outside that do not index it. So the
 * price of F in the energy is known with the outline, and so is the constant. Left out, as they only add:
 * rounding up to whole blocks, routers, minimum uses; of hops only what network.c says. Sliding windows have rules of their own:
 *   - window.c says what children share and when neighbours hand words on;
 *   - with bypass between c and u its accesses are scaled and rounded: half a word per instance is taken off;
 *   - reads and fills of an output that is not indexed by plain dimensions count nothing, its updates do;
 *   - compute units that stand side by side and use the same operand may hand it on while it stays the same:
 * such tensors count as if the compute units kept a word of them.
 *
 * How large a flow is depends on extents and orders (bound.c): without irrelevant loops next to the level it
 * is what window.c says, and it shrinks by the irrelevant temporal loops between the level and the first loop
 * that indexes V. A partial mapping knows the flows into its levels except for those whose next loop on V is
 * further out; those are pending, and may shrink by all irrelevant temporal loops to come, but only for
 * tensors that the innermost of these does not index (a class). Whatever is outside the partial mapping, its
 * flows are at least those of the tables (table.c), or the least of all.
 *
 * Cycles are at least those of the compute units, and those that the words through each level's ports take.
 */
#include "bound/outline.h"
#include "bound/effectual.h"
#include "bound/link.h"
#include "bound/outer.h"
#include "bound/price.h"
#include "model/sparse.h"

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

/* Allocates what there is per measure; false when memory is out. */
static bool make_measures(sx_outline_bound *bounds, size_t n) {
    if (n > SX_MAX_MEASURES) n = SX_MAX_MEASURES;
    bounds->measure = calloc(n, sizeof *bounds->measure);
    bounds->cost = calloc(n, sizeof *bounds->cost);
    bounds->extra = calloc(n, sizeof *bounds->extra);
    bounds->stay = calloc(n, sizeof *bounds->stay);
    bounds->least = calloc(n, sizeof *bounds->least);
    bounds->least_stay = calloc(n, sizeof *bounds->least_stay);
    return bounds->measure && bounds->cost && bounds->extra && bounds->stay && bounds->least &&
           bounds->least_stay;
}

/* The tiles of all windows of a tensor, at the most. */
static size_t count_pieces(const sx_bound *bound) {
    size_t most = 1;
    for (int v = 0; v < bound->model->n_tensors; v++) {
        size_t n = 0;
        for (int w = 0; w < bound->n_windows[v]; w++) n += bound->window[v][w].n_tiles;
        most = n > most ? n : most;
    }
    return most;
}

sx_status sx_outline_bound_new(const sx_bound *bound, sx_outline_bound **out) {
    sx_outline_bound *bounds = calloc(1, sizeof *bounds);
    if (!bounds) return sx_error_memory();
    const sx_model *model = bound->model;
    size_t measures = 1 + count_ports(model), tabled = measures < SX_MAX_TABLED ? measures : SX_MAX_TABLED;
    int n_levels = model->n_levels, n_tables = (n_levels - 1) * bound->n_classes * (int)tabled;
    size_t n = bound->lattice.n_points, forms = 0;
    for (int v = 0; v < model->n_tensors; v++) forms += bound->form[v].n_points;
    size_t pieces = count_pieces(bound);
    double *data = bounds->scratch = malloc(((size_t)n_tables + 1 + SX_MAX_CHORDS) * n * sizeof *data);
    bounds->bound = bound;
    bounds->whole = malloc(n * sizeof *bounds->whole);
    bounds->inside = calloc(n, sizeof *bounds->inside);
    bounds->fitting = malloc(n * sizeof *bounds->fitting);
    bounds->swept = malloc(n * sizeof *bounds->swept);
    bounds->loops = malloc(n * sizeof *bounds->loops);
    bounds->traffics = malloc(forms * (size_t)(n_levels * n_levels) * sizeof *bounds->traffics);
    bounds->places = malloc(forms * sx_place_size());
    bounds->pieces = malloc(pieces * sx_window_piece_size());
    bounds->costs = malloc(3 * measures * forms * (size_t)n_levels * sizeof *bounds->costs);
    if (model->sparse) bounds->cache = sx_density_cache_new(true);
    if ((model->sparse && !bounds->cache) || !make_measures(bounds, measures) || !data || !bounds->whole ||
        !bounds->inside || !bounds->fitting || !bounds->swept || !bounds->loops || !bounds->places ||
        !bounds->pieces || !bounds->traffics || !bounds->costs) {
        sx_outline_bound_free(bounds);
        return sx_error_memory();
    }
    bounds->chord = data + n;
    data += SX_MAX_CHORDS * n;
    for (size_t m = 0; m < tabled; m++)
        for (int s = 0; s < n_levels - 1; s++)
            for (int o = 0; o < bound->n_classes; o++) bounds->table[m][s][o] = data += n;
    *out = bounds;
    return SX_OK;
}

void sx_outline_bound_free(sx_outline_bound *bounds) {
    if (!bounds) return;
    sx_density_cache_free(bounds->cache);
    free(bounds->scratch);
    free(bounds->whole);
    free(bounds->inside);
    for (size_t i = 0; i < sizeof bounds->fit / sizeof *bounds->fit; i++) free(bounds->fit[i]);
    free(bounds->fitting);
    free(bounds->swept);
    free(bounds->loops);
    free(bounds->places);
    free(bounds->pieces);
    free(bounds->traffics);
    free(bounds->costs);
    free(bounds->measure);
    free(bounds->cost);
    free(bounds->extra);
    free(bounds->stay);
    free(bounds->least);
    free(bounds->least_stay);
    free(bounds);
}

/* Whether compute units may hand operands of a tensor to each other. */
static bool may_hand_on(const sx_outline_bound *bounds, int v) {
    const sx_bound *b = bounds->bound;
    double partly_relevant = sx_outline_bound_fanout(bounds, 0, b->partly_relevant[v]);
    if (partly_relevant == 1 && sx_outline_bound_fanout(bounds, 0, b->irrelevant[v]) == 1) return false;
    if (!sx_outline_bound_has_links(bounds, 0, v)) return false;
    if (!b->partly_relevant[v]) return true;
    sx_least_traffic traffic = sx_outline_bound_operand(bounds, v);
    return traffic.own < 1 || traffic.groups < 1;
}

/* Instances and what the spatial loops leave. */
static void set_array(sx_outline_bound *bounds) {
    const sx_bound *b = bounds->bound;
    const sx_model *model = b->model;
    double used = 1;
    int top = model->n_levels;
    memcpy(bounds->open[top], model->size, sizeof bounds->open[top]);
    for (int v = 0; v < model->n_tensors; v++) bounds->apart[v][top] = 1;
    bounds->leak = 0;
    for (int s = top - 1; s >= 0; s--) {
        bounds->above[s] = used;
        used *= sx_outline_bound_fanout(bounds, s, (1u << model->n_dims) - 1);
        for (int d = 0; d < model->n_dims; d++)
            bounds->open[s][d] = bounds->open[s + 1][d] / bounds->outline.spatial[s][d];
        for (int v = 0; v < model->n_tensors; v++)
            bounds->apart[v][s] =
                bounds->apart[v][s + 1] * sx_outline_bound_fanout(bounds, s, b->irrelevant[v]);
    }
    for (int s = 0; s < top; s++) {
        const sx_level *level = &model->level[s];
        double leaking =
            level->leak_share > 0 ? level->leak_share * bounds->above[level->gate] : bounds->above[s];
        bounds->leak += level->leak_energy * leaking * model->least_leak;
    }
    for (int s = 0; s <= top && b->idle[0]; s++) {
        bounds->open_point[s] = sx_lattice_point(&b->lattice, bounds->open[s]);
        if (s < top) bounds->spatial_point[s] = sx_lattice_point(&b->lattice, bounds->outline.spatial[s]);
    }
    bounds->steps = (double)model->computes / used * sx_outline_bound_busy(bounds);
    for (int v = 0; v < model->n_tensors; v++)
        bounds->linked[v] = used > bounds->above[0] && may_hand_on(bounds, v);
}

void sx_outline_bound_set(sx_outline_bound *bounds, const sx_outline *outline) {
    bool same = bounds->spatial_set &&
                memcmp(bounds->outline.spatial, outline->spatial, sizeof outline->spatial) == 0;
    bounds->outline = *outline;
    if (same) return;
    bounds->spatial_set = true;
    bounds->numbered = false;
    memset(bounds->fit_known, 0, sizeof bounds->fit_known);
    memset(bounds->traffic, 0, sizeof bounds->traffic);
    memset(bounds->sharing, 0, sizeof bounds->sharing);
    set_array(bounds);
}

/* The levels at which a mask per level has a tensor, as a mask. */
static unsigned levels_of(const sx_model *model, const uint8_t *masks, int v) {
    unsigned levels = 0;
    for (int s = 0; s < model->n_levels; s++) levels |= (unsigned)(masks[s] >> v & 1) << s;
    return levels;
}

/* What zeros leave of a flow in a measure at the least. */
static double left_of(const sx_outline_bound *bounds, int m, const sx_transfer *r) {
    bool known = m > 0 && bounds->bound->model->range;
    return known ? 1 : sx_outline_bound_left(bounds, r->v, r->from, r->to);
}

/* Sets what a flow costs in a measure for every form. */
static void set_costs(sx_outline_bound *bounds, int m, const sx_transfer *r) {
    const sx_least_traffic *traffic = sx_outline_bound_traffic(bounds, r->v, r->from, r->to);
    int v = r->v, c = r->from + 1;
    double *cost = bounds->cost[m][v][c], *extra = bounds->extra[m][v][c], *stay = bounds->stay[m][v][c];
    double least = INFINITY, least_stay = INFINITY, fed = r->from < 0 ? left_of(bounds, m, r) : 1;
    double alone = sx_outline_bound_share(bounds, m, v, c, 0), apart = r->from < 0 ? 0 : bounds->apart[v][c];
    bool dense = !bounds->bound->idle[v];
    for (uint32_t i = 0; i < bounds->bound->form[v].n_points; i++) {
        sx_transfer_price price = sx_transfer_cost(r, &traffic[i]);
        cost[i] = price.moves * fed;
        extra[i] = price.extra * apart * alone;
        stay[i] = price.stays * fed;
        if (cost[i] == INFINITY) continue;
        least_stay = fmin(least_stay, stay[i]);
        least = fmin(least, fmin(stay[i], cost[i] + (dense && r->from >= 0 ? price.extra : 0)));
    }
    bounds->least[m][v][c] = least < INFINITY ? least : 0;
    bounds->least_stay[m][v][c] = least_stay < INFINITY ? least_stay : 0;
}

/* Adds a flow to a measure. */
static void add_flow(sx_outline_bound *bounds, int m, const sx_transfer *r) {
    uint32_t n = bounds->bound->form[r->v].n_points;
    if (r->read <= 0 && r->fill <= 0 && r->peer <= 0) return;
    double *cost = bounds->cost[m][r->v][r->from + 1] = bounds->costs + bounds->n_costs;
    bounds->extra[m][r->v][r->from + 1] = cost + n;
    bounds->stay[m][r->v][r->from + 1] = cost + 2 * n;
    set_costs(bounds, m, r);
    bounds->n_costs += 3 * n;
}

/* Adds a tensor that these levels keep to a measure, at prices per level; hops count as if all levels did. */
static void add_tensor(sx_outline_bound *bounds, int m, int v, unsigned levels,
                       const sx_access_cost *prices) {
    const sx_bound *b = bounds->bound;
    for (int from = -1; levels; levels &= levels - 1) {
        sx_transfer r = sx_transfer_make(bounds, v, from, __builtin_ctz(levels), prices);
        bounds->source[v][from + 1] = (uint8_t)r.to;
        if (b->idle[v]) bounds->shared[v][from + 1] = sx_outline_bound_apart(bounds, v, from + 1, r.to);
        bounds->measure[m].constant -=
            sx_transfer_spared(bounds, &r, prices) * (from < 0 ? left_of(bounds, m, &r) : 1);
        add_flow(bounds, m, &r);
        for (int s = from + 1; s < r.to; s++)
            add_flow(bounds, m,
                     &(sx_transfer){.v = v, .from = s, .to = s + 1, .fill = prices[s].hops, .instances = 1});
        from = r.to;
    }
}

static int add_measure(sx_outline_bound *bounds) {
    int m = bounds->n_measures++;
    bounds->measure[m] = (sx_measure){0};
    memset(bounds->cost[m], 0, sizeof bounds->cost[m]);
    memset(bounds->extra[m], 0, sizeof bounds->extra[m]);
    memset(bounds->stay[m], 0, sizeof bounds->stay[m]);
    memset(bounds->least[m], 0, sizeof bounds->least[m]);
    memset(bounds->least_stay[m], 0, sizeof bounds->least_stay[m]);
    return m;
}

/* The energy as a measure. */
static void measure_energy(sx_outline_bound *bounds) {
    const sx_model *model = bounds->bound->model;
    int m = add_measure(bounds);
    bounds->measure[m].constant = (double)model->computes * model->least_compute_energy;
    for (int v = 0; v < model->n_tensors; v++) {
        sx_access_cost prices[SX_MAX_LEVELS];
        sx_access_cost_energy(bounds, v, prices);
        add_tensor(bounds, m, v, levels_of(model, bounds->outline.keep, v), prices);
    }
}

/* What an element takes of a level's bandwidth at the least, beside what zeros leave of its flow. */
static double port_share(const sx_bound *b, int s, int v) {
    const sx_model *model = b->model;
    if (model->range) return model->least_use[s][v];
    double bits = model->arch->level[s].word_bits * sx_level_width(&model->level[s], v);
    double held = b->held[s][v] * (1 + b->metadata_bits[s][v] / bits);
    return b->plain[s][v] > 0 ? fmin(held, b->plain[s][v]) : held;
}

/* The use of one bandwidth of a level by some tensors, in cycles. */
static void measure_port(sx_outline_bound *bounds, int s, unsigned tensors, double reads, double writes) {
    const sx_level *level = &bounds->bound->model->level[s];
    if ((reads == 0 && writes == 0) || bounds->n_measures == SX_MAX_MEASURES) return;
    int m = add_measure(bounds);
    for (; tensors; tensors &= tensors - 1) {
        int v = __builtin_ctz(tensors);
        double scale = level->scale[v] / bounds->above[s] * port_share(bounds->bound, s, v);
        sx_access_cost prices[SX_MAX_LEVELS] = {0};
        double read = sx_bound_loses_reads(bounds->bound->model, v) ? 0 : reads * scale;
        prices[s] = (sx_access_cost){.read = read, .fill = writes * scale, .update = writes * scale};
        add_tensor(bounds, m, v, levels_of(bounds->bound->model, bounds->outline.keep, v), prices);
    }
}

/* All bandwidths as measures. */
static void measure_ports(sx_outline_bound *bounds) {
    const sx_model *model = bounds->bound->model;
    unsigned all = (1u << model->n_tensors) - 1;
    for (int s = 0; s < model->n_levels; s++) {
        const sx_level *level = &model->level[s];
        for (unsigned left = all; left && level->bounded; left &= left - 1) {
            unsigned some = level->banks > 0 ? left & -left : all;
            measure_port(bounds, s, some, 1 / level->read_bandwidth, 0);
            measure_port(bounds, s, some, 0, 1 / level->write_bandwidth);
            measure_port(bounds, s, some, 1 / level->shared_bandwidth, 1 / level->shared_bandwidth);
            if (level->banks == 0) break;
        }
    }
}

void sx_outline_bound_begin(sx_outline_bound *bounds, const sx_outline *outline) {
    const sx_bound *b = bounds->bound;
    const sx_model *model = b->model;
    sx_outline_bound_set(bounds, outline);
    bounds->tables = false;
    bounds->inside_swept = -INFINITY;
    bounds->n_measures = 0;
    bounds->n_costs = 0;
    memset(bounds->shared, 0, sizeof bounds->shared);
    memset(bounds->source, 0, sizeof bounds->source);
    measure_energy(bounds);
    measure_ports(bounds);
    for (int i = 0; i < bounds->n_measures; i++) {
        sx_measure *m = &bounds->measure[i];
        m->tail[model->n_levels] = 0;
        for (int c = model->n_levels - 1; c >= 0; c--) {
            m->tail[c] = m->tail[c + 1];
            for (int v = 0; v < model->n_tensors; v++) {
                bool fed = c == 0 && !bounds->linked[v];
                m->tail[c] += bounds->least[i][v][c] * (fed ? b->times[v][0] : bounds->apart[v][c]) *
                              sx_outline_bound_stay_share(bounds, i, v, c, 0);
            }
        }
    }
}

sx_score sx_outline_bound_score(const sx_outline_bound *bounds, double energy, double cycles) {
    cycles = fmax(cycles, bounds->steps);
    const sx_model *model = bounds->bound->model;
    sx_score score = {.energy_pj = energy + bounds->leak * cycles, .cycles = cycles + (double)model->latency};
    score.utilization = (double)model->computes / (double)model->compute_instances / score.cycles;
    return score;
}

sx_score sx_outline_bound_compulsory(const sx_outline_bound *bounds) {
    double cycles = 0;
    for (int i = 1; i < bounds->n_measures; i++)
        cycles = fmax(cycles, bounds->measure[i].constant + bounds->measure[i].tail[0]);
    return sx_outline_bound_score(bounds, bounds->measure[0].constant + bounds->measure[0].tail[0], cycles);
}

void sx_partial_mapping_begin(const sx_outline_bound *bounds, sx_partial_mapping *partial) {
    const sx_bound *b = bounds->bound;
    partial->point = 0;
    memset(partial->grows, 0, sizeof partial->grows);
    for (int d = 0; d < SX_MAX_DIMS; d++) partial->extent[d] = 1;
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

/* The irrelevant temporal loops of a tensor from a level outward, multiplied, above a partial mapping. */
static double irrelevant_outside(const sx_outline_bound *bounds, const uint32_t *extent, int level, int v) {
    double product = 1;
    for (unsigned dims = bounds->bound->irrelevant[v]; dims; dims &= dims - 1) {
        int d = __builtin_ctz(dims);
        product *= (double)(bounds->open[level][d] / extent[d]);
    }
    return product;
}

/* The least of a measure's flows into a level and beyond, at a point, where the next loop is of a class. */
static double outside(const sx_outline_bound *bounds, int m, int level, uint32_t point, int o) {
    if (level + 1 == bounds->bound->model->n_levels) return 0;
    if (!bounds->tables || m >= bounds->n_tabled) return bounds->measure[m].tail[level + 1];
    return bounds->table[m][level][o][bounds->inside[point - bounds->below[level]]];
}

/* What tensors wait for, in a measure: where the next loop moves them; less the irrelevant loops of the level
 * at hand; less those beyond too, if it has no others. */
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
static double least_sum(const sx_outline_bound *bounds, int m, int level, uint32_t point, const wait *w,
                        bool empty) {
    const sx_bound *b = bounds->bound;
    double least = INFINITY;
    for (int next = 0; next < b->n_classes; next++) {
        double near = INFINITY;
        for (int o = empty ? next : 0; o < (empty ? next + 1 : b->n_classes); o++)
            near = fmin(near, waiting(b, w, o, next));
        least = fmin(least, near + outside(bounds, m, level, point, next));
    }
    return least;
}

/* By how much zeros leave more of what a tensor waits for, where irrelevant loops are added to its box. */
static double growth(const sx_outline_bound *bounds, const sx_partial_mapping *partial, int v,
                     uint32_t loops) {
    const double *left = bounds->bound->effectual[v][partial->grows[v]];
    if (partial->grows[v] == 0 || left[partial->box[v]] <= 0) return 1;
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
    return growth(bounds, partial, v, source >= level ? known : 0);
}

/* By how much the irrelevant loops of a level, and those beyond, can make smaller what a tensor waits for. */
static void shrink_by(const sx_outline_bound *bounds, const sx_partial_mapping *partial, int level,
                      const bed *at, int v, double *here, double *most) {
    *here = 1;
    for (unsigned dims = bounds->bound->irrelevant[v]; dims; dims &= dims - 1)
        *here *= at->loop[__builtin_ctz(dims)];
    bool stays = !(at->loops & ~(unsigned)bounds->bound->irrelevant[v]);
    *most = stays ? irrelevant_outside(bounds, partial->extent, level, v) : *here;
}

/* The same for what zeros leave: by the irrelevant loops of a level, whose tile is that of a point, and by all. */
static void grow_by(const sx_outline_bound *bounds, const sx_partial_mapping *partial, int level,
                    uint32_t point, int v, double *here, double *most) {
    const uint32_t *idle = bounds->bound->idle[v];
    *here = *most = 1;
    if (partial->grows[v] == 0) return;
    uint32_t own = idle[point] - idle[partial->point] - idle[bounds->spatial_point[level]];
    *here = growth(bounds, partial, v, bounds->source[v][partial->grows[v]] >= level ? own : 0);
    *most = growth_outside(bounds, partial, level, v, own);
}

/* What a quick bound found for a tile of the innermost level. */
static double swept(const sx_outline_bound *bounds, uint32_t point) {
    if (bounds->inside_swept == -INFINITY) return -INFINITY;
    return bounds->inside_swept + bounds->swept[bounds->inside[point - bounds->below[0]]];
}

sx_score sx_partial_mapping_try(const sx_outline_bound *bounds, const sx_partial_mapping *partial, int level,
                                const uint32_t *extent, uint32_t point) {
    const sx_bound *b = bounds->bound;
    double here[SX_MAX_TENSORS], most[SX_MAX_TENSORS], least = INFINITY, energy = 0, cycles = 0;
    double more_here[SX_MAX_TENSORS], more_most[SX_MAX_TENSORS];
    bed now;
    for (int o = 0; o < b->n_classes; o++) least = fmin(least, outside(bounds, 0, level, point, o));
    if (least == INFINITY) return (sx_score){INFINITY, INFINITY, 0, INFINITY};
    lay_base(bounds, partial, level, extent, &now);
    for (int v = 0; v < b->model->n_tensors; v++) {
        shrink_by(bounds, partial, level, &now, v, &here[v], &most[v]);
        grow_by(bounds, partial, level, point, v, &more_here[v], &more_most[v]);
        if (now.loops & ~(unsigned)b->irrelevant[v]) more_most[v] = more_here[v];
    }
    for (int m = 0; m < bounds->n_measures; m++) {
        wait w;
        const bool grows = m == 0 || !b->model->range;
        for (int v = 0; v < b->model->n_tensors; v++) {
            double stays = partial->pending[m][v];
            w.ends[v] = partial->moving[m][v];
            w.goes[v] = stays / here[v] * (grows ? more_here[v] : 1);
            w.flies[v] = stays / most[v] * (grows ? more_most[v] : 1);
        }
        double sum = partial->closed[m] + least_sum(bounds, m, level, point, &w, now.loops == 0);
        if (m == 0)
            energy = sum;
        else
            cycles = fmax(cycles, sum);
    }
    if (level == 0) energy = fmax(energy, swept(bounds, point));
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
        more = growth(bounds, partial, v, loops);
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
    for (int i = 0; i < bounds->n_measures; i++) out->closed[i] = partial->closed[i];
    for (int v = 0; v < b->model->n_tensors; v++) {
        double run = 1;
        bool ended = false;
        uint32_t stays[SX_MAX_DIMS];
        for (int d = 0; d < SX_MAX_DIMS; d++) stays[d] = 1;
        for (int k = 0; k < b->model->n_dims && !ended; k++) {
            int d = order[k];
            if (!(now.loops >> d & 1)) continue;
            if (b->irrelevant[v] >> d & 1)
                run *= stays[d] = now.loop[d];
            else
                ended = true;
        }
        double more = extend_box(bounds, partial, level, point, v, stays, ended, out);
        for (int i = 0; i < bounds->n_measures; i++) {
            bool stayed = run > 1, top = level + 1 == b->model->n_levels;
            double flow = partial->pending[i][v] / run * (i == 0 || !b->model->range ? more : 1);
            double moving = stayed ? flow : partial->moving[i][v];
            if (ended) out->closed[i] += moving;
            out->pending[i][v] = ended ? 0 : flow;
            out->moving[i][v] = ended ? 0 : moving;
            out->pending[i][v] += top ? 0 : sx_outline_bound_stay(bounds, i, v, level + 1, point);
            out->moving[i][v] += top ? 0 : sx_outline_bound_cost(bounds, i, v, level + 1, point);
        }
    }
}

sx_score sx_partial_mapping_bound(const sx_outline_bound *bounds, const sx_partial_mapping *partial,
                                  int level) {
    const sx_bound *b = bounds->bound;
    double most[SX_MAX_TENSORS], more[SX_MAX_TENSORS], energy = 0, cycles = 0;
    for (int v = 0; v < b->model->n_tensors; v++) {
        most[v] = irrelevant_outside(bounds, partial->extent, level + 1, v);
        more[v] = growth_outside(bounds, partial, level + 1, v, 0);
    }
    for (int m = 0; m < bounds->n_measures; m++) {
        wait w;
        for (int v = 0; v < b->model->n_tensors; v++) {
            bool top = level + 1 == b->model->n_levels;
            double own = top ? 0 : sx_outline_bound_cost(bounds, m, v, level + 1, partial->point);
            double stay = top ? 0 : sx_outline_bound_stay(bounds, m, v, level + 1, partial->point);
            w.ends[v] = fmax(partial->moving[m][v] - own, 0);
            w.goes[v] = w.flies[v] =
                fmax(partial->pending[m][v] - stay, 0) / most[v] * (m == 0 || !b->model->range ? more[v] : 1);
        }
        double sum = partial->closed[m] + least_sum(bounds, m, level, partial->point, &w, true);
        if (m == 0)
            energy = sum;
        else
            cycles = fmax(cycles, sum);
    }
    if (level == 0) energy = fmax(energy, swept(bounds, partial->point));
    return sx_outline_bound_score(bounds, energy, cycles);
}
