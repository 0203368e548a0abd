/* The attributes Timeloop reads from a storage level or compute unit, and what becomes of each here. */
#include "frontend/arch_builder.h"

#define N(rules) (sizeof(rules) / sizeof *(rules))

static const char inferred[] = "networks are inferred: one between each level and the next";

/* Those of the flat dialect alone come last. */
static const sx_key_rule storage_rules[] = {
    {"word_bits", SX_KEY_USED, NULL},
    {"word_width", SX_KEY_USED, NULL},
    {"datawidth", SX_KEY_USED, NULL},
    {"block_size", SX_KEY_USED, NULL},
    {"n_words", SX_KEY_USED, NULL},
    {"cluster_size", SX_KEY_USED, NULL},
    {"width", SX_KEY_USED, NULL},
    {"memory_width", SX_KEY_USED, NULL},
    {"data_storage_width", SX_KEY_USED, NULL},
    {"entries", SX_KEY_USED, NULL},
    {"depth", SX_KEY_USED, NULL},
    {"memory_depth", SX_KEY_USED, NULL},
    {"data_storage_depth", SX_KEY_USED, NULL},
    {"sizeKB", SX_KEY_USED, NULL},
    {"technology", SX_KEY_USED, NULL},
    {"bandwidth", SX_KEY_USED, NULL},
    {"shared_bandwidth", SX_KEY_USED, NULL},
    {"read_bandwidth", SX_KEY_USED, NULL},
    {"write_bandwidth", SX_KEY_USED, NULL},
    {"per_dataspace_bandwidth_consumption_scale", SX_KEY_USED, NULL},
    {"multiple_buffering", SX_KEY_USED, NULL},
    {"min_utilization", SX_KEY_USED, NULL},
    {"instances", SX_KEY_USED, NULL},
    {"meshX", SX_KEY_USED, NULL},
    {"meshY", SX_KEY_USED, NULL},
    {"reduction_supported", SX_KEY_USED, NULL},
    {"power_gated_at", SX_KEY_USED, NULL},
    {"has_power_gating", SX_KEY_USED, NULL},
    {"allow_overbooking", SX_KEY_USED, NULL},
    {"vector_access_energy", SX_KEY_USED, NULL},
    {"addr_gen_energy", SX_KEY_USED, NULL},
    {"network_fill_latency", SX_KEY_USED, NULL},
    {"network_drain_latency", SX_KEY_USED, NULL},
    {"network_word_bits", SX_KEY_USED, NULL},
    {"network_type", SX_KEY_USED, NULL},
    {"energy_per_hop", SX_KEY_USED, NULL},
    {"router_energy", SX_KEY_USED, NULL},
    {"wire_energy", SX_KEY_USED, NULL},
    {"tile_width", SX_KEY_USED, NULL},
    {"network_read", SX_KEY_UNSUPPORTED, inferred},
    {"network_fill", SX_KEY_UNSUPPORTED, inferred},
    {"network_drain", SX_KEY_UNSUPPORTED, inferred},
    {"network_update", SX_KEY_UNSUPPORTED, inferred},
    {"num_ports", SX_KEY_NO_BEARING, NULL},
    {"n_ports", SX_KEY_NO_BEARING, NULL},
    {"nports", SX_KEY_NO_BEARING, NULL},
    {"n_rd_ports", SX_KEY_NO_BEARING, NULL},
    {"n_wr_ports", SX_KEY_NO_BEARING, NULL},
    {"n_rw_ports", SX_KEY_NO_BEARING, NULL},
    {"n_rdwr_ports", SX_KEY_NO_BEARING, NULL},
    {"num_banks", SX_KEY_NO_BEARING, NULL},
    {"n_banks", SX_KEY_NO_BEARING, NULL},
    {"cluster_area", SX_KEY_NO_BEARING, NULL},
    {"area", SX_KEY_NO_BEARING, NULL},
    {"type", SX_KEY_NO_BEARING, NULL},
    {"latency", SX_KEY_NO_BEARING, NULL},
    {"update_fifo_depth", SX_KEY_NO_BEARING, NULL},
    {"global_cycle_seconds", SX_KEY_NO_BEARING, NULL},
    {"fill_latency", SX_KEY_NO_BEARING, NULL},
    {"drain_latency", SX_KEY_NO_BEARING, NULL},
    {"metadata_block_size", SX_KEY_NO_BEARING, NULL},
    {"metadata_datawidth", SX_KEY_NO_BEARING, NULL},
    {"metadata_word_bits", SX_KEY_NO_BEARING, NULL},
    {"metadata_width", SX_KEY_NO_BEARING, NULL},
    {"metadata_depth", SX_KEY_NO_BEARING, NULL},
    {"metadata_storage_width", SX_KEY_NO_BEARING, NULL},
    {"metadata_storage_depth", SX_KEY_NO_BEARING, NULL},
    {"metadata_counter_width", SX_KEY_NO_BEARING, NULL},
    {"concordant_compressed_tile_traversal", SX_KEY_NO_BEARING, NULL},
    {"tile_partition_supported", SX_KEY_NO_BEARING, NULL},
    {"decompression_supported", SX_KEY_NO_BEARING, NULL},
    {"compression_supported", SX_KEY_NO_BEARING, NULL},
    {"name", SX_KEY_USED, NULL},
    {"keep", SX_KEY_USED, NULL},
    {"bypass", SX_KEY_USED, NULL},
    {"banks", SX_KEY_USED, NULL},
    {"transparent", SX_KEY_USED, NULL},
    {"read_energy", SX_KEY_USED, NULL},
    {"fill_energy", SX_KEY_USED, NULL},
    {"update_energy", SX_KEY_USED, NULL},
    {"leak_energy", SX_KEY_USED, NULL},
    {"comment", SX_KEY_NO_BEARING, NULL},
};
#define STORAGE_FLAT_ONLY 10

static const sx_key_rule compute_rules[] = {
    {"word_bits", SX_KEY_USED, NULL},
    {"datawidth", SX_KEY_USED, NULL},
    {"instances", SX_KEY_USED, NULL},
    {"meshX", SX_KEY_USED, NULL},
    {"meshY", SX_KEY_USED, NULL},
    {"energy", SX_KEY_USED, NULL},
    {"network_operand", SX_KEY_UNSUPPORTED, inferred},
    {"network_result", SX_KEY_UNSUPPORTED, inferred},
    {"area", SX_KEY_NO_BEARING, NULL},
    {"width", SX_KEY_NO_BEARING, NULL},
    {"multiplier_width", SX_KEY_NO_BEARING, NULL},
    {"adder_width", SX_KEY_NO_BEARING, NULL},
    {"technology", SX_KEY_NO_BEARING, NULL},
    {"latency", SX_KEY_NO_BEARING, NULL},
    {"has_power_gating", SX_KEY_NO_BEARING, NULL},
    {"power_gated_at", SX_KEY_NO_BEARING, NULL},
    {"global_cycle_seconds", SX_KEY_NO_BEARING, NULL},
    {"name", SX_KEY_USED, NULL},
    {"comment", SX_KEY_NO_BEARING, NULL},
};
#define COMPUTE_FLAT_ONLY 2

const sx_key_rule *sx_storage_rules(bool flat, size_t *n) {
    *n = N(storage_rules) - (flat ? 0 : STORAGE_FLAT_ONLY);
    return storage_rules;
}

const sx_key_rule *sx_compute_rules(bool flat, size_t *n) {
    *n = N(compute_rules) - (flat ? 0 : COMPUTE_FLAT_ONLY);
    return compute_rules;
}
