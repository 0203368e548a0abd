#include "base/vector.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 16 };

bool sx_vector_grow(void *array, size_t *room, size_t n, size_t size) {
    size_t more = *room > n / 2 ? 2 * *room : n;
    if (more < FIRST) more = FIRST;
    if (more > SIZE_MAX / 2 / (size ? size : 1)) return false;
    void *items;
    memcpy(&items, array, sizeof items); /* a pointer of any type */
    items = realloc(items, more * (size ? size : 1));
    if (!items) return false;
    memcpy(array, &items, sizeof items);
    *room = more;
    return true;
}
