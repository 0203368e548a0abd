/* Answers of `sextant place` as text for a person. */
#include "base/status.h"
#include "report/early.h"
#include "report/placement.h"
#include "report/table.h"

#include <stdio.h>
#include <stdlib.h>

enum { SLOWEST = 10 }; /* nodes that are shown without --verbose */

/* A time in the unit that suits it. */
static sx_shown show_time(double seconds) {
    sx_shown shown;
    double value = seconds < 1e-3 ? seconds * 1e6 : seconds < 1 ? seconds * 1e3 : seconds;
    snprintf(shown.text, sizeof shown.text, value < 9.995 ? "%.2f %s" : "%.1f %s", value,
             seconds < 1e-3 ? "us"
             : seconds < 1  ? "ms"
                            : "s");
    return shown;
}

/* Bytes in the unit that suits them. */
static sx_shown show_bytes(uint64_t bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    sx_shown shown;
    double value = (double)bytes;
    size_t u = 0;
    while (value >= 1024 && u < 4) {
        value /= 1024;
        u++;
    }
    snprintf(shown.text, sizeof shown.text, u == 0 || value >= 100 ? "%.0f %s" : "%.3g %s", value, units[u]);
    return shown;
}

/* Adds a row of heads. */
static void add_heads(sx_table *table, const char *const *head, size_t n) {
    for (size_t i = 0; i < n; i++) sx_table_cell(table, "%s", head[i]);
}

static void print_memories(const sx_placement_job *job, sx_text *out) {
    static const char *const heads[] = {"memory",  "capacity", "tensors", "weights",
                                        "outputs", "peak use", "share",   "at node"};
    const sx_placement_space *space = job->in;
    sx_memory_use use[SX_MAX_MEMORIES];
    sx_table table;
    sx_placement_uses(space, job->placement, use);
    sx_table_begin(&table, "lrrrrrrL");
    add_heads(&table, heads, sizeof heads / sizeof *heads);
    for (size_t m = space->chip.n_memories; m-- > 0;) {
        const sx_chip_memory *memory = &space->chip.memory[m];
        sx_table_cell(&table, "%s", memory->name);
        sx_table_cell(&table, "%s", show_bytes(memory->capacity).text);
        sx_table_cell(&table, "%zu", use[m].tensors);
        sx_table_cell(&table, "%s", show_bytes(use[m].weights).text);
        sx_table_cell(&table, "%s", show_bytes(use[m].outputs).text);
        sx_table_cell(&table, "%s", show_bytes(use[m].peak).text);
        sx_table_cell(&table, "%s", sx_show_percent((double)use[m].peak / (double)memory->capacity).text);
        sx_table_cell(&table, "%s", use[m].peak ? space->graph.node[use[m].peak_step].name : "");
    }
    sx_text_add(out, "\n");
    sx_table_end(&table, 2, out);
}

/* Adds what addresses come to, and in which memories they do not fit. */
static void print_addresses(const sx_placement_job *job, sx_text *out) {
    static const char *const heads[] = {"addresses in", "bytes", "at least", "share"};
    const sx_placement_space *space = job->in;
    sx_table table;
    sx_table_begin(&table, "lrrr");
    add_heads(&table, heads, sizeof heads / sizeof *heads);
    for (size_t m = space->chip.n_memories; m-- > 0;) {
        const sx_allocation *found = &job->addresses.memory[m];
        sx_table_cell(&table, "%s", space->chip.memory[m].name);
        sx_table_cell(&table, "%llu", (unsigned long long)found->bytes);
        sx_table_cell(&table, "%llu%s", (unsigned long long)found->bound, found->proven ? " (proven)" : "");
        sx_table_cell(&table, "%s",
                      sx_show_percent((double)found->bytes / (double)space->chip.memory[m].capacity).text);
    }
    sx_text_add(out, "\n");
    sx_table_end(&table, 2, out);
    for (size_t m = space->chip.n_memories; m-- > 0;)
        if (!sx_addresses_fit(space, &job->addresses, m))
            sx_text_add(out, "  The tensors of %s fit by bytes, but %s addresses within its %llu bytes.\n",
                        space->chip.memory[m].name,
                        job->addresses.memory[m].bound > space->chip.memory[m].capacity ? "have no"
                                                                                        : "were given no",
                        (unsigned long long)space->chip.memory[m].capacity);
}

/* Adds what limits how many nodes. */
static void print_limits(const sx_placement_job *job, const sx_node_limit *limits, sx_text *out) {
    static const char *const heads[] = {"limited by", "nodes", "time", "share of the latency"};
    const sx_placement_space *space = job->in;
    size_t count[SX_N_LIMITS] = {0};
    double time[SX_N_LIMITS] = {0}, all = 0;
    sx_table table;
    for (size_t i = 0; i < space->graph.n_nodes; i++) {
        double seconds = (double)limits[i].time / SX_FEMTO;
        count[limits[i].limit]++;
        time[limits[i].limit] += seconds;
        all += seconds;
    }
    sx_table_begin(&table, "lrrr");
    add_heads(&table, heads, sizeof heads / sizeof *heads);
    for (size_t limit = 0; limit < SX_N_LIMITS; limit++) {
        if (!count[limit]) continue;
        sx_table_cell(&table, "%s", sx_placement_limit_name(space, limit));
        sx_table_cell(&table, "%zu", count[limit]);
        sx_table_cell(&table, "%s", show_time(time[limit]).text);
        sx_table_cell(&table, "%s", sx_show_percent(time[limit] / all).text);
    }
    sx_text_add(out, "\n");
    sx_table_end(&table, 2, out);
}

/* A node and its time. */
typedef struct slow {
    uint64_t time;
    size_t node;
} slow;

static int compare_slow(const void *a, const void *b) {
    const slow *x = a, *y = b;
    if (x->time != y->time) return x->time > y->time ? -1 : 1;
    return x->node < y->node ? -1 : 1;
}

/* Adds the row of a node. */
static void add_node(const sx_placement_job *job, const sx_node_limit *limits, size_t node, sx_table *table) {
    const sx_placement_space *space = job->in;
    sx_table_cell(table, "%s", space->graph.node[node].name);
    sx_table_cell(table, "%s", sx_op_class_name(space->graph.node[node].op));
    for (size_t t = 2 * node; t < 2 * node + 2; t++) {
        if (!space->size[t]) sx_table_blank(table, 2);
        if (!space->size[t]) continue;
        sx_table_cell(table, "%s", show_bytes(space->size[t]).text);
        sx_table_cell(table, "%s", space->chip.memory[job->placement[t]].name);
    }
    sx_table_cell(table, "%s", show_time((double)limits[node].time / SX_FEMTO).text);
    sx_table_cell(table, "%s", sx_placement_limit_name(space, limits[node].limit));
}

/* Adds all nodes in their order, or the slowest. */
static sx_status print_nodes(const sx_placement_job *job, const sx_node_limit *limits, bool verbose,
                             sx_text *out) {
    static const char *const heads[] = {"node",   "operation", "weights", "in",
                                        "output", "in",        "time",    "limited by"};
    size_t n = job->in->graph.n_nodes, shown = verbose || n < SLOWEST ? n : SLOWEST;
    slow *list = calloc(n, sizeof *list);
    sx_table table;
    if (!list) return sx_error_memory();
    for (size_t i = 0; i < n; i++) {
        list[i].node = i;
        list[i].time = limits[i].time;
    }
    if (!verbose) qsort(list, n, sizeof *list, compare_slow);
    sx_table_begin(&table, "lLRlRlrl");
    add_heads(&table, heads, sizeof heads / sizeof *heads);
    for (size_t i = 0; i < shown; i++) add_node(job, limits, list[i].node, &table);
    free(list);
    sx_text_add(out, verbose ? "\n" : "\n  the slowest nodes (all of them with --verbose):\n");
    sx_table_end(&table, 2, out);
    return SX_OK;
}

/* Adds what the search did and what is proven. */
static void print_search(const sx_placement_job *job, sx_text *out) {
    const sx_run_summary *s = &job->summary;
    sx_text line = {0};
    if (job->proven_before)
        sx_text_add(&line, "From the database: an earlier search proved it.");
    else
        sx_text_add(&line, "%s evaluation%s", sx_show_count((double)s->evaluations).text,
                    s->evaluations == 1 ? "" : "s");
    if (!job->proven_before && job->clock) sx_text_add(&line, " in %.2f s", s->seconds);
    if (!job->proven_before) sx_text_add(&line, ", by %s.", job->asked);
    if (s->optimal)
        sx_text_add(&line, " Proven optimal: no placement is better.");
    else if (s->lower_bound > 0)
        sx_text_add(&line, " Lower bound %.6g, gap %s.", s->lower_bound,
                    sx_show_percent(job->value / s->lower_bound - 1).text);
    sx_add_early(sx_ended_early(s), &line);
    sx_text_add(out, "\n  ");
    sx_wrap_free(&line, 2, 2, out);
}

/* Adds the latency and the speedup: of an outside evaluator where there is one, otherwise of the chip's model. */
static void print_latency(const sx_placement_job *job, sx_text *out) {
    sx_placement_cost cost;
    sx_placement_evaluate(job->space, job->placement, &cost);
    double latency = job->outside ? job->latency : cost.latency;
    double baseline = job->outside ? job->baseline : sx_placement_baseline(job->space);
    sx_text_add(out, "latency %s%s", show_time(latency).text, job->outside ? " by the evaluator" : "");
    if (baseline > 0)
        sx_text_add(out, ", %.3f times as fast as the compiler's placement (%s)", baseline / latency,
                    show_time(baseline).text);
    if (job->outside) sx_text_add(out, "; %s by the model of the chip", show_time(cost.latency).text);
    if (job->noise > 0) sx_text_add(out, "; measured with noise: %s", show_time(job->latency).text);
    sx_text_add(out, "\n");
}

sx_status sx_placement_print(const sx_placement_job *job, bool quiet, bool verbose, sx_text *out) {
    const sx_placement_space *space = job->in;
    size_t weights = 0;
    for (size_t i = 0; i < space->graph.n_nodes; i++) weights += space->size[2 * i] > 0;
    if (!quiet)
        sx_text_add(out, "%s on %s: %zu nodes, %zu weights and %zu outputs of %s\n", space->graph.name,
                    space->chip.name, space->graph.n_nodes, weights, job->space->n_genes - weights,
                    show_bytes(space->total).text);
    print_latency(job, out);
    if (quiet) return SX_OK;
    print_memories(job, out);
    if (job->addresses.align) print_addresses(job, out);
    sx_node_limit *limits = sx_placement_limits(space, job->placement);
    if (!limits) return sx_error_memory();
    print_limits(job, limits, out);
    sx_status status = print_nodes(job, limits, verbose, out);
    free(limits);
    if (!status) print_search(job, out);
    return status;
}
