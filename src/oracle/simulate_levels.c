/* From what the nest moves to what each level does: partitions, bypassed levels, neighbours' traffic, and the
 * reads, fills and updates that follow, rounded. */
#include "oracle/simulate.h"

#include <math.h>

static double traffic_accesses(const sx_sim_traffic *traffic) {
    double sum = 0;
    for (size_t i = 0; i < traffic->n_records; i++) sum += traffic->record[i].accesses;
    return sum;
}

/* The words that arrive at the children, each of a group receiving its own copy. */
static double traffic_deliveries(const sx_sim_traffic *traffic) {
    double sum = 0;
    for (size_t i = 0; i < traffic->n_records; i++)
        sum += traffic->record[i].accesses * (double)traffic->record[i].multicast;
    return sum;
}

static void divide_traffic(sx_sim_traffic *traffic, double by) {
    for (size_t i = 0; i < traffic->n_records; i++) {
        traffic->record[i].accesses /= by;
        traffic->record[i].hops /= by;
    }
    traffic->links /= by;
}

/* What one level starts from; counts are shared out over its instances where all factors divide. */
static void start_level(const sx_sim_case *sim, sx_sim_counts *counts, int s, int tensor, bool perfect,
                        sx_sim_share *share) {
    uint64_t x, y;
    double instances = perfect ? (double)sx_sim_instances(sim->mapping, s, &x, &y) : 1;
    *share = (sx_sim_share){
        .kept = sim->mapping->level[s].keep >> tensor & 1,
        .passes = sim->mapping->level[s].no_coalesce >> tensor & 1,
        .tile = sx_sim_tile(sim, s, tensor),
        .partition = (double)counts->partition[s][tensor] / instances,
        .fanout = 1,
        .traffic = &counts->traffic[s][tensor],
    };
    for (int d = 0; d < sim->mapping->n_dims; d++) share->fanout *= sim->mapping->level[s].spatial[d];
    divide_traffic(share->traffic, instances);
    share->child_accesses = traffic_accesses(share->traffic);
}

/* What one child's part of a level's count is: per instance a fan-out's share, in totals all of it. */
static double child_share(const sx_sim_share *share, bool perfect) {
    return perfect ? (double)share->fanout : 1;
}

static void empty_level(sx_sim_share *share) {
    share->tile = 0;
    share->partition = share->child_accesses = share->parent_accesses = 0;
}

/* A bypassed level, and one that coalesces no accesses, passes its children's accesses on to the next outer level, in place
 * of its own fills. */
static void pass_on(sx_sim_share *share, int n_levels, bool perfect) {
    for (int s = 0; s < n_levels; s++) {
        if (share[s].kept && !share[s].passes) continue;
        if (s + 1 < n_levels) {
            sx_sim_share *outer = &share[s + 1];
            double factor =
                share[s].child_accesses * child_share(outer, perfect) / traffic_deliveries(outer->traffic);
            for (size_t i = 0; i < outer->traffic->n_records; i++)
                outer->traffic->record[i].accesses *= factor;
            outer->traffic->links = 0;
            outer->child_accesses = traffic_accesses(outer->traffic);
        }
        if (!share[s].kept) empty_level(&share[s]);
    }
}

/* Levels outside the outermost one that keeps the tensor have nothing to do with it. */
static void cut_outside(sx_sim_share *share, int n_levels) {
    int s = n_levels - 1;
    for (; !share[s].kept; s--) {
        share[s].traffic->n_records = 0;
        share[s].traffic->links = 0;
        share[s].fanout = 0;
    }
    share[s].parent_accesses = 0;
}

/* Rounds a count; less than nothing is nothing. */
static double rounded_count(double count) {
    return fmax(round(count), 0);
}

/* The accesses of a kept level. The first read and the first fill of a word that starts at zero are spared.
 */
static void count_actions(sx_sim_share *share, bool output, bool outermost, bool elide) {
    if (output && share->passes) {
        share->updates = share->reads = share->reductions = rounded_count(share->child_accesses);
        share->fills = outermost ? 0 : share->updates;
        return;
    }
    double asked = share->child_accesses + share->peer_accesses;
    double given = share->parent_accesses + share->peer_accesses;
    if (!output) {
        share->reads = rounded_count(asked);
        share->fills = trunc(given);
        return;
    }
    share->updates = rounded_count(share->child_accesses);
    share->reads = share->reductions = rounded_count(asked - (elide ? share->partition : 0));
    share->fills = rounded_count(given - (elide && !outermost ? share->partition : 0));
}

void sx_sim_levels(const sx_sim_case *sim, sx_sim_counts *counts, int tensor, sx_sim_share *share) {
    int n = sim->mapping->n_levels;
    bool perfect = sx_mapping_perfect(sim->mapping, sim->problem);
    for (int s = 0; s < n; s++) start_level(sim, counts, s, tensor, perfect, &share[s]);
    for (int s = 0; s + 1 < n; s++) {
        const sx_sim_traffic *outer = share[s + 1].traffic;
        for (size_t i = 0; i < outer->n_records; i++)
            share[s].parent_accesses += outer->record[i].accesses * (double)outer->record[i].multicast /
                                        child_share(&share[s + 1], perfect);
    }
    pass_on(share, n, perfect);
    cut_outside(share, n);
    for (int s = n - 1; s >= 1; s--)
        if (share[s].traffic->links > 0)
            share[s - 1].peer_accesses += share[s].traffic->links / child_share(&share[s], perfect);
    bool outermost = true;
    for (int s = n - 1; s >= 0; s--) {
        if (!share[s].kept) continue;
        bool elide =
            !sim->options.no_first_read_elision && !(sim->mapping->level[s].rmw_first_update >> tensor & 1);
        count_actions(&share[s], sim->problem->tensor[tensor].output, outermost, elide);
        outermost = false;
    }
}
