/* A growing list of plain things of one size. */
#ifndef SX_MAPPERS_SUNSTONE_LIST_H
#define SX_MAPPERS_SUNSTONE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Begins as {.size = sizeof of one}. `failed`: memory was out, and what was added since is lost. */
typedef struct sx_sunstone_list {
    size_t size, n, room;
    unsigned char *data;
    bool failed;
} sx_sunstone_list;

static inline void *sx_sunstone_at(const sx_sunstone_list *list, size_t index) {
    return list->data + index * list->size;
}

/* Room for one more at the end; NULL when memory is out. */
static inline void *sx_sunstone_add(sx_sunstone_list *list) {
    if (list->n == list->room) {
        size_t room = list->room ? 2 * list->room : 16;
        unsigned char *data = realloc(list->data, room * list->size);
        if (!data) {
            list->failed = true;
            return NULL;
        }
        list->data = data;
        list->room = room;
    }
    return list->data + list->n++ * list->size;
}

static inline void sx_sunstone_clear(sx_sunstone_list *list) {
    free(list->data);
    *list = (sx_sunstone_list){.size = list->size};
}

#endif
