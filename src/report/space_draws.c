/* How many draws from a space are legal, and how searches sample it. */
#include "report/space_report.h"

#include "mapspace/map_space.h"
#include "model/model.h"
#include "report/json_parts.h"
#include "report/table.h"
#include "sextant/space_type.h"

#include <stdlib.h>

enum { SAMPLES = 200 };

/* Draws legal points as searches do, as far as there are any. */
static void take_samples(const sx_space *space, uint64_t seed, const sx_cancel *cancel, void *point,
                         sx_draws *draws) {
    uint64_t rejected = 0;
    for (uint64_t i = 0; i < SAMPLES && (i == 0 || !sx_cancel_is_set(cancel)); i++) {
        uint64_t before = rejected;
        sx_rng rng = sx_rng_stream(seed, "space.samples", i);
        if (!sx_space_draw_legal(space, &rng, point, &rejected)) break;
        draws->repaired += rejected - before >= draws->tries;
        draws->samples++;
    }
    if (draws->samples) draws->per_sample = 1 + (double)rejected / draws->samples;
}

sx_status sx_draws_make(const sx_space *space, uint64_t seed, uint64_t n, const sx_cancel *cancel,
                        sx_draws *out) {
    sx_draws draws = {.tries = sx_space_tries(space)};
    sx_rng rng = sx_rng_stream(seed, "space.draws", 0);
    void *point = calloc(1, sx_space_point_size(space));
    const sx_map_space *map = sx_map_space_of(space);
    if (!point) return sx_error_memory();
    if (map) sx_guard_watch(map->model->guard, cancel, 0);
    for (; draws.n < n && (draws.n == 0 || !sx_cancel_is_set(cancel)); draws.n++) {
        space->type->draw(space, &rng, point);
        unsigned reason = space->type->check(space, point);
        if (sx_space_unfinished(space)) break;
        if (reason == 0)
            draws.legal++;
        else
            draws.by_reason[reason < SX_DRAW_REASONS ? reason : SX_DRAW_REASONS - 1]++;
    }
    draws.share = sx_share_of(draws.legal, draws.n);
    sx_status status = sx_space_unfinished_status(space);
    if (map) sx_guard_watch(map->model->guard, NULL, 0);
    if (!status) take_samples(space, seed, cancel, point, &draws);
    if (!status) status = sx_space_unfinished_status(space);
    free(point);
    if (status) return status;
    *out = draws;
    return SX_OK;
}

/* Adds a sentence about how searches sample. */
static void add_sampling(const sx_draws *draws, sx_text *out) {
    double repaired = (double)draws->repaired / draws->samples;
    if (draws->repaired == draws->samples)
        sx_text_add(out,
                    "very few draws are legal: after %u illegal ones the last is repaired, which is not "
                    "uniform over the legal mappings",
                    draws->tries);
    else if (draws->repaired == 0)
        sx_text_add(out, "uniform over the legal part of `array`, by rejection: %s %s for each on average",
                    sx_show_count(draws->per_sample).text, draws->per_sample > 1 ? "tries" : "try");
    else
        sx_text_add(out,
                    "by rejection, uniform over the legal part of `array`; but about %s of the samples are "
                    "found by repairing a draw after %u illegal ones",
                    sx_show_percent(repaired).text, draws->tries);
}

static int most_first(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    if (x[0] != y[0]) return x[0] > y[0] ? -1 : 1;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

/* Lists the reasons that occurred as pairs of count and number, the most frequent first; returns how many. */
static size_t list_reasons(const sx_draws *draws, uint64_t pair[SX_DRAW_REASONS][2]) {
    size_t n = 0;
    for (unsigned r = 0; r < SX_DRAW_REASONS; r++)
        if (draws->by_reason[r]) {
            pair[n][0] = draws->by_reason[r];
            pair[n++][1] = r;
        }
    qsort(pair, n, sizeof pair[0], most_first);
    return n;
}

/* Adds a paragraph beside a heading. */
static void add_line(const char *heading, sx_text *paragraph, sx_text *out) {
    sx_text_add(out, "  %-10s", heading);
    sx_wrap_free(paragraph, 12, 12, out);
}

void sx_space_print_draws(const sx_space *space, const sx_draws *draws, sx_text *out) {
    uint64_t pair[SX_DRAW_REASONS][2];
    size_t n = list_reasons(draws, pair);
    sx_text line = {0};
    sx_text_add(&line, "%s of %s are legal, %s (%s to %s with 95%% confidence)",
                sx_show_count((double)draws->legal).text, sx_show_count((double)draws->n).text,
                sx_show_percent(draws->share.share).text, sx_show_percent(draws->share.low).text,
                sx_show_percent(draws->share.high).text);
    add_line("draws", &line, out);
    for (size_t i = 0; i < n; i++)
        sx_text_add(&line, "%s%s %s", i ? ", " : "", space->type->reason(space, (unsigned)pair[i][1]),
                    sx_show_percent((double)pair[i][0] / (double)draws->n).text);
    if (n) add_line("illegal", &line, out);
    if (draws->samples == 0) return;
    add_sampling(draws, &line);
    add_line("sampling", &line, out);
}

void sx_space_json_draws(const sx_space *space, const sx_draws *draws, json_t *object) {
    uint64_t pair[SX_DRAW_REASONS][2];
    size_t n = list_reasons(draws, pair);
    json_t *reasons = json_object();
    for (size_t i = 0; i < n; i++)
        sx_json_set(reasons, space->type->reason(space, (unsigned)pair[i][1]),
                    json_integer((json_int_t)pair[i][0]));
    sx_json_set(object, "draws",
                json_pack("{s:I, s:I, s:o, s:o, s:o, s:o}", "drawn", (json_int_t)draws->n, "legal",
                          (json_int_t)draws->legal, "share", sx_json_number(draws->share.share), "low",
                          sx_json_number(draws->share.low), "high", sx_json_number(draws->share.high),
                          "illegal", reasons));
    const char *sampling = draws->samples == 0                 ? "none"
                           : draws->repaired == 0              ? "uniform"
                           : draws->repaired == draws->samples ? "repaired"
                                                               : "mixed";
    sx_json_set(object, "sampling", json_string(sampling));
}
