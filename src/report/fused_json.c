#include "report/fused.h"

#include "report/json_parts.h"

/* How far a value is above its bound, at most; null where nothing is known. */
static json_t *gap_json(double value, double bound) {
    return bound > 0 ? json_real(value / bound - 1) : json_null();
}

static void put_sums(const sx_score *score, json_t *object) {
    sx_json_set(object, "energy_pj", sx_json_real(score->energy_pj));
    sx_json_set(object, "cycles", sx_json_number(score->cycles));
    if (score->latency != score->cycles) sx_json_set(object, "latency", sx_json_real(score->latency));
    sx_json_set(object, "edp", sx_json_real(score->energy_pj * score->cycles));
}

static json_t *sums_json(const sx_score *score) {
    json_t *object = json_object();
    put_sums(score, object);
    return object;
}

static json_t *tensor_json(const sx_fused *f, const sx_fused_tensor *tensor) {
    json_t *object = json_object();
    sx_json_set(object, "name", json_string(tensor->name));
    sx_json_set(object, "level", json_string(tensor->second ? f->second : f->level));
    sx_json_set(object, "words", sx_json_count(tensor->words));
    sx_json_set(object, "depth", json_integer(tensor->depth));
    if (tensor->rows_kept || tensor->rows_again) {
        sx_json_set(object, "window", json_string(tensor->recompute ? "recompute" : "retain"));
        sx_json_set(object, "rows_kept", json_integer(tensor->rows_kept));
        sx_json_set(object, "rows_again", json_integer(tensor->rows_again));
    }
    sx_json_set(object, "from", json_string(f->layer[tensor->first].name));
    sx_json_set(object, "to", json_string(f->layer[tensor->last].name));
    if (!f->given) sx_json_set(object, "saved_bytes", sx_json_number(tensor->saved_bytes));
    return object;
}

static json_t *group_json(const sx_fused *f, size_t g) {
    const sx_fused_group *group = &f->group[g];
    json_t *object = json_object(), *layers = json_array(), *tensors = json_array(), *loops = json_array();
    for (int i = 0; i < group->n_loops; i++)
        sx_json_append(loops, json_pack("{s:s, s:I}", "dimension", group->loop[i].dimension, "bound",
                                        (json_int_t)group->loop[i].bound));
    for (size_t i = group->first; i <= group->last; i++)
        sx_json_append(layers, json_string(f->layer[i].name));
    for (size_t t = 0; t < f->n_tensors; t++)
        if (f->tensor[t].group == g) sx_json_append(tensors, tensor_json(f, &f->tensor[t]));
    sx_json_set(object, "layers", layers);
    sx_json_set(object, "loops", loops);
    sx_json_set(object, "tensors", tensors);
    if (group->one_pass) sx_json_set(object, "softmax", json_string("one-pass"));
    put_sums(&group->score, object);
    if (f->given) return object;
    sx_json_set(object, "unfused", sums_json(&group->unfused));
    sx_json_set(object, "gap", gap_json(group->value, group->bound));
    return object;
}

/* The use of the exchange memory while a layer runs. */
static json_t *use_json(const sx_fused *f, const sx_fused_layer *layer) {
    json_t *object = json_object();
    sx_json_set(object, "layer", json_string(layer->name));
    sx_json_set(object, "resident", sx_json_count(layer->resident_words));
    sx_json_set(object, "tiles", sx_json_count(layer->tile_words));
    if (f->second[0]) {
        sx_json_set(object, "second_resident", sx_json_count(layer->second_words));
        sx_json_set(object, "second_tiles", sx_json_count(layer->second_tiles));
    }
    sx_json_set(object, "energy_pj", sx_json_real(layer->score.energy_pj));
    sx_json_set(object, "cycles", sx_json_number(layer->score.cycles));
    if (layer->score.latency != layer->score.cycles)
        sx_json_set(object, "latency", sx_json_real(layer->score.latency));
    sx_json_set(object, "dram_bytes", sx_json_number(layer->dram_bytes));
    return object;
}

static json_t *sizes_json(const sx_fused *f) {
    json_t *list = json_array();
    for (size_t i = 0; i < f->n_sizes; i++) {
        const sx_fused_size *size = &f->size[i];
        json_t *object = json_object();
        sx_json_set(object, "words", sx_json_count(size->words));
        put_sums(&size->total, object);
        sx_json_set(object, "dram_bytes", sx_json_number(size->dram_bytes));
        sx_json_set(object, "tensors", json_integer((json_int_t)size->n_tensors));
        sx_json_set(object, "lower_bound", sx_json_real(size->lower_bound));
        sx_json_set(object, "optimal", json_boolean(size->optimal));
        sx_json_set(object, "gap", gap_json(size->value, size->lower_bound));
        sx_json_append(list, object);
    }
    return list;
}

/* The next best plans. */
static json_t *others_json(const sx_fused *f) {
    json_t *list = json_array();
    for (size_t i = 0; i < f->n_others; i++) {
        const sx_fused *other = f->other[i];
        json_t *object = json_object(), *groups = json_array();
        put_sums(&other->total, object);
        for (size_t g = 0; g < other->n_groups; g++) sx_json_append(groups, group_json(other, g));
        sx_json_set(object, "groups", groups);
        sx_json_set(object, "dram_bytes", sx_json_number(other->dram_bytes));
        sx_json_append(list, object);
    }
    return list;
}

/* Sets what a search found out about a fused network. */
static void put_proof(const sx_fused *f, const char *objective, json_t *object) {
    sx_json_set(object, "objective", json_string(objective));
    sx_json_set(object, "lower_bound", sx_json_real(f->lower_bound));
    sx_json_set(object, "optimal", json_boolean(f->optimal));
    sx_json_set(object, "gap", f->found ? gap_json(f->value, f->lower_bound) : json_null());
    if (f->tiles != SX_FUSED_TILES_ASKED)
        sx_json_set(object, "tiles", json_string(f->tiles == SX_FUSED_TILES_ANY ? "any" : "divide"));
    sx_json_set(object, "stopped", json_boolean(f->stopped));
    sx_json_set(object, "unfused", sums_json(&f->unfused));
}

json_t *sx_fused_json(const sx_fused *f, const char *objective) {
    json_t *object = json_object(), *groups = json_array(), *uses = json_array(), *peak = json_object();
    sx_json_set(object, "found", json_boolean(f->found));
    if (f->found) put_sums(&f->total, object);
    if (f->vector.cycles > 0) {
        sx_json_set(object, "vector", sums_json(&f->vector));
        sx_json_set(object, "vector_unfused", sums_json(&f->vector_unfused));
    }
    if (!f->given) put_proof(f, objective, object);
    for (size_t g = 0; g < f->n_groups; g++) sx_json_append(groups, group_json(f, g));
    sx_json_set(object, "groups", groups);
    sx_json_set(peak, f->level, sx_json_count(f->peak));
    if (f->second[0]) sx_json_set(peak, f->second, sx_json_count(f->second_peak));
    sx_json_set(object, "peak", peak);
    sx_json_set(object, "capacity", sx_json_count(f->capacity));
    if (f->second[0]) sx_json_set(object, "second_capacity", sx_json_count(f->second_capacity));
    for (size_t i = 0; i < f->n_layers; i++) sx_json_append(uses, use_json(f, &f->layer[i]));
    sx_json_set(object, "memory", uses);
    sx_json_set(object, "dram_bytes", sx_json_number(f->dram_bytes));
    if (f->given) return object;
    sx_json_set(object, "dram_bytes_unfused", sx_json_number(f->dram_bytes_unfused));
    if (f->n_others) sx_json_set(object, "k_best", others_json(f));
    if (f->n_sizes) sx_json_set(object, "staircase", sizes_json(f));
    sx_json_set(object, "searches", sx_json_count(f->n_searches));
    if (f->n_orders > 1) sx_json_set(object, "orders", sx_json_count(f->n_orders));
    if (f->n_orders > 1) sx_json_set(object, "reordered", json_boolean(f->reordered));
    sx_json_set(object, "seconds", json_real(f->seconds));
    return object;
}

sx_status sx_fused_given_json(const sx_fused *f, sx_text *out) {
    json_t *object = json_object();
    sx_json_set(object, "legal", json_boolean(!f->illegal[0]));
    if (f->illegal[0])
        sx_json_set(object, "reason", json_string(f->illegal));
    else
        sx_json_set(object, "fused", sx_fused_json(f, ""));
    return sx_json_finish(object, out);
}
