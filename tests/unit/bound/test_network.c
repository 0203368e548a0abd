/* Hops in the bounds. */
#include "bound/bound.h"
#include "support/expect.h"
#include "support/small_map.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* An array of 4 x 2 units with registers below a buffer, in which nothing but hops costs energy. */
static const char array[] =
    "arch:\n  arithmetic: {name: MAC, instances: 8, meshX: 4, word-bits: 16, energy: 0}\n"
    "  storage:\n"
    "  - {name: Near, entries: 8, instances: 8, meshX: 4, read_energy: 0, fill_energy: 0, update_energy: 0}\n"
    "  - {name: RF, entries: 8, instances: 8, meshX: 4, read_energy: 0, fill_energy: 0, update_energy: 0}\n"
    "  - {name: Buffer, entries: 4096, instances: 1, energy_per_hop: 2, read_energy: 0, fill_energy: 0,\n"
    "     update_energy: 0}\n";

/* The bound of an outline whose buffer spreads m over 4 and k over 2 units, and whose other levels keep as told. */
static double bound_of(const sx_model *model, uint8_t near, uint8_t far) {
    sx_bound *bound;
    sx_outline_bound *bounds;
    sx_outline outline;
    memset(&outline, 0, sizeof outline);
    for (int s = 0; s < 3; s++)
        for (int d = 0; d < SX_MAX_DIMS; d++) outline.spatial[s][d] = 1;
    outline.spatial[2][0] = 4;
    outline.spatial[2][2] = 2;
    outline.keep[0] = near;
    outline.keep[1] = far;
    outline.keep[2] = 7;
    sx_expect_ok(sx_bound_new(model, NULL, 1 << 20, &bound));
    sx_expect_ok(sx_outline_bound_new(bound, &bounds));
    sx_outline_bound_begin(bounds, &outline);
    double energy = sx_outline_bound_compulsory(bounds).energy_pj;
    sx_outline_bound_free(bounds);
    sx_bound_free(bound);
    return energy;
}

/* Of O[m,n] += A[m,k] B[k,n] with m:8, n:1, k:8, A's 64 words go to one unit each, O's 8 are sums of 2, and B's 8 go to 4.
 * With a row in the middle one unit is at distance 0, three at 1, the others at 2 at least, 11/8 on average; with a
 * middle between rows it is 12/8. So a word of A takes 11/8 hops, one of O as many, one of B 3. */
static void hops_count(void **state) {
    (void)state;
    sx_small_map map;
    sx_small_map_open(&map, "O[m,n] += A[m,k]*B[k,n] {m:8,n:1,k:8}", array, NULL, NULL);
    const double least = 2 * (64 * 11.0 / 8 + 8 * 11.0 / 8 + 8 * 3);
    assert_true(fabs(bound_of(map.model, 7, 7) - least) < 1e-9);
    assert_true(fabs(bound_of(map.model, 7, 0) - least) < 1e-9);
    assert_true(fabs(bound_of(map.model, 0, 7) - least) < 1e-9);
    sx_small_map_close(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hops_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
