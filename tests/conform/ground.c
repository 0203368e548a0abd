#include "ground.h"

#include "sextant/navigator.h"
#include "sextant/placement.h"
#include "sextant/systolic.h"
#include "support/expect.h"
#include "support/toy_space.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char two_levels[] =
    "arch:\n"
    "  name: two-levels\n"
    "  arithmetic: {name: MAC, instances: 4, word-bits: 16, energy: 1.0}\n"
    "  storage:\n"
    "  - {name: L1, instances: 4, entries: 16, vector-access-energy: 1.5}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, vector-access-energy: 100}\n";

/* Opens the map space of a problem on an architecture. */
static ground open_map(const char *name, const char *einsum, const sx_arch *arch, bool remainders) {
    const sx_map_space_options options = {.remainders = remainders};
    ground g = {.name = name};
    sx_problem problem;
    sx_expect_ok(sx_einsum_parse(einsum, &problem));
    sx_expect_ok(sx_model_new(&problem, arch, NULL, &g.model));
    sx_expect_ok(sx_map_space_new(g.model, NULL, &options, &g.space));
    return g;
}

void grounds_close(ground *grounds, size_t n) {
    for (size_t i = 0; i < n; i++) {
        sx_space_free(grounds[i].space);
        sx_model_free(grounds[i].model);
    }
}

/* Whether a navigator refuses a space as too large where nothing limits it. */
static bool refuses(const char *navigator, const ground *g) {
    const sx_cancel stop = {1};
    sx_run_options options;
    sx_run *run;
    sx_run_options_init(&options);
    options.cancel = &stop;
    sx_expect_ok(sx_run_new(g->space, NULL, &options, &run));
    sx_status status = sx_run_search(run, navigator);
    bool refused = !g->small && status && status->code == SX_ERR_LIMIT;
    sx_status_free(status);
    sx_run_free(run);
    return refused;
}

/* Opens the mapping spaces that a navigator accepts. */
static size_t open_maps(const char *name, ground *out) {
    size_t n = 0;
    sx_arch arch;
    sx_input *input = sx_expect_input(two_levels);
    sx_expect_ok(sx_input_arch(input, &arch));
    out[n++] = open_map("two levels", "O[m,n] += A[m,k]*B[k,n] {m:4,n:6,k:2}", &arch, false);
    out[n - 1].small = true;
    sx_input_free(input);
    if (strcmp(name, "cosa") == 0) return n; /* a program of a convolution takes a second each time */
    sx_expect_ok(sx_catalog_arch("accel-b", &arch));
    out[n++] = open_map(
        "accel-b", "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:2,k:16,c:16,p:14,q:14,r:3,s:3}", &arch, false);
    if (refuses(name, &out[n - 1])) grounds_close(&out[--n], 1);
    sx_expect_ok(sx_catalog_arch("mind-mappings", &arch));
    out[n++] = open_map("banks with remainders", "O[m,n] += A[m,k]*B[k,n] {m:20,n:9,k:11}", &arch, true);
    if (refuses(name, &out[n - 1])) grounds_close(&out[--n], 1);
    return n;
}

/* Opens the space of systolic designs of a kernel on the paper's device. */
static ground open_systolic(const char *name, const sx_systolic_kernel *kernel,
                            const sx_systolic_options *options) {
    ground g = {.name = name};
    sx_device device;
    sx_expect_ok(sx_catalog_device("u250", &device));
    sx_expect_ok(sx_systolic_space_new(kernel, 1, &device, options, &g.space));
    return g;
}

/* Opens the spaces of systolic designs that a navigator accepts. */
static size_t open_arrays(const char *name, ground *out) {
    static const size_t one_design = 13; /* 4_1 */
    const sx_systolic_options bytes = {.element = "int8", .thin = true};
    const sx_systolic_options one = {.designs = &one_design, .n_designs = 1, .corrected = true};
    size_t n = 0;
    sx_systolic_kernel kernel;
    sx_expect_ok(sx_systolic_matrix(5, 6, 8, &kernel));
    out[n++] = open_systolic("a small array", &kernel, &bytes);
    out[n - 1].small = true;
    sx_expect_ok(sx_systolic_matrix(256, 192, 128, &kernel));
    out[n++] = open_systolic("arrays for a matrix product", &kernel, NULL);
    if (refuses(name, &out[n - 1])) grounds_close(&out[--n], 1);
    sx_expect_ok(sx_systolic_convolution(64, 48, 14, 14, 3, 3, &kernel));
    out[n++] = open_systolic("an array for a convolution", &kernel, &one);
    if (refuses(name, &out[n - 1])) grounds_close(&out[--n], 1);
    return n;
}

/* Opens the space of placements of a network on a chip; the chip's faster memories hold a share of it. */
static ground open_placement(const char *name, const char *network, uint64_t llc, uint64_t sram) {
    ground g = {.name = name};
    sx_place_graph graph;
    sx_chip chip;
    sx_expect_ok(sx_catalog_chip("nnpi-once", &chip));
    sx_expect_ok(sx_catalog_place_graph(network, 1, 0, &graph));
    chip.memory[1].capacity = llc;
    chip.memory[2].capacity = sram;
    if (strcmp(network, "alexnet") == 0) {
        chip.n_memories = 2;
        graph.n_nodes = 6;
        for (size_t i = 0; i < graph.n_nodes; i++)
            if (graph.node[i].last >= graph.n_nodes) graph.node[i].last = i, graph.node[i].n_users = 0;
    }
    sx_expect_ok(sx_placement_space_new(&graph, &chip, &g.space));
    sx_place_graph_fini(&graph);
    return g;
}

/* Opens the spaces of placements that a navigator accepts. */
static size_t open_placements(const char *name, ground *out) {
    size_t n = 0;
    out[n++] = open_placement("a small placement", "alexnet", 1000000, 0);
    out[n - 1].small = true;
    if (strcmp(name, "place_mip") == 0) return n; /* a program of ResNet-18 takes a second each time */
    out[n++] = open_placement("placements of ResNet-18", "resnet18", 6 << 20, 1 << 20);
    if (refuses(name, &out[n - 1])) grounds_close(&out[--n], 1);
    return n;
}

size_t grounds_open(const char *name, const sx_navigator *navigator, ground *out) {
    size_t n = 0;
    if (!navigator->space) out[n++] = (ground){.name = "toy", .space = sx_toy_space_new(NULL)};
    if (sx_navigator_suits(navigator, "map")) n += open_maps(name, out + n);
    if (sx_navigator_suits(navigator, "systolic")) n += open_arrays(name, out + n);
    if (sx_navigator_suits(navigator, "placement")) n += open_placements(name, out + n);
    return n;
}

sx_run *searched(const ground *g, const char *navigator, const sx_run_options *options) {
    sx_run *run;
    sx_expect_ok(sx_run_new(g->space, NULL, options, &run));
    sx_expect_ok(sx_run_search(run, navigator));
    return run;
}

static void account_points(sx_text *text, const char *name, size_t point_size, const sx_run *run,
                           bool (*at)(const sx_run *, size_t, sx_found *)) {
    sx_found f;
    for (size_t i = 0; at(run, i, &f); i++) {
        sx_text_add(text, "%s %zu: %a at %llu, %a %a %a %a ", name, i, f.value,
                    (unsigned long long)f.evaluation, f.metrics.value[0], f.metrics.value[1],
                    f.metrics.value[2], f.metrics.value[3]);
        for (size_t b = 0; b < point_size; b++)
            sx_text_add(text, "%02x", ((const unsigned char *)f.point)[b]);
        sx_text_add(text, "\n");
    }
}

char *account(const sx_run *run, size_t point_size) {
    sx_run_summary s = sx_run_result(run);
    sx_text text = {0};
    sx_trace_point t;
    char *out = NULL;
    sx_text_add(&text, "%llu evaluations, %llu valid, %llu rejected, stopped by %s\n",
                (unsigned long long)s.evaluations, (unsigned long long)s.valid,
                (unsigned long long)s.rejected, sx_stop_name(s.stop));
    sx_text_add(&text, "bound %a%s%s\n", s.lower_bound, s.optimal ? " optimal" : "",
                s.repeatable ? " repeatable" : "");
    account_points(&text, "best", point_size, run, sx_run_best);
    account_points(&text, "front", point_size, run, sx_run_front);
    for (size_t i = 0; sx_run_trace(run, i, &t); i++)
        sx_text_add(&text, "trace %llu %a\n", (unsigned long long)t.evaluations, t.value);
    sx_expect_ok(sx_text_take(&text, &out));
    return out;
}

void expect_same(const char *expected, const char *found, const char *what) {
    if (strcmp(expected, found) == 0) return;
    size_t at = 0, line = 0;
    for (; expected[at] && expected[at] == found[at]; at++)
        if (expected[at] == '\n') line = at + 1;
    print_error("%s\n  expected %.300s\n  found    %.300s\n", what, expected + line, found + line);
    fail();
}

sx_outcome score_of(const ground *g, const sx_objective *objective, const void *point) {
    sx_scorer *scorer;
    sx_outcome outcome;
    sx_expect_ok(sx_scorer_new(g->space, NULL, objective, &scorer));
    sx_expect_ok(sx_scorer_score(scorer, point, 1, INFINITY, &outcome));
    assert_int_equal(outcome.reason, 0);
    sx_scorer_free(scorer);
    return outcome;
}
