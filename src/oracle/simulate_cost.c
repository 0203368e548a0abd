/* The oracle's arithmetic: energies, cycles and totals from what each level does. */
#include "oracle/simulate.h"

#include <math.h>
#include <string.h>

/* What a cost is computed from. */
typedef struct books {
    const sx_sim_case *sim;
    const sx_sim_counts *counts;
    bool perfect;
    sx_sim_share share[SX_MAX_TENSORS][SX_MAX_LEVELS];
} books;

/* How many times a count of sx_sim_share happens in all. */
static double share_copies(const books *b, const sx_cost *cost, int s) {
    return b->perfect ? (double)cost->level[s].instances : 1;
}

static double average_of(uint64_t total, uint64_t instances) {
    return (double)total / (double)instances;
}

/* What a tensor's use of a level's bandwidth is multiplied by. */
static double bandwidth_scale(const sx_storage *level, const sx_tensor *tensor) {
    for (int i = 0; i < level->n_scales; i++) {
        const sx_tensor_scale *scale = &level->bandwidth_scale[i];
        if (strcmp(scale->tensor, tensor->name) == 0 || strcmp(scale->tensor, tensor->alias) == 0)
            return scale->scale;
    }
    return 1;
}

/* The words of a level that a given number of elements of a tensor take, in parts. */
static double words_of(const books *b, int s, int v, double elements) {
    const uint32_t given = b->sim->problem->tensor[v].bits, word = b->sim->arch->level[s].word_bits;
    return given && given != word ? elements * given / word : elements;
}

/* The vector accesses for a given number of elements. */
static double vectors_of(const books *b, int s, int v, double elements) {
    const uint32_t given = b->sim->problem->tensor[v].bits;
    const double word = b->sim->arch->level[s].word_bits, block = b->sim->arch->level[s].block_size;
    return ceil(given && given != word ? elements * given / (word * block) : elements / block);
}

/* One tensor's accesses at one level, and their energy. */
static void cost_tensor(const books *b, int s, int v, sx_cost *cost) {
    const sx_sim_share *share = &b->share[v][s];
    const sx_storage *arch = &b->sim->arch->level[s];
    sx_cost_level *level = &cost->level[s];
    sx_cost_tensor *out = &level->tensor[v];
    double n = share_copies(b, cost, s);
    out->kept = share->kept;
    if (!share->kept) return;
    out->tile = share->tile;
    out->partition = (uint64_t)(share->partition * n);
    out->reads = (uint64_t)(share->reads * n);
    out->fills = (uint64_t)(share->fills * n);
    out->updates = (uint64_t)(share->updates * n);
    out->temporal_reductions = (uint64_t)(share->reductions * n);
    double reads = average_of(out->reads, level->instances), fills = average_of(out->fills, level->instances);
    double updates = average_of(out->updates, level->instances);
    double per_cluster = (double)level->instances / (double)level->clusters;
    double vectors = vectors_of(b, s, v, reads) * arch->read_energy +
                     vectors_of(b, s, v, fills) * arch->fill_energy +
                     vectors_of(b, s, v, updates) * arch->update_energy;
    out->address_generations = (b->sim->problem->tensor[v].output ? updates : reads) + fills;
    out->energy_pj = vectors / per_cluster * (double)level->instances +
                     out->address_generations * arch->addr_gen_energy * (double)level->clusters;
}

/* The part of full speed at which a level can serve reads and writes per cycle. */
static double level_slowdown(const sx_storage *arch, double reads, double writes) {
    double slow = 1;
    if (arch->read_bandwidth < reads) slow = fmin(slow, arch->read_bandwidth / reads);
    if (arch->write_bandwidth < writes) slow = fmin(slow, arch->write_bandwidth / writes);
    if (arch->shared_bandwidth < reads + writes) slow = fmin(slow, arch->shared_bandwidth / (reads + writes));
    return slow;
}

/* Stretches the compute cycles to what a level can serve. In banks, each tensor has the bandwidth to itself.
 */
static void time_level(const books *b, int s, sx_cost *cost) {
    const sx_storage *arch = &b->sim->arch->level[s];
    sx_cost_level *level = &cost->level[s];
    double cycles = (double)cost->compute_cycles, reads = 0, writes = 0;
    level->slowdown = 1;
    for (int v = 0; v < cost->n_tensors; v++) {
        const sx_cost_tensor *t = &level->tensor[v];
        double scale = bandwidth_scale(arch, &b->sim->problem->tensor[v]) * words_of(b, s, v, 1);
        double read = ceil(average_of(t->reads, level->instances)) / cycles * scale;
        double written = ceil(average_of(t->fills + t->updates, level->instances)) / cycles * scale;
        reads += read;
        writes += written;
        if (arch->banks) level->slowdown = fmin(level->slowdown, level_slowdown(arch, read, written));
    }
    if (!arch->banks) level->slowdown = level_slowdown(arch, reads, writes);
    level->cycles = (uint64_t)ceil(cycles / level->slowdown);
}

static void start_cost(const books *b, sx_cost *cost) {
    const sx_arch *arch = b->sim->arch;
    uint64_t x, y;
    memset(cost, 0, sizeof *cost);
    cost->n_levels = arch->n_levels;
    cost->n_tensors = b->sim->problem->n_tensors;
    cost->perfect = b->perfect;
    cost->computes = 1;
    for (int d = 0; d < b->sim->problem->n_dims; d++) cost->computes *= b->sim->problem->size[d];
    cost->compute_instances = sx_sim_instances(b->sim->mapping, -1, &x, &y);
    cost->compute_cycles = b->counts->compute_cycles;
    cost->compute_energy_pj = (double)cost->computes * arch->compute.energy;
    for (int s = 0; s < arch->n_levels; s++) {
        uint64_t built = arch->level[s].instances / arch->level[s].cluster_size;
        cost->level[s].instances = sx_sim_instances(b->sim->mapping, s, &x, &y);
        cost->level[s].clusters = cost->level[s].instances < built ? cost->level[s].instances : built;
    }
}

/* Leakage over the longest level's time; a level gated elsewhere leaks wherever its gate is open. */
static double leakage_energy(const sx_arch *arch, int s, const sx_cost *cost, uint64_t cycles) {
    const sx_storage *level = &arch->level[s];
    int gate = level->power_gated_at < 0 ? s : level->power_gated_at;
    double share = (double)level->instances / (double)arch->level[gate].instances;
    double leaking =
        share > 1 ? share * (double)cost->level[gate].instances : (double)cost->level[s].instances;
    return level->leak_energy * (double)cycles * leaking;
}

/* An output's words cross a network twice, but for their first time, where the outer level cannot add. */
static double network_crossings(const books *b, int s, int v, double sent) {
    bool twice = b->sim->problem->tensor[v].output && !b->sim->arch->level[s].reduction_supported;
    return twice ? 2 * sent - b->share[v][s].partition : sent;
}

/* One tensor on the network below one level. */
static void cost_network(const books *b, int s, int v, sx_cost *cost) {
    const sx_sim_share *share = &b->share[v][s];
    const sx_storage *arch = &b->sim->arch->level[s];
    sx_cost_net_tensor *out = &cost->network[s].tensor[v];
    double hops = 0, routers = 0;
    for (size_t i = 0; i < share->traffic->n_records; i++) {
        const sx_sim_record *record = &share->traffic->record[i];
        double sent = network_crossings(b, s, v, record->accesses);
        out->ingresses += sent;
        if (b->sim->problem->tensor[v].output)
            out->spatial_reductions = trunc(out->spatial_reductions + (double)(record->multicast - 1) * sent);
        if (record->multicast > out->multicast) out->multicast = record->multicast;
        if (sent <= 0) continue;
        routers = trunc(routers + (1 + floor(record->hops / sent)) * sent);
        hops += record->hops;
    }
    double n = share_copies(b, cost, s), instances = (double)cost->level[s].instances;
    double links = trunc(share->traffic->links);
    out->fanout = share->fanout;
    out->hops = out->ingresses > 0 ? hops / out->ingresses : 0;
    out->ingresses *= n / instances;
    out->spatial_reductions *= n / instances;
    out->link_transfers = links * (n / instances);
    double words = n * words_of(b, s, v, 1); /* an element that crosses */
    out->energy_pj = (hops * arch->energy_per_hop + routers * arch->router_energy) * words;
    out->link_energy_pj = links * (arch->energy_per_hop + 2 * arch->router_energy) * words;
    cost->network[s].energy_pj += out->energy_pj + out->link_energy_pj;
}

static void add_totals(const books *b, sx_cost *cost) {
    const sx_arch *arch = b->sim->arch;
    uint64_t longest = cost->compute_cycles;
    for (int s = 0; s < cost->n_levels; s++)
        if (cost->level[s].cycles > longest) longest = cost->level[s].cycles;
    cost->cycles = longest;
    cost->energy_pj = cost->compute_energy_pj;
    for (int s = 0; s < cost->n_levels; s++) {
        sx_cost_level *level = &cost->level[s];
        double accesses = 0;
        level->leakage_pj = leakage_energy(arch, s, cost, longest);
        level->energy_pj = level->leakage_pj;
        for (int v = 0; v < cost->n_tensors; v++) {
            const sx_cost_tensor *t = &level->tensor[v];
            level->energy_pj += t->energy_pj;
            accesses += (double)t->reads + (double)t->fills + (double)t->updates;
        }
        if (b->sim->mapping->level[s].keep) cost->last_level_accesses = accesses;
        cost->energy_pj += level->energy_pj + cost->network[s].energy_pj;
        cost->cycles += arch->level[s].fill_latency + arch->level[s].drain_latency;
    }
    cost->latency = (double)cost->cycles;
    cost->n_boundaries = 0;
    cost->edp = cost->energy_pj * (double)cost->cycles;
    cost->utilization = (double)cost->computes / (double)arch->compute.instances / (double)cost->cycles;
}

void sx_sim_cost(const sx_sim_case *sim, sx_sim_counts *counts, sx_cost *cost) {
    books b = {.sim = sim, .counts = counts, .perfect = sx_mapping_perfect(sim->mapping, sim->problem)};
    start_cost(&b, cost);
    for (int v = 0; v < sim->problem->n_tensors; v++) sx_sim_levels(sim, counts, v, b.share[v]);
    for (int s = 0; s < cost->n_levels; s++) {
        for (int v = 0; v < cost->n_tensors; v++) {
            cost_tensor(&b, s, v, cost);
            cost_network(&b, s, v, cost);
        }
        time_level(&b, s, cost);
    }
    add_totals(&b, cost);
}
