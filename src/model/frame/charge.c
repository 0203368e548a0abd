/* From the flows of a tensor to what it costs (docs/model.md, sections 4 to 6): the rules of collapse.c and energy.c,
 * in their order of operations. */
#include "model/frame/state.h"

#include <math.h>

/* Vector accesses for a count. */
static inline double vectors(const sx_level *level, int v, double count) {
    return ceil(sx_level_vectors(level, v, count));
}

/* Charges accesses to a level; returns the energy. */
static inline __attribute__((always_inline)) double
charge_level(const sx_cost_frame *f, int v, int s, bool output, sx_frame_counts c, sx_frame_charge *out) {
    const sx_level *level = &f->model->level[s];
    double access =
        vectors(level, v, c.reads) * level->read_energy + vectors(level, v, c.fills) * level->fill_energy;
    if (output) access += vectors(level, v, c.updates) * level->update_energy;
    double generations = (output ? c.updates : c.reads) + c.fills;
    if (level->bounded) {
        double scale = level->scale[v];
        out->reads[s] = ceil(c.reads) / f->cycles * scale;
        out->writes[s] = ceil(output ? c.fills + c.updates : c.fills) / f->cycles * scale;
    }
    return out->energy[s] = (access + generations * level->addr_gen_energy) * f->clusters[s];
}

/* Sets what a tensor leaves of a level that does not keep it. */
static inline void pass(sx_frame_charge *out, int s) {
    out->energy[s] = out->reads[s] = out->writes[s] = 0;
}

/* Charges an input where no level has records. */
static void charge_input(const sx_cost_frame *f, int v, uint32_t kept, sx_frame_charge *out) {
    const double *groups = f->groups[v], *handed = f->handed[v];
    int n = f->n_levels, outermost = 31 - __builtin_clz(kept);
    double inner = 0, total = 0;
    for (int s = 0; s < n; s++) {
        double words = handed[s] * groups[s];
        if (s > 0 && !(kept >> (s - 1) & 1)) {
            double children = f->children[s], delivered = words * (children / groups[s]);
            words *= inner * children / delivered;
        }
        inner = words;
        if (!(kept >> s & 1)) {
            pass(out, s);
            continue;
        }
        sx_frame_counts c = {round(words), s < outermost ? handed[s + 1] : 0, 0};
        total += charge_level(f, v, s, false, c, out);
        if (s == outermost) out->accesses = (c.reads + c.fills) * f->above[s];
    }
    out->total = total;
}

/* Counts where no level has records. */
static void count_whole(const sx_cost_frame *f, int v, uint32_t kept, sx_frame_counts *c) {
    const double *groups = f->groups[v], *handed = f->handed[v];
    int top = f->n_levels - 1, outermost = 31 - __builtin_clz(kept);
    double out[SX_FRAME_LEVELS], partition = f->tensor[v].elided;
    for (int s = 0; s <= top; s++) {
        out[s] = handed[s] * groups[s];
        if (s == 0 || kept >> (s - 1) & 1) continue;
        double children = f->children[s], delivered = out[s] * (children / groups[s]);
        out[s] *= out[s - 1] * children / delivered;
    }
    for (int s = top; s >= 0; partition /= groups[s--]) {
        if (!(kept >> s & 1)) continue;
        double in = s < outermost ? handed[s + 1] - partition : 0;
        c[s] = (sx_frame_counts){fmax(round(out[s] - partition), 0), fmax(in, 0),
                                 f->tensor[v].output ? round(out[s]) : 0};
    }
}

/* A tensor's traffic where levels have records. */
typedef struct traffic {
    double demand[SX_FRAME_LEVELS], supply[SX_FRAME_LEVELS], peers[SX_FRAME_LEVELS], links[SX_FRAME_LEVELS];
    int n[SX_FRAME_LEVELS];
    sx_frame_record record[SX_FRAME_LEVELS][SX_FRAME_RECORDS];
} traffic;

/* What each level hands out and gets in, before bypass. */
static void set_shares(const sx_cost_frame *f, int v, traffic *t) {
    for (int s = 0; s < f->n_levels; s++) {
        const sx_frame_records *flow = &f->records[v][s];
        double children = f->children[s], groups = f->groups[v][s], demand = 0, supply = 0;
        t->n[s] = flow->n ? flow->n : 1;
        t->links[s] = flow->n ? flow->links : 0;
        for (int i = 0; i < flow->n; i++) t->record[s][i] = flow->record[i];
        if (!flow->n)
            t->record[s][0] = (sx_frame_record){children / groups, groups, f->handed[v][s] * groups};
        for (int i = 0; i < t->n[s]; i++) {
            demand += t->record[s][i].accesses;
            supply += t->record[s][i].accesses * t->record[s][i].m / children;
        }
        t->demand[s] = demand;
        t->supply[s] = t->peers[s] = 0;
        if (s > 0) t->supply[s - 1] = supply;
    }
}

/* Lets the next outer level serve a bypassed one's children directly. */
static void bypass(const sx_cost_frame *f, traffic *t, int s) {
    double delivered = 0, demand = 0;
    for (int i = 0; i < t->n[s + 1]; i++) delivered += t->record[s + 1][i].accesses * t->record[s + 1][i].m;
    double factor = t->demand[s] * f->children[s + 1] / delivered;
    for (int i = 0; i < t->n[s + 1]; i++) demand += t->record[s + 1][i].accesses *= factor;
    t->links[s + 1] = 0;
    t->demand[s + 1] = demand;
}

/* Counts where some level has records. */
static void count_split(const sx_cost_frame *f, int v, uint32_t kept, sx_frame_counts *c) {
    traffic t;
    int top = f->n_levels - 1, outermost = 31 - __builtin_clz(kept);
    bool output = f->tensor[v].output;
    set_shares(f, v, &t);
    for (int s = 0; s < top; s++)
        if (!(kept >> s & 1)) bypass(f, &t, s);
    for (int s = top; s > outermost; s--) t.links[s] = 0;
    t.supply[outermost] = 0;
    for (int s = top; s > 0; s--)
        if (t.links[s] != 0) t.peers[s - 1] += t.links[s] / f->above[s - 1];
    double partition = f->tensor[v].elided;
    for (int s = top; s >= 0; partition /= f->groups[v][s--]) {
        if (!(kept >> s & 1)) continue;
        double out = t.demand[s] + t.peers[s], in = t.supply[s] + t.peers[s];
        if (output)
            c[s] = (sx_frame_counts){fmax(round(out - partition), 0),
                                     fmax(round(s < outermost ? in - partition : in), 0), round(t.demand[s])};
        else
            c[s] = (sx_frame_counts){round(out), trunc(in), 0};
    }
}

/* Counts a tensor. */
static inline __attribute__((always_inline)) void count(const sx_cost_frame *f, int v, uint32_t kept,
                                                        sx_frame_counts *c) {
    if (f->split[v])
        count_split(f, v, kept, c);
    else
        count_whole(f, v, kept, c);
}

void sx_frame_count_levels(const sx_cost_frame *f, int v, uint32_t kept, sx_frame_counts *c) {
    count(f, v, kept, c);
}

void sx_frame_charge_make(const sx_cost_frame *f, int v, uint32_t kept, sx_frame_charge *out) {
    sx_frame_counts c[SX_FRAME_LEVELS];
    bool output = f->tensor[v].output;
    if (!output && !f->split[v]) {
        charge_input(f, v, kept, out);
        return;
    }
    count(f, v, kept, c);
    out->total = 0;
    for (int s = 0; s < f->n_levels; s++) {
        if (!(kept >> s & 1)) {
            pass(out, s);
            continue;
        }
        out->total += charge_level(f, v, s, output, c[s], out);
        out->accesses = (c[s].reads + c[s].fills + c[s].updates) * f->above[s];
    }
}
