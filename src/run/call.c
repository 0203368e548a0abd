/* The navigators of a run: what each of them remembers, and how one calls another. */
#include "base/hash.h"
#include "base/text.h"
#include "base/vector.h"
#include "run/engine.h"
#include "space/outside_evaluator.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void *sx_run_state_sized(sx_run *run, size_t *size, bool *resumed) {
    sx_frame *at = &run->frame[run->depth];
    if (resumed) *resumed = at->saved != NULL;
    if (at->saved) *size = at->saved_size;
    at->state = at->saved ? at->saved : calloc(1, *size ? *size : 1);
    at->saved = NULL;
    at->state_size = *size;
    if (!at->state) sx_run_fail(run, sx_error_memory());
    return at->state;
}

void *sx_run_state(sx_run *run, size_t size, bool *resumed) {
    const sx_frame *at = &run->frame[run->depth];
    if (at->saved && at->saved_size != size) {
        sx_run_fail(run, sx_run_damaged(run));
        return NULL;
    }
    return sx_run_state_sized(run, &size, resumed);
}

sx_status sx_run_damaged(const sx_run *run) {
    return sx_checkpoint_damaged(run->frame[run->depth].entry->name);
}

bool sx_run_holds(const sx_run *run, const void *points, size_t n) {
    const unsigned char *point = points;
    const sx_space_type *type = run->space->type;
    for (size_t i = 0; i < n; i++, point += run->space->point_size)
        if (type->holds ? !type->holds(run->space, point) : type->check(run->space, point) != 0) return false;
    return true;
}

void *sx_run_state_resize(sx_run *run, size_t size) {
    sx_frame *at = &run->frame[run->depth];
    size_t room = at->state ? at->state_size : 0;
    if (!sx_reserve(&at->state, &room, size ? size : 1, 1)) {
        sx_run_fail(run, sx_error_memory());
        return NULL;
    }
    if (size > at->state_size) memset((char *)at->state + at->state_size, 0, size - at->state_size);
    at->state_size = size;
    return at->state;
}

/* The error for a navigator on a space that is not for it. */
static sx_status wrong_space(const sx_registry *registry, const sx_space *space, const sx_registered *asked) {
    sx_text list = {0};
    for (const sx_registered *entry = registry->entry; entry < registry->entry + registry->n; entry++)
        if (entry->navigator && sx_navigator_suits(entry->navigator, space->type->name))
            sx_text_add(&list, "%s%s", list.size ? ", " : "", sx_navigator_short(entry->name));
    sx_status error =
        sx_error_new(SX_ERR_USAGE, "'%s' searches %s spaces only; this is a %s space",
                     sx_navigator_short(asked->name), asked->navigator->space, space->type->name);
    error = sx_error_hint(error, "for this space: %s", list.failed ? "random" : list.data);
    sx_text_free(&list);
    return error;
}

const sx_registry *sx_run_registry(const sx_run *run) {
    return run->registry;
}

sx_status sx_run_accepts(const sx_run *run, const sx_registered *entry) {
    const sx_navigator *navigator = entry->navigator;
    const char *model = run->model->type->name;
    if (!sx_navigator_suits(navigator, run->space->type->name))
        return wrong_space(run->registry, run->space, entry);
    if (navigator->measures && sx_outside_evaluator_of(run->model)) return SX_OK;
    if (navigator->model && strcmp(navigator->model, model) != 0)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "'%s' relies on the %s model; this is the model '%s'",
                                          sx_navigator_short(entry->name), navigator->model, model),
                             "use a search method for any model, such as random or genetic");
    for (int i = 0; navigator->model && i < run->options.objective.n_criteria; i++)
        if (run->options.objective.criterion[i].kind >= SX_TERMS)
            return sx_error_hint(
                sx_error_new(SX_ERR_USAGE, "'%s' cannot search for a user-defined objective", entry->name),
                "use a search method for any model, such as random or genetic");
    return SX_OK;
}

/* Goes on after a limit that was only the called navigator's. */
static void go_on(sx_run *run, uint64_t evaluations, double seconds) {
    run->options.evaluations = evaluations;
    run->options.seconds = seconds;
    if (!run->ended || run->failure) return;
    bool spent = run->stop == SX_STOP_EVALUATIONS && evaluations && run->evaluations >= evaluations;
    bool late = run->stop == SX_STOP_TIME && (run->paused || sx_run_is_late(run));
    if ((run->stop != SX_STOP_EVALUATIONS && run->stop != SX_STOP_TIME) || spent || late) return;
    run->ended = run->closed = false;
    run->stop = SX_STOP_DONE;
}

/* Gives a called navigator the best so far to begin with. */
static sx_status set_start(const sx_run *run, sx_frame *at) {
    const void *best = sx_run_incumbent(run, NULL);
    if (!best) return SX_OK;
    at->start = malloc(run->space->point_size);
    if (!at->start) return sx_error_memory();
    memcpy(at->start, best, run->space->point_size);
    return SX_OK;
}

/* The seconds up to which a part may go that has a share of those left; 0: any number. */
static double seconds_of(const sx_run *run, double share) {
    double limit = run->options.seconds;
    if (limit <= 0 || share <= 0 || share >= 1) return limit;
    double now = sx_run_seconds(run);
    return now < limit ? now + share * (limit - now) : limit;
}

/* Searches by the navigator of the next frame, which is then empty again; its state is freed, or kept in
 * *called. */
static sx_status search_frame(sx_run *run, sx_resumable_call *called) {
    sx_frame *at = &run->frame[run->depth + 1];
    run->depth++;
    sx_status status = at->entry->navigator->search(run);
    run->depth--;
    if (called) {
        called->state = at->state;
        called->size = at->state_size;
        at->state = NULL;
        called->ended = !run->ended && !status;
    }
    return status;
}

/* Empties the next frame. */
static void clear_frame(sx_run *run) {
    sx_frame *at = &run->frame[run->depth + 1];
    free(at->settings);
    free(at->state);
    free(at->saved);
    free(at->start);
    *at = (sx_frame){0};
}

/* Readies the next frame for a navigator of that text. */
static sx_status open_frame(sx_run *run, const char *navigator) {
    sx_frame *at = &run->frame[run->depth + 1];
    SX_TRY(sx_settings_read(run->registry, navigator, run->space->type->name, &at->entry, &at->settings));
    return sx_run_accepts(run, at->entry);
}

/* An error where one more navigator would be called than there is room for. */
static sx_status check_depth(const sx_run *run) {
    if (run->depth + 1 < SX_MAX_DEPTH) return SX_OK;
    return sx_error_new(SX_ERR_LIMIT, "navigators call each other %d deep", SX_MAX_DEPTH);
}

/* Searches by another navigator within limits of its own; its state is freed, or kept in *called. */
static sx_status call_navigator(sx_run *run, const char *navigator, uint64_t until, double share,
                                sx_resumable_call *called) {
    uint64_t evaluations = run->options.evaluations;
    double time = run->options.seconds;
    sx_status status = open_frame(run, navigator);
    if (!status && !called) status = set_start(run, &run->frame[run->depth + 1]);
    if (!status) {
        if (until < UINT64_MAX && (!evaluations || until < evaluations)) run->options.evaluations = until;
        run->options.seconds = seconds_of(run, share);
        status = search_frame(run, called);
    }
    clear_frame(run);
    go_on(run, evaluations, time);
    return status;
}

sx_status sx_run_call(sx_run *run, const char *navigator, uint64_t until, double share) {
    SX_TRY(check_depth(run));
    return call_navigator(run, navigator, until, share, NULL);
}

/* Readies what such a navigator remembers for its next call: nothing where it is another one. True where
 * the call is the one that was interrupted when the checkpoint was written. */
static bool take_up(sx_run *run, sx_resumable_call *c, const char *navigator) {
    sx_frame *at = &run->frame[run->depth + 1];
    uint64_t name = sx_hash_bytes(navigator, strlen(navigator), 0);
    if (at->saved) return true;
    if (c->name == name) {
        at->saved = c->state;
        at->saved_size = c->size;
    } else {
        free(c->state);
    }
    c->name = name;
    c->from = run->evaluations;
    c->state = NULL;
    c->size = 0;
    return false;
}

sx_status sx_run_call_on(sx_run *run, const char *navigator, uint64_t evaluations, double share) {
    sx_resumable_call *c = &run->called[0];
    if (c->ended || c->used >= evaluations) return SX_OK;
    SX_TRY(check_depth(run));
    take_up(run, c, navigator);
    uint64_t left = evaluations - c->used;
    uint64_t until = left < UINT64_MAX - c->from ? c->from + left : UINT64_MAX;
    double began = sx_run_seconds(run);
    sx_status status = call_navigator(run, navigator, until, share, c);
    c->seconds += sx_run_seconds(run) - began;
    if (!status) c->used += run->evaluations - c->from;
    return status;
}

uint64_t sx_run_called_on(const sx_run *run) {
    return run->called[0].ended ? UINT64_MAX : run->called[0].used;
}

uint64_t sx_run_called_behind(const sx_run *run, double share) {
    const sx_resumable_call *c = &run->called[0];
    double seconds = (share * sx_run_seconds(run) - c->seconds) / (1 - share);
    return seconds > 0 && c->seconds > 0 ? (uint64_t)((double)c->used * seconds / c->seconds) : 0;
}

/* Searches by a part for a turn whose frame has its state, if it had turns before. */
static sx_status take_turn(sx_run *run, sx_resumable_call *c, uint64_t evaluations, uint64_t plan) {
    sx_frame *at = &run->frame[run->depth + 1];
    if (!at->saved && run->options.n_starts) SX_TRY(set_start(run, at));
    at->turn_end = evaluations < UINT64_MAX - c->from ? c->from + evaluations : UINT64_MAX;
    at->plan = plan;
    at->other_parts = c->from - c->used;
    return search_frame(run, c);
}

sx_status sx_run_turn(sx_run *run, unsigned part, const char *navigator, uint64_t evaluations,
                      uint64_t plan) {
    assert(part < SX_MAX_PARTS);
    sx_resumable_call *c = &run->called[1 + part];
    sx_frame *at = &run->frame[run->depth + 1];
    if (c->ended) return SX_OK;
    SX_TRY(check_depth(run));
    bool interrupted = take_up(run, c, navigator);
    sx_status status = open_frame(run, navigator);
    at->news = !interrupted && at->saved && run->best.n && c->seen != run->improved;
    if (at->news) c->seen = run->improved;
    if (!status) status = take_turn(run, c, evaluations, plan);
    clear_frame(run);
    if (run->improved > c->from) c->seen = run->improved;
    if (!status) c->used += run->evaluations - c->from;
    go_on(run, run->options.evaluations, run->options.seconds);
    return status;
}

bool sx_run_turn_ended(const sx_run *run, unsigned part) {
    return run->called[1 + part].ended;
}
