/* Why a map space seems to have no legal point. Draws are sorted by what is wrong with them; then come the
 * reasons that can be proved from the least (or most) that any construction must (or can) use of a level; and
 * where nothing is proved, repairing draws tells whether legal points exist at all, or how near one came. */
#include "mapspace/map_parts.h"

#include "base/text.h"
#include "model/capacity.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_GROUPS = 400, MAX_LINE = 400, WIDTH = 100, REPAIRS = 200 };

/* Draws that have the same wrong with them, and the one of them that has least of it. */
typedef struct group {
    unsigned reason;
    int8_t level, tensor;
    uint64_t count;
    double excess;
    char text[MAX_LINE];
} group;

typedef struct diagnosis {
    const sx_map_space *space;
    sx_text out;
    uint64_t draws;
    size_t n_groups;
    group group[MAX_GROUPS];
} diagnosis;

/* Adds a line, broken between words where it is too long; the parts after the first are indented. */
static void add_line(sx_text *out, int indent, const char *line) {
    size_t width = WIDTH;
    for (size_t length = strlen(line); length > width; length = strlen(line)) {
        size_t at = width;
        while (at > 0 && line[at] != ' ') at--;
        if (at == 0) break;
        sx_text_add(out, "%.*s\n%*s", (int)at, line, indent, "");
        line += at + 1;
        width = WIDTH - (size_t)indent;
    }
    sx_text_add(out, "%s\n", line);
}

static SX_PRINTF(2, 3) void say(sx_text *out, const char *format, ...) {
    char line[2 * MAX_LINE];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    add_line(out, 4, line);
}

/* The level whose share in use is too small for the constraints, which is in *text. */
static int lacking_level(const sx_map_space *space, const void *point, char *text, size_t size) {
    sx_constraints one;
    sx_constraints_init(&one, space->problem, space->arch);
    for (int s = 0; s < space->arch->n_levels; s++) {
        one.level[s].min_utilization = space->constraints.level[s].min_utilization;
        one.level[s].min_parallelism = space->constraints.level[s].min_parallelism;
        if (!sx_constraints_allow(&one, sx_map_point(point), space->problem, space->arch, text, size))
            return s;
    }
    return -1;
}

/* What is wrong with a point, as a group of one; false for a legal one. */
static bool fault_of(const sx_map_space *space, const void *point, group *out) {
    sx_verdict verdict = sx_check(space->model, sx_map_point(point));
    int level = verdict.level, tensor = verdict.tensor;
    uint64_t words;
    bool on_y;
    memset(out, 0, sizeof *out);
    out->count = 1;
    out->reason = sx_map_check(&space->space, point);
    if (out->reason == 0) return false;
    sx_map_explain(&space->space, point, out->text, sizeof out->text);
    if (verdict.limit > 0) out->excess = fabs(log2(fmax(verdict.have, 0.5) / verdict.limit));
    if (out->reason == SX_MAP_CONSTRAINT) level = lacking_level(space, point, out->text, sizeof out->text);
    if (out->reason == SX_MAP_BANK_SHARE) sx_map_lacks_banks(space, point, &level, &tensor, &words);
    if (out->reason == SX_MAP_FANOUT && sx_map_overflows(space, point, &level, &on_y, &words))
        out->excess = log2((double)words / (double)space->room[level][on_y]);
    out->level = (int8_t)level;
    out->tensor = (int8_t)tensor;
    return true;
}

/* Adds a point's fault to its group. */
static void count_fault(diagnosis *d, const group *fault) {
    size_t i = 0;
    while (i < d->n_groups && (d->group[i].reason != fault->reason || d->group[i].level != fault->level ||
                               d->group[i].tensor != fault->tensor))
        i++;
    if (i == MAX_GROUPS) return;
    group *g = &d->group[i];
    if (i == d->n_groups) {
        *g = *fault;
        d->n_groups++;
        return;
    }
    g->count++;
    if (fault->excess >= g->excess) return;
    g->excess = fault->excess;
    memcpy(g->text, fault->text, sizeof g->text);
}

/* Most frequent first, then by reason, level and tensor. */
static int compare_groups(const void *a, const void *b) {
    const group *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    if (x->reason != y->reason) return x->reason < y->reason ? -1 : 1;
    return x->level != y->level ? x->level - y->level : x->tensor - y->tensor;
}

/* The least or the most that a tile of a level reaches in a dimension, in any construction: bounds that need
 * not be met where factors must divide. */
static uint32_t bound_extent(const sx_map_space *space, int level, int dim, bool most) {
    double size = space->problem->size[dim], inner = 1, outer = 1;
    for (int i = 0; i < space->n_slots; i++) {
        double *side = space->slot[i].level <= level ? &inner : &outer;
        *side *= (side == &inner) == most ? space->max[dim][i] : space->min[dim][i];
    }
    double left = ceil(size / outer);
    double extent = most ? fmin(inner, left) : fmax(inner, left);
    uint32_t whole = (uint32_t)fmin(fmax(extent, 1), size);
    if (space->options.remainders) return whole;
    while (whole > 1 && whole < space->problem->size[dim] && space->problem->size[dim] % whole)
        whole += most ? -1u : 1u;
    return whole;
}

/* The words that some tensors take at a level at the least or at the most; with banks, whole ones. */
static double bound_words(const sx_map_space *space, int level, unsigned tensors, bool most) {
    uint32_t extent[SX_MAX_DIMS];
    const sx_level *at = &space->model->level[level];
    for (int d = 0; d < space->problem->n_dims; d++) extent[d] = bound_extent(space, level, d, most);
    sx_occupancy use = sx_level_occupancy(space->model, at, tensors, extent);
    return most ? use.words : fmax(use.words, use.banks * at->bank_words);
}

/* Lists the names of tensors. */
static void list_tensors(const sx_map_space *space, unsigned tensors, char *text, size_t size) {
    *text = 0;
    for (; tensors; tensors &= tensors - 1) {
        size_t at = strlen(text);
        snprintf(text + at, size - at, "%s%s", at ? ", " : "",
                 space->problem->tensor[__builtin_ctz(tensors)].name);
    }
}

/* Says what no construction can do at a level; returns whether there was anything to say. */
static bool prove_level(diagnosis *d, int s) {
    const sx_map_space *space = d->space;
    const sx_level *level = &space->model->level[s];
    const char *name = space->arch->level[s].name;
    unsigned must = space->fixed_keep[s], may = must | space->free_keep[s] | space->banked[s];
    if (!level->limited) return false;
    double least = bound_words(space, s, must, false), most = bound_words(space, s, may, true);
    double asked = fmax(level->minimum, space->constraints.level[s].min_utilization * level->effective);
    char tensors[MAX_LINE];
    list_tensors(space, must, tensors, sizeof tensors);
    if (least > level->effective) {
        double words = ceil(least * space->arch->level[s].multiple_buffering);
        say(&d->out,
            "%s: its capacity is %.0f, but the smallest tiles of %s take %.0f. It needs %.0f entries%s.",
            name, level->effective, tensors, least, words,
            s + 1 < space->arch->n_levels ? ", or to bypass some of them" : "");
    }
    if (most < asked)
        say(&d->out, "%s: at least %.0f words must be in use, but the largest tiles take %.0f.", name,
            ceil(asked), most);
    return least > level->effective || most < asked;
}

/* The same of a level's children. */
static bool prove_spread(diagnosis *d, int s) {
    const sx_map_space *space = d->space;
    if (space->spatial_slot[s] < 0) return false;
    double least = 1, room = (double)(sx_arch_fanout_x(space->arch, s) * sx_arch_fanout_y(space->arch, s));
    for (int i = 0; i < space->problem->n_dims; i++) least *= space->min[i][space->spatial_slot[s]];
    if (least <= room) return false;
    say(&d->out, "%s: the constraints ask for spatial factors of %.0f together, but its fan-out is %.0f.",
        space->arch->level[s].name, least, room);
    return true;
}

/* Says whether repair makes draws legal, or how near it comes. */
static sx_status try_repair(diagnosis *d, uint64_t seed) {
    const sx_space *base = &d->space->space;
    void *point = malloc(base->point_size);
    if (!point) return sx_error_memory();
    int legal = 0;
    group best = {.excess = INFINITY};
    for (uint64_t i = 0; i < REPAIRS; i++) {
        sx_rng rng = sx_rng_stream(seed, "map.diagnose.repair", i);
        group fault;
        sx_map_draw(base, &rng, point);
        legal += sx_map_repair(d->space, &rng, point);
        if (fault_of(d->space, point, &fault) && fault.excess < best.excess) best = fault;
    }
    free(point);
    if (legal > 0)
        say(&d->out, "Legal points exist: of %d draws, %d can be repaired.", REPAIRS, legal);
    else
        say(&d->out, "None of %d draws can be repaired. The nearest miss: %s.", REPAIRS, best.text);
    return SX_OK;
}

/* Draws and sorts; returns how many were legal. */
static sx_status survey_draws(diagnosis *d, uint64_t seed, uint64_t tries, uint64_t *legal) {
    const sx_space *base = &d->space->space;
    void *point = malloc(base->point_size);
    if (!point) return sx_error_memory();
    sx_rng rng = sx_rng_stream(seed, "map.diagnose", 0);
    const sx_guard *guard = d->space->model->guard;
    *legal = 0;
    for (d->draws = 0; d->draws < tries; d->draws++) {
        group fault;
        sx_map_draw(base, &rng, point);
        bool wrong = fault_of(d->space, point, &fault);
        if (atomic_load(&guard->unfinished)) break;
        if (wrong)
            count_fault(d, &fault);
        else
            ++*legal;
    }
    free(point);
    if (atomic_load(&guard->unfinished) && !atomic_load(&guard->steps.stopped)) return sx_error_memory();
    qsort(d->group, d->n_groups, sizeof *d->group, compare_groups);
    return SX_OK;
}

sx_status sx_map_diagnose(const sx_space *base, uint64_t seed, uint64_t tries, char **out) {
    diagnosis *d = calloc(1, sizeof *d);
    if (!d) return sx_error_memory();
    d->space = sx_map_cast(base);
    uint64_t legal = 0;
    sx_status status = survey_draws(d, seed, tries, &legal);
    if (status) goto done;
    const double draws = fmax((double)d->draws, 1);
    say(&d->out, "%llu draws, of which %llu legal (%.2g %%)%s", (unsigned long long)d->draws,
        (unsigned long long)legal, 100.0 * (double)legal / draws,
        d->n_groups ? ". What is wrong with the others, and the nearest miss:" : ".");
    for (size_t i = 0; i < d->n_groups; i++) {
        char line[MAX_LINE + 32];
        snprintf(line, sizeof line, "%6.1f %%  %s", 100.0 * (double)d->group[i].count / draws,
                 d->group[i].text);
        add_line(&d->out, 10, line);
    }
    bool proved = false;
    for (int s = 0; s < d->space->arch->n_levels; s++) {
        proved |= prove_level(d, s);
        proved |= prove_spread(d, s);
    }
    if (!proved && legal == 0 && !atomic_load(&d->space->model->guard->unfinished))
        status = try_repair(d, seed);
    if (!status) status = sx_text_take(&d->out, out);
done:
    sx_text_free(&d->out);
    free(d);
    return status;
}
