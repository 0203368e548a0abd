/* Sets of words of a tensor, each word for itself: slow, obvious, to judge the model's boxes by. */
#ifndef SX_TESTS_WORDS_H
#define SX_TESTS_WORDS_H

#include "sextant/problem.h"

#include <stddef.h>

/* Words in ascending order, each a place packed into one number. A set of zeros is empty. */
typedef struct sx_words {
    int64_t *word;
    size_t n, room;
} sx_words;

/* Packs a place, or a displacement, into one number: sums of places are sums of numbers. Every coordinate
 * must be below 2^(60 / ranks - 1) in magnitude. */
int64_t sx_words_pack(int ranks, const int64_t *at);

/* The place that was packed. */
void sx_words_unpack(int ranks, int64_t word, int64_t *at);

/* Makes a set the words of a box, low <= x < high in every rank. */
void sx_words_box(sx_words *set, int ranks, const int64_t *low, const int64_t *high);

/* Takes the words of another set out of a set. */
void sx_words_remove(sx_words *set, const sx_words *other);

/* Makes a set a copy of another. */
void sx_words_copy(sx_words *set, const sx_words *from);

/* Whether a is b moved by some displacement, *shift = a - b; never for empty sets. */
bool sx_words_moved(const sx_words *a, const sx_words *b, int64_t *shift);

void sx_words_fini(sx_words *set);

#endif
