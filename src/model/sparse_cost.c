/* What random, gated and skipped accesses and computes take in energy and time (docs/sparse.md, section 8). */
#include "model/sparse_cost.h"

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

/* Vector accesses per full vector of a compressed tensor: blocks that are not full are accessed, too. */
static double vector_ratio(sx_sparse_state *state, int v, int s) {
    const sx_sparse_tile *t = &state->tile[v][s];
    const sx_model *model = state->model;
    uint32_t block = sx_level_whole_block(&model->level[s], v);
    if (!t->format || !t->format->compressed || block == 1 || t->density >= 1) return 1;
    double full = (double)t->words * t->density / block;
    if (!model->sparse->timeloop)
        return sx_density_blocks(sx_sparse_density(state, v), state->cache, t->number, block) / full;
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

/* What one instance of a level does for a tensor, in energy and in elements for its bandwidth. */
typedef struct usage {
    double energy, generations, reads, writes;
} usage;

/* Vectors; Timeloop rounds up to whole ones. */
static double vectors(double number, bool timeloop) {
    return timeloop ? ceil(number) : number;
}

/* Adds up a tensor's accesses at a level, per instance. */
static usage use_level(sx_sparse_state *state, int v, int s, double instances) {
    const sx_model *model = state->model;
    const sx_level *level = &model->level[s];
    const sx_metadata_store *store = &model->arch->level[s].metadata;
    const sx_sparse_counts *c = &state->counts[v][s];
    const double random[SX_N_ACCESSES] = {level->read_energy, level->fill_energy, level->update_energy};
    bool timeloop = model->sparse->timeloop;
    double ratio = vector_ratio(state, v, s), bits[SX_N_ACCESSES] = {0}, words[SX_N_ACCESSES] = {0};
    usage use = {0};
    for (int kind = 0; kind < SX_N_ACTION_KINDS; kind++)
        for (int a = 0; a < SX_N_ACCESSES; a++) {
            if (c->actions[kind][a] == 0 && c->bits[kind][a] == 0) continue;
            double count = c->actions[kind][a] / instances;
            double metadata = store->width ? c->bits[kind][a] / instances : 0;
            if (count > 0)
                use.energy += vectors(sx_level_vectors(level, v, count), timeloop) * ratio *
                              (kind == SX_RANDOM ? random[a] : store->data_energy[kind][a]);
            if (metadata > 0)
                use.energy += vectors(metadata / store->width, timeloop) * store->metadata_energy[kind][a];
            if (kind == SX_SKIPPED) continue;
            words[a] += count;
            bits[a] += metadata;
        }
    use.energy +=
        (c->decompressions * store->decompression_energy + c->compressions * store->compression_energy) /
        instances;
    use.generations = words[model->shape[v].output ? SX_UPDATE : SX_READ] + words[SX_FILL];
    double width = model->arch->level[s].word_bits * sx_level_width(level, v);
    double in = bits[SX_READ] / width, out = (bits[SX_FILL] + bits[SX_UPDATE]) / width;
    use.reads = words[SX_READ] + (timeloop ? floor(in) : in);
    use.writes = words[SX_FILL] + words[SX_UPDATE] + (timeloop ? floor(out) : out);
    return use;
}

/* The words of a tile that is given as sx_density_empty takes it. */
static uint64_t words_of(const sx_sparse_state *state, int v, uint64_t tile) {
    const sx_placement *placed = state->model->sparse->placed[v];
    uint64_t words = 1;
    for (int r = 0; placed && r < placed->n_ranks; r++)
        words *= (tile - 1) / placed->stride[r] % placed->size[r] + 1;
    return placed ? words : tile;
}

/* Hands a tensor's figures at a level to a cost. */
static void hand_over(const sx_sparse_state *state, int v, int s, double unit, const usage *use,
                      double energy, sx_cost *out) {
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
        .address_generations = use->generations,
        .energy_pj = energy,
        .instances = t->instances,
        .density = t->density,
        .decompressions = c->decompressions / unit,
        .compressions = c->compressions / unit,
        .metadata_bits = sx_sparse_most_metadata(state, v, s, out->rank),
    };
    for (int on = 0; on < state->model->n_tensors && t->acts && !state->model->sparse->timeloop; on++) {
        uint64_t box = state->box[v][s][on];
        if (!box) continue;
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

/* Charges one tensor's accesses to a level. */
static void charge(sx_cost_accumulator *costs, sx_sparse_state *state, int v, int s, sx_cost *out) {
    const sx_level *level = &costs->model->level[s];
    double instances = (double)costs->nest->above[s], clusters = (double)costs->clusters[s];
    double unit = costs->totals ? instances : 1, used = state->tile[v][s].instances;
    usage use = use_level(state, v, s, unit);
    double energy = used > 0 ? use.energy / (instances / clusters) * used : 0;
    energy += use.generations * level->addr_gen_energy * clusters;
    if (level->bounded && used > 0) {
        bool timeloop = costs->model->sparse->timeloop;
        double cycles = costs->compute_cycles, scale = level->scale[v], share = instances / used;
        double reads = use.reads / share, writes = use.writes / share;
        if (timeloop) reads = ceil(reads), writes = ceil(writes);
        sx_cost_accumulator_add_traffic(costs, s, reads / cycles * scale, writes / cycles * scale);
    }
    costs->storage[s] += energy;
    if (out) hand_over(state, v, s, unit, &use, energy, out);
}

void sx_sparse_begin(sx_cost_accumulator *costs, sx_sparse_state *state) {
    const sx_model *model = state->model;
    const sx_compute *unit = &model->arch->compute;
    const double *n = state->computes;
    double gated = unit->gated_energy >= 0 ? unit->gated_energy : model->compute_energy;
    double skipped = unit->skipped_energy >= 0 ? unit->skipped_energy : model->compute_energy;
    costs->compute_energy =
        n[SX_RANDOM] * model->compute_energy + n[SX_SKIPPED] * skipped + n[SX_GATED] * gated;
    double busy = n[SX_RANDOM] + n[SX_GATED];
    if (model->sparse->timeloop)
        costs->compute_cycles = ceil(busy / (double)(state->nest->used_x * state->nest->used_y));
    else
        costs->compute_cycles =
            ceil((double)state->nest->cycles * (busy / (double)model->computes) * (1 - 1e-12));
    costs->busy_computes = busy;
    if (costs->compute_cycles < 1) costs->compute_cycles = 1;
    for (int s = 0; s < model->n_levels; s++) {
        double most = 1;
        for (int v = 0; v < model->n_tensors; v++) most = fmax(most, state->tile[v][s].instances);
        costs->leaking[s] = most;
    }
}

double sx_sparse_accesses(const sx_sparse_state *state, int level) {
    double sum = 0;
    for (int v = 0; v < state->model->n_tensors; v++)
        for (int a = 0; a < SX_N_ACCESSES; a++) sum += state->counts[v][level].actions[SX_RANDOM][a];
    return sum;
}

void sx_sparse_charge(sx_cost_accumulator *costs, sx_sparse_state *state, sx_cost *out) {
    const sx_model *model = state->model;
    for (int v = 0; v < model->n_tensors; v++)
        for (int s = 0; s < model->n_levels; s++) {
            if (state->tile[v][s].words)
                charge(costs, state, v, s, out);
            else if (out)
                out->level[s].tensor[v] =
                    (sx_cost_tensor){.kept = false, .instances = state->tile[v][s].instances};
        }
}
