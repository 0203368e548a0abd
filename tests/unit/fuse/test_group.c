/* Groups of convolutions, compared with an oracle that walks all steps and keeps the rows of each tensor in sets. */
#include "fuse/group_chain.h"

#include "sextant/all.h"
#include "support/all_groups.h"
#include "support/expect.h"
#include "support/sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_LAYERS = 4, MOST_ROWS = 40, MOST_STEPS = 64, MOST_SLICES = 8, CASES = SX_SANITIZED ? 64 : 120 };

/* One layer: its window, and rows and channels of its output. */
typedef struct layer_shape {
    int reach, stride, pad, rows, channels;
    bool depthwise;
} layer_shape;

/* Tensor 0 is the input. */
typedef struct tower {
    int n, rows, channels;
    layer_shape layer[MOST_LAYERS];
    sx_graph graph;
    sx_network network;
    sx_arch arch;
} tower;

static const char machine_text[] =
    "arch:\n"
    "  name: small\n"
    "  arithmetic: {name: MAC, instances: 4, meshX: 4, word-bits: 8, energy: 0.2}\n"
    "  storage:\n"
    "  - {name: RF, instances: 4, meshX: 4, entries: 8, word-bits: 8, vector-access-energy: 0.5}\n"
    "  - {name: GLB, instances: 1, entries: 4000, word-bits: 8, read_energy: 4, fill_energy: 5, "
    "update_energy: 6}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8, vector-access-energy: 64}\n";

/* The same with a memory more. */
static const char second_text[] =
    "arch:\n"
    "  name: small\n"
    "  arithmetic: {name: MAC, instances: 4, meshX: 4, word-bits: 8, energy: 0.2}\n"
    "  storage:\n"
    "  - {name: RF, instances: 4, meshX: 4, entries: 8, word-bits: 8, vector-access-energy: 0.5}\n"
    "  - {name: L1, instances: 1, entries: 400, word-bits: 8, vector-access-energy: 1}\n"
    "  - {name: GLB, instances: 1, entries: 4000, word-bits: 8, read_energy: 4, fill_energy: 5, "
    "update_energy: 6}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8, vector-access-energy: 64}\n";

static size_t add_tensor(sx_graph *graph, const char *name, int number, int channels, int rows, bool weight) {
    sx_graph_tensor tensor = {
        .weight = weight, .bits = 8, .n_ranks = 2, .extent = {(uint64_t)channels, (uint64_t)rows}};
    size_t index;
    snprintf(tensor.name, sizeof tensor.name, "%s%d", name, number);
    sx_expect_ok(sx_graph_add_tensor(graph, &tensor, &index));
    return index;
}

/* Adds a layer to the graph; returns its output. */
static size_t add_layer(tower *t, int l, size_t in) {
    const layer_shape *layer = &t->layer[l];
    const int rows = l ? t->layer[l - 1].rows : t->rows,
              channels = l ? t->layer[l - 1].channels : t->channels;
    char text[160];
    sx_problem einsum;
    if (layer->depthwise)
        snprintf(text, sizeof text, "O[d,p] += W[d,r]*I[d,%d*p+r] {d:%d,p:%d,r:%d}", layer->stride, channels,
                 layer->rows, layer->reach);
    else
        snprintf(text, sizeof text, "O[k,p] += W[k,c,r]*I[c,%d*p+r] {k:%d,c:%d,p:%d,r:%d}", layer->stride,
                 layer->channels, channels, layer->rows, layer->reach);
    sx_expect_ok(sx_einsum_parse(text, &einsum));
    memset(einsum.name, 0, sizeof einsum.name);
    sx_graph_tensor weights = {.weight = true, .bits = 8, .n_ranks = layer->depthwise ? 2 : 3};
    snprintf(weights.name, sizeof weights.name, "w%d", l);
    for (size_t r = 0; r < weights.n_ranks; r++)
        weights.extent[r] = (uint64_t)(r + 1 == weights.n_ranks ? layer->reach
                                       : r                      ? channels
                                                                : layer->channels);
    size_t weight;
    sx_expect_ok(sx_graph_add_tensor(&t->graph, &weights, &weight));
    const size_t out = add_tensor(&t->graph, "t", l + 1, layer->channels, layer->rows, false);
    sx_graph_operand operand[] = {sx_graph_whole(out, true, 2),
                                  sx_graph_whole(weight, false, weights.n_ranks),
                                  sx_graph_whole(in, false, 2)};
    const int span = layer->stride * (layer->rows - 1) + layer->reach, missing = span - rows - layer->pad;
    operand[2].before[1] = (uint32_t)layer->pad;
    operand[2].after[1] = (uint32_t)(missing > 0 ? missing : 0);
    sx_graph_node node = {.kind = SX_OP_EINSUM, .axis = -1, .repeat = 1};
    snprintf(node.name, sizeof node.name, "layer%d", l);
    memcpy(node.layer, node.name, sizeof node.layer);
    sx_expect_ok(sx_graph_add_node(&t->graph, &node, &einsum, operand, 3, NULL));
    return out;
}

static int draw(sx_rng *rng, int low, int high) {
    return low + (int)sx_rng_below(rng, (uint64_t)(high - low + 1));
}

/* A chain of layers whose windows are no smaller than their strides, on a machine. */
static void draw_tower(sx_rng *rng, const char *machine, tower *t) {
    static const int channels[] = {2, 4, 6, 8};
    memset(t, 0, sizeof *t);
    t->n = draw(rng, 2, MOST_LAYERS);
    t->rows = draw(rng, 12, MOST_ROWS);
    t->channels = channels[draw(rng, 0, 3)];
    snprintf(t->graph.name, sizeof t->graph.name, "tower");
    size_t at = add_tensor(&t->graph, "t", 0, t->channels, t->rows, false);
    int rows = t->rows, width = t->channels;
    for (int l = 0; l < t->n; l++) {
        layer_shape *layer = &t->layer[l];
        layer->reach = draw(rng, 1, 4);
        layer->stride = draw(rng, 1, layer->reach < 2 ? layer->reach : 2);
        layer->pad = draw(rng, 0, layer->reach - 1);
        layer->depthwise = l > 0 && draw(rng, 0, 1);
        layer->channels = layer->depthwise ? width : channels[draw(rng, 0, 3)];
        if (rows + 2 * layer->pad < layer->reach + layer->stride)
            layer->reach = layer->stride = 1, layer->pad = 0;
        layer->rows = (rows + 2 * layer->pad - layer->reach) / layer->stride + 1;
        at = add_layer(t, l, at);
        rows = layer->rows;
        width = layer->channels;
    }
    sx_expect_ok(sx_graph_network(&t->graph, &t->network));
    sx_input *input = sx_expect_input(machine);
    sx_expect_ok(sx_input_arch(input, &t->arch));
    sx_input_free(input);
}

static sx_status free_minimum(void *user, const sx_problem *problem, const sx_cut *cut, double *out) {
    (void)user;
    (void)problem;
    (void)cut;
    *out = 0;
    return SX_OK;
}

/* Rows of each tensor in each step: those that are needed, and those that are made. */
typedef struct walk {
    int steps, outer[MOST_STEPS + 1]; /* outer: the step of the outer loop over rows */
    bool need[MOST_STEPS][MOST_LAYERS + 1][MOST_ROWS + 8], make[MOST_STEPS][MOST_LAYERS + 1][MOST_ROWS + 8];
    int made[MOST_LAYERS + 1];
} walk;

static int rows_of(const tower *t, int first, int tensor) {
    return first + tensor ? t->layer[first + tensor - 1].rows : t->rows;
}

/* Walks the steps of a group of the layers from `first` on. */
static void walk_steps(const tower *t, int first, const sx_fuse_group *group, walk *w) {
    static bool here[MOST_LAYERS + 1][MOST_ROWS + 8];
    const int n = group->n_layers, last = rows_of(t, first, n);
    memset(w, 0, sizeof *w);
    memset(here, 0, sizeof here);
    const int tile = (int)group->tile, each = group->inner ? (int)group->inner : tile;
    const bool retain = group->window == SX_GROUP_RETAIN;
    for (int at = 0, end; at < last; at = end, w->steps++) {
        const int outer = w->outer[w->steps] = at / tile;
        if (at == outer * tile && !retain) memset(here, 0, sizeof here);
        end = at + each < (outer + 1) * tile ? at + each : (outer + 1) * tile;
        w->outer[w->steps + 1] = outer + 1;
        bool(*need)[MOST_ROWS + 8] = w->need[w->steps], (*make)[MOST_ROWS + 8] = w->make[w->steps];
        for (int r = at; r < end && r < last; r++) need[n][r] = make[n][r] = true;
        for (int tensor = n - 1; tensor >= 0; tensor--) {
            const layer_shape *layer = &t->layer[first + tensor];
            for (int r = 0; r < rows_of(t, first, tensor + 1); r++)
                for (int k = 0; k < layer->reach && make[tensor + 1][r]; k++) {
                    const int row = layer->stride * r + k - layer->pad;
                    if (row >= 0 && row < rows_of(t, first, tensor)) need[tensor][row] = true;
                }
            for (int r = 0; r < rows_of(t, first, tensor); r++) {
                make[tensor][r] = need[tensor][r] && !((retain || group->inner) && here[tensor][r]);
                here[tensor][r] |= make[tensor][r];
            }
        }
        for (int tensor = 0; tensor <= n; tensor++)
            for (int r = 0; r < rows_of(t, first, tensor); r++) w->made[tensor] += make[tensor][r];
    }
}

/* Whether a row that was made by step s is read in a later one. */
static bool read_later(const walk *w, int s, int tensor, int row) {
    for (int later = s + 1; later < w->steps; later++) {
        if (w->make[later][tensor][row]) return false;
        if (w->need[later][tensor][row]) return true;
    }
    return false;
}

/* Whether a row is there before step s, made by an earlier one for it or for later ones. */
static bool kept_before(const walk *w, int s, int tensor, int row) {
    for (int before = s - 1; before >= 0; before--)
        if (w->make[before][tensor][row]) return read_later(w, s - 1, tensor, row);
    return false;
}

/* Most words of the tensors between the layers that are alive in a memory while layer l of a group runs, in step s, slice by
 * slice. */
static int words_alive(const tower *t, int first, const sx_fuse_group *group, const walk *w, int s, int l,
                       bool second) {
    const int slices = (int)group->slices;
    int most = 0, begin = s, end = s + 1;
    while (begin > 0 && w->outer[begin - 1] == w->outer[s]) begin--;
    while (end < w->steps && w->outer[end] == w->outer[s]) end++;
    for (int slice = 0; slice < slices; slice++) {
        int words = 0;
        for (int tensor = 1; tensor < group->n_layers; tensor++) {
            const int each = t->layer[first + tensor - 1].channels / slices;
            if ((group->second >> (tensor - 1) & 1) != second) continue;
            for (int r = 0; r < rows_of(t, first, tensor); r++) {
                const bool before = kept_before(w, s, tensor, r);
                const bool made = w->make[s][tensor][r], now = w->need[s][tensor][r];
                const bool after = (before || made) && read_later(w, s, tensor, r);
                words += (kept_before(w, begin, tensor, r) ? slices - 1 - slice : 0) * each;
                words += (kept_before(w, end, tensor, r) ? slice : 0) * each;
                bool alive = tensor > l + 1    ? before
                             : tensor == l + 1 ? before || made
                             : tensor == l     ? now || after
                                               : after;
                words += alive * each;
            }
        }
        for (int r = 0; r < rows_of(t, first, group->n_layers) && slices > 1 && !second; r++)
            for (int o = begin; o < end; o++)
                words += w->make[o][group->n_layers][r] * t->layer[first + group->n_layers - 1].channels;
        if (words > most) most = words;
    }
    return most;
}

/* Compares what a group says with the walk; true where its peaks are the walk's. */
static bool compare_group(const tower *t, const sx_inner *inner, const sx_fuse_group *group) {
    static walk w;
    const int first = (int)group->first;
    int most[2] = {0}, rows[MOST_LAYERS] = {0};
    walk_steps(t, first, group, &w);
    assert_int_equal(w.outer[w.steps - 1] + 1, group->row_steps);
    if (!group->inner) assert_int_equal(w.steps, group->row_steps);
    for (int l = 0; l < group->n_layers; l++) {
        int peak[2] = {0};
        for (int s = 0; s < 2 * w.steps; s++) {
            const int words = words_alive(t, first, group, &w, s / 2, l, s % 2);
            if (words > peak[s % 2]) peak[s % 2] = words;
        }
        for (int r = 0; r < group->n_runs; r++) {
            const sx_group_run *run = &group->run[r];
            if (run->step != group->step[l]) continue;
            const sx_problem *problem = sx_vector_at(&inner->problem, run->problem);
            const int p = sx_problem_dim(problem, "p");
            rows[l] += (int)((double)problem->size[p] * run->times);
            assert_true(run->cut.occupied >= (uint64_t)peak[0]);
            assert_true(run->cut.occupied_second >= (uint64_t)peak[1]);
        }
        assert_int_equal(rows[l], w.made[l + 1] * (int)group->slices);
        for (int m = 0; m < 2; m++)
            if (peak[m] > most[m]) most[m] = peak[m];
    }
    assert_true(group->peak >= (uint64_t)most[0] && group->peak_second >= (uint64_t)most[1]);
    return group->peak == (uint64_t)most[0] && group->peak_second == (uint64_t)most[1];
}

/* Rows that layers make are those of the walk, and the room that a group asks for holds all that is alive. */
static void test_groups_equal_walk(void **state) {
    (void)state;
    static tower t;
    sx_objective energy;
    size_t compared = 0, exact = 0, sliced = 0, again = 0, nested = 0, second = 0;
    sx_expect_ok(sx_objective_parse("energy", &energy));
    for (uint64_t i = 0; i < CASES; i++) {
        sx_rng rng = sx_rng_stream(i, "group", 0);
        sx_exchange exchange;
        sx_inner inner;
        sx_vector groups = {.size = sizeof(sx_fuse_group)};
        const bool two = i % 3 == 0;
        draw_tower(&rng, two ? second_text : machine_text, &t);
        sx_expect_ok(
            sx_exchange_init(&t.graph, &t.network, &t.arch, two ? 2 : 1, two ? 1 : -1, NULL, &exchange));
        sx_expect_ok(sx_inner_init(&inner, &energy, exchange.capacity));
        inner.second = exchange.second_capacity;
        inner.minimum = free_minimum;
        sx_expect_groups(&exchange, &inner, 3, i % 2, &groups);
        for (size_t g = 0; g < groups.n; g++) {
            const sx_fuse_group *group = sx_vector_at(&groups, g);
            assert_true(group->peak_second <= exchange.second_capacity);
            if (group->n_moves > (group->slices > 1) || (two && g % 5)) continue;
            exact += compare_group(&t, &inner, group);
            compared++;
            sliced += group->slices > 1;
            again += group->window == SX_GROUP_RECOMPUTE;
            nested += group->inner > 0;
            second += group->second != 0;
        }
        sx_vector_clear(&groups);
        sx_inner_fini(&inner);
        sx_exchange_fini(&exchange);
        sx_network_fini(&t.network);
        sx_graph_fini(&t.graph);
    }
    assert_true(compared > 5 * CASES);
    assert_true(sliced > CASES / 2);
    assert_true(again > CASES / 2);
    assert_true(nested > CASES / 4);
    assert_true(second > CASES);
    assert_true(2 * exact > compared);
}

/* Scores, a softmax over a rank of them, and what they weigh, for two heads; rank 2 is that of the keys, 3 that of the
 * queries. */
static sx_graph read_attention(int axis) {
    char text[1200];
    sx_graph graph;
    snprintf(text, sizeof text,
             "graph:\n"
             "  name: attention\n"
             "  tensors:\n"
             "  - {name: query, shape: [1, 8, 12]}\n"
             "  - {name: key, shape: [1, 8, 6]}\n"
             "  - {name: value, shape: [1, 8, 6]}\n"
             "  - {name: scores.out, shape: [1, 2, 6, 12]}\n"
             "  - {name: softmax.out, shape: [1, 2, 6, 12]}\n"
             "  - {name: y, shape: [1, 8, 12]}\n"
             "  nodes:\n"
             "  - name: scores\n"
             "    repeat: 2\n"
             "    einsum: \"O[b,m,n] += W[b,m,k]*I[b,k,n] {b:1,m:6,k:4,n:12}\"\n"
             "    operands:\n"
             "      O: {tensor: scores.out, ranks: [0, [], 1, 2], split: 1}\n"
             "      W: {tensor: key, ranks: [0, 2, 1], split: 1}\n"
             "      I: {tensor: query, split: 1}\n"
             "  - {name: softmax, kind: softmax, axis: %d, reads: scores.out, writes: softmax.out}\n"
             "  - name: context\n"
             "    repeat: 2\n"
             "    einsum: \"O[b,m,n] += W[b,m,k]*I[b,k,n] {b:1,m:4,k:6,n:12}\"\n"
             "    operands:\n"
             "      O: {tensor: y, split: 1}\n"
             "      W: {tensor: value, split: 1}\n"
             "      I: {tensor: softmax.out, ranks: [0, [], 1, 2], split: 1}\n",
             axis);
    sx_input *input = sx_expect_input(text);
    sx_expect_ok(sx_input_graph(input, &graph));
    sx_input_free(input);
    return graph;
}

/* Attention is a group with a loop over heads and one over queries, unless the softmax goes along the queries. */
static void test_attention(void **state) {
    (void)state;
    static sx_arch arch;
    sx_objective energy;
    sx_input *input = sx_expect_input(machine_text);
    sx_expect_ok(sx_input_arch(input, &arch));
    sx_input_free(input);
    sx_expect_ok(sx_objective_parse("energy", &energy));
    for (int axis = 2; axis <= 3; axis++) {
        sx_graph graph = read_attention(axis);
        sx_network network;
        sx_exchange exchange;
        sx_inner inner;
        sx_vector groups = {.size = sizeof(sx_fuse_group)};
        sx_expect_ok(sx_graph_network(&graph, &network));
        sx_expect_ok(sx_exchange_init(&graph, &network, &arch, 1, -1, NULL, &exchange));
        sx_expect_ok(sx_inner_init(&inner, &energy, exchange.capacity));
        inner.minimum = free_minimum;
        sx_expect_groups(&exchange, &inner, 3, false, &groups);
        assert_int_equal(groups.n > 0, axis == 2);
        if (groups.n) {
            const sx_fuse_group *group = sx_vector_at(&groups, 0);
            assert_true(group->heads == 2);
            assert_string_equal(group->row, "n");
            assert_int_equal(group->row_steps, 1);
            assert_int_equal(group->slices, 1);
            assert_int_equal(group->tile_words[0], 6 * 12);
            assert_int_equal(group->run[0].times, 2);
        }
        sx_vector_clear(&groups);
        sx_inner_fini(&inner);
        sx_exchange_fini(&exchange);
        sx_network_fini(&network);
        sx_graph_fini(&graph);
    }
}

/* What is held in a choice of loops: nothing, all operands, or all but the largest; each with or without the input. */
static unsigned held_layers(const sx_layer_chain *chain, int choice) {
    uint64_t largest = 0;
    unsigned held = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int l = 0; l < chain->n; l++) {
            const sx_chain_link *link = &chain->link[l];
            const uint64_t words =
                sx_graph_words(&chain->exchange->graph->tensor[link->operand[link->other].tensor]);
            if (pass == 0 && words > largest) largest = words;
            if (pass == 1 && choice > 0 && (choice == 1 || words < largest)) held |= 1u << l;
        }
    return held;
}

/* The peaks of all groups with one loop over rows, in an array of limited length; returns how many. */
static size_t list_peaks(const sx_exchange *x, sx_inner *inner, uint64_t *peak, size_t most) {
    size_t n = 0;
    for (size_t s = 0; s < x->n_steps; s++)
        for (int layers = 2; layers <= SX_MAX_GROUP; layers++) {
            sx_layer_chain chain;
            if (!sx_layer_chain_find(x, s, layers, &chain)) continue;
            const uint32_t rows = chain.link[chain.n - 1].rows_out;
            bool slides = false;
            for (int l = 1; l < chain.n; l++) slides |= chain.link[l].reach > chain.link[l].stride;
            const bool overlaps = chain.link[0].reach > chain.link[0].stride;
            for (uint32_t i = 0; i < 2 * 3 * 2 * rows * chain.channels; i++) {
                const int kind = (int)(i % 12) / 4;
                sx_group_choice loops = {.window = i % 2 ? SX_GROUP_RECOMPUTE : SX_GROUP_RETAIN,
                                         .holds_in = i / 2 % 2,
                                         .held = held_layers(&chain, kind),
                                         .tile = i / 12 % rows + 1,
                                         .slices = i / 12 / rows + 1};
                sx_fuse_group group;
                bool possible;
                if (rows % loops.tile || chain.channels % loops.slices) continue;
                if (loops.window == SX_GROUP_RECOMPUTE && (!slides || loops.tile == rows)) continue;
                if (loops.holds_in && !overlaps && loops.slices == 1) continue;
                if (kind == 2 && (loops.held == 0 || loops.held == held_layers(&chain, 1))) continue;
                if (loops.tile == rows && (loops.held || loops.slices == 1)) continue;
                sx_expect_ok(sx_fuse_group_make(&chain, inner, &loops, &group, &possible));
                if (!possible) continue;
                assert_true(n < most);
                peak[n++] = group.peak;
            }
        }
    return n;
}

/* Whatever the size of the memory, all groups that fit are listed and no others: with a word less than a group takes it is not. */
static void test_groups_fit_exactly(void **state) {
    (void)state;
    static tower t;
    static uint64_t peak[20000];
    sx_objective energy;
    size_t compared = 0;
    sx_expect_ok(sx_objective_parse("energy", &energy));
    for (uint64_t i = 0; i < CASES / 8; i++) {
        sx_rng rng = sx_rng_stream(i, "group.fit", 0);
        sx_exchange exchange;
        sx_inner inner;
        draw_tower(&rng, machine_text, &t);
        sx_expect_ok(sx_exchange_init(&t.graph, &t.network, &t.arch, 1, -1, NULL, &exchange));
        sx_expect_ok(sx_inner_init(&inner, &energy, exchange.capacity));
        inner.minimum = free_minimum;
        const size_t n = list_peaks(&exchange, &inner, peak, sizeof peak / sizeof *peak);
        for (int size = 0; size < 16 && n; size++) {
            exchange.capacity = peak[sx_rng_below(&rng, n)] - (uint64_t)(size % 2);
            size_t fit = 0;
            sx_vector groups = {.size = sizeof(sx_fuse_group)};
            for (size_t g = 0; g < n; g++) fit += peak[g] <= exchange.capacity;
            sx_expect_groups(&exchange, &inner, 3, false, &groups);
            assert_int_equal(groups.n, fit);
            for (size_t g = 0; g < groups.n; g++)
                assert_true(((const sx_fuse_group *)sx_vector_at(&groups, g))->peak <= exchange.capacity);
            compared += fit;
            sx_vector_clear(&groups);
        }
        sx_inner_fini(&inner);
        sx_exchange_fini(&exchange);
        sx_network_fini(&t.network);
        sx_graph_fini(&t.graph);
    }
    assert_true(compared > 100 * CASES);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups_equal_walk),
                                       cmocka_unit_test(test_groups_fit_exactly),
                                       cmocka_unit_test(test_attention)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
