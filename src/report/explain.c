#include "report/explain.h"

#include "ir/arch.h"
#include "report/formats.h"
#include "report/loops.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Some of a mapping's loops, innermost first. */
typedef struct loop_set {
    int n;
    double product; /* of their factors */
    sx_loop_line line[SX_MAX_LOOP_LINES];
} loop_set;

/* What is known about a tensor at a level that keeps it, or whose network it crosses. On the heap: it is large. */
typedef struct facts {
    const sx_evaluation *e;
    int level, tensor;
    const char *name;
    bool output, sliding,
        ascending; /* sliding: a rank of several dimensions; ascending: no negative coefficient */
    bool elided;   /* first visits of an output's words start from zero */
    double tile, reads, fills, updates, partition; /* per instance */
    /* the temporal loops outside the tile: those inside the first that indexes the tensor, that one, and
     * those outside it that do not index the tensor */
    loop_set still, moving, again;
    loop_set shared; /* the spatial loops of the level that do not index it */
    sx_loop_line lines[SX_MAX_LOOP_LINES];
    int n_lines;
    double visits, changes; /* steps of all loops outside; of those that are not still */
    double arrivals;        /* words that come, with those that start from zero */
    bool exact; /* whole tiles come: arrivals are tile times changes, but for a fraction cut off */
} facts;

static void set_add(loop_set *set, sx_loop_line line) {
    set->line[set->n++] = line;
    set->product *= line.factor;
}

/* "1 word", "24 words". */
static sx_shown show_words(double n) {
    sx_shown shown;
    snprintf(shown.text, sizeof shown.text, "%.24s word%s", sx_show_count(n).text, n == 1 ? "" : "s");
    return shown;
}

/* "once", "twice", "24 times". */
static sx_shown show_times(double n) {
    sx_shown shown = {"once"};
    if (n == 2) return (sx_shown){"twice"};
    if (n != 1) snprintf(shown.text, sizeof shown.text, "%.24s times", sx_show_count(n).text);
    return shown;
}

/* Adds the first n loops of a set as "P (9) and R (5) of DRAM, C (4) of L2", outermost level first. */
static void add_loops(const sx_evaluation *e, const loop_set *set, int n, sx_text *out) {
    for (int i = n - 1; i >= 0; i--) {
        const sx_loop_line *line = &set->line[i];
        sx_text_add(out, "%s (%s)", e->problem.dim_name[line->dim], sx_show_count(line->factor).text);
        bool last_of_level = i == 0 || set->line[i - 1].level != line->level;
        bool last_but_one = i >= 1 && (i == 1 || set->line[i - 2].level != line->level);
        if (last_of_level)
            sx_text_add(out, " of %s%s", sx_level_name(&e->arch, line->level),
                        i == 0   ? ""
                        : i == 1 ? " and "
                                 : ", ");
        else
            sx_text_add(out, "%s", last_but_one ? " and " : ", ");
    }
}

static void find_shape(facts *f) {
    const sx_tensor *t = &f->e->problem.tensor[f->tensor];
    f->ascending = true;
    for (int r = 0; r < t->n_ranks; r++) {
        int dims = 0;
        for (int d = 0; d < f->e->problem.n_dims; d++) {
            dims += t->coef[r][d] != 0;
            if (t->coef[r][d] < 0) f->ascending = false;
        }
        if (dims > 1) f->sliding = true;
    }
}

/* Sorts the temporal loops outside the level's tile. */
static void find_loops(facts *f) {
    const sx_loop_line *lines = f->lines;
    f->still.product = f->moving.product = f->again.product = f->visits = 1;
    for (int i = f->n_lines - 1; i >= 0; i--) {
        if (lines[i].level <= f->level || lines[i].spatial) continue;
        f->visits *= lines[i].factor;
        bool indexes = sx_dim_indexes(&f->e->problem, f->tensor, lines[i].dim);
        if (indexes)
            set_add(&f->moving, lines[i]);
        else
            set_add(f->moving.n ? &f->again : &f->still, lines[i]);
    }
    f->changes = f->visits / f->still.product;
}

/* Finds the spatial loops of the level that do not index the tensor. */
static void find_shared(facts *f) {
    f->shared.product = 1;
    for (int i = f->n_lines - 1; i >= 0; i--)
        if (f->lines[i].level == f->level && f->lines[i].spatial &&
            !sx_dim_indexes(&f->e->problem, f->tensor, f->lines[i].dim))
            set_add(&f->shared, f->lines[i]);
}

/* The facts of a tensor at a level, to be freed with free(); NULL when memory is out. */
static facts *facts_new(const sx_evaluation *e, int level, int tensor) {
    const sx_cost_level *l = &e->cost.level[level];
    const sx_cost_tensor *t = &l->tensor[tensor];
    double instances = l->instances ? (double)l->instances : 1;
    unsigned bit = 1u << tensor;
    facts *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->e = e;
    f->level = level;
    f->tensor = tensor;
    f->name = e->problem.tensor[tensor].name;
    f->output = e->problem.tensor[tensor].output;
    f->tile = (double)t->tile;
    f->reads = (double)t->reads / instances;
    f->fills = (double)t->fills / instances;
    f->updates = (double)t->updates / instances;
    f->partition = (double)t->partition / instances;
    f->elided = f->output && !e->options.no_first_read_elision &&
                !((e->mapping.level[level].rmw_first_update | e->mapping.level[level].no_coalesce) & bit);
    if (e->cost.sparse && t->kept && sx_format_of(&e->arch, &e->problem, level, tensor))
        f->tile = sx_dense_tile(e, level, tensor);
    f->n_lines = sx_loops_list(&e->mapping, &e->problem, f->lines);
    find_shape(f);
    find_loops(f);
    find_shared(f);
    if (e->mapping.level[level].no_temporal_reuse & bit) f->changes = f->visits;
    f->arrivals = f->fills + (f->elided ? f->partition : 0);
    f->exact = e->cost.perfect && fabs(f->arrivals - f->tile * f->changes) <= 1;
    return f;
}

/* The nearest level outward (step 1) or inward (-1) that keeps the tensor; n_levels or -1 where none does. */
static int nearest_keeper(const facts *f, int step) {
    int s = f->level + step;
    while (s >= 0 && s < f->e->cost.n_levels && !f->e->cost.level[s].tensor[f->tensor].kept) s += step;
    return s;
}

static void explain_bypass(const facts *f, sx_text *out) {
    int outer = nearest_keeper(f, 1), inner = nearest_keeper(f, -1);
    if (outer == f->e->cost.n_levels)
        sx_text_add(out, "not kept here; its outermost level is %s.", sx_level_name(&f->e->arch, inner));
    else
        sx_text_add(out, "not kept here: %s %s %s.", sx_level_name(&f->e->arch, inner),
                    f->output ? "sends it directly to" : "is fed directly from",
                    sx_level_name(&f->e->arch, outer));
}

/* Adds what an output's reads here are. */
static void explain_accumulation(const facts *f, sx_text *out) {
    double first = f->updates - f->reads;
    if (f->updates == 0) return;
    sx_text_add(out, " %s arrive from the inner level", show_words(f->updates).text);
    if (f->reads == 0)
        sx_text_add(out, ", each starting a new sum, so none is read first.");
    else if (f->elided && f->e->cost.perfect && fabs(first - f->partition) < 0.5)
        sx_text_add(out,
                    "; %s of them add to a partial sum that is read first, the others start a new sum "
                    "without a read.",
                    sx_show_count(f->reads).text);
    else
        sx_text_add(out, "; %s partial sums are read to accumulate.", sx_show_count(f->reads).text);
}

static void explain_home(const facts *f, sx_text *out) {
    double all = (double)sx_problem_words(&f->e->problem, f->tensor);
    if (f->tile == all)
        sx_text_add(out, "all %s are kept here, its outermost level.", show_words(all).text);
    else
        sx_text_add(out, "its outermost level: a tile of %s of all %s at a time; filling it costs nothing.",
                    sx_show_count(f->tile).text, show_words(all).text);
    if (f->output) {
        explain_accumulation(f, out);
        return;
    }
    sx_text_add(out, " %s are read", show_words(f->reads).text);
    if (f->tile == all && f->e->cost.level[f->level].instances == 1)
        sx_text_add(out, ", each %s on average", show_times(f->reads / all).text);
    sx_text_add(out, ".");
}

/* Adds how often the tile comes. */
static void explain_arrivals(const facts *f, sx_text *out) {
    if (f->exact && f->changes == 1)
        sx_text_add(out, "a tile of %s is filled once.", show_words(f->tile).text);
    else if (f->exact)
        sx_text_add(out, "a tile of %s is filled %s, %s in total.", show_words(f->tile).text,
                    show_times(f->changes).text, show_words(f->tile * f->changes).text);
    else if (f->e->cost.perfect && f->sliding && f->arrivals < f->tile * f->changes)
        sx_text_add(out, "a tile of %s changes %s, but its windows overlap: %s are filled instead of %s.",
                    show_words(f->tile).text, show_times(f->changes).text, show_words(f->arrivals).text,
                    sx_show_count(f->tile * f->changes).text);
    else
        sx_text_add(out, "%s are filled, for a tile of up to %s.", show_words(f->arrivals).text,
                    sx_show_count(f->tile).text);
}

/* Adds which loops let the tile stay and which make it come again. */
static void explain_loops(const facts *f, sx_text *out) {
    bool several = f->still.n > 1;
    if (f->still.n) {
        sx_text_add(out, " It is reused while ");
        add_loops(f->e, &f->still, f->still.n, out);
        sx_text_add(out, "%s, which %s not index it.", several ? " run" : " runs", several ? "do" : "does");
    }
    if (f->moving.n == 0) return;
    sx_text_add(out, " It changes with ");
    add_loops(f->e, &f->moving, 1, out);
    if (f->again.n == 0 || !(f->exact || f->ascending)) {
        sx_text_add(out, "%s.", f->again.n || f->sliding ? "" : "; no outer loop refetches it");
        return;
    }
    sx_text_add(out, ", and is refetched for ");
    add_loops(f->e, &f->again, f->again.n, out);
    sx_text_add(out, ", which %s not index it but %s outside that loop", f->again.n > 1 ? "do" : "does",
                f->again.n > 1 ? "lie" : "lies");
    if (f->exact) sx_text_add(out, ": the same words %s", show_times(f->again.product).text);
    sx_text_add(out, ".");
}

/* Adds how much of an output's arrivals are partial sums. */
static void explain_partial_sums(const facts *f, sx_text *out) {
    if (f->fills == 0)
        sx_text_add(out, " Every sum starts from zero here; no partial sum is fetched.");
    else if (f->elided && f->exact)
        sx_text_add(out, " %s of these start from zero and are not fetched; %s are fetched partial sums.",
                    sx_show_count(f->partition).text, sx_show_count(f->fills).text);
    else if (f->elided)
        sx_text_add(out, " %s of partial sums are fetched.", show_words(f->fills).text);
    else
        sx_text_add(out, " %s are fetched, including the first visit, as first-read elision is off.",
                    show_words(f->fills).text);
}

static void explain_kept(const facts *f, sx_text *out) {
    explain_arrivals(f, out);
    if (f->e->mapping.level[f->level].no_temporal_reuse >> f->tensor & 1)
        sx_text_add(out, " The mapping turns temporal reuse off here.");
    else
        explain_loops(f, out);
    if (f->e->mapping.level[f->level].no_coalesce >> f->tensor & 1)
        sx_text_add(out,
                    " The mapping coalesces no access here: each is passed on to the next level outside.");
    if (f->output) {
        explain_partial_sums(f, out);
        explain_accumulation(f, out);
    } else if (f->fills > 0) {
        sx_text_add(out, " Each filled word is read %s on average.", show_times(f->reads / f->fills).text);
    }
}

/* The words of the box that the tile of the child below this level spans, or those of all children together.
 */
static double child_words(const facts *f, bool together) {
    return sx_box_words(&f->e->problem, &f->e->mapping, f->tensor, f->level - 1,
                        together ? f->e->mapping.level[f->level].spatial : NULL);
}

/* Whether the children's tiles cannot but overlap: together they span fewer words than they hold. */
static bool windows_overlap(const facts *f) {
    double children = (double)f->e->cost.network[f->level].tensor[f->tensor].fanout;
    return f->e->cost.perfect && child_words(f, true) < children * child_words(f, false);
}

/* Adds that one word serves several children, or that several children's sums become one. */
static void explain_shared(const facts *f, const sx_cost_net_tensor *net, sx_text *out) {
    const loop_set *shared = &f->shared;
    const char *child = sx_level_name(&f->e->arch, f->level - 1);
    double m = (double)net->multicast, children = (double)net->fanout;
    bool simple = shared->n && shared->product == m;
    const char *most = simple && f->e->cost.perfect ? "" : "up to ";
    if (f->output)
        sx_text_add(out, " Spatial reduction: of the %s %s, %s%s partial sums at a time are added to one",
                    sx_show_count(children).text, child, most, sx_show_count(m).text);
    else if (m == children)
        sx_text_add(out, " Multicast: a word serves all %s %s at once", sx_show_count(m).text, child);
    else
        sx_text_add(out, " Multicast: a word serves %s%s of the %s %s at once", most, sx_show_count(m).text,
                    sx_show_count(children).text, child);
    if (simple) {
        sx_text_add(out, ", because ");
        add_loops(f->e, shared, shared->n, out);
        sx_text_add(out, ", unrolled over them, %s not index it", shared->n > 1 ? "do" : "does");
    }
    sx_text_add(out, ".");
}

/* Adds that every child has words of its own, and why nothing is shared. */
static void explain_separate(const facts *f, const sx_cost_net_tensor *net, sx_text *out) {
    bool off = f->e->mapping.level[f->level].no_multicast >> f->tensor & 1 && f->shared.n;
    bool own = !f->sliding && !off;
    sx_text_add(out, " Each of the %s %s %s %s", sx_show_count((double)net->fanout).text,
                sx_level_name(&f->e->arch, f->level - 1), f->output ? "sends" : "gets",
                own ? "its own words" : "its words separately");
    if (off)
        sx_text_add(out, ", as the mapping turns multicast off");
    else if (f->sliding && windows_overlap(f))
        sx_text_add(out, ": partially overlapping windows are not shared");
    sx_text_add(out, ".");
}

static void explain_network(const facts *f, sx_text *out) {
    const sx_cost_net_tensor *net = &f->e->cost.network[f->level].tensor[f->tensor];
    if (net->fanout <= 1 || net->ingresses <= 0) return;
    (net->multicast > 1 ? explain_shared : explain_separate)(f, net, out);
    if (net->link_transfers > 0)
        sx_text_add(out, " %s are passed on by a neighbour instead.", show_words(net->link_transfers).text);
}

void sx_explain_tensor(const sx_evaluation *e, int level, int tensor, sx_text *out) {
    facts *f = facts_new(e, level, tensor);
    if (!f) {
        out->failed = true;
        return;
    }
    sx_text_add(out, "%s: ", f->name);
    if (!e->cost.level[level].tensor[tensor].kept)
        explain_bypass(f, out);
    else if (nearest_keeper(f, 1) == e->cost.n_levels)
        explain_home(f, out);
    else
        explain_kept(f, out);
    explain_network(f, out);
    free(f);
    if (e->cost.sparse && e->cost.level[level].tensor[tensor].kept) sx_explain_zeros(e, level, tensor, out);
}

/* Adds a bandwidth that the level would need beyond what it has. */
static void explain_need(const char *what, double need, double limit, sx_text *out) {
    if (need > limit)
        sx_text_add(out, " It would %s %s words per cycle to keep up, but has bandwidth for %s.", what,
                    sx_show_count(need).text, sx_show_count(limit).text);
}

/* How a tensor's use of a level's bandwidth is weighted. */
static double bandwidth_scale(const sx_evaluation *e, int level, int tensor) {
    const sx_storage *s = &e->arch.level[level];
    for (int i = 0; i < s->n_scales; i++)
        if (sx_problem_tensor(&e->problem, s->bandwidth_scale[i].tensor) == tensor)
            return s->bandwidth_scale[i].scale;
    return 1;
}

static void explain_bandwidth(const sx_evaluation *e, int level, sx_text *out) {
    const sx_storage *s = &e->arch.level[level];
    const sx_cost_level *l = &e->cost.level[level];
    double steps = (double)l->instances * (double)e->cost.compute_cycles, reads = 0, writes = 0;
    sx_text_add(out, " The bandwidth of %s limits this to %s of that speed: %s cycles.", s->name,
                sx_show_percent(l->slowdown).text, sx_show_count((double)l->cycles).text);
    if (s->banks || !e->cost.perfect) return;
    for (int v = 0; v < e->cost.n_tensors; v++) {
        double scale =
            bandwidth_scale(e, level, v) * sx_element_bits(s, &e->problem.tensor[v]) / s->word_bits;
        reads += scale * (double)l->tensor[v].reads / steps;
        writes += scale * (double)(l->tensor[v].fills + l->tensor[v].updates) / steps;
    }
    explain_need("read", reads, s->read_bandwidth, out);
    explain_need("write", writes, s->write_bandwidth, out);
    explain_need("read and write", reads + writes, s->shared_bandwidth, out);
}

void sx_explain_time(const sx_evaluation *e, sx_text *out) {
    const sx_cost *cost = &e->cost;
    uint64_t latency = sx_network_latency(&e->arch);
    sx_text_add(out, "Time: %s computes on %s of %s %s take %s cycles.",
                sx_show_count((double)cost->computes).text,
                sx_show_count((double)cost->compute_instances).text,
                sx_show_count((double)e->arch.compute.instances).text, e->arch.compute.name,
                sx_show_count((double)cost->compute_cycles).text);
    for (int s = cost->n_levels - 1; s >= 0; s--)
        if (cost->level[s].slowdown < 1) explain_bandwidth(e, s, out);
    if (latency) sx_text_add(out, " The networks' latencies add %s.", sx_show_count((double)latency).text);
    sx_text_add(out, " Total: %s cycles.", sx_show_count((double)cost->cycles).text);
}

void sx_explain(const sx_evaluation *e, sx_text *out) {
    sx_text paragraph = {0};
    sx_text_add(out, "\nExplanation, level by level. Numbers are per instance.\n\n");
    for (int s = e->cost.n_levels - 1; s >= 0; s--) {
        sx_text_add(out, "  %s\n", e->arch.level[s].name);
        for (int v = 0; v < e->cost.n_tensors; v++) {
            sx_explain_tensor(e, s, v, &paragraph);
            sx_text_add(out, "    ");
            sx_wrap_free(&paragraph, 4, 6, out);
        }
    }
    sx_explain_time(e, &paragraph);
    sx_text_add(out, "  ");
    sx_wrap_free(&paragraph, 2, 4, out);
    for (int b = e->cost.n_boundaries - 1; b >= 0; b--) {
        sx_explain_boundary(e, b, &paragraph);
        sx_text_add(out, "  ");
        sx_wrap_free(&paragraph, 2, 4, out);
    }
}
