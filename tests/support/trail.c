#include "support/trail.h"

#include "support/small_map.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char conv[] = "O[n,k,p,q] += I[n,c,p+r,q+s]*W[c,k,r,s] {n:2,k:16,c:12,p:6,q:6,r:3,s:3}";

/* Follows a search. */
static sx_trail follow_search(const char *navigator, uint64_t evaluations) {
    sx_small_map m;
    const sx_mapping *mapping;
    sx_trail trail = {.navigator = navigator, .evaluations = evaluations};
    sx_small_map_open(&m, conv, "accel-b", NULL, NULL);
    (void)sx_small_map_search(&m, navigator, 1, evaluations, NULL);
    while ((mapping = sx_small_map_point(&m, trail.points))) {
        sx_mapping copy = {0};
        memcpy(&copy, mapping, sx_space_point_size(m.space));
        trail.hash = trail.hash * 31 + sx_mapping_hash(&copy);
        trail.points++;
    }
    sx_small_map_close(&m);
    return trail;
}

void sx_expect_trails(const sx_trail *trails, size_t n) {
    bool same = true;
    for (size_t i = 0; i < n; i++) {
        const sx_trail now = follow_search(trails[i].navigator, trails[i].evaluations);
        if (now.points == trails[i].points && now.hash == trails[i].hash) continue;
        same = false;
        print_error("{\"%s\", %" PRIu64 ", %" PRIu64 ", 0x%016" PRIx64 "},\n", now.navigator, now.evaluations,
                    now.points, now.hash);
    }
    assert_true(same);
}
