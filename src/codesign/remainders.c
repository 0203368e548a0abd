/* The best design once more, with tiles that leave remainders.
 *
 * Designs are chosen by mappings whose tiles divide: these have proofs. Of the chosen one each layer is then searched
 * briefly with remainders, from its mapping on, by padded sizes (mappers/padding.c). What is better is noted beside the
 * mapping, and is no part of what is proven: another design could gain more.
 *
 * Complexity: that of a brief search by `auto` for each layer. */
#include "codesign/search.h"

#include "model/model.h"

static const double BRIEF_STEPS = 0.05; /* of the proof with remainders, in millions */

/* Searches a target on the best design, and notes what is better in all its layers. */
static sx_status widen_target(sx_codesign *c, size_t target, sx_target_space *target_space) {
    sx_codesign_result *out = c->out;
    const sx_codesign_layer *first = &out->layer[c->target[target].layer];
    sx_search_outcome result = {.found = false};
    bool usable;
    SX_TRY(sx_target_space_init(c, target, target_space, &usable));
    const sx_model *model = target_space->model;
    if (!usable || model->sparse || model->range || model->formats) return SX_OK;
    SX_TRY(sx_search_by_mapper(c, target_space, "auto", &first->mapping, &result));
    if (!result.found || result.best.value >= first->value) return SX_OK;
    for (size_t i = 0; i < out->n_layers; i++) {
        if (c->first[i] != c->target[target].layer) continue;
        out->layer[i].any =
            (sx_codesign_any){true, result.best.mapping, result.best.score, result.best.value};
    }
    return SX_OK;
}

sx_status sx_codesign_widen(sx_codesign *c) {
    const sx_codesign_options *asked = c->options;
    const sx_codesign_counts counts = c->out->counts;
    sx_codesign_options wide = *asked;
    sx_target_space *target_space;
    if (!asked->widen || !c->out->found || asked->run.objective.n_criteria > 1) return SX_OK;
    SX_TRY(sx_target_space_new(c->designs, c->out->best, &target_space));
    wide.space.remainders = true;
    wide.space.brief = BRIEF_STEPS;
    c->options = &wide;
    sx_status status = SX_OK;
    for (size_t t = 0; t < c->n_targets && !status && !sx_codesign_stopped(c); t++) {
        status = widen_target(c, t, target_space);
        sx_target_space_fini(target_space);
    }
    c->options = asked;
    sx_target_space_free(target_space);
    c->out->counts = counts;
    return status;
}
