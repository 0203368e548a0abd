#include "support/kind_counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

void sx_kind_set(sx_kind_counts *counts, const char *name, bool now) {
    size_t i = 0;
    while (i < counts->n && strcmp(counts->of[i].name, name) != 0) i++;
    if (i == counts->n) {
        assert_true(counts->n < SX_MOST_KINDS && strlen(name) < sizeof counts->of->name);
        memcpy(counts->of[counts->n++].name, name, strlen(name));
    }
    counts->of[i].now = now;
}

void sx_kind_set_traits(sx_kind_counts *counts, const sx_small_space *small) {
    sx_trait trait[SX_MOST_TRAITS];
    const size_t n = sx_mixed_traits(small, trait);
    for (size_t i = 0; i < n; i++) sx_kind_set(counts, trait[i].name, trait[i].has);
}

void sx_kind_add(sx_kind_counts *counts, size_t first, int which, uint64_t n) {
    for (size_t i = first; i < counts->n; i++)
        if (counts->of[i].now) counts->of[i].count[which] += n;
}

void sx_kind_expect(const sx_kind_counts *counts, const char *const *name, int n, int which, uint64_t least) {
    bool good = true;
    print_message("%-48s", "");
    for (int k = 0; k < n; k++) print_message(" %9s", name[k]);
    print_message("\n");
    for (size_t i = 0; i < counts->n; i++) {
        print_message("%-48s", counts->of[i].name);
        for (int k = 0; k < n; k++) print_message(" %9llu", (unsigned long long)counts->of[i].count[k]);
        const bool enough = counts->of[i].count[which] >= least;
        print_message(enough ? "\n" : "  fewer %s than the %llu that there should be\n", name[which],
                      (unsigned long long)least);
        good &= enough;
    }
    assert_true(good);
}
