#include "support/onnx_cases.h"

void sx_expect_values(const sx_value_case *cases, size_t n) {
    for (size_t i = 0; i < n; i++) sx_expect_value(cases[i].model, "y", cases[i].description);
}

void sx_expect_nodes(const sx_node_case *cases, size_t n) {
    for (size_t i = 0; i < n; i++) sx_expect_node(cases[i].model, cases[i].node, cases[i].description);
}

void sx_expect_all_refused(const sx_refused_case *cases, size_t n) {
    for (size_t i = 0; i < n; i++) sx_expect_refused(cases[i].model, cases[i].words);
}
