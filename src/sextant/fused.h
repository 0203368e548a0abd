/* A fused network: which tensors stay in the exchange memory from the layer that makes them to those that read them,
 * and what each layer costs then. */
#ifndef SX_FUSED_H
#define SX_FUSED_H

#include "sextant/certificate.h"
#include "sextant/independent.h"
#include "sextant/input.h"
#include "sextant/session.h"

/* A layer of the graph as it runs, in order. */
typedef struct sx_fused_layer {
    char name[SX_NAME_SIZE];             /* of the node */
    size_t layer;                        /* of the network */
    double repeat;                       /* how often it runs its einsum, unfused */
    uint8_t resident;                    /* its tensors in the exchange memory: a mask */
    uint64_t resident_words;             /* of the exchange memory that all that stays takes while it runs */
    uint64_t tile_words;                 /* and its own tiles */
    uint64_t second_words, second_tiles; /* the same of the second exchange memory */
    size_t group;                        /* SX_NO_INDEX: nothing of it is fused */
    sx_score score;                      /* of all runs */
    double bound;      /* proven lower bound of all runs, cut like this: a sum of roots of the objective */
    double dram_bytes; /* of all runs */
} sx_fused_layer;

/* A layer on one size of tile: the whole layer, or what of it runs in a step of a group. */
typedef struct sx_fused_run {
    size_t layer;                 /* in order */
    uint32_t rows;                /* of its output that it makes; 0: all, its group has no loops */
    bool again;                   /* its output adds to sums of steps before */
    uint8_t resident;             /* its tensors in the exchange memory: a mask */
    uint64_t occupied;            /* words of the exchange memory that all that stays takes */
    uint8_t second, second_level; /* tensors in the second memory, a mask; that level */
    uint64_t occupied_second;
    double times;       /* how often it runs */
    sx_score score;     /* of one run */
    double bound;       /* proven lower bound of one run: a root of the objective; 0: none */
    sx_problem problem; /* of the layer, with the sizes of the tile */
    sx_mapping mapping; /* where something stays, of the cut machine, with one level more */
} sx_fused_run;

/* A tensor that stays on chip, with what takes its place. */
typedef struct sx_fused_tensor {
    char name[SX_NAME_SIZE];
    size_t first, last; /* layers from the one that makes it to the last that needs it, in order */
    uint64_t words;     /* at most, of the exchange memory */
    double saved_bytes; /* to and from the outermost memory, against the unfused network */
    size_t group;
    int depth;      /* loops around it; 0: it stays whole */
    bool second;    /* it is in the second exchange memory */
    bool recompute; /* rows that steps share are made again; else they are kept */
    uint32_t rows_kept, rows_again;
} sx_fused_tensor;

/* A loop that the layers of a group share, over a dimension of the last of them. */
typedef struct sx_fused_loop {
    char dimension[SX_NAME_SIZE];
    uint32_t bound;
} sx_fused_loop;

enum { SX_MAX_HELD = 6, SX_WHY_SIZE = 512, SX_MAX_FUSED = 16, SX_MAX_ORDERS = 256 };

/* Layers that are joined by tensors on chip. */
typedef struct sx_fused_group {
    size_t first, last;    /* layers, in order */
    int n_loops;           /* 0: tensors stay whole */
    sx_fused_loop loop[4]; /* outermost first */
    bool one_pass;         /* a softmax between its layers runs by slices */
    bool recompute;        /* rows that windows of two steps share are made again; else they are kept */
    int n_held;            /* tensors from outside that are held on chip while the loops run */
    int n_sliced; /* how many of them, from the first on, are read by slices, each while the innermost loop runs */
    char held[SX_MAX_HELD][SX_NAME_SIZE];
    sx_score score, unfused; /* sums */
    double value, bound;     /* of the objective: as if the group were alone */
} sx_fused_group;

/* The best plan for a memory of another size, all else being equal. */
typedef struct sx_fused_size {
    uint64_t words;
    bool found, optimal;
    sx_score total;
    double dram_bytes, value, lower_bound;
    size_t n_tensors; /* that stay */
} sx_fused_size;

/* The tiles that layers have in the plans about which a claim is. */
typedef enum sx_fused_tiles {
    SX_FUSED_TILES_ASKED,  /* as asked for: those that divide, or any */
    SX_FUSED_TILES_DIVIDE, /* those that divide, though others were searched for layers alone */
    SX_FUSED_TILES_ANY,    /* any in layers alone, those that divide in others */
} sx_fused_tiles;

typedef struct sx_fused {
    char level[SX_NAME_SIZE];  /* the exchange memory */
    uint64_t capacity;         /* in words */
    char second[SX_NAME_SIZE]; /* the second exchange memory; "": there is none */
    uint64_t second_capacity, second_peak;
    bool found; /* there is a plan */
    bool given; /* it was evaluated, not searched: nothing is known of bounds and of the network unfused */
    char illegal[SX_WHY_SIZE];       /* of a given one: why it is none; "": it is legal */
    bool chosen;                     /* what stays was searched, not asked for */
    bool optimal;                    /* proven, of the plans that are searched (docs/fusion.md) */
    sx_fused_tiles tiles;            /* that layers of these plans have */
    bool stopped;                    /* by a signal or the time limit */
    double value, lower_bound;       /* of the objective, for the whole network */
    sx_score total, unfused;         /* steps on the vector unit included */
    sx_score vector, vector_unfused; /* of these, where the machine has one */
    double dram_bytes, dram_bytes_unfused;
    uint64_t peak; /* words of the exchange memory, tiles included */
    size_t n_layers, n_runs, n_tensors, n_groups;
    sx_fused_layer *layer;
    sx_fused_run *run; /* by layer, in order */
    sx_fused_tensor *tensor;
    sx_fused_group *group;
    size_t n_candidates; /* tensors that pass between layers, and could stay or not */
    size_t n_searches;   /* of cut layers */
    size_t n_orders;     /* of the einsums, that were tried */
    bool reordered;      /* they run in another order than the graph's own */
    size_t n_sizes;      /* of the exchange memory, largest first; 0: not asked for */
    sx_fused_size *size;
    bool sizes_stopped; /* the search was stopped before the smaller ones */
    size_t n_others;    /* the next best plans, in order */
    struct sx_fused **other;
    char *certificate; /* as JSON, where the search was one with proof; NULL: none */
    double seconds;
} sx_fused;

typedef struct sx_fusing_options {
    bool staircase;       /* also find the best plan for the half of the memory, a quarter, ... */
    const char *tensors;  /* "auto": as is best, "none": nothing, or names of the graph's with commas */
    const char *exchange; /* a level, or two with a comma between; NULL: the one inside the outermost */
    const char
        *window;   /* what becomes of rows that windows of two steps share: "retain", "recompute" or "best" */
    bool one_pass; /* a softmax may run by slices, with running maxima and sums */
    size_t k_best; /* how many plans are found; 0: one */
    int row_loops; /* that the layers of a group may share: 2, or else 1 */
    size_t orders; /* how many orders of the einsums are tried at most, where the graph leaves a choice */
    double gap;    /* stop where a plan is known that is at most that share above the lower bound */
} sx_fusing_options;

/* Refuses, before anything is searched, what cannot be fused, and says which part and why. */
SX_MUST_USE sx_status sx_session_fuse_check(const sx_graph *graph, const sx_network *network,
                                            const sx_arch *arch, const sx_session_options *options,
                                            const sx_fusing_options *fuse);

/* Fuses a graph, of which `network` are the layers and `unfused` their results in a session with these options. */
SX_MUST_USE sx_status sx_session_fuse(const sx_graph *graph, const sx_network *network, const sx_arch *arch,
                                      const sx_session_options *options, const sx_session_result *unfused,
                                      const sx_fusing_options *fuse, SX_OWN sx_fused **out);

/* Evaluates the fused mapping of a graph that an input holds as its section `fused`. An illegal one gives a reason,
 * no error. `steps`: layers are counted by execution, each in at most `steps` steps; 0: by the model. */
SX_MUST_USE sx_status sx_session_fused_read(const sx_graph *graph, const sx_network *network,
                                            const sx_arch *arch, const sx_session_options *options,
                                            const sx_input *input, uint64_t steps, SX_OWN sx_fused **out);

/* The claim of a fused network's certificate. */
typedef struct sx_fused_claim {
    char network[SX_NAME_SIZE], arch[SX_NAME_SIZE], objective[SX_NAME_SIZE], level[SX_NAME_SIZE];
    sx_score score; /* only energy and cycles */
    double value, lower_bound;
    bool optimal;
    size_t n_labels, n_groups; /* certificates of layers that are cut, groups that plans may have */
    size_t orders;             /* of the layers, at most; 0: the network's own */
    char tensors[4 * SX_NAME_SIZE], window[SX_NAME_SIZE]; /* as --fuse and --window have them */
} sx_fused_claim;

enum { SX_FUSED_CERTIFICATE_FORMAT = 1 };

/* Whether a text is the certificate of a fused network. */
bool sx_fused_certificate_is(const char *text, size_t size);

/* Checks every claim of such a certificate, `name` in errors: that its mapping costs what it says, that the certificates of cut
 * layers hold, and that no plan costs less than the lower bound if they do. alone: also without the rules of the search, and
 * *report says what came out of that; both NULL: not. */
SX_MUST_USE sx_status sx_fused_certificate_verify(const char *name, const char *text, size_t size,
                                                  const sx_verify_options *options,
                                                  const sx_independent_options *alone, sx_fused_claim *claim,
                                                  sx_verification *out, sx_independent_report *report);

/* Writes a fused network as a section `fused`, which sx_session_fused_read reads. */
SX_MUST_USE sx_status sx_session_fused_write(const sx_fused *fused, const char *network, const sx_arch *arch,
                                             sx_format format, SX_OWN char **out);
void sx_fused_free(SX_TAKE sx_fused *fused);

#endif
