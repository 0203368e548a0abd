/* Any text lists non-zeros of a tensor, each once and within its ranks, or is an error. */
#include "fuzz/fuzz.h"
#include "text/coordinates.h"

#include <string.h>

/* Reads a text as the non-zeros of the last tensor of a problem. */
static void check(const char *einsum, const char *text, size_t size) {
    sx_problem problem;
    sx_coordinates found;
    promise(succeeded(sx_einsum_parse(einsum, &problem)));
    int v = problem.n_tensors - 1;
    if (!succeeded(sx_coordinates_parse("fuzz.mtx", text, size, &problem, v, &found))) return;
    promise(found.n > 0 && found.word[found.n - 1] < sx_problem_words(&problem, v));
    for (size_t i = 1; i < found.n; i++) promise(found.word[i - 1] < found.word[i]);
    sx_coordinates_fini(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size ? size : 1); /* exactly as long, so that reading beyond it is noticed */
    if (!text) return 0;
    if (size) memcpy(text, data, size);
    check("Z[m] += A[m,k] {m:8,k:8}", text, size);
    check("Z[m] += A[m,k,j] {m:4,k:3,j:2}", text, size);
    check("Z[m] += A[m] {m:100}", text, size);
    free(text);
    return 0;
}
