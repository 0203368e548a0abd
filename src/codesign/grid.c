/* Grid search: a mapper on every design, one after another.
 *
 * Source: the baseline of Sunstone (thesis 2022), section 7.2, after Interstellar and ZigZag. With plain
 * Sunstone as the mapper the tiles that it looks at are counted.
 *
 * Complexity: that of the mapper, times designs and layers. */
#include "codesign/search.h"

#include "base/ranks.h"
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
    sx_target_space *target_space;
    SX_TRY(sx_target_space_new(c->designs, design, &target_space));
    sx_status status = SX_OK;
    *found = true;
    for (size_t t = 0; t < c->n_targets && *found; t++) {
        c->shares = (c->designs->n - design) * c->n_targets - t;
        sx_search_outcome result = {.found = false};
        bool usable;
        sx_codesign_begins(c, design, t);
        status = sx_target_space_init(c, t, target_space, &usable);
        if (!status && usable)
            status = plain ? search_plain(c, target_space, &result)
                           : sx_search_by_mapper(c, target_space, mapper, NULL, &result);
        sx_target_space_fini(target_space);
        if (status) break;
        *found = result.found;
        c->found[t] = result.best;
        c->n_none += !usable || result.none;
    }
    sx_target_space_free(target_space);
    return status;
}

/* The grid as processes divide it. */
typedef struct grid {
    sx_codesign *c;
    const char *mapper;
    bool plain;
} grid;

/* What a design came to, before the mappings of its targets. */
typedef struct made_design {
    bool found, usable, trouble, repeatable;
    sx_stop stop;
    size_t n_none;
    sx_codesign_counts counts;
} made_design;

/* Makes a design: searches its targets apart from the other designs. Nothing where a signal or the time limit
 * came first. */
static sx_status make_design(void *user, size_t first, size_t n, sx_text *out) {
    const grid *g = user;
    sx_codesign one = *g->c;
    sx_codesign_result result = {.repeatable = true};
    made_design made = {0};
    (void)n;
    one.out = &result;
    if (sx_codesign_stopped(&one)) return SX_OK;
    one.usable = false;
    one.trouble = SX_OK;
    one.n_none = 0;
    one.found = calloc(one.n_targets + 1, sizeof *one.found);
    sx_status status = one.found ? SX_OK : sx_error_memory();
    if (!status) status = search_design(&one, first, g->mapper, g->plain, &made.found);
    made.usable = one.usable;
    made.trouble = one.trouble != SX_OK;
    made.repeatable = result.repeatable;
    made.stop = result.stop;
    made.n_none = one.n_none;
    made.counts = result.counts;
    sx_text_add_bytes(out, (const char *)&made, sizeof made);
    if (one.found) sx_text_add_bytes(out, (const char *)one.found, one.n_targets * sizeof *one.found);
    sx_status_free(one.trouble);
    free(one.found);
    return status;
}

/* Adds the counts of a design. */
static void add_counts(const sx_codesign_counts *from, sx_codesign_counts *to) {
    to->evaluations += from->evaluations;
    to->partial += from->partial;
    to->nodes += from->nodes;
    for (int i = 0; i < SX_MAX_LEVELS; i++) to->tiles[i] += from->tiles[i];
    if (from->n_memories > to->n_memories) to->n_memories = from->n_memories;
}

/* Finds out again why a design cannot be searched, where that is not known of any. */
static sx_status find_trouble(sx_codesign *c, size_t design) {
    sx_target_space *target_space;
    SX_TRY(sx_target_space_new(c->designs, design, &target_space));
    sx_status status = SX_OK;
    for (size_t t = 0; t < c->n_targets && !c->trouble && !status; t++) {
        bool usable;
        status = sx_target_space_init(c, t, target_space, &usable);
        sx_target_space_fini(target_space);
    }
    sx_target_space_free(target_space);
    return status;
}

/* Takes a design. */
static sx_status take_design(void *user, size_t first, size_t n, const char *bytes, size_t size) {
    sx_codesign *c = ((const grid *)user)->c;
    made_design made;
    (void)n;
    if (size == 0) {
        (void)sx_codesign_stopped(c);
        return SX_OK;
    }
    if (size != sizeof made + c->n_targets * sizeof *c->found)
        return sx_error_new(SX_ERR_INTERNAL, "the message of a design is damaged");
    memcpy(&made, bytes, sizeof made);
    memcpy(c->found, bytes + sizeof made, c->n_targets * sizeof *c->found);
    add_counts(&made.counts, &c->out->counts);
    c->usable |= made.usable;
    c->n_none += made.n_none;
    c->out->repeatable &= made.repeatable;
    if (c->out->stop == SX_STOP_DONE) c->out->stop = made.stop;
    if (made.trouble && !c->trouble) SX_TRY(find_trouble(c, first));
    if (made.found)
        sx_codesign_done(c, first);
    else if (!sx_codesign_stopped(c))
        sx_codesign_record_outcome(c, first, made.n_none ? SX_OUTCOME_NONE : SX_OUTCOME_UNFOUND);
    return SX_OK;
}

/* Searches the designs, each by one process where several work together. */
sx_status sx_codesign_grid(sx_codesign *c) {
    const char *mapper = c->options->mapper ? c->options->mapper : SUNSTONE;
    grid g = {.c = c, .mapper = mapper};
    SX_TRY(is_plain(mapper, &g.plain));
    const sx_shared work = {.n = c->designs->n,
                            .everyone = true,
                            .mark = c->designs->n,
                            .cancel = c->options->run.cancel,
                            .user = &g,
                            .make = make_design,
                            .take = take_design};
    sx_shared_result done;
    SX_TRY(sx_ranks_share(c->options->run.ranks, &work, &done));
    if (done.taken < c->designs->n) (void)sx_codesign_stopped(c); /* notes why */
    return SX_OK;
}
