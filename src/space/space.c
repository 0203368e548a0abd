/* Spaces, whatever their points mean. */
#include "sextant/space_type.h"

#include "base/guard.h"
#include "base/status.h"
#include "base/text.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sx_space_free(sx_space *space) {
    if (space && space->type->free) space->type->free(space);
}

const char *sx_space_name(const sx_space *space) {
    return space->type->name;
}

size_t sx_space_point_size(const sx_space *space) {
    return space->point_size;
}

void sx_cardinal_text(const sx_cardinal *cardinal, char *text, size_t size) {
    if (cardinal->exact && cardinal->high == 0 && cardinal->low < 1000000000000000u) {
        snprintf(text, size, "%llu", (unsigned long long)cardinal->low);
        return;
    }
    double whole = floor(cardinal->log10);
    double digits = floor(pow(10, cardinal->log10 - whole) * 10 + 0.5) / 10;
    if (digits >= 10) {
        digits = 1;
        whole++;
    }
    if (cardinal->log10 < 15)
        snprintf(text, size, "%.0f", pow(10, cardinal->log10));
    else
        snprintf(text, size, "%.1fe%.0f", digits, whole);
}

sx_status sx_space_count(const sx_space *space) {
    return space->type->count ? space->type->count(space) : SX_OK;
}

bool sx_space_size(const sx_space *space, size_t index, sx_size *out) {
    return space->type->size && space->type->size(space, index, out);
}

bool sx_space_sample(const sx_space *space, uint64_t seed, uint64_t index, void *point) {
    sx_rng rng = sx_rng_stream(seed, "space.sample", index);
    return sx_space_draw_legal(space, &rng, point, NULL);
}

bool sx_space_legal(const sx_space *space, const void *point, char *text, size_t size) {
    if (space->type->check(space, point) == 0) return true;
    if (text && size > 0) snprintf(text, size, "the point is not legal");
    if (text && space->type->explain) space->type->explain(space, point, text, size);
    return false;
}

size_t sx_space_n_values(const sx_space *space) {
    return space->n_values;
}

void sx_space_encode(const sx_space *space, const void *point, double *values) {
    if (space->type->encode) space->type->encode(space, point, values);
}

bool sx_space_project(const sx_space *space, const double *values, void *point) {
    return space->type->project && space->type->project(space, values, point);
}

bool sx_space_at(const sx_space *space, const sx_cardinal *index, void *point) {
    if (!index->exact || !space->type->at) return false;
    return space->type->at(space, (sx_u128)index->high << 64 | index->low, point);
}

sx_status sx_space_diagnose(const sx_space *space, uint64_t seed, uint64_t tries, char **out) {
    if (space->type->diagnose) return space->type->diagnose(space, seed, tries, out);
    sx_text text = {0};
    sx_text_add(&text, "no legal point was found");
    return sx_text_take(&text, out);
}

/* Projects a point onto a legal one; false where none was found or memory is out. */
static bool project_point(const sx_space *space, void *point) {
    if (!space->type->encode || !space->type->project) return false;
    double *values = malloc((space->n_values ? space->n_values : 1) * sizeof *values);
    if (!values) {
        if (space->guard) atomic_store(&space->guard->unfinished, true);
        return false;
    }
    space->type->encode(space, point, values);
    bool legal = space->type->project(space, values, point);
    free(values);
    return legal;
}

bool sx_space_unfinished(const sx_space *space) {
    return space->guard && atomic_load(&space->guard->unfinished);
}

sx_status sx_space_unfinished_status(const sx_space *space) {
    if (!sx_space_unfinished(space)) return SX_OK;
    return atomic_load(&space->guard->steps.stopped) ? SX_OK : sx_error_memory();
}

unsigned sx_space_tries(const sx_space *space) {
    return space->tries ? space->tries : SX_SAMPLE_TRIES;
}

/* Whether a point is one of the space's, legal or not, as far as the space can tell. */
__attribute__((unused)) static bool is_held(const sx_space *space, const void *point) {
    return !space->type->holds || space->type->holds(space, point);
}

bool sx_space_draw_legal(const sx_space *space, sx_rng *rng, void *point, uint64_t *rejected) {
    const sx_space_type *type = space->type;
    void (*draw)(const sx_space *, sx_rng *, void *) = type->draw_likely ? type->draw_likely : type->draw;
    for (unsigned i = 0; i < sx_space_tries(space); i++) {
        draw(space, rng, point);
        assert(is_held(space, point));
        if (type->check(space, point) == 0) return true;
        if (rejected) ++*rejected;
    }
    return (type->repair && type->repair(space, rng, point)) || project_point(space, point);
}

int64_t sx_space_random_gene(const sx_space *space, sx_rng *rng, int axis) {
    uint64_t n = 0;
    for (size_t i = 0; i < space->n_genes; i++) n += axis < 0 || space->gene[i].axis == axis;
    if (n == 0) return -1;
    uint64_t left = sx_rng_below(rng, n);
    for (size_t i = 0;; i++)
        if ((axis < 0 || space->gene[i].axis == axis) && left-- == 0) return (int64_t)i;
}

bool sx_space_mutate(const sx_space *space, sx_rng *rng, int axis, bool redraw, unsigned tries, void *point,
                     void *scratch) {
    assert(scratch != point);
    for (unsigned i = 0; i < tries; i++) {
        int64_t gene = sx_space_random_gene(space, rng, axis);
        if (gene < 0) return false;
        memcpy(scratch, point, space->point_size);
        (redraw || !space->type->nudge ? space->type->redraw : space->type->nudge)(space, rng, (size_t)gene,
                                                                                   scratch);
        if (memcmp(scratch, point, space->point_size) == 0 || space->type->check(space, scratch)) continue;
        assert(is_held(space, scratch));
        memcpy(point, scratch, space->point_size);
        return true;
    }
    return false;
}
