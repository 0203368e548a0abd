/* The space of placements: making it, its size, drawing, checking and scoring points. */
#include "placement/place.h"
#include "space/cardinal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 4 }; /* draws before one is rectified: most overflow a memory */
enum { FITS, OVERFLOW, NO_ADDRESSES };

static const sx_placement_space *placement_of(const sx_space *space) {
    return (const sx_placement_space *)space;
}

void sx_placement_space_free(sx_placement_space *space) {
    sx_place_graph_fini(&space->graph);
    free(space->size);
    free(space->moved);
    free(space->compute);
    free(space->rate);
    free(space->ending);
    free(space->first_ended);
    free(space->genes);
    free(space->compiled);
    free(space->undecided);
    free(space);
}

static void space_free(sx_space *base) {
    sx_placement_space_free((sx_placement_space *)base);
}

/* Memories to the power of n. */
static sx_cardinal memories_power(const sx_placement_space *space, size_t n) {
    sx_cardinal count = sx_cardinal_of(1);
    for (size_t i = 0; i < n; i++) count = sx_cardinal_times(count, sx_cardinal_of(space->chip.n_memories));
    return count;
}

static bool space_size(const sx_space *base, size_t index, sx_size *out) {
    const sx_placement_space *space = placement_of(base);
    size_t weights = 0;
    for (size_t i = 0; i < base->n_genes; i++) weights += base->gene[i].axis == SX_AXIS_WEIGHTS;
    if (index == 0)
        *out = (sx_size){"weights", "memories of all weights", true, memories_power(space, weights), 0};
    else if (index == 1)
        *out = (sx_size){"activations", "memories of all outputs", true,
                         memories_power(space, base->n_genes - weights), 0};
    else if (index == 2)
        *out =
            (sx_size){"raw", "all placements, valid or not", false, memories_power(space, base->n_genes), 0};
    else if (index == 3)
        *out = (sx_size){"published", "two memories per node, as the paper counts", false,
                         memories_power(space, space->n_tensors), 0};
    return index <= 3;
}

static bool space_at(const sx_space *base, sx_u128 index, void *out) {
    const sx_placement_space *space = placement_of(base);
    uint8_t *point = out;
    memset(point, 0, base->point_size);
    for (size_t g = base->n_genes; g-- > 0;) {
        point[base->gene[g].which] = (uint8_t)(index % space->chip.n_memories);
        index /= space->chip.n_memories;
    }
    return index == 0;
}

/* Draws the memory of a tensor. */
static void draw_memory(const sx_space *base, sx_rng *rng, size_t gene, uint8_t *point) {
    point[base->gene[gene].which] = (uint8_t)sx_rng_below(rng, placement_of(base)->chip.n_memories);
}

static void space_draw(const sx_space *base, sx_rng *rng, void *point) {
    memset(point, 0, base->point_size);
    for (size_t g = 0; g < base->n_genes; g++) draw_memory(base, rng, g, point);
}

/* Whether two tensors are of one kind: weights or outputs of nodes of one class and of equal sizes. */
static bool is_like(const sx_placement_space *space, size_t a, size_t b) {
    return a % 2 == b % 2 && space->size[a] == space->size[b] && space->moved[a] == space->moved[b] &&
           space->graph.node[a / 2].op == space->graph.node[b / 2].op;
}

/* Puts all tensors of a kind, or one in two, three or four of them, into the memory of one. */
static void gather_kind(const sx_placement_space *space, sx_rng *rng, size_t tensor, uint8_t *point) {
    uint64_t part = 1 + sx_rng_below(rng, 4);
    for (size_t t = tensor % 2; t < space->n_tensors; t += 2)
        if (is_like(space, t, tensor) && (part == 1 || sx_rng_below(rng, part) == 0))
            point[t] = point[tensor];
}

/* Draws the memory of a tensor; every other time others of its kind follow. */
static void space_redraw(const sx_space *base, sx_rng *rng, size_t gene, void *point) {
    draw_memory(base, rng, gene, point);
    if (sx_rng_below(rng, 2)) gather_kind(placement_of(base), rng, (size_t)base->gene[gene].which, point);
}

/* Moves a tensor to the next memory; every other time others of its kind follow. */
static void space_nudge(const sx_space *base, sx_rng *rng, size_t gene, void *point) {
    uint8_t *at = (uint8_t *)point + base->gene[gene].which;
    size_t last = placement_of(base)->chip.n_memories - 1;
    if (last == 0) return;
    bool faster = *at == 0 || (*at < last && sx_rng_below(rng, 2));
    *at = (uint8_t)(faster ? *at + 1 : *at - 1);
    if (sx_rng_below(rng, 2)) gather_kind(placement_of(base), rng, (size_t)base->gene[gene].which, point);
}

static void space_take(const sx_space *base, size_t gene, const void *from, void *point) {
    int32_t tensor = base->gene[gene].which;
    ((uint8_t *)point)[tensor] = ((const uint8_t *)from)[tensor];
}

static bool space_holds(const sx_space *base, const void *at) {
    const sx_placement_space *space = placement_of(base);
    const uint8_t *point = at;
    for (size_t i = 0; i < base->point_size; i++) {
        bool placed = i < space->n_tensors && space->size[i] > 0;
        if (point[i] >= (placed ? space->chip.n_memories : 1)) return false;
    }
    return true;
}

static unsigned space_check(const sx_space *base, const void *point) {
    if (!sx_place_fits(placement_of(base), point, NULL, NULL, NULL)) return OVERFLOW;
    return sx_place_valid(placement_of(base), point) ? FITS : NO_ADDRESSES;
}

static const char *space_reason(const sx_space *base, unsigned reason) {
    (void)base;
    return reason == FITS ? "valid" : reason == OVERFLOW ? "a memory overflows" : "tensors have no addresses";
}

static void space_explain(const sx_space *base, const void *point, char *text, size_t size) {
    const sx_placement_space *space = placement_of(base);
    size_t step, memory;
    uint64_t over;
    if (sx_place_fits(space, point, &step, &memory, &over))
        snprintf(text, size, "%s", space_reason(base, space_check(base, point)));
    else
        snprintf(text, size, "%s overflows by %llu bytes at node %s", space->chip.memory[memory].name,
                 (unsigned long long)over, space->graph.node[step].name);
}

static bool space_repair(const sx_space *base, sx_rng *rng, void *point) {
    (void)rng;
    (void)sx_placement_rectify(base, point);
    return sx_place_valid(placement_of(base), point);
}

static void space_encode(const sx_space *base, const void *point, double *values) {
    for (size_t g = 0; g < base->n_genes; g++) values[g] = ((const uint8_t *)point)[base->gene[g].which];
}

/* How far a memory is from a value. */
static double memory_distance(size_t memory, double value) {
    return ((double)memory - value) * ((double)memory - value);
}

/* Moves one tensor as near to its value as is valid; false where it is there already. */
static bool approach_value(const sx_placement_space *space, size_t tensor, double value, uint8_t *point) {
    uint8_t now = point[tensor], best = now;
    for (uint8_t m = 0; m < space->chip.n_memories; m++) {
        if (memory_distance(m, value) >= memory_distance(best, value)) continue;
        point[tensor] = m;
        if (sx_place_valid(space, point)) best = m;
    }
    point[tensor] = best;
    return best != now;
}

static bool space_project(const sx_space *base, const double *values, void *out) {
    const sx_placement_space *space = placement_of(base);
    uint8_t *point = out;
    memset(point, 0, base->point_size);
    for (size_t g = 0; g < base->n_genes; g++) {
        double most = (double)(space->chip.n_memories - 1), value = values[g];
        point[base->gene[g].which] = (uint8_t)(value > 0 ? fmin(floor(value + 0.5), most) : 0);
    }
    (void)sx_placement_rectify(base, point);
    for (bool nearer = true; nearer;) {
        nearer = false;
        for (size_t g = 0; g < base->n_genes; g++)
            nearer |= approach_value(space, (size_t)base->gene[g].which, values[g], point);
    }
    return true;
}

static const sx_metric_about metrics[] = {
    [SX_PLACE_ENERGY] = {"energy", "pJ", "energy"},
    [SX_PLACE_LATENCY] = {"latency", "s", "delay"},
};

static sx_status score_batch(const sx_point_model *model, void *workspace, const void *points, size_t n,
                             const sx_goal *goal, double cutoff, sx_outcome *out) {
    const sx_placement_space *space = model->user;
    const uint8_t *point = points;
    (void)workspace, (void)goal, (void)cutoff;
    for (size_t i = 0; i < n; i++, point += space->space.point_size) {
        out[i].reason = space_check(&space->space, point);
        if (out[i].reason) continue;
        out[i].metrics =
            (sx_metrics){{[SX_PLACE_ENERGY] = sx_place_energy(space, point),
                          [SX_PLACE_LATENCY] = (double)sx_place_latency(space, point) / SX_FEMTO}};
    }
    return SX_OK;
}

static const sx_point_model_type model_type = {
    .name = "placement",
    .metrics = metrics,
    .n_metrics = sizeof metrics / sizeof *metrics,
    .checks = true,
    .score_batch = score_batch,
};

static const sx_space_type placement_type = {
    .name = "placement",
    .free = space_free,
    .size = space_size,
    .at = space_at,
    .draw = space_draw,
    .holds = space_holds,
    .check = space_check,
    .reason = space_reason,
    .explain = space_explain,
    .redraw = space_redraw,
    .nudge = space_nudge,
    .take = space_take,
    .repair = space_repair,
    .encode = space_encode,
    .project = space_project,
};

const sx_placement_space *sx_placement_space_of(const sx_space *space) {
    return space->type == &placement_type ? placement_of(space) : NULL;
}

void sx_placement_space_head(sx_placement_space *space) {
    space->model = (sx_point_model){.type = &model_type, .user = space};
    space->space = (sx_space){.type = &placement_type,
                              .point_size = (space->n_tensors + 7) / 8 * 8,
                              .tries = TRIES,
                              .gene = space->genes,
                              .model = &space->model};
    for (size_t t = 0; t < space->n_tensors; t++) {
        if (space->size[t] == 0) continue;
        space->genes[space->space.n_genes++] =
            (sx_gene){sx_place_is_output(t) ? SX_AXIS_ACTIVATIONS : SX_AXIS_WEIGHTS, (int32_t)t};
    }
    space->space.n_values = space->space.n_genes;
}
