/* From what levels hand to their children to what each level reads, fills and updates (docs/model.md,
 * section 4): partitions, parent shares, bypass, peers, first-read elision. With exact factors everything is
 * per instance, as Timeloop has it; with remainders everything is summed over instances. */
#include "model/model.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static double sum_accesses(const sx_access_entry *record, uint32_t n) {
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += record[i].accesses;
    return sum;
}

/* Words delivered to all children, each member of a group counted. */
static double sum_deliveries(const sx_access_entry *record, uint32_t n) {
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += record[i].accesses * (double)record[i].m;
    return sum;
}

/* What all children under one instance of a level hold of a tensor at a time. */
static uint64_t spread_words(const sx_model *model, const sx_nest *nest, int tensor, int level) {
    uint32_t extent[SX_MAX_DIMS];
    memcpy(extent, nest->extent[level - 1], sizeof extent);
    for (int l = nest->spatial_of[level]; l < nest->spatial_of[level + 1]; l++)
        extent[nest->spatial[l].dim] *= nest->spatial[l].n;
    return sx_shape_words(&model->shape[tensor], extent);
}

/* The words each instance holds over the whole run, by Timeloop's rule: the parent's, divided by what its
 * children together hold at a time, times what one of them does. */
static void exact_partitions(const sx_model_workspace *workspace, int tensor, sx_level_traffic *at) {
    const sx_model *model = workspace->model;
    const sx_nest *nest = &workspace->nest;
    const sx_shape *shape = &model->shape[tensor];
    __extension__ typedef unsigned __int128 wide;
    int top = model->n_levels - 1;
    uint64_t words = nest->tile[tensor][top];
    at[top].partition = (double)words;
    for (int s = top - 1; s >= 0; s--) {
        if (shape->unit) {
            for (int l = nest->spatial_of[s + 1]; l < nest->spatial_of[s + 2]; l++)
                if (shape->dims >> nest->spatial[l].dim & 1) words /= nest->spatial[l].n;
        } else if (nest->spatial_of[s + 2] > nest->spatial_of[s + 1]) {
            words =
                (uint64_t)((wide)words * nest->tile[tensor][s] / spread_words(model, nest, tensor, s + 1));
        }
        at[s].partition = (double)words;
    }
}

/* Lets the next outer level serve a level's children directly: all that they ask for. */
static void pass_demand(sx_model_workspace *workspace, sx_level_traffic *at, int s, bool totals) {
    if (s + 1 == workspace->model->n_levels) return;
    sx_access_stats *outer = &workspace->flow[s + 1];
    sx_access_entry *record = workspace->records.data + outer->first;
    double children = totals ? 1 : (double)outer->fanout;
    double factor = at[s].demand * children / sum_deliveries(record, outer->n_records);
    for (uint32_t i = 0; i < outer->n_records; i++) record[i].accesses *= factor;
    outer->links = 0;
    at[s + 1].demand = sum_accesses(record, outer->n_records);
}

/* Passes on the demand of levels that do not keep the tensor, and empties them, and of those that do not coalesce its
 * accesses. Of an output the latter fetch what they are asked for; of an input fills stay what they were. */
static void pass_levels(sx_model_workspace *workspace, const sx_mapping *mapping, int tensor, bool totals,
                        sx_level_traffic *at) {
    for (int s = 0; s < workspace->model->n_levels; s++) {
        bool kept = mapping->level[s].keep >> tensor & 1;
        if (kept && !(mapping->level[s].no_coalesce >> tensor & 1)) continue;
        pass_demand(workspace, at, s, totals);
        if (!kept) {
            at[s].tile = 0;
            at[s].partition = at[s].demand = at[s].supply = 0;
        } else if (workspace->model->shape[tensor].output) {
            at[s].supply = at[s].demand;
        }
    }
}

bool sx_collapse_elides(const sx_model *model, const sx_mapping *mapping, int level, int tensor) {
    const sx_mapping_level *at = &mapping->level[level];
    return !model->options.no_first_read_elision && !((at->rmw_first_update | at->no_coalesce) >> tensor & 1);
}

sx_counts sx_collapse_count(const sx_level_traffic *at, bool output, bool outermost, bool elide) {
    sx_counts c = {.tile = at->tile, .partition = at->partition};
    if (at->tile == 0) return c;
    double out = at->demand + at->peers, in = at->supply + at->peers;
    assert(out >= 0 && in >= 0 && at->partition >= 0);
    if (!output) {
        c.reads = round(out);
        c.fills = trunc(in);
        return c;
    }
    c.updates = round(at->demand);
    c.reads = c.reductions = fmax(round(elide ? out - at->partition : out), 0);
    c.fills = fmax(round(elide && !outermost ? in - at->partition : in), 0);
    return c;
}

/* What each level hands out and gets in, before bypass. */
static void set_shares(const sx_model_workspace *workspace, int tensor, bool totals, sx_level_traffic *at) {
    const sx_model *model = workspace->model;
    for (int s = 0; s < model->n_levels; s++) {
        const sx_access_stats *flow = &workspace->flow[s];
        const sx_access_entry *record = workspace->records.data + flow->first;
        at[s].tile = workspace->nest.tile[tensor][s];
        at[s].demand = sum_accesses(record, flow->n_records);
        at[s].supply = at[s].peers = at[s].partition = 0;
        if (s == 0) continue;
        double supply = 0, children = totals ? 1 : (double)flow->fanout;
        for (uint32_t i = 0; i < flow->n_records; i++)
            supply += record[i].accesses * (double)record[i].m / children;
        at[s - 1].supply = supply;
    }
}

void sx_collapse(sx_model_workspace *workspace, const sx_mapping *mapping, int tensor, bool partitions,
                 sx_counts *counts) {
    const sx_model *model = workspace->model;
    const sx_nest *nest = &workspace->nest;
    bool totals = workspace->exact || !nest->perfect, output = model->shape[tensor].output;
    int n = model->n_levels, outermost = n - 1;
    sx_level_traffic at[SX_MAX_LEVELS];
    set_shares(workspace, tensor, totals, at);
    if (totals)
        for (int s = 0; s < n; s++) at[s].partition = workspace->partition[s];
    else if (partitions || output)
        exact_partitions(workspace, tensor, at);
    pass_levels(workspace, mapping, tensor, totals, at);
    for (; !(mapping->level[outermost].keep >> tensor & 1); outermost--)
        workspace->flow[outermost] = (sx_access_stats){.first = workspace->flow[outermost].first};
    at[outermost].supply = 0;
    for (int s = n - 1; s > 0; s--)
        if (workspace->flow[s].links != 0)
            at[s - 1].peers += workspace->flow[s].links / (totals ? 1 : (double)nest->above[s - 1]);
    for (int s = 0; s < n; s++)
        counts[s] =
            sx_collapse_count(&at[s], output, s == outermost, sx_collapse_elides(model, mapping, s, tensor));
}
