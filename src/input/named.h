/* What --arch and --problem name without being files: entries of the catalog and einsum text. */
#ifndef SX_INPUT_NAMED_H
#define SX_INPUT_NAMED_H

#include "base/hash_table.h"
#include "input/args.h"
#include "sextant/input.h"
#include "sextant/network.h"
#include "text/path_scope.h"

/* The architecture of the catalog; an error with the nearest name where there is none. */
SX_MUST_USE sx_status sx_named_arch(const char *name, sx_arch *out);

/* Whether a value is an architecture's name, or the name of a problem, NETWORK or NETWORK/LAYER. */
bool sx_named_knows_arch(const char *value);
bool sx_named_knows_problem(const char *value);

/* A matrix product of sizes IxJxK, or a problem, NETWORK or NETWORK/LAYER of the catalog, networks made as
 * --batch, --training and --training-step say; an error with the nearest name where there is none. *out is freed with
 * sx_network_fini, here and below. */
SX_MUST_USE sx_status sx_named_problem(const sx_args *args, const char *name, sx_network *out);

/* What --batch, --training, --training-step and the options of phases say of networks. */
SX_MUST_USE sx_status sx_named_options(const sx_args *args, sx_network_options *out);

/* The graph of a network of the catalog, made likewise; an error for any other name. *out is freed with
 * sx_graph_fini. */
SX_MUST_USE sx_status sx_named_graph(const sx_args *args, const char *value, sx_graph *out);

/* The error for a value of --problem that is no graph where one is wanted. */
SX_MUST_USE sx_status sx_named_no_graph(const char *value);

/* Leaves a network with one of its layers; an error with the nearest name, as FROM/LAYER, where it has none
 * of that name. */
SX_MUST_USE sx_status sx_named_pick(sx_network *network, const char *from, const char *name);

/* The problem of einsum text, named after its output and its sizes. */
SX_MUST_USE sx_status sx_named_einsum(const char *text, sx_network *out);

/* The same of text that stands at a place, which may name files of that scope. */
SX_MUST_USE sx_status sx_named_einsum_at(const char *text, sx_place place, const sx_path_scope *scope,
                                         sx_network *out);

/* Whether a value of --problem or --graph is a network of the catalog, or a layer of one. */
bool sx_named_any_network(const sx_args *args);

/* Refuses --batch, --training, --training-step and the options of phases where no value of --problem is a network. */
SX_MUST_USE sx_status sx_named_check(const sx_args *args);

/* A problem as a network of one layer. */
SX_MUST_USE sx_status sx_named_single(const sx_problem *problem, sx_network *out);

/* The names of a network's layers while these are appended one after the other; all zero: none. `n` layers are entered,
 * whose names have zeros after them. */
typedef struct sx_layer_names {
    sx_hash_table table;
    size_t n;
} sx_layer_names;

/* Whether a layer of the network has the name; the layers after the first `n` are entered before. */
SX_MUST_USE sx_status sx_layer_names_find(sx_layer_names *names, const sx_network *network, const char *name,
                                          bool *found);
void sx_layer_names_fini(sx_layer_names *names);

/* Appends the layers of a network, called NETWORK/LAYER where they are more than a single problem; a name
 * that is taken gets a number. */
SX_MUST_USE sx_status sx_named_append(const sx_network *network, sx_layer_names *names, sx_network *out);

/* Appends the layers of one phase of a run, called PHASE/LAYER, and frees the network. */
SX_MUST_USE sx_status sx_named_append_phase(SX_TAKE sx_network *network, sx_phase phase, sx_network *out);

/* A copy. */
SX_MUST_USE sx_status sx_named_copy(const sx_network *network, sx_network *out);

#endif
