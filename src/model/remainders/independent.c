/* Remainders by closed forms, for a tensor whose every rank is one dimension (of outputs, without a stride).
 *
 * A child's tile r of such a tensor is fetched anew whenever the child comes to it from another tile. Going
 * outward, let i be the first loop on a dimension of the tensor that runs more than once around r (is
 * active); loops inside i leave r in place, and each turn of the other dimensions' loops outside i brings it
 * back once. So the words a child fetches are a sum over i of (words of the tiles whose first active loop is
 * i) x (turns of the other dimensions' loops outside i), and both factors are products over dimensions, also
 * when summed over all children. A loop is inactive only at the edge, where all outer loops on its dimension
 * are at their last iteration. walk.c carries the same out step by step, for any tensor. */
#include "model/remainders/partition.h"
#include "model/remainders/window.h"

#include <math.h>

/* The loops on one dimension outside the children, innermost first. */
typedef struct dim_loops {
    const sx_loop *loop[2 * MAX_LOOPS];
    bool spatial[2 * MAX_LOOPS], slot[2 * MAX_LOOPS];
    uint8_t place[2 * MAX_LOOPS];
    int n;
    double full, rest; /* the words that a tile spans, and the last tile */
    double tiles;      /* in the dimension, where nothing is left over */
    bool imperfect;
} dim_loops;

/* The words that a tile of a tensor spans along a dimension: more than the dimension's extent where its
 * coefficient leaves gaps. */
static double span_words(const sx_shape *shape, int dim, uint32_t extent) {
    if (!(shape->dims >> dim & 1)) return extent;
    double coef = fabs((double)shape->of_dim[shape->first_of_dim[dim]].coef);
    return coef * (extent - 1) + 1;
}

/* One level's children, as a tensor sees them. */
typedef struct family {
    const sx_model_workspace *e;
    const sx_shape *shape;
    int level;
    dim_loops dim_loops[SX_MAX_DIMS];
} family;

static void add_loop(family *f, const sx_loop *loop, bool spatial, bool slot) {
    dim_loops *c = &f->dim_loops[loop->dim];
    c->imperfect |= loop->last != loop->n;
    c->spatial[c->n] = spatial;
    c->slot[c->n] = slot;
    c->loop[c->n++] = loop;
}

/* Lists the loops outside the children of a level. */
static void list_loops(family *f, int level) {
    const sx_model *model = f->e->model;
    const sx_nest *nest = &f->e->nest;
    f->level = level;
    for (int d = 0; d < model->n_dims; d++) {
        dim_loops *c = &f->dim_loops[d];
        uint32_t full = level > 0 ? nest->extent[level - 1][d] : 1, rest = (model->size[d] - 1) % full + 1;
        c->n = 0;
        c->full = span_words(f->shape, d, full);
        c->rest = span_words(f->shape, d, rest);
        c->tiles = model->size[d] / full;
        c->imperfect = rest != full;
    }
    for (int s = level; s < model->n_levels; s++) {
        for (int l = nest->spatial_of[s]; l < nest->spatial_of[s + 1]; l++)
            add_loop(f, &nest->spatial[l], true, s == level);
        for (int l = nest->temporal_of[s]; l < nest->temporal_of[s + 1]; l++)
            add_loop(f, &nest->temporal[l], false, false);
    }
}

/* What is asked of a dimension's coordinates: its `still` innermost turns are inactive, and the next one is
 * active if `active`. */
typedef struct demand {
    int still;
    bool active;
} demand;

/* The coordinates that meet a demand, for children at the places set in the chain. */
static double count_here(const dim_loops *c, demand want) {
    double inside = c->full, edge = c->rest,
           first = -1; /* sums below the current ring, off and at the edge */
    int turn = 0;
    bool inactive = true, next_active = true, next_reached = true;
    double next = 0;
    for (int i = 0; i < c->n; i++) {
        const sx_loop *l = c->loop[i];
        if (c->spatial[i]) {
            if (c->place[i] == SX_EARLY) edge = inside;
            if (c->place[i] == SX_IDLE) edge = 0;
            if (c->place[i] != SX_ON && turn > 0) first = first > 0 ? 0 : first;
            if (c->place[i] != SX_ON && turn > want.still) next_reached = false;
            continue;
        }
        uint32_t times = l->last - (edge > 0 ? 0 : 1);
        edge += (l->last - 1) * inside;
        inside *= l->n;
        if (turn == 0) first = edge;
        if (turn < want.still) inactive &= times == 1;
        if (turn == want.still) {
            next_active = times > 1;
            next = edge;
        }
        turn++;
    }
    if (want.still > 0) return inactive && (!want.active || next_active) ? first : 0;
    return edge - (want.active && !next_active && next_reached ? next : 0);
}

/* The same summed over all places of the children in the spatial loops, from ring i inward. */
static double count_places(dim_loops *c, demand want, int i, bool off) {
    while (i >= 0 && !c->spatial[i]) i--;
    if (i < 0) return count_here(c, want);
    uint32_t n = c->loop[i]->n, last = c->loop[i]->last;
    if (off) {
        c->place[i] = SX_EARLY;
        return n * count_places(c, want, i - 1, true);
    }
    double sum = 0;
    const uint32_t many[] = {[SX_EARLY] = last - 1, [SX_ON] = 1, [SX_IDLE] = n - last};
    for (uint8_t place = SX_EARLY; place <= SX_IDLE; place++) {
        if (many[place] == 0) continue;
        c->place[i] = place;
        sum += many[place] * count_places(c, want, i - 1, place != SX_ON);
    }
    return sum;
}

/* The coordinates of a dimension, over all children, that meet a demand. */
static double count_coordinates(dim_loops *c, demand want) {
    if (!c->imperfect) return want.still > 0 ? 0 : c->tiles * c->full;
    return count_places(c, want, c->n - 1, false);
}

/* The turns of a dimension that does not index the tensor: iterations of its temporal loops from `outside`
 * on, for each child, as far as the child is in use then. With `alone`, only the first child under each
 * parent counts. */
static double count_turns(const dim_loops *c, const sx_loop *outside, bool alone) {
    double inside = 0, edge = 1;
    for (int i = c->n - 1; i >= 0; i--) {
        const sx_loop *l = c->loop[i];
        bool counted = c->spatial[i] ? !(c->slot[i] && alone) : l >= outside;
        if (counted) {
            inside = inside * l->n + edge * (l->last - 1);
        } else if (l->last > 1) {
            inside += edge;
            edge = 0;
        }
    }
    return inside + edge;
}

/* The words of tiles that meet the demands of their dimensions. */
static double tile_words(family *f, const demand *want) {
    double words = 1;
    for (int d = 0; d < f->e->model->n_dims && words > 0; d++)
        if (f->shape->dims >> d & 1) words *= count_coordinates(&f->dim_loops[d], want[d]);
    return words;
}

/* The turns of all other dimensions' loops from `outside` on. */
static double other_turns(const family *f, const sx_loop *outside, bool alone) {
    double product = 1;
    for (int d = 0; d < f->e->model->n_dims; d++)
        if (!(f->shape->dims >> d & 1)) product *= count_turns(&f->dim_loops[d], outside, alone);
    return product;
}

/* The words all children fetch (*all), and those that the first of each group of children that want the same
 * words fetches (*grouped). */
static void fetch_words(family *f, double *all, double *grouped) {
    const sx_nest *nest = &f->e->nest;
    demand want[SX_MAX_DIMS] = {0};
    *all = *grouped = 0;
    for (int l = nest->temporal_of[f->level]; l <= nest->n_temporal; l++) {
        const sx_loop *loop = &nest->temporal[l];
        bool none = l == nest->n_temporal; /* tiles around which no loop is active */
        if (!none && !(f->shape->dims >> loop->dim & 1)) continue;
        if (!none) want[loop->dim].active = true;
        double words = tile_words(f, want);
        if (words > 0) {
            *all += words * other_turns(f, loop, false);
            *grouped += words * other_turns(f, loop, true);
        }
        if (none) break;
        want[loop->dim].active = false;
        want[loop->dim].still++;
        if (tile_words(f, want) == 0) break;
    }
}

/* Whether compute units under one instance have neighbours that use the same operand at all times (1), never
 * (0), or one cannot tell so simply (-1): units that are idle at the edge forget their operands. */
static int neighbours_agree(const sx_model *model, const sx_shape *shape, const sx_nest *nest) {
    int n = nest->spatial_of[1], n_x = nest->n_x[0];
    if (n > n_x && nest->slot_x[0] < model->level[0].fanout_x) return -1;
    if (!sx_neighbours_agree(nest->spatial, n, n_x, shape->dims)) return 0;
    for (int l = 0; l < n; l++)
        if (nest->spatial[l].last != nest->spatial[l].n) return -1;
    return 1;
}

/* The operands the first level hands to its compute units, each group of them once; negative where one cannot
 * tell so simply. */
static double feed_compute(family *f, const sx_mapping *mapping, int tensor) {
    const sx_model *model = f->e->model;
    const sx_nest *nest = &f->e->nest;
    if (nest->spatial_of[1] == 0) return (double)model->computes;
    bool links = !model->options.no_link_transfers && !(mapping->level[0].no_link_transfer >> tensor & 1);
    int agree = links ? neighbours_agree(model, f->shape, nest) : 0;
    if (agree < 0) return -1;
    double all, grouped;
    if (agree) {
        fetch_words(f, &all, &grouped);
        return grouped;
    }
    demand any[SX_MAX_DIMS] = {0};
    return tile_words(f, any) * other_turns(f, nest->temporal, true);
}

/* Lets the next outer level serve a level that does not keep the tensor, as collapse.c does it record by
 * record; false where the two might be rounded to different counts. */
static bool bypass_level(sx_level_traffic *at) {
    at[1].demand *= at[0].demand / at[0].supply;
    at[0] = (sx_level_traffic){0};
    double part = at[1].demand - floor(at[1].demand);
    return at[1].demand < 0x1p40 && fabs(part - 0.5) > 1e-3;
}

/* What a level hands to its children, by closed forms; false where they do not apply. */
static bool count_level(family *f, const sx_mapping *mapping, int tensor, int s, sx_level_traffic *at) {
    const sx_shape *shape = f->shape;
    unsigned directives =
        mapping->level[s].no_multicast | (s > 0 ? mapping->level[s - 1].no_temporal_reuse : 0u);
    if (!shape->plain || directives >> tensor & 1) return false;
    list_loops(f, s);
    if (s > 0)
        fetch_words(f, &at[s - 1].supply, &at[s].demand);
    else
        at[0].demand = feed_compute(f, mapping, tensor);
    return at[s].demand >= 0;
}

/* A level without loops hands on what it gets: one tile to one child, and neighbours of its own have no part in that.
 * False where it has loops, or fetches other than its child does. */
static bool pass_level(const sx_model_workspace *e, const sx_mapping *mapping, int tensor, int s,
                       sx_level_traffic *at) {
    const sx_nest *nest = &e->nest;
    bool loops =
        nest->spatial_of[s] < nest->spatial_of[s + 1] || nest->temporal_of[s] < nest->temporal_of[s + 1];
    if (s == 0 || s + 1 == e->model->n_levels || loops) return false;
    if ((mapping->level[s].no_temporal_reuse ^ mapping->level[s - 1].no_temporal_reuse) >> tensor & 1)
        return false;
    at[s].demand = at[s - 1].supply = at[s].supply + at[s].peers;
    return true;
}

/* The same by the dynamic program for sliding windows. */
static bool count_window(sx_model_workspace *e, const sx_mapping *mapping, int tensor, int s,
                         sx_level_traffic *at) {
    sx_window_sums sums;
    if (s == 0 && e->nest.spatial_of[1] == 0) {
        at[0].demand = (double)e->model->computes;
        return true;
    }
    if (e->walks || !sx_window_count(e, mapping, tensor, s, &sums)) return false;
    at[s].demand = sums.accesses;
    if (s == 0) return true;
    at[s - 1].supply = sums.deliveries;
    at[s - 1].peers = sums.links;
    return true;
}

bool sx_fast_count_imperfect(sx_model_workspace *e, const sx_mapping *mapping, int tensor,
                             sx_counts *counts) {
    const sx_model *model = e->model;
    const sx_shape *shape = &model->shape[tensor];
    int n = model->n_levels;
    if (model->net_energy || !(mapping->level[n - 1].keep >> tensor & 1)) return false;
    sx_level_traffic at[SX_MAX_LEVELS] = {0};
    family f;
    f.e = e;
    f.shape = shape;
    for (int s = n - 1; s >= 0; s--) {
        if (mapping->level[s].no_coalesce >> tensor & 1) return false;
        if (!pass_level(e, mapping, tensor, s, at) && !count_level(&f, mapping, tensor, s, at) &&
            !count_window(e, mapping, tensor, s, at))
            return false;
        if (at[s].demand >= 0x1p53 || (s > 0 && at[s - 1].supply >= 0x1p53)) return false;
        at[s].tile = e->nest.tile[tensor][s];
        if (!shape->output) continue;
        at[s].partition = sx_partition_words(model, &e->nest, mapping, tensor, s, NULL);
        if (at[s].partition < 0) return false;
    }
    for (int s = 0; s < n; s++)
        if (!(mapping->level[s].keep >> tensor & 1) && !bypass_level(&at[s])) return false;
    for (int s = 0; s < n; s++)
        counts[s] = sx_collapse_count(&at[s], shape->output, s == n - 1,
                                      sx_collapse_elides(model, mapping, s, tensor));
    return true;
}
