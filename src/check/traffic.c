/* From fetches to accesses (docs/model.md, sections 3 and 4), in fractions of integers. */
#include "check/traffic.h"

#include "check/remainder_flow.h"

#include <math.h>
#include <string.h>

/* Adds the accesses of a grouping that fetches `words` for each group. */
static bool add_accesses(const sx_check_siblings *siblings, const sx_check_grouping *g, sx_wide words,
                         sx_check_flow *out) {
    out->accesses += g->groups * words;
    out->delivered += g->members * words;
    out->n_terms += g->n;
    for (int i = 0; i < g->n; i++) {
        int k = 0;
        while (k < out->n_records &&
               (out->record[k].size < g->size[i].size ||
                (out->record[k].size == g->size[i].size && out->record[k].count < g->size[i].count)))
            k++;
        if (k == out->n_records || out->record[k].size != g->size[i].size ||
            out->record[k].count != g->size[i].count) {
            if (out->n_records == SX_CHECK_RECORDS) {
                out->unlisted = true;
                return !siblings->hops;
            }
            memmove(&out->record[k + 1], &out->record[k], (size_t)(out->n_records - k) * sizeof *out->record);
            out->record[k] = (sx_check_record){g->size[i].size, g->size[i].count, 0, 0};
            out->n_records++;
        }
        out->record[k].accesses += g->size[i].count * words;
        out->record[k].half_hops += g->size[i].half_hops * words;
    }
    return true;
}

/* Adds accesses for what neighbours hand over, where that saves any; *rest loses these words. */
static bool add_links(const sx_check_siblings *siblings, const sx_check_fetches *fetches, int64_t groups,
                      sx_check_memory *memory, sx_wide *rest, sx_check_flow *out) {
    for (int i = 0; i < fetches->n_shifts; i++) {
        const sx_check_shift *shift = &fetches->shift[i];
        sx_check_grouping fewer;
        if (!sx_check_siblings_group(siblings, shift->by, memory, &fewer)) return false;
        if (fewer.groups >= groups) continue;
        if (!add_accesses(siblings, &fewer, shift->words, out)) return false;
        out->links += (siblings->children - fewer.members) * shift->words;
        *rest -= shift->words;
    }
    return true;
}

bool sx_check_flow_count(const sx_check_case *c, const sx_check_nest *nest, const sx_mapping *mapping,
                         int tensor, int s, sx_check_memory *memory, sx_check_flow *out,
                         sx_check_doubt *doubt) {
    const sx_mapping_level *at = &mapping->level[s];
    bool always = s == 0 || (mapping->level[s - 1].no_temporal_reuse >> tensor & 1);
    bool links = !c->no_link_transfers && !(at->no_link_transfer >> tensor & 1);
    sx_check_siblings siblings;
    sx_check_fetches fetches;
    sx_check_grouping all;
    out->accesses = out->delivered = out->links = 0;
    out->n_records = out->n_terms = 0;
    out->unlisted = false;
    bool good = sx_check_siblings_lay(c, nest, tensor, s, at->no_multicast >> tensor & 1, &siblings);
    out->children = siblings.children;
    if (good) {
        sx_check_fetch(c, nest, tensor, s, always, links && siblings.n_loops ? siblings.span : NULL,
                       &fetches);
        good = !fetches.overflow && sx_check_siblings_group(&siblings, NULL, memory, &all);
    }
    if (good) {
        sx_wide rest = fetches.words;
        good = add_links(&siblings, &fetches, all.groups, memory, &rest, out) &&
               add_accesses(&siblings, &all, rest, out);
    }
    if (!good)
        sx_check_doubt_add(doubt, "%s hands %s to its children in more ways than are listed",
                           c->machine.level[s].name, c->problem.tensor[tensor].name);
    return good;
}

static sx_wide common_divisor(sx_wide a, sx_wide b) {
    if (a <= INT64_MAX && b <= INT64_MAX) return sx_gcd((int64_t)a, (int64_t)b);
    while (b) {
        sx_wide rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* *x = *x * num / den in lowest terms; false where that does not fit. */
static bool scale_fraction(sx_check_fraction *x, sx_wide num, sx_wide den) {
    sx_wide a = common_divisor(num, den), b, d;
    num /= a;
    den /= a;
    b = common_divisor(x->num, den);
    d = common_divisor(num, x->den);
    return sx_wide_mul(x->num / b, num / d, &x->num) && sx_wide_mul(x->den / d, den / b, &x->den);
}

/* *x + num / den; false where that does not fit. */
static bool add_fraction(sx_check_fraction *x, sx_wide num, sx_wide den) {
    sx_wide own, other, shared = common_divisor(x->den, den);
    if (num == 0) return true;
    if (!sx_wide_mul(x->num, den / shared, &own) || !sx_wide_mul(num, x->den / shared, &other) ||
        !sx_wide_mul(x->den, den / shared, &x->den) || !sx_wide_add(own, other, &x->num))
        return false;
    return true;
}

/* A fraction less a whole number, rounded to the nearest (halves up), or down; never below 0. *edge: a little less would
 * come to one less. False where it does not fit. */
static bool round_fraction(const sx_check_fraction *x, int64_t less, bool down, int64_t *out, bool *edge) {
    sx_wide num, whole, rest;
    if (!sx_wide_mul(x->den, less, &num)) return false;
    num = x->num - num;
    if (num < 0) num = 0;
    whole = x->den == 1 ? num : num / x->den;
    rest = num - whole * x->den;
    *edge = num > 0 && (down ? rest == 0 : rest == x->den - rest);
    if (!down && rest >= x->den - rest) whole++;
    *out = (int64_t)whole;
    return whole <= INT64_MAX / 2;
}

/* Whether doubles hold all multiples of 1 / n. */
static bool is_binary(sx_wide n) {
    return (n & (n - 1)) == 0;
}

/* The different words that an instance of each level holds over the whole run; with remainders, all instances together.
 * False where there is no rule. */
static bool set_partitions(const sx_check_case *c, const sx_check_nest *nest, int tensor,
                           sx_check_counts *out) {
    int top = c->machine.n_levels - 1;
    sx_wide words = nest->tile[top][tensor];
    for (int s = top; s >= 0 && nest->remainders; s--) {
        words = c->problem.tensor[tensor].output ? sx_check_remainder_partition(c, nest, tensor, s) : 0;
        if (words < 0 || words > INT64_MAX / 2) return false;
        out[s].partition = (int64_t)words;
    }
    if (nest->remainders) return true;
    out[top].partition = (int64_t)words;
    for (int s = top - 1; s >= 0; s--) {
        if (nest->first_spatial[s + 2] > nest->first_spatial[s + 1])
            words = words * nest->tile[s][tensor] / nest->spread_tile[s + 1][tensor];
        out[s].partition = (int64_t)words;
    }
    return true;
}

/* What a level that keeps a tensor has to do with it. */
typedef struct level_traffic {
    sx_check_fraction asked;                       /* accesses of its children */
    sx_check_fraction reads;                       /* these, and what it hands to its neighbours */
    sx_check_fraction given;                       /* words that come from outside or from neighbours */
    bool binary_asked, binary_reads, binary_given; /* doubles hold what they are made of */
    bool outermost;
    double demand, supply, peers; /* asked, and the parts of given, in the model's doubles; NaN: not known */
} level_traffic;

/* Whether doubles hold all whole numbers that a flow is made of. */
static bool holds_flow(const sx_check_flow *flow) {
    const sx_wide most = (sx_wide)1 << 53;
    return !flow->unlisted && flow->accesses < most && flow->links < most && flow->delivered < most;
}

/* The share that a level makes of its flow's accesses, in the model's own steps: where the level inside passes on its
 * `demand`, that divided among what they deliver. NaN: not known. */
static double share_in_doubles(const sx_check_flow *flow, bool passed, double demand) {
    if (!holds_flow(flow)) return NAN;
    return passed ? demand * (double)flow->children / (double)flow->delivered : 1;
}

/* The accesses of a flow times a factor, in the model's own steps: group by group, in doubles. */
static double sum_accesses(const sx_check_flow *flow, double factor) {
    double sum = isnan(factor) ? NAN : 0;
    for (int i = 0; i < flow->n_records; i++) sum += (double)flow->record[i].accesses * factor;
    return sum;
}

/* What a child receives of a flow, in the model's own steps. NaN: not known. */
static double sum_supply(const sx_check_flow *flow) {
    double sum = holds_flow(flow) ? 0 : NAN;
    for (int i = 0; i < flow->n_records; i++)
        sum += (double)flow->record[i].accesses * (double)flow->record[i].size / (double)flow->children;
    return sum;
}

/* The nearest whole number, but 0 of a negative one. */
static double round_positive(double number) {
    return number < 0 ? 0 : round(number);
}

/* Sets which counts at an edge the model's doubles make one less. */
static void set_less(const level_traffic *t, bool output, int64_t spared, sx_check_counts *out) {
    double sent = t->demand + t->peers, given = t->supply + t->peers;
    double said[SX_N_ACCESSES] = {[SX_READ] = round(sent), [SX_FILL] = trunc(given)};
    if (output) {
        said[SX_UPDATE] = round(t->demand);
        said[SX_READ] = round_positive(sent - (double)spared);
        said[SX_FILL] = round_positive(given - (double)(t->outermost ? 0 : spared));
    }
    for (int i = 0; i < SX_N_ACCESSES; i++) {
        double lost = (double)out->access[i] - said[i];
        out->less[i] = out->edge[i] && lost == 1;
        out->open |= out->edge[i] && lost != 0 && lost != 1;
    }
}

/* The counts of a level that keeps the tensor. */
static bool count_level(const sx_check_case *c, const sx_mapping_level *at, int tensor,
                        const level_traffic *t, sx_check_counts *out) {
    bool spare = !c->no_first_read_elision && !(at->rmw_first_update >> tensor & 1), good;
    bool output = c->problem.tensor[tensor].output;
    int64_t spared = spare && output ? out->partition : 0;
    int64_t *count = out->access;
    count[SX_UPDATE] = 0;
    out->edge[SX_UPDATE] = false;
    good =
        round_fraction(&t->reads, spared, false, &count[SX_READ], &out->edge[SX_READ]) &&
        round_fraction(&t->given, t->outermost ? 0 : spared, !output, &count[SX_FILL], &out->edge[SX_FILL]) &&
        (!output || round_fraction(&t->asked, 0, false, &count[SX_UPDATE], &out->edge[SX_UPDATE]));
    out->edge[SX_READ] &= !t->binary_reads;
    out->edge[SX_FILL] &= !t->binary_given;
    out->edge[SX_UPDATE] &= !t->binary_asked;
    if (good) set_less(t, output, spared, out);
    return good;
}

/* Sets what comes from outside the level. */
static bool set_given(const sx_check_nest *nest, const sx_check_flow *from, int s, level_traffic *t) {
    bool binary_links = from->links == 0 || is_binary(nest->used[s]);
    t->given = (sx_check_fraction){from->delivered, from->children};
    t->binary_given = (from->n_terms == 1 || is_binary(from->children)) && binary_links;
    t->binary_reads &= binary_links;
    t->supply = sum_supply(from);
    t->peers = (double)from->links / (double)nest->used[s];
    return add_fraction(&t->reads, from->links, nest->used[s]) &&
           add_fraction(&t->given, from->links, nest->used[s]);
}

bool sx_check_collapse(const sx_check_case *c, const sx_check_nest *nest, const sx_mapping *mapping,
                       int tensor, const sx_check_flow *flow, sx_check_counts *out, sx_check_doubt *doubt) {
    int outermost = c->machine.n_levels - 1;
    sx_check_fraction inner = {0, 1}; /* accesses of the level inside, where it passes them on */
    bool passed = false, good = true, binary = true;
    double demand = 0; /* `inner` as the model's doubles have it */
    while (!(mapping->level[outermost].keep >> tensor & 1)) outermost--;
    good = set_partitions(c, nest, tensor, out);
    for (int s = 0; s < c->machine.n_levels && good; s++) {
        bool kept = mapping->level[s].keep >> tensor & 1;
        sx_check_fraction asked = {flow[s].accesses, 1};
        out[s].share = (sx_check_fraction){1, 1};
        out[s].among = nest->remainders ? nest->used[s] : 1;
        out[s].flows = s <= outermost;
        out[s].linked = !passed && out[s].flows;
        memset(out[s].access, 0, sizeof out[s].access);
        memset(out[s].edge, 0, sizeof out[s].edge);
        memset(out[s].less, 0, sizeof out[s].less);
        out[s].factor = share_in_doubles(&flow[s], passed, demand);
        demand = sum_accesses(&flow[s], out[s].factor);
        out[s].open = false;
        if (passed) {
            out[s].share = inner;
            good = scale_fraction(&out[s].share, flow[s].children, flow[s].delivered);
            asked = out[s].share;
            good = good && scale_fraction(&asked, flow[s].accesses, 1);
        }
        binary = (binary || !passed) && is_binary(out[s].share.den);
        out[s].binary = binary;
        passed = !kept;
        inner = asked;
        if (!kept) {
            out[s].partition = 0;
            continue;
        }
        level_traffic t = {asked, asked, {0, 1}, binary, binary, true, s == outermost, demand, 0, 0};
        if (s < outermost) good = good && set_given(nest, &flow[s + 1], s, &t);
        good = good && count_level(c, &mapping->level[s], tensor, &t, &out[s]);
    }
    if (!good)
        sx_check_doubt_add(doubt, "the accesses to %s are more than can be counted",
                           c->problem.tensor[tensor].name);
    return good;
}
