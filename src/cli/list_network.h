/* `sextant list` of one network or architecture: what it consists of. */
#ifndef SX_CLI_LIST_NETWORK_H
#define SX_CLI_LIST_NETWORK_H

#include "base/text.h"
#include "cli/options.h"

/* Lists what was understood of an ONNX file. */
SX_MUST_USE sx_status sx_list_onnx(const sx_args *args, const char *path, bool json, sx_text *out);

#endif
