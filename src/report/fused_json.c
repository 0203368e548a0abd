#include "report/fused.h"

#include "report/json_parts.h"

#include <stdbool.h>

/* How far a value is above its bound, at most; null where nothing is known. */
static json_t *gap_json(double value, double bound) {
    return bound > 0 ? json_real(value / bound - 1) : json_null();
}

static void put_sums(sx_tree *tree, const sx_score *score, json_t *object) {
    sx_tree_put(tree, object, "energy_pj", sx_json_real(score->energy_pj));
    sx_tree_put(tree, object, "cycles", sx_json_number(score->cycles));
    sx_tree_put(tree, object, "edp", sx_json_real(score->energy_pj * score->cycles));
}

static json_t *sums_json(sx_tree *tree, const sx_score *score) {
    json_t *object = json_object();
    put_sums(tree, score, object);
    return object;
}

static json_t *tensor_json(sx_tree *tree, const sx_fused *f, const sx_fused_tensor *tensor) {
    json_t *object = json_object();
    sx_tree_put(tree, object, "name", json_string(tensor->name));
    sx_tree_put(tree, object, "level", json_string(f->level));
    sx_tree_put(tree, object, "words", sx_json_count(tensor->words));
    sx_tree_put(tree, object, "depth", json_integer(tensor->depth));
    if (tensor->rows_kept || tensor->rows_again) {
        sx_tree_put(tree, object, "window", json_string(tensor->recompute ? "recompute" : "retain"));
        sx_tree_put(tree, object, "rows_kept", json_integer(tensor->rows_kept));
        sx_tree_put(tree, object, "rows_again", json_integer(tensor->rows_again));
    }
    sx_tree_put(tree, object, "from", json_string(f->layer[tensor->first].name));
    sx_tree_put(tree, object, "to", json_string(f->layer[tensor->last].name));
    if (!f->given) sx_tree_put(tree, object, "saved_bytes", sx_json_number(tensor->saved_bytes));
    return object;
}

static json_t *group_json(sx_tree *tree, const sx_fused *f, size_t g) {
    const sx_fused_group *group = &f->group[g];
    json_t *object = json_object(), *layers = json_array(), *tensors = json_array(), *loops = json_array();
    for (int i = 0; i < group->n_loops; i++)
        sx_tree_append(tree, loops,
                       json_pack("{s:s, s:I}", "dimension", group->loop[i].dimension, "bound",
                                 (json_int_t)group->loop[i].bound));
    for (size_t i = group->first; i <= group->last; i++)
        sx_tree_append(tree, layers, json_string(f->layer[i].name));
    for (size_t t = 0; t < f->n_tensors; t++)
        if (f->tensor[t].group == g) sx_tree_append(tree, tensors, tensor_json(tree, f, &f->tensor[t]));
    sx_tree_put(tree, object, "layers", layers);
    sx_tree_put(tree, object, "loops", loops);
    sx_tree_put(tree, object, "tensors", tensors);
    if (group->one_pass) sx_tree_put(tree, object, "softmax", json_string("one-pass"));
    put_sums(tree, &group->score, object);
    if (f->given) return object;
    sx_tree_put(tree, object, "unfused", sums_json(tree, &group->unfused));
    sx_tree_put(tree, object, "gap", gap_json(group->value, group->bound));
    return object;
}

/* The use of the exchange memory while a layer runs. */
static json_t *use_json(sx_tree *tree, const sx_fused_layer *layer) {
    json_t *object = json_object();
    sx_tree_put(tree, object, "layer", json_string(layer->name));
    sx_tree_put(tree, object, "resident", sx_json_count(layer->resident_words));
    sx_tree_put(tree, object, "tiles", sx_json_count(layer->tile_words));
    sx_tree_put(tree, object, "energy_pj", sx_json_real(layer->score.energy_pj));
    sx_tree_put(tree, object, "cycles", sx_json_number(layer->score.cycles));
    sx_tree_put(tree, object, "dram_bytes", sx_json_number(layer->dram_bytes));
    return object;
}

static json_t *sizes_json(sx_tree *tree, const sx_fused *f) {
    json_t *list = json_array();
    for (size_t i = 0; i < f->n_sizes; i++) {
        const sx_fused_size *size = &f->size[i];
        json_t *object = json_object();
        sx_tree_put(tree, object, "words", sx_json_count(size->words));
        put_sums(tree, &size->total, object);
        sx_tree_put(tree, object, "dram_bytes", sx_json_number(size->dram_bytes));
        sx_tree_put(tree, object, "tensors", json_integer((json_int_t)size->n_tensors));
        sx_tree_put(tree, object, "lower_bound", sx_json_real(size->lower_bound));
        sx_tree_put(tree, object, "optimal", json_boolean(size->optimal));
        sx_tree_put(tree, object, "gap", gap_json(size->value, size->lower_bound));
        sx_tree_append(tree, list, object);
    }
    return list;
}

/* The next best plans. */
static json_t *others_json(sx_tree *tree, const sx_fused *f) {
    json_t *list = json_array();
    for (size_t i = 0; i < f->n_others; i++) {
        const sx_fused *other = f->other[i];
        json_t *object = json_object(), *groups = json_array();
        put_sums(tree, &other->total, object);
        for (size_t g = 0; g < other->n_groups; g++) sx_tree_append(tree, groups, group_json(tree, other, g));
        sx_tree_put(tree, object, "groups", groups);
        sx_tree_put(tree, object, "dram_bytes", sx_json_number(other->dram_bytes));
        sx_tree_append(tree, list, object);
    }
    return list;
}

/* Sets what a search found out about a fused network. */
static void put_proof(sx_tree *tree, const sx_fused *f, const char *objective, json_t *object) {
    sx_tree_put(tree, object, "objective", json_string(objective));
    sx_tree_put(tree, object, "lower_bound", sx_json_real(f->lower_bound));
    sx_tree_put(tree, object, "optimal", json_boolean(f->optimal));
    sx_tree_put(tree, object, "gap", f->found ? gap_json(f->value, f->lower_bound) : json_null());
    sx_tree_put(tree, object, "stopped", json_boolean(f->stopped));
    sx_tree_put(tree, object, "unfused", sums_json(tree, &f->unfused));
}

json_t *sx_fused_json(sx_tree *tree, const sx_fused *f, const char *objective) {
    json_t *object = json_object(), *groups = json_array(), *uses = json_array(), *peak = json_object();
    sx_tree_put(tree, object, "found", json_boolean(f->found));
    if (f->found) put_sums(tree, &f->total, object);
    if (!f->given) put_proof(tree, f, objective, object);
    for (size_t g = 0; g < f->n_groups; g++) sx_tree_append(tree, groups, group_json(tree, f, g));
    sx_tree_put(tree, object, "groups", groups);
    sx_tree_put(tree, peak, f->level, sx_json_count(f->peak));
    sx_tree_put(tree, object, "peak", peak);
    sx_tree_put(tree, object, "capacity", sx_json_count(f->capacity));
    for (size_t i = 0; i < f->n_layers; i++) sx_tree_append(tree, uses, use_json(tree, &f->layer[i]));
    sx_tree_put(tree, object, "memory", uses);
    sx_tree_put(tree, object, "dram_bytes", sx_json_number(f->dram_bytes));
    if (f->given) return object;
    sx_tree_put(tree, object, "dram_bytes_unfused", sx_json_number(f->dram_bytes_unfused));
    if (f->n_others) sx_tree_put(tree, object, "k_best", others_json(tree, f));
    if (f->n_sizes) sx_tree_put(tree, object, "staircase", sizes_json(tree, f));
    sx_tree_put(tree, object, "searches", sx_json_count(f->n_searches));
    sx_tree_put(tree, object, "seconds", json_real(f->seconds));
    return object;
}

sx_status sx_fused_given_json(const sx_fused *f, sx_text *out) {
    sx_tree tree = {0};
    json_t *object = json_object();
    sx_tree_put(&tree, object, "legal", json_boolean(!f->illegal[0]));
    if (f->illegal[0])
        sx_tree_put(&tree, object, "reason", json_string(f->illegal));
    else
        sx_tree_put(&tree, object, "fused", sx_fused_json(&tree, f, ""));
    return sx_json_finish(object, out);
}
