/* Points and mappings: from one to the other, and the orders that a GPU does not cover, by the cost model. */
#include "gpu/gpu.h"

#include "mapspace/map_core.h"
#include "mapspace/map_parts.h"

static const sx_core_lane alone = {0, 1, 0, 1, 1};

/* Finds the point at a place; returns how many sets of tensors its levels can keep. */
static uint32_t point_at(const sx_gpu_image *image, const sx_gpu_place *at, sx_core_nest *out) {
    sx_gpu_view view = sx_gpu_view_of(image, image);
    sx_core_scratch own;
    sx_core_state st = {.own = &own};
    sx_gpu_sweep sweep = {0};
    uint32_t keep = at->keep;
    sx_gpu_begin(&view, &st, &sweep, at->factorisation, at->layout, alone);
    sx_gpu_set_order(&view, &st, sweep.orders, at->order);
    for (uint32_t s = 0; s < image->core.n_levels; s++) {
        st.nest.keep[s] = sweep.choices[s].keep[keep % sweep.choices[s].n];
        keep /= sweep.choices[s].n;
    }
    *out = st.nest;
    return sweep.n_keeps;
}

void sx_gpu_point_at(const sx_gpu_image *image, const sx_gpu_place *at, sx_core_nest *out) {
    point_at(image, at, out);
}

bool sx_gpu_point_of(const sx_space *base, const sx_mapping *mapping, sx_core_nest *out) {
    const sx_map_space *space = sx_map_space_of(base);
    int n_dims = space->problem->n_dims;
    if (!sx_map_core_nest(space, mapping, out)) return false;
    for (int d = 0; d < n_dims; d++) {
        uint32_t factor[SX_MAX_SLOTS];
        sx_u128 index;
        sx_map_get_factors(space, mapping, d, factor);
        if (!sx_factors_rank(space->factors[d], factor, &index)) return false;
        out->row[d] = (uint16_t)index;
    }
    return true;
}

/* Writes loops as an order of all dimensions; returns how many lie on X. */
static uint8_t set_order(const sx_core_loops *loops, int n_dims, uint8_t *order) {
    uint32_t seen = 0;
    int n = 0;
    for (; n < loops->n; n++) {
        order[n] = (uint8_t)sx_core_loop(loops, n);
        seen |= 1u << order[n];
    }
    for (int d = 0; d < n_dims; d++)
        if (!(seen >> d & 1)) order[n++] = (uint8_t)d;
    return loops->n_x;
}

void sx_gpu_mapping_of(const sx_space *base, const sx_core_nest *point, sx_mapping *out) {
    const sx_map_space *space = sx_map_space_of(base);
    int n_dims = space->problem->n_dims;
    sx_map_space_mapping(base, space->blank, out);
    for (int d = 0; d < n_dims; d++) {
        uint32_t factor[SX_MAX_SLOTS];
        sx_factors_at(space->factors[d], point->row[d], factor);
        sx_map_set_factors(space, d, factor, out);
    }
    for (int s = 0; s < space->arch->n_levels; s++) {
        sx_mapping_level *at = &out->level[s];
        set_order(&point->loops[s], n_dims, at->temporal_order);
        at->split = set_order(&point->slots[s], n_dims, at->spatial_order);
        at->keep = point->keep[s];
    }
    sx_mapping_canonical(out);
}

void sx_gpu_expand(const sx_space *base, const sx_gpu_image *image, const sx_gpu_point *point,
                   sx_mapping *out) {
    const sx_map_space *space = sx_map_space_of(base);
    sx_mapping whole;
    sx_map_expand(space, sx_gpu_space_of(image), (const sx_compact_level *)(const void *)point->word, &whole);
    sx_map_space_mapping(base, &whole, out);
    sx_mapping_canonical(out);
}

/* Scores one order that was missed. */
static sx_status score_missed(const sx_space *space, const sx_gpu_image *image, sx_model_workspace *workspace,
                              sx_gpu_place at, sx_gpu_found *found) {
    uint32_t n = 1;
    for (uint32_t keep = 0; keep < n; keep++) {
        sx_core_nest point;
        sx_mapping mapping;
        sx_score score;
        at.keep = (uint16_t)keep;
        n = point_at(image, &at, &point);
        sx_gpu_mapping_of(space, &point, &mapping);
        sx_reason reason = sx_evaluate_score(workspace, &mapping, &score).reason;
        if (reason >= SX_NO_MEMORY) return sx_error_memory();
        if (reason != SX_LEGAL) continue;
        sx_gpu_best best = {sx_gpu_value(image, score.energy_pj, score.cycles), at};
        found->counts.legal++;
        if (sx_gpu_better(&best, &found->best)) found->best = best;
    }
    return SX_OK;
}

sx_status sx_gpu_search_missed(const sx_space *space, const sx_gpu_image *image, const sx_gpu_missed *missed,
                               sx_gpu_found *found) {
    sx_model_workspace *workspace;
    sx_status status = SX_OK;
    if (missed->n > missed->room)
        return sx_error_hint(
            sx_error_new(SX_ERR_LIMIT, "%llu orders of loops are not for the GPU, more than the CPU looks at",
                         missed->n),
            "constrain the space");
    SX_TRY(sx_model_workspace_new(sx_map_space_of(space)->model, &workspace));
    for (uint64_t i = 0; i < missed->n && !status; i++)
        status = score_missed(space, image, workspace, missed->at[i], found);
    sx_model_workspace_free(workspace);
    return status;
}
