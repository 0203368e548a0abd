/* The space of systolic designs: construction, size, drawing, legality and scores of points. */
#include "systolic/space.h"

#include "base/status.h"
#include "base/text.h"
#include "ir/goal.h"
#include "space/cardinal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const faults[] = {
    [SX_SYSTOLIC_FINE] = "legal",
    [SX_SYSTOLIC_TILES] =
        "a tile is 0 or above 2^31 - 1, or a second-level tile does not divide its first-level tile",
    [SX_SYSTOLIC_LANES] = "the number of SIMD lanes is not a power of two, or exceeds 256 bits",
    [SX_SYSTOLIC_HIDING] = "too few independent sums in a PE to hide the adder's latency",
    [SX_SYSTOLIC_PACK] = "a vector length is not a power of two",
    [SX_SYSTOLIC_THIN] = "a side of the array is 1",
    [SX_SYSTOLIC_OUTSIDE] = "a tile or the design is not in the space",
    [SX_SYSTOLIC_DSP] = "more DSP blocks than usable",
    [SX_SYSTOLIC_BRAM] = "more BRAM than usable",
    [SX_SYSTOLIC_UNDERUSED] = "fewer DSP blocks than asked for",
};

const char *sx_systolic_fault_text(sx_systolic_fault fault) {
    return (size_t)fault < sizeof faults / sizeof *faults ? faults[fault] : "unknown";
}

static const sx_systolic_space *systolic_of(const sx_space *space) {
    return (const sx_systolic_space *)space;
}

static void space_free(sx_space *base) {
    sx_systolic_space *space = (sx_systolic_space *)base;
    for (int d = 0; d < SX_MAX_SYSTOLIC_LOOPS; d++) sx_systolic_tile_set_fini(&space->tiles[d]);
    free(space->kernel);
    free(space->factors);
    free(space->plan);
    free(space->open);
    free(space->open_list);
    free(space);
}

/* How many pairs of tiles a loop has; `all`: with any divisor as the number of lanes. */
static uint64_t n_pairs(const sx_systolic_tile_set *set, bool all) {
    return all ? set->divisors : set->before[set->n];
}

/* The number of constructions. */
static sx_cardinal count_points(const sx_systolic_space *space, bool all) {
    sx_cardinal n = sx_cardinal_of(space->n_open);
    for (int d = 0; d < space->n_loops; d++)
        n = sx_cardinal_times(n, sx_cardinal_of(n_pairs(&space->tiles[d], all)));
    return n;
}

static bool space_size(const sx_space *base, size_t index, sx_size *out) {
    const sx_systolic_space *space = systolic_of(base);
    size_t n = (size_t)space->n_loops;
    if (index < n) {
        *out = (sx_size){.name = space->kernel[0].loop[index].name,
                         .about = "pairs of tiles of a loop",
                         .component = true,
                         .count = sx_cardinal_of(n_pairs(&space->tiles[index], false))};
        return true;
    }
    if (index == n)
        *out = (sx_size){"designs", "dataflows times permutations", true, sx_cardinal_of(space->n_open), 0};
    else if (index == n + 1)
        *out = (sx_size){"raw", "all designs and tiles, legal or not", false, count_points(space, false), 0};
    else if (index == n + 2)
        *out = (sx_size){"published", "the same as the paper counts, with any divisor as the number of lanes",
                         false, count_points(space, true), 0};
    return index <= n + 2;
}

static bool space_at(const sx_space *base, sx_u128 index, void *out) {
    const sx_systolic_space *space = systolic_of(base);
    sx_systolic_point *point = out;
    sx_systolic_point p = {.design = 0};
    for (int d = space->n_loops - 1; d >= 0; d--) {
        uint64_t pairs = n_pairs(&space->tiles[d], false);
        sx_pair_of_tiles pair = sx_systolic_tile_pair(&space->tiles[d], (uint64_t)(index % pairs));
        index /= pairs;
        p.t1[d] = pair.t1;
        p.t2[d] = pair.t2;
    }
    if (index >= space->n_open) return false;
    p.design = space->open_list[(size_t)index];
    *point = p;
    return true;
}

static void space_draw(const sx_space *base, sx_rng *rng, void *point) {
    memset(point, 0, sizeof(sx_systolic_point));
    ((sx_systolic_point *)point)->design = systolic_of(base)->open_list[0];
    for (size_t gene = 0; gene < base->n_genes; gene++) sx_systolic_redraw(base, rng, gene, point);
}

static bool space_holds(const sx_space *base, const void *at) {
    const sx_systolic_space *space = systolic_of(base);
    const sx_systolic_point *point = at;
    if (point->design >= space->n_plans || !space->open[point->design] || point->reserved) return false;
    for (int d = 0; d < SX_MAX_SYSTOLIC_LOOPS; d++) {
        uint32_t t1 = point->t1[d], t2 = point->t2[d];
        if (d >= space->n_loops && (t1 || t2)) return false;
        if (d < space->n_loops && (!sx_systolic_tile_in(&space->tiles[d], t1) || !t2 || t1 % t2))
            return false;
    }
    return true;
}

static unsigned space_check(const sx_space *base, const void *point) {
    return sx_systolic_fault_of(systolic_of(base), point);
}

static const char *space_reason(const sx_space *base, unsigned reason) {
    (void)base;
    return sx_systolic_fault_text((sx_systolic_fault)reason);
}

static void space_explain(const sx_space *base, const void *point, char *text, size_t size) {
    const sx_systolic_limits *limits = &systolic_of(base)->limits;
    sx_systolic_cost cost = {0};
    sx_systolic_fault fault = sx_systolic_evaluate(base, point, -1, &cost);
    if (fault == SX_SYSTOLIC_DSP || fault == SX_SYSTOLIC_UNDERUSED)
        snprintf(text, size, "%s: %.0f of %.1f", faults[fault], cost.dsp, limits->dsp);
    else if (fault == SX_SYSTOLIC_BRAM)
        snprintf(text, size, "%s: %.0f of %.1f", faults[fault], cost.bram18k, limits->bram);
    else
        snprintf(text, size, "%s", faults[fault]);
}

static sx_status space_diagnose(const sx_space *base, uint64_t seed, uint64_t tries, char **out) {
    uint64_t count[sizeof faults / sizeof *faults] = {0};
    sx_text text = {0};
    for (uint64_t i = 0; i < tries; i++) {
        sx_rng rng = sx_rng_stream(seed, "systolic.diagnose", i);
        sx_systolic_point point;
        space_draw(base, &rng, &point);
        count[space_check(base, &point)]++;
    }
    sx_text_add(&text, "of %llu draws\n", (unsigned long long)tries);
    for (size_t i = 0; i < sizeof count / sizeof *count; i++)
        if (count[i]) sx_text_add(&text, "  %5.1f%% %s\n", 100 * (double)count[i] / (double)tries, faults[i]);
    return sx_text_take(&text, out);
}

static void space_encode(const sx_space *base, const void *at, double *values) {
    const sx_systolic_point *point = at;
    *values++ = point->design;
    for (int d = 0; d < systolic_of(base)->n_loops; d++) {
        *values++ = point->t1[d];
        *values++ = point->t2[d];
    }
}

/* The model: the sum over all kernels and their counts. */
static const sx_metric_about metrics[] = {
    [SX_SYSTOLIC_ENERGY] = {"energy", "multiply-accumulates", "energy"},
    [SX_SYSTOLIC_LATENCY] = {"latency", "cycles", "delay"},
    [SX_SYSTOLIC_UTILIZATION] = {"utilization", "", "utilization"},
    [SX_SYSTOLIC_OFFCHIP] = {"offchip_words", "words", "last-level"},
};

/* A cost by its metrics. */
static sx_metrics metrics_of(const sx_systolic_cost *cost, double utilization) {
    return (sx_metrics){{[SX_SYSTOLIC_ENERGY] = cost->energy,
                         [SX_SYSTOLIC_LATENCY] = cost->latency,
                         [SX_SYSTOLIC_UTILIZATION] = utilization,
                         [SX_SYSTOLIC_OFFCHIP] = cost->offchip_words}};
}

double sx_systolic_value(const sx_objective *objective, const sx_systolic_cost *cost, double utilization) {
    const sx_metrics measured = metrics_of(cost, utilization);
    sx_goal goal;
    sx_status status = sx_goal_init(&goal, objective, metrics, sizeof metrics / sizeof *metrics, "systolic");
    double value = status ? NAN : sx_goal_value(&goal, &measured);
    sx_status_free(status);
    return value;
}

static const sx_systolic_space *space_of(const sx_point_model *model) {
    return model->user;
}

static sx_status score_batch(const sx_point_model *model, void *workspace, const void *points, size_t n,
                             const sx_goal *goal, double cutoff, sx_outcome *out) {
    const sx_systolic_space *space = space_of(model);
    const sx_systolic_point *point = points;
    (void)workspace, (void)goal, (void)cutoff;
    for (size_t i = 0; i < n; i++) {
        sx_systolic_cost cost;
        out[i].reason = sx_systolic_evaluate(&space->space, &point[i], -1, &cost);
        if (out[i].reason) continue;
        out[i].metrics = metrics_of(&cost, sx_systolic_use(space, cost.latency));
    }
    return SX_OK;
}

static const sx_point_model_type model_type = {
    .name = "systolic",
    .metrics = metrics,
    .n_metrics = sizeof metrics / sizeof *metrics,
    .checks = true,
    .score_batch = score_batch,
};

static const sx_space_type systolic_type = {
    .name = "systolic",
    .free = space_free,
    .size = space_size,
    .at = space_at,
    .draw = space_draw,
    .holds = space_holds,
    .check = space_check,
    .reason = space_reason,
    .explain = space_explain,
    .diagnose = space_diagnose,
    .redraw = sx_systolic_redraw,
    .nudge = sx_systolic_nudge,
    .take = sx_systolic_take,
    .repair = sx_systolic_repair,
    .encode = space_encode,
    .project = sx_systolic_project,
};

const sx_systolic_space *sx_systolic_space_of(const sx_space *space) {
    return space->type == &systolic_type ? systolic_of(space) : NULL;
}

/* Refuses kernels that do not share their loops. */
static sx_status check_kernels(const sx_systolic_kernel *kernels, size_t n) {
    if (n == 0) return sx_error_new(SX_ERR_USAGE, "a systolic array needs a kernel");
    for (size_t i = 1; i < n; i++) {
        bool same = kernels[i].n_loops == kernels[0].n_loops && kernels[i].sliding == kernels[0].sliding &&
                    kernels[i].simd == kernels[0].simd;
        for (int d = 0; same && d < kernels[0].n_loops; d++)
            same = kernels[i].loop[d].operands == kernels[0].loop[d].operands;
        if (!same)
            return sx_error_hint(sx_error_new(SX_ERR_USAGE, "'%s' and '%s' do not have the same loops",
                                              kernels[0].name, kernels[i].name),
                                 "merge them first");
    }
    return SX_OK;
}

/* Marks the designs that may be chosen. */
static sx_status open_designs(sx_systolic_space *space, const sx_systolic_options *options) {
    for (size_t i = 0; i < options->n_designs && options->designs; i++) {
        if (options->designs[i] >= space->n_plans)
            return sx_error_new(SX_ERR_USAGE, "there is no design number %zu", options->designs[i]);
        space->open[options->designs[i]] = true;
    }
    for (size_t i = 0; i < space->n_plans; i++) {
        if (!options->designs) space->open[i] = true;
        if (space->open[i]) space->open_list[space->n_open++] = (uint32_t)i;
    }
    return space->n_open ? SX_OK : sx_error_new(SX_ERR_USAGE, "no design is allowed");
}

/* Lists the tiles of every loop. */
static sx_status list_tiles(sx_systolic_space *space) {
    uint32_t *sizes = malloc(space->n_kernels * sizeof *sizes);
    sx_status status = sizes ? SX_OK : sx_error_memory();
    for (int d = 0; !status && d < space->n_loops; d++) {
        bool lanes = d == space->kernel[0].simd;
        bool divisors =
            space->options.tiles == SX_TILES_DIVISORS || (space->options.tiles == SX_TILES_PADDED && lanes);
        for (size_t i = 0; i < space->n_kernels; i++) sizes[i] = space->kernel[i].loop[d].size;
        status =
            sx_systolic_tile_set_init(sizes, space->n_kernels, divisors, lanes ? 0 : space->options.pad_to,
                                      lanes ? space->limits.lanes : 0, &space->tiles[d]);
    }
    free(sizes);
    return status;
}

/* Fills a space that has its kernels. */
static sx_status fill_space(sx_systolic_space *space, const sx_systolic_options *options) {
    for (size_t i = 0; i < space->n_kernels; i++) {
        const sx_systolic_kernel *k = &space->kernel[i];
        space->factors[i] = sx_systolic_factors_of(k);
        space->macs += k->macs * (double)k->count;
    }
    for (size_t i = 0; i < space->n_plans; i++) {
        sx_systolic_design design;
        sx_systolic_design_at(&space->kernel[0], i, &design);
        sx_systolic_plan_init(&space->kernel[0], &design, &space->limits, options->corrected,
                              &space->plan[i]);
    }
    SX_TRY(open_designs(space, options));
    SX_TRY(list_tiles(space));
    size_t n = 0;
    if (space->n_open > 1) space->genes[n++] = (sx_gene){.axis = SX_AXIS_DESIGN};
    for (int d = 0; d < space->n_loops; d++)
        space->genes[n++] = (sx_gene){.axis = SX_AXIS_TILES, .which = (int32_t)d};
    space->model = (sx_point_model){.type = &model_type, .user = space};
    space->space = (sx_space){.type = &systolic_type,
                              .model = &space->model,
                              .point_size = sizeof(sx_systolic_point),
                              .n_values = 1 + 2 * (size_t)space->n_loops,
                              .n_genes = n,
                              .gene = space->genes};
    return SX_OK;
}

sx_status sx_systolic_space_new(const sx_systolic_kernel *kernels, size_t n, const sx_device *device,
                                const sx_systolic_options *options, sx_space **out) {
    const sx_systolic_options none = {0};
    if (!options) options = &none;
    SX_TRY(check_kernels(kernels, n));
    if (options->pad_to > SX_MAX_SYSTOLIC_SIZE)
        return sx_error_new(SX_ERR_LIMIT, "loops can be padded to %d steps, not to %u", SX_MAX_SYSTOLIC_SIZE,
                            options->pad_to);
    sx_systolic_space *space = calloc(1, sizeof *space);
    if (!space) return sx_error_memory();
    space->n_kernels = n;
    space->n_loops = kernels[0].n_loops;
    space->n_plans = sx_systolic_n_designs(&kernels[0]);
    space->options = *options;
    space->options.element = NULL;
    space->options.designs = NULL;
    space->kernel = malloc(n * sizeof *space->kernel);
    space->factors = calloc(n, sizeof *space->factors);
    space->plan = malloc(space->n_plans * sizeof *space->plan);
    space->open = calloc(space->n_plans, sizeof *space->open);
    space->open_list = malloc(space->n_plans * sizeof *space->open_list);
    bool fine = space->kernel && space->factors && space->plan && space->open && space->open_list;
    sx_status status =
        fine ? sx_systolic_limits_of(device, options->element, &space->limits) : sx_error_memory();
    if (!status) {
        memcpy(space->kernel, kernels, n * sizeof *kernels);
        space->least_dsp = options->least_dsp * space->limits.dsp;
        status = fill_space(space, options);
    }
    if (status)
        space_free(&space->space);
    else
        *out = &space->space;
    return status;
}
