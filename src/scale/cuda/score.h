/* Scores of points. The functions of this file and of space.h are for a group of lanes that work on one state: each is
 * called by all lanes of the group, with the lane's number. On a CPU a group is one lane; on a GPU it is some threads of a
 * warp, the state lies in shared memory, and SX_SYNC waits for the others. */
#ifndef SX_SCALE_CUDA_SCORE_H
#define SX_SCALE_CUDA_SCORE_H

#include "scale/cuda/charge.h"

/* A lane of a group, which may be one of several groups that go side by side. */
typedef struct sx_gpu_lane {
    int at, n;
    uint32_t group, groups;
    uint32_t mask; /* of the threads of their warp that wait for one another */
} sx_gpu_lane;

#ifdef __CUDA_ARCH__
#define SX_SYNC(lane)                                                                                        \
    do {                                                                                                     \
        if ((lane).mask != 1) __syncwarp((lane).mask);                                                       \
    } while (0)
#else
#define SX_SYNC(lane) ((void)(lane))
#endif

/* Finds tiles and the array of the point in a state; sets st->illegal where the array does not have the instances. */
SX_HD void sx_gpu_lay_out(const sx_gpu_view *view, sx_gpu_state *st, sx_gpu_lane lane) {
    const sx_gpu_image *p = view->p;
    int n_levels = SX_GPU_N_LEVELS(p), n_tensors = SX_GPU_N_TENSORS(p);
    for (int d = lane.at; d < (int)p->n_dims; d += lane.n) sx_gpu_set_row(view, st, d);
    SX_SYNC(lane);
    if (lane.n == 1) { /* indices that the compiler knows, for registers */
        SX_UNROLL
        for (int s = 0; s < n_levels; s++) {
            sx_gpu_set_slot(st, s);
            SX_UNROLL
            for (int v = 0; v < n_tensors; v++) sx_gpu_set_words(p, st, v, s);
        }
        st->illegal = !sx_gpu_set_array(p, st);
        return;
    }
    for (int s = lane.at; s < n_levels; s += lane.n) sx_gpu_set_slot(st, s);
    for (int i = lane.at; i < n_levels * n_tensors; i += lane.n)
        sx_gpu_set_words(p, st, i / n_levels, i % n_levels);
    SX_SYNC(lane);
    if (lane.at == 0) st->illegal = !sx_gpu_set_array(p, st);
    SX_SYNC(lane);
}

/* Counts all flows for the orders in a state; sets st->uncovered where one has no closed form. */
SX_HD void sx_gpu_count(const sx_gpu_image *p, sx_gpu_state *st, sx_gpu_lane lane) {
    int n_levels = SX_GPU_N_LEVELS(p), n_tensors = SX_GPU_N_TENSORS(p);
    if (lane.at == 0) {
        st->uncovered = 0;
        sx_gpu_flatten(p, st);
    }
    if (lane.n == 1) {
        SX_UNROLL
        for (int s = 0; s < n_levels; s++) {
            SX_UNROLL
            for (int v = 0; v < n_tensors; v++)
                if (!sx_gpu_flow(p, st, v, s)) st->uncovered = 1;
        }
        return;
    }
    SX_SYNC(lane);
    for (int i = lane.at; i < n_levels * n_tensors; i += lane.n)
        if (!sx_gpu_flow(p, st, i / n_levels, i % n_levels)) st->uncovered = 1;
    SX_SYNC(lane);
}

/* The levels that keep a tensor. */
SX_HD uint32_t sx_gpu_kept(const sx_gpu_image *p, const sx_gpu_point *point, int v) {
    uint32_t kept = 0;
    SX_UNROLL
    for (int s = 0; s < SX_GPU_N_LEVELS(p); s++) kept |= (uint32_t)(point->keep[s] >> v & 1) << s;
    return kept;
}

/* Whether the levels can keep what the point says. */
SX_HD bool sx_gpu_keeps(const sx_gpu_image *p, const sx_gpu_state *st) {
    unsigned kept = 0;
    bool good = true;
    SX_UNROLL
    for (int s = 0; s < SX_GPU_N_LEVELS(p); s++) {
        kept |= st->own->point.keep[s];
        good = good && sx_gpu_fits(p, st, s, st->own->point.keep[s]);
    }
    return good && kept == p->all;
}

/* Adds up what the lanes of a group have charged (charge: SX_GPU_TENSORS of SX_GPU_CHARGE numbers). */
SX_HD void sx_gpu_finish(const sx_gpu_image *p, const sx_gpu_state *st, const double *charge,
                         sx_gpu_score *out) {
    uint32_t at[SX_GPU_TENSORS_AT_MOST], all = 0;
    SX_UNROLL
    for (int v = 0; v < SX_GPU_N_TENSORS(p); v++) {
        at[v] = (uint32_t)v * SX_GPU_CHARGE;
        all |= sx_gpu_kept(p, &st->own->point, v);
    }
    int last = sx_gpu_top(all);
    sx_gpu_sum(p, st, charge, at, &out->energy, &out->cycles);
    out->utilization = p->share / out->cycles;
    out->accesses = 0;
    SX_UNROLL
    for (int v = 0; v < SX_GPU_N_TENSORS(p); v++)
        out->accesses +=
            sx_gpu_kept(p, &st->own->point, v) >> last ? charge[at[v] + 3 * (uint32_t)SX_GPU_N_LEVELS(p)] : 0;
}

/* Scores the point in a state; lane 0's answer counts. */
SX_HD int sx_gpu_score_point(const sx_gpu_view *view, sx_gpu_state *st, double *charge, sx_gpu_lane lane,
                             sx_gpu_score *out) {
    const sx_gpu_image *p = view->p;
    sx_gpu_lay_out(view, st, lane);
    if (lane.at == 0 && !st->illegal) st->illegal = !sx_gpu_keeps(p, st);
    SX_SYNC(lane);
    if (st->illegal) return SX_GPU_ILLEGAL;
    sx_gpu_count(p, st, lane);
    if (st->uncovered) return SX_GPU_NOT_COVERED;
    SX_UNROLL
    for (int v = 0; v < SX_GPU_N_TENSORS(p); v++)
        if (lane.n == 1 || v % lane.n == lane.at)
            sx_gpu_charge(p, st, v, sx_gpu_kept(p, &st->own->point, v), charge + v * SX_GPU_CHARGE);
    SX_SYNC(lane);
    if (lane.at == 0) sx_gpu_finish(p, st, charge, out);
    return SX_GPU_LEGAL;
}

#endif
