/* Checks of the points of a map space, and its point model: the cost model, with the constraints that no
 * construction promises. */
#include "mapspace/map_parts.h"

#include "base/hash.h"
#include "ir/axes.h"
#include "ir/goal.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

bool sx_map_lacks_banks(const sx_map_space *space, const void *point, int *level, int *tensor,
                        uint64_t *words) {
    if (!space->banks_at) return false;
    uint32_t extent[SX_MAX_DIMS];
    for (int d = 0; d < space->problem->n_dims; d++) extent[d] = 1;
    for (int s = 0; s < space->arch->n_levels; s++) {
        sx_map_extents(space, &sx_map_point(point)->level[s], extent);
        const uint8_t *banks = (const uint8_t *)point + space->banks_at + (size_t)s * SX_MAX_TENSORS;
        for (unsigned left = space->banked[s] & space->fixed_keep[s]; left; left &= left - 1) {
            *level = s;
            *tensor = __builtin_ctz(left);
            *words = sx_shape_words(&space->model->shape[*tensor], extent);
            if (!sx_map_fits(space, s, *tensor, *words, banks[*tensor])) return true;
        }
    }
    return false;
}

/* Over how many children a level's spatial loops spread beyond those that one instance has, 0: not beyond; on
 * Y or on X. */
static uint64_t spatial_overflow(const sx_map_space *space, int s, const sx_mapping_level *at, bool *on_y) {
    uint64_t used[2];
    sx_axes_used(at, space->problem->n_dims, used);
    *on_y = used[0] <= space->room[s][0];
    return used[*on_y] > space->room[s][*on_y] ? used[*on_y] : 0;
}

bool sx_map_overflows(const sx_map_space *space, const void *point, int *level, bool *on_y, uint64_t *over) {
    for (int s = 0; s < space->arch->n_levels && space->nested; s++) {
        *over =
            space->spatial_slot[s] < 0 ? 0 : spatial_overflow(space, s, &sx_map_point(point)->level[s], on_y);
        *level = s;
        if (*over) return true;
    }
    return false;
}

unsigned sx_map_check_rest(const sx_map_space *space, const void *point) {
    int level, tensor;
    uint64_t words;
    bool on_y;
    if (sx_map_overflows(space, point, &level, &on_y, &words)) return SX_MAP_FANOUT;
    if (space->shares &&
        !sx_constraints_allow(&space->constraints, sx_map_point(point), space->problem, space->arch, NULL, 0))
        return SX_MAP_CONSTRAINT;
    return sx_map_lacks_banks(space, point, &level, &tensor, &words) ? SX_MAP_BANK_SHARE : 0;
}

/* Whether all numbers of a level are within bounds: what the functions of a point rely on. */
static bool level_holds(const sx_map_space *space, const void *point, int s) {
    const sx_mapping_level *at = &sx_map_point(point)->level[s];
    int n_dims = space->problem->n_dims;
    unsigned may = space->fixed_keep[s] | space->free_keep[s] | space->banked[s];
    if (!sx_order_is_permutation(at->temporal_order, n_dims) ||
        !sx_order_is_permutation(at->spatial_order, n_dims) || at->split > n_dims || !sx_axes_good(at) ||
        (at->keep & ~may) != 0)
        return false;
    for (int d = 0; d < n_dims && space->spatial_slot[s] < 0; d++)
        if (at->spatial[d] != 1) return false;
    if (!space->banked[s]) return true;
    const uint8_t *banks = (const uint8_t *)point + space->banks_at + (size_t)s * SX_MAX_TENSORS;
    uint32_t sum = 0;
    for (int v = 0; v < SX_MAX_TENSORS; v++) {
        if ((banks[v] != 0) != (space->banked[s] >> v & 1)) return false;
        sum += banks[v];
    }
    return sum == space->arch->level[s].banks;
}

/* Whether what no construction chooses is as in all of them. */
static bool same_rest(const sx_map_space *space, const void *point) {
    for (int s = 0; s < space->arch->n_levels; s++) {
        const sx_mapping_level *a = &sx_map_point(point)->level[s],
                               *b = &sx_map_point(space->blank)->level[s];
        int n = space->problem->n_dims;
        if (memcmp(a->temporal + n, b->temporal + n, (size_t)(SX_MAX_DIMS - n) * sizeof *a->temporal) != 0 ||
            memcmp(a->spatial + n, b->spatial + n, (size_t)(SX_MAX_DIMS - n) * sizeof *a->spatial) != 0 ||
            memcmp(a->temporal_order + n, b->temporal_order + n, (size_t)(SX_MAX_DIMS - n)) != 0 ||
            memcmp(a->spatial_order + n, b->spatial_order + n, (size_t)(SX_MAX_DIMS - n)) != 0 ||
            memcmp(&a->no_temporal_reuse, &b->no_temporal_reuse,
                   offsetof(sx_mapping_level, x_part) - offsetof(sx_mapping_level, no_temporal_reuse)) != 0 ||
            a->no_coalesce != b->no_coalesce)
            return false;
    }
    return true;
}

/* A point is one that normalizing does not change, of factors that the space has. */
bool sx_map_holds(const sx_space *base, const void *point) {
    const sx_map_space *space = sx_map_cast(base);
    const sx_mapping *mapping = sx_map_point(point), *blank = sx_map_point(space->blank);
    uint32_t factor[SX_MAX_SLOTS];
    struct {
        sx_mapping mapping;
        uint8_t banks[SX_MAX_LEVELS * SX_MAX_TENSORS];
    } settled;
    if (memcmp(mapping, blank, offsetof(sx_mapping, level)) != 0 || base->point_size > sizeof settled)
        return false;
    for (int s = 0; s < space->arch->n_levels; s++)
        if (!level_holds(space, point, s)) return false;
    for (int d = 0; d < space->problem->n_dims; d++) {
        sx_map_get_factors(space, point, d, factor);
        if (!sx_factors_holds(space->factors[d], factor)) return false;
    }
    memcpy(&settled, point, base->point_size);
    sx_map_normalize(space, &settled);
    return memcmp(&settled, point, base->point_size) == 0 && same_rest(space, point);
}

unsigned sx_map_check(const sx_space *base, const void *point) {
    const sx_map_space *space = sx_map_cast(base);
    sx_reason reason = sx_check_tiles(space->model, sx_map_point(point)).reason;
    return reason != SX_LEGAL ? reason : sx_map_check_rest(space, point);
}

const char *sx_map_reason(const sx_space *space, unsigned reason) {
    (void)space;
    if (reason == SX_MAP_CONSTRAINT) return "constraint";
    if (reason == SX_MAP_BANK_SHARE) return "bank-share";
    if (reason == SX_MAP_FANOUT) return "fan-out";
    return sx_reason_name((sx_reason)reason);
}

bool sx_map_explain_fanout(const sx_map_space *space, const sx_mapping *mapping, char *text, size_t size) {
    for (int s = 0; s < space->arch->n_levels; s++) {
        bool on_y;
        uint64_t over = spatial_overflow(space, s, &mapping->level[s], &on_y), room = space->room[s][on_y];
        if (!over) continue;
        snprintf(text, size, "%s: spatial loops spread over %llu in %c, but one instance has %llu %s there",
                 space->arch->level[s].name, (unsigned long long)over, on_y ? 'Y' : 'X',
                 (unsigned long long)room, room == 1 ? "child" : "children");
        return true;
    }
    return false;
}

void sx_map_explain(const sx_space *base, const void *point, char *text, size_t size) {
    const sx_map_space *space = sx_map_cast(base);
    sx_verdict verdict = sx_check(space->model, sx_map_point(point));
    int level, tensor;
    uint64_t words;
    if (verdict.reason != SX_LEGAL)
        sx_verdict_text(&verdict, space->problem, space->arch, text, size);
    else if (!sx_map_explain_fanout(space, sx_map_point(point), text, size) &&
             sx_constraints_allow(&space->constraints, sx_map_point(point), space->problem, space->arch, text,
                                  size) &&
             sx_map_lacks_banks(space, point, &level, &tensor, &words))
        snprintf(text, size, "%s: %s must be kept here, but %llu words are more than its banks hold",
                 space->arch->level[level].name, space->problem->tensor[tensor].name,
                 (unsigned long long)words);
}

static const sx_map_space *space_of(const sx_point_model *model) {
    return model->user;
}

static sx_status workspace_new(const sx_point_model *model, void **out) {
    sx_model_workspace *workspace;
    SX_TRY(sx_model_workspace_new(space_of(model)->model, &workspace));
    *out = workspace;
    return SX_OK;
}

static void workspace_free(void *workspace) {
    sx_model_workspace_free(workspace);
}

/* Scores a mapping: what the space says of it where that is needed, then what the cost model says, which is
 * *verdict. */
static unsigned score_point(const sx_map_space *space, sx_model_workspace *workspace, const void *point,
                            const sx_objective *objective, double cutoff, sx_metrics *out,
                            sx_verdict *verdict) {
    verdict->reason = SX_LEGAL;
    if (space->nested || space->shares || space->banks_at) {
        unsigned reason = sx_map_check_rest(space, point);
        if (reason) {
            sx_reason first = sx_check_tiles(space->model, sx_map_point(point)).reason;
            return first != SX_LEGAL ? first : reason;
        }
    }
    sx_score totals;
    *verdict = cutoff < INFINITY
                   ? sx_evaluate_within(workspace, sx_map_point(point), objective, cutoff, &totals)
                   : sx_evaluate_score(workspace, sx_map_point(point), &totals);
    if (verdict->reason == SX_LEGAL) *out = sx_score_metrics(&totals);
    return verdict->reason == SX_BOUND_EXCEEDED ? SX_BEYOND : (unsigned)verdict->reason;
}

/* The cost model can cut off by what objectives of mappings are made of. */
static sx_status score_batch(const sx_point_model *model, void *workspace, const void *points, size_t n,
                             const sx_goal *goal, double cutoff, sx_outcome *out) {
    const sx_map_space *space = space_of(model);
    const sx_objective *objective = sx_goal_objective(goal);
    const unsigned char *point = points;
    if (objective->criterion[0].kind >= SX_TERMS) cutoff = INFINITY;
    for (size_t i = 0; i < n; i++, point += space->space.point_size) {
        sx_verdict verdict;
        out[i].reason = score_point(space, workspace, point, objective, cutoff, &out[i].metrics, &verdict);
        if (verdict.reason >= SX_NO_MEMORY) return sx_verdict_status(&verdict, space->problem, space->arch);
    }
    return SX_OK;
}

/* Shares of banks decide a score only where they can make a point illegal. */
static void score_key(const sx_point_model *model, const void *point, uint64_t out[2]) {
    const sx_map_space *space = space_of(model);
    size_t size = space->banks_at ? space->banks_at : space->space.point_size;
    for (int s = 0; s < space->arch->n_levels; s++)
        if (space->banked[s] & space->fixed_keep[s]) size = space->space.point_size;
    out[0] = sx_hash_bytes(point, size, 0x6b657973);
    out[1] = sx_hash_bytes(point, size, out[0]);
}

const sx_point_model_type sx_map_model_type = {
    .name = "map",
    .metrics = sx_mapping_metric,
    .n_metrics = SX_N_MAPPING_METRICS,
    .checks = true,
    .workspace_new = workspace_new,
    .workspace_free = workspace_free,
    .score_batch = score_batch,
    .key = score_key,
};
