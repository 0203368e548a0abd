/* What constraints say together: limits that leave no mapping, found before any search. Whether the
 * factors that are left free can divide what remains is for the map space to say. */
#include "base/text.h"
#include "frontend/timeloop/constraints_gather.h"

#include <stdarg.h>
#include <stdio.h>

/* Constraints that are counted together. */
typedef struct tally {
    uint64_t product; /* of their factors */
    int n;
    sx_place place; /* of the last one */
    sx_text list;
} tally;

/* Counts a constraint: "what (file:3:5)". */
static SX_PRINTF(4, 5) void count(tally *t, uint64_t factor, sx_place place, const char *format, ...) {
    char what[2 * SX_NAME_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (__builtin_mul_overflow(t->product, factor, &t->product)) t->product = UINT64_MAX;
    t->place = place;
    sx_text_add(&t->list, "%s%s (%s:%d:%d)", t->n++ ? ", " : "", what, place.file, place.line, place.column);
}

/* Counts the factor of a slot. */
static void count_slot(tally *t, const sx_gathering *g, int slot, uint64_t factor, sx_place place) {
    count(t, factor, place, "%llu in %s at '%s'", (unsigned long long)factor, slot % 2 ? "time" : "space",
          g->arch->level[slot / 2].name);
}

/* What was counted, in words. */
static const char *counted_words(const tally *t) {
    return t->list.data && !t->list.failed ? t->list.data : "";
}

static const char remedy[] = ", or say 'remainders: 1' where the search may leave some";

/* The most a slot's factor of a dimension can be: in space no more than there are children. */
static uint64_t slot_most(sx_gathering *g, int slot, int dim) {
    uint64_t most = sx_slot_limits(g, slot)->max[dim];
    uint64_t fanout = sx_arch_fanout_x(g->arch, slot / 2) * sx_arch_fanout_y(g->arch, slot / 2);
    return slot % 2 || most < fanout ? most : fanout;
}

/* Refuses a dimension whose factors must multiply to more than its size, or cannot reach it. */
static sx_status check_dim(sx_gathering *g, int d) {
    const char *name = g->problem->dim_name[d];
    uint32_t size = g->problem->size[d];
    tally least = {.product = 1}, most = {.product = 1};
    uint64_t reach = 1;
    uint32_t left = size;
    bool fits = true;
    for (int slot = 0; slot < 2 * g->arch->n_levels; slot++) {
        const sx_loop_limits *limits = sx_slot_limits(g, slot);
        const sx_slot_places *places = &g->slot[slot];
        uint64_t top = slot_most(g, slot, d);
        reach = reach > size ? reach : reach * top;
        fits = fits && limits->min[d] <= left;
        left = (left - 1) / limits->min[d] + 1;
        if (limits->min[d] > 1) count_slot(&least, g, slot, limits->min[d], places->min[d]);
        if (places->max[d].file) count_slot(&most, g, slot, top, places->max[d]);
    }
    sx_status error = SX_OK;
    if (!fits || (least.product > size && !g->remainders))
        error = sx_error_hint(
            sx_error_at(least.place, "the factors of '%s' multiply to at least %llu, but its size is %u: %s",
                        name, (unsigned long long)least.product, size, counted_words(&least)),
            "make one of them smaller%s", fits ? remedy : "");
    else if (reach < size)
        error = sx_error_hint(
            sx_error_at(most.place, "the factors of '%s' multiply to at most %llu, but its size is %u: %s",
                        name, (unsigned long long)reach, size, counted_words(&most)),
            "make one of them larger, or leave it free");
    sx_text_free(&least.list);
    sx_text_free(&most.list);
    return error;
}

/* The axis that a level's split gives a dimension: 'X', 'Y', or 0 where the search decides. */
static char axis_of(const sx_level_limits *limits, int dim, int n_dims) {
    const sx_loop_limits *order = &limits->spatial;
    int place = -1;
    if (limits->split < 0) return 0;
    if (limits->split == 0) return 'Y';
    if (limits->split == n_dims) return 'X';
    for (int i = 0; i < order->n_inner; i++)
        if (order->inner[i] == dim) place = i;
    for (int i = 0; i < order->n_outer; i++)
        if (order->outer[i] == dim) place = n_dims - order->n_outer + i;
    if (place < 0 && limits->split <= order->n_inner) return 'Y';
    if (place < 0 && limits->split >= n_dims - order->n_outer) return 'X';
    return (char)(place < 0 ? 0 : place < limits->split ? 'X' : 'Y');
}

/* Refuses spatial factors of a level, those on one axis ('X', 'Y') or all (0), beyond its fan-out there. */
static sx_status check_fanout(sx_gathering *g, int s, char axis) {
    const char *name = g->arch->level[s].name;
    const sx_level_limits *limits = &g->limits.level[s];
    uint64_t x = sx_arch_fanout_x(g->arch, s), y = sx_arch_fanout_y(g->arch, s);
    uint64_t fanout = axis == 'X' ? x : axis == 'Y' ? y : x * y;
    const char on[] = {' ', 'o', 'n', ' ', axis, 0}, *where = axis ? on : "";
    tally least = {.product = 1};
    for (int d = 0; d < g->problem->n_dims; d++) {
        uint32_t min = limits->spatial.min[d];
        if (min > 1 && (!axis || axis_of(limits, d, g->problem->n_dims) == axis))
            count(&least, min, g->slot[2 * s].min[d], "%s=%u", g->problem->dim_name[d], min);
    }
    sx_status error = SX_OK;
    if (least.product > fanout && x * y == 1)
        error = sx_error_hint(sx_error_at(least.place, "'%s' has no fan-out for spatial factors: %s", name,
                                          counted_words(&least)),
                              "there are as many instances inside it as of itself");
    else if (least.product > fanout)
        error = sx_error_hint(
            sx_error_at(
                least.place,
                "the spatial factors of '%s' multiply to at least %llu%s, but its fan-out%s is %llu: %s",
                name, (unsigned long long)least.product, where, where, (unsigned long long)fanout,
                counted_words(&least)),
            "make one of them smaller%s", axis ? ", or change the split" : "");
    sx_text_free(&least.list);
    return error;
}

/* Refuses a level that is to keep what it is not built for. */
static sx_status check_built(const sx_gathering *g, int s) {
    unsigned lacking = g->limits.level[s].must_keep & ~(unsigned)sx_arch_keep_mask(g->arch, s, g->problem);
    if (!lacking) return SX_OK;
    int v = __builtin_ctz(lacking);
    return sx_error_hint(sx_error_at(g->keep[s][v], "'%s' must keep '%s', but cannot", g->arch->level[s].name,
                                     g->problem->tensor[v].name),
                         "remove it, or change the architecture");
}

/* Refuses a tensor that no level may keep. */
static sx_status check_kept(const sx_gathering *g, int v) {
    tally bypassed = {.product = 1};
    bool kept = false;
    for (int s = 0; s < g->arch->n_levels; s++) {
        bool bypass = g->bypass[s][v].file;
        kept |= sx_arch_keep_mask(g->arch, s, g->problem) >> v & 1 && !bypass;
        if (bypass) count(&bypassed, 1, g->bypass[s][v], "'%s'", g->arch->level[s].name);
    }
    sx_status error = SX_OK;
    if (!kept && bypassed.n)
        error = sx_error_hint(sx_error_at(bypassed.place, "no level keeps '%s': it must bypass %s",
                                          g->problem->tensor[v].name, counted_words(&bypassed)),
                              "let a level keep it");
    sx_text_free(&bypassed.list);
    return error;
}

sx_status sx_gathering_check(sx_gathering *g) {
    for (int s = 0; s < g->arch->n_levels; s++) {
        SX_TRY(check_built(g, s));
        SX_TRY(check_fanout(g, s, 0));
        SX_TRY(check_fanout(g, s, 'X'));
        SX_TRY(check_fanout(g, s, 'Y'));
    }
    for (int v = 0; v < g->problem->n_tensors; v++) SX_TRY(check_kept(g, v));
    for (int d = 0; d < g->problem->n_dims; d++) SX_TRY(check_dim(g, d));
    return SX_OK;
}
