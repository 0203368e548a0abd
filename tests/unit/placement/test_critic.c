/* The critic of EGRL's learner: its gradients against differences, with and without attention; and what the learner's
 * placements are drawn by. */
#include "placement/critic.h"
#include "sextant/network.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BATCH = 3 };

/* A critic of ResNet-18's placements with all that it needs. */
typedef struct ground {
    sx_chip chip;
    sx_place_graph graph;
    sx_space *space;
    sx_actor actor;
    sx_critic critic;
    float *parameter, *action, *by_action;
    size_t actions;
    sx_rng rng;
} ground;

static void set_up(ground *g, unsigned attention) {
    *g = (ground){.rng = sx_rng_stream(1, "test.critic", 0)};
    sx_expect_ok(sx_catalog_chip("nnpi", &g->chip));
    sx_expect_ok(sx_catalog_place_graph("resnet18", 1, 0, &g->graph));
    sx_expect_ok(sx_placement_space_new(&g->graph, &g->chip, &g->space));
    const sx_placement_space *space = sx_placement_space_of(g->space);
    sx_expect_ok(sx_actor_init(space, 2, 1, &g->actor));
    sx_expect_ok(sx_critic_init(&g->actor, BATCH, attention, &g->critic));
    g->actions = space->n_tensors * g->chip.n_memories;
    g->parameter = malloc(g->critic.n_parameters * sizeof(float));
    g->action = malloc(2 * g->actions * sizeof(float));
    assert_true(g->parameter && g->action);
    g->by_action = g->action + g->actions;
    sx_critic_draw(&g->critic, 5, g->parameter);
    for (size_t i = 0; i < g->actions; i++) g->action[i] = (float)sx_rng_double(&g->rng);
}

static void tear_down(ground *g) {
    sx_critic_fini(&g->critic);
    sx_actor_fini(&g->actor);
    sx_space_free(g->space);
    sx_place_graph_fini(&g->graph);
    free(g->parameter);
    free(g->action);
}

/* The value of the action with one of its numbers changed. */
static double value_with(ground *g, size_t i, float change) {
    float was = g->action[i], *unused = malloc(g->actions * sizeof *unused);
    assert_non_null(unused);
    g->action[i] = was + change;
    sx_critic_set(&g->critic, 0, g->action);
    double value;
    assert_true(sx_critic_value(&g->critic, unused, &value));
    g->action[i] = was;
    free(unused);
    return value;
}

/* The gradient by the action agrees with differences, some of which ReLUs may bend. */
static void expect_value_gradient(unsigned attention) {
    enum { TRIED = 60 };
    const float step = 0.01f;
    ground g;
    int agree = 0;
    set_up(&g, attention);
    sx_critic_set(&g.critic, 0, g.action);
    double value;
    assert_true(sx_critic_value(&g.critic, g.by_action, &value));
    for (int k = 0; k < TRIED; k++) {
        size_t i = (size_t)sx_rng_below(&g.rng, g.actions);
        double slope = (value_with(&g, i, step) - value_with(&g, i, -step)) / (2 * (double)step);
        agree += fabs(slope - (double)g.by_action[i]) <= 1e-3 + 0.1 * fabs(slope);
        if (i < g.actions / 2) assert_true(isfinite(slope));
    }
    assert_true(agree >= TRIED * 9 / 10);
    double most = 0;
    for (size_t i = 0; i < g.actions; i++) most = fmax(most, fabs((double)g.by_action[i]));
    assert_true(most > 3e-3);
    tear_down(&g);
}

/* Steps down the gradient by the parameters lower the error, as much as its square says. */
static void expect_error_gradient(unsigned attention) {
    const float wanted[BATCH] = {1, -1, 0.5f};
    ground g;
    double squares = 0, before, after;
    set_up(&g, attention);
    for (size_t i = 0; i < BATCH; i++) {
        g.action[i] += 1;
        sx_critic_set(&g.critic, i, g.action);
    }
    assert_true(sx_critic_error(&g.critic, wanted, &before));
    for (size_t i = 0; i < g.critic.n_parameters; i++)
        squares += (double)g.critic.gradient[i] * (double)g.critic.gradient[i];
    const double rate = 0.01 * before / squares;
    for (size_t i = 0; i < g.critic.n_parameters; i++)
        g.parameter[i] -= (float)(rate * (double)g.critic.gradient[i]);
    assert_true(sx_critic_error(&g.critic, wanted, &after));
    /* both heads are summed: the error is half of what the gradient is of */
    assert_true(fabs((before - after) / (rate * squares / 2) - 1) < 0.1);
    tear_down(&g);
}

static void gradients_of_values_agree_with_differences(void **state) {
    (void)state;
    for (unsigned attention = 0; attention <= 2; attention++) expect_value_gradient(attention);
}

static void gradients_of_errors_agree_with_differences(void **state) {
    (void)state;
    for (unsigned attention = 0; attention <= 2; attention++) expect_error_gradient(attention);
}

/* Copies of a graph are not connected, and alike. */
static void copies_of_graphs_are_apart(void **state) {
    ground g;
    (void)state;
    set_up(&g, 2);
    const sx_nn_graph *one = g.actor.graph, *all = g.critic.graph;
    assert_int_equal(all->n, BATCH * one->n);
    assert_int_equal(all->first[all->n], BATCH * one->first[one->n]);
    for (size_t i = 0; i < all->first[all->n]; i++) {
        size_t copy = i / one->first[one->n];
        assert_int_equal(all->neighbour[i], copy * one->n + one->neighbour[i % one->first[one->n]]);
    }
    tear_down(&g);
}

/* Without noise the most probable memories; with much noise, all of them. */
static void noise_disturbs_placements(void **state) {
    ground g;
    uint8_t greedy[256], other[256];
    size_t differ[3] = {0};
    (void)state;
    set_up(&g, 0);
    const sx_placement_space *space = sx_placement_space_of(g.space);
    assert_true(space->space.point_size <= sizeof greedy);
    for (size_t i = 0; i < g.actions; i++) g.actor.probability[i] = i % g.chip.n_memories == 1 ? 0.8f : 0.1f;
    sx_actor_greedy(&g.actor, greedy);
    for (int k = 0; k < 3; k++) {
        sx_actor_disturb(&g.actor, &g.rng, 0.1 * k * k * k, other);
        for (size_t i = 0; i < space->space.point_size; i++) differ[k] += greedy[i] != other[i];
    }
    assert_true(differ[0] == 0 && differ[1] < 3 && differ[2] > space->space.n_genes / 4);
    tear_down(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_of_values_agree_with_differences),
        cmocka_unit_test(gradients_of_errors_agree_with_differences),
        cmocka_unit_test(copies_of_graphs_are_apart),
        cmocka_unit_test(noise_disturbs_placements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
