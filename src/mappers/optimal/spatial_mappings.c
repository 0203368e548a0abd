/* The spatial mappings of a problem on an architecture: a factor per dimension and level with
 * a fan-out. Ways to lay the loops on X and Y are not told apart here. And every choice of kept tensors.
 *
 * Complexity: one step per list entry and dimension. */
#include "mappers/optimal/spatial_mappings.h"

#include "base/divisor.h"
#include "base/status.h"
#include "base/vector.h"
#include "model/capacity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The list that is being made. */
typedef struct listing {
    sx_spatial_mappings *out;
    sx_map_choices *choices;
    size_t most;
    double longest;    /* iterations of a compute unit */
    bool any;          /* factors need not divide */
    uint32_t *divisor; /* of all sizes, those of dimension d from first[d] on */
    size_t first[SX_MAX_DIMS + 1];
    bool share; /* only the largest product of factors is wanted */
    double largest;
    uint32_t now[SX_MAX_LEVELS][SX_MAX_DIMS], left[SX_MAX_DIMS];
    bool full, failed;
    const sx_interrupt *halt; /* NULL: nothing ends it early */
    uint32_t unasked;         /* choices of a factor since it was asked */
} listing;

static void list_level(listing *l, int s);

/* Counts the current one, and notes the largest product of its factors; those listed after it have a larger one, which is
 * at most the compute units. */
static void note_product(listing *l) {
    const sx_map_space *space = l->out->space;
    double product = 1, all = 1;
    for (int d = 0; d < space->problem->n_dims; d++) all *= space->problem->size[d];
    for (int s = 0; s < space->arch->n_levels; s++)
        for (int d = 0; d < space->problem->n_dims; d++) product *= l->now[s][d];
    l->out->n++;
    if (product <= l->largest) return;
    l->largest = product;
    l->longest = all / product * (1 - 1e-8);
    l->full = product >= (double)space->model->compute_instances;
}

/* Appends the current one. */
static void append_current(listing *l) {
    sx_spatial_mappings *a = l->out;
    size_t n_dims = a->space->problem->n_dims, each = n_dims * a->space->arch->n_levels;
    if (a->n == l->most) l->full = true;
    if (l->full) return;
    if (l->share) {
        note_product(l);
        return;
    }
    if (!sx_reserve(&a->factor, &a->room, a->n + 1, each * sizeof *a->factor)) {
        l->failed = true;
        return;
    }
    for (size_t s = 0; s < a->space->arch->n_levels; s++)
        memcpy(a->factor + a->n * each + s * n_dims, l->now[s], n_dims * sizeof **l->now);
    a->n++;
}

/* Whether some way to lay a level's loops on X and Y has room. */
static bool may_lie(listing *l, int s) {
    uint32_t loops = 0;
    size_t n;
    for (int d = 0; d < l->out->space->problem->n_dims; d++) loops |= (uint32_t)(l->now[s][d] > 1) << d;
    const uint16_t *x = sx_map_layouts_of(l->choices, s, loops, &n);
    l->failed |= !x;
    for (size_t i = 0; x && i < n; i++)
        if (sx_map_layout_fits(l->out->space, s, l->now[s], x[i])) return true;
    return false;
}

/* Whether the first compute unit has too many iterations, whatever the levels from s on spread over that much room of
 * level s and all of theirs: dimensions have left[d] parts for it, and each unit of room takes one of them at most. */
static bool is_too_long(const listing *l, int s, uint64_t room) {
    const sx_map_space *space = l->out->space;
    double parts = 1 / (double)room;
    if (l->longest == INFINITY) return false;
    for (int d = 0; d < space->problem->n_dims; d++) parts *= l->left[d];
    for (int k = s + 1; k < space->arch->n_levels; k++)
        if (space->spatial_slot[k] >= 0) parts /= (double)space->room[k][0] * (double)space->room[k][1];
    return parts > l->longest * (1 + 1e-9);
}

/* The i-th factor that dimension d may have, ascending; UINT32_MAX after the last. */
static uint32_t factor_at(const listing *l, int d, uint32_t i) {
    if (l->any) return i + 1;
    return i < l->first[d + 1] - l->first[d] ? l->divisor[l->first[d] + i] : UINT32_MAX;
}

/* Whether the list is to end early; asks from time to time. */
static bool is_halted(listing *l) {
    enum { CHOICES = 1 << 12 };
    if (!l->halt || ++l->unasked < CHOICES) return l->out->halted;
    l->unasked = 0;
    l->out->halted |= l->halt->asked(l->halt->user);
    return l->out->halted;
}

/* Goes through the factors of a level from dimension d on, which have that much room. */
static void list_dim(listing *l, int s, int d, uint64_t room) {
    const sx_map_space *space = l->out->space;
    if (l->full || l->failed || is_halted(l) || is_too_long(l, s, d == space->problem->n_dims ? 1 : room))
        return;
    if (d == space->problem->n_dims) {
        if (may_lie(l, s)) list_level(l, s + 1);
        return;
    }
    int slot = space->spatial_slot[s];
    uint32_t size = l->left[d], most = space->max[d][slot], f;
    if (most > size) most = size;
    for (uint32_t i = 0; (f = factor_at(l, d, i)) <= most && f <= room; i++) {
        if (f < space->min[d][slot] || (size % f && !l->any)) continue;
        l->now[s][d] = f;
        l->left[d] = (size - 1) / f + 1;
        list_dim(l, s, d + 1, room / f);
    }
    l->left[d] = size;
}

/* Goes through the factors of level s and those outside it. */
static void list_level(listing *l, int s) {
    const sx_map_space *space = l->out->space;
    if (s == space->arch->n_levels) {
        append_current(l);
        return;
    }
    if (space->spatial_slot[s] >= 0) {
        list_dim(l, s, 0, space->room[s][0] * space->room[s][1]);
        return;
    }
    for (int d = 0; d < space->problem->n_dims; d++) l->now[s][d] = 1;
    list_level(l, s + 1);
}

/* Lists the factors of all levels. */
static sx_status list_all(listing *l) {
    const sx_problem *problem = l->out->space->problem;
    memcpy(l->left, problem->size, sizeof l->left);
    for (int d = 0; d < problem->n_dims; d++)
        l->first[d + 1] = l->first[d] + sx_divisors_of(problem->size[d], NULL);
    l->divisor = malloc((l->first[problem->n_dims] + 1) * sizeof *l->divisor);
    if (!l->divisor) return sx_error_memory();
    for (int d = 0; d < problem->n_dims; d++) sx_divisors_of(problem->size[d], l->divisor + l->first[d]);
    list_level(l, 0);
    free(l->divisor);
    return l->failed ? sx_error_memory() : SX_OK;
}

sx_status sx_spatial_mappings_list(sx_map_choices *choices, const sx_map_space *space, bool any, size_t most,
                                   double longest, const sx_interrupt *halt, sx_spatial_mappings *out) {
    listing l = {.out = out, .choices = choices, .most = most, .longest = longest, .any = any, .halt = halt};
    *out = (sx_spatial_mappings){.space = space};
    sx_status status = list_all(&l);
    if (!l.full && !status && !out->halted) return SX_OK;
    sx_spatial_mappings_fini(out);
    out->n = 0;
    if (status || !l.full) return status;
    out->halted = false;
    return sx_error_hint(sx_error_new(SX_ERR_LIMIT, "more than %zu spatial mappings", most),
                         "use another mapper, or constrain the spatial factors");
}

sx_status sx_spatial_mappings_utilization(const sx_map_space *space, double *out) {
    enum { MOST_SPREADS = 1000000 };
    sx_spatial_mappings none = {.space = space};
    sx_map_choices *choices;
    SX_TRY(sx_map_choices_new(space, &choices));
    listing l = {.out = &none, .choices = choices, .most = MOST_SPREADS, .longest = INFINITY, .share = true};
    sx_status status = list_all(&l);
    sx_map_choices_free(choices);
    SX_TRY(status);
    *out = l.full ? 1 : l.largest / (double)space->model->compute_instances;
    return SX_OK;
}

void sx_spatial_mappings_fini(sx_spatial_mappings *spatials) {
    free(spatials->factor);
    spatials->factor = NULL;
}

void sx_spatial_mappings_get(const sx_spatial_mappings *spatials, size_t index, sx_outline *outline) {
    size_t n_dims = spatials->space->problem->n_dims, n_levels = spatials->space->arch->n_levels;
    const uint32_t *from = spatials->factor + index * n_dims * n_levels;
    for (size_t s = 0; s < n_levels; s++, from += n_dims) {
        for (int d = 0; d < SX_MAX_DIMS; d++) outline->spatial[s][d] = 1;
        memcpy(outline->spatial[s], from, n_dims * sizeof *from);
    }
}

/* The tensors that a level may keep or not. */
static unsigned free_tensors(const sx_map_space *space, int s) {
    return (unsigned)space->free_keep[s] | (space->banked[s] & ~(unsigned)space->fixed_keep[s]);
}

bool sx_tile_fits(const sx_map_space *space, int s, unsigned keep, const uint32_t *extent) {
    const sx_level *level = &space->model->level[s];
    if (!level->limited) return true;
    sx_occupancy use = sx_level_occupancy(space->model, level, keep, extent);
    double words = use.words;
    if (level->packs) /* constraints count zeros, too */
        for (words = 0; keep; keep &= keep - 1) {
            int v = __builtin_ctz(keep);
            words += sx_level_words(level, v, (double)sx_shape_words(&space->model->shape[v], extent));
        }
    return sx_level_fits(level, &use) && use.words >= level->minimum &&
           words >= space->constraints.level[s].min_utilization * level->effective;
}

uint32_t sx_keep_choices(const sx_map_space *space) {
    int bits = 0;
    for (int s = 0; s < space->arch->n_levels; s++) bits += __builtin_popcount(free_tensors(space, s));
    return 1u << bits;
}

bool sx_keep_choice(const sx_map_space *space, uint32_t choice, sx_outline *outline) {
    unsigned kept = 0, all = (1u << space->problem->n_tensors) - 1;
    for (int s = 0; s < space->arch->n_levels; s++) {
        outline->keep[s] = space->fixed_keep[s];
        for (unsigned may = free_tensors(space, s); may; may &= may - 1, choice >>= 1)
            if (choice & 1) outline->keep[s] |= (uint8_t)(may & -may);
        kept |= outline->keep[s];
    }
    return kept == all;
}

/* Whether enough of the compute units inside a level is in use. */
static bool is_busy(const sx_map_space *space, const sx_outline *outline, int s) {
    double used = 1, there = 1, least = space->constraints.level[s].min_parallelism;
    for (int k = 0; k <= s && least > 0; k++) {
        there *= (double)space->room[k][0] * (double)space->room[k][1];
        for (int d = 0; d < space->problem->n_dims; d++) used *= outline->spatial[k][d];
    }
    return used >= least * there;
}

bool sx_outline_legal(const sx_map_space *space, const sx_outline *outline) {
    int top = space->arch->n_levels - 1;
    bool busy = true;
    for (int s = 0; s <= top; s++) busy &= is_busy(space, outline, s);
    return busy && sx_tile_fits(space, top, outline->keep[top], space->problem->size);
}
