/* Single rules of the independent checker (docs/proof.md) on problems small enough to count by hand. */
#include "check/remainders.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { A, B, O }; /* tensors: inputs, output */
enum { M, N, K }; /* dimensions of a matrix product; of a convolution P, R */
enum { P, R };

/* A problem on two levels: a memory for each of some children, and one behind them. */
typedef struct fixture {
    sx_check_case c;
    sx_check_space space;
    sx_check_shape shape;
    sx_check_spatial spatial;
    sx_check_outline o;
    sx_check_prices prices;
    sx_check_lattice lattice;
    sx_check_work work;
} fixture;

/* Sets all that a machine and its limits need; `fanout` children of the outer level on X, with `room` words each. */
static void set_machine(sx_check_case *c, int64_t fanout, int64_t room) {
    c->machine.n_levels = 2;
    c->machine.scale = 1;
    c->machine.compute_mesh[0] = fanout;
    c->machine.compute_mesh[1] = 1;
    for (int s = 0; s < 2; s++) {
        sx_check_level *level = &c->machine.level[s];
        sx_level_limits *limits = &c->limits.level[s];
        *level = (sx_check_level){.mesh = {s ? 1 : fanout, 1},
                                  .fanout = {s ? fanout : 1, 1},
                                  .entries = s ? -1 : room,
                                  .usable = s ? -1 : room,
                                  .word_bits = 16,
                                  .block_size = 1,
                                  .cluster_size = 1,
                                  .min_utilization = {0, 1},
                                  .gate = s,
                                  .may = (1u << c->problem.n_tensors) - 1};
        for (int v = 0; v < SX_MAX_TENSORS; v++) level->port_scale[v] = (sx_ratio){1, 1};
        c->shares[s].min_utilization = c->shares[s].min_parallelism = (sx_ratio){0, 1};
        limits->split = -1;
        for (int d = 0; d < SX_MAX_DIMS; d++) {
            limits->temporal.min[d] = limits->spatial.min[d] = 1;
            limits->temporal.max[d] = limits->spatial.max[d] = 1 << 30;
        }
    }
}

/* The product O[m,n] += A[m,k] * B[k,n]. */
static void set_product(sx_problem *problem, uint32_t m, uint32_t n, uint32_t k) {
    static const int dims[3][2] = {{M, K}, {K, N}, {M, N}};
    problem->n_dims = 3;
    problem->n_tensors = 3;
    problem->size[M] = m;
    problem->size[N] = n;
    problem->size[K] = k;
    for (int v = 0; v < 3; v++) {
        problem->tensor[v].n_ranks = 2;
        problem->tensor[v].output = v == O;
        for (int r = 0; r < 2; r++) problem->tensor[v].coef[r][dims[v][r]] = 1;
    }
}

/* The convolution O[p] += A[stride * p + r] * B[r]. */
static void set_convolution(sx_problem *problem, uint32_t p, uint32_t r, int32_t stride) {
    problem->n_dims = 2;
    problem->n_tensors = 3;
    problem->size[P] = p;
    problem->size[R] = r;
    for (int v = 0; v < 3; v++) problem->tensor[v].n_ranks = 1;
    problem->tensor[A].coef[0][P] = stride;
    problem->tensor[A].coef[0][R] = 1;
    problem->tensor[B].coef[0][R] = 1;
    problem->tensor[O].coef[0][P] = 1;
    problem->tensor[O].output = true;
}

/* Makes the outline of a case's machine in which all levels keep all tensors and children are spread over dimensions. */
static fixture *make_fixture(void set(sx_check_case *c), const int64_t *spread) {
    fixture *f = calloc(1, sizeof *f);
    sx_check_doubt doubt = {""};
    assert_non_null(f);
    set(&f->c);
    sx_expect_ok(sx_check_space_init(&f->space, &f->c));
    sx_check_shape_init(&f->shape, &f->c, &doubt);
    assert_string_equal(doubt.why, "");
    for (int s = 0; s < SX_MAX_LEVELS; s++)
        for (int d = 0; d < SX_MAX_DIMS; d++) f->spatial.factor[s][d] = 1;
    for (int d = 0; d < f->c.problem.n_dims; d++) f->spatial.factor[1][d] = spread ? spread[d] : 1;
    f->o =
        (sx_check_outline){.space = &f->space, .shape = &f->shape, .spatial = &f->spatial, .keep = {7, 7, 7}};
    sx_check_outline_spread(&f->o);
    sx_expect_ok(sx_check_find_links(&f->o));
    sx_check_find_neighbours(&f->o);
    f->work = (sx_check_work){.space = &f->space, .shape = &f->shape};
    return f;
}

static void free_fixture(fixture *f) {
    sx_check_lattice_fini(&f->lattice);
    sx_check_space_fini(&f->space);
    free(f);
}

static const int64_t ones[SX_MAX_DIMS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static void set_4_6_8(sx_check_case *c) {
    set_product(&c->problem, 4, 6, 8);
    set_machine(c, 4, 1000);
}

/* T0: a pass of an input is its words, read outside once for all copies and filled for each; an output's are updated, too. */
static void flows_are_words_and_copies(void **state) {
    (void)state;
    fixture *f = make_fixture(set_4_6_8, (const int64_t[]){2, 1, 1});
    f->prices.of[1][A][SX_READ] = f->prices.of[1][B][SX_READ] = f->prices.of[1][O][SX_READ] = 100;
    f->prices.of[1][O][SX_UPDATE] = 1000;
    f->prices.of[0][A][SX_FILL] = f->prices.of[0][B][SX_FILL] = f->prices.of[0][O][SX_FILL] = 1;
    assert_int_equal(sx_check_flow(&f->o, &f->prices, A, 1, ones), 32 * 100 + 32);
    assert_int_equal(sx_check_flow(&f->o, &f->prices, B, 1, ones), 48 * 100 + 2 * 48);
    assert_int_equal(sx_check_flow(&f->o, &f->prices, O, 1, ones), 24 * 1100 + 24);
    /* T1: all of it, once. */
    assert_int_equal(sx_check_compulsory(&f->o, &f->prices), 32 * 101 + 48 * 102 + 24 * 1101);
    /* First reads at both levels and first fills of the inner one are spared. */
    assert_true(sx_check_constant(&f->o, &f->prices) == -(24 * 100 + 24));
    assert_int_equal(f->o.steps, 4 * 6 * 8 / 2);
    free_fixture(f);
}

/* T0: compute units take a word of each tensor at every step. */
static void units_take_words_at_every_step(void **state) {
    (void)state;
    fixture *f = make_fixture(set_4_6_8, NULL);
    f->prices.of[0][A][SX_READ] = 1;
    f->prices.of[0][B][SX_READ] = 10;
    f->prices.of[0][O][SX_UPDATE] = 100;
    f->prices.of[0][O][SX_READ] = 1000;
    assert_true(sx_check_constant(&f->o, &f->prices) == 192 * 1111 - 24 * 1000);
    free_fixture(f);
}

/* Words of the flows of a product of 2 x 2 x 2 by T3, where a level has some room; of inputs reads, of the output updates. */
static int64_t solve_product(int64_t room) {
    int64_t out;
    fixture *f = calloc(1, sizeof *f);
    sx_check_doubt doubt = {""};
    assert_non_null(f);
    set_product(&f->c.problem, 2, 2, 2);
    set_machine(&f->c, 1, room);
    sx_expect_ok(sx_check_space_init(&f->space, &f->c));
    sx_check_shape_init(&f->shape, &f->c, &doubt);
    for (int s = 0; s < 2; s++)
        for (int d = 0; d < 3; d++) f->spatial.factor[s][d] = 1;
    f->o = (sx_check_outline){.space = &f->space, .shape = &f->shape, .spatial = &f->spatial, .keep = {7, 7}};
    sx_check_outline_spread(&f->o);
    f->prices.of[1][A][SX_READ] = f->prices.of[1][B][SX_READ] = f->prices.of[1][O][SX_UPDATE] = 1;
    sx_expect_ok(sx_check_lattice_points(&f->lattice, &f->o));
    sx_expect_ok(sx_check_lattice_solve(&f->lattice, &f->o, &f->prices, SX_CHECK_NONE, &out));
    sx_expect_ok(sx_check_lattice_tables(&f->lattice));
    if (out < SX_CHECK_NONE) assert_int_equal(f->lattice.rest[0][sx_check_first_state(&f->lattice)], out);
    free_fixture(f);
    return out;
}

/* T3: with room for all of a tensor and a column each moves once; with room for a word of each one tensor waits
 * and the others move twice. */
static void tiles_and_orders_are_shortest_paths(void **state) {
    (void)state;
    assert_int_equal(solve_product(12), 12);
    assert_int_equal(solve_product(8), 12);
    assert_int_equal(solve_product(7), 16);
    assert_int_equal(solve_product(5), 16);
    assert_int_equal(solve_product(4), 20);
    assert_int_equal(solve_product(3), 20);
    assert_true(solve_product(2) == SX_CHECK_NONE);
}

static void set_narrow(sx_check_case *c) {
    set_product(&c->problem, 2, 2, 2);
    set_machine(c, 1, 3);
    c->machine.level[1].port[SX_PORT_READ] = (sx_ratio){1, 2};
}

/* T4: with room for a word of each, the port reads 16 words at the least, of half a word a cycle. */
static void ports_take_their_time(void **state) {
    (void)state;
    fixture *f = make_fixture(set_narrow, NULL);
    bool closed;
    sx_expect_ok(sx_check_lattice_points(&f->lattice, &f->o));
    f->work.target.goal = (sx_check_goal){0, 1};
    f->work.target.value = 32;
    sx_expect_ok(sx_check_ports(&f->work, &f->lattice, &f->o, 0, &closed));
    assert_true(closed);
    f->work.target.value = 33;
    sx_expect_ok(sx_check_ports(&f->work, &f->lattice, &f->o, 0, &closed));
    assert_false(closed);
    free_fixture(f);
}

static void set_narrow_with_computes(sx_check_case *c) {
    set_narrow(c);
    c->machine.compute_energy = 1;
}

/* T4: 8 multiply-accumulates and 32 cycles of the port come to a product of 256, neither alone nor with fewer cycles. */
static void ports_add_to_what_all_mappings_cost(void **state) {
    (void)state;
    fixture *f = make_fixture(set_narrow_with_computes, NULL);
    bool closed;
    sx_expect_ok(sx_check_lattice_points(&f->lattice, &f->o));
    f->work.target.goal = (sx_check_goal){1, 1};
    for (int more = 0; more < 2; more++) {
        f->work.target.value = 256 + more;
        sx_expect_ok(sx_check_ports(&f->work, &f->lattice, &f->o, 8, &closed));
        assert_int_equal(closed, !more);
    }
    free_fixture(f);
}

static void set_window(sx_check_case *c) {
    set_convolution(&c->problem, 4, 3, 1);
    set_machine(c, 2, 1000);
}

/* T5: a window of 4 words that slides by 2 fetches 4 and then 2; as fast as it is long, it fetches all. */
static void windows_slide(void **state) {
    (void)state;
    fixture *f = make_fixture(set_window, NULL);
    f->prices.of[1][A][SX_READ] = 1;
    assert_int_equal(sx_check_slide(&f->o, &f->prices, A, 1, 1, P, 0, (const int64_t[]){2, 3}), 6);
    assert_int_equal(sx_check_slide(&f->o, &f->prices, A, 1, 1, P, 0, (const int64_t[]){1, 3}), 6);
    assert_int_equal(sx_check_slide(&f->o, &f->prices, A, 1, 1, R, 0, (const int64_t[]){4, 1}), 6);
    /* Loops on both dimensions are left: 12 visits of a word. */
    assert_int_equal(sx_check_slide(&f->o, &f->prices, A, 1, 1, P, 4, (const int64_t[]){1, 1}), 10);
    assert_int_equal(sx_check_slide(&f->o, &f->prices, A, 1, 1, P, 2, (const int64_t[]){1, 1}), 7);
    /* A loop of an inner level may have the smallest prime of what is left. */
    f->prices.of[0][A][SX_READ] = 1;
    assert_int_equal(sx_check_slide(&f->o, &f->prices, A, SX_UNITS, 0, P, 0, ones), 7);
    free_fixture(f);
}

static void set_wide_stride(sx_check_case *c) {
    set_convolution(&c->problem, 2, 4, 3);
    set_machine(c, 2, 1000);
}

/* T6: neighbours are 3 words apart, and a loop on r moves by one: none is helped if it is the only one on r. */
static void one_loop_moves_past_neighbours(void **state) {
    (void)state;
    fixture *f = make_fixture(set_wide_stride, (const int64_t[]){2, 1});
    f->prices.of[1][A][SX_READ] = 1;
    assert_int_equal(sx_check_slide(&f->o, &f->prices, A, 1, 1, R, 4, ones), 8);
    assert_true(sx_check_slide(&f->o, &f->prices, A, 1, 1, R, 2, ones) < 8);
    free_fixture(f);
}

/* T6: children that stand apart along a window are neighbours by one place; where the tile moves further than that, none is
 * helped, and where it moves by that, one of two is not. */
static void neighbours_help(void **state) {
    (void)state;
    fixture *f = make_fixture(set_window, (const int64_t[]){2, 1});
    f->prices.of[1][A][SX_READ] = 1;
    assert_int_equal(f->o.near[0].n, 0);
    assert_int_equal(f->o.near[1].n, 1);
    assert_int_equal(f->o.near[1].by[0][P], 1);
    assert_int_equal(f->o.near[1].by[0][R], 0);
    assert_false(f->o.linked[A]);
    /* Tiles of a word, apart by 1, which a loop of 3 on r moves by 1: 2 of 3 visits, and one for each of 6 that are left. */
    int64_t helped = sx_check_slide(&f->o, &f->prices, A, 1, 1, R, 3, ones);
    f->c.no_link_transfers = true;
    int64_t alone = sx_check_slide(&f->o, &f->prices, A, 1, 1, R, 3, ones);
    assert_int_equal(alone, 10);
    assert_true(helped < alone && helped >= 4);
    free_fixture(f);
}

static void set_twice(sx_check_case *c) {
    set_convolution(&c->problem, 4, 3, 1);
    c->problem.tensor[A].n_ranks = 2;
    c->problem.tensor[A].coef[1][P] = 1;
    set_machine(c, 1, 1000);
}

/* T9: a tensor with a dimension of a window in a second rank, A[p + r, p], counts nothing. */
static void windows_in_two_ranks_count_nothing(void **state) {
    (void)state;
    fixture *f = make_fixture(set_twice, NULL);
    f->prices.of[1][A][SX_READ] = f->prices.of[1][B][SX_READ] = 1;
    assert_int_equal(f->shape.free, 1u << A);
    assert_int_equal(sx_check_flow(&f->o, &f->prices, A, 1, ones), 0);
    assert_int_equal(sx_check_slide(&f->o, &f->prices, A, 1, 1, P, 0, ones), 0);
    assert_int_equal(sx_check_flow(&f->o, &f->prices, B, 1, ones), 3);
    free_fixture(f);
}

static void set_units(sx_check_case *c) {
    set_product(&c->problem, 2, 2, 2);
    set_machine(c, 1, 1000);
    c->machine.compute_mesh[0] = c->machine.level[0].fanout[0] = 4;
}

/* T6: units in a row have the same word of B next to each other, and of A two places apart: only those of B help each other,
 * unless each is a group of its own. */
static void units_help_neighbours_of_their_group(void **state) {
    (void)state;
    fixture *f = make_fixture(set_units, NULL);
    f->spatial.factor[0][M] = f->spatial.factor[0][N] = 2;
    sx_check_outline_spread(&f->o);
    sx_expect_ok(sx_check_find_links(&f->o));
    assert_true(f->o.linked[B] && !f->o.linked[A] && !f->o.linked[O]);
    f->c.limits.level[0].no_multicast = 1u << A;
    sx_expect_ok(sx_check_find_links(&f->o));
    assert_true(f->o.linked[B] && f->o.linked[A]);
    f->c.no_link_transfers = true;
    sx_expect_ok(sx_check_find_links(&f->o));
    assert_false(f->o.linked[B]);
    free_fixture(f);
}

/* Fronts: a port closes a box where the energy at the cycles before the next point reaches that of its point, and not one
 * unit of energy further. */
static void ports_close_boxes(void **state) {
    (void)state;
    fixture *f = make_fixture(set_narrow, NULL);
    const int64_t price = 6,
                  cycles = 20; /* half a word in each of the cycles up to 19 costs 57 at the most */
    sx_check_prices prices;
    sx_check_corner corner[2] = {{.cycles = 8}, {.cycles = cycles}};
    int64_t flows;
    bool closed;
    for (int v = 0; v < 3; v++) f->work.energy.of[0][v][SX_READ] = 10;
    prices = f->work.energy;
    for (int v = 0; v < 3; v++) prices.of[1][v][SX_READ] += price;
    sx_expect_ok(sx_check_lattice_points(&f->lattice, &f->o));
    sx_expect_ok(sx_check_lattice_solve(&f->lattice, &f->o, &prices, SX_CHECK_NONE, &flows));
    sx_wide bound = sx_check_constant(&f->o, &prices) + flows;
    f->work.target.n_corners = 2;
    f->work.target.corner = corner;
    for (int more = 0; more < 2; more++) {
        corner[0].energy = bound - price * (cycles - 1) / 2 + more;
        corner[1].energy = corner[0].energy - price * (cycles - 8) / 2;
        sx_expect_ok(sx_check_ports(&f->work, &f->lattice, &f->o, corner[1].energy, &closed));
        assert_int_equal(closed, !more);
    }
    free_fixture(f);
}

/* Makes a mapping of a case and its cost a point: all loops are at the outer level, in the order of the dimensions, k over
 * some children; the inner level keeps `keep`. */
static void set_point(const sx_check_case *c, unsigned keep, uint32_t children, sx_check_point *out) {
    sx_check_doubt doubt = {""};
    sx_check_cost cost;
    sx_mapping *m = &out->mapping;
    m->n_levels = 2;
    m->n_dims = c->problem.n_dims;
    m->n_tensors = c->problem.n_tensors;
    for (int s = 0; s < 2; s++) {
        m->level[s].keep = (uint8_t)(s ? c->machine.level[1].may : keep);
        m->level[s].no_temporal_reuse = c->limits.level[s].no_temporal_reuse;
        for (int d = 0; d < m->n_dims; d++) {
            m->level[s].spatial[d] = 1;
            m->level[s].temporal[d] = s ? c->problem.size[d] : 1;
            m->level[s].spatial_order[d] = m->level[s].temporal_order[d] = (uint8_t)d;
        }
    }
    m->level[1].spatial[K] = children;
    m->level[1].temporal[K] /= children;
    m->level[1].split = m->n_dims;
    assert_int_equal(sx_check_evaluate(c, m, &cost, &doubt), SX_COST_LEGAL);
    out->energy_pj = (double)cost.energy;
    out->cycles = (double)cost.cycles;
}

/* Claims that a case's best mapping, or its front, is optimal, and checks it. */
static sx_independent_report check_claim(sx_check_case *c, const sx_check_trial *trial) {
    const sx_independent_options options = {.threads = 1};
    sx_independent_report report;
    sx_check_doubt doubt = {""};
    c->claim.goal = (sx_check_goal){1, 1};
    c->claim.optimal = true;
    c->claim.value = c->claim.lower_bound = c->best.energy_pj * c->best.cycles;
    sx_expect_ok(sx_check_decide(c, &options, trial, &doubt, &report));
    return report;
}

/* What hops and routers of the network below a level cost adds up; where no word is shared out in parts, the model's doubles
 * come to the same. */
static void hops_and_routers_add_up(void **state) {
    (void)state;
    sx_wide energy[4];
    sx_check_case *c = calloc(1, sizeof *c);
    assert_non_null(c);
    set_product(&c->problem, 2, 3, 8);
    set_machine(c, 4, 100);
    for (int i = 0; i < 4; i++) {
        sx_check_doubt doubt = {""};
        sx_check_cost cost;
        c->machine.level[1].hop = i & 1 ? 300 : 0;
        c->machine.level[1].router = i & 2 ? 700 : 0;
        set_point(c, 7, 4, &c->best);
        assert_int_equal(sx_check_evaluate(c, &c->best.mapping, &cost, &doubt), SX_COST_LEGAL);
        energy[i] = cost.energy;
        assert_true(cost.least_energy == cost.energy && cost.least_cycles == cost.cycles);
    }
    assert_true(energy[1] > energy[0] && energy[2] > energy[0]);
    assert_true(energy[3] - energy[2] == energy[1] - energy[0]);
    assert_true((energy[2] - energy[0]) % 700 == 0 && (energy[1] - energy[0]) * 2 % 300 == 0);
    assert_true((energy[2] - energy[0]) / 700 != (energy[1] - energy[0]) / 300);
    free(c);
}

/* Fronts: of two mappings with the same energy and different cycles one does not belong there. */
static void points_of_a_front_differ_in_energy(void **state) {
    (void)state;
    sx_check_case *c = calloc(1, sizeof *c);
    sx_check_point front[2] = {{.energy_pj = 0}};
    assert_non_null(c);
    set_product(&c->problem, 1, 1, 2);
    set_machine(c, 2, 1000);
    c->machine.compute_energy = 1;
    for (int i = 0; i < 2; i++) set_point(c, 7, i ? 1 : 2, &front[i]);
    assert_true(front[0].energy_pj == front[1].energy_pj && front[0].cycles < front[1].cycles);
    c->best = front[0];
    c->front = front;
    c->n_front = 1;
    assert_int_equal(check_claim(c, &(sx_check_trial){.any_count = true}).verdict, SX_INDEPENDENT_HOLDS);
    c->n_front = 2;
    sx_independent_report report = check_claim(c, &(sx_check_trial){.any_count = true});
    assert_int_equal(report.verdict, SX_INDEPENDENT_FAILS);
    assert_non_null(strstr(report.why, "no less energy"));
    free(c);
}

/* The outermost level does not keep A: choices in which no level does have no mapping, and are passed over. */
static void no_tensor_is_kept_nowhere(void **state) {
    (void)state;
    sx_check_case *c = calloc(1, sizeof *c);
    assert_non_null(c);
    set_product(&c->problem, 1, 1, 1);
    set_machine(c, 1, 1000);
    c->machine.level[1].may = 1u << B | 1u << O;
    c->machine.level[0].energy[SX_READ] = 1;
    c->machine.level[1].energy[SX_READ] = c->machine.level[1].energy[SX_UPDATE] = 1;
    c->machine.compute_energy = 1;
    set_point(c, 1u << A, 1, &c->best);
    sx_independent_report report = check_claim(c, &(sx_check_trial){.any_count = true});
    assert_string_equal(report.why, "");
    assert_int_equal(report.verdict, SX_INDEPENDENT_HOLDS);
    assert_int_equal(report.outlines, 4);
    free(c);
}

/* The mappings that a walk of a product on two children evaluates, where memories fetch anew at every visit or not. The units'
 * reads take the same time in all of them, and more than the steps, which is all that the bounds know. */
static uint64_t count_walked(bool anew, bool links) {
    sx_check_case *c = calloc(1, sizeof *c);
    assert_non_null(c);
    set_product(&c->problem, 2, 2, 4);
    for (int v = 0; v < 3; v++) { /* all dimensions index all tensors, so that one loop decides all flows */
        c->problem.tensor[v].n_ranks = 3;
        c->problem.tensor[v].coef[2][v == A ? N : v == B ? M : K] = 1;
    }
    set_machine(c, 2, 1000);
    c->keep_all = true;
    c->machine.compute_energy = 1;
    c->machine.level[0].port[SX_PORT_READ] = (sx_ratio){1, 1};
    c->no_link_transfers = !links;
    if (anew) c->limits.level[1].no_temporal_reuse = 7;
    set_point(c, 7, 2, &c->best);
    sx_independent_report report = check_claim(c, &(sx_check_trial){.walk_only = true, .any_count = true});
    assert_int_equal(report.verdict, SX_INDEPENDENT_HOLDS);
    free(c);
    return report.evaluations;
}

/* T7: orders that cost the same are passed over, but not with links where memories fetch anew. */
static void orders_matter_with_links(void **state) {
    (void)state;
    uint64_t plain = count_walked(false, true);
    assert_true(plain > 0);
    assert_int_equal(count_walked(false, false), plain);
    assert_int_equal(count_walked(true, false), plain);
    assert_true(count_walked(true, true) > plain);
}

/* O[p] += A[r] * B[p + r]. */
static void set_plain_window(sx_check_case *c) {
    set_convolution(&c->problem, 8, 4, 1);
    const sx_tensor window = c->problem.tensor[A];
    c->problem.tensor[A] = c->problem.tensor[B];
    c->problem.tensor[B] = window;
    set_machine(c, 4, 1000);
    c->no_link_transfers = true;
}

/* Groups of different sizes below a bypassed level: the model may round a word of the parent's reads off, once for each of
 * its instances. Where the level keeps the tensor nothing is rounded. */
static void rounding_takes_a_word_of_bypassed_windows(void **state) {
    (void)state;
    const int64_t spread[] = {4, 1};
    fixture *f = make_fixture(set_plain_window, spread);
    for (int keeps = 0; keeps < 2; keeps++) {
        f->o.keep[0] = keeps ? 7 : 7 & ~(1u << B);
        f->prices.of[1][B][SX_READ] = 5;
        f->prices.of[0][B][SX_READ] = 3;
        sx_wide flow = sx_check_flow(&f->o, &f->prices, B, SX_UNITS, ones);
        assert_true(flow > 0);
        assert_true(sx_check_constant(&f->o, &f->prices) == flow - (keeps ? 0 : 5));
    }
    free_fixture(f);
}

/* Energies and sizes whose product is beyond 128 bits are not counted. */
static void large_energies_are_undecided(void **state) {
    (void)state;
    const sx_independent_options options = {.threads = 1};
    sx_check_case *c = calloc(1, sizeof *c);
    assert_non_null(c);
    set_product(&c->problem, 1 << 20, 1 << 20, 1 << 20);
    set_machine(c, 1, 1000);
    c->machine.compute_energy = (int64_t)1 << 60;
    sx_independent_report report;
    sx_check_doubt doubt = {""};
    sx_expect_ok(sx_check_decide(c, &options, NULL, &doubt, &report));
    assert_int_equal(report.verdict, SX_INDEPENDENT_UNDECIDED);
    assert_string_equal(report.why, "energies of this size cannot be counted in 128 bits");
    free(c);
}

/* More tiles than tables can have leave a claim undecided, however good it is. */
static void more_tiles_than_tables_are_undecided(void **state) {
    (void)state;
    sx_check_case *c = calloc(1, sizeof *c);
    assert_non_null(c);
    set_product(&c->problem, 720720, 720720, 15120);
    set_machine(c, 1, 1000);
    c->keep_all = true;
    c->machine.level[1].energy[SX_UPDATE] = 1;
    set_point(c, 7, 1, &c->best);
    sx_independent_report report = check_claim(c, &(sx_check_trial){.any_count = true});
    assert_int_equal(report.verdict, SX_INDEPENDENT_UNDECIDED);
    assert_non_null(strstr(report.why, "tiles of one level"));
    free(c);
}

/* T8: with room for a word of each tensor only the order of the outer loops is free. Where m is innermost B waits, and A and
 * O move 8 times: 8 + 4 reads, 8 updates and 4 reads of O. The walk finds that k innermost, 8 + 8 + 4, is better, and nothing
 * better than that. */
static void a_walk_finds_what_is_better(void **state) {
    (void)state;
    const sx_check_trial walk = {.walk_only = true, .any_count = true};
    sx_check_case *c = calloc(1, sizeof *c);
    assert_non_null(c);
    set_product(&c->problem, 2, 2, 2);
    set_machine(c, 1, 3);
    c->keep_all = true;
    c->machine.level[1].energy[SX_READ] = c->machine.level[1].energy[SX_UPDATE] = 1;
    set_point(c, 7, 1, &c->best);
    assert_true(c->best.energy_pj == 24 && c->best.cycles == 8);
    sx_independent_report report = check_claim(c, &walk);
    assert_int_equal(report.verdict, SX_INDEPENDENT_FAILS);
    assert_string_equal(report.why, "a mapping of the space costs 20 pJ and 8 cycles, below what is claimed");
    uint8_t *order = c->best.mapping.level[1].temporal_order;
    order[0] = K, order[2] = M;
    c->best.energy_pj = 20;
    report = check_claim(c, &walk);
    assert_int_equal(report.verdict, SX_INDEPENDENT_HOLDS);
    assert_int_equal(report.walked, 1);
    assert_true(report.evaluations == 0); /* the tables of T3 are exact here: no branch is left */
    report = check_claim(c, &(sx_check_trial){.walk_only = true, .any_count = true, .more = 1});
    assert_int_equal(report.verdict, SX_INDEPENDENT_FAILS);
    free(c);
}

/* Energy and delay one after the other: of the first, what is less than a share of 0.001 above the least counts as equal. */
static void criteria_are_a_front_of_two_points(void **state) {
    (void)state;
    sx_check_case *c = calloc(1, sizeof *c);
    sx_check_space space;
    assert_non_null(c);
    set_product(&c->problem, 10, 10, 20);
    set_machine(c, 1, 1000);
    c->machine.compute_energy = 1;
    set_point(c, 7, 1, &c->best);
    assert_true(c->best.cycles == 2000 && c->best.energy_pj == 2000);
    sx_expect_ok(sx_check_space_init(&space, c));
    for (int delay = 0; delay < 2; delay++) {
        sx_check_target target = {.n_corners = 0};
        sx_independent_report report = {.spatial = 0};
        sx_check_doubt doubt = {""};
        c->claim = (sx_check_claim){.goal = {!delay, delay},
                                    .second = {delay, !delay},
                                    .tie = true,
                                    .optimal = true,
                                    .value = 2000,
                                    .lower_bound = 2000};
        sx_expect_ok(sx_check_points(&space, 0, &target, &report, &doubt));
        assert_int_equal(report.verdict, SX_INDEPENDENT_HOLDS);
        assert_true(sx_check_reaches(&target, 2000, 2000));
        assert_false(sx_check_reaches(&target, delay ? 1999 : 2002, delay ? 2002 : 1999));
        assert_true(sx_check_reaches(&target, delay ? 0 : 2003, delay ? 2003 : 0));
        assert_false(sx_check_reaches(&target, delay ? 9999 : 1999, delay ? 1999 : 9999));
        sx_check_target_fini(&target);
        c->claim.optimal = false;
        sx_expect_ok(sx_check_points(&space, 0, &target, &report, &doubt));
        assert_int_equal(report.verdict, SX_INDEPENDENT_FAILS);
        sx_check_target_fini(&target);
    }
    /* Where nothing costs energy, any energy at all is more than none, and fewer cycles are better. */
    c->machine.compute_energy = 0;
    set_point(c, 7, 1, &c->best);
    c->claim = (sx_check_claim){.goal = {1, 0}, .second = {0, 1}, .tie = true, .optimal = true};
    sx_check_target target = {.n_corners = 0};
    sx_independent_report report = {.spatial = 0};
    sx_check_doubt doubt = {""};
    sx_expect_ok(sx_check_points(&space, 0, &target, &report, &doubt));
    assert_int_equal(report.verdict, SX_INDEPENDENT_HOLDS);
    assert_false(sx_check_reaches(&target, 0, 1999));
    assert_true(sx_check_reaches(&target, 0, 2000) && sx_check_reaches(&target, 1, 0));
    sx_check_target_fini(&target);
    sx_check_space_fini(&space);
    free(c);
}

/* A lower bound of 0, of a proof that is not complete, is reached by all that costs nothing. */
static void a_bound_of_nothing_is_reached(void **state) {
    (void)state;
    sx_check_case *c = calloc(1, sizeof *c);
    sx_check_space space;
    sx_check_target target = {.n_corners = 0};
    sx_independent_report report = {.spatial = 0};
    sx_check_doubt doubt = {""};
    assert_non_null(c);
    set_product(&c->problem, 2, 2, 2);
    set_machine(c, 1, 1000);
    set_point(c, 7, 1, &c->best);
    sx_expect_ok(sx_check_space_init(&space, c));
    c->claim = (sx_check_claim){.goal = {1, 1}, .value = 0, .lower_bound = 0};
    sx_expect_ok(sx_check_points(&space, 0, &target, &report, &doubt));
    assert_int_equal(report.verdict, SX_INDEPENDENT_HOLDS);
    assert_true(sx_check_reaches(&target, 0, 1));
    sx_check_target_fini(&target);
    sx_check_space_fini(&space);
    free(c);
}

/* What is beyond the array is said of the level that is. */
static void too_many_instances_are_named(void **state) {
    (void)state;
    sx_check_case *c = calloc(1, sizeof *c);
    sx_check_doubt doubt = {""};
    sx_check_cost cost;
    assert_non_null(c);
    set_product(&c->problem, 1, 1, 4);
    set_machine(c, 2, 1000);
    strcpy(c->machine.level[0].name, "Buffer");
    set_point(c, 7, 2, &c->best);
    c->best.mapping.level[1].spatial[K] = 4;
    c->best.mapping.level[1].temporal[K] = 1;
    assert_int_equal(sx_check_evaluate(c, &c->best.mapping, &cost, &doubt), SX_COST_ILLEGAL);
    assert_string_equal(doubt.why, "Buffer: 4 instances on X, there are 2");
    free(c);
}

/* A product and energy one after the other: a product that is less than a share of 0.001 above the least one needs the
 * energy; the same where the product has a power above 1. */
static void product_and_energy_are_tied(void **state) {
    (void)state;
    sx_check_case *c = calloc(1, sizeof *c);
    sx_check_space space;
    assert_non_null(c);
    set_product(&c->problem, 10, 10, 20);
    set_machine(c, 1, 1000);
    c->machine.compute_energy = 1;
    set_point(c, 7, 1, &c->best);
    sx_expect_ok(sx_check_space_init(&space, c));
    for (int power = 1; power < 3; power++) {
        sx_check_target target = {.n_corners = 0};
        sx_independent_report report = {.spatial = 0};
        sx_check_doubt doubt = {""};
        double value = power == 1 ? 4e6 : 8e9;
        c->claim = (sx_check_claim){.goal = {1, power},
                                    .second = {1, 0},
                                    .tie = true,
                                    .optimal = true,
                                    .value = value,
                                    .lower_bound = value};
        sx_expect_ok(sx_check_points(&space, 0, &target, &report, &doubt));
        assert_int_equal(report.verdict, SX_INDEPENDENT_HOLDS);
        assert_true(sx_check_reaches(&target, 2000, 2000));
        assert_true(sx_check_reaches(&target, 2001, 2000));
        assert_false(sx_check_reaches(&target, 2001, 1999)); /* the product is below */
        assert_false(sx_check_reaches(&target, 1999, power == 1 ? 2003 : 2001));
        assert_true(sx_check_reaches(&target, 1999, power == 1 ? 2004 : 2002));
        sx_check_target_fini(&target);
    }
    sx_check_space_fini(&space);
    free(c);
}

static void set_remainders(sx_check_case *c) {
    set_product(&c->problem, 7, 5, 3);
    set_machine(c, 4, 1000);
    c->remainders = true;
}

/* T10: with 7 of m on 4 children the busiest takes 2; 4 of them need each word of B. */
static void remainders_have_a_busiest_unit(void **state) {
    (void)state;
    fixture *f = make_fixture(set_remainders, NULL);
    sx_check_spread spread;
    f->spatial.factor[1][M] = 4;
    sx_check_spread_init(&spread, &f->space, &f->shape, &f->spatial);
    assert_int_equal(spread.steps, 2 * 5 * 3);
    assert_int_equal(spread.held[B][0], 4);
    assert_int_equal(spread.held[A][0], 1);
    assert_int_equal(spread.group[B][1], 4);
    f->work.energy.of[0][B][SX_FILL] = 1;
    f->work.energy.of[1][B][SX_READ] = 100;
    f->work.energy.of[0][A][SX_READ] = 10000;
    const unsigned keep[] = {7, 7};
    sx_check_corner bound = sx_check_remainder_bound(&f->work, &spread, keep, 0);
    assert_true(bound.energy == 15 * 4 + 15 * 100 + 105 * 10000);
    assert_int_equal(bound.cycles, 30);
    const unsigned bypass[] = {5, 7}; /* level 1 gives words of B to 4 units at once */
    memset(&f->work.energy, 0, sizeof f->work.energy);
    f->work.energy.of[1][B][SX_READ] = 1;
    assert_int_equal(spread.group[B][0], 1);
    assert_true(sx_check_remainder_bound(&f->work, &spread, bypass, 0).energy == 26);
    f->spatial.factor[0][M] = 4; /* units, of which 4 take a word of B at once */
    f->spatial.factor[1][M] = 1;
    sx_check_spread_init(&spread, &f->space, &f->shape, &f->spatial);
    assert_int_equal(spread.group[B][0], 4);
    spread.linked[B] = false;
    memset(&f->work.energy, 0, sizeof f->work.energy);
    f->work.energy.of[0][B][SX_READ] = 1;
    assert_int_equal(sx_check_remainder_bound(&f->work, &spread, keep, 0).energy,
                     15 * 2); /* for 7 of m twice */
    free_fixture(f);
}

static void set_tiles(sx_check_case *c) {
    set_product(&c->problem, 5, 1, 5);
    set_machine(c, 1, 8);
    c->remainders = true;
}

/* T10: the tiles of all three do not fit where m is whole; those of B and O alone do. */
static void tiles_of_one_level_add_words(void **state) {
    (void)state;
    fixture *f = make_fixture(set_tiles, NULL);
    sx_check_tilings *tilings;
    sx_wide tiles;
    f->work.energy.of[1][B][SX_READ] = f->work.energy.of[1][O][SX_UPDATE] = 1;
    sx_expect_ok(sx_check_tilings_new(&f->work, &tilings));
    sx_expect_ok(sx_check_tilings_least(tilings, (const unsigned[]){7, 7}, &tiles, NULL));
    assert_int_equal((int64_t)tiles, 5); /* 3 of m, 1 of k, k inside: B moves for each of 2 blocks of m */
    sx_expect_ok(sx_check_tilings_least(tilings, (const unsigned[]){6, 7}, &tiles, NULL));
    assert_int_equal((int64_t)tiles, 0);
    sx_check_tilings_free(tilings);
    assert_int_equal(sx_check_touched(&f->c, A), 25);
    free_fixture(f);
}

static void set_tiles_inside(sx_check_case *c) {
    set_tiles(c);
    c->machine.n_levels = 3;
    c->machine.level[2] = c->machine.level[1];
    c->limits.level[2] = c->limits.level[1];
    c->shares[2] = c->shares[1];
}

static void set_tiles_of_two(sx_check_case *c) {
    set_tiles(c);
    set_machine(c, 2, 8);
}

/* T10: with two levels outside, the last block of the first loop's dimension need not move; with two instances nothing is
 * known. */
static void tiles_of_inner_levels_add_less(void **state) {
    (void)state;
    static const int64_t expected[] = {3, 0};
    for (int i = 0; i < 2; i++) {
        fixture *f = make_fixture(i ? set_tiles_of_two : set_tiles_inside, NULL);
        sx_check_tilings *tilings;
        sx_wide tiles;
        f->work.energy.of[1][B][SX_READ] = f->work.energy.of[1][O][SX_UPDATE] = 1;
        sx_expect_ok(sx_check_tilings_new(&f->work, &tilings));
        sx_expect_ok(sx_check_tilings_least(tilings, (const unsigned[]){7, 7, 7}, &tiles, NULL));
        assert_int_equal((int64_t)tiles, expected[i]);
        sx_check_tilings_free(tilings);
        free_fixture(f);
    }
}

/* O[p + r] += A[p, k] * B[r, k] with p = 4, r = 2, k = 2. */
static void set_window_output(sx_check_case *c) {
    set_convolution(&c->problem, 4, 2, 1);
    c->problem.n_dims = 3;
    c->problem.size[K] = 2;
    for (int v = 0; v < 3; v++) memset(c->problem.tensor[v].coef, 0, sizeof c->problem.tensor[v].coef);
    c->problem.tensor[A].n_ranks = c->problem.tensor[B].n_ranks = 2;
    c->problem.tensor[A].coef[0][P] = c->problem.tensor[B].coef[0][R] = 1;
    c->problem.tensor[A].coef[1][K] = c->problem.tensor[B].coef[1][K] = 1;
    c->problem.tensor[O].coef[0][P] = c->problem.tensor[O].coef[0][R] = 1;
}

static void set_room_of_5(sx_check_case *c) {
    set_window_output(c);
    set_machine(c, 1, 5);
}

static void set_room_of_4(sx_check_case *c) {
    set_window_output(c);
    set_machine(c, 1, 4);
}

/* T10: with room for 1 of p, 2 of r and 1 of k, and p inside, O is updated 8 times instead of 5, and only that counts. With a
 * word of each, nothing is known of O, and A moves twice. */
static void outputs_with_windows_count_updates(void **state) {
    (void)state;
    static const int64_t expected[] = {3, 8};
    for (int i = 0; i < 2; i++) {
        fixture *f = make_fixture(i ? set_room_of_4 : set_room_of_5, NULL);
        sx_check_tilings *tilings;
        sx_wide tiles;
        f->work.energy.of[1][A][SX_READ] = f->work.energy.of[1][B][SX_READ] = 1;
        f->work.energy.of[1][O][SX_UPDATE] = 1;
        f->work.energy.of[1][O][SX_READ] = 100;
        f->work.energy.of[0][O][SX_FILL] = 1000;
        sx_expect_ok(sx_check_tilings_new(&f->work, &tilings));
        sx_expect_ok(sx_check_tilings_least(tilings, (const unsigned[]){7, 7}, &tiles, NULL));
        assert_int_equal((int64_t)tiles, expected[i]);
        sx_check_tilings_free(tilings);
        free_fixture(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_are_words_and_copies),
        cmocka_unit_test(units_take_words_at_every_step),
        cmocka_unit_test(tiles_and_orders_are_shortest_paths),
        cmocka_unit_test(ports_take_their_time),
        cmocka_unit_test(ports_add_to_what_all_mappings_cost),
        cmocka_unit_test(windows_slide),
        cmocka_unit_test(neighbours_help),
        cmocka_unit_test(one_loop_moves_past_neighbours),
        cmocka_unit_test(windows_in_two_ranks_count_nothing),
        cmocka_unit_test(units_help_neighbours_of_their_group),
        cmocka_unit_test(ports_close_boxes),
        cmocka_unit_test(hops_and_routers_add_up),
        cmocka_unit_test(points_of_a_front_differ_in_energy),
        cmocka_unit_test(no_tensor_is_kept_nowhere),
        cmocka_unit_test(orders_matter_with_links),
        cmocka_unit_test(rounding_takes_a_word_of_bypassed_windows),
        cmocka_unit_test(large_energies_are_undecided),
        cmocka_unit_test(more_tiles_than_tables_are_undecided),
        cmocka_unit_test(a_walk_finds_what_is_better),
        cmocka_unit_test(criteria_are_a_front_of_two_points),
        cmocka_unit_test(product_and_energy_are_tied),
        cmocka_unit_test(a_bound_of_nothing_is_reached),
        cmocka_unit_test(too_many_instances_are_named),
        cmocka_unit_test(remainders_have_a_busiest_unit),
        cmocka_unit_test(tiles_of_one_level_add_words),
        cmocka_unit_test(tiles_of_inner_levels_add_less),
        cmocka_unit_test(outputs_with_windows_count_updates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
