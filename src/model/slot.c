/* Spatial siblings (the specification's section 4): groups that want the same words, hops, neighbours.
 *
 * Where siblings want the same words exactly if they agree in the loops that index the tensor (no two spatial
 * loops move the same rank), group sizes and hops have closed forms; otherwise the siblings are enumerated.
 */
#include "model/slot.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Slots beyond this many siblings are not enumerated (that would take gigabytes). */
enum { MAX_ENUMERATED = 1 << 24 };

struct sx_slot_scratch {
    size_t room;        /* siblings there is room for */
    size_t at_room;     /* numbers there is room for in `at` */
    int64_t *at;        /* per sibling and rank: where its tile stands */
    uint32_t *group_of; /* per sibling */
    uint64_t *members;  /* per group */
    uint64_t *furthest; /* per group: its last column */
    double *hops;       /* per group */
    uint32_t *table;    /* hash table of 4 * room entries */
    uint64_t *column_key;
    uint64_t *low, *high;
    bool *served;
    sx_group *group;
};

sx_slot_scratch *sx_slot_scratch_new(void) {
    return calloc(1, sizeof(sx_slot_scratch));
}

static void scratch_clear(sx_slot_scratch *s) {
    free(s->at);
    free(s->group_of);
    free(s->members);
    free(s->furthest);
    free(s->hops);
    free(s->table);
    free(s->column_key);
    free(s->low);
    free(s->high);
    free(s->served);
    free(s->group);
    *s = (sx_slot_scratch){0};
}

void sx_slot_scratch_free(sx_slot_scratch *scratch) {
    if (!scratch) return;
    scratch_clear(scratch);
    free(scratch);
}

/* Makes room for n siblings; false when memory is out. */
static bool scratch_reserve(sx_slot_scratch *s, size_t n) {
    if (n <= s->room) return true;
    size_t room = 64;
    while (room < n) room *= 2;
    scratch_clear(s);
    s->group_of = malloc(room * sizeof *s->group_of);
    s->members = malloc(room * sizeof *s->members);
    s->furthest = malloc(room * sizeof *s->furthest);
    s->hops = malloc(room * sizeof *s->hops);
    s->table = malloc(4 * room * sizeof *s->table);
    s->column_key = malloc(room * sizeof *s->column_key);
    s->low = malloc(room * sizeof *s->low);
    s->high = malloc(room * sizeof *s->high);
    s->served = malloc(room * sizeof *s->served);
    s->group = malloc(room * sizeof *s->group);
    if (!s->group_of || !s->members || !s->furthest || !s->hops || !s->table || !s->column_key || !s->low ||
        !s->high || !s->served || !s->group) {
        scratch_clear(s);
        return false;
    }
    s->room = room;
    return true;
}

void sx_slot_moves(sx_slot *slot) {
    const sx_shape *shape = slot->shape;
    if (slot->moved) return;
    slot->moved = true;
    for (int r = 0; r < shape->n_ranks; r++) slot->span[r] = 0;
    for (int l = 0; l < slot->n_loops; l++) {
        for (int r = 0; r < shape->n_ranks; r++) slot->move[l][r] = 0;
        if (!(shape->dims >> slot->loop[l].dim & 1)) continue;
        for (int i = 0; i < shape->n_terms; i++) {
            const struct sx_term *term = &shape->term[i];
            if (term->dim != slot->loop[l].dim) continue;
            int64_t move = term->coef * (int64_t)slot->loop[l].step;
            slot->move[l][term->rank] = move;
            slot->span[term->rank] += llabs(move) * (slot->loop[l].n - 1);
        }
    }
}

/* Whether each loop that moves the tile is alone in some rank. */
static bool is_uniform(const sx_slot *slot) {
    unsigned alone = 0, moving = 0;
    for (int r = 0; r < slot->shape->n_ranks; r++) {
        unsigned movers = 0;
        if (slot->span[r] == 0) continue;
        for (int l = 0; l < slot->n_loops; l++) movers |= (unsigned)(slot->move[l][r] != 0) << l;
        moving |= movers;
        if ((movers & (movers - 1)) == 0) alone |= movers;
    }
    return alone == moving;
}

void sx_slot_init(sx_slot *slot, const sx_model *model, const sx_nest *nest, int level, int tensor,
                  bool apart) {
    const sx_level *at = &model->level[level];
    slot->shape = &model->shape[tensor];
    slot->loop = &nest->spatial[nest->spatial_of[level]];
    slot->n_loops = nest->spatial_of[level + 1] - nest->spatial_of[level];
    slot->n_x = nest->n_x[level];
    slot->siblings = nest->slot_x[level] * nest->slot_y[level];
    slot->columns = at->fanout_x > nest->slot_x[level] ? at->fanout_x : nest->slot_x[level];
    slot->rows = at->fanout_y > nest->slot_y[level] ? at->fanout_y : nest->slot_y[level];
    slot->apart = apart;
    slot->moved = false;
    slot->uniform = true;
    if (slot->shape->plain) return;
    sx_slot_moves(slot);
    slot->uniform = is_uniform(slot);
}

/* Hops up and down one column from the middle row to rows low..high. */
static inline double column_hops(double middle, double low, double high) {
    return fmax(middle - low, 0) + fmax(high - middle, 0);
}

/* The sum of a uniform slot's group hops where its X loops fill whole rows of the mesh, or all lie in one
 * row. */
static double uniform_hops(const sx_slot *slot, uint16_t dims) {
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

/* Writes where every sibling's tile stands. */
static void place_siblings(const sx_slot *slot, sx_slot_scratch *s) {
    int ranks = slot->shape->n_ranks;
    uint64_t placed = 1;
    for (int r = 0; r < ranks; r++) s->at[r] = 0;
    for (int l = 0; l < slot->n_loops; l++) {
        for (uint32_t i = 1; i < slot->loop[l].n; i++)
            for (uint64_t p = 0; p < placed; p++)
                for (int r = 0; r < ranks; r++)
                    s->at[(i * placed + p) * (uint64_t)ranks + (uint64_t)r] =
                        s->at[p * (uint64_t)ranks + (uint64_t)r] + i * slot->move[l][r];
        placed *= slot->loop[l].n;
    }
}

/* Gives each sibling the number of its group; returns how many groups there are. */
static size_t number_groups(const sx_slot *slot, sx_slot_scratch *s) {
    size_t ranks = slot->shape->n_ranks, size = 4;
    while (size < 2 * slot->siblings) size *= 2;
    memset(s->table, 0xff, size * sizeof *s->table);
    size_t groups = 0;
    for (uint64_t p = 0; p < slot->siblings; p++) {
        if (slot->apart) {
            s->group_of[p] = (uint32_t)groups++;
            continue;
        }
        const int64_t *mine = &s->at[p * ranks];
        size_t h = sx_hash_bytes(mine, ranks * sizeof *mine, 0) & (size - 1);
        while (s->table[h] != UINT32_MAX &&
               memcmp(&s->at[s->table[h] * ranks], mine, ranks * sizeof *mine) != 0)
            h = (h + 1) & (size - 1);
        if (s->table[h] == UINT32_MAX) {
            s->table[h] = (uint32_t)p;
            s->group_of[p] = (uint32_t)groups++;
        } else {
            s->group_of[p] = s->group_of[s->table[h]];
        }
    }
    return groups;
}

/* Adds to s->hops of each group what its columns take; siblings in `skip` do not count. */
static void add_column_hops(const sx_slot *slot, sx_slot_scratch *s, const bool *skip) {
    size_t size = 4, used = 0;
    while (size < 2 * slot->siblings) size *= 2;
    memset(s->table, 0xff, size * sizeof *s->table);
    for (uint64_t p = 0; p < slot->siblings; p++) {
        if (skip && skip[p]) continue;
        uint64_t h = p % slot->columns, v = p / slot->columns;
        uint64_t key = (uint64_t)s->group_of[p] << 32 | h;
        size_t i = (size_t)((key * 0x9e3779b97f4a7c15u) >> 20) & (size - 1);
        while (s->table[i] != UINT32_MAX && s->column_key[s->table[i]] != key) i = (i + 1) & (size - 1);
        if (s->table[i] == UINT32_MAX) {
            s->table[i] = (uint32_t)used;
            s->column_key[used] = key;
            s->low[used++] = v;
        }
        s->high[s->table[i]] = v; /* rows only grow with p */
    }
    double middle = ((double)slot->rows - 1) / 2;
    for (size_t c = 0; c < used; c++)
        s->hops[s->column_key[c] >> 32] += column_hops(middle, (double)s->low[c], (double)s->high[c]);
}

/* Sums up the groups by size, with the siblings in `skip` left out. */
static size_t sum_groups(const sx_slot *slot, sx_slot_scratch *s, size_t groups, const bool *skip,
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
    if (hops) add_column_hops(slot, s, skip);
    size_t n = 0;
    for (size_t g = 0; g < groups; g++) {
        if (!s->members[g]) continue;
        size_t i = 0;
        while (i < n && s->group[i].m != s->members[g]) i++;
        if (i == n) s->group[n++] = (sx_group){.m = s->members[g]};
        s->group[i].count++;
        if (hops) s->group[i].hops += s->hops[g] + (double)s->furthest[g];
    }
    return n;
}

/* Places and numbers the siblings; 0 when memory is out. */
static size_t enumerate(sx_slot *slot, sx_slot_scratch *s) {
    size_t numbers = (size_t)slot->siblings * slot->shape->n_ranks;
    if (slot->siblings > MAX_ENUMERATED || !scratch_reserve(s, (size_t)slot->siblings)) return 0;
    if (numbers > s->at_room) {
        free(s->at);
        s->at = malloc(numbers * sizeof *s->at);
        s->at_room = s->at ? numbers : 0;
        if (!s->at) return 0;
    }
    sx_slot_moves(slot);
    place_siblings(slot, s);
    return number_groups(slot, s);
}

/* Whether X loops fill whole rows of the mesh, or everything lies in one row. */
static bool is_aligned(const sx_slot *slot) {
    if (slot->n_loops == slot->n_x) return true;
    uint64_t width = 1;
    for (int l = 0; l < slot->n_x; l++) width *= slot->loop[l].n;
    return width == slot->columns;
}

size_t sx_slot_groups(sx_slot *slot, sx_slot_scratch *scratch, bool hops, const sx_group **out) {
    if ((slot->uniform || slot->apart) && (!hops || is_aligned(slot))) {
        if (!scratch_reserve(scratch, 1)) return 0;
        uint16_t dims = slot->apart ? UINT16_MAX : slot->shape->dims;
        uint64_t m = 1;
        for (int l = 0; l < slot->n_loops; l++)
            if (!(dims >> slot->loop[l].dim & 1)) m *= slot->loop[l].n;
        scratch->group[0] =
            (sx_group){.m = m, .count = slot->siblings / m, .hops = hops ? uniform_hops(slot, dims) : 0};
        *out = scratch->group;
        return 1;
    }
    size_t groups = enumerate(slot, scratch);
    *out = scratch->group;
    return groups ? sum_groups(slot, scratch, groups, NULL, hops) : 0;
}

/* Whether sibling q's tile stands `need` away from sibling p's. */
static bool displaced(const sx_slot *slot, const sx_slot_scratch *s, uint64_t p, uint64_t q,
                      const int64_t *need) {
    size_t ranks = slot->shape->n_ranks;
    for (size_t r = 0; r < ranks; r++)
        if (s->at[q * ranks + r] - s->at[p * ranks + r] != need[r]) return false;
    return true;
}

size_t sx_slot_served(sx_slot *slot, sx_slot_scratch *scratch, const int64_t *need, bool hops,
                      uint64_t *served, const sx_group **out) {
    size_t groups = enumerate(slot, scratch);
    if (groups == 0) return SIZE_MAX;
    uint64_t n = slot->siblings, columns = slot->columns, rows = slot->rows, count = 0;
    for (uint64_t p = 0; p < n; p++) {
        uint64_t h = p % columns, v = p / columns;
        bool yes = (v >= 1 && displaced(slot, scratch, p, p - columns, need)) ||
                   (v + 1 < rows && p + columns < n && displaced(slot, scratch, p, p + columns, need)) ||
                   (h >= 1 && displaced(slot, scratch, p, p - 1, need)) ||
                   (h + 1 < columns && p + 1 < n && displaced(slot, scratch, p, p + 1, need));
        scratch->served[p] = yes;
        count += yes;
    }
    *served = count;
    *out = scratch->group;
    return sum_groups(slot, scratch, groups, scratch->served, hops);
}
