/* A product runs as kernels do: its result is cut into tiles of one of the shapes of the machine, and the reduction, where
 * that fills the units better, into parts of equal length that are added afterwards. Tiles are handed to units in waves;
 * a tile takes as long as its multiplications, or as its operands from the memory that units share. Kernels choose the
 * shape and the number of parts that are fastest by this count. */
#include "timing/operator.h"

#include "ir/timing.h"

#include <math.h>
#include <string.h>

enum {
    MOST_PARTS = 16,
    SHORTEST_PART = 128,
    STEP = 32,
    ROWS_IN_FLIGHT = 8,   /* of a unit, */
    SHORT_IN_FLIGHT = 32, /* where short rows have a kernel of their own, of these, */
    LONG_IN_FLIGHT = 2    /* and of others */
};

/* Bytes per second of a level, all instances; INFINITY where there is no limit. */
static double level_rate(const sx_arch *arch, int level) {
    const sx_storage *s = &arch->level[level];
    double words = isfinite(s->shared_bandwidth) ? s->shared_bandwidth : s->read_bandwidth;
    return words * (double)s->instances * s->word_bits / 8 / arch->cycle_seconds;
}

/* How much faster than the compute units' own width operands of a given number of bits multiply. */
static double width_rate(const sx_timing *timing, double bits) {
    double rate = 1;
    for (int i = 0; i < timing->n_rates; i++)
        if (bits <= timing->rate_bits[i]) rate = fmax(rate, timing->rate[i]);
    return rate;
}

double sx_unaligned_share(const sx_arch *arch, const sx_timing_kind *kind) {
    if (kind && kind->unaligned > 0) return kind->unaligned;
    return arch->vector.lanes > 0 ? fmin(1, arch->vector.lanes / (double)arch->compute.instances) : 1;
}

double sx_overlap(double a, double b, double exponent) {
    const double longer = fmax(a, b), shorter = fmin(a, b);
    if (isinf(exponent) || shorter <= 0 || isinf(longer)) return longer;
    return longer * pow(1 + pow(shorter / longer, exponent), 1 / exponent);
}

/* What the tiles of a product are timed by. */
typedef struct kernel {
    const sx_timed_operator *op;
    const sx_timing_kind *kind;
    double units, macs, bytes; /* of the machine; and what a unit does in a second */
    double memory, sums;       /* seconds of the operands, and of a byte of partial sums */
} kernel;

/* One way to run a product. */
typedef struct kernel_time {
    double compute, memory, whole;
} kernel_time;

/* The time of a product in tiles of m x n, its reduction in a given number of parts. */
static kernel_time time_tiles(const kernel *k, double m, double n, double parts) {
    const sx_timed_operator *op = k->op;
    const double tiles = op->repeat * ceil(op->m / m) * ceil(op->n / n) * parts;
    const double length = ceil(op->k / parts / STEP) * STEP;
    const double multiply = m * n * length / k->macs;
    const double fetch = (m * op->row_bits + n * op->col_bits) / 8 * length / k->bytes;
    const double share = fmin(1, tiles / k->units);
    kernel_time t = {.compute = ceil(tiles / k->units) *
                                (k->kind->wave + sx_overlap(multiply, fetch, k->kind->overlap)),
                     .memory = k->memory / pow(share, k->kind->fill)};
    t.whole = fmax(t.compute, t.memory);
    if (parts > 1) t.compute += k->kind->split + parts * op->repeat * op->m * op->n * 8 * k->sums;
    return t;
}

/* The fastest way to run a product. */
static kernel_time time_product(const kernel *k, const sx_timing *timing) {
    kernel_time best = {.whole = INFINITY};
    for (int i = 0; i < timing->n_tiles; i++)
        for (double parts = 1; parts <= MOST_PARTS; parts *= 2) {
            if (parts > 1 && k->op->k / parts < SHORTEST_PART) break;
            kernel_time t = time_tiles(k, timing->tile[i][0], timing->tile[i][1], parts);
            if (t.whole >= best.whole) continue;
            t.whole = sx_overlap(t.compute, t.memory, k->kind->overlap);
            if (t.whole < best.whole) best = t;
        }
    return best;
}

void sx_operator_time_finish(const sx_arch *arch, double exponent, sx_operator_time *time) {
    double joined = sx_overlap(time->compute, time->vector, exponent), longest = time->compute;
    time->limit = SX_LIMIT_COMPUTE;
    if (time->vector > longest) time->limit = SX_LIMIT_VECTOR;
    longest = fmax(longest, time->vector);
    for (int s = 0; s < arch->n_levels; s++) {
        joined = sx_overlap(joined, time->level[s], exponent);
        if (time->level[s] > longest) time->limit = s;
        longest = fmax(longest, time->level[s]);
    }
    if (time->overhead > longest) time->limit = SX_LIMIT_OVERHEAD;
    time->seconds = time->overhead + joined;
}

/* The bytes of an operator. A row that a unit cannot hold is read once more; where short rows have a kernel of their own,
 * that of longer ones makes three passes. */
static double moved_bytes(const sx_timing_kind *kind, const sx_timed_operator *op) {
    if (op->columns <= kind->row) return op->bytes;
    if (kind->warp > 0) return op->columns > kind->held ? op->bytes : op->bytes + 2 * op->again;
    return op->bytes + op->again;
}

/* The seconds that units go through rows. */
static double row_seconds(const sx_timing_kind *kind, const sx_timed_operator *op, double units) {
    const bool brief = kind->warp > 0 && op->columns <= kind->row;
    const double rows = !(kind->warp > 0) ? ROWS_IN_FLIGHT : brief ? SHORT_IN_FLIGHT : LONG_IN_FLIGHT;
    return ceil(op->blocks / (units * rows)) * op->columns * (brief ? kind->warp : kind->element);
}

sx_operator_time sx_time_operator(const sx_arch *arch, const sx_timing *timing, const sx_timed_operator *op) {
    const sx_timing_kind *kind = sx_timing_find(timing, op->kind);
    const int outer = arch->n_levels - 1;
    const double rate = width_rate(timing, fmax(op->row_bits, op->col_bits));
    const double peak = (double)arch->compute.instances / arch->cycle_seconds * rate * kind->compute *
                        (op->unaligned ? sx_unaligned_share(arch, kind) : 1);
    const double shared = level_rate(arch, timing->shared) * kind->level[timing->shared];
    const double memory = moved_bytes(kind, op) / (level_rate(arch, outer) * kind->level[outer]);
    sx_operator_time out = {.overhead = kind->overhead};
    if (op->repeat > 0 && timing->units) {
        const kernel k = {op,     kind,      timing->units, peak / timing->units, shared / timing->units,
                          memory, 1 / shared};
        kernel_time t = time_product(&k, timing);
        out.compute = t.compute;
        out.level[outer] = t.memory;
    } else {
        const double units = timing->units ? timing->units : 1, waves = ceil(op->blocks / units);
        const double spread = op->blocks > 0 ? op->blocks / (waves * units) : 1;
        const double macs = op->repeat > 0 ? op->repeat * op->m * op->n * op->k : op->macs;
        out.compute = macs / peak / (macs > 0 ? spread : 1);
        if (op->columns > 0) out.vector = row_seconds(kind, op, units);
        out.level[outer] = memory / (op->blocks > 0 ? pow(fmin(1, op->blocks / units), kind->fill) : 1);
    }
    sx_operator_time_finish(arch, kind->overlap, &out);
    return out;
}

double sx_time_collective(const sx_timing *timing, const char *kind, double chips, double bytes) {
    if (chips <= 1) return 0;
    const double rounds = strcmp(kind, "all-reduce") == 0 ? 2 : 1;
    return timing->link_latency * sqrt(chips / 2) +
           rounds * (chips - 1) / chips * bytes / timing->link_bandwidth;
}

const char *sx_limit_name(const sx_arch *arch, int limit) {
    static const char *const names[] = {"overhead", "compute", "vector", "link"};
    return limit >= 0 ? arch->level[limit].name : names[-1 - limit];
}
