/* What the mapper `optimal` remembers between two rounds, in one block that grows with its heap. */
#include "mappers/optimal_plan.h"

#include "base/status.h"

#include <string.h>

/* Where the parts of a state begin. */
typedef struct layout {
    size_t sharp, searched, point, heap;
} layout;

static layout lay_out(const sx_optimal *o) {
    int n_criteria = o->judge.objective->n_criteria;
    size_t n = o->arrays.n, points = n_criteria > 1 ? (size_t)n_criteria : 0;
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
    o->heap = (sx_node *)(void *)((char *)block + at.heap);
}

sx_status sx_optimal_remember(sx_optimal *o) {
    size_t least = lay_out(o).heap, size = least;
    bool resumed;
    void *block = sx_run_state_sized(o->run, &size, &resumed);
    if (!block) return sx_error_memory();
    find_parts(o, block);
    if (!resumed) o->s->n_arrays = o->arrays.n;
    bool fits = size >= least && o->s->n_arrays == o->arrays.n &&
                (size - least) / sizeof(sx_node) == o->s->room && o->s->n_nodes <= o->s->room;
    return fits ? SX_OK : sx_error_new(SX_ERR_INPUT, "the checkpoint belongs to another search");
}

bool sx_optimal_push(sx_optimal *o, const sx_node *node) {
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

void sx_optimal_keep(sx_optimal *o, const sx_hope *hope) {
    size_t size = o->space->space.point_size;
    sx_optimal_state *s = o->s;
    if (o->judge.objective->n_criteria == 1 || hope->kept.n == 0) return;
    if (s->found >> s->criterion & 1 && hope->kept.kept[0].value >= s->least[s->criterion]) return;
    s->found |= 1u << s->criterion;
    s->least[s->criterion] = hope->kept.kept[0].value;
    s->score[s->criterion] = hope->kept.kept[0].score;
    memcpy(o->point + s->criterion * size, sx_shelf_point(&hope->kept, 0), size);
}
