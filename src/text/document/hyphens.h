/* Hyphens in files, as Timeloop takes them. */
#ifndef SX_TEXT_DOCUMENT_HYPHENS_H
#define SX_TEXT_DOCUMENT_HYPHENS_H

#include <stdbool.h>
#include <stddef.h>

/* Changes a text as Timeloop does before it reads it: the words that it knows get underscores. */
void sx_hyphens_convert(char *text, size_t size);

#endif
