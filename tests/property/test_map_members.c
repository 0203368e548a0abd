/* What a map space holds, against an obvious list: every mapping of a small problem that the model takes,
 * that the constraints allow, and that keeps to the few rules of docs/space.md, and no other. And what every
 * mapper answers is one of them: test_map_members [count [seed]]. */
#include "support/compared.h"
#include "support/expect.h"
#include "support/random_case.h"
#include "support/random_legal.h"
#include "support/random_limits.h"

#include "base/hash.h"
#include "mapspace/map_space.h"
#include "mip/mip.h"
#include "sextant/run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_MAPPINGS = 15000, MOST_POINTS = 60000 };

typedef struct settings {
    uint64_t count, seed;
} settings;

/* A case in hand. */
typedef struct world {
    uint64_t index;
    sx_case c;
    sx_constraints limits;
    sx_map_space_options options;
    sx_model *model;
    sx_space *space;
} world;

static bool chance(sx_rng *rng, unsigned percent) {
    return sx_rng_below(rng, 100) < percent;
}

/* Gives the architecture fan-outs at several levels, and now and then levels that keep nothing. */
static void draw_fanouts(sx_rng *rng, sx_arch *a) {
    uint64_t x = chance(rng, 85) ? 1 : 2, y = chance(rng, 85) ? 1 : 2;
    for (int s = a->n_levels - 1; s >= 0; s--) {
        sx_storage *level = &a->level[s];
        level->mesh_x = x;
        level->mesh_y = y;
        level->instances = x * y;
        level->cluster_size = 1;
        level->transparent = s + 1 < a->n_levels && chance(rng, 15);
        if (chance(rng, 50)) x *= (uint64_t)sx_rng_range(rng, 1, 4);
        if (chance(rng, 35)) y *= (uint64_t)sx_rng_range(rng, 1, 3);
    }
    a->compute.mesh_x = x;
    a->compute.mesh_y = y;
    a->compute.instances = x * y;
}

static bool make(world *w) {
    sx_expect_ok(sx_model_new(&w->c.problem, &w->c.arch, &w->c.options, &w->model));
    sx_status status = sx_map_space_new(w->model, &w->limits, &w->options, &w->space);
    if (!status) return true;
    sx_status_free(status);
    w->space = NULL;
    return false;
}

/* Draws a case; `most` iterations. Its space is NULL where constraints contradict the problem. */
static void begin(world *w, sx_rng *rng, uint64_t index, uint64_t most) {
    memset(w, 0, sizeof *w);
    w->index = index;
    w->options = (sx_map_space_options){
        .remainders = chance(rng, 30), .keep_all = chance(rng, 40), .no_banks = chance(rng, 25)};
    w->options.split_axes = !w->options.remainders && index % 2;
    sx_random_case(rng, w->options.remainders ? SX_CASE_REMAINDER : 0, &w->c);
    if (chance(rng, 70)) draw_fanouts(rng, &w->c.arch);
    while (sx_problem_computes(&w->c.problem) > most) {
        uint32_t *size = &w->c.problem.size[sx_rng_below(rng, w->c.problem.n_dims)];
        *size = (*size + 1) / 2;
    }
    sx_expect_ok(sx_arch_check(&w->c.arch));
    if (chance(rng, 60))
        sx_random_limits(rng, &w->c.problem, &w->c.arch, &w->limits);
    else
        sx_constraints_init(&w->limits, &w->c.problem, &w->c.arch);
    make(w);
}

static void end(world *w) {
    sx_space_free(w->space);
    sx_model_free(w->model);
}

/* Says what is wrong with a case, and fails. */
static void wrong(const world *w, const sx_mapping *mapping, const char *what) {
    char limits[4000], *text;
    sx_text json = {0};
    sx_limits_text(&w->limits, limits, sizeof limits);
    sx_case_write(&w->c, &json);
    print_error("case %llu: %s\nremainders %d keep_all %d no_banks %d split_axes %d\n%s%s\n",
                (unsigned long long)w->index, what, w->options.remainders, w->options.keep_all,
                w->options.no_banks, w->options.split_axes, limits, json.data);
    sx_text_free(&json);
    if (mapping && !sx_mapping_write(mapping, &w->c.problem, &w->c.arch, SX_YAML, &text)) {
        print_error("%s\n", text);
        free(text);
    }
    fail();
}

/* --- the rules, one by one --- */

/* The tensors that a level may keep at all. */
static unsigned may_keep(const world *w, int s) {
    return sx_arch_keep_mask(&w->c.arch, s, &w->c.problem) & ~(unsigned)w->limits.level[s].must_bypass;
}

/* Whether a level is shared out by banks. */
static bool banked(const world *w, int s) {
    const sx_storage *level = &w->c.arch.level[s];
    unsigned n = (unsigned)__builtin_popcount(may_keep(w, s));
    return level->banks >= n && n > 1 && level->entries != SX_UNLIMITED && s + 1 < w->c.arch.n_levels &&
           !w->options.no_banks;
}

/* The words of a tensor's tile at a level. */
static uint64_t words(const world *w, const sx_mapping *m, int s, int v) {
    uint64_t product = 1;
    for (int r = 0; r < w->c.problem.tensor[v].n_ranks; r++) {
        uint64_t extent = 1;
        for (int d = 0; d < m->n_dims; d++) {
            uint64_t reach = sx_mapping_extent(m, s, d), size = w->c.problem.size[d];
            int64_t coef = w->c.problem.tensor[v].coef[r][d];
            extent += (uint64_t)(coef < 0 ? -coef : coef) * ((reach < size ? reach : size) - 1);
        }
        product *= extent;
    }
    uint64_t bits = w->c.problem.tensor[v].bits, word = w->c.arch.level[s].word_bits;
    return bits ? (product * bits + word - 1) / word : product;
}

/* In how many ways a level's banks can be dealt out so that it keeps just what it does: from tensor v on,
 * with a given number of banks left. */
static uint64_t count_deals(const world *w, const sx_mapping *m, int s, int v, uint32_t left) {
    const sx_storage *level = &w->c.arch.level[s];
    if (v == w->c.problem.n_tensors) return left == 0;
    if (!(may_keep(w, s) >> v & 1)) return count_deals(w, m, s, v + 1, left);
    uint64_t room = (uint64_t)floor((double)level->entries / level->multiple_buffering) / level->banks, n = 0;
    for (uint32_t banks = 1; banks <= left; banks++)
        if ((words(w, m, s, v) <= banks * room) == (m->level[s].keep >> v & 1))
            n += count_deals(w, m, s, v + 1, left - banks);
    return n;
}

/* Whether a dimension on X lies on both axes with a part there that has room, and the rest of it on Y. */
static bool has_room(const sx_mapping_level *level, int d, uint32_t part, const uint64_t *used,
                     const uint64_t *room) {
    uint32_t factor = level->spatial[d];
    return part > 1 && part < factor && factor % part == 0 && used[0] / factor * part <= room[0] &&
           used[1] * (factor / part) <= room[1];
}

/* Whether a level's last dimension on X must lie on both axes, as much of it on X as there is room for, and none of
 * the dimensions after it could do so instead; `used` as if it lay on X alone. */
static bool split_is_right(const sx_mapping_level *level, const uint64_t *used, const uint64_t *room) {
    int both = level->spatial_order[level->split - 1];
    if (used[0] <= room[0] || !has_room(level, both, level->x_part, used, room)) return false;
    for (uint32_t part = level->x_part + 1u; part < level->spatial[both]; part++)
        if (has_room(level, both, part, used, room)) return false;
    for (int i = 0; i < level->split - 1; i++)
        for (uint32_t part = 2; level->spatial_order[i] > both && part < 100; part++)
            if (has_room(level, level->spatial_order[i], part, used, room)) return false;
    return true;
}

/* Whether the spatial loops of a level lie within its fan-out and in their order: that of the constraints, or
 * of the dimensions, on X and on Y. */
static bool spread_is_right(const world *w, const sx_mapping *m, int s) {
    const sx_mapping_level *level = &m->level[s];
    const sx_loop_limits *limits = &w->limits.level[s].spatial;
    int rank[SX_MAX_DIMS];
    uint64_t used[2] = {1, 1};
    for (int d = 0; d < m->n_dims; d++) rank[d] = 100 + d;
    for (int i = 0; i < limits->n_inner; i++) rank[limits->inner[i]] = i;
    for (int i = 0; i < limits->n_outer; i++) rank[limits->outer[i]] = 200 + i;
    for (int i = 0, last = -1; i < m->n_dims; i++) {
        int d = level->spatial_order[i];
        if (i == level->split || (level->x_part && i + 1 == level->split)) last = -1;
        used[i >= level->split] *= level->spatial[d];
        if (level->spatial[d] == 1) continue;
        if (rank[d] < last) return false;
        last = rank[d];
    }
    uint64_t room[2] = {sx_arch_fanout_x(&w->c.arch, s), sx_arch_fanout_y(&w->c.arch, s)};
    return level->x_part ? split_is_right(level, used, room) : used[0] <= room[0] && used[1] <= room[1];
}

/* Whether a level that keeps nothing has no loops in time but those that constraints ask for. */
static bool is_quiet(const world *w, const sx_mapping *m, int s) {
    const sx_loop_limits *limits = &w->limits.level[s].temporal;
    for (int d = 0; d < m->n_dims && w->c.arch.level[s].transparent; d++)
        if (m->level[s].temporal[d] != limits->min[d] && !limits->rest[d]) return false;
    return true;
}

/* How many points of the space a mapping is, legal ones only: the shares of banks count apart. */
static uint64_t count_points(const world *w, const sx_mapping *m) {
    uint64_t n = 1;
    if (sx_check(w->model, m).reason != SX_LEGAL) return 0;
    if (!w->options.remainders && !sx_mapping_perfect(m, &w->c.problem)) return 0;
    if (!sx_constraints_allow(&w->limits, m, &w->c.problem, &w->c.arch, NULL, 0)) return 0;
    for (int s = 0; s < m->n_levels; s++) {
        if (!spread_is_right(w, m, s) || !is_quiet(w, m, s)) return 0;
        if (banked(w, s)) n *= count_deals(w, m, s, 0, w->c.arch.level[s].banks);
    }
    return n;
}

/* --- all mappings there are --- */

/* Mappings as they are listed, each in its canonical bytes, and how many points it is. */
typedef struct list {
    const world *w;
    bool full; /* there are too many */
    uint64_t seen;
    size_t n, room;
    struct entry {
        sx_mapping mapping;
        uint64_t points;
    } * entry;
} list;

static void add(list *l, const sx_mapping *mapping) {
    uint64_t points = count_points(l->w, mapping);
    l->full |= ++l->seen > MOST_MAPPINGS;
    if (points == 0) return;
    if (l->n == l->room) {
        l->room = l->room ? 2 * l->room : 64;
        l->entry = realloc(l->entry, l->room * sizeof *l->entry);
        assert_non_null(l->entry);
    }
    struct entry *e = &l->entry[l->n++];
    e->mapping = *mapping;
    e->points = points;
    sx_mapping_canonical(&e->mapping);
}

static void list_keeps(list *l, sx_mapping *m, int s);
static void list_spreads(list *l, sx_mapping *m, int s);

/* All orders of the loops of a level from place i on. */
static void list_orders(list *l, sx_mapping *m, int s, int i, int n) {
    uint8_t *order = m->level[s].temporal_order;
    if (i >= n) {
        list_keeps(l, m, s);
        return;
    }
    for (int j = i; j < n && !l->full; j++) {
        uint8_t kept = order[i];
        order[i] = order[j];
        order[j] = kept;
        list_orders(l, m, s, i + 1, n);
        order[j] = order[i];
        order[i] = kept;
    }
}

/* All sets of tensors that a level can be told to keep; the outermost keeps all it may. */
static void list_keeps(list *l, sx_mapping *m, int s) {
    unsigned may = may_keep(l->w, s), must = l->w->limits.level[s].must_keep & may;
    if (s + 1 == m->n_levels || l->w->options.keep_all) must = may;
    for (unsigned keep = 0; keep <= may && !l->full; keep++) {
        if (keep & ~may || must & ~keep) continue;
        m->level[s].keep = (uint8_t)keep;
        sx_level_limits_impose(&l->w->limits.level[s], &m->level[s]);
        if (s + 1 == m->n_levels)
            add(l, m);
        else
            list_spreads(l, m, s + 1);
    }
}

/* Puts the dimensions with a loop first; returns how many. */
static int loops_first(const uint32_t *factor, int n_dims, uint8_t *order) {
    int n = 0, to = 0;
    for (int d = 0; d < n_dims; d++)
        if (factor[d] > 1) order[to++] = (uint8_t)d;
    n = to;
    for (int d = 0; d < n_dims; d++)
        if (factor[d] == 1) order[to++] = (uint8_t)d;
    return n;
}

/* The place of a dimension in the order of a level's spatial loops. */
static int spatial_rank(const world *w, int s, int d) {
    const sx_loop_limits *limits = &w->limits.level[s].spatial;
    for (int i = 0; i < limits->n_inner; i++)
        if (limits->inner[i] == d) return i;
    for (int i = 0; i < limits->n_outer; i++)
        if (limits->outer[i] == d) return 200 + i;
    return 100 + d;
}

/* All ways to lay one of a level's dimensions on X on both axes, where nothing constrains its axes. */
static void list_splits(list *l, sx_mapping *m, int s) {
    sx_mapping_level *level = &m->level[s], laid = *level;
    const sx_level_limits *limits = &l->w->limits.level[s];
    if (!l->w->options.split_axes || limits->split >= 0 ||
        limits->spatial.n_inner + limits->spatial.n_outer > 0)
        return;
    for (int i = 0; i < laid.split; i++) {
        int last = laid.split - 1;
        memcpy(level->spatial_order, laid.spatial_order, sizeof laid.spatial_order);
        memmove(level->spatial_order + i, level->spatial_order + i + 1, (size_t)(last - i));
        level->spatial_order[last] = laid.spatial_order[i];
        uint32_t factor = level->spatial[laid.spatial_order[i]];
        for (uint32_t part = 2; part < factor; part++) {
            level->x_part = (uint16_t)part;
            if (factor % part == 0)
                list_orders(l, m, s, 0, loops_first(level->temporal, m->n_dims, level->temporal_order));
        }
    }
    memcpy(level->spatial_order, laid.spatial_order, sizeof laid.spatial_order);
    level->x_part = 0;
}

/* All sets of a level's spatial loops on X, then the orders of its temporal ones. */
static void list_spreads(list *l, sx_mapping *m, int s) {
    sx_mapping_level *level = &m->level[s];
    uint8_t loop[SX_MAX_DIMS];
    int n = loops_first(level->spatial, m->n_dims, loop);
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && spatial_rank(l->w, s, loop[j]) < spatial_rank(l->w, s, loop[j - 1]); j--) {
            uint8_t kept = loop[j];
            loop[j] = loop[j - 1];
            loop[j - 1] = kept;
        }
    for (unsigned x = 0; x < 1u << n && !l->full; x++) {
        int to = 0;
        for (int i = 0; i < n; i++)
            if (x >> i & 1) level->spatial_order[to++] = loop[i];
        level->split = (uint8_t)to;
        for (int i = 0; i < n; i++)
            if (!(x >> i & 1)) level->spatial_order[to++] = loop[i];
        memcpy(level->spatial_order + n, loop + n, (size_t)(m->n_dims - n));
        int loops = loops_first(level->temporal, m->n_dims, level->temporal_order);
        list_orders(l, m, s, 0, loops);
        list_splits(l, m, s);
    }
}

/* All factors of a dimension from a slot on, and of the dimensions after it. */
static void list_factors(list *l, sx_mapping *m, int d, int slot, uint32_t left) {
    if (d == m->n_dims) {
        list_spreads(l, m, 0);
        return;
    }
    if (slot == 2 * m->n_levels) {
        uint32_t next = d + 1 < m->n_dims ? l->w->c.problem.size[d + 1] : 1;
        if (left == 1) list_factors(l, m, d + 1, 0, next);
        return;
    }
    sx_mapping_level *level = &m->level[slot / 2];
    uint64_t fanout = sx_arch_fanout_x(&l->w->c.arch, slot / 2) * sx_arch_fanout_y(&l->w->c.arch, slot / 2);
    const sx_loop_limits *limits =
        slot % 2 ? &l->w->limits.level[slot / 2].temporal : &l->w->limits.level[slot / 2].spatial;
    uint32_t *factor = slot % 2 ? &level->temporal[d] : &level->spatial[d];
    for (uint32_t f = 1; f <= left && !l->full; f++) {
        if (!l->w->options.remainders && left % f) continue;
        if ((slot % 2 == 0 && f > fanout) || f < limits->min[d] || f > limits->max[d]) continue;
        *factor = f;
        list_factors(l, m, d, slot + 1, (left + f - 1) / f);
    }
    *factor = 1;
}

static int compare_mappings(const void *a, const void *b) {
    return memcmp(a, b, sizeof(sx_mapping));
}

/* Counts a point off the list; false where its mapping is not on it. */
static bool cross_off(list *l, const sx_mapping *mapping) {
    struct entry *e = l->n ? bsearch(mapping, l->entry, l->n, sizeof *l->entry, compare_mappings) : NULL;
    if (!e || e->points == 0) return false;
    e->points--;
    return true;
}

/* The different points of a space, by their bytes. */
typedef struct point_set {
    size_t size, n;
    unsigned char *points;
    uint32_t place[1 << 18]; /* 1 + the number of a point; 0: free */
} point_set;

/* Adds the last of the points, which is number n; false where it is there already. */
static bool add_point(point_set *points) {
    const unsigned char *point = points->points + points->n * points->size;
    size_t at = (size_t)(sx_hash_bytes(point, points->size, 1) % (sizeof points->place / 4));
    for (; points->place[at]; at = (at + 1) % (sizeof points->place / 4))
        if (memcmp(points->points + (points->place[at] - 1) * points->size, point, points->size) == 0)
            return false;
    points->place[at] = (uint32_t)++points->n;
    return true;
}

static point_set *new_set(size_t size) {
    point_set *set = calloc(1, sizeof *set);
    assert_non_null(set);
    set->size = size;
    set->points = malloc(MOST_POINTS * (size + 1));
    assert_non_null(set->points);
    return set;
}

static void free_set(point_set *set) {
    free(set->points);
    free(set);
}

/* Compares all points of the space with the list, and sees that no two have one vector; false where they are
 * too many. */
static bool compare(list *l) {
    const world *w = l->w;
    point_set *points = new_set(sx_space_point_size(w->space));
    point_set *vectors = new_set(sx_space_n_values(w->space) * sizeof(double));
    uint64_t i = 0;
    for (; i < MOST_POINTS; i++) {
        void *point = points->points + points->n * points->size;
        sx_mapping mapping;
        if (!sx_space_at(w->space, &(sx_cardinal){.low = i, .exact = true}, point)) break;
        if (!add_point(points)) continue;
        sx_map_space_mapping(w->space, point, &mapping);
        sx_space_encode(w->space, point, (double *)(void *)(vectors->points + vectors->n * vectors->size));
        if (!add_point(vectors)) wrong(w, &mapping, "two points have one vector");
        if (!sx_space_legal(w->space, point, NULL, 0)) continue;
        if (!cross_off(l, &mapping)) wrong(w, &mapping, "a legal point that should be none");
    }
    for (size_t j = 0; j < l->n && i < MOST_POINTS; j++)
        if (l->entry[j].points > 0) wrong(w, &l->entry[j].mapping, "a mapping that should be a point");
    free_set(points);
    free_set(vectors);
    return i < MOST_POINTS;
}

static void spaces_hold_what_they_should(void **state) {
    const settings *set = *state;
    uint64_t done = 0, refused = 0, legal = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "map-members", i);
        world w;
        begin(&w, &rng, i, 12);
        list l = {.w = &w};
        sx_mapping m = {0};
        m.n_levels = w.c.arch.n_levels;
        m.n_dims = w.c.problem.n_dims;
        m.n_tensors = w.c.problem.n_tensors;
        for (int s = 0; s < m.n_levels; s++)
            for (int d = 0; d < m.n_dims; d++) m.level[s].temporal[d] = m.level[s].spatial[d] = 1;
        list_factors(&l, &m, 0, 0, w.c.problem.size[0]);
        if (!l.full && !w.space && l.n > 0) wrong(&w, &l.entry[0].mapping, "refused, but there is a mapping");
        if (l.n) qsort(l.entry, l.n, sizeof *l.entry, compare_mappings);
        if (!l.full && w.space && compare(&l)) {
            done++;
            legal += l.n > 0;
        }
        refused += !w.space;
        free(l.entry);
        end(&w);
    }
    print_message("%llu spaces listed, %llu with legal points; %llu refused\n", (unsigned long long)done,
                  (unsigned long long)legal, (unsigned long long)refused);
    sx_expect_compared("listed spaces", done, set->count / 4);
    sx_expect_compared("listed spaces with legal points", legal, set->count / 8);
}

/* Asserts that the space and the rules agree on whether a point is legal (of its banks, others might do for
 * the same mapping); returns whether it is. */
static bool check_point(const world *w, const void *point, const char *how) {
    char what[400], text[200] = "";
    sx_mapping m;
    sx_map_space_mapping(w->space, point, &m);
    bool legal = sx_space_legal(w->space, point, text, sizeof text);
    if (!legal && !text[0]) wrong(w, &m, "illegal for no reason");
    if (legal == (count_points(w, &m) > 0)) return legal;
    if (!legal &&
        strcmp(w->space->type->reason(w->space, w->space->type->check(w->space, point)), "bank-share") == 0)
        return legal;
    snprintf(what, sizeof what, "%s: the space says %d (%s)", how, legal, text);
    wrong(w, &m, what);
    return false;
}

/* Asserts that all ways to points lead to legal ones, or to ones that are rightly illegal; returns how many
 * were legal. */
static size_t check_ways(const world *w, sx_rng *rng, int n) {
    const sx_space *space = w->space;
    void *point = malloc(space->point_size);
    double *values = malloc((space->n_values + 1) * sizeof *values);
    size_t legal = 0;
    assert_true(point && values);
    for (int i = 0; i < n; i++) {
        if (sx_space_sample(space, 3, (uint64_t)i, point))
            legal++, assert_true(check_point(w, point, "sample"));
        for (size_t gene = 0; gene < space->n_genes; gene++) {
            space->type->nudge(space, rng, gene, point);
            check_point(w, point, "nudge");
        }
        space->type->draw(space, rng, point);
        check_point(w, point, "draw");
        bool repaired = space->type->repair(space, rng, point);
        assert_int_equal(repaired, check_point(w, point, "repair"));
        space->type->draw_likely(space, rng, point);
        check_point(w, point, "likely draw");
        sx_space_encode(space, point, values);
        for (size_t v = 0; v < space->n_values; v++) values[v] += 3 * sx_rng_double(rng) - 1.5;
        if (i % 4 == 0 && sx_space_project(space, values, point))
            assert_true(check_point(w, point, "projection"));
    }
    free(point);
    free(values);
    return legal;
}

static void ways_lead_to_members(void **state) {
    const settings *set = *state;
    uint64_t legal = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "map-members.ways", i);
        world w;
        begin(&w, &rng, i, 300);
        if (w.space) legal += check_ways(&w, &rng, 6);
        end(&w);
    }
    sx_expect_compared("legal samples", legal, set->count);
}

static void catalog_spaces_obey_their_fanouts(void **state) {
    static const char *const archs[] = {"accel-b", "simba", "eyeriss", "edge-unified"};
    const settings *set = *state;
    for (size_t a = 0; a < sizeof archs / sizeof *archs; a++)
        for (int remainders = 0; remainders < 2; remainders++) {
            sx_rng rng = sx_rng_stream(set->seed, archs[a], (uint64_t)remainders);
            world w = {.index = a, .options.remainders = remainders};
            sx_expect_ok(sx_catalog_problem("resnet-conv4", &w.c.problem));
            sx_expect_ok(sx_catalog_arch(archs[a], &w.c.arch));
            sx_constraints_init(&w.limits, &w.c.problem, &w.c.arch);
            make(&w);
            assert_true(check_ways(&w, &rng, 200) == 200);
            end(&w);
        }
}

/* Asserts that a point that a mapper gave is legal, obeys every constraint and is in the space, and that its
 * score is its own. */
static void check_answer(const world *w, const char *mapper, sx_model_workspace *evaluator,
                         const sx_found *found) {
    char what[400], text[200] = "";
    sx_mapping m;
    sx_score score = {0};
    void *point = malloc(sx_space_point_size(w->space));
    assert_non_null(point);
    sx_map_space_mapping(w->space, found->point, &m);
    bool held = sx_map_space_point(w->space, &m, point);
    if (!sx_space_legal(w->space, found->point, text, sizeof text) || !held || count_points(w, &m) == 0) {
        sx_constraints_allow(&w->limits, &m, &w->c.problem, &w->c.arch, text, sizeof text);
        snprintf(what, sizeof what, "%s found what is none: %s%s", mapper, text, held ? "" : " not held");
        wrong(w, &m, what);
    }
    sx_verdict verdict = sx_evaluate_score(evaluator, &m, &score);
    if (verdict.reason != SX_LEGAL || memcmp(&score, found->metrics.value, sizeof score) != 0)
        wrong(w, &m, "a score that is another's");
    free(point);
}

/* A mapper as it is searched by: proofs and programs, which take no evaluations, with little effort; gradients
 * without a surrogate; reinforcement learning with small networks. */
static void set_effort(const char *mapper, char *text, size_t size) {
    sx_setting_about setting;
    bool proves = false;
    for (size_t i = 0; sx_navigator_setting(mapper, i, &setting); i++)
        proves |= strcmp(setting.name, "effort") == 0;
    const char *with = proves ? ":effort=0.1" : "";
    if (strcmp(mapper, "gradient") == 0) with = ":by=model";
    if (strcmp(mapper, "ddpg") == 0) with = ":width=16,batch=16,replay=64";
    if (strcmp(mapper, "cosa") == 0) with = ":nodes=1";
    snprintf(text, size, "%s%s", mapper, with);
}

/* Whether a mapper takes milliseconds for an evaluation. */
static bool is_slow(const char *mapper) {
    return strcmp(mapper, "bayes") == 0 || strcmp(mapper, "ddpg") == 0 || strcmp(mapper, "gradient") == 0;
}

/* Searches by one mapper; returns how many answers it gave. */
static size_t try_mapper(const world *w, sx_rng *rng, const char *mapper) {
    static const char *const objectives[] = {"edp", "energy", "delay"};
    sx_run_options options;
    sx_run *run;
    sx_found found;
    sx_model_workspace *evaluator;
    size_t n = 0, front = 0;
    char text[64];
    sx_run_options_init(&options);
    sx_expect_ok(sx_objective_parse(objectives[sx_rng_below(rng, 3)], &options.objective));
    options.evaluations = (uint64_t)sx_rng_range(rng, 1, 300);
    if (is_slow(mapper)) options.evaluations = 1 + options.evaluations / 20;
    options.seed = sx_rng_below(rng, 1000);
    options.k_best = (unsigned)sx_rng_range(rng, 1, 5);
    options.pareto = true;
    sx_expect_ok(sx_run_new(w->space, NULL, &options, &run));
    set_effort(mapper, text, sizeof text);
    sx_status status = sx_run_search(run, text);
    if (status && status->code != SX_ERR_LIMIT) sx_expect_ok(status);
    sx_status_free(status);
    sx_expect_ok(sx_model_workspace_new(w->model, &evaluator));
    for (; sx_run_best(run, n, &found); n++) check_answer(w, mapper, evaluator, &found);
    for (; sx_run_front(run, front, &found); front++) check_answer(w, mapper, evaluator, &found);
    assert_true(n <= options.k_best && (n > 0) == (front > 0));
    sx_model_workspace_free(evaluator);
    sx_run_free(run);
    return n;
}

static void mappers_answer_with_members(void **state) {
    const settings *set = *state;
    uint64_t answers = 0, tries = 0;
    const char *mapper, *about;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "map-members.mappers", i);
        world w;
        begin(&w, &rng, i, chance(&rng, 50) ? 100 : 1000);
        for (size_t j = 0; w.space && (mapper = sx_navigator_name(j, &about)); j++) {
            const char *space = sx_navigator_space(mapper);
            if (space && strcmp(space, "map") != 0) continue;
            if (strcmp(mapper, "cosa") == 0 && (i % 8 || !sx_mip_available())) continue; /* a process each */
            tries++;
            answers += try_mapper(&w, &rng, mapper) > 0;
        }
        end(&w);
    }
    print_message("%llu of %llu searches found something\n", (unsigned long long)answers,
                  (unsigned long long)tries);
    sx_expect_compared("searches with an answer", answers, set->count);
}

/* A case is many searches by every mapper: a twentieth of the cases that others are asked for is enough. */
int main(int argc, char **argv) {
    settings set = {.count = argc > 1 ? strtoull(argv[1], NULL, 10) / 20 + 1 : 150,
                    .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(spaces_hold_what_they_should, &set),
        cmocka_unit_test_prestate(ways_lead_to_members, &set),
        cmocka_unit_test_prestate(catalog_spaces_obey_their_fanouts, &set),
        cmocka_unit_test_prestate(mappers_answer_with_members, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
