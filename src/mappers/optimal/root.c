/* The least of all mappings: the compulsory minimum, the least latency of any tile that may be launched and, where tiles divide,
 * the cycles on as many compute units as they can use. And the least of every way to spread dimensions over compute units in
 * parts that divide, without regard to the levels between them: as many as divisors of the sizes whose product is at most the
 * number of units.
 *
 * Complexity: one step per such product. */
#include "mappers/optimal/root.h"

#include "base/divisor.h"
#include "base/status.h"
#include "model/delivery.h"

#include <math.h>

enum { MOST_PRODUCTS = 200000 };

/* The dimensions that are spread already, and the least value so far. */
typedef struct spreading {
    const sx_optimal *o;
    double spread[SX_MAX_DIMS], least;
    size_t left; /* products that may be visited */
} spreading;

sx_score sx_optimal_spread_score(const sx_optimal *o, const double *spread) {
    const sx_model *model = o->space->model;
    sx_score least = o->root;
    double units = 1;
    if (model->range) return least; /* its energy is a mean by cycles: a bound with its own cycles alone */
    for (int d = 0; d < model->n_dims; d++) units *= spread[d];
    least.cycles = fmax(least.cycles, sx_optimal_cycles_on(model, units));
    least.energy_pj += sx_model_delivery(model, o->access, spread);
    return least;
}

/* Spreads the dimensions from d on over that many units. */
static void spread_from(spreading *s, int d, double units) {
    uint32_t divisor[SX_MOST_DIVISORS];
    if (s->left == 0) return;
    if (d == s->o->space->model->n_dims) {
        s->left--;
        const sx_score score = sx_optimal_spread_score(s->o, s->spread);
        s->least = fmin(s->least, sx_prune_rule_value(&s->o->rule, &score));
        return;
    }
    const size_t n = sx_divisors_of(s->o->space->problem->size[d], divisor);
    for (size_t i = 0; i < n && divisor[i] <= units; i++) {
        s->spread[d] = divisor[i];
        spread_from(s, d + 1, floor(units / divisor[i]));
    }
}

/* The least value of a mapping whose factors divide, by how it spreads the dimensions; -INFINITY where there are too many ways. */
static double least_spread(const sx_optimal *o) {
    spreading s = {.o = o, .least = INFINITY, .left = MOST_PRODUCTS};
    spread_from(&s, 0, (double)o->space->model->compute_instances);
    return s.left > 0 ? s.least : -INFINITY;
}

void sx_optimal_find_most(const sx_map_space *space, uint32_t (*most)[SX_MAX_DIMS]) {
    for (int s = 0; s < space->arch->n_levels; s++)
        for (int d = 0; d < space->problem->n_dims; d++) most[s][d] = space->max[d][space->temporal_slot[s]];
}

/* The outermost level of each tensor that some level keeps in every mapping and none further out in any. Of
 * mappings that leave remainders, whose accesses true execution counts, reads with first updates are left out. */
static sx_model_home find_homes(const sx_map_space *space) {
    sx_model_home home = {0};
    for (int v = 0; v < space->problem->n_tensors; v++) {
        int s = space->arch->n_levels - 1;
        while (s > 0 && !((unsigned)(space->fixed_keep[s] | space->free_keep[s] | space->banked[s]) >> v & 1))
            s--;
        home.level[v] = (int8_t)(space->fixed_keep[s] >> v & 1 ? s : -1);
        if (home.level[v] >= 0 && !space->options.remainders)
            home.found |= space->constraints.level[s].rmw_first_update & (1u << v);
    }
    return home;
}

sx_status sx_optimal_find_root(sx_optimal *o) {
    const sx_map_space *space = o->space;
    const sx_model *model = space->model;
    double share = 1;
    const sx_model_home home = find_homes(space);
    o->root = sx_model_minimum_at(model, &home);
    for (int v = 0; v < model->n_tensors; v++) o->access[v] = sx_model_cheapest_access(model, v);
    if (!space->options.remainders) SX_TRY(sx_spatial_mappings_utilization(space, &share));
    if (!model->range)
        o->root.cycles =
            fmax(o->root.cycles, sx_optimal_cycles_on(model, share * (double)model->compute_instances));
    if (o->rule.latency && model->law && space->options.remainders) {
        uint32_t most[SX_MAX_LEVELS][SX_MAX_DIMS];
        sx_optimal_find_most(space, most);
        o->root.latency = fmax(o->root.latency, sx_latency_bound_any(model, space->fixed_keep, most));
    }
    const bool spreads = !space->options.remainders && o->rule.objective->n_criteria == 1 && !o->rule.front &&
                         sx_prune_rule_monotone(&o->rule, 0);
    o->least_spread = spreads ? least_spread(o) : -INFINITY;
    return SX_OK;
}
