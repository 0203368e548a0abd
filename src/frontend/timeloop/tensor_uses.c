/* Which tensors an input's constraints and mapping name. */
#include "frontend/timeloop/tensor_uses.h"
#include "frontend/timeloop/constraints.h"

#include <string.h>

/* What is called for each name. */
typedef struct visit {
    sx_name_visitor *each;
    void *user;
} visit;

/* Whether the value of a key is a list of tensors. */
static bool lists_tensors(const char *key) {
    static const char *const keys[] = {
        "keep",         "bypass",           "keep_only",
        "bypass_only",  "no_reuse",         "no_temporal_reuse",
        "no_multicast", "no_link_transfer", "no_multicast_no_reduction",
        "no_coalesce",  "rmw_first_update", "rmw_on_first_writeback",
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (sx_key_equal(key, keys[i])) return true;
    return false;
}

/* Passes on a name unless it stands for all tensors. */
static sx_status pass_name(void *user, const char *name, sx_place place) {
    const visit *v = user;
    return strcmp(name, "*") == 0 ? SX_OK : v->each(v->user, name, place);
}

/* Visits the tensors named anywhere below a node. */
static sx_status walk_tensors(const sx_node *node, visit *v) {
    for (size_t i = 0; i < node->n && node->kind == SX_NODE_LIST; i++) SX_TRY(walk_tensors(node->item[i], v));
    for (size_t i = 0; i < node->n && node->kind == SX_NODE_MAP; i++) {
        const sx_pair *pair = &node->pair[i];
        const sx_node *value = pair->value;
        if (lists_tensors(pair->key) && (value->kind == SX_NODE_LIST || value->kind == SX_NODE_SCALAR))
            SX_TRY(sx_node_names(value, pair->key, pass_name, v));
        else
            SX_TRY(walk_tensors(value, v));
    }
    return SX_OK;
}

sx_status sx_input_tensor_uses(const sx_input *input, sx_name_visitor *each, void *user) {
    visit v = {each, user};
    const sx_pair *section;
    for (size_t i = 0; (section = sx_input_section(input, NULL, i)); i++)
        if (sx_constraints_section(section->key) || sx_key_equal(section->key, "mapping") ||
            sx_key_equal(section->key, "architecture") || sx_key_equal(section->key, "arch"))
            SX_TRY(walk_tensors(section->value, &v));
    return SX_OK;
}
