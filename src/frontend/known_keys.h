/* The keys of every kind of map in the files that the front end reads; each table is beside its reader. */
#ifndef SX_FRONTEND_KNOWN_KEYS_H
#define SX_FRONTEND_KNOWN_KEYS_H

#include "frontend/keys.h"

/* A document's sections; architectures, with the attributes of storage levels and compute units. */
extern const sx_keys sx_keys_section;
extern const sx_keys sx_keys_storage, sx_keys_compute, sx_keys_cache, sx_keys_vector_unit;
extern const sx_keys sx_keys_flat_arch, sx_keys_v3_arch, sx_keys_v3_subtree, sx_keys_v3_component;
extern const sx_keys sx_keys_v4_arch, sx_keys_v4_branch, sx_keys_v4_container, sx_keys_v4_component,
    sx_keys_spatial;
extern const sx_keys sx_keys_ert, sx_keys_ert_table, sx_keys_ert_action, sx_keys_art, sx_keys_art_table;
extern const sx_keys sx_keys_sparse, sx_keys_sparse_target, sx_keys_sparse_formats, sx_keys_sparse_format,
    sx_keys_sparse_rank, sx_keys_sparse_option, sx_keys_sparse_compute;
extern const sx_keys sx_keys_link;

/* The law of the tile pipeline and the times of operators, whose keys are made of tables of the model. */
sx_keys sx_latency_keys(sx_key_rule rule[SX_MOST_KEYS]);
sx_keys sx_timing_keys(sx_key_rule rule[SX_MOST_KEYS], bool whole);

/* Problems, mappings, constraints and graphs. */
extern const sx_keys sx_keys_problem, sx_keys_shape, sx_keys_data_space, sx_keys_coefficient, sx_keys_density;
extern const sx_keys sx_keys_temporal_directive, sx_keys_spatial_directive, sx_keys_tensor_directive;
extern const sx_keys sx_keys_loop_constraint, sx_keys_tensor_constraint, sx_keys_limit_constraint;
extern const sx_keys sx_keys_graph, sx_keys_run, sx_keys_graph_tensor, sx_keys_graph_node, sx_keys_count,
    sx_keys_part, sx_keys_operand, sx_keys_plain_operand;

#endif
