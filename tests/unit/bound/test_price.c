/* What is taken off of flows for rounding to whole words. */
#include "bound/price.h"

#include "support/expect.h"
#include "support/small_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* An array of 4 units with two levels of registers below a buffer. */
static const char array[] = "arch:\n  arithmetic: {name: MAC, instances: 4, meshX: 4}\n"
                            "  storage:\n"
                            "  - {name: Near, entries: 8, instances: 4, meshX: 4}\n"
                            "  - {name: RF, entries: 8, instances: 4, meshX: 4}\n"
                            "  - {name: Buffer, entries: 4096, instances: 1}\n";

/* What is taken off the reads of A at the buffer, which cost 1 each, for the way to Near where RF bypasses it; p and r are
 * spread over so many units. */
static double spared(const sx_model *model, uint32_t p, uint32_t r) {
    enum { NEAR, RF, BUFFER, A = 1 };
    sx_bound *bound;
    sx_outline_bound *bounds;
    sx_outline outline;
    sx_access_cost prices[SX_MAX_LEVELS] = {[BUFFER] = {.read = 1}};
    memset(&outline, 0, sizeof outline);
    for (int s = 0; s < 3; s++)
        for (int d = 0; d < SX_MAX_DIMS; d++) outline.spatial[s][d] = 1;
    outline.spatial[BUFFER][0] = p;
    outline.spatial[BUFFER][1] = r;
    outline.keep[NEAR] = outline.keep[BUFFER] = 7;
    sx_expect_ok(sx_bound_new(model, NULL, 1 << 20, &bound));
    sx_expect_ok(sx_outline_bound_new(bound, &bounds));
    sx_outline_bound_begin(bounds, &outline);
    sx_transfer route = sx_transfer_make(bounds, A, NEAR, BUFFER, prices);
    double words = sx_transfer_spared(bounds, &route, prices);
    sx_outline_bound_free(bounds);
    sx_bound_free(bound);
    return words;
}

/* Of 2 x 2 units along the window p + r two share a word and two do not: what RF's children ask for comes to a fraction of
 * a word at the buffer, of which rounding takes up to a half. 4 units along one dimension have words of their own. */
static void half_a_word_is_lost_where_groups_differ(void **state) {
    (void)state;
    sx_small_map map;
    sx_small_map_open(&map, "Z[p] += A[p+r]*B[r] {p:8,r:8}", array, NULL, NULL);
    assert_true(spared(map.model, 2, 2) == 0.5);
    assert_true(spared(map.model, 4, 1) == 0);
    assert_true(spared(map.model, 1, 4) == 0);
    sx_small_map_close(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_a_word_is_lost_where_groups_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
