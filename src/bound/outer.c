/* A bound of an outline that comes close to tables in a fraction of their time.
 *
 * Let q be the outermost level with spatial loops. All that flows into levels from q outward depends on the
 * tile of q and on what these levels keep, and not on the spatial mapping: the tables of table.c from q
 * outward are made once for every choice of that. Let E be a tile of level q - 1 and S the spatial loops of
 * q. The flows into q - 1 and beyond cost, where the next loop is of class o, at least
 *   sum of h(E) times(E) over tensors outside o  +  min over multiples E' of E S of  h(E) times(E' / S)
 *     + table(q, E')
 * for a tensor in o, whatever the others in o gain. As times(E' / S) is times(E') times the irrelevant loops
 * of S, the minimum is a function of E S and of the product of h(E) and these loops, in which it is concave:
 * it is tabulated for a few values, and chords between them are bounds too (as in table.c). Where level q has
 * only irrelevant loops for that tensor, it costs at least its least and what table(q, o', E') leaves for
 * classes o' that have it, E' differing in irrelevant dimensions alone: one more table. So per outline only
 * the tiles of level q - 1 are gone through. Flows into levels further in count their least; except, where q
 * is 1, those of operands that compute units may hand on, as these go on through level 0 where it has only
 * irrelevant loops.
 *
 * Complexity: some tables over the lattice once per choice; then a step per tile of level q - 1 and class. */
#include "bound/outer.h"
#include "bound/outline.h"
#include "bound/price.h"
#include "bound/table.h"

#include "base/extreme.h"
#include "base/status.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BITS = 12, MOST_POINTS = 1 << 19, STEPS = 7 };

/* The tables of a choice of what levels from the spatial mapping's outward keep. */
typedef struct outer {
    bool made, failed;
    double scale[SX_MAX_TENSORS][STEPS]; /* 0 first, ascending */
    float *gain[SX_MAX_TENSORS][STEPS];  /* the first ones are all the same: only that of tensor 0 is there */
    float *still[SX_MAX_TENSORS];
} outer;

struct sx_outer_tables {
    int level; /* of the spatial loops */
    pthread_mutex_t lock;
    uint8_t *fits[1 << SX_MAX_TENSORS]; /* under the lock: tiles of the level inside that fit, per set kept */
    size_t n;
    outer at[]; /* under the lock until they are made */
};

/* The outermost level with spatial loops; -1: none. */
static int find_array(const sx_model *model) {
    int s = model->n_levels - 1;
    while (s >= 0 && model->level[s].fanout_x * model->level[s].fanout_y <= 1) s--;
    return s;
}

/* The number of what levels from `level` outward keep. */
static uint32_t number_of(const sx_model *model, int level, const uint8_t *keep) {
    uint32_t number = 0;
    for (int s = model->n_levels - 1; s >= level; s--) number = number << model->n_tensors | keep[s];
    return number;
}

/* Not above a number. */
static float floor_of(double number) {
    float near = (float)number;
    return (double)near > number ? nextafterf(near, -INFINITY) : near;
}

/* A table of floats as large as the lattice; NULL when memory is out. */
static float *new_floats(const sx_bound *b, const double *from) {
    float *to = malloc(b->lattice.n_points * sizeof *to);
    for (uint32_t i = 0; to && i < b->lattice.n_points; i++) to[i] = floor_of(from[i]);
    return to;
}

/* Sets `at` to the least of the tables of a level over classes that have a tensor (-1: any). */
static void least_class(const sx_outline_bound *bounds, int level, int tensor, double *at) {
    const sx_bound *b = bounds->bound;
    uint32_t n = b->lattice.n_points;
    for (uint32_t i = 0; i < n; i++) at[i] = INFINITY;
    if (level + 1 == b->model->n_levels) {
        if (tensor < 0) at[n - 1] = 0;
        return;
    }
    for (int o = 0; o < b->n_classes; o++)
        for (uint32_t i = 0; i < n && (tensor < 0 || b->profit[o] >> tensor & 1); i++)
            at[i] = sx_lesser(at[i], bounds->table[0][level][o][i]);
}

/* The products of costs and loops that are tabulated for a tensor: from what a word costs to be read where
 * the level keeps it, to what all children pay at the most. */
static void set_scale(const sx_outline_bound *bounds, int v, outer *out) {
    const sx_bound *b = bounds->bound;
    int level = b->outer_tables->level;
    const sx_model *model = b->model;
    const sx_level *array = &model->level[level];
    sx_access_cost prices[SX_MAX_LEVELS];
    double most = 0, read = 0, fill = 0, least = b->least[v];
    sx_access_cost_energy(bounds, v, prices);
    for (uint32_t i = 0; i < b->form[v].n_points; i++) most = sx_larger(most, b->bare[v][i]);
    for (int s = level; s < model->n_levels && read == 0; s++)
        if (bounds->outline.keep[s] >> v & 1)
            read = prices[s].read + (model->shape[v].output ? prices[s].update : 0);
    for (int s = 0; s < level; s++) fill = sx_larger(fill, prices[s].fill + prices[s].hops);
    double low = least * read, high = most * (read + fill * (double)(array->fanout_x * array->fanout_y));
    out->scale[v][0] = 0;
    for (int k = 1; k < STEPS; k++)
        out->scale[v][k] = low > 0 ? low * pow(high / low, (k - 1) / (STEPS - 2.0)) : 0;
}

/* What zeros leave of a flow into the level inside, at the least, by irrelevant extents alone. */
static double idle_share(const sx_bound *b, int v, int level, uint32_t point) {
    const double *effectual = level > 0 ? b->effectual[v][level] : NULL;
    return effectual ? effectual[b->idle[v][point]] : 1;
}

/* Makes the tables of a choice; false when memory is out. */
static bool make_outer(const sx_bound *b, sx_outline_bound *bounds, double *at, outer *out) {
    const sx_model *model = b->model;
    int level = b->outer_tables->level;
    uint32_t n = b->lattice.n_points;
    sx_outline_bound_outer(bounds, level);
    bool good = true;
    for (int v = 0; v < model->n_tensors && good; v++) {
        set_scale(bounds, v, out);
        for (int k = 0; k < STEPS && good; k++) {
            if (k > 0 && out->scale[v][k] == 0) continue;
            if (k == 0 && v > 0) continue;
            least_class(bounds, level, -1, at);
            for (uint32_t i = 0; i < n && k > 0; i++)
                at[i] += out->scale[v][k] * b->times[v][i] * idle_share(b, v, level, i);
            sx_lattice_ascend(&b->lattice, UINT16_MAX, at);
            good = (out->gain[v][k] = new_floats(b, at)) != NULL;
        }
        least_class(bounds, level, v, at);
        sx_lattice_ascend(&b->lattice, b->irrelevant[v], at);
        good = good && (out->still[v] = new_floats(b, at)) != NULL;
    }
    return good;
}

/* Makes the tables of what an outline keeps, without its spatial mapping; false when memory is out. */
static bool make_choice(const sx_bound *b, const uint8_t *keep, outer *out) {
    int level = b->outer_tables->level;
    sx_outline_bound *bounds = NULL;
    sx_outline outline;
    memset(&outline, 0, sizeof outline);
    for (int s = 0; s < b->model->n_levels; s++) {
        if (s >= level) outline.keep[s] = keep[s];
        for (int d = 0; d < b->model->n_dims; d++) outline.spatial[s][d] = 1;
    }
    double *at = malloc(b->lattice.n_points * sizeof *at);
    sx_status status = sx_outline_bound_new(b, &bounds);
    bool good = !status && at;
    if (good) sx_outline_bound_begin(bounds, &outline);
    good = good && make_outer(b, bounds, at, out);
    sx_status_free(status);
    sx_outline_bound_free(bounds);
    free(at);
    return good;
}

/* The tables of what the outline keeps, and the tiles of the level inside that fit (where there is one); NULL
 * where there are none. */
static const outer *outer_of(const sx_outline_bound *bounds, const uint8_t **fits) {
    const sx_bound *b = bounds->bound;
    sx_outer_tables *all = b->outer_tables;
    const uint8_t *keep = bounds->outline.keep;
    if (!all) return NULL;
    outer *out = &all->at[number_of(b->model, all->level, keep)];
    uint8_t **fitting = all->level > 0 ? &all->fits[keep[all->level - 1]] : NULL;
    pthread_mutex_lock(&all->lock);
    if (!out->made && !out->failed) out->failed = !(out->made = make_choice(b, keep, out));
    if (fitting && !*fitting && (*fitting = malloc(b->lattice.n_points)))
        for (uint32_t i = 0; i < b->lattice.n_points; i++)
            (*fitting)[i] = sx_bound_fits(b, all->level - 1, keep[all->level - 1], i);
    pthread_mutex_unlock(&all->lock);
    *fits = fitting ? *fitting : NULL;
    return out->made && (!fitting || *fitting) ? out : NULL;
}

sx_status sx_bound_quicken(sx_bound *b) {
    const sx_model *model = b->model;
    int level = find_array(model), bits = model->n_tensors * (model->n_levels - level);
    if (level < 0 || bits > MOST_BITS || b->lattice.n_points > MOST_POINTS) return SX_OK;
    size_t n = (size_t)1 << bits;
    b->outer_tables = calloc(1, sizeof *b->outer_tables + n * sizeof *b->outer_tables->at);
    if (!b->outer_tables) return sx_error_memory();
    b->outer_tables->level = level;
    b->outer_tables->n = n;
    pthread_mutex_init(&b->outer_tables->lock, NULL);
    return SX_OK;
}

void sx_outer_tables_free(sx_outer_tables *all) {
    if (!all) return;
    for (size_t i = 0; i < all->n; i++)
        for (int v = 0; v < SX_MAX_TENSORS; v++) {
            for (int k = 0; k < STEPS; k++) free(all->at[i].gain[v][k]);
            free(all->at[i].still[v]);
        }
    for (size_t i = 0; i < sizeof all->fits / sizeof *all->fits; i++) free(all->fits[i]);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

/* Where a product stands on a scale: at `share` between two steps. */
typedef struct place {
    const float *low, *high;
    double share, still; /* and what the tensor costs where it goes on */
    double each, extra;  /* what a unit of `times` costs where it moves, and what comes on top */
} place;

/* The place of a tensor whose unit of `times` costs `each` where it stays. */
static place place_on(const outer *out, int v, double each, double irrelevant) {
    int k = 0, last = STEPS - 1;
    double product = each * irrelevant;
    while (last > 0 && out->scale[v][last] == 0) last--;
    while (k + 1 < last && product >= out->scale[v][k + 1]) k++;
    const float *first = out->gain[0][0];
    place p = {.low = k > 0 ? out->gain[v][k] : first, .high = last > 0 ? out->gain[v][k + 1] : first};
    double low = out->scale[v][k], high = last > 0 ? out->scale[v][k + 1] : low;
    p.share = high > low ? sx_lesser(1, (product - low) / (high - low)) : 0;
    p.still = product;
    return p;
}

/* A sweep over the tiles of the level inside the spatial mapping. */
typedef struct sweep {
    const sx_outline_bound *bounds;
    const outer *out;
    int c;
    unsigned linked;                       /* tensors whose operands compute units may hand on */
    double operand[SX_MAX_TENSORS];        /* what these cost per unit of `times`, at the tile of level 0 */
    const place *place[SX_MAX_TENSORS][2]; /* per form, without and with operands that go on */
} sweep;

/* A tile of that level, and a class of the loops inside it. */
typedef struct spot {
    uint32_t point, spread; /* the tile; and with the spatial mapping outside it */
    unsigned keep;          /* tensors that flow into the level */
    unsigned waits;         /* those of them whose operands go on, too */
} spot;

static const place *place_of(const sweep *s, const spot *at, int v) {
    return &s->place[v][at->waits >> v & 1][s->bounds->bound->form_of[v][at->point]];
}

static double stay_share(const sweep *s, const spot *at, int v) {
    return sx_outline_bound_stay_share(s->bounds, 0, v, s->c + 1, at->point);
}

/* What is outside a class of which these tensors flow, and where the others cost `sum`. */
static double close_class(const sweep *s, const spot *at, unsigned gains, double sum) {
    if (!gains) return sum + (double)s->out->gain[0][0][at->spread];
    int v = __builtin_ctz(gains);
    for (unsigned left = gains & (gains - 1); left; left &= left - 1)
        sum += place_of(s, at, __builtin_ctz(left))->still * stay_share(s, at, __builtin_ctz(left));
    const place *p = place_of(s, at, v);
    double low = (double)p->low[at->spread], moves = low;
    if (p->share > 0 && low < INFINITY) moves += p->share * ((double)p->high[at->spread] - low);
    return sum + sx_lesser(moves, p->still * stay_share(s, at, v) + (double)s->out->still[v][at->spread]);
}

/* The least of all flows into level c for a tile, and those outside. */
static double flow_out(const sweep *s, const spot *at) {
    const sx_bound *b = s->bounds->bound;
    double least = INFINITY, full[SX_MAX_TENSORS];
    for (unsigned left = at->keep; left; left &= left - 1) {
        int v = __builtin_ctz(left);
        const place *p = place_of(s, at, v);
        full[v] =
            p->each * b->times[v][at->point] * sx_outline_bound_share(s->bounds, 0, v, s->c + 1, at->point) +
            p->extra;
    }
    for (int o = 0; o < b->n_classes; o++) {
        double sum = 0;
        for (unsigned left = at->keep & ~(unsigned)b->profit[o]; left; left &= left - 1)
            sum += full[__builtin_ctz(left)];
        least = sx_lesser(least, close_class(s, at, at->keep & b->profit[o], sum));
    }
    return least;
}

/* The same with what the compute units fetch of tensors that they may hand on, where the loops of level 0 are
 * of a class: others move at once; those in it gain what level 0 has of irrelevant loops, and where it has no
 * others they go on as if level 0 kept them. */
static double feed_class(const sweep *s, spot at, unsigned loops, unsigned profit) {
    const sx_bound *b = s->bounds->bound;
    double sum = 0;
    for (unsigned left = s->linked; left; left &= left - 1) {
        int v = __builtin_ctz(left);
        bool goes_on = !(loops & ~(unsigned)b->irrelevant[v]);
        if (loops && !(profit >> v & 1))
            sum += s->operand[v] * b->times[v][s->bounds->below[0]];
        else if (!goes_on)
            sum += s->operand[v] * b->times[v][at.point];
        else
            at.waits |= 1u << v;
    }
    at.keep |= at.waits;
    return sum + flow_out(s, &at);
}

/* The least of all flows for a tile; those into levels further in are left out, except for operands. */
static double try_tile(const sweep *s, uint32_t i) {
    const sx_outline_bound *bounds = s->bounds;
    const sx_bound *b = bounds->bound;
    spot at = {.point = bounds->whole[i] + bounds->below[s->c],
               .spread = bounds->whole[i] + bounds->below[s->c + 1],
               .keep = bounds->outline.keep[s->c]};
    if (!s->linked) return flow_out(s, &at);
    double least = INFINITY;
    for (int o = 0; o < (bounds->loops[i] ? b->n_classes : 1); o++)
        least = sx_lesser(least, feed_class(s, at, bounds->loops[i], b->profit[o]));
    return least;
}

/* The tiles of level c that fit and have room outside, in the order of their numbers; NULL when memory is
 * out.
 */
static const uint32_t *list_tiles(sx_outline_bound *bounds, int c, const uint8_t *fits, uint32_t *n) {
    unsigned keep = bounds->outline.keep[c];
    uint32_t *list = bounds->fit[keep];
    if (!list) list = bounds->fit[keep] = malloc(bounds->bound->lattice.n_points * sizeof *list);
    if (list && !bounds->fit_known[keep]) {
        bounds->fit_known[keep] = true;
        bounds->n_fit[keep] = 0;
        for (uint32_t i = 0; i < bounds->tiles.n_points; i++)
            if (fits[bounds->whole[i] + bounds->below[c]]) list[bounds->n_fit[keep]++] = i;
    }
    *n = bounds->n_fit[keep];
    return list;
}

/* Goes through all tiles that fit. For the least alone, tiles are passed over where all that flows costs no
 * less at its least; otherwise what is found for each is noted. */
static double sweep_tiles(const sweep *s, sx_outline_bound *bounds, const uint32_t *list, uint32_t n,
                          bool notes) {
    const float *outside = s->out->gain[0][0];
    double least = INFINITY, at_least = 0;
    uint32_t below = bounds->below[s->c + 1], tried = 0;
    for (unsigned left = bounds->outline.keep[s->c]; left; left &= left - 1)
        at_least += bounds->least[0][__builtin_ctz(left)][s->c + 1] *
                    bounds->apart[__builtin_ctz(left)][s->c + 1] *
                    sx_outline_bound_stay_share(bounds, 0, __builtin_ctz(left), s->c + 1, 0);
    for (uint32_t i = 0; i < bounds->tiles.n_points && notes; i++) bounds->swept[i] = INFINITY;
    for (uint32_t k = 0; k < n; k++) {
        double beyond = (double)outside[bounds->whole[list[k]] + below];
        if (beyond == INFINITY || (!notes && beyond + at_least >= least)) continue;
        double found = try_tile(s, list[k]);
        least = sx_lesser(least, found);
        if (notes) bounds->swept[list[k]] = found;
        tried++;
    }
    uint64_t classes = (unsigned)s->bounds->bound->n_classes, flows = s->linked ? classes * classes : classes;
    bounds->work += n / 24 + tried * flows / 8 + 1;
    return least;
}

/* Sets where the tensors that flow into level c stand on the scales, per form that is possible. */
static void set_places(sx_outline_bound *bounds, const outer *out, sweep *s) {
    const sx_bound *b = bounds->bound;
    place *at = bounds->places;
    int c = s->c;
    for (int v = 0; v < b->model->n_tensors; v++) {
        bool kept = bounds->outline.keep[c] >> v & 1 && bounds->cost[0][v][c + 1];
        const sx_form_list forms = sx_outline_bound_forms(bounds, v, c);
        for (int waits = 0; waits < 2; waits++, at += b->form[v].n_points) {
            s->place[v][waits] = at;
            if (waits ? !(s->linked >> v & 1) : !(bounds->outline.keep[c] >> v & 1)) continue;
            for (uint32_t k = 0; k < forms.n; k++) {
                const uint32_t i = forms.form[k];
                double operand = waits ? s->operand[v] : 0, cost = kept ? bounds->cost[0][v][c + 1][i] : 0;
                double stay = kept ? bounds->stay[0][v][c + 1][i] : 0;
                at[i] = place_on(out, v, stay + operand, bounds->apart[v][c + 1]);
                at[i].each = cost + operand;
                at[i].extra = kept ? bounds->extra[0][v][c + 1][i] : 0;
            }
        }
    }
}

/* Sets what operands cost that compute units may hand on; returns what they count in the least of all. */
static double set_operands(const sx_outline_bound *bounds, sweep *s) {
    const sx_bound *b = bounds->bound;
    double least = 0;
    for (int v = 0; v < b->model->n_tensors && s->c == 0; v++) {
        if (!bounds->linked[v] || !bounds->cost[0][v][0]) continue;
        s->linked |= 1u << v;
        s->operand[v] = bounds->cost[0][v][0][0] * bounds->apart[v][0] / bounds->apart[v][1];
        least += bounds->least[0][v][0] * bounds->apart[v][0];
    }
    return least;
}

sx_score sx_outline_bound_quick(sx_outline_bound *bounds, bool notes) {
    const sx_bound *b = bounds->bound;
    const sx_measure *energy = &bounds->measure[0];
    const uint8_t *fits;
    const outer *out = outer_of(bounds, &fits);
    if (!out) return sx_outline_bound_compulsory(bounds);
    sweep s = {.bounds = bounds, .out = out, .c = b->outer_tables->level - 1};
    double cycles = 0, beyond,
           inside = energy->constant + energy->tail[0] - energy->tail[s.c >= 0 ? s.c + 1 : 1];
    for (int i = 1; i < bounds->n_measures; i++)
        cycles = sx_larger(cycles, bounds->measure[i].constant + bounds->measure[i].tail[0]);
    sx_outline_bound_number(bounds);
    if (s.c >= 0) {
        uint32_t n;
        const uint32_t *list = list_tiles(bounds, s.c, fits, &n);
        if (!list) return sx_outline_bound_compulsory(bounds);
        inside -= set_operands(bounds, &s);
        set_places(bounds, out, &s);
        beyond = sweep_tiles(&s, bounds, list, n, notes && s.c == 0);
        if (notes && s.c == 0) bounds->inside_swept = inside;
    } else {
        beyond = (double)out->gain[0][0][bounds->below[0]];
    }
    return sx_outline_bound_score(bounds, inside + beyond, cycles);
}

size_t sx_place_size(void) {
    return 2 * sizeof(place);
}
