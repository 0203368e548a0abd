/* From the compiled model to the core's. */
#include "model/core_model.h"

#include <stdlib.h>

/* Adds a rank whose dimensions move tiles that overlap in part. */
static void add_mixed(sx_core_tensor *t, const struct sx_term *term, int n) {
    for (int i = 0; i < n; i++) {
        t->mixed_dim[t->n_mixed][i] = term[i].dim;
        t->reach[t->n_mixed][i] = abs(term[i].coef);
        t->mixed_of[term[i].dim] = (int8_t)t->n_mixed;
        t->coef[term[i].dim] = term[i].coef;
    }
    t->n_mixed++;
}

/* Makes a tensor; NULL, or why the core does not cover it. A tile has no more words than the product of its extents times the
 * sum of the coefficients in each rank: no count is beyond that sum times the computes. */
static const char *make_tensor(const sx_model *model, int v, sx_core_tensor *t) {
    const sx_shape *shape = &model->shape[v];
    *t = (sx_core_tensor){
        .dims = shape->dims, .solo = shape->solo, .output = shape->output, .plain = shape->plain};
    t->words = (double)model->words[v];
    if (shape->output && !model->options.no_first_read_elision) t->elided = t->words;
    double bound = (double)model->computes;
    for (int d = 0; d < SX_CORE_DIMS; d++) t->mixed_of[d] = -1;
    for (int r = 0; r < shape->n_ranks && shape->n_terms; r++) {
        const struct sx_term *term = &shape->term[shape->first_term[r]];
        int n = shape->first_term[r + 1] - shape->first_term[r];
        bool alone = n == 1 && shape->solo >> term->dim & 1;
        if (n > 2) return "a rank has more than two dimensions";
        if (!alone && t->n_mixed == SX_CORE_MIXED) return "tiles overlap in part in more than two ranks";
        double reach = 0;
        for (int i = 0; i < n; i++) reach += abs(term[i].coef);
        bound *= reach;
        if (!alone) {
            add_mixed(t, term, n);
        } else if (abs(term->coef) == 1) {
            t->unit[t->n_unit++] = term->dim;
        } else {
            t->stretch[t->n_stretched] = abs(term->coef);
            t->stretched[t->n_stretched++] = term->dim;
        }
    }
    if (!(bound < 0x1p53)) return "its counts may be beyond 2^53";
    return shape->simple && (!shape->output || shape->unit) ? NULL
                                                            : "a dimension moves a tensor in two ranks";
}

/* Copies a level. */
static void copy_level(const sx_model *model, int s, sx_core_level *to) {
    const sx_level *from = &model->level[s];
    uint8_t all = (uint8_t)((1u << model->n_tensors) - 1);
    *to = (sx_core_level){.effective = from->effective,
                          .minimum = from->minimum,
                          .bank_words = from->bank_words,
                          .banks = from->banks,
                          .mesh_x = (double)from->mesh_x,
                          .mesh_y = (double)from->mesh_y,
                          .instances = (double)from->instances,
                          .clusters = (double)from->clusters,
                          .fanout_x = (double)from->fanout_x,
                          .fanout_y = (double)from->fanout_y,
                          .room_x = INFINITY,
                          .room_y = INFINITY,
                          .read_bandwidth = from->read_bandwidth,
                          .write_bandwidth = from->write_bandwidth,
                          .shared_bandwidth = from->shared_bandwidth,
                          .read_energy = from->read_energy,
                          .fill_energy = from->fill_energy,
                          .update_energy = from->update_energy,
                          .leak_energy = from->leak_energy,
                          .addr_gen_energy = from->addr_gen_energy,
                          .leak_share = from->leak_share,
                          .gate = from->gate,
                          .limited = from->limited,
                          .bounded = from->bounded,
                          .transparent = from->transparent,
                          .sized = from->sized,
                          .leaks = from->leak_energy != 0,
                          .links = model->options.no_link_transfers ? 0 : all,
                          .may = all};
    for (int v = 0; v < model->n_tensors; v++) {
        to->scale[v] = from->scale[v];
        to->element[v] = from->element[v];
        to->word[v] = from->word[v];
        to->vector[v] = from->vector[v];
        to->per_vector[v] = from->per_vector[v];
    }
}

const char *sx_core_model_make(const sx_model *model, sx_core_model *out) {
    if (model->net_energy) return "its networks cost energy";
    if (model->n_levels > SX_CORE_LEVELS || model->n_dims > SX_CORE_DIMS ||
        model->n_tensors > SX_CORE_TENSORS)
        return "it has more than 8 levels, 8 dimensions or 4 tensors";
    *out = (sx_core_model){.n_levels = model->n_levels,
                           .n_dims = model->n_dims,
                           .n_tensors = model->n_tensors,
                           .all = (1u << model->n_tensors) - 1,
                           .window = -1,
                           .computes = (double)model->computes,
                           .latency = (double)model->latency,
                           .compute_x = (double)model->compute_x,
                           .compute_y = (double)model->compute_y,
                           .compute_instances = (double)model->compute_instances};
    out->compute_energy = out->computes * model->compute_energy;
    out->share = out->computes / out->compute_instances;
    for (int v = 0; v < model->n_tensors; v++) {
        const char *why = make_tensor(model, v, &out->tensor[v]);
        if (why) return why;
        if (!out->tensor[v].plain && out->window < 0) out->window = v;
    }
    for (int s = 0; s < model->n_levels; s++) copy_level(model, s, &out->level[s]);
    return NULL;
}
