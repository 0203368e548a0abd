"""The C API as ctypes sees it. Made from the headers by tools/python-abi; do not edit."""
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int, c_int32, c_int8,
                    c_size_t, c_uint, c_uint16, c_uint32, c_uint64, c_uint8, c_void_p)

SX_ERR_INPUT = 0
SX_ERR_PROGRAM = 7
SX_FUNCTION = 4
SX_JSON = 1
SX_REFUSED = 65533
SX_STORE_WAIT = 60
SX_VERSION_MAJOR = 0
SX_VERSION_MINOR = 4
SX_VERSION_PATCH = 0
SX_WARM_OFF = 0
SX_WARM_PREVIOUS = 1
SX_WARM_SIMILARITY = 2
SX_YAML = 0


class sx_error(Structure):
    _fields_ = [("code", c_uint), ("file", c_void_p), ("line", c_int), ("column", c_int), ("message", c_void_p),
                ("hint", c_void_p)]


class sx_compute(Structure):
    _fields_ = [("name", c_char * 64), ("instances", c_uint64), ("mesh_x", c_uint64), ("mesh_y", c_uint64),
                ("word_bits", c_uint32), ("energy", c_double), ("gated_energy", c_double), ("skipped_energy",
                c_double), ("area", c_double)]


class sx_tensor_scale(Structure):
    _fields_ = [("tensor", c_char * 64), ("scale", c_double)]


class sx_metadata_store(Structure):
    _fields_ = [("word_bits", c_uint32), ("width", c_uint32), ("depth", c_uint64), ("decompresses", c_bool),
                ("compresses", c_bool), ("data_energy", (c_double * 3) * 3), ("metadata_energy", (c_double * 3) * 3),
                ("decompression_energy", c_double), ("compression_energy", c_double)]


class sx_storage(Structure):
    _fields_ = [("name", c_char * 64), ("technology", c_uint), ("instances", c_uint64), ("mesh_x", c_uint64),
                ("mesh_y", c_uint64), ("entries", c_uint64), ("word_bits", c_uint32), ("block_size", c_uint32),
                ("cluster_size", c_uint32), ("banks", c_uint32), ("multiple_buffering", c_double), ("min_utilization",
                c_double), ("read_bandwidth", c_double), ("write_bandwidth", c_double), ("shared_bandwidth",
                c_double), ("read_energy", c_double), ("fill_energy", c_double), ("update_energy", c_double),
                ("leak_energy", c_double), ("addr_gen_energy", c_double), ("reduction_supported", c_bool),
                ("transparent", c_bool), ("power_gated_at", c_int8), ("n_keeps", c_uint8), ("n_bypasses", c_uint8),
                ("n_scales", c_uint8), ("keeps", (c_char * 64) * 8), ("bypasses", (c_char * 64) * 8),
                ("bandwidth_scale", sx_tensor_scale * 8), ("area", c_double), ("energy_per_hop", c_double),
                ("router_energy", c_double), ("fill_latency", c_uint64), ("drain_latency", c_uint64), ("metadata",
                sx_metadata_store)]


class sx_tensor_format(Structure):
    _fields_ = [("level", c_uint8), ("tensor", c_uint8), ("n_ranks", c_uint8), ("inner_to_outer", c_bool), ("first",
                c_uint16)]


class sx_rank_format(Structure):
    _fields_ = [("kind", c_uint8), ("n_flattened", c_uint8), ("padding", c_uint8 * 2), ("metadata_bits", c_uint32),
                ("payload_bits", c_uint32), ("flattened", c_uint32 * 4)]


class sx_action_option(Structure):
    _fields_ = [("on", c_uint32), ("target", c_uint8), ("padding", c_uint8 * 3)]


class sx_sparse_action(Structure):
    _fields_ = [("level", c_uint8), ("skips", c_bool), ("n_options", c_uint8), ("padding", c_uint8), ("option",
                sx_action_option * 4)]


class sx_sparse(Structure):
    _fields_ = [("n_names", c_uint8), ("n_formats", c_uint8), ("n_actions", c_uint8), ("gates_compute", c_bool),
                ("skips_compute", c_bool), ("timeloop", c_bool), ("n_ranks", c_uint16), ("name", (c_char * 64) * 32),
                ("format", sx_tensor_format * 128), ("rank", sx_rank_format * 256), ("action", sx_sparse_action * 96)]


class sx_arch(Structure):
    _fields_ = [("name", c_char * 64), ("n_levels", c_uint8), ("compute", sx_compute), ("level", sx_storage * 16),
                ("sparse", sx_sparse), ("cycle_seconds", c_double)]


class sx_axes(Structure):
    _fields_ = [("title", c_char_p), ("x_label", c_char_p), ("y_label", c_char_p), ("log_x", c_bool), ("log_y",
                c_bool)]


class sx_bars(Structure):
    _fields_ = [("bar_name", c_char_p), ("tick_name", c_char_p), ("line_name", c_char_p), ("n", c_size_t), ("name",
                c_void_p), ("value", c_void_p), ("tick", c_void_p), ("line", c_double), ("n_parts", c_size_t),
                ("part_name", c_void_p)]


class sx_cancel(Structure):
    _fields_ = [("set", c_int)]


class sx_loop_limits(Structure):
    _fields_ = [("min", c_uint32 * 16), ("max", c_uint32 * 16), ("rest", c_bool * 16), ("n_inner", c_uint8),
                ("n_outer", c_uint8), ("inner", c_uint8 * 16), ("outer", c_uint8 * 16)]


class sx_level_limits(Structure):
    _fields_ = [("temporal", sx_loop_limits), ("spatial", sx_loop_limits), ("split", c_int8), ("must_keep", c_uint8),
                ("must_bypass", c_uint8), ("no_temporal_reuse", c_uint8), ("no_multicast", c_uint8),
                ("no_link_transfer", c_uint8), ("rmw_first_update", c_uint8), ("min_utilization", c_double),
                ("min_parallelism", c_double)]


class sx_constraints(Structure):
    _fields_ = [("n_levels", c_uint8), ("n_dims", c_uint8), ("n_tensors", c_uint8), ("level", sx_level_limits * 16)]


class sx_cost_tensor(Structure):
    _fields_ = [("kept", c_bool), ("tile", c_uint64), ("partition", c_uint64), ("reads", c_uint64), ("fills",
                c_uint64), ("updates", c_uint64), ("temporal_reductions", c_uint64), ("address_generations",
                c_double), ("energy_pj", c_double), ("actions", (c_double * 3) * 3), ("instances", c_double),
                ("density", c_double), ("decompressions", c_double), ("compressions", c_double), ("metadata_bits",
                c_uint64), ("condition_words", c_uint64 * 8), ("condition_empty", c_double * 8)]


class sx_cost_level(Structure):
    _fields_ = [("instances", c_uint64), ("clusters", c_uint64), ("cycles", c_uint64), ("slowdown", c_double),
                ("leakage_pj", c_double), ("energy_pj", c_double), ("tensor", sx_cost_tensor * 8)]


class sx_cost_net_tensor(Structure):
    _fields_ = [("fanout", c_uint64), ("multicast", c_uint64), ("ingresses", c_double), ("link_transfers", c_double),
                ("spatial_reductions", c_double), ("hops", c_double), ("energy_pj", c_double), ("link_energy_pj",
                c_double)]


class sx_cost_network(Structure):
    _fields_ = [("energy_pj", c_double), ("tensor", sx_cost_net_tensor * 8)]


class sx_cost_rank(Structure):
    _fields_ = [("words", ((c_double * 2) * 3) * 3), ("capacity", c_uint64 * 2)]


class sx_cost(Structure):
    _fields_ = [("n_levels", c_uint8), ("n_tensors", c_uint8), ("perfect", c_bool), ("sparse", c_bool), ("computes",
                c_uint64), ("compute_instances", c_uint64), ("compute_cycles", c_uint64), ("cycles", c_uint64),
                ("algorithmic_computes", c_uint64), ("gated_computes", c_double), ("skipped_computes", c_double),
                ("compute_energy_pj", c_double), ("energy_pj", c_double), ("edp", c_double), ("utilization",
                c_double), ("last_level_accesses", c_double), ("level", sx_cost_level * 16), ("network",
                sx_cost_network * 16), ("rank", sx_cost_rank * 256)]


class sx_curve(Structure):
    _fields_ = [("name", c_char_p), ("n", c_size_t), ("x", c_void_p), ("mid", c_void_p), ("low", c_void_p), ("high",
                c_void_p)]


class sx_verdict(Structure):
    _fields_ = [("reason", c_uint), ("level", c_int8), ("tensor", c_int8), ("dim", c_int8), ("have", c_double),
                ("limit", c_double)]


class sx_metrics(Structure):
    _fields_ = [("value", c_double * 8)]


class sx_found(Structure):
    _fields_ = [("point", c_void_p), ("metrics", sx_metrics), ("value", c_double), ("evaluation", c_uint64)]


class sx_front(Structure):
    _fields_ = [("all_name", c_char_p), ("front_name", c_char_p), ("best_name", c_char_p), ("n", c_size_t), ("x",
                c_void_p), ("y", c_void_p), ("n_front", c_size_t), ("front", c_void_p), ("best", c_size_t)]


class sx_graph(Structure):
    _fields_ = [("name", c_char * 64), ("n_nodes", c_size_t), ("n_tensors", c_size_t), ("n_operands", c_size_t),
                ("n_einsums", c_size_t), ("node", c_void_p), ("tensor", c_void_p), ("operand", c_void_p), ("einsum",
                c_void_p)]


class sx_tensor(Structure):
    _fields_ = [("name", c_char * 64), ("alias", c_char * 64), ("n_ranks", c_uint8), ("output", c_bool),
                ("density_model", c_uint8), ("bits", c_uint8), ("band_width", c_uint32), ("density", c_double),
                ("data_hash", c_uint64), ("data", c_char * 256), ("coef", (c_int32 * 16) * 16)]


class sx_problem(Structure):
    _fields_ = [("name", c_char * 64), ("n_dims", c_uint8), ("n_tensors", c_uint8), ("dim_name", (c_char * 64) * 16),
                ("size", c_uint32 * 16), ("tensor", sx_tensor * 8)]


class sx_layer(Structure):
    _fields_ = [("name", c_char * 64), ("count", c_uint64), ("problem", sx_problem)]


class sx_map_space_options(Structure):
    _fields_ = [("remainders", c_bool), ("keep_all", c_bool), ("no_banks", c_bool), ("split_axes", c_bool)]


class sx_mapping_level(Structure):
    _fields_ = [("temporal", c_uint32 * 16), ("spatial", c_uint32 * 16), ("temporal_order", c_uint8 * 16),
                ("spatial_order", c_uint8 * 16), ("split", c_uint8), ("keep", c_uint8), ("no_temporal_reuse",
                c_uint8), ("no_multicast", c_uint8), ("no_link_transfer", c_uint8), ("rmw_first_update", c_uint8),
                ("x_part", c_uint16)]


class sx_mapping(Structure):
    _fields_ = [("n_levels", c_uint8), ("n_dims", c_uint8), ("n_tensors", c_uint8), ("padding", c_uint8 * 5),
                ("level", sx_mapping_level * 16)]


class sx_metric_about(Structure):
    _fields_ = [("name", c_char_p), ("unit", c_char_p), ("word", c_char_p)]


class sx_range_tensor(Structure):
    _fields_ = [("name", c_char * 64), ("model", c_uint8), ("share", c_double * 16)]


class sx_density_range(Structure):
    _fields_ = [("n", c_uint8), ("n_tensors", c_uint8), ("tensor", sx_range_tensor * 4), ("weight", c_double * 16),
                ("energy_power", c_double), ("delay_power", c_double)]


class sx_format_search(Structure):
    _fields_ = [("kinds", c_uint8), ("energy_power", c_double), ("delay_power", c_double)]


class sx_model_options(Structure):
    _fields_ = [("no_first_read_elision", c_bool), ("no_link_transfers", c_bool), ("sparse_timeloop", c_bool),
                ("like_timeloop", c_bool), ("densities", sx_density_range), ("formats", sx_format_search)]


class sx_network(Structure):
    _fields_ = [("name", c_char * 64), ("n_layers", c_size_t), ("layer", c_void_p)]


class sx_network_options(Structure):
    _fields_ = [("batch", c_uint32), ("training", c_bool), ("bits", c_uint32), ("training_step", c_bool)]


class sx_criterion(Structure):
    _fields_ = [("kind", c_uint), ("energy_power", c_double), ("delay_power", c_double)]


class sx_objective(Structure):
    _fields_ = [("n_criteria", c_uint8), ("tolerance", c_double), ("criterion", sx_criterion * 4), ("terms", (c_char *
                80) * 4), ("function", CFUNCTYPE(c_double, c_void_p, c_void_p)), ("user", c_void_p), ("name",
                c_char_p)]


class sx_outcome(Structure):
    _fields_ = [("metrics", sx_metrics), ("value", c_double), ("reason", c_uint)]


class sx_point_model(Structure):
    _fields_ = [("type", c_void_p), ("user", c_void_p), ("inner", c_void_p)]


class sx_point_model_type(Structure):
    _fields_ = [("name", c_char_p), ("metrics", c_void_p), ("n_metrics", c_size_t), ("front", c_uint8 * 2), ("checks",
                c_bool), ("batch", c_size_t), ("workspace_new", CFUNCTYPE(c_void_p, c_void_p, c_void_p)),
                ("workspace_free", CFUNCTYPE(None, c_void_p)), ("score_batch", CFUNCTYPE(c_void_p, c_void_p, c_void_p,
                c_void_p, c_size_t, c_void_p, c_double, c_void_p)), ("key", CFUNCTYPE(None, c_void_p, c_void_p,
                c_void_p)), ("bound", CFUNCTYPE(c_double, c_void_p, c_void_p))]


class sx_progress(Structure):
    _fields_ = [("evaluations", c_uint64), ("limit", c_uint64), ("seconds", c_double), ("seconds_limit", c_double),
                ("best", c_double), ("first", c_double), ("bound", c_double)]


class sx_run_options(Structure):
    _fields_ = [("objective", sx_objective), ("evaluations", c_uint64), ("seconds", c_double), ("target", c_double),
                ("patience", c_uint64), ("seed", c_uint64), ("threads", c_uint), ("k_best", c_uint), ("pareto",
                c_bool), ("proof", c_bool), ("cache", c_size_t), ("starts", c_void_p), ("n_starts", c_size_t),
                ("cancel", c_void_p), ("progress", CFUNCTYPE(None, c_void_p, c_void_p)), ("checkpoint",
                CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_size_t)), ("checkpoint_seconds", c_double), ("user",
                c_void_p), ("resume", c_void_p), ("resume_size", c_size_t), ("ranks", c_void_p)]


class sx_session_options(Structure):
    _fields_ = [("mapper", c_char_p), ("navigator", c_void_p), ("run", sx_run_options), ("space",
                sx_map_space_options), ("widen", c_bool), ("model", sx_model_options), ("judge", c_void_p), ("warm",
                c_uint), ("store", c_void_p), ("again", c_bool), ("checkpoint", c_char_p), ("constraints",
                CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_void_p, c_void_p)), ("layer_begins", CFUNCTYPE(None,
                c_void_p, c_size_t)), ("layer_ends", CFUNCTYPE(None, c_void_p, c_size_t, c_void_p)), ("warn",
                CFUNCTYPE(None, c_void_p, c_void_p)), ("user", c_void_p)]


class sx_score(Structure):
    _fields_ = [("energy_pj", c_double), ("cycles", c_double), ("utilization", c_double), ("last_level_accesses",
                c_double)]


class sx_session_result(Structure):
    _fields_ = [("n_layers", c_size_t), ("layer", c_void_p), ("complete", c_bool), ("found", c_bool), ("resumed",
                c_bool), ("total", sx_score)]


class sx_judge_account(Structure):
    _fields_ = [("questions", c_uint64), ("refused", c_uint64), ("failed", c_uint64), ("restarts", c_uint),
                ("failed_at", c_uint64), ("failure", c_char * 256), ("refusal", c_char * 128)]


class sx_result(Structure):
    _fields_ = [("network", sx_network), ("arch", sx_arch), ("options", sx_session_options), ("session",
                sx_session_result), ("mapper", c_void_p), ("objective", c_char * 256), ("version", c_void_p),
                ("problem", c_void_p), ("energies", c_void_p), ("evaluator", c_void_p), ("judged", sx_judge_account),
                ("batch", c_uint32), ("training", c_bool), ("training_step", c_bool), ("warnings", c_void_p)]


class sx_run_summary(Structure):
    _fields_ = [("evaluations", c_uint64), ("valid", c_uint64), ("rejected", c_uint64), ("cache_hits", c_uint64),
                ("seconds", c_double), ("stop", c_uint), ("repeatable", c_bool), ("lower_bound", c_double),
                ("optimal", c_bool), ("none", c_bool)]


class sx_trace_point(Structure):
    _fields_ = [("evaluations", c_uint64), ("seconds", c_double), ("value", c_double)]


FUNCTIONS = {
    "sx_arch_write": (POINTER(sx_error), [c_void_p, c_uint, c_void_p]),
    "sx_cancel_set": (None, [c_void_p]),
    "sx_catalog_arch": (POINTER(sx_error), [c_char_p, c_void_p]),
    "sx_catalog_arch_name": (c_char_p, [c_size_t, c_void_p]),
    "sx_catalog_network": (POINTER(sx_error), [c_char_p, c_void_p, c_void_p]),
    "sx_catalog_network_name": (c_char_p, [c_size_t, c_void_p]),
    "sx_catalog_problem": (POINTER(sx_error), [c_char_p, c_void_p]),
    "sx_catalog_problem_name": (c_char_p, [c_size_t, c_void_p]),
    "sx_constraints_init": (None, [c_void_p, c_void_p, c_void_p]),
    "sx_cost_write": (POINTER(sx_error), [c_void_p, c_void_p, c_void_p, c_void_p]),
    "sx_draw_bars": (POINTER(sx_error), [c_void_p, c_void_p, c_void_p]),
    "sx_draw_curves": (POINTER(sx_error), [c_void_p, c_void_p, c_size_t, c_void_p]),
    "sx_draw_front": (POINTER(sx_error), [c_void_p, c_void_p, c_void_p]),
    "sx_draw_result": (POINTER(sx_error), [c_void_p, c_void_p]),
    "sx_einsum_parse": (POINTER(sx_error), [c_char_p, c_void_p]),
    "sx_einsum_text": (POINTER(sx_error), [c_void_p, c_void_p]),
    "sx_error_new": (POINTER(sx_error), [c_uint, c_char_p]),
    "sx_evaluate": (sx_verdict, [c_void_p, c_void_p, c_void_p]),
    "sx_evaluate_array": (POINTER(sx_error), [c_void_p, c_void_p, c_size_t, c_size_t, c_uint, c_void_p, c_void_p]),
    "sx_evaluator_free": (None, [c_void_p]),
    "sx_evaluator_new": (POINTER(sx_error), [c_void_p, c_void_p]),
    "sx_features": (c_char_p, []),
    "sx_free": (None, [c_void_p]),
    "sx_graph_fini": (None, [c_void_p]),
    "sx_graph_network": (POINTER(sx_error), [c_void_p, c_void_p]),
    "sx_input_add_file": (POINTER(sx_error), [c_void_p, c_char_p]),
    "sx_input_add_text": (POINTER(sx_error), [c_void_p, c_char_p, c_char_p, c_size_t]),
    "sx_input_allow_remainders": (None, [c_void_p]),
    "sx_input_arch": (POINTER(sx_error), [c_void_p, c_void_p]),
    "sx_input_check_settings": (POINTER(sx_error), [c_void_p]),
    "sx_input_constraints": (POINTER(sx_error), [c_void_p, c_void_p, c_void_p, c_void_p]),
    "sx_input_energies": (c_char_p, [c_void_p]),
    "sx_input_free": (None, [c_void_p]),
    "sx_input_graph": (POINTER(sx_error), [c_void_p, c_void_p]),
    "sx_input_lenient": (None, [c_void_p]),
    "sx_input_like_timeloop": (None, [c_void_p]),
    "sx_input_mapping": (POINTER(sx_error), [c_void_p, c_void_p, c_void_p, c_void_p]),
    "sx_input_new": (POINTER(sx_error), [c_void_p]),
    "sx_input_problem": (POINTER(sx_error), [c_void_p, c_void_p]),
    "sx_input_set": (POINTER(sx_error), [c_void_p, c_char_p, c_char_p]),
    "sx_input_warnings": (POINTER(sx_error), [c_void_p, c_void_p]),
    "sx_map_space_draw": (POINTER(sx_error), [c_void_p, c_uint64, c_uint64, c_size_t, c_size_t, c_void_p]),
    "sx_map_space_mapping": (None, [c_void_p, c_void_p, c_void_p]),
    "sx_map_space_new": (POINTER(sx_error), [c_void_p, c_void_p, c_void_p, c_void_p]),
    "sx_map_space_point": (c_bool, [c_void_p, c_void_p, c_void_p]),
    "sx_mapping_bytes": (c_size_t, [c_void_p]),
    "sx_mapping_hash": (c_uint64, [c_void_p]),
    "sx_mapping_init": (None, [c_void_p, c_void_p, c_void_p]),
    "sx_mapping_write": (POINTER(sx_error), [c_void_p, c_void_p, c_void_p, c_uint, c_void_p]),
    "sx_model_free": (None, [c_void_p]),
    "sx_model_new": (POINTER(sx_error), [c_void_p, c_void_p, c_void_p, c_void_p]),
    "sx_model_options_init": (None, [c_void_p]),
    "sx_model_prefers_timeloop": (c_bool, [c_void_p, c_void_p]),
    "sx_navigator_complete": (c_bool, [c_char_p]),
    "sx_navigator_name": (c_char_p, [c_size_t, c_void_p]),
    "sx_navigator_space": (c_char_p, [c_char_p]),
    "sx_navigator_text": (POINTER(sx_error), [c_char_p, c_char_p, c_void_p]),
    "sx_network_fini": (None, [c_void_p]),
    "sx_network_options_init": (None, [c_void_p]),
    "sx_objective_name": (c_char_p, [c_size_t, c_void_p]),
    "sx_objective_parse": (POINTER(sx_error), [c_char_p, c_void_p]),
    "sx_objective_parse_metrics": (POINTER(sx_error), [c_char_p, c_void_p, c_size_t, c_void_p]),
    "sx_objective_text": (None, [c_void_p, c_void_p, c_size_t]),
    "sx_problem_bind": (POINTER(sx_error), [c_void_p, c_int, c_char_p]),
    "sx_problem_computes": (c_uint64, [c_void_p]),
    "sx_problem_role": (c_int, [c_void_p, c_char_p]),
    "sx_problem_tensor": (c_int, [c_void_p, c_char_p]),
    "sx_problem_write": (POINTER(sx_error), [c_void_p, c_uint, c_void_p]),
    "sx_result_free": (None, [c_void_p]),
    "sx_result_new": (POINTER(sx_error), [c_void_p]),
    "sx_result_read": (POINTER(sx_error), [c_char_p, c_char_p, c_size_t, c_void_p]),
    "sx_result_write": (POINTER(sx_error), [c_void_p, c_void_p]),
    "sx_run_best": (c_bool, [c_void_p, c_size_t, c_void_p]),
    "sx_run_free": (None, [c_void_p]),
    "sx_run_front": (c_bool, [c_void_p, c_size_t, c_void_p]),
    "sx_run_new": (POINTER(sx_error), [c_void_p, c_void_p, c_void_p, c_void_p]),
    "sx_run_options_init": (None, [c_void_p]),
    "sx_run_result": (sx_run_summary, [c_void_p]),
    "sx_run_search": (POINTER(sx_error), [c_void_p, c_char_p]),
    "sx_run_trace": (c_bool, [c_void_p, c_size_t, c_void_p]),
    "sx_session_options_init": (None, [c_void_p]),
    "sx_session_run": (POINTER(sx_error), [c_void_p, c_void_p, c_void_p, c_void_p]),
    "sx_space_free": (None, [c_void_p]),
    "sx_space_legal": (c_bool, [c_void_p, c_void_p, c_void_p, c_size_t]),
    "sx_space_point_size": (c_size_t, [c_void_p]),
    "sx_sparse_active": (c_bool, [c_void_p]),
    "sx_status_free": (None, [POINTER(sx_error)]),
    "sx_stop_name": (c_char_p, [c_uint]),
    "sx_store_close": (None, [c_void_p]),
    "sx_store_open_within": (POINTER(sx_error), [c_char_p, c_double, c_void_p]),
    "sx_verdict_status": (POINTER(sx_error), [c_void_p, c_void_p, c_void_p]),
    "sx_verdict_text": (None, [c_void_p, c_void_p, c_void_p, c_void_p, c_size_t]),
    "sx_version": (c_char_p, []),
    "sx_warnings_at": (c_char_p, [c_void_p, c_size_t, c_void_p]),
    "sx_warnings_free": (None, [c_void_p]),
    "sx_warnings_join_keys": (None, [c_void_p]),
    "sx_warnings_new": (POINTER(sx_error), [c_void_p]),
}
