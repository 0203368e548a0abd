#include "support/tile_executor.h"

#include <math.h>
#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { WAITING, LOADING, LOADED, COMPUTING, COMPUTED, STORING, STORED };

typedef struct machine {
    unsigned n, slots, launched, stored;
    const sx_tile_stages *tile;
    double launch, now, next_launch;
    int *state;
    double *until;     /* of a tile in a stage */
    unsigned first[3]; /* tiles that went into each stage */
    int held[3];       /* the tile in a stage; -1: none */
} machine;

/* Lets the next tile into a stage that is free, where it is ready for it; whether it went in. */
static int enter_stage(machine *m, int stage) {
    const double times[] = {m->tile->load, m->tile->compute, m->tile->store};
    unsigned i = m->first[stage];
    if (m->held[stage] >= 0 || i >= m->n || m->state[i] != 2 * stage) return 0;
    if (stage == 0) {
        if (m->now < m->next_launch || (m->slots > 0 && m->launched - m->stored >= m->slots)) return 0;
        m->launched++;
        m->next_launch = m->now + m->launch;
    }
    m->state[i]++;
    m->until[i] = m->now + times[stage];
    m->held[stage] = (int)i;
    m->first[stage]++;
    return 1;
}

/* Lets a tile out of a stage that is done with it; whether one went out. */
static int leave_stage(machine *m, int stage) {
    int i = m->held[stage];
    if (i < 0 || m->until[i] > m->now) return 0;
    m->state[i]++;
    m->held[stage] = -1;
    if (stage == 2) m->stored++;
    return 1;
}

/* The next time at which anything can happen. */
static double next_event(const machine *m) {
    double next = INFINITY;
    for (int s = 0; s < 3; s++)
        if (m->held[s] >= 0) next = fmin(next, m->until[m->held[s]]);
    if (m->next_launch > m->now) next = fmin(next, m->next_launch);
    return next;
}

double sx_execute_tiles(unsigned n, const sx_tile_stages *tile, double launch, unsigned slots) {
    machine m = {.n = n, .slots = slots, .tile = tile, .launch = launch, .held = {-1, -1, -1}};
    m.next_launch = launch;
    m.state = calloc(n, sizeof *m.state);
    m.until = calloc(n, sizeof *m.until);
    assert_true(m.state && m.until);
    while (m.stored < n) {
        int moved = 0;
        for (int s = 2; s >= 0; s--) moved |= leave_stage(&m, s);
        for (int s = 2; s >= 0; s--) moved |= enter_stage(&m, s);
        if (!moved) m.now = next_event(&m);
    }
    free(m.state);
    free(m.until);
    return m.now;
}
