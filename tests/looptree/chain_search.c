#include "looptree/chain_search.h"

#include <string.h>

const sx_chain_step *sx_chain_step_at(const sx_vector *steps, uint64_t size) {
    const sx_chain_step *found = NULL;
    for (size_t i = 0; i < steps->n; i++) {
        const sx_chain_step *step = sx_vector_at(steps, i);
        if (step->size > size) break;
        found = step;
    }
    return found;
}

/* Enters a step where no other needs as little of both, and drops those that need no less of either. */
static bool enter_step(sx_vector *steps, const sx_chain_step *step) {
    const sx_chain_step *before = sx_chain_step_at(steps, step->size);
    if (before && before->words <= step->words) return true;
    if (!sx_vector_add(steps)) return false;
    sx_chain_step *all = sx_vector_at(steps, 0);
    size_t place = steps->n - 1, end;
    while (place > 0 && all[place - 1].size >= step->size) place--;
    for (end = place; end < steps->n - 1 && all[end].words >= step->words;) end++;
    memmove(&all[place + 1], &all[end], (steps->n - 1 - end) * sizeof *all);
    all[place] = *step;
    steps->n = place + 1 + (steps->n - 1 - end);
    return true;
}

/* The staircase of a segment in the making. */
typedef struct climber {
    sx_vector *steps;
    const sx_chain_options *options;
    uint64_t required; /* words that pass to and from DRAM whatever is done */
} climber;

/* Whether a way that takes and passes at least a given number of words may be a step. */
static bool may_enter(const climber *c, uint64_t size, uint64_t words) {
    const sx_chain_step *before =
        sx_chain_step_at(c->steps, size < c->options->least ? c->options->least : size);
    return size <= c->options->limit && !(before && before->words <= words);
}

static bool wants_size(void *data, uint64_t size) {
    const climber *c = data;
    return may_enter(c, size, c->required);
}

/* The depths of the weights of one way to run a segment. */
typedef struct weigher {
    const climber *climber;
    const sx_chain *chain;
    const sx_chain_moments *moments;
    int depth[SX_MAX_CHAIN + 1];
} weigher;

static bool enter_weighed(weigher *w, uint64_t words) {
    const uint64_t size = sx_chain_peak(w->moments, w->depth);
    const uint64_t least = w->climber->options->least;
    if (!may_enter(w->climber, size, words)) return true;
    sx_chain_step step = {.size = size < least ? least : size, .words = words, .chain = *w->chain};
    for (int l = 1; l <= w->chain->n_layers; l++) step.chain.layer[l - 1].weight_depth = w->depth[l];
    return enter_step(w->climber->steps, &step);
}

/* Chooses the depths of layers from l on. A deeper place takes no more room, so that of those with the same reads
 * only the deepest is tried. */
static bool weigh_layers(weigher *w, int l, uint64_t words) {
    if (l > w->chain->n_layers) return enter_weighed(w, words);
    const uint64_t *reads = w->moments->reads[l];
    for (int d = 0; d <= w->chain->n_loops; d++) {
        if (d < w->chain->n_loops && reads[d + 1] == reads[d]) continue;
        w->depth[l] = d;
        if (!weigh_layers(w, l + 1, words + reads[d])) return false;
    }
    return true;
}

static bool weigh_chain(void *data, const sx_chain *chain, const sx_chain_moments *moments) {
    weigher w = {.climber = data, .chain = chain, .moments = moments};
    const sx_chain_count *count = &moments->count;
    const uint64_t words = count->input_reads + count->other_reads + count->sum_reads + count->writes;
    uint64_t least = words;
    for (int l = 1; l <= chain->n_layers; l++) {
        w.depth[l] = chain->n_loops;
        least += moments->reads[l][0];
    }
    return !may_enter(w.climber, sx_chain_peak(moments, w.depth), least) || weigh_layers(&w, 1, words);
}

/* The part of a chain from layer `first` to `last`, counted from 1, where `cuts` are the tensors that pass through
 * DRAM; false where an addition in it needs another tensor from before it. */
static bool cut_segment(const sx_chain *chain, int first, int last, uint32_t cuts, sx_chain *segment) {
    *segment = *chain;
    sx_chain_shape(chain, first - 1, segment->extent);
    segment->n_layers = last - first + 1;
    memmove(segment->layer, chain->layer + first - 1, (size_t)segment->n_layers * sizeof *segment->layer);
    for (int l = 0; l < segment->n_layers; l++) {
        sx_chain_layer *layer = &segment->layer[l];
        if (layer->kind != SX_CHAIN_ADD || layer->source < 0) continue;
        if (layer->source < first - 1 && !(cuts >> layer->source & 1)) return false;
        layer->source = layer->source < first - 1 ? -1 : layer->source - first + 1;
    }
    return true;
}

/* The size from which on every segment between the cuts has a way to run, where `size` is the least that is wanted. */
static bool add_segments(const sx_chain_answer *answer, int n_layers, uint32_t cuts, uint64_t size,
                         uint64_t *words) {
    *words = 0;
    for (int first = 1, last = 1; last <= n_layers; last++) {
        if (!(cuts >> last & 1)) continue;
        const sx_chain_step *step = sx_chain_step_at(&answer->segment[first][last], size);
        if (!step) return false;
        *words += step->words;
        first = last + 1;
    }
    return true;
}

/* Whether every addition finds its tensor, given the cuts. */
static bool may_cut(const sx_chain *chain, uint32_t cuts) {
    sx_chain segment;
    for (int first = 1, last = 1; last <= chain->n_layers; last++) {
        if (!(cuts >> last & 1)) continue;
        if (!cut_segment(chain, first, last, cuts, &segment)) return false;
        first = last + 1;
    }
    return true;
}

/* Enters the staircase of a chain that is cut in one way: a step at every size at which a segment has one. */
static bool enter_cuts(const sx_chain *chain, uint32_t cuts, sx_chain_answer *answer) {
    for (int first = 1, last = 1; last <= chain->n_layers; last++) {
        if (!(cuts >> last & 1)) continue;
        const sx_vector *steps = &answer->segment[first][last];
        for (size_t i = 0; i < steps->n; i++) {
            sx_chain_step step = {.size = ((sx_chain_step *)sx_vector_at(steps, i))->size, .cuts = cuts};
            if (add_segments(answer, chain->n_layers, cuts, step.size, &step.words) &&
                !enter_step(&answer->steps, &step))
                return false;
        }
        first = last + 1;
    }
    return true;
}

/* Words that pass to and from DRAM whatever is done: run without loops, with the weights read once. */
static bool find_required(const sx_chain *segment, uint64_t *words) {
    sx_chain whole = *segment;
    sx_chain_count count;
    whole.n_loops = whole.sliced = 0;
    whole.rereads = whole.spills = false;
    for (int l = 0; l < whole.n_layers; l++) whole.layer[l].weight_depth = 0;
    if (sx_chain_evaluate(&whole, &count)) return false;
    *words = count.input_reads + count.other_reads + count.writes;
    for (int l = 1; l <= whole.n_layers; l++) *words += count.weight_reads[l];
    return true;
}

static bool climb_segment(const sx_chain *segment, const sx_chain_options *options, sx_vector *steps) {
    climber c = {.steps = steps, .options = options};
    const sx_chain_visitor visitor = {&c, wants_size, weigh_chain};
    return find_required(segment, &c.required) && sx_chain_list(segment, options->nests, &visitor);
}

bool sx_chain_search(const sx_chain *chain, const sx_chain_options *options, sx_chain_answer *answer) {
    const int n = chain->n_layers;
    memset(answer, 0, sizeof *answer);
    answer->steps.size = sizeof(sx_chain_step);
    for (int first = 1; first <= n; first++)
        for (int last = first; last <= n; last++) {
            sx_vector *steps = &answer->segment[first][last];
            sx_chain segment;
            steps->size = sizeof(sx_chain_step);
            cut_segment(chain, first, last, UINT32_MAX, &segment);
            if (!climb_segment(&segment, options, steps)) return false;
        }
    for (uint32_t inner = 0; inner < 1u << (n - 1); inner++) {
        const uint32_t cuts = 1u | inner << 1 | 1u << n;
        if (may_cut(chain, cuts) && !enter_cuts(chain, cuts, answer)) return false;
    }
    return true;
}

void sx_chain_answer_fini(sx_chain_answer *answer) {
    for (int first = 0; first <= SX_MAX_CHAIN; first++)
        for (int last = 0; last <= SX_MAX_CHAIN; last++) sx_vector_clear(&answer->segment[first][last]);
    sx_vector_clear(&answer->steps);
}
