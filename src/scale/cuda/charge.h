/* From the flows of a tensor to what it costs, and the sums over all tensors (model/frame/charge.c and frame.c on an
 * image, in their order of operations). */
#ifndef SX_SCALE_CUDA_CHARGE_H
#define SX_SCALE_CUDA_CHARGE_H

#include "scale/cuda/flow.h"

/* A charge is 3 n_levels + 1 numbers: energies, reads and writes a cycle of every level, and the accesses of the outermost
 * level that keeps the tensor. */
enum { SX_GPU_CHARGE = 3 * SX_GPU_LEVELS_AT_MOST + 1 };

SX_HD uint32_t sx_gpu_charge_size(const sx_gpu_image *p) {
    return 3 * (uint32_t)SX_GPU_N_LEVELS(p) + 1;
}

/* Accesses of one instance of a level. */
typedef struct sx_gpu_accesses {
    double reads, fills, updates;
} sx_gpu_accesses;

/* Vector accesses for a count. */
SX_HD double sx_gpu_vectors(const sx_gpu_level *level, int v, double count) {
    if (level->per_vector[v] > 0) return ceil(count * level->per_vector[v]);
    return ceil(count * level->element[v] / level->vector[v]);
}

/* Charges accesses to a level. */
SX_HD void sx_gpu_charge_level(const sx_gpu_image *p, const sx_gpu_state *st, int v, int s, sx_gpu_accesses c,
                               double *out) {
    const sx_gpu_level *level = &p->level[s];
    bool output = p->tensor[v].output;
    int n = SX_GPU_N_LEVELS(p);
    double access = sx_gpu_vectors(level, v, c.reads) * level->read_energy +
                    sx_gpu_vectors(level, v, c.fills) * level->fill_energy;
    if (output) access += sx_gpu_vectors(level, v, c.updates) * level->update_energy;
    double generations = (output ? c.updates : c.reads) + c.fills;
    if (level->bounded) {
        double scale = level->scale[v];
        out[n + s] = ceil(c.reads) / st->cycles * scale;
        out[2 * n + s] = ceil(output ? c.fills + c.updates : c.fills) / st->cycles * scale;
    }
    out[s] = (access + generations * level->addr_gen_energy) * st->clusters[s];
    out[3 * n] = (c.reads + c.fills + c.updates) * st->above[s];
}

/* Sets what a tensor leaves of a level that does not keep it. */
SX_HD void sx_gpu_pass(const sx_gpu_image *p, int s, double *out) {
    out[s] = 0;
    if (!p->level[s].bounded) return;
    out[(uint32_t)SX_GPU_N_LEVELS(p) + (uint32_t)s] = 0;
    out[2 * (uint32_t)SX_GPU_N_LEVELS(p) + (unsigned)s] = 0;
}

/* The number of the highest bit. */
SX_HD int sx_gpu_top(uint32_t mask) {
#ifdef __CUDA_ARCH__
    return 31 - __clz((int)mask);
#else
    return 31 - __builtin_clz(mask);
#endif
}

/* Words of an output that are not read again, of one instance of each level, outermost last. */
SX_HD void sx_gpu_partitions(const sx_gpu_image *p, const sx_gpu_state *st, int v, double *partition) {
    double words = p->tensor[v].elided;
    SX_UNROLL
    for (int i = 0; i < SX_GPU_LEVELS_AT_MOST; i++) {
        int s = SX_GPU_LEVELS_AT_MOST - 1 - i;
        if (s >= SX_GPU_N_LEVELS(p)) continue;
        partition[s] = words;
        words /= st->groups[v][s];
    }
}

/* Charges a tensor where no level has records. */
SX_HD void sx_gpu_charge_whole(const sx_gpu_image *p, const sx_gpu_state *st, int v, uint32_t kept,
                               double *out) {
    const double *groups = st->groups[v], *handed = st->handed[v];
    int n = SX_GPU_N_LEVELS(p), outermost = sx_gpu_top(kept);
    bool output = p->tensor[v].output;
    double inner = 0, partition[SX_GPU_LEVELS_AT_MOST];
    if (output) sx_gpu_partitions(p, st, v, partition);
    SX_UNROLL
    for (int s = 0; s < SX_GPU_LEVELS_AT_MOST; s++) {
        if (s >= n) break;
        double words = handed[s] * groups[s];
        if (s > 0 && !(kept >> (s - 1) & 1)) {
            double children = st->children[s], delivered = words * (children / groups[s]);
            words *= inner * children / delivered;
        }
        inner = words;
        if (!(kept >> s & 1)) {
            sx_gpu_pass(p, s, out);
            continue;
        }
        sx_gpu_accesses c = {round(words), s < outermost ? handed[s + 1 < n ? s + 1 : s] : 0, 0};
        if (output) {
            double in = s < outermost ? handed[s + 1 < n ? s + 1 : s] - partition[s] : 0;
            c.reads = fmax(round(words - partition[s]), 0.0);
            c.fills = fmax(in, 0.0);
            c.updates = round(words);
        }
        sx_gpu_charge_level(p, st, v, s, c, out);
    }
}

/* What a level hands out over its records, after each was multiplied by `factor`, and what it delivers to all children
 * together. */
typedef struct sx_gpu_traffic {
    double demand, supply, delivered;
} sx_gpu_traffic;

SX_HD sx_gpu_traffic sx_gpu_add_records(const sx_gpu_state *st, int v, int s, double factor) {
    const sx_gpu_records *flow = &st->own->records[s];
    double children = st->children[s], groups = st->groups[v][s];
    sx_gpu_record one = {children / groups, groups, st->handed[v][s] * groups};
    const sx_gpu_record *record = flow->n ? flow->record : &one;
    sx_gpu_traffic t = {0, 0, 0};
    for (int i = 0; i < (flow->n ? flow->n : 1); i++) {
        double accesses = record[i].accesses * factor;
        t.demand += accesses;
        t.supply += accesses * record[i].m / children;
        t.delivered += accesses * record[i].m;
    }
    return t;
}

/* Charges an input where some level has records. */
SX_HD void sx_gpu_charge_split(const sx_gpu_image *p, const sx_gpu_state *st, int v, uint32_t kept,
                               double *out) {
    int n = SX_GPU_N_LEVELS(p), outermost = sx_gpu_top(kept);
    double inner = 0, demand[SX_GPU_LEVELS_AT_MOST], supply[SX_GPU_LEVELS_AT_MOST + 1],
           peers[SX_GPU_LEVELS_AT_MOST + 1];
    SX_UNROLL
    for (int s = 0; s < SX_GPU_LEVELS_AT_MOST; s++) {
        if (s >= n) break;
        sx_gpu_traffic t = sx_gpu_add_records(st, v, s, 1);
        double links = st->own->records[s].n ? st->own->records[s].links : 0;
        supply[s] = t.supply; /* of the level inside */
        if (s > 0 && !(kept >> (s - 1) & 1)) {
            t = sx_gpu_add_records(st, v, s, inner * st->children[s] / t.delivered);
            links = 0;
        }
        inner = demand[s] = t.demand;
        peers[s] = links != 0 && s > 0 && s <= outermost ? links / st->above[s - 1] : 0;
    }
    SX_UNROLL
    for (int s = 0; s < SX_GPU_LEVELS_AT_MOST; s++) {
        if (s >= n) break;
        if (!(kept >> s & 1)) {
            sx_gpu_pass(p, s, out);
            continue;
        }
        double between = s + 1 < n ? peers[s + 1] : 0, in = s < outermost ? supply[s + 1] : 0;
        sx_gpu_accesses c = {round(demand[s] + between), trunc(in + between), 0};
        sx_gpu_charge_level(p, st, v, s, c, out);
    }
}

/* Makes the charge of a tensor where the levels in the mask `kept` keep it. */
SX_HD void sx_gpu_charge(const sx_gpu_image *p, const sx_gpu_state *st, int v, uint32_t kept, double *out) {
    bool split = false;
    if (SX_GPU_WINDOW(p) >= 0 && v == SX_GPU_WINDOW(p))
        for (int s = 0; s < SX_GPU_N_LEVELS(p); s++) split = split || st->own->records[s].n > 0;
    if (split)
        sx_gpu_charge_split(p, st, v, kept, out);
    else
        sx_gpu_charge_whole(p, st, v, kept, out);
}

/* Lowers a slowdown to what a use of a level's bandwidth allows. */
SX_HD double sx_gpu_slow_down(const sx_gpu_level *level, double slow, double reads, double writes) {
    if (level->read_bandwidth < reads) slow = fmin(slow, level->read_bandwidth / reads);
    if (level->write_bandwidth < writes) slow = fmin(slow, level->write_bandwidth / writes);
    if (level->shared_bandwidth < writes + reads)
        slow = fmin(slow, level->shared_bandwidth / (writes + reads));
    return slow;
}

/* The cycles that a level's bandwidth allows; charge of tensor v: charge + at[v]. */
SX_HD double sx_gpu_level_cycles(const sx_gpu_image *p, const sx_gpu_state *st, int s, const double *charge,
                                 const uint32_t *at) {
    const sx_gpu_level *level = &p->level[s];
    uint32_t n = (uint32_t)SX_GPU_N_LEVELS(p);
    double slow = 1, reads = 0, writes = 0;
    SX_UNROLL
    for (int v = 0; v < SX_GPU_TENSORS_AT_MOST; v++) {
        if (v >= SX_GPU_N_TENSORS(p)) break;
        double r = charge[at[v] + n + (unsigned)s], w = charge[at[v] + 2 * n + (unsigned)s];
        if (level->banks != 0) slow = sx_gpu_slow_down(level, slow, r, w);
        reads += r;
        writes += w;
    }
    if (level->banks == 0) slow = sx_gpu_slow_down(level, slow, reads, writes);
    return slow < 1 ? ceil(st->cycles / slow) : st->cycles;
}

/* Adds the charges of all tensors up: energy and cycles. */
SX_HD void sx_gpu_sum(const sx_gpu_image *p, const sx_gpu_state *st, const double *charge, const uint32_t *at,
                      double *energy, double *cycles) {
    double slowest = st->cycles, total = p->compute_energy;
    SX_UNROLL
    for (int s = 0; s < SX_GPU_N_LEVELS(p); s++) {
        if (!p->level[s].bounded) continue;
        double slow = sx_gpu_level_cycles(p, st, s, charge, at);
        if (slow > slowest) slowest = slow;
    }
    SX_UNROLL
    for (int s = 0; s < SX_GPU_N_LEVELS(p); s++) {
        double sum = 0;
        SX_UNROLL
        for (int v = 0; v < SX_GPU_TENSORS_AT_MOST; v++) {
            if (v >= SX_GPU_N_TENSORS(p)) break;
            sum += charge[at[v] + (unsigned)s];
        }
        total += p->level[s].leaks ? sum + p->level[s].leak_energy * slowest * st->leaking[s] : sum;
    }
    *energy = total;
    *cycles = slowest + p->latency;
}

SX_HD double sx_gpu_power(double x, double exponent) {
    return exponent == 0 ? 1 : exponent == 1 ? x : x * x;
}

/* The value of the objective. */
SX_HD double sx_gpu_value(const sx_gpu_image *p, double energy, double cycles) {
    return sx_gpu_power(energy, p->energy_power) * sx_gpu_power(cycles, p->delay_power);
}

#endif
