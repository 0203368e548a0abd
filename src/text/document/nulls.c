#include "text/document/nulls.h"

sx_status sx_node_refuse_null(const sx_node *node, const char *what) {
    for (size_t i = 0; i < node->n && node->kind == SX_NODE_LIST; i++)
        SX_TRY(sx_node_refuse_null(node->item[i], what));
    for (size_t i = 0; i < node->n && node->kind == SX_NODE_MAP; i++) {
        const sx_pair *pair = &node->pair[i];
        if (pair->value->kind == SX_NODE_NULL)
            return sx_error_at(pair->place, "'%.64s' of %s has no value", pair->key, what);
        SX_TRY(sx_node_refuse_null(pair->value, what));
    }
    return SX_OK;
}
