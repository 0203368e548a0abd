/* Gradient search: by a surrogate after Mind Mappings (ASPLOS 2021), section 4.2 and appendix A; by the cost model
 * itself after DOSA (MICRO 2023). */
#include "mappers/gradient/gradient.h"

#include "base/status.h"
#include "mappers/measured/measured.h"

#include <string.h>

static const char *const switches[] = {"off", "on", NULL};
static const char *const directions[] = {"gradient", "random", NULL};
static const char *const ways[] = {"surrogate", "model", NULL};
static const char *const fits[] = {"strict", "any", NULL};

static const sx_setting settings[SX_GRADIENT_SETTINGS] = {
    [SX_GRADIENT_BY] =
        {"by",
         "the gradient of a learned surrogate, or of the cost model itself over real factors; the "
         "latter has the settings direction, screen, steps and step",
         "surrogate", 0, 0, 1, SX_SETTING_WHOLE, ways},
    [SX_GRADIENT_SURROGATE] =
        {"surrogate", "file of `sextant train`; without, the one of `sextant list surrogates` that fits",
         NULL, 0, 0, 0, SX_SETTING_TEXT, NULL},
    [SX_GRADIENT_PRINTED] =
        {"printed",
         "the paper's rules: annealed acceptance of injections, constant rate, every step "
         "evaluated",
         "on", 0, 0, 1, true, switches},
    [SX_GRADIENT_PUBLISHED] =
        {"published",
         "the rules of the released code: sum of all outputs, vector not projected between "
         "steps, every step evaluated",
         NULL, 0, 0, 1, true, switches},
    [SX_GRADIENT_DIRECTION] = {"direction", "direction of steps: the gradient, or a random one as a control",
                               "gradient", 0, 0, 1, true, directions},
    [SX_GRADIENT_SCREEN] =
        {"screen",
         "evaluate the best of this many random mappings by surrogate or model instead of descending; 0: "
         "descend",
         "0", 0, 0, 1e6, true, NULL},
    [SX_GRADIENT_RATE] = {"rate", "learning rate of the descent", "1", 1, 1e-9, 1e9, false, NULL},
    [SX_GRADIENT_INJECTION] = {"injection", "steps between random injections", "10", 10, 1, 1e6, true, NULL},
    [SX_GRADIENT_CANDIDATES] =
        {"candidates", "inject the best predicted of this many mappings; with random directions always 1",
         "1", 16, 1, 1e6, SX_SETTING_WHOLE, NULL},
    [SX_GRADIENT_NEAR] = {"near",
                          "evaluate what is predicted within this share of the best so far; 0: every step",
                          "0", 0.03, 0, 1e9, false, NULL},
    [SX_GRADIENT_LENGTH] = {"length", "length of steps in a random direction", NULL, 100, 1e-9, 1e9, false,
                            NULL},
    [SX_GRADIENT_CHAINS] = {"chains", "number of descents in parallel", "1", 8, 1, 4096, true, NULL},
    [SX_GRADIENT_VICTORY] = {"victory",
                             "stop after this many descents without improvement; 0, and as printed or "
                             "published: no limit",
                             "0", 1000, 0, 1e15, true, NULL},
    [SX_GRADIENT_FIT] =
        {"fit",
         "strict: reject a surrogate of another architecture or space; any: use what it has in "
         "common with this one",
         NULL, 0, 0, 1, true, fits},
    [SX_GRADIENT_STEPS] = {"steps", "by=model: steps of a descent between two roundings", "500, DOSA's", 60,
                           0, 1e6, SX_SETTING_WHOLE, NULL},
    [SX_GRADIENT_STEP] = {"step", "by=model: first step, of the factors' logarithms; it falls to a tenth",
                          NULL, 0.3, 1e-9, 100, SX_SETTING_NUMBER, NULL},
};

enum { MOVES = 8, TRIES = 20 };

void sx_gradient_move(const sx_space *space, sx_rng *rng, const void *from, void *point, void *scratch) {
    uint64_t moves = 1 + sx_rng_below(rng, MOVES);
    memcpy(point, from, space->point_size);
    for (; moves > 0; moves--) sx_space_mutate(space, rng, -1, sx_rng_next(rng) >> 63, TRIES, point, scratch);
}

/* Whether a setting has an effect on a descent along the model, or along a surrogate. */
static bool has_effect(size_t setting, bool by_model) {
    bool both =
        setting == SX_GRADIENT_BY || setting == SX_GRADIENT_DIRECTION || setting == SX_GRADIENT_SCREEN;
    bool of_model = setting == SX_GRADIENT_STEPS || setting == SX_GRADIENT_STEP;
    return both || of_model == by_model;
}

/* An error where a setting that has no effect is not at its preset. */
static sx_status check_settings(const sx_run *run, bool by_model) {
    const char *const by[] = {"surrogate", "model"};
    for (size_t i = 0; i < SX_GRADIENT_SETTINGS; i++) {
        if (has_effect(i, by_model)) continue;
        bool text = settings[i].kind == SX_SETTING_TEXT;
        if (text ? !*sx_run_setting_text(run, i) : sx_run_setting(run, i) == settings[i].preset) continue;
        return sx_error_hint(sx_error_new(SX_ERR_USAGE,
                                          "gradient:by=%s has no use for '%s', a setting of by=%s",
                                          by[by_model], settings[i].name, by[!by_model]),
                             "leave it out, or search by=%s", by[!by_model]);
    }
    return SX_OK;
}

static sx_status search_by_gradient(sx_run *run) {
    if (sx_is_measured(run)) return sx_measured_search(run, "auto:effort=20,gamma=20000");
    bool by_model = sx_run_setting(run, SX_GRADIENT_BY) == 1;
    SX_TRY(check_settings(run, by_model));
    return by_model ? sx_gradient_by_model(run) : sx_gradient_by_surrogate(run);
}

SX_NAVIGATOR(gradient) = {
    .space = "map",
    .model = "map",
    .measures = true,
    .settings = settings,
    .n_settings = SX_GRADIENT_SETTINGS,
    .search = search_by_gradient,
};
