/* State of the mapper `optimal` between two rounds, in one block that grows with its heap. */
#include "mappers/optimal/state.h"

#include "base/status.h"

#include <math.h>
#include <string.h>

/* Where the parts of a state begin. */
typedef struct layout {
    size_t sharp, searched, point, heap;
} layout;

static layout lay_out(const sx_optimal *o) {
    int n_criteria = o->rule.objective->n_criteria;
    size_t n = o->spatials.n, points = n_criteria > 1 ? (size_t)n_criteria : 0;
    layout at = {.sharp = sizeof(sx_optimal_state)};
    at.searched = at.sharp + n * sizeof(double);
    at.point = at.searched + (n + 7) / 8 * 8;
    at.heap = at.point + (points * o->space->space.point_size + 7) / 8 * 8;
    return at;
}

/* Finds the parts of the state, which may have moved. */
static void find_parts(sx_optimal *o, void *block) {
    layout at = lay_out(o);
    o->s = block;
    o->sharp = (double *)(void *)((char *)block + at.sharp);
    o->searched = (uint8_t *)block + at.searched;
    o->point = (unsigned char *)block + at.point;
    o->heap = (sx_search_node *)(void *)((char *)block + at.heap);
}

/* Whether a node of a checkpoint is one of this search. */
static bool node_holds(const sx_optimal *o, const sx_search_node *node) {
    uint8_t imperfect;
    memcpy(&imperfect, &node->imperfect, 1);
    if (imperfect > 1 || (imperfect && !o->space->options.remainders)) return false;
    return node->spatial < (imperfect ? o->imperfect.n : o->spatials.n) &&
           (node->keep == SX_ANY_KEEP || node->keep < sx_keep_choices(o->space)) &&
           node->part < node->parts && !isnan(node->bound) && !isnan(node->from);
}

/* Whether the state is one that a search may have. */
static bool state_holds(const sx_optimal *o) {
    const sx_optimal_state *s = o->s;
    const uint64_t n_criteria = o->rule.objective->n_criteria;
    if (s->begun.stage > SX_OPTIMAL_ALL || s->criterion > n_criteria || s->listed > SX_LISTED_REMAINDERS ||
        s->found >> n_criteria != 0 || isnan(s->longest))
        return false;
    for (uint64_t i = 0; i < n_criteria && n_criteria > 1; i++) {
        bool found = s->found >> i & 1;
        if (found && !sx_run_holds(o->run, o->point + i * o->space->space.point_size, 1)) return false;
        if (!found && i < s->criterion) return false;
    }
    for (uint64_t i = 0; i < s->n_nodes; i++)
        if (!node_holds(o, &o->heap[i])) return false;
    return true;
}

sx_status sx_optimal_state_begin(sx_optimal *o) {
    size_t size = sizeof *o->s;
    o->s = sx_run_state_sized(o->run, &size, NULL);
    if (!o->s) return sx_error_memory();
    if (size < sizeof *o->s || o->s->begun.stage > SX_OPTIMAL_ALL) return sx_run_damaged(o->run);
    o->state_size = size;
    return SX_OK;
}

sx_status sx_optimal_state_complete(sx_optimal *o) {
    size_t least = lay_out(o).heap, size = o->state_size;
    void *block = o->s;
    bool begun = size == sizeof *o->s;
    if (begun) block = sx_run_state_resize(o->run, size = least);
    if (!block) return sx_error_memory();
    if (size < least) return sx_run_damaged(o->run);
    find_parts(o, block);
    if (begun) o->s->n_spatials = o->spatials.n;
    bool fits = o->s->n_spatials == o->spatials.n && o->s->room == (size - least) / sizeof(sx_search_node) &&
                (size - least) % sizeof(sx_search_node) == 0 && o->s->n_nodes <= o->s->room && state_holds(o);
    return fits ? SX_OK : sx_run_damaged(o->run);
}

bool sx_optimal_push(sx_optimal *o, const sx_search_node *node) {
    sx_optimal_state *s = o->s;
    if (s->n_nodes == s->room) {
        size_t room = s->room ? 2 * s->room : 1024;
        void *block = sx_run_state_resize(o->run, lay_out(o).heap + room * sizeof *node);
        if (!block) return false;
        find_parts(o, block);
        s = o->s;
        s->room = room;
    }
    o->heap[s->n_nodes] = *node;
    sx_heap_push(o->heap, s->n_nodes++);
    return true;
}

void sx_optimal_keep(sx_optimal *o, double value, const sx_score *score, const void *point) {
    size_t size = o->space->space.point_size;
    sx_optimal_state *s = o->s;
    if (s->found >> s->criterion & 1 && value >= s->least[s->criterion]) return;
    s->found |= 1u << s->criterion;
    s->least[s->criterion] = value;
    s->score[s->criterion] = *score;
    memcpy(o->point + s->criterion * size, point, size);
}
