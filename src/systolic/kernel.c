/* Problems as kernels: which loops are tiled, which are those of a window, and what each loop indexes. */
#include "base/status.h"
#include "ir/rank.h"
#include "sextant/systolic.h"

#include <stdio.h>
#include <string.h>

/* Classes of loops by the arrays that they index. */
enum {
    FIRST = 1 << SX_FIRST,
    SECOND = 1 << SX_SECOND,
    RESULT = 1 << SX_RESULT,
    SUMMED = FIRST | SECOND,         /* a reduction */
    SHARED = FIRST | SECOND | RESULT /* a batch, a group */
};

/* The order in which classes of loops stand in a kernel, sliding or not. */
static const uint8_t class_order[2][4] = {
    {SHARED, FIRST | RESULT, SECOND | RESULT, SUMMED},
    {SHARED, SECOND | RESULT, FIRST | RESULT, SUMMED},
};

/* A problem while its kernel is made. */
typedef struct view {
    const sx_problem *problem;
    int operand[SX_N_OPERANDS];   /* its tensors */
    uint8_t class[SX_MAX_DIMS];   /* by dimension: the arrays that it indexes */
    uint32_t stride[SX_MAX_DIMS]; /* of the first input by an output's dimension */
    int window[SX_MAX_DIMS];      /* the dimension that slides along this one; -1: none */
    bool slides[SX_MAX_DIMS];     /* by dimension: it is one of a window */
    bool sliding;
} view;

static const char *dim_name(const view *v, int dim) {
    return v->problem->dim_name[dim];
}

static const char *operand_name(const view *v, int operand) {
    return v->problem->tensor[v->operand[operand]].name;
}

/* How many dimensions a rank is the sum of; *dim becomes the first. */
static int rank_dims(const view *v, const sx_tensor *tensor, int rank, int *dim) {
    int n = 0;
    for (int d = v->problem->n_dims - 1; d >= 0; d--)
        if (tensor->coef[rank][d]) {
            *dim = d;
            n++;
        }
    return n;
}

/* Whether a window slides over a tensor: a rank is a sum. */
static bool is_slid_over(const view *v, int tensor) {
    const sx_tensor *t = &v->problem->tensor[tensor];
    int dim;
    for (int r = 0; r < t->n_ranks; r++)
        if (rank_dims(v, t, r, &dim) > 1) return true;
    return false;
}

/* What a problem is called in messages. */
static const char *known_as(const char *name) {
    return name[0] ? name : "the einsum";
}

/* The first dimension of the result that only one of the inputs has: that input is the first. */
static int first_input(const view *v, const int input[2]) {
    const sx_tensor *result = &v->problem->tensor[v->operand[SX_RESULT]];
    for (int r = 0; r < result->n_ranks; r++)
        for (int d = 0; d < v->problem->n_dims; d++) {
            bool a = sx_tensor_has(&v->problem->tensor[input[0]], d),
                 b = sx_tensor_has(&v->problem->tensor[input[1]], d);
            if (result->coef[r][d] && a != b) return a ? 0 : 1;
        }
    return 0;
}

/* Which tensor is which operand. */
static sx_status find_operands(view *v) {
    const sx_problem *p = v->problem;
    int input[2], n = 0;
    if (p->n_tensors != 3)
        return sx_error_hint(sx_error_new(SX_ERR_INPUT,
                                          "'%s' has %d inputs, and a systolic array multiplies two",
                                          known_as(p->name), p->n_tensors - 1),
                             "split it into products of two tensors");
    v->operand[SX_RESULT] = sx_problem_output(p);
    for (int t = 0; t < 3; t++)
        if (t != v->operand[SX_RESULT]) input[n++] = t;
    bool slid[2] = {is_slid_over(v, input[0]), is_slid_over(v, input[1])};
    if (slid[0] && slid[1])
        return sx_error_new(SX_ERR_INPUT,
                            "windows slide over both %s and %s; an array has them on one input only",
                            p->tensor[input[0]].name, p->tensor[input[1]].name);
    if (is_slid_over(v, v->operand[SX_RESULT]))
        return sx_error_new(SX_ERR_INPUT,
                            "the result %s has a rank that is a sum of dimensions, which arrays cannot write",
                            p->tensor[v->operand[SX_RESULT]].name);
    v->sliding = slid[0] || slid[1];
    int first = v->sliding ? slid[1] : first_input(v, input);
    v->operand[SX_FIRST] = input[first];
    v->operand[SX_SECOND] = input[!first];
    return SX_OK;
}

/* Adds a rank of the first input that is a sum: an output's dimension and the window's. */
static sx_status read_window(view *v, const sx_tensor *tensor, int rank, const sx_tensor *result) {
    int along = -1, over = -1, n = 0;
    for (int d = 0; d < v->problem->n_dims; d++) {
        if (!tensor->coef[rank][d]) continue;
        n++;
        if (tensor->coef[rank][d] < 0)
            return sx_error_new(SX_ERR_INPUT, "%s runs backwards along '%s'; an array needs it forwards",
                                tensor->name, dim_name(v, d));
        if (sx_tensor_has(result, d))
            along = d;
        else
            over = d;
    }
    if (n != 2 || along < 0 || over < 0 || v->slides[over] || v->window[along] >= 0)
        return sx_error_hint(sx_error_new(SX_ERR_INPUT,
                                          "rank %d of %s is not a window that slides along the result",
                                          rank + 1, tensor->name),
                             "a window is one dimension of the result plus one that is summed, as p+r");
    v->window[along] = over;
    v->slides[over] = true;
    v->stride[along] = (uint32_t)tensor->coef[rank][along];
    return SX_OK;
}

/* Adds a rank that is one dimension. */
static sx_status read_plain(view *v, const sx_tensor *tensor, int dim, int32_t coef, bool first) {
    if (coef < 1 || (coef > 1 && !first))
        return sx_error_new(SX_ERR_INPUT,
                            "%s is read with a step of %d along '%s', which only the first input may be",
                            tensor->name, coef, dim_name(v, dim));
    if (first && (uint32_t)coef > v->stride[dim]) v->stride[dim] = (uint32_t)coef;
    return SX_OK;
}

static sx_status read_ranks(view *v) {
    const sx_tensor *result = &v->problem->tensor[v->operand[SX_RESULT]];
    for (int a = 0; a < SX_N_OPERANDS; a++) {
        const sx_tensor *tensor = &v->problem->tensor[v->operand[a]];
        for (int r = 0; r < tensor->n_ranks; r++) {
            int dim = 0, n = rank_dims(v, tensor, r, &dim);
            for (int d = 0; d < v->problem->n_dims; d++) {
                if (!tensor->coef[r][d]) continue;
                if (v->class[d] >> a & 1)
                    return sx_error_new(SX_ERR_INPUT,
                                        "'%s' indexes two ranks of %s, which arrays cannot read",
                                        dim_name(v, d), tensor->name);
                v->class[d] |= (uint8_t)(1 << a);
            }
            SX_TRY(n > 1 ? read_window(v, tensor, r, result)
                         : read_plain(v, tensor, dim, tensor->coef[r][dim], a == SX_FIRST));
        }
    }
    return SX_OK;
}

/* Refuses dimensions that no loop of a systolic array can be. */
static sx_status check_class(const view *v, int dim) {
    uint8_t class = v->class[dim];
    if (v->slides[dim] || class == SUMMED || class == SHARED || class == (FIRST | RESULT) ||
        class == (SECOND | RESULT))
        return SX_OK;
    if (class == RESULT)
        return sx_error_new(SX_ERR_INPUT, "'%s' is in the result %s only: nothing is computed along it",
                            dim_name(v, dim), operand_name(v, SX_RESULT));
    return sx_error_hint(sx_error_new(SX_ERR_INPUT, "'%s' is summed over in %s alone", dim_name(v, dim),
                                      operand_name(v, class & FIRST ? SX_FIRST : SX_SECOND)),
                         "an array needs every summed dimension in both inputs, or in a window");
}

/* Whether a dimension of size 1 can be left out: what it indexes another loop, which stays, does too. */
static bool is_idle(const view *v, int dim) {
    if (v->problem->size[dim] != 1 || v->window[dim] >= 0) return false;
    bool shared = v->class[dim] == SHARED;
    for (int d = 0; d < v->problem->n_dims; d++) {
        bool earlier = d < dim && v->problem->size[d] == 1 && v->window[d] < 0;
        if (d == dim || v->slides[d]) continue;
        if (shared && v->class[d] != SHARED && v->class[d] & RESULT) return true;
        if (!earlier && v->class[d] == v->class[dim]) return true;
    }
    return false;
}

static sx_status too_many_loops(const char *name) {
    return sx_error_new(SX_ERR_LIMIT, "'%s' has more than %d loops to tile", known_as(name),
                        SX_MAX_SYSTOLIC_LOOPS);
}

/* Adds the loop of a dimension. */
static sx_status add_loop(const view *v, int dim, sx_systolic_kernel *k) {
    if (k->n_loops == SX_MAX_SYSTOLIC_LOOPS) return too_many_loops(v->problem->name);
    sx_systolic_loop *loop = &k->loop[k->n_loops++];
    memcpy(loop->name, dim_name(v, dim), SX_NAME_SIZE);
    loop->size = v->problem->size[dim];
    loop->operands = v->class[dim];
    loop->stride = v->stride[dim];
    int over = v->window[dim];
    if (over < 0) return SX_OK;
    loop->window = v->problem->size[over];
    const sx_tensor *first = &v->problem->tensor[v->operand[SX_FIRST]];
    for (int r = 0; r < first->n_ranks; r++)
        if (first->coef[r][over] && first->coef[r][dim]) {
            uint64_t reach = (uint64_t)(v->problem->size[over] - 1) * (uint64_t)first->coef[r][over];
            if (reach > SX_MAX_DIM_SIZE)
                return sx_error_new(SX_ERR_LIMIT, "the window '%s' reaches over more than %u words of %s",
                                    dim_name(v, over), SX_MAX_DIM_SIZE, first->name);
            loop->reach = (uint32_t)reach;
        }
    return SX_OK;
}

/* The last loop of a class, -1 where there is none. */
static int last_of(const sx_systolic_kernel *k, uint8_t class) {
    for (int d = k->n_loops - 1; d >= 0; d--)
        if (k->loop[d].operands == class) return d;
    return -1;
}

/* The last loop of a class along which the words of the first input are contiguous, -1 where there is none.
 */
static int last_dense_of(const sx_systolic_kernel *k, uint8_t class) {
    for (int d = k->n_loops - 1; d >= 0; d--)
        if (k->loop[d].operands == class && k->loop[d].stride == 1 && k->loop[d].window == 0) return d;
    return -1;
}

/* Chooses the SIMD loop, adding one of a single step where no loop can be it, and the last rank of
 * each array. */
static sx_status choose_ranks(sx_systolic_kernel *k) {
    k->simd = last_dense_of(k, SUMMED);
    if (k->simd < 0 && last_of(k, SUMMED) < 0 && k->n_loops > 1) k->simd = last_dense_of(k, SHARED);
    if (k->simd < 0) {
        if (k->n_loops == SX_MAX_SYSTOLIC_LOOPS) return too_many_loops(k->name);
        k->simd = k->n_loops++;
        k->loop[k->simd] = (sx_systolic_loop){.name = "one", .size = 1, .operands = SUMMED, .stride = 1};
    }
    int last = last_of(k, SECOND | RESULT);
    if (last < 0) last = last_of(k, SHARED);
    if (last < 0) last = last_of(k, FIRST | RESULT);
    k->last[SX_FIRST] = k->last[SX_SECOND] = k->simd;
    k->last[SX_RESULT] = k->loop[k->simd].operands == SHARED ? k->simd : last;
    return SX_OK;
}

/* What the window multiplies. */
static sx_status count_window(const view *v, sx_systolic_kernel *k) {
    uint64_t steps = 1, words = 1;
    for (int d = 0; d < v->problem->n_dims; d++) {
        if (!v->slides[d]) continue;
        steps *= v->problem->size[d];
        if (v->class[d] & SECOND) words *= v->problem->size[d];
        if (steps > UINT32_MAX)
            return sx_error_new(SX_ERR_LIMIT, "the window of '%s' has more than 2^32 words",
                                known_as(k->name));
    }
    k->steps = (uint32_t)steps;
    k->words[SX_FIRST] = k->words[SX_RESULT] = 1;
    k->words[SX_SECOND] = (uint32_t)words;
    return SX_OK;
}

sx_status sx_systolic_kernel_of(const sx_problem *problem, sx_systolic_kernel *out) {
    view v = {.problem = problem};
    sx_systolic_kernel k = {.count = 1, .macs = 1};
    SX_TRY(sx_problem_check(problem));
    for (int d = 0; d < SX_MAX_DIMS; d++) {
        v.window[d] = -1;
        v.stride[d] = 1;
    }
    SX_TRY(find_operands(&v));
    SX_TRY(read_ranks(&v));
    memcpy(k.name, problem->name, SX_NAME_SIZE);
    for (int a = 0; a < SX_N_OPERANDS; a++) memcpy(k.operand[a], operand_name(&v, a), SX_NAME_SIZE);
    k.sliding = v.sliding;
    for (int d = 0; d < problem->n_dims; d++) {
        SX_TRY(check_class(&v, d));
        k.macs *= problem->size[d];
    }
    for (int c = 0; c < 4; c++)
        for (int d = 0; d < problem->n_dims; d++)
            if (v.class[d] == class_order[v.sliding][c] && !v.slides[d] && !is_idle(&v, d))
                SX_TRY(add_loop(&v, d, &k));
    SX_TRY(count_window(&v, &k));
    SX_TRY(choose_ranks(&k));
    *out = k;
    return SX_OK;
}

/* A loop of a kernel that is written down here; window 0: none slides along it. */
static sx_systolic_loop plain_loop(const char *name, uint32_t size, uint8_t operands, uint32_t window) {
    sx_systolic_loop loop = {.size = size, .operands = operands, .stride = 1, .window = window};
    loop.reach = window > 0 ? window - 1 : 0;
    snprintf(loop.name, sizeof loop.name, "%s", name);
    return loop;
}

/* Refuses sizes out of range. */
static sx_status check_sizes(const char *names, const uint32_t *size) {
    for (int i = 0; names[i]; i++)
        if (size[i] < 1 || size[i] > SX_MAX_DIM_SIZE)
            return sx_error_hint(sx_error_new(SX_ERR_INPUT, "the size of '%c' is %u", names[i], size[i]),
                                 "sizes are whole numbers from 1 to %u", SX_MAX_DIM_SIZE);
    return SX_OK;
}

sx_status sx_systolic_matrix(uint32_t i, uint32_t j, uint32_t k, sx_systolic_kernel *out) {
    SX_TRY(check_sizes("ijk", (const uint32_t[]){i, j, k}));
    sx_systolic_kernel kernel = {.operand = {"A", "B", "C"},
                                 .n_loops = 3,
                                 .loop = {plain_loop("i", i, FIRST | RESULT, 0),
                                          plain_loop("j", j, SECOND | RESULT, 0),
                                          plain_loop("k", k, SUMMED, 0)},
                                 .steps = 1,
                                 .words = {1, 1, 1},
                                 .macs = (double)i * j * k,
                                 .count = 1};
    snprintf(kernel.name, sizeof kernel.name, "%ux%ux%u", i, j, k);
    SX_TRY(choose_ranks(&kernel));
    *out = kernel;
    return SX_OK;
}

sx_status sx_systolic_convolution(uint32_t i, uint32_t o, uint32_t r, uint32_t c, uint32_t p, uint32_t q,
                                  sx_systolic_kernel *out) {
    SX_TRY(check_sizes("iorcpq", (const uint32_t[]){i, o, r, c, p, q}));
    if ((uint64_t)p * q > UINT32_MAX)
        return sx_error_new(SX_ERR_LIMIT, "a window of %u x %u has more than 2^32 words", p, q);
    sx_systolic_kernel kernel = {
        .operand = {"cin", "w", "cout"},
        .n_loops = 4,
        .loop = {plain_loop("o", o, SECOND | RESULT, 0), plain_loop("r", r, FIRST | RESULT, p),
                 plain_loop("c", c, FIRST | RESULT, q), plain_loop("i", i, SUMMED, 0)},
        .sliding = true,
        .steps = p * q,
        .words = {1, p * q, 1},
        .macs = (double)i * o * r * c * p * q,
        .count = 1};
    snprintf(kernel.name, sizeof kernel.name, "i%u o%u %ux%u %ux%u", i, o, r, c, p, q);
    SX_TRY(choose_ranks(&kernel));
    *out = kernel;
    return SX_OK;
}

/* How many loops of a class a kernel has. */
static int count_of(const sx_systolic_kernel *k, uint8_t class) {
    int n = 0;
    for (int d = 0; d < k->n_loops; d++) n += k->loop[d].operands == class;
    return n;
}

/* Gives a kernel a given number of loops of each class, those it lacks before its own. */
static void add_loops(sx_systolic_kernel *k, bool sliding, const int most[4],
                      const sx_systolic_kernel *model) {
    sx_systolic_kernel wide = *k;
    wide.n_loops = 0;
    wide.sliding = sliding;
    for (int c = 0; c < 4; c++) {
        uint8_t class = class_order[sliding][c];
        for (int left = most[c] - count_of(k, class); left > 0; left--) {
            wide.loop[wide.n_loops] = (sx_systolic_loop){.size = 1, .operands = class, .stride = 1};
            memcpy(wide.loop[wide.n_loops].name, model->loop[wide.n_loops].name, SX_NAME_SIZE);
            wide.n_loops++;
        }
        for (int d = 0; d < k->n_loops; d++)
            if (k->loop[d].operands == class) wide.loop[wide.n_loops++] = k->loop[d];
    }
    *k = wide;
}

/* The name of a loop of a class that several kernels have, counting from the last; that of the last of them.
 */
static void name_loop(const sx_systolic_kernel *kernels, size_t n, uint8_t class, int from_last, char *name) {
    for (size_t i = 0; i < n; i++) {
        int left = from_last;
        for (int d = kernels[i].n_loops - 1; d >= 0; d--)
            if (kernels[i].loop[d].operands == class && --left == 0)
                memcpy(name, kernels[i].loop[d].name, SX_NAME_SIZE);
    }
}

sx_status sx_systolic_join(sx_systolic_kernel *kernels, size_t n) {
    bool sliding = false;
    int most[4] = {0}, all = 0;
    for (size_t i = 0; i < n; i++) sliding = sliding || kernels[i].sliding;
    for (int c = 0; c < 4; c++) {
        for (size_t i = 0; i < n; i++) {
            int own = count_of(&kernels[i], class_order[sliding][c]);
            if (own > most[c]) most[c] = own;
        }
        all += most[c];
    }
    if (all > SX_MAX_SYSTOLIC_LOOPS)
        return sx_error_hint(sx_error_new(SX_ERR_LIMIT,
                                          "the layers have %d loops in common, at most %d can be tiled", all,
                                          SX_MAX_SYSTOLIC_LOOPS),
                             "give layers that are more similar, or search each separately");
    sx_systolic_kernel names = {.n_loops = 0};
    for (int c = 0; c < 4; c++)
        for (int l = most[c]; l > 0; l--)
            name_loop(kernels, n, class_order[sliding][c], l, names.loop[names.n_loops++].name);
    for (size_t i = 0; i < n; i++) {
        add_loops(&kernels[i], sliding, most, &names);
        SX_TRY(choose_ranks(&kernels[i]));
        if (kernels[i].simd != kernels[0].simd || kernels[i].n_loops != kernels[0].n_loops)
            return sx_error_hint(sx_error_new(SX_ERR_INPUT,
                                              "the SIMD lanes of '%s' and '%s' are along different loops",
                                              known_as(kernels[0].name), known_as(kernels[i].name)),
                                 "search each separately");
    }
    return SX_OK;
}
