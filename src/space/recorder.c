/* The points kept are those with the smallest hashes of their bytes, so that which they are depends on the
 * set of points that came, not on their order. Points are gathered in twice the room; when it is full they
 * are sorted by hash, twins dropped, the larger half forgotten, and larger hashes not taken any more: O(log
 * room) for a point that is kept, a hash for one that is not. */
#include "space/recorder.h"

#include "base/hash.h"
#include "base/status.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A remembered point: its bytes are number `slot` of the points. */
typedef struct record {
    uint64_t hash;
    double value;
    size_t slot;
} record;

struct sx_recorder {
    sx_space space;
    sx_space_type type;
    pthread_mutex_t lock;
    size_t room, n;   /* there are records and points for twice the room */
    uint64_t largest; /* hashes beyond it are not wanted */
    record *record;
    unsigned char *points;
};

static sx_status forward_count(const sx_space *space) {
    return sx_space_count(space->inner);
}

static bool forward_size(const sx_space *space, size_t index, sx_size *out) {
    return space->inner->type->size(space->inner, index, out);
}

static bool forward_at(const sx_space *space, sx_u128 index, void *point) {
    return space->inner->type->at(space->inner, index, point);
}

static void forward_draw(const sx_space *space, sx_rng *rng, void *point) {
    space->inner->type->draw(space->inner, rng, point);
}

static void forward_draw_likely(const sx_space *space, sx_rng *rng, void *point) {
    space->inner->type->draw_likely(space->inner, rng, point);
}

static bool forward_holds(const sx_space *space, const void *point) {
    return space->inner->type->holds(space->inner, point);
}

static unsigned forward_check(const sx_space *space, const void *point) {
    return space->inner->type->check(space->inner, point);
}

static const char *forward_reason(const sx_space *space, unsigned reason) {
    return space->inner->type->reason(space->inner, reason);
}

static void forward_explain(const sx_space *space, const void *point, char *text, unsigned long size) {
    space->inner->type->explain(space->inner, point, text, size);
}

static sx_status forward_diagnose(const sx_space *space, uint64_t seed, uint64_t tries, char **out) {
    return space->inner->type->diagnose(space->inner, seed, tries, out);
}

static void forward_redraw(const sx_space *space, sx_rng *rng, size_t gene, void *point) {
    space->inner->type->redraw(space->inner, rng, gene, point);
}

static void forward_nudge(const sx_space *space, sx_rng *rng, size_t gene, void *point) {
    space->inner->type->nudge(space->inner, rng, gene, point);
}

static void forward_take(const sx_space *space, size_t gene, const void *from, void *point) {
    space->inner->type->take(space->inner, gene, from, point);
}

static bool forward_neighbour(const sx_space *space, const void *point, size_t index, void *out) {
    return space->inner->type->neighbour(space->inner, point, index, out);
}

static bool forward_repair(const sx_space *space, sx_rng *rng, void *point) {
    return space->inner->type->repair(space->inner, rng, point);
}

static void forward_encode(const sx_space *space, const void *point, double *values) {
    space->inner->type->encode(space->inner, point, values);
}

static bool forward_project(const sx_space *space, const double *values, void *point) {
    return space->inner->type->project(space->inner, values, point);
}

static int by_hash(const void *a, const void *b) {
    const record *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

/* Sorts the records, drops twins and what is beyond the room; slots of those dropped go behind the others,
 * free to be used again. */
static void compact(sx_recorder *r) {
    size_t kept = 0;
    if (r->n == 0) return;
    qsort(r->record, r->n, sizeof *r->record, by_hash);
    for (size_t i = 0; i < r->n; i++) {
        if (kept && r->record[i].hash == r->record[kept - 1].hash) continue;
        if (kept == r->room) break;
        record moved = r->record[kept];
        r->record[kept++] = r->record[i];
        r->record[i] = moved;
    }
    r->n = kept;
    if (kept == r->room) r->largest = r->record[kept - 1].hash;
}

/* Remembers a point. */
static void note(sx_recorder *r, const void *point, double value) {
    uint64_t hash = sx_hash_bytes(point, r->space.point_size, 0);
    pthread_mutex_lock(&r->lock);
    if (hash <= r->largest) {
        if (r->n == 2 * r->room) compact(r);
        record *free_record = &r->record[r->n++];
        free_record->hash = hash;
        free_record->value = value;
        memcpy(r->points + free_record->slot * r->space.point_size, point, r->space.point_size);
    }
    pthread_mutex_unlock(&r->lock);
}

static sx_status forward_scorer_new(const sx_space *space, void **out) {
    return space->inner->type->scorer_new(space->inner, out);
}

/* Scores a point in full, remembers it, and answers as the inner space would. */
static unsigned score(const sx_space *space, void *scorer, const void *point, const sx_objective *objective,
                      double bound, sx_score *out) {
    sx_score full;
    unsigned reason = space->inner->type->score(space->inner, scorer, point, objective, INFINITY, &full);
    if (reason) return reason;
    double value = sx_objective_value(objective, &full);
    note((sx_recorder *)space, point, value);
    if (value > bound) return SX_BEYOND;
    *out = full;
    return 0;
}

static void forward_key(const sx_space *space, const void *point, uint64_t key[2]) {
    space->inner->type->key(space->inner, point, key);
}

/* A space of a recorder is freed with it. */
static void keep(sx_space *space) {
    (void)space;
}

/* The inner space's type with functions that go through the recorder. */
static sx_space_type type_for(const sx_space_type *inner) {
    return (sx_space_type){
        .name = inner->name,
        .axes = inner->axes,
        .n_axes = inner->n_axes,
        .free = keep,
        .count = forward_count,
        .size = forward_size,
        .at = forward_at,
        .draw = forward_draw,
        .draw_likely = inner->draw_likely ? forward_draw_likely : NULL,
        .holds = forward_holds,
        .check = forward_check,
        .reason = forward_reason,
        .explain = forward_explain,
        .diagnose = forward_diagnose,
        .redraw = forward_redraw,
        .nudge = forward_nudge,
        .take = forward_take,
        .neighbour = forward_neighbour,
        .repair = inner->repair ? forward_repair : NULL,
        .encode = forward_encode,
        .project = forward_project,
        .scorer_new = forward_scorer_new,
        .scorer_free = inner->scorer_free,
        .score = score,
        .key = forward_key,
    };
}

sx_status sx_recorder_new(const sx_space *inner, size_t room, sx_recorder **out) {
    sx_recorder *r = calloc(1, sizeof *r);
    if (!r) return sx_error_memory();
    r->room = room ? room : 1;
    r->largest = UINT64_MAX;
    r->space = *inner;
    r->space.inner = inner;
    r->type = type_for(inner->type);
    r->space.type = &r->type;
    r->record = calloc(2 * r->room, sizeof *r->record);
    r->points = calloc(2 * r->room, inner->point_size);
    if (!r->record || !r->points || pthread_mutex_init(&r->lock, NULL) != 0) {
        free(r->record);
        free(r->points);
        free(r);
        return sx_error_memory();
    }
    for (size_t i = 0; i < 2 * r->room; i++) r->record[i].slot = i;
    *out = r;
    return SX_OK;
}

void sx_recorder_free(sx_recorder *recorder) {
    if (!recorder) return;
    pthread_mutex_destroy(&recorder->lock);
    free(recorder->record);
    free(recorder->points);
    free(recorder);
}

const sx_space *sx_recorder_space(const sx_recorder *recorder) {
    return &recorder->space;
}

const void *sx_recorder_point(sx_recorder *recorder, size_t index, double *value) {
    if (index == 0) compact(recorder);
    if (index >= recorder->n) return NULL;
    *value = recorder->record[index].value;
    return recorder->points + recorder->record[index].slot * recorder->space.point_size;
}
