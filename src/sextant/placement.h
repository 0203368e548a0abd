/* Placing a network's tensors in the memories of a chip: which memory holds the weights and the output of each
 * node. docs/placement.md has the model and the file formats. */
#ifndef SX_PLACEMENT_H
#define SX_PLACEMENT_H

#include "sextant/graph.h"
#include "sextant/space.h"

#define SX_MAX_MEMORIES 16

/* Classes of operations, each with a compute rate of its own. */
typedef enum sx_op_class {
    SX_CLASS_CONVOLUTION,
    SX_CLASS_DEPTHWISE,
    SX_CLASS_MATMUL,
    SX_CLASS_POOL,
    SX_CLASS_ELEMENT_WISE,
    SX_CLASS_SOFTMAX,
    SX_CLASS_NORM,
    SX_CLASS_OTHER, /* lookups, slices, changes of layout */
    SX_N_OP_CLASSES,
} sx_op_class;

/* The name of a class, such as "element-wise"; NULL past the last. */
const char *sx_op_class_name(sx_op_class which);

typedef struct sx_chip_memory {
    char name[SX_NAME_SIZE];
    uint64_t capacity; /* bytes */
    double bandwidth;  /* bytes per second */
    double energy;     /* pJ per byte */
} sx_chip_memory;

/* A chip: memories from slow to fast, and how fast it computes. */
typedef struct sx_chip {
    char name[SX_NAME_SIZE];
    size_t n_memories;
    sx_chip_memory memory[SX_MAX_MEMORIES];
    double rate[SX_N_OP_CLASSES]; /* operations per second: multiply-accumulates, or elements */
    double op_energy;             /* pJ per operation */
    double overhead;              /* seconds per node */
    bool shared_ports;            /* transfers of one node follow each other, whatever the memory */
    uint64_t output_buffer;       /* bytes of output for which weights are read once; 0: for all of it */
    uint64_t prefetch; /* bytes of the slowest memory's weights that may be read ahead; 0: none are */
} sx_chip;

/* The built-in chips: entry `index`, its name and a line about it; NULL past the last. */
const char *sx_catalog_chip_name(size_t index, const char **about);
SX_MUST_USE sx_status sx_catalog_chip(const char *name, sx_chip *out);

/* The `chip` section of a YAML or JSON file, or of text as if it were the file `name`. */
SX_MUST_USE sx_status sx_chip_read(const char *path, sx_chip *out);
SX_MUST_USE sx_status sx_chip_parse(const char *name, const char *text, size_t size, sx_chip *out);

/* Refuses a chip that breaks a rule: no memory, one of 0 bytes, memories that are not in the order of their
 * bandwidths, rates that are not positive. */
SX_MUST_USE sx_status sx_chip_check(const sx_chip *chip);

/* The features of a node of Table 1 of the EGRL paper, in its order. */
enum { SX_N_PLACE_FEATURES = 19 };

/* A node of a placement graph. It runs at the step of its index. */
typedef struct sx_place_node {
    char name[SX_NAME_SIZE];
    sx_op_class op;
    uint64_t ops;              /* multiply-accumulates, or elements */
    uint64_t weight_bytes;     /* that occupy a memory; 0: no weights */
    uint64_t weight_read;      /* that one inference reads: of a table, the rows looked up */
    uint64_t activation_bytes; /* of its output */
    size_t first_input, n_inputs;
    size_t first_user, n_users;
    size_t last; /* the last step that reads its output; its own where none does */
    double feature[SX_N_PLACE_FEATURES];
} sx_place_node;

/* A placement graph: nodes in the order in which they run. */
typedef struct sx_place_graph {
    char name[SX_NAME_SIZE];
    size_t n_nodes, n_edges;
    sx_place_node *node;
    size_t *input; /* n_edges: the nodes whose outputs a node reads */
    size_t *user;  /* n_edges: the nodes that read a node's output */
} sx_place_graph;

/* The placement graph of a graph. bytes: of an element, 0: as the graph says. operators: dense layers,
 * attention and masks are split into the operators of a framework (BERT's 376). *out is freed with
 * sx_place_graph_fini. */
SX_MUST_USE sx_status sx_place_graph_of(const sx_graph *graph, uint32_t bytes, bool operators,
                                        sx_place_graph *out);
/* That of a network of the catalog, or of `bert`, which is bert-base-128; the BERTs are split. */
SX_MUST_USE sx_status sx_catalog_place_graph(const char *name, uint32_t batch, uint32_t bytes,
                                             sx_place_graph *out);
void sx_place_graph_fini(sx_place_graph *graph);

/* A placement is a byte for each tensor, the number of its memory: 2 * node for the weights of a node, and
 * 2 * node + 1 for its output. Tensors of 0 bytes are in memory 0. */

/* What a placement comes to. */
typedef struct sx_placement_cost {
    bool valid;     /* it fits at every step */
    double latency; /* seconds; of the placement as it is, whether it fits or not */
    double energy;  /* pJ */
    double error;   /* bytes that the rectifier moves / bytes of all tensors */
} sx_placement_cost;

/* The space of all placements of a graph on a chip; it copies both. A graph that does not fit into the slowest
 * memory is an error. Its metrics are energy and latency. */
SX_MUST_USE sx_status sx_placement_space_new(const sx_place_graph *graph, const sx_chip *chip,
                                             SX_OWN sx_space **out);

/* The cost of a placement; a placement has sx_space_point_size bytes, those after the last tensor 0. */
void sx_placement_evaluate(const sx_space *space, const uint8_t *placement, sx_placement_cost *out);

/* Moves tensors to slower memories until the placement fits, by the fixed rule; returns the bytes moved. */
uint64_t sx_placement_rectify(const sx_space *space, uint8_t *placement);

/* The latency by the rule of a simple compiler, which is the baseline of speedups and rewards: outputs in the order of the
 * nodes, then weights, each in the fastest memory where it fits beside what is placed already. */
double sx_placement_baseline(const sx_space *space);

#endif
