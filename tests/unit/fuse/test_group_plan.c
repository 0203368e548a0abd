/* Plans with groups, compared with a listing of all of them: every way to divide a chain into layers and groups, every place of
 * every tensor, with costs that are drawn instead of searched. */
#include "base/hash.h"
#include "fuse/group_chain.h"
#include "fuse/plan_search.h"
#include "session/fuse_independent.h"
#include "sextant/all.h"
#include "support/all_groups.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { CASES = 12, MOST_GROUPS = 4000 };

/* A machine with two memories of drawn sizes. */
static void draw_machine(sx_rng *rng, sx_arch *arch) {
    char text[800];
    snprintf(text, sizeof text,
             "arch:\n"
             "  name: small\n"
             "  arithmetic: {name: MAC, instances: 1, word-bits: 8, energy: 0.2}\n"
             "  storage:\n"
             "  - {name: RF, instances: 1, entries: 8, word-bits: 8, vector-access-energy: 0.5}\n"
             "  - {name: L1, instances: 1, entries: %d, word-bits: 8, vector-access-energy: 1}\n"
             "  - {name: GLB, instances: 1, entries: %d, word-bits: 8, vector-access-energy: 4}\n"
             "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8, vector-access-energy: 64}\n",
             4 + (int)sx_rng_below(rng, 24), 8 + (int)sx_rng_below(rng, 60));
    sx_input *input = sx_expect_input(text);
    sx_expect_ok(sx_input_arch(input, arch));
    sx_input_free(input);
}

/* A chain of 2 or 3 convolutions over rows: an expanding one, perhaps a depthwise one, and one that sums. */
static void draw_graph(sx_rng *rng, sx_graph *out) {
    const bool middle = sx_rng_below(rng, 4);
    const int rows = 2 + 2 * (int)sx_rng_below(rng, 3), wide = 2 + 2 * (int)sx_rng_below(rng, 2),
              window = 1 + (int)sx_rng_below(rng, 3);
    char text[1600], depthwise[500] = "", between[200] = "";
    if (middle) {
        snprintf(between, sizeof between,
                 "  - {name: w2, shape: [%d, %d], weight: true}\n"
                 "  - {name: filtered, shape: [%d, %d]}\n",
                 wide, window, wide, rows);
        snprintf(
            depthwise, sizeof depthwise,
            "  - name: filter\n"
            "    einsum: \"O[d,p] += W[d,r]*I[d,p+r] {d:%d,p:%d,r:%d}\"\n"
            "    operands: {O: {tensor: filtered}, W: {tensor: w2}, I: {tensor: wide, pad: [[0, 0], [%d, "
            "%d]]}}\n",
            wide, rows, window, window / 2, window - 1 - window / 2);
    }
    snprintf(text, sizeof text,
             "graph:\n"
             "  name: block\n"
             "  tensors:\n"
             "  - {name: x, shape: [2, %d]}\n"
             "  - {name: w1, shape: [%d, 2], weight: true}\n"
             "  - {name: wide, shape: [%d, %d]}\n"
             "%s"
             "  - {name: w3, shape: [3, %d], weight: true}\n"
             "  - {name: y, shape: [3, %d]}\n"
             "  nodes:\n"
             "  - name: expand\n"
             "    einsum: \"O[k,p] += W[k,c]*I[c,p] {k:%d,c:2,p:%d}\"\n"
             "    operands: {O: {tensor: wide}, W: {tensor: w1}, I: {tensor: x}}\n"
             "%s"
             "  - name: project\n"
             "    einsum: \"O[k,p] += W[k,c]*I[c,p] {k:3,c:%d,p:%d}\"\n"
             "    operands: {O: {tensor: y}, W: {tensor: w3}, I: {tensor: %s}}\n",
             rows, wide, wide, rows, between, wide, rows, wide, rows, depthwise, wide, rows,
             middle ? "filtered" : "wide");
    sx_input *input = sx_expect_input(text);
    sx_expect_ok(sx_input_graph(input, out));
    sx_input_free(input);
}

/* A cost that depends on all that is known of a cut layer, less where more of it is on chip. */
static double drawn_cost(const sx_problem *problem, const sx_cut *cut) {
    const uint64_t key[] = {problem->size[0], problem->size[1], problem->size[2],
                            cut->resident,    cut->second,      cut->found};
    const double random = (double)(sx_hash_bytes(key, sizeof key, 3) >> 40) / (1 << 24);
    double work = 1;
    for (int d = 0; d < problem->n_dims; d++) work *= problem->size[d];
    double far = 0;
    for (int v = 0; v < 3; v++) far += cut->second >> v & 1 ? 0 : cut->resident >> v & 1 ? 0.3 : 1;
    return work * (1 + 0.2 * random + 0.5 * far) + 0.01 * (double)cut->occupied +
           0.01 * (double)cut->occupied_second;
}

static sx_status search_drawn(void *user, const sx_problem *problem, const sx_cut *cut,
                              sx_inner_effort effort, sx_inner_answer *out) {
    (void)user;
    (void)effort;
    *out = (sx_inner_answer){.found = true, .used = 1000, .used_second = 1000};
    out->score = (sx_score){.energy_pj = out->bound = drawn_cost(problem, cut), .cycles = 1};
    return SX_OK;
}

static sx_status half_drawn(void *user, const sx_problem *problem, const sx_cut *cut, double *out) {
    (void)user;
    *out = drawn_cost(problem, cut) / 2;
    return SX_OK;
}

static bool never_stop(void *user) {
    (void)user;
    return false;
}

/* All groups of a graph, with every loop and every mask of what is held and what is in the second memory, that plans may have:
 * what is held is all operands, none, or all but the largest. */
static size_t list_groups(const sx_exchange *x, sx_inner *inner, sx_fuse_group *out) {
    size_t n = 0;
    for (size_t s = 0; s < x->n_steps; s++)
        for (int layers = 2; layers <= 3; layers++) {
            sx_layer_chain chain;
            if (!sx_layer_chain_find(x, s, layers, &chain)) continue;
            const uint32_t rows = chain.link[layers - 1].rows_out;
            const uint32_t all = 2 * rows * chain.channels * 2 << layers << (layers - 1);
            for (uint32_t i = 0, rest; i < all; i++) {
                sx_group_choice c = {.window = i % 2 ? SX_GROUP_RECOMPUTE : SX_GROUP_RETAIN};
                bool possible;
                c.tile = (rest = i / 2) % rows + 1;
                c.slices = (rest /= rows) % chain.channels + 1;
                c.holds_in = (rest /= chain.channels) % 2;
                c.held = (rest /= 2) % (1u << layers);
                c.second = (rest >> layers) % (1u << (layers - 1));
                if (rows % c.tile || chain.channels % c.slices) continue;
                sx_expect_ok(sx_fuse_group_make(&chain, inner, &c, &out[n], &possible));
                assert_true(possible && n + 1 < MOST_GROUPS);
                n++;
            }
        }
    return n;
}

/* Whether the search lists a group of these loops; groups that it leaves out must cost no less than others. */
static bool is_listed(const sx_vector *listed, const sx_fuse_group *group) {
    for (size_t g = 0; g < listed->n; g++) {
        const sx_fuse_group *other = sx_vector_at(listed, g);
        if (other->first == group->first && other->last == group->last && other->window == group->window &&
            other->tile == group->tile && other->slices == group->slices && other->held == group->held &&
            other->holds_in == group->holds_in && other->second == group->second)
            return true;
    }
    return false;
}

/* The listing of all plans: which groups there are, and the places of values in the plan at hand. */
typedef struct listing {
    const sx_exchange *x;
    const sx_inner *inner;
    const sx_fuse_group *group;
    size_t n_groups;
    int place[8]; /* of each value: 0 outside, 1 the exchange memory, 2 the second one */
} listing;

/* The state of the places, and whether values of a part, and so many words more of each memory, have room. */
static bool places_fit(const listing *l, size_t first, size_t last, uint64_t more, uint64_t second,
                       uint64_t *state) {
    const sx_exchange *x = l->x;
    *state = 0;
    for (size_t v = 0; v < x->n_values; v++) {
        uint64_t most = 0;
        if (!l->place[v] || x->value[v].last < first || x->value[v].first > last) continue;
        if (x->value[v].reason || (l->place[v] == 2 && x->value[v].second_slot == SX_NO_SLOT)) return false;
        for (size_t s = first; s <= last; s++) {
            const uint64_t words = (l->place[v] == 2 ? x->second_words : x->words)[s * x->n_values + v];
            if (words > most) most = words;
        }
        *(l->place[v] == 2 ? &second : &more) += most;
        *state |= UINT64_C(1) << (l->place[v] == 2 ? x->value[v].second_slot : x->value[v].slot);
    }
    return more <= x->capacity && second <= x->second_capacity;
}

/* What a group costs; INFINITY where it is not possible. */
static double group_cost(const listing *l, const sx_fuse_group *group) {
    uint64_t state;
    double cost = 0;
    for (int i = 0; i + 1 < group->n_layers; i++)
        if (l->place[group->inside[i]]) return INFINITY;
    if (!places_fit(l, group->first, group->last, group->peak, group->peak_second, &state)) return INFINITY;
    for (int m = 0; m < group->n_moves; m++)
        if (group->move[m].value == SX_NO_INDEX || !l->place[group->move[m].value])
            cost += group->move[m].score.energy_pj;
    for (int r = 0; r < group->n_runs; r++) {
        const sx_cut cut = sx_plan_run_cut(l->x, group, &group->run[r], state);
        const sx_problem *problem = sx_vector_at(&l->inner->problem, group->run[r].problem);
        cost += group->run[r].times * drawn_cost(problem, &cut);
    }
    return cost;
}

/* The least cost of all steps from one on with the places at hand. */
static double least_from(const listing *l, size_t step) {
    uint64_t state;
    double least = INFINITY;
    if (step == l->x->n_steps) return 0;
    if (places_fit(l, step, step, 0, 0, &state)) {
        const sx_cut cut = sx_plan_step_cut(l->x, step, state);
        least =
            drawn_cost(&l->x->network->layer[l->x->step[step].layer].problem, &cut) + least_from(l, step + 1);
    }
    for (size_t g = 0; g < l->n_groups; g++)
        if (l->group[g].first == step)
            least = fmin(least, group_cost(l, &l->group[g]) + least_from(l, l->group[g].last + 1));
    return least;
}

/* The least cost over the places of all values from v on. */
static double least_places(listing *l, size_t v) {
    double least = INFINITY;
    if (v == l->x->n_values) return least_from(l, 0);
    for (l->place[v] = 0; l->place[v] < 3; l->place[v]++) least = fmin(least, least_places(l, v + 1));
    return least;
}

/* Keeps those of the groups that the search lists; returns how many of all that fit these are. */
static size_t keep_listed(const sx_vector *listed, sx_fuse_group *group, size_t n) {
    size_t kept = 0;
    for (size_t g = 0; g < n; g++)
        if (is_listed(listed, &group[g])) group[kept++] = group[g];
    return kept;
}

/* The search finds the least cost of all plans with groups in two memories. */
static void test_plans_with_groups(void **state) {
    (void)state;
    static sx_arch arch;
    static sx_fuse_group group[MOST_GROUPS];
    sx_objective energy;
    size_t grouped = 0, second = 0;
    sx_expect_ok(sx_objective_parse("energy", &energy));
    for (uint64_t i = 0; i < CASES; i++) {
        sx_rng rng = sx_rng_stream(i, "group.plan", 0);
        sx_graph graph;
        sx_network network = {0};
        sx_exchange x;
        sx_inner inner;
        sx_plan_answer answer;
        sx_vector groups = {.size = sizeof(sx_fuse_group)};
        draw_graph(&rng, &graph);
        draw_machine(&rng, &arch);
        sx_expect_ok(sx_graph_network(&graph, &network));
        sx_expect_ok(sx_exchange_init(&graph, &network, &arch, 2, 1, NULL, &x));
        sx_expect_ok(sx_inner_init(&inner, &energy, x.capacity));
        inner.second = x.second_capacity;
        inner.search = search_drawn;
        inner.minimum = half_drawn;
        sx_expect_groups(&x, &inner, 3, false, &groups);
        listing l = {.x = &x, .inner = &inner, .group = group};
        l.n_groups = keep_listed(&groups, group, list_groups(&x, &inner, group));
        assert_int_equal(l.n_groups, groups.n);
        const sx_plan_space space = {.exchange = &x,
                                     .inner = &inner,
                                     .group = (const sx_fuse_group *)groups.data,
                                     .n_groups = groups.n};
        sx_expect_ok(sx_plan_search(&space, 0, INFINITY, 1, never_stop, NULL, &answer));
        const double least = least_places(&l, 0);
        double backward;
        sx_expect_ok(sx_fuse_alone_join(&space, &backward));
        assert_true(fabs(answer.plan.weight - least) <= 1e-9 * least);
        assert_true(fabs(answer.lower_bound - least) <= 1e-9 * least);
        assert_true(fabs(backward - least) <= 1e-9 * least);
        for (size_t p = 0; p < answer.plan.n_parts; p++) {
            if (answer.plan.part[p].group == SX_NO_INDEX) continue;
            grouped++;
            second += space.group[answer.plan.part[p].group].second != 0;
        }
        sx_plan_answer_fini(&answer);
        sx_vector_clear(&groups);
        sx_inner_fini(&inner);
        sx_exchange_fini(&x);
        sx_network_fini(&network);
        sx_graph_fini(&graph);
    }
    print_message("%zu groups in plans, %zu with tiles in the second memory\n", grouped, second);
    assert_true(grouped > CASES / 4 && second > CASES / 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plans_with_groups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
