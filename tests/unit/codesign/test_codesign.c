/* Trees of tiles with their memories, and the search of designs. */
#include "codesign/tile_forest.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char line[] = "O[k,p] += I[c,p+r]*W[k,c,r] {k:4,p:14,c:4,r:3}";
static const char line_arch[] =
    "arch:\n"
    "  arithmetic: {name: MAC, instances: 1, word-bits: 16, energy: 1}\n"
    "  storage:\n"
    "  - {name: L1, instances: 1, entries: 8, vector-access-energy: 1}\n"
    "  - {name: L2, instances: 1, entries: 64, vector-access-energy: 8}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, vector-access-energy: 100}\n";

/* A search in the making. */
typedef struct set {
    sx_choices *choices;
    sx_designs *designs;
    sx_network network;
    sx_layer layer[2];
    sx_codesign_options options;
} set;

/* Sets up the search of an architecture (a text, or of the catalog) for one or two einsums. */
static void open_set(set *s, const char *arch, const char *first, const char *second,
                     const char *const *choice) {
    sx_arch base;
    memset(s, 0, sizeof *s);
    if (strchr(arch, '\n')) {
        sx_input *input = sx_expect_input(arch);
        sx_expect_ok(sx_input_arch(input, &base));
        sx_input_free(input);
    } else {
        sx_expect_ok(sx_catalog_arch(arch, &base));
    }
    sx_expect_ok(sx_choices_new(&s->choices));
    for (; *choice; choice++)
        sx_expect_ok(strchr(*choice, '{')
                         ? sx_choices_add_text(s->choices, "t.yaml", *choice, strlen(*choice))
                         : sx_choices_add(s->choices, *choice));
    sx_expect_ok(sx_designs_new(&base, s->choices, 0, &s->designs));
    s->network.layer = s->layer;
    const char *const text[] = {first, second};
    for (int i = 0; i < 2 && text[i]; i++) {
        snprintf(s->layer[i].name, SX_NAME_SIZE, "layer%d", i);
        s->layer[i].count = (uint64_t)i + 1;
        sx_expect_ok(sx_einsum_parse(text[i], &s->layer[i].problem));
        s->network.n_layers++;
    }
    sx_run_options_init(&s->options.run);
}

static void close_set(set *s) {
    sx_designs_free(s->designs);
    sx_choices_free(s->choices);
}

/* Runs a method; the result is freed by the caller. */
static sx_codesign_result run(set *s, sx_codesign_method method) {
    sx_codesign_result result;
    s->options.method = method;
    sx_expect_ok(sx_codesign_run(s->designs, &s->network, &s->options, &result));
    return result;
}

/* The thesis' figure 5.2: a problem of P = 14, K = 4, C = 4, R = 3 and memories of 3, 4 and 8 words. The root
 * is kept with 3 words; of those with 8 only tiles that cannot grow; none needs 4. */
static void tiles_have_their_smallest_memory(void **state) {
    (void)state;
    set s;
    open_set(&s, line_arch, line, NULL, (const char *[]){"L1=3,4,8", NULL});
    sx_codesign_result result = {0};
    sx_target target = {.problem = &s.layer[0].problem, .weight = 1};
    sx_codesign c = {
        .designs = s.designs, .options = &s.options, .n_targets = 1, .target = &target, .out = &result};
    sx_tile_forest forest;
    const bool like[] = {true, true, true};
    const uint64_t most[] = {3, 4, 8};
    sx_expect_ok(sx_tile_forest_init(&c, 0, 0, like, &forest));
    assert_true(forest.usable && !forest.flat);
    size_t of[3] = {0};
    for (size_t i = 0; i < forest.nodes.n; i++) {
        const sx_tile_node *node = sx_vector_at(&forest.nodes, i);
        const uint32_t *f = node->item.tile.factor;
        uint64_t words = f[0] * f[1] + f[2] * (f[1] + f[3] - 1) + f[0] * f[2] * f[3];
        assert_true(node->memory < 3);
        assert_true(words <= most[node->memory]);
        assert_true(node->memory == 0 || words > most[node->memory - 1]);
        assert_true(isfinite(node->item.value));
        of[node->memory]++;
    }
    assert_int_equal(of[0], 1);
    assert_int_equal(of[1], 0);
    assert_true(of[2] >= 3 && of[2] < 6);
    assert_true(result.counts.nodes > of[2]);
    sx_tile_forest_fini(&forest);
    close_set(&s);
}

static void methods_agree_on_a_line(void **state) {
    (void)state;
    set s;
    open_set(&s, line_arch, line, NULL, (const char *[]){"L1=3,4,8,16", "L2=32,64", NULL});
    sx_codesign_result grid = run(&s, SX_CODESIGN_GRID), arch = run(&s, SX_CODESIGN_SUNSTONE),
                       exact = run(&s, SX_CODESIGN_EXACT);
    assert_true(grid.found && arch.found && exact.found && exact.optimal);
    assert_true(grid.complete && grid.repeatable && grid.counts.done == 8);
    assert_true(exact.lower_bound == exact.design[exact.best].value);
    double best = exact.design[exact.best].value;
    assert_true(grid.design[grid.best].value >= best && arch.design[arch.best].value >= best);
    assert_int_equal(grid.best, arch.best);
    assert_true(arch.counts.tiles[0] < grid.counts.tiles[0] && arch.counts.tiles[1] < grid.counts.tiles[1]);
    assert_true(arch.counts.done + arch.counts.cut + arch.counts.empty == 8 && arch.counts.empty > 0);
    sx_codesign_result_fini(&grid);
    sx_codesign_result_fini(&arch);
    sx_codesign_result_fini(&exact);
    close_set(&s);
}

/* The value of a design is the sum over layers times their counts, and the mappings cost what is said. */
static void answers_cost_what_they_say(void **state) {
    (void)state;
    static const char second[] = "O[k,p] += I[c,p+r]*W[k,c,r] {k:8,p:6,c:2,r:1}";
    static const sx_codesign_method methods[] = {SX_CODESIGN_AUTO, SX_CODESIGN_GRID, SX_CODESIGN_SUNSTONE,
                                                 SX_CODESIGN_EXACT};
    for (int m = 0; m < 4; m++) {
        set s;
        open_set(&s, line_arch, line, second, (const char *[]){"L1=4,8,16", "array/L2=1x1,2x2", NULL});
        sx_codesign_result result = run(&s, methods[m]);
        double value = 0;
        sx_arch arch;
        assert_true(result.found);
        sx_designs_arch(s.designs, result.best, &arch);
        for (int i = 0; i < 2; i++) {
            sx_model *model;
            sx_model_workspace *evaluator;
            sx_score score;
            sx_expect_ok(sx_model_new(&s.layer[i].problem, &arch, NULL, &model));
            sx_expect_ok(sx_model_workspace_new(model, &evaluator));
            assert_int_equal(sx_evaluate_score(evaluator, &result.layer[i].mapping, &score).reason, SX_LEGAL);
            value += (double)s.layer[i].count * sx_objective_value(&s.options.run.objective, &score);
            sx_model_workspace_free(evaluator);
            sx_model_free(model);
        }
        assert_true(value == result.design[result.best].value);
        sx_codesign_result_fini(&result);
        close_set(&s);
    }
}

/* With `front`, every method finds the front that the grid finds, or a better one. */
static void fronts_are_whole(void **state) {
    (void)state;
    set s;
    open_set(&s, line_arch, line, NULL, (const char *[]){"L1=3,8,16,32", "L2=32,128", NULL});
    s.options.front = true;
    sx_codesign_result grid = run(&s, SX_CODESIGN_GRID), arch = run(&s, SX_CODESIGN_SUNSTONE),
                       exact = run(&s, SX_CODESIGN_EXACT);
    assert_true(grid.n_front > 1 && exact.n_front > 1);
    for (size_t i = 0; i < grid.n_front; i++) {
        size_t design = grid.front[i];
        bool matched = false, beaten = false;
        for (size_t j = 0; j < arch.n_front; j++)
            matched |= sx_designs_area(s.designs, arch.front[j]) <= sx_designs_area(s.designs, design) &&
                       arch.design[arch.front[j]].value <= grid.design[design].value * (1 + 1e-9);
        for (size_t j = 0; j < exact.n_front; j++)
            beaten |= sx_designs_area(s.designs, exact.front[j]) <= sx_designs_area(s.designs, design) &&
                      exact.design[exact.front[j]].value <= grid.design[design].value * (1 + 1e-9);
        assert_true(matched && beaten);
    }
    for (size_t i = 1; i < exact.n_front; i++) {
        assert_true(exact.design[exact.front[i]].value < exact.design[exact.front[i - 1]].value);
        assert_true(sx_designs_area(s.designs, exact.front[i]) >
                    sx_designs_area(s.designs, exact.front[i - 1]));
    }
    sx_codesign_result_fini(&grid);
    sx_codesign_result_fini(&arch);
    sx_codesign_result_fini(&exact);
    close_set(&s);
}

/* The thesis' case study in small: Sunstone-arch finds what the grid finds and looks at fewer tiles. */
static void sunstone_arch_looks_at_less(void **state) {
    (void)state;
    static const char conv[] =
        "Outputs[N,K,P,Q] += Inputs[N,C,P+R,Q+S]*Weights[K,C,R,S] {N:1,K:128,C:128,P:28,Q:28,R:3,S:3}";
    static const char choices[] =
        "choices: {memories: [{name: L1, split: {Inputs: '8..32', Weights: '8..32', Outputs: '8..32'},"
        "energy: 0.14 + 0.0075 * words}], limits: [{memories: L1, words: 64}]}";
    set s;
    open_set(&s, "edge-unified", conv, NULL, (const char *[]){choices, NULL});
    sx_codesign_result grid = run(&s, SX_CODESIGN_GRID), arch = run(&s, SX_CODESIGN_SUNSTONE);
    s.options.apart = true;
    sx_codesign_result apart = run(&s, SX_CODESIGN_SUNSTONE);
    s.options.apart = false;
    s.options.run.threads = 3;
    sx_codesign_result threads = run(&s, SX_CODESIGN_SUNSTONE);
    assert_int_equal(arch.best, grid.best);
    assert_true(arch.design[arch.best].value == grid.design[grid.best].value);
    assert_int_equal(apart.best, grid.best);
    assert_true(arch.counts.cut > 0 && apart.counts.cut == 0);
    assert_true(2 * arch.counts.tiles[0] < grid.counts.tiles[0]);
    assert_true(apart.counts.tiles[0] == arch.counts.tiles[0]);
    assert_true(arch.counts.tiles[1] < apart.counts.tiles[1] && apart.counts.tiles[1] < grid.counts.tiles[1]);
    assert_memory_equal(&threads.counts, &arch.counts, sizeof arch.counts);
    assert_memory_equal(threads.layer, arch.layer, sizeof *arch.layer);
    sx_codesign_result_fini(&grid);
    sx_codesign_result_fini(&arch);
    sx_codesign_result_fini(&apart);
    sx_codesign_result_fini(&threads);
    close_set(&s);
}

/* A budget too small to prove anything leaves an honest gap; a signal at once leaves nothing. */
static void what_is_not_proven_is_not_claimed(void **state) {
    (void)state;
    set s;
    open_set(&s, line_arch, line, NULL, (const char *[]){"L1=8,16", NULL});
    s.options.run.evaluations = 3;
    sx_codesign_result exact = run(&s, SX_CODESIGN_EXACT);
    assert_true(exact.found && !exact.optimal);
    assert_true(exact.lower_bound > 0 && exact.lower_bound < exact.design[exact.best].value);
    sx_codesign_result_fini(&exact);
    const sx_cancel stop = {1};
    s.options.run.cancel = &stop;
    for (int m = 0; m < 3; m++) {
        sx_codesign_result none = run(&s, (sx_codesign_method)m);
        assert_true(!none.found && !none.complete && none.n_front == 0 && !none.optimal);
        sx_codesign_result_fini(&none);
    }
    close_set(&s);
}

/* A memory that holds not even one word of each tensor keeps fewer of them, and is searched by itself. */
static void tiny_memories_are_searched_apart(void **state) {
    (void)state;
    set s;
    open_set(&s, line_arch, line, NULL, (const char *[]){"L1=1,2,8", NULL});
    sx_codesign_result grid = run(&s, SX_CODESIGN_GRID), arch = run(&s, SX_CODESIGN_SUNSTONE);
    assert_true(grid.found && arch.found);
    assert_true(arch.design[arch.best].value <= grid.design[grid.best].value * 1.001);
    sx_codesign_result_fini(&grid);
    sx_codesign_result_fini(&arch);
    close_set(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_have_their_smallest_memory),
        cmocka_unit_test(methods_agree_on_a_line),
        cmocka_unit_test(answers_cost_what_they_say),
        cmocka_unit_test(fronts_are_whole),
        cmocka_unit_test(sunstone_arch_looks_at_less),
        cmocka_unit_test(what_is_not_proven_is_not_claimed),
        cmocka_unit_test(tiny_memories_are_searched_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
