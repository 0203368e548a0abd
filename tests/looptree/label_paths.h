/* Makes the labels of an einsum from its paths: tiles that divide, tensors held in the order of the levels, no value
 * computed twice. */
#ifndef SX_LOOPTREE_LABEL_PATHS_H
#define SX_LOOPTREE_LABEL_PATHS_H

#include "looptree/rest.h"

/* Adds the labels of all paths to a table, and packs it. */
SX_MUST_USE sx_status sx_label_paths(const sx_label_task *task, sx_label_table *table);

/* A path of a label that sx_label_paths has made for the same task. */
SX_MUST_USE sx_status sx_label_path(const sx_label_task *task, const sx_label *label, sx_path *path);

#endif
