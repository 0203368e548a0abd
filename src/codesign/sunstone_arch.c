/* Sunstone-arch: memories chosen together with mappings.
 *
 * Source: Sunstone (thesis 2022), chapter 5. Tiles of the innermost memory are listed once for all choices
 * (tile_tree.c) and priced (tile_forest.c). The designs are bins: a bin's cost is the sum over layers, times
 * their counts, of the least price of its tiles (section 5.2.3). The cheapest bin is searched first, by the
 * walk of plain Sunstone from its tiles outward; what it finds cuts items of the bins that follow, and all
 * bins that cost more (section 5.2.2).
 *
 * What differs.
 * - Memories further out are chosen by the same rule as the innermost: a design takes only tiles that its
 *   next smaller memory does not hold. So a mapping is evaluated with its smallest memories only.
 * - With several layers the thesis supposes that the best choice is the best of at least one of them. Here a
 *   layer may use any tile that fits a bin's memories, if no child of it does too; a bin is left out as empty
 *   only if there is a memory in it that no tile of any layer needs so large.
 * - Shapes of arrays are choices, too: each has its own trees, all share the incumbent.
 * - With `plus` the designs that were not cut are searched again by sunstone:plus=on, which is never worse.
 * - With `front` a bin is cut by designs that are not larger only; with `apart` by none (the thesis' middle
 *   bars of figure 7.4).
 * A memory is supposed to cost more if it is larger, and to be smaller than those outside it; where a table
 * says otherwise, or a memory outside holds less than all that is inside, the answer may be worse than the
 * grid's.
 *
 * Complexity: a walk of the trees per layer and shape, and a search of Sunstone's, less what is cut, per bin
 * and layer. */
#include "codesign/tile_forest.h"

#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A design and its tile cost. */
typedef struct bin {
    double cost;
    size_t design;
} bin;

typedef struct forest {
    sx_codesign *c;
    bool own; /* one layer only: a bin takes only tiles that no smaller one holds */
    size_t n_shapes;
    size_t *shape_of;       /* per design */
    sx_tile_forest *forest; /* per shape and target */
    double *bound;          /* per design and target: no item costs less */
    bin *rank;              /* the designs by cost */
    size_t *order;          /* the targets, those that weigh most first */
} forest;

static const sx_tile_forest *forest_of(const forest *f, size_t design, size_t target) {
    return &f->forest[f->shape_of[design] * f->c->n_targets + target];
}

/* Whether two designs have the same arrays. */
static bool same_shape(const sx_designs *designs, size_t a, size_t b) {
    for (size_t k = 0; k < designs->n_parameters; k++)
        if (designs->parameter[k].array &&
            sx_design_options(designs, a)[k] != sx_design_options(designs, b)[k])
            return false;
    return true;
}

/* Puts the targets in the order of their computations. */
static void order_targets(forest *f) {
    const sx_target *target = f->c->target;
    for (size_t t = 0; t < f->c->n_targets; t++) {
        double weight = target[t].weight * (double)sx_problem_computes(target[t].problem);
        size_t at = t;
        for (; at > 0; at--) {
            const sx_target *other = &target[f->order[at - 1]];
            if (other->weight * (double)sx_problem_computes(other->problem) >= weight) break;
            f->order[at] = f->order[at - 1];
        }
        f->order[at] = t;
    }
}

/* Gives every design the number of its shape. */
static void find_shapes(forest *f) {
    const sx_designs *designs = f->c->designs;
    for (size_t d = 0; d < designs->n; d++) {
        size_t other = 0;
        while (!same_shape(designs, d, other)) other++;
        f->shape_of[d] = other < d ? f->shape_of[other] : f->n_shapes++;
    }
}

/* Builds all tile forests. */
static sx_status build_forests(forest *f) {
    const sx_designs *designs = f->c->designs;
    size_t n_targets = f->c->n_targets;
    bool *like = calloc(designs->n, sizeof *like);
    f->forest = calloc(f->n_shapes * n_targets, sizeof *f->forest);
    sx_status status = like && f->forest ? SX_OK : sx_error_memory();
    for (size_t s = 0; s < f->n_shapes && !status; s++) {
        size_t first = designs->n;
        for (size_t d = designs->n; d > 0; d--) {
            like[d - 1] = f->shape_of[d - 1] == s;
            if (like[d - 1]) first = d - 1;
        }
        for (size_t t = 0; t < n_targets && !status && !sx_codesign_stopped(f->c); t++) {
            sx_codesign_begins(f->c, first, t);
            status = sx_tile_forest_init(f->c, t, first, like, &f->forest[s * n_targets + t]);
        }
    }
    free(like);
    return status;
}

/* The least cost of a target's tiles in a bin; INFINITY where it has none. */
static double least_cost(const forest *f, size_t design, size_t target) {
    const sx_tile_forest *g = forest_of(f, design, target);
    uint32_t number = sx_tile_forest_number(g, f->c->designs, design);
    if (!g->usable) return INFINITY;
    if (g->flat || g->apart[number]) return -INFINITY;
    for (size_t i = 0; i < g->nodes.n; i++) {
        const sx_tile_node *node = sx_vector_at(&g->nodes, i);
        if (sx_tile_forest_candidate(g, node, number, f->own)) return node->item.value;
    }
    return INFINITY;
}

/* Whether some tile of a target needs the memory of design parameter k as large as a design has it. */
static bool is_needed(const forest *f, size_t design, size_t target, size_t k) {
    const sx_tile_forest *g = forest_of(f, design, target);
    uint32_t number = sx_tile_forest_number(g, f->c->designs, design);
    int i = 0;
    while (i < g->chosen.n && g->parameter[i] != k) i++;
    if (!g->usable || g->flat || g->apart[number] || i == g->chosen.n) return true;
    for (size_t n = 0; n < g->nodes.n; n++) {
        const sx_tile_node *node = sx_vector_at(&g->nodes, n);
        if (sx_tile_option(&g->chosen, i, node->memory) == sx_tile_option(&g->chosen, i, number) &&
            sx_tile_forest_candidate(g, node, number, false))
            return true;
    }
    return false;
}

/* Whether all that fits a bin's innermost memories fits smaller ones too. */
static bool is_empty(const forest *f, size_t design) {
    const sx_designs *designs = f->c->designs;
    for (size_t k = 0; k < designs->n_parameters; k++) {
        bool needed = designs->parameter[k].array || sx_design_options(designs, design)[k] == 0;
        for (size_t t = 0; t < f->c->n_targets && !needed; t++) needed = is_needed(f, design, t, k);
        if (!needed) return true;
    }
    return false;
}

/* Orders bins by cost, then by number. */
static int by_cost(const void *a, const void *b) {
    const bin *x = a, *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? -1 : 1;
    return (x->design > y->design) - (x->design < y->design);
}

/* Costs the bins and puts them in order. */
static void rank_bins(forest *f) {
    size_t n = f->c->designs->n, n_targets = f->c->n_targets;
    for (size_t d = 0; d < n; d++) {
        double cost = 0;
        for (size_t t = 0; t < n_targets; t++) {
            double bound = f->bound[d * n_targets + t] = least_cost(f, d, t);
            cost = bound == INFINITY || cost == INFINITY ? INFINITY : cost + f->c->target[t].weight * bound;
        }
        f->c->out->design[d].tile_cost = cost;
        f->rank[d] = (bin){cost, d};
    }
    qsort(f->rank, n, sizeof *f->rank, by_cost);
}

/* Gives a plan the unrollings and the candidates of a bin. */
static sx_status fill_plan(const forest *f, size_t design, const sx_tile_forest *g, sx_sunstone *plan) {
    uint32_t number = sx_tile_forest_number(g, f->c->designs, design);
    for (size_t i = 0; i < g->roots.n; i++) {
        void *root = sx_vector_add(&plan->roots);
        if (!root) return sx_error_memory();
        memcpy(root, sx_vector_at(&g->roots, i), g->roots.size);
    }
    for (size_t i = 0; i < g->nodes.n; i++) {
        const sx_tile_node *node = sx_vector_at(&g->nodes, i);
        if (!sx_tile_forest_candidate(g, node, number, f->own) || node->item.value == INFINITY) continue;
        sx_sunstone_item *item = sx_vector_add(&plan->items);
        if (!item) return sx_error_memory();
        *item = node->item;
    }
    return SX_OK;
}

/* Compiles the model with every memory one option smaller, and tells the plan to leave what fits there out.
 */
static sx_status set_smaller(const sx_codesign *c, size_t design, size_t target, sx_sunstone *plan,
                             sx_model **smaller) {
    const uint8_t *option = sx_design_options(c->designs, design);
    sx_arch *arch = malloc(sizeof *arch);
    if (!arch) return sx_error_memory();
    sx_designs_arch(c->designs, design, arch);
    for (size_t k = 0; k < c->designs->n_parameters; k++)
        if (!c->designs->parameter[k].array && option[k] > 0)
            sx_design_parameter_apply(&c->designs->parameter[k], option[k] - 1u, arch);
    sx_status status = sx_model_new(c->target[target].problem, arch, &c->options->model, smaller);
    free(arch);
    SX_TRY(status);
    for (size_t k = 0; k < c->designs->n_parameters; k++) {
        int level = c->designs->parameter[k].level;
        if (!c->designs->parameter[k].array && option[k] > 0)
            plan->smaller[level] = &(*smaller)->level[level];
    }
    return SX_OK;
}

/* Searches a target in a bin, for what is better than `cutoff`, by a plan for it. */
static sx_status search_plan(forest *f, size_t design, size_t target, double cutoff,
                             const sx_target_space *target_space, sx_sunstone *plan, sx_search_outcome *out) {
    const sx_tile_forest *g = forest_of(f, design, target);
    bool begin = g->flat || !sx_tile_forest_matches(g, plan);
    sx_model *smaller = NULL;
    sx_status status = SX_OK;
    plan->cutoff = cutoff;
    if (f->own && (g->flat || !begin)) status = set_smaller(f->c, design, target, plan, &smaller);
    if (!status && !begin) status = fill_plan(f, design, g, plan);
    if (!status) status = sx_search_by_plan(f->c, target_space, plan, begin, out);
    sx_model_free(smaller);
    return status;
}

static sx_status search_target(forest *f, size_t design, size_t target, double cutoff,
                               sx_target_space *target_space, sx_search_outcome *out) {
    sx_sunstone plan;
    sx_sunstone_switches on = sx_plain_switches();
    bool usable;
    *out = (sx_search_outcome){.found = false};
    sx_codesign_begins(f->c, design, target);
    sx_status status = sx_target_space_init(f->c, target, target_space, &usable);
    if (!status && usable) {
        status =
            sx_sunstone_init(sx_map_space_of(target_space->space), &f->c->options->run.objective, &on, &plan);
        if (!status) {
            status = search_plan(f, design, target, cutoff, target_space, &plan, out);
            sx_sunstone_fini(&plan);
        }
    }
    sx_target_space_fini(target_space);
    return status;
}

/* What the target at a place of the order may cost at most, when the ones before it cost `known`, for the
 * whole to be below a value. */
static double share_of(const forest *f, size_t design, size_t place, double known, double value) {
    double rest = 0;
    for (size_t i = place + 1; i < f->c->n_targets; i++)
        rest += f->c->target[f->order[i]].weight * f->bound[design * f->c->n_targets + f->order[i]];
    if (rest == -INFINITY || value == INFINITY) return INFINITY;
    return (value - known - rest) / f->c->target[f->order[place]].weight;
}

/* Searches the targets in a bin, in the space that has its architecture; `bins` are left, this one among them. */
static sx_status search_targets(forest *f, size_t design, size_t bins, sx_target_space *target_space) {
    sx_codesign *c = f->c;
    double cutoff = c->options->apart ? INFINITY : sx_codesign_cutoff(c, design), known = 0;
    for (size_t i = 0; i < c->n_targets; i++) {
        sx_search_outcome result;
        size_t t = f->order[i];
        double share = share_of(f, design, i, known, cutoff);
        c->shares = bins * c->n_targets - i;
        SX_TRY(search_target(f, design, t, share, target_space, &result));
        if (!result.found) {
            sx_design_outcome outcome = cutoff < INFINITY ? SX_OUTCOME_CUT
                                        : f->own          ? SX_OUTCOME_EMPTY
                                                          : SX_OUTCOME_UNFOUND;
            if (!sx_codesign_stopped(c)) sx_codesign_record_outcome(c, design, outcome);
            return SX_OK;
        }
        c->found[t] = result.best;
        known += c->target[t].weight * result.best.value;
    }
    sx_codesign_done(c, design);
    return SX_OK;
}

/* Searches a bin; `bins` are left, this one among them. */
static sx_status search_bin(forest *f, size_t design, size_t bins) {
    sx_target_space *target_space;
    SX_TRY(sx_target_space_new(f->c->designs, design, &target_space));
    sx_status status = search_targets(f, design, bins, target_space);
    sx_target_space_free(target_space);
    return status;
}

/* Searches the bins, the cheapest first. */
static sx_status search_bins(forest *f) {
    sx_codesign *c = f->c;
    for (size_t i = 0; i < c->designs->n && !sx_codesign_stopped(c); i++) {
        size_t design = f->rank[i].design;
        double cutoff = c->options->apart ? INFINITY : sx_codesign_cutoff(c, design);
        if (f->rank[i].cost == INFINITY || is_empty(f, design))
            sx_codesign_record_outcome(
                c, design, f->own || f->rank[i].cost < INFINITY ? SX_OUTCOME_EMPTY : SX_OUTCOME_UNFOUND);
        else if (f->rank[i].cost > cutoff)
            sx_codesign_record_outcome(c, design, SX_OUTCOME_CUT);
        else
            SX_TRY(search_bin(f, design, c->designs->n - i));
    }
    return SX_OK;
}

/* Searches a design again by what goes beyond the thesis. */
static sx_status search_again(sx_codesign *c, size_t design) {
    sx_target_space *target_space;
    SX_TRY(sx_target_space_new(c->designs, design, &target_space));
    sx_status status = SX_OK;
    size_t t = 0;
    for (; t < c->n_targets; t++) {
        sx_search_outcome result = {.found = false};
        bool usable;
        sx_codesign_begins(c, design, t);
        status = sx_target_space_init(c, t, target_space, &usable);
        if (!status && usable)
            status = sx_search_by_mapper(c, target_space, "sunstone:plus=on", NULL, &result);
        sx_target_space_fini(target_space);
        if (status || !result.found) break;
        c->found[t] = result.best;
    }
    sx_target_space_free(target_space);
    if (t == c->n_targets && !sx_codesign_stopped(c)) sx_codesign_done(c, design);
    return status;
}

/* Searches all designs again that were not cut. */
static sx_status search_plus(sx_codesign *c) {
    for (size_t d = 0; d < c->designs->n && !sx_codesign_stopped(c); d++)
        if (c->out->design[d].outcome == SX_OUTCOME_DONE) SX_TRY(search_again(c, d));
    return SX_OK;
}

sx_status sx_codesign_sunstone(sx_codesign *c) {
    size_t n = c->designs->n;
    forest f = {.c = c, .own = c->n_targets == 1};
    f.shape_of = calloc(n, sizeof *f.shape_of);
    f.bound = calloc(n * c->n_targets + 1, sizeof *f.bound);
    f.rank = calloc(n, sizeof *f.rank);
    f.order = calloc(c->n_targets + 1, sizeof *f.order);
    sx_status status = f.shape_of && f.bound && f.rank && f.order ? SX_OK : sx_error_memory();
    if (!status) {
        order_targets(&f);
        find_shapes(&f);
        status = build_forests(&f);
    }
    if (!status && !sx_codesign_stopped(c)) {
        rank_bins(&f);
        status = search_bins(&f);
    }
    if (!status && c->options->plus) status = search_plus(c);
    for (size_t i = 0; f.forest && i < f.n_shapes * c->n_targets; i++) sx_tile_forest_fini(&f.forest[i]);
    free(f.shape_of);
    free(f.forest);
    free(f.bound);
    free(f.rank);
    free(f.order);
    return status;
}
