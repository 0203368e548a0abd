/* Estimates against CACTI's runs and public energy tables: files with the columns of tests/golden/components, by kind of memory
 * the median and the 95th percentile of the error, by kind of component the share within 1 %. With files as arguments they are
 * compared instead, with a line for each case. See tests/golden/README.md. */
#include "estimate/component.h"
#include "text/csv.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FOLDER SX_TEST_DATA "/golden/components/"
enum { MOST_CASES = 20000, N_GROUPS = 10 };

/* Errors of the cases of one group, as shares. */
typedef struct group {
    const char *name;
    double *error[4];  /* read, write, leakage, area; of energy tables the first alone */
    size_t n, n_close; /* n_close: within 1 % */
} group;

enum { CURVES, LARGE, WIDTHS, BANKS, DRAM, REGFILE_03, REGFILE_04, SRAM, MAC, REST };
static group groups[N_GROUPS] = {{.name = "SRAM, widths of the curves"},
                                 {.name = "SRAM beyond 65,536 words"},
                                 {.name = "SRAM, other widths"},
                                 {.name = "SRAM, banks or ports"},
                                 {.name = "tables: DRAM"},
                                 {.name = "tables: regfile 0.3"},
                                 {.name = "tables: regfile 0.4"},
                                 {.name = "tables: SRAM from 32 bits"},
                                 {.name = "tables: MAC"},
                                 {.name = "tables: others, not counted"}};
static bool verbose;

static const char *field(const sx_csv *csv, const char *column) {
    int c = sx_csv_column(csv, &column, 1);
    return c < 0 ? "" : csv->field[c];
}

static double number(const sx_csv *csv, const char *column) {
    const char *text = field(csv, column);
    char *end;
    double value = strtod(text, &end);
    return strcmp(end, "ns") == 0 ? value * 1e-9 : value;
}

static void add_error(group *g, int figure, double error) {
    if (!g->error[figure]) g->error[figure] = calloc(MOST_CASES, sizeof(double));
    assert_non_null(g->error[figure]);
    assert_true(g->n < MOST_CASES);
    g->error[figure][g->n] = error;
}

/* A run of CACTI. */
static void compare_run(const sx_csv *csv) {
    static const char *const columns[] = {"read_pJ", "write_pJ", "leak_mW_per_bank", "area_mm2"};
    sx_sram_shape shape = {number(csv, "node_nm"), number(csv, "width_bits"), number(csv, "depth"),
                           (uint32_t)number(csv, "banks"), (uint32_t)number(csv, "rw_ports")};
    sx_sram_figures f;
    uint32_t width = (uint32_t)shape.width;
    bool curve = (width & (width - 1)) == 0 && width >= 32 && width <= 512;
    sx_cacti_find(&shape, &f);
    group *g = &groups[shape.banks * shape.ports > 1 ? BANKS
                       : !curve                      ? WIDTHS
                       : shape.depth > 65536         ? LARGE
                                                     : CURVES];
    if (verbose)
        printf("%s:%d: %g nm, %g x %g, %u banks, %u ports:", csv->name, csv->line, shape.node, shape.depth,
               shape.width, shape.banks, shape.ports);
    for (int i = 0; i < 4; i++) {
        double want = number(csv, columns[i]), error = fabs(f.value[i] / want - 1);
        if (verbose) printf(" %.6g (%.6g, %.2f %%)", f.value[i], want, 100 * error);
        add_error(g, i, error);
        if (i == 0) g->n_close += error < 0.01;
    }
    if (verbose) printf("\n");
    g->n++;
}

/* The component that a row of an energy table tells. */
static void read_component(const sx_csv *csv, sx_component *c) {
    static const char *const kinds[] = {"sram", "regfile", "dram", "mac", "", "adder"};
    bool old = strcmp(field(csv, "version"), "0.3") == 0;
    *c = (sx_component){.node = number(csv, "node_nm"),
                        .width = number(csv, "width"),
                        .depth = number(csv, "depth"),
                        .banks = number(csv, old ? "banks" : "banks_seen_by_cacti"),
                        .ports = number(csv, "rw_ports"),
                        .multiplier_width = number(csv, "multiplier_width"),
                        .adder_width = number(csv, "adder_width"),
                        .exponent = number(csv, "exponent"),
                        .mantissa = number(csv, "mantissa"),
                        .cycle_seconds = number(csv, "cycle_s")};
    sx_component_classify(field(csv, "cls"), old ? SX_ESTIMATOR_ACCELERGY_03 : SX_ESTIMATOR_ACCELERGY_04, c);
    for (int k = 0; k < 6; k++)
        if (strcmp(kinds[k], field(csv, "kind")) == 0) c->kind = (sx_component_kind)k;
    c->neurosim = strstr(field(csv, "estimators"), "Neurosim");
    snprintf(c->dram, sizeof c->dram, "%s", field(csv, "dram_type"));
}

/* The group of a row, by its kind. */
static int group_of(const sx_csv *csv, const sx_component *c) {
    bool old = strcmp(field(csv, "version"), "0.3") == 0;
    const char *kind = field(csv, "kind"), *action = field(csv, "action");
    if (strcmp(action, "idle") == 0 || strcmp(action, "leak") == 0) return REST;
    if (strcmp(kind, "dram") == 0) return DRAM;
    if (strcmp(kind, "regfile") == 0) return old ? REGFILE_03 : REGFILE_04;
    if (strcmp(kind, "sram") == 0) return c->width >= 32 ? SRAM : REST;
    return strcmp(kind, "mac") == 0 ? MAC : REST;
}

/* An energy of a public table of Accelergy's. */
static void compare_energy(const sx_csv *csv) {
    bool old = strcmp(field(csv, "version"), "0.3") == 0;
    const char *action = field(csv, "action");
    sx_component c;
    sx_estimate e;
    read_component(csv, &c);
    sx_estimate_component(&c, old ? SX_ESTIMATOR_ACCELERGY_03 : SX_ESTIMATOR_ACCELERGY_04, &e);
    bool idle = strcmp(action, "idle") == 0 || strcmp(action, "leak") == 0;
    double have = idle                                                            ? e.leak
                  : strcmp(action, "write") == 0 || strcmp(action, "update") == 0 ? e.write
                                                                                  : e.read;
    double want = number(csv, "energy_pJ");
    if (old && c.kind == SX_COMPONENT_SRAM && !idle && number(csv, "n_argument_rows") == 1)
        have *= 0.7 + 0.3 / fmax(c.banks, 1);
    double error = want > 0 ? fabs(have / want - 1) : have > 1e-12;
    if (want > 0 && want < 1 && fabs(have - want) <= 0.00051) error = fmin(error, 0.009); /* three decimals */
    group *g = &groups[group_of(csv, &c)];
    if (verbose)
        printf("%s:%d: %s %s %s %s %g nm: %s %.6g (%.6g, %.2f %%) %s\n", csv->name, csv->line,
               field(csv, "version"), field(csv, "kind"), field(csv, "cls"), field(csv, "name"), c.node,
               action, have, want, 100 * error, e.rule);
    add_error(g, 0, error);
    g->n_close += error < 0.01;
    g->n++;
}

static void compare_file(const char *path) {
    sx_csv csv;
    bool more = true;
    assert_null(sx_csv_open(path, &csv));
    bool energies = sx_csv_column(&csv, (const char *const[]){"energy_pJ"}, 1) >= 0;
    for (;;) {
        assert_null(sx_csv_next(&csv, &more));
        if (!more) break;
        if (energies)
            compare_energy(&csv);
        else
            compare_run(&csv);
    }
    sx_csv_fini(&csv);
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The error that a share of a group's cases does not exceed. */
static double quantile(const group *g, int figure, double share) {
    if (g->n == 0 || !g->error[figure]) return 0;
    qsort(g->error[figure], g->n, sizeof(double), compare_doubles);
    return g->error[figure][(size_t)(share * (double)(g->n - 1))];
}

static void print_groups(void) {
    static const char *const figures[] = {"read", "write", "leakage", "area"};
    for (int i = 0; i < N_GROUPS; i++) {
        const group *g = &groups[i];
        if (g->n == 0) continue;
        printf("%-28s %5zu cases, %5.1f %% within 1 %%", g->name, g->n,
               100.0 * (double)g->n_close / (double)g->n);
        for (int f = 0; f < 4 && g->error[f] && i < DRAM; f++)
            printf("; %s %.2f / %.2f", figures[f], 100 * quantile(g, f, 0.5), 100 * quantile(g, f, 0.95));
        printf("\n");
    }
}

/* At least that share of a group's energies within 1 %, of that many. */
static void expect_close(int which, size_t least, double share) {
    const group *g = &groups[which];
    assert_true(g->n >= least);
    if ((double)g->n_close < share * (double)g->n)
        fail_msg("%s: %zu of %zu energies are within 1 %%, not %.0f %%", g->name, g->n_close, g->n,
                 100 * share);
}

static void test_components(void **state) {
    (void)state;
    compare_file(FOLDER "runs.csv");
    compare_file(FOLDER "curves.csv");
    compare_file(FOLDER "tables.csv");
    print_groups();
    assert_true(groups[CURVES].n >= 30 && groups[WIDTHS].n >= 10 && groups[BANKS].n >= 30);
    for (int f = 0; f < 4; f++) {
        assert_true(quantile(&groups[CURVES], f, 0.95) <= 0.004);
        assert_true(quantile(&groups[WIDTHS], f, 0.5) <= 0.03);
        assert_true(quantile(&groups[BANKS], f, 0.5) <= 0.07);
    }
    expect_close(DRAM, 15, 1);
    expect_close(REGFILE_03, 30, 0.9);
    expect_close(REGFILE_04, 30, 0.6);
    expect_close(SRAM, 20, 0.8);
    expect_close(MAC, 5, 0.6);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_components)};
    verbose = argc > 1;
    for (int i = 1; i < argc; i++) compare_file(argv[i]);
    if (verbose) print_groups();
    int failed = verbose ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
    for (int i = 0; i < N_GROUPS; i++)
        for (int f = 0; f < 4; f++) free(groups[i].error[f]);
    return failed;
}
