/* Fused networks: nothing fused is the sum of the layers, and results do not depend on the number of threads. */
#include "sextant/fused.h"

#include "frontend/catalog/catalog.h"
#include "ir/law.h"
#include "ir/rank.h"
#include "session/fuse_checkpoint.h"
#include "sextant/all.h"
#include "support/driven_clock.h"
#include "support/expect.h"
#include "support/sanitized.h"
#include "support/tile_executor.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const machines[] = {"glb128", "eyeriss", "edge-unified", "simba"};

/* A graph with the results of its layers. */
typedef struct fused_case {
    sx_graph graph;
    sx_network network;
    sx_arch arch;
    sx_session_options options;
    sx_session_result result;
} fused_case;

/* Maps the layers of a graph on a machine whose exchange memory has `entries` words; 0: as many as it has. */
static void case_begin(fused_case *c, sx_graph graph, const char *machine, const char *mapper,
                       uint64_t evaluations, uint64_t entries) {
    memset(c, 0, sizeof *c);
    c->graph = graph;
    sx_expect_ok(sx_graph_network(&c->graph, &c->network));
    sx_expect_ok(sx_catalog_arch(machine, &c->arch));
    if (entries) c->arch.level[c->arch.n_levels - 2].entries = entries;
    sx_session_options_init(&c->options);
    c->options.mapper = mapper;
    c->options.run.evaluations = evaluations;
    sx_expect_ok(sx_objective_parse("energy", &c->options.run.objective));
    sx_expect_ok(sx_session_run(&c->network, &c->arch, &c->options, &c->result));
    assert_true(c->result.found);
}

static void case_end(fused_case *c) {
    sx_session_result_fini(&c->result);
    sx_network_fini(&c->network);
    sx_graph_fini(&c->graph);
}

static sx_fused *fuse(const fused_case *c, const char *tensors) {
    const sx_fusing_options options = {.tensors = tensors, .window = "best"};
    sx_fused *fused;
    sx_expect_ok(
        sx_session_fuse(&c->graph, &c->network, &c->arch, &c->options, &c->result, &options, &fused));
    assert_true(fused->found);
    return fused;
}

/* Nothing fused is the sum of the layers to the last bit, for all networks on four machines. */
static void test_nothing_fused(void **state) {
    (void)state;
    static fused_case c;
    const char *name;
    for (size_t n = 0; (name = sx_catalog_network_name(n, NULL)) && !sx_catalog_has_phases(name); n++)
        for (size_t m = 0; m < (SX_SANITIZED ? 1 : sizeof machines / sizeof *machines); m++) {
            sx_graph graph;
            sx_expect_ok(sx_catalog_graph(name, NULL, &graph));
            case_begin(&c, graph, machines[m], "random", SX_SANITIZED ? 20 : 200, 0);
            sx_fused *fused = fuse(&c, "none");
            assert_memory_equal(&fused->total, &c.result.total, sizeof fused->total);
            assert_int_equal(fused->n_tensors, 0);
            assert_int_equal(fused->n_groups, 0);
            assert_true(fused->dram_bytes == fused->dram_bytes_unfused);
            sx_fused_free(fused);
            case_end(&c);
        }
}

/* An expanding, a depthwise and a projecting layer, the first with an activation function. */
static const char block_text[] =
    "graph:\n"
    "  name: block\n"
    "  tensors:\n"
    "  - {name: x, shape: [4, 16]}\n"
    "  - {name: w1, shape: [24, 4], weight: true}\n"
    "  - {name: wide, shape: [24, 16]}\n"
    "  - {name: relu.out, shape: [24, 16]}\n"
    "  - {name: w2, shape: [24, 3], weight: true}\n"
    "  - {name: filtered, shape: [24, 16]}\n"
    "  - {name: w3, shape: [4, 24], weight: true}\n"
    "  - {name: y, shape: [4, 16]}\n"
    "  nodes:\n"
    "  - name: expand\n"
    "    einsum: \"O[k,p] += W[k,c]*I[c,p] {k:24,c:4,p:16}\"\n"
    "    operands: {O: {tensor: wide}, W: {tensor: w1}, I: {tensor: x}}\n"
    "  - {name: relu, kind: element-wise, function: relu, reads: wide, writes: relu.out}\n"
    "  - name: depthwise\n"
    "    einsum: \"O[d,p] += W[d,r]*I[d,p+r] {d:24,p:16,r:3}\"\n"
    "    operands: {O: {tensor: filtered}, W: {tensor: w2}, I: {tensor: relu.out, pad: [[0, 0], [1, 1]]}}\n"
    "  - name: project\n"
    "    einsum: \"O[k,p] += W[k,c]*I[c,p] {k:4,c:24,p:16}\"\n"
    "    operands: {O: {tensor: y}, W: {tensor: w3}, I: {tensor: filtered}}\n";

static sx_graph read_block(void) {
    sx_graph graph;
    sx_input *input = sx_expect_input(block_text);
    sx_expect_ok(sx_input_graph(input, &graph));
    sx_input_free(input);
    return graph;
}

/* Sums over the layers of a result are its totals, and each tensor that stays saves what it cost. */
static void test_fused_sums(void **state) {
    (void)state;
    static fused_case c;
    case_begin(&c, read_block(), "glb128", "optimal", 0, 0);
    sx_fused *fused = fuse(&c, "auto");
    double energy = 0, cycles = 0, bytes = 0;
    assert_int_equal(fused->n_layers, 3);
    assert_int_equal(fused->n_tensors, 2);
    for (size_t i = 0; i < fused->n_layers; i++) {
        energy += fused->layer[i].score.energy_pj;
        cycles += fused->layer[i].score.cycles;
        bytes += fused->layer[i].dram_bytes;
        assert_true(fused->layer[i].resident_words + fused->layer[i].tile_words <= fused->capacity);
    }
    assert_true(energy == fused->total.energy_pj && cycles == fused->total.cycles &&
                bytes == fused->dram_bytes);
    assert_true(fused->optimal);
    assert_true(fused->total.energy_pj < fused->unfused.energy_pj);
    assert_true(fused->dram_bytes >= 4 * 16 + 24 * 4 + 24 * 3 + 4 * 24 + 4 * 16);
    sx_fused_free(fused);
    case_end(&c);
}

/* The extent of a tensor's rank for extents of the dimensions. */
static double rank_extent(const sx_problem *problem, int tensor, int rank, const double *extent) {
    double words = 1;
    for (int d = 0; d < problem->n_dims; d++)
        words += abs(problem->tensor[tensor].coef[rank][d]) * (extent[d] - 1);
    return words;
}

/* The cycles of a run, tile by tile: what stays on chip is neither loaded nor stored. */
static double execute_run(const sx_fused_run *run, const sx_arch *arch, const sx_law *law) {
    const int launching = arch->n_levels - 1; /* the level that holds what stays, or the outermost */
    double tile[SX_MAX_DIMS], n = 1, sums = 1, steps = 1;
    sx_tile_stages stages = {0};
    for (int d = 0; d < run->problem.n_dims; d++) {
        const uint32_t times = run->mapping.level[launching].temporal[d];
        tile[d] = (double)run->problem.size[d] / times;
        n *= times;
        for (int v = 0; v < run->problem.n_tensors; v++)
            if (run->problem.tensor[v].output && !sx_tensor_has(&run->problem.tensor[v], d)) sums *= times;
        for (int s = 0; s < run->mapping.n_levels; s++) steps *= run->mapping.level[s].temporal[d];
    }
    for (int v = 0; v < run->problem.n_tensors; v++) {
        double words = 1;
        for (int r = 0; r < run->problem.tensor[v].n_ranks; r++)
            words *= rank_extent(&run->problem, v, r, tile);
        if (run->resident >> v & 1) continue;
        if (run->problem.tensor[v].output)
            stages.store += words * law->store_time / sums;
        else
            stages.load += words / law->load_bus;
    }
    stages.compute = steps / n;
    return law->start + sx_execute_tiles((unsigned)n, &stages, law->launch, 0);
}

/* The cycles of moving a tensor once in one launch. */
static double execute_move(const sx_graph *graph, const char *name, bool inward, const sx_law *law) {
    const double words = (double)sx_graph_words(&graph->tensor[sx_graph_find_tensor(graph, name)]);
    const sx_tile_stages stages = {.load = inward ? words / law->load_bus : 0,
                                   .store = inward ? 0 : words * law->store_time};
    return law->start + sx_execute_tiles(1, &stages, law->launch, 0);
}

/* Moves of a group: what it holds comes in, and sums that were complete on chip leave. */
static double execute_moves(const sx_graph *graph, const sx_fused *fused, const sx_fused_group *group,
                            const sx_law *law) {
    double cycles = 0;
    bool sums = false;
    for (int i = 0; i < group->n_held; i++) cycles += execute_move(graph, group->held[i], true, law);
    for (size_t r = 0; r < fused->n_runs; r++)
        sums |= fused->run[r].again && fused->run[r].layer == group->last;
    return sums ? cycles + execute_move(graph, "y", false, law) : cycles;
}

/* Expects that the latency of the best plan that keeps these tensors is that of its runs and moves, one after the other, by an
 * executor of tiles; returns it. *loops counts loops of groups, *held tensors that they hold. */
static double expect_executed(const fused_case *c, const char *kept, int *loops, int *held) {
    const sx_law *law = &c->arch.law[0];
    sx_fused *fused = fuse(c, kept);
    double executed = 0;
    for (size_t r = 0; r < fused->n_runs; r++)
        executed += fused->run[r].times * execute_run(&fused->run[r], &c->arch, law);
    for (size_t g = 0; g < fused->n_groups; g++) {
        executed += execute_moves(&c->graph, fused, &fused->group[g], law);
        *loops += fused->group[g].n_loops;
        *held += fused->group[g].n_held;
    }
    assert_true(fabs(executed - fused->total.latency) <= 1e-9 * executed);
    assert_true(fused->unfused.latency == c->result.total.latency);
    assert_true(fused->optimal && fused->lower_bound <= fused->total.latency);
    const double latency = fused->total.latency;
    sx_fused_free(fused);
    return latency;
}

static void test_fused_latency(void **state) {
    (void)state;
    static fused_case c;
    static const uint64_t words[] = {2000, 300};
    int loops = 0, held = 0;
    for (int i = SX_SANITIZED; i < 2; i++) {
        memset(&c, 0, sizeof c);
        c.graph = read_block();
        sx_expect_ok(sx_graph_network(&c.graph, &c.network));
        sx_expect_ok(sx_catalog_arch("glb128", &c.arch));
        c.arch.level[1].entries = words[i];
        c.arch.level[2].law = c.arch.n_laws = 1;
        sx_law_init(&c.arch.law[0]);
        c.arch.law[0].load_bus = 0.5;
        c.arch.law[0].store_time = 3;
        c.arch.law[0].launch = 5;
        c.arch.law[0].tail = c.arch.law[0].refetch = true;
        sx_session_options_init(&c.options);
        c.options.mapper = "optimal";
        c.options.model.latency_tile = true;
        sx_expect_ok(sx_objective_parse("latency", &c.options.run.objective));
        sx_expect_ok(sx_session_run(&c.network, &c.arch, &c.options, &c.result));
        const double none = expect_executed(&c, "none", &loops, &held);
        assert_true(expect_executed(&c, "auto", &loops, &held) < none);
        case_end(&c);
    }
    assert_true(loops > 0 && held > 0);
}

/* Maps the layers of a case again, with the options that it has now. */
static void map_layers(fused_case *c) {
    sx_session_result_fini(&c->result);
    sx_expect_ok(sx_session_run(&c->network, &c->arch, &c->options, &c->result));
}

/* Answers that a checkpoint has lead to the same plan; one that is damaged, or of another search, is refused. */
static void test_checkpoint(void **state) {
    (void)state;
    static fused_case c;
    char folder[] = "/tmp/fused-XXXXXX", path[64];
    struct stat info;
    sx_fused *resumed;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/layers", folder);
    case_begin(&c, read_block(), "glb128", "optimal", 0, 400);
    sx_fused *straight = fuse(&c, "auto");
    c.options.checkpoint = path;
    c.options.run.checkpoint_seconds = 0;
    map_layers(&c);
    assert_int_equal(stat(path, &info), 0);
    const off_t layers = info.st_size;
    sx_fused_free(fuse(&c, "wide"));
    assert_int_equal(stat(path, &info), 0);
    const off_t some = info.st_size;
    map_layers(&c);
    assert_true(c.result.resumed);
    resumed = fuse(&c, "auto");
    assert_int_equal(stat(path, &info), 0);
    assert_true(some > layers + 10000 && info.st_size > some);
    assert_memory_equal(&resumed->total, &straight->total, sizeof resumed->total);
    assert_true(resumed->n_searches == straight->n_searches && resumed->lower_bound == straight->lower_bound);
    sx_fused_free(resumed);
    sx_fused_free(straight);
    const sx_fusing_options options = {.tensors = "auto", .window = "best"};
    sx_session_result other;
    c.options.run.evaluations = 20;
    sx_expect_error(sx_session_run(&c.network, &c.arch, &c.options, &other),
                    "it was made with --evals 0, not 20");
    sx_session_result_fini(&other);
    c.options.run.evaluations = 0;
    assert_int_equal(truncate(path, info.st_size - 1), 0);
    sx_expect_error(sx_session_fuse(&c.graph, &c.network, &c.arch, &c.options, &c.result, &options, &resumed),
                    "is damaged");
    sx_expect_ok(sx_session_forget(path));
    assert_int_equal(rmdir(folder), 0);
    case_end(&c);
}

/* A checkpoint tells a short search of a cut layer from a whole one, and one exchange memory from another. */
static void test_sketches_are_no_searches(void **state) {
    (void)state;
    static fused_case c;
    static sx_inner_answer found;
    const sx_cut cut = {.resident = 1};
    const sx_inner_answer answer = {.bound = 7};
    sx_fuse_memo *memo;
    case_begin(&c, read_block(), "glb128", "random", 10, 0);
    const sx_problem *problem = &c.network.layer[0].problem;
    c.options.checkpoint = "/nowhere/layers";
    c.options.run.checkpoint_seconds = 1e9;
    const sx_fuse_at at = {&cut, 1, -1}, inner = {&cut, 0, -1}, both = {&cut, 1, 0};
    sx_expect_ok(sx_fuse_memo_open(&c.options, &memo));
    sx_expect_ok(sx_fuse_memo_add(memo, problem, &at, SX_INNER_SKETCH, &answer));
    assert_false(sx_fuse_memo_find(memo, problem, &at, SX_INNER_SEARCH, &found));
    assert_false(sx_fuse_memo_find(memo, problem, &inner, SX_INNER_SKETCH, &found));
    assert_false(sx_fuse_memo_find(memo, problem, &both, SX_INNER_SKETCH, &found));
    assert_true(sx_fuse_memo_find(memo, problem, &at, SX_INNER_SKETCH, &found) && found.bound == 7);
    sx_fuse_memo_free(memo);
    case_end(&c);
}

/* The number of threads changes no byte of the mapping. */
static void test_threads(void **state) {
    (void)state;
    static fused_case c;
    char *text[2];
    for (unsigned threads = 1; threads <= 2; threads++) {
        case_begin(&c, read_block(), "glb128", "optimal", 0, 0);
        c.options.run.threads = 2 * threads - 1;
        sx_fused *fused = fuse(&c, "auto");
        sx_expect_ok(sx_session_fused_write(fused, c.graph.name, &c.arch, SX_YAML, &text[threads - 1]));
        sx_fused_free(fused);
        case_end(&c);
    }
    assert_string_equal(text[0], text[1]);
    free(text[0]);
    free(text[1]);
}

/* Whenever the time of a plan is over, the rest is short, and the bound holds. */
static void test_time(void **state) {
    (void)state;
    static fused_case c;
    static const char *const objectives[] = {"energy", "delay", "edp"};
    size_t stopped = 0;
    for (size_t i = 0; i < 3; i++) {
        if (SX_SANITIZED && i != 2) continue;
        case_begin(&c, read_block(), "glb128", "optimal", 0, 0);
        sx_session_result_fini(&c.result);
        sx_expect_ok(sx_objective_parse(objectives[i], &c.options.run.objective));
        sx_expect_ok(sx_session_run(&c.network, &c.arch, &c.options, &c.result));
        sx_fused *best = fuse(&c, "auto");
        assert_false(best->stopped);
        c.options.run.seconds = 1;
        for (double step = 1e-4; step < 3; step *= 2) {
            sx_clock_drive(step);
            sx_fused *fused = fuse(&c, "auto");
            sx_clock_drive(0);
            stopped += fused->stopped;
            assert_true(fused->lower_bound > 0 && fused->lower_bound <= best->value * (1 + 1e-9));
            assert_true(fused->value >= best->lower_bound * (1 - 1e-9));
            assert_true(!fused->stopped || !fused->optimal);
            sx_fused_free(fused);
        }
        sx_fused_free(best);
        case_end(&c);
    }
    assert_true(stopped > (SX_SANITIZED ? 6 : 20));
}

/* What is written of a fused network is read back, and costs the same to the last bit, by the model and by execution. */
static void test_file(void **state) {
    (void)state;
    static fused_case c;
    static const uint64_t room[] = {400, 900};
    for (size_t i = 0; i < 2; i++) {
        char *text;
        case_begin(&c, read_block(), "glb128", "optimal", 0, room[i]);
        sx_fused *fused = fuse(&c, "auto");
        sx_expect_ok(sx_session_fused_write(fused, c.graph.name, &c.arch, SX_YAML, &text));
        sx_input *input = sx_expect_input(text);
        for (uint64_t steps = 0; steps <= 1 << 20; steps += 1 << 20) {
            sx_fused *given;
            sx_expect_ok(
                sx_session_fused_read(&c.graph, &c.network, &c.arch, &c.options, input, steps, &given));
            assert_string_equal(given->illegal, "");
            assert_memory_equal(&given->total, &fused->total, sizeof given->total);
            assert_true(given->dram_bytes == fused->dram_bytes && given->peak == fused->peak);
            assert_int_equal(given->n_runs, fused->n_runs);
            assert_true(given->n_tensors == 2 && fused->n_tensors == 2);
            assert_int_equal(given->tensor[0].depth, i == 0);
            sx_fused_free(given);
        }
        sx_input_free(input);
        free(text);
        sx_fused_free(fused);
        case_end(&c);
    }
}

/* A machine with two memories on chip, of one instance each. */
static const char second_text[] =
    "arch:\n"
    "  name: levels\n"
    "  arithmetic: {name: MAC, instances: 1, word-bits: 8, energy: 0.2}\n"
    "  storage:\n"
    "  - {name: L1, instances: 1, entries: 40, word-bits: 8, vector-access-energy: 1, read_bandwidth: 16, "
    "write_bandwidth: 16}\n"
    "  - {name: GLB, instances: 1, entries: 176, word-bits: 8, vector-access-energy: 6, read_bandwidth: 16, "
    "write_bandwidth: 16}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8, vector-access-energy: 64, "
    "read_bandwidth: 4, write_bandwidth: 4}\n";

/* Fuses the block on that machine with two exchange memories, with a certificate. */
static sx_fused *fuse_second(fused_case *c) {
    const sx_fusing_options options = {.tensors = "auto", .window = "best", .exchange = "GLB,L1"};
    sx_fused *fused;
    memset(c, 0, sizeof *c);
    c->graph = read_block();
    sx_expect_ok(sx_graph_network(&c->graph, &c->network));
    sx_input *input = sx_expect_input(second_text);
    sx_expect_ok(sx_input_arch(input, &c->arch));
    sx_input_free(input);
    sx_session_options_init(&c->options);
    c->options.mapper = "optimal";
    c->options.run.proof = true;
    sx_expect_ok(sx_objective_parse("energy", &c->options.run.objective));
    sx_expect_ok(sx_session_run(&c->network, &c->arch, &c->options, &c->result));
    sx_expect_ok(
        sx_session_fuse(&c->graph, &c->network, &c->arch, &c->options, &c->result, &options, &fused));
    return fused;
}

/* A group with tiles in both memories is read back, executed, and proven by a certificate; one memory costs more. */
static void test_second_tiles(void **state) {
    (void)state;
    static fused_case c;
    sx_fused *fused = fuse_second(&c), *given;
    sx_fused_claim claim;
    sx_verification v;
    sx_verify_options verify;
    char *text;
    assert_true(fused->found && fused->optimal && fused->n_tensors == 2);
    assert_true(fused->tensor[0].second != fused->tensor[1].second && fused->tensor[0].depth > 0);
    sx_expect_ok(sx_session_fused_write(fused, c.graph.name, &c.arch, SX_YAML, &text));
    sx_input *input = sx_expect_input(text);
    for (uint64_t steps = 0; steps <= 1 << 20; steps += 1 << 20) {
        sx_expect_ok(sx_session_fused_read(&c.graph, &c.network, &c.arch, &c.options, input, steps, &given));
        assert_string_equal(given->illegal, "");
        assert_memory_equal(&given->total, &fused->total, sizeof given->total);
        assert_true(given->peak == fused->peak && given->second_peak == fused->second_peak);
        assert_true(given->second_peak <= 40 && given->tensor[1].second == fused->tensor[1].second);
        sx_fused_free(given);
    }
    sx_input_free(input);
    free(text);
    sx_verify_options_init(&verify);
    sx_independent_report report;
    const sx_independent_options alone = {.threads = 1};
    sx_expect_ok(sx_fused_certificate_verify("block", fused->certificate, strlen(fused->certificate), &verify,
                                             &alone, &claim, &v, &report));
    assert_int_equal(v.verdict, SX_CLAIMS_HOLD);
    assert_int_equal(report.verdict, SX_INDEPENDENT_HOLDS);
    const double both = fused->total.energy_pj;
    sx_fused_free(fused);
    c.options.run.proof = false;
    fused = fuse(&c, "auto");
    assert_true(fused->optimal && fused->total.energy_pj > 1.2 * both);
    sx_fused_free(fused);
    case_end(&c);
}

/* Replaces a text in another of the same length. */
static void forge(char *text, const char *key, const char *value) {
    char *at = strstr(text, key);
    assert_non_null(at);
    memcpy(at + strlen(key), value, strlen(value));
}

/* The certificate of a fused network holds, and not with a higher lower bound. */
static void test_certificate(void **state) {
    (void)state;
    static fused_case c;
    sx_fused_claim claim;
    sx_verification v;
    sx_verify_options options;
    sx_verify_options_init(&options);
    case_begin(&c, read_block(), "glb128", "optimal", 0, 0);
    sx_session_result_fini(&c.result);
    c.arch.level[c.arch.n_levels - 2].entries = 400;
    c.options.run.proof = true;
    sx_expect_ok(sx_session_run(&c.network, &c.arch, &c.options, &c.result));
    sx_fused *fused = fuse(&c, "wide,filtered");
    char *text = fused->certificate;
    assert_true(text && sx_fused_certificate_is(text, strlen(text)));
    sx_expect_ok(sx_fused_certificate_verify("block", text, strlen(text), &options, NULL, &claim, &v, NULL));
    assert_int_equal(v.verdict, SX_CLAIMS_HOLD);
    assert_true(claim.value == fused->value && claim.optimal && claim.n_labels > 3 && claim.n_groups > 0);
    sx_independent_report report;
    const sx_independent_options alone = {.threads = 1};
    sx_expect_ok(
        sx_fused_certificate_verify("block", text, strlen(text), &options, &alone, &claim, &v, &report));
    assert_int_equal(report.verdict, SX_INDEPENDENT_HOLDS);
    assert_true(fabs(report.energy_pj - claim.score.energy_pj) <= 1e-9 * report.energy_pj);
    assert_true(report.cycles == claim.score.cycles && report.outlines > 0);
    const sx_independent_options hurried = {.threads = 1, .seconds = 1e-9};
    sx_expect_ok(
        sx_fused_certificate_verify("block", text, strlen(text), &options, &hurried, &claim, &v, &report));
    assert_int_equal(report.verdict, SX_INDEPENDENT_UNDECIDED);
    forge(text, "\"tensors\": \"", "filtered,wide");
    sx_expect_ok(sx_fused_certificate_verify("block", text, strlen(text), &options, NULL, &claim, &v, NULL));
    assert_int_equal(v.verdict, SX_CLAIMS_HOLD);
    forge(text, "\"lower_bound\": ", "9");
    sx_expect_ok(sx_fused_certificate_verify("block", text, strlen(text), &options, NULL, &claim, &v, NULL));
    assert_int_equal(v.verdict, SX_CLAIMS_FAIL);
    assert_string_equal(v.claim, "lower bound");
    forge(strstr(text, "\"fused_certificate\""), "\"groups\": ", "9");
    sx_expect_ok(sx_fused_certificate_verify("block", text, strlen(text), &options, NULL, &claim, &v, NULL));
    assert_int_equal(v.verdict, SX_CLAIMS_FAIL);
    assert_string_equal(v.claim, "groups");
    forge(strstr(text, "\"fused_certificate\""), "\"format\": ", "2");
    sx_expect_error(
        sx_fused_certificate_verify("block", text, strlen(text), &options, NULL, &claim, &v, NULL),
        "the certificate has no valid 'format'");
    sx_fused_free(fused);
    case_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_fused), cmocka_unit_test(test_fused_sums),
        cmocka_unit_test(test_fused_latency), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_time),          cmocka_unit_test(test_file),
        cmocka_unit_test(test_certificate),   cmocka_unit_test(test_checkpoint),
        cmocka_unit_test(test_second_tiles),  cmocka_unit_test(test_sketches_are_no_searches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
