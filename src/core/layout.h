/* Tiles, the array and what levels can keep: what does not depend on orders. */
#ifndef SX_CORE_LAYOUT_H
#define SX_CORE_LAYOUT_H

#include "core/model.h"

/* Accesses that each serve m children, `scatter` at a time. */
typedef struct sx_core_record {
    double m, scatter, accesses;
} sx_core_record;

/* What a level hands to its children of a tensor; n is 0 where one group after another gets the same. */
typedef struct sx_core_records {
    double links; /* words that children hand to one another */
    int32_t n, padding;
    sx_core_record record[SX_CORE_RECORDS];
} sx_core_records;

/* Records are kept for all tensors, or, where room is scarce, for the one whose tiles overlap in part. */
#if !defined SX_CORE_GPU || defined SX_CORE_GPU_LISTS
#define SX_CORE_RECORD_TENSORS SX_CORE_TENSORS_AT_MOST
#define SX_CORE_RECORD_LEVELS SX_CORE_LEVELS_AT_MOST
#define SX_CORE_RECORD_OF(v) (v)
#else
#define SX_CORE_RECORD_TENSORS 1
#define SX_CORE_RECORD_OF(v) 0
#if defined SX_CORE_FIXED_WINDOW && !SX_CORE_FIXED_WINDOW
#define SX_CORE_RECORD_LEVELS 1
#else
#define SX_CORE_RECORD_LEVELS SX_CORE_LEVELS_AT_MOST
#endif
#endif

/* What a level can keep: sets of tensors, and for each what it adds to the numbers of the tensors' choices, a byte per
 * tensor. */
typedef struct sx_core_choices {
    uint32_t n;
    uint32_t adds[SX_CORE_CHOICES];
    uint8_t keep[SX_CORE_CHOICES];
} sx_core_choices;

struct sx_core_listing;

/* A mapping on its way to a score: what is found by an index that is not known before. */
typedef struct sx_core_scratch {
#ifndef SX_CORE_ROW_NUMBERS
    const sx_core_cell *row[SX_CORE_DIMS];
#endif
    struct sx_core_listing *listing; /* room to list children in; NULL: none is listed */
    /* Where tiles of some tensor overlap in part: */
    uint8_t flat[SX_CORE_LOOPS]; /* temporal loops, outermost first: the level times 16, and the dimension */
    uint8_t end[SX_CORE_LEVELS_AT_MOST]; /* loops at that level and above */
    uint8_t last[SX_CORE_TENSORS_AT_MOST]
                [SX_CORE_LEVELS_AT_MOST]; /* how many of these up to the last that indexes the tensor */
    double suffix[SX_CORE_LOOPS + 1];     /* entry i: product of the first i of them */
    sx_core_records records[SX_CORE_RECORD_TENSORS][SX_CORE_RECORD_LEVELS];
} sx_core_scratch;

/* And the rest, which a thread can have in registers. */
typedef struct sx_core_state {
    sx_core_scratch *own;
#ifdef SX_CORE_ROW_NUMBERS
    const sx_core_cell *rows; /* a table, and the numbers of the dimensions' splits there, 16 bits each */
    uint64_t number[2];
#endif
    sx_core_nest nest;
    double slot_x[SX_CORE_LEVELS_AT_MOST], slot_y[SX_CORE_LEVELS_AT_MOST], children[SX_CORE_LEVELS_AT_MOST];
    double above[SX_CORE_LEVELS_AT_MOST], clusters[SX_CORE_LEVELS_AT_MOST], leaking[SX_CORE_LEVELS_AT_MOST];
    double cycles;
    double words[SX_CORE_TENSORS_AT_MOST][SX_CORE_LEVELS_AT_MOST];
    double visits[SX_CORE_TENSORS_AT_MOST]
                 [SX_CORE_LEVELS_AT_MOST]; /* at which the tile of a plain tensor moves */
    double groups[SX_CORE_TENSORS_AT_MOST][SX_CORE_LEVELS_AT_MOST];
    double handed[SX_CORE_TENSORS_AT_MOST][SX_CORE_LEVELS_AT_MOST];
    uint32_t uncovered; /* some flow has no closed form */
    uint32_t illegal;
} sx_core_state;

/* The part of a row at a level: rows are numbers in one table where registers are faster than pointers in memory. */
SX_HD const sx_core_cell *sx_core_at(const sx_core_state *st, unsigned d, int s) {
#ifdef SX_CORE_ROW_NUMBERS
    uint32_t number = (uint32_t)((d & 4 ? st->number[1] : st->number[0]) >> 16 * (d & 3)) & 0xffff;
    return &st->rows[number * SX_CORE_LEVELS_AT_MOST + (uint32_t)s];
#else
    return &st->own->row[d][s];
#endif
}

/* The extent of what a child of a level holds in a dimension. */
SX_HD double sx_core_inner(const sx_core_state *st, unsigned d, int s) {
    return s > 0 ? sx_core_at(st, d, s - 1)->extent : 1;
}

/* The records of a tensor at a level. */
SX_HD sx_core_records *sx_core_records_of(const sx_core_state *st, int v, int s) {
    (void)v;
    return &st->own->records[SX_CORE_RECORD_OF(v)][s];
}

/* The children of a level, and the groups of those that want the same words of a tensor where no two loops move the same
 * rank. */
SX_HD void sx_core_set_slot(const sx_core_model *p, sx_core_state *st, int s) {
    const sx_core_loops *slot = &st->nest.slots[s];
    double x = 1, y = 1, groups[SX_CORE_TENSORS_AT_MOST];
    SX_UNROLL
    for (int v = 0; v < SX_CORE_TENSORS_AT_MOST; v++) groups[v] = 1;
    for (int i = 0; i < slot->n; i++) {
        unsigned d = sx_core_loop(slot, i);
        double n = sx_core_at(st, d, s)->spatial;
        if (i < slot->n_x)
            x *= n;
        else
            y *= n;
        SX_UNROLL
        for (int v = 0; v < SX_CORE_N_TENSORS(p); v++) groups[v] *= p->tensor[v].dims >> d & 1 ? n : 1;
    }
    SX_UNROLL
    for (int v = 0; v < SX_CORE_N_TENSORS(p); v++) st->groups[v][s] = groups[v];
    st->slot_x[s] = x;
    st->slot_y[s] = y;
    st->children[s] = x * y;
}

/* The instances in use of every level, and the steps of time; whether the array has them. */
SX_HD_CALL bool sx_core_set_array(const sx_core_model *p, sx_core_state *st) {
    double x = 1, y = 1;
    bool good = true;
    SX_UNROLL
    for (int s = SX_CORE_N_LEVELS(p) - 1; s >= 0; s--) {
        const sx_core_level *level = &p->level[s];
        double above = x * y;
        st->above[s] = above;
        st->clusters[s] = sx_core_min(level->clusters, above);
        good = good && above <= level->instances && x <= level->mesh_x && y <= level->mesh_y &&
               st->slot_x[s] <= level->room_x && st->slot_y[s] <= level->room_y;
        x *= st->slot_x[s];
        y *= st->slot_y[s];
    }
    SX_UNROLL
    for (int s = 0; s < SX_CORE_N_LEVELS(p); s++) {
        const sx_core_level *level = &p->level[s];
#ifdef SX_CORE_GPU /* products, as a choice of addresses would keep `above` out of registers */
        double gating = 0;
        SX_UNROLL
        for (int k = 0; k < SX_CORE_N_LEVELS(p); k++) gating += (k == level->gate ? 1.0 : 0.0) * st->above[k];
#else
        if (!level->leaks) continue;
        double gating = st->above[level->gate];
#endif
        st->leaking[s] = level->leak_share > 0 ? level->leak_share * gating : st->above[s];
    }
    st->cycles = p->computes / (x * y);
    return good && x * y <= p->compute_instances && x <= p->compute_x && y <= p->compute_y;
}

/* The extents of a tile of a tensor in its mixed ranks; returns its words without them. */
SX_HD double sx_core_tile(const sx_core_tensor *t, const sx_core_state *st, int s, double *mixed) {
    double words = 1;
    for (int i = 0; i < t->n_unit; i++) words *= sx_core_at(st, t->unit[i], s)->extent;
    for (int i = 0; i < t->n_stretched; i++)
        words *= 1 + t->stretch[i] * (sx_core_at(st, t->stretched[i], s)->extent - 1);
    SX_UNROLL
    for (int k = 0; k < SX_CORE_MIXED; k++) {
        mixed[k] = 1;
        if (k < t->n_mixed)
            mixed[k] = 1 + t->reach[k][0] * (sx_core_at(st, t->mixed_dim[k][0], s)->extent - 1) +
                       t->reach[k][1] * (sx_core_at(st, t->mixed_dim[k][1], s)->extent - 1);
    }
    return words;
}

/* Sets the words of a tensor's tile at a level. */
SX_HD_CALL void sx_core_set_words(const sx_core_model *p, sx_core_state *st, int v, int s) {
    const sx_core_tensor *t = &p->tensor[v];
    double mixed[SX_CORE_MIXED];
    double words = t->words;
    if (s + 1 < SX_CORE_N_LEVELS(p)) {
        words = sx_core_tile(t, st, s, mixed);
        SX_UNROLL
        for (int k = 0; k < SX_CORE_MIXED; k++) words *= mixed[k];
    }
    st->words[v][s] = words;
}

/* Whether a level may keep these tensors' tiles (model/capacity.h). */
SX_HD_CALL bool sx_core_fits(const sx_core_model *p, const sx_core_state *st, int s, unsigned keep) {
    const sx_core_level *level = &p->level[s];
    double words = 0, banks = 0;
    if (level->transparent && keep) return false;
    if (!level->limited) return true;
    SX_UNROLL
    for (int v = 0; v < SX_CORE_N_TENSORS(p); v++) {
        if (!(keep >> v & 1)) continue;
        double takes = st->words[v][s];
        if (level->sized) takes = sx_core_ceil(takes * level->element[v] / level->word[v]);
        words += takes;
        if (level->bank_words > 0) banks += sx_core_ceil(takes / level->bank_words);
    }
    return words <= level->effective && (level->bank_words == 0 || banks <= level->banks) &&
           words >= level->minimum;
}

/* Lists what a level can keep; how many there are. */
SX_HD uint32_t sx_core_set_choices(const sx_core_model *p, const sx_core_state *st, int s,
                                   sx_core_choices *out) {
    unsigned open = p->level[s].may, subset = 0;
    uint32_t n = 0;
    do {
        unsigned keep = p->level[s].must | subset;
        if (sx_core_fits(p, st, s, keep)) {
            uint32_t adds = 0;
            for (int v = 0; v < SX_CORE_N_TENSORS(p); v++)
                if (keep >> v & 1) adds |= (uint32_t)p->tensor[v].bit[s] << 8 * v;
            out->adds[n] = adds;
            out->keep[n++] = (uint8_t)keep;
        }
        subset = (subset - open) & open;
    } while (subset);
    out->n = n;
    return n;
}

/* The same without listing them. */
SX_HD bool sx_core_has_choice(const sx_core_model *p, const sx_core_state *st, int s) {
    unsigned open = p->level[s].may, subset = 0;
    do {
        if (sx_core_fits(p, st, s, p->level[s].must | subset)) return true;
        subset = (subset - open) & open;
    } while (subset);
    return false;
}

#endif
