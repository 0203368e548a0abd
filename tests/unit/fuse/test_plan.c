/* The join over a graph, compared with a listing of all choices, with costs that are drawn instead of searched. */
#include "fuse/plan_product.h"
#include "fuse/plan_search.h"

#include "base/hash.h"
#include "fuse/cut.h"
#include "fuse/order.h"
#include "session/fuse_independent.h"
#include "sextant/all.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_LAYERS = 7, WORDS = 16, CASES = 300 };
enum { MOST_PLANS = 4 };

static const char machine_text[] =
    "arch:\n"
    "  name: small\n"
    "  arithmetic: {name: MAC, instances: 4, meshX: 4, word-bits: 8, energy: 0.2}\n"
    "  storage:\n"
    "  - {name: RF, instances: 4, meshX: 4, entries: 8, word-bits: 8, vector-access-energy: 0.5, "
    "energy-per-hop: 0.25}\n"
    "  - {name: GLB, instances: 1, entries: 40, word-bits: 8, read_energy: 4, fill_energy: 5, update_energy: "
    "6,\n"
    "     read_bandwidth: 2, write_bandwidth: 2, energy-per-hop: 0.125}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8, vector-access-energy: 64}\n";

/* The same with a memory more. */
static const char second_text[] =
    "arch:\n"
    "  name: small\n"
    "  arithmetic: {name: MAC, instances: 4, meshX: 4, word-bits: 8, energy: 0.2}\n"
    "  storage:\n"
    "  - {name: RF, instances: 4, meshX: 4, entries: 8, word-bits: 8, vector-access-energy: 0.5}\n"
    "  - {name: L1, instances: 1, entries: 20, word-bits: 8, vector-access-energy: 1}\n"
    "  - {name: GLB, instances: 1, entries: 40, word-bits: 8, vector-access-energy: 4}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8, vector-access-energy: 64}\n";

static void read_machine_of(const char *text, sx_arch *arch) {
    sx_input *input = sx_expect_input(text);
    sx_expect_ok(sx_input_arch(input, arch));
    sx_input_free(input);
}

static void read_machine(sx_arch *arch) {
    read_machine_of(machine_text, arch);
}

static size_t add_tensor(sx_graph *graph, const char *name, size_t number, uint64_t words, bool weight) {
    sx_graph_tensor tensor = {.weight = weight, .bits = 8, .n_ranks = 1, .extent = {words}};
    size_t index;
    snprintf(tensor.name, sizeof tensor.name, "%s%zu", name, number);
    sx_expect_ok(sx_graph_add_tensor(graph, &tensor, &index));
    return index;
}

/* Adds the layer y[m] += w[m] * x[m] with m words; returns y. */
static size_t add_layer(sx_graph *graph, size_t number, size_t in) {
    sx_problem einsum;
    char text[64];
    const uint64_t words = sx_graph_words(&graph->tensor[in]);
    snprintf(text, sizeof text, "O[m] += W[m]*I[m] {m:%llu}", (unsigned long long)words);
    sx_expect_ok(sx_einsum_parse(text, &einsum));
    memset(einsum.name, 0, sizeof einsum.name);
    const size_t weight = add_tensor(graph, "w", number, words, true),
                 out = add_tensor(graph, "y", number, words, false);
    const sx_graph_operand operand[] = {sx_graph_whole(out, true, 1), sx_graph_whole(weight, false, 1),
                                        sx_graph_whole(in, false, 1)};
    sx_graph_node node = {.kind = SX_OP_EINSUM, .axis = -1, .repeat = 1};
    snprintf(node.name, sizeof node.name, "layer%zu", number);
    memcpy(node.layer, node.name, sizeof node.layer);
    sx_expect_ok(sx_graph_add_node(graph, &node, &einsum, operand, 3, NULL));
    return out;
}

/* Adds an element-wise node; returns what it writes. */
static size_t add_sum(sx_graph *graph, size_t number, size_t a, size_t b) {
    sx_graph_operand operand[] = {
        {.tensor = add_tensor(graph, "s", number, WORDS, false), .written = true, .split = -1},
        {.tensor = a, .split = -1},
        {.tensor = b, .split = -1}};
    sx_graph_node node = {.kind = SX_OP_ELEMENT_WISE, .function = "add", .axis = -1, .repeat = 1};
    snprintf(node.name, sizeof node.name, "sum%zu", number);
    memcpy(node.layer, node.name, sizeof node.layer);
    sx_expect_ok(sx_graph_add_node(graph, &node, NULL, operand, a == b ? 2 : 3, NULL));
    return operand[0].tensor;
}

/* A tower of layers of which some add what an earlier one made. */
static void draw_graph(sx_rng *rng, sx_graph *graph) {
    size_t made[MOST_LAYERS + 1], n = 1, layers = 2 + sx_rng_below(rng, MOST_LAYERS - 1);
    memset(graph, 0, sizeof *graph);
    snprintf(graph->name, sizeof graph->name, "tower");
    made[0] = add_tensor(graph, "x", 0, WORDS, false);
    for (size_t i = 0; i < layers; i++) {
        size_t out = add_layer(graph, i, made[sx_rng_below(rng, 2) ? n - 1 : sx_rng_below(rng, n)]);
        if (sx_rng_below(rng, 3) == 0) out = add_sum(graph, i, out, made[sx_rng_below(rng, n)]);
        if (sx_rng_below(rng, 4) == 0) out = add_sum(graph, 100 + i, out, out);
        made[n++] = out;
    }
}

/* A cost that depends on everything a cut says, more where less room is left. */
static double drawn_cost(const sx_problem *problem, const sx_cut *cut) {
    const uint64_t key[] = {problem->size[0], cut->resident, cut->second};
    double random = (double)(sx_hash_bytes(key, sizeof key, 7) >> 40) / (1 << 24);
    return 1 + random + (cut->second == 7 ? 0 : 0.004 * (double)cut->occupied_second) +
           (cut->resident == 7 ? 0 : 0.005 * (double)cut->occupied) - 0.3 * (cut->resident & 1) -
           0.4 * (cut->second & 1);
}

static sx_status search_drawn(void *user, const sx_problem *problem, const sx_cut *cut,
                              sx_inner_effort effort, sx_inner_answer *out) {
    ++*(size_t *)user;
    *out = (sx_inner_answer){.found = true, .used = 1000, .score = {drawn_cost(problem, cut), 1, 1, 0, 1}};
    out->bound = out->score.energy_pj * (effort == SX_INNER_SKETCH ? 0.9 : 1);
    if (effort == SX_INNER_SKETCH) out->score.energy_pj *= 1.1;
    return SX_OK;
}

static sx_status halve_drawn(void *user, const sx_problem *problem, const sx_cut *cut, double *out) {
    (void)user;
    *out = drawn_cost(problem, cut) / 2;
    return SX_OK;
}

static bool never_stop(void *user) {
    (void)user;
    return false;
}

/* The place of value v in a choice: 0 outside, 1 the exchange memory, 2 the second one. */
static int place_in(const sx_exchange *x, uint64_t choice, size_t v) {
    const uint64_t places = x->second >= 0 ? 3 : 2;
    while (v-- > 0) choice /= places;
    return (int)(choice % places);
}

/* What a step costs in a choice; INFINITY where it is not possible. */
static double choice_cost(const sx_exchange *x, uint64_t choice, size_t s) {
    sx_cut cut = {.second_level = (uint8_t)(x->second >= 0 ? x->second : 0)};
    for (size_t v = 0; v < x->n_values; v++) {
        const int place = place_in(x, choice, v);
        if (place && x->value[v].reason) return INFINITY;
        if (place == 1) cut.occupied += x->words[s * x->n_values + v];
        if (place == 2) cut.occupied_second += x->second_words[s * x->n_values + v];
    }
    if (cut.occupied > x->capacity || cut.occupied_second > x->second_capacity) return INFINITY;
    if (x->step[s].layer == SX_NO_INDEX) return 0;
    for (int v = 0; v < 3; v++) {
        const int place = x->step[s].value[v] == SX_NO_INDEX ? 0 : place_in(x, choice, x->step[s].value[v]);
        if (place == 1) cut.resident |= (uint8_t)(1u << v);
        if (place == 2) cut.second |= (uint8_t)(1u << v);
    }
    if (((cut.resident | cut.second) & 7) == 7) cut.occupied = 0;
    return drawn_cost(&x->network->layer[x->step[s].layer].problem, &cut);
}

/* The least costs of all choices by listing them, in order; words are counted from the tensors themselves. */
static void list_choices(const sx_exchange *x, double best[MOST_PLANS]) {
    uint64_t n = 1;
    for (size_t v = 0; v < x->n_values; v++) n *= x->second >= 0 ? 3 : 2;
    for (int k = 0; k < MOST_PLANS; k++) best[k] = INFINITY;
    for (uint64_t choice = 0; choice < n; choice++) {
        double cost = 0;
        for (size_t s = 0; s < x->n_steps && !isinf(cost); s++) cost += choice_cost(x, choice, s);
        for (int k = 0; k < MOST_PLANS; k++) {
            const double least = fmin(best[k], cost);
            cost = fmax(best[k], cost);
            best[k] = least;
        }
    }
}

/* Lazy search finds the least costs of all choices, and its bound is the least. */
static void test_search_equals_listing(void **state) {
    (void)state;
    static sx_arch arch;
    sx_objective energy;
    size_t most = 0, fused = 0, others = 0, second = 0;
    sx_expect_ok(sx_objective_parse("energy", &energy));
    for (uint64_t i = 0; i < CASES; i++) {
        sx_rng rng = sx_rng_stream(i, "plan", 0);
        sx_graph graph;
        sx_network network = {0};
        sx_exchange exchange;
        sx_inner inner;
        sx_plan_answer answer;
        const sx_plan_space space = {.exchange = &exchange, .inner = &inner};
        size_t searches = 0;
        draw_graph(&rng, &graph);
        sx_expect_ok(sx_graph_network(&graph, &network));
        const bool two = i % 3 == 0 && graph.n_nodes < 9;
        read_machine_of(two ? second_text : machine_text, &arch);
        sx_expect_ok(sx_exchange_init(&graph, &network, &arch, two ? 2 : 1, two ? 1 : -1, NULL, &exchange));
        sx_expect_ok(sx_inner_init(&inner, &energy, exchange.capacity));
        inner.second = exchange.second_capacity;
        inner.user = &searches;
        inner.search = search_drawn;
        inner.minimum = halve_drawn;
        const size_t k = 1 + i % MOST_PLANS;
        sx_expect_ok(sx_plan_search(&space, 0, INFINITY, k, never_stop, NULL, &answer));
        double least[MOST_PLANS], best;
        list_choices(&exchange, least);
        best = least[0];
        for (size_t n = 1; n < k; n++) {
            assert_int_equal(n <= answer.n_others, !isinf(least[n]));
            if (n > answer.n_others) continue;
            assert_true(fabs(answer.other[n - 1].weight - least[n]) <= 1e-9 * least[n]);
            others++;
        }
        assert_true(answer.plan.found);
        assert_true(fabs(answer.plan.weight - best) <= 1e-9 * best);
        assert_true(fabs(answer.lower_bound - best) <= 1e-9 * best);
        double backward;
        sx_expect_ok(sx_fuse_alone_join(&space, &backward));
        assert_true(fabs(backward - best) <= 1e-9 * best);
        for (size_t p = 0; p < answer.plan.n_parts; p++) fused += answer.plan.part[p].state != 0;
        for (size_t p = 0; p < answer.plan.n_parts; p++)
            for (size_t v = 0; v < exchange.n_values; v++)
                second += sx_plan_stays_second(&exchange.value[v], answer.plan.part[p].state);
        if (searches > most) most = searches;
        sx_plan_answer_fini(&answer);
        sx_inner_fini(&inner);
        sx_exchange_fini(&exchange);
        sx_network_fini(&network);
        sx_graph_fini(&graph);
    }
    assert_true(most > 4);
    assert_true(fused > CASES);
    assert_true(others > CASES);
    assert_true(second > CASES / 10);
}

/* Whether every node of an order runs once, after those whose outputs it reads. */
static bool is_order(const sx_graph *graph, const size_t *order) {
    bool made[64] = {0}, done[64] = {0};
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const sx_graph_node *node = &graph->node[order[i]];
        if (done[order[i]]) return false;
        done[order[i]] = true;
        for (size_t v = 0; v < node->n_operands; v++) {
            const sx_graph_operand *operand = &graph->operand[node->first + v];
            if (operand->written) made[operand->tensor] = true;
            if (!made[operand->tensor] && operand->tensor != 0 && !graph->tensor[operand->tensor].weight)
                return false;
        }
    }
    return true;
}

/* Counts the orders of the einsums from position `at` on by trying all, and notes the least cost of their plans. */
static size_t try_orders(const sx_network *network, const sx_arch *arch, const sx_graph *graph,
                         size_t *einsum, size_t n, size_t at, double *least) {
    size_t order[64], early, count = 0;
    double best[MOST_PLANS];
    if (at == n) {
        sx_exchange x;
        sx_expect_ok(sx_order_complete(graph, einsum, n, order, &early));
        if (early < n) return 0;
        assert_true(is_order(graph, order));
        sx_expect_ok(sx_exchange_init(graph, network, arch, 1, -1, order, &x));
        list_choices(&x, best);
        *least = fmin(*least, best[0]);
        sx_exchange_fini(&x);
        return 1;
    }
    for (size_t i = at; i < n; i++) {
        const size_t kept = einsum[at];
        einsum[at] = einsum[i];
        einsum[i] = kept;
        count += try_orders(network, arch, graph, einsum, n, at + 1, least);
        einsum[i] = einsum[at];
        einsum[at] = kept;
    }
    return count;
}

/* The orders that are listed are all that there are, and the best of their plans is the best of all plans in any order. */
static void test_orders(void **state) {
    (void)state;
    static sx_arch arch;
    size_t several = 0, better = 0;
    read_machine(&arch);
    for (uint64_t i = 0; i < 60; i++) {
        sx_rng rng = sx_rng_stream(i, "order", 0);
        sx_graph graph;
        sx_network network = {0};
        sx_vector orders;
        size_t einsum[MOST_LAYERS], n = 0;
        double all = INFINITY, own = INFINITY, listed = INFINITY, best[MOST_PLANS];
        draw_graph(&rng, &graph);
        sx_expect_ok(sx_graph_network(&graph, &network));
        for (size_t v = 0; v < graph.n_nodes; v++)
            if (graph.node[v].kind == SX_OP_EINSUM) einsum[n++] = v;
        const size_t count = n > 5 ? 0 : try_orders(&network, &arch, &graph, einsum, n, 0, &all);
        sx_expect_ok(sx_orders_list(&graph, 120, &orders));
        for (size_t o = 0; o < orders.n; o++) {
            const size_t *order = sx_vector_at(&orders, o);
            sx_exchange x;
            assert_true(is_order(&graph, order));
            for (size_t p = 0; p < o; p++)
                assert_memory_not_equal(order, sx_vector_at(&orders, p), graph.n_nodes * sizeof *order);
            sx_expect_ok(sx_exchange_init(&graph, &network, &arch, 1, -1, order, &x));
            list_choices(&x, best);
            listed = fmin(listed, best[0]);
            if (o == 0) own = best[0];
            sx_exchange_fini(&x);
        }
        if (count) assert_int_equal(orders.n, count);
        if (count) assert_true(listed <= all + 1e-12);
        several += count > 1;
        better += listed < own - 1e-12;
        sx_vector_clear(&orders);
        sx_network_fini(&network);
        sx_graph_fini(&graph);
    }
    assert_true(several > 10);
    assert_true(better > 3);
}

/* An order by names has every einsum once, and none before what it reads. */
static void test_order_by_names(void **state) {
    (void)state;
    sx_graph graph = {.name = "tower"};
    size_t order[8], bad;
    const size_t in = add_tensor(&graph, "x", 0, WORDS, false), a = add_layer(&graph, 0, in);
    const size_t b = add_layer(&graph, 1, in);
    add_layer(&graph, 2, add_sum(&graph, 0, a, b));
    const char *const right[] = {"layer1", "layer0", "layer2"},
                      *const early[] = {"layer1", "layer2", "layer0"},
                      *const twice[] = {"layer1", "layer1", "layer2"},
                      *const other[] = {"sum0", "layer0", "layer2"};
    sx_expect_ok(sx_order_by_names(&graph, right, 3, order, &bad));
    assert_int_equal(bad, 3);
    assert_int_equal(order[0], 1);
    assert_int_equal(order[1], 0);
    assert_int_equal(order[2], 2);
    sx_expect_ok(sx_order_by_names(&graph, early, 3, order, &bad));
    assert_int_equal(bad, 1);
    sx_expect_ok(sx_order_by_names(&graph, twice, 3, order, &bad));
    assert_int_equal(bad, 1);
    sx_expect_ok(sx_order_by_names(&graph, other, 3, order, &bad));
    assert_int_equal(bad, 0);
    sx_graph_fini(&graph);
}

/* Cycles that depend on a cut otherwise than the energy does. */
static double drawn_cycles(const sx_problem *problem, const sx_cut *cut) {
    const uint64_t key[] = {problem->size[0], cut->resident, 1};
    return 10 + 90 * (double)(sx_hash_bytes(key, sizeof key, 9) >> 40) / (1 << 24);
}

/* One of two mappings of a cut layer: the second has more energy and fewer cycles. */
static sx_score drawn_mapping(const sx_problem *problem, const sx_cut *cut, int m) {
    const uint64_t key[] = {problem->size[0], cut->resident, 2};
    const double wide = (double)(sx_hash_bytes(key, sizeof key, 5) >> 40) / (1 << 24);
    return (sx_score){.energy_pj = drawn_cost(problem, cut) * (1 + m * wide),
                      .cycles = drawn_cycles(problem, cut) * (m ? 0.5 : 1)};
}

/* The better one by a power, with the least product as the bound. */
static sx_status search_power_drawn(void *user, const sx_problem *problem, const sx_cut *cut, double power,
                                    sx_inner_effort effort, sx_inner_answer *out) {
    (void)effort;
    ++*(size_t *)user;
    *out = (sx_inner_answer){.found = true, .used = 1000, .bound = INFINITY};
    for (int m = 0; m < 2; m++) {
        const sx_score score = drawn_mapping(problem, cut, m);
        const double value = pow(score.energy_pj, power) * pow(score.cycles, 1 - power);
        if (value >= out->bound) continue;
        out->bound = value;
        out->score = score;
    }
    return SX_OK;
}

static sx_status search_product(void *user, const sx_problem *problem, const sx_cut *cut,
                                sx_inner_effort effort, sx_inner_answer *out) {
    SX_TRY(search_power_drawn(user, problem, cut, 0.5, effort, out));
    out->bound = pow(out->bound, 2) * (1 - 1e-12);
    return SX_OK;
}

static sx_status least_drawn(void *user, const sx_problem *problem, const sx_cut *cut, sx_score *out) {
    (void)user;
    *out =
        (sx_score){.energy_pj = 0.8 * drawn_cost(problem, cut), .cycles = 0.4 * drawn_cycles(problem, cut)};
    return SX_OK;
}

static sx_status least_product(void *user, const sx_problem *problem, const sx_cut *cut, double *out) {
    sx_score least;
    SX_TRY(least_drawn(user, problem, cut, &least));
    *out = least.energy_pj * least.cycles;
    return SX_OK;
}

/* Energy times cycles of a choice, the least over all mappings of its layers; INFINITY where it is not possible. */
static double choice_product(const sx_exchange *x, uint64_t choice) {
    sx_score score[MOST_LAYERS][2];
    int n = 0;
    double least = INFINITY;
    for (size_t s = 0; s < x->n_steps; s++) {
        sx_cut cut = {0};
        for (size_t v = 0; v < x->n_values; v++) {
            if (!(choice >> v & 1)) continue;
            cut.occupied += x->words[s * x->n_values + v];
            if (x->value[v].reason) return INFINITY;
        }
        if (cut.occupied > x->capacity) return INFINITY;
        if (x->step[s].layer == SX_NO_INDEX) continue;
        for (int v = 0; v < 3; v++)
            if (x->step[s].value[v] != SX_NO_INDEX && (choice >> x->step[s].value[v] & 1))
                cut.resident |= (uint8_t)(1u << v);
        for (int m = 0; m < 2; m++)
            score[n][m] = drawn_mapping(&x->network->layer[x->step[s].layer].problem, &cut, m);
        n++;
    }
    for (unsigned chosen = 0; chosen < 1u << n; chosen++) {
        sx_score sum = {0};
        for (int i = 0; i < n; i++) {
            sum.energy_pj += score[i][chosen >> i & 1].energy_pj;
            sum.cycles += score[i][chosen >> i & 1].cycles;
        }
        least = fmin(least, sum.energy_pj * sum.cycles);
    }
    return least;
}

static bool always_stop(void *user) {
    (void)user;
    return true;
}

/* What the product of plans came to, over the least of all choices and mappings. */
typedef struct product_tally {
    double bound[2], plan[2]; /* without and with searches by sums; means */
} product_tally;

/* Searches by the product and compares bound and plan with all choices. */
static void check_product(sx_plan_space space, const sx_plan_answer *answer, bool search, double least,
                          product_tally *sum) {
    sx_plan plan = {0};
    sx_plan_product product = {.plan = &plan, .unfused = {3, 30}};
    double total[2];
    sx_expect_ok(sx_plan_search_product(&space, search ? never_stop : always_stop, NULL, &product));
    assert_true(plan.found);
    assert_true(product.bound <= least * (1 + 1e-9));
    assert_true(product.bound >= pow(answer->lower_bound, 2) * 0.5);
    sx_expect_ok(sx_plan_sum(&space, (const double[2]){1, 0}, &plan, &total[0]));
    sx_expect_ok(sx_plan_sum(&space, (const double[2]){0, 1}, &plan, &total[1]));
    assert_true(total[0] == product.total[0] && total[1] == product.total[1]);
    assert_true(total[0] * total[1] >= least * (1 - 1e-9));
    sum->bound[search] += product.bound / least / CASES;
    sum->plan[search] += total[0] * total[1] / least / CASES;
    sx_plan_fini(&plan);
}

/* The bound of energy times cycles is below every choice of places and mappings, and the plan above the least; both are near it
 * once layers are searched by sums. */
static void test_products(void **state) {
    (void)state;
    static sx_arch arch;
    sx_objective edp;
    product_tally sum = {0};
    size_t searches = 0;
    read_machine(&arch);
    sx_expect_ok(sx_objective_parse("edp", &edp));
    for (uint64_t i = 0; i < CASES; i++) {
        sx_rng rng = sx_rng_stream(i, "hull", 0);
        sx_graph graph;
        sx_network network = {0};
        sx_exchange x;
        sx_inner inner;
        sx_plan_answer answer;
        const sx_plan_space space = {.exchange = &x, .inner = &inner};
        double least = INFINITY;
        draw_graph(&rng, &graph);
        sx_expect_ok(sx_graph_network(&graph, &network));
        sx_expect_ok(sx_exchange_init(&graph, &network, &arch, 1, -1, NULL, &x));
        sx_expect_ok(sx_inner_init(&inner, &edp, x.capacity));
        inner.user = &searches;
        inner.search = search_product;
        inner.minimum = least_product;
        inner.least = least_drawn;
        inner.search_power = search_power_drawn;
        sx_expect_ok(sx_plan_search(&space, 0, INFINITY, 1, never_stop, NULL, &answer));
        for (uint64_t choice = 0; choice < UINT64_C(1) << x.n_values; choice++)
            least = fmin(least, choice_product(&x, choice));
        check_product(space, &answer, false, least, &sum);
        check_product(space, &answer, true, least, &sum);
        sx_plan_answer_fini(&answer);
        sx_inner_fini(&inner);
        sx_exchange_fini(&x);
        sx_network_fini(&network);
        sx_graph_fini(&graph);
    }
    print_message("bounds %.4f and %.4f, plans %.4f and %.4f of the least product\n", sum.bound[0],
                  sum.bound[1], sum.plan[0], sum.plan[1]);
    assert_true(sum.bound[1] > 0.96 && sum.bound[1] > sum.bound[0] + 0.018);
    assert_true(sum.plan[0] < 1.008 && sum.plan[1] < 1.003);
}

/* Values, their lifetimes and words in a tower with an activation function and an addition. */
static void test_values(void **state) {
    (void)state;
    static sx_arch arch;
    sx_graph graph = {.name = "tower"};
    sx_network network = {0};
    sx_exchange x;
    read_machine(&arch);
    size_t in = add_tensor(&graph, "x", 0, WORDS, false), y0 = add_layer(&graph, 0, in);
    size_t relu = add_sum(&graph, 0, y0, y0), y1 = add_layer(&graph, 1, relu);
    size_t sum = add_sum(&graph, 1, y1, relu), y2 = add_layer(&graph, 2, sum);
    sx_expect_ok(sx_graph_network(&graph, &network));
    sx_expect_ok(sx_exchange_init(&graph, &network, &arch, 1, -1, NULL, &x));
    assert_int_equal(x.n_steps, 5);
    assert_int_equal(x.value_of[y0], x.value_of[relu]);
    assert_int_equal(x.value_of[y1], x.value_of[sum]);
    assert_int_equal(x.value_of[in], SX_NO_INDEX);
    assert_string_equal(x.value[x.value_of[y2]].reason, "is an output of the network");
    const sx_exchange_value *a = &x.value[x.value_of[y0]], *b = &x.value[x.value_of[y1]];
    assert_null(a->reason);
    assert_int_equal(a->first, 0);
    assert_int_equal(a->last, 3);
    assert_int_equal(b->first, 2);
    assert_int_equal(b->last, 4);
    assert_true(a->slot != b->slot);
    for (size_t s = 0; s < 5; s++) {
        assert_int_equal(sx_exchange_words(&x, s, x.value_of[y0]), s <= 3 ? WORDS : 0);
        assert_int_equal(sx_exchange_words(&x, s, x.value_of[y1]), s >= 2 ? WORDS : 0);
    }
    sx_expect_error(sx_exchange_force(&x, "y2"), "cannot stay on chip: it is an output of the network");
    sx_expect_error(sx_exchange_force(&x, "w1"), "cannot stay on chip: it is a weight");
    sx_expect_error(sx_exchange_force(&x, "nothing"), "has no tensor 'nothing'");
    sx_expect_ok(sx_exchange_force(&x, "s0"));
    assert_int_equal(x.value[x.value_of[y0]].choice, SX_EXCHANGE_STAY);
    assert_int_equal(x.value[x.value_of[y1]].choice, SX_EXCHANGE_OUT);
    sx_exchange_fini(&x);
    sx_network_fini(&network);
    sx_graph_fini(&graph);
}

/* An answer holds for less room as long as its tiles fit, and not beyond. */
static void test_inner_room(void **state) {
    (void)state;
    sx_objective energy;
    sx_problem problem;
    sx_inner inner;
    uint64_t number;
    size_t searches = 0, roomy, equal, narrow;
    sx_expect_ok(sx_objective_parse("energy", &energy));
    sx_expect_ok(sx_einsum_parse("O[m] += W[m]*I[m] {m:4}", &problem));
    sx_expect_ok(sx_inner_init(&inner, &energy, 40));
    inner.user = &searches;
    inner.search = search_drawn;
    inner.minimum = halve_drawn;
    sx_expect_ok(sx_inner_problem(&inner, &problem, &number));
    sx_expect_ok(sx_inner_find(&inner, number, &(sx_cut){.resident = 1}, &roomy));
    sx_expect_ok(sx_inner_find(&inner, number, &(sx_cut){.resident = 1, .occupied = 20}, &equal));
    sx_expect_ok(sx_inner_find(&inner, number, &(sx_cut){.resident = 1, .occupied = 21}, &narrow));
    const sx_inner_answer answer = {.found = true, .used = 20, .bound = 3, .score = {3, 1, 1, 0, 1}};
    sx_expect_ok(sx_inner_enter(&inner, roomy, SX_INNER_SEARCH, &answer));
    sx_expect_ok(sx_inner_settle(&inner, equal, SX_INNER_SEARCH));
    assert_int_equal(searches, 0);
    assert_true(sx_inner_at(&inner, equal)->value == 3);
    assert_true(sx_inner_bound(&inner, narrow) == 3);
    sx_expect_ok(sx_inner_settle(&inner, narrow, SX_INNER_SEARCH));
    assert_int_equal(searches, 1);
    sx_inner_fini(&inner);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search_equals_listing),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_order_by_names),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_inner_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
