/* Several navigators that take turns and share the best point, on any space.
 *
 * Source: OpenTuner (PACT 2014), section 3.2.2: a sliding-window multi-armed bandit with area-under-the-curve
 * credit. A part is chosen by the largest of
 *
 *     credit + exploration * sqrt(2 log2(uses of all parts) / uses of the part),
 *
 * both counted over the last `window` turns. The credit of a part with n turns there is the sum of i over those
 * that found a new best, i counting its turns from the oldest to the newest, over n (n + 1) / 2: recent success
 * counts most.
 *
 * What differs. OpenTuner gives a technique one test at a time, and its window is of 500 tests; a turn here is
 * as many evaluations as `turn` says and then up to the part's next safe point, so that generations stay
 * whole, and the window is of turns. Parts are the other navigators, each going on where it was; a part that
 * goes on takes the best that others have found into its population or its chain. Each part plans its schedule
 * for an even share of the evaluations.
 *
 * Complexity: parts times window per turn, beside what the parts do. */
#include "base/status.h"
#include "base/text.h"
#include "navigators/bandit.h"
#include "run/navigator.h"
#include "run/registered.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS, TURN, WINDOW, EXPLORATION };

static const sx_setting settings[] = {
    [PARTS] = {"parts",
               "navigators with plus signs between them, in quotation marks where they have settings; empty: "
               "gamma or hybrid, anneal and genetic",
               NULL, 0, 0, 0, SX_SETTING_TEXT, NULL},
    [TURN] = {"turn", "evaluations of a turn, which then goes on to the part's next safe point", "1", 200, 1,
              1e9, SX_SETTING_WHOLE, NULL},
    [WINDOW] = {"window", "latest turns that count for the credit", "500, of one test each", 50, 1,
                SX_BANDIT_WINDOW, SX_SETTING_WHOLE, NULL},
    [EXPLORATION] = {"exploration", "weight of trying parts that had few turns", "0.05", 0.05, 0, 100,
                     SX_SETTING_NUMBER, NULL},
};

/* The parts where none are named: those of these that suit the space. */
static const char *const usual[] = {"gamma", "hybrid", "anneal", "genetic"};

/* State of a search. */
typedef struct state {
    uint64_t begun;   /* the start points are evaluated */
    uint64_t playing; /* the part whose turn is under way, and one more; 0: none */
    uint64_t before;  /* the evaluation of the best when that turn began; 0: none */
    sx_bandit bandit;
} state;

typedef struct ensemble {
    sx_run *run;
    state *s;
    char *text;               /* all parts, with a zero after each */
    char *part[SX_MAX_PARTS]; /* into it */
    size_t n, window;
    uint64_t plan;
} ensemble;

/* Notes a part after checking that it can be one. */
static sx_status add_part(ensemble *e, char *text) {
    const sx_registered *entry;
    double *values;
    if (e->n == SX_MAX_PARTS)
        return sx_error_new(SX_ERR_USAGE, "an ensemble has at most %d parts", SX_MAX_PARTS);
    const char *space = sx_run_space(e->run)->type->name;
    SX_TRY(sx_settings_read(sx_run_registry(e->run), text, space, &entry, &values));
    free(values);
    if (!sx_navigator_suits(entry->navigator, space))
        return sx_error_new(SX_ERR_USAGE,
                            "'%s' cannot be a part here: it searches %s spaces, this is a %s space",
                            entry->name, entry->navigator->space, space);
    if (entry->navigator->complete || strcmp(entry->name, "ensemble") == 0)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "'%s' cannot be a part of an ensemble", entry->name),
                             "parts are methods that do not terminate by themselves, such as anneal");
    e->part[e->n++] = text;
    return SX_OK;
}

/* Reads the parts out of the setting: a plus sign before a letter separates them. */
static sx_status read_parts(ensemble *e, const char *given) {
    e->text = strdup(given);
    if (!e->text) return sx_error_memory();
    char *begin = e->text;
    for (char *at = e->text;; at++) {
        bool end = !*at;
        if (!end && !(*at == '+' && isalpha((unsigned char)at[1]))) continue;
        *at = 0;
        SX_TRY(add_part(e, begin));
        if (end) return SX_OK;
        begin = at + 1;
    }
}

/* The parts that are named, or the usual ones. */
static sx_status find_parts(ensemble *e) {
    const char *given = sx_run_setting_text(e->run, PARTS);
    sx_text list = {0};
    if (*given) return read_parts(e, given);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        const sx_registered *part = sx_registry_find(sx_run_registry(e->run), usual[i]);
        if (!part || !part->navigator ||
            !sx_navigator_suits(part->navigator, sx_run_space(e->run)->type->name))
            continue;
        sx_text_add(&list, "%s%s", list.size ? "+" : "", usual[i]);
    }
    sx_status status = list.failed ? sx_error_memory() : read_parts(e, list.data);
    sx_text_free(&list);
    return status;
}

/* The part that gets the next turn, SX_MAX_PARTS where all are complete. */
static size_t choose_part(const ensemble *e) {
    size_t best = SX_MAX_PARTS;
    double most = -1;
    for (size_t i = 0; i < e->n; i++) {
        if (sx_run_turn_ended(e->run, (unsigned)i)) continue;
        double value = sx_bandit_value(&e->s->bandit, e->window, sx_run_setting(e->run, EXPLORATION), i);
        if (!(value > most)) continue;
        most = value;
        best = i;
    }
    return best;
}

/* The evaluation that found the best so far; 0: none. */
static uint64_t found_at(const sx_run *run) {
    sx_found best;
    return sx_run_best(run, 0, &best) ? best.evaluation : 0;
}

/* Gives a part its turn, or lets it go on with it, and notes whether it was a success. */
static sx_status play_part(ensemble *e) {
    state *s = e->s;
    size_t part = s->playing - 1;
    SX_TRY(
        sx_run_turn(e->run, (unsigned)part, e->part[part], (uint64_t)sx_run_setting(e->run, TURN), e->plan));
    bool success = found_at(e->run) != s->before;
    sx_bandit_note(&s->bandit, e->window, part, success);
    s->playing = 0;
    return SX_OK;
}

/* Whether the state is one that a search may have. */
static bool state_holds(const ensemble *e) {
    for (size_t i = 0; i < e->window; i++)
        if (e->s->bandit.turn[i] / 2u >= e->n) return false;
    return e->s->playing <= e->n && e->s->begun <= 1;
}

/* Turns until nothing is left. */
static sx_status search_parts(ensemble *e) {
    state *s = e->s;
    while (s->playing || sx_run_continue(e->run)) {
        if (!s->begun) {
            sx_run_evaluate_starts(e->run, 0);
            s->begun = 1;
            continue;
        }
        if (!s->playing) {
            size_t part = choose_part(e);
            if (part == SX_MAX_PARTS) break;
            s->playing = part + 1;
            s->before = found_at(e->run);
        }
        SX_TRY(play_part(e));
    }
    return SX_OK;
}

static sx_status search_by_ensemble(sx_run *run) {
    ensemble e = {.run = run, .window = (size_t)sx_run_setting(run, WINDOW)};
    uint64_t evaluations = sx_run_evaluations(run, 0);
    sx_status status = find_parts(&e);
    if (!status) {
        e.plan = evaluations ? (evaluations + e.n - 1) / e.n : 0;
        e.s = sx_run_state(run, sizeof *e.s, NULL);
        status = !e.s ? sx_error_memory() : !state_holds(&e) ? sx_run_damaged(run) : search_parts(&e);
    }
    free(e.text);
    return status;
}

SX_NAVIGATOR(ensemble) = {
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_ensemble,
};
