/* Making the image of a map space. Tensors are compiled as for frames (model/frame/), whose limits hold here too. */
#include "scale/cuda/gpu.h"

#include "base/status.h"
#include "model/frame/state.h"
#include "space/map_choices.h"
#include "space/map_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LOOPS = 1 << 24 /* entries of the table of orders and layouts */ };

/* An image that grows. */
typedef struct maker {
    const sx_map_space *space;
    sx_map_choices *choices;
    sx_gpu_image head;
    sx_gpu_list *lists, *layouts;
    sx_gpu_cell *rows;
    sx_gpu_loops *loops;
    size_t n_rows, n_loops, room;
} maker;

static sx_status refuse(const char *why) {
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "brute force and GPUs do not take this space: %s", why),
                         "docs/gpu.md says which spaces they take");
}

/* Refuses what is not covered. */
static sx_status check_space(const sx_map_space *space) {
    const sx_mapping *blank = space->blank;
    unsigned directives = 0;
    int bits = 0, primes = 0;
    if (space->options.remainders) return refuse("factors leave remainders");
    if (space->banks_at) return refuse("levels share out their banks");
    if (space->shares) return refuse("constraints ask for shares of memories or arrays in use");
    if (space->arch->n_levels > SX_GPU_LEVELS || space->problem->n_dims > SX_GPU_DIMS ||
        space->problem->n_tensors > SX_GPU_TENSORS)
        return refuse("it has more than 6 levels, 8 dimensions or 4 tensors");
    for (int s = 0; s < space->arch->n_levels; s++) {
        const sx_mapping_level *at = &blank->level[s];
        if (space->splits[s]) return refuse("a dimension may lie on both axes of an array");
        directives |= at->no_temporal_reuse | at->no_multicast | at->rmw_first_update;
        bits += __builtin_popcount(space->free_keep[s]);
    }
    if (directives) return refuse("constraints forbid kinds of reuse");
    if (bits > 16) return refuse("levels may keep or bypass more than 16 tensors together");
    for (int d = 0; d < space->problem->n_dims; d++)
        for (uint32_t left = space->problem->size[d], f = 2; left > 1; f++)
            for (; left % f == 0; left /= f) primes++;
    return primes > SX_GPU_LOOPS ? refuse("its sizes have more than 40 prime factors") : SX_OK;
}

/* Copies a tensor; false where it is not covered. */
static bool set_tensor(const sx_map_space *space, const sx_frame_tensor *from, int v, sx_gpu_tensor *to) {
    if (from->n_mixed > SX_GPU_MIXED) return false;
    to->words = from->words;
    to->elided = from->elided;
    to->dims = from->dims;
    to->solo = from->solo;
    to->output = from->output;
    to->plain = from->plain;
    to->n_unit = from->n_unit;
    to->n_stretched = from->n_stretched;
    to->n_mixed = from->n_mixed;
    for (int i = 0; i < SX_GPU_DIMS; i++) {
        to->unit[i] = from->unit[i];
        to->stretched[i] = from->stretched[i];
        to->stretch[i] = from->stretch[i];
        to->coef[i] = from->coef[i];
        to->mixed_of[i] = from->mixed_of[i];
    }
    for (int k = 0; k < SX_GPU_MIXED; k++)
        for (int i = 0; i < 2; i++) {
            to->mixed_dim[k][i] = from->mixed_dim[k][i];
            to->reach[k][i] = from->reach[k][i];
        }
    for (int s = 0; s < space->arch->n_levels; s++) {
        if (space->fixed_keep[s] >> v & 1) to->fixed |= (uint8_t)(1u << s);
        if (space->free_keep[s] >> v & 1) to->bit[s] = (uint8_t)(1u << to->n_free++);
    }
    return true;
}

/* Copies a level. */
static void set_level(const sx_map_space *space, int s, sx_gpu_level *to) {
    const sx_level *from = &space->model->level[s];
    unsigned linkless = sx_map_point(space->blank)->level[s].no_link_transfer;
    unsigned all = (1u << space->problem->n_tensors) - 1;
    *to = (sx_gpu_level){.effective = from->effective,
                         .minimum = from->minimum,
                         .bank_words = from->bank_words,
                         .banks = from->banks,
                         .mesh_x = (double)from->mesh_x,
                         .mesh_y = (double)from->mesh_y,
                         .instances = (double)from->instances,
                         .clusters = (double)from->clusters,
                         .fanout_x = (double)from->fanout_x,
                         .room_x = space->nested ? (double)space->room[s][0] : INFINITY,
                         .room_y = space->nested ? (double)space->room[s][1] : INFINITY,
                         .read_bandwidth = from->read_bandwidth,
                         .write_bandwidth = from->write_bandwidth,
                         .shared_bandwidth = from->shared_bandwidth,
                         .read_energy = from->read_energy,
                         .fill_energy = from->fill_energy,
                         .update_energy = from->update_energy,
                         .leak_energy = from->leak_energy,
                         .addr_gen_energy = from->addr_gen_energy,
                         .leak_share = from->leak_share,
                         .gate = from->gate,
                         .limited = from->limited,
                         .bounded = from->bounded,
                         .transparent = from->transparent,
                         .sized = from->sized,
                         .leaks = from->leak_energy != 0,
                         .must = space->fixed_keep[s],
                         .may = space->free_keep[s]};
    if (space->spatial_slot[s] < 0) to->room_x = to->room_y = INFINITY;
    to->links = (uint8_t)(space->model->options.no_link_transfers ? 0 : all & ~linkless);
    for (int v = 0; v < space->problem->n_tensors; v++) {
        to->scale[v] = from->scale[v];
        to->element[v] = from->element[v];
        to->word[v] = from->word[v];
        to->vector[v] = from->vector[v];
        to->per_vector[v] = from->per_vector[v];
    }
}

/* Sets the head's tensors, levels and constants. */
static sx_status set_model(maker *m) {
    const sx_map_space *space = m->space;
    sx_gpu_image *p = &m->head;
    sx_cost_frame *frame;
    if (space->model->sparse || space->model->range || space->model->formats)
        return refuse("its tensors are sparse");
    SX_TRY(sx_frame_new(space->model, NULL, NULL, &frame));
    if (!frame) return refuse("networks cost energy, or counts are beyond 2^53");
    bool covered = true;
    p->n_levels = (uint32_t)frame->n_levels;
    p->n_dims = (uint32_t)frame->n_dims;
    p->n_tensors = (uint32_t)frame->n_tensors;
    p->computes = frame->computes;
    p->compute_energy = frame->compute_energy;
    p->latency = frame->latency;
    p->share = frame->share;
    p->compute_x = (double)space->model->compute_x;
    p->compute_y = (double)space->model->compute_y;
    p->compute_instances = (double)space->model->compute_instances;
    p->bounded = frame->bounded;
    p->all = frame->all;
    p->window = -1;
    for (int v = 0; v < frame->n_tensors; v++) {
        covered = covered && set_tensor(space, &frame->tensor[v], v, &p->tensor[v]);
        if (!frame->tensor[v].plain) {
            covered = covered && p->window < 0;
            p->window = v;
        }
        p->first_charge[v] = p->n_charges;
        p->n_charges += 1u << p->tensor[v].n_free;
    }
    p->most_keeps = 1;
    for (int s = 0; s < frame->n_levels; s++) {
        set_level(space, s, &p->level[s]);
        p->most_keeps <<= __builtin_popcount(space->free_keep[s]);
    }
    sx_frame_free(frame);
    return covered ? SX_OK
                   : refuse("tiles of more than one tensor overlap in part, or in more than two ranks");
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
        sx_gpu_cell *cell = m->rows + (m->head.first_row[d] + i) * (size_t)n_levels;
        double extent = 1;
        sx_factors_at(space->factors[d], i, factor);
        for (int s = 0; s < n_levels; s++) {
            double spatial = space->spatial_slot[s] < 0 ? 1 : factor[space->spatial_slot[s]];
            double temporal = factor[space->temporal_slot[s]];
            cell[s] = (sx_gpu_cell){extent * spatial * temporal, extent * spatial, temporal, spatial};
            extent = cell[s].extent;
        }
    }
}

/* Makes the rows of all dimensions. */
static sx_status set_factors(maker *m) {
    sx_gpu_image *p = &m->head;
    p->weight[p->n_dims] = 1;
    for (int d = (int)p->n_dims - 1; d >= 0; d--) {
        sx_u128 n = sx_factors_count(m->space->factors[d]);
        if (n > UINT16_MAX || (double)n * (double)p->weight[d + 1] > 0x1p62)
            return refuse("there are too many factorisations");
        p->n_rows[d] = (uint32_t)n;
        p->weight[d] = p->weight[d + 1] * (uint64_t)n;
    }
    p->factorisations = p->weight[0];
    for (uint32_t d = 0; d < p->n_dims; d++) {
        p->first_row[d] = (uint32_t)m->n_rows;
        m->n_rows += p->n_rows[d];
    }
    m->rows = calloc(m->n_rows * p->n_levels, sizeof *m->rows);
    if (!m->rows) return sx_error_memory();
    for (uint32_t d = 0; d < p->n_dims; d++) set_rows(m, (int)d);
    return SX_OK;
}

/* Adds an entry to the table of orders and layouts. */
static sx_status add_loops(maker *m, sx_gpu_loops loops) {
    if (m->n_loops == MOST_LOOPS) return refuse("its loops have more than 2^24 orders");
    if (m->n_loops == m->room) {
        size_t room = m->room ? 2 * m->room : 1024;
        sx_gpu_loops *more = realloc(m->loops, room * sizeof *more);
        if (!more) return sx_error_memory();
        m->loops = more;
        m->room = room;
    }
    m->loops[m->n_loops++] = loops;
    return SX_OK;
}

/* The loops of a mask in an order; n_x: the first so many dimensions of the order lie on X. */
static sx_gpu_loops pack(const uint8_t *order, int n_dims, uint32_t mask, int n_x) {
    sx_gpu_loops loops = {0};
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
    for (size_t i = 0; i < n; i++) SX_TRY(add_loops(m, pack(order[i], (int)m->head.n_dims, mask, 0)));
    return SX_OK;
}

/* Lists the layouts of a level's spatial loops. */
static sx_status list_layouts(maker *m, int s, uint32_t mask, sx_gpu_list *out) {
    size_t n;
    int n_dims = (int)m->head.n_dims;
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
        SX_TRY(add_loops(m, pack(at.spatial_order, n_dims, mask, at.split)));
    }
    return SX_OK;
}

/* The dimensions that can have loops at a level. */
static void find_loops(const maker *m, uint32_t s, uint32_t *temporal, uint32_t *spatial) {
    *temporal = *spatial = 0;
    for (uint32_t d = 0; d < m->head.n_dims; d++)
        for (uint32_t i = 0; i < m->head.n_rows[d]; i++) {
            const sx_gpu_cell *cell = m->rows + (m->head.first_row[d] + i) * (size_t)m->head.n_levels + s;
            *temporal |= (uint32_t)(cell->temporal > 1) << d;
            *spatial |= (uint32_t)(cell->spatial > 1) << d;
        }
}

/* Lists all orders and layouts that can occur. */
static sx_status set_lists(maker *m) {
    uint32_t n_levels = m->head.n_levels, n_dims = m->head.n_dims;
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

/* Puts head and tables into one block. */
static sx_status join(maker *m, sx_gpu_image **out) {
    sx_gpu_image *p = &m->head;
    size_t rows = m->n_rows * p->n_levels * sizeof *m->rows, loops = m->n_loops * sizeof *m->loops;
    size_t layouts = ((size_t)p->n_levels << p->n_dims) * sizeof *m->layouts;
    memcpy(p->magic, "sxgpu", 5);
    p->version = SX_GPU_VERSION;
    p->rows_at = sizeof *p;
    p->lists_at = p->rows_at + rows;
    p->layouts_at = p->lists_at + 2 * layouts;
    p->loops_at = p->layouts_at + layouts;
    p->size = p->loops_at + loops;
    char *block = malloc(p->size);
    if (!block) return sx_error_memory();
    memcpy(block, p, sizeof *p);
    memcpy(block + p->rows_at, m->rows, rows);
    memcpy(block + p->lists_at, m->lists, 2 * layouts);
    memcpy(block + p->layouts_at, m->layouts, layouts);
    memcpy(block + p->loops_at, m->loops, loops);
    *out = (sx_gpu_image *)(void *)block;
    sx_gpu_image_seal(*out);
    return SX_OK;
}

static sx_status make(maker *m, const sx_objective *objective, sx_gpu_image **out) {
    SX_TRY(check_space(m->space));
    SX_TRY(set_objective(objective, &m->head));
    SX_TRY(set_model(m));
    SX_TRY(set_factors(m));
    SX_TRY(sx_map_choices_new(m->space, &m->choices));
    SX_TRY(set_lists(m));
    snprintf(m->head.name, sizeof m->head.name, "%.60s on %.60s", m->space->problem->name,
             m->space->arch->name);
    return join(m, out);
}

sx_status sx_gpu_image_new(const sx_space *space, const sx_objective *objective, sx_gpu_image **out) {
    maker m = {.space = sx_map_space_of(space)};
    if (!m.space) return refuse("it is no map space");
    sx_status status = make(&m, objective, out);
    sx_map_choices_free(m.choices);
    free(m.lists);
    free(m.layouts);
    free(m.rows);
    free(m.loops);
    return status;
}
