/* What was found out about neighbours, kept for the next evaluation: searches meet the same slots over and over. */
#ifndef SX_MODEL_SERVED_MEMO_H
#define SX_MODEL_SERVED_MEMO_H

#include "model/fanout.h"

enum { SX_MEMO_GROUPS = 12, SX_MEMO_KEY = 40 };

/* An answer of sx_fanout_served without hops, and the question in numbers. */
typedef struct sx_served_entry {
    int n_key; /* 0: empty */
    int64_t key[SX_MEMO_KEY];
    uint64_t served;
    size_t n_groups;
    sx_multicast_group group[SX_MEMO_GROUPS];
} sx_served_entry;

/* Of one workspace; zeroed is empty. */
typedef struct sx_served_memo {
    sx_served_entry *entry; /* NULL before the first question */
} sx_served_memo;

/* The entry where the answer for a slot and a displacement is, or belongs: *known says which. NULL where the
 * question is too long, or memory is out. */
sx_served_entry *sx_served_memo_find(sx_served_memo *memo, const sx_fanout *slot, const int64_t *need,
                                     bool *known);

/* Keeps an answer in its entry, where it is not too long. */
void sx_served_entry_set(sx_served_entry *entry, uint64_t served, const sx_multicast_group *group, size_t n);

void sx_served_memo_fini(sx_served_memo *memo);

#endif
