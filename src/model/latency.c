/* The law of the tile pipeline. Sizes are bytes, times cycles; a tile is what one launch of a boundary moves. */
#include "model/latency.h"

#include <math.h>
#include <string.h>

/* The three stages of one tile, and how often tiles are launched. */
typedef struct stages {
    double launches, load, compute, store;
} stages;

/* One launch of a boundary. */
typedef struct launch {
    const sx_model *model;
    const sx_boundary *boundary;
    uint32_t tile[SX_MAX_DIMS]; /* extents */
    double all;                 /* launches of the whole run */
    double reductions;          /* launches that add to one result, over which it leaves once */
} launch;

/* The requests of a tile: how many runs of `inner` bytes it has. */
typedef struct tile_runs {
    double outer, inner, words;
} tile_runs;

/* Measures a tile; the extents of the tensor's ranks go to `rank`. */
static tile_runs measure_tile(const sx_stored *stored, const uint32_t *extent, double *rank) {
    const int last = stored->n_ranks - 1;
    double outer = 1;
    for (int r = 0; r <= last; r++) rank[r] = sx_stored_extent(stored, r, extent);
    for (int r = 0; r < last; r++) outer *= rank[r];
    const double inner = last < 0 ? 1 : rank[last];
    return (tile_runs){outer, inner * stored->bytes, outer * inner};
}

/* The cycles that a tile takes on the port on its way in. */
static double load_time(const sx_boundary *b, const tile_runs *t) {
    const sx_law *law = b->law;
    if (isinf(law->load_request)) return t->outer * t->inner / b->load_bus;
    double requests = sx_rounded_up(t->inner / law->load_request);
    return t->outer * requests *
           sx_larger(law->load_min,
                     (t->inner < law->load_request ? t->inner : law->load_request) / b->load_bus);
}

/* The same on its way out. */
static double store_time(const sx_boundary *b, const tile_runs *t) {
    if (isinf(b->law->store_request)) return t->outer * t->inner * b->store_time;
    return t->outer * sx_rounded_up(t->inner / b->law->store_request) * b->store_time;
}

/* The cycles for the pages that a tile touches, whose ranks have these extents: runs that lie a page or more apart have pages
 * of their own. */
static double pages_time(const sx_boundary *b, const sx_stored *stored, const double *rank) {
    const double page = b->law->page;
    double runs = 1, bytes = stored->bytes, stride = stored->bytes;
    int r = stored->n_ranks - 1;
    if (b->law->page_time == 0) return 0;
    for (; r >= 0; r--) {
        bytes *= rank[r];
        stride *= stored->whole[r];
        if (rank[r] != stored->whole[r]) break;
    }
    for (int i = r - 1; i >= 0; i--) runs *= rank[i];
    if (r >= 0 && stride < page) return b->law->page_time * sx_larger(1, runs * stride / page);
    return b->law->page_time * runs * sx_larger(1, bytes / page);
}

/* The cycles that an array takes for a tile: blocks of stationary operands, each with instructions of at most `rows`
 * steps along one dimension. */
static double array_time(const launch *l) {
    const sx_boundary *b = l->boundary;
    const sx_law *law = b->law;
    const uint64_t rows = (uint64_t)law->rows, along = b->stream < 0 ? 1 : l->tile[b->stream];
    double blocks = 1, rest = 1;
    for (int d = 0; d < l->model->n_dims; d++) {
        if (b->stationary >> d & 1)
            blocks *= (double)((l->tile[d] + b->block[d] - 1) / b->block[d]);
        else if (d != b->stream)
            rest *= l->tile[d];
    }
    const uint64_t full = along / rows, rem = along % rows;
    const double last = rem ? sx_larger((double)rem, law->min_rows) : law->rows;
    const double instructions = rest * (double)(full + (rem > 0));
    double steps =
        rest * (law->rows * (double)full + (rem ? last : 0)) - last + sx_larger(law->preload, last);
    return blocks * sx_larger(steps, law->issue * instructions);
}

/* The times that a tile of a tensor moves per launch, by the words that Timeloop counts. */
static double share_moved(const launch *l, const tile_runs *t, double words) {
    return words / (t->words * l->all);
}

/* Adds the lines that miss the caches. */
static void add_misses(const launch *l, const sx_mapping *mapping, unsigned kept,
                       const double (*rank)[SX_MAX_RANKS], stages *st) {
    const sx_boundary *b = l->boundary;
    double missed[SX_MAX_CACHES][SX_MAX_TENSORS];
    sx_latency_misses(l->model, b, mapping, kept, l->tile, rank, missed);
    for (int c = 0; c < b->n_caches; c++)
        for (int v = 0; v < l->model->n_tensors; v++) {
            double time = b->cache[c].miss * missed[c][v] / st->launches;
            if (b->stored[v].output)
                st->store += time * b->law->write_factor;
            else
                st->load += time;
        }
}

/* Loads and stores of a tile. */
static void time_transfers(const launch *l, const sx_mapping *mapping, const double *reads,
                           const double *updates, stages *st) {
    const sx_boundary *b = l->boundary;
    unsigned kept = 0;
    for (unsigned left = b->ports; left; left &= left - 1) kept |= mapping->level[__builtin_ctz(left)].keep;
    double rank[SX_MAX_TENSORS][SX_MAX_RANKS];
    for (int v = 0; v < l->model->n_tensors; v++) {
        const tile_runs t = measure_tile(&b->stored[v], l->tile, rank[v]);
        if (!(kept >> v & 1)) continue;
        const double pages = pages_time(b, &b->stored[v], rank[v]);
        if (!b->stored[v].output) {
            double times = b->law->refetch ? 1 : share_moved(l, &t, reads[v]);
            st->load += (load_time(b, &t) + pages) * times;
        } else if (b->law->refetch && !b->law->spill) {
            st->store += (store_time(b, &t) + pages) / l->reductions;
        } else {
            st->store += (store_time(b, &t) + pages) * share_moved(l, &t, updates[v]);
            st->load += (load_time(b, &t) + pages) * share_moved(l, &t, reads[v]);
        }
    }
    if (b->n_caches) add_misses(l, mapping, kept, rank, st);
}

/* The law: cycles of all launches; the parts go to `out` unless that is NULL. */
static double pipeline_cycles(const sx_law *law, const stages *st, sx_cost_boundary *out) {
    const double n = st->launches, all = st->load + st->compute + st->store;
    const double longest = sx_larger(st->load, sx_larger(st->compute, st->store));
    const double hidden = longest + law->exposed * (all - longest);
    const double period = sx_larger(law->launch, sx_larger(hidden, all / law->slots));
    if (out)
        *out = (sx_cost_boundary){.launches = n,
                                  .load = st->load,
                                  .compute = st->compute,
                                  .store = st->store,
                                  .period = period,
                                  .start = law->start,
                                  .first = law->tail ? law->launch : 0,
                                  .exposed = (law->tail ? n - 1 : n) * (period - longest),
                                  .drain = law->tail ? all - longest : 0};
    if (law->tail) return law->start + law->launch + all + (n - 1) * period;
    return law->start + n * period;
}

/* Sets the extents of a launch's tile, and how many there are of it. */
static double begin_launch(launch *l, const sx_mapping *mapping) {
    const sx_model *model = l->model;
    const int s = l->boundary->level;
    double launches = 1;
    l->all = l->reductions = 1;
    for (int d = 0; d < model->n_dims; d++) {
        uint64_t extent = mapping->level[s].spatial[d], n = 1, outside = 1;
        for (int i = 0; i < s; i++)
            extent *= (uint64_t)mapping->level[i].spatial[d] * mapping->level[i].temporal[d];
        l->tile[d] = (uint32_t)(extent < model->size[d] ? extent : model->size[d]);
        for (int i = s; i < l->boundary->outer; i++) n *= mapping->level[i].temporal[d];
        for (int i = l->boundary->outer; i < model->n_levels; i++) outside *= mapping->level[i].temporal[d];
        const uint64_t most = (model->size[d] + extent - 1) / extent;
        if (n > most) n = most;
        launches *= (double)n;
        if (l->boundary->reduction >> d & 1) l->reductions *= (double)n;
        l->all *= (double)(n * outside < most ? n * outside : most);
    }
    return launches;
}

/* The same for exact factors of the outermost level's loops. */
static double begin_exact_launch(launch *l, const sx_mapping *mapping) {
    const sx_model *model = l->model;
    const uint32_t *temporal = mapping->level[l->boundary->level].temporal;
    uint64_t launches = 1, reductions = 1;
    for (int d = 0; d < model->n_dims; d++) {
        l->tile[d] = temporal[d] == 1 ? model->size[d] : model->size[d] / temporal[d];
        launches *= temporal[d];
        if (l->boundary->reduction >> d & 1) reductions *= temporal[d];
    }
    l->reductions = (double)reductions;
    return l->all = (double)launches;
}

double sx_latency_of(const sx_model *model, const sx_mapping *mapping, const sx_latency_words *words,
                     double steps, double cycles, sx_cost *out) {
    const sx_latency_model *laws = model->law;
    double latency = 0;
    for (int i = 0; i < laws->n; i++) {
        const sx_boundary *b = &laws->boundary[i];
        launch l = {.model = model, .boundary = b};
        const bool exact = !words && b->level == model->n_levels - 1;
        stages st = {.launches = exact ? begin_exact_launch(&l, mapping) : begin_launch(&l, mapping)};
        st.compute = b->array ? array_time(&l) : i > 0 ? latency : steps / l.all;
        time_transfers(&l, mapping, words ? words->reads[i] : NULL, words ? words->updates[i] : NULL, &st);
        latency = pipeline_cycles(b->law, &st, out ? &out->boundary[i] : NULL);
        if (out) out->boundary[i].level = b->level;
    }
    if (out) out->n_boundaries = laws->n;
    if (!laws->boundary[0].array) cycles = sx_larger(cycles, steps);
    return sx_larger(latency, cycles) + (double)model->latency;
}

/* A tile's stages without misses, under a law. */
typedef struct timed_tile {
    const sx_law *law;
    stages stages;
} timed_tile;

/* The latency of a timed tile's launches when loads and stores wait for lines. */
static double latency_after(const void *user, double load, double store) {
    const timed_tile *t = user;
    stages st = t->stages;
    st.load += load / st.launches;
    st.store += store / st.launches;
    return pipeline_cycles(t->law, &st, NULL);
}

/* The most computes in a cycle: of the compute units, or of the arrays that stand for them, one for each instance of a level. */
static double most_computes(const sx_model *model) {
    const sx_boundary *innermost = &model->law->boundary[0];
    double places = innermost->array ? (double)model->level[innermost->level].instances : 1;
    for (int d = 0; d < model->n_dims && innermost->array; d++)
        if (innermost->stationary >> d & 1) places *= innermost->block[d];
    return sx_larger(places, (double)model->compute_instances);
}

/* The stages of all launches together at the least, whatever is launched: every word of the tensors of a mask passes once. */
static stages least_totals(const sx_model *model, const sx_boundary *b, unsigned kept) {
    stages all = {.launches = 1, .compute = (double)model->computes / most_computes(model)};
    const double instances = (double)model->level[b->level].instances;
    for (int v = 0; v < model->n_tensors; v++) {
        if (!(kept >> v & 1)) continue;
        const double bytes = sx_model_touched(model, v) * b->stored[v].bytes / instances;
        const double request = isinf(b->law->store_request) ? 1 : b->law->store_request;
        if (b->stored[v].output)
            all.store += bytes * b->store_time / request;
        else
            all.load += bytes / b->load_bus;
    }
    return all;
}

/* The latency at the least of launches whose stages have these totals. */
static double latency_of_totals(const sx_model *model, const sx_law *law, const stages *all) {
    const double sum = all->load + all->compute + all->store;
    const double longest = fmax(all->load, fmax(all->compute, all->store));
    const double busy = fmax(longest + law->exposed * (sum - longest), sum / law->slots);
    return (law->start + fmax(all->launches * law->launch, busy)) * (1 - 1e-12) + (double)model->latency;
}

double sx_latency_minimum(const sx_model *model, unsigned kept) {
    const sx_boundary *b = &model->law->boundary[model->law->n - 1];
    const stages all = least_totals(model, b, b->ports >> (model->n_levels - 1) ? kept : 0);
    return latency_of_totals(model, b->law, &all);
}

double sx_latency_of_move(const sx_model *model, int tensor, double elements, bool inward, double cycles) {
    const sx_boundary *b = &model->law->boundary[model->law->n - 1];
    const sx_stored *stored = &b->stored[tensor];
    if (!(b->ports >> (model->n_levels - 1))) return cycles;
    const double whole = stored->n_ranks ? stored->whole[stored->n_ranks - 1] : 1;
    const double inner = fmin(whole, elements);
    const tile_runs t = {elements / inner, inner * stored->bytes, elements};
    stages st = {.launches = 1};
    const double pages = b->law->page_time * fmax(1, elements * stored->bytes / b->law->page);
    if (inward)
        st.load = load_time(b, &t) + pages;
    else
        st.store = store_time(b, &t) + pages;
    return fmax(pipeline_cycles(b->law, &st, NULL), b->law->load_bus > 0 ? 0 : cycles);
}

double sx_latency_least(const sx_model *model, const uint32_t *tile, unsigned kept, bool larger) {
    const sx_boundary *b = &model->law->boundary[model->law->n - 1];
    const sx_law *law = b->law;
    const double instances = (double)model->level[b->level].instances;
    launch l = {.model = model, .boundary = b, .all = 1, .reductions = 1};
    for (int d = 0; d < model->n_dims; d++) {
        const double times = (double)((model->size[d] + tile[d] - 1) / tile[d]);
        l.tile[d] = tile[d];
        l.all *= times;
        if (b->reduction >> d & 1) l.reductions *= times;
    }
    l.all = fmax(1, ceil(l.all / instances));
    if (law->refetch && !law->spill && instances == 1) {
        stages st = {.launches = l.all};
        st.compute = b->array ? array_time(&l) : (double)model->computes / most_computes(model) / l.all;
        for (int v = 0; v < model->n_tensors; v++) {
            double rank[SX_MAX_RANKS];
            const tile_runs t = measure_tile(&b->stored[v], tile, rank);
            if (!(kept >> v & 1)) continue;
            const double pages = larger ? 0 : pages_time(b, &b->stored[v], rank);
            if (b->stored[v].output)
                st.store += (store_time(b, &t) + pages) / l.reductions;
            else
                st.load += load_time(b, &t) + pages;
        }
        const timed_tile timed = {law, st};
        const double latency = larger ? latency_after(&timed, 0, 0)
                                      : sx_latency_least_misses(model, b, tile, kept, latency_after, &timed);
        return latency * (1 - 1e-12) + (double)model->latency;
    }
    stages all = least_totals(model, b, kept);
    all.launches = l.all;
    if (b->array) all.compute = sx_larger(all.compute, array_time(&l) * l.all);
    return latency_of_totals(model, law, &all);
}
