/* Groups of children (docs/model.md, section 3), found by listing them. Groupings are kept, since mappings that are
 * evaluated one after another have many of them in common. */
#include "check/siblings.h"

#include "base/hash.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CHILDREN = 1 << 16, N_KEPT = 1024, KEY_LOOPS = 8 };

/* One child of the list. */
typedef struct child {
    int64_t at; /* the displacement of its tile */
    int32_t id;
} child;

/* What a grouping depends on. */
typedef struct grouping_key {
    int64_t n[KEY_LOOPS], step[KEY_LOOPS];
    int64_t columns, rows, shift;
    int32_t n_loops;
    bool apart, hops, shifted, filled;
} grouping_key;

struct sx_check_memory {
    child *sorted;       /* children by displacement */
    int64_t *at;         /* the displacement of a child */
    int32_t *low, *high; /* rows of a group in each column */
    struct {
        grouping_key key;
        sx_check_grouping value;
    } kept[N_KEPT];
};

sx_status sx_check_memory_new(sx_check_memory **out) {
    sx_check_memory *m = calloc(1, sizeof *m);
    if (!m) return sx_error_memory();
    m->sorted = malloc(MOST_CHILDREN * sizeof *m->sorted);
    m->at = malloc(MOST_CHILDREN * sizeof *m->at);
    m->low = malloc(MOST_CHILDREN * sizeof *m->low);
    m->high = malloc(MOST_CHILDREN * sizeof *m->high);
    if (!m->sorted || !m->at || !m->low || !m->high) {
        sx_check_memory_free(m);
        return sx_error_memory();
    }
    *out = m;
    return SX_OK;
}

void sx_check_memory_free(sx_check_memory *m) {
    if (!m) return;
    free(m->sorted);
    free(m->at);
    free(m->low);
    free(m->high);
    free(m);
}

/* Sets the base of every rank: more than twice as far as all ranks before it reach. */
static bool set_bases(int n_ranks, sx_check_siblings *out) {
    int64_t base = 1, width;
    for (int r = 0; r < n_ranks; r++) {
        out->base[r] = base;
        if (__builtin_mul_overflow(out->span[r], 2, &width) || __builtin_add_overflow(width, 1, &width) ||
            __builtin_mul_overflow(base, width, &base))
            return false;
    }
    return true;
}

bool sx_check_siblings_lay(const sx_check_case *c, const sx_check_nest *nest, int tensor, int s, bool apart,
                           sx_check_siblings *out) {
    const sx_tensor *t = &c->problem.tensor[tensor];
    const sx_check_level *level = &c->machine.level[s];
    int first = nest->first_spatial[s], last = nest->first_spatial[s + 1];
    out->n_loops = last - first;
    out->children = nest->spread[s][0] * nest->spread[s][1];
    out->columns = level->fanout[0] > nest->spread[s][0] ? level->fanout[0] : nest->spread[s][0];
    out->rows = level->fanout[1] > nest->spread[s][1] ? level->fanout[1] : nest->spread[s][1];
    out->apart = apart;
    out->hops = level->hop || level->router;
    memset(out->span, 0, sizeof out->span);
    for (int l = first; l < last; l++)
        for (int r = 0; r < t->n_ranks; r++)
            out->span[r] +=
                llabs(t->coef[r][nest->spatial[l].dim] * nest->spatial[l].step) * (nest->spatial[l].n - 1);
    if (!set_bases(t->n_ranks, out)) return false;
    for (int l = first; l < last; l++) {
        const sx_check_loop *loop = &nest->spatial[l];
        int64_t step = 0;
        for (int r = 0; r < t->n_ranks; r++) step += t->coef[r][loop->dim] * loop->step * out->base[r];
        out->n[l - first] = loop->n;
        out->step[l - first] = step;
    }
    return true;
}

static int compare_children(const void *a, const void *b) {
    const child *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->id < y->id ? -1 : 1;
}

/* Lists the displacements of all children. */
static void list_children(const sx_check_siblings *siblings, sx_check_memory *m) {
    int64_t n = 1;
    m->at[0] = 0;
    for (int l = 0; l < siblings->n_loops; l++) {
        for (int64_t i = n; i < n * siblings->n[l]; i++) m->at[i] = m->at[i - n] + siblings->step[l];
        n *= siblings->n[l];
    }
}

/* Whether some neighbour of a child on the mesh is displaced by a shift. */
static bool is_served(const sx_check_siblings *s, const sx_check_memory *m, int64_t id, int64_t shift) {
    int64_t column = id % s->columns, row = id / s->columns, n = s->children, at = m->at[id] + shift;
    return (column > 0 && m->at[id - 1] == at) ||
           (column + 1 < s->columns && id + 1 < n && m->at[id + 1] == at) ||
           (row > 0 && m->at[id - s->columns] == at) ||
           (row + 1 < s->rows && id + s->columns < n && m->at[id + s->columns] == at);
}

/* Twice the hops to the members of a group: to the farthest column, and up and down in each column from the middle row. */
static int64_t count_half_hops(const sx_check_siblings *s, sx_check_memory *m, const child *member,
                               int64_t n) {
    int64_t farthest = 0, hops = 0, middle = s->rows - 1; /* twice the middle row */
    for (int64_t i = 0; i < n; i++) m->low[member[i].id % s->columns] = -1;
    for (int64_t i = 0; i < n; i++) {
        int64_t column = member[i].id % s->columns;
        int32_t row = (int32_t)(member[i].id / s->columns);
        if (m->low[column] < 0) m->low[column] = m->high[column] = row;
        if (row < m->low[column]) m->low[column] = row;
        if (row > m->high[column]) m->high[column] = row;
        if (column > farthest) farthest = column;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t column = member[i].id % s->columns;
        if (m->low[column] < 0) continue;
        int64_t low = 2 * m->low[column], high = 2 * m->high[column];
        hops += (low < middle ? middle - low : 0) + (high > middle ? high - middle : 0);
        m->low[column] = -1;
    }
    return hops + 2 * farthest;
}

/* Adds groups of a size; false where there are too many sizes. */
static bool add_groups(int64_t size, int64_t count, int64_t half_hops, sx_check_grouping *out) {
    int i = out->n;
    while (i > 0 && out->size[i - 1].size >= size) i--;
    if (i == out->n || out->size[i].size != size) {
        if (out->n == SX_CHECK_SIZES) return false;
        memmove(&out->size[i + 1], &out->size[i], (size_t)(out->n - i) * sizeof *out->size);
        out->size[i] = (sx_check_group){size, 0, 0};
        out->n++;
    }
    out->size[i].count += count;
    out->size[i].half_hops += half_hops;
    out->groups += count;
    out->members += size * count;
    return true;
}

/* Lists the children that no neighbour serves by their displacements, and counts their groups. */
static bool list_groups(const sx_check_siblings *s, const int64_t *shift, sx_check_memory *m,
                        sx_check_grouping *out) {
    int64_t n = 0;
    if (s->children > MOST_CHILDREN) return false;
    list_children(s, m);
    for (int64_t id = 0; id < s->children; id++)
        if (!shift || !is_served(s, m, id, *shift)) m->sorted[n++] = (child){m->at[id], (int32_t)id};
    if (!s->apart) qsort(m->sorted, (size_t)n, sizeof *m->sorted, compare_children);
    for (int64_t i = 0, size; i < n; i += size) {
        for (size = 1; i + size < n && !s->apart && m->sorted[i + size].at == m->sorted[i].at;) size++;
        int64_t hops = s->hops && s->n_loops ? count_half_hops(s, m, m->sorted + i, size) : 0;
        if (!add_groups(size, 1, hops, out)) return false;
    }
    return true;
}

/* Counts the groups of all children where no two displacements of loops that move the tile are alike: each step is
 * longer than all shorter ones reach together. False where it is not so. */
static bool count_groups(const sx_check_siblings *s, sx_check_grouping *out) {
    int64_t idle = 1, groups = 1, reach = 0, least = 0;
    if (s->hops) return false;
    if (s->apart) return add_groups(1, s->children, 0, out);
    for (int l = 0; l < s->n_loops; l++)
        if (s->step[l] == 0) idle *= s->n[l];
    for (;;) {
        int next = -1;
        for (int l = 0; l < s->n_loops; l++)
            if (llabs(s->step[l]) > least && (next < 0 || llabs(s->step[l]) < llabs(s->step[next]))) next = l;
        if (next < 0) break;
        least = llabs(s->step[next]);
        if (least <= reach) return false;
        for (int l = 0; l < s->n_loops; l++)
            if (l != next && llabs(s->step[l]) == least) return false;
        reach += least * (s->n[next] - 1);
        groups *= s->n[next];
    }
    return add_groups(idle, groups, 0, out);
}

/* Whether a grouping can be kept, and under what key. */
static bool set_key(const sx_check_siblings *s, const int64_t *shift, grouping_key *key) {
    if (s->n_loops > KEY_LOOPS) return false;
    memset(key, 0, sizeof *key);
    memcpy(key->n, s->n, (size_t)s->n_loops * sizeof *key->n);
    memcpy(key->step, s->step, (size_t)s->n_loops * sizeof *key->step);
    key->columns = s->columns;
    key->rows = s->rows;
    key->shift = shift ? *shift : 0;
    key->n_loops = s->n_loops;
    key->apart = s->apart;
    key->hops = s->hops;
    key->shifted = shift != NULL;
    key->filled = true;
    return true;
}

bool sx_check_siblings_group(const sx_check_siblings *siblings, const int64_t *shift, sx_check_memory *memory,
                             sx_check_grouping *out) {
    grouping_key key;
    int64_t by = 0;
    out->n = 0;
    out->groups = out->members = 0;
    if (!shift && count_groups(siblings, out)) return true;
    for (int r = 0; r < SX_MAX_RANKS && shift; r++)
        if (siblings->span[r]) by += shift[r] * siblings->base[r];
    bool keep = set_key(siblings, shift ? &by : NULL, &key);
    size_t slot = keep ? sx_hash_bytes(&key, sizeof key, 0) % N_KEPT : 0;
    if (keep && memcmp(&memory->kept[slot].key, &key, sizeof key) == 0) {
        *out = memory->kept[slot].value;
        return true;
    }
    out->n = 0;
    out->groups = out->members = 0;
    if (!list_groups(siblings, shift ? &by : NULL, memory, out)) return false;
    if (keep) {
        memory->kept[slot].key = key;
        memory->kept[slot].value = *out;
    }
    return true;
}
