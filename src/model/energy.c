/* From counts to energies and cycles (docs/model.md, sections 5 and 6). */
#include "model/energy.h"

#include <math.h>

void sx_cost_accumulator_begin(sx_cost_accumulator *costs, const sx_model *model, const sx_nest *nest,
                               bool totals) {
    costs->model = model;
    costs->nest = nest;
    costs->totals = totals;
    costs->compute_energy = (double)model->computes * model->compute_energy;
    costs->compute_cycles = (double)nest->cycles;
    costs->busy_computes = (double)model->computes;
    for (int s = 0; s < model->n_levels; s++) {
        uint64_t clusters = model->level[s].clusters;
        if (clusters > nest->above[s]) clusters = nest->above[s];
        costs->clusters[s] = clusters;
        costs->storage[s] = costs->network[s] = costs->reads[s] = costs->writes[s] = 0;
        costs->slowdown[s] = 1;
        costs->leaking[s] = (double)nest->above[s];
    }
}

/* Whole vector accesses for a count per instance. */
static inline double vector_accesses(const sx_level *level, int tensor, double count) {
    return ceil(sx_level_vectors(level, tensor, count));
}

/* Lowers a level's slowdown to what a use of its bandwidth allows. */
static void slow_down(sx_cost_accumulator *costs, int s, double reads, double writes) {
    const sx_level *level = &costs->model->level[s];
    double slow = costs->slowdown[s];
    if (level->read_bandwidth < reads) slow = fmin(slow, level->read_bandwidth / reads);
    if (level->write_bandwidth < writes) slow = fmin(slow, level->write_bandwidth / writes);
    if (level->shared_bandwidth < writes + reads)
        slow = fmin(slow, level->shared_bandwidth / (writes + reads));
    costs->slowdown[s] = slow;
}

void sx_cost_accumulator_add_traffic(sx_cost_accumulator *costs, int level, double reads, double writes) {
    if (costs->model->level[level].banks > 0) slow_down(costs, level, reads, writes);
    costs->reads[level] += reads;
    costs->writes[level] += writes;
}

/* Charges one tensor's accesses to a level that keeps it; returns the energy of all instances. */
static double charge_storage(sx_cost_accumulator *costs, int s, int tensor, bool output, const sx_counts *c,
                             sx_cost_tensor *out) {
    const sx_level *level = &costs->model->level[s];
    double instances = (double)costs->nest->above[s], clusters = (double)costs->clusters[s];
    double reads = c->reads, fills = c->fills, updates = c->updates;
    if (costs->totals) {
        reads /= instances;
        fills /= instances;
        updates /= instances;
    }
    double access = vector_accesses(level, tensor, reads) * level->read_energy +
                    vector_accesses(level, tensor, fills) * level->fill_energy +
                    vector_accesses(level, tensor, updates) * level->update_energy;
    double generations = (output ? updates : reads) + fills;
    double energy = (access + generations * level->addr_gen_energy) * clusters;
    if (level->bounded) {
        double cycles = (double)costs->nest->cycles, scale = level->scale[tensor];
        double read_rate = ceil(reads) / cycles * scale, write_rate = ceil(fills + updates) / cycles * scale;
        sx_cost_accumulator_add_traffic(costs, s, read_rate, write_rate);
    }
    costs->storage[s] += energy;
    if (!out) return energy;
    double times = costs->totals ? 1 : instances;
    *out = (sx_cost_tensor){
        .kept = true,
        .tile = c->tile,
        .partition = (uint64_t)(c->partition * times),
        .reads = (uint64_t)(c->reads * times),
        .fills = (uint64_t)(c->fills * times),
        .updates = (uint64_t)(c->updates * times),
        .temporal_reductions = (uint64_t)(c->reductions * times),
        .address_generations = generations,
        .energy_pj = energy,
    };
    return energy;
}

/* Charges one tensor's traffic to the network below a level. */
static double charge_network(sx_cost_accumulator *costs, int s, int tensor, double partition,
                             const sx_access_stats *flow, const sx_access_entry *record,
                             sx_cost_net_tensor *out) {
    const sx_level *level = &costs->model->level[s];
    bool output = costs->model->shape[tensor].output;
    double hops = 0, routers = 0, ingresses = 0, reductions = 0;
    uint64_t multicast = 0;
    for (uint32_t i = 0; i < flow->n_records; i++) {
        double accesses = record[i].accesses;
        if (output && !level->reduces) accesses = 2 * accesses - partition;
        if (output) reductions = trunc(reductions + (double)(record[i].m - 1) * accesses);
        ingresses += accesses;
        multicast = record[i].m > multicast ? record[i].m : multicast;
        if (accesses <= 0) continue;
        double each = record[i].hops / accesses;
        routers = trunc(routers + (1 + floor(each)) * accesses);
        hops += each * accesses;
    }
    double links = trunc(flow->links), times = costs->totals ? 1 : (double)costs->nest->above[s];
    times *= sx_level_width(level, tensor);
    double energy = (hops * level->energy_per_hop + routers * level->router_energy) * times;
    double link_energy = links * (level->energy_per_hop + 2 * level->router_energy) * times;
    costs->network[s] += energy + link_energy;
    if (!out) return energy + link_energy;
    double unit = costs->totals ? (double)costs->nest->above[s] : 1;
    *out = (sx_cost_net_tensor){
        .fanout = flow->fanout,
        .multicast = multicast,
        .ingresses = ingresses / unit,
        .link_transfers = links / unit,
        .spatial_reductions = reductions / unit,
        .hops = ingresses > 0 ? hops / ingresses : 0,
        .energy_pj = energy,
        .link_energy_pj = link_energy,
    };
    return energy + link_energy;
}

/* Charges a tensor on the network below a level. */
static double add_network(sx_cost_accumulator *costs, const sx_model_workspace *workspace, int s, int tensor,
                          const sx_counts *counts, sx_cost *out) {
    const sx_access_stats *flow = &workspace->flow[s];
    if (!out && !costs->model->level[s].net_energy) return 0;
    return charge_network(costs, s, tensor, counts[s].partition, flow, workspace->records.data + flow->first,
                          out ? &out->network[s].tensor[tensor] : NULL);
}

double sx_cost_accumulator_add_networks(sx_cost_accumulator *costs, const sx_model_workspace *workspace,
                                        int tensor, const sx_counts *counts, sx_cost *out) {
    const sx_model *model = costs->model;
    double energy = 0;
    for (int s = 0; s < model->n_levels && (out || model->net_energy); s++)
        energy += add_network(costs, workspace, s, tensor, counts, out);
    return energy;
}

double sx_cost_accumulator_add_tensor(sx_cost_accumulator *costs, const sx_model_workspace *workspace,
                                      int tensor, const sx_counts *counts, sx_cost *out) {
    const sx_model *model = costs->model;
    bool output = model->shape[tensor].output;
    double energy = 0;
    for (int s = 0; s < model->n_levels; s++) {
        sx_cost_tensor *storage = out ? &out->level[s].tensor[tensor] : NULL;
        if (counts[s].tile > 0)
            energy += charge_storage(costs, s, tensor, output, &counts[s], storage);
        else if (out)
            *storage = (sx_cost_tensor){.kept = false};
        energy += add_network(costs, workspace, s, tensor, counts, out);
    }
    return energy;
}

/* The instances of a level that leak. */
static double leaking_instances(const sx_cost_accumulator *costs, int s) {
    const sx_level *level = &costs->model->level[s];
    if (level->leak_share > 0) return level->leak_share * costs->leaking[level->gate];
    return costs->leaking[s];
}

void sx_cost_accumulator_finish(sx_cost_accumulator *costs, sx_score *score, sx_cost *out) {
    const sx_model *model = costs->model;
    double compute_cycles = costs->compute_cycles, cycles = compute_cycles;
    for (int s = 0; s < model->n_levels; s++) {
        double level_cycles = compute_cycles;
        if (model->level[s].bounded) {
            if (model->level[s].banks == 0) slow_down(costs, s, costs->reads[s], costs->writes[s]);
            level_cycles = ceil(compute_cycles / costs->slowdown[s]);
            if (level_cycles > cycles) cycles = level_cycles;
        }
        if (out) out->level[s].cycles = level_cycles < 0x1p64 ? (uint64_t)level_cycles : UINT64_MAX;
    }
    double energy = costs->compute_energy;
    for (int s = 0; s < model->n_levels; s++) {
        double leakage = model->level[s].leak_energy * cycles * leaking_instances(costs, s);
        energy += costs->storage[s] + leakage;
        if (!out) continue;
        out->level[s].instances = costs->nest->above[s];
        out->level[s].clusters = costs->clusters[s];
        out->level[s].slowdown = costs->slowdown[s];
        out->level[s].leakage_pj = leakage;
        out->level[s].energy_pj = costs->storage[s] + leakage;
        out->network[s].energy_pj = costs->network[s];
    }
    for (int s = 0; s < model->n_levels; s++) energy += costs->network[s];
    cycles += (double)model->latency;
    score->energy_pj = energy;
    score->cycles = cycles;
    score->utilization = costs->busy_computes / (double)model->compute_instances / cycles;
}
