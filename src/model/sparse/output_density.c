/* The density of an output that follows from its operands (docs/sparse.md, section 2).
 *
 * A word of the output is a sum of products over the dimensions that it does not have, and zero where in every product
 * some operand is. Operands are taken one after the other: of m products that are left, as many remain as the operand has
 * non-zeros among the m words that they use. An operand that has all reduction dimensions uses another word in each product;
 * one that has some of them leaves all products at a coordinate, or none. Where two operands of the second kind have a
 * dimension in common, where an operand uses a word in several products for other reasons, and in sums of some products
 * that it makes no difference, products are taken as independent. */
#include "model/sparse/pass.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PRODUCTS = 4096 };
static const double unlikely = 1e-18;

/* The products of one output word. */
typedef struct products {
    const sx_model *model;
    const struct sx_sparse_model *sparse;
    sx_density_cache *cache;
    int output;
    unsigned dims; /* over which they are summed */
    uint64_t n;
    double *left, *next; /* n + 1: probability that i are left */
} products;

/* The product of the sizes of some dimensions. */
static double size_product(const sx_model *model, unsigned dims) {
    double n = 1;
    for (int d = 0; d < model->n_dims; d++)
        if (dims >> d & 1) n *= model->size[d];
    return n;
}

static bool is_dense(const products *p, int v) {
    return sx_density_of_word(&p->sparse->density[v]) >= 1;
}

/* Whether an operand's words are drawn by chance, and differ wherever its reduction dimensions do. */
static bool is_simple(const products *p, int v) {
    uint32_t extent[SX_MAX_DIMS];
    unsigned own = p->dims & p->sparse->dims[v];
    for (int d = 0; d < p->model->n_dims; d++) extent[d] = own >> d & 1 ? p->model->size[d] : 1;
    return !p->sparse->density[v].placed &&
           (double)sx_shape_words(&p->model->shape[v], extent) == size_product(p->model, own);
}

/* Whether the operands can be taken one after the other. */
static bool is_exact(const products *p) {
    unsigned some = 0;
    if (size_product(p->model, p->dims) > MOST_PRODUCTS) return false;
    for (int v = 0; v < p->model->n_tensors; v++) {
        unsigned own = p->dims & p->sparse->dims[v];
        if (v == p->output || is_dense(p, v)) continue;
        if (!is_simple(p, v) || (own != p->dims && own & some)) return false;
        if (own != p->dims) some |= own;
    }
    return true;
}

/* Takes `next` for what is left. */
static void step_product(products *p) {
    double *spare = p->left;
    p->left = p->next;
    p->next = memset(spare, 0, (p->n + 1) * sizeof *spare);
}

/* Leaves the products at coordinates where an operand, which has some of the dimensions, is not zero. */
static bool leave_coordinates(products *p, int v) {
    sx_occupancies at;
    uint64_t words = (uint64_t)size_product(p->model, p->dims & p->sparse->dims[v]);
    if (!sx_density_window(&p->sparse->density[v], p->cache, words, &at)) return false;
    for (uint64_t m = 0; m <= p->n; m++)
        for (size_t i = 0; i < at.n && p->left[m] > unlikely; i++)
            p->next[m / words * (at.first + i)] += p->left[m] * at.probability[i];
    step_product(p);
    return true;
}

/* Leaves the products where an operand, which has all dimensions, is not zero; of the last operand it matters only
 * whether one is. */
static bool leave_words(products *p, const sx_density *density, bool last, double share) {
    sx_occupancies at;
    for (uint64_t m = 0; m <= p->n; m++) {
        double probability = p->left[m] * share;
        if (probability < unlikely) continue;
        if (last) {
            p->next[0] += probability * (m ? sx_density_empty(density, p->cache, m) : 1);
            continue;
        }
        if (!sx_density_window(density, p->cache, m, &at)) return false;
        for (size_t i = 0; i < at.n; i++) p->next[at.first + i] += probability * at.probability[i];
    }
    return true;
}

/* The same for an operand of any density. Of a fixed-structured one, the words of all products are a tile with its
 * share of non-zeros, which lie anywhere in it. */
static bool leave_nonzeros(products *p, int v, bool last) {
    const sx_density *density = &p->sparse->density[v];
    sx_occupancies at;
    double probability[2];
    if (density->model == SX_DENSITY_HYPERGEOMETRIC) {
        if (!leave_words(p, density, last, 1)) return false;
        step_product(p);
        return true;
    }
    if (!sx_density_window(density, p->cache, p->n, &at)) return false;
    memcpy(probability, at.probability, at.n * sizeof *probability);
    for (size_t i = 0; i < at.n; i++) {
        double share = fmax(0, (double)(at.first + i) - 0.5) / (double)p->n; /* rounded up again */
        sx_density tile = sx_density_make(SX_DENSITY_HYPERGEOMETRIC, share, p->n);
        if (tile.nonzeros == 0)
            p->next[0] += probability[i];
        else if (!leave_words(p, &tile, last, probability[i]))
            return false;
    }
    step_product(p);
    return true;
}

/* Takes the operands one after the other; the probability that no product is left. False when memory is out. */
static bool take_operands(products *p, double *zero) {
    unsigned some = 0, all = 0; /* operands that have some, and all dimensions */
    for (int v = 0; v < p->model->n_tensors; v++) {
        if (v == p->output || is_dense(p, v)) continue;
        bool whole = (p->dims & p->sparse->dims[v]) == p->dims;
        *(whole ? &all : &some) |= 1u << v;
    }
    p->left[p->n] = 1;
    for (; some; some &= some - 1)
        if (!leave_coordinates(p, __builtin_ctz(some))) return false;
    for (; all; all &= all - 1)
        if (!leave_nonzeros(p, __builtin_ctz(all), !(all & (all - 1)))) return false;
    *zero = p->left[0];
    return true;
}

/* The density of independent products. */
static double independent_density(const products *p) {
    double all = 1;
    for (int v = 0; v < p->model->n_tensors; v++)
        if (v != p->output) all *= sx_density_of_word(&p->sparse->density[v]);
    return all < 1 ? -expm1(size_product(p->model, p->dims) * log1p(-all)) : 1;
}

sx_status sx_output_density(const sx_model *model, const struct sx_sparse_model *sparse, int output,
                            double *out) {
    products p = {.model = model, .sparse = sparse, .output = output};
    double zero = 0;
    p.dims = ((1u << model->n_dims) - 1) & ~(unsigned)sparse->dims[output];
    if (!is_exact(&p)) {
        *out = independent_density(&p);
        return SX_OK;
    }
    p.n = (uint64_t)size_product(model, p.dims);
    p.cache = sx_density_cache_new(false, NULL);
    p.left = calloc(p.n + 1, sizeof *p.left);
    p.next = calloc(p.n + 1, sizeof *p.next);
    bool good = p.cache && p.left && p.next && take_operands(&p, &zero);
    sx_density_cache_free(p.cache);
    free(p.left);
    free(p.next);
    if (!good) return sx_error_memory();
    *out = fmin(1, fmax(0, 1 - zero));
    return SX_OK;
}
