/* Fronts before the independent checker, on random small spaces all mappings of which are listed: the true front is
 * accepted or undecided; one without a point, with a worse mapping in a point's place, or one unit of energy above it, is
 * never accepted: test_check_front [count [seed]]. */
#include "support/check_space.h"
#include "support/compared.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct settings {
    uint64_t count, seed;
} settings;

/* How often something came out. */
typedef struct tally {
    uint64_t fronts, holds, undecided, rounded, points, missing, worse;
} tally;

/* Whether a score has no more energy and no more cycles than another one. */
static bool covers(const sx_score *a, const sx_score *b) {
    return a->energy_pj <= b->energy_pj && a->cycles <= b->cycles;
}

/* The mappings that no other covers, one of each cost, by cycles; returns how many. */
static size_t find_front(const sx_mapping_list *list, size_t *front) {
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        bool covered = false;
        for (size_t k = 0; k < list->n && !covered; k++)
            covered = covers(&list->score[k], &list->score[i]) &&
                      (!covers(&list->score[i], &list->score[k]) || k < i);
        if (covered) continue;
        size_t at = n++;
        for (; at > 0 && list->score[front[at - 1]].cycles > list->score[i].cycles; at--)
            front[at] = front[at - 1];
        front[at] = i;
    }
    return n;
}

/* The verdict on a front, with the best of it by EDP as the mapping. */
static sx_independent_verdict judge_front(const sx_small_space *small, const sx_mapping_list *list,
                                          size_t best, const size_t *front, size_t n, bool walk, int64_t more,
                                          sx_independent_report *report) {
    sx_check_doubt doubt;
    sx_check_case *c = sx_check_case_of(small, "edp", list, best, front, n, &doubt);
    sx_independent_verdict verdict = sx_judge_case(c, doubt, walk, more, report);
    sx_check_case_free(c);
    return verdict;
}

/* Checks fronts that are not the true one. */
static void check_false_fronts(sx_rng *rng, const sx_small_space *small, const sx_mapping_list *list,
                               size_t best, size_t *front, size_t n, uint64_t number, tally *t) {
    sx_independent_report report;
    bool walk = sx_rng_below(rng, 3) == 0;
    size_t lost = sx_rng_below(rng, n), other = sx_rng_below(rng, list->n), point = front[lost];
    if (judge_front(small, list, best, front, n, walk, 1, &report) == SX_INDEPENDENT_HOLDS)
        sx_fail_case(small, number, "a front", "with one unit of energy more is accepted");
    if (!covers(&list->score[other], &list->score[point])) {
        front[lost] = other;
        if (judge_front(small, list, best, front, n, walk, 0, &report) == SX_INDEPENDENT_HOLDS)
            sx_fail_case(small, number, "a front", "with another mapping in a point's place is accepted");
        t->worse++;
    }
    if (n == 1) return;
    memmove(front + lost, front + lost + 1, (n - 1 - lost) * sizeof *front);
    size_t rest = lost == 0 ? front[0] : best; /* the best may be the point that is lost */
    if (judge_front(small, list, rest, front, n - 1, walk, 0, &report) == SX_INDEPENDENT_HOLDS)
        sx_fail_case(small, number, "a front", "without a point is accepted");
    t->missing++;
}

static void check_space(sx_rng *rng, const sx_small_space *small, uint64_t number, tally *t) {
    sx_mapping_list list;
    sx_independent_report report;
    sx_list_mappings(small, &list);
    size_t *front = malloc((list.n + 1) * sizeof *front), n = find_front(&list, front);
    assert_non_null(front);
    if (n) {
        size_t best = front[0];
        for (size_t i = 1; i < n; i++) {
            const sx_score *a = &list.score[front[i]], *b = &list.score[best];
            if (a->energy_pj * a->cycles < b->energy_pj * b->cycles) best = front[i];
        }
        sx_independent_verdict verdict =
            judge_front(small, &list, best, front, n, sx_rng_below(rng, 3) == 0, 0, &report);
        bool rounded = verdict == SX_INDEPENDENT_FAILS && strstr(report.why, "not what is claimed");
        if (verdict == SX_INDEPENDENT_FAILS && !rounded)
            sx_fail_case(small, number, "a true front", report.why);
        t->fronts++;
        t->points += n;
        t->rounded += rounded;
        t->holds += verdict == SX_INDEPENDENT_HOLDS;
        t->undecided += verdict == SX_INDEPENDENT_UNDECIDED;
        check_false_fronts(rng, small, &list, best, front, n, number, t);
    }
    free(front);
    sx_free_mappings(&list);
}

static void fronts_are_decided(void **state) {
    const settings *set = *state;
    tally t = {0};
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "front", i);
        sx_small_space small;
        sx_draw_check_space(&rng, &small);
        check_space(&rng, &small, i, &t);
        sx_small_space_fini(&small);
    }
    print_message("%llu fronts of %llu points: %llu hold, %llu undecided, %llu rounded; %llu without a "
                  "point, %llu with "
                  "a worse one\n",
                  (unsigned long long)t.fronts, (unsigned long long)t.points, (unsigned long long)t.holds,
                  (unsigned long long)t.undecided, (unsigned long long)t.rounded,
                  (unsigned long long)t.missing, (unsigned long long)t.worse);
    sx_expect_compared("fronts", t.holds, set->count / 2);
    sx_expect_compared("fronts without a point", t.missing, set->count / 8);
    sx_expect_compared("fronts with a worse mapping", t.worse, set->count / 4);
    assert_true(t.undecided * 20 <= t.fronts && t.rounded * 50 <= t.fronts);
}

int main(int argc, char **argv) {
    settings set = {argc > 1 ? strtoull(argv[1], NULL, 10) : 300, argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(fronts_are_decided, &set)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
