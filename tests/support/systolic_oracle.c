#include "support/systolic_oracle.h"

#include <math.h>
#include <string.h>

/* A current point. */
typedef struct oracle {
    const sx_systolic_kernel *kernel;
    const sx_element *element;
    sx_systolic_design design;
    const sx_systolic_point *point;
    bool spread[SX_MAX_SYSTOLIC_LOOPS];  /* it is a space loop */
    double trips[SX_MAX_SYSTOLIC_LOOPS]; /* of the tile loop */
    double held[SX_MAX_SYSTOLIC_LOOPS];  /* steps in one PE's tile */
    double pes[SX_MAX_SYSTOLIC_LOOPS];
    int order[SX_MAX_SYSTOLIC_LOOPS]; /* of the tile loops, outermost first */
    int top;
    bool os, adds, sums; /* sums are finished before they leave; lanes add up; PEs hold sums */
    double lanes, port, row, passes, inner;
    sx_systolic_cost cost;
} oracle;

/* The current array of numbers. */
typedef struct array {
    int number, level;
    double tile, rows, last, pack;     /* words of a tile, its rows, words of a row, words of a transfer */
    double buffers, at_buffers, above; /* how many buffers; repetitions of a transfer */
    double moves, stays;               /* transfers of tiles; passes that a tile stays for */
} array;

static bool has(const oracle *o, int loop, int number) {
    return o->kernel->loop[loop].operands >> number & 1;
}

static bool is_power_of_two(double n) {
    double m;
    return n >= 1 && frexp(n, &(int){0}) == 0.5 && modf(n, &m) == 0;
}

/* Reads the design: which loops are spread, and the order of tile loops. */
static void read_design(oracle *o) {
    int n = 0;
    sx_systolic_design_at(o->kernel, o->point->design, &o->design);
    for (int s = 0; s < o->design.n_space; s++) o->spread[o->design.space[s]] = true;
    for (int d = 0; d < o->kernel->n_loops; d++)
        if (has(o, d, o->design.stationary)) o->order[n++] = d;
    for (int d = 0; d < o->kernel->n_loops; d++)
        if (!has(o, d, o->design.stationary)) o->order[n++] = d;
    o->top = o->design.n_space == 2 ? 3 : 2;
    o->os = o->design.stationary == SX_RESULT;
    o->adds = !has(o, o->kernel->simd, SX_RESULT);
    bool in_space = true, any = false;
    for (int d = 0; d < o->kernel->n_loops; d++)
        if (!has(o, d, SX_RESULT)) {
            any = true;
            if (!o->spread[d]) in_space = false;
        }
    o->sums = o->kernel->sliding || !any || !in_space;
}

/* Reads the tiles; false where they are none. */
static bool read_tiles(oracle *o) {
    const uint32_t *t1 = o->point->t1, *t2 = o->point->t2;
    for (int d = 0; d < o->kernel->n_loops; d++)
        if (t1[d] < 1 || t2[d] < 1 || t1[d] > 0x7fffffff || t1[d] % t2[d] != 0) return false;
    o->lanes = t2[o->kernel->simd];
    o->passes = 1;
    o->inner = o->kernel->steps;
    for (int d = 0; d < o->kernel->n_loops; d++) {
        uint64_t size = o->kernel->loop[d].size;
        o->trips[d] = (double)((size + t1[d] - 1) / t1[d]);
        o->held[d] = o->spread[d] ? t2[d] : t1[d];
        o->pes[d] = o->spread[d] ? t1[d] / t2[d] : 1;
        o->passes *= o->trips[d];
        o->inner *= d == o->kernel->simd ? o->held[d] / o->lanes : o->held[d];
    }
    return true;
}

/* Steps of a rank of an array that a tile covers. */
static double extent(const oracle *o, int number, int loop) {
    const sx_systolic_loop *l = &o->kernel->loop[loop];
    if (number != SX_FIRST) return o->held[loop];
    return (o->held[loop] - 1) * l->stride + 1 + l->reach;
}

/* The chains of an array. */
static void count_chains(const oracle *o, array *x) {
    double own = 1, whole = 1, first = o->pes[o->design.space[0]];
    bool none = true;
    for (int s = 0; s < o->design.n_space; s++) {
        int d = o->design.space[s];
        whole *= o->pes[d];
        if (!has(o, d, x->number)) continue;
        own *= o->pes[d];
        none = false;
    }
    x->buffers = x->at_buffers = x->above = own;
    if (o->design.n_space == 1) return;
    if (x->level == 1) {
        x->buffers = x->above = whole;
        x->at_buffers = first;
    } else if (none) {
        x->buffers = x->at_buffers = x->above = o->pes[o->design.space[1]];
    }
}

/* How often an array's tile moves, and how many passes it stays. */
static void count_moves(const oracle *o, array *x) {
    int n = o->kernel->n_loops;
    x->stays = x->moves = 1;
    if (x->number == SX_RESULT) {
        for (int d = 0; d < n; d++)
            if (has(o, d, SX_RESULT)) x->moves *= o->trips[d];
        return;
    }
    while (x->level == o->top - 1 && n > 0 && !has(o, o->order[n - 1], x->number))
        x->stays *= o->trips[o->order[--n]];
    for (int i = 0; i < n; i++) x->moves *= o->trips[o->order[i]];
}

static array look_at(const oracle *o, int number) {
    array x = {.number = number, .level = 1, .rows = o->kernel->words[number]};
    for (int s = 0; s < o->design.n_space; s++)
        if (!has(o, o->design.space[s], number)) x.level = 2;
    x.last = o->held[o->kernel->last[number]];
    for (int d = 0; d < o->kernel->n_loops; d++)
        if (has(o, d, number) && d != o->kernel->last[number]) x.rows *= extent(o, number, d);
    x.tile = x.rows * x.last;
    double cap = fmax(floor((x.level == 1 ? 128.0 : 512.0) / o->element->bits), 1);
    x.pack = fmax(fmin(x.last, cap), number == SX_RESULT && o->adds ? 1 : o->lanes);
    count_chains(o, &x);
    count_moves(o, &x);
    return x;
}

static double blocks(const oracle *o, double words, double pack) {
    return ceil(o->element->bits * pack / 36) * ceil(words / pack / 512);
}

/* Cycles of one tile past a level. */
static double transfer(const oracle *o, const array *x, int level, double times) {
    if (level < o->top) return times * x->tile / x->pack;
    if (o->os) return times * x->tile / fmin(x->pack, o->port);
    return times * x->rows * (o->row + x->last / o->port);
}

static void raise(double *most, double value) {
    if (value > *most) *most = value;
}

/* The levels above the buffers of an array. */
static void pass(oracle *o, const array *x, double *once) {
    for (int level = x->level + 1; level <= o->top; level++) {
        double y = transfer(o, x, level, x->above);
        raise(once, y);
        raise(&o->cost.steady, x->moves * y);
    }
}

/* A double buffer with a time on the side of the PEs for each move of a tile. */
static void swap(oracle *o, const array *x, double at_pes, double *once, double single) {
    double y = transfer(o, x, x->level, x->at_buffers);
    raise(once, single >= 0 ? single : y + 1);
    raise(&o->cost.steady, x->moves * (fmax(y, at_pes) + 1));
    pass(o, x, once);
    o->cost.bram18k += 2 * x->buffers * blocks(o, x->tile, x->pack);
    if (x->level == o->top)
        o->cost.offchip_words += x->moves * (x->tile + at_pes + 1);
    else
        o->cost.offchip_words += x->moves * x->above * x->tile;
}

/* The result of a design that finishes its sums in the PEs. */
static void drain(oracle *o, const array *x) {
    double y = transfer(o, x, x->level, x->at_buffers);
    raise(&o->cost.epilogue, y);
    raise(&o->cost.steady, x->moves * (y + x->tile));
    pass(o, x, &o->cost.epilogue);
    o->cost.bram18k += x->buffers * blocks(o, x->tile, x->pack);
    o->cost.offchip_words += x->moves * x->above * x->tile;
}

static void add_result(oracle *o) {
    array x = look_at(o, SX_RESULT);
    double sums = 1;
    for (int d = 0; d < o->kernel->n_loops; d++)
        if (!has(o, d, SX_RESULT)) sums *= o->trips[d];
    if (!o->os) {
        swap(o, &x, x.tile, &o->cost.prologue, -1);
        swap(o, &x, x.tile, &o->cost.epilogue, -1);
    } else if (x.level == 1) {
        drain(o, &x);
    } else {
        swap(o, &x, sums * x.tile, &o->cost.epilogue, 1);
    }
}

/* What breaks a rule of tiles. */
static sx_systolic_fault broken_rule(const oracle *o) {
    double hidden = 1;
    if (!is_power_of_two(o->lanes) || o->lanes > floor(256.0 / o->element->bits)) return SX_SYSTOLIC_LANES;
    for (int d = 0; d < o->kernel->n_loops; d++)
        if (d != o->kernel->simd) hidden *= o->point->t2[d];
    if (o->sums && hidden < o->element->add_latency * (o->adds ? o->lanes : 1)) return SX_SYSTOLIC_HIDING;
    for (int a = 0; a < SX_N_OPERANDS; a++)
        if (!is_power_of_two(look_at(o, a).pack)) return SX_SYSTOLIC_PACK;
    return SX_SYSTOLIC_FINE;
}

/* All terms of tiles that break no rule. */
static void add_terms(oracle *o) {
    bool sum_in_space = false;
    double pes = 1;
    for (int a = SX_FIRST; a <= SX_SECOND; a++) {
        array x = look_at(o, a);
        swap(o, &x, x.stays * o->inner, &o->cost.prologue, -1);
    }
    add_result(o);
    for (int s = 0; s < o->design.n_space; s++) {
        pes *= o->pes[o->design.space[s]];
        if (!has(o, o->design.space[s], SX_RESULT)) sum_in_space = true;
    }
    raise(&o->cost.steady, o->passes * (o->inner + (!o->os && !sum_in_space ? 2 : 0)));
    if (o->sums) o->cost.bram18k += pes * blocks(o, look_at(o, SX_RESULT).tile, o->adds ? 1 : o->lanes);
    o->cost.dsp = o->element->dsp_per_mac * pes * o->lanes;
    o->cost.latency = o->cost.prologue + o->cost.steady + o->cost.epilogue;
}

sx_systolic_fault sx_systolic_oracle(const sx_systolic_kernel *kernel, const sx_device *device,
                                     const sx_element *element, bool thin, const sx_systolic_point *point,
                                     sx_systolic_cost *out) {
    oracle o = {.kernel = kernel,
                .element = element,
                .point = point,
                .port = (double)device->port_bits / element->bits,
                .row = device->row_cycles};
    read_design(&o);
    if (!read_tiles(&o)) return SX_SYSTOLIC_TILES;
    sx_systolic_fault fault = broken_rule(&o);
    if (fault) return fault;
    add_terms(&o);
    *out = o.cost;
    for (int s = 0; s < o.design.n_space && o.design.n_space == 2 && !thin; s++)
        if (o.pes[o.design.space[s]] <= 1) return SX_SYSTOLIC_THIN;
    if (o.cost.dsp > device->share * device->dsp) return SX_SYSTOLIC_DSP;
    return o.cost.bram18k > device->share * device->bram18k ? SX_SYSTOLIC_BRAM : SX_SYSTOLIC_FINE;
}
