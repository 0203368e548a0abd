/* Einsum text in a file. */
#ifndef SX_FRONTEND_EINSUM_H
#define SX_FRONTEND_EINSUM_H

#include "base/status.h"
#include "sextant/problem.h"

/* sx_einsum_parse of a text that begins at a place. */
SX_MUST_USE sx_status sx_einsum_parse_at(const char *text, sx_place place, sx_problem *out);

#endif
