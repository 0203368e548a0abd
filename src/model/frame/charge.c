/* From the flows of a tensor to what it costs (docs/model.md, sections 4 to 6): the rules of collapse.c and energy.c,
 * in their order of operations. */
#include "model/frame/state.h"

#include <math.h>

/* Accesses of one instance of a level. */
typedef struct counts {
    double reads, fills, updates;
} counts;

/* Vector accesses for a count. */
static inline double vectors(const sx_level *level, int v, double count) {
    return ceil(sx_level_vectors(level, v, count));
}

/* Charges accesses to a level. */
static inline void charge_level(const sx_cost_frame *f, int v, int s, const counts *c, sx_frame_charge *out) {
    const sx_level *level = &f->model->level[s];
    double clusters = fmin((double)level->clusters, f->above[s]);
    double access = vectors(level, v, c->reads) * level->read_energy +
                    vectors(level, v, c->fills) * level->fill_energy +
                    vectors(level, v, c->updates) * level->update_energy;
    double generations = (f->tensor[v].output ? c->updates : c->reads) + c->fills;
    double energy = (access + generations * level->addr_gen_energy) * clusters;
    if (level->bounded) {
        double scale = level->scale[v];
        out->reads[s] = ceil(c->reads) / f->cycles * scale;
        out->writes[s] = ceil(c->fills + c->updates) / f->cycles * scale;
    }
    out->energy[s] = energy;
    out->total += energy;
    out->accesses[s] = (c->reads + c->fills + c->updates) * f->above[s];
}

/* Counts where no level has records. */
static void count_whole(const sx_cost_frame *f, int v, uint32_t kept, counts *c) {
    const sx_frame_slot *slot = f->slot[v];
    const sx_frame_flow *flow = f->flow[v];
    bool output = f->tensor[v].output;
    int top = f->n_levels - 1, outermost = 31 - __builtin_clz(kept);
    double out[SX_FRAME_LEVELS], partition = f->tensor[v].elided;
    for (int s = 0; s <= top; s++) out[s] = flow[s].handed * slot[s].groups;
    for (int s = 0; s < top; s++) {
        if (kept >> s & 1) continue;
        double children = f->children[s + 1], delivered = out[s + 1] * (children / slot[s + 1].groups);
        out[s + 1] *= out[s] * children / delivered;
    }
    for (int s = top; s >= 0; partition /= slot[s--].groups) {
        if (!(kept >> s & 1)) continue;
        double in = s < outermost ? flow[s + 1].handed - partition : 0;
        c[s] = (counts){fmax(round(out[s] - partition), 0), fmax(in, 0), output ? round(out[s]) : 0};
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
        const sx_frame_flow *flow = &f->flow[v][s];
        double children = f->children[s], groups = f->slot[v][s].groups, demand = 0, supply = 0;
        t->n[s] = flow->n_records ? flow->n_records : 1;
        t->links[s] = flow->n_records ? flow->links : 0;
        for (int i = 0; i < flow->n_records; i++) t->record[s][i] = flow->record[i];
        if (!flow->n_records)
            t->record[s][0] = (sx_frame_record){children / groups, groups, flow->handed * groups};
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
static void count_split(const sx_cost_frame *f, int v, uint32_t kept, counts *c) {
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
    for (int s = top; s >= 0; partition /= f->slot[v][s--].groups) {
        if (!(kept >> s & 1)) continue;
        double out = t.demand[s] + t.peers[s], in = t.supply[s] + t.peers[s];
        if (output)
            c[s] = (counts){fmax(round(out - partition), 0),
                            fmax(round(s < outermost ? in - partition : in), 0), round(t.demand[s])};
        else
            c[s] = (counts){round(out), trunc(in), 0};
    }
}

/* Makes a charge. */
static void make(const sx_cost_frame *f, int v, uint32_t kept, sx_frame_charge *out) {
    counts c[SX_FRAME_LEVELS];
    if (f->split[v])
        count_split(f, v, kept, c);
    else
        count_whole(f, v, kept, c);
    out->total = 0;
    for (int s = 0; s < f->n_levels; s++) {
        if (kept >> s & 1)
            charge_level(f, v, s, &c[s], out);
        else
            out->energy[s] = out->reads[s] = out->writes[s] = out->accesses[s] = 0;
    }
}

const sx_frame_charge *sx_frame_charge_of(sx_cost_frame *f, int v, uint32_t kept) {
    sx_frame_charge *charge = &f->charge[v][(kept ^ kept >> 6) % SX_FRAME_CHARGES];
    if (charge->stamp == f->stamp[v] && charge->kept == kept) return charge;
    make(f, v, kept, charge);
    charge->stamp = f->stamp[v];
    charge->kept = kept;
    return charge;
}
