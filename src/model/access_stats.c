/* What every level hands to its children, with exact factors: temporal reuse (tile_delta.c) times spatial
 * groups (fanout.c), as Timeloop's sampled analysis counts them. */
#include "model/fanout.h"
#include "model/tile_delta.h"

#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

bool sx_access_entries_reserve(sx_model_workspace *workspace, size_t more) {
    sx_access_entries *pool = &workspace->records;
    if (sx_reserve(&pool->data, &pool->room, pool->n + more, sizeof *pool->data)) return true;
    workspace->failed = true;
    return false;
}

void sx_access_stats_merge(sx_model_workspace *workspace, sx_access_stats *flow, sx_access_entry new) {
    if (!sx_access_entries_reserve(workspace, 1)) return;
    sx_access_entry *record = workspace->records.data + flow->first;
    uint32_t i = flow->n_records;
    while (i > 0 &&
           (record[i - 1].m > new.m || (record[i - 1].m == new.m &&record[i - 1].scatter > new.scatter)))
        i--;
    if (i > 0 && record[i - 1].m == new.m && record[i - 1].scatter == new.scatter) {
        record[i - 1].accesses += new.accesses;
        record[i - 1].hops += new.hops;
        return;
    }
    memmove(record + i + 1, record + i, (flow->n_records - i) * sizeof *record);
    record[i] = new;
    flow->n_records++;
    workspace->records.n++;
}

/* Adds groups that each fetch `words`. */
static inline void add_groups(sx_model_workspace *workspace, sx_access_stats *flow,
                              const sx_multicast_group *group, size_t n, uint64_t words) {
    for (size_t i = 0; i < n; i++)
        sx_access_stats_add(workspace, flow,
                            (sx_access_entry){group[i].m, group[i].count,
                                              (double)group[i].count * (double)words,
                                              group[i].hops * (double)words});
}

/* Whether children might get words from their neighbours: never where tiles of a plain tensor are reused, as
 * its steps are then longer than all siblings together. */
static bool may_link(const sx_model *model, const sx_mapping_level *at, int tensor, bool always) {
    if (model->options.no_link_transfers || at->no_link_transfer >> tensor & 1) return false;
    return always || !model->shape[tensor].plain;
}

/* Adds what is left to fetch when neighbours at the displacement `need` hand over `words`; false where that
 * saves no accesses. */
static bool add_served(sx_model_workspace *workspace, int level, sx_fanout *slot, const int64_t *need,
                       uint64_t words, uint64_t groups, bool hops) {
    sx_access_stats *flow = &workspace->flow[level];
    const sx_multicast_group *group;
    uint64_t served, fewer = 0;
    size_t left = sx_fanout_served(slot, workspace->slot, need, hops, &served, &group);
    if (left == SIZE_MAX) {
        sx_fanout_fail(slot, workspace, level);
        return false;
    }
    for (size_t i = 0; i < left; i++) fewer += group[i].count;
    if (fewer >= groups) return false;
    add_groups(workspace, flow, group, left, words);
    flow->links += (double)served * (double)words;
    return true;
}

/* Splits off what neighbours hand over; returns the words that all groups fetch from the level. */
static uint64_t add_links(sx_model_workspace *workspace, int level, sx_fanout *slot,
                          const sx_tile_delta *delta, uint64_t groups, bool hops) {
    sx_tile_delta_key key[MAX_LOOPS];
    uint64_t rest;
    int n = sx_tile_delta_keys(delta, slot->span, key, &rest);
    for (int k = 0; k < n; k++)
        if (!add_served(workspace, level, slot, key[k].need, key[k].words, groups, hops))
            rest += key[k].words;
    return rest;
}

static uint64_t count_groups(sx_model_workspace *workspace, sx_fanout *slot) {
    const sx_multicast_group *group;
    uint64_t groups = 0;
    size_t n = sx_fanout_groups(slot, workspace->slot, false, &group);
    for (size_t i = 0; i < n; i++) groups += group[i].count;
    return groups;
}

/* The words each group fetches, with what neighbours hand over split off. */
static uint64_t group_words(sx_model_workspace *workspace, sx_fanout *slot, int level, int tensor,
                            bool always, bool links, bool hops) {
    static const int64_t nowhere[SX_MAX_RANKS];
    const sx_nest *nest = &workspace->nest;
    const sx_shape *shape = slot->shape;
    uint64_t words = level > 0 ? nest->tile[tensor][level - 1] : 1;
    uint64_t all = words * nest->suffix[nest->temporal_of[level]];
    if (shape->plain) {
        uint64_t moving = words * sx_plain_visits(shape, nest, level);
        if (!always) return moving;
        if (!links || all == moving) return all;
        uint64_t groups = count_groups(workspace, slot);
        return add_served(workspace, level, slot, nowhere, all - moving, groups, hops) ? moving : all;
    }
    if (always && !links) return all;
    sx_tile_delta delta;
    sx_tile_delta_init(&delta, workspace->model, nest, level, tensor, always);
    if (!links || delta.n_near == 0) return sx_tile_delta_volume(&delta);
    return add_links(workspace, level, slot, &delta, count_groups(workspace, slot), hops);
}

/* The flow of a level with spatial loops. */
static void spatial_flow(sx_model_workspace *workspace, const sx_mapping *mapping, int tensor, int level,
                         bool hops) {
    const sx_model *model = workspace->model;
    const sx_mapping_level *at = &mapping->level[level];
    sx_access_stats *flow = &workspace->flow[level];
    bool always = level == 0 || (mapping->level[level - 1].no_temporal_reuse >> tensor & 1);
    bool links = may_link(model, at, tensor, always);
    sx_fanout slot;
    sx_fanout_init(&slot, model, &workspace->nest, level, tensor, at->no_multicast >> tensor & 1);
    flow->fanout = slot.siblings;
    uint64_t words = group_words(workspace, &slot, level, tensor, always, links, hops);
    const sx_multicast_group *group;
    size_t n = sx_fanout_groups(&slot, workspace->slot, hops, &group);
    if (n == 0) sx_fanout_fail(&slot, workspace, level);
    add_groups(workspace, flow, group, n, words);
}

/* The flow of a level without spatial loops. */
static void temporal_flow(sx_model_workspace *workspace, const sx_mapping *mapping, int tensor, int level) {
    const sx_model *model = workspace->model;
    const sx_nest *nest = &workspace->nest;
    const sx_shape *shape = &model->shape[tensor];
    sx_access_stats *flow = &workspace->flow[level];
    uint64_t words;
    if (level == 0) {
        words = nest->suffix[0];
    } else if (mapping->level[level - 1].no_temporal_reuse >> tensor & 1) {
        words = nest->tile[tensor][level - 1] * nest->suffix[nest->temporal_of[level]];
    } else if (shape->plain) {
        words = nest->tile[tensor][level - 1] * sx_plain_visits(shape, nest, level);
    } else {
        sx_tile_delta delta;
        sx_tile_delta_init(&delta, model, nest, level, tensor, false);
        words = sx_tile_delta_volume(&delta);
    }
    sx_access_stats_add(workspace, flow, (sx_access_entry){1, 1, (double)words, 0});
}

void sx_access_stats_count(sx_model_workspace *workspace, const sx_mapping *mapping, int tensor, bool hops) {
    const sx_model *model = workspace->model;
    const sx_nest *nest = &workspace->nest;
    workspace->records.n = 0;
    if (!sx_access_entries_reserve(workspace, SX_MAX_LEVELS)) return;
    for (int s = 0; s < model->n_levels; s++) {
        bool always = s == 0 || (mapping->level[s - 1].no_temporal_reuse >> tensor & 1);
        workspace->overflow |= sx_access_stats_most(workspace, tensor, s, always) >= 0x1p62;
        sx_access_stats_begin(workspace, &workspace->flow[s]);
        if (nest->spatial_of[s + 1] > nest->spatial_of[s])
            spatial_flow(workspace, mapping, tensor, s, hops || model->level[s].net_energy);
        else
            temporal_flow(workspace, mapping, tensor, s);
    }
}
