/* One mapping in several formats, of which the best counts.
 *
 * A set of formats says of each tensor at which levels it is held in the format that the architecture gives,
 * and of which kind the compressed ranks of that are. Left out are sets that no mapping can use or that have
 * an equal: a level inside holds compressed only what all levels outside hold so that have a format for it, and
 * the innermost level that is in a set has to keep the tensor.
 *
 * Bounds: the cost of every set is at least the bound of its model, and these are sums and products of terms
 * that grow with what zeros leave. So the least of each term over all sets gives a bound of the best set. */
#include "model/sparse/formats.h"

#include "base/status.h"
#include "model/sparse/density_range.h"
#include "model/sparse/pass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const sx_verdict good = {SX_LEGAL, -1, -1, -1, 0, 0};

/* The formats of one tensor: the levels that are in the set, and the kind of compressed ranks (-1: as given). */
typedef struct choice {
    unsigned levels;
    int kind;
} choice;

enum { MOST_CHOICES = SX_MAX_FORMAT_SETS };

typedef struct choice_list {
    int n;
    choice item[MOST_CHOICES];
} choice_list;

/* Whether a rank of a format of a tensor would change with the kind of its compressed ranks. */
static bool format_changes(const sx_model *model, int v, int kind) {
    const sx_sparse *sparse = &model->arch->sparse;
    for (int i = 0; i < sparse->n_formats; i++) {
        const sx_tensor_format *f = &sparse->format[i];
        if (model->sparse->format[f->level][v] != &model->sparse->formats[i]) continue;
        for (int r = 0; r < f->n_ranks; r++) {
            sx_rank_kind given = (sx_rank_kind)sparse->rank[f->first + r].kind;
            if (sx_rank_compressed(given) && (int)given != kind) return true;
        }
    }
    return false;
}

/* The levels that have a format of a tensor; *compressed: those whose format is. */
static unsigned formatted_levels(const sx_model *model, int v, unsigned *compressed) {
    unsigned levels = 0;
    *compressed = 0;
    for (int s = 0; s < model->n_levels; s++) {
        const sx_format_model *f = model->sparse ? model->sparse->format[s][v] : NULL;
        if (f) levels |= 1u << s;
        if (f && f->compressed) *compressed |= 1u << s;
    }
    return levels;
}

/* Adds the sets of levels for one kind; false where there are too many. */
static bool add_kind(const sx_model *model, int v, int kind, choice_list *out) {
    unsigned compressed, all = formatted_levels(model, v, &compressed);
    bool none = model->options.formats.kinds & SX_FORMATS_NONE;
    for (unsigned set = all;; set = (set - 1) & all) {
        unsigned packed = set & compressed, open = compressed & ~set;
        bool nested = !packed || (open >> __builtin_ctz(packed)) == 0;
        bool repeated = kind >= 0 && packed == 0; /* the kind makes no difference */
        if (nested && !repeated) {
            if (out->n == MOST_CHOICES) return false;
            out->item[out->n++] = (choice){set, kind};
        }
        if (set == 0 || !none) return true;
    }
}

/* Lists the formats of a tensor, the given ones first; false where there are too many. */
static bool list_choices(const sx_model *model, int v, choice_list *out) {
    static const struct {
        unsigned flag;
        sx_rank_kind kind;
    } kinds[] = {{SX_FORMATS_CP, SX_RANK_CP}, {SX_FORMATS_RLE, SX_RANK_RLE}, {SX_FORMATS_B, SX_RANK_B}};
    unsigned compressed, all = formatted_levels(model, v, &compressed);
    out->n = 0;
    bool fits = add_kind(model, v, -1, out);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && all; k++)
        if (model->options.formats.kinds & kinds[k].flag && format_changes(model, v, (int)kinds[k].kind))
            fits = fits && add_kind(model, v, (int)kinds[k].kind, out);
    return fits;
}

/* Removes a format. */
static void drop_format(sx_sparse *sparse, int index) {
    memmove(&sparse->format[index], &sparse->format[index + 1],
            (size_t)(sparse->n_formats - index - 1) * sizeof *sparse->format);
    memset(&sparse->format[--sparse->n_formats], 0, sizeof *sparse->format);
}

/* Makes the sparse optimizations of a set. */
static void apply_choice(const sx_model *model, const choice *set, sx_sparse *sparse) {
    for (int i = model->arch->sparse.n_formats - 1; i >= 0; i--) {
        const sx_tensor_format *f = &sparse->format[i];
        int v = sx_problem_tensor(model->problem, sparse->name[f->tensor]);
        if (v < 0 || !model->sparse) continue;
        if (!(set[v].levels >> f->level & 1)) {
            drop_format(sparse, i);
            continue;
        }
        for (int r = 0; r < f->n_ranks && set[v].kind >= 0; r++) {
            sx_rank_format *rank = &sparse->rank[f->first + r];
            if (!sx_rank_compressed((sx_rank_kind)rank->kind) || rank->kind == set[v].kind) continue;
            rank->kind = (uint8_t)set[v].kind;
            rank->metadata_bits = SX_BITS_DEFAULT;
        }
    }
}

/* Compiles the model of a set. */
static sx_status add_set(const sx_model *base, const choice *set, sx_arch *arch,
                         struct sx_formats_model *out) {
    sx_model_options options = base->options;
    options.formats.kinds = 0;
    *arch = *base->arch;
    apply_choice(base, set, &arch->sparse);
    SX_TRY(sx_model_new(base->problem, arch, &options, &out->model[out->n]));
    bool none = base->options.formats.kinds & SX_FORMATS_NONE;
    for (int v = 0; v < base->n_tensors; v++)
        out->innermost[out->n][v] = (int8_t)(none && set[v].levels ? __builtin_ctz(set[v].levels) : -1);
    out->n++;
    return SX_OK;
}

/* Compiles the models of all sets. */
static sx_status add_sets(sx_model *model, sx_arch *arch, choice_list *list) {
    choice set[SX_MAX_TENSORS];
    double all = 1;
    int at[SX_MAX_TENSORS] = {0}, v;
    bool fits = true;
    for (v = 0; v < model->n_tensors; v++) {
        fits &= list_choices(model, v, &list[v]);
        all *= list[v].n;
    }
    if (!fits || all > SX_MAX_FORMAT_SETS)
        return sx_error_hint(sx_error_new(SX_ERR_LIMIT,
                                          "the tensors' formats can be combined in more than %d ways",
                                          SX_MAX_FORMAT_SETS),
                             "name fewer kinds in --formats, or give fewer levels a format");
    do {
        for (v = 0; v < model->n_tensors; v++) set[v] = list[v].item[at[v]];
        SX_TRY(add_set(model, set, arch, model->formats));
        for (v = 0; v < model->n_tensors && ++at[v] == list[v].n; v++) at[v] = 0;
    } while (v < model->n_tensors);
    return SX_OK;
}

/* Of several densities: sets the least compute cycles of all sets at each, so that all have the same shares in
 * bounds. */
static void level_ranges(sx_model *model) {
    const struct sx_formats_model *f = model->formats;
    for (int i = 0; i < model->range->n; i++) {
        double least = model->range->model[i]->least_steps;
        for (int k = 0; k < f->n; k++) least = fmin(least, f->model[k]->range->model[i]->least_steps);
        for (int k = 0; k < f->n; k++) f->model[k]->range->model[i]->least_steps = least;
        model->range->model[i]->least_steps = least;
    }
    for (int k = 0; k < f->n; k++) sx_range_set_least(f->model[k]);
    sx_range_set_least(model);
}

/* Sets what zeros leave at the least in any set. */
static void set_least(sx_model *model) {
    if (model->range) level_ranges(model);
    for (int k = 0; k < model->formats->n; k++) {
        const sx_model *m = model->formats->model[k];
        model->least_steps = fmin(model->least_steps, m->least_steps);
        model->least_compute_energy = fmin(model->least_compute_energy, m->least_compute_energy);
        model->least_leak = fmin(model->least_leak, m->least_leak);
        for (int s = 0; s < model->n_levels; s++)
            for (int v = 0; v < model->n_tensors; v++) {
                model->least[s][v] = fmin(model->least[s][v], m->least[s][v]);
                model->least_use[s][v] = fmin(model->least_use[s][v], m->least_use[s][v]);
            }
    }
    for (int s = 0; s < model->n_levels; s++)
        if (model->level[s].packs) model->level[s].minimum = 0; /* tiles take more without formats */
}

sx_status sx_formats_compile(sx_model *model) {
    model->formats = calloc(1, sizeof *model->formats);
    choice_list *list = calloc(SX_MAX_TENSORS, sizeof *list);
    sx_arch *arch = malloc(sizeof *arch);
    sx_status status = model->formats && list && arch ? add_sets(model, arch, list) : sx_error_memory();
    free(arch);
    free(list);
    if (status) return status;
    const sx_format_search *from = &model->options.formats;
    model->formats->objective =
        (sx_objective){.n_criteria = 1,
                       .criterion = {{.energy_power = from->energy_power, .delay_power = from->delay_power}}};
    set_least(model);
    return SX_OK;
}

void sx_formats_free(struct sx_formats_model *formats) {
    if (!formats) return;
    for (int i = 0; i < formats->n; i++) sx_model_free(formats->model[i]);
    free(formats);
}

sx_status sx_formats_evaluators(const sx_model *model, sx_model_workspace ***out) {
    const struct sx_formats_model *f = model->formats;
    sx_model_workspace **made = *out = calloc((size_t)f->n, sizeof *made);
    if (!made) return sx_error_memory();
    for (int i = 0; i < f->n; i++) SX_TRY(sx_model_workspace_new(f->model[i], &made[i]));
    return SX_OK;
}

void sx_formats_workspaces_free(const sx_model *model, sx_model_workspace **workspaces) {
    for (int i = 0; workspaces && i < model->formats->n; i++) sx_model_workspace_free(workspaces[i]);
    free(workspaces);
}

/* Whether another set is the same for a mapping: one without a format that the mapping does not use. */
static bool set_repeats(const sx_model *model, int set, const sx_mapping *mapping) {
    for (int v = 0; v < model->n_tensors; v++) {
        int s = model->formats->innermost[set][v];
        if (s >= 0 && !(mapping->level[s].keep >> v & 1)) return true;
    }
    return false;
}

sx_verdict sx_formats_check(const sx_model *model, const sx_mapping *mapping) {
    const struct sx_formats_model *f = model->formats;
    sx_verdict first = good;
    for (int i = 0; i < f->n; i++) {
        if (set_repeats(model, i, mapping)) continue;
        sx_verdict verdict = sx_check(f->model[i], mapping);
        if (verdict.reason == SX_LEGAL || verdict.reason == SX_NO_MEMORY) return verdict;
        if (first.reason == SX_LEGAL) first = verdict;
    }
    return first;
}

/* Whether two objectives have the same product first. */
static bool same_product(const sx_objective *a, const sx_objective *b) {
    const sx_criterion *x = &a->criterion[0], *y = &b->criterion[0];
    return x->kind == SX_PRODUCT && y->kind == SX_PRODUCT && x->energy_power == y->energy_power &&
           x->delay_power == y->delay_power;
}

sx_verdict sx_formats_evaluate(sx_model_workspace *e, const sx_mapping *mapping,
                               const sx_objective *objective, double bound, sx_score *out, int *set) {
    const struct sx_formats_model *f = e->model->formats;
    const bool within = objective && same_product(objective, &f->objective);
    double best = within ? bound : INFINITY;
    sx_verdict answer = good;
    *set = -1;
    for (int i = 0; i < f->n; i++) {
        sx_score score;
        if (set_repeats(e->model, i, mapping)) continue;
        sx_verdict verdict = sx_evaluate_within(e->at_formats[i], mapping, &f->objective, best, &score);
        if (verdict.reason == SX_NO_MEMORY) return verdict;
        if (verdict.reason == SX_LEGAL) {
            double value = sx_objective_value(&f->objective, &score);
            if (*set >= 0 && !(value < best)) continue;
            best = value;
            *set = i;
            *out = score;
        } else if (answer.reason == SX_LEGAL || verdict.reason == SX_BOUND_EXCEEDED) {
            answer = verdict;
        }
    }
    if (*set < 0) return answer;
    answer = good;
    if (objective && sx_objective_value(objective, out) > bound) answer.reason = SX_BOUND_EXCEEDED;
    return answer;
}

sx_score sx_formats_minimum(const sx_model *model, uint8_t backed) {
    sx_score least = sx_model_minimum(model->formats->model[0], backed);
    for (int i = 1; i < model->formats->n; i++) {
        sx_score other = sx_model_minimum(model->formats->model[i], backed);
        least.cycles = fmin(least.cycles, other.cycles);
        least.energy_pj = fmin(least.energy_pj, other.energy_pj);
        least.last_level_accesses = fmin(least.last_level_accesses, other.last_level_accesses);
        least.utilization = fmax(least.utilization, other.utilization);
    }
    return least;
}

bool sx_formats_optional(const sx_model *model, int level, int tensor) {
    return model->formats && model->options.formats.kinds & SX_FORMATS_NONE &&
           model->sparse->format[level][tensor];
}

sx_status sx_model_settle_formats(const sx_model *model, const sx_mapping *mapping, sx_arch *out) {
    *out = *model->arch;
    if (!model->formats) return SX_OK;
    sx_model_workspace *workspace;
    sx_score score;
    int set;
    SX_TRY(sx_model_workspace_new(model, &workspace));
    sx_verdict verdict = sx_formats_evaluate(workspace, mapping, NULL, 0, &score, &set);
    sx_model_workspace_free(workspace);
    if (verdict.reason == SX_NO_MEMORY) return sx_error_memory();
    if (set >= 0) *out = *model->formats->model[set]->arch;
    return SX_OK;
}
