/* Sharing at one visit: which children want the same words, how far these travel over the mesh, and which
 * children get theirs from a neighbour. */
#include "base/status.h"
#include "base/vector.h"
#include "oracle/simulate.h"

#include <stdlib.h>
#include <string.h>

/* Groups of one size at one visit. */
typedef struct tally {
    uint64_t groups;
    double words, hops;
} tally;

static bool same_words(const sx_sim_set *a, const sx_sim_set *b) {
    return a->size == b->size && (a->size == 0 || memcmp(a->word, b->word, a->size * sizeof *a->word) == 0);
}

/* Adds words sent to groups of a size. */
static sx_status add_traffic(sx_sim_traffic *traffic, sx_sim_record record) {
    size_t at = 0;
    while (at < traffic->n_records && (traffic->record[at].multicast < record.multicast ||
                                       (traffic->record[at].multicast == record.multicast &&
                                        traffic->record[at].scatter < record.scatter)))
        at++;
    if (at < traffic->n_records && traffic->record[at].multicast == record.multicast &&
        traffic->record[at].scatter == record.scatter) {
        traffic->record[at].accesses += record.accesses;
        traffic->record[at].hops += record.hops;
        return SX_OK;
    }
    if (!sx_reserve(&traffic->record, &traffic->room, traffic->n_records + 1, sizeof record))
        return sx_error_memory();
    memmove(traffic->record + at + 1, traffic->record + at, (traffic->n_records - at) * sizeof record);
    traffic->record[at] = record;
    traffic->n_records++;
    return SX_OK;
}

/* Puts every child that is sent words into a group, named by its first child; the others get the group
 * `children`. */
static void form_groups(const sx_sim_mesh *mesh, bool multicast, const sx_sim_set *now, const bool *served,
                        size_t *group) {
    for (size_t p = 0; p < mesh->children; p++) {
        group[p] = mesh->children;
        if (served[p] || now[p].size == 0) continue;
        group[p] = p;
        for (size_t q = 0; multicast && q < p && group[p] == p; q++)
            if (group[q] == q && same_words(&now[q], &now[p])) group[p] = q;
    }
}

/* The hops of one word to a group: along the bottom to its farthest column, and in each of its columns up and
 * down from the middle row. */
static double group_hops(const sx_sim_mesh *mesh, const size_t *group, size_t leader) {
    double middle = ((double)mesh->rows - 1) / 2, hops = 0;
    uint64_t farthest = 0;
    for (uint64_t column = 0; column < mesh->columns && column < mesh->children; column++) {
        bool used = false;
        double lowest = 0, highest = 0;
        for (size_t p = column; p < mesh->children; p += mesh->columns) {
            if (group[p] != leader) continue;
            double row = (double)(p / mesh->columns);
            lowest = used ? lowest : row;
            highest = row;
            used = true;
        }
        if (!used) continue;
        farthest = column;
        if (lowest < middle) hops += middle - lowest;
        if (highest > middle) hops += highest - middle;
    }
    return hops + (double)farthest;
}

/* Sums the groups by size into by_size[1..children]; returns the words sent. */
static double count_groups(const sx_sim_mesh *mesh, const sx_sim_set *now, const size_t *group,
                           tally *by_size) {
    double sent = 0;
    memset(by_size, 0, (mesh->children + 1) * sizeof *by_size);
    for (size_t leader = 0; leader < mesh->children; leader++) {
        if (group[leader] != leader) continue;
        size_t members = 0;
        for (size_t p = leader; p < mesh->children; p++) members += group[p] == leader;
        by_size[members].groups++;
        by_size[members].words += (double)now[leader].size;
        by_size[members].hops += group_hops(mesh, group, leader);
        sent += (double)now[leader].size;
    }
    return sent;
}

/* Whether a neighbour of child p received at the visit before exactly what p lacks now. */
static bool neighbour_has(const sx_sim_mesh *mesh, const sx_sim_set *now, const sx_sim_set *before,
                          size_t p) {
    uint64_t column = p % mesh->columns, row = p / mesh->columns;
    const bool exists[4] = {column > 0, column + 1 < mesh->columns, row > 0, row + 1 < mesh->rows};
    const size_t at[4] = {p - 1, p + 1, p - mesh->columns, p + mesh->columns};
    for (int i = 0; i < 4; i++)
        if (exists[i] && at[i] < mesh->children && same_words(&before[at[i]], &now[p])) return true;
    return false;
}

/* Marks the children that a neighbour serves; returns the words handed on. */
static double find_served(const sx_sim_mesh *mesh, const sx_sim_set *now, const sx_sim_set *before,
                          bool *served) {
    double handed = 0;
    for (size_t p = 0; p < mesh->children; p++) {
        served[p] = now[p].size > 0 && neighbour_has(mesh, now, before, p);
        if (served[p]) handed += (double)now[p].size;
    }
    return handed;
}

sx_status sx_sim_deliver(const sx_sim_mesh *mesh, sx_sim_rules rules, const sx_sim_set *now,
                         const sx_sim_set *before, sx_sim_traffic *traffic) {
    size_t n = mesh->children;
    bool *served = calloc(n, sizeof *served);
    size_t *group = malloc(n * sizeof *group);
    tally *plain = malloc((n + 1) * sizeof *plain), *linked = malloc((n + 1) * sizeof *linked);
    sx_status status = SX_OK;
    if (!served || !group || !plain || !linked) {
        status = sx_error_memory();
        goto done;
    }
    form_groups(mesh, rules.multicast, now, served, group);
    double sent = count_groups(mesh, now, group, plain);
    const tally *chosen = plain;
    if (rules.links) {
        double handed = find_served(mesh, now, before, served);
        form_groups(mesh, rules.multicast, now, served, group);
        if (count_groups(mesh, now, group, linked) < sent) {
            chosen = linked;
            traffic->links += rules.weight * handed;
        }
    }
    for (size_t m = 1; m <= n && !status; m++)
        if (chosen[m].groups)
            status = add_traffic(traffic, (sx_sim_record){m, chosen[m].groups, rules.weight * chosen[m].words,
                                                          rules.weight * chosen[m].hops * chosen[m].words});
done:
    free(served);
    free(group);
    free(plain);
    free(linked);
    return status;
}
