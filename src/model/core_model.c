/* From the compiled model to the core's. */
#include "model/core_model.h"

#include "model/frame/state.h"

#include <string.h>

/* Copies a tensor; false where the core does not cover it. */
static bool copy_tensor(const sx_frame_tensor *from, sx_core_tensor *to) {
    if (from->n_mixed > SX_CORE_MIXED) return false;
    *to = (sx_core_tensor){.words = from->words,
                           .elided = from->elided,
                           .dims = from->dims,
                           .solo = from->solo,
                           .output = from->output,
                           .plain = from->plain,
                           .n_unit = from->n_unit,
                           .n_stretched = from->n_stretched,
                           .n_mixed = from->n_mixed};
    memcpy(to->unit, from->unit, sizeof to->unit);
    memcpy(to->stretched, from->stretched, sizeof to->stretched);
    memcpy(to->stretch, from->stretch, sizeof to->stretch);
    memcpy(to->coef, from->coef, sizeof to->coef);
    memcpy(to->mixed_of, from->mixed_of, sizeof to->mixed_of);
    memcpy(to->mixed_dim, from->mixed_dim, sizeof to->mixed_dim);
    memcpy(to->reach, from->reach, sizeof to->reach);
    return true;
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
    if (model->sparse || model->range || model->formats) return "its tensors are sparse";
    if (model->law) return "it has a law of latency";
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
        sx_frame_tensor tensor;
        if (!sx_frame_tensor_compile(model, v, &tensor)) return "its counts may be beyond 2^53";
        if (!copy_tensor(&tensor, &out->tensor[v])) return "tiles overlap in part in more than two ranks";
        if (!tensor.plain && out->window < 0) out->window = v;
    }
    for (int s = 0; s < model->n_levels; s++) copy_level(model, s, &out->level[s]);
    return NULL;
}
