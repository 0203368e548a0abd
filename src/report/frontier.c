#include "report/frontier.h"

#include "report/figure.h"
#include "report/svg.h"
#include "text/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLOUDS = 8 };

/* Whether a point is of use: all of its layers are mapped, and what it holds fits. */
static bool is_usable(const sx_serving *s) {
    return s->n && s->found == s->layers && s->weight_bytes + s->state_bytes <= s->capacity;
}

/* Whether a point is at least as good as another in everything, and better in something. */
static bool dominates_point(const sx_serving *a, const sx_serving *b) {
    const double rate = sx_serving_rate(a) - sx_serving_rate(b),
                 joules = sx_serving_joules(a) - sx_serving_joules(b), seconds = a->seconds - b->seconds;
    return rate >= 0 && joules <= 0 && seconds <= 0 && (rate > 0 || joules < 0 || seconds < 0);
}

void sx_frontier_choose(sx_frontier *f) {
    for (size_t i = 0; i < f->n; i++) {
        f->best[i] = is_usable(&f->point[i]);
        for (size_t k = 0; k < f->n && f->best[i]; k++)
            if (is_usable(&f->point[k]) && f->point[k].run.context == f->point[i].run.context)
                f->best[i] = !dominates_point(&f->point[k], &f->point[i]);
    }
}

/* How far the mappings of a point are above the least at most. */
static sx_shown gap_text(const sx_serving *s) {
    if (s->proven < s->layers && isfinite(s->gap)) return sx_show_percent(s->gap);
    sx_shown shown;
    snprintf(shown.text, sizeof shown.text, "%s", s->proven < s->layers ? "no bound" : "proven");
    return shown;
}

void sx_frontier_table(const sx_frontier *f, sx_text *out) {
    static const char *const head[] = {"batch",   "context", "new",  "time",       "tokens/s", "of each",
                                       "J/token", "states",  "fits", "limited by", "gap",      "best"};
    sx_table table;
    sx_text_add(out, "%s on %s%s, %s\n\n", f->model, f->arch->name,
                f->n && f->point[0].chips > 1 ? " (several chips)" : "", f->phase);
    sx_table_begin(&table, "rrrrrrrrllrc");
    for (int i = 0; i < 12; i++) sx_table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < f->n; i++) {
        const sx_serving *s = &f->point[i];
        sx_table_cell(&table, "%llu", (unsigned long long)s->run.batch);
        sx_table_cell(&table, "%llu", (unsigned long long)s->run.context);
        sx_table_cell(&table, "%llu", (unsigned long long)s->run.tokens);
        if (s->found < s->layers) {
            sx_table_cell(&table, "not searched");
            sx_table_blank(&table, 8);
            continue;
        }
        sx_table_cell(&table, "%s", sx_show_scaled(s->seconds, "s").text);
        sx_table_cell(&table, "%.4g", sx_serving_rate(s));
        sx_table_cell(&table, "%.4g", sx_serving_rate(s) / (double)s->run.batch);
        sx_table_cell(&table, "%.4g", sx_serving_joules(s));
        sx_table_cell(&table, "%s", sx_show_scaled(s->state_bytes, "B").text);
        sx_table_cell(&table, "%s", s->weight_bytes + s->state_bytes <= s->capacity ? "yes" : "no");
        sx_table_cell(&table, "%s", sx_serving_limit(s, f->arch));
        sx_table_cell(&table, "%s", gap_text(s).text);
        sx_table_cell(&table, "%s", f->best[i] ? "*" : "");
    }
    sx_table_end(&table, 2, out);
}

void sx_frontier_csv(const sx_frontier *f, sx_text *out) {
    sx_text_add(
        out,
        "model,arch,phase,chips,batch,context,tokens,seconds,tokens_per_second,joules_per_token,weight_bytes,"
        "kv_bytes,kv_bytes_per_token,fits,largest_batch,limit,share_weights,share_attention,share_vector,"
        "share_link,products,mapped,proven,gap,frontier\n");
    for (size_t i = 0; i < f->n; i++) {
        const sx_serving *s = &f->point[i];
        sx_csv_add(out, f->model, ",");
        sx_csv_add(out, f->arch->name, ",");
        sx_text_add(out, "%s,%u,%llu,%llu,%llu,%.9g,%.9g,%.9g,%.0f,%.0f,%.0f,%d,%.0f,", s->run.phase,
                    s->chips, (unsigned long long)s->run.batch, (unsigned long long)s->run.context,
                    (unsigned long long)s->run.tokens, s->seconds, sx_serving_rate(s), sx_serving_joules(s),
                    s->weight_bytes, s->state_bytes, s->token_bytes,
                    s->weight_bytes + s->state_bytes <= s->capacity, s->largest_batch);
        sx_csv_add(out, sx_serving_limit(s, f->arch), ",");
        sx_text_add(out, "%.4f,%.4f,%.4f,%.4f,%zu,%zu,%zu,%.4g,%d\n", s->share[0], s->share[1], s->share[2],
                    s->share[3], s->layers, s->found, s->proven, s->gap, f->best[i]);
    }
}

json_t *sx_frontier_json(const sx_frontier *f) {
    json_t *points = json_array();
    for (size_t i = 0; i < f->n; i++) {
        json_t *point = sx_serving_json(&f->point[i], f->arch);
        sx_json_set(point, "frontier", json_boolean(f->best[i]));
        sx_json_append(points, point);
    }
    return json_pack("{s:s, s:s, s:s, s:o}", "model", f->model, "arch", f->arch->name, "phase", f->phase,
                     "points", points);
}

/* Fills the points of a context that are of use; returns how many. */
static size_t fill_cloud(const sx_frontier *f, uint64_t context, double *x, double *y, double *joules) {
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++) {
        if (f->point[i].run.context != context || !is_usable(&f->point[i])) continue;
        x[n] = 1e3 * f->point[i].seconds;
        y[n] = sx_serving_rate(&f->point[i]);
        joules[n++] = sx_serving_joules(&f->point[i]);
    }
    return n;
}

/* Whether a point is the first of its context. */
static bool is_first(const sx_frontier *f, size_t i) {
    bool seen = false;
    for (size_t k = 0; k < i; k++) seen |= f->point[k].run.context == f->point[i].run.context;
    return !seen;
}

sx_status sx_frontier_svg(const sx_frontier *f, char **out) {
    char name[MOST_CLOUDS][32], title[160];
    sx_cloud cloud[MOST_CLOUDS];
    sx_text text = {0};
    size_t n = 0;
    double *x = malloc((3 * MOST_CLOUDS * f->n + 1) * sizeof *x), *next = x;
    if (!x) return sx_error_memory();
    for (size_t i = 0; i < f->n && n < MOST_CLOUDS; i++) {
        if (!is_first(f, i)) continue;
        double *y = next + f->n, *joules = y + f->n;
        const size_t points = fill_cloud(f, f->point[i].run.context, next, y, joules);
        snprintf(name[n], sizeof name[n], "context %llu", (unsigned long long)f->point[i].run.context);
        cloud[n] = (sx_cloud){name[n], points, next, y, joules};
        n += points > 0;
        next = joules + f->n;
    }
    snprintf(title, sizeof title, "%.64s on %.64s, %.16s", f->model, f->arch->name, f->phase);
    const sx_axes axes = {title, "milliseconds of a run", "tokens per second", true, true};
    if (n) sx_figure_clouds(&axes, "J per token", cloud, n, &text);
    free(x);
    if (n) return sx_text_take(&text, out);
    return sx_error_new(SX_ERR_INPUT, "there is no point to draw: nothing is mapped, or nothing fits");
}

/* Adds a row of the page's table. */
static void page_row(const sx_frontier *f, size_t i, sx_text *out) {
    const sx_serving *s = &f->point[i];
    sx_text_add(out, "<tr%s><td>%llu<td>%llu<td>%.4g<td>%.4g<td>%.4g<td>%.4g<td>%s<td>",
                f->best[i] ? " class=best" : "", (unsigned long long)s->run.batch,
                (unsigned long long)s->run.context, 1e3 * s->seconds, sx_serving_rate(s),
                sx_serving_joules(s), s->state_bytes / 1e9,
                s->weight_bytes + s->state_bytes <= s->capacity ? "yes" : "no");
    sx_svg_escape(out, sx_serving_limit(s, f->arch));
    sx_text_add(out, "<td>%s</tr>\n", gap_text(s).text);
}

/* Adds what the page is about. */
static void add_subject(const sx_frontier *f, sx_text *out) {
    sx_svg_escape(out, f->model);
    sx_text_add(out, " on ");
    sx_svg_escape(out, f->arch->name);
}

sx_status sx_frontier_page(const sx_frontier *f, sx_text *out) {
    char *svg;
    SX_TRY(sx_frontier_svg(f, &svg));
    const char *figure = strstr(svg, "<svg");
    sx_text_add(out, "<!doctype html>\n<meta charset=utf-8>\n<title>");
    add_subject(f, out);
    sx_text_add(
        out,
        "</title>\n<style>body{font:14px sans-serif;margin:2em;max-width:70em}table{border-collapse:collapse}"
        "td,th{padding:2px 10px;text-align:right;border-bottom:1px solid #ddd}"
        ".best{font-weight:bold;background:#eef5ee}svg{max-width:100%%}</style>\n"
        "<h1>");
    add_subject(f, out);
    sx_text_add(
        out,
        ", %s</h1>\n%s\n<p>Bold: no other batch of the same context has less time, more tokens "
        "per "
        "second and less energy per token.</p>\n<table><tr><th>batch<th>context<th>ms<th>tokens/s<th>J/token"
        "<th>states, GB<th>fits<th>limited by<th>gap</tr>\n",
        f->phase, figure ? figure : svg);
    for (size_t i = 0; i < f->n; i++)
        if (f->point[i].found == f->point[i].layers) page_row(f, i, out);
    sx_text_add(out, "</table>\n");
    free(svg);
    return SX_OK;
}
