#include "fuse/vector_step.h"

#include "model/vector.h"
#include "sextant/all.h"

#include <math.h>
#include <string.h>

/* Takes over what an operator costs with all its tensors in the outermost memory. */
static void set_step(const sx_exchange *x, const sx_operators *operators, sx_exchange_step *step) {
    const sx_graph_node *node = &x->graph->node[step->node];
    for (size_t i = 0; i < operators->n; i++) {
        const sx_operator *op = &operators->op[i];
        if (!op->vector || strcmp(op->name, node->layer) != 0) continue;
        const sx_vector_cost cost = sx_vector_cost_of(x->arch, x->graph, op);
        const double word = x->arch->level[x->arch->n_levels - 1].word_bits / 8.0;
        step->vector = (sx_vector_step){.operations = cost.operations,
                                        .compute_cycles = cost.compute_cycles,
                                        .energy = cost.energy,
                                        .cycles = cost.cycles,
                                        .bytes = (cost.words_read + cost.words_written) * word,
                                        .passes = 1};
        const double once = op->weight_bytes + op->state_read_bytes;
        if (op->read_bytes > 0) step->vector.passes = (cost.words_read * word - once) / op->read_bytes;
        return;
    }
}

sx_status sx_vector_steps_set(sx_exchange *x) {
    sx_operators operators;
    if (!(x->arch->vector.lanes > 0)) return SX_OK;
    SX_TRY(sx_graph_operators(x->graph, &operators));
    for (size_t s = 0; s < x->n_steps; s++)
        if (x->step[s].layer == SX_NO_INDEX) set_step(x, &operators, &x->step[s]);
    sx_operators_fini(&operators);
    return SX_OK;
}

enum { PLACES = 3 }; /* the outermost memory, the exchange memory, the second one */

/* The place of a tensor. */
static int place_of(const sx_exchange *x, size_t tensor, uint64_t state, const sx_fuse_group *group) {
    const size_t value = x->value_of[tensor];
    if (value == SX_NO_INDEX) return 0;
    for (int l = 0; group && l + 1 < group->n_layers; l++)
        if (group->inside[l] == value) return group->second >> l & 1 ? 2 : 1;
    if (sx_plan_stays_second(&x->value[value], state)) return 2;
    return sx_plan_stays(&x->value[value], state);
}

/* The cycles that words take of a level's ports. */
static double port_cycles(const sx_storage *level, double reads, double writes) {
    return fmax(fmax(reads / level->read_bandwidth, writes / level->write_bandwidth),
                (reads + writes) / level->shared_bandwidth);
}

sx_score sx_vector_step_score(const sx_exchange *x, size_t step, uint64_t state, const sx_fuse_group *group,
                              double *bytes) {
    const sx_vector_step *v = &x->step[step].vector;
    const sx_graph_node *node = &x->graph->node[x->step[step].node];
    const sx_storage *level[] = {&x->arch->level[x->arch->n_levels - 1], &x->arch->level[x->level],
                                 &x->arch->level[x->second >= 0 ? x->second : 0]};
    double words[PLACES][2] = {{0}}; /* read and written */
    bool any = false;
    if (bytes) *bytes = v->bytes;
    for (size_t i = 0; i < node->n_operands; i++) {
        const sx_graph_operand *operand = &x->graph->operand[node->first + i];
        const sx_graph_tensor *tensor = &x->graph->tensor[operand->tensor];
        const int near = place_of(x, operand->tensor, state, group);
        const double times = operand->written || tensor->weight ? 1 : v->passes;
        words[near][operand->written] +=
            times * (double)sx_graph_words(tensor) * tensor->bits / level[near]->word_bits;
        any |= near > 0;
    }
    if (!any || v->operations == 0)
        return (sx_score){.energy_pj = v->energy, .cycles = v->cycles, .latency = v->cycles};
    sx_score score = {.energy_pj = v->operations * x->arch->vector.energy, .cycles = v->compute_cycles};
    for (int near = 0; near < (x->second >= 0 ? PLACES : 2); near++) {
        const sx_storage *l = level[near];
        score.energy_pj +=
            (words[near][0] * l->read_energy + words[near][1] * l->update_energy) / l->block_size;
        score.cycles = fmax(score.cycles, port_cycles(l, words[near][0], words[near][1]));
    }
    score.latency = score.cycles;
    if (bytes) *bytes = (words[0][0] + words[0][1]) * level[0]->word_bits / 8;
    return score;
}
