/* What all bounds of a model have in common: the lattice of tile extents, and the words of all tiles.
 *
 * With exact factors, let E be the extents of the tile of a level that keeps tensor V, and N the sizes. Over
 * all instances the level is filled with tile(E) * prod(N/E) words where every temporal loop outside moves
 * the tile clear of itself, less by the factor of the loops inside the first one that indexes V (they leave
 * the tile in place; docs/model.md, section 2), and less by what sliding windows keep
 * (window.c). Along solo dimensions the tile's extent cancels: what is left depends on the extents in
 * windows, the form of the tile, and on the dimensions that do not index V.
 *
 * Complexity: O(points * (dimensions + tensors)) once per model. */
#include "bound/effectual.h"
#include "bound/outer.h"

#include "base/status.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adds the digits of a dimension; false where there is no room. */
static bool add_digits(sx_lattice *l, int d, uint32_t size) {
    for (uint32_t p = 2; size > 1; p++) {
        if ((uint64_t)p * p > size) p = size;
        if (size % p) continue;
        if (l->n_digits == SX_MAX_DIGITS) return false;
        int k = l->n_digits++;
        l->dim[k] = (uint8_t)d;
        l->prime[k] = p;
        for (l->top[k] = 0; size % p == 0; size /= p) l->top[k]++;
    }
    return true;
}

/* Numbers the points of some dimensions; false where there are more than `most`. */
static bool set_lattice(sx_lattice *l, const sx_model *model, unsigned dims, uint32_t most) {
    uint64_t n = 1;
    for (int d = 0; d < model->n_dims; d++) {
        l->first[d] = (uint8_t)l->n_digits;
        if (dims >> d & 1 && !add_digits(l, d, model->size[d])) return false;
    }
    l->first[model->n_dims] = (uint8_t)l->n_digits;
    for (int k = 0; k < l->n_digits; k++) {
        l->stride[k] = (uint32_t)n;
        n *= l->top[k] + 1u;
        if (n > most) return false;
    }
    l->n_points = (uint32_t)n;
    return true;
}

uint32_t sx_lattice_point(const sx_lattice *l, const uint32_t *extent) {
    uint32_t point = 0;
    for (int k = 0; k < l->n_digits; k++)
        for (uint32_t left = extent[l->dim[k]]; left % l->prime[k] == 0; left /= l->prime[k])
            point += l->stride[k];
    assert(point < l->n_points);
    return point;
}

void sx_lattice_extents(const sx_lattice *l, uint32_t point, uint32_t *extent) {
    assert(point < l->n_points);
    for (int d = 0; d < SX_MAX_DIMS; d++) extent[d] = 1;
    for (int k = 0; k < l->n_digits; k++)
        for (uint32_t e = point / l->stride[k] % (l->top[k] + 1u); e > 0; e--)
            extent[l->dim[k]] *= l->prime[k];
}

/* Fills what is known per point. */
static void fill_points(sx_bound *b) {
    const sx_model *model = b->model;
    uint32_t extent[SX_MAX_DIMS];
    for (uint32_t i = 0; i < b->lattice.n_points; i++) {
        sx_lattice_extents(&b->lattice, i, extent);
        for (int v = 0; v < model->n_tensors; v++) {
            double times = 1;
            for (unsigned dims = b->irrelevant[v]; dims; dims &= dims - 1)
                times *= (double)(model->size[__builtin_ctz(dims)] / extent[__builtin_ctz(dims)]);
            b->times[v][i] = times;
            b->tile[v][i] = (double)sx_shape_words(&model->shape[v], extent);
            b->form_of[v][i] = sx_lattice_point(&b->form[v], extent);
        }
    }
}

/* Fills what is known per form of a tensor. */
static void fill_forms(sx_bound *b, int v) {
    const sx_model *model = b->model;
    b->least[v] = INFINITY;
    for (uint32_t i = 0; i < b->form[v].n_points; i++) {
        uint32_t extent[SX_MAX_DIMS];
        sx_lattice_extents(&b->form[v], i, extent);
        double words = (double)sx_shape_words(&model->shape[v], extent);
        for (unsigned dims = model->shape[v].dims; dims; dims &= dims - 1)
            words *= (double)(model->size[__builtin_ctz(dims)] / extent[__builtin_ctz(dims)]);
        b->bare[v][i] = words;
        b->moved[v][i] = words * sx_bound_share(b, v, extent);
        b->least[v] = fmin(b->least[v], b->moved[v][i]);
    }
}

/* Whether a set of tensors that profit from an order stands for another: it includes that, and all further ones
 * only gain, as no neighbour can help them where they do not profit. */
static bool stands_for(const sx_bound *b, unsigned profit, unsigned other) {
    unsigned more = profit & ~other;
    for (unsigned left = more; left && !b->model->options.no_link_transfers; left &= left - 1)
        if (b->partly_relevant[__builtin_ctz(left)]) return false;
    return (other & ~profit) == 0;
}

/* The tensors that do not depend on a loop on a dimension. */
static uint8_t profit_of(const sx_bound *b, int d) {
    uint8_t profit = 0;
    for (int v = 0; v < b->model->n_tensors; v++)
        if (b->irrelevant[v] >> d & 1) profit |= (uint8_t)(1u << v);
    return profit;
}

/* Sets the dimensions of the innermost loops that a class stands for. */
static void set_class_dims(sx_bound *b, int o) {
    for (int d = 0; d < b->model->n_dims; d++)
        if (b->model->size[d] > 1 && stands_for(b, b->profit[o], profit_of(b, d)))
            b->class_dims[o] |= (uint16_t)(1u << d);
}

/* Lists the sets of tensors that can profit from an order, without those that others stand for. */
static void set_classes(sx_bound *b) {
    const sx_model *model = b->model;
    for (int d = 0; d < model->n_dims; d++) {
        uint8_t profit = profit_of(b, d);
        bool included = model->size[d] == 1 && (b->n_classes > 0 || d + 1 < model->n_dims);
        for (int i = 0; i < b->n_classes; i++) included |= stands_for(b, b->profit[i], profit);
        if (included) continue;
        int n = 0;
        for (int i = 0; i < b->n_classes; i++)
            if (!stands_for(b, profit, b->profit[i])) b->profit[n++] = b->profit[i];
        b->profit[n++] = profit;
        b->n_classes = n;
    }
    for (int o = 0; o < b->n_classes; o++) set_class_dims(b, o);
}

/* Adds a rank to the windows of a tensor; false where it is something else. */
static bool add_window(sx_bound *b, int v, int r) {
    const sx_model *model = b->model;
    const sx_shape *shape = &model->shape[v];
    sx_window *window = &b->window[v][b->n_windows[v]];
    int n = 0, signs = 0;
    for (int i = shape->first_term[r]; i < shape->first_term[r + 1]; i++) {
        int d = shape->term[i].dim, coef = shape->term[i].coef;
        if (model->size[d] == 1) continue;
        if (n == 2 || shape->first_of_dim[d + 1] - shape->first_of_dim[d] > 1 || coef == 0) return false;
        window->dim[n] = (uint8_t)d;
        window->coef[n++] = (uint32_t)abs(coef);
        signs += coef > 0 ? 1 : -1;
    }
    if (n < 2) return true;
    b->n_windows[v]++;
    return abs(signs) == 2;
}

/* Sets the masks of dimensions of a tensor, and its windows. A rank whose other dimensions have size 1 is one
 * dimension's own: its tiles never overlap and never stand still. */
static void set_masks(sx_bound *b, int v) {
    const sx_model *model = b->model;
    const sx_shape *shape = &model->shape[v];
    unsigned seen = 0;
    bool windows = true;
    for (int d = 0; d < model->n_dims; d++)
        if (model->size[d] > 1 && !(shape->dims >> d & 1)) b->irrelevant[v] |= (uint16_t)(1u << d);
    for (int r = 0; r < shape->n_ranks; r++) {
        unsigned rank = 0;
        for (int i = shape->first_term[r]; i < shape->first_term[r + 1]; i++)
            rank |= (unsigned)(model->size[shape->term[i].dim] > 1) << shape->term[i].dim;
        b->partly_relevant[v] |= (uint16_t)(rank & seen);
        if (rank & (rank - 1)) b->partly_relevant[v] |= (uint16_t)rank;
        seen |= rank;
        windows = windows && add_window(b, v, r);
    }
    if (!windows) b->n_windows[v] = 0;
}

/* Lists the tiles of a window, the smallest first; false when memory is out. */
static bool list_tiles(const sx_bound *b, int v, sx_window *window) {
    const sx_model *model = b->model;
    uint32_t size[2] = {model->size[window->dim[0]], model->size[window->dim[1]]}, n[2] = {0},
             extent[SX_MAX_DIMS];
    for (int i = 0; i < 2; i++)
        for (uint32_t e = 1; e <= size[i]; e++) n[i] += size[i] % e == 0;
    window->tile = malloc((size_t)n[0] * n[1] * sizeof *window->tile);
    if (!window->tile) return false;
    for (int d = 0; d < SX_MAX_DIMS; d++) extent[d] = 1;
    for (uint32_t p = 1; p <= size[0]; p++)
        for (uint32_t q = 1; q <= size[1] && size[0] % p == 0; q++) {
            if (size[1] % q) continue;
            extent[window->dim[0]] = p;
            extent[window->dim[1]] = q;
            window->tile[window->n_tiles++] = (sx_window_tile){{p, q}, sx_lattice_point(&b->form[v], extent)};
        }
    return true;
}

/* Makes room for everything per point and per form; false when memory is out. */
static bool make_room(sx_bound *b) {
    bool good = true;
    for (int v = 0; v < b->model->n_tensors; v++) {
        size_t n = b->lattice.n_points;
        b->form_of[v] = malloc(n * sizeof *b->form_of[v]);
        b->times[v] = malloc(n * sizeof *b->times[v]);
        b->tile[v] = malloc(n * sizeof *b->tile[v]);
        b->bare[v] = malloc(b->form[v].n_points * sizeof *b->bare[v]);
        b->moved[v] = malloc(b->form[v].n_points * sizeof *b->moved[v]);
        good &= b->form_of[v] && b->times[v] && b->tile[v] && b->bare[v] && b->moved[v];
        for (int w = 0; w < b->n_windows[v]; w++) good &= list_tiles(b, v, &b->window[v][w]);
    }
    return good;
}

/* Sets how the children of a level stand, where that is one row or column: as in map spaces, loops that constraints
 * place innermost come first, then the others by dimension, then those placed outermost. */
static void set_row(sx_bound *b, const sx_constraints *constraints, int s) {
    const sx_loop_limits *limits = &constraints->level[s].spatial;
    uint8_t *order = b->row_order[s];
    unsigned placed = 0;
    b->in_row[s] = b->model->level[s].fanout_x == 1 || b->model->level[s].fanout_y == 1;
    for (int i = 0; i < limits->n_outer; i++) placed |= 1u << limits->outer[i];
    for (int i = 0; i < limits->n_inner; i++) {
        placed |= 1u << limits->inner[i];
        *order++ = limits->inner[i];
    }
    for (int d = 0; d < b->model->n_dims; d++)
        if (!(placed >> d & 1)) *order++ = (uint8_t)d;
    for (int i = 0; i < limits->n_outer; i++) *order++ = limits->outer[i];
}

/* Refuses levels that do not coalesce accesses: a mapping without the rule is no bound of one with it, as links between
 * instances are lost by it. */
static sx_status check_coalescing(const sx_constraints *constraints) {
    unsigned passed = 0;
    for (int s = 0; constraints && s < constraints->n_levels; s++)
        passed |= constraints->level[s].no_coalesce;
    if (!passed) return SX_OK;
    return sx_error_hint(sx_error_new(SX_ERR_LIMIT, "there are no bounds for levels with 'no_coalesce'"),
                         "--mapper exhaustive searches all mappings, other mappers go on without a proof");
}

sx_status sx_bound_new(const sx_model *model, const sx_constraints *constraints, uint32_t most,
                       sx_bound **out) {
    SX_TRY(check_coalescing(constraints));
    sx_bound *b = calloc(1, sizeof *b);
    if (!b) return sx_error_memory();
    b->model = model;
    for (int s = 0; s < model->n_levels && constraints; s++) {
        b->renewed[s] = constraints->level[s].no_temporal_reuse;
        set_row(b, constraints, s);
    }
    bool small = set_lattice(&b->lattice, model, UINT16_MAX, most);
    for (int v = 0; v < model->n_tensors && small; v++) {
        set_masks(b, v);
        small = set_lattice(&b->form[v], model, b->partly_relevant[v], most);
    }
    if (!small) {
        sx_bound_free(b);
        return sx_error_new(SX_ERR_LIMIT, "the sizes have more than %u combinations of divisors", most);
    }
    if (!make_room(b)) {
        sx_bound_free(b);
        return sx_error_memory();
    }
    if (constraints) sx_bound_set_movable(b, constraints);
    set_classes(b);
    fill_points(b);
    for (int v = 0; v < model->n_tensors; v++) fill_forms(b, v);
    if (!sx_bound_effectual(b)) {
        sx_bound_free(b);
        return sx_error_memory();
    }
    *out = b;
    return SX_OK;
}

void sx_bound_free(sx_bound *b) {
    if (!b) return;
    for (int v = 0; v < SX_MAX_TENSORS; v++) {
        free(b->form_of[v]);
        free(b->times[v]);
        free(b->tile[v]);
        free(b->bare[v]);
        free(b->moved[v]);
        for (int w = 0; w < SX_MAX_RANKS; w++) free(b->window[v][w].tile);
    }
    for (int s = 0; s < SX_MAX_LEVELS; s++) {
        for (size_t i = 0; b->traffic_front[s] && i < (size_t)1 << b->model->n_tensors; i++)
            free(b->traffic_front[s][i].flow);
        free(b->traffic_front[s]);
    }
    sx_outer_tables_free(b->outer_tables);
    sx_bound_effectual_free(b);
    free(b);
}
