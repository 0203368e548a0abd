/* Formats for one problem: whose outermost rank takes all loops, and how much metadata a word takes at the most. */
#include "model/sparse/pass.h"
#include "support/expect.h"
#include "support/plain_arch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { NAME_A, NAME_M, NAME_K, NAMES };
enum { M = 1u << NAME_M, K = 1u << NAME_K };

/* A format of A[m,k] with up to three ranks, the innermost first, and what becomes of it. */
typedef struct format_case {
    const char *what;
    int n_ranks;
    uint8_t kind[3];
    uint32_t flattened[3][2]; /* sets of dimensions; 0: no more */
    bool inner_to_outer, whole;
    double most_bits;
} format_case;

static void try_format(const format_case *t) {
    sx_problem problem;
    sx_arch arch;
    sx_model *model;
    sx_expect_ok(sx_einsum_parse("Z[m,n] += A[m,k]*B[k,n] {m:4,n:4,k:4}", &problem));
    int a = sx_problem_tensor(&problem, "A");
    sx_expect_ok(sx_tensor_set_density(&problem.tensor[a], SX_DENSITY_HYPERGEOMETRIC, 0.5));
    sx_plain_arch(&arch, 2);
    arch.level[1].metadata.width = 64;
    sx_sparse *sparse = &arch.sparse;
    strcpy(sparse->name[NAME_A], "A");
    strcpy(sparse->name[NAME_M], "m");
    strcpy(sparse->name[NAME_K], "k");
    sparse->n_names = NAMES;
    sparse->n_formats = 1;
    sparse->format[0] = (sx_tensor_format){
        .level = 1, .tensor = NAME_A, .n_ranks = (uint8_t)t->n_ranks, .inner_to_outer = t->inner_to_outer};
    sparse->n_ranks = (uint8_t)t->n_ranks;
    for (int r = 0; r < t->n_ranks; r++) {
        sx_rank_format *rank = &sparse->rank[r];
        *rank = (sx_rank_format){.kind = t->kind[r], .metadata_bits = 2, .payload_bits = 4};
        for (int k = 0; k < 2 && t->flattened[r][k]; k++)
            rank->flattened[rank->n_flattened++] = t->flattened[r][k];
    }
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    const sx_format_model *format = model->sparse->format[1][a];
    assert_non_null(format);
    if (format->whole != t->whole || format->most_bits != t->most_bits)
        fail_msg("%s: %d, %g bits", t->what, format->whole, format->most_bits);
    assert_null(model->sparse->format[0][a]);
    sx_model_free(model);
}

static void formats_of_a_product(void **state) {
    (void)state;
    static const format_case cases[] = {
        {"one rank takes all", 1, {SX_RANK_CP}, {{M | K}}, false, true, 6},
        {"the outermost takes all", 2, {SX_RANK_CP, SX_RANK_RLE}, {{0}, {M | K}}, false, true, 12},
        {"the innermost takes all", 2, {SX_RANK_CP, SX_RANK_CP}, {{M | K}, {0}}, false, false, 12},
        {"from the innermost on", 2, {SX_RANK_CP, SX_RANK_CP}, {{0}, {M | K}}, true, false, 12},
        {"the outermost takes some",
         3,
         {SX_RANK_CP, SX_RANK_CP, SX_RANK_CP},
         {{0}, {M | K}, {M}},
         false,
         false,
         18},
        {"the first of two lists", 2, {SX_RANK_CP, SX_RANK_CP}, {{0}, {K, M | K}}, false, false, 12},
        {"a list of others first",
         2,
         {SX_RANK_CP, SX_RANK_CP},
         {{0}, {1u << NAME_A, M | K}},
         false,
         true,
         12},
        {"ranks without lists", 2, {SX_RANK_CP, SX_RANK_CP}, {{0}, {0}}, false, false, 12},
        {"a bitmask", 2, {SX_RANK_CP, SX_RANK_B}, {{0}, {0}}, false, false, INFINITY},
        {"offsets", 2, {SX_RANK_CP, SX_RANK_UOP}, {{0}, {0}}, false, false, INFINITY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) try_format(&cases[i]);
}

/* The shares of accesses to A that bounds count at two levels, both with a format: Timeloop may lose all at the inner one. */
static void bounds_count_what_formats_hold(void **state) {
    (void)state;
    for (int timeloop = 0; timeloop < 2; timeloop++) {
        sx_problem problem;
        sx_arch arch;
        sx_model *model;
        const sx_model_options options = {.sparse_timeloop = timeloop};
        sx_expect_ok(sx_einsum_parse("Z[m,n] += A[m,k]*B[k,n] {m:4,n:4,k:4}", &problem));
        int a = sx_problem_tensor(&problem, "A");
        sx_expect_ok(sx_tensor_set_density(&problem.tensor[a], SX_DENSITY_HYPERGEOMETRIC, 0.5));
        sx_plain_arch(&arch, 2);
        sx_sparse *sparse = &arch.sparse;
        strcpy(sparse->name[NAME_A], "A");
        sparse->n_names = 1;
        sparse->n_ranks = 1;
        sparse->n_formats = 2;
        sparse->rank[0] = (sx_rank_format){.kind = SX_RANK_CP, .metadata_bits = 2};
        for (uint8_t s = 0; s < 2; s++) {
            arch.level[s].metadata.width = 64;
            sparse->format[s] = (sx_tensor_format){.level = s, .tensor = NAME_A, .n_ranks = 1};
        }
        sx_expect_ok(sx_model_new(&problem, &arch, &options, &model));
        assert_true(fabs(model->least[0][a] - (timeloop ? 0 : 0.5)) < 1e-8);
        assert_true(fabs(model->least[1][a] - 0.5) < 1e-8);
        sx_model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_of_a_product),
        cmocka_unit_test(bounds_count_what_formats_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
