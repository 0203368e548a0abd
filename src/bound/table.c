/* The least energy, or use of a port, of all flows into a level and those outside it, for every tile of that
 * level.
 *
 * Source: the divisor-lattice decomposition of exact mappers for even mappings. Let E be the tile of level c,
 * t the temporal loops of level c + 1, E' = E * spatial * t its tile. The flow of a tensor into c costs
 * h(E) * times(E), where h depends on the form of the tile (bound.h), less by the irrelevant loops that
 * follow; of tensors with windows h is another where the next loop is irrelevant (link.c). If the innermost loop of
 * the first level outside c that has any is of class o, then tensors outside
 * o move at once. Those in o gain at most all their irrelevant loops of that level: they cost at least
 * h(E) * times(E' / spatial). Unless level c + 1 has only loops that are idle for such a tensor: then it
 * gains from the next level with loops too, if that one's class o' has the tensor, and costs at least h(E)
 * times the least of `times`. So
 *   table(c, o, E) = sum of h(E) times(E) over tensors outside o
 *     + min over E' of  sum of h(E) times(E'/spatial) over o  +  min over o' of table(c+1, o', E')
 * and the same for each set S of tensors in o and o' that go on, with E' different from E only in dimensions
 * that are idle for all of S (a level without loops is among these). Tiles that do not fit have an infinite
 * table. The minima over multiples are one pass per prime over the lattice, for one h; as the minimum of
 * functions that are linear in h is concave in h, what lies on the chord between two of them is a bound for
 * all h in between. So a few h are taken for the one tensor in o whose form matters most, and the least for
 * others.
 *
 * Complexity: O(levels * classes * sets * points * primes) per outline. */
#include "bound/table.h"
#include "bound/first.h"
#include "bound/outline.h"
#include "model/capacity.h"

#include "base/extreme.h"

#include <math.h>
#include <string.h>

void sx_lattice_ascend(const sx_lattice *l, unsigned dims, double *at) {
    for (int k = 0; k < l->n_digits; k++) {
        uint32_t stride = l->stride[k], block = stride * (l->top[k] + 1u);
        if (!(dims >> l->dim[k] & 1)) continue;
        for (uint32_t i = 0; i < l->n_points; i += block)
            for (uint32_t e = l->top[k]; e-- > 0;) {
                double *low = at + i + (size_t)e * stride;
                const double *high = low + stride;
                for (uint32_t j = 0; j < stride; j++) low[j] = low[j] < high[j] ? low[j] : high[j];
            }
    }
}

bool sx_bound_fits(const sx_bound *b, int s, unsigned keep, uint32_t point) {
    const sx_level *level = &b->model->level[s];
    sx_occupancy use = {0, 0};
    if (!level->limited) return true;
    for (; keep; keep &= keep - 1) {
        int v = __builtin_ctz(keep);
        sx_occupancy_add(&use, level, v, b->tile[v][point]);
    }
    return sx_level_fits(level, &use);
}

/* Lists the tiles of a level that fit. */
static void list_fitting(sx_outline_bound *bounds, int c) {
    bounds->n_fitting = 0;
    for (uint32_t i = 0; i < bounds->tiles.n_points; i++)
        if (sx_bound_fits(bounds->bound, c, bounds->outline.keep[c], bounds->whole[i] + bounds->below[c]))
            bounds->fitting[bounds->n_fitting++] = i;
}

void sx_outline_bound_number(sx_outline_bound *bounds) {
    if (bounds->numbered) return;
    bounds->numbered = true;
    const sx_lattice *l = &bounds->bound->lattice;
    sx_lattice *sub = &bounds->tiles;
    uint32_t stride[SX_MAX_DIGITS], digit[SX_MAX_DIGITS] = {0};
    *sub = (sx_lattice){.n_points = 1};
    for (int s = 0; s < bounds->bound->model->n_levels; s++) bounds->below[s] = 0;
    for (int k = 0; k < l->n_digits; k++) {
        uint32_t used = 0;
        for (int s = 0; s < bounds->bound->model->n_levels; s++) {
            used += sx_prime_exponent(bounds->outline.spatial[s][l->dim[k]], l->prime[k]);
            bounds->below[s] += used * l->stride[k];
        }
        if (used == l->top[k]) continue;
        int n = sub->n_digits++;
        sub->dim[n] = l->dim[k];
        sub->top[n] = (uint8_t)(l->top[k] - used);
        sub->stride[n] = sub->n_points;
        sub->n_points *= sub->top[n] + 1u;
        stride[n] = l->stride[k];
    }
    for (uint32_t i = 0, whole = 0; i < sub->n_points; i++) {
        bounds->loops[i] = 0;
        for (int k = 0; k < sub->n_digits; k++) bounds->loops[i] |= (uint16_t)((digit[k] > 0) << sub->dim[k]);
        bounds->whole[i] = whole;
        bounds->inside[whole] = i;
        for (int k = 0; k < sub->n_digits; k++) {
            whole += stride[k];
            if (++digit[k] <= sub->top[k]) break;
            whole -= digit[k] * stride[k];
            digit[k] = 0;
        }
    }
}

/* A choice of the loops of level c + 1: the tensors in its class, those of them that go on, and what all
 * forms of one cost. */
typedef struct step {
    sx_outline_bound *bounds;
    int measure, c;
    unsigned profit, going;
    int formed; /* -1: none */
    double h;
} step;

/* Sets the scratch table to the least of the tables of the next level whose class has all tensors that go on.
 */
static void set_next(const step *s) {
    const sx_bound *b = s->bounds->bound;
    uint32_t n = s->bounds->tiles.n_points;
    double *at = s->bounds->scratch;
    for (uint32_t i = 0; i < n; i++) at[i] = INFINITY;
    for (int o = 0; o < b->n_classes; o++) {
        const double *table = s->bounds->table[s->measure][s->c + 1][o];
        if (s->going & ~b->profit[o]) continue;
        for (uint32_t i = 0; i < n; i++) at[i] = at[i] < table[i] ? at[i] : table[i];
    }
}

/* The same where level c + 1 is the outermost, whose tile is everything. */
static void choose_all(const step *s) {
    const sx_outline_bound *bounds = s->bounds;
    const sx_bound *b = bounds->bound;
    uint32_t n = bounds->tiles.n_points, all = bounds->whole[n - 1] + bounds->below[s->c];
    double sum = 0;
    for (unsigned left = s->profit & ~s->going; left; left &= left - 1) {
        int v = __builtin_ctz(left);
        sum += (v == s->formed ? s->h : bounds->least_stay[s->measure][v][s->c + 1]) * b->times[v][all] *
               sx_outline_bound_idle_share(bounds, s->measure, v, s->c + 1, all);
    }
    for (uint32_t i = 0; i < n; i++) bounds->scratch[i] = sum;
}

/* Sets the scratch table to the least over all tiles of level c + 1 that differ in some dimensions; what
 * tensors that go on cost is left out. */
static void choose_tiles(const step *s, unsigned dims) {
    const sx_outline_bound *bounds = s->bounds;
    const sx_bound *b = bounds->bound;
    double *at = bounds->scratch;
    if (s->c + 2 == b->model->n_levels) {
        choose_all(s);
        return;
    }
    set_next(s);
    for (unsigned left = s->profit & ~s->going; left; left &= left - 1) {
        int v = __builtin_ctz(left);
        double h = v == s->formed ? s->h : bounds->least_stay[s->measure][v][s->c + 1];
        const double *times = b->times[v] + bounds->below[s->c];
        if (h == 0) continue;
        if (!b->effectual[v][s->c + 1])
            for (uint32_t i = 0; i < bounds->tiles.n_points; i++) at[i] += h * times[bounds->whole[i]];
        else
            for (uint32_t i = 0; i < bounds->tiles.n_points; i++)
                at[i] += h * times[bounds->whole[i]] *
                         sx_outline_bound_idle_share(bounds, s->measure, v, s->c + 1,
                                                     bounds->whole[i] + bounds->below[s->c]);
    }
    sx_lattice_ascend(&bounds->tiles, dims, at);
}

/* What a form of a tile costs that stays, at a point of the tiles. */
static double form_cost(const step *s, int v, uint32_t i) {
    const sx_outline_bound *bounds = s->bounds;
    const double *cost = bounds->stay[s->measure][v][s->c + 1];
    return cost ? cost[bounds->bound->form_of[v][bounds->whole[i] + bounds->below[s->c]]] : 0;
}

/* Lowers a table to the scratch table plus what tensors that go on cost. */
static void lower_table(const step *s, double *table) {
    const sx_outline_bound *bounds = s->bounds;
    for (uint32_t k = 0; k < bounds->n_fitting; k++) {
        uint32_t i = bounds->fitting[k];
        double sum = bounds->scratch[i];
        if (sum >= table[i]) continue;
        for (unsigned left = s->going; left; left &= left - 1) {
            int v = __builtin_ctz(left);
            sum += form_cost(s, v, i) * bounds->apart[v][s->c + 1] *
                   sx_outline_bound_stay_share(bounds, s->measure, v, s->c + 1,
                                               bounds->whole[i] + bounds->below[s->c]);
        }
        table[i] = table[i] < sum ? table[i] : sum;
    }
}

/* What lies on the chord between two of a few values, at a place among theirs. */
static double on_chord(const double *h, int n, double at, const double *value) {
    int k = 0;
    while (k + 2 < n && at > h[k + 1]) k++;
    if (n == 1 || at <= h[k] || value[k] == INFINITY) return value[k];
    double share = sx_lesser(1, (at - h[k]) / (h[k + 1] - h[k]));
    return value[k] + share * (value[k + 1] - value[k]);
}

/* Counts a pass over all tiles; whether the tables should be ended early. */
static bool is_halted(sx_outline_bound *bounds) {
    enum { POLL = 1 << 18 };
    if (!bounds->halt || bounds->halted) return bounds->halted;
    if ((bounds->unpolled += bounds->tiles.n_points) < POLL) return false;
    bounds->unpolled = 0;
    return bounds->halted = bounds->halt->asked(bounds->halt->user);
}

/* Lowers a table to the chords between those of a few costs of the forms of one tensor. */
static void lower_chords(step *s, unsigned dims, double *table) {
    sx_outline_bound *bounds = s->bounds;
    const double *cost = bounds->stay[s->measure][s->formed][s->c + 1];
    double low = bounds->least_stay[s->measure][s->formed][s->c + 1], high = low, h[SX_MAX_CHORDS];
    const sx_form_list forms = sx_outline_bound_forms(bounds, s->formed, s->c);
    for (uint32_t k = 0; k < forms.n; k++) high = sx_larger(high, cost[forms.form[k]]);
    int n = high > low * 1.001 ? SX_MAX_CHORDS : 1;
    for (int k = 0; k < n; k++) {
        if (is_halted(bounds)) return;
        s->h = h[k] = k == 0 ? low : low * pow(high / low, k / (SX_MAX_CHORDS - 1.0));
        choose_tiles(s, dims);
        for (uint32_t j = 0; j < bounds->n_fitting; j++)
            bounds->chord[j * SX_MAX_CHORDS + (unsigned)k] = bounds->scratch[bounds->fitting[j]];
    }
    for (uint32_t j = 0; j < bounds->n_fitting; j++) {
        uint32_t i = bounds->fitting[j];
        bounds->scratch[i] = on_chord(h, n, form_cost(s, s->formed, i), bounds->chord + j * SX_MAX_CHORDS);
    }
    lower_table(s, table);
}

/* The tensor of a class that does not go on whose forms differ most in what they cost; -1: none differ. */
static int most_formed(const step *s) {
    const sx_outline_bound *bounds = s->bounds;
    int most = -1;
    for (unsigned left = s->profit & ~s->going; left; left &= left - 1) {
        int v = __builtin_ctz(left);
        uint32_t n = bounds->bound->form[v].n_points;
        if (n > 1 && bounds->least_stay[s->measure][v][s->c + 1] > 0 &&
            (most < 0 || n > bounds->bound->form[most].n_points))
            most = v;
    }
    return most;
}

/* Fills the table of a measure, a level and a class. */
static void fill_table(sx_outline_bound *bounds, int measure, int c, int o) {
    const sx_bound *b = bounds->bound;
    step s = {.bounds = bounds, .measure = measure, .c = c, .profit = b->profit[o]};
    unsigned all = (1u << b->model->n_tensors) - 1, may_go = 0;
    uint32_t n = bounds->tiles.n_points;
    double *table = bounds->table[measure][c][o];
    for (uint32_t i = 0; i < n; i++) table[i] = INFINITY;
    for (int v = 0; v < b->model->n_tensors && c + 2 < b->model->n_levels; v++)
        if (s.profit >> v & 1 && bounds->cost[measure][v][c + 1]) may_go |= 1u << v;
    s.going = may_go;
    for (;; s.going = (s.going - 1) & may_go) {
        unsigned dims = UINT16_MAX;
        for (unsigned left = s.going; left; left &= left - 1) dims &= b->irrelevant[__builtin_ctz(left)];
        s.formed = most_formed(&s);
        if (s.formed >= 0) {
            lower_chords(&s, dims, table);
        } else {
            choose_tiles(&s, dims);
            lower_table(&s, table);
        }
        if (is_halted(bounds) || s.going == 0) break;
    }
    for (unsigned left = all & ~s.profit; left; left &= left - 1) {
        int v = __builtin_ctz(left);
        for (uint32_t k = 0; k < bounds->n_fitting && bounds->cost[measure][v][c + 1]; k++) {
            uint32_t i = bounds->fitting[k];
            uint32_t point = bounds->whole[i] + bounds->below[c];
            table[i] += sx_outline_bound_class_cost(bounds, measure, v, c + 1, point, o);
        }
    }
}

/* Sets the least of a level's tables over all classes. */
static void set_least_table(sx_outline_bound *bounds, int m, int c) {
    double *least = bounds->least_table[m][c];
    for (uint32_t i = 0; i < bounds->tiles.n_points; i++) least[i] = INFINITY;
    for (int o = 0; o < bounds->bound->n_classes; o++) {
        const double *table = bounds->table[m][c][o];
        for (uint32_t k = 0; k < bounds->n_fitting; k++) {
            uint32_t i = bounds->fitting[k];
            least[i] = least[i] < table[i] ? least[i] : table[i];
        }
    }
}

/* The least of a measure over all tiles of the innermost level; what the compute units fetch is at its least.
 */
static double least_tile(const sx_outline_bound *bounds, int m) {
    const sx_measure *measure = &bounds->measure[m];
    double least = INFINITY;
    if (m >= bounds->n_tabled || bounds->bound->model->n_levels == 1)
        return measure->constant + measure->tail[0];
    const double *table = bounds->least_table[m][0];
    for (uint32_t k = 0; k < bounds->n_fitting; k++) {
        double at = table[bounds->fitting[k]];
        least = at < least ? at : least;
    }
    return measure->constant + measure->tail[0] - measure->tail[1] + least;
}

sx_score sx_outline_bound_tabulate(sx_outline_bound *bounds, const sx_interrupt *halt) {
    const sx_bound *b = bounds->bound;
    bounds->halt = halt;
    bounds->halted = false;
    bounds->unpolled = 0;
    sx_outline_bound_quick(bounds, true);
    sx_outline_bound_number(bounds);
    sx_outline_bound_make_firsts(bounds);
    bounds->n_tabled = bounds->n_measures < SX_MAX_TABLED ? bounds->n_measures : SX_MAX_TABLED;
    for (int c = b->model->n_levels - 2; c >= 0 && !bounds->halted; c--) {
        list_fitting(bounds, c);
        for (int m = 0; m < bounds->n_tabled; m++) {
            for (int o = 0; o < b->n_classes && !bounds->halted; o++) fill_table(bounds, m, c, o);
            set_least_table(bounds, m, c);
        }
    }
    bounds->halt = NULL;
    if (bounds->halted) return sx_outline_bound_compulsory(bounds);
    bounds->tables = true;
    double cycles = 0;
    for (int m = 1; m < bounds->n_measures; m++) cycles = sx_larger(cycles, least_tile(bounds, m));
    return sx_outline_bound_score(bounds, least_tile(bounds, 0), cycles);
}

void sx_outline_bound_outer(sx_outline_bound *bounds, int level) {
    const sx_bound *b = bounds->bound;
    sx_outline_bound_number(bounds);
    sx_outline_bound_make_firsts(bounds);
    for (int c = b->model->n_levels - 2; c >= level; c--) {
        list_fitting(bounds, c);
        for (int o = 0; o < b->n_classes; o++) fill_table(bounds, 0, c, o);
    }
}
