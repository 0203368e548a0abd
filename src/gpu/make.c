/* Making the image of a map space: the core's model of it, whose limits hold here too, and tables. */
#include "gpu/gpu.h"

#include "base/status.h"
#include "mapspace/map_choices.h"
#include "mapspace/map_core.h"
#include "mapspace/map_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LOOPS = 1 << 24 /* entries of the table of orders and layouts */ };

/* An image that grows. */
typedef struct maker {
    const sx_map_space *space;
    sx_map_choices *choices;
    sx_gpu_image head;
    sx_core_space points;
    sx_gpu_list *lists, *layouts;
    sx_core_cell *rows;
    sx_core_loops *loops;
    size_t n_rows, n_loops, room;
} maker;

static sx_status refuse_space(const char *why) {
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "brute force and GPUs do not take this space: %s", why),
                         "docs/gpu.md says which spaces they take");
}

/* Refuses what the core covers, but not a GPU. */
static sx_status check_space(const sx_map_space *space, int parts) {
    int bits = 0, primes = 0;
    if (space->arch->n_levels > SX_GPU_LEVELS) return refuse_space("it has more than 6 levels");
    for (int s = 0; s < space->arch->n_levels; s++) bits += __builtin_popcount(space->free_keep[s]);
    if (bits > 16 && parts & SX_GPU_TABLES)
        return refuse_space("levels may keep or bypass more than 16 tensors together");
    for (int d = 0; d < space->problem->n_dims; d++)
        for (uint32_t left = space->problem->size[d], f = 2; left > 1; f++)
            for (; left % f == 0; left /= f) primes++;
    return primes > SX_CORE_LOOPS ? refuse_space("its sizes have more than 40 prime factors") : SX_OK;
}

/* Sets the head's model. */
static sx_status set_model(maker *m) {
    sx_gpu_image *p = &m->head;
    const char *why = sx_map_core_model(m->space, &p->core);
    int windows = 0;
    if (why) return refuse_space(why);
    p->most_keeps = 1;
    for (uint32_t v = 0; v < p->core.n_tensors; v++) {
        windows += !p->core.tensor[v].plain;
        p->first_charge[v] = p->n_charges;
        p->n_charges += 1u << p->core.tensor[v].n_free;
        p->most_keeps <<= p->core.tensor[v].n_free;
    }
    return windows > 1 ? refuse_space("tiles of more than one tensor overlap in part") : SX_OK;
}

/* Sets the objective. */
static sx_status set_objective(const sx_objective *objective, sx_gpu_image *p) {
    const sx_criterion *criterion = &objective->criterion[0];
    double e = criterion->energy_power, d = criterion->delay_power;
    bool simple = (e == 0 || e == 1 || e == 2) && (d == 0 || d == 1 || d == 2);
    if (objective->n_criteria != 1 || criterion->kind != SX_PRODUCT || !simple)
        return sx_error_new(
            SX_ERR_USAGE,
            "brute force and GPUs take energy, delay, edp and products of their first two powers");
    p->energy_power = e;
    p->delay_power = d;
    return SX_OK;
}

/* Makes the rows of a dimension. */
static void set_rows(maker *m, int d) {
    const sx_map_space *space = m->space;
    int n_levels = space->arch->n_levels;
    uint32_t factor[SX_MAX_SLOTS];
    for (uint32_t i = 0; i < m->head.n_rows[d]; i++) {
        sx_core_cell *cell = m->rows + (m->head.first_row[d] + i) * (size_t)n_levels;
        sx_factors_at(space->factors[d], i, factor);
        sx_map_core_cells(space, factor, cell);
    }
}

/* Makes the rows of all dimensions. */
static sx_status set_factors(maker *m) {
    sx_gpu_image *p = &m->head;
    p->weight[p->core.n_dims] = 1;
    for (int d = (int)p->core.n_dims - 1; d >= 0; d--) {
        sx_u128 n = sx_factors_count(m->space->factors[d]);
        if (n > UINT16_MAX || (double)n * (double)p->weight[d + 1] > 0x1p62)
            return sx_error_hint(refuse_space("there are too many factorisations to number them"),
                                 "random and gamma take it");
        p->n_rows[d] = (uint32_t)n;
        p->weight[d] = p->weight[d + 1] * (uint64_t)n;
    }
    p->factorisations = p->weight[0];
    for (uint32_t d = 0; d < p->core.n_dims; d++) {
        p->first_row[d] = (uint32_t)m->n_rows;
        m->n_rows += p->n_rows[d];
    }
    for (uint32_t d = 0; d < SX_CORE_DIMS; d++)
        p->first_number[d / 4] |= (uint64_t)(m->n_rows > UINT16_MAX ? UINT16_MAX : p->first_row[d])
                                  << 16 * (d % 4);
    m->rows = calloc(m->n_rows * p->core.n_levels, sizeof *m->rows);
    if (!m->rows) return sx_error_memory();
    for (uint32_t d = 0; d < p->core.n_dims; d++) set_rows(m, (int)d);
    return SX_OK;
}

/* Adds an entry to the table of orders and layouts. */
static sx_status add_loops(maker *m, sx_core_loops loops) {
    if (m->n_loops == MOST_LOOPS) return refuse_space("its loops have more than 2^24 orders");
    if (m->n_loops == m->room) {
        size_t room = m->room ? 2 * m->room : 1024;
        sx_core_loops *more = realloc(m->loops, room * sizeof *more);
        if (!more) return sx_error_memory();
        m->loops = more;
        m->room = room;
    }
    m->loops[m->n_loops++] = loops;
    return SX_OK;
}

/* The loops of a mask in an order; n_x: the first n_x dimensions of the order lie on X. */
static sx_core_loops pack_loops(const uint8_t *order, int n_dims, uint32_t mask, int n_x) {
    sx_core_loops loops = {0};
    for (int i = 0; i < n_dims; i++) {
        if (!(mask >> order[i] & 1)) continue;
        loops.dims |= (uint32_t)order[i] << 4 * loops.n++;
        loops.n_x = (uint8_t)(loops.n_x + (i < n_x));
    }
    return loops;
}

/* Lists the orders of a level's temporal loops. */
static sx_status list_orders(maker *m, int s, uint32_t mask, bool spread, sx_gpu_list *out) {
    size_t n;
    bool matters = sx_map_order_matters(m->space, s, spread);
    const uint8_t(*order)[SX_MAX_DIMS] = sx_map_orders_of(m->choices, s, mask, matters, &n);
    if (!order) return sx_orders_failure(n);
    *out = (sx_gpu_list){(uint32_t)m->n_loops, (uint32_t)n};
    for (size_t i = 0; i < n; i++)
        SX_TRY(add_loops(m, pack_loops(order[i], (int)m->head.core.n_dims, mask, 0)));
    return SX_OK;
}

/* Lists the layouts of a level's spatial loops. */
static sx_status list_layouts(maker *m, int s, uint32_t mask, sx_gpu_list *out) {
    size_t n;
    int n_dims = (int)m->head.core.n_dims;
    const uint16_t *on_x = sx_map_layouts_of(m->choices, s, mask, &n);
    if (!on_x) return sx_error_memory();
    *out = (sx_gpu_list){(uint32_t)m->n_loops, (uint32_t)n};
    for (size_t i = 0; i < n; i++) {
        sx_mapping_level at = {0};
        for (int d = 0; d < n_dims; d++) {
            at.spatial[d] = 1 + (mask >> d & 1);
            at.spatial_order[d] = (uint8_t)d;
        }
        sx_map_set_xy(m->space, s, on_x[i], &at);
        SX_TRY(add_loops(m, pack_loops(at.spatial_order, n_dims, mask, at.split)));
    }
    return SX_OK;
}

/* The dimensions that can have loops at a level. */
static void find_loops(const maker *m, uint32_t s, uint32_t *temporal, uint32_t *spatial) {
    *temporal = *spatial = 0;
    for (uint32_t d = 0; d < m->head.core.n_dims; d++)
        for (uint32_t i = 0; i < m->head.n_rows[d]; i++) {
            const sx_core_cell *cell =
                m->rows + (m->head.first_row[d] + i) * (size_t)m->head.core.n_levels + s;
            *temporal |= (uint32_t)(cell->temporal > 1) << d;
            *spatial |= (uint32_t)(cell->spatial > 1) << d;
        }
}

/* Lists all orders and layouts that can occur. */
static sx_status set_lists(maker *m) {
    uint32_t n_levels = m->head.core.n_levels, n_dims = m->head.core.n_dims;
    m->lists = calloc((size_t)2 * n_levels << n_dims, sizeof *m->lists);
    m->layouts = calloc((size_t)n_levels << n_dims, sizeof *m->layouts);
    if (!m->lists || !m->layouts) return sx_error_memory();
    for (uint32_t s = 0; s < n_levels; s++) {
        uint32_t temporal, spatial;
        find_loops(m, s, &temporal, &spatial);
        for (uint32_t mask = 0; mask < 1u << n_dims; mask++) {
            sx_gpu_list *apart = &m->lists[(2 * s << n_dims) + mask], *spread = apart + (1u << n_dims);
            if ((mask & ~temporal) == 0) {
                SX_TRY(list_orders(m, (int)s, mask, false, apart));
                *spread = *apart;
                if (s == 0) SX_TRY(list_orders(m, 0, mask, true, spread));
            }
            if ((mask & ~spatial) == 0)
                SX_TRY(list_layouts(m, (int)s, mask, &m->layouts[(s << n_dims) + mask]));
        }
    }
    return SX_OK;
}

/* Puts head, compact points and tables into one block. */
static sx_status join_tables(maker *m, int parts, sx_gpu_image **out) {
    sx_gpu_image *p = &m->head;
    size_t points = parts & SX_GPU_POINTS ? sizeof m->points : 0;
    size_t rows = m->n_rows * p->core.n_levels * sizeof *m->rows, loops = m->n_loops * sizeof *m->loops;
    size_t layouts =
        parts & SX_GPU_TABLES ? ((size_t)p->core.n_levels << p->core.n_dims) * sizeof *m->layouts : 0;
    memcpy(p->magic, "sxgpu", 5);
    p->version = SX_GPU_VERSION;
    if (points) p->space_at = sizeof *p;
    p->rows_at = sizeof *p + points;
    p->lists_at = p->rows_at + rows;
    p->layouts_at = p->lists_at + 2 * layouts;
    p->loops_at = p->layouts_at + layouts;
    p->size = p->loops_at + loops;
    char *block = malloc(p->size);
    if (!block) return sx_error_memory();
    memcpy(block, p, sizeof *p);
    if (points) memcpy(block + p->space_at, &m->points, points);
    if (rows) memcpy(block + p->rows_at, m->rows, rows);
    if (layouts) memcpy(block + p->lists_at, m->lists, 2 * layouts);
    if (layouts) memcpy(block + p->layouts_at, m->layouts, layouts);
    if (loops) memcpy(block + p->loops_at, m->loops, loops);
    *out = (sx_gpu_image *)(void *)block;
    sx_gpu_image_seal(*out);
    return SX_OK;
}

/* Makes what numbers all mappings. */
static sx_status set_tables(maker *m) {
    SX_TRY(set_factors(m));
    SX_TRY(sx_map_choices_new(m->space, &m->choices));
    return set_lists(m);
}

static sx_status make_image(maker *m, const sx_objective *objective, int parts, sx_gpu_image **out) {
    SX_TRY(set_objective(objective, &m->head));
    SX_TRY(set_model(m));
    SX_TRY(check_space(m->space, parts));
    const char *why = parts & SX_GPU_POINTS ? sx_map_core_space(m->space, &m->points) : NULL;
    if (why) return refuse_space(why);
    if (parts & SX_GPU_TABLES) SX_TRY(set_tables(m));
    snprintf(m->head.name, sizeof m->head.name, "%.60s on %.60s", m->space->problem->name,
             m->space->arch->name);
    return join_tables(m, parts, out);
}

sx_status sx_gpu_image_new(const sx_space *space, const sx_objective *objective, int parts,
                           sx_gpu_image **out) {
    maker m = {.space = sx_map_space_of(space)};
    if (!m.space) return refuse_space("it is no map space");
    sx_status status = make_image(&m, objective, parts, out);
    sx_map_choices_free(m.choices);
    free(m.lists);
    free(m.layouts);
    free(m.rows);
    free(m.loops);
    return status;
}
