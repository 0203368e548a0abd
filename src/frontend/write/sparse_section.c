/* Sparse optimizations in Timeloop's dialect: targets with formats and actions. */
#include "frontend/write/sparse_section.h"

/* The names of a set. */
static SX_OWN json_t *write_names(const sx_sparse *sparse, uint32_t set) {
    json_t *list = json_array();
    for (int i = 0; i < sparse->n_names; i++)
        if (set >> i & 1) sx_json_append(list, sx_json_text(sparse->name[i]));
    return list;
}

static SX_OWN json_t *rank_tree(const sx_sparse *sparse, const sx_rank_format *rank) {
    json_t *map = json_object();
    sx_json_set(map, "format", sx_json_text(sx_rank_kind_name((sx_rank_kind)rank->kind)));
    if (rank->metadata_bits != SX_BITS_DEFAULT)
        sx_json_set(map, "metadata_word_bits", sx_json_exact(rank->metadata_bits));
    if (rank->payload_bits != SX_BITS_DEFAULT)
        sx_json_set(map, "payload_word_bits", sx_json_exact(rank->payload_bits));
    if (!rank->n_flattened) return map;
    json_t *lists = json_array();
    for (int i = 0; i < rank->n_flattened; i++)
        sx_json_append(lists, write_names(sparse, rank->flattened[i]));
    sx_json_set(map, "flattened_rankIDs", lists);
    return map;
}

static SX_OWN json_t *format_tree(const sx_sparse *sparse, const sx_tensor_format *format) {
    json_t *map = json_object(), *ranks = json_array();
    sx_json_set(map, "name", sx_json_text(sparse->name[format->tensor]));
    if (format->inner_to_outer) sx_json_set(map, "rank_application_order", sx_json_text("inner_to_outer"));
    for (int r = format->n_ranks - 1; r >= 0; r--)
        sx_json_append(ranks, rank_tree(sparse, &sparse->rank[format->first + r]));
    sx_json_set(map, "ranks", ranks);
    return map;
}

static SX_OWN json_t *action_tree(const sx_sparse *sparse, const sx_sparse_action *action) {
    json_t *map = json_object(), *options = json_array();
    sx_json_set(map, "type", sx_json_text(action->skips ? "skipping" : "gating"));
    for (int i = 0; i < action->n_options; i++) {
        json_t *option = json_object();
        sx_json_set(option, "target", sx_json_text(sparse->name[action->option[i].target]));
        sx_json_set(option, "condition_on", write_names(sparse, action->option[i].on));
        sx_json_append(options, option);
    }
    sx_json_set(map, "options", options);
    return map;
}

/* One level as a target. */
static SX_OWN json_t *target_tree(const sx_arch *arch, int level) {
    const sx_sparse *sparse = &arch->sparse;
    json_t *map = json_object(), *spaces = json_array(), *actions = json_array(), *formats = json_object();
    sx_json_set(map, "name", sx_json_text(arch->level[level].name));
    for (int i = 0; i < sparse->n_formats; i++)
        if (sparse->format[i].level == level) sx_json_append(spaces, format_tree(sparse, &sparse->format[i]));
    for (int i = 0; i < sparse->n_actions; i++)
        if (sparse->action[i].level == level)
            sx_json_append(actions, action_tree(sparse, &sparse->action[i]));
    sx_json_set(formats, "data_spaces", spaces);
    sx_json_set(map, "representation_format", formats);
    sx_json_set(map, "action_optimization", actions);
    return map;
}

json_t *sx_sparse_tree(const sx_arch *arch) {
    json_t *root = json_object(), *targets = json_array(), *compute = json_object(), *types = json_array();
    for (int s = 0; s < arch->n_levels; s++) sx_json_append(targets, target_tree(arch, s));
    const bool does[2] = {arch->sparse.gates_compute, arch->sparse.skips_compute};
    static const char *const name[2] = {"gating", "skipping"};
    for (int i = 0; i < 2; i++) {
        if (!does[i]) continue;
        json_t *type = json_object();
        sx_json_set(type, "type", sx_json_text(name[i]));
        sx_json_append(types, type);
    }
    sx_json_set(compute, "name", sx_json_text(arch->compute.name));
    sx_json_set(compute, "compute_optimization", types);
    sx_json_append(targets, compute);
    if (!arch->sparse.timeloop) sx_json_set(root, "semantics", sx_json_text("exact"));
    sx_json_set(root, "targets", targets);
    return root;
}
