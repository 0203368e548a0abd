/* A hash table that finds the item of an array by its key. The owner keeps the items; the table keeps their
 * indices, so that a key may be of any size and nothing is stored twice. Open addressing with linear probing,
 * at most half full. Keys are equal where their bytes are; which items are found never depends on the order
 * of the slots. */
#ifndef SX_BASE_HASH_TABLE_H
#define SX_BASE_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* No item. Indices are below it. */
#define SX_HASH_NONE UINT32_MAX

/* A table begins as {0}. */
typedef struct sx_hash_table {
    struct sx_hash_slot {
        uint32_t hash, index;
    } * slot;
    size_t size, used; /* slots, a power of two or 0, and how many of them hold an item */
    size_t room;       /* slots there is memory for */
} sx_hash_table;

/* The keys of all items: that of item i is the first `size` bytes at first + i * stride. */
typedef struct sx_hash_keys {
    const void *first;
    size_t stride, size;
} sx_hash_keys;

/* Empties a table and sizes it for n items; false when memory is out. It cannot fail where there was room for
 * as many before. */
bool sx_hash_table_begin(sx_hash_table *table, size_t n);

/* Doubles the slots; false when memory is out: then nothing has changed. */
bool sx_hash_table_grow(sx_hash_table *table);

/* The index of the item with a key of this hash, or SX_HASH_NONE. */
static inline uint32_t sx_hash_table_find(const sx_hash_table *table, sx_hash_keys keys, const void *key,
                                          uint64_t hash) {
    const size_t mask = table->size - 1;
    if (table->size == 0) return SX_HASH_NONE;
    for (size_t i = (uint32_t)hash & mask;; i = (i + 1) & mask) {
        const struct sx_hash_slot slot = table->slot[i];
        if (slot.index == SX_HASH_NONE) return SX_HASH_NONE;
        if (slot.hash == (uint32_t)hash &&
            memcmp((const char *)keys.first + slot.index * keys.stride, key, keys.size) == 0)
            return slot.index;
    }
}

/* The index of the item with a key of this hash; where there is none, an item of this index is entered. On
 * SX_HASH_NONE memory is out and nothing has changed. */
static inline uint32_t sx_hash_table_put(sx_hash_table *table, sx_hash_keys keys, const void *key,
                                         uint64_t hash, uint32_t index) {
    if (2 * (table->used + 1) > table->size && !sx_hash_table_grow(table)) return SX_HASH_NONE;
    const size_t mask = table->size - 1;
    size_t i = (uint32_t)hash & mask;
    for (; table->slot[i].index != SX_HASH_NONE; i = (i + 1) & mask)
        if (table->slot[i].hash == (uint32_t)hash &&
            memcmp((const char *)keys.first + table->slot[i].index * keys.stride, key, keys.size) == 0)
            return table->slot[i].index;
    table->slot[i] = (struct sx_hash_slot){(uint32_t)hash, index};
    table->used++;
    return index;
}

/* Enters an item whose key is not in the table; false when memory is out: then nothing has changed. */
static inline bool sx_hash_table_add(sx_hash_table *table, uint64_t hash, uint32_t index) {
    if (2 * (table->used + 1) > table->size && !sx_hash_table_grow(table)) return false;
    const size_t mask = table->size - 1;
    size_t i = (uint32_t)hash & mask;
    while (table->slot[i].index != SX_HASH_NONE) i = (i + 1) & mask;
    table->slot[i] = (struct sx_hash_slot){(uint32_t)hash, index};
    table->used++;
    return true;
}

/* Frees the slots; the table is as at the beginning. */
static inline void sx_hash_table_clear(sx_hash_table *table) {
    free(table->slot);
    *table = (sx_hash_table){0};
}

#endif
