/* Inputs of operations: those of the table that are missing are refused with their names, and no choice of inputs that are
 * left out can end the program. */
#include "frontend/onnx/rules.h"
#include "support/expect.h"
#include "support/onnx_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Splits the inputs of a rule into words; how many there are. */
static size_t split_inputs(const char *inputs, char words[16][64]) {
    size_t n = 0;
    for (const char *at = inputs + strspn(inputs, " "); *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        assert_true(n < 16 && length < 64);
        memcpy(words[n], at, length);
        words[n++][length] = 0;
        at += length;
    }
    return n;
}

/* Writes a model with one node of a rule, which has the inputs of a mask, each of one shape. */
static void write_model(const sx_onnx_rule *rule, size_t n, unsigned mask, const char *shape,
                        char model[1024]) {
    size_t at = (size_t)snprintf(model, 1024, "in x %s; %s ", shape, rule->name);
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(model + at, 1024 - at, "%s%s", i ? "," : "", mask >> i & 1 ? "x" : "-");
    snprintf(model + at, 1024 - at,
             " -> y,z name=c kernel_shape=[1,1] q_num_heads=1 kv_num_heads=1%s%s; out y",
             rule->domain ? " domain=" : "", rule->domain ? rule->domain : "");
}

/* The first input that is required but not in a mask, n where there is none; the words say so, too. */
static size_t first_missing(char words[16][64], size_t n, unsigned mask) {
    for (size_t i = 0; i < n; i++) {
        const char *how = words[i] + strcspn(words[i], "?@*");
        if (mask >> i & 1) continue;
        if (*how != '?') return i;
        for (size_t k = 0; how[1] && k < n; k++)
            if (strncmp(words[k], how + 1, strlen(how + 1)) == 0 && mask >> k & 1) return i;
    }
    return n;
}

/* Every rule with every choice of inputs: what lacks one is refused by its name, the rest is read or refused in words. */
static void every_choice(void **state) {
    static const char *const shapes[] = {"2 2 2", "1 2 3 4", "4"};
    size_t refused = 0, passed = 0;
    const sx_onnx_rule *rule;
    (void)state;
    for (size_t r = 0; (rule = sx_onnx_rule_at(r)); r++) {
        char words[16][64], model[1024], part[160];
        const size_t n = rule->inputs ? split_inputs(rule->inputs, words) : 0;
        for (unsigned mask = 0; rule->inputs && mask < 1u << n; mask++)
            for (size_t s = 0; s < 3; s++) {
                const size_t missing = first_missing(words, n, mask);
                sx_onnx onnx;
                write_model(rule, n, mask, shapes[s], model);
                if (missing < n) {
                    snprintf(part, sizeof part, "m.onnx: %s 'c': its input '%.*s' is missing", rule->name,
                             (int)strcspn(words[missing], "?@*"), words[missing]);
                    sx_expect_refused(model, part);
                    refused++;
                    continue;
                }
                sx_status status = sx_onnx_read_text(model, &onnx);
                if (status)
                    assert_null(strstr(status->message, "is missing"));
                else
                    sx_onnx_fini(&onnx);
                sx_status_free(status);
                passed++;
            }
    }
    assert_true(refused > 2000 && passed > 1000);
}

/* An attribute of old versions stands for an input; a name that nothing writes is told. */
static void what_stands_for_inputs(void **state) {
    (void)state;
    sx_expect_refused("in x 2; Reshape x -> y",
                      "its input 'shape' is missing, and so is the attribute 'shape'");
    sx_expect_refused("in x 2; Relu v -> y",
                      "the node names the value 'v', which is no input and which no node writes");
    sx_expect_refused("in x 2; Sum x,-,x -> y", "Sum 'Sum_0': its input 'data_0' is missing");
    sx_expect_refused("in x 2; Sum -> y", "Sum 'Sum_0': its input 'data_0' is missing");
    sx_expect_value("opset 1; in x 2; Reshape x -> y shape=[2,1]", "y", "f32[2,1]");
    sx_expect_value("in x 2; Sum x,x,x -> y", "y", "f32[2]");
    sx_expect_value("in x i64; Range x,x -> y domain=com.microsoft", "y", "i64[?]");
    sx_expect_refused("in x i64; Range x,x -> y", "Range 'Range_0': its input 'delta' is missing");
    sx_expect_value("in x 2; Relu -> y domain=own; say y 3", "y", "f32[3]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_choice),
        cmocka_unit_test(what_stands_for_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
