/* The lists of `sextant list`. */
#ifndef SX_CLI_CMD_LIST_H
#define SX_CLI_CMD_LIST_H

#include <stddef.h>

/* Entry `index` of a list, such as "archs"; NULL past the last, and where there is no such list. */
const char *sx_list_entry(const char *list, size_t index);

#endif
