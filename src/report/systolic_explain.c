/* All that is known of a systolic array, as text for a person. */
#include "report/systolic.h"
#include "report/table.h"

#include <stdlib.h>

/* Adds a row: a name and what it is. */
static void add_row(sx_table *table, const char *name, const char *value) {
    sx_table_cell(table, "%s", name);
    sx_table_cell(table, "%s", value);
}

/* Adds the role of a loop in the array: PEs, lanes, or none. */
static void add_role(const sx_systolic_subject *s, int loop, sx_table *table) {
    uint32_t t1 = s->answer->point.t1[loop], t2 = s->answer->point.t2[loop];
    bool is_space = s->design.space[0] == loop || (s->design.n_space == 2 && s->design.space[1] == loop);
    sx_text role = {0};
    if (is_space) sx_text_add(&role, "%u PE%s", t1 / t2, t1 == t2 ? "" : "s");
    if (loop == s->kernel->simd)
        sx_text_add(&role, "%s%u lane%s", is_space ? " of " : "", t2, t2 == 1 ? "" : "s");
    sx_table_cell_text(table, &role);
}

/* Adds the tiles of every loop and, of a single kernel, the sizes that they pad to. */
static void print_tiles(const sx_systolic_subject *s, sx_text *out) {
    static const char *const heads[] = {"loop", "t1", "t2", "", "size", "padded", "passes"};
    const sx_systolic_kernel *k = s->kernel;
    size_t columns = s->n == 1 ? sizeof heads / sizeof *heads : 4;
    sx_table table;
    sx_table_begin(&table, s->n == 1 ? "lrrlrrr" : "lrrl");
    for (size_t i = 0; i < columns; i++) sx_table_cell(&table, "%s", heads[i]);
    for (int d = 0; d < k->n_loops; d++) {
        uint32_t t1 = s->answer->point.t1[d];
        uint64_t padded = sx_systolic_padded(&k->loop[d], t1);
        sx_table_cell(&table, "%s", k->loop[d].name);
        sx_table_cell(&table, "%u", t1);
        sx_table_cell(&table, "%u", s->answer->point.t2[d]);
        add_role(s, d, &table);
        if (s->n > 1) continue;
        sx_table_cell(&table, "%u", k->loop[d].size);
        sx_table_cell(&table, "%s", sx_show_count((double)padded).text);
        sx_table_cell(&table, "%s", sx_show_count((double)(padded / t1)).text);
    }
    sx_table_end(&table, 2, out);
}

/* Adds the three phases and what limits them. */
static void print_phases(const sx_systolic_subject *s, const sx_systolic_items *items, sx_text *out) {
    static const char *const names[] = {"prologue", "steady", "epilogue"};
    const sx_systolic_cost *cost = &s->answer->cost;
    const double cycles[] = {cost->prologue, cost->steady, cost->epilogue};
    sx_table table;
    sx_table_begin(&table, "lrrl");
    sx_table_cell(&table, "phase");
    sx_table_cell(&table, "cycles");
    sx_table_cell(&table, "share");
    sx_table_cell(&table, "limited by");
    for (int p = 0; p < SX_N_PHASES; p++) {
        char text[160];
        const sx_systolic_term *term =
            sx_systolic_limit(s->kernel, &s->answer->point, items, (sx_systolic_phase)p);
        sx_systolic_role_text(s->kernel, term->role, term->operand, term->level, text, sizeof text);
        sx_table_cell(&table, "%s", names[p]);
        sx_table_cell(&table, "%s", sx_show_count(cycles[p]).text);
        sx_table_cell(&table, "%s", sx_show_percent(cycles[p] / cost->latency).text);
        sx_table_cell(&table, "%s", text);
    }
    sx_table_end(&table, 2, out);
}

/* Adds every part of the array and how long it is busy. */
static void print_terms(const sx_systolic_subject *s, const sx_systolic_items *items, sx_text *out) {
    sx_table table;
    sx_table_begin(&table, "lrrr");
    static const char *const heads[] = {"busy", "prologue", "steady", "epilogue"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) sx_table_cell(&table, "%s", heads[i]);
    for (size_t i = 0; i < items->n_terms; i++) {
        char text[160];
        const sx_systolic_term *term = &items->term[i];
        sx_systolic_role_text(s->kernel, term->role, term->operand, term->level, text, sizeof text);
        sx_table_cell(&table, "%s", text);
        for (int p = 0; p < SX_N_PHASES; p++)
            sx_table_cell(&table, "%s",
                          sx_show_count(sx_systolic_term_cycles(term, (sx_systolic_phase)p)).text);
    }
    sx_table_end(&table, 2, out);
}

/* Adds the buffers. */
static void print_buffers(const sx_systolic_subject *s, const sx_systolic_items *items, sx_text *out) {
    sx_table table;
    sx_table_begin(&table, "lrrrr");
    static const char *const heads[] = {"buffers", "copies", "words each", "words wide", "BRAM18K"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) sx_table_cell(&table, "%s", heads[i]);
    for (size_t i = 0; i < items->n_buffers; i++) {
        const sx_systolic_buffer *b = &items->buffer[i];
        const char *array = s->kernel->operand[b->operand];
        if (b->role == SX_SYSTOLIC_COMPUTES)
            sx_table_cell(&table, "%s in the PEs", array);
        else
            sx_table_cell(&table, "%s %s the PEs (L%d)", array,
                          b->role == SX_SYSTOLIC_ENTERS ? "into" : "from", b->level);
        sx_table_cell(&table, "%s", sx_show_count(b->copies).text);
        sx_table_cell(&table, "%s", sx_show_count(b->words).text);
        sx_table_cell(&table, "%s", sx_show_count(b->pack).text);
        sx_table_cell(&table, "%s", sx_show_count(b->bram18k).text);
    }
    sx_table_end(&table, 2, out);
}

/* Adds the totals. */
static void print_totals(const sx_systolic_subject *s, sx_text *out) {
    const sx_systolic_cost *cost = &s->answer->cost;
    const sx_device *device = &s->job->device;
    const char *unit = sx_systolic_unit(s->job);
    sx_systolic_figures f = sx_systolic_figures_of(s);
    sx_table table;
    sx_table_begin(&table, "ll");
    add_row(&table, "cycles", sx_show_count(cost->latency).text);
    sx_table_cell(&table, "time");
    sx_table_cell(&table, "%.4g ms at %.4g MHz", cost->latency / device->mhz / 1000, device->mhz);
    sx_table_cell(&table, "throughput");
    sx_table_cell(&table, "%.1f %s, %s of the peak of the usable DSP blocks (%.1f)", f.throughput, unit,
                  sx_show_percent(f.throughput / f.peak).text, f.peak);
    sx_table_cell(&table, "roofline");
    sx_table_cell(&table, "%.1f %s: %s; %.4g operations per byte, %d ports of %.4g GB/s", f.roof, unit,
                  f.roof < f.intensity * f.port ? "its DSP blocks" : "its memory", f.intensity, f.ports,
                  f.port / f.ports);
    sx_table_cell(&table, "DSP");
    sx_table_cell(&table, "%s of %s usable (%s), busy with useful work for %s of the time",
                  sx_show_count(cost->dsp).text, sx_show_count(sx_device_usable_dsp(device)).text,
                  sx_show_percent(f.dsp_share).text, sx_show_percent(f.efficiency).text);
    sx_table_cell(&table, "BRAM18K");
    sx_table_cell(&table, "%s of %s usable (%s)", sx_show_count(cost->bram18k).text,
                  sx_show_count(sx_device_usable_bram(device)).text, sx_show_percent(f.bram_share).text);
    sx_table_cell(&table, "off chip");
    sx_table_cell(&table, "%s words, %.4g GB/s", sx_show_count(cost->offchip_words).text, f.bandwidth);
    sx_table_cell(&table, "energy");
    sx_table_cell(&table, "%s times that of a multiply-accumulate", sx_show_count(cost->energy).text);
    sx_table_end(&table, 2, out);
}

/* Adds a title with the name of the design. */
static void print_title(const sx_systolic_subject *s, sx_text *out) {
    char name[16], dataflow[256];
    sx_systolic_design_name(&s->design, name, sizeof name);
    sx_systolic_design_text(s->kernel, &s->design, dataflow, sizeof dataflow);
    sx_text_add(out, "design %s, %s: an array of ", name, dataflow);
    sx_systolic_add_array(s, out);
    sx_text_add(out, " (the last are lanes)\n\n");
}

sx_status sx_systolic_explain(const sx_systolic_subject *s, bool quiet, bool verbose, sx_text *out) {
    sx_systolic_items items;
    print_title(s, out);
    print_tiles(s, out);
    sx_text_add(out, "\n");
    print_totals(s, out);
    if (quiet) return SX_OK;
    SX_TRY(sx_systolic_items_of(s, &items));
    sx_text_add(out, "\n");
    if (s->n == 1) {
        print_phases(s, &items, out);
        sx_text_add(out, "\n");
    }
    if (s->n == 1 && verbose) {
        print_terms(s, &items, out);
        sx_text_add(out, "\n");
    }
    print_buffers(s, &items, out);
    char *autosa;
    SX_TRY(sx_systolic_autosa_text(s, &autosa));
    if (autosa) sx_text_add(out, "\n  AutoSA: %s\n", autosa);
    free(autosa);
    return SX_OK;
}
