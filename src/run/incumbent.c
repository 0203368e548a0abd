#include "run/incumbent.h"

#include "base/vector.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void sx_archive_fini(sx_archive *archive) {
    free(archive->kept);
    free(archive->points);
    *archive = (sx_archive){.point_size = archive->point_size};
}

bool sx_archive_reserve(sx_archive *archive, size_t n) {
    size_t room = archive->room, points = archive->room;
    if (n <= room) return true;
    if (!sx_reserve(&archive->kept, &room, n, sizeof *archive->kept)) return false;
    if (archive->point_size && !sx_reserve(&archive->points, &points, n, archive->point_size)) return false;
    for (size_t i = archive->room; i < room; i++) archive->kept[i].slot = i;
    archive->room = room;
    return true;
}

/* Room for the bytes of a slot. */
static unsigned char *bytes_at(const sx_archive *archive, size_t slot) {
    return archive->points + slot * archive->point_size;
}

const void *sx_archive_point(const sx_archive *archive, size_t index) {
    assert(index < archive->n);
    return bytes_at(archive, archive->kept[index].slot);
}

bool sx_archive_copy_scores(const sx_archive *from, sx_archive *to) {
    if (!sx_archive_reserve(to, from->n)) return false;
    if (from->n) memcpy(to->kept, from->kept, from->n * sizeof *to->kept);
    to->n = from->n;
    return true;
}

/* Inserts a point at a place; false when memory is out. */
static bool insert_point(sx_archive *archive, size_t place, const sx_archived *kept, const void *point) {
    if (!sx_archive_reserve(archive, archive->n + 1)) return false;
    assert(place <= archive->n);
    sx_archived *at = &archive->kept[place];
    size_t slot = archive->kept[archive->n].slot;
    memmove(at + 1, at, (archive->n - place) * sizeof *at);
    *at = *kept;
    at->slot = slot;
    if (archive->point_size) memcpy(bytes_at(archive, slot), point, archive->point_size);
    archive->n++;
    return true;
}

/* Takes the point at a place away; its slot becomes the first free one. */
static void drop_point(sx_archive *archive, size_t place) {
    assert(place < archive->n);
    sx_archived *at = &archive->kept[place];
    size_t slot = at->slot;
    archive->n--;
    memmove(at, at + 1, (archive->n - place) * sizeof *at);
    archive->kept[archive->n].slot = slot;
}

size_t sx_k_best_place(const sx_archive *best, size_t k, const sx_goal *goal, const sx_metrics *metrics,
                       const void *point) {
    size_t place = best->n;
    int order = -1;
    while (place > 0 && (order = sx_goal_compare(goal, metrics, &best->kept[place - 1].metrics)) < 0) place--;
    if (place == k) return SX_NOWHERE;
    for (size_t i = place; i > 0 && order == 0; i--) {
        if (memcmp(sx_archive_point(best, i - 1), point, best->point_size) == 0) return SX_NOWHERE;
        if (i > 1) order = sx_goal_compare(goal, metrics, &best->kept[i - 2].metrics);
    }
    return place;
}

bool sx_k_best_put(sx_archive *best, size_t k, size_t place, const sx_archived *kept, const void *point) {
    if (best->n == k) drop_point(best, k - 1);
    return insert_point(best, place, kept, point);
}

size_t sx_front_place(const sx_archive *front, const sx_goal *goal, const sx_metrics *metrics) {
    const uint8_t *axis = goal->front;
    size_t low = 0, high = front->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (front->kept[middle].metrics.value[axis[0]] <= metrics->value[axis[0]])
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && front->kept[low - 1].metrics.value[axis[1]] <= metrics->value[axis[1]]) return SX_NOWHERE;
    return low;
}

bool sx_front_put(sx_archive *front, const sx_goal *goal, size_t place, const sx_archived *kept,
                  const void *point) {
    const uint8_t *axis = goal->front;
    const double *new = kept->metrics.value;
    size_t from = place;
    if (from > 0 && front->kept[from - 1].metrics.value[axis[0]] == new[axis[0]]) from--;
    while (from < front->n && front->kept[from].metrics.value[axis[1]] >= new[axis[1]])
        drop_point(front, from);
    assert(from == 0 || front->kept[from - 1].metrics.value[axis[0]] < new[axis[0]]);
    assert(from == 0 || front->kept[from - 1].metrics.value[axis[1]] > new[axis[1]]);
    assert(from == front->n || front->kept[from].metrics.value[axis[0]] > new[axis[0]]);
    return insert_point(front, from, kept, point);
}
