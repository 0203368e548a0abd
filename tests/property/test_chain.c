/* Chains with windows counted by cells, against the walk of every step word by word: test_chain [count [seed]]. */
#include "looptree/chain_search.h"
#include "support/random_chain.h"
#include "support/window_chain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct settings {
    uint64_t count, seed;
} settings;

static void cells_count_as_words_do(void **state) {
    const settings *s = *state;
    uint64_t drawn = 0;
    for (uint64_t i = 0; i < s->count; i++) {
        sx_rng rng = sx_rng_stream(s->seed, "chain", i);
        sx_chain chain;
        sx_chain_count fast, slow;
        if (!sx_random_chain(&rng, &chain)) continue;
        drawn++;
        assert_int_equal(sx_chain_evaluate(&chain, &fast), SX_CHAIN_OK);
        assert_true(sx_chain_execute(&chain, &slow));
        if (memcmp(&fast, &slow, sizeof fast) != 0) {
            print_error("chain %llu: peak %llu, not %llu; input %llu, not %llu\n", (unsigned long long)i,
                        (unsigned long long)fast.peak, (unsigned long long)slow.peak,
                        (unsigned long long)fast.input_reads, (unsigned long long)slow.input_reads);
            sx_print_chain(&chain);
        }
        assert_memory_equal(&fast, &slow, sizeof fast);
    }
    print_message("%llu chains\n", (unsigned long long)drawn);
}

/* A listing of all ways to run a chain, each walked word by word. */
typedef struct listing {
    sx_chain chain;
    uint64_t n, size[4096], words[4096]; /* the staircase, in no order */
    uint64_t walked;
} listing;

static void enter_listed(listing *l) {
    sx_chain_count c;
    assert_true(sx_chain_execute(&l->chain, &c));
    l->walked++;
    uint64_t words = c.input_reads + c.other_reads + c.sum_reads + c.writes;
    for (int i = 1; i <= l->chain.n_layers; i++) words += c.weight_reads[i];
    for (uint64_t i = 0; i < l->n; i++)
        if (l->size[i] <= c.peak && l->words[i] <= words) return;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < l->n; i++)
        if (l->size[i] < c.peak || l->words[i] < words) {
            l->size[kept] = l->size[i];
            l->words[kept++] = l->words[i];
        }
    assert_true(kept < 4096);
    l->size[kept] = c.peak;
    l->words[kept] = words;
    l->n = kept + 1;
}

/* All weights' depths and all that may become of the tensors, as digits of two numbers. */
static void list_choices(listing *l) {
    sx_chain *chain = &l->chain;
    const int n = chain->n_layers, loops = chain->n_loops;
    int keeps = 1, depths = 1;
    for (int i = 0; i < n * loops; i++) keeps *= 3;
    for (int i = 0; i < n; i++) depths *= loops + 1;
    for (int k = 0; k < keeps; k++) {
        bool sensible = true;
        for (int i = 0, rest = k; i < n * loops; i++, rest /= 3) {
            const bool slices = chain->loop[i % loops].axis == SX_CHAIN_CHANNEL;
            chain->keep[i / loops][i % loops] = (sx_chain_keep)(rest % 3);
            if (slices && i / loops > 0) sensible &= rest % 3 == 0;
        }
        for (int d = 0; sensible && d < depths; d++) {
            for (int i = 0, rest = d; i < n; i++, rest /= loops + 1)
                chain->layer[i].weight_depth = rest % (loops + 1);
            enter_listed(l);
        }
    }
}

static void list_loops(listing *l, const int *extent, sx_chain_axis first, sx_chain_axis second) {
    sx_chain *chain = &l->chain;
    const int inner = second == first ? 2 : extent[second];
    chain->n_loops = second == first ? 1 : 2;
    chain->loop[0].axis = first;
    chain->loop[1].axis = second;
    for (chain->loop[0].tile = 1; chain->loop[0].tile < extent[first]; chain->loop[0].tile++)
        for (chain->loop[1].tile = 1; chain->loop[1].tile < inner; chain->loop[1].tile++)
            for (int other = 0; other < 4; other++) {
                chain->rereads = other & 1;
                chain->spills = other & 2;
                if (chain->spills && chain->sliced + 1 != chain->n_layers) continue;
                list_choices(l);
            }
}

/* Lists all ways in one nest. */
static void list_ways(listing *l, uint32_t nest) {
    static const sx_chain_axis loops[][2] = {
        {SX_CHAIN_ROW, SX_CHAIN_ROW},     {SX_CHAIN_COLUMN, SX_CHAIN_COLUMN},
        {SX_CHAIN_ROW, SX_CHAIN_COLUMN},  {SX_CHAIN_CHANNEL, SX_CHAIN_CHANNEL},
        {SX_CHAIN_CHANNEL, SX_CHAIN_ROW}, {SX_CHAIN_ROW, SX_CHAIN_CHANNEL},
    };
    int extent[3], which = -1;
    sx_chain_shape(&l->chain, l->chain.n_layers, extent);
    extent[2] = l->chain.layer[0].channels;
    for (uint32_t rest = nest >> 1; rest; rest >>= 1) which++;
    l->chain.sliced = l->chain.n_loops = 0;
    if (which < 0) {
        for (int rereads = 0; rereads < 2; rereads++) {
            l->chain.rereads = rereads;
            list_choices(l);
        }
        return;
    }
    for (int sliced = which < 3 ? 0 : 1; sliced < (which < 3 ? 1 : l->chain.n_layers); sliced++) {
        l->chain.sliced = sliced;
        if (sliced && !sx_chain_may_slice(&l->chain, sliced)) continue;
        list_loops(l, extent, loops[which][0], loops[which][1]);
    }
}

/* Every step of a staircase is one of the listing, and none is missing. */
static void compare_staircases(const listing *l, const sx_vector *steps) {
    for (size_t i = 0; i < steps->n; i++) {
        const sx_chain_step *step = sx_vector_at(steps, i);
        sx_chain_count c;
        assert_int_equal(sx_chain_evaluate(&step->chain, &c), SX_CHAIN_OK);
        assert_int_equal(c.peak, step->size);
    }
    bool same = l->n == steps->n;
    for (uint64_t i = 0; i < l->n; i++) {
        const sx_chain_step *step = sx_chain_step_at(steps, l->size[i]);
        same &= step && step->size == l->size[i] && step->words == l->words[i];
        if (!step || step->size != l->size[i] || step->words != l->words[i])
            print_error("%llu words with %llu on chip are not found\n", (unsigned long long)l->words[i],
                        (unsigned long long)l->size[i]);
    }
    if (!same) sx_print_chain(&l->chain);
    assert_true(same);
}

static void searches_find_what_a_listing_finds(void **state) {
    const settings *s = *state;
    static listing l;
    uint64_t walked = 0, chains = 0;
    for (uint64_t i = 0; i < s->count / 20; i++) {
        sx_rng rng = sx_rng_stream(s->seed, "stairs", i);
        const uint32_t nest = 1u << sx_rng_range(&rng, 0, 6);
        const bool one_loop = nest <= SX_NEST_COLUMN || nest == SX_NEST_CHANNEL;
        sx_chain_answer answer;
        l.n = l.walked = 0;
        if (!sx_random_chain_layers(&rng, one_loop ? 6 : 4, one_loop ? 3 : 2, &l.chain)) continue;
        const sx_chain chain = l.chain;
        list_ways(&l, nest);
        const sx_chain_options options = {.nests = nest, .limit = UINT64_MAX};
        assert_true(sx_chain_search(&chain, &options, &answer));
        compare_staircases(&l, &answer.segment[1][chain.n_layers]);
        sx_chain_answer_fini(&answer);
        walked += l.walked;
        chains += l.walked > 0;
    }
    print_message("%llu chains, %llu ways\n", (unsigned long long)chains, (unsigned long long)walked);
}

int main(int argc, char **argv) {
    settings s = {.count = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000,
                  .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(cells_count_as_words_do, &s),
                                       cmocka_unit_test_prestate(searches_find_what_a_listing_finds, &s)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
