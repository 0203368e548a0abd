/* The attributes Timeloop reads from a storage level or compute unit, and what becomes of each here. */
#include "frontend/known_keys.h"
#include "frontend/timeloop/arch_builder.h"

/* Those of components but not of containers come after the others, those of the flat dialect alone last. */
static const sx_key_rule storage_rules[] = {
    SX_KEY("word_bits", "expression", "bits of a word (16)"),
    SX_KEY_SAME("word_width", "word_bits"),
    SX_KEY_SAME("datawidth", "word_bits"),
    SX_KEY("block_size", "expression", "words of one access"),
    SX_KEY_SAME("n_words", "block_size"),
    SX_KEY("cluster_size", "expression", "instances that share one wide access"),
    SX_KEY("width", "expression", "bits of one access"),
    SX_KEY_SAME("memory_width", "width"),
    SX_KEY_SAME("data_storage_width", "width"),
    SX_KEY_SAME("entries", "depth"),
    SX_KEY("depth", "expression", "accesses of an instance"),
    SX_KEY_SAME("memory_depth", "depth"),
    SX_KEY_SAME("data_storage_depth", "depth"),
    SX_KEY_SAME("sizeKB", "depth"),
    SX_KEY("technology", "any", "SRAM, DRAM or the process node"),
    SX_KEY("bandwidth", "expression", "words per cycle, half of them each way"),
    SX_KEY("shared_bandwidth", "expression", "words per cycle, reads and writes together"),
    SX_KEY("read_bandwidth", "expression", "words per cycle, inward"),
    SX_KEY("write_bandwidth", "expression", "words per cycle, fills and updates"),
    SX_KEY("per_dataspace_bandwidth_consumption_scale", "any",
           "factor on the bandwidth of a tensor, by its name"),
    SX_KEY("multiple_buffering", "expression", "only capacity / this holds tiles"),
    SX_KEY("min_utilization", "expression", "least share of the capacity in use"),
    SX_KEY("instances", "expression", "how many there are"),
    SX_KEY_IDLE("n_instances"),
    SX_KEY("meshX", "expression", "instances along X"),
    SX_KEY("meshY", "expression", "instances along Y"),
    SX_KEY("reduction_supported", "any", "adds partial sums in place"),
    SX_KEY("power_gated_at", "text", "the level whose idle instances gate the leakage of this one"),
    SX_KEY("has_power_gating", "any", "only false"),
    SX_KEY("allow_overbooking", "any", "only false"),
    SX_KEY("vector_access_energy", "expression", "pJ of one access"),
    SX_KEY("addr_gen_energy", "expression", "pJ of an address"),
    SX_KEY("network_fill_latency", "expression", "cycles, once"),
    SX_KEY("network_drain_latency", "expression", "cycles, once"),
    SX_KEY("network_word_bits", "expression", "bits of a hop"),
    SX_KEY("network_type", "text", "1:N"),
    SX_KEY("energy_per_hop", "expression", "pJ of a word and hop"),
    SX_KEY("router_energy", "expression", "pJ of a word"),
    SX_KEY("wire_energy", "expression", "pJ of a bit and mm"),
    SX_KEY("tile_width", "expression", "um of a hop"),
    SX_KEY("network_read", "text", "the network of its reads"),
    SX_KEY("network_fill", "text", "the network of its fills"),
    SX_KEY("network_drain", "text", "the network of its drains"),
    SX_KEY("network_update", "text", "the network of its updates"),
    SX_KEY_FOR_ESTIMATE("num_ports", "expression", "ports"),
    SX_KEY_FOR_ESTIMATE("n_ports", "expression", "ports"),
    SX_KEY_FOR_ESTIMATE("nports", "expression", "ports"),
    SX_KEY_FOR_ESTIMATE("n_rd_ports", "expression", "read ports"),
    SX_KEY_FOR_ESTIMATE("n_wr_ports", "expression", "write ports"),
    SX_KEY_FOR_ESTIMATE("n_rw_ports", "expression", "read and write ports"),
    SX_KEY_FOR_ESTIMATE("n_rdwr_ports", "expression", "read and write ports"),
    SX_KEY_FOR_ESTIMATE("num_banks", "expression", "banks"),
    SX_KEY_FOR_ESTIMATE("n_banks", "expression", "banks"),
    SX_KEY("cluster_area", "expression", "um^2 of a cluster"),
    SX_KEY("area", "expression", "um^2 of an instance"),
    SX_KEY_FOR_ESTIMATE("type", "any", "kind of DRAM or cells"),
    {"latency", SX_KEY_USED_MAP, NULL, "@latency|text|null", "the law of the tile pipeline, as a map"},
    SX_KEY_IDLE("update_fifo_depth"),
    SX_KEY("global_cycle_seconds", "expression", "seconds of a cycle"),
    SX_KEY_IDLE("fill_latency"),
    SX_KEY_IDLE("drain_latency"),
    SX_KEY_IDLE("metadata_block_size"),
    SX_KEY("metadata_datawidth", "expression", "bits of a word of metadata"),
    SX_KEY_SAME("metadata_word_bits", "metadata_datawidth"),
    SX_KEY_SAME("metadata_width", "metadata_storage_width"),
    SX_KEY_SAME("metadata_depth", "metadata_storage_depth"),
    SX_KEY("metadata_storage_width", "expression", "bits of an access to metadata"),
    SX_KEY("metadata_storage_depth", "expression", "accesses of metadata"),
    SX_KEY_IDLE("metadata_counter_width"),
    SX_KEY_IDLE("concordant_compressed_tile_traversal"),
    SX_KEY("tile_partition_supported", "any", "whether tiles may be cut in parts"),
    SX_KEY("decompression_supported", "any", "whether compressed tiles can be decompressed"),
    SX_KEY("compression_supported", "any", "whether tiles can be compressed"),
    SX_KEY_IDLE("max_utilization"),
    SX_KEY_IDLE("area_scale"),
    SX_KEY("energy_scale", "any", "ignored with a warning where no ERT has the energies"),
    SX_KEY_IDLE("stream"),
    SX_KEY_FOR_ESTIMATE("class", "text", "the component class"),
    SX_KEY_IDLE("networks"),
    SX_KEY_OF_CACHE("ways"),
    SX_KEY_OF_CACHE("n_ways"),
    SX_KEY_OF_CACHE("associativity"),
    SX_KEY_OF_CACHE("line"),
    SX_KEY_OF_CACHE("line_size"),
    SX_KEY_OF_CACHE("line_bytes"),
    SX_KEY_OF_CACHE("cache_line"),
    SX_KEY_OF_CACHE("cache_line_size"),
    SX_KEY_OF_CACHE("tag_size"),
    SX_KEY("name", "text", "its name"),
    SX_KEY("keep", "names", "the only tensors it is built for"),
    SX_KEY("bypass", "names", "tensors it is not built for"),
    SX_KEY("banks", "expression", "tensors share the level by whole banks"),
    SX_KEY("transparent", "any", "keeps nothing"),
    SX_KEY("read_energy", "expression", "pJ of a read"),
    SX_KEY("fill_energy", "expression", "pJ of a fill"),
    SX_KEY("update_energy", "expression", "pJ of an update"),
    SX_KEY("leak_energy", "expression", "pJ of an instance and cycle"),
    SX_KEY("action_energies", "any", "pJ of gated, skipped and metadata accesses"),
    SX_KEY("unpriced", "any", "no energy of it is known: the energies beside it are 0"),
    SX_KEY_IDLE("comment"),
};
const sx_keys sx_keys_storage = SX_KEYS("storage", true, storage_rules);
enum { STORAGE_FLAT_ONLY = 12, STORAGE_OF_CACHES = 9 };

static const sx_key_rule compute_rules[] = {
    SX_KEY("word_bits", "expression", "bits of a word"),
    SX_KEY_SAME("datawidth", "word_bits"),
    SX_KEY("instances", "expression", "how many there are"),
    SX_KEY_IDLE("n_instances"),
    SX_KEY("meshX", "expression", "units along X"),
    SX_KEY("meshY", "expression", "units along Y"),
    SX_KEY("energy", "expression", "pJ of a multiply-accumulate"),
    SX_KEY("network_operand", "text", "the network of its operands"),
    SX_KEY("network_result", "text", "the network of its results"),
    SX_KEY("area", "expression", "um^2 of a unit"),
    SX_KEY_FOR_ESTIMATE("width", "expression", "bits"),
    SX_KEY_FOR_ESTIMATE("multiplier_width", "expression", "bits of the multiplier"),
    SX_KEY_FOR_ESTIMATE("adder_width", "expression", "bits of the adder"),
    SX_KEY_FOR_ESTIMATE("technology", "any", "the process node"),
    SX_KEY_FOR_ESTIMATE("exponent", "expression", "bits of the exponent"),
    SX_KEY_FOR_ESTIMATE("mantissa", "expression", "bits of the mantissa"),
    SX_KEY_IDLE("latency"),
    SX_KEY_IDLE("has_power_gating"),
    SX_KEY_IDLE("power_gated_at"),
    SX_KEY("global_cycle_seconds", "expression", "seconds of a cycle"),
    SX_KEY_FOR_ESTIMATE("class", "text", "the component class"),
    SX_KEY("name", "text", "its name"),
    SX_KEY("gated_energy", "expression", "pJ of a gated compute"),
    SX_KEY("skipped_energy", "expression", "pJ of a skipped compute"),
    SX_KEY("unpriced", "any", "no energy of it is known: the energy beside it is 0"),
    SX_KEY_IDLE("comment"),
};
const sx_keys sx_keys_compute = SX_KEYS("compute", true, compute_rules);
#define COMPUTE_FLAT_ONLY 5

sx_keys sx_storage_keys(bool flat) {
    sx_keys keys = sx_keys_storage;
    if (!flat) keys.n -= STORAGE_FLAT_ONLY;
    return keys;
}

sx_keys sx_container_keys(void) {
    sx_keys keys = sx_storage_keys(false);
    keys.n -= STORAGE_OF_CACHES;
    return keys;
}

sx_keys sx_compute_keys(bool flat) {
    sx_keys keys = sx_keys_compute;
    if (!flat) keys.n -= COMPUTE_FLAT_ONLY;
    return keys;
}
