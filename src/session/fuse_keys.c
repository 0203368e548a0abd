/* The keys of a fused mapping as a file (docs/fusion.md). */
#include "session/fusing.h"

static const sx_key_rule fused_rules[] = {
    SX_KEY("network", "text", "the network that the mapping is of"),
    SX_KEY("exchange", "text", "the memory in which layers exchange tensors"),
    SX_KEY("order", "any", "the layers in the order in which they run, where that is not the network's"),
    SX_KEY("groups", "[@fused_group]", "layers that share outer loops"),
    SX_KEY("runs", "[@fused_run]", "layers that share none"),
};
const sx_keys sx_keys_fused = SX_KEYS("fused", false, fused_rules);
static const sx_key_rule fused_group_rules[] = {
    SX_KEY("layers", "any", "the layers of the group"),
    SX_KEY("loops", "[@fused_loop]", "the loops that they share, outermost first"),
    SX_KEY("window", "any", "whether windows are kept or computed again"),
    SX_KEY("hold", "any", "tensors that stay"),
    SX_KEY("softmax", "any", "passes of softmax"),
    SX_KEY("tensors", "[@fused_tensor]", "what stays where"),
    SX_KEY("runs", "[@fused_run]", "each layer within the shared loops"),
};
const sx_keys sx_keys_fused_group = SX_KEYS("fused_group", false, fused_group_rules);
static const sx_key_rule fused_tensor_rules[] = {
    SX_KEY("name", "text", "of the network"),
    SX_KEY("level", "text", "the memory that it stays in"),
    SX_KEY("words", "number", "that it takes there"),
    SX_KEY("depth", "number", "the shared loops around its tile"),
};
const sx_keys sx_keys_fused_tensor = SX_KEYS("fused_tensor", false, fused_tensor_rules);
static const sx_key_rule fused_loop_rules[] = {
    SX_KEY("dimension", "text!", "of the group"),
    SX_KEY("bound", "count!", "iterations"),
};
const sx_keys sx_keys_fused_loop = SX_KEYS("fused_loop", false, fused_loop_rules);
static const sx_key_rule fused_run_rules[] = {
    SX_KEY("layer", "text!", "its name"),
    SX_KEY("rows", "any", "rows per iteration"),
    SX_KEY("again", "any", "rows that are computed again"),
    SX_KEY("mapping", "any", "the mapping of the layer"),
};
const sx_keys sx_keys_fused_run = SX_KEYS("fused_run", false, fused_run_rules);
