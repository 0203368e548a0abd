/* The independent check of a certificate, from its text to a verdict. */
#include "check/latency.h"
#include "check/remainders.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/pool.h"
#include "base/vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool sx_check_is_over(sx_check_work *work) {
    if (sx_is_cancelled(work->options->cancel) || (work->end > 0 && sx_clock_seconds() > work->end)) {
        atomic_store(&work->stopped, true);
        atomic_store(&work->over, true);
    }
    return atomic_load(&work->over);
}

sx_wide sx_check_shared(const sx_check_outline *o, const sx_check_prices *prices) {
    sx_wide macs = (sx_wide)o->shape->macs * o->space->c->machine.compute_energy;
    return macs + sx_check_leakage(&o->space->c->machine, o->used) * o->steps + sx_check_constant(o, prices);
}

int64_t sx_check_enough(const sx_check_work *work, const sx_check_outline *o) {
    if (work->walk_only) return SX_CHECK_NONE;
    sx_wide flows =
        sx_check_least_energy(&work->target, o->steps + work->latency) - sx_check_shared(o, &work->energy);
    if (flows > SX_CHECK_CAP) return SX_CHECK_NONE;
    return flows < 0 ? 0 : (int64_t)flows;
}

/* Doubts where the energy of all iterations on all compute units, with room for the accesses of every level, might not
 * fit 128 bits. */
static void check_range(const sx_check_case *c, const sx_check_shape *shape, sx_check_doubt *doubt) {
    sx_wide most = (sx_wide)1 << 16;
    int64_t largest = c->machine.compute_energy;
    for (int s = 0; s < c->machine.n_levels; s++) {
        const sx_check_level *level = &c->machine.level[s];
        for (int i = 0; i < SX_N_ACCESSES; i++)
            if (level->energy[i] > largest) largest = level->energy[i];
        if (level->leak > largest) largest = level->leak;
        if (level->address > largest) largest = level->address;
    }
    if (!sx_wide_mul(most, shape->macs, &most) || !sx_wide_mul(most, largest, &most) ||
        !sx_wide_mul(most, c->machine.compute_mesh[0], &most) ||
        !sx_wide_mul(most, c->machine.compute_mesh[1], &most))
        sx_check_doubt_add(doubt, "energies of this size cannot be counted in 128 bits");
}

/* One thread's part of a check. */
typedef struct worker {
    sx_check_lattice lattice;
    sx_check_outline outline;
    sx_check_found found;
} worker;

/* All jobs: spatial factors, each with all that levels may keep. */
typedef struct check {
    sx_check_work work;
    sx_vector spatial;
    uint64_t counted; /* spatial factors, those with too few units among them */
    worker *worker;
    sx_check_found uneven; /* of mappings that leave remainders */
} check;

/* Decides one outline. */
static sx_status check_outline(check *k, worker *w) {
    sx_check_work *work = &k->work;
    int64_t flows, cycles = w->outline.steps + work->latency;
    bool closed = false;
    w->found.outlines++;
    sx_wide shared = sx_check_shared(&w->outline, &work->energy);
    int64_t least = sx_check_compulsory(&w->outline, &work->energy);
    if (!work->walk_only && sx_check_reaches(&work->target, shared + least, cycles)) {
        w->found.compulsory++;
        return SX_OK;
    }
    if (w->lattice.n_points == 0) {
        sx_check_find_neighbours(&w->outline);
        SX_TRY(sx_check_lattice_points(&w->lattice, &w->outline));
    }
    SX_TRY(sx_check_lattice_solve(&w->lattice, &w->outline, &work->energy, sx_check_enough(work, &w->outline),
                                  &flows));
    if (flows == SX_CHECK_NONE) {
        w->found.tiles++;
        return SX_OK;
    }
    if (!work->walk_only) SX_TRY(sx_check_ports(work, &w->lattice, &w->outline, shared + flows, &closed));
    if (closed)
        w->found.ports++;
    else
        sx_check_walk(work, &w->lattice, &w->outline, &w->found);
    return SX_OK;
}

/* Whether every tensor is kept somewhere: no mapping keeps one nowhere. */
static bool keeps_all(const sx_check_outline *o) {
    unsigned kept = 0;
    for (int s = 0; s < o->space->n_levels; s++) kept |= o->keep[s];
    return kept == (1u << o->space->n_tensors) - 1;
}

/* Goes through all that levels from `s` on may keep. */
static sx_status check_keeps(check *k, worker *w, int s) {
    const sx_check_space *space = k->work.space;
    if (s == space->n_levels) return keeps_all(&w->outline) ? check_outline(k, w) : SX_OK;
    unsigned may = space->may[s] & ~space->must[s], more = 0;
    if (space->must[s] & ~space->may[s]) return SX_OK;
    do {
        w->outline.keep[s] = space->must[s] | more;
        SX_TRY(check_keeps(k, w, s + 1));
        if (w->found.below || sx_check_is_over(&k->work)) return SX_OK;
        more = (more - may) & may;
    } while (more);
    return SX_OK;
}

/* Decides all outlines of one choice of spatial factors. */
static void check_spatial(void *user, size_t index, unsigned number) {
    check *k = user;
    worker *w = &k->worker[number];
    if (sx_check_is_over(&k->work)) return;
    w->outline.space = k->work.space;
    w->outline.shape = k->work.shape;
    w->outline.spatial = sx_vector_at(&k->spatial, index);
    w->lattice.n_points = 0;
    sx_check_outline_spread(&w->outline);
    sx_status status = sx_check_find_links(&w->outline);
    if (!status) status = check_keeps(k, w, 0);
    if (status && w->found.status)
        sx_status_free(status);
    else if (status)
        w->found.status = status;
    if (w->found.below || w->found.status) atomic_store(&k->work.over, true);
}

/* Counts spatial factors, and adds them to the jobs unless too few compute units are in use. */
static bool add_spatial(void *user, const sx_check_spatial *spatial) {
    check *k = user;
    k->counted++;
    if (!sx_check_parallel_enough(k->work.space, spatial)) return true;
    sx_check_spatial *at = sx_vector_add(&k->spatial);
    if (at) *at = *spatial;
    return at != NULL;
}

/* Reports that the certificate's mapping is below its claim where nothing is rounded, or the best of the others that are. */
static void report_rounded(const check *k, unsigned threads, sx_independent_report *out) {
    const sx_check_target *target = &k->work.target;
    sx_wide value, least = target->value;
    double scale = (double)k->work.space->c->machine.scale;
    out->slack = target->excess;
    if (out->slack > 0)
        snprintf(
            out->why, sizeof out->why,
            "the mapping costs %.17g pJ and %.17g cycles without rounding, by a share of %.3g less than the "
            "claim; the cost model rounds up",
            out->energy_pj, out->cycles, out->slack);
    for (unsigned i = 0; i <= threads; i++) {
        const sx_check_found *found = i < threads ? &k->worker[i].found : &k->uneven;
        if (!found->rounded ||
            !sx_check_value(target->goal, found->cost.energy, found->cost.cycles, &value) || value >= least)
            continue;
        least = value;
        out->slack = 1 - (1 - target->excess) * ((double)least / (double)target->value);
        snprintf(out->why, sizeof out->why,
                 "a mapping of the space costs %.17g pJ and %lld cycles without rounding, by a share of %.3g "
                 "less than the "
                 "claim; the cost model counts a cycle more",
                 (double)found->cost.energy / scale, (long long)found->cost.cycles, out->slack);
    }
}

/* Reports a mapping that is below the claim. */
static void report_below(const check *k, const sx_check_found *found, sx_independent_report *out) {
    out->verdict = SX_INDEPENDENT_FAILS;
    snprintf(out->why, sizeof out->why,
             "a mapping of the space costs %.17g pJ and %lld cycles, below what is claimed",
             (double)found->cost.energy / (double)k->work.space->c->machine.scale,
             (long long)found->cost.cycles);
}

/* Joins what the threads found; the first mapping below, or doubt, decides. */
static sx_status join_workers(check *k, unsigned threads, sx_independent_report *out) {
    sx_status status = SX_OK;
    const sx_check_found *below = NULL;
    sx_check_doubt doubt = {""};
    for (unsigned i = 0; i < threads; i++) {
        sx_check_found *found = &k->worker[i].found;
        out->outlines += found->outlines;
        out->compulsory += found->compulsory;
        out->tiles += found->tiles;
        out->ports += found->ports;
        out->walked += found->walked;
        if (found->below && !below) below = found;
        if (found->doubt.why[0]) sx_check_doubt_add(&doubt, "%s", found->doubt.why);
        if (found->status && status)
            sx_status_free(found->status);
        else if (found->status)
            status = found->status;
    }
    out->walked += k->uneven.walked;
    out->evaluations = atomic_load(&k->work.evaluations);
    if (below) {
        sx_status_free(status);
        report_below(k, below, out);
        return SX_OK;
    }
    if (status && status->code == SX_ERR_LIMIT) {
        sx_check_doubt_add(&doubt, "%s", status->message);
        sx_status_free(status);
        status = SX_OK;
    }
    if (atomic_load(&k->work.stopped)) sx_check_doubt_add(&doubt, "stopped early");
    if (!k->work.any_count && k->work.space->c->claim.arrays != k->counted)
        sx_check_doubt_add(&doubt, "the space has %llu spatial mappings here, and %llu in the certificate",
                           (unsigned long long)k->counted,
                           (unsigned long long)k->work.space->c->claim.arrays);
    out->verdict = doubt.why[0] ? SX_INDEPENDENT_UNDECIDED : SX_INDEPENDENT_HOLDS;
    snprintf(out->why, sizeof out->why, "%s", doubt.why);
    if (out->verdict == SX_INDEPENDENT_HOLDS) report_rounded(k, threads, out);
    return status;
}

/* Decides all outlines of the space. */
static sx_status check_space(check *k, sx_independent_report *out) {
    sx_pool *pool;
    unsigned threads = k->work.options->threads ? k->work.options->threads : 1;
    sx_check_list_spatial(k->work.space, add_spatial, k);
    if (k->spatial.failed) return sx_error_memory();
    SX_TRY(sx_pool_new(threads, &pool));
    threads = sx_pool_threads(pool);
    k->worker = calloc(threads, sizeof *k->worker);
    sx_status status = k->worker ? SX_OK : sx_error_memory();
    if (!status) {
        sx_pool_run(pool, k->spatial.n, check_spatial, NULL, k);
        out->spatial = k->counted;
        status = join_workers(k, threads, out);
        for (unsigned i = 0; i < threads; i++) sx_check_lattice_fini(&k->worker[i].lattice);
    }
    free(k->worker);
    sx_pool_free(pool);
    return status;
}

/* Doubts where there is no rule for remainders beside something else. */
static void check_remainder_rules(const sx_check_case *c, sx_check_doubt *doubt) {
    const sx_check_goal goal = c->claim.goal;
    if (!c->remainders) return;
    if (goal.energy_power > 1 || goal.delay_power > 1)
        sx_check_doubt_add(doubt, "there is no rule for remainders and powers of energy or delay");
    if (c->n_front || c->claim.tie)
        sx_check_doubt_add(doubt, "there is no rule for remainders and %s",
                           c->n_front ? "a front" : "several criteria");
    if (c->split_axes) sx_check_doubt_add(doubt, "there is no rule for remainders and split axes");
}

/* Decides a space with remainders: a lower bound of the mappings that leave some, and all others as in a space without.
 * Where the bound is below the target, the verdict is open, but what is certified is said. */
static sx_status check_remainders(check *k, sx_independent_report *out) {
    sx_check_target *target = &k->work.target;
    const sx_check_claim *claim = &k->work.space->c->claim;
    sx_wide least, rounded;
    SX_TRY(sx_check_remainders(&k->work, target->value, &k->uneven, &least));
    if (k->uneven.below) {
        report_below(k, &k->uneven, out);
        return SX_OK;
    }
    const bool reached = least >= target->value;
    if (k->uneven.rounded &&
        sx_check_value(target->goal, k->uneven.cost.energy, k->uneven.cost.cycles, &rounded) &&
        rounded < least)
        least = rounded;
    if (!reached) {
        target->value = least;
        target->said = 0;
        target->excess = 0;
    }
    k->work.any_count = true;
    SX_TRY(check_space(k, out));
    if (out->verdict != SX_INDEPENDENT_HOLDS) return SX_OK;
    double scale = target->goal.energy_power ? (double)k->work.space->c->machine.scale : 1;
    out->certified = fmin(claim->lower_bound, (double)least / scale);
    if (out->slack > 0)
        out->certified =
            fmin(out->certified,
                 (1 - out->slack) * (target->excess > 0 ? claim->value : (double)target->value / scale));
    if (out->certified < claim->value) out->better = 1 - out->certified / claim->value;
    if (reached) return SX_OK;
    out->verdict = SX_INDEPENDENT_UNDECIDED;
    snprintf(
        out->why, sizeof out->why,
        "no mapping is below %.17g, so that none is better by more than %.3g %%; the claimed lower bound of "
        "%.17g is above it",
        out->certified, 100 * out->better, claim->lower_bound);
    return SX_OK;
}

sx_status sx_check_decide(const sx_check_case *c, const sx_independent_options *options,
                          const sx_check_trial *trial, sx_check_doubt *doubt, sx_independent_report *out) {
    sx_check_space space;
    sx_check_shape shape;
    check k = {.work = {.space = &space, .shape = &shape, .options = options},
               .spatial = {.size = sizeof(sx_check_spatial)}};
    sx_status status = sx_check_space_init(&space, c);
    if (status) {
        sx_check_space_fini(&space);
        return status;
    }
    memset(out, 0, sizeof *out);
    k.work.walk_only = trial && trial->walk_only;
    k.work.any_count = trial && trial->any_count;
    sx_check_shape_init(&shape, c, doubt);
    for (int s = 0; s < c->machine.n_levels; s++)
        k.work.latency += c->machine.level[s].fill_latency + c->machine.level[s].drain_latency;
    check_range(c, &shape, doubt);
    check_remainder_rules(c, doubt);
    sx_check_energy_prices(c, &k.work.energy);
    if (options->seconds > 0) k.work.end = sx_clock_seconds() + options->seconds;
    out->verdict = SX_INDEPENDENT_UNDECIDED;
    if (!doubt->why[0] && (c->tile || c->claim.latency)) {
        sx_check_latency(&space, out, doubt);
    } else if (!doubt->why[0]) {
        status = sx_check_points(&space, trial ? trial->more : 0, &k.work.target, out, doubt);
        if (!status && out->verdict == SX_INDEPENDENT_HOLDS)
            status = c->remainders ? check_remainders(&k, out) : check_space(&k, out);
    }
    if (doubt->why[0]) snprintf(out->why, sizeof out->why, "%s", doubt->why);
    sx_check_target_fini(&k.work.target);
    sx_vector_clear(&k.spatial);
    sx_check_space_fini(&space);
    return status;
}

sx_status sx_independent_check(const char *name, const char *text, size_t size,
                               const sx_independent_options *options, sx_independent_report *out) {
    sx_check_doubt doubt;
    sx_check_case *c;
    double began = sx_clock_seconds();
    SX_TRY(sx_check_case_read(name, text, size, &c, &doubt));
    sx_status status = sx_check_decide(c, options, NULL, &doubt, out);
    out->seconds = sx_clock_seconds() - began;
    sx_check_case_free(c);
    return status;
}
