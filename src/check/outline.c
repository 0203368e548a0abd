/* T0 and T1 of docs/proof.md. */
#include "check/outline.h"

#include "check/nest.h"

#include <stdlib.h>
#include <string.h>

/* Whether a dimension is the only one larger than 1 in all ranks that it is in. */
static bool is_solo(const sx_problem *problem, const sx_tensor *t, int d) {
    for (int r = 0; r < t->n_ranks; r++) {
        if (!t->coef[r][d]) continue;
        for (int e = 0; e < problem->n_dims; e++)
            if (e != d && t->coef[r][e] && problem->size[e] > 1) return false;
    }
    return true;
}

/* Whether each word of a tensor has one place in the iterations of its dimensions: one dimension a rank, without a
 * stride, in one rank. */
static bool is_plain(const sx_problem *problem, const sx_tensor *t) {
    for (int d = 0; d < problem->n_dims; d++) {
        int n = 0;
        for (int r = 0; r < t->n_ranks; r++) {
            n += t->coef[r][d] != 0;
            if (problem->size[d] > 1 && abs(t->coef[r][d]) > 1) return false;
        }
        if (problem->size[d] > 1 && (n > 1 || (n == 1 && !is_solo(problem, t, d)))) return false;
    }
    return true;
}

/* Whether some dimension that shares a rank is in another rank besides: T5 does not hold then. */
static bool is_free(const sx_problem *problem, const sx_tensor *t) {
    for (int d = 0; d < problem->n_dims; d++) {
        int n = 0;
        for (int r = 0; r < t->n_ranks; r++) n += t->coef[r][d] != 0;
        if (problem->size[d] > 1 && n > 1 && !is_solo(problem, t, d)) return true;
    }
    return false;
}

void sx_check_shape_init(sx_check_shape *out, const sx_check_case *c, sx_check_doubt *doubt) {
    const sx_problem *problem = &c->problem;
    memset(out, 0, sizeof *out);
    out->macs = 1;
    for (int d = 0; d < problem->n_dims; d++)
        if (__builtin_mul_overflow(out->macs, (int64_t)problem->size[d], &out->macs))
            sx_check_doubt_add(doubt, "the multiply-accumulates cannot be counted in 64 bits");
    for (int v = 0; v < problem->n_tensors; v++) {
        const sx_tensor *t = &problem->tensor[v];
        for (int d = 0; d < problem->n_dims; d++) {
            int ranks = 0;
            for (int r = 0; r < t->n_ranks; r++) ranks += t->coef[r][d] != 0;
            if (!ranks || problem->size[d] == 1) continue;
            out->dims[v] |= 1u << d;
            if (is_solo(problem, t, d)) out->solo[v] |= 1u << d;
        }
        if (is_plain(problem, t)) out->plain |= 1u << v;
        if (is_free(problem, t)) out->free |= 1u << v;
        if (t->output) out->output = v;
    }
}

void sx_check_energy_prices(const sx_check_case *c, sx_check_prices *out) {
    memset(out, 0, sizeof *out);
    for (int s = 0; s < c->machine.n_levels; s++)
        for (int v = 0; v < c->problem.n_tensors; v++)
            for (int i = 0; i < SX_N_ACCESSES; i++) {
                const sx_check_level *level = &c->machine.level[s];
                const sx_tensor *t = &c->problem.tensor[v];
                int64_t energy = level->energy[i] / level->block_size;
                if (level->cluster_size != 1) continue;
                out->of[s][v][i] = t->bits ? energy / level->word_bits * t->bits : energy;
                if (i == SX_FILL || i == (t->output ? SX_UPDATE : SX_READ))
                    out->of[s][v][i] += level->address;
            }
}

int sx_check_top(const sx_check_outline *o, int v) {
    int s = o->space->n_levels - 1;
    while (s >= 0 && !(o->keep[s] >> v & 1)) s--;
    return s;
}

/* The next level outside a holder that keeps a tensor. */
static int parent_of(const sx_check_outline *o, int v, int holder) {
    int s = holder;
    while (s + 1 < o->space->n_levels && !(o->keep[s] >> v & 1)) s++;
    return s;
}

/* How many different places the children of a level take along a rank at least, and how many children there are. Along
 * one dimension all places differ. Along two, with steps of x and y in units of their common divisor, children (i, j)
 * and (i + y, j - x) meet: of each chain of such children one counts. Along more, those of the longest count. */
static void count_places(const sx_check_outline *o, int v, int r, int level, const int64_t *tile,
                         int64_t *places, int64_t *children) {
    const sx_problem *problem = &o->space->c->problem;
    int64_t n[2] = {1, 1}, step[2] = {1, 1}, most = 1;
    int spread = 0;
    *children = 1;
    for (int d = 0; d < problem->n_dims; d++) {
        int64_t f = o->spatial->factor[level][d], coef = labs(problem->tensor[v].coef[r][d]);
        if (!coef || f == 1) continue;
        *children *= f;
        if (f > most) most = f;
        if (spread < 2) {
            n[spread] = f;
            step[spread] = coef * tile[d];
        }
        spread++;
    }
    int64_t unit = sx_gcd(step[0], step[1]), past = n[0] - step[1] / unit, back = n[1] - step[0] / unit;
    *places = spread < 2 ? *children : most;
    if (spread == 2) *places = *children - (past > 0 && back > 0 ? past * back : 0);
}

/* The most children of a level in one place, where two dimensions of a rank are spread: (i, j), (i + y, j - x) and so on. */
static int64_t largest_group(const sx_check_outline *o, int v, int r, int level, const int *spread,
                             const int64_t *tile) {
    int64_t step[2], most[2];
    for (int k = 0; k < 2; k++)
        step[k] = labs((long)o->space->c->problem.tensor[v].coef[r][spread[k]]) * tile[spread[k]];
    int64_t unit = sx_gcd(step[0], step[1]);
    for (int k = 0; k < 2; k++) {
        int64_t apart = step[1 - k] / unit;
        most[k] = (o->spatial->factor[level][spread[k]] + apart - 1) / apart;
    }
    return most[0] < most[1] ? most[0] : most[1];
}

/* Sets the share of accesses that is left along a rank where children of a level share them, whatever their tiles: the
 * places that they take, of all children; or, where links may leave but the largest groups, one of such a group. */
static void least_share(const sx_check_outline *o, int v, int r, int level, int64_t *num, int64_t *den) {
    const sx_check_space *space = o->space;
    int64_t tile[SX_MAX_DIMS], places, children;
    int spread[2] = {0, 0}, n = 0;
    for (int d = 0; d < space->n_dims; d++) {
        tile[d] = 1;
        for (int s = 0; s < level; s++) tile[d] *= o->spatial->factor[s][d];
        if (space->c->problem.tensor[v].coef[r][d] && o->spatial->factor[level][d] > 1 && n++ < 2)
            spread[n - 1] = d;
    }
    count_places(o, v, r, level, tile, num, den);
    if (n != 2) return;
    const int64_t inner[2] = {tile[spread[0]], tile[spread[1]]};
    if (!space->c->no_link_transfers) *num = *den = 1;
    for (int i = 0; i < space->n_divisors[spread[0]]; i++)
        for (int j = 0; j < space->n_divisors[spread[1]]; j++) {
            const int64_t by[2] = {space->divisor[spread[0]][i], space->divisor[spread[1]][j]};
            if (o->left[spread[0]] % by[0] || o->left[spread[1]] % by[1]) continue;
            for (int k = 0; k < 2; k++) tile[spread[k]] = inner[k] * by[k];
            int64_t group = largest_group(o, v, r, level, spread, tile);
            count_places(o, v, r, level, tile, &places, &children);
            if (space->c->no_link_transfers && places < *num) *num = places;
            if (!space->c->no_link_transfers && group > *den) *den = group;
        }
}

/* Sets the share of accesses to a tensor that is left where the children of a level share them, at least. */
static void set_groups(sx_check_outline *o, int level, int v) {
    o->children[level][v] = o->groups[level][v] = 1;
    for (int r = 0; r < o->space->c->problem.tensor[v].n_ranks; r++) {
        int64_t num, den;
        least_share(o, v, r, level, &num, &den);
        o->groups[level][v] *= num;
        o->children[level][v] *= den;
    }
}

void sx_check_outline_spread(sx_check_outline *o) {
    const sx_check_space *space = o->space;
    int64_t all = 1;
    for (int v = 0; v < space->n_tensors; v++) o->apart[v][space->n_levels] = 1;
    for (int d = 0; d < space->n_dims; d++) o->left[d] = space->c->problem.size[d];
    o->used[space->n_levels] = 1;
    for (int s = space->n_levels - 1; s >= 0; s--) {
        for (int v = 0; v < space->n_tensors; v++) o->apart[v][s] = o->apart[v][s + 1];
        for (int d = 0; d < space->n_dims; d++) {
            int64_t f = o->spatial->factor[s][d];
            all *= f;
            o->left[d] /= f;
            for (int v = 0; v < space->n_tensors; v++)
                if (!(o->shape->dims[v] >> d & 1)) o->apart[v][s] *= f;
        }
        o->used[s] = all;
    }
    o->steps = o->shape->macs / all;
    for (int s = 0; s < space->n_levels; s++)
        for (int v = 0; v < space->n_tensors; v++) set_groups(o, s, v);
}

/* The share of a tensor's words that the parent of a holder reads: the product of num / den over all levels that lie
 * between. At the level just outside the holder, children in different places read apart; of rank `moved` (-1: none) only
 * `unhelped` of these places do. At bypassed levels the mean size of groups counts, which is at most children / groups. */
static void count_groups(const sx_check_outline *o, int v, int holder, int parent, int moved,
                         int64_t unhelped, const int64_t *tile, int64_t *num, int64_t *den) {
    *num = *den = 1;
    for (int r = 0; r < o->space->c->problem.tensor[v].n_ranks; r++) {
        int64_t places, children;
        count_places(o, v, r, holder, tile, &places, &children);
        if (r == moved && unhelped < places) places = unhelped;
        *num *= places;
        *den *= children;
    }
    for (int s = holder + 1; s <= parent; s++) {
        *num *= o->groups[s][v];
        *den *= o->children[s][v];
    }
}

/* floor(words * copies * num / den), capped. */
static int64_t share_of(int64_t words, int64_t copies, int64_t num, int64_t den) {
    sx_wide product = (sx_wide)sx_capped_mul(words, copies) * num;
    return (int64_t)(product / den > SX_CHECK_CAP ? SX_CHECK_CAP : product / den);
}

/* The words of one pass over all tiles of a tensor, in all spatial places that differ for it. */
static int64_t count_words(const sx_check_outline *o, int v, const int64_t *tile) {
    const sx_problem *problem = &o->space->c->problem;
    int64_t words = sx_check_box(problem, v, tile);
    for (int d = 0; d < problem->n_dims; d++)
        if (o->shape->dims[v] >> d & 1) words = sx_capped_mul(words, problem->size[d] / tile[d]);
    return words;
}

/* The extents of a holder's tile: temporal ones, and all spatial loops inside. */
static void set_tile(const sx_check_outline *o, int holder, const int64_t *extent, int64_t *tile) {
    for (int d = 0; d < o->space->n_dims; d++) {
        tile[d] = extent[d];
        for (int s = 0; s < holder; s++) tile[d] *= o->spatial->factor[s][d];
    }
}

/* What a word costs at the parent of a flow: it is read, or of the output updated and read. Of an output that is not
 * plain only updates count, as the words whose first reads and fills are spared are not the same in all mappings. */
static int64_t parent_price(const sx_check_outline *o, const sx_check_prices *prices, int v, int parent) {
    const int64_t *at = prices->of[parent][v];
    if (!o->space->c->problem.tensor[v].output) return at[SX_READ];
    return at[SX_UPDATE] + (o->shape->plain >> v & 1 ? at[SX_READ] : 0);
}

/* What a word costs at the holder that it goes to. */
static int64_t fill_price(const sx_check_outline *o, const sx_check_prices *prices, int v, int holder) {
    bool spared = o->space->c->problem.tensor[v].output && !(o->shape->plain >> v & 1);
    return holder == SX_UNITS || spared ? 0 : prices->of[holder - 1][v][SX_FILL];
}

int64_t sx_check_flow(const sx_check_outline *o, const sx_check_prices *prices, int v, int holder,
                      const int64_t *extent) {
    int u = parent_of(o, v, holder);
    int64_t tile[SX_MAX_DIMS], num, den, words;
    if (o->shape->free >> v & 1) return 0;
    set_tile(o, holder, extent, tile);
    words = count_words(o, v, tile);
    count_groups(o, v, holder, u, -1, 0, tile, &num, &den);
    int64_t cost =
        sx_capped_mul(share_of(words, o->apart[v][u + 1], num, den), parent_price(o, prices, v, u));
    int64_t fills = sx_capped_mul(words, o->apart[v][holder]);
    return sx_capped_add(cost, sx_capped_mul(fills, fill_price(o, prices, v, holder)));
}

/* Whether children of the level outside a holder stand apart along a window, and may hand words to each other. */
static bool hands_on(const sx_check_outline *o, int v, int holder) {
    unsigned windows = o->shape->dims[v] & ~o->shape->solo[v];
    if (o->space->c->no_link_transfers) return false;
    for (int d = 0; d < o->space->n_dims; d++)
        if (windows >> d & 1 && o->spatial->factor[holder][d] > 1) return true;
    return false;
}

/* The smallest prime factor of a number above 1. */
static int64_t least_prime(int64_t n) {
    for (int64_t p = 2; p * p <= n; p++)
        if (n % p == 0) return p;
    return n;
}

/* The rank of a tensor that a dimension is in. */
static int rank_of(const sx_tensor *t, int dim) {
    int r = 0;
    while (!t->coef[r][dim]) r++;
    return r;
}

/* What T5 and T6 ask of the rank of a dimension: how far a tile reaches in it, the step of the dimension's loops, the sum
 * of the steps of loops on the others at most, the least step of such a loop where only one other dimension has any, the
 * iterations left of all, and how the holder's siblings are spread along it: how far neighbours are apart at most, and the
 * distance of the nearest where they are spread along one dimension. */
typedef struct window {
    int64_t reach, step, range, others, other_step, left, span, distance;
    int n_others, n_spread;
    bool one_sign;
} window;

/* How far the tiles of two neighbours are apart along a rank at most; of any two children, where these are not listed. */
static int64_t neighbour_span(const sx_check_outline *o, int v, int r, int holder, const int64_t *tile) {
    const sx_check_neighbours *near = &o->near[holder];
    const sx_problem *problem = &o->space->c->problem;
    int64_t span = 0;
    for (int d = 0; d < problem->n_dims && near->n < 0; d++)
        span += labs((long)problem->tensor[v].coef[r][d]) * tile[d] * (o->spatial->factor[holder][d] - 1);
    for (int i = 0; i < near->n; i++) {
        int64_t by = 0;
        for (int d = 0; d < problem->n_dims; d++)
            by += problem->tensor[v].coef[r][d] * tile[d] * near->by[i][d];
        if (llabs(by) > span) span = llabs(by);
    }
    return span;
}

static window describe_window(const sx_check_outline *o, int v, int holder, int level, int dim,
                              const int64_t *extent, const int64_t *tile) {
    const sx_problem *problem = &o->space->c->problem;
    const sx_tensor *t = &problem->tensor[v];
    int r = rank_of(t, dim);
    window w = {.reach = 1, .left = 1, .one_sign = true};
    for (int d = 0; d < problem->n_dims; d++) {
        int64_t coef = labs(t->coef[r][d]), step = coef * tile[d],
                range = coef * (problem->size[d] - tile[d]);
        if (!coef || problem->size[d] == 1) continue;
        if (o->spatial->factor[holder][d] > 1) {
            w.n_spread++;
            w.distance = step;
        }
        for (int s = holder; s <= level; s++) step *= o->spatial->factor[s][d];
        w.reach += coef * (tile[d] - 1);
        w.left *= o->left[d] / extent[d];
        w.one_sign &= (t->coef[r][d] > 0) == (t->coef[r][dim] > 0);
        if (d == dim) {
            w.step = step;
            w.range = range;
        } else if (extent[d] < o->left[d]) {
            w.n_others++;
            w.others += range;
            w.other_step = step;
        }
    }
    w.span = neighbour_span(o, v, r, holder, tile);
    return w;
}

/* The least share of all tiles that is fetched, as parts of a whole; and the parts at visits of the innermost loop that moves
 * the tile, and of loops that are not on its rank. */
typedef struct shares {
    int64_t all, own, off, whole;
} shares;

/* T5: where the innermost loop that moves a tile has n iterations or more, on a dimension of a window, of which `left` are
 * left. Its own visits fetch what its step leaves new: `fresh` of `reach`. */
static shares least_shares(const window *w, int64_t left, int64_t n) {
    int64_t fresh = w->step < w->reach ? w->step : w->reach;
    shares out = {.own = fresh * (n - 1) * (w->left / n), .whole = w->reach * w->left};
    if (w->one_sign) out.off = w->reach;
    out.all = out.own + out.off;
    int64_t inside = n == left ? w->step : w->range; /* steps of loops on the dimension, at most */
    if (w->one_sign && (w->step > w->others || (w->n_others == 1 && w->other_step - inside > w->step)))
        out.all = (fresh * (left - 1) + w->reach) * (w->left / left);
    return out;
}

/* T6: the places along a window's rank that no neighbour helps at visits that move the tile by a step or more. */
static int64_t count_unhelped(const window *w) {
    if (w->step > w->span) return INT64_MAX;
    return w->n_spread == 1 ? (w->step + w->distance - 1) / w->distance : 1;
}

/* T6: whether two neighbours may be apart by a window's step, and in no other rank; true where they are not listed. */
static bool meets_neighbour(const sx_check_outline *o, int v, int r, int holder, const int64_t *tile,
                            int64_t step) {
    const sx_check_neighbours *near = &o->near[holder];
    const sx_tensor *t = &o->space->c->problem.tensor[v];
    bool meets = near->n < 0;
    for (int i = 0; i < near->n && !meets; i++) {
        meets = true;
        for (int q = 0; q < t->n_ranks && meets; q++) {
            int64_t by = 0;
            for (int d = 0; d < o->space->n_dims; d++) by += t->coef[q][d] * tile[d] * near->by[i][d];
            meets = llabs(by) == (q == r ? step : 0);
        }
    }
    return meets;
}

/* T6: whether no visit is helped: of n iterations the first loop leaves none for others on its dimension, so that the tile moves
 * along its rank by a step, in which no two neighbours are apart, or further than any of them are. */
static bool stands_alone(const sx_check_outline *o, int v, int r, int holder, const int64_t *tile,
                         const window *w, int64_t left, int64_t n) {
    const sx_check_neighbours *near = &o->near[holder];
    bool apart = near->n >= 0 && w->one_sign && n == left && w->n_others <= 1;
    if (w->n_others == 1) apart &= w->other_step - w->step > w->span;
    for (int i = 0; i < near->n && apart; i++) {
        int64_t by = 0;
        for (int d = 0; d < o->space->n_dims; d++)
            by += o->space->c->problem.tensor[v].coef[r][d] * tile[d] * near->by[i][d];
        apart = llabs(by) != w->step;
    }
    return apart;
}

/* The words that the parent of a holder reads of a pass where neighbours help: at the visits of the innermost moving loop,
 * of loops off its rank, and at all others. */
static int64_t count_helped(const sx_check_outline *o, int v, int holder, int parent, int moved,
                            const int64_t *tile, const window *w, const shares *share, int64_t words) {
    bool meets = meets_neighbour(o, v, moved, holder, tile, w->step);
    const int64_t unhelped[3] = {meets ? count_unhelped(w) : INT64_MAX, count_unhelped(w), 1};
    const int64_t part[3] = {share->own, share->off, share->all - share->own - share->off};
    int64_t sum = 0;
    for (int i = 0; i < 3; i++) {
        int64_t num, den;
        count_groups(o, v, holder, parent, moved, unhelped[i], tile, &num, &den);
        sum += share_of(share_of(words, 1, num, den), 1, part[i], share->whole);
    }
    return sum;
}

int64_t sx_check_slide(const sx_check_outline *o, const sx_check_prices *prices, int v, int holder, int level,
                       int dim, int64_t n, const int64_t *extent) {
    int u = parent_of(o, v, holder), moved = rank_of(&o->space->c->problem.tensor[v], dim);
    int64_t tile[SX_MAX_DIMS], num, den, read, fill = 0;
    if (o->shape->free >> v & 1) return 0;
    set_tile(o, holder, extent, tile);
    window w = describe_window(o, v, holder, level, dim, extent, tile);
    int64_t left = o->left[dim] / extent[dim];
    if (!n) n = level + 1 == o->space->n_levels ? left : least_prime(left);
    shares share = least_shares(&w, left, n);
    int64_t words = count_words(o, v, tile), copies = o->apart[v][u + 1];
    bool helped = hands_on(o, v, holder) && !(w.one_sign && w.step - w.others > w.span) &&
                  !stands_alone(o, v, moved, holder, tile, &w, left, n);
    if (helped) {
        read = count_helped(o, v, holder, u, moved, tile, &w, &share, sx_capped_mul(words, copies));
    } else {
        count_groups(o, v, holder, u, -1, 0, tile, &num, &den);
        read = share_of(share_of(words, copies, num, den), 1, share.all, share.whole);
    }
    if (!(helped && o->used[holder + 1] > 1)) {
        fill = share_of(words, o->apart[v][holder], share.all, share.whole);
        fill = sx_capped_mul(fill, fill_price(o, prices, v, holder));
    }
    return sx_capped_add(fill, sx_capped_mul(read, parent_price(o, prices, v, u)));
}

/* What words that the output's levels hold cost less: the first read of each at every level that keeps it, and the
 * first fill but at the outermost. */
static sx_wide spared_cost(const sx_check_outline *o, const sx_check_prices *prices) {
    const sx_problem *problem = &o->space->c->problem;
    int v = o->shape->output, top = sx_check_top(o, v);
    int64_t whole[SX_MAX_DIMS];
    sx_wide sum = 0;
    if (o->space->c->no_first_read_elision || !(o->shape->plain >> v & 1)) return 0;
    for (int d = 0; d < problem->n_dims; d++) whole[d] = problem->size[d];
    for (int s = 0; s <= top; s++) {
        bool never = o->space->c->limits.level[s].rmw_first_update >> v & 1;
        if (!(o->keep[s] >> v & 1) || never) continue;
        int64_t price = prices->of[s][v][SX_READ] + (s < top ? prices->of[s][v][SX_FILL] : 0);
        sum += (sx_wide)sx_check_box(problem, v, whole) * o->apart[v][s + 1] * price;
    }
    return sum;
}

/* What the parts of words cost that rounding may take off a tensor's counts: less than a word of the reads per instance,
 * where the children of a bypassed level form groups of different sizes, and of the fills, where links share them out. */
static sx_wide rounding_cost(const sx_check_outline *o, const sx_check_prices *prices, int v) {
    sx_wide sum = 0;
    unsigned windows = o->shape->dims[v] & ~o->shape->solo[v];
    for (int holder = SX_UNITS; holder <= sx_check_top(o, v); holder++) {
        if (holder != SX_UNITS && !(o->keep[holder - 1] >> v & 1)) continue;
        int u = parent_of(o, v, holder);
        bool spread = false;
        for (int s = holder; s <= u; s++)
            for (int d = 0; d < o->space->n_dims; d++)
                spread |= windows >> d & 1 && o->spatial->factor[s][d] > 1;
        if (spread && u > holder)
            sum += ((sx_wide)prices->of[u][v][SX_READ] + prices->of[u][v][SX_UPDATE]) * o->used[u + 1];
        if (holder != SX_UNITS && hands_on(o, v, holder))
            sum += (sx_wide)prices->of[holder - 1][v][SX_FILL] * o->used[holder];
    }
    return sum;
}

sx_wide sx_check_leakage(const sx_check_machine *m, const int64_t used[SX_MAX_LEVELS + 1]) {
    sx_wide sum = 0;
    for (int s = 0; s < m->n_levels; s++) {
        const sx_check_level *level = &m->level[s], *gate = &m->level[level->gate];
        int64_t each = level->mesh[0] * level->mesh[1] / (gate->mesh[0] * gate->mesh[1]);
        sum += (sx_wide)level->leak * (each > 1 ? each * used[level->gate + 1] : used[s + 1]);
    }
    return sum;
}

/* Tiles of one iteration of all dimensions. */
static void set_ones(int64_t extent[SX_MAX_DIMS]) {
    for (int d = 0; d < SX_MAX_DIMS; d++) extent[d] = 1;
}

sx_wide sx_check_constant(const sx_check_outline *o, const sx_check_prices *prices) {
    const sx_check_case *c = o->space->c;
    int64_t ones[SX_MAX_DIMS];
    sx_wide sum = -spared_cost(o, prices);
    set_ones(ones);
    for (int v = 0; v < c->problem.n_tensors; v++) {
        sum -= rounding_cost(o, prices, v);
        if (o->linked[v]) continue;
        int64_t idle = 1;
        for (int d = 0; d < c->problem.n_dims; d++)
            if (!(o->shape->dims[v] >> d & 1)) idle *= o->left[d];
        sum += (sx_wide)sx_check_flow(o, prices, v, SX_UNITS, ones) * idle;
    }
    return sum;
}

int64_t sx_check_compulsory(const sx_check_outline *o, const sx_check_prices *prices) {
    int64_t ones[SX_MAX_DIMS], sum = 0;
    set_ones(ones);
    for (int v = 0; v < o->space->n_tensors; v++) {
        if (!(o->shape->plain >> v & 1)) continue;
        if (o->linked[v]) sum = sx_capped_add(sum, sx_check_flow(o, prices, v, SX_UNITS, ones));
        for (int s = 0; s < sx_check_top(o, v); s++)
            if (o->keep[s] >> v & 1) sum = sx_capped_add(sum, sx_check_flow(o, prices, v, s + 1, ones));
    }
    return sum;
}
