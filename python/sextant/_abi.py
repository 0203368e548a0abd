"""The C API as ctypes sees it. Made from the headers by tools/python-abi; do not edit."""
from ctypes import (c_bool, c_char_p, c_double, c_int, c_size_t, c_uint, c_uint32, c_uint64, c_void_p)

SX_BARS = 2
SX_CURVES = 0
SX_ERR_PROGRAM = 7
SX_FRONT = 1
SX_JSON = 1
SX_LIST_ARCHS = 0
SX_LIST_MAPPERS = 3
SX_LIST_NETWORKS = 2
SX_LIST_OBJECTIVES = 4
SX_LIST_PROBLEMS = 1
SX_LOOPS_SPATIAL = 1
SX_LOOPS_TEMPORAL = 0
SX_PROGRESS_BEST = 3
SX_PROGRESS_BOUND = 4
SX_PROGRESS_EVALUATIONS = 0
SX_PROGRESS_LAYER = 5
SX_PROGRESS_LIMIT = 1
SX_PROGRESS_SECONDS = 2
SX_READ_LENIENT = 1
SX_READ_LIKE_TIMELOOP = 2
SX_READ_REMAINDERS = 3
SX_RESULT_EVALUATIONS = 0
SX_RESULT_LOWER_BOUND = 3
SX_RESULT_OPTIMAL = 4
SX_RESULT_SECONDS = 2
SX_RESULT_VALID = 1
SX_VERSION_MAJOR = 0
SX_VERSION_MINOR = 6
SX_VERSION_PATCH = 0
SX_VERSION_SUFFIX = "-dev"
SX_YAML = 0

# What each function returns and takes.
FUNCTIONS = {
    "sx_answer_evaluation": (c_uint64, [c_void_p]),
    "sx_answer_mapping": (c_void_p, [c_void_p]),
    "sx_answer_total": (c_double, [c_void_p, c_uint]),
    "sx_answer_value": (c_double, [c_void_p]),
    "sx_arch_equal": (c_bool, [c_void_p, c_void_p]),
    "sx_arch_fanout": (None, [c_void_p, c_int, c_void_p, c_void_p]),
    "sx_arch_free": (None, [c_void_p]),
    "sx_arch_level_name": (c_char_p, [c_void_p, c_int]),
    "sx_arch_n_levels": (c_int, [c_void_p]),
    "sx_arch_name": (c_char_p, [c_void_p]),
    "sx_arch_new": (c_void_p, [c_void_p]),
    "sx_arch_write": (c_void_p, [c_void_p, c_uint, c_void_p]),
    "sx_cancel_free": (None, [c_void_p]),
    "sx_cancel_new": (c_void_p, [c_void_p]),
    "sx_cancel_set": (None, [c_void_p]),
    "sx_catalog_arch": (c_void_p, [c_char_p, c_void_p]),
    "sx_constraints_free": (None, [c_void_p]),
    "sx_constraints_new": (c_void_p, [c_void_p]),
    "sx_cost_model_new": (c_void_p, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "sx_cost_report_fill": (c_void_p, [c_void_p, c_void_p]),
    "sx_cost_report_free": (None, [c_void_p]),
    "sx_cost_report_legal": (c_bool, [c_void_p]),
    "sx_cost_report_new": (c_void_p, [c_void_p, c_void_p]),
    "sx_cost_report_reason": (c_char_p, [c_void_p]),
    "sx_cost_report_write": (c_void_p, [c_void_p, c_void_p]),
    "sx_draw_result": (c_void_p, [c_void_p, c_void_p]),
    "sx_einsum_text": (c_void_p, [c_void_p, c_void_p]),
    "sx_error_new": (c_void_p, [c_uint, c_char_p]),
    "sx_features": (c_char_p, []),
    "sx_figure_add": (c_void_p, [c_void_p, c_char_p, c_size_t, c_void_p, c_void_p]),
    "sx_figure_draw": (c_void_p, [c_void_p, c_void_p]),
    "sx_figure_free": (None, [c_void_p]),
    "sx_figure_new": (c_void_p, [c_uint, c_char_p, c_char_p, c_char_p, c_void_p]),
    "sx_figure_set_log": (None, [c_void_p, c_bool, c_bool]),
    "sx_free": (None, [c_void_p]),
    "sx_input_add_arch": (c_void_p, [c_void_p, c_char_p]),
    "sx_input_add_ert_beside": (c_void_p, [c_void_p, c_void_p]),
    "sx_input_add_file": (c_void_p, [c_void_p, c_char_p]),
    "sx_input_add_text": (c_void_p, [c_void_p, c_char_p, c_char_p, c_size_t]),
    "sx_input_arch": (c_void_p, [c_void_p, c_void_p]),
    "sx_input_check_settings": (c_void_p, [c_void_p]),
    "sx_input_constraints": (c_void_p, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "sx_input_energies": (c_char_p, [c_void_p]),
    "sx_input_estimate_by": (c_void_p, [c_void_p, c_char_p]),
    "sx_input_estimates": (c_void_p, [c_void_p, c_void_p, c_uint, c_void_p]),
    "sx_input_free": (None, [c_void_p]),
    "sx_input_mapping": (c_void_p, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "sx_input_new": (c_void_p, [c_void_p]),
    "sx_input_problem": (c_void_p, [c_void_p, c_void_p]),
    "sx_input_read_as": (None, [c_void_p, c_uint]),
    "sx_input_set": (c_void_p, [c_void_p, c_char_p, c_char_p]),
    "sx_input_warnings": (c_void_p, [c_void_p, c_void_p]),
    "sx_list_name": (c_char_p, [c_uint, c_size_t, c_void_p]),
    "sx_map_network": (c_void_p, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "sx_mapping_copy": (c_void_p, [c_void_p, c_void_p]),
    "sx_mapping_dim_at": (c_int, [c_void_p, c_int, c_uint, c_int]),
    "sx_mapping_factor": (c_uint32, [c_void_p, c_int, c_uint, c_int]),
    "sx_mapping_free": (None, [c_void_p]),
    "sx_mapping_hash": (c_uint64, [c_void_p]),
    "sx_mapping_keeps": (c_bool, [c_void_p, c_int, c_int]),
    "sx_mapping_new": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "sx_mapping_on_x": (c_int, [c_void_p, c_int]),
    "sx_mapping_space_new": (c_void_p, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "sx_mapping_write": (c_void_p, [c_void_p, c_void_p, c_void_p, c_uint, c_void_p]),
    "sx_mapping_x_part": (c_uint32, [c_void_p, c_int]),
    "sx_mappings_count": (c_size_t, [c_void_p]),
    "sx_mappings_data": (c_void_p, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "sx_mappings_field": (c_char_p, [c_size_t, c_void_p, c_void_p, c_void_p]),
    "sx_mappings_free": (None, [c_void_p]),
    "sx_mappings_get": (c_void_p, [c_void_p, c_size_t, c_void_p]),
    "sx_mappings_new": (c_void_p, [c_void_p, c_void_p, c_size_t, c_void_p]),
    "sx_mappings_set": (c_void_p, [c_void_p, c_size_t, c_void_p]),
    "sx_model_free": (None, [c_void_p]),
    "sx_model_score": (c_void_p, [c_void_p, c_void_p, c_uint, c_size_t, c_void_p]),
    "sx_network_add": (c_void_p, [c_void_p, c_char_p, c_void_p, c_uint64]),
    "sx_network_free": (None, [c_void_p]),
    "sx_network_layer_count": (c_uint64, [c_void_p, c_size_t]),
    "sx_network_layer_name": (c_char_p, [c_void_p, c_size_t]),
    "sx_network_layer_problem": (c_void_p, [c_void_p, c_size_t]),
    "sx_network_n_layers": (c_size_t, [c_void_p]),
    "sx_network_name": (c_char_p, [c_void_p]),
    "sx_network_new": (c_void_p, [c_char_p, c_void_p]),
    "sx_options_add_start": (c_void_p, [c_void_p, c_void_p]),
    "sx_options_free": (None, [c_void_p]),
    "sx_options_new": (c_void_p, [c_void_p]),
    "sx_options_set": (c_void_p, [c_void_p, c_char_p, c_char_p]),
    "sx_options_set_cancel": (None, [c_void_p, c_void_p]),
    "sx_options_set_cost": (None, [c_void_p, c_void_p, c_void_p]),
    "sx_options_set_input": (None, [c_void_p, c_void_p]),
    "sx_options_set_objective": (c_void_p, [c_void_p, c_char_p, c_void_p, c_void_p]),
    "sx_options_set_store": (None, [c_void_p, c_void_p]),
    "sx_options_set_watch": (None, [c_void_p, c_void_p, c_void_p]),
    "sx_problem_bind_to": (c_void_p, [c_void_p, c_void_p]),
    "sx_problem_computes": (c_uint64, [c_void_p]),
    "sx_problem_copy": (c_void_p, [c_void_p, c_void_p]),
    "sx_problem_dim_name": (c_char_p, [c_void_p, c_int]),
    "sx_problem_dim_size": (c_uint32, [c_void_p, c_int]),
    "sx_problem_equal": (c_bool, [c_void_p, c_void_p]),
    "sx_problem_free": (None, [c_void_p]),
    "sx_problem_n_dims": (c_int, [c_void_p]),
    "sx_problem_n_tensors": (c_int, [c_void_p]),
    "sx_problem_name": (c_char_p, [c_void_p]),
    "sx_problem_new": (c_void_p, [c_void_p]),
    "sx_problem_tensor_name": (c_char_p, [c_void_p, c_int]),
    "sx_problem_write": (c_void_p, [c_void_p, c_uint, c_void_p]),
    "sx_progress_figure_of": (c_double, [c_void_p, c_uint]),
    "sx_read_layers": (c_void_p, [c_char_p, c_void_p, c_size_t, c_void_p, c_void_p]),
    "sx_result_arch": (c_void_p, [c_void_p]),
    "sx_result_best": (c_void_p, [c_void_p, c_size_t, c_size_t]),
    "sx_result_figure_of": (c_double, [c_void_p, c_size_t, c_uint]),
    "sx_result_free": (None, [c_void_p]),
    "sx_result_front": (c_void_p, [c_void_p, c_size_t, c_size_t]),
    "sx_result_network": (c_void_p, [c_void_p]),
    "sx_result_read": (c_void_p, [c_char_p, c_char_p, c_size_t, c_void_p]),
    "sx_result_stop": (c_char_p, [c_void_p, c_size_t]),
    "sx_result_trace": (c_bool, [c_void_p, c_size_t, c_size_t, c_void_p, c_void_p, c_void_p]),
    "sx_result_write": (c_void_p, [c_void_p, c_void_p]),
    "sx_space_draw": (c_void_p, [c_void_p, c_uint64, c_uint64, c_void_p]),
    "sx_space_free": (None, [c_void_p]),
    "sx_space_holds": (c_void_p, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "sx_space_search": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "sx_status_code": (c_uint, [c_void_p]),
    "sx_status_free": (None, [c_void_p]),
    "sx_status_hint": (c_char_p, [c_void_p]),
    "sx_status_message": (c_char_p, [c_void_p]),
    "sx_status_place": (c_char_p, [c_void_p, c_void_p, c_void_p]),
    "sx_store_close": (None, [c_void_p]),
    "sx_store_open_within": (c_void_p, [c_char_p, c_double, c_void_p]),
    "sx_version": (c_char_p, []),
    "sx_warnings_at": (c_char_p, [c_void_p, c_size_t, c_void_p]),
    "sx_warnings_free": (None, [c_void_p]),
    "sx_warnings_join_keys": (None, [c_void_p]),
    "sx_warnings_new": (c_void_p, [c_void_p]),
}
