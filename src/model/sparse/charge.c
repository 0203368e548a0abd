/* What random, gated and skipped accesses and computes take in energy and time (docs/sparse.md, section 8). */
#include "model/sparse/charge.h"
#include "model/sparse/use.h"

#include <string.h>

enum { N_BLOCKS = 5, N_SHARES = 10 };

/* Timeloop's limits of tiles, in blocks, below which words of a block are counted as left empty: for blocks of
 * 2, 4, 8, 16 and 32 words, by tenths of density. */
static const uint16_t small_tiles[N_BLOCKS][N_SHARES] = {
    {251, 125, 84, 63, 51, 42, 36, 32, 28, 1},   {375, 188, 125, 94, 75, 63, 54, 47, 42, 1},
    {438, 219, 146, 110, 88, 73, 63, 55, 49, 1}, {469, 235, 157, 118, 94, 79, 67, 59, 52, 1},
    {485, 243, 162, 122, 97, 81, 70, 61, 52, 1},
};

/* Whether a tile is so small that its last block is often not full. */
static bool is_small(uint64_t words, uint32_t block, double density) {
    int row = __builtin_ctz(block) - 1, column = density >= 0.1 ? (int)floor(density / 0.1) - 1 : 0;
    if (row < 0 || row >= N_BLOCKS || (block & (block - 1)) || column >= N_SHARES) return true;
    return small_tiles[row][column] > words / block;
}

double sx_sparse_blocks(sx_sparse_state *state, int v, int s, uint64_t tile, uint32_t block) {
    const sx_density *density = sx_sparse_density(state, v);
    if (density->placed) return sx_density_blocks(density, state->cache, tile, block);
    if (state->empty[v].last[s].words != tile) {
        state->empty[v].last[s].blocks = sx_density_blocks(density, state->cache, tile, block);
        state->empty[v].last[s].words = tile;
        if (sx_density_cache_failed(state->cache)) {
            state->empty[v].last[s].words = 0;
            state->failed = true;
        }
    }
    return state->empty[v].last[s].blocks;
}

/* Vector accesses per full vector of a compressed tensor: blocks that are not full are accessed, too. */
static double vector_ratio(sx_sparse_state *state, int v, int s) {
    const sx_sparse_tile *t = &state->tile[v][s];
    const sx_model *model = state->model;
    uint32_t block = sx_level_whole_block(&model->level[s], v);
    if (!t->format || !t->format->compressed || block == 1 || t->density >= 1) return 1;
    double full = (double)t->words * t->density / block;
    if (!model->sparse->timeloop) return sx_sparse_blocks(state, v, s, t->number, block) / full;
    if (!is_small(t->words, block, t->density)) return 1;
    sx_occupancies at;
    double sum = 0;
    if (!sx_density_window(sx_sparse_density(state, v), state->cache, t->words, &at)) {
        state->failed = true;
        return 1;
    }
    for (size_t i = 0; i < at.n; i++)
        if (at.first + i > 0) sum = fma(ceil((double)(at.first + i) / block), at.probability[i], sum);
    return t->density > 0 ? sum / full : INFINITY;
}

/* Adds up a tensor's accesses at a level, per instance, as counted by Timeloop's rules. */
__attribute__((cold)) static void use_counted(const sx_sparse_state *state, int v, int s, double ratio,
                                              double instances, sx_sparse_usage *use) {
    const sx_sparse_level *level = &state->model->sparse->level[s];
    const sx_sparse_counts *c = &state->counts[v][s];
    for (int kind = 0; kind < SX_N_ACTION_KINDS; kind++)
        for (int a = 0; a < SX_N_ACCESSES; a++)
            sx_sparse_use(level, kind, a, c->actions[kind][a] / instances,
                          level->width > 0 ? c->bits[kind][a] / instances : 0, ratio, true, use);
    use->energy +=
        (c->decompressions * level->decompression_energy + c->compressions * level->compression_energy) /
        instances;
}

/* The same by the exact semantics. */
static void use_tile(const sx_sparse_level *level, const sx_sparse_tile *t, const sx_counts *dense,
                     bool output, double ratio, double instances, sx_sparse_usage *use) {
    sx_exact_shares shares = {.formatted = t->format,
                              .acts = t->acts,
                              .skips = t->skips,
                              .density = t->density,
                              .bits = t->bits,
                              .words = (double)t->words,
                              .exists = t->exists,
                              .effectual = t->effectual};
    sx_exact_use(level, &shares, dense->reads, dense->fills, dense->updates, output, ratio, instances, use);
}

/* Adds the energy of what is decompressed and compressed at a level, by the exact semantics. */
static void use_conversions(const sx_sparse_state *state, int v, int s, double instances,
                            sx_sparse_usage *use) {
    const sx_sparse_level *level = &state->model->sparse->level[s];
    double decompressions, compressions;
    if (!sx_exact_conversions(state, v, s, &decompressions, &compressions)) return;
    use->energy +=
        (decompressions * level->decompression_energy + compressions * level->compression_energy) / instances;
}

/* The words of a tile that is given as sx_density_empty takes it. */
static uint64_t words_of(const sx_sparse_state *state, int v, uint64_t tile) {
    const sx_positions *placed = state->model->sparse->placed[v];
    uint64_t words = 1;
    for (int r = 0; placed && r < placed->n_ranks; r++)
        words *= (tile - 1) / placed->stride[r] % placed->size[r] + 1;
    return placed ? words : tile;
}

/* Hands a tensor's figures at a level to a cost. */
__attribute__((cold)) static void hand_over(const sx_sparse_state *state, int v, int s, double unit,
                                            double generations, double energy, sx_cost *out) {
    const sx_sparse_tile *t = &state->tile[v][s];
    const sx_sparse_counts *c = &state->counts[v][s];
    const sx_counts *dense = &state->dense[v][s];
    double times = (double)state->nest->above[s] / unit;
    sx_cost_tensor *to = &out->level[s].tensor[v];
    *to = (sx_cost_tensor){
        .kept = true,
        .tile = t->format ? sx_density_most_counted(sx_sparse_density(state, v), state->cache, t->number)
                          : t->words,
        .partition = (uint64_t)(dense->partition * times),
        .reads = (uint64_t)(dense->reads * times),
        .fills = (uint64_t)(dense->fills * times),
        .updates = (uint64_t)(dense->updates * times),
        .temporal_reductions = (uint64_t)llround(c->reductions * times),
        .address_generations = generations,
        .energy_pj = energy,
        .instances = t->instances,
        .density = t->density,
        .decompressions = c->decompressions / unit,
        .compressions = c->compressions / unit,
        .metadata_bits = sx_sparse_most_metadata(state, v, s, out->rank),
    };
    uint32_t extent[SX_MAX_DIMS];
    if (t->on) sx_exact_box(state, v, s, extent, NULL);
    for (unsigned left = t->on; left; left &= left - 1) {
        int on = __builtin_ctz(left);
        uint64_t box = sx_exact_box_number(state, on, v, s, extent);
        to->condition_words[on] = words_of(state, on, box);
        to->condition_empty[on] = sx_density_empty(sx_sparse_density(state, on), state->cache, box);
    }
    for (int kind = 0; kind < SX_N_ACTION_KINDS; kind++)
        for (int a = 0; a < SX_N_ACCESSES; a++) {
            to->actions[kind][a] = c->actions[kind][a] / unit;
            for (int r = 0; t->format && r < t->n_ranks; r++)
                for (int i = 0; i < 2; i++)
                    out->rank[t->format->first + r].words[kind][a][i] = c->metadata[kind][a][r][i] / unit;
        }
}

/* Adds a tensor's use of a level's bandwidth, of which a share counts. */
static void use_bandwidth(sx_cost_accumulator *costs, int v, int s, const sx_sparse_usage *use,
                          double share) {
    bool timeloop = costs->model->sparse->timeloop;
    double cycles = costs->compute_cycles, scale = costs->model->level[s].scale[v], reads, writes;
    sx_sparse_ports(&costs->model->sparse->level[s], use, timeloop, &reads, &writes);
    reads /= share;
    writes /= share;
    if (timeloop) reads = ceil(reads), writes = ceil(writes);
    sx_cost_accumulator_add_traffic(costs, s, reads / cycles * scale, writes / cycles * scale);
}

/* Charges one tensor's accesses to a level. */
static void charge_tensor(sx_cost_accumulator *costs, sx_sparse_state *state, int v, int s, sx_cost *out) {
    const sx_level *level = &costs->model->level[s];
    const struct sx_sparse_model *sparse = costs->model->sparse;
    bool output = costs->model->shape[v].output;
    double instances = (double)costs->nest->above[s], clusters = (double)costs->clusters[s];
    double unit = costs->totals ? instances : 1, used = state->tile[v][s].instances;
    double ratio = vector_ratio(state, v, s);
    sx_sparse_usage use = {.level = level, .tensor = v};
    if (sparse->timeloop)
        use_counted(state, v, s, ratio, unit, &use);
    else
        use_tile(&sparse->level[s], &state->tile[v][s], &state->dense[v][s], output, ratio, unit, &use);
    if (sparse->converts >> v & 1 && !sparse->timeloop) use_conversions(state, v, s, unit, &use);
    double generations = use.words[output ? SX_UPDATE : SX_READ] + use.words[SX_FILL];
    double energy = used > 0 ? use.energy / (instances / clusters) * used : 0;
    energy += generations * level->addr_gen_energy * clusters;
    if (level->bounded && used > 0) use_bandwidth(costs, v, s, &use, instances / used);
    costs->storage[s] += energy;
    if (out) hand_over(state, v, s, unit, generations, energy, out);
}

sx_sparse_computed sx_sparse_compute(const sx_sparse_state *state, double cycles, double units) {
    const sx_model *model = state->model;
    const sx_compute *unit = &model->arch->compute;
    const double *n = state->computes;
    double unknown = model->sparse->timeloop ? 0 : model->compute_energy;
    double gated = unit->gated_energy >= 0 ? unit->gated_energy : unknown;
    double skipped = unit->skipped_energy >= 0 ? unit->skipped_energy : unknown;
    sx_sparse_computed out = {.busy = n[SX_RANDOM] + n[SX_GATED]};
    out.energy = n[SX_RANDOM] * model->compute_energy + n[SX_SKIPPED] * skipped + n[SX_GATED] * gated;
    out.cycles = model->sparse->timeloop ? ceil(out.busy / units)
                                         : ceil(cycles * (out.busy / (double)model->computes) * (1 - 1e-12));
    if (out.cycles < 1) out.cycles = 1;
    return out;
}

void sx_sparse_begin(sx_cost_accumulator *costs, sx_sparse_state *state) {
    const sx_model *model = state->model;
    const sx_nest *nest = state->nest;
    sx_sparse_computed computed =
        sx_sparse_compute(state, (double)nest->cycles, (double)(nest->used_x * nest->used_y));
    costs->compute_energy = computed.energy;
    costs->compute_cycles = computed.cycles;
    costs->busy_computes = computed.busy;
    for (int s = 0; s < model->n_levels && model->sparse->timeloop; s++) { /* of which some may be empty */
        double most = 1;
        for (int v = 0; v < model->n_tensors; v++) most = fmax(most, state->tile[v][s].instances);
        costs->leaking[s] = most;
    }
}

double sx_sparse_accesses(const sx_sparse_state *state, int level, bool totals) {
    double sum = 0;
    for (int v = 0; v < state->model->n_tensors; v++) {
        const sx_sparse_tile *t = &state->tile[v][level];
        const sx_counts *dense = &state->dense[v][level];
        for (int a = 0; a < SX_N_ACCESSES && state->model->sparse->timeloop; a++)
            sum += state->counts[v][level].actions[SX_RANDOM][a];
        if (state->model->sparse->timeloop || !t->words) continue;
        sum += sx_exact_words(t, dense->reads, t->effectual);
        sum += sx_exact_words(t, dense->fills, t->exists);
        sum += sx_exact_words(t, dense->updates, t->effectual);
    }
    return sum * (totals ? 1 : (double)state->nest->above[level]);
}

bool sx_sparse_charge(sx_cost_accumulator *costs, sx_sparse_state *state, sx_cost *out) {
    const sx_model *model = state->model;
    sx_sparse_count(state);
    sx_sparse_begin(costs, state);
    for (int v = 0; v < model->n_tensors; v++)
        for (int s = 0; s < model->n_levels; s++) {
            if (state->tile[v][s].words)
                charge_tensor(costs, state, v, s, out);
            else if (out)
                out->level[s].tensor[v] =
                    (sx_cost_tensor){.kept = false, .instances = state->tile[v][s].instances};
        }
    return !state->failed;
}
