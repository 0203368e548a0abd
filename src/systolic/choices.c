#include "systolic/choices.h"

#include "base/vector.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Choices while they are listed. */
typedef struct lister {
    const sx_systolic_space *space;
    const sx_choices_key *key;
    uint32_t pes;
    sx_step_choices *out;
    size_t room;
} lister;

static void steps_fini(sx_step_choices *steps) {
    free(steps->step);
    free(steps->trips);
    free(steps->all);
    free(steps->spans);
}

static void loop_choices_free(sx_loop_choices *choices) {
    if (!choices) return;
    for (uint32_t p = 1; choices->with && p <= choices->most_pes; p++) steps_fini(&choices->with[p]);
    free(choices->with);
    free(choices);
}

void sx_all_choices_fini(sx_all_choices *all) {
    for (size_t i = 0; i < all->n; i++) loop_choices_free(all->choices[i]);
    all->n = 0;
}

/* Makes room for one more choice; false when memory is out. */
static bool grow_choices(lister *l) {
    size_t k = l->space->n_kernels;
    size_t room[4] = {l->room, l->room, l->room, l->room}, n = l->out->n + 1;
    if (!sx_reserve(&l->out->step, &room[0], n, sizeof *l->out->step) ||
        !sx_reserve(&l->out->trips, &room[1], n, k * sizeof *l->out->trips) ||
        !sx_reserve(&l->out->all, &room[2], n, k * sizeof *l->out->all) ||
        !sx_reserve(&l->out->spans, &room[3], n, k * sizeof *l->out->spans))
        return false;
    l->room = room[0];
    return true;
}

/* Whether a step may be the last rank of the arrays that end with this loop. */
static bool packs_arrays(const sx_choices_key *key, uint32_t step) {
    uint32_t pack = step < key->cap ? step : key->cap;
    return sx_systolic_packs(pack < key->lanes ? key->lanes : pack);
}

/* Adds a step unless an earlier one makes it needless; false when memory is out. */
static bool add_step(lister *l, uint32_t step, uint32_t t1) {
    const sx_systolic_space *space = l->space;
    sx_step_choices *out = l->out;
    size_t k = space->n_kernels, at = out->n;
    bool needed = at == 0 || step <= l->key->hide || out->step[at - 1] < l->key->hide;
    if (!packs_arrays(l->key, step)) return true;
    if (!grow_choices(l)) return false;
    for (size_t i = 0; i < k; i++) {
        const sx_systolic_loop *loop = &space->kernel[i].loop[l->key->loop];
        uint32_t trips = (uint32_t)(((uint64_t)loop->size + t1 - 1) / t1);
        double all = (double)trips * step, spans = trips * sx_systolic_span(loop, step);
        if (at > 0) {
            needed = needed || trips != out->trips[(at - 1) * k + i];
            double before = out->all[(at - 1) * k + i], spans_before = out->spans[(at - 1) * k + i];
            all = before < all ? before : all;
            spans = spans_before < spans ? spans_before : spans;
        }
        out->trips[at * k + i] = trips;
        out->all[at * k + i] = all;
        out->spans[at * k + i] = spans;
    }
    out->step[at] = step;
    if (needed) out->n++;
    return true;
}

/* Lists the steps with a given number of PEs; false when memory is out. */
static bool list_space(lister *l) {
    const sx_systolic_tile_set *set = &l->space->tiles[l->key->loop];
    uint32_t largest = set->t1[set->n - 1], last = largest / l->pes, first = 1;
    if (l->key->lanes) first = last = l->key->lanes;
    for (uint32_t step = first; step <= last && (uint64_t)step * l->pes <= largest; step++)
        if (sx_systolic_tile_in(set, step * l->pes) && !add_step(l, step, step * l->pes)) return false;
    return true;
}

/* Lists the tiles of a loop that is not a space loop; false when memory is out. */
static bool list_whole(lister *l) {
    const sx_systolic_tile_set *set = &l->space->tiles[l->key->loop];
    for (size_t i = 0; i < set->n; i++) {
        if (l->key->lanes && set->t1[i] % l->key->lanes) continue;
        if (!add_step(l, set->t1[i], set->t1[i])) return false;
    }
    return true;
}

/* How many PEs of one lane there are DSP blocks for, up to a number. */
static uint32_t most_pes(const sx_systolic_limits *limits, uint32_t largest) {
    double about = floor(limits->dsp / limits->dsp_per_mac);
    while (about > 0 && sx_systolic_dsp(limits, about, 1) > limits->dsp) about--;
    while (about < largest && sx_systolic_dsp(limits, about + 1, 1) <= limits->dsp) about++;
    return about < largest ? (uint32_t)about : largest;
}

/* The choices of a key; NULL when memory is out. */
static sx_loop_choices *choices_new(const sx_systolic_space *space, const sx_choices_key *key) {
    const sx_systolic_tile_set *set = &space->tiles[key->loop];
    sx_loop_choices *choices = calloc(1, sizeof *choices);
    if (!choices) return NULL;
    choices->most_pes = key->is_space ? most_pes(&space->limits, set->t1[set->n - 1]) : 1;
    choices->with = calloc((size_t)choices->most_pes + 1, sizeof *choices->with);
    bool fine = choices->with != NULL;
    for (uint32_t p = 1; fine && p <= choices->most_pes; p++) {
        lister l = {.space = space, .key = key, .pes = p, .out = &choices->with[p]};
        fine = key->is_space ? list_space(&l) : list_whole(&l);
    }
    if (fine) return choices;
    loop_choices_free(choices);
    return NULL;
}

/* What decides the choices of a loop in a design. */
static sx_choices_key key_of(const sx_systolic_plan *plan, int loop, uint32_t lanes) {
    sx_choices_key key = {.loop = (uint8_t)loop, .is_space = plan->form.space >> loop & 1};
    bool own = loop == plan->simd;
    if (own) key.lanes = lanes;
    for (int a = 0; a < SX_N_OPERANDS; a++)
        if (plan->form.part[a].last == loop && plan->cap[a] > key.cap) key.cap = (uint32_t)plan->cap[a];
    if (!own && plan->form.sums) key.hide = (uint32_t)sx_systolic_sums_wanted(plan, plan->limits.lanes);
    return key;
}

const sx_loop_choices *sx_choices_find(const sx_all_choices *all, const sx_systolic_plan *plan, int loop,
                                       uint32_t lanes) {
    sx_choices_key key = key_of(plan, loop, lanes);
    for (size_t i = 0; i < all->n; i++) {
        const sx_choices_key *k = &all->key[i];
        if (k->loop == key.loop && k->is_space == key.is_space && k->lanes == key.lanes &&
            k->cap == key.cap && k->hide == key.hide)
            return all->choices[i];
    }
    return NULL;
}

const sx_loop_choices *sx_choices_make(sx_all_choices *all, const sx_systolic_plan *plan, int loop,
                                       uint32_t lanes) {
    const sx_loop_choices *there = sx_choices_find(all, plan, loop, lanes);
    if (there) return there;
    assert(all->n < SX_MAX_CHOICES_KEYS);
    sx_choices_key key = key_of(plan, loop, lanes);
    sx_loop_choices *choices = choices_new(all->space, &key);
    if (!choices) return NULL;
    all->key[all->n] = key;
    all->choices[all->n++] = choices;
    return choices;
}

/* The quantities that a choice and a lower bound of several share. */
static sx_systolic_tile tile_at(const sx_systolic_space *space, const sx_systolic_plan *plan, int loop,
                                uint32_t pes, const sx_step_choices *choices, size_t index, size_t kernel) {
    return (sx_systolic_tile){.trips = choices->trips[index * space->n_kernels + kernel],
                              .pes = pes,
                              .hide = loop == plan->simd ? 1 : choices->step[index]};
}

sx_systolic_tile sx_choice_exact(const sx_systolic_space *space, const sx_systolic_plan *plan, int loop,
                                 uint32_t pes, const sx_step_choices *choices, size_t index, size_t kernel) {
    sx_systolic_tile tile = tile_at(space, plan, loop, pes, choices, index, kernel);
    tile.step = choices->step[index];
    tile.all = tile.trips * tile.step;
    tile.span = sx_systolic_span(&space->kernel[kernel].loop[loop], tile.step);
    tile.spans = tile.trips * tile.span;
    return tile;
}

sx_systolic_tile sx_choice_least(const sx_systolic_space *space, const sx_systolic_plan *plan, int loop,
                                 uint32_t pes, const sx_step_choices *choices, size_t index, size_t kernel) {
    sx_systolic_tile tile = tile_at(space, plan, loop, pes, choices, index, kernel);
    size_t at = index * space->n_kernels + kernel;
    tile.step = choices->step[0];
    tile.all = choices->all[at];
    tile.span = sx_systolic_span(&space->kernel[kernel].loop[loop], tile.step);
    tile.spans = choices->spans[at];
    return tile;
}
