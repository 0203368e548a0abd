/* Random fused mappings of chains of convolutions, with strides, dilations, residuals and arrays, evaluated and executed:
 * test_fused [count [seed]]. The execution walks the steps of every group with the rows of each tensor in sets, and runs each
 * layer's nest iteration by iteration; once more it runs temporal loops as Timeloop samples them, which the evaluator must
 * equal in all figures (docs/model.md, section 8). */
#include "fuse/group_chain.h"
#include "session/fusing.h"
#include "sextant/all.h"
#include "support/compared.h"
#include "support/expect.h"
#include "support/sampled_oracle.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_LAYERS = 5, MOST_ROWS = 24, ROOM = 64, OUT = 0, WEIGHTS = 1, IN = 2 };

typedef struct settings {
    uint64_t count, seed;
} settings;

/* One layer: its window over rows, and rows and channels of its output. */
typedef struct layer_shape {
    int reach, stride, pad, rows, channels;
    uint64_t weights;
    bool depthwise;
} layer_shape;

/* Tensor 0 is the input, tensor l + 1 what layer l makes. */
typedef struct tower {
    int n, rows, channels, width;
    size_t adds;
    bool windows; /* some rank of a tensor is a sum or has a stride */
    layer_shape layer[MOST_LAYERS];
    sx_graph graph;
    sx_network network;
    sx_arch arch;
} tower;

/* What was compared. */
typedef struct tally {
    uint64_t mappings, groups, runs, residuals, arrays, windows, second, second_tiles, differ, plain_differ;
} tally;

/* Energy, cycles and bytes to and from the outermost memory. */
typedef struct figures {
    double energy, cycles, bytes;
} figures;

static int draw(sx_rng *rng, int low, int high) {
    return low + (int)sx_rng_below(rng, (uint64_t)(high - low + 1));
}

static size_t add_tensor(sx_graph *graph, const char *name, int number, const uint64_t *extent, size_t n) {
    sx_graph_tensor tensor = {.weight = name[0] == 'w', .bits = 8, .n_ranks = (uint8_t)n};
    size_t index;
    memcpy(tensor.extent, extent, n * sizeof *extent);
    snprintf(tensor.name, sizeof tensor.name, "%s%d", name, number);
    sx_expect_ok(sx_graph_add_tensor(graph, &tensor, &index));
    return index;
}

/* Adds a layer to the graph, whose window has a given number of rows, so far apart, and columns; returns its output. */
static size_t add_layer(tower *t, int l, size_t in, int window, int dilation, int columns) {
    layer_shape *layer = &t->layer[l];
    const int rows = l ? t->layer[l - 1].rows : t->rows;
    const int channels = l ? t->layer[l - 1].channels : t->channels;
    char text[200];
    sx_problem einsum;
    snprintf(text, sizeof text,
             layer->depthwise ? "O[k,p,q] += W[k,r,s]*I[k,%d*p+%d*r,q+s] {k:%d,p:%d,q:%d,r:%d,s:%d}"
                              : "O[k,p,q] += W[k,r,s,c]*I[c,%d*p+%d*r,q+s] {k:%d,p:%d,q:%d,r:%d,s:%d,c:%d}",
             layer->stride, dilation, layer->channels, layer->rows, t->width, window, columns, channels);
    sx_expect_ok(sx_einsum_parse(text, &einsum));
    memset(einsum.name, 0, sizeof einsum.name);
    const uint64_t weights[] = {(uint64_t)layer->channels, (uint64_t)window, (uint64_t)columns,
                                (uint64_t)channels},
                   made[] = {(uint64_t)layer->channels, (uint64_t)layer->rows, (uint64_t)t->width};
    const size_t ranks = layer->depthwise ? 3 : 4, weight = add_tensor(&t->graph, "w", l, weights, ranks),
                 out = add_tensor(&t->graph, "t", l + 1, made, 3);
    layer->weights = sx_graph_words(&t->graph.tensor[weight]);
    sx_graph_operand operand[] = {sx_graph_whole(out, true, 3), sx_graph_whole(weight, false, ranks),
                                  sx_graph_whole(in, false, 3)};
    const int missing = layer->stride * (layer->rows - 1) + layer->reach - rows - layer->pad;
    operand[IN].before[1] = (uint32_t)layer->pad;
    operand[IN].after[1] = (uint32_t)(missing > 0 ? missing : 0);
    operand[IN].before[2] = (uint32_t)((columns - 1) / 2);
    operand[IN].after[2] = (uint32_t)(columns - 1 - (columns - 1) / 2);
    sx_graph_node node = {.kind = SX_OP_EINSUM, .axis = -1, .repeat = 1};
    snprintf(node.name, sizeof node.name, "layer%d", l);
    memcpy(node.layer, node.name, sizeof node.layer);
    sx_expect_ok(sx_graph_add_node(&t->graph, &node, &einsum, operand, 3, NULL));
    return out;
}

/* Adds what an earlier layer made to the last output; returns the sum. */
static size_t add_residual(tower *t, int l, size_t out, size_t earlier) {
    const sx_graph_tensor *shape = &t->graph.tensor[out];
    sx_graph_operand operand[] = {
        {.tensor = add_tensor(&t->graph, "s", l, shape->extent, 3), .written = true, .split = -1},
        {.tensor = out, .split = -1},
        {.tensor = earlier, .split = -1}};
    sx_graph_node node = {.kind = SX_OP_ELEMENT_WISE, .function = "add", .axis = -1, .repeat = 1};
    snprintf(node.name, sizeof node.name, "sum%d", l);
    memcpy(node.layer, node.name, sizeof node.layer);
    sx_expect_ok(sx_graph_add_node(&t->graph, &node, NULL, operand, 3, NULL));
    t->adds++;
    return operand[0].tensor;
}

static void draw_layers(sx_rng *rng, tower *t) {
    static const int channels[] = {1, 2, 4, 6};
    const uint64_t first[] = {(uint64_t)t->channels, (uint64_t)t->rows, (uint64_t)t->width};
    size_t made[MOST_LAYERS + 1] = {add_tensor(&t->graph, "t", 0, first, 3)};
    int rows = t->rows, deep = t->channels;
    for (int l = 0; l < t->n; l++) {
        layer_shape *layer = &t->layer[l];
        int window = t->windows && draw(rng, 0, 2) ? draw(rng, 1, 3) : 1;
        const int columns = t->windows ? draw(rng, 1, t->width < 3 ? t->width : 3) : 1;
        const int dilation = window > 1 && draw(rng, 0, 3) == 0 ? 2 : 1;
        layer->reach = dilation * (window - 1) + 1;
        layer->stride = !t->windows || draw(rng, 0, 2) ? 1 : 2;
        layer->pad = draw(rng, 0, layer->reach - 1);
        layer->depthwise = draw(rng, 0, 2) == 0;
        layer->channels = layer->depthwise ? deep : channels[draw(rng, 0, 3)];
        if (rows + 2 * layer->pad < layer->reach + layer->stride)
            window = layer->reach = layer->stride = 1, layer->pad = 0;
        layer->rows = (rows + 2 * layer->pad - layer->reach) / layer->stride + 1;
        made[l + 1] = add_layer(t, l, made[l], window, dilation, columns);
        rows = layer->rows;
        deep = layer->channels;
        for (int e = l; e > 0 && draw(rng, 0, 1); e--)
            if (t->layer[e - 1].rows == rows && t->layer[e - 1].channels == deep) {
                made[l + 1] = add_residual(t, l, made[l + 1], made[e]);
                break;
            }
    }
}

static void draw_machine(sx_rng *rng, sx_arch *arch) {
    static const int units[] = {1, 2, 4, 8, 16};
    const int n = units[draw(rng, 0, 4)];
    char text[1400], second[200] = "";
    if (draw(rng, 0, 1))
        snprintf(second, sizeof second,
                 "  - {name: L1, instances: 1, entries: %d, word-bits: 8, vector-access-energy: 1, "
                 "read_bandwidth: %d, write_bandwidth: %d}\n",
                 draw(rng, 20, 800), draw(rng, 1, 8), draw(rng, 1, 8));
    snprintf(
        text, sizeof text,
        "arch:\n"
        "  name: small\n"
        "  arithmetic: {name: MAC, instances: %d, meshX: %d, word-bits: 8, energy: 0.25}\n"
        "  storage:\n"
        "  - {name: RF, instances: %d, meshX: %d, entries: %d, word-bits: 8, vector-access-energy: 0.5}\n"
        "%s"
        "  - {name: GLB, instances: 1, entries: %d, word-bits: 8, read_energy: %d, fill_energy: %d, "
        "update_energy: %d, read_bandwidth: %d, write_bandwidth: %d, energy-per-hop: %g}\n"
        "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8, vector-access-energy: 64, "
        "read_bandwidth: %d, write_bandwidth: %d}\n",
        n, n == 16 ? 4 : n, n, n == 16 ? 4 : n, draw(rng, 4, 32), second, draw(rng, 100, 4000),
        draw(rng, 3, 6), draw(rng, 3, 6), draw(rng, 3, 6), draw(rng, 1, 8), draw(rng, 1, 8),
        draw(rng, 0, 1) ? 0.125 : 0.0, draw(rng, 1, 4), draw(rng, 1, 4));
    sx_input *input = sx_expect_input(text);
    sx_expect_ok(sx_input_arch(input, arch));
    sx_input_free(input);
}

static void draw_tower(sx_rng *rng, tower *t) {
    static const int channels[] = {1, 2, 4, 6};
    memset(t, 0, sizeof *t);
    t->n = draw(rng, 2, MOST_LAYERS);
    t->windows = draw(rng, 0, 3) > 0;
    t->rows = draw(rng, 5, MOST_ROWS);
    t->width = draw(rng, 1, 4);
    t->channels = channels[draw(rng, 0, 3)];
    snprintf(t->graph.name, sizeof t->graph.name, "tower");
    draw_layers(rng, t);
    sx_expect_ok(sx_graph_network(&t->graph, &t->network));
    draw_machine(rng, &t->arch);
}

/* The layer of a step; -1: an addition. */
static int layer_of(const sx_fusing *f, size_t step) {
    const char *name = f->exchange.graph->node[f->exchange.step[step].node].name;
    return name[0] == 'l' ? atoi(name + 5) : -1;
}

/* A group of random layers from a step on, with random loops over rows and channels; false: there is none. */
static bool draw_group(sx_rng *rng, sx_fusing *f, size_t step, sx_fuse_group *out) {
    sx_layer_chain chain;
    bool possible;
    if (draw(rng, 0, 3) == 0 || layer_of(f, step) < 0) return false;
    int n = draw(rng, 2, MOST_LAYERS);
    while (n > 1 && !sx_layer_chain_find(&f->exchange, step, n, &chain)) n--;
    if (n == 1) return false;
    sx_group_choice choice = {.window = draw(rng, 0, 1) ? SX_GROUP_RETAIN : SX_GROUP_RECOMPUTE,
                              .tile = (uint32_t)draw(rng, 1, (int)chain.link[chain.n - 1].rows_out),
                              .slices = 1,
                              .held = (unsigned)draw(rng, 0, (1 << chain.n) - 1),
                              .holds_in = draw(rng, 0, 1)};
    for (int l = 0; l + 1 < chain.n && f->exchange.second >= 0; l++)
        choice.second |= (unsigned)draw(rng, 0, 1) << l;
    if (draw(rng, 0, 1)) choice.slices = (uint32_t)draw(rng, 1, (int)chain.channels);
    while (chain.channels % choice.slices) choice.slices--;
    if (choice.slices > 1 && draw(rng, 0, 1)) choice.inner = (uint32_t)draw(rng, 1, (int)choice.tile);
    sx_expect_ok(sx_fuse_group_make(&chain, &f->inner, &choice, out, &possible));
    return possible && strcmp(out->row, "p") == 0;
}

/* Draws the parts of a plan: groups and single steps, and which values stay whole. */
static void draw_parts(sx_rng *rng, sx_fusing *f) {
    sx_exchange *x = &f->exchange;
    sx_plan *plan = &f->answer.plan;
    plan->part = calloc(x->n_steps + 1, sizeof *plan->part);
    assert_non_null(plan->part);
    plan->found = true;
    for (size_t v = 0; v < x->n_values; v++)
        x->value[v].choice = x->value[v].reason || draw(rng, 0, 1) == 0                 ? SX_EXCHANGE_OUT
                             : x->value[v].second_slot != SX_NO_SLOT && draw(rng, 0, 1) ? SX_EXCHANGE_SECOND
                                                                                        : SX_EXCHANGE_FIRST;
    for (size_t s = 0; s < x->n_steps; s = plan->part[plan->n_parts++].last + 1) {
        sx_plan_part *part = &plan->part[plan->n_parts];
        sx_fuse_group group;
        *part = (sx_plan_part){.first = s, .last = s, .optimum = SX_NO_INDEX, .group = SX_NO_INDEX};
        if (!draw_group(rng, f, s, &group)) continue;
        part->group = f->groups.n;
        part->last = group.last;
        *(sx_fuse_group *)sx_vector_add(&f->groups) = group;
        for (int l = 0; l + 1 < group.n_layers; l++) x->value[group.inside[l]].choice = SX_EXCHANGE_OUT;
    }
    for (size_t i = 0; i < plan->n_parts; i++)
        for (size_t v = 0; v < x->n_values; v++)
            if (sx_exchange_must_stay(&x->value[v]) && x->value[v].first <= plan->part[i].last &&
                x->value[v].last >= plan->part[i].first)
                plan->part[i].state |= UINT64_C(1)
                                       << (x->value[v].choice == SX_EXCHANGE_SECOND ? x->value[v].second_slot
                                                                                    : x->value[v].slot);
}

/* Whether the exchange memory has room for all parts. */
static bool parts_fit(const sx_fusing *f) {
    const sx_exchange *x = &f->exchange;
    for (size_t i = 0; i < f->answer.plan.n_parts; i++) {
        const sx_plan_part *part = &f->answer.plan.part[i];
        uint64_t words = sx_plan_occupied(x, part->first, part->last, part->state);
        uint64_t second = sx_plan_occupied_second(x, part->first, part->last, part->state);
        if (part->group != SX_NO_INDEX) {
            const sx_fuse_group *group = sx_vector_at(&f->groups, part->group);
            words += group->peak;
            second += group->peak_second;
        }
        if (words > x->capacity || second > x->second_capacity) return false;
    }
    return true;
}

/* Adds a run with a mapping that is drawn; false: none was found. */
static bool draw_run(sx_rng *rng, sx_fusing *f, const sx_group_run *run, const sx_cut *cut, sx_fused *out) {
    static sx_arch arch;
    static sx_constraints limits[2];
    sx_fused_run *added;
    sx_model *model;
    sx_space *space = NULL;
    sx_expect_ok(sx_fused_add_run(f, run, cut, out, &added));
    sx_cut_arch(f->searcher.arch, f->searcher.exchange, cut, &arch);
    sx_constraints_init(&limits[0], &added->problem, f->searcher.arch);
    sx_cut_constraints(f->searcher.arch, &limits[0], f->searcher.exchange, cut, &limits[1]);
    sx_expect_ok(sx_model_new(&added->problem, &arch, NULL, &model));
    sx_status status = sx_map_space_new(model, &limits[1], NULL, &space);
    if (!status)
        status = sx_map_space_draw(space, sx_rng_next(rng), 0, 1, sizeof added->mapping, &added->mapping);
    const bool found = !status;
    sx_status_free(status);
    sx_space_free(space);
    sx_model_free(model);
    return found;
}

/* Draws the mappings of all runs; false: some has none. */
static bool draw_runs(sx_rng *rng, sx_fusing *f, sx_fused *out) {
    const sx_exchange *x = &f->exchange;
    for (size_t i = 0; i < f->answer.plan.n_parts; i++) {
        const sx_plan_part *part = &f->answer.plan.part[i];
        if (part->group != SX_NO_INDEX) {
            const sx_fuse_group *group = sx_vector_at(&f->groups, part->group);
            for (int r = 0; r < group->n_runs; r++) {
                const sx_cut cut = sx_plan_run_cut(x, group, &group->run[r], part->state);
                if (!draw_run(rng, f, &group->run[r], &cut, out)) return false;
            }
        } else if (x->step[part->first].layer != SX_NO_INDEX) {
            sx_group_run run = {.step = part->first, .times = 1};
            const sx_cut cut = sx_plan_step_cut(x, part->first, part->state);
            sx_expect_ok(sx_inner_problem(&f->inner, &x->network->layer[x->step[part->first].layer].problem,
                                          &run.problem));
            if (!draw_run(rng, f, &run, &cut, out)) return false;
        }
    }
    return true;
}

/* An execution: by all iterations, and by sampled ones. */
typedef struct execution {
    const tower *t;
    const sx_fusing *f;
    const sx_fused *fused;
    const sx_plan_part *part;
    const sx_fuse_group *group;
    figures executed, sampled;
} execution;

/* The exchange memory in which a tensor of the graph is whole: 1 or 2; 0: none. */
static int whole_in(const execution *e, const char *name, int number) {
    char text[SX_NAME_SIZE];
    snprintf(text, sizeof text, "%s%d", name, number);
    const size_t tensor = sx_graph_find_tensor(&e->t->graph, text);
    const size_t value = tensor == SX_NO_INDEX ? SX_NO_INDEX : e->f->exchange.value_of[tensor];
    if (value == SX_NO_INDEX || !sx_exchange_must_stay(&e->f->exchange.value[value])) return 0;
    return e->f->exchange.value[value].choice == SX_EXCHANGE_SECOND ? 2 : 1;
}

/* Which tensors of a layer are in the exchange memory; at: its place in a group, -1: it is in none. */
static sx_cut residents(const execution *e, int l, int at) {
    const int level = e->f->searcher.second, out = whole_in(e, "t", l + 1), in = whole_in(e, "t", l);
    sx_cut cut = {.second_level = (uint8_t)(level >= 0 ? level : 0)};
    unsigned mask = 0;
    cut.second = (uint8_t)((unsigned)(out == 2) << OUT | (unsigned)(in == 2) << IN);
    if (out == 1) mask |= 1u << OUT;
    if (in == 1) mask |= 1u << IN;
    cut.resident = (uint8_t)mask;
    if (at < 0) return cut;
    const sx_fuse_group *group = e->group;
    if (at > 0 || group->holds_in) mask |= 1u << IN;
    if (at + 1 < group->n_layers || group->slices > 1) mask |= 1u << OUT;
    if (group->held >> at & 1) mask |= 1u << WEIGHTS;
    if (at > 0 && (group->second >> (at - 1) & 1)) cut.second |= 1u << IN;
    if (group->second >> at & 1) cut.second |= 1u << OUT;
    cut.resident = (uint8_t)(mask & ~(unsigned)cut.second);
    return cut;
}

static void add_score(const sx_score *score, double bytes, double times, figures *sum) {
    sum->energy += times * score->energy_pj;
    sum->cycles += times * score->cycles;
    sum->bytes += times * bytes;
}

/* Words to and from the outermost memory, a byte each. */
static double outermost_words(const sx_cost *cost, int level) {
    double words = 0;
    for (int v = 0; v < 3; v++) {
        const sx_cost_tensor *t = &cost->level[level].tensor[v];
        if (t->kept) words += (double)t->reads + (double)t->fills + (double)t->updates;
    }
    return words;
}

/* Runs a layer on a given number of rows, 0 being all. */
static void run_layer(execution *e, int l, int at, int rows, bool again, double times) {
    static sx_cost executed, sampled;
    static sx_arch arch;
    const int exchange = e->f->searcher.exchange;
    const sx_cut cut = residents(e, l, at);
    for (size_t r = 0; r < e->fused->n_runs; r++) {
        const sx_fused_run *run = &e->fused->run[r];
        if ((int)run->layer != l || (int)run->rows != rows || run->again != again) continue;
        if (rows) assert_int_equal(run->problem.size[sx_problem_dim(&run->problem, "p")], rows);
        sx_cut_arch(&e->t->arch, exchange, &cut, &arch);
        assert_int_equal(arch.n_levels, run->mapping.n_levels);
        const int keeper = cut.second >> OUT & 1 ? arch.n_levels - 1 : exchange + 1;
        if (again) assert_true(run->mapping.level[keeper].rmw_first_update >> OUT & 1);
        sx_count_sampled(&run->problem, &arch, &run->mapping, NULL, &executed, &sampled);
        const sx_score a = sx_cut_score(&run->problem, &arch, exchange, &cut, &executed),
                       b = sx_cut_score(&run->problem, &arch, exchange, &cut, &sampled);
        add_score(&a, outermost_words(&executed, sx_cut_outermost(&arch, &cut)), times, &e->executed);
        add_score(&b, outermost_words(&sampled, sx_cut_outermost(&arch, &cut)), times, &e->sampled);
        return;
    }
    fail_msg("layer %d has no run of %d rows%s", l, rows, again ? " again" : "");
}

/* Moves words once between the outermost and the exchange memory. */
static void move_words(execution *e, double words, bool inward) {
    const int levels = e->t->arch.n_levels;
    const sx_storage *far = &e->t->arch.level[levels - 1], *near = &e->t->arch.level[levels - 2];
    const double energy = inward ? far->read_energy + near->fill_energy : far->update_energy;
    const double slow = inward ? fmin(far->read_bandwidth, near->write_bandwidth)
                               : fmin(far->write_bandwidth, near->read_bandwidth);
    const sx_score score = {.energy_pj = words * energy, .cycles = ceil(words / slow)};
    add_score(&score, words, 1, &e->executed);
    add_score(&score, words, 1, &e->sampled);
}

static int rows_of(const tower *t, int tensor) {
    return tensor ? t->layer[tensor - 1].rows : t->rows;
}

/* Fills the gaps between the first and the last row of a set. */
static void close_gaps(bool *set, int rows) {
    int low = 0, high = rows;
    while (low < rows && !set[low]) low++;
    while (high > low && !set[high - 1]) high--;
    for (int r = low; r < high; r++) set[r] = true;
}

/* The rows of the layers of a group that one step makes, from the last tensor to the first; `here`: made before. */
static void make_rows(const execution *e, int first, int at, int end, bool here[][ROOM], int *made) {
    const tower *t = e->t;
    const int n = e->group->n_layers;
    const bool retain = e->group->window == SX_GROUP_RETAIN || e->group->inner;
    bool make[MOST_LAYERS + 1][ROOM] = {{false}};
    for (int r = at; r < end && r < rows_of(t, first + n); r++) make[n][r] = true;
    for (int l = n; l >= 0; l--) {
        const int rows = rows_of(t, first + l);
        if (l < n) close_gaps(make[l], rows);
        made[l] = 0;
        for (int r = 0; r < rows; r++) {
            if (l < n && retain && here[l][r]) make[l][r] = false;
            here[l][r] |= make[l][r];
            made[l] += make[l][r];
        }
        if (l == 0) break;
        const layer_shape *layer = &t->layer[first + l - 1];
        for (int r = 0; r < rows; r++)
            for (int k = 0; k < layer->reach && make[l][r]; k++) {
                const int row = layer->stride * r + k - layer->pad;
                if (row >= 0 && row < rows_of(t, first + l - 1)) make[l - 1][row] = true;
            }
    }
}

/* Executes the steps of a group. */
static void run_group(execution *e) {
    const tower *t = e->t;
    const sx_fuse_group *group = e->group;
    const int first = layer_of(e->f, group->first), n = group->n_layers;
    const double slices = group->slices;
    bool here[MOST_LAYERS + 1][ROOM] = {{false}};
    const int tile = (int)group->tile, each = group->inner ? (int)group->inner : tile;
    int read = 0;
    for (int at = 0, end; at < rows_of(t, first + n); at = end) {
        int made[MOST_LAYERS + 1];
        const int outer = at / tile * tile;
        if (at == outer && group->window == SX_GROUP_RECOMPUTE) memset(here, 0, sizeof here);
        end = at + each < outer + tile ? at + each : outer + tile;
        make_rows(e, first, at, end, here, made);
        read += made[0];
        for (int l = 0; l < n; l++) {
            const bool sums = slices > 1 && l == n - 1;
            if (!made[l + 1]) continue;
            run_layer(e, first + l, l, made[l + 1], false, sums ? 1 : slices);
            if (sums) run_layer(e, first + l, l, made[l + 1], true, slices - 1);
        }
    }
    for (int l = 0; l < n; l++)
        if (group->held >> l & 1)
            move_words(e, (double)t->layer[first + l].weights * (group->inner ? group->row_steps : 1), true);
    const int deep = first ? t->layer[first - 1].channels : t->channels;
    if (group->holds_in && !whole_in(e, "t", first)) move_words(e, (double)read * t->width * deep, true);
    if (slices > 1 && !whole_in(e, "t", first + n))
        move_words(e, (double)rows_of(t, first + n) * t->width * t->layer[first + n - 1].channels, false);
}

static void execute(execution *e) {
    for (size_t i = 0; i < e->f->answer.plan.n_parts; i++) {
        e->part = &e->f->answer.plan.part[i];
        e->group = e->part->group == SX_NO_INDEX ? NULL : sx_vector_at(&e->f->groups, e->part->group);
        const int l = layer_of(e->f, e->part->first);
        if (e->group)
            run_group(e);
        else if (l >= 0)
            run_layer(e, l, -1, 0, false, 1);
    }
}

static bool equal(double a, double b) {
    return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

/* Compares the figures of a fused mapping with its execution. */
static void compare(const execution *e, uint64_t index, tally *sum) {
    const sx_fused *fused = e->fused;
    const figures *a = &e->sampled, *b = &e->executed;
    const bool same = equal(fused->total.energy_pj, a->energy) && equal(fused->total.cycles, a->cycles) &&
                      equal(fused->dram_bytes, a->bytes);
    if (!same)
        print_error("case %llu: %.17g pJ, %.17g cycles, %.17g bytes; sampled %.17g, %.17g, %.17g\n",
                    (unsigned long long)index, fused->total.energy_pj, fused->total.cycles, fused->dram_bytes,
                    a->energy, a->cycles, a->bytes);
    assert_true(same);
    assert_true(fused->peak <= fused->capacity && fused->second_peak <= fused->second_capacity);
    const bool differs = !equal(a->energy, b->energy) || !equal(a->cycles, b->cycles);
    sum->mappings++;
    sum->differ += differs;
    sum->windows += e->t->windows;
    sum->plain_differ += differs && !e->t->windows;
    sum->groups += e->f->groups.n;
    sum->runs += fused->n_runs;
    sum->residuals += e->t->adds;
    for (size_t t = 0; t < fused->n_tensors; t++) {
        sum->second += fused->tensor[t].second;
        sum->second_tiles += fused->tensor[t].second && fused->tensor[t].depth > 0;
    }
    sum->arrays += e->t->arch.compute.instances > 1;
}

static void check_case(uint64_t seed, uint64_t index, const sx_session_options *options, tally *sum) {
    static tower t;
    sx_rng rng = sx_rng_stream(seed, "fused", index);
    draw_tower(&rng, &t);
    sx_fusing f = {.options = options, .searcher = {.arch = &t.arch, .options = options}};
    sx_fused *fused = calloc(1, sizeof *fused);
    assert_non_null(fused);
    sx_expect_ok(sx_fusing_init(&f, &t.graph, &t.network, t.arch.n_levels > 3 ? "GLB,L1" : NULL, NULL));
    draw_parts(&rng, &f);
    fused->given = true;
    sx_fused_set_memories(&f, fused);
    sx_expect_ok(sx_fused_set_layers(&f, fused));
    if (parts_fit(&f) && draw_runs(&rng, &f, fused)) {
        sx_expect_ok(sx_fused_set_figures(&f, fused));
        assert_string_equal(fused->illegal, "");
        execution e = {.t = &t, .f = &f, .fused = fused};
        execute(&e);
        compare(&e, index, sum);
    }
    sx_fused_free(fused);
    sx_fusing_fini(&f);
    sx_network_fini(&t.network);
    sx_graph_fini(&t.graph);
}

static void fused_mappings_equal_execution(void **state) {
    const settings *s = *state;
    tally sum = {0};
    sx_session_options options;
    sx_session_options_init(&options);
    sx_expect_ok(sx_objective_parse("energy", &options.run.objective));
    for (uint64_t i = 0; i < s->count; i++) check_case(s->seed, i, &options, &sum);
    print_message(
        "%llu groups, %llu runs, %llu residuals, %llu on arrays, %llu with windows, %llu tensors in a second "
        "memory, %llu of them by tiles; sampling differs "
        "from execution in %llu, of them without windows %llu\n",
        (unsigned long long)sum.groups, (unsigned long long)sum.runs, (unsigned long long)sum.residuals,
        (unsigned long long)sum.arrays, (unsigned long long)sum.windows, (unsigned long long)sum.second,
        (unsigned long long)sum.second_tiles, (unsigned long long)sum.differ,
        (unsigned long long)sum.plain_differ);
    assert_int_equal(sum.plain_differ, 0);
    assert_true(sum.groups > sum.mappings / 4);
    assert_true(sum.second > sum.mappings / 16 && sum.second_tiles > sum.mappings / 16);
    sx_expect_compared("fused mappings", sum.mappings, s->count / 4);
}

int main(int argc, char **argv) {
    settings s = {.count = argc > 1 ? strtoull(argv[1], NULL, 10) : 300,
                  .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(fused_mappings_equal_execution, &s)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
