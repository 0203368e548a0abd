/* Sparse optimizations in Timeloop's dialect: targets with formats and actions. */
#include "frontend/write/sparse_section.h"

/* The names of a set. */
static SX_OWN json_t *names(sx_tree *tree, const sx_sparse *sparse, uint32_t set) {
    json_t *list = json_array();
    for (int i = 0; i < sparse->n_names; i++)
        if (set >> i & 1) sx_tree_append(tree, list, sx_tree_text(tree, sparse->name[i]));
    return list;
}

static SX_OWN json_t *rank_tree(sx_tree *tree, const sx_sparse *sparse, const sx_rank_format *rank) {
    json_t *map = json_object();
    sx_tree_put(tree, map, "format", sx_tree_text(tree, sx_rank_kind_name((sx_rank_kind)rank->kind)));
    if (rank->metadata_bits != SX_BITS_DEFAULT)
        sx_tree_put(tree, map, "metadata_word_bits", sx_tree_u64(tree, rank->metadata_bits));
    if (rank->payload_bits != SX_BITS_DEFAULT)
        sx_tree_put(tree, map, "payload_word_bits", sx_tree_u64(tree, rank->payload_bits));
    if (!rank->n_flattened) return map;
    json_t *lists = json_array();
    for (int i = 0; i < rank->n_flattened; i++)
        sx_tree_append(tree, lists, names(tree, sparse, rank->flattened[i]));
    sx_tree_put(tree, map, "flattened_rankIDs", lists);
    return map;
}

static SX_OWN json_t *format_tree(sx_tree *tree, const sx_sparse *sparse, const sx_tensor_format *format) {
    json_t *map = json_object(), *ranks = json_array();
    sx_tree_put(tree, map, "name", sx_tree_text(tree, sparse->name[format->tensor]));
    if (format->inner_to_outer)
        sx_tree_put(tree, map, "rank_application_order", sx_tree_text(tree, "inner_to_outer"));
    for (int r = format->n_ranks - 1; r >= 0; r--)
        sx_tree_append(tree, ranks, rank_tree(tree, sparse, &sparse->rank[format->first + r]));
    sx_tree_put(tree, map, "ranks", ranks);
    return map;
}

static SX_OWN json_t *action_tree(sx_tree *tree, const sx_sparse *sparse, const sx_sparse_action *action) {
    json_t *map = json_object(), *options = json_array();
    sx_tree_put(tree, map, "type", sx_tree_text(tree, action->skips ? "skipping" : "gating"));
    for (int i = 0; i < action->n_options; i++) {
        json_t *option = json_object();
        sx_tree_put(tree, option, "target", sx_tree_text(tree, sparse->name[action->option[i].target]));
        sx_tree_put(tree, option, "condition_on", names(tree, sparse, action->option[i].on));
        sx_tree_append(tree, options, option);
    }
    sx_tree_put(tree, map, "options", options);
    return map;
}

/* One level as a target. */
static SX_OWN json_t *target_tree(sx_tree *tree, const sx_arch *arch, int level) {
    const sx_sparse *sparse = &arch->sparse;
    json_t *map = json_object(), *spaces = json_array(), *actions = json_array(), *formats = json_object();
    sx_tree_put(tree, map, "name", sx_tree_text(tree, arch->level[level].name));
    for (int i = 0; i < sparse->n_formats; i++)
        if (sparse->format[i].level == level)
            sx_tree_append(tree, spaces, format_tree(tree, sparse, &sparse->format[i]));
    for (int i = 0; i < sparse->n_actions; i++)
        if (sparse->action[i].level == level)
            sx_tree_append(tree, actions, action_tree(tree, sparse, &sparse->action[i]));
    sx_tree_put(tree, formats, "data_spaces", spaces);
    sx_tree_put(tree, map, "representation_format", formats);
    sx_tree_put(tree, map, "action_optimization", actions);
    return map;
}

json_t *sx_sparse_tree(sx_tree *tree, const sx_arch *arch) {
    json_t *root = json_object(), *targets = json_array(), *compute = json_object(), *types = json_array();
    for (int s = 0; s < arch->n_levels; s++) sx_tree_append(tree, targets, target_tree(tree, arch, s));
    const bool does[2] = {arch->sparse.gates_compute, arch->sparse.skips_compute};
    static const char *const name[2] = {"gating", "skipping"};
    for (int i = 0; i < 2; i++) {
        if (!does[i]) continue;
        json_t *type = json_object();
        sx_tree_put(tree, type, "type", sx_tree_text(tree, name[i]));
        sx_tree_append(tree, types, type);
    }
    sx_tree_put(tree, compute, "name", sx_tree_text(tree, arch->compute.name));
    sx_tree_put(tree, compute, "compute_optimization", types);
    sx_tree_append(tree, targets, compute);
    if (!arch->sparse.timeloop) sx_tree_put(tree, root, "semantics", sx_tree_text(tree, "exact"));
    sx_tree_put(tree, root, "targets", targets);
    return root;
}
