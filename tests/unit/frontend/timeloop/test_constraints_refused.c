/* Constraints that are refused: where, with what message, and with what hint. */
#include "sextant/input.h"
#include "support/expect.h"
#include "support/read_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What the hint about a misspelt key ends with. */
#define LENIENT " --lenient ignores the key, with a warning"

#define N(array) (sizeof(array) / sizeof *(array))

/* M, K and N of sizes 16, 8 and 12; L0 over 4 x 2 units, PE with nothing but its fan-out of 2 over L0, and
 * L1, which is not built for B. */
static sx_problem problem;
static sx_arch arch;

static int setup(void **state) {
    (void)state;
    static const char *const names[] = {"L0", "inter_PE_spatial", "L1"};
    sx_expect_ok(sx_einsum_parse("Z[M,N] += A[M,K]*B[K,N] {M:16,K:8,N:12}", &problem));
    memset(&arch, 0, sizeof arch);
    arch.n_levels = 3;
    for (int s = 0; s < 3; s++) {
        sx_storage_init(&arch.level[s]);
        strcpy(arch.level[s].name, names[s]);
    }
    arch.level[0].instances = arch.level[0].mesh_x = 2;
    arch.level[1].transparent = true;
    arch.level[2].n_bypasses = 1;
    strcpy(arch.level[2].bypasses[0], "B");
    sx_compute_init(&arch.compute);
    strcpy(arch.compute.name, "MAC");
    arch.compute.instances = 16;
    arch.compute.mesh_x = 8;
    arch.compute.mesh_y = 2;
    return 0;
}

/* Whether the constraints of a text are refused as said, and nothing was written. */
static bool refused(const sx_refused *c) {
    static sx_constraints limits, untouched;
    sx_input *input = sx_expect_input(c->text);
    memset(&limits, 0, sizeof limits);
    sx_status error = sx_input_constraints(input, &problem, &arch, &limits);
    char place[32] = "";
    if (error) snprintf(place, sizeof place, "%d:%d", error->line, error->column);
    bool good = error && error->code == SX_ERR_INPUT && strcmp(place, c->place) == 0 &&
                strcmp(error->message, c->message) == 0 &&
                (c->hint ? error->hint && strcmp(error->hint, c->hint) == 0 : !error->hint);
    char *why = error ? sx_status_text(error) : NULL;
    if (!good) print_error("%s\nexpected %s: %s\n  %s\n", c->text, c->place, c->message, c->hint);
    if (!good) print_error("found    %s\n", why ? why : "no error");
    free(why);
    sx_status_free(error);
    sx_input_free(input);
    return good && memcmp(&limits, &untouched, sizeof limits) == 0;
}

static void assert_refused(const sx_refused *cases, size_t n) {
    bool good = true;
    for (size_t i = 0; i < n; i++) good = refused(&cases[i]) && good;
    assert_true(good);
}

#define T0(text) "constraints:\n- {type: temporal, target: L0, " text "}\n"
#define T1(text) "- {type: temporal, target: L1, " text "}\n"
#define S0(text) "constraints:\n- {type: spatial, target: L0, " text "}\n"
#define D0(text) "constraints:\n- {type: dataspace, target: L0, " text "}\n"
#define AGAIN(text) "- {type: temporal, target: L0, " text "}\n"
#define CHANGE "the two contradict each other: change one of them"

static void names_must_be_known(void **state) {
    (void)state;
    static const sx_refused cases[] = {
        {"constraints: [{type: temporal, target: L2}]\n", "1:40", "unknown level 'L2'",
         "known: L0, inter_PE_spatial, L1"},
        {"constraints: [{type: tempral, target: L0}]\n", "1:22", "unknown kind of constraint 'tempral'",
         "did you mean 'temporal'?"},
        {"constraints: [{type: temporal}]\n", "1:15", "the constraint has no 'target'", NULL},
        {"constraints: [{target: L0}]\n", "1:15", "the constraint has no 'type'", NULL},
        {"constraints: [L0]\n", "1:15", "a constraint must be a map, but is a single value", NULL},
        {"mapspace: {targets: L0}\n", "1:21", "mapspace must be a list, but is a single value", NULL},
        {"mapspace: {constraints: os, constraints_ws: []}\n", "1:25", "there is no 'constraints_os'",
         "'constraints: NAME' refers to the list 'constraints_NAME' at the same level"},
        {"constraints: os\nconstraints_ws: []\n", "1:14", "there is no 'constraints_os'",
         "'constraints: NAME' refers to the list 'constraints_NAME' at the same level"},
        {"constraints: [{name: L0, constraints: {type: temporal}}]\n", "1:39",
         "'constraints' must be a list, but is a map", NULL},
        {"constraints: [{name: L0, constraints: [{attributes: {factors: M=1}}]}]\n", "1:40",
         "the constraint has no 'type'", NULL},
        {T0("factor: M=1"), "2:32", "unknown key of a constraint: 'factor'",
         "did you mean 'factors'?" LENIENT},
        {T0("factors: X=1"), "2:41", "unknown dimension 'X'", "known: M, K, N"},
        {T0("permutation: MX"), "2:46", "unknown dimension 'X'", "known: M, K, N"},
        {D0("keep: [W]"), "2:40", "unknown tensor 'W'", "known: Z, A, B"},
        {T0("no_iteration_over_dataspaces: [W]"), "2:63", "unknown tensor 'W'", "known: Z, A, B"},
    };
    assert_refused(cases, N(cases));
}

static void factors_must_make_sense(void **state) {
    (void)state;
    static const sx_refused cases[] = {
        {T0("factors: M=x"), "2:43",
         "the factor of 'M' must be a whole number from 1 to 2147483647, but is 'x'", NULL},
        {T0("factors: M<4"), "2:42", "the bound of 'M' is not valid", "bounds are written 'M<=4' and 'M>=4'"},
        {T0("factors: M<=0"), "2:44",
         "the factor of 'M' must be a whole number from 1 to 2147483647, but is '0'", NULL},
        {T0("factors: 'M=4,1'"), "2:42", "a constraint's factor has no remainder", "write 'M=4'"},
        {T0("factors: M>=32"), "2:41",
         "the temporal factor of 'M' at 'L0' must be at least 32, but its size is 16", "ask for at most 16"},
        {T0("default_max_factor: 0"), "2:52",
         "'default_max_factor' must be a whole number from 1 to 2147483647, but is '0'", NULL},
        {"constraints: [{type: temporal, target: MAC, factors: M=2}]\n", "1:54",
         "'MAC' has no loops for this factor", "give it to a storage level or a fan-out"},
        {T0("split: 2"), "2:32", "'split' is for spatial constraints only", "leave it out"},
        {S0("split: -1"), "2:38", "'split' must be a whole number from 0 to 2^64-1, but is '-1'", NULL},
    };
    assert_refused(cases, N(cases));
}

static void what_cannot_be_held_to_is_refused(void **state) {
    (void)state;
    static const sx_refused cases[] = {
        {T0("maximize_dims: [[M, N]]"), "2:32", "temporal 'maximize_dims' without a capacity",
         "add 'maximize_dims_capacity: N', the most that the factors may multiply to"},
        {T0("maximize_dims_capacity: 4, factors: M=1, maximize_dims: [M]"), "2:89",
         "'M' cannot be maximized: its factor is constrained", "leave it out here, or among the factors"},
        {S0("maximize_dims: [M, N, M]"), "2:53", "'M' is named twice", NULL},
        {S0("maximize_dims: [[M], [X]]"), "2:53", "unknown dimension 'X'", "known: M, K, N"},
        {"constraints: [{type: spatial, target: MAC, maximize_dims: [M]}]\n", "1:44",
         "'MAC' has no loops whose dimensions could be maximized", NULL},
        {T0("remainders: 0"), "2:32", "'remainders: 0' cannot be set for one level",
         "remove it: factors divide unless the whole search allows remainders"},
        {T0("no_link_transfer: [A]"), "2:32", "'no_link_transfer' is of spatial constraints only", NULL},
        {S0("rmw_first_update: [A]"), "2:31", "'rmw_first_update' is of temporal constraints only", NULL},
        {S0("no_reuse: [X]"), "2:42", "unknown tensor 'X'", "known: Z, A, B"},
        {D0("passthrough: [A]"), "2:33",
         "'passthrough' of a constraint is not supported and would change the result", NULL},
        {"constraints: [{type: max_overbooked_proportion, target: L0, proportion: 0.1}]\n", "1:73",
         "overbooked buffers are not supported", "tiles must fit: leave the constraint out"},
        {"constraints: [{type: parallelism, target: L1, min: 0.5}]\n", "1:43",
         "the parallelism of 'L1' cannot be constrained",
         "name the innermost level, 'L0': the share is that of all compute units"},
        {"constraints: [{type: utilization, target: L0, min: 1.5}]\n", "1:52",
         "the minimum utilization of compute units is 1.5", "it must be from 0 to 1"},
        {"constraints: [{type: utilization, target: L0}]\n", "1:15", "the constraint has no 'min'", NULL},
        {"constraints:\n- {type: utilization, target: L0, min: 0.5}\n- {type: parallelism, target: L0, min: "
         "0.7}\n",
         "3:40", "the minimum utilization of compute units is 0.7, but 0.5 at t.yaml:2:40",
         "change one of them"},
    };
    assert_refused(cases, N(cases));
}

static void one_factor_cannot_be_two(void **state) {
    (void)state;
    static const sx_refused cases[] = {
        {T0("factors: M=4") AGAIN("factors: M=8"), "3:41",
         "the temporal factor of 'M' at 'L0' must be 8, but 4 at t.yaml:2:41", CHANGE},
        {T0("factors: M=8") AGAIN("factors: M=4"), "3:41",
         "the temporal factor of 'M' at 'L0' must be 4, but 8 at t.yaml:2:41", CHANGE},
        {T0("factors: M<=4") AGAIN("factors: M=8"), "3:41",
         "the temporal factor of 'M' at 'L0' must be 8, but at most 4 at t.yaml:2:41", CHANGE},
        {T0("factors: M>=8") AGAIN("factors: M<=4"), "3:41",
         "the temporal factor of 'M' at 'L0' must be at most 4, but at least 8 at t.yaml:2:41", CHANGE},
        {T0("factors: [M>=8, M<=4]"), "2:48",
         "the temporal factor of 'M' at 'L0' must be at most 4, but at least 8 at t.yaml:2:42", CHANGE},
        {T0("factors: M=4, no_iteration_over_dataspaces: [A]"), "2:46",
         "the temporal factor of 'M' at 'L0' must be 1, but 4 at t.yaml:2:41", CHANGE},
        {T0("factors: M=4, must_iterate_over_dataspaces: [B]"), "2:46",
         "the temporal factor of 'M' at 'L0' must be 1, but 4 at t.yaml:2:41", CHANGE},
        {T0("factors: M=4, factors_only: M=2"), "2:60",
         "the temporal factor of 'M' at 'L0' must be 2, but 4 at t.yaml:2:41", CHANGE},
        {T0("factors: M>=8, default_max_factor: 4"), "2:47",
         "the temporal factor of 'M' at 'L0' must be at most 4, but at least 8 at t.yaml:2:41", CHANGE},
        {"constraints: [{type: spatial, target: L0, factors: M=4, split: 1}]\n"
         "mapspace_constraints: {targets: [{type: spatial, target: L0, split: 2}]}\n",
         "2:62", "'L0' must have 2 dimensions on X, but 1 at t.yaml:1:57", CHANGE},
    };
    assert_refused(cases, N(cases));
}

static void orders_must_agree(void **state) {
    (void)state;
    static const sx_refused cases[] = {
        {T0("permutation: MKM"), "2:47", "duplicate dimension 'M' in the permutation", NULL},
        {T0("permutation: [M, _, M]"), "2:52", "duplicate dimension 'M' in the permutation", NULL},
        {T0("permutation: M_K_N"), "2:48", "duplicate '_' in the permutation", NULL},
        {T0("permutation: MK") AGAIN("permutation: KM"), "3:32",
         "this temporal permutation of 'L0' contradicts the one at t.yaml:2:32", CHANGE},
        {T0("permutation: MKN") AGAIN("permutation: _M"), "3:32",
         "this temporal permutation of 'L0' contradicts the one at t.yaml:2:32", CHANGE},
        {T0("permutation: M") AGAIN("permutation: _M"), "3:32",
         "this temporal permutation of 'L0' contradicts the one at t.yaml:2:32", CHANGE},
        {T0("permutation: _MN") AGAIN("permutation: _NM"), "3:32",
         "this temporal permutation of 'L0' contradicts the one at t.yaml:2:32", CHANGE},
    };
    assert_refused(cases, N(cases));
}

static void tensors_must_have_a_home(void **state) {
    (void)state;
    static const sx_refused cases[] = {
        {D0("keep: [A], bypass: [A]"), "2:53", "'L0' must bypass 'A', but must keep it at t.yaml:2:40",
         CHANGE},
        {D0("bypass: [A]") "- {type: bypass, target: L0, keep: [B, A]}\n", "3:40",
         "'L0' must keep 'A', but must bypass it at t.yaml:2:42", CHANGE},
        {D0("keep: [A]") "- {type: bypass, target: L0, keep_only: [B]}\n", "3:30",
         "'L0' must bypass 'A', but must keep it at t.yaml:2:40", CHANGE},
        {"constraints: [{type: dataspace, target: L1, keep: [B]}]\n", "1:52",
         "'L1' must keep 'B', but cannot", "remove it, or change the architecture"},
        {"constraints: [{type: dataspace, target: PE, keep: ['*']}]\n", "1:52",
         "'inter_PE_spatial' must keep 'Z', but cannot", "remove it, or change the architecture"},
        {"constraints: [{type: dataspace, target: MAC, keep: [A]}]\n", "1:53",
         "'MAC' is not a storage level: it keeps nothing", "give the tensors to a storage level"},
        {D0("bypass: [B]"), "2:42", "no level keeps 'B': it must bypass 'L0' (t.yaml:2:42)",
         "let a level keep it"},
        {D0("bypass: [A]") "- {type: bypass, target: L1, bypass: [A]}\n", "3:39",
         "no level keeps 'A': it must bypass 'L0' (t.yaml:2:42), 'L1' (t.yaml:3:39)", "let a level keep it"},
    };
    assert_refused(cases, N(cases));
}

static void factors_must_fit_their_dimension(void **state) {
    (void)state;
    static const sx_refused cases[] = {
        {T0("factors: K=8") T1("factors: K>=2"), "3:41",
         "the factors of 'K' multiply to at least 16, but its size is 8: 8 in time at 'L0' (t.yaml:2:41), 2 "
         "in "
         "time at 'L1' (t.yaml:3:41)",
         "make one of them smaller"},
        {T0("factors: K=8") T1("factors: K=2, remainders: 1"), "3:41",
         "the factors of 'K' multiply to at least 16, but its size is 8: 8 in time at 'L0' (t.yaml:2:41), 2 "
         "in "
         "time at 'L1' (t.yaml:3:41)",
         "make one of them smaller"},
        {T0("factors: K=2") T1("factors: K<=2") "- {type: temporal, target: PE, factors: K=1}\n"
                                                "- {type: spatial, target: L0, factors: K=1}\n"
                                                "- {type: spatial, target: PE, factors: K=1}\n",
         "3:41",
         "the factors of 'K' multiply to at most 4, but its size is 8: 1 in space at 'L0' (t.yaml:5:40), 2 "
         "in "
         "time at 'L0' (t.yaml:2:41), 1 in space at 'inter_PE_spatial' (t.yaml:6:40), 1 in time at "
         "'inter_PE_spatial' (t.yaml:4:41), 2 in time at 'L1' (t.yaml:3:41)",
         "make one of them larger, or leave it free"},
    };
    assert_refused(cases, N(cases));
}

static void spatial_factors_must_fit_their_array(void **state) {
    (void)state;
    static const sx_refused cases[] = {
        {S0("factors: M=4 N=4"), "2:44",
         "the spatial factors of 'L0' multiply to at least 16, but its fan-out is 8: M=4 (t.yaml:2:40), N=4 "
         "(t.yaml:2:44)",
         "make one of them smaller"},
        {S0("factors: M=4, split: 0"), "2:40",
         "the spatial factors of 'L0' multiply to at least 4 on Y, but its fan-out on Y is 2: M=4 "
         "(t.yaml:2:40)",
         "make one of them smaller, or change the split"},
        {S0("factors: M=4 N=2, split: 999"), "2:44",
         "the spatial factors of 'L0' multiply to at least 8 on X, but its fan-out on X is 4: M=4 "
         "(t.yaml:2:40), N=2 (t.yaml:2:44)",
         "make one of them smaller, or change the split"},
        {S0("factors: M=4, permutation: NM, split: 1"), "2:40",
         "the spatial factors of 'L0' multiply to at least 4 on Y, but its fan-out on Y is 2: M=4 "
         "(t.yaml:2:40)",
         "make one of them smaller, or change the split"},
        {S0("factors: K=4, permutation: _K, split: 2"), "2:40",
         "the spatial factors of 'L0' multiply to at least 4 on Y, but its fan-out on Y is 2: K=4 "
         "(t.yaml:2:40)",
         "make one of them smaller, or change the split"},
        {S0("factors: K=4, permutation: NM, split: 1"), "2:40",
         "the spatial factors of 'L0' multiply to at least 4 on Y, but its fan-out on Y is 2: K=4 "
         "(t.yaml:2:40)",
         "make one of them smaller, or change the split"},
        {S0("factors: K=8, permutation: _N, split: 2"), "2:40",
         "the spatial factors of 'L0' multiply to at least 8 on X, but its fan-out on X is 4: K=8 "
         "(t.yaml:2:40)",
         "make one of them smaller, or change the split"},
        {"constraints: [{type: spatial, target: PE, factors: N=4}]\n", "1:52",
         "the spatial factors of 'inter_PE_spatial' multiply to at least 4, but its fan-out is 2: N=4 "
         "(t.yaml:1:52)",
         "make one of them smaller"},
        {"constraints: [{type: spatial, target: L1, factors: M=2}]\n", "1:52",
         "'L1' has no fan-out for spatial factors: M=2 (t.yaml:1:52)",
         "there are as many instances inside it as of itself"},
    };
    assert_refused(cases, N(cases));
}

/* Constraints at a part that is no level can ask for no loops and no tensors. */
static void parts_that_are_no_level(void **state) {
    (void)state;
    static const sx_refused cases[] = {
        {"architecture:\n"
         "  nodes:\n"
         "  - !Container {name: chip, constraints: {spatial: {factors: M=2}}}\n",
         "3:62", "'chip' has no loops for this factor", "give it to a storage level or a fan-out"},
        {"architecture: {nodes: [!Hierarchical {nodes: [!Container {name: chip}]}]}\n"
         "constraints: [{type: temporal, target: chip, default_min_factor: 2}]\n",
         "2:46", "'chip' has no loops for this factor", "give it to a storage level or a fan-out"},
        {"architecture: {nodes: [!Container {name: chip}]}\n"
         "constraints: [{type: temporal, target: chap, factors: M=1}]\n",
         "2:40", "unknown level 'chap'", "known: L0, inter_PE_spatial, L1"},
        {"architecture: {nodes: [!Component {name: L0, constraints: {temporal: [M=1]}}]}\n", "1:70",
         "a constraint must be a map, but is a list", NULL},
    };
    assert_refused(cases, N(cases));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_must_be_known),
        cmocka_unit_test(factors_must_make_sense),
        cmocka_unit_test(what_cannot_be_held_to_is_refused),
        cmocka_unit_test(one_factor_cannot_be_two),
        cmocka_unit_test(orders_must_agree),
        cmocka_unit_test(tensors_must_have_a_home),
        cmocka_unit_test(factors_must_fit_their_dimension),
        cmocka_unit_test(spatial_factors_must_fit_their_array),
        cmocka_unit_test(parts_that_are_no_level),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
