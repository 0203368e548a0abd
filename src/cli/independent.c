#include "cli/independent.h"

#include "report/json_parts.h"

#include <string.h>

sx_status sx_alone_init(const sx_args *args, unsigned threads, const sx_cancel *cancel, sx_alone *out) {
    memset(out, 0, sizeof *out);
    out->asked = sx_args_flag(args, "independent");
    out->options = (sx_independent_options){
        .threads = threads, .seconds = sx_args_number(args, "time", 0), .cancel = cancel};
    if (!sx_args_flag(args, "time")) return SX_OK;
    if (!out->asked) return sx_error_new(SX_ERR_USAGE, "--time needs --independent");
    if (out->options.seconds > 0) return SX_OK;
    return sx_error_new(SX_ERR_USAGE, "--time is %g; it must be more than 0 seconds", out->options.seconds);
}

sx_exit sx_alone_exit(const sx_alone *alone) {
    static const sx_exit exits[] = {SX_EXIT_FOUND, SX_EXIT_NONE, SX_EXIT_OPEN};
    return exits[alone->report.verdict];
}

const char *sx_alone_verdict(const sx_alone *alone) {
    static const char *const names[] = {"holds", "does not hold", "is undecided"};
    return names[alone->report.verdict];
}

json_t *sx_alone_json(const sx_alone *alone, bool no_clock) {
    const sx_independent_report *r = &alone->report;
    json_t *object = json_pack("{s:b, s:i, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "holds",
                               r->verdict == SX_INDEPENDENT_HOLDS, "shared_rules", 0, "seconds",
                               no_clock ? 0.0 : r->seconds, "arrays", (json_int_t)r->spatial, "outlines",
                               (json_int_t)r->outlines, "compulsory", (json_int_t)r->compulsory, "tiles",
                               (json_int_t)r->tiles, "ports", (json_int_t)r->ports, "walked",
                               (json_int_t)r->walked, "evaluations", (json_int_t)r->evaluations);
    if (r->verdict == SX_INDEPENDENT_UNDECIDED) sx_json_set(object, "holds", json_null());
    if (r->verdict == SX_INDEPENDENT_HOLDS) sx_json_set(object, "slack", json_real(r->slack));
    if (r->why[0]) sx_json_set(object, "why", sx_json_string(r->why));
    if (r->certified > 0) {
        sx_json_set(object, "certified_bound", sx_json_real(r->certified));
        sx_json_set(object, "at_most_better", sx_json_real(r->better));
    }
    if (r->launched) sx_json_set(object, "launched", sx_json_count(r->launched));
    if (r->uncounted) sx_json_set(object, "mapping_counted", json_false());
    return object;
}

/* Adds a row with a count. */
static void add_count(sx_table *table, const char *name, uint64_t n, const char *what) {
    sx_table_cell(table, "  %s", name);
    sx_table_cell(table, "%s %s", sx_show_count((double)n).text, what);
}

void sx_alone_rows(const sx_alone *alone, bool no_clock, sx_table *table) {
    const sx_independent_report *r = &alone->report;
    sx_table_cell(table, "independent");
    if (r->launched) {
        sx_table_cell(
            table,
            "%s tiles that may be launched (T11), latency %.6g, none below %.6g; no rule of the search",
            sx_show_count((double)r->launched).text, r->latency, r->certified);
        return;
    }
    sx_table_cell(table, "%s spatial mappings, %s with what levels keep; no rule of the search",
                  sx_show_count((double)r->spatial).text, sx_show_count((double)r->outlines).text);
    if (r->slack > 0) {
        sx_table_cell(table, "  rounding");
        sx_table_cell(table, "%s", r->why);
    }
    if (r->certified > 0) {
        sx_table_cell(table, "  remainders");
        sx_table_cell(table, "no mapping is below %.6g: at most %s better (T10)%s", r->certified,
                      sx_show_percent(r->better).text,
                      r->uncounted ? "; the mapping's own cost is the cost model's" : "");
    }
    add_count(table, "compulsory", r->compulsory, "closed by tiles that move once (T1)");
    add_count(table, "tiles", r->tiles, "closed by all tiles and orders of loops (T3)");
    add_count(table, "ports", r->ports, "closed by ports and energy together (T4)");
    sx_table_cell(table, "  walked");
    sx_table_cell(table, "%s enumerated, %s mappings evaluated (%s)", sx_show_count((double)r->walked).text,
                  sx_show_count((double)r->evaluations).text, r->certified > 0 ? "T8, T12" : "T8");
    if (no_clock) return;
    sx_table_cell(table, "  time");
    sx_table_cell(table, "%.2f s", r->seconds);
}
