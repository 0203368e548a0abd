/* Mappers on a GPU: what they draw or breed is scored and reduced there, and the run gets the best of each step. Results
 * follow from the seed and the budget, on any GPU and without one (sx_gpu_emulation).
 *
 * - exhaustive: every mapping, those that no cost tells apart once. Complete, it has proven its incumbent optimal.
 * - random: compact points, all splits, orders, axes and sets of kept tensors being equally likely; an evaluation is a
 *   draw, legal or not. (That of the CPU draws legal points only.)
 * - pruned: factorisations and layouts at random; of those that can be legal, up to 16 successive orders that cost tells
 *   apart, each under all sets of kept tensors; an evaluation is a legal mapping. (That of the CPU draws permutations one by
 *   one, goes through all layouts, and ends after a number of mappings without improvement.)
 * - gamma: islands of 32 compact points each, a thread per member. In every generation each member has a child: of parents that
 *   win tournaments of two, crossed half of the time, mutated and repaired by the operators of the CPU's gamma with its default
 *   chances; it takes the member's place where it is as good. After some generations an island's best member moves on to the next
 *   island. An evaluation is a child, legal or not.
 *
 * Points that the GPU does not cover (docs/gpu.md) are left out by all but exhaustive. */
#include "base/status.h"
#include "gpu/breed.h"
#include "gpu/gpu.h"
#include "run/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    DRAWS = 1 << 22,      /* of a step */
    ITEMS = 1 << 20,      /* blocks of orders of a step, at most */
    FIRST_LIST = 1 << 12, /* numbers that are drawn at first to list these */
    HOPELESS = 1 << 22    /* draws in a row without a legal mapping that end a search */
};

/* A search at work. */
typedef struct job {
    sx_run *run;
    sx_gpu_image *image;
    const sx_gpu_module *module;
    sx_gpu_device *device;
    char message[SX_CUDA_MESSAGE];
} job;

/* Refuses what only the CPU's mappers can do. */
static sx_status check_run(const sx_run *run) {
    if (run->options.k_best > 1 || run->options.pareto)
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "mappers on a GPU find the best mapping, not several or a front"),
            "leave out --%s or --gpu", run->options.pareto ? "pareto" : "k-best");
    if (strcmp(run->model->type->name, "map") != 0)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "mappers on a GPU score by the built-in cost model"),
                             "leave out --evaluator or --gpu");
    return SX_OK;
}

/* Tells the run of mappings that were scored, and of the best of them where it is not NULL: the cost model must give it
 * the same value. */
static sx_status tell_run_counts(sx_run *run, uint64_t evaluations, uint64_t rejected, uint64_t legal,
                                 double value, const sx_mapping *mapping) {
    double by_model;
    sx_run_add(run, evaluations, legal, rejected, mapping);
    if (mapping && !run->failure && sx_run_incumbent(run, &by_model) && by_model != value)
        return sx_error_new(SX_ERR_INTERNAL, "the GPU scores a mapping %.17g, the CPU %.17g", value,
                            by_model);
    return SX_OK;
}

/* Tells the run of a step; the best, a compact point or a place in the tables, counts where it is better than the incumbent. */
static sx_status add_step(job *j, uint64_t evaluations, uint64_t rejected, const sx_gpu_found *found,
                          const sx_gpu_point *point) {
    double best;
    sx_mapping mapping;
    sx_run_incumbent(j->run, &best);
    bool better = found->best.value < best;
    if (better && point) sx_gpu_expand(sx_run_space(j->run), j->image, point, &mapping);
    if (better && !point) {
        sx_core_nest nest;
        sx_gpu_point_at(j->image, &found->best.at, &nest);
        sx_gpu_mapping_of(sx_run_space(j->run), &nest, &mapping);
    }
    return tell_run_counts(j->run, evaluations, rejected, found->counts.legal, found->best.value,
                           better ? &mapping : NULL);
}

/* Nothing found yet. */
static sx_gpu_found no_point(void) {
    return (sx_gpu_found){.best = {.value = INFINITY}};
}

static sx_status draw_points(job *j) {
    const uint64_t seed = sx_run_seed(j->run);
    for (uint64_t first = 0; sx_run_continue(j->run);) {
        uint64_t left = sx_run_left(j->run), n = left < DRAWS ? left : DRAWS;
        sx_gpu_found found = no_point();
        int code = j->module->draw(j->device, seed, first, n, &found, j->message);
        SX_TRY(sx_gpu_complaint(code, j->message));
        sx_gpu_point point;
        if (isfinite(found.best.value))
            sx_gpu_draw_again(j->image, seed, found.best.at.factorisation, &point);
        SX_TRY(add_step(j, n, 0, &found, &point));
        first += n;
    }
    return SX_OK;
}

/* Refuses a budget that does not suffice for one block of orders; *each: the mappings of one. */
static sx_status check_budget(const job *j, uint64_t *each) {
    *each = (uint64_t)SX_GPU_BLOCK_ORDERS * j->image->most_keeps;
    if (sx_run_left(j->run) >= *each) return SX_OK;
    return sx_error_hint(
        sx_error_new(SX_ERR_USAGE,
                     "%llu evaluations are too few for pruned on a GPU: it scores up to %llu at once",
                     (unsigned long long)sx_run_left(j->run), (unsigned long long)*each),
        "use --evals %llu or more", (unsigned long long)*each);
}

static sx_status prune_orders(job *j) {
    const uint64_t seed = sx_run_seed(j->run);
    uint64_t each, first = 0, n = FIRST_LIST, idle = 0;
    SX_TRY(check_budget(j, &each));
    while (idle < HOPELESS && sx_run_continue(j->run)) {
        uint64_t left = sx_run_left(j->run) / each, most = left < ITEMS ? left : ITEMS, listed = 0;
        sx_gpu_found found = no_point();
        if (most == 0) {
            sx_run_end(j->run, SX_STOP_EVALUATIONS);
            break;
        }
        int code = j->module->prune(j->device, seed, first, n, most, &listed, &found, j->message);
        SX_TRY(sx_gpu_complaint(code, j->message));
        if (listed > most) {
            n = n * most / (listed + 1) + 1;
            continue;
        }
        SX_TRY(add_step(j, found.counts.legal, n - listed, &found, NULL));
        first += n;
        idle = found.counts.legal ? 0 : idle + n;
        if (listed * 4 < most && n < SX_GPU_MEASURED) n *= 2;
    }
    return SX_OK;
}

enum { ISLANDS, EXCHANGE };

static const sx_setting gamma_settings[] = {
    [ISLANDS] = {"islands", "populations of 32 mappings, at most: a small budget has fewer", NULL, 2048, 1,
                 65536, SX_SETTING_WHOLE, NULL},
    [EXCHANGE] = {"exchange", "generations after which islands exchange their best", NULL, 16, 1, 1e6,
                  SX_SETTING_WHOLE, NULL},
};

/* As many islands as have GENERATIONS generations within the budget. */
static uint32_t count_islands(const sx_run *run) {
    enum { GENERATIONS = 256 };
    uint64_t fit = sx_run_left(run) / ((uint64_t)SX_GPU_ISLAND * GENERATIONS);
    uint64_t most = (uint64_t)sx_run_setting(run, ISLANDS);
    return (uint32_t)(fit < 1 ? 1 : fit < most ? fit : most);
}

/* The chances of the CPU's gamma, in parts of 2^16. */
static const sx_core_chances chances = {
    .order = 6554, .parallel = 6554, .levels = 32768, .keep = 6554, .tile = 65536, .shift = 52429};

static sx_status evolve_islands(job *j) {
    sx_gpu_epoch epoch = {.seed = sx_run_seed(j->run), .islands = count_islands(j->run), .chances = chances};
    const uint64_t each = (uint64_t)epoch.islands * SX_GPU_ISLAND;
    while (sx_run_continue(j->run)) {
        uint64_t left = sx_run_left(j->run) / each, most = (uint64_t)sx_run_setting(j->run, EXCHANGE);
        sx_gpu_found found = no_point();
        sx_gpu_point best;
        if (left == 0) {
            sx_run_end(j->run, SX_STOP_EVALUATIONS);
            break;
        }
        epoch.generations = (uint32_t)(left < most ? left : most);
        int code = j->module->evolve(j->device, &epoch, &found, &best, j->message);
        SX_TRY(sx_gpu_complaint(code, j->message));
        SX_TRY(add_step(j, each * epoch.generations, 0, &found, &best));
        epoch.first += epoch.generations;
    }
    return SX_OK;
}

/* Puts the image on the GPU and searches there. */
static sx_status search_with(sx_run *run, int parts, sx_status (*search)(job *)) {
    const sx_gpu_search *how = sx_run_user(run);
    job j = {.run = run};
    SX_TRY(check_run(run));
    SX_TRY(sx_gpu_image_new(sx_run_space(run), sx_run_objective(run), parts, &j.image));
    sx_status status = sx_gpu_module_find(how->gpu, &j.module);
    if (!status) status = sx_gpu_complaint(j.module->make(j.image, &j.device, j.message), j.message);
    if (!status) {
        sx_run_evaluate_starts(run, 0);
        status = search(&j);
    }
    if (j.device) j.module->end(j.device);
    free(j.image);
    return status;
}

static sx_status search_random(sx_run *run) {
    return search_with(run, SX_GPU_POINTS, draw_points);
}

static sx_status search_pruned(sx_run *run) {
    return search_with(run, SX_GPU_TABLES, prune_orders);
}

static sx_status search_gamma(sx_run *run) {
    return search_with(run, SX_GPU_POINTS, evolve_islands);
}

enum { LIMIT };

static const sx_setting exhaustive_settings[] = {
    [LIMIT] = {"limit", "reject spaces with more mappings than this", NULL, 1e15, 1, 1e18, SX_SETTING_WHOLE,
               NULL},
};

/* Tells how far an exhaustive search is; false where it is to stop. */
static bool go_on(void *user, uint64_t done, uint64_t all, const sx_gpu_found *found) {
    const sx_run *run = user;
    const sx_gpu_search *how = sx_run_user(run);
    if (how->progress) how->progress(how->user, done, all, found->best.value);
    return !sx_run_stopped(run);
}

/* The order in which mappings are scored is the GPU's own: the run learns of the best of all, in the end. */
static sx_status search_exhaustive(sx_run *run) {
    const sx_gpu_search *how = sx_run_user(run);
    sx_gpu_look_options options = {
        .gpu = how->gpu, .limit = sx_run_setting(run, LIMIT), .go_on = go_on, .user = run};
    sx_gpu_look_answer answer;
    double best;
    SX_TRY(check_run(run));
    if (run->options.evaluations || run->options.patience || run->options.target != 0)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "exhaustive on a GPU has no budget but time"),
                             "leave out --evals, --patience and --target");
    SX_TRY(sx_gpu_look_everywhere(sx_run_space(run), sx_run_objective(run), &options, &answer));
    sx_run_evaluate_starts(run, 0);
    sx_run_poll(run, 0);
    sx_run_incumbent(run, &best);
    bool better = answer.found && answer.value < best;
    SX_TRY(tell_run_counts(run, answer.counts.legal, 0, answer.counts.legal, answer.value,
                           better ? &answer.mapping : NULL));
    if (answer.complete) sx_run_optimal(run);
    return SX_OK;
}

static const sx_gpu_mapper mappers[] = {
    {"exhaustive",
     "gpu-exhaustive",
     {.space = "map",
      .complete = true,
      .settings = exhaustive_settings,
      .n_settings = 1,
      .search = search_exhaustive}},
    {"random", "gpu-random", {.space = "map", .search = search_random}},
    {"pruned", "gpu-pruned", {.space = "map", .search = search_pruned}},
    {"gamma",
     "gpu-gamma",
     {.space = "map", .settings = gamma_settings, .n_settings = 2, .search = search_gamma}},
};

const sx_gpu_mapper *sx_gpu_mapper_at(size_t index) {
    return index < sizeof mappers / sizeof *mappers ? &mappers[index] : NULL;
}

const sx_gpu_mapper *sx_gpu_mapper_find(const char *mapper) {
    const sx_gpu_mapper *entry;
    size_t length = strcspn(mapper, ":");
    for (size_t i = 0; (entry = sx_gpu_mapper_at(i)); i++)
        if (strlen(entry->name) == length && memcmp(entry->name, mapper, length) == 0) return entry;
    return NULL;
}
