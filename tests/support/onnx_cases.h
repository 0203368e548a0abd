/* Tables of small ONNX models (support/onnx_model.h) and what becomes of each. */
#ifndef SX_TESTS_ONNX_CASES_H
#define SX_TESTS_ONNX_CASES_H

#include "support/onnx_model.h"

/* A model and the description of its value y. */
typedef struct sx_value_case {
    const char *model, *description;
} sx_value_case;

/* A model and the description of one of its nodes. */
typedef struct sx_node_case {
    const char *model, *node, *description;
} sx_node_case;

/* A model and words of the error that it is refused with. */
typedef struct sx_refused_case {
    const char *model, *words;
} sx_refused_case;

/* Fail the test unless each of n cases is as described. */
void sx_expect_values(const sx_value_case *cases, size_t n);
void sx_expect_nodes(const sx_node_case *cases, size_t n);
void sx_expect_all_refused(const sx_refused_case *cases, size_t n);

#endif
