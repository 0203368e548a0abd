#include "model/served_memo.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 1024, FIXED = 4 };

/* Writes a question as numbers; how many, or 0 where they are too many. Tensors are told apart by their shapes,
 * which stay in place while the model lives. */
static int write_key(const sx_fanout *slot, const int64_t *need, int64_t key[SX_MEMO_KEY]) {
    int k = 0;
    if (FIXED + 2 * slot->n_loops + slot->shape->n_ranks > SX_MEMO_KEY) return 0;
    key[k++] = (int64_t)(intptr_t)slot->shape;
    key[k++] = (int64_t)slot->n_loops << 9 | (int64_t)slot->n_x << 1 | slot->apart;
    key[k++] = (int64_t)slot->columns;
    key[k++] = (int64_t)slot->rows;
    for (int l = 0; l < slot->n_loops; l++) {
        key[k++] = (int64_t)slot->loop[l].n << 8 | slot->loop[l].dim;
        key[k++] = slot->loop[l].step;
    }
    for (int r = 0; r < slot->shape->n_ranks; r++) key[k++] = need[r];
    return k;
}

sx_served_entry *sx_served_memo_find(sx_served_memo *memo, const sx_fanout *slot, const int64_t *need,
                                     bool *known) {
    int64_t key[SX_MEMO_KEY];
    int n = write_key(slot, need, key);
    if (n == 0) return NULL;
    if (!memo->entry) memo->entry = calloc(ENTRIES, sizeof *memo->entry);
    if (!memo->entry) return NULL;
    sx_served_entry *entry = &memo->entry[sx_hash_words(key, (size_t)n) % ENTRIES];
    *known = entry->n_key == n && memcmp(entry->key, key, (size_t)n * sizeof *key) == 0;
    if (!*known) {
        memcpy(entry->key, key, (size_t)n * sizeof *key);
        entry->n_key = -n; /* until the answer is there */
    }
    return entry;
}

void sx_served_entry_set(sx_served_entry *entry, uint64_t served, const sx_multicast_group *group, size_t n) {
    if (n > SX_MEMO_GROUPS) return;
    entry->n_key = -entry->n_key;
    entry->served = served;
    entry->n_groups = n;
    memcpy(entry->group, group, n * sizeof *group);
}

void sx_served_memo_fini(sx_served_memo *memo) {
    free(memo->entry);
}
