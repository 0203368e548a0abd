/* Grid search: a mapper on every design, one after another.
 *
 * Source: the baseline of Sunstone (thesis 2022), section 7.2, after Interstellar and ZigZag. With plain
 * Sunstone as the mapper the tiles that it looks at are counted.
 *
 * Complexity: that of the mapper, times designs and layers. */
#include "codesign/search.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

static const char SUNSTONE[] = "sunstone";

/* Whether a mapper is Sunstone with no setting changed. */
static sx_status is_plain(const char *mapper, bool *out) {
    char *asked, *plain = NULL;
    SX_TRY(sx_navigator_text(mapper, "map", &asked));
    sx_status status = sx_navigator_text(SUNSTONE, "map", &plain);
    *out = !status && strcmp(asked, plain) == 0;
    free(asked);
    free(plain);
    return status;
}

/* Searches by plain Sunstone; where that makes no mapping that is legal, as its mapper does. */
static sx_status search_plain(sx_codesign *c, const sx_target_space *target_space, sx_search_outcome *out) {
    sx_sunstone plan;
    sx_sunstone_switches on = sx_plain_switches();
    SX_TRY(sx_sunstone_init(sx_map_space_of(target_space->space), &c->options->run.objective, &on, &plan));
    sx_status status = sx_search_by_plan(c, target_space, &plan, true, out);
    sx_sunstone_fini(&plan);
    if (!status && !out->found && !sx_codesign_stopped(c))
        status = sx_search_by_mapper(c, target_space, SUNSTONE, NULL, out);
    return status;
}

/* Searches all targets on a design; *found: each has a mapping. */
static sx_status search_design(sx_codesign *c, size_t design, const char *mapper, bool plain, bool *found) {
    sx_arch arch;
    sx_designs_arch(c->designs, design, &arch);
    *found = true;
    for (size_t t = 0; t < c->n_targets && *found; t++) {
        c->shares = (c->designs->n - design) * c->n_targets - t;
        sx_target_space target_space;
        sx_search_outcome result = {.found = false};
        bool usable;
        sx_codesign_begins(c, design, t);
        sx_status status = sx_target_space_init(c, &arch, t, &target_space, &usable);
        if (!status && usable)
            status = plain ? search_plain(c, &target_space, &result)
                           : sx_search_by_mapper(c, &target_space, mapper, NULL, &result);
        sx_target_space_fini(&target_space);
        SX_TRY(status);
        *found = result.found;
        c->found[t] = result.best;
        c->n_none += !usable || result.none;
    }
    return SX_OK;
}

sx_status sx_codesign_grid(sx_codesign *c) {
    const char *mapper = c->options->mapper ? c->options->mapper : SUNSTONE;
    bool plain;
    SX_TRY(is_plain(mapper, &plain));
    for (size_t d = 0; d < c->designs->n && !sx_codesign_stopped(c); d++) {
        bool found;
        SX_TRY(search_design(c, d, mapper, plain, &found));
        if (found)
            sx_codesign_done(c, d);
        else if (!sx_codesign_stopped(c))
            sx_codesign_record_outcome(c, d, SX_OUTCOME_NONE);
    }
    return SX_OK;
}
