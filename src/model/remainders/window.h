/* Remainders under sliding windows by dynamic programming: what the files fast_window*.c share. */
#ifndef SX_MODEL_REMAINDERS_WINDOW_H
#define SX_MODEL_REMAINDERS_WINDOW_H

#include "model/remainders/multicast.h"

enum {
    SX_WINDOW_CLASSES = 256,
    SX_WINDOW_STEPS = 255,
    SX_WINDOW_PIECES = 255,
    SX_WINDOW_WHOLES = 64,
    SX_WINDOW_VISITS = 64,
    SX_WINDOW_TILES = 64, /* a power of two */
    SX_WINDOW_PLACES = 8, /* spatial loops above the children whose places fit into a key */
    SX_WINDOW_OFF = SX_IDLE + 1,
    SX_WINDOW_LOOPS = 2 * SX_MAX_LEVELS
};

/* Words over some visits: accesses of the level, deliveries to its children, and words handed over links. */
typedef struct sx_window_sums {
    double accesses, deliveries, links;
} sx_window_sums;

/* A block of visits with a dimension at the edge, as one kind of child sees it: where its last tile stands
 * (as an iteration of the dimension, from the block's start), which tiles are cut, and whether it has none. */
typedef struct sx_window_edge {
    int32_t end, first, last; /* first, last: how far the first tile reaches beyond its start, and the last */
    bool end_rest, start_rest, empty;
} sx_window_edge;

/* A loop outside the children: temporal, or spatial above the parent with the parent's place in it. */
typedef struct sx_window_item {
    const sx_loop *loop;
    bool spatial;
    uint8_t place;
} sx_window_item;

/* One dimension outside the children. Index k: inside the k innermost items on it. */
typedef struct sx_window_dim {
    uint32_t bit;       /* in sets of dimensions at the edge; 0 where factors divide */
    int64_t full, rest; /* extents of a tile, inside and at the edge */
    bool spread;        /* children are in several places of it */
    int n;
    uint8_t item[SX_WINDOW_LOOPS];
    sx_window_edge edge[SX_WINDOW_OFF + 1][SX_WINDOW_LOOPS + 1]; /* per place of the child; off the edge */
} sx_window_dim;

/* A child's tile in one rank, and the one before it, seen from where the tile stands. */
typedef struct sx_window_reach {
    uint64_t key;
    int64_t low, high, held_low, held_high;
    int64_t moved, step;  /* step: of the tile's middle, rounded with halves away from zero */
    uint64_t words, kept; /* kept: held already */
} sx_window_reach;

/* Children in the same places of all spatial loops that leave remainders. */
typedef struct sx_window_class {
    uint8_t place[SX_MAX_DIMS];
    uint32_t on, idle; /* the dimensions whose place is SX_ON, and SX_IDLE */
    double children;   /* of one parent */
    double sites;      /* the same, with those counted once that agree in the loops that index the tensor */
} sx_window_class;

/* The places of children in a spatial loop: runs of its iterations. */
typedef struct sx_window_spread {
    unsigned n, weight; /* weight: of a place in the number of a class */
    uint8_t place[3];
    uint32_t start[3], count[3];
} sx_window_spread;

/* A class next to another on the mesh, and how far its tile stands from it. */
typedef struct sx_window_pair {
    uint16_t class, neighbour;
    int64_t apart[SX_MAX_RANKS];
} sx_window_pair;

/* The children one by one: where each stands, its class, and what it fetches and fetched, each in one number. */
typedef struct sx_window_list {
    bool ready;
    int64_t radix[SX_MAX_RANKS]; /* of a rank in the number of a place */
    uint16_t *class_of;
    int64_t *at, *now, *before;
    struct sx_window_group {
        int64_t what;
        uint32_t visit;     /* of the last use */
        uint32_t all, left; /* members, and those that no neighbour serves */
        uint64_t words;
    } * group;             /* a hash table */
    uint32_t *used;        /* groups of this visit */
    size_t room, n_groups; /* children there is room for; of the hash table */
    uint32_t visit;
} sx_window_list;

/* What children share at a visit, by what they fetch and fetched. */
typedef struct sx_window_shared {
    uint32_t count; /* the level and tensor it is of */
    uint8_t now[32], before[32];
    int64_t moved[SX_MAX_RANKS];
    sx_window_sums sums;
} sx_window_shared;

/* The result of a block of visits, or of one visit, from a state. */
typedef struct sx_window_result {
    uint64_t key;
    uint32_t after;
    sx_window_sums sums;
} sx_window_result;

/* Results in the order in which they came, and a hash table of their numbers plus 1. */
typedef struct sx_window_memo {
    sx_window_result *result;
    uint32_t *slot;
    size_t n, room, slots, slot_room; /* slots: in use, a power of two */
} sx_window_memo;

/* A visit at which tiles are fetched anew: the dimensions whose last tile is held before it and at it, and how far the
 * tiles move; what is handed out. */
typedef struct sx_window_whole_visit {
    uint32_t before, now;
    int64_t moved[SX_MAX_RANKS];
    sx_window_sums sums;
} sx_window_whole_visit;

struct sx_window_dp {
    sx_model_workspace *workspace;
    const sx_shape *shape;
    int level;
    bool always;   /* tiles are fetched anew at every visit */
    bool links;    /* neighbours may hand over words */
    bool pieces;   /* what was fetched matters, not only how much */
    bool wary;     /* a tile fetched anew that was held whole might come from a neighbour */
    bool doubtful; /* there was such a tile: classes must be counted together */
    bool failed;
    sx_window_item item[2 * MAX_LOOPS];
    int n_items, n_placed;               /* placed: spatial ones */
    uint32_t matters[2 * MAX_LOOPS + 1]; /* dimensions whose edge is seen inside the j innermost items */
    uint32_t dead[2 * MAX_LOOPS + 1];    /* dimensions at whose edge the parent is idle there */
    uint32_t starts[2 * MAX_LOOPS +
                    1]; /* at whose edge the block's first tile is the last one: children beyond are idle */
    uint32_t ends[2 * MAX_LOOPS + 1]; /* at whose edge the block's last tile is the last one */
    uint32_t config[2 * MAX_LOOPS +
                    1]; /* the parent's places in the spatial loops among the j innermost, as a number */
    uint8_t inside[2 * MAX_LOOPS + 1][SX_MAX_DIMS]; /* items of a dimension among the j innermost */
    sx_window_dim dim[SX_MAX_DIMS];
    uint32_t spread_ranks; /* ranks of dimensions that children are in several places of */
    uint16_t rank_dims[SX_MAX_RANKS];
    uint8_t turned[SX_MAX_RANKS][2 * MAX_LOOPS + 1]; /* items of a rank's dimensions among the j innermost */
    uint32_t round;
    sx_window_reach tile[SX_MAX_RANKS][SX_WINDOW_TILES];
    uint32_t cut; /* dimensions of the tensor whose last tile is smaller */
    int n_relevant;
    uint8_t relevant[SX_MAX_DIMS];
    bool descends; /* a coefficient is negative: tiles do not begin where they stand */
    uint32_t all;  /* dimensions that leave remainders */
    uint32_t seen; /* those of them whose edge changes where tiles stand, or who has one */
    /* children */
    sx_fanout slot;
    sx_window_spread spread[SX_MAX_DIMS]; /* per loop of the slot */
    sx_window_class class[SX_WINDOW_CLASSES];
    int first, end; /* classes of this run */
    int n_classes,
        n_alike;  /* alike: consecutive classes that differ only in loops that do not index the tensor */
    bool aligned; /* pairs are set */
    sx_window_pair *pair;
    size_t n_pairs, pair_room;
    sx_window_list list;
    /* last steps, and pieces fetched, numbered from 1; states: of each class, step | piece << 8 */
    int n_steps, n_pieces;
    uint64_t step_hash[SX_WINDOW_STEPS + 1], piece_words[SX_WINDOW_PIECES + 1];
    int64_t step[SX_WINDOW_STEPS + 1][SX_MAX_RANKS];
    sx_box_delta piece[SX_WINDOW_PIECES + 1];
    uint8_t shape_of[SX_WINDOW_PIECES + 1];
    int n_wholes;
    struct {
        uint32_t cut;
        uint8_t piece;
    } whole[SX_WINDOW_WHOLES]; /* whole tiles, by the dimensions that cut them */
    uint16_t *state;
    uint64_t *state_hash;
    size_t n_states, state_room, hash_room;
    /* the visit at hand */
    uint16_t old[SX_WINDOW_CLASSES], new[SX_WINDOW_CLASSES];
    uint8_t now[SX_WINDOW_CLASSES], before[SX_WINDOW_CLASSES]; /* pieces */
    uint64_t words[SX_WINDOW_CLASSES];
    int64_t moved[SX_MAX_RANKS]; /* of the parent's tiles since the visit before */
    /* results */
    sx_window_memo memo;
    sx_window_whole_visit visit[SX_WINDOW_VISITS];
    int n_visits;
    sx_window_shared *shared;
    uint32_t count;
};

/* Counts what a level hands to its children of a tensor, over all instances; false if that is not covered. */
bool sx_window_count(sx_model_workspace *workspace, const sx_mapping *mapping, int tensor, int level,
                     sx_window_sums *sums);

/* Lists the dimensions and the loops outside the children; returns the parents that the spatial loops left out
 * make. */
double sx_window_list_items(sx_window_dp *window);

/* Prepares the items for the parent's present places. */
void sx_window_set_places(sx_window_dp *window);

/* Forgets all results; false when memory is out. */
bool sx_window_memo_clear(sx_window_memo *memo);
void sx_window_memo_fini(sx_window_memo *memo);

/* The result of a key, or NULL. */
const sx_window_result *sx_window_memo_find(const sx_window_memo *memo, uint64_t key);

/* Keeps a result that is not there; false when memory is out, or there are too many. */
bool sx_window_memo_keep(sx_window_memo *memo, const sx_window_result *result);

/* The number of a piece; 0: nothing. */
unsigned sx_window_number_piece(sx_window_dp *window, const sx_box_delta *piece);

/* Whether a displacement lies between children of the level. */
bool sx_window_within(const sx_window_dp *window, const int64_t *need);

/* The words of the first visit of a block, after a step of item j, where tiles are fetched anew at all visits. */
sx_window_sums sx_window_visit_whole(sx_window_dp *window, int j, uint32_t from, uint32_t to, bool begins);

/* Sorts the children of the level into classes, to be counted together where that is asked for or needed; false if
 * there are too many, or memory is out. */
bool sx_window_classify(sx_window_dp *window, bool together);

/* The index of the place that an iteration of a loop is in. */
static inline unsigned sx_window_place(const sx_window_spread *spread, uint32_t iteration) {
    unsigned i = 0;
    while (iteration >= spread->start[i] + spread->count[i]) i++;
    return i;
}

/* The words of the visit at hand, child by child. */
sx_window_sums sx_window_list_children(sx_window_dp *window);
void sx_window_list_fini(sx_window_list *list);

/* The words of the visit at hand. */
sx_window_sums sx_window_share(sx_window_dp *window);

#endif
