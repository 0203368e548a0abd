/* The performance and resources of a design. Source: Odyssey (DAC 2023), section 4.3, whose models AutoSA
 * writes for each design; docs/systolic.md derives the rules that replace them.
 *
 * Every term is a product over loops. What repeats with the tile loops is the product of what each loop adds
 * up to over the whole run (`all`, `spans`, `trips`), what happens once the product of `step` or `span`; so
 * the same lines cost tiles, and bound the cost of tiles that are known in part. All numbers are multiples of
 * 1/64, exact in doubles up to 2^47.
 *
 * Complexity: a few multiplications per loop and array. */
#include "systolic/flow.h"

enum { BRAM_DEPTH = 512 };

/* Collects terms and buffers one by one; NULL: not collected. */
typedef struct ledger {
    size_t n_terms, n_buffers;
    sx_systolic_term *term;
    sx_systolic_buffer *buffer;
} ledger;

/* What is measured, and the maxima so far. */
typedef struct measuring {
    sx_tiled at;
    double compute; /* cycles of the PEs over all passes */
    double prologue, steady, epilogue, bram, offchip;
} measuring;

/* Adds a term. */
SX_INLINE void busy(measuring *s, ledger *l, sx_systolic_term term) {
    s->prologue = sx_larger(s->prologue, term.prologue);
    s->steady = sx_larger(s->steady, term.steady);
    s->epilogue = sx_larger(s->epilogue, term.epilogue);
    if (l) l->term[l->n_terms++] = term;
}

/* Adds buffers of a depth in packs. */
SX_INLINE void hold(measuring *s, ledger *l, double depth, sx_systolic_buffer buffer) {
    buffer.bram18k =
        buffer.copies * s->at.plan->limits.width[(int)buffer.pack] * sx_round_up(depth * (1.0 / BRAM_DEPTH));
    s->bram += buffer.bram18k;
    if (l) l->buffer[l->n_buffers++] = buffer;
}

/* What is left of a sum over visits when the first visit of each tile is left out. */
SX_INLINE double but_first(double all, double visits) {
    return all / visits * (visits - 1);
}

/* The levels that an array passes from memory to its buffers, or `out` of them. Of sums that come back, corrected
 * (`again`), the first visit of each tile brings nothing. */
SX_INLINE void pass_levels(measuring *s, ledger *l, const sx_flow *f, int operand, bool out, bool again) {
    const sx_systolic_part *part = &s->at.form.part[operand];
    double chains = sx_pes_along(&s->at, part->above);
    for (int level = part->level + 1; level <= s->at.form.top; level++) {
        sx_pace p = sx_pace_at(&s->at, f, level, chains);
        busy(s, l,
             (sx_systolic_term){.role = level < s->at.form.top ? SX_SYSTOLIC_PASSES
                                        : out                  ? SX_SYSTOLIC_GOES
                                                               : SX_SYSTOLIC_COMES,
                                .operand = (uint8_t)operand,
                                .level = (uint8_t)level,
                                .prologue = out || again ? 0 : p.once,
                                .steady = again ? but_first(p.all, f->visits) : p.all,
                                .epilogue = out ? p.once : 0});
    }
}

/* An input: double buffers that are filled while the PEs compute. */
SX_INLINE void bring(measuring *s, ledger *l, int operand) {
    const sx_systolic_part *part = &s->at.form.part[operand];
    sx_flow f = sx_follow(&s->at, operand);
    sx_pace p = sx_pace_at(&s->at, &f, part->level, sx_pes_along(&s->at, part->rep));
    busy(s, l,
         (sx_systolic_term){.role = SX_SYSTOLIC_ENTERS,
                            .operand = (uint8_t)operand,
                            .level = part->level,
                            .prologue = p.once + 1,
                            .steady = sx_larger(p.all, s->compute) + f.moves});
    pass_levels(s, l, &f, operand, false, false);
    hold(s, l, f.packs,
         (sx_systolic_buffer){.role = SX_SYSTOLIC_ENTERS,
                              .operand = (uint8_t)operand,
                              .level = part->level,
                              .copies = 2 * sx_pes_along(&s->at, part->count),
                              .words = f.words,
                              .pack = f.pack});
    if (part->level == s->at.form.top && !s->at.form.corrected)
        s->offchip += f.moved + s->compute + f.moves;
    else
        s->offchip += sx_pes_along(&s->at, part->above) * f.sent;
}

/* The result where its sums are finished before they leave. */
SX_INLINE void deliver(measuring *s, ledger *l) {
    const sx_systolic_part *part = &s->at.form.part[SX_RESULT];
    sx_flow f = sx_follow(&s->at, SX_RESULT);
    sx_pace p = sx_pace_at(&s->at, &f, part->level, sx_pes_along(&s->at, part->rep));
    double sums = sx_trips_of(&s->at, s->at.form.summed);
    bool drains = part->level == 1;
    busy(s, l,
         (sx_systolic_term){.role = SX_SYSTOLIC_LEAVES,
                            .operand = SX_RESULT,
                            .level = part->level,
                            .steady = drains ? p.all + f.moved : sx_larger(p.all, sums * f.moved) + f.moves,
                            .epilogue = drains ? p.once : 1});
    pass_levels(s, l, &f, SX_RESULT, true, false);
    hold(s, l, f.packs,
         (sx_systolic_buffer){.role = SX_SYSTOLIC_LEAVES,
                              .operand = SX_RESULT,
                              .level = part->level,
                              .copies = (drains ? 1 : 2) * sx_pes_along(&s->at, part->count),
                              .words = f.words,
                              .pack = f.pack});
    if (part->level == s->at.form.top && !s->at.form.corrected)
        s->offchip += f.moved + sums * f.moved + f.moves;
    else
        s->offchip += sx_pes_along(&s->at, part->above) * f.sent;
}

/* The result where partial sums leave and come back. Corrected, every visit of a tile writes it, and all but
 * the first read it; the buffers for that are there even where each tile is visited once. Above the PEs, sums
 * of several passes meet in the buffers. */
SX_INLINE void exchange(measuring *s, ledger *l) {
    const sx_systolic_part *part = &s->at.form.part[SX_RESULT];
    sx_flow f = sx_follow(&s->at, SX_RESULT);
    sx_pace p = sx_pace_at(&s->at, &f, part->level, sx_pes_along(&s->at, part->rep));
    bool corrected = s->at.form.corrected;
    sx_loops met = part->level == 2 && corrected ? s->at.form.summed & (sx_loops)~part->outer : 0;
    double chains = sx_pes_along(&s->at, part->above), all = sx_larger(p.all, f.moved) + f.moves;
    sx_systolic_term term = {.role = SX_SYSTOLIC_ENTERS, .operand = SX_RESULT, .level = part->level};
    sx_systolic_buffer buffer = {.role = SX_SYSTOLIC_ENTERS,
                                 .operand = SX_RESULT,
                                 .level = part->level,
                                 .copies = 2 * sx_pes_along(&s->at, part->count),
                                 .words = f.words,
                                 .pack = f.pack};
    term.prologue = corrected ? 0 : p.once + 1;
    term.steady = corrected ? but_first(all, f.visits) : all;
    if (!corrected || f.visits > 1) {
        busy(s, l, term);
        pass_levels(s, l, &f, SX_RESULT, false, corrected);
    }
    hold(s, l, f.packs, buffer);
    term.role = buffer.role = SX_SYSTOLIC_LEAVES;
    term.prologue = 0;
    term.steady = sx_larger(p.all, sx_trips_of(&s->at, met) * f.moved) + f.moves;
    term.epilogue = p.once + 1;
    busy(s, l, term);
    pass_levels(s, l, &f, SX_RESULT, true, false);
    hold(s, l, f.packs, buffer);
    if (part->level == s->at.form.top && !corrected)
        s->offchip += 2 * (2 * f.moved + f.moves);
    else
        s->offchip += chains * f.sent + (corrected ? but_first(chains * f.sent, f.visits) : chains * f.sent);
}

/* The sums that PEs hold. */
SX_INLINE void accumulate(measuring *s, ledger *l, double pes) {
    double words = 1, side = s->at.form.chained ? 1 : s->at.lanes;
    for (int d = 0; d < s->at.form.n_loops; d++)
        if (s->at.form.part[SX_RESULT].loops >> d & 1) words *= s->at.tile[d].step;
    hold(
        s, l, words / side,
        (sx_systolic_buffer){
            .role = SX_SYSTOLIC_COMPUTES, .operand = SX_RESULT, .copies = pes, .words = words, .pack = side});
}

/* Measures a design; collects its terms where asked for. */
SX_INLINE void weigh(const sx_systolic_plan *plan, const sx_systolic_form *form,
                     const sx_systolic_factors *factors, const sx_systolic_tile *tile, double lanes,
                     ledger *l, sx_systolic_cost *out) {
    measuring s = {.at = {*form, plan, factors, tile, lanes}};
    double pes = sx_pes_along(&s.at, form->space),
           passes = sx_trips_of(&s.at, (sx_loops)((1u << form->n_loops) - 1));
    s.compute = sx_compute_cycles(&s.at);
    busy(&s, l,
         (sx_systolic_term){.role = SX_SYSTOLIC_COMPUTES,
                            .steady = form->handover > 0 ? s.compute + passes * form->handover : s.compute});
    bring(&s, l, SX_FIRST);
    bring(&s, l, SX_SECOND);
    if (form->streams)
        deliver(&s, l);
    else
        exchange(&s, l);
    if (form->sums) accumulate(&s, l, pes);
    *out = (sx_systolic_cost){.latency = s.prologue + s.steady + s.epilogue,
                              .prologue = s.prologue,
                              .steady = s.steady,
                              .epilogue = s.epilogue,
                              .dsp = sx_systolic_dsp(&plan->limits, pes, lanes),
                              .bram18k = s.bram,
                              .offchip_words = s.offchip};
}

/* Measures any design. */
static void measure_any(const sx_systolic_plan *plan, const sx_systolic_factors *factors,
                        const sx_systolic_tile *tile, double lanes, sx_systolic_cost *out) {
    weigh(plan, &plan->form, factors, tile, lanes, NULL, out);
}

/* The outlines of the paper's kernels, whose loops are i, j, k and o, r, c, i. */
#define MATRIX(n, first, second, stay)                                                                       \
    { 3, n, {first, second}, stay, {5, 6, 3}, {2, 2, 1}, false, true, false }
#define CONVOLUTION(n, first, second, stay)                                                                  \
    { 4, n, {first, second}, stay, {14, 9, 7}, {3, 3, 0}, true, true, false }

/* Functions for the three permutations of a dataflow, and their names. */
#define MEASURER(name, ...)                                                                                  \
    static void name(const sx_systolic_plan *plan, const sx_systolic_factors *factors,                       \
                     const sx_systolic_tile *tile, double lanes, sx_systolic_cost *out) {                    \
        const sx_systolic_outline outline = __VA_ARGS__;                                                     \
        const sx_systolic_form form = sx_form_of(&outline);                                                  \
        weigh(plan, &form, factors, tile, lanes, NULL, out);                                                 \
    }
#define MEASURERS(KERNEL, n, first, second)                                                                  \
    MEASURER(KERNEL##_##n##first##second##_first, KERNEL(n, first, second, SX_FIRST))                        \
    MEASURER(KERNEL##_##n##first##second##_second, KERNEL(n, first, second, SX_SECOND))                      \
    MEASURER(KERNEL##_##n##first##second##_result, KERNEL(n, first, second, SX_RESULT))
#define NAMES(KERNEL, n, first, second)                                                                      \
    {KERNEL##_##n##first##second##_first, KERNEL##_##n##first##second##_second,                              \
     KERNEL##_##n##first##second##_result},

/* The dataflows, in the order of their numbers: how many space loops there are, and which. */
#define MATRIX_DATAFLOWS(DO)                                                                                 \
    DO(MATRIX, 1, 0, 0)                                                                                      \
    DO(MATRIX, 1, 1, 0) DO(MATRIX, 1, 2, 0) DO(MATRIX, 2, 0, 1) DO(MATRIX, 2, 0, 2) DO(MATRIX, 2, 1, 2)
#define CONVOLUTION_DATAFLOWS(DO)                                                                            \
    DO(CONVOLUTION, 1, 0, 0)                                                                                 \
    DO(CONVOLUTION, 1, 1, 0)                                                                                 \
    DO(CONVOLUTION, 1, 2, 0)                                                                                 \
    DO(CONVOLUTION, 1, 3, 0)                                                                                 \
    DO(CONVOLUTION, 2, 0, 1)                                                                                 \
    DO(CONVOLUTION, 2, 0, 2)                                                                                 \
    DO(CONVOLUTION, 2, 0, 3) DO(CONVOLUTION, 2, 1, 2) DO(CONVOLUTION, 2, 1, 3) DO(CONVOLUTION, 2, 2, 3)

MATRIX_DATAFLOWS(MEASURERS)
CONVOLUTION_DATAFLOWS(MEASURERS)

static sx_systolic_measurer *const matrix[][SX_N_OPERANDS] = {MATRIX_DATAFLOWS(NAMES)};
static sx_systolic_measurer *const convolution[][SX_N_OPERANDS] = {CONVOLUTION_DATAFLOWS(NAMES)};

/* Whether two outlines have arrays that are indexed alike. */
static bool same_arrays(const sx_systolic_outline *a, const sx_systolic_outline *b) {
    bool same = a->n_loops == b->n_loops && a->sliding == b->sliding && a->chained == b->chained;
    for (int i = 0; i < SX_N_OPERANDS; i++)
        same = same && a->loops[i] == b->loops[i] && a->last[i] == b->last[i];
    return same && a->corrected == b->corrected;
}

sx_systolic_measurer *sx_systolic_measurer_of(const sx_systolic_outline *outline, int dataflow) {
    const sx_systolic_outline product = MATRIX(0, 0, 0, 0), sliding = CONVOLUTION(0, 0, 0, 0);
    if (same_arrays(outline, &product)) return matrix[dataflow][outline->stationary];
    return same_arrays(outline, &sliding) ? convolution[dataflow][outline->stationary] : measure_any;
}

void sx_systolic_write_down(const sx_systolic_plan *plan, const sx_systolic_factors *factors,
                            const sx_systolic_tile *tile, double lanes, sx_systolic_items *out) {
    ledger l = {.term = out->term, .buffer = out->buffer};
    sx_systolic_cost cost;
    weigh(plan, &plan->form, factors, tile, lanes, &l, &cost);
    out->n_terms = l.n_terms;
    out->n_buffers = l.n_buffers;
}
