/* Spatial loops on two axes of an array, and loops on both. */
#include "ir/axes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Factors, the dimensions on X, room on both axes, and how they lie: dim -1: none is on both. */
typedef struct lay_case {
    uint32_t factor[3];
    unsigned x;
    uint64_t room[2];
    bool split, lies;
    int dim, part;
} lay_case;

static void loops_lie_where_there_is_room(void **state) {
    (void)state;
    static const lay_case cases[] = {
        {{4, 3, 2}, 1, {4, 6}, false, true, -1, 0},  {{4, 3, 2}, 1, {3, 6}, false, false, -1, 0},
        {{4, 3, 2}, 1, {4, 5}, false, false, -1, 0}, {{4, 3, 2}, 7, {24, 1}, false, true, -1, 0},
        {{8, 1, 1}, 7, {4, 2}, true, true, 0, 4},    {{8, 1, 1}, 7, {4, 1}, true, false, -1, 0},
        {{8, 3, 1}, 7, {4, 6}, true, false, -1, 0},  {{6, 1, 2}, 5, {6, 2}, true, true, 0, 3},
        {{9, 1, 1}, 1, {4, 3}, true, true, 0, 3},    {{7, 1, 1}, 1, {4, 7}, true, false, -1, 0},
        {{4, 4, 1}, 3, {8, 2}, true, true, 1, 2},    {{4, 1, 4}, 1, {2, 8}, true, true, 0, 2},
        {{4, 1, 4}, 1, {2, 7}, true, false, -1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const lay_case *t = &cases[i];
        sx_axis_split out;
        bool lies = sx_axes_lay(t->factor, 3, t->x, t->room, t->split, &out);
        if (lies != t->lies || (lies && (out.both != t->dim || (out.both >= 0 && out.x_part != t->part))))
            fail_msg("case %zu: %d, dimension %d in %d", i, lies, out.both, out.x_part);
    }
}

static void used_places_are_counted(void **state) {
    (void)state;
    sx_mapping_level at = {.spatial = {6, 5, 1}, .spatial_order = {0, 1, 2}, .split = 1};
    uint64_t used[2];
    sx_axes_used(&at, 3, used);
    assert_true(used[0] == 6 && used[1] == 5);
    at.spatial[0] = at.spatial[1] = UINT32_MAX;
    at.split = 2;
    sx_axes_used(&at, 3, used);
    assert_true(used[0] == UINT32_MAX && used[1] == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_lie_where_there_is_room),
        cmocka_unit_test(used_places_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
