/* Lower bounds of the cost of mappings of which only a part is decided, with exact factors.
 *
 * A mapping is decided in this order: its outline (all spatial factors and which level keeps which tensor),
 * then level by level from the innermost outward the extents of the tile and the order of the temporal loops.
 * The files' heads derive the bounds; each holds for every way to decide what is left, and for constraints of
 * any kind. */
#ifndef SX_BOUND_BOUND_H
#define SX_BOUND_BOUND_H

#include "sextant/constraints.h"

#include "model/model.h"

#include <math.h>

enum {
    SX_MAX_DIGITS = 64,
    SX_MAX_MEASURES = 64,
    SX_MAX_TABLED = 7,
    SX_MAX_CHORDS = 4,
    SX_MAX_FIRST_LOOPS = 4
};

/* All vectors of tile extents that divide the sizes, numbered by the exponents of their prime factors. */
typedef struct sx_lattice {
    int n_digits;
    uint8_t dim[SX_MAX_DIGITS], top[SX_MAX_DIGITS];
    uint32_t prime[SX_MAX_DIGITS], stride[SX_MAX_DIGITS];
    uint8_t first[SX_MAX_DIMS + 1]; /* digit of each dimension */
    uint32_t n_points;
} sx_lattice;

/* Extents of a tile in the two dimensions of a window, and what they add to the number of the form. */
typedef struct sx_window_tile {
    uint32_t extent[2], form;
} sx_window_tile;

/* A rank that is the sum of two dimensions, each of which is in no other rank of the tensor. */
typedef struct sx_window {
    uint8_t dim[2];
    uint32_t coef[2]; /* magnitudes; of one sign */
    sx_window_tile *tile;
    uint32_t n_tiles;
} sx_window;

/* The words that the tiles of a level cause which no other tile undercuts, for each tensor that the
 * level keeps: rows (spatial.c). */
typedef struct sx_traffic_front {
    bool made;
    uint32_t n;
    double *flow;
} sx_traffic_front;

typedef struct sx_outer_tables sx_outer_tables;

/* What is the same for all mappings of a model; never changes, may be shared by threads.
 *
 * The words of all tiles of a tensor are a product: those that the dimensions which index it make, which
 * depend on the form of the tile (its extents in windows) alone, times the extents that are left of the
 * others. */
typedef struct sx_bound {
    const sx_model *model;
    sx_lattice lattice;
    uint16_t irrelevant[SX_MAX_TENSORS]; /* dimensions that do not index a tensor */
    uint16_t
        partly_relevant[SX_MAX_TENSORS]; /* those that index it in a rank with others, or in several ranks */
    int n_windows[SX_MAX_TENSORS]; /* 0 where not all of the partially relevant dimensions are in windows */
    sx_window window[SX_MAX_TENSORS][SX_MAX_RANKS];
    uint8_t
        renewed[SX_MAX_LEVELS]; /* tensors whose tiles are fetched anew at every visit (no temporal reuse) */
    bool in_row[SX_MAX_LEVELS]; /* children of a level stand in one row or column, */
    uint8_t row_order[SX_MAX_LEVELS][SX_MAX_DIMS]; /* the loops along it in this order, innermost first */
    uint8_t banked[SX_MAX_LEVELS];                 /* tensors that can share the banks of a level, */
    uint16_t movable[SX_MAX_LEVELS]; /* and dimensions whose loops may move to the next level (movable.c) */
    int n_classes;
    uint8_t profit[SX_MAX_DIMS]; /* class of orders: the tensors that do not depend on the innermost loop */
    uint16_t class_dims[SX_MAX_DIMS];  /* the dimensions that such a loop may be on */
    sx_lattice form[SX_MAX_TENSORS];   /* extents of the partially relevant dimensions alone */
    uint32_t *form_of[SX_MAX_TENSORS]; /* per point */
    double *moved[SX_MAX_TENSORS];     /* per form: those that are fetched at the least, any outline */
    sx_outer_tables *outer_tables;     /* what quick bounds share (outer.c); NULL: nothing */
    sx_traffic_front *traffic_front[SX_MAX_LEVELS]; /* per set of kept tensors; NULL: no survey was made */
    double *bare[SX_MAX_TENSORS];  /* per form: words of all tiles, along the tensor's own dimensions */
    double *times[SX_MAX_TENSORS]; /* per point: what is left of the irrelevant dimensions, multiplied */
    double *tile[SX_MAX_TENSORS];  /* per point: words of the tile */
    double least[SX_MAX_TENSORS];  /* words that a level is filled with at the least, any outline */
    /* Sparse tensors (effectual.c). Per tensor and c, per point: what is left of a flow into level c - 1, c = 0:
     * compute units, whose box has these extents; NULL: all. */
    const double *effectual[SX_MAX_TENSORS][SX_MAX_LEVELS];
    uint32_t *idle
        [SX_MAX_TENSORS]; /* per point: its digits in irrelevant dimensions; NULL without sparse tensors */
    double held[SX_MAX_LEVELS][SX_MAX_TENSORS];          /* what prices are multiplied by */
    double metadata_bits[SX_MAX_LEVELS][SX_MAX_TENSORS]; /* of a word that is not zero */
    double plain[SX_MAX_LEVELS][SX_MAX_TENSORS]; /* as held, without the format; 0: it has to be there */
    double alone[SX_MAX_TENSORS];                /* what is left of accesses whose box is not known */
    double *tables[SX_MAX_TENSORS * SX_MAX_LEVELS];
    int n_tables;
} sx_bound;

/* Compiles the bounds of the mappings that constraints (NULL: none) allow of a model, which must outlive them; an
 * error where there are more than `most` points. With constraints they are bounds of the map space of these, whose
 * spatial loops have one order within X and within Y; without, of spatial loops in any order. */
SX_MUST_USE sx_status sx_bound_new(const sx_model *model, const sx_constraints *constraints, uint32_t most,
                                   SX_OWN sx_bound **out);
void sx_bound_free(SX_TAKE sx_bound *bound);

/* Long work asks it every few milliseconds whether to end early; NULL: never. */
typedef struct sx_interrupt {
    bool (*asked)(void *user);
    void *user;
} sx_interrupt;

/* Surveys what levels can hold of what they must and may keep; bounds of spatial mappings are closer then.
 * Ended early, they are less close. To be called before the bounds are shared. */
SX_MUST_USE sx_status sx_bound_survey(sx_bound *bound, const uint8_t *must, const uint8_t *may,
                                      const sx_interrupt *halt);

/* Readies quick bounds of outlines, where they do not take too much. To be called before the bounds are
 * shared. */
SX_MUST_USE sx_status sx_bound_quicken(sx_bound *bound);

/* Sets the loops that may move to the next level. */
void sx_bound_set_movable(sx_bound *bound, const sx_constraints *constraints);

/* The dimension of a level's outermost temporal loop, as a mask, where it could be the innermost one of the next level as
 * well: where that level has no loop on it, no mapping that goes on so is needed to find one best; 0: none. */
unsigned sx_bound_movable(const sx_bound *bound, int level, unsigned keep, const uint32_t *temporal,
                          const uint8_t *order);

/* What a rule that passes over mappings without a bound says of one. */
typedef enum sx_witness {
    SX_WITNESS_ITSELF, /* the rule does not pass over it */
    SX_WITNESS_OTHER,  /* another one, which is given, stands for it */
    SX_WITNESS_NONE,   /* nothing stands for it: the rule is false */
} sx_witness;

/* Makes a mapping, given by all its levels, the one that stands for it by that rule: the outermost loop of a level becomes
 * the innermost one of the next; false where none may move. */
bool sx_bound_move_loop(const sx_bound *bound, int level, sx_mapping_level *levels);

/* The least share of a tile that is new whenever a loop advances that indexes the tensor, for extents of the
 * partially relevant dimensions (window.c). */
double sx_bound_share(const sx_bound *bound, int tensor, const uint32_t *extent);

/* The number of a vector of extents, each of which divides its size, and the extents of a number. Numbers of
 * vectors that differ from 1 in different dimensions add up to that of their product. */
uint32_t sx_lattice_point(const sx_lattice *lattice, const uint32_t *extent);
void sx_lattice_extents(const sx_lattice *lattice, uint32_t point, uint32_t *extent);

typedef struct sx_outline {
    uint32_t spatial[SX_MAX_LEVELS][SX_MAX_DIMS];
    uint8_t keep[SX_MAX_LEVELS];
} sx_outline;

/* What is fetched at the least where the first loop outside a tile is on some dimension of a window (link.c), as
 * shares of what all children would fetch alone at every visit. */
typedef struct sx_first_loop {
    uint16_t dims;                /* that the loop may be on */
    double words;                 /* fetched, wherever from */
    double groups;                /* of those, fetched from the outer level: by groups of children, */
    double own;                   /* and by children */
    double more_groups, more_own; /* the same on top, without irrelevant loops */
} sx_first_loop;

/* Numbers of forms. */
typedef struct sx_form_list {
    uint32_t n, *form;
} sx_form_list;

/* What flows of a tensor into a level (from -1: the compute units) from the next one outward that keeps it
 * are at the least (window.c), for a form of the tile. */
typedef struct sx_least_traffic {
    double words;  /* into all instances, per unit of `times` */
    double groups; /* of children that share an access, per child */
    double most;   /* children in such a group, at most */
    double fewest; /* at least */
    double own;    /* share of the children that no neighbour can help, at the least */
    double outer;  /* accesses to the outer level per access to all instances of the inner one */
    double all;    /* words of all tiles, into all instances, per unit of `times` */
    bool renewed;  /* tiles are fetched anew at every visit */
    int n_first; /* loops on windows that may be the first outside the tile; -1: not known, `own` says all */
    sx_first_loop first[SX_MAX_FIRST_LOOPS];
} sx_least_traffic;

/* A sum of flows with prices: energy (measure 0) or the use of one of a level's bandwidths, in cycles. */
typedef struct sx_measure {
    double constant;
    double tail[SX_MAX_LEVELS + 1]; /* the least of all flows into levels c - 1 and above */
} sx_measure;

/* The bounds of one outline: one thread's workspace. */
typedef struct sx_outline_bound {
    const sx_bound *bound;
    sx_outline outline;
    bool tables;
    const sx_interrupt *halt;           /* of the tables being made; else NULL */
    bool halted;                        /* these tables were ended early */
    uint32_t unpolled;                  /* tiles passed over since it was asked */
    double above[SX_MAX_LEVELS], steps; /* instances in use; cycles of the compute units */
    double leak;                        /* energy per cycle */
    struct sx_density_cache *cache;     /* of sparse tensors; else NULL */
    uint32_t spatial_point[SX_MAX_LEVELS], open_point[SX_MAX_LEVELS + 1]; /* their spatial loops and `open`,
                                                                             as points */
    uint8_t source[SX_MAX_TENSORS][SX_MAX_LEVELS]; /* per c: the level that a flow comes from */
    uint32_t shared[SX_MAX_TENSORS]
                   [SX_MAX_LEVELS];                /* per c: the irrelevant spatial loops over which a flow is
                                                       shared, as a point */
    uint32_t open[SX_MAX_LEVELS + 1][SX_MAX_DIMS]; /* what the spatial loops leave of a dimension: size /
                                                        product of those of level s and above */
    double apart[SX_MAX_TENSORS]
                [SX_MAX_LEVELS + 1]; /* irrelevant spatial loops of level s and above, multiplied */
    bool linked[SX_MAX_TENSORS];     /* compute units may hand operands to each other */
    bool spatial_set;                /* the spatial loops are set */
    /* Per form, the flows of a tensor into level c - 1 from another; NULL: not asked for yet. */
    sx_least_traffic *traffic[SX_MAX_TENSORS][SX_MAX_LEVELS + 1][SX_MAX_LEVELS];
    /* Per level, the forms of the tiles that the spatial loops leave possible, by which alone the flows and costs are
     * set; none: not asked for yet. */
    sx_form_list forms[SX_MAX_TENSORS][SX_MAX_LEVELS];
    sx_least_traffic *traffics;             /* where they stand, */
    struct sx_traffic_cache *traffic_cache; /* or here */
    double sharing[SX_MAX_TENSORS]
                  [SX_MAX_LEVELS]; /* of children at a slot whose tile is not known; 0: not asked for yet */
    void *pieces;                  /* of a tensor's windows, while its traffics are made */
    int n_measures;
    sx_measure *measure; /* as many as the model has at most; so are the next four */
    /* Per measure, tensor and c, per form: the cost of what level c - 1 is filled with, per unit of `times`;
     * c = 0: compute units. NULL: nothing. */
    double *(*cost)[SX_MAX_TENSORS][SX_MAX_LEVELS + 1];
    double *(
        *extra)[SX_MAX_TENSORS][SX_MAX_LEVELS + 1]; /* on top of that, whatever irrelevant loops there are */
    /* As `cost`, where an irrelevant loop follows: no neighbour helps then. */
    double *(*stay)[SX_MAX_TENSORS][SX_MAX_LEVELS + 1];
    double (*least)[SX_MAX_TENSORS][SX_MAX_LEVELS + 1]; /* of all forms, whatever follows */
    double (
        *least_stay)[SX_MAX_TENSORS][SX_MAX_LEVELS + 1]; /* of all forms, where an irrelevant loop follows */
    double *costs;                                       /* where they stand */
    size_t n_costs;
    /* Energy by the loop that is the first outside a tile (first.c), made with the tables: tensors that have such
     * costs; per tensor and c, per dimension of the loop, then per class, per form: `cost`, then `extra`. */
    unsigned windowed;
    double *first[SX_MAX_TENSORS][SX_MAX_LEVELS + 1]; /* NULL: as `cost` */
    double *firsts;                                   /* where they stand */
    sx_least_traffic *first_traffic;                  /* of a flow, while they are made */
    struct sx_keep_survey *survey;                    /* workspace of sx_outline_bound_spatial */
    int n_tabled;                                     /* measures that have tables: the first ones */
    /* Per measure, level and class, per point: the least of all flows into this level and those outside,
     * where the next loop is of the class. */
    double *table[SX_MAX_TABLED][SX_MAX_LEVELS][SX_MAX_DIMS];
    double *least_table[SX_MAX_TABLED][SX_MAX_LEVELS]; /* of all classes */
    bool numbered;                                     /* the tiles of this spatial mapping are */
    sx_lattice tiles;              /* what temporal loops alone make of tiles; tables are numbered by it */
    uint32_t *whole;               /* from there to the whole lattice */
    uint32_t *inside;              /* and back, where there is a way */
    uint32_t *fitting, n_fitting;  /* the tiles of a level that fit, while its tables are made */
    uint32_t below[SX_MAX_LEVELS]; /* what the spatial loops up to a level add to the number */
    double *scratch, *chord;
    void *places;        /* of a quick bound */
    double *swept;       /* what it found for each tile of the innermost level, */
    double inside_swept; /* beside this; -INFINITY: nothing */
    uint32_t *fit[1 << SX_MAX_TENSORS], n_fit[1 << SX_MAX_TENSORS]; /* per set kept: its tiles that fit, */
    bool fit_known[1 << SX_MAX_TENSORS];                            /* where known */
    uint16_t *loops;  /* per tile: the dimensions that temporal loops make larger */
    uint32_t *listed; /* where the lists of forms stand */
    uint64_t work;    /* of quick bounds so far, in units of about 0.1 us; the same for every machine */
} sx_outline_bound;

/* What zeros leave of a flow into level c - 1 whose box is at least that of a point. Costs of flows into
 * compute units have it in them; so have uses of ports where there are several densities. */
static inline double sx_outline_bound_share(const sx_outline_bound *bounds, int measure, int tensor, int c,
                                            uint32_t point) {
    const double *effectual = bounds->bound->effectual[tensor][c];
    if (!effectual || c == 0 || (measure > 0 && bounds->bound->model->range)) return 1;
    return effectual[point + bounds->shared[tensor][c]];
}

/* The same where only the irrelevant extents of the point are known. */
static inline double sx_outline_bound_idle_share(const sx_outline_bound *bounds, int measure, int tensor,
                                                 int c, uint32_t point) {
    if (!bounds->bound->effectual[tensor][c]) return 1;
    return sx_outline_bound_share(bounds, measure, tensor, c, bounds->bound->idle[tensor][point]);
}

/* The same where the tile of the point stays through all irrelevant loops: its box has those up to the level that
 * it comes from, which are all only where that is the outermost. */
static inline double sx_outline_bound_stay_share(const sx_outline_bound *bounds, int measure, int tensor,
                                                 int c, uint32_t point) {
    const sx_bound *b = bounds->bound;
    if (!b->effectual[tensor][c]) return 1;
    const uint32_t *idle = b->idle[tensor];
    if (bounds->source[tensor][c] + 1 == b->model->n_levels)
        point = point - idle[point] + idle[bounds->open_point[c]];
    return sx_outline_bound_share(bounds, measure, tensor, c, point);
}

/* The cost of a flow into level c - 1 whose tile is that of a point, if the next loop moves the tile. */
static inline double sx_outline_bound_cost(const sx_outline_bound *bounds, int measure, int tensor, int c,
                                           uint32_t point) {
    const double *cost = bounds->cost[measure][tensor][c];
    const sx_bound *b = bounds->bound;
    if (!cost) return 0;
    uint32_t form = b->form_of[tensor][point];
    return cost[form] * b->times[tensor][point] * sx_outline_bound_share(bounds, measure, tensor, c, point) +
           bounds->extra[measure][tensor][c][form];
}

/* The same if the next loop is irrelevant, less what it and those after it make smaller. */
static inline double sx_outline_bound_stay(const sx_outline_bound *bounds, int measure, int tensor, int c,
                                           uint32_t point) {
    const double *stay = bounds->stay[measure][tensor][c];
    const sx_bound *b = bounds->bound;
    if (!stay) return 0;
    return stay[b->form_of[tensor][point]] * b->times[tensor][point] *
           sx_outline_bound_share(bounds, measure, tensor, c, point);
}

/* The forms of a tensor's tiles at a level (-1: compute units) that are possible with these spatial loops. */
sx_form_list sx_outline_bound_forms(sx_outline_bound *bounds, int tensor, int level);

/* What a flow of a tensor from level `to` into level `from` (-1: compute units) is at the least, for every form
 * that is possible. */
const sx_least_traffic *sx_outline_bound_traffic(sx_outline_bound *bounds, int tensor, int from, int to);

/* The same into the compute units from the innermost level. */
sx_least_traffic sx_outline_bound_operand(const sx_outline_bound *bounds, int tensor);

/* The spatial loops of a level on some dimensions, multiplied. */
double sx_outline_bound_fanout(const sx_outline_bound *bounds, int level, unsigned dims);

/* Whether children of a level may hand words of a tensor to neighbours (window.c). */
bool sx_outline_bound_has_links(const sx_outline_bound *bounds, int level, int tensor);

SX_MUST_USE sx_status sx_outline_bound_new(const sx_bound *bound, SX_OWN sx_outline_bound **out);
void sx_outline_bound_free(SX_TAKE sx_outline_bound *bounds);

/* Sets the outline and what follows from it at once. */
void sx_outline_bound_begin(sx_outline_bound *bounds, const sx_outline *outline);

/* A bound from the outline alone: compulsory traffic. */
sx_score sx_outline_bound_compulsory(const sx_outline_bound *bounds);

/* A closer bound of the outline, with what memories hold in view; the same without sx_bound_quicken. `notes`:
 * bounds of innermost tiles profit from it, too. */
sx_score sx_outline_bound_quick(sx_outline_bound *bounds, bool notes);

/* Sets the spatial factors of an outline; returns a bound for all that levels may keep beside what it keeps.
 * What follows from kept tensors is not set. */
sx_score sx_outline_bound_spatial(sx_outline_bound *bounds, const sx_outline *outline,
                                  const uint8_t *may_keep);

/* Makes the tables of the outline (table.c); returns a bound from them. Ended early, there are no
 * tables and the bound is that of sx_outline_bound_compulsory. */
sx_score sx_outline_bound_tabulate(sx_outline_bound *bounds, const sx_interrupt *halt);

/* What is decided below a level. */
typedef struct sx_partial_mapping {
    uint32_t point, extent[SX_MAX_DIMS];
    double outside[SX_MAX_TENSORS];                  /* irrelevant temporal loops that are left, multiplied */
    double closed[SX_MAX_MEASURES];                  /* flows that are known */
    double pending[SX_MAX_MEASURES][SX_MAX_TENSORS]; /* those that loops further out that do not index the
                                                        tensor make smaller: what they are without such, */
    double moving[SX_MAX_MEASURES][SX_MAX_TENSORS];  /* and where the next loop indexes it; */
    double first[SX_MAX_TENSORS]
                [SX_MAX_DIMS]; /* of windowed tensors, the energy where it is on a dimension */
    uint8_t
        grows[SX_MAX_TENSORS]; /* c of the one flow that is pending, of which zeros leave the more, the more
                                      such loops there are; 0: none */
    uint32_t box[SX_MAX_TENSORS]; /* its box so far, as a point */
} sx_partial_mapping;

/* The partial mapping with nothing decided but the outline. */
void sx_partial_mapping_begin(const sx_outline_bound *bounds, sx_partial_mapping *partial);

/* What is the same for all tiles of the next level of a partial mapping. */
typedef struct sx_tile_glance {
    int level;
    double sure[SX_MAX_TABLED]; /* of a measure, whatever the tile and the order */
    double cycles;              /* the largest use of the ports that have no tables */
} sx_tile_glance;

void sx_tile_glance_begin(const sx_outline_bound *bounds, const sx_partial_mapping *partial, int level,
                          sx_tile_glance *glance);

/* Whether no tile of a level that is a multiple of that of a point is part of a mapping, as tables say. */
static inline bool sx_outline_bound_excludes(const sx_outline_bound *bounds, int level, uint32_t point) {
    if (!bounds->tables || level + 1 == bounds->bound->model->n_levels) return false;
    return bounds->least_table[0][level][bounds->inside[point - bounds->below[level]]] == INFINITY;
}

/* A bound as that of sx_partial_mapping_try, not above it, in a fraction of its time. */
sx_score sx_tile_glance_at(const sx_outline_bound *bounds, const sx_tile_glance *glance, uint32_t point);

/* A bound where the partial mapping reaches up to level - 1 and the tile of `level` has these extents, which
 * are those of the point; any order. */
sx_score sx_partial_mapping_try(const sx_outline_bound *bounds, const sx_partial_mapping *partial, int level,
                                const uint32_t *extent, uint32_t point);

/* Decides the extents and the order (innermost first) of a level. */
void sx_partial_mapping_extend(const sx_outline_bound *bounds, const sx_partial_mapping *partial, int level,
                               const uint32_t *extent, uint32_t point, const uint8_t *order,
                               sx_partial_mapping *out);

/* A bound where levels up to this one are decided. */
sx_score sx_partial_mapping_bound(const sx_outline_bound *bounds, const sx_partial_mapping *partial,
                                  int level);

#endif
