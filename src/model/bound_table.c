/* The least energy, or use of a port, of all flows into a level and those outside it, for every tile of that
 * level.
 *
 * Source: the divisor-lattice decomposition of exact mappers for even mappings. Let E be the tile of level c,
 * t the temporal loops of level c + 1, E' = E * spatial * t its tile, w the weights of an outline. If the
 * innermost loop of the first level outside c that has any is of class o, then tensors outside o move at
 * once: their flow into c is fills(E). Those in o gain at most all their idle loops of that level: their flow
 * is at least still(E' / spatial), which depends on E' alone (it includes a minimum over what the tile of a
 * window may have been). Unless level c + 1 has only loops that are idle for such a tensor: then it gains
 * from the next level with loops too, if that one's class o' has the tensor, and its flow is at least the
 * least of all. So table(c, o, E) = sum of w fills(E) over tensors outside o
 *                      + min over E' of  sum of w still(E'/spatial) over o  +  min over o' of table(c+1, o',
 * E') and the same for each set S of tensors in o and o' that go on, with E' different from E only in
 * dimensions that are idle for all of S (a level without loops is among these). Tiles that do not fit have an
 * infinite table. The minima over multiples are one pass per prime over the lattice.
 *
 * Complexity: O(levels * classes * sets * points * primes) per outline. */
#include "model/bound.h"

#include <math.h>

/* Takes the least over all multiples in some dimensions. */
static void ascend(const sx_lattice *l, unsigned dims, double *at) {
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

/* Whether the tiles that a level keeps fit at a point. */
static bool fits(const sx_rest *rest, int s, uint32_t point) {
    const sx_bound *b = rest->bound;
    const sx_level *level = &b->model->level[s];
    double words = 0, banks = 0;
    if (!level->limited) return true;
    for (unsigned keep = rest->outline.keep[s]; keep; keep &= keep - 1) {
        double tile = b->tile[__builtin_ctz(keep)][point];
        words += tile;
        if (level->bank_words > 0) banks += ceil(tile / level->bank_words);
    }
    return words <= level->effective && (level->bank_words == 0 || banks <= level->banks);
}

/* The exponent of a prime in a number. */
static uint32_t exponent(uint32_t number, uint32_t prime) {
    uint32_t e = 0;
    for (; number % prime == 0; number /= prime) e++;
    return e;
}

/* Numbers the tiles that the spatial loops leave: what temporal loops alone make of them. */
static void number_tiles(sx_rest *rest) {
    const sx_lattice *l = &rest->bound->lattice;
    sx_lattice *sub = &rest->tiles;
    uint32_t stride[SX_MAX_DIGITS], digit[SX_MAX_DIGITS] = {0};
    *sub = (sx_lattice){.n_points = 1};
    for (int s = 0; s < rest->bound->model->n_levels; s++) rest->below[s] = 0;
    for (int k = 0; k < l->n_digits; k++) {
        uint32_t used = 0;
        for (int s = 0; s < rest->bound->model->n_levels; s++) {
            used += exponent(rest->outline.spatial[s][l->dim[k]], l->prime[k]);
            rest->below[s] += used * l->stride[k];
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
        rest->whole[i] = whole;
        rest->inside[whole] = i;
        for (int k = 0; k < sub->n_digits; k++) {
            whole += stride[k];
            if (++digit[k] <= sub->top[k]) break;
            whole -= digit[k] * stride[k];
            digit[k] = 0;
        }
    }
}

/* A choice of the loops of level c + 1: the tensors in its class, and those of them that go on. */
typedef struct step {
    sx_rest *rest;
    int measure, c;
    unsigned profit, going;
} step;

/* Sets the scratch table to the least of the tables of the next level whose class has all tensors that go on.
 */
static void set_next(const step *s) {
    const sx_bound *b = s->rest->bound;
    uint32_t n = s->rest->tiles.n_points;
    double *at = s->rest->scratch;
    for (uint32_t i = 0; i < n; i++) at[i] = INFINITY;
    if (s->c + 2 == b->model->n_levels) {
        at[n - 1] = 0;
        return;
    }
    for (int o = 0; o < b->n_classes; o++) {
        const double *table = s->rest->table[s->measure][s->c + 1][o];
        if (s->going & ~b->profit[o]) continue;
        for (uint32_t i = 0; i < n; i++) at[i] = at[i] < table[i] ? at[i] : table[i];
    }
}

/* Sets the scratch table to the least over all tiles of level c + 1 that differ in some dimensions. */
static void choose(const step *s, unsigned dims) {
    const sx_rest *rest = s->rest;
    const sx_bound *b = rest->bound;
    double *at = rest->scratch;
    set_next(s);
    for (unsigned left = s->profit; left; left &= left - 1) {
        int v = __builtin_ctz(left);
        double weight = rest->measure[s->measure].weight[v][s->c + 1];
        const double *still = b->still[v] + rest->below[s->c];
        double floor = weight * b->least[v] * rest->apart[v][s->c + 1];
        if (weight == 0) continue;
        if (s->going >> v & 1)
            for (uint32_t i = 0; i < rest->tiles.n_points; i++) at[i] += floor;
        else
            for (uint32_t i = 0; i < rest->tiles.n_points; i++) at[i] += weight * still[rest->whole[i]];
    }
    ascend(&rest->tiles, dims, at);
}

/* Fills the table of a measure, a level and a class. */
static void fill(sx_rest *rest, int measure, int c, int o) {
    const sx_bound *b = rest->bound;
    step s = {.rest = rest, .measure = measure, .c = c, .profit = b->profit[o]};
    unsigned all = (1u << b->model->n_tensors) - 1, may_go = 0;
    uint32_t n = rest->tiles.n_points;
    double *table = rest->table[measure][c][o];
    choose(&s, UINT16_MAX);
    for (uint32_t i = 0; i < n; i++) table[i] = rest->scratch[i];
    for (int v = 0; v < b->model->n_tensors && c + 2 < b->model->n_levels; v++)
        if (s.profit >> v & 1 && rest->measure[measure].weight[v][c + 1] > 0) may_go |= 1u << v;
    for (s.going = may_go; s.going; s.going = (s.going - 1) & may_go) {
        unsigned dims = UINT16_MAX;
        for (unsigned left = s.going; left; left &= left - 1) dims &= b->idle[__builtin_ctz(left)];
        choose(&s, dims);
        for (uint32_t i = 0; i < n; i++) table[i] = table[i] < rest->scratch[i] ? table[i] : rest->scratch[i];
    }
    for (unsigned left = all & ~s.profit; left; left &= left - 1) {
        int v = __builtin_ctz(left);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t point = rest->whole[i] + rest->below[c];
            table[i] += sx_measure_weight(b, &rest->measure[measure], v, c + 1, point) * b->fills[v][point];
        }
    }
    for (uint32_t i = 0; i < n; i++)
        if (table[i] < INFINITY && !fits(rest, c, rest->whole[i] + rest->below[c])) table[i] = INFINITY;
}

void sx_rest_tabulate(sx_rest *rest) {
    const sx_bound *b = rest->bound;
    number_tiles(rest);
    rest->n_tabled = rest->n_measures < SX_MAX_TABLED ? rest->n_measures : SX_MAX_TABLED;
    for (int m = 0; m < rest->n_tabled; m++)
        for (int c = b->model->n_levels - 2; c >= 0; c--)
            for (int o = 0; o < b->n_classes; o++) fill(rest, m, c, o);
    rest->tables = true;
}
