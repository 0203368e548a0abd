/* An architecture in the making: what the readers of the three dialects have in common. Levels are added in
 * the order of the text and put innermost first at the end, when energies and references by name are settled.
 */
#ifndef SX_FRONTEND_ARCH_BUILDER_H
#define SX_FRONTEND_ARCH_BUILDER_H

#include "frontend/attributes.h"

/* What is known of a level until its energies and references are settled. */
typedef struct sx_level_draft {
    sx_place place;
    const sx_pair *gate; /* power_gated_at */
    bool energy_given;   /* vector_access_energy */
    bool hop_given;      /* energy_per_hop */
    bool wire_given, tile_given;
    double wire_energy; /* pJ per bit and mm */
    double tile_width;  /* um */
    uint32_t network_bits;
} sx_level_draft;

typedef struct sx_arch_builder {
    sx_input *input;
    sx_place place;
    bool defaults_v4; /* cluster size 1, partial sums added in place everywhere */
    bool has_compute, compute_energy_given;
    sx_place compute_place;
    sx_arch arch;
    sx_level_draft draft[SX_MAX_LEVELS];
} sx_arch_builder;

/* A storage level or compute unit as the dialects hand it over. */
typedef struct sx_element {
    const char *name;
    size_t name_size;  /* bytes of the name, without its range */
    const char *class; /* NULL where the dialect has none */
    sx_place place;
    const sx_scope *attributes;
    uint64_t instances;      /* 0: only the attributes say */
    uint64_t mesh_x, mesh_y; /* 0: the attributes may say */
} sx_element;

/* The keys of a storage level's attributes, for tables of rules. */
#define SX_STORAGE_RULES                                                                                     \
    {"word_bits", SX_KEY_USED, NULL}, {"word_width", SX_KEY_USED, NULL}, {"datawidth", SX_KEY_USED, NULL},   \
        {"block_size", SX_KEY_USED, NULL}, {"n_words", SX_KEY_USED, NULL},                                   \
        {"cluster_size", SX_KEY_USED, NULL}, {"width", SX_KEY_USED, NULL},                                   \
        {"memory_width", SX_KEY_USED, NULL}, {"data_storage_width", SX_KEY_USED, NULL},                      \
        {"entries", SX_KEY_USED, NULL}, {"depth", SX_KEY_USED, NULL}, {"memory_depth", SX_KEY_USED, NULL},   \
        {"data_storage_depth", SX_KEY_USED, NULL}, {"sizeKB", SX_KEY_USED, NULL},                            \
        {"technology", SX_KEY_USED, NULL}, {"bandwidth", SX_KEY_USED, NULL},                                 \
        {"shared_bandwidth", SX_KEY_USED, NULL}, {"read_bandwidth", SX_KEY_USED, NULL},                      \
        {"write_bandwidth", SX_KEY_USED, NULL},                                                              \
        {"per_dataspace_bandwidth_consumption_scale", SX_KEY_USED, NULL},                                    \
        {"multiple_buffering", SX_KEY_USED, NULL}, {"min_utilization", SX_KEY_USED, NULL},                   \
        {"instances", SX_KEY_USED, NULL}, {"meshX", SX_KEY_USED, NULL}, {"meshY", SX_KEY_USED, NULL},        \
        {"reduction_supported", SX_KEY_USED, NULL}, {"power_gated_at", SX_KEY_USED, NULL},                   \
        {"has_power_gating", SX_KEY_USED, NULL}, {"allow_overbooking", SX_KEY_USED, NULL},                   \
        {"vector_access_energy", SX_KEY_USED, NULL}, {"addr_gen_energy", SX_KEY_USED, NULL},                 \
        {"network_fill_latency", SX_KEY_USED, NULL}, {"network_drain_latency", SX_KEY_USED, NULL},           \
        {"network_word_bits", SX_KEY_USED, NULL}, {"network_type", SX_KEY_USED, NULL},                       \
        {"energy_per_hop", SX_KEY_USED, NULL}, {"router_energy", SX_KEY_USED, NULL},                         \
        {"wire_energy", SX_KEY_USED, NULL}, {"tile_width", SX_KEY_USED, NULL},                               \
        {"network_read", SX_KEY_UNSUPPORTED, "networks are inferred from the levels"},                       \
        {"network_fill", SX_KEY_UNSUPPORTED, "networks are inferred from the levels"},                       \
        {"network_drain", SX_KEY_UNSUPPORTED, "networks are inferred from the levels"},                      \
        {"network_update", SX_KEY_UNSUPPORTED, "networks are inferred from the levels"},                     \
        {"num_ports", SX_KEY_NO_BEARING, NULL}, {"n_ports", SX_KEY_NO_BEARING, NULL},                        \
        {"nports", SX_KEY_NO_BEARING, NULL}, {"n_rd_ports", SX_KEY_NO_BEARING, NULL},                        \
        {"n_wr_ports", SX_KEY_NO_BEARING, NULL}, {"n_rdwr_ports", SX_KEY_NO_BEARING, NULL},                  \
        {"n_rw_ports", SX_KEY_NO_BEARING, NULL}, {"num_banks", SX_KEY_NO_BEARING, NULL},                     \
        {"n_banks", SX_KEY_NO_BEARING, NULL}, {"cluster_area", SX_KEY_NO_BEARING, NULL},                     \
        {"area", SX_KEY_NO_BEARING, NULL}, {"type", SX_KEY_NO_BEARING, NULL},                                \
        {"latency", SX_KEY_NO_BEARING, NULL}, {"update_fifo_depth", SX_KEY_NO_BEARING, NULL},                \
        {"global_cycle_seconds", SX_KEY_NO_BEARING, NULL}, {"comment", SX_KEY_NO_BEARING, NULL},             \
        {"metadata_block_size", SX_KEY_NO_BEARING, NULL}, {"metadata_datawidth", SX_KEY_NO_BEARING, NULL},   \
        {"metadata_word_bits", SX_KEY_NO_BEARING, NULL},                                                     \
        {"metadata_storage_width", SX_KEY_NO_BEARING, NULL},                                                 \
        {"metadata_storage_depth", SX_KEY_NO_BEARING, NULL},                                                 \
        {"decompression_supported", SX_KEY_NO_BEARING, NULL}, {                                              \
        "compression_supported", SX_KEY_NO_BEARING, NULL                                                     \
    }

/* The keys of a compute unit's attributes. */
#define SX_COMPUTE_RULES                                                                                     \
    {"word_bits", SX_KEY_USED, NULL}, {"datawidth", SX_KEY_USED, NULL}, {"instances", SX_KEY_USED, NULL},    \
        {"meshX", SX_KEY_USED, NULL}, {"meshY", SX_KEY_USED, NULL}, {"energy", SX_KEY_USED, NULL},           \
        {"network_operand", SX_KEY_UNSUPPORTED, "networks are inferred from the levels"},                    \
        {"network_result", SX_KEY_UNSUPPORTED, "networks are inferred from the levels"},                     \
        {"area", SX_KEY_NO_BEARING, NULL}, {"width", SX_KEY_NO_BEARING, NULL},                               \
        {"multiplier_width", SX_KEY_NO_BEARING, NULL}, {"adder_width", SX_KEY_NO_BEARING, NULL},             \
        {"technology", SX_KEY_NO_BEARING, NULL}, {"latency", SX_KEY_NO_BEARING, NULL},                       \
        {"has_power_gating", SX_KEY_NO_BEARING, NULL}, {"power_gated_at", SX_KEY_NO_BEARING, NULL},          \
        {"global_cycle_seconds", SX_KEY_NO_BEARING, NULL}, {                                                 \
        "comment", SX_KEY_NO_BEARING, NULL                                                                   \
    }

/* What a component's class makes of it in Timeloop: a part of the name decides. */
typedef enum sx_role {
    SX_ROLE_STORAGE,
    SX_ROLE_COMPUTE,
    SX_ROLE_NETWORK,
    SX_ROLE_NOTHING,
    SX_ROLE_NONE
} sx_role;
sx_role sx_class_role(const char *class);

/* The number of instances a name stands for, such as 14 for "PE[0..13]" and 1 without a range; *size becomes
 * the length of the name proper. */
SX_MUST_USE sx_status sx_name_range(const sx_node *node, const char *name, size_t *size, uint64_t *instances);

/* Adds a storage level, or only its fan-out: a level that keeps nothing. *out is the level within the
 * builder, valid until sx_builder_finish. */
SX_MUST_USE sx_status sx_builder_storage(sx_arch_builder *builder, const sx_element *element,
                                         sx_storage **out);
SX_MUST_USE sx_status sx_builder_fanout(sx_arch_builder *builder, const sx_element *element);

/* Adds the compute unit; there is exactly one. */
SX_MUST_USE sx_status sx_builder_compute(sx_arch_builder *builder, const sx_element *element);

/* Settles names, energies and constraints, checks the whole and hands it over. */
SX_MUST_USE sx_status sx_builder_finish(sx_arch_builder *builder, bool outermost_first, sx_arch *out);

/* The dialects: each fills a builder from the `arch` or `architecture` section. */
SX_MUST_USE sx_status sx_arch_read_flat(sx_arch_builder *builder, const sx_node *arch,
                                        const sx_scope *variables);
SX_MUST_USE sx_status sx_arch_read_v3(sx_arch_builder *builder, const sx_node *arch,
                                      const sx_scope *variables);
SX_MUST_USE sx_status sx_arch_read_v4(sx_arch_builder *builder, const sx_node *arch,
                                      const sx_scope *variables);

#endif
