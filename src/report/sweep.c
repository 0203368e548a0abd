#include "report/sweep.h"

#include "report/json_parts.h"
#include "report/table.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN_GROUPS = 40 };

/* An order and what it costs. */
typedef struct swept {
    double edp;
    uint64_t index;
} swept;

static uint64_t count_permutations(int n) {
    uint64_t product = 1;
    for (int i = 2; i <= n; i++) product *= (uint64_t)i;
    return product;
}

/* Order number `index` of n things, outermost first, in the order of the alphabet. */
static void order_at(uint64_t index, int n, uint8_t *order) {
    uint8_t left[SX_SWEEP_DIMS];
    for (int i = 0; i < n; i++) left[i] = (uint8_t)i;
    for (int i = 0; i < n; i++) {
        uint64_t block = count_permutations(n - 1 - i), pick = index / block;
        index %= block;
        order[i] = left[pick];
        memmove(left + pick, left + pick + 1, (size_t)(n - i) - pick - 1);
    }
}

/* Gives all levels of a mapping one order of their temporal loops. */
static void set_order(const sx_sweep *sweep, uint64_t index, sx_mapping *mapping) {
    uint8_t order[SX_SWEEP_DIMS], inner_first[SX_MAX_DIMS];
    int n = 0;
    uint32_t used = 0;
    order_at(index, sweep->n_dims, order);
    for (int i = sweep->n_dims - 1; i >= 0; i--) {
        inner_first[n++] = sweep->dim[order[i]];
        used |= 1u << sweep->dim[order[i]];
    }
    for (int d = 0; d < mapping->n_dims; d++)
        if (!(used >> d & 1)) inner_first[n++] = (uint8_t)d;
    for (int s = 0; s < mapping->n_levels; s++)
        memcpy(mapping->level[s].temporal_order, inner_first, mapping->n_dims);
}

static int by_cost(const void *a, const void *b) {
    const swept *x = a, *y = b;
    if (x->edp != y->edp) return x->edp < y->edp ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Scores a mapping; an error where memory is out or the model cannot count it. */
static sx_status score_mapping(const sx_model *model, sx_model_workspace *workspace,
                               const sx_mapping *mapping, sx_score *out) {
    sx_verdict verdict = sx_evaluate_score(workspace, mapping, out);
    SX_TRY(sx_verdict_status(&verdict, sx_model_problem(model), sx_model_arch(model)));
    if (verdict.reason == SX_LEGAL) return SX_OK;
    return sx_error_new(SX_ERR_LIMIT, "a loop order of the mapping cannot be evaluated: %s",
                        sx_reason_name(verdict.reason));
}

/* Costs one order after another until all are done, or `cancel` is set. */
static sx_status cost_orders(const sx_model *model, sx_model_workspace *workspace, const sx_mapping *given,
                             const sx_cancel *cancel, sx_sweep *sweep, swept *all) {
    sx_mapping mapping = *given;
    for (; sweep->n_costed < sweep->n_orders && (sweep->n_costed == 0 || !sx_cancel_is_set(cancel));
         sweep->n_costed++) {
        uint64_t i = sweep->n_costed;
        sx_score score;
        set_order(sweep, i, &mapping);
        SX_TRY(score_mapping(model, workspace, &mapping, &score));
        all[i] = (swept){score.energy_pj * score.cycles, i};
    }
    return SX_OK;
}

/* The number of an order: the inverse of order_at. */
static uint64_t order_rank(const uint8_t *order, int n) {
    uint64_t rank = 0;
    uint32_t used = 0;
    for (int i = 0; i < n; i++) {
        int smaller = order[i] - __builtin_popcount(used & ((1u << order[i]) - 1));
        rank += (uint64_t)smaller * count_permutations(n - 1 - i);
        used |= 1u << order[i];
    }
    return rank;
}

/* The dimensions that matter: those that some swap with a neighbour lets the cost change. All, where orders
 * are missing. */
static uint16_t find_mattering(const sx_sweep *sweep, const swept *all) {
    uint32_t matter = 0;
    for (int i = 0; i < sweep->n_dims && sweep->n_costed < sweep->n_orders; i++)
        matter |= 1u << sweep->dim[i];
    if (matter) return (uint16_t)matter;
    for (uint64_t i = 0; i < sweep->n_orders; i++) {
        uint8_t order[SX_SWEEP_DIMS];
        order_at(i, sweep->n_dims, order);
        for (int p = 0; p + 1 < sweep->n_dims; p++) {
            uint8_t a = order[p], b = order[p + 1];
            uint32_t both = 1u << sweep->dim[a] | 1u << sweep->dim[b];
            if (a > b || (matter & both) == both) continue;
            order[p] = b;
            order[p + 1] = a;
            if (all[order_rank(order, sweep->n_dims)].edp != all[i].edp) matter |= both;
            order[p] = a;
            order[p + 1] = b;
        }
    }
    return (uint16_t)matter;
}

/* Adds an order to its group. */
static void tell_group(const sx_sweep *sweep, uint64_t index, sx_order_group *group) {
    uint8_t order[SX_SWEEP_DIMS], told[SX_SWEEP_DIMS] = {0};
    int n = 0;
    order_at(index, sweep->n_dims, order);
    for (int p = 0; p < sweep->n_dims; p++) {
        uint8_t d = sweep->dim[order[p]];
        if (!(sweep->matter >> d & 1)) continue;
        group->dims_at[n] |= (uint16_t)(1u << d);
        told[n++] = d;
    }
    group->n++;
    for (size_t i = 0; i < group->n_told && i < 2; i++)
        if (memcmp(group->told[i], told, sizeof told) == 0) return;
    if (group->n_told < 2) memcpy(group->told[group->n_told], told, sizeof told);
    if (group->n_told < 3) group->n_told++;
}

/* Gathers orders sorted by cost into groups. */
static sx_status gather_orders(const sx_model *model, sx_model_workspace *workspace, const sx_mapping *given,
                               const swept *all, sx_sweep *sweep) {
    sx_mapping mapping = *given;
    size_t n = 0;
    for (uint64_t i = 0; i < sweep->n_costed; i++) n += i == 0 || all[i].edp != all[i - 1].edp;
    sweep->group = calloc(n, sizeof *sweep->group);
    if (!sweep->group) return sx_error_memory();
    for (uint64_t i = 0; i < sweep->n_costed; i++) {
        if (i == 0 || all[i].edp != all[i - 1].edp) {
            sx_order_group *group = &sweep->group[sweep->n_groups++];
            set_order(sweep, all[i].index, &mapping);
            SX_TRY(score_mapping(model, workspace, &mapping, &group->score));
            group->edp = all[i].edp;
        }
        tell_group(sweep, all[i].index, &sweep->group[sweep->n_groups - 1]);
    }
    return SX_OK;
}

/* Chooses the dimensions that are permuted; an error where they are too many. */
static sx_status choose_dims(const sx_problem *problem, sx_sweep *sweep) {
    int n = 0;
    double orders = 1;
    for (int d = 0; d < problem->n_dims; d++) {
        if (problem->size[d] == 1) continue;
        if (n < SX_SWEEP_DIMS) sweep->dim[n] = (uint8_t)d;
        orders *= ++n;
    }
    if (n > SX_SWEEP_DIMS)
        return sx_error_hint(sx_error_new(SX_ERR_LIMIT,
                                          "%d dimensions have %s orders, too many to evaluate all", n,
                                          sx_show_count(orders).text),
                             "a sweep takes at most %d dimensions with more than one iteration, %s orders",
                             SX_SWEEP_DIMS, sx_show_count((double)count_permutations(SX_SWEEP_DIMS)).text);
    sweep->n_dims = n;
    sweep->n_orders = count_permutations(n);
    return SX_OK;
}

sx_status sx_sweep_orders(const sx_model *model, const sx_mapping *mapping, const sx_cancel *cancel,
                          sx_sweep *out) {
    sx_sweep sweep = {0};
    sx_model_workspace *workspace = NULL;
    sx_score score;
    SX_TRY(choose_dims(sx_model_problem(model), &sweep));
    swept *all = malloc(sweep.n_orders * sizeof *all);
    sx_status status = all ? sx_model_workspace_new(model, &workspace) : sx_error_memory();
    if (!status) {
        status = score_mapping(model, workspace, mapping, &score);
        sweep.edp = score.energy_pj * score.cycles;
    }
    if (!status) {
        status = cost_orders(model, workspace, mapping, cancel, &sweep, all);
    }
    if (!status) {
        sweep.matter = find_mattering(&sweep, all);
        qsort(all, sweep.n_costed, sizeof *all, by_cost);
        status = gather_orders(model, workspace, mapping, all, &sweep);
    }
    sx_model_workspace_free(workspace);
    free(all);
    if (status) {
        sx_sweep_fini(&sweep);
        return status;
    }
    *out = sweep;
    return SX_OK;
}

void sx_sweep_fini(sx_sweep *sweep) {
    free(sweep->group);
    *sweep = (sx_sweep){0};
}

/* Whether a position of the pattern is informative: fewer dimensions than could be there. */
static bool is_informative(const sx_order_group *group, int place, int n) {
    int alone = 0;
    for (int p = 0; p < n; p++) alone += __builtin_popcount(group->dims_at[p]) == 1;
    int here = __builtin_popcount(group->dims_at[place]);
    return here == 1 || here < n - alone;
}

/* The separator of the names of dimensions: nothing where they are all of one letter. */
static const char *name_separator(const sx_problem *problem) {
    for (int d = 0; d < problem->n_dims; d++)
        if (problem->dim_name[d][1]) return " ";
    return "";
}

/* Adds the dimensions of a mask. */
static void add_dims(unsigned mask, const char *space, const sx_problem *problem, sx_text *out) {
    const char *before = "";
    for (unsigned left = mask; left; left &= left - 1) {
        sx_text_add(out, "%s%s", before, problem->dim_name[__builtin_ctz(left)]);
        before = space;
    }
}

/* Adds the dimensions at places: one, some in brackets, or all that matter but some. */
static void add_places(const sx_sweep *sweep, const sx_order_group *group, int from, int to,
                       const sx_problem *problem, sx_text *out) {
    const char *space = name_separator(problem);
    for (int p = from; p < to; p++) {
        unsigned mask = group->dims_at[p];
        bool one = __builtin_popcount(mask) == 1;
        bool invert = !one && 2 * __builtin_popcount(mask) > __builtin_popcount(sweep->matter);
        sx_text_add(out, "%s%s%s", p > from ? space : "", one ? "" : "[", invert ? "^" : "");
        add_dims(invert ? sweep->matter & ~mask : mask, space, problem, out);
        if (!one) sx_text_add(out, "]");
    }
}

/* Adds a whole order. */
static void add_order(const uint8_t *order, int n, const sx_problem *problem, sx_text *out) {
    for (int i = 0; i < n; i++)
        sx_text_add(out, "%s%s", i ? name_separator(problem) : "", problem->dim_name[order[i]]);
}

/* Adds what a group's orders have in common, outermost first and of the dimensions that matter: "KCP" or
 * "KCP, CKP" is all there is, "XY..C" begin with X and Y and end with C, "[XY].." begin with one of them,
 * "..[^XY]" end with none of them, ".." have nothing in common. */
static void add_pattern(const sx_sweep *sweep, const sx_order_group *group, const sx_problem *problem,
                        sx_text *out) {
    int n = __builtin_popcount(sweep->matter), head = 0, tail = n;
    if (n && group->n_told <= 2) {
        add_order(group->told[0], n, problem, out);
        if (group->n_told == 2) {
            sx_text_add(out, ", ");
            add_order(group->told[1], n, problem, out);
        }
        return;
    }
    while (head < n && is_informative(group, head, n)) head++;
    while (tail > head && is_informative(group, tail - 1, n)) tail--;
    add_places(sweep, group, 0, head, problem, out);
    if (head == n && n) return;
    sx_text_add(out, "%s..%s", head ? name_separator(problem) : "", tail < n ? name_separator(problem) : "");
    add_places(sweep, group, tail, n, problem, out);
}

/* How many times the best a value is, where the best may be nothing. */
static double times_best(double value, double best) {
    return value == best ? 1 : value / best;
}

/* Adds the rows of the first groups. */
static void print_groups(const sx_sweep *sweep, const sx_problem *problem, sx_text *out) {
    sx_table table;
    double best = sweep->group[0].edp;
    sx_table_begin(&table, "rrRRRll");
    const char *const heads[] = {"EDP", "x best", "cycles", "energy", "orders", "pattern (outermost first)",
                                 ""};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) sx_table_cell(&table, "%s", heads[i]);
    for (size_t i = 0; i < sweep->n_groups && i < SHOWN_GROUPS; i++) {
        const sx_order_group *group = &sweep->group[i];
        sx_text pattern = {0};
        add_pattern(sweep, group, problem, &pattern);
        out->failed |= pattern.failed;
        sx_table_cell(&table, "%.6g", group->edp);
        sx_table_cell(&table, "%.3f", times_best(group->edp, best));
        sx_table_cell(&table, "%s", sx_show_count(group->score.cycles).text);
        sx_table_cell(&table, "%s", sx_show_energy(group->score.energy_pj).text);
        sx_table_cell(&table, "%s", sx_show_count((double)group->n).text);
        sx_table_cell(&table, "%s", pattern.size ? pattern.data : "..");
        sx_table_cell(&table, "%s", group->edp == sweep->edp ? "<- the given mapping" : "");
        sx_text_free(&pattern);
    }
    sx_table_end(&table, 2, out);
    if (sweep->n_groups > SHOWN_GROUPS)
        sx_text_add(out, "  and %zu more values; --json lists all\n", sweep->n_groups - SHOWN_GROUPS);
}

/* Adds which dimensions the patterns leave out. */
static void print_still(const sx_sweep *sweep, const sx_problem *problem, sx_text *out) {
    sx_text names = {0};
    size_t n = 0;
    for (int i = 0; i < sweep->n_dims; i++)
        if (!(sweep->matter >> sweep->dim[i] & 1))
            sx_text_add(&names, "%s%s", n++ ? ", " : "", problem->dim_name[sweep->dim[i]]);
    if (names.size)
        sx_text_add(out, "  Patterns omit %s: %s makes no difference.\n", names.data,
                    n == 1 ? "its position" : "their position");
    out->failed |= names.failed;
    sx_text_free(&names);
}

void sx_sweep_print(const sx_sweep *sweep, const sx_problem *problem, sx_text *out) {
    double best = sweep->group[0].edp, worst = sweep->group[sweep->n_groups - 1].edp;
    sx_text_add(out, "Orders: %s, the same at all levels\n", sx_show_count((double)sweep->n_orders).text);
    if (sweep->n_costed < sweep->n_orders)
        sx_text_add(out, "  only the first %s of them were evaluated\n",
                    sx_show_count((double)sweep->n_costed).text);
    sx_text_add(out, "  %s different EDP value%s; the worst, %.6g, is %s x the best, %.6g\n\n",
                sx_show_count((double)sweep->n_groups).text, sweep->n_groups == 1 ? "" : "s", worst,
                sx_show_count(times_best(worst, best)).text, best);
    print_groups(sweep, problem, out);
    print_still(sweep, problem, out);
}

json_t *sx_sweep_json(const sx_sweep *sweep, const sx_problem *problem) {
    json_t *groups = json_array(), *dims = json_array(), *matter = json_array();
    for (int i = 0; i < sweep->n_dims; i++) {
        const char *name = problem->dim_name[sweep->dim[i]];
        sx_json_append(dims, json_string(name));
        if (sweep->matter >> sweep->dim[i] & 1) sx_json_append(matter, json_string(name));
    }
    for (size_t i = 0; i < sweep->n_groups; i++) {
        const sx_order_group *group = &sweep->group[i];
        sx_text pattern = {0};
        add_pattern(sweep, group, problem, &pattern);
        if (pattern.failed) sx_json_fail();
        sx_json_append(groups, json_pack("{s:f, s:f, s:o, s:I, s:s}", "edp", group->edp, "energy_pj",
                                         group->score.energy_pj, "cycles",
                                         sx_json_number(group->score.cycles), "orders", (json_int_t)group->n,
                                         "pattern", pattern.size ? pattern.data : ".."));
        sx_text_free(&pattern);
    }
    double best = sweep->group[0].edp, worst = sweep->group[sweep->n_groups - 1].edp;
    return json_pack("{s:o, s:o, s:I, s:I, s:I, s:f, s:f, s:o, s:f, s:o}", "dimensions", dims, "matter",
                     matter, "orders", (json_int_t)sweep->n_orders, "evaluated", (json_int_t)sweep->n_costed,
                     "values", (json_int_t)sweep->n_groups, "best", best, "worst", worst, "ratio",
                     sx_json_number(times_best(worst, best)), "given", sweep->edp, "groups", groups);
}
