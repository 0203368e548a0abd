/* The rules of placement against a slow twin: test_placement [count [seed]]. The twin shares nothing with the
 * library but the structs: it lists, for every step, what lives there, in doubles and without shortcuts. */
#include "placement/addresses/addresses.h"
#include "placement/place.h"
#include "support/compared.h"
#include "support/cost_compare.h"
#include "support/expect.h"
#include "support/random_placement.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct settings {
    uint64_t count, seed;
} settings;

/* A case in hand. */
typedef struct trial {
    sx_place_graph graph;
    sx_chip chip;
    sx_space *space;
    const sx_placement_space *in;
    sx_rng rng;
    uint8_t *point;
} trial;

static void trial_begin(const settings *set, const char *name, uint64_t i, size_t most_nodes, trial *t) {
    *t = (trial){.rng = sx_rng_stream(set->seed, name, i)};
    sx_random_placement(&t->rng, most_nodes, &t->graph, &t->chip);
    sx_expect_ok(sx_placement_space_new(&t->graph, &t->chip, &t->space));
    t->in = sx_placement_space_of(t->space);
    t->point = calloc(t->space->point_size, 1);
    assert_non_null(t->point);
    t->space->type->draw(t->space, &t->rng, t->point);
}

static void trial_end(trial *t) {
    free(t->point);
    sx_space_free(t->space);
    sx_place_graph_fini(&t->graph);
}

/* --- the twin --- */

/* Bytes of a tensor. */
static uint64_t twin_size(const trial *t, size_t tensor) {
    const sx_place_node *node = &t->graph.node[tensor / 2];
    return tensor % 2 ? node->activation_bytes : node->weight_bytes;
}

/* The last step that reads a node's output, by looking at all inputs of all nodes. */
static size_t twin_last(const trial *t, size_t node) {
    size_t last = node;
    for (size_t i = 0; i < t->graph.n_nodes; i++)
        for (size_t k = 0; k < t->graph.node[i].n_inputs; k++)
            if (t->graph.input[t->graph.node[i].first_input + k] == node && i > last) last = i;
    return last;
}

/* Whether a tensor lives at a step; its end. */
static size_t twin_end(const trial *t, size_t tensor) {
    return tensor % 2 ? twin_last(t, tensor / 2) : t->graph.n_nodes - 1;
}
static bool twin_lives(const trial *t, size_t tensor, size_t step) {
    return tensor % 2 == 0 || (tensor / 2 <= step && step <= twin_end(t, tensor));
}

/* Bytes that live in a memory at a step. */
static uint64_t twin_use(const trial *t, const uint8_t *point, size_t memory, size_t step) {
    uint64_t sum = 0;
    for (size_t tensor = 0; tensor < 2 * t->graph.n_nodes; tensor++)
        if (point[tensor] == memory && twin_lives(t, tensor, step)) sum += twin_size(t, tensor);
    return sum;
}

static bool twin_valid(const trial *t, const uint8_t *point) {
    for (size_t s = 0; s < t->graph.n_nodes; s++)
        for (size_t m = 0; m < t->chip.n_memories; m++)
            if (twin_use(t, point, m, s) > t->chip.memory[m].capacity) return false;
    return true;
}

/* Bytes of weights that a node reads: all of them for each part of its output. */
static double twin_weights(const trial *t, size_t node) {
    const sx_place_node *at = &t->graph.node[node];
    double parts = 1;
    if (!at->weight_bytes) return 0;
    if (t->chip.output_buffer)
        parts = fmax(1, ceil((double)at->activation_bytes / (double)t->chip.output_buffer));
    return (double)at->weight_read * parts;
}

/* Whether the weights of a node come by the engine that reads ahead. */
static bool twin_ahead(const trial *t, const uint8_t *point, size_t node) {
    return t->chip.prefetch && point[2 * node] == 0 && twin_weights(t, node) > 0;
}

/* Seconds of a node without overhead, and without weights that are read ahead. */
static double twin_time(const trial *t, const uint8_t *point, size_t node) {
    const sx_place_node *at = &t->graph.node[node];
    double most = 0, sum = 0, compute = (double)at->ops / t->chip.rate[at->op];
    for (size_t m = 0; m < t->chip.n_memories; m++) {
        double bytes = 0;
        if (point[2 * node] == m && !twin_ahead(t, point, node)) bytes += twin_weights(t, node);
        if (point[2 * node + 1] == m) bytes += (double)at->activation_bytes;
        for (size_t k = 0; k < at->n_inputs; k++) {
            size_t from = t->graph.input[at->first_input + k];
            if (point[2 * from + 1] == m) bytes += (double)t->graph.node[from].activation_bytes;
        }
        most = fmax(most, bytes / t->chip.memory[m].bandwidth);
        sum += bytes / t->chip.memory[m].bandwidth;
    }
    return fmax(compute, t->chip.shared_ports ? sum : most);
}

static double twin_latency(const trial *t, const uint8_t *point) {
    double end[64] = {0}, engine = 0; /* end[i]: of the nodes before i */
    assert_true(t->graph.n_nodes < 64);
    for (size_t i = 0; i < t->graph.n_nodes; i++) {
        double done = 0;
        if (twin_ahead(t, point, i)) {
            double waiting = twin_weights(t, i);
            size_t over = i;
            while (over > 0 && waiting + (twin_ahead(t, point, over - 1) ? twin_weights(t, over - 1) : 0) <=
                                   (double)t->chip.prefetch) {
                over--;
                if (twin_ahead(t, point, over)) waiting += twin_weights(t, over);
            }
            engine = done = fmax(engine, end[over]) + twin_weights(t, i) / t->chip.memory[0].bandwidth;
        }
        end[i + 1] = fmax(end[i] + twin_time(t, point, i), done) + t->chip.overhead;
    }
    return end[t->graph.n_nodes];
}

/* Whether tensor a leaves before tensor b. */
static bool twin_before(const trial *t, size_t a, size_t b) {
    if (twin_end(t, a) != twin_end(t, b)) return twin_end(t, a) > twin_end(t, b);
    if (twin_size(t, a) != twin_size(t, b)) return twin_size(t, a) > twin_size(t, b);
    return a / 2 != b / 2 ? a / 2 > b / 2 : a < b;
}

/* Moves the tensor that leaves a memory at a step. */
static void twin_leave(const trial *t, uint8_t *point, size_t m, size_t step) {
    size_t best = SIZE_MAX;
    for (size_t k = 0; k < 2 * t->graph.n_nodes; k++)
        if (point[k] == m && twin_size(t, k) && twin_lives(t, k, step) &&
            (best == SIZE_MAX || twin_before(t, k, best)))
            best = k;
    assert_true(best != SIZE_MAX);
    point[best]--;
}

/* Moves one tensor out of the first memory that overflows, of the fastest first, at the first step from
 * `*step` on; false where nothing overflows from there on. */
static bool twin_move(const trial *t, uint8_t *point, size_t *step) {
    for (; *step < t->graph.n_nodes; ++*step)
        for (size_t m = t->chip.n_memories; m-- > 1;) {
            if (twin_use(t, point, m, *step) <= t->chip.memory[m].capacity) continue;
            twin_leave(t, point, m, *step);
            return true;
        }
    return false;
}

static void twin_rectify(const trial *t, uint8_t *point) {
    while (!twin_valid(t, point)) {
        size_t step = 0;
        while (twin_move(t, point, &step)) continue;
    }
}

/* The same where tensors need addresses: a memory that has none for all of its own loses one at the first of the steps
 * where it is fullest. Returns how many were lost so. */
static uint64_t twin_rectify_addresses(const trial *t, uint8_t *point) {
    for (uint64_t lost = 0;; lost++) {
        twin_rectify(t, point);
        size_t m = sx_addresses_lack(t->in, point), fullest = 0;
        if (m == 0 || m == t->chip.n_memories) return lost;
        for (size_t s = 1; s < t->graph.n_nodes; s++)
            if (twin_use(t, point, m, s) > twin_use(t, point, m, fullest)) fullest = s;
        twin_leave(t, point, m, fullest);
    }
}

/* --- the comparisons --- */

static bool near(double a, double b) {
    return !sx_numbers_differ(a, b, 1e-9);
}

/* Whether a latency is that of the twin but for rounding each transfer to femtoseconds. */
static bool same_latency(const trial *t, double a, double b) {
    return fabs(a - b) < 1e-15 * (1 + (double)(t->graph.n_nodes * (t->chip.n_memories + 2)));
}

static void whole_placements_are_those_of_the_twin(void **state) {
    const settings *set = *state;
    uint64_t invalid = 0, many = 0, ahead = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        trial t;
        sx_placement_cost cost;
        trial_begin(set, "placement.whole", i, 14, &t);
        sx_placement_evaluate(t.space, t.point, &cost);
        assert_int_equal(cost.valid, twin_valid(&t, t.point));
        assert_true(same_latency(&t, cost.latency, twin_latency(&t, t.point)));
        uint8_t *fixed = malloc(2 * t.space->point_size), *twin = fixed + t.space->point_size;
        assert_non_null(fixed);
        memcpy(fixed, t.point, t.space->point_size);
        memcpy(twin, t.point, t.space->point_size);
        uint64_t moved = sx_placement_rectify(t.space, fixed), bytes = 0, total = 0;
        twin_rectify(&t, twin);
        assert_memory_equal(fixed, twin, t.space->point_size);
        for (size_t k = 0; k < 2 * t.graph.n_nodes; k++) {
            total += twin_size(&t, k);
            if (fixed[k] != t.point[k]) bytes += twin_size(&t, k);
        }
        assert_true(moved == bytes && near(cost.error, cost.valid ? 0 : (double)bytes / (double)total));
        assert_true(sx_placement_rectify(t.space, fixed) == 0);
        assert_memory_equal(fixed, twin, t.space->point_size);
        assert_int_equal(t.space->type->check(t.space, fixed), 0);
        invalid += !cost.valid;
        many += t.chip.n_memories > 3;
        ahead += t.in->reads_ahead;
        free(fixed);
        trial_end(&t);
    }
    sx_expect_compared("invalid placements", invalid, set->count / 5);
    sx_expect_compared("chips with more than three memories", many, set->count / 20);
    sx_expect_compared("chips that read ahead", ahead, set->count / 5);
}

static void placements_with_addresses_are_those_of_the_twin(void **state) {
    const settings *set = *state;
    uint64_t lost = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        trial t;
        trial_begin(set, "placement.addresses", i, 14, &t);
        sx_expect_ok(sx_addresses_require(t.space, (uint64_t)64 << sx_rng_below(&t.rng, 10)));
        uint8_t *twin = malloc(t.space->point_size);
        assert_non_null(twin);
        memcpy(twin, t.point, t.space->point_size);
        (void)sx_placement_rectify(t.space, t.point);
        lost += twin_rectify_addresses(&t, twin);
        assert_memory_equal(t.point, twin, t.space->point_size);
        free(twin);
        trial_end(&t);
    }
    sx_expect_compared("tensors without an address", lost, set->count / 5);
}

static void changes_are_those_of_the_whole(void **state) {
    const settings *set = *state;
    uint64_t moves = 0, valid = 0;
    for (uint64_t i = 0; i < set->count / 10 + 1; i++) {
        trial t;
        sx_place_state now;
        trial_begin(set, "placement.change", i, 60, &t);
        sx_expect_ok(sx_place_state_init(t.in, &now));
        sx_place_state_set(&now, t.point);
        for (int k = 0; k < 40 && t.space->n_genes > 0; k++, moves++) {
            size_t tensor = (size_t)t.space->gene[sx_rng_below(&t.rng, t.space->n_genes)].which;
            t.point[tensor] = (uint8_t)sx_rng_below(&t.rng, t.chip.n_memories);
            if (k % 8 == 0) (void)sx_placement_rectify(t.space, t.point);
            for (size_t m = 0; m < 2 * t.graph.n_nodes; m++) sx_place_state_move(&now, m, t.point[m]);
            assert_memory_equal(now.memory, t.point, t.space->point_size);
            assert_true(now.latency == sx_place_latency(t.in, t.point));
            bool fits = sx_place_fits(t.in, t.point, NULL, NULL, NULL);
            assert_int_equal(sx_place_state_fits(&now), fits);
            valid += fits;
        }
        sx_place_state_fini(&now);
        trial_end(&t);
    }
    sx_expect_compared("changes", moves, set->count);
    sx_expect_compared("valid placements", valid, set->count / 20);
}

/* The fastest memory where a tensor fits, by the twin, with those not placed yet nowhere. */
static void compiler_rule_is_that_of_the_twin(void **state) {
    const settings *set = *state;
    uint64_t compared = 0;
    for (uint64_t i = 0; i < set->count / 10 + 1; i++) {
        trial t;
        trial_begin(set, "placement.compiler", i, 14, &t);
        size_t n = t.graph.n_nodes;
        memset(t.point, SX_MAX_MEMORIES, 2 * n);
        for (size_t k = 0; k < 2 * n; k++) {
            size_t tensor = k < n ? 2 * k + 1 : 2 * (k - n),
                   m = twin_size(&t, tensor) ? t.chip.n_memories - 1 : 0;
            for (; m > 0; m--) {
                bool fits = true;
                t.point[tensor] = (uint8_t)m;
                for (size_t s = 0; s < n; s++)
                    fits &= !twin_lives(&t, tensor, s) ||
                            twin_use(&t, t.point, m, s) <= t.chip.memory[m].capacity;
                if (fits) break;
            }
            t.point[tensor] = (uint8_t)m;
        }
        const uint8_t *compiled = sx_placement_space_of(t.space)->compiled;
        assert_memory_equal(compiled, t.point, 2 * n);
        assert_true(same_latency(&t, sx_placement_baseline(t.space), twin_latency(&t, compiled)));
        trial_end(&t);
        compared++;
    }
    sx_expect_compared("rules", compared, set->count / 10);
}

int main(int argc, char **argv) {
    settings set = {.count = argc > 1 ? strtoull(argv[1], NULL, 10) : 5000,
                    .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0};
    void *state = &set;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(whole_placements_are_those_of_the_twin, state),
        cmocka_unit_test_prestate(placements_with_addresses_are_those_of_the_twin, state),
        cmocka_unit_test_prestate(changes_are_those_of_the_whole, state),
        cmocka_unit_test_prestate(compiler_rule_is_that_of_the_twin, state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
