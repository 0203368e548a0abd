#include "looptree/fuse_search.h"

#include "base/status.h"
#include "looptree/label_paths.h"

#include <math.h>

/* What the labels of einsum e are made from. */
static sx_label_task task_of(const sx_arch *arch, const sx_cascade *cascade, const sx_fuse_options *options,
                             size_t e, bool unfused) {
    sx_label_task task = {.arch = arch,
                          .einsum = &cascade->einsum[e],
                          .objective = options->objective,
                          .loops_per_dim = options->loops_per_dim ? options->loops_per_dim : 1};
    for (int v = 0; v < cascade->einsum[e].n_tensors; v++) {
        const sx_cascade_tensor *tensor = &cascade->tensor[cascade->tensor_of[e][v]];
        task.bits[v] = tensor->bits;
        if (sx_cascade_passes(tensor) && !unfused) task.passes |= 1u << v;
    }
    for (int s = 0; s < SX_MAX_FUSED_LEVELS; s++)
        task.keep[s] = options->keep ? options->keep[e][s] : UINT32_MAX;
    return task;
}

/* Adds what the best label of an einsum costs; INFINITY where it has none. */
static void add_best(const sx_label_table *table, double *energy, double *latency) {
    const sx_label *best = NULL;
    for (size_t i = 0; i < table->labels.n; i++) {
        const sx_label *x = sx_label_at(table, i);
        if (!best || sx_fuse_value(table->objective, x->energy, x->latency) <
                         sx_fuse_value(table->objective, best->energy, best->latency))
            best = x;
    }
    *energy += best ? best->energy : INFINITY;
    *latency += best ? best->latency : INFINITY;
}

/* The value of the best labels of all einsums where nothing is fused, whose labels are already in `known` where that is what is
 * searched. */
static sx_status bound_unfused(const sx_arch *arch, const sx_cascade *cascade, const sx_fuse_options *options,
                               const sx_label_table *known, double *value) {
    double energy = 0, latency = 0;
    for (size_t e = 0; e < cascade->n_einsums; e++) {
        if (options->unfused) {
            add_best(&known[e], &energy, &latency);
            continue;
        }
        const sx_label_task task = task_of(arch, cascade, options, e, true);
        sx_label_table table;
        sx_label_table_init(&table, options->objective);
        sx_status status = sx_label_paths(&task, &table);
        add_best(&table, &energy, &latency);
        sx_label_table_fini(&table);
        SX_TRY(status);
    }
    *value = sx_fuse_value(options->objective, energy, latency);
    return SX_OK;
}

/* The paths of the labels that a join has chosen. */
static sx_status make_mapping(const sx_arch *arch, const sx_cascade *cascade, const sx_fuse_options *options,
                              const sx_label_table *table, const sx_join_result *result,
                              sx_fused_mapping *mapping) {
    mapping->path = calloc(cascade->n_einsums, sizeof *mapping->path);
    mapping->n_einsums = cascade->n_einsums;
    if (!mapping->path) return sx_error_memory();
    for (size_t e = 0; e < cascade->n_einsums; e++) {
        const sx_label_task task = task_of(arch, cascade, options, e, options->unfused);
        SX_TRY(sx_label_path(&task, sx_label_at(&table[e], result->label[e]), &mapping->path[e]));
    }
    return SX_OK;
}

static sx_status search_tables(const sx_arch *arch, const sx_cascade *cascade, const sx_fuse_options *options,
                               sx_label_table *table, sx_fuse_answer *answer) {
    sx_join_result result;
    double limit;
    for (size_t e = 0; e < cascade->n_einsums; e++) {
        const sx_label_task task = task_of(arch, cascade, options, e, options->unfused);
        SX_TRY(sx_label_paths(&task, &table[e]));
        answer->labels += table[e].labels.n;
    }
    SX_TRY(bound_unfused(arch, cascade, options, table, &limit));
    /* sums in another order may differ in their last bits */
    SX_TRY(sx_join_labels(cascade, table, sx_path_room(&arch->level[arch->n_levels - 2]), limit * (1 + 1e-12),
                          &result));
    answer->found = result.found;
    answer->value = result.value;
    answer->energy = result.energy;
    answer->latency = result.latency;
    answer->joined = result.joined;
    answer->states = result.states;
    sx_status status = SX_OK;
    if (result.found) status = make_mapping(arch, cascade, options, table, &result, &answer->mapping);
    free(result.label);
    return status;
}

sx_status sx_fuse_search(const sx_arch *arch, const sx_cascade *cascade, const sx_fuse_options *options,
                         sx_fuse_answer *answer) {
    *answer = (sx_fuse_answer){.found = false};
    if (arch->n_levels < 2 || arch->n_levels > SX_MAX_FUSED_LEVELS)
        return sx_error_new(SX_ERR_INPUT,
                            "fused mappings are searched on architectures with 2 to %d levels; '%s' has %d",
                            SX_MAX_FUSED_LEVELS, arch->name, arch->n_levels);
    sx_label_table *table = calloc(cascade->n_einsums, sizeof *table);
    if (!table) return sx_error_memory();
    for (size_t e = 0; e < cascade->n_einsums; e++) sx_label_table_init(&table[e], options->objective);
    sx_status status = search_tables(arch, cascade, options, table, answer);
    for (size_t e = 0; e < cascade->n_einsums; e++) sx_label_table_fini(&table[e]);
    free(table);
    if (status) sx_fused_mapping_fini(&answer->mapping);
    return status;
}
