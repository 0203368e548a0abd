/* The points kept are those with the smallest hashes of their bytes, so that which they are depends on the
 * set of points that came, not on their order. Points are gathered in twice the room; when it is full they
 * are sorted by hash, duplicates dropped, the larger half forgotten, and larger hashes not taken any more:
 * O(log room) for a point that is kept, a hash for one that is not. */
#include "space/recorder.h"

#include "base/hash.h"
#include "base/status.h"
#include "base/vector.h"

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
    sx_point_model model;
    sx_point_model_type type;
    size_t point_size;
    pthread_mutex_t lock;
    size_t room, n;   /* points are gathered up to twice the room */
    size_t slots;     /* records and points there are by now */
    uint64_t largest; /* hashes beyond it are not wanted */
    record *record;
    unsigned char *points;
    size_t record_room, point_room;
};

static int by_hash(const void *a, const void *b) {
    const record *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

/* Sorts the records, drops duplicates and what is beyond the room; slots of those dropped go behind the
 * others, free to be used again. */
static void compact_records(sx_recorder *r) {
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

/* Makes room for one more record and its point. */
static sx_status add_slot(sx_recorder *r) {
    if (!sx_reserve(&r->record, &r->record_room, r->slots + 1, sizeof *r->record) ||
        !sx_reserve(&r->points, &r->point_room, r->slots + 1, r->point_size))
        return sx_error_memory();
    r->record[r->slots].slot = r->slots;
    r->slots++;
    return SX_OK;
}

/* Remembers a point that hashes so; under the lock. */
static sx_status note_point(sx_recorder *r, const void *point, uint64_t hash, double value) {
    if (hash > r->largest) return SX_OK;
    if (r->n == 2 * r->room) compact_records(r);
    if (r->n == r->slots) SX_TRY(add_slot(r));
    record *free_record = &r->record[r->n++];
    free_record->hash = hash;
    free_record->value = value;
    memcpy(r->points + free_record->slot * r->point_size, point, r->point_size);
    return SX_OK;
}

static sx_status workspace_new(const sx_point_model *model, void **out) {
    return model->inner->type->workspace_new(model->inner, out);
}

/* Scores points in full and remembers those that are legal. */
static sx_status score_batch(const sx_point_model *model, void *workspace, const void *points, size_t n,
                             const sx_goal *goal, double cutoff, sx_outcome *out) {
    sx_recorder *r = model->user;
    (void)cutoff;
    SX_TRY(model->inner->type->score_batch(model->inner, workspace, points, n, goal, INFINITY, out));
    sx_status status = SX_OK;
    for (size_t i = 0; i < n && !status; i++) {
        if (out[i].reason) continue;
        const unsigned char *point = (const unsigned char *)points + i * r->point_size;
        uint64_t hash = sx_hash_bytes(point, r->point_size, 0);
        pthread_mutex_lock(&r->lock);
        status = note_point(r, point, hash, sx_goal_value(goal, &out[i].metrics));
        pthread_mutex_unlock(&r->lock);
    }
    return status;
}

static void record_key(const sx_point_model *model, const void *point, uint64_t out[2]) {
    model->inner->type->key(model->inner, point, out);
}

static double record_bound(const sx_point_model *model, const sx_goal *goal) {
    return model->inner->type->bound(model->inner, goal);
}

/* The inner model's type with functions that go through the recorder. */
static sx_point_model_type type_for(const sx_point_model_type *inner) {
    sx_point_model_type type = *inner;
    type.score_batch = score_batch;
    if (type.workspace_new) type.workspace_new = workspace_new;
    if (type.key) type.key = record_key;
    if (type.bound) type.bound = record_bound;
    return type;
}

sx_status sx_recorder_new(const sx_space *space, const sx_point_model *inner, size_t room,
                          sx_recorder **out) {
    if (!inner) inner = space->model;
    sx_recorder *r = calloc(1, sizeof *r);
    if (!r) return sx_error_memory();
    r->room = room ? room : 1;
    r->largest = UINT64_MAX;
    r->point_size = space->point_size;
    r->type = type_for(inner->type);
    r->model = (sx_point_model){.type = &r->type, .user = r, .inner = inner};
    if (pthread_mutex_init(&r->lock, NULL) != 0) {
        free(r);
        return sx_error_memory();
    }
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

const sx_point_model *sx_recorder_model(const sx_recorder *recorder) {
    return &recorder->model;
}

const void *sx_recorder_point(sx_recorder *recorder, size_t index, double *value) {
    if (index == 0) compact_records(recorder);
    if (index >= recorder->n) return NULL;
    *value = recorder->record[index].value;
    return recorder->points + recorder->record[index].slot * recorder->point_size;
}
