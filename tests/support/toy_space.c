#include "support/toy_space.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct toy {
    sx_space space;
    sx_point_model model;
    sx_toy_options options;
    unsigned dims;
    sx_gene gene[SX_TOY_DIMS];
} toy;

enum { ILLEGAL_SUM = 1, ILLEGAL_PRODUCT };

static const toy *toy_of(const sx_space *space) {
    return (const toy *)space;
}

static void toy_free(sx_space *space) {
    free(space);
}

/* How many points there are. */
static uint64_t toy_total(const sx_space *space) {
    uint64_t total = 1;
    for (unsigned d = 0; d < toy_of(space)->dims; d++) total *= SX_TOY_RANGE;
    return total;
}

static bool toy_size(const sx_space *space, size_t index, sx_size *out) {
    if (index > 0) return false;
    uint64_t total = toy_total(space);
    *out = (sx_size){.name = "raw",
                     .about = "all vectors",
                     .count = {.low = total, .exact = true, .log10 = log((double)total) / log(10)}};
    return true;
}

static bool toy_at(const sx_space *space, sx_u128 index, void *point) {
    sx_toy_point *p = point;
    if (index >= toy_total(space)) return false;
    *p = (sx_toy_point){{0}};
    for (unsigned d = 0; d < toy_of(space)->dims; d++, index /= SX_TOY_RANGE)
        p->x[d] = (uint32_t)(index % SX_TOY_RANGE);
    return true;
}

static void toy_redraw(const sx_space *space, sx_rng *rng, size_t gene, void *point) {
    (void)space;
    ((sx_toy_point *)point)->x[gene] = (uint32_t)sx_rng_below(rng, SX_TOY_RANGE);
}

static void toy_draw(const sx_space *space, sx_rng *rng, void *point) {
    memset(point, 0, sizeof(sx_toy_point));
    for (unsigned d = 0; d < toy_of(space)->dims; d++) toy_redraw(space, rng, d, point);
}

static void toy_nudge(const sx_space *space, sx_rng *rng, size_t gene, void *point) {
    (void)space;
    uint32_t *x = &((sx_toy_point *)point)->x[gene];
    bool up = *x == 0 || (*x + 1 < SX_TOY_RANGE && sx_rng_below(rng, 2));
    *x = up ? *x + 1 : *x - 1;
}

static void toy_take(const sx_space *space, size_t gene, const void *from, void *point) {
    (void)space;
    ((sx_toy_point *)point)->x[gene] = ((const sx_toy_point *)from)->x[gene];
}

static bool toy_holds(const sx_space *space, const void *point) {
    const sx_toy_point *p = point;
    for (unsigned d = 0; d < SX_TOY_DIMS; d++)
        if (p->x[d] >= (d < toy_of(space)->dims ? SX_TOY_RANGE : 1)) return false;
    return true;
}

static unsigned toy_check(const sx_space *space, const void *point) {
    const sx_toy_point *p = point;
    uint32_t sum = 0;
    for (unsigned d = 0; d < SX_TOY_DIMS; d++) sum += p->x[d] * (d + 1);
    if (toy_of(space)->options.barren || sum % 5 == 3) return ILLEGAL_SUM;
    return p->x[0] * p->x[1] > 120 ? ILLEGAL_PRODUCT : 0;
}

static const char *toy_reason(const sx_space *space, unsigned reason) {
    (void)space;
    return reason == ILLEGAL_SUM ? "sum" : "product";
}

static void toy_explain(const sx_space *space, const void *point, char *text, size_t size) {
    unsigned reason = toy_check(space, point);
    snprintf(text, size, "%s", reason ? toy_reason(space, reason) : "legal");
}

static sx_status toy_diagnose(const sx_space *space, uint64_t seed, uint64_t tries, char **out) {
    (void)space, (void)seed, (void)tries;
    sx_text text = {0};
    sx_text_add(&text, "the numbers are wrong");
    return sx_text_take(&text, out);
}

static void toy_encode(const sx_space *space, const void *point, double *values) {
    for (size_t i = 0; i < space->n_values; i++) values[i] = ((const sx_toy_point *)point)->x[i];
}

/* The legal point nearest to a vector, by trying all whose numbers lie within some distance of it. */
static bool toy_project(const sx_space *space, const double *values, void *point) {
    unsigned dims = toy_of(space)->dims;
    sx_toy_point try = {{0}}, base = {{0}};
    double nearest = INFINITY;
    uint64_t total = 1;
    for (unsigned d = 0; d < dims; d++, total *= 5) {
        double x = floor(values[d] + 0.5);
        base.x[d] = !(x > 0) ? 0 : x > SX_TOY_RANGE - 1 ? SX_TOY_RANGE - 1 : (uint32_t)x;
    }
    for (uint64_t i = 0; i < total; i++) {
        double distance = 0;
        uint64_t left = i;
        bool inside = true;
        for (unsigned d = 0; d < dims; d++, left /= 5) {
            int64_t x = (int64_t)base.x[d] + (int64_t)(left % 5) - 2;
            inside = inside && x >= 0 && x < SX_TOY_RANGE;
            try.x[d] = inside ? (uint32_t)x : 0;
            distance += ((double)x - values[d]) * ((double)x - values[d]);
        }
        if (!inside || distance >= nearest || toy_check(space, &try) != 0) continue;
        nearest = distance;
        memcpy(point, &try, sizeof try);
    }
    return nearest < INFINITY;
}

/* The workspace is a counter that keeps idle work from being left out. */
static sx_status toy_workspace_new(const sx_point_model *model, void **out) {
    (void)model;
    *out = calloc(1, sizeof(uint64_t));
    return *out ? SX_OK : sx_error_memory();
}

static void toy_workspace_free(void *workspace) {
    free(workspace);
}

static unsigned toy_score(const sx_space *space, uint64_t *busy, const void *point, sx_metrics *out) {
    const toy *t = toy_of(space);
    const uint32_t *x = ((const sx_toy_point *)point)->x;
    for (unsigned i = 0; i < t->options.work; i++)
        *busy = *busy * 6364136223846793005u + 1442695040888963407u;
    unsigned reason = toy_check(space, point);
    if (reason) return reason;
    double energy = 100, cycles = 50;
    for (unsigned d = 0; d < t->dims; d++) {
        uint64_t place = (3 + 5 * d + t->options.shift) % SX_TOY_RANGE;
        double off = (double)x[d] - (double)place, with = (double)x[d] - (double)x[(d + 1) % t->dims];
        energy += off * off + 7 * (double)((x[d] * 11 + d) % 4);
        cycles += fabs(off) * 3 + 0.25 * with * with + 5 * (double)((x[d] + d) % 3);
    }
    *out = (sx_metrics){{energy, cycles, 1 / (1 + cycles), (double)x[0]}};
    return 0;
}

static sx_status toy_score_batch(const sx_point_model *model, void *workspace, const void *points, size_t n,
                                 const sx_goal *goal, double cutoff, sx_outcome *out) {
    const sx_toy_point *point = points;
    (void)goal, (void)cutoff;
    for (size_t i = 0; i < n; i++)
        out[i].reason = toy_score(model->user, workspace, &point[i], &out[i].metrics);
    return SX_OK;
}

static const sx_metric_about metrics[] = {{"joules", "J", "energy"},
                                          {"seconds", "s", "delay"},
                                          {"use", "", "utilization"},
                                          {"first", "", "last-level"}};
static const sx_point_model_type toy_model = {
    .name = "toy",
    .metrics = metrics,
    .n_metrics = 4,
    .checks = true,
    .workspace_new = toy_workspace_new,
    .workspace_free = toy_workspace_free,
    .score_batch = toy_score_batch,
};

static const sx_space_type toy_type = {
    .name = "toy",
    .free = toy_free,
    .size = toy_size,
    .at = toy_at,
    .draw = toy_draw,
    .holds = toy_holds,
    .check = toy_check,
    .reason = toy_reason,
    .explain = toy_explain,
    .diagnose = toy_diagnose,
    .redraw = toy_redraw,
    .nudge = toy_nudge,
    .take = toy_take,
    .encode = toy_encode,
    .project = toy_project,
};

sx_space *sx_toy_space_new(const sx_toy_options *options) {
    toy *t = calloc(1, sizeof *t);
    if (!t) abort();
    if (options) t->options = *options;
    t->dims = t->options.dims && t->options.dims < SX_TOY_DIMS ? t->options.dims : SX_TOY_DIMS;
    for (unsigned d = 0; d < t->dims && d < SX_TOY_DIMS; d++)
        t->gene[d] = (sx_gene){.axis = d >= t->dims / 2, .which = (int32_t)d};
    t->model = (sx_point_model){.type = &toy_model, .user = t};
    t->space = (sx_space){.type = &toy_type,
                          .model = &t->model,
                          .point_size = sizeof(sx_toy_point),
                          .n_values = t->dims,
                          .n_genes = t->dims,
                          .gene = t->gene};
    return &t->space;
}

double sx_toy_optimum(const sx_space *space) {
    double best = INFINITY;
    uint64_t busy = 0;
    sx_toy_point point;
    for (uint64_t i = 0; toy_at(space, i, &point); i++) {
        sx_metrics m;
        if (toy_score(space, &busy, &point, &m) == 0) best = fmin(best, m.value[0] * m.value[1]);
    }
    return best;
}
