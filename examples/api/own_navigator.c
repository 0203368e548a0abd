/* A navigator of one's own: hill climbing with restarts, on a space of one's own, or on the map space.
 * Budget, incumbents, threads and checkpoints are the run's.
 *
 *   cc own_navigator.c $(pkg-config --cflags --libs sextant) -lm -o own_navigator */
#include <sextant/sextant.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a space: the whole numbers of a grid --- */

enum { SIDE = 1000 };

static void redraw(const sx_space *space, sx_rng *rng, size_t gene, void *point) {
    (void)space;
    ((int64_t *)point)[gene] = sx_rng_range(rng, 0, SIDE - 1);
}

static void nudge(const sx_space *space, sx_rng *rng, size_t gene, void *point) {
    int64_t *x = &((int64_t *)point)[gene], step = sx_rng_range(rng, -9, 9);
    (void)space;
    *x = *x + step < 0 || *x + step >= SIDE ? *x : *x + step;
}

static void take(const sx_space *space, size_t gene, const void *from, void *point) {
    (void)space;
    ((int64_t *)point)[gene] = ((const int64_t *)from)[gene];
}

static void draw(const sx_space *space, sx_rng *rng, void *point) {
    for (size_t gene = 0; gene < 2; gene++) redraw(space, rng, gene, point);
}

/* A disc in the middle is forbidden. */
static unsigned check(const sx_space *space, const void *point) {
    const int64_t *x = point;
    (void)space;
    return hypot((double)x[0] - SIDE / 2, (double)x[1] - SIDE / 2) < 50;
}

static const char *const axes[] = {"x", "y"};
static const sx_gene genes[] = {{0, 0}, {1, 0}};
static const sx_space_type grid_type = {.name = "grid",
                                        .axes = axes,
                                        .n_axes = 2,
                                        .draw = draw,
                                        .check = check,
                                        .redraw = redraw,
                                        .nudge = nudge,
                                        .take = take};

/* --- a model: a bowl around the middle --- */

static sx_status score_batch(const sx_point_model *model, void *workspace, const void *points, size_t n,
                             const sx_goal *goal, double cutoff, sx_outcome *out) {
    const int64_t(*x)[2] = points;
    (void)model, (void)workspace, (void)goal, (void)cutoff;
    for (size_t i = 0; i < n; i++)
        out[i] = (sx_outcome){.metrics = {{hypot((double)x[i][0] - SIDE / 2, (double)x[i][1] - SIDE / 2)}}};
    return SX_OK;
}

static const sx_metric_about metrics[] = {{"distance", "", NULL}};
static const sx_point_model_type bowl_type = {
    .name = "bowl", .metrics = metrics, .n_metrics = 1, .score_batch = score_batch};

/* --- the navigator --- */

enum { PATIENCE };
static const sx_setting settings[] = {
    [PATIENCE] = {"patience", "moves without improvement before a restart", NULL, 50, 1, 1e6,
                  SX_SETTING_WHOLE, NULL},
};

/* What is remembered between two safe points, followed by the point, the next one and a scratch one. */
typedef struct state {
    sx_rng rng;
    double value;
    uint64_t begun, failures;
} state;

static sx_status climb(sx_run *run) {
    const sx_space *space = sx_run_space(run);
    size_t size = sx_space_point_size(space);
    bool resumed;
    sx_outcome outcome;
    state *s = sx_run_state(run, sizeof *s + 3 * size, &resumed);
    if (!s) return sx_error_memory();
    unsigned char *now = (unsigned char *)(s + 1), *next = now + size, *scratch = next + size;
    if (!resumed) s->rng = sx_rng_stream(sx_run_seed(run), "climb", 0);
    if (!resumed) sx_run_evaluate_starts(run, 0);
    while (sx_run_continue(run)) {
        bool restart = !s->begun || (double)s->failures >= sx_run_setting(run, PATIENCE);
        memcpy(next, now, size);
        if (restart ? !sx_space_draw_legal(space, &s->rng, next, NULL)
                    : !sx_space_mutate(space, &s->rng, -1, false, 100, next, scratch)) {
            if (restart) break;
            s->failures++;
            continue;
        }
        if (sx_run_evaluate(run, next, 1, &outcome) == 0) continue;
        bool better = outcome.reason == 0 && (restart || outcome.value < s->value);
        s->failures = better ? 0 : s->failures + 1;
        s->begun = 1;
        if (!better) continue;
        s->value = outcome.value;
        memcpy(now, next, size);
    }
    return SX_OK;
}

static const sx_navigator climber = {.settings = settings, .n_settings = 1, .search = climb};

static sx_status search(const sx_space *space, const sx_point_model *model, const char *objective) {
    sx_run_options options;
    sx_run *run;
    sx_found best;
    const sx_point_model *judge = model ? model : sx_space_model(space);
    sx_run_options_init(&options);
    options.evaluations = 20000;
    options.seed = 1;
    SX_TRY(sx_objective_parse_metrics(objective, judge->type->metrics, judge->type->n_metrics,
                                      &options.objective));
    SX_TRY(sx_run_new(space, model, &options, &run));
    sx_status status = sx_run_search_by(run, "climb", &climber, "patience=200");
    if (!status && sx_run_best(run, 0, &best))
        printf("%s space: %s %.6g after %llu evaluations\n", sx_space_name(space), objective, best.value,
               (unsigned long long)best.evaluation);
    sx_run_free(run);
    return status;
}

static sx_status run(sx_model **model, sx_space **mappings) {
    static sx_problem problem;
    static sx_arch arch;
    const sx_space grid = {
        .type = &grid_type, .point_size = 2 * sizeof(int64_t), .n_genes = 2, .gene = genes};
    const sx_point_model bowl = {.type = &bowl_type};
    SX_TRY(search(&grid, &bowl, "distance"));
    SX_TRY(sx_catalog_problem("resnet-conv4", &problem));
    SX_TRY(sx_catalog_arch("accel-a", &arch));
    SX_TRY(sx_model_new(&problem, &arch, NULL, model));
    SX_TRY(sx_map_space_new(*model, NULL, NULL, mappings));
    return search(*mappings, NULL, "edp");
}

int main(void) {
    sx_model *model = NULL;
    sx_space *mappings = NULL;
    sx_status status = run(&model, &mappings);
    int code = status != SX_OK;
    char *text = sx_status_text(status);
    if (status) fprintf(stderr, "%s\n", text ? text : "out of memory");
    sx_free(text);
    sx_status_free(status);
    sx_space_free(mappings);
    sx_model_free(model);
    return code;
}
