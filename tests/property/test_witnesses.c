/* What the searches pass over without a bound: for every mapping of random small spaces of all kinds, drawn ones of larger
 * spaces and of real machines, and each rule that passes over it, the mapping that stands for it is legal and costs the same
 * bits; and the last one of a chain of these is evaluated by a search without bounds, and met by the verifier's walk. Of small
 * spaces, searches without heuristics find the optimum of all mappings: test_witnesses [count [seed]]. */
#include "support/compared.h"
#include "support/expect_witness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 2000, LARGE = 1000000000, DRAWS = 40 };

typedef struct settings {
    uint64_t count, seed;
    sx_witness_tally tally; /* of all tests */
} settings;

/* Tries spaces of all kinds in turn. */
static void try_spaces(settings *set, const char *stream, uint64_t most) {
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, stream, i);
        sx_small_space small;
        sx_random_space_of(&rng, (sx_space_kind)(i % SX_N_KINDS), most, &small);
        sx_expect_witnesses(&small, i, most == MOST ? 0 : DRAWS, &rng, &set->tally);
        sx_small_space_fini(&small);
    }
}

static void small_spaces(void **state) {
    settings *set = *state;
    try_spaces(set, "witnesses", MOST);
    sx_expect_compared("last witnesses", set->tally.roots, 5 * set->count);
    sx_expect_compared("optima", set->tally.optima, 3 * set->count);
}

static void large_spaces(void **state) {
    try_spaces(*state, "witnesses.large", LARGE);
}

/* Convolutions on arrays whose memories hand words on: fractions of words. */
static void convolutions(void **state) {
    const uint64_t hard_seed = 55,
                   hard = 23; /* neighbours with the same tile, which is fetched anew at every visit */
    settings *set = *state;
    for (uint64_t i = 0; i <= set->count; i++) {
        sx_rng rng = sx_rng_stream(i ? set->seed : hard_seed, "witnesses.convolutions", i ? i - 1 : hard);
        sx_small_space small;
        sx_random_link_space(&rng, &small);
        sx_expect_witnesses(&small, i, DRAWS / 4, &rng, &set->tally);
        sx_small_space_fini(&small);
    }
}

/* Mappings of real size, whose counts are large. */
static void real_machines(void **state) {
    static const char *const problems[] = {
        "resnet-conv4", "mttkrp-0", "depthwise", "O[m,n] += A[m,k]*B[k,n] {m:1000,n:400,k:360}",
        "O[n,k,p,q] += I[n,c,2*p+r,2*q+s]*W[k,c,r,s] {n:2,k:16,c:8,p:14,q:14,r:3,s:3}"};
    static const char *const archs[] = {"mind-mappings", "eyeriss", "simba", "accel-a", "accel-b", "glb128"};
    enum { PROBLEMS = sizeof problems / sizeof *problems, ARCHS = sizeof archs / sizeof *archs };
    settings *set = *state;
    for (int i = 0; i < PROBLEMS * ARCHS; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "witnesses.real", (uint64_t)i);
        sx_map_space_options options = {.split_axes = i % 2};
        sx_small_space small;
        sx_catalog_space(problems[i / ARCHS], archs[i % ARCHS], &options, &small);
        sx_expect_witnesses(&small, (uint64_t)i, set->count / 10 + 1, &rng, &set->tally);
        sx_small_space_fini(&small);
    }
}

/* Kinds in which rules pass over nothing: the verifier's walk has no remainders, and zeros see every order. */
static unsigned kinds_without(int rule) {
    enum {
        SPARSE = 1 << SX_KIND_SPARSE,
        REMAINDERS = 1 << SX_KIND_REMAINDERS,
        NETWORK = 1 << SX_KIND_NETWORK
    };
    switch (rule) {
    case SX_SKIP_BANKS:
    case SX_N_WITNESS_RULES - 1:
        return 0;
    case SX_SKIP_INNERMOST:
    case SX_SKIP_MOVABLE:
        return SPARSE;
    case SX_SKIP_LAYOUT:
        return SPARSE | NETWORK;
    default:
        return SPARSE | REMAINDERS;
    }
}

static void every_rule_meets_every_kind(void **state) {
    const settings *set = *state;
    const sx_witness_tally *t = &set->tally;
    uint64_t all = 0;
    print_message("%-24s", "mappings passed over");
    for (int k = 0; k < SX_N_KINDS; k++) print_message(" %11s", sx_space_kind_name((sx_space_kind)k));
    print_message("\n%-24s", "spaces");
    for (int k = 0; k < SX_N_KINDS; k++) print_message(" %11llu", (unsigned long long)t->spaces[k]);
    for (int rule = 0; rule < SX_N_WITNESS_RULES; rule++) {
        print_message("\n%-24s", sx_witness_rule_name(rule));
        for (int k = 0; k < SX_N_KINDS; k++)
            print_message(" %11llu", (unsigned long long)t->compared[rule][k]);
        all += t->all[rule];
    }
    print_message("\n");
    for (int rule = 0; rule < SX_N_WITNESS_RULES; rule++)
        for (int k = 0; k < SX_N_KINDS; k++)
            if (set->count >= 500 && !(kinds_without(rule) >> k & 1) && t->compared[rule][k] == 0)
                fail_msg("%s, %s: nothing was compared", sx_witness_rule_name(rule),
                         sx_space_kind_name((sx_space_kind)k));
    sx_expect_compared("mappings that were passed over", all, 100 * set->count);
}

/* A case is all mappings of a space: little more than a fiftieth of the cases that others are asked for is enough. */
int main(int argc, char **argv) {
    settings set = {.count = 520, .seed = 1};
    if (argc > 1) set.count = strtoull(argv[1], NULL, 10) / 50 + 50;
    if (argc > 2) set.seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(small_spaces, &set),
        cmocka_unit_test_prestate(large_spaces, &set),
        cmocka_unit_test_prestate(convolutions, &set),
        cmocka_unit_test_prestate(real_machines, &set),
        cmocka_unit_test_prestate(every_rule_meets_every_kind, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
