#include "report/time.h"

#include <stdlib.h>

enum { NAME_WIDTH = 32 };

void sx_time_table(const sx_result *r, const sx_work *works, const uint64_t *times, bool quiet,
                   sx_text *out) {
    const double all = works[r->session.n_layers].time.seconds;
    static const char *const head[] = {"layer", "times", "time", "share", "limited by", "compute", "memory"};
    const int outer = r->arch.n_levels - 1;
    sx_table table;
    if (!(all > 0)) return;
    sx_text_add(out, "\n  On a real machine, with overheads and efficiencies (docs/timing.md): %s.\n",
                sx_show_scaled(all, "s").text);
    if (quiet) return;
    sx_text_add(out, "\n");
    sx_table_begin(&table, "lRrrlrr");
    for (int i = 0; i < 7; i++) sx_table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < r->session.n_layers; i++) {
        const sx_operator_time *t = &works[i].time;
        if (r->session.layer[i].same_as != i || !(t->seconds > 0)) continue;
        sx_table_cell(&table, "%s", sx_show_name(r->network.layer[i].name, NAME_WIDTH).text);
        sx_table_cell(&table, "%.0f", (double)times[i]);
        sx_table_cell(&table, "%s", sx_show_scaled(t->seconds, "s").text);
        sx_table_cell(&table, "%s", sx_show_percent((double)times[i] * t->seconds / all).text);
        sx_table_cell(&table, "%s", sx_limit_name(&r->arch, t->limit));
        sx_table_cell(&table, "%s", sx_show_scaled(t->compute, "s").text);
        sx_table_cell(&table, "%s", sx_show_scaled(t->level[outer], "s").text);
    }
    sx_table_end(&table, 2, out);
}

json_t *sx_time_json(const sx_arch *arch, const sx_operator_time *time) {
    json_t *levels = json_object();
    for (int s = arch->n_levels - 1; s >= 0; s--)
        if (time->level[s] > 0) sx_json_set(levels, arch->level[s].name, sx_json_real(time->level[s]));
    return json_pack("{s:f, s:f, s:f, s:o, s:s}", "seconds", time->seconds, "overhead", time->overhead,
                     "compute", time->compute, "levels", levels, "limit", sx_limit_name(arch, time->limit));
}

sx_status sx_time_report(const sx_result *r, bool quiet, sx_text *out) {
    sx_work *works;
    if (!r->timing) return SX_OK;
    SX_TRY(sx_result_works(r, &works));
    uint64_t *times = sx_result_times(r);
    if (times) sx_time_table(r, works, times, quiet, out);
    free(works);
    if (!times) return sx_error_memory();
    free(times);
    return SX_OK;
}
