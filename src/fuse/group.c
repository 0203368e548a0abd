/* Groups of a graph with their loops and tiles. Listed are, for each chain of layers, all tiles of rows that divide the last
 * tensor's, all slices that divide the channels, and which tensors from outside are held on chip during the loops; of
 * them the ones that fit, so that a group is listed from the size of the memory on that it takes. */
#include "fuse/group_chain.h"

#include "base/status.h"
#include "ir/arch.h"
#include "ir/rank.h"
#include "model/latency.h"

#include <math.h>
#include <string.h>

enum { RUNNING = 2 }; /* words of a row's running maximum and sum, in a softmax of one pass */

/* One choice of loops, under construction. */
typedef struct choice {
    const sx_layer_chain *chain;
    sx_inner *inner;
    sx_group_choice loops;
    bool nested;                 /* two loops over rows are listed, too */
    bool listed;                 /* the same with rows retained is listed, too: in one step both are one */
    sx_row_schedule rows, outer; /* by all steps, and by those of the outer loop over rows */
} choice;

/* Sets the rows of a choice; false where its steps differ in too many ways, or leave out rows between those of an outer step. */
static bool set_rows(choice *c) {
    const sx_group_choice *loops = &c->loops;
    for (int l = 0; loops->inner && l < c->chain->n; l++)
        if (c->chain->link[l].stride > c->chain->link[l].reach) return false;
    if (!sx_row_schedule_make(c->chain, loops->tile, 0, loops->window, &c->outer)) return false;
    c->rows = c->outer;
    return !loops->inner ||
           sx_row_schedule_make(c->chain, loops->tile, loops->inner, loops->window, &c->rows);
}

/* Words of a memory that an operand takes whole, for one head. */
static double words_in(const sx_layer_chain *chain, int level, int l, int v) {
    const sx_chain_link *link = &chain->link[l];
    const sx_exchange *x = chain->exchange;
    double words = (double)sx_graph_words(&x->graph->tensor[link->operand[v].tensor]);
    if (link->operand[v].split >= 0) words /= chain->heads;
    return sx_element_words(&x->arch->level[level], &link->problem->tensor[v], words);
}

/* Words of the exchange memory that an operand takes whole, for one head. */
static double operand_words(const sx_layer_chain *chain, int l, int v) {
    return words_in(chain, chain->exchange->level, l, v);
}

/* Whether the tiles of tensor t of the chain are in the second memory. */
static bool in_second(const choice *c, int t) {
    return t > 0 && (c->loops.second >> (t - 1) & 1);
}

/* Words of a row of tensor t of the chain, 0 being the input, in the memory that its tiles are in. */
static double row_words(const choice *c, int t) {
    const sx_chain_link *link = &c->chain->link[t ? t - 1 : 0];
    const sx_exchange *x = c->chain->exchange;
    return words_in(c->chain, in_second(c, t) ? x->second : x->level, t ? t - 1 : 0,
                    t ? link->out : link->in) /
           (t ? link->rows_out : link->rows_in);
}

/* Words of tiles alive in one of the memories while layer l runs: rows kept of all tensors (of all slices, unless they only pass
 * between the inner steps of one), and the tiles that it reads and makes. */
static double tiles_alive(const choice *c, int l, bool second) {
    const sx_layer_chain *chain = c->chain;
    const bool passing = c->loops.inner && c->loops.window == SX_GROUP_RECOMPUTE;
    double words = 0;
    for (int t = c->loops.holds_in ? 0 : 1; t < chain->n; t++) {
        if (in_second(c, t) != second) continue;
        const sx_row_schedule *rows = t ? &c->rows : &c->outer;
        double each = row_words(c, t), slices = t ? c->loops.slices : 1;
        const uint32_t kept = rows->tensor[t].kept, tile = rows->tensor[t].tile;
        words += kept * each / (passing ? slices : 1);
        if (t == l || (t == 0 && c->loops.slices > 1))
            words += (tile > kept ? tile - kept : 0) * each / slices;
        if (t == l + 1) words += c->rows.tensor[t].made * each / slices;
    }
    return words;
}

/* Words of the second memory alive while layer l runs, without what stays whole. */
static double second_alive(const choice *c, int l) {
    return ceil(tiles_alive(c, l, true));
}

/* Words of the exchange memory alive while layer l runs, without what stays whole: tiles, what is held, the sums of a channel loop,
 * and the running maxima and sums of a softmax. */
static double words_alive(const choice *c, int l) {
    const sx_layer_chain *chain = c->chain;
    double words = tiles_alive(c, l, false);
    if (c->loops.slices > 1) words += c->outer.tensor[chain->n].made * row_words(c, chain->n);
    if (c->loops.slices > 1 && chain->one_pass) words += RUNNING * c->outer.tensor[chain->n].made;
    for (int m = 0; m < chain->n; m++)
        if (c->loops.held >> m & 1)
            words += operand_words(chain, m, chain->link[m].other) / (c->loops.inner ? c->loops.slices : 1);
    return ceil(words);
}

/* What moving words of a tensor once between the outermost and the exchange memory costs. */
static sx_score move_score(const sx_exchange *x, const sx_tensor *tensor, double elements, bool inward) {
    const sx_storage *outer = &x->arch->level[x->arch->n_levels - 1], *memory = &x->arch->level[x->level];
    const double far = sx_element_words(outer, tensor, elements),
                 near = sx_element_words(memory, tensor, elements);
    sx_score score = {.utilization = 0, .last_level_accesses = far};
    score.energy_pj = ceil(far / outer->block_size) * (inward ? outer->read_energy : outer->update_energy) +
                      far * outer->addr_gen_energy;
    if (inward)
        score.energy_pj +=
            ceil(near / memory->block_size) * memory->fill_energy + near * memory->addr_gen_energy;
    const double bandwidth =
        fmin(inward ? outer->read_bandwidth : outer->write_bandwidth, outer->shared_bandwidth);
    const double other =
        fmin(inward ? memory->write_bandwidth : memory->read_bandwidth, memory->shared_bandwidth);
    score.latency = score.cycles = ceil(fmax(far / bandwidth, near / other));
    return score;
}

/* Sets the latency of a move of a number of elements of a problem's tensor, by the law of the outermost level where it has one. */
static sx_status set_move_latency(const sx_exchange *x, const sx_problem *problem, int v, double elements,
                                  bool inward, sx_score *score) {
    const sx_model_options options = {.latency_tile = true};
    sx_model *model;
    if (!x->latency_tile) return SX_OK;
    SX_TRY(sx_model_new(problem, x->arch, &options, &model));
    if (model->law) score->latency = sx_latency_of_move(model, v, elements, inward, score->cycles);
    sx_model_free(model);
    return SX_OK;
}

/* Adds a move of a number of elements of an operand, and repeats it for each head. */
static sx_status add_move(const choice *c, int l, int v, double elements, bool inward, sx_fuse_group *group) {
    const sx_layer_chain *chain = c->chain;
    const sx_exchange *x = chain->exchange;
    const sx_tensor *tensor = &chain->link[l].problem->tensor[v];
    sx_group_move *move = &group->move[group->n_moves++];
    move->step = chain->link[l].step;
    move->value = x->step[chain->link[l].step].value[v];
    move->score = move_score(x, tensor, elements, inward);
    SX_TRY(set_move_latency(x, chain->link[l].problem, v, elements, inward, &move->score));
    move->weight =
        chain->heads * sx_inner_weight(c->inner, sx_objective_value(&c->inner->objective, &move->score));
    move->score.energy_pj *= chain->heads;
    move->score.cycles *= chain->heads;
    move->score.latency *= chain->heads;
    move->bytes =
        chain->heads * elements * sx_element_bits(&x->arch->level[x->arch->n_levels - 1], tensor) / 8;
    return SX_OK;
}

/* Adds the runs of a layer on tiles of `rows` rows and one slice. */
static sx_status add_run(const choice *c, int l, uint32_t rows, double times, bool found,
                         sx_fuse_group *group) {
    const sx_chain_link *link = &c->chain->link[l];
    sx_group_run *run = &group->run[group->n_runs++];
    sx_problem problem = *link->problem;
    problem.size[link->row] = rows;
    if (c->loops.slices > 1) problem.size[link->channel] /= c->loops.slices;
    unsigned resident = 0;
    if (l > 0 || c->loops.holds_in) resident |= 1u << link->in;
    if (l + 1 < c->chain->n || c->loops.slices > 1) resident |= 1u << link->out;
    if (c->loops.held >> l & 1) resident |= 1u << link->other;
    const unsigned second = (unsigned)in_second(c, l) << link->in | (unsigned)in_second(c, l + 1)
                                                                        << link->out;
    *run = (sx_group_run){.step = link->step, .rows = rows, .times = times * c->chain->heads};
    run->cut = (sx_cut){.resident = (uint8_t)(resident & ~second),
                        .found = (uint8_t)(found ? 1u << link->out : 0),
                        .second = (uint8_t)second,
                        .occupied = (uint64_t)words_alive(c, l),
                        .occupied_second = (uint64_t)second_alive(c, l)};
    SX_TRY(sx_inner_problem(c->inner, &problem, &run->problem));
    if (link->problem->size[link->row] % rows) return SX_OK;
    return sx_inner_note_whole(c->inner, run->problem, link->problem,
                               (double)link->problem->size[link->row] / rows * c->loops.slices,
                               c->loops.slices > 1 && l == c->chain->n - 1);
}

/* Adds the runs of all layers; *fits is false where there are too many kinds of steps. */
static sx_status add_runs(const choice *c, sx_fuse_group *group, bool *fits) {
    *fits = true;
    for (int l = 0; l < c->chain->n; l++) {
        const bool sums = c->loops.slices > 1 && l == c->chain->n - 1;
        for (int k = 0; k < c->rows.tensor[l + 1].n_kinds; k++) {
            const uint32_t rows = c->rows.tensor[l + 1].rows[k];
            const double times = c->rows.tensor[l + 1].times[k];
            if (group->n_runs + 2 > SX_MAX_GROUP_RUNS) {
                *fits = false;
                return SX_OK;
            }
            SX_TRY(add_run(c, l, rows, times * (sums ? 1 : c->loops.slices), false, group));
            if (sums) SX_TRY(add_run(c, l, rows, times * (c->loops.slices - 1), true, group));
        }
    }
    return SX_OK;
}

/* Adds the moves of what is held, and of sums that are complete. */
static sx_status add_moves(const choice *c, sx_fuse_group *group) {
    const sx_layer_chain *chain = c->chain;
    const sx_exchange *x = chain->exchange;
    for (int l = 0; l < chain->n; l++) {
        const sx_chain_link *link = &chain->link[l];
        const double heads = link->operand[link->other].split >= 0 ? chain->heads : 1;
        const double times = c->loops.inner ? c->outer.steps : 1;
        if (c->loops.held >> l & 1)
            SX_TRY(add_move(
                c, l, link->other,
                times * (double)sx_graph_words(&x->graph->tensor[link->operand[link->other].tensor]) / heads,
                true, group));
    }
    if (c->loops.holds_in) {
        const sx_chain_link *link = &chain->link[0];
        const double heads = link->operand[link->in].split >= 0 ? chain->heads : 1;
        const double words =
            (double)sx_graph_words(&x->graph->tensor[link->operand[link->in].tensor]) / heads;
        SX_TRY(add_move(c, 0, link->in, words * c->outer.tensor[0].total / link->rows_in, true, group));
    }
    if (c->loops.slices > 1) {
        const sx_chain_link *link = &chain->link[chain->n - 1];
        const double heads = link->operand[link->out].split >= 0 ? chain->heads : 1;
        SX_TRY(add_move(c, chain->n - 1, link->out,
                        (double)sx_graph_words(&x->graph->tensor[link->operand[link->out].tensor]) / heads,
                        false, group));
    }
    return SX_OK;
}

/* Sets what a report says of a group. */
static void describe_group(const choice *c, sx_fuse_group *group) {
    const sx_layer_chain *chain = c->chain;
    const sx_chain_link *last = &chain->link[chain->n - 1];
    *group = (sx_fuse_group){.first = chain->link[0].step,
                             .last = last->step,
                             .n_layers = chain->n,
                             .window = c->loops.window,
                             .tile = c->loops.tile,
                             .row_steps = c->outer.steps,
                             .inner = c->loops.inner,
                             .inner_steps =
                                 c->loops.inner ? (c->loops.tile + c->loops.inner - 1) / c->loops.inner : 1,
                             .slices = c->loops.slices,
                             .held = c->loops.held,
                             .holds_in = c->loops.holds_in,
                             .second = c->loops.second,
                             .one_pass = chain->one_pass && c->loops.slices > 1,
                             .in = chain->link[0].operand[chain->link[0].in].tensor,
                             .heads = chain->heads};
    memcpy(group->row, last->problem->dim_name[last->row], sizeof group->row);
    if (c->loops.slices > 1)
        memcpy(group->channel, last->problem->dim_name[last->channel], sizeof group->channel);
    for (int l = 0; l < chain->n; l++) {
        const double alive = words_alive(c, l), second = second_alive(c, l);
        group->step[l] = chain->link[l].step;
        group->other[l] = chain->link[l].operand[chain->link[l].other].tensor;
        if (alive > (double)group->peak) group->peak = (uint64_t)alive;
        if (second > (double)group->peak_second) group->peak_second = (uint64_t)second;
        if (l + 1 == chain->n) continue;
        const double each = row_words(c, l + 1);
        const uint32_t total = c->rows.tensor[l + 1].total, rows = chain->link[l].rows_out;
        group->inside[l] = chain->exchange->step[chain->link[l].step].value[chain->link[l].out];
        const bool passing = c->loops.inner && c->loops.window == SX_GROUP_RECOMPUTE;
        group->tile_words[l] = (uint64_t)ceil(
            c->rows.tensor[l + 1].kept * each / (passing ? c->loops.slices : 1) +
            (c->rows.tensor[l + 1].tile - c->rows.tensor[l + 1].kept) * each / c->loops.slices);
        group->rows_kept[l] = c->rows.tensor[l + 1].kept;
        group->rows_again[l] = total > rows ? total - rows : 0;
    }
}

/* Whether what is held has slices, where it is held by them. */
static bool can_hold_slices(const choice *c) {
    for (int l = 0; c->loops.inner && l < c->chain->n; l++) {
        const sx_chain_link *link = &c->chain->link[l];
        if ((c->loops.held >> l & 1) && !sx_tensor_has(&link->problem->tensor[link->other], link->channel))
            return false;
    }
    return !c->loops.inner || c->loops.slices > 1;
}

/* Makes the group of a choice; *possible is false where it has too many different steps. */
static sx_status make_group(choice *c, sx_fuse_group *out, bool *possible) {
    *possible = set_rows(c) && can_hold_slices(c);
    if (!*possible) return SX_OK;
    describe_group(c, out);
    SX_TRY(add_runs(c, out, possible));
    return *possible ? add_moves(c, out) : SX_OK;
}

sx_status sx_fuse_group_make(const sx_layer_chain *chain, sx_inner *inner, const sx_group_choice *loops,
                             sx_fuse_group *out, bool *possible) {
    choice c = {.chain = chain, .inner = inner, .loops = *loops};
    return make_group(&c, out, possible);
}

/* Adds a choice to the list where its tiles fit into both memories; its rows are set. */
static sx_status add_fitting(choice *c, sx_vector *out) {
    sx_fuse_group group;
    const sx_exchange *x = c->chain->exchange;
    bool fits = true;
    for (int l = 0; l < c->chain->n && fits; l++)
        fits = words_alive(c, l) <= (double)(x->capacity - x->reserved) &&
               second_alive(c, l) <= (double)x->second_capacity;
    if (fits) SX_TRY(make_group(c, &group, &fits));
    if (!fits) return SX_OK;
    sx_fuse_group *item = sx_vector_add(out);
    if (!item) return sx_error_memory();
    *item = group;
    return SX_OK;
}

/* Adds a choice with each set of values between its layers whose tiles are in the second memory. */
static sx_status add_choice(choice *c, sx_vector *out) {
    const sx_exchange *x = c->chain->exchange;
    unsigned all = 0;
    if (!set_rows(c)) return SX_OK;
    for (int l = 0; l + 1 < c->chain->n && x->second >= 0; l++) {
        const sx_chain_link *link = &c->chain->link[l];
        all |= (unsigned)x->value[x->step[link->step].value[link->out]].second_tiles << l;
    }
    c->loops.second = 0;
    do {
        SX_TRY(add_fitting(c, out));
        c->loops.second = (c->loops.second - all) & all;
    } while (c->loops.second);
    return SX_OK;
}

/* Adds the inner tiles of an outer one, where there are slices between: what is held by slices is read once for each outer
 * step, and rows that are made again for the next outer step need not be kept of all slices. */
static sx_status add_inner_tiles(choice *c, sx_vector *out) {
    if (c->loops.slices == 1 || (c->loops.window == SX_GROUP_RETAIN && !c->loops.held)) return SX_OK;
    for (uint32_t steps = 2; steps <= c->loops.tile; steps++) {
        if (c->loops.tile % steps) continue;
        c->loops.inner = c->loops.tile / steps;
        SX_TRY(add_choice(c, out));
    }
    c->loops.inner = 0;
    return SX_OK;
}

/* Adds the tiles of rows. In one step nothing is held that slices or heads do not need again. */
static sx_status add_tiles(choice *c, sx_vector *out) {
    const uint32_t rows = c->chain->link[c->chain->n - 1].rows_out;
    for (uint32_t steps = 1; steps <= rows; steps++) {
        const bool again =
            !c->loops.held && (c->loops.slices > 1 || (!c->loops.holds_in && c->chain->heads > 1));
        if (rows % steps) continue;
        c->loops.tile = rows / steps;
        if (c->nested) SX_TRY(add_inner_tiles(c, out));
        if (steps > 1 || (again && !c->listed)) SX_TRY(add_choice(c, out));
    }
    return SX_OK;
}

/* Adds what is held on chip: nothing, all operands of one kind, or the smallest of them; each with and without the input. */
static sx_status add_held(choice *c, sx_vector *out) {
    const sx_layer_chain *chain = c->chain;
    const sx_exchange *x = chain->exchange;
    unsigned all = 0, small = 0;
    double largest = 0;
    for (int l = 0; l < chain->n; l++) {
        const sx_chain_link *link = &chain->link[l];
        if (!(sx_arch_keep_mask(x->arch, x->level, link->problem) >> link->other & 1)) continue;
        all |= 1u << l;
        largest = fmax(largest, operand_words(chain, l, link->other));
    }
    for (int l = 0; l < chain->n; l++)
        if ((all >> l & 1) && operand_words(chain, l, chain->link[l].other) < largest) small |= 1u << l;
    const unsigned held[] = {0, all, small};
    const sx_chain_link *first = &chain->link[0];
    const bool overlaps = first->reach > first->stride,
               keeps = sx_arch_keep_mask(x->arch, x->level, first->problem) >> first->in & 1;
    for (int h = 0; h < 3; h++)
        for (int in = 0; in < 2; in++) {
            if ((h == 1 && all == 0) || (h == 2 && (small == 0 || small == all))) continue;
            if (in && !(keeps && (overlaps || c->loops.slices > 1))) continue;
            c->loops.held = held[h];
            c->loops.holds_in = in;
            SX_TRY(add_tiles(c, out));
        }
    return SX_OK;
}

/* Adds the choices of a chain: windows and slices of the channels. */
static sx_status add_chain(const sx_layer_chain *chain, sx_inner *inner, unsigned windows, bool nested,
                           sx_vector *out) {
    bool slides = false;
    for (int l = 1; l < chain->n; l++) slides |= chain->link[l].reach > chain->link[l].stride;
    for (sx_group_window w = SX_GROUP_RETAIN; w <= SX_GROUP_RECOMPUTE; w++) {
        if (!(windows >> w & 1) && slides) continue;
        if (w == SX_GROUP_RECOMPUTE && !slides) continue;
        for (uint32_t slices = 1; slices <= chain->channels; slices++) {
            if (chain->channels % slices) continue;
            choice c = {.chain = chain,
                        .inner = inner,
                        .loops = {.window = w, .slices = slices},
                        .nested = nested,
                        .listed = w == SX_GROUP_RECOMPUTE && (windows >> SX_GROUP_RETAIN & 1)};
            SX_TRY(add_held(&c, out));
        }
    }
    return SX_OK;
}

sx_status sx_groups_list(const sx_exchange *exchange, sx_inner *inner, size_t step, unsigned windows,
                         bool nested, sx_vector *out) {
    for (int n = 2; n <= SX_MAX_GROUP; n++) {
        sx_layer_chain chain;
        if (sx_layer_chain_find(exchange, step, n, &chain))
            SX_TRY(add_chain(&chain, inner, windows, nested, out));
    }
    return SX_OK;
}
