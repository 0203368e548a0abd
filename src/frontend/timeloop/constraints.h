/* Timeloop's constraints. What a level keeps is part of an architecture; the rest limits searches, and here
 * is only checked. */
#ifndef SX_FRONTEND_TIMELOOP_CONSTRAINTS_H
#define SX_FRONTEND_TIMELOOP_CONSTRAINTS_H

#include "frontend/input.h"

/* A set of tensors by name. */
typedef struct sx_name_set {
    bool all; /* "*" */
    uint8_t n;
    char name[SX_MAX_TENSORS][SX_NAME_SIZE];
} sx_name_set;

/* Reads v0.4's `constraints` of a component or container; `level` may be NULL where keeping means nothing. */
SX_MUST_USE sx_status sx_constraints_inline(sx_input *input, const sx_node *node, const char *name,
                                            sx_storage *level);

/* Adds the tensors that the constraints of a component ask to keep: those written beside it (`node`, may be
 * NULL) and those of the sections of constraints. */
SX_MUST_USE sx_status sx_constraints_keeps(sx_input *input, const sx_node *node, const char *name,
                                           sx_name_set *keeps);

/* Reads all sections of constraints and gives the levels their tensors. The sections about the map space
 * count only where `mapspace` says so. */
SX_MUST_USE sx_status sx_constraints_sections(sx_input *input, bool mapspace, sx_arch *arch);

/* Refuses sections that Timeloop ignores, where files are read as by it: its front end, which files of v0.4 pass through,
 * reads a section as constraints by a part of its name, and Timeloop itself does not. */
SX_MUST_USE sx_status sx_constraints_check_sections(sx_input *input, bool v4);

/* Whether a note says of a constraint that it applies to searches only. */
bool sx_note_of_search(const char *note);

/* Adds the tensors under a key of a map, where it is there, to a list of at most SX_MAX_TENSORS names. */
SX_MUST_USE sx_status sx_tensor_names(const sx_node *map, const char *key, char (*list)[SX_NAME_SIZE],
                                      uint8_t *n);

/* Whether a section of that key holds constraints. */
bool sx_constraints_section(const char *key);

#endif
