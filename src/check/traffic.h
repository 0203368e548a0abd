/* What a level hands to its children, and what each level reads, fills and updates. */
#ifndef SX_CHECK_TRAFFIC_H
#define SX_CHECK_TRAFFIC_H

#include "check/fetch.h"
#include "check/siblings.h"

enum { SX_CHECK_RECORDS = 64 };

/* Accesses that each serve `size` children, made by `count` groups at a time. */
typedef struct sx_check_record {
    int64_t size, count;
    sx_wide accesses, half_hops;
} sx_check_record;

/* What one instance of a level hands to its children of one tensor; with remainders, all instances to all children, which
 * count as one. */
typedef struct sx_check_flow {
    sx_wide accesses;  /* that its children make */
    sx_wide delivered; /* words that they receive from it, each child counted */
    sx_wide links;     /* words that they exchange */
    int64_t children;
    int n_terms; /* kinds of groups that deliver words */
    int n_records;
    bool unlisted; /* there are more records, of a network that costs no energy */
    sx_check_record record[SX_CHECK_RECORDS];
} sx_check_flow;

/* A number that is not negative; den > 0. */
typedef struct sx_check_fraction {
    sx_wide num, den;
} sx_check_fraction;

/* Counts of one instance of a level, or of all together, of one tensor. */
typedef struct sx_check_counts {
    int64_t access[SX_N_ACCESSES];
    int64_t among; /* instances whose counts these are together: 1, with remainders all in use */
    bool
        edge[SX_N_ACCESSES]; /* doubles, which cannot hold the fractions that make it, may come to one less */
    bool less[SX_N_ACCESSES]; /* they do: the model's own steps in doubles come to one less */
    bool open;                /* `less` is not known of some edge: too many words, or groups */
    double factor;            /* the share, as the model's doubles have it; NaN: not known */
    sx_check_fraction share;  /* what the level makes of its flow's accesses, for levels that it bypasses */
    int64_t partition;        /* 0 where the level does not keep the tensor */
    bool binary;              /* doubles hold the share, and all that it is made of */
    bool linked;              /* its flow's links are used */
    bool flows;               /* it has a flow of the tensor at all */
} sx_check_counts;

/* What level s hands to its children of a tensor; false where it is too much to list or to count, as `doubt` says. */
bool sx_check_flow_count(const sx_check_case *c, const sx_check_nest *nest, const sx_mapping *mapping,
                         int tensor, int s, sx_check_memory *memory, sx_check_flow *out,
                         sx_check_doubt *doubt);

/* The counts of all levels; false where they do not fit. */
bool sx_check_collapse(const sx_check_case *c, const sx_check_nest *nest, const sx_mapping *mapping,
                       int tensor, const sx_check_flow *flow, sx_check_counts *out, sx_check_doubt *doubt);

#endif
