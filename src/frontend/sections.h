/* The sections a document may have at its top level. */
#ifndef SX_FRONTEND_SECTIONS_H
#define SX_FRONTEND_SECTIONS_H

#include "text/document/document.h"

/* Refuses a document that is not a map of known sections, and sections that would change results but are not
 * read. A section of any other name is accepted when it has an anchor, for merges. */
SX_MUST_USE sx_status sx_sections_check(sx_input *input, const sx_node *root);

/* Whether a section of no known name is read as constraints, as a part of its name says. */
bool sx_section_is_constraints_by_part(const char *key);

/* Whether a constraint of a section, or of a level of an architecture in it, has a name in its text. */
bool sx_section_constrains_by(const sx_pair *section, const char *name);

#endif
