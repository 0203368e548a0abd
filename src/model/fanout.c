/* Spatial siblings (docs/model.md, section 3): groups that want the same words, hops, neighbours.
 *
 * Where siblings want the same words exactly if they agree in the loops that index the tensor (no two spatial
 * loops move the same rank), group sizes and hops have closed forms; otherwise the siblings are enumerated.
 */
#include "model/fanout.h"

#include "base/divisor.h"
#include "base/hash.h"
#include "base/hash_table.h"
#include "model/served_memo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sx_fanout_scratch {
    size_t room;         /* siblings there is room for */
    size_t at_room;      /* numbers there is room for in `at` */
    int64_t *at;         /* per sibling and rank: where its tile stands */
    uint32_t *group_of;  /* per sibling */
    uint64_t *members;   /* per group */
    uint64_t *furthest;  /* per group: its last column */
    double *hops;        /* per group */
    sx_hash_table table; /* of tiles, then of columns */
    uint64_t *column_key;
    uint64_t *low, *high;
    bool *served;
    sx_multicast_group *group;
    sx_served_memo memo;
};

sx_fanout_scratch *sx_fanout_scratch_new(void) {
    return calloc(1, sizeof(sx_fanout_scratch));
}

static void scratch_clear(sx_fanout_scratch *s) {
    free(s->at);
    free(s->group_of);
    free(s->members);
    free(s->furthest);
    free(s->hops);
    sx_hash_table_clear(&s->table);
    free(s->column_key);
    free(s->low);
    free(s->high);
    free(s->served);
    free(s->group);
    *s = (sx_fanout_scratch){.memo = s->memo};
}

void sx_fanout_scratch_free(sx_fanout_scratch *scratch) {
    if (!scratch) return;
    scratch_clear(scratch);
    sx_served_memo_fini(&scratch->memo);
    free(scratch);
}

/* Makes room for n siblings; false when memory is out. */
static bool scratch_reserve(sx_fanout_scratch *s, size_t n) {
    if (n <= s->room) return true;
    size_t room = 64;
    while (room < n) room *= 2;
    scratch_clear(s);
    s->group_of = malloc(room * sizeof *s->group_of);
    s->members = malloc(room * sizeof *s->members);
    s->furthest = malloc(room * sizeof *s->furthest);
    s->hops = malloc(room * sizeof *s->hops);
    s->column_key = malloc(room * sizeof *s->column_key);
    s->low = malloc(room * sizeof *s->low);
    s->high = malloc(room * sizeof *s->high);
    s->served = malloc(room * sizeof *s->served);
    s->group = malloc(room * sizeof *s->group);
    if (!s->group_of || !s->members || !s->furthest || !s->hops || !s->column_key || !s->low || !s->high ||
        !s->served || !s->group) {
        scratch_clear(s);
        return false;
    }
    s->room = room;
    return true;
}

void sx_fanout_moves(sx_fanout *slot) {
    const sx_shape *shape = slot->shape;
    if (slot->moved) return;
    slot->moved = true;
    for (int l = 0; l < slot->n_loops; l++) {
        int d = slot->loop[l].dim;
        for (int r = 0; r < shape->n_ranks; r++) slot->move[l][r] = 0;
        for (int i = shape->first_of_dim[d]; i < shape->first_of_dim[d + 1]; i++)
            slot->move[l][shape->of_dim[i].rank] = shape->of_dim[i].coef * (int64_t)slot->loop[l].step;
    }
}

/* Sets the spans, and whether groups have closed forms. */
static void set_spans(sx_fanout *slot) {
    const sx_shape *shape = slot->shape;
    uint8_t movers[SX_MAX_RANKS];
    for (int r = 0; r < shape->n_ranks; r++) {
        slot->span[r] = 0;
        movers[r] = 0;
    }
    for (int l = 0; l < slot->n_loops; l++) {
        int d = slot->loop[l].dim;
        if (shape->solo >> d & 1) continue;
        for (int i = shape->first_of_dim[d]; i < shape->first_of_dim[d + 1]; i++) {
            int64_t move = shape->of_dim[i].coef * (int64_t)slot->loop[l].step;
            slot->span[shape->of_dim[i].rank] += llabs(move) * (slot->loop[l].n - 1);
            movers[shape->of_dim[i].rank]++;
        }
    }
    uint8_t most = 0;
    for (int k = 0; k < shape->n_mixed; k++)
        if (movers[shape->mixed[k]] > most) most = movers[shape->mixed[k]];
    slot->uniform = most <= 1;
    slot->paired = shape->simple && most <= 2;
}

/* Describes a slot whose loop, n_loops and n_x are set, which spread over x by y children. */
static void begin_fanout(sx_fanout *slot, const sx_shape *shape, const sx_level *at, uint64_t x, uint64_t y,
                         bool apart) {
    slot->shape = shape;
    slot->siblings = x * y;
    slot->columns = at->fanout_x > x ? at->fanout_x : x;
    slot->rows = at->fanout_y > y ? at->fanout_y : y;
    slot->apart = apart;
    slot->moved = false;
    slot->uniform = slot->paired = true;
    if (!shape->plain) set_spans(slot);
}

void sx_fanout_init(sx_fanout *slot, const sx_model *model, const sx_nest *nest, int level, int tensor,
                    bool apart) {
    slot->loop = &nest->spatial[nest->spatial_of[level]];
    slot->n_loops = nest->spatial_of[level + 1] - nest->spatial_of[level];
    slot->n_x = nest->n_x[level];
    begin_fanout(slot, &model->shape[tensor], &model->level[level], nest->slot_x[level], nest->slot_y[level],
                 apart);
}

/* Hops up and down one column from the middle row to rows low..high. */
static inline double column_hops(double middle, double low, double high) {
    return fmax(middle - low, 0) + fmax(high - middle, 0);
}

/* The sum of a uniform slot's group hops where its X loops fill whole rows of the mesh, or all lie in one
 * row. */
static double uniform_hops(const sx_fanout *slot, uint16_t dims) {
    double furthest = 0, groups_x = 1, width = 1, weight = 1;
    for (int l = 0; l < slot->n_x; l++) {
        double n = slot->loop[l].n;
        bool apart = dims >> slot->loop[l].dim & 1;
        furthest += (n - 1) * weight * (apart ? 0.5 : 1);
        *(apart ? &groups_x : &width) *= n;
        weight *= n;
    }
    double middle = ((double)slot->rows - 1) / 2, height = 0, groups_y = 1;
    weight = 1;
    for (int l = slot->n_x; l < slot->n_loops; l++) {
        double n = slot->loop[l].n;
        if (dims >> slot->loop[l].dim & 1)
            groups_y *= n;
        else
            height += (n - 1) * weight;
        weight *= n;
    }
    double vertical = 0;
    uint32_t index[SX_MAX_DIMS] = {0};
    for (double done = 0; done < groups_y; done++) {
        double low = 0;
        weight = 1;
        for (int l = slot->n_x; l < slot->n_loops; l++) {
            low += index[l] * weight;
            weight *= slot->loop[l].n;
        }
        vertical += column_hops(middle, low, low + height);
        for (int l = slot->n_x; l < slot->n_loops; l++) {
            if (!(dims >> slot->loop[l].dim & 1)) continue;
            if (++index[l] < slot->loop[l].n) break;
            index[l] = 0;
        }
    }
    return groups_x * groups_y * furthest + groups_x * width * vertical;
}

void sx_fanout_place(const sx_fanout *slot, int64_t *at) {
    size_t ranks = slot->shape->n_ranks;
    uint64_t placed = 1;
    for (size_t r = 0; r < ranks; r++) at[r] = 0;
    for (int l = 0; l < slot->n_loops; l++) {
        for (uint64_t i = 1; i < slot->loop[l].n; i++)
            for (uint64_t p = 0; p < placed; p++)
                for (size_t r = 0; r < ranks; r++)
                    at[(i * placed + p) * ranks + r] = at[p * ranks + r] + (int64_t)i * slot->move[l][r];
        placed *= slot->loop[l].n;
    }
}

/* Gives each sibling the number of its group; returns how many groups there are, 0 when memory is out. */
static size_t number_groups(const sx_fanout *slot, sx_fanout_scratch *s) {
    size_t ranks = slot->shape->n_ranks, groups = 0;
    const sx_hash_keys tiles = {s->at, ranks * sizeof *s->at, ranks * sizeof *s->at};
    if (!sx_hash_table_begin(&s->table, slot->siblings)) return 0;
    for (uint64_t p = 0; p < slot->siblings; p++) {
        if (slot->apart) {
            s->group_of[p] = (uint32_t)groups++;
            continue;
        }
        const int64_t *mine = &s->at[p * ranks];
        uint64_t hash = sx_hash_words(mine, ranks);
        uint32_t first = sx_hash_table_put(&s->table, tiles, mine, hash, (uint32_t)p);
        if (first == SX_HASH_NONE) return 0;
        s->group_of[p] = first == p ? (uint32_t)groups++ : s->group_of[first];
    }
    return groups;
}

/* Adds to s->hops of each group what its columns take; siblings in `skip` do not count. False when memory is
 * out. */
static bool add_column_hops(const sx_fanout *slot, sx_fanout_scratch *s, const bool *skip) {
    const sx_hash_keys columns = {s->column_key, sizeof *s->column_key, sizeof *s->column_key};
    uint32_t used = 0;
    if (!sx_hash_table_begin(&s->table, slot->siblings)) return false;
    for (uint64_t p = 0; p < slot->siblings; p++) {
        if (skip && skip[p]) continue;
        uint64_t h = p % slot->columns, v = p / slot->columns;
        uint64_t key = (uint64_t)s->group_of[p] << 32 | h;
        uint64_t hash = sx_hash_mix(0, key);
        uint32_t at = sx_hash_table_put(&s->table, columns, &key, hash, used);
        if (at == SX_HASH_NONE) return false;
        if (at == used) {
            s->column_key[used] = key;
            s->low[used++] = v;
        }
        s->high[at] = v; /* rows only grow with p */
    }
    double middle = ((double)slot->rows - 1) / 2;
    for (size_t c = 0; c < used; c++)
        s->hops[s->column_key[c] >> 32] += column_hops(middle, (double)s->low[c], (double)s->high[c]);
    return true;
}

/* Sums up the groups by size, with the siblings in `skip` left out; SIZE_MAX when memory is out. */
static size_t sum_groups(const sx_fanout *slot, sx_fanout_scratch *s, size_t groups, const bool *skip,
                         bool hops) {
    for (size_t g = 0; g < groups; g++) {
        s->members[g] = s->furthest[g] = 0;
        s->hops[g] = 0;
    }
    for (uint64_t p = 0; p < slot->siblings; p++) {
        if (skip && skip[p]) continue;
        uint32_t g = s->group_of[p];
        uint64_t h = p % slot->columns;
        s->members[g]++;
        if (h > s->furthest[g]) s->furthest[g] = h;
    }
    if (hops && !add_column_hops(slot, s, skip)) return SIZE_MAX;
    size_t n = 0;
    for (size_t g = 0; g < groups; g++) {
        if (!s->members[g]) continue;
        size_t i = 0;
        while (i < n && s->group[i].m != s->members[g]) i++;
        if (i == n) s->group[n++] = (sx_multicast_group){.m = s->members[g]};
        s->group[i].count++;
        if (hops) s->group[i].hops += s->hops[g] + (double)s->furthest[g];
    }
    return n;
}

void sx_fanout_fail(const sx_fanout *slot, sx_model_workspace *workspace, int level) {
    workspace->failed = true;
    if (slot->siblings > SX_MAX_LISTED_CHILDREN)
        sx_model_workspace_limit(workspace, SX_LIMIT_CHILDREN, level,
                                 (int)(slot->shape - workspace->model->shape), (double)slot->siblings,
                                 SX_MAX_LISTED_CHILDREN);
}

/* Places and numbers the siblings; 0 when memory is out or there are too many. */
static size_t enumerate_siblings(sx_fanout *slot, sx_fanout_scratch *s) {
    size_t numbers = (size_t)slot->siblings * slot->shape->n_ranks;
    if (slot->siblings > SX_MAX_LISTED_CHILDREN || !scratch_reserve(s, (size_t)slot->siblings)) return 0;
    if (numbers > s->at_room) {
        free(s->at);
        s->at = malloc(numbers * sizeof *s->at);
        s->at_room = s->at ? numbers : 0;
        if (!s->at) return 0;
    }
    sx_fanout_moves(slot);
    sx_fanout_place(slot, s->at);
    return number_groups(slot, s);
}

/* The size of the groups of a uniform slot. */
static uint64_t uniform_size(const sx_fanout *slot, uint16_t dims) {
    uint64_t m = 1;
    for (int l = 0; l < slot->n_loops; l++)
        if (!(dims >> slot->loop[l].dim & 1)) m *= slot->loop[l].n;
    return m;
}

/* The loops of a slot that move a rank, two at most; their number. */
static int find_movers(const sx_fanout *slot, int rank, const sx_loop **loop, uint64_t *move) {
    const sx_shape *shape = slot->shape;
    int n = 0;
    for (int l = 0; l < slot->n_loops; l++)
        for (int i = shape->first_of_dim[slot->loop[l].dim]; i < shape->first_of_dim[slot->loop[l].dim + 1];
             i++)
            if (shape->of_dim[i].rank == rank) {
                loop[n] = &slot->loop[l];
                move[n++] = (uint64_t)llabs(shape->of_dim[i].coef) * slot->loop[l].step;
            }
    return n;
}

/* Points of an n by m grid with k - 1 successors along (b, a). */
static uint64_t chain_points(uint64_t n, uint64_t m, uint64_t a, uint64_t b, uint64_t k) {
    uint64_t x = (k - 1) * b, y = (k - 1) * a;
    return x < n && y < m ? (n - x) * (m - y) : 0;
}

/* Multiplies the groups by those of a rank that two loops move, by a and b an iteration: iterations (i, j)
 * and (i + b/g, j - a/g) coincide, so groups are chains along that direction. Chains of at least k points
 * have one point with exactly k - 1 successors each. */
static size_t multiply_chains(sx_multicast_group *group, size_t n_groups, const sx_loop *const *loop,
                              const uint64_t *move, sx_multicast_group *scratch) {
    uint64_t g = sx_divisor_common(move[0], move[1]), a = move[0] / g, b = move[1] / g;
    uint64_t n = loop[0]->n, m = loop[1]->n;
    size_t made = 0;
    for (uint64_t k = 1; chain_points(n, m, a, b, k) > 0; k++) {
        uint64_t chains = chain_points(n, m, a, b, k) - 2 * chain_points(n, m, a, b, k + 1) +
                          chain_points(n, m, a, b, k + 2);
        for (size_t i = 0; i < n_groups && chains > 0; i++) {
            uint64_t size = group[i].m * k;
            size_t at = 0;
            while (at < made && scratch[at].m != size) at++;
            if (at == made) scratch[made++] = (sx_multicast_group){.m = size};
            scratch[at].count += group[i].count * chains;
        }
    }
    memcpy(group, scratch, made * sizeof *group);
    return made;
}

/* The groups of a paired slot, without hops. */
static size_t paired_groups(const sx_fanout *slot, sx_fanout_scratch *s) {
    if (!scratch_reserve(s, 2 * (size_t)slot->siblings)) return 0;
    s->group[0] = (sx_multicast_group){.m = uniform_size(slot, slot->shape->dims), .count = 1};
    size_t n = 1;
    uint64_t solo = 1;
    for (int l = 0; l < slot->n_loops; l++)
        if (slot->shape->solo >> slot->loop[l].dim & 1) solo *= slot->loop[l].n;
    for (int k = 0; k < slot->shape->n_mixed; k++) {
        const sx_loop *loop[2];
        uint64_t move[2];
        int movers = find_movers(slot, slot->shape->mixed[k], loop, move);
        if (movers == 1) solo *= loop[0]->n;
        if (movers == 2) n = multiply_chains(s->group, n, loop, move, s->group + slot->siblings);
    }
    for (size_t i = 0; i < n; i++) s->group[i].count *= solo;
    return n;
}

size_t sx_fanout_groups(sx_fanout *slot, sx_fanout_scratch *scratch, bool hops,
                        const sx_multicast_group **out) {
    if ((slot->uniform || slot->apart) && (!hops || sx_fanout_is_aligned(slot))) {
        uint16_t dims = slot->apart ? UINT16_MAX : slot->shape->dims;
        slot->one = (sx_multicast_group){.m = 1, .count = 1, .hops = hops ? uniform_hops(slot, dims) : 0};
        for (int l = 0; l < slot->n_loops; l++)
            *(dims >> slot->loop[l].dim & 1 ? &slot->one.count : &slot->one.m) *= slot->loop[l].n;
        *out = &slot->one;
        return 1;
    }
    size_t n;
    if (slot->paired && !slot->apart && !hops) {
        n = paired_groups(slot, scratch);
    } else {
        size_t groups = enumerate_siblings(slot, scratch);
        n = groups ? sum_groups(slot, scratch, groups, NULL, hops) : SIZE_MAX;
    }
    *out = scratch->group;
    return n == SIZE_MAX ? 0 : n;
}

/* Neighbours along an axis (loops first..end of a slot) stand apart by g(i) = move_i - (sum of (n_k - 1) *
 * move_k over the axis' loops k inside i), i being the loop that advances from one to the next. Whether g(i),
 * or with `back` -g(i), equals `need`. */
static bool neighbour_stands(const sx_fanout *slot, int first, int i, bool back, const int64_t *need) {
    for (int r = 0; r < slot->shape->n_ranks; r++) {
        int64_t g = slot->move[i][r];
        for (int k = first; k < i; k++) g -= (slot->loop[k].n - 1) * slot->move[k][r];
        if ((back ? -g : g) != need[r]) return false;
    }
    return true;
}

/* A uniform slot where the siblings served are those with the inner loops of an axis at their end (or start)
 * and loop i not yet at its own: groups they belong to lose them, the others stay whole. */
static size_t served_by_axis(const sx_fanout *slot, int first, int i, uint64_t *served,
                             sx_multicast_group *group) {
    uint16_t dims = slot->shape->dims;
    uint64_t hit = 1, lost = 1, m = 1, groups = 1;
    for (int l = 0; l < slot->n_loops; l++) {
        uint64_t n = slot->loop[l].n;
        bool apart = dims >> slot->loop[l].dim & 1, inner = l >= first && l < i;
        *(apart ? &groups : &m) *= n;
        if (!inner) *(apart ? &hit : &lost) *= l == i ? n - 1 : n;
    }
    *served = hit * lost;
    size_t n = 0;
    if (groups > hit) group[n++] = (sx_multicast_group){.m = m, .count = groups - hit};
    if (m > lost) group[n++] = (sx_multicast_group){.m = m - lost, .count = hit};
    return n;
}

static bool is_nowhere(const sx_fanout *slot, const int64_t *need) {
    for (int r = 0; r < slot->shape->n_ranks; r++)
        if (need[r] != 0) return false;
    return true;
}

/* Served siblings and the groups of the others by closed forms, where one kind of neighbour at most stands at
 * `need`; false where that does not hold. */
static bool served_closed(sx_fanout *slot, sx_fanout_scratch *s, const int64_t *need, uint64_t *served,
                          size_t *n, const sx_multicast_group **out) {
    if (!slot->uniform || slot->apart || !sx_fanout_is_aligned(slot)) return false;
    if (is_nowhere(slot, need)) {
        bool all = sx_neighbours_agree(slot->loop, slot->n_loops, slot->n_x, slot->shape->dims);
        *served = all ? slot->siblings : 0;
        *n = all ? 0 : sx_fanout_groups(slot, s, false, out);
        return true;
    }
    sx_fanout_moves(slot);
    int matches = 0, at = 0, axis = 0;
    for (int i = 0; i < slot->n_loops; i++) {
        int first = i < slot->n_x ? 0 : slot->n_x;
        for (int back = 0; back < 2; back++)
            if (neighbour_stands(slot, first, i, back, need)) {
                matches++;
                at = i;
                axis = first;
            }
    }
    if (matches > 1) return false;
    *served = 0;
    if (matches == 0) {
        *n = sx_fanout_groups(slot, s, false, out);
        return true;
    }
    if (!scratch_reserve(s, 2)) return false;
    *n = served_by_axis(slot, axis, at, served, s->group);
    *out = s->group;
    return true;
}

/* Whether sibling q's tile stands `need` away from sibling p's. */
static bool is_displaced(const sx_fanout *slot, const sx_fanout_scratch *s, uint64_t p, uint64_t q,
                         const int64_t *need) {
    size_t ranks = slot->shape->n_ranks;
    for (size_t r = 0; r < ranks; r++)
        if (s->at[q * ranks + r] - s->at[p * ranks + r] != need[r]) return false;
    return true;
}

/* sx_fanout_served by looking at every sibling. */
static size_t served_listed(sx_fanout *slot, sx_fanout_scratch *scratch, const int64_t *need, bool hops,
                            uint64_t *served, const sx_multicast_group **out) {
    size_t groups = enumerate_siblings(slot, scratch);
    if (groups == 0) return SIZE_MAX;
    uint64_t n = slot->siblings, columns = slot->columns, rows = slot->rows, count = 0;
    for (uint64_t p = 0; p < n; p++) {
        uint64_t h = p % columns, v = p / columns;
        bool yes = (v >= 1 && is_displaced(slot, scratch, p, p - columns, need)) ||
                   (v + 1 < rows && p + columns < n && is_displaced(slot, scratch, p, p + columns, need)) ||
                   (h >= 1 && is_displaced(slot, scratch, p, p - 1, need)) ||
                   (h + 1 < columns && p + 1 < n && is_displaced(slot, scratch, p, p + 1, need));
        scratch->served[p] = yes;
        count += yes;
    }
    *served = count;
    *out = scratch->group;
    return sum_groups(slot, scratch, groups, scratch->served, hops);
}

size_t sx_fanout_served(sx_fanout *slot, sx_fanout_scratch *scratch, const int64_t *need, bool hops,
                        uint64_t *served, const sx_multicast_group **out) {
    size_t n;
    bool known = false;
    if (hops) return served_listed(slot, scratch, need, hops, served, out);
    if (served_closed(slot, scratch, need, served, &n, out)) return n;
    sx_served_entry *entry = sx_served_memo_find(&scratch->memo, slot, need, &known);
    if (known) {
        *served = entry->served;
        *out = entry->group;
        return entry->n_groups;
    }
    n = served_listed(slot, scratch, need, hops, served, out);
    if (entry && n != SIZE_MAX) sx_served_entry_set(entry, *served, *out, n);
    return n;
}
