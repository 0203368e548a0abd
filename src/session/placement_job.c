#include "session/placement_job.h"

#include "base/status.h"
#include "placement/noise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE = 1 << 16 }; /* answers of an outside evaluator that are remembered */

void sx_placement_job_fini(sx_placement_job *job) {
    sx_space_free(job->space);
    sx_answers_close(job->answers);
    sx_outside_evaluator_free(job->outside);
    free(job->method);
    free(job->start);
    free(job->placement);
    sx_addresses_fini(&job->addresses);
    free(job->trace);
}

/* Copies out what a run found. */
static sx_status collect_answer(sx_placement_job *job, const sx_run *run) {
    sx_found found;
    job->summary = sx_run_result(run);
    if (!job->clock) job->summary.seconds = 0;
    SX_TRY(sx_run_copy_trace(run, job->clock, &job->trace, &job->n_trace));
    job->placement = calloc(job->space->point_size, 1);
    if (!job->placement) return sx_error_memory();
    if (job->in->align && *job->in->undecided > 0) {
        job->summary.optimal = false;
        job->summary.lower_bound = 0;
    }
    job->found = sx_run_best(run, 0, &found);
    if (!job->found) return SX_OK;
    memcpy(job->placement, found.point, job->space->point_size);
    job->value = found.value;
    job->latency = found.metrics.value[SX_PLACE_LATENCY];
    return SX_OK;
}

/* Measures the compiler's placement with an outside evaluator: what speedups are over. */
static sx_status measure_baseline(sx_placement_job *job, const sx_point_model *model) {
    sx_scorer *scorer;
    sx_outcome outcome;
    SX_TRY(sx_scorer_new(job->space, model, &job->run.objective, &scorer));
    sx_status status = sx_scorer_score(scorer, job->in->compiled, 1, INFINITY, &outcome);
    if (!status && !outcome.reason) job->baseline = outcome.metrics.value[SX_PLACE_LATENCY];
    sx_scorer_free(scorer);
    return status;
}

/* Searches with a model, NULL: the chip's. What was found before an error is kept. */
static sx_status search_placements(sx_placement_job *job, const sx_point_model *model) {
    sx_run *run = NULL;
    SX_TRY(sx_run_new(job->space, model, &job->run, &run));
    sx_status status = sx_run_search(run, job->method), collected = collect_answer(job, run);
    sx_run_free(run);
    if (!status) return collected;
    sx_status_free(collected);
    return status;
}

/* Searches with the job's outside evaluator. */
static sx_status search_judged(sx_placement_job *job) {
    sx_point_model *model;
    job->run.threads = 1;
    job->run.cache = CACHE;
    SX_TRY(sx_outside_evaluator_placement_model(job->outside, job->space, &model));
    sx_status status = measure_baseline(job, model);
    if (!status) status = search_placements(job, model);
    sx_outside_evaluator_model_free(model);
    return status;
}

/* Searches with noise. */
static sx_status search_noisy(sx_placement_job *job) {
    sx_point_model *model;
    SX_TRY(sx_noise_new(job->space, job->noise, job->run.seed, &model));
    sx_status status = search_placements(job, model);
    sx_noise_free(model);
    return status;
}

sx_status sx_placement_job_search(sx_placement_job *job) {
    if (job->start) {
        job->run.starts = job->start;
        job->run.n_starts = 1;
    }
    if (!job->start && (job->outside || job->noise > 0)) {
        job->run.starts = job->in->compiled;
        job->run.n_starts = 1;
    }
    if (job->outside) return search_judged(job);
    return job->noise > 0 ? search_noisy(job) : search_placements(job, NULL);
}

void sx_placement_uses(const sx_placement_space *space, const uint8_t *placement,
                       sx_memory_use use[SX_MAX_MEMORIES]) {
    uint64_t now[SX_MAX_MEMORIES] = {0};
    memset(use, 0, SX_MAX_MEMORIES * sizeof *use);
    for (size_t t = 0; t < space->n_tensors; t++) {
        sx_memory_use *at = &use[placement[t]];
        at->tensors += space->size[t] > 0;
        *(sx_place_is_output(t) ? &at->outputs : &at->weights) += space->size[t];
    }
    for (size_t s = 0; s < space->graph.n_nodes; s++) {
        now[placement[2 * s + 1]] += space->size[2 * s + 1];
        for (size_t m = 0; m < space->chip.n_memories; m++) {
            if (now[m] + use[m].weights <= use[m].peak) continue;
            use[m].peak = now[m] + use[m].weights;
            use[m].peak_step = s;
        }
        for (size_t k = space->first_ended[s]; k < space->first_ended[s + 1]; k++)
            now[placement[2 * space->ending[k] + 1]] -= space->size[2 * space->ending[k] + 1];
    }
}

/* What decides the time of a node: 0, the slowest memory, where it waits for weights that stream from there. */
static size_t limit_of(const sx_placement_space *space, const uint8_t *placement, size_t node,
                       uint64_t time) {
    uint64_t bytes[SX_MAX_MEMORIES], most = 0;
    size_t limit = SX_LIMIT_COMPUTE, used = 0;
    sx_place_node_bytes(space, placement, node, bytes);
    if (time == space->overhead + space->compute[node]) return SX_LIMIT_COMPUTE;
    if (time > sx_place_node_time(space, node, bytes, false)) return 0;
    for (size_t m = 0; m < space->chip.n_memories; m++) {
        uint64_t transfer = sx_place_transfer(space, m, bytes[m]);
        used += transfer > 0;
        if (transfer <= most) continue;
        most = transfer;
        limit = m;
    }
    return space->chip.shared_ports && used > 1 ? SX_LIMIT_PORTS : limit;
}

sx_node_limit *sx_placement_limits(const sx_placement_space *space, const uint8_t *placement) {
    size_t n = space->graph.n_nodes;
    uint64_t *time = calloc(n, sizeof *time);
    sx_node_limit *limits = calloc(n, sizeof *limits);
    if (time && limits) {
        sx_place_times(space, placement, time);
        for (size_t i = 0; i < n; i++)
            limits[i] = (sx_node_limit){time[i], limit_of(space, placement, i, time[i])};
    } else {
        free(limits);
        limits = NULL;
    }
    free(time);
    return limits;
}

const char *sx_placement_limit_name(const sx_placement_space *space, size_t limit) {
    if (limit == SX_LIMIT_PORTS) return "ports";
    return limit < space->chip.n_memories ? space->chip.memory[limit].name : "compute";
}
