#include "support/read_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* What the hint about a misspelt key ends with. */
#define LENIENT " --lenient ignores the key, with a warning"

#define N(array) (sizeof(array) / sizeof *(array))

#define ARCH                                                                                                 \
    "arch:\n"                                                                                                \
    "  arithmetic: {name: MAC, instances: 1}\n"                                                              \
    "  storage:\n"                                                                                           \
    "  - {name: B, entries: 64, instances: 1}\n"                                                             \
    "  - {name: D, technology: DRAM, instances: 1}\n"
#define TABLES(tables) ARCH "ERT:\n  version: 0.4\n  tables:\n" tables
#define D "  - {name: D, actions: []}\n"
#define M "  - {name: MAC, actions: []}\n"

static void names_and_actions(void **state) {
    (void)state;
    static sx_arch a;
    sx_read_arch(
        TABLES("  - {name: 'top.chip[0..3].B[1..16]', actions: [{name: read, energy: 1},\n"
               "     {name: write, energy: 2, arguments: {latency: 1}}, {name: update, energy: 3},\n"
               "     {name: leak, energy: 4}]}\n"
               "  - {name: top.D, actions: [{name: random_read, energy: 5}, {name: read, energy: 50},\n"
               "     {name: random_write, energy: 6}, {name: fill, energy: 60}]}\n"
               "  - {name: 'MAC[1..1]', actions: [{name: compute, energy: 7}, {name: mult, energy: 8}]}\n"
               "  - {name: stranger, actions: [{name: read, energy: 9}]}\n"),
        &a);
    assert_true(a.level[0].read_energy == 1 && a.level[0].fill_energy == 2);
    assert_true(a.level[0].update_energy == 3 && a.level[0].leak_energy == 4);
    assert_true(a.level[1].read_energy == 5 && a.level[1].fill_energy == 6);
    assert_true(a.level[1].update_energy == 6 && a.level[1].leak_energy == 0);
    assert_true(a.compute.energy == 8);
}

/* Of several actions with one name and different arguments the largest counts. */
static void the_largest_counts(void **state) {
    (void)state;
    static sx_arch a;
    sx_read_arch(TABLES("  - {name: B, actions: [{name: read, energy: 1, arguments: {a: 0}},\n"
                        "     {name: read, energy: 3, arguments: {a: 1}}, {name: read, energy: 2}]}\n" D M),
                 &a);
    assert_true(a.level[0].read_energy == 3);
}

/* An action that is missing costs what the technology model says, leakage nothing. */
static void missing_actions(void **state) {
    (void)state;
    static sx_arch a, b;
    sx_read_arch(ARCH, &a);
    sx_read_arch(TABLES("  - {name: B, actions: [{name: fill, energy: 1}]}\n" D M), &b);
    assert_true(b.level[0].read_energy == a.level[0].read_energy && a.level[0].read_energy > 0);
    assert_true(b.level[0].fill_energy == 1);
    assert_true(b.level[0].update_energy == a.level[0].update_energy);
    assert_true(b.level[1].update_energy == 200);
    assert_true(b.compute.energy == 1);
}

/* What the architecture says of a level counts before the table, which then may be missing. */
static void own_energies_come_first(void **state) {
    (void)state;
    static sx_arch a;
    sx_read_arch("arch:\n"
                 "  arithmetic: {name: MAC, instances: 1, energy: 5}\n"
                 "  storage:\n"
                 "  - {name: A, entries: 64, instances: 1, vector-access-energy: 2}\n"
                 "  - {name: B, entries: 64, instances: 1, vector-access-energy: 3}\n"
                 "  - {name: F, entries: 1, instances: 1, transparent: true}\n"
                 "  - {name: D, technology: DRAM, instances: 1}\n"
                 "ERT:\n"
                 "  version: 0.2\n"
                 "  tables:\n"
                 "    top.B: {read: {energy: 10}, leak: [{energy: 1}]}\n"
                 "    top.D: {read: [{arguments: {x: 0}, energy: 20}, {arguments: {x: 1}, energy: 30}],\n"
                 "      write: {energy: 40}}\n",
                 &a);
    assert_true(a.level[0].read_energy == 2);
    assert_true(a.level[1].read_energy == 3 && a.level[1].leak_energy == 0);
    assert_true(a.level[3].read_energy == 30 && a.level[3].update_energy == 40);
    assert_true(a.compute.energy == 5);
}

static void wires_of_the_table(void **state) {
    (void)state;
    static sx_arch a;
    sx_read_arch("arch:\n"
                 "  arithmetic: {name: MAC, instances: 1}\n"
                 "  storage:\n"
                 "  - {name: B, entries: 64, instances: 1, wire-energy: 9, tile-width: 500}\n"
                 "  - {name: D, technology: DRAM, instances: 1, energy-per-hop: 3, tile-width: 500}\n"
                 "ERT:\n"
                 "  tables: [{name: B, actions: []}, {name: D, actions: []}, {name: MAC, actions: []},\n"
                 "    {name: wire, actions: [{name: transfer_random, energy: 0.25}]}]\n",
                 &a);
    assert_true(a.level[0].energy_per_hop == 2);
    assert_true(a.level[1].energy_per_hop == 3);
}

static void refusals(void **state) {
    (void)state;
    static const sx_refused cases[] = {
        {TABLES("  - {name: B, actions: [{name: read}]}\n"), "9:25", "an action of the ERT has no 'energy'",
         NULL},
        {TABLES("  - {name: B, actions: [{energy: 1}]}\n"), "9:25", "an action of the ERT has no 'name'",
         NULL},
        {TABLES("  - {name: B, actions: [{name: read, energy: much}]}\n"), "9:46",
         "'energy' must be a number, but is 'much'", NULL},
        {TABLES("  - {name: B, actions: [{name: read, enrgy: 1}]}\n"), "9:38",
         "unknown key of an action of the ERT: 'enrgy'", "did you mean 'energy'?" LENIENT},
        {TABLES("  - {name: B, action: []}\n"), "9:15", "unknown key of a table of the ERT: 'action'",
         "did you mean 'actions'?" LENIENT},
        {TABLES("  - {actions: []}\n"), "9:5", "a table of the ERT has no 'name'", NULL},
        {TABLES("  - {name: B, actions: 4}\n"), "9:24", "'actions' must be a list, but is a single value",
         NULL},
        {TABLES("  - 4\n"), "9:5", "a table of the ERT must be a map, but is a single value", NULL},
        {ARCH "ERT: 3\n", "6:6", "the ERT must be a map, but is a single value", NULL},
        {ARCH "ERT: {version: 0.4}\n", "6:6", "the ERT has no 'tables'", NULL},
        {ARCH "ERT: {tables: 4}\n", "6:15", "the 'tables' of the ERT must be a list, but is a single value",
         NULL},
        {ARCH "ERT: {table: []}\n", "6:7", "unknown key of the ERT: 'table'",
         "did you mean 'tables'?" LENIENT},
        {ARCH "ERT: {tables: {B: 4}}\n", "6:19", "a table of the ERT must be a map, but is a single value",
         NULL},
        {ARCH "ERT: {tables: {B: {read: 4}}}\n", "6:26",
         "an action of the ERT must be a map, but is a single value", NULL},
        {TABLES("  - {name: B, actions: [{name: read, energy: -1}]}\n" D M), "9:46",
         "'energy' is -1; it must be a finite number that is not negative", NULL},
    };
    sx_assert_archs_refused(cases, N(cases));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_actions),  cmocka_unit_test(the_largest_counts),
        cmocka_unit_test(missing_actions),    cmocka_unit_test(own_energies_come_first),
        cmocka_unit_test(wires_of_the_table), cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
