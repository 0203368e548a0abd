/* Growing arrays of plain items. Most are a pointer, a number of items and the room that there is, in a
 * struct of their own type; sx_vector is one of items of any type. */
#ifndef SX_BASE_VECTOR_H
#define SX_BASE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Reallocates an array for at least n items. */
bool sx_vector_grow(void *array, size_t *room, size_t n, size_t size);

/* Makes room for n items of a size; `array` points to the pointer to the first item, which is NULL where room
 * is 0. False when memory is out: then nothing has changed. */
static inline bool sx_reserve(void *array, size_t *room, size_t n, size_t size) {
    return n <= *room || sx_vector_grow(array, room, n, size);
}

/* A vector begins as {.size = sizeof(item)}. `failed`: memory was out, and what was added since is lost. */
typedef struct sx_vector {
    size_t size, n, room;
    unsigned char *data;
    bool failed;
} sx_vector;

/* The item of an index. */
static inline void *sx_vector_at(const sx_vector *vector, size_t index) {
    return vector->data + index * vector->size;
}

/* Room for one more item at the end; NULL when memory is out. */
static inline void *sx_vector_add(sx_vector *vector) {
    if (!sx_reserve(&vector->data, &vector->room, vector->n + 1, vector->size)) {
        vector->failed = true;
        return NULL;
    }
    return vector->data + vector->n++ * vector->size;
}

/* Frees the items; the vector is as at the beginning. */
static inline void sx_vector_clear(sx_vector *vector) {
    free(vector->data);
    *vector = (sx_vector){.size = vector->size};
}

#endif
