#include "run/incumbent.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void sx_shelf_fini(sx_shelf *shelf) {
    free(shelf->kept);
    free(shelf->points);
    *shelf = (sx_shelf){.point_size = shelf->point_size};
}

bool sx_shelf_reserve(sx_shelf *shelf, size_t n) {
    if (n <= shelf->room) return true;
    size_t room = shelf->room * 2 > n ? shelf->room * 2 : n;
    sx_kept *kept = realloc(shelf->kept, room * sizeof *kept);
    if (!kept) return false;
    shelf->kept = kept;
    if (shelf->point_size) {
        unsigned char *points = realloc(shelf->points, room * shelf->point_size);
        if (!points) return false;
        shelf->points = points;
    }
    for (size_t i = shelf->room; i < room; i++) kept[i].slot = i;
    shelf->room = room;
    return true;
}

/* Room for the bytes of a slot. */
static unsigned char *bytes_at(const sx_shelf *shelf, size_t slot) {
    return shelf->points + slot * shelf->point_size;
}

const void *sx_shelf_point(const sx_shelf *shelf, size_t index) {
    assert(index < shelf->n);
    return bytes_at(shelf, shelf->kept[index].slot);
}

bool sx_shelf_copy_scores(const sx_shelf *from, sx_shelf *to) {
    if (!sx_shelf_reserve(to, from->n)) return false;
    if (from->n) memcpy(to->kept, from->kept, from->n * sizeof *to->kept);
    to->n = from->n;
    return true;
}

/* Inserts a point at a place; false when memory is out. */
static bool insert(sx_shelf *shelf, size_t place, const sx_kept *kept, const void *point) {
    if (!sx_shelf_reserve(shelf, shelf->n + 1)) return false;
    assert(place <= shelf->n);
    sx_kept *at = &shelf->kept[place];
    size_t slot = shelf->kept[shelf->n].slot;
    memmove(at + 1, at, (shelf->n - place) * sizeof *at);
    *at = *kept;
    at->slot = slot;
    if (shelf->point_size) memcpy(bytes_at(shelf, slot), point, shelf->point_size);
    shelf->n++;
    return true;
}

/* Takes the point at a place away; its slot becomes the first free one. */
static void drop(sx_shelf *shelf, size_t place) {
    assert(place < shelf->n);
    sx_kept *at = &shelf->kept[place];
    size_t slot = at->slot;
    shelf->n--;
    memmove(at, at + 1, (shelf->n - place) * sizeof *at);
    shelf->kept[shelf->n].slot = slot;
}

size_t sx_best_place(const sx_shelf *best, size_t k, const sx_goal *goal, const sx_metrics *metrics,
                     const void *point) {
    size_t place = best->n;
    int order = -1;
    while (place > 0 && (order = sx_goal_compare(goal, metrics, &best->kept[place - 1].metrics)) < 0) place--;
    if (place == k) return SX_NOWHERE;
    for (size_t i = place; i > 0 && order == 0; i--) {
        if (memcmp(sx_shelf_point(best, i - 1), point, best->point_size) == 0) return SX_NOWHERE;
        if (i > 1) order = sx_goal_compare(goal, metrics, &best->kept[i - 2].metrics);
    }
    return place;
}

bool sx_best_put(sx_shelf *best, size_t k, size_t place, const sx_kept *kept, const void *point) {
    if (best->n == k) drop(best, k - 1);
    return insert(best, place, kept, point);
}

size_t sx_front_place(const sx_shelf *front, const sx_goal *goal, const sx_metrics *metrics) {
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

bool sx_front_put(sx_shelf *front, const sx_goal *goal, size_t place, const sx_kept *kept,
                  const void *point) {
    const uint8_t *axis = goal->front;
    const double *new = kept->metrics.value;
    size_t from = place;
    if (from > 0 && front->kept[from - 1].metrics.value[axis[0]] == new[axis[0]]) from--;
    while (from < front->n && front->kept[from].metrics.value[axis[1]] >= new[axis[1]]) drop(front, from);
    assert(from == 0 || front->kept[from - 1].metrics.value[axis[0]] < new[axis[0]]);
    assert(from == 0 || front->kept[from - 1].metrics.value[axis[1]] > new[axis[1]]);
    assert(from == front->n || front->kept[from].metrics.value[axis[0]] > new[axis[0]]);
    return insert(front, from, kept, point);
}
