/* Searching a box of tiles for its best point.
 *
 * Source: what Odyssey (DAC 2023) does by trying every combination. What differs:
 *   1. The second-level tile of a loop that is neither a space loop nor the SIMD loop enters only the hiding
 * of
 *      latency, so it is as large as possible.
 *   2. Numbers of lanes are powers of two.
 *   3. Tiles that no transfer can pack, and arrays with more DSP blocks than there are or too few sums in a
 *      PE, are pruned as soon as that is known.
 *   4. So are tiles whose lower bound, with the other loops at their least, is not below the incumbent.
 * The result is the same.
 *
 * Complexity: at worst the product of the pairs of tiles of the space loops and the first-level tiles of the
 * others; in practice a small part of it. */
#include "systolic/tile_box.h"

#include "base/divisor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE = 4096 }; /* evaluations between two polls of the clock */

/* A loop's tiles with the quantities that the model needs. */
typedef struct choices {
    size_t n;
    sx_pair_of_tiles *pair;
    sx_systolic_tile *record; /* [pair][kernel] */
    sx_systolic_tile *least;  /* [kernel]: of all pairs */
    double most_hidden;       /* by these loop's tiles and those of the loops after it */
} choices;

/* A search of a box with a given number of lanes. */
typedef struct box_search {
    const sx_systolic_objective_value *objective;
    const sx_systolic_space *space;
    const sx_systolic_plan *plan;
    const sx_tile_box *box;
    sx_worker *worker;
    sx_tile_find *find;
    uint32_t lanes;
    double wanted;                    /* independent sums in a PE */
    int order[SX_MAX_SYSTOLIC_LOOPS]; /* loops in the order of choice: space loops first */
    choices choices[SX_MAX_SYSTOLIC_LOOPS + 1];
    sx_systolic_tile (*tile)[SX_MAX_SYSTOLIC_LOOPS]; /* [kernel] */
    sx_systolic_point point;
    uint64_t looked; /* since the last poll of the clock */
    bool stopped;
} box_search;

uint64_t sx_tile_times(uint64_t a, uint64_t b) {
    const uint64_t most = (uint64_t)1 << 48;
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) || product > most ? most : product;
}

static bool is_space(const box_search *h, int loop) {
    return h->plan->form.space >> loop & 1;
}

/* Whether tiles of a loop can be part of a legal point. */
static bool tiles_fit(const box_search *h, int loop, uint32_t t1, uint32_t t2) {
    const sx_systolic_plan *plan = h->plan;
    double step = is_space(h, loop) ? t2 : t1;
    bool flat = is_space(h, loop) && plan->design.n_space == 2;
    if (flat && !h->space->options.thin && t1 == t2) return false;
    for (int a = 0; a < SX_N_OPERANDS; a++)
        if (plan->form.part[a].last == loop && !sx_systolic_packs(sx_systolic_pack(plan, a, step, h->lanes)))
            return false;
    return true;
}

/* Adds tiles to the choices of a loop. */
static void add_tiles(box_search *h, choices *c, int loop, uint32_t t1, uint32_t t2) {
    size_t n = h->space->n_kernels;
    if (!tiles_fit(h, loop, t1, t2)) return;
    for (size_t k = 0; k < n; k++) {
        sx_systolic_tile tile = sx_systolic_tile_of(h->plan, &h->space->kernel[k].loop[loop], loop, t1, t2);
        sx_systolic_tile *least = &c->least[k];
        c->record[c->n * n + k] = tile;
        if (c->n == 0) *least = tile;
        least->trips = fmin(least->trips, tile.trips);
        least->pes = fmin(least->pes, tile.pes);
        least->step = fmin(least->step, tile.step);
        least->hide = fmax(least->hide, tile.hide);
        least->all = fmin(least->all, tile.all);
        least->span = fmin(least->span, tile.span);
        least->spans = fmin(least->spans, tile.spans);
    }
    c->pair[c->n++] = (sx_pair_of_tiles){t1, t2};
}

/* Lists the choices of a loop with the search's lanes. `divisors` is room for those of a tile. */
static void list_divisors(box_search *h, choices *c, int loop, uint32_t *divisors) {
    c->n = 0;
    for (size_t i = 0; i < h->box->n[loop]; i++) {
        uint32_t t1 = h->box->t1[loop][i];
        if (loop == h->plan->simd) {
            if (t1 % h->lanes == 0) add_tiles(h, c, loop, t1, h->lanes);
        } else if (is_space(h, loop)) {
            size_t n = sx_divisors_of(t1, divisors);
            for (size_t j = 0; j < n; j++) add_tiles(h, c, loop, t1, divisors[j]);
        } else {
            add_tiles(h, c, loop, t1, t1);
        }
    }
}

/* Sets a loop's records to the lower bounds of its choices. */
static void set_least(box_search *h, int depth) {
    for (size_t k = 0; k < h->space->n_kernels; k++) h->tile[k][h->order[depth]] = h->choices[depth].least[k];
}

/* The value of the records, exact or at least; polls the clock. */
static double evaluate_records(box_search *h) {
    h->find->looked++;
    if (++h->looked >= PATIENCE) {
        h->looked = 0;
        h->stopped = !sx_worker_goes_on(h->worker);
    }
    return sx_systolic_objective_apply(h->objective, h->plan, h->lanes, h->tile);
}

/* Whether the DSP blocks of a given number of PEs, along the loops up to a depth, may be enough and are not too many.
 */
static bool has_blocks(const box_search *h, int depth, double pes) {
    double dsp = sx_systolic_dsp(&h->plan->limits, pes, h->lanes);
    bool all = depth + 1 >= h->plan->design.n_space;
    return dsp <= h->plan->limits.dsp && (!all || dsp >= h->space->least_dsp);
}

/* Chooses the loops from a depth on, after a given number of PEs and independent sums. */
static void descend_loops(box_search *h, int depth, double pes, double hidden) {
    const choices *c = &h->choices[depth];
    size_t n = h->space->n_kernels;
    int loop = h->order[depth];
    bool last = depth + 1 == h->space->n_loops;
    for (size_t i = 0; i < c->n && !h->stopped; i++) {
        const sx_systolic_tile *record = &c->record[i * n];
        double sums = hidden * record->hide;
        if (!has_blocks(h, depth, pes * record->pes)) continue;
        if (sums * h->choices[depth + 1].most_hidden < h->wanted) continue;
        for (size_t k = 0; k < n; k++) h->tile[k][loop] = record[k];
        double value = evaluate_records(h);
        if (last ? !(value < h->find->best) : !sx_systolic_promises(value, h->find->best)) continue;
        h->point.t1[loop] = c->pair[i].t1;
        h->point.t2[loop] = c->pair[i].t2;
        if (!last) {
            descend_loops(h, depth + 1, pes * record->pes, sums);
            continue;
        }
        h->find->best = value;
        h->find->point = h->point;
        h->find->found = true;
    }
    set_least(h, depth);
}

/* Searches with a given number of lanes. */
static void search_lanes(box_search *h, uint32_t lanes, uint32_t *divisors) {
    int n = h->space->n_loops;
    h->lanes = lanes;
    h->wanted = sx_systolic_sums_wanted(h->plan, lanes);
    h->choices[n].most_hidden = 1;
    for (int depth = n - 1; depth >= 0; depth--) {
        choices *c = &h->choices[depth];
        list_divisors(h, c, h->order[depth], divisors);
        if (c->n == 0) return;
        c->most_hidden = c->least[0].hide * h->choices[depth + 1].most_hidden;
        set_least(h, depth);
    }
    if (sx_systolic_promises(evaluate_records(h), h->find->best)) descend_loops(h, 0, 1, 1);
}

/* The order of the loops: space loops first, the SIMD loop last. */
static void order_loops(box_search *h) {
    int n = 0;
    for (int i = 0; i < h->plan->design.n_space; i++) h->order[n++] = h->plan->design.space[i];
    for (int pass = 0; pass < 2; pass++)
        for (int d = 0; d < h->space->n_loops; d++)
            if (!is_space(h, d) && (d == h->plan->simd) == (pass == 1)) h->order[n++] = d;
}

/* An upper bound of the number of choices of a loop; *longest becomes the most divisors of a tile. */
static size_t count_choices(const box_search *h, int loop, size_t *longest) {
    size_t count = 0;
    for (size_t i = 0; i < h->box->n[loop]; i++) {
        size_t n = is_space(h, loop) ? sx_divisors_of(h->box->t1[loop][i], NULL) : 1;
        if (n > *longest) *longest = n;
        count += n;
    }
    return count;
}

/* The memory of a search: parts of one block, which is returned; NULL when memory is out. */
static void *make_room(box_search *h, uint32_t **divisors) {
    size_t kernels = h->space->n_kernels, pairs = 0, longest = 1, count[SX_MAX_SYSTOLIC_LOOPS] = {0};
    int n = h->space->n_loops;
    for (int depth = 0; depth < n; depth++) {
        count[depth] = count_choices(h, h->order[depth], &longest);
        pairs += count[depth];
    }
    size_t records = (pairs + (size_t)n) * kernels;
    char *block = malloc(kernels * sizeof *h->tile + records * sizeof(sx_systolic_tile) +
                         pairs * sizeof(sx_pair_of_tiles) + longest * sizeof **divisors);
    if (!block) return NULL;
    h->tile = (void *)block;
    sx_systolic_tile *record = (void *)(block + kernels * sizeof *h->tile);
    sx_pair_of_tiles *pair = (void *)(record + records);
    *divisors = (void *)(pair + pairs);
    for (int depth = 0; depth < n; depth++) {
        h->choices[depth] =
            (choices){.pair = pair, .record = record, .least = record + count[depth] * kernels};
        record += (count[depth] + 1) * kernels;
        pair += count[depth];
    }
    return block;
}

bool sx_tile_box_search(const sx_systolic_objective_value *objective, uint32_t design, const sx_tile_box *box,
                        sx_worker *worker, sx_tile_find *find, bool *failed) {
    box_search h = {.objective = objective,
                    .space = objective->space,
                    .plan = &objective->space->plan[design],
                    .box = box,
                    .worker = worker,
                    .find = find,
                    .point = {.design = design}};
    uint32_t *divisors = NULL;
    find->found = false;
    order_loops(&h);
    void *room = make_room(&h, &divisors);
    *failed = !room;
    uint32_t lanes = 1;
    while (2 * lanes <= h.plan->limits.lanes) lanes *= 2;
    for (; room && lanes > 0 && !h.stopped; lanes /= 2) search_lanes(&h, lanes, divisors);
    free(room);
    return room && !h.stopped;
}
