/* The boxes on which accesses depend (sparse/exact.c), as sets of loops: a box is all iterations of some loops, and, of
 * a block that ends within a loop, some iterations of one more. */
#include "model/sparse/zeros.h"

/* A box. */
typedef struct loop_box {
    int child;      /* it has all loops up to this level; -1: none */
    uint64_t extra; /* and these */
    uint64_t part;  /* and of this one */
    double n_part;  /* its iterations */
} loop_box;

/* The smallest boxes that leave out computes where they are empty, of one condition tensor. */
typedef struct left_out {
    double most, words;              /* of that which is empty most often: the probability, the words */
    int n;                           /* of the boxes; 0 of two operands, where there is one at the most */
    bool parts;                      /* some have parts of loops */
    uint64_t loops[SX_CORE_TENSORS]; /* of each */
} left_out;

static int add_loops(const sx_zero_pass *f, int s, bool spatial, int n, sx_zeros_bits *bits) {
    const sx_core_nest *nest = &f->st->nest;
    const sx_core_loops *loops = spatial ? &nest->slots[s] : &nest->loops[s];
    for (int i = 0; i < loops->n; i++, n++) {
        unsigned d = sx_core_loop(loops, i);
        bits->n[n] = spatial ? sx_core_at(f->st, d, s)->spatial : sx_core_at(f->st, d, s)->temporal;
        bits->dim[n] = (uint8_t)d;
        bits->of_dim[d] |= (uint64_t)1 << n;
    }
    return n;
}

/* Numbers the loops; there are no more than 53, as computes are below 2^53. */
static void set_bits(sx_zero_pass *f) {
    sx_zeros_bits *bits = &f->bits;
    uint64_t time = 0;
    int n = 0;
    for (int d = 0; d < f->n_dims; d++) bits->of_dim[d] = 0;
    for (int s = 0; s < f->n_levels; s++) {
        n = add_loops(f, s, true, n, bits);
        uint64_t before = ((uint64_t)1 << n) - 1;
        n = add_loops(f, s, false, n, bits);
        bits->upto[s] = ((uint64_t)1 << n) - 1;
        time |= bits->upto[s] & ~before;
    }
    bits->time = time;
    for (int v = 0; v < f->n_tensors; v++) {
        bits->of[v] = 0;
        for (uint32_t left = f->p->tensor[v].dims; left; left &= left - 1)
            bits->of[v] |= bits->of_dim[__builtin_ctz(left)];
    }
}

/* Takes in what of a block lies beyond a tile: `need` tiles along loops that move it, the innermost first. */
static void take_block(const sx_zeros_bits *bits, uint64_t loops, double need, loop_box *out) {
    for (; loops && need > 1; loops &= loops - 1) {
        double n = bits->n[__builtin_ctzll(loops)];
        if (need < n) {
            out->part = loops & -loops;
            out->n_part = need;
        } else {
            out->extra |= loops & -loops;
        }
        need = ceil(need / n);
    }
}

/* Finds the boxes of a tensor's actions, by the rules of sx_exact_box. */
static void find_boxes(const sx_zero_pass *f, int target, const sx_zeros_actions *a, loop_box *out) {
    const sx_zeros_bits *bits = &f->bits;
    const sx_zeros_held *held = f->held[target];
    const double *words = f->st->words[target], *block = f->block[target];
    uint64_t own = bits->of[target], time = bits->time;
    for (int i = 0; i < a->n; i++, out++) {
        int s = a->level[i], child = held[s].child;
        uint64_t inside = 0, loops = 0;
        double delivered = 1;
        if (child >= 0) {
            inside = bits->upto[child];
            uint64_t later = time & ~inside, moving = later & own;
            loops = later & ((moving & -moving) - 1); /* up to the first that moves the tile */
            delivered = words[child];
        }
        uint64_t between = bits->upto[s] & ~inside;
        out->child = child;
        out->part = 0;
        out->extra = loops | (between & ~time & ~own);
        if (block[s] > delivered) take_block(bits, between & own, ceil(block[s] / delivered), out);
    }
}

/* Whether iterations of a window in a box lie apart: a loop is in it, and not all of one inside it (sparse/windows.c). */
static bool has_gaps(const sx_zero_pass *f, int v, uint64_t loops, uint64_t part) {
    const sx_zeros_bits *bits = &f->bits;
    for (unsigned left = f->model->sparse->windows[v]; left; left &= left - 1) {
        uint64_t all = bits->of_dim[__builtin_ctz(left)],
                 first = all & ~loops; /* the innermost that is not */
        first &= -first;
        if (first && (all & (loops | part) & ~(first | (first - 1)))) return true;
    }
    return false;
}

/* The words in a box of a tensor whose tiles are no products of extents. */
__attribute__((noinline)) static double words_of_ranks(sx_zero_pass *f, int v, int child, uint64_t loops,
                                                       const loop_box *b) {
    const sx_zeros_bits *bits = &f->bits;
    uint32_t extent[SX_CORE_DIMS];
    for (int d = 0; d < f->n_dims; d++) extent[d] = (uint32_t)sx_core_inner(f->st, (unsigned)d, child + 1);
    f->gaps |= has_gaps(f, v, loops | (child >= 0 ? bits->upto[child] : 0), b ? b->part : 0);
    for (loops &= bits->of[v]; loops; loops &= loops - 1) {
        int l = __builtin_ctzll(loops);
        extent[bits->dim[l]] *= (uint32_t)bits->n[l];
    }
    if (b->part) extent[bits->dim[__builtin_ctzll(b->part)]] *= (uint32_t)b->n_part;
    return (double)sx_shape_words(&f->model->shape[v], extent);
}

/* The words of a tensor in boxes. */
static inline void count_words(sx_zero_pass *f, int v, int n, const loop_box *b, double *out) {
    const sx_zeros_bits *bits = &f->bits;
    const double *tile = f->st->words[v];
    uint64_t of = bits->of[v];
    if (f->mixed >> v & 1) {
        for (int i = 0; i < n; i++) out[i] = words_of_ranks(f, v, b[i].child, b[i].extra, &b[i]);
        return;
    }
    for (int i = 0; i < n; i++) {
        double words = b[i].child >= 0 ? tile[b[i].child] : 1;
        for (uint64_t left = b[i].extra & of; left; left &= left - 1) words *= bits->n[__builtin_ctzll(left)];
        out[i] = b[i].part & of ? words * b[i].n_part : words;
    }
}

/* Adds a box that leaves out computes where it is empty. */
static inline void leave_out(const sx_zero_pass *f, left_out *list, const loop_box *box, double words,
                             double empty) {
    if (empty > list->most) {
        list->most = empty;
        list->words = words;
    }
    if (!f->several) return;
    list->parts |= box->part != 0;
    list->loops[list->n++] = box->extra | (box->child >= 0 ? f->bits.upto[box->child] : 0);
}

/* What actions leave of accesses after each: of each tensor, the smallest box of those outside and of its own counts.
 * Where computes depend on the target, adds the smallest box of all to a list. */
static void narrow_down(sx_zero_pass *f, const sx_zeros_actions *a, const loop_box *box, double *after,
                        left_out *list) {
    int n = a->n;
    bool alike = a->alike;
    double words[SX_CORE_LEVELS];
    for (int i = 0; i < n; i++) after[i] = 1;
    for (unsigned rest = a->all; rest; rest &= rest - 1) {
        int v = __builtin_ctz(rest), smallest = 0;
        const struct sx_remembered *memo = sx_zeros_memo(f, v);
        double least = INFINITY, empty = 0;
        count_words(f, v, n, box, words);
        for (int i = 0; i < n; i++) {
            if (words[i] < least && (alike || a->on[i] >> v & 1)) {
                least = words[i];
                smallest = i;
                empty = sx_zeros_empty(f, v, memo, least);
            }
            after[i] *= 1 - empty;
        }
        if (list && !f->p->tensor[v].output && empty > 0)
            leave_out(f, &list[v], &box[smallest], least, empty);
    }
}

/* Finds the boxes that do not hold another one; how many there are. As find_minimal of sparse/unions.c. */
static int find_minimal(const left_out *list, uint64_t of, uint64_t *out) {
    int n = 0;
    for (int i = 0; i < list->n; i++) {
        uint64_t box = list->loops[i];
        bool holds = false;
        for (int k = n - 1; k >= 0 && !holds; k--) {
            holds = (out[k] & ~box & of) == 0;
            if (!holds && (box & ~out[k] & of) == 0) out[k] = out[--n];
        }
        if (!holds) out[n++] = box;
    }
    return n;
}

/* The probability that one of the boxes at least is empty; -1 where some are not whole loops, or several hold no other
 * one: then it is a sum over their unions (sparse/unions.c). */
static double some_empty(const sx_zero_pass *f, int v, const left_out *list) {
    uint64_t minimal[SX_CORE_TENSORS];
    if (list->n < 2 || list->words == 1) return list->most;
    if (list->parts || find_minimal(list, f->bits.of[v], minimal) > 1) return -1;
    return list->most;
}

/* Sets what remains at each level of a tensor's accesses, and adds what leaves out computes. */
static void settle_accesses(sx_zero_pass *f, int target, left_out *list) {
    const sx_zeros_actions *a = &f->actions[target];
    sx_zeros_held *held = f->held[target];
    loop_box box[SX_CORE_LEVELS];
    double before = 1, after[SX_CORE_LEVELS];
    int i = 0;
    find_boxes(f, target, a, box);
    narrow_down(f, a, box, after, list);
    for (int s = f->n_levels - 1; s >= 0; s--) {
        held[s].exists = before;
        if (i < a->n && a->level[i] == s) before = after[i++];
        held[s].effectual = before;
    }
}

/* The actions that skip. */
static sx_zeros_actions skipping_actions(const sx_zero_pass *f, int v) {
    const sx_zeros_actions *from = &f->actions[v];
    sx_zeros_actions out = {0};
    for (int i = 0; i < from->n; i++) {
        if (!f->held[v][from->level[i]].skips) continue;
        out.level[out.n] = from->level[i];
        out.on[out.n++] = from->on[i];
        out.all |= from->on[i];
    }
    return out;
}

/* Sets the probability that a tensor's zeros leave out a compute; false where some boxes are not whole loops. */
static bool set_left_out(const sx_zero_pass *f, const left_out *list, double *out) {
    bool covered = true;
    for (int v = 0; v < f->n_tensors; v++) {
        out[v] = f->p->tensor[v].output ? 0 : some_empty(f, v, &list[v]);
        covered &= out[v] >= 0;
    }
    return covered;
}

/* What leaves out computes by actions that skip, where not all do. */
static bool set_skipped(sx_zero_pass *f, double *out) {
    left_out list[SX_CORE_TENSORS];
    loop_box box[SX_CORE_LEVELS];
    double after[SX_CORE_LEVELS];
    for (int v = 0; v < f->n_tensors; v++) list[v].n = list[v].parts = 0, list[v].most = 0;
    for (int v = 0; v < f->n_tensors; v++) {
        if (f->p->tensor[v].output) continue;
        sx_zeros_actions a = skipping_actions(f, v);
        find_boxes(f, v, &a, box);
        narrow_down(f, &a, box, after, list);
    }
    return set_left_out(f, list, out);
}

bool sx_zeros_settle(sx_zero_pass *f) {
    sx_sparse_state *state = f->sparse;
    left_out list[SX_CORE_TENSORS];
    bool gates = false;
    for (int v = 0; v < f->n_tensors; v++) list[v].n = list[v].parts = 0, list[v].most = 0;
    set_bits(f);
    f->gaps = false;
    for (int v = 0; v < f->n_tensors; v++) {
        bool output = f->p->tensor[v].output;
        settle_accesses(f, v, output ? NULL : list);
        gates |= !output && f->actions[v].n_skips < f->actions[v].n;
    }
    if (!set_left_out(f, list, state->conditioned)) return false;
    if (gates && !set_skipped(f, state->skipped)) return false;
    if (f->gaps) return false;
    for (int v = 0; v < f->n_tensors; v++) {
        if (f->p->tensor[v].output) continue;
        if (!gates) state->skipped[v] = state->conditioned[v];
        sx_exact_operand(state, v, f->held[v][__builtin_ctz(f->kept[v])].format != NULL);
    }
    return true;
}
