#include "support/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* How far apart the ranks lie in a packed place. */
static int64_t radix(int ranks) {
    return (int64_t)1 << 60 / ranks;
}

int64_t sx_words_pack(int ranks, const int64_t *at) {
    int64_t word = 0;
    for (int r = 0; r < ranks; r++) {
        assert_true(llabs(at[r]) < radix(ranks) / 2);
        word = word * radix(ranks) + at[r];
    }
    return word;
}

void sx_words_unpack(int ranks, int64_t word, int64_t *at) {
    for (int r = ranks - 1; r >= 0; r--) {
        at[r] = word % radix(ranks);
        if (at[r] >= radix(ranks) / 2) at[r] -= radix(ranks);
        if (at[r] < -radix(ranks) / 2) at[r] += radix(ranks);
        word = (word - at[r]) / radix(ranks);
    }
}

/* Makes room for n words. */
static void reserve(sx_words *set, size_t n) {
    if (n <= set->room) return;
    set->word = realloc(set->word, n * sizeof *set->word);
    assert_non_null(set->word);
    set->room = n;
}

void sx_words_box(sx_words *set, int ranks, const int64_t *low, const int64_t *high) {
    int64_t at[SX_MAX_RANKS];
    set->n = 0;
    for (int r = 0; r < ranks; r++) {
        if (low[r] >= high[r]) return;
        at[r] = low[r];
    }
    for (int r = ranks; r >= 0;) {
        reserve(set, set->n < set->room ? set->room : 2 * set->n + 64);
        set->word[set->n++] = sx_words_pack(ranks, at);
        for (r = ranks - 1; r >= 0 && ++at[r] == high[r]; r--) at[r] = low[r];
    }
}

void sx_words_remove(sx_words *set, const sx_words *other) {
    size_t left = 0, k = 0;
    for (size_t i = 0; i < set->n; i++) {
        while (k < other->n && other->word[k] < set->word[i]) k++;
        if (k == other->n || other->word[k] != set->word[i]) set->word[left++] = set->word[i];
    }
    set->n = left;
}

void sx_words_copy(sx_words *set, const sx_words *from) {
    reserve(set, from->n);
    set->n = from->n;
    if (from->n) memcpy(set->word, from->word, from->n * sizeof *set->word);
}

bool sx_words_moved(const sx_words *a, const sx_words *b, int64_t *shift) {
    if (a->n != b->n || a->n == 0) return false;
    for (size_t i = 1; i < a->n; i++)
        if (a->word[i] - b->word[i] != a->word[0] - b->word[0]) return false;
    *shift = a->word[0] - b->word[0];
    return true;
}

void sx_words_fini(sx_words *set) {
    free(set->word);
    *set = (sx_words){0};
}
