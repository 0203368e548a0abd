/* The run as a navigator sees it. An algorithm's file holds the algorithm; budget, incumbent, trace, cache,
 * threads, stopping and checkpoints are here.
 *
 * A navigator keeps all that it must remember between two safe points in one block of plain data without
 * pointers, which sx_run_state gives it, and is a loop
 *
 *     struct state *s = sx_run_state(run, sizeof *s + ...);
 *     while (sx_run_continue(run)) step(run, s);
 *
 * A step's random numbers come from an sx_rng in the state. The run evaluates start points (warm start) on
 * request only: a navigator must evaluate them first, see sx_run_starts. */
#ifndef SX_NAVIGATOR_H
#define SX_NAVIGATOR_H

#include "sextant/run.h"
#include "sextant/space_type.h"

/* --- what a navigator provides --- */

typedef sx_setting_about sx_setting;

struct sx_navigator {
    const char *space; /* the type of the spaces that it searches, such as "map"; NULL: any */
    const char *model; /* the model that it relies on, such as "map"; NULL: any. One that relies on a model
                           takes objectives of energy, delay, last-level and utilization only */
    bool measures;     /* it also searches where an outside evaluator stands in front of that model */
    bool complete;     /* looks at everything and then ends: needs no budget */
    bool proves;       /* can say how it closed the space (sx_run_prove) */
    const sx_setting *settings;
    size_t n_settings;
    sx_status (*search)(sx_run *run);
    void *user; /* sx_run_user gives it back */
};

/* --- what it asks of a run --- */

const sx_space *sx_run_space(const sx_run *run);
const sx_point_model *sx_run_model(const sx_run *run);
const sx_objective *sx_run_objective(const sx_run *run);
/* The objective bound to the model's metrics. */
const sx_goal *sx_run_goal(const sx_run *run);
uint64_t sx_run_seed(const sx_run *run);

/* The user pointer of the navigator at work. */
void *sx_run_user(const sx_run *run);

/* Evaluations left, UINT64_MAX without a limit. */
uint64_t sx_run_left(const sx_run *run);
/* The limit, or `otherwise` where there is none: what schedules stretch over. */
uint64_t sx_run_evaluations(const sx_run *run, uint64_t otherwise);

/* The seconds that a run may take, 0: any; those that it has taken so far; and whether anything at all limits it. */
double sx_run_time(const sx_run *run);
double sx_run_seconds(const sx_run *run);
bool sx_run_limited(const sx_run *run);

/* The navigator's memory: zero at first, or as it was when the checkpoint was written that the run resumes.
 * Called once, before anything is evaluated; NULL when memory is out. *resumed (may be NULL) tells which. */
void *sx_run_state(sx_run *run, size_t size, bool *resumed);

/* The same for a state whose size changes: at least *size at first, or as large as it was, which *size then
 * says; and giving it another size, of which what is new is zero (NULL, and a run that failed, when memory is
 * out). */
void *sx_run_state_sized(sx_run *run, size_t *size, bool *resumed);
void *sx_run_state_resize(sx_run *run, size_t size);

/* What a navigator says of a state out of a checkpoint that it cannot have written: its numbers must be
 * checked where they are resumed, before they are used. */
SX_MUST_USE sx_status sx_run_damaged(const sx_run *run);
/* Whether n blocks of bytes, one after another, are points of the space. */
bool sx_run_holds(const sx_run *run, const void *points, size_t n);

/* Searches by another navigator, "name:key=value,...", as a part of this one: with the run's budget, but no
 * further than to `until` evaluations of the run (UINT64_MAX: no other limit) and, where the run's time is
 * limited, for no more than a share of what is left of it (0: all of it). It begins from the best so far. Its
 * state goes into checkpoints too: of a run that is resumed, the first call must be the one that was
 * interrupted. */
SX_MUST_USE sx_status sx_run_call(sx_run *run, const char *navigator, uint64_t until, double share);

/* The same for a navigator that is called several times and each time goes on where it was, up to a number
 * of evaluations in all these calls. It begins as if it were alone; another text than that of the last call
 * begins anew. Once it is complete, further calls do nothing. And the evaluations of these
 * calls so far; UINT64_MAX once it is complete. */
SX_MUST_USE sx_status sx_run_call_on(sx_run *run, const char *navigator, uint64_t evaluations, double share);
uint64_t sx_run_called_on(const sx_run *run);
/* How far these calls are behind a share of the run's time, in evaluations; 0 where they are not. */
uint64_t sx_run_called_behind(const sx_run *run, double share);
/* Whether a call that was interrupted when the checkpoint was written has yet to be made again, as the next one. */
bool sx_run_resuming(const sx_run *run);

/* Navigators that take turns. Part number `part` goes on where it was, for a turn of a number of evaluations and
 * then up to its next safe point, so that no generation is cut. It plans as if the run had `plan` evaluations
 * (0: what the run has), begins anew when these are spent, and learns at the beginning of a turn what others
 * have found (sx_run_news). The first turn begins from the best so far where the run has start points, else as
 * if it were alone. Once it is complete, further turns do nothing. Parts must not call others. Of a run that
 * is resumed, the first turn must be the one that was interrupted. */
enum { SX_MAX_PARTS = 16 };
SX_MUST_USE sx_status sx_run_turn(sx_run *run, unsigned part, const char *navigator, uint64_t evaluations,
                                  uint64_t plan);
bool sx_run_turn_ended(const sx_run *run, unsigned part);
/* Evaluations until the turn ends, UINT64_MAX where there is none: what long steps should keep to. */
uint64_t sx_run_turn_left(const sx_run *run);
/* The best point and its outcome where other parts found it since the last turn of this one, otherwise NULL:
 * what a navigator takes over when it goes on, before its first safe point. */
const void *sx_run_news(const sx_run *run, sx_outcome *out);

/* Searches another space by a navigator, as a part of this run: with its seed, threads, objective and what is left of
 * its evaluations, which count, and a share of its time. *found: `point` has become the best point of that space. A
 * run that is resumed begins such a search anew. */
SX_MUST_USE sx_status sx_run_within(sx_run *run, const sx_space *space, const char *navigator, double share,
                                    void *point, bool *found);

/* A safe point: the state block and the run agree. False when the search should end; writes a checkpoint when
 * one is due. */
bool sx_run_continue(sx_run *run);
/* The same question without being a safe point, for inner loops. */
bool sx_run_stopped(const sx_run *run);

/* The start points, *n of them. */
const void *sx_run_starts(const sx_run *run, size_t *n);

/* Evaluates n points, one after another in memory, on the run's threads; `out`, which is not NULL, gets
 * n outcomes in order. Those past the end of the budget are SX_NOT_EVALUATED. Returns how many were evaluated.
 */
size_t sx_run_evaluate(sx_run *run, const void *points, size_t n, sx_outcome *out);

/* Evaluates the start points from number `first` on, one after another. */
void sx_run_evaluate_starts(sx_run *run, size_t first);

/* Parallel making and evaluating. Tasks 0..n-1 run on the run's threads in any order; each may evaluate any
 * number of points on its worker, and all are joined in order of task and, within it, of evaluation, as if
 * they had run one after another: the budget, the incumbent, the trace and patience go by that order, and
 * what lies past the end of the budget is forgotten. All tasks read the input; a task writes nothing but its
 * output, plain data: block number `task` of those at `outputs`, of `size` bytes each (NULL and 0: it has
 * none), which is as it was where the task was not begun. What is longer, or of any length, it appends
 * (sx_worker_append). It draws from a stream derived from its number. An error ends the run. */
typedef struct sx_worker sx_worker;
typedef sx_status sx_task(const void *input, size_t task, sx_worker *worker, void *output);
void sx_run_tasks(sx_run *run, size_t n, sx_task *task, const void *input, void *outputs, size_t size);

/* Appends plain data to the output of a task, one after another; where memory is out, the run fails. */
void sx_worker_append(sx_worker *worker, const void *data, size_t size);
/* What a task of the last sx_run_tasks has appended, and how many bytes: aligned for any type, valid until
 * the next tasks; NULL where it is nothing. */
const void *sx_run_appended(const sx_run *run, size_t task, size_t *size);

/* Evaluates a point within a task. With `within`, a point that is worse than the best at the start of
 * sx_run_tasks, or than an earlier one of this task, may come back as SX_BEYOND, which is faster (only where
 * neither k_best > 1 nor a front is asked for; otherwise it is the full evaluation). */
sx_outcome sx_worker_evaluate(sx_worker *worker, const void *point, bool within);
/* The same for n points that lie one after another, as if they were evaluated one by one; a model that likes
 * batches gets them at once. Returns how many were evaluated; the outcomes of the others are
 * SX_NOT_EVALUATED. `out` may be NULL for n up to that of sx_worker_batch. */
size_t sx_worker_evaluate_batch(sx_worker *worker, const void *points, size_t n, bool within,
                                sx_outcome *out);
/* Room for as many points as the model likes to score at once, *n of them. */
void *sx_worker_batch(sx_worker *worker, size_t *n);
/* Room for a point, numbers 0..3, and the worker's count of rejected draws. */
void *sx_worker_scratch(sx_worker *worker, unsigned index);
void sx_worker_reject(sx_worker *worker, uint64_t n);
/* Whether the run has been told to stop meanwhile: a long task should poll it. */
bool sx_worker_stopped(const sx_worker *worker);
/* The same, also looking at the clock and telling of progress: for tasks that go long without evaluating. */
bool sx_worker_goes_on(sx_worker *worker);

/* Ends the run with an error, from deep within a task. */
void sx_worker_fail(sx_worker *worker, SX_TAKE sx_status failure);

/* How many best points the run remembers, and whether it remembers the front. */
unsigned sx_run_k_best(const sx_run *run);
bool sx_run_pareto(const sx_run *run);

/* The best point so far, NULL before there is one, and its value (INFINITY; may be NULL). Until the next
 * evaluation. */
const void *sx_run_incumbent(const sx_run *run, double *value);

/* Adds draws that were not worth an evaluation. */
void sx_run_reject(sx_run *run, uint64_t n);

/* States a proven lower bound, or that the whole space was searched: the incumbent is optimal, or, where
 * there is none, no point is legal. */
void sx_run_bound(sx_run *run, double lower_bound);
void sx_run_optimal(sx_run *run);
/* States that the incumbent is a random draw, as none of the points that the navigator makes is legal. */
void sx_run_drawn(sx_run *run);

/* Whether anybody wants to know how the space was closed, and saying so. */
bool sx_run_wants_proof(const sx_run *run);
void sx_run_prove(sx_run *run, SX_TAKE sx_proof *proof);

/* The value of the navigator's setting number `index`, in the order of its table; that of a text. */
double sx_run_setting(const sx_run *run, size_t index);
const char *sx_run_setting_text(const sx_run *run, size_t index);

#endif
