#include "report/space_pca.h"

#include "base/file.h"
#include "report/figure.h"
#include "report/json_parts.h"
#include "report/table.h"
#include "space/recorder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POINTS = 2000 }; /* of a cloud */

/* Makes a point's vector and value the next row. */
static void add_row(const sx_space *space, const void *point, double value, sx_seen *seen) {
    sx_space_encode(space, point, seen->vectors + seen->n * sx_space_n_values(space));
    seen->value[seen->n++] = value;
}

static sx_status seen_init(const sx_space *space, const char *name, sx_seen *seen) {
    size_t row = sx_space_n_values(space) * sizeof(double);
    *seen = (sx_seen){.name = name, .best = INFINITY};
    seen->vectors = malloc(MAX_POINTS * row);
    seen->value = malloc(MAX_POINTS * sizeof *seen->value);
    return seen->vectors && seen->value ? SX_OK : sx_error_memory();
}

/* Copies the points of a recorder. */
static void take_points(const sx_space *space, sx_recorder *recorder, sx_seen *seen) {
    const void *point;
    double value;
    for (size_t i = 0; (point = sx_recorder_point(recorder, i, &value)); i++)
        add_row(space, point, value, seen);
}

/* Draws legal points at random. */
static sx_status draw_points(const sx_space *space, const sx_run_options *run, sx_seen *seen) {
    sx_recorder *recorder = NULL;
    sx_scorer *scorer = NULL;
    void *point = calloc(1, sx_space_point_size(space));
    sx_status status = point ? sx_recorder_new(space, NULL, MAX_POINTS, &recorder) : sx_error_memory();
    if (!status) status = sx_scorer_new(space, sx_recorder_model(recorder), &run->objective, &scorer);
    for (uint64_t i = 0; !status && i < run->evaluations && !sx_cancel_is_set(run->cancel); i++) {
        sx_outcome outcome;
        if (!sx_space_sample(space, run->seed, i, point)) break;
        seen->evaluations++;
        status = sx_scorer_score(scorer, point, 1, INFINITY, &outcome);
        if (!status) seen->best = fmin(seen->best, outcome.value);
    }
    if (!status) take_points(space, recorder, seen);
    sx_scorer_free(scorer);
    sx_recorder_free(recorder);
    free(point);
    return status;
}

/* Searches by a mapper and records the points it evaluated. */
static sx_status search_points(const sx_space *space, const sx_run_options *options, const char *mapper,
                               sx_seen *seen) {
    sx_recorder *recorder = NULL;
    sx_run *run = NULL;
    sx_found best;
    sx_status status = sx_recorder_new(space, NULL, MAX_POINTS, &recorder);
    if (!status) status = sx_run_new(space, sx_recorder_model(recorder), options, &run);
    if (!status) status = sx_run_search(run, mapper);
    if (!status) {
        take_points(space, recorder, seen);
        seen->evaluations = sx_run_result(run).evaluations;
        if (sx_run_best(run, 0, &best)) seen->best = best.value;
    }
    sx_run_free(run);
    sx_recorder_free(recorder);
    return status;
}

/* Projects all points together; the coordinates of cloud after cloud go to x and y. */
static sx_status project_clouds(const sx_space *space, sx_pca_study *study, double *x, double *y,
                                size_t total) {
    size_t width = sx_space_n_values(space), at = 0;
    double *all = malloc((total * width + 1) * sizeof *all);
    if (!all) return sx_error_memory();
    for (size_t i = 0; i < study->n_seen; i++) {
        memcpy(all + at * width, study->seen[i].vectors, study->seen[i].n * width * sizeof *all);
        at += study->seen[i].n;
    }
    bool done = sx_pca(all, total, width, x, y, study->share);
    free(all);
    return done ? SX_OK : sx_error_memory();
}

/* Adds the figure of projected points. */
static sx_status add_figure(const sx_pca_study *study, const char *title, const double *x, const double *y,
                            sx_text *out) {
    char x_label[64], y_label[64];
    sx_cloud *cloud = calloc(study->n_seen, sizeof *cloud);
    if (!cloud) return sx_error_memory();
    for (size_t i = 0, at = 0; i < study->n_seen; at += study->seen[i++].n)
        cloud[i] = (sx_cloud){study->seen[i].name, study->seen[i].n, x + at, y + at, study->seen[i].value};
    snprintf(x_label, sizeof x_label, "first component (%.1f%% of the variance)", 100 * study->share[0]);
    snprintf(y_label, sizeof y_label, "second component (%.1f%%)", 100 * study->share[1]);
    sx_axes axes = {.title = title, .x_label = x_label, .y_label = y_label};
    sx_figure_clouds(&axes, study->axis, cloud, study->n_seen, out);
    free(cloud);
    return out->failed ? sx_error_memory() : SX_OK;
}

/* Draws the figure and writes it. */
static sx_status write_figure(const sx_space *space, const sx_pca_options *options, sx_pca_study *study) {
    size_t total = 0;
    char title[256];
    sx_text svg = {0};
    for (size_t i = 0; i < study->n_seen; i++) total += study->seen[i].n;
    double *x = malloc(2 * (total + 1) * sizeof *x);
    if (!x) return sx_error_memory();
    snprintf(title, sizeof title, "Points visited by searches: %s", options->subject);
    sx_status status = project_clouds(space, study, x, x + total, total);
    if (!status) status = add_figure(study, title, x, x + total, &svg);
    if (!status) study->written = sx_file_write(options->path, svg.data, svg.size);
    sx_text_free(&svg);
    free(x);
    return status;
}

/* Fills the clouds: random draws first, then each mapper's. */
static sx_status fill_clouds(const sx_space *space, const sx_pca_options *options, sx_pca_study *study) {
    sx_run_options run = options->run;
    sx_status status = seen_init(space, "random draws", &study->seen[study->n_seen++]);
    if (!status) status = draw_points(space, &run, &study->seen[0]);
    run.threads = 1;
    for (size_t i = 0; !status && !sx_cancel_is_set(run.cancel) && i < options->n_mappers; i++) {
        sx_seen *seen = &study->seen[study->n_seen++];
        if (options->begins) options->begins(options->user, options->mapper[i]);
        status = seen_init(space, options->mapper[i], seen);
        if (!status) status = search_points(space, &run, options->mapper[i], seen);
    }
    return status;
}

sx_status sx_pca_study_run(const sx_space *space, const sx_pca_options *options, sx_pca_study *out) {
    sx_pca_study study = {.objective = options->objective,
                          .axis = options->axis ? options->axis : sx_figure_axis(options->objective),
                          .n_asked = 1 + options->n_mappers};
    study.seen = calloc(study.n_asked, sizeof *study.seen);
    if (!study.seen) return sx_error_memory();
    sx_status status = fill_clouds(space, options, &study);
    study.interrupted = sx_cancel_is_set(options->run.cancel);
    if (!status) status = write_figure(space, options, &study);
    if (status) {
        sx_pca_study_fini(&study);
        return status;
    }
    *out = study;
    return SX_OK;
}

void sx_pca_study_fini(sx_pca_study *study) {
    for (size_t i = 0; i < study->n_seen; i++) {
        free(study->seen[i].vectors);
        free(study->seen[i].value);
    }
    free(study->seen);
    sx_status_free(study->written);
    *study = (sx_pca_study){0};
}

void sx_pca_study_print(const sx_pca_study *study, const char *path, sx_text *out) {
    sx_table table;
    sx_text_add(out,
                "Points in the plane of the first two components, %.1f%% and %.1f%% of the variance: %s\n",
                100 * study->share[0], 100 * study->share[1], path);
    sx_table_begin(&table, "lrrr");
    const char *const heads[] = {"points of", "shown", "evaluations", "best"};
    for (size_t i = 0; i < 4; i++) sx_table_cell(&table, "%s", heads[i]);
    for (size_t i = 0; i < study->n_seen; i++) {
        const sx_seen *seen = &study->seen[i];
        sx_table_cell(&table, "%s", seen->name);
        sx_table_cell(&table, "%s", sx_show_count((double)seen->n).text);
        sx_table_cell(&table, "%s", sx_show_count((double)seen->evaluations).text);
        if (seen->best < INFINITY)
            sx_table_cell(&table, "%.6g", seen->best);
        else
            sx_table_cell(&table, "none");
    }
    sx_table_end(&table, 2, out);
}

json_t *sx_pca_study_json(const sx_pca_study *study, const char *path) {
    json_t *clouds = json_array();
    for (size_t i = 0; i < study->n_seen; i++) {
        const sx_seen *seen = &study->seen[i];
        sx_json_append(clouds, json_pack("{s:s, s:I, s:I, s:o}", "name", seen->name, "points",
                                         (json_int_t)seen->n, "evaluations", (json_int_t)seen->evaluations,
                                         "best", sx_json_number(seen->best)));
    }
    return json_pack("{s:s, s:s, s:[f, f], s:o}", "file", path, "objective", study->objective, "share",
                     study->share[0], study->share[1], "clouds", clouds);
}
