/* From text to trees. JSON is read as the YAML it is. */
#ifndef SX_TEXT_DOCUMENT_YAML_H
#define SX_TEXT_DOCUMENT_YAML_H

#include "text/document/document.h"
#include "text/document/source.h"

enum {
    SX_MAX_NODES = 500000,   /* of a text, and of any tree with its aliases written out */
    SX_MAX_HEIGHT = 64,      /* levels of a tree */
    SX_MAX_SCALAR = 1 << 20, /* bytes of a scalar */
    SX_MAX_ANCHORS = 1000,   /* of a document */
};

/* Reads every document of a text into the arena; merges are done, null documents left out. */
SX_MUST_USE sx_status sx_yaml_read(sx_arena *arena, const sx_source *source, const sx_node ***roots,
                                   size_t *n);

/* Gives a tree its weight and height; an error where it is too heavy or too high. */
SX_MUST_USE sx_status sx_node_measure(sx_node *node);

#endif
