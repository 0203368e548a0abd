/* The energy of a design, in energies of one multiply-accumulate. Source: the released tuner of Odyssey,
 * which weighs what is counted as Eyeriss (ISCA 2016) does: 1 for a multiply-accumulate and for a register, 2
 * for a hop between neighbours, 6 for a buffer, 200 for a word from outside. What differs: the tuner divides
 * by 10^9, and charges a double buffer a handover per tile; here neither is done. */
#include "systolic/flow.h"

static const double REGISTER = 1, HOP = 2, BUFFER = 6, OUTSIDE = 200;

/* How often the words that a result moves out move, both ways: corrected, a first visit reads none. */
static double both_ways(const sx_tiled *t, const sx_flow *f) {
    if (t->form.streams) return 1;
    return t->form.corrected ? 2 - 1 / f->visits : 2;
}

/* Words that buffers receive and send. */
static double buffer_words(const sx_tiled *t, const sx_flow *f, int operand) {
    const sx_systolic_part *part = &t->form.part[operand];
    sx_pace p = sx_pace_at(t, f, part->level, sx_pes_along(t, part->rep));
    if (operand != SX_RESULT) return f->pack * (p.all + sx_compute_cycles(t));
    if (t->form.streams)
        return f->pack * (p.all + (part->level == 1 ? 1 : sx_trips_of(t, t->form.summed)) * f->moved);
    return both_ways(t, f) * f->pack * (p.all + f->moved);
}

/* Words times hops along the chains of buffers: a word goes half way on average. */
static double chain_hops(const sx_tiled *t, const sx_flow *f, int operand) {
    const sx_systolic_part *part = &t->form.part[operand];
    double words = sx_pes_along(t, part->above) * f->moved, sum = 0;
    for (int level = part->level; level <= t->form.top; level++) {
        sx_loops along = level == part->level ? part->rep : t->form.space & (sx_loops)~part->rep;
        double chain = level < t->form.top ? sx_pes_along(t, along) : 1;
        sum += (1 + chain) / 2 * words;
    }
    return operand == SX_RESULT ? both_ways(t, f) * sum : sum;
}

double sx_systolic_energy(const sx_systolic_plan *plan, const sx_systolic_factors *factors,
                          const sx_systolic_tile *tile, double lanes, double offchip_words) {
    sx_tiled t = {plan->form, plan, factors, tile, lanes};
    double pes = sx_pes_along(&t, plan->form.space), macs = lanes * sx_compute_cycles(&t) * pes;
    double buffers = plan->form.sums ? 2 * macs : 0, registers = (plan->form.sums ? 2 : 4) * macs, hopped = 0;
    for (int a = 0; a < SX_N_OPERANDS; a++) {
        sx_flow f = sx_follow(&t, a);
        buffers += buffer_words(&t, &f, a);
        hopped += chain_hops(&t, &f, a) + pes * (a == SX_RESULT ? f.moved : sx_compute_cycles(&t) * lanes);
    }
    return macs + BUFFER * buffers + REGISTER * registers + HOP * hopped + OUTSIDE * offchip_words;
}
