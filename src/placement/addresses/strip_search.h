/* The search for a strip of a packing without waste: a set of buffers whose sizes add up to one height at every step. */
#ifndef SX_PLACEMENT_STRIP_SEARCH_H
#define SX_PLACEMENT_STRIP_SEARCH_H

#include "placement/addresses/allocate.h"

/* A buffer that is to belong to a strip. */
typedef struct sx_strip_buffer {
    sx_buffer buffer;
    size_t index; /* of the caller */
    bool uncut;   /* no strip that contains it has a cut where it ends */
} sx_strip_buffer;

/* Where to search next: at the first step, with few failures. */
typedef struct sx_strip_cursor {
    size_t effort, first, steps, item;
    bool begun; /* with this effort */
    bool ended; /* all steps were searched with every effort */
} sx_strip_cursor;

typedef struct sx_strip_search sx_strip_search;

/* A search among at most n buffers, with random numbers of a stream. */
SX_MUST_USE sx_status sx_strip_search_new(size_t n, uint64_t stream, SX_OWN sx_strip_search **out);
void sx_strip_search_free(SX_TAKE sx_strip_search *search);

/* The decisions of all searches so far. */
uint64_t sx_strip_search_nodes(const sx_strip_search *search);

/* Sorts buffers by their lives. */
void sx_strip_sort(sx_strip_buffer *buffer, size_t n);

/* Whether the sizes of buffers that end are those of buffers that begin at every step but the first and the last. */
bool sx_strip_balanced(sx_strip_search *search, sx_strip_buffer *buffer, size_t n);

/* Moves the buffers of the next strip to the front and returns how many they are; 0: none was found with some hundred decisions,
 * or there are no more. Every strip has a cut: a step inside that none of its buffers crosses. The cursor begins as {0}. */
size_t sx_strip_next(sx_strip_search *search, sx_strip_buffer *buffer, size_t n, sx_strip_cursor *cursor);

#endif
