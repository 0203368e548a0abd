/* An architecture in the making: what the readers of the three dialects have in common. Levels are added in
 * the order of the text and put innermost first at the end, when energies and references by name are settled.
 */
#ifndef SX_FRONTEND_TIMELOOP_ARCH_BUILDER_H
#define SX_FRONTEND_TIMELOOP_ARCH_BUILDER_H

#include "frontend/keys.h"
#include "frontend/timeloop/attributes.h"

/* Where the energies of a component come from. */
typedef enum sx_energy_source {
    SX_BY_FORMULA, /* Timeloop's */
    SX_BY_ESTIMATE,
    SX_UNPRICED, /* 0, as none is known */
    SX_BY_CLASS, /* 0 */
    SX_BY_ARCH,
    SX_BY_ERT,
    SX_N_ENERGY_SOURCES
} sx_energy_source;

/* The keys by which levels name networks: a level's reads are the fills of the next one inside, whose drains are its
 * updates; a compute unit has operands and results instead of fills and drains. */
enum { SX_READS, SX_FILLS, SX_DRAINS, SX_UPDATES, SX_N_CONNECTORS };

/* A network that is a component of its own. */
typedef struct sx_named_network {
    char name[SX_NAME_SIZE], class[SX_NAME_SIZE];
    sx_place place;
    const sx_node *attributes; /* its own; NULL: none */
    bool legacy;               /* XY_NoC or Legacy: like those that are inferred */
    bool shares, late;         /* of type M:N; with latencies */
    bool hop_given, tile_given, router_given;
    double energy_per_hop, router_energy, wire_energy, tile_width;
    uint32_t bits;
    int level; /* whose network it is; -1: none's */
} sx_named_network;

/* What is known of a level until its energies and references are settled. */
typedef struct sx_level_draft {
    sx_place place;
    const sx_pair *gate; /* power_gated_at */
    const sx_node
        *rate[3]; /* bandwidths of reads, writes and both that are words per second so far; NULL: per cycle */
    bool energy_given; /* vector_access_energy */
    bool leak_given;   /* its own leakage, which the ERT does not replace */
    sx_energy_source source;
    bool hop_given;                /* energy_per_hop */
    bool tile_given, router_given; /* tile_width, router_energy */
    double wire_energy;            /* pJ per bit and mm */
    double tile_width;             /* um */
    uint32_t network_bits;
    const sx_pair *network[SX_N_CONNECTORS]; /* networks by name; NULL: inferred */
    const sx_node *sparse;                   /* sparse optimizations written beside the level; NULL: none */
    sx_component component;
    char class[SX_NAME_SIZE];
    bool scaled;  /* energy_scale is not 1 */
    bool assumed; /* of no known class, but counted as a memory of Timeloop's */
    bool empty;   /* its size is 0: transparent, and not the outermost */
} sx_level_draft;

enum { SX_MAX_EXTRA = 16 };

typedef struct sx_arch_builder {
    sx_input *input;
    sx_place place;
    bool defaults_v4; /* cluster size 1, partial sums added in place everywhere */
    bool has_compute, compute_energy_given, compute_scaled;
    sx_energy_source compute_source;
    const sx_node *compute_sparse; /* those beside the compute unit, and those of the whole architecture */
    const sx_node *sparse;
    double node; /* nm: of the subtrees so far; 0: not stated */
    sx_estimator estimator;
    sx_component compute;
    sx_place compute_place;
    bool compute_assumed;
    char compute_class[SX_NAME_SIZE];
    int n_extra; /* adders, wires and other components that are neither storage nor compute units */
    sx_estimated_component extra[SX_MAX_EXTRA];
    int n_networks;
    sx_named_network networks[SX_MAX_EXTRA];
    const sx_pair *compute_network[SX_N_CONNECTORS];
    sx_arch arch;
    sx_level_draft draft[SX_MAX_LEVELS];
} sx_arch_builder;

/* A storage level or compute unit as the dialects hand it over. */
typedef struct sx_arch_component {
    const char *name;
    size_t name_size;     /* bytes of the name, without its range */
    const char *class;    /* NULL where the dialect has none */
    const char *subclass; /* NULL where there is none */
    const sx_node *scale; /* energy_scale beside its attributes; NULL where there is none */
    sx_place place;
    const sx_attribute_scope *attributes;
    uint64_t instances;      /* 0: only the attributes say */
    uint64_t mesh_x, mesh_y; /* 0: the attributes may say */
} sx_arch_component;

/* The rules for the keys of a storage level's and of a compute unit's attributes; the flat dialect, where
 * they stand beside the name, has a few more. A container's are those that components inherit. */
sx_keys sx_storage_keys(bool flat);
sx_keys sx_container_keys(void);
sx_keys sx_compute_keys(bool flat);

/* What a component's class makes of it: a part of the name decides, as in Timeloop; a vector unit's is `vector`. */
typedef enum sx_role {
    SX_ROLE_STORAGE,
    SX_ROLE_COMPUTE,
    SX_ROLE_VECTOR,
    SX_ROLE_NETWORK,
    SX_ROLE_NOTHING,
    SX_ROLE_NONE
} sx_role;
sx_role sx_class_role(const char *class);

/* The known class that another is a slip of, numbers at its end aside; NULL where it is known itself, the input defines it, or
 * none is near. */
const char *sx_class_meant(const sx_input *input, const char *class);

/* The error for a class that is none. */
SX_ERROR sx_status sx_class_unknown(const sx_input *input, const sx_node *class);

/* The number of instances a name stands for, such as 14 for "PE[0..13]" and 1 without a range; *size becomes
 * the length of the name proper. */
SX_MUST_USE sx_status sx_name_range(const sx_node *node, const char *name, size_t *size, uint64_t *instances);

/* Adds a storage level, or only its fan-out: a level that keeps nothing. *out is the level within the
 * builder, valid until sx_builder_finish. */
SX_MUST_USE sx_status sx_builder_storage(sx_arch_builder *builder, const sx_arch_component *element,
                                         sx_storage **out);
SX_MUST_USE sx_status sx_builder_fanout(sx_arch_builder *builder, const sx_arch_component *element);

/* Reads the law of the tile pipeline of a level, where its attribute `latency` is a map. */
SX_MUST_USE sx_status sx_builder_law(sx_arch_builder *builder, const sx_arch_component *element,
                                     sx_storage *level);

/* Describes a component for estimates: its kind by its class (or `kind`, where it has none), its process node, banks, ports,
 * and the widths of operators. Width and depth are the caller's. */
SX_MUST_USE sx_status sx_builder_describe(sx_arch_builder *builder, const sx_arch_component *element,
                                          sx_component_kind kind, sx_component *out,
                                          char class[SX_NAME_SIZE]);

/* Keeps a component that is neither storage nor a compute unit, for its estimate, where its class has one. */
SX_MUST_USE sx_status sx_builder_extra(sx_arch_builder *builder, const sx_arch_component *element);

/* Keeps the names of networks that a level or compute unit has; adds a component that is a network; gives levels the
 * networks that they and the next ones inside name. What is not modelled is a warning, with --like timeloop an error. */
SX_MUST_USE sx_status sx_builder_connect(const sx_arch_component *element, bool compute,
                                         const sx_pair **network);
SX_MUST_USE sx_status sx_builder_network(sx_arch_builder *builder, const sx_arch_component *element);
SX_MUST_USE sx_status sx_builder_settle_networks(sx_arch_builder *builder);

/* The process node that an attribute `technology` states, in nm: 45nm or 45; 0 where it states none. */
SX_MUST_USE sx_status sx_process_node(const sx_node *value, double *out);

/* Settles by whose rules energies are estimated, and describes sizes; then the energies, leakage and area of a level (all
 * instances of a cluster share one access) and of the compute unit. */
void sx_builder_settle_estimator(sx_arch_builder *builder);
void sx_builder_estimate_level(sx_arch_builder *builder, int level);
void sx_builder_estimate_compute(sx_arch_builder *builder, bool with_area);

/* Estimates the network inside a level whose energies are estimates: *wire, pJ of a bit and mm, where the length of a hop is
 * stated, and a router's energy where the architecture has a component of that kind. */
void sx_builder_estimate_network(sx_arch_builder *builder, int level, double *wire);

/* Hands the estimates of all components to the input. */
SX_MUST_USE sx_status sx_builder_tell_components(sx_arch_builder *builder);

/* Adds the compute unit; there is exactly one. */
SX_MUST_USE sx_status sx_builder_compute(sx_arch_builder *builder, const sx_arch_component *element);

/* The key of the duration of a cycle. */
#define SX_CYCLE_KEY "global_cycle_seconds"

/* Sets the duration of a cycle, which must be the one that was set before. */
SX_MUST_USE sx_status sx_builder_clock(sx_arch_builder *builder, sx_place place, double seconds);

/* Sets the areas of the `ART` section, Accelergy's area reference table, where there is one. */
SX_MUST_USE sx_status sx_builder_areas(sx_arch_builder *builder);

/* Settles names, energies and constraints, checks the whole and hands it over. */
SX_MUST_USE sx_status sx_builder_finish(sx_arch_builder *builder, bool outermost_first, sx_arch *out);

/* Reads the vector unit from its attributes: lanes of each of `instances`, and what may be left out. There is one at most: a
 * map `vector` beside the rest in every dialect, or a component of class `vector` in a tree. */
SX_MUST_USE sx_status sx_arch_read_vector(sx_arch_builder *builder, const sx_node *map,
                                          const sx_attribute_scope *variables, uint64_t instances);

/* The dialects: each fills a builder from the `arch` or `architecture` section. */
SX_MUST_USE sx_status sx_arch_read_flat(sx_arch_builder *builder, const sx_node *arch,
                                        const sx_attribute_scope *variables);
SX_MUST_USE sx_status sx_arch_read_v3(sx_arch_builder *builder, const sx_node *arch,
                                      const sx_attribute_scope *variables);
SX_MUST_USE sx_status sx_arch_read_v4(sx_arch_builder *builder, const sx_node *arch,
                                      const sx_attribute_scope *variables);

#endif
