#include "check/tile_law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The dimension of a name, whatever its case; -1: none. */
static int dim_by_name(const sx_problem *problem, const char *name) {
    for (int pass = 0; pass < 2; pass++)
        for (int d = 0; d < problem->n_dims; d++)
            if ((pass ? strcasecmp : strcmp)(problem->dim_name[d], name) == 0) return d;
    return -1;
}

/* The tensors of a product by role: weights (or the first operand that is not the inputs), inputs, output. */
static void find_roles(const sx_problem *problem, int role[3]) {
    role[0] = sx_problem_role(problem, "Weights");
    role[1] = sx_problem_role(problem, "Inputs");
    for (int v = 0; v < problem->n_tensors; v++) {
        if (problem->tensor[v].output && role[2] < 0) role[2] = v;
        if (!problem->tensor[v].output && v != role[1] && role[0] < 0) role[0] = v;
    }
}

/* The dimension that a name of the law is: by name, or for the roles C, K and P the longest one of two tensors that the third
 * has not. */
static int find_dim(const sx_check_tile_law *l, bool by_role, const char *name) {
    static const struct {
        const char *name;
        int in[2], out;
    } roles[] = {{"C", {0, 1}, 2}, {"K", {0, 2}, 1}, {"P", {1, 2}, 0}};
    const sx_problem *problem = &l->c->problem;
    int role[3] = {-1, -1, -1}, found = -1;
    if (!by_role) return dim_by_name(problem, name);
    find_roles(problem, role);
    for (int i = 0; i < 3; i++) {
        const int a = role[roles[i].in[0]], b = role[roles[i].in[1]], other = role[roles[i].out];
        if (strcmp(name, roles[i].name) != 0 || a < 0 || b < 0) continue;
        for (int d = 0; d < problem->n_dims; d++)
            if ((l->dims[a] & l->dims[b] & ~(other < 0 ? 0u : l->dims[other])) >> d & 1)
                if (found < 0 || problem->size[d] > problem->size[found]) found = d;
    }
    return found;
}

/* Puts the ranks that a layout names behind the others, in its order. */
static void order_ranks(sx_check_tile_law *l, bool by_role, int v) {
    const sx_tensor *tensor = &l->c->problem.tensor[v];
    uint8_t named[SX_MAX_RANKS];
    int n_named = 0, n = 0;
    unsigned placed = 0;
    for (int i = 0; i < l->law->n_layouts; i++) {
        const char *owner = l->law->layout[i].tensor, *at = l->law->layout[i].dims;
        const int of = sx_problem_tensor(&l->c->problem, owner);
        if ((of >= 0 ? of : sx_problem_role(&l->c->problem, owner)) != v) continue;
        while (*(at += strspn(at, " "))) {
            char word[SX_NAME_SIZE] = "";
            const size_t length = strcspn(at, " ");
            memcpy(word, at, length < sizeof word ? length : sizeof word - 1);
            at += length;
            const int d = find_dim(l, by_role, word);
            int r = 0;
            while (d >= 0 && r < tensor->n_ranks && ((placed >> r & 1) || !tensor->coef[r][d])) r++;
            if (d < 0 || r == tensor->n_ranks) continue;
            placed |= 1u << r;
            named[n_named++] = (uint8_t)r;
        }
    }
    for (int r = 0; r < tensor->n_ranks; r++)
        if (!(placed >> r & 1)) l->order[v][n++] = (uint8_t)r;
    memcpy(l->order[v] + n, named, (size_t)n_named);
}

/* Bytes per cycle of the outermost level's port in one direction. */
static double port_bytes(const sx_check_level *level, int port) {
    double words = INFINITY;
    const int both[] = {port, SX_PORT_SHARED};
    for (int i = 0; i < 2; i++)
        if (level->port[both[i]].den)
            words = fmin(words, (double)level->port[both[i]].num / (double)level->port[both[i]].den);
    return words * (double)level->word_bits / 8;
}

void sx_check_tile_law_init(const sx_check_case *c, sx_check_tile_law *out) {
    const sx_law *law = &c->machine.law;
    const sx_problem *problem = &c->problem;
    const sx_check_level *level = &c->machine.level[c->machine.n_levels - 1];
    int role[3] = {-1, -1, -1};
    *out = (sx_check_tile_law){.c = c, .law = law, .array = law->n_array > 0, .stream = -1};
    for (int v = 0; v < problem->n_tensors; v++) {
        out->bytes[v] = (double)(problem->tensor[v].bits ? problem->tensor[v].bits : level->word_bits) / 8;
        for (int r = 0; r < problem->tensor[v].n_ranks; r++)
            for (int d = 0; d < problem->n_dims; d++)
                if (problem->tensor[v].coef[r][d]) out->dims[v] |= 1u << d;
    }
    bool by_role = out->array && dim_by_name(problem, law->stream) < 0;
    for (int i = 0; i < law->n_array; i++) by_role |= dim_by_name(problem, law->array[i].dim) < 0;
    find_roles(problem, role);
    out->stationary = role[0] < 0 ? 0 : out->dims[role[0]];
    for (int d = 0; d < problem->n_dims; d++) out->place[d] = 1;
    for (int i = 0; i < law->n_array; i++) {
        const int d = find_dim(out, by_role, law->array[i].dim);
        if (d >= 0) out->place[d] = law->array[i].size;
    }
    const int stream = out->array ? find_dim(out, by_role, law->stream) : -1;
    if (stream >= 0 && !(out->stationary >> stream & 1)) out->stream = stream;
    for (int v = 0; v < problem->n_tensors; v++) order_ranks(out, by_role, v);
    out->load_bus = law->load_bus > 0 ? law->load_bus : port_bytes(level, SX_PORT_READ);
    out->store_time = law->store_time > 0 ? law->store_time
                                          : (isinf(law->store_request) ? 1 : law->store_request) /
                                                port_bytes(level, SX_PORT_WRITE);
}

/* The extents of a tensor's ranks, as they lie in memory, and of the whole tensor. */
static int find_extents(const sx_check_tile_law *l, int v, const int64_t *extent, double *part,
                        double *whole) {
    const sx_problem *problem = &l->c->problem;
    const sx_tensor *tensor = &problem->tensor[v];
    for (int i = 0; i < tensor->n_ranks; i++) {
        const int32_t *coef = tensor->coef[l->order[v][i]];
        part[i] = whole[i] = 1;
        for (int d = 0; d < problem->n_dims; d++) {
            part[i] += abs(coef[d]) * (double)(extent[d] - 1);
            whole[i] += abs(coef[d]) * ((double)problem->size[d] - 1);
        }
    }
    return tensor->n_ranks;
}

/* A tile in memory: runs of the same number of bytes, a stride apart; it is one run where it is the whole tensor. */
typedef struct tile_in_memory {
    double runs, bytes, stride;
    bool apart;
} tile_in_memory;

static tile_in_memory find_runs(const sx_check_tile_law *l, int v, const int64_t *extent) {
    double part[SX_MAX_RANKS], whole[SX_MAX_RANKS];
    int r = find_extents(l, v, extent, part, whole);
    tile_in_memory m = {1, l->bytes[v], l->bytes[v], false};
    while (r > 0 && !m.apart) {
        r--;
        m.bytes *= part[r];
        m.stride *= whole[r];
        m.apart = part[r] < whole[r];
    }
    while (r > 0) m.runs *= part[--r];
    return m;
}

/* The cycles of a tensor's tile on the port, pages included. */
static double port_cycles(const sx_check_tile_law *l, int v, const int64_t *extent) {
    const sx_law *law = l->law;
    double part[SX_MAX_RANKS], whole[SX_MAX_RANKS], outer = 1, cycles;
    const int n = find_extents(l, v, extent, part, whole);
    for (int r = 0; r + 1 < n; r++) outer *= part[r];
    const double inner = (n ? part[n - 1] : 1) * l->bytes[v];
    if (l->c->problem.tensor[v].output)
        cycles = isinf(law->store_request) ? inner * l->store_time
                                           : ceil(inner / law->store_request) * l->store_time;
    else
        cycles = isinf(law->load_request)
                     ? inner / l->load_bus
                     : ceil(inner / law->load_request) *
                           fmax(law->load_min, fmin(inner, law->load_request) / l->load_bus);
    const tile_in_memory m = find_runs(l, v, extent);
    const double pages = m.apart && m.stride < law->page ? fmax(1, m.runs * m.stride / law->page)
                                                         : m.runs * fmax(1, m.bytes / law->page);
    return outer * cycles + law->page_time * pages;
}

/* Lines of a tensor's tile, and those of a cache's sets that they crowd. */
static double count_lines(const sx_check_tile_law *l, const sx_law_cache *cache, int v, const int64_t *extent,
                          double *crowded) {
    const double line = l->law->line, sets = cache->bytes / (line * cache->ways);
    const tile_in_memory m = find_runs(l, v, extent);
    const double each = fmax(1, m.bytes / line), steps = m.stride / line;
    double share = 1;
    if (m.apart && m.stride >= line && steps == floor(steps)) {
        uint64_t a = (uint64_t)steps, b = (uint64_t)sets;
        while (b) {
            const uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        share = fmin(1, each / (double)a);
    }
    *crowded = m.runs * each / share;
    return m.runs * each;
}

/* The share of the lines of a tile that a cache still has. */
static double share_held(const sx_check_tile_law *l, const sx_law_cache *cache, unsigned kept,
                         const int64_t *extent) {
    double lines = 0;
    for (int v = 0; v < l->c->problem.n_tensors; v++) {
        double crowded;
        if (!(kept >> v & 1)) continue;
        count_lines(l, cache, v, extent, &crowded);
        lines += crowded;
    }
    const double room = cache->bytes / (lines * l->law->line);
    if (room >= 1) return 1;
    return isinf(l->law->soft) ? 0 : pow(room, l->law->soft);
}

/* Takes lines missed over one more loop: `wide` are the extents with it. */
static void pass_loop(const sx_check_tile_law *l, const sx_check_tile *t, int d, const int64_t *extent,
                      const int64_t *wide, double (*missed)[SX_MAX_TENSORS]) {
    const double f = (double)t->times[d];
    for (int c = 0; c < l->law->n_caches; c++) {
        const sx_law_cache *cache = &l->law->cache[c];
        const double lost = 1 - share_held(l, cache, t->kept, extent);
        for (int v = 0; v < l->c->problem.n_tensors; v++) {
            double crowded;
            if (!(t->kept >> v & 1)) continue;
            if (l->dims[v] >> d & 1) {
                const double grown =
                    count_lines(l, cache, v, wide, &crowded) / count_lines(l, cache, v, extent, &crowded);
                missed[c][v] *= grown + fmax(f - grown, 0) * lost;
            } else if (!l->c->problem.tensor[v].output) {
                missed[c][v] *= 1 + (f - 1) * lost;
            }
        }
    }
}

/* The cycles of an array for a tile. */
static double array_cycles(const sx_check_tile_law *l, const int64_t *extent) {
    const sx_law *law = l->law;
    const int64_t rows = (int64_t)law->rows, along = l->stream < 0 ? 1 : extent[l->stream];
    double blocks = 1, rest = 1;
    for (int d = 0; d < l->c->problem.n_dims; d++)
        if (l->stationary >> d & 1)
            blocks *= (double)((extent[d] + l->place[d] - 1) / l->place[d]);
        else if (d != l->stream)
            rest *= (double)extent[d];
    const double full = (double)(along / rows), left = (double)(along % rows);
    const double last = left > 0 ? fmax(left, law->min_rows) : law->rows;
    const double steps = rest * (law->rows * full + (left > 0 ? last : 0)) - last + fmax(law->preload, last);
    return blocks * fmax(steps, law->issue * rest * (full + (left > 0)));
}

/* The law, with a given number of lines missed of each tensor; NULL: none. */
static double launch_all(const sx_check_tile_law *l, const sx_check_tile *t,
                         const double (*missed)[SX_MAX_TENSORS]) {
    const sx_law *law = l->law;
    const sx_problem *problem = &l->c->problem;
    double n = 1, sums = 1, stage[3] = {0}; /* load, compute, store */
    unsigned result = 0;
    for (int v = 0; v < problem->n_tensors; v++)
        if (problem->tensor[v].output) result = l->dims[v];
    for (int d = 0; d < problem->n_dims; d++) {
        n *= (double)t->times[d];
        if (!(result >> d & 1)) sums *= (double)t->times[d];
    }
    for (int v = 0; v < problem->n_tensors; v++) {
        const bool out = problem->tensor[v].output;
        if (!(t->kept >> v & 1)) continue;
        stage[out ? 2 : 0] += port_cycles(l, v, t->extent) / (out ? sums : 1);
        for (int c = 0; missed && c < law->n_caches; c++)
            stage[out ? 2 : 0] += law->cache[c].miss * missed[c][v] * (out ? law->write_factor : 1) / n;
    }
    stage[1] = l->array ? array_cycles(l, t->extent) : t->steps / n;
    const double all = stage[0] + stage[1] + stage[2], longest = fmax(stage[0], fmax(stage[1], stage[2]));
    const double period = fmax(law->launch, fmax(longest + law->exposed * (all - longest), all / law->slots));
    return law->start + (law->tail ? law->launch + all + (n - 1) * period : n * period);
}

/* Lines of a tile, before any loop. */
static void first_lines(const sx_check_tile_law *l, const sx_check_tile *t,
                        double (*missed)[SX_MAX_TENSORS]) {
    double crowded;
    for (int c = 0; c < l->law->n_caches; c++)
        for (int v = 0; v < l->c->problem.n_tensors; v++)
            missed[c][v] = t->kept >> v & 1 ? count_lines(l, &l->law->cache[c], v, t->extent, &crowded) : 0;
}

/* The latency after all loops: what fits as a whole is warm. */
static double finish_loops(const sx_check_tile_law *l, const sx_check_tile *t, const int64_t *extent,
                           double (*missed)[SX_MAX_TENSORS]) {
    for (int c = 0; c < l->law->n_caches; c++) {
        const double lost = 1 - share_held(l, &l->law->cache[c], t->kept, extent);
        for (int v = 0; v < l->c->problem.n_tensors; v++) missed[c][v] *= lost;
    }
    return launch_all(l, t, (const double(*)[SX_MAX_TENSORS])missed);
}

double sx_check_tile_latency(const sx_check_tile_law *l, const sx_check_tile *t, const uint8_t *order) {
    double missed[SX_MAX_CACHES][SX_MAX_TENSORS];
    int64_t extent[SX_MAX_DIMS], wide[SX_MAX_DIMS];
    if (!order || !l->law->n_caches) return launch_all(l, t, NULL);
    memcpy(extent, t->extent, sizeof extent);
    first_lines(l, t, missed);
    for (int i = 0; i < l->c->problem.n_dims; i++) {
        if (t->times[order[i]] == 1) continue;
        memcpy(wide, extent, sizeof wide);
        wide[order[i]] *= t->times[order[i]];
        pass_loop(l, t, order[i], extent, wide, missed);
        memcpy(extent, wide, sizeof extent);
    }
    return finish_loops(l, t, extent, missed);
}

/* The least latency over all orders of the loops that are left, a mask. */
static double best_of(const sx_check_tile_law *l, const sx_check_tile *t, unsigned left,
                      const int64_t *extent, const double (*missed)[SX_MAX_TENSORS]) {
    double least = INFINITY, next[SX_MAX_CACHES][SX_MAX_TENSORS];
    int64_t wide[SX_MAX_DIMS];
    if (!left) {
        memcpy(next, missed, sizeof next);
        return finish_loops(l, t, extent, next);
    }
    for (unsigned open = left; open; open &= open - 1) {
        const int d = __builtin_ctz(open);
        memcpy(next, missed, sizeof next);
        memcpy(wide, extent, sizeof wide);
        wide[d] *= t->times[d];
        pass_loop(l, t, d, extent, wide, next);
        least = fmin(least, best_of(l, t, left & ~(1u << d), wide, (const double(*)[SX_MAX_TENSORS])next));
    }
    return least;
}

double sx_check_tile_best_order(const sx_check_tile_law *l, const sx_check_tile *t) {
    enum { MOST_LOOPS = 6 };
    double missed[SX_MAX_CACHES][SX_MAX_TENSORS] = {{0}};
    unsigned loops = 0;
    for (int d = 0; d < l->c->problem.n_dims; d++)
        if (t->times[d] > 1) loops |= 1u << d;
    if (__builtin_popcount(loops) > MOST_LOOPS) return launch_all(l, t, NULL);
    first_lines(l, t, missed);
    return best_of(l, t, loops, t->extent, (const double(*)[SX_MAX_TENSORS])missed);
}
