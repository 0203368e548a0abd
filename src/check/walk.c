/* T8 of docs/proof.md: all tiles and orders of an outline that the tables of T3 leave, from the innermost loop outward.
 * Each mapping that is left is evaluated exactly. Nothing is passed over but by a bound, and by T7: orders that cannot
 * differ in cost. */
#include "check/target.h"

#include <stdio.h>
#include <string.h>

typedef struct walk {
    sx_check_work *work;
    sx_check_lattice *l;
    const sx_check_outline *o;
    sx_check_found *found;
    sx_wide constant;
    bool plain;    /* of all tensors each dimension is alone in its ranks, and memories keep what they have */
    bool linked;   /* compute units may hand words to each other */
    bool laid_out; /* layouts on X and Y may differ in cost */
    sx_check_evaluator *evaluator;
    sx_mapping mapping;
} walk;

/* A place in the walk: inside the loops of a level. */
typedef struct place {
    int level, state, n_loops, last; /* loops of the level so far, and the last of them */
    bool settled;                    /* no tensor waited when the last one was added */
    unsigned done;                   /* dimensions that have one */
    uint32_t point, begin;           /* and the point where the level's loops begin */
    int64_t paid;
} place;

static void walk_from(walk *w, place at);

/* Whether the walk must end; counts a step. */
static bool must_end(walk *w) {
    enum { BEAT = 1024 };
    if (w->found->below || w->found->doubt.why[0]) return true;
    return ++w->found->steps % BEAT == 0 && sx_check_is_over(w->work);
}

void sx_check_judge(const sx_check_target *target, const sx_mapping *mapping, const sx_check_cost *cost,
                    sx_check_found *found) {
    sx_wide own = 0, best = 0;
    if (sx_check_reaches(target, cost->energy, cost->cycles)) return;
    bool rounded = sx_check_is_rounded(target, cost);
    bool late = cost->full && (cost->said > cost->cycles || cost->least_energy < cost->energy);
    if (!rounded && late && sx_check_reaches(target, cost->energy + cost->leak, cost->cycles + 1)) {
        sx_check_doubt_add(&found->doubt, "a mapping is below by a cycle that the model may add");
        return;
    }
    if (rounded && found->rounded && sx_check_value(target->goal, cost->energy, cost->cycles, &own) &&
        sx_check_value(target->goal, found->cost.energy, found->cost.cycles, &best) && own >= best)
        return;
    found->below = !rounded;
    found->rounded = rounded;
    found->mapping = *mapping;
    found->cost = *cost;
}

/* Evaluates the walk's mapping. */
static void evaluate_mapping(walk *w) {
    sx_check_cost cost;
    sx_check_doubt doubt = {""};
    atomic_fetch_add(&w->work->evaluations, 1);
    if (sx_check_is_over(w->work)) sx_check_doubt_add(&w->found->doubt, "stopped early");
    switch (sx_check_evaluator_cost(w->evaluator, &w->mapping, &cost, &doubt)) {
    case SX_COST_ILLEGAL:
        sx_check_doubt_add(&w->found->doubt, "a mapping of the space cannot run: %.160s", doubt.why);
        break;
    case SX_COST_UNDECIDED:
        sx_check_doubt_add(&w->found->doubt, "%.200s", doubt.why);
        break;
    case SX_COST_LEGAL:
        sx_check_judge(&w->work->target, &w->mapping, &cost, w->found);
    }
}

/* Goes through the layouts of a level's spatial loops and of those outside it. */
static void walk_layouts(walk *w, int s) {
    const sx_check_space *space = w->work->space;
    unsigned loops = 0, x = 0;
    if (s == space->n_levels) {
        evaluate_mapping(w);
        return;
    }
    const int64_t *factor = w->o->spatial->factor[s];
    for (int d = 0; d < space->n_dims; d++) loops |= (unsigned)(factor[d] > 1) << d;
    do {
        if (sx_check_lies(space, s, factor, x)) {
            sx_check_lay(space, s, factor, x, &w->mapping.level[s]);
            walk_layouts(w, s + 1);
            if (!w->laid_out) return;
        }
        x = (x - loops) & loops;
    } while (x && !must_end(w));
}

/* Whether the factors that a level has got are within its limits, and its loops in an order that these allow. */
static bool level_allowed(const walk *w, int s, int n_loops) {
    const sx_check_space *space = w->work->space;
    const sx_mapping_level *level = &w->mapping.level[s];
    for (int d = 0; d < space->n_dims; d++) {
        sx_check_range range = space->temporal[s][d];
        if (level->temporal[d] < range.least || level->temporal[d] > range.most) return false;
    }
    return sx_check_order_allowed(space, s, level->temporal_order, n_loops);
}

/* Completes the order of a level by the dimensions without a loop. */
static void complete_order(walk *w, int s, int n_loops, unsigned done) {
    for (int d = 0; d < w->work->space->n_dims; d++)
        if (!(done >> d & 1)) w->mapping.level[s].temporal_order[n_loops++] = (uint8_t)d;
}

/* Ends a level's loops where the walk stands. */
static void end_level(walk *w, const place *at) {
    int s = at->level;
    if (!level_allowed(w, s, at->n_loops)) return;
    complete_order(w, s, at->n_loops, at->done);
    if (s + 1 == w->work->space->n_levels) {
        if (at->point + 1 == w->l->n_points) walk_layouts(w, 0);
        return;
    }
    if (!sx_check_point_fits(w->l, s, at->point)) return;
    walk_from(w, (place){.level = s + 1,
                         .state = sx_check_pass_edge(w->l, s, at->state),
                         .last = -1,
                         .point = at->point,
                         .begin = at->point,
                         .paid = at->paid});
}

/* Whether a loop on a dimension need not be tried next. T7: where no tensor waits and none has windows, or inside
 * level 0 where units have no links, the order of the loops that follow does not matter; they then stand by rank and
 * dimension. The loop at which the last tensor stops waiting is not one of them: it stands where it stands. */
static bool out_of_turn(const walk *w, const place *at, int d) {
    const uint8_t *rank = w->work->space->rank[at->level][SX_TEMPORAL];
    if (at->last < 0 || !at->settled || !(w->plain || (at->level == 0 && !w->linked))) return false;
    return rank[d] < rank[at->last] || (rank[d] == rank[at->last] && d < at->last);
}

/* Tries all loops on a dimension as the next one. */
static void walk_loops(walk *w, const place *at, int d) {
    const sx_check_lattice *l = w->l;
    int from = (int)(at->point / l->stride[d] % (uint32_t)l->n_divisors[d]), next;
    for (int i = from + 1; i < l->n_divisors[d] && !must_end(w); i++) {
        int64_t factor = l->divisor[d][i] / l->divisor[d][from];
        if (l->divisor[d][i] % l->divisor[d][from] || factor > w->work->space->temporal[at->level][d].most)
            continue;
        int64_t cost = sx_check_pay_loop(l, at->level, at->state, d, factor, at->point, &next);
        w->mapping.level[at->level].temporal[d] = (uint32_t)factor;
        w->mapping.level[at->level].temporal_order[at->n_loops] = (uint8_t)d;
        walk_from(w, (place){.level = at->level,
                             .state = next,
                             .n_loops = at->n_loops + 1,
                             .last = d,
                             .settled = at->state == 0,
                             .done = at->done | 1u << d,
                             .point = at->point + (uint32_t)(i - from) * l->stride[d],
                             .begin = at->begin,
                             .paid = sx_capped_add(at->paid, cost)});
    }
    w->mapping.level[at->level].temporal[d] = 1;
}

/* Goes through all mappings that go on from a place. */
static void walk_from(walk *w, place at) {
    const sx_check_states *states = &w->l->states[at.level];
    int64_t rest = w->l->rest[at.level][(size_t)at.point * (size_t)states->n + (size_t)at.state];
    if (must_end(w) || rest == SX_CHECK_NONE) return;
    if (sx_check_reaches(&w->work->target, w->constant + at.paid + rest, w->o->steps + w->work->latency))
        return;
    end_level(w, &at);
    for (int d = 0; d < w->work->space->n_dims && !must_end(w); d++)
        if (!(at.done >> d & 1) && !out_of_turn(w, &at, d)) walk_loops(w, &at, d);
}

void sx_check_mapping_init(const sx_check_case *c, const unsigned *keep, sx_mapping *out) {
    memset(out, 0, sizeof *out);
    out->n_levels = (uint8_t)c->machine.n_levels;
    out->n_dims = c->problem.n_dims;
    out->n_tensors = c->problem.n_tensors;
    for (int s = 0; s < c->machine.n_levels; s++) {
        const sx_level_limits *limits = &c->limits.level[s];
        sx_mapping_level *at = &out->level[s];
        at->no_temporal_reuse = limits->no_temporal_reuse;
        at->no_multicast = limits->no_multicast;
        at->no_link_transfer = limits->no_link_transfer;
        at->rmw_first_update = limits->rmw_first_update;
        at->keep = (uint8_t)keep[s];
        for (int d = 0; d < c->problem.n_dims; d++) at->temporal[d] = 1;
    }
}

void sx_check_walk(sx_check_work *work, sx_check_lattice *l, const sx_check_outline *o,
                   sx_check_found *found) {
    const sx_check_case *c = work->space->c;
    walk w = {.work = work, .l = l, .o = o, .found = found, .plain = true};
    int64_t flows;
    found->walked++;
    sx_status status = sx_check_lattice_solve(l, o, &work->energy, sx_check_enough(work, o), &flows);
    if (!status) status = sx_check_lattice_tables(l);
    if (!status) status = sx_check_evaluator_new(c, &w.evaluator);
    if (status) {
        sx_status_free(found->status);
        found->status = status;
        return;
    }
    w.constant = sx_check_shared(o, &work->energy);
    sx_check_mapping_init(c, o->keep, &w.mapping);
    for (int v = 0; v < c->problem.n_tensors; v++) w.plain &= o->shape->solo[v] == o->shape->dims[v];
    for (int v = 0; v < c->problem.n_tensors; v++) w.linked |= o->linked[v];
    for (int s = 0; s < c->machine.n_levels; s++) {
        const sx_check_level *level = &c->machine.level[s];
        w.plain &= c->no_link_transfers || !c->limits.level[s].no_temporal_reuse;
        w.laid_out |= level->hop || level->router;
    }
    w.laid_out |= w.linked || (!w.plain && !c->no_link_transfers);
    walk_from(&w, (place){.state = sx_check_first_state(l), .last = -1});
    sx_check_evaluator_free(w.evaluator);
    if (sx_check_is_over(work)) sx_check_doubt_add(&found->doubt, "stopped early");
}
