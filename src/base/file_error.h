/* Errors of the operating system about files, with what may be wrong with their paths. */
#ifndef SX_BASE_FILE_ERROR_H
#define SX_BASE_FILE_ERROR_H

#include "base/status.h"

/* The error "cannot VERB 'path'" of the code, by errno. Where nothing has that path, with a hint. */
SX_ERROR sx_status sx_file_error(sx_code code, const char *verb, const char *path);

/* Adds to an error about a path that nothing has: the nearest file of its folder, the folder that is missing, or what else
 * may help. */
SX_ERROR sx_status sx_file_hint(SX_TAKE sx_status error, const char *path, const char *otherwise);

#endif
