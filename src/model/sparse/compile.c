/* Compiling the sparse optimizations of an architecture for one problem. */
#include "model/sparse/pass.h"

#include "base/status.h"
#include "ir/arch.h"
#include "model/sparse/check_pool.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The dimension of a name, in capitals or not; -1 where there is none. */
static int dim_of(const sx_problem *problem, const char *name) {
    int found = sx_problem_dim(problem, name);
    for (int d = 0; d < problem->n_dims && found < 0; d++)
        if (strcasecmp(problem->dim_name[d], name) == 0) found = d;
    return found;
}

/* The dimensions of a problem that a set of names holds. */
static uint16_t dims_of(const sx_sparse *sparse, uint32_t set, const sx_problem *problem) {
    unsigned mask = 0;
    for (int i = 0; i < sparse->n_names; i++) {
        int d = set >> i & 1 ? dim_of(problem, sparse->name[i]) : -1;
        if (d >= 0) mask |= 1u << d;
    }
    return (uint16_t)mask;
}

/* The tensors of a problem that a set of names holds. */
static uint8_t tensors_of(const sx_sparse *sparse, uint32_t set, const sx_problem *problem) {
    unsigned mask = 0;
    for (int i = 0; i < sparse->n_names; i++) {
        int v = set >> i & 1 ? sx_problem_tensor(problem, sparse->name[i]) : -1;
        if (v >= 0) mask |= 1u << v;
    }
    return (uint8_t)mask;
}

static void compile_format(const sx_model *model, const sx_tensor_format *from, sx_format_model *to) {
    const sx_sparse *sparse = &model->arch->sparse;
    *to = (sx_format_model){
        .n_ranks = from->n_ranks, .inner_to_outer = from->inner_to_outer, .first = from->first};
    for (int r = 0; r < from->n_ranks; r++) {
        const sx_rank_format *rank = &sparse->rank[from->first + r];
        sx_rank_model *out = &to->rank[r];
        out->kind = rank->kind;
        out->n_flattened = rank->n_flattened;
        for (int i = 0; i < rank->n_flattened; i++)
            out->flattened[i] = dims_of(sparse, rank->flattened[i], model->problem);
        (void)sx_rank_bits(&model->arch->level[from->level].metadata, rank, out->bits);
        to->compressed |= sx_rank_compressed((sx_rank_kind)rank->kind);
    }
}

/* Adds an action; options of tensors that the problem does not have are left out. */
static void compile_action(const sx_model *model, const sx_sparse_action *from, struct sx_sparse_model *out) {
    const sx_sparse *sparse = &model->arch->sparse;
    sx_action_model *to = &out->action[out->n_actions];
    *to = (sx_action_model){.level = from->level, .skips = from->skips};
    for (int i = 0; i < from->n_options; i++) {
        int target = sx_problem_tensor(model->problem, sparse->name[from->option[i].target]);
        uint8_t on = tensors_of(sparse, from->option[i].on, model->problem);
        if (target < 0 || !on) continue;
        to->option[to->n_options].target = (uint8_t)target;
        to->option[to->n_options++].on = on;
    }
    if (to->n_options) out->n_actions++;
    out->chooses |= to->n_options > 1;
    if (to->n_options != 1) return;
    out->on[to->level][to->option[0].target] |= to->option[0].on;
    out->skips_on[to->level][to->option[0].target] |= to->skips;
}

/* Compiles what accesses to a level cost. */
static void compile_level(const sx_model *model, int s, sx_sparse_level *out) {
    const sx_storage *from = &model->arch->level[s];
    const sx_level *level = &model->level[s];
    const sx_metadata_store *store = &from->metadata;
    double bits = (double)store->depth * store->width / from->multiple_buffering;
    *out = (sx_sparse_level){.width = store->width,
                             .word_bits = from->word_bits,
                             .metadata_limit = from->entries == SX_UNLIMITED ? INFINITY : floor(bits),
                             .compression_energy = store->compression_energy,
                             .decompression_energy = store->decompression_energy};
    memcpy(out->energy, store->data_energy, sizeof out->energy);
    memcpy(out->metadata_energy, store->metadata_energy, sizeof out->metadata_energy);
    out->energy[SX_RANDOM][SX_READ] = level->read_energy;
    out->energy[SX_RANDOM][SX_FILL] = level->fill_energy;
    out->energy[SX_RANDOM][SX_UPDATE] = level->update_energy;
    for (int kind = SX_GATED; kind < SX_N_ACTION_KINDS; kind++) {
        bool costs = kind == SX_GATED && (level->bounded || level->addr_gen_energy != 0);
        for (int a = 0; a < SX_N_ACCESSES; a++)
            costs |= out->energy[kind][a] != 0 || out->metadata_energy[kind][a] != 0;
        out->free[kind] = !costs;
    }
}

/* Whether the formats of a tensor fit in one another, whatever levels keep it. */
static bool is_nested(const sx_model *model, const struct sx_sparse_model *sparse, int v) {
    for (int s = 0; s < model->n_levels; s++)
        for (int outer = s + 1; outer < model->n_levels; outer++)
            if (sx_sparse_hand_over(model, v, sparse->format[outer][v], s, sparse->format[s][v]) != SX_LEGAL)
                return false;
    return true;
}

/* The bits of metadata that a word of a tile takes at the most: a coordinate and a payload at each rank, as
 * non-zeros are no more than words. Of other ranks than those of coordinates nothing is said. */
static double most_bits(const sx_format_model *format) {
    double bits = 0;
    for (int r = 0; r < format->n_ranks; r++) {
        const sx_rank_model *rank = &format->rank[r];
        if (rank->kind != SX_RANK_CP && rank->kind != SX_RANK_RLE) return INFINITY;
        bits += (double)rank->bits[0] + rank->bits[1];
    }
    return bits;
}

/* Compiles formats, and says of each level which tensors it packs. */
static void compile_formats(const sx_model *model, struct sx_sparse_model *out) {
    const sx_sparse *sparse = &model->arch->sparse;
    for (int i = 0; i < sparse->n_formats; i++) {
        const sx_tensor_format *f = &sparse->format[i];
        int v = sx_problem_tensor(model->problem, sparse->name[f->tensor]);
        if (v < 0 || out->format[f->level][v]) continue;
        compile_format(model, f, &out->formats[i]);
        const sx_rank_model *top = &out->formats[i].rank[f->n_ranks - 1];
        unsigned first = 0; /* the first list that has a dimension of the tensor */
        for (int k = 0; k < top->n_flattened && !first; k++) first = top->flattened[k] & out->dims[v];
        out->formats[i].whole = !f->inner_to_outer && first == out->dims[v];
        out->formats[i].most_bits = out->timeloop ? INFINITY : most_bits(&out->formats[i]);
        out->format[f->level][v] = &out->formats[i];
        out->formatted = true;
    }
}

/* Sets the density of a tensor whose non-zeros have known places. */
static sx_status place_nonzeros(const sx_model *model, int v, struct sx_sparse_model *out) {
    const sx_tensor *tensor = &model->problem->tensor[v];
    sx_density_model kind = (sx_density_model)tensor->density_model;
    if (out->timeloop)
        return sx_error_hint(sx_error_new(SX_ERR_INPUT, "Timeloop's semantics has no %s density, as '%s' has",
                                          sx_density_model_name(kind), tensor->name),
                             "use --sparse-semantics exact");
    SX_TRY(sx_positions_new(model->problem, v, &out->placed[v]));
    out->density[v] = sx_density_placed(kind, out->placed[v]);
    out->any_placed = true;
    return SX_OK;
}

/* Sets densities. Timeloop takes an output for dense unless its density is given. */
static sx_status compile_densities(const sx_model *model, struct sx_sparse_model *out) {
    for (int v = 0; v < model->n_tensors; v++) {
        const sx_tensor *tensor = &model->problem->tensor[v];
        out->density[v] =
            sx_density_make((sx_density_model)tensor->density_model, tensor->density, model->words[v]);
        if (tensor->density_model >= SX_DENSITY_BANDED) SX_TRY(place_nonzeros(model, v, out));
        for (int r = 0; r < tensor->n_ranks; r++)
            for (int d = 0; d < model->n_dims; d++)
                if (tensor->coef[r][d]) out->dims[v] |= (uint16_t)(1u << d);
        const sx_shape *shape = &model->shape[v];
        if (shape->simple) out->windows[v] = shape->dims & (uint16_t)~shape->solo;
    }
    int output = sx_problem_output(model->problem);
    double density;
    if (out->timeloop || out->density[output].model != SX_DENSITY_NONE) return SX_OK;
    SX_TRY(sx_output_density(model, out, output, &density));
    if (density >= 1) return SX_OK;
    out->density[output] = sx_density_make(SX_DENSITY_HYPERGEOMETRIC, density, model->words[output]);
    out->density[output].word = density; /* not a whole number of non-zeros */
    return SX_OK;
}

void sx_sparse_model_free(struct sx_sparse_model *sparse) {
    if (!sparse) return;
    for (int v = 0; v < SX_MAX_TENSORS; v++) sx_positions_free(sparse->placed[v]);
    sx_check_pool_free(sparse->checks);
    free(sparse);
}

sx_status sx_sparse_compile(const sx_model *model, struct sx_sparse_model **out) {
    const sx_sparse *sparse = &model->arch->sparse;
    *out = NULL;
    if (!sx_sparse_active(sparse)) return SX_OK;
    struct sx_sparse_model *made = calloc(1, sizeof *made);
    if (!made) return sx_error_memory();
    made->timeloop = model->options.sparse_timeloop;
    made->gates = sparse->gates_compute;
    made->skips = sparse->skips_compute;
    made->checks = sx_check_pool_new();
    sx_status status = made->checks ? compile_densities(model, made) : sx_error_memory();
    if (status) {
        sx_sparse_model_free(made);
        return status;
    }
    compile_formats(model, made);
    for (int i = 0; i < sparse->n_actions; i++) compile_action(model, &sparse->action[i], made);
    for (int s = 0; s < model->n_levels; s++) compile_level(model, s, &made->level[s]);
    for (int v = 0; v < model->n_tensors; v++) {
        if (sx_density_of_word(&made->density[v]) < 1) made->thin |= (uint8_t)(1u << v);
        if (is_nested(model, made, v)) made->nested |= (uint8_t)(1u << v);
        unsigned packed = 0;
        for (int s = 0; s < model->n_levels; s++)
            packed |= made->format[s][v] && made->format[s][v]->compressed ? 1 : 2;
        if (packed == 3) made->converts |= (uint8_t)(1u << v);
    }
    if (made->formatted || made->n_actions || made->gates || made->skips)
        *out = made;
    else
        sx_sparse_model_free(made);
    return SX_OK;
}

/* What is left of accesses to a tensor whatever the mapping: tiles on which they depend have a word at least. */
static double least_effectual(const struct sx_sparse_model *sparse, int tensor) {
    unsigned on = 0;
    double left = 1;
    for (int i = 0; i < sparse->n_actions; i++)
        for (int k = 0; k < sparse->action[i].n_options; k++)
            if (sparse->action[i].option[k].target == tensor) on |= sparse->action[i].option[k].on;
    for (; on; on &= on - 1) left *= sx_density_of_word(&sparse->density[__builtin_ctz(on)]);
    return left;
}

/* Whether Timeloop's rules leave an operand its share of non-zeros at a level, whatever the mapping. At the outermost
 * one they do: the tile is the whole tensor, which has one occupancy r that least and most admit, and no parent
 * whose format would count instances on average. So the density is r / N (the share, where tiles have theirs), and
 * of X accesses X - floor(X (1 - density)) remain. Shares so small that doubles lose them are left out. At inner levels
 * the sums over occupancies may lack the only one there is. */
static bool keeps_share(const sx_model *model, const struct sx_sparse_model *sparse, int v, int s) {
    double word = sx_density_of_word(&sparse->density[v]);
    return s + 1 == model->n_levels && !model->shape[v].output && word > 1e-6 &&
           word * (double)model->words[v] >= 1;
}

void sx_sparse_least(sx_model *model) {
    const struct sx_sparse_model *sparse = model->sparse;
    const double rounding = 1 - 1e-9;
    double nonzero = 1, left = 1;
    bool all_formats = true;
    for (int v = 0; v < model->n_tensors; v++) {
        double effectual = least_effectual(sparse, v);
        bool format = false;
        for (int s = 0; s < model->n_levels; s++) format |= sparse->format[s][v] != NULL;
        bool nothing = sparse->timeloop && format && sparse->density[v].model != SX_DENSITY_NONE;
        for (int s = 0; s < model->n_levels; s++) {
            double held = sparse->format[s][v] ? sx_density_of_word(&sparse->density[v]) : 1;
            if (nothing && !keeps_share(model, sparse, v, s)) held = 0;
            model->least[s][v] = effectual * held * rounding;
        }
        if (model->shape[v].output) continue;
        nonzero *= sx_density_of_word(&sparse->density[v]);
        left *= effectual;
        all_formats &= format;
    }
    bool removed = left < 1 || all_formats || sparse->gates || sparse->skips;
    double share = removed ? nonzero * rounding : rounding;
    if (sparse->timeloop) share = fmax(0, share - 3e-6) * (1 - 1e-4); /* rounded to 6 digits */
    if (sparse->timeloop && sparse->formatted) model->least_leak = 0;
    model->least_steps = share;
    model->least_compute_energy = model->compute_energy * share;
}

sx_sparse_state *sx_sparse_state_new(const sx_model *model, bool counts) {
    sx_sparse_state *state = calloc(1, sizeof *state);
    if (!state) return NULL;
    state->model = model;
    state->cache = sx_density_cache_new(counts || model->sparse->any_placed, &model->guard->steps);
    if (counts) state->counts = calloc(model->n_tensors, sizeof *state->counts);
    if (counts) state->empty = calloc(model->n_tensors, sizeof *state->empty);
    if (state->cache && ((state->counts && state->empty) || !counts)) return state;
    sx_sparse_state_free(state);
    return NULL;
}

void sx_sparse_state_free(sx_sparse_state *state) {
    if (!state) return;
    sx_density_cache_free(state->cache);
    free(state->counts);
    free(state->empty);
    free(state);
}
