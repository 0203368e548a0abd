/* The independent check of a certificate, from its text to a verdict. */
#include "check/target.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/pool.h"
#include "base/vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool sx_check_reaches(const sx_check_target *target, sx_wide energy, int64_t cycles) {
    sx_wide product;
    if (target->goal == SX_CHECK_DELAY) return cycles >= target->value;
    if (target->goal == SX_CHECK_ENERGY) return energy >= target->value;
    if (energy <= 0) return target->value <= 0;
    return !sx_wide_mul(energy, cycles, &product) || product >= target->value;
}

bool sx_check_is_over(sx_check_work *work) {
    if (sx_is_cancelled(work->options->cancel) || (work->end > 0 && sx_clock_seconds() > work->end)) {
        atomic_store(&work->stopped, true);
        atomic_store(&work->over, true);
    }
    return atomic_load(&work->over);
}

sx_wide sx_check_shared(const sx_check_outline *o, const sx_check_prices *prices) {
    sx_wide macs = (sx_wide)o->shape->macs * o->space->c->machine.compute_energy;
    return macs + sx_check_leakage(o) * o->steps + sx_check_constant(o, prices);
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
    worker *worker;
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
    if (w->lattice.n_points == 0) SX_TRY(sx_check_lattice_points(&w->lattice, &w->outline));
    SX_TRY(sx_check_lattice_solve(&w->lattice, &w->outline, &work->energy, &flows));
    if (flows == SX_CHECK_NONE ||
        (!work->walk_only && sx_check_reaches(&work->target, shared + flows, cycles))) {
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

/* Adds spatial factors to the jobs. */
static bool add_spatial(void *user, const sx_check_spatial *spatial) {
    check *k = user;
    sx_check_spatial *at = sx_vector_add(&k->spatial);
    if (at) *at = *spatial;
    return at != NULL;
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
    out->evaluations = atomic_load(&k->work.evaluations);
    if (below) {
        sx_status_free(status);
        out->verdict = SX_INDEPENDENT_FAILS;
        snprintf(out->why, sizeof out->why,
                 "a mapping of the space costs %.17g pJ and %lld cycles, below what is claimed",
                 (double)below->cost.energy / (double)k->work.space->c->machine.scale,
                 (long long)below->cost.cycles);
        return SX_OK;
    }
    if (status && status->code == SX_ERR_LIMIT) {
        sx_check_doubt_add(&doubt, "%s", status->message);
        sx_status_free(status);
        status = SX_OK;
    }
    if (atomic_load(&k->work.stopped)) sx_check_doubt_add(&doubt, "stopped early");
    if (k->work.space->c->claim.arrays && k->work.space->c->claim.arrays != k->spatial.n)
        sx_check_doubt_add(&doubt, "the space has %zu spatial mappings here, and %llu in the certificate",
                           k->spatial.n, (unsigned long long)k->work.space->c->claim.arrays);
    out->verdict = doubt.why[0] ? SX_INDEPENDENT_UNDECIDED : SX_INDEPENDENT_HOLDS;
    snprintf(out->why, sizeof out->why, "%s", doubt.why);
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
        out->spatial = k->spatial.n;
        status = join_workers(k, threads, out);
        for (unsigned i = 0; i < threads; i++) sx_check_lattice_fini(&k->worker[i].lattice);
    }
    free(k->worker);
    sx_pool_free(pool);
    return status;
}

/* floor(number * scale), exactly; false where it does not fit. */
static bool scale_double(double number, sx_wide scale, sx_wide *out) {
    int exponent;
    sx_wide digits = (sx_wide)ldexp(frexp(number, &exponent), 53);
    exponent -= 53;
    if (!isfinite(number) || !sx_wide_mul(digits, scale, out)) return false;
    for (; exponent > 0; exponent--)
        if (!sx_wide_mul(*out, 2, out)) return false;
    if (exponent < -120) exponent = -120;
    *out >>= -exponent;
    return true;
}

/* Whether a double says what was counted, but for its own rounding: to less than one half, or a share of 2^-50. */
static bool says(double claimed, sx_wide scale, sx_wide counted) {
    enum { PARTS = 1024 };
    sx_wide said, fine, slack;
    if (!sx_wide_mul(counted, PARTS, &fine) || !scale_double(claimed, scale * PARTS, &said)) return false;
    slack = fine >> 50 > PARTS / 2 ? fine >> 50 : PARTS / 2;
    return said - fine < slack && fine - said < slack;
}

/* Whether a certificate says the energy that was counted: without rounding, where it says it so. */
static bool says_energy(const sx_check_case *c, sx_wide energy) {
    sx_wide claimed, counted;
    if (!says(c->claim.energy_pj, c->machine.scale, energy)) return false;
    if (c->claim.exact[1] == 0) return true;
    return sx_wide_mul(c->claim.exact[0], c->machine.scale, &claimed) &&
           sx_wide_mul(energy, c->claim.exact[1], &counted) && claimed == counted;
}

/* The value of a cost; false where it does not fit. */
static bool value_of(sx_check_goal goal, sx_wide energy, int64_t cycles, sx_wide *out) {
    *out = goal == SX_CHECK_DELAY ? cycles : energy;
    return goal != SX_CHECK_EDP || sx_wide_mul(energy, cycles, out);
}

/* Whether a certificate says what its mapping costs. The model divides doubles before it rounds cycles up: where the
 * slowest port is full to the last cycle, it may come to one more. */
static bool claims_cost(const sx_check_case *c, const sx_check_cost *cost) {
    sx_wide value, scale = c->claim.goal == SX_CHECK_DELAY ? 1 : c->machine.scale;
    bool late = cost->full && says(c->claim.cycles, 1, cost->cycles + 1);
    int64_t cycles = cost->cycles + late;
    sx_wide energy = cost->energy + (late ? cost->leak : 0);
    return says_energy(c, energy) && says(c->claim.cycles, 1, cycles) &&
           value_of(c->claim.goal, energy, cycles, &value) && says(c->claim.value, scale, value) &&
           (!c->claim.optimal || says(c->claim.lower_bound, scale, value));
}

/* Sets the target: what the mapping costs, or of a proof that is not complete the lower bound, less the share that
 * certificates leave to rounding. `more` is added to energy, or cycles. False where a number does not fit. */
static bool set_target(const sx_check_case *c, const sx_check_cost *cost, int64_t more,
                       sx_check_target *out) {
    const sx_wide slack = 100000000000, scale = c->claim.goal == SX_CHECK_DELAY ? 1 : c->machine.scale;
    bool delay = c->claim.goal == SX_CHECK_DELAY;
    out->goal = c->claim.goal;
    if (c->claim.optimal)
        return value_of(out->goal, cost->energy + (delay ? 0 : more), cost->cycles + (delay ? more : 0),
                        &out->value);
    if (!scale_double(c->claim.lower_bound, scale, &out->value)) return false;
    out->value -= out->value / slack;
    return true;
}

/* Whether the mapping is in the space and costs what is claimed; sets the target. `doubt` has the reason where not. */
static sx_independent_verdict check_mapping(check *k, const sx_check_case *c, int64_t more,
                                            sx_independent_report *out, sx_check_doubt *doubt) {
    sx_check_cost cost;
    sx_check_legality legal = sx_check_evaluate(c, &c->mapping, &cost, doubt);
    if (legal != SX_COST_LEGAL)
        return legal == SX_COST_ILLEGAL ? SX_INDEPENDENT_FAILS : SX_INDEPENDENT_UNDECIDED;
    if (!sx_check_contains(k->work.space, &c->mapping, doubt)) return SX_INDEPENDENT_FAILS;
    out->energy_pj = (double)cost.energy / (double)c->machine.scale;
    out->cycles = (double)cost.cycles;
    if (!set_target(c, &cost, more, &k->work.target)) {
        sx_check_doubt_add(doubt, "the value does not fit 128 bits");
        return SX_INDEPENDENT_UNDECIDED;
    }
    if (claims_cost(c, &cost)) return SX_INDEPENDENT_HOLDS;
    sx_check_doubt_add(doubt, "the mapping costs %.17g pJ and %lld cycles, not what is claimed",
                       out->energy_pj, (long long)cost.cycles);
    return SX_INDEPENDENT_FAILS;
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
    sx_check_shape_init(&shape, c, doubt);
    for (int s = 0; s < c->machine.n_levels; s++)
        k.work.latency += c->machine.level[s].fill_latency + c->machine.level[s].drain_latency;
    check_range(c, &shape, doubt);
    sx_check_energy_prices(c, &k.work.energy);
    if (options->seconds > 0) k.work.end = sx_clock_seconds() + options->seconds;
    out->verdict = SX_INDEPENDENT_UNDECIDED;
    if (!doubt->why[0]) {
        out->verdict = check_mapping(&k, c, trial ? trial->more : 0, out, doubt);
        if (out->verdict == SX_INDEPENDENT_HOLDS) status = check_space(&k, out);
    }
    if (doubt->why[0]) snprintf(out->why, sizeof out->why, "%s", doubt->why);
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
