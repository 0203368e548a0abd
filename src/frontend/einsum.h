/* Einsum text in a file. */
#ifndef SX_FRONTEND_EINSUM_H
#define SX_FRONTEND_EINSUM_H

#include "text/path_scope.h"

/* sx_einsum_parse of a text that begins at a place, with the scope of the paths in it. */
SX_MUST_USE sx_status sx_einsum_parse_at(const char *text, sx_place place, const sx_path_scope *scope,
                                         sx_problem *out);

#endif
