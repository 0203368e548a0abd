/* Small ONNX models from text, and what becomes of their values and operations as text.
 *
 * A model is a list of statements, separated by semicolons or line breaks. TYPE is f32, f64, f16, u8, i8, i32, i64, b or
 * another one of the standard's; where it is left out it is f32.
 *
 *   opset NUMBER                         20 where it is left out
 *   in NAME [TYPE] EXTENT...             an input; an extent is a number, the name of a symbol, or ? (open)
 *   out NAME [TYPE] [EXTENT...]          an output; say NAME ...: what is said of any other value
 *   weight NAME [TYPE] EXTENT...         a tensor whose elements are in another file
 *   data NAME [TYPE] EXTENT... : NUMBER... a tensor with its elements
 *   OP INPUT,... -> OUTPUT,... [KEY=VALUE...]  a node; - is an input or output that is left out. VALUE is a whole number,
 *                                        a real one (with a point), 'text', [numbers], or {TYPE EXTENT... : NUMBER...}.
 *                                        name= and domain= are those of the node; (statements) is a graph, whose
 *                                        statements are separated by |, and @NAME an attribute of the function.
 *   function NAME INPUT,... -> OUTPUT,... [KEY=VALUE...] (statements)
 *                                        a function of the domain own, with defaults of its attributes */
#ifndef SX_TESTS_ONNX_MODEL_H
#define SX_TESTS_ONNX_MODEL_H

#include "frontend/onnx/onnx.h"
#include "frontend/onnx/trace.h"

/* The bytes of a model, which the caller frees; a mistake in the text fails the test. */
SX_OWN unsigned char *sx_onnx_bytes(const char *model, size_t *size);

/* Reads a model as the file m.onnx, with the symbols batch = 2 and n = 5; *out is freed with sx_onnx_fini. */
SX_MUST_USE sx_status sx_onnx_read_text(const char *model, sx_onnx *out);

/* Fails the test unless a value of the model is as described: "f32[1,3,?]" with its type and extents, "f32*" where it is not
 * known how many there are, and its numbers behind where they are known: "i64[2]{1 3}". */
void sx_expect_value(const char *model, const char *name, const char *description);

/* Fails the test unless a node of the graph is as described: its einsum, or its kind and function, how often it is repeated,
 * and its operands, each with its name and the ranks of the einsum's tensor that its ranks consist of, as in
 * "O[p] += I[p+r]*W[r] {p:4,r:3} x2 y(0) w(0) x@0(0+1..2)": @ is the split, + the padding. */
void sx_expect_node(const char *model, const char *name, const char *description);

/* Fails the test unless the model is refused with these words. */
void sx_expect_refused(const char *model, const char *part);

#endif
