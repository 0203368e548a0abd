/* Compiling a problem and an architecture into a model: checked once, laid out for speed. */
#include "model/sparse/density_range.h"
#include "model/sparse/formats.h"
#include "model/sparse/pass.h"

#include "base/status.h"
#include "ir/arch.h"
#include "model/latency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sets `pair` where ranks have at most two dimensions. */
static void set_pairs(sx_shape *shape) {
    shape->narrow = true;
    for (int r = 0; r < shape->n_ranks; r++) {
        int first = shape->first_term[r], n = shape->first_term[r + 1] - first;
        shape->narrow &= n <= 2;
        for (int i = 0; i < n && i < 2; i++) {
            shape->pair[r].dim[i] = shape->term[first + i].dim;
            shape->pair[r].reach[i] = (uint64_t)abs(shape->term[first + i].coef);
        }
    }
}

/* Lists the terms again by dimension. */
static void sort_by_dim(sx_shape *shape, int n_dims) {
    uint16_t n = 0;
    for (int d = 0; d < n_dims; d++) {
        shape->first_of_dim[d] = n;
        for (int i = 0; i < shape->n_terms; i++)
            if (shape->term[i].dim == d) shape->of_dim[n++] = shape->term[i];
    }
    shape->first_of_dim[n_dims] = n;
}

/* The terms of a tensor at most: its dimensions, rank by rank. */
static size_t count_terms(const sx_tensor *tensor, int n_dims) {
    size_t n = 0;
    for (int r = 0; r < tensor->n_ranks; r++)
        for (int d = 0; d < n_dims; d++) n += tensor->coef[r][d] != 0;
    return n;
}

/* Compiles a tensor, with its terms at `terms`. Dimensions of size 1 move nothing and are left out, and so are ranks
 * of nothing else: a
 * window of one is no window. A tensor of one word keeps its first rank, and a scalar has one without terms.
 */
static void compile_shape(sx_shape *shape, const sx_problem *problem, int tensor, struct sx_term *terms) {
    const sx_tensor *v = &problem->tensor[tensor];
    const bool single = sx_problem_words(problem, tensor) == 1;
    *shape = (sx_shape){.output = v->output, .unit = true, .simple = true};
    shape->term = terms;
    shape->of_dim = terms + count_terms(v, problem->n_dims);
    for (int rank = 0; rank < v->n_ranks; rank++) {
        int r = shape->n_ranks;
        for (int d = 0; d < problem->n_dims; d++) {
            if (v->coef[rank][d] == 0 || (problem->size[d] == 1 && (rank > 0 || !single))) continue;
            if (shape->dims >> d & 1) shape->simple = false;
            if (v->coef[rank][d] != 1) shape->unit = false;
            shape->dims |= (uint16_t)(1u << d);
            shape->term[shape->n_terms++] = (struct sx_term){(uint8_t)r, (uint8_t)d, v->coef[rank][d]};
        }
        if (shape->n_terms == shape->first_term[r]) continue;
        shape->first_term[r + 1] = shape->n_terms;
        shape->n_ranks++;
    }
    if (v->n_ranks == 0) shape->n_ranks = 1;
    sort_by_dim(shape, problem->n_dims);
    set_pairs(shape);
    for (int r = 0; r < shape->n_ranks && shape->n_terms; r++) {
        int d = shape->term[shape->first_term[r]].dim;
        bool alone = shape->first_term[r + 1] - shape->first_term[r] == 1;
        if (alone && shape->first_of_dim[d + 1] - shape->first_of_dim[d] == 1)
            shape->solo |= (uint16_t)(1u << d);
        else
            shape->mixed[shape->n_mixed++] = (uint8_t)r;
    }
    shape->plain = shape->n_mixed == 0;
    shape->unit &= shape->plain;
}

/* What a tensor's use of a level's bandwidth is multiplied by. */
static double bandwidth_scale(const sx_storage *from, const sx_problem *problem, int tensor) {
    for (int i = 0; i < from->n_scales; i++)
        if (sx_problem_tensor(problem, from->bandwidth_scale[i].tensor) == tensor)
            return from->bandwidth_scale[i].scale;
    return 1;
}

/* Sets what elements of a tensor take of a level's words and accesses. */
static void size_elements(const sx_model *model, const sx_storage *from, int v, sx_level *to) {
    uint32_t bits = sx_element_bits(from, &model->problem->tensor[v]);
    bool sized = bits != from->word_bits;
    to->sized |= sized;
    to->element[v] = sized ? bits : 1;
    to->word[v] = sized ? from->word_bits : 1;
    to->vector[v] = to->word[v] * from->block_size;
    uint64_t vector = (uint64_t)to->vector[v];
    if ((vector & (vector - 1)) == 0) to->per_vector[v] = to->element[v] / to->vector[v];
    to->scale[v] = bandwidth_scale(from, model->problem, v) * sx_level_width(to, v);
}

/* The words that tiles may take at a level. */
static double usable_words(const sx_model *model, int s) {
    double words = sx_usable_words(&model->arch->level[s]);
    return model->options.latency_tile ? floor(words / sx_latency_slots(model->arch, s)) : words;
}

static void compile_level(sx_model *model, int s) {
    const sx_arch *arch = model->arch;
    const sx_storage *from = &arch->level[s];
    sx_level *to = &model->level[s];
    *to = (sx_level){
        .effective = usable_words(model, s),
        .mesh_x = from->mesh_x,
        .mesh_y = from->mesh_y,
        .instances = from->instances,
        .clusters = from->instances / from->cluster_size,
        .fanout_x = sx_arch_fanout_x(arch, s),
        .fanout_y = sx_arch_fanout_y(arch, s),
        .read_bandwidth = from->read_bandwidth,
        .write_bandwidth = from->write_bandwidth,
        .shared_bandwidth = from->shared_bandwidth,
        .read_energy = from->read_energy,
        .fill_energy = from->fill_energy,
        .update_energy = from->update_energy,
        .leak_energy = from->leak_energy,
        .addr_gen_energy = from->addr_gen_energy,
        .energy_per_hop = from->energy_per_hop,
        .router_energy = from->router_energy,
        .gate = (uint8_t)s,
        .banks = from->banks,
        .reduces = from->reduction_supported,
        .transparent = from->transparent,
        .net_energy = from->energy_per_hop > 0 || from->router_energy > 0,
    };
    to->bounded = from->read_bandwidth < INFINITY || from->write_bandwidth < INFINITY ||
                  from->shared_bandwidth < INFINITY;
    if (from->entries != SX_UNLIMITED) {
        to->limited = true;
        to->minimum = to->effective * from->min_utilization;
        if (from->banks) to->bank_words = to->effective / from->banks;
    }
    if (from->power_gated_at >= 0) {
        double share = (double)from->instances / (double)arch->level[from->power_gated_at].instances;
        to->gate = (uint8_t)from->power_gated_at;
        if (share > 1) to->leak_share = share;
    }
    for (int v = 0; v < model->n_tensors; v++) size_elements(model, from, v, to);
}

void sx_model_options_init(sx_model_options *options) {
    *options = (sx_model_options){0};
}

bool sx_model_prefers_timeloop(const sx_problem *problem, const sx_arch *arch) {
    if (!arch->sparse.timeloop || problem->n_tensors != 3) return false;
    for (int v = 0; v < problem->n_tensors; v++)
        if (problem->tensor[v].density_model >= SX_DENSITY_BANDED) return false;
    return true;
}

/* Allocates a model with room for `terms` terms at *term. */
static sx_model *allocate_model(const sx_problem *problem, const sx_arch *arch, size_t terms,
                                struct sx_term **term) {
    const size_t n_levels = arch->n_levels, n_tensors = problem->n_tensors;
    sx_model *model =
        calloc(1, sizeof *model + n_levels * sizeof *model->level + n_tensors * sizeof *model->shape +
                      sizeof *arch + sizeof *problem + terms * sizeof **term);
    if (!model) return NULL;
    model->level = (sx_level *)(model + 1);
    model->shape = (sx_shape *)(model->level + n_levels);
    model->arch = (sx_arch *)(model->shape + n_tensors);
    model->problem = (sx_problem *)(model->arch + 1);
    *term = (struct sx_term *)(model->problem + 1);
    return model;
}

/* Says of each level which tensors it holds in a format. */
static void pack_model(sx_model *model) {
    for (int s = 0; s < model->n_levels && model->sparse; s++)
        for (int v = 0; v < model->n_tensors; v++) {
            if (!model->sparse->format[s][v]) continue;
            model->level[s].packed[v] = &model->sparse->density[v];
            model->level[s].packs = true;
        }
}

/* Sets what zeros leave of accesses and computes at the least. */
static void set_least(sx_model *model) {
    model->least_steps = model->least_leak = 1;
    model->least_compute_energy = model->compute_energy;
    for (int s = 0; s < model->n_levels; s++)
        for (int v = 0; v < model->n_tensors; v++) model->least[s][v] = 1;
    if (model->sparse) sx_sparse_least(model);
    memcpy(model->least_use, model->least, sizeof model->least_use);
}

/* Compiles the laws of the tile pipeline. */
static sx_status compile_law(sx_model *model) {
    SX_TRY(sx_latency_compile(model, &model->law));
    if (!model->law || (!model->sparse && !model->options.densities.n && !model->options.formats.kinds))
        return SX_OK;
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "the latency of the tile pipeline is for dense tensors"),
                         "leave out --latency tile, or the densities and formats");
}

/* Compiles a model of the problem's own densities. */
static sx_status compile_model(const sx_problem *problem, const sx_arch *arch,
                               const sx_model_options *options, sx_model **out) {
    SX_TRY(sx_problem_check(problem));
    SX_TRY(sx_arch_check(arch));
    size_t terms = 0;
    for (int v = 0; v < problem->n_tensors; v++) terms += count_terms(&problem->tensor[v], problem->n_dims);
    struct sx_term *term;
    sx_model *model = allocate_model(problem, arch, 2 * terms, &term);
    if (!model) return sx_error_memory();
    *model->problem = *problem;
    *model->arch = *arch;
    if (options) model->options = *options;
    model->guard = &model->own_guard;
    model->n_levels = arch->n_levels;
    model->n_dims = problem->n_dims;
    model->n_tensors = problem->n_tensors;
    memcpy(model->size, problem->size, sizeof model->size);
    for (int d = 0; d < model->n_dims; d++) model->ones[d] = 1;
    for (int v = 0; v < problem->n_tensors; v++) {
        compile_shape(&model->shape[v], problem, v, term);
        term += 2 * count_terms(&problem->tensor[v], problem->n_dims);
        model->words[v] = sx_problem_words(problem, v);
    }
    for (int s = 0; s < arch->n_levels; s++) {
        compile_level(model, s);
        model->net_energy |= model->level[s].net_energy;
        model->latency += arch->level[s].fill_latency + arch->level[s].drain_latency;
    }
    model->computes = sx_problem_computes(problem);
    model->compute_x = arch->compute.mesh_x;
    model->compute_y = arch->compute.mesh_y;
    model->compute_instances = arch->compute.instances;
    model->compute_energy = arch->compute.energy;
    sx_status status = sx_sparse_compile(model, &model->sparse);
    if (!status && model->options.latency_tile) status = compile_law(model);
    if (status) {
        sx_model_free(model);
        return status;
    }
    pack_model(model);
    set_least(model);
    *out = model;
    return SX_OK;
}

void sx_model_share_guard(sx_model *model, sx_guard *guard) {
    model->guard = guard;
    for (int i = 0; model->range && i < model->range->n; i++)
        sx_model_share_guard(model->range->model[i], guard);
    for (int i = 0; model->formats && i < model->formats->n; i++)
        sx_model_share_guard(model->formats->model[i], guard);
}

sx_status sx_model_new(const sx_problem *problem, const sx_arch *arch, const sx_model_options *options,
                       sx_model **out) {
    bool range = options && options->densities.n;
    sx_problem densest = *problem;
    if (range)
        SX_TRY(sx_density_range_apply(&options->densities, sx_range_densest(&options->densities), &densest));
    sx_model *model;
    SX_TRY(compile_model(&densest, arch, options, &model));
    sx_status status = range ? sx_range_compile(model) : SX_OK;
    if (!status && options && options->formats.kinds) status = sx_formats_compile(model);
    if (status) {
        sx_model_free(model);
        return status;
    }
    sx_model_share_guard(model, &model->own_guard);
    *out = model;
    return SX_OK;
}

void sx_model_free(sx_model *model) {
    if (!model) return;
    sx_formats_free(model->formats);
    sx_range_free(model->range);
    sx_sparse_model_free(model->sparse);
    free(model->law);
    free(model);
}

const sx_problem *sx_model_problem(const sx_model *model) {
    return model->problem;
}

const sx_arch *sx_model_arch(const sx_model *model) {
    return model->arch;
}
