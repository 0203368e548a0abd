/* Making a space of placements: sizes, times and live ranges of all tensors. */
#include "base/status.h"
#include "placement/place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NODES = 1 << 20 };
#define MAX_SECONDS 9000.0 /* of the slowest placement, so that femtoseconds fit 63 bits */

/* Copies an array; NULL where memory is out or there is nothing. */
static void *copy_array(const void *from, size_t n, size_t size) {
    void *to = calloc(n + 1, size);
    if (to && n) memcpy(to, from, n * size);
    return to;
}

/* Copies the graph. */
static sx_status copy_graph(const sx_place_graph *from, sx_place_graph *to) {
    *to = *from;
    to->node = copy_array(from->node, from->n_nodes, sizeof *from->node);
    to->input = copy_array(from->input, from->n_edges, sizeof *from->input);
    to->user = copy_array(from->user, from->n_edges, sizeof *from->user);
    return to->node && to->input && to->user ? SX_OK : sx_error_memory();
}

/* Makes the arrays of a space. */
static sx_status allocate_space(sx_placement_space *space) {
    size_t n = space->graph.n_nodes;
    space->n_tensors = 2 * n;
    space->size = calloc(2 * n, sizeof *space->size);
    space->moved = calloc(2 * n, sizeof *space->moved);
    space->compute = calloc(n, sizeof *space->compute);
    space->rate = calloc(space->chip.n_memories, sizeof *space->rate);
    space->ending = calloc(n, sizeof *space->ending);
    space->first_ended = calloc(n + 1, sizeof *space->first_ended);
    space->genes = calloc(2 * n, sizeof *space->genes);
    space->compiled = calloc(2 * n + 8, 1);
    bool made = space->size && space->moved && space->compute && space->rate && space->ending &&
                space->first_ended && space->genes && space->compiled;
    return made ? SX_OK : sx_error_memory();
}

/* Sorts nodes by the last step of their output. */
static void sort_ends(sx_placement_space *space) {
    size_t n = space->graph.n_nodes;
    for (size_t i = 0; i < n; i++) space->first_ended[space->graph.node[i].last + 1]++;
    for (size_t i = 0; i < n; i++) space->first_ended[i + 1] += space->first_ended[i];
    for (size_t i = 0; i < n; i++) space->ending[space->first_ended[space->graph.node[i].last]++] = i;
    for (size_t i = n; i > 0; i--) space->first_ended[i] = space->first_ended[i - 1];
    space->first_ended[0] = 0;
}

/* The bytes of weights that a node reads: all once, or again for each part of its output that the buffer holds. */
static double read_weights(const sx_chip *chip, const sx_place_node *node) {
    uint64_t parts = 1;
    if (node->weight_bytes == 0) return 0;
    if (chip->output_buffer > 0 && node->activation_bytes > 0)
        parts = (node->activation_bytes - 1) / chip->output_buffer + 1;
    return (double)node->weight_read * (double)parts;
}

/* Sets sizes and times; an error where they are too large to add up. */
static sx_status set_sizes(sx_placement_space *space) {
    const sx_chip *chip = &space->chip;
    double slowest = 0, total = 0;
    for (size_t m = 0; m < chip->n_memories; m++) space->rate[m] = SX_FEMTO / chip->memory[m].bandwidth;
    space->overhead = (uint64_t)(chip->overhead * SX_FEMTO + 0.5);
    for (size_t i = 0; i < space->graph.n_nodes; i++) {
        const sx_place_node *node = &space->graph.node[i];
        double compute = (double)node->ops / chip->rate[node->op];
        double weights = read_weights(chip, node);
        total += (double)node->weight_bytes + (double)node->activation_bytes;
        slowest += chip->overhead + compute + weights / chip->memory[0].bandwidth +
                   (double)node->activation_bytes * (double)(1 + node->n_users) / chip->memory[0].bandwidth;
        if (!(slowest < MAX_SECONDS) || !(total < 0x1p61) || !(weights < 0x1p61))
            return sx_error_hint(sx_error_new(SX_ERR_LIMIT,
                                              "an inference of '%s' on '%s' may take more than %g seconds",
                                              space->graph.name, chip->name, MAX_SECONDS),
                                 "rates and bandwidths are given per second, in operations and bytes");
        space->size[2 * i] = node->weight_bytes;
        space->moved[2 * i] = (uint64_t)weights;
        space->reads_ahead |= weights > 0 && weights <= (double)chip->prefetch;
        space->size[2 * i + 1] = space->moved[2 * i + 1] = node->activation_bytes;
        space->compute[i] = (uint64_t)(compute * SX_FEMTO + 0.5);
        space->total += node->weight_bytes + node->activation_bytes;
        space->op_energy += (double)node->ops * chip->op_energy;
    }
    return SX_OK;
}

/* Refuses a graph that the slowest memory does not hold. */
static sx_status check_fits(const sx_placement_space *space) {
    const sx_chip_memory *slowest = &space->chip.memory[0];
    size_t step;
    uint64_t over;
    for (size_t t = 0; t < space->n_tensors; t++)
        if (space->size[t] > slowest->capacity)
            return sx_error_hint(
                sx_error_new(SX_ERR_INPUT, "the %s of '%s' take %llu bytes, more than %s has (%llu)",
                             sx_place_is_output(t) ? "outputs" : "weights", space->graph.node[t / 2].name,
                             (unsigned long long)space->size[t], slowest->name,
                             (unsigned long long)slowest->capacity),
                "the slowest memory must hold everything: give it a larger capacity");
    if (sx_place_fits(space, space->compiled, &step, NULL, &over)) return SX_OK;
    return sx_error_hint(sx_error_new(SX_ERR_INPUT,
                                      "'%s' does not fit into %s: %llu bytes too many at the node '%s'",
                                      space->graph.name, slowest->name, (unsigned long long)over,
                                      space->graph.node[step].name),
                         "the slowest memory must hold everything: give it a larger capacity");
}

/* Fills in a space that is all zero. */
static sx_status fill_space(const sx_place_graph *graph, const sx_chip *chip, sx_placement_space *space) {
    if (graph->n_nodes < 1 || graph->n_nodes > MAX_NODES)
        return sx_error_new(SX_ERR_LIMIT, "a graph has from 1 to %d nodes", MAX_NODES);
    SX_TRY(sx_chip_check(chip));
    space->chip = *chip;
    SX_TRY(copy_graph(graph, &space->graph));
    SX_TRY(allocate_space(space));
    SX_TRY(set_sizes(space));
    sort_ends(space);
    sx_placement_space_head(space);
    SX_TRY(check_fits(space));
    size_t n = graph->n_nodes, *order = calloc(2 * n, sizeof *order);
    if (!order) return sx_error_memory();
    for (size_t i = 0; i < n; i++) {
        order[i] = 2 * i + 1;
        order[n + i] = 2 * i;
    }
    sx_status status = sx_place_first_fit(space, order, 2 * n, space->compiled);
    free(order);
    space->baseline = sx_place_latency(space, space->compiled);
    return status;
}

sx_status sx_placement_space_new(const sx_place_graph *graph, const sx_chip *chip, sx_space **out) {
    sx_placement_space *space = calloc(1, sizeof *space);
    if (!space) return sx_error_memory();
    sx_status status = fill_space(graph, chip, space);
    if (!status) {
        *out = &space->space;
        return SX_OK;
    }
    sx_placement_space_free(space);
    return status;
}

double sx_placement_baseline(const sx_space *base) {
    return (double)sx_placement_space_of(base)->baseline / SX_FEMTO;
}

void sx_placement_evaluate(const sx_space *base, const uint8_t *placement, sx_placement_cost *out) {
    const sx_placement_space *space = sx_placement_space_of(base);
    *out = (sx_placement_cost){.valid = sx_place_valid(space, placement),
                               .latency = (double)sx_place_latency(space, placement) / SX_FEMTO,
                               .energy = sx_place_energy(space, placement)};
    if (out->valid) return;
    uint8_t *copied = copy_array(placement, base->point_size, 1);
    out->error = NAN;
    if (copied) out->error = (double)sx_placement_rectify(base, copied) / (double)space->total;
    free(copied);
}
