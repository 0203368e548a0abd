/* Moves of `anneal` (nudge) and `genetic` (redraw): every other time tensors of the same kind follow, and no others. */
#include "placement/place.h"
#include "sextant/space_type.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOVES = 400, POINT = 1024 };

/* Whether tensors are weights or outputs of nodes of one class, and of one size. */
static bool are_alike(const sx_placement_space *space, size_t a, size_t b) {
    return a % 2 == b % 2 && space->size[a] == space->size[b] &&
           space->graph.node[a / 2].op == space->graph.node[b / 2].op;
}

/* Moves a random tensor of BERT's many times, by either function. */
static void expect_kinds_to_follow(bool redraw) {
    sx_chip chip;
    sx_place_graph graph;
    sx_space *base;
    uint8_t point[POINT], moved[POINT];
    size_t alone = 0, together = 0, most = 0;
    sx_rng rng = sx_rng_stream(1, "test.moves", redraw);
    sx_expect_ok(sx_catalog_chip("nnpi", &chip));
    sx_expect_ok(sx_catalog_place_graph("bert", 1, 0, &graph));
    sx_expect_ok(sx_placement_space_new(&graph, &chip, &base));
    const sx_placement_space *space = sx_placement_space_of(base);
    assert_true(base->point_size <= POINT);
    for (int k = 0; k < MOVES; k++) {
        size_t gene = (size_t)sx_rng_below(&rng, base->n_genes), changed = 0;
        size_t tensor = (size_t)base->gene[gene].which;
        memset(point, 0, sizeof point);
        memcpy(moved, point, sizeof moved);
        (redraw ? base->type->redraw : base->type->nudge)(base, &rng, gene, moved);
        for (size_t t = 0; t < base->point_size; t++) {
            if (moved[t] == point[t]) continue;
            changed++;
            assert_true(are_alike(space, t, tensor));
            assert_int_equal(moved[t], moved[tensor]);
        }
        alone += changed == 1;
        together += changed > 1;
        if (changed > most) most = changed;
    }
    assert_true(alone > MOVES / 5 && together > MOVES / 5 && most >= 20);
    sx_space_free(base);
    sx_place_graph_fini(&graph);
}

static void kinds_follow_nudges(void **state) {
    (void)state;
    expect_kinds_to_follow(false);
}

static void kinds_follow_redraws(void **state) {
    (void)state;
    expect_kinds_to_follow(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_follow_nudges),
        cmocka_unit_test(kinds_follow_redraws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
