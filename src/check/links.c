/* Links between the compute units of one instance of level 0 (docs/proof.md, T6). A unit keeps nothing: without help it
 * takes a word of each tensor at every step. At a step that leaves a tensor's words where they are, a unit gets its
 * word from a neighbour on the mesh that had the same word a step before. */
#include "check/lattice.h"

#include <stdlib.h>
#include <string.h>

/* The children of an instance of level 0, as a layout places them. */
typedef struct mesh {
    int64_t children, columns, rows;
    int64_t group[4096]; /* the words that a child needs, of one tensor */
} mesh;

/* Numbers children by the tensor's coordinates of their spatial loops, in the order of the mapping's level. */
static void set_groups(const sx_check_outline *o, const sx_mapping_level *at, int v, mesh *m) {
    for (int64_t child = 0; child < m->children; child++) {
        int64_t rest = child, group = 0, radix = 1;
        for (int i = 0; i < o->space->n_dims; i++) {
            int d = at->spatial_order[i];
            int64_t f = at->spatial[d];
            if (o->shape->dims[v] >> d & 1) {
                group += rest % f * radix;
                radix *= f;
            }
            rest /= f;
        }
        m->group[child] = group;
    }
}

/* Whether a neighbour of a child needs the same words. */
static bool has_help(const mesh *m, int64_t child) {
    int64_t column = child % m->columns, row = child / m->columns;
    const bool exists[4] = {column > 0, column + 1 < m->columns, row > 0, row + 1 < m->rows};
    const int64_t at[4] = {child - 1, child + 1, child - m->columns, child + m->columns};
    for (int i = 0; i < 4; i++)
        if (exists[i] && at[i] < m->children && m->group[at[i]] == m->group[child]) return true;
    return false;
}

/* Whether some group's children all have a neighbour in it: only then links save an access. */
static bool saves_access(const mesh *m) {
    for (int64_t first = 0; first < m->children; first++) {
        bool all = true;
        for (int64_t child = 0; child < m->children && all; child++)
            all = m->group[child] != m->group[first] || has_help(m, child);
        if (all) return true;
    }
    return false;
}

/* Whether links may save accesses under a layout that spreads no window of a tensor. */
static bool layout_saves(const sx_check_outline *o, int v, unsigned x, mesh *m) {
    const sx_check_level *level = &o->space->c->machine.level[0];
    sx_mapping_level at = {0};
    int64_t side[2] = {1, 1};
    sx_check_lay(o->space, 0, o->spatial->factor[0], x, &at);
    if (at.x_part) return true;
    for (int i = 0; i < o->space->n_dims; i++) side[i >= at.split] *= at.spatial[at.spatial_order[i]];
    m->columns = side[0] > level->fanout[0] ? side[0] : level->fanout[0];
    m->rows = side[1] > level->fanout[1] ? side[1] : level->fanout[1];
    set_groups(o, &at, v, m);
    return saves_access(m);
}

sx_status sx_check_find_links(sx_check_outline *o) {
    const sx_check_space *space = o->space;
    mesh *m = malloc(sizeof *m);
    if (!m) return sx_error_memory();
    m->children = o->used[0] / o->used[1];
    for (int v = 0; v < space->n_tensors; v++) {
        unsigned loops = 0, x = 0, idle;
        for (int d = 0; d < space->n_dims; d++) loops |= (unsigned)(o->spatial->factor[0][d] > 1) << d;
        idle = loops & ~o->shape->dims[v];
        o->linked[v] = false;
        if (space->c->no_link_transfers || !loops) continue;
        bool slides = loops & o->shape->dims[v] & ~o->shape->solo[v], countable = m->children <= 4096;
        bool apart =
            space->c->limits.level[0].no_multicast >> v & 1; /* each unit is a group: any may be helped */
        o->linked[v] = slides || (idle && (apart || !countable));
        if (!slides && idle && countable) do {
                o->linked[v] |= sx_check_lies(space, 0, o->spatial->factor[0], x) && layout_saves(o, v, x, m);
                x = (x - loops) & loops;
            } while (x && !o->linked[v]);
    }
    free(m);
    return SX_OK;
}

/* The iterations of a level's spatial loops at which a child stands, by dimension. */
static void set_place(const sx_check_outline *o, const sx_mapping_level *at, int64_t child, int16_t *place) {
    for (int i = 0; i < o->space->n_dims; i++) {
        int d = at->spatial_order[i];
        place[d] = (int16_t)(child % at->spatial[d]);
        child /= at->spatial[d];
    }
}

/* Adds how two children differ, unless it is listed; the sign does not matter. */
static void add_neighbours(const sx_check_outline *o, const sx_mapping_level *at, int64_t child,
                           int64_t other, sx_check_neighbours *out) {
    int16_t from[SX_MAX_DIMS] = {0}, by[SX_MAX_DIMS] = {0};
    size_t size = (size_t)o->space->n_dims * sizeof *by;
    set_place(o, at, child, from);
    set_place(o, at, other, by);
    for (int d = 0; d < o->space->n_dims; d++) by[d] = (int16_t)(by[d] - from[d]);
    for (int i = 0; i < out->n; i++)
        if (memcmp(out->by[i], by, size) == 0) return;
    if (out->n == SX_MAX_NEIGHBOURS) out->n = -1;
    if (out->n >= 0) memcpy(out->by[out->n++], by, size);
}

/* Adds the neighbours of one layout. */
static void add_layout(const sx_check_outline *o, int s, unsigned x, sx_check_neighbours *out) {
    const sx_check_level *level = &o->space->c->machine.level[s];
    sx_mapping_level at = {0};
    int64_t children = 1, columns = 1;
    sx_check_lay(o->space, s, o->spatial->factor[s], x, &at);
    if (at.x_part) out->n = -1;
    for (int i = 0; i < o->space->n_dims; i++) {
        children *= at.spatial[at.spatial_order[i]];
        if (i < at.split) columns = children;
    }
    if (columns < level->fanout[0]) columns = level->fanout[0];
    for (int64_t child = 0; child < children && out->n >= 0; child++) {
        if (child % columns + 1 < columns && child + 1 < children)
            add_neighbours(o, &at, child, child + 1, out);
        if (child + columns < children && out->n >= 0) add_neighbours(o, &at, child, child + columns, out);
    }
}

void sx_check_find_neighbours(sx_check_outline *o) {
    enum { MOST_CHILDREN = 4096 };
    for (int s = 0; s < o->space->n_levels; s++) {
        sx_check_neighbours *near = &o->near[s];
        unsigned loops = 0, x = 0;
        near->n = o->used[s] / o->used[s + 1] <= MOST_CHILDREN ? 0 : -1;
        for (int d = 0; d < o->space->n_dims; d++) loops |= (unsigned)(o->spatial->factor[s][d] > 1) << d;
        if (loops) do {
                if (near->n >= 0 && sx_check_lies(o->space, s, o->spatial->factor[s], x))
                    add_layout(o, s, x, near);
                x = (x - loops) & loops;
            } while (x);
    }
}
