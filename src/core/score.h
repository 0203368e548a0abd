/* Scores of nests. The functions of this file are for a group of lanes that work on one state: each is
 * called by all lanes of the group, with the lane's number. On a CPU a group is one lane; on a GPU it is some threads of a
 * warp, the state lies in shared memory, and SX_SYNC waits for the others. */
#ifndef SX_CORE_SCORE_H
#define SX_CORE_SCORE_H

#include "core/charge.h"

/* A lane of a group, which may be one of several groups that go side by side. */
typedef struct sx_core_lane {
    int at, n;
    uint32_t group, groups;
    uint32_t mask; /* of the threads of their warp that wait for one another */
} sx_core_lane;

#ifdef __CUDA_ARCH__
#define SX_SYNC(lane)                                                                                        \
    do {                                                                                                     \
        if ((lane).mask != 1) __syncwarp((lane).mask);                                                       \
    } while (0)
#else
#define SX_SYNC(lane) ((void)(lane))
#endif

/* Finds tiles and the array of the nest in a state, whose rows are set; sets st->illegal where the array does not have the
 * instances. */
SX_HD void sx_core_lay_out(const sx_core_model *p, sx_core_state *st, sx_core_lane lane) {
    int n_levels = SX_CORE_N_LEVELS(p), n_tensors = SX_CORE_N_TENSORS(p);
    if (lane.n == 1) { /* indices that the compiler knows, for registers */
        SX_UNROLL
        for (int s = 0; s < n_levels; s++) {
            sx_core_set_slot(p, st, s);
            SX_UNROLL
            for (int v = 0; v < n_tensors; v++) sx_core_set_words(p, st, v, s);
        }
        st->illegal = !sx_core_set_array(p, st);
        return;
    }
    for (int s = lane.at; s < n_levels; s += lane.n) sx_core_set_slot(p, st, s);
    for (int i = lane.at; i < n_levels * n_tensors; i += lane.n)
        sx_core_set_words(p, st, i / n_levels, i % n_levels);
    SX_SYNC(lane);
    if (lane.at == 0) st->illegal = !sx_core_set_array(p, st);
    SX_SYNC(lane);
}

/* Counts all flows; false where one has no closed form. */
SX_HD bool sx_core_count_flows(const sx_core_model *p, sx_core_state *st) {
    bool covered = true;
    SX_UNROLL
    for (int s = 0; s < SX_CORE_N_LEVELS(p); s++) {
        SX_UNROLL
        for (int v = 0; v < SX_CORE_N_TENSORS(p); v++)
            if (!sx_core_flow(p, st, v, s)) covered = false;
    }
    return covered;
}

/* Counts all flows for the orders in a state; sets st->uncovered where one has no closed form. */
SX_HD void sx_core_count(const sx_core_model *p, sx_core_state *st, sx_core_lane lane) {
    int n_levels = SX_CORE_N_LEVELS(p), n_tensors = SX_CORE_N_TENSORS(p);
    if (lane.at == 0) {
        st->uncovered = 0;
        sx_core_flatten(p, st);
    }
    if (lane.n == 1) {
        st->uncovered = !sx_core_count_flows(p, st);
        return;
    }
    SX_SYNC(lane);
    for (int i = lane.at; i < n_levels * n_tensors; i += lane.n)
        if (!sx_core_flow(p, st, i / n_levels, i % n_levels)) st->uncovered = 1;
    SX_SYNC(lane);
}

/* The levels that keep a tensor. */
SX_HD uint32_t sx_core_kept(const sx_core_model *p, const sx_core_nest *nest, int v) {
    uint32_t kept = 0;
    SX_UNROLL
    for (int s = 0; s < SX_CORE_N_LEVELS(p); s++) kept |= (uint32_t)(nest->keep[s] >> v & 1) << s;
    return kept;
}

/* Whether the levels can keep what the nest says. */
SX_HD bool sx_core_keeps(const sx_core_model *p, const sx_core_state *st) {
    unsigned kept = 0;
    bool good = true;
    SX_UNROLL
    for (int s = 0; s < SX_CORE_N_LEVELS(p); s++) {
        kept |= st->nest.keep[s];
        good = good && sx_core_fits(p, st, s, st->nest.keep[s]);
    }
    return good && kept == p->all;
}

/* Adds charges up; that of tensor v, which the levels in kept[v] keep, is charge + at[v]. */
SX_HD void sx_core_add_up(const sx_core_model *p, const sx_core_state *st, const double *charge,
                          const uint32_t *at, const uint32_t *kept, sx_core_score *out) {
    uint32_t all = 0;
    SX_UNROLL
    for (int v = 0; v < SX_CORE_N_TENSORS(p); v++) all |= kept[v];
    int last = sx_core_top(all);
    sx_core_sum(p, st, charge, at, &out->energy, &out->cycles);
    out->utilization = p->share / out->cycles;
    out->accesses = 0;
    SX_UNROLL
    for (int v = 0; v < SX_CORE_N_TENSORS(p); v++)
        out->accesses += kept[v] >> last ? charge[at[v] + 3 * (uint32_t)SX_CORE_N_LEVELS(p)] : 0;
}

/* Adds up what the lanes of a group have charged (charge: SX_CORE_TENSORS of SX_CORE_CHARGE numbers). */
SX_HD void sx_core_finish(const sx_core_model *p, const sx_core_state *st, const double *charge,
                          const uint32_t *kept, sx_core_score *out) {
    uint32_t at[SX_CORE_TENSORS_AT_MOST];
    SX_UNROLL
    for (int v = 0; v < SX_CORE_N_TENSORS(p); v++) at[v] = (uint32_t)v * SX_CORE_CHARGE;
    sx_core_add_up(p, st, charge, at, kept, out);
}

/* Scores the nest in a state, whose rows are set; lane 0's answer counts. */
SX_HD int sx_core_score_nest(const sx_core_model *p, sx_core_state *st, double *charge, sx_core_lane lane,
                             sx_core_score *out) {
    sx_core_lay_out(p, st, lane);
    if (lane.at == 0 && !st->illegal) st->illegal = !sx_core_keeps(p, st);
    SX_SYNC(lane);
    if (st->illegal) return SX_CORE_ILLEGAL;
    sx_core_count(p, st, lane);
    if (st->uncovered) return SX_CORE_NOT_COVERED;
    SX_UNROLL
    for (int v = 0; v < SX_CORE_N_TENSORS(p); v++)
        if (lane.n == 1 || v % lane.n == lane.at)
            sx_core_charge(p, st, v, sx_core_kept(p, &st->nest, v), charge + v * SX_CORE_CHARGE);
    SX_SYNC(lane);
    if (lane.at == 0) {
        uint32_t kept[SX_CORE_TENSORS_AT_MOST];
        SX_UNROLL
        for (int v = 0; v < SX_CORE_N_TENSORS(p); v++) kept[v] = sx_core_kept(p, &st->nest, v);
        sx_core_finish(p, st, charge, kept, out);
    }
    return SX_CORE_LEGAL;
}

#endif
