/* Witnesses of the verifier's walk: its rules, applied to one complete mapping (tests/property/test_witnesses.c). */
#include "verify/verify_witness.h"

#include <string.h>

/* Gives a level the order of its list that stands for the one it has, or the first one where orders do not matter; false
 * where none stands for it. */
static bool set_order(const sx_check_context *context, int s, bool matters, sx_mapping_level *at) {
    unsigned loops = sx_verify_space_loops(context->space, at->temporal);
    size_t n, i = 0;
    const uint8_t(*order)[SX_MAX_DIMS] = sx_order_list_of(context->order_list, s, loops, &n);
    if (!order || (matters && !sx_order_list_find(context->order_list, s, loops, at->temporal_order, &i)))
        return false;
    memcpy(at->temporal_order, order[i], SX_MAX_DIMS);
    return true;
}

sx_witness sx_verify_witness(const sx_check_context *context, sx_verify_skip rule, sx_mapping *mapping) {
    const sx_mapping before = *mapping;
    bool moved = false;
    for (int s = 0; s < mapping->n_levels; s++) {
        sx_mapping_level *at = &mapping->level[s];
        bool matters = sx_verify_order_matters(context->space, at, s);
        if (rule == SX_VERIFY_SKIP_MOVABLE)
            moved =
                moved || (s + 1 < mapping->n_levels && sx_bound_move_loop(context->bound, s, mapping->level));
        else if (matters == (rule == SX_VERIFY_SKIP_ORDER) && !set_order(context, s, matters, at))
            return SX_WITNESS_NONE;
    }
    sx_mapping_canonical(mapping);
    return memcmp(&before, mapping, sizeof before) == 0 ? SX_WITNESS_ITSELF : SX_WITNESS_OTHER;
}
