/* Flows of sliding windows on a GPU: what neighbours hand over on machines with links costs what the model says. */
#include "support/expect.h"
#include "support/gpu_points.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { DRAWS = 150 };

static const char *const problems[] = {
    "O[p] += I[p+r]*W[r] {p:24,r:6}",
    "O[p,k] += I[2*p+r]*W[r,k] {p:12,r:4,k:4}",
    "O[p,k] += I[p+3*r]*W[r,k] {p:12,r:4,k:4}",
    "O[p,q] += I[p+r,q+s]*W[r,s] {p:8,q:8,r:3,s:3}",
    "O[n,k,p,q] += I[n,c,p+r,q+s]*W[c,k,r,s] {n:2,k:4,c:4,p:6,q:6,r:3,s:3}",
    "O[p,q] += I[2*p+r,q+2*s]*W[r,s] {p:6,q:8,r:3,s:2}",
};

static void windows_with_links(void **state) {
    sx_gpu_tally t = {0};
    const char *name;
    (void)state;
    for (size_t a = 0; (name = sx_catalog_arch_name(a, NULL)); a++)
        for (size_t p = 0; p < sizeof problems / sizeof *problems; p++) {
            sx_problem problem;
            sx_arch arch;
            sx_model *model;
            sx_space *space;
            sx_map_space_options how = {.no_banks = true};
            sx_expect_ok(sx_einsum_parse(problems[p], &problem));
            sx_expect_ok(sx_catalog_arch(name, &arch));
            sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
            sx_expect_ok(sx_map_space_new(model, NULL, &how, &space));
            sx_gpu_compare_space(space, model, p, DRAWS, &t);
            sx_space_free(space);
            sx_model_free(model);
        }
    print_message("%llu legal points of %llu, %llu not covered\n", (unsigned long long)t.legal,
                  (unsigned long long)t.points, (unsigned long long)t.uncovered);
    assert_true(t.legal > t.points / 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(windows_with_links)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
