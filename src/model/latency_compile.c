/* Compiling the laws of an architecture for a problem.
 *
 * Names of dimensions in a law are those of a convolution where the problem lacks one of the array's: C is then a
 * dimension of both operands, K one of weights and outputs, P one of inputs and outputs. */
#include "model/latency.h"

#include "base/status.h"
#include "ir/arch.h"
#include "ir/law.h"
#include "ir/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* How the names of a law are looked up in a problem. */
typedef struct naming {
    const sx_problem *problem;
    int weights, inputs, output;
    bool by_role;
} naming;

/* The dimension of that name, in any case; -1 where there is none. */
static int named_dim(const sx_problem *problem, const char *name) {
    int exact = sx_problem_dim(problem, name);
    for (int d = 0; d < problem->n_dims && exact < 0; d++)
        if (strcasecmp(problem->dim_name[d], name) == 0) exact = d;
    return exact;
}

/* The dimension of a tensor and another, and not of the third, that is the largest; -1 where there is none. */
static int shared_dim(const naming *n, int a, int b, int without) {
    int best = -1;
    if (a < 0 || b < 0) return -1;
    for (int d = 0; d < n->problem->n_dims; d++) {
        bool in[SX_MAX_TENSORS] = {false};
        for (int v = 0; v < n->problem->n_tensors; v++)
            for (int r = 0; r < n->problem->tensor[v].n_ranks; r++)
                in[v] |= n->problem->tensor[v].coef[r][d] != 0;
        if (!in[a] || !in[b] || (without >= 0 && in[without])) continue;
        if (best < 0 || n->problem->size[d] > n->problem->size[best]) best = d;
    }
    return best;
}

/* The dimension that a name of the law stands for; -1 where there is none. */
static int find_dim(const naming *n, const char *name) {
    if (!n->by_role) return named_dim(n->problem, name);
    if (strcmp(name, "C") == 0) return shared_dim(n, n->weights, n->inputs, n->output);
    if (strcmp(name, "K") == 0) return shared_dim(n, n->weights, n->output, n->inputs);
    if (strcmp(name, "P") == 0) return shared_dim(n, n->inputs, n->output, n->weights);
    return -1;
}

/* A tensor by its name or role; -1 where there is none. */
static int find_tensor(const sx_problem *problem, const char *name) {
    int v = sx_problem_tensor(problem, name);
    return v >= 0 ? v : sx_problem_role(problem, name);
}

static naming make_naming(const sx_model *model, const sx_law *law) {
    const sx_problem *problem = model->problem;
    naming n = {.problem = problem,
                .weights = sx_problem_role(problem, "Weights"),
                .inputs = sx_problem_role(problem, "Inputs"),
                .output = sx_problem_output(problem)};
    for (int v = 0; v < problem->n_tensors && n.weights < 0; v++)
        if (!problem->tensor[v].output && v != n.inputs) n.weights = v;
    for (int i = 0; i < law->n_array; i++) n.by_role |= named_dim(problem, law->array[i].dim) < 0;
    n.by_role |= law->n_array && named_dim(problem, law->stream) < 0;
    return n;
}

/* Whether a rank of a tensor has a dimension. */
static bool rank_has(const sx_tensor *tensor, int rank, int dim) {
    return tensor->coef[rank][dim] != 0;
}

/* Puts the ranks of a tensor in the order of memory: those that the layout names last, in its order. */
static void order_ranks(const naming *n, const sx_law *law, int v, uint8_t *order) {
    const sx_tensor *tensor = &n->problem->tensor[v];
    bool placed[SX_MAX_RANKS] = {false};
    uint8_t last[SX_MAX_RANKS];
    int n_last = 0, n_first = 0;
    for (int i = 0; i < law->n_layouts; i++) {
        char text[SX_LAYOUT_SIZE], *rest;
        if (find_tensor(n->problem, law->layout[i].tensor) != v) continue;
        memcpy(text, law->layout[i].dims, sizeof text);
        for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
            int d = find_dim(n, word);
            for (int r = 0; r < tensor->n_ranks && d >= 0; r++) {
                if (placed[r] || !rank_has(tensor, r, d)) continue;
                placed[r] = true;
                last[n_last++] = (uint8_t)r;
                break;
            }
        }
    }
    for (int r = 0; r < tensor->n_ranks; r++)
        if (!placed[r]) order[n_first++] = (uint8_t)r;
    memcpy(order + n_first, last, (size_t)n_last);
}

/* Compiles a tensor as it lies in memory; its terms go to `term`, of which the next free one is returned. */
static struct sx_stored_term *compile_stored(const naming *n, const sx_law *law, const sx_storage *level,
                                             int v, struct sx_stored_term *term, sx_stored *out) {
    const sx_tensor *tensor = &n->problem->tensor[v];
    uint8_t order[SX_MAX_RANKS];
    order_ranks(n, law, v, order);
    out->bytes = sx_element_bits(level, tensor) / 8.0;
    out->output = tensor->output;
    out->n_ranks = tensor->n_ranks;
    out->term = term;
    for (int i = 0; i < tensor->n_ranks; i++) {
        int r = order[i];
        out->whole[i] = (double)sx_rank_extent(n->problem, v, r, n->problem->size);
        out->first[i] = (uint16_t)(term - out->term);
        for (int d = 0; d < n->problem->n_dims; d++) {
            if (!rank_has(tensor, r, d)) continue;
            out->dims |= (uint16_t)(1u << d);
            out->rank_dims[i] |= (uint16_t)(1u << d);
            if (n->problem->size[d] > 1)
                *term++ = (struct sx_stored_term){(uint32_t)abs(tensor->coef[r][d]), (uint8_t)d};
        }
    }
    out->first[tensor->n_ranks] = (uint16_t)(term - out->term);
    return term;
}

/* The bytes per cycle of a level's port in one direction. */
static double port_rate(const sx_storage *level, double bandwidth) {
    return fmin(bandwidth, level->shared_bandwidth) * level->word_bits / 8.0;
}

/* Sets what a boundary has of the array. */
static void compile_array(const naming *n, const sx_law *law, sx_boundary *b) {
    b->array = law->n_array > 0;
    b->stream = -1;
    for (int d = 0; d < n->problem->n_dims; d++) b->block[d] = 1;
    if (!b->array) return;
    b->stationary = n->weights >= 0 ? b->stored[n->weights].dims : 0;
    int stream = find_dim(n, law->stream);
    if (stream >= 0 && !(b->stationary >> stream & 1)) b->stream = (int8_t)stream;
    for (int i = 0; i < law->n_array; i++) {
        int d = find_dim(n, law->array[i].dim);
        if (d >= 0) b->block[d] = law->array[i].size;
    }
}

/* Levels from which the tiles are loaded that the loops of a level launch: those with the same law. The level of what a fused
 * layer finds on chip stands inside the outermost one and has its law: its loops launch tiles, which are loaded from the
 * outermost one; to a law inside of it, it is a part of the memory. */
static uint16_t ports_of(const sx_arch *arch, int s) {
    const int outermost = arch->n_levels - 1;
    unsigned ports = 1u << s;
    if (s + 2 == outermost && arch->level[s + 1].law && arch->level[s + 1].law == arch->level[outermost].law)
        return (uint16_t)(3u << s);
    for (int i = s + 1; i <= outermost && arch->level[i].law == arch->level[s].law; i++)
        ports = i == outermost ? 1u << i : ports | 1u << i;
    return (uint16_t)ports;
}

/* The outermost level from which a boundary's tiles are loaded. */
static int outermost_port(const sx_boundary *b) {
    return 31 - __builtin_clz(b->ports);
}

/* Compiles the boundary of a level. */
static struct sx_stored_term *compile_boundary(const sx_model *model, int s, struct sx_stored_term *term,
                                               sx_boundary *b) {
    const naming n = make_naming(model, b->law);
    b->level = (uint8_t)s;
    b->ports = ports_of(model->arch, s);
    const sx_storage *level = &model->arch->level[outermost_port(b)];
    for (int v = 0; v < model->n_tensors; v++)
        term = compile_stored(&n, b->law, level, v, term, &b->stored[v]);
    b->reduction = (uint16_t)~b->stored[n.output].dims;
    b->load_bus = b->law->load_bus > 0 ? b->law->load_bus : port_rate(level, level->read_bandwidth);
    b->store_time = b->law->store_time;
    if (b->store_time == 0) {
        double rate = port_rate(level, level->write_bandwidth);
        b->store_time = (isinf(b->law->store_request) ? 1 : b->law->store_request) / rate;
    }
    compile_array(&n, b->law, b);
    return term;
}

/* The terms that one boundary takes. */
static size_t count_terms(const sx_problem *problem) {
    size_t n = 0;
    for (int v = 0; v < problem->n_tensors; v++)
        for (int r = 0; r < problem->tensor[v].n_ranks; r++)
            for (int d = 0; d < problem->n_dims; d++) n += problem->tensor[v].coef[r][d] != 0;
    return n;
}

/* Says which levels count with Timeloop's cycles: those outside an array that have no law with a bus of its own. */
static uint16_t timed_levels(const sx_model *model, const sx_latency_model *out) {
    unsigned timed = 0;
    for (int s = out->boundary[0].array ? outermost_port(&out->boundary[0]) : 0; s < model->n_levels; s++)
        if (model->level[s].bounded) timed |= 1u << s;
    for (int i = 0; i < out->n; i++)
        if (out->boundary[i].law->load_bus > 0) timed &= ~(unsigned)out->boundary[i].ports;
    return (uint16_t)timed;
}

/* Whether a level has a law that says something and is the innermost with it. */
static bool launches_tiles(const sx_arch *arch, int s) {
    const sx_law *law = sx_arch_law(arch, s);
    return law && !sx_law_is_neutral(law) && !(s > 0 && arch->level[s - 1].law == arch->level[s].law);
}

sx_status sx_latency_compile(const sx_model *model, sx_latency_model **out) {
    size_t n_laws = 0;
    for (int s = 0; s < model->n_levels; s++) n_laws += launches_tiles(model->arch, s);
    const size_t n_stored = n_laws * model->n_tensors;
    *out = NULL;
    if (n_laws == 0) return SX_OK;
    sx_latency_model *made =
        calloc(1, sizeof *made + n_stored * sizeof(sx_stored) +
                      n_laws * count_terms(model->problem) * sizeof(struct sx_stored_term));
    if (!made) return sx_error_memory();
    sx_stored *stored = (sx_stored *)(made + 1);
    struct sx_stored_term *term = (struct sx_stored_term *)(stored + n_stored);
    for (int s = 0; s < model->n_levels; s++) {
        if (!launches_tiles(model->arch, s)) continue;
        sx_boundary *b = &made->boundary[made->n++];
        b->law = sx_arch_law(model->arch, s);
        b->stored = stored;
        stored += model->n_tensors;
        term = compile_boundary(model, s, term, b);
        made->counted |= !b->law->refetch || b->law->spill;
    }
    for (int i = 0; i < made->n; i++) {
        made->boundary[i].outer = i + 1 < made->n ? made->boundary[i + 1].level : model->n_levels;
        sx_latency_compile_caches(model, &made->boundary[i]);
    }
    made->timed = timed_levels(model, made);
    made->counted |= made->timed != 0;
    *out = made;
    return SX_OK;
}

bool sx_latency_sees_orders(const sx_model *model) {
    bool caches = false;
    for (int i = 0; model->law && i < model->law->n; i++) caches |= model->law->boundary[i].n_caches > 0;
    return caches;
}

double sx_latency_slots(const sx_arch *arch, int level) {
    if (arch->level[level].instances == arch->compute.instances) return 1;
    for (int s = level + 1; s < arch->n_levels; s++) {
        const sx_law *law = sx_arch_law(arch, s);
        if (law) return isinf(law->slots) ? 1 : law->slots;
    }
    return 1;
}

sx_status sx_latency_check(bool tile, const sx_arch *arch, const sx_objective *objective) {
    if (tile && arch && arch->n_laws == 0)
        return sx_error_hint(sx_error_new(SX_ERR_INPUT,
                                          "--latency tile: no level of '%s' has a map of `latency` keys",
                                          arch->name),
                             "docs/latency.md has the keys; the architecture 'gemmini' has them");
    for (int i = 0; objective && i < objective->n_criteria && !tile; i++)
        if (objective->criterion[i].kind == SX_LATENCY)
            return sx_error_hint(
                sx_error_new(SX_ERR_USAGE, "the objective has latency, which needs --latency tile"),
                "Timeloop's cycles are the objective 'delay'");
    return SX_OK;
}
