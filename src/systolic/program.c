/* The mathematical program that seeds a genetic search.
 *
 * Source: Odyssey (DAC 2023), "Mathematical Programming", and what an earlier text of it says of normalising;
 * the paper solves it with AMPL and Ipopt. Per loop of size d there are d = c1 * t1 and t1 = c2 * t2; lanes
 * are even and at most 8 (for 32 bits); integers are relaxed. Lanes: c2 of the space loops times the lanes of
 * a PE. Words: every array as often as the loops that do not index it have trips. Lanes are normalised by
 * those that the usable DSP blocks make, words by the sizes of all arrays, the result twice. DSP blocks, BRAM
 * (18 bits by 1024 words, first-level tiles of all three arrays, twice) and, where PEs accumulate, the hiding
 * of the adder's latency constrain it.
 *
 * What differs. The published program of matrix products divides by the BRAM of two arrays by mistake, so
 * that they are hardly constrained; here all three count. It moves the result of matrix products once and
 * that of convolutions once for each tile of the reduction; here that depends on whether the design keeps
 * sums until they are finished. Arrays that windows slide over have their borders. Where even lanes leave no
 * room, one lane is allowed. In logarithms objectives 1 and 2 are geometric programs and solved as such, to
 * the optimum; objective 3 is one for every given number of lanes, and these are searched.
 *
 * Complexity: two solutions of a geometric program of two variables per loop, some thirty where lanes and
 * words contend. */
#include "systolic/program.h"

#include "systolic/geometric.h"

#include <math.h>
#include <string.h>

enum { BLOCK_BITS = 18, BLOCK_DEPTH = 1024, COPIES = 2, LEVELS = 12, REFINEMENTS = 12 };

static const double SLACK = 1e-6;    /* of constraints, in logarithms: so that a single point has room */
static const double THIN = 1e-4;     /* share of lanes given up so that words can be lessened */
static const double EQUAL = 1e-5;    /* share by which values may differ that are taken to be equal */
static const double ROUNDING = 1e-4; /* share by which a tile may be below a whole number that it is */
static const double EVEN_LANES = 2;

void sx_program_init(const sx_systolic_kernel *kernel, const sx_systolic_plan *plan, sx_program *out) {
    const sx_systolic_limits *limits = &plan->limits;
    double size = kernel->loop[kernel->simd].size;
    sx_program p = {.n_loops = kernel->n_loops,
                    .simd = kernel->simd,
                    .space = plan->form.space,
                    .most_lanes = fmin(limits->lanes, size),
                    .most = limits->dsp / limits->dsp_per_mac,
                    .hidden = plan->form.sums ? limits->add_latency : 0,
                    .chained = plan->form.chained,
                    .bram = limits->bram,
                    .blocks_per_word = (double)COPIES * limits->bits / (BLOCK_BITS * BLOCK_DEPTH)};
    p.least_lanes = fmin(EVEN_LANES, p.most_lanes);
    for (int d = 0; d < p.n_loops; d++) p.size[d] = kernel->loop[d].size;
    for (int a = 0; a < SX_N_OPERANDS; a++) {
        p.loops[a] = plan->form.part[a].loops;
        p.repeats[a] = (sx_loops)(((1u << p.n_loops) - 1) & ~p.loops[a]);
        if (a == SX_RESULT && plan->form.streams) p.repeats[a] = 0;
        p.words[a] = p.window[a] = kernel->words[a];
        for (int d = 0; d < p.n_loops; d++) {
            const sx_systolic_loop *loop = &kernel->loop[d];
            if (!(p.loops[a] >> d & 1)) continue;
            p.words[a] *= a == SX_FIRST ? sx_systolic_span(loop, loop->size) : loop->size;
        }
        p.baseline += p.words[a] * (a == SX_RESULT ? 2 : 1);
    }
    *out = p;
}

double sx_program_lanes(const sx_program *program, const sx_program_tiles *tiles) {
    double lanes = tiles->t2[program->simd];
    for (int d = 0; d < program->n_loops; d++)
        if (program->space >> d & 1) lanes *= tiles->t1[d] / tiles->t2[d];
    return lanes;
}

double sx_program_words(const sx_program *program, const sx_program_tiles *tiles) {
    double sum = 0;
    for (int a = 0; a < SX_N_OPERANDS; a++) {
        double words = program->words[a];
        for (int d = 0; d < program->n_loops; d++)
            if (program->repeats[a] >> d & 1) words *= program->size[d] / tiles->t1[d];
        sum += words;
    }
    return sum;
}

double sx_program_value(const sx_program *program, sx_program_objective objective,
                        const sx_program_tiles *tiles) {
    double lanes = sx_program_lanes(program, tiles) / program->most;
    double words = sx_program_words(program, tiles) / program->baseline;
    return objective == SX_PROGRAM_LANES ? -lanes : objective == SX_PROGRAM_WORDS ? words : words - lanes;
}

/* The variables of a loop's tiles. */
static size_t outer_variable(int d) {
    return 2 * (size_t)d;
}

static size_t inner_variable(int d) {
    return 2 * (size_t)d + 1;
}

/* The lanes of all PEs to a power, times a number. */
static sx_monomial lanes_to(const sx_program *program, double power, double times) {
    sx_monomial term = {.offset = log(times)};
    term.power[inner_variable(program->simd)] = power;
    for (int d = 0; d < program->n_loops; d++) {
        if (!(program->space >> d & 1)) continue;
        term.power[outer_variable(d)] += power;
        term.power[inner_variable(d)] -= power;
    }
    return term;
}

/* Adds the constraint that a monomial is at most 1. */
static void limit_monomial(sx_geometric *to, sx_monomial term) {
    term.offset -= SLACK;
    to->constraint[to->n_constraints++] = (sx_posynomial){1, {term}};
}

/* Adds the limits of each loop's tiles. */
static void limit_tiles(const sx_program *program, double least_lanes, sx_geometric *to) {
    for (int d = 0; d < program->n_loops; d++) {
        double least = d == program->simd ? least_lanes : 1;
        sx_monomial term = {.offset = -log(program->size[d])};
        term.power[outer_variable(d)] = 1;
        limit_monomial(to, term);
        term = (sx_monomial){.offset = 0};
        term.power[inner_variable(d)] = 1;
        term.power[outer_variable(d)] = -1;
        limit_monomial(to, term);
        term = (sx_monomial){.offset = log(least)};
        term.power[inner_variable(d)] = -1;
        limit_monomial(to, term);
    }
    sx_monomial term = {.offset = -log(program->most_lanes)};
    term.power[inner_variable(program->simd)] = 1;
    limit_monomial(to, term);
}

/* Begins a geometric program with all constraints. */
static void add_constraints(const sx_program *program, double least_lanes, sx_geometric *to) {
    memset(to, 0, sizeof *to);
    to->n_variables = 2 * (size_t)program->n_loops;
    limit_tiles(program, least_lanes, to);
    limit_monomial(to, lanes_to(program, 1, 1 / program->most));
    if (program->hidden > 0) {
        sx_monomial term = {.offset = log(program->hidden)};
        for (int d = 0; d < program->n_loops; d++)
            term.power[inner_variable(d)] = d != program->simd ? -1 : program->chained ? 1 : 0;
        limit_monomial(to, term);
    }
    sx_posynomial *bram = &to->constraint[to->n_constraints++];
    for (int a = 0; a < SX_N_OPERANDS; a++) {
        sx_monomial *term = &bram->term[bram->n++];
        term->offset = log(program->window[a] * program->blocks_per_word / program->bram) - SLACK;
        for (int d = 0; d < program->n_loops; d++)
            if (program->loops[a] >> d & 1) term->power[outer_variable(d)] = 1;
    }
}

/* The words as the objective of a geometric program. */
static sx_posynomial words_sum(const sx_program *program) {
    sx_posynomial sum = {.n = SX_N_OPERANDS};
    for (int a = 0; a < SX_N_OPERANDS; a++) {
        sx_monomial *term = &sum.term[a];
        term->offset = log(program->words[a] / program->baseline);
        for (int d = 0; d < program->n_loops; d++) {
            if (!(program->repeats[a] >> d & 1)) continue;
            term->offset += log(program->size[d]);
            term->power[outer_variable(d)] = -1;
        }
    }
    return sum;
}

/* Logarithms of tiles as tiles, within their limits. */
static sx_program_tiles tiles_at(const sx_program *program, const double *z) {
    sx_program_tiles tiles = {.t1 = {0}};
    for (int d = 0; d < program->n_loops; d++) {
        tiles.t1[d] = fmin(fmax(exp(z[outer_variable(d)]), 1), program->size[d]);
        tiles.t2[d] = fmin(fmax(exp(z[inner_variable(d)]), 1), tiles.t1[d]);
    }
    return tiles;
}

/* The tiles of fewest words among those of a given number of lanes. `start` keeps the constraints, which stay as they are; the
 * objective becomes the words. */
static sx_program_tiles with_lanes(const sx_program *program, sx_geometric *geometric, const double *start,
                                   double lanes) {
    double z[SX_MAX_POWERS];
    geometric->objective = words_sum(program);
    limit_monomial(geometric, lanes_to(program, -1, lanes));
    for (size_t i = 0; i < SX_MAX_POWERS; i++) z[i] = start[i];
    sx_geometric_solve(geometric, z);
    geometric->n_constraints--;
    return tiles_at(program, z);
}

/* Searches the number of lanes: the best of some levels between two, refined. */
static sx_program_tiles search_lanes(const sx_program *program, sx_geometric *constraints,
                                     const double *start, double least, double most) {
    sx_program_tiles best = with_lanes(program, constraints, start, most);
    double value = sx_program_value(program, SX_PROGRAM_BOTH, &best);
    double step = log(most / least) / LEVELS, at = log(most);
    for (int i = 0; i < LEVELS + 2 * REFINEMENTS; i++) {
        bool coarse = i < LEVELS;
        if (!coarse && (i - LEVELS) % 2 == 0) step /= 2;
        double sign = (i - LEVELS) % 2 ? 1 : -1;
        double level = coarse ? log(most) - (i + 1) * step : fmin(at + sign * step, log(most));
        sx_program_tiles tiles = with_lanes(program, constraints, start, exp(level));
        double next = sx_program_value(program, SX_PROGRAM_BOTH, &tiles);
        if (!(next < value)) continue;
        value = next;
        best = tiles;
        at = level;
    }
    return best;
}

/* The best tiles of words - lanes: those of fewest words with as many lanes as can be, where lanes cost no
 * words, otherwise a compromise. */
static sx_program_tiles balance_tiles(const sx_program *program, sx_geometric *constraints,
                                      const double *most_lanes, const double *least_words) {
    sx_program_tiles top = tiles_at(program, most_lanes), bottom = tiles_at(program, least_words);
    double most = sx_program_lanes(program, &top) * (1 - THIN);
    sx_program_tiles tiles = with_lanes(program, constraints, most_lanes, most);
    if (sx_program_words(program, &tiles) <= sx_program_words(program, &bottom) * (1 + EQUAL)) return tiles;
    double least = fmin(sx_program_lanes(program, &bottom), most);
    return search_lanes(program, constraints, most_lanes, least, most);
}

/* Solves with a given number of lanes of a PE at least; false where that leaves no room. */
static bool solve_with(const sx_program *program, sx_program_objective objective, double least_lanes,
                       sx_program_tiles *out) {
    sx_geometric geometric;
    double z[SX_MAX_POWERS] = {0}, fewest[SX_MAX_POWERS];
    add_constraints(program, least_lanes, &geometric);
    for (int d = 0; d < program->n_loops; d++) {
        z[outer_variable(d)] = log(program->size[d]) / 2;
        z[inner_variable(d)] = z[outer_variable(d)] / 2;
    }
    geometric.objective = objective == SX_PROGRAM_WORDS
                              ? words_sum(program)
                              : (sx_posynomial){1, {lanes_to(program, -1, program->most)}};
    if (!sx_geometric_solve(&geometric, z)) return false;
    *out = tiles_at(program, z);
    if (objective != SX_PROGRAM_BOTH) return true;
    for (size_t i = 0; i < SX_MAX_POWERS; i++) fewest[i] = z[i];
    geometric.objective = words_sum(program);
    sx_geometric_solve(&geometric, fewest);
    *out = balance_tiles(program, &geometric, z, fewest);
    return true;
}

bool sx_program_solve(const sx_program *program, sx_program_objective objective, sx_program_tiles *out) {
    return solve_with(program, objective, program->least_lanes, out) ||
           (program->least_lanes > 1 && solve_with(program, objective, 1, out));
}

void sx_program_round(const sx_systolic_space *space, uint32_t design, const sx_program_tiles *tiles,
                      sx_systolic_point *out) {
    sx_systolic_point point = {.design = design};
    for (int d = 0; d < space->n_loops; d++) {
        const sx_systolic_tile_set *set = &space->tiles[d];
        double even = 2 * floor(tiles->t1[d] * (1 + ROUNDING) / 2);
        point.t1[d] = sx_systolic_tile_nearest(set, even);
        point.t2[d] = sx_systolic_inner_nearest(set, point.t1[d], tiles->t2[d]);
    }
    *out = point;
}
