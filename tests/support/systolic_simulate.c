/* A run of a design, walked through: every pass of the PEs over a tile of each array, in the order of the
 * tile loops, with what buffers hold at that time. It knows which parts there are and what makes them move,
 * and no formula of how often they do: the mended model (docs/systolic.md) is compared with its counts.
 *
 * An array moves when a tile loop advances that is not inside the innermost of its own loops. Buffers of
 * inputs that are not right below memory are filled for every pass. Sums that leave unfinished are kept in
 * mind: they come back when their tile is visited again, and a tile that was never visited starts at zero.
 *
 * Complexity: the passes, times the arrays. */
#include "support/systolic_simulate.h"

#include "base/status.h"

#include <stdlib.h>

enum { NEAR_BITS = 128, FAR_BITS = 512, MAX_PASSES = 1 << 24 };

/* What moves of an array at once. */
typedef struct cargo {
    int level;              /* of its buffers */
    bool each_pass;         /* the buffers are filled for every pass */
    int fetch;              /* place of the innermost tile loop that indexes it; -1: none does */
    uint64_t rows, row;     /* rows of a tile, and words of a row */
    uint64_t pack;          /* words of a transfer */
    uint64_t chains, above; /* that a tile moves through one after another, at the buffers and above them */
    sx_systolic_traffic once;
} cargo;

/* A run. */
typedef struct walk {
    const sx_systolic_kernel *kernel;
    const sx_systolic_design *design;
    int n_loops, top;
    int order[SX_MAX_SYSTOLIC_LOOPS]; /* of the tile loops, outermost first */
    uint64_t trips[SX_MAX_SYSTOLIC_LOOPS], held[SX_MAX_SYSTOLIC_LOOPS], pes[SX_MAX_SYSTOLIC_LOOPS];
    uint64_t at[SX_MAX_SYSTOLIC_LOOPS]; /* the tile of each loop that is worked on */
    uint64_t pass_cycles;
    cargo cargo[SX_N_OPERANDS];
    uint8_t *visited; /* by tile of the result */
} walk;

static bool indexes(const walk *w, int loop, int operand) {
    return w->kernel->loop[loop].operands >> operand & 1;
}

static bool is_spread(const walk *w, int loop) {
    for (int i = 0; i < w->design->n_space; i++)
        if (w->design->space[i] == loop) return true;
    return false;
}

/* Reads the tiles, and puts the tile loops in order. */
static void read_loops(walk *w, const sx_systolic_point *point) {
    int n = 0;
    w->pass_cycles = w->kernel->steps;
    for (int d = 0; d < w->n_loops; d++) {
        uint64_t t1 = point->t1[d], t2 = point->t2[d], left = w->kernel->loop[d].size;
        for (; left > 0; left -= left < t1 ? left : t1) w->trips[d]++;
        w->held[d] = is_spread(w, d) ? t2 : t1;
        w->pes[d] = is_spread(w, d) ? t1 / t2 : 1;
        w->pass_cycles *= d == w->kernel->simd ? w->held[d] / t2 : w->held[d];
        if (indexes(w, d, w->design->stationary)) w->order[n++] = d;
    }
    for (int d = 0; d < w->n_loops; d++)
        if (!indexes(w, d, w->design->stationary)) w->order[n++] = d;
}

/* The chains of buffers of an array. */
static void read_chains(const walk *w, int operand, cargo *c) {
    const uint8_t *space = w->design->space;
    c->chains = 1;
    c->level = 1;
    for (int i = 0; i < w->design->n_space; i++) {
        if (indexes(w, space[i], operand))
            c->chains *= w->pes[space[i]];
        else
            c->level = 2;
    }
    c->above = c->chains;
    if (w->design->n_space == 1) return;
    if (c->level == 1) c->chains = w->pes[space[0]];
    if (!indexes(w, space[0], operand) && !indexes(w, space[1], operand))
        c->chains = c->above = w->pes[space[1]];
}

/* Sends one tile through, row by row, and counts. */
static void send_tile(const walk *w, const sx_systolic_limits *limits, cargo *c) {
    uint64_t port = (uint64_t)limits->port_words, at_memory = c->level < w->top ? c->above : c->chains;
    for (uint64_t r = 0; r < c->rows; r++) {
        uint64_t packs = 0, beats = 0;
        for (uint64_t sent = 0; sent < c->row; sent += c->pack) packs++;
        for (uint64_t sent = 0; sent < c->row; sent += port) beats++;
        c->once.packs += c->chains * packs;
        c->once.passed += c->above * packs;
        c->once.rows += at_memory;
        c->once.beats += at_memory * beats;
        c->once.words += c->above * packs * c->pack;
    }
    c->once.moves = 1;
}

/* What moves of an array. */
static cargo cargo_of(const walk *w, const sx_systolic_limits *limits, uint64_t lanes, int operand) {
    cargo c = {.fetch = -1, .rows = w->kernel->words[operand]};
    int last = w->kernel->last[operand];
    bool sums = operand == SX_RESULT && !indexes(w, w->kernel->simd, SX_RESULT);
    read_chains(w, operand, &c);
    c.row = w->held[last];
    for (int i = 0; i < w->n_loops; i++) {
        int d = w->order[i];
        const sx_systolic_loop *loop = &w->kernel->loop[d];
        if (!indexes(w, d, operand)) continue;
        c.fetch = i;
        if (d == last) continue;
        c.rows *= operand == SX_FIRST ? (w->held[d] - 1) * loop->stride + 1 + loop->reach : w->held[d];
    }
    uint64_t cap = (c.level == 1 ? NEAR_BITS : FAR_BITS) / limits->bits, least = sums ? 1 : lanes;
    c.pack = c.row < cap ? c.row : cap;
    if (c.pack < least) c.pack = least;
    c.each_pass = operand != SX_RESULT && c.level != w->top - 1;
    send_tile(w, limits, &c);
    return c;
}

static void add(sx_systolic_traffic *all, const sx_systolic_traffic *once) {
    all->moves += once->moves;
    all->packs += once->packs;
    all->passed += once->passed;
    all->rows += once->rows;
    all->beats += once->beats;
    all->words += once->words;
}

/* The number of the tile of the result that is worked on. */
static size_t result_tile(const walk *w) {
    size_t n = 0;
    for (int d = 0; d < w->n_loops; d++)
        if (indexes(w, d, SX_RESULT)) n = n * w->trips[d] + w->at[d];
    return n;
}

/* Lets the result's sums leave the buffers. */
static void leave(walk *w, sx_systolic_counts *out) {
    const cargo *c = &w->cargo[SX_RESULT];
    add(&out->out, &c->once);
    if (c->level == 1) out->out.at_pes += c->rows * c->row;
}

/* Brings the result's sums where they were before. */
static void enter(walk *w, sx_systolic_counts *out) {
    const cargo *c = &w->cargo[SX_RESULT];
    size_t tile = result_tile(w);
    if (w->visited[tile]) {
        add(&out->in[SX_RESULT], &c->once);
        out->in[SX_RESULT].at_pes += c->rows * c->row;
    }
    w->visited[tile] = 1;
}

/* One pass, after the tile loop at place `moved` and those inside it advanced. */
static void pass(walk *w, int moved, sx_systolic_counts *out) {
    const cargo *sums = &w->cargo[SX_RESULT];
    for (int a = 0; a < SX_N_OPERANDS; a++) {
        const cargo *c = &w->cargo[a];
        if (a == SX_RESULT || (!c->each_pass && moved > c->fetch)) continue;
        add(&out->in[a], &c->once);
    }
    if (moved <= sums->fetch || out->passes == 0) enter(w, out);
    for (int a = 0; a < SX_RESULT; a++) out->in[a].at_pes += w->pass_cycles;
    if (sums->level == 2) out->out.at_pes += sums->rows * sums->row;
    out->passes++;
    out->cycles += w->pass_cycles;
}

/* Advances the tile loops; the place of the outermost that did, -1 after the last tile. */
static int advance(walk *w) {
    for (int i = w->n_loops - 1; i >= 0; i--) {
        int d = w->order[i];
        if (++w->at[d] < w->trips[d]) return i;
        w->at[d] = 0;
    }
    return -1;
}

sx_status sx_systolic_simulate(const sx_systolic_kernel *kernel, const sx_systolic_design *design,
                               const sx_systolic_limits *limits, const sx_systolic_point *point,
                               sx_systolic_counts *out) {
    walk w = {.kernel = kernel, .design = design, .n_loops = kernel->n_loops, .top = design->n_space + 1};
    sx_systolic_counts counts = {.passes = 0};
    double passes = 1;
    for (int d = 0; d < kernel->n_loops; d++) passes *= (double)kernel->loop[d].size / point->t1[d] + 1;
    if (passes > MAX_PASSES)
        return sx_error_new(SX_ERR_LIMIT, "a run of about %.3g passes is too long to walk through", passes);
    read_loops(&w, point);
    for (int a = 0; a < SX_N_OPERANDS; a++) w.cargo[a] = cargo_of(&w, limits, point->t2[kernel->simd], a);
    w.visited = calloc((size_t)passes + 1, 1);
    if (!w.visited) return sx_error_memory();
    for (int moved = 0; moved >= 0;) {
        pass(&w, moved, &counts);
        moved = advance(&w);
        if (moved <= w.cargo[SX_RESULT].fetch) leave(&w, &counts);
    }
    free(w.visited);
    *out = counts;
    return SX_OK;
}
