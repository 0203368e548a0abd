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
 *   - with bypass between c and u its accesses are scaled and rounded: half a word per instance is taken off, unless
 *     they are scaled by whole numbers (window.c); and for tiles that
 *     neighbours can help with, or whose groups differ in size, what fractions of words come to;
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
#include "bound/first.h"
#include "bound/link.h"
#include "bound/outer.h"
#include "bound/price.h"
#include "bound/traffic_cache.h"
#include "model/sparse/pass.h"

#include "base/extreme.h"
#include "base/status.h"

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

/* The forms of all tensors with windows; at least 1. */
static size_t count_forms(const sx_bound *bound) {
    size_t n = 1;
    for (int v = 0; v < bound->model->n_tensors; v++)
        if (bound->n_windows[v] > 0) n += bound->form[v].n_points;
    return n;
}

sx_status sx_outline_bound_new(const sx_bound *bound, sx_outline_bound **out) {
    sx_outline_bound *bounds = calloc(1, sizeof *bounds);
    if (!bounds) return sx_error_memory();
    const sx_model *model = bound->model;
    size_t measures = 1 + count_ports(model), tabled = measures < SX_MAX_TABLED ? measures : SX_MAX_TABLED;
    int n_levels = model->n_levels, n_tables = (n_levels - 1) * bound->n_classes * (int)tabled;
    size_t n = bound->lattice.n_points, forms = 0, listed = 0;
    for (int v = 0; v < model->n_tensors; v++) forms += bound->form[v].n_points;
    size_t pieces = count_pieces(bound), windowed = count_forms(bound);
    size_t rows = (size_t)n_tables + (size_t)(n_levels - 1) * tabled + 1 + SX_MAX_CHORDS;
    double *data = bounds->scratch = malloc(rows * n * sizeof *data);
    bounds->bound = bound;
    bounds->whole = malloc(n * sizeof *bounds->whole);
    bounds->inside = calloc(n, sizeof *bounds->inside);
    bounds->fitting = malloc(n * sizeof *bounds->fitting);
    bounds->swept = malloc(n * sizeof *bounds->swept);
    bounds->loops = malloc(n * sizeof *bounds->loops);
    bounds->traffics = malloc(forms * (size_t)(n_levels * n_levels) * sizeof *bounds->traffics);
    bounds->listed = malloc(forms * (size_t)n_levels * sizeof *bounds->listed);
    bounds->places = malloc(forms * sx_place_size());
    bounds->pieces = malloc(pieces * sx_window_piece_size());
    bounds->costs = malloc(3 * measures * forms * (size_t)n_levels * sizeof *bounds->costs);
    bounds->first_traffic = malloc(windowed * sizeof *bounds->first_traffic);
    bounds->survey = sx_keep_survey_new();
    bounds->traffic_cache = calloc(1, sizeof *bounds->traffic_cache);
    bounds->firsts = malloc(windowed * (size_t)n_levels * sx_first_costs(bound) * sizeof *bounds->firsts);
    if (model->sparse) bounds->cache = sx_density_cache_new(true, &model->guard->steps);
    if ((model->sparse && !bounds->cache) || !make_measures(bounds, measures) || !data || !bounds->whole ||
        !bounds->inside || !bounds->fitting || !bounds->swept || !bounds->loops || !bounds->places ||
        !bounds->pieces || !bounds->traffics || !bounds->costs || !bounds->first_traffic || !bounds->firsts ||
        !bounds->survey || !bounds->traffic_cache || !bounds->listed) {
        sx_outline_bound_free(bounds);
        return sx_error_memory();
    }
    for (int v = 0; v < model->n_tensors; v++)
        for (int s = 0; s < n_levels; s++, listed += bound->form[v].n_points)
            bounds->forms[v][s].form = bounds->listed + listed;
    bounds->chord = data + n;
    data += SX_MAX_CHORDS * n;
    for (size_t m = 0; m < tabled; m++)
        for (int s = 0; s < n_levels - 1; s++) {
            for (int o = 0; o < bound->n_classes; o++) bounds->table[m][s][o] = data += n;
            bounds->least_table[m][s] = data += n;
        }
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
    free(bounds->listed);
    free(bounds->places);
    free(bounds->pieces);
    free(bounds->traffics);
    if (bounds->traffic_cache) sx_traffic_cache_fini(bounds->traffic_cache);
    free(bounds->traffic_cache);
    free(bounds->costs);
    free(bounds->first_traffic);
    free(bounds->firsts);
    free(bounds->survey);
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

/* Forgets the flows of other spatial loops. */
static void forget_traffic(sx_outline_bound *bounds) {
    const sx_model *model = bounds->bound->model;
    for (int v = 0; v < model->n_tensors; v++)
        for (int c = 0; c <= model->n_levels; c++)
            memset(bounds->traffic[v][c], 0, model->n_levels * sizeof *bounds->traffic[v][c]);
    for (int v = 0; v < model->n_tensors; v++)
        for (int s = 0; s < model->n_levels; s++) bounds->forms[v][s].n = 0;
    memset(bounds->sharing, 0, sizeof bounds->sharing);
    sx_traffic_cache_renew(bounds->traffic_cache);
}

void sx_outline_bound_set(sx_outline_bound *bounds, const sx_outline *outline) {
    bool same = bounds->spatial_set &&
                memcmp(bounds->outline.spatial, outline->spatial, sizeof outline->spatial) == 0;
    bounds->outline = *outline;
    if (same) return;
    bounds->spatial_set = true;
    bounds->numbered = false;
    memset(bounds->fit_known, 0, sizeof bounds->fit_known);
    forget_traffic(bounds);
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
    const sx_form_list forms = sx_outline_bound_forms(bounds, v, r->from);
    for (uint32_t k = 0; k < forms.n; k++) {
        const uint32_t i = forms.form[k];
        sx_transfer_price price = sx_transfer_cost(r, &traffic[i], UINT16_MAX);
        cost[i] = price.moves * fed;
        double off = sx_transfer_rounding(bounds, r, &traffic[i]);
        extra[i] = price.extra * apart * alone - off;
        stay[i] = price.stays * fed;
        if (off > 0 && traffic[i].most > traffic[i].fewest) stay[i] = sx_larger(0, stay[i] - off / apart);
        least_stay = sx_lesser(least_stay, stay[i]);
        double top = dense && r->from >= 0 ? price.extra : 0;
        least = sx_lesser(least, sx_lesser(stay[i], cost[i] + top - (off > 0 ? off / apart : 0)));
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
    return b->plain[s][v] > 0 ? sx_lesser(held, b->plain[s][v]) : held;
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
    bounds->windowed = 0;
    memset(bounds->first, 0, sizeof bounds->first);
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
    cycles = sx_larger(cycles, bounds->steps);
    const sx_model *model = bounds->bound->model;
    sx_score score = {.energy_pj = energy + bounds->leak * cycles, .cycles = cycles + (double)model->latency};
    score.utilization = (double)model->computes / (double)model->compute_instances / score.cycles;
    return score;
}

sx_score sx_outline_bound_compulsory(const sx_outline_bound *bounds) {
    double cycles = 0;
    for (int i = 1; i < bounds->n_measures; i++)
        cycles = sx_larger(cycles, bounds->measure[i].constant + bounds->measure[i].tail[0]);
    return sx_outline_bound_score(bounds, bounds->measure[0].constant + bounds->measure[0].tail[0], cycles);
}
