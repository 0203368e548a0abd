/* What a level is filled with of a tensor at the least, and from where, when it has sliding windows.
 *
 * Motion. Let j be the innermost temporal loop outside a tile that indexes V, n its iterations, and f(k) the
 * step of the tile as loop k advances (model/tile_delta.h): f(k) = step(k) less the steps of all loops
 * inside. Every second visit is one of j, as visits count in binary; so the rule of docs/model.md, section 2,
 * comes to this: visits of j fetch what f(j) leaves new, a share a of the tile; those of any other loop k
 * fetch the same share where f(k) = f(j), nothing where f(k) = 0, else all. If j is on a solo dimension a =
 * 1. Let it be on a window, the rank of dimensions d and e, j on d. Then f(k) = f(j) or 0 only for k on d or
 * e with no loops on other ranks inside, as the window's own step would be negative. Let s be the step of the
 * first loop on d that is possible outside the tile, r the sum of the steps of all loops on e that are
 * possible (each at least twice the one inside; 0 where e has no loops left).
 *   - s > 2 r: f(k) for k on d is at least s - r in magnitude unless k is d's next loop and goes on as j
 *     did; so only loops on d itself go on, by as many iterations as d has left outside: T. At the least
 *     a + (1 - a) / T of all tiles are fetched. The same with d and e exchanged.
 *   - s > r: no f(k) is 0: a + (1 - a) / (T_d T_e).
 *   - else a (1 - 1/p), p being the smallest prime of T_d: only j's own visits count.
 * Ranks of other kinds: see least_share.
 *
 * Space. Children of a slot along a window stand i s_d + j s_e apart, i < n_d, j < n_e. With s_d : s_e =
 * x : y in lowest terms, n_d n_e - max(0, n_d - y) max(0, n_e - x) of these are different; children that are
 * the same share an access.
 *
 * Slots further out, below levels that the tensor bypasses, scale accesses by the mean number of children that
 * share one, over the accesses of all visits (docs/model.md, section 4); the tile is not known there. Let n children
 * stand in P positions, i or more in each (i: the irrelevant loops). A visit without help has n / P on the mean. A
 * visit at which neighbours help leaves out the children that are helped; with them g positions drop out altogether,
 * i g children or more, so at most (n - i g) / (P - g) are left on the mean. That grows with g, and g <= P - R, R being
 * the least positions that a step leaves to the outer level (below). A mean is not above the largest of its
 * parts: it is at most i (m - 1 + R / P) / (R / P) with m = n / (i P). Over all tiles that are possible, m is at most
 * the product over windows of its largest, and R / P at least the least over windows, as a step is not 0 along one of
 * them. Where that is i at every slot, all groups have the same size, and accesses are scaled by whole numbers. Nor is a
 * group larger than the largest. Where tiles are fetched anew at every visit, neighbours in the
 * same position help too: the largest group counts alone.
 *
 * Neighbours (docs/model.md, section 3) help a child whose new words one of them had a visit before: the step
 * of the tile must be a way from one child to another. In a window, time steps are J = m n_d s_d + l n_e s_e
 * with whole m and l, each at most what `ladder` says in magnitude and 0 where that dimension has no loops
 * left; ways are i s_d + j s_e with |i| < n_d, |j| < n_e. A way (i, j) helps at most (n_d - |i|) (n_e - |j|)
 * children, and a step at most the sum of that over all ways of its length. link.c says what that leaves at the
 * least. Compute units, and tensors whose tiles are fetched anew at every visit, count at each visit what the step
 * leaves that helps most. A word from a neighbour counts as filled and read at the inner level, but divided by the
 * instances of the outer one (docs/model.md, section 4).
 *
 * In a row of children, two side by side differ in the innermost spatial loop: by a step of it, or, where the next loop
 * advances, as it starts again. If that loop is on a solo dimension of V they stand apart in a rank in which no step
 * that neighbours help with moves the tile: there are no links then. */
#include "bound/bound.h"
#include "bound/link.h"
#include "bound/outline.h"
#include "bound/table.h"
#include "bound/traffic_cache.h"

#include "base/divisor.h"
#include "base/extreme.h"

#include <math.h>
#include <stdlib.h>

/* The share of a tile that is new as a loop on one dimension advances, and begins again nowhere. */
static double share_of(const sx_shape *shape, const uint32_t *extent, int d) {
    double share = 0;
    for (int i = shape->first_of_dim[d]; i < shape->first_of_dim[d + 1]; i++) {
        int r = shape->of_dim[i].rank;
        double reach = 1;
        for (int t = shape->first_term[r]; t < shape->first_term[r + 1]; t++)
            reach += abs(shape->term[t].coef) * (extent[shape->term[t].dim] - 1.0);
        share = sx_larger(share, sx_lesser(1, abs(shape->of_dim[i].coef) * (double)extent[d] / reach));
    }
    return share;
}

/* Whether no rank of a tensor has two dimensions that go on outside its tile, nor such a dimension two ranks:
 * then all tiles differ, and no step is as short as the way to a neighbour. */
static bool is_closed(const sx_bound *b, const uint32_t *extent, int v) {
    const sx_shape *shape = &b->model->shape[v];
    unsigned seen = 0;
    for (int r = 0; r < shape->n_ranks; r++) {
        unsigned open = 0;
        for (int i = shape->first_term[r]; i < shape->first_term[r + 1]; i++) {
            int d = shape->term[i].dim;
            open |= (unsigned)(b->partly_relevant[v] >> d & 1 && extent[d] < b->model->size[d]) << d;
        }
        if (open & (open - 1) || open & seen) return false;
        seen |= open;
    }
    return true;
}

/* The smallest prime factor of a number above 1. */
static uint32_t least_prime(uint32_t number) {
    for (uint32_t p = 2; p <= number / p; p++)
        if (number % p == 0) return p;
    return number;
}

double sx_outline_bound_fanout(const sx_outline_bound *bounds, int s, unsigned dims) {
    double product = 1;
    for (; dims; dims &= dims - 1) product *= bounds->outline.spatial[s][__builtin_ctz(dims)];
    return product;
}

bool sx_outline_bound_has_links(const sx_outline_bound *bounds, int s, int v) {
    const sx_bound *b = bounds->bound;
    int i = 0;
    if (b->model->options.no_link_transfers) return false;
    if (!b->in_row[s]) return true;
    while (i < b->model->n_dims && bounds->outline.spatial[s][b->row_order[s][i]] == 1) i++;
    return i == b->model->n_dims || (b->irrelevant[v] | b->partly_relevant[v]) >> b->row_order[s][i] & 1;
}

/* The largest sum of partial products of the prime factors of a number: 1 + p + p q + ... without the last.
 */
static double ladder_sum(uint32_t number) {
    uint32_t prime[32];
    double sum = 0, product = 1;
    int n = 0;
    for (; number > 1; number /= prime[n++]) prime[n] = least_prime(number);
    for (; n > 0; product *= prime[n]) {
        sum += product;
        n--;
    }
    return sum;
}

/* A side of extent E in a dimension of some size, of which n children stand side by side and `left` is left
 * in time. */
static sx_window_side make_side(uint32_t coef, uint32_t extent, uint32_t n, uint32_t left, uint32_t size) {
    sx_window_side s = {.way = (double)coef * extent, .n = n, .times = left};
    s.step = s.way * n;
    if (left > 1) {
        double steps = ladder_sum(size / (extent * n));
        s.sum = s.step * steps;
        s.most = (int64_t)steps;
        s.prime = least_prime(left);
    }
    return s;
}

/* The least share of all tiles that is fetched where the first loop is on d. */
static double moved_share(const sx_window_side *d, const sx_window_side *e, double reach) {
    double share = sx_lesser(1, d->step / reach);
    if (d->times == 1) return 1;
    if (d->step > 2 * e->sum || e->step > 2 * d->sum) return share + (1 - share) / d->times;
    if (d->step > e->sum || e->step > d->sum) return share + (1 - share) / (d->times * e->times);
    return share * (1 - 1.0 / d->prime);
}

/* Every advance of the first loop that indexes V shifts the tile by that loop's step, and that happens for
 * all but 1 of its iterations; where a tile is closed, steps never cancel, and all loops outside do so. */
static double partly_relevant_share(const sx_bound *b, int v, const uint32_t *extent) {
    double share = 1;
    bool closed = is_closed(b, extent, v);
    for (unsigned dims = b->partly_relevant[v]; dims; dims &= dims - 1) {
        int d = __builtin_ctz(dims);
        uint32_t size = b->model->size[d];
        if (extent[d] == size) continue;
        double often = closed ? 1 : 1 - 1.0 / least_prime(size / extent[d]);
        share = sx_lesser(share, share_of(&b->model->shape[v], extent, d) * often);
    }
    return share;
}

/* The least share of all tiles that is fetched along a window, whatever the outline: as without spatial
 * loops, since these only make steps longer and the loops that follow fewer. */
static double window_share(const sx_bound *b, const sx_window *window, const uint32_t *extent) {
    sx_window_side sides[2];
    double reach = 1;
    for (int i = 0; i < 2; i++) {
        int d = window->dim[i];
        uint32_t size = b->model->size[d];
        sides[i] = make_side(window->coef[i], extent[d], 1, size / extent[d], size);
        reach += window->coef[i] * (extent[d] - 1.0);
    }
    return sx_lesser(moved_share(&sides[0], &sides[1], reach), moved_share(&sides[1], &sides[0], reach));
}

double sx_bound_share(const sx_bound *b, int v, const uint32_t *extent) {
    double share = 1;
    if (b->n_windows[v] == 0) return partly_relevant_share(b, v, extent);
    for (int i = 0; i < b->n_windows[v]; i++)
        share = sx_lesser(share, window_share(b, &b->window[v][i], extent));
    return share;
}

/* The spatial loops on a dimension up to a level, multiplied. */
static uint32_t spatial_inside(const sx_outline_bound *bounds, int d, int level) {
    uint32_t inside = 1;
    for (int s = 0; s <= level; s++) inside *= bounds->outline.spatial[s][d];
    return inside;
}

/* What is left in time of a dimension outside a tile; 0 where an outline has no tile of that extent. */
static uint32_t left_of(const sx_outline_bound *bounds, int d, int from, uint32_t extent) {
    uint32_t open = bounds->open[from + 1][d];
    return open % extent || extent % spatial_inside(bounds, d, from) ? 0 : open / extent;
}

/* Lists the forms whose extents are multiples of the spatial loops inside a level and divide what those outside leave. */
static void list_forms(const sx_outline_bound *bounds, int v, int level, sx_form_list *out) {
    const sx_lattice *l = &bounds->bound->form[v];
    out->n = 1;
    out->form[0] = 0;
    for (int k = 0; k < l->n_digits; k++) {
        const uint32_t n = out->n,
                       low = sx_prime_exponent(spatial_inside(bounds, l->dim[k], level), l->prime[k]),
                       high = sx_prime_exponent(bounds->open[level + 1][l->dim[k]], l->prime[k]);
        for (uint32_t i = 0; i < n; i++) out->form[i] += low * l->stride[k];
        for (uint32_t e = low; e < high; e++)
            for (uint32_t i = 0; i < n; i++) {
                out->form[out->n] = out->form[out->n - n] + l->stride[k];
                out->n++;
            }
    }
}

sx_form_list sx_outline_bound_forms(sx_outline_bound *bounds, int v, int level) {
    static uint32_t none[] = {0};
    if (level < 0) return (sx_form_list){1, none};
    sx_form_list *list = &bounds->forms[v][level];
    if (list->n == 0) list_forms(bounds, v, level, list);
    return *list;
}

/* A window outside a tile of some extents. */
typedef struct piece {
    sx_window_side side[2];
    sx_link_window link;
    double moved, groups, most;
    uint32_t form; /* what it adds to the number */
} piece;

size_t sx_window_piece_size(void) {
    return sizeof(piece);
}

/* Describes a window; false where the outline has no tile of these extents. */
static bool make_piece(const sx_outline_bound *bounds, const sx_window *window, int from,
                       const sx_window_tile *tile, bool links, piece *p) {
    sx_window_side *d = &p->side[0], *e = &p->side[1];
    double reach = 1;
    for (int i = 0; i < 2; i++) {
        int dim = window->dim[i];
        uint32_t left = left_of(bounds, dim, from, tile->extent[i]), size = bounds->bound->model->size[dim];
        if (left == 0) return false;
        p->side[i] =
            make_side(window->coef[i], tile->extent[i], bounds->outline.spatial[from + 1][dim], left, size);
        reach += window->coef[i] * (tile->extent[i] - 1.0);
    }
    p->moved = sx_lesser(moved_share(d, e, reach), moved_share(e, d, reach));
    double common = (double)sx_divisor_common((uint64_t)d->way, (uint64_t)e->way);
    double x = d->way / common, y = e->way / common, all = d->n * e->n;
    double positions = all - sx_larger(0, d->n - y) * sx_larger(0, e->n - x);
    p->groups = positions / all;
    p->most = sx_lesser(ceil(d->n / y), ceil(e->n / x));
    p->link = sx_link_window_make(p->side, reach, positions, links);
    p->form = tile->form;
    return true;
}

/* How many children of a level may share an access to a tensor without windows whose tile is not known. */
static double sharing_children(const sx_outline_bound *bounds, int s, int v) {
    const sx_bound *b = bounds->bound;
    double largest = 1;
    for (unsigned dims = b->partly_relevant[v]; dims; dims &= dims - 1)
        largest = sx_larger(largest, bounds->outline.spatial[s][__builtin_ctz(dims)]);
    return sx_outline_bound_fanout(bounds, s, b->irrelevant[v] | b->partly_relevant[v]) / largest;
}

/* What a window's tiles come to at a slot whose tile is not known. */
typedef struct slot_window {
    double mean, most; /* children in a position: the mean and the most, largest of all tiles */
    double rest;       /* share of the positions that the step leaves which helps most, least of all tiles */
} slot_window;

/* Goes through the tiles of a window that level s - 1 may have. */
static slot_window try_slot(const sx_outline_bound *bounds, const sx_window *window, int s, bool links) {
    slot_window at = {1, 1, 1};
    for (uint32_t i = 0; i < window->n_tiles; i++) {
        piece p;
        if (!make_piece(bounds, window, s - 1, &window->tile[i], links, &p)) continue;
        at.mean = sx_larger(at.mean, 1 / p.groups);
        at.most = sx_larger(at.most, p.most);
        at.rest = sx_lesser(at.rest, p.link.any.groups);
    }
    return at;
}

/* The same with windows, on the mean over the accesses of all visits. */
static double make_window_sharing(const sx_outline_bound *bounds, int s, int v) {
    const sx_bound *b = bounds->bound;
    double irrelevant = sx_outline_bound_fanout(bounds, s, b->irrelevant[v]), mean = 1, most = 1, rest = 1;
    bool links = sx_outline_bound_has_links(bounds, s, v);
    for (int i = 0; i < b->n_windows[v]; i++) {
        slot_window at = try_slot(bounds, &b->window[v][i], s, links);
        mean *= at.mean;
        most *= at.most;
        rest = sx_lesser(rest, at.rest);
    }
    bool renewed = links && b->renewed[s - 1] >> v & 1;
    return irrelevant * (renewed ? most : sx_lesser(most, (mean - 1 + rest) / rest));
}

/* The same, kept beside the flows into level s - 1, of which none has an `outer` of 0. */
static double window_sharing(const sx_outline_bound *bounds, int s, int v) {
    bool made;
    sx_least_traffic *kept = sx_traffic_cache_find(bounds->traffic_cache, bounds, v, s - 1, 0, &made);
    if (made) return kept->most;
    const double sharing = make_window_sharing(bounds, s, v);
    if (kept) kept->most = sharing;
    return sharing;
}

/* What children at the slots from + 2 to `to` share of an access. */
static double share_slots(sx_outline_bound *bounds, int v, int from, int to) {
    double product = 1;
    for (int s = from + 2; s <= to; s++) {
        double *known = &bounds->sharing[v][s];
        if (*known == 0)
            *known = bounds->bound->n_windows[v] > 0 ? window_sharing(bounds, s, v)
                                                     : sharing_children(bounds, s, v);
        product *= *known;
    }
    return product;
}

bool sx_outline_bound_scales_whole(sx_outline_bound *bounds, int v, int from, int to) {
    const sx_bound *b = bounds->bound;
    double irrelevant = 1;
    for (int s = from + 2; s <= to; s++) {
        if (b->renewed[s - 1] >> v & 1) return false;
        irrelevant *= sx_outline_bound_fanout(bounds, s, b->irrelevant[v]);
    }
    return !b->partly_relevant[v] || share_slots(bounds, v, from, to) <= irrelevant;
}

/* What windows make of a flow, as in sx_least_traffic. */
typedef struct pull {
    double words, groups, most, own;
} pull;

/* Pulls in the making. */
typedef struct making {
    const sx_outline_bound *bounds;
    int v, from;
    bool firsts; /* with first loops, whether neighbours help or not */
    double outer, fewest;
    bool renewed;
    sx_least_traffic *out;           /* per form */
    uint32_t n_pieces[SX_MAX_RANKS]; /* of its windows, once these are made */
} making;

/* Sets the pull of a form from what its windows make of it; but for first loops. */
static sx_least_traffic *set_pull(const making *m, uint32_t form, pull next) {
    sx_least_traffic *out = &m->out[form];
    const bool alone = m->from < 0 && !m->bounds->linked[m->v];
    out->all = m->bounds->bound->bare[m->v][form];
    out->words = (alone ? 1 : next.words) * out->all;
    out->groups = next.groups;
    out->most = next.most;
    out->fewest = m->fewest;
    out->own = next.own;
    out->outer = m->outer;
    out->renewed = m->renewed;
    out->n_first = -1;
    return out;
}

/* The least of two first loops, each part by itself. */
static sx_first_loop least_first(sx_first_loop a, sx_first_loop b) {
    return (sx_first_loop){a.dims | b.dims,
                           sx_lesser(a.words, b.words),
                           sx_lesser(a.groups, b.groups),
                           sx_lesser(a.own, b.own),
                           sx_lesser(a.more_groups, b.more_groups),
                           sx_lesser(a.more_own, b.more_own)};
}

/* Sets the loops of windows that may be the first outside a tile; those of a third window and further count with the
 * last. */
static void set_first_loops(const making *m, const sx_link_window *const *link, sx_least_traffic *traffic) {
    const sx_bound *b = m->bounds->bound;
    int n = b->n_windows[m->v];
    sx_link_sum all = sx_link_sum_make(link, n);
    traffic->n_first = 0;
    for (int i = 0; i < 2 * n; i++) {
        int w = i / 2, side = i % 2, d = b->window[m->v][w].dim[side];
        double scale = 1;
        if (link[w]->side[side].times == 1) continue;
        sx_first_loop first = sx_link_first(link, n, &all, w, side, scale);
        for (int s = m->from + 2; s < b->model->n_levels; s++) {
            uint32_t outside = m->bounds->outline.spatial[s][d];
            if (outside == 1) continue;
            first = least_first(first, sx_link_first(link, n, &all, w, side, scale *= outside));
        }
        first.dims = (uint16_t)(1u << d);
        if (traffic->n_first == SX_MAX_FIRST_LOOPS)
            first = least_first(first, traffic->first[--traffic->n_first]);
        traffic->first[traffic->n_first++] = first;
    }
}

/* Goes through all pieces of window w and those after it. */
static void combine_pieces(const making *m, int w, const sx_link_window **link, uint32_t form,
                           const pull *all) {
    const sx_bound *b = m->bounds->bound;
    const piece *p = m->bounds->pieces;
    for (int i = 0; i < w; i++) p += m->n_pieces[i];
    if (w == b->n_windows[m->v]) {
        sx_least_traffic *out = set_pull(m, form, *all);
        if ((all->own < 1 || m->firsts) && m->from >= 0 && !m->renewed) set_first_loops(m, link, out);
        return;
    }
    for (uint32_t i = 0; i < m->n_pieces[w]; i++, p++) {
        const pull next = {.words = sx_lesser(all->words, p->moved),
                           .groups = all->groups * p->groups,
                           .most = all->most * p->most,
                           .own = sx_lesser(all->own, p->link.any.own)};
        link[w] = &p->link;
        combine_pieces(m, w + 1, link, form + p->form, &next);
    }
}

/* Makes the pieces of all windows that are possible, then the pulls. */
static void combine_windows(making *m, const pull *all) {
    const sx_bound *b = m->bounds->bound;
    const sx_link_window *link[SX_MAX_RANKS];
    piece *p = m->bounds->pieces;
    bool links = sx_outline_bound_has_links(m->bounds, m->from + 1, m->v);
    for (int w = 0; w < b->n_windows[m->v]; w++) {
        const sx_window *window = &b->window[m->v][w];
        piece *first = p;
        for (uint32_t i = 0; i < (m->from < 0 ? 1 : window->n_tiles); i++)
            p += make_piece(m->bounds, window, m->from, &window->tile[i], links, p);
        m->n_pieces[w] = (uint32_t)(p - first);
    }
    combine_pieces(m, 0, link, 0, all);
}

/* The same for partially relevant dimensions outside windows. */
static void combine_partly_relevant(const making *m, const pull *all) {
    const sx_outline_bound *bounds = m->bounds;
    const sx_bound *b = bounds->bound;
    double partly_relevant = sx_outline_bound_fanout(bounds, m->from + 1, b->partly_relevant[m->v]);
    for (uint32_t i = 0; i < (m->from < 0 ? 1 : b->form[m->v].n_points); i++) {
        uint32_t extent[SX_MAX_DIMS];
        bool possible = true;
        pull next = *all;
        sx_lattice_extents(&b->form[m->v], i, extent);
        for (unsigned dims = b->partly_relevant[m->v]; dims; dims &= dims - 1)
            possible &= left_of(bounds, __builtin_ctz(dims), m->from, extent[__builtin_ctz(dims)]) > 0;
        if (!possible) continue;
        next.words = partly_relevant_share(b, m->v, extent);
        if (partly_relevant > 1 && !is_closed(b, extent, m->v)) {
            next.most = sharing_children(bounds, m->from + 1, m->v);
            next.groups = 1 / next.most;
            if (sx_outline_bound_has_links(bounds, m->from + 1, m->v)) next.own = 1 / partly_relevant;
        }
        set_pull(m, i, next);
    }
}

/* Makes the pulls of all forms that are possible (of the compute units: of the first). */
static void make_traffics(making *m) {
    const sx_bound *b = m->bounds->bound;
    const double irrelevant = sx_outline_bound_fanout(m->bounds, m->from + 1, b->irrelevant[m->v]);
    const pull all = {.words = 1, .groups = 1 / irrelevant, .most = irrelevant, .own = 1};
    m->fewest = irrelevant;
    m->renewed = m->from < 0 || b->renewed[m->from] >> m->v & 1;
    if (b->partly_relevant[m->v] && b->n_windows[m->v] == 0)
        combine_partly_relevant(m, &all);
    else
        combine_windows(m, &all);
}

sx_least_traffic sx_outline_bound_operand(const sx_outline_bound *bounds, int v) {
    sx_least_traffic out;
    make_traffics(&(making){.bounds = bounds, .v = v, .from = -1, .outer = 1, .out = &out});
    return out;
}

/* Where the pulls of a flow stand: those of a tensor together. */
static sx_least_traffic *pull_place(const sx_outline_bound *bounds, int v, int from, int to) {
    const sx_bound *b = bounds->bound;
    size_t forms = 0, levels = b->model->n_levels;
    for (int i = 0; i < v; i++) forms += b->form[i].n_points;
    size_t pair = (size_t)(from + 1) * levels + (size_t)to;
    return bounds->traffics + forms * levels * levels + pair * b->form[v].n_points;
}

void sx_outline_bound_first_traffic(sx_outline_bound *bounds, int v, int from, int to,
                                    sx_least_traffic *out) {
    const double outer = 1 / share_slots(bounds, v, from, to);
    make_traffics(
        &(making){.bounds = bounds, .v = v, .from = from, .firsts = true, .outer = outer, .out = out});
}

const sx_least_traffic *sx_outline_bound_traffic(sx_outline_bound *bounds, int v, int from, int to) {
    sx_least_traffic **known = &bounds->traffic[v][from + 1][to];
    const double outer = *known ? 0 : 1 / share_slots(bounds, v, from, to);
    bool made;
    if (*known) return *known;
    *known = sx_traffic_cache_find(bounds->traffic_cache, bounds, v, from, outer, &made);
    if (made) return *known;
    if (!*known) *known = pull_place(bounds, v, from, to);
    make_traffics(&(making){.bounds = bounds, .v = v, .from = from, .outer = outer, .out = *known});
    return *known;
}
