#include "fuzz/fuzz.h"

#include <math.h>
#include <string.h>

/* The cost of a legal mapping: the quick evaluations give the same totals, and it can be written. */
static void check_legal(sx_model_workspace *evaluator, const sx_model *model, const sx_mapping *mapping,
                        const sx_cost *cost) {
    sx_score whole = sx_cost_score(cost), score;
    promise(sx_evaluate_score(evaluator, mapping, &score).reason == SX_LEGAL);
    promise(memcmp(&whole, &score, sizeof score) == 0);
    promise(isfinite(score.energy_pj) && score.energy_pj >= 0 && score.cycles >= 1);
    sx_objective objective;
    promise(succeeded(sx_objective_parse("edp", &objective)));
    double value = sx_objective_value(&objective, &whole);
    promise(sx_evaluate_within(evaluator, mapping, &objective, value, &score).reason == SX_LEGAL);
    promise(memcmp(&whole, &score, sizeof score) == 0);
    char *text;
    promise(succeeded(sx_cost_write(cost, sx_model_problem(model), sx_model_arch(model), &text)));
    free(text);
}

/* Only the oracle minds an order that is broken where it does not matter, among loops of one iteration. */
static void check_mapping(sx_model_workspace *evaluator, const sx_model *model, const sx_mapping *mapping) {
    static sx_cost cost, truth;
    sx_verdict verdict = sx_evaluate(evaluator, mapping, &cost), oracle;
    char text[512];
    sx_verdict_text(&verdict, sx_model_problem(model), sx_model_arch(model), text, sizeof text);
    promise(text[0]);
    if (verdict.reason > SX_NO_MEMORY) return; /* a limit of the model */
    promise(sx_check(model, mapping).reason == verdict.reason || verdict.reason == SX_COUNT_OVERFLOW);
    if (verdict.reason == SX_LEGAL) check_legal(evaluator, model, mapping, &cost);
    if (succeeded(
            sx_simulate(sx_model_problem(model), sx_model_arch(model), mapping, NULL, 2000, &oracle, &truth)))
        promise((oracle.reason == SX_LEGAL) == (verdict.reason == SX_LEGAL) || oracle.reason == SX_BAD_SHAPE);
}

void check_cost(const sx_mapping *mapping, const sx_problem *problem, const sx_arch *arch) {
    sx_model *model;
    sx_model_workspace *evaluator;
    if (!succeeded(sx_model_new(problem, arch, NULL, &model))) return;
    if (succeeded(sx_model_workspace_new(model, &evaluator))) {
        check_mapping(evaluator, model, mapping);
        sx_model_workspace_free(evaluator);
    }
    sx_model_free(model);
}
