/* What is known of blocks and steps (remainders/window.c), few of them most of the time: results lie together, and the hash table
 * of their numbers grows from small again for every count. */
#include "model/remainders/window.h"

#include "base/hash.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST = 1 << 8, MOST = 1 << 18 };

void sx_window_memo_fini(sx_window_memo *memo) {
    free(memo->result);
    free(memo->slot);
    *memo = (sx_window_memo){0};
}

bool sx_window_memo_clear(sx_window_memo *memo) {
    if (!sx_reserve(&memo->slot, &memo->slot_room, LEAST, sizeof *memo->slot)) return false;
    memo->n = 0;
    memo->slots = LEAST;
    memset(memo->slot, 0, memo->slots * sizeof *memo->slot);
    return true;
}

/* The slot of a key: an empty one, or where it is. */
static inline uint32_t *find_slot(const sx_window_memo *memo, uint64_t key) {
    size_t at = sx_hash_mix(0, key) & (memo->slots - 1);
    while (memo->slot[at] && memo->result[memo->slot[at] - 1].key != key) at = (at + 1) & (memo->slots - 1);
    return &memo->slot[at];
}

const sx_window_result *sx_window_memo_find(const sx_window_memo *memo, uint64_t key) {
    uint32_t number = *find_slot(memo, key);
    return number ? &memo->result[number - 1] : NULL;
}

/* Doubles the hash table. */
static bool grow_table(sx_window_memo *memo) {
    size_t slots = 2 * memo->slots;
    if (slots > MOST || !sx_reserve(&memo->slot, &memo->slot_room, slots, sizeof *memo->slot)) return false;
    memo->slots = slots;
    memset(memo->slot, 0, slots * sizeof *memo->slot);
    for (size_t i = 0; i < memo->n; i++) *find_slot(memo, memo->result[i].key) = (uint32_t)i + 1;
    return true;
}

bool sx_window_memo_keep(sx_window_memo *memo, const sx_window_result *result) {
    if (2 * memo->n >= memo->slots && !grow_table(memo)) return false;
    if (!sx_reserve(&memo->result, &memo->room, memo->n + 1, sizeof *result)) return false;
    memo->result[memo->n] = *result;
    *find_slot(memo, result->key) = (uint32_t)++memo->n;
    return true;
}
