/* What the rules of the independent checker come to on fixed spaces and random prices, as hashes. A rule that gets weaker is
 * still true, and shows here alone: hashes are changed on purpose. */
#include "support/check_space.h"
#include "support/expect.h"

#include "base/hash.h"
#include "check/remainders.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LINK_SPACES = 10, SPACES = 4, MAPPINGS = 4, EXTENTS = 6, PRICE = 1000 };
enum part {
    SHAPE,
    OUTLINE,
    CONSTANT,
    FLOW,
    SLIDE,
    TABLES,
    PORTS,
    SPREAD,
    TILINGS,
    FOLLOWED,
    COST,
    VERDICT,
    PARTS
};

/* A case, and hashes of all that was computed. */
typedef struct bench {
    const sx_check_case *c;
    sx_check_space space;
    sx_check_shape shape;
    sx_check_spatial spatial;
    sx_check_outline o;
    sx_check_lattice lattice;
    sx_check_work work;
    uint64_t hash[PARTS];
} bench;

static void add(bench *b, enum part part, int64_t number) {
    b->hash[part] = sx_hash_mix(b->hash[part], (uint64_t)number);
}

static void add_wide(bench *b, enum part part, sx_wide number) {
    add(b, part, (int64_t)number);
    add(b, part, (int64_t)(number >> 64));
}

static void add_text(bench *b, enum part part, const char *text) {
    b->hash[part] = sx_hash_bytes(text, strlen(text), b->hash[part]);
}

static void draw_prices(sx_rng *rng, sx_check_prices *out) {
    for (int s = 0; s < SX_MAX_LEVELS; s++)
        for (int v = 0; v < SX_MAX_TENSORS; v++)
            for (int i = 0; i < SX_N_ACCESSES; i++) out->of[s][v][i] = sx_rng_range(rng, 0, PRICE);
}

/* Opens a case for the rules. */
static void open_bench(bench *b, const sx_check_case *c, sx_check_doubt *doubt) {
    b->c = c;
    sx_expect_ok(sx_check_space_init(&b->space, c));
    sx_check_shape_init(&b->shape, c, doubt);
    b->work = (sx_check_work){.space = &b->space, .shape = &b->shape};
    sx_check_energy_prices(c, &b->work.energy);
    for (int v = 0; v < b->space.n_tensors; v++) {
        add(b, SHAPE, b->shape.dims[v]);
        add(b, SHAPE, b->shape.solo[v]);
    }
    add(b, SHAPE, b->shape.plain);
    add(b, SHAPE, b->shape.free);
    for (int s = 0; s < b->space.n_levels; s++)
        for (int v = 0; v < b->space.n_tensors; v++)
            for (int i = 0; i < SX_N_ACCESSES; i++) add(b, SHAPE, b->work.energy.of[s][v][i]);
    memset(&b->lattice, 0, sizeof b->lattice);
}

static void close_bench(bench *b) {
    sx_check_lattice_fini(&b->lattice);
    sx_check_space_fini(&b->space);
}

/* Makes the outline of a mapping. */
static void set_outline(bench *b, const sx_mapping *mapping) {
    for (int s = 0; s < SX_MAX_LEVELS; s++)
        for (int d = 0; d < SX_MAX_DIMS; d++) b->spatial.factor[s][d] = 1;
    b->o = (sx_check_outline){.space = &b->space, .shape = &b->shape, .spatial = &b->spatial};
    for (int s = 0; s < b->space.n_levels; s++) {
        b->o.keep[s] = mapping->level[s].keep;
        for (int d = 0; d < b->space.n_dims; d++) b->spatial.factor[s][d] = mapping->level[s].spatial[d];
    }
    sx_check_outline_spread(&b->o);
    sx_expect_ok(sx_check_find_links(&b->o));
    sx_check_find_neighbours(&b->o);
}

static void add_outline(bench *b) {
    const sx_check_outline *o = &b->o;
    add(b, OUTLINE, o->steps);
    for (int v = 0; v < b->space.n_tensors; v++) {
        add(b, OUTLINE, o->linked[v]);
        add(b, OUTLINE, sx_check_top(o, v));
        for (int s = 0; s < b->space.n_levels; s++) {
            add(b, OUTLINE, o->apart[v][s]);
            add(b, OUTLINE, o->groups[s][v]);
            add(b, OUTLINE, o->children[s][v]);
        }
    }
    for (int s = 0; s < b->space.n_levels; s++) {
        add(b, OUTLINE, o->used[s]);
        add(b, OUTLINE, o->near[s].n);
        for (int i = 0; i < o->near[s].n; i++)
            for (int d = 0; d < b->space.n_dims; d++) add(b, OUTLINE, o->near[s].by[i][d]);
    }
}

/* Draws extents of loops that are inside: divisors of what is left. */
static void draw_extents(const bench *b, sx_rng *rng, int64_t *extent) {
    for (int d = 0; d < SX_MAX_DIMS; d++) extent[d] = 1;
    for (int d = 0; d < b->space.n_dims; d++) do
            extent[d] = b->space.divisor[d][sx_rng_below(rng, (uint64_t)b->space.n_divisors[d])];
        while (b->o.left[d] % extent[d]);
}

/* Adds what all flows into a holder cost: at a loop that the tensor's windows do not know, and at all that they do. */
static void add_flows(bench *b, const sx_check_prices *prices, int v, int holder, const int64_t *extent) {
    const unsigned windows = b->shape.dims[v] & ~b->shape.solo[v];
    add(b, FLOW, sx_check_flow(&b->o, prices, v, holder, extent));
    for (int d = 0; d < b->space.n_dims; d++) {
        const int64_t left = b->o.left[d] / extent[d];
        if (!(windows >> d & 1) || left == 1) continue;
        for (int s = holder; s < b->space.n_levels; s++)
            for (int64_t n = 0; n <= left; n++)
                if (n == 0 || (n > 1 && left % n == 0))
                    add(b, SLIDE, sx_check_slide(&b->o, prices, v, holder, s, d, n, extent));
    }
}

/* Adds the rules T0, T1, T5 and T6 at random prices. */
static void add_rules(bench *b, sx_rng *rng) {
    sx_check_prices prices;
    int64_t extent[SX_MAX_DIMS];
    draw_prices(rng, &prices);
    add_wide(b, CONSTANT, sx_check_constant(&b->o, &prices));
    add_wide(b, CONSTANT, sx_check_shared(&b->o, &prices));
    add(b, CONSTANT, sx_check_compulsory(&b->o, &prices));
    for (int i = 0; i < EXTENTS; i++) {
        draw_extents(b, rng, extent);
        for (int v = 0; v < b->space.n_tensors; v++)
            for (int holder = SX_UNITS; holder <= sx_check_top(&b->o, v); holder++)
                if (holder == SX_UNITS || b->o.keep[holder - 1] >> v & 1)
                    add_flows(b, &prices, v, holder, extent);
    }
}

/* Adds T3 at random prices: its value, its tables, and where it stops short of them. */
static void add_tables(bench *b, sx_rng *rng) {
    sx_check_prices prices;
    int64_t flows, again;
    draw_prices(rng, &prices);
    sx_expect_ok(sx_check_lattice_points(&b->lattice, &b->o));
    sx_expect_ok(sx_check_lattice_solve(&b->lattice, &b->o, &prices, SX_CHECK_NONE, &flows));
    add(b, TABLES, flows);
    for (int more = 0; more < 2; more++) {
        sx_expect_ok(sx_check_lattice_solve(&b->lattice, &b->o, &prices, flows + more, &again));
        add(b, TABLES, again);
    }
    sx_expect_ok(sx_check_lattice_solve(&b->lattice, &b->o, &prices, flows + flows / 8 + 1, &again));
    for (int made = 0; made < 2; made++) {
        for (int s = 0; s < b->space.n_levels; s++)
            for (size_t i = 0; i < (size_t)b->lattice.n_points * (size_t)b->lattice.states[s].n; i++)
                add(b, TABLES, b->lattice.rest[s][i]);
        if (!made) sx_expect_ok(sx_check_lattice_tables(&b->lattice));
    }
}

/* Makes a target of a cost, in thousandths. */
static void set_target(sx_check_target *target, sx_check_goal goal, sx_wide energy, int64_t cycles,
                       int64_t share) {
    *target = (sx_check_target){.goal = goal};
    if (goal.energy_power > 1 || goal.delay_power > 1) {
        sx_long_product_add(&target->needed, energy, goal.energy_power);
        sx_long_product_add(&target->needed, cycles, goal.delay_power);
        sx_long_product_add(&target->needed, share, 1);
        sx_long_product_add(&target->spread, 1000, 1);
    } else if (sx_check_value(goal, energy, cycles, &target->value)) {
        target->value = target->value * share / 1000;
    }
}

/* Adds what ports close before targets around the least energy and steps. */
static void add_ports(bench *b, sx_rng *rng) {
    static const sx_check_goal goals[] = {{1, 1}, {0, 1}, {1, 2}, {2, 1}};
    static const int64_t shares[] = {1000, 1001, 1030, 1200, 1500, 2000, 4000, 9000};
    int64_t flows;
    bool closed;
    sx_expect_ok(sx_check_lattice_solve(&b->lattice, &b->o, &b->work.energy, SX_CHECK_NONE, &flows));
    sx_wide energy = sx_check_shared(&b->o, &b->work.energy) + flows;
    b->work.latency = sx_rng_range(rng, 0, 3);
    for (size_t i = 0; i < sizeof goals / sizeof *goals && flows < SX_CHECK_NONE && energy > 0; i++)
        for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
            set_target(&b->work.target, goals[i], energy, b->o.steps + b->work.latency, shares[k]);
            sx_expect_ok(sx_check_ports(&b->work, &b->lattice, &b->o, energy, &closed));
            add(b, PORTS, closed);
            add_wide(b, PORTS, sx_check_enough(&b->work, &b->o));
        }
}

/* Adds the cost of a mapping, and why others like it are illegal. */
static void add_costs(bench *b, sx_rng *rng, const sx_mapping *mapping) {
    for (int i = 0; i < 4; i++) {
        sx_check_doubt doubt = {""};
        sx_check_cost cost = {0};
        sx_mapping other = *mapping;
        int s = (int)sx_rng_below(rng, (uint64_t)b->space.n_levels),
            d = (int)sx_rng_below(rng, mapping->n_dims);
        if (i == 1) other.level[s].temporal[d] *= 2;
        if (i == 2) other.level[s].spatial[d] *= 2;
        if (i == 3) other.level[s].keep ^= (uint8_t)(1u << sx_rng_below(rng, mapping->n_tensors));
        sx_check_legality legality = sx_check_evaluate(b->c, &other, &cost, &doubt);
        add(b, COST, legality);
        add_text(b, COST, doubt.why);
        doubt.why[0] = 0;
        if (legality != SX_COST_LEGAL) continue;
        add(b, COST, sx_check_contains(&b->space, &other, &doubt));
        add_text(b, COST, doubt.why);
        const sx_wide wides[] = {cost.energy, cost.leak, cost.least_energy, cost.said_energy};
        const int64_t numbers[] = {cost.cycles, cost.said, cost.full, cost.least_cycles, cost.open};
        for (size_t k = 0; k < sizeof wides / sizeof *wides; k++) add_wide(b, COST, wides[k]);
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) add(b, COST, numbers[k]);
    }
}

/* Adds a spread's numbers, and the bounds that they make. */
static void add_spread(bench *b, const sx_check_spread *spread, const unsigned *keep, sx_wide tiles) {
    const sx_check_corner bound = sx_check_remainder_bound(&b->work, spread, keep, tiles);
    add_wide(b, SPREAD, bound.energy);
    add(b, SPREAD, bound.cycles);
    add(b, SPREAD, spread->steps);
    add_wide(b, SPREAD, spread->leak);
    for (int s = 0; s < b->space.n_levels; s++) add(b, SPREAD, spread->used[s]);
    for (int v = 0; v < b->space.n_tensors; v++) {
        add(b, SPREAD, spread->asked[v]);
        add(b, SPREAD, spread->linked[v]);
        for (int s = 0; s < b->space.n_levels; s++) {
            add(b, SPREAD, spread->held[v][s]);
            add(b, SPREAD, spread->copies[v][s]);
            add(b, SPREAD, spread->group[v][s]);
        }
    }
}

/* Adds T10 of a mapping at random prices. */
static void add_remainders(bench *b, sx_rng *rng, const sx_mapping *mapping) {
    sx_check_tilings *tilings;
    sx_check_spread spread;
    sx_check_corner known;
    sx_check_pair pair = {.spatial = b->spatial};
    sx_wide tiles;
    draw_prices(rng, &b->work.energy);
    memcpy(pair.keep, b->o.keep, sizeof pair.keep);
    sx_expect_ok(sx_check_tilings_new(&b->work, &tilings));
    sx_expect_ok(sx_check_tilings_least(tilings, pair.keep, &tiles, pair.tiles));
    add_wide(b, TILINGS, tiles);
    for (int s = 0; s < b->space.n_levels; s++) add_wide(b, TILINGS, pair.tiles[s]);
    for (int any = 0; any < 2; any++) {
        sx_check_spread_init(&spread, &b->space, &b->shape, any ? NULL : &b->spatial);
        add_spread(b, &spread, pair.keep, tiles);
    }
    add(b, FOLLOWED, sx_check_may_walk_remainders(&b->work));
    if (sx_check_may_walk_remainders(&b->work)) {
        sx_expect_ok(sx_check_follow_walk(&b->work, &pair, mapping, &known));
        add_wide(b, FOLLOWED, known.energy);
        add(b, FOLLOWED, known.cycles);
    }
    sx_check_tilings_free(tilings);
}

/* Adds what a claim is decided by. */
static void add_verdict(bench *b, const sx_check_case *c, sx_check_doubt doubt, bool walk_only,
                        int64_t more) {
    sx_independent_report report;
    char numbers[80];
    sx_judge_case(c, doubt, walk_only, more, &report);
    const uint64_t count[] = {report.verdict,    report.spatial,     report.outlines,
                              report.compulsory, report.tiles,       report.ports,
                              report.walked,     report.evaluations, report.uncounted};
    for (size_t i = 0; i < sizeof count / sizeof *count; i++) add(b, VERDICT, (int64_t)count[i]);
    snprintf(numbers, sizeof numbers, "%.9g %.9g %.9g %.9g %.9g", report.energy_pj, report.cycles,
             report.slack, report.certified, report.better);
    add_text(b, VERDICT, numbers);
    add_text(b, VERDICT, report.why);
}

/* The best mapping of a list. */
static size_t find_best(const sx_mapping_list *list, const char *by) {
    sx_objective objective;
    size_t best = 0;
    sx_expect_ok(sx_objective_parse(by, &objective));
    for (size_t i = 1; i < list->n; i++)
        if (sx_objective_value(&objective, &list->score[i]) <
            sx_objective_value(&objective, &list->score[best]))
            best = i;
    return best;
}

/* Adds all rules on some mappings of a list. */
static void add_mappings(bench *b, sx_rng *rng, const sx_small_space *small, const sx_mapping_list *list) {
    sx_check_doubt doubt = {""};
    sx_check_case *c = sx_check_case_of(small, "edp", list, 0, NULL, 0, &doubt);
    for (int i = 0; i < MAPPINGS && !doubt.why[0]; i++) {
        const sx_mapping *mapping = &list->mapping[sx_rng_below(rng, list->n)];
        open_bench(b, c, &doubt);
        set_outline(b, mapping);
        if (!c->remainders) {
            add_outline(b);
            add_rules(b, rng);
            add_tables(b, rng);
            add_ports(b, rng);
        }
        add_costs(b, rng, mapping);
        add_remainders(b, rng, mapping);
        close_bench(b);
    }
    sx_check_case_free(c);
}

/* Adds the verdicts on a space's optima and on another mapping. */
static void add_claims(bench *b, sx_rng *rng, const sx_small_space *small, const sx_mapping_list *list) {
    static const char *const objectives[] = {"edp",   "energy",       "delay",       "ed2p",
                                             "e^2*d", "energy,delay", "delay,energy"};
    for (size_t i = 0; i < sizeof objectives / sizeof *objectives; i++) {
        sx_check_doubt doubt;
        size_t best = find_best(list, objectives[i]);
        for (int k = 0; k < 3; k++) {
            sx_check_case *c = sx_check_case_of(small, objectives[i], list,
                                                k < 2 ? best : sx_rng_below(rng, list->n), NULL, 0, &doubt);
            add_text(b, VERDICT, doubt.why);
            add_verdict(b, c, doubt, false, k == 1);
            sx_check_case_free(c);
        }
    }
}

static void add_space(bench *b, sx_rng *rng, const sx_small_space *small) {
    sx_mapping_list list;
    sx_list_mappings(small, &list);
    if (list.n) {
        add_mappings(b, rng, small, &list);
        add_claims(b, rng, small, &list);
    }
    sx_free_mappings(&list);
}

/* The same of a space that may be large, without claims. */
static void add_link_space(bench *b, sx_rng *rng, const sx_small_space *small) {
    sx_mapping_list list = {.mapping = calloc(MAPPINGS, sizeof *list.mapping),
                            .score = calloc(MAPPINGS, sizeof *list.score)};
    void *point = malloc(sx_space_point_size(small->space));
    uint64_t rejected = 0;
    assert_true(list.mapping && list.score && point);
    for (; list.n < MAPPINGS && sx_space_draw_legal(small->space, rng, point, &rejected); list.n++) {
        sx_map_space_mapping(small->space, point, &list.mapping[list.n]);
        list.score[list.n] = (sx_score){.energy_pj = 1, .cycles = 1};
    }
    if (list.n) add_mappings(b, rng, small, &list);
    free(point);
    sx_free_mappings(&list);
}

/* Compares hashes with what they were; prints those that are others. */
static bool is_expected(const char *name, const uint64_t *found, const uint64_t *expected) {
    if (memcmp(found, expected, PARTS * sizeof *found) == 0) return true;
    print_error("{\"%s\",\n {", name);
    for (int i = 0; i < PARTS; i++)
        print_error("0x%016llxu%s", (unsigned long long)found[i], i + 1 < PARTS ? ", " : "}},\n");
    return false;
}

typedef struct row {
    const char *name;
    uint64_t hash[PARTS];
} row;

static void random_spaces(void **state) {
    (void)state;
    static const row expected[SX_N_KINDS] = {
        {"banks",
         {0x3c0b0ed69b30f25du, 0x972ef6d104e82a73u, 0x5fb31a6ab8bbc738u, 0x0a5371e8bc1a5cb7u,
          0x04fd87372a338aefu, 0x255b2490ff6e7a2bu, 0xe5dc9841456f3273u, 0x2b81925de7ee0eb0u,
          0x40e673f2ab3763b1u, 0xe885340d1dad8b85u, 0xe369e51979f28aabu, 0xc083f785893aa0a7u}},
        {"sparse",
         {0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
          0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
          0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0x75464e29592f0a87u}},
        {"remainders",
         {0xe81ad16cfbdf1fe5u, 0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
          0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0xdc93a2e3f9272964u,
          0xdd41f9606b479bfdu, 0x384534939a8999b8u, 0x7fa96e3e2ec99447u, 0xb11acf80d65c1befu}},
        {"split axes",
         {0x7c58ea4c679a965bu, 0x039e0426d60bdadcu, 0xd285c491d1922d67u, 0x3134dcbca8ee132bu,
          0x0000000000000000u, 0xad6ce98a809246a3u, 0xd7a73789f30668a6u, 0x412696022017acafu,
          0xdd41f9606b479bfdu, 0xa916007c63135cfdu, 0x3682af2dd6b93631u, 0xcd2783918c5a3979u}},
        {"network",
         {0x809e473a01624468u, 0xe837fe21b99d67b1u, 0xffbe604cc5eb174du, 0x51f1c012715a3bcfu,
          0x1236eb6efab1f7b6u, 0x99aa0aff24d1f206u, 0x7d4c90d26c2c4a95u, 0x490b3f96b5dc10abu,
          0xdd41f9606b479bfdu, 0xc9cfd517d5b0bd2bu, 0xfc42320e49f7c82bu, 0xc648d59666d62b15u}},
        {"links",
         {0x76c4eb8b73b6453fu, 0x016f4e9506e5c517u, 0xe6f2cc56493a5a99u, 0xed7a647013530ec7u,
          0x0000000000000000u, 0x685a6798536e606fu, 0x1e5dec634aa73168u, 0x2c50713e5e076eaau,
          0x0cd0d1cc61b595edu, 0xf6b6a9461c0b0a5du, 0xb80b3e838595cd59u, 0x2d14be5a728d21eeu}},
        {"bits",
         {0x69b4fb15d3c89a05u, 0x21f6ad8aea4a272fu, 0xd601c8c973ffe043u, 0x356e1db07788bb28u,
          0x0000000000000000u, 0xbb072309f47c069au, 0x041872e245be4442u, 0x56357aafc3561d0eu,
          0xddf8a618a1d911c9u, 0xb2d39f0cff15fc78u, 0x7dafd861b356a514u, 0xdbd9ce9b8bb9dadau}},
        {"constraints",
         {0xf4f301f1dfc37947u, 0xb564e08f087b1e78u, 0x46819ed0ab964cc8u, 0x477cbe7c41a3a3bcu,
          0x0000000000000000u, 0x3d660428a667e722u, 0x3831f4510dbcb628u, 0x78a253fcc20038f3u,
          0xfd1b6a0f18ecb749u, 0xd61606a7a6c7b84fu, 0xb545b26ce06ba5ddu, 0x2ac3785c7e479c0au}},
        {"least use",
         {0x9cdc3a8bafe357f9u, 0x877e164741a0bf2du, 0x07780c29732ed686u, 0xd10d0e44d45dc62au,
          0x457d5e434b489c1du, 0x775c42ae040bdeedu, 0x94fbac31c6d26550u, 0x2fe37643bec02e12u,
          0xaffab01fd86ef304u, 0xe31f6092b4dfaa25u, 0x255c31a6c9144055u, 0xeaca1616cfbf997eu}},
        {"buffering",
         {0x534666986d2419ffu, 0x4e3df651eb1e3193u, 0xa95c39898110aef8u, 0x5d2868e7ca09c369u,
          0x0000000000000000u, 0xab1a983de3b88163u, 0x180e2ef809630954u, 0x1ab6a6cc266cc635u,
          0xfe96deb6cb514647u, 0x027aa401805aa878u, 0x56cee4f6e7c9ab83u, 0x145ca014d612bcdeu}},
        {"transparent",
         {0x0f938330bf26a870u, 0x0092ac909e81f856u, 0x58d97c809bfd58d6u, 0x55fbcf740c044019u,
          0x0000000000000000u, 0x39da6aeda3c8a8e1u, 0x8165db2ca5a0fc79u, 0x3c2d85f462a5dcbcu,
          0xb446da5c51649508u, 0x9a4d5e4e1a135257u, 0x86711700d0bac6f4u, 0xfb210da86b8280bbu}},
        {"windows",
         {0x607a7ae3eaa46559u, 0xc30d724dfc7cff4au, 0x4d97e3138a34c443u, 0x4552a5f42c156ec2u,
          0x6d1db980c46ea021u, 0x121b40e6795e105bu, 0x0a76e6e8b2d8559du, 0xb861d38842350b8au,
          0x0d49f79bae16eacdu, 0xbfd21dcf9eed3743u, 0xd95bbe5e368743b2u, 0xeba769e3a6323888u}},
        {"quiet",
         {0x62b0a4ac73971090u, 0xe7211335082138fbu, 0xef0130df225defd9u, 0xa75752aead6caf5eu,
          0xc661c51dc5cf7fccu, 0xf71101527c1df7e6u, 0xaa5bbc90bc585d7bu, 0x39bb3ffa523721a2u,
          0x0d49f79bae16eacdu, 0xe6cfed9060ffd3f0u, 0x6e4c0f04c1eb0ff8u, 0x58ac2ffd28c7a84du}},
    };
    bool good = true;
    for (int kind = 0; kind < SX_N_KINDS; kind++) {
        bench b = {.c = NULL};
        for (uint64_t i = 0; i < SPACES; i++) {
            sx_rng rng = sx_rng_stream((uint64_t)kind, "fixed", i);
            sx_small_space small;
            if (kind == SX_KIND_REMAINDERS)
                sx_draw_remainder_space(&rng, &small);
            else
                sx_draw_check_space_of(&rng, (sx_space_kind)kind, &small);
            add_space(&b, &rng, &small);
            sx_small_space_fini(&small);
        }
        good &= is_expected(sx_space_kind_name((sx_space_kind)kind), b.hash, expected[kind].hash);
    }
    assert_true(good);
}

static void spaces_with_links(void **state) {
    (void)state;
    static const row expected = {"linked windows",
                                 {0x2ed5ab31b5e5f6d7u, 0x3bf6b483d4f38a1fu, 0x92176ee12f156e03u,
                                  0xe0d87ea3df75b239u, 0xa1e7ce84888725ecu, 0x7c05ad1c0cac496du,
                                  0x0ae2563384be2547u, 0x32a99e6940644f4bu, 0x3ad22c1b9862aad5u,
                                  0xe4a415f4327907a7u, 0xf9c03028457dc386u, 0x0000000000000000u}};
    bench b = {.c = NULL};
    for (uint64_t i = 0; i < LINK_SPACES; i++) {
        sx_rng rng = sx_rng_stream(0, "fixed links", i);
        sx_small_space small;
        sx_random_link_space(&rng, &small);
        if (i % 2) sx_tame_limits(&small.limits);
        add_link_space(&b, &rng, &small);
        sx_small_space_fini(&small);
    }
    assert_true(is_expected("linked windows", b.hash, expected.hash));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_spaces),
        cmocka_unit_test(spaces_with_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
