/* Documents of which every key must say something. */
#ifndef SX_TEXT_DOCUMENT_NULLS_H
#define SX_TEXT_DOCUMENT_NULLS_H

#include "text/document/document.h"

/* Refuses a key without a value anywhere in a node; `what` is the document. */
SX_MUST_USE sx_status sx_node_refuse_null(const sx_node *node, const char *what);

#endif
