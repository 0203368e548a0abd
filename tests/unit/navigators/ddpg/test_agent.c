/* Actor and critic on problems whose best actions are known. */
#include "navigators/ddpg/agent.h"

#include "sextant/rng.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 3, BATCH = 32 };

static sx_agent *new_agent(float discount) {
    const sx_agent_options options = {.n = N,
                                      .width = 32,
                                      .batch = BATCH,
                                      .actor_rate = 2e-3f,
                                      .critic_rate = 5e-3f,
                                      .tau = 0.05f,
                                      .discount = discount,
                                      .seed = 5};
    sx_agent *agent;
    sx_expect_ok(sx_agent_new(&options, &agent));
    return agent;
}

/* A batch of random transitions: the reward is less the further the action is from the state's mirror image. */
static void draw(sx_rng *rng, const sx_transitions *t, float last) {
    for (size_t i = 0; i < BATCH; i++) {
        t->reward[i] = 0;
        t->last[i] = last;
        for (size_t k = i * N; k < (i + 1) * N; k++) {
            t->state[k] = (float)sx_rng_double(rng);
            t->action[k] = (float)sx_rng_double(rng);
            t->next[k] = (float)sx_rng_double(rng);
            float away = t->action[k] - (1 - t->state[k]);
            t->reward[i] -= away * away;
        }
    }
}

/* How far the actions for fresh states are from the best ones, on average. */
static double distance(sx_agent *agent) {
    sx_rng rng = sx_rng_stream(9, "agent", 1);
    float states[BATCH * N], actions[BATCH * N];
    double sum = 0;
    for (size_t i = 0; i < BATCH * N; i++) states[i] = (float)sx_rng_double(&rng);
    sx_agent_act(agent, states, BATCH, actions);
    for (size_t i = 0; i < BATCH * N; i++) {
        assert_true(actions[i] >= 0 && actions[i] <= 1);
        sum += fabs((double)actions[i] - (1 - (double)states[i]));
    }
    return sum / (BATCH * N);
}

static float memory[BATCH * (3 * N + 2)];
static const sx_transitions room = {memory, memory + BATCH *N, memory + 2 * BATCH *N, memory + 3 * BATCH *N,
                                    memory + 3 * BATCH *N + BATCH};

static void the_actor_learns_the_best_action(void **state) {
    (void)state;
    sx_agent *agent = new_agent(1);
    sx_rng rng = sx_rng_stream(9, "agent", 0);
    double before = distance(agent), first = 0, error = 0;
    for (int i = 0; i < 1500; i++) {
        draw(&rng, &room, 1);
        error = sx_agent_learn(agent, &room);
        if (i == 0) first = error;
    }
    print_message("distance %.3f, was %.3f; error %.4f, was %.4f\n", distance(agent), before, error, first);
    assert_true(distance(agent) < before / 3);
    assert_true(error < first / 3);
    sx_agent_free(agent);
}

/* Without the end of an episode, values grow by what comes later: a constant reward of 1 is worth 1 / (1 - discount).
 */
static void later_rewards_are_discounted(void **state) {
    (void)state;
    sx_agent *agent = new_agent(0.5f);
    sx_rng rng = sx_rng_stream(9, "agent", 2);
    double error = 0;
    for (int i = 0; i < 3000; i++) {
        draw(&rng, &room, 0);
        for (int k = 0; k < BATCH; k++) room.reward[k] = 1;
        error = sx_agent_learn(agent, &room);
    }
    draw(&rng, &room, 1);
    for (int k = 0; k < BATCH; k++) room.reward[k] = 2;
    assert_true(error < 0.01);
    assert_true(sx_agent_learn(agent, &room) < 0.05);
    sx_agent_free(agent);
}

static void numbers_written_and_read_go_on_the_same(void **state) {
    (void)state;
    sx_agent *agent = new_agent(1), *other = new_agent(1);
    sx_rng rng = sx_rng_stream(9, "agent", 3);
    size_t n = sx_agent_size(agent);
    float *numbers = malloc(n * sizeof *numbers), *again = malloc(n * sizeof *again);
    assert_true(numbers && again);
    for (int i = 0; i < 20; i++) {
        draw(&rng, &room, 1);
        sx_agent_learn(agent, &room);
    }
    sx_agent_write(agent, numbers);
    assert_true(sx_agent_read(other, numbers));
    draw(&rng, &room, 1);
    assert_true(sx_agent_learn(agent, &room) == sx_agent_learn(other, &room));
    sx_agent_write(agent, numbers);
    sx_agent_write(other, again);
    assert_memory_equal(numbers, again, n * sizeof *numbers);
    numbers[n / 3] = NAN;
    assert_false(sx_agent_read(other, numbers));
    free(numbers);
    free(again);
    sx_agent_free(agent);
    sx_agent_free(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_actor_learns_the_best_action),
        cmocka_unit_test(later_rewards_are_discounted),
        cmocka_unit_test(numbers_written_and_read_go_on_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
