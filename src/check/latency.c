/* Latency without the model's rules, in doubles. The law of docs/latency.md gives the latency of the claimed mapping. For the
 * lower bound every tile is listed that the outermost level may launch and the levels inside have room for: its loads, stores
 * and, with an array, its computes follow from it, misses of caches from the best order of the loops. Without an array the
 * units do one compute a cycle each. */
#include "check/latency.h"

#include "check/target.h"
#include "check/tile_law.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What is left to rounding of doubles. */
static const double SLACK = 1e-10;
enum { MOST_TILES = 20000000 };

/* A list of tiles. */
typedef struct tile_list {
    const sx_check_space *space;
    const sx_check_tile_law *law;
    sx_check_tile tile;
    double claimed; /* no bound need be above it */
    double least;
    uint64_t n;
} tile_list;

/* Words of a tensor's tile at the least, however its parts lie: of every rank its longest dimension. */
static double least_words(const sx_check_space *space, int level, int v, const int64_t *extent) {
    const sx_tensor *tensor = &space->c->problem.tensor[v];
    double words = 1;
    unsigned counted = 0;
    for (int r = 0; r < tensor->n_ranks; r++) {
        int64_t longest = 1;
        int which = -1;
        for (int d = 0; d < space->n_dims; d++)
            if (tensor->coef[r][d] && !(counted >> d & 1) && extent[d] > longest) {
                longest = extent[d];
                which = d;
            }
        if (which >= 0) counted |= 1u << which;
        words *= (double)longest;
    }
    return tensor->bits ? words * tensor->bits / (double)space->c->machine.level[level].word_bits : words;
}

/* Whether a level may have temporal loops. */
static bool has_loops(const sx_check_space *space, int level) {
    for (int d = 0; d < space->n_dims; d++)
        if (space->temporal[level][d].most > 1 && space->c->problem.size[d] > 1) return true;
    return false;
}

/* Whether the levels inside may hold a tile: what the next one must keep, and so on inward until loops cut the tile. */
static bool fits_inside(const sx_check_space *space, const int64_t *extent) {
    const sx_check_machine *m = &space->c->machine;
    for (int s = m->n_levels - 2; s >= 0; s--) {
        const double instances = (double)(m->level[s].mesh[0] * m->level[s].mesh[1]);
        double words = 0;
        for (int v = 0; v < space->n_tensors; v++)
            if (space->must[s] >> v & 1) words += least_words(space, s, v, extent);
        if (m->level[s].usable >= 0 && words > (double)m->level[s].usable * instances) return false;
        if (instances == 1 && s == m->n_levels - 2 && !sx_check_has_room(space, s, space->must[s], extent))
            return false;
        if (has_loops(space, s)) break;
    }
    return true;
}

/* Lowers the least latency to that of the current tile. */
static void bound_tile(tile_list *list) {
    const sx_check_space *space = list->space;
    const sx_check_case *c = space->c;
    const int last = c->machine.n_levels - 1;
    list->n++;
    if (!fits_inside(space, list->tile.extent)) return;
    const double units = (double)(c->machine.compute_mesh[0] * c->machine.compute_mesh[1]);
    double macs = 1;
    for (int d = 0; d < space->n_dims; d++) macs *= c->problem.size[d];
    list->tile.kept = space->must[last];
    list->tile.steps = macs / units;
    double latency = sx_check_tile_latency(list->law, &list->tile, NULL);
    if (latency < list->claimed && list->law->law->n_caches)
        latency = sx_check_tile_best_order(list->law, &list->tile);
    if (latency < list->least) list->least = latency;
}

/* Lists the tiles of all extents from a dimension on. */
static void list_tiles(tile_list *list, int d) {
    const sx_check_space *space = list->space;
    const sx_check_range *range = space->temporal[space->n_levels - 1];
    if (list->n > MOST_TILES) return;
    if (d == space->n_dims) {
        bound_tile(list);
        return;
    }
    for (int i = 0; i < space->n_divisors[d]; i++) {
        const int64_t times = space->divisor[d][i];
        if (times < range[d].least || times > range[d].most) continue;
        list->tile.times[d] = times;
        list->tile.extent[d] = (int64_t)space->c->problem.size[d] / times;
        list_tiles(list, d + 1);
    }
}

/* The latency of the claimed mapping; cycles are those of the levels that no law stands for. */
static double latency_of(const sx_check_space *space, const sx_check_tile_law *law, double cycles,
                         double network) {
    const sx_mapping *mapping = &space->c->best.mapping;
    const int last = space->n_levels - 1;
    sx_check_tile tile = {.kept = mapping->level[last].keep, .steps = 1};
    for (int d = 0; d < space->n_dims; d++) {
        tile.times[d] = mapping->level[last].temporal[d];
        tile.extent[d] = (int64_t)space->c->problem.size[d] / tile.times[d];
        for (int s = 0; s <= last; s++) tile.steps *= mapping->level[s].temporal[d];
    }
    const double own = sx_check_tile_latency(law, &tile, mapping->level[last].temporal_order);
    return fmax(own, law->array ? 0 : cycles - network) + network;
}

/* Says why there is no rule for a claim; NULL: there is. */
static const char *missing_rule(const sx_check_case *c) {
    const sx_law *law = &c->machine.law;
    const sx_check_level *last = &c->machine.level[c->machine.n_levels - 1];
    if (!c->claim.latency) return "an objective other than latency with the tile pipeline";
    if (!c->machine.lawful) return "the tile pipeline without a law";
    if (c->remainders) return "latency and remainders";
    if (c->n_front || c->claim.tie) return "latency and several criteria";
    if (!law->refetch || law->spill) return "a law without a refetch, or with sums that spill";
    if (last->mesh[0] * last->mesh[1] != 1) return "a law of several instances";
    if ((law->n_array > 0) != (law->load_bus > 0)) return "a law with an array or a bus alone";
    return NULL;
}

/* Whether a double says another one. */
static bool says_double(double claimed, double counted) {
    return fabs(claimed - counted) <= SLACK * counted;
}

/* Lists all tiles and compares their least latency with the claimed lower bound. */
static void check_tiles(const sx_check_space *space, const sx_check_tile_law *law, double network,
                        sx_independent_report *out, sx_check_doubt *doubt) {
    const sx_check_claim *claim = &space->c->claim;
    tile_list list = {.space = space, .law = law, .claimed = claim->lower_bound, .least = INFINITY};
    list_tiles(&list, 0);
    out->launched = list.n;
    out->certified = fmin(list.least + network, claim->value);
    out->verdict = SX_INDEPENDENT_UNDECIDED;
    if (list.n > MOST_TILES) {
        sx_check_doubt_add(doubt, "there are more than %d tiles", MOST_TILES);
    } else if (list.least + network >= claim->lower_bound * (1 - SLACK)) {
        out->verdict = SX_INDEPENDENT_HOLDS;
    } else {
        out->better = 1 - out->certified / claim->value;
        sx_check_doubt_add(doubt,
                           "no mapping is faster than %.17g cycles, so that none is better by more than "
                           "%.3g %%; the claimed lower bound of %.17g is above it",
                           out->certified, 100 * out->better, claim->lower_bound);
    }
}

void sx_check_latency(const sx_check_space *space, sx_independent_report *out, sx_check_doubt *doubt) {
    const sx_check_case *c = space->c;
    const sx_check_claim *claim = &c->claim;
    const char *missing = missing_rule(c);
    sx_check_tile_law law;
    double network = 0, cycles;
    out->verdict = SX_INDEPENDENT_UNDECIDED;
    if (missing) {
        sx_check_doubt_add(doubt, "there is no rule for %s", missing);
        return;
    }
    for (int s = 0; s < c->machine.n_levels; s++)
        network += (double)(c->machine.level[s].fill_latency + c->machine.level[s].drain_latency);
    out->verdict = sx_check_best(space, out, &cycles, doubt);
    if (out->verdict != SX_INDEPENDENT_HOLDS) return;
    sx_check_tile_law_init(c, &law);
    out->latency = latency_of(space, &law, cycles, network);
    if (says_double(claim->value, out->latency) && says_double(c->best.latency, out->latency) &&
        claim->lower_bound <= claim->value && (!claim->optimal || claim->lower_bound == claim->value)) {
        check_tiles(space, &law, network, out, doubt);
        return;
    }
    out->verdict = SX_INDEPENDENT_FAILS;
    sx_check_doubt_add(doubt, "the latency of the mapping is %.17g cycles, not what is claimed",
                       out->latency);
}
