/* From the flows of a tensor to what it costs, and the sums over all tensors (docs/model.md, sections 4 to 6): the rules of
 * model/collapse.c and model/energy.c, in their order of operations. */
#ifndef SX_CORE_CHARGE_H
#define SX_CORE_CHARGE_H

#include "core/flow.h"

/* A charge is 3 n_levels + 1 numbers: energies, reads and writes a cycle of every level, and the accesses of the outermost
 * level that keeps the tensor. */
enum { SX_CORE_CHARGE = 3 * SX_CORE_LEVELS_AT_MOST + 1 };

SX_HD uint32_t sx_core_charge_size(const sx_core_model *p) {
    return 3 * (uint32_t)SX_CORE_N_LEVELS(p) + 1;
}

/* Accesses of one instance of a level. */
typedef struct sx_core_accesses {
    double reads, fills, updates;
} sx_core_accesses;

/* Vector accesses for a count. */
SX_HD double sx_core_vectors(const sx_core_level *level, int v, double count) {
    if (level->per_vector[v] > 0) return sx_core_ceil(count * level->per_vector[v]);
    return sx_core_ceil(count * level->element[v] / level->vector[v]);
}

/* Charges accesses to a level. */
SX_HD_CALL void sx_core_charge_level(const sx_core_model *p, const sx_core_state *st, int v, int s,
                                     sx_core_accesses c, double *out) {
    const sx_core_level *level = &p->level[s];
    bool output = p->tensor[v].output;
    int n = SX_CORE_N_LEVELS(p);
    double access = sx_core_vectors(level, v, c.reads) * level->read_energy +
                    sx_core_vectors(level, v, c.fills) * level->fill_energy;
    if (output) access += sx_core_vectors(level, v, c.updates) * level->update_energy;
    double generations = (output ? c.updates : c.reads) + c.fills;
    if (level->bounded) {
        double scale = level->scale[v];
        out[n + s] = sx_core_ceil(c.reads) / st->cycles * scale;
        out[2 * n + s] = sx_core_ceil(output ? c.fills + c.updates : c.fills) / st->cycles * scale;
    }
    out[s] = (access + generations * level->addr_gen_energy) * st->clusters[s];
    out[3 * n] = (c.reads + c.fills + c.updates) * st->above[s];
}

/* Sets what a tensor leaves of a level that does not keep it. */
SX_HD void sx_core_pass(const sx_core_model *p, int s, double *out) {
    out[s] = 0;
    if (!p->level[s].bounded) return;
    out[(uint32_t)SX_CORE_N_LEVELS(p) + (uint32_t)s] = 0;
    out[2 * (uint32_t)SX_CORE_N_LEVELS(p) + (unsigned)s] = 0;
}

/* The number of the highest bit. */
SX_HD int sx_core_top(uint32_t mask) {
#ifdef __CUDA_ARCH__
    return 31 - __clz((int)mask);
#else
    return 31 - __builtin_clz(mask);
#endif
}

/* Words of an output that are not read again, of one instance of each level, outermost last. */
SX_HD void sx_core_partitions(const sx_core_model *p, const sx_core_state *st, int v, double *partition) {
    double words = p->tensor[v].elided;
    SX_UNROLL
    for (int i = 0; i < SX_CORE_LEVELS_AT_MOST; i++) {
        int s = SX_CORE_LEVELS_AT_MOST - 1 - i;
        if (s >= SX_CORE_N_LEVELS(p)) continue;
        partition[s] = words;
        words /= st->groups[v][s];
    }
}

/* Charges a tensor where no level has records; with `counts`, only sets the accesses of the levels that keep it. */
SX_HD void sx_core_charge_whole(const sx_core_model *p, const sx_core_state *st, int v, uint32_t kept,
                                sx_core_accesses *counts, double *out) {
    const double *groups = st->groups[v], *handed = st->handed[v];
    int n = SX_CORE_N_LEVELS(p), outermost = sx_core_top(kept);
    bool output = p->tensor[v].output;
    double inner = 0, partition[SX_CORE_LEVELS_AT_MOST] = {0};
    if (output) sx_core_partitions(p, st, v, partition);
    SX_UNROLL
    for (int s = 0; s < SX_CORE_LEVELS_AT_MOST; s++) {
        if (s >= n) break;
        double words = handed[s] * groups[s];
        if (s > 0 && !(kept >> (s - 1) & 1)) {
            double children = st->children[s], delivered = words * (children / groups[s]);
            words *= inner * children / delivered;
        }
        inner = words;
        if (!(kept >> s & 1)) {
            if (!counts) sx_core_pass(p, s, out);
            continue;
        }
        sx_core_accesses c = {sx_core_round(words), s < outermost ? handed[s + 1 < n ? s + 1 : s] : 0, 0};
        if (output) {
            double in = s < outermost ? handed[s + 1 < n ? s + 1 : s] - partition[s] : 0;
            c.reads = sx_core_max(sx_core_round(words - partition[s]), 0.0);
            c.fills = sx_core_max(in, 0.0);
            c.updates = sx_core_round(words);
        }
        if (counts)
            counts[s] = c;
        else
            sx_core_charge_level(p, st, v, s, c, out);
    }
}

/* What a level hands out over its records, after each was multiplied by `factor`, and what it delivers to all children
 * together. */
typedef struct sx_core_traffic {
    double demand, supply, delivered;
} sx_core_traffic;

SX_HD sx_core_traffic sx_core_add_records(const sx_core_state *st, int v, int s, double factor) {
    const sx_core_records *flow = sx_core_records_of(st, v, s);
    double children = st->children[s], groups = st->groups[v][s];
    sx_core_record one = {children / groups, groups, st->handed[v][s] * groups};
    const sx_core_record *record = flow->n ? flow->record : &one;
    sx_core_traffic t = {0, 0, 0};
    for (int i = 0; i < (flow->n ? flow->n : 1); i++) {
        double accesses = record[i].accesses * factor;
        t.demand += accesses;
        t.supply += accesses * record[i].m / children;
        t.delivered += accesses * record[i].m;
    }
    return t;
}

/* The same where some level has records. */
SX_HD void sx_core_charge_split(const sx_core_model *p, const sx_core_state *st, int v, uint32_t kept,
                                sx_core_accesses *counts, double *out) {
    int n = SX_CORE_N_LEVELS(p), outermost = sx_core_top(kept);
    bool output = p->tensor[v].output;
    double inner = 0, demand[SX_CORE_LEVELS_AT_MOST] = {0}, supply[SX_CORE_LEVELS_AT_MOST + 1] = {0},
           peers[SX_CORE_LEVELS_AT_MOST + 1] = {0}, partition[SX_CORE_LEVELS_AT_MOST] = {0};
    if (output) sx_core_partitions(p, st, v, partition);
    SX_UNROLL
    for (int s = 0; s < SX_CORE_LEVELS_AT_MOST; s++) {
        if (s >= n) break;
        const sx_core_records *flow = sx_core_records_of(st, v, s);
        sx_core_traffic t = sx_core_add_records(st, v, s, 1);
        double links = flow->n ? flow->links : 0;
        supply[s] = t.supply; /* of the level inside */
        if (s > 0 && !(kept >> (s - 1) & 1)) {
            t = sx_core_add_records(st, v, s, inner * st->children[s] / t.delivered);
            links = 0;
        }
        inner = demand[s] = t.demand;
        peers[s] = links != 0 && s > 0 && s <= outermost ? links / st->above[s - 1] : 0;
    }
    SX_UNROLL
    for (int s = 0; s < SX_CORE_LEVELS_AT_MOST; s++) {
        if (s >= n) break;
        if (!(kept >> s & 1)) {
            if (!counts) sx_core_pass(p, s, out);
            continue;
        }
        double between = s + 1 < n ? peers[s + 1] : 0, in = s < outermost ? supply[s + 1] : 0;
        sx_core_accesses c = {sx_core_round(demand[s] + between), sx_core_trunc(in + between), 0};
        if (output) {
            c.reads = sx_core_max(sx_core_round(demand[s] + between - partition[s]), 0.0);
            c.fills =
                sx_core_max(sx_core_round(s < outermost ? in + between - partition[s] : in + between), 0.0);
            c.updates = sx_core_round(demand[s]);
        }
        if (counts)
            counts[s] = c;
        else
            sx_core_charge_level(p, st, v, s, c, out);
    }
}

/* Whether some level has records of a tensor; those of plain tensors are at the first. */
SX_HD bool sx_core_has_records(const sx_core_model *p, const sx_core_state *st, int v) {
    bool some = false;
    if (SX_CORE_HAS_WINDOW(p) && SX_CORE_IS_WINDOW(p, v))
        for (int s = 0; s < SX_CORE_N_LEVELS(p); s++) some = some || sx_core_records_of(st, v, s)->n > 0;
    else if (SX_CORE_LISTS)
        some = sx_core_records_of(st, v, 0)->n > 0;
    return some;
}

/* Makes the charge of a tensor where the levels in the mask `kept` keep it. */
SX_HD_CALL void sx_core_charge(const sx_core_model *p, const sx_core_state *st, int v, uint32_t kept,
                               double *out) {
    if (sx_core_has_records(p, st, v))
        sx_core_charge_split(p, st, v, kept, NULL, out);
    else
        sx_core_charge_whole(p, st, v, kept, NULL, out);
}

/* Counts the accesses of one instance of each level to a tensor that the levels in the mask `kept` keep. */
SX_HD void sx_core_count_levels(const sx_core_model *p, const sx_core_state *st, int v, uint32_t kept,
                                sx_core_accesses *out) {
    if (sx_core_has_records(p, st, v))
        sx_core_charge_split(p, st, v, kept, out, NULL);
    else
        sx_core_charge_whole(p, st, v, kept, out, NULL);
}

/* Lowers a slowdown to what a use of a level's bandwidth allows. */
SX_HD double sx_core_slow_down(const sx_core_level *level, double slow, double reads, double writes) {
    if (level->read_bandwidth < reads) slow = sx_core_min(slow, level->read_bandwidth / reads);
    if (level->write_bandwidth < writes) slow = sx_core_min(slow, level->write_bandwidth / writes);
    if (level->shared_bandwidth < writes + reads)
        slow = sx_core_min(slow, level->shared_bandwidth / (writes + reads));
    return slow;
}

/* The cycles that a level's bandwidth allows; charge of tensor v: charge + at[v]. */
SX_HD double sx_core_level_cycles(const sx_core_model *p, const sx_core_state *st, int s,
                                  const double *charge, const uint32_t *at) {
    const sx_core_level *level = &p->level[s];
    uint32_t n = (uint32_t)SX_CORE_N_LEVELS(p);
    double slow = 1, reads = 0, writes = 0;
    SX_UNROLL
    for (int v = 0; v < SX_CORE_TENSORS_AT_MOST; v++) {
        if (v >= SX_CORE_N_TENSORS(p)) break;
        double r = charge[at[v] + n + (unsigned)s], w = charge[at[v] + 2 * n + (unsigned)s];
        if (level->banks != 0) slow = sx_core_slow_down(level, slow, r, w);
        reads += r;
        writes += w;
    }
    if (level->banks == 0) slow = sx_core_slow_down(level, slow, reads, writes);
    return slow < 1 ? ceil(st->cycles / slow) : st->cycles;
}

/* Adds the charges of all tensors up: energy and cycles. */
SX_HD void sx_core_sum(const sx_core_model *p, const sx_core_state *st, const double *charge,
                       const uint32_t *at, double *energy, double *cycles) {
    double slowest = st->cycles, total = p->compute_energy;
    SX_UNROLL
    for (int s = 0; s < SX_CORE_N_LEVELS(p); s++) {
        if (!p->level[s].bounded) continue;
        double slow = sx_core_level_cycles(p, st, s, charge, at);
        if (slow > slowest) slowest = slow;
    }
    SX_UNROLL
    for (int s = 0; s < SX_CORE_N_LEVELS(p); s++) {
        double sum = 0;
        SX_UNROLL
        for (int v = 0; v < SX_CORE_TENSORS_AT_MOST; v++) {
            if (v >= SX_CORE_N_TENSORS(p)) break;
            sum += charge[at[v] + (unsigned)s];
        }
        total += p->level[s].leaks ? sum + p->level[s].leak_energy * slowest * st->leaking[s] : sum;
    }
    *energy = total;
    *cycles = slowest + p->latency;
}

#endif
