#include "session/fuse_inner.h"

#include "base/clock.h"
#include "base/status.h"
#include "ir/arch.h"
#include "model/delivery.h"
#include "model/latency.h"
#include "sextant/all.h"
#include "sextant/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the time that is left, the share that one inner optimum may take. */
static const double TIME_SHARE = 0.125;

/* The mapper of inner optima where the session's proves its answers; the first two give bounds and a mapping at once. Without a
 * search bounds of cycles are far below: the median of EDP over its bound is 2.1 for cut layers of MobileNet v2 on
 * eyeriss, and 1.02 with 50,000 steps, which take half as long again. */
#define SKETCH_MAPPER "optimal:gamma=0,sunstone=0,effort=0.0001"
#define SKETCH_MAPPER_CYCLES "optimal:gamma=0,sunstone=0,effort=0.05"
#define SEARCH_MAPPER "optimal:gamma=0"
/* Sunstone's mappings are better than random descents: for the same cut layers, with 50,000 steps, the median of EDP over the best
 * known falls from 1.11 to 1.00. */
#define POLISH_MAPPER "optimal:gamma=0,effort=0.2"

/* What the callbacks of an inner session need. */
typedef struct cut_layer {
    const sx_fuse_searcher *searcher;
    const sx_cut *cut;
} cut_layer;

/* The constraints of the machine itself, made those of the cut machine. */
static sx_status constrain_cut(void *user, const sx_problem *problem, const sx_arch *arch,
                               sx_constraints *out) {
    const cut_layer *layer = user;
    const sx_fuse_searcher *s = layer->searcher;
    const sx_session_options *o = s->options;
    (void)arch;
    sx_constraints *from = malloc(sizeof *from);
    if (!from) return sx_error_memory();
    sx_constraints_init(from, problem, s->arch);
    sx_status status = o->constraints ? o->constraints(o->user, problem, s->arch, from) : SX_OK;
    if (!status) sx_cut_constraints(s->arch, from, s->exchange, layer->cut, out);
    free(from);
    return status;
}

sx_status sx_fuse_constrained(const sx_fuse_searcher *searcher, const sx_network *network, bool *out) {
    const sx_session_options *o = searcher->options;
    *out = false;
    sx_constraints *given = calloc(2, sizeof *given);
    sx_status status = given ? SX_OK : sx_error_memory();
    for (size_t i = 0; i < network->n_layers && o->constraints && !status && !*out; i++) {
        const sx_problem *problem = &network->layer[i].problem;
        sx_constraints_init(&given[0], problem, searcher->arch);
        given[1] = given[0];
        status = o->constraints(o->user, problem, searcher->arch, &given[1]);
        *out = memcmp(&given[0], &given[1], sizeof *given) != 0;
    }
    free(given);
    return status;
}

/* The cut machine; freed with free(). */
static sx_status cut_machine(const sx_fuse_searcher *s, const sx_cut *cut, sx_arch **out) {
    *out = malloc(sizeof **out);
    if (!*out) return sx_error_memory();
    sx_cut_arch(s->arch, s->exchange, cut, *out);
    return SX_OK;
}

/* Bytes of a tensor to and from the outermost level. */
static double outermost_bytes(const sx_problem *problem, const sx_arch *arch, int level, const sx_cost *cost,
                              int tensor) {
    const sx_cost_tensor *t = &cost->level[level].tensor[tensor];
    if (!t->kept) return 0;
    return sx_element_bits(&arch->level[level], &problem->tensor[tensor]) / 8.0 *
           ((double)t->reads + (double)t->fills + (double)t->updates);
}

/* The words of a memory that the tiles of a mapping take. */
static uint64_t tile_words(const sx_problem *problem, const sx_arch *arch, const sx_cost *cost, int level) {
    uint64_t words = 0;
    for (int v = 0; v < problem->n_tensors; v++) {
        const sx_cost_tensor *t = &cost->level[level].tensor[v];
        if (t->kept)
            words += (uint64_t)sx_element_words(&arch->level[level], &problem->tensor[v], (double)t->tile);
    }
    return words;
}

/* Sets what is asked for of a cost. */
static void set_figures(const sx_fuse_searcher *s, const sx_problem *problem, const sx_arch *arch,
                        const sx_cut *cut, const sx_cost *cost, sx_score *score, uint64_t used[2],
                        double *bytes) {
    if (score) *score = sx_cut_score(problem, arch, s->exchange, cut, cost);
    if (used) used[0] = tile_words(problem, arch, cost, s->exchange);
    if (used) used[1] = s->second >= 0 ? tile_words(problem, arch, cost, s->second) : 0;
    for (int v = 0; v < problem->n_tensors && bytes; v++)
        bytes[v] = outermost_bytes(problem, arch, sx_cut_outermost(arch, cut), cost, v);
    if (used && s->options->model.latency_tile)
        used[0] = (uint64_t)ceil((double)used[0] * sx_latency_slots(arch, s->exchange));
}

/* Counts a mapping by the model, or by execution. */
static sx_status count_mapping(const sx_fuse_searcher *s, const sx_problem *problem, const sx_arch *arch,
                               const sx_mapping *mapping, sx_verdict *verdict, sx_cost *cost) {
    const sx_model_options *options = &s->options->model;
    sx_model *model = NULL;
    sx_model_workspace *workspace = NULL;
    if (s->steps) return sx_simulate(problem, arch, mapping, options, s->steps, verdict, cost);
    sx_status status = sx_model_new(problem, arch, options, &model);
    if (!status) status = sx_model_workspace_new(model, &workspace);
    if (!status) *verdict = sx_evaluate(workspace, mapping, cost);
    if (!status) status = sx_verdict_status(verdict, problem, arch);
    sx_model_workspace_free(workspace);
    sx_model_free(model);
    return status;
}

sx_status sx_fuse_evaluate(const sx_fuse_searcher *searcher, const sx_problem *problem, const sx_cut *cut,
                           const sx_mapping *mapping, sx_score *score, uint64_t used[2],
                           double bytes[SX_MAX_TENSORS], char illegal[SX_WHY_SIZE]) {
    sx_arch *arch = NULL;
    sx_verdict verdict = {0};
    sx_cost *cost = malloc(sizeof *cost);
    sx_status status = cost ? cut_machine(searcher, cut, &arch) : sx_error_memory();
    if (!status) status = count_mapping(searcher, problem, arch, mapping, &verdict, cost);
    if (!status && verdict.reason != SX_LEGAL && !illegal)
        status = sx_error_new(SX_ERR_INTERNAL, "the mapping of a fused layer is illegal: %s",
                              sx_reason_name(verdict.reason));
    if (!status && verdict.reason != SX_LEGAL)
        sx_verdict_text(&verdict, problem, arch, illegal, SX_WHY_SIZE);
    else if (!status)
        set_figures(searcher, problem, arch, cut, cost, score, used, bytes);
    free(arch);
    free(cost);
    return status;
}

sx_status sx_fuse_proof(const sx_fuse_searcher *s, const sx_problem *problem, const sx_cut *cut,
                        const sx_layer_result *result, char **out) {
    const cut_layer layer = {s, cut};
    sx_arch *arch = NULL;
    sx_certificate *certificate = NULL;
    sx_constraints *limits = malloc(sizeof *limits);
    sx_status status = limits ? cut_machine(s, cut, &arch) : sx_error_memory();
    if (!status) status = constrain_cut((void *)&layer, problem, arch, limits);
    const sx_certified_space of = {problem, arch, limits, s->options, NULL, NULL};
    if (!status) status = sx_layer_certificate(result, &of, &certificate);
    if (!status) status = sx_certificate_write(certificate, out);
    sx_certificate_free(certificate);
    free(limits);
    free(arch);
    return status;
}

/* Copies out what an inner session found. */
static sx_status take_answer(const sx_fuse_searcher *s, const sx_problem *problem, const sx_cut *cut,
                             const sx_layer_result *result, sx_inner_answer *out) {
    out->stopped = result->summary.stop == SX_STOP_SIGNAL || result->summary.stop == SX_STOP_TIME;
    out->stopped |= !result->found && !result->summary.none;
    out->found = result->found;
    if (!result->found) return SX_OK;
    out->mapping = result->best.mapping;
    out->bound = result->summary.optimal ? result->best.value : result->summary.lower_bound;
    if (result->proof) SX_TRY(sx_fuse_proof(s, problem, cut, result, &out->proof));
    uint64_t used[2];
    SX_TRY(sx_fuse_evaluate(s, problem, cut, &out->mapping, &out->score, used, NULL, NULL));
    out->used = used[0];
    out->used_second = used[1];
    return SX_OK;
}

/* The mapper of a short search. */
static const char *sketch_mapper(const sx_objective *objective) {
    return objective->criterion[0].delay_power > 0 ? SKETCH_MAPPER_CYCLES : SKETCH_MAPPER;
}

sx_status sx_fuse_search_inner(void *user, const sx_problem *problem, const sx_cut *cut,
                               sx_inner_effort effort, sx_inner_answer *out) {
    const sx_fuse_searcher *s = user;
    const sx_fuse_at at = {cut, s->exchange, s->second};
    cut_layer layer = {s, cut};
    sx_layer one = {.name = "fused", .count = 1, .problem = *problem};
    memcpy(one.problem.name, one.name, sizeof one.name);
    const sx_network network = {.name = "fused", .n_layers = 1, .layer = &one};
    sx_session_options o = *s->options;
    sx_session_result result = {0};
    sx_arch *arch = NULL;
    const bool proves = strncmp(o.mapper, "auto", 4) == 0 || strncmp(o.mapper, "optimal", 7) == 0;
    if (!proves && effort == SX_INNER_SEARCH) {
        out->stopped = true;
        return SX_OK;
    }
    if (s->memo && sx_fuse_memo_find(s->memo, problem, &at, effort, out)) return SX_OK;
    if (proves) o.mapper = effort == SX_INNER_SEARCH ? SEARCH_MAPPER : sketch_mapper(&o.run.objective);
    if (proves && s->polish) o.mapper = POLISH_MAPPER;
    if (effort == SX_INNER_SKETCH) o.run.threads = 1;
    o.widen = false;
    o.once = true;
    o.run.seconds = s->until > 0 ? fmax(1e-3, TIME_SHARE * (s->until - sx_clock_seconds())) : 0;
    o.run.k_best = 1;
    o.run.pareto = false;
    o.run.progress = NULL;
    if (effort == SX_INNER_SKETCH) o.store = NULL;
    o.checkpoint = NULL;
    o.layer_begins = NULL;
    o.layer_ends = NULL;
    o.constraints = constrain_cut;
    o.user = &layer;
    SX_TRY(cut_machine(s, cut, &arch));
    sx_status status = sx_session_run(&network, arch, &o, &result);
    if (!status) status = take_answer(s, problem, cut, &result.layer[0], out);
    if (!status && s->memo && !out->stopped) status = sx_fuse_memo_add(s->memo, problem, &at, effort, out);
    sx_session_result_fini(&result);
    free(arch);
    return status;
}

/* Where a cut layer's tensors are at the outermost, in the machine cut for those of the first memory: the level of what stays has
 * the energies and ports of the memory itself. */
static sx_model_home homes_of(const sx_arch *arch, const sx_problem *problem, int exchange,
                              const sx_cut *cut) {
    const unsigned built = sx_arch_keep_mask(arch, arch->n_levels - 1, problem);
    sx_model_home home = {.found = cut->found};
    for (int v = 0; v < problem->n_tensors; v++) {
        int level = built >> v & 1 ? arch->n_levels - 1 : -1;
        if (cut->resident >> v & 1) level = exchange + 1;
        if (cut->second >> v & 1) level = cut->second_level;
        home.level[v] = (int8_t)level;
    }
    return home;
}

sx_status sx_fuse_inner_least(void *user, const sx_problem *problem, const sx_cut *cut, sx_score *out) {
    const sx_fuse_searcher *s = user;
    sx_arch *arch = NULL;
    sx_model *model = NULL;
    sx_cut first = *cut;
    first.second = 0;
    sx_status status = cut_machine(s, &first, &arch);
    if (!status) status = sx_model_new(problem, arch, &s->options->model, &model);
    if (!status) {
        const sx_model_home home = homes_of(arch, problem, s->exchange, cut);
        *out = sx_model_minimum_at(model, &home);
    }
    sx_model_free(model);
    free(arch);
    return status;
}

sx_status sx_fuse_least_anywhere(const sx_fuse_searcher *searcher, const sx_problem *problem, sx_score *out) {
    sx_model *model = NULL;
    sx_status status = sx_model_new(problem, searcher->arch, &searcher->options->model, &model);
    if (!status) *out = sx_model_minimum(model, 0);
    sx_model_free(model);
    return status;
}

sx_status sx_fuse_search_power(void *user, const sx_problem *problem, const sx_cut *cut, double power,
                               sx_inner_effort effort, sx_inner_answer *out) {
    const sx_fuse_searcher *s = user;
    sx_session_options options = *s->options;
    sx_fuse_searcher other = *s;
    sx_criterion *first = &options.run.objective.criterion[0];
    first->energy_power = power;
    first->delay_power = 1 - power;
    options.run.proof = false;
    options.store = NULL;
    other.polish = effort == SX_INNER_SEARCH;
    other.options = &options;
    other.memo = NULL;
    return sx_fuse_search_inner(&other, problem, cut, SX_INNER_SKETCH, out);
}

sx_status sx_fuse_inner_minimum(void *user, const sx_problem *problem, const sx_cut *cut, double *out) {
    const sx_fuse_searcher *s = user;
    sx_score least;
    SX_TRY(sx_fuse_inner_least(user, problem, cut, &least));
    *out = sx_objective_value(&s->options->run.objective, &least);
    return SX_OK;
}

/* Whether an access to the outermost memory costs no less than one to the exchange memory, which has no cost but its accesses. */
static bool costs_less(const sx_arch *arch, const sx_storage *exchange) {
    const sx_storage *outer = &arch->level[arch->n_levels - 1];
    for (int s = 0; s < arch->n_levels; s++)
        if (arch->level[s].leak_energy > 0) return false;
    return exchange->energy_per_hop == 0 && exchange->router_energy == 0 &&
           exchange->word_bits == outer->word_bits && exchange->block_size >= outer->block_size &&
           exchange->reduction_supported >= outer->reduction_supported &&
           exchange->read_energy <= outer->read_energy && exchange->update_energy <= outer->update_energy &&
           exchange->addr_gen_energy <= outer->addr_gen_energy;
}

/* A tensor that is not in the exchange memory passes it, so that each word is moved once between the memories, or bypasses it, so
 * that accesses which would be there are to the outermost memory. Either costs the difference of an access to the two,
 * or more, for every word. The mapping takes no fewer cycles than it does with the tensor there, if what stays there uses no
 * bandwidth: every other level moves no more words then. */
sx_status sx_fuse_inner_relax(void *user, const sx_problem *problem, sx_cut *cut, double *more) {
    const sx_fuse_searcher *s = user;
    const sx_storage *outer = &s->arch->level[s->arch->n_levels - 1], *memory = &s->arch->level[s->exchange];
    const unsigned added =
        sx_arch_keep_mask(s->arch, s->exchange, problem) & ~((unsigned)cut->resident | cut->second);
    sx_model *model = NULL;
    if (!added || !costs_less(s->arch, memory)) return SX_OK;
    SX_TRY(sx_model_new(problem, s->arch, &s->options->model, &model));
    for (int v = 0; v < problem->n_tensors; v++) {
        const bool output = problem->tensor[v].output;
        if (!(added >> v & 1)) continue;
        const double words = sx_element_words(outer, &problem->tensor[v], sx_model_touched(model, v));
        *more += words * (outer->addr_gen_energy - memory->addr_gen_energy) +
                 words / memory->block_size *
                     (output ? outer->update_energy - memory->update_energy
                             : outer->read_energy - memory->read_energy);
    }
    cut->resident |= (uint8_t)added;
    cut->free_port = s->options->run.objective.criterion[0].delay_power > 0;
    sx_model_free(model);
    return SX_OK;
}
