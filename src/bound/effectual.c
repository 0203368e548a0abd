/* What zeros leave of flows, with the densities in (docs/sparse.md, sections 4 and 7; exact semantics).
 *
 * Reads and updates at level u, and fills at level c, of a flow from u into c remain where the box of every
 * tensor C on which they depend has a non-zero: the box of an action at u holds the tile of c, times the
 * irrelevant temporal loops during which that tile stays (none where c is the compute unit), times the
 * irrelevant spatial loops between c and u; boxes of actions further out are larger. Actions at c or inside act
 * there and not on this flow. So with E the tile of c, r the irrelevant loops that follow it up to u, q those that
 * follow beyond u, and f(C, n) the probability that n words of C are not all zeros, the flow is at least
 *   h(E) times(E r q) g(E r),   g(B) = f(C, words of C in B) for one C, times the density of each other one.
 * As f is concave in n and f(C, 0) = 0, times(B) g(B) does not grow as B grows in an irrelevant dimension: where u is
 * the outermost level the least is at the largest r, and else g(E) is a bound. Dense bounds stay as they are, with
 * times(B) g(B) in the place of times(B). Where only irrelevant loops are known, relevant extents of B count as 1.
 *
 * Of several densities (model/sparse/density_range.h) g is the mean by the weights of the bound, and each term has the
 * property; what a format leaves is taken as the least ratio of the means with and without it.
 *
 * Metadata: a format without offset pairs has a coordinate at least for every non-zero of a tile, as the loops of
 * its ranks span no fewer coordinates than the tile has words: (1 + sum a(p-1)) (1 + sum a(q-1)) is at least
 * 1 + sum a(pq-1) for coefficients a of 1 or more. Its bits go with the words.
 *
 * Compute cycles: computes are left out where accesses of an operand T are skipped as C is zero. The box of
 * that has at least the irrelevant spatial loops of T up to the innermost level that may skip. Of several T, the
 * probability that some box is empty is at most the sum over boxes, and that of the word of C that lies in each. */
#include "bound/effectual.h"

#include "model/sparse/density_range.h"
#include "model/sparse/formats.h"
#include "model/sparse/pass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ROUNDING = 1 - 1e-9;

/* The models of all densities, with their shares of the bound. */
typedef struct mixture {
    int n;
    const sx_model *model[SX_MAX_DENSITIES];
    double share[SX_MAX_DENSITIES];
} mixture;

static mixture mix_densities(const sx_model *model) {
    mixture m = {.n = 1, .model = {model}, .share = {1}};
    const struct sx_range_model *r = model->range;
    for (int i = 0; r && i < r->n; i++) {
        m.model[i] = r->model[i];
        m.share[i] = r->share[i];
        m.n = r->n;
    }
    return m;
}

/* The tensors on which accesses to one may depend by actions from a level outward. */
static unsigned depends_on(const struct sx_sparse_model *sparse, int tensor, int level) {
    unsigned on = 0;
    for (int i = 0; i < sparse->n_actions; i++)
        for (int k = 0; k < sparse->action[i].n_options && sparse->action[i].level >= level; k++)
            if (sparse->action[i].option[k].target == tensor) on |= sparse->action[i].option[k].on;
    return on;
}

/* The probability that a tile of a tensor is not empty, at the least. */
static double nonempty_share(const sx_density *density, sx_density_cache *cache, double words) {
    if (density->placed) return sx_density_of_word(density);
    return 1 - sx_density_empty(density, cache, (uint64_t)words);
}

/* Of a set of tensors the one with the lowest density, and the product of the others'. */
static int sparsest_tensor(const struct sx_sparse_model *sparse, unsigned set, double *others) {
    int least = __builtin_ctz(set);
    *others = 1;
    for (unsigned left = set; left; left &= left - 1) {
        int v = __builtin_ctz(left);
        if (sx_density_of_word(&sparse->density[v]) < sx_density_of_word(&sparse->density[least])) least = v;
    }
    for (unsigned left = set & ~(1u << least); left; left &= left - 1)
        *others *= sx_density_of_word(&sparse->density[__builtin_ctz(left)]);
    return least;
}

/* Adds to a table, for one density, what is left of flows that depend on a set of tensors. Words of a tensor that
 * has a dimension in two ranks grow faster than the dimension: there the density of a word counts. */
static void add_left(const sx_bound *b, const struct sx_sparse_model *sparse, sx_density_cache *cache,
                     unsigned on, double share, double *table) {
    double others = 1;
    int c = on ? sparsest_tensor(sparse, on, &others) : -1;
    bool simple = c < 0 || b->model->shape[c].simple;
    for (uint32_t i = 0; i < b->lattice.n_points; i++) {
        double words = simple && c >= 0 ? b->tile[c][i] : 1;
        table[i] += share * (c < 0 ? 1 : others * nonempty_share(&sparse->density[c], cache, words));
    }
}

/* The least ratio of two tables. */
static double least_ratio(const sx_bound *b, const double *part, const double *whole) {
    double ratio = 1;
    for (uint32_t i = 0; i < b->lattice.n_points; i++)
        ratio = fmin(ratio, whole[i] > 0 ? part[i] / whole[i] : 0);
    return ratio;
}

/* Whether all of a set are dense at all densities. */
static bool all_dense(const mixture *m, unsigned set) {
    for (int i = 0; i < m->n; i++)
        for (unsigned left = set; left; left &= left - 1)
            if (sx_density_of_word(&m->model[i]->sparse->density[__builtin_ctz(left)]) < 1) return false;
    return true;
}

/* Makes the table of a tensor's flows into level c - 1 and lowers *held to what a format leaves; NULL when
 * memory is out or the model's guard ends it. */
static double *make_table(const sx_bound *b, const mixture *m, int v, unsigned on, double *held) {
    size_t n = b->lattice.n_points;
    double *table = calloc(2 * n, sizeof *table), *packed = table ? table + n : NULL;
    sx_density_cache *cache = sx_density_cache_new(true, &b->model->guard->steps);
    for (int i = 0; i < m->n && table && cache; i++) {
        const struct sx_sparse_model *sparse = m->model[i]->sparse;
        double density = sx_density_of_word(&sparse->density[v]);
        add_left(b, sparse, cache, on, m->share[i] * ROUNDING, table);
        if (m->n > 1) add_left(b, sparse, cache, on, m->share[i] * ROUNDING * density, packed);
        if (m->n == 1) *held = fmin(*held, density);
    }
    if (table && m->n > 1) *held = fmin(*held, least_ratio(b, packed, table));
    bool whole = cache && !sx_density_cache_failed(cache);
    sx_density_cache_free(cache);
    if (whole) return table;
    free(table);
    return NULL;
}

/* The bits of metadata that a word which is not zero has at a level at the least, in a model of one set of
 * formats; INFINITY where it has none. */
static double metadata_in(const sx_model *model, int s, int v) {
    const sx_format_model *format = model->sparse ? model->sparse->format[s][v] : NULL;
    double least = INFINITY;
    if (!format) return INFINITY;
    for (int r = 0; r < format->n_ranks; r++)
        least = fmin(least, format->rank[r].kind == SX_RANK_UOP ? 0 : format->rank[r].bits[0]);
    return least;
}

/* The same in any set of formats that has one there. */
static double metadata_of(const sx_bound *b, int s, int v) {
    const struct sx_formats_model *formats = b->model->formats;
    double least = metadata_in(b->model, s, v);
    if (isinf(least) || !b->model->arch->level[s].metadata.width) return 0;
    for (int i = 0; formats && i < formats->n; i++) least = fmin(least, metadata_in(formats->model[i], s, v));
    return least;
}

/* Sets what of a tensor's prices a format leaves. */
static void set_held(sx_bound *b, int v, double held) {
    const sx_model *model = b->model;
    double scale = model->range ? model->range->energy_scale : 1;
    for (int s = 0; s < model->n_levels; s++) {
        b->held[s][v] = scale * (model->sparse->format[s][v] ? held * ROUNDING : 1);
        b->metadata_bits[s][v] = metadata_of(b, s, v);
        b->plain[s][v] = sx_formats_optional(model, s, v) ? scale : 0;
    }
}

/* Fills the tables of a tensor; false when memory is out. */
static bool fill_tensor(sx_bound *b, const mixture *m, int v) {
    double held = 1;
    unsigned before = 0;
    for (int c = 0; c < b->model->n_levels; c++) {
        unsigned on = depends_on(b->model->sparse, v, c);
        if (c > 0 && on == before) {
            b->effectual[v][c] = b->effectual[v][c - 1];
            continue;
        }
        before = on;
        double *table = make_table(b, m, v, on, &held);
        if (!table) return false;
        b->effectual[v][c] = b->tables[b->n_tables++] = table;
        if (all_dense(m, on)) b->effectual[v][c] = NULL;
    }
    b->alone[v] = 1;
    for (int i = 0; i < m->n; i++) {
        double left = 1;
        for (unsigned on = depends_on(b->model->sparse, v, 0); on; on &= on - 1)
            left *= sx_density_of_word(&m->model[i]->sparse->density[__builtin_ctz(on)]);
        b->alone[v] = fmin(b->alone[v], left * ROUNDING);
    }
    set_held(b, v, held);
    return true;
}

/* Fills, of each tensor, the digits of points in irrelevant dimensions; false when memory is out. */
static bool fill_idle(sx_bound *b, int v) {
    const sx_lattice *l = &b->lattice;
    b->idle[v] = malloc(l->n_points * sizeof *b->idle[v]);
    for (uint32_t i = 0; b->idle[v] && i < l->n_points; i++) {
        b->idle[v][i] = 0;
        for (int k = 0; k < l->n_digits; k++)
            if (b->irrelevant[v] >> l->dim[k] & 1)
                b->idle[v][i] += i / l->stride[k] % (l->top[k] + 1u) * l->stride[k];
    }
    return b->idle[v] != NULL;
}

bool sx_bound_effectual(sx_bound *b) {
    const sx_model *model = b->model;
    for (int v = 0; v < model->n_tensors; v++) {
        b->alone[v] = 1;
        for (int s = 0; s < model->n_levels; s++) b->held[s][v] = model->least[s][v];
    }
    if (!model->sparse || model->sparse->timeloop) return true;
    mixture m = mix_densities(model);
    bool good = true;
    for (int v = 0; v < model->n_tensors && good; v++) good = fill_idle(b, v) && fill_tensor(b, &m, v);
    return good;
}

void sx_bound_effectual_free(sx_bound *b) {
    for (int i = 0; i < b->n_tables; i++) free(b->tables[i]);
    for (int v = 0; v < SX_MAX_TENSORS; v++) free(b->idle[v]);
}

bool sx_bound_loses_reads(const sx_model *model, int tensor) {
    return model->shape[tensor].output && model->sparse && model->sparse->timeloop &&
           depends_on(model->sparse, tensor, 0);
}

uint32_t sx_outline_bound_apart(const sx_outline_bound *bounds, int v, int low, int high) {
    uint32_t number = 0;
    for (int s = low; s <= high; s++) number += bounds->bound->idle[v][bounds->spatial_point[s]];
    return number;
}

double sx_outline_bound_left(const sx_outline_bound *bounds, int v, int from, int to) {
    const sx_bound *b = bounds->bound;
    const double *table = b->effectual[v][from + 1];
    if (!table) return 1;
    bool all = from >= 0 && to + 1 == b->model->n_levels;
    uint32_t stays = all ? b->idle[v][bounds->open_point[from + 1]] : 0;
    return table[stays + sx_outline_bound_apart(bounds, v, from + 1, to)];
}

/* Whether every operand of a compute can be absent at once. */
static bool all_absent(const sx_model *model) {
    for (int v = 0; v < model->n_tensors; v++) {
        bool format = false;
        for (int s = 0; s < model->n_levels; s++) format |= model->sparse->format[s][v] != NULL;
        if (model->shape[v].output) continue;
        if (!format || sx_density_of_word(&model->sparse->density[v]) >= 1) return false;
    }
    return true;
}

/* The share of computes that skipping of a tensor's accesses leaves out at the most, as another one is zero. Where a
 * level skips and gates them, all counts as skipped. */
static double skipped_by(const sx_outline_bound *bounds, int target, int on) {
    const sx_bound *b = bounds->bound;
    const struct sx_sparse_model *sparse = b->model->sparse;
    int level = b->model->n_levels;
    bool skips = false;
    for (int i = 0; i < sparse->n_actions; i++)
        for (int k = 0; k < sparse->action[i].n_options; k++) {
            const sx_action_model *a = &sparse->action[i];
            if (a->option[k].target != target) continue;
            skips |= a->skips;
            if (a->option[k].on >> on & 1 && a->level < level) level = a->level;
        }
    if (!skips || level == b->model->n_levels) return 0;
    uint32_t box = sx_outline_bound_apart(bounds, target, 0, level);
    return 1 - nonempty_share(&sparse->density[on], bounds->cache, b->tile[on][box]);
}

double sx_outline_bound_busy(const sx_outline_bound *bounds) {
    const sx_model *model = bounds->bound->model;
    const struct sx_sparse_model *sparse = model->sparse;
    double busy = 1;
    if (!sparse || sparse->timeloop || model->range || sparse->skips || all_absent(model))
        return model->least_steps;
    for (int on = 0; on < model->n_tensors; on++) {
        double skipped = 0;
        for (int v = 0; v < model->n_tensors && !model->shape[on].output; v++)
            if (!model->shape[v].output) skipped += skipped_by(bounds, v, on);
        busy *= fmax(1 - skipped, sx_density_of_word(&sparse->density[on]));
    }
    return fmax(model->least_steps, busy * ROUNDING);
}
