/* The least energy of all flows into a level and those outside it, for every tile of that level.
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

/* What the level outside c leaves, as steps over the lattice. */
typedef struct step {
    sx_rest *rest;
    int c;
    unsigned profit, going;      /* tensors in the class; those that go on */
    uint8_t most[SX_MAX_DIGITS]; /* exponents of E' / spatial */
    uint32_t shift;              /* from E' / spatial to E' */
} step;

/* The exponent of a prime in a number. */
static uint8_t exponent(uint32_t number, uint32_t prime) {
    uint8_t e = 0;
    for (; number % prime == 0; number /= prime) e++;
    return e;
}

/* The least of the tables of the next level whose class has all tensors that go on. */
static double next(const step *s, uint32_t point) {
    const sx_bound *b = s->rest->bound;
    if (s->c + 2 == b->model->n_levels) return point + 1 == b->lattice.n_points && !s->going ? 0 : INFINITY;
    double least = INFINITY;
    for (int o = 0; o < b->n_classes; o++)
        if (!(s->going & ~b->profit[o])) least = fmin(least, s->rest->table[s->c + 1][o][point]);
    return least;
}

/* The value of a choice of E'. */
static double value(const step *s, uint32_t point) {
    const sx_rest *rest = s->rest;
    double sum = next(s, point + s->shift);
    for (unsigned left = s->profit; left && sum < INFINITY; left &= left - 1) {
        int v = __builtin_ctz(left);
        double weight = rest->measure[0].weight[v][s->c + 1];
        sum += weight * (s->going >> v & 1 ? rest->bound->least[v] * rest->apart[v][s->c + 1]
                                           : rest->bound->still[v][point]);
    }
    return sum;
}

/* Sets the scratch table to the least over all choices of E'. */
static void choose(const step *s, unsigned dims) {
    const sx_lattice *l = &s->rest->bound->lattice;
    double *at = s->rest->scratch;
    uint8_t digit[SX_MAX_DIGITS] = {0};
    for (uint32_t i = 0; i < l->n_points; i++) at[i] = INFINITY;
    for (uint32_t point = 0;;) {
        at[point] = value(s, point);
        int k = 0;
        for (; k < l->n_digits && digit[k] == s->most[k]; k++) {
            point -= digit[k] * l->stride[k];
            digit[k] = 0;
        }
        if (k == l->n_digits) break;
        digit[k]++;
        point += l->stride[k];
    }
    ascend(l, dims, at);
}

/* Fills the table of a level and a class. */
static void fill(sx_rest *rest, int c, int o) {
    const sx_bound *b = rest->bound;
    const sx_lattice *l = &b->lattice;
    step s = {.rest = rest, .c = c, .profit = b->profit[o]};
    unsigned all = (1u << b->model->n_tensors) - 1, may_go = 0;
    double *table = rest->table[c][o];
    for (int k = 0; k < l->n_digits; k++) {
        uint8_t used = exponent(rest->outline.spatial[c + 1][l->dim[k]], l->prime[k]);
        s.most[k] = (uint8_t)(l->top[k] - used);
        s.shift += used * l->stride[k];
    }
    choose(&s, UINT16_MAX);
    for (uint32_t i = 0; i < l->n_points; i++) table[i] = rest->scratch[i];
    for (int v = 0; v < b->model->n_tensors; v++)
        if (s.profit >> v & 1 && rest->measure[0].weight[v][c + 1] > 0) may_go |= 1u << v;
    for (s.going = may_go; s.going; s.going = (s.going - 1) & may_go) {
        unsigned dims = UINT16_MAX;
        for (unsigned left = s.going; left; left &= left - 1) dims &= b->idle[__builtin_ctz(left)];
        choose(&s, dims);
        for (uint32_t i = 0; i < l->n_points; i++) table[i] = fmin(table[i], rest->scratch[i]);
    }
    for (uint32_t i = 0; i < l->n_points; i++) {
        if (table[i] == INFINITY) continue;
        if (!fits(rest, c, i)) table[i] = INFINITY;
        for (unsigned left = all & ~s.profit; left; left &= left - 1) {
            int v = __builtin_ctz(left);
            table[i] += rest->measure[0].weight[v][c + 1] * b->fills[v][i];
        }
    }
}

void sx_rest_tabulate(sx_rest *rest) {
    const sx_bound *b = rest->bound;
    for (int c = b->model->n_levels - 2; c >= 0; c--)
        for (int o = 0; o < b->n_classes; o++) fill(rest, c, o);
    rest->tables = true;
}
