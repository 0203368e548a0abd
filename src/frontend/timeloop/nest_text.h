/* Timeloop's printed loop nests (map.txt) read as mappings. */
#ifndef SX_FRONTEND_TIMELOOP_NEST_TEXT_H
#define SX_FRONTEND_TIMELOOP_NEST_TEXT_H

#include "base/arena.h"
#include "text/document/document.h"

/* Whether a text begins as a loop nest does: "DRAM [". */
bool sx_nest_text_begins(const char *text, size_t size);

/* Reads a loop nest as the document with the section 'mapping' that says the same. */
SX_MUST_USE sx_status sx_nest_text_read(sx_arena *arena, const char *file, const char *text, size_t size,
                                        const sx_node **out);

#endif
