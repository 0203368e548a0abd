#include "report/serving.h"

#include <math.h>
#include <string.h>

/* Adds the sentence on times: of a token, of a prompt, or of other inputs. */
static void add_time(const sx_serving *s, sx_text *out) {
    const bool decode = strcmp(s->run.phase, "decode") == 0, prefill = strcmp(s->run.phase, "prefill") == 0;
    const char *what = decode ? "Time per token" : prefill ? "Time to the first token" : "Time of a run";
    const char *one = decode || prefill ? "token" : "input";
    sx_text_add(out, "  %s %s: %.4g %ss/s", what, sx_show_scaled(s->seconds, "s").text, sx_serving_rate(s),
                one);
    if (decode) sx_text_add(out, " (%.4g of each of %llu)", 1 / s->seconds, (unsigned long long)s->run.batch);
    sx_text_add(out, ", %s per %s.\n", sx_show_energy(sx_serving_joules(s) * 1e12).text, one);
}

/* Adds the sentence on stages, each with its share of the layers. */
static void add_stages(const sx_serving *s, sx_text *out) {
    sx_text_add(out, "  In %u stages of equal time, %s passing between two: a run takes %s", s->stages,
                sx_show_scaled(s->passed_bytes, "B").text, sx_show_scaled(s->pipeline_seconds, "s").text);
    sx_text_add(out, ", at most %.4g tokens/s with %u batches in flight; %s of weights and",
                sx_serving_tokens(s) / s->stage_seconds, s->stages,
                sx_show_scaled(s->weight_bytes / s->stages, "B").text);
    sx_text_add(out, " %s of states on each.\n", sx_show_scaled(s->state_bytes, "B").text);
}

/* Adds the figures of the run. */
static void add_figures(const sx_serving *s, sx_text *out) {
    add_time(s, out);
    sx_text_add(out, "  Weights %s", sx_show_scaled(s->weight_bytes, "B").text);
    if (s->state_bytes > 0)
        sx_text_add(out, ", states %s (%s per token)", sx_show_scaled(s->state_bytes, "B").text,
                    sx_show_scaled(s->token_bytes, "B").text);
    if (s->chips > 1) sx_text_add(out, " on each of %u chips", s->chips);
    if (isfinite(s->capacity))
        sx_text_add(out, ": %s",
                    s->weight_bytes + s->state_bytes <= s->capacity ? "they fit" : "they do NOT fit");
    if (isfinite(s->largest_batch))
        sx_text_add(out, "; the largest batch that fits is %.0f", s->largest_batch);
    sx_text_add(out, ".\n  Time: %s products with weights, %s attention, %s vector operators, %s link.\n",
                sx_show_percent(s->share[SX_SERVING_WEIGHTS]).text,
                sx_show_percent(s->share[SX_SERVING_ATTENTION]).text,
                sx_show_percent(s->share[SX_SERVING_VECTOR]).text,
                sx_show_percent(s->share[SX_SERVING_LINK]).text);
    if (s->found < s->layers)
        sx_text_add(out, "  %zu of %zu products have no mapping yet and are not counted.\n",
                    s->layers - s->found, s->layers);
    if (s->stages > 1) add_stages(s, out);
}

/* Adds the operators as a table. */
static void add_operators(const sx_serving *s, const sx_arch *arch, sx_text *out) {
    static const char *const head[] = {"operator",   "times", "time",   "share",
                                       "limited by", "bytes", "FLOP/B", "energy"};
    sx_table table;
    sx_table_begin(&table, "lRrrlrrr");
    for (int i = 0; i < 8; i++) sx_table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < s->n; i++) {
        const sx_serving_part *p = &s->part[i];
        sx_table_cell(&table, "%s", sx_show_name(p->name, 32).text);
        sx_table_cell(&table, "%.0f", p->times);
        sx_table_cell(&table, "%s", sx_show_scaled(p->one.seconds, "s").text);
        sx_table_cell(&table, "%s", sx_show_percent(p->times * p->one.seconds / s->seconds).text);
        sx_table_cell(&table, "%s", sx_limit_name(arch, p->one.limit));
        sx_table_cell(&table, "%s", sx_show_scaled(p->bytes, "B").text);
        if (p->macs > 0 && p->bytes > 0)
            sx_table_cell(&table, "%.4g", 2 * p->macs / p->bytes);
        else
            sx_table_blank(&table, 1);
        sx_table_cell(&table, "%s", sx_show_energy(p->energy_pj).text);
    }
    sx_table_end(&table, 2, out);
    sx_text_add(out, "\n");
}

void sx_serving_report(const sx_serving *s, const sx_arch *arch, bool operators, sx_text *out) {
    if (operators) add_operators(s, arch, out);
    add_figures(s, out);
}
