/* Answers of `sextant systolic` about one problem, as text for a person. */
#include "report/early.h"
#include "report/systolic.h"
#include "report/table.h"

#include <math.h>

/* The limit of a design, as short text. */
static void add_limit(const sx_systolic_kernel *kernel, const sx_systolic_term *term, sx_table *table) {
    static const char *const what[] = {
        [SX_SYSTOLIC_COMPUTES] = "",    [SX_SYSTOLIC_ENTERS] = "buffers", [SX_SYSTOLIC_LEAVES] = "buffers",
        [SX_SYSTOLIC_PASSES] = "chain", [SX_SYSTOLIC_COMES] = "memory",   [SX_SYSTOLIC_GOES] = "memory"};
    if (term->role == SX_SYSTOLIC_COMPUTES)
        sx_table_cell(table, "computing");
    else
        sx_table_cell(table, "%s %s", kernel->operand[term->operand], what[term->role]);
}

/* Adds the row of a design that was found. */
static sx_status add_found(const sx_systolic_subject *s, sx_table *table) {
    sx_systolic_figures f = sx_systolic_figures_of(s);
    sx_systolic_items items;
    sx_text tiles = {0}, array = {0};
    SX_TRY(sx_systolic_items_of(s, &items));
    sx_systolic_add_tiles(s, &tiles);
    sx_systolic_add_array(s, &array);
    sx_table_cell_text(table, &tiles);
    sx_table_cell_text(table, &array);
    sx_table_cell(table, "%s", sx_show_count(s->answer->cost.latency).text);
    sx_table_cell(table, "%.1f", f.throughput);
    sx_table_cell(table, "%s", sx_show_percent(f.dsp_share).text);
    sx_table_cell(table, "%s", sx_show_percent(f.bram_share).text);
    sx_table_cell(table, "%s", sx_show_count(s->answer->cost.offchip_words).text);
    add_limit(s->kernel, sx_systolic_limit(s->kernel, &s->answer->point, &items, SX_PHASE_STEADY), table);
    return SX_OK;
}

/* Whether a design is proven to have no array that fits. */
static bool fits_nothing(const sx_systolic_answer *answer) {
    return answer->searched && answer->summary.none;
}

/* Adds the row of a design. */
static sx_status add_design(const sx_systolic_job *job, size_t i, sx_table *table) {
    const sx_systolic_kernel *kernel = &job->layer[0].kernel;
    const sx_systolic_answer *answer = &job->answer[i];
    sx_systolic_design design;
    char name[16], dataflow[256];
    sx_systolic_design_at(kernel, job->design[i], &design);
    sx_systolic_design_name(&design, name, sizeof name);
    sx_systolic_design_text(kernel, &design, dataflow, sizeof dataflow);
    sx_table_cell(table, "%s", name);
    sx_table_cell(table, "%s", dataflow);
    if (answer->found) {
        sx_systolic_subject subject = sx_systolic_subject_of(job, kernel, 1, answer);
        SX_TRY(add_found(&subject, table));
    } else {
        const char *why = answer->searched ? "none found" : "not searched";
        sx_table_cell(table, "%s", fits_nothing(answer) ? "nothing fits" : why);
        sx_table_blank(table, 7);
    }
    sx_table_cell(table, "%s", sx_show_count((double)answer->summary.evaluations).text);
    sx_table_cell(table, "%s",
                  answer->proven_before                      ? "proven before"
                  : answer->found && answer->summary.optimal ? "proven"
                                                             : "");
    return SX_OK;
}

/* Adds the table of designs, the best first. */
static sx_status print_designs(const sx_systolic_job *job, sx_text *out) {
    static const char *const heads[] = {"design", "dataflow", "tiles", "array", "cycles"};
    static const char *const more[] = {"DSP", "BRAM", "words off chip", "limited by", "evaluations", ""};
    sx_table table;
    sx_status status = SX_OK;
    sx_table_begin(&table, "lLllrrRRRLRl");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) sx_table_cell(&table, "%s", heads[i]);
    sx_table_cell(&table, "%s", sx_systolic_unit(job));
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) sx_table_cell(&table, "%s", more[i]);
    for (size_t i = 0; i < job->n_designs && !status; i++) status = add_design(job, job->order[i], &table);
    sx_table_end(&table, 2, out);
    return status;
}

void sx_systolic_add_search(const sx_systolic_job *job, const sx_run_summary *s, double value, sx_text *out) {
    sx_text line = {0};
    uint64_t points = s->evaluations + s->rejected;
    sx_text_add(&line, "%s point%s", sx_show_count((double)points).text, points == 1 ? "" : "s");
    sx_text_add(&line, ", %s evaluation%s", sx_show_count((double)s->evaluations).text,
                s->evaluations == 1 ? "" : "s");
    if (job->clock) sx_text_add(&line, " in %.2f s", s->seconds);
    sx_text_add(&line, ", by %s.", job->asked);
    if (s->optimal)
        sx_text_add(&line, " Proven optimal: nothing in the space is better.");
    else if (s->lower_bound > 0)
        sx_text_add(&line, " Lower bound %.6g, gap %s.", s->lower_bound,
                    sx_show_percent(value / s->lower_bound - 1).text);
    sx_add_early(sx_ended_early(s), &line);
    sx_text_add(out, "  ");
    sx_wrap_free(&line, 2, 2, out);
}

/* The searches of all designs as one. The best is proven where no design can be better. */
static sx_run_summary sum_searches(const sx_systolic_job *job, double best) {
    sx_run_summary sum = {.optimal = true, .lower_bound = INFINITY};
    for (size_t i = 0; i < job->n_designs; i++) {
        const sx_systolic_answer *answer = &job->answer[i];
        const sx_run_summary *s = &answer->summary;
        sum.evaluations += s->evaluations;
        sum.rejected += s->rejected;
        sum.seconds += s->seconds;
        if (answer->searched && sx_ended_early(s)) sum.stop = s->stop;
        if (fits_nothing(answer)) continue;
        sum.optimal &= answer->searched && s->optimal;
        sum.lower_bound = fmin(sum.lower_bound, answer->searched ? s->lower_bound : 0);
    }
    sum.optimal |= sum.lower_bound > 0 && best <= sum.lower_bound;
    return sum;
}

sx_status sx_systolic_job_print(const sx_systolic_job *job, bool quiet, bool verbose, sx_text *out) {
    if (sx_systolic_is_network(job)) return sx_systolic_print_network(job, quiet, verbose, out);
    const sx_systolic_answer *best = &job->answer[job->order[0]];
    sx_systolic_subject subject = sx_systolic_subject_of(job, &job->layer[0].kernel, 1, best);
    sx_run_summary all = sum_searches(job, best->value);
    sx_text_add(out, "%s on %s (%s), for %s\n\n", job->name, job->device.name, job->element->name,
                job->objective);
    if (!quiet) {
        SX_TRY(print_designs(job, out));
        sx_text_add(out, "\n");
    }
    SX_TRY(sx_systolic_explain(&subject, quiet, verbose, out));
    if (quiet) return SX_OK;
    sx_text_add(out, "\n");
    sx_systolic_add_search(job, &all, best->value, out);
    return SX_OK;
}
