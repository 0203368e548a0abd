#include "looptree/label.h"

#include "base/hash.h"

void sx_label_table_init(sx_label_table *table, sx_fuse_objective objective) {
    *table = (sx_label_table){.objective = objective,
                              .labels = {.size = sizeof(sx_label_entry)},
                              .groups = {.size = sizeof(sx_label_group)}};
}

void sx_label_table_fini(sx_label_table *table) {
    sx_vector_clear(&table->labels);
    sx_vector_clear(&table->groups);
    sx_hash_table_clear(&table->index);
}

/* Whether label a is no worse than b, both having the same face. */
static bool is_no_worse(const sx_label *a, const sx_label *b, sx_fuse_objective objective) {
    if (objective & SX_FUSE_ENERGY && a->energy > b->energy) return false;
    if (objective & SX_FUSE_LATENCY && a->latency > b->latency) return false;
    for (int d = 0; d <= a->face.n_loops; d++)
        if (a->bits[d] > b->bits[d]) return false;
    return true;
}

/* The group of a face, which is made where there is none; NULL when memory is out. */
static sx_label_group *group_of(sx_label_table *table, const sx_face *face) {
    const sx_hash_keys keys = {table->groups.data, sizeof(sx_label_group), sizeof(sx_face)};
    const uint32_t n = (uint32_t)table->groups.n;
    const uint32_t g = sx_hash_table_put(&table->index, keys, face, sx_hash_bytes(face, sizeof *face, 0), n);
    if (g == SX_HASH_NONE) return NULL;
    if (g == n) {
        sx_label_group *group = sx_vector_add(&table->groups);
        if (!group) return NULL;
        *group = (sx_label_group){*face, UINT32_MAX};
    }
    return sx_vector_at(&table->groups, g);
}

bool sx_label_table_add(sx_label_table *table, const sx_label *label) {
    sx_label_group *group = group_of(table, &label->face);
    if (!group) return false;
    uint32_t *link = &group->first;
    while (*link != UINT32_MAX) {
        sx_label_entry *entry = sx_vector_at(&table->labels, *link);
        if (is_no_worse(&entry->label, label, table->objective)) return true;
        if (is_no_worse(label, &entry->label, table->objective)) {
            entry->dead = true;
            *link = entry->next;
        } else {
            link = &entry->next;
        }
    }
    const uint32_t first = group->first, at = (uint32_t)table->labels.n;
    sx_label_entry *entry = sx_vector_add(&table->labels);
    if (!entry) return false;
    *entry = (sx_label_entry){*label, first, false};
    group->first = at;
    return true;
}

void sx_label_table_pack(sx_label_table *table) {
    size_t n = 0;
    for (size_t i = 0; i < table->labels.n; i++) {
        const sx_label_entry *entry = sx_vector_at(&table->labels, i);
        if (!entry->dead) memcpy(sx_vector_at(&table->labels, n++), entry, sizeof *entry);
    }
    table->labels.n = n;
    sx_vector_clear(&table->groups); /* their links are no longer true */
    sx_hash_table_clear(&table->index);
}
