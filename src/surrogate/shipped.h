/* The surrogates that come with Sextant: files in share/sextant beside the program. */
#ifndef SX_SURROGATE_SHIPPED_H
#define SX_SURROGATE_SHIPPED_H

#include "surrogate/view.h"

#define SX_SURROGATE_SUFFIX ".surrogate"

/* The paths of all of them, in the order of their names; freed with sx_shipped_free. No folder: none. */
typedef struct sx_shipped {
    char **path;
    size_t n;
} sx_shipped;
SX_MUST_USE sx_status sx_shipped_list(sx_shipped *out);
void sx_shipped_free(sx_shipped *shipped);

/* The first one that fits a space and an objective, one for mappings that keep every tensor before others;
 * an error where none does. */
SX_MUST_USE sx_status sx_shipped_find(const sx_map_space *space, const sx_objective *objective,
                                      SX_OWN sx_surrogate **out);

#endif
