/* Counts of a test for each kind of space and each way to ask, so that a kind that is never compared shows. */
#ifndef SX_TESTS_KIND_COUNTS_H
#define SX_TESTS_KIND_COUNTS_H

#include "support/mixed_space.h"

enum { SX_MOST_KINDS = 192, SX_MOST_COUNTS = 6 };

typedef struct sx_kind_counts {
    size_t n;
    struct {
        char name[48];
        bool now; /* what is at hand is of this kind */
        uint64_t count[SX_MOST_COUNTS];
    } of[SX_MOST_KINDS];
} sx_kind_counts;

/* Says whether what is at hand is of a kind; kinds are by name. */
void sx_kind_set(sx_kind_counts *counts, const char *name, bool now);

/* Says it of all traits of a space. */
void sx_kind_set_traits(sx_kind_counts *counts, const sx_small_space *small);

/* Adds to a count of all kinds of what is at hand, from kind number `first` on. */
void sx_kind_add(sx_kind_counts *counts, size_t first, int which, uint64_t n);

/* Prints the counts, which have these names; fails where a kind has fewer than `least` of count number `which`. */
void sx_kind_expect(const sx_kind_counts *counts, const char *const *name, int n, int which, uint64_t least);

#endif
