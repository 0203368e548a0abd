/* Computes that several tensors leave out by zeros of the same one (docs/sparse.md, section 5).
 *
 * A compute does not take place where one of the boxes B1 .. Bn of a condition tensor C, each of which holds the word
 * of C that the compute uses, is empty. All boxes of a set S are empty where their union is. By inclusion and exclusion
 *   P(some box is empty) = sum over sets S of boxes of -(-1)^|S| e(U(S)),
 *   U(S) = words of the union of S = sum over subsets R of S of -(-1)^|R| (words of the intersection of R),
 * and an intersection spans, of every loop, the iterations that all its boxes span. Boxes that hold another one add
 * nothing. */
#include "model/sparse/pass.h"

enum { MOST_SETS = 1 << SX_MAX_TENSORS };

/* Lowers the spans of a box to those that another one has, too; returns whether the box lay in the other one, as far
 * as dimensions of a tensor tell. */
static bool intersect_spans(const sx_loop *loop, int n, unsigned dims, const uint32_t *other,
                            uint32_t *spans) {
    bool inside = true;
    for (int l = 0; l < n; l++) {
        if (spans[l] <= other[l]) continue;
        if (dims >> loop[l].dim & 1) inside = false;
        spans[l] = other[l];
    }
    return inside;
}

static bool intersect_boxes(const sx_nest *nest, unsigned dims, const sx_box_loops *other,
                            sx_box_loops *box) {
    bool spatial = intersect_spans(nest->spatial, nest->n_spatial, dims, other->spatial, box->spatial);
    bool temporal = intersect_spans(nest->temporal, nest->n_temporal, dims, other->temporal, box->temporal);
    return spatial && temporal;
}

/* Finds the boxes that do not hold another one; returns how many there are. */
static int find_minimal(const sx_sparse_state *state, int tensor, const sx_left_out *boxes,
                        sx_box_loops *out) {
    unsigned dims = state->model->sparse->dims[tensor];
    int n = 0;
    for (int i = 0; i < boxes->n; i++) {
        uint32_t extent[SX_MAX_DIMS];
        sx_box_loops box;
        bool holds = false;
        sx_exact_box(state, boxes->target[i], boxes->level[i], extent, &box);
        for (int k = n - 1; k >= 0 && !holds; k--) {
            sx_box_loops common = out[k];
            holds = intersect_boxes(state->nest, dims, &box, &common);
            common = box;
            if (!holds && intersect_boxes(state->nest, dims, &out[k], &common)) out[k] = out[--n];
        }
        if (!holds) out[n++] = box;
    }
    return n;
}

/* The words of a tensor that loops of a given number of iterations span. */
static uint64_t words_of(const sx_sparse_state *state, int tensor, const sx_box_loops *loops) {
    const sx_nest *nest = state->nest;
    const uint32_t *size = state->model->size;
    uint32_t extent[SX_MAX_DIMS];
    for (int d = 0; d < SX_MAX_DIMS; d++) extent[d] = 1;
    for (int l = 0; l < nest->n_spatial + nest->n_temporal; l++) {
        bool spatial = l < nest->n_spatial;
        int k = spatial ? l : l - nest->n_spatial, d = spatial ? nest->spatial[k].dim : nest->temporal[k].dim;
        uint64_t wide = (uint64_t)extent[d] * (spatial ? loops->spatial[k] : loops->temporal[k]);
        extent[d] = (uint32_t)(wide < size[d] ? wide : size[d]);
    }
    if (state->model->sparse->windows[tensor]) return sx_window_words(state, tensor, loops, extent);
    return sx_sparse_number(state->model, tensor, extent);
}

/* The words of the intersection of each set of boxes. */
static void find_intersections(const sx_sparse_state *state, int tensor, int n, const sx_box_loops *box,
                               int64_t *words) {
    for (unsigned set = 1; set < 1u << n; set++) {
        sx_box_loops common = box[__builtin_ctz(set)];
        for (unsigned left = set & (set - 1); left; left &= left - 1)
            (void)intersect_boxes(state->nest, 0, &box[__builtin_ctz(left)], &common);
        words[set] = (int64_t)words_of(state, tensor, &common);
    }
}

/* The probability that one of n minimal boxes is empty, each set of which has a given number of words in common. */
static double include_tensor(const sx_sparse_state *state, int tensor, double most, int n,
                             const int64_t *common) {
    double some = 0;
    for (unsigned set = 1; set < 1u << n; set++) {
        int64_t words = 0;
        for (unsigned part = set; part; part = (part - 1) & set)
            words += __builtin_popcount(part) & 1 ? common[part] : -common[part];
        double empty = sx_sparse_empty(state, tensor, (uint64_t)words);
        some += __builtin_popcount(set) & 1 ? empty : -empty;
    }
    return fmax(some, most);
}

double sx_exact_some_empty(const sx_sparse_state *state, int tensor, const sx_left_out *boxes) {
    sx_box_loops box[SX_MAX_TENSORS];
    int64_t common[MOST_SETS];
    /* One word lies in every box; of known places the union is not known. */
    if (boxes->n < 2 || boxes->words == 1 || sx_sparse_density(state, tensor)->placed) return boxes->most;
    int n = find_minimal(state, tensor, boxes, box);
    if (n == 1) return boxes->most;
    find_intersections(state, tensor, n, box, common);
    return include_tensor(state, tensor, boxes->most, n, common);
}
