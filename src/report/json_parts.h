/* Pieces of JSON that several answers are made of. */
#ifndef SX_REPORT_JSON_PARTS_H
#define SX_REPORT_JSON_PARTS_H

#include "base/json.h"
#include "base/text.h"
#include "sextant/cost.h"
#include "sextant/outside_evaluator.h"
#include "sextant/run.h"
#include "sextant/systolic.h"
#include "sextant/warnings.h"

#include <jansson.h>

/* The format of results as JSON, which decides whether they are read. Raise it when a key comes to mean something else, or
 * one that readers need goes; a new key needs no new format. Results without it are of format 1. */
enum { SX_RESULT_FORMAT = 1 };

/* Cycles, energy and their product, with the utilisation. */
json_t *sx_json_score(const sx_score *score);
/* Sets in an object where energies come from, and of which components none is known. */
void sx_json_set_energies(const char *source, const sx_arch *arch, json_t *object);
/* Sets in an object which names are bound to which tensors, where there are any. */
void sx_json_set_bind(const sx_problem *problem, json_t *object);
/* Sets in an object what a systolic design costs. */
void sx_json_set_systolic(const sx_systolic_cost *cost, json_t *object);
/* An outside evaluator: its command and what happened with it. */
json_t *sx_json_outside_evaluator(const char *command, const sx_outside_evaluator_account *account);
/* A list of improvements: evaluations, seconds and value of each. */
json_t *sx_json_trace(const sx_trace_point *trace, size_t n);
/* A list of warnings, each with its place, where it has one, and its message. */
json_t *sx_json_warnings(const sx_warnings *warnings);
/* An error: message, place and hint where it has them, and its kind. */
json_t *sx_json_error(const struct sx_error *error);
/* Adds the keys of an object, which it frees, to the only object that sx_json_finish added to a text, after those that it has;
 * an empty text becomes the object. Any other text stays as it is. */
SX_MUST_USE sx_status sx_json_extend(SX_TAKE json_t *keys, sx_text *text);
/* A noun's JSON text as an object, NULL where memory is out; frees the text. */
json_t *sx_json_noun(SX_TAKE char *text);

/* Adds an object as text and frees it; an error where memory ran out while it was built. */
SX_MUST_USE sx_status sx_json_finish(SX_TAKE json_t *object, sx_text *out);
/* The same on one line. */
SX_MUST_USE sx_status sx_json_finish_line(SX_TAKE json_t *object, sx_text *out);

#endif
