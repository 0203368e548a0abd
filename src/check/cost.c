/* Energy and cycles of one mapping (docs/model.md, sections 5 and 6). Energies are integers, in units of 1 / scale pJ. */
#include "check/cost.h"

#include "check/remainder_flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sx_check_evaluator {
    const sx_check_case *c;
    sx_check_memory *memory;
    sx_check_nest nest;
    sx_check_flow flow[SX_MAX_LEVELS];
    sx_check_counts counts[SX_MAX_TENSORS][SX_MAX_LEVELS];
};

/* Words at the ports of a level: reads, writes, both. den == 0: a number did not fit. */
typedef struct port_words {
    sx_wide num[SX_N_PORTS], den;
} port_words;

/* A mapping that is being evaluated. */
typedef struct bill {
    sx_wide energy;
    int64_t cycles; /* of the slowest level */
    bool full;      /* see sx_check_cost */
    double
        slow; /* the speed that ports leave, and words read and written in a step, as the model's doubles have them */
    double rate[SX_MAX_LEVELS][2];
    bool overflow;
    port_words ports[SX_MAX_LEVELS];
} bill;

/* What networks take; least: where doubles may round routers down; said: where they do, but for `open`, which says that
 * this is not known. */
typedef struct network_energy {
    sx_wide all, least, said;
    bool overflow, open;
} network_energy;

/* Which counts at an edge are taken to be one less. */
typedef enum edge_rule {
    EDGES_EXACT,
    EDGES_LEAST, /* all */
    EDGES_SAID,  /* those of which the model's doubles make one less */
} edge_rule;

sx_status sx_check_evaluator_new(const sx_check_case *c, sx_check_evaluator **out) {
    sx_check_evaluator *e = malloc(sizeof *e);
    if (!e) return sx_error_memory();
    e->c = c;
    sx_status status = sx_check_memory_new(&e->memory);
    if (status)
        free(e);
    else
        *out = e;
    return status;
}

void sx_check_evaluator_free(sx_check_evaluator *e) {
    if (!e) return;
    sx_check_memory_free(e->memory);
    free(e);
}

/* Adds a count of things of an energy. */
static void add_energy(bill *b, sx_wide count, sx_wide each) {
    sx_wide energy;
    b->overflow |= !sx_wide_mul(count, each, &energy) || !sx_wide_add(b->energy, energy, &b->energy);
}

/* The clusters of a level that are in use: each pays for an access of its instances once. */
static int64_t count_clusters(const sx_check_level *level, int64_t used) {
    int64_t clusters = level->mesh[0] * level->mesh[1] / level->cluster_size;
    return used < clusters ? used : clusters;
}

/* The least whole number that is at least a / b; 64 bits are divided faster. */
static sx_wide divide_up(sx_wide a, sx_wide b) {
    sx_wide sum = a + b - 1;
    return sum <= INT64_MAX ? (int64_t)sum / (int64_t)b : sum / b;
}

/* Adds what a level pays for its accesses to a tensor. */
static void add_accesses(bill *b, const sx_check_level *level, const sx_tensor *tensor, int64_t used,
                         const sx_check_counts *counts) {
    sx_wide bits = tensor->bits ? tensor->bits : level->word_bits, clusters = count_clusters(level, used);
    sx_wide vector = (sx_wide)level->word_bits * level->block_size;
    for (int i = 0; i < SX_N_ACCESSES; i++)
        add_energy(b, divide_up(counts->access[i] * bits, vector * counts->among) * clusters,
                   level->energy[i]);
    sx_wide addresses =
        (sx_wide)counts->access[tensor->output ? SX_UPDATE : SX_READ] + counts->access[SX_FILL];
    add_energy(b, addresses * clusters / counts->among, level->address);
    b->overflow |= level->address && addresses * clusters % counts->among;
}

/* Lengthens a run to the cycles that ports take for their words. */
static void add_port_cycles(bill *b, const sx_check_level *level, const port_words *words) {
    for (int p = 0; p < SX_N_PORTS; p++) {
        sx_wide num, den, cycles;
        if (level->port[p].den == 0 || words->num[p] == 0) continue;
        if (!sx_wide_mul(words->num[p], level->port[p].den, &num) ||
            !sx_wide_mul(words->den, level->port[p].num, &den) || den <= 0) {
            b->overflow = true;
            return;
        }
        cycles = divide_up(num, den);
        b->overflow |= cycles > INT64_MAX / 2;
        if (cycles > b->cycles) b->full = false;
        if (cycles >= b->cycles) b->full |= num % den == 0;
        if (cycles > b->cycles) b->cycles = (int64_t)cycles;
    }
}

/* The words that an instance reads and writes, on the average, as whole numbers. */
static sx_wide count_reads(const sx_check_counts *counts) {
    return divide_up(counts->access[SX_READ], counts->among);
}
static sx_wide count_writes(const sx_check_counts *counts) {
    return divide_up((sx_wide)counts->access[SX_FILL] + counts->access[SX_UPDATE], counts->among);
}

/* A fraction as a double. */
static double to_double(sx_ratio x) {
    return (double)x.num / (double)x.den;
}

/* Lowers the speed to what the ports of a level allow for words read and written in a step, in the model's own steps
 * (docs/model.md, section 6). */
static void slow_down(bill *b, const sx_check_level *level, const double *rate) {
    const double use[SX_N_PORTS] = {rate[0], rate[1], rate[1] + rate[0]};
    for (int p = 0; p < SX_N_PORTS; p++) {
        if (level->port[p].den == 0) continue;
        double width = to_double(level->port[p]);
        if (width < use[p] && width / use[p] < b->slow) b->slow = width / use[p];
    }
}

/* Adds the words of a tensor to what a level reads and writes in a step; in banks, each tensor has the ports for itself. */
static void add_rates(bill *b, const sx_check_case *c, int s, int tensor, int64_t steps,
                      const sx_check_counts *counts) {
    const sx_check_level *level = &c->machine.level[s];
    int bits = c->problem.tensor[tensor].bits;
    double scale =
        to_double(level->port_scale[tensor]) * (bits ? (double)bits / (double)level->word_bits : 1);
    const double own[2] = {(double)count_reads(counts) / (double)steps * scale,
                           (double)count_writes(counts) / (double)steps * scale};
    if (level->banks) slow_down(b, level, own);
    for (int i = 0; i < 2; i++) b->rate[s][i] += own[i];
}

/* Adds the words of a tensor to those at a level's ports; in banks, each tensor has the ports for itself. */
static void add_port_words(bill *b, const sx_check_case *c, int s, int tensor,
                           const sx_check_counts *counts) {
    const sx_check_level *level = &c->machine.level[s];
    const sx_tensor *t = &c->problem.tensor[tensor];
    sx_ratio scale = level->port_scale[tensor];
    sx_wide reads = count_reads(counts), writes = count_writes(counts);
    sx_wide num = scale.num, den = scale.den;
    port_words *sum = &b->ports[s], own;
    if (t->bits) {
        num *= t->bits;
        den *= level->word_bits;
    }
    sx_wide words[SX_N_PORTS] = {reads, writes, reads + writes};
    own.den = den;
    for (int p = 0; p < SX_N_PORTS; p++) b->overflow |= !sx_wide_mul(words[p], num, &own.num[p]);
    if (level->banks) {
        add_port_cycles(b, level, &own);
        return;
    }
    for (int p = 0; p < SX_N_PORTS; p++) {
        sx_wide left, right;
        b->overflow |= !sx_wide_mul(sum->num[p], own.den == sum->den ? 1 : own.den, &left) ||
                       !sx_wide_mul(own.num[p], own.den == sum->den ? 1 : sum->den, &right) ||
                       !sx_wide_add(left, right, &sum->num[p]);
    }
    if (own.den != sum->den) b->overflow |= !sx_wide_mul(sum->den, own.den, &sum->den);
}

/* Adds what hops and routers of one instance of a level take for a tensor, in all instances. */
static sx_wide price_network(const sx_check_level *level, const sx_tensor *tensor, int64_t used,
                             sx_wide half_hops, sx_wide routers, bool *overflow) {
    sx_wide energy, part, width = tensor->bits ? tensor->bits : level->word_bits;
    *overflow |= !sx_wide_mul(half_hops, level->hop, &energy) ||
                 !sx_wide_mul(2 * routers, level->router, &part) || !sx_wide_add(energy, part, &energy) ||
                 !sx_wide_mul(energy, used * width, &energy) || energy % (2 * level->word_bits) != 0;
    return energy / (2 * level->word_bits);
}

/* The routers that the words of a flow pass, in the model's own steps: in doubles. */
static double count_routers(const sx_check_flow *flow, const sx_check_counts *counts, bool twice) {
    double routers = 0;
    for (int i = 0; i < flow->n_records && counts->flows; i++) {
        double accesses = (double)flow->record[i].accesses * counts->factor;
        if (twice) accesses = 2 * accesses - (double)counts->partition;
        if (accesses <= 0) continue;
        routers = trunc(routers + (1 + floor((double)flow->record[i].half_hops / 2 / accesses)) * accesses);
    }
    return routers;
}

/* Adds what the network below a level takes for a tensor. */
static void add_network(network_energy *n, const sx_check_case *c, int s, int tensor, int64_t used,
                        const sx_check_flow *flow, const sx_check_counts *counts) {
    const sx_check_level *level = &c->machine.level[s];
    const sx_tensor *t = &c->problem.tensor[tensor];
    sx_wide half_hops = 0, routers = 0, least = 0, den = counts->share.den,
            links = counts->linked ? flow->links : 0;
    const bool twice = t->output && !level->adds;
    if (!level->hop && !level->router) return;
    for (int i = 0; i < flow->n_records && counts->flows; i++) {
        sx_wide accesses = 0, hops = 0, passed = 0, each;
        n->overflow |= !sx_wide_mul(flow->record[i].accesses, counts->share.num, &accesses) ||
                       !sx_wide_mul(flow->record[i].half_hops, den, &hops);
        if (twice) accesses = 2 * accesses - counts->partition * den;
        if (accesses <= 0) continue;
        each = 1 + hops / (2 * accesses);
        n->overflow |= !sx_wide_mul(each, accesses, &passed);
        routers += passed / den;
        half_hops += flow->record[i].half_hops;
        if (!counts->binary && each > 1 && hops % (2 * accesses) == 0) passed -= accesses;
        least += passed / den - (!counts->binary && passed % den == 0);
    }
    double counted = counts->binary ? (double)routers : count_routers(flow, counts, twice);
    bool open = !(counted >= (double)least && counted <= (double)routers) || routers >= (sx_wide)1 << 53;
    sx_wide said = open ? routers : (sx_wide)counted;
    n->open |= open && least < routers;
    n->said += price_network(level, t, used, half_hops + 2 * links, said + 2 * links, &n->overflow);
    n->all += price_network(level, t, used, half_hops + 2 * links, routers + 2 * links, &n->overflow);
    n->least += price_network(level, t, used, half_hops + 2 * links, least + 2 * links, &n->overflow);
}

/* Counts what a tensor takes of levels and networks. */
static bool count_tensor(sx_check_evaluator *e, const sx_mapping *mapping, int tensor, network_energy *n,
                         sx_check_doubt *doubt) {
    const sx_check_case *c = e->c;
    for (int s = 0; s < c->machine.n_levels; s++)
        if (!(e->nest.remainders
                  ? sx_check_remainder_flow(c, &e->nest, mapping, tensor, s, &e->flow[s], doubt)
                  : sx_check_flow_count(c, &e->nest, mapping, tensor, s, e->memory, &e->flow[s], doubt)))
            return false;
    if (!sx_check_collapse(c, &e->nest, mapping, tensor, e->flow, e->counts[tensor], doubt)) return false;
    for (int s = 0; s < c->machine.n_levels; s++)
        add_network(n, c, s, tensor, e->nest.used[s], &e->flow[s], &e->counts[tensor][s]);
    return true;
}

/* Whether doubles may come to less than some count; *less: whether they do; *open: whether that is not known. */
static bool has_edges(const sx_check_evaluator *e, bool *less, bool *open) {
    bool any = false;
    *less = *open = false;
    for (int v = 0; v < e->c->problem.n_tensors; v++)
        for (int s = 0; s < e->c->machine.n_levels; s++) {
            const sx_check_counts *counts = &e->counts[v][s];
            for (int i = 0; i < SX_N_ACCESSES; i++) any |= counts->edge[i];
            for (int i = 0; i < SX_N_ACCESSES; i++) *less |= counts->less[i];
            *open |= counts->open;
        }
    return any;
}

/* What leaks in a cycle; a level that another one gates leaks wherever the gate is in use. */
static sx_wide count_leakage(const sx_check_case *c, const sx_check_nest *nest) {
    sx_wide leak = 0;
    for (int s = 0; s < c->machine.n_levels; s++) {
        const sx_check_level *level = &c->machine.level[s], *gate = &c->machine.level[level->gate];
        int64_t each = level->mesh[0] * level->mesh[1] / (gate->mesh[0] * gate->mesh[1]);
        int64_t leaking = each > 1 ? each * nest->used[level->gate] : nest->used[s];
        leak += (sx_wide)leaking * level->leak;
    }
    return leak;
}

/* Adds up what all levels take besides networks. */
static void sum_levels(const sx_check_evaluator *e, const sx_mapping *mapping, edge_rule rule, bill *b) {
    const sx_check_case *c = e->c;
    sx_wide computes = 1;
    *b = (bill){.cycles = e->nest.steps, .slow = 1};
    for (int s = 0; s < c->machine.n_levels; s++) {
        b->ports[s].den = 1;
        for (int v = 0; v < c->problem.n_tensors; v++) {
            sx_check_counts counts = e->counts[v][s];
            if (!(mapping->level[s].keep >> v & 1)) continue;
            const bool *less = rule == EDGES_LEAST ? counts.edge : counts.less;
            for (int i = 0; i < SX_N_ACCESSES && rule != EDGES_EXACT; i++) counts.access[i] -= less[i];
            add_accesses(b, &c->machine.level[s], &c->problem.tensor[v], e->nest.used[s], &counts);
            add_port_words(b, c, s, v, &counts);
            add_rates(b, c, s, v, e->nest.steps, &counts);
        }
        add_port_cycles(b, &c->machine.level[s], &b->ports[s]);
        if (!c->machine.level[s].banks) slow_down(b, &c->machine.level[s], b->rate[s]);
    }
    for (int d = 0; d < c->problem.n_dims; d++) computes *= c->problem.size[d];
    add_energy(b, computes, c->machine.compute_energy);
}

/* Adds up what levels, networks and leakage take; false where it does not fit. */
static bool sum_cost(const sx_check_evaluator *e, const sx_mapping *mapping, const network_energy *network,
                     int64_t latency, sx_check_cost *out) {
    bool less, open, edges = has_edges(e, &less, &open);
    bill b, least, said;
    sum_levels(e, mapping, EDGES_EXACT, &b);
    least = said = b;
    if (edges) sum_levels(e, mapping, EDGES_LEAST, &least);
    if (less) sum_levels(e, mapping, EDGES_SAID, &said);
    int64_t cycles = (int64_t)ceil((double)e->nest.steps / said.slow);
    add_energy(&b, network->all, 1);
    add_energy(&least, network->least, 1);
    add_energy(&said, network->said, 1);
    out->leak = count_leakage(e->c, &e->nest);
    add_energy(&b, b.cycles, out->leak);
    add_energy(&least, least.cycles, out->leak);
    add_energy(&said, cycles, out->leak);
    out->energy = b.energy;
    out->cycles = b.cycles + latency;
    out->full = b.full;
    out->said = cycles + latency;
    out->said_energy = said.energy;
    out->least_energy = least.energy;
    out->least_cycles = least.cycles + latency;
    out->open = open || network->open;
    return !b.overflow && !least.overflow && !said.overflow && !network->overflow;
}

/* Sets the steps of a mapping that leaves remainders; false where there is no rule for it. */
static bool count_remainder_steps(sx_check_evaluator *e, sx_check_doubt *doubt) {
    for (int s = 0; s < e->c->machine.n_levels; s++)
        if (e->c->machine.level[s].hop || e->c->machine.level[s].router)
            sx_check_doubt_add(doubt, "there is no rule for remainders and the energy of a network");
    e->nest.steps = sx_check_remainder_steps(e->c, &e->nest);
    return e->nest.steps > 0 && !doubt->why[0];
}

sx_check_legality sx_check_evaluator_cost(sx_check_evaluator *e, const sx_mapping *mapping,
                                          sx_check_cost *out, sx_check_doubt *doubt) {
    const sx_check_case *c = e->c;
    network_energy network = {0};
    int64_t latency = 0;
    sx_check_legality legality = sx_check_nest_build(c, mapping, &e->nest, doubt);
    if (legality != SX_COST_LEGAL) return legality;
    if (e->nest.remainders && !count_remainder_steps(e, doubt)) return SX_COST_UNDECIDED;
    for (int v = 0; v < c->problem.n_tensors; v++)
        if (!count_tensor(e, mapping, v, &network, doubt)) return SX_COST_UNDECIDED;
    for (int s = 0; s < c->machine.n_levels; s++)
        latency += c->machine.level[s].fill_latency + c->machine.level[s].drain_latency;
    if (sum_cost(e, mapping, &network, latency, out)) return SX_COST_LEGAL;
    sx_check_doubt_add(doubt, "the cost of a mapping does not fit 128-bit integers of its unit");
    return SX_COST_UNDECIDED;
}

sx_check_legality sx_check_evaluate(const sx_check_case *c, const sx_mapping *mapping, sx_check_cost *out,
                                    sx_check_doubt *doubt) {
    sx_check_evaluator *e = NULL;
    sx_status status = sx_check_evaluator_new(c, &e);
    if (status) {
        sx_status_free(status);
        sx_check_doubt_add(doubt, "memory is out");
        return SX_COST_UNDECIDED;
    }
    sx_check_legality legality = sx_check_evaluator_cost(e, mapping, out, doubt);
    sx_check_evaluator_free(e);
    return legality;
}
