/* An architecture: a hierarchy of storage levels over an array of compute units. */
#ifndef SX_ARCH_H
#define SX_ARCH_H

#include "sextant/sparse.h"

#define SX_MAX_LEVELS 24
#define SX_UNLIMITED UINT64_MAX             /* entries of a level without a capacity */
#define SX_MAX_CAPACITY (UINT64_C(1) << 40) /* of one with a capacity */

/* The durations a cycle may have, in seconds. */
#define SX_MIN_CYCLE 1e-15
#define SX_MAX_CYCLE 1.0

typedef enum sx_technology { SX_SRAM, SX_DRAM } sx_technology;

/* A number attached to a tensor by name: an architecture does not know the problem's tensors. */
typedef struct sx_tensor_scale {
    char tensor[SX_NAME_SIZE];
    double scale;
} sx_tensor_scale;

/* Accesses of a level: words brought outward in, inward out, and added from inside. */
enum { SX_READ, SX_FILL, SX_UPDATE, SX_N_ACCESSES };

/* What becomes of an access: it takes place, is gated (no energy, but its time) or skipped (neither). */
enum { SX_RANDOM, SX_GATED, SX_SKIPPED, SX_N_ACTION_KINDS };

/* What a level has for sparse tensors. Energies are pJ: per vector of `block_size` words for data, per
 * `metadata_width` bits for metadata. */
typedef struct sx_metadata_store {
    uint32_t word_bits; /* of a rank's metadata and payload where its format says nothing; 0: free */
    uint32_t width;     /* bits of a vector of metadata */
    uint64_t depth;     /* vectors */
    bool decompresses;  /* takes compressed tiles from outside and holds them uncompressed */
    bool compresses;    /* hands uncompressed outputs to a level that holds them compressed */
    double data_energy[SX_N_ACTION_KINDS]
                      [SX_N_ACCESSES]; /* of gated and skipped accesses; random ones: 0 here */
    double metadata_energy[SX_N_ACTION_KINDS][SX_N_ACCESSES];
    double decompression_energy, compression_energy; /* per word */
} sx_metadata_store;

#define SX_MAX_LAWS 4   /* levels of an architecture that launch tiles */
#define SX_MAX_CACHES 4 /* behind the port of such a level */
#define SX_MAX_ARRAY 4  /* dimensions that lie on an array */
#define SX_LAYOUT_SIZE 64

/* A cache behind the port of a level: its size, and the cycles that a missed line takes. */
typedef struct sx_law_cache {
    double bytes, ways, miss;
} sx_law_cache;

/* The law of the tile pipeline at a level whose temporal loops launch tiles (docs/latency.md). Times are cycles, sizes
 * bytes; without a key the field has the value in brackets. */
typedef struct sx_law {
    bool tail;    /* the first fill and the last drain are not hidden [false] */
    bool refetch; /* every launch moves every operand [false: as many words as the loops need] */
    bool spill;   /* with refetch: partial sums that leave and come back are counted [false] */
    double slots; /* tiles in flight [INFINITY] */
    double exposed, launch, start;         /* share of hidden work that shows; between launches; once [0] */
    double load_bus;                       /* bytes per cycle [0: the bandwidth] */
    double load_request, load_min;         /* bytes at a time [INFINITY] and what each takes at least [0] */
    double store_request;                  /* bytes at a time [INFINITY] */
    double store_time;                     /* of a request, without one of a byte [0: by the bandwidth] */
    double line, soft, write_factor;       /* of the caches [64, INFINITY, 1] */
    double rows, min_rows, preload, issue; /* of the array [1, 0, 0, 0] */
    double page, page_time; /* bytes of a page, and cycles of each that a tile touches [4096, 0] */
    uint8_t n_caches, n_array, n_layouts;
    sx_law_cache cache[SX_MAX_CACHES];
    struct sx_law_array {
        char dim[SX_NAME_SIZE];
        uint32_t size;
    } array[SX_MAX_ARRAY];
    char stream[SX_NAME_SIZE]; /* the dimension along which instructions stream; "": there is no array */
    struct sx_law_layout {
        char tensor[SX_NAME_SIZE];
        char dims[SX_LAYOUT_SIZE]; /* one of each rank, outermost in memory first, with spaces */
    } layout[SX_MAX_TENSORS];
} sx_law;

/* One storage level and the network that joins it to the next inner one. Energies are picojoules: per vector
 * access (block_size words) for read, fill and update, per instance and cycle for leakage. Bandwidths are
 * words per cycle and instance, INFINITY where there is no limit. */
typedef struct sx_storage {
    char name[SX_NAME_SIZE];
    sx_technology technology;
    uint64_t instances, mesh_x, mesh_y; /* instances == mesh_x * mesh_y */
    uint64_t entries;                   /* words per instance, or SX_UNLIMITED */
    uint32_t word_bits, block_size, cluster_size;
    uint32_t banks; /* of Mind Mappings: tensors share the level by whole banks, each with the full bandwidth;
                       0: freely */
    double
        multiple_buffering; /* only entries / multiple_buffering words hold a tile; below 1: more than there are */
    double min_utilization; /* 0..1 */
    double read_bandwidth, write_bandwidth, shared_bandwidth;
    double read_energy, fill_energy, update_energy, leak_energy;
    double addr_gen_energy;   /* per address generated; 0 without */
    bool reduction_supported; /* adds partial sums in place; false for DRAM unless said */
    bool transparent;         /* a fan-out only: never keeps a tensor */
    int8_t power_gated_at;    /* level that gates this one's leakage; -1: itself */
    uint8_t n_keeps;          /* tensors this level is built for, by name; 0: any */
    uint8_t n_bypasses;       /* tensors this level never keeps, by name */
    uint8_t n_scales;
    char keeps[SX_MAX_TENSORS][SX_NAME_SIZE];
    char bypasses[SX_MAX_TENSORS][SX_NAME_SIZE];
    sx_tensor_scale
        bandwidth_scale[SX_MAX_TENSORS]; /* multiplies a tensor's bandwidth use; 1 where not named */
    double area;                         /* um^2 of an instance; 0: not given */
    /* the network between this level and the next inner one */
    double energy_per_hop, router_energy;
    uint64_t fill_latency, drain_latency; /* cycles */
    sx_metadata_store metadata;
    uint8_t law;   /* number of its law in the architecture, from 1; 0: it launches no tiles */
    bool unpriced; /* no energy of it is known: its accesses count 0 */
} sx_storage;

typedef struct sx_compute {
    char name[SX_NAME_SIZE];
    uint64_t instances, mesh_x, mesh_y;
    uint32_t word_bits;
    double energy;                       /* pJ per multiply-accumulate */
    double gated_energy, skipped_energy; /* the same of one that is gated or skipped; below 0: as any,
                                            but 0 by Timeloop's semantics */
    double area;                         /* um^2 of an instance; 0: not given */
    bool unpriced;                       /* no energy of it is known: computes count 0 */
} sx_compute;

/* The unit for what is no sum of products: softmax, normalisations, activation functions, additions. It reads and writes
 * the outermost level (docs/llm.md). */
typedef struct sx_vector_unit {
    double lanes;  /* operations per cycle; 0: there is no unit, and such operations cost nothing */
    double energy; /* pJ per operation */
    double exp;    /* operations that an exponential takes */
    uint64_t row; /* elements of a row that stay at hand between passes; 0: what the next inner level holds */
    uint32_t
        passes; /* 3: softmax reads a long row for its maximum, its sum and its result; 1: once less (online) */
} sx_vector_unit;

/* Plain data, zero-padded. level[0] is the innermost storage, level[n_levels-1] the backing store. */
typedef struct sx_arch {
    char name[SX_NAME_SIZE];
    uint8_t n_levels;
    sx_compute compute;
    sx_storage level[SX_MAX_LEVELS];
    uint8_t n_laws;
    sx_law law[SX_MAX_LAWS];
    sx_sparse sparse;
    double cycle_seconds; /* 0: not given; costs are in cycles and do not depend on it */
    sx_vector_unit vector;
} sx_arch;

/* A level and a compute unit with every default: one instance, unlimited, 16-bit words, blocks of 1, no
 * energy. */
void sx_storage_init(sx_storage *level);

/* How many children each instance of a level has in X and in Y. */
uint64_t sx_arch_fanout_x(const sx_arch *arch, int level);
uint64_t sx_arch_fanout_y(const sx_arch *arch, int level);
void sx_compute_init(sx_compute *compute);

/* Refuses an architecture that breaks a rule: limits, names, instances that are not mesh_x * mesh_y, a mesh
 * that is not a multiple of the next outer one's, negative or non-finite numbers. */
SX_MUST_USE sx_status sx_arch_check(const sx_arch *arch);

/* The tensors of a problem that a level is built to keep, as a bit mask (level constraints resolved by name).
 */
uint8_t sx_arch_keep_mask(const sx_arch *arch, int level, const sx_problem *problem);

/* Visits the tensors that an architecture names: those of its levels, outermost first, with the level's name, and
 * those of its sparse optimizations with NULL. A name may come several times. */
typedef void sx_visit_tensor(void *user, const char *name, const char *level);
void sx_arch_visit_tensors(const sx_arch *arch, sx_visit_tensor *visit, void *user);

/* The public PAT formulas (Timeloop's default technology table), pJ. */
double sx_pat_sram(double kilobytes, double width_bits);
double sx_pat_dram(double width_bits);
double sx_pat_mac(double word_bits);

#endif
