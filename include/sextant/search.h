/* Searching: networks layer by layer, or one space of mappings. */
#ifndef SX_SEARCH_H
#define SX_SEARCH_H

#include "sextant/evaluate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- results --- */

typedef struct sx_result sx_result;
/* A mapping as a search found it; lives as long as its result. */
typedef struct sx_answer sx_answer;

/* Maps every layer of a network onto an architecture, as `sextant map` does; one problem is a network of one layer. */
SX_API SX_MUST_USE sx_status sx_map_network(const sx_network *network, const sx_arch *arch,
                                            const sx_options *options, SX_OWN sx_result **out);

SX_API void sx_result_free(SX_TAKE sx_result *result);
/* The JSON of `sextant map --json`, freed with sx_free(); and a result out of such a text, called `name` in errors. */
SX_API SX_MUST_USE sx_status sx_result_write(const sx_result *result, SX_OWN char **out);
SX_API SX_MUST_USE sx_status sx_result_read(const char *name, const char *text, size_t size,
                                            SX_OWN sx_result **out);
/* The figure of `sextant map --svg`; freed with sx_free(). */
SX_API SX_MUST_USE sx_status sx_draw_result(const sx_result *result, SX_OWN char **svg);

/* What was searched; both live as long as the result. */
SX_API const sx_network *sx_result_network(const sx_result *result);
SX_API const sx_arch *sx_result_arch(const sx_result *result);

/* Answer number `index` of a layer, 0 the best (more with the option "k-best"); point `index` of its front of energy and
 * cycles (with "pareto"); NULL past the last. */
SX_API const sx_answer *sx_result_best(const sx_result *result, size_t layer, size_t index);
SX_API const sx_answer *sx_result_front(const sx_result *result, size_t layer, size_t index);
SX_API const sx_mapping *sx_answer_mapping(const sx_answer *answer);
SX_API double sx_answer_total(const sx_answer *answer, sx_total total);
/* Of the objective. */
SX_API double sx_answer_value(const sx_answer *answer);
/* The number of the evaluation that found it. */
SX_API uint64_t sx_answer_evaluation(const sx_answer *answer);

/* How the search of a layer went. */
typedef enum sx_result_figure {
    SX_RESULT_EVALUATIONS,
    SX_RESULT_VALID, /* those that were legal */
    SX_RESULT_SECONDS,
    SX_RESULT_LOWER_BOUND, /* proven; 0: nothing is */
    SX_RESULT_OPTIMAL,     /* proven: 1 */
} sx_result_figure;
SX_API double sx_result_figure_of(const sx_result *result, size_t layer, sx_result_figure figure);
/* Why it ended, such as "done" or "evaluations". */
SX_API const char *sx_result_stop(const sx_result *result, size_t layer);
/* Where nothing was found: why, in words; else NULL. */
SX_API const char *sx_result_diagnosis(const sx_result *result, size_t layer);
/* Line `index` of the trace of improvements; false past the last. */
SX_API bool sx_result_trace(const sx_result *result, size_t layer, size_t index, uint64_t *evaluations,
                            double *seconds, double *value);

/* The certificate of a layer that was searched with the option "proof", as JSON; freed with sx_free(). `input` has the
 * constraints that it was searched under; NULL: none. And the check of one by rules of its own, on `threads` threads
 * (0: one): *holds, and where not a sentence that says why, freed with sx_free(). */
SX_API SX_MUST_USE sx_status sx_result_certify(const sx_result *result, size_t layer, sx_input *input,
                                               SX_OWN char **out);
SX_API SX_MUST_USE sx_status sx_certificate_check(const char *name, const char *text, size_t size,
                                                  unsigned threads, bool *holds, SX_OWN char **why);

/* --- one space: the legal mappings of a model --- */

typedef struct sx_space sx_space;

/* The space of a model, which must outlive it. constraints and options may be NULL. */
SX_API SX_MUST_USE sx_status sx_mapping_space_new(const sx_model *model, const sx_constraints *constraints,
                                                  const sx_options *options, SX_OWN sx_space **out);
SX_API void sx_space_free(SX_TAKE sx_space *space);
/* Searches it; the result has one layer. */
SX_API SX_MUST_USE sx_status sx_space_search(const sx_space *space, const sx_options *options,
                                             SX_OWN sx_result **out);

/* Fills `out` with legal mappings: number `first` and following of the sequence that belongs to the seed. An error that says
 * why, where none was found. */
SX_API SX_MUST_USE sx_status sx_space_draw(const sx_space *space, uint64_t seed, uint64_t first,
                                           sx_mappings *out);
/* Whether a mapping is in the space; where not, and `why` is not NULL, *why is a sentence, freed with sx_free(). */
SX_API SX_MUST_USE sx_status sx_space_holds(const sx_space *space, const sx_mapping *mapping, bool *holds,
                                            SX_OWN char **why);
/* Changes a mapping of the space by a random small step that leads to another one of it; *changed: one was found. The
 * same seed and number give the same step. */
SX_API SX_MUST_USE sx_status sx_space_step(const sx_space *space, uint64_t seed, uint64_t number,
                                           sx_mapping *mapping, bool *changed);

/* --- figures: SVG, the same bytes on every machine --- */

typedef struct sx_figure sx_figure;
typedef enum sx_figure_kind { SX_CURVES, SX_FRONT, SX_BARS } sx_figure_kind;

SX_API SX_MUST_USE sx_status sx_figure_new(sx_figure_kind kind, const char *title, const char *x_label,
                                           const char *y_label, SX_OWN sx_figure **out);
SX_API void sx_figure_free(SX_TAKE sx_figure *figure);
/* Makes scales logarithmic. */
SX_API void sx_figure_set_log(sx_figure *figure, bool x, bool y);
/* Adds n points: a curve by steps, points of a front, or (n 1) a bar of height y. Everything is copied. */
SX_API SX_MUST_USE sx_status sx_figure_add(sx_figure *figure, const char *name, size_t n, const double *x,
                                           const double *y);
/* The text is freed with sx_free(). */
SX_API SX_MUST_USE sx_status sx_figure_draw(const sx_figure *figure, SX_OWN char **svg);

#ifdef __cplusplus
}
#endif

#endif
