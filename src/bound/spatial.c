/* A bound of all mappings of a spatial mapping, whatever levels keep.
 *
 * For every choice of what levels keep, the energy is at least the sum over levels of what they are filled
 * with. Into level c flows of each tensor cost at least the least over all forms; and together they cost at
 * least what the best tile that fits makes of them: with p(v) the least price of a word and F(v, E) the words
 * that a tile E causes whatever the outline (window.c), the least over tiles of sum p(v) F(v, E),
 * where the tensors of one class of orders count only their least, as irrelevant loops may follow. The tiles
 * that matter are those whose F no other tile that fits undercuts in all tensors: the Pareto front of a level
 * and a set of kept tensors. It is the same for all spatial mappings.
 *
 * Complexity: O(points * primes + front^2) per level and set of tensors, once; then per spatial mapping a
 * step for each choice of what levels keep and each row of its Pareto fronts. */
#include "bound/effectual.h"
#include "bound/front.h"
#include "bound/outline.h"
#include "bound/price.h"
#include "bound/table.h"

#include "base/extreme.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The words that a tile of a level causes, for each tensor of a set, one after another. */
static void tile_flows(const sx_bound *b, int level, unsigned set, uint32_t point, double *out) {
    for (; set; set &= set - 1) {
        int v = __builtin_ctz(set);
        const double *effectual = b->effectual[v][level + 1];
        *out++ = b->moved[v][b->form_of[v][point]] * b->times[v][point] * (effectual ? effectual[point] : 1);
    }
}

/* Whether a larger tile that fits causes no more. */
static bool is_passed(const sx_bound *b, int level, unsigned keep, uint32_t point, const double *flows) {
    const sx_lattice *l = &b->lattice;
    double larger[SX_MAX_TENSORS];
    for (int k = 0; k < l->n_digits; k++) {
        uint32_t next = point + l->stride[k];
        if (point / l->stride[k] % (l->top[k] + 1u) == l->top[k]) continue;
        if (!sx_bound_fits(b, level, keep, next)) continue;
        tile_flows(b, level, keep, next, larger);
        if (sx_traffic_undercuts(larger, flows, __builtin_popcount(keep))) return true;
    }
    return false;
}

/* Whether a loop at step i should end early. */
static bool is_halted(const sx_interrupt *halt, uint32_t i) {
    enum { POLL = 4096 };
    return halt && i % POLL == 0 && halt->asked(halt->user);
}

/* Makes the Pareto front of a level and a set of tensors, empty where it is ended early; false when memory is
 * out.
 */
static bool make_traffic_front(const sx_bound *b, int level, unsigned keep, const sx_interrupt *halt,
                               sx_traffic_front *sky) {
    size_t room = 0;
    double flows[SX_MAX_TENSORS];
    bool good = true, halted = false;
    *sky = (sx_traffic_front){.made = true};
    for (uint32_t i = 0; i < b->lattice.n_points && good && !halted; i++) {
        halted = is_halted(halt, i);
        if (!sx_bound_fits(b, level, keep, i)) continue;
        tile_flows(b, level, keep, i, flows);
        if (!is_passed(b, level, keep, i, flows))
            good = sx_traffic_front_add(sky, &room, __builtin_popcount(keep), flows);
    }
    if (good && !halted) halted = !sx_traffic_front_thin(sky, __builtin_popcount(keep), halt);
    if (halted) sky->n = 0;
    return good;
}

sx_status sx_bound_survey(sx_bound *b, const uint8_t *must, const uint8_t *may, const sx_interrupt *halt) {
    for (int s = 0; s + 1 < b->model->n_levels; s++) {
        unsigned more = (unsigned)may[s] & ~(unsigned)must[s], some = 0;
        if (!b->traffic_front[s])
            b->traffic_front[s] = calloc((size_t)1 << b->model->n_tensors, sizeof *b->traffic_front[s]);
        if (!b->traffic_front[s]) return sx_error_memory();
        do {
            unsigned keep = must[s] | some;
            if (keep && !b->traffic_front[s][keep].made &&
                !make_traffic_front(b, s, keep, halt, &b->traffic_front[s][keep]))
                return sx_error_memory();
            some = (some - more) & more;
        } while (some);
    }
    return SX_OK;
}

/* What a route costs at the least, and a word of it. */
typedef struct toll {
    bool known;
    double least, word, spared;
    double stay; /* a word where an irrelevant loop follows */
    double left; /* what zeros leave of it at the least */
} toll;

/* What is asked of a spatial mapping. */
typedef struct sx_keep_survey {
    sx_outline_bound *bounds;
    const uint8_t *must, *may;
    sx_access_cost prices[SX_MAX_TENSORS][SX_MAX_LEVELS];
    toll toll[SX_MAX_TENSORS][SX_MAX_LEVELS + 1][SX_MAX_LEVELS];
    int parent[SX_MAX_TENSORS]; /* the innermost level so far that keeps a tensor; -1: none */
    double best;
} survey;

struct sx_keep_survey *sx_keep_survey_new(void) {
    return calloc(1, sizeof(survey));
}

/* The toll of a route. */
static const toll *route_toll(survey *s, int v, int from, int to) {
    sx_outline_bound *bounds = s->bounds;
    const sx_bound *b = bounds->bound;
    toll *t = &s->toll[v][from + 1][to];
    if (t->known) return t;
    sx_transfer r = sx_transfer_make(bounds, v, from, to, s->prices[v]);
    const sx_least_traffic *traffic = sx_outline_bound_traffic(bounds, v, from, to);
    *t = (toll){.known = true,
                .least = INFINITY,
                .word = INFINITY,
                .stay = INFINITY,
                .spared = sx_transfer_spared(bounds, &r, s->prices[v])};
    double off = 0;
    const sx_form_list forms = sx_outline_bound_forms(bounds, v, from);
    for (uint32_t k = 0; k < forms.n; k++) {
        const uint32_t i = forms.form[k];
        sx_transfer_price price = sx_transfer_cost(&r, &traffic[i], UINT16_MAX);
        double words = traffic[i].words, top = from >= 0 && !b->idle[v] ? price.extra : 0;
        off = sx_larger(off, sx_transfer_rounding(bounds, &r, &traffic[i]));
        t->least = sx_lesser(t->least, sx_lesser(price.stays, price.moves + top));
        t->word = sx_lesser(t->word, words > 0 ? price.moves / words : 0);
        t->stay = sx_lesser(t->stay, words > 0 ? price.stays / words : 0);
    }
    bool fed = from < 0 && !bounds->linked[v];
    t->spared += off;
    t->left = sx_outline_bound_left(bounds, v, from, to);
    if (from < 0) t->spared *= t->left;
    t->least =
        t->least < INFINITY ? t->least * (fed ? b->times[v][0] : bounds->apart[v][from + 1]) * t->left : 0;
    return t;
}

/* What all flows into a level cost together, where it keeps a set of tensors. */
static double fill_level(survey *s, int level, unsigned keep) {
    const sx_bound *b = s->bounds->bound;
    double each = 0, spared = 0, together = INFINITY, word[SX_MAX_TENSORS], price[SX_MAX_TENSORS];
    double left_over[SX_MAX_TENSORS], stay[SX_MAX_TENSORS];
    for (unsigned left = keep; left; left &= left - 1) {
        int v = __builtin_ctz(left);
        word[v] = stay[v] = left_over[v] = 0;
        if (s->parent[v] < 0) continue;
        const toll *t = route_toll(s, v, level, s->parent[v]);
        word[v] = t->word;
        stay[v] = t->stay;
        left_over[v] = t->left;
        each += t->least;
        spared += t->spared;
    }
    for (int o = 0; o < b->n_classes && b->traffic_front[level]; o++) {
        double sum = 0;
        int n = 0;
        for (unsigned left = keep; left; left &= left - 1) {
            int v = __builtin_ctz(left);
            bool gains = b->profit[o] >> v & 1;
            price[n++] = gains ? 0 : word[v];
            if (gains) sum += stay[v] * b->least[v] * s->bounds->apart[v][level + 1] * left_over[v];
        }
        together =
            sx_lesser(together, sum + sx_traffic_front_least(&b->traffic_front[level][keep], n, price));
    }
    return (together < INFINITY ? sx_larger(each, together) : each) - spared;
}

/* Adds the compute units to a choice, and notes the least. */
static void end_choice(survey *s, double sum) {
    for (int v = 0; v < s->bounds->bound->model->n_tensors; v++) {
        if (s->parent[v] < 0) return;
        const toll *t = route_toll(s, v, -1, s->parent[v]);
        sum += t->least - t->spared;
    }
    s->best = sx_lesser(s->best, sum);
}

/* Goes through all that a level and those inside it may keep. */
static void choose_level(survey *s, int level, double sum) {
    if (level < 0) {
        end_choice(s, sum);
        return;
    }
    unsigned must = s->must[level], more = s->may[level] & ~must, some = 0;
    int parent[SX_MAX_TENSORS];
    memcpy(parent, s->parent, sizeof parent);
    do {
        unsigned keep = must | some;
        double cost = keep ? fill_level(s, level, keep) : 0;
        for (unsigned left = keep; left; left &= left - 1) s->parent[__builtin_ctz(left)] = level;
        choose_level(s, level - 1, sum + cost);
        memcpy(s->parent, parent, sizeof parent);
        some = (some - more) & more;
    } while (some);
}

sx_score sx_outline_bound_spatial(sx_outline_bound *bounds, const sx_outline *outline,
                                  const uint8_t *may_keep) {
    const sx_model *model = bounds->bound->model;
    survey *s = bounds->survey;
    s->bounds = bounds;
    s->must = outline->keep;
    s->may = may_keep;
    s->best = INFINITY;
    sx_outline_bound_set(bounds, outline);
    bounds->n_measures = 0;
    for (int v = 0; v < model->n_tensors; v++) {
        s->parent[v] = -1;
        for (int c = 0; c <= model->n_levels; c++)
            memset(s->toll[v][c], 0, model->n_levels * sizeof *s->toll[v][c]);
        sx_access_cost_energy(bounds, v, s->prices[v]);
    }
    choose_level(s, model->n_levels - 1, (double)model->computes * model->least_compute_energy);
    return sx_outline_bound_score(bounds, s->best, 0);
}
