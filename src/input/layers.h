/* The layers that --problem names: in files, in folders, and in lists of layers. */
#ifndef SX_INPUT_LAYERS_H
#define SX_INPUT_LAYERS_H

#include "frontend/keys.h"
#include "input/sources.h"

/* The problem, the graph or the list of layers of an input as a network, or one layer of it (NULL: all). */
SX_MUST_USE sx_status sx_layers_of_input(sx_sources *sources, sx_input *input, const char *layer,
                                         sx_network *out);

/* The layers of every value of --problem, as one network. */
SX_MUST_USE sx_status sx_layers_gather(sx_sources *sources, sx_network *out);

/* Whether --problem names more than one problem or network, or a folder. */
bool sx_layers_several(const sx_sources *sources);

/* The keys of a network as a list of layers. */
extern const sx_keys sx_keys_network, sx_keys_network_layer;

/* Warns of dimensions of more than one iteration that are in no tensor: they repeat the whole computation. */
SX_MUST_USE sx_status sx_layers_warn_repeats(sx_sources *sources, const sx_network *network);

#endif
