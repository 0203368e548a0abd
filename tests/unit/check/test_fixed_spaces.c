/* What the rules of the independent checker come to on fixed spaces and random prices, as hashes. A rule that gets weaker is
 * still true, and shows here alone: hashes are changed on purpose. */
#include "support/check_space.h"
#include "support/expect.h"
#include "support/plain_arch.h"
#include "support/sanitized.h"

#include "base/hash.h"
#include "check/remainders.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LINK_SPACES = 10, PLAIN_SPACES = 12, SPACES = 4, MAPPINGS = 4, EXTENTS = 6, PRICE = 1000 };
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
    WALKS,
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
    sx_independent_options options;
    bool large; /* the space: no walks */
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
    b->work = (sx_check_work){.space = &b->space, .shape = &b->shape, .options = &b->options};
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

/* Adds the points of a lattice, the steps between them, and which flows are told apart. */
static void add_lattice(bench *b) {
    const sx_check_lattice *l = &b->lattice;
    add(b, TABLES, l->step_begin[l->n_points]);
    for (uint32_t i = 0; i < l->step_begin[l->n_points]; i++)
        add(b, TABLES, (int64_t)l->step[i].to << 8 | l->step[i].dim);
    for (int v = 0; v < b->space.n_tensors; v++) {
        add(b, TABLES, l->n_kinds[v]);
        for (int d = 0; d < b->space.n_dims; d++) add(b, TABLES, l->kind[v][d]);
        for (uint32_t p = 0; p < l->n_points; p++) {
            add(b, TABLES, l->idle[v][p]);
            add(b, TABLES, l->base[v][p]);
        }
        for (int i = 0; i < SX_N_HOLDERS; i++) add(b, TABLES, l->least[v][i]);
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
    add_lattice(b);
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

/* Changes one thing of a mapping; most changes make it illegal. */
static void change_mapping(sx_rng *rng, int which, sx_mapping *m) {
    const int s = (int)sx_rng_below(rng, m->n_levels), d = (int)sx_rng_below(rng, m->n_dims),
              other = (int)sx_rng_below(rng, m->n_dims);
    const uint8_t tensor = (uint8_t)(1u << sx_rng_below(rng, m->n_tensors));
    sx_mapping_level *at = &m->level[s];
    switch (which) {
    case 0:
        at->temporal[d] *= 2;
        break;
    case 1:
        at->spatial[d] *= 2;
        break;
    case 2:
        at->keep ^= tensor;
        break;
    case 3:
        for (int i = 0; i < m->n_levels; i++) m->level[i].keep &= (uint8_t)~tensor;
        break;
    case 4:
        at->temporal[d] = 0;
        break;
    case 5:
        at->spatial[d] = 0;
        break;
    case 6:
        at->temporal[d] = (at->temporal[d] + 1) / 2;
        break;
    case 7:
        at->temporal_order[d] = at->temporal_order[other];
        break;
    case 8:
        at->spatial_order[d] = at->spatial_order[other];
        break;
    case 9:
        at->split = (uint8_t)sx_rng_below(rng, m->n_dims + 2u);
        break;
    case 10:
        at->x_part = 2;
        break;
    case 11:
        at->no_multicast ^= tensor;
        break;
    case 12:
        at->no_temporal_reuse ^= tensor;
        break;
    case 13:
        at->no_link_transfer ^= tensor;
        break;
    case 14:
        at->rmw_first_update ^= tensor;
        break;
    case 15:
        sx_rng_shuffle(rng, at->spatial_order, m->n_dims);
        break;
    case 16:
        sx_rng_shuffle(rng, at->temporal_order, m->n_dims);
        break;
    case 17:
        m->n_levels--;
        break;
    case 18:
        m->n_dims--;
        break;
    case 19:
        m->n_tensors--;
        break;
    }
}

/* Adds the cost of a mapping, and why others like it are illegal. */
static void add_costs(bench *b, sx_rng *rng, const sx_mapping *mapping) {
    enum { CHANGES = 20 };
    for (int i = -1; i < CHANGES; i++) {
        sx_check_doubt doubt = {""};
        sx_check_cost cost = {0};
        sx_mapping other = *mapping;
        change_mapping(rng, i, &other);
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

/* Adds what a walk found, and what it took. */
static void add_found(bench *b, const sx_check_found *found) {
    sx_expect_ok(found->status);
    const uint64_t count[] = {found->walked, found->steps, b->work.evaluations, found->below, found->rounded};
    for (size_t i = 0; i < sizeof count / sizeof *count; i++) add(b, WALKS, (int64_t)count[i]);
    add_wide(b, WALKS, found->cost.energy);
    add(b, WALKS, found->cost.cycles);
    add_text(b, WALKS, found->doubt.why);
}

/* Adds walks over the mappings of an outline before targets around the cost of one of them. */
static void add_walks(bench *b, const sx_mapping *mapping) {
    static const sx_check_goal goals[] = {{1, 1}, {0, 1}, {2, 1}};
    static const int64_t shares[] = {700, 1000, 1001};
    sx_check_cost cost = {0};
    sx_check_doubt doubt = {""};
    if (sx_check_evaluate(b->c, mapping, &cost, &doubt) != SX_COST_LEGAL) return;
    b->work.latency = 0;
    for (int s = 0; s < b->space.n_levels; s++)
        b->work.latency += b->c->machine.level[s].fill_latency + b->c->machine.level[s].drain_latency;
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++)
        for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
            sx_check_found found = {0};
            set_target(&b->work.target, goals[i], cost.energy, cost.cycles, shares[k]);
            b->work.evaluations = 0;
            sx_check_walk(&b->work, &b->lattice, &b->o, &found);
            add_found(b, &found);
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

/* Adds T12 of a pair, and the bound over all pairs, before targets around the cost of a mapping. */
static void add_remainder_walks(bench *b, const sx_check_pair *pair, const sx_mapping *mapping) {
    static const sx_check_goal goals[] = {{1, 1}, {0, 1}, {1, 0}};
    static const int64_t shares[] = {700, 950, 1001};
    sx_check_cost cost = {0};
    sx_check_doubt doubt = {""};
    sx_wide least;
    if (sx_check_evaluate(b->c, mapping, &cost, &doubt) != SX_COST_LEGAL) return;
    sx_check_energy_prices(b->c, &b->work.energy);
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++)
        for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
            sx_check_found found = {0}, all = {0};
            bool closed = false;
            set_target(&b->work.target, goals[i], cost.energy, cost.cycles, shares[k]);
            b->work.evaluations = 0;
            if (sx_check_may_walk_remainders(&b->work))
                sx_expect_ok(sx_check_walk_remainders(&b->work, pair, &found, &closed));
            add_found(b, &found);
            add(b, WALKS, closed);
            sx_expect_ok(sx_check_remainders(&b->work, b->work.target.value, &all, &least));
            add_found(b, &all);
            add_wide(b, WALKS, least);
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
    if (b->c->remainders && !b->large) add_remainder_walks(b, &pair, mapping);
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
            if (!b->large) add_walks(b, mapping);
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
static void add_large_space(bench *b, sx_rng *rng, const sx_small_space *small) {
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

typedef struct row {
    const char *name;
    uint64_t hash[PARTS];
} row;

static void random_spaces(void **state) {
    (void)state;
    static const row expected[SX_N_KINDS] = {
        {"banks",
         {0x3c0b0ed69b30f25du, 0x270dfe7c7e1657c2u, 0x63b01ebc4eaad01fu, 0x4e431392824e2ce0u,
          0x547aece321220ffdu, 0x55070e74228b8922u, 0xee359f53a65905ceu, 0xfbe835d9ede19a7au,
          0x40e673f2ab3763b1u, 0x58e497b79a28fca5u, 0x894b97a81ad9d1e5u, 0x5df54c12b58a37c5u,
          0xbc8868d24083d30eu}},
        {"sparse",
         {0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
          0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
          0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
          0x75464e29592f0a87u}},
        {"remainders",
         {0xe81ad16cfbdf1fe5u, 0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
          0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0xdb1b98f1a168bbdcu,
          0xdd41f9606b479bfdu, 0xad1cd1db86888560u, 0xf466694c995a38bbu, 0xa012f4bf6078d71bu,
          0x179736af55a4f1b0u}},
        {"split axes",
         {0x7c58ea4c679a965bu, 0x27fc6d6e564cea60u, 0x2c8549b309c9dc73u, 0xe338e5da916c9726u,
          0x0000000000000000u, 0x3cbed670ab44522eu, 0xa50ed29735617bc1u, 0xd33b78682ebcf516u,
          0xdd41f9606b479bfdu, 0xab8210cccc49e2feu, 0x55d4e7aeb1af413au, 0x19429450cd41077cu,
          0x66968969f5cf8c6bu}},
        {"network",
         {0x809e473a01624468u, 0x287453591b0bf175u, 0x5a3a65e53504f926u, 0x1c3325e6bdd68311u,
          0xd33a96851881c1bbu, 0xe45338b646894940u, 0x1716a9417ec99e6du, 0xaf0504cec483ca6eu,
          0xdd41f9606b479bfdu, 0xb714c22c82589874u, 0x2966220abb0f55a8u, 0x10985471ee9a337eu,
          0xa86263a8c5a94d4eu}},
        {"links",
         {0x76c4eb8b73b6453fu, 0xc71b223eeb561423u, 0x948e1ff7a995aab1u, 0x4c7452122cf68d4fu,
          0x0000000000000000u, 0xebbe3abcdb878077u, 0xb37758fbc50c9619u, 0xa529c6647f792ca5u,
          0x0cd0d1cc61b595edu, 0x2274888d66cf3100u, 0x03a5f89e1a0367c4u, 0xa1217ced2e0d9d8cu,
          0x8fcf78a6f1cfb027u}},
        {"bits",
         {0x69b4fb15d3c89a05u, 0x0e1340d737111c0au, 0xac4c52e069c1fbbfu, 0x382bc5119990efe2u,
          0x0000000000000000u, 0x3dfc27e684a5011bu, 0x1832dfa6cc5a41cbu, 0x2b07a72ad91fa923u,
          0xddf8a618a1d911c9u, 0x8637c7efc96e021bu, 0x662ac4cff2cd2a47u, 0x0ff5fbb166624329u,
          0xb5759b31aab83567u}},
        {"constraints",
         {0xf4f301f1dfc37947u, 0xc258b469b31c8097u, 0x4ea6a25e5d6879a3u, 0x8161746fd0cbea6eu,
          0x0000000000000000u, 0x246e0cdbde9c8498u, 0x029cd4e65101cbcdu, 0xb2cfaecb8a4b2a12u,
          0xfd1b6a0f18ecb749u, 0x60dfca557f909334u, 0x14738fc9db12aab8u, 0xe4b5ee8cd1c55e66u,
          0xe90c3ca8b0bcb12du}},
        {"least use",
         {0x9cdc3a8bafe357f9u, 0x9d7094d0d4909f1eu, 0x0c16ecf4a300b406u, 0x6bd4bf9df4742765u,
          0xc2bc18e844926103u, 0xa305e5f66ce453b1u, 0x1fab4d3a9682b43fu, 0xc440380d4a2468d8u,
          0xaffab01fd86ef304u, 0xdbe338b42376b1c0u, 0x26dfccf9772e2af3u, 0x7bf2e19f2647d6b3u,
          0x62ee26e838b10074u}},
        {"buffering",
         {0x534666986d2419ffu, 0x10b3e7bd252a3cdcu, 0xd13d93ae96dda838u, 0x459293cfaa0f3011u,
          0x0000000000000000u, 0x5a918d208fffac59u, 0x899c6cf05aee7ba3u, 0x5a8ab7e77673d6adu,
          0xfe96deb6cb514647u, 0xf9d3ada535c0496fu, 0x1da70e521e48f79du, 0x20bd603a929631bdu,
          0x96644e3c8f144927u}},
        {"transparent",
         {0x0f938330bf26a870u, 0x82d9ca54adc75bb0u, 0xc0e6d2512b1b2758u, 0x0a90b9ff859ac29cu,
          0x0000000000000000u, 0xb7d492833c05a2d5u, 0xaf2b4dbea3690a6bu, 0xe815f5af3b76a547u,
          0xb446da5c51649508u, 0xe7b29474cb382cacu, 0x3cded119ae814ad7u, 0x96b12f9371a9dc32u,
          0xdfbbf6da144ce3d5u}},
        {"windows",
         {0x607a7ae3eaa46559u, 0x458f89148fb84e40u, 0x9201c1468ee98916u, 0x2d6c5e27f7c02708u,
          0x4560c7dd11c50821u, 0xd43eee99793984bbu, 0xeb5cd38d9ac8c9b7u, 0xfc3618eba8872a05u,
          0x0d49f79bae16eacdu, 0xbfd21dcf9eed3743u, 0x5e5f82086cf1c26bu, 0xf894e7d4bcbc6ee3u,
          0x5752770ad445ca1eu}},
        {"quiet",
         {0x62b0a4ac73971090u, 0x7518be24e77a2675u, 0x014b8abcf595ab70u, 0x785cd485e750db14u,
          0x5eeca8c88728c4d5u, 0x00fb9df6d12dd5c0u, 0x83d5ce9dd3e9398cu, 0x0a785524fc43c378u,
          0x0d49f79bae16eacdu, 0x2ebbea81fbec2dcfu, 0x8f2acaf5446cdf3au, 0xcdcc5e9c38d43ab5u,
          0x1185d175d0c7e393u}},
    };
    bool good = true;
    for (int kind = 0; kind < SX_N_KINDS; kind += SX_SANITIZED ? 3 : 1) {
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
        good &= sx_is_recorded(sx_space_kind_name((sx_space_kind)kind), b.hash, expected[kind].hash, PARTS);
    }
    assert_true(good);
}

static void spaces_with_links(void **state) {
    (void)state;
    static const row expected = {"linked windows",
                                 {0x2ed5ab31b5e5f6d7u, 0x362e79bb2d1e6edbu, 0x50ec2f917205c94fu,
                                  0xeed93d57bfb43ba5u, 0x1def17cac38f239cu, 0x36b506d4e030d613u,
                                  0x342b1f3bafa86d94u, 0xebb7f71bf628bc1eu, 0x3ad22c1b9862aad5u,
                                  0xe4a415f4327907a7u, 0x017f0c031026ffd9u, 0x0000000000000000u,
                                  0x0000000000000000u}};
    bench b = {.large = true};
    for (uint64_t i = 0; i < LINK_SPACES; i++) {
        sx_rng rng = sx_rng_stream(0, "fixed links", i);
        sx_small_space small;
        sx_random_link_space(&rng, &small);
        if (i % 2) sx_tame_limits(&small.limits);
        add_large_space(&b, &rng, &small);
        sx_small_space_fini(&small);
    }
    assert_true(sx_is_recorded("linked windows", b.hash, expected.hash, PARTS));
}

/* Spaces with remainders of tensors without windows, and memories with little room. */
static void plain_spaces_with_remainders(void **state) {
    (void)state;
    static const row expected = {"plain remainders",
                                 {0x83c1efe05bfebce6u, 0x0000000000000000u, 0x0000000000000000u,
                                  0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
                                  0x0000000000000000u, 0xadcebfe44c80f7bcu, 0xa62d7a7973e952d2u,
                                  0x878b5e31a9d9ea84u, 0xea3ca1062f038d27u, 0xafd8283fea6ad48au,
                                  0x071d454b1ef55084u}};
    bench b = {.c = NULL};
    for (uint64_t i = 0; i < PLAIN_SPACES; i++) {
        sx_rng rng = sx_rng_stream(0, "fixed plain", i);
        sx_small_space small;
        sx_random_plain_space(&rng, SX_MOST_MAPPINGS, &small);
        add_space(&b, &rng, &small);
        sx_small_space_fini(&small);
    }
    assert_true(sx_is_recorded("plain remainders", b.hash, expected.hash, PARTS));
}

/* Problems with so many tiles that only some of them are tried, and with about as many as can be tried at all. */
static void large_spaces_with_remainders(void **state) {
    (void)state;
    static const struct {
        const char *einsum;
        unsigned room;
        row expected;
    } cases[] = {
        {"O[m,n] += A[m,k]*B[k,n] {m:3000,n:5000,k:4096}",
         40000,
         {"three",
          {0xf4f12d3006406843u, 0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
           0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0x16dd48d0aca813ccu,
           0x21e66e27d06ade84u, 0x9b2b7e88501db9f9u, 0xad80d4178b9fb649u, 0x0000000000000000u,
           0x0000000000000000u}}},
        {"O[m,n] += A[m,k]*B[k,n] {m:70,n:300,k:90}",
         200,
         {"few",
          {0xf4f12d3006406843u, 0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
           0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0xfbeabae5f5de3563u,
           0xf2acbc75abf8b8afu, 0xbc9c8d658639b93au, 0xa15d09fb7b4854beu, 0x0000000000000000u,
           0x0000000000000000u}}},
        {"O[p] += I[p+r]*W[r] {p:1000000,r:100}",
         30,
         {"window",
          {0x5732cd95fe97d6acu, 0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
           0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0x7ee2d1ba5d8c4375u,
           0xb53745fd1d9436e3u, 0x9ec3ee9d1425d35cu, 0x4d6b98d8b5dfbc55u, 0x0000000000000000u,
           0x0000000000000000u}}},
        {"O[p] += I[2*p+r]*W[r] {p:60000,r:90}",
         25,
         {"stride",
          {0x5732cd95fe97d6acu, 0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
           0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0x5f9d2f42aa37ed3au,
           0xfd15ecaa439b94d9u, 0x9ec3ee9d1425d35cu, 0x7aaff08dc694f2e8u, 0x0000000000000000u,
           0x0000000000000000u}}},
        {"O[p] += I[2*p+r]*W[r] {p:100000,r:70}",
         25,
         {"long stride",
          {0x5732cd95fe97d6acu, 0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
           0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0x10e8801f33246270u,
           0x0cd0d1cc61b595edu, 0x9ec3ee9d1425d35cu, 0x988f27e1a54c1deeu, 0x0000000000000000u,
           0x0000000000000000u}}},
        {"O[n,p] += I[n,2*p+r]*W[r,n] {n:100,p:3000,r:40}",
         150,
         {"strides",
          {0xc5a305c3ba93c3e0u, 0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
           0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0x5f32a3d70fbd6a71u,
           0x0cd0d1cc61b595edu, 0x9ec3ee9d1425d35cu, 0x93f5728c9518d3edu, 0x0000000000000000u,
           0x0000000000000000u}}},
        {"O[p] += I[p,p+r]*W[r] {p:4000,r:50}",
         40,
         {"diagonal",
          {0x1a1bb4f4e7ca213eu, 0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
           0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0x9a88bb4f1071cd24u,
           0xc10ce09790224d58u, 0x9ec3ee9d1425d35cu, 0xbef14dcccccc480fu, 0x0000000000000000u,
           0x0000000000000000u}}},
        {"O[p,q] += I[p,p+q+r]*W[r] {p:1,q:5000,r:40}",
         40,
         {"diagonal of one",
          {0xec48d687811f0ab7u, 0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
           0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0xc855ffe1f4cdf872u,
           0x7f4d07992c03a3f9u, 0x9ec3ee9d1425d35cu, 0x96cb196cce05c9f7u, 0x0000000000000000u,
           0x0000000000000000u}}},
    };
    const sx_map_space_options options = {.remainders = true, .keep_all = true};
    bool good = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench b = {.large = true};
        sx_rng rng = sx_rng_stream(i, "fixed large", 0);
        sx_small_space small;
        sx_arch arch;
        sx_plain_arch(&arch, 3);
        arch.level[0].entries = cases[i].room;
        arch.level[1].entries = (uint64_t)cases[i].room * 4;
        sx_space_on(cases[i].einsum, &arch, &options, &small);
        add_large_space(&b, &rng, &small);
        sx_small_space_fini(&small);
        good &= sx_is_recorded(cases[i].expected.name, b.hash, cases[i].expected.hash, PARTS);
    }
    assert_true(good);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_spaces),
        cmocka_unit_test(spaces_with_links),
        cmocka_unit_test(plain_spaces_with_remainders),
        cmocka_unit_test(large_spaces_with_remainders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
