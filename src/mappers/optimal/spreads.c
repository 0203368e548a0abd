/* Every way to spread dimensions over compute units in parts that divide, without regard to the levels between them: as
 * many as divisors of the sizes whose product is at most the number of units.
 *
 * Complexity: one step per such product. */
#include "mappers/optimal/spreads.h"

#include "base/divisor.h"
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

double sx_optimal_least_spread(const sx_optimal *o) {
    spreading s = {.o = o, .least = INFINITY, .left = MOST_PRODUCTS};
    spread_from(&s, 0, (double)o->space->model->compute_instances);
    return s.left > 0 ? s.least : -INFINITY;
}
