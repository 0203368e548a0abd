#include "base/hash_table.h"

enum { FEWEST = 4 };

/* Makes all slots empty. */
static void empty_slots(struct sx_hash_slot *slot, size_t size) {
    memset(slot, 0xff, size * sizeof *slot);
}

bool sx_hash_table_begin(sx_hash_table *table, size_t n) {
    if (n > SX_HASH_NONE / 2) return false;
    size_t size = n > FEWEST / 2 ? (size_t)1 << (64 - __builtin_clzll(2 * n - 1)) : FEWEST;
    if (size > table->room) {
        struct sx_hash_slot *slot = malloc(size * sizeof *slot);
        if (!slot) return false;
        free(table->slot);
        table->slot = slot;
        table->room = size;
    }
    table->size = size;
    table->used = 0;
    empty_slots(table->slot, size);
    return true;
}

bool sx_hash_table_grow(sx_hash_table *table) {
    if (table->size > SX_HASH_NONE / 2) return false;
    size_t size = table->size ? 2 * table->size : FEWEST;
    struct sx_hash_slot *slot = malloc(size * sizeof *slot);
    if (!slot) return false;
    empty_slots(slot, size);
    for (size_t k = 0; k < table->size; k++) {
        if (table->slot[k].index == SX_HASH_NONE) continue;
        size_t i = table->slot[k].hash & (size - 1);
        while (slot[i].index != SX_HASH_NONE) i = (i + 1) & (size - 1);
        slot[i] = table->slot[k];
    }
    free(table->slot);
    table->slot = slot;
    table->size = table->room = size;
    return true;
}
